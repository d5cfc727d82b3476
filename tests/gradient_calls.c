/*
 * Makes random gradients, runs them one way or another, and holds what they
 * wrote against the reference in long double at every CPU level.
 */
#include "gradient_calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

const elementwise_dtype gradient_floats[GRADIENT_FLOATS] = {F16, BF16, F32,
                                                            F64, C64,  C128};

const elementwise_dtype gradient_pairs[GRADIENT_PAIRS][2] = {
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

const gradient_function gradient_functions[GRADIENT_OPS] = {
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

bool gradient_exists(elementwise_dtype type)
{
    return ref_is_float(type) || ref_is_complex(type);
}

bool gradient_takes(elementwise_op op, elementwise_dtype x, elementwise_dtype y)
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

double gradient_moderate(void)
{
    if (support_random(0, 1))
        return (double)support_random(-8, 8) / 2;
    return ldexp((double)(int64_t)support_bits(), -61);
}

static double number(enum gradient_values kind)
{
    double value = gradient_moderate();
    if (kind == GRADIENT_ANY)
        return value;
    if (kind == GRADIENT_POSITIVE)
        return 0.125 + fabs(value);
    return value + copysign(0.25, value);
}

void gradient_put(elementwise_dtype type, double re, double im, void *element)
{
    struct ref_value exact =
        ref_float(ref_is_complex(type) ? C128 : F64, re, im);
    struct ref_value value = ref_convert(&exact, type);
    ref_store(&value, element);
}

void gradient_fill(struct support_tensor *s, enum gradient_values kind)
{
    bool whole = !gradient_exists(s->t.dtype);
    for (int64_t i = 0; i < grad_count(&s->t); i++) {
        double re = number(kind), im = gradient_moderate();
        if (whole && kind != GRADIENT_ANY)
            re = kind == GRADIENT_POSITIVE ? fabs(trunc(re)) + 1
                                           : trunc(re) + copysign(1, re);
        gradient_put(s->t.dtype, re, im, grad_nth(&s->t, i));
    }
}

static enum gradient_values kind_of_x(elementwise_op op)
{
    return op == ELEMENTWISE_POW ? GRADIENT_POSITIVE : GRADIENT_ANY;
}

static enum gradient_values kind_of_y(elementwise_op op)
{
    return op == ELEMENTWISE_DIV || op == ELEMENTWISE_MOD ||
                   op == ELEMENTWISE_FMOD || op == ELEMENTWISE_FLOORDIV ||
                   op == ELEMENTWISE_TRUNCDIV
               ? GRADIENT_NONZERO
               : GRADIENT_ANY;
}

/* ---------------------------------------------------------------------
 * One gradient with its operands
 */

void gradient_lay_out(struct support_tensor *s, elementwise_dtype type,
                      int ndim, const int64_t shape[], bool input)
{
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    support_strides(ndim, shape, input, strides);
    support_make(s, type, ndim, shape, support_random(0, 2) ? strides : NULL,
                 (enum support_edge)support_random(0, 1));
}

void gradient_keep(struct gradient *g)
{
    support_keep(&g->x);
    support_keep(&g->y);
    support_keep(&g->dout);
    support_keep(&g->d[0]);
    support_keep(&g->d[1]);
}

void gradient_prepare(struct gradient *g, elementwise_op op,
                      elementwise_dtype tx, elementwise_dtype ty,
                      const struct support_shapes *s)
{
    g->op = op;
    g->axis = s->axis;
    g->flags = 0;
    gradient_lay_out(&g->x, tx, s->x_ndim, s->x, true);
    gradient_lay_out(&g->y, ty, s->y_ndim, s->y, true);
    gradient_lay_out(&g->dout, ref_promote(tx, ty), s->ndim, s->out, true);
    gradient_lay_out(&g->d[0], tx, s->x_ndim, s->x, false);
    gradient_lay_out(&g->d[1], ty, s->y_ndim, s->y, false);
    gradient_fill(&g->x, kind_of_x(op));
    gradient_fill(&g->y, kind_of_y(op));
    gradient_fill(&g->dout, GRADIENT_ANY);
    for (int k = 0; k < 2; k++) {
        gradient_fill(&g->d[k], GRADIENT_ANY);
        g->wants[k] = gradient_exists(k ? ty : tx);
    }
    gradient_keep(g);
}

void gradient_random(struct gradient *g, elementwise_op op, int pair)
{
    struct support_shapes s;
    support_pair(6, support_random(0, 4) ? 7 : 60, &s);
    gradient_prepare(g, op, gradient_pairs[pair][0], gradient_pairs[pair][1],
                     &s);
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

void gradient_release(struct gradient *g)
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

elementwise_status gradient_run(const struct gradient *g)
{
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.flags = g->flags;
    if (!g->flags && support_random(0, 1))
        return gradient_functions[g->op](&g->x.t, &g->y.t, &g->dout.t, g->axis,
                                         output(g, 0), output(g, 1));
    return elementwise_apply_grad(g->op, &g->x.t, &g->y.t, NULL, &g->dout.t,
                                  g->axis, output(g, 0), output(g, 1),
                                  &options);
}

void gradient_describe(const struct gradient *g, char *text)
{
    char x[GRADIENT_TEXT], y[GRADIENT_TEXT], dout[GRADIENT_TEXT];
    support_describe(&g->x.t, x, GRADIENT_TEXT);
    support_describe(&g->y.t, y, GRADIENT_TEXT);
    support_describe(&g->dout.t, dout, GRADIENT_TEXT);
    snprintf(text, 4 * GRADIENT_TEXT,
             "%s_grad, x %s, y %s, dout %s, axis %d, flags %u, "
             "level %s",
             elementwise_op_name(g->op), x, y, dout, g->axis, g->flags,
             elementwise_cpu_level());
}

void gradient_verify_cells(const char *what, const struct grad_cell *cells,
                           elementwise_dtype compute,
                           const elementwise_tensor *t)
{
    for (int64_t i = 0; i < grad_count(t); i++) {
        void *element = grad_nth(t, i);
        if (grad_accepts(&cells[i], compute, t->dtype, element))
            continue;
        char layout[GRADIENT_TEXT];
        struct ref_value got = ref_load(t->dtype, element);
        support_describe(t, layout, GRADIENT_TEXT);
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
    char text[4 * GRADIENT_TEXT], what[4 * GRADIENT_TEXT + 20];
    gradient_describe(g, text);
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
            gradient_verify_cells(what, cells[k], g->dout.t.dtype, &d->t);
    }
}

void gradient_verify_levels(struct gradient *g)
{
    struct grad_cell *cells[2];
    char *first[2] = {malloc(g->d[0].area_size), malloc(g->d[1].area_size)};
    ck_assert(first[0] && first[1]);
    expect(g, cells);
    for (int level = 0; level < EW_LEVELS && support_level(level); level++) {
        support_restore(&g->d[0]);
        support_restore(&g->d[1]);
        verify(g, gradient_run(g), cells);
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

int gradient_rounds(int usual)
{
    return support_long() ? 10 * usual : usual;
}

/* ---------------------------------------------------------------------
 * Double gradients
 */

typedef elementwise_status (*again_function)(
    const elementwise_tensor *, const elementwise_tensor *,
    const elementwise_tensor *, const elementwise_tensor *,
    const elementwise_tensor *, int, const elementwise_tensor *,
    const elementwise_tensor *, const elementwise_tensor *);

static const again_function again_functions[] = {
    NULL, elementwise_add_grad_grad, elementwise_sub_grad_grad,
    elementwise_mul_grad_grad, elementwise_div_grad_grad};

void gradient_prepare_again(struct gradient_again *a, elementwise_op op,
                            elementwise_dtype tx, elementwise_dtype ty,
                            const struct support_shapes *s)
{
    gradient_prepare(&a->g, op, tx, ty, s);
    gradient_lay_out(&a->dd[0], tx, s->x_ndim, s->x, true);
    gradient_lay_out(&a->dd[1], ty, s->y_ndim, s->y, true);
    gradient_lay_out(&a->ddout, ref_promote(tx, ty), s->ndim, s->out, false);
    a->wants_ddout = true;
    for (int k = 0; k < 2; k++) {
        gradient_fill(&a->dd[k], GRADIENT_ANY);
        support_keep(&a->dd[k]);
        a->has[k] = gradient_exists(k ? ty : tx);
    }
    support_keep(&a->ddout);
}

void gradient_release_again(struct gradient_again *a)
{
    gradient_release(&a->g);
    support_free(&a->dd[0]);
    support_free(&a->dd[1]);
    support_free(&a->ddout);
}

elementwise_status gradient_run_again(const struct gradient_again *a)
{
    const struct gradient *g = &a->g;
    return again_functions[g->op](
        &g->x.t, &g->y.t, &g->dout.t, a->has[0] ? &a->dd[0].t : NULL,
        a->has[1] ? &a->dd[1].t : NULL, g->axis, output(g, 0), output(g, 1),
        a->wants_ddout ? &a->ddout.t : NULL);
}
