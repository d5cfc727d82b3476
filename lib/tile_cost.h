/*
 * What a tile of several loops costs, for the search in tile.c.
 */
#ifndef EW_TILE_COST_H
#define EW_TILE_COST_H

#include "plan.h"

/* An operand of more bytes does not stay in the L2 cache. */
enum { EW_FAR_BYTES = 1 << 20 };

/* The loops of a plan along which one operand moves. */
struct ew_tile_course {
    int loops;
    struct {
        int64_t step, most; /* steps before lines of out push each other out */
        int loop;
    } at[EW_DEEP_NDIM];  /* nearest first */
    int64_t size, bytes; /* of an element, of all */
    int64_t first, next; /* cost of the first line of a block, of others */
    int64_t over;        /* bytes between blocks that are read over */
    bool by_one;         /* gathered run by run, from beyond the L2 cache */
};

/* The plan for which a tile is looked for, with loops in the order they have
   now. */
struct ew_tile_search {
    const struct elementwise_plan *plan;
    int64_t elements; /* of the result */
    struct ew_tile_course course[3];
};

/* A tile that may be taken: how much of each loop it holds, the best way to
   gather each input and to scatter out, and what that costs; and what an
   element costs in all. */
struct ew_tile {
    int64_t extent[EW_DEEP_NDIM];
    struct ew_gathering gather[3];
    int64_t moved[3], cost;
};

/* Fills what a search knows of its operands, by the loops there are now. */
void ew_tile_courses(struct ew_tile_search *s);

/* Elements of a tile. */
int64_t ew_tile_elements(const struct elementwise_plan *plan,
                         const int64_t extent[]);

/* The bytes of operand k that lie one behind the other in a tile of the ndim
   inner loops, from its first element on; 0 if it stands still. */
int64_t ew_tile_run(const struct elementwise_plan *plan, int k, int ndim,
                    const int64_t extent[]);

/* What it costs to bring the lines of an operand in a tile: what lies closer
   than a line, or than processors read on, is a block, farther loops repeat
   it. */
int64_t ew_tile_lines(const struct ew_tile_course *course,
                      const int64_t extent[]);

/* What the lines of all operands cost, per element. */
int64_t ew_tile_lines_each(const struct ew_tile_search *s,
                           const int64_t extent[]);

/* Whether the lines of an input in a tile push each other out of the L1 cache
   where they come from beyond the L2 cache, run by run. */
bool ew_tile_pushes_out(const struct ew_tile_search *s, const int64_t extent[]);

/* Fills a tile whose extents are there. */
void ew_tile_weigh(const struct ew_tile_search *s, struct ew_tile *tile);

/* Whether few steps gather or scatter each operand of a tile. */
bool ew_tile_takes_few(const struct elementwise_plan *plan,
                       const struct ew_tile *tile);

/* What an element costs beyond lines in the tiles of two loops, or in the
   calls, that there are. */
int64_t ew_tile_flat(const struct elementwise_plan *plan,
                     const int64_t extent[]);

/* What an element costs in a tile of so many, at least: its own bytes of lines
   that follow one another, those of inputs that overlap as often as they are
   read. */
int64_t ew_tile_least(const struct ew_tile_search *s, int64_t elements);

/* Whether what an element costs in a tile is much less than now, as both are no
   more than estimates. */
bool ew_tile_is_cheaper(const struct ew_tile_search *s, int64_t cost,
                        int64_t now);

#endif
