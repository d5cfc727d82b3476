/*
 * Turns blocks of two loops that are too small for a tile into tiles of
 * several: what these have of each operand is brought into dense rows, and
 * back, by a nest of its own, in which loops are merged that this operand
 * walks as one. In between a tile is one row.
 */
#include "strategy.h"
#include "table.h"
#include "walk.h"

enum {
    WORTH = 4 /* times as many elements in a tile as in a block */
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

/* The loops of a tile over operand k and dense elements of that size; where k
   runs across memory in the innermost, that along which it runs is next. */
static int nest(const struct ew_walk_room *room, int k, int64_t size,
                struct ew_loop loop[])
{
    int64_t dense = size;
    for (int d = 0; d < room->loops; d++) {
        int64_t n = d == room->loops - 1 ? room->last : room->loop[d].n;
        loop[d] = (struct ew_loop){.n = n};
        loop[d].stride[EW_X] = room->loop[d].stride[k];
        loop[d].stride[EW_OUT] = dense;
        dense *= n;
    }
    int ndim = ew_plan_merge(loop, room->loops, EW_FORWARD), along = 0;
    for (int d = 1; d < ndim; d++) {
        int64_t step = ew_magnitude(loop[d].stride[EW_X]);
        int64_t least = ew_magnitude(loop[along].stride[EW_X]);
        if (step && step < least)
            along = d;
    }
    if (along && loop[0].stride[EW_X])
        ew_plan_move_inside(loop, along, 1);
    return ndim;
}

static bool is_dense(const struct ew_loop loop[], int ndim, int64_t size)
{
    return ndim == 1 && loop[0].stride[EW_X] == size;
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

/* Moves what a tile has of operand k to dense rows, or from there. */
static void move(const struct ew_gradient *g, const struct ew_loop from[],
                 int ndim, int k, void *at, void *dense, bool back)
{
    elementwise_dtype type = g->dtype[k] ? g->dtype[k] : g->compute;
    struct ew_loop loop[EW_WALK_LOOPS];
    for (int d = 0; d < ndim; d++) {
        loop[d] = from[d];
        loop[d].stride[EW_X] = from[d].stride[back ? EW_OUT : EW_X];
        loop[d].stride[EW_OUT] = from[d].stride[back ? EW_X : EW_OUT];
    }
    ew_walk_move(g, type, loop, ndim, back ? dense : at, back ? at : dense);
}

void ew_walk_bring(const struct ew_gradient *g, const struct ew_walk *w,
                   struct ew_walk_room *room, int k)
{
    const elementwise_dtype type = g->dtype[k] ? g->dtype[k] : g->compute;
    const int64_t size = (int64_t)ew_types_size(g->compute);
    const int64_t stored = (int64_t)ew_types_size(type);
    const int64_t n = room->tile.cols;
    struct ew_loop loop[EW_WALK_LOOPS];
    int ndim = nest(room, k, stored, loop);
    void *from = room->tile.data[k];
    if (!is_dense(loop, ndim, stored)) {
        char *to = type == g->compute ? room->in[k] : ew_walk_packed(w, room);
        move(g, loop, ndim, k, from, to, false);
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

void ew_walk_aim(const struct ew_gradient *g, const struct ew_term *t,
                 struct ew_walk_room *room)
{
    struct ew_loop loop[EW_WALK_LOOPS];
    int64_t size = (int64_t)ew_types_size(g->dtype[t->out]);
    int ndim = t->reduced ? 0 : nest(room, t->out, size, loop);
    room->tile.stride[t->out] =
        (struct ew_stride){0, is_dense(loop, ndim, size) ? size : 0};
}

void ew_walk_store(const struct ew_gradient *g, const struct ew_walk *w,
                   const struct ew_term *t, struct ew_walk_room *room,
                   void *made)
{
    struct ew_loop loop[EW_WALK_LOOPS];
    const int64_t size = (int64_t)ew_types_size(g->dtype[t->out]);
    const int64_t n = room->tile.cols;
    int ndim = nest(room, t->out, size, loop);
    bool dense = is_dense(loop, ndim, size);
    void *out = room->tile.data[t->out],
         *to = dense ? out : ew_walk_packed(w, room);
    if (t->add && !dense)
        move(g, loop, ndim, t->out, out, to, false);
    if (t->direct)
        to = made;
    else
        ew_walk_convert(t, 1, n, made, (struct ew_stride){0, t->made_size}, to,
                        (struct ew_stride){0, size});
    if (to != out)
        move(g, loop, ndim, t->out, out, to, true);
}

void ew_walk_sum(const struct ew_gradient *g, const struct ew_walk *w,
                 const struct ew_term *t, struct ew_walk_room *room, void *made)
{
    struct ew_loop loop[EW_WALK_LOOPS];
    int64_t index[EW_WALK_LOOPS] = {0};
    void *at[EW_FORWARD] = {room->tile.data[t->out], NULL, made};
    int ndim = nest(room, t->out, (int64_t)ew_types_size(g->compute), loop);
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

void ew_walk_deep(const struct ew_gradient *g, const struct ew_walk *w,
                  const struct ew_loop *loop, void *const data[],
                  struct ew_walk_room *room)
{
    const struct ew_loop *outer = &loop[w->deep - 1];
    int64_t size = (int64_t)ew_types_size(g->compute), inner = 1;
    for (int d = 0; d < w->deep - 1; d++)
        inner *= loop[d].n;
    const int64_t piece = ew_walk_fit(g, w) / inner;
    room->loop = loop;
    room->loops = w->deep;
    for (int64_t i = 0; i < outer->n; i += piece) {
        room->last = piece < outer->n - i ? piece : outer->n - i;
        room->tile.rows = room->inner.rows = 1;
        room->tile.cols = room->inner.cols = inner * room->last;
        for (int k = 0; k < EW_OPERANDS; k++)
            room->tile.data[k] = ew_moved(data[k], i * outer->stride[k]);
        for (int k = 0; k < EW_WALK_INPUTS; k++) { /* as long as what is used */
            room->inner.data[k] = room->in[k];
            room->inner.stride[k] = (struct ew_stride){0, size};
        }
        ew_walk_tile(g, w, room);
    }
}
