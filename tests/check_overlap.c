/*
 * Turns small random layouts into sets of bytes, written down one by one,
 * and holds the overlap tests of the library against them: an overlap that
 * is missed corrupts memory, one that is invented refuses a legal call. Then
 * the same questions are asked through the public functions.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "elementwise.h"
#include "overlap.h"
#include "support.h"

enum { SPACE = 1 << 15, LOOPS = 4 };

static char space[SPACE];

/* Layouts are written down here: a pointer to the middle of `space`, and
   never further from it than its half. */
struct layout {
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    int ndim;
    int64_t size[2], at[2]; /* of EW_X and of EW_OUT */
};

static const int operand[2] = {EW_X, EW_OUT};

/* The byte distance of element number `index` of an operand, counted over
   the whole nest. */
static int64_t element(const struct layout *l, int which, int64_t index)
{
    int64_t at = l->at[which];
    for (int k = 0; k < l->ndim; k++) {
        at += index % l->loop[k].n * l->loop[k].stride[operand[which]];
        index /= l->loop[k].n;
    }
    return at;
}

static int64_t elements(const struct layout *l)
{
    int64_t n = 1;
    for (int k = 0; k < l->ndim; k++)
        n *= l->loop[k].n;
    return n;
}

static bool share_a_byte(const struct layout *l)
{
    static bool used[SPACE];
    memset(used, 0, sizeof used);
    for (int64_t i = 0; i < elements(l); i++)
        for (int64_t b = 0; b < l->size[0]; b++)
            used[element(l, 0, i) + b] = true;
    for (int64_t i = 0; i < elements(l); i++)
        for (int64_t b = 0; b < l->size[1]; b++)
            if (used[element(l, 1, i) + b])
                return true;
    return false;
}

static bool repeats_an_address(const struct layout *l)
{
    static bool used[SPACE];
    memset(used, 0, sizeof used);
    for (int64_t i = 0; i < elements(l); i++) {
        bool *mark = &used[element(l, 1, i)];
        if (*mark)
            return true;
        *mark = true;
    }
    return false;
}

/* An address that is only compared; it may lie far outside of space. */
static const char *address(int64_t at)
{
    return (const char *)((uintptr_t)space + (uintptr_t)at);
}

static bool shared(const struct layout *l)
{
    return ew_overlap_shared(l->loop, l->ndim, EW_X, address(l->at[0]),
                             l->size[0], EW_OUT, address(l->at[1]), l->size[1]);
}

static bool self(const struct layout *l)
{
    return ew_overlap_self(l->loop, l->ndim, EW_OUT);
}

/* Strides up to `most` elements of the operand's size, or for a byte-wise
   layout of any number of bytes. The output's are not negative, as in
   plans. */
static struct layout random_layout(int64_t most, bool bytewise)
{
    struct layout l = {.ndim = (int)support_random(0, LOOPS)};
    for (int which = 0; which < 2; which++) {
        l.size[which] = support_random(1, 16);
        l.at[which] = SPACE / 2 + support_random(-40, 40);
    }
    for (int k = 0; k < l.ndim; k++) {
        int64_t unit_x = bytewise ? 1 : l.size[0];
        l.loop[k].n = support_random(2, 4);
        l.loop[k].stride[EW_X] = unit_x * support_random(-most, most);
        l.loop[k].stride[EW_OUT] = l.size[1] * support_random(0, most);
    }
    return l;
}

static void describe(const struct layout *l, char *text, size_t size)
{
    int n = snprintf(text, size, "sizes %d %d, at %d %d:", (int)l->size[0],
                     (int)l->size[1], (int)l->at[0], (int)l->at[1]);
    for (int k = 0; k < l->ndim; k++)
        n += snprintf(text + n, size - (size_t)n, " {%d: %d %d}",
                      (int)l->loop[k].n, (int)l->loop[k].stride[EW_X],
                      (int)l->loop[k].stride[EW_OUT]);
}

/* Both answers have to come up often, or the comparison proves nothing. */
static void compare(int rounds, int64_t most, bool bytewise,
                    bool (*answer)(const struct layout *),
                    bool (*truth)(const struct layout *))
{
    int yes = 0;
    rounds *= support_long() ? 20 : 1;
    for (int i = 0; i < rounds; i++) {
        struct layout l = random_layout(most, bytewise);
        char text[200];
        describe(&l, text, sizeof text);
        bool expected = truth(&l);
        yes += expected;
        ck_assert_msg(answer(&l) == expected, "%s should %soverlap", text,
                      expected ? "" : "not ");
    }
    ck_assert_int_gt(yes, rounds / 20);
    ck_assert_int_lt(yes, rounds - rounds / 20);
}

