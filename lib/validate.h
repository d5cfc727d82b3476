/*
 * The checks of what a caller hands in, each found before any memory is
 * touched. Every function sets the message and returns the status.
 */
#ifndef EW_VALIDATE_H
#define EW_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "elementwise.h"

/* what is the operation's name, name the operand's: "x", "y", "out". */

/* Pointer, rank and extents. INVALID. */
elementwise_status ew_validate_shape(const char *what, const char *name,
                                     const elementwise_tensor *t);

/* The bytes of a shape, extents of 0 left out. TOO_LARGE. */
elementwise_status ew_validate_count(const char *what, int ndim,
                                     const int64_t *shape, size_t size,
                                     int64_t *bytes);

/* Types and operations come as numbers from C's callers. INVALID. */
elementwise_status ew_validate_op(elementwise_op op);
elementwise_status ew_validate_dtype(const char *what, const char *name,
                                     elementwise_dtype dtype);

/* Everything but data: also the dtype, and that every element's offset fits
   in int64. INVALID, TOO_LARGE. */
elementwise_status ew_validate_tensor(const char *what, const char *name,
                                      const elementwise_tensor *t);

/* Data that is going to be accessed: read, if it is an input. INVALID,
   MISALIGNED. */
elementwise_status ew_validate_data(const char *what, const char *name,
                                    const void *data, size_t align, bool input);

/* That nothing is asked for that would have to be ignored; flags are those
   of the call, besides ELEMENTWISE_STREAM. */
elementwise_status ew_validate_options(const char *what,
                                       const elementwise_options *options,
                                       unsigned flags);

#endif
