/*
 * Moves groups of elements that lie near each other, in any order: a vector is
 * read from one window, or made of several side by side, one or a few
 * instructions put its bytes in the order of the group, and it is stored:
 *
 *     windows   a0 a1 a2 a3 | b0 b1 b2 b3     from   4 0 5 1 6 2
 *     group     b0 a0 b1 a1 b2 a2
 *
 * Only levels with vectors of a line and masks for them can: no byte outside
 * the windows is touched, in reading or storing. Columns from windows are
 * turned to rows by AVX2, too.
 */
#include "window.h"
#include "window_lanes.h"

#if defined(__AVX512BW__)

/* Groups of `most` bytes or fewer: a store that reaches into the next line
   takes longer, whatever its mask. */
EW_INLINE void store_group(int64_t most, __mmask64 bytes, __m512i v, char *out)
{
    if (most == 16)
        _mm_mask_storeu_epi8(out, (__mmask16)bytes, _mm512_castsi512_si128(v));
    else if (most == 32)
        _mm256_mask_storeu_epi8(out, (__mmask32)bytes,
                                _mm512_castsi512_si256(v));
    else
        _mm512_mask_storeu_epi8(out, bytes, v);
}

/* Two windows of at most 8 bytes side by side. */
EW_INLINE __m128i load_two(__mmask16 window, const char *x,
                           const int32_t place[])
{
    return _mm_unpacklo_epi64(_mm_maskz_loadu_epi8(window, x + place[0]),
                              _mm_maskz_loadu_epi8(window, x + place[1]));
}

/* A quarter of the vector: one window of 16 bytes, or two. */
EW_INLINE __m128i load_quarter(int windows, __mmask16 window, const char *x,
                               const int32_t place[], int i)
{
    return windows == 8 ? load_two(window, x, place + 2 * i)
                        : _mm_maskz_loadu_epi8(window, x + place[i]);
}

EW_INLINE __m512i load_windows(int windows, __mmask64 window, const char *x,
                               const int32_t place[])
{
    if (windows == 1)
        return _mm512_maskz_loadu_epi8(window, x);
    if (windows == 2)
        return _mm512_inserti64x4(
            _mm512_castsi256_si512(
                _mm256_maskz_loadu_epi8((__mmask32)window, x + place[0])),
            _mm256_maskz_loadu_epi8((__mmask32)window, x + place[1]), 1);
    const __mmask16 m = (__mmask16)window;
    __m512i v = _mm512_castsi128_si512(load_quarter(windows, m, x, place, 0));
    v = _mm512_inserti32x4(v, load_quarter(windows, m, x, place, 1), 1);
    v = _mm512_inserti32x4(v, load_quarter(windows, m, x, place, 2), 2);
    return _mm512_inserti32x4(v, load_quarter(windows, m, x, place, 3), 3);
}

/* 16-bit words may go anywhere. So of bytes two vectors are made, of the words
   that the even ones of the group are in, and of those of the odd ones; from
   each word a shuffle takes the lower byte or the upper. */
EW_INLINE void move_groups(const struct ew_permutation *p, int windows,
                           int64_t most, bool bytes, const char *x, char *out)
{
    const __mmask64 window = ew_loop_first(p->window),
                    group = ew_loop_first(p->bytes);
    const __m512i from = _mm512_loadu_si512(p->from);
    const __m512i even = _mm512_srli_epi16(_mm512_slli_epi16(from, 8), 9);
    const __m512i odd = _mm512_srli_epi16(from, 9);
    const __m512i word =
        _mm512_set4_epi32(0x0e0e0c0c, 0x0a0a0808, 0x06060404, 0x02020000);
    const __m512i pick =
        _mm512_or_si512(word, _mm512_and_si512(from, _mm512_set1_epi8(1)));
    const __m512i low = _mm512_or_si512(pick, _mm512_set1_epi16(INT16_MIN));
    const __m512i high = _mm512_or_si512(pick, _mm512_set1_epi16(0x80));
    const int32_t *at = p->at, *to = p->to;
    const int64_t n = p->groups;
    for (int64_t i = 0; i < n; i++) {
        __m512i v = load_windows(windows, window, x + at[i], p->place);
        __m512i made = _mm512_permutexvar_epi16(even, v);
        if (bytes)
            made = _mm512_or_si512(
                _mm512_shuffle_epi8(made, low),
                _mm512_shuffle_epi8(_mm512_permutexvar_epi16(odd, v), high));
        store_group(most, group, made, out + to[i]);
    }
}

