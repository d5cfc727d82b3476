/*
 * The steps that a tile goes through, from operands to out.
 */
#ifndef EW_STEPS_H
#define EW_STEPS_H

#include "execute.h"
#include "gather.h"

/* The buffers of one tile, aligned for any vector. Both what is packed before
   it is converted and what was converted before it is streamed are stored;
   what is rounded and then converted goes there and back. Operands that are
   gathered or scattered have places; others none. What is loaded of an input
   is kept if the tile needs the same as the one before, or less rows. What is
   left of `ahead`, two inputs of a tile that comes, or NULL, is asked for while
   this one is packed. */
struct ew_buffers {
    _Alignas(64) char load[2][EW_TILE_BYTES];
    _Alignas(64) char stored[EW_TILE_BYTES], made[EW_TILE_BYTES];
    const struct ew_places *places[EW_FORWARD];
    bool kept[2];
    struct ew_ahead *ahead;
};

/* One tile through the steps of the pass. The tile is changed on the way, from
   operands to buffers. */
void ew_steps_run(const struct ew_pass *pass, struct ew_block *tile,
                  struct ew_buffers *buffers);

/* Makes so many bytes repeat until there are `all`. */
void ew_steps_repeat(char *at, int64_t bytes, int64_t all);

#endif
