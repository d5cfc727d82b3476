/*
 * Turns blocks of two loops that are too small for a tile into tiles of
 * several: what these have of each operand is brought into dense rows, and
 * back, by a nest of its own, in which loops are merged that this operand
 * walks as one. In between a tile is one row.
 */
#include <string.h>

#include "gather.h"
#include "permutation.h"
#include "strategy.h"
#include "table.h"
#include "walk.h"

enum {
    WORTH = 4,         /* times as many elements in a tile as in a block */
    TABLES = 2,        /* of operands that have one, */
    WORTH_TABLES = 8,  /* which are made for so many tiles */
    SCATTERED = 2,     /* so many times as much as a run that is gathered */
    CALL_COST = 15000, /* picoseconds of a call that moves a few elements, */
    MOVED_COST = 100   /* and of an element beside that */
};

void ew_walk_deepen(const struct ew_gradient *g, struct ew_walk *w)
{
    const int64_t fit = ew_walk_fit(g, w);
    if (w->inside < 3)
        return;
    const int64_t block = w->loop[0].n * w->loop[1].n;
    int64_t n = block;
    int deep = 2;
    for (; deep < w->inside && n <= fit / 2; deep++)
        n *= w->loop[deep].n;
    if (n < WORTH * block || fit < WORTH * block)
        return;
    w->deep = deep;
    w->fused = w->bare = NULL;
    w->turned_rows = 1;
}

/* The loops of a tile over one operand and dense elements, which take less of
   the stack like this. */
struct nest {
    int ndim;
    bool dense; /* it is a dense row itself */
    struct {
        int64_t n, at, dense;
    } loop[EW_WALK_LOOPS];
};

/* All tiles of one run: the loops, of the last of which each tile has `piece`
   and this one `last`, and how it lies in each operand. Some have tables, for
   tiles that have all of a piece. */
struct ew_walk_deep {
    const struct ew_loop *loop;
    int loops;
    int64_t piece, last;
    struct nest nest[EW_OPERANDS];
    const struct ew_places *table[EW_OPERANDS];
    bool scatters[EW_OPERANDS];
    struct ew_places places[TABLES];
};

static elementwise_dtype stored_type(const struct ew_gradient *g, int k)
{
    return g->dtype[k] ? g->dtype[k] : g->compute;
}

/* The loops of a tile over operand k and dense elements of that size. */
static int open_nest(const struct ew_walk_deep *deep, int k, int64_t size,
                     struct ew_loop loop[])
{
    int64_t dense = size;
    for (int d = 0; d < deep->loops; d++) {
        int64_t n = d == deep->loops - 1 ? deep->last : deep->loop[d].n;
        loop[d] = (struct ew_loop){.n = n};
        loop[d].stride[EW_X] = deep->loop[d].stride[k];
        loop[d].stride[EW_OUT] = dense;
        dense *= n;
    }
    return ew_plan_merge(loop, deep->loops, EW_FORWARD);
}

static bool is_dense(const struct ew_loop loop[], int ndim, int64_t size)
{
    return ndim == 1 && loop[0].stride[EW_X] == size;
}

/* Where an operand runs across memory in the innermost loop, that along which
   it runs is next. */
static void turn_inside(struct ew_loop loop[], int ndim)
{
    int along = 0;
    for (int d = 1; d < ndim; d++) {
        int64_t step = ew_magnitude(loop[d].stride[EW_X]);
        int64_t least = ew_magnitude(loop[along].stride[EW_X]);
        if (step && step < least)
            along = d;
    }
    if (along && loop[0].stride[EW_X])
        ew_plan_move_inside(loop, along, 1);
}

/* The nests of all operands of a tile that has so much of the last loop. What
   is summed is made in the type of the computation. */
static void make_nests(const struct ew_gradient *g, const struct ew_walk *w,
                       struct ew_walk_deep *deep, int64_t last)
{
    const struct ew_term *sum = ew_walk_reduced(w);
    deep->last = last;
    for (int i = 0; i < w->operands; i++) {
        int k = w->operand[i];
        struct nest *nest = &deep->nest[k];
        struct ew_loop loop[EW_WALK_LOOPS];
        bool sums = sum && k == sum->out;
        int64_t size =
            (int64_t)ew_types_size(sums ? g->compute : stored_type(g, k));
        nest->ndim = open_nest(deep, k, size, loop);
        nest->dense = is_dense(loop, nest->ndim, size);
        turn_inside(loop, nest->ndim);
        for (int d = 0; d < nest->ndim; d++) {
            nest->loop[d].n = loop[d].n;
            nest->loop[d].at = loop[d].stride[EW_X];
            nest->loop[d].dense = loop[d].stride[EW_OUT];
        }
    }
}

