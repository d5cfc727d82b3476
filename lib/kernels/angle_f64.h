/*
 * atan2, hypot and logaddexp on f64, without branches, so that loops of them
 * become vectors: double with a second double at the few steps that need it,
 * <= 0.9 ULP.
 */
#ifndef EW_ANGLE_F64_H
#define EW_ANGLE_F64_H

#include "block.h"
#include "pair.h"

/* (atan(t) - t) / t^3 of z = t^2, |t| <= 1/2: atan_rest. */
EW_INLINE double ew_angle_rest(double z)
{
    double sum = 0x1.6e224c0f4cd4dp-7;
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.dad71cfee722fp-6);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.5f0cace673e4fp-5);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.a68ceaaeb11d9p-5);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.e097db41003dbp-5);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.1100501988f5ap-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.3b128fb5e85c8p-4);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.745d0acd350dbp-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c71c717598d3dp-4);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.2492492408310p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.9999999998e1ep-3);
    return EW_MULTIPLY_ADD(sum, z, -0x1.5555555555554p-2);
}

/*
 * As in angle_f32.h, x being the ordinate. Where t = low / high > 1/2, the
 * angle is pi/4 + atan((low - high) / (low + high)); the difference is exact.
 * All in all a multiple of pi/4 as a pair, plus or minus t + t z rest(z). The
 * error of t counts by the slope 1 / (1 + z), nearly 1 - z. Odd are operands of
 * which products and quotients may overflow or lose digits, infinity, (0, 0)
 * and NaN.
 */
EW_INLINE double fast_atan2_f64(double x, double y, double *odd)
{
    double a = fabs(x), b = fabs(y);
    double low = a < b ? a : b, high = a < b ? b : a;
    bool steep = 2 * low > high;
    struct ew_pair over = ew_pair_sum(high, steep ? low : 0);
    struct ew_pair under = {low - (steep ? high : 0), -0.0};
    struct ew_pair t = ew_pair_quotient(under, over);
    double z = t.high * t.high;
    double rest = t.low * (1 - z) + t.high * z * ew_angle_rest(z);
    double side = (a > b) != (y < 0) ? -1 : 1;
    double eighths = (a > b ? 2 : y < 0 ? 4 : 0) + (steep ? side : 0);
    struct ew_pair base = ew_pair_product(eighths, 0x1.921fb54442d18p-1);
    base.low += eighths * 0x1.1a62633145c07p-55;
    struct ew_pair sum = ew_pair_sum(base.high, side * t.high);
    double angle = sum.high + (sum.low + (base.low + side * rest));
    bool even =
        high > 0x1p-400 && high < 0x1p400 && (low > 0x1p-400 || low == 0);
    *odd = even ? 0 : 1;
    return copysign(angle, x);
}

EW_INLINE double op_atan2_f64(double x, double y)
{
    return atan2(x, y);
}

/* The root of the sum of squares, which are pairs and scaled so that neither
   overflows nor loses digits that count. */
EW_INLINE double op_hypot_f64(double x, double y)
{
    double a = fabs(x), b = fabs(y), larger = a < b ? b : a;
    bool large = larger > 0x1p500, small = larger < 0x1p-400;
    double scale = large ? 0x1p-600 : small ? 0x1p600 : 1;
    double back = large ? 0x1p600 : small ? 0x1p-600 : 1;
    double high = larger * scale, low = (a < b ? a : b) * scale;
    struct ew_pair sum =
        ew_pair_add(ew_pair_product(high, high), ew_pair_product(low, low));
    double h = sqrt(sum.high + sum.low) * back;
    h = x != x || y != y ? x + y : h;
    return a == INFINITY || b == INFINITY ? INFINITY : h;
}

/* The same, unscaled, if the squares show that none is needed. odd: 1 if not.
 */
EW_INLINE double fast_hypot_f64(double x, double y, double *odd)
{
    double a = fabs(x), b = fabs(y);
    double high = a < b ? b : a, low = a < b ? a : b;
    struct ew_pair sum =
        ew_pair_add(ew_pair_product(high, high), ew_pair_product(low, low));
    bool fits = sum.high >= 0x1p-798 && sum.high <= 0x1p998;
    *odd = fits || (sum.high == 0 && high == 0) ? 0.0 : 1.0;
    return sqrt(sum.high + sum.low);
}

/* log(1 + p), 0 <= p <= 1: 2 artanh(s), s = p / (2 + p), with all but the first
   term in log1p_rest. */
EW_INLINE struct ew_pair ew_angle_log1p(struct ew_pair p)
{
    const struct ew_pair two = {2, -0.0};
    struct ew_pair s = ew_pair_quotient(p, ew_pair_add(two, p));
    double z = s.high * s.high, sum = 0x1.4b858146f2246p-3;
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.67ff2d1c026a4p-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.ebaa0639a5373p-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.10ab0550ca453p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.3b18caaec9103p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.745cefc3e99bdp-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c71c72765f6acp-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.24924923cd3c8p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.999999999a455p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.5555555555555p-1);
    return (struct ew_pair){2 * s.high, 2 * s.low + s.high * z * sum};
}

/* As in angle_f32.h. Cancellation of the two terms needs more digits than a
   double has: the gap, its power and the logarithm are pairs. */
EW_INLINE struct ew_pair ew_angle_power_f64(double x, double y)
{
    const struct ew_pair log2_e = {0x1.71547652b82fep-8, 0x1.777d0ffda0d24p-64};
    double high = x > y ? x : y, low = x > y ? y : x, n;
    struct ew_pair gap = ew_pair_sum_any(low, -high);
    bool near = gap.high > -700;
    gap.high = near ? gap.high : -700;
    gap.low = near ? gap.low : 0;
    struct ew_pair p = ew_pair_exp2(ew_pair_multiply(gap, log2_e), &n);
    double scale = near ? ew_pair_scale(1, n) : 0;
    return (struct ew_pair){p.high * scale, p.low * scale};
}

EW_INLINE double ew_angle_logaddexp_f64(double x, double y, struct ew_pair p)
{
    double high = x > y ? x : y;
    struct ew_pair more = ew_angle_log1p(p);
    struct ew_pair sum = ew_pair_sum_any(high, more.high);
    double result = sum.high + (sum.low + more.low);
    result = fabs(high) == INFINITY ? high : result;
    return x != x || y != y ? x + y : result;
}

EW_INLINE void logaddexp_row_f64(int64_t n, const double *x, const double *y,
                                 double *out)
{
    double high[EW_BLOCKS], low[EW_BLOCKS];
    n = n / EW_BLOCK * EW_BLOCK;
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        struct ew_pair p = ew_angle_power_f64(x[i], y[i]);
        high[i] = p.high;
        low[i] = p.low;
    }
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        struct ew_pair p = {high[i], low[i]};
        out[i] = ew_angle_logaddexp_f64(x[i], y[i], p);
    }
}

#endif
