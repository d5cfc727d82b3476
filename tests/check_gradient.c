/*
 * Holds gradients against a reference in long double, term by term: every
 * operation, type, layout, way to broadcast and CPU level. What a reference
 * could get wrong in the same way is held against central differences and
 * against the inner products that define an adjoint.
 */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "gradient_reference.h"
#include "reference.h"
#include "support.h"

enum { TEXT = 600, OPS_END = REF_OPS + 1 };

#define BF16 ELEMENTWISE_BF16
#define F16 ELEMENTWISE_F16
#define F32 ELEMENTWISE_F32
#define F64 ELEMENTWISE_F64
#define C64 ELEMENTWISE_C64
#define C128 ELEMENTWISE_C128

static const elementwise_dtype floats[] = {F16, BF16, F32, F64, C64, C128};
enum { FLOATS = sizeof floats / sizeof *floats };

static const elementwise_dtype pairs[][2] = {
    {F16, F16},
    {BF16, BF16},
    {F32, F32},
    {F64, F64},
    {C64, C64},
    {C128, C128},
    {F32, F64},
    {F64, F32},
    {F32, C64},
    {C64, F32},
    {F64, C64},
    {C128, F32},
    {F16, BF16},
    {BF16, F32},
    {F32, ELEMENTWISE_I32},
    {ELEMENTWISE_I32, F32},
    {F16, ELEMENTWISE_I8},
    {ELEMENTWISE_I64, F64},
    {ELEMENTWISE_BOOL, F32},
    {F32, ELEMENTWISE_BOOL},
    {F16, ELEMENTWISE_I16},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

typedef elementwise_status (*grad_function)(const elementwise_tensor *,
                                            const elementwise_tensor *,
                                            const elementwise_tensor *, int,
                                            const elementwise_tensor *,
                                            const elementwise_tensor *);

/* By operation; NULL: it has no gradient. */
static const grad_function functions[OPS_END] = {
    [ELEMENTWISE_ADD] = elementwise_add_grad,
    [ELEMENTWISE_SUB] = elementwise_sub_grad,
    [ELEMENTWISE_MUL] = elementwise_mul_grad,
    [ELEMENTWISE_DIV] = elementwise_div_grad,
    [ELEMENTWISE_MAX] = elementwise_max_grad,
    [ELEMENTWISE_MIN] = elementwise_min_grad,
    [ELEMENTWISE_POW] = elementwise_pow_grad,
    [ELEMENTWISE_MOD] = elementwise_mod_grad,
    [ELEMENTWISE_FLOORDIV] = elementwise_floordiv_grad,
    [ELEMENTWISE_FMAX] = elementwise_fmax_grad,
    [ELEMENTWISE_FMIN] = elementwise_fmin_grad,
    [ELEMENTWISE_HEAVISIDE] = elementwise_heaviside_grad,
    [ELEMENTWISE_TRUNCDIV] = elementwise_truncdiv_grad,
    [ELEMENTWISE_FMOD] = elementwise_fmod_grad,
    [ELEMENTWISE_ATAN2] = elementwise_atan2_grad,
    [ELEMENTWISE_HYPOT] = elementwise_hypot_grad,
    [ELEMENTWISE_COPYSIGN] = elementwise_copysign_grad,
    [ELEMENTWISE_LOGADDEXP] = elementwise_logaddexp_grad,
};

static bool has_gradient(elementwise_dtype type)
{
    return ref_is_float(type) || ref_is_complex(type);
}

static bool takes(elementwise_op op, elementwise_dtype x, elementwise_dtype y)
{
    elementwise_dtype result;
    return ref_result_type(op, x, y, &result) == ELEMENTWISE_OK;
}

/* The operations that IEEE 754 leaves no choice of bits in. */
static bool is_exact(elementwise_op op)
{
    return op <= ELEMENTWISE_MIN || op == ELEMENTWISE_FMAX ||
           op == ELEMENTWISE_FMIN;
}

/* ---------------------------------------------------------------------
 * Values
 */

enum kind { ANY, NONZERO, POSITIVE };

/* In -4 ... 4; often such that ties and zeros occur. */
static double moderate(void)
{
    if (support_random(0, 1))
        return (double)support_random(-8, 8) / 2;
    return ldexp((double)(int64_t)support_bits(), -61);
}

static double number(enum kind kind)
{
    double value = moderate();
    if (kind == ANY)
        return value;
    if (kind == POSITIVE)
        return 0.125 + fabs(value);
    return value + copysign(0.25, value);
}

static void put(elementwise_dtype type, double re, double im, void *element)
{
    struct ref_value exact =
        ref_float(ref_is_complex(type) ? C128 : F64, re, im);
    struct ref_value value = ref_convert(&exact, type);
    ref_store(&value, element);
}

static void fill(struct support_tensor *s, enum kind kind)
{
    bool whole = !has_gradient(s->t.dtype);
    for (int64_t i = 0; i < grad_count(&s->t); i++) {
        double re = number(kind), im = moderate();
        if (whole && kind != ANY)
            re = kind == POSITIVE ? fabs(trunc(re)) + 1
                                  : trunc(re) + copysign(1, re);
        put(s->t.dtype, re, im, grad_nth(&s->t, i));
    }
}

static enum kind kind_of_x(elementwise_op op)
{
    return op == ELEMENTWISE_POW ? POSITIVE : ANY;
}

static enum kind kind_of_y(elementwise_op op)
{
    return op == ELEMENTWISE_DIV || op == ELEMENTWISE_MOD ||
                   op == ELEMENTWISE_FMOD || op == ELEMENTWISE_FLOORDIV ||
                   op == ELEMENTWISE_TRUNCDIV
               ? NONZERO
               : ANY;
}

/* ---------------------------------------------------------------------
 * One gradient with its operands
 */

struct gradient {
    elementwise_op op;
    int axis;
    unsigned flags;
    bool wants[2];
    struct support_tensor x, y, dout, d[2];
};

static void lay_out(struct support_tensor *s, elementwise_dtype type, int ndim,
                    const int64_t shape[], bool input)
{
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    support_strides(ndim, shape, input, strides);
    support_make(s, type, ndim, shape, support_random(0, 2) ? strides : NULL,
                 (enum support_edge)support_random(0, 1));
}

static void keep_all(struct gradient *g)
{
    support_keep(&g->x);
    support_keep(&g->y);
    support_keep(&g->dout);
    support_keep(&g->d[0]);
    support_keep(&g->d[1]);
}

/* Random operands of the given shapes; outputs hold numbers, to be added to. */
static void prepare(struct gradient *g, elementwise_op op, elementwise_dtype tx,
                    elementwise_dtype ty, const struct support_shapes *s)
{
    g->op = op;
    g->axis = s->axis;
    g->flags = 0;
    lay_out(&g->x, tx, s->x_ndim, s->x, true);
    lay_out(&g->y, ty, s->y_ndim, s->y, true);
    lay_out(&g->dout, ref_promote(tx, ty), s->ndim, s->out, true);
    lay_out(&g->d[0], tx, s->x_ndim, s->x, false);
    lay_out(&g->d[1], ty, s->y_ndim, s->y, false);
    fill(&g->x, kind_of_x(op));
    fill(&g->y, kind_of_y(op));
    fill(&g->dout, ANY);
    for (int k = 0; k < 2; k++) {
        fill(&g->d[k], ANY);
        g->wants[k] = has_gradient(k ? ty : tx);
    }
    keep_all(g);
}

static void release(struct gradient *g)
{
    support_free(&g->x);
    support_free(&g->y);
    support_free(&g->dout);
    support_free(&g->d[0]);
    support_free(&g->d[1]);
}

static const elementwise_tensor *output(const struct gradient *g, int side)
{
    return g->wants[side] ? &g->d[side].t : NULL;
}

static elementwise_status run(const struct gradient *g)
{
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.flags = g->flags;
    if (!g->flags && support_random(0, 1))
        return functions[g->op](&g->x.t, &g->y.t, &g->dout.t, g->axis,
                                output(g, 0), output(g, 1));
    return elementwise_apply_grad(g->op, &g->x.t, &g->y.t, NULL, &g->dout.t,
                                  g->axis, output(g, 0), output(g, 1),
                                  &options);
}

static void describe(const struct gradient *g, char *text)
{
    char x[TEXT], y[TEXT], dout[TEXT];
    support_describe(&g->x.t, x, TEXT);
    support_describe(&g->y.t, y, TEXT);
    support_describe(&g->dout.t, dout, TEXT);
    snprintf(text, 4 * TEXT,
             "%s_grad, x %s, y %s, dout %s, axis %d, flags %u, "
             "level %s",
             elementwise_op_name(g->op), x, y, dout, g->axis, g->flags,
             elementwise_cpu_level());
}

/* Compares an output with its cells. */
static void verify_cells(const char *what, const struct grad_cell *cells,
                         elementwise_dtype compute, const elementwise_tensor *t)
{
    for (int64_t i = 0; i < grad_count(t); i++) {
        void *element = grad_nth(t, i);
        if (grad_accepts(&cells[i], compute, t->dtype, element))
            continue;
        char layout[TEXT];
        struct ref_value got = ref_load(t->dtype, element);
        support_describe(t, layout, TEXT);
        ck_abort_msg("%s: element %lld of %s is %.17g %+.17gi, expected %.20Lg "
                     "%+.20Lgi of %lld terms, error %.3Lg, magnitude %.3Lg",
                     what, (long long)i, layout, got.re, got.im, cells[i].re,
                     cells[i].im, (long long)cells[i].terms, cells[i].error,
                     cells[i].magnitude);
    }
}

/* The cells of both outputs, from the kept operands. */
static void expect(const struct gradient *g, struct grad_cell *cells[2])
{
    struct grad_call c = {g->op, &g->x.was, &g->y.was, &g->dout.was,
                          NULL,  NULL,      g->axis};
    for (int k = 0; k < 2; k++) {
        bool added =
            g->flags & (k ? ELEMENTWISE_ADD_TO_DY : ELEMENTWISE_ADD_TO_DX);
        cells[k] = g->wants[k] ? grad_cells(&c, k ? GRAD_DY : GRAD_DX,
                                            &g->d[k].was, added)
                               : NULL;
    }
}

static void verify(const struct gradient *g, elementwise_status status,
                   struct grad_cell *const cells[2])
{
    char text[4 * TEXT], what[4 * TEXT + 20];
    describe(g, text);
    ck_assert_msg(status == ELEMENTWISE_OK, "%s: %s", text,
                  elementwise_last_error());
    ck_assert_msg(support_same(&g->x) && support_same(&g->y) &&
                      support_same(&g->dout),
                  "%s: an operand was written", text);
    for (int k = 0; k < 2; k++) {
        const struct support_tensor *d = &g->d[k];
        ck_assert_msg(g->wants[k] ? support_gaps_same(d) : support_same(d),
                      "%s: bytes around d%c were written", text, "xy"[k]);
        snprintf(what, sizeof what, "%s, d%c", text, "xy"[k]);
        if (g->wants[k])
            verify_cells(what, cells[k], g->dout.t.dtype, &d->t);
    }
}

/* Runs at every level and compares each with the reference; the first level's
   bits are held against the others where only one answer is right. */
static void verify_levels(struct gradient *g)
{
    struct grad_cell *cells[2];
    char *first[2] = {malloc(g->d[0].area_size), malloc(g->d[1].area_size)};
    ck_assert(first[0] && first[1]);
    expect(g, cells);
    for (int level = 0; level < EW_LEVELS && support_level(level); level++) {
        support_restore(&g->d[0]);
        support_restore(&g->d[1]);
        verify(g, run(g), cells);
        for (int k = 0; k < 2; k++) {
            if (level == 0)
                memcpy(first[k], g->d[k].area, g->d[k].area_size);
            ck_assert_msg(!is_exact(g->op) || !memcmp(first[k], g->d[k].area,
                                                      g->d[k].area_size),
                          "%s_grad: levels 0 and %d differ",
                          elementwise_op_name(g->op), level);
        }
    }
    for (int k = 0; k < 2; k++) {
        free(cells[k]);
        free(first[k]);
    }
}

static int rounds(int usual)
{
    return support_long() ? 10 * usual : usual;
}

/* ---------------------------------------------------------------------
 * Values; by test index, of an operation
 */

static void random_gradient(struct gradient *g, elementwise_op op, int pair)
{
    struct support_shapes s;
    support_pair(6, support_random(0, 4) ? 7 : 60, &s);
    prepare(g, op, pairs[pair][0], pairs[pair][1], &s);
    if (support_random(0, 3) == 0)
        g->wants[support_random(0, 1)] = false;
    if (support_random(0, 2) == 0)
        g->flags = (unsigned)support_random(0, 3);
    for (int k = 0; k < 2; k++)
        if (!g->wants[k])
            g->flags &= ~(k ? ELEMENTWISE_ADD_TO_DY : ELEMENTWISE_ADD_TO_DX);
    if (op <= ELEMENTWISE_SUB && support_random(0, 1)) {
        g->x.t.data = NULL;
        g->y.t.data = NULL;
    }
}

START_TEST(gradients_are_the_references_in_every_layout)
{
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    for (int round = 0; functions[op] && round < rounds(300); round++) {
        int pair = round % PAIRS;
        if (!takes(op, pairs[pair][0], pairs[pair][1]))
            continue;
        random_gradient(&g, op, pair);
        verify_levels(&g);
    }
    release(&g);
}
END_TEST

/* Inner extents that leave vectors full and not, kept and summed, in two
   dimensions and three. */
START_TEST(every_tail_of_a_vector_is_summed)
{
    static const elementwise_op fused[] = {
        ELEMENTWISE_ADD, ELEMENTWISE_SUB, ELEMENTWISE_MUL,  ELEMENTWISE_DIV,
        ELEMENTWISE_MAX, ELEMENTWISE_MIN, ELEMENTWISE_FMAX, ELEMENTWISE_FMIN};
    const elementwise_op op = fused[_i / FLOATS];
    const elementwise_dtype type = floats[_i % FLOATS];
    struct gradient g = {0};
    for (int n = 1; n <= 40 && takes(op, type, type); n++) {
        for (int way = 0; way < 4; way++) {
            struct support_shapes s = {way & 1, 2, 1, 2, {5, n}, {5}, {5, n}};
            if (way & 1)
                s.y[0] = n;
            if (way & 2)
                s = (struct support_shapes){1,         3,   1,        3,
                                            {3, n, 2}, {n}, {3, n, 2}};
            prepare(&g, op, type, type, &s);
            verify_levels(&g);
        }
    }
    release(&g);
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
    prepare(g, op, type, type, &s);
    for (int64_t i = 0; i < all; i++) {
        char *x = list + size * (size_t)(i / n),
             *y = list + size * (size_t)(i % n);
        bool good =
            isfinite(ref_load(type, x).re) && isfinite(ref_load(type, y).re);
        put(type, i % 3 ? 1 : -1.5, 0, grad_nth(&g->dout.t, i));
        if (finite && !good)
            continue;
        memcpy(grad_nth(&g->x.t, i), x, size);
        memcpy(grad_nth(&g->y.t, i), y, size);
    }
    keep_all(g);
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
    for (int k = 0; functions[op] && op != ELEMENTWISE_POW && k < 4; k++) {
        load_specials(&g, op, floats[k], !selects(op));
        verify_levels(&g);
    }
    release(&g);
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

/* Of f64, where x^(y-1), x^y or their product with y does not fit. */
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
    prepare(&g, s->op, type, type, &shapes);
    for (int i = 0; i < N; i++) {
        put(type, s->x, 0, grad_nth(&g.x.t, i));
        put(type, s->y, 0, grad_nth(&g.y.t, i));
        put(type, s->g, 0, grad_nth(&g.dout.t, i));
    }
    ck_assert_int_eq(run(&g), ELEMENTWISE_OK);
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
    release(&g);
}

START_TEST(special_cases_of_the_contract_hold)
{
    for (int level = 0; level < EW_LEVELS && support_level(level); level++)
        for (int k = 0; k < 4; k++)
            verify_special(&specials[_i], floats[k]);
}
END_TEST

START_TEST(powers_out_of_range_have_gradients_within)
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
        put(F64, 0.5 + ldexp((double)(support_bits() >> 11), -52), 0,
            grad_nth(&s->t, i));
}

