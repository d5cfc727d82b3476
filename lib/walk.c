/*
 * Turns the terms of a gradient into walks over the loops, and runs those that
 * are not tiles (walk_tile.c):
 *
 *     for each loop outside                        one part of the sums
 *         for each loop inside, in tiles
 *             x, y, dout -> dx
 *                        -> accumulators
 *         accumulators -> dy
 *
 * Loops inside run in the order of memory. The accumulators are a buffer of
 * fixed size: where the sums are more than fit, their loops go outside, and
 * one is cut in two.
 */
#include "walk.h"

#include <string.h>

#include "strategy.h"
#include "table.h"

/* Bytes of the result from which what is stored goes past the caches, and above
   which inputs are asked for ahead; less is in the caches or soon there; and
   from which on all of them come from memory. Measured. */
enum { STREAM_FROM = 16 << 20, ASK_FROM = 1 << 20, DISTANT_FROM = 32 << 20 };

/* The same from which it is worth it to look for loops that are turned or too
   short. */
enum { SHAPE_FROM = 1 << 10 };

/* Extents of what is turned in tiles, and rows of these. */
enum { WORTH_TURNING = 4, TURNED_BYTES = 64 };

/* The loop in which operand k has its smallest step; -1: it has none. */
static int innermost(const struct ew_walk *w, int k)
{
    int found = -1;
    int64_t least = INT64_MAX;
    for (int i = 0; i < w->ndim; i++) {
        int64_t step = ew_magnitude(w->loop[i].stride[k]);
        if (step && step < least) {
            least = step;
            found = i;
        }
    }
    return found;
}

/* The operand that loops are in the order of: an output stored as it comes, or
   else the inputs; but dout if, of those that run through both loops which are
   innermost to one of the two, more run through memory as it does. */
static int leader(const struct ew_walk *w)
{
    const struct ew_term *t = w->term[0];
    if (t->reduced || w->ndim < 2)
        return t->reduced ? EW_OUT : t->out;
    int as_first = innermost(w, t->out), as_dout = innermost(w, EW_OUT);
    int votes = 0;
    if (as_first < 0 || as_dout < 0 || as_first == as_dout)
        return t->out;
    for (int i = 0; i < w->operands; i++) {
        int k = w->operand[i], along = innermost(w, k);
        if (w->loop[as_first].stride[k] && w->loop[as_dout].stride[k])
            votes += (along == as_dout) - (along == as_first);
    }
    return votes > 0 ? EW_OUT : t->out;
}

/* The loops, without the strides of operands that the walk does not touch,
   which would keep loops apart. */
static void open_loops(const struct ew_gradient *g, struct ew_walk *w)
{
    unsigned touched = 0;
    w->uses = 0;
    for (int i = 0; i < w->terms; i++) {
        w->uses |= w->term[i]->uses;
        touched |= w->term[i]->uses | 1u << w->term[i]->out;
    }
    w->operands = 0;
    for (int k = 0; k < EW_OPERANDS; k++)
        if (touched >> k & 1)
            w->operand[w->operands++] = (unsigned char)k;
    w->ndim = g->ndim;
    for (int i = 0; i < g->ndim; i++) {
        w->loop[i].n = g->loop[i].n;
        for (int k = 0; k < EW_OPERANDS; k++)
            w->loop[i].stride[k] = touched >> k & 1 ? g->loop[i].stride[k] : 0;
    }
    const int order[] = {leader(w), EW_OUT, EW_X, EW_Y, EW_DDX, EW_DDY};
    ew_plan_sort(w->loop, w->ndim, order, sizeof order / sizeof *order);
    w->ndim = ew_plan_merge(w->loop, w->ndim, EW_OPERANDS);
}

/* The loop along which operand k runs through memory, if it runs across it in
   the innermost; 0: there is none. */
static int along(const struct ew_walk *w, int k, int64_t size)
{
    int64_t least = ew_magnitude(w->loop[0].stride[k]);
    int found = 0;
    if (least <= EW_SHUFFLED * size)
        return 0;
    for (int i = 1; i < w->ndim; i++) {
        int64_t step = ew_magnitude(w->loop[i].stride[k]);
        if (step && step < least && step < EW_LINE &&
            w->loop[i].n >= WORTH_TURNING) {
            least = step;
            found = i;
        }
    }
    return found;
}

/* The same of the first such operand. */
static int along_any(const struct ew_gradient *g, const struct ew_walk *w)
{
    int found = 0;
    if (w->ndim < 2 || w->loop[0].n < WORTH_TURNING)
        return 0;
    for (int i = 0; i < w->operands && !found; i++)
        found = along(w, w->operand[i],
                      (int64_t)ew_types_size(g->dtype[w->operand[i]]));
    return found;
}

