/*
 * Columns of a few elements that lie near each other, turned to rows as in
 * window.h, by AVX2: a column is put together from parts of its window of 16
 * bytes, the last of which ends where it does, or from two parts of a shorter
 * one; a block of columns is then turned in registers.
 *
 *     window   a0 .. .. a1 .. .. a2 .. .. a3      16 columns  a0 a1 a2 a3
 *     parts    0 ........ 15                      of bytes    b0 b1 b2 b3
 *                       9 ........ 24
 *
 * No byte outside the windows, and none beside the rows, is touched.
 */
#ifndef EW_WINDOW_LANES_H
#define EW_WINDOW_LANES_H

#include "loop.h"

#if defined(__AVX2__) && !defined(__AVX512BW__)

enum { WINDOW_ROW = 16, WINDOW_PARTS = EW_LINE / WINDOW_ROW };

/* The parts of a window: where they start, and which of its bytes are in a
   column, where; those of other parts are zeros. */
struct window {
    int64_t most; /* bytes of so many parts, or of half a short window */
    int64_t at[WINDOW_PARTS];
    __m128i order[WINDOW_PARTS];
};

/* Bytes that are moved at once: 16, 32 or 64, or, of two parts each, 2, 4 or 8
   of windows below a row. */
EW_INLINE int64_t window_most(int64_t bytes)
{
    int64_t most = bytes < WINDOW_ROW ? 2 : WINDOW_ROW;
    while (bytes < WINDOW_ROW ? 2 * most <= bytes : most < bytes)
        most *= 2;
    return most;
}

/* `from` has the places of a column's bytes in its window. */
EW_INLINE struct window window_make(int64_t bytes, const unsigned char from[])
{
    struct window w = {.most = window_most(bytes)};
    const bool is_short = w.most < WINDOW_ROW;
    const int64_t part = is_short ? w.most : WINDOW_ROW;
    const int64_t parts = is_short ? 2 : w.most / WINDOW_ROW;
    char order[WINDOW_PARTS][WINDOW_ROW];
    memset(order, -1, sizeof order); /* zeros */
    for (int64_t k = 0; k < parts; k++)
        w.at[k] = ((k + 1) * part < bytes ? (k + 1) * part : bytes) - part;
    for (int64_t j = 0; j < WINDOW_ROW; j++) {
        int64_t k = from[j] / part;
        int64_t place = from[j] - w.at[k];
        if (is_short)
            order[0][j] = (char)(k * 8 + place);
        else
            order[k][j] = (char)place;
    }
    memcpy(w.order, order, sizeof order);
    return w;
}

/* A column, whose bytes are in order. */
EW_INLINE __m128i window_column(int64_t most, const struct window *w,
                                const char *x)
{
    __m128i v = _mm_setzero_si128();
    if (most < WINDOW_ROW) {
        int64_t low = 0, high = 0;
        memcpy(&low, x, (size_t)most);
        memcpy(&high, x + w->at[1], (size_t)most);
        return _mm_shuffle_epi8(_mm_set_epi64x(high, low), w->order[0]);
    }
    for (int64_t k = 0; k < most / WINDOW_ROW; k++) {
        __m128i part = _mm_loadu_si128((const void *)(x + w->at[k]));
        v = _mm_or_si128(v, _mm_shuffle_epi8(part, w->order[k]));
    }
    return v;
}

EW_INLINE void window_load_by(int64_t most, int64_t columns,
                              const struct window *w, const char *x,
                              const int32_t at[], __m128i v[])
{
    for (int64_t i = 0; i < columns; i++)
        v[i] = window_column(most, w, x + at[i]);
}

/* The columns of a block, from a table of their places. */
EW_INLINE void window_load(int64_t columns, const struct window *w,
                           const char *x, const int32_t at[], __m128i v[])
{
    switch (w->most) {
    case 2:
        window_load_by(2, columns, w, x, at, v);
        break;
    case 4:
        window_load_by(4, columns, w, x, at, v);
        break;
    case 8:
        window_load_by(8, columns, w, x, at, v);
        break;
    case 16:
        window_load_by(16, columns, w, x, at, v);
        break;
    case 32:
        window_load_by(32, columns, w, x, at, v);
        break;
    default:
        window_load_by(64, columns, w, x, at, v);
    }
}

/* How a row of a block ends that has `bytes`, 4 at least: by a part that ends
   there, moved to the front of a vector. */
struct window_end {
    int64_t bytes, back;
    __m128i order;
};

EW_INLINE struct window_end window_end_of(int64_t bytes)
{
    const int64_t part = bytes < 8 ? 4 : 8;
    struct window_end end = {bytes, bytes - part, _mm_setzero_si128()};
    char order[WINDOW_ROW] = {0};
    for (int64_t j = 0; j < part; j++)
        order[j] = (char)(end.back + j);
    memcpy(&end.order, order, sizeof order);
    return end;
}

EW_INLINE void window_store(const struct window_end *end, __m128i v, char *to)
{
    __m128i last = _mm_shuffle_epi8(v, end->order);
    if (end->bytes == WINDOW_ROW) {
        _mm_storeu_si128((void *)to, v);
    } else if (end->bytes >= 8) {
        _mm_storel_epi64((void *)to, v);
        _mm_storel_epi64((void *)(to + end->back), last);
    } else {
        int32_t first = _mm_cvtsi128_si32(v), second = _mm_cvtsi128_si32(last);
        memcpy(to, &first, sizeof first);
        memcpy(to + end->back, &second, sizeof second);
    }
}

/* A block: after as many rounds as a column's number has bits, vectors are
   rows. */
EW_INLINE void window_turn(int64_t size, int64_t rows, const __m128i column[],
                           const struct window_end *end, char *out,
                           const int64_t row[])
{
    const int64_t n = WINDOW_ROW / size;
    __m128i v[WINDOW_ROW], w[WINDOW_ROW];
    EW_UNROLLED
    for (int64_t i = 0; i < n; i++)
        v[i] = column[i];
    EW_UNROLLED
    for (int64_t round = 1; round < n; round *= 2) {
        EW_UNROLLED
        for (int64_t i = 0; i < n / 2; i++) {
            __m128i a = v[i], b = v[i + n / 2];
            w[2 * i] =
                size == 1 ? _mm_unpacklo_epi8(a, b) : _mm_unpacklo_epi16(a, b);
            w[2 * i + 1] =
                size == 1 ? _mm_unpackhi_epi8(a, b) : _mm_unpackhi_epi16(a, b);
        }
        EW_UNROLLED
        for (int64_t i = 0; i < n; i++)
            v[i] = w[i];
    }
    EW_UNROLLED
    for (int64_t r = 0; r < n; r++)
        if (r < rows)
            window_store(end, v[r], out + row[r]);
}
#endif

#endif
