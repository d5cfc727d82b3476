/*
 * Looks for zeros and negative numbers in operands of every form, of which one
 * element at a time is such, and checks that the flag says whether there is
 * one, that a set flag stays set, and that no byte beside it is written.
 */
#include <string.h>

#include "cpu.h"
#include "kernel_calls.h"
#include "reference.h"

static bool is_zero(elementwise_dtype type, const void *element)
{
    struct ref_value v = ref_load(type, element);
    return v.magnitude == 0;
}

static bool is_negative(elementwise_dtype type, const void *element)
{
    struct ref_value v = ref_load(type, element);
    return v.negative;
}

/* Whether one element of x and y sets the flag. */
static bool sets(int reduction, elementwise_dtype type, const void *a,
                 const void *b)
{
    if (reduction == EW_ANY_ZERO)
        return is_zero(type, b);
    if (reduction == EW_ANY_NEGATIVE)
        return is_negative(type, b);
    return is_zero(type, a) && is_negative(type, b);
}

/* What the kernel makes of a flag that is 0, or 1. */
static uint8_t reduced(const struct kernel *k, uint8_t flag)
{
    uint8_t guarded[3] = {7, flag, 7};
    void *data[EW_OPERANDS] = {kernel_x.t.data, kernel_y.t.data, &guarded[1]};
    struct ew_stride strides[EW_OPERANDS] = {kernel_stride(&kernel_x),
                                             kernel_stride(&kernel_y)};
    k->run(kernel_y.shape[0], kernel_y.shape[1], data, strides);
    ck_assert(guarded[0] == 7 && guarded[2] == 7);
    return guarded[1];
}

static void verify_flag(const struct kernel *k, uint8_t before, bool expected)
{
    ck_assert_msg(reduced(k, before) == expected,
                  "level %s, reduction %d, %s, %lld x %lld by %lld",
                  ew_cpu_name(k->level), k->op, elementwise_dtype_name(k->x),
                  (long long)kernel_y.shape[0], (long long)kernel_y.shape[1],
                  (long long)kernel_y.strides[1]);
}

/* Ones everywhere, then the given bytes in x and y at one place. That alone
   says what is found: where a number stands for several, those have a one in
   the other operand, or the same two. */
static void plant(const struct kernel *k, int64_t r, int64_t c, int of_x,
                  int of_y)
{
    int64_t index[] = {r, c};
    void *a = ref_at(&kernel_x.t, index), *b = ref_at(&kernel_y.t, index);
    memset(a, of_x, ref_size(k->x));
    memset(b, of_y, ref_size(k->y));
    verify_flag(k, 0, sets(k->op, k->x, a, b));
    memset(a, 1, ref_size(k->x));
    memset(b, 1, ref_size(k->y));
}

static void try_reduction(const struct kernel *k, const struct kernel_form *f,
                          int64_t cols, enum kernel_rows rows)
{
    memset(kernel_pool_x, 1, sizeof kernel_pool_x);
    memset(kernel_pool_y, 1, sizeof kernel_pool_y);
    kernel_make_operands(k, f, cols, rows);
    verify_flag(k, 0, false);
    verify_flag(k, 1, true);
    for (int64_t r = 0; r < kernel_y.shape[0]; r++) {
        plant(k, r, 0, 1, 0xFF);
        for (int64_t c = 0; c < cols; c += 1 + (c > 3 && c < cols - 9) * 5) {
            plant(k, r, c, 0, 0);
            plant(k, r, c, 0, 0xFF);
        }
    }
}

START_TEST(reductions_find_one_element_wherever_it_is)
{
    if (!support_level(_i))
        return;
    for (int op = EW_ANY_ZERO; op < EW_PAST; op++)
        for (int type = 1; type <= REF_TYPES; type++) {
            elementwise_dtype t = (elementwise_dtype)type;
            struct kernel k = {.level = _i, .op = op, .x = t, .y = t};
            k.out = ELEMENTWISE_BOOL;
            k.run = ew_table_kernel(_i, op, t, t);
            if (!k.run)
                continue;
            int64_t vl = kernel_vector_length(&k);
            for (int f = 0; f < KERNEL_FORMS; f++) {
                enum kernel_rows rows = (enum kernel_rows)(f % KERNEL_ROWS);
                try_reduction(&k, &kernel_forms[f], 1 + f, rows);
                try_reduction(&k, &kernel_forms[f], vl + 1, KERNEL_ONE_ROW);
                try_reduction(&k, &kernel_forms[f], 2 * vl + 3, rows);
                try_reduction(&k, &kernel_forms[f], 9 * vl, rows);
            }
        }
    kernel_release();
}
END_TEST

START_TEST(integers_that_can_be_divided_have_a_reduction_for_zeros)
{
    if (!support_level(_i))
        return;
    for (int type = ELEMENTWISE_I8; type <= ELEMENTWISE_U64; type++) {
        elementwise_dtype t = (elementwise_dtype)type;
        ck_assert_ptr_nonnull(ew_table_kernel(_i, EW_ANY_ZERO, t, t));
        if (ref_is_signed(t))
            ck_assert_ptr_nonnull(
                ew_table_kernel(_i, EW_ANY_ZERO_TO_NEGATIVE, t, t));
    }
}
END_TEST

int main(void)
{
    TCase *reductions = support_case("reductions");
    tcase_add_loop_test(reductions, reductions_find_one_element_wherever_it_is,
                        0, EW_LEVELS);
    tcase_add_loop_test(reductions,
                        integers_that_can_be_divided_have_a_reduction_for_zeros,
                        0, EW_LEVELS);
    TCase *const cases[] = {reductions, NULL};
    return support_run("reduction", cases);
}
