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
#include "strategy.h"
#include "table.h"

enum {
    FEW = 32,        /* elements that are in a tile without asking */
    ELEMENTS = 1024, /* of most tiles */
    FEW_RUNS = 128,  /* in one of more elements */
    TURNED_MOST = 4, /* bytes of an element that a tile is made for turning, */
    WORTH_TURNED = 65536, /* in calls of so many */
    WHOLE = 7,            /* of a loop that is in a tile as a whole or not */
    LONG_ROW = 240,       /* bytes; such rows of a tile need not be one */
    VECTOR_ROW = 16,   /* elements; f16, bf16, quotients of integers and what */
    COMPARED_ROW = 32, /* is compared, with AVX2, go one by one below that */
    WIDE_ROW = 8,      /* of quotients of 64 bits */
    CALL_TABLES = 100000, /* of the tables that such tiles need, per call */
    TILE_COST = 50000,    /* of steps through buffers, per tile */
    ONE_LOAD = 16,        /* bytes of a run; what is more costs, */
    BYTE_COST = 5,        /* each */
    CALL_COST = 3000,     /* of a kernel that needs none, per two loops */
    LINE_ROW = 1500,      /* of a row there that is whole lines */
    ONE_COST = 1000,      /* of an element that a kernel takes by itself */
    STRIDED_COST = 1000,  /* of one that it takes where it is, with gaps */
    SPREAD_ROW = 300,     /* of an element of which copies are made */
    GATHER_COST = 200,    /* of one that is picked from larger steps */
    PACK_ROW = 2000,      /* of a row in which elements are picked, */
    PACK_BYTES = 5000,    /* or bytes */
    NEAR_PARTS = 3, /* lines cost such a part, as others come meanwhile, */
    FAR_PARTS = 2,  /* from beyond the L2 cache */
    WORTH = 700000  /* of a call, or looking for a tile takes longer */
};

/* What is not the same for all elements: what one costs in any way, and where a
   kernel packs it; what a row costs; how much more a run costs that is
   scattered; tenths that a tile must be cheaper by. Large ones lose less by
   strides. */
static const struct figures {
    int64_t base, pack, row, scatter, tenths;
} small = {30, 60, 3000, 2, 13}, large = {70, 150, 2000, 8, 18};

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