/* A window of 4, 8 or 16 bytes, or fewer than 16 under a mask, in each quarter
   of a vector; the former takes no shuffle. */
EW_INLINE __m512i load_near(int64_t bytes, __mmask16 window, const char *x)
{
    if (bytes == 4)
        return _mm512_broadcastd_epi32(_mm_loadu_si32(x));
    if (bytes == 8)
        return _mm512_broadcastq_epi64(_mm_loadl_epi64((const void *)x));
    if (bytes == 16)
        return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)x));
    return _mm512_broadcast_i32x4(_mm_maskz_loadu_epi8(window, x));
}

/* From such a window: where each quarter of the vector has all of it, one
   shuffle is enough. */
EW_INLINE void move_near(const struct ew_permutation *p, int64_t bytes,
                         int64_t most, const char *x, char *out)
{
    const __mmask64 window = ew_loop_first(p->window),
                    group = ew_loop_first(p->bytes);
    const __m512i from = _mm512_loadu_si512(p->from);
    const int32_t *at = p->at, *to = p->to;
    const int64_t n = p->groups;
    for (int64_t i = 0; i < n; i++) {
        __m512i all = load_near(bytes, (__mmask16)window, x + at[i]);
        store_group(most, group, _mm512_shuffle_epi8(all, from), out + to[i]);
    }
}

EW_INLINE void permute_near(const struct ew_permutation *p, int64_t most,
                            const char *x, char *out)
{
    if (p->window == 4)
        move_near(p, 4, most, x, out);
    else if (p->window == 8)
        move_near(p, 8, most, x, out);
    else if (p->window == 16)
        move_near(p, 16, most, x, out);
    else
        move_near(p, 0, most, x, out);
}

static bool is_near(const struct ew_permutation *p)
{
    bool whole = p->window == 4 || p->window == 8 || p->window == 16;
    return p->windows == 1 && (whole || (p->size == 1 && p->window < 16));
}

EW_INLINE void move_words(const struct ew_permutation *p, int windows,
                          int64_t most, const char *x, char *out)
{
    move_groups(p, windows, most, false, x, out);
}

EW_INLINE void move_bytes(const struct ew_permutation *p, int windows,
                          int64_t most, const char *x, char *out)
{
    move_groups(p, windows, most, true, x, out);
}

/* Groups of at most so many bytes, by a function that is known at compile
   time. */
typedef void group_mover(const struct ew_permutation *p, int windows,
                         int64_t most, const char *x, char *out);

EW_INLINE void permute_from(group_mover *move, const struct ew_permutation *p,
                            int windows, const char *x, char *out)
{
    if (p->bytes <= 16)
        move(p, windows, 16, x, out);
    else if (p->bytes <= 32)
        move(p, windows, 32, x, out);
    else
        move(p, windows, 64, x, out);
}

EW_INLINE void permute_by(group_mover *move, const struct ew_permutation *p,
                          const char *x, char *out)
{
    if (p->windows == 1)
        permute_from(move, p, 1, x, out);
    else if (p->windows == 2)
        permute_from(move, p, 2, x, out);
    else if (p->windows == 4)
        permute_from(move, p, 4, x, out);
    else
        permute_from(move, p, 8, x, out);
}

static void permute(const struct ew_permutation *p, const char *x, char *out)
{
    if (is_near(p) && p->bytes <= 16)
        permute_near(p, 16, x, out);
    else if (is_near(p))
        permute_near(p, 64, x, out);
    else if (p->size == 1)
        permute_by(move_bytes, p, x, out);
    else
        permute_by(move_words, p, x, out);
}

/* The same where one instruction puts bytes in any order. */
EW_VBMI EW_INLINE void move_any(const struct ew_permutation *p, int windows,
                                int64_t most, const char *x, char *out)
{
    const __mmask64 window = ew_loop_first(p->window),
                    group = ew_loop_first(p->bytes);
    const __m512i from = _mm512_loadu_si512(p->from);
    const int32_t *at = p->at, *to = p->to;
    const int64_t n = p->groups;
    for (int64_t i = 0; i < n; i++) {
        __m512i v = load_windows(windows, window, x + at[i], p->place);
        v = _mm512_permutexvar_epi8(from, v);
        store_group(most, group, v, out + to[i]);
    }
}

