/*
 * Plans layouts for which there is a better way than running the loops as
 * they come, and runs them: that the way is taken, and that results are those
 * of the reference however tiles are cut.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "fuse.h"
#include "plan.h"
#include "reference.h"
#include "strategy.h"
#include "support.h"
#include "table.h"

static struct support_tensor x, y, out;

/* The hint. */
static const elementwise_options past = {
    sizeof past, 1, 1, 0, ELEMENTWISE_ACT_NONE, ELEMENTWISE_STREAM, NULL, 0, 0};

static void release(void)
{
    support_free(&x);
    support_free(&y);
    support_free(&out);
}

/* A plan for [A, B, C] x of the given strides op y dense or broadcast. */
struct choice {
    int64_t shape[3], x[3], y[3];
    bool turn, fold, pack_x, pack_y;
    int deep; /* loops of a tile of several */
};

static const struct choice choices[] = {
    /* all alike: one loop */
    {{8, 32, 64}, {2048, 64, 1}, {2048, 64, 1}, 0, 0, 0, 0, 0},
    /* long rows, broadcast either way: as is */
    {{8, 32, 64}, {2048, 64, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    {{8, 32, 64}, {2048, 64, 1}, {32, 1, 0}, 0, 0, 0, 0, 0},
    /* transposed in the last two dimensions: rows are folded unless they are
       long, or the other input would be spread for that alone */
    {{8, 32, 64}, {2048, 1, 32}, {2048, 64, 1}, 1, 1, 1, 0, 0},
    {{8, 32, 64}, {2048, 64, 1}, {2048, 1, 32}, 1, 1, 0, 1, 0},
    {{8, 32, 64}, {2048, 1, 32}, {0, 0, 1}, 1, 1, 1, 1, 0},
    {{8, 32, 127}, {4064, 1, 32}, {4064, 127, 1}, 1, 1, 1, 0, 0},
    {{8, 32, 128}, {4096, 1, 32}, {4096, 128, 1}, 1, 1, 1, 0, 0},
    {{8, 32, 129}, {4128, 1, 32}, {4128, 129, 1}, 1, 0, 1, 0, 0},
    {{8, 32, 64}, {2048, 1, 32}, {32, 1, 0}, 1, 0, 1, 0, 0},
    /* and in the outer ones */
    {{8, 32, 64}, {1, 8, 256}, {2048, 64, 1}, 1, 0, 1, 0, 0},
    {{8, 32, 64}, {1, 8, 256}, {1, 8, 256}, 1, 0, 1, 1, 0},
    /* two inputs that would need different rows, and so few to a line that
       tiles are a part of all three loops */
    {{16, 32, 64}, {1, 16, 512}, {2048, 1, 32}, 0, 0, 0, 0, 3},
    /* several short loops, of which two are no tile: y is gathered */
    {{800, 4, 3}, {12, 3, 1}, {1, 800, 0}, 0, 0, 0, 0, 3},
    {{800, 4, 3}, {1, 800, 3200}, {4, 1, 0}, 0, 0, 0, 0, 3},
    /* too few of them */
    {{40, 4, 3}, {12, 3, 1}, {1, 40, 0}, 0, 0, 0, 0, 0},
    /* short rows of out, turned; in the same few places of a cache */
    {{64, 2047, 16}, {1, 64, 131008}, {32752, 16, 1}, 1, 0, 1, 0, 0},
    {{64, 2048, 16}, {1, 64, 131072}, {32768, 16, 1}, 0, 0, 0, 0, 3},
    /* too few to be worth turning: gathered */
    {{3, 32, 64}, {1, 192, 3}, {2048, 64, 1}, 0, 0, 1, 0, 0},
    /* a row that so many rows share is gathered once instead, if it is short */
    {{40, 32, 256}, {8192, 256, 1}, {1, 0, 40}, 0, 0, 0, 1, 0},
    {{40, 15, 256}, {3840, 256, 1}, {1, 0, 40}, 1, 0, 0, 1, 0},
    {{40, 32, 257}, {8224, 257, 1}, {1, 0, 40}, 1, 0, 0, 1, 0},
    /* all of which are copied first, if they are few */
    {{8, 32, 256}, {8192, 256, 1}, {1, 0, 8}, 0, 0, 0, 0, 0},
    /* what runs along memory is elements that share a line, or backwards */
    {{8, 32, 64}, {2, 16, 512}, {2048, 64, 1}, 1, 0, 1, 0, 0},
    {{8, 32, 64}, {-1, 8, 256}, {2048, 64, 1}, 1, 0, 1, 0, 0},
    /* no two elements share a line: one by one */
    {{8, 32, 64}, {16, 128, 4096}, {2048, 64, 1}, 0, 0, 0, 0, 0},
    /* every second element, backwards, the same row again and again */
    {{8, 32, 64}, {4096, 128, 2}, {2048, 64, 1}, 0, 0, 1, 0, 0},
    {{8, 32, 64}, {2048, 64, -1}, {2048, 64, -1}, 0, 1, 1, 1, 0},
    {{8, 32, 64}, {128, 0, 2}, {2048, 64, 1}, 0, 1, 1, 0, 0},
    {{1, 1, 256}, {0, 0, 4}, {0, 0, -1}, 0, 0, 1, 1, 0},
    {{1, 1, 1024}, {0, 0, 5}, {0, 0, -2}, 0, 0, 1, 1, 0},
    /* too few to be worth it: more where steps are no shuffles */
    {{1, 1, 255}, {0, 0, 4}, {0, 0, -1}, 0, 0, 0, 0, 0},
    {{1, 1, 1023}, {0, 0, 5}, {0, 0, -2}, 0, 0, 0, 0, 0},
    /* short rows: repeated, spread, a gap after each row */
    {{1, 9000, 3}, {0, 3, 1}, {0, 0, 1}, 0, 1, 0, 1, 0},
    {{1, 900, 3}, {0, 1, 0}, {0, 3, 1}, 0, 1, 1, 0, 0},
    {{1, 900, 3}, {0, 4, 1}, {0, 3, 1}, 0, 1, 1, 0, 0},
    {{1, 900, 3}, {0, 0, 0}, {0, 4, 1}, 0, 1, 0, 1, 0},
    /* beside what is gathered: spread up to 96 bytes, longer rows one by one */
    {{1, 512, 24}, {0, 48, 2}, {0, 1, 0}, 0, 1, 1, 1, 0},
    {{1, 512, 25}, {0, 50, 2}, {0, 1, 0}, 0, 0, 1, 0, 0},
    /* a row of more than a line is folded if it is no more than repeated */
    {{1, 63, 16}, {0, 16, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    {{1, 63, 17}, {0, 17, 1}, {0, 0, 1}, 0, 1, 0, 1, 0},
    {{1, 63, 24}, {0, 24, 1}, {0, 0, 1}, 0, 1, 0, 1, 0},
    {{1, 63, 25}, {0, 25, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    {{1, 63, 17}, {0, 18, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    /* a row with large gaps, repeated: that is gathered once for many rows */
    {{2048, 190, 5}, {0, 5, 1}, {25, 0, 5}, 0, 1, 0, 1, 0},
    /* too few rows */
    {{1, 90, 3}, {0, 3, 1}, {0, 0, 1}, 0, 0, 0, 0, 0}};

/* Of up to 128 columns, so that tiles have whole lines of what is turned. Rows
   of 512 bytes and more are not folded if they would be copied for it alone, if
   elements are of 16 bytes, or those that are read smaller than those made. */
START_TEST(rows_beside_turned_ones_are_folded)
{
    static const elementwise_dtype f32 = ELEMENTWISE_F32, f64 = ELEMENTWISE_F64,
                                   u8 = ELEMENTWISE_U8, c64 = ELEMENTWISE_C64,
                                   c128 = ELEMENTWISE_C128;
    const struct {
        int64_t cols;
        elementwise_dtype x, y;
        int64_t row; /* from one of y's to the next, in elements; -1: dense */
        bool fold;
        int turn; /* rows of a tile that is not folded */
    } layouts[] = {{128, u8, u8, -1, 1, 0},    {128, f32, f32, -1, 1, 0},
                   {129, f32, f32, -1, 0, 16}, {128, f64, f64, -1, 1, 0},
                   {129, f64, f64, -1, 0, 8},  {128, c64, c64, -1, 1, 0},
                   {31, c128, c128, 0, 1, 0},  {32, c128, c128, 0, 0, 32},
                   {63, f64, f64, 66, 1, 0},   {64, f64, f64, 67, 0, 8},
                   {127, f32, f32, 130, 1, 0}, {128, f32, f32, 131, 0, 16},
                   {128, f64, f64, 0, 1, 0},   {128, f64, f64, -128, 0, 8},
                   {128, u8, f64, -1, 0, 32},  {63, u8, f64, -1, 1, 0},
                   {128, f32, f64, -1, 0, 32}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_LATE_READS);
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        const int64_t cols = layouts[i / 2].cols, row = layouts[i / 2].row;
        const int64_t shape[] = {200, cols}, strides[] = {1, 200};
        const int64_t rows[] = {row == -1 ? cols : row, 1};
        bool wide = layouts[i / 2].x == c128; /* sums are taken one by one */
        elementwise_op op = wide ? ELEMENTWISE_DIV : ELEMENTWISE_ADD;
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, layouts[i / 2].x, 2, shape, strides};
        elementwise_tensor b = {NULL, layouts[i / 2].y, 2, shape, rows};
        elementwise_tensor o = {NULL, layouts[i / 2].y, 2, shape, NULL};
        ck_assert_int_eq(
            ew_plan_make(&p, op, i % 2 ? &b : &a, i % 2 ? &a : &b, -1, &o), 0);
        ck_assert_msg(p.pass.turn && p.pass.fold == layouts[i / 2].fold &&
                          (p.pass.fold || p.pass.turn == layouts[i / 2].turn),
                      "%d: %d rows, %d", (int)i, p.pass.turn, p.pass.fold);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

START_TEST(layouts_get_the_strategy_that_suits_them)
{
    const struct choice *c = &choices[_i];
    struct elementwise_plan p;
    elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, c->shape, c->x};
    elementwise_tensor b = {NULL, ELEMENTWISE_F32, 3, c->shape, c->y};
    elementwise_tensor o = {NULL, ELEMENTWISE_F32, 3, c->shape, NULL};
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
    ck_assert_int_eq(p.pass.turn != 0, c->turn);
    ck_assert_int_eq(p.pass.fold, c->fold);
    ck_assert_int_eq(p.pass.pack[EW_X] != NULL, c->pack_x);
    ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, c->pack_y);
    ck_assert_int_eq(p.pass.deep, c->deep);
}
END_TEST

/* On AVX-512 kernels spread what stands beside up to 96 bytes. Elsewhere that
   is done in tiles, as with complex numbers of any row, and with rows for which
   the level has no vectors. */
START_TEST(comparisons_take_long_elements_row_by_row)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_F64, ELEMENTWISE_I32,
                                              ELEMENTWISE_F16, ELEMENTWISE_C64};
    static const int64_t rows[] = {12, 13, 24, 25, 32, 48, 49};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 7; j++) {
            const int64_t shape[] = {900, rows[j]}, of_y[] = {1, 0};
            struct elementwise_plan p;
            elementwise_tensor a = {NULL, types[i], 2, shape, NULL}, b = a;
            elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
            b.strides = of_y;
            ck_assert_int_eq(
                ew_plan_make(&p, ELEMENTWISE_EQUAL, &a, &b, -1, &o), 0);
            int64_t bytes = rows[j] * p.pass.stored[EW_Y];
            bool by_kernel = p.level >= EW_LEVEL_AVX512;
            bool vectors = (rows[j] >= 32 && bytes > 96) || by_kernel;
            bool by_rows = vectors && types[i] != ELEMENTWISE_C64;
            ck_assert_int_eq(p.pass.fold, !by_rows);
            ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, !by_rows);
            ck_assert_int_eq(
                ew_plan_make(&p, ELEMENTWISE_LOGICAL_OR, &a, &b, -1, &o), 0);
            ck_assert_int_eq(p.pass.fold, !vectors);
        }
}
END_TEST

/* Rows of 29 to 32 halves, which are prepared before they are compared: on
   AVX-512 the one that all share is prepared once. */
START_TEST(comparisons_keep_a_row_of_halves)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_F16, ELEMENTWISE_BF16,
                                              ELEMENTWISE_I16, ELEMENTWISE_F32};
    static const int64_t rows[] = {16, 28, 29, 32, 33};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
            const int64_t shape[] = {4000, rows[j]}, of_y[] = {0, 1};
            struct elementwise_plan p;
            elementwise_tensor a = {NULL, types[i], 2, shape, NULL}, b = a;
            elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
            b.strides = of_y;
            bool keeps = i < 2 && rows[j] >= 29 && rows[j] <= 32;
            ck_assert_int_eq(
                ew_plan_make(&p, ELEMENTWISE_LESS_THAN, &b, &a, -1, &o), 0);
            ck_assert_int_eq(p.pass.fold,
                             !(keeps && p.level >= EW_LEVEL_AVX512));
            ck_assert_int_eq(p.pass.deep, 0);
        }
}
END_TEST

/* Rows of a line and more, if there are vectors for them, rather than copy them
   to close the gaps between them. */
START_TEST(comparisons_take_rows_with_gaps_where_they_lie)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_F64, ELEMENTWISE_I32,
                                              ELEMENTWISE_C64};
    static const int64_t rows[] = {8, 11, 12, 15, 16, 31, 32};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 7; j++) {
            const int64_t shape[] = {300, rows[j]}, of_x[] = {rows[j] + 3, 1};
            struct elementwise_plan p;
            elementwise_tensor a = {NULL, types[i], 2, shape, of_x};
            elementwise_tensor b = {NULL, types[i], 1, shape + 1, NULL};
            elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
            ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_EQUAL, &a, &b, 1, &o),
                             0);
            int64_t bytes = rows[j] * p.pass.stored[EW_X];
            bool vectors = p.level >= EW_LEVEL_AVX512 || rows[j] >= 32;
            bool as_is = i < 2 && rows[j] >= 12 && bytes >= 64 && vectors;
            ck_assert_int_eq(p.pass.pack[EW_X] == NULL, as_is);
            ck_assert_int_eq(p.pass.fold, !as_is);
        }
}
END_TEST

/* But for kernels that take them from there. */
START_TEST(elements_with_gaps_are_gathered)
{
    static const struct {
        elementwise_dtype type;
        int64_t x_step, y_step;
        elementwise_op op;
        bool gathers_x, gathers_y;
    } lines[] = {{ELEMENTWISE_F64, -1, 2, ELEMENTWISE_ADD, true, true},
                 {ELEMENTWISE_F64, 4, 1, ELEMENTWISE_ADD, true, false},
                 {ELEMENTWISE_I64, 1, 5, ELEMENTWISE_DIV, false, true},
                 {ELEMENTWISE_C64, 2, 1, ELEMENTWISE_MUL, true, false},
                 {ELEMENTWISE_C64, 2, 1, ELEMENTWISE_DIV, false, false}};
    static const int64_t n = 1 << 19;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = lines[i].type;
        elementwise_tensor a = {NULL, type, 1, &n, &lines[i].x_step};
        elementwise_tensor b = {NULL, type, 1, &n, &lines[i].y_step};
        elementwise_tensor o = {NULL, type, 1, &n, NULL};
        ck_assert_int_eq(ew_plan_make(&p, lines[i].op, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.pack[EW_X] != NULL, lines[i].gathers_x);
        ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, lines[i].gathers_y);
    }
}
END_TEST

/* Rows, columns, and the steps of x and y; whether kernels take them one by one
   below AVX-512 and there. */
