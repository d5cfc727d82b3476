/*
 * Measures the errors of those operations on f32 and f64 that are not rounded
 * correctly by definition, on every level this processor has, against MPFR.
 * Prints a table of the worst and fails if one is larger than its bound. The
 * argument is the number of random pairs of operands of each kind.
 */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "random.h"
#include "table.h"

enum { BLOCK = 1000, KINDS = 6, DIGITS = 200 };

/* One operation with the bound on its error in ULP, per type. */
struct subject {
    elementwise_op op;
    const char *name;
    double y; /* NAN, or the exponent of all elements */
    double bound[2];
    double by_tables; /* if not 0, that of f64 with AVX-512 */
};

static const struct subject subjects[] = {
    {ELEMENTWISE_POW, "pow", NAN, {0.51, 0.8}, 0.67},
    {ELEMENTWISE_POW, "pow by 2", 2, {0.5, 0.5}, 0},
    {ELEMENTWISE_POW, "pow by 3", 3, {0.51, 0.75}, 0},
    {ELEMENTWISE_POW, "pow by 0.5", 0.5, {0.5, 0.5}, 0},
    {ELEMENTWISE_POW, "pow by -1", -1, {0.5, 0.5}, 0},
    {ELEMENTWISE_POW, "pow by -0.5", -0.5, {0.51, 0.51}, 0},
    {ELEMENTWISE_POW, "pow by 1.7", 1.7, {0.51, 0.8}, 0.67},
    {ELEMENTWISE_ATAN2, "atan2", NAN, {0.8, 0.85}, 0},
    {ELEMENTWISE_HYPOT, "hypot", NAN, {0.51, 0.9}, 0},
    {ELEMENTWISE_LOGADDEXP, "logaddexp", NAN, {0.51, 0.9}, 0},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* A type's elements as doubles, which hold those of f32 too. */
struct type {
    elementwise_dtype dtype;
    int digits, least; /* exponent of the least subnormal number */
    double largest;
};

static const struct type types[2] = {
    {ELEMENTWISE_F32, 24, -149, 0x1.fffffep127},
    {ELEMENTWISE_F64, 53, -1074, 0x1.fffffffffffffp1023}};

struct worst {
    double error, x, y, got;
};

/* Any number of the type, all exponents alike. */
static double random_number(const struct type *t)
{
    uint64_t bits = random_bits();
    float narrow;
    double wide;
    if (t->dtype == ELEMENTWISE_F64) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    memcpy(&narrow, &bits, sizeof narrow);
    return narrow;
}

static double random_special(void)
{
    static const double special[] = {0,
                                     -0.0,
                                     1,
                                     -1,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     0.5,
                                     -0.5,
                                     2,
                                     -2,
                                     3,
                                     -3,
                                     2.5,
                                     0x1p-149,
                                     0x1p-1074,
                                     1e38,
                                     -1e38,
                                     1e308,
                                     -1e308,
                                     0x1p24 - 1,
                                     0x1p24,
                                     0x1p53 - 1,
                                     0x1p53,
                                     0x1p-126,
                                     0x1.fffffcp-127,
                                     0x1p-1022,
                                     0x0.fffffffffffffp-1022,
                                     0x1.fffffep127,
                                     0x1.fffffffffffffp1023,
                                     1 + 0x1p-23,
                                     1 - 0x1p-24};
    return special[random_bits() % (sizeof special / sizeof *special)];
}

/* The kinds of operands: common ones, all numbers, results near the ends of
   the range (half of them of x near 1), x near 1 or y, small integers, special
   values. */
static void draw(const struct type *t, int kind, double *x, double *y)
{
    double u = random_unit(), v = random_unit();
    if (kind == 0) {
        *x = ldexp(0.5 + u, (int)(random_bits() % 16) - 8);
        *y = (v - 0.5) * 20;
    } else if (kind == 1) {
        *x = random_number(t);
        *y = random_number(t);
    } else if (kind == 2) {
        *x = exp((u - 0.5) * (random_bits() % 2 ? 20 : 0.06));
        *y = (v < 0.5 ? -1 : 1) * (log(t->largest) + (v - 0.5) * 20) / log(*x);
    } else if (kind == 3) {
        *x = 1 + (u - 0.5) * 0.01;
        *y = v < 0.3 ? *x * (1 + v * 0x1p-20) : (v - 0.6) * 1000;
    } else if (kind == 4) {
        *x = (double)(int64_t)(random_bits() % 41) - 20;
        *y = (double)(int64_t)(random_bits() % 41) - 20;
    } else {
        *x = u < 0.7 ? random_special() : random_number(t);
        *y = v < 0.7 ? random_special() : random_number(t);
    }
    if (t->dtype == ELEMENTWISE_F32) {
        *x = (float)*x;
        *y = (float)*y;
    }
}

/* log(e^x + e^y) = x + log(1 + e^(y - x)), x >= y. */
static void logaddexp(mpfr_t r, double x, double y)
{
    mpfr_t high;
    mpfr_init2(high, DIGITS);
    mpfr_set_d(high, x > y ? x : y, MPFR_RNDN);
    mpfr_set_d(r, x > y ? y : x, MPFR_RNDN);
    mpfr_sub(r, r, high, MPFR_RNDN);
    if (x == y)
        mpfr_set_zero(r, 1);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_log1p(r, r, MPFR_RNDN);
    mpfr_add(r, r, high, MPFR_RNDN);
    if (isnan(x) || isnan(y))
        mpfr_set_nan(r);
    mpfr_clear(high);
}

/* The result to 200 bits; MPFR has C's special values. */
static void compute(mpfr_t r, elementwise_op op, double x, double y)
{
    mpfr_t a, b;
    mpfr_inits2(DIGITS, a, b, (mpfr_ptr)NULL);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    if (op == ELEMENTWISE_POW)
        mpfr_pow(r, a, b, MPFR_RNDN);
    else if (op == ELEMENTWISE_ATAN2)
        mpfr_atan2(r, a, b, MPFR_RNDN);
    else if (op == ELEMENTWISE_HYPOT)
        mpfr_hypot(r, a, b, MPFR_RNDN);
    else
        logaddexp(r, x, y);
    mpfr_clears(a, b, (mpfr_ptr)NULL);
}

/* The exponent of the last place of the largest of the result and, for
   logaddexp, the operands. */
static long last_place(const struct type *t, elementwise_op op, mpfr_t exact,
                       double x, double y)
{
    double largest = fmax(fabs(x), fabs(y));
    long place = t->least, e = 0;
    if (mpfr_regular_p(exact))
        e = mpfr_get_exp(exact) - t->digits;
    if (mpfr_regular_p(exact) && e > place)
        place = e;
    if (op == ELEMENTWISE_LOGADDEXP && largest > 0 && largest < INFINITY &&
        ilogb(largest) + 1 - t->digits > place)
        place = ilogb(largest) + 1 - t->digits;
    return place;
}

/* The nearest number to a result; one that overflowed stands for all beyond the
   largest. */
static void set_result(mpfr_t r, const struct type *t, mpfr_t exact, double got)
{
    if (!isinf(got)) {
        mpfr_set_d(r, got, MPFR_RNDN);
        return;
    }
    mpfr_set_ui_2exp(r, 1, ilogb(t->largest) + 1, MPFR_RNDN);
    mpfr_setsign(r, r, signbit(got), MPFR_RNDN);
    if (mpfr_cmpabs(exact, r) > 0 && mpfr_signbit(exact) == !!signbit(got))
        mpfr_set(r, exact, MPFR_RNDN);
}

/* A special value is right or infinitely wrong. */
static double special_error(mpfr_t exact, double got)
{
    double value = mpfr_get_d(exact, MPFR_RNDN);
    if (isnan(value) ? isnan(got)
                     : value == got && !signbit(value) == !signbit(got))
        return 0;
    return INFINITY;
}

/* The error of got in ULP. */
static double error(const struct type *t, elementwise_op op, double x, double y,
                    double got)
{
    mpfr_t exact, off;
    double ulp = INFINITY;
    mpfr_inits2(DIGITS, exact, off, (mpfr_ptr)NULL);
    compute(exact, op, x, y);
    if (!mpfr_regular_p(exact)) {
        ulp = special_error(exact, got);
    } else if (!isnan(got)) {
        set_result(off, t, exact, got);
        mpfr_sub(off, off, exact, MPFR_RNDN);
        mpfr_mul_2si(off, off, -last_place(t, op, exact, x, y), MPFR_RNDN);
        ulp = fabs(mpfr_get_d(off, MPFR_RNDN));
    }
    mpfr_clears(exact, off, (mpfr_ptr)NULL);
    return ulp;
}

static double read_element(const struct type *t, const void *data, int i)
{
    return t->dtype == ELEMENTWISE_F32 ? ((const float *)data)[i]
                                       : ((const double *)data)[i];
}

static void write_element(const struct type *t, void *data, int i, double value)
{
    if (t->dtype == ELEMENTWISE_F32)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

/* Runs the kernel on n pairs of one kind and keeps the worst. */
static void measure(const struct subject *s, const struct type *t, int level,
                    int kind, int n, struct worst *worst)
{
    static double x[BLOCK], y[BLOCK], out[BLOCK];
    int64_t size = t->dtype == ELEMENTWISE_F32 ? 4 : 8;
    struct ew_stride dense = {0, size}, still = {0, 0};
    struct ew_stride strides[] = {dense, isnan(s->y) ? dense : still, dense};
    void *data[] = {x, y, out};
    for (int i = 0; i < n; i++) {
        double a, b;
        draw(t, kind, &a, &b);
        write_element(t, x, i, a);
        write_element(t, y, i, isnan(s->y) ? b : s->y);
    }
    ew_table_kernel(level, (int)s->op, t->dtype, t->dtype)(1, n, data, strides);
    for (int i = 0; i < n; i++) {
        double a = read_element(t, x, i);
        double b = read_element(t, y, isnan(s->y) ? i : 0);
        double got = read_element(t, out, i);
        double e = error(t, s->op, a, b, got);
        if (e >= worst->error)
            *worst = (struct worst){e, a, b, got};
    }
}

/* One line of the table; true if the error is within its bound. */
static bool print_subject(const struct subject *s, int type, int level,
                          int pairs)
{
    struct worst worst = {0, 0, 0, 0};
    for (int kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < pairs; n += BLOCK)
            measure(s, &types[type], level, kind,
                    pairs - n < BLOCK ? pairs - n : BLOCK, &worst);
    bool tables = level >= EW_LEVEL_AVX512 && type == 1 && s->by_tables > 0;
    double bound = tables ? s->by_tables : s->bound[type];
    bool good = worst.error <= bound;
    printf("%-6s %-11s %-3s %7.4f %5.2f  %s %a %a: %a\n", ew_cpu_name(level),
           s->name, elementwise_dtype_name(types[type].dtype), worst.error,
           bound, good ? "ok" : "TOO LARGE", worst.x, worst.y, worst.got);
    return good;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 100000;
    bool good = true;
    printf("%d pairs of operands of each of %d kinds\n\n", pairs, KINDS);
    printf("%-6s %-11s %-3s %7s %5s  worst\n", "level", "", "", "ULP", "bound");
    for (int level = 0; level <= ew_cpu_level(); level++)
        for (int type = 0; type < 2; type++)
            for (int i = 0; i < SUBJECTS; i++)
                good &= print_subject(&subjects[i], type, level, pairs);
    return good ? 0 : 1;
}
