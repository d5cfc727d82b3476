/*
 * The options that change a result: an activation after the operation and
 * factors before its operands, in the same pass over the data.
 */
#ifndef EW_FUSE_H
#define EW_FUSE_H

#include "plan.h"

/* Whether the options, which may be NULL, change no result. */
bool ew_fuse_nothing(const elementwise_options *options);

/* Whether the operation, which is called `what` in messages, has results for
   which the options are defined. BAD_DTYPE. */
elementwise_status ew_fuse_check(const char *what, const struct ew_types *types,
                                 const elementwise_options *options);

/* Whether the gradient of the options' act follows from its result alone. */
bool ew_fuse_takes_out(const elementwise_options *options);

/* The scales of a pass, computed in a type. */
void ew_fuse_scales(struct ew_pass *pass, int level, elementwise_dtype compute,
                    const elementwise_options *options);

/* Makes the commonest calls without a plan: on floats, by an operation whose
   kernel makes all that the options, which were checked, ask for. False: it was
   not one, and nothing is done. */
bool ew_fuse_run(elementwise_op op, const elementwise_tensor *x,
                 const elementwise_tensor *y, const elementwise_tensor *out,
                 const elementwise_options *options);

/* Adds the options' steps to a plan that is made. BAD_DTYPE. */
elementwise_status ew_fuse_plan(struct elementwise_plan *plan,
                                const elementwise_options *options);

#endif
