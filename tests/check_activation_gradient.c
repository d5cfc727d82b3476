/*
 * Compares gradients of scaled operations with an activation with central
 * differences of the forward call, and the derivatives of the activations
 * with their formulas in long double: from the operands, and from the result
 * where the operands are gone.
 */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { ACTS = ELEMENTWISE_ACT_SILU + 1, MAX = 64 };

/* A call of two f64 tensors on which everything can be varied. */
struct call {
    elementwise_op op;
    elementwise_options options;
    struct support_shapes s;
    _Alignas(8) double x[MAX];
    double y[MAX], dout[MAX];
};

static int64_t count(int ndim, const int64_t shape[])
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    return n;
}

static void views(struct call *c, elementwise_tensor t[3], double *out)
{
    t[0] = (elementwise_tensor){c->x, ELEMENTWISE_F64, c->s.x_ndim, c->s.x, 0};
    t[1] = (elementwise_tensor){c->y, ELEMENTWISE_F64, c->s.y_ndim, c->s.y, 0};
    t[2] = (elementwise_tensor){out, ELEMENTWISE_F64, c->s.ndim, c->s.out, 0};
}

/* The sum of dout times the result. */
static double loss(struct call *c, double *out)
{
    elementwise_tensor t[3];
    double sum = 0;
    views(c, t, out);
    ck_assert_int_eq(
        elementwise_apply(c->op, &t[0], &t[1], c->s.axis, &t[2], &c->options),
        0);
    for (int64_t i = 0; i < count(c->s.ndim, c->s.out); i++)
        sum += c->dout[i] * out[i];
    return sum;
}

static double slope_at(struct call *c, double *element)
{
    const double h = 1e-5, was = *element;
    double out[MAX];
    *element = was + h;
    double above = loss(c, out);
    *element = was - h;
    double below = loss(c, out);
    *element = was;
    return (above - below) / (2 * h);
}

/* 1 ... 2, so that no quotient is large. */
static void fill(double *values)
{
    for (int i = 0; i < MAX; i++)
        values[i] = 1 + ldexp((double)(support_bits() >> 11), -53);
}

/* Whether some operand of the activation is so near a corner that a
   difference would not be the derivative. */
static bool has_corner(struct call *c)
{
    elementwise_options keep = c->options;
    double out[MAX];
    bool near = false;
    c->options.act = ELEMENTWISE_ACT_NONE;
    loss(c, out);
    c->options = keep;
    for (int64_t i = 0; i < count(c->s.ndim, c->s.out); i++)
        near |= fabs(out[i]) < 1e-3 || fabs(out[i] - 6) < 1e-3;
    return near;
}

static void random_call(struct call *c)
{
    static const elementwise_op ops[] = {ELEMENTWISE_ADD, ELEMENTWISE_SUB,
                                         ELEMENTWISE_MUL, ELEMENTWISE_DIV,
                                         ELEMENTWISE_HYPOT};
    static const double scales[] = {1, -1.5, 3, 0.25};
    c->options = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    c->options.alpha = support_random(0, 1) ? 0.3 : -0.3;
    do {
        support_pair(3, 3, &c->s);
        c->op = ops[support_random(0, 4)];
        c->options.act = (elementwise_act)support_random(0, ACTS - 1);
        c->options.scale_x = scales[support_random(0, 3)];
        c->options.scale_y = scales[support_random(0, 3)];
        fill(c->x);
        fill(c->y);
        fill(c->dout);
    } while (count(c->s.ndim, c->s.out) > MAX || has_corner(c));
}

static elementwise_status gradient(struct call *c,
                                   const elementwise_tensor *out, double *dx,
                                   double *dy, bool planned)
{
    elementwise_tensor t[3], d[2];
    elementwise_plan *plan;
    views(c, t, c->dout);
    d[0] = t[0];
    d[1] = t[1];
    d[0].data = dx;
    d[1].data = dy;
    if (!planned)
        return elementwise_apply_grad(c->op, &t[0], &t[1], out, &t[2],
                                      c->s.axis, &d[0], &d[1], &c->options);
    elementwise_status status =
        elementwise_plan_create_grad(&plan, c->op, &t[0], &t[1], out, &t[2],
                                     c->s.axis, &d[0], &d[1], &c->options);
    if (!status)
        status = elementwise_plan_run_grad(
            plan, c->x, c->y, out ? out->data : NULL, c->dout, dx, dy);
    elementwise_plan_destroy(plan);
    return status;
}

