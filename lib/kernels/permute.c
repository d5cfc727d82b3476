/*
 * Moves groups of elements that lie near each other, in any order: a vector is
 * read from one window, or made of several side by side, one or a few
 * instructions put its bytes in the order of the group, and it is stored. Only
 * levels with vectors of a line and masks for them can: no byte outside the
 * windows is touched, in reading or storing.
 */
#include "loop.h"

#if defined(__AVX512BW__)

static __mmask64 first(int64_t bytes)
{
    return ~(__mmask64)0 >> (EW_LINE - bytes);
}

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
    const __mmask64 window = first(p->window), group = first(p->bytes);
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

/* Bytes from a window of 16: where each quarter of the vector has all of it,
   one shuffle is enough. */
EW_INLINE void move_near(const struct ew_permutation *p, int64_t most,
                         const char *x, char *out)
{
    const __mmask64 window = first(p->window), group = first(p->bytes);
    const __m512i from = _mm512_loadu_si512(p->from);
    const int32_t *at = p->at, *to = p->to;
    const int64_t n = p->groups;
    for (int64_t i = 0; i < n; i++) {
        __m128i v = _mm_maskz_loadu_epi8((__mmask16)window, x + at[i]);
        __m512i all = _mm512_broadcast_i32x4(v);
        store_group(most, group, _mm512_shuffle_epi8(all, from), out + to[i]);
    }
}

EW_INLINE void permute_sized(const struct ew_permutation *p, int windows,
                             bool bytes, const char *x, char *out)
{
    if (p->bytes <= 16)
        move_groups(p, windows, 16, bytes, x, out);
    else if (p->bytes <= 32)
        move_groups(p, windows, 32, bytes, x, out);
    else
        move_groups(p, windows, 64, bytes, x, out);
}

EW_INLINE void permute_from(const struct ew_permutation *p, int windows,
                            const char *x, char *out)
{
    if (p->size == 1)
        permute_sized(p, windows, true, x, out);
    else
        permute_sized(p, windows, false, x, out);
}

static bool is_near(const struct ew_permutation *p)
{
    return p->size == 1 && p->windows == 1 && p->window <= 16;
}

static void permute(const struct ew_permutation *p, const char *x, char *out)
{
    if (is_near(p) && p->bytes <= 16)
        move_near(p, 16, x, out);
    else if (is_near(p))
        move_near(p, 64, x, out);
    else if (p->windows == 1)
        permute_from(p, 1, x, out);
    else if (p->windows == 2)
        permute_from(p, 2, x, out);
    else if (p->windows == 4)
        permute_from(p, 4, x, out);
    else
        permute_from(p, 8, x, out);
}

/* The same where one instruction puts bytes in any order. */
EW_VBMI EW_INLINE void move_any(const struct ew_permutation *p, int windows,
                                int64_t most, const char *x, char *out)
{
    const __mmask64 window = first(p->window), group = first(p->bytes);
    const __m512i from = _mm512_loadu_si512(p->from);
    const int32_t *at = p->at, *to = p->to;
    const int64_t n = p->groups;
    for (int64_t i = 0; i < n; i++) {
        __m512i v = load_windows(windows, window, x + at[i], p->place);
        v = _mm512_permutexvar_epi8(from, v);
        store_group(most, group, v, out + to[i]);
    }
}

EW_VBMI EW_INLINE void permute_any(const struct ew_permutation *p, int windows,
                                   const char *x, char *out)
{
    if (p->bytes <= 16)
        move_any(p, windows, 16, x, out);
    else if (p->bytes <= 32)
        move_any(p, windows, 32, x, out);
    else
        move_any(p, windows, 64, x, out);
}

EW_VBMI static void permute_bytes(const struct ew_permutation *p, const char *x,
                                  char *out)
{
    if (p->size > 1 || is_near(p))
        permute(p, x, out);
    else if (p->windows == 1)
        permute_any(p, 1, x, out);
    else if (p->windows == 2)
        permute_any(p, 2, x, out);
    else if (p->windows == 4)
        permute_any(p, 4, x, out);
    else
        permute_any(p, 8, x, out);
}

ew_permuter *const EW_CONCAT(ew_permute, EW_LEVEL) = permute;
ew_permuter *const EW_CONCAT(EW_CONCAT(ew_permute, EW_LEVEL),
                             vbmi) = permute_bytes;
#else
ew_permuter *const EW_CONCAT(ew_permute, EW_LEVEL) = NULL;
#endif
