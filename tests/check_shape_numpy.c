/*
 * Turns pairs and lists of shapes into the shape that right alignment gives
 * them, or an error: the contract's examples one by one, then everything
 * small against the reference, then the largest ranks and extents.
 */
#include <check.h>
#include <string.h>

#include "elementwise.h"
#include "reference.h"
#include "support.h"

struct shape {
    int ndim;
    int64_t extent[4];
};

enum { ERROR = -1 };

static elementwise_tensor tensor_of(const struct shape *s)
{
    return (elementwise_tensor){NULL, ELEMENTWISE_F32, s->ndim, s->extent,
                                NULL};
}

static elementwise_status resolve(const struct shape *x, const struct shape *y,
                                  int *ndim, int64_t *shape)
{
    elementwise_tensor tx = tensor_of(x), ty = tensor_of(y);
    return elementwise_broadcast_shape(&tx, &ty, ELEMENTWISE_NUMPY, ndim,
                                       shape);
}

/* Examples */

static const struct {
    struct shape x, y, result;
} examples[] = {
    {{2, {4, 3}}, {2, {4, 3}}, {2, {4, 3}}},
    {{2, {4, 3}}, {1, {3}}, {2, {4, 3}}},
    {{2, {4, 1}}, {1, {3}}, {2, {4, 3}}},
    {{3, {4, 32, 8}}, {0, {0}}, {3, {4, 32, 8}}},
    {{4, {4, 32, 14, 14}}, {4, {2, 32, 14, 14}}, {ERROR, {0}}},
    {{4, {4, 3, 32, 32}}, {2, {32, 32}}, {4, {4, 3, 32, 32}}},
    {{4, {4, 3, 32, 32}}, {3, {3, 1, 1}}, {4, {4, 3, 32, 32}}},
    {{4, {4, 3, 32, 32}}, {4, {1, 1, 1, 1}}, {4, {4, 3, 32, 32}}},
    {{4, {4, 16, 16, 32}}, {1, {32}}, {4, {4, 16, 16, 32}}},
    {{4, {4, 32, 32, 3}}, {1, {3}}, {4, {4, 32, 32, 3}}},
    {{2, {4, 1}}, {2, {1, 3}}, {2, {4, 3}}},
    {{1, {4}}, {2, {1, 3}}, {ERROR, {0}}},
    {{4, {2, 3, 1, 5}}, {3, {3, 4, 1}}, {4, {2, 3, 4, 5}}},
    {{3, {2, 3, 4}}, {3, {2, 3, 6}}, {ERROR, {0}}},
    {{3, {2, 1, 4}}, {2, {3, 1}}, {3, {2, 3, 4}}},
    {{3, {2, 1, 4}}, {2, {3, 2}}, {ERROR, {0}}},
    {{2, {3, 1}}, {3, {3, 1, 3}}, {3, {3, 3, 3}}},
    {{3, {3, 4, 1}}, {2, {1, 2}}, {3, {3, 4, 2}}},
    {{3, {3, 4, 1}}, {1, {2}}, {3, {3, 4, 2}}},
    {{2, {2, 3}}, {1, {3}}, {2, {2, 3}}},
    {{2, {3, 1}}, {1, {3}}, {2, {3, 3}}},
    {{2, {3, 2}}, {1, {3}}, {ERROR, {0}}},
    {{1, {0}}, {2, {2, 2}}, {ERROR, {0}}},
    {{1, {0}}, {1, {1}}, {1, {0}}},
    {{1, {0}}, {2, {2, 1}}, {2, {2, 0}}},
    {{1, {2}}, {1, {0}}, {ERROR, {0}}},
    {{0, {0}}, {2, {4, 0}}, {2, {4, 0}}},
    {{0, {0}}, {0, {0}}, {0, {0}}},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

START_TEST(examples_of_the_contract_hold)
{
    const struct shape *expected = &examples[_i].result;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim = 99;
    elementwise_status status =
        resolve(&examples[_i].x, &examples[_i].y, &ndim, shape);
    if (expected->ndim == ERROR) {
        ck_assert_int_eq(status, ELEMENTWISE_BAD_SHAPE);
        ck_assert_int_eq(ndim, 99);
        return;
    }
    ck_assert_int_eq(status, ELEMENTWISE_OK);
    ck_assert_int_eq(ndim, expected->ndim);
    for (int k = 0; k < ndim; k++)
        ck_assert_int_eq(shape[k], expected->extent[k]);
}
END_TEST

START_TEST(examples_hold_with_x_and_y_exchanged)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM], swapped[ELEMENTWISE_MAX_NDIM];
    int ndim = 0, swapped_ndim = 0;
    elementwise_status one =
        resolve(&examples[_i].x, &examples[_i].y, &ndim, shape);
    elementwise_status other =
        resolve(&examples[_i].y, &examples[_i].x, &swapped_ndim, swapped);
    ck_assert_int_eq(one, other);
    ck_assert_int_eq(ndim, swapped_ndim);
    ck_assert_mem_eq(shape, swapped, (size_t)ndim * sizeof *shape);
}
END_TEST

