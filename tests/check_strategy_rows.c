/*
 * Turns layouts of short rows into plans: which are folded into one, repeated,
 * spread or called across, and which are left to kernels as they are. Results
 * of folded rows stored past the caches are held against the reference here,
 * others in check_strategy.c.
 */
#include <check.h>
#include <string.h>

#include "cpu.h"
#include "fuse.h"
#include "plan.h"
#include "strategy.h"
#include "strategy_calls.h"
#include "support.h"

static struct strategy_call call;

/* ---------------------------------------------------------------------
 * Folded rows
 */

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
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 2, shape,
                      layouts[i].x, layouts[i].y);
        ck_assert_msg(p.pass.fold == layouts[i].folds, "layout %d", (int)i);
        ck_assert(ew_pass_tiles(&p.pass));
    }
}
END_TEST

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
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 2, shape,
                      i % 2 ? across : each, i % 2 ? each : across);
        ck_assert_int_ne(p.pass.turn, 0);
        ck_assert_msg(p.pass.fold == outputs[i / 2].folds, "%d", (int)i);
    }
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
        struct support_tensor *spread = i % 2 ? &call.y : &call.x;
        struct elementwise_plan p;
        support_make(spread, type, 2, each, NULL, SUPPORT_HIGH);
        support_make(i % 2 ? &call.x : &call.y, type, 2, shape, across,
                     SUPPORT_LOW);
        support_make(&call.out, type, 2, shape, NULL, SUPPORT_HIGH);
        strategy_plan_call(&p, ELEMENTWISE_SUB, &call);
        ck_assert_msg(p.pass.fold && p.pass.stream, "%d", i);
        strategy_verify(&call, ELEMENTWISE_SUB, NULL);
    }
    strategy_release(&call);
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

/* ---------------------------------------------------------------------
 * Quotients
 */

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
        strategy_plan(&p, rows[i].op, ELEMENTWISE_C64, 2, shape, down, one);
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
        strategy_plan(&p, ELEMENTWISE_FLOORDIV, type, 2, shape, gaps, with);
        ck_assert_int_eq(p.pass.fold, layouts[i].fold);
    }
}
END_TEST

/* ---------------------------------------------------------------------
 * Comparisons
 */

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
            strategy_plan(&p, ELEMENTWISE_EQUAL, types[i], 2, shape, NULL,
                          of_y);
            int64_t bytes = rows[j] * p.pass.stored[EW_Y];
            bool by_kernel = p.level >= EW_LEVEL_AVX512;
            bool vectors = (rows[j] >= 32 && bytes > 96) || by_kernel;
            bool by_rows = vectors && types[i] != ELEMENTWISE_C64;
            ck_assert_int_eq(p.pass.fold, !by_rows);
            ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, !by_rows);
            strategy_plan(&p, ELEMENTWISE_LOGICAL_OR, types[i], 2, shape, NULL,
                          of_y);
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
            const int64_t shape[] = {4000, rows[j]}, of_x[] = {0, 1};
            struct elementwise_plan p;
            bool keeps = i < 2 && rows[j] >= 29 && rows[j] <= 32;
            strategy_plan(&p, ELEMENTWISE_LESS_THAN, types[i], 2, shape, of_x,
                          NULL);
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

/* ---------------------------------------------------------------------
 * Rows as they are, and calls of several
 */

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
        strategy_plan(&p, plans[i].op, type, 2, shape, with_x, with_y);
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
        strategy_plan(&p, ELEMENTWISE_LESS_THAN, ELEMENTWISE_F64, 3, n, with_x,
                      with_y);
        bool folded = plans[i].folded && p.level == EW_LEVEL_AVX2;
        bool across = plans[i].across && !folded;
        ck_assert(ew_pass_tiles(&p.pass) || !folded);
        ck_assert_int_eq(p.pass.across, across ? 128 : 0);
        elementwise_plan_describe(&p, json, sizeof json);
        ck_assert_int_eq(strstr(json, "\"rows\":\"across\"") != NULL, across);
    }
}
END_TEST

/* Whether they are repeated on all levels, or with AVX2. */
enum repeated { NEVER, WITH_AVX2, ALWAYS };

