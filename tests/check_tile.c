/*
 * Plans layouts whose tiles are of several loops, or only nearly: what a tile
 * holds of each loop, how its operands get there and in which order tiles
 * follow. That results are right however tiles are cut, check_deep.c and
 * check_strategy.c test.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "plan.h"
#include "strategy.h"
#include "strategy_calls.h"
#include "support.h"
#include "table.h"
#include "tile.h"
#include "tile_cost.h"

/* x and out dense, y transposed. */
START_TEST(a_plan_says_what_a_tile_of_several_loops_holds)
{
    static const int64_t shape[] = {700, 2, 4};
    static const int64_t across[] = {1, 700, 1400};
    elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, NULL}, o = a;
    elementwise_tensor b = {NULL, ELEMENTWISE_F32, 3, shape, across};
    const char *says =
        "\"x_input\":\"as is\",\"y_input\":\"transposed\",\"rows\":\"folded\","
        "\"tile\":[256,2,4],\"kept\":[],\"stores\":\"as usual\"";
    char json[1000];
    elementwise_plan *p;
    ck_assert_int_eq(
        elementwise_plan_create(&p, ELEMENTWISE_ADD, &a, &b, -1, &o, NULL), 0);
    elementwise_plan_describe(p, json, sizeof json);
    elementwise_plan_destroy(p);
    ck_assert_msg(strstr(json, says) != NULL, "%s", json);
}
END_TEST

/* Rows of 24 bytes, backwards, which are too long for the windows of a kernel:
   where the level can, a line of them is one vector. */
START_TEST(elements_within_a_line_are_permuted_where_the_level_can)
{
    static const int64_t shape[] = {20000, 24}, back[] = {24, -1};
    static char bytes[20000 * 24];
    elementwise_tensor a = {bytes + 23, ELEMENTWISE_U8, 2, shape, back};
    elementwise_tensor b = {bytes, ELEMENTWISE_U8, 2, shape, NULL}, o = b;
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
    bool can = ew_table_permute(p.level) != NULL && p.pass.deep;
    ck_assert_int_eq(p.pass.gather[EW_X].kernel != NULL, can);
    ck_assert_str_eq(ew_strategy_input(&p, EW_X),
                     can ? "permuted" : "gathered");
    ck_assert_ptr_null(p.pass.gather[EW_Y].kernel);
    ck_assert(can || p.level < EW_LEVEL_AVX512);
}
END_TEST

/* Planes of 16384 rows of three bytes from x, which has 35 of each byte side by
   side: the fewest lines would be those of 8 planes, but 16 can be turned. */
START_TEST(tiles_have_as_many_neighbours_as_are_turned)
{
    static const int64_t shape[] = {35, 16384, 3}, last[] = {1, 105, 35},
                         row[] = {0, 0, 1};
    elementwise_tensor a = {NULL, ELEMENTWISE_U8, 3, shape, last};
    elementwise_tensor b = {NULL, ELEMENTWISE_U8, 3, shape, row};
    elementwise_tensor o = {NULL, ELEMENTWISE_U8, 3, shape, NULL};
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_MAX, &a, &b, -1, &o), 0);
    bool can = ew_table_turn(p.level, 1) != NULL;
    ck_assert_int_eq(p.pass.deep, 3);
    ck_assert_int_eq(p.pass.extent[2], can ? 16 : 8);
    ck_assert_str_eq(ew_strategy_input(&p, EW_X),
                     can ? "transposed" : "gathered");
}
END_TEST

/* Both inputs are turned in blocks of 7 x 9 elements, of which one is too
   little for a tile. */
START_TEST(small_blocks_that_are_turned_are_together_in_a_tile)
{
    static const int64_t shape[] = {200, 7, 9}, turned[] = {63, 1, 7};
    elementwise_tensor a = {NULL, ELEMENTWISE_F64, 3, shape, NULL}, b = a;
    elementwise_tensor o = {NULL, ELEMENTWISE_F64, 3, shape, turned};
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
    ck_assert_int_eq(p.pass.deep, 3);
    ck_assert_int_gt(p.pass.extent[2], 1);
}
END_TEST

static int64_t elements_of_tile(const struct elementwise_plan *plan)
{
    int64_t elements = 1;
    for (int i = 0; i < plan->pass.deep; i++)
        elements *= plan->pass.extent[i];
    return elements;
}