START_TEST(elements_far_apart_are_left_to_kernels_of_few_steps)
{
    enum { M = 1 << 20 };
    static const struct {
        elementwise_dtype type;
        int64_t rows, cols, steps[2];
        elementwise_op op;
        bool alone[2];
    } lines[] = {
        {ELEMENTWISE_F64, 1, 4096, {2, 2}, ELEMENTWISE_ADD, {1, 1}},
        {ELEMENTWISE_F64, 1, 4096, {-1, 2}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {-3, 1}, ELEMENTWISE_SUB, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {4, 1}, ELEMENTWISE_MUL, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {1, -5}, ELEMENTWISE_MUL, {1, 1}},
        {ELEMENTWISE_F64, 1, 4096, {5, 0}, ELEMENTWISE_MUL, {1, 1}},
        {ELEMENTWISE_F64, 1, 3 * M, {2, 2}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_F64, 512, 8, {3, 3}, ELEMENTWISE_ADD, {1, 1}},
        {ELEMENTWISE_F64, 512, 7, {3, 3}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_F32, 1, 4096, {5, 4}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_F32, 1, 4096, {5, 5}, ELEMENTWISE_ADD, {1, 1}},
        {ELEMENTWISE_F32, 1, 4096, {10, 1}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_F32, 1, 4096, {1, 11}, ELEMENTWISE_DIV, {1, 1}},
        {ELEMENTWISE_C64, 1, 4096, {2, 2}, ELEMENTWISE_MUL, {1, 0}},
        {ELEMENTWISE_C64, 1, 4096, {5, 5}, ELEMENTWISE_MUL, {1, 1}},
        {ELEMENTWISE_C128, 1, 4096, {-1, 1}, ELEMENTWISE_MUL, {1, 1}},
        {ELEMENTWISE_C128, 1, 4096, {9, 9}, ELEMENTWISE_EQUAL, {0, 0}},
        {ELEMENTWISE_I16, 1, 4096, {16, 15}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_I16, 1, 4096, {16, 16}, ELEMENTWISE_ADD, {1, 1}},
        {ELEMENTWISE_F16, 1, 4096, {64, 64}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_U8, 1, 4096, {64, 64}, ELEMENTWISE_ADD, {0, 0}},
        {ELEMENTWISE_I64, 1, 4096, {2, 2}, ELEMENTWISE_FMAX, {1, 1}},
        {ELEMENTWISE_C64, 1, M, {2, 2}, ELEMENTWISE_MUL, {1, 1}},
        {ELEMENTWISE_F64, 1, 4096, {4, 1}, ELEMENTWISE_MAX, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {2, 2}, ELEMENTWISE_MAX, {1, 1}},
        {ELEMENTWISE_I64,
         1,
         4096,
         {2, 2},
         ELEMENTWISE_BITWISE_LEFT_SHIFT,
         {1, 1}},
        {ELEMENTWISE_I32,
         1,
         4096,
         {7, 7},
         ELEMENTWISE_BITWISE_LEFT_SHIFT,
         {0, 0}},
        {ELEMENTWISE_F32, 1, 4096, {7, 7}, ELEMENTWISE_MAX, {0, 0}},
        {ELEMENTWISE_F32, 1, 4096, {8, 7}, ELEMENTWISE_MAX, {1, 1}},
        {ELEMENTWISE_F64, 1, 4096, {64, 64}, ELEMENTWISE_FMAX, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {5, 4}, ELEMENTWISE_LESS_THAN, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {5, 5}, ELEMENTWISE_LESS_THAN, {1, 1}},
        {ELEMENTWISE_F64, 1, 4096, {64, 1}, ELEMENTWISE_LESS_THAN, {0, 0}},
        {ELEMENTWISE_I64, 1, 4096, {64, 64}, ELEMENTWISE_DIV, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {-1, 1}, ELEMENTWISE_DIV, {1, 1}},
        {ELEMENTWISE_F64, 1, 4096, {4, 0}, ELEMENTWISE_DIV, {0, 0}},
        {ELEMENTWISE_F64, 1, 4096, {64, 64}, ELEMENTWISE_POW, {0, 0}}};
    if (!support_level(_i))
        return;
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct elementwise_plan p;
        elementwise_tensor t[3];
        int64_t strides[2][2], shape[] = {lines[i].rows, lines[i].cols};
        for (int k = 0; k < 3; k++) {
            t[k] = (elementwise_tensor){NULL, lines[i].type, 2, shape, NULL};
            if (k == 2)
                break;
            strides[k][0] = lines[i].steps[k] * shape[1] + 1;
            strides[k][1] = lines[i].steps[k];
            t[k].strides = strides[k];
        }
        if (ew_types_ops[lines[i].op].to_bool)
            t[2].dtype = ELEMENTWISE_BOOL;
        ck_assert_int_eq(ew_plan_make(&p, lines[i].op, &t[0], &t[1], -1, &t[2]),
                         0);
        ck_assert_msg(!ew_pass_tiles(&p.pass) ==
                          lines[i].alone[_i >= EW_LEVEL_AVX512],
                      "%d", (int)i);
    }
}
END_TEST

/* Every second element of [n, 12, 32] times [n, 1, 32], in place: halves and
   smaller ones are gathered and moved back from 1024 elements on, larger ones
   taken one by one. */
START_TEST(small_blocks_with_gaps_in_out_are_moved_if_they_are_many)
{
    static const struct {
        elementwise_dtype type;
        int64_t n;
        bool moves;
    } arrays[] = {{ELEMENTWISE_I16, 64, true},
                  {ELEMENTWISE_I16, 3, true},
                  {ELEMENTWISE_I16, 2, false},
                  {ELEMENTWISE_F64, 64, false}};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct elementwise_plan p;
        const int64_t shape[] = {arrays[i].n, 12, 32};
        const int64_t of_x[] = {768, 64, 2}, of_y[] = {32, 0, 1};
        elementwise_tensor a = {NULL, arrays[i].type, 3, shape, of_x};
        elementwise_tensor b = {NULL, arrays[i].type, 3, shape, of_y};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_MUL, &a, &b, -1, &a), 0);
        ck_assert_msg((p.pass.store != NULL) == arrays[i].moves, "%d", (int)i);
        ck_assert(!p.pass.deep);
    }
}
END_TEST

/* Every second element, and columns whose lines stay in the L1 cache, or not:
   what is taken one by one where quotients are slow, and else gathered or
   turned. */
START_TEST(quotients_are_taken_alone_where_they_are_slow)
{
    static const struct {
        int64_t shape[2], strides[2];
        bool alone;
    } layouts[] = {{{1, 4096}, {8192, 2}, true},
                   {{66, 233}, {1, 66}, true},
                   {{64, 64}, {1, 64}, true},
                   {{64, 65}, {1, 64}, false},
                   {{256, 256}, {1, 256}, false}};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i / 2].shape;
        elementwise_tensor a = {NULL, ELEMENTWISE_F64, 2, shape,
                                layouts[i / 2].strides};
        elementwise_tensor o = {NULL, ELEMENTWISE_F64, 2, shape, NULL};
        ew_cpu_tune(i % 2 ? EW_QUICK_QUOTIENTS : 0);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_DIV, &a, &o, -1, &o), 0);
        bool alone = !(i % 2) && layouts[i / 2].alone;
        ck_assert_msg(!ew_pass_tiles(&p.pass) == alone, "%d", (int)i);
    }
}
END_TEST

/* Where lines of both stay in the L1 cache. */
START_TEST(inputs_turned_in_two_ways_are_taken_alone_if_elements_are_large)
{
    /* of [40, 40, n] */
    static const int64_t cba[] = {1, 40, 1600}, cab[] = {40, 1, 1600};
    static const struct {
        elementwise_dtype type;
        int64_t n;
        const int64_t *x, *y;
        elementwise_op op;
        bool alone;
    } layouts[] = {{ELEMENTWISE_F64, 64, cba, cab, ELEMENTWISE_ADD, true},
                   {ELEMENTWISE_F64, 65, cba, cab, ELEMENTWISE_ADD, false},
                   {ELEMENTWISE_F64, 64, cba, cba, ELEMENTWISE_ADD, false},
                   {ELEMENTWISE_F64, 64, cba, NULL, ELEMENTWISE_ADD, false},
                   {ELEMENTWISE_F64, 64, cba, cab, ELEMENTWISE_EQUAL, false},
                   {ELEMENTWISE_F32, 64, cba, cab, ELEMENTWISE_ADD, false},
                   {ELEMENTWISE_C64, 64, cba, cab, ELEMENTWISE_ADD, false},
                   {ELEMENTWISE_C128, 32, cba, NULL, ELEMENTWISE_MUL, true},
                   {ELEMENTWISE_C128, 33, cba, NULL, ELEMENTWISE_MUL, false}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = layouts[i].type;
        const int64_t shape[] = {40, 40, layouts[i].n};
        elementwise_tensor a = {NULL, type, 3, shape, layouts[i].x};
        elementwise_tensor b = {NULL, type, 3, shape, layouts[i].y};
        elementwise_tensor o = {NULL, type, 3, shape, NULL};
        if (ew_types_ops[layouts[i].op].to_bool)
            o.dtype = ELEMENTWISE_BOOL;
        ck_assert_int_eq(ew_plan_make(&p, layouts[i].op, &a, &b, -1, &o), 0);
        ck_assert_msg(!ew_pass_tiles(&p.pass) == layouts[i].alone, "%d",
                      (int)i);
    }
}
END_TEST

/* Steps of x, y and out; to which levels they are worth it, from base to
   AVX-512. */
START_TEST(rows_of_out_with_gaps_are_made_dense_first)
{
    enum { M = 1 << 20 };
    static const struct {
        elementwise_dtype type;
        int64_t shape[2], steps[3];
        elementwise_op op;
        bool scatters[3];
    } blocks[] = {
        {ELEMENTWISE_U8, {1, 1024}, {2, 2, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
        {ELEMENTWISE_U8, {1, 1023}, {2, 2, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_U8, {1, 8 * M}, {1, 1, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
        {ELEMENTWISE_U8, {1, 8 * M}, {1, 1, 5}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_F16, {1, 4 * M}, {1, 1, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
        {ELEMENTWISE_F16, {1, 4 * M}, {2, 2, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_F32, {1, 2 * M}, {1, 1, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_F32, {1, 2 * M}, {1, 1, 2}, ELEMENTWISE_EQUAL, {1, 1, 1}},
        {ELEMENTWISE_F32, {1, 4 * M}, {1, 1, 2}, ELEMENTWISE_EQUAL, {0, 0, 0}},
        {ELEMENTWISE_F64, {1, 1 * M}, {1, 1, 2}, ELEMENTWISE_EQUAL, {0, 0, 0}},
        {ELEMENTWISE_U8, {1, 4096}, {1, 1, 1}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_U8, {1, 4096}, {2, 1, 1}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_U8, {1, 4096}, {0, 0, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
        {ELEMENTWISE_U8, {40, 32}, {1, 1, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
        {ELEMENTWISE_F16, {1, 4096}, {1, 2, 9}, ELEMENTWISE_ADD, {1, 1, 1}},
        {ELEMENTWISE_I16, {1, 4096}, {3, 2, 2}, ELEMENTWISE_ADD, {0, 1, 1}},
        {ELEMENTWISE_F32, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MAX, {1, 1, 1}},
        {ELEMENTWISE_F32, {1, 4096}, {2, 2, 2}, ELEMENTWISE_MAX, {0, 0, 1}},
        {ELEMENTWISE_F64, {1, 4096}, {1, 0, 2}, ELEMENTWISE_MAX, {0, 0, 1}},
        {ELEMENTWISE_F64, {1, 4096}, {1, 0, 3}, ELEMENTWISE_MAX, {0, 0, 0}},
        {ELEMENTWISE_F64, {1, 4096}, {2, 0, 2}, ELEMENTWISE_MAX, {0, 0, 0}},
        {ELEMENTWISE_F64, {99, 127}, {1, 0, 2}, ELEMENTWISE_MAX, {0, 0, 0}},
        {ELEMENTWISE_F64, {1, 4096}, {2, 1, 2}, ELEMENTWISE_EQUAL, {0, 0, 1}},
        {ELEMENTWISE_C64, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MUL, {0, 0, 1}},
        {ELEMENTWISE_C64, {1, 4096}, {1, 1, 2}, ELEMENTWISE_DIV, {0, 0, 0}},
        {ELEMENTWISE_C128, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MUL, {0, 0, 0}}};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct elementwise_plan p;
        elementwise_tensor t[3];
        int64_t strides[3][2];
        for (int k = 0; k < 3; k++) {
            int64_t step = blocks[i].steps[k];
            strides[k][0] = step * (blocks[i].shape[1] + 1);
            strides[k][1] = step;
            t[k] = (elementwise_tensor){NULL, blocks[i].type, 2,
                                        blocks[i].shape, strides[k]};
        }
        if (blocks[i].op == ELEMENTWISE_EQUAL)
            t[2].dtype = ELEMENTWISE_BOOL;
        ck_assert_int_eq(
            ew_plan_make(&p, blocks[i].op, &t[0], &t[1], -1, &t[2]), 0);
        int level = _i < EW_LEVEL_AVX512 ? _i : EW_LEVEL_AVX512;
        bool scatters = p.pass.store || p.pass.deep;
        ck_assert_msg(scatters == blocks[i].scatters[level], "%d", (int)i);
        ck_assert(!p.pass.deep || !p.pass.store);
    }
}
END_TEST

/* In a tile that another input needs they are gathered whatever their step, and
   however few they are; such tiles have fewer rows where a column is a line. */
START_TEST(beside_a_turned_input_long_steps_are_gathered)
{
    static const struct {
        int64_t shape[2], down[2], y[2];
        elementwise_dtype type;
        bool gathers;
        int rows;
    } layouts[] = {
        {{1024, 1024}, {1, 1024}, {4096, 4}, ELEMENTWISE_F64, true, 16},
        {{1024, 1024}, {1, 1024}, {5120, 5}, ELEMENTWISE_F64, true, 16},
        {{1024, 1024}, {1, 1024}, {3072, 3}, ELEMENTWISE_F32, true, 16},
        {{1024, 1024}, {1, 1024}, {3072, 3}, ELEMENTWISE_F16, true, 32},
        {{5, 102}, {1, 5}, {306, 3}, ELEMENTWISE_F64, true, 16}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i].shape;
        elementwise_dtype type = layouts[i].type;
        elementwise_tensor a = {NULL, type, 2, shape, layouts[i].down};
        elementwise_tensor b = {NULL, type, 2, shape, layouts[i].y};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.turn, layouts[i].rows);
        ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, layouts[i].gathers);
    }
}
END_TEST

/* Their kernels would divide vectors of which much is empty. */
START_TEST(quotients_of_integers_are_folded_if_rows_leave_vectors_empty)
{
    static const struct {
        int64_t cols, y; /* y's stride along columns */
        elementwise_dtype type;
        bool fold;
    } layouts[] = {
        {49, 1, ELEMENTWISE_I32, true},  {48, 1, ELEMENTWISE_I32, false},
        {33, 1, ELEMENTWISE_I32, true},  {31, 1, ELEMENTWISE_I32, false},
        {49, 0, ELEMENTWISE_I32, false}, {129, 1, ELEMENTWISE_I32, false},
        {49, 1, ELEMENTWISE_F32, false}, {49, 1, ELEMENTWISE_I64, false}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        int64_t cols = layouts[i].cols, shape[] = {1000, cols};
        int64_t gaps[] = {cols + 1, 1}, with[] = {cols, layouts[i].y};
        elementwise_dtype type = layouts[i].type;
        elementwise_tensor a = {NULL, type, 2, shape, gaps};
        elementwise_tensor b = {NULL, type, 2, shape, with};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        elementwise_op op = ELEMENTWISE_FLOORDIV;
        ck_assert_int_eq(ew_plan_make(&p, op, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.fold, layouts[i].fold);
    }
}
END_TEST

/* However few elements there are, from 64 on, if nothing is copied for it
   alone: x is turned, or a row of y gathered. */
START_TEST(rows_of_tiles_that_are_there_anyway_are_folded)
{
    static const struct {
        int64_t rows, cols, x[2], y[2]; /* steps of rows and columns */
        bool folds;
    } layouts[] = {
        {5, 102, {1, 5}, {0, 0}, true},   {16, 4, {1, 16}, {0, 0}, true},
        {15, 4, {1, 15}, {0, 0}, false},  {13, 38, {1, 13}, {0, 1}, false},
        {40, 10, {10, 1}, {0, 3}, true},  {40, 10, {11, 1}, {0, 3}, false},
        {3, 150, {150, 1}, {0, 3}, false}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t shape[] = {layouts[i].rows, layouts[i].cols};
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, layouts[i].x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 2, shape, layouts[i].y};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_msg(p.pass.fold == layouts[i].folds, "layout %d", (int)i);
        ck_assert(ew_pass_tiles(&p.pass));
    }
}
END_TEST

/* The kernel keeps the inverses of one row, unless much of its vectors would be
   empty. */
START_TEST(quotients_of_c64_by_one_row_are_not_folded)
{
    static const struct {
        elementwise_op op;
        int64_t cols, y;
        bool folds;
    } rows[] = {{ELEMENTWISE_DIV, 8, 1, false}, {ELEMENTWISE_DIV, 9, 1, true},
                {ELEMENTWISE_DIV, 7, 1, true},  {ELEMENTWISE_DIV, 12, 1, false},
                {ELEMENTWISE_DIV, 12, 0, true}, {ELEMENTWISE_MUL, 12, 1, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elementwise_plan p;
        int64_t shape[] = {1024, rows[i].cols}, down[] = {1, 1024};
        int64_t one[] = {0, rows[i].y};
        elementwise_tensor a = {NULL, ELEMENTWISE_C64, 2, shape, down};
        elementwise_tensor b = {NULL, ELEMENTWISE_C64, 2, shape, one};
        elementwise_tensor o = {NULL, ELEMENTWISE_C64, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, rows[i].op, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.fold, rows[i].folds);
    }
}
END_TEST

/* So does that of quotients of 32 bits, of x that is dense, if out stays in the
   caches; not of remainders, nor of unsigned numbers without AVX-512. */
START_TEST(quotients_of_words_by_one_row_are_not_folded)
{
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t rows, cols, x;
        int level; /* from which on they are not */
    } calls[] = {
        {ELEMENTWISE_DIV, ELEMENTWISE_I32, 255, 49, 1, EW_LEVEL_AVX2},
        {ELEMENTWISE_FLOORDIV, ELEMENTWISE_I32, 255, 24, 1, EW_LEVEL_AVX2},
        {ELEMENTWISE_DIV, ELEMENTWISE_I32, 255, 23, 1, EW_LEVELS},
        {ELEMENTWISE_DIV, ELEMENTWISE_U32, 255, 24, 1, EW_LEVEL_AVX512},
        {ELEMENTWISE_MOD, ELEMENTWISE_I32, 255, 24, 1, EW_LEVELS},
        {ELEMENTWISE_DIV, ELEMENTWISE_I32, 255, 24, 2, EW_LEVELS},
        {ELEMENTWISE_DIV, ELEMENTWISE_I32, 1 << 20, 24, 1, EW_LEVELS}};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct elementwise_plan p;
        int64_t cols = calls[i].cols, shape[] = {calls[i].rows, cols};
        int64_t gaps[] = {cols * calls[i].x, calls[i].x};
        elementwise_dtype type = calls[i].type;
        elementwise_tensor a = {NULL, type, 2, shape, gaps};
        elementwise_tensor b = {NULL, type, 1, &shape[1], NULL};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, calls[i].op, &a, &b, -1, &o), 0);
        ck_assert_msg(p.pass.fold == (_i < calls[i].level), "call %d", (int)i);
    }
}
END_TEST

/* Where both inputs would go through buffers, or rows are lines, kernels take
   them by masks. */
START_TEST(short_rows_are_left_to_kernels_with_masks)
{
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t rows, cols, x, y; /* from row to row */
        bool masked;
    } plans[] = {{ELEMENTWISE_ADD, ELEMENTWISE_F32, 600, 8, 9, 0, true},
                 {ELEMENTWISE_MAX, ELEMENTWISE_I64, 600, 8, 8, 0, true},
                 {ELEMENTWISE_MUL, ELEMENTWISE_F64, 600, 7, 7, 0, false},
                 {ELEMENTWISE_SUB, ELEMENTWISE_I32, 600, 7, 9, 0, false},
                 {ELEMENTWISE_DIV, ELEMENTWISE_F32, 600, 8, 9, 0, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_C64, 600, 8, 9, 0, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F16, 600, 17, 19, 0, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F64, 31, 8, 9, 0, false}};
    elementwise_options relu = ELEMENTWISE_OPTIONS_INIT;
    relu.act = ELEMENTWISE_ACT_RELU;
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct elementwise_plan p;
        int64_t shape[] = {plans[i].rows, plans[i].cols};
        int64_t with_x[] = {plans[i].x, 1}, with_y[] = {plans[i].y, 1};
        elementwise_dtype type = plans[i].type;
        elementwise_tensor a = {NULL, type, 2, shape, with_x};
        elementwise_tensor b = {NULL, type, 2, shape, with_y};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, plans[i].op, &a, &b, -1, &o), 0);
        bool masked = plans[i].masked && p.level >= EW_LEVEL_AVX512;
        ck_assert_int_eq(p.pass.masked, masked);
        ck_assert_int_eq(masked && ew_pass_tiles(&p.pass), false);
        if (type != ELEMENTWISE_F32)
            continue;
        ck_assert_int_eq(ew_fuse_plan(&p, &relu), 0);
        ck_assert_int_eq(p.pass.masked, false);
        ck_assert_int_eq(p.pass.fold, shape[0] > 31);
    }
}
END_TEST

/* Calls on rows of the loop outside, if that is longer and rows are short and
   few. Kernels of AVX2 have no vectors for such rows: many are folded. */
START_TEST(few_rows_are_called_across)
{
    static const struct {
        int64_t shape[3];
        bool across, folded;
    } plans[] = {{{500, 3, 16}, true, true},     {{500, 13, 16}, false, false},
                 {{500, 3, 17}, false, false},   {{5, 3, 16}, false, false},
                 {{90000, 3, 16}, false, false}, {{6, 3, 16}, true, false}};
    char json[1000];
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct elementwise_plan p;
        const int64_t *n = plans[i].shape;
        int64_t with_x[] = {n[2] + 3, 0, 1}, with_y[] = {0, 1, 0};
        elementwise_tensor a = {NULL, ELEMENTWISE_F64, 3, n, with_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F64, 3, n, with_y};
        elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 3, n, NULL};
        elementwise_op op = ELEMENTWISE_LESS_THAN;
        ck_assert_int_eq(ew_plan_make(&p, op, &a, &b, -1, &o), 0);
        bool folded = plans[i].folded && p.level == EW_LEVEL_AVX2;
        bool across = plans[i].across && !folded;
        ck_assert(ew_pass_tiles(&p.pass) || !folded);
        ck_assert_int_eq(p.pass.across, across ? 128 : 0);
        elementwise_plan_describe(&p, json, sizeof json);
        ck_assert_int_eq(strstr(json, "\"rows\":\"across\"") != NULL, across);
    }
}
END_TEST

