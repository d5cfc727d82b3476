/*
 * Comparisons of dense rows, or of a dense row with one element. Compilers make
 * a byte of each result through vectors of many widths. Measured needs for
 * intrinsics: 1.6 times as fast on AVX-512, which gives the results as bits,
 * from which one instruction makes bytes; 1.3 to 4 times on the other levels,
 * which give masks as wide as the elements, of which packing makes bytes.
 *
 *     64 bytes of x, of y -> 8 to 64 bits -> 16 to 64 bytes of out
 *     16 or 32 elements -> 4 or 8 vectors of masks -> one vector of bytes
 *
 * Rows that are shorter are one step of fewer bits on AVX-512, one by one on
 * the others; rows that are strided are loops as in loop.h. Two forms of short
 * rows are made without buffers on AVX-512: rows, or one again and again, with
 * one element of an input each, which is spread in registers, and rows of
 * halves that share one.
 */
#ifndef EW_COMPARE_H
#define EW_COMPARE_H

#include "loop.h"

/* Calls the kernel of the mirrored comparison. */
EW_INLINE void ew_compare_mirrored(ew_kernel *mirrored, int64_t rows,
                                   int64_t cols, void *const data[],
                                   const struct ew_stride s[])
{
    void *const turned[] = {data[EW_Y], data[EW_X], data[EW_OUT]};
    const struct ew_stride strides[] = {s[EW_Y], s[EW_X], s[EW_OUT]};
    mirrored(rows, cols, turned, strides);
}

