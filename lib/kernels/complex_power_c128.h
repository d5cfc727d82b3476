/*
 * Powers of c128, as those of c64 in complex_power_c64.h but with pairs of
 * doubles (pair.h) where errors count: that of log x is multiplied by y, and
 * that of e^size by the cosine.
 *
 *     x -> log |x|, angle -> times y -> size, turn -> e^size (cos, sin)
 *
 * Odd are zeros, what is not finite, numbers whose squares overflow or lose
 * digits, turns of 2^25 and more, and powers that may be no normal numbers.
 * Polynomials and constants are made by tests/accuracy/minimax.py, which names
 * them as they are named here.
 */
#ifndef EW_COMPLEX_POWER_C128_H
#define EW_COMPLEX_POWER_C128_H

#include "complex_power_c64.h"

#if defined(EW_FAST_FMA)
/* t + t^3 (c + z sum), z = t^2. */
EW_INLINE struct ew_pair ew_power_series(struct ew_pair t, struct ew_pair z,
                                         struct ew_pair c, double sum)
{
    struct ew_pair p = ew_pair_product(z.high, sum);
    p.low = fma(z.low, sum, p.low);
    p = ew_pair_multiply(z, ew_pair_add(c, p));
    return ew_pair_add(t, ew_pair_multiply(t, p));
}

/* |x|^2 - 1 of parts high >= low >= 0, where that is near 0: with d = high - 1,
   which is exact, 2 d + d^2 + low^2. */
EW_INLINE struct ew_pair ew_power_above(double high, double low)
{
    double d = high - 1;
    struct ew_pair a = ew_pair_product(d, d), b = ew_pair_product(low, low);
    struct ew_pair squares = ew_pair_sum_any(a.high, b.high);
    struct ew_pair sum = ew_pair_sum_any(2 * d, squares.high);
    return ew_pair_sum(sum.high, sum.low + (squares.low + (a.low + b.low)));
}

/* Half of log(1 + f): artanh(s), s = f / (2 + f), by artanh_rest_pair. */
EW_INLINE struct ew_pair ew_power_half_log(struct ew_pair f)
{
    const struct ew_pair two = {2, -0.0};
    const struct ew_pair c0 = {0x1.5555555555555p-2, 0x1.5575a8d32767ap-56};
    struct ew_pair s = ew_pair_quotient(f, ew_pair_add(two, f));
    struct ew_pair z = ew_pair_multiply(s, s);
    double w = z.high * z.high;
    double c1 =
        ew_wide_line(z.high, 0x1.9999999999998p-3, 0x1.249249249295dp-3);
    double c3 =
        ew_wide_line(z.high, 0x1.c71c71c64c10cp-4, 0x1.745d17d393cfep-4);
    double c5 =
        ew_wide_line(z.high, 0x1.3b137b2232836p-4, 0x1.111d2a1b39dfbp-4);
    double c7 =
        ew_wide_line(z.high, 0x1.debe640c10014p-5, 0x1.e6b3bfed512c5p-5);
    double sum = ew_wide_line(w, c3, ew_wide_line(w, c5, c7));
    return ew_power_series(s, z, c0, ew_wide_line(w, c1, sum));
}

/* log |x| of parts high >= low >= 0: |x|^2 is 2^e (1 + f). */
EW_INLINE struct ew_pair ew_power_magnitude(double high, double low)
{
    const struct ew_pair half_log_2 = {0x1.62e42fefa39efp-2,
                                       0x1.abc9e3b39803fp-57};
    const uint64_t one = (uint64_t)1023 << 52;
    double e;
    struct ew_pair square =
        ew_pair_add(ew_pair_product(high, high), ew_pair_product(low, low));
    double m = ew_pair_split(square.high, &e);
    double scale = from_bits_f64(bits_f64(m) - bits_f64(square.high) + one);
    struct ew_pair f = ew_pair_sum(m - 1, square.low * scale);
    struct ew_pair above = ew_power_above(high, low);
    f.high = e == 0 ? above.high : f.high;
    f.low = e == 0 ? above.low : f.low;
    struct ew_pair whole =
        ew_pair_multiply((struct ew_pair){e, -0.0}, half_log_2);
    return ew_pair_add(whole, ew_power_half_log(f));
}

