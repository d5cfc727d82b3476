/*
 * The public operations: where every call starts. Simple calls go
 * straight to a kernel; everything else becomes a plan on the stack.
 */
#include "elementwise.h"

#include "dense.h"
#include "fuse.h"
#include "gradient.h"
#include "plan.h"
#include "validate.h"

/* The general path; its plan is large, so it is kept out of the other's
   stack frame. */
static __attribute__((noinline)) elementwise_status
run_plan(elementwise_op op, const elementwise_tensor *x,
         const elementwise_tensor *y, int axis, const elementwise_tensor *out,
         const elementwise_options *options)
{
    struct elementwise_plan plan;
    elementwise_status status = ew_plan_make(&plan, op, x, y, axis, out);
    if (!status)
        status = ew_fuse_plan(&plan, options);
    return status ? status : ew_plan_run(&plan, x->data, y->data, out->data);
}

static elementwise_status run_general(elementwise_op op,
                                      const elementwise_tensor *x,
                                      const elementwise_tensor *y, int axis,
                                      const elementwise_tensor *out)
{
    return run_plan(op, x, y, axis, out, NULL);
}

elementwise_status elementwise_apply(elementwise_op op,
                                     const elementwise_tensor *x,
                                     const elementwise_tensor *y, int axis,
                                     const elementwise_tensor *out,
                                     const elementwise_options *options)
{
    if (!options)
        return ew_dense_run(op, x, y, axis, out, run_general);
    elementwise_status status = ew_validate_options("apply", options, 0);
    if (status)
        return status;
    if (ew_fuse_nothing(options) && !options->flags)
        return ew_dense_run(op, x, y, axis, out, run_general);
    return run_plan(op, x, y, axis, out, options);
}

/* The 33 functions of the header. */
#define OP(name, NAME, types, result, fault, ulp)                              \
    elementwise_status elementwise_##name(                                     \
        const elementwise_tensor *x, const elementwise_tensor *y, int axis,    \
        const elementwise_tensor *out)                                         \
    {                                                                          \
        return ew_dense_run(ELEMENTWISE_##NAME, x, y, axis, out, run_general); \
    }
#include "ops.def"

/* The path of every gradient; what is the function that was called. */
static elementwise_status
run_gradient(const char *what, elementwise_op op, bool second,
             const elementwise_tensor *const tensor[EW_OPERANDS], int axis,
             unsigned flags, const elementwise_options *options)
{
    struct ew_request r = {what, op, axis, flags, second, options, {NULL}};
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
                            0, NULL);                                          \
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
                            axis, 0, NULL);                                    \
    }
#include "gradients.def"

elementwise_status elementwise_apply_grad(
    elementwise_op op, const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *out, const elementwise_tensor *dout, int axis,
    const elementwise_tensor *dx, const elementwise_tensor *dy,
    const elementwise_options *options)
{
    const elementwise_tensor *const t[EW_OPERANDS] = {
        x,
        y,
        dout,
        ew_fuse_takes_out(options) ? out : NULL,
        [EW_DX] = dx,
        [EW_DY] = dy};
    elementwise_status status =
        options
            ? ew_validate_options("apply_grad", options,
                                  ELEMENTWISE_ADD_TO_DX | ELEMENTWISE_ADD_TO_DY)
            : ELEMENTWISE_OK;
    if (status)
        return status;
    return run_gradient("apply_grad", op, false, t, axis,
                        options ? options->flags : 0, options);
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
