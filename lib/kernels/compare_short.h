/*
 * Comparisons of short rows on AVX-512 without buffers, in two forms: rows, or
 * one again and again, with one element of an input each, which is spread in
 * registers, and rows of halves that share one, which is prepared once.
 */
#ifndef EW_COMPARE_SHORT_H
#define EW_COMPARE_SHORT_H

#include "compare_bits.h"

/* Whether input k has one element for each of short rows, which follow one
   another or are one. */
EW_INLINE bool ew_compare_spreads(const struct ew_stride s[], int k,
                                  int64_t size, int64_t cols)
{
    const struct ew_stride x = s[k], y = s[k == EW_X ? EW_Y : EW_X];
    return x.col == 0 && x.row == size && y.col == size &&
           (y.row == cols * size || y.row == 0) && s[EW_OUT].col == 1 &&
           s[EW_OUT].row == cols && cols > 1;
}

/* For each element of as many rows as a vector has elements, which row it is
   in. That is a product with an inverse, which is exact for such numbers. */
static __attribute__((noinline)) void
ew_compare_places(int64_t size, int64_t cols, __m512i places[])
{
    uint16_t first[EW_COMPARE_BYTES / 2];
    for (int i = 0; i < EW_COMPARE_BYTES / 2; i++)
        first[i] = (uint16_t)i;
    const __m512i inverse = _mm512_set1_epi16((short)(65536 / cols + 1));
    const __m512i step = _mm512_set1_epi16((short)(EW_COMPARE_BYTES / size));
    __m512i at = _mm512_loadu_si512(first);
    for (int64_t c = 0; c < cols; c++) {
        __m512i row = _mm512_mulhi_epu16(at, inverse);
        if (size == 8)
            row = _mm512_cvtepu16_epi64(_mm512_castsi512_si128(row));
        else if (size == 4)
            row = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(row));
        places[c] = row;
        at = _mm512_add_epi16(at, step);
    }
}

EW_INLINE __m512i ew_compare_permute(int64_t size, __m512i places, __m512i x)
{
    if (size == 8)
        return _mm512_permutexvar_epi64(places, x);
    return size == 4 ? _mm512_permutexvar_epi32(places, x)
                     : _mm512_permutexvar_epi16(places, x);
}

/* The results of one row that is kept in a register with one of x. */
EW_INLINE uint64_t ew_compare_one(ew_compare_test *test, int64_t size,
                                  const char *x, __m512i row)
{
    const struct ew_compare_from from = ew_compare_from(x, 0, size);
    return test((__m512i)from.same, row);
}

/* One row that fills half a vector or more, again and again, with one of x each
   time: that is read to all places of a vector, and what is stored too much the
   next row overwrites. */
EW_INLINE void ew_compare_kept(ew_compare_test *test, int64_t size,
                               int64_t rows, int64_t cols, const char *x,
                               const char *y, char *out)
{
    const struct ew_compare_from from = {.at = y, .step = size};
    const __m512i row = ew_compare_load_few(&from, size, 0, cols);
    const int64_t last = rows - 1;
    for (int64_t r = 0; r < last; r++, out += cols)
        ew_compare_put(size, ew_compare_one(test, size, x + r * size, row),
                       EW_COMPARE_BYTES / size, out);
    ew_compare_put_few(size, ew_compare_one(test, size, x + last * size, row),
                       cols, out);
}

/* Short rows with one of x each, as many at a time as a vector has elements; so
   many copies of one row are made before:

       x     a b c d ...
       y     0 1 2 3 4 5 6 7   8 9 10 11 ...     three to a row
       test  a a a b b b c c   c d d  d ...
*/
EW_INLINE void ew_compare_spread(ew_compare_prepare *of_x,
                                 ew_compare_prepare *of_y,
                                 ew_compare_test *prepared, int64_t size,
                                 int64_t rows, int64_t cols, void *const data[],
                                 const struct ew_stride s[])
{
    const int64_t n = EW_COMPARE_BYTES / size;
    if (size >= 4 && s[EW_Y].row == 0 && cols >= n / 2 && cols <= n) {
        ew_compare_kept(prepared, size, rows, cols, data[EW_X], data[EW_Y],
                        data[EW_OUT]);
        return;
    }
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT], same[EW_SPREAD_BYTES * EW_COMPARE_BYTES / 2];
    __m512i places[EW_SPREAD_BYTES / 2];
    ew_compare_places(size, cols, places);
    if (s[EW_Y].row == 0) {
        for (int64_t i = 0; i < n; i++)
            memcpy(same + i * cols * size, y, (size_t)(cols * size));
        y = same;
    }
    for (; rows >= n; rows -= n, x += EW_COMPARE_BYTES) {
        const __m512i all = of_x(_mm512_loadu_si512(x));
        for (int64_t c = 0; c < cols; c++) {
            __m512i a = ew_compare_permute(size, places[c], all);
            __m512i b = of_y(_mm512_loadu_si512(y + c * EW_COMPARE_BYTES));
            ew_compare_put(size, prepared(a, b), n, out);
            out += n;
        }
        y += n * s[EW_Y].row;
    }
}

