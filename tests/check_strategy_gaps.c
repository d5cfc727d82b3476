/*
 * Turns inputs whose elements are some bytes apart along out's rows into plans:
 * which are gathered, which are turned, as they are near along another loop,
 * and which are left to kernels that take one element after the other. Then
 * runs rows with gaps, which gives the results of the reference.
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
 * Along rows
 */

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
    strategy_read_many();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = lines[i].type;
        strategy_plan(&p, lines[i].op, type, 1, &n, &lines[i].x_step,
                      &lines[i].y_step);
        ck_assert_int_eq(p.pass.pack[EW_X] != NULL, lines[i].gathers_x);
        ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, lines[i].gathers_y);
    }
}
END_TEST

enum { M = 1 << 20 };

/* Rows, columns, and the steps of x and y; whether kernels take them one by one
   below AVX-512 and there. */
static const struct {
    elementwise_dtype type;
    int64_t rows, cols, steps[2];
    elementwise_op op;
    bool alone[2];
} apart[] = {
    {ELEMENTWISE_F64, 1, 4096, {2, 2}, ELEMENTWISE_ADD, {1, 1}},
    {ELEMENTWISE_F64, 1, 4096, {-1, 2}, ELEMENTWISE_ADD, {0, 0}},
    {ELEMENTWISE_F64, 1, 4096, {-3, 1}, ELEMENTWISE_SUB, {0, 0}},
    {ELEMENTWISE_F64, 1, 4096, {4, 1}, ELEMENTWISE_MUL, {0, 0}},
    {ELEMENTWISE_F64, 1, 4096, {1, -5}, ELEMENTWISE_MUL, {1, 1}},
    {ELEMENTWISE_F64, 1, 4096, {5, 0}, ELEMENTWISE_MUL, {1, 1}},
    {ELEMENTWISE_F64, 1, 3 * M, {2, 2}, ELEMENTWISE_ADD, {0, 0}},
    {ELEMENTWISE_F64, 512, 8, {3, 3}, ELEMENTWISE_ADD, {1, 1}},
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
    {ELEMENTWISE_I64, 1, 4096, {2, 2}, ELEMENTWISE_BITWISE_LEFT_SHIFT, {1, 1}},
    {ELEMENTWISE_I32, 1, 4096, {7, 7}, ELEMENTWISE_BITWISE_LEFT_SHIFT, {0, 0}},
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

START_TEST(elements_far_apart_are_left_to_kernels_of_few_steps)
{
    if (!support_level(_i))
        return;
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        struct elementwise_plan p;
        int64_t strides[2][2], shape[] = {apart[i].rows, apart[i].cols};
        for (int k = 0; k < 2; k++) {
            strides[k][0] = apart[i].steps[k] * shape[1] + 1;
            strides[k][1] = apart[i].steps[k];
        }
        strategy_plan(&p, apart[i].op, apart[i].type, 2, shape, strides[0],
                      strides[1]);
        ck_assert_msg(!ew_pass_tiles(&p.pass) ==
                          apart[i].alone[_i >= EW_LEVEL_AVX512],
                      "%d", (int)i);
    }
}
END_TEST

