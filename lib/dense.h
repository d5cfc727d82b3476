/*
 * The fast path of operations.
 */
#ifndef EW_DENSE_H
#define EW_DENSE_H

#include <stdbool.h>

#include "elementwise.h"
#include "kernels/kernel.h"

/* So many elements of any type can be counted in bytes. */
static const int64_t ew_dense_most =
    INT64_MAX / (int64_t)sizeof(struct ew_c128);

typedef elementwise_status ew_call(elementwise_op op,
                                   const elementwise_tensor *x,
                                   const elementwise_tensor *y, int axis,
                                   const elementwise_tensor *out);

/* Runs x op y if it is a simple call. If not, does nothing, and the result is
   that of `otherwise`: called as the last step, so that a simple call keeps
   nothing for it. */
elementwise_status ew_dense_run(elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                ew_call *otherwise);

/* Runs x op y by a kernel of out's type, which may make more, by what is around
   it, if that is a simple call on operands of out's shape or of rank 0, and of
   at most so many elements. If not, false, and nothing is done. */
bool ew_dense_run_around(elementwise_op op, ew_kernel *kernel,
                         const elementwise_tensor *x,
                         const elementwise_tensor *y,
                         const elementwise_tensor *out, int64_t most,
                         struct ew_around *around);

#endif
