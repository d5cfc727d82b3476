/*
 * Asks the questions that need no data, and holds the answers against each
 * other: n shapes against pairs of shapes, a broadcast view against a copy;
 * and bytes against products worked out by hand.
 */
#include <check.h>
#include <string.h>

#include "elementwise.h"
#include "support.h"

enum { RANKS = 3, SHAPES = 85 };

/* Shape number n of rank 0 ... 3 with extents 0 ... 3. */
static elementwise_tensor nth(int n, int64_t *shape)
{
    static const int first[] = {0, 1, 5, 21, SHAPES};
    int rank = 0;
    while (n >= first[rank + 1])
        rank++;
    n -= first[rank];
    for (int i = 0; i < rank; i++, n /= 4)
        shape[i] = n % 4;
    return (elementwise_tensor){NULL, ELEMENTWISE_I32, rank, shape, NULL};
}

START_TEST(shape_queries_read_only_rank_and_shape)
{
    int64_t xs[] = {2, 1, 4}, ys[] = {3, 1}, shape[ELEMENTWISE_MAX_NDIM];
    int64_t expected[] = {2, 3, 4};
    int ndim;
    elementwise_tensor x = {(void *)1, (elementwise_dtype)99, 3, xs,
                            (int64_t *)1};
    elementwise_tensor y = {(void *)1, (elementwise_dtype)0, 2, ys,
                            (int64_t *)1};
    const elementwise_tensor *both[] = {&x, &y};
    ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, 1, &ndim, shape), 0);
    ck_assert_int_eq(ndim, 3);
    ck_assert_mem_eq(shape, expected, sizeof expected);
    ck_assert_int_eq(elementwise_broadcast_shapes(both, 2, &ndim, shape), 0);
    ck_assert_int_eq(ndim, 3);
    ck_assert_mem_eq(shape, expected, sizeof expected);
}
END_TEST

START_TEST(the_answer_may_replace_the_question)
{
    int64_t xs[ELEMENTWISE_MAX_NDIM] = {2, 1, 4}, ys[] = {3, 1};
    elementwise_tensor x = {NULL, ELEMENTWISE_I8, 3, xs, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I8, 2, ys, NULL};
    const elementwise_tensor *both[] = {&x, &y};
    ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, -1, &x.ndim, xs), 0);
    ck_assert(x.ndim == 3 && xs[0] == 2 && xs[1] == 3 && xs[2] == 4);
    xs[1] = 1;
    ck_assert_int_eq(elementwise_broadcast_shapes(both, 2, &x.ndim, xs), 0);
    ck_assert(x.ndim == 3 && xs[0] == 2 && xs[1] == 3 && xs[2] == 4);
}
END_TEST

/* Three shapes at once are the first two and then the third, in any order;
   what fails at once fails in one of the steps. */
START_TEST(n_shapes_are_pairs_one_after_the_other)
{
    int64_t s[3][RANKS], pair[ELEMENTWISE_MAX_NDIM], all[ELEMENTWISE_MAX_NDIM];
    int64_t result[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < 20000; i++) {
        elementwise_tensor t[3], both = {NULL, ELEMENTWISE_I8, 0, pair, NULL};
        int ndim, n;
        for (int k = 0; k < 3; k++)
            t[k] = nth((int)support_random(0, SHAPES - 1), s[k]);
        const elementwise_tensor *list[] = {&t[0], &t[1], &t[2]};
        const elementwise_tensor *other[] = {&t[2], &t[0], &t[1]};
        elementwise_status once =
            elementwise_broadcast_shapes(list, 3, &ndim, all);
        elementwise_status status = elementwise_broadcast_shape(
            &t[0], &t[1], ELEMENTWISE_NUMPY, &both.ndim, pair);
        if (!status)
            status = elementwise_broadcast_shape(&both, &t[2],
                                                 ELEMENTWISE_NUMPY, &n, result);
        ck_assert_int_eq(once, status);
        ck_assert_int_eq(once, elementwise_broadcast_shapes(
                                   other, 3, once ? &ndim : &both.ndim, pair));
        if (once)
            continue;
        ck_assert(ndim == n && ndim == both.ndim);
        ck_assert_mem_eq(all, result, (size_t)n * sizeof *all);
        ck_assert_mem_eq(all, pair, (size_t)n * sizeof *all);
    }
}
END_TEST