static void compare(struct call *c, const char *name, double *from, int ndim,
                    const int64_t shape[], const double *got)
{
    for (int64_t i = 0; i < count(ndim, shape); i++) {
        double want = slope_at(c, &from[i]);
        ck_assert_msg(fabs(got[i] - want) <= 1e-8 * (1 + fabs(want)) * 40,
                      "%s of %s(%g x %s %g y): %.12g, but differences give "
                      "%.12g",
                      name, elementwise_act_name(c->options.act),
                      c->options.scale_x, elementwise_op_name(c->op),
                      c->options.scale_y, got[i], want);
    }
}

START_TEST(gradients_are_the_limits_of_differences)
{
    struct call c;
    double dx[MAX], dy[MAX], out[MAX];
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 20000 : 1500); round++) {
        random_call(&c);
        loss(&c, out);
        elementwise_tensor t[3];
        views(&c, t, out);
        ck_assert_msg(
            gradient(&c, round % 2 ? &t[2] : NULL, dx, dy, round % 3 == 0) == 0,
            "%s", elementwise_last_error());
        compare(&c, "dx", c.x, c.s.x_ndim, c.s.x, dx);
        compare(&c, "dy", c.y, c.s.y_ndim, c.s.y, dy);
    }
}
END_TEST

static long double density(long double z)
{
    return expl(-z * z / 2) * 0.398942280401432677939946059934L;
}

static long double derivative(elementwise_act act, double alpha, long double z)
{
    long double s = 1 / (1 + expl(-z)), u = 1 / (1 + expl(z));
    switch (act) {
    case ELEMENTWISE_ACT_RELU:
        return z > 0;
    case ELEMENTWISE_ACT_RELU6:
        return z > 0 && z < 6;
    case ELEMENTWISE_ACT_LEAKY_RELU:
        return z > 0 ? 1 : alpha;
    case ELEMENTWISE_ACT_SIGMOID:
        return s * u;
    case ELEMENTWISE_ACT_TANH:
        return 1 / coshl(z) / coshl(z);
    case ELEMENTWISE_ACT_GELU:
        return erfcl(-z / sqrtl(2)) / 2 + z * density(z);
    case ELEMENTWISE_ACT_SILU:
        return s * (1 + z * u);
    default:
        return 1;
    }
}

static double random_operand(int i)
{
    static const double reach[] = {1, 4, 20, 120, 700};
    double value = ldexp((double)(support_bits() >> 11), -53);
    value *= support_random(0, 1) ? 1 : -1;
    return i % 6 == 5 ? ldexp(value, -(int)support_random(0, 300))
                      : value * reach[i % 6];
}

/* The error allowed: a few roundings of the derivative; where two terms of
   opposite signs meet, of the larger. */
static long double allowed(elementwise_act act, double alpha, long double z,
                           long double unit)
{
    long double size = fabsl(derivative(act, alpha, z));
    if (act == ELEMENTWISE_ACT_GELU && z > -40)
        size += fabsl(z) * density(z) + erfcl(-z / sqrtl(2)) / 2;
    if (act == ELEMENTWISE_ACT_SILU)
        size += (1 + fabsl(z)) / (1 + expl(-z)) / (1 + expl(z));
    return 8 * unit * size;
}

