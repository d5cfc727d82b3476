/*
 * The kernels of c64 and c128: complex.inc, once per type, and the quotients
 * of two numbers, which c64 takes in double with little precaution.
 */
#include <complex.h>
#include <math.h>
#include <stdbool.h>

#include "block.h"
#include "half.h"
#include "loop.h"

/* 2^e, -1022 <= e <= 1023. */
EW_INLINE double power_of_two(int64_t e)
{
    return ew_half_double((uint64_t)(e + 1023) << 52);
}

EW_INLINE struct ew_c128 scale(struct ew_c128 z, int64_t e)
{
    return (struct ew_c128){z.re * power_of_two(e), z.im * power_of_two(e)};
}

/* The exponent of the larger part, as far as its negative can scale; 0 for
   infinity and NaN. */
EW_INLINE int64_t exponent(struct ew_c128 z)
{
    int64_t re = (int64_t)(ew_half_bits64(z.re) >> 52 & 0x7ff);
    int64_t im = (int64_t)(ew_half_bits64(z.im) >> 52 & 0x7ff);
    int64_t e = (re > im ? re : im) - 1023;
    int64_t above = e > 1022 ? 1022 : e;
    int64_t within = e < -1022 ? -1022 : above;
    return e == 1024 ? 0 : within;
}

/* Smith's method: the divisor's larger part is divided out first. Where that
   is the imaginary one, both are multiplied by -i before. A divisor of 0
   divides each part. R. L. Smith, CACM 5 (1962), Algorithm 116. */
EW_INLINE struct ew_c128 smith(struct ew_c128 x, struct ew_c128 y, bool zero)
{
    bool turn = fabs(y.re) < fabs(y.im);
    double large = turn ? y.im : y.re, small = turn ? -y.re : y.im;
    double re = turn ? x.im : x.re, im = turn ? -x.re : x.im;
    double ratio = small / large;
    double whole = large + EW_ROUNDED(small * ratio);
    double more = EW_ROUNDED(im * ratio), less = EW_ROUNDED(re * ratio);
    double above = zero ? re : re + more, beside = zero ? im : im - less;
    double below = zero ? 0 : whole;
    return (struct ew_c128){above / below, beside / below};
}

/* Both operands are brought near 1 by powers of two, so that only a quotient
   that is itself too large or too small overflows or underflows. Its exponent
   may take two steps, of which the last one rounds. */
EW_INLINE struct ew_c128 divide_c128(struct ew_c128 x, struct ew_c128 y)
{
    int64_t ex = exponent(x), ey = exponent(y);
    int64_t half = (int64_t)((uint64_t)(ex - ey + 4096) >> 1) - 2048;
    bool zero = (y.re == 0) & (y.im == 0);
    struct ew_c128 near = smith(scale(x, -ex), scale(y, -ey), zero);
    return scale(scale(near, half), ex - ey - half);
}

EW_INLINE double larger_part(struct ew_c128 z)
{
    double re = fabs(z.re), im = fabs(z.im);
    return re > im ? re : im;
}

/* Where both operands are far from the ends of the range, scaling them would
   change nothing; else *odd is set. */
EW_INLINE struct ew_c128 fast_divide_c128(struct ew_c128 x, struct ew_c128 y,
                                          double *odd)
{
    const double least = 0x1p-300, most = 0x1p300;
    double above = larger_part(x), below = larger_part(y);
    bool even = above < most && below < most && below > least &&
                (above > least || above == 0);
    *odd = even ? 0 : 1;
    return smith(x, y, false);
}

/* x conj(y) / |y|^2; in double nothing overflows or underflows for the range
   of float. Zeros, infinities and NaN in y are c128's matter. */
EW_INLINE struct ew_c64 fast_divide_c64(struct ew_c64 x, struct ew_c64 y,
                                        double *odd)
{
    double xr = x.re, xi = x.im, yr = y.re, yi = y.im;
    double square = yr * yr + yi * yi, inverse = 1 / square;
    *odd = square > 0 && square < INFINITY ? 0 : 1;
    return (struct ew_c64){(float)((xr * yr + xi * yi) * inverse),
                           (float)((xi * yr - xr * yi) * inverse)};
}

EW_INLINE struct ew_c64 divide_c64(struct ew_c64 x, struct ew_c64 y)
{
    struct ew_c128 q =
        divide_c128((struct ew_c128){x.re, x.im}, (struct ew_c128){y.re, y.im});
    return (struct ew_c64){(float)q.re, (float)q.im};
}

/* log |x| of a c64, whose squares are exact in double; near 1, where their sum
   cancels, from what is above 1. */
EW_INLINE double log_magnitude(double re, double im)
{
    double square = re * re + im * im;
    if (square > 0.5 && square < 2)
        return 0.5 * log1p((re - 1) * (re + 1) + im * im);
    return 0.5 * log(square);
}

/* exp(y log x) of numbers as most are: without what clog and cexp take care of
   at the ends of the range of double. False leaves it to them. */
EW_INLINE bool usual_power_c64(struct ew_c64 x, struct ew_c64 y,
                               struct ew_c64 *power)
{
    double re = fabs((double)x.re), angle = atan2(x.im, x.re);
    double log = log_magnitude(re, x.im);
    double size = log * y.re - angle * y.im, turn = log * y.im + angle * y.re;
    if (!(fabs(size) < 700 && fabs(turn) < 0x1p60))
        return false;
    double scale = exp(size);
    *power =
        (struct ew_c64){(float)(scale * cos(turn)), (float)(scale * sin(turn))};
    return true;
}

/* c128 needs a wider logarithm. */
EW_INLINE bool usual_power_c128(struct ew_c128 x, struct ew_c128 y,
                                struct ew_c128 *power)
{
    (void)x;
    (void)y;
    (void)power;
    return false;
}

#define T struct ew_c64
#define R float
#define WIDE double
#define NAME(x) x##_c64
#define CW(f) f
#include "complex.inc"

#define T struct ew_c128
#define R double
#define WIDE long double
#define NAME(x) x##_c128
#define CW(fn) fn##l
#include "complex.inc"

const ew_kernel_row *const EW_CONCAT(ew_complex, EW_LEVEL)[2] = {&row_c64,
                                                                 &row_c128};
