/*
 * Takes single tiles through passes of kernels that leave their mark: each
 * step appends a digit to every element, so that a result tells which steps it
 * has gone through, in which order. Every choice of steps must leave the
 * digits of the picture in plan.h, and none must do what was done already.
 */
#include <check.h>
#include <string.h>

#include "steps.h"
#include "support.h"

enum { ROWS = 3, COLS = 5, CELLS = ROWS * COLS, GAP = 2 };

static int64_t x[CELLS * GAP], y[CELLS * GAP], out[CELLS * GAP];
static struct ew_buffers buffers;
static int64_t marked[10]; /* elements that the step of a digit has made */
static const union ew_parameter factors[2] = {{.f64 = 2}, {.f64 = 3}};

static int64_t *at(void *const data[], const struct ew_stride stride[], int k,
                   int64_t r, int64_t c)
{
    return (int64_t *)((char *)data[k] + r * stride[k].row + c * stride[k].col);
}

/* out = x with a digit more. */
static void mark(int digit, int64_t rows, int64_t cols, void *const data[],
                 const struct ew_stride stride[])
{
    marked[digit] += rows * cols;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *at(data, stride, EW_OUT, r, c) =
                10 * *at(data, stride, EW_X, r, c) + digit;
}

static const void *given; /* what is read next */

static void pack(int64_t rows, int64_t cols, void *const data[],
                 const struct ew_stride stride[])
{
    given = data[EW_Y];
    mark(1, rows, cols, data, stride);
}

/* A conversion changes sizes, and so goes from one place to another. */
static void load(int64_t rows, int64_t cols, void *const data[],
                 const struct ew_stride stride[])
{
    ck_assert_ptr_ne(data[EW_X], data[EW_OUT]);
    mark(2, rows, cols, data, stride);
}

static void scale(int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride stride[])
{
    const union ew_parameter *factor = data[EW_Y];
    ck_assert(factor->f64 == 2 || factor->f64 == 3);
    mark(factor->f64 == 2 ? 3 : 4, rows, cols, data, stride);
}

static void act(int64_t rows, int64_t cols, void *const data[],
                const struct ew_stride stride[])
{
    mark(5, rows, cols, data, stride);
}

static void round_made(int64_t rows, int64_t cols, void *const data[],
                       const struct ew_stride stride[])
{
    ck_assert_ptr_ne(data[EW_X], data[EW_OUT]);
    mark(6, rows, cols, data, stride);
}

static void store(int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride stride[])
{
    ck_assert_ptr_ne(data[EW_X], data[EW_OUT]);
    mark(7, rows, cols, data, stride);
}

/* The operands are no digits. */
static void op(int64_t rows, int64_t cols, void *const data[],
               const struct ew_stride stride[])
{
    marked[0] += rows * cols;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *at(data, stride, EW_OUT, r, c) =
                1000000 * *at(data, stride, EW_X, r, c) +
                *at(data, stride, EW_Y, r, c);
}

static void copy(int64_t rows, int64_t cols, void *const data[],
                 const struct ew_stride stride[])
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *at(data, stride, EW_OUT, r, c) = *at(data, stride, EW_X, r, c);
}

static int64_t streamed; /* bytes */
static struct ew_next seen[2];

static void stream(int64_t rows, int64_t bytes, const char *from, char *to,
                   int64_t row, const struct ew_next next[2])
{
    memcpy(seen, next, sizeof seen);
    streamed += rows * bytes;
    for (int64_t r = 0; r < rows; r++)
        memcpy(to + r * row, from + r * bytes, (size_t)bytes);
}

enum {
    PACK = 1,
    LOAD = 2,
    SCALE = 4,
    ACT = 8,
    ROUND = 16,
    STORE = 32,
    STREAM = 64,
    FOLD = 128,
    CHOICES = 256
};

static ew_kernel *const moves[EW_MOVES] = {copy, copy, copy, copy, copy};

static struct ew_pass pass_of(int steps)
{
    struct ew_pass pass = {.op = op,
                           .moves = moves,
                           .stored = {8, 8, 8},
                           .size = {8, 8, 8},
                           .result_size = 8};
    for (int k = 0; k < 2; k++) {
        pass.pack[k] = steps & PACK ? pack : NULL;
        pass.load[k] = steps & LOAD ? load : NULL;
        pass.scale[k] = steps & SCALE ? scale : NULL;
        pass.factor[k] = factors[k];
    }
    pass.act = steps & ACT ? act : NULL;
    pass.round = steps & ROUND ? round_made : NULL;
    pass.store = steps & (STORE | ROUND) ? store : NULL;
    pass.stream = steps & STREAM ? stream : NULL;
    pass.fold = steps & FOLD;
    return pass;
}

