/*
 * The fast path of operations.
 */
#ifndef EW_DENSE_H
#define EW_DENSE_H

#include <stdbool.h>

#include "elementwise.h"
#include "kernels/kernel.h"
#include "strategy.h"

/* Elements of a simple call: more are streamed, whatever their type, so these
   can be counted in bytes. */
enum { EW_DENSE_MOST = EW_STREAM_FROM };

typedef elementwise_status ew_call(const elementwise_tensor *x,
                                   const elementwise_tensor *y, int axis,
                                   const elementwise_tensor *out,
                                   elementwise_op op);

/* Runs x op y if it is a simple call. If not, does nothing, and the result is
   that of `otherwise`. Arguments of both are in the order of the public
   functions, which so hand on theirs where they are. */
elementwise_status ew_dense_run(const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                elementwise_op op, ew_call *otherwise);

/* Runs x op y by a kernel of out's type, which may make more, by what is around
   it, if that is a simple call on operands of out's shape or of rank 0, and of
   at most so many elements. If not, false, and nothing is done. */
bool ew_dense_run_around(elementwise_op op, ew_kernel *kernel,
                         const elementwise_tensor *x,
                         const elementwise_tensor *y,
                         const elementwise_tensor *out, int64_t most,
                         struct ew_around *around);

#endif
