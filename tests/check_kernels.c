/*
 * Turns every kernel of every level's tables into outputs for every form that
 * a loop can have - contiguous, one operand standing still, steps and
 * reversals, one row and several - and compares them, element by element,
 * with the baseline's kernel called for that element alone, which in turn is
 * compared with the reference.
 */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "elementwise.h"
#include "reference.h"
#include "support.h"
#include "table.h"

/* Strides of the inner loop, in elements. */
struct form {
    int64_t x, y, out;
};

static const struct form forms[] = {
    {1, 1, 1},  {1, 0, 1},  {0, 1, 1},   {0, 0, 1},  {2, 1, 1},
    {1, 2, 1},  {2, 2, 2},  {1, 1, 2},   {-1, 1, 1}, {1, -1, 1},
    {1, 1, -1}, {0, -1, 1}, {-1, 0, -1}, {3, 0, 2},  {-1, -1, -1}};
enum { FORMS = sizeof forms / sizeof *forms, POOL = 1024 };

/* How the outer loop moves: in order, back, far, and with x or y standing
   still. */
enum rows { ONE_ROW, DENSE, BACK, FAR, X_STANDS, Y_STANDS, ROW_KINDS };

enum alias { APART, INTO_X, INTO_Y };

struct kernel {
    int level;
    int op; /* 0: conversion, which has no y */
    elementwise_dtype x, y, out;
    ew_kernel *run, *scalar;
    struct ew_around *around; /* NULL: the kernel is the operation alone */
};

static struct support_tensor x, y, out;
static char pool_x[POOL * 16], pool_y[POOL * 16];

static void release(void)
{
    support_free(&x);
    support_free(&y);
    support_free(&out);
}

/* Values for all calls of one kernel; divisors are not 0. */
static void draw_pools(const struct kernel *k)
{
    struct support_tensor s = {0};
    struct {
        elementwise_dtype type;
        char *pool;
    } pools[] = {{k->x, pool_x}, {k->y, pool_y}};
    for (int i = 0; i < 2; i++) {
        support_line(&s, pools[i].type, POOL, 1, SUPPORT_HIGH);
        support_fill(&s);
        if (k->op)
            support_no_zeros(&s);
        memcpy(pools[i].pool, s.t.data, POOL * ref_size(pools[i].type));
    }
    support_free(&s);
}

/* Elements between rows that lie far apart for any type, of which there are
   more than kernels ask for ahead. */
enum { APART_BY = 1 << 10, FAR_ROWS = 6 };

static int64_t row_stride(int64_t col, int64_t cols, enum rows rows)
{
    int64_t width = (col < 0 ? -col : col) * cols + 1;
    return rows == BACK ? -width : rows == FAR ? width + APART_BY : width;
}

static void make(struct support_tensor *s, elementwise_dtype type,
                 const int64_t shape[2], int64_t col, int64_t row,
                 const char *pool)
{
    int64_t strides[] = {row, col}, drawn = 0;
    size_t size = ref_size(type);
    support_make(s, type, 2, shape, strides,
                 support_random(0, 1) ? SUPPORT_HIGH : SUPPORT_LOW);
    for (int64_t r = 0; pool && r < shape[0]; r++)
        for (int64_t c = 0; c < shape[1]; c++, drawn++) {
            int64_t index[] = {r, c};
            memcpy(ref_at(&s->t, index), pool + (size_t)(drawn % POOL) * size,
                   size);
        }
    support_keep(s);
}

static void make_operands(const struct kernel *k, const struct form *f,
                          int64_t cols, enum rows rows)
{
    int64_t shape[] = {rows == ONE_ROW ? 1 : rows == FAR ? FAR_ROWS : 3, cols};
    make(&x, k->x, shape, f->x,
         rows == X_STANDS ? 0 : row_stride(f->x, cols, rows), pool_x);
    make(&y, k->y, shape, f->y,
         rows == Y_STANDS ? 0 : row_stride(f->y, cols, rows), pool_y);
    make(&out, k->out, shape, f->out, row_stride(f->out, cols, rows), NULL);
}

static struct ew_stride bytes_of(const struct support_tensor *s)
{
    int64_t size = (int64_t)ref_size(s->t.dtype);
    return (struct ew_stride){s->strides[0] * size, s->strides[1] * size};
}

static void run(const struct kernel *k, const struct support_tensor *to)
{
    void *data[EW_OPERANDS] = {x.t.data, y.t.data,
                               to->t.data, [EW_AROUND] = k->around};
    struct ew_stride strides[EW_OPERANDS] = {bytes_of(&x), bytes_of(&y),
                                             bytes_of(to)};
    k->run(to->shape[0], to->shape[1], data, strides);
}

/* Is the element what the kernel is for? */
static bool right(const struct kernel *k, void *a, void *b, const void *got)
{
    char alone[16];
    struct ref_value v = ref_load(k->x, a), w = ref_load(k->y, b);
    if (!k->op) {
        v = ref_convert(&v, k->out);
        ref_store(&v, alone);
        return ref_same(k->out, alone, got);
    }
    bool exact = ref_is_exact((elementwise_op)k->op, ref_promote(k->x, k->y));
    if (!k->around && (!exact || k->run == k->scalar))
        return ref_accepts((elementwise_op)k->op, &v, &w, k->out, got, NULL);
    void *data[EW_OPERANDS] = {a, b, alone, [EW_AROUND] = k->around};
    static const struct ew_stride none[EW_OPERANDS];
    k->scalar(1, 1, data, none);
    return ref_same(k->out, alone, got);
}

static void report(const struct kernel *k, const char *what)
{
    char text[3][200];
    support_describe(&x.t, text[0], sizeof text[0]);
    support_describe(&y.t, text[1], sizeof text[1]);
    support_describe(&out.t, text[2], sizeof text[2]);
    ck_abort_msg("level %s, %s, x %s, y %s, out %s: %s", ew_cpu_name(k->level),
                 k->op ? elementwise_op_name((elementwise_op)k->op)
                       : "conversion",
                 text[0], text[1], text[2], what);
}

static void verify(const struct kernel *k, const struct support_tensor *to)
{
    int64_t index[2] = {0};
    char text[80];
    do
        if (!right(k, ref_at(&x.was, index), ref_at(&y.was, index),
                   ref_at(&to->t, index))) {
            snprintf(text, sizeof text, "wrong at (%lld,%lld)",
                     (long long)index[0], (long long)index[1]);
            report(k, text);
        }
    while (ref_next(2, to->shape, index));
    if (!support_gaps_same(to))
        report(k, "bytes around the output were written");
    if ((to != &x && !support_same(&x)) || (to != &y && !support_same(&y)))
        report(k, "an input was written");
}

static void try_form(const struct kernel *k, const struct form *f, int64_t cols,
                     enum rows rows, enum alias alias)
{
    const struct support_tensor *to = &out;
    make_operands(k, f, cols, rows);
    if (alias == INTO_X && k->x == k->out && f->x && rows != X_STANDS)
        to = &x;
    if (alias == INTO_Y && k->y == k->out && f->y && rows != Y_STANDS)
        to = &y;
    ew_cpu_tune((unsigned)support_random(0, EW_TUNINGS - 1));
    run(k, to);
    verify(k, to);
}

/* The elements of the largest vector of a level, in the narrower type. */
static int64_t vector_length(const struct kernel *k)
{
    size_t in = ref_size(k->x), to = ref_size(k->out);
    return (int64_t)((size_t)16 << k->level) / (int64_t)(in < to ? in : to);
}

static void try_forms(const struct kernel *k)
{
    int64_t vl = vector_length(k);
    int64_t lengths[] = {1, vl > 1 ? vl - 1 : 1, vl, vl + 1, 2 * vl + 3};
    draw_pools(k);
    for (int f = 0; f < FORMS; f++)
        for (int n = 0; n < 5; n++) {
            enum rows rows = (enum rows)((f + n) % ROW_KINDS);
            try_form(k, &forms[f], lengths[n], ONE_ROW,
                     (enum alias)((f + n) % 3));
            try_form(k, &forms[f], lengths[n], rows,
                     (enum alias)support_random(APART, INTO_Y));
        }
    for (int f = 0; f < FORMS; f++)
        try_form(k, &forms[f], 1000, ONE_ROW, APART);
    for (int64_t n = 17; n < 32; n++) /* all that may be left of a line */
        try_form(k, &forms[0], n, ONE_ROW, (enum alias)(n % 3));
    for (int64_t n = 257; n < 400; n += 64) /* the same of longer rows, */
        try_form(k, &forms[0], n, DENSE, (enum alias)(n / 64 % 3));
    for (int64_t n = 65; n < 260; n += 37) /* and some of a few lines */
        for (int f = 0; f < 3; f++)
            try_form(k, &forms[f], n, f == (int)(n % 2) ? FAR : DENSE,
                     (enum alias)((n + f) % 3));
}

/* A kernel that stores past the caches, perhaps not in place: rows of ends
   alone, of one line and of several, from wherever in a line they start. */
static void try_past(struct kernel *k)
{
    static const struct form dense[] = {{1, 1, 1}, {1, 0, 1}, {0, 1, 1}};
    static const int64_t lengths[] = {1,  15, 16, 17, 31,  33,
                                      48, 63, 64, 65, 190, 1000};
    for (int f = 0; k->run && f < 3; f++)
        for (int n = 0; n < (int)(sizeof lengths / sizeof *lengths); n++) {
            try_form(k, &dense[f], lengths[n], ONE_ROW, APART);
            try_form(k, &dense[f], lengths[n], (f + n) % ROW_KINDS,
                     (enum alias)((f + n) % 3));
        }
}

/* A row of 40000 bytes and some elements, which is more than half of the L1
   cache. */
static void try_long(const struct kernel *k)
{
    static const struct form dense[] = {{1, 1, 1}, {1, 0, 1}, {0, 1, 1}};
    int64_t cols = 40000 / (int64_t)ref_size(k->out) + 3;
    for (int f = 0; f < 3; f++)
        try_form(k, &dense[f], cols, ONE_ROW,
                 (enum alias)support_random(APART, INTO_Y));
}

/* Rows of all lengths that fit a line, some of them, apart. */
static void try_masked(const struct kernel *k)
{
    static const struct form dense[] = {{1, 1, 1}, {1, 0, 1}, {0, 1, 1}};
    int64_t most = 64 / (int64_t)ref_size(k->out);
    for (int64_t cols = 1; cols <= most; cols++)
        for (int f = 0; f < 3; f++)
            try_form(k, &dense[f], cols,
                     (enum rows)(ONE_ROW + 1 +
                                 (cols + f) % (ROW_KINDS - ONE_ROW - 1)),
                     (enum alias)((cols + f) % 3));
}

