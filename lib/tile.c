/*
 * Turns the loops of a plan into tiles of several of them, where tiles of the
 * two innermost are too small or leave much of each line to other tiles: finds
 * what a tile holds of each loop, so that few lines are brought per element.
 *
 *     loops                3 x 1502 x 419
 *     x, in bytes          4   5028    12     lines along loops 1 and 3
 *     out                  4     12 18024     lines along loops 1 and 2
 *     tile                 3 x   16 x  16
 *
 * What that costs is estimated in tile_cost.c.
 */
#include "tile.h"

#include <string.h>

#include "permutation.h"
#include "strategy.h"
#include "table.h"
#include "tile_cost.h"

enum {
    FEW = 32,        /* elements that are in a tile without asking */
    ELEMENTS = 1024, /* of most tiles */
    WHOLE = 7,       /* of a loop that is in a tile as a whole or not */
    LONG_ROW = 240,  /* bytes; longer rows of an input stay rows in a tile, */
    STORED_ROW = 60, /* and longer ones of out, then of inputs as well, as out
                        would be scattered */
    WORTH = 700000 /* picoseconds of a call, or looking for one takes longer */
};

/* Makes one loop of a tile twice as long, or whole if that is near: that which
   costs least per element; of loops that cost the same, the inner one. lines:
   what those of each operand cost, before and after. False if that would be
   more than `most` elements, whichever loop it is. */
static bool grow(const struct ew_tile_search *s, int64_t most, int64_t extent[],
                 int64_t lines[3])
{
    const struct ew_loop *loop = s->plan->loop;
    int64_t elements = ew_tile_elements(s->plan, extent);
    int64_t then[3], best_then[3] = {0, 0, 0}, least = 0, grown = 1;
    int best = -1;
    for (int i = 0; i < s->plan->ndim; i++) {
        int64_t now = extent[i], n = loop[i].n;
        bool twice = 2 * now < n && n > WHOLE;
        int64_t more = twice ? 2 * now : n;
        if (more == now ||
            (twice ? 2 * elements : elements / now * more) > most)
            continue;
        extent[i] = more;
        for (int k = 0; k <= EW_OUT; k++)
            then[k] = loop[i].stride[k] ? ew_tile_lines(&s->course[k], extent)
                                        : lines[k];
        bool pushes = ew_tile_pushes_out(s, extent);
        extent[i] = now;
        int64_t cost = (then[EW_X] + then[EW_Y] + then[EW_OUT]) * now;
        if (!pushes && (best < 0 || cost * grown < least * more)) {
            memcpy(best_then, then, sizeof then);
            least = cost;
            best = i;
            grown = more;
        }
    }
    if (best < 0)
        return false;
    extent[best] = grown;
    memcpy(lines, best_then, sizeof best_then);
    return true;
}

/* Makes a tile larger, up to so many elements. */
static void grow_to(const struct ew_tile_search *s, int64_t elements,
                    int64_t extent[])
{
    int64_t fit = EW_TILE_BYTES / ew_pass_widest(&s->plan->pass, 3), lines[3];
    for (int k = 0; k <= EW_OUT; k++)
        lines[k] = ew_tile_lines(&s->course[k], extent);
    while (grow(s, elements < fit ? elements : fit, extent, lines))
        ;
}

/* Makes a tile of at most so many elements. Whole inner loops that are a few
   lines of out are where it starts, and `along` elements of loop `first`. */
static void grow_tile(const struct ew_tile_search *s, int64_t elements,
                      int first, int64_t along, int64_t extent[])
{
    int64_t few = FEW;
    extent[first] = along; /* or compilers miss that all are set */
    for (int i = 0; i < s->plan->ndim; i++) {
        int64_t whole = s->plan->loop[i].n <= few ? s->plan->loop[i].n : 1;
        few = whole > 1 ? few / whole : 0;
        extent[i] = i == first && along > whole ? along : whole;
    }
    grow_to(s, elements, extent);
}

/* Whether all places in a tile, and the ends of their lines, fit in 32 bits. */
static bool is_near(const struct elementwise_plan *plan, const int64_t extent[])
{
    for (int k = 0; k <= EW_OUT; k++) {
        int64_t reach = 0;
        for (int i = 0; i < plan->ndim; i++)
            reach += (extent[i] - 1) * ew_magnitude(plan->loop[i].stride[k]);
        if (reach > INT32_MAX - 2 * EW_LINE)
            return false;
    }
    return true;
}

/* Tiles of bytes have more elements, unless that is many steps. */
static int64_t most_elements(const struct elementwise_plan *plan)
{
    return ew_pass_widest(&plan->pass, 3) == 1 ? EW_DEEP_ELEMENTS : ELEMENTS;
}