static const struct {
    elementwise_op op;
    elementwise_dtype type;
    int64_t rows, cols;
    enum repeated repeated;
} shared[] = {{ELEMENTWISE_ADD, ELEMENTWISE_F32, 64, 49, ALWAYS},
              {ELEMENTWISE_ADD, ELEMENTWISE_F32, 63, 49, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_F16, 32, 49, ALWAYS},
              {ELEMENTWISE_ADD, ELEMENTWISE_F16, 31, 49, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_U8, 64, 97, ALWAYS},
              {ELEMENTWISE_ADD, ELEMENTWISE_U8, 64, 161, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_F32, 64, 48, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_F16, 64, 257, NEVER},
              {ELEMENTWISE_DIV, ELEMENTWISE_I32, 255, 49, NEVER},
              {ELEMENTWISE_DIV, ELEMENTWISE_I32, 256, 49, ALWAYS},
              {ELEMENTWISE_LESS_THAN, ELEMENTWISE_F64, 64, 49, ALWAYS},
              {ELEMENTWISE_LESS_THAN, ELEMENTWISE_F64, 64, 300, NEVER},
              /* what would be folded otherwise */
              {ELEMENTWISE_ADD, ELEMENTWISE_F32, 8192, 3, ALWAYS},
              {ELEMENTWISE_ADD, ELEMENTWISE_F32, 8193, 3, WITH_AVX2},
              {ELEMENTWISE_MAX, ELEMENTWISE_I64, 8193, 3, WITH_AVX2},
              {ELEMENTWISE_MAX, ELEMENTWISE_I64, 874000, 3, NEVER}, /* large */
              {ELEMENTWISE_DIV, ELEMENTWISE_F64, 8193, 3, WITH_AVX2},
              {ELEMENTWISE_DIV, ELEMENTWISE_C64, 8193, 3, WITH_AVX2},
              {ELEMENTWISE_DIV, ELEMENTWISE_I32, 8193, 3, NEVER},
              {ELEMENTWISE_MOD, ELEMENTWISE_F32, 8193, 3, NEVER},
              {ELEMENTWISE_LESS_THAN, ELEMENTWISE_F32, 8193, 3, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_F16, 99999, 3, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_U8, 99999, 3, NEVER},
              {ELEMENTWISE_ADD, ELEMENTWISE_F32, 8193, 49, ALWAYS}};

/* Of rows that one of an input is shared by, those that leave much of their
   last vector empty are calls of several, if they are short and many; of few
   elements even rows that would be folded, and of any with AVX2 if they are
   words that are added or the like. */
START_TEST(a_short_row_that_many_share_is_repeated)
{
    char json[1000];
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 2 * sizeof shared / sizeof *shared; i++) {
        int64_t shape[] = {shared[i / 2].rows, shared[i / 2].cols};
        elementwise_op op = shared[i / 2].op;
        elementwise_dtype type = shared[i / 2].type;
        bool compares = op == ELEMENTWISE_LESS_THAN, y_shared = i % 2;
        elementwise_tensor a = {NULL, type, 2, shape, NULL};
        elementwise_tensor b = {NULL, type, 1, shape + 1, NULL};
        elementwise_tensor o = {NULL, compares ? ELEMENTWISE_BOOL : type, 2,
                                shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, op, y_shared ? &a : &b,
                                      y_shared ? &b : &a, -1, &o),
                         0);
        enum repeated least = _i == EW_LEVEL_AVX2 ? WITH_AVX2 : ALWAYS;
        int input = shared[i / 2].repeated < least ? 0 : y_shared ? 2 : 1;
        ck_assert_msg(ew_pass_repeated(&p.pass) == input, "%d", (int)i);
        ck_assert(input || shape[1] > 3 || p.pass.fold);
        if (!input)
            continue;
        elementwise_plan_describe(&p, json, sizeof json);
        ck_assert_ptr_nonnull(strstr(
            json, y_shared ? "\"x_input\":\"as is\",\"y_input\":\"repeated\","
                             "\"rows\":\"folded\""
                           : "\"x_input\":\"repeated\",\"y_input\":\"as is\""));
    }
}
END_TEST

static void add_folded(TCase *folded)
{
    tcase_add_test(folded, rows_of_tiles_that_are_there_anyway_are_folded);
    tcase_add_test(folded, rows_beside_turned_ones_are_folded);
    tcase_add_test(
        folded, rows_with_an_element_each_are_folded_if_they_end_within_lines);
    tcase_add_loop_test(
        folded,
        elements_spread_past_the_caches_give_the_results_of_the_reference, 0,
        EW_LEVELS);
    tcase_add_test(folded, halves_in_rows_that_end_within_vectors_are_folded);
}

static void add_quotients(TCase *quotients)
{
    tcase_add_test(quotients, quotients_of_c64_by_one_row_are_not_folded);
    tcase_add_loop_test(quotients, quotients_of_words_by_one_row_are_not_folded,
                        0, EW_LEVELS);
    tcase_add_test(
        quotients,
        quotients_of_integers_are_folded_if_rows_leave_vectors_empty);
}

static void add_comparisons(TCase *comparisons)
{
    tcase_add_loop_test(comparisons, comparisons_take_long_elements_row_by_row,
                        0, EW_LEVELS);
    tcase_add_loop_test(comparisons, comparisons_keep_a_row_of_halves, 0,
                        EW_LEVELS);
    tcase_add_loop_test(comparisons,
                        comparisons_take_rows_with_gaps_where_they_lie, 0,
                        EW_LEVELS);
}

static void add_calls(TCase *calls)
{
    tcase_add_loop_test(calls, short_rows_are_left_to_kernels_with_masks, 0,
                        EW_LEVELS);
    tcase_add_loop_test(calls, few_rows_are_called_across, 0, EW_LEVELS);
    tcase_add_loop_test(calls, a_short_row_that_many_share_is_repeated, 0,
                        EW_LEVELS);
}

int main(void)
{
    TCase *folded = support_case("folded");
    TCase *quotients = support_case("quotients");
    TCase *comparisons = support_case("comparisons");
    TCase *calls = support_case("calls");
    add_folded(folded);
    add_quotients(quotients);
    add_comparisons(comparisons);
    add_calls(calls);
    TCase *const cases[] = {folded, quotients, comparisons, calls, NULL};
    return support_run("strategy_rows", cases);
}
