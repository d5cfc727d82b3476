/*
 * Turns the terms of a gradient into loops, and runs them tile by tile:
 *
 *     for each loop outside                        one part of the sums
 *         for each loop inside, in tiles
 *             x, y, dout -> dense tiles of one type
 *                        -> derivative -> dx
 *                        -> derivative -> accumulators
 *         accumulators -> dy
 *
 * Loops inside run in the order of memory. The accumulators are a buffer of
 * fixed size: where the sums are more than fit, their loops go outside, and
 * one is cut in two.
 */
#include "gradient.h"

#include <string.h>

#include "execute.h"
#include "table.h"

enum {
    INPUTS = EW_DDY + 1,
    TILE_BYTES = 4096,   /* of each of up to eight buffers */
    DIRECT_BYTES = 65536 /* of a tile without buffers */
};

/* Complex numbers are two sums each. */
static bool is_complex(const struct ew_gradient *g)
{
    return ew_types_kind(g->compute) == EW_KIND_COMPLEX;
}

/* It is always the last. */
static const struct ew_term *reduced_term(const struct ew_walk *w)
{
    const struct ew_term *last = w->term[w->terms - 1];
    return last->reduced ? last : NULL;
}

/* The loops, without the strides of operands that the walk does not touch,
   which would keep loops apart. The order is that of an output stored as it
   comes, or else of the inputs. */
