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

/* How an operation is computed: as it is; the same, but it divides, which takes
   longer than its memory, or takes so little that long rows ask for lines of
   out; with what stands around it (kernel.h); with relu; stored past the
   caches. */
enum half_how {
    HALF_ALONE,
    HALF_SLOW,
    HALF_ASKS,
    HALF_WHOLE,
    HALF_RELU,
    HALF_PAST
};

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

enum {
    HALF_LANES = sizeof(__m512i) / HALF_SIZE,
    HALF_SHORT_LANES =
        sizeof(__m256i) / sizeof(float) /* that are divided at once */
};

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

/* A vector of f32 as two of 32 bytes, whose divisions take less. By two loops,
   as compilers make a vector of 64 of one. */
EW_INLINE void half_make_shorter(half_op *op, const float x[], const float y[],
                                 float made[])
{
    enum { N = HALF_SHORT_LANES };
    float a[2 * N], b[2 * N];
    __m512 v = _mm512_loadu_ps(x), w = _mm512_loadu_ps(y);
    _mm256_storeu_ps(a, _mm512_castps512_ps256(v));
    _mm256_storeu_ps(a + N, _mm512_extractf32x8_ps(v, 1));
    _mm256_storeu_ps(b, _mm512_castps512_ps256(w));
    _mm256_storeu_ps(b + N, _mm512_extractf32x8_ps(w, 1));
    for (int i = 0; i < N; i++)
        a[i] = op(a[i], b[i]);
    for (int i = N; i < 2 * N; i++)
        a[i] = op(a[i], b[i]);
    v = _mm512_castps256_ps512(_mm256_loadu_ps(a));
    _mm512_storeu_ps(made, _mm512_insertf32x8(v, _mm256_loadu_ps(a + N), 1));
}

/* Half as many elements of bf16 in their order. */
EW_INLINE void half_widen_few(const uint16_t *x, __mmask16 some, float to[])
{
    __m256i v = _mm256_mask_loadu_epi16(_mm256_set1_epi16(0x3c00), some, x);
    _mm512_storeu_si512(to, _mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}

EW_INLINE void half_narrow_few(const float made[], __mmask16 some,
                               uint16_t *out)
{
    __m512i v = half_round_pairs(made);
    _mm512_mask_cvtepi32_storeu_epi16(out, some, _mm512_srli_epi32(v, 16));
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
