/*
 * Turns f16 and bf16 into f32 and back, with one rounding to nearest even, and
 * f64 and integers into f32 that rounds on as they would. Without branches, so
 * that loops of them become vectors; subnormals are rounded by the addition of
 * a number whose ULP is theirs. Between f16 and f32 there are also blocks, for
 * processors that convert vectors.
 */
#ifndef EW_HALF_H
#define EW_HALF_H

#include <math.h>

#include "bits.h"

/* The exponent moves up by 112: a multiplication does it for subnormals too.
   Infinity and NaN get the largest exponent. */
EW_INLINE float ew_half_from_f16(struct ew_f16 h)
{
    uint32_t magnitude = (uint32_t)(h.bits & 0x7fff) << 13;
    uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16;
    uint32_t finite = bits_f32(from_bits_f32(magnitude) * 0x1p112f);
    uint32_t other = magnitude | 0x7f800000;
    return from_bits_f32((magnitude >= 0x0f800000 ? other : finite) | sign);
}

EW_INLINE float ew_half_from_bf16(struct ew_bf16 h)
{
    return from_bits_f32((uint32_t)h.bits << 16);
}

/* From 65520 on f16 is infinite; 2^-14 is its smallest normal
   number; 0.5 has the ULP of its subnormals, 2^-24. */
EW_INLINE struct ew_f16 ew_half_f16_from_f32(float x)
{
    uint32_t sign = bits_f32(x) & 0x80000000;
    uint32_t b = bits_f32(x) ^ sign;
    uint32_t even = (b >> 13) & 1;
    uint32_t normal = (b - (112u << 23) + 0xfff + even) >> 13;
    uint32_t small = bits_f32(from_bits_f32(b) + 0.5f) - 0x3f000000;
    uint32_t large = b > 0x7f800000 ? 0x7e00 : 0x7c00;
    uint32_t h = b < 0x38800000 ? small : normal;
    h = b >= 0x477ff000 ? large : h;
    return (struct ew_f16){(uint16_t)(h | sign >> 16)};
}

/* bf16 has the exponents of f32, so subnormals round like all others. A NaN
   that arithmetic makes of bf16 is quiet and ends in zeros, which round to
   themselves. */
EW_INLINE struct ew_bf16 ew_half_bf16_from_result(float x)
{
    uint32_t b = bits_f32(x);
    return (struct ew_bf16){(uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16)};
}

/* Any other NaN is made quiet and cut. */
EW_INLINE struct ew_bf16 ew_half_bf16_from_f32(float x)
{
    uint32_t b = bits_f32(x);
    uint32_t rounded = ew_half_bf16_from_result(x).bits, nan = b >> 16 | 0x40;
    bool is_nan = (b & 0x7fffffff) > 0x7f800000;
    return (struct ew_bf16){(uint16_t)(is_nan ? nan : rounded)};
}

enum { EW_HALF_BLOCK = 16 };

#if defined(__F16C__)
/* Processors convert f16, which compilers do not use for vectors. These take
   a block of dense elements at any address; the numbers are those of the
   functions above, and so are the NaN but for their payloads. */

EW_INLINE void ew_half_widen_f16(const void *x, void *to)
{
#if defined(__AVX512F__)
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(x)));
#else
    const __m128i *half = x;
    float *wide = to;
    _mm256_storeu_ps(wide, _mm256_cvtph_ps(_mm_loadu_si128(half)));
    _mm256_storeu_ps(wide + 8, _mm256_cvtph_ps(_mm_loadu_si128(half + 1)));
#endif
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
/* All elements of a block, or those of a mask alone, with ones beside them. */
EW_INLINE void ew_half_widen_f16_some(const void *x, bool all, __mmask16 some,
                                      void *to)
{
    const __m256i ones = _mm256_set1_epi16(0x3c00);
    __m256i v =
        all ? _mm256_loadu_si256(x) : _mm256_mask_loadu_epi16(ones, some, x);
    _mm512_storeu_ps(to, _mm512_cvtph_ps(v));
}

/* A block that is half a line, past the caches. */
EW_INLINE void ew_half_narrow_f16_past(const void *x, void *to)
{
    __m256i v = _mm512_cvtps_ph(_mm512_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT);
    _mm256_stream_si256(to, v);
}

EW_INLINE void ew_half_narrow_f16_some(const void *x, bool all, __mmask16 some,
                                       void *to)
{
    __m256i v = _mm512_cvtps_ph(_mm512_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT);
    if (all)
        _mm256_storeu_si256(to, v);
    else
        _mm256_mask_storeu_epi16(to, some, v);
}
#endif

EW_INLINE void ew_half_narrow_f16(const void *x, void *to)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT };
#if defined(__AVX512F__)
    _mm256_storeu_si256(to, _mm512_cvtps_ph(_mm512_loadu_ps(x), NEAREST));