/* What the steps make of an input, and of what op has made. */
static int64_t prepared(int64_t value, int steps, int k)
{
    value = steps & PACK ? 10 * value + 1 : value;
    value = steps & LOAD ? 10 * value + 2 : value;
    return steps & SCALE ? 10 * value + 3 + k : value;
}

static int64_t expected(int64_t a, int64_t b, int steps)
{
    int64_t value =
        1000000 * prepared(a, steps, EW_X) + prepared(b, steps, EW_Y);
    value = steps & ACT ? 10 * value + 5 : value;
    value = steps & ROUND ? 10 * value + 6 : value;
    return steps & (STORE | ROUND) ? 10 * value + 7 : value;
}

static void start(void)
{
    memset(marked, 0, sizeof marked);
    streamed = 0;
    buffers.kept[EW_X] = buffers.kept[EW_Y] = false;
    buffers.ahead = NULL;
    for (int k = 0; k < EW_FORWARD; k++)
        buffers.places[k] = NULL;
    for (int i = 0; i < CELLS * GAP; i++) {
        x[i] = 11 + i;
        y[i] = 51 + i;
        out[i] = -1;
    }
}

/* Every GAP-th element of a row of x, y as given. */
static struct ew_block block_of(struct ew_stride of_y)
{
    return (struct ew_block){ROWS,
                             COLS,
                             {{8 * COLS * GAP, 8 * GAP}, of_y, {8 * COLS, 8}},
                             {x, y, out}};
}

/* y stands still along rows or columns in bit 0 or 1 of `still`. Rows are
   folded only of what is dense. */
static void check_steps(int steps, int still)
{
    const struct ew_pass pass = pass_of(steps);
    int64_t row = still & 1 ? 0 : COLS, col = still & 2 ? 0 : 1;
    struct ew_block tile = block_of((struct ew_stride){8 * row, 8 * col});
    start();
    ew_steps_run(&pass, &tile, &buffers);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            ck_assert_int_eq(
                out[r * COLS + c],
                expected(x[(r * COLS + c) * GAP], y[r * row + c * col], steps));
    ck_assert_int_eq(out[CELLS], -1);
    ck_assert_int_eq(streamed, steps & STREAM ? 8 * CELLS : 0);
}

START_TEST(every_choice_of_steps_is_taken_in_order)
{
    for (int still = 0; still < 4; still++)
        if (!(_i & FOLD) || _i & PACK)
            check_steps(_i, still);
}
END_TEST

/* Unless rows are to be folded: then pack makes copies. */
START_TEST(what_stands_still_is_prepared_once)
{
    check_steps(PACK | LOAD | SCALE, 1);
    ck_assert_int_eq(marked[1], CELLS + COLS);
    ck_assert_int_eq(marked[2], CELLS + COLS);
    ck_assert_int_eq(marked[4], COLS);
    check_steps(PACK | LOAD, 3);
    ck_assert_int_eq(marked[1], CELLS + 1);
    ck_assert_int_eq(marked[2], CELLS + 1);
    check_steps(PACK | LOAD | FOLD, 2);
    ck_assert_int_eq(marked[1], 2 * CELLS);
}
END_TEST

/* As it was in the buffer, whatever the input has become; without any step op
   reads the input itself. */
START_TEST(what_is_kept_is_not_prepared_again)
{
    for (int steps = 0; steps < 2 * SCALE; steps++) {
        const struct ew_pass pass = pass_of(steps);
        const struct ew_stride row = {0, 8};
        struct ew_block tile = block_of(row), again = tile;
        start();
        ew_steps_run(&pass, &tile, &buffers);
        memset(marked, 0, sizeof marked);
        for (int i = 0; i < CELLS; i++)
            y[i] = 99;
        buffers.kept[EW_Y] = true;
        ew_steps_run(&pass, &again, &buffers);
        for (int i = 0; i < CELLS; i++)
            ck_assert_int_eq(
                out[i],
                expected(x[i * GAP], steps ? 51 + i % COLS : 99, steps));
        ck_assert_int_eq(marked[1], steps & PACK ? CELLS : 0);
        ck_assert_int_eq(marked[2], steps & LOAD ? CELLS : 0);
        ck_assert_int_eq(marked[4], 0);
    }
}
END_TEST

