/*
 * Derivatives that are added to accumulators as they are made, while the same
 * pass stores others, past the caches if there are many. Each becomes a double.
 * Elements of f16 and bf16 become f32 in registers.
 */
#ifndef EW_FUSED_H
#define EW_FUSED_H

#include "sum.h"

/* A vector of values, those that are not kept as 0. */
EW_INLINE vector kept(vector value, const char *keep)
{
    bits mask;
    memcpy(&mask, keep, sizeof mask);
    return (vector)((bits)value & mask);
}

/* What is stored past the caches goes there in lines, or in the smallest
   vectors, which processors put together to lines. */
enum { SMALLEST = 16 };

EW_INLINE bool may_stream(const void *to)
{
    return (uintptr_t)to % SMALLEST == 0;
}

/* Bytes past the caches; what is less than a vector is stored as usual. */
EW_INLINE void stream(void *to, const void *from, int64_t bytes)
{
    char *out = to;
    const char *in = from;
    bool lines = (uintptr_t)to % EW_LINE == 0;
    for (; lines && bytes >= EW_LINE;
         bytes -= EW_LINE, out += EW_LINE, in += EW_LINE)
        ew_loop_store_line(out, in);
#if defined(__SSE2__)
    for (; bytes >= SMALLEST;
         bytes -= SMALLEST, out += SMALLEST, in += SMALLEST)
        _mm_stream_si128((__m128i *)out, _mm_loadu_si128((const __m128i *)in));
#endif
    memcpy(out, in, (size_t)bytes);
}

/* Puts what was stored past the caches in order for other threads. */
EW_INLINE void fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

EW_INLINE int64_t gradient_ahead(void)
{
    return ew_cpu_is(EW_FAR_READS) ? GRADIENT_AHEAD : AHEAD;
}

/* Asks for lines behind some bytes that are stored, ordinary stores to which
   would wait for them one after the other. */
EW_INLINE void ask_to_store(const void *at, int64_t bytes)
{
    EW_UNROLLED
    for (int64_t i = 0; i < bytes; i += EW_LINE)
        __builtin_prefetch((const char *)at + AHEAD / 2 + i, 1);
}

/* What is summed, or stored, may be g as it is. */
EW_INLINE float itself_f32(float x, float y, float g)
{
    (void)x, (void)y;
    return g;
}

EW_INLINE double itself_f64(double x, double y, double g)
{
    (void)x, (void)y;
    return g;
}

#if defined(__AVX512F__)
/* Compilers make two vectors of it, and what follows waits until it can read
   them as one: gradients took twice as long. */
EW_INLINE void widen_bf16(const void *x, void *to)
{
    floats wide = load_bf16(x);
    memcpy(to, &wide, sizeof wide);
}
#endif

#if defined(__AVX512BW__) && defined(__AVX512VL__)
/* The last n of as many things as there are lanes. */
EW_INLINE __mmask16 last_mask(int64_t n)
{
    return (__mmask16)(~0u << (EW_LANES - n));
}

/* Those of a mask alone, beside which nothing is read or written. */
EW_INLINE void widen_last_f16(const void *x, __mmask16 some, void *to)
{
    ew_half_widen_f16_some(x, false, some, to);
}

EW_INLINE void widen_last_bf16(const void *x, __mmask16 some, void *to)
{
    __m256i v = _mm256_maskz_loadu_epi16(some, x);
    _mm512_storeu_si512(to, _mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}

EW_INLINE void store_last_16(const void *x, __mmask16 some, void *to)
{
    _mm256_mask_storeu_epi16(to, some, _mm256_loadu_si256(x));
}

/* Sums that lose nothing, in the last lanes, of rows that end at `end`. */
EW_INLINE void take_last(const double *end, __mmask16 some, struct lanes *lanes)
{
    for (int v = 0; v < VECTORS; v++)
        lanes->sum[v] = (vector)_mm512_maskz_loadu_pd(
            (__mmask8)(some >> v * ABREAST), end - EW_LANES + v * ABREAST);
}

EW_INLINE void put_last(const struct lanes *lanes, __mmask16 some, double *end)
{
    for (int v = 0; v < VECTORS; v++)
        _mm512_mask_storeu_pd(end - EW_LANES + v * ABREAST,
                              (__mmask8)(some >> v * ABREAST),
                              (__m512d)lanes->sum[v]);
}
#endif

#define E float
#define T float
#define GET(x) (x)
#define PUT(x) (x)
#define NAME(x) x##_f32
#define ADD(x) x##_f32
#define LOSES 0
#include "fused.inc"

#define E double
#define T double
#define GET(x) (x)
#define PUT(x) (x)
#define NAME(x) x##_f64
#define ADD(x) x##_f64
#define LOSES 1
#include "fused.inc"

#define E struct ew_f16
#define T float
#define HALF
#define GET(x) ew_half_from_f16(x)
#define PUT(x) ew_half_f16_from_f32(x)
#define NAME(x) x##_f16
#if defined(__F16C__)
#define WIDEN ew_half_widen_f16
#define NARROW ew_half_narrow_f16
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define WIDEN_LAST widen_last_f16
#define ALONE 0
#endif
#define ADD(x) x##_f32
#define LOSES 0
#include "fused.inc"

#define E struct ew_bf16
#define T float
#define HALF
#define GET(x) ew_half_from_bf16(x)
#define PUT(x) ew_half_bf16_from_f32(x)
#define NAME(x) x##_bf16
#if defined(__AVX512F__)
#define WIDEN widen_bf16
#define WIDEN_LAST widen_last_bf16
#define ALONE 2
#endif
#define ADD(x) x##_f32
#define LOSES 0
#include "fused.inc"

#endif
