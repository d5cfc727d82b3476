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
 * What that costs is estimated in picoseconds, by figures measured on a
 * processor of 2023. They need not be exact: what is told apart is a fraction
 * of a line per element from a line, and a row of three from one of hundreds.
 */
#include "tile.h"

#include <string.h>

#include "cpu.h"
#include "gather.h"
#include "permutation.h"
#include "strategy.h"
#include "table.h"

enum {
    FEW = 32,          /* elements that are in a tile without asking */
    ELEMENTS = 1024,   /* of most tiles */
    FEW_RUNS = 128,    /* in one of more elements */
    WHOLE = 7,         /* of a loop that is in a tile as a whole or not */
    LONG_ROW = 240,    /* bytes; such rows of a tile need not be one */
    VECTOR_ROW = 16,   /* elements; f16, bf16, quotients of integers and what */
    COMPARED_ROW = 32, /* is compared, with AVX2, go one by one below that */
    WIDE_ROW = 8,      /* of quotients of 64 bits */
    CALL_TABLES = 100000, /* of the tables that such tiles need, per call */
    BASE_COST = 30,       /* of an element in any way, */
    PACK_COST = 60,       /* and where a kernel packs it */
    SCATTERED = 2,        /* so many times as much as a run that is gathered */
    TILE_COST = 50000,    /* of steps through buffers, per tile */
    ONE_LOAD = 16,        /* bytes of a run; what is more costs, */
    BYTE_COST = 5,        /* each */
    CALL_COST = 3000,     /* of a kernel that needs none, per two loops */
    LINE_ROW = 1500,      /* of a row there that is whole lines */
    ONE_COST = 1000,      /* of an element that a kernel takes by itself */
    STRIDED_COST = 1000,  /* of one that it takes where it is, with gaps */
    SPREAD_ROW = 300,     /* of an element of which copies are made, */
    SPREAD_BYTE = 15,     /* or of a byte in a vector of them */
    GATHER_COST = 200,    /* of one that is picked from larger steps */
    PACK_ROW = 2000,      /* of a row in which elements are picked, */
    PACK_BYTES = 5000,    /* or bytes */
    NEAR_PARTS = 3, /* lines cost such a part, as others come meanwhile, */
    FAR_PARTS = 2,  /* from beyond the L2 cache */
    WORTH = 700000  /* of a call, or looking for a tile takes longer */
};

/* What is not the same for all elements: what a row costs, and tenths that a
   tile must be cheaper by. Large ones lose less by strides. */
static const struct figures {
    int64_t row, tenths;
} small = {3000, 13}, large = {2000, 18};

static const struct figures *figures_of(const struct elementwise_plan *plan)
{
    return ew_pass_widest(&plan->pass, 3) < 8 ? &small : &large;
}

/* An operand that stays in the L1 cache costs less, and one that does not stay
   in the L2 cache more. */
enum { NEAR_BYTES = 16 << 10, FAR_BYTES = 1 << 20 };

/* Lines of out that push each other out of a cache, and are written in parts or
   have neighbours that come much later, cost so many times as much. */
enum { CROWDED = 3 };

/* Lines of an input in one place of the L1 cache, each of which is read several
   times: of more, none would be there any more. */
enum { TOGETHER = 16 };

/* The loops of a plan along which one operand moves. */
struct course {
    int loops;
    struct {
        int64_t step;
        int loop;
    } at[EW_DEEP_NDIM];  /* nearest first */
    int64_t size, bytes; /* of an element, of all */
    bool is_out;
    int64_t first, next; /* cost of the first line of a block, of others */
    bool by_one;         /* gathered run by run, from beyond the L2 cache */
};

/* The plan for which a tile is looked for, with loops in the order they have
   now. */
struct search {
    const struct elementwise_plan *plan;
    int64_t elements; /* of the result */
    struct course course[3];
};

/* A tile that may be taken: how much of each loop it holds, the best way to
   gather each input and to scatter out, and what that costs; and what an
   element costs in all. */
struct tile {
    int64_t extent[EW_DEEP_NDIM];
    struct ew_gathering gather[3];
    int64_t moved[3], cost;
};

