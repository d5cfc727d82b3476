/*
 * Turns all numbers of f16 and bf16 into results of every operation - there
 * are few enough to try them all, with some others - and compares them with
 * those of f32, rounded once; and those that relu cuts off with those that are
 * rounded first.
 */
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "reference.h"
#include "support.h"
#include "table.h"

enum { HALVES = 65536 };
static uint16_t all_halves[HALVES];
static float all_floats[HALVES];
static char half_got[HALVES * 2], half_right[HALVES * 2];

/* Zeros, ones, the ends of the subnormals and of all numbers, infinity, NaN of
   both sorts, and halfway between: in the bits of f16, then of bf16. */
static const uint16_t special_halves[2][13] = {
    {0x0000, 0x0001, 0x03ff, 0x0400, 0x2e66, 0x3c00, 0x3c01, 0x4200, 0x6bff,
     0x7bff, 0x7c00, 0x7c01, 0x7e01},
    {0x0000, 0x0001, 0x007f, 0x0080, 0x3dcd, 0x3f80, 0x3f81, 0x4040, 0x5eff,
     0x7f7f, 0x7f80, 0x7f81, 0x7fc1}};

/* A kernel on all halves and one operand that stands still, the second unless
   they are exchanged. */
static void run_halves(ew_kernel *kernel, void *all, int64_t size, void *one,
                       bool exchanged, void *to, int64_t size_to)
{
    void *data[EW_OPERANDS] = {exchanged ? one : all, exchanged ? all : one,
                               to};
    struct ew_stride strides[EW_OPERANDS] = {
        {0, exchanged ? 0 : size}, {0, exchanged ? size : 0}, {0, size_to}};
    kernel(1, HALVES, data, strides);
}

/* What the contract says: the operands in f32, and the result rounded. */
static void compute_halves(int op, elementwise_dtype type, uint16_t one,
                           bool exchanged)
{
    static float made[HALVES];
    float wide = (float)ref_load(type, &one).re;
    ew_kernel *kernel =
        ew_table_kernel(EW_LEVEL_BASE, op, ELEMENTWISE_F32, ELEMENTWISE_F32);
    bool truth = op >= ELEMENTWISE_EQUAL;
    run_halves(kernel, all_floats, sizeof(float), &wide, exchanged,
               truth ? (void *)half_right : made, truth ? 1 : sizeof(float));
    if (!truth)
        run_halves(ew_table_convert(EW_LEVEL_BASE, type, ELEMENTWISE_F32), made,
                   sizeof(float), &wide, false, half_right, 2);
}

static void try_halves(int level, int op, elementwise_dtype type, uint16_t one,
                       bool exchanged)
{
    bool truth = op >= ELEMENTWISE_EQUAL;
    int64_t size = truth ? 1 : 2;
    compute_halves(op, type, one, exchanged);
    run_halves(ew_table_kernel(level, op, type, type), all_halves, 2, &one,
               exchanged, half_got, size);
    for (int i = 0; i < HALVES; i++) {
        const char *got = half_got + i * size, *right = half_right + i * size;
        if (memcmp(got, right, (size_t)size) != 0 && /* mostly they are equal */
            !ref_same(truth ? ELEMENTWISE_BOOL : type, got, right))
            ck_abort_msg("level %s, %s on %s: 0x%04x and 0x%04x%s",
                         ew_cpu_name(level),
                         elementwise_op_name((elementwise_op)op),
                         elementwise_dtype_name(type), i, one,
                         exchanged ? ", exchanged" : "");
    }
}

/* All halves by numbers near 1, where quotients of all sizes are found in one
   way or another. */
static void try_quotients(int level, elementwise_dtype type)
{
    static const int ops[] = {ELEMENTWISE_MOD, ELEMENTWISE_FMOD,
                              ELEMENTWISE_FLOORDIV};
    int least = type == ELEMENTWISE_F16 ? 0x2c00 : 0x3d80;
    int most = type == ELEMENTWISE_F16 ? 0x4800 : 0x4100;
    for (int k = 0; k < 3 * 12; k++) {
        int sign = k & 1 ? 0x8000 : 0;
        try_halves(level, ops[k % 3], type,
                   (uint16_t)(support_random(least, most) | 1 | sign), false);
    }
}

static void fill_halves(elementwise_dtype type)
{
    for (int i = 0; i < HALVES; i++) {
        all_halves[i] = (uint16_t)i;
        all_floats[i] = (float)ref_load(type, &all_halves[i]).re;
    }
}

/* By test index: a level and one of the two types. */
START_TEST(all_halves_are_computed_in_f32_and_rounded_once)
{
    int level = _i / 2;
    elementwise_dtype type = _i % 2 ? ELEMENTWISE_BF16 : ELEMENTWISE_F16;
    if (!support_level(level))
        return;
    fill_halves(type);
    for (int op = 1; op <= REF_OPS; op++) {
        if (!ew_table_kernel(level, op, type, type) ||
            op == ELEMENTWISE_NEXTAFTER || op == ELEMENTWISE_COPYSIGN)
            continue;
        for (int k = 0; k < 4 * 13; k++)
            try_halves(level, op, type,
                       special_halves[_i % 2][k / 4] | (k & 1 ? 0x8000 : 0),
                       k & 2);
    }
    try_quotients(level, type);
}
END_TEST

