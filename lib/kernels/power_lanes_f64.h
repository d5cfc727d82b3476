/*
 * pow on f64 for power.inc with AVX-512: tables in registers (wide_lanes.h) and
 * short polynomials in place of the division and long ones of power_f64.h. The
 * exponent is a pair, and the power is rounded once: <= 0.67 ULP.
 *
 *     x = 2^e m, m = (1 + r) / inverse[j]
 *     log x = e log 2 + log[j] + r + r^2 (-1/2 + r log1p_32(r))
 *     y log x = (i + k / 16) log 2 + g
 *     x^y = 2^i power[k] (1 + g + g^2 exp_16(g))
 *
 * Two roundings of r log1p_32 are up to 2^-66 of a logarithm near 0, which y
 * may take to 709: 0.1 ULP. Tables and polynomials are made by
 * tests/accuracy/minimax.py.
 */
#ifndef EW_POWER_LANES_F64_H
#define EW_POWER_LANES_F64_H

#include "block.h"
#include "wide_lanes.h"

#if defined(EW_WIDE_LANES)
/* The bits of the least m, 0.7109375, where the first of 32 steps begins. Each
   has an inverse of so few bits that r is exact, |r| < 0.02; 1 for that of 1.
 */
static const uint64_t ew_power_first_f64 = 0x3fe6c00000000000;
static const double ew_power_inverse_f64[32] = {
    0x1.64p+0, 0x1.5cp+0, 0x1.54p+0, 0x1.5p+0,  0x1.48p+0, 0x1.4p+0,  0x1.3cp+0,
    0x1.34p+0, 0x1.3p+0,  0x1.28p+0, 0x1.24p+0, 0x1.2p+0,  0x1.1cp+0, 0x1.14p+0,
    0x1.1p+0,  0x1.0cp+0, 0x1.08p+0, 0x1.04p+0, 0x1p+0,    0x1.fp-1,  0x1.ep-1,
    0x1.d4p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1,  0x1.a4p-1, 0x1.98p-1, 0x1.9p-1,
    0x1.88p-1, 0x1.7cp-1, 0x1.74p-1, 0x1.6cp-1};

/* -log(inverse[j]) in two parts, of which the first is a multiple of 2^-42, as
   is that of log 2: e log 2 + log[j] is exact. */
static const double ew_power_log_high[32] = {-0x1.51aad872ep-2,
                                             -0x1.3a64c55694p-2,
                                             -0x1.22941fbcf8p-2,
                                             -0x1.1675cababap-2,
                                             -0x1.fb9186d5e4p-3,
                                             -0x1.c8ff7c79aap-3,
                                             -0x1.af3c94e80cp-3,
                                             -0x1.7ab890210ep-3,
                                             -0x1.5ff3070a7ap-3,
                                             -0x1.29552f82p-3,
                                             -0x1.0d77e7cd08p-3,
                                             -0x1.e27076e2bp-4,
                                             -0x1.a926d3a4acp-4,
                                             -0x1.341d7961bcp-4,
                                             -0x1.f0a30c0118p-5,
                                             -0x1.77458f633p-5,
                                             -0x1.f829b0e78p-6,
                                             -0x1.fc0a8b0fcp-7,
                                             0x0p+0,
                                             0x1.0415d89e78p-5,
                                             0x1.08598b59e4p-4,
                                             0x1.700d30aeacp-4,
                                             0x1.da72763844p-4,
                                             0x1.365fcb015ap-3,
                                             0x1.5bf406b544p-3,
                                             0x1.95a5adcf7p-3,
                                             0x1.d1037f2656p-3,
                                             0x1.f991c6cb3cp-3,
                                             0x1.1178e8227ep-2,
                                             0x1.314f1e1d36p-2,
                                             0x1.4718dc271cp-2,
                                             0x1.5d5bddf596p-2};