START_TEST(one_shape_is_its_own_answer)
{
    int64_t s[RANKS], shape[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < SHAPES; i++) {
        elementwise_tensor t = nth(i, s);
        const elementwise_tensor *list[] = {&t};
        int ndim = -1;
        ck_assert_int_eq(elementwise_broadcast_shapes(list, 1, &ndim, shape),
                         0);
        ck_assert_int_eq(ndim, t.ndim);
        ck_assert_mem_eq(shape, s, (size_t)ndim * sizeof *s);
    }
}
END_TEST

START_TEST(many_shapes_are_one_question)
{
    enum { MANY = 1000 };
    static int64_t s[MANY][4];
    static elementwise_tensor t[MANY];
    static const elementwise_tensor *list[MANY];
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < 4; k++)
            s[i][k] = (i >> k) % 2 ? 1 : 2 + k;
        t[i] = (elementwise_tensor){.ndim = 4, .shape = s[i]};
        list[i] = &t[i];
    }
    ck_assert_int_eq(elementwise_broadcast_shapes(list, MANY, &ndim, shape), 0);
    ck_assert_int_eq(ndim, 4);
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(shape[k], 2 + k);
    s[MANY - 1][2] = 5;
    ck_assert_int_eq(elementwise_broadcast_shapes(list, MANY, &ndim, shape),
                     ELEMENTWISE_BAD_SHAPE);
}
END_TEST

START_TEST(counts_that_exceed_int64_are_too_large)
{
    int64_t xs[] = {(int64_t)1 << 32, 1}, ys[] = {1, (int64_t)1 << 31};
    int64_t shape[ELEMENTWISE_MAX_NDIM] = {-5};
    int ndim = -6;
    elementwise_tensor x = {.ndim = 2, .shape = xs},
                       y = {.ndim = 2, .shape = ys};
    const elementwise_tensor *both[] = {&x, &y};
    ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, -1, &ndim, shape),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(elementwise_broadcast_shapes(both, 2, &ndim, shape),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert(ndim == -6 && shape[0] == -5);
    ys[1]--;
    ck_assert_int_eq(elementwise_broadcast_shape(&x, &y, -1, &ndim, shape), 0);
    ck_assert(shape[0] == xs[0] && shape[1] == ys[1]);
}
END_TEST

/* Views: src is a buffer of 0, 1, 2 ... read row by row or transposed. */
static int32_t numbers[64], from_src[64], from_view[64];

static elementwise_status copy(const elementwise_tensor *src, int axis,
                               const elementwise_tensor *target, int32_t *to)
{
    elementwise_tensor dst = *target;
    dst.data = to;
    memset(to, 0, sizeof numbers);
    return elementwise_copy(src, axis, &dst);
}

static void reverse_strides(const elementwise_tensor *t, int64_t *strides)
{
    int64_t step = 1;
    for (int i = 0; i < t->ndim; i++) {
        strides[i] = step;
        step *= t->shape[i];
    }
}

/* Every source, target and axis: a view is given where a copy is possible,
   and reads the same elements, by strides of 0 where src is stretched. */
START_TEST(a_view_reads_what_a_copy_writes)
{
    int64_t ss[RANKS], ts[RANKS], own[RANKS], strides[RANKS];
    int views = 0;
    for (int i = 0; i < 64; i++)
        numbers[i] = i + 1;
    for (int i = 0; i < SHAPES * SHAPES * 2; i++) {
        elementwise_tensor src = nth(i / 2 % SHAPES, ss);
        elementwise_tensor target = nth(i / 2 / SHAPES, ts), view;
        src.data = numbers;
        reverse_strides(&src, own);
        src.strides = i % 2 ? own : NULL;
        for (int axis = -2; axis <= RANKS; axis++) {
            elementwise_status status = elementwise_broadcast_to(
                &src, axis, target.ndim, ts, strides, &view);
            ck_assert_int_eq(status, copy(&src, axis, &target, from_src));
            if (status)
                continue;
            views++;
            ck_assert_ptr_eq(view.data, numbers);
            ck_assert_ptr_eq(view.shape, ts);
            ck_assert_ptr_eq(view.strides, strides);
            ck_assert_int_eq(view.dtype, ELEMENTWISE_I32);
            ck_assert_int_eq(view.ndim, target.ndim);
            ck_assert_int_eq(copy(&view, -1, &target, from_view), 0);
            ck_assert_mem_eq(from_view, from_src, sizeof from_src);
        }
    }
    ck_assert_int_gt(views, 1000);
}
END_TEST