/* Quotients of all halves but the last few and one that stands still, or of
   whose copies there is an array: stored as usual and past the caches. */
static void try_half_quotients(int level, elementwise_dtype type, uint16_t one,
                               bool exchanged)
{
    enum { N = HALVES - 5 };
    static uint16_t copies[HALVES], got[HALVES], right[HALVES];
    compute_halves(ELEMENTWISE_DIV, type, one, exchanged);
    memcpy(right, half_right, sizeof right);
    memset(right + N, 0xA5, sizeof right - N * sizeof *right);
    for (int i = 0; i < HALVES; i++)
        copies[i] = one;
    void *const data[] = {exchanged ? copies : all_halves,
                          exchanged ? all_halves : copies, got};
    for (int k = 0; k < 4; k++) {
        int64_t step = k & 1 ? 2 : 0;
        struct ew_stride s[] = {
            {0, exchanged ? step : 2}, {0, exchanged ? 2 : step}, {0, 2}};
        ew_kernel *div = ew_table_kernel(
            level, ELEMENTWISE_DIV + (k & 2 ? EW_PAST : 0), type, type);
        if (!div) /* levels below AVX-512 store none past the caches */
            continue;
        memset(got, 0xA5, sizeof got);
        div(1, N, data, s);
        for (int i = 0; i < HALVES; i++)
            if (got[i] != right[i] && !ref_same(type, &got[i], &right[i]))
                ck_abort_msg("level %s, %s, way %d: 0x%04x and 0x%04x%s",
                             ew_cpu_name(level), elementwise_dtype_name(type),
                             k, i, one, exchanged ? ", exchanged" : "");
    }
}

/* By some numbers, and by those at the ends of what is estimated; with
   CHECK_LONG by all. Divisions are said to be slow, then quick. */
START_TEST(half_quotients_are_rounded_once)
{
    static const uint16_t ends[2][8] = {
        {0x0000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x7c00, 0x7e00, 0x5801},
        {0x0000, 0x0001, 0x007f, 0x0080, 0x7dff, 0x7e00, 0x7f80, 0x7fc0}};
    int level = _i / 2, n = support_long() ? 4 * HALVES : 4 * 16;
    elementwise_dtype type = _i % 2 ? ELEMENTWISE_BF16 : ELEMENTWISE_F16;
    if (!support_level(level))
        return;
    fill_halves(type);
    for (int i = 0; i < n; i++) {
        uint16_t one = support_long() ? (uint16_t)(i / 4)
                       : i < 4 * 8    ? ends[_i % 2][i / 4]
                                      : (uint16_t)support_random(0, HALVES - 1);
        ew_cpu_tune(i & 1 ? EW_QUICK_QUOTIENTS : 0);
        try_half_quotients(level, type, one, i & 2);
    }
    ew_cpu_tune(0);
}
END_TEST

static bool is_nan(uint16_t f16)
{
    return (f16 & 0x7fff) > 0x7c00;
}

/* Two kernels on all of f16 and as many in another order, which differs from
   round to round. What they make is the same, or NaN. */
static void compare_halves(ew_kernel *one, ew_kernel *other, int op, int round)
{
    static uint16_t shuffled[HALVES], made[2][HALVES];
    const bool truth = op >= ELEMENTWISE_EQUAL;
    const struct ew_stride strides[] = {{0, 2}, {0, 2}, {0, truth ? 1 : 2}};
    int step = 2 * (int)support_random(0, HALVES / 2) + 1;
    for (int i = 0; i < HALVES; i++)
        shuffled[i] = (uint16_t)(i * step + round);
    for (int k = 0; k < 2; k++) {
        void *const data[] = {all_halves, shuffled, made[k]};
        (k ? other : one)(1, HALVES, data, strides);
    }
    for (int i = 0; i < (truth ? HALVES / 2 : HALVES); i++) {
        uint16_t a = made[0][i], b = made[1][i];
        if (a != b && (truth || !is_nan(a) || !is_nan(b)))
            ck_abort_msg("%s, result %d, step %d, round %d: 0x%04x, 0x%04x",
                         elementwise_op_name((elementwise_op)op), i, step,
                         round, a, b);
    }
}

