/*
 * number.h - an operand that is a number on the command line.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>

#include "elementwise.h"

/** Whether text is a number: 2, -0.5, 1e-3, 0x1p-3, inf, nan. */
bool number_is(const char *text);

/**
 * Reads a number whose type follows from the other operand's, as Python's
 * numbers do in NumPy: it takes that type if the type has numbers of its kind,
 * else it is i64 (without a point) or f64. value has room for a c128. Returns
 * an exit code: COMMAND_REFUSED if the number does not fit its type.
 */
int number_read(const char *text, elementwise_dtype other,
                elementwise_dtype *dtype, void *value);

#endif
