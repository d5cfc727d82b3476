/*
 * sigmoid, tanh, gelu and silu on f64, and their derivatives in double for f32
 * and f64, by polynomials without branches or calls.
 */
#ifndef EW_ACTIVATION_F64_H
#define EW_ACTIVATION_F64_H

#include <math.h>
#include <stdbool.h>

#include "half.h"
#include "loop.h"

/* The coefficients were fitted in 60 digits at the Chebyshev points of the
   intervals given; errors are those of the polynomials. */

/* (e^r - 1 - r) / r^2 for |r| <= 0.347; 1.3e-17 of e^r. */
static const double exp_series[] = {
    0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d37p-5,
    0x1.11111111109a6p-7,  0x1.6c16c1789d1d7p-10, 0x1.a01a01a7cebcdp-13,
    0x1.a019b8ca26fcfp-16, 0x1.71de0d85293b8p-19, 0x1.2891d4ffbb0f9p-22,
    0x1.af390ba7e6f47p-26};

/* (tanh x / x - 1) / x^2 as a polynomial of x^2, |x| <= 0.625; 8e-18. */
static const double tanh_series[] = {
    -0x1.5555555555555p-2,  0x1.11111111110a8p-3,   -0x1.ba1ba1ba0f0f7p-5,
    0x1.664f487e09788p-6,   -0x1.226e3473b1da6p-7,  0x1.d6d39adb05e1bp-9,
    -0x1.7d9f6e9d27c5cp-10, 0x1.3526e49c5342dp-11,  -0x1.f2433d7227418p-13,
    0x1.8444736bcdd27p-14,  -0x1.05b96c357bd85p-15, 0x1.b32cc9deb5098p-18};

/* (a + 5) Phi(-a) e^(a^2 / 2) as a polynomial of (a - 5) / (a + 5), where Phi
   is the normal distribution: a <= 40 for f64, relative error 5e-17, and
   a <= 15 for f32, 1e-10. */
static const double tail_series_f64[] = {
    0x1.89d3abe1f95aep-1,   -0x1.54ad03f27ca17p-1,  0x1.fb31653876f61p-2,
    -0x1.410ed5f875a20p-2,  0x1.51f6329f02a46p-3,   -0x1.1b1c254c9bd6ap-4,
    0x1.54b4d4f408d7dp-6,   -0x1.88590eaa35a53p-9,  -0x1.a25036f0ced37p-11,
    0x1.1daf1d823c9e1p-11,  -0x1.f214b487637b1p-15, -0x1.a170fd5e2bc26p-15,
    0x1.17df5503e0689p-16,  0x1.0b2dc849147b4p-18,  -0x1.73d193b5b6738p-19,
    -0x1.6a878b5bfac88p-22, 0x1.d256e447d4843p-22,  0x1.78b05c77192b1p-25,
    -0x1.1dc995c872be1p-24, -0x1.6d0924590c5b4p-27, 0x1.043afdc80ea3ap-27,
    0x1.2f3745aaf4ddfp-29};
static const double tail_series_f32[] = {
    0x1.89d3abe1a158ep-1,  -0x1.54ad03ea02083p-1,  0x1.fb3165860c0b8p-2,
    -0x1.410ed95d0d7c0p-2, 0x1.51f6254551176p-3,   -0x1.1b1b68e3e327dp-4,
    0x1.54b92188a2e4cp-6,  -0x1.88dc4f508bbb0p-9,  -0x1.a54978448daabp-11,
    0x1.2271c6db6b2b8p-11, -0x1.6ff1c81d0e503p-15, -0x1.d0e46f5a00979p-15};

enum {
    EXP_TERMS = sizeof exp_series / sizeof *exp_series,
    TANH_TERMS = sizeof tanh_series / sizeof *tanh_series,
    TAIL_TERMS_f64 = sizeof tail_series_f64 / sizeof *tail_series_f64,
    TAIL_TERMS_f32 = sizeof tail_series_f32 / sizeof *tail_series_f32
};

/* By Horner's rule; n is known at compile time. */
EW_INLINE double series(const double *c, int n, double x)
{
    double sum = c[n - 1];
#if defined(__clang__)
    _Pragma("clang loop unroll(full)")
#else
    _Pragma("GCC unroll 32")
#endif
        for (int i = n - 2; i >= 0; i--) sum = sum * x + c[i];
    return sum;
}

/* 2^k for a k that lies in the last bits of t = 1.5 * 2^52 + k. */
EW_INLINE double two_to(double t)
{
    return ew_half_double((ew_half_bits64(t) + 1023) << 52);
}

/* Adding it rounds to an integer, which is then in the last bits. */
static const double round_here = 0x1.8p52;

/* x 2^k, |k| <= 2000, in two steps, since 2^k may be subnormal or too large:
   a subnormal result is rounded once. */
EW_INLINE double times_two_to(double x, double k)
{
    double half = k * 0.5 + round_here;
    return x * two_to(half) * two_to(k - (half - round_here) + round_here);
}