/* atan(k) of the multiple k of 1/4 that is nearest to low / high. */
EW_INLINE struct ew_pair ew_power_nearest(double high, double low, double *k)
{
    double eighths = low * 8, three = high * 3, five = high * 5;
    double seven = high * 7, near = 0;
    struct ew_pair angle = {0, 0};
    near = eighths > high ? 0.25 : near;
    angle.high = eighths > high ? 0x1.f5b75f92c80ddp-3 : angle.high;
    angle.low = eighths > high ? 0x1.8ab6e3cf7afbdp-57 : angle.low;
    near = eighths > three ? 0.5 : near;
    angle.high = eighths > three ? 0x1.dac670561bb4fp-2 : angle.high;
    angle.low = eighths > three ? 0x1.a2b7f222f65e2p-56 : angle.low;
    near = eighths > five ? 0.75 : near;
    angle.high = eighths > five ? 0x1.4978fa3269ee1p-1 : angle.high;
    angle.low = eighths > five ? 0x1.2419a87f2a458p-56 : angle.low;
    near = eighths > seven ? 1 : near;
    angle.high = eighths > seven ? 0x1.921fb54442d18p-1 : angle.high;
    angle.low = eighths > seven ? 0x1.1a62633145c07p-55 : angle.low;
    *k = near;
    return angle;
}

/* atan(low / high), 0 <= low <= high: atan(k) + atan(t), t = (low - k high) /
   (high + k low), |t| <= 1/8, by atan_rest_pair. */
EW_INLINE struct ew_pair ew_power_atan(double high, double low)
{
    const struct ew_pair c0 = {-0x1.5555555555555p-2, -0x1.553beb5e30aabp-56};
    double k;
    struct ew_pair base = ew_power_nearest(high, low, &k);
    struct ew_pair part = ew_pair_product(high, k);
    struct ew_pair over = ew_pair_sum(low - part.high, -part.low);
    struct ew_pair under =
        ew_pair_add((struct ew_pair){high, -0.0}, ew_pair_product(low, k));
    struct ew_pair t = ew_pair_quotient(over, under);
    struct ew_pair z = ew_pair_multiply(t, t);
    double w = z.high * z.high;
    double c1 =
        ew_wide_line(z.high, 0x1.9999999999998p-3, -0x1.2492492491c38p-3);
    double c3 =
        ew_wide_line(z.high, 0x1.c71c71c50518dp-4, -0x1.745d1536eb30fp-4);
    double c5 =
        ew_wide_line(z.high, 0x1.3b12974c9edffp-4, -0x1.10bd4e6801081p-4);
    double sum = ew_wide_line(w, c5, 0x1.c7d1fa46dd32fp-5);
    sum = ew_wide_line(w, c1, ew_wide_line(w, c3, sum));
    return ew_pair_add(base, ew_power_series(t, z, c0, sum));
}

/* The angle of x, which is that of its parts' sizes from the nearest multiple
   of pi/2 on, or back. */
EW_INLINE struct ew_pair ew_power_angle(double re, double im)
{
    double a = fabs(re), b = fabs(im), sign = copysign(1, im);
    double side = (b > a) != (re < 0) ? -1 : 1;
    double quarters = b > a ? 1 : re < 0 ? 2 : 0;
    struct ew_pair base = {quarters * 0x1.921fb54442d18p+0,
                           quarters * 0x1.1a62633145c07p-54};
    struct ew_pair angle = ew_power_atan(a < b ? b : a, a < b ? a : b);
    angle.high *= side;
    angle.low *= side;
    angle = ew_pair_add(base, angle);
    return (struct ew_pair){angle.high * sign, angle.low * sign};
}

/* a c + b d, which may cancel. */
EW_INLINE struct ew_pair ew_power_products(double a, struct ew_pair c, double b,
                                           struct ew_pair d)
{
    struct ew_pair first = ew_pair_multiply((struct ew_pair){a, -0.0}, c);
    struct ew_pair second = ew_pair_multiply((struct ew_pair){b, -0.0}, d);
    struct ew_pair sum = ew_pair_sum_any(first.high, second.high);
    return ew_pair_sum_any(sum.high, sum.low + (first.low + second.low));
}

/* sin r, |r| <= pi/4, z = r^2: r + r z sine_rest_f64(z). */
EW_INLINE struct ew_pair ew_power_sine(struct ew_pair r, double z)
{
    double s = -0x1.ab17e26be455dp-41;
    s = fma(s, z, 0x1.61217f262e3e3p-33);
    s = fma(s, z, -0x1.ae645412ea71cp-26);
    s = fma(s, z, 0x1.71de3a5460ad7p-19);
    s = fma(s, z, -0x1.a01a01a019939p-13);
    s = fma(s, z, 0x1.1111111111110p-7);
    s = fma(s, z, -0x1.5555555555555p-3);
    return ew_pair_sum(r.high, fma(r.high * z, s, r.low * (1 - z * 0.5)));
}

