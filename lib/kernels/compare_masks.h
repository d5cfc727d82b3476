/*
 * One step of a comparison on SSE2 and AVX2, which give masks as wide as the
 * elements: packing makes bytes of them. Measured need: 1.3 to 4 times as fast
 * as what compilers make. Less than a step goes one by one.
 *
 *     16 or 32 elements -> 4 or 8 vectors of masks -> one vector of bytes
 */
#ifndef EW_COMPARE_MASKS_H
#define EW_COMPARE_MASKS_H

#include "compare_from.h"

/* The results for two vectors, as masks of the elements' width. */
typedef ew_compare_vector ew_compare_test(ew_compare_vector x,
                                          ew_compare_vector y);

/* Steps of a row up to which those one by one, which compilers leave at its
   end, take a good part of the time. */
enum { FEW_STEPS = 16 };

/* Of elements of 1 and 2 bytes compilers have little to pack: only short rows
   that would leave some pay, on AVX2. SSE2 does not compare integers of 8. */
EW_INLINE bool ew_compare_pays(int64_t size, bool integer, int64_t cols)
{
    const int64_t n = EW_COMPARE_BYTES;
    if (size <= 2)
        return n > 16 && cols > n && cols < FEW_STEPS * n && cols % 16 > 0;
    return size == 4 || n > 16 || !integer;
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

/* The masks of 1, 2, 4 or 8 vectors from element c on, as one vector. */
EW_INLINE ew_compare_vector ew_compare_1(const struct ew_compare_masks *of,
                                         int64_t c)
{
    return of->test(ew_compare_load(of->x, c), ew_compare_load(of->y, c));
}

EW_INLINE ew_compare_vector ew_compare_2(const struct ew_compare_masks *of,
                                         int64_t c)
{
    int64_t next = c + EW_COMPARE_BYTES / of->size;
    return ew_compare_halve(ew_compare_1(of, c), ew_compare_1(of, next));
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
    if (size == 1)
        return packed;
    if (size == 2)
        v = _mm256_permute4x64_epi64(v, 0xd8);
    else if (size == 4)
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
    ew_compare_vector packed = size == 8   ? ew_compare_8(&of, c)
                               : size == 4 ? ew_compare_4(&of, c)
                               : size == 2 ? ew_compare_2(&of, c)
                                           : ew_compare_1(&of, c);
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
