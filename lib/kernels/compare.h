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
 * the others; rows that are strided are loops as in loop.h.
 */
#ifndef EW_COMPARE_H
#define EW_COMPARE_H

#include "loop.h"

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
    __m512i all = ew_compare_bytes(size, bits);
    __m256i half = _mm512_castsi512_si256(all);
    __m128i quarter = _mm512_castsi512_si128(all);
    if (size == 1)
        memcpy(out + c, &all, sizeof all);
    else if (size == 2)
        memcpy(out + c, &half, sizeof half);
    else
        memcpy(out + c, &quarter, sizeof quarter);
}

/* The vector of n elements from c on, which reads no others. */
EW_INLINE __m512i ew_compare_load_few(const struct ew_compare_from *from,
                                      int64_t size, int64_t c, int64_t n)
{
    if (!from->step)
        return (__m512i)from->same;
    return _mm512_maskz_loadu_epi8(~(uint64_t)0 >> (64 - n * size),
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
    _mm512_mask_storeu_epi8(out + c, ((uint64_t)1 << n) - 1,
                            ew_compare_bytes(size, bits));
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

/* One line makes the kernel NAME of op_NAME on two T, which C writes as op;
   bits is the same on vectors x and y of AVX-512. */
#define EW_COMPARE_KERNEL(PASTE, name, T, op, bits)                            \
    EW_COMPARE_TEST(PASTE, name, T, op, bits)                                  \
    EW_INLINE void PASTE(loop_##name)(                                         \
        ew_apply * apply, int64_t x, int64_t y, int64_t out, int64_t rows,     \
        int64_t cols, void *const data[], const struct ew_stride s[])          \
    {                                                                          \
        (void)y;                                                               \
        (void)out;                                                             \
        ew_compare_all(PASTE(test_##name), apply, x, (T)0.5 == 0, rows, cols,  \
                       data, s);                                               \
    }                                                                          \
    EW_KERNEL(PASTE(loop_##name), PASTE, name, T, T, uint8_t)
#else
#define EW_COMPARE_KERNEL(PASTE, name, T, op, bits)                            \
    EW_KERNEL(ew_loop, PASTE, name, T, T, uint8_t)
#endif

#endif
