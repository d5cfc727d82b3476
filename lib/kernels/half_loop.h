/*
 * The loops of operations on f16 and bf16 with results of their type. Rows
 * come as functions of whole blocks, one per form; rows that are shorter, and
 * what is not dense, go through the buffers of block.h. On AVX-512 most come as
 * kernels of all rows instead, one per form, as what is around a row would take
 * longer than a row of a few vectors. There the end of a row is the last vector
 * that lies in it, which is read first, or has a mask: past the caches, in rows
 * of less than a vector, and of f16 that is computed in f32.
 *
 *     row of 40       0 ........ 15 16 ....... 31      blocks
 *        made first                     24 ....... 39
 *     AVX-512         0 ................. 31
 *        read first          8 ................. 39
 *     with a mask     0 ................. 31 32 .. 39 ..
 */
#ifndef EW_HALF_LOOP_H
#define EW_HALF_LOOP_H

#include "block.h"
#include "half.h"

enum {
    HALF_SIZE = sizeof(uint16_t),
#if defined(EW_COMPARE_BITS)
    HALF_END = 2 * EW_BLOCK, /* elements of the last block of a row */
#else
    HALF_END = EW_BLOCK,
#endif
    HALF_PIECE = 128, /* elements that are looked at before they are divided */
    HALF_LONG = 4000, /* of a row that asks for lines of out if it has more */
    HALF_ASKED = 512  /* of one that asks for lines of x and y */
};

/* How an operation is computed: as it is; the same, but it takes so little that
   long rows ask for lines of out; with what stands around it (kernel.h); with
   relu; stored past the caches. */
enum half_how { HALF_ALONE, HALF_ASKS, HALF_WHOLE, HALF_RELU, HALF_PAST };

typedef float half_op(float x, float y);
typedef uint16_t half_bits(uint16_t x, uint16_t y);
typedef bool half_test(bool x_moves, bool y_moves, int64_t n, const uint16_t *x,
                       const uint16_t *y);

/* A row of such an operation, with what no store can change. */
struct half_row {
    bool x_moves, y_moves;
    const uint16_t *x, *y;
    float x0, y0; /* the operands that do not move */
    float around[EW_AROUNDS];
    uint16_t *out;
};

/* x / y, which on AVX-512 is estimated where divisions are slow. */
EW_INLINE float half_quotient(float x, float y)
{
    return x / y;
}

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

enum { HALF_LANES = sizeof(__m512i) / HALF_SIZE };

/* Asks for the lines that a long row reads later. */
EW_INLINE void half_ask(const struct half_row *r, int64_t c)
{
    if (r->x_moves)
        ew_loop_ask_later(r->x + c);
    if (r->y_moves)
        ew_loop_ask_later(r->y + c);
}

/* The first of so many lanes, at most all. */
EW_INLINE __mmask32 half_mask(int64_t n)
{
    return n < HALF_LANES ? ((__mmask32)1 << n) - 1 : ~(__mmask32)0;
}

/* Those of a vector alone; the others are the number 1 of f16, which is one of
   bf16 too. */
EW_INLINE __m512i half_load_some(const uint16_t *x, __mmask32 some)
{
    return _mm512_mask_loadu_epi16(_mm512_set1_epi16(0x3c00), some, x);
}

/* A whole vector or so many elements of one, at compile time. */
EW_INLINE __m512i half_get(bool all, const uint16_t *x, __mmask32 some)
{
    return all ? half_load(x) : half_load_some(x, some);
}

/* So many elements are before the first line of out, of n. */
EW_INLINE int64_t half_head(const uint16_t *out, int64_t n)
{
    int64_t head = (int64_t)(-(uintptr_t)out % EW_LINE / HALF_SIZE);
    return head < n ? head : n;
}

/* Whether the end of a row is a whole vector, which is read before out, which
   may be x or y, is written. That takes less than a mask, and in place a masked
   store, of which processors do not know where it ends, would let the start of
   the next row wait. */
EW_INLINE bool half_ends_whole(int64_t n)
{
    return n > HALF_LANES && n % HALF_LANES != 0;
}

/* A whole vector, which is a line where it goes past the caches. */
EW_INLINE void half_store(enum half_how how, uint16_t *out, __m512i v)
{
    if (how == HALF_PAST)
        _mm512_stream_si512((void *)out, v);
    else
        _mm512_storeu_si512(out, v);
}

