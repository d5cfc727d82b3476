/*
 * Holds the calls of gradients against the contract: which operands may
 * overlap, what is refused before anything is written, and that a plan writes
 * the bits of the call. What gradients are is a matter of check_terms.c and
 * check_walk.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "gradient_calls.h"

/* ---------------------------------------------------------------------
 * Overlap
 */

/* x has the whole shape and y does not stretch it. */
static void whole_shapes(struct support_shapes *s)
{
    do
        support_pair(4, 7, s);
    while (s->x_ndim != s->ndim || s->y_ndim != s->ndim ||
           memcmp(s->x, s->out, sizeof *s->x * (size_t)s->ndim) ||
           memcmp(s->y, s->out, sizeof *s->y * (size_t)s->ndim));
}

/* The separate result first, then the same with dx or dy in dout's place. */
static void verify_in_place(struct gradient *g, int side)
{
    char text[4 * GRADIENT_TEXT];
    struct support_tensor *d = &g->d[side];
    gradient_describe(g, text);
    ck_assert_int_eq(gradient_run(g), ELEMENTWISE_OK);
    support_keep(&g->d[0]);
    support_keep(&g->d[1]);
    elementwise_tensor separate = d->t;
    d->t = g->dout.t;
    ck_assert_msg(gradient_run(g) == ELEMENTWISE_OK, "%s: d%c is dout: %s",
                  text, "xy"[side], elementwise_last_error());
    d->t = separate;
    ck_assert(support_gaps_same(&g->dout));
    for (int64_t i = 0; i < grad_count(&separate); i++)
        ck_assert_msg(ref_same(separate.dtype, grad_nth(&d->was, i),
                               grad_nth(&g->dout.t, i)),
                      "%s: d%c in dout's place differs at %lld", text,
                      "xy"[side], (long long)i);
    ck_assert_msg(support_same(&g->d[!side]),
                  "%s: d%c changed as d%c went to dout's place", text,
                  "yx"[side], "xy"[side]);
}

START_TEST(dout_may_be_overwritten)
{
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    for (int round = 0; gradient_functions[op] && round < 60; round++) {
        struct support_shapes s;
        int64_t strides[ELEMENTWISE_MAX_NDIM];
        int pair = round % 6;
        if (!gradient_takes(op, gradient_pairs[pair][0],
                            gradient_pairs[pair][1]))
            continue;
        whole_shapes(&s);
        gradient_prepare(&g, op, gradient_pairs[pair][0],
                         gradient_pairs[pair][1], &s);
        support_strides(s.ndim, s.out, false, strides);
        support_make(&g.dout, gradient_pairs[pair][0], s.ndim, s.out, strides,
                     SUPPORT_HIGH);
        gradient_fill(&g.dout, GRADIENT_ANY);
        support_keep(&g.dout);
        support_level((int)support_random(0, ew_cpu_level()));
        verify_in_place(&g, (int)support_random(0, 1));
        ew_cpu_limit(EW_LEVELS);
    }
    gradient_release(&g);
}
END_TEST

/* Fails unless the call is refused with the status and writes nothing. */
static void refuse(struct gradient *g, elementwise_status expected,
                   const char *what)
{
    elementwise_status status = gradient_run(g);
    ck_assert_msg(status == expected, "%s: %s_grad gives %s, expected %s", what,
                  elementwise_op_name(g->op), elementwise_status_name(status),
                  elementwise_status_name(expected));
    ck_assert_msg(support_same(&g->x) && support_same(&g->y) &&
                      support_same(&g->dout) && support_same(&g->d[0]) &&
                      support_same(&g->d[1]),
                  "%s: something was written", what);
}

/* dx has another tensor's data, moved by some elements, for one call. */
static void refuse_dx_at(struct gradient *g, const struct support_tensor *other,
                         int64_t moved, elementwise_status expected,
                         const char *what)
{
    void *was = g->d[0].t.data;
    size_t size = ref_size(other->t.dtype);
    g->d[0].t.data = (char *)other->t.data + moved * (int64_t)size;
    refuse(g, expected, what);
    g->d[0].t.data = was;
}

