/*
 * The plans of the last calls.
 */
#ifndef EW_CACHE_H
#define EW_CACHE_H

#include "elementwise.h"

/* Runs x op y by a plan: one that was made for the same call not long ago, or a
   new one, which is kept. options may be NULL, else they are valid. The
   statuses of elementwise_apply. */
elementwise_status ew_cache_run(elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                const elementwise_options *options);

#endif