START_TEST(shared_bytes_are_found_exactly)
{
    compare(20000, 12, false, shared, share_a_byte);
}
END_TEST

START_TEST(shared_bytes_are_found_exactly_at_odd_addresses)
{
    compare(20000, 40, true, shared, share_a_byte);
}
END_TEST

START_TEST(repeated_addresses_are_found_exactly)
{
    compare(20000, 12, false, self, repeats_an_address);
}
END_TEST

/* Strides 2 and 3 with 3 and 2 indices: 0 2 4 3 5 7 has no repeat, although
   the ranges of both loops cross. Strides 1 and 1 repeat. */
START_TEST(interleaved_dimensions_are_no_repeat)
{
    struct layout l = {.ndim = 2, .size = {1, 1}};
    l.loop[0] = (struct ew_loop){.n = 3, .stride = {[EW_OUT] = 2}};
    l.loop[1] = (struct ew_loop){.n = 2, .stride = {[EW_OUT] = 3}};
    ck_assert(!self(&l));
    l.loop[0].n = 4; /* 6 is 0 + 3 * 2 and 3 * 2 */
    l.loop[1].n = 3;
    ck_assert(self(&l));
    l.loop[0] = (struct ew_loop){.n = 3, .stride = {[EW_OUT] = 1}};
    l.loop[1] = (struct ew_loop){.n = 3, .stride = {[EW_OUT] = 1}};
    ck_assert(self(&l));
}
END_TEST

START_TEST(a_loop_that_stands_still_repeats)
{
    struct layout l = {.ndim = 1, .size = {1, 1}};
    l.loop[0] = (struct ew_loop){.n = 2, .stride = {[EW_OUT] = 0}};
    ck_assert(self(&l));
    l.ndim = 0;
    ck_assert(!self(&l));
}
END_TEST

/* One channel of a large picture of 3 or 4 interleaved channels, written
   from another one: the ranges cross everywhere, the bytes never. */
START_TEST(large_interleaved_planes_are_apart)
{
    for (int64_t channels = 2; channels <= 4; channels++)
        for (int64_t size = 1; size <= 16; size *= 2) {
            struct layout l = {.ndim = 2, .size = {size, size}};
            int64_t pixel = channels * size, row = (pixel << 20) + 64 * pixel;
            l.loop[0] = (struct ew_loop){.n = 1 << 20};
            l.loop[1] = (struct ew_loop){.n = 1 << 20};
            l.loop[0].stride[EW_X] = l.loop[0].stride[EW_OUT] = pixel;
            l.loop[1].stride[EW_X] = l.loop[1].stride[EW_OUT] = row;
            l.at[1] = size;
            ck_assert(!shared(&l));
            ck_assert(!self(&l));
            l.at[1] = size - 1;
            ck_assert(size == 1 || shared(&l));
        }
}
END_TEST

/* x[::-1] against every second element of the same memory. */
START_TEST(large_reversed_operands_are_told_apart)
{
    struct layout l = {.ndim = 1, .size = {4, 4}};
    int64_t n = (int64_t)1 << (sizeof(void *) < 8 ? 24 : 30);
    l.loop[0] = (struct ew_loop){.n = n, .stride = {[EW_X] = -8}};
    l.loop[0].stride[EW_OUT] = 8;
    l.at[0] = 8 * (n - 1);
    ck_assert(shared(&l));
    l.at[0] += 4;
    ck_assert(!shared(&l));
}
END_TEST

/* Two indices are drawn first, then the operands are put where these meet:
   the answer must be yes however large the layout. */
