/*
 * The kernels of c64 and c128: complex.inc, once per type, and division,
 * which c64 does in double with little precaution.
 */
#include <complex.h>
#include <math.h>
#include <stdbool.h>

#include "loop.h"

/* Smith's method: the divisor's larger part is divided out first. R. L. Smith,
   CACM 5 (1962), Algorithm 116. */
EW_INLINE struct ew_c128 smith(struct ew_c128 x, struct ew_c128 y)
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

/* 2^e, -1022 <= e <= 1023. */
EW_INLINE double power_of_two(int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

EW_INLINE struct ew_c128 scale(struct ew_c128 z, int e)
{
    return (struct ew_c128){z.re * power_of_two(e), z.im * power_of_two(e)};
}

/* The exponent of the larger part, as far as its negative can scale; 0 for
   infinity and NaN. */
EW_INLINE int exponent(struct ew_c128 z)
{
    double part[2] = {fabs(z.re), fabs(z.im)};
    uint64_t bits[2];
    memcpy(bits, part, sizeof bits);
    int e = (int)((bits[0] > bits[1] ? bits[0] : bits[1]) >> 52) - 1023;
    if (e == 1024)
        return 0;
    return e < -1022 ? -1022 : e > 1022 ? 1022 : e;
}

/* Both operands are brought near 1 by powers of two, so that only a quotient
   that is itself too large or too small overflows or underflows. Its exponent
   may take two steps, of which the last one rounds. A divisor of 0
   divides each part. */
EW_INLINE struct ew_c128 divide_c128(struct ew_c128 x, struct ew_c128 y)
{
    if (y.re == 0 && y.im == 0)
        return (struct ew_c128){x.re / fabs(y.re), x.im / fabs(y.re)};
    int ex = exponent(x), ey = exponent(y), half = (ex - ey) / 2;
    struct ew_c128 near = smith(scale(x, -ex), scale(y, -ey));
    return scale(scale(near, half), ex - ey - half);
}

/* x conj(y) / |y|^2; in double nothing overflows or underflows for the range
   of float. Zeros, infinities and NaN are c128's matter. */
EW_INLINE struct ew_c64 divide_c64(struct ew_c64 x, struct ew_c64 y)
{
    double yr = y.re, yi = y.im, square = yr * yr + yi * yi;
    struct ew_c128 q = {(x.re * yr + x.im * yi) / square,
                        (x.im * yr - x.re * yi) / square};
    if (!(square > 0 && square < INFINITY))
        q = divide_c128((struct ew_c128){x.re, x.im}, (struct ew_c128){yr, yi});
    return (struct ew_c64){(float)q.re, (float)q.im};
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
