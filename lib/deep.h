/*
 * Tiles of several loops.
 */
#ifndef EW_DEEP_H
#define EW_DEEP_H

#include "plan.h"

/* Runs a nest whose pass has `deep` loops in a tile. data as in execute.h. */
void ew_deep_run(const struct ew_loop *loop, int ndim,
                 const struct ew_pass *pass, void *const data[]);

#endif
