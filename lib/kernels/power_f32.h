/*
 * pow on f32: 2^(y log2(x)) in double, rounded once, <= 0.51 ULP.
 *
 *     x = 2^e (1 + f)     u = y (e + log2(1 + f)) / 512     2^(512 u)
 *
 * A buffer of numbers x > 0 whose powers are nowhere near the largest double
 * goes straight through; if there is any other element, the buffer is computed
 * again with the special cases. Both use the same formula.
 */
#ifndef EW_POWER_F32_H
#define EW_POWER_F32_H

#include "block.h"
#include "wide.h"

EW_INLINE double ew_power_exponent(float f, int32_t e, float y)
{
    return (double)(y * 0x1p-9f) * ew_wide_log2(f, e);
}

/* The power of |x|, which may be any number; infinity and 0 come later. */
EW_INLINE float ew_power_positive(float x, float y)
{
    bool small = x < 0x1p-126f;
    int32_t e;
    float f = ew_wide_split(small ? x * 0x1p23f : x, &e);
    double u = ew_power_exponent(f, small ? e - 23 : e, y);
    u = u < 0.5 ? u : 0.5;
    u = u > -0.5 ? u : -0.5;
    return (float)ew_wide_exp2(u);
}

/* Is y >= 0 an integer? From 2^23 on all are. */
EW_INLINE bool ew_power_whole(float y)
{
    const float all = 0x1p23f;
    return y >= all || (y + all) - all == y;
}

/* C17, F.10.4.4, from the last rule to the first. */
EW_INLINE float op_pow_f32(float x, float y)
{
    float a = fabsf(x), b = fabsf(y);
    float power = ew_power_positive(a, y);
    power = (a == 0 || a == INFINITY) ? ((a == 0) == (y < 0) ? INFINITY : 0.0f)
                                      : power;
    power = b == INFINITY ? ((a < 1) == (y < 0) ? INFINITY : 0.0f) : power;
    power = a == 1 && b == INFINITY ? 1 : power;
    bool whole = ew_power_whole(b), odd = whole && !ew_power_whole(b / 2);
    float real = whole || a == 0 || a == INFINITY ? power : (float)NAN;
    power = signbit(x) ? (odd ? -power : real) : power;
    power = x != x || y != y ? x + y : power;
    return x == 1 || y == 0 ? 1 : power;
}

static void compute_pow_f32(int64_t n, const void *px, const void *py,
                            void *out)
{
    const float *x = px, *y = py;
    float made[EW_BLOCKS];
    uint64_t far = 0;
    uint32_t strange = 0;
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++) {
        uint32_t b;
        memcpy(&b, &x[i], sizeof b);
        b -= 0x00800000; /* so that normal numbers > 0 are the smallest */
        strange = b > strange ? b : strange;
        int32_t e;
        float f = ew_wide_split(x[i], &e);
        double u = ew_power_exponent(f, e, y[i]);
        far |= ew_wide_bits(u);
        made[i] = (float)ew_wide_exp2(u);
    }
    if (strange >= 0x7f000000 || far >> 62 & 1) /* |u| >= 2 */
        for (int64_t i = 0; i < n; i++)
            made[i] = op_pow_f32(x[i], y[i]);
    memcpy(out, made, (size_t)n * sizeof *made);
}

/* x x is exact in double. */
EW_INLINE float op_cube_f32(float x, float y)
{
    (void)y;
    return (float)((double)x * x * x);
}

/* One step of Newton in double from the root and quotient of f32, which alone
   are off by up to 1.5 ULP. -0 + 0 is +0. */
EW_INLINE float op_inverse_root_f32(float x, float y)
{
    (void)y;
    float near = 1 / sqrtf(x + 0);
    double r = near, off = 1 - (double)x * r * r;
    float better = (float)(r + r * (off * 0.5));
    return x == -INFINITY ? 0 : x > 0 && x < INFINITY ? better : near;
}

#endif
