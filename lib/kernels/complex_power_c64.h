/*
 * Powers of c64 in double, without branches, so that loops of them become
 * vectors:
 *
 *     x -> log |x|, angle -> times y -> size, turn -> e^size (cos, sin)
 *
 * Odd are zeros, what is not finite and turns of 2^25 and more. Polynomials are
 * made by tests/accuracy/minimax.py, which names them as they are named here.
 */
#ifndef EW_COMPLEX_POWER_C64_H
#define EW_COMPLEX_POWER_C64_H

#include "angle_f64.h"
#include "block.h"

/*
 * log |x| of a c64 other than 0, whose squares are exact in double. With |x|^2
 * = 2^e (1 + f) and s = f / (2 + f) it is e log(2) / 2 + artanh(s), and that is
 * s + s z artanh_rest(z), z = s^2. Near 1, where the sum of squares cancels, f
 * is found from what the real part is above 1.
 */
EW_INLINE double log_magnitude(double re, double im)
{
    double above = (fabs(re) - 1) * (fabs(re) + 1) + im * im, e;
    double square = ew_pair_split(re * re + im * im, &e);
    double f = e == 0 ? above : square - 1;
    double s = f / (f + 2), z = s * s, sum = 0x1.2b5a8955283e0p-4;
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.39fe2db2a320bp-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.7462b65857e07p-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.c71c62def7d8ep-4);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.2492492df7043p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.99999999952a8p-3);
    sum = EW_MULTIPLY_ADD(sum, z, 0x1.5555555555558p-2);
    return EW_MULTIPLY_ADD(s * z, sum, s) + e * 0x1.62e42fefa39efp-2;
}

/* e^size, or a number that f32 does not hold for another one: times two
   numbers of f32 it still is finite, and none that f32 holds. */
EW_INLINE double grown(double size)
{
    const double most = 450, log2_e = 0x1.71547652b82fep-9; /* over 512 */
    double below = size < most ? size : most;
    double within = below > -most ? below : -most;
    return ew_wide_exp2(within * log2_e);
}

/*
 * cos and sin of |t| < 2^25 to 2^-35. What is left of t beyond the nearest
 * multiple n of pi/2 is r, |r| <= pi/4; n takes 25 bits, and the first part of
 * pi/2 only 28, so their product is exact. Adding 1.5 * 2^52 rounds to an
 * integer, in the last bits of the sum. With z = r^2,
 *
 *     sin r = r + r z sine_rest(z)    cos r = 1 - z / 2 + z^2 cosine_rest(z)
 *
 * and odd n exchange them.
 */
EW_INLINE void turned(double t, double *cosine, double *sine)
{
    const double integer = 0x1.8p52;
    double n = t * 0x1.45f306dc9c883p-1 + integer, k = n - integer;
    double r = (t - k * 0x1.921fb54p0) - k * 0x1.10b4611a62633p-30, z = r * r;
    double s = 0x1.6dbc438fe8a66p-19, c = -0x1.25238d772d2f9p-22;
    s = EW_MULTIPLY_ADD(s, z, -0x1.a013a1073d571p-13);
    s = EW_MULTIPLY_ADD(s, z, 0x1.11110de91d211p-7);
    s = EW_MULTIPLY_ADD(s, z, -0x1.555555545ab55p-3);
    c = EW_MULTIPLY_ADD(c, z, 0x1.a015c1b415a92p-16);
    c = EW_MULTIPLY_ADD(c, z, -0x1.6c16bf5252626p-10);
    c = EW_MULTIPLY_ADD(c, z, 0x1.555555550219dp-5);
    s = EW_MULTIPLY_ADD(r * z, s, r);
    c = EW_MULTIPLY_ADD(z * z, c, 1 - z * 0.5);
    uint64_t quarters = bits_f64(n), odd = -(quarters & 1);
    uint64_t a = bits_f64(c), b = bits_f64(s), swap = (a ^ b) & odd;
    *cosine = from_bits_f64(a ^ swap ^ ((quarters + 1) & 2) << 62);
    *sine = from_bits_f64(b ^ swap ^ (quarters & 2) << 62);
}

/* What powers of a row are made of and they themselves, in double. */
struct ew_powers {
    double log[EW_BLOCKS], angle[EW_BLOCKS];
    double log_low[EW_BLOCKS], angle_low[EW_BLOCKS]; /* of c128 alone */
    double re[EW_BLOCKS], im[EW_BLOCKS];
    double odd[EW_BLOCKS]; /* not 0: none was made */
};

/* log x, number i. */
EW_INLINE void ew_powers_log_c64(int64_t i, const struct ew_c64 *x,
                                 struct ew_powers *to)
{
    to->log[i] = log_magnitude(x->re, x->im);
    to->angle[i] = fast_atan2_f64(x->im, x->re, &to->odd[i]);
}

/* x^(y - less), of the logarithm with that number. A turn of 0 is +0, so that
   x^0 is 1 + 0i. Complex numbers that are passed or returned are not taken
   apart by some compilers, and make no vectors. */
EW_INLINE void ew_powers_exp_c64(int64_t i, const struct ew_c64 *y, double less,
                                 struct ew_powers *to)
{
    double a = y->re - less, b = y->im, cosine, sine;
    double log = to->log[i], angle = to->angle[i];
    double turn = log * b + angle * a + 0, scale = grown(log * a - angle * b);
    to->odd[i] = fabs(turn) < 0x1p25 ? to->odd[i] : 1;
    turned(turn, &cosine, &sine);
    to->re[i] = scale * cosine;
    to->im[i] = scale * sine;
}

/* x^(y - less) of n elements, a multiple of the block's size. In two loops, as
   ew_power_row of power_lanes.h. */
static void ew_powers_c64(int64_t n, const struct ew_c64 *x,
                          const struct ew_c64 *y, double less,
                          struct ew_powers *to)
{
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++)
        ew_powers_log_c64(i, &x[i], to);
    for (int64_t i = 0; i < n; i++)
        ew_powers_exp_c64(i, &y[i], less, to);
}

#endif