START_TEST(large_layouts_with_a_known_meeting_point_overlap)
{
    /* with 32 bits, within 128 MiB of space */
    const bool narrow = sizeof(void *) < 8;
    const int64_t most = 1 << (narrow ? 15 : 30);
    for (int round = 0; round < 5000; round++) {
        struct layout l = {.size = {1, 8}};
        l.ndim = (int)support_random(1, 8);
        for (int k = 0; k < l.ndim; k++) {
            struct ew_loop *loop = &l.loop[k];
            loop->n = support_random(2, 1 << (narrow ? 8 : 20));
            loop->stride[EW_X] = support_random(-most, most);
            loop->stride[EW_OUT] = 8 * support_random(1, most / 8);
            l.at[0] -= support_random(0, loop->n - 1) * loop->stride[EW_X];
            l.at[1] -= support_random(0, loop->n - 1) * loop->stride[EW_OUT];
        }
        uintptr_t at = (uintptr_t)space + (uintptr_t)(l.at[0] - l.at[1]);
        ck_assert_msg(ew_overlap_shared(l.loop, l.ndim, EW_X, (char *)at, 1,
                                        EW_OUT, space, 8),
                      "round %d says apart", round);
    }
}
END_TEST

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Nothing but coprime strides and hardly any slack: what cannot be decided
   in a bounded time is refused. */
START_TEST(what_takes_too_long_counts_as_overlap)
{
    struct layout l = {.ndim = ELEMENTWISE_MAX_NDIM, .size = {1, 1}};
    for (int k = 0; k < l.ndim; k++) {
        int64_t stride = ((int64_t)1 << 40) + 2 * support_random(1, 1 << 30);
        l.loop[k] = (struct ew_loop){.n = 3};
        l.loop[k].stride[EW_X] = stride;
        l.loop[k].stride[EW_OUT] = stride + 2 * support_random(1, 1 << 20);
    }
    l.at[1] = 1; /* all strides are even: apart, which takes no time */
    ck_assert(!shared(&l));
    l.loop[0].stride[EW_X] |= 1;
    double start = seconds();
    ck_assert(shared(&l));
    ck_assert(self(&l));
    ck_assert_msg(seconds() - start < 1, "took %g s", seconds() - start);
}
END_TEST

/* Hostile strides must neither overflow nor hang, whatever the answer. */
START_TEST(any_strides_end_quickly)
{
    double start = seconds();
    for (int round = 0; round < 2000; round++) {
        struct layout l = {.size = {1, 1}};
        l.ndim = (int)support_random(1, ELEMENTWISE_MAX_NDIM);
        for (int k = 0; k < l.ndim; k++) {
            int64_t bound = INT64_MAX >> support_random(7, 55);
            l.loop[k].n = support_random(2, 5);
            l.loop[k].stride[EW_X] = support_random(-bound / 320, bound / 320);
            l.loop[k].stride[EW_OUT] = support_random(0, bound / 320);
        }
        shared(&l);
        self(&l);
    }
    ck_assert_msg(seconds() - start < 60, "took %g s", seconds() - start);
}
END_TEST

START_TEST(strides_beyond_any_object_count_as_overlap)
{
    struct layout l = {.ndim = 1, .size = {1, 1}, .at = {0, 8}};
    l.loop[0] = (struct ew_loop){.n = 2};
    l.loop[0].stride[EW_X] = l.loop[0].stride[EW_OUT] = INT64_MAX / 2;
    ck_assert(shared(&l));
    l.loop[0].stride[EW_X] = -(INT64_MAX / 2);
    ck_assert(shared(&l));
    /* so many of them */
    l.loop[0].n = 1 << 20;
    l.loop[0].stride[EW_X] = l.loop[0].stride[EW_OUT] = (int64_t)1 << 40;
    ck_assert(shared(&l));
}
END_TEST

/* Public calls: out and x are views of one buffer of 64 numbers. */
struct view {
    int ndim;
    int64_t shape[3];
    int first; /* the number that is element 0 */
    int64_t strides[3];
};