/* Rows of up to four lines that are vectors of half a line and an element at
   most, in each form. */
static void try_vectors(const struct kernel *k)
{
    static const struct form dense[] = {{1, 1, 1}, {1, 0, 1}, {0, 1, 1}};
    const int64_t n = 32 / (int64_t)ref_size(k->out);
    for (int64_t vectors = 2; vectors <= 8; vectors += 3)
        for (int i = 0; i < 6; i++)
            try_form(k, &dense[i % 3], vectors * n + i / 3,
                     (enum rows)((vectors + i) % ROW_KINDS), APART);
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

/* Kernels take two operands of one type, or 64-bit integers of both signs. */
static bool has_row(elementwise_dtype a, elementwise_dtype b)
{
    return a == b || (a == ELEMENTWISE_I64 && b == ELEMENTWISE_U64) ||
           (a == ELEMENTWISE_U64 && b == ELEMENTWISE_I64);
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
            if (!has_row(k.x, k.y))
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
    release();
}
END_TEST

/* Zeros, infinities, NaN and what is near them in both operands, often equal
   ones. */
static void draw_specials(const struct kernel *k)
{
    char specials[SUPPORT_SPECIALS * 16];
    int count = support_specials(k->x, specials);
    size_t size = ref_size(k->x);
    for (int i = 0; i < POOL; i++) {
        char *pool = support_random(0, 1) ? pool_x : pool_y;
        memcpy(pool + (size_t)i * size,
               specials + (size_t)support_random(0, count - 1) * size, size);
    }
}

/* Elements from a column to the next and from a row to the next. */
struct steps {
    int64_t col, row;
};

/* Short rows of one of x and y, in either order, of the other. */
static void try_short_rows(const struct kernel *k, const int64_t shape[2],
                           struct steps a, struct steps b, bool exchanged)
{
    struct steps of_x = exchanged ? b : a, of_y = exchanged ? a : b;
    make(&x, k->x, shape, of_x.col, of_x.row, pool_x);
    make(&y, k->y, shape, of_y.col, of_y.row, pool_y);
    make(&out, k->out, shape, 1, shape[1], NULL);
    run(k, &out);
    verify(k, &out);
}

/* Rows that follow one another and an element for each, or one row for all of
   them; one row and elements. */
static void try_all_short_rows(const struct kernel *k, int64_t rows,
                               int64_t cols)
{
    const int64_t shape[] = {rows, cols};
    const struct steps one_row = {1, 0}, element = {0, 1}, dense = {1, cols};
    for (int exchanged = 0; exchanged < 2; exchanged++) {
        try_short_rows(k, shape, element, dense, exchanged);
        try_short_rows(k, shape, one_row, dense, exchanged);
        try_short_rows(k, shape, element, one_row, exchanged);
    }
}

/* Up to and beyond what is spread along rows, or kept of them, in registers;
   rows that fill vectors, and some more. */
static void try_short_comparison(struct kernel *k)
{
    static const int64_t counts[] = {2, 8, 15, 33, 64, 75};
    int64_t most = 96 / (int64_t)ref_size(k->x) + 1;
    k->run = ew_table_kernel(k->level, k->op, k->x, k->y);
    k->scalar = ew_table_kernel(EW_LEVEL_BASE, k->op, k->x, k->y);
    for (int64_t cols = 1; k->run && cols <= most; cols++)
        for (int i = 0; i < 2; i++)
            try_all_short_rows(k, counts[(cols + i * 3) % 6], cols);
}

START_TEST(short_rows_are_compared_with_an_element_each_or_one_row)
{
    elementwise_dtype t = (elementwise_dtype)(_i % ELEMENTWISE_C128 + 1);
    struct kernel k = {.level = _i / ELEMENTWISE_C128, .x = t, .y = t};
    k.out = ELEMENTWISE_BOOL;
    if (!support_level(k.level))
        return;
    draw_pools(&k);
    draw_specials(&k);
    for (int b = 1; b <= REF_TYPES; b++) {
        k.y = (elementwise_dtype)b;
        for (k.op = ELEMENTWISE_EQUAL; k.op <= ELEMENTWISE_GREATER_EQUAL;
             k.op++)
            if (has_row(t, k.y))
                try_short_comparison(&k);
    }
    release();
}
END_TEST

/* A pool of these elements, in turn. */
static void fill_pool(char *pool, const char *elements, int count, size_t size)
{
    for (int i = 0; i < POOL; i++)
        memcpy(pool + (size_t)i * size, elements + (size_t)(i % count) * size,
               size);
}

/* One number for a whole row, or a whole call, may be computed in another way,
   but not if it is a zero or NaN. */
START_TEST(one_special_operand_is_like_any_other)
{
    static const struct form alone_x = {1, 0, 1}, alone_y = {0, 1, 1};
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
            fill_pool(pool_x, specials, count, size);
            fill_pool(pool_y, specials + (size_t)i * size, 1, size);
            try_form(&k, &alone_x, 100, DENSE, APART);
            try_form(&k, &alone_x, 100, Y_STANDS, INTO_X);
            fill_pool(pool_y, specials, count, size);
            fill_pool(pool_x, specials + (size_t)i * size, 1, size);
            try_form(&k, &alone_y, 100, X_STANDS, APART);
        }
    }
    release();
}
END_TEST

/* Small numbers, and one NaN or infinity at each place of some vectors of x,
   then of y. */
static void try_one_special(double special, const struct kernel *k,
                            const struct form *f)
{
    enum { PLACES = 128, NUMBERS = 7 };
    const struct ref_value one = ref_float(k->x, special, 0);
    const size_t size = ref_size(k->x);
    char numbers[NUMBERS * 16];
    for (int i = 0; i < NUMBERS; i++) {
        struct ref_value v = ref_float(k->x, 1 + i * 5 % NUMBERS, 0);
        ref_store(&v, numbers + (size_t)i * size);
    }
    fill_pool(pool_x, numbers, NUMBERS, size);
    fill_pool(pool_y, numbers, NUMBERS - 1, size);
    for (int i = 0; i < 2 * PLACES; i++) {
        char *pool = i < PLACES ? pool_x : pool_y, number[16];
        char *place = pool + (size_t)(i % PLACES) * size;
        memcpy(number, place, size);
        ref_store(&one, place);
        try_form(k, f, 300, ONE_ROW, (enum alias)(i % 3));
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
    static const struct form dense = {1, 1, 1};
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
        fill_pool(pool_x, zeros + size, 2, size);
        fill_pool(pool_y, zeros, 4, size);
        for (int alias = APART; alias <= INTO_Y; alias++)
            try_form(&k, &dense, 1000, ONE_ROW, (enum alias)alias);
        struct ref_value negative = ref_float(t, -5, 0);
        ref_store(&negative, zeros + size);
        fill_pool(pool_x, zeros + size, 1, size);
        try_form(&k, &dense, 300, ONE_ROW, APART);
        try_one_special((double)NAN, &k, &dense);
        try_one_special((double)INFINITY, &k, &dense);
        try_one_special(-(double)INFINITY, &k, &dense);
        draw_specials(&k);
        for (int alias = APART; alias <= INTO_Y; alias++)
            try_form(&k, &dense, 300, DENSE, (enum alias)alias);
    }
    release();
}
END_TEST

/* Whether a kernel makes a row of what it makes of elements in rows of one. */
static bool is_same_in_one_row(ew_kernel *kernel, elementwise_dtype t,
                               int64_t n, const struct ew_around *around,
                               void *const in[])
{
    const int64_t size = (int64_t)ref_size(t);
    static char row[300 * 8], alone[300 * 8];
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
    enum { N = 300, CASES = 6 };
    static const float around[CASES][EW_AROUNDS] = {
        {1, 1, 1, 0, INFINITY},  {2, 1, 1, 0, INFINITY},
        {1, 2, 1, 0, INFINITY},  {1, 1, -1, 0, INFINITY},
        {1, 1, 1, -1, INFINITY}, {1, 1, 1, 0, 2}};
    int op = 1 + _i % EW_WHOLE_LAST, level = _i / EW_WHOLE_LAST;
    if (!support_level(level))
        return;
    for (int d = ELEMENTWISE_F32; d <= ELEMENTWISE_F64; d++) {
        elementwise_dtype t = (elementwise_dtype)d;
        char specials[SUPPORT_SPECIALS * 16], in_x[N * 8], in_y[N * 8];
        const int count = support_specials(t, specials);
        const size_t size = ref_size(t);
        void *const in[] = {in_x, in_y};
        for (int i = 0; i < N; i++) {
            memcpy(in_x + (size_t)i * size,
                   specials + (size_t)(i % count) * size, size);
            memcpy(in_y + (size_t)i * size,
                   specials + (size_t)((i + i / count) % count) * size, size);
        }
        for (int c = 0; c < CASES; c++) {
            struct ew_around a;
            for (int k = 0; k < EW_AROUNDS; k++)
                if (t == ELEMENTWISE_F64)
                    a.f64[k] = (double)around[c][k];
                else
                    a.f32[k] = around[c][k];
            ew_kernel *whole = ew_table_kernel(level, EW_WHOLE + op, t, t);
            ck_assert_msg(is_same_in_one_row(whole, t, N, &a, in), "%d: %d", d,
                          c);
        }
    }
}
END_TEST

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

/* Every element as the baseline's kernel makes it alone, and no other byte. */
static void compare_alone(const struct kernel *k,
                          const struct support_tensor *to)
{
    static const struct ew_stride none[EW_OPERANDS];
    int64_t index[2] = {0};
    char alone[16];
    do {
        void *data[EW_OPERANDS] = {ref_at(&x.was, index), ref_at(&y.was, index),
                                   alone};
        k->scalar(1, 1, data, none);
        if (!ref_same(k->out, alone, ref_at(&to->t, index)))
            report(k, "another quotient than alone");
    } while (ref_next(2, to->shape, index));
    if (!support_gaps_same(to))
        report(k, "bytes around the output were written");
}

