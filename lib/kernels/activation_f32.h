/*
 * sigmoid, tanh, gelu and silu on f32, in f32, with errors below 2 ULP.
 * Nothing branches or calls, so loops of them become vectors on every level.
 *
 * Polynomials were fitted to the smallest largest error of the result, and
 * their coefficients rounded to f32 one by one, from the lowest on, the others
 * fitted anew each time. The errors given are relative and of the polynomial.
 */
#ifndef EW_ACTIVATION_F32_H
#define EW_ACTIVATION_F32_H

#include <math.h>

#include "half.h"
#include "loop.h"
#include "wide.h"

/* a b + c, rounded once. Without a fast fma the sum is made in double, where
   a b is exact. Rounding it twice gives the same bits for every operand of
   these functions, as trying all of them has shown; the steps where it did not
   are a product and a sum. */
EW_INLINE float multiply_add(float a, float b, float c)
{
#if defined(EW_FAST_FMA)
    return fmaf(a, b, c);
#else
    return (float)((double)a * b + c);
#endif
}

/* n terms from the lowest on, by Horner's rule; n is known at compile time. */
EW_INLINE float short_series(const float *c, int n, float x)
{
    float sum = c[n - 1];
#if defined(__clang__)
    _Pragma("clang loop unroll(full)")
#else
    _Pragma("GCC unroll 8")
#endif
        for (int i = n - 2; i >= 0; i--) sum = multiply_add(sum, x, c[i]);
    return sum;
}

/* NaN stays in these two. */
EW_INLINE float at_most(float x, float most)
{
    return most < x ? most : x;
}

EW_INLINE float at_least(float x, float least)
{
    return x < least ? least : x;
}

/* -|x|, at least `least`, and NaN counts as infinity: x comes in later again.
   The bits of floats of one sign are in their order. */
EW_INLINE float negative_or_least(float x, float least)
{
    uint32_t low = ew_half_bits32(x) | 0x80000000, end = ew_half_bits32(least);
    return ew_half_float(low < end ? low : end);
}

/* 2^k for a k that lies in the last bits of t, with the exponent's bias. */
EW_INLINE float short_two_to(float t)
{
    return ew_half_float(ew_half_bits32(t) << 23);
}

/* Adding it rounds to an integer and leaves that, plus the bias of exponents,
   in the last bits: 2^k at once. With 64 more no power is subnormal, and the
   last step of a function multiplies by 2^-64. */
static const float integer_here = 0x1.8p23f + 127;
static const float integer_far = 0x1.8p23f + 127 + 64;

/* (e^r - 1 - r) / r^2, |r| <= log(2) / 2; 2^-28 of e^r. */
EW_INLINE float exp_rest(float r)
{
    static const float c[] = {0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.5558b8p-5f,
                              0x1.123e58p-7f, 0x1.6a4d74p-10f};
    return short_series(c, 5, r);
}

/* e^(y + more) = 2^-64 (1 + high + low) scale, for -120 <= y <= 0 and a small
   `more`. y is k log 2 + high + low, and log 2 has two parts, of which the
   first leaves both k times it and the difference exact. */
struct short_power {
    float high, low, scale;
};

EW_INLINE struct short_power short_power_of_e(float y, float more)
{
    float t = multiply_add(y, 0x1.715476p0f, integer_far), k = t - integer_far;
    float high = multiply_add(k, -0x1.62e4p-1f, y);
    float low = multiply_add(k, -0x1.7f7d1cp-20f, more), r = high + low;
    low = multiply_add(exp_rest(r), r * r, low);
    return (struct short_power){high, low, short_two_to(t)};
}

/* 2^-32 (1 + e^-x), for which nothing overflows where e^-x counts. With e^-x =
   (1 + minus_1) scale it is rounded once, or nearly so: 1 + scale is exact, but
   for large scales; then 1 and minus_1 are summed first. log 2 has two parts,
   and the first step to r is exact. Below -110 k stays, and the series of a
   large r is as good as infinity. */
