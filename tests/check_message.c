/*
 * Reads what the library says after a failure: four messages letter by
 * letter, the advice against what really is legal, and the text buffer at
 * its end. A message that misleads costs more time than none.
 */
#define _DEFAULT_SOURCE /* barriers */
#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elementwise.h"
#include "message.h"
#include "support.h"

enum { RANKS = 4 };

static elementwise_tensor shaped(int ndim, const int64_t *shape)
{
    static double data[64];
    return (elementwise_tensor){data, ELEMENTWISE_F64, ndim, shape, NULL};
}

static elementwise_status query(const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis)
{
    int ndim;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    return elementwise_broadcast_shape(x, y, axis, &ndim, shape);
}

START_TEST(a_mismatch_is_drawn_with_its_dimension_marked)
{
    int64_t xs[] = {2, 3, 4, 5}, ys[] = {3, 4, 1};
    elementwise_tensor x = shaped(4, xs), y = shaped(3, ys);
    ck_assert_int_eq(elementwise_add(&x, &y, 0, &x), ELEMENTWISE_BAD_SHAPE);
    ck_assert_str_eq(
        elementwise_last_error(),
        "add: shapes do not broadcast at dimension 1 (3 vs 4): x (2,3,4,5) and "
        "y (3,4,1)\n"
        "\n"
        "  dim        0   1   2   3\n"
        "  x          2   3   4   5\n"
        "  y          3   4 [1]   .\n"
        "                 ^ neither equal nor 1\n"
        "  axis 0; . counts as 1, [1] is dropped\n"
        "  legal: axis -1, 1");
}
END_TEST

START_TEST(a_mismatch_under_numpy_says_so)
{
    int64_t xs[] = {4, 32, 14, 14}, ys[] = {2, 32, 14, 14};
    elementwise_tensor x = shaped(4, xs), y = shaped(4, ys);
    ck_assert_int_eq(elementwise_mul(&x, &y, -1, &x), ELEMENTWISE_BAD_SHAPE);
    ck_assert_str_eq(
        elementwise_last_error(),
        "mul: shapes do not broadcast at dimension 0 (4 vs 2): x (4,32,14,14) "
        "and y (2,32,14,14)\n"
        "\n"
        "  dim        0   1   2   3\n"
        "  x          4  32  14  14\n"
        "  y          2  32  14  14\n"
        "             ^ neither equal nor 1\n"
        "  axis -1 aligns at the right; . counts as 1, [1] is dropped\n"
        "  no axis is legal: along each dimension the extents must be equal or "
        "one of them 1");
}
END_TEST

START_TEST(an_operand_that_does_not_fit_is_drawn_beyond_the_edge)
{
    int64_t xs[] = {2, 3, 4}, ys[] = {3, 4};
    elementwise_tensor x = shaped(3, xs), y = shaped(2, ys);
    ck_assert_int_eq(elementwise_sub(&x, &y, 2, &x), ELEMENTWISE_BAD_SHAPE);
    ck_assert_str_eq(
        elementwise_last_error(),
        "sub: y does not fit: 2 dimensions from dimension 2 on reach past "
        "dimension 2, the last: x (2,3,4) and y (3,4)\n"
        "\n"
        "  dim        0   1   2   3\n"
        "  x          2   3   4\n"
        "  y          .   .   3   4\n"
        "  axis 2; . counts as 1, [1] is dropped\n"
        "  legal: axis -1, 1");
    ck_assert_int_eq(elementwise_sub(&y, &x, 2, &x), ELEMENTWISE_BAD_SHAPE);
    ck_assert(strstr(elementwise_last_error(), "sub: x does not fit"));
}
END_TEST

START_TEST(a_bad_axis_is_told_the_range)
{
    int64_t xs[] = {2, 3, 4}, ys[] = {3};
    elementwise_tensor x = shaped(3, xs), y = shaped(1, ys);
    ck_assert_int_eq(elementwise_max(&x, &y, 5, &x), ELEMENTWISE_BAD_AXIS);
    ck_assert_str_eq(elementwise_last_error(),
                     "max: axis 5 is not in -1 ... 2, the dimensions of the "
                     "operand of larger rank: x (2,3,4) and y (3)\n"
                     "  legal: axis 1");
}
END_TEST

