/*
 * Turns f16 and bf16 into f32, and f32, f64 and integers into them with one
 * rounding to nearest even. Without branches, so that loops of them become
 * vectors; subnormals are rounded by the addition of a number whose ULP is
 * theirs. Between f16 and f32 there are also blocks, for processors that
 * convert vectors.
 */
#ifndef EW_HALF_H
#define EW_HALF_H

#include "bits.h"

/* The exponent moves up by 112: a multiplication does it for subnormals too.
   Infinity and NaN get the largest exponent. */
static inline float ew_half_from_f16(struct ew_f16 h)
{
    uint32_t magnitude = (uint32_t)(h.bits & 0x7fff) << 13;
    uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16;
    uint32_t finite = bits_f32(from_bits_f32(magnitude) * 0x1p112f);
    uint32_t other = magnitude | 0x7f800000;
    return from_bits_f32((magnitude >= 0x0f800000 ? other : finite) | sign);
}

static inline float ew_half_from_bf16(struct ew_bf16 h)
{
    return from_bits_f32((uint32_t)h.bits << 16);
}

/* From 65520 on f16 is infinite; 2^-14 is its smallest normal
   number; 0.5 has the ULP of its subnormals, 2^-24. */
static inline struct ew_f16 ew_half_f16_from_f32(float x)
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
static inline struct ew_bf16 ew_half_bf16_from_result(float x)
{
    uint32_t b = bits_f32(x);
    return (struct ew_bf16){(uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16)};
}

/* Any other NaN is made quiet and cut. */
static inline struct ew_bf16 ew_half_bf16_from_f32(float x)
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

static inline void ew_half_widen_f16(const void *x, void *to)
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
static inline void ew_half_widen_f16_some(const void *x, bool all,
                                          __mmask16 some, void *to)
{
    const __m256i ones = _mm256_set1_epi16(0x3c00);
    __m256i v =
        all ? _mm256_loadu_si256(x) : _mm256_mask_loadu_epi16(ones, some, x);
    _mm512_storeu_ps(to, _mm512_cvtph_ps(v));
}

static inline void ew_half_narrow_f16_some(const void *x, bool all,
                                           __mmask16 some, void *to)
{
    __m256i v = _mm512_cvtps_ph(_mm512_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT);
    if (all)
        _mm256_storeu_si256(to, v);
    else
        _mm256_mask_storeu_epi16(to, some, v);
}
#endif

static inline void ew_half_narrow_f16(const void *x, void *to)
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
#endif

/* As from f32, by the bits of a double: 2^28 and 2^-81 have the ULPs of the
   subnormals, 2^-24 and 2^-133. */
static inline struct ew_f16 ew_half_f16_from_f64(double x)
{
    uint64_t sign = bits_f64(x) & 0x8000000000000000;
    uint64_t b = bits_f64(x) ^ sign;
    uint64_t even = (b >> 42) & 1;
    uint64_t normal = (b - (1008ull << 52) + 0x1ffffffffff + even) >> 42;
    uint64_t small = bits_f64(from_bits_f64(b) + 0x1p28) - bits_f64(0x1p28);
    uint64_t large = b > 0x7ff0000000000000 ? 0x7e00 : 0x7c00;
    uint64_t h = b < 0x3f10000000000000 ? small : normal;
    h = b >= 0x40effe0000000000 ? large : h;
    return (struct ew_f16){(uint16_t)(h | sign >> 48)};
}

static inline struct ew_bf16 ew_half_bf16_from_f64(double x)
{
    uint64_t sign = bits_f64(x) & 0x8000000000000000;
    uint64_t b = bits_f64(x) ^ sign;
    uint64_t even = (b >> 45) & 1;
    uint64_t normal = (b - (896ull << 52) + 0xfffffffffff + even) >> 45;
    uint64_t small = bits_f64(from_bits_f64(b) + 0x1p-81) - bits_f64(0x1p-81);
    uint64_t large = b > 0x7ff0000000000000 ? 0x7fc0 : 0x7f80;
    uint64_t h = b < 0x3810000000000000 ? small : normal;
    h = b >= 0x47eff00000000000 ? large : h;
    return (struct ew_bf16){(uint16_t)(h | sign >> 48)};
}

/* An integer as a double that rounds further as the integer would: what the
   double cannot hold is gathered in its last bit ("round to odd"). */
static inline double ew_half_odd_u64(uint64_t n)
{
    uint64_t high = (n >> 11) | ((n & 0x7ff) != 0);
    return n >> 53 ? (double)(int64_t)high * 2048 : (double)(int64_t)n;
}

static inline double ew_half_odd_i64(int64_t n)
{
    double magnitude = ew_half_odd_u64(n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
    return n < 0 ? -magnitude : magnitude;
}

/* The same from a double to the 24 digits of f32: for f16 of any number, for
   bf16 of none so small that f32 has fewer. */
static inline float ew_half_odd_f64(double x)
{
    const uint64_t low = 0x1fffffff;
    uint64_t b = bits_f64(x);
    return (float)from_bits_f64((b | ((b & low) + low)) & ~low);
}

#endif
