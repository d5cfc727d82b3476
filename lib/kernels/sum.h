/*
 * Accumulators of sums: doubles, as many at once as the machine's vectors
 * have. Those of f64 have the rounding errors of their sums beside them, which
 * are added at the end.
 */
#ifndef EW_SUM_H
#define EW_SUM_H

#include "half.h"
#include "loop.h"

/* Bytes of the machine's vectors. */
#if defined(__AVX512F__)
enum { WIDTH = 64 };
#elif defined(__AVX__)
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef double vector __attribute__((vector_size(WIDTH)));
typedef float floats __attribute__((vector_size(WIDTH)));
typedef int64_t bits __attribute__((vector_size(WIDTH)));
enum { ABREAST = WIDTH / sizeof(double), VECTORS = EW_LANES / ABREAST };

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

#if defined(__AVX512F__)
/* A block of bf16 from memory. */
EW_INLINE floats load_bf16(const struct ew_bf16 *x)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)x));
    return (floats)_mm512_slli_epi32(wide, 16);
}
#endif

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

/* The same of one. */
EW_INLINE void add_lost(bool loses, double *sum, double *lost, double value)
{
    double total = *sum + value, part = total - *sum;
    if (loses)
        *lost += (*sum - (total - part)) + (value - part);
    *sum = total;
}

/* And of an accumulator in memory. */
EW_INLINE void add_one(bool loses, double *at, double value)
{
    add_lost(loses, at, loses ? at + EW_ACCUMULATORS : NULL, value);
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

EW_INLINE void clear(vector lanes[VECTORS])
{
    EW_UNROLLED
    for (int v = 0; v < VECTORS; v++)
        lanes[v] = (vector){0};
}

/* Half of the lanes is added to the other half until two are left, whatever
   the width of vectors. */
typedef double two __attribute__((vector_size(2 * sizeof(double))));
EW_INLINE two fold(const vector lanes[VECTORS])
{
    vector x[VECTORS];
    two part[ABREAST / 2];
    EW_UNROLLED
    for (int v = 0; v < VECTORS; v++)
        x[v] = lanes[v];
    EW_UNROLLED
    for (int half = VECTORS / 2; half; half /= 2)
        EW_UNROLLED
    for (int v = 0; v < half; v++)
        x[v] += x[v + half];
    memcpy(part, x, sizeof part);
    EW_UNROLLED
    for (int half = ABREAST / 4; half; half /= 2)
        EW_UNROLLED
    for (int i = 0; i < half; i++)
        part[i] += part[i + half];
    return part[0];
}

/* Adds what is left of a row's lanes to its sum, or to the two of a complex
   one. */
EW_INLINE void settle(bool loses, two left, int parts, double *at)
{
    double first = parts == 1 ? left[0] + left[1] : left[0];
    add_one(loses, at, first);
    if (parts == 2)
        add_one(loses, at + 1, left[1]);
}

/* Bits of lanes of which the last n are kept, of elements of a size. */
EW_INLINE const char *last_lanes(int64_t n, int64_t size)
{
    static const int64_t keep[2 * EW_LANES] = {
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    return (const char *)(keep + EW_LANES) - (EW_LANES - n) * size;
}

/* Bytes from what is summed to what is asked for; and the same of a row that
   has one sum, and of gradients, where processors like it far ahead. */
enum { AHEAD = 2048, FAR_AHEAD = 8192, GRADIENT_AHEAD = 5120 };

/* Asks for the lines of some bytes. */
EW_INLINE void ask_for(const void *at, int64_t ahead, int64_t bytes)
{
    EW_UNROLLED
    for (int64_t i = 0; i < bytes; i += EW_LINE)
        __builtin_prefetch((const char *)at + ahead + i);
}

#endif