/* Of rows that one of an input is shared by, those that leave much of their
   last vector empty are calls of several, if they are short and many; of few
   elements even rows that would be folded. */
START_TEST(a_short_row_that_many_share_is_repeated)
{
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t rows, cols;
        bool repeated;
    } plans[] = {{ELEMENTWISE_ADD, ELEMENTWISE_F32, 64, 49, true},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F32, 63, 49, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F16, 32, 49, true},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F16, 31, 49, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_U8, 64, 97, true},
                 {ELEMENTWISE_ADD, ELEMENTWISE_U8, 64, 161, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F32, 64, 48, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F16, 64, 257, false},
                 {ELEMENTWISE_DIV, ELEMENTWISE_I32, 255, 49, false},
                 {ELEMENTWISE_DIV, ELEMENTWISE_I32, 256, 49, true},
                 {ELEMENTWISE_LESS_THAN, ELEMENTWISE_F64, 64, 49, true},
                 {ELEMENTWISE_LESS_THAN, ELEMENTWISE_F64, 64, 300, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F32, 8192, 3, true},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F32, 8193, 3, false},
                 {ELEMENTWISE_ADD, ELEMENTWISE_F32, 8193, 49, true}};
    char json[1000];
    for (size_t i = 0; i < 2 * sizeof plans / sizeof *plans; i++) {
        int64_t shape[] = {plans[i / 2].rows, plans[i / 2].cols};
        elementwise_op op = plans[i / 2].op;
        elementwise_dtype type = plans[i / 2].type;
        bool compares = op == ELEMENTWISE_LESS_THAN, y_shared = i % 2;
        elementwise_tensor a = {NULL, type, 2, shape, NULL};
        elementwise_tensor b = {NULL, type, 1, shape + 1, NULL};
        elementwise_tensor o = {NULL, compares ? ELEMENTWISE_BOOL : type, 2,
                                shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, op, y_shared ? &a : &b,
                                      y_shared ? &b : &a, -1, &o),
                         0);
        int repeated = ew_pass_repeated(&p.pass);
        ck_assert_int_eq(repeated, !plans[i / 2].repeated ? 0
                                   : y_shared             ? 2
                                                          : 1);
        if (!repeated)
            continue;
        elementwise_plan_describe(&p, json, sizeof json);
        ck_assert_ptr_nonnull(strstr(
            json, y_shared ? "\"x_input\":\"as is\",\"y_input\":\"repeated\","
                             "\"rows\":\"folded\""
                           : "\"x_input\":\"repeated\",\"y_input\":\"as is\""));
    }
}
END_TEST

START_TEST(a_plan_says_what_is_done_to_its_inputs)
{
    static const struct {
        int64_t shape[2], x[2], y[2];
        const char *says;
    } plans[] = {
        {{64, 64},
         {64, 1},
         {0, 1},
         "\"x_input\":\"as is\",\"y_input\":\"as is\",\"rows\":\"as is\""},
        {{64, 64},
         {1, 64},
         {0, 1},
         "\"x_input\":\"transposed\",\"y_input\":\"repeated\",\"rows\":"
         "\"folded\""},
        {{64, 64},
         {128, 2},
         {64, -1},
         "\"x_input\":\"gathered\",\"y_input\":\"gathered\","},
        {{900, 3},
         {4, 1},
         {0, 1},
         "\"x_input\":\"packed\",\"y_input\":\"repeated\",\"rows\":\"folded\""},
        {{900, 3},
         {3, 1},
         {1, 0},
         "\"x_input\":\"as is\",\"y_input\":\"spread\",\"rows\":\"folded\","
         "\"tile\":[],\"kept\":[],\"stores\":\"as usual\""}};
    char json[1000];
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, plans[i].shape,
                                plans[i].x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 2, plans[i].shape,
                                plans[i].y};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 2, plans[i].shape, NULL};
        elementwise_plan *p;
        ck_assert_int_eq(
            elementwise_plan_create(&p, ELEMENTWISE_ADD, &a, &b, -1, &o, NULL),
            0);
        elementwise_plan_describe(p, json, sizeof json);
        elementwise_plan_destroy(p);
        ck_assert_ptr_nonnull(strstr(json, plans[i].says));
    }
}
END_TEST

/* Lines of the next tile are asked for where tiles share them, out of the L2
   cache. */
/* Those of out, where stores wait for no lines, from 8 MiB on. */
START_TEST(tiles_of_several_loops_ask_for_lines_that_they_share)
{
    static const struct {
        int64_t shape[3];
        bool x, out, distant;
    } layouts[] = {{{419, 1502, 3}, 1, 1, 0},  {{448, 1536, 3}, 0, 0, 0},
                   {{448, 1537, 3}, 0, 1, 0},  {{419, 1536, 3}, 1, 0, 0},
                   {{1024, 1024, 3}, 1, 1, 1}, {{419, 1702, 3}, 1, 1, 0},
                   {{119, 150, 3}, 0, 0, 0}};
    static const int64_t one[] = {1};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        const int64_t *shape = layouts[i / 2].shape;
        const int64_t bac[] = {3, 3 * shape[0], 1};
        const bool distant = layouts[i / 2].distant;
        const bool large = shape[0] * shape[1] * shape[2] >= 2 << 20;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, bac};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 1, one, NULL};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
        struct elementwise_plan p;
        ew_cpu_tune(i % 2 ? EW_QUICK_STORES : 0);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.deep, 3);
        ck_assert_int_eq(p.pass.ahead[EW_X], layouts[i / 2].x);
        ck_assert_int_eq(p.pass.ahead[EW_OUT],
                         layouts[i / 2].out && (i % 2 == 0 || large));
        ck_assert_int_eq(p.pass.ahead[EW_Y], distant);
        ck_assert_int_eq(p.pass.distant, distant);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Plans op of x and y, of which x is transposed, or both, or y alone, or y has
   gaps. */
static void plan_turned_by(struct elementwise_plan *p, elementwise_op op,
                           const int64_t shape[2], elementwise_dtype type,
                           elementwise_dtype made, char beside)
{
    const int64_t strides[] = {1, shape[0]};
    const int64_t gaps[] = {2 * shape[1], 2};
    const int64_t *y_strides = beside == 't' ? strides : NULL;
    elementwise_tensor a = {NULL, type, 2, shape, strides};
    elementwise_tensor b = {NULL, type, 2, shape,
                            beside == 'g' ? gaps : y_strides};
    elementwise_tensor o = {NULL, made, 2, shape, NULL};
    bool exchanged = beside == 'y';
    ck_assert_int_eq(
        ew_plan_make(p, op, exchanged ? &b : &a, exchanged ? &a : &b, -1, &o),
        0);
}

static void plan_turned(struct elementwise_plan *p, const int64_t shape[2],
                        elementwise_dtype type, char beside)
{
    plan_turned_by(p, ELEMENTWISE_ADD, shape, type, type, beside);
}

/* Checks, of layout i, the rows of a tile, whether all that it reads is asked
   for, and of what lines are: `ahead` is of what is turned, and beside it. */
static void check_turned(const struct ew_pass *pass, size_t i, int rows,
                         bool distant, const char ahead[2])
{
    ck_assert_msg(pass->turn == rows && pass->distant == distant,
                  "%d: %d rows, %d", (int)i, pass->turn, pass->distant);
    for (int k = 0; k < 2; k++)
        ck_assert_msg(pass->ahead[k] == (ahead[k] != '-'), "%d: input %d",
                      (int)i, k);
}

/* Rows of a tile, and of what lines are asked for. */
START_TEST(turned_tiles_have_a_shape_for_each_type)
{
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        bool both;
        int rows;
        const char *ahead; /* of what: turned, beside it */
        bool streams;
    } layouts[] = {{{2048, 2048}, ELEMENTWISE_U8, 0, 32, "-b", 1},
                   {{2048, 2048}, ELEMENTWISE_F16, 0, 32, "-b", 1},
                   {{2048, 2048}, ELEMENTWISE_F32, 0, 32, "-b", 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 0, 32, "tb", 1},
                   {{2048, 2048}, ELEMENTWISE_U8, 1, 64, "--", 1},
                   {{2048, 2048}, ELEMENTWISE_F32, 1, 64, "tt", 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 1, 64, "--", 1},
                   {{1024, 1024}, ELEMENTWISE_F32, 0, 32, "-b", 1},
                   {{1024, 960}, ELEMENTWISE_F32, 0, 32, "--", 0},
                   /* rows start anywhere in a line */
                   {{2100, 2100}, ELEMENTWISE_U8, 0, 32, "-b", 0},
                   {{2100, 2100}, ELEMENTWISE_F16, 0, 32, "-b", 0},
                   {{2100, 2101}, ELEMENTWISE_F32, 0, 32, "-b", 1}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned(&p, layouts[i].shape, layouts[i].type,
                    layouts[i].both ? 't' : 0);
        check_turned(&p.pass, i, layouts[i].rows, false, layouts[i].ahead);
        ck_assert_int_eq(p.pass.stream != NULL, layouts[i].streams);
    }
}
END_TEST

/* The same where processors read little ahead of tiles: what comes from memory,
   18 MiB of all operands, is asked for if columns are pairs of lines that lie
   apart, and large elements are in tiles of less rows. Where tiles share lines
   of out, or come from the caches, they are a line of what is turned high. */
