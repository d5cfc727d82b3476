/*
 * Raises complex numbers to powers around all ends of what is made in vectors,
 * and to whole ones, and compares them with exp(y log x) or with products in
 * long double; rows with the same rows elsewhere and with elements alone.
 */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "complex_parts.h"
#include "kernel_calls.h"
#include "reference.h"

/* ---------------------------------------------------------------------
 * Around the ends
 */

enum { ENDS = 10, BY = 12, END_POWERS = ENDS * ENDS * BY * BY };

/* exp(y log x) in long double. */
static struct ew_c128 long_power(struct ew_c128 a, struct ew_c128 b)
{
    long double base[2] = {a.re, a.im}, log[2], part[2];
    long double complex z;
    if (parts_are_zero(b))
        return (struct ew_c128){1, 0};
    if (parts_are_zero(a)) {
        double zero = b.re > 0 && b.im == b.im ? 0 : (double)NAN;
        return (struct ew_c128){zero, zero};
    }
    memcpy(&z, base, sizeof z);
    z = clogl(z);
    memcpy(log, &z, sizeof z);
    part[0] = log[0] * b.re - log[1] * b.im;
    part[1] = log[0] * b.im + log[1] * b.re;
    memcpy(&z, part, sizeof z);
    z = cexpl(z);
    memcpy(part, &z, sizeof z);
    return (struct ew_c128){(double)part[0], (double)part[1]};
}

/* An element against that. */
static void verify_end(struct ew_c128 a, struct ew_c128 b, struct ew_c128 want,
                       struct ew_c128 got)
{
    const double log = cabs(clog(parts_joined(a))),
                 size = hypot(b.re, b.im) * log;
    const double most = hypot(want.re, want.im);
    const double units = 1 + (isfinite(size) ? size / 1000 : 0);
    const double off = units * most * 0x1p-51 + 0x1p-1070;
    bool right = isfinite(want.re) && isfinite(want.im)
                     ? hypot(got.re - want.re, got.im - want.im) <= off
                     : parts_same_kind(want.re, got.re) &&
                           parts_same_kind(want.im, got.im);
    ck_assert_msg(right, "(%a, %a)^(%a, %a) is (%a, %a), not (%a, %a)", a.re,
                  a.im, b.re, b.im, got.re, got.im, want.re, want.im);
}

/* Around all ends of what is made in vectors. */
START_TEST(complex_powers_around_the_ends_are_right)
{
    static const double of[ENDS] = {0,        -0x1p-1074, 0x1p-1000, 0x1p-401,
                                    -0x1p-20, 1,          -1.5,      0x1p399,
                                    0x1p401,  -0x1p1000};
    static const double to[BY] = {0,   0x1p-1074, -0x1p-30, 1,
                                  2,   3,         -1.5,     17,
                                  127, 0x1p23,    -0x1p26,  0x1p1000};
    static struct ew_c128 a[END_POWERS], b[END_POWERS], got[END_POWERS];
    if (!support_level(_i))
        return;
    for (int i = 0; i < END_POWERS; i++) {
        int j = i / (ENDS * ENDS);
        a[i] = (struct ew_c128){of[i % ENDS], of[i / ENDS % ENDS]};
        b[i] = (struct ew_c128){to[j % BY], to[j / BY]};
    }
    kernel_compute_row(_i, ELEMENTWISE_POW, ELEMENTWISE_C128, END_POWERS, a, b,
                       false, got);
    for (int i = 0; i < END_POWERS; i++)
        verify_end(a[i], b[i], long_power(a[i], b[i]), got[i]);
}
END_TEST

/* ---------------------------------------------------------------------
 * Whole exponents
 */

enum { W_COLS = 600, W_STEP = 3, BY_WHOLE = 21 };

/* Dense operands, and others of the same elements some apart. */
static char whole_area[EW_OPERANDS][W_COLS * 16];
static char whole_apart[EW_OPERANDS][W_COLS * W_STEP * 16];

/* From -1 to 1. */
static double any_unit(void)
{
    return (double)support_random(-0x100000, 0x100000) * 0x1p-20;
}

/* An x whose power is in the type's range, if it is no special one, by an
   exponent that may be whole. */
static void draw_whole(elementwise_dtype type, struct ew_c128 by, int64_t i)
{
    const double most = type == ELEMENTWISE_C64 ? 126 : 1022;
    const double beyond = type == ELEMENTWISE_C64 ? 20 : 46;
    const size_t size = ref_size(type), at = (size_t)i * size;
    double power = any_unit() * (most + beyond);
    double scale = exp2(fmin(power, most) / fmax(by.re, 1));
    double angle = any_unit() * 3.2;
    struct ew_c128 a = {scale * cos(angle), scale * sin(angle)};
    if (support_random(0, 7) == 0)
        a = (struct ew_c128){support_random(0, 1) ? -scale : scale, 0};
    if (support_random(0, 9) == 0)
        a = (struct ew_c128){1, 0};
    parts_store(type, a, whole_area[EW_X] + at);
    parts_store(type, by, whole_area[EW_Y] + at);
    if (support_random(0, 49) == 0)
        support_value(type, whole_area[EW_X] + at);
}

