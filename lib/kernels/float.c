/*
 * The kernels of floats: float.inc, once for f32 and once for f64, and half.inc
 * for what f16 and bf16 have of their own, which is computed by f32's
 * functions. Their logical operations are the same.
 */
#include <math.h>
#include <stdbool.h>

#include "block.h"
#include "compare.h"
#include "angle_f32.h"
#include "angle_f64.h"
#include "half_guess.h"
#include "half_loop.h"
#include "past_lines.h"
#include "power_f32.h"
#include "power_f64.h"

#define B uint16_t
#define S int16_t
#define INFINITE 0x7c00
#define NAME(x) x##_f16
#include "float_bits.inc"

#define B uint16_t
#define S int16_t
#define INFINITE 0x7f80
#define NAME(x) x##_bf16
#include "float_bits.inc"

#define B uint32_t
#define NAME(x) x##_f32
#include "float_bits.inc"

#define B uint64_t
#if !defined(__AVX2__)
#define S int64_t
#define INFINITE 0x7ff0000000000000
#endif
#define NAME(x) x##_f64
#include "float_bits.inc"

#define B uint16_t
#define VALUE INT16_MAX
#define NAME(x) x##_half
#include "logical.inc"

#define B uint32_t
#define VALUE INT32_MAX
#define NAME(x) x##_f32
#include "logical.inc"

#define B uint64_t
#define VALUE INT64_MAX
#define NAME(x) x##_f64
#include "logical.inc"

/* Vectors at a time of max and the like of two arrays (float_extrema.inc), and
   whether min, and fmax and fmin, gain by that, where there are any. */
#if defined(__AVX512DQ__)
enum { VECTORS = 8, MIN_GAINS = true, NUMBERS_GAIN = false };
#else
enum { VECTORS = 4, MIN_GAINS = false, NUMBERS_GAIN = true };
#endif

#define T float
#define B uint32_t
#define DIGITS 24
#define NAME(x) x##_f32
#define M(fn) fn##f
#define TEST(f, a, b) _mm512_##f##_ps_mask((__m512)(a), (__m512)(b))
#if defined(EW_FAST_FMA)
#define ATAN2(name) ODD(name)
#else
#define ATAN2(name) BLOCK(name)
#endif
#include "float.inc"

#define T double
#define B uint64_t
#define DIGITS 53
#define NAME(x) x##_f64
#define M(f) f
#define TEST(f, a, b) _mm512_##f##_pd_mask((__m512d)(a), (__m512d)(b))
#define ATAN2(name) ODD(name)
#include "float.inc"

/* As floor_near for all quotients: those beyond 2^24 of so few digits are
   either integers or too far from a midpoint between two numbers of f16 or bf16
   for floor to matter. */
EW_INLINE float half_floordiv(float x, float y)
{
    float q = x / y, f = floorf(q);
    float rest = f == 0 ? x : fmaf(-f, y, x); /* y may be infinite */
    float floor = rest != 0 && (rest < 0) != (y < 0) ? f - 1 : f;
    return fabsf(x) == INFINITY && y != 0 ? NAN : floor;
}

/*
 * floordiv, mod and fmod of quotients that are near: less than twice 2^12 of
 * f16, with 11 digits, or 2^15 of bf16, with 8. They are then at least 2^-11 or
 * 2^-8 from an integer, of which f32 rounds by half at most: to no integer. The
 * integer times y has 24 digits and is exact, and so is what it leaves of x.
 */
EW_INLINE float near_floordiv(float x, float y)
{
    return floorf(x / y);
}

EW_INLINE float near_fmod(float x, float y)
{
    return copysignf(x - truncf(x / y) * y, x);
}

/* Rounded if x and y differ in sign. */
EW_INLINE float near_mod(float x, float y)
{
    return copysignf(x - floorf(x / y) * y, y);
}

/*
 * x / y where it has all digits, f16's p = 11, bf16's 8, or is subnormal and of
 * bf16, of which all were tried (half_divide.inc). Where rounding turns,
 * m has a digit more. x = m y is impossible, as that has more than p digits, so
 * m y and x, as integers, differ by 1 at least, and x / y from m by 1 / m y of
 * it, which is over 2^-(2 p + 1) and for f16 at least 2^-23 + 2^-34: m is below
 * 2^(p + 1) and y below 2^p. Inverse and product are rounded by 2^-24 each,
 * which is less.
 */
EW_INLINE float near_div(float x, float y)
{
    return x * (1 / y);
}

/* hypot of bf16, whose squares are exact in f32 where they are no larger than
   it holds, so that only their sum and its root are rounded. Every pair was
   compared: after rounding to bf16 it has the bits of hypot of f32. */
EW_INLINE float hypot_of_bf16(float x, float y)
{
    float a = fabsf(x), b = fabsf(y), larger = a > b ? a : b;
    bool huge = larger > 0x1p60f, tiny = larger < 0x1p-60f;
    float scale = huge ? 0x1p-64f : tiny ? 0x1p64f : 1;
    float back = huge ? 0x1p64f : tiny ? 0x1p-64f : 1;
    a *= scale;
    b *= scale;
    float root = sqrtf(EW_ROUNDED(a * a) + EW_ROUNDED(b * b)) * back;
    return a == INFINITY || b == INFINITY ? INFINITY : root;
}

#if defined(EW_FAST_FMA)
/* hypot of f16 with the bits of hypot of f32, by a root in f32, which takes
   half of the time of one in f64. Squares are exact, and so is what rounding
   leaves of their sum, and the root of it; that much further along the tangent
   lies the root that is rounded once. (Every pair was compared.) */
