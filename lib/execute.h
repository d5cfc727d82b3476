/*
 * Runs a loop nest: the outer loops here, the inner two in kernels, tile by
 * tile through small buffers where types differ.
 */
#ifndef EW_EXECUTE_H
#define EW_EXECUTE_H

#include "plan.h"

/* data[EW_X], data[EW_Y] and data[EW_OUT] are where the loops start. */
void ew_execute(const struct ew_loop *loop, int ndim,
                const struct ew_pass *pass, void *const data[]);

#endif
