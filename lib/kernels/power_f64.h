/*
 * pow on f64 for power.inc: 2^(y log2(x)) with the logarithm in twice the
 * digits of a double, <= 0.8 ULP: 0.5 of rounding, 0.1 of the polynomial of the
 * power and 0.2 of an exponent near 1024, off by 2^-65 of itself. AVX-512 has
 * tables instead (power_lanes_f64.h). Where there is no fast fma, libm's pow
 * is.
 */
#ifndef EW_POWER_F64_H
#define EW_POWER_F64_H

#include "block.h"
#include "pair.h"
#include "power_lanes_f64.h"

/* log2(x / 2^shift) of a normal x > 0 = 2^(e + shift) (1 + f), with s = f / (2
   + f) and z = s^2: e + s log2_artanh_pair(z), whose first two coefficients are
   pairs. */
EW_INLINE struct ew_pair ew_power_log2(double x, double shift)
{
    const struct ew_pair c0 = {0x1.71547652b82fep+1, 0x1.77b0bffc99a7fp-55};
    const struct ew_pair c1 = {0x1.ec709dc3a03fcp-1, 0x1.7d388bb4af517p-55};
    double e, f = ew_pair_split(x, &e) - 1;
    e -= shift;
    struct ew_pair s =
        ew_pair_quotient((struct ew_pair){f, -0.0}, ew_pair_sum(2, f));
    struct ew_pair z = ew_pair_multiply(s, s);
    double w = z.high * z.high;
    double c2 =
        ew_wide_line(z.high, 0x1.2776c50ef9fd2p-1, 0x1.a61762a707a83p-2);
    double c4 =
        ew_wide_line(z.high, 0x1.484b1448d1136p-2, 0x1.0c9a59773a08fp-2);
    double c6 =
        ew_wide_line(z.high, 0x1.c6a29fed474d7p-3, 0x1.877355dc86e42p-3);
    double c8 = ew_wide_line(w, c6, 0x1.87deaf48c58f4p-3);
    double sum = ew_wide_line(w, c2, ew_wide_line(w, c4, c8));
    struct ew_pair p = ew_pair_product(z.high, sum);
    p.low = EW_MULTIPLY_ADD(z.low, sum, p.low);
    p = ew_pair_multiply(z, ew_pair_add(c1, p));
    p = ew_pair_multiply(s, ew_pair_add(c0, p));
    return ew_pair_add((struct ew_pair){e, -0.0}, p);
}

/* y log2(x) / 256 */
EW_INLINE struct ew_pair ew_power_exponent_f64(double x, double shift, double y)
{
    struct ew_pair log2 = ew_power_log2(x, shift);
    return ew_pair_multiply((struct ew_pair){y * 0x1p-8, -0.0}, log2);
}

#if !defined(EW_WIDE_LANES)
#if defined(EW_FAST_FMA)
/* x^y of n elements, a multiple of the block's size, which compilers are to
   know. In two loops, as ew_power_row. */
EW_INLINE bool powers_normal_f64(int64_t n, const double *x, const double *y,
                                 double *out)
{
    double high[EW_BLOCKS], low[EW_BLOCKS];
    uint64_t far = 0;
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++) {
        struct ew_pair u = ew_power_exponent_f64(x[i], 0, y[i]);
        high[i] = u.high;
        low[i] = u.low;
        far |= bits_f64(u.high);
    }
    for (int64_t i = 0; i < n; i++) {
        double whole;
        struct ew_pair u = {high[i], low[i]};
        struct ew_pair power = ew_pair_exp2(u, &whole);
        out[i] = ew_pair_scale(power.high, whole);
    }
    return !(far >> 62 & 1);
}

/* Beyond all powers, the low part of the exponent may be no number. */
EW_INLINE double power_positive_f64(double x, double y)
{
    bool small = x < 0x1p-1022;
    struct ew_pair u =
        ew_power_exponent_f64(small ? x * 0x1p54 : x, small ? 54 : 0, y);
    double n, high = u.high;
    u.high = u.high < 4.5 ? u.high : 4.5;
    u.high = u.high > -4.5 ? u.high : -4.5;
    u.low = u.high == high ? u.low : 0;
    struct ew_pair power = ew_pair_exp2(u, &n);
    return ew_pair_scale_far(power, n);
}
#else
EW_INLINE bool powers_normal_f64(int64_t n, const double *x, const double *y,
                                 double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] == 1 ? 1 : pow(x[i], y[i]); /* of a signaling NaN, too */
    return true;
}

EW_INLINE double power_positive_f64(double x, double y)
{
    return pow(x, y);
}
#endif

EW_INLINE void powers_positive_f64(int64_t n, const double *x, const double *y,
                                   double *out)
{
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++)
        out[i] = power_positive_f64(x[i], y[i]);
}
#endif /* no tables */

#if defined(EW_FAST_FMA)
/* The square and its rounding error, times x, where neither vanishes nor
   overflows: from 2^-300 to below 2^212. */
EW_INLINE double fast_cube_f64(double x, double y, double *odd)
{
    double square = x * x, low = fma(x, x, -square);
    const uint64_t least = (uint64_t)(1023 - 300) << 52,
                   above = (uint64_t)3 << 61;
    (void)y;
    *odd = from_bits_f64((bits_f64(x) - least) & above);
    return fma(square, x, low * x);
}

/* The same bits there. x is brought to at most 2^345, whose cube is infinite:
   an infinite square would make its error NaN. */
EW_INLINE double op_cube_f64(double x, double y)
{
    const double most = 0x1p345;
    bool small = fabs(x) < 0x1p-200;
    double odd;
    x = most < x ? most : x;
    x = -most > x ? -most : x;
    x *= small ? 0x1p200 : 1;
    return fast_cube_f64(x, y, &odd) * (small ? 0x1p-600 : 1);
}
#else
/* The square and its rounding error, times x, scaled where one would vanish or
   overflow. */
EW_INLINE double op_cube_f64(double x, double y)
{
    (void)y;
    double a = fabs(x);
    bool large = a > 0x1p200, small = a < 0x1p-200;
    x *= large ? 0x1p-200 : small ? 0x1p200 : 1;
    struct ew_pair square = ew_pair_product(x, x);
    struct ew_pair cube = ew_pair_product(square.high, x);
    double sum = cube.high + (cube.low + square.low * x);
    sum *= large ? 0x1p600 : small ? 0x1p-600 : 1;
    return a < 0x1p345 ? copysign(sum, x) : x * INFINITY;
}
#endif

/* One step of Newton from 1 / sqrt(x), r (3 - x r^2) / 2, with r^2 a pair. */
EW_INLINE double op_inverse_root_f64(double x, double y)
{
    (void)y;
    bool large = x > 0x1p500, small = x < 0x1p-500;
    double scaled = x * (large ? 0x1p-600 : small ? 0x1p600 : 1);
    double r = 1 / sqrt(scaled + 0);
    struct ew_pair square = ew_pair_product(r, r);
    struct ew_pair one = ew_pair_product(scaled, square.high);
    double off = (1 - one.high) - one.low - scaled * square.low;
    double better = r + r * (off * 0.5);
    better *= large ? 0x1p-300 : small ? 0x1p300 : 1;
    better = x > 0 && x < INFINITY ? better : r;
    return x == -INFINITY ? 0 : better;
}

#endif
