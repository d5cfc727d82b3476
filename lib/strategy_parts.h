/*
 * The parts of ew_strategy_choose, in the order in which strategy.c asks them,
 * and what they share.
 */
#ifndef EW_STRATEGY_PARTS_H
#define EW_STRATEGY_PARTS_H

#include "strategy.h"

/* Bytes of an operand's elements, each of them once, unless it overlaps itself.
 */
int64_t ew_strategy_bytes(const struct elementwise_plan *plan, int k);

/* Bytes from the first to the last of an operand. */
int64_t ew_strategy_span(const struct elementwise_plan *plan, int k);

/* The loop, of those from `first` on, along which the elements of operand k are
   nearest to one another; `first` if it stands still in all. */
int ew_strategy_nearest(const struct elementwise_plan *plan, int k, int first);

/* Whether operands have so many bytes, gaps and all. */
bool ew_strategy_spans_reach(const struct elementwise_plan *plan,
                             int64_t bytes);

/* The elements of a block. */
static inline int64_t ew_strategy_block(const struct elementwise_plan *plan)
{
    return plan->loop[0].n * (plan->ndim > 1 ? plan->loop[1].n : 1);
}

/* Whether the elements of operand k are neither neighbours nor one. */
static inline bool ew_strategy_is_apart(const struct elementwise_plan *plan,
                                        int k)
{
    int64_t step = plan->loop[0].stride[k];
    return step != 0 && step != plan->pass.stored[k];
}

/* Whether lines of operand k stay in the L1 cache from one step of the other
   loops to the next, if loop i is the innermost, or in `caches` times its
   room. */
bool ew_strategy_keeps_lines(const struct elementwise_plan *plan, int i, int k,
                             int caches);

/* Whether op is add, sub, mul, max or min, which take less time than memory. */
bool ew_strategy_is_quick(elementwise_op op);

/* Whether op compares: equal to greater_equal. */
bool ew_strategy_is_comparison(elementwise_op op);

/* Whether out, with all that is read for it, is stored past the caches if it is
   made in tiles of dense rows. */
bool ew_strategy_is_large(const struct elementwise_plan *plan);

/* Where vectors of what lies across memory may be waited for: below AVX-512,
   measured beside a small cache. */
bool ew_strategy_may_wait(const struct elementwise_plan *plan);

/* Where such vectors are waited for longer, as few lines are on their way at
   once: below AVX-512. */
bool ew_strategy_reads_few(const struct elementwise_plan *plan);

/* Puts the loops outside rows into the order of large inputs, if that is
   another than out's. */
void ew_strategy_order(struct elementwise_plan *plan);

/* Lets input k be packed. */
void ew_strategy_pack(struct elementwise_plan *plan, int k);

/* The loop along which input k runs through memory, several elements to a line,
   if that is not the innermost, where it runs across it; 0: there is none. */
int ew_strategy_along(const struct elementwise_plan *plan, int k);

/* Packs the inputs that run along the rows' loop, which it moves there. Only
   one loop can be that: an input that would need another one stays as it is. */
void ew_strategy_turn(struct elementwise_plan *plan);

/* Whether an operation, or what follows it, takes longer than elements are
   moved: vectors save more of it than that. Not of complex numbers, of which
   vectors hold few, nor of conversions. */
bool ew_strategy_takes_long(const struct elementwise_plan *plan);

/* Whether elements with gaps are better left to the kernel, one by one. Not if
   they pass through buffers anyway, or one such row is gathered for many, or
   out is stored past the caches, by vectors, unless gathering takes longer. */
bool ew_strategy_takes_alone(const struct elementwise_plan *plan);

/* The same of inputs that might be turned, whose lines stay in the L1 cache, or
   in the room of two in long rows. */
bool ew_strategy_stays_alone(const struct elementwise_plan *plan);

/* Packs inputs with gaps. Whether there are any. */
bool ew_strategy_gather(struct elementwise_plan *plan);

/* Whether input k is one of these. */
bool ew_strategy_is_turned(const struct elementwise_plan *plan, int k);

/* Leaves short rows to kernels that take them as they are, and returns true; or
   folds them. `tiles`: types are converted anyway, or an input is gathered. */
bool ew_strategy_rows(struct elementwise_plan *plan, bool tiles);

/* Whether nothing stands around the operation. */
static inline bool ew_strategy_is_bare(const struct elementwise_plan *plan)
{
    return plan->act == ELEMENTWISE_ACT_NONE && !plan->scaled[EW_X] &&
           !plan->scaled[EW_Y];
}

/* Lets calls that are no tiles be of several rows where these share one of an
   input, and are short. */
void ew_strategy_repeat(struct elementwise_plan *plan);

/* Folds the rows of tiles that are there anyway, of turned or gathered inputs,
   though they have too few elements for it elsewhere, if that is all there is
   to do: calls of kernels are fewer, and only both ends of a tile are parts of
   lines. */
void ew_strategy_fold_few(struct elementwise_plan *plan);

/* What tiles are like where inputs are turned, for so many bytes of out. A
   column of one is several lines of each of these: more rows where both are.
   Fewer where the other input is packed, of which a tile then takes longer
   pieces, if a column is a line of what is turned still; more of small
   elements, of which it was less. */
void ew_strategy_shape_turned(struct elementwise_plan *plan, int64_t bytes);

/* Lets each tile go along a loop where an input stands still before the next
   tile. */
void ew_strategy_keep(struct elementwise_plan *plan);

/* Makes tiles one line of what is turned high, and so as wide as they can be,
   where processors read late: from the caches, and where tiles side by side
   share lines of out. */
void ew_strategy_widen(struct elementwise_plan *plan, int64_t bytes);

/* Lets tiles follow each other along the loop where the turned input reads on
   in memory: all of a block, or each before the next one where the lines of a
   block are more than caches keep until they are read on, or read again for
   what lies between. */
void ew_strategy_read_on(struct elementwise_plan *plan, int64_t bytes);

/* Whether out is stored past the caches beside a turned input. Small elements
   in rows that start anywhere in a line are stored so more slowly, as so much
   is ends of rows. */
bool ew_strategy_streams_turned(const struct elementwise_plan *plan,
                                int64_t bytes);

#endif
