/*
 * Complex numbers by their parts, for the tests of kernels: C has no way to
 * join an infinite part to another by arithmetic.
 */
#ifndef COMPLEX_PARTS_H
#define COMPLEX_PARTS_H

#include <complex.h>
#include <stdbool.h>

#include "elementwise.h"
#include "kernels/kernel.h"

/* An element of either type, and a number rounded to it. */
struct ew_c128 parts_load(elementwise_dtype type, const void *element);
void parts_store(elementwise_dtype type, struct ew_c128 a, void *element);

double complex parts_joined(struct ew_c128 a);
bool parts_are_zero(struct ew_c128 a);

/* Both finite, both NaN, or the same infinity. */
bool parts_same_kind(double a, double b);

#endif
