/*
 * The kernels of gradients: one derivative of one operation, on rows of dense
 * elements. Real types by gradient.inc; complex ones here and by
 * gradient_complex.inc, in double, rounded to c64 at the end.
 */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "activation_f64.h"
#include "complex_lanes.h"
#include "complex_power_c128.h"
#include "fused.h"
#include "power_f64.h"

/* One line binds the derivative of an operation to its kernel, by what the loop
   takes of it. */
#define EW_DERIVATIVE(LOOP, PASTE, name, ...)                                  \
    EW_KERNEL_OF(PASTE(run_##name), LOOP(__VA_ARGS__, rows, cols, data, s))

/* x and y exchanged: the derivative of a product, or of a sum, to x is that to
   y of exchanged operands. */
struct turned {
    void *data[EW_D_OPERANDS];
    struct ew_stride stride[EW_D_OPERANDS];
};

static void turn_operands(void *const data[], const struct ew_stride s[],
                          struct turned *to)
{
    for (int k = 0; k < EW_D_OPERANDS; k++) {
        int of = k == EW_X ? EW_Y : k == EW_Y ? EW_X : k;
        to->data[k] = data[of];
        to->stride[k] = s[of];
    }
}

static void turn_kernel(ew_kernel *kernel, int64_t rows, int64_t cols,
                        void *const data[], const struct ew_stride s[])
{
    struct turned turned;
    turn_operands(data, s, &turned);
    kernel(rows, cols, turned.data, turned.stride);
}

static void turn_sum(ew_sum *kernel, int64_t rows, int64_t cols,
                     void *const data[], const struct ew_stride s[],
                     const struct ew_sums *sums)
{
    struct turned turned;
    turn_operands(data, s, &turned);
    kernel(rows, cols, turned.data, turned.stride, sums);
}

enum { PIECE = 128 }; /* elements that are looked at once more together */

static bool is_normal(double x)
{
    return fabs(x) >= DBL_MIN && fabs(x) <= DBL_MAX;
}

/* g a x^n. Where the power, or a times it, does not fit a double, the product
   may: then the power fits a long double, unless all is 0 or infinite. */
static double product_with_power(double g, double a, double x, double n)
{
    double power = pow(x, n), slope = a * power;
    if (isnan(power) || isinf(g) || isinf(x) || isinf(n) || x == 0 || a == 0 ||
        (is_normal(power) && is_normal(slope)))
        return g * slope;
    if (g == 0)
        return g * a * copysign(1, power);
    bool fits = fabs(n * log2(fabs(x))) < 3300;
    return (double)((long double)g * a * (fits ? powl(x, n) : power));
}

/* 1 / (1 + e^-x). Without a fast fma vectors of it take longer. */
EW_INLINE double logistic(double x)
{
#if defined(EW_FAST_FMA)
    return sigmoid_f64(x);
#else
    double small = exp(-fabs(x));
    return (x < 0 ? small : 1) / (1 + small);
#endif
}

/* Marks an element for which that does not hold. */
EW_INLINE void odd_unless(bool holds, double *odd)
{
    *odd = holds ? *odd : 1;
}

/* Of x >= 0. */
EW_INLINE bool is_whole(double x)
{
    return (x >= 0x1p52) | ((x + 0x1p52) - 0x1p52 == x);
}

/* a^n for a > 0 as in power_f32.h: odd if a is not normal, or n times its
   logarithm beyond 2^9. */
EW_INLINE double power_f32(float a, double n, double *odd)
{
    int32_t e;
    float f = ew_wide_split(a, &e);
    double u = n * 0x1p-9 * ew_wide_log2(f, e);
    double wide = a;
    odd_unless((wide >= FLT_MIN) & (wide <= FLT_MAX) & (fabs(u) < 0.99), odd);
    return ew_wide_exp2(u);
}

EW_INLINE double logarithm_f32(float a)
{
    int32_t e;
    float f = ew_wide_split(a, &e);
    return ew_wide_log2(f, e) * 0x1.62e42fefa39efp-1;
}

#if defined(EW_FAST_FMA)
/* The same as in power_f64.h: odd if a or the power is not normal. */
EW_INLINE double power_f64(double a, double n, double *odd)
{
    struct ew_pair u = ew_power_exponent_f64(a, 0, n);
    double integer;
    odd_unless((a >= DBL_MIN) & (a <= DBL_MAX) & (fabs(u.high) < 3.98), odd);
    struct ew_pair power = ew_pair_exp2(u, &integer);
    return ew_pair_scale(power.high, integer);
}

EW_INLINE double logarithm_f64(double a)
{
    struct ew_pair log2 = ew_power_log2(a, 0);
    double low =
        fma(log2.high, 0x1.abc9e3b39803fp-56, log2.low * 0x1.62e42fefa39efp-1);
    return fma(log2.high, 0x1.62e42fefa39efp-1, low);
}
#endif

#define T float
#define B uint32_t
#define NAME(x) x##_f32
#define M(fn) fn##f
#define HAS_POWERS
#include "gradient.inc"

#define T double
#define B uint64_t
#define NAME(x) x##_f64
#define M(fn) fn
#if defined(EW_FAST_FMA)
#define HAS_POWERS
#endif
#include "gradient.inc"

/* One line binds a pair of derivatives to the kernels that store the one and
   sum the other: of elements of a type, by the derivatives of another. */
#define FUSE_Y(type, of, name, dx, dy)                                         \
    EW_TUNED static void name##_sums_dy_##type(                                \
        int64_t rows, int64_t cols, void *const data[],                        \
        const struct ew_stride s[], const struct ew_sums *sums)                \
    {                                                                          \
        sum_all_##type(dx##_##of, dy##_##of, false, rows, cols, data, s,       \
                       sums);                                                  \
    }
