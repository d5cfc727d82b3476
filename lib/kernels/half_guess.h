/*
 * pow, atan2 and logaddexp on f32 to what f16 and bf16 need of them: a guess
 * that is off by a few ULP, where these are rounded by thousands. Where so much
 * may turn that rounding, the function of f32 makes it once more, so that all
 * are rounded as its results are (known as Ziv's rounding test):
 *
 *     x, y -> guess, off -> guess - off and guess + off round alike -> out
 *                           else                    x, y -> of f32 -> out
 *
 * Coefficients are minimax polynomials, made by tests/accuracy/minimax.py,
 * which names them as they are named here. Bounds of what guesses are off by
 * come from theirs and from roundings, with an ULP and more for that of f32's
 * function; 80 million pairs were off by no more than 0.55 of them. All pairs
 * of both types are rounded as by f32, which long runs of the tests repeat of
 * an eighth of them.
 */
#ifndef EW_HALF_GUESS_H
#define EW_HALF_GUESS_H

#include "block.h"
#include "wide.h"

/* How f32 is rounded: half of the last bit that stays, and the smallest number
   that is normal then, and its exponent. */
struct half_rounding {
    uint32_t half;
    float exponent, normal;
};

/* What stands for op(x, y), and at most how much it is off: NaN, if that may be
   anything. */
struct half_guess {
    float made, off;
};
typedef struct half_guess half_guesser(float x, float y,
                                       struct half_rounding to);

/* An exponent y log2 |x| in two parts, the first of which is exact: e has five
   bits beside eleven of y, or eight beside eight. */
struct half_exponent {
    float whole, rest;
};

/* |x| = 2^e (1 + f); infinite if it is no normal number. */
EW_INLINE struct half_exponent guess_exponent(float x, float y)
{
    float a = fabsf(x), sum = -0x1.c25b8ap-4f;
    int32_t e;
    float f = ew_wide_split(a, &e);
    sum = fmaf(sum, f, 0x1.7d4976p-3f); /* log2_f32 */
    sum = fmaf(sum, f, -0x1.874bc2p-3f);
    sum = fmaf(sum, f, 0x1.a3059ep-3f);
    sum = fmaf(sum, f, -0x1.eabc8cp-3f);
    sum = fmaf(sum, f, 0x1.277e38p-2f);
    sum = fmaf(sum, f, -0x1.715a76p-2f);
    sum = fmaf(sum, f, 0x1.ec7096p-2f);
    sum = fmaf(sum, f, -0x1.715470p-1f);
    sum = fmaf(sum, f, 0x1.715476p+0f);
    bool normal = bits_f32(a) - 0x00800000 < 0x7f000000;
    float whole = normal ? y * (float)e : INFINITY;
    return (struct half_exponent){whole, y * (sum * f)};
}

/* 2^(n + g), |g| <= 1/2, of an integer n to which 1.5 * 2^23 was added. */
EW_INLINE float guess_exp2(float n, float g)
{
    float sum = 0x1.41d314p-13f; /* exp2_f32 */
    sum = fmaf(sum, g, 0x1.5f456cp-10f);
    sum = fmaf(sum, g, 0x1.3b2dbcp-7f);
    sum = fmaf(sum, g, 0x1.c6aed4p-5f);
    sum = fmaf(sum, g, 0x1.ebfbdap-3f);
    sum = fmaf(sum, g, 0x1.62e430p-1f);
    sum = fmaf(sum, g, 1);
    return from_bits_f32(bits_f32(sum) + (bits_f32(n) << 23));
}

/* The power of 2, no more than 2^126. */
EW_INLINE struct half_guess guess_power(float whole, float rest,
                                        struct half_rounding to)
{
    float u = whole + rest, n = u + 0x1.8p23f;
    float power = guess_exp2(n, whole - (n - 0x1.8p23f) + rest);
    float part = fmaf(fabsf(rest), 0x1p-22f, 0x1p-22f);
    bool normal = (u > to.exponent) & (u < 126);
    return (struct half_guess){power, normal ? power * part : NAN};
}