START_TEST(a_wrong_out_is_told_the_shape_it_needs)
{
    int64_t xs[] = {2, 3, 4}, ys[] = {3}, flat[] = {24}, last[] = {2, 3, 5};
    elementwise_tensor x = shaped(3, xs), y = shaped(1, ys);
    elementwise_tensor out = shaped(1, flat);
    ck_assert_int_eq(elementwise_add(&x, &y, 1, &out), ELEMENTWISE_BAD_SHAPE);
    ck_assert_str_eq(elementwise_last_error(),
                     "add: out is (24) but must be (2,3,4), the shape of x "
                     "(2,3,4) with y (3) under axis 1; the ranks differ, 1 and "
                     "3");
    out = shaped(3, last);
    ck_assert_int_eq(elementwise_add(&x, &y, 1, &out), ELEMENTWISE_BAD_SHAPE);
    ck_assert_str_eq(elementwise_last_error(),
                     "add: out is (2,3,5) but must be (2,3,4), the shape of x "
                     "(2,3,4) with y (3) under axis 1; dimension 2 differs, 5 "
                     "and 4");
}
END_TEST

START_TEST(a_target_that_is_too_small_is_not_to_be_stretched)
{
    int64_t from[] = {2, 3}, to[] = {2, 1};
    elementwise_tensor src = shaped(2, from), dst = shaped(2, to);
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_BAD_SHAPE);
    ck_assert_str_eq(
        elementwise_last_error(),
        "copy: src does not broadcast to dst, which would have to be stretched "
        "itself: dst (2,1) and src (2,3)\n"
        "\n"
        "  dim        0   1\n"
        "  dst        2   1\n"
        "  src        2   3\n"
        "  axis -1 aligns at the right; . counts as 1, [1] is dropped\n"
        "  no axis is legal: each extent of src must be that of dst or 1");
}
END_TEST

START_TEST(columns_are_as_wide_as_the_widest_extent)
{
    int64_t xs[] = {100000, 3}, ys[] = {7};
    elementwise_tensor x = shaped(2, xs), y = shaped(1, ys);
    ck_assert_int_eq(query(&x, &y, 0), ELEMENTWISE_BAD_SHAPE);
    ck_assert(strstr(elementwise_last_error(), "\n  dim            0       1"
                                               "\n  x         100000       3"
                                               "\n  y              7       ."
                                               "\n                 ^ neither"));
}
END_TEST

