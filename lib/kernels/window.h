/*
 * Columns of a few elements that lie near each other, turned to rows: each is
 * picked from a window of memory by the first of the shuffles that turn a block
 * in registers, so that it does not matter how far apart its elements are.
 *
 *     x    a0 .. .. a1 .. .. a2 ..      out   a0 b0 c0 d0
 *          b0 .. .. b1 .. .. b2 ..            a1 b1 c1 d1
 *          c0 .. .. c1 .. .. c2 ..            a2 b2 c2 d2
 *          d0 .. .. d1 .. .. d2 ..
 *
 * For AVX-512 where it shuffles bytes; no byte outside the windows, and none
 * beside the rows, is touched.
 */
#ifndef EW_WINDOW_H
#define EW_WINDOW_H

#include "loop.h"

#if defined(EW_VBMI)

enum { WINDOW_ROW = 16 }; /* bytes of a block's rows, and of its columns */

/* The bytes of windows, and which of them four columns are made of: rows lie
   side by side in a vector, of each of which every column has an element. */
struct window {
    __mmask64 bytes;
    __m512i order;
};

/* `from` has the places of a column's bytes. Columns that are whole lanes of a
   vector are ordered at once. */
EW_VBMI EW_INLINE struct window window_make(int64_t size, bool lanes,
                                            int64_t bytes, const void *from)
{
    char byte[EW_LINE], lane[EW_LINE];
    for (int64_t i = 0; i < EW_LINE; i++) {
        byte[i] = (char)(i / (4 * size) * size + i % size);
        lane[i] = (char)(lanes ? i / size % 4 * WINDOW_ROW : 0);
    }
    __m512i order = _mm512_permutexvar_epi8(_mm512_loadu_si512(byte),
                                            _mm512_loadu_si512(from));
    return (struct window){ew_loop_first(bytes),
                           _mm512_add_epi8(order, _mm512_loadu_si512(lane))};
}

/* A load that reaches into the next line takes longer, whatever its mask. */
EW_INLINE __m512i window_load(int64_t most, __mmask64 bytes, const char *x)
{
    if (most == 32)
        return _mm512_castsi256_si512(
            _mm256_maskz_loadu_epi8((__mmask32)bytes, x));
    return _mm512_maskz_loadu_epi8(bytes, x);
}

/* Four columns; those of windows of 16 bytes, all of which are columns, are
   lanes of a vector first. */
EW_VBMI EW_INLINE __m512i window_columns(int64_t size, int64_t most,
                                         struct window w,
                                         const char *const column[])
{
    const __mmask64 first = size == 1 ? 0x1111111111111111 : 0x0303030303030303;
    __m512i v = _mm512_setzero_si512();
    EW_UNROLLED
    for (int i = 0; i < 4; i++)
        if (most == WINDOW_ROW) {
            __m128i lane = _mm_loadu_si128((const void *)column[i]);
            v = _mm512_mask_broadcast_i32x4(v, (__mmask16)(15 << 4 * i), lane);
        } else {
            v = _mm512_mask_permutexvar_epi8(
                v, first << i * size, w.order,
                window_load(most, w.bytes, column[i]));
        }
    return most == WINDOW_ROW ? _mm512_permutexvar_epi8(w.order, v) : v;
}

/* Four rows, which are lanes of a vector; of rows of fewer columns so many
   bytes each. */
EW_INLINE void window_store(const bool there[4], __m512i v, bool all,
                            __mmask16 some, char *const to[4])
{
    __m256i upper = _mm512_extracti64x4_epi64(v, 1);
    const __m128i made[] = {
        _mm512_castsi512_si128(v),
        _mm256_extracti128_si256(_mm512_castsi512_si256(v), 1),
        _mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)};
    EW_UNROLLED
    for (int i = 0; i < 4; i++)
        if (there[i] && all)
            _mm_storeu_si128((void *)to[i], made[i]);
        else if (there[i])
            _mm_mask_storeu_epi8(to[i], some, made[i]);
}

/* A block: of 16 columns of bytes the rows are put together by two rounds of
   shuffles, of 8 columns of halves by one. */
EW_VBMI EW_INLINE void window_turn(int64_t size, int64_t most, int64_t rows,
                                   struct window w, const char *const column[],
                                   bool all, __mmask16 some, char *out,
                                   const int64_t row[])
{
    const int vectors = size == 1 ? 4 : 2;
    __m512i v[4], pair[4];
    EW_UNROLLED
    for (int i = 0; i < vectors; i++)
        v[i] = window_columns(size, most, w, column + 4 * i);
    EW_UNROLLED
    for (int i = 0; i < vectors && size == 1; i += 2) {
        pair[i / 2] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        pair[i / 2 + 2] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
    }
    EW_UNROLLED
    for (int i = 0; i < vectors; i++) {
        const __m512i *from = size == 1 ? pair + i / 2 * 2 : v;
        __m512i made = i % 2 ? _mm512_unpackhi_epi64(from[0], from[1])
                             : _mm512_unpacklo_epi64(from[0], from[1]);
        bool there[4];
        char *to[4];
        EW_UNROLLED
        for (int j = 0; j < 4; j++) {
            int r = vectors * j + i;
            there[j] = r < rows;
            to[j] = out + (there[j] ? row[r] : 0);
        }
        window_store(there, made, all, some, to);
    }
}
#endif

#endif