START_TEST(turned_tiles_ask_for_all_from_memory_where_processors_do_not)
{
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        char beside; /* transposed, with gaps, or dense */
        int rows;
        bool distant, streams;
    } layouts[] = {{{2048, 2048}, ELEMENTWISE_U8, 0, 32, 0, 1},
                   {{2048, 2048}, ELEMENTWISE_F16, 0, 32, 0, 1},
                   {{2048, 2048}, ELEMENTWISE_F16, 't', 64, 1, 1},
                   {{2048, 2048}, ELEMENTWISE_F32, 0, 32, 1, 1},
                   {{1024, 1536}, ELEMENTWISE_F32, 0, 32, 1, 1},
                   {{1024, 1520}, ELEMENTWISE_F32, 0, 32, 0, 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 0, 16, 1, 1},
                   {{512, 1024}, ELEMENTWISE_F64, 0, 32, 0, 1},
                   {{2048, 2048}, ELEMENTWISE_F32, 't', 64, 1, 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 't', 32, 1, 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 'g', 16, 0, 1},
                   {{1 << 15, 48}, ELEMENTWISE_F64, 0, 32, 0, 1},
                   /* columns of less than two lines, or near each other */
                   {{24, 1 << 17}, ELEMENTWISE_F32, 0, 32, 0, 1},
                   {{48, 1 << 16}, ELEMENTWISE_F32, 0, 32, 0, 1},
                   {{48, 1 << 16}, ELEMENTWISE_F32, 'y', 32, 0, 1},
                   {{64, 1 << 15}, ELEMENTWISE_F32, 'y', 32, 1, 1},
                   {{64, 1 << 15}, ELEMENTWISE_F32, 0, 32, 1, 1},
                   /* rows start anywhere in a line */
                   {{2100, 2101}, ELEMENTWISE_F32, 0, 16, 1, 1},
                   {{1990, 2101}, ELEMENTWISE_F32, 't', 16, 0, 1},
                   {{1990, 2101}, ELEMENTWISE_F64, 0, 8, 1, 1},
                   {{1300, 1301}, ELEMENTWISE_F64, 0, 8, 1, 1},
                   {{1100, 1101}, ELEMENTWISE_F64, 0, 8, 0, 1},
                   {{1990, 2101}, ELEMENTWISE_F64, 't', 8, 1, 1},
                   {{900, 1001}, ELEMENTWISE_F64, 't', 8, 0, 1},
                   {{31, 1 << 17 | 1}, ELEMENTWISE_F64, 't', 64, 0, 1},
                   {{1990, 2101}, ELEMENTWISE_F64, 'g', 8, 0, 1},
                   {{1990, 2101}, ELEMENTWISE_F16, 0, 32, 0, 0},
                   {{500, 500}, ELEMENTWISE_F32, 0, 16, 0, 0},
                   {{500, 500}, ELEMENTWISE_F16, 0, 32, 0, 0},
                   /* or from the caches, wherever they start */
                   {{500, 500}, ELEMENTWISE_F32, 't', 16, 0, 0},
                   {{500, 500}, ELEMENTWISE_F64, 't', 8, 0, 0},
                   {{960, 1024}, ELEMENTWISE_F32, 0, 16, 0, 0},
                   {{960, 512}, ELEMENTWISE_F64, 0, 8, 0, 0},
                   /* or are short, and dense in a tile */
                   {{1 << 16, 126}, ELEMENTWISE_F32, 0, 32, 0, 1},
                   {{1 << 15, 130}, ELEMENTWISE_F32, 0, 16, 1, 1}};
    if (!support_level(EW_LEVEL_AVX512)) /* below, vectors wait there */
        return;
    ew_cpu_tune(EW_LATE_READS | EW_SMALL_CACHE);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned(&p, layouts[i].shape, layouts[i].type, layouts[i].beside);
        ck_assert_msg(p.pass.turn == layouts[i].rows &&
                          p.pass.distant == layouts[i].distant &&
                          (p.pass.stream != NULL) == layouts[i].streams,
                      "%d: %d rows, %d, %d", (int)i, p.pass.turn,
                      p.pass.distant, p.pass.stream != NULL);
        ck_assert(!p.pass.distant ||
                  (p.pass.ahead[EW_X] && p.pass.ahead[EW_Y]));
    }
}
END_TEST

/* Wide tiles of results of a byte took longer from the caches: these are so
   only from beyond the L2 cache, where rows start anywhere. */
START_TEST(turned_tiles_of_results_of_a_byte_are_wide_from_memory)
{
    static const struct {
        int64_t shape[2];
        int rows;
    } layouts[] = {{{500, 500}, 32},
                   {{960, 512}, 32},
                   {{1300, 1301}, 16},
                   {{1300, 1344}, 32}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_LATE_READS);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t *shape = layouts[i].shape, strides[] = {1, shape[0]};
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, strides};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_LESS_THAN, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.turn, layouts[i].rows);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* From 48 MiB of all operands on, or 64 where tiles share lines of out. */
START_TEST(turned_tiles_ask_later_where_the_last_cache_is_large)
{
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        int rows;
        bool distant;
        const char *ahead; /* of what: turned, beside it */
    } layouts[] = {{{2048, 2048}, ELEMENTWISE_F32, 32, 1, "tb"},
                   {{1984, 1984}, ELEMENTWISE_F32, 32, 0, "-b"},
                   {{2048, 2048}, ELEMENTWISE_F64, 16, 1, "tb"},
                   {{1990, 2101}, ELEMENTWISE_F32, 16, 0, "-b"},
                   {{1990, 2101}, ELEMENTWISE_F64, 8, 1, "tb"},
                   {{1300, 1301}, ELEMENTWISE_F64, 8, 0, "-b"}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_LATE_READS);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned(&p, layouts[i].shape, layouts[i].type, 0);
        check_turned(&p.pass, i, layouts[i].rows, layouts[i].distant,
                     layouts[i].ahead);
    }
}
END_TEST

/* Of bytes and, with AVX-512, halves, by operations that wait for memory. */
START_TEST(turned_tiles_of_small_elements_have_more_rows_or_ask_for_less)
{
    enum {
        U8 = ELEMENTWISE_U8,
        F16 = ELEMENTWISE_F16,
        F32 = ELEMENTWISE_F32,
        BOOL = ELEMENTWISE_BOOL,
        ADD = ELEMENTWISE_ADD,
        DIV = ELEMENTWISE_DIV,
        LESS = ELEMENTWISE_LESS_THAN
    };
    static const struct {
        int level;
        int64_t shape[2];
        int op, type, out;
        char beside;
        int rows;
        bool distant;
        const char *ahead; /* of what: turned, beside it */
    } layouts[] = {
        {EW_LEVEL_AVX2, {1920, 1920}, ADD, U8, U8, 0, 32, 0, "--"},
        {EW_LEVEL_AVX2, {2048, 2048}, ADD, U8, U8, 0, 64, 0, "-b"},
        {EW_LEVEL_AVX2, {2048, 2048}, LESS, U8, BOOL, 0, 64, 0, "-b"},
        {EW_LEVEL_AVX2, {2048, 2048}, DIV, U8, U8, 0, 32, 0, "-b"},
        {EW_LEVEL_AVX2, {2048, 2048}, ADD, U8, F32, 0, 32, 0, "-b"},
        {EW_LEVEL_AVX2, {2048, 2048}, ADD, U8, U8, 'g', 32, 0, "--"},
        {EW_LEVEL_AVX2, {4096, 4096}, ADD, U8, U8, 0, 64, 1, "tb"},
        {EW_LEVEL_AVX2, {255, 65536}, ADD, U8, U8, 0, 32, 0, "-b"},
        {EW_LEVEL_AVX2, {256, 65536}, ADD, U8, U8, 0, 64, 1, "tb"},
        {EW_LEVEL_AVX2, {3008, 3008}, ADD, F16, F16, 0, 32, 0, "tb"},
        {EW_LEVEL_AVX512, {2816, 2816}, ADD, F16, F16, 0, 32, 0, "-b"},
        {EW_LEVEL_AVX512, {3008, 3008}, ADD, F16, F16, 0, 64, 1, "tb"},
        {EW_LEVEL_AVX512, {3008, 3008}, DIV, F16, F16, 0, 32, 0, "tb"},
        {EW_LEVEL_AVX512, {3008, 3008}, ADD, F16, F16, 't', 64, 1, "tt"},
        /* in rows that start anywhere in a line */
        {EW_LEVEL_AVX2, {2101, 2101}, ADD, U8, U8, 0, 32, 0, "--"},
        {EW_LEVEL_AVX2, {2501, 2601}, ADD, U8, U8, 0, 32, 0, "t-"},
        {EW_LEVEL_AVX2, {5001, 5001}, ADD, U8, U8, 0, 32, 0, "t-"},
        {EW_LEVEL_AVX2, {2501, 2601}, DIV, U8, U8, 0, 32, 0, "-b"},
        {EW_LEVEL_AVX2, {2501, 2601}, ADD, F16, F16, 0, 32, 0, "-b"},
        {EW_LEVEL_AVX512, {5001, 5001}, ADD, F16, F16, 0, 32, 0, "t-"}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        if (!support_level(layouts[i].level))
            continue;
        ew_cpu_tune(EW_LATE_READS);
        plan_turned_by(&p, (elementwise_op)layouts[i].op, layouts[i].shape,
                       (elementwise_dtype)layouts[i].type,
                       (elementwise_dtype)layouts[i].out, layouts[i].beside);
        check_turned(&p.pass, i, layouts[i].rows, layouts[i].distant,
                     layouts[i].ahead);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* From 18 MiB on below AVX-512 beside a small cache, or 12 where few lines are
   read at once, of columns that are lines, whether rows start in a line or not.
 */
START_TEST(turned_tiles_ask_sooner_where_vectors_wait)
{
    enum { FEW = EW_SMALL_CACHE | EW_FEW_READS };
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        unsigned ways;
        bool distant;
    } layouts[] = {{{1001, 1101}, ELEMENTWISE_F32, FEW, true},
                   {{1001, 1101}, ELEMENTWISE_F32, 0, false},
                   {{1001, 1001}, ELEMENTWISE_F32, FEW, false},
                   {{1024, 1088}, ELEMENTWISE_F32, FEW, true},
                   {{1024, 960}, ELEMENTWISE_F32, FEW, false},
                   {{2048, 2048}, ELEMENTWISE_F16, FEW, true},
                   {{1024, 960}, ELEMENTWISE_F16, FEW, false},
                   {{4096, 4096}, ELEMENTWISE_U8, FEW, false},
                   {{1024, 1088}, ELEMENTWISE_F32, EW_SMALL_CACHE, false},
                   {{1001, 1601}, ELEMENTWISE_F32, EW_SMALL_CACHE, true},
                   {{1001, 1501}, ELEMENTWISE_F32, EW_SMALL_CACHE, false}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        ew_cpu_tune(EW_LATE_READS | layouts[i].ways);
        plan_turned(&p, layouts[i].shape, layouts[i].type, 0);
        ck_assert_msg(p.pass.distant == layouts[i].distant, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Elements of 16 bytes that become bytes are in wide tiles, and what they need
   is asked for as far as inputs are large. */
START_TEST(turned_tiles_of_large_elements_that_become_bytes_are_wide)
{
    static const struct {
        int64_t shape[2];
        int rows;
        bool distant;
    } layouts[] = {{{600, 158}, 8, 0}, {{6636, 158}, 4, 1}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_LATE_READS | EW_SMALL_CACHE);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t *shape = layouts[i].shape, down[] = {1, shape[0]};
        elementwise_tensor a = {NULL, ELEMENTWISE_C128, 2, shape, NULL};
        elementwise_tensor b = {NULL, ELEMENTWISE_C128, 2, shape, down};
        elementwise_tensor o = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_LOGICAL_AND, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.turn, layouts[i].rows);
        ck_assert_int_eq(p.pass.distant, layouts[i].distant);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Out has gaps in all its rows, and inputs are dense along another loop: rows
   are theirs, or all are turned if out is scattered under masks. */
START_TEST(rows_are_those_of_inputs_where_out_has_gaps)
{
    enum way { OUTS, INPUTS, TURNED };
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t shape[3], out[3];
        enum way base, masks;
    } layouts[] = {
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {40, 3, 32}, {192, 2, 6}, 1, 1},
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 402, 326}, {1, 2, 804}, 1, 1},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {1, 402, 326}, {1, 2, 804}, 1, 2},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {1, 402, 326}, {1, 8, 3216}, 1, 1},
        {ELEMENTWISE_ADD, ELEMENTWISE_U8, {1, 402, 326}, {1, 2, 804}, 1, 2},
        /* lines of out in a few places of a cache, or too many of them */
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 512, 65}, {1, 2, 1024}, 0, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 99, 513}, {1, 2, 202}, 0, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 99, 512}, {1, 2, 202}, 1, 1},
        /* rows of three; out's are dense; bytes; halves */
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 402, 3}, {1, 2, 804}, 0, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 402, 326}, {1, 1, 402}, 0, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_U8, {30, 40, 20}, {3, 90, 3610}, 0, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F16, {1, 402, 15}, {1, 40, 16082}, 0, 1},
        {ELEMENTWISE_POW, ELEMENTWISE_F16, {1, 40, 326}, {1, 40, 1604}, 0, 0}};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        int level = i % 2 ? EW_LEVEL_AVX512 : EW_LEVEL_BASE;
        enum way way = i % 2 ? layouts[i / 2].masks : layouts[i / 2].base;
        elementwise_dtype type = layouts[i / 2].type;
        const int64_t *shape = layouts[i / 2].shape;
        elementwise_tensor a = {NULL, type, 3, shape, NULL};
        elementwise_tensor o = {NULL, type, 3, shape, layouts[i / 2].out};
        struct elementwise_plan p;
        ew_cpu_limit(level);
        if (ew_cpu_level() != level)
            continue;
        ck_assert_int_eq(ew_plan_make(&p, layouts[i / 2].op, &a, &a, -1, &o),
                         0);
        const struct ew_loop *row = &p.loop[0];
        bool along = row->stride[EW_X] == p.pass.stored[EW_X];
        bool turned = p.pass.turn && ew_strategy_scatters(&p);
        ck_assert_msg(along == (way == INPUTS) && turned == (way == TURNED),
                      "%d", (int)i);
        ck_assert(!along || !ew_pass_tiles(&p.pass));
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* A plan for x op y along which loop each tile goes, 0 if along none, and the
   rows of a tile. */
