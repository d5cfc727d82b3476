/*
 * output.h - a .npy file that appears complete or not at all.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "elementwise.h"

/** How many there may be at a time. */
enum { OUTPUT_MOST = 2 };

struct output {
    char *target; /**< the name it will have */
    mode_t mode;  /**< its own if it exists, else as umask says */
    /** The name it has until then, in the same folder; then NULL. */
    char *temporary;
    unsigned char *map;
    size_t size;
    unsigned char *data; /**< where the elements go */
};

/**
 * Creates a temporary file of the right size, with its blocks allocated, maps
 * it and writes the header. From here on a signal that ends the process
 * removes it. Returns an exit code; output_discard is due in any case.
 */
int output_create(struct output *output, const char *name,
                  elementwise_dtype dtype, int ndim, const int64_t *shape,
                  bool fortran);

/** Gives the file its name, replacing what had it. Does nothing to an output
    that is all zero. Returns an exit code. */
int output_commit(struct output *output);

/** Removes what has not been committed, and frees the rest. Does nothing to an
    output that is all zero. */
void output_discard(struct output *output);

#endif