/* By what packs it, if that does; the rest by the time op runs. */
START_TEST(what_is_read_next_is_asked_for_before_op)
{
    struct ew_ahead ahead[2];
    for (int steps = 0; steps < 2 * PACK; steps++) {
        const struct ew_pass pass = pass_of(steps);
        struct ew_block tile = block_of((struct ew_stride){8 * COLS, 8});
        start();
        ahead[EW_X] = (struct ew_ahead){(char *)x, 3, 8, 8, false};
        ahead[EW_Y] = (struct ew_ahead){(char *)y, 2, 16, 8, true};
        buffers.ahead = ahead;
        given = NULL;
        ew_steps_run(&pass, &tile, &buffers);
        ck_assert_ptr_eq(given, steps & PACK ? ahead : NULL);
        ck_assert_int_eq(ahead[EW_X].pieces + ahead[EW_Y].pieces, 0);
        ck_assert_ptr_eq(ahead[EW_X].at, x + 3);
        ck_assert_ptr_eq(ahead[EW_Y].at, y + 4);
    }
}
END_TEST

/* In a tile whose rows are folded what stands still is loaded once and not
   spread, also where it is kept. */
START_TEST(what_stands_still_beside_folded_rows_is_kept_so)
{
    struct ew_pass pass = pass_of(PACK | LOAD | FOLD);
    struct ew_block tile = block_of((struct ew_stride){0, 0}), again = tile;
    pass.pack[EW_Y] = NULL;
    start();
    ew_steps_run(&pass, &tile, &buffers);
    for (int i = 0; i < CELLS; i++)
        out[i] = -1;
    buffers.kept[EW_Y] = true;
    ew_steps_run(&pass, &again, &buffers);
    for (int i = 0; i < CELLS; i++)
        ck_assert_int_eq(out[i],
                         1000000 * prepared(x[i * GAP], PACK | LOAD, EW_X) +
                             prepared(y[0], LOAD, EW_Y));
}
END_TEST

/* x backwards, or its first row backwards for all, y one element for each row,
   which are so many apart, out every other element, of a tile that is seen as
   one row. */
static int run_places(int steps, int64_t apart, bool repeats)
{
    struct ew_layout nest[EW_FORWARD] = {
        {8, 2, {{COLS, -8}, {ROWS, repeats ? 0 : -8 * COLS}}},
        {8, 2, {{COLS, 0}, {ROWS, 8 * apart}}},
        {8, 2, {{COLS, 8 * GAP}, {ROWS, 8 * COLS * GAP}}}};
    static struct ew_places places[EW_FORWARD];
    const struct ew_pass pass = pass_of(steps);
    struct ew_block tile = {1,
                            CELLS,
                            {{8 * CELLS, 8}, {8 * CELLS, 8}, {8 * CELLS, 8}},
                            {x + CELLS - 1, y, out}};
    start();
    for (int k = 0; k < EW_FORWARD; k++) {
        int64_t n = ew_layout_once(&nest[k]);
        ew_places_make(&places[k], &nest[k], n, NULL);
        buffers.places[k] = &places[k];
    }
    ew_steps_run(&pass, &tile, &buffers);
    return (int)places[EW_Y].copies;
}

START_TEST(what_has_places_is_gathered_first_and_scattered_last)
{
    for (int steps = 0; steps < STREAM; steps++) {
        if (steps & PACK)
            continue;
        bool repeats = steps & LOAD; /* either, with all others */
        ck_assert_int_eq(run_places(steps, _i, repeats), COLS);
        for (int i = 0; i < CELLS; i++) {
            int64_t of_x = 11 + CELLS - 1 - (repeats ? i % COLS : i);
            int64_t of_y = 51 + i / COLS * _i;
            int64_t want = expected(of_x, of_y, steps);
            ck_assert_int_eq(out[i * GAP], want);
            ck_assert_int_eq(out[i * GAP + 1], -1);
        }
    }
}
END_TEST

static void see_around(int64_t rows, int64_t cols, void *const data[],
                       const struct ew_stride stride[])
{
    const struct ew_around *around = data[EW_AROUND];
    ck_assert(around->alpha.f64 == 0.5);
    op(rows, cols, data, stride);
}