START_TEST(tiles_go_along_loops_where_a_packed_input_stands_still)
{
    static const struct {
        int64_t shape[3], x[3], y[3];
        elementwise_dtype type;
        int again, rows;
    } layouts[] = {
        /* y is turned: 8 rows, or more of small elements; out is stored as
           usual, */
        {{5, 200, 500}, {100000, 500, 1}, {0, 1, 200}, ELEMENTWISE_F32, 2, 8},
        {{5, 200, 500}, {100000, 500, 1}, {0, 1, 200}, ELEMENTWISE_U8, 2, 32},
        /* past the caches, in whole rows, or in pieces */
        {{20, 256, 256}, {65536, 256, 1}, {0, 1, 256}, ELEMENTWISE_F32, 2, 8},
        {{9, 256, 512}, {131072, 512, 1}, {0, 1, 256}, ELEMENTWISE_F32, 2, 8},
        /* in the other order of loops; y stands still along rows alone */
        {{200, 5, 500}, {2500, 500, 1}, {1, 0, 200}, ELEMENTWISE_F32, 2, 8},
        {{5, 200, 500}, {100000, 1, 200}, {500, 0, 1}, ELEMENTWISE_F32, 0, 32},
        /* y is gathered, rows of it one by one, or a row in pieces */
        {{5, 200, 500}, {100000, 500, 1}, {0, 1001, 2}, ELEMENTWISE_F32, 2, 0},
        {{5, 1, 9000}, {9000, 0, 1}, {0, 0, 2}, ELEMENTWISE_F32, 1, 0},
        {{5, 1, 2000}, {2000, 0, 1}, {0, 0, 2}, ELEMENTWISE_F64, 0, 0},
        /* beside x, which is turned, as y may be */
        {{5, 200, 500}, {100000, 1, 200}, {0, 1000, 2}, ELEMENTWISE_F32, 2, 16},
        {{5, 200, 500}, {300000, 3, 600}, {0, 1, 200}, ELEMENTWISE_F32, 2, 64}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = layouts[i].type;
        const int64_t *shape = layouts[i].shape;
        elementwise_tensor a = {NULL, type, 3, shape, layouts[i].x};
        elementwise_tensor b = {NULL, type, 3, shape, layouts[i].y};
        elementwise_tensor o = {NULL, type, 3, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_msg(
            p.pass.again == layouts[i].again && p.pass.turn == layouts[i].rows,
            "%d: loop %d, %d rows", (int)i, p.pass.again, p.pass.turn);
        ck_assert_int_eq(ew_strategy_keeps(&p, EW_Y), layouts[i].again > 0);
        ck_assert(!ew_strategy_keeps(&p, EW_X));
    }
}
END_TEST

/* y is more than caches keep until the next step reads it again: each piece of
   it serves all steps, whether it is a part of a row or some rows. */
START_TEST(large_inputs_that_stand_still_are_read_again_while_they_are_near)
{
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t shape[3], y[3];
        int again;
    } layouts[] = {
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 1, 196608}, {0, 0, 1}, 1},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 1, 196607}, {0, 0, 1}, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 200, 1000}, {0, 1001, 1}, 2},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 190, 1000}, {0, 1001, 1}, 0},
        /* out goes past the caches, which leaves room there */
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {24, 1, 262144}, {0, 0, 1}, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {14, 1, 393216}, {0, 0, 1}, 1},
        /* inverses of a row are found once for all that are divided by it */
        {ELEMENTWISE_DIV, ELEMENTWISE_C64, {8, 1, 196608}, {0, 0, 1}, 0}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = layouts[i].type;
        const int64_t *shape = layouts[i].shape;
        elementwise_tensor a = {NULL, type, 3, shape, NULL};
        elementwise_tensor b = {NULL, type, 3, shape, layouts[i].y};
        ck_assert_int_eq(ew_plan_make(&p, layouts[i].op, &a, &b, -1, &a), 0);
        ck_assert_msg(p.pass.again == layouts[i].again, "%d: loop %d", (int)i,
                      p.pass.again);
        ck_assert_int_eq(ew_strategy_keeps(&p, EW_Y), layouts[i].again > 0);
        ck_assert(!p.calls || !layouts[i].again);
    }
}
END_TEST

/* Where processors read rows ahead but no pieces of them, large ones are left
   whole, unless they are pieces anyway. */
START_TEST(large_inputs_are_read_row_by_row_where_the_last_cache_is_small)
{
    static const struct {
        int64_t row;
        bool converts;
        int again;
    } layouts[] = {{196608, 0, 1},
                   {262143, 0, 1},
                   {262144, 0, 0},
                   {786432, 0, 0},
                   {262144, 1, 1}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_SMALL_CACHE);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t shape[] = {8, layouts[i].row};
        elementwise_dtype type =
            layouts[i].converts ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 1, shape + 1, NULL};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_msg(p.pass.again == layouts[i].again, "%d: loop %d", (int)i,
                      p.pass.again);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* x is turned; `next` bytes on in it lies what the next block has, in the order
   of its memory where a column of it is short. If a block is several tiles,
   each goes that way before the next tile. */
START_TEST(tiles_of_a_turned_input_follow_where_it_reads_on)
{
    static const struct {
        int64_t shape[4], x[4];
        int again;
        int64_t next;
    } layouts[] = {{{8, 64, 4, 2048}, {1, 8, 512, 2048}, 2, 8},
                   {{8, 64, 4, 500}, {1, 8, 512, 2048}, 0, 8},
                   {{320, 8, 4, 1000}, {1, 320, 2560, 10240}, 0, 320},
                   /* less than 1 MiB */
                   {{8, 64, 2, 500}, {1, 8, 512, 1024}, 0, 512}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t *shape = layouts[i].shape;
        elementwise_tensor a = {NULL, ELEMENTWISE_U16, 4, shape, layouts[i].x};
        elementwise_tensor b = {NULL, ELEMENTWISE_U16, 0, NULL, NULL};
        elementwise_tensor o = {NULL, ELEMENTWISE_U16, 4, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_str_eq(ew_strategy_input(&p, EW_X), "transposed");
        ck_assert_msg(p.pass.again == layouts[i].again &&
                          p.loop[2].stride[EW_X] == 2 * layouts[i].next,
                      "%d: loop %d, then %d bytes on", (int)i, p.pass.again,
                      (int)p.loop[2].stride[EW_X]);
    }
}
END_TEST

/* Of a block too large to stay until its lines are read again, which neighbours
   in the loop outside have; the last cache is small. */
START_TEST(tiles_of_a_turned_input_follow_where_they_have_the_same_lines)
{
    static const struct {
        int64_t shape[3], x[3];
        bool again;
    } layouts[] = {{{3, 600, 1100}, {1, 3, 1800}, true},
                   {{3, 600, 1100}, {600, 1, 1800}, false},
                   {{3, 200, 400}, {1, 3, 600}, false}}; /* less than 1 MiB */
    for (size_t i = 0; i < 2 * (sizeof layouts / sizeof *layouts); i++) {
        const int64_t *shape = layouts[i / 2].shape;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape,
                                layouts[i / 2].x};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
        struct elementwise_plan p;
        bool small = i % 2;
        ew_cpu_tune(small ? EW_SMALL_CACHE : EW_TUNINGS - 1 - EW_SMALL_CACHE);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &o, -1, &o), 0);
        ck_assert_str_eq(ew_strategy_input(&p, EW_X), "transposed");
        ck_assert_msg((p.pass.again == 2) == (small && layouts[i / 2].again),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Beside a turned input rows of two lines and more from 8 MiB on. */
START_TEST(short_rows_of_whole_lines_go_past_the_caches)
{
    static const struct {
        int64_t shape[2], pitch;
        bool streams;
    } outputs[] = {{{65536, 32}, 64, true},
                   {{65535, 32}, 64, false},
                   {{65536, 32}, 66, false},
                   {{65536, 40}, 64, false},
                   {{131072, 16}, 64, false}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct elementwise_plan p;
        const int64_t *shape = outputs[i].shape;
        const int64_t across[] = {1, shape[0]}, rows[] = {outputs[i].pitch, 1};
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, across};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 2, shape, rows};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &o, -1, &o), 0);
        ck_assert_int_ne(p.pass.turn, 0);
        ck_assert_int_eq(p.pass.stream != NULL, outputs[i].streams);
        ck_assert_int_eq(p.pass.lines, outputs[i].streams);
    }
}
END_TEST

/* Beside a turned input an element for each row is spread, for rows that end
   anywhere in a line and are stored past the caches, of 4 MiB and more. */
START_TEST(rows_with_an_element_each_are_folded_if_they_end_within_lines)
{
    static const struct {
        int64_t shape[2];
        bool folds;
    } outputs[] = {{{29960, 35}, true},
                   {{29959, 35}, false},
                   {{29960, 64}, false},
                   {{29960, 127}, true},
                   {{29960, 129}, false}};
    for (size_t i = 0; i < 2 * sizeof outputs / sizeof *outputs; i++) {
        struct elementwise_plan p;
        const int64_t *shape = outputs[i / 2].shape;
        const int64_t across[] = {1, shape[0]}, each[] = {1, 0};
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, across};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 2, shape, each};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, i % 2 ? &a : &b,
                                      i % 2 ? &b : &a, -1, &o),
                         0);
        ck_assert_int_ne(p.pass.turn, 0);
        ck_assert_msg(p.pass.fold == outputs[i / 2].folds, "%d", (int)i);
    }
}
END_TEST

/* Of 24 MiB and more; by which operations, and of which rows. Where
   stores wait for no lines, all go past the caches. */
START_TEST(rows_of_slow_operations_are_stored_as_usual)
{
    static const int64_t rows[] = {125000, 101}, row[] = {101},
                         all[] = {12 << 20}, column[] = {125000, 1};
    const struct {
        elementwise_op op;
        elementwise_dtype type;
        int ndim, y_ndim;
        const int64_t *shape, *y_shape;
        bool streams, slow;
    } calls[] = {
        {ELEMENTWISE_MOD, ELEMENTWISE_F32, 2, 1, rows, row, false, false},
        {ELEMENTWISE_MOD, ELEMENTWISE_I32, 2, 1, rows, row, false, false},
        {ELEMENTWISE_MOD, ELEMENTWISE_F32, 2, 2, rows, column, false, false},
        {ELEMENTWISE_MOD, ELEMENTWISE_I32, 2, 2, rows, column, true, false},
        {ELEMENTWISE_MOD, ELEMENTWISE_F32, 1, 1, all, all, true, true},
        {ELEMENTWISE_ATAN2, ELEMENTWISE_F32, 2, 1, rows, row, true, false},
        {ELEMENTWISE_ATAN2, ELEMENTWISE_F32, 1, 1, all, all, true, true},
        {ELEMENTWISE_NEXTAFTER, ELEMENTWISE_F32, 2, 1, rows, row, true, false},
        {ELEMENTWISE_NEXTAFTER, ELEMENTWISE_F32, 1, 1, all, all, true, false},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, 2, 1, rows, row, true, false},
        {ELEMENTWISE_FMAX, ELEMENTWISE_F32, 1, 1, all, all, true, false},
        {ELEMENTWISE_FMIN, ELEMENTWISE_F32, 2, 1, rows, row, true, false},
        {ELEMENTWISE_DIV, ELEMENTWISE_C64, 1, 1, all, all, true, false},
        {ELEMENTWISE_DIV, ELEMENTWISE_F32, 2, 1, rows, row, true, false},
        {ELEMENTWISE_DIV, ELEMENTWISE_F16, 2, 1, rows, row, false, false},
        {ELEMENTWISE_TRUNCDIV, ELEMENTWISE_BF16, 1, 1, all, all, true, true},
        {ELEMENTWISE_DIV, ELEMENTWISE_F16, 2, 2, rows, column, true, false},
        {ELEMENTWISE_MUL, ELEMENTWISE_F16, 1, 1, all, all, true, false},
        {ELEMENTWISE_MAX, ELEMENTWISE_I32, 1, 1, all, all, true, false},
        {ELEMENTWISE_HEAVISIDE, ELEMENTWISE_F32, 2, 1, rows, row, true, false},
        {ELEMENTWISE_TRUNCDIV, ELEMENTWISE_F64, 1, 1, all, all, true, false},
        {ELEMENTWISE_TRUNCDIV, ELEMENTWISE_I32, 2, 1, rows, row, false, false},
        {ELEMENTWISE_DIV, ELEMENTWISE_C128, 2, 2, rows, column, false, false},
        {ELEMENTWISE_POW, ELEMENTWISE_C64, 1, 1, all, all, true, true},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, 1, 1, all, all, true, false}};
    for (size_t i = 0; i < 2 * (sizeof calls / sizeof *calls); i++) {
        const bool quick = i % 2;
        const int k = (int)(i / 2);
        struct elementwise_plan p;
        elementwise_tensor o = {NULL, calls[k].type, calls[k].ndim,
                                calls[k].shape, NULL};
        elementwise_tensor b = {NULL, calls[k].type, calls[k].y_ndim,
                                calls[k].y_shape, NULL};
        ew_cpu_tune(quick ? EW_QUICK_STORES : 0);
        ck_assert_int_eq(ew_plan_make(&p, calls[k].op, &o, &b, -1, &o), 0);
        ck_assert_msg((p.pass.stream != NULL) == (calls[k].streams || quick),
                      "call %d, %d", k, quick);
        /* without AVX no kernel divides c64 past the caches */
        const bool without = p.level == EW_LEVEL_BASE &&
                             calls[k].op == ELEMENTWISE_DIV &&
                             calls[k].type == ELEMENTWISE_C64;
        ck_assert_msg(p.pass.slow == (calls[k].slow || without), "call %d", k);
    }
}
END_TEST

/* Of integers of 32 and 64 bits on AVX-512: arrays, also one row for all, one
   number by an array, and of 32 by numbers; not of 16 bits. */
START_TEST(quotients_of_wide_integers_are_stored_past_the_caches)
{
    static const int64_t rows[] = {4096, 4096}, column[] = {4096, 1};
    const struct {
        elementwise_dtype type;
        int x_ndim, y_ndim;
        const int64_t *y_shape;
        bool past;
    } calls[] = {{ELEMENTWISE_I32, 2, 2, rows, true},
                 {ELEMENTWISE_U64, 2, 2, rows, true},
                 {ELEMENTWISE_I64, 2, 1, rows, true},
                 {ELEMENTWISE_U32, 0, 2, rows, true},
                 {ELEMENTWISE_I32, 2, 2, column, true},
                 {ELEMENTWISE_U32, 2, 0, NULL, true},
                 {ELEMENTWISE_I64, 2, 2, column, false},
                 {ELEMENTWISE_I64, 2, 0, NULL, false},
                 {ELEMENTWISE_I16, 2, 2, rows, false}};
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, calls[i].type, calls[i].x_ndim, rows,
                                NULL};
        elementwise_tensor b = {NULL, calls[i].type, calls[i].y_ndim,
                                calls[i].y_shape, NULL};
        elementwise_tensor o = {NULL, calls[i].type, 2, rows, NULL};
        /* rows stay in the caches where no kernel stores past them */
        if (ew_cpu_level() == EW_LEVEL_BASE)
            ew_cpu_tune(EW_QUICK_STORES);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_DIV, &a, &b, -1, &o), 0);
        ck_assert_msg(p.pass.stream != NULL, "call %d", i);
        ck_assert_msg((p.pass.past != NULL) ==
                          (calls[i].past && p.level >= EW_LEVEL_AVX512),
                      "call %d", i);
    }
}
END_TEST

/* On AVX-512, by arrays and by numbers; not in short rows that end within
   lines. */
START_TEST(quotients_of_halves_are_stored_past_the_caches)
{
    static const int64_t rows[] = {4096, 4096}, column[] = {4096, 1};
    static const int64_t short_rows[] = {1 << 19, 49};
    for (int i = 0; i < 2 * 2 * 3; i++) {
        struct elementwise_plan p;
        const bool quick = i % 2, ends = i / 4 == 2;
        elementwise_dtype type = i / 2 % 2 ? ELEMENTWISE_F16 : ELEMENTWISE_BF16;
        elementwise_tensor a = {NULL, type, 2, ends ? short_rows : rows, NULL};
        elementwise_tensor b = {NULL, type, 2, i / 4 ? column : rows, NULL};
        if (ends)
            b = (elementwise_tensor){NULL, type, 1, short_rows + 1, NULL};
        ew_cpu_tune(EW_QUICK_STORES | (quick ? EW_QUICK_QUOTIENTS : 0));
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_DIV, &a, &b, -1, &a), 0);
        bool expected = p.level >= EW_LEVEL_AVX512 && !ends;
        ck_assert_int_eq(p.pass.stream && p.pass.past && !p.pass.fold,
                         expected);
    }
}
END_TEST

/* As their first and last blocks would be made for themselves, and those that
   start within lines could not go past the caches: not so if rows are lines
   that one row divides. */
START_TEST(short_rows_of_quotients_are_stored_as_they_end)
{
    static const struct {
        int64_t cols;
        bool shared, past;
    } calls[] = {{8, true, false},
                 {101, true, false},
                 {128, true, true},
                 {128, false, false}};
    for (int i = 0; i < 4; i++) {
        struct elementwise_plan p;
        const int64_t rows[] = {1 << 20, calls[i].cols};
        const int64_t gap[] = {calls[i].shared ? 0 : rows[1] + 8, 1};
        elementwise_tensor o = {NULL, ELEMENTWISE_I32, 2, rows, NULL};
        elementwise_tensor by = {NULL, ELEMENTWISE_I32, 2, rows, gap};
        ew_cpu_tune(0);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_DIV, &o, &by, -1, &o), 0);
        if (calls[i].past && p.level >= EW_LEVEL_AVX512)
            ck_assert(p.pass.stream && p.pass.past);
        else
            ck_assert(p.pass.fold || !p.pass.stream);
    }
}
END_TEST

/* Up to 256 bytes, if more than a ninth of their vectors is empty, and beside a
   row that all share. */
