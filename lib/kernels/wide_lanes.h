/*
 * Eight doubles as one register of AVX-512, two of which hold a table of 16
 * doubles that is looked up in one step. A measured need for intrinsics:
 * compilers read such a table from memory, element by element.
 */
#ifndef EW_WIDE_LANES_H
#define EW_WIDE_LANES_H

#include "loop.h"

#if defined(__AVX512DQ__)
#define EW_WIDE_LANES

typedef double ew_wide_lanes __attribute__((vector_size(64)));
typedef int64_t ew_wide_lane_bits __attribute__((vector_size(64)));
typedef uint64_t ew_wide_lane_words __attribute__((vector_size(64)));

enum { EW_WIDE_LANE_COUNT = 8 };

EW_INLINE ew_wide_lanes ew_lanes_all(double x)
{
    return (ew_wide_lanes)_mm512_set1_pd(x);
}

EW_INLINE ew_wide_lanes ew_lanes_load(const double *from)
{
    return (ew_wide_lanes)_mm512_loadu_pd(from);
}

EW_INLINE void ew_lanes_store(double *to, ew_wide_lanes x)
{
    _mm512_storeu_pd(to, (__m512d)x);
}

/* a b + c, rounded once. */
EW_INLINE ew_wide_lanes ew_lanes_fma(ew_wide_lanes a, ew_wide_lanes b,
                                     ew_wide_lanes c)
{
    return (ew_wide_lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

/* The piece a + b x of a polynomial. */
EW_INLINE ew_wide_lanes ew_lanes_line(ew_wide_lanes x, double a, double b)
{
    return ew_lanes_fma(ew_lanes_all(b), x, ew_lanes_all(a));
}

/* The elements of a table of 16 that the last four bits of each index name. */
EW_INLINE ew_wide_lanes ew_lanes_look_up(const double *table,
                                         ew_wide_lane_bits index)
{
    return (ew_wide_lanes)_mm512_permutex2var_pd(
        _mm512_loadu_pd(table), (__m512i)index, _mm512_loadu_pd(table + 8));
}

/* Of a table of 32, the last five bits. */
EW_INLINE ew_wide_lanes ew_lanes_look_up_32(const double *table,
                                            ew_wide_lane_bits index)
{
    return (ew_wide_lanes)_mm512_mask_blend_pd(
        _mm512_test_epi64_mask((__m512i)index, _mm512_set1_epi64(16)),
        (__m512d)ew_lanes_look_up(table, index),
        (__m512d)ew_lanes_look_up(table + 16, index));
}

/* a where a comparison was true, else b. */
EW_INLINE ew_wide_lanes ew_lanes_choose(ew_wide_lane_bits truth,
                                        ew_wide_lanes a, ew_wide_lanes b)
{
    return (ew_wide_lanes)_mm512_mask_blend_pd(
        _mm512_movepi64_mask((__m512i)truth), (__m512d)b, (__m512d)a);
}

/* x, or an end of -most to most; NaN is one, too. */
EW_INLINE ew_wide_lanes ew_lanes_limit(ew_wide_lanes x, double most)
{
    __m512d limited = _mm512_min_pd((__m512d)x, _mm512_set1_pd(most));
    return (ew_wide_lanes)_mm512_max_pd(limited, _mm512_set1_pd(-most));
}

EW_INLINE uint64_t ew_lanes_any(ew_wide_lane_bits x)
{
    return (uint64_t)_mm512_reduce_or_epi64((__m512i)x);
}
#endif

#endif