EW_INLINE float one_and_power(float x)
{
    static const float c[] = {0x1.fffffcp-2f, -0x1.55548cp-3f, 0x1.5558b8p-5f,
                              -0x1.123e58p-7f, 0x1.6a4d74p-10f};
    const float integer = 0x1.8p23f + 127 - 32, y = at_most(x, 18);
    uint32_t last = ew_half_bits32(integer + 159);
    uint32_t t = ew_half_bits32(multiply_add(y, -0x1.715476p0f, integer));
    float k = ew_half_float(t = t < last ? t : last) - integer;
    float r = multiply_add(k, 0x1.62e430p-1f, y);
    r = multiply_add(k, -0x1.05c610p-29f, r);
    float minus_1 = multiply_add(short_series(c, 5, r), r * r, -r);
    float scale = ew_half_float(t << 23);
    float early = x < -4 ? 0 : scale, late = x < -4 ? scale : 0;
    return multiply_add(scale, minus_1, 0x1p-32f + early) + late;
}

EW_INLINE float sigmoid_f32(float x)
{
    return 0x1p-32f / one_and_power(x);
}

/* x sigmoid x, where no quotient overflows. */
EW_INLINE float silu_f32(float x)
{
    float q = at_least(x, -110) / one_and_power(x);
    return x > 0x1p64f ? x : q * 0x1p-32f;
}

/* (1 - e) / (1 + e), e = e^-2|x|. For 2|x| = 2r - k log 2, e is 2^k (1 + 2h),
   which loses no digits near 0. The polynomial is (h + r) / r^2; 2^-26 of 2h. */
EW_INLINE float tanh_f32(float x)
{
    static const float c[] = {0x1.fffffep-1f, -0x1.5554aep-1f, 0x1.5556f0p-2f,
                              -0x1.122a70p-3f, 0x1.6ba480p-5f};
    float a = at_most(fabsf(x), 10);
    float t = multiply_add(a, -0x1.715476p1f, integer_here);
    float r = multiply_add(t - integer_here, 0x1.62e430p-2f, a);
    float h = multiply_add(short_series(c, 5, r), r * r, -r);
    float scale = short_two_to(t), half = 0.5f * scale;
    float sum = multiply_add(scale, h, 0.5f + half);
    return copysignf(multiply_add(-scale, h, 0.5f - half) / sum, x);
}

/* -a Phi(-a) = e^y w / (P - w sqrt(2 pi)), w = -a Q, y + more = -a^2 / 2, given
   a negative -a. Phi is the normal distribution, P and Q are polynomials of
   a - 1.625 for 0.8 <= a <= 15; 2^-27. What P and Q lose by rounding counts
   little, as w stands on both sides. */
EW_INLINE float normal_tail(float a, float y, float more)
{
    static const float c_q[] = {1, 0x1.ad3798p-1f, 0x1.2af042p-2f,
                                0x1.962c08p-5f, 0x1.c7db60p-9f};
    static const float c_p[] = {0x1.0de858p+0f, 0x1.116546p-1f, 0x1.c3601ap-4f,
                                0x1.1d9832p-7f};
    const float root = 0x1.40d932p+1f, b = -1.625f - a;
    struct short_power e = short_power_of_e(y, more);
    float p = short_series(c_p, 4, b), w = a * short_series(c_q, 5, b);
    float below = multiply_add(-root, w, p), over = 1 / below, q = w * over;
    float lost = p - multiply_add(root, w, below); /* by `below` */
    float rest = multiply_add(-q, lost, multiply_add(-q, below, w)) * over;
    q += multiply_add(q, e.high, multiply_add(q, e.low, rest));
    return q * e.scale;
}

/* x Phi(x) = max(x, 0) - a Phi(-a), a = |x|; near 0 that would lose digits,
   and it is x (1 / 2 + x c(-x^2 / 2)); 2^-28. */
EW_INLINE float gelu_f32(float x)
{
    static const float c[] = {0x1.988452p-2f, 0x1.1057b8p-3f, 0x1.46b204p-5f,
                              0x1.34396ep-7f, 0x1.9e0b12p-10f};
    float a = negative_or_least(x, -15), half = -0.5f * a, y = a * half;
    float tail = normal_tail(a, y, multiply_add(a, half, -y));
    float far = multiply_add(tail, 0x1p-64f, x < 0 ? 0 : x);
    float near = x * (0.5f + x * short_series(c, 5, y));
    return y > -0.32f ? near : far;
}

#endif
