/*
 * Tiles of more than two loops.
 */
#ifndef EW_TILE_H
#define EW_TILE_H

#include "plan.h"

/* Gives a plan of so many elements tiles of several loops instead of what it
   has, if that is much better; puts the loops of a tile inside the others. */
void ew_tile_deepen(struct elementwise_plan *plan, int64_t elements);

/* Whether operand k passes through such a tile by a table of places: its
   elements there are neither one nor one behind the other. */
bool ew_tile_places(const struct elementwise_plan *plan, int k);

#endif
