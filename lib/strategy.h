/*
 * How the loops of a plan are best run.
 */
#ifndef EW_STRATEGY_H
#define EW_STRATEGY_H

#include "plan.h"

/* Decides which inputs of a plan are packed and what shape its tiles have;
   may put its loops in another order. */
void ew_strategy_choose(struct elementwise_plan *plan);

enum {
    EW_SHORT_ROW = 64,      /* bytes of out's row; longer ones are fast as is */
    EW_SHORT_TILED = 512,   /* the same where there are tiles anyway */
    EW_SHORT_REPEATED = 97, /* the same where one of an input is repeated */
    EW_SHORT_HALVES = 257,  /* the same of halves, if vectors are left empty */
    EW_REPEATED_ROWS = 32,  /* with fewer none that they share is repeated */
    EW_WORTH_PACKING = 512, /* elements in a block; fewer are run as is */
    EW_WORTH_DEEP = 1024,   /* elements in all for tiles of several loops */
    EW_WORTH_DEEP_CALL = 2048, /* the same of a simple call */
    /* Elements where they have gaps: in a block of inputs that are gathered, in
       all if out has gaps; and in a block if steps are shuffles, out has gaps
       or elements are taken one by one. */
    EW_WORTH_GATHERING = 1024,
    EW_WORTH_SHUFFLING = 256,
    EW_WORTH_STAGING = 16384, /* elements in all of a simple call */
    EW_SHUFFLED = 4, /* elements of a step, beyond which it is no shuffle */
    /* Bytes of an input that is not packed and stands still along a loop: fewer
       are in the L2 cache when they are read again, twice as many if out is
       not. */
    EW_AGAIN_FROM = 3 << 18,
    /* Bytes of out from which it is stored past the caches. Measured: from
       here on that is no slower even if out is read again at once. */
    EW_STREAM_FROM = 20 << 20,
    /* Bytes of a row whose ends take longer than its lines, where kernels store
       past the caches themselves. */
    EW_STREAM_ENDS = 768
};

/* Whether a row of so many bytes leaves more than a ninth of its vectors
   empty. */
static inline bool ew_strategy_leaves_empty(int64_t row, int64_t vector)
{
    int64_t rest = row % vector, empty = rest ? vector - rest : 0;
    return 8 * empty > row;
}

/* Bytes of out's rows from which on they are not folded, for two loops or more;
   size is that of out's elements. Where inputs are rows like that, or one that
   all share, folding takes no more than copies of it: the ends of rows of a
   line and a half take longer, but rows of a line have none. Longer rows of
   halves that wait for their vectors take longer than folded ones, too, if more
   than a ninth of these is empty. */
static inline int64_t ew_strategy_long_row(const struct ew_loop *loop,
                                           int64_t size, bool halves)
{
    int64_t row = loop[0].n * size;
    bool repeats = row != EW_LINE;
    for (int k = 0; k < 2; k++)
        repeats &= loop[0].stride[k] == size &&
                   (loop[1].stride[k] == 0 || loop[1].stride[k] == row);
    if (!repeats)
        return EW_SHORT_ROW;
    return halves && row < EW_SHORT_HALVES &&
                   ew_strategy_leaves_empty(row, EW_LINE)
               ? EW_SHORT_HALVES
               : EW_SHORT_REPEATED;
}

/* Whether an operation on halves waits for its vectors rather than for memory:
   on AVX-512, as f32 or bit by bit, and not of f16 where processors compute it.
   It takes a vector as long as some elements. */
bool ew_strategy_waits_for_halves(elementwise_op op, elementwise_dtype type,
                                  int level);

/* Whether more than a ninth of the vectors that integers of `size` bytes are
   divided in is empty, as rows end in the middle of one, and are not divided by
   a number each. */
bool ew_strategy_wastes_vectors(const struct ew_loop *cols, int64_t size,
                                int level);

/* Whether the kernel of quotients of 32 bits finds inverses of one row for all
   that are divided by it, and that pays: they are not folded for it. */
bool ew_strategy_keeps_words(const struct ew_loop *loop, elementwise_op op,
                             elementwise_dtype type, int level);

/* Whether an operand has gaps and kernels take its elements one by one. */
bool ew_strategy_is_alone(const struct elementwise_plan *plan);

/* Whether two loops have elements enough for a tile that folds rows. */
static inline bool ew_strategy_may_fold(const struct ew_loop *loop, int ndim)
{
    return ndim > 1 && loop[0].n * loop[1].n >= EW_WORTH_PACKING;
}

/* Whether the rows of out are so short, and so many, that they are better
   run as one. size is that of out's elements. */
