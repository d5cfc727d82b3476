/*
 * Gathers and scatters tiles of random loops in every way there is, and
 * compares them with a walk over the elements one by one. Whatever the way,
 * no byte but theirs is touched, and costs tell which way is the better.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <check.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "gather.h"
#include "permutation.h"
#include "support.h"
#include "table.h"
#include "tiles.h"

enum { UNUSED = 77 };

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

/* The same from windows. */
static void pick_by_one(const struct ew_permutation *p, const char *x,
                        char *out)
{
    size_t size = (size_t)p->size;
    ck_assert_int_le(p->window, EW_LINE);
    ck_assert_int_le(p->rows * p->size, EW_PICKED);
    for (int64_t i = 0; i < p->groups; i++)
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->columns; c++) {
                const char *window = x + p->at[i] + p->column[c];
                ck_assert_int_le(p->from[r * p->size] + p->size, p->window);
                memcpy(out + p->to[i] + p->put[r] + c * p->size,
                       window + p->from[r * p->size], size);
            }
}

/* Run by run, by permuting 1, 2, 4 or 8 windows, by turning elements of 1, 2, 4
   or 8 bytes, or of 1 or 2 from windows; with the kernels of a level, or with
   those above. */
enum {
    RUNS,
    PERMUTING,
    TURNING = PERMUTING + 4,
    PICKING = TURNING + EW_TURNS,
    WAYS = PICKING + 2
};

static struct ew_gathering way_of(int way, int level)
{
    static ew_permuter *const turners[EW_TURNS] = {turn_1, turn_2, turn_4,
                                                   turn_8};
    struct ew_gathering g = {NULL, 0, 0};
    bool defined = level == EW_LEVELS;
    if (way >= PICKING) {
        g.turned = (unsigned char)((1 << (way - PICKING)) + EW_FROM_WINDOWS);
        g.kernel = defined ? pick_by_one : ew_table_turn(level, g.turned);
    } else if (way >= TURNING) {
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
    char *map = mmap(NULL, 3 * TILE_PAGE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    ck_assert_int_eq(
        mprotect(map + TILE_PAGE, TILE_PAGE, PROT_READ | PROT_WRITE), 0);
    for (int i = 0; i < TILE_PAGE; i++)
        map[TILE_PAGE + i] = (char)(i * 7 + i / 256);
    return map + TILE_PAGE;
}

static char *sparse, *dense; /* two such pages */

static void map_pages(void)
{
    sparse = lone_page();
    dense = lone_page();
}

static void unmap_pages(void)
{
    munmap(sparse - TILE_PAGE, 3 * TILE_PAGE);
    munmap(dense - TILE_PAGE, 3 * TILE_PAGE);
}

/* The first element of a tile that ends where its page does, or starts. */
static char *first_of(const struct tile *t)
{
    return support_random(0, 1) ? sparse - t->low
                                : sparse + TILE_PAGE - t->high;
}

/* From either end of what may be read, to either end of what may be written.
   Copies are there once. Whether a kernel did it. */
static bool gathers(const struct tile *t, const struct ew_gathering *way)
{
    static struct ew_places places;
    static char wanted[TILE_PAGE];
    const char *from = first_of(t);
    ew_places_make(&places, &t->layout, 1, way);
    int64_t n = t->elements / places.copies;
    int64_t start = support_random(0, 1) ? 0 : TILE_PAGE - n * t->layout.size;
    memset(dense, UNUSED, TILE_PAGE);
    memset(wanted, UNUSED, TILE_PAGE);
    ew_gather(&places, from, dense + start);
    int64_t run = places.run / t->layout.size, all = run * places.copies;
    for (int64_t e = 0; e < t->elements; e++)
        memcpy(wanted + start + (e / all * run + e % run) * t->layout.size,
               from + tile_place(t, e), (size_t)t->layout.size);
    ck_assert(memcmp(dense, wanted, TILE_PAGE) == 0);
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
        struct tile t = tile_draw(1 << support_random(0, 3));
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
        int64_t n[TILE_LOOPS], steps[TILE_LOOPS], step = size, all = 1;
        for (int d = 0; d < TILE_LOOPS; d++) {
            n[d] = support_random(1, EW_DEEP_ELEMENTS / all < 16 ? 1 : 9);
            all *= n[d];
        }
        support_shuffle(order, 0, TILE_LOOPS);
        for (int i = 0; i < TILE_LOOPS; i++) {
            steps[order[i]] = support_random(0, 3) ? step : -step;
            step *= n[order[i]];
            step += support_random(0, 2) ? 0 : size * support_random(1, 3);
        }
        t = tile_start(size);
        for (int d = 0; d < TILE_LOOPS; d++)
            tile_add(&t, n[d], steps[d]);
    } while (t.high - t.low > TILE_PAGE || t.elements * size > TILE_PAGE);
    return t;
}

static void check_scatter(const struct tile *t)
{
    static struct ew_places places;
    static char wanted[TILE_PAGE];
    char *to = first_of(t),
         *from = dense + TILE_PAGE - t->elements * t->layout.size;
    memset(sparse, UNUSED, TILE_PAGE);
    memset(wanted, UNUSED, TILE_PAGE);
    ew_places_make(&places, &t->layout, 1, NULL);
    ew_scatter(&places, from, to);
    for (int64_t e = 0; e < t->elements; e++)
        memcpy(wanted + (to - sparse) + tile_place(t, e),
               from + e * t->layout.size, (size_t)t->layout.size);
    ck_assert(memcmp(sparse, wanted, TILE_PAGE) == 0);
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
        ck_assert_int_eq(ew_places_runs(&t.layout), 6);
        if (_i)
            check_scatter(&t);
        else
            ck_assert(!gathers(&t, NULL));
    }
    unmap_pages();
}
END_TEST