START_TEST(halves_in_rows_that_end_within_vectors_are_folded)
{
    const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t cols;
        bool shared, folds;
    } calls[] = {
        {ELEMENTWISE_ADD, ELEMENTWISE_BF16, 49, true, true},
        {ELEMENTWISE_MAX, ELEMENTWISE_BF16, 100, true, true},
        {ELEMENTWISE_SUB, ELEMENTWISE_F16, 100, true,
         ew_cpu_level() < EW_LEVEL_AVX512FP16},
        {ELEMENTWISE_ADD, ELEMENTWISE_BF16, 120, true, false},
        {ELEMENTWISE_ADD, ELEMENTWISE_BF16, 135, true, false},
        {ELEMENTWISE_ADD, ELEMENTWISE_BF16, 64, true, false},
        {ELEMENTWISE_ADD, ELEMENTWISE_BF16, 49, false, false},
        {ELEMENTWISE_DIV, ELEMENTWISE_BF16, 70, true, false},
        {ELEMENTWISE_ADD, ELEMENTWISE_I16, 70, true, false},
    };
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) {
        struct elementwise_plan p;
        const int64_t rows[] = {4096, calls[i].cols}, column[] = {4096, 1};
        elementwise_tensor o = {NULL, calls[i].type, 2, rows, NULL};
        elementwise_tensor row = {NULL, calls[i].type, 1, rows + 1, NULL};
        elementwise_tensor each = {NULL, calls[i].type, 2, column, NULL};
        ck_assert_int_eq(ew_plan_make(&p, calls[i].op, &o,
                                      calls[i].shared ? &row : &each, -1, &o),
                         0);
        ck_assert_msg(p.pass.fold ==
                          (calls[i].folds && p.level >= EW_LEVEL_AVX512),
                      "call %d", i);
    }
}
END_TEST

/* From 20 MiB on, 4 MiB where an input is turned, if rows of out are dense and
   long, and under the hint. */
START_TEST(large_outputs_go_past_the_caches)
{
    static const struct {
        int64_t shape[2], strides[2];
        elementwise_dtype type;
        bool streams;
    } outputs[] = {{{5, 1 << 20}, {1 << 20, 1}, ELEMENTWISE_F32, true},
                   {{5, (1 << 20) - 1}, {1 << 20, 1}, ELEMENTWISE_F32, false},
                   {{1310720, 4}, {4, 1}, ELEMENTWISE_F32, true},
                   {{40960, 128}, {129, 1}, ELEMENTWISE_F32, true},
                   {{41285, 127}, {129, 1}, ELEMENTWISE_F32, false},
                   {{40960, 128}, {256, 2}, ELEMENTWISE_F32, false},
                   {{5, 1 << 20}, {1 << 20, 1}, ELEMENTWISE_BOOL, false},
                   {{20, 1 << 20}, {1 << 20, 1}, ELEMENTWISE_BOOL, true},
                   {{0, 1 << 30}, {1 << 30, 1}, ELEMENTWISE_F32, false}};
    static const int64_t turned[][2] = {{1024, 1024}, {1024, 1023}};
    static const int64_t small[] = {4, 128};
    for (int i = 0; i < 2; i++) {
        struct elementwise_plan p;
        const int64_t across[] = {1, 1024};
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, turned[i], across};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 2, turned[i], NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &o, -1, &o), 0);
        ck_assert_int_eq(p.pass.stream != NULL, i == 0);
    }
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = outputs[i].type;
        elementwise_tensor a = {NULL, type, 2, outputs[i].shape, NULL};
        elementwise_tensor o = {NULL, type, 2, outputs[i].shape,
                                outputs[i].strides};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &a, -1, &o), 0);
        ck_assert_int_eq(p.pass.stream != NULL, outputs[i].streams);
        ck_assert(!p.pass.stream || !p.calls);
    }
    for (int k = 0; k < 8; k++) { /* a step on f16 changes the kernel */
        elementwise_dtype type = k & 2 ? ELEMENTWISE_F16 : ELEMENTWISE_F32;
        elementwise_tensor a = {NULL, type, 2, small, NULL};
        elementwise_options options = past;
        elementwise_plan *p;
        char json[1000];
        options.flags = k & 1 ? ELEMENTWISE_STREAM : 0;
        options.act = k & 4 ? ELEMENTWISE_ACT_TANH : ELEMENTWISE_ACT_NONE;
        ck_assert_int_eq(elementwise_plan_create(&p, ELEMENTWISE_ADD, &a, &a,
                                                 -1, &a, &options),
                         0);
        elementwise_plan_describe(p, json, sizeof json);
        elementwise_plan_destroy(p);
        ck_assert_ptr_nonnull(
            strstr(json, k & 1 ? "\"stores\":\"past the caches\""
                               : "\"stores\":\"as usual\""));
        ck_assert_ptr_nonnull(
            strstr(json, (k & 6) == 2 ? "add_f16" : "add_f32"));
    }
}
END_TEST

/* Extents around those of tiles and of the blocks that are turned, with no
   more elements than the reference can do. */
static void random_shape(int64_t shape[4])
{
    static const int64_t some[] = {1, 2, 3, 4, 5, 7, 16, 31, 33, 64, 70, 300};
    int64_t n = 1;
    for (int i = 0; i < 4; i++) {
        shape[i] = some[support_random(0, 11)];
        while (n * shape[i] > 12000)
            shape[i] = some[support_random(0, 11)];
        n *= shape[i];
    }
}

/* Dense in a random order of dimensions, or with gaps in all, some of them
   backwards, of inputs some broadcast. */
static void random_strides(const int64_t shape[4], int64_t strides[4],
                           bool input)
{
    int order[] = {0, 1, 2, 3};
    int64_t dense = !support_random(0, 4) ? 2 : 1;
    support_shuffle(order, 0, 4);
    for (int i = 0; i < 4; i++) {
        strides[order[i]] = dense;
        dense *= shape[order[i]] + (support_random(0, 5) ? 0 : 1);
    }
    for (int i = 0; i < 4; i++)
        if (input && !support_random(0, 4))
            strides[i] = 0;
        else if (!support_random(0, 4))
            strides[i] = -strides[i];
}

static elementwise_dtype random_type(void)
{
    return (elementwise_dtype)support_random(1, ELEMENTWISE_C128);
}

/* The types of x, y and out; false if op does not take them. */
static bool random_types(elementwise_op op, elementwise_dtype types[3])
{
    types[0] = random_type();
    types[1] = support_random(0, 1) ? random_type() : types[0];
    return !elementwise_result_type(op, types[0], types[1], &types[2]);
}

/* Operations of each kind of kernel. */
static const elementwise_op ops[] = {ELEMENTWISE_ADD, ELEMENTWISE_SUB,
                                     ELEMENTWISE_LESS_THAN,
                                     ELEMENTWISE_FLOORDIV};

static void fill(void)
{
    support_fill(&x);
    support_fill(&y);
    support_keep(&x);
    support_keep(&y);
    support_keep(&out);
}

/* Runs a call on what was made. */
static void fill_and_verify(elementwise_op op,
                            const elementwise_options *options)
{
    fill();
    elementwise_status status =
        elementwise_apply(op, &x.t, &y.t, -1, &out.t, options);
    support_verify(status, op, &x, &y, -1, &out);
}

/* With the hint, or without. */
static void try_random(elementwise_op op, const elementwise_options *options)
{
    int64_t shape[4], strides[4];
    elementwise_dtype types[3];
    if (!random_types(op, types))
        return;
    random_shape(shape);
    random_strides(shape, strides, true);
    support_make(&x, types[0], 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, true);
    support_make(&y, types[1], 4, shape, strides, SUPPORT_LOW);
    random_strides(shape, strides, false);
    bool dense = support_random(0, 3);
    support_make(&out, types[2], 4, shape, dense ? NULL : strides,
                 SUPPORT_HIGH);
    fill_and_verify(op, options);
}

START_TEST(every_layout_gives_the_results_of_the_reference)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 20000 : 400); round++) {
        try_random(ops[round % 4], NULL);
        try_random(ops[round % 4], &past);
    }
    release();
}
END_TEST

/* One or two loops; out may be x. */
static void try_gaps(elementwise_op op, const elementwise_options *options)
{
    elementwise_dtype types[3];
    int64_t shape[2], strides[3][2];
    if (!random_types(op, types))
        return;
    bool in_place = types[2] == types[0] && support_random(0, 1);
    shape[0] = support_random(1, 40);
    shape[1] = support_random(support_random(1, 900), 1800);
    for (int k = 0; k < 3; k++) {
        int64_t step = support_random(k / 2, 4 - k / 2);
        strides[k][1] = in_place && k == 0 && !step ? 1 : step;
        strides[k][0] = step * shape[1] + support_random(0, 3);
    }
    strides[EW_OUT][1] += !support_random(0, 3) ? support_random(0, 70) : 0;
    strides[EW_OUT][0] = strides[EW_OUT][1] * (shape[1] + 1);
    support_make(&x, types[0], 2, shape, strides[in_place ? EW_OUT : EW_X],
                 SUPPORT_HIGH);
    support_make(&y, types[1], 2, shape, strides[EW_Y], SUPPORT_LOW);
    support_make(&out, types[2], 2, shape, strides[EW_OUT], SUPPORT_HIGH);
    fill();
    struct support_tensor *to = in_place ? &x : &out;
    elementwise_status status =
        elementwise_apply(op, &x.t, &y.t, -1, &to->t, options);
    support_verify(status, op, &x, &y, -1, to);
}

START_TEST(rows_of_out_with_gaps_get_the_results_of_the_reference)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 5000 : 120); round++)
        try_gaps(ops[round % 4], round % 8 < 4 ? NULL : &past);
    release();
}
END_TEST

/* Short loops, several thousand elements in all. */
static void random_short_shape(int64_t shape[4])
{
    static const int64_t some[] = {2, 3, 4, 5, 7, 9, 13, 33, 140};
    int64_t n;
    do {
        n = 1;
        for (int i = 0; i < 4; i++)
            n *= shape[i] = some[support_random(0, i ? 6 : 8)];
    } while (n < 4096 || n > 12000);
}

/* Runs a plan of what was made, with tiles in the order of large inputs or in
   that of others. Whether the tiles are of several loops. */
static bool verify_plan(elementwise_op op, const elementwise_options *options,
                        bool large)
{
    elementwise_plan *plan;
    fill();
    ck_assert_int_eq(
        elementwise_plan_create(&plan, op, &x.t, &y.t, -1, &out.t, options), 0);
    bool deep = plan->pass.deep > 0;
    ck_assert(!plan->pass.large[EW_X] && !plan->pass.large[EW_Y]);
    plan->pass.large[EW_X] = plan->pass.large[EW_Y] = large;
    elementwise_status status =
        elementwise_plan_run(plan, x.t.data, y.t.data, out.t.data);
    support_verify(status, op, &x, &y, -1, &out);
    elementwise_plan_destroy(plan);
    return deep;
}

/* Inputs of any type; out is permuted and has gaps. */
static bool try_deep(elementwise_op op, const elementwise_options *options,
                     bool large)
{
    int64_t shape[4], strides[4];
    elementwise_dtype types[3];
    if (!random_types(op, types))
        return false;
    random_short_shape(shape);
    random_strides(shape, strides, false);
    support_make(&out, types[2], 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, true);
    support_make(&x, types[0], 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, true);
    support_make(&y, types[1], 4, shape, strides, SUPPORT_LOW);
    return verify_plan(op, options, large);
}

START_TEST(several_short_loops_give_the_results_of_the_reference)
{
    int deep = 0, rounds = support_long() ? 10000 : 60;
    if (!support_level(_i))
        return;
    for (int round = 0; round < rounds; round++)
        deep += try_deep(ops[round % 4], round % 8 < 4 ? NULL : &past,
                         round % 16 < 8);
    ck_assert_int_gt(deep, rounds / 4);
    release();
}
END_TEST

/* Tiles are then the smaller. 8000 elements fill the buffer of the narrowest
   type, which is not enough for the widest. */
START_TEST(an_output_wider_than_its_inputs_goes_past_the_caches)
{
    static const elementwise_dtype types[][2] = {
        {ELEMENTWISE_U8, ELEMENTWISE_C128},
        {ELEMENTWISE_F16, ELEMENTWISE_F64},
        {ELEMENTWISE_F32, ELEMENTWISE_F64}};
    static const int64_t shape[] = {8000};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        support_make(&x, types[i][0], 1, shape, NULL, SUPPORT_HIGH);
        support_make(&y, types[i][0], 1, shape, NULL, SUPPORT_LOW);
        support_make(&out, types[i][1], 1, shape, NULL, SUPPORT_HIGH);
        fill_and_verify(ELEMENTWISE_ADD, &past);
    }
    release();
}
END_TEST

/* Rows of y that are whole in a tile, and rows that are several tiles. */
START_TEST(a_row_that_tiles_share_is_gathered_where_they_share_it)
{
    static const int64_t shapes[][2] = {{40, 300}, {3, 3000}, {17, 9000}};
    static const int64_t every_second[] = {0, -2};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 6; i++) {
        const int64_t *shape = shapes[i / 2];
        elementwise_dtype type = i % 2 ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
        support_make(&x, ELEMENTWISE_F32, 2, shape, NULL, SUPPORT_HIGH);
        support_make(&y, type, 2, shape, every_second, SUPPORT_LOW);
        support_make(&out, type, 2, shape, NULL, SUPPORT_HIGH);
        fill_and_verify(ELEMENTWISE_ADD, NULL);
    }
    release();
}
END_TEST

/* Pieces of a row, rows with gaps, and both past the caches. Dense calls do not
   make a plan otherwise. */
START_TEST(what_is_read_again_gives_the_results_of_the_reference)
{
    static const int64_t shapes[][3] = {{3, 1, 98305}, {18, 33, 3000}};
    static const int64_t gaps[][3] = {{0, 0, 1}, {0, 3001, 1}};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 6; i++) {
        const int64_t *shape = shapes[i / 3], *dense = NULL;
        support_make(&x, ELEMENTWISE_F64, 3, shape, NULL, SUPPORT_HIGH);
        support_make(&y, ELEMENTWISE_F64, i % 3 == 2 ? 2 : 3,
                     i % 3 == 2 ? shape + 1 : shape,
                     i % 3 == 2 ? dense : gaps[i / 3], SUPPORT_LOW);
        support_make(&out, ELEMENTWISE_F64, 3, shape, NULL, SUPPORT_HIGH);
        fill_and_verify(ELEMENTWISE_SUB, i % 3 == 1 ? &past : NULL);
    }
    release();
}
END_TEST

/* Plans rows of x and y, whose elements are so many apart, into dense ones. */
static void plan_steps(struct elementwise_plan *p, elementwise_op op,
                       elementwise_dtype type, const int64_t shape[2],
                       int64_t step_x, int64_t step_y)
{
    const int64_t of_x[] = {step_x * shape[1], step_x};
    const int64_t of_y[] = {step_y * shape[1], step_y};
    elementwise_tensor a = {NULL, type, 2, shape, of_x};
    elementwise_tensor b = {NULL, type, 2, shape, of_y};
    elementwise_tensor o = {NULL, type, 2, shape, NULL};
    ck_assert_int_eq(ew_plan_make(p, op, &a, &b, -1, &o), 0);
}

/* Of inputs with gaps, whose lines push out of a small cache what is made.
   Where few lines are read at once, below AVX-512, they are taken one by one.
 */