#else
    const float *wide = x;
    __m128i *half = to;
    _mm_storeu_si128(half, _mm256_cvtps_ph(_mm256_loadu_ps(wide), NEAREST));
    _mm_storeu_si128(half + 1,
                     _mm256_cvtps_ph(_mm256_loadu_ps(wide + 8), NEAREST));
#endif
}

enum { EW_HALF_LINE = 64 / sizeof(uint16_t) };

/* Lines of halves from f32. In vectors as long as those that the line is stored
   by: a load of what two stores wrote waits for both. */
EW_INLINE void ew_half_narrow_f16_line(const float *x, struct ew_f16 *to)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT };
#if defined(__AVX512F__)
    __m256i low = _mm512_cvtps_ph(_mm512_loadu_ps(x), NEAREST);
    __m256i high = _mm512_cvtps_ph(_mm512_loadu_ps(x + 16), NEAREST);
    _mm512_storeu_si512(
        to, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
#else
    for (int i = 0; i < EW_HALF_LINE; i += 16) {
        __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), NEAREST);
        __m128i high = _mm256_cvtps_ph(_mm256_loadu_ps(x + i + 8), NEAREST);
        _mm256_storeu_si256((__m256i *)(void *)(to + i),
                            _mm256_set_m128i(high, low));
    }
#endif
}

/* With one NaN for all. On AVX-512 one instruction makes it, by what is to
   become of each kind of number, and bits are tested rather than moved. */
#if defined(__AVX512F__)
EW_INLINE __m512i ew_half_rounded_bf16(const float *x)
{
    const __m512i one_nan = _mm512_set1_epi32(0x11111133);
    __m512 v = _mm512_loadu_ps(x);
    __m512i b = (__m512i)_mm512_fixupimm_ps(v, v, one_nan, 0);
    __mmask16 odd = _mm512_test_epi32_mask(b, _mm512_set1_epi32(0x10000));
    __m512i up = _mm512_add_epi32(b, _mm512_set1_epi32(0x7fff));
    return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
}

EW_INLINE void ew_half_narrow_bf16_line(const float *x, struct ew_bf16 *to)
{
    const __m512i upper = _mm512_set_epi16(
        63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29,
        27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    __m512i low = ew_half_rounded_bf16(x), high = ew_half_rounded_bf16(x + 16);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(low, upper, high));
}
#else
EW_INLINE void ew_half_narrow_bf16_line(const float *x, struct ew_bf16 *to)
{
    for (int i = 0; i < EW_HALF_LINE; i++)
        to[i] = ew_half_bf16_from_result(x[i] == x[i] ? x[i] : NAN);
}
#endif

EW_INLINE void ew_half_widen_bf16(const struct ew_bf16 *x, float *to)
{
#if defined(__AVX512F__)
    __m512i v = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)x));
    _mm512_storeu_si512(to, _mm512_slli_epi32(v, 16));
#else
    for (int i = 0; i < EW_HALF_BLOCK; i++)
        to[i] = ew_half_from_bf16(x[i]);
#endif
}
#endif

/* Other numbers are rounded through f32. What that cannot hold is gathered in
   the last digit that is kept ("round to odd"), so that the next rounding goes
   where it would without the first. */
EW_INLINE uint32_t ew_half_gathered_32(uint32_t n, uint32_t low)
{
    return (n | ((n & low) + low)) & ~low;
}

EW_INLINE uint64_t ew_half_gathered_64(uint64_t n, uint64_t low)
{
    return (n | ((n & low) + low)) & ~low;
}

/* 14 digits are enough for f16, and few enough for f32 to hold them where bf16
   does not round to 0. */
EW_INLINE float ew_half_odd_f64(double x)
{
    const uint64_t low = ((uint64_t)1 << 39) - 1;
    return (float)from_bits_f64(ew_half_gathered_64(bits_f64(x), low));
}

/* Of integers with more digits than a float of their size has, 24 or 53. */
EW_INLINE float ew_half_odd_i32(int32_t n)
{
    const uint32_t low = n >> 24 == n >> 31 ? 0 : 0xff;
    return (float)(int32_t)ew_half_gathered_32((uint32_t)n, low);
}

EW_INLINE float ew_half_odd_u32(uint32_t n)
{
    return (float)ew_half_gathered_32(n, n >> 24 ? 0xff : 0);
}

EW_INLINE float ew_half_odd_i64(int64_t i)
{
    const uint64_t n = (uint64_t)i, more = (n + ((uint64_t)1 << 53)) >> 54;
    const uint64_t kept = ew_half_gathered_64(n, more ? 0x7ff : 0);
    return ew_half_odd_f64(double_from_i64((int64_t)kept));
}

EW_INLINE float ew_half_odd_u64(uint64_t n)
{
    const uint64_t kept = ew_half_gathered_64(n, n >> 53 ? 0x7ff : 0);
    return ew_half_odd_f64(double_from_u64(kept));
}

#endif
