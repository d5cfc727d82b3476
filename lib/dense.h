/*
 * The fast path of operations.
 */
#ifndef EW_DENSE_H
#define EW_DENSE_H

#include <stdbool.h>

#include "elementwise.h"

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

struct ew_around;

/* Runs x op y with what is around it, operands of out's shape or of rank 0, if
   that is a simple call, and op has a kernel for it. If not, false, and nothing
   is done. */
bool ew_dense_run_around(elementwise_op op, const elementwise_tensor *x,
                         const elementwise_tensor *y,
                         const elementwise_tensor *out,
                         struct ew_around *around);

#endif