static const double ew_power_log_low[32] = {0x1.f4bd8db0a7cc1p-44,
                                            -0x1.7a71cbcd735d0p-44,
                                            0x1.a6976f5eb0963p-44,
                                            -0x1.8380e731f55c4p-44,
                                            0x1.d572aab993c87p-47,
                                            0x1.7794f689f8434p-45,
                                            0x1.a4e633fcd9066p-52,
                                            0x1.bdb9072534a58p-45,
                                            0x1.8586f183bebf2p-44,
                                            0x1.5b967f4471dfcp-44,
                                            -0x1.cb2cd2ee2f482p-44,
                                            0x1.a342c2af0003cp-45,
                                            -0x1.563650bd22a9cp-44,
                                            -0x1.1d09299837610p-44,
                                            0x1.d599e83368e91p-45,
                                            0x1.181dce586af09p-44,
                                            -0x1.980267c7e09e4p-45,
                                            -0x1.f1e7cf6d3a69cp-50,
                                            0x0.0p+0,
                                            -0x1.dddc7f461c516p-44,
                                            -0x1.7e5dd7009902cp-46,
                                            0x1.c1e8da99ded32p-49,
                                            0x1.a89401fa71733p-46,
                                            -0x1.fd3a0afb9691bp-44,
                                            -0x1.27023eb68981cp-46,
                                            0x1.7f22858a0ff6fp-47,
                                            -0x1.84a7e75b6f6e4p-47,
                                            -0x1.90d04cd7cc834p-44,
                                            0x1.1ef78ce2d07f2p-44,
                                            -0x1.8e27ad3213cb8p-45,
                                            0x1.06c18fb4c14c5p-44,
                                            -0x1.a0b2a08a465dcp-47};

/* 2^(k / 16), and what the double lacks, divided by it. */
static const double ew_power_power_high[16] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0,
    0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0,
    0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0,
    0x1.ea4afa2a490dap+0};
static const double ew_power_power_low[16] = {0x0.0p+0,
                                              0x1.79aa65d837b6dp-54,
                                              -0x1.01b15eaa59348p-55,
                                              0x1.68efde3a8a894p-54,
                                              0x1.34d754db0abb6p-55,
                                              0x1.59f48a72a4c6dp-55,
                                              0x1.690cebb7aafb0p-56,
                                              0x1.063e1e21c5409p-54,
                                              -0x1.3b3efbf5e2228p-54,
                                              -0x1.b32dcb94da51dp-56,
                                              0x1.db72fc1f0eab4p-55,
                                              0x1.1affc2b91ce27p-56,
                                              0x1.c1a7792cb3387p-55,
                                              0x1.36eae30af0cb3p-56,
                                              0x1.4a385a63d07a7p-56,
                                              -0x1.ff7128fd391f0p-55};

/* Added to a number below 2^47, this rounds it to a sixteenth; their count is
   left in the last bits of the sum. From -1021 to 1026, where powers are no
   subnormals, all but the last 15 of its bits are those of 1.5 * 2^48. */
#define EW_POWER_SIXTEENTHS (0x1.8p48 + 1021)

/* As struct ew_pair of pair.h. */
struct ew_lane_pair {
    ew_wide_lanes high, low;
};

/* a + b, |a| >= |b| or a = 0. */
EW_INLINE struct ew_lane_pair ew_lanes_sum(ew_wide_lanes a, ew_wide_lanes b)
{
    ew_wide_lanes high = a + b;
    return (struct ew_lane_pair){high, b - (high - a)};
}

/* a b, to some 2^-104. */
EW_INLINE struct ew_lane_pair ew_lanes_product(struct ew_lane_pair a,
                                               ew_wide_lanes b)
{
    ew_wide_lanes high = a.high * b;
    ew_wide_lanes low = ew_lanes_fma(a.high, b, -high);
    return (struct ew_lane_pair){high, ew_lanes_fma(a.low, b, low)};
}