START_TEST(the_message_names_the_dimension_and_both_extents)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    struct shape x = {4, {4, 32, 14, 14}}, y = {4, {2, 32, 14, 14}};
    ck_assert_int_eq(resolve(&x, &y, &ndim, shape), ELEMENTWISE_BAD_SHAPE);
    const char *message = elementwise_last_error();
    ck_assert_msg(strstr(message, "dimension 0") && strstr(message, "4") &&
                      strstr(message, "2"),
                  "%s", message);
}
END_TEST

/* Everything small. Shape number i of rank 0 ... 3 and extents 0 ... 3. */

enum { SMALL = 1 + 4 + 16 + 64, SMALLER = 1 + 4 + 16 };

static struct shape small_shape(int i)
{
    struct shape s;
    s.ndim = support_nth_shape(i, 0, 3, s.extent);
    return s;
}

START_TEST(all_small_pairs_are_resolved_as_in_the_reference)
{
    for (int i = 0; i < SMALL * SMALL; i++) {
        struct shape x = small_shape(i / SMALL), y = small_shape(i % SMALL);
        elementwise_tensor tx = tensor_of(&x), ty = tensor_of(&y);
        int64_t shape[ELEMENTWISE_MAX_NDIM];
        int ndim = 0;
        struct ref_fit fit;
        elementwise_status status = ref_fit(&tx, &ty, ELEMENTWISE_NUMPY, &fit);
        ck_assert_int_eq(resolve(&x, &y, &ndim, shape), status);
        if (status != ELEMENTWISE_OK)
            continue;
        ck_assert_int_eq(ndim, fit.ndim);
        ck_assert(!memcmp(shape, fit.shape, (size_t)ndim * sizeof *shape));
    }
}
END_TEST

/* Several operands: one after the other into what there is so far. */
static elementwise_status fold(const elementwise_tensor *const operands[],
                               int n, struct ref_fit *fit)
{
    elementwise_status status = ELEMENTWISE_OK;
    elementwise_tensor so_far = *operands[0];
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < n && status == ELEMENTWISE_OK; i++) {
        status = ref_fit(&so_far, operands[i], ELEMENTWISE_NUMPY, fit);
        memcpy(shape, fit->shape, sizeof shape);
        so_far.ndim = fit->ndim;
        so_far.shape = shape;
    }
    return status;
}

static void assert_shapes(const elementwise_tensor *const operands[], int n)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim = 99;
    struct ref_fit fit;
    elementwise_status status = fold(operands, n, &fit);
    ck_assert_int_eq(elementwise_broadcast_shapes(operands, n, &ndim, shape),
                     status);
    ck_assert_int_eq(ndim, status == ELEMENTWISE_OK ? fit.ndim : 99);
    if (status == ELEMENTWISE_OK && ndim > 0)
        ck_assert_mem_eq(shape, fit.shape, (size_t)ndim * sizeof *shape);
}

START_TEST(all_small_triples_are_resolved_as_in_the_reference)
{
    for (int i = 0; i < SMALLER * SMALLER * SMALLER; i++) {
        struct shape shapes[] = {small_shape(i % SMALLER),
                                 small_shape(i / SMALLER % SMALLER),
                                 small_shape(i / SMALLER / SMALLER)};
        elementwise_tensor a = tensor_of(&shapes[0]), b = tensor_of(&shapes[1]);
        elementwise_tensor c = tensor_of(&shapes[2]);
        const elementwise_tensor *const operands[] = {&a, &b, &c};
        for (int n = 1; n <= 3; n++)
            assert_shapes(operands, n);
    }
}
END_TEST

START_TEST(many_operands_are_resolved_as_in_the_reference)
{
    enum { MOST = 200 };
    static struct shape shapes[MOST];
    elementwise_tensor tensors[MOST];
    const elementwise_tensor *operands[MOST];
    for (int round = 0; round < 300; round++) {
        int n = (int)support_random(1, MOST);
        int odd = (int)support_random(0, 3 * MOST);
        for (int i = 0; i < n; i++) {
            shapes[i].ndim = (int)support_random(0, 4);
            for (int k = 0; k < shapes[i].ndim; k++)
                shapes[i].extent[k] = i == odd || support_random(0, 1)
                                          ? 1
                                          : 7 - shapes[i].ndim + k;
            if (i == odd && shapes[i].ndim)
                shapes[i].extent[0] = 9;
            tensors[i] = tensor_of(&shapes[i]);
            operands[i] = &tensors[i];
        }
        assert_shapes(operands, n);
    }
}
END_TEST

