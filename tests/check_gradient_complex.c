/*
 * Turns rows of complex numbers into derivatives of each operation that has
 * kernels for them, and compares every element with the formula of
 * doc/operations.md in double, and with the kernel called for it alone.
 */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "complex_parts.h"
#include "reference.h"
#include "support.h"
#include "table.h"

/* Most rows and columns of all tests, and elements between rows. */
enum { ROWS = 5, COLS = 300, GAP = 5 };

static char area[EW_D_OPERANDS][ROWS * (COLS + GAP) * 16];

/* Numbers of all sizes that have squares, some of them special. */
static void fill_derived(elementwise_dtype type, char *to, int64_t n)
{
    char specials[SUPPORT_SPECIALS * 16];
    const size_t size = ref_size(type);
    const int count = support_specials(type, specials);
    const int most = type == ELEMENTWISE_C64 ? 100 : 250;
    for (int64_t i = 0; i < n; i++) {
        double part[2];
        for (int k = 0; k < 2; k++)
            part[k] = ldexp((double)(int64_t)support_bits() * 0x1p-63,
                            (int)support_random(-3, 3));
        int e = support_random(0, 9) ? 0 : (int)support_random(-most, most);
        parts_store(type,
                    (struct ew_c128){ldexp(part[0], e), ldexp(part[1], e)},
                    to + (size_t)i * size);
        if (support_random(0, 15) == 0)
            memcpy(to + (size_t)i * size,
                   specials + (size_t)support_random(0, count - 1) * size,
                   size);
    }
}

/* Rows of numbers in the area; which of x and y stands still along them, or
   neither. */
static void lay_out(elementwise_dtype type, int64_t rows, int64_t cols,
                    int stands, void *data[], struct ew_stride s[])
{
    const int64_t size = (int64_t)ref_size(type);
    for (int k = 0; k < EW_D_OPERANDS; k++) {
        fill_derived(type, area[k], rows * (cols + GAP));
        data[k] = area[k];
        s[k].row = (cols + GAP) * size;
        s[k].col = k == stands ? 0 : size;
    }
}

/* ---------------------------------------------------------------------
 * Derivatives of differences, products and quotients
 */

enum { D_ROWS = 3, D_COLS = 40, D_CASES = 5 };

static const struct derivative_case {
    elementwise_op op;
    int which;
} derivative_cases[D_CASES] = {{ELEMENTWISE_SUB, EW_D_DY},
                               {ELEMENTWISE_MUL, EW_D_DX},
                               {ELEMENTWISE_MUL, EW_D_DY},
                               {ELEMENTWISE_DIV, EW_D_DX},
                               {ELEMENTWISE_DIV, EW_D_DY}};

static struct ew_c128 conjugated(struct ew_c128 a)
{
    return (struct ew_c128){a.re, -a.im};
}

static struct ew_c128 multiplied(struct ew_c128 a, struct ew_c128 b)
{
    return (struct ew_c128){a.re * b.re - a.im * b.im,
                            a.re * b.im + a.im * b.re};
}

/* Smith's method. */
static struct ew_c128 by_smith(struct ew_c128 a, struct ew_c128 b)
{
    bool straight = fabs(b.re) >= fabs(b.im);
    double ratio = straight ? b.im / b.re : b.re / b.im;
    double whole = straight ? b.re + b.im * ratio : b.im + b.re * ratio;
    if (straight)
        return (struct ew_c128){(a.re + a.im * ratio) / whole,
                                (a.im - a.re * ratio) / whole};
    return (struct ew_c128){(a.re * ratio + a.im) / whole,
                            (a.im * ratio - a.re) / whole};
}

/* The formula of doc/operations.md. */
static struct ew_c128 derived(const struct derivative_case *d,
                              struct ew_c128 of_x, struct ew_c128 of_y,
                              struct ew_c128 g)
{
    bool to_y = d->which == EW_D_DY;
    struct ew_c128 slope = {1, 0};
    if (d->op == ELEMENTWISE_MUL)
        return multiplied(g, conjugated(to_y ? of_x : of_y));
    if (d->op == ELEMENTWISE_DIV && !to_y)
        return by_smith(g, conjugated(of_y));
    if (d->op == ELEMENTWISE_DIV)
        slope = by_smith(by_smith(of_x, of_y), of_y);
    if (d->op == ELEMENTWISE_DIV)
        g = multiplied(g, conjugated(slope));
    return (struct ew_c128){-g.re, -g.im};
}

