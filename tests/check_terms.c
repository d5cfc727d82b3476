/*
 * Holds the formulas of gradients against a reference in long double: every
 * operation, type and CPU level. What a reference could get wrong in the same
 * way is held against central differences and against the inner products that
 * define an adjoint.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "gradient_calls.h"

/* ---------------------------------------------------------------------
 * Values; by test index, of an operation
 */

START_TEST(gradients_are_the_references_in_every_layout)
{
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    for (int round = 0; gradient_functions[op] && round < gradient_rounds(300);
         round++) {
        int pair = round % GRADIENT_PAIRS;
        if (!gradient_takes(op, gradient_pairs[pair][0],
                            gradient_pairs[pair][1]))
            continue;
        gradient_random(&g, op, pair);
        gradient_verify_levels(&g);
    }
    gradient_release(&g);
}
END_TEST

/* All pairs of a type's special values, in vectors. */
static void load_specials(struct gradient *g, elementwise_op op,
                          elementwise_dtype type, bool finite)
{
    char list[SUPPORT_SPECIALS * 16];
    size_t size = ref_size(type);
    int64_t n = support_specials(type, list), all = n * n;
    struct support_shapes s = {-1, 1, 1, 1, {all}, {all}, {all}};
    gradient_prepare(g, op, type, type, &s);
    for (int64_t i = 0; i < all; i++) {
        char *x = list + size * (size_t)(i / n),
             *y = list + size * (size_t)(i % n);
        bool good =
            isfinite(ref_load(type, x).re) && isfinite(ref_load(type, y).re);
        gradient_put(type, i % 3 ? 1 : -1.5, 0, grad_nth(&g->dout.t, i));
        if (finite && !good)
            continue;
        memcpy(grad_nth(&g->x.t, i), x, size);
        memcpy(grad_nth(&g->y.t, i), y, size);
    }
    gradient_keep(g);
}

static bool selects(elementwise_op op)
{
    return op == ELEMENTWISE_ADD || op == ELEMENTWISE_SUB ||
           op == ELEMENTWISE_MAX || op == ELEMENTWISE_MIN ||
           op == ELEMENTWISE_FMAX || op == ELEMENTWISE_FMIN ||
           op == ELEMENTWISE_HEAVISIDE || op == ELEMENTWISE_COPYSIGN ||
           op == ELEMENTWISE_FLOORDIV || op == ELEMENTWISE_TRUNCDIV;
}

/* Where a formula only selects, of all values; elsewhere, of finite ones. */
START_TEST(special_values_have_the_references_gradients)
{
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    for (int k = 0; gradient_functions[op] && op != ELEMENTWISE_POW && k < 4;
         k++) {
        load_specials(&g, op, gradient_floats[k], !selects(op));
        gradient_verify_levels(&g);
    }
    gradient_release(&g);
}
END_TEST

struct special {
    elementwise_op op;
    double x, y, g, dx, dy;
};

