/*
 * Divides complex numbers in rows of many lengths and steps, some of them by
 * zeros, infinities and NaN, and holds each quotient against that of the
 * baseline's kernel for those two numbers alone.
 */
#include <string.h>

#include "kernel_calls.h"
#include "reference.h"

/* Every element as the baseline's kernel makes it alone, and no other byte. */
static void compare_alone(const struct kernel *k,
                          const struct support_tensor *to)
{
    int64_t index[2] = {0};
    char alone[16];
    do {
        kernel_run_alone(k, ref_at(&kernel_x.was, index),
                         ref_at(&kernel_y.was, index), alone);
        if (!ref_same(k->out, alone, ref_at(&to->t, index)))
            kernel_report(k, "another quotient than alone");
    } while (ref_next(2, to->shape, index));
    if (!support_gaps_same(to))
        kernel_report(k, "bytes around the output were written");
}

/* Parts that are farther apart than f64 reaches are divided each on its own. */
START_TEST(by_zero_each_part_of_a_complex_number_is_divided)
{
    static const double from[][2] = {{0x1p-126, -0x1.8p1023},
                                     {0x1p-1074, 0x1p100},
                                     {-0x1p900, 0x1p-900},
                                     {0, -1}};
    static const double zero[] = {0, -0.0};
    static const struct ew_stride none[EW_OPERANDS];
    if (!support_level(_i))
        return;
    for (int i = 0; i < 4; i++) {
        double made[2];
        void *data[] = {(void *)from[i], (void *)zero, made, NULL};
        ew_table_kernel(_i, ELEMENTWISE_DIV, ELEMENTWISE_C128,
                        ELEMENTWISE_C128)(1, 1, data, none);
        for (int part = 0; part < 2; part++) {
            if (from[i][part] == 0)
                ck_assert_double_nan(made[part]);
            else
                ck_assert_double_eq(made[part], from[i][part] / 0.0);
        }
    }
}
END_TEST

/* Rows of quotients, by as many rows or by one, whose rows of out then start
   equally far behind a line. */
static void try_quotient_rows(struct kernel *k, int64_t rows, int64_t cols,
                              const struct kernel_form *steps)
{
    int64_t shape[] = {rows, cols};
    for (int one = 0; one < 2; one++) {
        int64_t row = one ? (3 * cols + 7) / 8 * 8 : 3 * cols;
        kernel_make(&kernel_x, k->x, shape, steps->x, steps->x * cols + 1,
                    kernel_pool_x);
        kernel_make(&kernel_y, k->y, shape, steps->y, one ? 0 : 16 * cols + 3,
                    kernel_pool_y);
        kernel_make(&kernel_out, k->out, shape, steps->out, row, NULL);
        kernel_run(k, &kernel_out);
        compare_alone(k, &kernel_out);
        if (steps->x <= 0) /* elements of x are in several rows */
            continue;
        kernel_run(k, &kernel_x);
        compare_alone(k, &kernel_x);
    }
}

/* Along and down rows, and by divisors that are kept for all of them. */
static void try_complex_quotients(struct kernel *k)
{
    static const int64_t rows[] = {1, 2, 63, 65, 130};
    static const int64_t longer[][2] = {{7, 41}, {8, 41},   {3, 60},
                                        {2, 77}, {5, 1101}, {9, 2050}};
    static const struct kernel_form steps[] = {
        {1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {2, -1, 1}, {1, 16, 1}, {-1, 2, 3}};
    for (int64_t cols = 1; cols < 20; cols += 1 + (cols > 8) * 4)
        for (int r = 0; r < 5; r++)
            for (int f = 0; f < 6; f++)
                try_quotient_rows(k, rows[r], cols, &steps[f]);
    for (int l = 0; l < 6; l++)
        for (int f = 0; f < 6; f++)
            try_quotient_rows(k, longer[l][0], longer[l][1], &steps[f]);
}

/* Zeros, infinities and NaN among divisors at any place of a vector, at very
   few of all, or nowhere. */
static void draw_divisors(const struct kernel *k, int64_t between)
{
    char specials[SUPPORT_SPECIALS * 16];
    int count = support_specials(k->y, specials);
    size_t size = ref_size(k->y);
    kernel_draw_pools(k);
    for (int64_t i = support_random(0, between); i < KERNEL_POOL;
         i += support_random(1, between))
        memcpy(kernel_pool_y + (size_t)i * size,
               specials + (size_t)support_random(0, count - 1) * size, size);
}

START_TEST(complex_quotients_are_the_same_bits_anywhere)
{
    static const int64_t between[] = {40, KERNEL_POOL, 100 * KERNEL_POOL};
    elementwise_dtype t = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    struct kernel k = {.level = _i / 2, .op = ELEMENTWISE_DIV};
    if (!support_level(k.level))
        return;
    k.x = k.y = k.out = t;
    k.scalar = ew_table_kernel(EW_LEVEL_BASE, k.op, t, t);
    for (int past = 0; past < 2; past++)
        for (int b = 0; b < 3; b++) {
            k.run =
                ew_table_kernel(k.level, past ? EW_PAST + k.op : k.op, t, t);
            draw_divisors(&k, between[b]);
            if (k.run)
                try_complex_quotients(&k);
        }
    kernel_release();
}
END_TEST

int main(void)
{
    TCase *quotients = support_case("quotients");
    tcase_add_loop_test(quotients,
                        by_zero_each_part_of_a_complex_number_is_divided, 0,
                        EW_LEVELS);
    tcase_add_loop_test(quotients, complex_quotients_are_the_same_bits_anywhere,
                        0, 2 * EW_LEVELS);
    TCase *const cases[] = {quotients, NULL};
    return support_run("complex", cases);
}
