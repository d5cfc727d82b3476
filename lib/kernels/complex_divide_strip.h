/*
 * Rows of c64 that are all divided by one row: divisors and their inverses are
 * found once for a strip of columns, and all rows of it are made by them.
 *
 *     y             |   strip   |   strip   | ...     found once each
 *     x, out   row  | --------> | --------> |
 *              row  | --------> | --------> |         which asks for x of the
 *              ...                                    row below
 */
#ifndef EW_COMPLEX_DIVIDE_STRIP_H
#define EW_COMPLEX_DIVIDE_STRIP_H

#include "complex_divide_row.h"

enum {
    STRIP = 512, /* columns: a page of x, of which processors read on */
    DOWN = 64,   /* rows of few elements that are walked down together */
    EACH_LINE = EW_LINE / C64,
    SHORT = LANES == EACH_LINE ? 56 : 8 /* elements of rows that are short */
};

/* A line of quotients, stored past the caches or as usual. */
EW_INLINE void divide_line(const char *x, const struct divisors by[], char *out,
                           bool past)
{
    _Alignas(EW_LINE) char made[EW_LINE];
    char *to = past ? made : out;
    for (int i = 0; i < EACH_LINE; i += LANES) {
        struct place some = {x + i * C64, C64};
        struct parts q = quotients(load_c64(LANES, some), &by[i / LANES]);
        store_c64(LANES, q, to + i * C64, C64);
    }
    if (past)
        ew_loop_store_line(out, made);
}

/* What is less than a line, or has gaps. */
EW_INLINE void divide_rest(int64_t cols, struct place x, const char *ask,
                           const struct divisors by[], char *out, int64_t step)
{
    int64_t c = 0;
    for (; c + LANES <= cols; c += LANES) {
        __builtin_prefetch(ask + c * x.step);
        store_c64(LANES, quotients(load_c64(LANES, from(x, c)), by++),
                  out + c * step, step);
    }
    __builtin_prefetch(ask + c * x.step);
    if (c < cols)
        store_c64(cols - c, quotients(load_c64(cols - c, from(x, c)), by),
                  out + c * step, step);
}

EW_INLINE void divide_dense_row(int64_t cols, const char *x, const char *ask,
                                const struct divisors by[], char *out,
                                bool past)
{
    int64_t c = 0;
    for (; c + EACH_LINE <= cols; c += EACH_LINE) {
        __builtin_prefetch(ask + c * C64);
        divide_line(x + c * C64, by + c / LANES, out + c * C64, past);
    }
    if (c < cols)
        divide_rest(cols - c, (struct place){x + c * C64, C64}, ask + c * C64,
                    by + c / LANES, out + c * C64, C64);
}

/* All rows of a strip. The last one asks for the strip beside it. */
EW_INLINE void divide_strip_by(int64_t rows, int64_t cols,
                               const struct divisors by[], void *const data[],
                               const struct ew_stride s[], bool past)
{
    const bool dense = s[EW_X].col == C64 && s[EW_OUT].col == C64;
    for (int64_t r = 0; r < rows; r++) {
        const char *x = ew_loop_at(data, s, EW_X, r);
        const char *ask = r + 1 < rows
                              ? x + s[EW_X].row
                              : (const char *)data[EW_X] + cols * s[EW_X].col;
        char *out = ew_loop_at(data, s, EW_OUT, r);
        if (dense)
            divide_dense_row(cols, x, ask, by, out, past);
        else
            divide_rest(cols, (struct place){x, s[EW_X].col}, ask, by, out,
                        s[EW_OUT].col);
    }
}

/* The divisors of a strip; false: one is odd. */
static bool find_divisors(int64_t cols, struct place y, struct divisors by[])
{
    bool odd = false;
    for (int64_t c = 0; c < cols; c += LANES) {
        int64_t n = cols - c < LANES ? cols - c : LANES;
        by[c / LANES] = divisors(load_c64(n, from(y, c)));
        odd |= any_nan(by[c / LANES].whole);
    }
    return !odd;
}

static void divide_strip(int64_t rows, int64_t cols, void *const data[],
                         const struct ew_stride s[], bool past)
{
    struct divisors by[STRIP / LANES];
    const struct place y = {data[EW_Y], s[EW_Y].col};
    if (!find_divisors(cols, y, by))
        divide_rows(rows, cols, data, s);
    else if (past)
        divide_strip_by(rows, cols, by, data, s, true);
    else
        divide_strip_by(rows, cols, by, data, s, false);
}

/* Down n columns, 1 to LANES, whose divisors stay in registers. */
EW_INLINE void divide_down(int64_t rows, int64_t n, void *const data[],
                           const struct ew_stride s[])
{
    const struct place y = {data[EW_Y], s[EW_Y].col};
    const struct divisors by = divisors(load_c64(n, y));
    const bool odd = any_nan(by.whole);
    for (int64_t r = 0; r < rows; r++) {
        struct place x = {ew_loop_at(data, s, EW_X, r), s[EW_X].col};
        char *out = ew_loop_at(data, s, EW_OUT, r);
        if (odd)
            divide_each(n, x, y, out, s[EW_OUT].col);
        else
            store_c64(n, quotients(load_c64(n, x), &by), out, s[EW_OUT].col);
    }
}

/* Short rows: down some of them, which stay in the L1 cache meanwhile, a vector
   of columns at a time. */
static void divide_short(int64_t rows, int64_t cols, void *const data[],
                         const struct ew_stride s[])
{
    for (int64_t r = 0; r < rows; r += DOWN)
        for (int64_t c = 0; c < cols; c += LANES) {
            int64_t n = rows - r < DOWN ? rows - r : DOWN;
            void *some[EW_OUT + 1];
            for (int k = 0; k <= EW_OUT; k++)
                some[k] = ew_loop_at(data, s, k, r) + c * s[k].col;
            if (cols - c >= LANES)
                divide_down(n, LANES, some, s);
            else
                divide_down(n, cols - c, some, s);
        }
}

/* Whether all rows are divided by one row. */
static bool shares_divisors(int64_t rows, int64_t cols,
                            const struct ew_stride s[])
{
    return rows > 1 && cols >= LANES && s[EW_Y].row == 0 && s[EW_Y].col != 0;
}

/* All rows by the one row that y is. past: x and out are dense, and rows of out
   start equally far behind a line, from which on lines are stored past the
   caches where no divisor of a strip is odd, but not those of short rows. */
static void divide_by_row(int64_t rows, int64_t cols, void *const data[],
                          const struct ew_stride s[], bool past)
{
    int64_t c = 0, n;
    if (cols < SHORT) {
        divide_short(rows, cols, data, s);
        return;
    }
    for (; c < cols; c += n) {
        void *some[EW_OUT + 1];
        for (int k = 0; k <= EW_OUT; k++)
            some[k] = (char *)data[k] + c * s[k].col;
        n = (int64_t)(-(uintptr_t)some[EW_OUT] % EW_LINE) / C64;
        n = past && n ? n : STRIP;
        n = cols - c < n ? cols - c : n;
        divide_strip(rows, n, some, s, past);
    }
}

#endif
