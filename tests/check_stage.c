/*
 * Plans in which an input is small and read again and again: which are
 * staged, that the results are those of the reference, and that zeros and
 * overlaps are still looked for in the input itself.
 */
#include <check.h>
#include <string.h>

#include "cpu.h"
#include "plan.h"
#include "reference.h"
#include "support.h"

static struct support_tensor x, y, out;

/* f32 of [shape], x dense and y of the given strides. */
static const struct {
    int64_t shape[3], y[3];
    int inner, ndim; /* of y's loops, and left; 0: it is not staged */
} choices[] = {
    /* transposed, with gaps, backwards: then one loop of all */
    {{8, 64, 64}, {0, 1, 64}, 2, 2},
    {{8, 64, 128}, {0, 1, 64}, 2, 2},
    {{8, 64, 64}, {0, 256, 2}, 2, 2},
    {{64, 8, 64}, {0, 0, 2}, 1, 2},
    {{64, 8, 64}, {0, 0, -1}, 1, 2},
    /* no fewer readings, and no fewer elements */
    {{4, 32, 32}, {0, 1, 32}, 2, 2},
    /* short rows of single elements */
    {{64, 128, 49}, {0, 1, 0}, 2, 2},
    /* the input alone, as what is broadcast is too large: across memory, with
       large gaps */
    {{16, 64, 64}, {1, 0, 16}, 3, 3},
    {{16, 64, 64}, {1, 16, 0}, 3, 2},
    {{16, 64, 64}, {320, 0, 5}, 3, 3},
    /* the same in steps that are shuffles; too large; for tiles of several
       loops */
    {{16, 64, 64}, {256, 0, 4}, 0, 0},
    {{256, 64, 64}, {1, 0, 256}, 0, 0},
    {{1024, 5, 5}, {1, 0, 1024}, 0, 0},
    /* too large, too few readings, too few elements */
    {{8, 64, 129}, {0, 1, 64}, 0, 0},
    {{3, 64, 64}, {0, 1, 64}, 0, 0},
    {{8, 8, 8}, {0, 1, 8}, 0, 0},
    /* all of it is read once; a scalar */
    {{8, 64, 64}, {1, 8, 512}, 0, 0},
    {{8, 64, 63}, {0, 0, 0}, 0, 0},
    /* dense already, or in long rows */
    {{64, 64, 3}, {0, 3, 1}, 0, 0},
    {{64, 64, 3}, {0, 0, 1}, 0, 0},
    {{8, 32, 128}, {0, 256, 1}, 0, 0},
    {{8, 32, 128}, {0, 1, 0}, 0, 0}};

START_TEST(small_inputs_read_in_a_poor_order_are_staged)
{
    const int64_t *shape = choices[_i].shape;
    for (int k = 0; k < 2; k++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, NULL}, b = a;
        b.strides = choices[_i].y;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_ADD, k ? &a : &b, k ? &b : &a, -1, &a),
            0);
        ck_assert_int_eq(p.stage.ndim > 0, choices[_i].inner > 0);
        if (choices[_i].inner == 0)
            continue;
        ck_assert_int_eq(p.stage.operand, k);
        ck_assert_int_eq(p.stage.inner, choices[_i].inner);
        ck_assert_int_eq(p.ndim, choices[_i].ndim);
        ck_assert(!p.calls);
    }
}
END_TEST

/* y is transposed in all loops but the first. */
START_TEST(nests_of_more_loops_are_not_staged)
{
    static const int64_t shape[] = {64, 2, 3, 2, 3, 2, 3, 2, 2};
    static const int64_t across[] = {0, 1, 2, 6, 12, 36, 72, 216, 432};
    for (int ndim = EW_STAGE_LOOPS; ndim <= EW_STAGE_LOOPS + 1; ndim++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, ndim, shape, NULL};
        elementwise_tensor b = a;
        b.strides = across;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &a), 0);
        ck_assert_int_eq(p.stage.ndim, ndim == EW_STAGE_LOOPS ? ndim : 0);
    }
}
END_TEST

