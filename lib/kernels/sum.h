/*
 * Sums in double, as many lanes at once as the machine's vectors have. f32
 * does without more; the rounding errors of f64 are kept beside each sum and
 * added at the end, so that the error does not grow with the number of terms.
 * Elements of f16 and bf16 become f32 in registers.
 */
#ifndef EW_SUM_H
#define EW_SUM_H

#include "half.h"
#include "loop.h"

/* Doubles that are added at once. */
#if defined(__AVX512F__)
enum { ABREAST = 8 };
#elif defined(__AVX__)
enum { ABREAST = 4 };
#else
enum { ABREAST = 2 };
#endif
enum { VECTORS = EW_LANES / ABREAST };
_Static_assert((int)EW_LANES == (int)EW_HALF_BLOCK,
               "lanes are widened at once");
typedef double vector __attribute__((vector_size(ABREAST * sizeof(double))));
typedef int64_t bits __attribute__((vector_size(ABREAST * sizeof(int64_t))));

/* The sums of EW_LANES terms, and what they lost. Compilers keep them in
   registers where they are local and all loops over them unrolled. */
struct lanes {
    vector sum[VECTORS], lost[VECTORS];
};

EW_INLINE vector doubles_f64(const double *x)
{
    vector v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Compilers convert a whole vector and move its upper half for that; from
   memory each half is one instruction, and the sum takes half of the time. */
EW_INLINE vector doubles_f32(const float *x)
{
#if defined(__AVX512F__)
    return (vector)_mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX__)
    return (vector)_mm256_cvtps_pd(_mm_loadu_ps(x));
#else
    return (vector){(double)x[0], (double)x[1]};
#endif
}

/* A column alone. */
EW_INLINE void add_one_f32(double *sum, double *lost, float value)
{
    (void)lost;
    *sum += (double)value;
}

EW_INLINE void add_one_f64(double *sum, double *lost, double value)
{
    double total = *sum + value, part = total - *sum;
    *lost += (*sum - (total - part)) + (value - part);
    *sum = total;
}

EW_INLINE void add_f32(vector *sum, vector *lost, vector value)
{
    (void)lost;
    *sum += value;
}

/* The error of sum + value is a double itself (Knuth's two-sum, TAOCP 2,
   4.2.2), whichever of the two is larger. */
EW_INLINE void add_f64(vector *sum, vector *lost, vector value)
{
    vector total = *sum + value, part = total - *sum;
    *lost += (*sum - (total - part)) + (value - part);
    *sum = total;
}

/* Accumulators to and from registers, one by one: a copy of all would keep
   them in memory. */
EW_INLINE void take(bool loses, const double *at, struct lanes *lanes)
{
    EW_UNROLLED
    for (int v = 0; v < VECTORS; v++) {
        lanes->sum[v] = doubles_f64(at + v * ABREAST);
        if (loses)
            lanes->lost[v] = doubles_f64(at + EW_ACCUMULATORS + v * ABREAST);
    }
}

EW_INLINE void put_back(bool loses, const struct lanes *lanes, double *at)
{
    EW_UNROLLED
    for (int v = 0; v < VECTORS; v++, at += ABREAST) {
        memcpy(at, &lanes->sum[v], sizeof *lanes->sum);
        if (loses)
            memcpy(at + EW_ACCUMULATORS, &lanes->lost[v], sizeof *lanes->lost);
    }
}

/* From [n] on, all bits of the last n lanes. */
static const int64_t keep_lanes[2 * EW_LANES] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/* A vector of values, those that are not kept as 0. */
EW_INLINE vector kept(vector value, const int64_t *keep)
{
    bits mask;
    memcpy(&mask, keep, sizeof mask);
    return (vector)((bits)value & mask);
}

/* Bytes from what is summed to what is asked for. */
enum { AHEAD = 2048 };

/* Asks for the lines of some bytes. */
EW_INLINE void ask_for(const void *at, int64_t ahead, int64_t bytes)
{
    EW_UNROLLED
    for (int64_t i = 0; i < bytes; i += EW_LINE)
        __builtin_prefetch((const char *)at + ahead + i);
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
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(x));
    _mm512_storeu_si512(to, _mm512_slli_epi32(wide, 16));
}
#endif

#define E float
#define T float
#define GET(x) (x)
#define PUT(x) (x)
#define NAME(x) x##_f32
#define ADD(x) x##_f32
#define LOSES 0
#include "sum.inc"

#define E double
#define T double
#define GET(x) (x)
#define PUT(x) (x)
#define NAME(x) x##_f64
#define ADD(x) x##_f64
#define LOSES 1
#include "sum.inc"

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
#include "sum.inc"

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
#include "sum.inc"

#endif
