/*
 * An independent reference: computes what the library must compute, one
 * element at a time, from the text of the contract alone. It shares no line
 * with lib/ and is made to be read, not to be fast.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "elementwise.h"

enum {
    REF_OPS = ELEMENTWISE_BITWISE_RIGHT_SHIFT,
    REF_TYPES = ELEMENTWISE_C128
};

/*
 * One element of any type. Bools and integers are a sign and a magnitude, in
 * which i64 and u64 meet without loss; a double holds every float exactly.
 */
struct ref_value {
    elementwise_dtype type;
    bool negative;
    uint64_t magnitude;
    double re, im;
};

/* How two shapes meet: at dimension k of the result stands dimension x[k] of
   x and y[k] of y; -1: none, which counts as an extent of 1. */
struct ref_fit {
    int ndim;
    int64_t shape[2 * ELEMENTWISE_MAX_NDIM];
    int x[2 * ELEMENTWISE_MAX_NDIM], y[2 * ELEMENTWISE_MAX_NDIM];
};

/* Shapes */

elementwise_status ref_fit(const elementwise_tensor *x,
                           const elementwise_tensor *y, int axis,
                           struct ref_fit *fit);

/* Moves index to the next element of a shape, the last dimension first;
   false after the last. An index starts as zeros. */
bool ref_next(int ndim, const int64_t shape[], int64_t index[]);

/* The element of an operand at an index of the result. */
void *ref_element(const elementwise_tensor *operand, int ndim, const int of[],
                  const int64_t index[]);

/* The element of a tensor at an index of its own. */
void *ref_at(const elementwise_tensor *tensor, const int64_t index[]);

/* Types */

size_t ref_size(elementwise_dtype type);
bool ref_is_integer(elementwise_dtype type);
bool ref_is_signed(elementwise_dtype type);
bool ref_is_float(elementwise_dtype type);
bool ref_is_complex(elementwise_dtype type);
elementwise_dtype ref_promote(elementwise_dtype x, elementwise_dtype y);
elementwise_status ref_result_type(elementwise_op op, elementwise_dtype x,
                                   elementwise_dtype y,
                                   elementwise_dtype *result);

/* NumPy's same_kind rule; and whether op's result may be written as out. */
bool ref_casts(elementwise_dtype from, elementwise_dtype to);
bool ref_writes(elementwise_op op, elementwise_dtype x, elementwise_dtype y,
                elementwise_dtype out);

/* Values */

struct ref_value ref_load(elementwise_dtype type, const void *element);
void ref_store(const struct ref_value *value, void *element);
struct ref_value ref_integer(elementwise_dtype type, uint64_t bits);
struct ref_value ref_float(elementwise_dtype type, double re, double im);

/* Any conversion but complex to real. */
struct ref_value ref_convert(const struct ref_value *value,
                             elementwise_dtype type);

/* x op y in the result's type. OK or DIVISION_BY_ZERO. */
elementwise_status ref_compute(elementwise_op op, const struct ref_value *x,
                               const struct ref_value *y,
                               struct ref_value *result);

/* Whether op is exact on a promoted type: one bit pattern is right, but for
   the sign and payload of a NaN. */
bool ref_is_exact(elementwise_op op, elementwise_dtype promoted);

/*
 * Whether an element of type out is a right result of x op y. If error is
 * not NULL, the distance from the exact result is put there, in ULP (complex:
 * relative to the result's norm), where it was measured; -1 elsewhere.
 */
bool ref_accepts(elementwise_op op, const struct ref_value *x,
                 const struct ref_value *y, elementwise_dtype out,
                 const void *element, double *error);

/* Whether two elements are the same bits, all NaN alike. */
bool ref_same(elementwise_dtype type, const void *a, const void *b);

#endif
