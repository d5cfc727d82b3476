/*
 * Turns pairs of shapes and an axis into the shape of the result, or an
 * error, and views into addresses: the contract's examples one by one, every
 * small pair under every small axis against the reference, and the proof
 * that axis -1 is the axis rule with start = rank(x) - rank(y).
 */
#include <check.h>
#include <limits.h>
#include <string.h>

#include "elementwise.h"
#include "reference.h"
#include "support.h"

struct shape {
    int ndim;
    int64_t extent[4];
};

enum { MAX = ELEMENTWISE_MAX_NDIM };

static elementwise_tensor tensor_of(const struct shape *s)
{
    return (elementwise_tensor){NULL, ELEMENTWISE_F32, s->ndim, s->extent,
                                NULL};
}

static elementwise_status resolve(const struct shape *x, const struct shape *y,
                                  int axis, int *ndim, int64_t *shape)
{
    elementwise_tensor tx = tensor_of(x), ty = tensor_of(y);
    return elementwise_broadcast_shape(&tx, &ty, axis, ndim, shape);
}

/* Examples */

enum { BAD_AXIS = -1, BAD_SHAPE = -2 }; /* in the place of a rank */

static const struct {
    struct shape x, y;
    int axis;
    struct shape result;
} examples[] = {
    /* the contract's table */
    {{3, {2, 1, 4}}, {2, {3, 1}}, 1, {3, {2, 3, 4}}},
    {{4, {2, 3, 4, 5}}, {2, {4, 5}}, 1, {BAD_SHAPE, {0}}},
    {{4, {2, 3, 4, 5}}, {1, {3}}, 1, {4, {2, 3, 4, 5}}},
    /* Paddle's documentation, dimension by dimension */
    {{4, {2, 3, 4, 5}}, {2, {3, 4}}, 1, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {1, {2}}, 0, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {2, {2, 1}}, 0, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {2, {4, 5}}, 2, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {1, {5}}, 3, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {3, {2, 3, 4}}, 0, {4, {2, 3, 4, 5}}},
    /* trailing 1s are trimmed, and the fit is checked afterwards */
    {{4, {2, 3, 4, 5}}, {2, {5, 1}}, 3, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {2, {5, 2}}, 3, {BAD_SHAPE, {0}}},
    {{4, {2, 3, 4, 5}}, {3, {3, 1, 1}}, 1, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {3, {1, 4, 1}}, 1, {4, {2, 3, 4, 5}}},
    {{4, {2, 3, 4, 5}}, {4, {3, 1, 1, 1}}, 1, {4, {2, 3, 4, 5}}},
    {{2, {2, 3}}, {2, {3, 1}}, 1, {2, {2, 3}}},
    {{2, {2, 3}}, {2, {1, 3}}, 1, {BAD_SHAPE, {0}}},
    {{2, {2, 3}}, {2, {1, 3}}, 0, {2, {2, 3}}},
    /* the operand of smaller rank is placed, even if it is x */
    {{1, {3}}, {4, {2, 3, 4, 5}}, 1, {4, {2, 3, 4, 5}}},
    {{1, {3}}, {4, {2, 3, 4, 5}}, -1, {BAD_SHAPE, {0}}},
    {{2, {5, 1}}, {4, {2, 3, 4, 5}}, 3, {4, {2, 3, 4, 5}}},
    {{2, {2, 1}}, {2, {2, 1}}, 0, {2, {2, 1}}},
    /* with equal ranks it is y: x keeps its trailing 1s */
    {{2, {3, 1}}, {2, {2, 3}}, 1, {BAD_SHAPE, {0}}},
    {{2, {2, 1}}, {2, {2, 3}}, 0, {2, {2, 3}}},
    {{2, {2, 3}}, {2, {2, 1}}, 0, {2, {2, 3}}},
    /* either side may be stretched */
    {{4, {2, 1, 4, 5}}, {2, {3, 4}}, 1, {4, {2, 3, 4, 5}}},
    {{3, {1, 1, 1}}, {2, {2, 3}}, 1, {3, {1, 2, 3}}},
    {{3, {1, 1, 1}}, {2, {2, 3}}, 0, {3, {2, 3, 1}}},
    /* 0 */
    {{2, {2, 0}}, {1, {0}}, 1, {2, {2, 0}}},
    {{2, {2, 1}}, {1, {0}}, 1, {2, {2, 0}}},
    {{2, {2, 3}}, {1, {0}}, 1, {BAD_SHAPE, {0}}},
    {{2, {0, 3}}, {1, {2}}, 0, {BAD_SHAPE, {0}}},
    {{2, {0, 3}}, {1, {3}}, 1, {2, {0, 3}}},
    /* an axis out of range */
    {{2, {2, 3}}, {1, {3}}, -2, {BAD_AXIS, {0}}},
    {{2, {2, 3}}, {1, {3}}, 2, {BAD_AXIS, {0}}},
    {{2, {2, 3}}, {1, {3}}, INT_MIN, {BAD_AXIS, {0}}},
    {{2, {2, 3}}, {1, {3}}, INT_MAX, {BAD_AXIS, {0}}},
    {{1, {3}}, {2, {2, 3}}, 2, {BAD_AXIS, {0}}},
    {{2, {1, 1}}, {2, {2, 3}}, 2, {BAD_AXIS, {0}}},
    {{2, {2, 3}}, {2, {2, 1}}, 2, {BAD_AXIS, {0}}},
    /* where the axis is not read */
    {{2, {2, 3}}, {2, {2, 3}}, 9, {2, {2, 3}}},
    {{2, {2, 3}}, {0, {0}}, -7, {2, {2, 3}}},
    {{0, {0}}, {2, {2, 3}}, INT_MAX, {2, {2, 3}}},
    {{2, {2, 3}}, {1, {1}}, INT_MIN, {2, {2, 3}}},
    {{2, {2, 3}}, {2, {1, 1}}, 2, {2, {2, 3}}},
    {{1, {1}}, {2, {2, 3}}, -2, {2, {2, 3}}},
    {{0, {0}}, {0, {0}}, 5, {0, {0}}},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

START_TEST(examples_of_the_contract_hold)
{
    const struct shape *expected = &examples[_i].result;
    int64_t shape[MAX];
    int ndim = 99;
    elementwise_status status = resolve(&examples[_i].x, &examples[_i].y,
                                        examples[_i].axis, &ndim, shape);
    if (expected->ndim < 0) {
        ck_assert_int_eq(status, expected->ndim == BAD_AXIS
                                     ? ELEMENTWISE_BAD_AXIS
                                     : ELEMENTWISE_BAD_SHAPE);
        ck_assert_int_eq(ndim, 99);
        return;
    }
    ck_assert_int_eq(status, ELEMENTWISE_OK);
    ck_assert_int_eq(ndim, expected->ndim);
    for (int k = 0; k < ndim; k++)
        ck_assert_int_eq(shape[k], expected->extent[k]);
}
END_TEST

/* Everything small. */

static struct shape small_shape(int i, int least)
{
    struct shape s;
    s.ndim = support_nth_shape(i, least, 3, s.extent);
    return s;
}

enum {
    SMALL = 1 + 4 + 16 + 64,        /* ranks 0 ... 3, extents 0 ... 3 */
    POSITIVE = 1 + 3 + 9 + 27 + 81, /* ranks 0 ... 4, extents 1 ... 3 */
    FIRST_AXIS = -3,
    LAST_AXIS = 4
};

START_TEST(all_small_pairs_are_resolved_as_in_the_reference)
{
    for (int i = 0; i < SMALL * SMALL; i++) {
        struct shape x = small_shape(i / SMALL, 0);
        struct shape y = small_shape(i % SMALL, 0);
        elementwise_tensor tx = tensor_of(&x), ty = tensor_of(&y);
        int64_t shape[MAX];
        int ndim = 99;
        struct ref_fit fit;
        elementwise_status status = ref_fit(&tx, &ty, _i, &fit);
        ck_assert_msg(resolve(&x, &y, _i, &ndim, shape) == status,
                      "axis %d, pair %d", _i, i);
        ck_assert_int_eq(ndim, status == ELEMENTWISE_OK ? fit.ndim : 99);
        if (status == ELEMENTWISE_OK)
            ck_assert(!memcmp(shape, fit.shape, (size_t)ndim * sizeof *shape));
    }
}
END_TEST

/*
 * One number serves both rules because they meet at -1. What decides is only
 * which extents are 1 and which are equal, so that extents 1 to 3 stand for
 * all.
 */
START_TEST(axis_minus_1_is_start_at_the_difference_of_the_ranks)
{
    for (int i = 0; i < POSITIVE * POSITIVE; i++) {
        struct shape x = small_shape(i / POSITIVE, 1);
        struct shape y = small_shape(i % POSITIVE, 1);
        int64_t right[MAX], placed[MAX];
        int ndim = 0, placed_ndim = 0;
        int start = x.ndim > y.ndim ? x.ndim - y.ndim : y.ndim - x.ndim;
        elementwise_status status = resolve(&x, &y, -1, &ndim, right);
        ck_assert_int_eq(resolve(&x, &y, start, &placed_ndim, placed), status);
        ck_assert_int_eq(ndim, placed_ndim);
        if (ndim)
            ck_assert_mem_eq(right, placed, (size_t)ndim * sizeof *right);
    }
}
END_TEST

/* The same of values: both must also place the elements alike. */
START_TEST(axis_minus_1_gives_the_values_of_that_start)
{
    int64_t a[81], b[81], right[81], placed[81], shape[MAX];
    for (int i = 0; i < 81; i++) {
        a[i] = i * i;
        b[i] = 1000 * i * i;
    }
    for (int i = 0; i < POSITIVE * POSITIVE; i++) {
        struct shape x = small_shape(i / POSITIVE, 1);
        struct shape y = small_shape(i % POSITIVE, 1);
        int ndim = 0;
        int start = x.ndim > y.ndim ? x.ndim - y.ndim : y.ndim - x.ndim;
        if (resolve(&x, &y, -1, &ndim, shape) != ELEMENTWISE_OK)
            continue;
        elementwise_tensor tx = {a, ELEMENTWISE_I64, x.ndim, x.extent, NULL};
        elementwise_tensor ty = {b, ELEMENTWISE_I64, y.ndim, y.extent, NULL};
        elementwise_tensor one = {right, ELEMENTWISE_I64, ndim, shape, NULL};
        elementwise_tensor two = {placed, ELEMENTWISE_I64, ndim, shape, NULL};
        memset(right, 0, sizeof right);
        memset(placed, 0, sizeof placed);
        ck_assert_int_eq(elementwise_sub(&tx, &ty, -1, &one), ELEMENTWISE_OK);
        ck_assert_int_eq(elementwise_sub(&tx, &ty, start, &two),
                         ELEMENTWISE_OK);
        ck_assert(!memcmp(right, placed, sizeof right));
    }
}
END_TEST

/* Which operand is placed, and that x - y stays x - y. */
START_TEST(the_smaller_operand_is_placed_and_the_order_is_kept)
{
    int64_t small[] = {3}, large[] = {2, 3, 2};
    int32_t bias[] = {100, 200, 300}, out[12];
    int32_t many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    elementwise_tensor s = {bias, ELEMENTWISE_I32, 1, small, NULL};
    elementwise_tensor l = {many, ELEMENTWISE_I32, 3, large, NULL};
    elementwise_tensor o = {out, ELEMENTWISE_I32, 3, large, NULL};
    ck_assert_int_eq(elementwise_sub(&l, &s, 1, &o), ELEMENTWISE_OK);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(out[i], many[i] - bias[i / 2 % 3]);
    ck_assert_int_eq(elementwise_sub(&s, &l, 1, &o), ELEMENTWISE_OK);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(out[i], bias[i / 2 % 3] - many[i]);
}
END_TEST

/* out */

START_TEST(out_must_have_exactly_the_shape_of_the_result)
{
    static const struct shape wrong[] = {
        {1, {6}},          {2, {3, 2}},   {2, {2, 1}}, {3, {1, 2, 3}},
        {3, {2, 3, 1}},    {2, {2, 4}},   {2, {0, 3}}, {0, {0}},
        {4, {1, 1, 2, 3}}, {2, {1, 3}},   {1, {3}},    {2, {4, 3}},
        {4, {2, 1, 3, 1}}, {3, {2, 1, 3}}};
    float a[6] = {0}, b[3] = {0}, c[16];
    int64_t x_shape[] = {2, 3}, y_shape[] = {3};
    memset(c, 0xA5, sizeof c);
    elementwise_tensor x = {a, ELEMENTWISE_F32, 2, x_shape, NULL};
    elementwise_tensor y = {b, ELEMENTWISE_F32, 1, y_shape, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        elementwise_tensor out = tensor_of(&wrong[i]);
        out.data = c;
        ck_assert_int_eq(elementwise_sub(&x, &y, 1, &out),
                         ELEMENTWISE_BAD_SHAPE);
        ck_assert_int_eq(elementwise_sub(&x, &y, -1, &out),
                         ELEMENTWISE_BAD_SHAPE);
    }
    for (size_t i = 0; i < sizeof c; i++)
        ck_assert_uint_eq(((unsigned char *)c)[i], 0xA5);
}
END_TEST

START_TEST(an_operand_that_is_stretched_cannot_be_out)
{
    float a[6] = {0}, b[3] = {0};
    int64_t x_shape[] = {2, 3}, y_shape[] = {3}, column[] = {2, 1};
    elementwise_tensor x = {a, ELEMENTWISE_F32, 2, x_shape, NULL};
    elementwise_tensor y = {b, ELEMENTWISE_F32, 1, y_shape, NULL};
    elementwise_tensor narrow = {a, ELEMENTWISE_F32, 2, column, NULL};
    ck_assert_int_eq(elementwise_add(&x, &y, 1, &y), ELEMENTWISE_BAD_SHAPE);
    ck_assert_int_eq(elementwise_add(&narrow, &y, -1, &narrow),
                     ELEMENTWISE_BAD_SHAPE);
    ck_assert_int_eq(elementwise_add(&x, &y, 1, &x), ELEMENTWISE_OK);
}
END_TEST

/* Views */

/* A view is right if the element at each of its indices is the one that the
   reference finds in src. */
static void assert_view(const elementwise_tensor *view,
                        const elementwise_tensor *src,
                        const struct ref_fit *fit)
{
    int64_t index[MAX] = {0};
    for (int k = 0; k < fit->ndim; k++) {
        bool stretched = fit->y[k] < 0 || src->shape[fit->y[k]] == 1;
        if (fit->shape[k] == 0)
            return;
        if (stretched && fit->shape[k] > 1)
            ck_assert_int_eq(view->strides[k], 0);
    }
    do
        ck_assert_ptr_eq(ref_at(view, index),
                         ref_element(src, fit->ndim, fit->y, index));
    while (ref_next(fit->ndim, fit->shape, index));
}

static bool same_shape(const struct shape *a, const struct ref_fit *b)
{
    return a->ndim == b->ndim &&
           !memcmp(a->extent, b->shape, (size_t)a->ndim * sizeof *b->shape);
}

/* Where the axis is out of range too, either error will do. */
static void assert_broadcast_to(const struct shape *target,
                                elementwise_tensor *src, int axis)
{
    int64_t strides[MAX];
    elementwise_tensor view, whole = tensor_of(target);
    struct ref_fit fit;
    elementwise_status expected = ref_fit(&whole, src, axis, &fit);
    bool fits = expected == ELEMENTWISE_OK && same_shape(target, &fit);
    elementwise_status status = elementwise_broadcast_to(
        src, axis, target->ndim, target->extent, strides, &view);
    if (!fits) {
        ck_assert(status == ELEMENTWISE_BAD_SHAPE || status == expected);
        ck_assert_int_ne(status, ELEMENTWISE_OK);
        return;
    }
    ck_assert_int_eq(status, ELEMENTWISE_OK);
    ck_assert_ptr_eq(view.data, src->data);
    ck_assert_int_eq(view.dtype, src->dtype);
    ck_assert_int_eq(view.ndim, target->ndim);
    ck_assert(target->ndim == 0 || view.strides == strides);
    assert_view(&view, src, &fit);
}

START_TEST(small_views_are_those_of_the_reference)
{
    static char memory[1];
    int64_t odd[] = {-7, 11, -3};
    for (int i = 0; i < SMALL * SMALL; i++) {
        struct shape target = small_shape(i / SMALL, 0);
        struct shape from = small_shape(i % SMALL, 0);
        elementwise_tensor src = tensor_of(&from);
        src.data = memory;
        assert_broadcast_to(&target, &src, _i);
        src.strides = odd;
        assert_broadcast_to(&target, &src, _i);
    }
}
END_TEST

START_TEST(a_view_is_read_like_the_tensor_that_it_stretches)
{
    int64_t shape[] = {2, 3, 2}, strides[3], channels[] = {3}, ones[3];
    float bias[] = {1, 2, 3}, zeros[12] = {0}, out[12];
    elementwise_tensor src = {bias, ELEMENTWISE_F32, 1, channels, NULL}, view;
    elementwise_tensor x = {zeros, ELEMENTWISE_F32, 3, shape, NULL};
    elementwise_tensor o = {out, ELEMENTWISE_F32, 3, shape, NULL};
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, 1, 3, shape, strides, &view),
        ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_add(&x, &view, -1, &o), ELEMENTWISE_OK);
    for (int i = 0; i < 12; i++)
        ck_assert_float_eq(out[i], bias[i / 2 % 3]);
    ck_assert_int_eq(elementwise_broadcast_to(&src, 1, 3, shape, NULL, &view),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_broadcast_to(&src, 1, 3, shape, ones, NULL),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_broadcast_to(NULL, 1, 3, shape, ones, &view),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_broadcast_to(&src, 1, 3, NULL, ones, &view),
                     ELEMENTWISE_INVALID);
}
END_TEST