static void prepare_smooth(struct gradient *g, elementwise_op op,
                           const struct support_shapes *s)
{
    prepare(g, op, F64, F64, s);
    spread(&g->x);
    spread(&g->y);
    spread(&g->dout);
    keep_all(g);
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
    lay_out(&out, F64, stretched.ndim, stretched.out, false);
    ck_assert_int_eq(run(&g), ELEMENTWISE_OK);
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
    release(&g);
}
END_TEST

/* <dout, Jv> = <J^T dout, v>, where J is v broadcast, times or over y. */
START_TEST(gradients_are_adjoints)
{
    static const elementwise_op ops[] = {ELEMENTWISE_MUL, ELEMENTWISE_DIV};
    struct gradient g = {0};
    struct support_tensor v = {0}, jv = {0};
    for (int round = 0; round < rounds(100); round++) {
        struct support_shapes s;
        support_pair(5, 6, &s);
        prepare(&g, ops[round % 2], F64, F64, &s);
        lay_out(&v, F64, s.x_ndim, s.x, true);
        lay_out(&jv, F64, s.ndim, s.out, false);
        fill(&v, ANY);
        ck_assert_int_eq(run(&g), ELEMENTWISE_OK);
        ck_assert_int_eq(
            elementwise_apply(g.op, &v.t, &g.y.t, s.axis, &jv.t, NULL),
            ELEMENTWISE_OK);
        assert_close("<J^T dout, v>", inner(&g.dout.t, &jv.t),
                     inner(&g.d[0].t, &v.t), 1e-10);
    }
    support_free(&v);
    support_free(&jv);
    release(&g);
}
END_TEST