START_TEST(inputs_with_gaps_push_a_large_output_out_of_a_small_cache)
{
    static const struct {
        int64_t shape[2];
        int step;
        bool streams;
    } layouts[] = {{{2048, 1024}, 2, 1}, {{1700, 1024}, 2, 1},
                   {{1500, 1024}, 2, 0}, {{3000, 1024}, 1, 0},
                   {{1030, 1024}, 4, 1}, {{1020, 1024}, 4, 0}};
    static const unsigned ways[] = {EW_TUNINGS - 1 - EW_SMALL_CACHE,
                                    EW_SMALL_CACHE,
                                    EW_SMALL_CACHE | EW_FEW_READS};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 3 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i / 3].shape, step = layouts[i / 3].step;
        ew_cpu_tune(ways[i % 3]);
        plan_steps(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, shape, step, step);
        bool vectors = i % 3 == 1 || (i % 3 == 2 && _i >= EW_LEVEL_AVX512);
        ck_assert_msg((p.pass.stream != NULL) ==
                          (vectors && layouts[i / 3].streams),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Vectors without AVX-512 are gathered late from memory where few lines are
   read at once: from 20 MiB on, gaps and all. So are those of one step where
   processors read late and the cache is large. */
START_TEST(two_inputs_with_gaps_from_memory_are_taken_alone)
{
    static const struct {
        int64_t shape[2], x, y;
        elementwise_dtype type;
        elementwise_op op;
        bool alone;
    } layouts[] = {
        {{1025, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, true},
        {{1024, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 2, -2, ELEMENTWISE_F32, ELEMENTWISE_MAX, true},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_COPYSIGN, true},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_FMAX, false},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_DIV, true},
        {{2048, 1024}, 2, 2, ELEMENTWISE_I32, ELEMENTWISE_DIV, false},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F64, ELEMENTWISE_ADD, true},
        {{2048, 2048}, 2, 2, ELEMENTWISE_F64, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 1, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
        {{2048, 2048}, 2, 2, ELEMENTWISE_F16, ELEMENTWISE_ADD, false}};
    static const unsigned ways[] = {
        EW_TUNINGS - 1 - EW_SMALL_CACHE - EW_FEW_READS,
        EW_SMALL_CACHE | EW_QUICK_QUOTIENTS | EW_LATE_READS,
        EW_SMALL_CACHE | EW_QUICK_QUOTIENTS | EW_FEW_READS, EW_QUICK_QUOTIENTS};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 4 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i / 4].shape;
        elementwise_dtype type = layouts[i / 4].type;
        bool add = layouts[i / 4].op == ELEMENTWISE_ADD;
        ew_cpu_tune(ways[i % 4]);
        plan_steps(&p, layouts[i / 4].op, type, shape, layouts[i / 4].x,
                   layouts[i / 4].y);
        /* of 8 bytes, whatever comes from memory, if the cache is large */
        bool always =
            (add && i % 4 == 0) || (type == ELEMENTWISE_F64 && i % 4 == 3);
        bool late = i % 4 == 2 && p.level < EW_LEVEL_AVX512;
        ck_assert_msg(!ew_pass_tiles(&p.pass) ==
                          (layouts[i / 4].alone && (late || always)),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Where processors read late: beside relu and scales, which are steps more, and
   in reverse, both inputs are gathered. */
START_TEST(no_more_than_one_step_is_taken_alone_from_memory)
{
    static const int64_t shape[] = {2048, 1024};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    ew_cpu_tune(EW_LATE_READS);
    for (int i = 0; i < 4; i++) {
        struct elementwise_plan p;
        int64_t step = i == 3 ? -1 : 2;
        options.act = i == 1 ? ELEMENTWISE_ACT_RELU : ELEMENTWISE_ACT_NONE;
        options.scale_y = i == 2 ? 3 : 1;
        plan_steps(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, shape, step, step);
        ck_assert_int_eq(ew_fuse_plan(&p, &options), ELEMENTWISE_OK);
        ck_assert_msg(ew_pass_tiles(&p.pass) == (i > 0), "%d", i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Gathers by vectors have more lines on their way than loads one by one, where
   they are quick, but not of two inputs, nor from the caches. */
START_TEST(one_input_with_gaps_from_memory_is_gathered_where_that_is_quick)
{
    static const struct {
        int64_t shape[2], x, y;
        elementwise_dtype type;
        elementwise_op op;
        bool gathered;
    } layouts[] = {
        {{2048, 1024}, 17, 1, ELEMENTWISE_F64, ELEMENTWISE_ADD, true},
        {{2048, 1024}, 1, 17, ELEMENTWISE_F32, ELEMENTWISE_MAX, true},
        {{2048, 1024}, 17, 1, ELEMENTWISE_I64, ELEMENTWISE_MAX, true},
        {{2048, 1024}, 17, 17, ELEMENTWISE_F64, ELEMENTWISE_ADD, false},
        {{2048, 1024}, -17, 1, ELEMENTWISE_F64, ELEMENTWISE_ADD, false},
        {{50, 1024}, 512, 1, ELEMENTWISE_F64, ELEMENTWISE_MAX, false},
        {{128, 128}, 17, 1, ELEMENTWISE_F64, ELEMENTWISE_ADD, false}};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        ew_cpu_tune(i % 2 ? EW_QUICK_GATHERS : 0);
        plan_steps(&p, layouts[i / 2].op, layouts[i / 2].type,
                   layouts[i / 2].shape, layouts[i / 2].x, layouts[i / 2].y);
        bool quick = i % 2 && p.level >= EW_LEVEL_AVX512;
        ck_assert_msg(ew_pass_tiles(&p.pass) ==
                          (quick && layouts[i / 2].gathered),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Of x, rows run along memory, `apart` elements from one to the next, and
   columns across it; y may be one number for each row. Without AVX-512 few
   elements on a line are not worth turning where few lines are read at once: of
   8 bytes, and of 4 from memory, where lines of all columns are to come. */
START_TEST(transposed_inputs_with_gaps_are_taken_alone)
{
    static const struct {
        elementwise_dtype type;
        int64_t rows, cols, apart, column;
        bool alone, still;
    } layouts[] = {
        {ELEMENTWISE_F64, 100, 50, 3, 300, true, false}, /* in the caches */
        {ELEMENTWISE_F64, 100, 50, 3, 300, true, true},
        {ELEMENTWISE_F64, 100, 50, 2, 200, false, false},
        {ELEMENTWISE_F32, 100, 50, 3, 300, false, false},
        {ELEMENTWISE_F64, 512, 16, 4, 2048, false, false},   /* in few places */
        {ELEMENTWISE_F64, 4000, 300, 3, 12024, true, false}, /* from memory */
        {ELEMENTWISE_F64, 4000, 300, 3, 12025, false, false},
        {ELEMENTWISE_F64, 16000, 48, 3, 48024, true, false},
        {ELEMENTWISE_F64, 16000, 312, 3, 48024, true, false}, /* streamed */
        {ELEMENTWISE_F64, 900000, 12, 3, 352, true, false},   /* overlaps */
        {ELEMENTWISE_F64, 900000, 12, 3, 344, false, false},
        {ELEMENTWISE_F64, 900000, 64, 3, 80, true, false},
        {ELEMENTWISE_F64, 900000, 64, 3, 72, false, false},
        {ELEMENTWISE_F64, 8000, 100, 2, 16008, false, false},
        {ELEMENTWISE_F32, 8000, 240, 3, 24016, true, false},
        {ELEMENTWISE_F32, 8000, 240, 3, 24064, false, false}, /* few places */
        {ELEMENTWISE_I32, 32000, 48, 3, 96016, false, false},
        {ELEMENTWISE_I32, 96000, 16, 3, 288016, true, false},
        {ELEMENTWISE_I16, 5000, 480, 3, 15008, false, false},
        {ELEMENTWISE_F32, 4000, 384, 2, 8001, true, false}, /* in long rows */
        {ELEMENTWISE_F32, 4000, 383, 2, 8001, false, false},
        {ELEMENTWISE_F32, 8000, 384, 1, 8001, false, false},
        {ELEMENTWISE_F64, 4000, 1024, 2, 8001, true, false},
        {ELEMENTWISE_F64, 4000, 1025, 2, 8001, false, false},
        {ELEMENTWISE_F32, 4000, 481, 4, 16001, true, false},
        {ELEMENTWISE_F32, 4000, 481, 7, 28001, false, false}, /* many lines */
        {ELEMENTWISE_F64, 4000, 481, 4, 16001, false, false},
        {ELEMENTWISE_F64, 4000, 481, 3, 241, true, false},
        {ELEMENTWISE_F64, 4000, 481, 3, 239, false, false},
        {ELEMENTWISE_F32, 8000, 481, 4, 401, true, false},
        {ELEMENTWISE_F64, 4000, 481, 1, 4001, true, false}, /* neighbours */
        {ELEMENTWISE_F64, 4000, 480, 1, 4001, false, false},
        {ELEMENTWISE_F64, 8000, 481, 1, 8001, false, true},
        {ELEMENTWISE_F32, 4000, 481, 2, 8192, false, false}, /* few places */
        {ELEMENTWISE_F32, 1000, 481, 2, 2001, false, false}, /* near */
    };
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 2 * (sizeof layouts / sizeof *layouts); i++) {
        struct elementwise_plan p;
        bool few = i % 2, still = layouts[i / 2].still;
        ew_cpu_tune(few ? EW_FEW_READS : EW_TUNINGS - 1 - EW_FEW_READS);
        elementwise_dtype type = layouts[i / 2].type;
        const int64_t shape[] = {layouts[i / 2].rows, layouts[i / 2].cols};
        const int64_t of_y[] = {still ? 1 : shape[1], !still};
        const int64_t of_x[] = {layouts[i / 2].apart, layouts[i / 2].column};
        elementwise_tensor a = {NULL, type, 2, shape, of_x};
        elementwise_tensor b = {NULL, type, 2, shape, of_y};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        bool waits = few && p.level < EW_LEVEL_AVX512;
        ck_assert_msg((p.pass.turn == 0) == (waits && layouts[i / 2].alone),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* The same where they are compared, but not where operations take longer. */
START_TEST(transposed_inputs_with_gaps_are_compared_alone)
{
    static const int64_t shape[] = {4000, 481}, of_x[] = {2, 8001};
    static const struct {
        elementwise_op op;
        elementwise_dtype result;
        bool alone;
    } rows[] = {{ELEMENTWISE_LESS_THAN, ELEMENTWISE_BOOL, true},
                {ELEMENTWISE_COPYSIGN, ELEMENTWISE_F32, true},
                {ELEMENTWISE_MOD, ELEMENTWISE_F32, false}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, of_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        elementwise_tensor o = {NULL, rows[i].result, 2, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, rows[i].op, &a, &b, -1, &o), 0);
        ck_assert_msg((p.pass.turn == 0) == rows[i].alone, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of out that are whole lines are made in tiles, but not where elements of
   out are smaller. */
START_TEST(neighbours_of_8_bytes_are_compared_alone)
{
    static const int64_t shape[] = {4000, 512}, of_x[] = {1, 4001};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (int less = 0; less < 2; less++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_I64, 2, shape, of_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_I64, 2, shape, NULL};
        elementwise_tensor o = {NULL, less ? ELEMENTWISE_BOOL : ELEMENTWISE_I64,
                                2, shape, NULL};
        ck_assert_int_eq(
            ew_plan_make(&p, less ? ELEMENTWISE_LESS_THAN : ELEMENTWISE_ADD, &a,
                         &b, -1, &o),
            0);
        ck_assert_int_eq(p.pass.turn == 0, less);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Long rows with gaps of an x that all images share are brought once, and kept:
   they stay tiles, where those of each image are taken alone. */
START_TEST(shared_inputs_with_gaps_are_turned)
{
    static const int64_t shape[] = {4, 1001, 900};
    static const int64_t of_x[][3] = {{900 * 2003, 2, 2003}, {0, 2, 2003}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (int shared = 0; shared < 2; shared++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, of_x[shared]};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &b), 0);
        ck_assert_int_eq(p.pass.turn != 0, shared);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Neighbours, and elements with gaps, that are near along the outermost loop
   and not along rows: one by one, each line would come again for each of them.
 */
START_TEST(inputs_that_run_along_an_outer_loop_are_turned)
{
    static const int64_t shape[] = {9, 1000, 481};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (int64_t step = 1; step <= 3; step++) {
        struct elementwise_plan p;
        int64_t of_x[] = {step, 9 * step, 9000 * step};
        elementwise_tensor a = {NULL, ELEMENTWISE_F64, 3, shape, of_x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F64, 3, shape, NULL};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &b), 0);
        ck_assert_int_ne(p.pass.turn, 0);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Inputs of [A, B, C] that lie as `x` and `y` say: 0, row-major, as out does;
   1, [B, A, C]; 2, one number for each A and B; 3, windows that overlap. */
static int plan_rows(struct elementwise_plan *p, elementwise_dtype type,
                     const int64_t shape[3], int of_x, int of_y)
{
    const int64_t rows = shape[0] * shape[2], row = shape[2];
    const int64_t strides[][3] = {
        {shape[1] * row, row, 1}, {row, rows, 1}, {shape[1], 1, 0}, {1, 5, 1}};
    elementwise_tensor a = {NULL, type, 3, shape, strides[of_x]};
    elementwise_tensor b = {NULL, type, 3, shape, strides[of_y]};
    elementwise_tensor o = {NULL, type, 3, shape, NULL};
    return ew_plan_make(p, ELEMENTWISE_ADD, &a, &b, -1, &o);
}

/* From memory, by processors that have few lines on their way, where an input
   would be read in so many places by turns: then A's loop is inside B's. */
START_TEST(rows_of_large_inputs_are_made_in_their_order)
{
    static const struct {
        int64_t shape[3];
        int x, y;
        elementwise_dtype type;
        bool ordered;
    } layouts[] = {
        {{16, 5000, 25}, 1, 2, ELEMENTWISE_F32, true},
        {{16, 5000, 25}, 2, 1, ELEMENTWISE_F32, true},
        {{16, 5000, 25}, 1, 1, ELEMENTWISE_F32, true},
        {{16, 5000, 25}, 1, 0, ELEMENTWISE_F32, false},
        {{16, 5000, 15}, 1, 2, ELEMENTWISE_F32, false}, /* short */
        {{16, 3000, 25}, 1, 2, ELEMENTWISE_F32, false}, /* near */
        {{5000, 16, 25}, 1, 2, ELEMENTWISE_F32, true},
        {{5000, 15, 25}, 1, 2, ELEMENTWISE_F32, false}, /* in few places */
        {{128, 700, 23}, 1, 2, ELEMENTWISE_F32, true},
        {{129, 700, 23}, 1, 2, ELEMENTWISE_F32, false}, /* many, short */
        {{129, 700, 24}, 1, 2, ELEMENTWISE_F32, true},
        {{16, 5000, 128}, 1, 2, ELEMENTWISE_BF16, true},
        {{16, 5000, 129}, 1, 2, ELEMENTWISE_BF16, false},
        {{16, 5000, 129}, 1, 2, ELEMENTWISE_U8, true},
        {{16, 8000, 25}, 3, 2, ELEMENTWISE_F32, false}}; /* windows */
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 2 * (sizeof layouts / sizeof *layouts); i++) {
        struct elementwise_plan p;
        bool few = i % 2;
        ew_cpu_tune(few ? EW_FEW_READS : EW_TUNINGS - 1 - EW_FEW_READS);
        ck_assert_int_eq(plan_rows(&p, layouts[i / 2].type,
                                   layouts[i / 2].shape, layouts[i / 2].x,
                                   layouts[i / 2].y),
                         0);
        bool waits = few && p.level < EW_LEVEL_AVX512;
        if (p.pass.deep && !waits) /* of short rows */
            continue;
        ck_assert_msg((p.loop[1].n == layouts[i / 2].shape[0]) ==
                          (waits && layouts[i / 2].ordered),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* The other input alone is turned: elements are large, but are not in two ways
   of which neither is rows. */
START_TEST(beside_an_input_that_stands_still_another_is_turned)
{
    static const int64_t shape[] = {40, 125, 34};
    static const int64_t of_x[] = {1, 0, 0}, of_y[] = {0, 1, 125};
    struct elementwise_plan p;
    elementwise_tensor a = {NULL, ELEMENTWISE_F64, 3, shape, of_x};
    elementwise_tensor b = {NULL, ELEMENTWISE_F64, 3, shape, of_y};
    elementwise_tensor o = {NULL, ELEMENTWISE_F64, 3, shape, NULL};
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
    ck_assert(p.pass.turn != 0);
}
END_TEST

/* Of 4 and 8 bytes where the kernel stores past the caches itself, and
   processors read little ahead; the cache is small. */
START_TEST(two_inputs_with_gaps_are_asked_for_from_memory)
{
    enum { LARGE = 2600 }; /* rows that are past the caches at any level */
    static const struct {
        int64_t shape[2], x, y;
        elementwise_dtype type;
        elementwise_op op;
        bool asked;
    } layouts[] = {
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, true},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F64, ELEMENTWISE_MUL, true},
        {{1600, 1040}, 2, 2, ELEMENTWISE_I32, ELEMENTWISE_SUB, false},
        {{1700, 1040}, 2, 2, ELEMENTWISE_I32, ELEMENTWISE_SUB, true},
        {{2048, 2048}, 2, 2, ELEMENTWISE_F16, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 2, 3, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 1, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_POW, false},
        {{LARGE, 2048}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, true}};
    static const unsigned ways[] = {
        EW_SMALL_CACHE, EW_SMALL_CACHE | EW_LATE_READS,
        EW_SMALL_CACHE | EW_LATE_READS | EW_FEW_READS};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 3 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i / 3].shape;
        elementwise_dtype type = layouts[i / 3].type;
        ew_cpu_tune(ways[i % 3]);
        plan_steps(&p, layouts[i / 3].op, type, shape, layouts[i / 3].x,
                   layouts[i / 3].y);
        bool asked = i % 3 && layouts[i / 3].asked &&
                     (i % 3 == 1 || _i >= EW_LEVEL_AVX512 || shape[0] == LARGE);
        ck_assert_msg(p.pass.distant == asked && p.pass.ahead[EW_X] == asked &&
                          p.pass.ahead[EW_Y] == asked,
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Small tiles of large elements that are turned, and others, of rows and
   columns that are no whole tiles, and inputs with gaps; whatever the
   processor. */
START_TEST(inputs_from_memory_give_the_results_of_the_reference)
{
    static const int64_t shapes[][2] = {{1003, 808}, {1003, 408}};
    static const int64_t down[] = {1, 1003}, gaps[] = {1640, 2};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 6; i++) {
        const int64_t *shape = shapes[i / 2 % 2];
        elementwise_dtype type =
            i / 2 == 1 ? ELEMENTWISE_C128 : ELEMENTWISE_F64;
        bool both = i / 2 == 2;
        support_make(&x, type, 2, shape, both ? gaps : down, SUPPORT_HIGH);
        support_make(&y, type, 2, shape, both ? gaps : NULL, SUPPORT_LOW);
        support_make(&out, type, 2, shape, NULL, SUPPORT_HIGH);
        ew_cpu_tune(i % 2 ? EW_LATE_READS : 0);
        fill_and_verify(ELEMENTWISE_SUB, NULL);
    }
    release();
}
END_TEST

/* The three numbers of each point of a picture that is turned, in a picture of
   each; rows and columns are no whole tiles. */
START_TEST(colours_of_a_turned_picture_give_the_results_of_the_reference)
{
    static const int64_t shape[] = {3, 305, 411}, turned[] = {1, 3, 915};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 3; i++) {
        elementwise_dtype type = i == 0   ? ELEMENTWISE_F64
                                 : i == 1 ? ELEMENTWISE_F32
                                          : ELEMENTWISE_I32;
        support_make(&x, type, 3, shape, turned, SUPPORT_HIGH);
        support_make(&y, type, 3, shape, NULL, SUPPORT_LOW);
        support_make(&out, type, 3, shape, NULL, SUPPORT_HIGH);
        ew_cpu_tune(EW_SMALL_CACHE);
        struct elementwise_plan p;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_SUB, &x.t, &y.t, -1, &out.t), 0);
        ck_assert_int_eq(p.pass.again, 2);
        fill_and_verify(ELEMENTWISE_SUB, NULL);
    }
    ew_cpu_limit(EW_LEVELS);
    release();
}
END_TEST

/* Rows of four loops in the order of inputs, some backwards, some with gaps. */
START_TEST(rows_in_the_order_of_inputs_give_the_results_of_the_reference)
{
    static const int64_t shape[] = {17, 20, 300, 18};
    static const int64_t strides[][4] = {{18, 306, 6120, 1},
                                         {360, -18, 6120, 1},
                                         {-18, 91800, 306, 1},
                                         {38, 193800, 646, 2}};
    if (!support_level(_i))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (int i = 0; i < 8; i++) {
        elementwise_dtype type = i % 2 ? ELEMENTWISE_F32 : ELEMENTWISE_I64;
        support_make(&x, type, 4, shape, strides[i / 2], SUPPORT_HIGH);
        support_make(&y, type, 1, shape + 3, NULL, SUPPORT_LOW);
        support_make(&out, type, 4, shape, NULL, SUPPORT_HIGH);
        struct elementwise_plan p;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_SUB, &x.t, &y.t, -1, &out.t), 0);
        bool ordered = p.loop[1].stride[EW_OUT] != shape[3] * p.pass.stored[0];
        ck_assert_int_eq(ordered, p.level < EW_LEVEL_AVX512);
        fill_and_verify(ELEMENTWISE_SUB, NULL);
    }
    ew_cpu_limit(EW_LEVELS);
    release();
}
END_TEST

/* Rows of one store and of two, of 4, 8 and 16 bytes, spread as x or y. */
START_TEST(elements_spread_past_the_caches_give_the_results_of_the_reference)
{
    static const struct {
        elementwise_dtype type;
        int64_t cols;
    } rows[] = {{ELEMENTWISE_F32, 35},
                {ELEMENTWISE_F32, 25},
                {ELEMENTWISE_F64, 13},
                {ELEMENTWISE_C128, 7}};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 8; i++) {
        elementwise_dtype type = rows[i / 2].type;
        const int64_t shape[] = {49999, rows[i / 2].cols};
        const int64_t across[] = {1, 49999}, each[] = {49999, 1};
        struct support_tensor *spread = i % 2 ? &y : &x;
        struct elementwise_plan p;
        support_make(spread, type, 2, each, NULL, SUPPORT_HIGH);
        support_make(i % 2 ? &x : &y, type, 2, shape, across, SUPPORT_LOW);
        support_make(&out, type, 2, shape, NULL, SUPPORT_HIGH);
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_SUB, &x.t, &y.t, -1, &out.t), 0);
        ck_assert_msg(p.pass.fold && p.pass.stream, "%d", i);
        fill_and_verify(ELEMENTWISE_SUB, NULL);
    }
    release();
}
END_TEST

/* Inputs in order, and an output in another one with gaps, of rows that are
   turned, or left to inputs. */
static void try_apart(elementwise_op op)
{
    elementwise_dtype types[3];
    int64_t shape[3], strides[3], step = support_random(2, 4);
    int order[] = {0, 1, 2};
    if (!random_types(op, types))
        return;
    types[1] = support_random(0, 2) ? types[0] : types[1];
    elementwise_result_type(op, types[0], types[1], &types[2]);
    support_shuffle(order, 0, 3);
    for (int i = 0; i < 3; i++)
        shape[i] = support_random(1, i == order[0] ? 200 : 30);
    for (int i = 0; i < 3; i++) {
        strides[order[i]] = step;
        step *= shape[order[i]];
    }
    support_make(&x, types[0], 3, shape, NULL, SUPPORT_HIGH);
    if (support_random(0, 3))
        support_make(&y, types[1], 3, shape, NULL, SUPPORT_LOW);
    else
        support_make(&y, types[1], 1, shape + 2, NULL, SUPPORT_LOW);
    support_make(&out, types[2], 3, shape, strides, SUPPORT_HIGH);
    fill_and_verify(op, NULL);
}

START_TEST(outputs_with_gaps_in_another_order_get_the_results_of_the_reference)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 5000 : 200); round++)
        try_apart(ops[round % 4]);
    release();
}
END_TEST