static void plain(struct gradient *g, elementwise_op op,
                  const struct support_shapes *s)
{
    gradient_prepare(g, op, F32, F32, s);
    struct support_tensor *const all[] = {&g->x, &g->y, &g->dout, &g->d[0],
                                          &g->d[1]};
    for (int k = 0; k < 5; k++) {
        int64_t shape[ELEMENTWISE_MAX_NDIM];
        memcpy(shape, all[k]->shape, sizeof shape);
        support_make(all[k], F32, all[k]->t.ndim, shape, NULL, SUPPORT_HIGH);
        gradient_fill(all[k], GRADIENT_NONZERO);
    }
    gradient_keep(g);
}

START_TEST(other_overlap_is_refused)
{
    static const struct support_shapes same = {-1,     2,      2,     2,
                                               {4, 5}, {4, 5}, {4, 5}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &same);
    refuse_dx_at(&g, &g.dout, -1, ELEMENTWISE_OVERLAP, "dx beside dout");
    refuse_dx_at(&g, &g.x, 0, ELEMENTWISE_OVERLAP, "dx is x");
    refuse_dx_at(&g, &g.y, 0, ELEMENTWISE_OVERLAP, "dx is y");
    refuse_dx_at(&g, &g.x, -3, ELEMENTWISE_OVERLAP, "dx beside x");
    refuse_dx_at(&g, &g.d[1], 0, ELEMENTWISE_OVERLAP, "dx is dy");
    refuse_dx_at(&g, &g.d[1], -19, ELEMENTWISE_OVERLAP, "dx beside dy");
    g.flags = ELEMENTWISE_ADD_TO_DX;
    refuse_dx_at(&g, &g.dout, 0, ELEMENTWISE_OVERLAP, "dx added to is dout");
    g.flags = 0;
    elementwise_tensor dy = g.d[1].t;
    g.d[1].t.data = g.dout.t.data;
    refuse_dx_at(&g, &g.dout, 0, ELEMENTWISE_OVERLAP, "dx and dy are dout");
    g.d[1].t = dy;
    int64_t folded[] = {1, 1};
    g.d[0].t.strides = folded;
    refuse(&g, ELEMENTWISE_OVERLAP, "dx overlaps itself");
    gradient_release(&g);
}
END_TEST

START_TEST(a_summed_output_is_not_dout)
{
    static const struct support_shapes shapes = {-1,     2,      2,     2,
                                                 {1, 5}, {4, 5}, {4, 5}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &shapes);
    refuse_dx_at(&g, &g.dout, 0, ELEMENTWISE_OVERLAP, "summed dx in dout");
    refuse_dx_at(&g, &g.dout, 15, ELEMENTWISE_OVERLAP, "summed dx in dout");
    gradient_release(&g);
}
END_TEST

/* dx of f32 where dout is of f64, as far apart. */
START_TEST(a_dx_of_another_type_is_not_dout)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    int64_t apart[] = {2};
    struct gradient g = {0};
    gradient_prepare(&g, (elementwise_op)_i, F32, F64, &same);
    support_line(&g.dout, F64, 6, 1, SUPPORT_LOW);
    gradient_keep(&g);
    g.d[0].t.strides = apart;
    refuse_dx_at(&g, &g.dout, 0, ELEMENTWISE_OVERLAP, "dx of another type");
    gradient_release(&g);
}
END_TEST

START_TEST(double_gradients_overlap_nothing)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {8}, {8}, {8}};
    struct gradient_again a = {0};
    gradient_prepare_again(&a, (elementwise_op)_i, F32, F32, &same);
    struct support_tensor *const all[] = {&a.g.x,    &a.g.y,    &a.g.dout,
                                          &a.g.d[0], &a.g.d[1], &a.dd[0],
                                          &a.dd[1],  &a.ddout};
    for (int k = 0; k < 8; k++)
        support_line(all[k], F32, 8, 1, SUPPORT_HIGH);
    for (int out = 0; out < 3; out++) {
        struct support_tensor *d = out < 2 ? &a.g.d[out] : &a.ddout;
        void *own = d->t.data;
        for (int k = 0; k < 8; k++) {
            d->t.data = all[k] == d ? own : all[k]->t.data;
            ck_assert_msg(
                gradient_run_again(&a) ==
                    (all[k] == d ? ELEMENTWISE_OK : ELEMENTWISE_OVERLAP),
                "%s_grad_grad, output %d on operand %d",
                elementwise_op_name(a.g.op), out, k);
            d->t.data = own;
        }
    }
    gradient_release_again(&a);
}
END_TEST