START_TEST(sum_to_is_the_adjoint_of_a_broadcast_copy)
{
    struct support_tensor v = {0}, whole = {0}, dout = {0}, sum = {0};
    for (int round = 0; round < rounds(100); round++) {
        struct support_shapes s;
        do
            support_pair(5, 6, &s);
        while (s.x_ndim != s.ndim ||
               memcmp(s.x, s.out, sizeof *s.x * (size_t)s.ndim));
        lay_out(&v, F64, s.y_ndim, s.y, true);
        lay_out(&sum, F64, s.y_ndim, s.y, false);
        lay_out(&whole, F64, s.ndim, s.out, false);
        lay_out(&dout, F64, s.ndim, s.out, true);
        fill(&v, ANY);
        fill(&dout, ANY);
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

struct again {
    struct gradient g;
    struct support_tensor dd[2], ddout;
    bool wants_ddout, has[2];
};

typedef elementwise_status (*again_function)(
    const elementwise_tensor *, const elementwise_tensor *,
    const elementwise_tensor *, const elementwise_tensor *,
    const elementwise_tensor *, int, const elementwise_tensor *,
    const elementwise_tensor *, const elementwise_tensor *);

static const again_function again_functions[] = {
    NULL, elementwise_add_grad_grad, elementwise_sub_grad_grad,
    elementwise_mul_grad_grad, elementwise_div_grad_grad};

static void prepare_again(struct again *a, elementwise_op op,
                          elementwise_dtype tx, elementwise_dtype ty,
                          const struct support_shapes *s)
{
    prepare(&a->g, op, tx, ty, s);
    lay_out(&a->dd[0], tx, s->x_ndim, s->x, true);
    lay_out(&a->dd[1], ty, s->y_ndim, s->y, true);
    lay_out(&a->ddout, ref_promote(tx, ty), s->ndim, s->out, false);
    a->wants_ddout = true;
    for (int k = 0; k < 2; k++) {
        fill(&a->dd[k], ANY);
        support_keep(&a->dd[k]);
        a->has[k] = has_gradient(k ? ty : tx);
    }
    support_keep(&a->ddout);
}

static void release_again(struct again *a)
{
    release(&a->g);
    support_free(&a->dd[0]);
    support_free(&a->dd[1]);
    support_free(&a->ddout);
}

static elementwise_status run_again(const struct again *a)
{
    const struct gradient *g = &a->g;
    return again_functions[g->op](
        &g->x.t, &g->y.t, &g->dout.t, a->has[0] ? &a->dd[0].t : NULL,
        a->has[1] ? &a->dd[1].t : NULL, g->axis, output(g, 0), output(g, 1),
        a->wants_ddout ? &a->ddout.t : NULL);
}

static void verify_again(const struct again *a)
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
    char text[4 * TEXT], what[4 * TEXT + 80];
    describe(g, text);
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
        verify_cells(what, cells, g->dout.t.dtype, &d->t);
        free(cells);
    }
}

