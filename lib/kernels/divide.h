/*
 * Turns integer division into vector code. An unsigned x / y of any two
 * numbers goes through floating point and is exact; the quotients of a block
 * by one divisor are products with a multiplier that is found once.
 */
#ifndef EW_DIVIDE_H
#define EW_DIVIDE_H

#include <math.h>

#include "block.h"
#include "wide.h"

/* 24 bits hold x, y and their quotient, and tell every quotient below an
   integer from that integer: truncation is exact. y > 0 here and below. */
EW_INLINE uint32_t ew_divide_16(uint32_t x, uint32_t y)
{
    return (uint32_t)(int32_t)((float)(int32_t)x / (float)(int32_t)y);
}

/* Bits of numbers that have room for all steps in double, and of those whose
   quotients by each other f32 tells from integers. */
enum { EW_DIVIDE_SMALL = 49, EW_DIVIDE_NARROW = 24 };

/* The nearest integer, |x| < 2^51. */
EW_INLINE uint64_t ew_divide_nearest(double x)
{
    return bits_f64(x + 0x1.8p52) - bits_f64(0x1.8p52);
}

/* A small one as a double. */
EW_INLINE double ew_divide_from_small(uint64_t n)
{
#if defined(__AVX512DQ__)
    return (double)(int64_t)n;
#else
    return from_bits_f64(n + bits_f64(0x1.8p52)) - 0x1.8p52;
#endif
}

/* An integer back. */
EW_INLINE uint64_t ew_divide_to_small(double x)
{
#if defined(__AVX512DQ__)
    return (uint64_t)(int64_t)x;
#else
    return ew_divide_nearest(x);
#endif
}

#if defined(__AVX512BW__)
/* The first bytes of a line, at most all, beyond which are zeros. */
EW_INLINE void ew_divide_get(int64_t bytes, const void *from, void *to)
{
    _mm512_storeu_si512(to,
                        _mm512_maskz_loadu_epi8(ew_loop_first(bytes), from));
}

EW_INLINE void ew_divide_put(int64_t bytes, const void *from, void *to)
{
    _mm512_mask_storeu_epi8(to, ew_loop_first(bytes), _mm512_loadu_si512(from));
}

/* A part of one, of which no more is read either. */
EW_INLINE void ew_divide_put_part(int64_t bytes, const void *from, void *to)
{
    const uint64_t some = ew_loop_first((int)bytes);
    _mm512_mask_storeu_epi8(to, some, _mm512_maskz_loadu_epi8(some, from));
}
#else
EW_INLINE void ew_divide_put_part(int64_t bytes, const void *from, void *to)
{
    memcpy(to, from, (size_t)bytes);
}
#endif

enum ew_divide_way {
    EW_DIVIDE_ANY,
    EW_DIVIDE_BY_ONE, /* by the same number, with its inverse */
    EW_DIVIDE_QUICKLY /* by any, with divisions, where these are quick */
};

#if defined(__AVX512DQ__)
/* Numbers of 32 bits at even or at odd places as double, and quotients back,
   by way of 64 bits, whose conversions are single steps. What has to wrap, as
   -2^31 / -1, does. */
EW_INLINE __m512d ew_divide_widen(__m512i n, bool odd, bool is_signed)
{
    if (!odd)
        n = _mm512_slli_epi64(n, 32);
    return _mm512_cvtepi64_pd(is_signed ? _mm512_srai_epi64(n, 32)
                                        : _mm512_srli_epi64(n, 32));
}

/* Quotients of what double holds, truncated or rounded down: it tells one
   beside an integer from that integer. */
EW_INLINE __m512i ew_divide_whole(__m512d x, __m512d y, bool down)
{
    __m512d q = _mm512_div_pd(x, y);
    return down ? _mm512_cvt_roundpd_epi64(q, _MM_FROUND_TO_NEG_INF |
                                                  _MM_FROUND_NO_EXC)
                : _mm512_cvttpd_epi64(q);
}

/* Sixteen quotients, or what they leave, each by a division of its own. */
EW_INLINE __m512i ew_divide_quickly_32(__m512i x, __m512i y, bool is_signed,
                                       bool floors, bool rest)
{
    const bool down = floors && is_signed;
    y = _mm512_mask_mov_epi32(y, _mm512_testn_epi32_mask(y, y),
                              _mm512_set1_epi32(1));
    __m512i even = ew_divide_whole(ew_divide_widen(x, false, is_signed),
                                   ew_divide_widen(y, false, is_signed), down);
    __m512i odd = ew_divide_whole(ew_divide_widen(x, true, is_signed),
                                  ew_divide_widen(y, true, is_signed), down);
    __m512i q = _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA);
    return rest ? _mm512_sub_epi32(x, _mm512_mullo_epi32(q, y)) : q;
}

/* Eight of small ones. */
EW_INLINE __m512i ew_divide_quickly_64(__m512i x, __m512i y, bool is_signed,
                                       bool floors, bool rest)
{
    y = _mm512_mask_mov_epi64(y, _mm512_testn_epi64_mask(y, y),
                              _mm512_set1_epi64(1));
    __m512i q = ew_divide_whole(_mm512_cvtepi64_pd(x), _mm512_cvtepi64_pd(y),
                                floors && is_signed);
    return rest ? _mm512_sub_epi64(x, _mm512_mullo_epi64(q, y)) : q;
}
#endif

