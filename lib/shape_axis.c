/*
 * Paddle's rule: places the operand of smaller rank (y, if the ranks are
 * equal) over the other from dimension `axis` on, without its trailing 1s.
 * Caffe's, Caffe2's and old ONNX's rules are special cases of it.
 *
 *     x        2   3   4   5
 *     y            3   4  [1]     axis = 1; the 1 is dropped
 */
#include "shape.h"

/* The rank that is left when trailing extents of 1 are dropped. */
static int without_trailing_ones(const elementwise_tensor *t)
{
    int ndim = t->ndim;
    while (ndim > 0 && t->shape[ndim - 1] == 1)
        ndim--;
    return ndim;
}

/* The order of the tests matters: equal shapes and scalars do not read axis,
   so it may be anything for them. */
elementwise_status ew_shape_axis(struct ew_alignment *a)
{
    ew_shape_numpy(a); /* ndim, and the operand that is not placed */
    const elementwise_tensor *x = a->x.tensor, *y = a->y.tensor;
    struct ew_placed *placed = x->ndim < y->ndim ? &a->x : &a->y;
    if (ew_shape_equal(x, y))
        return ELEMENTWISE_OK;
    placed->ndim = without_trailing_ones(placed->tensor);
    if (placed->ndim == 0)
        return ELEMENTWISE_OK;
    if (a->axis < 0 || a->axis >= a->ndim)
        return ELEMENTWISE_BAD_AXIS;
    placed->start = a->axis;
    bool fits = placed->ndim <= a->ndim - a->axis;
    return fits ? ELEMENTWISE_OK : ELEMENTWISE_BAD_SHAPE;
}