/* Parts that are farther apart than f64 reaches are divided each on its own. */
START_TEST(by_zero_each_part_of_a_complex_number_is_divided)
{
    static const double from[][2] = {{0x1p-126, -0x1.8p1023},
                                     {0x1p-1074, 0x1p100},
                                     {-0x1p900, 0x1p-900},
                                     {0, -1}};
    static const double zero[] = {0, -0.0};
    static const struct ew_stride none[EW_OPERANDS];
    if (!support_level(_i))
        return;
    for (int i = 0; i < 4; i++) {
        double made[2];
        void *data[] = {(void *)from[i], (void *)zero, made, NULL};
        ew_table_kernel(_i, ELEMENTWISE_DIV, ELEMENTWISE_C128,
                        ELEMENTWISE_C128)(1, 1, data, none);
        for (int part = 0; part < 2; part++) {
            if (from[i][part] == 0)
                ck_assert_double_nan(made[part]);
            else
                ck_assert_double_eq(made[part], from[i][part] / 0.0);
        }
    }
}
END_TEST

/* Rows of quotients, by as many rows or by one, whose rows of out then start
   equally far behind a line. */
static void try_quotient_rows(struct kernel *k, int64_t rows, int64_t cols,
                              const struct form *steps)
{
    int64_t shape[] = {rows, cols};
    for (int one = 0; one < 2; one++) {
        int64_t row = one ? (3 * cols + 7) / 8 * 8 : 3 * cols;
        make(&x, k->x, shape, steps->x, steps->x * cols + 1, pool_x);
        make(&y, k->y, shape, steps->y, one ? 0 : 16 * cols + 3, pool_y);
        make(&out, k->out, shape, steps->out, row, NULL);
        run(k, &out);
        compare_alone(k, &out);
        if (steps->x <= 0) /* elements of x are in several rows */
            continue;
        run(k, &x);
        compare_alone(k, &x);
    }
}

/* Along and down rows, and by divisors that are kept for all of them. */
static void try_complex_quotients(struct kernel *k)
{
    static const int64_t rows[] = {1, 2, 63, 65, 130};
    static const int64_t longer[][2] = {{7, 41}, {8, 41},   {3, 60},
                                        {2, 77}, {5, 1101}, {9, 2050}};
    static const struct form steps[] = {{1, 1, 1},  {1, 0, 1},  {0, 1, 1},
                                        {2, -1, 1}, {1, 16, 1}, {-1, 2, 3}};
    for (int64_t cols = 1; cols < 20; cols += 1 + (cols > 8) * 4)
        for (int r = 0; r < 5; r++)
            for (int f = 0; f < 6; f++)
                try_quotient_rows(k, rows[r], cols, &steps[f]);
    for (int l = 0; l < 6; l++)
        for (int f = 0; f < 6; f++)
            try_quotient_rows(k, longer[l][0], longer[l][1], &steps[f]);
}

/* Zeros, infinities and NaN among divisors at any place of a vector, at very
   few of all, or nowhere. */
static void draw_divisors(const struct kernel *k, int64_t between)
{
    char specials[SUPPORT_SPECIALS * 16];
    int count = support_specials(k->y, specials);
    size_t size = ref_size(k->y);
    draw_pools(k);
    for (int64_t i = support_random(0, between); i < POOL;
         i += support_random(1, between))
        memcpy(pool_y + (size_t)i * size,
               specials + (size_t)support_random(0, count - 1) * size, size);
}

START_TEST(complex_quotients_are_the_same_bits_anywhere)
{
    static const int64_t between[] = {40, POOL, 100 * POOL};
    elementwise_dtype t = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    struct kernel k = {.level = _i / 2, .op = ELEMENTWISE_DIV};
    if (!support_level(k.level))
        return;
    k.x = k.y = k.out = t;
    k.scalar = ew_table_kernel(EW_LEVEL_BASE, k.op, t, t);
    for (int past = 0; past < 2; past++)
        for (int b = 0; b < 3; b++) {
            k.run =
                ew_table_kernel(k.level, past ? EW_PAST + k.op : k.op, t, t);
            draw_divisors(&k, between[b]);
            if (k.run)
                try_complex_quotients(&k);
        }
    release();
}
END_TEST

/* ---------------------------------------------------------------------
 * Derivatives of complex numbers
 */

enum { D_ROWS = 3, D_COLS = 40, D_GAP = 5, D_CASES = 5 };

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

static struct ew_c128 widened(elementwise_dtype type, const void *element)
{
    struct ref_value v = ref_load(type, element);
    return (struct ew_c128){v.re, v.im};
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
        derived(d, widened(type, at[EW_X]), widened(type, at[EW_Y]),
                widened(type, at[EW_OUT]));
    struct ew_c128 got = widened(type, at[EW_D]);
    bool free = type == ELEMENTWISE_C64 && d->op == ELEMENTWISE_DIV;
    double size = hypot(want.re, want.im);
    struct ref_value exact = ref_float(ELEMENTWISE_C128, want.re, want.im);
    struct ref_value value = ref_convert(&exact, type);
    memcpy(data, at, sizeof data);
    data[EW_D] = alone;
    ew_table_derivative(EW_LEVEL_BASE, type, (int)d->op, d->which)(1, 1, data,
                                                                   none);
    ref_store(&value, rounded);
    bool right =
        free ? is_near(want.re, got.re, size) && is_near(want.im, got.im, size)
             : ref_same(type, rounded, at[EW_D]);
    ck_assert_msg(right && ref_same(type, alone, at[EW_D]),
                  "%s of %s: %a %+ai, expected %a %+ai",
                  elementwise_op_name(d->op), elementwise_dtype_name(type),
                  got.re, got.im, want.re, want.im);
}

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
        struct ref_value exact =
            ref_float(ELEMENTWISE_C128, ldexp(part[0], e), ldexp(part[1], e));
        struct ref_value value = ref_convert(&exact, type);
        ref_store(&value, to + (size_t)i * size);
        if (support_random(0, 15) == 0)
            memcpy(to + (size_t)i * size,
                   specials + (size_t)support_random(0, count - 1) * size,
                   size);
    }
}

/* Rows of numbers; which of x and y stands still along them, or neither. */
static void try_derivative(int level, const struct derivative_case *d,
                           elementwise_dtype type, int64_t cols, int stands)
{
    static char area[EW_D_OPERANDS][D_ROWS * (D_COLS + D_GAP) * 16];
    const int64_t size = (int64_t)ref_size(type), row = (cols + D_GAP) * size;
    struct ew_stride s[EW_D_OPERANDS];
    void *data[EW_D_OPERANDS], *at[EW_D_OPERANDS];
    for (int k = 0; k < EW_D_OPERANDS; k++) {
        fill_derived(type, area[k], D_ROWS * (cols + D_GAP));
        data[k] = area[k];
        s[k] = (struct ew_stride){row, k == stands ? 0 : size};
    }
    char before[sizeof *area];
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
                         before + r * row + cols * size, D_GAP * size);
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

enum { P_ROWS = 5, P_COLS = 300 };

/* C has no way to join an infinite part to another by arithmetic. */
static double complex joined(struct ew_c128 a)
{
    double complex z;
    memcpy(&z, &a, sizeof z);
    return z;
}

static struct ew_c128 taken_apart(double complex z)
{
    struct ew_c128 a;
    memcpy(&a, &z, sizeof a);
    return a;
}

static bool is_origin(struct ew_c128 a)
{
    return a.re == 0 && a.im == 0;
}

/* The formula of doc/operations.md in double, as it falls. */
static struct ew_c128 power_slope(bool to_y, struct ew_c128 a, struct ew_c128 b,
                                  struct ew_c128 g)
{
    const struct ew_c128 log = taken_apart(clog(joined(a)));
    const struct ew_c128 by = {to_y ? b.re : b.re - 1, b.im};
    if (to_y ? is_origin(a) && b.re >= 0 : is_origin(b))
        return (struct ew_c128){0, 0};
    struct ew_c128 power = taken_apart(cexp(joined(multiplied(by, log))));
    const double zero = by.re > 0 && by.im == by.im ? 0 : (double)NAN;
    if (is_origin(a))
        power = (struct ew_c128){zero, zero};
    if (is_origin(by))
        power = (struct ew_c128){1, 0};
    return multiplied(g, conjugated(multiplied(to_y ? log : b, power)));
}

static bool same_kind(double a, double b)
{
    return isfinite(a) ? isfinite(b) : isnan(a) ? isnan(b) : a == b;
}

/* The derivative of a power, in a type's own precision if the formula has a
   number for it and all before it, or if an operand is not finite or x is 0, as
   infinite or undefined. */