/* Kernels of f16 that the last level has of its own. */
START_TEST(native_f16_has_the_bits_of_f32_rounded_once)
{
    enum { ROUNDS = 300, BELOW = EW_LEVEL_AVX512FP16 - 1, NATIVE = 12 };
    int native = 0;
    if (!support_level(EW_LEVEL_AVX512FP16))
        return;
    for (int i = 0; i < HALVES; i++)
        all_halves[i] = (uint16_t)i;
    for (int op = 1; op <= REF_OPS; op++) {
        ew_kernel *one = ew_table_kernel(EW_LEVEL_AVX512FP16, op,
                                         ELEMENTWISE_F16, ELEMENTWISE_F16);
        ew_kernel *other =
            ew_table_kernel(BELOW, op, ELEMENTWISE_F16, ELEMENTWISE_F16);
        native += one != other;
        for (int round = 0; one != other && round < ROUNDS; round++)
            compare_halves(one, other, op, round);
    }
    ck_assert_int_eq(native, NATIVE);
}
END_TEST

/* ---------------------------------------------------------------------
 * Relu
 */

/* Numbers of f16 or bf16, and others that are nearly the same or, now and then,
   special, each with either sign. */
static void draw_around_0(elementwise_dtype t, uint16_t to_x[], uint16_t to_y[],
                          int of_x, int of_y)
{
    char specials[SUPPORT_SPECIALS * 16];
    const int count = support_specials(t, specials);
    for (int i = 0; i < of_x; i++) {
        to_x[i] = (uint16_t)support_bits();
        if (i >= of_y)
            continue;
        to_y[i] = (uint16_t)(to_x[i] + support_random(-2, 2));
        to_y[i] ^= support_random(0, 1) ? 0x8000 : 0;
        if (support_random(0, 3) == 0)
            memcpy(&to_y[i], specials + support_random(0, count - 1) * 2, 2);
    }
}

/* Sums, products and so on of f16 and bf16 with relu, made before they are
   rounded but by what computes f16, against relu of what is rounded: specials
   and sums around 0, in two rows of all lengths, dense and with gaps, with a
   number for x or y, and in place. */
START_TEST(halves_with_relu_are_cut_off_as_if_they_were_rounded_first)
{
    enum { N = 600, ROWS = 2 };
    static const struct ew_around relu = {.f32 = {1, 1, 1, 0, INFINITY}};
    static const int64_t of_x[] = {2, 2, 0, 4}, of_y[] = {2, 0, 2, 2};
    static uint16_t in_x[2 * N * ROWS], in_y[N * ROWS], got[2 * N * ROWS],
        want[N * ROWS];
    elementwise_dtype t = _i % 2 ? ELEMENTWISE_BF16 : ELEMENTWISE_F16;
    int op = 1 + _i / 2 % EW_RELU_LAST, level = _i / 2 / EW_RELU_LAST;
    if (!support_level(level) || level < EW_LEVEL_AVX512)
        return;
    for (int round = 0; round < 300; round++) {
        const int64_t n = support_random(1, round % 4 ? 100 : N);
        const int f = (int)support_random(0, 3);
        const struct ew_stride s[] = {
            {2 * N * 2, of_x[f]}, {N * 2, of_y[f]}, {N * 2, 2}};
        const struct ew_stride in_place[] = {s[EW_X], s[EW_Y], s[EW_X]};
        const bool places = of_x[f] != 0 && round % 2;
        const struct ew_stride *by = places ? in_place : s;
        void *data[EW_OPERANDS] = {in_x, in_y, want};
        void *made[] = {want, NULL, want};
        draw_around_0(t, in_x, in_y, 2 * N * ROWS, N * ROWS);
        ew_table_kernel(level, op, t, t)(ROWS, n, data, s);
        ew_table_activation(level, t, ELEMENTWISE_ACT_RELU)(
            ROWS, n, made,
            (const struct ew_stride[]){s[EW_OUT], {0, 0}, s[EW_OUT]});
        memcpy(got, in_x, sizeof got);
        data[EW_X] = places ? got : in_x;
        data[EW_OUT] = got;
        data[EW_AROUND] = (void *)&relu;
        ew_table_kernel(level, EW_WHOLE + op, t, t)(ROWS, n, data, by);
        for (int64_t i = 0; i < n * ROWS; i++) {
            int64_t r = i / n, c = i % n;
            uint16_t had = got[(r * by[EW_OUT].row + c * by[EW_OUT].col) / 2];
            ck_assert_msg(ref_same(t, &had, &want[r * N + c]),
                          "%d of %lld: %#x, expected %#x", (int)i, (long long)n,
                          had, want[r * N + c]);
        }
    }
}
END_TEST

int main(void)
{
    TCase *halves = support_case("halves");
    tcase_add_loop_test(halves, all_halves_are_computed_in_f32_and_rounded_once,
                        0, EW_LEVELS * 2);
    tcase_add_test(halves, native_f16_has_the_bits_of_f32_rounded_once);
    tcase_add_loop_test(halves, half_quotients_are_rounded_once, 0,
                        2 * EW_LEVELS);
    tcase_add_loop_test(
        halves, halves_with_relu_are_cut_off_as_if_they_were_rounded_first, 0,
        EW_LEVELS * 2 * EW_RELU_LAST);
    TCase *const cases[] = {halves, NULL};
    return support_run("half", cases);
}