/* A part of a quotient of c64, which may be made in another way in double. */
static bool is_near(double want, double got, double size)
{
    if (!isfinite((float)want) || !isfinite(got))
        return isnan(want) ? isnan(got) : (float)want == (float)got;
    return fabs(got - want) <= fabs(want) * 0x1p-23 + size * 0x1p-46 + 0x1p-149;
}

/* One element against the formula, and against the baseline's own kernel. */
static void verify_derivative(const struct derivative_case *d,
                              elementwise_dtype type, void *const at[])
{
    static const struct ew_stride none[EW_D_OPERANDS];
    char alone[16], rounded[16];
    void *data[EW_D_OPERANDS];
    struct ew_c128 want =
        derived(d, parts_load(type, at[EW_X]), parts_load(type, at[EW_Y]),
                parts_load(type, at[EW_OUT]));
    struct ew_c128 got = parts_load(type, at[EW_D]);
    bool free = type == ELEMENTWISE_C64 && d->op == ELEMENTWISE_DIV;
    double size = hypot(want.re, want.im);
    memcpy(data, at, sizeof data);
    data[EW_D] = alone;
    ew_table_derivative(EW_LEVEL_BASE, type, (int)d->op, d->which)(1, 1, data,
                                                                   none);
    parts_store(type, want, rounded);
    bool right =
        free ? is_near(want.re, got.re, size) && is_near(want.im, got.im, size)
             : ref_same(type, rounded, at[EW_D]);
    ck_assert_msg(right && ref_same(type, alone, at[EW_D]),
                  "%s of %s: %a %+ai, expected %a %+ai",
                  elementwise_op_name(d->op), elementwise_dtype_name(type),
                  got.re, got.im, want.re, want.im);
}

static void try_derivative(int level, const struct derivative_case *d,
                           elementwise_dtype type, int64_t cols, int stands)
{
    const int64_t size = (int64_t)ref_size(type), row = (cols + GAP) * size;
    struct ew_stride s[EW_D_OPERANDS];
    void *data[EW_D_OPERANDS], *at[EW_D_OPERANDS];
    char before[D_ROWS * (D_COLS + GAP) * 16];
    lay_out(type, D_ROWS, cols, stands, data, s);
    memcpy(before, area[EW_D], sizeof before);
    ew_table_derivative(level, type, (int)d->op, d->which)(D_ROWS, cols, data,
                                                           s);
    for (int64_t r = 0; r < D_ROWS; r++) {
        for (int64_t c = 0; c < cols; c++) {
            for (int k = 0; k < EW_D_OPERANDS; k++)
                at[k] = area[k] + r * row + c * s[k].col;
            verify_derivative(d, type, at);
        }
        ck_assert_mem_eq(area[EW_D] + r * row + cols * size,
                         before + r * row + cols * size, GAP * size);
    }
}

START_TEST(complex_derivatives_are_their_formulas_anywhere)
{
    const int level = _i / 2;
    const elementwise_dtype type = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    if (!support_level(level))
        return;
    for (int d = 0; d < D_CASES; d++)
        for (int64_t cols = 1; cols <= D_COLS; cols++)
            for (int stands = EW_X; stands <= EW_OUT; stands++)
                try_derivative(level, &derivative_cases[d], type, cols,
                               stands == EW_OUT ? -1 : stands);
}
END_TEST

/* ---------------------------------------------------------------------
 * Derivatives of complex powers
 */

static struct ew_c128 taken_apart(double complex z)
{
    struct ew_c128 a;
    memcpy(&a, &z, sizeof a);
    return a;
}

/* The formula of doc/operations.md in double, as it falls. */
static struct ew_c128 power_slope(bool to_y, struct ew_c128 a, struct ew_c128 b,
                                  struct ew_c128 g)
{
    const struct ew_c128 log = taken_apart(clog(parts_joined(a)));
    const struct ew_c128 by = {to_y ? b.re : b.re - 1, b.im};
    if (to_y ? parts_are_zero(a) && b.re >= 0 : parts_are_zero(b))
        return (struct ew_c128){0, 0};
    struct ew_c128 power = taken_apart(cexp(parts_joined(multiplied(by, log))));
    const double zero = by.re > 0 && by.im == by.im ? 0 : (double)NAN;
    if (parts_are_zero(a))
        power = (struct ew_c128){zero, zero};
    if (parts_are_zero(by))
        power = (struct ew_c128){1, 0};
    return multiplied(g, conjugated(multiplied(to_y ? log : b, power)));
}

