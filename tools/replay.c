/*
 * Turns a case into a call of the library and its result into a verdict.
 * Operands are laid out in memory as the case says, or by random strides:
 * permuted, backwards, with gaps.
 */
#include "replay.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "command.h"
#include "compare.h"

/* How far two correct implementations may be apart; doc/conformance.md has
   the reasons. All that IEEE 754 defines is exact. */
static const struct {
    elementwise_op op;
    double real, complex, real_slope, complex_slope;
} bounds[] = {
    {ELEMENTWISE_MUL, 0, 4, 0, 4},   {ELEMENTWISE_DIV, 0, 4, 4, 8},
    {ELEMENTWISE_POW, 5, 16, 5, 16}, {ELEMENTWISE_ATAN2, 5, 0, 5, 0},
    {ELEMENTWISE_HYPOT, 2, 0, 5, 0}, {ELEMENTWISE_LOGADDEXP, 3, 0, 5, 0}};

double replay_bound(elementwise_op op, elementwise_dtype dtype, bool gradient)
{
    bool complex = dtype == ELEMENTWISE_C64 || dtype == ELEMENTWISE_C128;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].op == op && gradient)
            return complex ? bounds[i].complex_slope : bounds[i].real_slope;
        else if (bounds[i].op == op)
            return complex ? bounds[i].complex : bounds[i].real;
    return 0;
}

/* Layouts */

static uint64_t random_below(struct replay *r, uint64_t n)
{
    r->seed ^= r->seed << 13;
    r->seed ^= r->seed >> 7;
    r->seed ^= r->seed << 17;
    return r->seed % n;
}

static void row_major(int ndim, const int64_t *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape[i] ? shape[i] : 1;
    }
}

/* Without overlap: one dimension after another in random order, each beyond
   all that the ones before it reach. */
