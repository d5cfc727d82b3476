/*
 * What the two parts of a walk share: walk.c has its loops and its sums,
 * walk_tile.c what is in them.
 */
#ifndef EW_WALK_H
#define EW_WALK_H

#include "execute.h"
#include "gradient.h"

enum {
    EW_WALK_INPUTS = EW_DDY + 1,
    EW_WALK_TILE = 4096 /* bytes of each of up to seven buffers */
};

/* What one walk needs of the stack. */
struct ew_walk_room {
    _Alignas(64) char in[EW_WALK_INPUTS][EW_WALK_TILE];
    _Alignas(64) char made[EW_WALK_TILE];
    _Alignas(64) char packed[EW_WALK_TILE];        /* dense, as it is stored */
    _Alignas(64) double sums[2 * EW_ACCUMULATORS]; /* and what they lose */
    struct ew_block tile, inner; /* in memory, and as derivatives take it */
};

/* Complex numbers are two sums each. */
static inline bool ew_walk_is_complex(const struct ew_gradient *g)
{
    return ew_types_kind(g->compute) == EW_KIND_COMPLEX;
}

/* The term that is summed, which is always the last, or NULL. */
static inline const struct ew_term *ew_walk_reduced(const struct ew_walk *w)
{
    const struct ew_term *last = w->term[w->terms - 1];
    return last->reduced ? last : NULL;
}

/* Runs the two inner loops. What is summed is added to the accumulators, which
   the block has as that output. */
void ew_walk_block(const struct ew_gradient *g, const struct ew_walk *w,
                   const struct ew_block *block, struct ew_walk_room *room);

#endif