START_TEST(double_gradients_are_the_references)
{
    struct again a = {0};
    for (int round = 0; round < rounds(250); round++) {
        struct support_shapes s;
        int pair = round % PAIRS;
        support_pair(5, 7, &s);
        prepare_again(&a, (elementwise_op)_i, pairs[pair][0], pairs[pair][1],
                      &s);
        for (int k = 0; k < 2; k++) {
            a.g.wants[k] = a.g.wants[k] && support_random(0, 4);
            a.has[k] = a.has[k] && support_random(0, 4);
        }
        a.wants_ddout = support_random(0, 4);
        support_level((int)support_random(0, ew_cpu_level()));
        ck_assert_msg(run_again(&a) == ELEMENTWISE_OK, "%s",
                      elementwise_last_error());
        verify_again(&a);
        ew_cpu_limit(EW_LEVELS);
    }
    release_again(&a);
}
END_TEST

/* <ddx, dx> + <ddy, dy>, which double gradients differentiate. */
static double second_loss(struct again *a)
{
    ck_assert_int_eq(run(&a->g), ELEMENTWISE_OK);
    return inner(&a->g.d[0].t, &a->dd[0].t) + inner(&a->g.d[1].t, &a->dd[1].t);
}

START_TEST(double_gradients_are_central_differences)
{
    const double h = 1e-5;
    struct again a = {0};
    prepare_again(&a, (elementwise_op)_i, F64, F64, &stretched);
    prepare_smooth(&a.g, (elementwise_op)_i, &stretched);
    ck_assert_int_eq(run_again(&a), ELEMENTWISE_OK);
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
    release_again(&a);
}
END_TEST

/* ---------------------------------------------------------------------
 * sum_to; by test index, of a type
 */

