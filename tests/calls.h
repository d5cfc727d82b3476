/*
 * Random calls of every kind, on operands with random types, shapes and
 * layouts, for tests that look at what any call takes.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>

#include "elementwise.h"

enum {
    CALLS_NDIM = 6,
    CALLS_OPERANDS = 8 /* x, y, out, dout, dx, dy, and two more such */
};

/* The last two kinds have no y: src is x, dst is dx, or src is y, dst is out.
 */
enum calls_kind {
    CALLS_FORWARD,
    CALLS_BACKWARD,
    CALLS_TWICE,
    CALLS_SUM,
    CALLS_COPY
};

struct calls_call {
    elementwise_op op;
    elementwise_tensor t[CALLS_OPERANDS];
    int64_t shape[CALLS_OPERANDS][CALLS_NDIM];
    int64_t strides[CALLS_OPERANDS][CALLS_NDIM];
    elementwise_options options;
    enum calls_kind kind;
};

/* Fills x and y with numbers other than 0. */
void calls_fill(void);

/* False: types have no such result. */
bool calls_draw(struct calls_call *c);

elementwise_status calls_run(const struct calls_call *c);

#endif
