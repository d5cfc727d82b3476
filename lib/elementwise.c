/*
 * The public operations: where every call starts. Small dense tensors go
 * straight to a kernel; everything else becomes a plan on the stack.
 */
#include "elementwise.h"

#include "cpu.h"
#include "gradient.h"
#include "message.h"
#include "plan.h"
#include "table.h"
#include "validate.h"

/* Whether t is row-major and has either all of out's dimensions or none. */
static bool dense(const elementwise_tensor *t, const elementwise_tensor *out)
{
    return t && !t->strides &&
           (t->ndim == 0 || (t->ndim == out->ndim && t->shape));
}

/* Counts the elements of out, and whether x and y, where they have its rank,
   have its shape. */
static bool same_shape(const elementwise_tensor *x, const elementwise_tensor *y,
                       const elementwise_tensor *out, int64_t *count)
{
    int64_t n = 1;
    for (int i = 0; i < out->ndim; i++) {
        int64_t extent = out->shape[i];
        if (extent < 1 || (x->ndim && x->shape[i] != extent) ||
            (y->ndim && y->shape[i] != extent) ||
            __builtin_mul_overflow(n, extent, &n))
            return false;
    }
    *count = n;
    return n <= INT64_MAX / (int64_t)sizeof(struct ew_c128);
}

/* Whether t's data is there, aligned, and either out itself or apart from
   it. stride is t's, 0 if it is a scalar; n is the number of elements. */
static bool usable(const elementwise_tensor *t, size_t stride,
                   const elementwise_tensor *out, size_t n, size_t size)
{
    uintptr_t a = (uintptr_t)t->data, b = (uintptr_t)out->data;
    bool same = a == b && stride && t->dtype == out->dtype;
    bool apart = a + (stride ? stride * n : ew_types_size(t->dtype)) <= b ||
                 b + n * size <= a;
    return a && (same || apart) && a % ew_types_align(t->dtype) == 0;
}

/*
 * The fast path: all three tensors dense, x and y of one type that a kernel
 * takes as it is, and either shaped as out or of rank 0. It recognises calls
 * that a plan would accept and does what the plan would do; whatever it does
 * not recognise is left to the plan, messages included.
 */
static bool run_dense(elementwise_op op, const elementwise_tensor *x,
                      const elementwise_tensor *y,
                      const elementwise_tensor *out)
{
    int64_t n;
    if (!out || (unsigned)out->ndim > ELEMENTWISE_MAX_NDIM ||
        (out->ndim && !out->shape) || out->strides || !dense(x, out) ||
        !dense(y, out) || (x->ndim | y->ndim) != out->ndim ||
        !ew_types_direct(op, x->dtype, y->dtype, out->dtype) ||
        !same_shape(x, y, out, &n))
        return false;
    int64_t size_x = (int64_t)ew_types_size(x->dtype);
    int64_t size = (int64_t)ew_types_size(out->dtype);
    const struct ew_stride stride[] = {{0, x->ndim == out->ndim ? size_x : 0},
                                       {0, y->ndim == out->ndim ? size_x : 0},
                                       {0, size}};
    ew_kernel *kernel =
        ew_table_kernel(ew_cpu_level(), (int)op, x->dtype, y->dtype);
    if (!kernel || !out->data ||
        (uintptr_t)out->data % ew_types_align(out->dtype) ||
        !usable(x, (size_t)stride[EW_X].col, out, (size_t)n, (size_t)size) ||
        !usable(y, (size_t)stride[EW_Y].col, out, (size_t)n, (size_t)size))
        return false;
    void *const data[] = {x->data, y->data, out->data};
    kernel(1, n, data, stride);
    return true;
}

/* The path of every forward call. */
static elementwise_status run(elementwise_op op, const elementwise_tensor *x,
                              const elementwise_tensor *y, int axis,
                              const elementwise_tensor *out)
{
    struct elementwise_plan plan;
    if (run_dense(op, x, y, out))
        return ELEMENTWISE_OK;
    elementwise_status status = ew_plan_make(&plan, op, x, y, axis, out);
    if (!status)
        status = ew_plan_run(&plan, x->data, y->data, out->data);
    return status;
}