static void find_tile(const struct ew_tile_search *s, struct ew_tile *tile)
{
    int64_t most = most_elements(s->plan);
    grow_tile(s, most, 0, 1, tile->extent);
    ew_tile_weigh(s, tile);
    if (most > ELEMENTS && !ew_tile_takes_few(s->plan, tile)) {
        grow_tile(s, ELEMENTS, 0, 1, tile->extent);
        ew_tile_weigh(s, tile);
    }
}

/* The loop along which the elements of input k are neighbours, if a tile has
   fewer of them than a square block that is turned, but the loop has not; 0:
   there is none. */
static int lacks(const struct elementwise_plan *plan, int k,
                 const int64_t extent[])
{
    int64_t size = plan->pass.stored[k], run = EW_TURNED_BYTES / size;
    for (int i = 1; i < plan->ndim; i++)
        if (plan->loop[i].stride[k] == size && extent[i] < run &&
            plan->loop[i].n >= run)
            return i;
    return 0;
}

/* Takes a tile of which input k can be turned, where that is cheaper. What
   brings fewest lines has often too few elements along each loop. */
static void turn_tile(const struct ew_tile_search *s, int k,
                      struct ew_tile *tile)
{
    struct ew_tile other;
    int along = lacks(s->plan, k, tile->extent);
    if (!along)
        return;
    grow_tile(s, ELEMENTS, along, EW_TURNED_BYTES / s->plan->pass.stored[k],
              other.extent);
    ew_tile_weigh(s, &other);
    if (other.gather[k].turned && is_near(s->plan, other.extent) &&
        other.cost < tile->cost)
        *tile = other;
}

/* Whether another tile takes steps of a loop along which an input stands still:
   tiles that follow each other there share what was gathered of it. */
static bool repeats(const struct elementwise_plan *plan, const int64_t extent[],
                    const int64_t other[])
{
    bool repeats = false;
    for (int i = 0; i < plan->ndim; i++)
        for (int k = 0; k < 2; k++)
            repeats |= extent[i] == 1 && other[i] > 1 &&
                       plan->loop[i].stride[k] == 0 &&
                       ew_tile_run(plan, k, plan->ndim, extent) > 0;
    return repeats;
}

/* Whether a tile of at least so many elements more may take another's place. */
static bool may_replace(const struct elementwise_plan *plan,
                        const int64_t extent[], const int64_t other[],
                        int64_t more)
{
    return ew_tile_elements(plan, other) >=
               ew_tile_elements(plan, extent) + more &&
           is_near(plan, other) && !repeats(plan, extent, other);
}

/* Takes a tile of the same size, if there is one, that keeps the lines of
   inputs in the cache which are gathered run by run. */
static void keep_lines(struct ew_tile_search *s, struct ew_tile *tile)
{
    struct ew_tile other;
    for (int k = 0; k < 2; k++)
        s->course[k].by_one = s->course[k].bytes >= EW_FAR_BYTES &&
                              !tile->gather[k].kernel && tile->moved[k] > 0;
    if (!ew_tile_pushes_out(s, tile->extent))
        return;
    grow_tile(s, ELEMENTS, 0, 1, other.extent);
    if (!may_replace(s->plan, tile->extent, other.extent, 0))
        return;
    ew_tile_weigh(s, &other);
    *tile = other;
}

/* Takes a tile of up to twice the size, where that is cheaper: steps between
   tiles count where an input is turned, or all is in the L2 cache. What is
   gathered from memory run by run is better brought in small parts. */
static void widen(const struct ew_tile_search *s, struct ew_tile *tile)
{
    struct ew_tile other = *tile;
    grow_to(s, EW_DEEP_ELEMENTS, other.extent);
    if (!may_replace(s->plan, tile->extent, other.extent, 1))
        return;
    ew_tile_weigh(s, &other);
    bool near = s->course[EW_OUT].bytes < EW_FAR_BYTES ||
                other.gather[EW_X].turned || other.gather[EW_Y].turned;
    if (near && other.cost < tile->cost && ew_tile_takes_few(s->plan, &other))
        *tile = other;
}

/* The extents of a tile of the two inner loops, as execute.c cuts it. */
static void two_loops(const struct elementwise_plan *plan, int64_t extent[])
{
    int64_t most = EW_TILE_BYTES / ew_pass_widest(&plan->pass, 2);
    int64_t turn = plan->pass.fold ? 0 : plan->pass.turn, cols = most;
    if (turn)
        cols = most / (turn < plan->loop[1].n ? turn : plan->loop[1].n);
    for (int i = 2; i < plan->ndim; i++)
        extent[i] = 1;
    extent[0] = plan->loop[0].n < cols ? plan->loop[0].n : cols;
    extent[1] =
        plan->loop[1].n < most / extent[0] ? plan->loop[1].n : most / extent[0];
}

