/*
 * Measures the errors of sigmoid, tanh, gelu and silu on f32 and f64 against
 * MPFR and compares each with its bound: kernels of this processor's level,
 * or of ELEMENTWISE_CPU's. Prints a table; fails if an error is larger than
 * its bound. The argument is the number of values of each kind, 100000 if
 * there is none.
 */
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elementwise.h"
#include "random.h"

enum { BLOCK = 1000, KINDS = 5, DIGITS = 200 };

struct subject {
    elementwise_act act;
    double bound[2]; /* of f32 and of f64, in ULP */
};

static const struct subject subjects[] = {{ELEMENTWISE_ACT_SIGMOID, {1.75, 2}},
                                          {ELEMENTWISE_ACT_TANH, {2, 2}},
                                          {ELEMENTWISE_ACT_GELU, {2, 9}},
                                          {ELEMENTWISE_ACT_SILU, {2, 2}}};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const elementwise_dtype types[2] = {ELEMENTWISE_F32, ELEMENTWISE_F64};

/* The kinds: where functions bend, out to where results underflow, small values
   of all exponents, and those just below powers of 2, whose results have large
   errors for their last place. */
static double draw(int kind)
{
    static const double reach[] = {8, 120, 800};
    double sign = random_bits() & 1 ? 1 : -1, u = random_unit();
    if (kind < 3)
        return sign * u * reach[kind];
    if (kind == 3)
        return sign * ldexp(0.5 + u / 2, -(int)(random_bits() % 1100));
    return sign * ldexp(1 - u / 16, -(int)(random_bits() % 40));
}

static void set_exact(mpfr_t to, elementwise_act act, double x)
{
    mpfr_t t;
    mpfr_init2(t, DIGITS);
    mpfr_set_d(to, x, MPFR_RNDN);
    switch (act) {
    case ELEMENTWISE_ACT_TANH:
        mpfr_tanh(to, to, MPFR_RNDN);
        break;
    case ELEMENTWISE_ACT_GELU: /* x erfc(-x / sqrt 2) / 2 */
        mpfr_sqrt_ui(t, 2, MPFR_RNDN);
        mpfr_div(to, to, t, MPFR_RNDN);
        mpfr_neg(to, to, MPFR_RNDN);
        mpfr_erfc(to, to, MPFR_RNDN);
        mpfr_mul_d(to, to, x, MPFR_RNDN);
        mpfr_div_ui(to, to, 2, MPFR_RNDN);
        break;
    default: /* sigmoid and silu: 1 or x, over 1 + e^-x */
        mpfr_neg(to, to, MPFR_RNDN);
        mpfr_exp(to, to, MPFR_RNDN);
        mpfr_add_ui(to, to, 1, MPFR_RNDN);
        mpfr_d_div(to, act == ELEMENTWISE_ACT_SILU ? x : 1, to, MPFR_RNDN);
    }
    mpfr_clear(t);
}

/* |got - exact| in units of the last place that exact has in the type. */
static double error_of(int type, elementwise_act act, double x, double got)
{
    static const int digits[] = {24, 53}, least[] = {-149, -1074};
    mpfr_t exact;
    double error;
    mpfr_init2(exact, DIGITS);
    set_exact(exact, act, x);
    if (mpfr_zero_p(exact)) {
        mpfr_clear(exact);
        return got == 0 ? 0 : INFINITY;
    }
    long unit = (long)mpfr_get_exp(exact) - digits[type];
    unit = unit < least[type] ? least[type] : unit;
    mpfr_sub_d(exact, exact, got, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -unit, MPFR_RNDN);
    error = fabs(mpfr_get_d(exact, MPFR_RNDN));
    mpfr_clear(exact);
    return error;
}

/* act(x), which is x + -0 through the library. */
static void compute(int type, elementwise_act act, const double *x, double *got)
{
    float narrow[BLOCK], zero_narrow = -0.0f;
    double zero = -0.0;
    int64_t n = BLOCK;
    void *data = type ? (void *)got : narrow;
    elementwise_tensor a = {data, types[type], 1, &n, NULL};
    elementwise_tensor z = {type ? (void *)&zero : &zero_narrow, types[type], 0,
                            NULL, NULL};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.act = act;
    for (int i = 0; i < BLOCK; i++) {
        got[i] = x[i];
        narrow[i] = (float)x[i];
    }
    if (elementwise_apply(ELEMENTWISE_ADD, &a, &z, -1, &a, &options)) {
        puts(elementwise_last_error());
        exit(2);
    }
    for (int i = 0; i < BLOCK && !type; i++)
        got[i] = narrow[i];
}

static int measure(const struct subject *s, int type, long blocks)
{
    double x[BLOCK], got[BLOCK], worst = 0, at = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (long b = 0; b < blocks; b++) {
            for (int i = 0; i < BLOCK; i++)
                x[i] = type ? draw(kind) : (double)(float)draw(kind);
            compute(type, s->act, x, got);
            for (int i = 0; i < BLOCK; i++) {
                double error = error_of(type, s->act, x[i], got[i]);
                if (!(error <= worst)) {
                    worst = error;
                    at = x[i];
                }
            }
        }
    bool good = worst <= s->bound[type];
    printf("%-6s %-11s %-3s %7.4f %5.2f  %s %a\n", elementwise_cpu_level(),
           elementwise_act_name(s->act), elementwise_dtype_name(types[type]),
           worst, s->bound[type], good ? "ok" : "TOO LARGE", at);
    return !good;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100000,
         blocks = (n + BLOCK - 1) / BLOCK;
    int failed = 0;
    mpfr_set_emin(mpfr_get_emin_min());
    printf("%ld values of each of %d kinds\n\n", blocks * BLOCK, KINDS);
    printf("%-6s %-11s %-3s %7s %5s  worst\n", "level", "", "", "ULP", "bound");
    for (int i = 0; i < SUBJECTS; i++)
        for (int type = 0; type < 2; type++)
            failed |= measure(&subjects[i], type, blocks);
    return failed;
}