/* Whether rows of 2-byte elements that fit a vector are all compared with the
   one that input k is, which is loaded and prepared once. */
EW_INLINE bool ew_compare_repeats(const struct ew_stride s[], int k,
                                  int64_t cols)
{
    return s[k].row == 0 && s[EW_X].col == 2 && s[EW_Y].col == 2 &&
           s[EW_OUT].col == 1 && cols * 2 <= EW_COMPARE_BYTES;
}

EW_INLINE void ew_compare_repeated(ew_compare_prepare *of_x,
                                   ew_compare_prepare *of_y,
                                   ew_compare_test *prepared, int64_t rows,
                                   int64_t cols, void *const data[],
                                   const struct ew_stride s[])
{
    const struct ew_compare_from x = {.at = data[EW_X], .step = 2};
    struct ew_compare_from y = {.at = data[EW_Y], .step = 2};
    const __m512i all = of_x(ew_compare_load_few(&x, 2, 0, cols));
    const __mmask32 some = ~(uint32_t)0 >> (32 - cols);
    char *out = data[EW_OUT];
    for (; rows > 0; rows--) {
        __m512i b = of_y(ew_compare_load_few(&y, 2, 0, cols));
        __m512i bytes = ew_compare_bytes(2, prepared(all, b));
        _mm256_mask_storeu_epi8(out, some, _mm512_castsi512_si256(bytes));
        y.at += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

/* The kernels of both forms, which are functions of their own: compilers keep
   more in registers there. */
#define EW_COMPARE_SPREADING(PASTE, name, T, of_x, of_y, prepared)             \
    static __attribute__((noinline)) ew_kernel PASTE(spread_##name);           \
    EW_KERNEL_OF(PASTE(spread_##name),                                         \
                 ew_compare_spread(of_x, of_y, PASTE(prepared), sizeof(T),     \
                                   rows, cols, data, s))
#define EW_COMPARE_REPEATING(PASTE, name, of_x, of_y, prepared)                \
    static __attribute__((noinline)) ew_kernel PASTE(repeated_##name);         \
    EW_KERNEL_OF(                                                              \
        PASTE(repeated_##name),                                                \
        ew_compare_repeated(of_x, of_y, PASTE(prepared), rows, cols, data, s))

/* As many rows as fill vectors by the kernel that spreads, the rest by the
   other one. */
static void ew_compare_blocks(int64_t rows, int64_t cols, void *const data[],
                              const struct ew_stride s[], int64_t size,
                              ew_kernel *spread, ew_kernel *other)
{
    int64_t rest = rows % (EW_COMPARE_BYTES / size), made = rows - rest;
    void *const left[] = {ew_loop_at(data, s, EW_X, made),
                          ew_loop_at(data, s, EW_Y, made),
                          ew_loop_at(data, s, EW_OUT, made)};
    spread(made, cols, data, s);
    if (rest)
        other(rest, cols, left, s);
}

/* Whether there are rows for a vector of what is spread, as short as that.
   Fewer are not worth looking at. */
EW_INLINE bool ew_compare_worth(int64_t size, int64_t rows, int64_t cols)
{
    return size > 1 && rows >= EW_COMPARE_BYTES / size &&
           cols * size <= EW_SPREAD_BYTES;
}

/* Makes all rows if they have one of the two forms. The kernels are that of the
   comparison, its mirrored one, and those of the forms. */
static __attribute__((noinline, unused)) bool
ew_compare_short(int64_t rows, int64_t cols, void *const data[],
                 const struct ew_stride s[], int64_t size, ew_kernel *self,
                 ew_kernel *mirrored, ew_kernel *spread, ew_kernel *repeated)
{
    if (ew_compare_spreads(s, EW_X, size, cols))
        ew_compare_blocks(rows, cols, data, s, size, spread, self);
    else if (repeated && ew_compare_repeats(s, EW_X, cols))
        repeated(rows, cols, data, s);
    else if (ew_compare_spreads(s, EW_Y, size, cols) ||
             (repeated && ew_compare_repeats(s, EW_Y, cols)))
        ew_compare_mirrored(mirrored, rows, cols, data, s);
    else
        return false;
    return true;
}

/* A whole kernel. `self` makes all other rows: it is a function of its own, as
   in one calls of a few elements would prepare the stack for the short forms.
 */
EW_INLINE void ew_compare_forms(int64_t rows, int64_t cols, void *const data[],
                                const struct ew_stride s[], int64_t size,
                                ew_kernel *self, ew_kernel *mirrored,
                                ew_kernel *spread, ew_kernel *repeated)
{
    if (!ew_compare_worth(size, rows, cols) ||
        !ew_compare_short(rows, cols, data, s, size, self, mirrored, spread,
                          repeated))
        self(rows, cols, data, s);
}

#endif