elementwise_status elementwise_apply(elementwise_op op,
                                     const elementwise_tensor *x,
                                     const elementwise_tensor *y, int axis,
                                     const elementwise_tensor *out,
                                     const elementwise_options *options)
{
    elementwise_status status =
        options ? ew_validate_options("apply", options, 0) : ELEMENTWISE_OK;
    return status ? status : run(op, x, y, axis, out);
}

/* The 33 functions of the header. */
#define OP(name, NAME, types, result, fault, ulp)                              \
    elementwise_status elementwise_##name(                                     \
        const elementwise_tensor *x, const elementwise_tensor *y, int axis,    \
        const elementwise_tensor *out)                                         \
    {                                                                          \
        return run(ELEMENTWISE_##NAME, x, y, axis, out);                       \
    }
#include "ops.def"

/* The path of every gradient; what is the function that was called. */
static elementwise_status
run_gradient(const char *what, elementwise_op op, bool second,
             const elementwise_tensor *const tensor[EW_OPERANDS], int axis,
             unsigned flags)
{
    struct ew_request r = {what, op, axis, flags, second, {NULL}};
    for (int k = 0; k < EW_OPERANDS; k++)
        r.tensor[k] = tensor[k];
    return ew_gradient_apply(&r);
}

/* The 18 gradients, and the 4 double gradients. */
#define GRADIENT(name, NAME)                                                   \
    elementwise_status elementwise_##name##_grad(                              \
        const elementwise_tensor *x, const elementwise_tensor *y,              \
        const elementwise_tensor *dout, int axis,                              \
        const elementwise_tensor *dx, const elementwise_tensor *dy)            \
    {                                                                          \
        const elementwise_tensor *const t[EW_OPERANDS] = {                     \
            x, y, dout, [EW_DX] = dx, [EW_DY] = dy};                           \
        return run_gradient(#name "_grad", ELEMENTWISE_##NAME, false, t, axis, \
                            0);                                                \
    }
#define GRADIENT_GRADIENT(name, NAME)                                          \
    elementwise_status elementwise_##name##_grad_grad(                         \
        const elementwise_tensor *x, const elementwise_tensor *y,              \
        const elementwise_tensor *dout, const elementwise_tensor *ddx,         \
        const elementwise_tensor *ddy, int axis, const elementwise_tensor *dx, \
        const elementwise_tensor *dy, const elementwise_tensor *ddout)         \
    {                                                                          \
        const elementwise_tensor *const t[EW_OPERANDS] = {                     \
            x, y, dout, ddx, ddy, dx, dy, ddout};                              \
        return run_gradient(#name "_grad_grad", ELEMENTWISE_##NAME, true, t,   \
                            axis, 0);                                          \
    }
#include "gradients.def"

elementwise_status elementwise_apply_grad(
    elementwise_op op, const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *out, const elementwise_tensor *dout, int axis,
    const elementwise_tensor *dx, const elementwise_tensor *dy,
    const elementwise_options *options)
{
    const elementwise_tensor *const t[EW_OPERANDS] = {
        x, y, dout, [EW_DX] = dx, [EW_DY] = dy};
    (void)out; /* only an act needs it */
    elementwise_status status =
        options
            ? ew_validate_options("apply_grad", options,
                                  ELEMENTWISE_ADD_TO_DX | ELEMENTWISE_ADD_TO_DY)
            : ELEMENTWISE_OK;
    if (status)
        return status;
    return run_gradient("apply_grad", op, false, t, axis,
                        options ? options->flags : 0);
}

#define STRING_(number) #number
#define STRING(number) STRING_(number)

const char *elementwise_version(void)
{
    return STRING(ELEMENTWISE_VERSION_MAJOR) "." STRING(
        ELEMENTWISE_VERSION_MINOR) "." STRING(ELEMENTWISE_VERSION_PATCH);
}

int elementwise_version_number(void)
{
    return ELEMENTWISE_VERSION_MAJOR * 10000 + ELEMENTWISE_VERSION_MINOR * 100 +
           ELEMENTWISE_VERSION_PATCH;
}