static void open_loops(const struct ew_gradient *g, struct ew_walk *w)
{
    unsigned touched = 0;
    for (int i = 0; i < w->terms; i++)
        touched |= w->term[i]->uses | 1u << w->term[i]->out;
    int first = w->term[0]->reduced ? EW_OUT : w->term[0]->out;
    w->ndim = g->ndim;
    for (int i = 0; i < g->ndim; i++) {
        w->loop[i].n = g->loop[i].n;
        for (int k = 0; k < EW_OPERANDS; k++)
            w->loop[i].stride[k] = touched >> k & 1 ? g->loop[i].stride[k] : 0;
    }
    const int order[] = {first, EW_OUT, EW_X, EW_Y, EW_DDX, EW_DDY};
    ew_plan_sort(w->loop, w->ndim, order, sizeof order / sizeof *order);
    w->ndim = ew_plan_merge(w->loop, w->ndim, EW_OPERANDS);
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
    int64_t parts = is_complex(g) ? 2 : 1;
    int64_t room = EW_ACCUMULATORS / (w->lanes ? EW_LANES : parts);
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

void ew_walk_make(const struct ew_gradient *g, struct ew_walk *w)
{
    const struct ew_term *sum = reduced_term(w);
    w->split = -1;
    w->lanes = false;
    open_loops(g, w);
    w->inside = w->ndim;
    if (!sum)
        return;
    cut(g, w, sum->out);
    /* Inside, the output of the sums is the accumulators. */
    int64_t step = (int64_t)sizeof(double) * (w->lanes        ? EW_LANES
                                              : is_complex(g) ? 2
                                                              : 1);
    for (int i = 0; i < w->inside; i++)
        if (w->stride_out[i]) {
            w->loop[i].stride[sum->out] = step;
            step *= w->loop[i].n;
        }
}

/* What one walk needs of the stack. */
struct room {
    _Alignas(64) char in[INPUTS][TILE_BYTES];
    _Alignas(64) char made[EW_TERMS][TILE_BYTES];
    _Alignas(64) double sums[2 * EW_ACCUMULATORS]; /* and what they lose */
};

/* Input k of a tile as dense elements of the type of the computation: where
   they are, or copied to a buffer. */
static const void *dense_input(const struct ew_gradient *g,
                               const struct ew_block *tile, int k, char *buffer)
{
    int64_t size = (int64_t)ew_types_size(g->compute);
    const struct ew_stride s = tile->stride[k];
    elementwise_dtype own = g->dtype[k] ? g->dtype[k] : g->compute;
    if (own == g->compute && s.col == size &&
        (tile->rows == 1 || s.row == tile->cols * size))
        return tile->data[k];
    void *const data[] = {tile->data[k], NULL, buffer};
    const struct ew_stride stride[] = {s, {0, 0}, {tile->cols * size, size}};
    ew_table_convert(g->level, g->compute, own)(tile->rows, tile->cols, data,
                                                stride);
    return buffer;
}

/* Stores what was made, rows of `row` bytes, converted or added to what is
   there. */
static void store(const struct ew_term *t, const struct ew_block *tile,
                  const void *made, int64_t row)
{
    struct ew_loop loop[2] = {{.n = tile->cols}, {.n = tile->rows}};
    const struct ew_stride s = tile->stride[t->out];
    void *const data[] = {(void *)made, tile->data[t->out], tile->data[t->out]};
    loop[0].stride[EW_X] = t->made_size;
    loop[1].stride[EW_X] = row;
    loop[0].stride[EW_Y] = loop[0].stride[EW_OUT] = s.col;
    loop[1].stride[EW_Y] = loop[1].stride[EW_OUT] = s.row;
    ew_execute(loop, 2, &t->finish, data);
}

/* Reals are summed; a row of complex numbers is a row of twice as many. */
static void add_to_sums(const struct ew_gradient *g, const struct ew_walk *w,
                        const struct ew_term *t, const struct ew_block *tile,
                        const void *made, int64_t row)
{
    int64_t parts = is_complex(g) ? 2 : 1;
    bool narrow =
        g->compute == ELEMENTWISE_F32 || g->compute == ELEMENTWISE_C64;
    ew_table_sum(g->level, narrow ? ELEMENTWISE_F32 : ELEMENTWISE_F64)(
        tile->rows, tile->cols * parts, made, row, tile->data[t->out],
        tile->stride[t->out].row / (int64_t)sizeof(double), w->lanes);
}

/* A kernel of one operand and one parameter, on n dense elements. */
static void run_dense(const struct ew_gradient *g, ew_kernel *kernel, int64_t n,
                      const void *x, const void *y, void *out)
{
    const struct ew_stride dense = {0, (int64_t)ew_types_size(g->compute)};
    void *const data[] = {(void *)x, (void *)y, out};
    const struct ew_stride stride[] = {dense, dense, dense};
    kernel(1, n, data, stride);
}

/* Puts scaled operands in the place of x and y, and behind an act the gradient
   of its operand in the place of dout. The operand is made in the place of
   the result, unless that is given. */
static void fuse(const struct ew_gradient *g, unsigned uses, int64_t n,
                 const void *in[], struct room *room)
{
    const struct ew_pass *f = &g->forward;
    for (int k = EW_X; k <= EW_Y; k++)
        if (f->scale[k] && uses >> k & 1) {
            run_dense(g, f->scale[k], n, in[k], &f->factor[k], room->in[k]);
            in[k] = room->in[k];
        }
    if (!g->slope)
        return;
    if (f->op) {
        run_dense(g, f->op, n, in[EW_X], in[EW_Y], room->in[EW_DDX]);
        in[EW_DDX] = room->in[EW_DDX];
    }
    const void *const of[] = {in[EW_X], &f->alpha, in[EW_OUT], in[EW_DDX]};
    g->slope(n, of, room->in[EW_OUT]);
    in[EW_OUT] = room->in[EW_OUT];
}

/* What one term is, before it is stored or summed: dx and dy have the factor
   of their operand. */
static const void *make(const struct ew_gradient *g, const struct ew_term *t,
                        int64_t n, const void *const in[], void *buffer)
{
    const struct ew_pass *f = &g->forward;
    int k = t->out - EW_DX;
    const void *made = in[EW_OUT];
    if (t->derive) {
        t->derive(n, in, buffer);
        made = buffer;
    }
    if (k > EW_Y || !f->scale[k])
        return made;
    run_dense(g, f->scale[k], n, made, &f->factor[k], buffer);
    return buffer;
}

static void finish_tile(const struct ew_gradient *g, const struct ew_walk *w,
                        const struct ew_term *t, const struct ew_block *tile,
                        const void *made, int64_t row)
{
    if (t->reduced)
        add_to_sums(g, w, t, tile, made, row);
    else
        store(t, tile, made, row);
}

/* Whether all that the walk makes is dout as it is in memory. */
static bool is_direct(const struct ew_gradient *g, const struct ew_walk *w,
                      const struct ew_block *block)
{
    bool direct =
        g->dtype[EW_OUT] == g->compute && !g->slope &&
        !g->forward.scale[EW_X] && !g->forward.scale[EW_Y] &&
        block->stride[EW_OUT].col == (int64_t)ew_types_size(g->compute);
    for (int i = 0; i < w->terms; i++)
        direct &= !w->term[i]->derive;
    return direct;
}

/* Everything is made before anything is stored, and what is dout itself is
   stored first: one of the outputs may be dout. */
static void run_tile(const struct ew_gradient *g, const struct ew_walk *w,
                     const struct ew_block *tile, struct room *room)
{
    const void *in[INPUTS], *made[EW_TERMS];
    unsigned uses = 0;
    for (int i = 0; i < w->terms; i++)
        uses |= w->term[i]->uses;
    for (int k = 0; k < INPUTS; k++)
        in[k] =
            uses >> k & 1 ? dense_input(g, tile, k, room->in[k]) : room->in[k];
    int64_t n = tile->rows * tile->cols;
    int64_t row = tile->cols * (int64_t)ew_types_size(g->compute);
    fuse(g, uses, n, in, room);
    for (int i = 0; i < w->terms; i++)
        made[i] = make(g, w->term[i], n, in, room->made[i]);
    for (int apart = 0; apart < 2; apart++)
        for (int i = 0; i < w->terms; i++)
            if ((made[i] != in[EW_OUT]) == apart)
                finish_tile(g, w, w->term[i], tile, made[i], row);
}

/* Cuts the two inner loops into tiles; pieces of a row are whole lanes. */
static void run_block(const struct ew_gradient *g, const struct ew_walk *w,
                      const struct ew_block *block, struct room *room)
{
    bool direct = is_direct(g, w, block);
    int64_t fit = (direct ? DIRECT_BYTES : TILE_BYTES) /
                  (int64_t)ew_types_size(g->compute);
    int64_t cols = block->cols < fit ? block->cols : fit, rows = fit / cols;
    for (int64_t r = 0; r < block->rows; r += rows)
        for (int64_t c = 0; c < block->cols; c += cols) {
            struct ew_block tile =
                ew_block_tile(block, EW_OPERANDS, r, c, rows, cols);
            if (!direct)
                run_tile(g, w, &tile, room);
            for (int i = 0; i < w->terms && direct; i++)
                finish_tile(g, w, w->term[i], &tile, tile.data[EW_OUT],
                            tile.stride[EW_OUT].row);
        }
}

/* The loops inside, over one part of the sums. */
static void run_inside(const struct ew_gradient *g, const struct ew_walk *w,
                       const struct ew_loop *loop, void *const data[],
                       struct room *room)
{
    struct ew_block block = ew_block_start(loop, w->inside, EW_OPERANDS, data);
    int64_t index[ELEMENTWISE_MAX_NDIM + 1] = {0};
    do
        run_block(g, w, &block, room);
    while (
        ew_loops_advance(loop, 2, w->inside, EW_OPERANDS, index, block.data));
}

/* Adds the upper half of the lanes to the lower until one is left for each
   part; the order never depends on anything. */
static void fold(double *sum, double *lost, int lanes, int parts)
{
    for (int half = lanes / 2; half >= parts; half /= 2)
        for (int l = 0; l < half; l++) {
            double a = sum[l], b = sum[l + half], total = a + b;
            double part = total - a;
            lost[l] += lost[l + half] + ((a - (total - part)) + (b - part));
            sum[l] = total;
        }
}

/* Turns n accumulators into dense sums in their place. What was lost is NaN
   beside an infinite sum. */
static void gather(double *sums, int64_t n, int lanes, int parts)
{
    for (int64_t i = 0; i < n; i++) {
        double *sum = sums + i * lanes, *lost = sum + EW_ACCUMULATORS;
        fold(sum, lost, lanes, parts);
        for (int p = 0; p < parts; p++) {
            bool finite = sum[p] - sum[p] == 0;
            sums[i * parts + p] = finite ? sum[p] + lost[p] : sum[p];
        }
    }
}

/* The finished sums go to the output. */
static void finish(const struct ew_gradient *g, const struct ew_walk *w,
                   const struct ew_loop *inside, void *out, struct room *room)
{
    const struct ew_term *t = reduced_term(w);
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    int parts = is_complex(g) ? 2 : 1, ndim = 0;
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
    gather(room->sums, n, w->lanes ? EW_LANES : parts, parts);
    void *const data[] = {room->sums, out, out};
    ew_execute(loop, ndim, &t->finish, data);
}

/* One part of the sums: cleared, summed, finished. */
static void run_part(const struct ew_gradient *g, const struct ew_walk *w,
                     const struct ew_loop *inside, void *const data[],
                     struct room *room)
{
    const struct ew_term *t = reduced_term(w);
    void *operands[EW_OPERANDS];
    memcpy(operands, data, sizeof operands);
    if (t) {
        memset(room->sums, 0, sizeof room->sums);
        operands[t->out] = room->sums;
    }
    run_inside(g, w, inside, operands, room);
    if (t)
        finish(g, w, inside, data[t->out], room);
}

void ew_walk_run(const struct ew_gradient *g, const struct ew_walk *w,
                 void *const data[])
{
    struct room room;
    struct ew_loop inside[ELEMENTWISE_MAX_NDIM];
    int64_t index[ELEMENTWISE_MAX_NDIM + 1] = {0};
    void *at[EW_OPERANDS];
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
