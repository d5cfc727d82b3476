/*
 * atan2, hypot and logaddexp on f64, without branches, so that loops of them
 * become vectors: double with a second double at the few steps that need it,
 * <= 0.9 ULP.
 */
#ifndef EW_ANGLE_F64_H
#define EW_ANGLE_F64_H

#include "pair.h"

/* (atan(t) - t) / t^3 of z = t^2, 0 <= t <= 1: atan_rest. */
EW_INLINE double ew_angle_rest(double z)
{
    double sum = 0x1.349ea81785b6ap-16;
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.aa06b5c8d05c5p-13);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.16d1d77c29e7cp-10);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.cf2625c5773fdp-9);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.147fa478caf73p-7);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.000823f293b18p-6);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.85bd2dc35eebap-6);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.00c92f01a68afp-5);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.337c11105827ep-5);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.5d278433e59fdp-5);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.842a9e1f17aaep-5);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.aebf07686c3fbp-5);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.e1d0c9dc021c9p-5);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.11100b24aa7c3p-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.3b139afebeea3p-4);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.745d160226bbfp-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c71c71bbcf5fbp-4);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.249249247775ep-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.999999999966ep-3);
    return EW_MULTIPLY_ADD(sum, z, -0x1.5555555555555p-2);
}

/* atan(t) = t + t z rest(z), z = t^2, whose parts are pairs; the error of t
   itself counts by the slope 1 / (1 + z), for which three terms do. */
EW_INLINE struct ew_pair ew_angle_eighth_f64(struct ew_pair t)
{
    struct ew_pair z = ew_pair_product(t.high, t.high);
    double rest = ew_angle_rest(z.high);
    struct ew_pair part = ew_pair_product(z.high, rest);
    double low = EW_MULTIPLY_ADD(z.low, rest, part.low);
    part = ew_pair_product(t.high, part.high);
    struct ew_pair angle = ew_pair_sum(t.high, part.high);
    angle.low += EW_MULTIPLY_ADD(t.high, low, part.low);
    angle.low += t.low * (1 - z.high * (1 - 0.5 * z.high));
    return angle;
}

/* As in angle_f32.h, x being the ordinate. Odd are operands of which products
   and quotients may overflow or lose digits, infinity, (0, 0) and NaN. */
EW_INLINE double fast_atan2_f64(double x, double y, uint64_t *odd)
{
    const struct ew_pair half = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    double a = fabs(x), b = fabs(y);
    double low = a < b ? a : b, high = a < b ? b : a;
    struct ew_pair eighth = ew_angle_eighth_f64(ew_pair_quotient(
        (struct ew_pair){low, -0.0}, (struct ew_pair){high, -0.0}));
    double turns = a > b ? 1 : y < 0 ? 2 : 0; /* quarters */
    double side = (a > b) != (y < 0) ? -1 : 1;
    struct ew_pair sum = ew_pair_sum(turns * half.high, side * eighth.high);
    double angle =
        sum.high + (sum.low + (turns * half.low + side * eighth.low));
    *odd =
        !(high > 0x1p-400 && high < 0x1p400) || !(low > 0x1p-400 || low == 0);
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

/* log(1 + p), 0 <= p <= 1: 2 artanh(s), s = p / (2 + p), with all but the first
   term in log1p_rest. */
EW_INLINE struct ew_pair ew_angle_log1p(struct ew_pair p)
{
    const struct ew_pair two = {2, -0.0};
    struct ew_pair s = ew_pair_quotient(p, ew_pair_add(two, p));
    double z = s.high * s.high, sum = 0x1.4b8585fc8b36cp-3;
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.67ff2751c7dbep-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.ebaa07b04537ep-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.10ab0536ca8c7p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.3b18cab0ff5e8p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.745cefc3caf2fp-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c71c727660724p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.24924923cd3a0p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.999999999a455p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.5555555555555p-1);
    return (struct ew_pair){2 * s.high, 2 * s.low + s.high * z * sum};
}

/* As in angle_f32.h. Cancellation of the two terms needs more digits than a
   double has: the gap, its power and the logarithm are pairs. */
EW_INLINE double op_logaddexp_f64(double x, double y)
{
    const struct ew_pair log2_e = {0x1.71547652b82fep-8, 0x1.777d0ffda0d24p-64};
    double high = x > y ? x : y, low = x > y ? y : x, n;
    struct ew_pair gap = ew_pair_sum_any(low, -high);
    bool near = gap.high > -700;
    gap.high = near ? gap.high : -700;
    gap.low = near ? gap.low : 0;
    struct ew_pair p = ew_pair_exp2(ew_pair_multiply(gap, log2_e), &n);
    double scale = near ? ew_pair_scale(1, n) : 0;
    p = (struct ew_pair){p.high * scale, p.low * scale};
    struct ew_pair more = ew_angle_log1p(p);
    struct ew_pair sum = ew_pair_sum_any(high, more.high);
    double result = sum.high + (sum.low + more.low);
    result = fabs(high) == INFINITY ? high : result;
    return x != x || y != y ? x + y : result;
}

#endif