START_TEST(a_view_is_never_larger_than_asked_for)
{
    int64_t one[] = {1, 4}, three[] = {3, 4}, row[] = {4}, strides[2];
    elementwise_tensor src = {numbers, ELEMENTWISE_I32, 2, three, NULL};
    elementwise_tensor view = {.ndim = -77};
    ck_assert_int_eq(elementwise_broadcast_to(&src, -1, 2, one, strides, &view),
                     ELEMENTWISE_BAD_SHAPE);
    ck_assert_int_eq(elementwise_broadcast_to(&src, -1, 1, row, strides, &view),
                     ELEMENTWISE_BAD_SHAPE);
    ck_assert_int_eq(view.ndim, -77);
}
END_TEST

START_TEST(a_scalar_needs_no_strides_for_its_view)
{
    elementwise_tensor src = {numbers, ELEMENTWISE_I32, 0, NULL, NULL}, view;
    ck_assert_int_eq(elementwise_broadcast_to(&src, 5, 0, NULL, NULL, &view),
                     ELEMENTWISE_OK);
    ck_assert_int_eq(view.ndim, 0);
    ck_assert_ptr_eq(view.data, numbers);
}
END_TEST

/* src and view may be one variable, as in view = broadcast_to(view). */
START_TEST(a_view_may_replace_its_source)
{
    int64_t row[] = {4}, shape[] = {3, 4}, strides[2];
    elementwise_tensor t = {numbers, ELEMENTWISE_I32, 1, row, NULL};
    ck_assert_int_eq(elementwise_broadcast_to(&t, -1, 2, shape, strides, &t),
                     ELEMENTWISE_OK);
    ck_assert_int_eq(t.ndim, 2);
    ck_assert_ptr_eq(t.data, numbers);
    ck_assert(strides[0] == 0 && strides[1] == 1);
}
END_TEST

static void assert_nbytes(elementwise_dtype type, int ndim,
                          const int64_t *shape, uint64_t expected)
{
    size_t n = 12345;
    bool fits = expected <= SIZE_MAX;
    ck_assert_int_eq(elementwise_nbytes(type, ndim, shape, &n),
                     fits ? ELEMENTWISE_OK : ELEMENTWISE_TOO_LARGE);
    ck_assert_uint_eq(n, fits ? expected : 12345);
}

START_TEST(nbytes_is_the_product)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM] = {2, 3, 1, 5};
    assert_nbytes(ELEMENTWISE_F32, 4, shape, 120);
    assert_nbytes(ELEMENTWISE_C128, 2, shape, 96);
    assert_nbytes(ELEMENTWISE_F64, 0, NULL, 8);
    assert_nbytes(ELEMENTWISE_BOOL, 1, shape, 2);
    assert_nbytes(ELEMENTWISE_F16, 3, shape, 12);
    for (int k = 0; k < ELEMENTWISE_MAX_NDIM; k++)
        shape[k] = k % 2 ? 1 : 2;
    assert_nbytes(ELEMENTWISE_I16, ELEMENTWISE_MAX_NDIM, shape,
                  (uint64_t)1 << 33);
}
END_TEST

START_TEST(nbytes_of_no_elements_is_0)
{
    int64_t shapes[][3] = {{0, 3, 5}, {3, 0, 5}, {3, 5, 0}, {0, 0, 0}};
    for (int i = 0; i < 4; i++)
        assert_nbytes(ELEMENTWISE_C128, 3, shapes[i], 0);
}
END_TEST

