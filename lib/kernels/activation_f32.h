/*
 * sigmoid, tanh, gelu and silu on f32, in f32, with errors below 2 ULP.
 * Nothing branches or calls, so loops of them become vectors on every level.
 * What a division loses is found from its remainder and put back.
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

/* -|x|, at least `least`; NaN stays. */
EW_INLINE float negative(float x, float least)
{
    float low = -fabsf(x);
    return low < least ? least : low;
}

/* The same, but NaN counts as infinity: one step, where x comes in later
   again. The bits of floats of one sign are in their order. */
EW_INLINE float negative_or_least(float x, float least)
{
    uint32_t low = ew_half_bits32(x) | 0x80000000, end = ew_half_bits32(least);
    return ew_half_float(low < end ? low : end);
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

/* e / (1 + e) is e^-|x| over 1 + e^-|x|; the other half is 1 less that. With q
   the quotient, e - q - q e is its remainder, of which e - q is exact, and
   1 - q is 1 / (1 + e). */
EW_INLINE float sigmoid_f32(float x)
{
    struct short_power p = short_power_of_e(negative(x, -110), 0);
    float minus_1 = p.high + p.low;
    float e = multiply_add(p.scale, minus_1, p.scale) * 0x1p-64f;
    float q = e / (1 + e), rest = multiply_add(-q, e, e - q);
    q = multiply_add(rest, 1 - q, q);
    return x < 0 ? q : 1 - q;
}

/* max(x, 0) - |x| e / (1 + e). -1 / (1 + e) need not be accurate for what the
   quotient is too large by; where that is +0, -0 stays. */
EW_INLINE float silu_f32(float x)
{
    float a = negative_or_least(x, -110);
    struct short_power p = short_power_of_e(a, 0);
    float minus_1 = p.high + p.low, y = a * p.scale;
    float e = multiply_add(p.scale, minus_1, p.scale) * 0x1p-64f;
    y += y * minus_1;
    float q = y / (1 + e), surplus = multiply_add(q, e, q - y);
    q += surplus * multiply_add(e, 0.457f, -0.957f);
    return multiply_add(q, 0x1p-64f, positive_part(x));
}

/* With h = (e^2a - 1) / 2 tanh a is h / (1 + h), here of a = -|x|. For 2a =
   k log 2 + 2r, 2h is 2^k (e^2r - 1) + 2^k - 1, which loses no digits near 0.
   The polynomial is ((e^2r - 1) / 2 - r) / r^2; 2^-26 of e^2r - 1. */
EW_INLINE float tanh_f32(float x)
{
    static const float c[] = {0x1.fffffep-1f, 0x1.5554aep-1f, 0x1.5556f0p-2f,
                              0x1.122a70p-3f, 0x1.6ba480p-5f};
    float a = negative(x, -10);
    float t = multiply_add(a, 0x1.715476p1f, integer_here);
    float r = multiply_add(t - integer_here, -0x1.62e43p-2f, a);
    float scale = short_two_to(t);
    float h = multiply_add(short_series(c, 5, r), r * r, r);
    h = multiply_add(h, scale, multiply_add(scale, 0.5f, -0.5f));
    float q = h / (1 + h), rest = multiply_add(-q, h, h - q);
    return copysignf(q + rest * (1 - q), x);
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
