/*
 * Turns division of bytes by bytes into products with inverses, of which there
 * are no more than a table holds:
 *
 *     n / d = (n + 1) (65535 / d) >> 16      for n, d <= 255
 *
 * Where bytes can be shuffled, the table stands in registers, and the inverses
 * of 64 divisors are looked up at a time.
 */
#ifndef EW_DIVIDE_BYTES_H
#define EW_DIVIDE_BYTES_H

#include "loop.h"

/* 0 counts as 1. */
#define EW_INVERSE(d) (uint16_t)(65535 / ((d) ? (d) : 1))
#define EW_LOW(d) (uint8_t) EW_INVERSE(d)
#define EW_HIGH(d) (uint8_t)(EW_INVERSE(d) >> 8)
#define EW_4(f, d) f(d), f((d) + 1), f((d) + 2), f((d) + 3)
#define EW_16(f, d)                                                            \
    EW_4(f, d), EW_4(f, (d) + 4), EW_4(f, (d) + 8), EW_4(f, (d) + 12)
#define EW_64(f, d)                                                            \
    EW_16(f, d), EW_16(f, (d) + 16), EW_16(f, (d) + 32), EW_16(f, (d) + 48)
#define EW_256(f) EW_64(f, 0), EW_64(f, 64), EW_64(f, 128), EW_64(f, 192)
static const uint16_t ew_bytes_inverses[256] = {EW_256(EW_INVERSE)};

#if defined(EW_VBMI)
/* The same in bytes. */
static const uint8_t ew_bytes_low[256] = {EW_256(EW_LOW)},
                     ew_bytes_high[256] = {EW_256(EW_HIGH)};

EW_VBMI EW_INLINE __m512i ew_bytes_find(const uint8_t table[256], __m512i d)
{
    __m512i at[4];
    EW_UNROLLED
    for (int i = 0; i < 4; i++)
        at[i] = _mm512_loadu_si512(table + i * EW_LINE);
    __m512i below = _mm512_permutex2var_epi8(at[0], d, at[1]);
    __m512i above = _mm512_permutex2var_epi8(at[2], d, at[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(d), below, above);
}

/* The inverses of the lower and of the upper byte of each 16-bit word. */
struct ew_bytes_inverse {
    __m512i low, high;
};

EW_VBMI EW_INLINE struct ew_bytes_inverse ew_bytes_inverse(__m512i d)
{
    const __m512i upper = _mm512_set1_epi16((short)0xff00);
    __m512i low = ew_bytes_find(ew_bytes_low, d);
    __m512i high = ew_bytes_find(ew_bytes_high, d);
    return (struct ew_bytes_inverse){
        _mm512_or_si512(_mm512_andnot_si512(upper, low),
                        _mm512_slli_epi16(high, 8)),
        _mm512_or_si512(_mm512_srli_epi16(low, 8),
                        _mm512_and_si512(high, upper))};
}

/* Quotients of unsigned bytes. The upper byte of a word is that of
   256 (n + 1) - 1 times its inverse. */
EW_INLINE __m512i ew_bytes_divide(__m512i n, struct ew_bytes_inverse by)
{
    const __m512i lower = _mm512_set1_epi16(0xff);
    __m512i low = _mm512_and_si512(n, lower);
    low = _mm512_add_epi16(low, _mm512_set1_epi16(1));
    low = _mm512_mulhi_epu16(low, by.low);
    __m512i high = _mm512_mulhi_epu16(_mm512_or_si512(n, lower), by.high);
    return _mm512_or_si512(low, _mm512_andnot_si512(lower, high));
}

/* Products of bytes, modulo 256. */
EW_INLINE __m512i ew_bytes_multiply(__m512i x, __m512i y)
{
    const __m512i upper = _mm512_set1_epi16((short)0xff00);
    __m512i low = _mm512_mullo_epi16(x, y);
    __m512i high =
        _mm512_mullo_epi16(_mm512_srli_epi16(x, 8), _mm512_and_si512(y, upper));
    return _mm512_or_si512(_mm512_andnot_si512(upper, low), high);
}

/* The same of signed ones, by the inverses of |y|, as in int_divide.inc: what
   is rounded down and negative is ~ of the quotient of one less. */
EW_INLINE __m512i ew_bytes_signed(__m512i x, __m512i y,
                                  struct ew_bytes_inverse by, bool floors)
{
    const __m512i ones = _mm512_set1_epi8(-1);
    if (!floors) {
        __mmask64 negative = _mm512_movepi8_mask(_mm512_xor_si512(x, y));
        __m512i q = ew_bytes_divide(_mm512_abs_epi8(x), by);
        return _mm512_mask_sub_epi8(q, negative, _mm512_setzero_si512(), q);
    }
    __mmask64 flip = _mm512_movepi8_mask(y);
    __m512i n = _mm512_mask_add_epi8(x, flip, x, ones);
    __mmask64 down = _mm512_cmplt_epi8_mask(x, _mm512_maskz_set1_epi8(flip, 1));
    n = _mm512_xor_si512(n, _mm512_movm_epi8(down));
    __m512i q = ew_bytes_divide(n, by);
    return _mm512_xor_si512(q, _mm512_movm_epi8(down ^ flip));
}
#endif

#endif