/* The elements that a nest has of an operand as a table describes them. False
   if the table would be too long or its places too far. */
static bool lay_out(const struct ew_loop loop[], int ndim, int of,
                    struct ew_layout *layout)
{
    int64_t reach = 0;
    layout->ndim = ndim;
    for (int d = 0; d < ndim && d < EW_DEEP_LOOPS; d++) {
        layout->loop[d] =
            (struct ew_layout_loop){loop[d].n, loop[d].stride[of]};
        reach += (loop[d].n - 1) * ew_magnitude(loop[d].stride[of]);
    }
    return ndim <= EW_DEEP_LOOPS && reach < INT32_MAX - 2 * EW_LINE;
}

/* The best way to gather a layout, if one takes less than so many picoseconds.
 */
static bool find_way(int level, const struct ew_layout *layout, int64_t most,
                     struct ew_gathering *way)
{
    ew_permuter *permute = ew_table_permute(level);
    int64_t cost = ew_places_cost(layout), turning, turned;
    int windows = 0;
    *way = (struct ew_gathering){NULL, 0, 0};
    if (layout->size > 8)
        return cost < most;
    if (permute)
        cost = ew_permutation_permuting(layout, cost, &windows);
    if (windows)
        *way = (struct ew_gathering){permute, (unsigned char)windows, 0};
    turning = ew_permutation_turning(layout, &turned);
    ew_permuter *turn = ew_table_turn(level, turned);
    if (turn && turning < cost) {
        cost = turning;
        *way = (struct ew_gathering){turn, 0, (unsigned char)turned};
    }
    return cost < most;
}

/* What moving a tile takes by calls of a kernel. */
static int64_t calls_cost(const struct ew_loop loop[], int ndim)
{
    int64_t calls = 1, elements = 1;
    for (int d = 0; d < ndim; d++) {
        calls *= d < 2 ? 1 : loop[d].n;
        elements *= loop[d].n;
    }
    return calls * CALL_COST + elements * MOVED_COST;
}

/* Sorts the loops of a nest as an output lies in memory. Returns whether it is
   dense there. */
static bool sort_output(struct ew_loop loop[], int ndim, int64_t size)
{
    ew_plan_sort(loop, ndim, (const int[]){EW_X}, 1);
    bool dense = true;
    for (int d = 0; d < ndim; size *= loop[d++].n)
        dense &= loop[d].stride[EW_X] == size;
    return dense;
}

/* A table for what a tile has of operand k, where that is better. An output
   that is dense in another order is gathered, too, from what was made. */
static bool make_table(const struct ew_gradient *g, struct ew_walk_deep *deep,
                       int k, struct ew_places *places)
{
    struct ew_loop loop[EW_WALK_LOOPS];
    struct ew_layout layout = {.size =
                                   (int64_t)ew_types_size(stored_type(g, k))};
    struct ew_gathering way = {NULL, 0, 0};
    int ndim = open_nest(deep, k, layout.size, loop), of = EW_X;
    const int64_t most = calls_cost(loop, ndim);
    deep->scatters[k] = false;
    if (k >= EW_WALK_INPUTS) {
        struct ew_loop sorted[EW_WALK_LOOPS];
        memcpy(sorted, loop, (size_t)ndim * sizeof *loop);
        deep->scatters[k] = !sort_output(sorted, ndim, layout.size);
        of = deep->scatters[k] ? EW_X : EW_OUT;
        if (of == EW_OUT)
            memcpy(loop, sorted, (size_t)ndim * sizeof *loop);
    }
    if (ndim < 3 || !lay_out(loop, ndim, of, &layout))
        return false;
    if (deep->scatters[k] ? SCATTERED * ew_places_cost(&layout) >= most
                          : !find_way(g->level, &layout, most, &way))
        return false;
    ew_places_make(places, &layout, 1, &way);
    return places->copies == 1;
}