/* log(1 + r) - r: log1p_32. What is lost of r^2 counts. */
EW_INLINE struct ew_lane_pair ew_power_log1p(ew_wide_lanes r)
{
    ew_wide_lanes square = r * r;
    ew_wide_lanes c0 =
        ew_lanes_line(r, 0x1.5555555555555p-2, -0x1.fffffffffffa8p-3);
    ew_wide_lanes c2 =
        ew_lanes_line(r, 0x1.999999999fb95p-3, -0x1.55555557ddcd3p-3);
    ew_wide_lanes c4 =
        ew_lanes_line(r, 0x1.249247b0237d7p-3, -0x1.ffff6e242bb2bp-4);
    ew_wide_lanes c6 =
        ew_lanes_line(r, 0x1.c756a242d26ecp-4, -0x1.9e47bf2b7a8a3p-4);
    ew_wide_lanes sum = ew_lanes_fma(square, c6, c4);
    sum = ew_lanes_fma(square, ew_lanes_fma(square, sum, c2), c0);
    struct ew_lane_pair rest = ew_lanes_sum(ew_lanes_all(-0.5), sum * r);
    struct ew_lane_pair log = ew_lanes_product(rest, square);
    ew_wide_lanes lost = ew_lanes_fma(r, r, -square);
    log.low = ew_lanes_fma(rest.high, lost, log.low);
    return log;
}

/* log(x / 2^shift), x > 0 and normal. The bits of the exponent are converted
   where they stand, as e 2^52. */
EW_INLINE struct ew_lane_pair ew_power_log_lanes(ew_wide_lanes x,
                                                 ew_wide_lanes shift)
{
    const ew_wide_lane_bits exponent = (ew_wide_lane_bits){0} - (1LL << 52);
    ew_wide_lane_bits b = (ew_wide_lane_bits)x;
    ew_wide_lane_bits above = b - ew_power_first_f64, j = above >> 47;
    ew_wide_lane_bits part = above & exponent;
    ew_wide_lanes m = (ew_wide_lanes)(b - part);
    ew_wide_lanes e =
        __builtin_convertvector(part, ew_wide_lanes) - shift * 0x1p52;
    ew_wide_lanes r = ew_lanes_fma(
        m, ew_lanes_look_up_32(ew_power_inverse_f64, j), ew_lanes_all(-1));
    struct ew_lane_pair rest = ew_power_log1p(r);
    ew_wide_lanes whole =
        ew_lanes_fma(e, ew_lanes_all(0x1.62e42fefa38p-53),
                     ew_lanes_look_up_32(ew_power_log_high, j));
    ew_wide_lanes low = ew_lanes_fma(e, ew_lanes_all(0x1.ef35793c76730p-97),
                                     ew_lanes_look_up_32(ew_power_log_low, j));
    struct ew_lane_pair first = ew_lanes_sum(whole, r);
    struct ew_lane_pair log = ew_lanes_sum(first.high, rest.high);
    log.low += first.low + (rest.low + low);
    return log;
}

/* e^u is 2^i times the pair that is returned, by exp_16. *n is i + k / 16
   behind EW_POWER_SIXTEENTHS. */
EW_INLINE struct ew_lane_pair ew_power_exp(struct ew_lane_pair u,
                                           ew_wide_lanes *n)
{
    *n = ew_lanes_fma(u.high, ew_lanes_all(0x1.71547652b82fep+0),
                      ew_lanes_all(EW_POWER_SIXTEENTHS));
    ew_wide_lane_bits k = (ew_wide_lane_bits)*n;
    ew_wide_lanes near = *n - EW_POWER_SIXTEENTHS;
    ew_wide_lanes g =
        ew_lanes_fma(near, ew_lanes_all(-0x1.62e42fefa39efp-1), u.high);
    g += ew_lanes_fma(near, ew_lanes_all(-0x1.abc9e3b39803fp-56), u.low);
    ew_wide_lanes square = g * g;
    ew_wide_lanes c2 = ew_lanes_line(g, 0.5, 0x1.5555555555557p-3);
    ew_wide_lanes c4 =
        ew_lanes_line(g, 0x1.55555554e946fp-5, 0x1.11111110ab8a9p-7);
    ew_wide_lanes c6 =
        ew_lanes_line(g, 0x1.6c17ed4cccf0cp-10, 0x1.a01b650936d13p-13);
    ew_wide_lanes sum = ew_lanes_fma(square, c6, c4);
    sum = ew_lanes_fma(square, sum, c2);
    sum =
        ew_lanes_fma(square, sum, g + ew_lanes_look_up(ew_power_power_low, k));
    ew_wide_lanes power = ew_lanes_look_up(ew_power_power_high, k);
    ew_wide_lanes high = ew_lanes_fma(power, sum, power);
    ew_wide_lanes low = ew_lanes_fma(power, sum, power - high);
    return (struct ew_lane_pair){high, low};
}

