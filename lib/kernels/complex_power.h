/*
 * Powers of complex numbers, exp(y log x). Those of c64 are computed in double,
 * in straight code, so that loops of them become vectors:
 *
 *     x -> log |x|, angle -> times y -> size, turn -> e^size (cos, sin)
 *
 * Zeros, what is not finite and turns of 2^25 and more go by c128's way: one by
 * one, in long double, since the error of log x is multiplied by y. Polynomials
 * are made by tests/accuracy/minimax.py, which names them as they are named
 * here.
 */
#ifndef EW_COMPLEX_POWER_H
#define EW_COMPLEX_POWER_H

#include <complex.h>

#include "angle_f64.h"
#include "block.h"

/* A complex number by its parts: C has no portable way to join an infinite
   imaginary part to a real one by arithmetic. */
union wide_complex {
    long double part[2];
    long double complex value;
};

static struct ew_c128 op_pow_c128(struct ew_c128 x, struct ew_c128 y)
{
    if (y.re == 0 && y.im == 0)
        return (struct ew_c128){1, 0};
    if (x.re == 0 && x.im == 0) {
        double zero = y.re > 0 && y.im == y.im ? 0 : (double)NAN;
        return (struct ew_c128){zero, zero};
    }
    union wide_complex base = {{x.re, x.im}}, log, product, power;
    log.value = clogl(base.value);
    product.part[0] = log.part[0] * y.re - log.part[1] * y.im;
    product.part[1] = log.part[0] * y.im + log.part[1] * y.re;
    power.value = cexpl(product.value);
    return (struct ew_c128){(double)power.part[0], (double)power.part[1]};
}

EW_INLINE void apply_slow_pow_c64(const void *px, const void *py,
                                  const void *with, void *out)
{
    const struct ew_c64 *x = px, *y = py;
    struct ew_c128 power = op_pow_c128((struct ew_c128){x->re, x->im},
                                       (struct ew_c128){y->re, y->im});
    (void)with;
    *(struct ew_c64 *)out = (struct ew_c64){(float)power.re, (float)power.im};
}

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

/* e^size, or a number that f32 does not hold for one that double does not. */
EW_INLINE double grown(double size)
{
    const double most = 700, log2_e = 0x1.71547652b82fep-9; /* over 512 */
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

/* e^(y (log + i angle)). Sets *odd to 1 where the power is not computed so. A
   turn of 0 is +0, so that x^0 is 1 + 0i. Complex numbers that are passed or
   returned are not taken apart by some compilers, and make no vectors. */
EW_INLINE void fast_exp_c64(const struct ew_c64 *y, double log, double angle,
                            struct ew_c64 *power, double *odd)
{
    double a = y->re, b = y->im, cosine, sine;
    double turn = log * b + angle * a + 0, scale = grown(log * a - angle * b);
    *odd = fabs(turn) < 0x1p25 ? *odd : 1;
    turned(turn, &cosine, &sine);
    power->re = (float)(scale * cosine);
    power->im = (float)(scale * sine);
}

/* In two loops, as ew_power_row of power_lanes.h. */
static void compute_pow_c64(int64_t n, const void *x, const void *y,
                            const void *with, void *out)
{
    (void)with;
    const struct ew_c64 *from = x, *to = y;
    struct ew_c64 made[EW_BLOCKS];
    double log[EW_BLOCKS], angle[EW_BLOCKS], odd[EW_BLOCKS];
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++) {
        log[i] = log_magnitude(from[i].re, from[i].im);
        angle[i] = fast_atan2_f64(from[i].im, from[i].re, &odd[i]);
    }
    for (int64_t i = 0; i < n; i++)
        fast_exp_c64(&to[i], log[i], angle[i], &made[i], &odd[i]);
    ew_block_odd(apply_slow_pow_c64, n, sizeof *made, odd, x, y, made);
    memcpy(out, made, (size_t)n * sizeof *made);
}

/* An element, as a block of one. */
EW_INLINE void apply_pow_c64(const void *x, const void *y, const void *with,
                             void *out)
{
    const struct ew_c64 *from = x;
    struct ew_c64 power;
    double odd, log = log_magnitude(from->re, from->im);
    double angle = fast_atan2_f64(from->im, from->re, &odd);
    fast_exp_c64(y, log, angle, &power, &odd);
    if (odd != 0)
        apply_slow_pow_c64(x, y, with, &power);
    memcpy(out, &power, sizeof power);
}

static void pow_c64(int64_t rows, int64_t cols, void *const data[],
                    const struct ew_stride s[])
{
    static const struct ew_c64 one = {1, 0};
    int before = errno;
    if (rows * cols < 4)
        ew_loop_strided(apply_pow_c64, rows, cols, data, s, NULL);
    else
        ew_block_all(compute_pow_c64, sizeof one, &one, NULL, rows, cols, data,
                     s);
    ew_quiet_restore(before);
}

#define WIDE_POWER(x) x##_c128
EW_KERNEL(ew_loop_libm, WIDE_POWER, pow, struct ew_c128, struct ew_c128,
          struct ew_c128)
#undef WIDE_POWER

#endif
