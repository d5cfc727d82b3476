/*
 * atan2, hypot and logaddexp on f32, in double and rounded once, <= 0.51 ULP:
 * without branches, so that loops of them become vectors. What overflows or
 * cancels in f32 does neither in double. Where fma is fast, atan2 of most
 * numbers is computed in f32, whose divisions are, <= 0.8 ULP.
 */
#ifndef EW_ANGLE_F32_H
#define EW_ANGLE_F32_H

#include "block.h"
#include "wide.h"

/* atan(t), 0 <= t <= 1, which is odd: atan_pi_4. */
EW_INLINE double ew_angle_eighth(double t)
{
    double z = t * t, sum = 0x1.1e0738967f0fbp-10;
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.d7d19b9870c0cp-8);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.6cf164973b20fp-6);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.6b6062ea360c4p-5);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.13177ae9028bfp-4);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.6865ce71ee608p-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c4cad87e8c2b7p-4);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.246feba81ba1ap-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.999786f61c0f6p-3);
    sum = EW_MULTIPLY_ADD(sum, z, -0x1.55554f06ddc31p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.fffffffccea79p-1);
    return sum * t;
}

/*
 * The angle of the point (y, x), x being the ordinate: that of the octant next
 * to the abscissa, then mirrored twice and given the sign of x.
 *
 *         x
 *       \ | /  pi/2 - a
 *    pi-a\|/ a
 *     ----+---- y
 */
EW_INLINE float op_atan2_f32(float x, float y)
{
    const double half = 0x1.921fb54442d18p+0;
    float a = fabsf(x), b = fabsf(y);
    float low = a < b ? a : b, high = a < b ? b : a;
    float over = high == 0 ? 1 : high;
    double t = low == high && high != 0 ? 1 : (double)low / over;
    double angle = ew_angle_eighth(t);
    angle = a > b ? half - angle : angle;
    angle = copysignf(1, y) < 0 ? 2 * half - angle : angle;
    float result = copysignf((float)angle, x);
    return x != x || y != y ? x + y : result;
}

#if defined(EW_FAST_FMA)
/* (atan(t) - t) / t^3 of z = t^2, |t| <= 1/2: atan_rest_f32. */
EW_INLINE float ew_angle_rest_f32(float z)
{
    float sum = 0x1.5aad68p-5f;
    sum = fmaf(sum, z, -0x1.517c8cp-4f);
    sum = fmaf(sum, z, 0x1.c2e08ep-4f);
    sum = fmaf(sum, z, -0x1.2473b2p-3f);
    sum = fmaf(sum, z, 0x1.9998f6p-3f);
    return fmaf(sum, z, -0x1.555556p-2f);
}

/*
 * As fast_atan2_f64. t is off by what t (high + low) leaves of the dividend,
 * which fma gives exactly; the slope is 1 / (1 + z) to 0.012. Multiples of pi/4
 * are exact in its first 22 bits. The bits of magnitudes are in their order,
 * with NaN above all. Odd are operands of which that may overflow or vanish,
 * infinity and NaN; not (0, 0), of which something too small to count is
 * divided by.
 */
EW_INLINE float fast_atan2_f32(float x, float y, float *odd)
{
    const uint32_t sign = 0x80000000, least = 0x21800000; /* 2^-60 */
    uint32_t a = bits_f32(x) & ~sign, b = bits_f32(y) & ~sign;
    uint32_t below = a < b ? a : b, above = a < b ? b : a;
    float low = from_bits_f32(below), high = from_bits_f32(above);
    bool steep = 2 * low > high, over = a > b;
    float more = steep ? low : 0, under = low - (steep ? high : 0);
    float sum = high + more, lost = more - (sum - high);
    float inverse = 1 / (sum + 0x1p-100f), t = under * inverse;
    float off = fmaf(-t, lost, fmaf(-t, sum, under)) * inverse;
    float z = t * t, slope = fmaf(z, -0.8f, 1);
    float rest = fmaf(t * z, ew_angle_rest_f32(z), off * slope);
    uint32_t turns = bits_f32(y) ^ (over ? sign : 0);
    float side = from_bits_f32((turns & sign) | 0x3f800000); /* 1 or -1 */
    float back = (int32_t)bits_f32(y) < 0 ? 4 : 0;
    float eighths = (over ? 2 : back) + (steep ? side : 0);
    float base = eighths * 0x1.921fbp-1f, near = fmaf(side, t, base);
    float less = fmaf(side, t, base - near);
    float last = fmaf(side, rest, eighths * 0x1.5110b4p-23f);
    bool even = (above < 0x5d800000) & (below - 1 >= least - 1); /* 2^60 */
    *odd = even ? 0 : 1;
    return copysignf(near + (less + last), x);
}
#endif

/* Squares are exact and neither overflow nor vanish. */
EW_INLINE float op_hypot_f32(float x, float y)
{
    float h = (float)sqrt((double)x * x + (double)y * y);
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : h;
}

/* log(e^x + e^y) = x + log(1 + e^(y - x)) for x >= y: that power, with the gap
   limited where it is nothing beside x. */
EW_INLINE double ew_angle_power_f32(float x, float y)
{
    float high = x > y ? x : y, low = x > y ? y : x;
    double gap = (double)low - high;
    gap = gap > -512 ? gap : -512;
    return ew_wide_exp2(gap * 0x1.71547652b82fep-9);
}

/* The rest. log(1 + p) = 2 artanh(p / (2 + p)), which is odd: log1p_artanh.
   Equal infinities have no gap. */
EW_INLINE float ew_angle_logaddexp_f32(float x, float y, double p)
{
    float high = x > y ? x : y;
    double s = p / (2 + p), z = s * s, sum = 0x1.c012ed50c777cp-3;
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.5e8bf103a67abp-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c8d30765234a0p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.24899140e760dp-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.9999c3910e405p-2);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.5555552f99267p-1);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.0000000002c39p+1);
    float result = (float)(high + sum * s);
    result = fabsf(high) == INFINITY ? high : result;
    return x != x || y != y ? x + y : result;
}

/* n elements, whole blocks and a buffer of them at most. Each step waits for
   the one before; of two loops more elements are under way. */
EW_INLINE void logaddexp_row_f32(int64_t n, const float *x, const float *y,
                                 float *out)
{
    double power[EW_BLOCKS];
    n = n / EW_BLOCK * EW_BLOCK;
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        power[i] = ew_angle_power_f32(x[i], y[i]);
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        out[i] = ew_angle_logaddexp_f32(x[i], y[i], power[i]);
}

#endif
