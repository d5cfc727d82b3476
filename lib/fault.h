/*
 * Looks through the operands of integer division and power before anything is
 * written.
 */
#ifndef EW_FAULT_H
#define EW_FAULT_H

#include "plan.h"

/* DIVISION_BY_ZERO if the plan's operation is not defined for an element. */
elementwise_status ew_fault_check(const struct elementwise_plan *plan,
                                  void *const data[]);

#endif