/* x 2^i for an n that ew_power_exp left; beyond all numbers, too. */
EW_INLINE ew_wide_lanes ew_power_scale(ew_wide_lanes x, ew_wide_lanes n)
{
    return (ew_wide_lanes)_mm512_scalef_pd((__m512d)x,
                                           (__m512d)(n - EW_POWER_SIXTEENTHS));
}

/* The same, rounded once where that is subnormal, too: 2^512 times as large, it
   is added to a number whose last place is that of subnormals. */
EW_INLINE ew_wide_lanes ew_power_scale_far(struct ew_lane_pair x,
                                           ew_wide_lanes n)
{
    const ew_wide_lanes last = ew_lanes_all(0x1p-510);
    struct ew_lane_pair sum =
        ew_lanes_sum(last, ew_power_scale(x.high, n + 512));
    ew_wide_lanes low = sum.low + ew_power_scale(x.low, n + 512);
    ew_wide_lanes tiny = (sum.high + low - last) * 0x1p-512;
    ew_wide_lanes power = ew_power_scale(x.high, n);
    return ew_lanes_choose(power < 0x1p-1022, tiny, power);
}

/* e^u, which is x^y. Where it may be subnormal, or is beyond all numbers, *far
   gets one of its first 49 bits. */
EW_INLINE ew_wide_lanes ew_power_near_f64(struct ew_lane_pair u,
                                          ew_wide_lane_bits *far)
{
    const ew_wide_lanes near = ew_lanes_all(0x1.8p48);
    ew_wide_lanes n;
    struct ew_lane_pair power = ew_power_exp(u, &n);
    *far |= (ew_wide_lane_bits)n ^ (ew_wide_lane_bits)near;
    return ew_power_scale(power.high, n);
}

/* x^y, x > 0. The low part of an exponent beyond all powers may be no number.
 */
EW_INLINE ew_wide_lanes ew_power_far_f64(ew_wide_lanes x, ew_wide_lanes y)
{
    const ew_wide_lanes zero = ew_lanes_all(0);
    ew_wide_lane_bits small = x < 0x1p-1022;
    ew_wide_lanes shift = ew_lanes_choose(small, ew_lanes_all(54), zero);
    x = ew_lanes_choose(small, x * 0x1p54, x);
    struct ew_lane_pair u = ew_lanes_product(ew_power_log_lanes(x, shift), y);
    ew_wide_lanes n, high = u.high;
    u.high = ew_lanes_limit(high, 800);
    u.low = ew_lanes_choose(u.high == high, u.low, zero);
    struct ew_lane_pair power = ew_power_exp(u, &n);
    return ew_power_scale_far(power, n);
}

/* In two loops, as ew_power_row. */
EW_INLINE bool powers_normal_f64(int64_t n, const double *x, const double *y,
                                 double *out)
{
    double high[EW_BLOCKS], low[EW_BLOCKS];
    ew_wide_lane_bits far = {0};
    for (int64_t i = 0; i < n; i += EW_WIDE_LANE_COUNT) {
        struct ew_lane_pair log =
            ew_power_log_lanes(ew_lanes_load(x + i), ew_lanes_all(0));
        struct ew_lane_pair u = ew_lanes_product(log, ew_lanes_load(y + i));
        ew_lanes_store(high + i, u.high);
        ew_lanes_store(low + i, u.low);
    }
    for (int64_t i = 0; i < n; i += EW_WIDE_LANE_COUNT) {
        struct ew_lane_pair u = {ew_lanes_load(high + i),
                                 ew_lanes_load(low + i)};
        ew_lanes_store(out + i, ew_power_near_f64(u, &far));
    }
    return !(ew_lanes_any(far) >> 15);
}

EW_INLINE void powers_positive_f64(int64_t n, const double *x, const double *y,
                                   double *out)
{
    for (int64_t i = 0; i < n; i += EW_WIDE_LANE_COUNT)
        ew_lanes_store(out + i, ew_power_far_f64(ew_lanes_load(x + i),
                                                 ew_lanes_load(y + i)));
}
#endif

#endif
