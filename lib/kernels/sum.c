/*
 * The kernels of sums on their own: a tile is added to accumulators. Those
 * that store something in the same pass are in gradient.c.
 */
#include "sum.h"

#define PLAIN(NAME, T)                                                         \
    EW_INLINE T NAME(itself)(T x, T y, T g)                                    \
    {                                                                          \
        (void)x, (void)y;                                                      \
        return g;                                                              \
    }                                                                          \
    static void NAME(sum)(int64_t rows, int64_t cols, void *const data[],      \
                          const struct ew_stride s[],                          \
                          const struct ew_sums *sums)                          \
    {                                                                          \
        NAME(sum_all)                                                          \
        (NULL, NAME(itself), true, true, rows, cols, data, s, sums);           \
    }

#define T float
#define NAME(x) x##_f32
#define BITS int32_t
#define LOSES 0
#include "sum.inc"
PLAIN(NAME, T)
#undef T
#undef NAME
#undef BITS
#undef LOSES

#define T double
#define NAME(x) x##_f64
#define BITS int64_t
#define LOSES 1
#include "sum.inc"
PLAIN(NAME, T)

ew_sum *const EW_CONCAT(ew_sum, EW_LEVEL)[2] = {sum_f32, sum_f64};
