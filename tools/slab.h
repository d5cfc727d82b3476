/*
 * slab.h - work on arrays that may be larger than memory, piece by piece.
 */
#ifndef SLAB_H
#define SLAB_H

#include "operand.h"

/** An input and its view in the shape of the result. */
struct slab_input {
    const struct operand *from;
    elementwise_tensor view;
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    void *scratch; /**< one slab of what is not ready; slab_run's */
};

/** out = x op y, or out = x if op is 0. */
struct slab_job {
    elementwise_op op;
    const elementwise_options *options; /**< of op; may be NULL */
    struct slab_input input[2]; /**< x and y; y is not read if op is 0 */
    elementwise_dtype dtype;
    int ndim;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    unsigned char *out; /**< mapped */
    bool column_major;  /**< slab_transpose has been called */
};

/**
 * Makes input k a view of operand over the job's shape under axis. Returns
 * an exit code.
 */
int slab_view(struct slab_job *job, int k, const struct operand *operand,
              int axis);

/**
 * Turns a job with a row-major output into the same job with a column-major
 * one by reversing all dimensions.
 */
void slab_transpose(struct slab_job *job);

/**
 * Runs the job in slabs of consecutive rows of the result, each of a few
 * megabytes, and gives mapped pages back as it goes. If it takes long and
 * stderr is a terminal, it shows progress there. Returns an exit code; unless
 * it is 0, what is in out is of no use.
 */
int slab_run(struct slab_job *job);

/**
 * Replaces the map of a file that the library cannot read where it is by one
 * of memory that has the same elements in the same order. Does nothing to
 * other operands. Returns an exit code.
 */
int slab_load(struct operand *operand);

#endif
