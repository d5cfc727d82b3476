/*
 * Turns a nest of short loops into tiles of several loops, each of which runs
 * as one row, or as rows where operands have long runs. Tables made once per
 * shape of tile tell where the elements of a tile lie in operands that are not
 * dense in it.
 */
#include "deep.h"

#include "steps.h"

/* A nest cut into tiles of several loops: those of a tile, and those that step
   from tile to tile, of which loop d of the tile is at `place[d]`. */
struct deep {
    const struct ew_pass *pass;
    const struct ew_loop *loop; /* what is cut, */
    int ndim;                   /* so many loops */
    struct ew_loop tile[EW_DEEP_LOOPS], step[EW_DEEP_NDIM];
    int place[EW_DEEP_NDIM];
    struct ew_places places[EW_FORWARD];
    struct ew_lines lines[EW_FORWARD];
    struct ew_buffers buffers;
};

/* What stage.c keeps is beside it, and the rest of the call takes up to 38 KiB
   of the 128 that some systems give a thread. */
_Static_assert(sizeof(struct deep) + EW_STAGE_DEEP <= 82 << 10,
               "too much for the stack");

/* How operand k lies in a tile, seen as rows of `cols` elements: it stands
   still, is dense, in each row or as a whole, or has places, from which or to
   which it goes through a buffer. */
static struct ew_stride deep_stride(struct deep *deep, int k, int64_t cols)
{
    const struct ew_pass *pass = deep->pass;
    struct ew_places *places = &deep->places[k];
    struct ew_layout layout = {.size = pass->stored[k], .ndim = pass->deep};
    bool moves = k == EW_OUT;
    for (int d = 0; d < pass->deep; d++) {
        layout.loop[d] =
            (struct ew_layout_loop){deep->tile[d].n, deep->tile[d].stride[k]};
        moves |= layout.loop[d].step != 0;
    }
    int64_t repeats = ew_layout_once(&layout);
    if (moves)
        ew_places_make(places, &layout, repeats,
                       k < EW_OUT ? &pass->gather[k] : NULL);
    bool run = moves && places->copies == 1 && !places->permute;
    bool dense = run && places->runs == 1 && places->repeats == 1;
    bool rows =
        run && !dense && pass->rows && places->run == cols * pass->stored[k];
    deep->lines[k].n = 0;
    if (moves && !dense && pass->ahead[k])
        ew_lines_make(&deep->lines[k], &layout, pass->distant);
    deep->buffers.places[k] = moves && !dense && !rows ? places : NULL;
    if (rows)
        return (struct ew_stride){deep->tile[pass->deep - 1].stride[k],
                                  pass->stored[k]};
    return moves ? (struct ew_stride){cols * pass->stored[k], pass->stored[k]}
                 : (struct ew_stride){0, 0};
}

/* How soon a loop has to come round, small numbers first. Lines of out that
   tiles share are stored in parts, so the next part is to follow soon; those of
   a large input are to be still there when they are read again. */
static int64_t urgency(const struct ew_loop *loop, const bool large[2])
{
    bool shares[EW_FORWARD];
    for (int k = 0; k < EW_FORWARD; k++) {
        int64_t step = ew_magnitude(loop->stride[k]);
        shares[k] = step != 0 && step <= EW_LINE;
    }
    if (shares[EW_OUT])
        return 0;
    bool input = (shares[EW_X] && large[EW_X]) || (shares[EW_Y] && large[EW_Y]);
    return input ? loop->n : INT64_MAX;
}

/* Sorts the loops from tile to tile by that. */
static void share_soon(struct deep *deep, const bool large[2])
{
    int of[EW_DEEP_NDIM];
    for (int i = 0; i < deep->ndim; i++) {
        struct ew_loop moved = deep->step[i];
        int j = i;
        for (; j > 0 &&
               urgency(&moved, large) < urgency(&deep->step[j - 1], large);
             j--) {
            deep->step[j] = deep->step[j - 1];
            of[j] = of[j - 1];
        }
        deep->step[j] = moved;
        of[j] = i;
    }
    for (int i = 0; i < deep->ndim; i++)
        deep->place[of[i]] = i;
}

/* The loops from tile to tile, as many whole tiles as there are. */
static void make_steps(struct deep *deep)
{
    const struct ew_pass *pass = deep->pass;
    for (int d = 0; d < deep->ndim; d++) {
        int64_t extent = d < pass->deep ? pass->extent[d] : 1;
        struct ew_loop *step = &deep->step[d];
        step->n = deep->loop[d].n / extent;
        for (int k = 0; k < EW_FORWARD; k++)
            step->stride[k] = extent * deep->loop[d].stride[k];
        deep->place[d] = d;
    }
    if (pass->large[EW_X] || pass->large[EW_Y])
        share_soon(deep, pass->large);
}

/* All tiles of the same extents. */
static void run_equal(struct deep *deep, void *const data[])
{
    const struct ew_pass *pass = deep->pass;
    int64_t index[EW_DEEP_NDIM];
    struct ew_block block = {.rows = 1, .cols = 1}, tile;
    for (int d = 0; d < pass->deep - pass->rows; d++)
        block.cols *= deep->tile[d].n;
    if (pass->rows)
        block.rows = deep->tile[pass->deep - 1].n;
    deep->buffers.kept[EW_X] = deep->buffers.kept[EW_Y] = false;
    deep->buffers.ahead = NULL;
    for (int k = 0; k < EW_FORWARD; k++) {
        block.stride[k] = deep_stride(deep, k, block.cols);
        block.data[k] = data[k];
    }
    for (int d = 0; d < deep->ndim; d++)
        index[d] = 0;
    for (bool more = true; more;) {
        tile = block;
        more = ew_loops_advance(deep->step, 0, deep->ndim, EW_FORWARD, index,
                                block.data);
        for (int k = 0; k < EW_FORWARD && more; k++)
            ew_lines_fetch(&deep->lines[k], block.data[k], k == EW_OUT);
        const void *const was[] = {tile.data[EW_X], tile.data[EW_Y]};
        ew_steps_run(pass, &tile, &deep->buffers);
        for (int k = 0; k < 2; k++)
            deep->buffers.kept[k] = block.data[k] == was[k];
    }
}

/* Loops from d on are still to be cut, into as many whole extents as there
   are and a rest, which is one step. */
static void run_cut(struct deep *deep, int d, void *const data[])
{
    const struct ew_pass *pass = deep->pass;
    if (d == pass->deep) {
        run_equal(deep, data);
        return;
    }
    const struct ew_loop *loop = &deep->loop[d];
    int64_t extent = pass->extent[d], pieces = loop->n / extent;
    struct ew_loop *step = &deep->step[deep->place[d]];
    void *rest[EW_FORWARD];
    for (int k = 0; k < EW_FORWARD; k++)
        rest[k] = ew_moved(data[k], pieces * extent * loop->stride[k]);
    deep->tile[d] = *loop;
    deep->tile[d].n = extent;
    step->n = pieces;
    run_cut(deep, d + 1, data);
    deep->tile[d].n = loop->n % extent;
    step->n = 1;
    if (deep->tile[d].n)
        run_cut(deep, d + 1, rest);
}

void ew_deep_run(const struct ew_loop *loop, int ndim,
                 const struct ew_pass *pass, void *const data[])
{
    struct deep deep;
    deep.pass = pass;
    deep.loop = loop;
    deep.ndim = ndim;
    make_steps(&deep);
    run_cut(&deep, 0, data);
}
