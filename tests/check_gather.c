/*
 * Gathers and scatters tiles of random loops in every way there is, and
 * compares them with a walk over the elements one by one. Whatever the way,
 * no byte but theirs is touched, costs tell which way is the better, and lines
 * that are asked for are those of the tile.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <check.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "gather.h"
#include "support.h"
#include "table.h"

enum { PAGE = 64 << 10, MOST_LOOPS = 6, UNUSED = 77, ALL = 1 << 16 };

/* A tile of an operand, whose elements lie within `low` and `high` bytes of
   the first. */
struct tile {
    int ndim;
    struct ew_loop loop[MOST_LOOPS];
    int64_t size, elements, low, high;
};

/* Where element e of the tile's order lies. */
static int64_t place_of(const struct tile *t, int64_t e)
{
    int64_t at = 0;
    for (int d = 0; d < t->ndim; d++) {
        at += e % t->loop[d].n * t->loop[d].stride[EW_X];
        e /= t->loop[d].n;
    }
    return at;
}

static void add_loop(struct tile *t, int64_t n, int64_t step)
{
    t->loop[t->ndim].n = n;
    t->loop[t->ndim++].stride[EW_X] = step;
    t->elements *= n;
    *(step < 0 ? &t->low : &t->high) += (n - 1) * step;
}

static struct tile start_tile(int64_t size)
{
    return (struct tile){.size = size, .elements = 1, .high = size};
}

static struct tile tile_of(int64_t size, int64_t n, int64_t step,
                           int64_t outer_n, int64_t outer_step)
{
    struct tile t = start_tile(size);
    add_loop(&t, n, step);
    add_loop(&t, outer_n, outer_step);
    return t;
}

/* A step of elements: none at all, what is inside it as a whole, or
   any, also such that windows overlap. */
static int64_t draw_step(const struct tile *t)
{
    int64_t far = support_random(0, 1) ? 12 : 80;
    switch (support_random(0, 4)) {
    case 0:
        return 0;
    case 1:
        return t->high - t->low;
    default:
        return t->size * support_random(-far, far);
    }
}

/* Short loops, at times neighbours enough to be turned; all in a page. */
static struct tile draw_tile(int64_t size)
{
    for (;;) {
        struct tile t = start_tile(size);
        int ndim = (int)support_random(1, MOST_LOOPS);
        for (int d = 0; d < ndim; d++) {
            int64_t most = EW_DEEP_ELEMENTS / t.elements, step = draw_step(&t);
            int64_t n = support_random(1, support_random(0, 1) ? 16 : 4);
            if (support_random(0, 4) == 0) {
                n = support_random(16, 40);
                step = support_random(0, 1) ? size : -size;
            }
            add_loop(&t, n < most ? n : most, step);
        }
        if (t.high - t.low <= PAGE)
            return t;
    }
}

/* Permuters and turners by the definition in kernel.h, on any level. */
static void permute_by_one(const struct ew_permutation *p, const char *x,
                           char *out)
{
    const int64_t side = EW_LINE / p->windows;
    ck_assert_int_le(p->window, side);
    for (int64_t i = 0; i < p->groups; i++)
        for (int64_t j = 0; j < p->bytes; j++) {
            int64_t window = p->from[j] / side, byte = p->from[j] % side;
            ck_assert_int_lt(byte, p->window);
            out[p->to[i] + j] = x[p->at[i] + p->place[window] + byte];
        }
}

static void turn_by_one(int64_t size, const struct ew_permutation *p,
                        const char *x, char *out)
{
    ck_assert_int_ge(p->rows * size, 16);
    ck_assert_int_ge(p->columns * size, 16);
    for (int64_t i = 0; i < p->groups; i++)
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->columns; c++)
                memcpy(out + p->to[i] + r * p->row + c * size,
                       x + p->at[i] + p->column[c] + r * size, (size_t)size);
}

static void turn_1(const struct ew_permutation *p, const char *x, char *out)
{
    turn_by_one(1, p, x, out);
}

static void turn_2(const struct ew_permutation *p, const char *x, char *out)
{
    turn_by_one(2, p, x, out);
}

static void turn_4(const struct ew_permutation *p, const char *x, char *out)
{
    turn_by_one(4, p, x, out);
}

static void turn_8(const struct ew_permutation *p, const char *x, char *out)
{
    turn_by_one(8, p, x, out);
}

