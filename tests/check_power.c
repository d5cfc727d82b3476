/*
 * Raises real numbers to powers around the ends of their types and where they
 * are exact, and by one number as by many copies of it, and compares them with
 * C's, with products in long double and with each other. Roots of sums of
 * squares, hypot, are tried in all sizes.
 */
#include <math.h>
#include <string.h>

#include "kernel_calls.h"
#include "reference.h"

enum { POWERS = 32 }; /* two blocks */

static void raise_row(int level, elementwise_dtype type, int64_t n, void *base,
                      void *by, void *power)
{
    kernel_compute_row(level, ELEMENTWISE_POW, type, n, base, by, false, power);
}

/* Rows of equal powers of f32 and f64 about 2^exponent: no neighbour is so far
   beyond all numbers that the row would be computed more carefully. */
static void try_powers(int level, double base, double exponent)
{
    float x32[POWERS], y32[POWERS], got32[POWERS];
    double x64[POWERS], y64[POWERS], got64[POWERS];
    for (int i = 0; i < POWERS; i++) {
        x64[i] = x32[i] = (float)base;
        y64[i] = y32[i] = (float)(exponent / log2((float)base));
    }
    raise_row(level, ELEMENTWISE_F32, POWERS, x32, y32, got32);
    raise_row(level, ELEMENTWISE_F64, POWERS, x64, y64, got64);
    for (int i = 0; i < POWERS; i++) {
        double right = pow(x64[i], y64[i]);
        ck_assert(got32[i] == (float)right);
        ck_assert(got64[i] == right ||
                  fabs(got64[i] - right) <= fabs(right) * 0x1p-52 + 0x1p-1074);
    }
}

/* Normal numbers alone, of which some are negative. */
START_TEST(powers_of_negative_numbers_have_their_sign)
{
    enum { N = 100, BY_MANY = 8 };
    static const double by[BY_MANY] = {2, 3, -3, -4, 0.75, -2.5, 1023, 0};
    float x32[N], y32[N], got32[N];
    double x64[N], y64[N], got64[N];
    if (!support_level(_i))
        return;
    for (int i = 0; i < N; i++) {
        x64[i] = x32[i] = (i % 3 ? -1 : 1) * (1 + (float)i * 0x1p-20f);
        y64[i] = y32[i] = (float)by[i * 5 % BY_MANY];
    }
    raise_row(_i, ELEMENTWISE_F32, N, x32, y32, got32);
    raise_row(_i, ELEMENTWISE_F64, N, x64, y64, got64);
    for (int i = 0; i < N; i++) {
        double right = pow(x64[i], y64[i]);
        bool none = isnan(right);
        ck_assert(none ? isnan(got32[i])
                       : fabs(got32[i] - right) <= fabs(right) * 0x1p-23);
        ck_assert(none ? isnan(got64[i])
                       : fabs(got64[i] - right) <= fabs(right) * 0x1p-52);
    }
}
END_TEST

/* Numbers of any bits, or of f64 around one power of 2, some of them zeros. */
static void draw_bases(elementwise_dtype type, uint64_t base[])
{
    bool near = type == ELEMENTWISE_F64 && support_random(0, 1);
    int e = (int)support_random(-400, 1022);
    for (int i = 0; i < POWERS; i++) {
        double part = ldexp((double)support_random(1 << 29, 1 << 30), e - 30);
        base[i] = (uint64_t)support_random(INT64_MIN, INT64_MAX);
        if (near)
            memcpy(&base[i], &part, sizeof part);
        if (support_random(0, 9 * POWERS) == 0)
            base[i] = 0;
    }
}

/* One exponent for the first half and 5 for the other one. */
static void draw_exponents(elementwise_dtype type, double exponent,
                           char *exponents)
{
    for (int i = 0; i < POWERS; i++) {
        struct ref_value number =
            ref_float(ELEMENTWISE_F64, i < POWERS / 2 ? exponent : 5, 0);
        struct ref_value by = ref_convert(&number, type);
        ref_store(&by, exponents + i * (int64_t)ref_size(type));
    }
}

/* By all exponents of an array, by one for each row, and by the first. */
static void try_number(int level, elementwise_dtype type, double exponent)
{
    enum { ROW = POWERS / 2 };
    uint64_t base[POWERS], exponents[POWERS], many[POWERS], rows[POWERS],
        one[POWERS];
    const int64_t size = (int64_t)ref_size(type);
    const struct ew_stride dense = {ROW * size, size}, number = {ROW * size, 0},
                           still = {0, 0};
    ew_kernel *power = ew_table_kernel(level, ELEMENTWISE_POW, type, type);
    draw_bases(type, base);
    draw_exponents(type, exponent, (char *)exponents);
    power(1, POWERS, (void *[]){base, exponents, many},
          (struct ew_stride[]){dense, dense, dense});
    power(2, ROW, (void *[]){base, exponents, rows},
          (struct ew_stride[]){dense, number, dense});
    power(1, POWERS, (void *[]){base, exponents, one},
          (struct ew_stride[]){dense, still, dense});
    for (int64_t i = 0; i < 2 * POWERS - ROW; i++) {
        int64_t at = i < POWERS ? i : i - POWERS;
        const char *a = (char *)many + at * size;
        const char *b = (char *)(i < POWERS ? rows : one) + at * size;
        ck_assert_msg(
            memcmp(a, b, (size_t)size) == 0 ||
                (isnan(ref_load(type, a).re) && isnan(ref_load(type, b).re)),
            "%s to the %g at level %d", elementwise_dtype_name(type), exponent,
            level);
    }
}