/* ---------------------------------------------------------------------
 * Refusals
 */

START_TEST(operations_without_a_gradient_are_refused)
{
    float x[2] = {1, 2}, y[2] = {3, 4}, g[2] = {5, 6}, d[2] = {7, 8};
    int32_t ix[2] = {1, 2}, iy[2] = {3, 4};
    int64_t n = 2;
    elementwise_op op = (elementwise_op)_i;
    bool bits = op >= ELEMENTWISE_BITWISE_AND;
    elementwise_dtype type = bits ? ELEMENTWISE_I32 : F32;
    elementwise_tensor tx = {bits ? (void *)ix : x, type, 1, &n, NULL};
    elementwise_tensor ty = {bits ? (void *)iy : y, type, 1, &n, NULL};
    elementwise_tensor tg = {g, type, 1, &n, NULL};
    elementwise_tensor td = {d, type, 1, &n, NULL};
    elementwise_plan *plan;
    if (gradient_functions[op])
        return;
    ck_assert_int_eq(
        elementwise_apply_grad(op, &tx, &ty, NULL, &tg, -1, &td, NULL, NULL),
        ELEMENTWISE_NO_GRADIENT);
    ck_assert(d[0] == 7 && d[1] == 8);
    ck_assert_int_eq(elementwise_plan_create_grad(&plan, op, &tx, &ty, NULL,
                                                  &tg, -1, &td, NULL, NULL),
                     ELEMENTWISE_NO_GRADIENT);
    ck_assert_ptr_null(plan);
}
END_TEST

START_TEST(integers_have_no_gradient)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    for (int pair = 0; gradient_functions[op] && pair < GRADIENT_PAIRS;
         pair++) {
        if (gradient_exists(gradient_pairs[pair][0]) &&
            gradient_exists(gradient_pairs[pair][1]))
            continue;
        gradient_prepare(&g, op, gradient_pairs[pair][0],
                         gradient_pairs[pair][1], &same);
        g.wants[0] = g.wants[1] = true;
        refuse(&g, ELEMENTWISE_NO_GRADIENT, "a float and an integer");
    }
    gradient_release(&g);
}
END_TEST

START_TEST(integer_results_have_no_gradient)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    if (gradient_functions[op] &&
        gradient_takes(op, ELEMENTWISE_I32, ELEMENTWISE_I32)) {
        gradient_prepare(&g, op, ELEMENTWISE_I32, ELEMENTWISE_I32, &same);
        g.wants[0] = true;
        refuse(&g, ELEMENTWISE_NO_GRADIENT, "two integers");
        g.wants[0] = false;
        refuse(&g, ELEMENTWISE_OK, "two integers, no output");
    }
    gradient_release(&g);
}
END_TEST

START_TEST(an_output_that_is_not_wanted_is_not_needed)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &same);
    g.wants[0] = g.wants[1] = false;
    refuse(&g, ELEMENTWISE_OK, "neither dx nor dy");
    gradient_release(&g);
}
END_TEST

/* One field of an operand is wrong for one call. */
static void refuse_type(struct gradient *g, elementwise_tensor *t,
                        elementwise_dtype type, elementwise_status expected)
{
    elementwise_dtype was = t->dtype;
    t->dtype = type;
    refuse(g, expected, "a wrong type");
    t->dtype = was;
}

static void refuse_shape(struct gradient *g, elementwise_tensor *t,
                         int64_t rows, int64_t columns)
{
    const int64_t *was = t->shape, shape[] = {rows, columns};
    t->shape = shape;
    refuse(g, ELEMENTWISE_BAD_SHAPE, "a wrong shape");
    t->shape = was;
}

static void refuse_data(struct gradient *g, elementwise_tensor *t)
{
    void *was = t->data;
    t->data = NULL;
    refuse(g, ELEMENTWISE_INVALID, "NULL data");
    t->data = (char *)was + 1;
    refuse(g, ELEMENTWISE_MISALIGNED, "misaligned data");
    t->data = was;
}

/* The sum of nothing is 0, and must go somewhere; what is read need not be
   there. */