static void verify_power(bool to_y, elementwise_dtype type, void *const at[])
{
    const struct ew_c128 a = widened(type, at[EW_X]);
    const struct ew_c128 b = widened(type, at[EW_Y]);
    const struct ew_c128 g = widened(type, at[EW_OUT]);
    const struct ew_c128 got = widened(type, at[EW_D]);
    const struct ew_c128 want = power_slope(to_y, a, b, g);
    const bool narrow = type == ELEMENTWISE_C64;
    const double log = cabs(clog(joined(a))),
                 size = (hypot(b.re, b.im) + 1) * log;
    const double most = hypot(want.re, want.im);
    const double off = (narrow ? 0x1p-23 : 0x1p-50 * (8 + size)) * most;
    bool right = true;
    if (size < 400 && most < (narrow ? 0x1p127 : 0x1p1000))
        right = hypot(got.re - want.re, got.im - want.im) <=
                off + (narrow ? 0x1p-149 : 0x1p-1050);
    else if (!isfinite(size) || !isfinite(g.re) || !isfinite(g.im))
        right = same_kind(want.re, got.re) && same_kind(want.im, got.im);
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
    static char area[EW_D_OPERANDS][P_ROWS * (P_COLS + D_GAP) * 16];
    static const struct ew_stride none[EW_D_OPERANDS];
    const int64_t size = (int64_t)ref_size(type), row = (cols + D_GAP) * size;
    struct ew_stride s[EW_D_OPERANDS];
    void *data[EW_D_OPERANDS];
    for (int k = 0; k < EW_D_OPERANDS; k++) {
        fill_derived(type, area[k], P_ROWS * (cols + D_GAP));
        data[k] = area[k];
        s[k] = (struct ew_stride){row, k == stands ? 0 : size};
    }
    ew_table_derivative(level, type, ELEMENTWISE_POW, which)(P_ROWS, cols, data,
                                                             s);
    for (int64_t i = 0; i < P_ROWS * cols; i++) {
        void *at[EW_D_OPERANDS];
        char alone[16];
        for (int k = 0; k < EW_D_OPERANDS; k++)
            at[k] = area[k] + i / cols * row + i % cols * s[k].col;
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

/* ---------------------------------------------------------------------
 * Complex powers
 */

enum { ENDS = 10, BY = 12, END_POWERS = ENDS * ENDS * BY * BY };

/* exp(y log x) in long double. */
static struct ew_c128 long_power(struct ew_c128 a, struct ew_c128 b)
{
    long double base[2] = {a.re, a.im}, log[2], part[2];
    long double complex z;
    if (is_origin(b))
        return (struct ew_c128){1, 0};
    if (is_origin(a)) {
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
    const double log = cabs(clog(joined(a))), size = hypot(b.re, b.im) * log;
    const double most = hypot(want.re, want.im);
    const double units = 1 + (isfinite(size) ? size / 1000 : 0);
    const double off = units * most * 0x1p-51 + 0x1p-1070;
    bool right = isfinite(want.re) && isfinite(want.im)
                     ? hypot(got.re - want.re, got.im - want.im) <= off
                     : same_kind(want.re, got.re) && same_kind(want.im, got.im);
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
    const struct ew_stride dense = {0, sizeof *a}, s[] = {dense, dense, dense};
    if (!support_level(_i))
        return;
    for (int i = 0; i < END_POWERS; i++) {
        int j = i / (ENDS * ENDS);
        a[i] = (struct ew_c128){of[i % ENDS], of[i / ENDS % ENDS]};
        b[i] = (struct ew_c128){to[j % BY], to[j / BY]};
    }
    void *data[] = {a, b, got};
    ew_table_kernel(_i, ELEMENTWISE_POW, ELEMENTWISE_C128,
                    ELEMENTWISE_C128)(1, END_POWERS, data, s);
    for (int i = 0; i < END_POWERS; i++)
        verify_end(a[i], b[i], long_power(a[i], b[i]), got[i]);
}
END_TEST

enum { W_COLS = 600, W_STEP = 3, BY_WHOLE = 21 };

/* Dense operands, and others of the same elements some apart. */
static char whole_area[EW_OPERANDS][W_COLS * 16];
static char whole_apart[EW_OPERANDS][W_COLS * W_STEP * 16];

static void store_complex(elementwise_dtype type, struct ew_c128 a, void *to)
{
    const float narrow[] = {(float)a.re, (float)a.im};
    if (type == ELEMENTWISE_C64)
        memcpy(to, narrow, sizeof narrow);
    else
        memcpy(to, &a, sizeof a);
}

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
    store_complex(type, a, whole_area[EW_X] + at);
    store_complex(type, by, whole_area[EW_Y] + at);
    if (support_random(0, 49) == 0)
        support_value(type, whole_area[EW_X] + at);
}

/* A power by a whole number against products in long double. Those near the
   ends of f64 are exp(y log x). */
static void verify_whole(elementwise_dtype type, int64_t i)
{
    const size_t at = (size_t)i * ref_size(type);
    const bool narrow = type == ELEMENTWISE_C64;
    const struct ew_c128 a = widened(type, whole_area[EW_X] + at);
    const struct ew_c128 b = widened(type, whole_area[EW_Y] + at);
    const struct ew_c128 got = widened(type, whole_area[EW_OUT] + at);
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
    const elementwise_dtype type = _i % 2 ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
    static const struct ew_stride none[EW_OPERANDS];
    if (!support_level(_i / 2))
        return;
    for (int i = 0; i < 14; i++) {
        char a[16], b[16], got[16], want[16];
        store_complex(type, of[i / 2], a);
        store_complex(type, (struct ew_c128){2 + i % 2, 0}, b);
        store_complex(type, i % 2 ? cubes[i / 2] : squares[i / 2], want);
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
    const struct ew_stride row[EW_OPERANDS] = {
        [EW_X] = {0, size}, [EW_OUT] = {0, size}};
    if (!support_level(_i / 2))
        return;
    for (int i = 0; i < 4 * 15 * 2; i++) {
        char a[16 * COLS], b[16], got[16 * COLS];
        const int by = 2 * (i / 8) + 2, cols = i / 4 % 2 ? COLS : 1;
        for (int k = 0; k < cols; k++)
            store_complex(type, (struct ew_c128){parts[i % 4], -parts[i % 4]},
                          a + k * size);
        store_complex(type, (struct ew_c128){by, 0}, b);
        ew_table_kernel(_i / 2, ELEMENTWISE_POW, type,
                        type)(1, cols, (void *[]){a, b, got}, row);
        for (int k = 0; k < cols; k++) {
            struct ew_c128 power = widened(type, got + k * size);
            double zero = by % 4 == 2 ? power.re : power.im;
            ck_assert_msg(zero == 0 && !signbit(zero), "(%g, %g)^%d: %g, %g",
                          parts[i % 4], -parts[i % 4], by, power.re, power.im);
        }
    }
}
END_TEST

static TCase *derivatives(void)
{
    TCase *tests = support_case("derivatives");
    tcase_add_loop_test(tests, complex_derivatives_are_their_formulas_anywhere,
                        0, 2 * EW_LEVELS);
    tcase_add_loop_test(tests, complex_powers_have_the_same_slopes_anywhere, 0,
                        4 * EW_LEVELS);
    tcase_add_loop_test(tests,
                        complex_powers_by_whole_numbers_are_products_anywhere,
                        0, 2 * EW_LEVELS);
    tcase_add_loop_test(tests, complex_powers_of_few_digits_are_exact, 0,
                        2 * EW_LEVELS);
    tcase_add_loop_test(tests,
                        complex_powers_on_the_diagonal_have_a_part_of_zero, 0,
                        2 * EW_LEVELS);
    tcase_add_loop_test(tests, complex_powers_around_the_ends_are_right, 0,
                        EW_LEVELS);
    return tests;
}

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
    release();
}
END_TEST

/* ---------------------------------------------------------------------
 * Reductions
 */

static bool is_zero(elementwise_dtype type, const void *element)
{
    struct ref_value v = ref_load(type, element);
    return v.magnitude == 0;
}

static bool is_negative(elementwise_dtype type, const void *element)
{
    struct ref_value v = ref_load(type, element);
    return v.negative;
}

/* Whether one element of x and y sets the flag. */
static bool sets(int reduction, elementwise_dtype type, const void *a,
                 const void *b)
{
    if (reduction == EW_ANY_ZERO)
        return is_zero(type, b);
    if (reduction == EW_ANY_NEGATIVE)
        return is_negative(type, b);
    return is_zero(type, a) && is_negative(type, b);
}

/* What the kernel makes of a flag that is 0, or 1. */
static uint8_t reduced(const struct kernel *k, uint8_t flag)
{
    uint8_t guarded[3] = {7, flag, 7};
    void *data[EW_OPERANDS] = {x.t.data, y.t.data, &guarded[1]};
    struct ew_stride strides[EW_OPERANDS] = {bytes_of(&x), bytes_of(&y)};
    k->run(y.shape[0], y.shape[1], data, strides);
    ck_assert(guarded[0] == 7 && guarded[2] == 7);
    return guarded[1];
}

static void verify_flag(const struct kernel *k, uint8_t before, bool expected)
{
    ck_assert_msg(reduced(k, before) == expected,
                  "level %s, reduction %d, %s, %lld x %lld by %lld",
                  ew_cpu_name(k->level), k->op, elementwise_dtype_name(k->x),
                  (long long)y.shape[0], (long long)y.shape[1],
                  (long long)y.strides[1]);
}

/* Ones everywhere, then the given bytes in x and y at one place. That alone
   says what is found: where a number stands for several, those have a one in
   the other operand, or the same two. */
static void plant(const struct kernel *k, int64_t r, int64_t c, int of_x,
                  int of_y)
{
    int64_t index[] = {r, c};
    void *a = ref_at(&x.t, index), *b = ref_at(&y.t, index);
    memset(a, of_x, ref_size(k->x));
    memset(b, of_y, ref_size(k->y));
    verify_flag(k, 0, sets(k->op, k->x, a, b));
    memset(a, 1, ref_size(k->x));
    memset(b, 1, ref_size(k->y));
}

static void try_reduction(const struct kernel *k, const struct form *f,
                          int64_t cols, enum rows rows)
{
    memset(pool_x, 1, sizeof pool_x);
    memset(pool_y, 1, sizeof pool_y);
    make_operands(k, f, cols, rows);
    verify_flag(k, 0, false);
    verify_flag(k, 1, true);
    for (int64_t r = 0; r < y.shape[0]; r++) {
        plant(k, r, 0, 1, 0xFF);
        for (int64_t c = 0; c < cols; c += 1 + (c > 3 && c < cols - 9) * 5) {
            plant(k, r, c, 0, 0);
            plant(k, r, c, 0, 0xFF);
        }
    }
}

START_TEST(reductions_find_one_element_wherever_it_is)
{
    if (!support_level(_i))
        return;
    for (int op = EW_ANY_ZERO; op < EW_PAST; op++)
        for (int type = 1; type <= REF_TYPES; type++) {
            elementwise_dtype t = (elementwise_dtype)type;
            struct kernel k = {_i,   op,   t,   t, ELEMENTWISE_BOOL,
                               NULL, NULL, NULL};
            k.run = ew_table_kernel(_i, op, t, t);
            if (!k.run)
                continue;
            int64_t vl = vector_length(&k);
            for (int f = 0; f < FORMS; f++) {
                enum rows rows = (enum rows)(f % ROW_KINDS);
                try_reduction(&k, &forms[f], 1 + f, rows);
                try_reduction(&k, &forms[f], vl + 1, ONE_ROW);
                try_reduction(&k, &forms[f], 2 * vl + 3, rows);
                try_reduction(&k, &forms[f], 9 * vl, rows);
            }
        }
    release();
}
END_TEST

START_TEST(integers_that_can_be_divided_have_a_reduction_for_zeros)
{
    if (!support_level(_i))
        return;
    for (int type = ELEMENTWISE_I8; type <= ELEMENTWISE_U64; type++) {
        elementwise_dtype t = (elementwise_dtype)type;
        ck_assert_ptr_nonnull(ew_table_kernel(_i, EW_ANY_ZERO, t, t));
        if (ref_is_signed(t))
            ck_assert_ptr_nonnull(
                ew_table_kernel(_i, EW_ANY_ZERO_TO_NEGATIVE, t, t));
    }
}
END_TEST

/* The layouts of x that a move tells apart; the last is for out. */
struct layout {
    const char *name;
    bool rows_first;      /* rows run along memory */
    int64_t gap, stretch; /* elements between lines; of the unit stride */
    bool no_row, no_col;  /* strides of 0 */
};
static const struct layout layouts[] = {
    {"dense", false, 0, 1, false, false},
    {"dense with gaps", false, 3, 1, false, false},
    {"repeated", false, 0, 1, true, false},
    {"repeated with gaps", false, 0, 3, true, false},
    {"spread", true, 0, 1, false, true},
    {"spread with gaps", true, 2, 3, false, true},
    {"one element", false, 0, 1, true, true},
    {"transposed", true, 0, 1, false, false},
    {"transposed with gaps", true, 5, 1, false, false},
    {"every second, transposed", true, 1, 2, false, false},
    {"every second, transposed backwards", true, 1, -2, false, false},
    {"every third, transposed", true, 0, 3, false, false},
    {"every fourth, transposed backwards", true, 2, -4, false, false},
    {"every seventh, transposed", true, 3, 7, false, false},
    {"strided", false, 1, 2, false, false},
    {"every fourth", false, 1, 4, false, false},
    {"backwards", false, 0, -1, false, false},
    {"transposed backwards", true, 0, -1, false, false},
    {"strided rows", true, 1, 3, false, false}};
enum { MOVED_LAYOUTS = sizeof layouts / sizeof *layouts };

static void lay_out(const struct layout *l, const int64_t shape[2],
                    int64_t strides[2])
{
    int inner = l->rows_first ? 0 : 1;
    strides[inner] = l->stretch;
    strides[1 - inner] = shape[inner] * l->stretch + l->gap;
    strides[0] = l->no_row ? 0 : strides[0];
    strides[1] = l->no_col ? 0 : strides[1];
}

static void verify_move(const char *name)
{
    int64_t index[2] = {0, 0};
    size_t size = ref_size(out.t.dtype);
    do
        if (memcmp(ref_at(&out.t, index), ref_at(&x.t, index), size) != 0)
            ck_abort_msg("%zu bytes, %s, %lld x %lld at %lld, %lld", size, name,
                         (long long)out.shape[0], (long long)out.shape[1],
                         (long long)index[0], (long long)index[1]);
    while (ref_next(2, out.shape, index));
    ck_assert_msg(support_gaps_same(&out), "%zu bytes, %s: gaps", size, name);
}

/* Moves as well where what is read next is asked for. */
static void try_strides(elementwise_dtype type, const char *name,
                        const int64_t from[2], const struct layout *to,
                        const int64_t shape[2])
{
    int64_t strides[2], size = (int64_t)ref_size(type);
    support_make(&x, type, 2, shape, from, SUPPORT_HIGH);
    struct ew_stride sx = {from[0] * size, from[1] * size};
    lay_out(to, shape, strides);
    support_make(&out, type, 2, shape, strides, SUPPORT_HIGH);
    struct ew_stride so = {strides[0] * size, strides[1] * size};
    support_fill(&x);
    support_keep(&out);
    static const char next[1024];
    struct ew_ahead ahead[2] = {{next, 7, 64, 100, shape[0] % 2 == 0}};
    bool asks = shape[1] % 2;
    void *const data[] = {x.t.data, asks ? ahead : NULL, out.t.data};
    const struct ew_stride stride[] = {sx, {0, 0}, so};
    ew_table_move(ew_cpu_level(), type)(shape[0], shape[1], data, stride);
    verify_move(name);
    ck_assert_int_ge(ahead[0].pieces, 0);
    ck_assert_int_eq(ahead[0].at - next, (7 - ahead[0].pieces) * 64);
}

static void try_move(elementwise_dtype type, const struct layout *from,
                     const struct layout *to, const int64_t shape[2])
{
    int64_t strides[2];
    lay_out(from, shape, strides);
    try_strides(type, from->name, strides, to, shape);
}

START_TEST(moves_are_right_from_every_layout)
{
    static const int64_t extents[] = {1, 2, 3, 4, 8, 15, 16, 17, 35, 65};
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64,
                                              ELEMENTWISE_C128};
    enum { N = sizeof extents / sizeof *extents };
    if (!support_level(_i / 5))
        return;
    for (int i = 0; i < N * N; i++) {
        int64_t shape[] = {extents[i / N], extents[i % N]};
        for (int l = 0; l < MOVED_LAYOUTS; l++)
            for (int to = 0; to < MOVED_LAYOUTS; to++)
                if (!layouts[to].no_row && !layouts[to].no_col)
                    try_move(types[_i % 5], &layouts[l], &layouts[to], shape);
    }
    release();
}
END_TEST

/* Of two inputs, whose pieces no number of blocks divides; `base` does not. */
START_TEST(turning_asks_for_all_that_is_read_next)
{
    enum { ROWS = 32, COLS = 65 };
    elementwise_dtype type = _i % 2 ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
    int64_t size = (int64_t)ref_size(type);
    static double from[ROWS * COLS], to[ROWS * COLS];
    struct ew_ahead ahead[] = {{(char *)from, 71, 8, 64, false},
                               {(char *)to, 3, -8, 64, true}};
    void *const data[] = {from, ahead, to};
    const struct ew_stride stride[] = {
        {size, ROWS * size}, {0, 0}, {COLS * size, size}};
    if (!support_level(_i / 2))
        return;
    ew_table_move(_i / 2, type)(ROWS, COLS, data, stride);
    bool asks = _i / 2 > EW_LEVEL_BASE;
    ck_assert_int_eq(ahead[0].pieces + ahead[1].pieces, asks ? 0 : 74);
    ck_assert_ptr_eq(ahead[0].at, from + (asks ? 71 : 0));
    ck_assert_ptr_eq(ahead[1].at, to - (asks ? 3 : 0));
}
END_TEST

/* Columns that end where a page does, before one that nobody may read. */
START_TEST(nothing_is_read_on_a_page_that_has_no_element)
{
    enum { PAGE = 4096, COLS = 40, PAGES = 2 * COLS, MOST = 67 };
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32};
    static const int64_t steps[] = {1, 2, 3, 4, 7, 10};
    elementwise_dtype type = types[_i % 3];
    int64_t size = (int64_t)ref_size(type), step = steps[_i / 3 % 6];
    if (!support_level(_i / 18))
        return;
    ew_kernel *move = ew_table_move(_i / 18, type);
    char *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    for (int i = 0; i < PAGES * PAGE; i++)
        map[i] = (char)(i % 251);
    for (int c = 0; c < COLS; c++)
        mprotect(map + (2 * c + 1) * PAGE, PAGE, PROT_NONE);
    for (int64_t rows = 1; rows <= MOST; rows++) {
        char made[MOST * COLS * 4];
        char *from = map + PAGE - ((rows - 1) * step + 1) * size;
        void *const data[] = {from, NULL, made};
        const struct ew_stride stride[] = {
            {step * size, 2 * PAGE}, {0, 0}, {COLS * size, size}};
        move(rows, COLS, data, stride);
        for (int64_t i = 0; i < rows * COLS; i++)
            ck_assert(
                memcmp(made + i * size,
                       from + i / COLS * step * size + i % COLS * 2 * PAGE,
                       (size_t)size) == 0);
    }
    munmap(map, PAGES * PAGE);
}
END_TEST

