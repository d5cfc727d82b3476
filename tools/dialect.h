/*
 * dialect.h - other systems' rules for two shapes. A view says whether a
 * system takes them with its own arguments, and if so what it makes of them
 * and which call of ours does the same.
 */
#ifndef DIALECT_H
#define DIALECT_H

#include <stdbool.h>

#include "counterpart.h"
#include "elementwise.h"

/** Arguments that systems have; each takes some. */
enum { DIALECT_AXIS = 1, DIALECT_NUM_AXES = 2, DIALECT_BROADCAST = 4 };

struct dialect_arguments {
    unsigned given; /**< which of these are */
    int axis, num_axes, broadcast;
};

enum dialect_verdict {
    DIALECT_LEGAL,
    DIALECT_ILLEGAL,
    DIALECT_UNDEFINED /**< not refused: it reads or writes stray memory */
};

/** Bytes of a reason and of a reshape, and notes there may be. */
enum { DIALECT_REASON = 160, DIALECT_TEXT = 2048, DIALECT_NOTES = 7 };

struct dialect_view {
    enum dialect_verdict verdict;
    const char *operation;            /**< its name there; NULL: it has none */
    char reason[DIALECT_REASON];      /**< why not; "" if legal */
    const char *notes[DIALECT_NOTES]; /**< up to NULL, or full */
    int axis; /**< ours that does the same; if not legal, the nearest one */
    bool y_as_scalar; /**< y must be given to us with rank 0 */
    int ndim;         /**< of the result, with shape; only if legal */
    int64_t shape[ELEMENTWISE_MAX_NDIM];
};

const char *dialect_name(int dialect);

/** What the name stands for, as in "Paddle up to 1.5". */
const char *dialect_system(int dialect);

/** The arguments it takes. */
unsigned dialect_takes(int dialect);

/** The axis it reads if none is given; -1 is alignment at the right. */
int dialect_default_axis(int dialect);

/** -1: unknown. */
int dialect_from_name(const char *name);

/** That types are not judged, where it may matter: unless both are f32 or both
    f64, which every system has. NULL: it does not. */
const char *dialect_types_note(const elementwise_tensor *x,
                               const elementwise_tensor *y);

void dialect_look(int dialect, elementwise_op op, const elementwise_tensor *x,
                  const elementwise_tensor *y,
                  const struct dialect_arguments *arguments,
                  struct dialect_view *view);

/**
 * What NumPy does the same with: "y.reshape(3, 4, 1)", or "y" if nothing
 * needs to be reshaped; x where x is placed. Only for a legal view.
 */
void dialect_reshape(const struct dialect_view *view,
                     const elementwise_tensor *x, const elementwise_tensor *y,
                     char text[DIALECT_TEXT]);

#endif
