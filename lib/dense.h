/*
 * The fast path of operations.
 */
#ifndef EW_DENSE_H
#define EW_DENSE_H

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

#endif
