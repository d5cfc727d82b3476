/*
 * sigmoid, tanh and silu on f32, in f32, with errors below 2 ULP.
 * Nothing branches or calls, so loops of them become vectors on every level.
 *
 * Polynomials were fitted to the smallest largest error of the result, and
 * their coefficients rounded to f32 one by one, from the lowest on, the others
 * fitted anew each time. The errors given are relative and of the polynomial.
 */
#ifndef EW_ACTIVATION_F32_H
#define EW_ACTIVATION_F32_H

#include <math.h>

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
    EW_UNROLLED
    for (int i = n - 2; i >= 0; i--)
        sum = multiply_add(sum, x, c[i]);
    return sum;
}

/* NaN stays. */
EW_INLINE float at_most(float x, float most)
{
    return most < x ? most : x;
}

/* max(x, 0), with -0 for what is negative: adding that to a zero leaves its
   sign. The zero is not a constant, as clang 14 turns x < 0 ? -0.0f : x into
   x <= 0 ? -0.0f : x. */
EW_INLINE float positive_part(float x)
{
    return x < 0 ? copysignf(0, x) : x;
}

/* 2^k for a k that lies in the last bits of t, with the exponent's bias. */
EW_INLINE float short_two_to(float t)
{
    return from_bits_f32(bits_f32(t) << 23);
}

/* Adding it rounds to an integer and leaves that, plus the bias of exponents,
   in the last bits: 2^k at once. */
static const float integer_here = 0x1.8p23f + 127;

/* 2^-32 (1 + e^-x), for which nothing overflows where e^-x counts; y is x, but
   not above 18. With e^-x = (1 - drop) scale it is rounded once, or nearly so:
   1 + scale is exact, but for large scales; then drop is taken from 1 first.
   log 2 has two parts, and the first step to r is exact. Below -110 k stays,
   and the series of a large r is as good as infinity. The polynomial is (drop -
   r) / r^2 for |r| <= log(2) / 2; 2^-28 of e^-r. */
EW_INLINE float one_and_power(float x, float y)
{
    static const float c[] = {-0x1.fffffcp-2f, 0x1.55548cp-3f, -0x1.5558b8p-5f,
                              0x1.123e58p-7f, -0x1.6a4d74p-10f};
    const float integer = integer_here - 32;
    uint32_t last = bits_f32(integer + 159);
    uint32_t t = bits_f32(multiply_add(y, -0x1.715476p0f, integer));
    float k = from_bits_f32(t = t < last ? t : last) - integer;
    float r = multiply_add(k, 0x1.62e430p-1f, y);
    r = multiply_add(k, -0x1.05c610p-29f, r);
    float drop = multiply_add(short_series(c, 5, r), r * r, r);
    float scale = from_bits_f32(t << 23);
    float early = x < -4 ? 0 : scale, late = x < -4 ? scale : 0;
    return multiply_add(-scale, drop, 0x1p-32f + early) + late;
}

EW_INLINE float sigmoid_f32(float x)
{
    return 0x1p-32f / one_and_power(x, at_most(x, 18));
}

/* x sigmoid x, where no quotient overflows. The bits of floats of one sign are
   in their order: those of x, of either sign, are limited in one step each. A
   negative NaN comes through as y, another one as low. */
EW_INLINE float silu_f32(float x)
{
    uint32_t bits = bits_f32(x), least = bits_f32(-110);
    int32_t same = (int32_t)bits, most = (int32_t)bits_f32(18);
    float low = from_bits_f32(bits < least ? bits : least);
    float y = from_bits_f32((uint32_t)(same < most ? same : most));
    float q = low / one_and_power(x, y);
    return x > 0x1p64f ? x : q * 0x1p-32f;
}

/* (1 - e) / (1 + e), e = e^-2|x|. For 2|x| = 2r - k log 2, e is 2^k (1 + 2h),
   which loses no digits near 0. The polynomial is (h + r) / r^2; 2^-26
   of 2h. */
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

#endif
