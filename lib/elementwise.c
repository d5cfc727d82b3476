/*
 * The public operations: where every call starts. Simple calls go
 * straight to a kernel; everything else becomes a plan.
 */
#include "elementwise.h"

#include "cache.h"
#include "dense.h"
#include "fuse.h"
#include "validate.h"

static elementwise_status run_general(const elementwise_tensor *x,
                                      const elementwise_tensor *y, int axis,
                                      const elementwise_tensor *out,
                                      elementwise_op op)
{
    return ew_cache_run(op, x, y, axis, out, NULL);
}

elementwise_status elementwise_apply(elementwise_op op,
                                     const elementwise_tensor *x,
                                     const elementwise_tensor *y, int axis,
                                     const elementwise_tensor *out,
                                     const elementwise_options *options)
{
    if (!options)
        return ew_dense_run(x, y, axis, out, op, run_general);
    elementwise_status status = ew_validate_options("apply", options, 0);
    if (status)
        return status;
    if (ew_fuse_nothing(options) && !options->flags)
        return ew_dense_run(x, y, axis, out, op, run_general);
    if (ew_fuse_run(op, x, y, out, options))
        return ELEMENTWISE_OK;
    return ew_cache_run(op, x, y, axis, out, options);
}

/* The 33 functions of the header. */
#define OP(name, NAME, types, result, fault, ulp)                              \
    elementwise_status elementwise_##name(                                     \
        const elementwise_tensor *x, const elementwise_tensor *y, int axis,    \
        const elementwise_tensor *out)                                         \
    {                                                                          \
        return ew_dense_run(x, y, axis, out, ELEMENTWISE_##NAME, run_general); \
    }
#include "ops.def"

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