#if defined(__AVX2__)
#if defined(__AVX512F__)
/* By two quotients, of x and of what that leaves of it, which are never too
   large: the inverse is less than 1 / y by more than all steps are rounded by.
   The second one is at most 2^12, and misses 1 at most. */
EW_INLINE uint32_t ew_divide_32(uint32_t x, uint32_t y)
{
    float inverse = (1 - 0x1p-21f) / (float)y;
    uint32_t q = (uint32_t)((float)x * inverse), rest = x - q * y;
    uint32_t more = (uint32_t)((float)rest * inverse);
    return q + more + (rest - more * y >= y);
}
#else
/* As with 16 bits, in double. Through 2^52 there and back: not every level has
   the conversions of unsigned integers. */
EW_INLINE uint32_t ew_divide_32(uint32_t x, uint32_t y)
{
    double q = (double_on_52(x) - 0x1p52) / (double_on_52(y) - 0x1p52);
    return (uint32_t)bits_f64(floor(q) + 0x1p52);
}
#endif

/* An integer within 1 of x, 0 <= x <= 2^64, modulo 2^64. */
EW_INLINE uint64_t ew_divide_to_u64(double x)
{
    double high = x * 0x1p-32 + 0x1p52;
    double low = x - (high - 0x1p52) * 0x1p32;
    return (bits_f64(high) << 32) + ew_divide_nearest(low);
}

/*
 * A first quotient by the reciprocal is wrong by less than 2^14, and what
 * remains is a signed 64-bit number. The nearest integer to the quotient of
 * that leaves a remainder between -y and y, for which y < 2^63 has the sign
 * bit free; beyond, the quotient is 0 or 1.
 */
EW_INLINE uint64_t ew_divide_64(uint64_t x, uint64_t y)
{
    double inverse = 1 / double_from_u64(y);
    uint64_t q = ew_divide_to_u64(double_from_u64(x) * inverse);
    uint64_t rest = x - q * y;
    uint64_t more = ew_divide_nearest(double_from_i64((int64_t)rest) * inverse);
    rest -= more * y;
    return y >> 63 ? x >= y : q + more - (rest >> 63);
}
#else
/* Vectors of this level lack what that takes. */
EW_INLINE uint32_t ew_divide_32(uint32_t x, uint32_t y)
{
    return x / y;
}

EW_INLINE uint64_t ew_divide_64(uint64_t x, uint64_t y)
{
    return x / y;
}
#endif

/*
 * A divisor d of `bits` bits as a multiplier and two shifts:
 *
 *     high = x * multiplier >> bits
 *     x / d = (high + ((x - high) >> first)) >> second
 *
 * T. Granlund, P. L. Montgomery, Division by Invariant Integers using
 * Multiplication, PLDI 1994, figure 4.1.
 */
struct ew_divisor {
    uint64_t multiplier;
    unsigned first, second;
};

/* floor(2^bits (2^l - d) / d) + 1 with 2^l the first power from d on, digit by
   digit: it does not fit a division. */
EW_INLINE struct ew_divisor ew_divide_prepare(uint64_t d, int bits)
{
    unsigned l = 0;
    while (l < 64 && (uint64_t)1 << l < d)
        l++;
    uint64_t rest = (l < 64 ? (uint64_t)1 << l : 0) - d, quotient = 0;
    for (int i = 0; i < bits; i++) {
        bool one = rest >> 63 || 2 * rest >= d;
        rest = 2 * rest - (one ? d : 0);
        quotient = 2 * quotient + one;
    }
    return (struct ew_divisor){quotient + 1, l > 0, l > 0 ? l - 1 : 0};
}

/*
 * What blocks of quotients by one divisor (int_divisor.inc) are made of, in
 * vectors: compilers have no product of 32-bit halves, and widen a shift of 16
 * bits.
 */
enum { EW_DIVIDE_BLOCK = 64, EW_DIVIDE_BLOCKS = 16 };

/* Elements of a call that are divided one by one, as vectors have to be set
   up. */
enum { EW_DIVIDE_FEW = 2 };

/* Bytes of a row that asks for lines of x and y. */
enum { EW_DIVIDE_ASKED = 4 << 10 };

/* Behind a block that is not narrow, blocks are asked again from the next
   multiple of so many elements on. */
enum { EW_DIVIDE_WIDE_RUN = 512 };