/* A power by a whole number against products in long double. Those near the
   ends of f64 are exp(y log x). */
static void verify_whole(elementwise_dtype type, int64_t i)
{
    const size_t at = (size_t)i * ref_size(type);
    const bool narrow = type == ELEMENTWISE_C64;
    const struct ew_c128 a = parts_load(type, whole_area[EW_X] + at);
    const struct ew_c128 b = parts_load(type, whole_area[EW_Y] + at);
    const struct ew_c128 got = parts_load(type, whole_area[EW_OUT] + at);
    long double re = 1, im = 0;
    if (b.im != 0 || !(b.re >= 0 && b.re <= 127) || b.re != floor(b.re))
        return;
    for (int n = 0; n < (int)b.re; n++) {
        long double old = re;
        re = old * a.re - im * a.im;
        im = old * a.im + im * a.re;
    }
    const long double norm = hypotl(re, im);
    if (!(norm > 0) || !(norm < (narrow ? 0x1p127L : 0x1p1023L)))
        return;
    const int last = ilogbl(norm) - (narrow ? 23 : 52);
    const int least = narrow ? -149 : -1074;
    const long double unit = ldexpl(1, last > least ? last : least);
    const long double off = hypotl(got.re - re, got.im - im);
    const bool end = norm < 0x1p-1008L || norm > 0x1p989L;
    ck_assert_msg(off <= (end ? 1.75L : 0.75L) * unit +
                             8 * (b.re + 1) * LDBL_EPSILON * norm,
                  "%s (%a, %a)^%g is (%a, %a), not (%La, %La)",
                  elementwise_dtype_name(type), a.re, a.im, b.re, got.re,
                  got.im, re, im);
}

static void same_as_whole(elementwise_dtype type, int64_t cols, const char *got,
                          int64_t step, const char *what)
{
    const size_t size = ref_size(type);
    for (int64_t i = 0; i < cols; i++)
        ck_assert_msg(ref_same(type, got + (size_t)(i * step) * size,
                               whole_area[EW_OUT] + (size_t)i * size),
                      "%s: element %d of %d is another %s",
                      elementwise_dtype_name(type), (int)i, (int)cols, what);
}

/* The row again: some apart, in place of x and of y, and each element alone. */
static void repeat_whole(ew_kernel *power, elementwise_dtype type, int64_t cols)
{
    static char place[W_COLS * 16];
    const int64_t size = (int64_t)ref_size(type);
    const struct ew_stride apart = {0, size * W_STEP}, dense = {0, size};
    const struct ew_stride far[] = {apart, apart, apart};
    const struct ew_stride near[] = {dense, dense, dense};
    for (int64_t i = 0; i < cols; i++)
        for (int k = EW_X; k <= EW_Y; k++)
            memcpy(whole_apart[k] + i * size * W_STEP, whole_area[k] + i * size,
                   (size_t)size);
    power(1, cols,
          (void *[]){whole_apart[EW_X], whole_apart[EW_Y], whole_apart[EW_OUT]},
          far);
    same_as_whole(type, cols, whole_apart[EW_OUT], W_STEP, "apart");
    for (int k = EW_X; k <= EW_Y; k++) {
        void *data[] = {whole_area[EW_X], whole_area[EW_Y], place};
        memcpy(place, whole_area[k], (size_t)(cols * size));
        data[k] = place;
        power(1, cols, data, near);
        same_as_whole(type, cols, place, 1, "in place");
    }
    memset(place, 0, sizeof place);
    for (int64_t i = 0; i < cols; i++)
        power(1, 1,
              (void *[]){whole_area[EW_X] + i * size,
                         whole_area[EW_Y] + i * size, place + i * size},
              near);
    same_as_whole(type, cols, place, 1, "alone");
}

static void try_whole(int level, elementwise_dtype type, int64_t cols, int most)
{
    static const struct ew_c128 by[BY_WHOLE] = {
        {2, 0},   {3, 0},   {1, 0},        {0, 0},    {4, -0.0}, {7, 0},
        {10, 0},  {127, 0}, {128, 0},      {-1, 0},   {0.5, 0},  {2, 1},
        {63, 0},  {2.5, 0}, {100, 0},      {-0.0, 0}, {0, 2},    {NAN, 0},
        {2, NAN}, {64, 0},  {INFINITY, 0},
    };
    const struct ew_stride dense = {0, (int64_t)ref_size(type)};
    const struct ew_stride s[] = {dense, dense, dense};
    ew_kernel *power = ew_table_kernel(level, ELEMENTWISE_POW, type, type);
    int first = (int)support_random(0, BY_WHOLE - 1);
    for (int64_t i = 0; i < cols; i++)
        draw_whole(type, by[(first + support_random(0, most)) % BY_WHOLE], i);
    power(1, cols,
          (void *[]){whole_area[EW_X], whole_area[EW_Y], whole_area[EW_OUT]},
          s);
    for (int64_t i = 0; i < cols; i++)
        verify_whole(type, i);
    repeat_whole(power, type, cols);
}