START_TEST(sums_of_nothing_are_stored)
{
    static const struct support_shapes none = {-1,     2,      2,     2,
                                               {1, 5}, {0, 5}, {0, 5}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &none);
    g.x.t.data = g.y.t.data = g.dout.t.data = g.d[1].t.data = NULL;
    ck_assert_int_eq(gradient_run(&g), ELEMENTWISE_OK);
    for (int i = 0; i < 5; i++)
        ck_assert(*(float *)grad_nth(&g.d[0].t, i) == 0);
    support_keep(&g.d[0]);
    void *was = g.d[0].t.data;
    g.d[0].t.data = NULL;
    refuse(&g, ELEMENTWISE_INVALID, "NULL for sums of nothing");
    g.d[0].t.data = was;
    gradient_release(&g);
}
END_TEST

/* Their strides may be anything, and no product of them may overflow. */
START_TEST(gradients_without_elements_may_have_any_strides)
{
    int64_t shape[] = {0, 2}, row[] = {1, 2};
    int64_t any[][2] = {
        {1, INT64_MIN}, {INT64_MIN, INT64_MAX}, {1, INT64_MAX / 2 + 1}};
    float dy[] = {1, 2};
    for (int i = 0; i < 3; i++) {
        elementwise_tensor x = {NULL, ELEMENTWISE_F32, 2, shape, any[i]};
        elementwise_tensor y = {dy, ELEMENTWISE_F32, 2, row, NULL};
        ck_assert_int_eq(elementwise_add_grad(&x, &y, &x, -1, &x, &y), 0);
        ck_assert(dy[0] == 0 && dy[1] == 0);
        ck_assert_int_eq(elementwise_floordiv_grad(&x, &y, &x, -1, &x, NULL),
                         0);
        ck_assert_int_eq(elementwise_sum_to(&x, -1, &x, NULL), 0);
    }
}
END_TEST

START_TEST(wrong_operands_are_refused)
{
    static const struct support_shapes shapes = {-1,     2,      2,     2,
                                                 {4, 1}, {4, 5}, {4, 5}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &shapes);
    elementwise_tensor *const all[] = {&g.x.t, &g.y.t, &g.dout.t, &g.d[0].t,
                                       &g.d[1].t};
    for (int k = 0; k < 5; k++)
        refuse_type(&g, all[k], (elementwise_dtype)77, ELEMENTWISE_INVALID);
    for (int k = 2; k < 5; k++) {
        refuse_type(&g, all[k], F16, ELEMENTWISE_BAD_DTYPE);
        refuse_type(&g, all[k], ELEMENTWISE_I32, ELEMENTWISE_BAD_DTYPE);
    }
    refuse_shape(&g, all[1], 3, 5);
    refuse_shape(&g, all[2], 4, 1);
    refuse_shape(&g, all[2], 1, 5);
    refuse_shape(&g, all[3], 1, 1);
    refuse_shape(&g, all[3], 4, 5);
    refuse_shape(&g, all[4], 4, 1);
    for (int k = 0; k < 5; k++) {
        bool used =
            k > 1 ||
            (g.op != ELEMENTWISE_ADD && g.op != ELEMENTWISE_SUB &&
             g.op != ELEMENTWISE_FLOORDIV && g.op != ELEMENTWISE_TRUNCDIV &&
             g.op != ELEMENTWISE_HEAVISIDE);
        if (used)
            refuse_data(&g, all[k]);
    }
    gradient_release(&g);
}
END_TEST

/* The real part of x / y is 0, as what it cancels is beyond double's digits,
   and the imaginary part beyond f32. */
START_TEST(a_complex_slope_beyond_f32_is_no_zero)
{
    float x[] = {-2.25f, 1e30f}, y[] = {1e-40f, 1e-40f}, g[] = {1e-20f, 1.5f};
    float dy[2] = {0};
    elementwise_tensor tx = {x, ELEMENTWISE_C64, 0, NULL, NULL}, ty = tx,
                       tg = tx, tdy = tx;
    ty.data = y;
    tg.data = g;
    tdy.data = dy;
    ck_assert_int_eq(elementwise_div_grad(&tx, &ty, &tg, -1, NULL, &tdy),
                     ELEMENTWISE_OK);
    ck_assert(isinf(dy[0]) && dy[0] < 0);
}
END_TEST

/* 0 whatever dout is, where the table says so, and infinity for a power that
   double does not hold either. */