/* x is the same block for all of dimension 0, y one element for eight, which
   is gathered in vectors; or x is 100 bytes apart, which is not. */
START_TEST(tiles_of_bytes_have_more_elements_where_few_steps_gather_them)
{
    static const struct {
        int64_t outer, x[3], y[3], tile;
    } layouts[] = {{256, {0, 8, 1}, {64, 1, 0}, 2048},
                   {4000, {0, 8, 1}, {64, 1, 0}, 2048},
                   {256, {60000, 900, 100}, {64, 1, 0}, 1024}};
    for (int i = 0; i < 3; i++) {
        const int64_t shape[] = {layouts[i].outer, 64, 8};
        elementwise_tensor a = {NULL, ELEMENTWISE_U8, 3, shape, layouts[i].x};
        elementwise_tensor b = {NULL, ELEMENTWISE_U8, 3, shape, layouts[i].y};
        elementwise_tensor o = {NULL, ELEMENTWISE_U8, 3, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        if (p.level >= EW_LEVEL_AVX512)
            ck_assert_int_eq(elements_of_tile(&p), layouts[i].tile);
        else
            ck_assert_int_le(elements_of_tile(&p), 1024);
    }
}
END_TEST

/* x is turned, and out has 29 rows of 33 bytes, so many bytes apart: at a
   multiple of 2048 bytes the caches have room for the lines of 16. */
START_TEST(lines_of_out_that_push_each_other_out_are_not_in_a_tile)
{
    for (int64_t n = 2047; n <= 2049; n++) {
        const int64_t shape[] = {29, n, 33};
        const int64_t of_x[] = {1, 29, 29 * n}, of_y[] = {33, 0, 1};
        elementwise_tensor a = {NULL, ELEMENTWISE_F16, 3, shape, of_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F16, 3, shape, of_y};
        elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 3, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_LESS_THAN, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.deep > 0, n == 2048);
    }
}
END_TEST

/* x and y have 64 planes so many elements apart. Of lines that are a multiple
   of 4096 bytes apart the first-level cache keeps few, so a tile has a few
   planes, where the level has no windows to turn them from. */
START_TEST(lines_of_an_input_that_push_each_other_out_are_few_in_a_tile)
{
    ew_cpu_limit(EW_LEVEL_AVX512);
    if (ew_cpu_level() == EW_LEVEL_AVX2)
        ew_cpu_limit(EW_LEVEL_BASE);
    for (int i = 0; i < 2; i++) {
        static const int64_t shape[] = {2, 8, 2048, 64};
        const int64_t of_x[] = {1, 2, 16, i ? 32768 : 32768 + 32};
        elementwise_tensor a = {NULL, ELEMENTWISE_F16, 4, shape, of_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F16, 4, shape, of_x};
        elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 4, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_LESS_THAN, &a, &b, -1, &o), 0);
        ck_assert_int_gt(p.pass.deep, 0);
        ck_assert_int_eq(p.loop[0].n, 64);
        ck_assert_int_eq(p.pass.extent[0], i ? 16 : 32);
        ck_assert_str_eq(ew_strategy_input(&p, EW_X), "gathered");
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of four elements with gaps between them, x of which runs through memory
   along dimension 0: from there several rows come one after the other. Not if
   it all stays in the last cache, nor if x lies as out goes. */
START_TEST(rows_in_memory_are_read_one_after_the_other)
{
    static const struct {
        int64_t n, strides[4];
        unsigned tuning;
        bool deep;
    } layouts[] = {{2048, {27, 165888, 55296, 3}, EW_SMALL_CACHE, true},
                   {2048, {27, 165888, 55296, 3}, 0, false},
                   {512, {27, 41472, 13824, 3}, EW_SMALL_CACHE, false},
                   {2048, {5751, 81, 27, 3}, EW_SMALL_CACHE, false}};
    for (int level = 0; level < EW_LEVELS; level++)
        for (int i = 0; i < 4 && support_level(level); i++) {
            const int64_t shape[] = {layouts[i].n, 71, 3, 4};
            const int64_t of_y[] = {852, 12, 0, 3};
            elementwise_tensor a = {NULL, ELEMENTWISE_F64, 4, shape,
                                    layouts[i].strides};
            elementwise_tensor b = {NULL, ELEMENTWISE_F64, 4, shape, of_y};
            elementwise_tensor o = {NULL, ELEMENTWISE_F64, 4, shape, NULL};
            struct elementwise_plan p;
            ew_cpu_limit(level);
            ew_cpu_tune(layouts[i].tuning);
            ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_MUL, &a, &b, -1, &o),
                             0);
            ck_assert_int_eq(p.pass.deep > 0, layouts[i].deep);
            if (layouts[i].deep)
                ck_assert_int_ge(p.pass.extent[p.pass.deep - 1], 8);
        }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* x is gathered into tiles in which y and out have runs of 64 elements; with
   runs of 32 a tile is one row. */
