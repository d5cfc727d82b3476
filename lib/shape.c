/*
 * Turns two shapes and an axis into the result's shape, and an operand's
 * place over the result into strides: the one step that both alignment rules
 * share, and the last one that knows of either.
 */
#include "shape.h"

#include "message.h"

elementwise_status ew_shape_place(struct ew_alignment *a)
{
    if (a->axis != ELEMENTWISE_NUMPY)
        return ew_shape_axis(a);
    ew_shape_numpy(a);
    return ELEMENTWISE_OK;
}

/* The last dimension at which neither extent is 1 and they differ, or -1. */
static int mismatch(const struct ew_alignment *a)
{
    for (int dim = a->ndim - 1; dim >= 0; dim--) {
        int64_t x = ew_shape_extent(&a->x, dim);
        int64_t y = ew_shape_extent(&a->y, dim);
        if (x != y && x != 1 && y != 1)
            return dim;
    }
    return -1;
}

/* Whether x would have to be stretched. */
static bool stretches_x(const struct ew_alignment *a)
{
    for (int dim = 0; dim < a->ndim; dim++)
        if (ew_shape_extent(&a->x, dim) == 1 &&
            ew_shape_extent(&a->y, dim) != 1)
            return true;
    return a->ndim > a->x.tensor->ndim;
}

bool ew_shape_legal(const struct ew_alignment *a, int axis)
{
    struct ew_alignment other = *a;
    other.axis = axis;
    return ew_shape_place(&other) == ELEMENTWISE_OK && mismatch(&other) < 0 &&
           !(a->onto && stretches_x(&other));
}

/* The message for what a rule itself refuses, before extents are compared. */
static elementwise_status refuse(elementwise_status status,
                                 const struct ew_alignment *a)
{
    if (status == ELEMENTWISE_BAD_AXIS)
        return ew_fail_shapes(status, a, -1,
                              "axis %d is not in -1 ... %d, the dimensions "
                              "of the operand of larger rank",
                              a->axis, a->ndim - 1);
    const struct ew_placed *p = a->x.start > 0 ? &a->x : &a->y;
    return ew_fail_shapes(status, a, -1,
                          "%s does not fit: %d dimensions from dimension %d "
                          "on reach past dimension %d, the last",
                          p->name, p->ndim, p->start, a->ndim - 1);
}

/* Places, compares, and stretches: the whole of shape resolution. 0 meets 1
   like any other extent: the result is 0 there, not the larger of the two. */
static elementwise_status broadcast(struct ew_alignment *a, int64_t *shape)
{
    elementwise_status status = ew_shape_place(a);
    if (status)
        return refuse(status, a);
    int dim = mismatch(a);
    if (dim >= 0)
        return ew_fail_shapes(ELEMENTWISE_BAD_SHAPE, a, dim,
                              "shapes do not broadcast at dimension %d "
                              "(%lld vs %lld)",
                              dim, (long long)ew_shape_extent(&a->x, dim),
                              (long long)ew_shape_extent(&a->y, dim));
    for (dim = 0; dim < a->ndim; dim++) {
        int64_t extent = ew_shape_extent(&a->x, dim);
        shape[dim] = extent == 1 ? ew_shape_extent(&a->y, dim) : extent;
    }
    return ELEMENTWISE_OK;
}

elementwise_status ew_shape_resolve(const char *what,
                                    const elementwise_tensor *x,
                                    const elementwise_tensor *y, int axis,
                                    struct ew_alignment *a, int64_t *shape)
{
    *a = (struct ew_alignment){.what = what,
                               .axis = axis,
                               .x = {.name = "x", .tensor = x},
                               .y = {.name = "y", .tensor = y}};
    return broadcast(a, shape);
}

elementwise_status ew_shape_align_right(const char *what,
                                        const elementwise_tensor *so_far,
                                        const char *name,
                                        const elementwise_tensor *next,
                                        struct ew_alignment *a, int64_t *shape)
{
    *a = (struct ew_alignment){.what = what,
                               .axis = ELEMENTWISE_NUMPY,
                               .no_choice = true,
                               .x = {.name = "so far", .tensor = so_far},
                               .y = {.name = name, .tensor = next}};
    return broadcast(a, shape);
}

elementwise_status ew_shape_onto(const char *what, const char *name,
                                 const elementwise_tensor *operand, int axis,
                                 const char *target_name,
                                 const elementwise_tensor *target,
                                 struct ew_alignment *a, int64_t *shape)
{
    *a = (struct ew_alignment){.what = what,
                               .axis = axis,
                               .onto = true,
                               .x = {.name = target_name, .tensor = target},
                               .y = {.name = name, .tensor = operand}};
    elementwise_status status = broadcast(a, shape);
    if (!status && operand->ndim > target->ndim)
        status = ew_fail_shapes(ELEMENTWISE_BAD_SHAPE, a, -1,
                                "%s has rank %d, more than %s, %d", name,
                                operand->ndim, target_name, target->ndim);
    else if (!status && stretches_x(a))
        status = ew_fail_shapes(ELEMENTWISE_BAD_SHAPE, a, -1,
                                "%s does not broadcast to %s, which would "
                                "have to be stretched itself",
                                name, target_name);
    return status;
}

elementwise_status ew_shape_require(const struct ew_alignment *a,
                                    const char *name,
                                    const elementwise_tensor *out,
                                    const int64_t *shape)
{
    int dim = 0;
    while (dim < a->ndim && dim < out->ndim && out->shape[dim] == shape[dim])
        dim++;
    if (dim == a->ndim && dim == out->ndim)
        return ELEMENTWISE_OK;
    return ew_fail_out(a, name, out, shape, dim);
}