static const struct special specials[] = {
    {ELEMENTWISE_MAX, 2, 2, 3, 0, 3},
    {ELEMENTWISE_MAX, 3, 2, 3, 3, 0},
    {ELEMENTWISE_MAX, 2, 3, 3, 0, 3},
    {ELEMENTWISE_MAX, NAN, 2, 3, 3, 0},
    {ELEMENTWISE_MAX, 2, NAN, 3, 0, 3},
    {ELEMENTWISE_MAX, NAN, NAN, 3, 0, 3},
    {ELEMENTWISE_MAX, 0, -0.0, 3, 0, 3},
    {ELEMENTWISE_MAX, 3, 2, NAN, NAN, 0},
    {ELEMENTWISE_MAX, 3, 2, INFINITY, INFINITY, 0},
    {ELEMENTWISE_MIN, 2, 2, 3, 0, 3},
    {ELEMENTWISE_MIN, 3, 2, 3, 0, 3},
    {ELEMENTWISE_MIN, 2, 3, 3, 3, 0},
    {ELEMENTWISE_MIN, NAN, 2, 3, 3, 0},
    {ELEMENTWISE_MIN, 2, NAN, 3, 0, 3},
    {ELEMENTWISE_MIN, NAN, NAN, 3, 0, 3},
    {ELEMENTWISE_MIN, -0.0, 0, 3, 0, 3},
    {ELEMENTWISE_FMAX, 2, 2, 3, 3, 0},
    {ELEMENTWISE_FMAX, 2, 3, 3, 0, 3},
    {ELEMENTWISE_FMAX, NAN, 2, 3, 0, 3},
    {ELEMENTWISE_FMAX, 2, NAN, 3, 3, 0},
    {ELEMENTWISE_FMAX, NAN, NAN, 3, 3, 0},
    {ELEMENTWISE_FMAX, -0.0, 0, 3, 3, 0},
    {ELEMENTWISE_FMIN, 2, 2, 3, 3, 0},
    {ELEMENTWISE_FMIN, 3, 2, 3, 0, 3},
    {ELEMENTWISE_FMIN, NAN, 2, 3, 0, 3},
    {ELEMENTWISE_FMIN, 2, NAN, 3, 3, 0},
    {ELEMENTWISE_FMIN, NAN, NAN, 3, 3, 0},
    {ELEMENTWISE_FMIN, 0, -0.0, 3, 3, 0},
    {ELEMENTWISE_POW, 0, 0, 3, 0, 0},
    {ELEMENTWISE_POW, 0, 1, 3, 3, 0},
    {ELEMENTWISE_POW, 0, 2, 3, 0, 0},
    {ELEMENTWISE_POW, 2, 0, 3, 0, 3 * 0.69314718055994530942},
    {ELEMENTWISE_POW, NAN, 0, 3, 0, NAN},
    {ELEMENTWISE_POW, INFINITY, 0, 3, 0, INFINITY},
    {ELEMENTWISE_POW, -2, 3, 1, 12, NAN},
    {ELEMENTWISE_POW, -2, 2, 1, -4, NAN},
    {ELEMENTWISE_POW, 0, -1, 1, -INFINITY, -INFINITY},
    {ELEMENTWISE_POW, 1, 5, 3, 15, 0},
    {ELEMENTWISE_MOD, 7, 2, 3, 3, -9},
    {ELEMENTWISE_MOD, -7, 2, 3, 3, 12},
    {ELEMENTWISE_MOD, 7, -2, 3, 3, 12},
    {ELEMENTWISE_FMOD, 7, 2, 3, 3, -9},
    {ELEMENTWISE_FMOD, -7, 2, 3, 3, 9},
    {ELEMENTWISE_FMOD, 7, -2, 3, 3, 9},
    {ELEMENTWISE_FLOORDIV, 7, 2, 3, 0, 0},
    {ELEMENTWISE_FLOORDIV, 7, 0, NAN, 0, 0},
    {ELEMENTWISE_TRUNCDIV, 7, 2, 3, 0, 0},
    {ELEMENTWISE_HEAVISIDE, 0, 2, 3, 0, 3},
    {ELEMENTWISE_HEAVISIDE, -0.0, 2, 3, 0, 3},
    {ELEMENTWISE_HEAVISIDE, 1, 2, 3, 0, 0},
    {ELEMENTWISE_HEAVISIDE, -1, 2, 3, 0, 0},
    {ELEMENTWISE_HEAVISIDE, NAN, 2, 3, 0, 0},
    {ELEMENTWISE_ATAN2, 0, 0, 3, 0, 0},
    {ELEMENTWISE_ATAN2, -0.0, 0, 3, 0, 0},
    {ELEMENTWISE_ATAN2, 0, 2, 3, 1.5, 0},
    {ELEMENTWISE_ATAN2, 2, 0, 3, 0, -1.5},
    {ELEMENTWISE_ATAN2, NAN, 1, 3, NAN, NAN},
    {ELEMENTWISE_HYPOT, 0, 0, 3, 0, 0},
    {ELEMENTWISE_HYPOT, 3, 4, 5, 3, 4},
    {ELEMENTWISE_HYPOT, -3, 4, 5, -3, 4},
    {ELEMENTWISE_HYPOT, -3, 0, 5, -5, 0},
    {ELEMENTWISE_LOGADDEXP, INFINITY, INFINITY, 3, 1.5, 1.5},
    {ELEMENTWISE_LOGADDEXP, -INFINITY, -INFINITY, 3, 1.5, 1.5},
    {ELEMENTWISE_LOGADDEXP, INFINITY, -INFINITY, 3, 3, 0},
    {ELEMENTWISE_LOGADDEXP, -INFINITY, INFINITY, 3, 0, 3},
    {ELEMENTWISE_LOGADDEXP, INFINITY, 1, 3, 3, 0},
    {ELEMENTWISE_LOGADDEXP, 1, -INFINITY, 3, 3, 0},
    {ELEMENTWISE_LOGADDEXP, 1, 1, 3, 1.5, 1.5},
    {ELEMENTWISE_LOGADDEXP, NAN, 1, 3, NAN, NAN},
    {ELEMENTWISE_COPYSIGN, 2, 1, 3, 3, 0},
    {ELEMENTWISE_COPYSIGN, 2, -1, 3, -3, 0},
    {ELEMENTWISE_COPYSIGN, -2, -1, 3, 3, 0},
    {ELEMENTWISE_COPYSIGN, -2, 0, 3, -3, 0},
    {ELEMENTWISE_COPYSIGN, -2, -0.0, 3, 3, 0},
    {ELEMENTWISE_COPYSIGN, 0, -1, 3, 0, 0},
    {ELEMENTWISE_COPYSIGN, -0.0, -1, 3, 0, 0},
    {ELEMENTWISE_DIV, 3, 0, 2, INFINITY, -INFINITY},
    {ELEMENTWISE_DIV, 6, 2, 2, 1, -3},
    {ELEMENTWISE_MUL, 0, INFINITY, 2, INFINITY, 0},
};
enum { SPECIALS = sizeof specials / sizeof *specials };