/* y's elements count once, though a copy may repeat them. */
START_TEST(a_plan_says_what_is_staged)
{
    static const struct {
        int64_t shape[3], y[3];
        const char *bytes;
    } plans[] = {{{8, 64, 64}, {0, 1, 64}, "\"bytes\":278528}"},
                 {{64, 128, 49}, {0, 1, 0}, "\"bytes\":3211776}"}};
    char json[1000];
    elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, plans[_i].shape, NULL};
    elementwise_tensor b = a;
    elementwise_plan *p;
    b.strides = plans[_i].y;
    ck_assert_int_eq(
        elementwise_plan_create(&p, ELEMENTWISE_ADD, &a, &b, -1, &a, NULL), 0);
    elementwise_plan_describe(p, json, sizeof json);
    elementwise_plan_destroy(p);
    ck_assert_ptr_nonnull(strstr(json, "\"y_input\":\"staged\""));
    ck_assert_ptr_nonnull(strstr(json, plans[_i].bytes));
}
END_TEST

/* A copy of 12 KiB does, one of 18 does not: that holds the input once, unless
   rows get long by it. */
START_TEST(a_staged_input_leaves_room_for_tiles_of_several_loops)
{
    static const struct {
        int64_t n, copies, step; /* step of x between its rows of two */
        bool deep;
    } cases[] = {{1480, 2, 0, true}, {2200, 1, 0, true}, {2200, 2, 2, false}};
    for (int i = 0; i < 3; i++) {
        const int64_t n = cases[i].n, shape[] = {128, n, 4, 2};
        const int64_t row = cases[i].step ? 8 : 2;
        const int64_t of_x[] = {n * row, row, cases[i].step, 1};
        const int64_t of_y[] = {0, 1, n, 0};
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, ELEMENTWISE_U8, 4, shape, of_x}, b = a;
        elementwise_tensor o = {NULL, ELEMENTWISE_U8, 4, shape, NULL};
        b.strides = of_y;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_MUL, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.stage.bytes, n * 4 * cases[i].copies);
        ck_assert_int_eq(p.pass.deep > 0, cases[i].deep);
    }
}
END_TEST

/* Strides of a permuted block that outer dimensions repeat, or any. */
static void draw(int64_t shape[4], int64_t strides[4])
{
    static const int64_t some[] = {2, 3, 5, 7, 16, 31};
    int outer = (int)support_random(1, 2), order[] = {0, 1, 2, 3};
    int64_t dense = support_random(1, 2);
    for (int i = 0; i < 4; i++)
        shape[i] = some[support_random(0, i < outer ? 5 : 4)];
    shape[0] *= 12000 / (shape[0] * shape[1] * shape[2] * shape[3]) + 1;
    support_shuffle(order, support_random(0, 2) ? outer : 0, 4);
    for (int i = 0; i < 4; i++) {
        int d = order[i];
        strides[d] = i < outer || !support_random(0, 4) ? 0 : dense;
        dense *= strides[d] ? shape[d] + (support_random(0, 3) == 0) : 1;
        if (!support_random(0, 3))
            strides[d] = -strides[d];
    }
}

static const elementwise_op ops[] = {ELEMENTWISE_SUB, ELEMENTWISE_MUL,
                                     ELEMENTWISE_FLOORDIV,
                                     ELEMENTWISE_LESS_THAN};

/* The same for x and y, and for mixed types. */
START_TEST(staged_inputs_give_the_results_of_the_reference)
{
    int staged = 0, once = 0, rounds = support_long() ? 20000 : 300;
    if (!support_level(_i))
        return;
    for (int round = 0; round < rounds; round++) {
        int64_t shape[4], strides[4];
        bool x_staged = support_random(0, 1);
        elementwise_op op = ops[round % 4];
        elementwise_dtype type = round % 3   ? ELEMENTWISE_F32
                                 : round % 2 ? ELEMENTWISE_I64
                                             : ELEMENTWISE_I16;
        elementwise_dtype other = support_random(0, 3) ? type : ELEMENTWISE_I16;
        elementwise_dtype result =
            op == ELEMENTWISE_LESS_THAN ? ELEMENTWISE_BOOL : type;
        struct elementwise_plan p;
        draw(shape, strides);
        support_make(&x, x_staged ? other : type, 4, shape,
                     x_staged ? strides : NULL, SUPPORT_HIGH);
        support_make(&y, x_staged ? type : other, 4, shape,
                     x_staged ? NULL : strides, SUPPORT_HIGH);
        support_make(&out, result, 4, shape, NULL, SUPPORT_LOW);
        support_fill(&x);
        support_fill(&y);
        support_keep(&x);
        support_keep(&y);
        support_keep(&out);
        elementwise_status status =
            ew_plan_make(&p, op, &x.t, &y.t, -1, &out.t);
        ck_assert_int_eq(status, ELEMENTWISE_OK);
        staged += p.stage.ndim > 0;
        once += p.stage.ndim > 0 && p.stage.once;
        status = elementwise_apply(op, &x.t, &y.t, -1, &out.t, NULL);
        support_verify(status, op, &x, &y, -1, &out);
    }
    ck_assert_int_gt(staged, rounds / 3);
    ck_assert_int_gt(once, rounds / 30);
}
END_TEST