/* cos r: 1 - z / 2 + z^2 cosine_rest_f64(z). */
EW_INLINE struct ew_pair ew_power_cosine(struct ew_pair r, double z)
{
    struct ew_pair one = ew_pair_sum(1, z * -0.5);
    double lost = fma(r.high, r.high, -z) * 0.5 + r.high * r.low;
    double c = -0x1.907db46c8b3e6p-37;
    c = fma(c, z, 0x1.1eeb69037a8efp-29);
    c = fma(c, z, -0x1.27e4fa17f65cdp-22);
    c = fma(c, z, 0x1.a01a019f4ec91p-16);
    c = fma(c, z, -0x1.6c16c16c16967p-10);
    c = fma(c, z, 0x1.5555555555555p-5);
    return ew_pair_sum(one.high, fma(z * z, c, one.low - lost));
}

/* cos and sin of |t| < 2^25, as turned() has them: pi/2 has a second part of 53
   bits, whose product with n is a pair, and a third one. */
EW_INLINE void ew_power_turned(struct ew_pair t, struct ew_pair *cosine,
                               struct ew_pair *sine)
{
    const double integer = 0x1.8p52;
    double n = t.high * 0x1.45f306dc9c883p-1 + integer, k = n - integer;
    struct ew_pair second = ew_pair_product(k, 0x1.10b4611a62633p-30);
    struct ew_pair r =
        ew_pair_sum_any(t.high - k * 0x1.921fb54p0, -second.high);
    double lost = fma(k, 0x1.45c06e0e68948p-86, second.low) - t.low;
    r = ew_pair_sum_any(r.high, r.low - lost);
    double z = r.high * r.high;
    struct ew_pair c = ew_power_cosine(r, z), s = ew_power_sine(r, z);
    uint64_t quarters = bits_f64(n);
    bool odd = quarters & 1;
    double c_sign = (quarters + 1) & 2 ? -1 : 1, s_sign = quarters & 2 ? -1 : 1;
    cosine->high = c_sign * (odd ? s.high : c.high);
    cosine->low = c_sign * (odd ? s.low : c.low);
    sine->high = s_sign * (odd ? c.high : s.high);
    sine->low = s_sign * (odd ? c.low : s.low);
}

/* a b times a power of 2, rounded once. */
EW_INLINE double ew_power_part(struct ew_pair a, struct ew_pair b, double scale)
{
    double low = fma(a.high, b.low, a.low * b.high);
    return fma(a.high, b.high, low) * scale;
}

EW_INLINE void ew_powers_log_c128(int64_t i, const struct ew_c128 *x,
                                  struct ew_powers *to)
{
    double a = fabs(x->re), b = fabs(x->im);
    double high = a < b ? b : a, low = a < b ? a : b;
    struct ew_pair log = ew_power_magnitude(high, low);
    struct ew_pair angle = ew_power_angle(x->re, x->im);
    bool even =
        (high > 0x1p-400) & (high < 0x1p400) & ((low > 0x1p-400) | (low == 0));
    to->log[i] = log.high;
    to->log_low[i] = log.low;
    to->angle[i] = angle.high;
    to->angle_low[i] = angle.low;
    to->odd[i] = even ? 0 : 1;
}

EW_INLINE void ew_powers_exp_c128(int64_t i, const struct ew_c128 *y,
                                  double less, struct ew_powers *to)
{
    const struct ew_pair log2_e = {0x1.71547652b82fep-8, /* over 256 */
                                   0x1.777d0ffda0d24p-64};
    struct ew_pair log = {to->log[i], to->log_low[i]}, cosine, sine;
    struct ew_pair angle = {to->angle[i], to->angle_low[i]};
    double a = y->re - less, b = y->im, n;
    struct ew_pair size = ew_power_products(a, log, -b, angle);
    struct ew_pair turn = ew_power_products(b, log, a, angle);
    bool fits = (fabs(turn.high) < 0x1p25) & (fabs(size.high) < 700);
    to->odd[i] = fits ? to->odd[i] : 1;
    struct ew_pair power = ew_pair_exp2(ew_pair_multiply(size, log2_e), &n);
    double scale = ew_pair_scale(1, n);
    turn.high += 0; /* no -0, so that x^0 is 1 + 0i */
    ew_power_turned(turn, &cosine, &sine);
    to->re[i] = ew_power_part(power, cosine, scale);
    to->im[i] = ew_power_part(power, sine, scale);
}

/* x^(y - less) of n elements, a multiple of the block's size. */
static void ew_powers_c128(int64_t n, const struct ew_c128 *x,
                           const struct ew_c128 *y, double less,
                           struct ew_powers *to)
{
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++)
        ew_powers_log_c128(i, &x[i], to);
    for (int64_t i = 0; i < n; i++)
        ew_powers_exp_c128(i, &y[i], less, to);
}
#endif

#endif