/* Runs of n elements, thrice each: those that are spread have the size of an
   element of some type. */
START_TEST(copies_are_of_runs_as_large_as_an_element)
{
    static struct ew_places places;
    for (int64_t n = 1; n <= 8; n++) {
        struct tile t = tile_of(4, n, 4, 3, 0);
        tile_add(&t, 2, 100);
        ew_places_make(&places, &t.layout, 1, NULL);
        ck_assert_int_eq(places.copies, n == 1 || n == 2 || n == 4 ? 3 : 1);
        ck_assert_int_eq(places.runs * places.copies, 6);
    }
}
END_TEST

/* The last of the loops follows what two dense ones would be. */
START_TEST(runs_are_dense_if_they_are_along_every_loop)
{
    static struct ew_places places;
    for (int64_t gap = 0; gap <= 8; gap += 8) {
        struct tile t = tile_of(8, 5, 0, 3, 8 + gap);
        tile_add(&t, 2, 24);
        ew_places_make(&places, &t.layout, 1, NULL);
        ck_assert_int_eq(places.copies, 5);
        ck_assert_int_eq(places.dense, gap == 0);
    }
}
END_TEST

static int64_t cost_of(const struct tile *t)
{
    return ew_places_cost(&t->layout);
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
    long_one.layout.loop[0].n = 64;
    ck_assert_int_lt(cost_of(&few), cost_of(&many));
    ck_assert_int_lt(cost_of(&few), cost_of(&odd));
    ck_assert_int_lt(cost_of(&few), cost_of(&long_one));
    ck_assert_int_lt(cost_of(&few), cost_of(&copies));
}
END_TEST

static bool has_kernel(const struct tile *t, const struct ew_gathering *way)
{
    static struct ew_places places;
    ew_places_make(&places, &t->layout, 1, way);
    return places.permute == way->kernel;
}

START_TEST(what_has_a_cost_can_be_done_and_one_run_has_no_kernel)
{
    int turns = 0;
    for (int round = 0; round < 3000; round++) {
        struct tile t = tile_draw(1 << support_random(0, 3));
        int64_t turned, turning = ew_permutation_turning(&t.layout, &turned);
        int windows = 0;
        bool one = ew_places_runs(&t.layout) == 1;
        bool permutes = ew_permutation_permuting(&t.layout, INT64_MAX,
                                                 &windows) < INT64_MAX;
        struct ew_gathering g = {permute_by_one, (unsigned char)windows, 0};
        if (permutes)
            ck_assert_int_eq(has_kernel(&t, &g), !one);
        for (int way = TURNING; way < WAYS; way++) {
            g = way_of(way, EW_LEVELS);
            bool can = turning < INT64_MAX && turned == g.turned;
            /* windows can be where neighbours are as well */
            ck_assert(way < PICKING ? has_kernel(&t, &g) == can
                                    : has_kernel(&t, &g) >= can);
            turns += can;
        }
    }
    ck_assert_int_gt(turns, 50);
}
END_TEST

int main(void)
{
    TCase *moving = support_case("moving");
    TCase *costs = support_case("costs");
    tcase_add_loop_test(
        moving,
        every_way_gathers_the_elements_in_order_and_touches_no_other_byte, 0,
        WAYS * (EW_LEVELS + 1));
    tcase_add_test(moving,
                   elements_are_scattered_to_their_places_and_no_byte_between);
    tcase_add_loop_test(moving, runs_of_any_length_are_moved, 0, 2);
    tcase_add_test(moving, copies_are_of_runs_as_large_as_an_element);
    tcase_add_test(moving, runs_are_dense_if_they_are_along_every_loop);
    tcase_add_test(costs, one_run_costs_nothing);
    tcase_add_test(costs,
                   runs_cost_more_the_more_there_are_the_odder_and_of_copies);
    tcase_add_test(costs,
                   what_has_a_cost_can_be_done_and_one_run_has_no_kernel);
    TCase *const cases[] = {moving, costs, NULL};
    return support_run("gather", cases);
}