#define LN2 0.69314718055994530942

/* Of f64, where a power, a square or their product with an operand does not
   fit. */
static const struct special steep[] = {
    {ELEMENTWISE_POW, 0x1p-1040, 0x1p-80, 1, 0x1p960, -1040 * LN2},
    {ELEMENTWISE_POW, 0x1p520, 3, 0x1p-900, 0x3p140, 520 * LN2 * 0x1p660},
    {ELEMENTWISE_POW, -0x1p520, 3, 0x1p-900, 0x3p140, NAN},
    {ELEMENTWISE_POW, -0x1p352, 4, 0x1p-900, -0x1p158, NAN},
    {ELEMENTWISE_POW, 0x1p352, 4, 0x1p-900, 0x1p158, 352 * LN2 * 0x1p508},
    {ELEMENTWISE_POW, 0x1p-352, 4, 0x1p900, 0x1p-154, -352 * LN2 * 0x1p-508},
    {ELEMENTWISE_POW, 0x1p1022, 3, 0x1p-1074, 0x3p970, INFINITY},
    {ELEMENTWISE_POW, 0x1p-1072, 2, 0x1p1000, 0x1p-71, 0},
    {ELEMENTWISE_POW, 0x1p-1074, 0x1p-1074, 1.5, 1.5, -1074 * 1.5 * LN2},
    {ELEMENTWISE_POW, 0x1p-540, 3, INFINITY, NAN, NAN},
    {ELEMENTWISE_POW, 0x1p1020, 4, 0, 0, 0},
    {ELEMENTWISE_POW, 10, 2000, 0, 0, 0},
    {ELEMENTWISE_HYPOT, 0x1p-1000, 0x1p100, 0x1p1000, 0x1p-100, 0x1p1000},
    {ELEMENTWISE_HYPOT, 0x3p600, 0x4p600, 5, 3, 4},
    {ELEMENTWISE_HYPOT, 0x3p-600, 0x4p-600, 5, 3, 4},
    {ELEMENTWISE_ATAN2, 0, 0x1p-1074, 0x1p-300, 0x1p774, 0},
    {ELEMENTWISE_ATAN2, 0x1p-940, 0x1p60, 0x1p300, 0x1p240, -0x1p-760},
    {ELEMENTWISE_ATAN2, 0x1p600, 0x1p600, 0x1p600, 0.5, -0.5},
};
enum { STEEPS = sizeof steep / sizeof *steep };

/* Within a rounding of the type. */
static bool is_near(elementwise_dtype type, double expected, double got)
{
    double last = type == F64 ? 0x1p-51 : type == F32 ? 0x1p-22 : 0x1p-7;
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : got == expected;
    return fabs(got - expected) <= last * fabs(expected);
}