START_TEST(long_runs_in_a_tile_of_several_loops_are_its_rows)
{
    for (int64_t n = 231; n >= 16; n -= 215) {
        const int64_t shape[] = {74, n, 2}, of_x[] = {6, 444, 3};
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, of_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 3, shape, NULL}, o = b;
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.rows, p.pass.deep && n == 231);
        ck_assert(p.pass.deep || n < 231);
    }
}
END_TEST

/* y is gathered once for the two elements of dimension 0, of which each is
   three tiles; not where out is larger than the L2 cache. */
START_TEST(tiles_of_several_loops_follow_where_an_input_stands_still)
{
    for (int i = 0; i < 2; i++) {
        const int64_t of_x[] = {i ? 200 : 2, 3, 16, 1, 5, 6};
        const int64_t of_y[] = {3, 1, 7, 1, 6};
        const int64_t shape[] = {of_x[0], 3, 16, 7, 5, 6};
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 6, of_x, NULL};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 5, of_y, NULL};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 6, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.deep, 4);
        ck_assert_int_eq(p.loop[4].n, i ? 3 : 2);
    }
}
END_TEST

/* An input whose lines tiles share is large; one that is small is not. */
START_TEST(lines_that_tiles_share_are_soon_gone_from_large_inputs_alone)
{
    static const int64_t shape[] = {64, 4096, 5};
    static const int64_t cab[] = {4096, 1, 262144}, bca[] = {1, 320, 64};
    static const int64_t cb[] = {0, 1, 4096};
    for (int i = 0; i < 2; i++) {
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, bca}, b = a;
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
        struct elementwise_plan p;
        b.strides = i ? cb : cab;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.deep, 3);
        ck_assert(p.pass.large[EW_X]);
        ck_assert_int_eq(p.pass.large[EW_Y], i == 0);
    }
}
END_TEST

/* x of (n, m, cols) runs along n: if out has more than 6 MiB, and many rows
   come between two parts of a line in which a row ends, lines would be stored
   twice by tiles of n and cols. */
START_TEST(
    rows_that_end_in_lines_that_come_much_later_are_in_tiles_of_more_loops)
{
    static const struct {
        int64_t n, m, cols;
        bool deep;
    } layouts[] = {{386, 124, 43, true},
                   {386, 124, 48, false},
                   {140, 124, 43, false},
                   {8, 5952, 43, false}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        int64_t n = layouts[i].n, m = layouts[i].m;
        const int64_t shape[] = {n, m, layouts[i].cols}, of_x[] = {1, n, m * n};
        elementwise_tensor a = {NULL, ELEMENTWISE_F64, 3, shape, of_x};
        elementwise_tensor o = {NULL, ELEMENTWISE_F64, 3, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &o, -1, &o), 0);
        ck_assert_msg((p.pass.deep > 0) == layouts[i].deep, "%d", (int)i);
    }
}
END_TEST

/* Without data, rows may be so many that a product of them is no number. */
START_TEST(rows_of_the_longest_plan_end_somewhere)
{
    const int64_t n = INT64_MAX / 129;
    const int64_t shape[] = {n, 65}, of_x[] = {1, n}, of_out[] = {129, 1};
    elementwise_tensor a = {NULL, ELEMENTWISE_U8, 2, shape, of_x};
    elementwise_tensor b = {NULL, ELEMENTWISE_U8, 0, NULL, NULL};
    elementwise_tensor o = {NULL, ELEMENTWISE_U8, 2, shape, of_out};
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
}
END_TEST