static void find_course(const struct elementwise_plan *plan, int k,
                        struct course *course)
{
    int64_t bytes = plan->pass.stored[k];
    course->size = bytes;
    course->loops = 0;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        int j = step ? course->loops++ : 0;
        if (!step)
            continue;
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

static void find_courses(const struct elementwise_plan *plan,
                         struct course course[3])
{
    for (int k = 0; k <= EW_OUT; k++)
        find_course(plan, k, &course[k]);
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

static int64_t product(const int64_t extent[], int n)
{
    int64_t elements = 1;
    for (int i = 0; i < n; i++)
        elements *= extent[i];
    return elements;
}

/* Whether an input that is gathered run by run pushes its own lines in a tile
   out of the cache. */
static bool pushes_out(const struct elementwise_plan *plan,
                       const struct course course[3], const int64_t extent[])
{
    bool pushes = false;
    for (int k = 0; k < 2; k++) {
        int64_t together = 1;
        for (int i = 0; i < plan->ndim && course[k].by_one; i++) {
            int64_t step = ew_magnitude(plan->loop[i].stride[k]);
            int64_t some = step < EW_LINE ? 1 : extent[i] / places(step);
            together *= some > 1 ? some : 1;
        }
        pushes |= together > TOGETHER;
    }
    return pushes;
}

/* Makes one loop of a tile twice as long, or whole if that is near: that which
   costs least per element; of loops that cost the same, the inner one. is: what
   the lines of each operand cost before and after. False if that would be more
   than `most` elements, whichever loop it is. */
static bool grow(const struct elementwise_plan *plan,
                 const struct course course[3], int64_t most, int64_t extent[],
                 int64_t is[3])
{
    int64_t elements = product(extent, plan->ndim), grown = 0;
    int64_t then[3], best_then[3] = {0, 0, 0};
    double least = 0;
    int best = -1;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t now = extent[i], n = plan->loop[i].n;
        int64_t more = 2 * now < n && n > WHOLE ? 2 * now : n;
        if (more == now || elements / now * more > most)
            continue;
        extent[i] = more;
        for (int k = 0; k <= EW_OUT; k++)
            then[k] =
                plan->loop[i].stride[k] ? line_cost(&course[k], extent) : is[k];
        bool pushes = pushes_out(plan, course, extent);
        extent[i] = now;
        double lines = (double)(then[EW_X] + then[EW_Y] + then[EW_OUT]);
        double cost = lines * (double)now / (double)more;
        if (!pushes && (best < 0 || cost < least)) {
            memcpy(best_then, then, sizeof then);
            least = cost;
            best = i;
            grown = more;
        }
    }
    if (best >= 0) {
        extent[best] = grown;
        memcpy(is, best_then, sizeof best_then);
    }
    return best >= 0;
}

/* Makes a tile of at most so many elements. Whole inner loops that are a few
   lines of out are where it starts, and `along` elements of loop `first`. */
static void grow_tile(const struct elementwise_plan *plan,
                      const struct course course[3], int64_t elements,
                      int first, int64_t along, int64_t extent[])
{
    int64_t most = EW_TILE_BYTES / ew_pass_widest(&plan->pass, 3);
    int64_t few = FEW;
    for (int i = 0; i < plan->ndim; i++) {
        extent[i] = plan->loop[i].n <= few ? plan->loop[i].n : 1;
        few = extent[i] > 1 ? few / extent[i] : 0;
    }
    extent[first] = extent[first] > along ? extent[first] : along;
    if (most > elements)
        most = elements;
    int64_t is[3];
    for (int k = 0; k <= EW_OUT; k++)
        is[k] = line_cost(&course[k], extent);
    while (grow(plan, course, most, extent, is))
        ;
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

/* The loops of a tile. */
static int tile_loops(const struct elementwise_plan *plan,
                      const int64_t extent[], struct ew_loop tile[])
{
    int ndim = 0;
    for (int i = 0; i < plan->ndim; i++)
        if (extent[i] > 1) {
            tile[ndim] = plan->loop[i];
            tile[ndim++].n = extent[i];
        }
    return ndim;
}

/* The best way to gather operand k of a tile, or to scatter out, and what it
   costs: nothing if it is one run. */
static struct ew_gathering find_gathering(const struct elementwise_plan *plan,
                                          int k, const int64_t extent[],
                                          int64_t *cost)
{
    struct ew_loop tile[EW_DEEP_NDIM];
    struct ew_gathering best = {NULL, 0, 0};
    int64_t size = plan->pass.stored[k], turned, permuting, turning;
    int ndim = tile_loops(plan, extent, tile), windows = 0;
    ew_permuter *permute = ew_table_permute(plan->level);
    *cost = ew_places_cost(tile, ndim, k, size);
    if (*cost == 0 || k == EW_OUT || size > 8)
        return best;
    permuting = permute
                    ? ew_places_permuting(tile, ndim, k, size, *cost, &windows)
                    : *cost;
    turning = ew_places_turning(tile, ndim, k, size, &turned);
    if (permuting < *cost) {
        *cost = permuting;
        best.kernel = permute;
        best.windows = (unsigned char)windows;
    }
    if (turning < *cost && ew_table_turn(plan->level, turned)) {
        *cost = turning;
        best.kernel = ew_table_turn(plan->level, turned);
        best.turned = (unsigned char)turned;
    }
    return best;
}

/* What runs of input k take that are more than a load and a store each: what
   comes from beyond the L2 cache is waited for anyway. */
static int64_t long_runs(const struct elementwise_plan *plan, int k,
                         const int64_t extent[])
{
    int64_t bytes = product(extent, plan->ndim) * plan->pass.stored[k];
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

/* What an element costs beyond lines in a tile of these extents. */
static int64_t deep_cost(const struct elementwise_plan *plan,
                         const struct course course[3], const int64_t extent[])
{
    bool near = course[EW_OUT].bytes <= FAR_BYTES;
    int64_t cost = TILE_COST, moved;
    for (int k = 0; k < 2; k++) {
        if (!find_gathering(plan, k, extent, &moved).kernel && near)
            moved += long_runs(plan, k, extent);
        cost += moved / tiles_sharing(plan, k, extent, near);
    }
    find_gathering(plan, EW_OUT, extent, &moved);
    cost += figures_of(plan)->scatter * moved;
    return cost / product(extent, plan->ndim);
}

/* What the kernel that packs takes for an element of a row: little where either
   loop runs along memory or stands still. Rows of whole lines, and those that
   are one, have no ends. */
static int64_t row_cost(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k], pack = figures_of(plan)->pack;
    int64_t col = ew_magnitude(cols->stride[k]);
    bool ends = rows->stride[k] != cols->n * cols->stride[k] &&
                cols->n * size % EW_LINE != 0;
    if (col == 0)
        return SPREAD_ROW / cols->n < pack ? SPREAD_ROW / cols->n : pack;
    if (ew_magnitude(rows->stride[k]) == size || cols->stride[k] == size)
        return pack;
    return (col <= EW_SHUFFLED * size ? pack : GATHER_COST) +
           (ends ? (size == 1 ? PACK_BYTES : PACK_ROW) / cols->n : 0);
}

/* The same, where one row of those that are repeated is packed. */
static int64_t pack_cost(const struct elementwise_plan *plan, int k)
{
    int64_t cost = row_cost(plan, k);
    return plan->loop[1].stride[k] ? cost : cost / plan->loop[1].n;
}

/* Whether rows are shorter than the vectors that their kernel has: of results,
   where it compares, but AVX-512 takes rows below one in a step there. So it
   does with most of f16 and bf16, but choices were no better for that. */
static bool goes_one_by_one(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    int64_t cols = plan->loop[0].n;
    if (plan->types.result != ELEMENTWISE_BOOL)
        return cols < VECTOR_ROW &&
               (plan->types.fault || type == ELEMENTWISE_F16 ||
                type == ELEMENTWISE_BF16);
    return plan->level < EW_LEVEL_AVX512 &&
           cols < (plan->level == EW_LEVEL_AVX2 ? COMPARED_ROW : VECTOR_ROW);
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
    cost += (packs ? TILE_COST : CALL_COST) / product(extent, plan->ndim);
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
static void order_tiles(struct elementwise_plan *plan,
                        const struct course course[3], int64_t elements)
{
    int deep = plan->pass.deep;
    if (elements * plan->pass.stored[EW_OUT] > FAR_BYTES) {
        for (int k = 0; k < 2; k++)
            plan->pass.large[k] = course[k].bytes >= FAR_BYTES;
        return;
    }
    for (int i = deep; i < plan->ndim; i++)
        for (int k = 0; k < 2; k++)
            if (plan->loop[i].stride[k] == 0 && ew_tile_places(plan, k)) {
                ew_plan_move_inside(plan, i, deep);
                return;
            }
}

/* Whether operand k is in a tile long runs along all loops but the outermost,
   which is then that of rows: those need not be copied. */
static bool in_rows(const struct elementwise_plan *plan, int k)
{
    int64_t extent[EW_DEEP_LOOPS], row = plan->pass.stored[k];
    int inner = plan->pass.deep - 1;
    for (int i = 0; i < inner; i++) {
        extent[i] = plan->pass.extent[i];
        row *= extent[i];
    }
    return inner > 0 && row > LONG_ROW &&
           run_in_tile(plan, k, inner, extent) == row &&
           plan->loop[inner].stride[k] != row;
}

/* Moves the loops of a tile inside the others. */
static void take_tile(struct elementwise_plan *plan, const int64_t extent[])
{
    struct ew_pass *pass = &plan->pass;
    int64_t cost;
    for (int k = 0; k < 2; k++)
        pass->gather[k] = find_gathering(plan, k, extent, &cost);
    for (int i = 0; i < plan->ndim; i++) {
        if (extent[i] == 1)
            continue;
        ew_plan_move_inside(plan, i, pass->deep);
        pass->extent[pass->deep++] = (uint16_t)extent[i];
    }
    for (int k = 0; k < 2; k++)
        pass->pack[k] = NULL;
    pass->moves = ew_table_moves(plan->level);
    pass->fold = false;
    pass->turn = 0;
    for (int k = 0; k <= EW_OUT; k++)
        pass->rows |= in_rows(plan, k);
}

/* What the lines of all operands cost, per element. */
static int64_t lines_per_element(const struct elementwise_plan *plan,
                                 const struct course course[3],
                                 const int64_t extent[])
{
    int64_t cost = 0;
    for (int k = 0; k <= EW_OUT; k++)
        cost += line_cost(&course[k], extent);
    int parts = course[EW_OUT].bytes < FAR_BYTES ? NEAR_PARTS : FAR_PARTS;
    return cost / product(extent, plan->ndim) / parts;
}

/* What an element costs in a tile of these extents. */
static int64_t tile_cost(const struct elementwise_plan *plan,
                         const struct course course[3], const int64_t extent[])
{
    return lines_per_element(plan, course, extent) +
           deep_cost(plan, course, extent);
}

/* Whether rows are divided by a number each, whose inverse the kernel finds
   once: that is worth it in rows that are not short, of 64 bits in rows of a
   vector, but not where x has gaps. */
static bool divides_by_one(const struct elementwise_plan *plan,
                           const struct course course[3])
{
    const struct ew_loop *cols = &plan->loop[0];
    bool wide = ew_pass_widest(&plan->pass, 3) == 8;
    return plan->types.fault == EW_FAULT_ZERO && !plan->pass.pack[EW_Y] &&
           cols->stride[EW_Y] == 0 && course[EW_Y].loops > 0 &&
           cols->n >= (wide ? WIDE_ROW : VECTOR_ROW) &&
           !(wide && cols->stride[EW_X] != 8);
}

/* Whether a tile is much cheaper than what an element costs now, as both are no
   more than estimates. */
static bool is_cheaper(const struct elementwise_plan *plan,
                       const struct course course[3], const int64_t extent[],
                       int64_t now, int64_t elements)
{
    const struct figures *f = figures_of(plan);
    int64_t then = tile_cost(plan, course, extent) + CALL_TABLES / elements;
    return !divides_by_one(plan, course) &&
           f->tenths * (f->base + then) < 10 * (f->base + now);
}

/* Whether few steps gather or scatter every operand of a tile. */
static bool takes_few(const struct elementwise_plan *plan,
                      const int64_t extent[])
{
    struct ew_loop tile[EW_DEEP_NDIM];
    int ndim = tile_loops(plan, extent, tile);
    int64_t cost;
    for (int k = 0; k <= EW_OUT; k++) {
        int64_t runs = ew_places_runs(tile, ndim, k, plan->pass.stored[k]);
        if (runs > FEW_RUNS && !find_gathering(plan, k, extent, &cost).kernel)
            return false;
    }
    return true;
}

/* Tiles of bytes have more elements, unless that is many steps, or much is
   brought from beyond the L2 cache for each. */
static void find_tile(const struct elementwise_plan *plan,
                      const struct course course[3], int64_t extent[])
{
    bool bytes =
        ew_pass_widest(&plan->pass, 3) == 1 && course[EW_OUT].bytes < FAR_BYTES;
    grow_tile(plan, course, bytes ? EW_DEEP_ELEMENTS : ELEMENTS, 0, 1, extent);
    if (bytes && !takes_few(plan, extent))
        grow_tile(plan, course, ELEMENTS, 0, 1, extent);
}

/* The loop along which the elements of input k are neighbours, if a tile has
   fewer of them than a square block that is turned, but the loop has not; 0:
   there is none. */
static int lacks(const struct elementwise_plan *plan, int k,
                 const int64_t extent[])
{
    int64_t size = plan->pass.stored[k], run = EW_TURNED_BYTES / size;
    for (int i = 1; i < plan->ndim && size <= TURNED_MOST; i++)
        if (plan->loop[i].stride[k] == size && extent[i] < run &&
            plan->loop[i].n >= run)
            return i;
    return 0;
}

/* Takes a tile of which input k can be turned, where that is cheaper. What
   brings fewest lines has often too few elements along each loop. */
static void turn_tile(const struct elementwise_plan *plan,
                      const struct course course[3], int k, int64_t extent[])
{
    int64_t other[EW_DEEP_NDIM], cost;
    int along = lacks(plan, k, extent);
    if (!along)
        return;
    grow_tile(plan, course, ELEMENTS, along,
              EW_TURNED_BYTES / plan->pass.stored[k], other);
    if (find_gathering(plan, k, other, &cost).turned && is_near(plan, other) &&
        tile_cost(plan, course, other) < tile_cost(plan, course, extent))
        memcpy(extent, other, (size_t)plan->ndim * sizeof *extent);
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
static void keep_lines(const struct elementwise_plan *plan,
                       struct course course[3], int64_t extent[])
{
    int64_t other[EW_DEEP_NDIM], cost;
    for (int k = 0; k < 2; k++)
        course[k].by_one = course[k].bytes >= FAR_BYTES &&
                           !find_gathering(plan, k, extent, &cost).kernel &&
                           cost > 0;
    if (plan->pass.stored[EW_OUT] >= 8 || !pushes_out(plan, course, extent))
        return;
    grow_tile(plan, course, ELEMENTS, 0, 1, other);
    if (product(other, plan->ndim) >= product(extent, plan->ndim) &&
        is_near(plan, other) && !repeats(plan, extent, other))
        memcpy(extent, other, (size_t)plan->ndim * sizeof *extent);
}

/* Takes tiles of several loops where two are too few: their rows are short, or
   they leave much of each line to other tiles. Loops are then in out's order
   again, which has the fewest places. */
void ew_tile_deepen(struct elementwise_plan *plan, int64_t elements)
{
    static const int order[] = {EW_OUT};
    int64_t extent[EW_DEEP_NDIM], flat[EW_DEEP_NDIM];
    struct course course[3];
    struct ew_loop turned[EW_DEEP_NDIM];
    if (plan->ndim < 2 || plan->ndim > EW_DEEP_NDIM)
        return;
    two_loops(plan, flat);
    int64_t now = flat_cost(plan, flat);
    if (now < WORTH / elements)
        return;
    find_courses(plan, course);
    now += lines_per_element(plan, course, flat);
    if (plan->pass.turn) {
        memcpy(turned, plan->loop, (size_t)plan->ndim * sizeof *turned);
        ew_plan_sort(plan->loop, plan->ndim, order, 1);
        find_courses(plan, course);
    }
    find_tile(plan, course, extent);
    if (is_cheaper(plan, course, extent, now, elements) &&
        is_near(plan, extent)) {
        for (int k = 0; k < 2 && elements >= WORTH_TURNED; k++)
            turn_tile(plan, course, k, extent);
        keep_lines(plan, course, extent);
        take_tile(plan, extent);
        order_tiles(plan, course, elements);
    } else if (plan->pass.turn)
        memcpy(plan->loop, turned, (size_t)plan->ndim * sizeof *turned);
}

bool ew_tile_places(const struct elementwise_plan *plan, int k)
{
    int64_t extent[EW_DEEP_LOOPS], all = plan->pass.stored[k];
    int deep = plan->pass.deep;
    for (int i = 0; i < deep; i++) {
        extent[i] = plan->pass.extent[i];
        all *= extent[i];
    }
    int64_t run = run_in_tile(plan, k, deep, extent);
    return run && run < all && !(plan->pass.rows && in_rows(plan, k));
}