START_TEST(sum_to_is_the_references_in_every_layout)
{
    struct support_tensor src = {0}, dst = {0};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    for (int round = 0; round < rounds(150); round++) {
        struct support_shapes s;
        do
            support_pair(6, 9, &s);
        while (s.x_ndim != s.ndim ||
               memcmp(s.x, s.out, sizeof *s.x * (size_t)s.ndim));
        lay_out(&src, floats[_i], s.ndim, s.out, true);
        lay_out(&dst, floats[_i], s.y_ndim, s.y, false);
        fill(&src, ANY);
        fill(&dst, ANY);
        support_keep(&src);
        support_keep(&dst);
        options.flags = round % 3 ? 0 : ELEMENTWISE_ADD_TO_OUT;
        struct grad_cell *cells =
            grad_sum_cells(&src.was, s.axis, &dst.was, options.flags != 0);
        char *first = malloc(dst.area_size);
        ck_assert_ptr_nonnull(first);
        for (int l = 0; l < EW_LEVELS && support_level(l); l++) {
            support_restore(&dst);
            ck_assert_int_eq(elementwise_sum_to(&src.t, s.axis, &dst.t,
                                                round % 2       ? &options
                                                : options.flags ? &options
                                                                : NULL),
                             ELEMENTWISE_OK);
            ck_assert(support_same(&src) && support_gaps_same(&dst));
            verify_cells("sum_to", cells, floats[_i], &dst.t);
            if (l == 0)
                memcpy(first, dst.area, dst.area_size);
            ck_assert(memcmp(first, dst.area, dst.area_size) == 0);
        }
        free(first);
        free(cells);
    }
    support_free(&src);
    support_free(&dst);
}
END_TEST

/* Integers of any size up to the given bits, whose sums are exact in two
   halves. Without signs all are one whose digits round in the same
   direction again and again as the sum grows. */
static void fill_integers(elementwise_dtype type, void *data, int64_t n,
                          bool signs)
{
    for (int64_t i = 0; i < n; i++) {
        int digits = type == F64 ? 53 : 24;
        int64_t v = (int64_t)(support_bits() >> (64 - digits));
        v = type == F64 ? v >> support_random(0, 45)
                        : v << support_random(0, 18);
        if (!signs)
            v = type == F64 ? 0x15555555555555 : 0xaaaaab;
        put(type, (double)(signs && support_bits() & 1 ? -v : v), 0,
            (char *)data + ref_size(type) * (size_t)i);
    }
}

/* dst element j must be the sum of count elements from j * outer in steps of
   inner, but for an error that does not grow with their number. */
static void verify_large(elementwise_dtype type, const void *src, int64_t j,
                         int64_t start, int64_t step, int64_t count, double got)
{
    int64_t high = 0, low = 0;
    long double magnitude = 0;
    for (int64_t i = 0; i < count; i++) {
        const char *at = src;
        at += (size_t)(start + i * step) * ref_size(type);
        double v = ref_load(type, at).re;
        int64_t whole = (int64_t)v;
        high += whole / (1 << 26);
        low += whole % (1 << 26);
        magnitude += fabsl((long double)v);
    }
    long double exact = (long double)high * (1 << 26) + (long double)low;
    struct grad_cell cell = {exact, 0, magnitude, 0, count};
    char bytes[16];
    put(type, got, 0, bytes);
    long double error = fabsl(got - exact);
    ck_assert_msg(grad_accepts(&cell, type, type, bytes),
                  "sum %lld of %lld values of %s, level %s: %.17g, exact %.20Lg"
                  ", off by %.3Lg, magnitude %.6Lg",
                  (long long)j, (long long)count, elementwise_dtype_name(type),
                  elementwise_cpu_level(), got, exact, error, magnitude);
}

struct large {
    int ndim;
    int64_t shape[3];
    int axis, dst_ndim;
    int64_t dst[2];
    int64_t outer, step, count; /* see verify_large */
};

static const struct large larges[] = {
    {1, {1 << 20}, 0, 0, {1}, 0, 1, 1 << 20},
    {2, {1024, 1024}, 0, 0, {1}, 0, 1, 1 << 20},
    {2, {1024, 1024}, 0, 1, {1024}, 1024, 1, 1024},
    {2, {1024, 1024}, 1, 1, {1024}, 1, 1024, 1024},
    {2, {5000, 200}, 0, 1, {5000}, 200, 1, 200},
    {2, {200, 5000}, 1, 1, {5000}, 1, 5000, 200},
    {2, {3, 1 << 18}, 0, 1, {3}, 1 << 18, 1, 1 << 18},
    {2, {1 << 18, 3}, 1, 1, {3}, 1, 3, 1 << 18},
    {3, {300, 5000, 1}, 1, 1, {5000}, 1, 5000, 300},
    {2, {10001, 20}, 1, 1, {20}, 1, 20, 10001},
};
enum { LARGES = sizeof larges / sizeof *larges };

START_TEST(errors_of_sums_do_not_grow_with_the_number_of_terms)
{
    const struct large *l = &larges[_i / 2];
    for (int k = 0; k < 2; k++) {
        elementwise_dtype type = k ? F64 : F32;
        int64_t n = 1, m = l->dst_ndim ? l->dst[0] : 1;
        for (int d = 0; d < l->ndim; d++)
            n *= l->shape[d];
        char *data = malloc((size_t)n * 8), *sums = malloc((size_t)m * 8);
        ck_assert(data && sums);
        fill_integers(type, data, n, _i % 2);
        elementwise_tensor src = {data, type, l->ndim, l->shape, NULL};
        elementwise_tensor dst = {sums, type, l->dst_ndim, l->dst, NULL};
        for (int v = 0; v < EW_LEVELS && support_level(v); v++) {
            memset(sums, 0xA5, (size_t)m * 8);
            ck_assert_int_eq(elementwise_sum_to(&src, l->axis, &dst, NULL),
                             ELEMENTWISE_OK);
            for (int64_t j = 0; j < m; j++)
                verify_large(
                    type, data, j, j * l->outer, l->step, l->count,
                    ref_load(type, sums + (size_t)j * ref_size(type)).re);
        }
        free(data);
        free(sums);
    }
}
END_TEST