#if defined(__SSE2__)
#if defined(__AVX512F__)
enum { EW_DIVIDE_VECTOR = 64 };
#define EW_DIVIDE_X86(f, x, y) _mm512_##f((__m512i)(x), (__m512i)(y))
#define EW_DIVIDE_X86_BY(f, x, n) _mm512_##f((__m512i)(x), n)
#elif defined(__AVX2__)
enum { EW_DIVIDE_VECTOR = 32 };
#define EW_DIVIDE_X86(f, x, y) _mm256_##f((__m256i)(x), (__m256i)(y))
#define EW_DIVIDE_X86_BY(f, x, n) _mm256_##f((__m256i)(x), n)
#else
enum { EW_DIVIDE_VECTOR = 16 };
#define EW_DIVIDE_X86(f, x, y) _mm_##f((__m128i)(x), (__m128i)(y))
#define EW_DIVIDE_X86_BY(f, x, n) _mm_##f((__m128i)(x), n)
#endif
typedef uint16_t ew_vector_16 __attribute__((vector_size(EW_DIVIDE_VECTOR)));
typedef uint32_t ew_vector_32 __attribute__((vector_size(EW_DIVIDE_VECTOR)));
typedef uint64_t ew_vector_64 __attribute__((vector_size(EW_DIVIDE_VECTOR)));

#if defined(__AVX2__)
EW_INLINE bool ew_divide_is_none(ew_vector_64 v)
{
#if defined(__AVX512F__)
    return !_mm512_test_epi64_mask((__m512i)v, (__m512i)v);
#else
    return _mm256_testz_si256((__m256i)v, (__m256i)v);
#endif
}
#endif

EW_INLINE void ew_divide_repeat(uint64_t word, void *to)
{
    ew_vector_64 v = (ew_vector_64){0} + word;
    memcpy(to, &v, sizeof v);
}

EW_INLINE ew_vector_16 ew_divide_high_16(ew_vector_16 x, uint16_t m)
{
    return (ew_vector_16)EW_DIVIDE_X86(mulhi_epu16, x, (ew_vector_16){0} + m);
}

/* The low halves of both, multiplied. */
EW_INLINE ew_vector_64 ew_divide_product(ew_vector_64 x, ew_vector_64 y)
{
    return (ew_vector_64)EW_DIVIDE_X86(mul_epu32, x, y);
}

/* The high halves, for which a shuffle is free where a shift would wait for the
   multiplications. */
EW_INLINE ew_vector_64 ew_divide_high_halves(ew_vector_64 x)
{
    return (ew_vector_64)EW_DIVIDE_X86_BY(shuffle_epi32, x, 0xf5);
}

EW_INLINE ew_vector_32 ew_divide_high_32(ew_vector_32 x, uint32_t m)
{
    const uint64_t high = 0xffffffff00000000;
    ew_vector_64 pairs = (ew_vector_64)x, factor = (ew_vector_64){0} + m;
    ew_vector_64 even = ew_divide_high_halves(ew_divide_product(pairs, factor));
    ew_vector_64 odd = ew_divide_product(ew_divide_high_halves(pairs), factor);
    return (ew_vector_32)((even & ~high) | (odd & high));
}

/* As on paper, in digits of 32 bits. */
EW_INLINE ew_vector_64 ew_divide_high_64(ew_vector_64 x, uint64_t m)
{
    ew_vector_64 m0 = (ew_vector_64){0} + m, m1 = m0 >> 32, x1 = x >> 32;
    ew_vector_64 middle =
        ew_divide_product(x1, m0) + (ew_divide_product(x, m0) >> 32);
    ew_vector_64 other = ew_divide_product(x, m1) + (middle & 0xffffffff);
    return ew_divide_product(x1, m1) + (middle >> 32) + (other >> 32);
}
#else
enum { EW_DIVIDE_VECTOR = 16 };
typedef uint16_t ew_vector_16;
typedef uint32_t ew_vector_32;
typedef uint64_t ew_vector_64;

EW_INLINE void ew_divide_repeat(uint64_t word, void *to)
{
    for (int i = 0; i < EW_DIVIDE_VECTOR; i += (int)sizeof word)
        memcpy((char *)to + i, &word, sizeof word);
}

EW_INLINE uint16_t ew_divide_high_16(uint16_t x, uint16_t m)
{
    return (uint16_t)((uint32_t)x * m >> 16);
}

EW_INLINE uint32_t ew_divide_high_32(uint32_t x, uint32_t m)
{
    return (uint32_t)((uint64_t)x * m >> 32);
}

EW_INLINE uint64_t ew_divide_high_64(uint64_t x, uint64_t m)
{
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, m0 = (uint32_t)m, m1 = m >> 32;
    uint64_t middle = x1 * m0 + (x0 * m0 >> 32);
    uint64_t other = x0 * m1 + (uint32_t)middle;
    return x1 * m1 + (middle >> 32) + (other >> 32);
}
#endif

/* v >> n by one shift of each lane, which is one step where a shift of all is
   two. */
#if defined(__AVX2__)
#define EW_DIVIDE_SHIFT_64(v, n)                                               \
    (ew_vector_64) EW_DIVIDE_X86(srlv_epi64, v, (ew_vector_64){0} + (n))
#define EW_DIVIDE_SHIFT_32(v, n)                                               \
    (ew_vector_32) EW_DIVIDE_X86(srlv_epi32, v, (ew_vector_32){0} + (n))
#else
#define EW_DIVIDE_SHIFT_64(v, n) ((v) >> (n))
#define EW_DIVIDE_SHIFT_32(v, n) ((v) >> (n))
#endif
#define EW_DIVIDE_SHIFT_16(v, n) ((v) >> (n))

#endif
