/*
 * Where the dimensions of two operands stand over the result's. The two
 * rules, shape_numpy.c and shape_axis.c, each fill an alignment; shape.c
 * turns an alignment into the result's shape and into strides.
 */
#ifndef EW_SHAPE_H
#define EW_SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "elementwise.h"

/* One operand: its dimension 0 stands at dimension `start` of the result,
   and only its first `ndim` dimensions count, as trailing 1s may have been
   dropped. */
struct ew_placed {
    const char *name; /* for messages */
    const elementwise_tensor *tensor;
    int start, ndim;
};

struct ew_alignment {
    const char *what; /* the operation, for messages */
    int axis;
    bool no_choice; /* the caller has no axis to change */
    bool onto;      /* the result must be x's shape */
    int ndim;       /* of the result */
    struct ew_placed x, y;
};

/* Aligns two valid tensors by the rule that axis chooses, and broadcasts
   them: the result's a->ndim extents go to shape. BAD_AXIS, BAD_SHAPE. */
elementwise_status ew_shape_resolve(const char *what,
                                    const elementwise_tensor *x,
                                    const elementwise_tensor *y, int axis,
                                    struct ew_alignment *a, int64_t *shape);

/* The right-aligned rule for a caller without an axis, who has the shape of
   several operands so far and adds one. BAD_SHAPE. */
elementwise_status ew_shape_align_right(const char *what,
                                        const elementwise_tensor *so_far,
                                        const char *name,
                                        const elementwise_tensor *next,
                                        struct ew_alignment *a, int64_t *shape);

/* The same for an operand that is broadcast to a given shape and must not
   make it larger: the target stands for x, the operand for y. */
elementwise_status ew_shape_onto(const char *what, const char *name,
                                 const elementwise_tensor *operand, int axis,
                                 const char *target_name,
                                 const elementwise_tensor *target,
                                 struct ew_alignment *a, int64_t *shape);

/* That out has the shape that the operands have together. BAD_SHAPE. */
elementwise_status ew_shape_require(const struct ew_alignment *a,
                                    const char *name,
                                    const elementwise_tensor *out,
                                    const int64_t *shape);

/* From the two tensors and axis to ndim and both placements, by the rule that
   axis chooses; no message is set. BAD_AXIS, BAD_SHAPE. */
elementwise_status ew_shape_place(struct ew_alignment *a);

/* The two rules. */
void ew_shape_numpy(struct ew_alignment *a);
elementwise_status ew_shape_axis(struct ew_alignment *a);

/* Whether resolving with this axis would succeed; for advice in messages. */
bool ew_shape_legal(const struct ew_alignment *a, int axis);

static inline bool ew_shape_equal(const elementwise_tensor *x,
                                  const elementwise_tensor *y)
{
    size_t bytes = (size_t)x->ndim * sizeof *x->shape;
    return x->ndim == y->ndim &&
           (bytes == 0 || memcmp(x->shape, y->shape, bytes) == 0);
}

/* Whether it has no elements. */
static inline bool ew_shape_is_empty(int ndim, const int64_t *shape)
{
    for (int i = 0; i < ndim; i++)
        if (shape[i] == 0)
            return true;
    return false;
}

/* The extent of an operand at dimension dim of the result; 1 where it has
   none. */
static inline int64_t ew_shape_extent(const struct ew_placed *p, int dim)
{
    int own = dim - p->start;
    return (unsigned)own < (unsigned)p->ndim ? p->tensor->shape[own] : 1;
}

/* The stride in elements with which an operand walks dimension dim of the
   result: 0 where it is stretched or absent. To be asked from the last
   dimension to the first; dense starts at 1 and counts what a row-major
   operand has walked so far. */
static inline int64_t ew_shape_stride(const struct ew_placed *p, int dim,
                                      int64_t *dense)
{
    const elementwise_tensor *t = p->tensor;
    int own = dim - p->start;
    if (own < 0 || own >= p->ndim || t->shape[own] == 1)
        return 0;
    int64_t stride = t->strides ? t->strides[own] : *dense;
    *dense *= t->shape[own];
    return stride;
}

#endif