/* Rows of a few elements that end where a page does, before one that nobody may
   read. */
START_TEST(no_page_is_read_between_short_rows)
{
    enum { PAGE = 4096, ROWS = 70, MOST = 16 };
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    const elementwise_dtype type = types[_i % 4];
    const int64_t size = (int64_t)ref_size(type);
    static char made[ROWS * MOST * 8];
    if (!support_level(_i / 4))
        return;
    char *map = mmap(NULL, 2 * ROWS * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    for (int i = 0; i < 2 * ROWS * PAGE; i++)
        map[i] = (char)(i % 251);
    for (int r = 0; r < ROWS; r++)
        mprotect(map + (2 * r + 1) * PAGE, PAGE, PROT_NONE);
    for (int64_t cols = 2; cols <= MOST; cols++)
        for (int64_t step = -5; step <= 5; step++) {
            const int64_t last = (cols - 1) * step * size;
            char *from = map + PAGE - size - (last > 0 ? last : 0);
            void *const data[] = {from, NULL, made};
            const struct ew_stride s[] = {
                {2 * PAGE, step * size}, {0, 0}, {cols * size, size}};
            ew_table_move(_i / 4, type)(ROWS, cols, data, s);
            for (int64_t i = 0; i < ROWS * cols; i++)
                ck_assert(
                    memcmp(made + i * size,
                           from + i / cols * 2 * PAGE + i % cols * step * size,
                           (size_t)size) == 0);
        }
    munmap(map, 2 * ROWS * PAGE);
}
END_TEST

/* Windows of one sequence. */
START_TEST(rows_that_overlap_are_moved_from_either_end)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    static const int64_t from[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {-1, 2}};
    if (!support_level(_i / 4))
        return;
    for (int64_t cols = 1; cols <= 17; cols++)
        for (int i = 0; i < 4; i++) {
            const int64_t shape[] = {35, cols};
            try_strides(types[_i % 4], "windows", from[i], &layouts[0], shape);
            try_strides(types[_i % 4], "windows", from[i], &layouts[1], shape);
        }
    release();
}
END_TEST

/* So many rows that windows of them are made dense, and a few more. */
START_TEST(rows_with_gaps_are_made_dense)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32};
    if (!support_level(_i / 3))
        return;
    for (int64_t rows = 62; rows <= 80; rows += 3)
        for (int64_t cols = 1; cols <= 17; cols++)
            for (int64_t gap = 0; gap <= 13; gap++) {
                const int64_t from[] = {cols + gap, 1}, shape[] = {rows, cols};
                try_strides(types[_i % 3], "rows", from, &layouts[0], shape);
            }
    release();
}
END_TEST

/* The same of rows that have gaps themselves, or are backwards, the next of
   which may begin before one ends. */
START_TEST(short_rows_of_any_step_are_made_dense)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    if (!support_level(_i / 4))
        return;
    for (int64_t rows = 62; rows <= 80; rows += 6)
        for (int64_t cols = 2; cols <= 17; cols++)
            for (int64_t step = -5; step <= 5; step++)
                for (int64_t row = cols - 1; row <= 4 * cols; row += 3) {
                    const int64_t from[] = {row, step}, shape[] = {rows, cols};
                    try_strides(types[_i % 4], "short rows", from, &layouts[0],
                                shape);
                }
    release();
}
END_TEST

/* So many rows that elements are numbered, and a few more or less, of elements
   that are neighbours or are gathered first. */
