/*
 * An independent reference for gradients: every term of every sum in long
 * double, from the formulas of the contract, and how far a result may lie
 * from their sum. It shares no line with lib/.
 */
#ifndef GRADIENT_REFERENCE_H
#define GRADIENT_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "elementwise.h"

/* The sum that belongs to one element of an output. */
struct grad_cell {
    long double re, im;
    long double magnitude; /* of the terms, added up */
    long double error;     /* that the terms may have, added up */
    int64_t terms;
};

/* What is differentiated: op of x and y under axis. ddx and ddy may be NULL;
   so may be the data of any of them. */
struct grad_call {
    elementwise_op op;
    const elementwise_tensor *x, *y, *dout, *ddx, *ddy;
    int axis;
};

enum grad_output { GRAD_DX, GRAD_DY, GRAD_DDOUT };

int64_t grad_count(const elementwise_tensor *t);

/* The element of a tensor that has no other name than its place in row-major
   order. */
void *grad_nth(const elementwise_tensor *t, int64_t n);

/* The cells of an output in row-major order, to be freed. If added is true,
   what the output holds is a term too. */
struct grad_cell *grad_cells(const struct grad_call *call,
                             enum grad_output which,
                             const elementwise_tensor *output, bool added);

/* The same for a double gradient. */
struct grad_cell *grad_grad_cells(const struct grad_call *call,
                                  enum grad_output which,
                                  const elementwise_tensor *output);

/* The same for the sum of src in the shape of dst. */
struct grad_cell *grad_sum_cells(const elementwise_tensor *src, int axis,
                                 const elementwise_tensor *dst, bool added);

/* Whether an element of the given type is a right value of the cell, where
   compute is the type of the terms. */
bool grad_accepts(const struct grad_cell *cell, elementwise_dtype compute,
                  elementwise_dtype type, const void *element);

#endif
