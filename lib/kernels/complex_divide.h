/*
 * Division of complex numbers. Those of c64 are divided in double with little
 * precaution, a vector of them at a time, wherever they lie:
 *
 *     8 of x, of y -> doubles -> real parts, imaginary parts -> 8 quotients
 *
 * and those of c128 by Smith's method, in blocks. Zeros, infinities and NaN as
 * divisors, and what is far from 1 in c128, are divided again one by one.
 * Measured needs for intrinsics: compilers convert a vector in two halves, with
 * which a quotient takes 1.3 times as long, and have no way to look at all
 * lanes.
 */
#ifndef EW_COMPLEX_DIVIDE_H
#define EW_COMPLEX_DIVIDE_H

#include "block.h"
#include "wide.h"

/* ---------------------------------------------------------------------
 * With all precautions
 */

/* 2^e, -1022 <= e <= 1023. */
EW_INLINE double power_of_two(int64_t e)
{
    return from_bits_f64((uint64_t)(e + 1023) << 52);
}

EW_INLINE struct ew_c128 scale(struct ew_c128 z, int64_t e)
{
    return (struct ew_c128){z.re * power_of_two(e), z.im * power_of_two(e)};
}

/* The exponent of the larger part, as far as its negative can scale; 0 for
   infinity and NaN. */
EW_INLINE int64_t exponent(struct ew_c128 z)
{
    int64_t re = (int64_t)(bits_f64(z.re) >> 52 & 0x7ff);
    int64_t im = (int64_t)(bits_f64(z.im) >> 52 & 0x7ff);
    int64_t e = (re > im ? re : im) - 1023;
    int64_t above = e > 1022 ? 1022 : e;
    int64_t within = e < -1022 ? -1022 : above;
    return e == 1024 ? 0 : within;
}

/* Smith's method: the divisor's larger part is divided out first. Where that
   is the imaginary one, both are multiplied by -i before. A divisor of 0
   divides each part. R. L. Smith, CACM 5 (1962), Algorithm 116. */
EW_INLINE struct ew_c128 smith(struct ew_c128 x, struct ew_c128 y, bool zero)
{
    bool turn = fabs(y.re) < fabs(y.im);
    double large = turn ? y.im : y.re, small = turn ? -y.re : y.im;
    double re = turn ? x.im : x.re, im = turn ? -x.re : x.im;
    double ratio = small / large;
    double whole = large + EW_ROUNDED(small * ratio);
    double more = EW_ROUNDED(im * ratio), less = EW_ROUNDED(re * ratio);
    double above = zero ? re : re + more, beside = zero ? im : im - less;
    double below = zero ? 0 : whole;
    return (struct ew_c128){above / below, beside / below};
}

/* Both operands are brought near 1 by powers of two, so that only a quotient
   that is itself too large or too small overflows or underflows. Its exponent
   may take two steps, of which the last one rounds. */
EW_INLINE struct ew_c128 divide_c128(struct ew_c128 x, struct ew_c128 y)
{
    bool zero = (y.re == 0) & (y.im == 0); /* no part of x may become one */
    int64_t ex = zero ? 0 : exponent(x), ey = zero ? 0 : exponent(y);
    int64_t half = (int64_t)((uint64_t)(ex - ey + 4096) >> 1) - 2048;
    struct ew_c128 near = smith(scale(x, -ex), scale(y, -ey), zero);
    return scale(scale(near, half), ex - ey - half);
}

static struct ew_c64 divide_c64(struct ew_c64 x, struct ew_c64 y)
{
    struct ew_c128 q =
        divide_c128((struct ew_c128){x.re, x.im}, (struct ew_c128){y.re, y.im});
    return (struct ew_c64){(float)q.re, (float)q.im};
}

/* ---------------------------------------------------------------------
 * c128
 */

EW_INLINE double larger_part(struct ew_c128 z)
{
    double re = fabs(z.re), im = fabs(z.im);
    return re > im ? re : im;
}

/* Where both operands are far from the ends of the range, scaling them would
   change nothing; else *odd is set. */
EW_INLINE struct ew_c128 fast_divide_c128(struct ew_c128 x, struct ew_c128 y,
                                          double *odd)
{
    const double least = 0x1p-300, most = 0x1p300;
    double above = larger_part(x), below = larger_part(y);
    bool even = above < most && below < most && below > least &&
                (above > least || above == 0);
    *odd = even ? 0 : 1;
    return smith(x, y, false);
}

EW_INLINE void apply_slow_div_c128(const void *x, const void *y,
                                   const void *with, void *out)
{
    (void)with;
    *(struct ew_c128 *)out =
        divide_c128(*(const struct ew_c128 *)x, *(const struct ew_c128 *)y);
}