/* The run of operand k in the first ndim loops of the plan's tile, and the
   bytes of all that these have. */
static int64_t run_of(const struct elementwise_plan *plan, int k, int ndim,
                      int64_t *all)
{
    int64_t extent[EW_DEEP_LOOPS];
    extent[0] = 1; /* or compilers miss that all are set */
    *all = plan->pass.stored[k];
    for (int i = 0; i < ndim; i++) {
        extent[i] = plan->pass.extent[i];
        *all *= extent[i];
    }
    return ew_tile_run(plan, k, ndim, extent);
}

/* Whether operand k is in a tile runs of more than `least` bytes along all
   loops but the outermost, which is then that of rows: those need not be
   copied. */
static bool in_rows(const struct elementwise_plan *plan, int k, int64_t least)
{
    int inner = plan->pass.deep - 1;
    int64_t row, run = run_of(plan, k, inner, &row);
    return inner > 0 && row > least && run == row &&
           plan->loop[inner].stride[k] != row;
}

/* Moves the loops of a tile inside the others. */
static void take_tile(struct elementwise_plan *plan, const struct ew_tile *tile)
{
    struct ew_pass *pass = &plan->pass;
    for (int i = 0; i < plan->ndim; i++) {
        if (tile->extent[i] == 1)
            continue;
        ew_plan_move_inside(plan->loop, i, pass->deep);
        pass->extent[pass->deep++] = (uint16_t)tile->extent[i];
    }
    for (int k = 0; k < 2; k++) {
        pass->gather[k] = tile->gather[k];
        pass->pack[k] = NULL;
    }
    if (ew_strategy_scatters(plan))
        pass->store = NULL; /* by the table of places */
    pass->moves = ew_table_moves(plan->level);
    pass->fold = false;
    pass->turn = 0;
    for (int k = 0; k <= EW_OUT; k++)
        pass->rows |= in_rows(plan, k, k == EW_OUT ? STORED_ROW : LONG_ROW);
}

/* Moves a loop along which an input stands still next to those of a tile, as
   that input is not gathered again there. From farther than the L2 cache, lines
   that tiles share would have to be brought again instead. */
static void order_tiles(struct elementwise_plan *plan,
                        const struct ew_tile_search *s)
{
    int deep = plan->pass.deep;
    if (s->course[EW_OUT].bytes > EW_FAR_BYTES) {
        for (int k = 0; k < 2; k++)
            plan->pass.large[k] = s->course[k].bytes >= EW_FAR_BYTES;
        return;
    }
    for (int i = deep; i < plan->ndim; i++)
        for (int k = 0; k < 2; k++)
            if (plan->loop[i].stride[k] == 0 && ew_tile_places(plan, k)) {
                ew_plan_move_inside(plan->loop, i, deep);
                return;
            }
}

/* Takes tiles of several loops where two are too few: their rows are short, or
   they leave much of each line to other tiles. Where an input is turned, loops
   are in out's order again, which has the fewest places. */
void ew_tile_deepen(struct elementwise_plan *plan, int64_t elements)
{
    static const int order[] = {EW_OUT};
    struct ew_tile_search s;
    struct ew_loop turned[EW_DEEP_NDIM];
    int64_t flat[EW_DEEP_NDIM];
    struct ew_tile tile;
    if (plan->ndim < 2 || plan->ndim > EW_DEEP_NDIM)
        return;
    two_loops(plan, flat);
    int64_t now = ew_tile_flat(plan, flat);
    if (now < WORTH / elements)
        return;
    s.plan = plan;
    s.elements = elements;
    ew_tile_courses(&s);
    now += ew_tile_lines_each(&s, flat);
    if (!ew_tile_is_cheaper(&s, ew_tile_least(&s, most_elements(plan)), now))
        return;
    if (plan->pass.turn) {
        memcpy(turned, plan->loop, (size_t)plan->ndim * sizeof *turned);
        ew_plan_sort(plan->loop, plan->ndim, order, 1);
        ew_tile_courses(&s);
    }
    find_tile(&s, &tile);
    if (ew_tile_is_cheaper(&s, tile.cost, now) && is_near(plan, tile.extent)) {
        for (int k = 0; k < 2; k++)
            turn_tile(&s, k, &tile);
        keep_lines(&s, &tile);
        widen(&s, &tile);
        take_tile(plan, &tile);
        order_tiles(plan, &s);
    } else if (plan->pass.turn)
        memcpy(plan->loop, turned, (size_t)plan->ndim * sizeof *turned);
}

bool ew_tile_places(const struct elementwise_plan *plan, int k)
{
    int64_t all, run = run_of(plan, k, plan->pass.deep, &all);
    return run && run < all &&
           !(plan->pass.rows && in_rows(plan, k, STORED_ROW));
}