static void find_course(const struct elementwise_plan *plan, int k,
                        struct course *course)
{
    int64_t bytes = plan->pass.stored[k];
    course->size = bytes;
    course->loops = 0;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        if (step == 0)
            continue;
        int j = course->loops++;
        for (; j > 0 && step < course->at[j - 1].step; j--)
            course->at[j] = course->at[j - 1];
        course->at[j].step = step;
        course->at[j].loop = i;
        bytes *= plan->loop[i].n;
    }
    course->bytes = bytes;
    course->is_out = k == EW_OUT;
    course->by_one = false;
    course->first = bytes < NEAR_BYTES ? 300 : bytes < FAR_BYTES ? 1500 : 5000;
    course->next = bytes < NEAR_BYTES ? 100 : bytes < FAR_BYTES ? 600 : 1500;
}

static void find_courses(struct search *s)
{
    for (int k = 0; k <= EW_OUT; k++)
        find_course(s->plan, k, &s->course[k]);
}

/* The places in a way of the cache that lines so many bytes apart have. */
static int64_t places(int64_t step)
{
    int power = __builtin_ctzll((unsigned long long)step | EW_CACHE_WAY);
    return EW_CACHE_WAY >> power;
}

/* What it costs to bring the lines of an operand in a tile: what lies closer
   than a line is a block, farther loops repeat it. */
static int64_t line_cost(const struct course *course, const int64_t extent[])
{
    int64_t block = course->size, blocks = 1, first = course->first;
    for (int j = 0; j < course->loops; j++) {
        int64_t step = course->at[j].step, n = extent[course->at[j].loop];
        if (step < EW_LINE || step <= block) {
            block += (n - 1) * step;
            continue;
        }
        blocks *= n;
        if (course->is_out && block <= EW_LINE &&
            n > EW_CACHE_WAYS * places(step))
            first = CROWDED * course->first;
    }
    return blocks * (first + course->next * block / EW_LINE);
}

static int64_t elements_of(const struct elementwise_plan *plan,
                           const int64_t extent[])
{
    int64_t elements = 1;
    for (int i = 0; i < plan->ndim; i++)
        elements *= extent[i];
    return elements;
}

/* Whether the lines of input k in a tile, where it is gathered run by run, push
   each other out of the L1 cache. */
static bool is_crowded(const struct elementwise_plan *plan, int k,
                       const int64_t extent[])
{
    int64_t together = 1;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        int64_t some = step < EW_LINE ? 1 : extent[i] / places(step);
        together *= some > 1 ? some : 1;
    }
    return together > TOGETHER;
}

/* Whether those of an input are that comes from beyond the L2 cache. */
static bool pushes_out(const struct search *s, const int64_t extent[])
{
    bool pushes = false;
    for (int k = 0; k < 2; k++)
        pushes |= s->course[k].by_one && is_crowded(s->plan, k, extent);
    return pushes;
}

/* Makes one loop of a tile twice as long, or whole if that is near: that which
   costs least per element; of loops that cost the same, the inner one. lines:
   what those of each operand cost, before and after. False if that would be
   more than `most` elements, whichever loop it is. */