EW_INLINE void half_put(enum half_how how, bool all, uint16_t *out,
                        __mmask32 some, __m512i v)
{
    if (all)
        half_store(how, out, v);
    else
        _mm512_mask_storeu_epi16(out, some, v);
}

/* The elements of a vector of bf16 at even and at odd places. */
struct half_pairs {
    float low[HALF_LANES / 2], high[HALF_LANES / 2];
};

EW_INLINE struct half_pairs half_widen_pairs(__m512i v)
{
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

/* As ew_half_bf16_from_f32. */
EW_INLINE __m512i half_round_any(const float x[])
{
    __m512 v = _mm512_loadu_ps(x);
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(half_round_pairs(x), nan, (__m512i)v,
                                _mm512_set1_epi32(0x400000));
}

/* As half_round_pairs, with relu: what is not above 0, nor NaN, becomes 0 or 1,
   which is below the upper half. */
EW_INLINE __m512i half_round_relu(const float x[])
{
    __m512 v = _mm512_loadu_ps(x);
    __m512i b = (__m512i)v;
    __mmask16 on = _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NLE_UQ);
    __mmask16 odd = _mm512_test_epi32_mask(b, _mm512_set1_epi32(0x10000));
    __m512i up = _mm512_maskz_add_epi32(on, b, _mm512_set1_epi32(0x7fff));
    return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
}

EW_INLINE __m512i half_round(enum half_how how, const float x[])
{
    return how == HALF_WHOLE  ? half_round_any(x)
           : how == HALF_RELU ? half_round_relu(x)
                              : half_round_pairs(x);
}

/*
 * Sixteen quotients by inverses that are estimated. They leave 2^-28 of x / y
 * before q is rounded, and f16 needs 2^-23 (near_div); or x / y is
 * where rounding turns, of so few digits that q is just that:
 *
 *     r = about 1 / y        2^-14 of it off, by the processor
 *     q = x r + (x - x r y) r
 *
 * Where what x r leaves is 0, or NaN, as zeros, infinities and NaN do, x r is
 * the quotient, with its sign.
 */
EW_INLINE void half_divide_f16(const float x[], const float y[], float made[])
{
    __m512 v = _mm512_loadu_ps(x), by = _mm512_loadu_ps(y);
    __m512 r = _mm512_rcp14_ps(by), q = _mm512_mul_ps(v, r);
    __m512 left = _mm512_fnmadd_ps(q, by, v);
    __mmask16 some = _mm512_cmp_ps_mask(left, _mm512_setzero_ps(), _CMP_NEQ_OQ);
    _mm512_storeu_ps(made, _mm512_mask3_fmadd_ps(left, r, q, some));
}

/* The same of bf16, which needs 2^-17. Where its quotients are subnormal they
   are so in f32, too, which has no digits for what x r leaves. With the inverse
   mended first, q is rounded as x / y for all x and the y below, as was tried
   with every estimate:

       q = x (r + (1 - r y) r) */
EW_INLINE __m512 half_estimate_bf16(__m512 x, __m512 y)
{
    __m512 r = _mm512_rcp14_ps(y);
    __m512 left = _mm512_fnmadd_ps(r, y, _mm512_set1_ps(1));
    return _mm512_mul_ps(x, _mm512_fmadd_ps(left, r, r));
}

/* By y, whose bits are given, too, unless one is subnormal or from 2^125 on. */
EW_INLINE void half_divide_bf16(__m512i y, const struct half_pairs *by,
                                struct half_pairs *made)
{
    enum { LEAST = 0x0080, BEYOND = 0x7e00 };
    __m512 low = _mm512_loadu_ps(made->low), high = _mm512_loadu_ps(made->high);
    __m512 y0 = _mm512_loadu_ps(by->low), y1 = _mm512_loadu_ps(by->high);
    y = _mm512_and_si512(y, _mm512_set1_epi16(0x7fff));
    y = _mm512_sub_epi16(y, _mm512_set1_epi16(LEAST));
    if (!_mm512_cmpge_epu16_mask(y, _mm512_set1_epi16(BEYOND - LEAST))) {
        low = half_estimate_bf16(low, y0);
        high = half_estimate_bf16(high, y1);
    } else {
        low = _mm512_div_ps(low, y0);
        high = _mm512_div_ps(high, y1);
    }
    _mm512_storeu_ps(made->low, low);
    _mm512_storeu_ps(made->high, high);
}