/* Run by run, by permuting 1, 2, 4 or 8 windows, by turning elements of 1, 2, 4
   or 8 bytes; with the kernels of a level, or with those above. */
enum { RUNS, PERMUTING, TURNING = PERMUTING + 4, WAYS = TURNING + EW_TURNS };

static struct ew_gathering way_of(int way, int level)
{
    static ew_permuter *const turners[EW_TURNS] = {turn_1, turn_2, turn_4,
                                                   turn_8};
    struct ew_gathering g = {NULL, 0, 0};
    bool defined = level == EW_LEVELS;
    if (way >= TURNING) {
        g.turned = (unsigned char)(1 << (way - TURNING));
        g.kernel =
            defined ? turners[way - TURNING] : ew_table_turn(level, g.turned);
    } else if (way >= PERMUTING) {
        g.windows = (unsigned char)(1 << (way - PERMUTING));
        g.kernel = defined ? permute_by_one : ew_table_permute(level);
    }
    return g;
}

/* A page between two that nobody may touch. */
static char *lone_page(void)
{
    char *map =
        mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    ck_assert_int_eq(mprotect(map + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    for (int i = 0; i < PAGE; i++)
        map[PAGE + i] = (char)(i * 7 + i / 256);
    return map + PAGE;
}

static char *sparse, *dense; /* two such pages */

static void map_pages(void)
{
    sparse = lone_page();
    dense = lone_page();
}

static void unmap_pages(void)
{
    munmap(sparse - PAGE, 3 * PAGE);
    munmap(dense - PAGE, 3 * PAGE);
}

/* The first element of a tile that ends where its page does, or starts. */
static char *first_of(const struct tile *t)
{
    return support_random(0, 1) ? sparse - t->low : sparse + PAGE - t->high;
}

/* From either end of what may be read, to either end of what may be written.
   Copies are there once. Whether a kernel did it. */
static bool gathers(const struct tile *t, const struct ew_gathering *way)
{
    static struct ew_places places;
    static char wanted[PAGE];
    const char *from = first_of(t);
    ew_places_make(&places, t->loop, t->ndim, EW_X, t->size, way);
    int64_t n = t->elements / places.copies;
    int64_t start = support_random(0, 1) ? 0 : PAGE - n * t->size;
    memset(dense, UNUSED, PAGE);
    memset(wanted, UNUSED, PAGE);
    ew_gather(&places, from, dense + start);
    int64_t run = places.run / t->size, all = run * places.copies;
    for (int64_t e = 0; e < t->elements; e++)
        memcpy(wanted + start + (e / all * run + e % run) * t->size,
               from + place_of(t, e), (size_t)t->size);
    ck_assert(memcmp(dense, wanted, PAGE) == 0);
    return places.permute != NULL;
}

START_TEST(every_way_gathers_the_elements_in_order_and_touches_no_other_byte)
{
    int way = _i % WAYS, level = _i / WAYS, done = 0;
    int rounds = support_long() ? 20000 : 400;
    if (level < EW_LEVELS && !support_level(level))
        return;
    struct ew_gathering g = way_of(way, level);
    map_pages();
    for (int round = 0; round < rounds; round++) {
        struct tile t = draw_tile(1 << support_random(0, 3));
        done += gathers(&t, &g);
    }
    unmap_pages();
    ck_assert_int_ge(done, g.kernel ? rounds / 100 : 0);
    ck_assert_int_le(done, g.kernel ? rounds : 0);
}
END_TEST

/* Elements that do not meet, as loops of an output: one inside the other in
   random order, with gaps at times, backwards at times. */
static struct tile draw_output(int64_t size)
{
    struct tile t;
    do {
        int order[] = {0, 1, 2, 3, 4, 5};
        int64_t n[MOST_LOOPS], steps[MOST_LOOPS], step = size, all = 1;
        for (int d = 0; d < MOST_LOOPS; d++) {
            n[d] = support_random(1, EW_DEEP_ELEMENTS / all < 16 ? 1 : 9);
            all *= n[d];
        }
        support_shuffle(order, 0, MOST_LOOPS);
        for (int i = 0; i < MOST_LOOPS; i++) {
            steps[order[i]] = support_random(0, 3) ? step : -step;
            step *= n[order[i]];
            step += support_random(0, 2) ? 0 : size * support_random(1, 3);
        }
        t = start_tile(size);
        for (int d = 0; d < MOST_LOOPS; d++)
            add_loop(&t, n[d], steps[d]);
    } while (t.high - t.low > PAGE || t.elements * size > PAGE);
    return t;
}

static void check_scatter(const struct tile *t)
{
    static struct ew_places places;
    static char wanted[PAGE];
    char *to = first_of(t), *from = dense + PAGE - t->elements * t->size;
    memset(sparse, UNUSED, PAGE);
    memset(wanted, UNUSED, PAGE);
    ew_places_make(&places, t->loop, t->ndim, EW_X, t->size, NULL);
    ew_scatter(&places, from, to);
    for (int64_t e = 0; e < t->elements; e++)
        memcpy(wanted + (to - sparse) + place_of(t, e), from + e * t->size,
               (size_t)t->size);
    ck_assert(memcmp(sparse, wanted, PAGE) == 0);
}

START_TEST(elements_are_scattered_to_their_places_and_no_byte_between)
{
    map_pages();
    for (int round = 0; round < 3000; round++) {
        struct tile t = draw_output(1 << support_random(0, 4));
        check_scatter(&t);
    }
    unmap_pages();
}
END_TEST

/* Both ways. */
START_TEST(runs_of_any_length_are_moved)
{
    map_pages();
    for (int64_t run = 1; run <= 300; run++) {
        struct tile t = tile_of(1, run, 1, 6, run + 5);
        ck_assert_int_eq(ew_places_runs(t.loop, t.ndim, EW_X, 1), 6);
        if (_i)
            check_scatter(&t);
        else
            ck_assert(!gathers(&t, NULL));
    }
    unmap_pages();
}
END_TEST

static int64_t cost_of(const struct tile *t)
{
    return ew_places_cost(t->loop, t->ndim, EW_X, t->size);
}

static int64_t permuting_of(const struct tile *t, int64_t least, int *windows)
{
    return ew_places_permuting(t->loop, t->ndim, EW_X, t->size, least, windows);
}

static int64_t turning_of(const struct tile *t, int64_t *turned)
{
    return ew_places_turning(t->loop, t->ndim, EW_X, t->size, turned);
}

START_TEST(one_run_costs_nothing)
{
    struct tile block = tile_of(4, 5, 4, 7, 20), still = tile_of(4, 5, 0, 7, 0);
    struct tile gap = tile_of(4, 5, 4, 7, 24), back = tile_of(4, 5, -4, 1, 0);
    ck_assert_int_eq(cost_of(&block), 0);
    ck_assert_int_eq(cost_of(&still), 0);
    ck_assert_int_gt(cost_of(&gap), 0);
    ck_assert_int_gt(cost_of(&back), 0);
}
END_TEST

START_TEST(runs_cost_more_the_more_there_are_the_odder_and_of_copies)
{
    struct tile few = tile_of(4, 4, 4, 7, 100), many = tile_of(4, 4, 4, 8, 100);
    struct tile odd = tile_of(4, 3, 4, 7, 100), long_one = few;
    struct tile copies = tile_of(4, 4, 0, 7, 100);
    long_one.loop[0].n = 64;
    ck_assert_int_lt(cost_of(&few), cost_of(&many));
    ck_assert_int_lt(cost_of(&few), cost_of(&odd));
    ck_assert_int_lt(cost_of(&few), cost_of(&long_one));
    ck_assert_int_lt(cost_of(&few), cost_of(&copies));
}
END_TEST

/* The answer is the smaller of the two, and says nothing of windows where that
   is what was given. */
START_TEST(permuting_never_costs_more_than_the_least_given)
{
    int less = 0;
    for (int round = 0; round < 3000; round++) {
        struct tile t = draw_tile(1 << support_random(0, 3));
        int64_t least = support_random(1, 100000);
        int windows = UNUSED, alone = UNUSED;
        int64_t cost = permuting_of(&t, INT64_MAX, &alone);
        int64_t found = permuting_of(&t, least, &windows);
        ck_assert_int_eq(found, cost < least ? cost : least);
        ck_assert_int_eq(windows, cost < least ? alone : UNUSED);
        less += cost < least;
    }
    ck_assert_int_gt(less, 300);
    ck_assert_int_lt(less, 2700);
}
END_TEST

/* So many elements of 8 bytes, which lie so far apart. */
START_TEST(as_many_windows_are_permuted_as_a_line_is_spread_over)
{
    static const struct {
        int64_t n, step;
        int windows;
    } lines[] = {{8, -8, 1}, {4, 16, 1},   {4, 24, 2},   {2, 1000, 2},
                 {4, 72, 4}, {4, 1000, 4}, {8, 1000, 8}, {16, -1000, 8}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct tile t = tile_of(8, lines[i].n, lines[i].step, 1, 0);
        int windows = 0;
        permuting_of(&t, INT64_MAX, &windows);
        ck_assert_msg(windows == lines[i].windows, "%d: %d windows", (int)i,
                      windows);
    }
}
END_TEST

/* n bytes apart by `step` in so many rows, which are `outer` apart. */
START_TEST(neighbours_are_turned_in_rectangles_of_16_bytes_and_more)
{
    static const struct {
        int64_t size, n, step, rows, outer, turned; /* 0: cannot be */
    } tiles[] = {{1, 16, 100, 16, 1, 1}, {1, 15, 100, 16, 1, 0},
                 {1, 16, 100, 15, 1, 0}, {1, 16, 100, 16, -1, 1},
                 {2, 8, 100, 8, 2, 2},   {2, 7, 100, 8, 2, 0},
                 {4, 4, -100, 4, 4, 4},  {4, 4, 100, 4, 8, 0},
                 {8, 2, 1000, 2, 8, 8},  {8, 2, 1000, 1, 8, 0},
                 {1, 16, 0, 16, 1, 1},   {1, 16, 1, 16, 100, 0}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        struct tile t = tile_of(tiles[i].size, tiles[i].n, tiles[i].step,
                                tiles[i].rows, tiles[i].outer);
        int64_t turned, cost = turning_of(&t, &turned);
        ck_assert_msg((cost < INT64_MAX) == (tiles[i].turned > 0), "%d",
                      (int)i);
        ck_assert(!tiles[i].turned || turned == tiles[i].turned);
    }
}
END_TEST

START_TEST(runs_are_turned_as_elements_and_blocks_cost_alike)
{
    struct tile pairs = start_tile(1), more;
    int64_t turned, cost;
    add_loop(&pairs, 2, 1);
    add_loop(&pairs, 8, 100);
    add_loop(&pairs, 8, 2);
    cost = turning_of(&pairs, &turned);
    ck_assert_int_lt(cost, INT64_MAX);
    ck_assert_int_eq(turned, 2);
    more = pairs;
    add_loop(&more, 3, 1000);
    ck_assert_int_eq(turning_of(&more, &turned), 3 * cost);
    more = pairs;
    more.loop[1].n = 9; /* a block and a part of one */
    ck_assert_int_eq(turning_of(&more, &turned), 2 * cost);
}
END_TEST

static bool has_kernel(const struct tile *t, const struct ew_gathering *way)
{
    static struct ew_places places;
    ew_places_make(&places, t->loop, t->ndim, EW_X, t->size, way);
    return places.permute == way->kernel;
}

START_TEST(what_has_a_cost_can_be_done_and_one_run_has_no_kernel)
{
    int turns = 0;
    for (int round = 0; round < 3000; round++) {
        struct tile t = draw_tile(1 << support_random(0, 3));
        int64_t turned, turning = turning_of(&t, &turned);
        int windows = 0;
        bool one = ew_places_runs(t.loop, t.ndim, EW_X, t.size) == 1;
        bool permutes = permuting_of(&t, INT64_MAX, &windows) < INT64_MAX;
        struct ew_gathering g = {permute_by_one, (unsigned char)windows, 0};
        if (permutes)
            ck_assert_int_eq(has_kernel(&t, &g), !one);
        for (int way = TURNING; way < WAYS; way++) {
            g = way_of(way, EW_LEVELS);
            bool can = turning < INT64_MAX && turned == g.turned;
            ck_assert_int_eq(has_kernel(&t, &g), can);
            turns += can;
        }
    }
    ck_assert_int_gt(turns, 50);
}
END_TEST

/* The lines that hold a byte of the elements where the first one lies so many
   bytes behind the start of a line. */
static void mark_elements(const struct tile *t, int64_t from, bool lines[])
{
    for (int64_t e = 0; e < t->elements; e++) {
        int64_t at = from + place_of(t, e);
        lines[at / EW_LINE] = lines[(at + t->size - 1) / EW_LINE] = true;
    }
}

/* Whatever the start: few elements are never too many lines. */
START_TEST(all_lines_of_a_tile_are_asked_for_and_no_others)
{
    static bool has[ALL / EW_LINE], asked[ALL / EW_LINE];
    int done = 0;
    for (int round = 0; round < 5000; round++) {
        struct tile t = draw_tile(1 << support_random(0, 4));
        int64_t from = ALL / 2 + support_random(0, EW_LINE - 1);
        struct ew_lines lines;
        if (from + t.low < 0 || from + t.high > ALL)
            continue;
        ew_lines_make(&lines, t.loop, t.ndim, EW_X, t.size, true);
        ck_assert_int_le(lines.n, EW_DEEP_LINES);
        ck_assert(lines.n > 0 || 2 * t.elements > EW_DEEP_LINES);
        memset(has, 0, sizeof has);
        memset(asked, 0, sizeof asked);
        mark_elements(&t, from, has);
        for (int64_t i = 0; i < lines.n; i++)
            asked[(from + lines.at[i]) / EW_LINE] = true;
        ck_assert(!lines.n || memcmp(has, asked, sizeof has) == 0);
        done += lines.n > 0;
    }
    ck_assert_int_gt(done, 2500);
}
END_TEST

/* From the caches fewer are worth it. */
START_TEST(more_lines_are_asked_for_from_memory)
{
    for (int64_t rows = 60; rows <= 270; rows += 2) {
        struct tile t = tile_of(4, 16, 4, rows, 320);
        struct ew_lines far, near;
        ew_lines_make(&far, t.loop, 2, EW_X, 4, true);
        ew_lines_make(&near, t.loop, 2, EW_X, 4, false);
        ck_assert_int_eq(far.n, rows <= 256 ? 2 * rows : 0);
        ck_assert_int_eq(near.n, rows <= 64 ? 2 * rows : 0);
    }
}
END_TEST

/* Rows of one line, so many bytes apart. */
START_TEST(lines_that_push_each_other_out_are_not_asked_for)
{
    static const struct {
        int64_t rows, step;
        bool asked;
    } tiles[] = {{4, 4096, 1},  {5, 4096, 0},  {8, 2048, 1}, {9, 2048, 0},
                 {16, 4160, 1}, {64, 4160, 1}, {65, 4160, 0}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const struct ew_loop loop[] = {{16, {4}},
                                       {tiles[i].rows, {tiles[i].step}}};
        struct ew_lines lines;
        ew_lines_make(&lines, loop, 2, EW_X, 4, false);
        ck_assert_int_eq(lines.n > 0, tiles[i].asked);
        ew_lines_make(&lines, loop, 2, EW_X, 4, true);
        ck_assert_int_gt(lines.n, 0);
    }
}
END_TEST

int main(void)
{
    TCase *moving = support_case("moving");
    TCase *costs = support_case("costs");
    TCase *lines = support_case("lines");
    tcase_add_loop_test(
        moving,
        every_way_gathers_the_elements_in_order_and_touches_no_other_byte, 0,
        WAYS * (EW_LEVELS + 1));
    tcase_add_test(moving,
                   elements_are_scattered_to_their_places_and_no_byte_between);
    tcase_add_loop_test(moving, runs_of_any_length_are_moved, 0, 2);
    tcase_add_test(costs, one_run_costs_nothing);
    tcase_add_test(costs,
                   runs_cost_more_the_more_there_are_the_odder_and_of_copies);
    tcase_add_test(costs, permuting_never_costs_more_than_the_least_given);
    tcase_add_test(costs,
                   as_many_windows_are_permuted_as_a_line_is_spread_over);
    tcase_add_test(costs,
                   neighbours_are_turned_in_rectangles_of_16_bytes_and_more);
    tcase_add_test(costs, runs_are_turned_as_elements_and_blocks_cost_alike);
    tcase_add_test(costs,
                   what_has_a_cost_can_be_done_and_one_run_has_no_kernel);
    tcase_add_test(lines, all_lines_of_a_tile_are_asked_for_and_no_others);
    tcase_add_test(lines, more_lines_are_asked_for_from_memory);
    tcase_add_test(lines, lines_that_push_each_other_out_are_not_asked_for);
    TCase *const cases[] = {moving, costs, lines, NULL};
    return support_run("gather", cases);
}
