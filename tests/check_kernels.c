/*
 * Turns every kernel of every level's tables into outputs for every form that
 * a loop can have - contiguous, one operand standing still, steps and
 * reversals, one row and several - and for special values in some of these,
 * and compares them, element by element, with the baseline's kernel called for
 * that element alone, which in turn is compared with the reference.
 */
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "kernel_calls.h"
#include "reference.h"

static enum kernel_alias any_alias(void)
{
    return (enum kernel_alias)support_random(KERNEL_APART, KERNEL_INTO_Y);
}

static void try_form(const struct kernel *k, const struct kernel_form *f,
                     int64_t cols, enum kernel_rows rows,
                     enum kernel_alias alias)
{
    const struct support_tensor *to = &kernel_out;
    kernel_make_operands(k, f, cols, rows);
    if (alias == KERNEL_INTO_X && k->x == k->out && f->x &&
        rows != KERNEL_X_STANDS)
        to = &kernel_x;
    if (alias == KERNEL_INTO_Y && k->y == k->out && f->y &&
        rows != KERNEL_Y_STANDS)
        to = &kernel_y;
    ew_cpu_tune((unsigned)support_random(0, EW_TUNINGS - 1));
    kernel_run(k, to);
    kernel_verify(k, to);
}

static void try_forms(const struct kernel *k)
{
    int64_t vl = kernel_vector_length(k);
    int64_t lengths[] = {1, vl > 1 ? vl - 1 : 1, vl, vl + 1, 2 * vl + 3};
    kernel_draw_pools(k);
    for (int f = 0; f < KERNEL_FORMS; f++)
        for (int n = 0; n < 5; n++) {
            enum kernel_rows rows = (enum kernel_rows)((f + n) % KERNEL_ROWS);
            try_form(k, &kernel_forms[f], lengths[n], KERNEL_ONE_ROW,
                     (enum kernel_alias)((f + n) % 3));
            try_form(k, &kernel_forms[f], lengths[n], rows, any_alias());
        }
    for (int f = 0; f < KERNEL_FORMS; f++)
        try_form(k, &kernel_forms[f], 1000, KERNEL_ONE_ROW, KERNEL_APART);
    for (int64_t n = 17; n < 32; n++) /* all that may be left of a line */
        try_form(k, &kernel_forms[0], n, KERNEL_ONE_ROW,
                 (enum kernel_alias)(n % 3));
    for (int64_t n = 257; n < 400; n += 64) /* the same of longer rows, */
        try_form(k, &kernel_forms[0], n, KERNEL_DENSE,
                 (enum kernel_alias)(n / 64 % 3));
    for (int64_t n = 65; n < 260; n += 37) /* and some of a few lines */
        for (int f = 0; f < KERNEL_DENSE_FORMS; f++)
            try_form(k, &kernel_forms[f], n,
                     f == (int)(n % 2) ? KERNEL_FAR : KERNEL_DENSE,
                     (enum kernel_alias)((n + f) % 3));
}

/* A kernel that stores past the caches, perhaps not in place: rows of ends
   alone, of one line and of several, from wherever in a line they start. */
static void try_past(struct kernel *k)
{
    static const int64_t lengths[] = {1,  15, 16, 17, 31,  33,
                                      48, 63, 64, 65, 190, 1000};
    for (int f = 0; k->run && f < KERNEL_DENSE_FORMS; f++)
        for (int n = 0; n < (int)(sizeof lengths / sizeof *lengths); n++) {
            try_form(k, &kernel_forms[f], lengths[n], KERNEL_ONE_ROW,
                     KERNEL_APART);
            try_form(k, &kernel_forms[f], lengths[n], (f + n) % KERNEL_ROWS,
                     (enum kernel_alias)((f + n) % 3));
        }
}

/* A row of 40000 bytes and some elements, which is more than half of the L1
   cache. */
static void try_long(const struct kernel *k)
{
    int64_t cols = 40000 / (int64_t)ref_size(k->out) + 3;
    for (int f = 0; f < KERNEL_DENSE_FORMS; f++)
        try_form(
            k, &kernel_forms[f], cols, KERNEL_ONE_ROW,
            (enum kernel_alias)support_random(KERNEL_APART, KERNEL_INTO_Y));
}

