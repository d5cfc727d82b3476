/*
 * The kernels of pow on complex numbers, products or exp(y log x), by
 * complex_power.inc. What the rows of complex_power_whole.h, of
 * complex_power_c64.h and of complex_power_c128.h are not made for is made one
 * by one, in long double; so are all powers of c128 that are no products where
 * there is no fast fma.
 */
#ifndef EW_COMPLEX_POWER_H
#define EW_COMPLEX_POWER_H

#include <complex.h>
#include <float.h>

#include "complex_power_c128.h"
#include "complex_power_whole.h"

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

#if !defined(EW_FAST_FMA)
/* In the place of complex_power_c128.h's: none is made. */
EW_INLINE void ew_powers_log_c128(int64_t i, const struct ew_c128 *x,
                                  struct ew_powers *to)
{
    (void)x;
    to->odd[i] = 1;
}

EW_INLINE void ew_powers_exp_c128(int64_t i, const struct ew_c128 *y,
                                  double less, struct ew_powers *to)
{
    (void)y;
    (void)less;
    to->re[i] = to->im[i] = 0;
}

static void ew_powers_c128(int64_t n, const struct ew_c128 *x,
                           const struct ew_c128 *y, double less,
                           struct ew_powers *to)
{
    for (int64_t i = 0; i < n; i++) {
        ew_powers_log_c128(i, &x[i], to);
        ew_powers_exp_c128(i, &y[i], less, to);
    }
}
#endif

#define T struct ew_c64
#define R float
#define NAME(x) x##_c64
#define B uint32_t
#define BITS bits_f32
#define DIGITS FLT_MANT_DIG
#include "complex_power.inc"

#define T struct ew_c128
#define R double
#define NAME(x) x##_c128
#define B uint64_t
#define BITS bits_f64
#define DIGITS DBL_MANT_DIG
#include "complex_power.inc"

#endif
