/*
 * How the loops of a plan are best run.
 */
#ifndef EW_STRATEGY_H
#define EW_STRATEGY_H

#include "plan.h"

/* Decides which inputs of a plan are packed and what shape its tiles have;
   may put its loops in another order. */
void ew_strategy_choose(struct elementwise_plan *plan);

/* What happens to an input: "as is", "transposed", "repeated", "spread" or
   "packed". */
const char *ew_strategy_input(const struct elementwise_plan *plan, int k);

#endif
