/*
 * Quotients of c64 in double with little precaution, a vector of them at a
 * time, wherever they lie:
 *
 *     8 of x, of y -> doubles -> real parts, imaginary parts -> 8 quotients
 *
 * Zeros, infinities and NaN as divisors are divided again one by one.
 */
#ifndef EW_COMPLEX_DIVIDE_ROW_H
#define EW_COMPLEX_DIVIDE_ROW_H

#include "complex_divide.h"
#include "complex_lanes.h"

/* Elements of a row that asks for x and y if it has more: tiles, which are
   near, have no more. */
enum { ASKED = 1024 };

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

#endif
