/*
 * The fast path of operations.
 */
#ifndef EW_DENSE_H
#define EW_DENSE_H

#include <stdbool.h>

#include "elementwise.h"

/* Runs x op y if it is a simple call; false: it was not, nothing is done. */
bool ew_dense_run(elementwise_op op, const elementwise_tensor *x,
                  const elementwise_tensor *y, int axis,
                  const elementwise_tensor *out);

#endif
