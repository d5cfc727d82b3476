/*
 * Comparisons of dense rows, or of a dense row with one element. AVX-512 gives
 * the result of a comparison as bits, and one more instruction makes a byte of
 * each, which compilers do not find: they go through vectors of x's width and
 * shuffle those together. A measured need for intrinsics: 1.6 times as fast.
 *
 *     64 bytes of x, of y -> 8 to 64 bits -> as many bytes of out
 *
 * The end of a row, strided rows and the other levels are loops as in loop.h.
 */
#ifndef EW_COMPARE_H
#define EW_COMPARE_H

#include "loop.h"

#if defined(__AVX512BW__) && defined(__AVX512VL__)

enum { EW_COMPARE_BYTES = 64 };

/* The results for 64 bytes at x and y, the first element's in the last bit. */
typedef uint64_t ew_compare_bits(__m512i x, __m512i y);

/* n bytes, each 1 or 0 as its bit is. */
EW_INLINE void ew_compare_store(int64_t n, uint64_t bits, char *out)
{
    __m512i all = _mm512_maskz_mov_epi8(bits, _mm512_set1_epi8(1));
    __m256i half = _mm512_castsi512_si256(all);
    __m128i quarter = _mm512_castsi512_si128(all);
    if (n == 64)
        memcpy(out, &all, 64);
    else if (n == 32)
        memcpy(out, &half, 32);
    else
        memcpy(out, &quarter, (size_t)n);
}

/* A vector from memory; a step of 0 has one element in all places. */
EW_INLINE __m512i ew_compare_load(const char *from, const __m512i *same,
                                  int64_t step)
{
    return step ? _mm512_loadu_si512(from) : *same;
}

EW_INLINE __m512i ew_compare_same(const char *one, int64_t size)
{
    _Alignas(EW_COMPARE_BYTES) char all[EW_COMPARE_BYTES];
    for (int64_t i = 0; i < EW_COMPARE_BYTES; i += size)
        memcpy(all + i, one, (size_t)size);
    return _mm512_load_si512(all);
}

/* A row in its form: vectors, then what is left. */
EW_INLINE void ew_compare_row(ew_compare_bits *bits, ew_apply *apply,
                              int64_t size, int64_t cols, const char *x,
                              const char *y, char *out, int64_t step_x,
                              int64_t step_y)
{
    const int64_t n = EW_COMPARE_BYTES / size;
    const __m512i same_x = ew_compare_same(x, size);
    const __m512i same_y = ew_compare_same(y, size);
    int64_t c = 0;
    for (; c + n <= cols; c += n)
        ew_compare_store(n,
                         bits(ew_compare_load(x + c * step_x, &same_x, step_x),
                              ew_compare_load(y + c * step_y, &same_y, step_y)),
                         out + c);
    for (; c < cols; c++)
        apply(x + c * step_x, y + c * step_y, out + c);
}

/* A whole kernel, as ew_loop_all. */
EW_INLINE void ew_compare_all(ew_compare_bits *bits, ew_apply *apply,
                              int64_t size, int64_t rows, int64_t cols,
                              void *const data[], const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, size, size, 1);
    if (form == EW_STRIDED) {
        ew_loop(apply, size, size, 1, rows, cols, data, s);
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        const char *x = (const char *)data[EW_X] + r * s[EW_X].row;
        const char *y = (const char *)data[EW_Y] + r * s[EW_Y].row;
        char *out = (char *)data[EW_OUT] + r * s[EW_OUT].row;
        if (form == EW_BOTH)
            ew_compare_row(bits, apply, size, cols, x, y, out, size, size);
        else if (form == EW_X_ALONE)
            ew_compare_row(bits, apply, size, cols, x, y, out, size, 0);
        else
            ew_compare_row(bits, apply, size, cols, x, y, out, 0, size);
    }
}

/* One line makes the kernel NAME of op_NAME on two T. test is the same on
   vectors x and y, by the instruction for it. */
#define EW_COMPARE_KERNEL(PASTE, name, T, test)                                \
    EW_INLINE uint64_t PASTE(bits_##name)(__m512i x, __m512i y)                \
    {                                                                          \
        return test;                                                           \
    }                                                                          \
    EW_INLINE void PASTE(loop_##name)(                                         \
        ew_apply * apply, int64_t x, int64_t y, int64_t out, int64_t rows,     \
        int64_t cols, void *const data[], const struct ew_stride s[])          \
    {                                                                          \
        (void)y;                                                               \
        (void)out;                                                             \
        ew_compare_all(PASTE(bits_##name), apply, x, rows, cols, data, s);     \
    }                                                                          \
    EW_KERNEL(PASTE(loop_##name), PASTE, name, T, T, uint8_t)
#else
#define EW_COMPARE_KERNEL(PASTE, name, T, test)                                \
    EW_KERNEL(ew_loop, PASTE, name, T, T, uint8_t)
#endif

#endif