static void random_strides(struct replay *r, int ndim, const int64_t *shape,
                           int64_t *strides)
{
    int order[ELEMENTWISE_MAX_NDIM];
    int64_t reach = 1;
    for (int i = 0; i < ndim; i++) {
        int other = (int)random_below(r, (uint64_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < ndim; i++) {
        int dim = order[i];
        int64_t stride = reach + (int64_t)random_below(r, 3);
        strides[dim] = random_below(r, 2) ? stride : -stride;
        reach = stride * (shape[dim] ? shape[dim] : 1);
    }
}

static bool reserve(struct replay *r, int role, size_t bytes)
{
    if (bytes <= r->memory[role].room)
        return true;
    free(r->memory[role].data);
    r->memory[role].data = malloc(bytes);
    r->memory[role].room = r->memory[role].data ? bytes : 0;
    return r->memory[role].room > 0;
}

/* How far the elements reach below and above the first. */
static void measure(const struct vector_array *array, const int64_t *strides,
                    int64_t *below, int64_t *above)
{
    *below = *above = 0;
    for (int i = 0; i < array->ndim && array->count; i++) {
        int64_t reach = (array->shape[i] - 1) * strides[i];
        *(reach < 0 ? below : above) += reach;
    }
    *below = -*below;
}

/* A tensor with memory of its own, laid out like the array: but a gradient is
   dense, as an operand may be a broadcast view, which cannot be written to. */
static int place(struct replay *r, int role, const struct vector_array *array,
                 int64_t *strides, elementwise_tensor *t)
{
    if (array->strided && role != VECTOR_DX && role != VECTOR_DY)
        memcpy(strides, array->strides, sizeof array->strides);
    else
        row_major(array->ndim, array->shape, strides);
    if (r->strided && array->count)
        random_strides(r, array->ndim, array->shape, strides);
    int64_t below, above;
    measure(array, strides, &below, &above);
    size_t size = elementwise_dtype_size(array->dtype);
    size_t bytes = (size_t)(below + above + 1) * size;
    if (!reserve(r, role, bytes))
        return command_fail(COMMAND_TOO_BIG, "no memory for a case");
    memset(r->memory[role].data, 0xA5, bytes);
    *t = (elementwise_tensor){.data =
                                  r->memory[role].data + (size_t)below * size,
                              .dtype = array->dtype,
                              .ndim = array->ndim,
                              .shape = array->shape,
                              .strides = strides};
    return COMMAND_DONE;
}

/* Where the element is that is number `i` in row-major order. */
static unsigned char *element_at(const elementwise_tensor *t, size_t i)
{
    int64_t offset = 0;
    for (int dim = t->ndim - 1; dim >= 0; dim--) {
        size_t extent = (size_t)t->shape[dim];
        offset += (int64_t)(i % extent) * t->strides[dim];
        i /= extent;
    }
    return (unsigned char *)t->data +
           offset * (int64_t)elementwise_dtype_size(t->dtype);
}

static int place_input(struct replay *r, int role,
                       const struct vector_array *array, int64_t *strides,
                       elementwise_tensor *t)
{
    int code = place(r, role, array, strides, t);
    size_t size = elementwise_dtype_size(array->dtype);
    for (size_t i = 0; !code && i < array->count; i++)
        memcpy(element_at(t, i), array->data + i * size, size);
    return code;
}

/* The call */

struct call_state {
    elementwise_tensor t[VECTOR_ROLES];
    int64_t strides[VECTOR_ROLES][ELEMENTWISE_MAX_NDIM];
    /* What the library says the result is, and where it is put if the case
       expects another one or an error. */
    struct vector_array natural;
    elementwise_status status;
};

/* The result's own shape and type, into s->natural. */
static elementwise_status resolve(const struct vector *v, struct call_state *s)
{
    const elementwise_tensor *x = &s->t[VECTOR_X], *y = &s->t[VECTOR_Y];
    struct vector_array *n = &s->natural;
    elementwise_status status =
        elementwise_result_type(v->op, x->dtype, y->dtype, &n->dtype);
    if (!status)
        status = elementwise_broadcast_shape(x, y, v->axis, &n->ndim, n->shape);
    n->count = 1;
    for (int i = 0; i < n->ndim; i++)
        n->count *= (size_t)n->shape[i];
    return status;
}

static int forward(struct replay *r, const struct vector *v,
                   struct call_state *s)
{
    s->status = resolve(v, s);
    if (s->status)
        return COMMAND_DONE;
    int code = place(r, VECTOR_OUT, &s->natural, s->strides[VECTOR_OUT],
                     &s->t[VECTOR_OUT]);
    if (!code)
        s->status = elementwise_apply(v->op, &s->t[VECTOR_X], &s->t[VECTOR_Y],
                                      v->axis, &s->t[VECTOR_OUT], NULL);
    return code;
}

static int backward(struct replay *r, const struct vector *v,
                    struct call_state *s)
{
    const elementwise_tensor *out[2] = {NULL, NULL};
    int code = place_input(r, VECTOR_DOUT, &v->array[VECTOR_DOUT],
                           s->strides[VECTOR_DOUT], &s->t[VECTOR_DOUT]);
    for (int k = 0; k < 2 && !code; k++) {
        int role = VECTOR_DX + k;
        if (!v->array[role].given)
            continue;
        code = place(r, role, &v->array[VECTOR_X + k], s->strides[role],
                     &s->t[role]);
        out[k] = &s->t[role];
    }
    if (!code)
        s->status = elementwise_apply_grad(
            v->op, &s->t[VECTOR_X], &s->t[VECTOR_Y], NULL, &s->t[VECTOR_DOUT],
            v->axis, out[0], out[1], NULL);
    return code;
}

/* The verdict */

__attribute__((format(printf, 2, 3))) static double
far_off(struct replay_result *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->why, sizeof result->why, format, arguments);
    va_end(arguments);
    return (double)INFINITY;
}

/* (1,0): 1.5 (3fc00000) is expected, 2 (40000000) found, 1048576 ULP */
static void explain(const elementwise_tensor *t, const unsigned char *expected,
                    size_t i, int role, double ulp,
                    struct replay_result *result)
{
    char decimal[2][COMPARE_TEXT], hex[2][COMPARE_TEXT], index[128];
    const unsigned char *found = element_at(t, i);
    compare_index(t->ndim, t->shape, i, index, sizeof index);
    snprintf(result->why, sizeof result->why,
             "%s%s: %s (%s) is expected, %s (%s) found, %.3g ULP",
             vectors_role_name(role), index,
             compare_decimal(t->dtype, expected, decimal[0]),
             compare_hex(t->dtype, expected, hex[0]),
             compare_decimal(t->dtype, found, decimal[1]),
             compare_hex(t->dtype, found, hex[1]), ulp);
}

static bool same_shape(const elementwise_tensor *t,
                       const struct vector_array *array)
{
    bool same = t->ndim == array->ndim;
    for (int i = 0; i < t->ndim && same; i++)
        same = t->shape[i] == array->shape[i];
    return same;
}

/* The operands, stretched to the result, of an operation whose error is
   measured by its largest operand: logaddexp, whose result may be near 0 where
   they are not. */
struct scale {
    bool used;
    elementwise_tensor view[2];
    int64_t strides[2][ELEMENTWISE_MAX_NDIM];
};

static void begin_scale(struct scale *scale, const struct vector *v,
                        struct call_state *s)
{
    const struct call call = {
        .x = &s->t[VECTOR_X], .y = &s->t[VECTOR_Y], .axis = v->axis};
    scale->used = v->op == ELEMENTWISE_LOGADDEXP && !v->gradient;
    for (int k = 0; k < 2 && scale->used; k++) {
        const elementwise_tensor *from = &s->t[VECTOR_X + k];
        scale->used = !elementwise_broadcast_to(
            from, call_axis_of(&call, from), s->t[VECTOR_OUT].ndim,
            s->t[VECTOR_OUT].shape, scale->strides[k], &scale->view[k]);
    }
}

static double scale_at(const struct scale *scale, size_t i)
{
    double most = 0;
    for (int k = 0; k < 2 && scale->used; k++) {
        double value = fabs(compare_value(scale->view[k].dtype,
                                          element_at(&scale->view[k], i)));
        most = isfinite(value) ? fmax(most, value) : most;
    }
    return most;
}

/* The largest distance of what was computed from what is expected. */
static double judge_array(const struct vector *v, struct call_state *s,
                          int role, const struct vector_array *expected,
                          double so_far, struct replay_result *result)
{
    const elementwise_tensor *t = &s->t[role];
    size_t size = elementwise_dtype_size(t->dtype), worst = 0;
    struct scale scale;
    double most = 0;
    if (t->dtype != expected->dtype)
        return far_off(result, "%s is %s, not %s", vectors_role_name(role),
                       elementwise_dtype_name(t->dtype),
                       elementwise_dtype_name(expected->dtype));
    if (!same_shape(t, expected))
        return far_off(result, "%s has another shape", vectors_role_name(role));
    begin_scale(&scale, v, s);
    for (size_t i = 0; i < expected->count; i++) {
        double ulp = compare_elements(t->dtype, expected->data + i * size,
                                      element_at(t, i), scale_at(&scale, i));
        worst = ulp > most ? i : worst;
        most = fmax(most, ulp);
    }
    if (most > so_far)
        explain(t, expected->data + worst * size, worst, role, most, result);
    return most;
}

static double judge_status(elementwise_status found, bool fails,
                           elementwise_status expected,
                           struct replay_result *result)
{
    const char *message = elementwise_last_error();
    if (fails && !found)
        return far_off(result, "no error, but %s is expected",
                       expected ? elementwise_status_name(expected) : "one");
    if (!fails && found)
        return far_off(result, "%s: %.*s", elementwise_status_name(found),
                       (int)strcspn(message, "\n"), message);
    if (expected && found != expected)
        return far_off(result, "%s, but %s is expected",
                       elementwise_status_name(found),
                       elementwise_status_name(expected));
    return 0;
}

/* Against the framework's results, or from `first` = VECTOR_OUR_OUT on against
   what is documented. */
static double judge(const struct vector *v, struct call_state *s, int first,
                    struct replay_result *result)
{
    bool ours = first == VECTOR_OUR_OUT;
    bool fails = ours ? v->our_fails : v->fails;
    double most = judge_status(s->status, fails,
                               ours ? v->our_status : v->status, result);
    for (int k = 0; k < 3 && !fails && most < (double)INFINITY; k++)
        if (v->array[first + k].given)
            most = fmax(most, judge_array(v, s, VECTOR_OUT + k,
                                          &v->array[first + k], most, result));
    return most;
}

int replay_run(struct replay *r, const struct vector *v,
               struct replay_result *result)
{
    struct call_state s;
    double bound =
        r->ulp < 0
            ? replay_bound(
                  v->op, v->array[v->gradient ? VECTOR_DOUT : VECTOR_OUT].dtype,
                  v->gradient)
            : r->ulp;
    memset(&s, 0, sizeof s);
    memset(result, 0, sizeof *result);
    int code = place_input(r, VECTOR_X, &v->array[VECTOR_X],
                           s.strides[VECTOR_X], &s.t[VECTOR_X]);
    if (!code)
        code = place_input(r, VECTOR_Y, &v->array[VECTOR_Y],
                           s.strides[VECTOR_Y], &s.t[VECTOR_Y]);
    if (!code)
        code = v->gradient ? backward(r, v, &s) : forward(r, v, &s);
    if (code)
        return code;
    result->ulp = judge(v, &s, VECTOR_OUT, result);
    result->verdict = result->ulp <= 0       ? REPLAY_EQUAL
                      : result->ulp <= bound ? REPLAY_CLOSE
                                             : REPLAY_DIFFERENT;
    /* What is documented is demanded, even of a case in which the framework's
       result would do: the library may not fall back to it. */
    bool kept = !vectors_is_documented(v) ||
                judge(v, &s, VECTOR_OUR_OUT, result) <= bound;
    if (!kept)
        result->verdict = REPLAY_DIFFERENT;
    else if (result->verdict == REPLAY_DIFFERENT && v->reasons)
        result->verdict = REPLAY_PURPOSE;
    return COMMAND_DONE;
}

void replay_close(struct replay *r)
{
    for (int i = 0; i < VECTOR_ROLES; i++)
        free(r->memory[i].data);
    memset(r, 0, sizeof *r);
}