/* Puts a loop of the sums inside as far as the accumulators reach, and the
   rest of it outside. room is how many elements still fit. Returns what is
   left of it. */
static int64_t place(struct ew_walk *w, struct ew_loop loop, int out,
                     int64_t room, struct ew_loop *outside, int *n_outside)
{
    if (room > 1) {
        w->stride_out[w->inside] = loop.stride[out];
        w->loop[w->inside] = loop;
        if (loop.n <= room) {
            w->inside++;
            return room / loop.n;
        }
        w->loop[w->inside].n = room;
        w->split = w->inside++;
        w->split_n = loop.n;
        loop.n = (loop.n + room - 1) / room;
        for (int k = 0; k < EW_OPERANDS; k++)
            loop.stride[k] *= room;
    }
    outside[(*n_outside)++] = loop;
    return 1;
}

/* Sorts loops into those of the accumulators and those outside. */
static void cut(const struct ew_gradient *g, struct ew_walk *w, int out)
{
    struct ew_loop all[ELEMENTWISE_MAX_NDIM];
    struct ew_loop outside[ELEMENTWISE_MAX_NDIM];
    int n = w->ndim, n_outside = 0;
    w->lanes = n && w->loop[0].stride[out] == 0;
    int64_t parts = ew_walk_is_complex(g) ? 2 : 1;
    /* What loses nothing has the place of what is lost too. */
    int64_t doubles = w->loses ? EW_ACCUMULATORS : 2 * EW_ACCUMULATORS;
    int64_t room = doubles / parts;
    memcpy(all, w->loop, (size_t)n * sizeof *all);
    w->inside = 0;
    for (int i = 0; i < n; i++) {
        if (all[i].stride[out])
            room = place(w, all[i], out, room, outside, &n_outside);
        else {
            w->stride_out[w->inside] = 0;
            w->loop[w->inside++] = all[i];
        }
    }
    memcpy(&w->loop[w->inside], outside, (size_t)n_outside * sizeof *outside);
    w->ndim = w->inside + n_outside;
}

/* Whether all inputs and what is stored have dout's type in memory. */
static bool has_one_type(const struct ew_gradient *g, const struct ew_walk *w)
{
    unsigned touched = w->uses;
    bool one = true;
    if (!w->term[0]->reduced)
        touched |= 1u << w->term[0]->out;
    for (int k = 0; k < EW_OPERANDS; k++)
        one &= !(touched >> k & 1) || g->dtype[k] == g->dtype[EW_OUT];
    return one;
}

/* The kernels of tiles, of the type of the computation, and that of a block
   that needs no tiles. What scales and activations make needs them. */
static void choose_kernels(const struct ew_gradient *g, struct ew_walk *w)
{
    const struct ew_term *sum = ew_walk_reduced(w), *stored = w->term[0];
    bool narrow =
        g->compute == ELEMENTWISE_F32 || g->compute == ELEMENTWISE_C64;
    elementwise_dtype part = narrow ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
    w->loses = !narrow;
    w->sum = ew_table_sum(g->level, part);
    w->fused = w->bare = NULL;
    bool one = has_one_type(g, w);
    w->element = one ? g->dtype[EW_OUT] : g->compute;
    w->direct =
        !stored->reduced && !stored->add && g->dtype[stored->out] == w->element;
    if (!sum || g->whole)
        return;
    int which = sum->out - EW_DX;
    if (w->terms == 2 && stored->out <= EW_DY)
        w->fused = ew_table_fused(g->level, g->compute, (int)g->op, which);
    if (w->fused && w->direct && one)
        w->bare = ew_table_fused(g->level, w->element, (int)g->op, which);
    else if (w->terms == 1 && !sum->derive && one)
        w->bare =
            ew_walk_is_complex(g) ? w->sum : ew_table_sum(g->level, w->element);
}

/* Divides the loops for the sums, and gives these the strides of accumulators
   inside. */
static void make_sums(const struct ew_gradient *g, struct ew_walk *w, int out)
{
    int64_t step = (int64_t)sizeof(double) * (ew_walk_is_complex(g) ? 2 : 1);
    cut(g, w, out);
    for (int i = 0; i < w->inside; i++)
        if (w->stride_out[i]) {
            w->loop[i].stride[out] = step;
            step *= w->loop[i].n;
        }
    w->bytes = (size_t)step;
}

/* The shape of tiles, now that the loops inside are known: about square where
   an operand is turned, so that each line is in few of them. */
static void shape(const struct ew_gradient *g, struct ew_walk *w)
{
    /* Rows are shorter than lanes: whole tiles are made, then summed. */
    if (w->fused && w->loop[0].n < EW_LANES)
        w->fused = w->bare = NULL;
    if (w->inside > 1 && along_any(g, w) == 1)
        w->turned_rows = TURNED_BYTES / (int)ew_types_size(w->element);
    ew_walk_deepen(g, w);
}