/* Rows of all lengths that fit a line, some of them, apart. */
static void try_masked(const struct kernel *k)
{
    int64_t most = 64 / (int64_t)ref_size(k->out);
    for (int64_t cols = 1; cols <= most; cols++)
        for (int f = 0; f < KERNEL_DENSE_FORMS; f++)
            try_form(k, &kernel_forms[f], cols,
                     (enum kernel_rows)(KERNEL_ONE_ROW + 1 +
                                        (cols + f) %
                                            (KERNEL_ROWS - KERNEL_ONE_ROW - 1)),
                     (enum kernel_alias)((cols + f) % 3));
}

/* Rows of up to four lines that are vectors of half a line and an element at
   most, in each form. */
static void try_vectors(const struct kernel *k)
{
    const int64_t n = 32 / (int64_t)ref_size(k->out);
    for (int64_t vectors = 2; vectors <= 8; vectors += 3)
        for (int i = 0; i < 6; i++)
            try_form(
                k, &kernel_forms[i % KERNEL_DENSE_FORMS], vectors * n + i / 3,
                (enum kernel_rows)((vectors + i) % KERNEL_ROWS), KERNEL_APART);
}

/* Long rows, rows in a line, and the other kernels of an operation. */
static void try_more(struct kernel *k)
{
    static struct ew_around f32 = {.f32 = {3, -0.3f, 0.1f, -5, 6}};
    static struct ew_around f64 = {.f64 = {3, -0.3, 0.1, -5, 6}};
    try_long(k);
    try_masked(k);
    try_vectors(k);
    if (k->op > EW_PAST_LAST)
        return;
    k->run = ew_table_kernel(k->level, EW_PAST + k->op, k->x, k->y);
    try_past(k);
    if (k->op > EW_WHOLE_LAST)
        return;
    k->run = ew_table_kernel(k->level, EW_WHOLE + k->op, k->x, k->y);
    k->scalar = ew_table_kernel(EW_LEVEL_BASE, EW_WHOLE + k->op, k->x, k->y);
    if (!k->scalar) /* halves, on one level */
        k->scalar = k->run;
    k->around = k->x == ELEMENTWISE_F64 ? &f64 : &f32;
    if (k->run) {
        try_forms(k);
        k->run = ew_table_kernel(k->level, EW_WHOLE_PAST + k->op, k->x, k->y);
        try_past(k);
    }
    k->around = NULL;
}

START_TEST(kernels_give_the_same_in_every_form)
{
    if (!support_level(_i / ELEMENTWISE_C128))
        return;
    struct kernel k = {.level = _i / ELEMENTWISE_C128,
                       .x = (elementwise_dtype)(_i % ELEMENTWISE_C128 + 1)};
    for (int op = 1; op <= REF_OPS; op++)
        for (int b = 1; b <= REF_TYPES; b++) {
            k.op = op;
            k.y = (elementwise_dtype)b;
            if (!kernel_takes(k.x, k.y))
                continue;
            k.run = ew_table_kernel(k.level, op, k.x, k.y);
            k.scalar = ew_table_kernel(EW_LEVEL_BASE, op, k.x, k.y);
            if (!k.run)
                continue;
            ck_assert_ptr_nonnull(k.scalar);
            ck_assert_int_eq(
                ref_result_type((elementwise_op)op, k.x, k.y, &k.out),
                ELEMENTWISE_OK);
            try_forms(&k);
            try_more(&k);
        }
    kernel_release();
}
END_TEST

START_TEST(conversions_are_right_in_every_form)
{
    if (!support_level(_i / ELEMENTWISE_C128))
        return;
    struct kernel k = {.level = _i / ELEMENTWISE_C128,
                       .x = (elementwise_dtype)(_i % ELEMENTWISE_C128 + 1),
                       .y = ELEMENTWISE_BOOL};
    for (int to = 1; to <= REF_TYPES; to++) {
        k.out = (elementwise_dtype)to;
        k.run = ew_table_convert(k.level, k.out, k.x);
        if (k.run)
            try_forms(&k);
    }
    kernel_release();
}
END_TEST