static void compute_div_c128(int64_t n, const void *x, const void *y,
                             const void *with, void *out)
{
    (void)with;
    const struct ew_c128 *from = x, *by = y;
    struct ew_c128 made[EW_BLOCKS];
    double odd[EW_BLOCKS];
    n = n / EW_BLOCK * EW_BLOCK;
    for (int64_t i = 0; i < n; i++)
        made[i] = fast_divide_c128(from[i], by[i], &odd[i]);
    ew_block_odd(apply_slow_div_c128, n, sizeof *made, odd, x, y, made);
    memcpy(out, made, (size_t)n * sizeof *made);
}

static void div_c128(int64_t rows, int64_t cols, void *const data[],
                     const struct ew_stride s[])
{
    static const struct ew_c128 one = {1, 0};
    ew_block_all(compute_div_c128, sizeof one, &one, NULL, rows, cols, data, s);
}

/* ---------------------------------------------------------------------
 * c64
 */

/* Elements of a vector of doubles, and so of the two vectors of parts. */
#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

enum {
    C64 = sizeof(struct ew_c64),
    PIECE = 64, /* elements stored past the caches at once */
    DOWN = 64,  /* rows of few elements that are walked down together */
    KEPT = 2048 /* elements of rows that are divided by one row together, or 16
                   longer rows */
};

typedef double lanes __attribute__((vector_size(LANES * 8)));
typedef float floats __attribute__((vector_size(LANES * 4)));
typedef int64_t pairs __attribute__((vector_size(LANES * 4)));

struct parts {
    lanes re, im;
};

struct halves {
    lanes low, high;
};

/* Elements of c64 some bytes apart. */
struct place {
    const char *at;
    int64_t step;
};

/* a b + c. Products of two float are exact in double, so it makes no difference
   whether the product is rounded. */
EW_INLINE lanes sum_of(lanes a, lanes b, lanes c)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

EW_INLINE lanes widen(floats v)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd((__m256)v);
#elif defined(__AVX__)
    return (lanes)_mm256_cvtps_pd((__m128)v);
#else
    return (lanes){(double)v[0], (double)v[1]};
#endif
}

EW_INLINE floats narrow(lanes v)
{
#if defined(__AVX512F__)
    return (floats)_mm512_cvtpd_ps((__m512d)v);
#elif defined(__AVX__)
    return (floats)_mm256_cvtpd_ps((__m256d)v);
#else
    return (floats){(float)v[0], (float)v[1]};
#endif
}

/* Is there a NaN? */
EW_INLINE bool any_nan(lanes v)
{
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q) != 0;
#elif defined(__AVX__)
    __m256d nan = _mm256_cmp_pd((__m256d)v, (__m256d)v, _CMP_UNORD_Q);
    return _mm256_movemask_pd(nan) != 0;
#else
    return v[0] != v[0] || v[1] != v[1];
#endif
}

/* f of every second lane, or of the first half, between commas: vectors are
   only put together in registers if it is written out. */
#if defined(__AVX512F__)
#define EACH_SECOND(f) f(0), f(2), f(4), f(6)
#define EACH_HALF(f) f(0), f(1), f(2), f(3)
#elif defined(__AVX__)
#define EACH_SECOND(f) f(0), f(2)
#define EACH_HALF(f) f(0), f(1)
#else
#define EACH_SECOND(f) f(0)
#define EACH_HALF(f) f(0)
#endif

/* The even elements of both in turn, which turns (re, im) of a, b into (re,
   re), and these back into (re, im). */
EW_INLINE lanes evens(lanes a, lanes b)
{
#define BOTH(i) a[i], b[i]
    return (lanes){EACH_SECOND(BOTH)};
#undef BOTH
}

EW_INLINE lanes odds(lanes a, lanes b)
{
#define BOTH(i) a[i + 1], b[i + 1]
    return (lanes){EACH_SECOND(BOTH)};
#undef BOTH
}

/* Element i, or the last one instead of those behind it. */
EW_INLINE int64_t element(struct place x, int64_t i, int64_t last)
{
    int64_t bits;
    memcpy(&bits, x.at + (i < last ? i : last) * x.step, sizeof bits);
    return bits;
}

/* Half a vector's elements, from i on, one by one. */
EW_INLINE lanes gather(struct place x, int64_t i, int64_t last)
{
#define ONE(k) element(x, i + k, last)
    pairs elements = {EACH_HALF(ONE)};
#undef ONE
    floats v;
    memcpy(&v, &elements, sizeof v);
    return widen(v);
}

EW_INLINE lanes load_half(const char *at)
{
    floats v;
    memcpy(&v, at, sizeof v);
    return widen(v);
}