static void verify_special(const struct special *s, elementwise_dtype type)
{
    enum { N = 37 };
    struct gradient g = {0};
    struct support_shapes shapes = {-1, 1, 1, 1, {N}, {N}, {N}};
    gradient_prepare(&g, s->op, type, type, &shapes);
    for (int i = 0; i < N; i++) {
        gradient_put(type, s->x, 0, grad_nth(&g.x.t, i));
        gradient_put(type, s->y, 0, grad_nth(&g.y.t, i));
        gradient_put(type, s->g, 0, grad_nth(&g.dout.t, i));
    }
    ck_assert_int_eq(gradient_run(&g), ELEMENTWISE_OK);
    for (int i = 0; i < 2 * N; i++) {
        double got = ref_load(type, grad_nth(&g.d[i % 2].t, i / 2)).re;
        double expected = i % 2 ? s->dy : s->dx;
        ck_assert_msg(is_near(type, expected, got),
                      "%s_grad(%g, %g) of %g in %s, level %s: d%c is %g, "
                      "expected %g",
                      elementwise_op_name(s->op), s->x, s->y, s->g,
                      elementwise_dtype_name(type), elementwise_cpu_level(),
                      "xy"[i % 2], got, expected);
    }
    gradient_release(&g);
}

START_TEST(special_cases_of_the_contract_hold)
{
    for (int level = 0; level < EW_LEVELS && support_level(level); level++)
        for (int k = 0; k < 4; k++)
            verify_special(&specials[_i], gradient_floats[k]);
}
END_TEST

