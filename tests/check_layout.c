/*
 * Makes the tables of random tiles and compares them with a walk over the
 * elements one by one: of their places, and of the lines that are asked for.
 */
#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "layout.h"
#include "support.h"
#include "tiles.h"

enum { ALL = 1 << 16 };

START_TEST(a_table_has_the_place_of_each_element)
{
    static int32_t table[EW_DEEP_ELEMENTS];
    for (int round = 0; round < 1000; round++) {
        struct tile t = tile_draw(1 << support_random(0, 4));
        memset(table, 0x55, sizeof table);
        int64_t n = ew_layout_table(table, t.layout.loop, t.layout.ndim);
        ck_assert_int_eq(n, t.elements);
        for (int64_t e = 0; e < n; e++)
            ck_assert_int_eq(table[e], tile_place(&t, e));
    }
}
END_TEST

START_TEST(dense_places_follow_one_another_and_are_one_when_merged)
{
    for (int round = 0; round < 1000; round++) {
        struct tile t = tile_draw(1 << support_random(0, 4)), dense = t;
        struct ew_layout merged;
        ew_layout_dense(&t.layout, &dense.layout);
        ew_layout_merge(&dense.layout, &merged);
        for (int64_t e = 0; e < t.elements; e++)
            ck_assert_int_eq(tile_place(&dense, e), e * t.layout.size);
        ck_assert_int_eq(merged.ndim, 0);
        ck_assert_int_eq(merged.size, t.elements * t.layout.size);
    }
}
END_TEST

/* Runs of 3 x 5, so far apart, of elements of 4 bytes: larger elements. */
START_TEST(inner_loops_are_merged_as_far_as_they_follow_one_another)
{
    for (int64_t gap = 0; gap <= 8; gap += 8) {
        struct tile t = tile_of(4, 3, 4, 5, 12);
        tile_add(&t, 7, 60 + gap);
        tile_add(&t, 2, 7 * (60 + gap));
        struct ew_layout merged;
        ew_layout_merge(&t.layout, &merged);
        ck_assert_int_eq(merged.ndim, gap ? 2 : 0);
        ck_assert_int_eq(merged.size, gap ? 60 : 840);
        ck_assert(!gap || merged.loop[0].n == 7);
        ck_assert(!gap || merged.loop[1].step == 7 * (60 + gap));
    }
}
END_TEST

/* 3 elements 5 times; each again and the whole 7 x 2 times; one for all. */
START_TEST(outermost_loops_in_which_nothing_moves_repeat_the_rest)
{
    struct tile t = tile_of(4, 3, 4, 5, 0), still = t;
    ck_assert_int_eq(ew_layout_once(&t.layout), 5);
    ck_assert_int_eq(t.layout.ndim, 1);
    ck_assert_int_eq(ew_layout_once(&t.layout), 1);
    ck_assert_int_eq(t.layout.ndim, 1);
    tile_add(&still, 7, 12);
    ck_assert_int_eq(ew_layout_once(&still.layout), 1);
    tile_add(&still, 7, 0);
    tile_add(&still, 2, 0);
    ck_assert_int_eq(ew_layout_once(&still.layout), 14);
    ck_assert_int_eq(still.layout.ndim, 3);
    still.layout.loop[0].step = still.layout.loop[2].step = 0;
    ck_assert_int_eq(ew_layout_once(&still.layout), 105);
    ck_assert_int_eq(still.layout.ndim, 0);
}
END_TEST

/* The lines that hold a byte of the elements where the first one lies so many
   bytes behind the start of a line. */
static void mark_elements(const struct tile *t, int64_t from, bool lines[])
{
    for (int64_t e = 0; e < t->elements; e++) {
        int64_t at = from + tile_place(t, e);
        lines[at / EW_LINE] = lines[(at + t->layout.size - 1) / EW_LINE] = true;
    }
}

/* Whatever the start: few elements are never too many lines. */
START_TEST(all_lines_of_a_tile_are_asked_for_and_no_others)
{
    static bool has[ALL / EW_LINE], asked[ALL / EW_LINE];
    int done = 0;
    for (int round = 0; round < 5000; round++) {
        struct tile t = tile_draw(1 << support_random(0, 4));
        int64_t from = ALL / 2 + support_random(0, EW_LINE - 1);
        struct ew_lines lines;
        if (from + t.low < 0 || from + t.high > ALL)
            continue;
        ew_lines_make(&lines, &t.layout, true);
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

/* Single bytes, and rows that overlap: none is asked for again. */
START_TEST(a_line_that_is_shared_is_asked_for_once)
{
    struct tile bytes = tile_of(1, 9, 320, 1, 0);
    struct tile rows = tile_of(4, 40, 4, 3, 100);
    struct ew_lines lines;
    ew_lines_make(&lines, &bytes.layout, true);
    ck_assert_int_eq(lines.n, 9);
    ew_lines_make(&lines, &rows.layout, true);
    ck_assert_int_eq(lines.n, (160 + 2 * 100 + EW_LINE - 2) / EW_LINE + 1);
}
END_TEST

/* From the caches fewer are worth it. */
START_TEST(more_lines_are_asked_for_from_memory)
{
    for (int64_t rows = 60; rows <= 270; rows += 2) {
        struct tile t = tile_of(4, 16, 4, rows, 320);
        struct ew_lines far, near;
        ew_lines_make(&far, &t.layout, true);
        ew_lines_make(&near, &t.layout, false);
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
        struct tile t = tile_of(4, 16, 4, tiles[i].rows, tiles[i].step);
        struct ew_lines lines;
        ew_lines_make(&lines, &t.layout, false);
        ck_assert_int_eq(lines.n > 0, tiles[i].asked);
        ew_lines_make(&lines, &t.layout, true);
        ck_assert_int_gt(lines.n, 0);
    }
}
END_TEST

int main(void)
{
    TCase *places = support_case("places");
    TCase *lines = support_case("lines");
    tcase_add_test(places, a_table_has_the_place_of_each_element);
    tcase_add_test(places,
                   dense_places_follow_one_another_and_are_one_when_merged);
    tcase_add_test(places,
                   inner_loops_are_merged_as_far_as_they_follow_one_another);
    tcase_add_test(places,
                   outermost_loops_in_which_nothing_moves_repeat_the_rest);
    tcase_add_test(lines, all_lines_of_a_tile_are_asked_for_and_no_others);
    tcase_add_test(lines, a_line_that_is_shared_is_asked_for_once);
    tcase_add_test(lines, more_lines_are_asked_for_from_memory);
    tcase_add_test(lines, lines_that_push_each_other_out_are_not_asked_for);
    TCase *const cases[] = {places, lines, NULL};
    return support_run("layout", cases);
}