/* Tables for the tiles that there are now, if they are many. */
static void make_tables(const struct ew_gradient *g, const struct ew_walk *w,
                        struct ew_walk_deep *deep)
{
    const struct ew_term *sum = ew_walk_reduced(w);
    int64_t tiles = deep->loop[deep->loops - 1].n / deep->piece;
    int tables = 0;
    for (int d = deep->loops; d < w->inside; d++)
        tiles *= deep->loop[d].n;
    for (int i = 0; i < w->operands; i++) {
        int k = w->operand[i];
        deep->table[k] = NULL;
        if (tiles >= WORTH_TABLES && tables < TABLES &&
            !(sum && k == sum->out) &&
            make_table(g, deep, k, &deep->places[tables]))
            deep->table[k] = &deep->places[tables++];
    }
}

void ew_walk_move(const struct ew_gradient *g, elementwise_dtype type,
                  struct ew_loop loop[], int ndim, void *from, void *to)
{
    int64_t step = loop[0].stride[EW_OUT];
    int64_t next = ndim > 1 ? loop[1].stride[EW_OUT] : 0;
    if (next && ew_magnitude(next) < ew_magnitude(step)) {
        ew_plan_move_inside(loop, 1, 0);
        step = next;
    }
    if (step < 0) {
        const int64_t last = loop[0].n - 1;
        from = ew_moved(from, last * loop[0].stride[EW_X]);
        to = ew_moved(to, last * step);
        loop[0].stride[EW_X] = -loop[0].stride[EW_X];
        loop[0].stride[EW_OUT] = -step;
    }
    ew_execute_calls(loop, ndim, ew_table_move(g->level, type), NULL, 0,
                     (void *[]){from, NULL, to});
}

/* The loops of a nest, of which the operand and what is dense are so placed. */
static void load_nest(const struct nest *nest, int at, int dense,
                      struct ew_loop loop[])
{
    for (int d = 0; d < nest->ndim; d++) {
        loop[d] = (struct ew_loop){.n = nest->loop[d].n};
        loop[d].stride[at] = nest->loop[d].at;
        loop[d].stride[dense] = nest->loop[d].dense;
    }
}

/* Moves what a tile has of operand k to dense rows, or from there. Tables are
   for inputs that are read and outputs that are stored. */
static void move(const struct ew_gradient *g, const struct ew_walk_deep *deep,
                 int k, void *at, void *dense, bool back)
{
    const struct nest *nest = &deep->nest[k];
    const struct ew_places *table = deep->table[k];
    void *from = back ? dense : at, *to = back ? at : dense;
    struct ew_loop loop[EW_WALK_LOOPS];
    if (table && deep->last == deep->piece && back == (k >= EW_WALK_INPUTS)) {
        (deep->scatters[k] ? ew_scatter : ew_gather)(table, from, to);
        return;
    }
    load_nest(nest, back ? EW_OUT : EW_X, back ? EW_X : EW_OUT, loop);
    ew_walk_move(g, stored_type(g, k), loop, nest->ndim, from, to);
}

void ew_walk_bring(const struct ew_gradient *g, const struct ew_walk *w,
                   struct ew_walk_room *room, int k)
{
    const elementwise_dtype type = stored_type(g, k);
    const int64_t size = (int64_t)ew_types_size(g->compute);
    const int64_t stored = (int64_t)ew_types_size(type);
    const int64_t n = room->tile.cols;
    void *from = room->tile.data[k];
    if (!room->deep->nest[k].dense) {
        char *to = type == g->compute ? room->in[k] : ew_walk_packed(w, room);
        move(g, room->deep, k, from, to, false);
        from = to;
    }
    if (type != g->compute) {
        void *const data[] = {from, NULL, room->in[k]};
        g->load[k](1, n, data,
                   (struct ew_stride[]){{0, stored}, {0, 0}, {0, size}});
        from = room->in[k];
    }
    room->inner.data[k] = from;
    room->inner.stride[k] = (struct ew_stride){n * size, size};
}

