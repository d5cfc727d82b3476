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
#endif
#define ADD(x) x##_f32
#define LOSES 0
#include "fused.inc"

#endif
