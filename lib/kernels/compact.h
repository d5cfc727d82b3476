/*
 * Pieces of a few bytes that lie a constant step apart, as rows with gaps or
 * every fifth element, made dense: as many as there are in one window of memory
 * are put together by one shuffle.
 *
 *     x     a0 a1 a2 .. .. b0 b1 b2 .. .. c0 c1 c2 .. .. d0
 *     out   a0 a1 a2 b0 b1 b2 c0 c1 c2 |
 *
 * A store is a whole vector, of which the next one overwrites what is too much.
 */
#ifndef EW_COMPACT_H
#define EW_COMPACT_H

#include "loop.h"

#if defined(__AVX2__)

enum { EW_COMPACT_WINDOW = 16 };

/* The pieces of a window of so many bytes. */
EW_INLINE int64_t compact_count(int64_t window, int64_t bytes, int64_t step)
{
    return bytes <= window ? (window - bytes) / step + 1 : 0;
}

/* Makes pieces dense by windows while these are within x, and stores within
   out. Returns how many it made. */
static int64_t compact_bytes(int64_t pieces, int64_t bytes, const char *x,
                             int64_t step, char *out)
{
    const int64_t n = compact_count(EW_COMPACT_WINDOW, bytes, step);
    char from[EW_COMPACT_WINDOW] = {0};
    int64_t done = 0, places = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t byte = 0; byte < bytes; byte++)
            from[places++] = (char)(i * step + byte);
    const __m128i order = _mm_loadu_si128((const __m128i *)from);
    for (; (pieces - done) * bytes >= EW_COMPACT_WINDOW; done += n) {
        __m128i v = _mm_loadu_si128((const __m128i *)x);
        _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(v, order));
        x += n * step;
        out += n * bytes;
    }
    return done;
}

#if defined(__AVX512BW__)
/* The same by words, in windows of a line. */
static int64_t compact_words(int64_t pieces, int64_t bytes, const char *x,
                             int64_t step, char *out)
{
    const int64_t n = compact_count(EW_LINE, bytes, step);
    int16_t from[EW_LINE / 2] = {0};
    int64_t done = 0, places = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t byte = 0; byte < bytes; byte += 2)
            from[places++] = (int16_t)((i * step + byte) / 2);
    const __m512i order = _mm512_loadu_si512(from);
    for (; (pieces - done) * bytes >= EW_LINE; done += n) {
        __m512i v = _mm512_loadu_si512(x);
        _mm512_storeu_si512(out, _mm512_permutexvar_epi16(order, v));
        x += n * step;
        out += n * bytes;
    }
    return done;
}
#endif

/* Makes pieces dense from the first on, as many as windows take, and returns
   how many: none where these have so few that pieces are as well moved alone,
   each by one load and store if there are such of its size. Few pieces are not
   worth an order of bytes. */
static int64_t compact_windows(int64_t pieces, int64_t bytes, const char *x,
                               int64_t step, char *out)
{
    enum { WORTH = 64, WORTH_WORDS = 5 };
    if (step <= bytes || pieces < WORTH)
        return 0;
#if defined(__AVX512BW__)
    int64_t alone = bytes <= 16 && (bytes & (bytes - 1)) == 0 ? 1 : 3;
    int64_t words = compact_count(EW_LINE, bytes, step);
    if (bytes % 2 == 0 && step % 2 == 0 && words * alone >= WORTH_WORDS)
        return compact_words(pieces, bytes, x, step, out);
#endif
    if (compact_count(EW_COMPACT_WINDOW, bytes, step) > 1)
        return compact_bytes(pieces, bytes, x, step, out);
    return 0;
}
#else
static int64_t compact_windows(int64_t pieces, int64_t bytes, const char *x,
                               int64_t step, char *out)
{
    (void)pieces, (void)bytes, (void)x, (void)step, (void)out;
    return 0;
}
#endif

#endif