START_TEST(complex_powers_have_their_special_slopes)
{
    float x[] = {2, 1, 0, 0, 1e30f, 0}, y[] = {0, 0, 2, 1, 20, 0};
    float g[] = {INFINITY, 1, INFINITY, 1, 1, 0}, dx[6], dy[6];
    const int64_t shape[] = {3};
    elementwise_tensor tx = {x, ELEMENTWISE_C64, 1, shape, NULL}, ty = tx,
                       tg = tx, tdx = tx, tdy = tx;
    ty.data = y;
    tg.data = g;
    tdx.data = dx;
    tdy.data = dy;
    ck_assert_int_eq(elementwise_pow_grad(&tx, &ty, &tg, -1, &tdx, &tdy),
                     ELEMENTWISE_OK);
    ck_assert(dx[0] == 0 && dx[1] == 0);
    ck_assert(dy[2] == 0 && dy[3] == 0);
    ck_assert(dx[4] == INFINITY && dx[5] == 0);
    ck_assert(dy[4] == INFINITY && dy[5] == 0);
}
END_TEST

START_TEST(missing_operands_and_wrong_options_are_refused)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    plain(&g, ELEMENTWISE_MUL, &same);
    const elementwise_tensor *x = &g.x.t, *y = &g.y.t, *dout = &g.dout.t,
                             *dx = &g.d[0].t, *dy = &g.d[1].t;
    ck_assert_int_eq(elementwise_mul_grad(NULL, y, dout, -1, dx, dy),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_mul_grad(x, NULL, dout, -1, dx, dy),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_mul_grad(x, y, NULL, -1, dx, dy),
                     ELEMENTWISE_INVALID);
    for (int op = -1; op < 90; op += op ? 89 : 1)
        ck_assert_int_eq(elementwise_apply_grad((elementwise_op)op, x, y, NULL,
                                                dout, -1, dx, dy, NULL),
                         ELEMENTWISE_INVALID);
    g.flags = ELEMENTWISE_ADD_TO_OUT;
    refuse(&g, ELEMENTWISE_INVALID, "ADD_TO_OUT");
    g.flags = 1u << 20;
    refuse(&g, ELEMENTWISE_INVALID, "an unknown flag");
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.size = 0;
    ck_assert_int_eq(
        elementwise_apply_grad(g.op, x, y, NULL, dout, -1, dx, dy, &options),
        ELEMENTWISE_INVALID);
    options.size = sizeof options;
    options.flags = ELEMENTWISE_ADD_TO_DX;
    ck_assert_int_eq(elementwise_apply(g.op, x, y, -1, dx, &options),
                     ELEMENTWISE_INVALID);
    ck_assert(support_same(&g.d[0]) && support_same(&g.d[1]));
    gradient_release(&g);
}
END_TEST

START_TEST(wrong_axes_are_refused)
{
    static const struct support_shapes shapes = {0,      2,   1,     2,
                                                 {4, 5}, {4}, {4, 5}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &shapes);
    g.axis = -2;
    refuse(&g, ELEMENTWISE_BAD_AXIS, "axis -2");
    g.axis = 2;
    refuse(&g, ELEMENTWISE_BAD_AXIS, "axis 2");
    g.axis = 1;
    refuse(&g, ELEMENTWISE_BAD_SHAPE, "axis 1");
    g.axis = -1;
    refuse(&g, ELEMENTWISE_BAD_SHAPE, "axis -1");
    gradient_release(&g);
}
END_TEST