START_TEST(rows_of_any_length_are_spread)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    static const int64_t rows[] = {31,  32,  33,  63,  64,  65,
                                   127, 128, 159, 161, 515, 601};
    struct layout spread = {"spread", true, 0, 1, false, true};
    if (!support_level(_i / 4))
        return;
    for (spread.stretch = -1; spread.stretch <= 5; spread.stretch++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int64_t cols = 1; spread.stretch && cols <= 34; cols++)
                try_move(types[_i % 4], &spread, &layouts[0],
                         (int64_t[]){rows[i], cols});
    release();
}
END_TEST

/* ---------------------------------------------------------------------
 * Integer division, of which most quotients are made without one
 */

static const int divisions[] = {ELEMENTWISE_DIV, ELEMENTWISE_TRUNCDIV,
                                ELEMENTWISE_FLOORDIV, ELEMENTWISE_MOD,
                                ELEMENTWISE_FMOD};
enum {
    DIVISIONS = sizeof divisions / sizeof *divisions,
    DIVIDENDS = 256,
    LONG_ROW = 1100
};

static int64_t divided(int op, int64_t a, int64_t b)
{
    int64_t quotient = a / b, rest = a % b;
    bool down = rest != 0 && (rest < 0) != (b < 0);
    if (op == ELEMENTWISE_MOD)
        return down ? rest + b : rest;
    if (op == ELEMENTWISE_FMOD)
        return rest;
    return op == ELEMENTWISE_FLOORDIV ? quotient - down : quotient;
}

static void compute_row(int level, int op, elementwise_dtype type, int64_t n,
                        void *a, void *b, bool one_divisor, void *to)
{
    int64_t size = (int64_t)ref_size(type);
    void *data[EW_OPERANDS] = {a, b, to};
    struct ew_stride strides[EW_OPERANDS] = {
        {0, size}, {0, one_divisor ? 0 : size}, {0, size}};
    ew_table_kernel(level, op, type, type)(1, n, data, strides);
}

/* All bytes by one, or by others that all bytes meet as `by` goes on. */
static void try_byte(int level, int op, bool is_signed, bool one, int by)
{
    uint8_t a[DIVIDENDS], b[DIVIDENDS], got[DIVIDENDS];
    for (int i = 0; i < DIVIDENDS; i++) {
        a[i] = (uint8_t)i;
        b[i] = (uint8_t)(by * (2 * i + 1));
    }
    compute_row(level, op, is_signed ? ELEMENTWISE_I8 : ELEMENTWISE_U8,
                DIVIDENDS, a, b, one, got);
    for (int i = 0; i < DIVIDENDS; i++) {
        uint8_t d = b[one ? 0 : i];
        int64_t right =
            is_signed ? divided(op, (int8_t)i, (int8_t)d) : divided(op, i, d);
        ck_assert_uint_eq(got[i], (uint8_t)right);
    }
}

START_TEST(bytes_are_divided_by_every_divisor)
{
    if (!support_level(_i))
        return;
    for (int by = 1; by < 256; by++)
        for (int k = 0; k < 4 * DIVISIONS; k++)
            try_byte(_i, divisions[k / 4], k & 1, k & 2, by);
}
END_TEST

/* Any number by counts from -8 to beyond the width, and by the lowest number,
   all of which each lane meets as `first` goes on. */
static void try_shift(int level, bool left, elementwise_dtype type,
                      bool one_count, int first)
{
    const elementwise_op op =
        left ? ELEMENTWISE_BITWISE_LEFT_SHIFT : ELEMENTWISE_BITWISE_RIGHT_SHIFT;
    const int64_t size = (int64_t)ref_size(type), bits = 8 * size;
    _Alignas(8) char a[8 * DIVIDENDS], b[8 * DIVIDENDS], got[8 * DIVIDENDS];
    const int64_t n = DIVIDENDS - first % 7;
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = (first + i) % (bits + 16) - 8;
        const int64_t end =
            count < -4 ? (int64_t)(UINT64_C(1) << (bits - 1)) : count;
        const int64_t any = support_random(INT64_MIN, INT64_MAX);
        memcpy(a + i * size, &any, (size_t)size);
        memcpy(b + i * size, &end, (size_t)size);
    }
    compute_row(level, (int)op, type, n, a, b, one_count, got);
    for (int64_t i = 0; i < n; i++) {
        struct ref_value want, x_i = ref_load(type, a + i * size);
        struct ref_value y_i = ref_load(type, b + (one_count ? 0 : i * size));
        char right_i[8];
        ck_assert_int_eq(ref_compute(op, &x_i, &y_i, &want), 0);
        ref_store(&want, right_i);
        ck_assert(ref_same(type, right_i, got + i * size));
    }
}

START_TEST(integers_are_shifted_by_every_count)
{
    if (!support_level(_i))
        return;
    for (int type = ELEMENTWISE_I8; type <= ELEMENTWISE_U64; type++)
        for (int first = 0; first < 80; first++)
            for (int k = 0; k < 4; k++)
                try_shift(_i, k & 1, (elementwise_dtype)type, k & 2, first);
}
END_TEST

enum { POWERS = 32 }; /* two blocks */

/* Rows of equal powers of f32 and f64 about 2^exponent: no neighbour is so far
   beyond all numbers that the row would be computed more carefully. */
