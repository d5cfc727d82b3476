/*
 * Pieces of a few bytes that lie a constant step apart, as rows with gaps or
 * every fifth element, made dense: as many as there are in one window of memory
 * are put together by one shuffle.
 *
 *     x     a0 a1 a2 .. .. b0 b1 b2 .. .. c0 c1 c2 .. .. d0
 *     out   a0 a1 a2 b0 b1 b2 c0 c1 c2 |
 *
 * A piece may itself be a few elements with gaps, or backwards:
 *
 *     x     a2 a1 a0 b2 b1 b0 c2 c1 c0
 *     out   a0 a1 a2 b0 b1 b2 c0 c1 c2
 *
 * A store is a whole vector, of which the next one overwrites what is too much.
 */
#ifndef EW_COMPACT_H
#define EW_COMPACT_H

#include "loop.h"

/* n elements, so many bytes apart. */
struct compact_piece {
    int64_t n, size, col;
};

#if defined(__AVX2__)

/* From the first to the last byte of a piece. */
EW_INLINE int64_t compact_span(const struct compact_piece *p)
{
    int64_t reach = (p->n - 1) * p->col;
    return (reach < 0 ? -reach : reach) + p->size;
}

/* The pieces of a window of so many bytes. */
EW_INLINE int64_t compact_count(int64_t window, const struct compact_piece *p,
                                int64_t step)
{
    int64_t span = compact_span(p);
    return span <= window ? (window - span) / step + 1 : 0;
}

/* Loads a window, puts its bytes in an order, and stores it. */
typedef void compact_vector(const char *x, const char order[], char *out);

/* Makes pieces dense by windows while these are within x, and stores within
   out. Returns how many it made. */
EW_INLINE int64_t compact_by(compact_vector *move, int64_t window,
                             int64_t pieces, const struct compact_piece *p,
                             const char *x, int64_t step, char *out)
{
    const int64_t n = compact_count(window, p, step), bytes = p->n * p->size;
    const int64_t low = p->col < 0 ? (p->n - 1) * p->col : 0;
    char order[EW_LINE] = {0};
    int64_t done = 0, places = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e < p->n; e++)
            for (int64_t byte = 0; byte < p->size; byte++)
                order[places++] = (char)(i * step + e * p->col - low + byte);
    for (x += low; (pieces - done) * bytes >= window; done += n) {
        move(x, order, out);
        x += n * step;
        out += n * bytes;
    }
    return done;
}

EW_INLINE void compact_near(const char *x, const char order[], char *out)
{
    __m128i v = _mm_loadu_si128((const __m128i *)x);
    v = _mm_shuffle_epi8(v, _mm_loadu_si128((const __m128i *)order));
    _mm_storeu_si128((__m128i *)out, v);
}

#if defined(__AVX512BW__)
/* The other way: elements that follow one another, put a step apart. A window
   of out is one store under a mask, so that nobody sees a store to gaps. */
struct compact_gaps {
    int64_t elements, bytes; /* of a window */
    int64_t size, step;      /* of an element */
    __m512i order;
    __mmask64 mask;
};

/* Puts the units of a vector in an order: elements, or parts of them. */
typedef __m512i compact_units(__m512i order, __m512i x);

/* For units of one or two bytes. */
EW_INLINE struct compact_gaps compact_gaps_make(int64_t unit, int64_t size,
                                                int64_t step)
{
    struct compact_gaps g;
    char order[EW_LINE] = {0};
    g.elements = (EW_LINE - size) / step + 1;
    g.bytes = g.elements * size;
    g.size = size;
    g.step = step;
    g.mask = 0;
    for (int64_t i = 0; i < g.elements; i++) {
        g.mask |= ew_loop_first((int)size) << i * step;
        for (int64_t b = 0; b < size; b += unit)
            order[i * step + b] = (char)((i * size + b) / unit);
    }
    g.order = _mm512_loadu_si512(order);
    return g;
}

/* A row; its last windows have what is left of it. */
EW_INLINE void compact_gaps_row(compact_units *put,
                                const struct compact_gaps *g, int64_t cols,
                                const char *x, char *out)
{
    int64_t left = cols * g->size;
    for (; left >= EW_LINE; left -= g->bytes) {
        __m512i v = put(g->order, _mm512_loadu_si512(x));
        _mm512_mask_storeu_epi8(out, g->mask, v);
        x += g->bytes;
        out += g->elements * g->step;
    }
    for (; left > 0; left -= g->bytes) {
        int64_t some = left < g->bytes ? left : g->bytes;
        int64_t all = (some / g->size - 1) * g->step + g->size;
        __m512i v = _mm512_maskz_loadu_epi8(ew_loop_first((int)some), x);
        _mm512_mask_storeu_epi8(out, g->mask & ew_loop_first((int)all),
                                put(g->order, v));
        x += g->bytes;
        out += g->elements * g->step;
    }
}

EW_INLINE __m512i compact_put_words(__m512i order, __m512i x)
{
    return _mm512_permutexvar_epi16(order, x);
}

/* The same by words, in windows of a line. */
EW_INLINE void compact_words(const char *x, const char order[], char *out)
{
    __m512i even = _mm512_slli_epi16(_mm512_loadu_si512(order), 8);
    __m512i v = _mm512_permutexvar_epi16(_mm512_srli_epi16(even, 9),
                                         _mm512_loadu_si512(x));
    _mm512_storeu_si512(out, v);
}

/* Whether those have so many pieces that it is not as well to move these alone,
   each by one load and store if there are such of its size. */
EW_INLINE bool compact_is_worth(const struct compact_piece *p, int64_t step)
{
    int64_t size = p->size;
    int64_t alone = size <= 16 && (size & (size - 1)) == 0 ? 1 : 3;
    return compact_count(EW_LINE, p, step) * alone * p->n >= 5;
}

/* Whether words are enough. */
EW_INLINE bool compact_is_even(const struct compact_piece *p, int64_t step)
{
    return (p->size | p->col | step) % 2 == 0;
}
#endif

enum { EW_COMPACT_WORTH = 64 }; /* pieces, for an order of bytes to be made */

/* Makes pieces dense from the first on, as many as windows take, and returns
   how many: none where these have so few that pieces are as well moved alone,
   or where a step is less than a piece has, as windows might end beyond the
   last one. */
static int64_t compact_windows(int64_t pieces, const struct compact_piece *p,
                               const char *x, int64_t step, char *out)
{
    if (step < p->n * p->size || pieces < EW_COMPACT_WORTH)
        return 0;
#if defined(__AVX512BW__)
    if (compact_is_even(p, step) && compact_is_worth(p, step))
        return compact_by(compact_words, EW_LINE, pieces, p, x, step, out);
#endif
    int64_t count = compact_count(EW_COMPACT_WINDOW, p, step);
    if (count > 1 || count * p->n >= 4)
        return compact_by(compact_near, EW_COMPACT_WINDOW, pieces, p, x, step,
                          out);
    return 0;
}
#else
static int64_t compact_windows(int64_t pieces, const struct compact_piece *p,
                               const char *x, int64_t step, char *out)
{
    (void)pieces, (void)p, (void)x, (void)step, (void)out;
    return 0;
}
#endif

#endif
