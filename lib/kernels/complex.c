/*
 * The kernels of c64 and c128: complex.inc, once per type, and division,
 * which c64 does in double without any precaution.
 */
#include <complex.h>
#include <math.h>

#include "loop.h"

/* x conj(y) / |y|^2; in double nothing overflows or underflows for the range
   of float. A divisor of 0 divides each part. */
static inline struct ew_c64 divide_c64(struct ew_c64 x, struct ew_c64 y)
{
    double yr = y.re, yi = y.im, square = yr * yr + yi * yi;
    if (square == 0)
        return (struct ew_c64){x.re / (float)square, x.im / (float)square};
    return (struct ew_c64){(float)((x.re * yr + x.im * yi) / square),
                           (float)((x.im * yr - x.re * yi) / square)};
}

/* The exponent of the larger part; 0 if there is none to scale by. */
static inline int exponent(struct ew_c128 z)
{
    double large = fmax(fabs(z.re), fabs(z.im));
    int e = 0;
    if (large > 0 && large < INFINITY)
        frexp(large, &e);
    return e;
}

static inline struct ew_c128 scale(struct ew_c128 z, int e)
{
    return (struct ew_c128){scalbn(z.re, e), scalbn(z.im, e)};
}

/* Smith's method: the divisor's larger part is divided out first. R. L. Smith,
   CACM 5 (1962), Algorithm 116. */
static inline struct ew_c128 smith(struct ew_c128 x, struct ew_c128 y)
{
    if (fabs(y.re) >= fabs(y.im)) {
        double ratio = y.im / y.re, whole = y.re + EW_ROUNDED(y.im * ratio);
        return (struct ew_c128){(x.re + EW_ROUNDED(x.im * ratio)) / whole,
                                (x.im - EW_ROUNDED(x.re * ratio)) / whole};
    }
    double ratio = y.re / y.im, whole = y.im + EW_ROUNDED(y.re * ratio);
    return (struct ew_c128){(EW_ROUNDED(x.re * ratio) + x.im) / whole,
                            (EW_ROUNDED(x.im * ratio) - x.re) / whole};
}

/* Both operands are brought near 1 by powers of two, so that only a quotient
   that is itself too large or too small overflows or underflows. */
static inline struct ew_c128 divide_c128(struct ew_c128 x, struct ew_c128 y)
{
    if (y.re == 0 && y.im == 0)
        return (struct ew_c128){x.re / fabs(y.re), x.im / fabs(y.re)};
    int ex = exponent(x), ey = exponent(y);
    return scale(smith(scale(x, -ex), scale(y, -ey)), ex - ey);
}

#define T struct ew_c64
#define R float
#define WIDE double
#define NAME(x) x##_c64
#define DIVIDE divide_c64
#define CW(f) f
#include "complex.inc"

#define T struct ew_c128
#define R double
#define WIDE long double
#define NAME(x) x##_c128
#define DIVIDE divide_c128
#define CW(fn) fn##l
#include "complex.inc"

const ew_kernel_row *const EW_CONCAT(ew_complex, EW_LEVEL)[2] = {&row_c64,
                                                                 &row_c128};
