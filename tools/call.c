/*
 * Turns an operation, two tensors and an axis into the result's shape and
 * type, or into the library's message of what is wrong with them.
 */
#include "call.h"

#include <stdio.h>
#include <string.h>

elementwise_status call_resolve(struct call *call, elementwise_plan **plan)
{
    const elementwise_tensor *x = call->x, *y = call->y;
    elementwise_dtype natural;
    *plan = NULL;
    elementwise_status status =
        elementwise_result_type(call->op, x->dtype, y->dtype, &natural);
    if (status)
        return status;
    if (!call->dtype)
        call->dtype = natural;
    elementwise_tensor out = {.dtype = call->dtype, .shape = call->shape};
    status =
        elementwise_broadcast_shape(x, y, call->axis, &out.ndim, call->shape);
    call->ndim = out.ndim;
    if (status && status != ELEMENTWISE_BAD_AXIS &&
        status != ELEMENTWISE_BAD_SHAPE)
        return status;
    /* If the shapes do not fit, the plan is refused whatever out is, with a
       message that names the operation. */
    elementwise_status planned = elementwise_plan_create(
        plan, call->op, x, y, call->axis, &out, call->options);
    return planned ? planned : status;
}

int call_places_x(const struct call *call)
{
    return call->x->ndim < call->y->ndim;
}

int call_axis_of(const struct call *call, const elementwise_tensor *operand)
{
    const elementwise_tensor *placed = call_places_x(call) ? call->x : call->y;
    return operand == placed ? call->axis : ELEMENTWISE_NUMPY;
}

bool call_same_shape(const elementwise_tensor *x, const elementwise_tensor *y)
{
    return x->ndim == y->ndim &&
           (x->ndim == 0 ||
            !memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape));
}

int call_kept(const elementwise_tensor *operand)
{
    int ndim = operand->ndim;
    while (ndim > 0 && operand->shape[ndim - 1] == 1)
        ndim--;
    return ndim;
}

bool call_reads_axis(const struct call *call)
{
    const elementwise_tensor *x = call->x, *y = call->y;
    return call->axis != ELEMENTWISE_NUMPY && !call_same_shape(x, y) &&
           call_kept(call_places_x(call) ? x : y) > 0;
}

struct call_place call_place(const struct call *call,
                             const elementwise_tensor *operand)
{
    struct call_place right = {call->ndim - operand->ndim, operand->ndim};
    struct call_place at_axis = {call->axis, call_kept(operand)};
    bool placed = call_axis_of(call, operand) != ELEMENTWISE_NUMPY;
    return placed && call_reads_axis(call) ? at_axis : right;
}

/* Dense, and of the result's shape or of rank 0. */
static bool is_plain(const struct call *call, const elementwise_tensor *t)
{
    const elementwise_tensor out = {.ndim = call->ndim, .shape = call->shape};
    return !t->strides && (t->ndim == 0 || call_same_shape(t, &out));
}

static bool has_options(const struct call *call)
{
    const elementwise_options *o = call->options;
    return o && (o->act || o->scale_x != 1 || o->scale_y != 1 || o->flags);
}

static bool is_integer(elementwise_dtype dtype)
{
    return dtype >= ELEMENTWISE_I8 && dtype <= ELEMENTWISE_U64;
}

bool call_is_direct(const struct call *call, const char *plan)
{
    char kernel[80];
    elementwise_dtype type = call->x->dtype;
    for (int i = 0; i < call->ndim; i++)
        if (call->shape[i] == 0)
            return false;
    snprintf(kernel, sizeof kernel, "\"kernel\":\"%s_%s\",\"tiles\":false",
             elementwise_op_name(call->op), elementwise_dtype_name(type));
    /* Powers of integers are looked through for a 0 to a negative one. */
    return !has_options(call) && call->y->dtype == type &&
           call->ndim < ELEMENTWISE_MAX_NDIM && is_plain(call, call->x) &&
           is_plain(call, call->y) && strstr(plan, kernel) &&
           !(call->op == ELEMENTWISE_POW && is_integer(type));
}

bool call_has_formulas(const struct call *call, const char *plan)
{
    const elementwise_options *o = call->options;
    return call->op == ELEMENTWISE_POW && call_kept(call->y) == 0 &&
           (!o || o->scale_y == 1) && strstr(plan, "\"y_input\":\"as is\"") &&
           (strstr(plan, "\"kernel\":\"pow_f32\"") ||
            strstr(plan, "\"kernel\":\"pow_f64\""));
}
