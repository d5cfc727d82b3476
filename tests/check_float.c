/*
 * Divides floats where quotients may be made without a division - as near to a
 * midpoint of two numbers as can be, by one number, in rows of any length - and
 * compares them with C's. One row with relu around an operation is compared
 * with its elements in rows of one.
 */
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "kernel_calls.h"
#include "reference.h"

/* ---------------------------------------------------------------------
 * Quotients beside midpoints
 */

enum { QUOTIENTS = 256 };

/* x for which x / y is as near to a midpoint of two f64 as can be, y an odd
   number below 2^53: y times a number with one bit more is 1 away from x 2^k.
   x is 1 / 2^k, or -1 / 2^k, in the remainders by y. */
static uint64_t draw_midpoint(uint64_t by)
{
    uint64_t inverse = 1;
    for (int64_t k = support_random(53, 57); k > 0; k--)
        inverse = (inverse % 2 ? inverse + by : inverse) / 2;
    return support_random(0, 1) ? inverse : by - inverse;
}

/* An odd number of 53 digits, large in most cases, for which estimates of
   inverses are worst; `least` below the largest. */
static uint64_t draw_large(uint64_t least)
{
    int digits = support_random(0, 3) ? (int)support_random(1, 24) : 51;
    uint64_t less = support_bits() >> (64 - digits) | 1;
    return ((uint64_t)1 << 53) - less - least;
}

/* In three calls of four but the largest divisors: those are divided, with all
   that is beside them. */
static void draw_quotients(int n, double a[], double b[])
{
    const uint64_t least = support_random(0, 3) ? 1 << 12 : 0;
    for (int i = 0; i < n; i++) {
        uint64_t by = draw_large(least);
        b[i] = ldexp((double)by, (int)support_random(-300, 100));
        a[i] = ldexp((double)draw_midpoint(by), (int)support_random(-300, 100));
        a[i] = support_random(0, 50) ? a[i] : 0;
        a[i] = support_random(0, 1) ? a[i] : -a[i];
        b[i] = support_random(0, 1) ? b[i] : -b[i];
    }
}

/* Rows by rows, or the first number of them by a row; out may be either. */
static void try_midpoints(int level, bool one, enum kernel_alias alias)
{
    double a[QUOTIENTS], b[QUOTIENTS], out_of[QUOTIENTS], right[QUOTIENTS];
    double *to = alias == KERNEL_INTO_X   ? a
                 : alias == KERNEL_INTO_Y ? b
                                          : out_of;
    const int64_t n = support_random(64, QUOTIENTS);
    const struct ew_stride steps[] = {{0, one ? 0 : 8}, {0, 8}, {0, 8}};
    draw_quotients(QUOTIENTS, a, b);
    for (int64_t i = 0; i < n; i++)
        right[i] = a[one ? 0 : i] / b[i];
    ew_table_kernel(level, ELEMENTWISE_DIV, ELEMENTWISE_F64,
                    ELEMENTWISE_F64)(1, n, (void *[]){a, b, to}, steps);
    ck_assert_mem_eq(to, right, (size_t)n * sizeof *to);
}

/* Rows by a number each, past the caches. */
static void try_midpoints_past(int level)
{
    enum { ROWS = 9, COLS = 41 };
    double a[ROWS][COLS], b[ROWS], got[ROWS][COLS], right[ROWS][COLS];
    const struct ew_stride steps[] = {{COLS * 8, 8}, {8, 0}, {COLS * 8, 8}};
    ew_kernel *div = ew_table_kernel(level, EW_PAST + ELEMENTWISE_DIV,
                                     ELEMENTWISE_F64, ELEMENTWISE_F64);
    for (int r = 0; r < ROWS; r++) {
        uint64_t by = draw_large(support_random(0, 3) ? 1 << 12 : 0);
        b[r] = ldexp(support_random(0, 1) ? (double)by : -(double)by,
                     (int)support_random(-200, 100));
        for (int c = 0; c < COLS; c++) {
            a[r][c] = ldexp((double)draw_midpoint(by),
                            (int)support_random(-200, 100));
            right[r][c] = a[r][c] / b[r];
        }
    }
    div(ROWS, COLS, (void *[]){a, b, got}, steps);
    ck_assert_mem_eq(got, right, sizeof got);
}

