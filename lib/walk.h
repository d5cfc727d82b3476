/*
 * What the three parts of a walk share: walk.c has its loops and its sums,
 * walk_tile.c what is in them, and walk_deep.c tiles of more loops than two.
 */
#ifndef EW_WALK_H
#define EW_WALK_H

#include "execute.h"
#include "gradient.h"

enum {
    EW_WALK_INPUTS = EW_DDY + 1,
    EW_WALK_TILE = 4096, /* bytes of each of up to six buffers */
    EW_WALK_LOOPS = 12   /* of a tile of 2048 elements, at most */
};

/* What one walk needs of the stack. */
struct ew_walk_room {
    _Alignas(64) char in[EW_WALK_INPUTS][EW_WALK_TILE];
    _Alignas(64) char made[EW_WALK_TILE];
    _Alignas(64) double sums[2 * EW_ACCUMULATORS]; /* and what they lose */
    struct ew_block tile, inner; /* in memory, and as derivatives take it */
    struct ew_walk_deep *deep;   /* tiles of several loops, in walk_deep.c */
};

/* Complex numbers are two sums each. */
static inline bool ew_walk_is_complex(const struct ew_gradient *g)
{
    return ew_types_kind(g->compute) == EW_KIND_COMPLEX;
}

/* Elements of a tile. One that uses ddy has half of what fits, for its buffer
   to have room for what is packed. */
static inline int64_t ew_walk_fit(const struct ew_gradient *g,
                                  const struct ew_walk *w)
{
    int64_t fit = EW_WALK_TILE / (int64_t)ew_types_size(g->compute);
    return w->uses >> EW_DDY & 1 ? fit / 2 : fit;
}

/* Where elements are made dense as they are stored in memory, before they are
   converted or after. */
static inline char *ew_walk_packed(const struct ew_walk *w,
                                   struct ew_walk_room *room)
{
    bool used = w->uses >> EW_DDY & 1;
    return room->in[EW_DDY] + (used ? EW_WALK_TILE / 2 : 0);
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

/* Runs one tile, which is in room. */
void ew_walk_tile(const struct ew_gradient *g, const struct ew_walk *w,
                  struct ew_walk_room *room);

/* Converts what a term made, or adds it to what is there. */
void ew_walk_convert(const struct ew_term *t, int64_t rows, int64_t cols,
                     const void *made, struct ew_stride from, void *out,
                     struct ew_stride to);

/* Adds rows to the sums, or what kernel `sum` makes of several operands. */
void ew_walk_add(const struct ew_gradient *g, const struct ew_walk *w,
                 ew_sum *sum, const struct ew_block *tile, void *const data[],
                 const struct ew_stride stride[], bool streams);

/* walk_deep.c: chooses tiles of several loops where two are too small, and runs
   the inner loops in them. */
void ew_walk_deepen(const struct ew_gradient *g, struct ew_walk *w);
void ew_walk_deep(const struct ew_gradient *g, const struct ew_walk *w,
                  const struct ew_loop *loop, void *const data[],
                  struct ew_walk_room *room);

/* Moves elements from EW_X of a nest to EW_OUT, of which the loops change, for
   that to be stored along memory where it runs across it or backwards. */
void ew_walk_move(const struct ew_gradient *g, elementwise_dtype type,
                  struct ew_loop loop[], int ndim, void *from, void *to);

/* What such a tile has of an input becomes a dense row; what was made is stored
   or summed. */
void ew_walk_bring(const struct ew_gradient *g, const struct ew_walk *w,
                   struct ew_walk_room *room, int k);
void ew_walk_store(const struct ew_gradient *g, const struct ew_walk *w,
                   const struct ew_term *t, struct ew_walk_room *room,
                   void *made);
void ew_walk_sum(const struct ew_gradient *g, const struct ew_walk *w,
                 const struct ew_term *t, struct ew_walk_room *room,
                 void *made);

#endif
