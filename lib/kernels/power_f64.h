/*
 * pow on f64: that of libm, which documents <= 1 ULP, and the formulas of
 * exponents that have one.
 */
#ifndef EW_POWER_F64_H
#define EW_POWER_F64_H

#include <math.h>
#include "block.h"
#include "wide.h"

EW_INLINE double op_pow_f64(double x, double y)
{
    return pow(x, y);
}

static void compute_pow_f64(int64_t n, const void *px, const void *py,
                            void *out)
{
    const double *x = px, *y = py;
    double *made = out;
    for (int64_t i = 0; i < n; i++)
        made[i] = op_pow_f64(x[i], y[i]);
}

/* The square and its rounding error, times x; the error counts only where all
   are numbers. */
EW_INLINE double op_cube_f64(double x, double y)
{
    (void)y;
    double square = x * x, lost = fma(x, x, -square);
    double cube = square * x, rest = fma(square, x, -cube) + lost * x;
    return fabs(cube) < INFINITY && fabs(cube) > 0x1p-900 ? cube + rest : cube;
}

/* One step of Newton from 1 / sqrt(x), r (3 - x r^2) / 2, with r^2 exact. */
EW_INLINE double op_inverse_root_f64(double x, double y)
{
    (void)y;
    double r = 1 / sqrt(x + 0), square = r * r, lost = fma(r, r, -square);
    double off = fma(-x, square, 1) - x * lost;
    double better = r + r * (off / 2);
    return x == -INFINITY ? 0 : x > 0 && x < INFINITY ? better : r;
}

#endif
