/*
 * The kernels of quotients of c64: rows of them, rows that are all divided by
 * one row, short rows, which are walked down as columns, and rows that are
 * stored past the caches.
 */
#ifndef EW_COMPLEX_DIVIDE_C64_H
#define EW_COMPLEX_DIVIDE_C64_H

#include "complex_divide_strip.h"

enum { PIECE = 64 }; /* elements stored past the caches at once */

/* Rows shorter than a vector are walked down, as columns, some at a time, which
   stay in the L1 cache meanwhile. */
static void div_c64(int64_t rows, int64_t cols, void *const data[],
                    const struct ew_stride s[])
{
    struct ew_stride turned[EW_OUT + 1];
    if (shares_divisors(rows, cols, s)) {
        divide_by_row(rows, cols, data, s, false);
        return;
    }
    if (cols >= LANES || cols >= rows) {
        divide_rows(rows, cols, data, s);
        return;
    }
    for (int k = 0; k <= EW_OUT; k++)
        turned[k] = (struct ew_stride){s[k].col, s[k].row};
    for (int64_t r = 0; r < rows; r += DOWN) {
        void *some[] = {ew_loop_at(data, s, EW_X, r),
                        ew_loop_at(data, s, EW_Y, r),
                        ew_loop_at(data, s, EW_OUT, r)};
        divide_rows(cols, rows - r < DOWN ? rows - r : DOWN, some, turned);
    }
}

#if defined(__AVX__)
#define EW_PAST_DIV_C64 div_past_c64
static void divide_row(int64_t cols, struct place x, struct place y, char *out)
{
    void *data[] = {(void *)x.at, (void *)y.at, out};
    const struct ew_stride s[] = {{0, x.step}, {0, y.step}, {0, C64}};
    divide_rows(1, cols, data, s);
}

/* Lines are made in the L1 cache and then stored at once: memory is slow where
   parts of a line come one by one, and slowest where some are stored as usual.
   Short rows, and the ends of others, are. */
static void divide_row_past(int64_t cols, struct place x, struct place y,
                            char *out)
{
    _Alignas(EW_LINE) char made[PIECE * C64];
    int64_t c = (int64_t)(-(uintptr_t)out % EW_LINE) / C64, n;
    if (cols < PIECE)
        c = cols;
    divide_row(c, x, y, out);
    for (; c + EACH_LINE <= cols; c += n) {
        n = cols - c < PIECE ? (cols - c) / EACH_LINE * EACH_LINE : PIECE;
        divide_row(n, from(x, c), from(y, c), made);
        for (int64_t i = 0; i < n * C64; i += EW_LINE)
            ew_loop_store_line(out + c * C64 + i, made + i);
    }
    divide_row(cols - c, from(x, c), from(y, c), out + c * C64);
}

/* Whether rows go past the caches by divisors that are kept: they are dense and
   start equally far behind a line. With AVX2 shorter ones take up to 1.1 of the
   time so. */
static bool shares_past(int64_t rows, int64_t cols, const struct ew_stride s[])
{
    const bool quick = (int)LANES == (int)EACH_LINE || cols >= 4 * STRIP;
    return quick && shares_divisors(rows, cols, s) && s[EW_X].col == C64 &&
           s[EW_OUT].row % EW_LINE == 0;
}

/* Elements of out that lie across lines are stored as usual, and all in place,
   where lines are in the caches. */
static void div_past_c64(int64_t rows, int64_t cols, void *const data[],
                         const struct ew_stride s[])
{
    bool in_place = data[EW_OUT] == data[EW_X] || data[EW_OUT] == data[EW_Y];
    if (in_place || s[EW_OUT].col != C64 ||
        (uintptr_t)data[EW_OUT] % C64 != 0 || s[EW_OUT].row % C64 != 0) {
        div_c64(rows, cols, data, s);
        return;
    }
    if (shares_past(rows, cols, s)) {
        divide_by_row(rows, cols, data, s, true);
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        struct place x = {ew_loop_at(data, s, EW_X, r), s[EW_X].col};
        struct place y = {ew_loop_at(data, s, EW_Y, r), s[EW_Y].col};
        divide_row_past(cols, x, y, ew_loop_at(data, s, EW_OUT, r));
    }
}
#else
/* SSE2 takes longer for quotients than memory for lines. */
#define EW_PAST_DIV_C64 NULL
#endif

#endif
