/*
 * Powers by small whole exponents, by products in rows, so that they become
 * vectors whatever the exponents are:
 *
 *     y -> bits of the exponent
 *     p = 1; for all bits, from the first: p = p^2, then p x where it is set
 *
 * in double for c64, in pairs of doubles (pair.h) for c128. What may overflow,
 * underflow or is not finite is left to others.
 */
#ifndef EW_COMPLEX_POWER_WHOLE_H
#define EW_COMPLEX_POWER_WHOLE_H

#include "complex_power_c64.h"

enum { EW_WHOLE_DIGITS = 7, EW_WHOLE_MOST = (1 << EW_WHOLE_DIGITS) - 1 };

/* The powers of a row. A low part may have more than half a last place of its
   high one, as sums are left as they fall. */
struct ew_wholes {
    double re[EW_BLOCKS], im[EW_BLOCKS];
    double re_low[EW_BLOCKS], im_low[EW_BLOCKS]; /* of c128 alone */
    double odd[EW_BLOCKS];                       /* 1: none was made */
    uint64_t by[EW_BLOCKS]; /* the exponent's bits, below others; or 0 */
};

/* Is re + i im such an exponent? Its bits are then the last ones of *sum. c64
   is compared in double, too, so that masks are of one width. */
EW_INLINE bool ew_whole_is(double re, double im, double *sum)
{
    const double least = 0x1p52, most = least + EW_WHOLE_MOST;
    *sum = re + least;
    double off = fabs(re - (*sum - least)) + fabs(im);
    return (*sum >= least) & (*sum <= most) & (off == 0);
}

/* Whether a number > 2^52 has this bit. Not every level compares integers of 64
   bits. */
EW_INLINE bool ew_whole_has(uint64_t by, uint64_t bit)
{
    return from_bits_f64(by & (bits_f64(0x1p52) | bit)) > 0x1p52;
}

/* a, or b if odd is 1. In bits, as compilers turn a choice of what is in memory
   into one of addresses. */
EW_INLINE double ew_whole_or(double odd, double a, double b)
{
    uint64_t mask = -(bits_f64(odd) >> 52 & 1);
    return from_bits_f64((bits_f64(a) & ~mask) | (bits_f64(b) & mask));
}

/* Puts those that are not odd among other powers of the same elements. */
EW_INLINE void ew_whole_merge(int64_t n, const struct ew_wholes *p,
                              struct ew_powers *to)
{
    for (int64_t i = 0; i < n; i++) {
        to->re[i] = ew_whole_or(p->odd[i], p->re[i], to->re[i]);
        to->im[i] = ew_whole_or(p->odd[i], p->im[i], to->im[i]);
        to->odd[i] = ew_whole_or(p->odd[i], 0, to->odd[i]);
    }
}

/* p = p^2. As a product, the real part is 0 if |a| = |b|; a fused
   a^2 - b^2 would leave what b^2 was rounded by. */
EW_INLINE void ew_whole_square_c64(int64_t i, struct ew_wholes *p)
{
    double a = p->re[i], b = p->im[i];
    p->re[i] = (a - b) * (a + b);
    p->im[i] = 2 * a * b;
}

/* p = p x of x = c + di; by 1 it stays as it is. */
EW_INLINE void ew_whole_times_c64(int64_t i, double c, double d,
                                  struct ew_wholes *p)
{
    double a = p->re[i], b = p->im[i];
    p->re[i] = EW_MULTIPLY_ADD(a, c, -(b * d));
    p->im[i] = EW_MULTIPLY_ADD(a, d, b * c);
}

/* a + b, which may cancel. */
EW_INLINE struct ew_pair ew_whole_sum(struct ew_pair a, struct ew_pair b)
{
    struct ew_pair sum = ew_pair_sum_any(a.high, b.high);
    sum.low += a.low + b.low;
    return sum;
}

/* a b of a double and a pair. */
EW_INLINE struct ew_pair ew_whole_product(double a, struct ew_pair b)
{
    struct ew_pair c = ew_pair_product(a, b.high);
    c.low = EW_MULTIPLY_ADD(a, b.low, c.low);
    return c;
}

EW_INLINE void ew_whole_square_c128(int64_t i, struct ew_wholes *p)
{
    double a = p->re[i], b = p->im[i], twice = 2 * a;
    double a_low = p->re_low[i], b_low = p->im_low[i];
    struct ew_pair first = ew_pair_product(a, a);
    struct ew_pair second = ew_pair_product(-b, b);
    first.low = EW_MULTIPLY_ADD(twice, a_low, first.low);
    second.low = EW_MULTIPLY_ADD(-2 * b, b_low, second.low);
    struct ew_pair re = ew_whole_sum(first, second);
    struct ew_pair im = ew_pair_product(twice, b);
    im.low = EW_MULTIPLY_ADD(twice, b_low, im.low);
    im.low = EW_MULTIPLY_ADD(2 * b, a_low, im.low);
    p->re[i] = re.high;
    p->re_low[i] = re.low;
    p->im[i] = im.high;
    p->im_low[i] = im.low;
}

EW_INLINE void ew_whole_times_c128(int64_t i, double c, double d,
                                   struct ew_wholes *p)
{
    struct ew_pair a = {p->re[i], p->re_low[i]};
    struct ew_pair b = {p->im[i], p->im_low[i]};
    struct ew_pair re =
        ew_whole_sum(ew_whole_product(c, a), ew_whole_product(-d, b));
    struct ew_pair im =
        ew_whole_sum(ew_whole_product(d, a), ew_whole_product(c, b));
    p->re[i] = re.high;
    p->re_low[i] = re.low;
    p->im[i] = im.high;
    p->im_low[i] = im.low;
}

#endif