/* With AVX2, of rows that do not follow one another. */
static const struct {
    elementwise_dtype type;
    int64_t rows, cols, steps[2];
    elementwise_op op;
    bool alone;
} rows_of_few[] = {
    {ELEMENTWISE_F64, 512, 7, {3, 3}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F32, 512, 2, {2, 3}, ELEMENTWISE_LESS_THAN, true},
    {ELEMENTWISE_F32, 512, 12, {4, 2}, ELEMENTWISE_MAX, true},
    {ELEMENTWISE_F32, 512, 13, {4, 2}, ELEMENTWISE_MAX, false},
    {ELEMENTWISE_F32, 512, 7, {-1, -1}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F32, 512, 8, {-1, -1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F32, 512, 8, {-1, -2}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_I32, 512, 6, {2, 2}, ELEMENTWISE_DIV, false},
    {ELEMENTWISE_C64, 512, 4, {2, 2}, ELEMENTWISE_SUB, true},
    {ELEMENTWISE_C64, 512, 4, {2, 2}, ELEMENTWISE_MUL, false},
    {ELEMENTWISE_I16, 512, 6, {2, 2}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F32, 60000, 3, {12, 12}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F32, 80000, 3, {12, 12}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F32, 80000, 4, {12, 12}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F64, 80000, 3, {12, 12}, ELEMENTWISE_ADD, true},
    /* one input with gaps */
    {ELEMENTWISE_F32, 512, 3, {2, 1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F32, 512, 4, {2, 1}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F32, 512, 8, {1, 3}, ELEMENTWISE_MUL, true},
    {ELEMENTWISE_F32, 512, 9, {1, 3}, ELEMENTWISE_MUL, false},
    {ELEMENTWISE_F32, 512, 6, {-2, 1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F64, 512, 2, {2, 1}, ELEMENTWISE_SUB, false},
    {ELEMENTWISE_F64, 512, 3, {2, 1}, ELEMENTWISE_SUB, true},
    {ELEMENTWISE_F64, 512, 2, {6, 1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_I32, 512, 6, {4, 1}, ELEMENTWISE_MAX, false},
    {ELEMENTWISE_I32, 512, 6, {5, 0}, ELEMENTWISE_MAX, true},
    {ELEMENTWISE_F32, 512, 6, {4, 1}, ELEMENTWISE_DIV, false},
    {ELEMENTWISE_F32, 512, 8, {5, 1}, ELEMENTWISE_DIV, true},
    {ELEMENTWISE_F32, 512, 9, {5, 1}, ELEMENTWISE_DIV, false},
    {ELEMENTWISE_F32, 512, 12, {9, 1}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F32, 512, 13, {9, 1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F32, 512, 6, {-5, 1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_C64, 512, 4, {5, 1}, ELEMENTWISE_MUL, false},
    {ELEMENTWISE_F32, 200000, 5, {2, 1}, ELEMENTWISE_ADD, true},
    {ELEMENTWISE_F32, 300000, 5, {2, 1}, ELEMENTWISE_ADD, false},
    {ELEMENTWISE_F32, 400000, 4, {5, 1}, ELEMENTWISE_ADD, true},
};

START_TEST(short_rows_with_gaps_are_taken_alone_with_avx2)
{
    if (!support_level(_i))
        return;
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof rows_of_few / sizeof *rows_of_few; i++) {
        struct elementwise_plan p;
        const int64_t shape[] = {rows_of_few[i].rows, rows_of_few[i].cols};
        int64_t strides[2][2];
        for (int k = 0; k < 2; k++) {
            strides[k][1] = rows_of_few[i].steps[k];
            strides[k][0] = ew_magnitude(strides[k][1] * shape[1]) + 1;
        }
        strategy_plan(&p, rows_of_few[i].op, rows_of_few[i].type, 2, shape,
                      strides[0], strides[1]);
        bool alone = _i == EW_LEVEL_AVX2 && rows_of_few[i].alone;
        ck_assert_msg(!ew_pass_tiles(&p.pass) == alone, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Of one input and out, or of all. */
START_TEST(short_rows_of_out_with_gaps_are_taken_alone_with_avx2)
{
    static const int64_t shape[] = {512, 8}, gaps[] = {41, 5}, dense[] = {8, 1};
    static const int64_t of_out[] = {22, 2};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (int i = 1; i < 4; i++) {
        struct elementwise_plan p;
        strategy_plan_into(&p, ELEMENTWISE_EQUAL, ELEMENTWISE_I64, 2, shape,
                           i & 1 ? gaps : dense, i & 2 ? gaps : dense, of_out);
        ck_assert_msg(!ew_pass_tiles(&p.pass), "%d", i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Of one input, or both; with nothing around the operation one by one. */
START_TEST(short_rows_with_gaps_are_gathered_before_activations)
{
    static const int64_t shape[] = {512, 6}, gaps[] = {31, 5};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (int i = 0; i < 4; i++) {
        struct elementwise_plan p;
        options.act = i % 2 ? ELEMENTWISE_ACT_RELU : ELEMENTWISE_ACT_NONE;
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 2, shape, gaps,
                      i < 2 ? NULL : gaps);
        ck_assert_int_eq(ew_fuse_plan(&p, &options), ELEMENTWISE_OK);
        ck_assert_msg((p.pass.pack[EW_X] != NULL) == (i % 2 == 1), "%d", i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Halves are f32 beside an activation, and kernels that convert them read gaps
   and store them: inputs are gathered where rows are long. */
START_TEST(short_rows_of_halves_with_gaps_are_converted_where_they_lie)
{
    static const int64_t shapes[][2] = {{600, 6}, {600, 31}, {64, 32}};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.act = ELEMENTWISE_ACT_SIGMOID;
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (int i = 0; i < 3; i++) {
        struct elementwise_plan p;
        const int64_t gaps[] = {2 * shapes[i][1] + 1, 2};
        strategy_plan_into(&p, ELEMENTWISE_ADD, ELEMENTWISE_F16, 2, shapes[i],
                           gaps, gaps, gaps);
        ck_assert_int_eq(ew_fuse_plan(&p, &options), ELEMENTWISE_OK);
        ck_assert_msg((p.pass.pack[EW_X] != NULL) == (i == 2), "%d", i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* The first of these are; of the others x follows itself, is read again, or
   lies in another order than out, or y does. */
START_TEST(short_rows_in_another_order_are_gathered)
{
    enum { IMAGES = 4, ROWS = 3000, COLS = 6, ROW = 2 * COLS + 1 };
    enum { IMAGE = ROWS * COLS };
    static const int64_t shape[] = {IMAGES, ROWS, COLS};
    static const struct {
        int64_t x[3], y[3];
    } layouts[] = {{{ROWS * ROW, ROW, 2}, {IMAGE, COLS, 1}},
                   {{ROWS * ROW, ROW, 2}, {ROWS, 1, 0}},
                   {{2 * IMAGE, 2 * COLS, 2}, {ROWS, 1, 0}},
                   {{0, ROW, 2}, {IMAGE, COLS, 1}},
                   {{ROW, IMAGES * ROW, 2}, {IMAGE, COLS, 1}},
                   {{ROWS * ROW, ROW, 2}, {COLS, IMAGES * COLS, 1}}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 3, shape,
                      layouts[i].x, layouts[i].y);
        bool as_is = !strcmp(ew_strategy_input(&p, EW_X), "as is");
        ck_assert_msg((as_is && !ew_pass_tiles(&p.pass)) == (i < 2), "%d",
                      (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
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
        ew_cpu_tune(i % 2 ? EW_QUICK_QUOTIENTS : 0);
        strategy_plan(&p, ELEMENTWISE_DIV, ELEMENTWISE_F64, 2, shape,
                      layouts[i / 2].strides, NULL);
        bool alone = !(i % 2) && layouts[i / 2].alone;
        ck_assert_msg(!ew_pass_tiles(&p.pass) == alone, "%d", (int)i);
    }
}
END_TEST

static const struct {
    int64_t shape[2], x, y;
    elementwise_dtype type;
    elementwise_op op;
    bool few, other;
} from_memory[] = {
    {{1025, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, true, true},
    {{1024, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, false, false},
    {{2048, 1024}, 2, -2, ELEMENTWISE_F32, ELEMENTWISE_MAX, true, true},
    {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_COPYSIGN, true, true},
    {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_FMAX, false, false},
    {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_DIV, true, true},
    {{2048, 1024}, 2, 2, ELEMENTWISE_I32, ELEMENTWISE_DIV, false, false},
    {{2048, 1024}, 2, 2, ELEMENTWISE_F64, ELEMENTWISE_ADD, true, true},
    {{2048, 2048}, 2, 2, ELEMENTWISE_F64, ELEMENTWISE_ADD, true, false},
    {{2048, 1024}, 1, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, false, false},
    {{2048, 1024}, 1, 2, ELEMENTWISE_F64, ELEMENTWISE_ADD, true, false},
    {{2048, 2048}, 2, 2, ELEMENTWISE_F16, ELEMENTWISE_ADD, false, false}};

/* Out may be stored past the caches all the same. */
static bool takes_alone(const struct elementwise_plan *p)
{
    return !p->pass.pack[EW_X] && !p->pass.pack[EW_Y];
}

/* Vectors without AVX-512 are gathered late from memory where few lines are
   read at once: from 20 MiB on, gaps and all. So are those of one step where
   processors read late and the cache is large. */
START_TEST(inputs_with_gaps_from_memory_are_taken_alone)
{
    static const unsigned ways[] = {
        EW_TUNINGS - 1 - EW_SMALL_CACHE - EW_FEW_READS,
        EW_SMALL_CACHE | EW_QUICK_QUOTIENTS | EW_LATE_READS,
        EW_SMALL_CACHE | EW_QUICK_QUOTIENTS | EW_FEW_READS, EW_QUICK_QUOTIENTS};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 4 * sizeof from_memory / sizeof *from_memory; i++) {
        struct elementwise_plan p;
        const int64_t *shape = from_memory[i / 4].shape;
        elementwise_dtype type = from_memory[i / 4].type;
        bool add = from_memory[i / 4].op == ELEMENTWISE_ADD;
        ew_cpu_tune(ways[i % 4]);
        strategy_plan_steps(&p, from_memory[i / 4].op, type, shape,
                            from_memory[i / 4].x, from_memory[i / 4].y);
        /* of 8 bytes, whatever comes from memory, if the cache is large */
        bool always =
            (add && i % 4 == 0) || (type == ELEMENTWISE_F64 && i % 4 == 3);
        bool few = i % 4 == 2 && p.level < EW_LEVEL_AVX512;
        ck_assert_msg(takes_alone(&p) ==
                          (few ? from_memory[i / 4].few
                               : always && from_memory[i / 4].other),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* x beside an input that is dense, or one row, or one element a row. */
enum beside { DENSE_Y, ROW_Y, ELEMENT_Y };

static const struct {
    int64_t rows, step;
    enum beside y;
    elementwise_dtype type;
    elementwise_op op;
    bool alone;
} slowly[] = {{64, 2, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_ADD, false},
              {64, 3, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_ADD, true},
              {64, 3, ELEMENT_Y, ELEMENTWISE_I64, ELEMENTWISE_MUL, true},
              {64, 3, ROW_Y, ELEMENTWISE_F64, ELEMENTWISE_DIV, true},
              {64, 4, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_MAX, false},
              {64, 5, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_MAX, true},
              {64, 12, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_LESS_THAN, false},
              {64, 5, DENSE_Y, ELEMENTWISE_I64, ELEMENTWISE_DIV, false},
              {64, 10, DENSE_Y, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
              {64, 10, DENSE_Y, ELEMENTWISE_F32, ELEMENTWISE_DIV, false},
              {64, 11, DENSE_Y, ELEMENTWISE_F32, ELEMENTWISE_DIV, true},
              {64, 11, DENSE_Y, ELEMENTWISE_F32, ELEMENTWISE_ADD, true},
              {9000, 2, ROW_Y, ELEMENTWISE_F64, ELEMENTWISE_ADD, true},
              {9000, -1, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_ADD, false},
              {9000, 2, ELEMENT_Y, ELEMENTWISE_I64, ELEMENTWISE_SUB, true},
              {9000, 2, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_MAX, false},
              {9000, 2, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_EQUAL, true},
              {9000, 2, ROW_Y, ELEMENTWISE_F64, ELEMENTWISE_EQUAL, false},
              {9000, 3, DENSE_Y, ELEMENTWISE_F64, ELEMENTWISE_MOD, false},
              {9000, 3, DENSE_Y, ELEMENTWISE_F32, ELEMENTWISE_ADD, false}};

/* As they are below AVX-512 where few lines are read at once. */
START_TEST(one_input_with_gaps_is_taken_alone_where_gathering_takes_longer)
{
    enum { COLS = 400 };
    if (!support_level(_i))
        return;
    ew_cpu_tune(EW_SMALL_CACHE | EW_QUICK_QUOTIENTS | EW_FEW_READS);
    for (size_t i = 0; i < sizeof slowly / sizeof *slowly; i++) {
        struct elementwise_plan p;
        const int64_t shape[] = {slowly[i].rows, COLS};
        const int64_t of_x[] = {slowly[i].step * (COLS + 1), slowly[i].step};
        static const int64_t of_y[][2] = {{COLS, 1}, {0, 1}, {1, 0}};
        strategy_plan(&p, slowly[i].op, slowly[i].type, 2, shape, of_x,
                      of_y[slowly[i].y]);
        ck_assert_msg(takes_alone(&p) == slowly[i].alone, "%d", (int)i);
    }
}
END_TEST

/* Of 4 bytes, where gathers are as many loads: from less far apart on. */
START_TEST(both_inputs_with_gaps_are_taken_alone_where_gathering_takes_longer)
{
    static const int64_t shape[] = {64, 100};
    static const struct {
        elementwise_dtype type;
        elementwise_op op;
        int64_t x, y;
        bool alone;
    } rows[] = {{ELEMENTWISE_F32, ELEMENTWISE_ADD, 3, 3, true},
                {ELEMENTWISE_I32, ELEMENTWISE_SUB, 3, 2, false},
                {ELEMENTWISE_F32, ELEMENTWISE_MAX, -5, 4, true},
                {ELEMENTWISE_F32, ELEMENTWISE_MAX, 4, 4, false},
                {ELEMENTWISE_I32, ELEMENTWISE_LESS_THAN, 5, 5, true},
                {ELEMENTWISE_I32, ELEMENTWISE_LESS_THAN, 4, 5, false},
                {ELEMENTWISE_I16, ELEMENTWISE_ADD, 5, 5, false},
                {ELEMENTWISE_I32, ELEMENTWISE_DIV, 5, 5, false}};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct elementwise_plan p;
        const bool few = i % 2;
        ew_cpu_tune(few ? EW_FEW_READS : 0);
        strategy_plan_steps(&p, rows[i / 2].op, rows[i / 2].type, shape,
                            rows[i / 2].x, rows[i / 2].y);
        ck_assert_msg(takes_alone(&p) == (few && rows[i / 2].alone), "%d",
                      (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of x that come again for each matrix of out, from memory or not. */
START_TEST(gaps_that_are_read_again_are_gathered_once)
{
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_SMALL_CACHE | EW_FEW_READS);
    for (int i = 0; i < 4; i++) {
        struct elementwise_plan p;
        const int64_t rows = i < 2 ? 60 : 4000, shape[] = {8, rows, 400};
        const int64_t of_x[] = {i % 2 ? 0 : rows * 1203, 1203, 3};
        const int64_t of_y[] = {rows, 1, 0};
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F64, 3, shape, of_x,
                      of_y);
        ck_assert_int_eq(p.pass.pack[EW_X] != NULL, i % 2);
    }
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
        strategy_plan_steps(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, shape, step,
                            step);
        ck_assert_int_eq(ew_fuse_plan(&p, &options), ELEMENTWISE_OK);
        ck_assert_msg(ew_pass_tiles(&p.pass) == (i > 0), "%d", i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* With AVX2 rows of out with gaps are made dense for what takes longer than
   that: relu does not. */
START_TEST(rows_with_gaps_are_made_dense_for_slow_activations)
{
    static const int64_t n = 4096, step = 2;
    static const elementwise_act acts[] = {
        ELEMENTWISE_ACT_NONE, ELEMENTWISE_ACT_RELU, ELEMENTWISE_ACT_LEAKY_RELU,
        ELEMENTWISE_ACT_SIGMOID, ELEMENTWISE_ACT_SILU};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (int i = 0; i < 2 * 5; i++) {
        struct elementwise_plan p;
        options.act = acts[i / 2];
        strategy_plan_into(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 1, &n,
                           i % 2 ? &step : NULL, &step, &step);
        ck_assert_int_eq(ew_fuse_plan(&p, &options), ELEMENTWISE_OK);
        bool slow = options.act > ELEMENTWISE_ACT_LEAKY_RELU;
        ck_assert_msg(ew_strategy_scatters(&p) == slow, "%d", i);
        ck_assert((p.pass.pack[EW_Y] != NULL) == slow);
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
        strategy_plan_steps(&p, layouts[i / 2].op, layouts[i / 2].type,
                            layouts[i / 2].shape, layouts[i / 2].x,
                            layouts[i / 2].y);
        bool quick = i % 2 && p.level >= EW_LEVEL_AVX512;
        ck_assert_msg(ew_pass_tiles(&p.pass) ==
                          (quick && layouts[i / 2].gathered),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
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
        strategy_plan(&p, ELEMENTWISE_ADD, type, 2, shape, layouts[i].down,
                      layouts[i].y);
        ck_assert_int_eq(p.pass.turn, layouts[i].rows);
        ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, layouts[i].gathers);
    }
}
END_TEST

/* ---------------------------------------------------------------------
 * Across rows, along which inputs would be turned
 */

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
        strategy_plan(&p, layouts[i].op, type, 3, shape, layouts[i].x,
                      layouts[i].y);
        ck_assert_msg(!ew_pass_tiles(&p.pass) == layouts[i].alone, "%d",
                      (int)i);
    }
}
END_TEST

/* The other input alone is turned: elements are large, but are not in two ways
   of which neither is rows. */
START_TEST(beside_an_input_that_stands_still_another_is_turned)
{
    static const int64_t shape[] = {40, 125, 34};
    static const int64_t of_x[] = {1, 0, 0}, of_y[] = {0, 1, 125};
    struct elementwise_plan p;
    strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F64, 3, shape, of_x, of_y);
    ck_assert(p.pass.turn != 0);
}
END_TEST

/* Of x, rows run along memory, `apart` elements from one to the next, and
   columns across it; y may be one number for each row. */
static const struct {
    elementwise_dtype type;
    int64_t rows, cols, apart, column;
    bool alone, still;
} transposed[] = {
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

/* Without AVX-512 few elements on a line are not worth turning where few lines
   are read at once: of 8 bytes, and of 4 from memory, where lines of all
   columns are to come. */
START_TEST(transposed_inputs_with_gaps_are_taken_alone)
{
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 2 * (sizeof transposed / sizeof *transposed); i++) {
        struct elementwise_plan p;
        bool few = i % 2, still = transposed[i / 2].still;
        ew_cpu_tune(few ? EW_FEW_READS : EW_TUNINGS - 1 - EW_FEW_READS);
        elementwise_dtype type = transposed[i / 2].type;
        const int64_t shape[] = {transposed[i / 2].rows,
                                 transposed[i / 2].cols};
        const int64_t of_y[] = {still ? 1 : shape[1], !still};
        const int64_t of_x[] = {transposed[i / 2].apart,
                                transposed[i / 2].column};
        strategy_plan(&p, ELEMENTWISE_ADD, type, 2, shape, of_x, of_y);
        bool waits = few && p.level < EW_LEVEL_AVX512;
        ck_assert_msg((p.pass.turn == 0) == (waits && transposed[i / 2].alone),
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
        bool alone;
    } rows[] = {{ELEMENTWISE_LESS_THAN, true},
                {ELEMENTWISE_COPYSIGN, true},
                {ELEMENTWISE_MOD, false}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elementwise_plan p;
        strategy_plan(&p, rows[i].op, ELEMENTWISE_F32, 2, shape, of_x, NULL);
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
        strategy_plan(&p, less ? ELEMENTWISE_LESS_THAN : ELEMENTWISE_ADD,
                      ELEMENTWISE_I64, 2, shape, of_x, NULL);
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
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 3, shape,
                      of_x[shared], NULL);
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
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F64, 3, shape, of_x,
                      NULL);
        ck_assert_int_ne(p.pass.turn, 0);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* ---------------------------------------------------------------------
 * Results
 */

/* One or two loops, of long rows or of short ones; out may be x. */
static void try_gaps(elementwise_op op, const elementwise_options *options)
{
    elementwise_dtype types[3];
    int64_t shape[2], strides[3][2];
    if (!strategy_draw_types(op, types))
        return;
    bool in_place = types[2] == types[0] && support_random(0, 1);
    bool few = support_random(0, 1);
    shape[0] = support_random(1, few ? 900 : 40);
    shape[1] = few ? support_random(1, 13)
                   : support_random(support_random(1, 900), 1800);
    for (int k = 0; k < 3; k++) {
        int64_t step =
            k == EW_OUT ? support_random(1, 3) : support_random(-3, 9);
        strides[k][1] = in_place && k == 0 && !step ? 1 : step;
        strides[k][0] = ew_magnitude(step) * shape[1] + support_random(0, 3);
    }
    ew_cpu_tune((unsigned)support_random(0, EW_TUNINGS - 1));
    strides[EW_OUT][1] += !support_random(0, 3) ? support_random(0, 70) : 0;
    strides[EW_OUT][0] = strides[EW_OUT][1] * (shape[1] + 1);
    support_make(&call.x, types[0], 2, shape, strides[in_place ? EW_OUT : EW_X],
                 SUPPORT_HIGH);
    support_make(&call.y, types[1], 2, shape, strides[EW_Y], SUPPORT_LOW);
    support_make(&call.out, types[2], 2, shape, strides[EW_OUT], SUPPORT_HIGH);
    strategy_fill(&call);
    struct support_tensor *to = in_place ? &call.x : &call.out;
    elementwise_status status =
        elementwise_apply(op, &call.x.t, &call.y.t, -1, &to->t, options);
    support_verify(status, op, &call.x, &call.y, -1, to);
}

START_TEST(rows_of_out_with_gaps_get_the_results_of_the_reference)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 5000 : 120); round++)
        try_gaps(strategy_ops[round % STRATEGY_OPS],
                 round % 8 < 4 ? NULL : &strategy_past);
    strategy_release(&call);
}
END_TEST

static void add_along_rows(TCase *along)
{
    tcase_add_test(along, elements_with_gaps_are_gathered);
    tcase_add_loop_test(along,
                        elements_far_apart_are_left_to_kernels_of_few_steps, 0,
                        EW_LEVELS);
    tcase_add_loop_test(along, short_rows_with_gaps_are_taken_alone_with_avx2,
                        0, EW_LEVELS);
    tcase_add_test(along,
                   short_rows_of_out_with_gaps_are_taken_alone_with_avx2);
    tcase_add_test(along, short_rows_with_gaps_are_gathered_before_activations);
    tcase_add_test(along,
                   short_rows_of_halves_with_gaps_are_converted_where_they_lie);
    tcase_add_test(along, short_rows_in_another_order_are_gathered);
    tcase_add_test(along, quotients_are_taken_alone_where_they_are_slow);
    tcase_add_loop_test(along, inputs_with_gaps_from_memory_are_taken_alone, 0,
                        EW_LEVELS);
    tcase_add_loop_test(
        along, one_input_with_gaps_is_taken_alone_where_gathering_takes_longer,
        0, EW_LEVEL_AVX512);
    tcase_add_loop_test(
        along,
        both_inputs_with_gaps_are_taken_alone_where_gathering_takes_longer, 0,
        EW_LEVEL_AVX512);
    tcase_add_test(along, gaps_that_are_read_again_are_gathered_once);
    tcase_add_test(along, no_more_than_one_step_is_taken_alone_from_memory);
    tcase_add_test(along, rows_with_gaps_are_made_dense_for_slow_activations);
    tcase_add_test(
        along, one_input_with_gaps_from_memory_is_gathered_where_that_is_quick);
    tcase_add_test(along, beside_a_turned_input_long_steps_are_gathered);
}

static void add_across_rows(TCase *across)
{
    tcase_add_test(
        across,
        inputs_turned_in_two_ways_are_taken_alone_if_elements_are_large);
    tcase_add_test(across, beside_an_input_that_stands_still_another_is_turned);
    tcase_add_loop_test(across, transposed_inputs_with_gaps_are_taken_alone, 0,
                        EW_LEVELS);
    tcase_add_test(across, transposed_inputs_with_gaps_are_compared_alone);
    tcase_add_test(across, neighbours_of_8_bytes_are_compared_alone);
    tcase_add_test(across, shared_inputs_with_gaps_are_turned);
    tcase_add_test(across, inputs_that_run_along_an_outer_loop_are_turned);
}

static void add_results(TCase *results)
{
    tcase_add_loop_test(results,
                        rows_of_out_with_gaps_get_the_results_of_the_reference,
                        0, EW_LEVELS);
}

int main(void)
{
    TCase *along = support_case("along");
    TCase *across = support_case("across");
    TCase *results = support_case("results");
    add_along_rows(along);
    add_across_rows(across);
    add_results(results);
    TCase *const cases[] = {along, across, results, NULL};
    return support_run("strategy_gaps", cases);
}