static void see_alpha(int64_t rows, int64_t cols, void *const data[],
                      const struct ew_stride stride[])
{
    const union ew_parameter *alpha = data[EW_Y];
    ck_assert(alpha->f64 == 0.5);
    ck_assert_ptr_eq(data[EW_X], data[EW_OUT]);
    act(rows, cols, data, stride);
}

START_TEST(kernels_are_told_what_stands_around)
{
    struct ew_pass pass = pass_of(ACT);
    struct ew_block tile = block_of((struct ew_stride){8 * COLS, 8});
    pass.op = see_around;
    pass.act = see_alpha;
    pass.around.alpha.f64 = 0.5;
    start();
    ew_steps_run(&pass, &tile, &buffers);
    ck_assert_int_eq(marked[0], CELLS);
    ck_assert_int_eq(marked[5], CELLS);
}
END_TEST

static int64_t rows_seen, cols_seen;

static void see_rows(int64_t rows, int64_t cols, void *const data[],
                     const struct ew_stride stride[])
{
    rows_seen = rows;
    cols_seen = cols;
    act(rows, cols, data, stride);
}

/* But not those with a gap behind each. */
START_TEST(rows_that_follow_one_another_are_one_for_an_activation)
{
    struct ew_pass pass = pass_of(ACT);
    pass.act = see_rows;
    for (int gap = 0; gap < 2; gap++) {
        struct ew_block tile = block_of((struct ew_stride){8 * COLS, 8});
        tile.stride[EW_OUT].row += 8 * gap;
        start();
        ew_steps_run(&pass, &tile, &buffers);
        ck_assert_int_eq(rows_seen, gap ? ROWS : 1);
        ck_assert_int_eq(cols_seen, gap ? COLS : CELLS);
    }
}
END_TEST

START_TEST(rows_that_are_apart_are_streamed_one_by_one)
{
    const struct ew_pass pass = pass_of(STREAM);
    struct ew_block tile = block_of((struct ew_stride){0, 8});
    tile.stride[EW_OUT].row += 8;
    start();
    ew_steps_run(&pass, &tile, &buffers);
    for (int r = 0; r < ROWS; r++) {
        const int64_t *row = out + r * (COLS + 1);
        for (int c = 0; c < COLS; c++)
            ck_assert_int_eq(row[c],
                             expected(x[(r * COLS + c) * GAP], y[c], STREAM));
        ck_assert_int_eq(row[COLS], -1);
    }
}
END_TEST

/* x has gaps; y is dense, or one row again and again, of which nobody knows
   how it goes on. */
START_TEST(lines_that_are_read_next_are_those_behind_a_dense_tile)
{
    const struct ew_pass pass = pass_of(STREAM);
    for (int dense = 0; dense < 2; dense++) {
        struct ew_block tile =
            block_of((struct ew_stride){dense ? 8 * COLS : 0, 8});
        tile.rows = _i;
        start();
        ew_steps_run(&pass, &tile, &buffers);
        ck_assert_ptr_null(seen[EW_X].at);
        ck_assert_ptr_eq(seen[EW_Y].at, dense ? y + _i * COLS : NULL);
        if (dense)
            ck_assert_int_eq(seen[EW_Y].step, EW_LINE);
    }
}
END_TEST

int main(void)
{
    TCase *steps = support_case("steps");
    tcase_add_loop_test(steps, every_choice_of_steps_is_taken_in_order, 0,
                        CHOICES);
    tcase_add_test(steps, what_stands_still_is_prepared_once);
    tcase_add_test(steps, what_is_read_next_is_asked_for_before_op);
    tcase_add_test(steps, what_is_kept_is_not_prepared_again);
    tcase_add_test(steps, what_stands_still_beside_folded_rows_is_kept_so);
    tcase_add_loop_test(
        steps, what_has_places_is_gathered_first_and_scattered_last, 1, 4);
    tcase_add_test(steps,
                   rows_that_follow_one_another_are_one_for_an_activation);
    tcase_add_test(steps, rows_that_are_apart_are_streamed_one_by_one);
    tcase_add_test(steps, kernels_are_told_what_stands_around);
    tcase_add_loop_test(steps,
                        lines_that_are_read_next_are_those_behind_a_dense_tile,
                        2, ROWS + 1);
    TCase *const cases[] = {steps, NULL};
    return support_run("steps", cases);
}