START_TEST(sum_to_refuses_what_is_wrong)
{
    float from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {9, 9, 9, 9, 9, 9}, kept[6];
    int64_t whole[] = {2, 3}, row[] = {3}, two[] = {2}, high[] = {1, 1, 3};
    int64_t big[] = {4, 3}, none[] = {0};
    elementwise_tensor src = {from, F32, 2, whole, NULL};
    elementwise_tensor dst = {to, F32, 1, row, NULL}, bad = dst;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    memcpy(kept, to, sizeof to);
    ck_assert_int_eq(elementwise_sum_to(NULL, -1, &dst, NULL),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_sum_to(&src, -1, NULL, NULL),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_sum_to(&src, 2, &dst, NULL),
                     ELEMENTWISE_BAD_AXIS);
    ck_assert_int_eq(elementwise_sum_to(&src, -2, &dst, NULL),
                     ELEMENTWISE_BAD_AXIS);
    ck_assert_int_eq(elementwise_sum_to(&src, 0, &dst, NULL),
                     ELEMENTWISE_BAD_SHAPE);
    bad.shape = two;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_BAD_SHAPE);
    bad.shape = none;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_BAD_SHAPE);
    bad = (elementwise_tensor){to, F32, 3, high, NULL};
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_BAD_SHAPE);
    bad = (elementwise_tensor){to, F32, 2, big, NULL};
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_BAD_SHAPE);
    bad = dst;
    bad.dtype = F64;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_BAD_DTYPE);
    elementwise_tensor integers = src, integer = dst;
    integers.dtype = integer.dtype = ELEMENTWISE_I32;
    ck_assert_int_eq(elementwise_sum_to(&integers, -1, &integer, NULL),
                     ELEMENTWISE_BAD_DTYPE);
    bad = dst;
    bad.data = from;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_OVERLAP);
    bad = src;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_OVERLAP);
    bad = dst;
    bad.data = (char *)to + 1;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &bad, NULL),
                     ELEMENTWISE_MISALIGNED);
    options.flags = ELEMENTWISE_ADD_TO_DX;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &dst, &options),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(memcmp(kept, to, sizeof to), 0);
}
END_TEST

/* The hint is one, and not refused; dst of higher rank is told from one that
   would be stretched. */
START_TEST(sum_to_says_what_it_takes)
{
    float from[3] = {1, 2, 3}, to[3] = {9, 9, 9};
    int64_t row[] = {1, 3}, high[] = {1, 1, 3};
    elementwise_tensor src = {from, F32, 2, row, NULL};
    elementwise_tensor dst = {to, F32, 3, high, NULL};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &dst, NULL),
                     ELEMENTWISE_BAD_SHAPE);
    const char *message = elementwise_last_error();
    ck_assert(strstr(message, "sum_to: dst has rank 3, more than src, 2: src "
                              "(1,3) and dst (1,1,3)\n"));
    ck_assert(strstr(message, "the rank of dst must be at most 2, and each "
                              "extent that of src or 1"));
    dst = (elementwise_tensor){to, F32, 2, row, NULL};
    options.flags = ELEMENTWISE_STREAM | ELEMENTWISE_ADD_TO_OUT;
    ck_assert_int_eq(elementwise_sum_to(&src, -1, &dst, &options),
                     ELEMENTWISE_OK);
    ck_assert(to[0] == 10 && to[1] == 11 && to[2] == 12);
}
END_TEST

/* ---------------------------------------------------------------------
 * Plans
 */

static elementwise_plan *plan_of(const struct gradient *g)
{
    elementwise_plan *plan = NULL;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    elementwise_tensor t[] = {g->x.t, g->y.t, g->dout.t, g->d[0].t, g->d[1].t};
    options.flags = g->flags;
    for (int k = 0; k < 5; k++)
        t[k].data = NULL;
    elementwise_status status = elementwise_plan_create_grad(
        &plan, g->op, &t[0], &t[1], NULL, &t[2], g->axis,
        g->wants[0] ? &t[3] : NULL, g->wants[1] ? &t[4] : NULL, &options);
    ck_assert_msg(status == ELEMENTWISE_OK, "%s", elementwise_last_error());
    return plan;
}

static elementwise_status run_plan(const elementwise_plan *plan,
                                   const struct gradient *g, void *dx, void *dy)
{
    return elementwise_plan_run_grad(plan, g->x.t.data, g->y.t.data, NULL,
                                     g->dout.t.data, g->wants[0] ? dx : NULL,
                                     g->wants[1] ? dy : NULL);
}