static const struct {
    const char *name;
    struct view x, out;
    elementwise_status status;
} views[] = {
    {"out is x", {1, {8}, 0, {1}}, {1, {8}, 0, {1}}, ELEMENTWISE_OK},
    {"out is x, both reversed",
     {1, {8}, 7, {-1}},
     {1, {8}, 7, {-1}},
     ELEMENTWISE_OK},
    {"out is x, both transposed",
     {2, {3, 4}, 0, {1, 3}},
     {2, {3, 4}, 0, {1, 3}},
     ELEMENTWISE_OK},
    {"out is x, another stride at an extent of 1",
     {2, {1, 8}, 0, {8, 1}},
     {2, {1, 8}, 0, {99, 1}},
     ELEMENTWISE_OK},
    {"out is x reversed",
     {1, {8}, 7, {-1}},
     {1, {8}, 0, {1}},
     ELEMENTWISE_OVERLAP},
    {"out is x reversed, one element",
     {1, {1}, 0, {-1}},
     {1, {1}, 0, {1}},
     ELEMENTWISE_OK},
    {"x[1:] from x[:-1]",
     {1, {8}, 0, {1}},
     {1, {8}, 1, {1}},
     ELEMENTWISE_OVERLAP},
    {"x[:-1] from x[1:]",
     {1, {8}, 1, {1}},
     {1, {8}, 0, {1}},
     ELEMENTWISE_OVERLAP},
    {"x[8:] from x[:8]", {1, {8}, 0, {1}}, {1, {8}, 8, {1}}, ELEMENTWISE_OK},
    {"x[7:] from x[:8]",
     {1, {8}, 0, {1}},
     {1, {8}, 7, {1}},
     ELEMENTWISE_OVERLAP},
    {"square out is x transposed",
     {2, {3, 3}, 0, {1, 3}},
     {2, {3, 3}, 0, {3, 1}},
     ELEMENTWISE_OVERLAP},
    {"odd from even", {1, {8}, 0, {2}}, {1, {8}, 1, {2}}, ELEMENTWISE_OK},
    {"odd from even backwards",
     {1, {8}, 14, {-2}},
     {1, {8}, 1, {2}},
     ELEMENTWISE_OK},
    {"every third from every second",
     {1, {8}, 0, {2}},
     {1, {8}, 1, {3}},
     ELEMENTWISE_OVERLAP},
    {"colour planes",
     {2, {4, 4}, 0, {12, 3}},
     {2, {4, 4}, 2, {12, 3}},
     ELEMENTWISE_OK},
    {"a row to the others",
     {2, {3, 4}, 0, {0, 1}},
     {2, {3, 4}, 4, {4, 1}},
     ELEMENTWISE_OK},
    {"a row to all",
     {2, {3, 4}, 0, {0, 1}},
     {2, {3, 4}, 0, {4, 1}},
     ELEMENTWISE_OVERLAP},
    {"out (3,3) with strides 1, 1",
     {2, {3, 3}, 32, {3, 1}},
     {2, {3, 3}, 0, {1, 1}},
     ELEMENTWISE_OVERLAP},
    {"out with a stride of 0",
     {1, {8}, 32, {1}},
     {1, {8}, 0, {0}},
     ELEMENTWISE_OVERLAP},
    {"out (2,3,4) interleaved",
     {3, {2, 3, 4}, 32, {12, 4, 1}},
     {3, {2, 3, 4}, 0, {1, 8, 2}},
     ELEMENTWISE_OK},
    {"out (2,3) with strides 3, 2",
     {2, {2, 3}, 32, {3, 1}},
     {2, {2, 3}, 0, {3, 2}},
     ELEMENTWISE_OK},
    {"out (3,4) with strides 3, 2",
     {2, {3, 4}, 32, {4, 1}},
     {2, {3, 4}, 0, {3, 2}},
     ELEMENTWISE_OVERLAP},
    {"out (2,2) with strides 1, -1",
     {2, {2, 2}, 32, {2, 1}},
     {2, {2, 2}, 8, {1, -1}},
     ELEMENTWISE_OVERLAP},
    {"no elements, all strides 0",
     {2, {0, 3}, 0, {0, 0}},
     {2, {0, 3}, 0, {0, 0}},
     ELEMENTWISE_OK},
};
enum { VIEWS = sizeof views / sizeof *views, NUMBERS = 64 };

static elementwise_tensor tensor(const struct view *v, int32_t *numbers)
{
    return (elementwise_tensor){numbers + v->first, ELEMENTWISE_I32, v->ndim,
                                v->shape, v->strides};
}

static void fill(int32_t *numbers)
{
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i * i - 5 * i;
}

/* Where a call is legal, its result is that of the same call from a copy of
   x; where it is not, nothing was written. */
START_TEST(views_of_one_buffer_are_legal_or_refused)
{
    int32_t numbers[NUMBERS], copy[NUMBERS], expected[NUMBERS];
    int32_t zero = 0;
    const struct view *vx = &views[_i].x, *vout = &views[_i].out;
    elementwise_tensor x = tensor(vx, numbers), out = tensor(vout, numbers);
    elementwise_tensor scalar = {&zero, ELEMENTWISE_I32, 0, NULL, NULL};
    elementwise_tensor apart_x = tensor(vx, copy);
    elementwise_tensor apart_out = tensor(vout, expected);
    fill(numbers);
    fill(copy);
    fill(expected);
    if (views[_i].status == ELEMENTWISE_OK)
        ck_assert_int_eq(elementwise_add(&apart_x, &scalar, 0, &apart_out), 0);
    elementwise_status status = elementwise_add(&x, &scalar, 0, &out);
    ck_assert_msg(status == views[_i].status, "%s: %s", views[_i].name,
                  elementwise_status_name(status));
    ck_assert_mem_eq(numbers, expected, sizeof numbers);
}
END_TEST