/* Where there is no answer. */
static elementwise_status nbytes_status(elementwise_dtype type, int ndim,
                                        const int64_t *shape)
{
    size_t n = 77;
    elementwise_status status = elementwise_nbytes(type, ndim, shape, &n);
    ck_assert_uint_eq(n, 77);
    return status;
}

START_TEST(nbytes_beyond_int64_is_too_large)
{
    int64_t most[] = {INT64_MAX, 1}, half[] = {INT64_MAX / 2, 2};
    int64_t more[] = {INT64_MAX / 2 + 1, 2}, square[] = {1LL << 32, 1LL << 31};
    int64_t cube[] = {1LL << 62, 1LL << 62, 1LL << 62};
    assert_nbytes(ELEMENTWISE_I8, 2, most, INT64_MAX);
    assert_nbytes(ELEMENTWISE_U8, 2, half, INT64_MAX - 1);
    assert_nbytes(ELEMENTWISE_I16, 1, half, INT64_MAX - 1);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I16, 2, most),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_BOOL, 2, more),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I8, 2, square),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I8, 3, cube),
                     ELEMENTWISE_TOO_LARGE);
}
END_TEST

/* A zero extent makes the tensor empty but not its size small: the product
   of the other extents counts, in whatever order they stand. */
START_TEST(nbytes_counts_the_extents_beside_a_zero)
{
    int64_t fits[] = {0, 1LL << 31, 1LL << 30};
    int64_t first[] = {0, 1LL << 32, 1LL << 32};
    int64_t last[] = {1LL << 32, 1LL << 32, 0};
    int64_t between[] = {1LL << 32, 0, 1LL << 31};
    assert_nbytes(ELEMENTWISE_I16, 3, fits, 0);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I8, 3, first),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I8, 3, last),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I8, 3, between),
                     ELEMENTWISE_TOO_LARGE);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_I32, 3, fits),
                     ELEMENTWISE_TOO_LARGE);
}
END_TEST

START_TEST(nbytes_refuses_what_is_no_shape)
{
    static const int unknown[] = {-1, 0, ELEMENTWISE_C128 + 1, INT32_MAX};
    int64_t negative[] = {2, -1, 0}, least[] = {INT64_MIN};
    int64_t shape[ELEMENTWISE_MAX_NDIM + 1] = {1};
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_F32, 3, negative),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_F32, 1, least),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_F32, -1, shape),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(
        nbytes_status(ELEMENTWISE_F32, ELEMENTWISE_MAX_NDIM + 1, shape),
        ELEMENTWISE_INVALID);
    ck_assert_int_eq(nbytes_status(ELEMENTWISE_F32, 1, NULL),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_nbytes(ELEMENTWISE_F32, 1, shape, NULL),
                     ELEMENTWISE_INVALID);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(nbytes_status((elementwise_dtype)unknown[i], 1, shape),
                         ELEMENTWISE_INVALID);
}
END_TEST

int main(void)
{
    TCase *shapes = support_case("shapes");
    TCase *views = support_case("views");
    TCase *bytes = support_case("bytes");
    tcase_add_test(shapes, shape_queries_read_only_rank_and_shape);
    tcase_add_test(shapes, the_answer_may_replace_the_question);
    tcase_add_test(shapes, n_shapes_are_pairs_one_after_the_other);
    tcase_add_test(shapes, one_shape_is_its_own_answer);
    tcase_add_test(shapes, many_shapes_are_one_question);
    tcase_add_test(shapes, counts_that_exceed_int64_are_too_large);
    tcase_add_test(views, a_view_reads_what_a_copy_writes);
    tcase_add_test(views, a_view_is_never_larger_than_asked_for);
    tcase_add_test(views, a_scalar_needs_no_strides_for_its_view);
    tcase_add_test(views, a_view_may_replace_its_source);
    tcase_add_test(bytes, nbytes_is_the_product);
    tcase_add_test(bytes, nbytes_of_no_elements_is_0);
    tcase_add_test(bytes, nbytes_beyond_int64_is_too_large);
    tcase_add_test(bytes, nbytes_counts_the_extents_beside_a_zero);
    tcase_add_test(bytes, nbytes_refuses_what_is_no_shape);
    TCase *const cases[] = {shapes, views, bytes, NULL};
    return support_run("query", cases);
}