/* The names of broadcast_shapes are longer than x and y. */
START_TEST(columns_stand_under_each_other_behind_long_names)
{
    int64_t first[] = {2, 3}, other[] = {2, 4}, shape[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor x = shaped(2, first), y = shaped(2, other);
    const elementwise_tensor *operands[11];
    int ndim;
    for (int i = 0; i < 11; i++)
        operands[i] = i == 10 ? &y : &x;
    ck_assert_int_eq(elementwise_broadcast_shapes(operands, 11, &ndim, shape),
                     ELEMENTWISE_BAD_SHAPE);
    ck_assert_msg(strstr(elementwise_last_error(),
                         "\n  dim          0   1"
                         "\n  so far       2   3"
                         "\n  operand 10   2   4"
                         "\n                   ^ neither"),
                  "%s", elementwise_last_error());
    operands[1] = &y;
    ck_assert_int_eq(elementwise_broadcast_shapes(operands, 2, &ndim, shape),
                     ELEMENTWISE_BAD_SHAPE);
    ck_assert_msg(strstr(elementwise_last_error(),
                         "\n  dim         0   1"
                         "\n  so far      2   3"
                         "\n  operand 1   2   4"
                         "\n                  ^ neither"),
                  "%s", elementwise_last_error());
}
END_TEST

/* Shape number n of rank 0 ... 3 with extents 0 ... 3. */
static int64_t nth_shape(int n, int64_t *shape)
{
    static const int first[] = {0, 1, 5, 21, 85};
    int rank = 0;
    while (n >= first[rank + 1])
        rank++;
    n -= first[rank];
    for (int i = 0; i < rank; i++, n /= 4)
        shape[i] = n % 4;
    return rank;
}
enum { SHAPES = 85 };

/* The axes after "legal: axis", as bits from axis -1 on. */
static unsigned advised(void)
{
    const char *at = strstr(elementwise_last_error(), "legal: axis ");
    unsigned axes = 0;
    if (!at)
        return 0;
    at += strlen("legal: axis ");
    for (char *end; *at; at = *end == ',' ? end + 1 : end) {
        long axis = strtol(at, &end, 10);
        ck_assert_ptr_ne(end, at);
        axes |= 1u << (axis + 1);
    }
    return axes;
}

/* Whether a failed call's advice is the axes with which it succeeds. */
static void check_advice(elementwise_status (*call)(const elementwise_tensor *,
                                                    const elementwise_tensor *,
                                                    int))
{
    int64_t xs[RANKS], ys[RANKS];
    for (int i = 0; i < SHAPES * SHAPES; i++) {
        elementwise_tensor x = shaped((int)nth_shape(i / SHAPES, xs), xs);
        elementwise_tensor y = shaped((int)nth_shape(i % SHAPES, ys), ys);
        unsigned legal = 0;
        for (int axis = -1; axis < RANKS; axis++)
            legal |= (unsigned)!call(&x, &y, axis) << (axis + 1);
        for (int axis = -2; axis <= RANKS; axis++)
            if (call(&x, &y, axis))
                ck_assert_msg(advised() == legal, "%s\nbut legal is %x",
                              elementwise_last_error(), legal);
    }
}

START_TEST(advice_lists_exactly_the_legal_axes)
{
    check_advice(query);
}
END_TEST

static elementwise_status stretch(const elementwise_tensor *target,
                                  const elementwise_tensor *src, int axis)
{
    int64_t strides[RANKS];
    elementwise_tensor view;
    return elementwise_broadcast_to(src, axis, target->ndim, target->shape,
                                    strides, &view);
}

/* An axis that would make the target larger is no advice. A shape that does
   not fit with any axis may get none. */
START_TEST(advice_for_a_given_target_lists_exactly_the_legal_axes)
{
    int64_t xs[RANKS], ys[RANKS];
    for (int i = 0; i < SHAPES * SHAPES; i++) {
        elementwise_tensor x = shaped((int)nth_shape(i / SHAPES, xs), xs);
        elementwise_tensor y = shaped((int)nth_shape(i % SHAPES, ys), ys);
        for (int axis = -2; axis <= RANKS; axis++) {
            if (!stretch(&x, &y, axis) ||
                !strstr(elementwise_last_error(), "legal: "))
                continue;
            unsigned advice = advised(), legal = 0;
            char message[1000];
            snprintf(message, sizeof message, "%s", elementwise_last_error());
            for (int other = -1; other < RANKS; other++)
                legal |= (unsigned)!stretch(&x, &y, other) << (other + 1);
            ck_assert_msg(advice == legal, "%s\nbut legal is %x", message,
                          legal);
        }
    }
}
END_TEST

/* broadcast_shapes has no axis that its caller could change. */
START_TEST(advice_speaks_of_no_axis_where_there_is_none)
{
    int64_t xs[] = {3}, ys[] = {1, 3, 4}, shape[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor x = shaped(1, xs), y = shaped(3, ys);
    const elementwise_tensor *operands[] = {&x, &y};
    int ndim;
    ck_assert_int_eq(elementwise_broadcast_shapes(operands, 2, &ndim, shape),
                     ELEMENTWISE_BAD_SHAPE);
    ck_assert_msg(!strstr(elementwise_last_error(), "legal: axis"), "%s",
                  elementwise_last_error());
}
END_TEST

/* No editor and no log is made happier by blanks at the end of a line. */
START_TEST(no_line_ends_with_a_blank)
{
    int64_t xs[RANKS], ys[RANKS];
    for (int i = 0; i < SHAPES * SHAPES; i++) {
        elementwise_tensor x = shaped((int)nth_shape(i / SHAPES, xs), xs);
        elementwise_tensor y = shaped((int)nth_shape(i % SHAPES, ys), ys);
        for (int axis = -2; axis <= RANKS; axis++) {
            if (!query(&x, &y, axis))
                continue;
            const char *text = elementwise_last_error();
            ck_assert_msg(!strstr(text, " \n"), "%s", text);
            ck_assert(text[strlen(text) - 1] != ' ');
            ck_assert(text[strlen(text) - 1] != '\n');
        }
    }
}
END_TEST

/* The longest text there can be: 64 extents of 19 digits, twice over. */
START_TEST(a_message_that_is_too_long_is_cut)
{
    int64_t xs[ELEMENTWISE_MAX_NDIM], ys[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM; i++) {
        xs[i] = INT64_MAX - i;
        ys[i] = INT64_MAX - 2 * i - 1;
    }
    for (int ndim = 1; ndim <= ELEMENTWISE_MAX_NDIM; ndim++) {
        elementwise_tensor x = shaped(ndim, xs);
        elementwise_tensor y = shaped((ndim + 1) / 2, ys);
        for (int axis = -1; axis <= ndim; axis++) {
            ck_assert_int_ne(query(&x, &y, axis), ELEMENTWISE_OK);
            ck_assert_uint_lt(strlen(elementwise_last_error()), 4000);
            ck_assert(strstr(elementwise_last_error(), "broadcast_shape: "));
        }
    }
    ck_assert_uint_gt(strlen(elementwise_last_error()), 1000);
}
END_TEST

/* Ordinary extents fit in full even at the highest rank. */
START_TEST(a_diagram_of_rank_64_is_complete)
{
    int64_t xs[ELEMENTWISE_MAX_NDIM], ys[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM; i++) {
        xs[i] = 128;
        ys[i] = i ? 128 : 256;
    }
    elementwise_tensor x = shaped(ELEMENTWISE_MAX_NDIM, xs);
    elementwise_tensor y = shaped(ELEMENTWISE_MAX_NDIM, ys);
    ck_assert_int_eq(query(&x, &y, -1), ELEMENTWISE_BAD_SHAPE);
    ck_assert(strstr(elementwise_last_error(), "or one of them 1"));
}
END_TEST

START_TEST(text_is_cut_and_counted_as_by_snprintf)
{
    char whole[32];
    int length = snprintf(whole, sizeof whole, "%s-%d.%s", "abc", 1234, "z");
    for (size_t size = 0; size <= sizeof whole; size++) {
        char cut[33], expected[33];
        memset(cut, '#', sizeof cut);
        memset(expected, '#', sizeof expected);
        snprintf(expected, size, "%s", whole);
        struct ew_text text = {size ? cut : NULL, size, 0};
        ew_text_add(&text, "%s-", "abc");
        ew_text_add(&text, "%d%s", 1234, ".");
        ew_text_add(&text, "z");
        ck_assert_uint_eq(text.length, (size_t)length);
        ck_assert_msg(!size || strcmp(cut, expected) == 0, "size %d: %s",
                      (int)size, cut);
        ck_assert_int_eq(cut[size], '#');
    }
}
END_TEST

START_TEST(success_leaves_the_message)
{
    int64_t xs[] = {2}, ys[] = {3};
    elementwise_tensor x = shaped(1, xs), y = shaped(1, ys);
    char before[1000];
    ck_assert_int_eq(query(&x, &y, -1), ELEMENTWISE_BAD_SHAPE);
    const char *message = elementwise_last_error();
    snprintf(before, sizeof before, "%s", message);
    ck_assert_int_eq(query(&x, &x, -1), ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_add(&x, &x, -1, &x), ELEMENTWISE_OK);
    ck_assert_ptr_eq(elementwise_last_error(), message);
    ck_assert_str_eq(message, before);
}
END_TEST

/* Each thread fails in its own way, all of them between two barriers. */
struct thread {
    pthread_t id;
    int number;
    bool empty_before, own_after;
    pthread_barrier_t *barrier;
};

static void *fail_alone(void *argument)
{
    struct thread *t = argument;
    char expected[32];
    t->empty_before = elementwise_last_error()[0] == 0;
    pthread_barrier_wait(t->barrier);
    ew_fail(ELEMENTWISE_INVALID, "thread %d", t->number);
    pthread_barrier_wait(t->barrier);
    snprintf(expected, sizeof expected, "thread %d", t->number);
    t->own_after = strcmp(elementwise_last_error(), expected) == 0;
    return NULL;
}

START_TEST(every_thread_has_its_own_message)
{
    enum { THREADS = 8 };
    struct thread threads[THREADS];
    pthread_barrier_t barrier;
    ew_fail(ELEMENTWISE_INVALID, "the first thread");
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.number = i, .barrier = &barrier};
        ck_assert_int_eq(
            pthread_create(&threads[i].id, NULL, fail_alone, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        ck_assert(threads[i].empty_before);
        ck_assert(threads[i].own_after);
    }
    pthread_barrier_destroy(&barrier);
    ck_assert_str_eq(elementwise_last_error(), "the first thread");
}
END_TEST

int main(void)
{
    TCase *diagrams = support_case("diagrams");
    TCase *advice = support_case("advice");
    TCase *text = support_case("text");
    tcase_add_test(diagrams, a_mismatch_is_drawn_with_its_dimension_marked);
    tcase_add_test(diagrams, a_mismatch_under_numpy_says_so);
    tcase_add_test(diagrams,
                   an_operand_that_does_not_fit_is_drawn_beyond_the_edge);
    tcase_add_test(diagrams, a_bad_axis_is_told_the_range);
    tcase_add_test(diagrams, a_wrong_out_is_told_the_shape_it_needs);
    tcase_add_test(diagrams, a_target_that_is_too_small_is_not_to_be_stretched);
    tcase_add_test(diagrams, columns_are_as_wide_as_the_widest_extent);
    tcase_add_test(diagrams, columns_stand_under_each_other_behind_long_names);
    tcase_add_test(advice, advice_lists_exactly_the_legal_axes);
    tcase_add_test(advice,
                   advice_for_a_given_target_lists_exactly_the_legal_axes);
    tcase_add_test(advice, advice_speaks_of_no_axis_where_there_is_none);
    tcase_add_test(text, no_line_ends_with_a_blank);
    tcase_add_test(text, a_message_that_is_too_long_is_cut);
    tcase_add_test(text, a_diagram_of_rank_64_is_complete);
    tcase_add_test(text, text_is_cut_and_counted_as_by_snprintf);
    tcase_add_test(text, success_leaves_the_message);
    tcase_add_test(text, every_thread_has_its_own_message);
    TCase *const cases[] = {diagrams, advice, text, NULL};
    return support_run("message", cases);
}