START_TEST(quotients_beside_midpoints_are_rounded_to_nearest)
{
    if (!support_level(_i))
        return;
    ew_cpu_tune(0);
    for (int k = 0; k < 2000; k++) {
        try_midpoints(_i, false, (enum kernel_alias)(k % 3));
        try_midpoints(_i, true, k % 2 ? KERNEL_APART : KERNEL_INTO_Y);
        try_midpoints_past(_i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* ---------------------------------------------------------------------
 * Quotients of any size
 */

/* A dividend for piece `piece` of a row: a number of all digits and a common
   size, or 0. Some pieces are all of a rare size, later ones have one such, or
   no number, at some places. */
static double draw_dividend(int piece, int place)
{
    static const int sizes[] = {-124, -25, 100, -1020, 900};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int rare = piece <= SIZES ? piece : piece - SIZES;
    double drawn = ldexp((double)support_random(1, (int64_t)1 << 53), -53);
    if (rare == 0 || (piece > SIZES && place % 97 != piece))
        drawn = ldexp(drawn, (int)support_random(-3, 3));
    else if (rare > SIZES)
        drawn = rare == SIZES + 1 ? INFINITY : NAN;
    else
        drawn = ldexp(drawn, sizes[rare - 1]);
    drawn = support_random(0, 9) ? drawn : 0;
    return support_random(0, 1) ? drawn : -drawn;
}

static void put(elementwise_dtype type, double value, void *element)
{
    struct ref_value v = ref_float(type, value, 0);
    ref_store(&v, element);
}

/* The same numbers, or NaN. */
static void assert_same(elementwise_dtype type, int n, const void *got,
                        const void *right)
{
    size_t size = elementwise_dtype_size(type);
    for (size_t at = 0; at < (size_t)n * size; at += size)
        ck_assert(
            ref_same(type, (const char *)got + at, (const char *)right + at));
}

/* By as many copies of the divisor rows are divided as C divides. */
START_TEST(one_divisor_is_like_an_array_of_it)
{
    enum { PIECE = 320, PIECES = 14, N = PIECE * PIECES + 5 };
    static const elementwise_dtype types[] = {ELEMENTWISE_F16, ELEMENTWISE_BF16,
                                              ELEMENTWISE_F32, ELEMENTWISE_F64};
    static const double divisors[] = {
        3,        -255,      1.0 / 3,   0x1p-24, -0x1p-30,     0x1p100,
        0x1p-127, 0,         -INFINITY, 65504,   NAN,          0x1p-133,
        0x1p127,  0x1.fffp3, 0x1p-1040, 1e308,   0x1.554p-100, 0x1.554p-1000};
    static double from[N], by[N], got[N], right[N];
    elementwise_dtype type = types[_i % 4];
    if (!support_level(_i / 4))
        return;
    size_t size = elementwise_dtype_size(type);
    ew_kernel *div = ew_table_direct(_i / 4, ELEMENTWISE_DIV, type);
    for (size_t d = 0; d < sizeof divisors / sizeof *divisors; d++) {
        for (int i = 0; i < N; i++) {
            put(type, draw_dividend(i / PIECE, i),
                (char *)from + (size_t)i * size);
            put(type, divisors[d], (char *)by + (size_t)i * size);
        }
        int64_t step = (int64_t)size;
        struct ew_stride one[] = {{0, step}, {0, 0}, {0, step}};
        struct ew_stride all[] = {{0, step}, {0, step}, {0, step}};
        div(1, N, (void *[]){from, by, right}, all);
        ew_cpu_tune(EW_QUICK_QUOTIENTS);
        div(1, N, (void *[]){from, by, got}, one);
        assert_same(type, N, got, right);
        ew_cpu_tune(0);
        div(1, N, (void *[]){from, by, got}, one);
        assert_same(type, N, got, right);
        div(1, N, (void *[]){from, by, from}, one);
        assert_same(type, N, from, right);
    }
}
END_TEST

/* x / y of f32 or f64, as C divides. */
static void divide_one(elementwise_dtype type, const char *by_x,
                       const char *by_y, char *to)
{
    float a, b;
    double wide_a, wide_b;
    if (type == ELEMENTWISE_F32) {
        memcpy(&a, by_x, sizeof a);
        memcpy(&b, by_y, sizeof b);
        a /= b;
        memcpy(to, &a, sizeof a);
    } else {
        memcpy(&wide_a, by_x, sizeof wide_a);
        memcpy(&wide_b, by_y, sizeof wide_b);
        wide_a /= wide_b;
        memcpy(to, &wide_a, sizeof wide_a);
    }
}

/* In place, too, and where divisions are said to be quick. */
START_TEST(rows_are_divided_by_rows_of_any_length)
{
    enum { N = 300 };
    static char from[8 * N], by[8 * N], right[8 * N], of_one[8 * N];
    static char got[8 * N + 1];
    elementwise_dtype type = _i % 2 ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
    int64_t size = (int64_t)ref_size(type);
    const struct ew_stride s[] = {{0, size}, {0, size}, {0, size}};
    const struct ew_stride one[] = {{0, 0}, {0, size}, {0, size}};
    if (!support_level(_i / 4))
        return;
    ew_cpu_tune(_i / 2 % 2 ? EW_QUICK_QUOTIENTS : 0);
    ew_kernel *div = ew_table_direct(_i / 4, ELEMENTWISE_DIV, type);
    for (int i = 0; i < N; i++) {
        put(type, draw_dividend(i % 3 ? 0 : 5, i), from + i * size);
        put(type, draw_dividend(0, i) + 9, by + i * size);
        divide_one(type, from + i * size, by + i * size, right + i * size);
        divide_one(type, from, by + i * size, of_one + i * size);
    }
    for (int64_t cols = 1; cols <= N; cols++) {
        size_t bytes = (size_t)(cols * size);
        char *const inputs[] = {from, by};
        got[bytes] = 7;
        div(1, cols, (void *[]){from, by, got}, s);
        ck_assert(memcmp(got, right, bytes) == 0 && got[bytes] == 7);
        for (int k = 0; k < 2; k++) {
            void *data[] = {from, by, got};
            data[k] = memcpy(got, inputs[k], bytes);
            div(1, cols, data, s);
            ck_assert(memcmp(got, right, bytes) == 0 && got[bytes] == 7);
        }
        div(1, cols, (void *[]){from, by, got}, one);
        ck_assert(memcmp(got, of_one, bytes) == 0 && got[bytes] == 7);
    }
    ew_cpu_tune(0);
}
END_TEST

/* Some rows, each by a number, from x and in its place. */
START_TEST(rows_are_divided_by_a_number_each)
{
    enum { ROWS = 3, MOST = 70, N = ROWS * MOST };
    static char from[8 * N], right[8 * N], got[8 * N + 1];
    char by[8 * ROWS];
    elementwise_dtype type = _i % 2 ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
    int64_t size = (int64_t)ref_size(type);
    if (!support_level(_i / 2))
        return;
    ew_kernel *div = ew_table_direct(_i / 2, ELEMENTWISE_DIV, type);
    for (int i = 0; i < N; i++)
        put(type, draw_dividend(i % 3 ? 0 : 5, i), from + i * size);
    for (int64_t cols = 1; cols <= MOST; cols++) {
        const struct ew_stride s[] = {
            {cols * size, size}, {size, 0}, {cols * size, size}};
        size_t bytes = (size_t)(ROWS * cols * size);
        for (int r = 0; r < ROWS; r++)
            put(type, draw_dividend(0, r) + 9, by + r * size);
        for (int64_t i = 0; i < ROWS * cols; i++)
            divide_one(type, from + i * size, by + i / cols * size,
                       right + i * size);
        got[bytes] = 7;
        div(ROWS, cols, (void *[]){from, by, got}, s);
        ck_assert(memcmp(got, right, bytes) == 0 && got[bytes] == 7);
        memcpy(got, from, bytes);
        div(ROWS, cols, (void *[]){got, by, got}, s);
        ck_assert(memcmp(got, right, bytes) == 0 && got[bytes] == 7);
    }
}
END_TEST

/* ---------------------------------------------------------------------
 * Relu
 */

enum { IN_ROW = 300 };

/* Special values, and others beside them, which differ from time to time. */
static void pair_specials(elementwise_dtype t, char *in_x, char *in_y)
{
    char specials[SUPPORT_SPECIALS * 16];
    const int count = support_specials(t, specials);
    const size_t size = ref_size(t);
    for (int i = 0; i < IN_ROW; i++) {
        memcpy(in_x + (size_t)i * size, specials + (size_t)(i % count) * size,
               size);
        memcpy(in_y + (size_t)i * size,
               specials + (size_t)((i + i / count) % count) * size, size);
    }
}

/* Whether a kernel makes a row of what it makes of elements in rows of one. */
static bool is_same_in_one_row(ew_kernel *kernel, elementwise_dtype t,
                               const struct ew_around *around, void *const in[])
{
    const int64_t n = IN_ROW, size = (int64_t)ref_size(t);
    static char row[IN_ROW * 8], alone[IN_ROW * 8];
    const struct ew_stride along[] = {{0, size}, {0, size}, {0, size}};
    const struct ew_stride down[] = {{size, 0}, {size, 0}, {size, 0}};
    void *const to_row[] = {in[0], in[1], row, (void *)around};
    void *const to_alone[] = {in[0], in[1], alone, (void *)around};
    kernel(1, n, to_row, along);
    kernel(n, 1, to_alone, down);
    bool same = true;
    for (int64_t i = 0; i < n; i++)
        same &= ref_same(t, row + i * size, alone + i * size);
    return same;
}

/* One row with relu alone has a loop of its own. */
START_TEST(relu_and_what_is_nearly_relu_are_the_same_in_one_row)
{
    enum { CASES = 6 };
    static const float around[CASES][EW_AROUNDS] = {
        {1, 1, 1, 0, INFINITY},  {2, 1, 1, 0, INFINITY},
        {1, 2, 1, 0, INFINITY},  {1, 1, -1, 0, INFINITY},
        {1, 1, 1, -1, INFINITY}, {1, 1, 1, 0, 2}};
    int op = 1 + _i % EW_WHOLE_LAST, level = _i / EW_WHOLE_LAST;
    if (!support_level(level))
        return;
    for (int d = ELEMENTWISE_F32; d <= ELEMENTWISE_F64; d++) {
        elementwise_dtype t = (elementwise_dtype)d;
        ew_kernel *whole = ew_table_kernel(level, EW_WHOLE + op, t, t);
        char in_x[IN_ROW * 8], in_y[IN_ROW * 8];
        void *const in[] = {in_x, in_y};
        pair_specials(t, in_x, in_y);
        for (int c = 0; c < CASES; c++) {
            struct ew_around a;
            for (int k = 0; k < EW_AROUNDS; k++)
                if (t == ELEMENTWISE_F64)
                    a.f64[k] = (double)around[c][k];
                else
                    a.f32[k] = around[c][k];
            ck_assert_msg(is_same_in_one_row(whole, t, &a, in), "%d: %d", d, c);
        }
    }
}
END_TEST

int main(void)
{
    TCase *floats = support_case("floats");
    tcase_add_loop_test(floats,
                        quotients_beside_midpoints_are_rounded_to_nearest, 0,
                        EW_LEVELS);
    tcase_add_loop_test(floats, one_divisor_is_like_an_array_of_it, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(floats, rows_are_divided_by_rows_of_any_length, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(floats, rows_are_divided_by_a_number_each, 0,
                        EW_LEVELS * 2);
    tcase_add_loop_test(floats,
                        relu_and_what_is_nearly_relu_are_the_same_in_one_row, 0,
                        EW_LEVELS * EW_WHOLE_LAST);
    TCase *const cases[] = {floats, NULL};
    return support_run("float", cases);
}