START_TEST(one_operand_keeps_its_shape)
{
    for (int i = 0; i < SMALL; i++) {
        struct shape s = small_shape(i);
        elementwise_tensor t = tensor_of(&s);
        const elementwise_tensor *const operands[] = {&t};
        assert_shapes(operands, 1);
    }
}
END_TEST

/* Limits */

enum { MAX = ELEMENTWISE_MAX_NDIM };

START_TEST(rank_64_is_resolved)
{
    int64_t x_shape[MAX], y_shape[MAX], shape[MAX];
    int ndim;
    for (int k = 0; k < MAX; k++) {
        x_shape[k] = k % 3 == 0 && k < 60 ? 2 : 1;
        y_shape[k] = k % 3 == 1 && k < 60 ? 2 : 1;
    }
    elementwise_tensor x = {NULL, ELEMENTWISE_I8, MAX, x_shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I8, MAX, y_shape, NULL};
    ck_assert_int_eq(
        elementwise_broadcast_shape(&x, &y, ELEMENTWISE_NUMPY, &ndim, shape),
        ELEMENTWISE_OK);
    ck_assert_int_eq(ndim, MAX);
    for (int k = 0; k < MAX; k++)
        ck_assert_int_eq(shape[k], x_shape[k] * y_shape[k]);
}
END_TEST

/* y of each rank stands at the last dimensions of an x of rank 64. */
START_TEST(every_rank_meets_rank_64_at_the_right)
{
    int64_t x_shape[MAX], shape[MAX], three[MAX];
    for (int rank = 0; rank <= MAX; rank++) {
        int ndim = 0;
        for (int k = 0; k < MAX; k++) {
            x_shape[k] = 1;
            three[k] = k == 0 ? 3 : 1;
        }
        elementwise_tensor x = {NULL, ELEMENTWISE_I8, MAX, x_shape, NULL};
        elementwise_tensor y = {NULL, ELEMENTWISE_I8, rank, three, NULL};
        ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, ELEMENTWISE_NUMPY,
                                                     &ndim, shape),
                         ELEMENTWISE_OK);
        ck_assert_int_eq(ndim, MAX);
        for (int k = 0; k < MAX; k++)
            ck_assert_int_eq(shape[k], rank && k == MAX - rank ? 3 : 1);
    }
}
END_TEST

static elementwise_status pair_status(int x_ndim, const int64_t x_shape[],
                                      int y_ndim, const int64_t y_shape[])
{
    int64_t shape[MAX];
    int ndim;
    elementwise_tensor x = {NULL, ELEMENTWISE_C128, x_ndim, x_shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_C128, y_ndim, y_shape, NULL};
    return elementwise_broadcast_shape(&x, &y, ELEMENTWISE_NUMPY, &ndim, shape);
}

START_TEST(ranks_outside_0_to_64_are_refused)
{
    int64_t ones[MAX + 1];
    for (int k = 0; k <= MAX; k++)
        ones[k] = 1;
    ck_assert_int_eq(pair_status(MAX + 1, ones, 1, ones), ELEMENTWISE_INVALID);
    ck_assert_int_eq(pair_status(1, ones, MAX + 1, ones), ELEMENTWISE_INVALID);
    ck_assert_int_eq(pair_status(-1, ones, 1, ones), ELEMENTWISE_INVALID);
    ck_assert_int_eq(pair_status(1, ones, INT32_MIN, ones),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(pair_status(INT32_MAX, ones, 1, ones),
                     ELEMENTWISE_INVALID);
}
END_TEST

START_TEST(extents_beyond_32_bits_are_kept)
{
    int64_t big = 2281701379, shape[MAX], one = 1;
    int ndim;
    elementwise_tensor x = {NULL, ELEMENTWISE_I64, 1, &one, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I64, 1, &big, NULL};
    for (; big < INT64_MAX / 32; big = big * 16 + 5) {
        ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, -1, &ndim, shape),
                         ELEMENTWISE_OK);
        ck_assert_int_eq(shape[0], big);
    }
}
END_TEST