EW_VBMI static void permute_bytes(const struct ew_permutation *p, const char *x,
                                  char *out)
{
    if (p->size > 1 || is_near(p))
        permute(p, x, out);
    else
        permute_by(move_any, p, x, out);
}

/* Columns of a block, from a table of them. */
EW_VBMI EW_INLINE void pick_block(const struct ew_permutation *p, int64_t size,
                                  int64_t most, struct window w, bool all,
                                  __mmask16 some, const char *x,
                                  const int32_t *at, char *out)
{
    const char *column[WINDOW_ROW];
    const int64_t n = WINDOW_ROW / size;
    EW_UNROLLED
    for (int64_t i = 0; i < n; i++)
        column[i] = x + at[i];
    window_turn(size, most, p->rows, w, column, all, some, out, p->put);
}

/* All groups of some columns, before the next columns. Where these are fewer
   than a row of a block has, the others are the first one again. */
EW_VBMI EW_INLINE void pick_columns(const struct ew_permutation *p,
                                    int64_t size, int64_t most, bool all,
                                    const char *x, char *out)
{
    const int64_t n = WINDOW_ROW / size, cols = all ? n : p->columns;
    const __mmask16 some = (__mmask16)((1 << cols * size) - 1);
    const struct window w =
        window_make(size, most == WINDOW_ROW, p->window, p->from);
    for (int64_t c = 0; c < p->columns; c += n) {
        int64_t first = c + cols <= p->columns ? c : p->columns - cols;
        const int32_t *at = p->column + first;
        char *to = out + first * size;
        for (int64_t i = 0; i < p->groups; i++) {
            /* or compilers keep the place of each column's place */
            __asm__("" : "+r"(at));
            pick_block(p, size, most, w, all, some, x + p->at[i], at,
                       to + p->to[i]);
        }
    }
}

EW_VBMI EW_INLINE void pick_sized(const struct ew_permutation *p, int64_t size,
                                  int64_t most, const char *x, char *out)
{
    if (p->columns * size >= WINDOW_ROW)
        pick_columns(p, size, most, true, x, out);
    else
        pick_columns(p, size, most, false, x, out);
}

EW_VBMI EW_INLINE void pick_from(const struct ew_permutation *p, int64_t size,
                                 const char *x, char *out)
{
    if (p->window == 16)
        pick_sized(p, size, 16, x, out);
    else if (p->window <= 32)
        pick_sized(p, size, 32, x, out);
    else
        pick_sized(p, size, 64, x, out);
}

EW_VBMI static void pick(const struct ew_permutation *p, const char *x,
                         char *out)
{
    if (p->size == 1)
        pick_from(p, 1, x, out);
    else
        pick_from(p, 2, x, out);
}

ew_permuter *const EW_CONCAT(ew_permute, EW_LEVEL) = permute;
ew_permuter *const EW_CONCAT(EW_CONCAT(ew_permute, EW_LEVEL),
                             vbmi) = permute_bytes;
ew_permuter *const EW_CONCAT(EW_CONCAT(ew_pick, EW_LEVEL), vbmi) = pick;
#else
ew_permuter *const EW_CONCAT(ew_permute, EW_LEVEL) = NULL;
#endif

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* All groups of some columns, before the next columns. Where these are fewer
   than a row of a block has, the others are the first one again. */
static void pick(const struct ew_permutation *p, const char *x, char *out)
{
    const int64_t size = p->size, n = WINDOW_ROW / size;
    const int64_t cols = p->columns < n ? p->columns : n;
    const struct window w = window_make(p->window, p->from);
    const struct window_end end = window_end_of(cols * size);
    for (int64_t c = 0; c < p->columns; c += n) {
        int64_t first = c + cols <= p->columns ? c : p->columns - cols;
        char *to = out + first * size;
        for (int64_t i = 0; i < p->groups; i++) {
            __m128i column[WINDOW_ROW];
            window_load(n, &w, x + p->at[i], p->column + first, column);
            if (size == 1)
                window_turn(1, p->rows, column, &end, to + p->to[i], p->put);
            else
                window_turn(2, p->rows, column, &end, to + p->to[i], p->put);
        }
    }
}

ew_permuter *const EW_CONCAT(ew_pick, EW_LEVEL) = pick;
#endif
