/*
 * Turns the operands of a gradient into the terms of its sums, one index of
 * the result after the other, and each sum into the interval in which a
 * result may lie. A term may be off by the roundings that its formula needs
 * in the type of the computation, a sum of f64 by one addition, a sum of
 * anything narrower by additions in f64; the last rounding is the output
 * type's own.
 */
#include "gradient_reference.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

typedef long double complex number;

/* All that a formula can ask for at one index; epsilon is the distance from 1
   to the next number of the type of the computation, least the smallest
   number. */
struct point {
    elementwise_op op;
    elementwise_dtype type;
    number x, y, g, ddx, ddy;
    long double epsilon, least;
};

/* A term, its magnitude, and its roundings in units of epsilon. */
struct term {
    number value;
    long double magnitude, roundings;
};

/* C11's CMPLXL, which not every compiler has; re + im * I would turn an
   infinite part into NaN. */
static number compose(long double re, long double im)
{
    long double parts[] = {re, im};
    number whole;
    memcpy(&whole, parts, sizeof whole);
    return whole;
}

static struct term term_of(number value, long double roundings)
{
    struct term t = {value, cabsl(value), roundings};
    return t;
}

static struct term real_term(long double value, long double roundings)
{
    struct term t = {compose(value, 0), fabsl(value), roundings};
    return t;
}

/* ---------------------------------------------------------------------
 * Real formulas
 */

/* The largest integer that is not above the exact quotient. */
static long double floor_quotient(long double x, long double y)
{
    long double n = floorl(x / y), rest = isinf(y) ? x : fmal(-n, y, x);
    return rest != 0 && !isnan(rest) && signbit(rest) != signbit(y) ? n - 1 : n;
}

static long double trunc_quotient(long double x, long double y)
{
    long double n = floor_quotient(fabsl(x), fabsl(y));
    return signbit(x) != signbit(y) ? -n : n;
}

/* Whether the gradient goes to x. */
static bool x_wins(elementwise_op op, long double x, long double y)
{
    switch (op) {
    case ELEMENTWISE_MAX:
        return isnan(x) ? !isnan(y) : x > y;
    case ELEMENTWISE_MIN:
        return isnan(x) ? !isnan(y) : x < y;
    case ELEMENTWISE_FMAX:
        return x >= y || isnan(y);
    default:
        return x <= y || isnan(y);
    }
}

static struct term pow_term(bool to_y, long double x, long double y,
                            long double g)
{
    if (to_y)
        return x == 0 && y >= 0 ? real_term(0, 0)
                                : real_term(g * logl(x) * powl(x, y), 4);
    if (y == 0)
        return real_term(0, 0);
    long double steep = x == 0 ? 0 : fabsl((y - 1) * logl(fabsl(x))) / 2;
    return real_term(g * y * powl(x, y - 1), 4 + steep);
}

static struct term remainder_term(elementwise_op op, bool to_y, long double x,
                                  long double y, long double g)
{
    if (!to_y)
        return real_term(g, 0);
    return real_term(op == ELEMENTWISE_MOD ? -g * floor_quotient(x, y)
                                           : -g * trunc_quotient(x, y),
                     1);
}

static struct term angle_term(bool to_y, long double x, long double y,
                              long double g)
{
    if (x == 0 && y == 0)
        return real_term(0, 0);
    return real_term(g * ((to_y ? -x : y) / (x * x + y * y)), 4);
}

static struct term length_term(const struct point *p, bool to_y)
{
    long double x = creall(p->x), y = creall(p->y), g = creall(p->g);
    if (x == 0 && y == 0)
        return real_term(0, 0);
    long double h = hypotl(x, y);
    struct term t = real_term(g * ((to_y ? y : x) / h), 3);
    t.roundings += p->least / h / p->epsilon; /* of an h that is subnormal */
    return t;
}

static struct term logaddexp_term(bool to_y, long double x, long double y,
                                  long double g)
{
    if (isinf(x) && x == y)
        return real_term(g / 2, 0);
    long double d = to_y ? x - y : y - x;
    return real_term(g / (1 + expl(d)), 3 + (d > 0 ? d / 2 : 0));
}

