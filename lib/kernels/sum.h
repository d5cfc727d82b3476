/*
 * One step of a sum, in double. f32 does without more; the rounding errors of
 * f64 are kept beside each sum and added at the end, so that the error does
 * not grow with the number of terms.
 */
#ifndef EW_SUM_H
#define EW_SUM_H

#include "loop.h"

EW_INLINE void add_f32(double *sum, double *lost, float value)
{
    (void)lost;
    *sum += (double)value;
}

/* The error of sum + value is a double itself (Knuth's two-sum, TAOCP 2,
   4.2.2), whichever of the two is larger. */
EW_INLINE void add_f64(double *sum, double *lost, double value)
{
    double total = *sum + value, part = total - *sum;
    *lost += (*sum - (total - part)) + (value - part);
    *sum = total;
}

/* From [n] on, all bits of the last n lanes. */
static const int32_t keep_lanes[2 * EW_LANES] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/* Asks for what a sum comes to next. */
enum { AHEAD = 2048 };

EW_INLINE void ask_ahead(const void *at)
{
    __builtin_prefetch((const char *)at + AHEAD);
}

/* What is stored past the caches goes there in the smallest vectors, which
   processors put together to lines. */
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

#endif
