/*
 * Compares short rows of every type with an element each or with one row, as
 * lib/kernels/compare_short.h does without buffers, and holds each truth
 * against the baseline's for that element alone.
 */
#include "kernel_calls.h"
#include "reference.h"

/* Elements from a column to the next and from a row to the next. */
struct steps {
    int64_t col, row;
};

/* Short rows of one of x and y, in either order, of the other. */
static void try_short_rows(const struct kernel *k, const int64_t shape[2],
                           struct steps a, struct steps b, bool exchanged)
{
    struct steps of_x = exchanged ? b : a, of_y = exchanged ? a : b;
    kernel_make(&kernel_x, k->x, shape, of_x.col, of_x.row, kernel_pool_x);
    kernel_make(&kernel_y, k->y, shape, of_y.col, of_y.row, kernel_pool_y);
    kernel_make(&kernel_out, k->out, shape, 1, shape[1], NULL);
    kernel_run(k, &kernel_out);
    kernel_verify(k, &kernel_out);
}

/* Rows that follow one another and an element for each, or one row for all of
   them; one row and elements. */
static void try_all_short_rows(const struct kernel *k, int64_t rows,
                               int64_t cols)
{
    const int64_t shape[] = {rows, cols};
    const struct steps one_row = {1, 0}, element = {0, 1}, dense = {1, cols};
    for (int exchanged = 0; exchanged < 2; exchanged++) {
        try_short_rows(k, shape, element, dense, exchanged);
        try_short_rows(k, shape, one_row, dense, exchanged);
        try_short_rows(k, shape, element, one_row, exchanged);
    }
}

/* Up to and beyond what is spread along rows, or kept of them, in registers;
   rows that fill vectors, and some more. */
static void try_short_comparison(struct kernel *k)
{
    static const int64_t counts[] = {2, 8, 15, 33, 64, 75};
    int64_t most = 96 / (int64_t)ref_size(k->x) + 1;
    k->run = ew_table_kernel(k->level, k->op, k->x, k->y);
    k->scalar = ew_table_kernel(EW_LEVEL_BASE, k->op, k->x, k->y);
    for (int64_t cols = 1; k->run && cols <= most; cols++)
        for (int i = 0; i < 2; i++)
            try_all_short_rows(k, counts[(cols + i * 3) % 6], cols);
}

START_TEST(short_rows_are_compared_with_an_element_each_or_one_row)
{
    elementwise_dtype t = (elementwise_dtype)(_i % ELEMENTWISE_C128 + 1);
    struct kernel k = {.level = _i / ELEMENTWISE_C128, .x = t, .y = t};
    k.out = ELEMENTWISE_BOOL;
    if (!support_level(k.level))
        return;
    kernel_draw_pools(&k);
    kernel_draw_specials(&k);
    for (int b = 1; b <= REF_TYPES; b++) {
        k.y = (elementwise_dtype)b;
        for (k.op = ELEMENTWISE_EQUAL; k.op <= ELEMENTWISE_GREATER_EQUAL;
             k.op++)
            if (kernel_takes(t, k.y))
                try_short_comparison(&k);
    }
    kernel_release();
}
END_TEST

int main(void)
{
    TCase *rows = support_case("short rows");
    tcase_add_loop_test(rows,
                        short_rows_are_compared_with_an_element_each_or_one_row,
                        0, EW_LEVELS * ELEMENTWISE_C128);
    TCase *const cases[] = {rows, NULL};
    return support_run("compare_short", cases);
}
