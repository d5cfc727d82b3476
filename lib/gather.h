/*
 * Where the elements of a tile of several loops lie in an operand: a table
 * that serves all tiles of the same extents.
 */
#ifndef EW_GATHER_H
#define EW_GATHER_H

#include "plan.h"

/* The runs of bytes that a tile takes from an operand, in the tile's order:
   each `run` long and at[i] behind the tile's first element. Where it stands
   still in the loops behind those of a run of 1, 2, 4, 8 or 16 bytes there are
   so many copies of each in the tile, and all runs may be dense. */
struct ew_places {
    int64_t run, runs, copies;
    bool dense;
    int32_t at[EW_DEEP_ELEMENTS];
    ew_permuter *permute;              /* by that instead, if not NULL, */
    struct ew_permutation permutation; /* whose tables share at */
};

/* Lines that are a multiple of EW_CACHE_WAY bytes apart have the same few
   places in a cache: of more than EW_CACHE_WAYS one pushes the other out. */
enum { EW_CACHE_WAY = 4096, EW_CACHE_WAYS = 8 };

enum { EW_TURNED_BYTES = 16 }; /* of a row, or a column, of what is turned */

/* The lines that a tile has of an operand, whatever their order: n of them,
   at[i] behind the tile's first element. Asking for more takes longer than
   waiting for them; from the caches, that is so for fewer. */
enum { EW_DEEP_LINES = 512, EW_NEAR_LINES = 128 };
struct ew_lines {
    int64_t n;
    int32_t at[EW_DEEP_LINES];
};

/* The table of operand k, whose elements have `size` bytes, in a tile made by
   the ndim loops. Places must fit in 32 bits. What is NULL or has no kernel, or
   would need too long a table, goes run by run. */
void ew_places_make(struct ew_places *places, const struct ew_loop *loop,
                    int ndim, int k, int64_t size,
                    const struct ew_gathering *gathering);

/* The number of runs there. */
int64_t ew_places_runs(const struct ew_loop *loop, int ndim, int k,
                       int64_t size);

/* About how many picoseconds that takes run by run, nothing if it is one. */
int64_t ew_places_cost(const struct ew_loop *loop, int ndim, int k,
                       int64_t size);

/* The same for a kernel that permutes, and how many windows then take the
   least; or `least` if that is no more. */
int64_t ew_places_permuting(const struct ew_loop *loop, int ndim, int k,
                            int64_t size, int64_t least, int *windows);

/* The same for a kernel that turns, and of how many bytes what it turns is; or
   INT64_MAX if it cannot. */
int64_t ew_places_turning(const struct ew_loop *loop, int ndim, int k,
                          int64_t size, int64_t *turned);

/* The lines of operand k in such a tile; none where there are too many, or,
   unless they come from memory, they would push each other out of a cache. */
void ew_lines_make(struct ew_lines *lines, const struct ew_loop *loop, int ndim,
                   int k, int64_t size, bool distant);

/* Asks for lines; for those of an output, to be written. */
void ew_lines_fetch(const struct ew_lines *lines, const char *from, bool write);

/* Makes dense what lies in places, and the other way. */
void ew_gather(const struct ew_places *places, const char *from, char *to);
void ew_scatter(const struct ew_places *places, const char *from, char *to);

#endif