EW_INLINE float hypot_of_f16(float x, float y)
{
    float a = x * x, b = y * y, high = a < b ? b : a, low = a < b ? a : b;
    float sum = high + low, left = high - sum + low;
    float root = sqrtf(sum), rest = fmaf(-root, root, sum) + left;
    root += rest / (root + root + 0x1p-100f); /* not by 0 */
    return a == INFINITY || b == INFINITY ? INFINITY : root;
}
#endif

/* Squares are exact where cubes are neither infinite nor 0, so that this has
   the bits of a cube in double. */
EW_INLINE float half_cube(float x, float y)
{
    (void)y;
    return x * x * x;
}

static void half_atan2(int64_t n, const void *x, const void *y,
                       const void *with, void *out)
{
    half_compute_guessed(guess_atan2, compute_atan2_f32, with, n, x, y, out);
}

static void half_logaddexp(int64_t n, const void *x, const void *y,
                           const void *with, void *out)
{
    half_compute_guessed(guess_logaddexp, compute_logaddexp_f32, with, n, x, y,
                         out);
}

#if defined(EW_FAST_FMA)
/* Powers are guessed of |x|; x and y are read again, so out is neither. */
static void half_powers(int64_t n, const void *px, const void *py,
                        const void *with, void *out)
{
    const float *x = px, *y = py;
    float *made = out;
    uint32_t doubt[EW_BLOCKS], signs = 0;
    float whole[EW_BLOCKS], rest[EW_BLOCKS];
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++) {
        struct half_exponent u = guess_exponent(x[i], y[i]);
        whole[i] = u.whole;
        rest[i] = u.rest;
    }
    bool any = half_guess_all(guess_power, with, n, whole, rest, made, doubt);
    for (int64_t i = 0; i < n; i++)
        signs |= bits_f32(x[i]);
    if (signs >> 31)
        for (int64_t i = 0; i < n; i++)
            made[i] = power_turned_f32(x[i] > 0, y[i], made[i], false);
    if (any)
        half_make_again(compute_pow_f32, with, n, x, y, made, doubt);
}
#else
static void half_powers(int64_t n, const void *x, const void *y,
                        const void *with, void *out)
{
    compute_pow_f32(n, x, y, with, out);
}
#endif

/* Powers by one exponent, as half_powers. */
static void half_powers_by_one(int64_t n, const void *x, const void *y,
                               const void *with, void *out)
{
    static const struct ew_stride s[] = {
        {0, sizeof(float)}, {0, 0}, {0, sizeof(float)}};
    void *const data[] = {(void *)x, (void *)y, out};
    ew_kernel *by = power_by_f32(*(const float *)y);
    if (by)
        by(1, n, data, s);
    else
        half_powers(n, x, y, with, out);
}

EW_INLINE float half_make(half_op *op, enum half_how how,
                          const struct half_row *r, float x, float y)
{
    if (how == HALF_WHOLE)
        return whole_f32(op, x, y, r->around);
    return how == HALF_RELU ? relu_f32(op(x, y)) : op(x, y);
}

#if defined(EW_COMPARE_BITS)
/* A vector of f32, of which those that are rounded as bf16 are cut off then. */
EW_INLINE void half_make_vector(half_op *op, enum half_how how,
                                const struct half_row *r, const float x[],
                                const float y[], float made[])
{
    const enum half_how by = how == HALF_RELU ? HALF_ALONE : how;
    for (int i = 0; i < HALF_LANES / 2; i++)
        made[i] = half_make(op, by, r, x[i], y[i]);
}
#endif

#define INFINITE 0x7c00
#define ONE 0x3c00
#define NEAR 12
#define LOSES_TIES true
#if defined(EW_FAST_FMA)
#define HYPOT hypot_of_f16
#else
#define HYPOT op_hypot_f32
#endif
#define ROUNDING 0x1000, -14, 0x1p-14f
#define NAME(x) x##_f16
#define FROM(bits) ew_half_from_f16((struct ew_f16){bits})
#if defined(__F16C__)
#define FROM_ONE(bits) _cvtsh_ss(bits)
#else
#define FROM_ONE(bits) FROM(bits)
#endif
#define TO(x) ew_half_f16_from_f32(x).bits
#define TO_ANY(x) TO(x)
#if defined(__F16C__)
#define WIDEN ew_half_widen_f16
#define NARROW ew_half_narrow_f16
#define WIDEN_SOME ew_half_widen_f16_some
#define NARROW_SOME ew_half_narrow_f16_some
#define NARROW_PAST ew_half_narrow_f16_past
#endif
#if defined(EW_FP16)
#define NATIVE(name) native_##name##_f16
#endif
#include "half.inc"

#define INFINITE 0x7f80
#define ONE 0x3f80
#define NEAR 15
#define LOSES_TIES false
#define HYPOT hypot_of_bf16
#define ROUNDING 0x8000, -126, 0x1p-126f
#define NAME(x) x##_bf16
#define FROM(bits) ew_half_from_bf16((struct ew_bf16){bits})
#define FROM_ONE(bits) FROM(bits)
#define TO(x) ew_half_bf16_from_result(x).bits
#define TO_ANY(x) ew_half_bf16_from_f32(x).bits
#include "half.inc"

const ew_kernel_row *const EW_CONCAT(ew_float, EW_LEVEL)[4] = {
    &row_f16, &row_bf16, &row_f32, &row_f64};

#if defined(EW_FP16)
const ew_kernel_row *const EW_CONCAT(EW_CONCAT(ew_float, EW_LEVEL),
                                     fp16) = &row_native_f16;
#endif