static struct term copysign_term(bool to_y, long double x, long double y,
                                 long double g)
{
    if (to_y || x == 0)
        return real_term(0, 0);
    return real_term(signbit(x) == signbit(y) ? g : -g, 0);
}

static struct term real_formula(const struct point *p, bool to_y)
{
    long double x = creall(p->x), y = creall(p->y), g = creall(p->g);
    switch (p->op) {
    case ELEMENTWISE_ADD:
        return real_term(g, 0);
    case ELEMENTWISE_SUB:
        return real_term(to_y ? -g : g, 0);
    case ELEMENTWISE_MUL:
        return real_term(g * (to_y ? x : y), 0.5L);
    case ELEMENTWISE_DIV:
        return to_y ? real_term(-g * (x / y / y), 1.5L)
                    : real_term(g / y, 0.5L);
    case ELEMENTWISE_MAX:
    case ELEMENTWISE_MIN:
    case ELEMENTWISE_FMAX:
    case ELEMENTWISE_FMIN:
        return real_term(x_wins(p->op, x, y) != to_y ? g : 0, 0);
    case ELEMENTWISE_POW:
        return pow_term(to_y, x, y, g);
    case ELEMENTWISE_MOD:
    case ELEMENTWISE_FMOD:
        return remainder_term(p->op, to_y, x, y, g);
    case ELEMENTWISE_HEAVISIDE:
        return real_term(to_y && x == 0 ? g : 0, 0);
    case ELEMENTWISE_ATAN2:
        return angle_term(to_y, x, y, g);
    case ELEMENTWISE_HYPOT:
        return length_term(p, to_y);
    case ELEMENTWISE_COPYSIGN:
        return copysign_term(to_y, x, y, g);
    case ELEMENTWISE_LOGADDEXP:
        return logaddexp_term(to_y, x, y, g);
    default:
        return real_term(0, 0);
    }
}

/* ---------------------------------------------------------------------
 * Complex formulas; the derivative is conjugated
 */

static struct term complex_pow(const struct point *p, bool to_y)
{
    number x = p->x, y = p->y;
    if (to_y ? x == 0 && creall(y) >= 0 : y == 0)
        return term_of(0, 0);
    long double size = cabsl(y * clogl(x));
    number slope = to_y ? clogl(x) * cpowl(x, y) : y * cpowl(x, y - 1);
    return term_of(p->g * conjl(slope), 10 + 4 * size);
}

static struct term complex_formula(const struct point *p, bool to_y)
{
    number x = p->x, y = p->y, g = p->g;
    switch (p->op) {
    case ELEMENTWISE_ADD:
        return term_of(g, 0);
    case ELEMENTWISE_SUB:
        return term_of(to_y ? -g : g, 0);
    case ELEMENTWISE_MUL:
        return term_of(g * conjl(to_y ? x : y), 2);
    case ELEMENTWISE_DIV:
        return to_y ? term_of(-g * conjl(x / y / y), 12)
                    : term_of(g / conjl(y), 5);
    default:
        return complex_pow(p, to_y);
    }
}

static struct term formula(const struct point *p, enum grad_output which)
{
    bool to_y = which == GRAD_DY;
    return ref_is_complex(p->type) ? complex_formula(p, to_y)
                                   : real_formula(p, to_y);
}

/* ---------------------------------------------------------------------
 * Double gradients
 */

/* The sum of two products, which may cancel. */
static struct term two_terms(number a, number b, long double roundings)
{
    struct term t = {a + b, cabsl(a) + cabsl(b), roundings};
    return t;
}

static struct term mul_again(const struct point *p, enum grad_output which)
{
    if (which == GRAD_DX)
        return term_of(p->g * conjl(p->ddy), 2);
    if (which == GRAD_DY)
        return term_of(p->g * conjl(p->ddx), 2);
    return two_terms(p->ddx * p->y, p->x * p->ddy, 3);
}