START_TEST(derivatives_are_those_of_the_formula)
{
    enum { N = 3000 };
    static double z[N], g[N], dz[N];
    static float fz[N], fg[N], fdz[N];
    elementwise_act act = (elementwise_act)(_i % ACTS);
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    int64_t n = N;
    double zero = 0;
    float fzero = 0;
    if (!support_level(_i / ACTS))
        return;
    options.act = act;
    for (int i = 0; i < N; i++) {
        z[i] = random_operand(i);
        fz[i] = (float)z[i];
        g[i] = fg[i] = i % 2 ? -3 : 1;
    }
    elementwise_tensor x = {z, ELEMENTWISE_F64, 1, &n, NULL};
    elementwise_tensor y = {&zero, ELEMENTWISE_F64, 0, NULL, NULL};
    elementwise_tensor dout = x, dx = x;
    dout.data = g;
    dx.data = dz;
    ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_ADD, &x, &y, NULL,
                                            &dout, -1, &dx, NULL, &options),
                     0);
    x.dtype = y.dtype = dout.dtype = dx.dtype = ELEMENTWISE_F32;
    x.data = fz;
    y.data = &fzero;
    dout.data = fg;
    dx.data = fdz;
    ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_ADD, &x, &y, NULL,
                                            &dout, -1, &dx, NULL, &options),
                     0);
    for (int i = 0; i < N; i++) {
        long double want = g[i] * derivative(act, options.alpha, z[i]);
        long double near =
            fabs(g[i]) * allowed(act, options.alpha, z[i], 0x1p-53L);
        ck_assert_msg(fabsl(dz[i] - want) <= near + 0x1p-1070L,
                      "%s at %.17g: %.17g, not %.17Lg",
                      elementwise_act_name(act), z[i], dz[i], want);
        want = fg[i] * derivative(act, (float)options.alpha, fz[i]);
        near = fabs(fg[i]) * allowed(act, options.alpha, fz[i], 0x1p-26L);
        ck_assert_msg(fabsl(fdz[i] - want) <= near + 0x1p-148L,
                      "%s at %.17g: %.17g, not %.17Lg",
                      elementwise_act_name(act), fz[i], fdz[i], want);
    }
}
END_TEST

/* dx of act(x + 0), from x or from out, where the other has no data. */
static double at(elementwise_act act, double z, double g, bool from_out)
{
    double dz = 5, zero = 0, out = 7;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    elementwise_tensor x = {&z, ELEMENTWISE_F64, 0, NULL, NULL}, y = x, to = x;
    elementwise_tensor dout = x, dx = x;
    y.data = &zero;
    to.data = &out;
    dout.data = &g;
    dx.data = &dz;
    options.act = act;
    ck_assert_int_eq(
        elementwise_apply(ELEMENTWISE_ADD, &x, &y, -1, &to, &options), 0);
    if (from_out)
        x.data = y.data = NULL;
    ck_assert_msg(!elementwise_apply_grad(ELEMENTWISE_ADD, &x, &y,
                                          from_out ? &to : NULL, &dout, -1, &dx,
                                          NULL, &options),
                  "%s", elementwise_last_error());
    return dz;
}

START_TEST(corners_infinities_and_nan_are_as_documented)
{
    static const double none[] = {0, 0, 0, 0.01, 0, 0, 0, 0};
    static const double all[] = {1, 1, 0, 1, 0, 0, 1, 1};
    for (int a = 1; a < ACTS; a++) {
        elementwise_act act = (elementwise_act)a;
        for (int out = 0; out < (a <= ELEMENTWISE_ACT_TANH ? 2 : 1); out++) {
            ck_assert(isnan(at(act, NAN, 1, out)));
            ck_assert(at(act, -INFINITY, 1, out) == none[a]);
            ck_assert(at(act, INFINITY, 1, out) == all[a]);
            if (a <= ELEMENTWISE_ACT_LEAKY_RELU) {
                ck_assert(at(act, 0, 1, out) == none[a]);
                ck_assert(at(act, -0.0, 1, out) == none[a]);
            }
        }
    }
    for (int out = 0; out < 2; out++) {
        ck_assert(at(ELEMENTWISE_ACT_RELU6, 6, 1, out) == 0);
        ck_assert(at(ELEMENTWISE_ACT_RELU, -1, INFINITY, out) == 0);
        ck_assert(at(ELEMENTWISE_ACT_SIGMOID, 0, 2, out) == 0.5);
        ck_assert(at(ELEMENTWISE_ACT_TANH, 0, 2, out) == 2);
    }
    ck_assert(at(ELEMENTWISE_ACT_GELU, 0, 2, false) == 1);
    ck_assert(at(ELEMENTWISE_ACT_SILU, 0, 2, false) == 1);
}
END_TEST