#if defined(__AVX512F__)
/* The lanes of floats of the first n elements. */
EW_INLINE unsigned first(int64_t n)
{
    return (1u << 2 * n) - 1;
}

/* The first n dense elements of a vector, and ones in the place of others. */
EW_INLINE struct halves load_some(int64_t n, const char *at)
{
    const __m256 one = _mm256_set1_ps(1);
    unsigned low = first(n), high = low >> 8;
    __m256 a = _mm256_mask_loadu_ps(one, (__mmask8)low, at);
    __m256 b = _mm256_mask_loadu_ps(one, (__mmask8)high, at + sizeof a);
    return (struct halves){widen((floats)a), widen((floats)b)};
}
#endif

/* n elements, 1 to LANES. */
EW_INLINE struct parts load(int64_t n, struct place x)
{
    lanes low, high;
    if (x.step == C64 && n == LANES) {
        low = load_half(x.at);
        high = load_half(x.at + sizeof(floats));
#if defined(__AVX512F__)
    } else if (x.step == C64) {
        struct halves some = load_some(n, x.at);
        low = some.low;
        high = some.high;
#endif
    } else if (x.step == 0) {
        low = high = gather(x, 0, 0);
    } else {
        low = gather(x, 0, n - 1);
        high = gather(x, LANES / 2, n - 1);
    }
    return (struct parts){evens(low, high), odds(low, high)};
}

#if defined(__AVX512F__)
/* The first n elements of a vector, dense. */
EW_INLINE void store_some(int64_t n, struct parts q, char *out)
{
    const __m512i turns = _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 1, 17,
                                            3, 19, 5, 21, 7, 23);
    __m512 re = _mm512_castps256_ps512((__m256)narrow(q.re));
    __m512 im = _mm512_castps256_ps512((__m256)narrow(q.im));
    __m512 made = _mm512_permutex2var_ps(re, turns, im);
    if (n == LANES)
        _mm512_storeu_ps(out, made);
    else
        _mm512_mask_storeu_ps(out, (__mmask16)first(n), made);
}
#else
EW_INLINE void store_some(int64_t n, struct parts q, char *out)
{
    floats low = narrow(evens(q.re, q.im)), high = narrow(odds(q.re, q.im));
    char made[LANES * C64];
    char *to = n == LANES ? out : made;
    memcpy(to, &low, sizeof low);
    memcpy(to + sizeof low, &high, sizeof high);
    for (int64_t i = 0; n < LANES && i < n; i++)
        memcpy(out + i * C64, made + i * C64, C64);
}
#endif

EW_INLINE void store(int64_t n, struct parts q, char *out, int64_t step)
{
    char made[LANES * C64];
    if (step == C64) {
        store_some(n, q, out);
        return;
    }
    store_some(LANES, q, made);
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i * step, made + i * C64, C64);
}

/* Divisors as what they take part with: conj(y) / |y|^2. */
struct divisors {
    struct parts y;
    lanes inverse, whole; /* |y|^2 / |y|^2: NaN where y is odd */
};

/* In double no square of a float overflows or vanishes. */
EW_INLINE struct divisors divisors(struct parts y)
{
    lanes square = sum_of(y.im, y.im, y.re * y.re), inverse = 1 / square;
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
        by = one ? *one : divisors(load(n, y));
    if (n <= LANES / 4 || (!one && any_nan(by.whole)))
        divide_each(n, x, y, out, step);
    else
        store(n, quotients(load(n, x), &by), out, step);
}

EW_INLINE void divide_row_from(int64_t cols, struct place x, struct place y,
                               const struct divisors *one, char *out,
                               int64_t step)
{
    int64_t c = 0;
    for (; c + LANES <= cols; c += LANES)
        divide_lanes(LANES, from(x, c), from(y, c), one, out + c * step, step);
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
    const struct divisors one = divisors(load(1, y));
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
    const struct divisors by = divisors(load(n, y));
    const bool odd = any_nan(by.whole);
    for (int64_t r = 0; r < rows; r++) {
        struct place x = {ew_loop_at(data, s, EW_X, r), s[EW_X].col};
        char *out = ew_loop_at(data, s, EW_OUT, r);
        if (odd)
            divide_each(n, x, y, out, s[EW_OUT].col);
        else
            store(n, quotients(load(n, x), &by), out, s[EW_OUT].col);
    }
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
    if (rows > 1 && cols >= LANES && s[EW_Y].row == 0 && s[EW_Y].col != 0) {
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

/* Elements of out that lie across lines are stored as usual. */
static void div_past_c64(int64_t rows, int64_t cols, void *const data[],
                         const struct ew_stride s[])
{
    if (s[EW_OUT].col != C64 || (uintptr_t)data[EW_OUT] % C64 != 0 ||
        s[EW_OUT].row % C64 != 0) {
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
