/*
 * The right-aligned rule: places both operands so that their last dimensions
 * stand under each other.
 *
 *     x        2   3   4   5
 *     y                4   5      start = rank(x) - rank(y) = 2
 */
#include "shape.h"

void ew_shape_numpy(struct ew_alignment *a)
{
    int x = a->x.tensor->ndim, y = a->y.tensor->ndim;
    a->ndim = x > y ? x : y;
    a->x.start = a->ndim - x;
    a->y.start = a->ndim - y;
    a->x.ndim = x;
    a->y.ndim = y;
}