#define FUSE_X(type, of, name, dx, dy)                                         \
    EW_TUNED static void name##_sums_dx_##type(                                \
        int64_t rows, int64_t cols, void *const data[],                        \
        const struct ew_stride s[], const struct ew_sums *sums)                \
    {                                                                          \
        sum_all_##type(dy##_##of, dx##_##of, true, rows, cols, data, s, sums); \
    }
#define FUSE(type, of, name, dx, dy)                                           \
    FUSE_Y(type, of, name, dx, dy)                                             \
    FUSE_X(type, of, name, dx, dy)

/* The same where both are one function of exchanged operands. */
#define FUSE_EITHER(type, of, name, dx, dy)                                    \
    FUSE_Y(type, of, name, dx, dy)                                             \
    static void name##_sums_dx_##type(                                         \
        int64_t rows, int64_t cols, void *const data[],                        \
        const struct ew_stride s[], const struct ew_sums *sums)                \
    {                                                                          \
        turn_sum(name##_sums_dy_##type, rows, cols, data, s, sums);            \
    }

#define ROW(type, name)                                                        \
    {                                                                          \
        name##_sums_dx_##type, name##_sums_dy_##type                           \
    }

/* Each is much code: of f16 and bf16 there are those that are common. */
#define FUSE_COMMON(type, of)                                                  \
    FUSE_EITHER(type, of, add, itself, itself)                                 \
    FUSE(type, of, sub, itself, dy_sub)                                        \
    FUSE_EITHER(type, of, mul, dx_mul, dy_mul)                                 \
    FUSE(type, of, div, dx_div, dy_div)
#define COMMON_ROWS(type)                                                      \
    [ELEMENTWISE_ADD] = ROW(type, add), [ELEMENTWISE_SUB] = ROW(type, sub),    \
    [ELEMENTWISE_MUL] = ROW(type, mul), [ELEMENTWISE_DIV] = ROW(type, div)

#define FUSE_SELECTION(type)                                                   \
    FUSE(type, type, max, dx_max, dy_max)                                      \
    FUSE(type, type, min, dx_min, dy_min)                                      \
    FUSE(type, type, fmax, dx_fmax, dy_fmax)                                   \
    FUSE(type, type, fmin, dx_fmin, dy_fmin)
#define SELECTION_ROWS(type)                                                   \
    [ELEMENTWISE_MAX] = ROW(type, max), [ELEMENTWISE_MIN] = ROW(type, min),    \
    [ELEMENTWISE_FMAX] = ROW(type, fmax), [ELEMENTWISE_FMIN] = ROW(type, fmin)

FUSE_COMMON(f16, f32)
FUSE_COMMON(bf16, f32)
FUSE_COMMON(f32, f32)
FUSE_COMMON(f64, f64)
FUSE_SELECTION(f32)
FUSE_SELECTION(f64)

static const ew_fused fused_f16 = {COMMON_ROWS(f16)};
static const ew_fused fused_bf16 = {COMMON_ROWS(bf16)};
static const ew_fused fused_f32 = {COMMON_ROWS(f32), SELECTION_ROWS(f32)};
static const ew_fused fused_f64 = {COMMON_ROWS(f64), SELECTION_ROWS(f64)};

/* Complex arithmetic by parts, without C's recovery of infinities: on a vector
   of numbers at once, c64 in double. */
typedef struct parts Z;
typedef int64_t marks __attribute__((vector_size(sizeof(reals))));

EW_INLINE Z conjugate(Z a)
{
    return (Z){a.re, -a.im};
}

EW_INLINE Z plus(Z a, Z b)
{
    return (Z){a.re + b.re, a.im + b.im};
}

EW_INLINE Z minus(Z a, Z b)
{
    return (Z){a.re - b.re, a.im - b.im};
}

EW_INLINE Z negative(Z a)
{
    return (Z){-a.re, -a.im};
}

EW_INLINE Z scaled(Z a, reals by)
{
    return (Z){a.re * by, a.im * by};
}

EW_INLINE Z times(Z a, Z b)
{
    return (Z){EW_ROUNDED(a.re * b.re) - EW_ROUNDED(a.im * b.im),
               EW_ROUNDED(a.re * b.im) + EW_ROUNDED(a.im * b.re)};
}

EW_INLINE reals choose(marks where, reals a, reals b)
{
    return (reals)((where & (marks)a) | (~where & (marks)b));
}

EW_INLINE reals magnitude(reals a)
{
    return (reals)((marks)a & INT64_MAX);
}

/* Smith's method, as in complex_divide.h but for operands of ordinary size. */
EW_INLINE Z over(Z a, Z b)
{
    const marks straight = magnitude(b.re) >= magnitude(b.im);
    const reals large = choose(straight, b.re, b.im);
    const reals small = choose(straight, b.im, b.re), ratio = small / large;
    const reals whole = large + EW_ROUNDED(small * ratio);
    const Z part = {EW_ROUNDED(a.re * ratio), EW_ROUNDED(a.im * ratio)};
    const reals re =
        choose(straight, a.re, part.re) + choose(straight, part.im, a.im);
    const reals im =
        choose(straight, a.im, part.im) - choose(straight, part.re, a.re);
    return (Z){re / whole, im / whole};
}

/* 1 / |y|^2, where no square of a float overflows or vanishes. */
EW_INLINE reals inverse_square(Z y)
{
    return 1 / (EW_ROUNDED(y.re * y.re) + EW_ROUNDED(y.im * y.im));
}

EW_INLINE Z dx_mul_c(Z x, Z y, Z g)
{
    (void)x;
    return times(g, conjugate(y));
}

EW_INLINE Z dy_mul_c(Z x, Z y, Z g)
{
    (void)y;
    return times(g, conjugate(x));
}

EW_INLINE Z dx_div_c(Z x, Z y, Z g)
{
    (void)x;
    return over(g, conjugate(y));
}

EW_INLINE Z dy_div_c(Z x, Z y, Z g)
{
    return negative(times(g, conjugate(over(over(x, y), y))));
}

/* The same of c64 with one division instead of three or five, which are what
   takes time: what is not finite is no quotient. */
EW_INLINE Z fast_dx_div_c(Z x, Z y, Z g)
{
    (void)x;
    return scaled(times(g, y), inverse_square(y));
}

EW_INLINE Z fast_dy_div_c(Z x, Z y, Z g)
{
    const reals inverse = inverse_square(y);
    const Z quotient = scaled(times(x, conjugate(y)), inverse);
    const Z slope = scaled(times(g, y), inverse);
    return negative(times(slope, conjugate(quotient)));
}

EW_INLINE Z dx_mul2_c(Z x, Z y, Z g, Z u, Z v)
{
    (void)x, (void)y, (void)u;
    return times(g, conjugate(v));
}

EW_INLINE Z dy_mul2_c(Z x, Z y, Z g, Z u, Z v)
{
    (void)x, (void)y, (void)v;
    return times(g, conjugate(u));
}

EW_INLINE Z dd_mul2_c(Z x, Z y, Z g, Z u, Z v)
{
    (void)g;
    return plus(times(u, y), times(x, v));
}

EW_INLINE Z dx_div2_c(Z x, Z y, Z g, Z u, Z v)
{
    (void)x, (void)u;
    return negative(times(g, conjugate(over(over(v, y), y))));
}

EW_INLINE Z dy_div2_c(Z x, Z y, Z g, Z u, Z v)
{
    const Z once = times(x, over(v, y));
    return times(g, conjugate(over(over(minus(plus(once, once), u), y), y)));
}

EW_INLINE Z dd_div2_c(Z x, Z y, Z g, Z u, Z v)
{
    (void)g;
    return over(minus(u, times(x, over(v, y))), y);
}

/* Powers, one number at a time, as libm makes them. */
typedef struct ew_c128 number;

static inline number product(number a, number b)
{
    return (number){EW_ROUNDED(a.re * b.re) - EW_ROUNDED(a.im * b.im),
                    EW_ROUNDED(a.re * b.im) + EW_ROUNDED(a.im * b.re)};
}

static inline bool is_zero(number a)
{
    return a.re == 0 && a.im == 0;
}

union wide {
    double part[2];
    double complex value;
};

/* C joins the parts of a complex number only by arithmetic, which infinities
   do not survive; a union does it by place. */
static inline number logarithm(number a)
{
    union wide z = {{a.re, a.im}};
    z.value = clog(z.value);
    return (number){z.part[0], z.part[1]};
}

/* By the logarithm of a. */
static inline number power(number a, number log, number b)
{
    if (is_zero(b))
        return (number){1, 0};
    if (is_zero(a))
        return b.re > 0 && b.im == b.im ? (number){0, 0} : (number){NAN, NAN};
    number exponent = product(b, log);
    union wide z = {{exponent.re, exponent.im}};
    z.value = cexp(z.value);
    return (number){z.part[0], z.part[1]};
}

/* The derivative's conjugate, g times that of factor times power. */
EW_INLINE number slope_of_power(number factor, number power, number g)
{
    const number slope = product(factor, power);
    return product(g, (number){slope.re, -slope.im});
}

static inline number dx_pow_c(number x, number y, number g)
{
    if (is_zero(y))
        return (number){0, 0};
    const number less = {y.re - 1, y.im};
    return slope_of_power(y, power(x, logarithm(x), less), g);
}

static inline number dy_pow_c(number x, number y, number g)
{
    if (is_zero(x) && y.re >= 0)
        return (number){0, 0};
    const number log = logarithm(x);
    return slope_of_power(log, power(x, log, y), g);
}

#define T struct ew_c64
#define R float
#define NAME(x) x##_c64
#define PARTS(x) x##_f32
#define STORE(n, z, to) store_c64(n, z, to, C64)
#define HAS_FAST
#define HAS_POWERS
#include "gradient_complex.inc"

#define T struct ew_c128
#define R double
#define NAME(x) x##_c128
#define PARTS(x) x##_f64
#define STORE(n, z, to) store_c128(n, z, to)
#if defined(EW_FAST_FMA)
#define HAS_POWERS
#endif
#include "gradient_complex.inc"

const ew_derivatives *const EW_CONCAT(ew_gradient, EW_LEVEL)[4] = {
    &derivatives_f32, &derivatives_f64, &derivatives_c64, &derivatives_c128};

const ew_fused *const EW_CONCAT(ew_fused, EW_LEVEL)[4] = {
    &fused_f16, &fused_bf16, &fused_f32, &fused_f64};