/* Many sums at once of every type, one after the other in memory and not. */
START_TEST(five_thousand_sums_are_kept_apart)
{
    struct gradient g = {0};
    static const struct support_shapes shapes[] = {
        {1, 2, 1, 2, {7, 5000}, {5000}, {7, 5000}},
        {0, 2, 1, 2, {5000, 7}, {5000}, {5000, 7}},
        {1, 3, 1, 3, {3, 5000, 2}, {5000}, {3, 5000, 2}},
        {-1, 2, 3, 3, {1, 5000}, {3, 2, 1}, {3, 2, 5000}},
    };
    for (int k = 0; k < 4; k++) {
        prepare(&g, k % 2 ? ELEMENTWISE_MUL : ELEMENTWISE_ADD, floats[_i],
                floats[_i], &shapes[k]);
        verify_levels(&g);
    }
    release(&g);
}
END_TEST

/* Rows short enough to be joined where their columns are summed, and to be read
   together with what lies before them where they are themselves. */
START_TEST(many_short_rows_are_summed)
{
    static const int64_t cols[] = {1, 2, 3, 7, 8, 15, 16, 17, 100};
    struct gradient g = {0};
    for (size_t k = 0; k < 2 * sizeof cols / sizeof *cols; k++) {
        struct support_shapes s = {
            .axis = k & 1, .x_ndim = 2, .y_ndim = 1, .ndim = 2};
        s.x[0] = 1111;
        s.x[1] = cols[k / 2];
        s.y[0] = s.x[k & 1];
        memcpy(s.out, s.x, sizeof s.x);
        prepare(&g, ELEMENTWISE_ADD, floats[_i], floats[_i], &s);
        verify_levels(&g);
    }
    release(&g);
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
    char text[4 * TEXT];
    struct support_tensor *d = &g->d[side];
    describe(g, text);
    ck_assert_int_eq(run(g), ELEMENTWISE_OK);
    support_keep(&g->d[0]);
    support_keep(&g->d[1]);
    elementwise_tensor separate = d->t;
    d->t = g->dout.t;
    ck_assert_msg(run(g) == ELEMENTWISE_OK, "%s: d%c is dout: %s", text,
                  "xy"[side], elementwise_last_error());
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
    for (int round = 0; functions[op] && round < 60; round++) {
        struct support_shapes s;
        int64_t strides[ELEMENTWISE_MAX_NDIM];
        int pair = round % 6;
        if (!takes(op, pairs[pair][0], pairs[pair][1]))
            continue;
        whole_shapes(&s);
        prepare(&g, op, pairs[pair][0], pairs[pair][1], &s);
        support_strides(s.ndim, s.out, false, strides);
        support_make(&g.dout, pairs[pair][0], s.ndim, s.out, strides,
                     SUPPORT_HIGH);
        fill(&g.dout, ANY);
        support_keep(&g.dout);
        support_level((int)support_random(0, ew_cpu_level()));
        verify_in_place(&g, (int)support_random(0, 1));
        ew_cpu_limit(EW_LEVELS);
    }
    release(&g);
}
END_TEST

/* Results of 16 MiB and more, which may be stored past the caches: rows of
   whole lines, of whole vectors of 16 bytes, long ones of neither. */
static const int64_t big_shapes[][2] = {
    {4200, 1024}, {4200, 1012}, {850, 5001}};

struct big {
    elementwise_op op;
    int64_t shape[2], y_shape[2];
    float *x, *y, *dout, *dx, *dy;
};

/* Rows from `row` on; the sums of columns only if these are all. */
static void run_rows(const struct big *l, int64_t row, int64_t rows, float *dx,
                     float *dy)
{
    const int64_t shape[] = {rows, l->shape[1]}, skipped = row * l->shape[1];
    const bool per_row = l->y_shape[1] == 1;
    const int64_t y_shape[] = {per_row ? rows : 1, l->y_shape[1]};
    const elementwise_tensor x = {l->x + skipped, ELEMENTWISE_F32, 2, shape,
                                  NULL};
    const elementwise_tensor y = {l->y + (per_row ? row : 0), ELEMENTWISE_F32,
                                  2, y_shape, NULL};
    elementwise_tensor dout = x, tx = x, ty = y;
    dout.data = l->dout + skipped;
    tx.data = dx;
    ty.data = dy;
    ck_assert_int_eq(elementwise_apply_grad(l->op, &x, &y, NULL, &dout, -1, &tx,
                                            dy ? &ty : NULL, NULL),
                     ELEMENTWISE_OK);
}

/* Row by row nothing is large. The sums of columns are those of the first run,
   which must be close to what they are. */
static void expect_rows(const struct big *l, float *dx, float *dy)
{
    int64_t cols = l->shape[1];
    bool per_row = l->y_shape[1] == 1;
    for (int64_t r = 0; r < l->shape[0]; r++)
        run_rows(l, r, 1, dx + r * cols, per_row ? dy + r : NULL);
    if (per_row)
        return;
    run_rows(l, 0, l->shape[0], l->dx, dy);
    for (int64_t c = 0; c < cols; c++) {
        double sum = 0, magnitude = 0;
        for (int64_t r = 0; r < l->shape[0]; r++) {
            double g = l->dout[r * cols + c];
            float term =
                (float)(l->op == ELEMENTWISE_ADD ? g : g * l->x[r * cols + c]);
            sum += term;
            magnitude += fabs((double)term);
        }
        ck_assert_double_le(fabs(sum - dy[c]), magnitude * 0x1p-24);
    }
}

/* At any address, in dout's place and at any level, the bits are the same. */
static void verify_big(struct big *l, float *dx, float *dy)
{
    size_t n = (size_t)(l->shape[0] * l->shape[1]);
    size_t sums = (size_t)(l->y_shape[0] * l->y_shape[1]);
    expect_rows(l, dx, dy);
    for (int level = 0; level <= ew_cpu_level(); level++)
        for (int place = 0; place < 4; place++) {
            static const int offset[] = {0, 1, 4};
            float *to = place < 3 ? l->dx + offset[place] : l->dout;
            float *kept = malloc(n * sizeof *kept);
            ck_assert_ptr_nonnull(kept);
            memcpy(kept, l->dout, n * sizeof *kept);
            support_level(level);
            run_rows(l, 0, l->shape[0], to, l->dy);
            ew_cpu_limit(EW_LEVELS);
            ck_assert_mem_eq(to, dx, n * sizeof *to);
            ck_assert_mem_eq(l->dy, dy, sums * sizeof *dy);
            memcpy(l->dout, kept, n * sizeof *kept);
            free(kept);
        }
}