void ew_walk_store(const struct ew_gradient *g, const struct ew_walk *w,
                   const struct ew_term *t, struct ew_walk_room *room,
                   void *made)
{
    const int64_t size = (int64_t)ew_types_size(g->dtype[t->out]);
    const int64_t n = room->tile.cols;
    bool dense = room->deep->nest[t->out].dense;
    void *out = room->tile.data[t->out],
         *to = dense ? out : ew_walk_packed(w, room);
    if (t->add && !dense)
        move(g, room->deep, t->out, out, to, false);
    if (t->direct)
        to = made;
    else
        ew_walk_convert(t, 1, n, made, (struct ew_stride){0, t->made_size}, to,
                        (struct ew_stride){0, size});
    if (to != out)
        move(g, room->deep, t->out, out, to, true);
}

void ew_walk_sum(const struct ew_gradient *g, const struct ew_walk *w,
                 const struct ew_term *t, struct ew_walk_room *room, void *made)
{
    struct ew_loop loop[EW_WALK_LOOPS];
    const int ndim = room->deep->nest[t->out].ndim;
    int64_t index[EW_WALK_LOOPS] = {0};
    void *at[EW_FORWARD] = {room->tile.data[t->out], NULL, made};
    load_nest(&room->deep->nest[t->out], EW_X, EW_OUT, loop);
    struct ew_block block = ew_block_start(loop, ndim, EW_FORWARD, at);
    const struct ew_stride sums = block.stride[EW_X],
                           terms = block.stride[EW_OUT];
    block.stride[t->out] = sums;
    do {
        void *const data[] = {at[EW_OUT], at[EW_OUT], at[EW_OUT],
                              at[EW_OUT], at[EW_OUT], at[EW_OUT]};
        const struct ew_stride s[EW_D_OPERANDS] = {[EW_OUT] = terms};
        block.data[t->out] = at[EW_X];
        ew_walk_add(g, w, w->sum, &block, data, s, false);
    } while (ew_loops_advance(loop, 2, ndim, EW_FORWARD, index, at));
}

/* The tiles of one block of loops. Terms are made in the place of outputs that
   are dense rows. */
static void run_block(const struct ew_gradient *g, const struct ew_walk *w,
                      void *const data[], struct ew_walk_room *room)
{
    struct ew_walk_deep *deep = room->deep;
    const struct ew_loop *outer = &deep->loop[deep->loops - 1];
    int64_t size = (int64_t)ew_types_size(g->compute), inner = 1;
    for (int d = 0; d < deep->loops - 1; d++)
        inner *= deep->loop[d].n;
    for (int64_t i = 0; i < outer->n; i += deep->piece) {
        int64_t left = outer->n - i;
        int64_t last = deep->piece < left ? deep->piece : left;
        if (last != deep->last)
            make_nests(g, w, deep, last);
        room->tile.rows = room->inner.rows = 1;
        room->tile.cols = room->inner.cols = inner * last;
        for (int k = 0; k < EW_OPERANDS; k++)
            room->tile.data[k] = ew_moved(data[k], i * outer->stride[k]);
        for (int j = 0; j < w->terms; j++) {
            int k = w->term[j]->out;
            bool dense = deep->nest[k].dense;
            room->tile.stride[k] = (struct ew_stride){0, dense ? size : 0};
        }
        for (int k = 0; k < EW_WALK_INPUTS; k++) { /* as long as what is used */
            room->inner.data[k] = room->in[k];
            room->inner.stride[k] = (struct ew_stride){0, size};
        }
        ew_walk_tile(g, w, room);
    }
}

void ew_walk_deep(const struct ew_gradient *g, const struct ew_walk *w,
                  const struct ew_loop *loop, void *const data[],
                  struct ew_walk_room *room)
{
    struct ew_walk_deep deep;
    int64_t index[ELEMENTWISE_MAX_NDIM + 1] = {0};
    void *at[EW_OPERANDS];
    memcpy(at, data, sizeof at);
    deep.loop = loop;
    deep.loops = w->deep;
    deep.piece = ew_walk_fit(g, w);
    for (int d = 0; d < w->deep - 1; d++)
        deep.piece /= loop[d].n;
    if (deep.piece > loop[w->deep - 1].n)
        deep.piece = loop[w->deep - 1].n;
    make_nests(g, w, &deep, deep.piece);
    make_tables(g, w, &deep);
    room->deep = &deep;
    do
        run_block(g, w, at, room);
    while (ew_loops_advance(loop, w->deep, w->inside, EW_OPERANDS, index, at));
}