EW_INLINE __m512i half_narrow_pairs(enum half_how how,
                                    const struct half_pairs *made)
{
    __m512i low = half_round(how, made->low);
    __m512i high = half_round(how, made->high);
    return _mm512_mask_mov_epi16(_mm512_srli_epi32(low, 16), 0xaaaaaaaa, high);
}
#endif

/* Rows of at least one block. The last block, or two where that is a vector and
   so much is left, ends where the row does and is made first, before out, which
   may be x, is written; what it shares with the block before is stored twice,
   the same. */
static void half_rows(ew_block_compute *form, int64_t rows, int64_t cols,
                      void *const data[], const struct ew_stride s[])
{
    const bool blocks = cols < HALF_END || cols % HALF_END <= EW_BLOCK;
    const int64_t block = blocks ? EW_BLOCK : HALF_END;
    const int64_t whole = cols - cols % block, last = cols - block;
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    for (int64_t r = 0; r < rows; r++) {
        uint16_t end[HALF_END];
        if (whole < cols)
            form(block, x + last * s[EW_X].col, y + last * s[EW_Y].col, NULL,
                 end);
        form(whole, x, y, NULL, out);
        if (whole < cols)
            ew_block_pieces(EW_BLOCK * HALF_SIZE, (size_t)(block * HALF_SIZE),
                            (char *)end, out + last * HALF_SIZE);
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

static const uint16_t half_one = 0x3c00; /* a number in both types */

/* A whole kernel of what is not as rows want it. */
static void half_blocks(ew_block_compute *compute, const void *with,
                        int64_t rows, int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    ew_block_all(compute, HALF_SIZE, &half_one, with, rows, cols, data, s);
}

/* A whole kernel; forms are those of ew_form but the strided one. */
static void half_loop(ew_block_compute *const forms[], int64_t rows,
                      int64_t cols, void *const data[],
                      const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, HALF_SIZE, HALF_SIZE, HALF_SIZE);
    if (form != EW_STRIDED && cols >= EW_BLOCK)
        half_rows(forms[form], rows, cols, data, s);
    else
        half_blocks(forms[EW_BOTH], NULL, rows, cols, data, s);
}

#if defined(EW_COMPARE_BITS)
/* All rows, one after the other. Asking for lines of out ahead made no row
   faster that is computed in f32. */
EW_INLINE void half_all(ew_block_compute *row, enum half_how how, int64_t rows,
                        int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    float around[EW_AROUNDS] = {0}; /* which no store can change */
    if (how == HALF_WHOLE)
        memcpy(around, data[EW_AROUND], sizeof around);
    const struct ew_stride of_x = s[EW_X], of_y = s[EW_Y], of_out = s[EW_OUT];
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    for (;;) {
        row(cols, x, y, around, out);
        if (--rows == 0)
            return;
        x += of_x.row;
        y += of_y.row;
        out += of_out.row;
    }
}

/* A kernel on the elements of a buffer, with what stands around it. */
struct half_dense {
    ew_kernel *kernel;
    void *around;
};

static void half_compute(int64_t n, const void *x, const void *y,
                         const void *with, void *out)
{
    static const struct ew_stride dense[] = {
        {0, HALF_SIZE}, {0, HALF_SIZE}, {0, HALF_SIZE}};
    const struct half_dense *by = with;
    void *const data[] = {(void *)x, (void *)y, out, by->around};
    by->kernel(1, n, data, dense);
}

/* A whole kernel of forms that are kernels. */
static void half_formed(ew_kernel *const forms[], enum half_how how,
                        int64_t rows, int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, HALF_SIZE, HALF_SIZE, HALF_SIZE);
    if (rows == 1 && cols == 1)
        form = EW_BOTH; /* whatever its strides are */
    if (form != EW_STRIDED) {
        forms[form](rows, cols, data, s);
        return;
    }
    const struct half_dense by = {forms[EW_BOTH],
                                  how == HALF_WHOLE ? data[EW_AROUND] : NULL};
    half_blocks(half_compute, &by, rows, cols, data, s);
}
#endif

#endif
