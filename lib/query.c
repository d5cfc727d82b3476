/*
 * The public questions about shapes that need no data: what two or n operands
 * broadcast to, a broadcast view of one, and the size of a tensor.
 */
#include <string.h>

#include "message.h"
#include "shape.h"
#include "types.h"
#include "validate.h"

/* Hands a shape out if its elements can be counted. */
static elementwise_status give_shape(const char *what, int from_ndim,
                                     const int64_t *from, int *ndim,
                                     int64_t *shape)
{
    int64_t bytes;
    elementwise_status status =
        ew_validate_count(what, from_ndim, from, 1, &bytes);
    if (status)
        return status;
    *ndim = from_ndim;
    memcpy(shape, from, (size_t)from_ndim * sizeof *shape);
    return ELEMENTWISE_OK;
}

elementwise_status elementwise_broadcast_shape(const elementwise_tensor *x,
                                               const elementwise_tensor *y,
                                               int axis, int *ndim,
                                               int64_t *shape)
{
    static const char what[] = "broadcast_shape";
    int64_t result[ELEMENTWISE_MAX_NDIM];
    struct ew_alignment a;
    if (!ndim || !shape)
        return ew_fail(ELEMENTWISE_INVALID, "%s: ndim or shape is NULL", what);
    elementwise_status status = ew_validate_shape(what, "x", x);
    if (!status)
        status = ew_validate_shape(what, "y", y);
    if (!status)
        status = ew_shape_resolve(what, x, y, axis, &a, result);
    return status ? status : give_shape(what, a.ndim, result, ndim, shape);
}

elementwise_status
elementwise_broadcast_shapes(const elementwise_tensor *const operands[], int n,
                             int *ndim, int64_t *shape)
{
    static const char what[] = "broadcast_shapes";
    int64_t so_far[ELEMENTWISE_MAX_NDIM], next[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor result = {.ndim = 0, .shape = so_far};
    struct ew_alignment a;
    if (!operands || n < 1 || !ndim || !shape)
        return ew_fail(ELEMENTWISE_INVALID,
                       "%s: operands, ndim or shape is NULL, or n = %d is "
                       "less than 1",
                       what, n);
    for (int i = 0; i < n; i++) {
        char name[24];
        struct ew_text text = {name, sizeof name, 0};
        ew_text_add(&text, "operand %d", i);
        elementwise_status status = ew_validate_shape(what, name, operands[i]);
        if (!status)
            status = ew_shape_align_right(what, &result, name, operands[i], &a,
                                          next);
        if (status)
            return status;
        result.ndim = a.ndim;
        memcpy(so_far, next, (size_t)a.ndim * sizeof *next);
    }
    return give_shape(what, result.ndim, so_far, ndim, shape);
}

elementwise_status elementwise_broadcast_to(const elementwise_tensor *src,
                                            int axis, int ndim,
                                            const int64_t *shape,
                                            int64_t *strides,
                                            elementwise_tensor *view)
{
    static const char what[] = "broadcast_to", name[] = "the view";
    const elementwise_tensor target = {.ndim = ndim, .shape = shape};
    int64_t result[ELEMENTWISE_MAX_NDIM];
    struct ew_alignment a;
    if (!view || (ndim > 0 && !strides))
        return ew_fail(ELEMENTWISE_INVALID, "%s: view or strides is NULL",
                       what);
    elementwise_status status = ew_validate_tensor(what, "src", src);
    if (!status)
        status = ew_validate_shape(what, name, &target);
    if (!status)
        status =
            ew_shape_onto(what, "src", src, axis, name, &target, &a, result);
    int64_t bytes;
    if (!status)
        status = ew_validate_count(what, ndim, shape, ew_types_size(src->dtype),
                                   &bytes);
    if (status)
        return status;
    for (int64_t dim = ndim - 1, dense = 1; dim >= 0; dim--)
        strides[dim] = ew_shape_stride(&a.y, (int)dim, &dense);
    *view = (elementwise_tensor){.data = src->data,
                                 .dtype = src->dtype,
                                 .ndim = ndim,
                                 .shape = shape,
                                 .strides = strides};
    return ELEMENTWISE_OK;
}

elementwise_status elementwise_nbytes(elementwise_dtype dtype, int ndim,
                                      const int64_t *shape, size_t *n)
{
    const elementwise_tensor t = {.dtype = dtype, .ndim = ndim, .shape = shape};
    int64_t bytes;
    if (!n)
        return ew_fail(ELEMENTWISE_INVALID, "nbytes: n is NULL");
    elementwise_status status = ew_validate_tensor("nbytes", "the tensor", &t);
    if (!status)
        status = ew_validate_count("nbytes", ndim, shape, ew_types_size(dtype),
                                   &bytes);
    if (!status && (uint64_t)bytes > SIZE_MAX)
        status = ew_fail(ELEMENTWISE_TOO_LARGE,
                         "nbytes: %lld bytes are more than a size_t holds",
                         (long long)bytes);
    if (!status)
        *n = (size_t)bytes;
    return status;
}
