/*
 * Quotients of c64 in double with little precaution, a vector of them at a
 * time, wherever they lie:
 *
 *     8 of x, of y -> doubles -> real parts, imaginary parts -> 8 quotients
 *
 * Zeros, infinities and NaN as divisors are divided again one by one.
 */
#ifndef EW_COMPLEX_DIVIDE_C64_H
#define EW_COMPLEX_DIVIDE_C64_H

#include "complex_divide.h"
#include "complex_lanes.h"

enum {
    ASKED = 1024, /* elements of a row that asks for x and y if it has more:
                     tiles, which are near, have no more */
    PIECE = 64,   /* elements stored past the caches at once */
    DOWN = 64,    /* rows of few elements that are walked down together */
    KEPT = 2048, /* elements of rows that are divided by one row together, or 16
                    longer rows */
    /* Where vectors of quotients are quick, and more rows are read one after
       the other from memory: elements of rows that are short, rows, elements of
       all. */
    KEPT_SHORT = 32,
    KEPT_ROWS = 8,
    KEPT_ALL = 1 << 19
};

/* Divisors as what they take part with: conj(y) / |y|^2. */
struct divisors {
    struct parts y;
    reals inverse, whole; /* |y|^2 / |y|^2: NaN where y is odd */
};

/* In double no square of a float overflows or vanishes. */
EW_INLINE struct divisors divisors(struct parts y)
{
    reals square = sum_of(y.im, y.im, y.re * y.re), inverse = 1 / square;
    return (struct divisors){y, inverse, square * inverse};
}

EW_INLINE struct parts quotients(struct parts x, const struct divisors *by)
{
    struct parts y = by->y;
    return (struct parts){
        sum_of(x.re, y.re, x.im * y.im) * by->inverse,
        sum_of(-x.re, y.im, x.im * y.re) * by->inverse,
    };
}

EW_INLINE struct ew_c64 at(struct place x, int64_t i)
{
    struct ew_c64 z;
    memcpy(&z, x.at + i * x.step, sizeof z);
    return z;
}

/* The same as a vector makes of them, one by one, and odd divisors. out may be
   x or y. */
static void divide_each(int64_t n, struct place x, struct place y, char *out,
                        int64_t step)
{
    for (int64_t i = 0; i < n; i++) {
        struct ew_c64 a = at(x, i), b = at(y, i), q;
        double re = b.re, im = b.im, square = re * re + im * im;
        double inverse = 1 / square;
        if (square > 0 && square < INFINITY)
            q = (struct ew_c64){(float)((a.re * re + a.im * im) * inverse),
                                (float)((a.im * re - a.re * im) * inverse)};
        else
            q = divide_c64(a, b);
        memcpy(out + i * step, &q, sizeof q);
    }
}

EW_INLINE struct place from(struct place x, int64_t i)
{
    return (struct place){x.at + i * x.step, x.step};
}

/* By one divisor that is not odd, or by those of y if it is NULL. A few
   elements take less time one by one. */
EW_INLINE void divide_lanes(int64_t n, struct place x, struct place y,
                            const struct divisors *one, char *out, int64_t step)
{
    struct divisors by;
    if (n > LANES / 4)
        by = one ? *one : divisors(load_c64(n, y));
    if (n <= LANES / 4 || (!one && any_nan(by.whole)))
        divide_each(n, x, y, out, step);
    else
        store_c64(n, quotients(load_c64(n, x), &by), out, step);
}

EW_INLINE void divide_row_from(int64_t cols, struct place x, struct place y,
                               const struct divisors *one, char *out,
                               int64_t step)
{
    int64_t c = 0;
    const bool asks = cols > ASKED;
    for (; c + LANES <= cols; c += LANES) {
        if (asks && x.step == C64)
            ew_loop_ask_later(from(x, c).at);
        if (asks && y.step == C64)
            ew_loop_ask_later(from(y, c).at);
        divide_lanes(LANES, from(x, c), from(y, c), one, out + c * step, step);
    }
    if (c < cols)
        divide_lanes(cols - c, from(x, c), from(y, c), one, out + c * step,
                     step);
}