/* The derivative of a power, in a type's own precision if the formula has a
   number for it and all before it, or if an operand is not finite or x is 0, as
   infinite or undefined. */
static void verify_power(bool to_y, elementwise_dtype type, void *const at[])
{
    const struct ew_c128 a = parts_load(type, at[EW_X]);
    const struct ew_c128 b = parts_load(type, at[EW_Y]);
    const struct ew_c128 g = parts_load(type, at[EW_OUT]);
    const struct ew_c128 got = parts_load(type, at[EW_D]);
    const struct ew_c128 want = power_slope(to_y, a, b, g);
    const bool narrow = type == ELEMENTWISE_C64;
    const double log = cabs(clog(parts_joined(a))),
                 size = (hypot(b.re, b.im) + 1) * log;
    const double most = hypot(want.re, want.im);
    const double off = (narrow ? 0x1p-23 : 0x1p-50 * (8 + size)) * most;
    bool right = true;
    if (size < 400 && most < (narrow ? 0x1p127 : 0x1p1000))
        right = hypot(got.re - want.re, got.im - want.im) <=
                off + (narrow ? 0x1p-149 : 0x1p-1050);
    else if (!isfinite(size) || !isfinite(g.re) || !isfinite(g.im))
        right = parts_same_kind(want.re, got.re) &&
                parts_same_kind(want.im, got.im);
    ck_assert_msg(right,
                  "%s of %s (%a, %a) to (%a, %a) by (%a, %a): (%a, %a), "
                  "expected (%a, %a)",
                  to_y ? "dy" : "dx", elementwise_dtype_name(type), a.re, a.im,
                  b.re, b.im, g.re, g.im, got.re, got.im, want.re, want.im);
}

/* Rows against their elements alone. */
static void try_power_slopes(int level, int which, elementwise_dtype type,
                             int64_t cols, int stands)
{
    static const struct ew_stride none[EW_D_OPERANDS];
    struct ew_stride s[EW_D_OPERANDS];
    void *data[EW_D_OPERANDS];
    lay_out(type, ROWS, cols, stands, data, s);
    ew_table_derivative(level, type, ELEMENTWISE_POW, which)(ROWS, cols, data,
                                                             s);
    for (int64_t i = 0; i < ROWS * cols; i++) {
        void *at[EW_D_OPERANDS];
        char alone[16];
        for (int k = 0; k < EW_D_OPERANDS; k++)
            at[k] = area[k] + i / cols * s[k].row + i % cols * s[k].col;
        memcpy(data, at, sizeof data);
        data[EW_D] = alone;
        ew_table_derivative(level, type, ELEMENTWISE_POW, which)(1, 1, data,
                                                                 none);
        ck_assert(ref_same(type, alone, at[EW_D]));
        verify_power(which == EW_D_DY, type, at);
    }
}

START_TEST(complex_powers_have_the_same_slopes_anywhere)
{
    static const int64_t cols[] = {1, 5, 16, 63, 64, 70, 300};
    const int level = _i / 4;
    const elementwise_dtype type =
        _i / 2 % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    if (!support_level(level))
        return;
    for (int c = 0; c < 7; c++)
        for (int stands = EW_X; stands <= EW_OUT; stands++)
            try_power_slopes(level, _i % 2 ? EW_D_DY : EW_D_DX, type, cols[c],
                             stands == EW_OUT ? -1 : stands);
}
END_TEST

int main(void)
{
    TCase *derivatives = support_case("derivatives");
    tcase_add_loop_test(derivatives,
                        complex_derivatives_are_their_formulas_anywhere, 0,
                        2 * EW_LEVELS);
    tcase_add_loop_test(derivatives,
                        complex_powers_have_the_same_slopes_anywhere, 0,
                        4 * EW_LEVELS);
    TCase *const cases[] = {derivatives, NULL};
    return support_run("gradient_complex", cases);
}