/* As op_atan2_f32. */
EW_INLINE struct half_guess guess_atan2(float x, float y,
                                        struct half_rounding to)
{
    float a = fabsf(x), b = fabsf(y);
    float low = a < b ? a : b, high = a < b ? b : a, t = low / high;
    float z = t * t, sum = -0x1.339468p-8f; /* atan_f32 */
    sum = fmaf(sum, z, 0x1.8d5a56p-6f);
    sum = fmaf(sum, z, -0x1.e7505ep-5f);
    sum = fmaf(sum, z, 0x1.96170ep-4f);
    sum = fmaf(sum, z, -0x1.1f1e7ep-3f);
    sum = fmaf(sum, z, 0x1.98fae0p-3f);
    sum = fmaf(sum, z, -0x1.5551d0p-2f);
    sum = fmaf(sum, z, 0x1.fffffcp-1f);
    float angle = sum * t;
    angle = a > b ? 0x1.921fb6p+0f - angle : angle;
    angle = (int32_t)bits_f32(y) < 0 ? 0x1.921fb6p+1f - angle : angle;
    bool normal = (angle == 0) | (angle >= to.normal);
    angle = copysignf(angle, x);
    return (struct half_guess){angle, normal ? angle * 0x1p-21f : NAN};
}

/* As ew_angle_logaddexp_f32, but log(1 + p) is a polynomial. */
EW_INLINE struct half_guess guess_logaddexp(float x, float y,
                                            struct half_rounding to)
{
    float high = x > y ? x : y, low = x > y ? y : x, gap = low - high;
    bool ordered = gap <= 0;
    gap = gap > -80 ? gap : -80;
    const float per = 0x1.715476p+0f;
    float n = fmaf(gap, per, 0x1.8p23f), g = fmaf(gap, per, 0x1.8p23f - n);
    float p = guess_exp2(n, g), sum = 0x1.56ec1cp-8f; /* log1p_f32 */
    sum = fmaf(sum, p, -0x1.e3681ap-6f);
    sum = fmaf(sum, p, 0x1.406928p-4f);
    sum = fmaf(sum, p, -0x1.17d27ep-3f);
    sum = fmaf(sum, p, 0x1.874a64p-3f);
    sum = fmaf(sum, p, -0x1.fcc8c0p-3f);
    sum = fmaf(sum, p, 0x1.553004p-2f);
    sum = fmaf(sum, p, -0x1.fffeacp-2f);
    sum = fmaf(sum, p, 0x1.fffffep-1f);
    float made = fmaf(sum, p, high);
    float off = fmaf(fabsf(made), 0x1p-22f, 0x1p-22f);
    bool normal = (fabsf(made) >= to.normal) & (fabsf(made) < INFINITY);
    bool known = ordered & normal;
    return (struct half_guess){made, known ? off : NAN};
}

/* Other than 0 if a guess may round another way than what it stands for. */
EW_INLINE uint32_t half_doubt(float made, float off, struct half_rounding to)
{
    uint32_t below = bits_f32(made - off) + to.half;
    uint32_t above = bits_f32(made + off) + to.half;
    return off != off ? 1 : (below ^ above) & ~(2 * to.half - 1);
}

/* Guesses of n elements, whole blocks, which of them are in doubt, and whether
   any is. Each step waits for the one before; of two loops more elements are
   under way. */
EW_INLINE bool half_guess_all(half_guesser *guess, const void *with, int64_t n,
                              const float *x, const float *y, float *made,
                              uint32_t doubt[])
{
    struct half_rounding to = *(const struct half_rounding *)with;
    float off[EW_BLOCKS];
    uint32_t any = 0;
    n = n / EW_BLOCK * EW_BLOCK;
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        struct half_guess one = guess(x[i], y[i], to);
        made[i] = one.made;
        off[i] = one.off;
    }
    for (int64_t i = 0; i < n; i++) {
        doubt[i] = half_doubt(made[i], off[i], to);
        any |= doubt[i];
    }
    return any != 0;
}

/* Blocks of them in which some are in doubt by the function of f32. */
EW_INLINE void half_make_again(ew_block_compute *compute, const void *with,
                               int64_t n, const float *x, const float *y,
                               float *made, const uint32_t doubt[])
{
    for (int64_t c = 0; c < n; c += EW_BLOCK) {
        uint32_t any = 0;
        for (int i = 0; i < EW_BLOCK; i++)
            any |= doubt[c + i];
        if (any)
            compute(EW_BLOCK, x + c, y + c, with, made + c);
    }
}

/* Both: out is neither x nor y. Without fma guesses take longer than they
   save. */
EW_INLINE void half_compute_guessed(half_guesser *guess,
                                    ew_block_compute *compute, const void *with,
                                    int64_t n, const void *x, const void *y,
                                    void *out)
{
#if defined(EW_FAST_FMA)
    uint32_t doubt[EW_BLOCKS];
    if (half_guess_all(guess, with, n, x, y, out, doubt))
        half_make_again(compute, with, n, x, y, out, doubt);
#else
    (void)guess;
    compute(n, x, y, with, out);
#endif
}

#endif