static void try_powers(int level, double base, double exponent)
{
    float x32[POWERS], y32[POWERS], got32[POWERS];
    double x64[POWERS], y64[POWERS], got64[POWERS];
    void *const f32[] = {x32, y32, got32}, *const f64[] = {x64, y64, got64};
    const struct ew_stride s32[] = {{0, 4}, {0, 4}, {0, 4}};
    const struct ew_stride s64[] = {{0, 8}, {0, 8}, {0, 8}};
    for (int i = 0; i < POWERS; i++) {
        x64[i] = x32[i] = (float)base;
        y64[i] = y32[i] = (float)(exponent / log2((float)base));
    }
    ew_table_kernel(level, ELEMENTWISE_POW, ELEMENTWISE_F32,
                    ELEMENTWISE_F32)(1, POWERS, f32, s32);
    ew_table_kernel(level, ELEMENTWISE_POW, ELEMENTWISE_F64,
                    ELEMENTWISE_F64)(1, POWERS, f64, s64);
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
    const struct ew_stride row32 = {0, 4}, s32[] = {row32, row32, row32};
    const struct ew_stride row64 = {0, 8}, s64[] = {row64, row64, row64};
    float x32[N], y32[N], got32[N];
    double x64[N], y64[N], got64[N];
    if (!support_level(_i))
        return;
    for (int i = 0; i < N; i++) {
        x64[i] = x32[i] = (i % 3 ? -1 : 1) * (1 + (float)i * 0x1p-20f);
        y64[i] = y32[i] = (float)by[i * 5 % BY_MANY];
    }
    void *data32[] = {x32, y32, got32}, *data64[] = {x64, y64, got64};
    ew_table_kernel(_i, ELEMENTWISE_POW, ELEMENTWISE_F32,
                    ELEMENTWISE_F32)(1, N, data32, s32);
    ew_table_kernel(_i, ELEMENTWISE_POW, ELEMENTWISE_F64,
                    ELEMENTWISE_F64)(1, N, data64, s64);
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
    const struct ew_stride s[] = {{0, 8}, {0, 0}, {0, 8}};
    double base[POWERS], by = 3, got[POWERS];
    for (int e = -361; support_level(_i) && e < 1023; e++) {
        for (int i = 0; i < POWERS; i++)
            base[i] =
                ldexp((double)support_random(1, (int64_t)1 << 53), e - 52);
        ew_table_kernel(_i, ELEMENTWISE_POW, ELEMENTWISE_F64, ELEMENTWISE_F64)(
            1, POWERS, (void *[]){base, &by, got}, s);
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

/* Between numbers of a usual size some of 2^exponent and less, for which
   squares have to be scaled, or need not be. */
static void try_hypot(int level, int exponent)
{
    enum { N = 64 };
    double a[N], b[N], got[N];
    const struct ew_stride s[] = {{0, 8}, {0, 8}, {0, 8}};
    for (int i = 0; i < N; i++) {
        int e = i % 3 == exponent % 3 ? 0 : exponent;
        a[i] = ldexp((double)support_random(1 << 20, 1 << 21), e - 21);
        b[i] = ldexp((double)support_random(1 << 20, 1 << 21), e - 21 - i % 4);
    }
    ew_table_kernel(level, ELEMENTWISE_HYPOT, ELEMENTWISE_F64,
                    ELEMENTWISE_F64)(1, N, (void *[]){a, b, got}, s);
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
    const struct ew_stride s[] = {{0, 8}, {0, 8}, {0, 8}};
    double base[POWERS], by[POWERS], got[POWERS], power[POWERS];
    void *const data[] = {base, by, got};
    for (int n = 0; support_level(_i) && n < 5000; n++) {
        for (int i = 0; i < POWERS; i++)
            draw_exact_power(&base[i], &by[i], &power[i]);
        base[0] = power[0] = 0x0.fffffffffffffp-1022;
        by[0] = 1;
        ew_table_kernel(_i, ELEMENTWISE_POW, ELEMENTWISE_F64,
                        ELEMENTWISE_F64)(1, POWERS, data, s);
        for (int i = 0; i < POWERS; i++)
            ck_assert(got[i] == power[i]);
    }
}
END_TEST

/* A number of any width, near a power of two or near a multiple of another:
   where a quotient in floating point is nearest to a wrong one. */
static uint64_t draw_wide(uint64_t other)
{
    uint64_t bits = (uint64_t)support_random(INT64_MIN, INT64_MAX);
    uint64_t near = (uint64_t)support_random(0, 4) - 2;
    int by = (int)support_random(0, 63);
    switch (support_random(0, 3)) {
    case 0:
        return bits >> by;
    case 1:
        return ((uint64_t)1 << by) + near;
    case 2:
        return (bits >> by) * other + near;
    default:
        return 0 - (bits >> by);
    }
}

/* Of rows for which a divisor is prepared, and mostly of shorter ones. */
static int draw_length(void)
{
    bool is_long = support_random(0, 7) == 0;
    return is_long ? LONG_ROW : (int)support_random(1, DIVIDENDS);
}

/* The same with 32 bits, as numbers of 64 and as they are stored. */
static void draw_words(bool is_signed, int n, int64_t wide[], uint32_t words[],
                       const int64_t others[])
{
    for (int i = 0; i < n; i++) {
        uint32_t word = (uint32_t)draw_wide(others ? (uint64_t)others[i] : 1);
        word += !others && (word == 0 || word == UINT32_MAX) ? 3 : 0;
        words[i] = word;
        wide[i] = is_signed ? (int32_t)word : (int64_t)word;
    }
}

static void try_words(int level, int op, bool is_signed, bool one)
{
    int64_t dividend[LONG_ROW], divisor[LONG_ROW];
    uint32_t a[LONG_ROW], b[LONG_ROW], got[LONG_ROW];
    int n = draw_length();
    draw_words(is_signed, n, divisor, b, NULL);
    draw_words(is_signed, n, dividend, a, divisor);
    compute_row(level, op, is_signed ? ELEMENTWISE_I32 : ELEMENTWISE_U32, n, a,
                b, one, got);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(
            got[i], (uint32_t)divided(op, dividend[i], divisor[one ? 0 : i]));
}

START_TEST(words_are_divided_exactly)
{
    if (!support_level(_i))
        return;
    for (int k = 0; k < 200 * 4 * DIVISIONS; k++)
        try_words(_i, divisions[k / 4 % DIVISIONS], k & 1, k & 2);
}
END_TEST

static void try_shorts(int level, int op, bool is_signed, bool one)
{
    uint16_t a[LONG_ROW], b[LONG_ROW], got[LONG_ROW];
    int n = draw_length();
    for (int i = 0; i < n; i++) {
        b[i] = (uint16_t)draw_wide(1);
        b[i] = b[i] == 0 ? 3 : b[i];
        a[i] = (uint16_t)draw_wide(b[one ? 0 : i]);
    }
    compute_row(level, op, is_signed ? ELEMENTWISE_I16 : ELEMENTWISE_U16, n, a,
                b, one, got);
    for (int i = 0; i < n; i++) {
        uint16_t d = b[one ? 0 : i];
        int64_t right = is_signed ? divided(op, (int16_t)a[i], (int16_t)d)
                                  : divided(op, a[i], d);
        ck_assert_uint_eq(got[i], (uint16_t)right);
    }
}

START_TEST(shorts_are_divided_exactly)
{
    if (!support_level(_i))
        return;
    for (int k = 0; k < 200 * 4 * DIVISIONS; k++)
        try_shorts(_i, divisions[k / 4 % DIVISIONS], k & 1, k & 2);
}
END_TEST

/* The last 49 bits, and the sign. */
static uint64_t cut(uint64_t n, bool is_signed)
{
    uint64_t top = (uint64_t)1 << 49;
    return is_signed ? ((n & (2 * top - 1)) ^ top) - top : n & (top - 1);
}

static uint64_t divided_wide(int op, bool is_signed, uint64_t a, uint64_t by)
{
    bool rest = op == ELEMENTWISE_MOD || op == ELEMENTWISE_FMOD;
    if (is_signed)
        return (uint64_t)divided(op, (int64_t)a, (int64_t)by);
    return rest ? a % by : a / by;
}

/* Numbers below 2^49 may be divided in another way. */
static void try_wide(int level, int op, bool is_signed, bool one, bool small)
{
    uint64_t a[DIVIDENDS], b[DIVIDENDS], got[DIVIDENDS];
    for (int i = 0; i < DIVIDENDS; i++) {
        b[i] = small ? cut(draw_wide(1), is_signed) : draw_wide(1);
        b[i] += b[i] == 0 || b[i] == UINT64_MAX ? 3 : 0;
        a[i] = draw_wide(one ? b[0] : b[i]);
        a[i] = small ? cut(a[i], is_signed) : a[i];
    }
    int64_t n = support_random(1, DIVIDENDS);
    compute_row(level, op, is_signed ? ELEMENTWISE_I64 : ELEMENTWISE_U64, n, a,
                b, one, got);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(got[i],
                          divided_wide(op, is_signed, a[i], b[one ? 0 : i]));
}

START_TEST(wide_integers_are_divided_exactly)
{
    if (!support_level(_i))
        return;
    for (int k = 0; k < 100 * 8 * DIVISIONS; k++)
        try_wide(_i, divisions[k / 8 % DIVISIONS], k & 1, k & 2, k & 4);
}
END_TEST

/* A number that is narrow, -2^24 or 0 to 2^24 - 1, or at times one beyond, if
   any are: near a multiple of `by` that is often the largest of these. */
static int64_t draw_narrow(bool is_signed, bool beyond, int64_t by)
{
    const int64_t top = (int64_t)1 << 24, size = by < 0 ? -by : by;
    const int less = support_random(0, 1) ? 0 : (int)support_random(1, 24);
    int64_t times = (top >> less) / size;
    times = support_random(0, 1) ? times : support_random(0, times);
    int64_t n = times * size + support_random(-1, 1);
    n = is_signed && support_random(0, 1) ? -n : n < 0 ? 1 : n;
    beyond = beyond && support_random(0, 64) == 0;
    if (n < -top || n >= top)
        n = beyond ? n : n < 0 ? -top : top - 1;
    return n;
}

struct narrow {
    int level, op, between;
    elementwise_dtype type;
    bool one, past;
    enum alias alias;
};

/* Arrays of such numbers, whose quotients one division of f32 tells from
   integers; one in `between`, if not 0, is far larger. */
static void try_narrow(struct narrow t)
{
    int64_t a[LONG_ROW], b[LONG_ROW], n = support_random(1, LONG_ROW);
    _Alignas(64) char x_of[LONG_ROW * 8], y_of[LONG_ROW * 8];
    _Alignas(64) char out_of[LONG_ROW * 8];
    char *to = t.alias == INTO_X ? x_of : t.alias == INTO_Y ? y_of : out_of;
    const bool is_signed = ref_is_signed(t.type);
    const int64_t size = (int64_t)ref_size(t.type);
    for (int64_t i = 0; i < n; i++) {
        b[i] = draw_narrow(is_signed, t.between, 1);
        b[i] += (b[i] == 0) * 3;
        a[i] = draw_narrow(is_signed, t.between, b[i]);
        if (t.between && support_random(0, t.between) == 0)
            a[i] += (int64_t)1 << support_random(25, 7 * size);
        memcpy(x_of + i * size, &a[i], (size_t)size);
        memcpy(y_of + i * size, &b[i], (size_t)size);
    }
    ew_table_kernel(t.level, t.op + (t.past ? EW_PAST : 0), t.type, t.type)(
        1, n, (void *[]){x_of, y_of, to},
        (struct ew_stride[]){{0, t.one ? 0 : size}, {0, size}, {0, size}});
    for (int64_t i = 0; i < n; i++) {
        int64_t right = divided(t.op, a[t.one ? 0 : i], b[i]);
        ck_assert_mem_eq(to + i * size, &right, (size_t)size);
    }
}

START_TEST(narrow_integers_are_divided_exactly)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_I32, ELEMENTWISE_U32,
                                              ELEMENTWISE_I64, ELEMENTWISE_U64};
    static const int between[] = {0, 0, 0, 2000, 50};
    struct narrow t = {.level = _i};
    for (int k = 0; support_level(_i) && k < 30 * 20 * DIVISIONS; k++) {
        t.op = divisions[k / 20 % DIVISIONS];
        t.type = types[k % 4];
        t.between = between[k / 4 % 5];
        t.one = support_random(0, 3) == 0;
        t.alias = (enum alias)(t.one ? APART : k % 3);
        t.past = support_random(0, 1) &&
                 ew_table_kernel(_i, t.op + EW_PAST, t.type, t.type);
        ew_cpu_tune(support_random(0, 1) ? EW_QUICK_QUOTIENTS : 0);
        try_narrow(t);
    }
    ew_cpu_tune(0);
}
END_TEST

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
static void try_midpoints(int level, bool one, enum alias alias)
{
    double a[DIVIDENDS], b[DIVIDENDS], out_of[DIVIDENDS], right[DIVIDENDS];
    double *to = alias == INTO_X ? a : alias == INTO_Y ? b : out_of;
    const int64_t n = support_random(64, DIVIDENDS);
    const struct ew_stride steps[] = {{0, one ? 0 : 8}, {0, 8}, {0, 8}};
    draw_quotients(DIVIDENDS, a, b);
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
        try_midpoints(_i, false, (enum alias)(k % 3));
        try_midpoints(_i, true, k % 2 ? APART : INTO_Y);
        try_midpoints_past(_i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

enum { WIDE_ELEMENTS = 2500 };

/* Rows by one number each, or by others, in place, of small numbers but for one
   of the last dividends and divisors. Steps of y are in elements. */
static void try_wide_rows(int level, int op, bool is_signed,
                          const int64_t shape[2], struct ew_stride of_y)
{
    const int64_t n = shape[0] * shape[1], cols = shape[1];
    elementwise_dtype type = is_signed ? ELEMENTWISE_I64 : ELEMENTWISE_U64;
    uint64_t a[WIDE_ELEMENTS] = {0}, b[2 * WIDE_ELEMENTS], got[WIDE_ELEMENTS];
    uint64_t *by[WIDE_ELEMENTS];
    const struct ew_stride strides[] = {
        {8 * cols, 8}, {8 * of_y.row, 8 * of_y.col}, {8 * cols, 8}};
    int64_t odd = support_random(0, 3);
    for (int64_t i = 0; i < n; i++) {
        by[i] = &b[i / cols * of_y.row + i % cols * of_y.col];
        if (i % cols == 0 || of_y.col)
            *by[i] = cut(draw_wide(1), is_signed);
        *by[i] += odd == 1 && i == n - 1 ? (uint64_t)1 << 52 : 0;
        *by[i] = *by[i] + 1 <= 1 ? 7 : *by[i];
        a[i] = cut(draw_wide(*by[i]), is_signed);
    }
    a[n - 1] += odd == 2 ? (uint64_t)1 << 52 : 0;
    memcpy(got, a, sizeof got);
    ew_table_kernel(level, op, type, type)(shape[0], cols,
                                           (void *[]){got, b, got}, strides);
    for (int64_t i = 0; i < n; i++)
        ck_assert_uint_eq(got[i], divided_wide(op, is_signed, a[i], *by[i]));
}

START_TEST(wide_integers_are_divided_by_one_for_each_row)
{
    static const int64_t shapes[][2] = {{70, 8},  {33, 11}, {65, 7},  {5, 200},
                                        {3, 131}, {1, 64},  {1, 2500}};
    for (int k = 0; support_level(_i) && k < 40 * 4 * DIVISIONS; k++)
        for (int i = 0; i < 7; i++)
            try_wide_rows(_i, divisions[k / 4 % DIVISIONS], k & 1, shapes[i],
                          (struct ew_stride){k & 2 ? 3 : 1, 0});
}
END_TEST

START_TEST(wide_integers_are_divided_in_blocks)
{
    static const int64_t shapes[][2] = {{7, 16}, {5, 48}, {1, 64},
                                        {9, 17}, {4, 70}, {3, 127}};
    for (int k = 0; support_level(_i) && k < 40 * 4 * DIVISIONS; k++)
        for (int i = 0; i < 6; i++)
            try_wide_rows(_i, divisions[k / 4 % DIVISIONS], k & 1, shapes[i],
                          (struct ew_stride){k & 2 ? shapes[i][1] + 3 : 0, 1});
}
END_TEST

/* A number that any type of 32 or 64 bits holds and that counts as small, or
   any number. */
static struct ref_value draw_integer(elementwise_dtype t, uint64_t other,
                                     bool any)
{
    struct ref_value v =
        ref_integer(t, any ? draw_wide(other) : cut(draw_wide(other), true));
    if (!any && t == ELEMENTWISE_U64) /* where none is below 0 */
        v.magnitude >>= 15;
    v.magnitude += v.magnitude == 0;
    return v;
}

/* Row y, and x about multiples of it; one in `between` of each is any number.
   one: so is each row of x. */
static void draw_shared(const struct kernel *k, const int64_t shape[2],
                        bool one, int64_t between)
{
    for (int64_t r = 0; r < shape[0]; r++)
        for (int64_t c = 0; c < shape[1]; c++) {
            const int64_t index[] = {r, c};
            struct ref_value by = ref_load(k->y, ref_at(&y.t, index));
            if (r == 0)
                by = draw_integer(k->y, 1, !support_random(0, between));
            ref_store(&by, ref_at(&y.t, index));
            struct ref_value v =
                draw_integer(k->x, by.magnitude, !support_random(0, between));
            if (c == 0 || !one)
                ref_store(&v, ref_at(&x.t, index));
        }
    support_keep(&x);
    support_keep(&y);
}

/* Rows of x, or of one number each, whose ends lie anywhere in a line; also in
   place. */
static void try_shared_row(const struct kernel *k, const int64_t shape[2],
                           bool one, int64_t gap, int64_t between)
{
    const int64_t row = shape[1] + gap;
    make(&x, k->x, shape, !one, row, NULL);
    make(&y, k->y, shape, 1, 0, NULL);
    make(&out, k->out, shape, 1, row, NULL);
    draw_shared(k, shape, one, between);
    ew_cpu_tune((unsigned)support_random(0, EW_TUNINGS - 1));
    run(k, &out);
    verify(k, &out);
    if (one)
        return;
    run(k, &x);
    verify(k, &x);
}

/* Rows of less than a line, some lines, and strips of 1024 and 2048 columns of
   which the last one has little; as many rows as are worth it, and fewer. */
START_TEST(integers_are_divided_by_one_row)
{
    static const int64_t shapes[][2] = {
        {3, 40},   {4, 15},   {4, 16},  {5, 49},   {7, 33},
        {8, 7},    {8, 8},    {9, 100}, {8, 1024}, {8, 1027},
        {4, 2048}, {4, 2059}, {9, 65},  {8, 2070}, {5, 2080}};
    static const int64_t between[] = {400, POOL, 100 * POOL};
    static const elementwise_dtype types[] = {ELEMENTWISE_I32, ELEMENTWISE_U32,
                                              ELEMENTWISE_I64, ELEMENTWISE_U64};
    int level = _i / 4;
    elementwise_dtype t = types[_i % 4];
    if (!support_level(level))
        return;
    for (int i = 0; i < 15 * 2 * DIVISIONS * 2; i++) {
        struct kernel k = {.level = level, .x = t, .y = t, .out = t};
        const int64_t *shape = shapes[i / 2 % 15];
        int64_t cols = shape[1], gap = i & 1 ? (16 - cols % 16) % 16 : 1;
        k.op = divisions[i / 30 % DIVISIONS];
        bool past = i >= 30 * DIVISIONS;
        k.scalar = ew_table_kernel(EW_LEVEL_BASE, k.op, t, t);
        k.run = ew_table_kernel(level, past ? EW_PAST + k.op : k.op, t, t);
        if (!k.run)
            continue;
        try_shared_row(&k, shape, true, gap, between[(i + i / 30) % 3]);
        try_shared_row(&k, shape, false, gap, between[(i + i / 30) % 3]);
    }
    release();
}
END_TEST

/* ---------------------------------------------------------------------
 * f16 and bf16, of which there are few enough to try them all
 */

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
            struct ref_value a =
                ref_float(type, draw_dividend(i / PIECE, i), 0);
            struct ref_value b = ref_float(type, divisors[d], 0);
            ref_store(&a, (char *)from + (size_t)i * size);
            ref_store(&b, (char *)by + (size_t)i * size);
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
        struct ref_value a =
            ref_float(type, draw_dividend(i % 3 ? 0 : 5, i), 0);
        struct ref_value b = ref_float(type, draw_dividend(0, i) + 9, 0);
        ref_store(&a, from + i * size);
        ref_store(&b, by + i * size);
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
    for (int i = 0; i < N; i++) {
        struct ref_value a =
            ref_float(type, draw_dividend(i % 3 ? 0 : 5, i), 0);
        ref_store(&a, from + i * size);
    }
    for (int64_t cols = 1; cols <= MOST; cols++) {
        const struct ew_stride s[] = {
            {cols * size, size}, {size, 0}, {cols * size, size}};
        size_t bytes = (size_t)(ROWS * cols * size);
        for (int r = 0; r < ROWS; r++) {
            struct ref_value b = ref_float(type, draw_dividend(0, r) + 9, 0);
            ref_store(&b, by + r * size);
        }
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

static TCase *all_divisions(void)
{
    TCase *tests = support_case("division");
    tcase_add_loop_test(tests, bytes_are_divided_by_every_divisor, 0,
                        EW_LEVELS);
    tcase_add_loop_test(tests, integers_are_shifted_by_every_count, 0,
                        EW_LEVELS);
    tcase_add_loop_test(tests, shorts_are_divided_exactly, 0, EW_LEVELS);
    tcase_add_loop_test(tests, words_are_divided_exactly, 0, EW_LEVELS);
    tcase_add_loop_test(tests, wide_integers_are_divided_exactly, 0, EW_LEVELS);
    tcase_add_loop_test(
        tests, quotients_beside_midpoints_are_rounded_to_nearest, 0, EW_LEVELS);
    tcase_add_loop_test(tests, narrow_integers_are_divided_exactly, 0,
                        EW_LEVELS);
    tcase_add_loop_test(tests, wide_integers_are_divided_by_one_for_each_row, 0,
                        EW_LEVELS);
    tcase_add_loop_test(tests, wide_integers_are_divided_in_blocks, 0,
                        EW_LEVELS);
    tcase_add_loop_test(tests, integers_are_divided_by_one_row, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(tests, one_divisor_is_like_an_array_of_it, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(tests, rows_are_divided_by_rows_of_any_length, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(tests, rows_are_divided_by_a_number_each, 0,
                        EW_LEVELS * 2);
    return tests;
}

static TCase *moves(void)
{
    TCase *tests = support_case("moves");
    tcase_add_loop_test(tests, moves_are_right_from_every_layout, 0,
                        EW_LEVELS * 5);
    tcase_add_loop_test(tests, turning_asks_for_all_that_is_read_next, 0,
                        EW_LEVELS * 2);
    tcase_add_loop_test(tests, rows_with_gaps_are_made_dense, 0, EW_LEVELS * 3);
    tcase_add_loop_test(tests, short_rows_of_any_step_are_made_dense, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(tests, rows_that_overlap_are_moved_from_either_end, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(tests, nothing_is_read_on_a_page_that_has_no_element, 0,
                        18 * EW_LEVELS);
    tcase_add_loop_test(tests, no_page_is_read_between_short_rows, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(tests, rows_of_any_length_are_spread, 0, EW_LEVELS * 4);
    return tests;
}

int main(void)
{
    TCase *halves = support_case("halves");
    tcase_add_loop_test(halves, all_halves_are_computed_in_f32_and_rounded_once,
                        0, EW_LEVELS * 2);
    tcase_add_test(halves, native_f16_has_the_bits_of_f32_rounded_once);
    tcase_add_loop_test(halves, half_quotients_are_rounded_once, 0,
                        2 * EW_LEVELS);
    TCase *kernels = support_case("kernels");
    TCase *conversions = support_case("conversions");
    TCase *reductions = support_case("reductions");
    tcase_add_loop_test(kernels, kernels_give_the_same_in_every_form, 0,
                        EW_LEVELS * ELEMENTWISE_C128);
    tcase_add_loop_test(kernels,
                        short_rows_are_compared_with_an_element_each_or_one_row,
                        0, EW_LEVELS * ELEMENTWISE_C128);
    tcase_add_loop_test(kernels, powers_of_negative_numbers_have_their_sign, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels,
                        powers_by_one_number_have_the_bits_of_powers_by_many, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, cubes_of_f64_are_right_whatever_the_size, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, powers_around_the_ends_of_f64_are_right, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, hypot_is_right_whatever_the_size, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, powers_that_f64_holds_are_exact, 0, EW_LEVELS);
    tcase_add_loop_test(kernels, one_special_operand_is_like_any_other, 0,
                        EW_LEVELS * EW_WHOLE_LAST);
    tcase_add_loop_test(kernels, special_operands_meet_in_dense_rows, 0,
                        EW_LEVELS * DENSE_OPS);
    tcase_add_loop_test(kernels,
                        relu_and_what_is_nearly_relu_are_the_same_in_one_row, 0,
                        EW_LEVELS * EW_WHOLE_LAST);
    tcase_add_loop_test(
        kernels, halves_with_relu_are_cut_off_as_if_they_were_rounded_first, 0,
        EW_LEVELS * 2 * EW_RELU_LAST);
    tcase_add_loop_test(kernels,
                        by_zero_each_part_of_a_complex_number_is_divided, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, many_elements_with_gaps_are_added_like_few, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, complex_quotients_are_the_same_bits_anywhere,
                        0, 2 * EW_LEVELS);
    tcase_add_loop_test(conversions, conversions_are_right_in_every_form, 0,
                        EW_LEVELS * ELEMENTWISE_C128);
    tcase_add_loop_test(reductions, reductions_find_one_element_wherever_it_is,
                        0, EW_LEVELS);
    tcase_add_loop_test(reductions,
                        integers_that_can_be_divided_have_a_reduction_for_zeros,
                        0, EW_LEVELS);
    TCase *const cases[] = {kernels,         conversions, reductions,
                            all_divisions(), moves(),     halves,
                            derivatives(),   NULL};
    return support_run("kernels", cases);
}
