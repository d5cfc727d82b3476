/*
 * The kernels of pow on complex numbers, exp(y log x), by complex_power.inc.
 * What the rows of complex_power_c64.h and complex_power_c128.h are not made
 * for is made one by one, in long double; so is all of c128 where there is no
 * fast fma.
 */
#ifndef EW_COMPLEX_POWER_H
#define EW_COMPLEX_POWER_H

#include <complex.h>

#include "complex_power_c128.h"

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

#define T struct ew_c64
#define R float
#define NAME(x) x##_c64
#include "complex_power.inc"

#if defined(EW_FAST_FMA)
#define T struct ew_c128
#define R double
#define NAME(x) x##_c128
#include "complex_power.inc"
#else
#define WIDE_POWER(x) x##_c128
EW_KERNEL(ew_loop_libm, WIDE_POWER, pow, struct ew_c128, struct ew_c128,
          struct ew_c128)
#undef WIDE_POWER
#endif

#endif