/* A bias is added in place and the sum goes through relu: x is gone, and the
   gradients of x and of the bias follow from out, for every type. */
START_TEST(operands_that_are_gone_are_not_read)
{
    static struct support_tensor x, bias, dout, dx, db;
    int64_t shape[] = {4, 5, 6}, channels[] = {5};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.act = ELEMENTWISE_ACT_RELU;
    for (int type = ELEMENTWISE_F16; type <= ELEMENTWISE_F64; type++) {
        elementwise_dtype t = (elementwise_dtype)type;
        float got[120], sum[5] = {0}, up[120], result[120];
        int64_t all = 120, five = 5;
        elementwise_tensor f = {got, ELEMENTWISE_F32, 1, &all, NULL};
        support_make(&x, t, 3, shape, NULL, SUPPORT_HIGH);
        support_make(&dout, t, 3, shape, NULL, SUPPORT_HIGH);
        support_make(&dx, t, 3, shape, NULL, SUPPORT_HIGH);
        support_make(&bias, t, 1, channels, NULL, SUPPORT_HIGH);
        support_make(&db, t, 1, channels, NULL, SUPPORT_HIGH);
        for (int i = 0; i < 120; i++)
            up[i] = (float)(i % 7 - 3);
        elementwise_tensor line = {dout.t.data, t, 1, &all, NULL};
        f.data = up;
        ck_assert_int_eq(elementwise_copy(&f, -1, &line), 0);
        for (int i = 0; i < 120; i++)
            result[i] = (float)(i % 11 - 5);
        line.data = x.t.data;
        f.data = result;
        ck_assert_int_eq(elementwise_copy(&f, -1, &line), 0);
        float small[5] = {1, -1, 2, 0, -2};
        elementwise_tensor b = {small, ELEMENTWISE_F32, 1, &five, NULL};
        ck_assert_int_eq(elementwise_copy(&b, -1, &bias.t), 0);
        ck_assert_int_eq(elementwise_apply(ELEMENTWISE_ADD, &x.t, &bias.t, 1,
                                           &x.t, &options),
                         0);
        elementwise_tensor gone = x.t, no_bias = bias.t;
        gone.data = no_bias.data = NULL;
        ck_assert_msg(!elementwise_apply_grad(ELEMENTWISE_ADD, &gone, &no_bias,
                                              &x.t, &dout.t, 1, &dx.t, &db.t,
                                              &options),
                      "%s", elementwise_last_error());
        line.data = dx.t.data;
        f.data = got;
        ck_assert_int_eq(elementwise_copy(&line, -1, &f), 0);
        for (int i = 0; i < 120; i++) {
            float want = result[i] + small[i / 6 % 5] > 0 ? up[i] : 0;
            ck_assert(got[i] == want);
            sum[i / 6 % 5] += want;
        }
        b.data = small;
        ck_assert_int_eq(elementwise_copy(&db.t, -1, &b), 0);
        ck_assert_int_eq(memcmp(small, sum, sizeof sum), 0);
    }
    struct support_tensor *const made[] = {&x, &bias, &dout, &dx, &db};
    for (int i = 0; i < 5; i++)
        support_free(made[i]);
}
END_TEST

/* Before anything is looked up by act, or read behind an older caller's
   options. */