START_TEST(views_are_judged_alike_as_second_operand)
{
    int32_t numbers[NUMBERS], zero = 0;
    elementwise_tensor y = tensor(&views[_i].x, numbers);
    elementwise_tensor out = tensor(&views[_i].out, numbers);
    elementwise_tensor scalar = {&zero, ELEMENTWISE_I32, 0, NULL, NULL};
    fill(numbers);
    elementwise_status status = elementwise_add(&scalar, &y, 0, &out);
    ck_assert_msg(status == views[_i].status, "%s: %s", views[_i].name,
                  elementwise_status_name(status));
}
END_TEST

/* The stride that the message asks for, in its dimension, is legal. */
START_TEST(an_overlap_is_told_by_dimension_and_stride)
{
    int32_t numbers[NUMBERS];
    struct view v = views[_i].out;
    elementwise_tensor out = tensor(&v, numbers), like = out;
    int dim, asked;
    long long extent, stride, enough;
    like.strides = NULL;
    like.data = space;
    if (elementwise_mul(&like, &like, 0, &out) != ELEMENTWISE_OVERLAP)
        return;
    const char *said = strstr(elementwise_last_error(), "dimension");
    ck_assert_ptr_nonnull(said);
    asked =
        sscanf(said, "dimension %d, extent %lld, has stride %lld; %lld or more",
               &dim, &extent, &stride, &enough);
    ck_assert_int_eq(asked, 4);
    ck_assert_int_eq(extent, v.shape[dim]);
    ck_assert_int_eq(stride, v.strides[dim]);
    v.strides[dim] = enough;
    ck_assert_int_eq(elementwise_mul(&like, &like, 0, &out), 0);
}
END_TEST

START_TEST(out_may_be_both_operands)
{
    int64_t shape[] = {4};
    int32_t numbers[] = {1, 2, 3, 4}, doubled[] = {2, 4, 6, 8};
    elementwise_tensor t = {numbers, ELEMENTWISE_I32, 1, shape, NULL};
    ck_assert_int_eq(elementwise_add(&t, &t, 0, &t), ELEMENTWISE_OK);
    ck_assert_mem_eq(numbers, doubled, sizeof numbers);
}
END_TEST

/* Every pair of types, out on top of x: legal only for the same type, whatever
   the size. */
START_TEST(out_is_x_only_with_its_type)
{
    elementwise_dtype dx = (elementwise_dtype)_i;
    int64_t shape[] = {4};
    _Alignas(16) unsigned char data[64] = {0}, other[64] = {0};
    for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_C128; d++) {
        elementwise_dtype dout = (elementwise_dtype)d;
        elementwise_tensor x = {data, dx, 1, shape, NULL};
        elementwise_tensor y = {other, dx, 1, shape, NULL};
        elementwise_tensor out = {data, dout, 1, shape, NULL};
        for (int compares = 0; compares < 2; compares++) {
            elementwise_status status = compares
                                            ? elementwise_equal(&x, &y, 0, &out)
                                            : elementwise_add(&x, &y, 0, &out);
            if (status == ELEMENTWISE_BAD_DTYPE)
                continue;
            ck_assert_msg(
                status == (dx == dout ? ELEMENTWISE_OK : ELEMENTWISE_OVERLAP),
                "%s into %s: %s", elementwise_dtype_name(dx),
                elementwise_dtype_name(dout), elementwise_status_name(status));
        }
    }
}
END_TEST

