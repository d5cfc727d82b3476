/*
 * Tiles of several loops taken from an operand, or put there.
 */
#ifndef EW_GATHER_H
#define EW_GATHER_H

#include "layout.h"

/* The runs of bytes that a tile takes from an operand, in the tile's order:
   each `run` long and at[i] behind the tile's first element. Where it stands
   still in the loops behind those of a run of 1, 2, 4, 8 or 16 bytes there are
   so many copies of each in the tile, and all runs may be dense. Where it
   stands still in the outermost loops, all that repeats so often. */
struct ew_places {
    int64_t run, runs, copies, repeats;
    bool dense;
    int32_t at[EW_DEEP_ELEMENTS];
    ew_permuter *permute;              /* by that instead, if not NULL, */
    struct ew_permutation permutation; /* whose tables share at */
};

/* The table of a layout that repeats so often. A way that is NULL or has no
   kernel, or would need too long a table, goes run by run. */
void ew_places_make(struct ew_places *places, const struct ew_layout *layout,
                    int64_t repeats, const struct ew_gathering *way);

/* The number of runs there. */
int64_t ew_places_runs(const struct ew_layout *layout);

/* About how many picoseconds that takes run by run, nothing if it is one. */
int64_t ew_places_cost(const struct ew_layout *layout);

/* Makes dense what lies in places, and the other way. */
void ew_gather(const struct ew_places *places, const char *from, char *to);
void ew_scatter(const struct ew_places *places, const char *from, char *to);

#endif