START_TEST(slopes_out_of_range_have_gradients_within)
{
    for (int level = 0; level < EW_LEVELS && support_level(level); level++)
        verify_special(&steep[_i], F64);
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* 1 / 0.1 rounds to 10, but the quotient is less. */
START_TEST(mod_takes_the_floor_of_the_exact_quotient)
{
    struct special mod = {ELEMENTWISE_MOD, 1, 0.1, 1, 1, -9};
    struct special fmod_ = {ELEMENTWISE_FMOD, 1, 0.1, 1, 1, -9};
    verify_special(&mod, F64);
    verify_special(&fmod_, F64);
}
END_TEST

/* ---------------------------------------------------------------------
 * Central differences and adjoints
 */

/* Shapes under an axis in which both operands are stretched. */
static const struct support_shapes stretched = {
    1, 4, 2, 4, {2, 1, 4, 3}, {3, 4}, {2, 3, 4, 3}};

static double element(const elementwise_tensor *t, int64_t i)
{
    return *(double *)grad_nth(t, i);
}

/* <a, b> of f64. */
static double inner(const elementwise_tensor *a, const elementwise_tensor *b)
{
    double sum = 0;
    for (int64_t i = 0; i < grad_count(a); i++)
        sum += element(a, i) * element(b, i);
    return sum;
}

/* <dout, op(x, y)> */
static double loss(struct gradient *g, struct support_tensor *out)
{
    ck_assert_int_eq(
        elementwise_apply(g->op, &g->x.t, &g->y.t, g->axis, &out->t, NULL),
        ELEMENTWISE_OK);
    return inner(&g->dout.t, &out->t);
}

static void assert_close(const char *what, double expected, double got,
                         double tolerance)
{
    ck_assert_msg(fabs(expected - got) <= tolerance * (1 + fabs(expected)),
                  "%s: expected %.12g, got %.12g", what, expected, got);
}

static void spread(struct support_tensor *s)
{
    support_make(s, s->t.dtype, s->t.ndim, s->shape, NULL, SUPPORT_HIGH);
    for (int64_t i = 0; i < grad_count(&s->t); i++)
        gradient_put(F64, 0.5 + ldexp((double)(support_bits() >> 11), -52), 0,
                     grad_nth(&s->t, i));
}

static void prepare_smooth(struct gradient *g, elementwise_op op,
                           const struct support_shapes *s)
{
    gradient_prepare(g, op, F64, F64, s);
    spread(&g->x);
    spread(&g->y);
    spread(&g->dout);
    gradient_keep(g);
}

START_TEST(smooth_gradients_are_central_differences)
{
    static const elementwise_op ops[] = {
        ELEMENTWISE_ADD,   ELEMENTWISE_SUB,      ELEMENTWISE_MUL,
        ELEMENTWISE_DIV,   ELEMENTWISE_POW,      ELEMENTWISE_ATAN2,
        ELEMENTWISE_HYPOT, ELEMENTWISE_LOGADDEXP};
    const double h = 1e-5;
    struct gradient g = {0};
    struct support_tensor out = {0};
    prepare_smooth(&g, ops[_i], &stretched);
    gradient_lay_out(&out, F64, stretched.ndim, stretched.out, false);
    ck_assert_int_eq(gradient_run(&g), ELEMENTWISE_OK);
    for (int k = 0; k < 2; k++) {
        struct support_tensor *input = k ? &g.y : &g.x;
        for (int64_t i = 0; i < grad_count(&input->t); i++) {
            double *at = grad_nth(&input->t, i), was = *at;
            *at = was + h;
            double above = loss(&g, &out);
            *at = was - h;
            double slope = (above - loss(&g, &out)) / (2 * h);
            *at = was;
            assert_close(elementwise_op_name(g.op), slope,
                         element(&g.d[k].t, i), 1e-8);
        }
    }
    support_free(&out);
    gradient_release(&g);
}
END_TEST

/* <dout, Jv> = <J^T dout, v>, where J is v broadcast, times or over y. */
START_TEST(gradients_are_adjoints)
{
    static const elementwise_op ops[] = {ELEMENTWISE_MUL, ELEMENTWISE_DIV};
    struct gradient g = {0};
    struct support_tensor v = {0}, jv = {0};
    for (int round = 0; round < gradient_rounds(100); round++) {
        struct support_shapes s;
        support_pair(5, 6, &s);
        gradient_prepare(&g, ops[round % 2], F64, F64, &s);
        gradient_lay_out(&v, F64, s.x_ndim, s.x, true);
        gradient_lay_out(&jv, F64, s.ndim, s.out, false);
        gradient_fill(&v, GRADIENT_ANY);
        ck_assert_int_eq(gradient_run(&g), ELEMENTWISE_OK);
        ck_assert_int_eq(
            elementwise_apply(g.op, &v.t, &g.y.t, s.axis, &jv.t, NULL),
            ELEMENTWISE_OK);
        assert_close("<J^T dout, v>", inner(&g.dout.t, &jv.t),
                     inner(&g.d[0].t, &v.t), 1e-10);
    }
    support_free(&v);
    support_free(&jv);
    gradient_release(&g);
}
END_TEST

START_TEST(sum_to_is_the_adjoint_of_a_broadcast_copy)
{
    struct support_tensor v = {0}, whole = {0}, dout = {0}, sum = {0};
    for (int round = 0; round < gradient_rounds(100); round++) {
        struct support_shapes s;
        do
            support_pair(5, 6, &s);
        while (s.x_ndim != s.ndim ||
               memcmp(s.x, s.out, sizeof *s.x * (size_t)s.ndim));
        gradient_lay_out(&v, F64, s.y_ndim, s.y, true);
        gradient_lay_out(&sum, F64, s.y_ndim, s.y, false);
        gradient_lay_out(&whole, F64, s.ndim, s.out, false);
        gradient_lay_out(&dout, F64, s.ndim, s.out, true);
        gradient_fill(&v, GRADIENT_ANY);
        gradient_fill(&dout, GRADIENT_ANY);
        ck_assert_int_eq(elementwise_copy(&v.t, s.axis, &whole.t),
                         ELEMENTWISE_OK);
        ck_assert_int_eq(elementwise_sum_to(&dout.t, s.axis, &sum.t, NULL),
                         ELEMENTWISE_OK);
        assert_close("<sum_to(dout), v>", inner(&dout.t, &whole.t),
                     inner(&sum.t, &v.t), 1e-11);
    }
    support_free(&v);
    support_free(&whole);
    support_free(&dout);
    support_free(&sum);
}
END_TEST

/* ---------------------------------------------------------------------
 * Double gradients
 */

static void verify_again(const struct gradient_again *a)
{
    const struct gradient *g = &a->g;
    struct grad_call c = {g->op,
                          &g->x.was,
                          &g->y.was,
                          &g->dout.was,
                          a->has[0] ? &a->dd[0].was : NULL,
                          a->has[1] ? &a->dd[1].was : NULL,
                          g->axis};
    const struct support_tensor *outputs[] = {&g->d[0], &g->d[1], &a->ddout};
    bool wants[] = {g->wants[0], g->wants[1], a->wants_ddout};
    char text[4 * GRADIENT_TEXT], what[4 * GRADIENT_TEXT + 80];
    gradient_describe(g, text);
    ck_assert(support_same(&g->x) && support_same(&g->y) &&
              support_same(&g->dout) && support_same(&a->dd[0]) &&
              support_same(&a->dd[1]));
    for (int k = 0; k < 3; k++) {
        const struct support_tensor *d = outputs[k];
        snprintf(what, sizeof what, "again %s, output %d, ddx %d, ddy %d", text,
                 k, a->has[0], a->has[1]);
        ck_assert_msg(wants[k] ? support_gaps_same(d) : support_same(d), "%s",
                      what);
        if (!wants[k])
            continue;
        struct grad_cell *cells =
            grad_grad_cells(&c, (enum grad_output)k, &d->t);
        gradient_verify_cells(what, cells, g->dout.t.dtype, &d->t);
        free(cells);
    }
}

START_TEST(double_gradients_are_the_references)
{
    struct gradient_again a = {0};
    for (int round = 0; round < gradient_rounds(250); round++) {
        struct support_shapes s;
        int pair = round % GRADIENT_PAIRS;
        support_pair(5, 7, &s);
        gradient_prepare_again(&a, (elementwise_op)_i, gradient_pairs[pair][0],
                               gradient_pairs[pair][1], &s);
        for (int k = 0; k < 2; k++) {
            a.g.wants[k] = a.g.wants[k] && support_random(0, 4);
            a.has[k] = a.has[k] && support_random(0, 4);
        }
        a.wants_ddout = support_random(0, 4);
        support_level((int)support_random(0, ew_cpu_level()));
        ck_assert_msg(gradient_run_again(&a) == ELEMENTWISE_OK, "%s",
                      elementwise_last_error());
        verify_again(&a);
        ew_cpu_limit(EW_LEVELS);
    }
    gradient_release_again(&a);
}
END_TEST

/* <ddx, dx> + <ddy, dy>, which double gradients differentiate. */
static double second_loss(struct gradient_again *a)
{
    ck_assert_int_eq(gradient_run(&a->g), ELEMENTWISE_OK);
    return inner(&a->g.d[0].t, &a->dd[0].t) + inner(&a->g.d[1].t, &a->dd[1].t);
}

START_TEST(double_gradients_are_central_differences)
{
    const double h = 1e-5;
    struct gradient_again a = {0};
    gradient_prepare_again(&a, (elementwise_op)_i, F64, F64, &stretched);
    prepare_smooth(&a.g, (elementwise_op)_i, &stretched);
    ck_assert_int_eq(gradient_run_again(&a), ELEMENTWISE_OK);
    struct support_tensor *inputs[] = {&a.g.x, &a.g.y, &a.g.dout};
    const struct support_tensor *outputs[] = {&a.g.d[0], &a.g.d[1], &a.ddout};
    double expected[3][72];
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < grad_count(&inputs[k]->t); i++)
            expected[k][i] = element(&outputs[k]->t, i);
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < grad_count(&inputs[k]->t); i++) {
            double *at = grad_nth(&inputs[k]->t, i), was = *at;
            *at = was + h;
            double above = second_loss(&a);
            *at = was - h;
            double slope = (above - second_loss(&a)) / (2 * h);
            *at = was;
            assert_close(elementwise_op_name(a.g.op), slope, expected[k][i],
                         2e-8);
        }
    }
    gradient_release_again(&a);
}
END_TEST

static TCase *values(void)
{
    TCase *tests = support_case("values");
    tcase_add_loop_test(tests, gradients_are_the_references_in_every_layout, 1,
                        GRADIENT_OPS);
    tcase_add_loop_test(tests, special_values_have_the_references_gradients, 1,
                        GRADIENT_OPS);
    tcase_add_loop_test(tests, special_cases_of_the_contract_hold, 0, SPECIALS);
    tcase_add_loop_test(tests, slopes_out_of_range_have_gradients_within, 0,
                        STEEPS);
    tcase_add_test(tests, mod_takes_the_floor_of_the_exact_quotient);
    return tests;
}

static TCase *calculus(void)
{
    TCase *tests = support_case("calculus");
    tcase_add_loop_test(tests, smooth_gradients_are_central_differences, 0, 8);
    tcase_add_test(tests, gradients_are_adjoints);
    tcase_add_test(tests, sum_to_is_the_adjoint_of_a_broadcast_copy);
    tcase_add_loop_test(tests, double_gradients_are_the_references, 1, 5);
    tcase_add_loop_test(tests, double_gradients_are_central_differences, 1, 5);
    return tests;
}

int main(void)
{
    TCase *const cases[] = {values(), calculus(), NULL};
    return support_run("terms", cases);
}
