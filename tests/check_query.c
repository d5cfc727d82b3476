/*
 * Asks the questions that need no data, and holds the answers against each
 * other: n shapes against pairs of shapes, a broadcast view against a copy,
 * a name against its number.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
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

static const struct {
    elementwise_dtype dtype;
    int ndim;
    int64_t shape[4];
    size_t bytes;
} sizes[] = {
    {ELEMENTWISE_F32, 0, {0}, 4},
    {ELEMENTWISE_C128, 0, {0}, 16},
    {ELEMENTWISE_BOOL, 3, {2, 3, 4}, 24},
    {ELEMENTWISE_F16, 3, {2, 3, 4}, 48},
    {ELEMENTWISE_C64, 3, {2, 3, 4}, 192},
    {ELEMENTWISE_F64, 2, {0, 5}, 0},
    {ELEMENTWISE_F64, 3, {(int64_t)1 << 30, 0, (int64_t)1 << 29}, 0},
    {ELEMENTWISE_I8, 1, {INT64_MAX}, INT64_MAX},
    {ELEMENTWISE_I16, 1, {INT64_MAX / 2}, INT64_MAX - 1},
    {ELEMENTWISE_I32, 2, {2281701379, 1}, 9126805516},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(bytes_are_counted)
{
    size_t n = 1;
    ck_assert_int_eq(elementwise_nbytes(sizes[_i].dtype, sizes[_i].ndim,
                                        sizes[_i].ndim ? sizes[_i].shape : NULL,
                                        &n),
                     ELEMENTWISE_OK);
    ck_assert_uint_eq(n, sizes[_i].bytes);
}
END_TEST

START_TEST(bytes_beyond_int64_are_too_large)
{
    static const int64_t shapes[][3] = {{INT64_MAX, 1, 1},
                                        {1, INT64_MAX / 2 + 1, 1},
                                        {(int64_t)1 << 31, (int64_t)1 << 31, 1},
                                        {0, (int64_t)1 << 31, (int64_t)1 << 31},
                                        {(int64_t)1 << 31, (int64_t)1 << 31, 0},
                                        {INT64_MAX, INT64_MAX, INT64_MAX}};
    size_t n = 77;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        ck_assert_int_eq(elementwise_nbytes(ELEMENTWISE_U16, 3, shapes[i], &n),
                         ELEMENTWISE_TOO_LARGE);
    ck_assert_uint_eq(n, 77);
}
END_TEST

START_TEST(types_have_their_sizes)
{
    static const size_t expected[] = {0, 1, 1, 2, 4, 8, 1,  2, 4,
                                      8, 2, 2, 4, 8, 8, 16, 0};
    for (int d = 0; d <= 16; d++)
        ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)d),
                          expected[d]);
    ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)-1), 0);
    ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)INT32_MAX), 0);
    ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)INT32_MIN), 0);
}
END_TEST

/* Names by number; each of the four functions with its range. */
static const char *op_name(int i)
{
    return elementwise_op_name((elementwise_op)i);
}
static const char *dtype_name(int i)
{
    return elementwise_dtype_name((elementwise_dtype)i);
}
static const char *act_name(int i)
{
    return elementwise_act_name((elementwise_act)i);
}
static const char *status_name(int i)
{
    return elementwise_status_name((elementwise_status)i);
}
static int op_number(const char *name)
{
    return (int)elementwise_op_from_name(name);
}
static int dtype_number(const char *name)
{
    return (int)elementwise_dtype_from_name(name);
}
static int act_number(const char *name)
{
    return (int)elementwise_act_from_name(name);
}
static int status_number(const char *name)
{
    return (int)elementwise_status_from_name(name);
}

static const struct {
    const char *(*name)(int);
    int (*number)(const char *);
    int first, last, unknown;
} lists[] = {
    {op_name, op_number, 1, ELEMENTWISE_BITWISE_RIGHT_SHIFT, 0},
    {dtype_name, dtype_number, 1, ELEMENTWISE_C128, 0},
    {act_name, act_number, 0, ELEMENTWISE_ACT_SILU, -1},
    {status_name, status_number, 0, ELEMENTWISE_NO_MEMORY, -1},
};
enum { LISTS = sizeof lists / sizeof *lists };

START_TEST(names_and_numbers_go_both_ways)
{
    for (int i = lists[_i].first; i <= lists[_i].last; i++) {
        ck_assert_ptr_nonnull(lists[_i].name(i));
        ck_assert_ptr_eq(lists[_i].name(i), lists[_i].name(i));
        ck_assert_int_eq(lists[_i].number(lists[_i].name(i)), i);
    }
}
END_TEST

