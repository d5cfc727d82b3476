/*
 * Turns descriptors from outside into descriptors that the rest of the
 * library may trust: known types, sane ranks and extents, sizes and offsets
 * that fit in int64.
 */
#include "validate.h"

#include "message.h"
#include "types.h"

elementwise_status ew_validate_shape(const char *what, const char *name,
                                     const elementwise_tensor *t)
{
    if (!t)
        return ew_fail(ELEMENTWISE_INVALID, "%s: %s is NULL", what, name);
    if (t->ndim < 0 || t->ndim > ELEMENTWISE_MAX_NDIM)
        return ew_fail(ELEMENTWISE_INVALID,
                       "%s: the rank of %s is %d; it must be 0 ... %d", what,
                       name, t->ndim, ELEMENTWISE_MAX_NDIM);
    if (t->ndim > 0 && !t->shape)
        return ew_fail(ELEMENTWISE_INVALID,
                       "%s: the shape of %s is NULL but its rank is %d", what,
                       name, t->ndim);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] < 0)
            return ew_fail(ELEMENTWISE_INVALID,
                           "%s: dimension %d of %s is %lld; extents must not "
                           "be negative",
                           what, i, name, (long long)t->shape[i]);
    return ELEMENTWISE_OK;
}

/* Extents of 0 are left out, as in NumPy, so that no order of extents makes
   a partial product overflow unnoticed. */
elementwise_status ew_validate_count(const char *what, int ndim,
                                     const int64_t *shape, size_t size,
                                     int64_t *bytes)
{
    int64_t product = (int64_t)size;
    bool empty = false;
    for (int i = 0; i < ndim; i++) {
        empty |= shape[i] == 0;
        if (shape[i] != 0 &&
            __builtin_mul_overflow(product, shape[i], &product))
            return ew_fail(ELEMENTWISE_TOO_LARGE,
                           "%s: a shape of rank %d has more than 2^63 - 1 "
                           "%s, counted up to dimension %d, extent %lld "
                           "(extents of 0 left out)",
                           what, ndim, size > 1 ? "bytes" : "elements", i,
                           (long long)shape[i]);
    }
    *bytes = empty ? 0 : product;
    return ELEMENTWISE_OK;
}

/* Adds (n - 1) * |stride| * size for every dimension: the distance between
   the first and the last byte that the strides can reach. */
static bool reach_fits(const elementwise_tensor *t)
{
    int64_t reach = (int64_t)ew_types_size(t->dtype), step;
    for (int i = 0; i < t->ndim; i++) {
        int64_t stride = t->strides[i];
        if (t->shape[i] <= 1)
            continue;
        if (stride == INT64_MIN ||
            __builtin_mul_overflow(t->shape[i] - 1,
                                   stride < 0 ? -stride : stride, &step) ||
            __builtin_mul_overflow(step, (int64_t)ew_types_size(t->dtype),
                                   &step) ||
            __builtin_add_overflow(reach, step, &reach))
            return false;
    }
    return true;
}

/* The whole of ew_validate_tensor in one pass for the tensors that nearly all
   calls bring: known type, row-major, no extent below 1, fits. */
static bool is_plain(const elementwise_tensor *t)
{
    if (!t || !ew_types_known(t->dtype) || t->strides ||
        (unsigned)t->ndim > ELEMENTWISE_MAX_NDIM || (t->ndim && !t->shape))
        return false;
    int64_t bytes = (int64_t)ew_types_size(t->dtype);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] < 1 ||
            __builtin_mul_overflow(bytes, t->shape[i], &bytes))
            return false;
    return true;
}

elementwise_status ew_validate_op(elementwise_op op)
{
    if (ew_types_known_op(op))
        return ELEMENTWISE_OK;
    return ew_fail(ELEMENTWISE_INVALID,
                   "unknown op %d; it must be %d (%s) ... %d (%s)", (int)op,
                   ELEMENTWISE_ADD, elementwise_op_name(ELEMENTWISE_ADD),
                   EW_LAST_OP, elementwise_op_name((elementwise_op)EW_LAST_OP));
}

