/*
 * pow on f32 for power.inc: 2^(y log2(x)) in double, rounded once, <= 0.51 ULP.
 *
 *     x = 2^e (1 + f)     u = y (e + log2(1 + f)) / 512     2^(512 u)
 */
#ifndef EW_POWER_F32_H
#define EW_POWER_F32_H

#include "block.h"
#include "power_lanes.h"
#include "wide.h"

#if defined(EW_WIDE_LANES)
EW_INLINE bool powers_normal_f32(int64_t n, const float *x, const float *y,
                                 float *out)
{
    return ew_power_row(n, x, y, out, false);
}

EW_INLINE void powers_positive_f32(int64_t n, const float *x, const float *y,
                                   float *out)
{
    ew_power_row(n, x, y, out, true);
}
#else

EW_INLINE double ew_power_exponent(float f, int32_t e, float y)
{
    return (double)(y * 0x1p-9f) * ew_wide_log2(f, e);
}

EW_INLINE float power_positive_f32(float x, float y)
{
    bool small = x < 0x1p-126f;
    int32_t e;
    float f = ew_wide_split(small ? x * 0x1p23f : x, &e);
    double u = ew_power_exponent(f, small ? e - 23 : e, y);
    u = u < 0.5 ? u : 0.5;
    u = u > -0.5 ? u : -0.5;
    return (float)ew_wide_exp2(u);
}

/* x^y of n elements, a multiple of the block's size, which compilers are to
   know. In two loops, as ew_power_row. */
EW_INLINE bool powers_normal_f32(int64_t n, const float *x, const float *y,
                                 float *out)
{
    double u[EW_BLOCKS];
    uint64_t far = 0;
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++) {
        int32_t e;
        float f = ew_wide_split(x[i], &e);
        u[i] = ew_power_exponent(f, e, y[i]);
        far |= bits_f64(u[i] + u[i]);
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)ew_wide_exp2(u[i]);
    return !(far >> 62 & 1);
}

EW_INLINE void powers_positive_f32(int64_t n, const float *x, const float *y,
                                   float *out)
{
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++)
        out[i] = power_positive_f32(x[i], y[i]);
}
#endif

/* x x is exact in double. */
EW_INLINE float op_cube_f32(float x, float y)
{
    (void)y;
    return (float)((double)x * x * x);
}

/* One step of Newton from the root and quotient, which alone are off by up to
   1.5 ULP, by 1 - x r^2 with the rounding error of x r. -0 + 0 is +0. */
EW_INLINE float op_inverse_root_f32(float x, float y)
{
    (void)y;
    float near = 1 / sqrtf(x + 0);
#if defined(EW_FAST_FMA)
    float root = x * near, low = fmaf(x, near, -root);
    float off = fmaf(-root, near, 1) - low * near;
    float better = fmaf(near * 0.5f, off, near);
#else
    double r = near, off = 1 - (double)x * r * r;
    float better = (float)(r + r * (off * 0.5));
#endif
    return x == -INFINITY ? 0 : x > 0 && x < INFINITY ? better : near;
}

#endif