/* Three planes from what has them side by side: long rows would bring each line
   three times, of which the L1 cache keeps those of short ones. */
START_TEST(planes_that_lie_side_by_side_are_together_in_a_tile)
{
    static const struct {
        int64_t cols, steps;
        elementwise_dtype type;
        bool deep;
    } layouts[] = {{100000, 9, ELEMENTWISE_F32, true},
                   {1000, 9, ELEMENTWISE_F32, true},
                   {800, 9, ELEMENTWISE_F32, false},
                   {100000, 16, ELEMENTWISE_F32, false},
                   {400000, 3, ELEMENTWISE_F64, false}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t shape[] = {3, layouts[i].cols};
        const int64_t of_x[] = {layouts[i].steps / 3, layouts[i].steps};
        elementwise_tensor a = {NULL, layouts[i].type, 2, shape, of_x};
        elementwise_tensor b = {NULL, layouts[i].type, 0, NULL, NULL};
        elementwise_tensor o = {NULL, layouts[i].type, 2, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_msg((p.pass.deep > 0) == layouts[i].deep, "%d", (int)i);
    }
}
END_TEST

/* A plan for x of a type and a layout plus y of another, to a dense out. */
static struct elementwise_plan plan_of(elementwise_dtype type, int ndim,
                                       const int64_t shape[],
                                       const int64_t of_x[],
                                       const int64_t of_y[])
{
    struct elementwise_plan p;
    elementwise_tensor a = {NULL, type, ndim, shape, of_x}, b = a, o = a;
    b.strides = of_y;
    o.strides = NULL;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
    return p;
}

/* Of 8 bytes, every second or third in rows that are not turned; loads one by
   one have several of a line. Those back are shuffled in tiles, and smaller
   ones lose more by being taken one by one. */
START_TEST(few_gaps_between_elements_of_8_bytes_need_no_tile)
{
    static const struct {
        elementwise_dtype type;
        int ndim;
        int64_t shape[4], x[4], y[4];
        bool deep;
    } layouts[] = {
        {ELEMENTWISE_F64, 3, {64, 2, 45}, {90, 1, 2}, {90, 1, 2}, false},
        {ELEMENTWISE_F64, 3, {32, 54, 3}, {9, 288, 3}, {0, 0, 0}, false},
        {ELEMENTWISE_F32, 3, {19, 3, 56}, {112, 2128, 2}, {0, 0, 0}, true},
        {ELEMENTWISE_I64,
         4,
         {2, 64, 4, 32},
         {8192, 128, 32, -1},
         {0, 1, 0, 0},
         true}};
    if (!support_level(EW_LEVEL_AVX512))
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p =
            plan_of(layouts[i].type, layouts[i].ndim, layouts[i].shape,
                    layouts[i].x, layouts[i].y);
        ck_assert_msg((p.pass.deep > 0) == layouts[i].deep, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Turned in tiles of 8 rows, which are read while they are stored; larger ones
   are as good alone. */
START_TEST(small_turned_tiles_are_joined_where_vectors_are_lines)
{
    const int64_t shape[] = {64, 8, 45}, of[] = {360, 1, 8};
    const int64_t larger[] = {64, 8, 70}, of_larger[] = {560, 1, 8};
    for (int level = EW_LEVEL_AVX2; level <= EW_LEVEL_AVX512; level++) {
        if (!support_level(level))
            continue;
        struct elementwise_plan p =
            plan_of(ELEMENTWISE_F32, 3, shape, of, NULL);
        ck_assert_int_eq(p.pass.deep > 0, level == EW_LEVEL_AVX512);
        p = plan_of(ELEMENTWISE_F32, 3, larger, of_larger, NULL);
        ck_assert_int_eq(p.pass.deep, 0);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* y has three planes so far apart. */
START_TEST(places_beyond_32_bits_are_in_no_tile)
{
    static const int64_t shape[] = {800, 4, 3};
    for (int i = 0; i < 2; i++) {
        const int64_t far = i ? (int64_t)1 << 31 : 1 << 20;
        const int64_t of_y[] = {1, 800, far};
        struct elementwise_plan p =
            plan_of(ELEMENTWISE_F32, 3, shape, NULL, of_y);
        ck_assert_int_eq(p.pass.deep, i ? 0 : 3);
    }
}
END_TEST

/* x has all dimensions in the other order, so that no two loops are one. */
START_TEST(nests_of_too_many_loops_are_not_cut)
{
    for (int ndim = EW_DEEP_NDIM; ndim <= EW_DEEP_NDIM + 1; ndim++) {
        int64_t shape[EW_DEEP_NDIM + 1], of_x[EW_DEEP_NDIM + 1];
        for (int i = 0; i < ndim; i++) {
            shape[i] = 2;
            of_x[i] = (int64_t)1 << i;
        }
        struct elementwise_plan p =
            plan_of(ELEMENTWISE_F32, ndim, shape, of_x, NULL);
        ck_assert_int_eq(p.ndim, ndim);
        ck_assert_int_eq(p.pass.deep > 0, ndim == EW_DEEP_NDIM);
    }
}
END_TEST

/* Buffers have room for the widest element, tables for so many. */
START_TEST(tiles_fit_their_buffers_and_tables)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_F16,
                                              ELEMENTWISE_F32, ELEMENTWISE_F64,
                                              ELEMENTWISE_C128};
    int deep = 0;
    for (int round = 0; round < 3000; round++) {
        int order[] = {0, 1, 2, 3};
        int64_t shape[4], of_x[4], step = 1;
        for (int i = 0; i < 4; i++)
            shape[i] = support_random(2, support_random(0, 1) ? 40 : 5);
        support_shuffle(order, 0, 4);
        for (int i = 0; i < 4; i++) {
            of_x[order[i]] = step;
            step *= shape[order[i]];
        }
        struct elementwise_plan p =
            plan_of(types[round % 5], 4, shape, of_x, NULL);
        int64_t elements = elements_of_tile(&p);
        ck_assert_int_le(elements, EW_DEEP_ELEMENTS);
        ck_assert_int_le(elements * ew_pass_widest(&p.pass, 3), EW_TILE_BYTES);
        for (int i = 0; i < p.pass.deep; i++)
            ck_assert(p.pass.extent[i] > 1 && p.pass.extent[i] <= p.loop[i].n);
        deep += p.pass.deep > 0;
    }
    ck_assert_int_gt(deep, 300);
}
END_TEST

/* A tile's runs of out, 80 bytes, lie apart: they are stored as rows, not
   scattered. Where out is one run, shorter ones of y, 96 bytes, are gathered,
   as one row takes less than many. */
START_TEST(short_runs_are_rows_where_out_would_be_scattered)
{
    static const int64_t apart[] = {32, 331, 5}, of_x[] = {5, 160, 1};
    static const int64_t whole[] = {36864, 4, 6}, in_gaps[] = {4, 1, 0};
    static const int64_t rows[] = {0, 6, 1}, of_y[] = {1, 0, 0};
    struct elementwise_plan p = plan_of(ELEMENTWISE_U8, 3, apart, of_x, of_y);
    ck_assert(p.pass.deep == 3 || p.level < EW_LEVEL_AVX512);
    if (p.pass.deep) {
        ck_assert_int_eq(p.pass.extent[0] * p.pass.extent[1], 80);
        ck_assert(p.pass.rows);
        ck_assert(!ew_tile_places(&p, EW_OUT));
    }
    p = plan_of(ELEMENTWISE_I32, 3, whole, in_gaps, rows);
    ck_assert_int_eq(p.pass.deep, 3);
    ck_assert_int_eq(p.pass.extent[0] * p.pass.extent[1], 24);
    ck_assert(!p.pass.rows);
    ck_assert(ew_tile_places(&p, EW_Y));
}
END_TEST

/* x and out dense, y gathered; x one element for all of a tile, too; and long
   rows, which are read as they lie. */
START_TEST(what_is_dense_or_stands_still_in_a_tile_needs_no_places)
{
    static const struct {
        int64_t shape[3], x[3], y[3];
        bool places_x, places_y;
    } layouts[] = {{{800, 4, 3}, {12, 3, 1}, {1, 800, 3200}, 0, 1},
                   {{800, 4, 3}, {0, 0, 0}, {1, 800, 3200}, 0, 1},
                   {{800, 4, 3}, {1, 800, 3200}, {1, 800, 3200}, 1, 1},
                   {{74, 231, 2}, {6, 444, 3}, {462, 2, 1}, 1, 0}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p = plan_of(
            ELEMENTWISE_F32, 3, layouts[i].shape, layouts[i].x, layouts[i].y);
        ck_assert_int_gt(p.pass.deep, 0);
        ck_assert_int_eq(ew_tile_places(&p, EW_X), layouts[i].places_x);
        ck_assert_int_eq(ew_tile_places(&p, EW_Y), layouts[i].places_y);
        ck_assert(!ew_tile_places(&p, EW_OUT));
    }
}
END_TEST

/* The channels of a picture in the other order: vectors of bytes hold a few
   pixels each, so that no tile of both loops is needed; but no vector does
   where rows are far apart. */
START_TEST(short_rows_that_vectors_hold_are_in_no_tile)
{
    static const int64_t shape[] = {16384, 4}, one[] = {1};
    elementwise_tensor b = {NULL, ELEMENTWISE_U8, 1, one, NULL};
    elementwise_tensor o = {NULL, ELEMENTWISE_U8, 2, shape, NULL};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (int far = 0; far < 2; far++) {
        const int64_t back[] = {far ? 5000 : 4, -1};
        elementwise_tensor a = {NULL, ELEMENTWISE_U8, 2, shape, back};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.deep, far ? 2 : 0);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* With AVX2: every second to fourth element of up to 4 bytes, in rows that are
   folded or hold a vector; and columns, not rows, that run along memory. */
START_TEST(few_gaps_between_elements_that_are_turned_need_no_tile)
{
    static const struct {
        elementwise_dtype type;
        int64_t rows, cols, y[2], margin;
        bool deep;
    } layouts[] = {{ELEMENTWISE_F16, 9216, 16, {2, 18432}, 0, false},
                   {ELEMENTWISE_F16, 9216, 7, {2, 18432}, 0, true},
                   {ELEMENTWISE_F16, 9216, 7, {3, 27648}, 0, false},
                   {ELEMENTWISE_U8, 512, 8, {3, 1536}, 0, false},
                   {ELEMENTWISE_U8, 512, 8, {4, 2048}, 0, false},
                   {ELEMENTWISE_U8, 256, 15, {3, 768}, 0, false},
                   {ELEMENTWISE_U8, 256, 15, {3, 768}, 4, true},
                   {ELEMENTWISE_F32, 1024, 2, {4, -1}, 0, true},
                   {ELEMENTWISE_I32, 903, 2, {3, 2709}, 0, false},
                   {ELEMENTWISE_I64, 903, 2, {3, 2709}, 0, true}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t shape[] = {layouts[i].rows, layouts[i].cols};
        const int64_t of_out[] = {shape[1] + layouts[i].margin, 1};
        strategy_plan_into(&p, ELEMENTWISE_ADD, layouts[i].type, 2, shape, NULL,
                           layouts[i].y, of_out);
        ck_assert_msg((p.pass.deep > 0) == layouts[i].deep, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of out with gaps, and inputs with others, below AVX-512: tiles are where
   more is done with elements, or where they are small. */
START_TEST(words_are_taken_beside_single_elements_of_out)
{
    enum { ROW = 354 };
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        bool tiles;
    } rows[] = {{ELEMENTWISE_EQUAL, ELEMENTWISE_I32, false},
                {ELEMENTWISE_EQUAL, ELEMENTWISE_F32, false},
                {ELEMENTWISE_EQUAL, ELEMENTWISE_C64, true},
                {ELEMENTWISE_MOD, ELEMENTWISE_F32, true},
                {ELEMENTWISE_ADD, ELEMENTWISE_F16, true}};
    static const int64_t shape[] = {14, ROW}, of_x[] = {4 * ROW + 12, 4};
    static const int64_t of_y[] = {5 * ROW + 10, 5},
                         of_out[] = {3 * ROW + 3, 3};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elementwise_plan p;
        strategy_plan_into(&p, rows[i].op, rows[i].type, 2, shape, of_x, of_y,
                           of_out);
        ck_assert_msg(ew_pass_tiles(&p.pass) == rows[i].tiles, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* x is four bytes apart along memory, and a page or more along rows: of up to a
   page they are taken so, too. */
START_TEST(words_on_other_pages_are_gathered_beside_single_elements_of_out)
{
    if (!support_level(_i))
        return;
    for (int far = 0; far < 2; far++) {
        struct elementwise_plan p;
        const int64_t shape[] = {8, 1024, 16, 8}, column = far ? 8192 : 1024;
        const int64_t of_x[] = {column / 8, 1, 0, column};
        const int64_t of_y[] = {32, 0, 2, 0}, of_out[] = {262144, 256, 16, 2};
        strategy_plan_into(&p, ELEMENTWISE_MUL, ELEMENTWISE_I32, 4, shape, of_x,
                           of_y, of_out);
        ck_assert_int_eq(p.pass.deep > 0, far);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Plans that never run may have as many bytes as there are numbers. */
START_TEST(an_element_costs_no_less_in_the_largest_plan)
{
    struct ew_tile_search s = {.elements = 1 << 30};
    for (int k = 0; k <= EW_OUT; k++)
        s.course[k] = (struct ew_tile_course){.bytes = 1 << 30, .next = 1500};
    int64_t least = ew_tile_least(&s, 1024);
    ck_assert_int_gt(least, 0);
    s.elements = INT64_MAX;
    for (int k = 0; k <= EW_OUT; k++)
        s.course[k].bytes = INT64_MAX;
    ck_assert_int_eq(ew_tile_least(&s, 1024), least);
}
END_TEST

int main(void)
{
    TCase *cutting = support_case("cutting");
    TCase *operands = support_case("operands");
    tcase_add_test(cutting, a_plan_says_what_a_tile_of_several_loops_holds);
    tcase_add_test(cutting, tiles_have_as_many_neighbours_as_are_turned);
    tcase_add_test(cutting,
                   small_blocks_that_are_turned_are_together_in_a_tile);
    tcase_add_test(
        cutting, tiles_of_bytes_have_more_elements_where_few_steps_gather_them);
    tcase_add_test(cutting,
                   lines_of_out_that_push_each_other_out_are_not_in_a_tile);
    tcase_add_test(
        cutting, lines_of_an_input_that_push_each_other_out_are_few_in_a_tile);
    tcase_add_test(
        cutting,
        rows_that_end_in_lines_that_come_much_later_are_in_tiles_of_more_loops);
    tcase_add_test(cutting, rows_of_the_longest_plan_end_somewhere);
    tcase_add_test(cutting,
                   planes_that_lie_side_by_side_are_together_in_a_tile);
    tcase_add_test(cutting, few_gaps_between_elements_of_8_bytes_need_no_tile);
    tcase_add_test(cutting,
                   few_gaps_between_elements_that_are_turned_need_no_tile);
    tcase_add_test(cutting,
                   small_turned_tiles_are_joined_where_vectors_are_lines);
    tcase_add_test(cutting, places_beyond_32_bits_are_in_no_tile);
    tcase_add_test(cutting, nests_of_too_many_loops_are_not_cut);
    tcase_add_test(cutting, tiles_fit_their_buffers_and_tables);
    tcase_add_test(cutting, short_rows_that_vectors_hold_are_in_no_tile);
    tcase_add_test(cutting, an_element_costs_no_less_in_the_largest_plan);
    tcase_add_loop_test(cutting, words_are_taken_beside_single_elements_of_out,
                        0, EW_LEVEL_AVX512);
    tcase_add_loop_test(
        cutting,
        words_on_other_pages_are_gathered_beside_single_elements_of_out, 0,
        EW_LEVEL_AVX512);
    tcase_add_test(cutting,
                   tiles_of_several_loops_follow_where_an_input_stands_still);
    tcase_add_test(operands,
                   elements_within_a_line_are_permuted_where_the_level_can);
    tcase_add_test(operands, long_runs_in_a_tile_of_several_loops_are_its_rows);
    tcase_add_test(operands, short_runs_are_rows_where_out_would_be_scattered);
    tcase_add_test(operands, rows_in_memory_are_read_one_after_the_other);
    tcase_add_test(
        operands, lines_that_tiles_share_are_soon_gone_from_large_inputs_alone);
    tcase_add_test(operands,
                   what_is_dense_or_stands_still_in_a_tile_needs_no_places);
    TCase *const cases[] = {cutting, operands, NULL};
    return support_run("tile", cases);
}