elementwise_status ew_validate_dtype(const char *what, const char *name,
                                     elementwise_dtype dtype)
{
    if (ew_types_known(dtype))
        return ELEMENTWISE_OK;
    return ew_fail(
        ELEMENTWISE_INVALID,
        "%s: %s has unknown dtype %d; it must be %d (%s) ... %d (%s)", what,
        name, (int)dtype, ELEMENTWISE_BOOL,
        elementwise_dtype_name(ELEMENTWISE_BOOL), ELEMENTWISE_C128,
        elementwise_dtype_name(ELEMENTWISE_C128));
}

elementwise_status ew_validate_tensor(const char *what, const char *name,
                                      const elementwise_tensor *t)
{
    if (is_plain(t))
        return ELEMENTWISE_OK;
    elementwise_status status = ew_validate_shape(what, name, t);
    int64_t bytes;
    if (!status)
        status = ew_validate_dtype(what, name, t->dtype);
    if (status)
        return status;
    status = ew_validate_count(what, t->ndim, t->shape, ew_types_size(t->dtype),
                               &bytes);
    if (!status && bytes && t->strides && !reach_fits(t))
        status = ew_fail(ELEMENTWISE_TOO_LARGE,
                         "%s: the strides of %s reach further than 2^63 - 1 "
                         "bytes",
                         what, name);
    return status;
}

/* Misalignment would be undefined behaviour in C, whatever the machine. */
elementwise_status ew_validate_data(const char *what, const char *name,
                                    const void *data, size_t align, bool input)
{
    if (!data)
        return ew_fail(ELEMENTWISE_INVALID,
                       "%s: the data of %s is NULL but it has elements", what,
                       name);
    if ((uintptr_t)data & (align - 1))
        return ew_fail(ELEMENTWISE_MISALIGNED,
                       "%s: the data of %s, %p, is not a multiple of %zu%s",
                       what, name, data, align,
                       input ? "; elementwise_copy reads it as it is"
                             : "; memory from malloc is");
    return ELEMENTWISE_OK;
}

/* Names the flags that were set and are not for this call, and those that
   are. */
static elementwise_status fail_flags(const char *what, unsigned wrong,
                                     unsigned legal)
{
    const char *also = "";
    if (legal & ELEMENTWISE_ADD_TO_OUT)
        also = ", ELEMENTWISE_ADD_TO_OUT";
    else if (legal)
        also = ", ELEMENTWISE_ADD_TO_DX, ELEMENTWISE_ADD_TO_DY";
    return ew_fail(ELEMENTWISE_INVALID,
                   "%s: options.flags has 0x%x, which is no flag of this call; "
                   "it takes ELEMENTWISE_STREAM%s",
                   what, wrong, also);
}

/* What this version has no meaning for yet; the first field is named. */
static elementwise_status check_unused(const char *what,
                                       const elementwise_options *options)
{
    const char *field = NULL;
    if (options->executor)
        field = "executor must be NULL";
    else if (options->threads != 0 && options->threads != 1)
        field = "threads must be 0 or 1";
    else if (options->reserved)
        field = "reserved must be 0";
    if (field)
        return ew_fail(ELEMENTWISE_INVALID, "%s: options.%s in this version",
                       what, field);
    return ELEMENTWISE_OK;
}

/* One field after the other; the first that is not understood is named. */
elementwise_status ew_validate_options(const char *what,
                                       const elementwise_options *options,
                                       unsigned flags)
{
    unsigned wrong;
    if (options->size != sizeof *options)
        return ew_fail(ELEMENTWISE_INVALID,
                       "%s: options.size is %zu, not %zu; start from "
                       "ELEMENTWISE_OPTIONS_INIT",
                       what, options->size, sizeof *options);
    if (!elementwise_act_name(options->act))
        return ew_fail(ELEMENTWISE_INVALID,
                       "%s: unknown act %d; it must be %d (%s) ... %d (%s)",
                       what, (int)options->act, ELEMENTWISE_ACT_NONE,
                       elementwise_act_name(ELEMENTWISE_ACT_NONE),
                       ELEMENTWISE_ACT_SILU,
                       elementwise_act_name(ELEMENTWISE_ACT_SILU));
    wrong = options->flags & ~(flags | ELEMENTWISE_STREAM);
    return wrong ? fail_flags(what, wrong, flags) : check_unused(what, options);
}
