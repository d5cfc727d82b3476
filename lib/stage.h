/*
 * Inputs that are made dense before the loops run.
 */
#ifndef EW_STAGE_H
#define EW_STAGE_H

#include "plan.h"

/* Decides whether an input of a plan is staged; its loops become those of the
   run, in which that input has the strides of a dense copy. */
void ew_stage_choose(struct elementwise_plan *plan);

/* The loops over the operands as they are. */
const struct ew_loop *ew_stage_loops(const struct elementwise_plan *plan,
                                     int *ndim);

/* Runs the loops of a plan, if there are any elements. data is where they
   start. */
void ew_stage_run(const struct elementwise_plan *plan, void *const data[]);

#endif