START_TEST(powers_by_one_number_have_the_bits_of_powers_by_many)
{
    static const double by[] = {2, 3, 0, 1, 4, 7, 0.5, -1, -0.5, -2, 1.5};
    for (elementwise_dtype type = ELEMENTWISE_I8; type <= ELEMENTWISE_F64;
         type++)
        for (int k = 0; support_level(_i) && k < 11; k++)
            for (int n = 0; n < 50 && (k < 6 || !ref_is_integer(type)); n++)
                try_number(_i, type, by[k]);
}
END_TEST

/* In long double, which has eleven digits more on x86, within the bound of
   subnormal ones. */
START_TEST(cubes_of_f64_are_right_whatever_the_size)
{
    double base[POWERS], by = 3, got[POWERS];
    for (int e = -361; support_level(_i) && e < 1023; e++) {
        for (int i = 0; i < POWERS; i++)
            base[i] =
                ldexp((double)support_random(1, (int64_t)1 << 53), e - 52);
        kernel_compute_row(_i, ELEMENTWISE_POW, ELEMENTWISE_F64, POWERS, base,
                           &by, true, got);
        for (int i = 0; i < POWERS; i++) {
            long double right = (long double)base[i] * base[i] * base[i];
            int last = right > 0x1p-1022L ? ilogbl(right) - 52 : -1074;
            ck_assert(isinf((double)right)
                          ? got[i] == INFINITY
                          : fabsl(got[i] - right) <= ldexpl(0.75L, last));
        }
    }
}
END_TEST

START_TEST(powers_around_the_ends_of_f64_are_right)
{
    static const double bases[] = {65, 10, 2, 1.001, 5, 1.5, 0.3, 1e-30, 3e38};
    for (int k = 0; support_level(_i) && k < 9; k++)
        for (double e = 500; e < 1100; e += 0.125) {
            try_powers(_i, bases[k], e);
            try_powers(_i, bases[k], -e);
        }
}
END_TEST

/* Powers that f64 holds: any number as it is, squares of short ones, of which
   some are subnormal, and inverses of powers of 2, by exponents in an array. */
static void draw_exact_power(double *base, double *by, double *power)
{
    int e = (int)support_random(-1074, 1023);
    int half = (int)support_random(-537, 480);
    double few = (double)support_random(1, 1 << 26);
    double many = (double)support_random(1, (int64_t)1 << 53);
    switch (support_random(0, 2)) {
    case 0:
        *by = 1;
        *power = *base = ldexp(many, e < -1022 ? -1074 : e - 53);
        break;
    case 1:
        *by = 2;
        *base = ldexp(few, half);
        *power = *base * *base;
        break;
    default:
        *by = -1;
        *base = ldexp(1, e);
        *power = 1 / *base;
    }
}

START_TEST(powers_that_f64_holds_are_exact)
{
    double base[POWERS], by[POWERS], got[POWERS], power[POWERS];
    for (int n = 0; support_level(_i) && n < 5000; n++) {
        for (int i = 0; i < POWERS; i++)
            draw_exact_power(&base[i], &by[i], &power[i]);
        base[0] = power[0] = 0x0.fffffffffffffp-1022;
        by[0] = 1;
        raise_row(_i, ELEMENTWISE_F64, POWERS, base, by, got);
        for (int i = 0; i < POWERS; i++)
            ck_assert(got[i] == power[i]);
    }
}

/* Between numbers of a usual size some of 2^exponent and less, for which
   squares have to be scaled, or need not be. */
static void try_hypot(int level, int exponent)
{
    enum { N = 64 };
    double a[N], b[N], got[N];
    for (int i = 0; i < N; i++) {
        int e = i % 3 == exponent % 3 ? 0 : exponent;
        a[i] = ldexp((double)support_random(1 << 20, 1 << 21), e - 21);
        b[i] = ldexp((double)support_random(1 << 20, 1 << 21), e - 21 - i % 4);
    }
    kernel_compute_row(level, ELEMENTWISE_HYPOT, ELEMENTWISE_F64, N, a, b,
                       false, got);
    for (int i = 0; i < N; i++) {
        double right = (double)hypotl(a[i], b[i]);
        ck_assert(fabs(got[i] - right) <= right * 0x1p-52 + 0x1p-1074);
    }
}

START_TEST(hypot_is_right_whatever_the_size)
{
    for (int e = -1060; support_level(_i) && e < 1023; e++)
        try_hypot(_i, e);
}
END_TEST

int main(void)
{
    TCase *powers = support_case("powers");
    tcase_add_loop_test(powers, powers_of_negative_numbers_have_their_sign, 0,
                        EW_LEVELS);
    tcase_add_loop_test(powers,
                        powers_by_one_number_have_the_bits_of_powers_by_many, 0,
                        EW_LEVELS);
    tcase_add_loop_test(powers, cubes_of_f64_are_right_whatever_the_size, 0,
                        EW_LEVELS);
    tcase_add_loop_test(powers, powers_around_the_ends_of_f64_are_right, 0,
                        EW_LEVELS);
    tcase_add_loop_test(powers, powers_that_f64_holds_are_exact, 0, EW_LEVELS);
    tcase_add_loop_test(powers, hypot_is_right_whatever_the_size, 0, EW_LEVELS);
    TCase *const cases[] = {powers, NULL};
    return support_run("power", cases);
}
