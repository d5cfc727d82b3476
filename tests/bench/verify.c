/*
 * Turns a case that is about to be timed into a verdict: runs it once and
 * computes elements of its result again, one by one, from the definition.
 */
#include "bench.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "reference.h"

enum { SAMPLES = 8192, ENDS = 256, SUMMED = 4 };

/* An element of the result and its operands from before the call, which may
   have been in place. */
struct sample {
    int64_t place;
    struct ref_value x, y;
};

/* All places if they are few; else both ends and places in between. */
static int64_t place_of(int64_t nth, int64_t samples, int64_t count)
{
    if (count <= samples || nth < ENDS)
        return nth;
    if (nth >= samples - ENDS)
        return count - samples + nth;
    uint64_t hash = (uint64_t)nth * 0x9E3779B97F4A7C15u;
    return (int64_t)(hash % (uint64_t)count);
}

static void index_of(int64_t place, int ndim, const int64_t shape[],
                     int64_t index[])
{
    for (int k = ndim; k-- > 0; place /= shape[k])
        index[k] = place % shape[k];
}

static struct ref_value element(const elementwise_tensor *t,
                                const struct ref_fit *fit, const int of[],
                                const int64_t index[])
{
    return ref_load(t->dtype, ref_element(t, fit->ndim, of, index));
}

static double activated(elementwise_act act, double x)
{
    switch (act) {
    case ELEMENTWISE_ACT_RELU:
        return x > 0 ? x : 0;
    case ELEMENTWISE_ACT_SIGMOID:
        return 1 / (1 + exp(-x));
    case ELEMENTWISE_ACT_TANH:
        return tanh(x);
    case ELEMENTWISE_ACT_GELU:
        return x * erfc(-x / sqrt(2)) / 2;
    case ELEMENTWISE_ACT_SILU:
        return x / (1 + exp(-x));
    default:
        return x;
    }
}

/* One rounding of each term and one of the sum, and those of the additions. */
static double tolerance(elementwise_dtype type, double magnitude, int64_t terms)
{
    bool wide = type == ELEMENTWISE_F64 || type == ELEMENTWISE_C128;
    double epsilon = wide ? DBL_EPSILON : FLT_EPSILON;
    if (type == ELEMENTWISE_F16)
        epsilon = 0x1p-10;
    if (type == ELEMENTWISE_BF16)
        epsilon = 0x1p-7;
    return magnitude * (4 * epsilon + (double)terms * DBL_EPSILON);
}

/* With an act the result is compared within a few roundings of its type. */
static bool accepts(const struct bench_row *row, const struct sample *s,
                    elementwise_dtype out, const void *element)
{
    struct ref_value result, got = ref_load(out, element);
    if (!row->act)
        return ref_accepts(row->op, &s->x, &s->y, out, element, NULL);
    ref_compute(row->op, &s->x, &s->y, &result);
    double expected = activated(row->act, result.re);
    return fabs(got.re - expected) <= tolerance(out, fabs(expected), 1);
}

static bool verify_forward(const struct bench_case *c,
                           const struct ref_fit *fit)
{
    const elementwise_tensor *out = &c->t[OUT];
    int64_t count = bench_elements(out), index[2 * ELEMENTWISE_MAX_NDIM];
    int64_t n = count < SAMPLES ? count : SAMPLES;
    struct sample *samples = calloc((size_t)n + 1, sizeof *samples);
    bool right = samples != NULL;
    for (int64_t i = 0; right && i < n; i++) {
        samples[i].place = place_of(i, n, count);
        index_of(samples[i].place, fit->ndim, fit->shape, index);
        samples[i].x = element(&c->t[X], fit, fit->x, index);
        samples[i].y = element(&c->t[Y], fit, fit->y, index);
    }
    right = right && bench_case_call(c, 1, &bench_linked) == ELEMENTWISE_OK;
    for (int64_t i = 0; right && i < n; i++) {
        index_of(samples[i].place, fit->ndim, fit->shape, index);
        right = accepts(c->row, &samples[i], out->dtype, ref_at(out, index));
    }
    free(samples);
    return right;
}

typedef double complex number;

static number load(const elementwise_tensor *t, const struct ref_fit *fit,
                   const int of[], const int64_t index[])
{
    struct ref_value v = element(t, fit, of, index);
    return v.re + v.im * I;
}