void ew_walk_make(const struct ew_gradient *g, struct ew_walk *w)
{
    const struct ew_term *sum = ew_walk_reduced(w);
    w->split = -1;
    w->lanes = w->streams = false;
    w->turned_rows = 1;
    w->deep = 0;
    open_loops(g, w);
    choose_kernels(g, w);
    int64_t bytes = (int64_t)ew_types_size(w->element);
    for (int i = 0; i < w->ndim; i++)
        bytes *= w->loop[i].n;
    w->streams = bytes >= STREAM_FROM && w->direct;
    w->asks = bytes > ASK_FROM;
    w->distant = bytes >= DISTANT_FROM;
    w->inside = w->ndim;
    int rows = bytes >= SHAPE_FROM ? along_any(g, w) : 0;
    if (rows)
        ew_plan_move_inside(w->loop, rows, 1);
    if (sum)
        make_sums(g, w, sum->out);
    if (bytes >= SHAPE_FROM)
        shape(g, w);
}

/* Block by block. Not inlined, as tiles of several loops need their room on the
   stack for more. */
static __attribute__((noinline)) void run_blocks(const struct ew_gradient *g,
                                                 const struct ew_walk *w,
                                                 const struct ew_loop *loop,
                                                 void *const data[],
                                                 struct ew_walk_room *room)
{
    struct ew_block block = ew_block_start(loop, w->inside, EW_OPERANDS, data);
    int64_t index[ELEMENTWISE_MAX_NDIM + 1] = {0};
    do
        ew_walk_block(g, w, &block, room);
    while (
        ew_loops_advance(loop, 2, w->inside, EW_OPERANDS, index, block.data));
}

/* The loops inside, over one part of the sums. */
static void run_inside(const struct ew_gradient *g, const struct ew_walk *w,
                       const struct ew_loop *loop, void *const data[],
                       struct ew_walk_room *room)
{
    if (w->deep)
        ew_walk_deep(g, w, loop, data, room);
    else
        run_blocks(g, w, loop, data, room);
}

/* The finished sums go to the output. Not inlined, to have its loops on the
   stack only when those are made. */
static __attribute__((noinline)) void
finish(const struct ew_gradient *g, const struct ew_walk *w,
       const struct ew_loop *inside, void *out, struct ew_walk_room *room)
{
    const struct ew_term *t = ew_walk_reduced(w);
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    int parts = ew_walk_is_complex(g) ? 2 : 1, ndim = 0;
    int64_t n = 1, step = parts * (int64_t)sizeof(double);
    for (int i = 0; i < w->inside; i++) {
        if (!w->stride_out[i])
            continue;
        loop[ndim] = (struct ew_loop){.n = inside[i].n};
        loop[ndim].stride[EW_X] = step * n;
        loop[ndim].stride[EW_Y] = w->stride_out[i];
        loop[ndim++].stride[EW_OUT] = w->stride_out[i];
        n *= inside[i].n;
    }
    if (w->loses)
        ew_table_join(g->level)(n * parts, room->sums);
    void *const data[] = {room->sums, out, out};
    ew_execute(loop, ndim, &t->finish, data);
}

/* One part of the sums: cleared, summed, finished. */
static void run_part(const struct ew_gradient *g, const struct ew_walk *w,
                     const struct ew_loop *inside, void *const data[],
                     struct ew_walk_room *room)
{
    const struct ew_term *t = ew_walk_reduced(w);
    void *operands[EW_OPERANDS];
    memcpy(operands, data, sizeof operands);
    if (t) {
        memset(room->sums, 0, w->bytes);
        if (w->loses)
            memset(room->sums + EW_ACCUMULATORS, 0, w->bytes);
        operands[t->out] = room->sums;
    }
    run_inside(g, w, inside, operands, room);
    if (t)
        finish(g, w, inside, data[t->out], room);
}

void ew_walk_run(const struct ew_gradient *g, const struct ew_walk *w,
                 void *const data[])
{
    struct ew_walk_room room;
    struct ew_loop inside[ELEMENTWISE_MAX_NDIM];
    int64_t index[ELEMENTWISE_MAX_NDIM + 1] = {0};
    void *at[EW_OPERANDS];
    room.deep = NULL;
    memcpy(inside, w->loop, (size_t)w->inside * sizeof *inside);
    memcpy(at, data, sizeof at);
    do {
        if (w->split >= 0) {
            int64_t whole = w->loop[w->split].n;
            int64_t left = w->split_n - index[w->inside] * whole;
            inside[w->split].n = left < whole ? left : whole;
        }
        run_part(g, w, inside, at, &room);
    } while (
        ew_loops_advance(w->loop, w->inside, w->ndim, EW_OPERANDS, index, at));
}
