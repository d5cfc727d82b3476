/*
 * The kernels of sums: a tile is added to accumulators, all in double. f32
 * does without more; the rounding errors of f64 are kept beside each sum and
 * added at the end, so that the error does not grow with the number of terms.
 */
#include "loop.h"

/* The error of sum + value is a double itself (Knuth's two-sum, TAOCP 2,
   4.2.2), whichever of the two is larger. */
EW_INLINE void add_f64(double *sum, double *lost, double value)
{
    double total = *sum + value, part = total - *sum;
    *lost += (*sum - (total - part)) + (value - part);
    *sum = total;
}

EW_INLINE void add_f32(double *sum, double *lost, float value)
{
    (void)lost;
    *sum += (double)value;
}

#define T float
#define NAME(x) x##_f32
#include "sum.inc"

#define T double
#define NAME(x) x##_f64
#include "sum.inc"

ew_sum *const EW_CONCAT(ew_sum, EW_LEVEL)[2] = {sum_f32, sum_f64};