static struct term div_again(const struct point *p, enum grad_output which)
{
    number y = p->y, squared = y * y;
    long double roundings = ref_is_complex(p->type) ? 20 : 4;
    if (which == GRAD_DX)
        return term_of(-p->g * conjl(p->ddy / squared), roundings);
    if (which == GRAD_DY)
        return two_terms(p->g * conjl(2 * p->x * p->ddy / y / squared),
                         -p->g * conjl(p->ddx / squared), roundings);
    return two_terms(p->ddx / y, -p->x * p->ddy / squared, roundings);
}

static struct term formula_again(const struct point *p, enum grad_output which)
{
    if (p->op == ELEMENTWISE_MUL)
        return mul_again(p, which);
    if (p->op == ELEMENTWISE_DIV)
        return div_again(p, which);
    if (which != GRAD_DDOUT)
        return term_of(0, 0);
    return two_terms(p->ddx, p->op == ELEMENTWISE_SUB ? -p->ddy : p->ddy, 0.5L);
}

/* ---------------------------------------------------------------------
 * Sums
 */

int64_t grad_count(const elementwise_tensor *t)
{
    int64_t count = 1;
    for (int k = 0; k < t->ndim; k++)
        count *= t->shape[k];
    return count;
}

void *grad_nth(const elementwise_tensor *t, int64_t n)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    for (int k = t->ndim; k-- > 0; n /= t->shape[k])
        index[k] = n % t->shape[k];
    return ref_at(t, index);
}

/* The place, in row-major order, of the element to which an index of the
   result belongs. */
static int64_t place_of(const elementwise_tensor *t, int ndim, const int of[],
                        const int64_t index[])
{
    int64_t own[ELEMENTWISE_MAX_NDIM] = {0}, place = 0;
    for (int k = 0; k < ndim; k++)
        if (of[k] >= 0 && t->shape[of[k]] > 1)
            own[of[k]] = index[k];
    for (int k = 0; k < t->ndim; k++)
        place = place * t->shape[k] + own[k];
    return place;
}

static number load(elementwise_dtype type, const elementwise_tensor *t,
                   int ndim, const int of[], const int64_t index[])
{
    if (!t || !t->data)
        return 0;
    struct ref_value v = ref_load(t->dtype, ref_element(t, ndim, of, index));
    v = ref_convert(&v, type);
    return compose(v.re, v.im);
}

/* As load, of elements that are in the type already. */
static number stored(const elementwise_tensor *t, int64_t n)
{
    struct ref_value v = ref_load(t->dtype, grad_nth(t, n));
    return compose(v.re, v.im);
}

static bool is_f64(elementwise_dtype type)
{
    return type == ELEMENTWISE_F64 || type == ELEMENTWISE_C128;
}

static void add_term(struct grad_cell *cell, const struct term *t,
                     const struct point *p)
{
    cell->re += creall(t->value);
    cell->im += cimagl(t->value);
    cell->magnitude += t->magnitude;
    if (t->roundings > 0)
        cell->error += t->roundings * p->epsilon * t->magnitude + 4 * p->least;
    cell->terms++;
}

static struct grad_cell *new_cells(const elementwise_tensor *output, bool added)
{
    int64_t count = grad_count(output);
    struct grad_cell *cells = calloc((size_t)count + 1, sizeof *cells);
    if (!cells)
        abort();
    for (int64_t i = 0; added && i < count; i++) {
        struct term t = term_of(stored(output, i), 0);
        add_term(&cells[i], &t, NULL);
    }
    return cells;
}

static struct point start(elementwise_op op, elementwise_dtype type)
{
    struct point p = {.op = op, .type = type};
    p.epsilon = ldexpl(1, is_f64(type) ? -52 : -23);
    p.least = ldexpl(1, is_f64(type) ? -1074 : -149);
    return p;
}

typedef struct term (*formula_of)(const struct point *, enum grad_output);

static bool has_elements(const struct ref_fit *fit)
{
    for (int k = 0; k < fit->ndim; k++)
        if (fit->shape[k] == 0)
            return false;
    return true;
}

