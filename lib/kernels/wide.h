/*
 * Logarithm and exponential in double, to what f32 needs: relative errors of
 * 2^-37 and 2^-34, without branches and without tables, so that a loop of them
 * becomes vectors on every level. Coefficients are minimax polynomials, made by
 * tests/accuracy/minimax.py, which names them as they are named here.
 */
#ifndef EW_WIDE_H
#define EW_WIDE_H

#include <math.h>

#include "bits.h"

#if defined(__FMA__) || defined(FP_FAST_FMA)
#define EW_FAST_FMA
#endif

/* a * b + c, rounded once where that is as fast as twice. */
#if defined(EW_FAST_FMA)
#define EW_MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define EW_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

/* The piece a + b x of a polynomial. */
EW_INLINE double ew_wide_line(double x, double a, double b)
{
    return EW_MULTIPLY_ADD(b, x, a);
}

/* For a normal x > 0, x = 2^e (1 + f): gives f, from -0.293 to 0.415. */
EW_INLINE float ew_wide_split(float x, int32_t *e)
{
    const uint32_t root_half = 0x3f3504f3;
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    *e = (int32_t)(b - root_half) >> 23;
    b -= (uint32_t)*e << 23;
    memcpy(&x, &b, sizeof x);
    return x - 1;
}

/* e + log2(1 + f). With s = f / (2 + f), log(1 + f) = 2 artanh(s), which is
   odd: log2_artanh. */
EW_INLINE double ew_wide_log2(float f, int32_t e)
{
    double d = f, s = d / (d + 2), z = s * s, sum = 0x1.5ce7cd8f69a61p-2;
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.a58d8fc49d905p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.27777fda50da3p-1);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.ec709d12e192ap-1);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.71547652bede5p+1);
    return EW_MULTIPLY_ADD(sum, s, (double)e);
}

/* 2^(512 u), |u| < 1: a scale in which one bit of 2 u tells that it is too
   large. Adding 1.5 * 2^43 rounds 512 u to an integer, in the last bits of the
   sum. What is left is exp2_512. */
EW_INLINE double ew_wide_exp2(double u)
{
    const double integer = 0x1.8p43;
    double n = u + integer, f = u - (n - integer), sum = 0x1.fe17988364839p+46;
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.446a203d732d5p+41);
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.5d8a707a6bf48p+35);
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.3b29dc401232fp+29);
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.c6b08aaf36349p+22);
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.ebfbe0a4c09e3p+15);
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.62e42ff1162a0p+8);
    sum = EW_MULTIPLY_ADD(sum, f, 0x1.ffffffffabb69p-1);
    return from_bits_f64(bits_f64(sum) + (bits_f64(n) << 52));
}

#endif