START_TEST(plans_write_the_bits_of_the_call)
{
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    for (int round = 0; gradient_functions[op] && round < gradient_rounds(40);
         round++) {
        int pair = round % GRADIENT_PAIRS;
        if (!gradient_takes(op, gradient_pairs[pair][0],
                            gradient_pairs[pair][1]))
            continue;
        gradient_random(&g, op, pair);
        elementwise_plan *plan = plan_of(&g);
        ck_assert_uint_gt(elementwise_plan_describe(plan, NULL, 0), 0);
        ck_assert_int_eq(gradient_run(&g), ELEMENTWISE_OK);
        char *expected[2];
        for (int k = 0; k < 2; k++) {
            expected[k] = malloc(g.d[k].area_size);
            ck_assert_ptr_nonnull(expected[k]);
            memcpy(expected[k], g.d[k].area, g.d[k].area_size);
            support_restore(&g.d[k]);
        }
        elementwise_status status =
            run_plan(plan, &g, g.d[0].t.data, g.d[1].t.data);
        ck_assert_msg(status == ELEMENTWISE_OK, "%s", elementwise_last_error());
        for (int k = 0; k < 2; k++) {
            ck_assert(!memcmp(expected[k], g.d[k].area, g.d[k].area_size));
            free(expected[k]);
        }
        elementwise_plan_destroy(plan);
    }
    gradient_release(&g);
}
END_TEST

struct runner {
    pthread_t id;
    const elementwise_plan *plan;
    const struct gradient *g;
    float dx[64 * 3], dy[64 * 40 * 3];
    bool good;
};

static void *run_often(void *argument)
{
    struct runner *r = argument;
    const struct gradient *g = r->g;
    r->good = true;
    for (int i = 0; i < 300; i++) {
        memset(r->dx, 0xA5, sizeof r->dx);
        memset(r->dy, 0xA5, sizeof r->dy);
        r->good = r->good &&
                  run_plan(r->plan, g, r->dx, r->dy) == ELEMENTWISE_OK &&
                  !memcmp(r->dx, g->d[0].t.data, sizeof r->dx) &&
                  !memcmp(r->dy, g->d[1].t.data, sizeof r->dy);
    }
    return NULL;
}

START_TEST(threads_share_a_plan)
{
    static const struct support_shapes shapes = {
        0, 3, 3, 3, {64, 1, 3}, {64, 40, 3}, {64, 40, 3}};
    static struct runner runners[2];
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &shapes);
    ck_assert_int_eq(gradient_run(&g), ELEMENTWISE_OK);
    elementwise_plan *plan = plan_of(&g);
    for (int k = 0; k < 2; k++) {
        runners[k].plan = plan;
        runners[k].g = &g;
        ck_assert_int_eq(
            pthread_create(&runners[k].id, NULL, run_often, &runners[k]), 0);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(runners[k].id, NULL);
        ck_assert(runners[k].good);
    }
    elementwise_plan_destroy(plan);
    gradient_release(&g);
}
END_TEST

START_TEST(plans_check_their_pointers_and_kind)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    elementwise_plan *forward;
    plain(&g, ELEMENTWISE_MUL, &same);
    elementwise_plan *plan = plan_of(&g);
    void *x = g.x.t.data, *y = g.y.t.data, *dout = g.dout.t.data,
         *dx = g.d[0].t.data, *dy = g.d[1].t.data;
    ck_assert_int_eq(elementwise_plan_create(&forward, g.op, &g.x.t, &g.y.t, -1,
                                             &g.dout.t, NULL),
                     ELEMENTWISE_OK);
    for (int i = 0; i < 2; i++) {
        void *const out[] = {dx, NULL};
        ck_assert_int_eq(elementwise_plan_run(plan, x, y, out[i]),
                         ELEMENTWISE_INVALID);
        ck_assert_str_eq(elementwise_last_error(),
                         "plan_run: plan is one of a gradient");
    }
    ck_assert_int_eq(
        elementwise_plan_run_grad(forward, x, y, NULL, dout, dx, dy),
        ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_plan_run_grad(NULL, x, y, NULL, dout, dx, dy),
                     ELEMENTWISE_INVALID);
    void *good[] = {x, y, dout, dx, dy}, *p[5];
    for (int k = 0; k < 5; k++) {
        memcpy(p, good, sizeof p);
        p[k] = NULL;
        ck_assert_int_eq(
            elementwise_plan_run_grad(plan, p[0], p[1], NULL, p[2], p[3], p[4]),
            ELEMENTWISE_INVALID);
        p[k] = (char *)good[k] + 2;
        ck_assert_int_eq(
            elementwise_plan_run_grad(plan, p[0], p[1], NULL, p[2], p[3], p[4]),
            ELEMENTWISE_MISALIGNED);
    }
    ck_assert_int_eq(elementwise_plan_run_grad(plan, x, y, NULL, dout, x, dy),
                     ELEMENTWISE_OVERLAP);
    ck_assert_int_eq(elementwise_plan_run_grad(plan, x, y, NULL, dout, dy, dy),
                     ELEMENTWISE_OVERLAP);
    ck_assert(support_same(&g.d[0]) && support_same(&g.d[1]));
    ck_assert_int_eq(
        elementwise_plan_run_grad(plan, x, y, NULL, dout, dout, dy),
        ELEMENTWISE_OK);
    elementwise_plan_destroy(plan);
    elementwise_plan_destroy(forward);
    gradient_release(&g);
}
END_TEST