START_TEST(a_0_and_an_overlap_are_found_in_the_input_itself)
{
    static int32_t a[8 * 64 * 64], b[64 * 64 * 2], o[8 * 64 * 64];
    static const int64_t shape[] = {8, 64, 64}, across[] = {0, 2, 128};
    elementwise_tensor ta = {a, ELEMENTWISE_I32, 3, shape, NULL}, tb = ta;
    elementwise_tensor to = ta;
    tb.data = b;
    tb.strides = across;
    to.data = o;
    for (int i = 0; i < 64 * 64 * 2; i += 2)
        b[i] = 1; /* what lies between is 0, but not of the tensor */
    ck_assert_int_eq(elementwise_div(&ta, &tb, -1, &to), ELEMENTWISE_OK);
    b[4000] = 0;
    ck_assert_int_eq(elementwise_div(&ta, &tb, -1, &to),
                     ELEMENTWISE_DIVISION_BY_ZERO);
    tb.data = o + 5;
    ck_assert_int_eq(elementwise_add(&ta, &tb, -1, &to), ELEMENTWISE_OVERLAP);
}
END_TEST

START_TEST(out_may_be_the_other_input)
{
    static float a[8 * 64 * 64], b[64 * 64], o[8 * 64 * 64];
    static const int64_t shape[] = {8, 64, 64}, across[] = {0, 1, 64};
    elementwise_tensor ta = {a, ELEMENTWISE_F32, 3, shape, NULL}, to = ta;
    elementwise_tensor tb = {b, ELEMENTWISE_F32, 3, shape, across};
    for (int i = 0; i < 8 * 64 * 64; i++)
        a[i] = (float)support_random(-1000, 1000);
    for (int i = 0; i < 64 * 64; i++)
        b[i] = (float)support_random(-1000, 1000);
    to.data = o;
    ck_assert_int_eq(elementwise_sub(&ta, &tb, -1, &to), ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_sub(&ta, &tb, -1, &ta), ELEMENTWISE_OK);
    ck_assert_mem_eq(a, o, sizeof a);
}
END_TEST

/* In 16 and in 32 KiB. */
START_TEST(copies_are_staged)
{
    static double a[64 * 64], o[16 * 64 * 64];
    static const elementwise_dtype types[] = {ELEMENTWISE_F32, ELEMENTWISE_F64};
    static const int64_t shape[] = {16, 64, 64}, across[] = {1, 64};
    elementwise_tensor src = {a, types[_i], 2, shape + 1, across};
    elementwise_tensor dst = {o, types[_i], 3, shape, NULL};
    size_t size = ref_size(types[_i]);
    for (size_t i = 0; i < sizeof a; i++)
        ((char *)a)[i] = (char)(i / size * 7 + i);
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
    for (size_t i = 0; i < 16 * 64 * 64; i++) {
        const char *from = (char *)a + (i % 64 * 64 + i / 64 % 64) * size;
        ck_assert_mem_eq((char *)o + i * size, from, size);
    }
}
END_TEST

int main(void)
{
    TCase *choosing = support_case("choosing");
    TCase *running = support_case("running");
    tcase_add_loop_test(choosing, small_inputs_read_in_a_poor_order_are_staged,
                        0, sizeof choices / sizeof *choices);
    tcase_add_test(choosing, nests_of_more_loops_are_not_staged);
    tcase_add_loop_test(choosing, a_plan_says_what_is_staged, 0, 2);
    tcase_add_test(choosing,
                   a_staged_input_leaves_room_for_tiles_of_several_loops);
    tcase_add_loop_test(
        running, staged_inputs_give_the_results_of_the_reference, 0, EW_LEVELS);
    tcase_add_test(running, a_0_and_an_overlap_are_found_in_the_input_itself);
    tcase_add_test(running, out_may_be_the_other_input);
    tcase_add_loop_test(running, copies_are_staged, 0, 2);
    TCase *const cases[] = {choosing, running, NULL};
    return support_run("stage", cases);
}