/* ---------------------------------------------------------------------
 * Special values
 */

/* A pool of these elements, in turn. */
static void fill_pool(char *pool, const char *elements, int count, size_t size)
{
    for (int i = 0; i < KERNEL_POOL; i++)
        memcpy(pool + (size_t)i * size, elements + (size_t)(i % count) * size,
               size);
}

/* One number for a whole row, or a whole call, may be computed in another way,
   but not if it is a zero or NaN. */
START_TEST(one_special_operand_is_like_any_other)
{
    static const struct kernel_form alone_x = {1, 0, 1}, alone_y = {0, 1, 1};
    int op = 1 + _i % EW_WHOLE_LAST, level = _i / EW_WHOLE_LAST;
    char specials[SUPPORT_SPECIALS * 16];
    if (!support_level(level))
        return;
    for (int d = ELEMENTWISE_F16; d <= ELEMENTWISE_F64; d++) {
        elementwise_dtype t = (elementwise_dtype)d;
        struct kernel k = {.level = level, .op = op, .x = t, .y = t, .out = t};
        int count = support_specials(t, specials);
        size_t size = ref_size(t);
        k.run = ew_table_kernel(level, op, t, t);
        k.scalar = ew_table_kernel(EW_LEVEL_BASE, op, t, t);
        for (int i = 0; i < count; i++) {
            fill_pool(kernel_pool_x, specials, count, size);
            fill_pool(kernel_pool_y, specials + (size_t)i * size, 1, size);
            try_form(&k, &alone_x, 100, KERNEL_DENSE, KERNEL_APART);
            try_form(&k, &alone_x, 100, KERNEL_Y_STANDS, KERNEL_INTO_X);
            fill_pool(kernel_pool_y, specials, count, size);
            fill_pool(kernel_pool_x, specials + (size_t)i * size, 1, size);
            try_form(&k, &alone_y, 100, KERNEL_X_STANDS, KERNEL_APART);
        }
    }
    kernel_release();
}
END_TEST

/* Small numbers, and one NaN or infinity at each place of some vectors of x,
   then of y. */
static void try_one_special(double special, const struct kernel *k,
                            const struct kernel_form *f)
{
    enum { PLACES = 128, NUMBERS = 7 };
    const struct ref_value one = ref_float(k->x, special, 0);
    const size_t size = ref_size(k->x);
    char numbers[NUMBERS * 16];
    for (int i = 0; i < NUMBERS; i++) {
        struct ref_value v = ref_float(k->x, 1 + i * 5 % NUMBERS, 0);
        ref_store(&v, numbers + (size_t)i * size);
    }
    fill_pool(kernel_pool_x, numbers, NUMBERS, size);
    fill_pool(kernel_pool_y, numbers, NUMBERS - 1, size);
    for (int i = 0; i < 2 * PLACES; i++) {
        char *pool = i < PLACES ? kernel_pool_x : kernel_pool_y, number[16];
        char *place = pool + (size_t)(i % PLACES) * size;
        memcpy(number, place, size);
        ref_store(&one, place);
        try_form(k, f, 300, KERNEL_ONE_ROW, (enum kernel_alias)(i % 3));
        memcpy(place, number, size);
    }
}

/* Those with forms for what stands around them, fmax and fmin. */
enum { DENSE_OPS = EW_WHOLE_LAST + 2 };

static int dense_op(int i)
{
    return i < EW_WHOLE_LAST    ? 1 + i
           : i == EW_WHOLE_LAST ? ELEMENTWISE_FMAX
                                : ELEMENTWISE_FMIN;
}

/* Whole blocks may be looked at for what is special in them: zeros of either
   sign without NaN, one NaN or infinity, and many. */
