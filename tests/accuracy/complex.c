/*
 * Measures the errors of div and pow on c64 and c128 and of the gradients of
 * pow on c64 against MPFR, on every level this processor has, in ULP of the
 * magnitude of the result; those of the quotients of c64 in ULP of each part.
 * Prints a table of the worst and fails if one is larger than its bound. The
 * argument is the number of random pairs of operands of each kind.
 */
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "random.h"
#include "table.h"

enum { BLOCK = 1000, KINDS = 6, DIGITS = 300 };
enum { FORWARD = -1 };

struct number {
    double re, im;
};

struct subject {
    elementwise_op op;
    int which; /* FORWARD, or the derivative to one of the operands */
    elementwise_dtype dtype;
    bool parts; /* each part by its own ULP */
    bool whole; /* y is a small whole number */
    double bound;
};

/* Of pow on c128 the bound is 1 + |y log x| / 1000, and kinds keep that below
   1.1. */
static const struct subject subjects[] = {
    {ELEMENTWISE_DIV, FORWARD, ELEMENTWISE_C64, true, false, 0.501},
    {ELEMENTWISE_DIV, FORWARD, ELEMENTWISE_C128, false, false, 4},
    {ELEMENTWISE_POW, FORWARD, ELEMENTWISE_C64, false, false, 0.75},
    {ELEMENTWISE_POW, FORWARD, ELEMENTWISE_C128, false, false, 1.1},
    {ELEMENTWISE_POW, FORWARD, ELEMENTWISE_C64, false, true, 0.71},
    {ELEMENTWISE_POW, FORWARD, ELEMENTWISE_C128, false, true, 0.71},
    {ELEMENTWISE_POW, EW_D_DX, ELEMENTWISE_C64, false, false, 0.75},
    {ELEMENTWISE_POW, EW_D_DY, ELEMENTWISE_C64, false, false, 0.75},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* From -1 to 1. */
static double random_sign(void)
{
    return 2 * random_unit() - 1;
}

/* One of both parts may be much smaller than the other, or 0. */
static struct number draw_near(double reach)
{
    struct number z = {random_sign() * reach, random_sign() * reach};
    if (random_bits() % 4 == 0)
        z.im = ldexp(z.im, -(int)(random_bits() % 40));
    if (random_bits() % 8 == 0)
        z.re = random_bits() % 2 ? 0 : ldexp(z.re, -20);
    return z;
}

static struct number on_circle(double off)
{
    double angle = random_sign() * 3.2, size = 1 + random_sign() * off;
    return (struct number){size * cos(angle), size * sin(angle)};
}

/* x near 1, or of any exponent, and a y that makes |y log x| up to 80. */
static void draw_balanced(bool wide, bool near, struct number *x,
                          struct number *y)
{
    int digits = wide ? 53 : 24, most = wide ? 380 : 120;
    int e = (int)(random_bits() % (uint64_t)(near ? digits : 2 * most));
    *x = draw_near(ldexp(1, near ? -e : e - most));
    x->re += near;
    if (!wide)
        *x = (struct number){(float)x->re, (float)x->im};
    double log = hypot(log1p(hypot(x->re, x->im) - 1), atan2(x->im, x->re));
    *y = draw_near(log > 0 && log < INFINITY ? 56 / log : 1);
}

/* The kinds: common numbers, x near the circle of radius 1, x near 1 with large
   y, all sizes, and two with y by the size of log x. Where y is whole, it is up
   to 4 in some kinds and up to 127 in others. */
static void draw(const struct subject *s, int kind, struct number *x,
                 struct number *y)
{
    bool wide = s->dtype == ELEMENTWISE_C128, div = s->op == ELEMENTWISE_DIV;
    *x = draw_near(10);
    *y = draw_near(div ? 10 : 6);
    if (kind == 1)
        *x = on_circle(0x1p-12);
    if (kind == 2) {
        *x = draw_near(0x1p-6);
        x->re += 1;
        *y = draw_near(wide ? 500 : 1e7);
    }
    if (kind == 3) {
        int most = div ? 60 : 12;
        *x = draw_near(ldexp(1, (int)(random_bits() % (uint64_t)most) - 6));
        *y = draw_near(ldexp(1, -(int)(random_bits() % (uint64_t)most)));
    }
    if (kind > 3 && !div)
        draw_balanced(wide, kind == 4, x, y);
    if (s->whole)
        *y = (struct number){(double)(random_bits() % (kind % 2 ? 128 : 5)), 0};
    if (wide)
        return;
    *x = (struct number){(float)x->re, (float)x->im};
    *y = (struct number){(float)y->re, (float)y->im};
}

/* re + i im = (a + i b) / (c + i d) */
static void divide(mpfr_t re, mpfr_t im, struct number x, struct number y)
{
    mpfr_t a, b, c, d;
    mpfr_inits2(DIGITS, a, b, c, d, (mpfr_ptr)NULL);
    mpfr_set_d(a, x.re, MPFR_RNDN);
    mpfr_set_d(b, x.im, MPFR_RNDN);
    mpfr_set_d(c, y.re, MPFR_RNDN);
    mpfr_set_d(d, y.im, MPFR_RNDN);
    mpfr_fmma(re, a, c, b, d, MPFR_RNDN);
    mpfr_fmms(im, b, c, a, d, MPFR_RNDN);
    mpfr_fmma(c, c, c, d, d, MPFR_RNDN);
    mpfr_div(re, re, c, MPFR_RNDN);
    mpfr_div(im, im, c, MPFR_RNDN);
    mpfr_clears(a, b, c, d, (mpfr_ptr)NULL);
}

/* log + i angle = log x */
static void logarithm(mpfr_t log, mpfr_t angle, struct number x)
{
    mpfr_t c, d;
    mpfr_inits2(DIGITS, c, d, (mpfr_ptr)NULL);
    mpfr_set_d(c, x.re, MPFR_RNDN);
    mpfr_set_d(d, x.im, MPFR_RNDN);
    mpfr_hypot(log, c, d, MPFR_RNDN);
    mpfr_log(log, log, MPFR_RNDN);
    mpfr_atan2(angle, d, c, MPFR_RNDN);
    mpfr_clears(c, d, (mpfr_ptr)NULL);
}

/* re + i im = exp(y log x); *size = |y log x| */
static void raise_to(mpfr_t re, mpfr_t im, struct number x, struct number y,
                     double *size)
{
    mpfr_t log, angle, c, d;
    mpfr_inits2(DIGITS, log, angle, c, d, (mpfr_ptr)NULL);
    logarithm(log, angle, x);
    mpfr_set_d(c, y.re, MPFR_RNDN);
    mpfr_set_d(d, y.im, MPFR_RNDN);
    mpfr_fmms(re, log, c, angle, d, MPFR_RNDN);
    mpfr_fmma(im, log, d, angle, c, MPFR_RNDN);
    *size = hypot(mpfr_get_d(re, MPFR_RNDN), mpfr_get_d(im, MPFR_RNDN));
    mpfr_exp(log, re, MPFR_RNDN);
    mpfr_sin_cos(d, c, im, MPFR_RNDN);
    mpfr_mul(re, log, c, MPFR_RNDN);
    mpfr_mul(im, log, d, MPFR_RNDN);
    mpfr_clears(log, angle, c, d, (mpfr_ptr)NULL);
}

/* re + i im times c + i d */
static void multiply(mpfr_t re, mpfr_t im, mpfr_t c, mpfr_t d)
{
    mpfr_t old;
    mpfr_init2(old, DIGITS);
    mpfr_set(old, re, MPFR_RNDN);
    mpfr_fmms(re, old, c, im, d, MPFR_RNDN);
    mpfr_fmma(im, old, d, im, c, MPFR_RNDN);
    mpfr_clear(old);
}

/* The conjugate of y x^(y-1) or of log(x) x^y. */
static void differentiate(mpfr_t re, mpfr_t im, const struct subject *s,
                          struct number x, struct number y, double *size)
{
    mpfr_t c, d;
    mpfr_inits2(DIGITS, c, d, (mpfr_ptr)NULL);
    if (s->which == EW_D_DX) {
        mpfr_set_d(c, y.re, MPFR_RNDN);
        mpfr_set_d(d, y.im, MPFR_RNDN);
        y.re -= 1;
    } else {
        logarithm(c, d, x);
    }
    raise_to(re, im, x, y, size);
    multiply(re, im, c, d);
    mpfr_neg(im, im, MPFR_RNDN);
    mpfr_clears(c, d, (mpfr_ptr)NULL);
}

/* |got - exact| in ULP of `of`; 0 where that has no normal ULP. */
static double part_error(const struct subject *s, mpfr_t exact, double got,
                         mpfr_t of)
{
    bool wide = s->dtype == ELEMENTWISE_C128;
    double size = fabs(mpfr_get_d(of, MPFR_RNDN)), error;
    mpfr_t off;
    if (!(size > (wide ? 0x1p-1000 : 0x1p-120)) ||
        !(size < (wide ? 0x1p1000 : 0x1p126)))
        return 0;
    mpfr_init2(off, DIGITS);
    mpfr_d_sub(off, got, exact, MPFR_RNDN);
    mpfr_mul_2si(off, off, (wide ? 53 : 24) - (long)mpfr_get_exp(of),
                 MPFR_RNDN);
    error = fabs(mpfr_get_d(off, MPFR_RNDN));
    mpfr_clear(off);
    return isnan(error) ? INFINITY : error;
}

static double error(const struct subject *s, struct number x, struct number y,
                    struct number got)
{
    mpfr_t re, im, norm;
    double size = 0, a, b;
    mpfr_inits2(DIGITS, re, im, norm, (mpfr_ptr)NULL);
    if (s->op == ELEMENTWISE_DIV)
        divide(re, im, x, y);
    else if (s->which != FORWARD)
        differentiate(re, im, s, x, y, &size);
    else
        raise_to(re, im, x, y, &size);
    mpfr_hypot(norm, re, im, MPFR_RNDN);
    a = part_error(s, re, got.re, s->parts ? re : norm);
    b = part_error(s, im, got.im, s->parts ? im : norm);
    mpfr_clears(re, im, norm, (mpfr_ptr)NULL);
    if (size > (s->dtype == ELEMENTWISE_C128 ? 100 : 0x1p24))
        return 0;
    return s->parts ? fmax(a, b) : hypot(a, b);
}

static struct number read_element(elementwise_dtype dtype, const void *data,
                                  int i)
{
    const struct ew_c64 *narrow = data;
    const struct ew_c128 *wide = data;
    if (dtype == ELEMENTWISE_C128)
        return (struct number){wide[i].re, wide[i].im};
    return (struct number){narrow[i].re, narrow[i].im};
}

static void write_element(elementwise_dtype dtype, void *data, int i,
                          struct number z)
{
    if (dtype == ELEMENTWISE_C128)
        ((struct ew_c128 *)data)[i] = (struct ew_c128){z.re, z.im};
    else
        ((struct ew_c64 *)data)[i] = (struct ew_c64){(float)z.re, (float)z.im};
}

struct worst {
    double error;
    struct number x, y, got;
};

/* Results of n pairs, or gradients where that of the result is 1. */
static void run(const struct subject *s, int level, int n, void *x, void *y,
                void *out)
{
    static struct ew_c128 g[BLOCK];
    int64_t size = s->dtype == ELEMENTWISE_C64 ? 8 : 16;
    struct ew_stride strides[EW_D_OPERANDS];
    void *data[EW_D_OPERANDS] = {x, y, out, x, y, out};
    for (int k = 0; k < EW_D_OPERANDS; k++)
        strides[k] = (struct ew_stride){0, size};
    if (s->which == FORWARD) {
        ew_table_kernel(level, (int)s->op, s->dtype, s->dtype)(1, n, data,
                                                               strides);
        return;
    }
    for (int i = 0; i < n; i++)
        write_element(s->dtype, g, i, (struct number){1, 0});
    data[EW_OUT] = g;
    ew_table_derivative(level, s->dtype, (int)s->op, s->which)(1, n, data,
                                                               strides);
}

/* Runs the kernel on n pairs of one kind and keeps the worst. */
static void measure(const struct subject *s, int level, int kind, int n,
                    struct worst *worst)
{
    static struct ew_c128 x[BLOCK], y[BLOCK], out[BLOCK];
    for (int i = 0; i < n; i++) {
        struct number a, b;
        draw(s, kind, &a, &b);
        write_element(s->dtype, x, i, a);
        write_element(s->dtype, y, i, b);
    }
    run(s, level, n, x, y, out);
    for (int i = 0; i < n; i++) {
        struct number a = read_element(s->dtype, x, i);
        struct number b = read_element(s->dtype, y, i);
        struct number got = read_element(s->dtype, out, i);
        double e = (a.re == 0 && a.im == 0) || (b.re == 0 && b.im == 0)
                       ? 0
                       : error(s, a, b, got);
        if (e >= worst->error)
            *worst = (struct worst){e, a, b, got};
    }
}

/* One line of the table; true if the error is within its bound. */
static bool print_subject(const struct subject *s, int level, int pairs)
{
    static const char *const prefixes[] = {"", "dx ", "dy "};
    struct worst worst = {0, {0, 0}, {0, 0}, {0, 0}};
    for (int kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < pairs; n += BLOCK)
            measure(s, level, kind, pairs - n < BLOCK ? pairs - n : BLOCK,
                    &worst);
    bool good = worst.error <= s->bound;
    printf("%-6s %-3s%-3s %-4s %7.4f %6.3f  %s (%a,%a) (%a,%a): (%a,%a)\n",
           ew_cpu_name(level), s->whole ? "n  " : prefixes[1 + s->which],
           elementwise_op_name(s->op), elementwise_dtype_name(s->dtype),
           worst.error, s->bound, good ? "ok" : "TOO LARGE", worst.x.re,
           worst.x.im, worst.y.re, worst.y.im, worst.got.re, worst.got.im);
    return good;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 100000;
    bool good = true;
    printf("%d pairs of complex operands of each of %d kinds\n\n", pairs,
           KINDS);
    printf("%-6s %-11s %7s %6s  worst\n", "level", "", "ULP", "bound");
    for (int level = 0; level <= ew_cpu_level(); level++)
        for (int i = 0; i < SUBJECTS; i++)
            good &= print_subject(&subjects[i], level, pairs);
    return good ? 0 : 1;
}