/* Rows of one exponent, of two and of many. */
START_TEST(complex_powers_by_whole_numbers_are_products_anywhere)
{
    static const int64_t cols[] = {1, 3, 4, 16, 17, 70, 256, 600};
    const int rounds = support_long() ? 400 : 40;
    const elementwise_dtype type = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    if (!support_level(_i / 2))
        return;
    for (int round = 0; round < rounds; round++)
        for (int c = 0; c < 8; c++)
            try_whole(_i / 2, type, cols[c],
                      round % 3 == 2 ? BY_WHOLE - 1 : round % 3);
}
END_TEST

/* Products of what has few digits are exact, and zeros among them are +0. */
START_TEST(complex_powers_of_few_digits_are_exact)
{
    static const struct ew_c128 of[] = {{2, 1}, {-3, 0}, {-3, -0.0},  {3, -0.0},
                                        {0, 2}, {1, 1},  {-0.0, -0.0}};
    static const struct ew_c128 squares[] = {{3, 4},  {9, 0}, {9, 0}, {9, 0},
                                             {-4, 0}, {0, 2}, {0, 0}};
    static const struct ew_c128 cubes[] = {{2, 11}, {-27, 0}, {-27, 0}, {27, 0},
                                           {0, -8}, {-2, 2},  {0, 0}};
    static const struct ew_stride none[EW_OPERANDS];
    const elementwise_dtype type = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    if (!support_level(_i / 2))
        return;
    for (int i = 0; i < 14; i++) {
        char a[16], b[16], got[16], want[16];
        parts_store(type, of[i / 2], a);
        parts_store(type, (struct ew_c128){2 + i % 2, 0}, b);
        parts_store(type, i % 2 ? cubes[i / 2] : squares[i / 2], want);
        ew_table_kernel(_i / 2, ELEMENTWISE_POW, type,
                        type)(1, 1, (void *[]){a, b, got}, none);
        ck_assert_msg(memcmp(got, want, ref_size(type)) == 0, "(%g, %g)^%d",
                      of[i / 2].re, of[i / 2].im, 2 + i % 2);
    }
}
END_TEST

/* A number whose parts are as large has even powers with a part that is 0,
   though its products are rounded; the other part may overflow. */
START_TEST(complex_powers_on_the_diagonal_have_a_part_of_zero)
{
    static const double parts[] = {1.0 / 3, -1.4430954, 1e7, -3e9};
    const elementwise_dtype type = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    enum { COLS = 17 };
    const int64_t size = type == ELEMENTWISE_C128 ? 16 : 8;
    if (!support_level(_i / 2))
        return;
    for (int i = 0; i < 4 * 15 * 2; i++) {
        char a[16 * COLS], b[16], got[16 * COLS];
        const int by = 2 * (i / 8) + 2, cols = i / 4 % 2 ? COLS : 1;
        for (int k = 0; k < cols; k++)
            parts_store(type, (struct ew_c128){parts[i % 4], -parts[i % 4]},
                        a + k * size);
        parts_store(type, (struct ew_c128){by, 0}, b);
        kernel_compute_row(_i / 2, ELEMENTWISE_POW, type, cols, a, b, true,
                           got);
        for (int k = 0; k < cols; k++) {
            struct ew_c128 power = parts_load(type, got + k * size);
            double zero = by % 4 == 2 ? power.re : power.im;
            ck_assert_msg(zero == 0 && !signbit(zero), "(%g, %g)^%d: %g, %g",
                          parts[i % 4], -parts[i % 4], by, power.re, power.im);
        }
    }
}
END_TEST

int main(void)
{
    TCase *powers = support_case("powers");
    tcase_add_loop_test(powers,
                        complex_powers_by_whole_numbers_are_products_anywhere,
                        0, 2 * EW_LEVELS);
    tcase_add_loop_test(powers, complex_powers_of_few_digits_are_exact, 0,
                        2 * EW_LEVELS);
    tcase_add_loop_test(powers,
                        complex_powers_on_the_diagonal_have_a_part_of_zero, 0,
                        2 * EW_LEVELS);
    tcase_add_loop_test(powers, complex_powers_around_the_ends_are_right, 0,
                        EW_LEVELS);
    TCase *const cases[] = {powers, NULL};
    return support_run("complex_power", cases);
}
