/*
 * Estimates what kernels take that permute or turn tiles of given and random
 * loops: that it is said of those that they can gather, and of no others. That
 * they gather the right elements, check_gather.c tests.
 */
#include <check.h>
#include <stdbool.h>

#include "permutation.h"
#include "support.h"
#include "tiles.h"

enum { UNUSED = 77 };

/* The answer is the smaller of the two, and says nothing of windows where that
   is what was given. */
START_TEST(permuting_never_costs_more_than_the_least_given)
{
    int less = 0;
    for (int round = 0; round < 3000; round++) {
        struct tile t = tile_draw(1 << support_random(0, 3));
        int64_t least = support_random(1, 100000);
        int windows = UNUSED, alone = UNUSED;
        int64_t cost = ew_permutation_permuting(&t.layout, INT64_MAX, &alone);
        int64_t found = ew_permutation_permuting(&t.layout, least, &windows);
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
        ew_permutation_permuting(&t.layout, INT64_MAX, &windows);
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
    } tiles[] = {{1, 16, 100, 16, 1, 1}, {1, 16, 100, 16, -1, 1},
                 {2, 8, 100, 8, 2, 2},   {4, 4, -100, 4, 4, 4},
                 {4, 4, 100, 4, 8, 0},   {8, 2, 1000, 2, 8, 8},
                 {8, 2, 1000, 1, 8, 0},  {1, 16, 0, 16, 1, 1},
                 {1, 16, 1, 16, 100, 0}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        struct tile t = tile_of(tiles[i].size, tiles[i].n, tiles[i].step,
                                tiles[i].rows, tiles[i].outer);
        int64_t turned, cost = ew_permutation_turning(&t.layout, &turned);
        ck_assert_msg((cost < INT64_MAX) == (tiles[i].turned > 0), "%d",
                      (int)i);
        ck_assert(!tiles[i].turned || turned == tiles[i].turned);
    }
}
END_TEST

/* So many columns, `step` apart, of elements that are `near` apart and again
   `next` apart. */
START_TEST(what_lies_in_a_window_is_turned_from_there)
{
    static const struct {
        int64_t size, columns, step, n, near, more, next;
        int64_t turned; /* 0: cannot be */
    } tiles[] = {
        {1, 15, 100, 16, 1, 1, 0, 17},  {1, 16, 100, 15, -1, 1, 0, 17},
        {2, 7, 100, 8, 2, 1, 0, 18},    {1, 16, 1000, 4, 1, 16, 6, 17},
        {1, 16, 1000, 16, 5, 1, 0, 17}, {1, 16, 1000, 16, 63, 1, 0, 17},
        {1, 16, 1000, 16, 64, 1, 0, 0}, {1, 3, 1000, 16, 2, 1, 0, 0},
        {2, 4, 100, 4, 4, 1, 0, 18},    {2, 5, 100, 2, 1, 8, 3, 18},
        {4, 8, 1000, 4, 8, 1, 0, 0},    {1, 4, 1000, 3, 2, 1, 0, 0}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        struct tile t = tile_start(tiles[i].size);
        int64_t turned;
        tile_add(&t, tiles[i].columns, tiles[i].step);
        tile_add(&t, tiles[i].n, tiles[i].near);
        tile_add(&t, tiles[i].more, tiles[i].next);
        bool can = ew_permutation_turning(&t.layout, &turned) < INT64_MAX;
        ck_assert_int_eq(can ? turned : 0, tiles[i].turned);
    }
}
END_TEST

START_TEST(runs_are_turned_as_elements_and_blocks_cost_alike)
{
    struct tile pairs = tile_start(1), more;
    int64_t turned, cost;
    tile_add(&pairs, 2, 1);
    tile_add(&pairs, 8, 100);
    tile_add(&pairs, 8, 2);
    cost = ew_permutation_turning(&pairs.layout, &turned);
    ck_assert_int_lt(cost, INT64_MAX);
    ck_assert_int_eq(turned, 2);
    more = pairs;
    tile_add(&more, 3, 1000);
    ck_assert_int_eq(ew_permutation_turning(&more.layout, &turned), 3 * cost);
    more = pairs;
    more.layout.loop[1].n = 9; /* a block and a part of one */
    ck_assert_int_eq(ew_permutation_turning(&more.layout, &turned), 2 * cost);
}
END_TEST

/* Wide blocks of 8 bytes are 8 columns, and each way down them costs, too. */
START_TEST(low_rectangles_of_8_bytes_cost_more_than_their_blocks)
{
    struct tile low = tile_of(8, 8, 100, 2, 8), high = low, wide = low;
    int64_t turned, cost = ew_permutation_turning(&low.layout, &turned);
    high.layout.loop[1].n = 4;
    wide.layout.loop[0].n = 16;
    ck_assert_int_lt(ew_permutation_turning(&high.layout, &turned), 2 * cost);
    ck_assert_int_eq(ew_permutation_turning(&wide.layout, &turned), 2 * cost);
}
END_TEST

int main(void)
{
    TCase *costs = support_case("costs");
    tcase_add_test(costs, permuting_never_costs_more_than_the_least_given);
    tcase_add_test(costs,
                   as_many_windows_are_permuted_as_a_line_is_spread_over);
    tcase_add_test(costs,
                   neighbours_are_turned_in_rectangles_of_16_bytes_and_more);
    tcase_add_test(costs, what_lies_in_a_window_is_turned_from_there);
    tcase_add_test(costs, runs_are_turned_as_elements_and_blocks_cost_alike);
    tcase_add_test(costs,
                   low_rectangles_of_8_bytes_cost_more_than_their_blocks);
    TCase *const cases[] = {costs, NULL};
    return support_run("permutation", cases);
}
