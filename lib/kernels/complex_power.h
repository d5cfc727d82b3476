/*
 * Powers of complex numbers, exp(y log x). What the rows of
 * complex_power_c64.h are not made for goes by c128's way: one by one, in long
 * double, since the error of log x is multiplied by y.
 */
#ifndef EW_COMPLEX_POWER_H
#define EW_COMPLEX_POWER_H

#include <complex.h>

#include "complex_power_c64.h"

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

/* out may be x or y, which odd elements are made of. */
static void compute_pow_c64(int64_t n, const void *x, const void *y,
                            const void *with, void *out)
{
    struct ew_powers power;
    struct ew_c64 made[EW_BLOCKS];
    (void)with;
    n = n / EW_BLOCK * EW_BLOCK;
    ew_powers_c64(n, x, y, 0, &power);
    for (int64_t i = 0; i < n; i++)
        made[i] = (struct ew_c64){(float)power.re[i], (float)power.im[i]};
    ew_block_odd(apply_slow_pow_c64, n, sizeof *made, power.odd, x, y, made);
    memcpy(out, made, (size_t)n * sizeof *made);
}

/* An element, as a block of one. */
EW_INLINE void apply_pow_c64(const void *x, const void *y, const void *with,
                             void *out)
{
    const struct ew_c64 *from = x, *to = y;
    struct ew_powers power;
    power.log[0] = log_magnitude(from->re, from->im);
    power.angle[0] = fast_atan2_f64(from->im, from->re, power.odd);
    ew_powers_exp_c64(0, to->re, to->im, &power);
    struct ew_c64 made = {(float)power.re[0], (float)power.im[0]};
    if (power.odd[0] != 0)
        apply_slow_pow_c64(x, y, with, &made);
    memcpy(out, &made, sizeof made);
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
