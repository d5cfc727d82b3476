/*
 * sigmoid, tanh, gelu and silu on f64, and their derivatives in double for f32
 * and f64, by polynomials without branches or calls.
 */
#ifndef EW_ACTIVATION_F64_H
#define EW_ACTIVATION_F64_H

#include <math.h>

#include "pair.h"

/* The coefficients were fitted in 60 digits at the Chebyshev points of the
   intervals given; errors are those of the polynomials. */

/* (e^r - 1 - r) / r^2 for |r| <= 0.347; 1.3e-17 of e^r. */
static const double exp_series[] = {
    0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d37p-5,
    0x1.11111111109a6p-7,  0x1.6c16c1789d1d7p-10, 0x1.a01a01a7cebcdp-13,
    0x1.a019b8ca26fcfp-16, 0x1.71de0d85293b8p-19, 0x1.2891d4ffbb0f9p-22,
    0x1.af390ba7e6f47p-26};

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
    TAIL_TERMS_f64 = sizeof tail_series_f64 / sizeof *tail_series_f64,
    TAIL_TERMS_f32 = sizeof tail_series_f32 / sizeof *tail_series_f32
};

/* By Horner's rule; n is known at compile time. */
EW_INLINE double series(const double *c, int n, double x)
{
    double sum = c[n - 1];
    EW_UNROLLED
    for (int i = n - 2; i >= 0; i--)
        sum = EW_MULTIPLY_ADD(sum, x, c[i]);
    return sum;
}

/* -|x|, at least `least`; NaN stays. */
EW_INLINE double minus_abs(double x, double least)
{
    double low = -fabs(x);
    return low < least ? least : low;
}

/* positive_part of activation_f32.h in double. */
EW_INLINE double positive_part_f64(double x)
{
    return x < 0 ? copysign(0, x) : x;
}

/* e^(y + more) = 2^-256 (1 + minus_1) scale, for -800 <= y <= 0: the 256 keep
   scale from being subnormal, so that what is is rounded once, at the end. */
struct power {
    double minus_1, scale;
};
static const double unscale = 0x1p-256;

/* y is k log 2 + high + low, and log 2 has two parts, of which the first
   leaves k times it exact. Adding `integer` rounds to k and leaves that, plus
   256 and the bias of exponents, in the last bits. */
EW_INLINE struct power power_of_e(double y, double more)
{
    const double integer = 0x1.8p52 + 1023 + 256;
    double t = EW_MULTIPLY_ADD(y, 0x1.71547652b82fep0, integer);
    double k = t - integer, high = EW_MULTIPLY_ADD(k, -0x1.62e42feep-1, y);
    double low = EW_MULTIPLY_ADD(k, -0x1.a39ef35793c76p-33, more);
    double r = high + low;
    low = EW_MULTIPLY_ADD(series(exp_series, EXP_TERMS, r), r * r, low);
    return (struct power){high + low, from_bits_f64(bits_f64(t) << 52)};
}

/* factor e^y 2^256 */
EW_INLINE double times_power(double factor, struct power e)
{
    factor *= e.scale;
    return EW_MULTIPLY_ADD(factor, e.minus_1, factor);
}

/* e / (1 + e) is e^-|x| over 1 + e^-|x|; the other half is 1 less that. With q
   the quotient, e - q - q e is its remainder, of which e - q is exact, and
   1 - q is 1 / (1 + e). */
EW_INLINE double sigmoid_f64(double x)
{
    struct power p = power_of_e(minus_abs(x, -800), 0);
    double e = times_power(1, p) * unscale, q = e / (1 + e);
    q = EW_MULTIPLY_ADD(ew_pair_rest(e - q, q, e), 1 - q, q);
    return x < 0 ? q : 1 - q;
}

/* max(x, 0) - |x| e / (1 + e). -1 / (1 + e) need not be accurate for what the
   quotient is too large by; where that is +0, -0 stays. */
EW_INLINE double silu_f64(double x)
{
    double a = minus_abs(x, -800);
    struct power p = power_of_e(a, 0);
    double e = times_power(1, p) * unscale, y = times_power(a, p);
    double q = y / (1 + e), surplus = ew_pair_rest(q - y, -q, e);
    q = EW_MULTIPLY_ADD(surplus, EW_MULTIPLY_ADD(e, 0.457, -0.957), q);
    return EW_MULTIPLY_ADD(q, unscale, positive_part_f64(x));
}

/* With h = (e^2a - 1) / 2 tanh a is h / (1 + h), here of a = -|x|. For 2a =
   k log 2 + 2r, 2h is 2^k (e^2r - 1) + 2^k - 1, which loses no digits near 0.
   What h loses by rounding is added to the remainder. */
EW_INLINE double tanh_f64(double x)
{
    struct power p = power_of_e(2 * minus_abs(x, -20), 0);
    double half = p.scale * (unscale / 2), start = half - 0.5;
    double h = EW_MULTIPLY_ADD(p.minus_1, half, start);
    double lost = EW_MULTIPLY_ADD(p.minus_1, half, start - h);
    double q = h / (1 + h), over = 1 - q;
    double rest = EW_MULTIPLY_ADD(lost, over, ew_pair_rest(h - q, q, h));
    return copysign(EW_MULTIPLY_ADD(rest, over, q), x);
}

/* Phi(-a) = tail(a) e^(-a^2 / 2), a >= 0. */
EW_INLINE struct power gaussian(double a)
{
    struct ew_pair square = ew_pair_product(a, a);
    return power_of_e(square.high * -0.5, square.low * -0.5);
}

EW_INLINE double tail(const double *c, int n, double a)
{
    double over = 1 / (a + 5);
    return over * series(c, n, (a - 5) * over);
}

/* x Phi(x) = max(x, 0) - a Phi(-a), a = |x|. */
EW_INLINE double gelu_f64(double x)
{
    double a = -minus_abs(x, -40);
    double part = a * tail(tail_series_f64, TAIL_TERMS_f64, a);
    part = times_power(part, gaussian(a));
    return EW_MULTIPLY_ADD(part, -unscale, positive_part_f64(x));
}

EW_INLINE void gelu_each_f64(int64_t n, const double *x, double *out)
{
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        out[i] = gelu_f64(x[i]);
}

/* Derivatives. That of sigmoid is e / (1 + e)^2, e = e^-|z|. */
EW_INLINE double sigmoid_slope(double z)
{
    double e = times_power(1, power_of_e(minus_abs(z, -800), 0));
    double sum = 1 + e * unscale;
    return e / (sum * sum) * unscale;
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
    double a = -minus_abs(z, -40);
    double low = tail(c, n, a) - a * 0x1.9884533d43651p-2;
    low = times_power(low, gaussian(a)) * unscale;
    return z > 0 ? 1 - low : low;
}

/* s + z s (1 - s), s = sigmoid z, which is 1 less the same of -z. */
EW_INLINE double silu_slope(double z)
{
    double a = minus_abs(z, -800);
    double e = times_power(1, power_of_e(a, 0)), sum = 1 + e * unscale;
    double low = e / sum * (1 + a / sum) * unscale;
    return z > 0 ? 1 - low : low;
}

#endif
