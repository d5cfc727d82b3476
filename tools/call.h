/*
 * call.h - an operation on two tensors, checked before any data is there.
 */
#ifndef CALL_H
#define CALL_H

#include <stdbool.h>

#include "elementwise.h"

struct call {
    elementwise_op op;
    const elementwise_tensor *x, *y;
    int axis;
    const elementwise_options *options; /**< may be NULL */
    elementwise_dtype dtype;            /**< of the result */
    bool out_given;                     /**< dtype was asked for */
    int ndim;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
};

/**
 * Fills in the result of the operation whose op, x, y, axis and options are
 * given: its shape, and its type unless dtype is given. *plan is the caller's,
 * or NULL on failure; the message is elementwise_last_error()'s.
 */
elementwise_status call_resolve(struct call *call, elementwise_plan **plan);

/**
 * Whether the axis rule places x, not y. Where it places neither, the axis is
 * not read.
 */
int call_places_x(const struct call *call);

/** The axis under which x or y, as given, stands over the result's shape. */
int call_axis_of(const struct call *call, const elementwise_tensor *operand);

/** Whether two operands have one shape. */
bool call_same_shape(const elementwise_tensor *x, const elementwise_tensor *y);

/** The rank of an operand without its trailing 1s. */
int call_kept(const elementwise_tensor *operand);

/** Whether the axis moves the placed operand: not if the shapes are equal or
    it has nothing but 1s. */
bool call_reads_axis(const struct call *call);

/** Where an operand stands over the result: its dimension 0 at start; after
    the first kept ones, its own are dropped. */
struct call_place {
    int start, kept;
};

/** The one place of the command that knows both rules: the library checks
    calls and does not say where operands stand. */
struct call_place call_place(const struct call *call,
                             const elementwise_tensor *operand);

/**
 * Whether a one-shot call surely goes straight to the kernel, without a plan:
 * operands of the result's shape or of rank 0, without strides, that the kernel
 * reads and writes as they are, where the call has no options. plan is the
 * description of its plan. Others may, too; the library tells when it is
 * called. tests/check_dense.c holds this against it.
 */
bool call_is_direct(const struct call *call, const char *plan);

/**
 * Whether it is a power of f32 or f64 by one number, of which some have a
 * formula (lib/kernels/power.inc). Those of halves have it in long rows only.
 */
bool call_has_formulas(const struct call *call, const char *plan);

#endif
