/*
 * What a step of a comparison reads of an input: a vector of its elements, or
 * one element in all places of a vector.
 */
#ifndef EW_COMPARE_FROM_H
#define EW_COMPARE_FROM_H

#include "loop.h"

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define EW_COMPARE_BITS
enum { EW_COMPARE_BYTES = 64 };
#elif defined(__AVX2__)
enum { EW_COMPARE_BYTES = 32 };
#else
enum { EW_COMPARE_BYTES = 16 };
#endif

/* A vector of x, of y, or of masks, whatever their width. */
typedef int64_t ew_compare_vector
    __attribute__((vector_size(EW_COMPARE_BYTES)));

/* Where a step reads. A step of 0 has one element in all places. */
struct ew_compare_from {
    const char *at;
    int64_t step;
    ew_compare_vector same;
};

EW_INLINE struct ew_compare_from ew_compare_from(const char *at, int64_t step,
                                                 int64_t size)
{
    struct ew_compare_from from = {.at = at, .step = step};
    if (size == 1) { /* compilers make calls of memset of it */
#if defined(EW_COMPARE_BITS)
        from.same = (ew_compare_vector)_mm512_set1_epi8(*at);
#elif defined(__AVX2__)
        from.same = (ew_compare_vector)_mm256_set1_epi8(*at);
#else
        from.same = (ew_compare_vector)_mm_set1_epi8(*at);
#endif
        return from;
    }
    _Alignas(EW_COMPARE_BYTES) char all[EW_COMPARE_BYTES];
    for (int64_t i = 0; i < EW_COMPARE_BYTES; i += size)
        memcpy(all + i, at, (size_t)size);
    memcpy(&from.same, all, sizeof all);
    return from;
}

/* The vector from element c on. */
EW_INLINE ew_compare_vector ew_compare_load(const struct ew_compare_from *from,
                                            int64_t c)
{
    ew_compare_vector v = from->same;
    if (from->step)
        memcpy(&v, from->at + c * from->step, sizeof v);
    return v;
}

#endif