/* What it would not write it refuses, and a flag for that is no error. */
START_TEST(plans_write_what_they_were_made_for)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    static const char *const left_out[] = {"dx", "dy"};
    struct gradient g = {0};
    for (int k = 0; k < 2; k++) {
        plain(&g, ELEMENTWISE_MUL, &same);
        void *x = g.x.t.data, *y = g.y.t.data, *dout = g.dout.t.data;
        void *d[] = {g.d[0].t.data, g.d[1].t.data};
        g.wants[k] = false;
        g.flags = k ? ELEMENTWISE_ADD_TO_DY : ELEMENTWISE_ADD_TO_DX;
        elementwise_plan *plan = plan_of(&g);
        ck_assert_int_eq(
            elementwise_plan_run_grad(plan, x, y, NULL, dout, d[0], d[1]),
            ELEMENTWISE_INVALID);
        ck_assert(strstr(elementwise_last_error(), left_out[k]));
        ck_assert(support_same(&g.d[0]) && support_same(&g.d[1]));
        d[k] = NULL;
        ck_assert_int_eq(
            elementwise_plan_run_grad(plan, x, y, NULL, dout, d[0], d[1]),
            ELEMENTWISE_OK);
        gradient_verify_levels(&g);
        elementwise_plan_destroy(plan);
    }
    gradient_release(&g);
}
END_TEST

static TCase *overlap(void)
{
    TCase *tests = support_case("overlap");
    tcase_add_loop_test(tests, dout_may_be_overwritten, 1, GRADIENT_OPS);
    tcase_add_loop_test(tests, other_overlap_is_refused, 1, 5);
    tcase_add_loop_test(tests, a_summed_output_is_not_dout, 1, 5);
    tcase_add_loop_test(tests, a_dx_of_another_type_is_not_dout, 1, 5);
    tcase_add_loop_test(tests, double_gradients_overlap_nothing, 1, 5);
    return tests;
}

static TCase *refusals(void)
{
    TCase *tests = support_case("refusals");
    tcase_add_loop_test(tests, operations_without_a_gradient_are_refused, 1,
                        GRADIENT_OPS);
    tcase_add_loop_test(tests, integers_have_no_gradient, 1, GRADIENT_OPS);
    tcase_add_loop_test(tests, integer_results_have_no_gradient, 1,
                        GRADIENT_OPS);
    tcase_add_loop_test(tests, an_output_that_is_not_wanted_is_not_needed, 1,
                        5);
    tcase_add_loop_test(tests, sums_of_nothing_are_stored, 1, 5);
    tcase_add_test(tests, gradients_without_elements_may_have_any_strides);
    tcase_add_loop_test(tests, wrong_operands_are_refused, 1, 5);
    tcase_add_test(tests, a_complex_slope_beyond_f32_is_no_zero);
    tcase_add_test(tests, complex_powers_have_their_special_slopes);
    tcase_add_test(tests, missing_operands_and_wrong_options_are_refused);
    tcase_add_loop_test(tests, wrong_axes_are_refused, 1, 5);
    tcase_add_test(tests, sum_to_refuses_what_is_wrong);
    tcase_add_test(tests, sum_to_says_what_it_takes);
    return tests;
}

static TCase *plans(void)
{
    TCase *tests = support_case("plans");
    tcase_add_loop_test(tests, plans_write_the_bits_of_the_call, 1,
                        GRADIENT_OPS);
    tcase_add_loop_test(tests, threads_share_a_plan, 1, 5);
    tcase_add_test(tests, plans_check_their_pointers_and_kind);
    tcase_add_test(tests, plans_write_what_they_were_made_for);
    return tests;
}

int main(void)
{
    TCase *const cases[] = {overlap(), refusals(), plans(), NULL};
    return support_run("gradient", cases);
}