START_TEST(every_layout_is_copied)
{
    int64_t shape[4], strides[4];
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 20000 : 400); round++) {
        elementwise_dtype from = random_type(), to = random_type();
        if (ref_is_complex(from) && !ref_is_complex(to))
            to = from;
        random_shape(shape);
        random_strides(shape, strides, true);
        support_make(&x, from, 4, shape, strides, SUPPORT_HIGH);
        random_strides(shape, strides, false);
        support_make(&out, to, 4, shape, strides, SUPPORT_LOW);
        support_fill(&x);
        support_keep(&x);
        support_keep(&out);
        support_verify_copy(elementwise_copy(&x.t, -1, &out.t), &x, -1, &out);
    }
    release();
}
END_TEST

static void add_quotients(TCase *choosing)
{
    tcase_add_test(choosing, quotients_of_c64_by_one_row_are_not_folded);
    tcase_add_loop_test(choosing, quotients_of_words_by_one_row_are_not_folded,
                        0, EW_LEVELS);
    tcase_add_test(choosing,
                   quotients_of_wide_integers_are_stored_past_the_caches);
    tcase_add_test(choosing, quotients_of_halves_are_stored_past_the_caches);
    tcase_add_test(choosing, short_rows_of_quotients_are_stored_as_they_end);
    tcase_add_test(
        choosing, quotients_of_integers_are_folded_if_rows_leave_vectors_empty);
    tcase_add_test(choosing, quotients_are_taken_alone_where_they_are_slow);
}

static void add_turned(TCase *choosing)
{
    tcase_add_test(choosing, beside_a_turned_input_long_steps_are_gathered);
    tcase_add_test(choosing, turned_tiles_have_a_shape_for_each_type);
    tcase_add_test(
        choosing, turned_tiles_ask_for_all_from_memory_where_processors_do_not);
    tcase_add_test(choosing,
                   turned_tiles_of_results_of_a_byte_are_wide_from_memory);
    tcase_add_test(choosing,
                   turned_tiles_ask_later_where_the_last_cache_is_large);
    tcase_add_test(
        choosing,
        turned_tiles_of_small_elements_have_more_rows_or_ask_for_less);
    tcase_add_test(choosing, transposed_inputs_with_gaps_are_compared_alone);
    tcase_add_test(choosing, shared_inputs_with_gaps_are_turned);
    tcase_add_test(choosing, inputs_that_run_along_an_outer_loop_are_turned);
    tcase_add_loop_test(choosing, transposed_inputs_with_gaps_are_taken_alone,
                        0, EW_LEVELS);
    tcase_add_test(choosing,
                   beside_an_input_that_stands_still_another_is_turned);
    tcase_add_test(choosing, turned_tiles_ask_sooner_where_vectors_wait);
    tcase_add_test(choosing,
                   turned_tiles_of_large_elements_that_become_bytes_are_wide);
    tcase_add_test(choosing, tiles_of_a_turned_input_follow_where_it_reads_on);
    tcase_add_test(
        choosing,
        tiles_of_a_turned_input_follow_where_they_have_the_same_lines);
    tcase_add_test(
        choosing,
        inputs_turned_in_two_ways_are_taken_alone_if_elements_are_large);
    tcase_add_test(choosing, rows_beside_turned_ones_are_folded);
}

static void add_choosing(TCase *choosing)
{
    tcase_add_loop_test(choosing, short_rows_are_left_to_kernels_with_masks, 0,
                        EW_LEVELS);
    tcase_add_loop_test(choosing, few_rows_are_called_across, 0, EW_LEVELS);
    tcase_add_test(choosing, rows_of_tiles_that_are_there_anyway_are_folded);
    tcase_add_test(choosing, short_rows_of_whole_lines_go_past_the_caches);
    tcase_add_test(
        choosing,
        rows_with_an_element_each_are_folded_if_they_end_within_lines);
    tcase_add_test(choosing, a_short_row_that_many_share_is_repeated);
    tcase_add_test(choosing, a_plan_says_what_is_done_to_its_inputs);
    tcase_add_test(choosing, large_outputs_go_past_the_caches);
    tcase_add_test(choosing, rows_of_slow_operations_are_stored_as_usual);
    tcase_add_test(choosing, halves_in_rows_that_end_within_vectors_are_folded);
    tcase_add_test(choosing,
                   tiles_of_several_loops_ask_for_lines_that_they_share);
    tcase_add_loop_test(
        choosing, inputs_with_gaps_push_a_large_output_out_of_a_small_cache, 0,
        EW_LEVELS);
    tcase_add_test(
        choosing,
        one_input_with_gaps_from_memory_is_gathered_where_that_is_quick);
    tcase_add_loop_test(choosing,
                        two_inputs_with_gaps_from_memory_are_taken_alone, 0,
                        EW_LEVELS);
    tcase_add_test(choosing, no_more_than_one_step_is_taken_alone_from_memory);
    tcase_add_test(choosing, neighbours_of_8_bytes_are_compared_alone);
    tcase_add_loop_test(choosing, rows_of_large_inputs_are_made_in_their_order,
                        0, EW_LEVELS);
    tcase_add_loop_test(
        choosing, two_inputs_with_gaps_are_asked_for_from_memory, 0, EW_LEVELS);
    tcase_add_test(choosing,
                   tiles_go_along_loops_where_a_packed_input_stands_still);
    tcase_add_test(
        choosing,
        large_inputs_that_stand_still_are_read_again_while_they_are_near);
    tcase_add_test(
        choosing,
        large_inputs_are_read_row_by_row_where_the_last_cache_is_small);
    tcase_add_test(choosing, rows_are_those_of_inputs_where_out_has_gaps);
    tcase_add_test(choosing, elements_with_gaps_are_gathered);
    tcase_add_loop_test(choosing,
                        elements_far_apart_are_left_to_kernels_of_few_steps, 0,
                        EW_LEVELS);
    tcase_add_loop_test(
        choosing, small_blocks_with_gaps_in_out_are_moved_if_they_are_many, 0,
        EW_LEVELS);
    tcase_add_loop_test(choosing, rows_of_out_with_gaps_are_made_dense_first, 0,
                        EW_LEVELS);
    tcase_add_loop_test(choosing, layouts_get_the_strategy_that_suits_them, 0,
                        sizeof choices / sizeof *choices);
}

static void add_running(TCase *running)
{
    tcase_add_loop_test(
        running, every_layout_gives_the_results_of_the_reference, 0, EW_LEVELS);
    tcase_add_loop_test(running,
                        several_short_loops_give_the_results_of_the_reference,
                        0, EW_LEVELS);
    tcase_add_loop_test(running,
                        an_output_wider_than_its_inputs_goes_past_the_caches, 0,
                        EW_LEVELS);
    tcase_add_loop_test(running,
                        a_row_that_tiles_share_is_gathered_where_they_share_it,
                        0, EW_LEVELS);
    tcase_add_loop_test(running,
                        what_is_read_again_gives_the_results_of_the_reference,
                        0, EW_LEVELS);
    tcase_add_loop_test(running,
                        inputs_from_memory_give_the_results_of_the_reference, 0,
                        EW_LEVELS);
    tcase_add_loop_test(
        running, rows_in_the_order_of_inputs_give_the_results_of_the_reference,
        0, EW_LEVELS);
    tcase_add_loop_test(
        running, colours_of_a_turned_picture_give_the_results_of_the_reference,
        0, EW_LEVELS);
    tcase_add_loop_test(
        running,
        elements_spread_past_the_caches_give_the_results_of_the_reference, 0,
        EW_LEVELS);
    tcase_add_loop_test(running,
                        rows_of_out_with_gaps_get_the_results_of_the_reference,
                        0, EW_LEVELS);
    tcase_add_loop_test(
        running,
        outputs_with_gaps_in_another_order_get_the_results_of_the_reference, 0,
        EW_LEVELS);
    tcase_add_loop_test(running, every_layout_is_copied, 0, EW_LEVELS);
    tcase_add_loop_test(running, comparisons_keep_a_row_of_halves, 0,
                        EW_LEVELS);
    tcase_add_loop_test(running, comparisons_take_rows_with_gaps_where_they_lie,
                        0, EW_LEVELS);
    tcase_add_loop_test(running, comparisons_take_long_elements_row_by_row, 0,
                        EW_LEVELS);
}

int main(void)
{
    TCase *choosing = support_case("choosing");
    TCase *running = support_case("running");
    add_choosing(choosing);
    add_turned(choosing);
    add_quotients(choosing);
    add_running(running);
    TCase *const cases[] = {choosing, running, NULL};
    return support_run("strategy", cases);
}
