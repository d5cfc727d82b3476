/*
 * pow on f32 for power.inc with AVX-512: tables in registers (wide_lanes.h),
 * half the polynomials, and no division, of power_f32.h. <= 0.51 ULP, too.
 *
 *     x = 2^e m, m = (1 + f) / inverse[j]    u = y (e + log[j] + log2(1 + f))
 *     u = i + k / 16 + g                     2^i power[k] 2^g
 *
 * All logarithms are divided by 256, so that one bit of u tells that a power
 * is 2^512 or more, or as small. Tables and polynomials are made by
 * tests/accuracy/minimax.py.
 */
#ifndef EW_POWER_LANES_H
#define EW_POWER_LANES_H

#include "block.h"
#include "wide_lanes.h"

#if defined(EW_WIDE_LANES)
/* The middles of 16 steps of the bits of m from 0.703125 on, turned over; that
   of the step that 1 is in is 1. */
static const double ew_power_inverse[16] = {
    0x1.642c8590b2164p+0, 0x1.5555555555555p+0, 0x1.47ae147ae147bp+0,
    0x1.3b13b13b13b14p+0, 0x1.2f684bda12f68p+0, 0x1.2492492492492p+0,
    0x1.1a7b9611a7b96p+0, 0x1.1111111111111p+0, 0x1.0842108421084p+0,
    0x1.0000000000000p+0, 0x1.e1e1e1e1e1e1ep-1, 0x1.c71c71c71c71cp-1,
    0x1.af286bca1af28p-1, 0x1.999999999999ap-1, 0x1.8618618618618p-1,
    0x1.745d1745d1746p-1};

/* -log2(inverse[j]) / 256 */
static const double ew_power_log[16] = {
    -0x1.e7df5fe538ab3p-10, -0x1.a8ff971810a5dp-10,
    -0x1.6cb0f6865c8ebp-10, -0x1.32bfee370ee6ap-10,
    -0x1.f5fd8a9063e32p-11, -0x1.8a8980abfbd30p-11,
    -0x1.22dadc2ab3496p-11, -0x1.7d60496cfbb4bp-12,
    -0x1.77394c9d958d0p-13, 0x0.0p+0,
    0x1.663f6fac91318p-12,  0x1.5c01a39fbd68bp-11,
    0x1.fbc16b902680dp-11,  0x1.49a784bcd1b8ap-10,
    0x1.91bba891f170ap-10,  0x1.d6753e032ea0ep-10};

/* The bits of 2^(k / 16), less those of k << 48. */
static const double ew_power_power[16] = {
    0x1.0000000000000p+0, 0x1.fb5586cf9890fp-1, 0x1.f72b83c7d517bp-1,
    0x1.f387a6e756238p-1, 0x1.f06fe0a31b715p-1, 0x1.edea64c123422p-1,
    0x1.ebfdad5362a27p-1, 0x1.eab07dd485429p-1, 0x1.ea09e667f3bcdp-1,
    0x1.ea11473eb0187p-1, 0x1.eace5422aa0dbp-1, 0x1.ec49182a3f090p-1,
    0x1.ee89f995ad3adp-1, 0x1.f199bdd85529cp-1, 0x1.f5818dcfba487p-1,
    0x1.fa4afa2a490dap-1};

EW_INLINE ew_wide_lanes ew_power_load(const float *from)
{
    return (ew_wide_lanes)_mm512_cvtps_pd(_mm256_loadu_ps(from));
}

/* log2(x) / 256, x > 0: log2_16. A subnormal of f32 is none here. The bits of
   the exponent are converted where they stand, as e 2^52. */
EW_INLINE ew_wide_lanes ew_power_log2_lanes(ew_wide_lanes x)
{
    const ew_wide_lane_bits exponent = (ew_wide_lane_bits){0} - (1LL << 52);
    ew_wide_lane_bits b = (ew_wide_lane_bits)x;
    ew_wide_lane_bits above = b - 0x3fe6800000000000, e = above & exponent;
    ew_wide_lanes m = (ew_wide_lanes)(b - e);
    ew_wide_lanes f = ew_lanes_fma(
        m, ew_lanes_look_up(ew_power_inverse, above >> 48), ew_lanes_all(-1));
    ew_wide_lanes whole = ew_lanes_fma(
        __builtin_convertvector(e, ew_wide_lanes), ew_lanes_all(0x1p-60),
        ew_lanes_look_up(ew_power_log, above >> 48));
    ew_wide_lanes sum = ew_lanes_all(-0x1.eab2abb8e09a8p-11);
    sum = ew_lanes_fma(sum, f, ew_lanes_all(0x1.27c0a099473edp-10));
    sum = ew_lanes_fma(sum, f, ew_lanes_all(-0x1.7154b3a327601p-10));
    sum = ew_lanes_fma(sum, f, ew_lanes_all(0x1.ec70974849c96p-10));
    sum = ew_lanes_fma(sum, f, ew_lanes_all(-0x1.715476514cf81p-9));
    sum = ew_lanes_fma(sum, f, ew_lanes_all(0x1.71547652bd996p-8));
    return ew_lanes_fma(sum, f, whole);
}

/* 2^(256 u), |u| < 2: exp2_16. Adding 1.5 * 2^40 rounds 256 u to a sixteenth,
   with k in the last bits of the sum. */
EW_INLINE ew_wide_lanes ew_power_exp2_lanes(ew_wide_lanes u)
{
    const ew_wide_lanes integer = ew_lanes_all(0x1.8p40);
    ew_wide_lanes n = u + integer, g = u - (n - integer);
    ew_wide_lane_bits k = (ew_wide_lane_bits)n;
    ew_wide_lanes power = (ew_wide_lanes)((ew_wide_lane_words)ew_lanes_look_up(
                                              ew_power_power, k) +
                                          ((ew_wide_lane_words)k << 48));
    ew_wide_lanes sum = ew_lanes_all(0x1.3b2ab6fbfd97ap+25);
    sum = ew_lanes_fma(sum, g, ew_lanes_all(0x1.c6b3488086f78p+19));
    sum = ew_lanes_fma(sum, g, ew_lanes_all(0x1.ebfbdffb53eefp+13));
    sum = ew_lanes_fma(sum, g, ew_lanes_all(0x1.62e42fee4618fp+7));
    return ew_lanes_fma(power * g, sum, power);
}

/* x^y for n elements, x > 0, at most a buffer of blocks. Returns whether all
   powers are well within those of double, or limits them to what f32 rounds to
   infinity and 0. Each step waits for the one before, and of all steps in one
   loop too few vectors would be under way: exponents come first. */
EW_INLINE bool ew_power_row(int64_t n, const float *x, const float *y,
                            float *out, bool limits)
{
    double exponents[EW_BLOCKS];
    ew_wide_lane_bits far = {0};
    for (int64_t i = 0; i < n; i += EW_WIDE_LANE_COUNT) {
        ew_wide_lanes u =
            ew_power_load(y + i) * ew_power_log2_lanes(ew_power_load(x + i));
        far |= (ew_wide_lane_bits)u;
        ew_lanes_store(exponents + i, limits ? ew_lanes_limit(u, 1) : u);
    }
    for (int64_t i = 0; i < n; i += EW_WIDE_LANE_COUNT) {
        ew_wide_lanes power = ew_power_exp2_lanes(ew_lanes_load(exponents + i));
        _mm256_storeu_ps(out + i, _mm512_cvtpd_ps((__m512d)power));
    }
    return !(ew_lanes_any(far) >> 62 & 1);
}
#endif

#endif