START_TEST(out_is_no_operand_that_is_stretched)
{
    int64_t rows[] = {3, 4}, row[] = {4}, column[] = {3, 1}, one[] = {1, 1};
    int32_t numbers[12] = {0}, others[12] = {0};
    elementwise_tensor out = {numbers, ELEMENTWISE_I32, 2, rows, NULL};
    elementwise_tensor other = {others, ELEMENTWISE_I32, 2, rows, NULL};
    elementwise_tensor small[] = {{numbers, ELEMENTWISE_I32, 1, row, NULL},
                                  {numbers, ELEMENTWISE_I32, 2, column, NULL},
                                  {numbers, ELEMENTWISE_I32, 2, one, NULL},
                                  {numbers, ELEMENTWISE_I32, 0, NULL, NULL},
                                  {numbers + 11, ELEMENTWISE_I32, 0, 0, 0}};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(elementwise_add(&other, &small[i], -1, &out),
                         ELEMENTWISE_OVERLAP);
        ck_assert_int_eq(elementwise_sub(&small[i], &other, -1, &out),
                         ELEMENTWISE_OVERLAP);
        ck_assert(strstr(elementwise_last_error(), "of x"));
    }
}
END_TEST

/* Comparisons write bytes; a byte inside an element of x is x's. */
START_TEST(a_single_shared_byte_is_refused)
{
    int64_t shape[] = {4};
    int32_t numbers[8] = {0}, others[4] = {0};
    elementwise_tensor x = {numbers + 2, ELEMENTWISE_I32, 1, shape, NULL};
    elementwise_tensor y = {others, ELEMENTWISE_I32, 1, shape, NULL};
    for (int i = 0; i < 32 - 3; i++) {
        elementwise_tensor out = {(char *)numbers + i, ELEMENTWISE_BOOL, 1,
                                  shape, NULL};
        bool apart = i + 4 <= 8 || i >= 24;
        ck_assert_int_eq(elementwise_equal(&x, &y, 0, &out),
                         apart ? ELEMENTWISE_OK : ELEMENTWISE_OVERLAP);
    }
}
END_TEST

/* A copy has no legal case in place, as it would do nothing. */
START_TEST(a_copy_onto_its_source_is_refused)
{
    int64_t shape[] = {4};
    int32_t numbers[8] = {0};
    elementwise_tensor src = {numbers, ELEMENTWISE_I32, 1, shape, NULL};
    elementwise_tensor dst = src;
    ck_assert_int_eq(elementwise_copy(&src, 0, &dst), ELEMENTWISE_OVERLAP);
    ck_assert(strstr(elementwise_last_error(), "copy"));
    dst.data = numbers + 3;
    ck_assert_int_eq(elementwise_copy(&src, 0, &dst), ELEMENTWISE_OVERLAP);
    dst.data = numbers + 4;
    ck_assert_int_eq(elementwise_copy(&src, 0, &dst), ELEMENTWISE_OK);
}
END_TEST

int main(void)
{
    TCase *exact = support_case("exact");
    TCase *large = support_case("large");
    TCase *calls = support_case("calls");
    tcase_add_test(exact, shared_bytes_are_found_exactly);
    tcase_add_test(exact, shared_bytes_are_found_exactly_at_odd_addresses);
    tcase_add_test(exact, repeated_addresses_are_found_exactly);
    tcase_add_test(exact, interleaved_dimensions_are_no_repeat);
    tcase_add_test(exact, a_loop_that_stands_still_repeats);
    tcase_add_test(large, large_interleaved_planes_are_apart);
    tcase_add_test(large, large_reversed_operands_are_told_apart);
    tcase_add_test(large, large_layouts_with_a_known_meeting_point_overlap);
    tcase_add_test(large, what_takes_too_long_counts_as_overlap);
    tcase_add_test(large, any_strides_end_quickly);
    tcase_add_test(large, strides_beyond_any_object_count_as_overlap);
    tcase_add_loop_test(calls, views_of_one_buffer_are_legal_or_refused, 0,
                        VIEWS);
    tcase_add_loop_test(calls, views_are_judged_alike_as_second_operand, 0,
                        VIEWS);
    tcase_add_loop_test(calls, an_overlap_is_told_by_dimension_and_stride, 0,
                        VIEWS);
    tcase_add_test(calls, out_may_be_both_operands);
    tcase_add_loop_test(calls, out_is_x_only_with_its_type, ELEMENTWISE_BOOL,
                        ELEMENTWISE_C128 + 1);
    tcase_add_test(calls, out_is_no_operand_that_is_stretched);
    tcase_add_test(calls, a_single_shared_byte_is_refused);
    tcase_add_test(calls, a_copy_onto_its_source_is_refused);
    TCase *const cases[] = {exact, large, calls, NULL};
    return support_run("overlap", cases);
}