START_TEST(special_operands_meet_in_dense_rows)
{
    static const struct kernel_form dense = {1, 1, 1};
    int op = dense_op(_i % DENSE_OPS), level = _i / DENSE_OPS;
    if (!support_level(level))
        return;
    for (int d = ELEMENTWISE_F16; d <= ELEMENTWISE_F64; d++) {
        elementwise_dtype t = (elementwise_dtype)d;
        struct kernel k = {.level = level, .op = op, .x = t, .y = t, .out = t};
        size_t size = ref_size(t);
        char zeros[4 * 16] = {0}; /* of both signs, as they are in y */
        zeros[3 * size - 1] = zeros[4 * size - 1] = (char)0x80;
        k.run = ew_table_kernel(level, op, t, t);
        k.scalar = ew_table_kernel(EW_LEVEL_BASE, op, t, t);
        fill_pool(kernel_pool_x, zeros + size, 2, size);
        fill_pool(kernel_pool_y, zeros, 4, size);
        for (int alias = KERNEL_APART; alias <= KERNEL_INTO_Y; alias++)
            try_form(&k, &dense, 1000, KERNEL_ONE_ROW,
                     (enum kernel_alias)alias);
        struct ref_value negative = ref_float(t, -5, 0);
        ref_store(&negative, zeros + size);
        fill_pool(kernel_pool_x, zeros + size, 1, size);
        try_form(&k, &dense, 300, KERNEL_ONE_ROW, KERNEL_APART);
        try_one_special((double)NAN, &k, &dense);
        try_one_special((double)INFINITY, &k, &dense);
        try_one_special(-(double)INFINITY, &k, &dense);
        kernel_draw_specials(&k);
        for (int alias = KERNEL_APART; alias <= KERNEL_INTO_Y; alias++)
            try_form(&k, &dense, 300, KERNEL_DENSE, (enum kernel_alias)alias);
    }
    kernel_release();
}
END_TEST

/* ---------------------------------------------------------------------
 * Many elements
 */

/* Whether lines of later ones are asked for or not. */
START_TEST(many_elements_with_gaps_are_added_like_few)
{
    enum { N = 1 << 18, ROWS = 2, X = 2, Y = 3 };
    static double from[ROWS * X * N], by[ROWS * Y * N], to[ROWS * N];
    static const struct ew_stride s[] = {
        {X * N * 8, X * 8}, {Y * N * 8, Y * 8}, {N * 8, 8}};
    static const int ops[] = {ELEMENTWISE_ADD, ELEMENTWISE_MAX};
    if (!support_level(_i))
        return;
    for (int64_t i = 0; i < ROWS * X * N; i++)
        from[i] = (double)(i % 1021);
    for (int64_t i = 0; i < ROWS * Y * N; i++)
        by[i] = (double)(i % 1013) - 500;
    for (int round = 0; round < 4; round++) {
        ew_cpu_tune(round & 1 ? EW_LATE_READS : 0);
        memset(to, 0xA5, sizeof to);
        ew_table_direct(_i, ops[round / 2],
                        ELEMENTWISE_F64)(ROWS, N, (void *[]){from, by, to}, s);
        for (int64_t i = 0; i < ROWS * N; i++) {
            double a = from[i * X], b = by[i * Y];
            ck_assert(to[i] == (round < 2 ? a + b : fmax(a, b)));
        }
    }
    ew_cpu_tune(0);
}
END_TEST

int main(void)
{
    TCase *kernels = support_case("kernels");
    TCase *conversions = support_case("conversions");
    tcase_add_loop_test(kernels, kernels_give_the_same_in_every_form, 0,
                        EW_LEVELS * ELEMENTWISE_C128);
    tcase_add_loop_test(kernels, one_special_operand_is_like_any_other, 0,
                        EW_LEVELS * EW_WHOLE_LAST);
    tcase_add_loop_test(kernels, special_operands_meet_in_dense_rows, 0,
                        EW_LEVELS * DENSE_OPS);
    tcase_add_loop_test(kernels, many_elements_with_gaps_are_added_like_few, 0,
                        EW_LEVELS);
    tcase_add_loop_test(conversions, conversions_are_right_in_every_form, 0,
                        EW_LEVELS * ELEMENTWISE_C128);
    TCase *const cases[] = {kernels, conversions, NULL};
    return support_run("kernels", cases);
}