START_TEST(unknown_numbers_have_no_name)
{
    const int numbers_without[] = {lists[_i].first - 1, lists[_i].last + 1,
                                   INT32_MIN, INT32_MAX, 256};
    for (int i = 0; i < 5; i++)
        ck_assert_ptr_null(lists[_i].name(numbers_without[i]));
}
END_TEST

START_TEST(unknown_names_have_no_number)
{
    static const char *const names[] = {
        NULL,   "",    " ",    "ADD", "add ",     "ad",   "addd",           "f",
        "f320", "F32", "Relu", "ok",  "INVALID_", "%s%n", "elementwise_add"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(lists[_i].number(names[i]), lists[_i].unknown);
}
END_TEST

START_TEST(names_are_those_of_the_header)
{
    ck_assert_str_eq(elementwise_op_name(ELEMENTWISE_ADD), "add");
    ck_assert_str_eq(elementwise_op_name(ELEMENTWISE_BITWISE_RIGHT_SHIFT),
                     "bitwise_right_shift");
    ck_assert_str_eq(elementwise_dtype_name(ELEMENTWISE_F32), "f32");
    ck_assert_str_eq(elementwise_act_name(ELEMENTWISE_ACT_LEAKY_RELU),
                     "leaky_relu");
    ck_assert_str_eq(elementwise_act_name(ELEMENTWISE_ACT_NONE), "none");
    ck_assert_str_eq(elementwise_status_name(ELEMENTWISE_OK), "OK");
    ck_assert_str_eq(elementwise_status_name(ELEMENTWISE_BAD_AXIS), "BAD_AXIS");
    ck_assert_str_eq(elementwise_status_name(ELEMENTWISE_NO_MEMORY),
                     "NO_MEMORY");
}
END_TEST

/* The numbers are ABI; this is the place that notices a change. */
START_TEST(numbers_are_those_of_the_first_release)
{
    ck_assert_int_eq(ELEMENTWISE_BOOL, 1);
    ck_assert_int_eq(ELEMENTWISE_U8, 6);
    ck_assert_int_eq(ELEMENTWISE_F16, 10);
    ck_assert_int_eq(ELEMENTWISE_C128, 15);
    ck_assert_int_eq(ELEMENTWISE_ADD, 1);
    ck_assert_int_eq(ELEMENTWISE_HEAVISIDE, 12);
    ck_assert_int_eq(ELEMENTWISE_EQUAL, 20);
    ck_assert_int_eq(ELEMENTWISE_LOGICAL_AND, 26);
    ck_assert_int_eq(ELEMENTWISE_BITWISE_RIGHT_SHIFT, 33);
    ck_assert_int_eq(ELEMENTWISE_ACT_SILU, 7);
    ck_assert_int_eq(ELEMENTWISE_OVERLAP, 5);
    ck_assert_int_eq(ELEMENTWISE_NO_MEMORY, 10);
    ck_assert_int_eq(ELEMENTWISE_NUMPY, -1);
    ck_assert_int_eq(ELEMENTWISE_MAX_NDIM, 64);
}
END_TEST

START_TEST(the_version_is_that_of_the_header)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", ELEMENTWISE_VERSION_MAJOR,
             ELEMENTWISE_VERSION_MINOR, ELEMENTWISE_VERSION_PATCH);
    ck_assert_str_eq(elementwise_version(), text);
    ck_assert_int_eq(elementwise_version_number(),
                     ELEMENTWISE_VERSION_MAJOR * 10000 +
                         ELEMENTWISE_VERSION_MINOR * 100 +
                         ELEMENTWISE_VERSION_PATCH);
}
END_TEST

int main(void)
{
    TCase *shapes = support_case("shapes");
    TCase *views = support_case("views");
    TCase *bytes = support_case("bytes");
    TCase *names = support_case("names");
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
    tcase_add_loop_test(bytes, bytes_are_counted, 0, SIZES);
    tcase_add_test(bytes, bytes_beyond_int64_are_too_large);
    tcase_add_test(bytes, types_have_their_sizes);
    tcase_add_loop_test(names, names_and_numbers_go_both_ways, 0, LISTS);
    tcase_add_loop_test(names, unknown_numbers_have_no_name, 0, LISTS);
    tcase_add_loop_test(names, unknown_names_have_no_number, 0, LISTS);
    tcase_add_test(names, names_are_those_of_the_header);
    tcase_add_test(names, numbers_are_those_of_the_first_release);
    tcase_add_test(names, the_version_is_that_of_the_header);
    TCase *const cases[] = {shapes, views, bytes, names, NULL};
    return support_run("query", cases);
}
