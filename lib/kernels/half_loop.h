/*
 * The loops of operations on f16 and bf16 with results of their type. Rows
 * come as functions of whole blocks, one per form; rows that are shorter, and
 * what is not dense, go through the buffers of block.h.
 */
#ifndef EW_HALF_LOOP_H
#define EW_HALF_LOOP_H

#include "block.h"
#include "half.h"

enum {
    HALF_SIZE = sizeof(uint16_t),
    HALF_PIECE = 128 /* elements that are looked at before they are divided */
};

typedef float half_op(float x, float y);
typedef uint16_t half_bits(uint16_t x, uint16_t y);
typedef bool half_test(bool x_moves, bool y_moves, int64_t n, const uint16_t *x,
                       const uint16_t *y);

#if defined(EW_COMPARE_BITS)
typedef __m512i half_vectors(__m512i x, __m512i y);

/* A vector that is loaded once. GCC 12 loads it again for each instruction that
   uses it, which takes a quarter longer where vectors straddle lines. */
EW_INLINE __m512i half_load(const uint16_t *x)
{
    __m512i v = _mm512_loadu_si512(x);
    __asm__("" : "+v"(v));
    return v;
}

/* The elements of a vector of bf16 at even and at odd places. */
enum { HALF_PAIRS = sizeof(__m512i) / HALF_SIZE };
struct half_pairs {
    float low[HALF_PAIRS / 2], high[HALF_PAIRS / 2];
};

EW_INLINE struct half_pairs half_widen_pairs(const uint16_t *x)
{
    const __m512i v = half_load(x);
    struct half_pairs to;
    _mm512_storeu_si512(to.low, _mm512_slli_epi32(v, 16));
    _mm512_storeu_si512(to.high,
                        _mm512_and_si512(v, _mm512_set1_epi32(-0x10000)));
    return to;
}

/* As ew_half_bf16_from_result, in the upper half; below it is anything. A mask
   is a step less than the last bit moved down. */
EW_INLINE __m512i half_round_pairs(const float x[])
{
    __m512i b = _mm512_loadu_si512(x);
    __mmask16 odd = _mm512_test_epi32_mask(b, _mm512_set1_epi32(0x10000));
    __m512i up = _mm512_add_epi32(b, _mm512_set1_epi32(0x7fff));
    return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
}

EW_INLINE void half_narrow_pairs(const struct half_pairs *made, uint16_t *out)
{
    __m512i low = _mm512_srli_epi32(half_round_pairs(made->low), 16);
    __m512i high = half_round_pairs(made->high);
    _mm512_storeu_si512(out, _mm512_mask_mov_epi16(low, 0xaaaaaaaa, high));
}
#endif

/* Rows of at least one block. The last block ends where the row does and is
   made first, before out, which may be x, is written; what it shares with the
   block before is stored twice, the same. */
static void half_rows(ew_block_compute *form, const void *with, int64_t rows,
                      int64_t cols, void *const data[],
                      const struct ew_stride s[])
{
    const int64_t whole = cols - cols % EW_BLOCK, last = cols - EW_BLOCK;
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    for (int64_t r = 0; r < rows; r++) {
        uint16_t end[EW_BLOCK];
        if (whole < cols)
            form(EW_BLOCK, x + last * s[EW_X].col, y + last * s[EW_Y].col, with,
                 end);
        form(whole, x, y, with, out);
        if (whole < cols)
            memcpy(out + last * HALF_SIZE, end, sizeof end);
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

/* A whole kernel; forms are those of ew_form but the strided one, and `with` is
   what they read beside the operands. */
static void half_loop(ew_block_compute *const forms[], const void *with,
                      int64_t rows, int64_t cols, void *const data[],
                      const struct ew_stride s[])
{
    static const uint16_t one = 0x3c00; /* a number in both types */
    enum ew_form form = ew_loop_form(s, HALF_SIZE, HALF_SIZE, HALF_SIZE);
    if (form != EW_STRIDED && cols >= EW_BLOCK)
        half_rows(forms[form], with, rows, cols, data, s);
    else
        ew_block_all(forms[EW_BOTH], HALF_SIZE, &one, with, rows, cols, data,
                     s);
}

#endif
