/*
 * Quotients of complex numbers one by one, with all precautions, and those of
 * c128 by Smith's method, in blocks: what is far from 1 there, and zeros,
 * infinities and NaN as divisors, are divided again one by one.
 */
#ifndef EW_COMPLEX_DIVIDE_H
#define EW_COMPLEX_DIVIDE_H

#include "block.h"
#include "wide.h"

/* ---------------------------------------------------------------------
 * With all precautions
 */

/* 2^e, -1022 <= e <= 1023. */
EW_INLINE double power_of_two(int64_t e)
{
    return from_bits_f64((uint64_t)(e + 1023) << 52);
}

EW_INLINE struct ew_c128 scale(struct ew_c128 z, int64_t e)
{
    return (struct ew_c128){z.re * power_of_two(e), z.im * power_of_two(e)};
}

/* The exponent of the larger part, as far as its negative can scale; 0 for
   infinity and NaN. */
EW_INLINE int64_t exponent(struct ew_c128 z)
{
    int64_t re = (int64_t)(bits_f64(z.re) >> 52 & 0x7ff);
    int64_t im = (int64_t)(bits_f64(z.im) >> 52 & 0x7ff);
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
    bool zero = (y.re == 0) & (y.im == 0); /* no part of x may become one */
    int64_t ex = zero ? 0 : exponent(x), ey = zero ? 0 : exponent(y);
    int64_t half = (int64_t)((uint64_t)(ex - ey + 4096) >> 1) - 2048;
    struct ew_c128 near = smith(scale(x, -ex), scale(y, -ey), zero);
    return scale(scale(near, half), ex - ey - half);
}

static struct ew_c64 divide_c64(struct ew_c64 x, struct ew_c64 y)
{
    struct ew_c128 q =
        divide_c128((struct ew_c128){x.re, x.im}, (struct ew_c128){y.re, y.im});
    return (struct ew_c64){(float)q.re, (float)q.im};
}

/* ---------------------------------------------------------------------
 * c128
 */

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

EW_INLINE void apply_slow_div_c128(const void *x, const void *y,
                                   const void *with, void *out)
{
    (void)with;
    *(struct ew_c128 *)out =
        divide_c128(*(const struct ew_c128 *)x, *(const struct ew_c128 *)y);
}

static void compute_div_c128(int64_t n, const void *x, const void *y,
                             const void *with, void *out)
{
    (void)with;
    const struct ew_c128 *from = x, *by = y;
    struct ew_c128 made[EW_BLOCKS];
    double odd[EW_BLOCKS];
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++)
        made[i] = fast_divide_c128(from[i], by[i], &odd[i]);
    ew_block_odd(apply_slow_div_c128, n, sizeof *made, odd, x, y, made);
    memcpy(out, made, (size_t)n * sizeof *made);
}

static void div_c128(int64_t rows, int64_t cols, void *const data[],
                     const struct ew_stride s[])
{
    static const struct ew_c128 one = {1, 0};
    ew_block_all(compute_div_c128, sizeof one, &one, NULL, rows, cols, data, s);
}

#endif