/* e^y = (value + rest) 2^k, rest being what value lost by rounding. */
struct power {
    double value, rest, k;
};

/* e^(y + more), |y| <= 1300. y is k log 2 + r, and log 2 has two parts of which
   the first leaves k times it exact. */
EW_INLINE struct power power_of_e(double y, double more)
{
    double k = (y * 0x1.71547652b82fep0 + round_here) - round_here;
    double high = y - k * 0x1.62e42feep-1;
    double low = k * 0x1.a39ef35793c76p-33 - more;
    double r = high - low, lost = (high - r) - low;
    double q = series(exp_series, EXP_TERMS, r);
    double minus_1 = r + (lost + r * r * q), value = 1 + minus_1;
    return (struct power){value, minus_1 - (value - 1), k};
}

/* NaN stays. */
EW_INLINE double clamp(double x, double least, double most)
{
    double low = x < least ? least : x;
    return low > most ? most : low;
}

/* factor / (1 + e^-x). Where e^-x = v 2^k is large, that is
   factor / (v + 2^-k) 2^-k, in which nothing overflows. What the sum loses
   corrects the quotient; 1 / sum need not be accurate for that. */
EW_INLINE double logistic(double factor, double x)
{
    struct power e = power_of_e(clamp(-x, -800, 800), 0);
    bool large = e.k > 0;
    double p = times_two_to(1, -fabs(e.k));
    double high = large ? e.value : 1, low = large ? p : e.value * p;
    double sum = high + low;
    double lost = (high - sum) + low + (large ? e.rest : e.rest * p);
    double over = 3.07 + sum * (-3.31 + sum * (1.49 - sum * 0.239));
    double q = factor / sum;
    q -= q * (lost * over);
    return large ? times_two_to(q, -e.k) : q;
}

EW_INLINE double sigmoid_f64(double x)
{
    return logistic(1, x);
}

/* Beyond 800 the result is x, or -0. Its sign is that of x, zeros too. */
EW_INLINE double silu_f64(double x)
{
    return x > 800 ? x : copysign(logistic(clamp(x, -800, 800), x), x);
}

/* 1 - 2 / (1 + e^2a) loses digits where it is small; there the series is. */
EW_INLINE double tanh_f64(double x)
{
    double a = clamp(fabs(x), 0, 50), z = a * a;
    struct power e = power_of_e(2 * a, 0);
    double near = a + a * (z * series(tanh_series, TANH_TERMS, z));
    double far = 1 - 2 / (1 + e.value * two_to(e.k + round_here));
    return copysign(a < 0.625 ? near : far, x);
}

/* Phi(-a) = tail * e^(-a^2 / 2), a >= 0. a^2 has twice the digits of a double:
   the square of the upper half of a is exact, the rest is small. */
EW_INLINE struct power gaussian(double a)
{
    double head = ew_half_double(ew_half_bits64(a) >> 27 << 27);
    return power_of_e(head * head * -0.5, (a + head) * (a - head) * -0.5);
}

EW_INLINE double tail(const double *c, int n, double a)
{
    double over = 1 / (a + 5);
    return over * series(c, n, (a - 5) * over);
}

/* x Phi(x) = max(x, 0) - a Phi(-a), a = |x|. */
EW_INLINE double gelu_f64(double x)
{
    double a = clamp(fabs(x), 0, 40);
    struct power e = gaussian(a);
    double part = times_two_to(a * tail(tail_series_f64, TAIL_TERMS_f64, a) * e.value, e.k);
    return copysign((x > 0 ? x : 0) - part, x);
}

/* Derivatives. That of sigmoid is e / (1 + e)^2, e = e^-|z|. */
EW_INLINE double sigmoid_slope(double z)
{
    struct power e = power_of_e(-clamp(fabs(z), 0, 800), 0);
    double sum = 1 + times_two_to(e.value, e.k);
    return times_two_to(e.value / (sum * sum), e.k);
}

/* tanh z = 2 sigmoid(2 z) - 1 */
EW_INLINE double tanh_slope(double z)
{
    return 4 * sigmoid_slope(2 * z);
}

/* Phi(z) + z Phi'(z), which is 1 less the same of -z; Phi' is
   e^(-z^2 / 2) / sqrt(2 pi). */
EW_INLINE double gelu_slope(const double *c, int n, double z)
{
    double a = clamp(fabs(z), 0, 40);
    struct power e = gaussian(a);
    double low = tail(c, n, a) - a * 0x1.9884533d43651p-2;
    low = times_two_to(low * e.value, e.k);
    return z > 0 ? 1 - low : low;
}

/* s + z s (1 - s), s = sigmoid z, which is 1 less the same of -z. */
EW_INLINE double silu_slope(double z)
{
    double a = clamp(fabs(z), 0, 800);
    struct power e = power_of_e(-a, 0);
    double sum = 1 + times_two_to(e.value, e.k);
    double low = times_two_to(e.value / sum * (1 - a / sum), e.k);
    return z > 0 ? 1 - low : low;
}

#endif