START_TEST(unknown_activations_and_sizes_of_options_are_refused)
{
    static const int acts[] = {-1, -100000, 8, 99, 1000000, INT_MAX, INT_MIN};
    float a = 1, d = 9;
    elementwise_tensor x = {&a, ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_tensor dx = {&d, ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_plan *plan;
    size_t *size = malloc(sizeof *size);
    ck_assert_ptr_nonnull(size);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
        options.act = (elementwise_act)acts[i];
        ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_MUL, &x, &x, NULL,
                                                &x, -1, &dx, NULL, &options),
                         ELEMENTWISE_INVALID);
        ck_assert(strstr(elementwise_last_error(), "unknown act"));
        ck_assert_int_eq(elementwise_plan_create_grad(&plan, ELEMENTWISE_MUL,
                                                      &x, &x, NULL, &x, -1, &dx,
                                                      NULL, &options),
                         ELEMENTWISE_INVALID);
    }
    *size = sizeof *size;
    ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_MUL, &x, &x, NULL, &x,
                                            -1, &dx, NULL,
                                            (const elementwise_options *)size),
                     ELEMENTWISE_INVALID);
    ck_assert(strstr(elementwise_last_error(), "options.size"));
    ck_assert(d == 9);
    free(size);
}
END_TEST

START_TEST(what_cannot_be_done_is_refused)
{
    float a = 1, d = 9;
    int64_t two = 2;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    elementwise_tensor x = {&a, ELEMENTWISE_F32, 0, NULL, NULL}, gone = x;
    elementwise_tensor dx = {&d, ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_tensor wide = x, pair = {&a, ELEMENTWISE_F32, 1, &two, NULL};
    gone.data = NULL;
    wide.dtype = ELEMENTWISE_F64;
    options.act = ELEMENTWISE_ACT_RELU;
    const struct {
        elementwise_act act;
        double alpha;
        const elementwise_tensor *x, *out;
        elementwise_status status;
        const char *says;
    } calls[] = {
        {ELEMENTWISE_ACT_RELU, 0, &gone, NULL, ELEMENTWISE_INVALID, "of x"},
        {ELEMENTWISE_ACT_RELU, 0, &gone, &gone, ELEMENTWISE_INVALID, "of out"},
        {ELEMENTWISE_ACT_GELU, 0, &gone, &x, ELEMENTWISE_INVALID, "of x"},
        {ELEMENTWISE_ACT_SILU, 0, &gone, &x, ELEMENTWISE_INVALID, "of x"},
        {ELEMENTWISE_ACT_LEAKY_RELU, -1, &gone, &x, ELEMENTWISE_INVALID,
         "of x"},
        {ELEMENTWISE_ACT_TANH, 0, &x, &wide, ELEMENTWISE_BAD_DTYPE, "out is"},
        {ELEMENTWISE_ACT_TANH, 0, &x, &pair, ELEMENTWISE_BAD_SHAPE, "out"},
        {ELEMENTWISE_ACT_TANH, 0, &x, &dx, ELEMENTWISE_OVERLAP, "out"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        options.act = calls[i].act;
        options.alpha = calls[i].alpha;
        elementwise_status status =
            elementwise_apply_grad(ELEMENTWISE_ADD, calls[i].x, &x,
                                   calls[i].out, &x, -1, &dx, NULL, &options);
        ck_assert_msg(status == calls[i].status &&
                          strstr(elementwise_last_error(), calls[i].says),
                      "%zu: %s: %s", i, elementwise_status_name(status),
                      elementwise_last_error());
        ck_assert(d == 9);
    }
    float complex_one[2] = {1, 1}, to[2] = {9, 9};
    elementwise_tensor z = {complex_one, ELEMENTWISE_C64, 0, NULL, NULL};
    elementwise_tensor dz = {to, ELEMENTWISE_C64, 0, NULL, NULL};
    ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_ADD, &z, &z, NULL, &z,
                                            -1, &dz, NULL, &options),
                     ELEMENTWISE_BAD_DTYPE);
    options = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    options.scale_x = -2;
    ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_MUL, &z, &z, NULL, &z,
                                            -1, &dz, NULL, &options),
                     0);
    ck_assert(to[0] == -4 && to[1] == 0); /* -2 (1 + i) conj(1 + i) */
}
END_TEST