/* x > 0, or complex. */
static number slope_of_pow(bool to_x, number x, number y)
{
    long double complex a = x, b = y;
    return (number)(to_x ? b * cpowl(a, b - 1) : clogl(a) * cpowl(a, b));
}

/* What one element of the result adds to dx or dy, or to a sum. */
static number term(const struct bench_case *c, const struct ref_fit *fit,
                   enum bench_operand output, const int64_t index[])
{
    if (c->row->pattern.kind == BENCH_SUM)
        return load(&c->t[X], fit, fit->x, index);
    struct ref_value v = ref_load(c->t[OUT].dtype, ref_at(&c->t[OUT], index));
    number g = v.re + v.im * I, x = load(&c->t[X], fit, fit->x, index);
    number y = conj(load(&c->t[Y], fit, fit->y, index));
    if (c->row->op == ELEMENTWISE_MUL)
        return g * (output == DX ? y : conj(x));
    if (c->row->op == ELEMENTWISE_DIV)
        return output == DX ? g / y : -g * conj(x) / y / y;
    if (c->row->op == ELEMENTWISE_POW)
        return g * conj(slope_of_pow(output == DX, x, conj(y)));
    return g;
}

/* Whether both are what the type has instead of too large a number. */
static bool is_beyond(elementwise_dtype type, number sum, double got)
{
    struct ref_value exact = ref_float(ELEMENTWISE_F64, creal(sum), 0);
    return !ref_is_complex(type) && isinf(got) &&
           ref_convert(&exact, type).re == got;
}

/* One element of an output: the sum over all places of the result that the
   output was stretched to. */
static bool cell_is_right(const struct bench_case *c, const struct ref_fit *fit,
                          enum bench_operand k, const int of[], int64_t cell)
{
    const elementwise_tensor *t = &c->t[k];
    int64_t own[BENCH_NDIM], index[ELEMENTWISE_MAX_NDIM];
    int64_t counter[ELEMENTWISE_MAX_NDIM] = {0}, loop[ELEMENTWISE_MAX_NDIM];
    bool fixed[ELEMENTWISE_MAX_NDIM];
    number sum = 0;
    double magnitude = 0;
    int64_t terms = 0;
    index_of(cell, t->ndim, t->shape, own);
    for (int d = 0; d < fit->ndim; d++) {
        fixed[d] = of[d] >= 0 && t->shape[of[d]] > 1;
        loop[d] = fixed[d] ? 1 : fit->shape[d];
    }
    do {
        for (int d = 0; d < fit->ndim; d++)
            index[d] = fixed[d] ? own[of[d]] : counter[d];
        number value = term(c, fit, k, index);
        sum += value;
        magnitude += cabs(value);
        terms++;
    } while (ref_next(fit->ndim, loop, counter));
    struct ref_value got = ref_load(t->dtype, ref_at(t, own));
    return cabs(got.re + got.im * I - sum) <=
               tolerance(t->dtype, magnitude, terms) ||
           is_beyond(t->dtype, sum, got.re);
}

static bool output_is_right(const struct bench_case *c,
                            const struct ref_fit *fit, enum bench_operand k,
                            const int of[])
{
    int64_t count = bench_elements(&c->t[k]), total = 1;
    if (count == 0)
        return true;
    for (int d = 0; d < fit->ndim; d++)
        total *= fit->shape[d];
    int64_t samples = total > count ? SUMMED : SAMPLES;
    for (int64_t i = 0; i < samples && i < count; i++)
        if (!cell_is_right(c, fit, k, of, i * (count - 1) / samples))
            return false;
    return cell_is_right(c, fit, k, of, count - 1);
}

bool bench_verify(const struct bench_case *c)
{
    const struct bench_pattern *p = &c->row->pattern;
    struct ref_fit fit;
    if (ref_fit(&c->t[X], &c->t[Y], p->axis, &fit) != ELEMENTWISE_OK)
        return false;
    if (p->kind == BENCH_FORWARD)
        return verify_forward(c, &fit);
    if (bench_case_call(c, 1, &bench_linked) != ELEMENTWISE_OK)
        return false;
    if (p->kind == BENCH_SUM)
        return output_is_right(c, &fit, Y, fit.y);
    return output_is_right(c, &fit, DX, fit.x) &&
           output_is_right(c, &fit, DY, fit.y);
}