START_TEST(a_view_of_a_wrong_rank_or_extent_is_refused)
{
    int64_t shape[MAX + 1], strides[MAX + 1], one[] = {1};
    float number = 0;
    elementwise_tensor src = {&number, ELEMENTWISE_F32, 1, one, NULL}, view;
    for (int k = 0; k <= MAX; k++)
        shape[k] = 1;
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, MAX + 1, shape, strides, &view),
        ELEMENTWISE_INVALID);
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, -1, shape, strides, &view),
        ELEMENTWISE_INVALID);
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, MAX, shape, strides, &view),
        ELEMENTWISE_OK);
    shape[3] = -1;
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, MAX, shape, strides, &view),
        ELEMENTWISE_INVALID);
    shape[3] = shape[4] = shape[5] = 1LL << 31;
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, MAX, shape, strides, &view),
        ELEMENTWISE_TOO_LARGE);
}
END_TEST

/* Rank 64 */

START_TEST(every_axis_of_rank_64_is_reached)
{
    int64_t x_shape[MAX], shape[MAX], three[] = {3, 1};
    for (int axis = 0; axis < MAX; axis++) {
        int ndim = 0;
        for (int k = 0; k < MAX; k++)
            x_shape[k] = 1;
        elementwise_tensor x = {NULL, ELEMENTWISE_I8, MAX, x_shape, NULL};
        elementwise_tensor y = {NULL, ELEMENTWISE_I8, 2, three, NULL};
        ck_assert_int_eq(
            elementwise_broadcast_shape(&x, &y, axis, &ndim, shape),
            ELEMENTWISE_OK);
        ck_assert_int_eq(ndim, MAX);
        for (int k = 0; k < MAX; k++)
            ck_assert_int_eq(shape[k], k == axis ? 3 : 1);
    }
}
END_TEST