static struct grad_cell *cells_of(const struct grad_call *c, formula_of terms,
                                  enum grad_output which,
                                  const elementwise_tensor *output, bool added)
{
    struct ref_fit fit;
    struct grad_cell *cells = new_cells(output, added);
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    int own[ELEMENTWISE_MAX_NDIM];
    for (int k = 0; k < ELEMENTWISE_MAX_NDIM; k++)
        own[k] = k;
    if (ref_fit(c->x, c->y, c->axis, &fit) != ELEMENTWISE_OK)
        abort();
    const int *of = which == GRAD_DX ? fit.x : which == GRAD_DY ? fit.y : own;
    struct point p = start(c->op, ref_promote(c->x->dtype, c->y->dtype));
    if (!has_elements(&fit))
        return cells;
    do {
        p.x = load(p.type, c->x, fit.ndim, fit.x, index);
        p.y = load(p.type, c->y, fit.ndim, fit.y, index);
        p.g = load(p.type, c->dout, fit.ndim, own, index);
        p.ddx = load(p.type, c->ddx, fit.ndim, fit.x, index);
        p.ddy = load(p.type, c->ddy, fit.ndim, fit.y, index);
        struct term t = terms(&p, which);
        add_term(&cells[place_of(output, fit.ndim, of, index)], &t, &p);
    } while (ref_next(fit.ndim, fit.shape, index));
    return cells;
}

struct grad_cell *grad_cells(const struct grad_call *call,
                             enum grad_output which,
                             const elementwise_tensor *output, bool added)
{
    return cells_of(call, formula, which, output, added);
}

struct grad_cell *grad_grad_cells(const struct grad_call *call,
                                  enum grad_output which,
                                  const elementwise_tensor *output)
{
    return cells_of(call, formula_again, which, output, false);
}

struct grad_cell *grad_sum_cells(const elementwise_tensor *src, int axis,
                                 const elementwise_tensor *dst, bool added)
{
    elementwise_tensor shape = *src, place = *dst;
    shape.data = place.data = NULL;
    struct grad_call call = {
        ELEMENTWISE_ADD, &shape, &place, src, NULL, NULL, axis};
    return cells_of(&call, formula, GRAD_DY, dst, added);
}

/* ---------------------------------------------------------------------
 * Verdict
 */

static double rounded(long double value, elementwise_dtype part)
{
    struct ref_value exact = ref_float(ELEMENTWISE_F64, (double)value, 0);
    return ref_convert(&exact, part).re;
}

static bool part_accepts(long double expected, long double error,
                         elementwise_dtype part, double got)
{
    if (isnan(expected))
        return isnan(got);
    if (isinf(expected))
        return got == (double)expected;
    return got >= rounded(expected - error, part) &&
           got <= rounded(expected + error, part);
}

/* f64: seven roundings of parts of the sum and one of it all. Else three of
   f32, of first and second order, and one of a double for each term. */
static long double sum_error(const struct grad_cell *cell,
                             elementwise_dtype compute)
{
    if (cell->terms < 2)
        return 0;
    if (is_f64(compute))
        return ldexpl(cell->magnitude, -50);
    return ldexpl(cell->magnitude, -24) * 3 + ldexpl(cell->magnitude, -46) +
           ldexpl(cell->magnitude, -52) * (long double)cell->terms;
}

bool grad_accepts(const struct grad_cell *cell, elementwise_dtype compute,
                  elementwise_dtype type, const void *element)
{
    struct ref_value got = ref_load(type, element);
    long double error = cell->error + sum_error(cell, compute);
    if (ref_size(type) == 2) /* by way of f32 */
        error += ldexpl(cell->magnitude, -24);
    if (!ref_is_complex(type))
        return part_accepts(cell->re, error, type, got.re);
    elementwise_dtype part =
        type == ELEMENTWISE_C64 ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
    return part_accepts(cell->re, error, part, got.re) &&
           part_accepts(cell->im, error, part, got.im);
}