static bool grow(const struct search *s, int64_t most, int64_t extent[],
                 int64_t lines[3])
{
    const struct ew_loop *loop = s->plan->loop;
    int64_t elements = elements_of(s->plan, extent), grown = 0;
    int64_t then[3], best_then[3] = {0, 0, 0};
    double least = 0;
    int best = -1;
    for (int i = 0; i < s->plan->ndim; i++) {
        int64_t now = extent[i], n = loop[i].n;
        int64_t more = 2 * now < n && n > WHOLE ? 2 * now : n;
        if (more == now || elements / now * more > most)
            continue;
        extent[i] = more;
        for (int k = 0; k <= EW_OUT; k++)
            then[k] =
                loop[i].stride[k] ? line_cost(&s->course[k], extent) : lines[k];
        bool pushes = pushes_out(s, extent);
        extent[i] = now;
        double all = (double)(then[EW_X] + then[EW_Y] + then[EW_OUT]);
        double cost = all * (double)now / (double)more;
        if (!pushes && (best < 0 || cost < least)) {
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
static void grow_to(const struct search *s, int64_t elements, int64_t extent[])
{
    int64_t fit = EW_TILE_BYTES / ew_pass_widest(&s->plan->pass, 3), lines[3];
    for (int k = 0; k <= EW_OUT; k++)
        lines[k] = line_cost(&s->course[k], extent);
    while (grow(s, elements < fit ? elements : fit, extent, lines))
        ;
}

/* Makes a tile of at most so many elements. Whole inner loops that are a few
   lines of out are where it starts, and `along` elements of loop `first`. */
static void grow_tile(const struct search *s, int64_t elements, int first,
                      int64_t along, int64_t extent[])
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

/* The bytes of operand k that lie one behind the other in a tile of the ndim
   inner loops, from its first element on; 0 if it stands still. */
static int64_t run_in_tile(const struct elementwise_plan *plan, int k, int ndim,
                           const int64_t extent[])
{
    int64_t run = plan->pass.stored[k];
    bool still = true, follows = true;
    for (int i = 0; i < ndim; i++) {
        if (extent[i] == 1)
            continue;
        follows &= plan->loop[i].stride[k] == run;
        still &= plan->loop[i].stride[k] == 0;
        run *= follows ? extent[i] : 1;
    }
    return still ? 0 : run;
}

/* What a tile has of operand k. */
static struct ew_layout layout_of(const struct elementwise_plan *plan, int k,
                                  const int64_t extent[])
{
    struct ew_layout layout;
    layout.size = plan->pass.stored[k];
    layout.ndim = 0;
    for (int i = 0; i < plan->ndim; i++)
        if (extent[i] > 1)
            layout.loop[layout.ndim++] =
                (struct ew_layout_loop){extent[i], plan->loop[i].stride[k]};
    return layout;
}

/* The best way to gather operand k of a tile, or to scatter out, and what it
   costs: nothing if it is one run. */
static struct ew_gathering find_gathering(const struct elementwise_plan *plan,
                                          int k, const int64_t extent[],
                                          int64_t *cost)
{
    struct ew_layout layout = layout_of(plan, k, extent);
    struct ew_gathering best = {NULL, 0, 0};
    ew_permuter *permute = ew_table_permute(plan->level);
    int64_t turned;
    *cost = ew_places_cost(&layout);
    if (*cost == 0 || k == EW_OUT || layout.size > 8)
        return best;
    if (permute) {
        int windows = 0;
        *cost = ew_permutation_permuting(&layout, *cost, &windows);
        best.kernel = windows ? permute : NULL;
        best.windows = (unsigned char)windows;
    }
    int64_t turning = ew_permutation_turning(&layout, &turned);
    ew_permuter *turn = ew_table_turn(plan->level, turned);
    if (turn && turning < *cost) {
        *cost = turning;
        best.kernel = turn;
        best.turned = (unsigned char)turned;
    }
    return best;
}

/* What runs of input k take that are more than a load and a store each: what
   comes from beyond the L2 cache is waited for anyway. */
static int64_t long_runs(const struct elementwise_plan *plan, int k,
                         const int64_t extent[])
{
    int64_t bytes = elements_of(plan, extent) * plan->pass.stored[k];
    int64_t run = run_in_tile(plan, k, plan->ndim, extent);
    return run > ONE_LOAD && run < bytes
               ? bytes / run * (run - ONE_LOAD) * BYTE_COST
               : 0;
}

/* The number of tiles one after the other that share what they have of input k:
   they go along a loop where it stands still first (order_tiles), or do so
   anyway. */
static int64_t tiles_sharing(const struct elementwise_plan *plan, int k,
                             const int64_t extent[], bool ordered)
{
    for (int i = 0; i < plan->ndim; i++) {
        const struct ew_loop *loop = &plan->loop[i];
        if (extent[i] == loop->n)
            continue;
        if (loop->stride[k] == 0)
            return (loop->n + extent[i] - 1) / extent[i];
        if (!ordered)
            return 1;
    }
    return 1;
}

/* What an element costs beyond lines in a tile. */
static int64_t deep_cost(const struct search *s, const struct tile *tile)
{
    bool near = s->course[EW_OUT].bytes <= FAR_BYTES;
    int64_t cost = TILE_COST;
    for (int k = 0; k < 2; k++) {
        int64_t moved = tile->moved[k];
        bool by_one = near && !tile->gather[k].kernel;
        if (by_one)
            moved += long_runs(s->plan, k, tile->extent);
        cost += moved / tiles_sharing(s->plan, k, tile->extent, near);
    }
    cost += SCATTERED * tile->moved[EW_OUT];
    return cost / elements_of(s->plan, tile->extent);
}

/* Whether the kernel that packs turns input k in blocks: neighbours, or every
   second byte, which a shift and a mask make neighbours. */
static bool is_turned_fast(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k], step = ew_magnitude(rows->stride[k]);
    bool blocks =
        cols->n * size >= EW_TURNED_BYTES && rows->n * size >= EW_TURNED_BYTES;
    return step == size || (size == 1 && step == 2 && blocks);
}

/* What the kernel that packs takes for an element of a row: little where either
   loop runs along memory or stands still. Rows of whole lines, and those that
   are one, have no ends. */
static int64_t row_cost(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k];
    int64_t col = ew_magnitude(cols->stride[k]);
    bool ends = rows->stride[k] != cols->n * cols->stride[k] &&
                cols->n * size % EW_LINE != 0;
    int64_t spread = SPREAD_ROW / cols->n;
    if (plan->level >= EW_LEVEL_AVX512 && size == 1 && rows->stride[k] == 1 &&
        cols->n <= VECTOR_ROW)
        spread = SPREAD_BYTE;
    if (col == 0)
        return spread < PACK_COST ? spread : PACK_COST;
    if (cols->stride[k] == size || is_turned_fast(plan, k))
        return PACK_COST;
    return (col <= EW_SHUFFLED * size ? PACK_COST : GATHER_COST) +
           (ends ? (size == 1 ? PACK_BYTES : PACK_ROW) / cols->n : 0);
}

/* The same, where one row of those that are repeated is packed. */
static int64_t pack_cost(const struct elementwise_plan *plan, int k)
{
    int64_t cost = row_cost(plan, k);
    return plan->loop[1].stride[k] ? cost : cost / plan->loop[1].n;
}

/* Whether rows are shorter than the vectors that their kernel has: of results,
   where it compares. AVX-512 takes rows below one in a step, but quotients. */
static bool goes_one_by_one(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    int64_t cols = plan->loop[0].n;
    bool half = type == ELEMENTWISE_F16 || type == ELEMENTWISE_BF16;
    if (plan->types.fault)
        return cols < VECTOR_ROW;
    if (plan->level >= EW_LEVEL_AVX512)
        return false;
    if (plan->types.result != ELEMENTWISE_BOOL)
        return half && cols < VECTOR_ROW;
    return cols < (plan->level == EW_LEVEL_AVX2 ? COMPARED_ROW : VECTOR_ROW);
}

/* The same in the tiles of two loops, or in the calls, that there are. */
static int64_t flat_cost(const struct elementwise_plan *plan,
                         const int64_t extent[])
{
    const struct ew_loop *loop = plan->loop;
    int64_t cols = loop[0].n, cost = 0;
    bool packs = ew_pass_buffers(&plan->pass);
    for (int k = 0; k <= EW_OUT; k++) {
        int64_t step = loop[0].stride[k];
        if (k < 2 && plan->pass.pack[k])
            cost += pack_cost(plan, k);
        else if (step != 0 && step != plan->pass.stored[k] &&
                 !ew_strategy_divides_c64(plan))
            cost += STRIDED_COST;
    }
    cost += (packs ? TILE_COST : CALL_COST) / elements_of(plan, extent);
    if (plan->pass.fold)
        return cost;
    bool lines = cols * plan->pass.stored[EW_OUT] % EW_LINE == 0;
    return cost + (lines ? LINE_ROW : figures_of(plan)->row) / cols +
           (goes_one_by_one(plan) ? ONE_COST : 0);
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

/* Moves a loop along which an input stands still next to those of a tile, as
   that input is not gathered again there. From farther than the L2 cache, lines
   that tiles share would have to be brought again instead. */
static void order_tiles(struct elementwise_plan *plan, const struct search *s)
{
    int deep = plan->pass.deep;
    if (s->course[EW_OUT].bytes > FAR_BYTES) {
        for (int k = 0; k < 2; k++)
            plan->pass.large[k] = s->course[k].bytes >= FAR_BYTES;
        return;
    }
    for (int i = deep; i < plan->ndim; i++)
        for (int k = 0; k < 2; k++)
            if (plan->loop[i].stride[k] == 0 && ew_tile_places(plan, k)) {
                ew_plan_move_inside(plan, i, deep);
                return;
            }
}

/* The run of operand k in the first ndim loops of the plan's tile, and the
   bytes of all that these have. */
static int64_t run_of(const struct elementwise_plan *plan, int k, int ndim,
                      int64_t *all)
{
    int64_t extent[EW_DEEP_LOOPS];
    *all = plan->pass.stored[k];
    for (int i = 0; i < ndim; i++) {
        extent[i] = plan->pass.extent[i];
        *all *= extent[i];
    }
    return run_in_tile(plan, k, ndim, extent);
}

/* Whether operand k is in a tile long runs along all loops but the outermost,
   which is then that of rows: those need not be copied. */
static bool in_rows(const struct elementwise_plan *plan, int k)
{
    int inner = plan->pass.deep - 1;
    int64_t row, run = run_of(plan, k, inner, &row);
    return inner > 0 && row > LONG_ROW && run == row &&
           plan->loop[inner].stride[k] != row;
}

/* Moves the loops of a tile inside the others. */
static void take_tile(struct elementwise_plan *plan, const struct tile *tile)
{
    struct ew_pass *pass = &plan->pass;
    for (int i = 0; i < plan->ndim; i++) {
        if (tile->extent[i] == 1)
            continue;
        ew_plan_move_inside(plan, i, pass->deep);
        pass->extent[pass->deep++] = (uint16_t)tile->extent[i];
    }
    for (int k = 0; k < 2; k++) {
        pass->gather[k] = tile->gather[k];
        pass->pack[k] = NULL;
    }
    pass->moves = ew_table_moves(plan->level);
    pass->fold = false;
    pass->turn = 0;
    for (int k = 0; k <= EW_OUT; k++)
        pass->rows |= in_rows(plan, k);
}

/* What the lines of all operands cost, per element. */
static int64_t lines_per_element(const struct search *s, const int64_t extent[])
{
    int64_t cost = 0;
    for (int k = 0; k <= EW_OUT; k++)
        cost += line_cost(&s->course[k], extent);
    int parts = s->course[EW_OUT].bytes < FAR_BYTES ? NEAR_PARTS : FAR_PARTS;
    return cost / elements_of(s->plan, extent) / parts;
}

/* Fills a tile whose extents are there. */
static void weigh(const struct search *s, struct tile *tile)
{
    for (int k = 0; k <= EW_OUT; k++)
        tile->gather[k] =
            find_gathering(s->plan, k, tile->extent, &tile->moved[k]);
    tile->cost = lines_per_element(s, tile->extent) + deep_cost(s, tile);
}

/* Whether rows are divided by a number each, whose inverse the kernel finds
   once: that is worth it in rows that are not short, of 64 bits in rows of a
   vector, but not where x has gaps. */
static bool divides_by_one(const struct search *s)
{
    const struct ew_loop *cols = &s->plan->loop[0];
    bool wide = ew_pass_widest(&s->plan->pass, 3) == 8;
    return s->plan->types.fault == EW_FAULT_ZERO && !s->plan->pass.pack[EW_Y] &&
           cols->stride[EW_Y] == 0 && s->course[EW_Y].loops > 0 &&
           cols->n >= (wide ? WIDE_ROW : VECTOR_ROW) &&
           !(wide && cols->stride[EW_X] != 8);
}

/* Whether a tile is much cheaper than what an element costs now, as both are no
   more than estimates. */
static bool is_cheaper(const struct search *s, const struct tile *tile,
                       int64_t now)
{
    const struct figures *f = figures_of(s->plan);
    int64_t then = tile->cost + CALL_TABLES / s->elements;
    return !divides_by_one(s) &&
           f->tenths * (BASE_COST + then) < 10 * (BASE_COST + now);
}

/* Whether few steps gather or scatter each operand of a tile. */
static bool takes_few(const struct elementwise_plan *plan,
                      const struct tile *tile)
{
    bool few = true;
    for (int k = 0; k <= EW_OUT; k++) {
        struct ew_layout layout = layout_of(plan, k, tile->extent);
        few &= tile->gather[k].kernel || ew_places_runs(&layout) <= FEW_RUNS;
    }
    return few;
}

/* Tiles of bytes have more elements, unless that is many steps. */
static void find_tile(const struct search *s, struct tile *tile)
{
    bool bytes = ew_pass_widest(&s->plan->pass, 3) == 1;
    grow_tile(s, bytes ? EW_DEEP_ELEMENTS : ELEMENTS, 0, 1, tile->extent);
    weigh(s, tile);
    if (bytes && !takes_few(s->plan, tile)) {
        grow_tile(s, ELEMENTS, 0, 1, tile->extent);
        weigh(s, tile);
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
static void turn_tile(const struct search *s, int k, struct tile *tile)
{
    struct tile other;
    int along = lacks(s->plan, k, tile->extent);
    if (!along)
        return;
    grow_tile(s, ELEMENTS, along, EW_TURNED_BYTES / s->plan->pass.stored[k],
              other.extent);
    weigh(s, &other);
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
                       run_in_tile(plan, k, plan->ndim, extent) > 0;
    return repeats;
}

/* Takes a tile of the same size, if there is one, that keeps the lines of
   inputs in the cache which are gathered run by run. */
static void keep_lines(struct search *s, struct tile *tile)
{
    struct tile other;
    for (int k = 0; k < 2; k++)
        s->course[k].by_one = s->course[k].bytes >= FAR_BYTES &&
                              !tile->gather[k].kernel && tile->moved[k] > 0;
    if (!pushes_out(s, tile->extent))
        return;
    grow_tile(s, ELEMENTS, 0, 1, other.extent);
    if (elements_of(s->plan, other.extent) <
            elements_of(s->plan, tile->extent) ||
        !is_near(s->plan, other.extent) ||
        repeats(s->plan, tile->extent, other.extent))
        return;
    weigh(s, &other);
    *tile = other;
}

/* Takes a tile of up to twice the size, where that is cheaper: steps between
   tiles count where an input is turned, or all is in the L2 cache. What is
   gathered from memory run by run is better brought in small parts. */
static void widen(const struct search *s, struct tile *tile)
{
    struct tile other = *tile;
    grow_to(s, EW_DEEP_ELEMENTS, other.extent);
    if (elements_of(s->plan, other.extent) ==
            elements_of(s->plan, tile->extent) ||
        !is_near(s->plan, other.extent) ||
        repeats(s->plan, tile->extent, other.extent))
        return;
    weigh(s, &other);
    bool near = s->course[EW_OUT].bytes < FAR_BYTES ||
                other.gather[EW_X].turned || other.gather[EW_Y].turned;
    if (near && other.cost < tile->cost && takes_few(s->plan, &other))
        *tile = other;
}

/* Takes tiles of several loops where two are too few: their rows are short, or
   they leave much of each line to other tiles. Loops are then in out's order
   again, which has the fewest places. */
void ew_tile_deepen(struct elementwise_plan *plan, int64_t elements)
{
    static const int order[] = {EW_OUT};
    struct search s;
    struct ew_loop turned[EW_DEEP_NDIM];
    int64_t flat[EW_DEEP_NDIM];
    struct tile tile;
    if (plan->ndim < 2 || plan->ndim > EW_DEEP_NDIM)
        return;
    two_loops(plan, flat);
    int64_t now = flat_cost(plan, flat);
    if (now < WORTH / elements)
        return;
    s.plan = plan;
    s.elements = elements;
    find_courses(&s);
    now += lines_per_element(&s, flat);
    if (plan->pass.turn) {
        memcpy(turned, plan->loop, (size_t)plan->ndim * sizeof *turned);
        ew_plan_sort(plan->loop, plan->ndim, order, 1);
        find_courses(&s);
    }
    find_tile(&s, &tile);
    if (is_cheaper(&s, &tile, now) && is_near(plan, tile.extent)) {
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
    return run && run < all && !(plan->pass.rows && in_rows(plan, k));
}