START_TEST(axis_64_of_rank_64_is_refused)
{
    int64_t x_shape[MAX], shape[MAX], three[] = {3};
    int ndim;
    for (int k = 0; k < MAX; k++)
        x_shape[k] = 1;
    elementwise_tensor x = {NULL, ELEMENTWISE_I8, MAX, x_shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I8, 1, three, NULL};
    ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, MAX, &ndim, shape),
                     ELEMENTWISE_BAD_AXIS);
}
END_TEST

/* The message */

START_TEST(the_message_tells_where_the_shapes_disagree)
{
    struct shape x = {4, {2, 3, 4, 5}}, y = {1, {4}};
    int64_t shape[MAX];
    int ndim;
    ck_assert_int_eq(resolve(&x, &y, 1, &ndim, shape), ELEMENTWISE_BAD_SHAPE);
    const char *message = elementwise_last_error();
    ck_assert_msg(strstr(message, "dimension 1") && strstr(message, "3") &&
                      strstr(message, "axis 1"),
                  "%s", message);
}
END_TEST

int main(void)
{
    TCase *table = support_case("examples");
    TCase *small = support_case("small");
    TCase *placed = support_case("placed");
    TCase *views = support_case("views");
    TCase *limits = support_case("limits");
    tcase_add_loop_test(table, examples_of_the_contract_hold, 0, EXAMPLES);
    tcase_add_test(table, the_message_tells_where_the_shapes_disagree);
    tcase_add_loop_test(small, all_small_pairs_are_resolved_as_in_the_reference,
                        FIRST_AXIS, LAST_AXIS + 1);
    tcase_add_test(small, axis_minus_1_is_start_at_the_difference_of_the_ranks);
    tcase_add_test(small, axis_minus_1_gives_the_values_of_that_start);
    tcase_add_test(placed, the_smaller_operand_is_placed_and_the_order_is_kept);
    tcase_add_test(placed, out_must_have_exactly_the_shape_of_the_result);
    tcase_add_test(placed, an_operand_that_is_stretched_cannot_be_out);
    tcase_add_loop_test(views, small_views_are_those_of_the_reference,
                        FIRST_AXIS, LAST_AXIS + 1);
    tcase_add_test(views, a_view_is_read_like_the_tensor_that_it_stretches);
    tcase_add_test(views, a_view_of_a_wrong_rank_or_extent_is_refused);
    tcase_add_test(limits, every_axis_of_rank_64_is_reached);
    tcase_add_test(limits, axis_64_of_rank_64_is_refused);
    TCase *const cases[] = {table, small, placed, views, limits, NULL};
    return support_run("shape_axis", cases);
}
