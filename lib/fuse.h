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

/* A parameter as kernels on dtype read it. */
union ew_parameter ew_fuse_parameter(elementwise_dtype dtype, double value);

/* Adds the options' steps to a plan that is made. BAD_DTYPE. */
elementwise_status ew_fuse_plan(struct elementwise_plan *plan,
                                const elementwise_options *options);

#endif