START_TEST(large_outputs_are_those_of_their_rows)
{
    const int64_t *shape = big_shapes[_i / 4];
    bool per_row = _i % 2;
    struct big l = {
        .op = _i / 2 % 2 ? ELEMENTWISE_MUL : ELEMENTWISE_ADD,
        .shape = {shape[0], shape[1]},
        .y_shape = {per_row ? shape[0] : 1, per_row ? 1 : shape[1]}};
    size_t n = (size_t)(shape[0] * shape[1]) + 16;
    float *all[7];
    for (int k = 0; k < 7; k++) {
        all[k] = aligned_alloc(64, (n * sizeof **all + 63) / 64 * 64);
        ck_assert_ptr_nonnull(all[k]);
        for (size_t i = 0; i < n; i++)
            all[k][i] = (float)support_random(-99999, 99999) / 1024;
    }
    l.x = all[0], l.y = all[1], l.dout = all[2], l.dx = all[3], l.dy = all[4];
    verify_big(&l, all[5], all[6]);
    for (int k = 0; k < 7; k++)
        free(all[k]);
}
END_TEST

/* The gradient of mul on rows of f16 or bf16, which are more than 16 MiB all
   together and less in two parts. */
enum { HALF_ROWS = 4200, HALF_COLS = 2048, HALVES = HALF_ROWS * HALF_COLS };
struct halves {
    elementwise_dtype type;
    bool per_row;
    uint16_t *x, *y, *dout;
};

static void run_halves(const struct halves *h, int64_t row, int64_t rows,
                       uint16_t *dx, uint16_t *dy)
{
    const int64_t shape[] = {rows, HALF_COLS}, skipped = row * HALF_COLS;
    const int64_t y_shape[] = {h->per_row ? rows : 1,
                               h->per_row ? 1 : HALF_COLS};
    const int64_t y_skipped = h->per_row ? row : 0;
    const elementwise_tensor x = {h->x + skipped, h->type, 2, shape, NULL};
    const elementwise_tensor y = {h->y + y_skipped, h->type, 2, y_shape, NULL};
    elementwise_tensor dout = x, tx = x, ty = y;
    dout.data = h->dout + skipped;
    tx.data = dx + skipped;
    ty.data = dy + y_skipped;
    ck_assert_int_eq(elementwise_mul_grad(&x, &y, &dout, -1, &tx, &ty),
                     ELEMENTWISE_OK);
}

/* At any address, in dout's place and at any level, the bits are those of two
   parts; but sums over both parts those of the first level. */
static void verify_halves(struct halves *h, uint16_t *dx, uint16_t *parts)
{
    static const int offset[] = {0, 1, 8};
    uint16_t *kept = malloc(HALVES * sizeof *kept);
    uint16_t dy[HALF_ROWS], first[HALF_ROWS] = {0};
    size_t sums = (h->per_row ? HALF_ROWS : HALF_COLS) * sizeof *dy;
    ck_assert_ptr_nonnull(kept);
    memcpy(kept, h->dout, HALVES * sizeof *kept);
    run_halves(h, 0, HALF_ROWS / 2, parts, first);
    run_halves(h, HALF_ROWS / 2, HALF_ROWS / 2, parts, first);
    if (!h->per_row)
        run_halves(h, 0, HALF_ROWS, dx, first);
    for (int level = 0; level < EW_LEVELS && support_level(level); level++)
        for (int place = 0; place < 4; place++) {
            uint16_t *to = place < 3 ? dx + offset[place] : h->dout;
            run_halves(h, 0, HALF_ROWS, to, dy);
            ck_assert_mem_eq(to, parts, HALVES * sizeof *to);
            ck_assert_mem_eq(dy, first, sums);
            memcpy(h->dout, kept, HALVES * sizeof *kept);
        }
    free(kept);
}

START_TEST(large_halves_are_those_of_their_parts)
{
    uint16_t *all[5];
    for (int k = 0; k < 5; k++) {
        all[k] = aligned_alloc(64, (HALVES + 32) * sizeof **all);
        ck_assert_ptr_nonnull(all[k]);
        for (int i = 0; i < HALVES; i++)
            if (i < 5000)
                put(_i % 2 ? F16 : BF16, moderate(), 0, all[k] + i);
            else
                all[k][i] = all[k][i - 4999];
    }
    struct halves h = {_i % 2 ? F16 : BF16, _i / 2, all[0], all[1], all[2]};
    verify_halves(&h, all[3], all[4]);
    for (int k = 0; k < 5; k++)
        free(all[k]);
}
END_TEST

/* Fails unless the call is refused with the status and writes nothing. */
static void refuse(struct gradient *g, elementwise_status expected,
                   const char *what)
{
    elementwise_status status = run(g);
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
    prepare(g, op, F32, F32, s);
    struct support_tensor *const all[] = {&g->x, &g->y, &g->dout, &g->d[0],
                                          &g->d[1]};
    for (int k = 0; k < 5; k++) {
        int64_t shape[ELEMENTWISE_MAX_NDIM];
        memcpy(shape, all[k]->shape, sizeof shape);
        support_make(all[k], F32, all[k]->t.ndim, shape, NULL, SUPPORT_HIGH);
        fill(all[k], NONZERO);
    }
    keep_all(g);
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
    release(&g);
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
    release(&g);
}
END_TEST

