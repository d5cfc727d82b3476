/*
 * compare.h - how far two elements are from each other, in units in the last
 * place (ULP), and elements as text.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <stddef.h>

#include "elementwise.h"

/**
 * The distance of b from a. Floats: in ULP of the larger magnitude of a and
 * scale; 0 is the same number, and two NaNs are the same. Infinity: nothing
 * but the same number is near a NaN, an infinity, or a zero of the other sign.
 * Complex: the larger part's distance, in ULP of a's larger part. Integers:
 * the difference. Bool: infinity unless both are true or both are false.
 */
double compare_elements(elementwise_dtype dtype, const void *a, const void *b,
                        double scale);

/** A real element of a float type as double, which holds it exactly; of
    others the nearest. Complex: the magnitude of the larger part. */
double compare_value(elementwise_dtype dtype, const void *element);

/** The bits as hexadecimal digits, complex parts separated by a comma. */
enum { COMPARE_TEXT = 64 };
char *compare_hex(elementwise_dtype dtype, const void *element,
                  char text[COMPARE_TEXT]);

/** The index, such as (1,0), of the element that is number i in row-major
    order; cut to size. */
void compare_index(int ndim, const int64_t *shape, size_t i, char *text,
                   size_t size);

/** As decimal digits that tell it from its neighbours. */
char *compare_decimal(elementwise_dtype dtype, const void *element,
                      char text[COMPARE_TEXT]);

#endif