/* Steps are constants where all is dense. */
EW_INLINE void divide_row_by(int64_t cols, struct place x, struct place y,
                             const struct divisors *one, char *out,
                             int64_t step)
{
    if (x.step == C64 && step == C64 && y.step == (one ? 0 : C64))
        divide_row_from(cols, (struct place){x.at, C64},
                        (struct place){y.at, one ? 0 : C64}, one, out, C64);
    else
        divide_row_from(cols, x, y, one, out, step);
}

static void divide_row_by_one(int64_t cols, struct place x, struct place y,
                              char *out, int64_t step)
{
    const struct divisors one = divisors(load_c64(1, y));
    if (any_nan(one.whole))
        divide_each(cols, x, y, out, step);
    else
        divide_row_by(cols, x, y, &one, out, step);
}

static void divide_rows(int64_t rows, int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    for (int64_t r = 0; r < rows; r++) {
        struct place x = {ew_loop_at(data, s, EW_X, r), s[EW_X].col};
        struct place y = {ew_loop_at(data, s, EW_Y, r), s[EW_Y].col};
        char *out = ew_loop_at(data, s, EW_OUT, r);
        if (y.step == 0)
            divide_row_by_one(cols, x, y, out, s[EW_OUT].col);
        else
            divide_row_by(cols, x, y, NULL, out, s[EW_OUT].col);
    }
}

/* Down n columns, 1 to LANES, by divisors that are the same for all rows. */
EW_INLINE void divide_down(int64_t rows, int64_t n, void *const data[],
                           const struct ew_stride s[])
{
    struct place y = {data[EW_Y], s[EW_Y].col};
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

/* Whether it pays to divide all rows by one that is kept, some rows at once. */
EW_INLINE bool pays_down(int64_t rows, int64_t cols)
{
#if defined(__AVX512F__)
    (void)rows, (void)cols;
    return true;
#else
    return cols <= KEPT_SHORT ||
           (rows >= KEPT_ROWS && cols <= KEPT && rows <= KEPT_ALL / cols);
#endif
}

/* All rows by the one row that y is. */
static void divide_by_row(int64_t rows, int64_t cols, void *const data[],
                          const struct ew_stride s[])
{
    const int64_t fit = KEPT / cols, most = fit < DOWN ? fit : DOWN;
    const int64_t down = most > 16 ? most : 16;
    for (int64_t r = 0; r < rows; r += down)
        for (int64_t c = 0; c < cols; c += LANES) {
            int64_t n = rows - r < down ? rows - r : down;
            void *some[EW_OUT + 1];
            for (int k = 0; k <= EW_OUT; k++)
                some[k] = ew_loop_at(data, s, k, r) + c * s[k].col;
            if (cols - c >= LANES)
                divide_down(n, LANES, some, s);
            else
                divide_down(n, cols - c, some, s);
        }
}

/* Rows shorter than a vector are walked down, as columns, some at a time, which
   stay in the L1 cache meanwhile. */
static void div_c64(int64_t rows, int64_t cols, void *const data[],
                    const struct ew_stride s[])
{
    struct ew_stride turned[EW_OUT + 1];
    if (rows > 1 && cols >= LANES && s[EW_Y].row == 0 && s[EW_Y].col != 0 &&
        pays_down(rows, cols)) {
        divide_by_row(rows, cols, data, s);
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
    const int64_t line = EW_LINE / C64;
    int64_t c = (int64_t)(-(uintptr_t)out % EW_LINE) / C64, n;
    if (cols < PIECE)
        c = cols;
    divide_row(c, x, y, out);
    for (; c + line <= cols; c += n) {
        n = cols - c < PIECE ? (cols - c) / line * line : PIECE;
        divide_row(n, from(x, c), from(y, c), made);
        for (int64_t i = 0; i < n * C64; i += EW_LINE)
            ew_loop_store_line(out + c * C64 + i, made + i);
    }
    divide_row(cols - c, from(x, c), from(y, c), out + c * C64);
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