START_TEST(double_gradients_overlap_nothing)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {8}, {8}, {8}};
    struct again a = {0};
    prepare_again(&a, (elementwise_op)_i, F32, F32, &same);
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
            ck_assert_msg(run_again(&a) == (all[k] == d ? ELEMENTWISE_OK
                                                        : ELEMENTWISE_OVERLAP),
                          "%s_grad_grad, output %d on operand %d",
                          elementwise_op_name(a.g.op), out, k);
            d->t.data = own;
        }
    }
    release_again(&a);
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
    if (functions[op])
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
    for (int pair = 0; functions[op] && pair < PAIRS; pair++) {
        if (has_gradient(pairs[pair][0]) && has_gradient(pairs[pair][1]))
            continue;
        prepare(&g, op, pairs[pair][0], pairs[pair][1], &same);
        g.wants[0] = g.wants[1] = true;
        refuse(&g, ELEMENTWISE_NO_GRADIENT, "a float and an integer");
    }
    release(&g);
}
END_TEST

START_TEST(integer_results_have_no_gradient)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    elementwise_op op = (elementwise_op)_i;
    if (functions[op] && takes(op, ELEMENTWISE_I32, ELEMENTWISE_I32)) {
        prepare(&g, op, ELEMENTWISE_I32, ELEMENTWISE_I32, &same);
        g.wants[0] = true;
        refuse(&g, ELEMENTWISE_NO_GRADIENT, "two integers");
    }
    release(&g);
}
END_TEST

START_TEST(an_output_that_is_not_wanted_is_not_needed)
{
    static const struct support_shapes same = {-1, 1, 1, 1, {6}, {6}, {6}};
    struct gradient g = {0};
    plain(&g, (elementwise_op)_i, &same);
    g.wants[0] = g.wants[1] = false;
    refuse(&g, ELEMENTWISE_OK, "neither dx nor dy");
    release(&g);
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
    release(&g);
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
    release(&g);
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
    release(&g);
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
    for (int round = 0; functions[op] && round < rounds(40); round++) {
        int pair = round % PAIRS;
        if (!takes(op, pairs[pair][0], pairs[pair][1]))
            continue;
        random_gradient(&g, op, pair);
        elementwise_plan *plan = plan_of(&g);
        ck_assert_uint_gt(elementwise_plan_describe(plan, NULL, 0), 0);
        ck_assert_int_eq(run(&g), ELEMENTWISE_OK);
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
    release(&g);
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
    ck_assert_int_eq(run(&g), ELEMENTWISE_OK);
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
    release(&g);
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
    ck_assert_int_eq(elementwise_plan_run(plan, x, y, dx), ELEMENTWISE_INVALID);
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
    release(&g);
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
        verify_levels(&g);
        elementwise_plan_destroy(plan);
    }
    release(&g);
}
END_TEST

static TCase *values(void)
{
    TCase *tests = support_case("values");
    tcase_add_loop_test(tests, gradients_are_the_references_in_every_layout, 1,
                        OPS_END);
    tcase_add_loop_test(tests, every_tail_of_a_vector_is_summed, 0, 8 * FLOATS);
    tcase_add_loop_test(tests, special_values_have_the_references_gradients, 1,
                        OPS_END);
    tcase_add_loop_test(tests, special_cases_of_the_contract_hold, 0, SPECIALS);
    tcase_add_loop_test(tests, powers_out_of_range_have_gradients_within, 0,
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

static TCase *sums(void)
{
    TCase *tests = support_case("sums");
    tcase_add_loop_test(tests, sum_to_is_the_references_in_every_layout, 0,
                        FLOATS);
    tcase_add_loop_test(tests,
                        errors_of_sums_do_not_grow_with_the_number_of_terms, 0,
                        2 * LARGES);
    tcase_add_loop_test(tests, five_thousand_sums_are_kept_apart, 0, FLOATS);
    tcase_add_loop_test(tests, many_short_rows_are_summed, 0, FLOATS);
    tcase_add_test(tests, sum_to_refuses_what_is_wrong);
    tcase_add_test(tests, sum_to_says_what_it_takes);
    tcase_add_loop_test(tests, large_outputs_are_those_of_their_rows, 0, 12);
    tcase_add_loop_test(tests, large_halves_are_those_of_their_parts, 0, 4);
    return tests;
}

static TCase *refusals(void)
{
    TCase *tests = support_case("refusals");
    tcase_add_loop_test(tests, dout_may_be_overwritten, 1, OPS_END);
    tcase_add_loop_test(tests, other_overlap_is_refused, 1, 5);
    tcase_add_loop_test(tests, a_summed_output_is_not_dout, 1, 5);
    tcase_add_loop_test(tests, double_gradients_overlap_nothing, 1, 5);
    tcase_add_loop_test(tests, operations_without_a_gradient_are_refused, 1,
                        OPS_END);
    tcase_add_loop_test(tests, integers_have_no_gradient, 1, OPS_END);
    tcase_add_loop_test(tests, integer_results_have_no_gradient, 1, OPS_END);
    tcase_add_loop_test(tests, an_output_that_is_not_wanted_is_not_needed, 1,
                        5);
    tcase_add_loop_test(tests, wrong_operands_are_refused, 1, 5);
    tcase_add_test(tests, missing_operands_and_wrong_options_are_refused);
    tcase_add_loop_test(tests, wrong_axes_are_refused, 1, 5);
    return tests;
}

static TCase *plans(void)
{
    TCase *tests = support_case("plans");
    tcase_add_loop_test(tests, plans_write_the_bits_of_the_call, 1, OPS_END);
    tcase_add_loop_test(tests, threads_share_a_plan, 1, 5);
    tcase_add_test(tests, plans_check_their_pointers_and_kind);
    tcase_add_test(tests, plans_write_what_they_were_made_for);
    return tests;
}

int main(void)
{
    TCase *const cases[] = {values(),   calculus(), sums(),
                            refusals(), plans(),    NULL};
    return support_run("gradient", cases);
}
