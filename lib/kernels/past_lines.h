/*
 * Operations whose results go past the caches, on AVX-512: lines of out, and
 * what is before the first and behind the last one under masks. One loop does
 * for an operand that does not move: if that is x, they are exchanged.
 *
 *     x[c..c+63] -\
 *                  op -> a line -> out
 *     y[c..c+63] -/
 */
#ifndef EW_PAST_LINES_H
#define EW_PAST_LINES_H

#include "loop.h"

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define EW_PAST_LINES

typedef __m512i ew_past_vectors(__m512i x, __m512i y);

/* n bytes of a row, fewer than a line. */
EW_INLINE void ew_past_few(ew_past_vectors *op, bool y_moves, int64_t n,
                           const char *x, const char *y, __m512i y0, char *out)
{
    const uint64_t some = ew_loop_first((int)n);
    __m512i b = y_moves ? _mm512_maskz_loadu_epi8(some, y) : y0;
    _mm512_mask_storeu_epi8(out, some, op(_mm512_maskz_loadu_epi8(some, x), b));
}

/* A row of n bytes, which asks so far ahead. */
EW_INLINE void ew_past_row(ew_past_vectors *op, bool y_moves, int64_t size,
                           int64_t n, const char *x, int64_t reach_x,
                           const char *y, int64_t reach_y, char *out)
{
    int64_t one = 0;
    memcpy(&one, y, (size_t)size);
    const __m512i y0 =
        size == 1 ? _mm512_set1_epi8((char)one) : _mm512_set1_epi64(one);
    int64_t c = (int64_t)(-(uintptr_t)out % EW_LINE);
    c = c < n ? c : n;
    if (c > 0)
        ew_past_few(op, y_moves, c, x, y, y0, out);
    for (; c + EW_LINE <= n; c += EW_LINE) {
        __m512i b = y_moves ? _mm512_loadu_si512(y + c) : y0;
        __builtin_prefetch(x + c + reach_x);
        if (y_moves)
            __builtin_prefetch(y + c + reach_y);
        _mm512_stream_si512((void *)(out + c),
                            op(_mm512_loadu_si512(x + c), b));
    }
    if (c < n)
        ew_past_few(op, y_moves, n - c, x + c, y + c, y0, out + c);
}

EW_INLINE void ew_past_rows(ew_past_vectors *op, bool y_moves, int64_t size,
                            int64_t rows, int64_t cols, void *const data[],
                            const struct ew_stride s[], int x, int y)
{
    int64_t reach[2];
    ew_loop_reach(rows, cols, s, reach);
    for (int64_t r = 0; r < rows; r++)
        ew_past_row(op, y_moves, size, cols * size, ew_loop_at(data, s, x, r),
                    reach[x], ew_loop_at(data, s, y, r), reach[y],
                    ew_loop_at(data, s, EW_OUT, r));
}

/* A whole kernel on elements of 1 or 8 bytes; mirrored is op of y and x. What
   has gaps, is in place, or has elements across lines is left to another one.
 */
EW_INLINE void ew_past_lines(ew_past_vectors *op, ew_past_vectors *mirrored,
                             ew_kernel *other, int64_t size, int64_t rows,
                             int64_t cols, void *const data[],
                             const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, size, size, size);
    bool across = ((uintptr_t)data[EW_OUT] | (uintptr_t)s[EW_OUT].row) % size;
    if (form == EW_STRIDED || across || !ew_loop_is_apart(data))
        other(rows, cols, data, s);
    else if (form == EW_BOTH)
        ew_past_rows(op, true, size, rows, cols, data, s, EW_X, EW_Y);
    else if (form == EW_X_ALONE)
        ew_past_rows(op, false, size, rows, cols, data, s, EW_X, EW_Y);
    else
        ew_past_rows(mirrored, false, size, rows, cols, data, s, EW_Y, EW_X);
}
#endif

#endif
