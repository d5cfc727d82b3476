/*
 * Turns c64 into bool: whether two are equal. On AVX-512 four vectors of each
 * make one mask, of two bits for each element, which becomes words of two bytes
 * each, and a word is true if both are:
 *
 *     re im re im ..  -\
 *                       == -> 64 bits -> 32 words -> 32 bits -> out[0..31]
 *     re im re im ..  -/
 */
#ifndef EW_COMPLEX_EQUAL_H
#define EW_COMPLEX_EQUAL_H

#include "loop.h"

#if defined(__AVX512BW__)
enum {
    COMPARED = 32, /* elements at once */
    COMPARED_VECTOR = EW_LINE / sizeof(struct ew_c64),
    COMPARED_FAR = 1 << 20 /* bytes of a row that comes from memory */
};

/* Elements that move, or one that stands still as a vector of copies. */
struct compared {
    const struct ew_c64 *at;
    __m512 all;
    bool moves;
};

EW_INLINE struct compared compared_of(const void *at, bool moves)
{
    int64_t bits;
    memcpy(&bits, at, sizeof bits);
    const __m512 all = _mm512_castsi512_ps(_mm512_set1_epi64(bits));
    return (struct compared){at, all, moves};
}

/* Vector k from element c on, of which a mask has those that are there. */
EW_INLINE __m512 compared_vector(struct compared x, int64_t c, int k,
                                 __mmask32 some)
{
    const __mmask8 here = (__mmask8)(some >> k * COMPARED_VECTOR);
    const void *from = x.at + c + k * COMPARED_VECTOR;
    return x.moves ? _mm512_castpd_ps(_mm512_maskz_loadu_pd(here, from))
                   : x.all;
}

EW_INLINE __mmask32 compared_parts(struct compared x, struct compared y,
                                   int64_t c, int k, __mmask32 some)
{
    return _mm512_cmp_ps_mask(compared_vector(x, c, k, some),
                              compared_vector(y, c, k, some), _CMP_EQ_OQ);
}

/* 32 elements from c on, or some of them. */
EW_INLINE void compare_some(bool equal, struct compared x, struct compared y,
                            int64_t c, __mmask32 some, uint8_t *out)
{
    const __mmask32 low = _mm512_kunpackw(compared_parts(x, y, c, 1, some),
                                          compared_parts(x, y, c, 0, some));
    const __mmask32 high = _mm512_kunpackw(compared_parts(x, y, c, 3, some),
                                           compared_parts(x, y, c, 2, some));
    const __m512i parts = _mm512_movm_epi8(_mm512_kunpackd(high, low));
    const __m512i both = _mm512_set1_epi16(-1);
    const __mmask32 made = equal ? _mm512_cmpeq_epi16_mask(parts, both)
                                 : _mm512_cmpneq_epi16_mask(parts, both);
    _mm256_mask_storeu_epi8(out + c, some, _mm256_maskz_set1_epi8(made, 1));
}

EW_INLINE void compare_rows(bool equal, bool x_moves, bool y_moves,
                            int64_t rows, int64_t cols, void *const data[],
                            const struct ew_stride s[])
{
    for (int64_t r = 0; r < rows; r++) {
        const struct compared x =
            compared_of(ew_loop_at(data, s, EW_X, r), x_moves);
        const struct compared y =
            compared_of(ew_loop_at(data, s, EW_Y, r), y_moves);
        uint8_t *out = ew_loop_at(data, s, EW_OUT, r);
        int64_t c = 0;
        const bool asks = cols * (int64_t)sizeof *x.at >= COMPARED_FAR;
        for (; c + COMPARED <= cols; c += COMPARED) {
            for (int k = 0; asks && k < COMPARED; k += COMPARED_VECTOR) {
                if (x.moves)
                    ew_loop_ask_later(x.at + c + k);
                if (y.moves)
                    ew_loop_ask_later(y.at + c + k);
            }
            compare_some(equal, x, y, c, (__mmask32)-1, out);
        }
        if (c < cols)
            compare_some(equal, x, y, c,
                         (__mmask32)ew_loop_first((int)(cols - c)), out);
    }
}
#endif

/* A whole kernel. */
EW_INLINE void compare_c64(bool equal, ew_apply *apply, int64_t rows,
                           int64_t cols, void *const data[],
                           const struct ew_stride s[])
{
    enum { SIZE = sizeof(struct ew_c64) };
#if defined(__AVX512BW__)
    switch (ew_loop_form(s, SIZE, SIZE, 1)) {
    case EW_BOTH:
        compare_rows(equal, true, true, rows, cols, data, s);
        return;
    case EW_X_ALONE:
        compare_rows(equal, true, false, rows, cols, data, s);
        return;
    case EW_Y_ALONE:
        compare_rows(equal, false, true, rows, cols, data, s);
        return;
    case EW_STRIDED:
        break;
    }
#endif
    (void)equal;
    ew_loop(apply, SIZE, SIZE, 1, rows, cols, data, s);
}

#endif