/* A comparison that C has. */
#define EW_COMPARE_OP(PASTE, name, T, op)                                      \
    EW_INLINE uint8_t PASTE(op_##name)(T x, T y)                               \
    {                                                                          \
        return x op y;                                                         \
    }

#if defined(__SSE2__)

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define EW_COMPARE_BITS
enum { EW_COMPARE_BYTES = 64 };
#elif defined(__AVX2__)
enum { EW_COMPARE_BYTES = 32 };
#else
enum { EW_COMPARE_BYTES = 16 };
#endif

/* A vector of x, of y, or of masks, whatever their width. */
typedef int64_t ew_compare_vector
    __attribute__((vector_size(EW_COMPARE_BYTES)));

/* Where a step reads. A step of 0 has one element in all places. */
struct ew_compare_from {
    const char *at;
    int64_t step;
    ew_compare_vector same;
};

EW_INLINE struct ew_compare_from ew_compare_from(const char *at, int64_t step,
                                                 int64_t size)
{
    struct ew_compare_from from = {.at = at, .step = step};
#if defined(EW_COMPARE_BITS)
    if (size == 1) { /* compilers make calls of memset of it */
        from.same = (ew_compare_vector)_mm512_set1_epi8(*at);
        return from;
    }
#endif
    _Alignas(EW_COMPARE_BYTES) char all[EW_COMPARE_BYTES];
    for (int64_t i = 0; i < EW_COMPARE_BYTES; i += size)
        memcpy(all + i, at, (size_t)size);
    memcpy(&from.same, all, sizeof all);
    return from;
}

/* The vector from element c on. */
EW_INLINE ew_compare_vector ew_compare_load(const struct ew_compare_from *from,
                                            int64_t c)
{
    ew_compare_vector v = from->same;
    if (from->step)
        memcpy(&v, from->at + c * from->step, sizeof v);
    return v;
}

#if defined(EW_COMPARE_BITS)

/* The results for two vectors, the first element's in the last bit. */
typedef uint64_t ew_compare_test(__m512i x, __m512i y);

/* What is done to a vector before it is compared, element by element. */
typedef __m512i ew_compare_prepare(__m512i x);

EW_INLINE __m512i ew_compare_as_is(__m512i x)
{
    return x;
}

EW_INLINE bool ew_compare_pays(int64_t size, bool integer)
{
    (void)size;
    (void)integer;
    return true;
}

/* Elements of a step: those of a vector, of 8 bytes two vectors' as bytes come
   from 16 bits at least. */
EW_INLINE int64_t ew_compare_count(int64_t size)
{
    return size == 8 ? 16 : EW_COMPARE_BYTES / size;
}

/* Bits of two vectors of 8 elements as those of one step. */
EW_INLINE uint64_t ew_compare_join(uint64_t first, uint64_t second)
{
    return _mm512_kunpackb((__mmask16)second, (__mmask16)first);
}

/* The bytes of a step, each 1 or 0 as its bit is; what is behind them is
   undefined. Vectors are as wide as there are bits, since making more of these
   takes two steps through other registers. */
EW_INLINE __m512i ew_compare_bytes(int64_t size, uint64_t bits)
{
    const __m512i ones = _mm512_set1_epi8(1);
    if (size == 1)
        return _mm512_maskz_mov_epi8(bits, ones);
    if (size == 2)
        return _mm512_castsi256_si512(_mm256_maskz_mov_epi8(
            (__mmask32)bits, _mm512_castsi512_si256(ones)));
    return _mm512_castsi128_si512(
        _mm_maskz_mov_epi8((__mmask16)bits, _mm512_castsi512_si128(ones)));
}

EW_INLINE void ew_compare_put(int64_t size, uint64_t bits, int64_t n, char *out)
{
    const __m512i all = ew_compare_bytes(size, bits);
    memcpy(out, &all, (size_t)n);
}

/* The same of less than a step. A store wider than a step would cross lines
   more often. */
EW_INLINE void ew_compare_put_few(int64_t size, uint64_t bits, int64_t n,
                                  char *out)
{
    const __m512i all = ew_compare_bytes(size, bits);
    const uint64_t some = ew_loop_first(n);
    if (size == 1)
        _mm512_mask_storeu_epi8(out, some, all);
    else if (size == 2)
        _mm256_mask_storeu_epi8(out, (__mmask32)some,
                                _mm512_castsi512_si256(all));
    else
        _mm_mask_storeu_epi8(out, (__mmask16)some, _mm512_castsi512_si128(all));
}

EW_INLINE void ew_compare_step(ew_compare_test *test, int64_t size,
                               const struct ew_compare_from *x,
                               const struct ew_compare_from *y, int64_t c,
                               char *out)
{
    uint64_t bits =
        test((__m512i)ew_compare_load(x, c), (__m512i)ew_compare_load(y, c));
    if (size == 8)
        bits = ew_compare_join(bits, test((__m512i)ew_compare_load(x, c + 8),
                                          (__m512i)ew_compare_load(y, c + 8)));
    ew_compare_put(size, bits, ew_compare_count(size), out + c);
}

/* The vector of n elements from c on, which reads no others. */
EW_INLINE __m512i ew_compare_load_few(const struct ew_compare_from *from,
                                      int64_t size, int64_t c, int64_t n)
{
    if (!from->step)
        return (__m512i)from->same;
    return _mm512_maskz_loadu_epi8(ew_loop_first(n * size),
                                   from->at + c * size);
}

/* Less than a step: n elements from c on. */
EW_INLINE void ew_compare_few(ew_compare_test *test, ew_apply *apply,
                              int64_t size, const struct ew_compare_from *x,
                              const struct ew_compare_from *y, int64_t c,
                              int64_t n, char *out)
{
    (void)apply;
    int64_t all = EW_COMPARE_BYTES / size, first = n < all ? n : all;
    uint64_t bits = test(ew_compare_load_few(x, size, c, first),
                         ew_compare_load_few(y, size, c, first));
    if (n > first)
        bits = ew_compare_join(
            bits, test(ew_compare_load_few(x, size, c + first, n - first),
                       ew_compare_load_few(y, size, c + first, n - first)));
    ew_compare_put_few(size, bits, n, out + c);
}

/* One line makes the test of NAME on two T, by the instruction for it. */
#define EW_COMPARE_TEST(PASTE, name, T, op, bits)                              \
    EW_INLINE uint64_t PASTE(test_##name)(__m512i x, __m512i y)                \
    {                                                                          \
        return bits;                                                           \
    }
#else

/* The results for two vectors, as masks of the elements' width. */
typedef ew_compare_vector ew_compare_test(ew_compare_vector x,
                                          ew_compare_vector y);

/* Compilers have little to pack of elements of 1 and 2 bytes. SSE2 does not
   compare integers of 8. */
EW_INLINE bool ew_compare_pays(int64_t size, bool integer)
{
    return size == 4 || (size == 8 && (EW_COMPARE_BYTES > 16 || !integer));
}

EW_INLINE int64_t ew_compare_count(int64_t size)
{
    (void)size;
    return EW_COMPARE_BYTES;
}

/* What masks are made from. */
struct ew_compare_masks {
    ew_compare_test *test;
    int64_t size;
    const struct ew_compare_from *x, *y;
};

/* Masks half as wide, in each lane of 16 bytes first those of a. */
EW_INLINE ew_compare_vector ew_compare_halve(ew_compare_vector a,
                                             ew_compare_vector b)
{
#if defined(__AVX2__)
    return (ew_compare_vector)_mm256_packs_epi16((__m256i)a, (__m256i)b);
#else
    return (ew_compare_vector)_mm_packs_epi16((__m128i)a, (__m128i)b);
#endif
}

/* The masks of 2, 4 or 8 vectors from element c on, as one vector. */
EW_INLINE ew_compare_vector ew_compare_2(const struct ew_compare_masks *of,
                                         int64_t c)
{
    int64_t next = c + EW_COMPARE_BYTES / of->size;
    return ew_compare_halve(
        of->test(ew_compare_load(of->x, c), ew_compare_load(of->y, c)),
        of->test(ew_compare_load(of->x, next), ew_compare_load(of->y, next)));
}

EW_INLINE ew_compare_vector ew_compare_4(const struct ew_compare_masks *of,
                                         int64_t c)
{
    int64_t next = c + EW_COMPARE_BYTES / of->size * 2;
    return ew_compare_halve(ew_compare_2(of, c), ew_compare_2(of, next));
}

EW_INLINE ew_compare_vector ew_compare_8(const struct ew_compare_masks *of,
                                         int64_t c)
{
    int64_t next = c + EW_COMPARE_BYTES / of->size * 4;
    return ew_compare_halve(ew_compare_4(of, c), ew_compare_4(of, next));
}

/* Each lane has the results of its own half of all vectors; of elements of 8
   bytes, say, 2 of each:

       0 1   4 5   8 9 ...   2 3   6 7   10 11 ...
*/
EW_INLINE ew_compare_vector ew_compare_order(ew_compare_vector packed,
                                             int64_t size)
{
#if defined(__AVX2__)
    const __m256i pairs = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i fours = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i v = (__m256i)packed;
    if (size == 4)
        v = _mm256_permutevar8x32_epi32(v, fours);
    else
        v = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(v, 0xd8), pairs);
    return (ew_compare_vector)v;
#else
    (void)size;
    return packed;
#endif
}

/* One step. A mask has all bits, a result one. */
EW_INLINE void ew_compare_step(ew_compare_test *test, int64_t size,
                               const struct ew_compare_from *x,
                               const struct ew_compare_from *y, int64_t c,
                               char *out)
{
    const struct ew_compare_masks of = {test, size, x, y};
    ew_compare_vector packed =
        size == 8 ? ew_compare_8(&of, c) : ew_compare_4(&of, c);
    packed = ew_compare_order(packed, size) & 0x0101010101010101;
    memcpy(out + c, &packed, sizeof packed);
}

/* Less than a step, one by one: n elements from c on. */
EW_INLINE void ew_compare_few(ew_compare_test *test, ew_apply *apply,
                              int64_t size, const struct ew_compare_from *x,
                              const struct ew_compare_from *y, int64_t c,
                              int64_t n, char *out)
{
    (void)test, (void)size;
    for (int64_t i = c; i < c + n; i++)
        apply(x->at + i * x->step, y->at + i * y->step, NULL, out + i);
}

/* One line makes the test of NAME on two T. */
#define EW_COMPARE_TEST(PASTE, name, T, op, bits)                              \
    EW_INLINE ew_compare_vector PASTE(test_##name)(ew_compare_vector x,        \
                                                   ew_compare_vector y)        \
    {                                                                          \
        typedef T vector __attribute__((vector_size(EW_COMPARE_BYTES)));       \
        return (ew_compare_vector)((vector)x op(vector) y);                    \
    }
#endif

/* All rows in their form. The last step ends where the row does and makes some
   elements twice: out is never x or y, which are of another type. It is the
   first to be made, so that there is one loop and no choice in it. */
EW_INLINE void ew_compare_rows(ew_compare_test *test, ew_apply *apply,
                               int64_t size, int64_t rows, int64_t cols,
                               void *const data[], const struct ew_stride s[],
                               int64_t step_x, int64_t step_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t n = ew_compare_count(size), last = cols - n;
    for (; rows > 0; rows--) {
        const struct ew_compare_from from_x = ew_compare_from(x, step_x, size);
        const struct ew_compare_from from_y = ew_compare_from(y, step_y, size);
        int64_t c = last, next = 0;
        if (last < 0) {
            ew_compare_few(test, apply, size, &from_x, &from_y, 0, cols, out);
        } else {
            do {
                ew_compare_step(test, size, &from_x, &from_y, c, out);
                c = next;
                next += n;
            } while (c < last);
        }
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

#if defined(EW_COMPARE_BITS)
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

/* A whole kernel, as ew_loop_all. */
EW_INLINE void ew_compare_all(ew_compare_test *test, ew_apply *apply,
                              int64_t size, bool integer, int64_t rows,
                              int64_t cols, void *const data[],
                              const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, size, size, 1);
    if (form == EW_STRIDED || !ew_compare_pays(size, integer))
        ew_loop(apply, size, size, 1, rows, cols, data, s);
    else if (form == EW_BOTH)
        ew_compare_rows(test, apply, size, rows, cols, data, s, size, size);
    else if (form == EW_X_ALONE)
        ew_compare_rows(test, apply, size, rows, cols, data, s, size, 0);
    else
        ew_compare_rows(test, apply, size, rows, cols, data, s, 0, size);
}

/* The kernel of test_NAME and op_NAME on two T, without the two forms of short
   rows. */
#define EW_COMPARE_PLAIN(PASTE, kernel, name, T)                               \
    EW_KERNEL_OF(PASTE(kernel),                                                \
                 ew_compare_all(PASTE(test_##name), PASTE(apply_##name),       \
                                sizeof(T), (T)0.5 == 0, rows, cols, data, s))

/* One line makes the kernel, and apply_NAME. mirrored is the comparison that
   makes the same of y and x, repeated the kernel of that form or NULL. */
#if defined(EW_COMPARE_BITS)
#define EW_COMPARE_KERNEL(PASTE, name, mirrored, repeated, T)                  \
    EW_APPLY(PASTE, name, T, T, uint8_t)                                       \
    static ew_kernel PASTE(mirrored);                                          \
    static __attribute__((noinline)) ew_kernel PASTE(rows_##name);             \
    EW_KERNEL_OF(PASTE(name),                                                  \
                 ew_compare_forms(rows, cols, data, s, sizeof(T),              \
                                  PASTE(rows_##name), PASTE(mirrored),         \
                                  PASTE(spread_##name), repeated))             \
    EW_COMPARE_PLAIN(PASTE, rows_##name, name, T)
#else
#define EW_COMPARE_SPREADING(PASTE, name, T, of_x, of_y, prepared)
#define EW_COMPARE_KERNEL(PASTE, name, mirrored, repeated, T)                  \
    EW_APPLY(PASTE, name, T, T, uint8_t)                                       \
    EW_COMPARE_PLAIN(PASTE, name, name, T)
#endif

/* The same and all it needs, where elements are compared as they are: C writes
   it as op, and bits is that of vectors x and y of AVX-512. */
#define EW_COMPARE_AS_IS(PASTE, name, mirrored, T, op, bits)                   \
    EW_COMPARE_OP(PASTE, name, T, op)                                          \
    EW_COMPARE_TEST(PASTE, name, T, op, bits)                                  \
    EW_COMPARE_SPREADING(PASTE, name, T, ew_compare_as_is, ew_compare_as_is,   \
                         test_##name)                                          \
    EW_COMPARE_KERNEL(PASTE, name, mirrored, NULL, T)
#else
#define EW_COMPARE_AS_IS(PASTE, name, mirrored, T, op, bits)                   \
    EW_COMPARE_OP(PASTE, name, T, op)                                          \
    EW_KERNEL(ew_loop, PASTE, name, T, T, uint8_t)
#endif

/* A kernel that is another one with its operands turned: on SSE2, for less
   code. On the other levels a call of a few elements is to be quick. */
#if defined(__AVX__)
#define EW_COMPARE_TURNED(PASTE, name, mirrored, T, op, bits)                  \
    EW_COMPARE_AS_IS(PASTE, name, mirrored, T, op, bits)
#else
#define EW_COMPARE_TURNED(PASTE, name, mirrored, T, op, bits)                  \
    EW_KERNEL_OF(PASTE(name),                                                  \
                 ew_compare_mirrored(PASTE(mirrored), rows, cols, data, s))
#endif

#endif