static inline bool ew_strategy_folds(const struct ew_loop *loop, int ndim,
                                     int64_t size, int64_t long_row)
{
    return ew_strategy_may_fold(loop, ndim) && loop[0].n * size < long_row;
}

/* Short rows of so many elements that a simple call runs as they are, as a plan
   that folds them would take longer than they do: how many, at most. */
int64_t ew_strategy_few_rows(elementwise_op op, elementwise_dtype type,
                             int64_t cols);

/* Whether a call has rows so short, and so few to a block, that tiles of
   several loops may be better, and elements enough to look for them. */
static inline bool ew_strategy_deepens(const struct ew_loop *loop, int ndim,
                                       int64_t size, int64_t elements)
{
    return ndim > 2 && elements >= EW_WORTH_DEEP_CALL &&
           loop[0].n * size < EW_SHORT_ROW &&
           loop[0].n * loop[1].n < EW_WORTH_PACKING;
}

/* Whether a call has rows so short, in blocks so small and many, that an input
   may be better staged. */
static inline bool ew_strategy_stages(const struct ew_loop *loop, int ndim,
                                      int64_t size, int64_t elements)
{
    return ndim > 2 && elements >= EW_WORTH_STAGING &&
           loop[0].n * size < EW_SHORT_TILED &&
           loop[0].n * loop[1].n * size <= EW_STAGE_BYTES;
}

/* Whether the tiles of a block where inputs are turned lie one below the other
   however many there are, by the bytes from row to row of out: all rows start
   in a line where the first does, so that tiles share none. */
static inline bool ew_strategy_goes_down(int64_t pitch)
{
    return pitch != 0 && pitch % EW_LINE == 0;
}

/* Stores out past the caches, if the pieces of it that tiles make are whole
   lines for the most part. */
void ew_strategy_stream(struct elementwise_plan *plan);

/* Whether that is better for so large an output. */
static inline bool ew_strategy_streams(int64_t bytes)
{
    return bytes >= EW_STREAM_FROM;
}

/* Whether so many bytes of an input, which steps of a loop read all again, are
   no longer near then. */
static inline bool ew_strategy_again(int64_t bytes, int64_t bytes_out)
{
    return bytes >= EW_AGAIN_FROM * (ew_strategy_streams(bytes_out) ? 2 : 1);
}

/* Whether it is a copy, made by the kernel that packs, whatever the layout. */
bool ew_strategy_moves(const struct elementwise_plan *plan);

/* Whether out, which has gaps, is made dense in tiles and moved from there. */
bool ew_strategy_scatters(const struct elementwise_plan *plan);

/* Whether it divides c64, whose quotients come from wherever elements lie. */
static inline bool ew_strategy_divides_c64(const struct elementwise_plan *plan)
{
    return plan->op == ELEMENTWISE_DIV &&
           plan->types.compute[EW_X] == ELEMENTWISE_C64;
}

/* What happens to an input: "as is", "staged", "transposed", "permuted",
   "gathered", "repeated", "spread" or "packed". */
const char *ew_strategy_input(const struct elementwise_plan *plan, int k);

/* Whether that is done once for many steps of a loop along which each tile goes
   before the next. */
bool ew_strategy_keeps(const struct elementwise_plan *plan, int k);

/* The input, x (1) or y (2), of which all rows of a block share one, if they
   follow one another otherwise and are so short and many that it is better
   repeated for longer calls (ew_execute_repeated); 0: neither. Sizes are those
   of elements of both inputs and of out. For two loops or more. */
int ew_strategy_shared(const struct ew_loop *loop, int64_t size,
                       int64_t size_out, bool divides);

/* The same of any loops; inline, as few calls have rows enough. */
static inline int ew_strategy_repeats(const struct ew_loop *loop, int ndim,
                                      int64_t size, int64_t size_out,
                                      bool divides)
{
    return ndim > 1 && loop[1].n >= EW_REPEATED_ROWS
               ? ew_strategy_shared(loop, size, size_out, divides)
               : 0;
}

/* Whether so many elements, of so many bytes the widest, take less that way
   than folded. */
static inline bool ew_strategy_repeats_few(int64_t elements, int64_t widest)
{
    enum { FEW_REPEATED = 96 << 10 };
    return elements <= FEW_REPEATED / widest;
}

/* Steps of the loop outside the two inner ones that are the rows of a call,
   which then goes along the loop of rows, as that has few; 0: it is as ever.
   The sizes are those of the largest elements and of out's. */
int ew_strategy_across(const struct ew_loop *loop, int ndim, int64_t size,
                       int64_t size_out);

#endif