/* Those of a sum, without an activation, follow from dout. */
START_TEST(scales_alone_need_no_operands)
{
    int64_t n = 3;
    double g[3] = {1, 2, 3}, d[2][3];
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    elementwise_tensor gone = {NULL, ELEMENTWISE_F64, 1, &n, NULL};
    elementwise_tensor dout = gone, dx = gone, dy = gone;
    options.scale_x = 2;
    options.scale_y = -3;
    dout.data = g;
    dx.data = d[0];
    dy.data = d[1];
    ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_ADD, &gone, &gone, NULL,
                                            &dout, -1, &dx, &dy, &options),
                     0);
    for (int i = 0; i < 3; i++)
        ck_assert(d[0][i] == 2 * g[i] && d[1][i] == -3 * g[i]);
}
END_TEST

/* dx or dy in the place of dout, and its scale, must not show in the other
   gradient, which is made of dout too. */
START_TEST(a_scaled_gradient_may_take_the_place_of_dout)
{
    int64_t n = 4;
    for (int round = 0; round < 8; round++) {
        bool x_in_place = round & 1, summed = round & 2, both = round & 4;
        double v[4] = {1, 1, 1, 1}, g[4] = {1, 2, 3, 4}, d[4] = {9, 9, 9, 9};
        elementwise_tensor wide = {v, ELEMENTWISE_F64, 1, &n, NULL};
        elementwise_tensor other = wide, dout = wide, to = wide;
        elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
        other.ndim = to.ndim = summed ? 0 : 1;
        dout.data = g;
        to.data = d;
        options.scale_x = x_in_place ? 2 : both ? 3 : 1;
        options.scale_y = x_in_place ? (both ? 3 : 1) : 2;
        ck_assert_int_eq(
            elementwise_apply_grad(ELEMENTWISE_ADD, x_in_place ? &wide : &other,
                                   x_in_place ? &other : &wide, NULL, &dout, -1,
                                   x_in_place ? &dout : &to,
                                   x_in_place ? &to : &dout, &options),
            0);
        for (int i = 0; i < 4; i++) {
            ck_assert(g[i] == 2 * (i + 1));
            ck_assert(summed || d[i] == (both ? 3 : 1) * (i + 1));
        }
        ck_assert(!summed || d[0] == (both ? 30 : 10));
    }
}
END_TEST

/* A sum of dout itself runs over any block at once, but not behind a scale or
   an activation, which are made in the buffers of a tile. */
START_TEST(what_is_summed_behind_a_step_may_be_of_any_size)
{
    enum { N = 20000 };
    static double v[N], g[N];
    static const int64_t n = N;
    for (int i = 0; i < N; i++)
        v[i] = g[i] = 1;
    for (int acts = 0; acts < 2; acts++) {
        double one = 1, sum = 0;
        elementwise_tensor x = {v, ELEMENTWISE_F64, 1, &n, NULL}, dout = x;
        elementwise_tensor y = {&one, ELEMENTWISE_F64, 0, NULL, NULL}, dy = y;
        elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
        dout.data = g;
        dy.data = &sum;
        options.act = acts ? ELEMENTWISE_ACT_RELU : ELEMENTWISE_ACT_NONE;
        options.scale_y = acts ? 1 : 2;
        ck_assert_int_eq(elementwise_apply_grad(ELEMENTWISE_ADD, &x, &y, NULL,
                                                &dout, -1, NULL, &dy, &options),
                         0);
        ck_assert(sum == (acts ? N : 2 * N));
    }
}
END_TEST

int main(void)
{
    TCase *values = support_case("values"), *calls = support_case("calls");
    tcase_add_loop_test(values, gradients_are_the_limits_of_differences, 0, 3);
    tcase_add_loop_test(values, derivatives_are_those_of_the_formula, 0,
                        3 * ACTS);
    tcase_add_test(values, corners_infinities_and_nan_are_as_documented);
    tcase_add_test(calls, operands_that_are_gone_are_not_read);
    tcase_add_test(calls, unknown_activations_and_sizes_of_options_are_refused);
    tcase_add_test(calls, what_cannot_be_done_is_refused);
    tcase_add_test(calls, scales_alone_need_no_operands);
    tcase_add_test(calls, a_scaled_gradient_may_take_the_place_of_dout);
    tcase_add_test(calls, what_is_summed_behind_a_step_may_be_of_any_size);
    TCase *const cases[] = {values, calls, NULL};
    return support_run("activation_gradient", cases);
}