/* 2^32 and 1 agree in their lower halves with 0 and 1. */
START_TEST(extents_are_not_compared_in_32_bits)
{
    int64_t x[] = {3, 1LL << 32}, zero[] = {0}, wide[] = {(1LL << 32) + 3};
    ck_assert_int_eq(pair_status(2, x, 1, zero), ELEMENTWISE_BAD_SHAPE);
    ck_assert_int_eq(pair_status(1, x, 1, wide), ELEMENTWISE_BAD_SHAPE);
}
END_TEST

START_TEST(results_with_too_many_elements_are_too_large)
{
    int64_t column[] = {1LL << 32, 1}, row[] = {1, 1LL << 31};
    int64_t empty[] = {0, 1LL << 32, 1}, wide[] = {1LL << 32};
    int64_t negative[] = {-1};
    ck_assert_int_eq(pair_status(2, column, 2, row), ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(pair_status(2, row, 2, column), ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(pair_status(3, empty, 1, wide), ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(pair_status(1, negative, 0, NULL), ELEMENTWISE_INVALID);
    row[1] = 1LL << 30;
    ck_assert_int_eq(pair_status(2, column, 2, row), ELEMENTWISE_OK);
}
END_TEST

START_TEST(missing_pointers_are_refused)
{
    int64_t shape[MAX], two = 2;
    int ndim;
    elementwise_tensor t = {NULL, ELEMENTWISE_I8, 1, &two, NULL};
    elementwise_tensor without = {NULL, ELEMENTWISE_I8, 1, NULL, NULL};
    const elementwise_tensor *const list[] = {&t, NULL};
    const elementwise_tensor *const bare[] = {&t, &without};
    elementwise_status statuses[] = {
        elementwise_broadcast_shape(NULL, &t, -1, &ndim, shape),
        elementwise_broadcast_shape(&t, NULL, -1, &ndim, shape),
        elementwise_broadcast_shape(&t, &t, -1, NULL, shape),
        elementwise_broadcast_shape(&t, &t, -1, &ndim, NULL),
        elementwise_broadcast_shape(&t, &without, -1, &ndim, shape),
        elementwise_broadcast_shapes(NULL, 1, &ndim, shape),
        elementwise_broadcast_shapes(list, 2, &ndim, shape),
        elementwise_broadcast_shapes(bare, 2, &ndim, shape),
        elementwise_broadcast_shapes(list, 0, &ndim, shape),
        elementwise_broadcast_shapes(list, -1, &ndim, shape),
        elementwise_broadcast_shapes(list, 1, NULL, shape),
        elementwise_broadcast_shapes(list, 1, &ndim, NULL)};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        ck_assert_int_eq(statuses[i], ELEMENTWISE_INVALID);
}
END_TEST

/* "Shape queries read only ndim and shape": neither type, data nor strides. */
START_TEST(other_fields_are_not_read)
{
    int64_t shape[MAX], two[] = {2, 1};
    int ndim = 0;
    int64_t *nowhere = (int64_t *)(uintptr_t)16;
    elementwise_tensor t = {nowhere, (elementwise_dtype)0, 2, two, nowhere};
    const elementwise_tensor *const list[] = {&t, &t};
    ck_assert_int_eq(elementwise_broadcast_shape(&t, &t, -1, &ndim, shape),
                     ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_broadcast_shapes(list, 2, &ndim, shape),
                     ELEMENTWISE_OK);
    ck_assert_int_eq(ndim, 2);
}
END_TEST

int main(void)
{
    TCase *table = support_case("examples");
    TCase *small = support_case("small");
    TCase *limits = support_case("limits");
    tcase_add_loop_test(table, examples_of_the_contract_hold, 0, EXAMPLES);
    tcase_add_loop_test(table, examples_hold_with_x_and_y_exchanged, 0,
                        EXAMPLES);
    tcase_add_test(table, the_message_names_the_dimension_and_both_extents);
    tcase_add_test(small, all_small_pairs_are_resolved_as_in_the_reference);
    tcase_add_test(small, all_small_triples_are_resolved_as_in_the_reference);
    tcase_add_test(small, many_operands_are_resolved_as_in_the_reference);
    tcase_add_test(small, one_operand_keeps_its_shape);
    tcase_add_test(limits, rank_64_is_resolved);
    tcase_add_test(limits, every_rank_meets_rank_64_at_the_right);
    tcase_add_test(limits, ranks_outside_0_to_64_are_refused);
    tcase_add_test(limits, extents_beyond_32_bits_are_kept);
    tcase_add_test(limits, extents_are_not_compared_in_32_bits);
    tcase_add_test(limits, results_with_too_many_elements_are_too_large);
    tcase_add_test(limits, missing_pointers_are_refused);
    tcase_add_test(limits, other_fields_are_not_read);
    TCase *const cases[] = {table, small, limits, NULL};
    return support_run("shape_numpy", cases);
}
