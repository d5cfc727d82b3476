/*
 * Comparisons of dense rows, or of a dense row with one element, as kernels.
 * Compilers make a byte of each result through vectors of many widths; a step
 * here makes a vector of bytes of the results for many elements at once.
 *
 *     x  | step | step | step |      |     the last step ends where the row
 *     y  | step | step | step |      |     does, and is made first
 *                       | last step  |
 *
 * What a step is depends on the level: compare_bits.h for AVX-512,
 * compare_masks.h for the others. Rows that are strided are loops as in loop.h.
 * Two forms of short rows are made without buffers on AVX-512
 * (compare_short.h).
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
#include "compare_from.h"
#if defined(EW_COMPARE_BITS)
#include "compare_bits.h"
#else
#include "compare_masks.h"
#endif

/* How far ahead the input of a comparison is read that is alone in moving, some
   bytes at a time, unless it has so few that it stays in the L2 cache. */
enum {
    EW_COMPARE_AHEAD = 8192,
    EW_COMPARE_SOME = 256,
    EW_COMPARE_NEAR = 256 << 10
};

/* Asks for lines of such a row, for the L1 cache only, so that it costs little
   where they are near. Returns the element up to which that is enough. */
EW_INLINE int64_t ew_compare_ask(const char *row, int64_t c, int64_t last,
                                 int64_t size)
{
    const int64_t stop = c + EW_COMPARE_SOME / size;
    EW_UNROLLED
    for (int64_t b = 0; b < EW_COMPARE_SOME; b += EW_LINE)
        __builtin_prefetch(row + c * size + EW_COMPARE_AHEAD + b, 0, 0);
    return stop < last ? stop : last;
}

/* Whether that may pay: not for elements so small that their results are as
   much to store. */
EW_INLINE bool ew_compare_alone(int64_t size, int64_t step_x, int64_t step_y)
{
#if defined(EW_COMPARE_BITS)
    return size >= 4 && step_x != step_y;
#else
    (void)size, (void)step_x, (void)step_y;
    return false;
#endif
}

/* Rows of two steps, without the loop over these, which takes as long as they
   do. */
EW_INLINE void ew_compare_pairs(ew_compare_test *test, int64_t size,
                                int64_t rows, int64_t cols, void *const data[],
                                const struct ew_stride s[], int64_t step_x,
                                int64_t step_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t last = cols - ew_compare_count(size);
    const int64_t row_x = s[EW_X].row, row_y = s[EW_Y].row;
    const int64_t row_out = s[EW_OUT].row;
    for (; rows > 0; rows--) {
        const struct ew_compare_from from_x = ew_compare_from(x, step_x, size);
        const struct ew_compare_from from_y = ew_compare_from(y, step_y, size);
        ew_compare_step(test, size, &from_x, &from_y, last, out);
        ew_compare_step(test, size, &from_x, &from_y, 0, out);
        x += row_x;
        y += row_y;
        out += row_out;
    }
}

/* Whether rows are made so. Few rows of small elements are so short; steps of
   masks are longer. */
EW_INLINE bool ew_compare_is_pair(int64_t size, int64_t cols)
{
#if defined(EW_COMPARE_BITS)
    const int64_t n = ew_compare_count(size);
    return size >= 4 && cols > n && cols <= 2 * n;
#else
    (void)size, (void)cols;
    return false;
#endif
}

/* All rows in their form. The last step ends where the row does and makes some
   elements twice: out is never x or y, which are of another type. It is the
   first to be made, so that there is one loop and no choice in it but after how
   many steps to ask. */
EW_INLINE void ew_compare_rows(ew_compare_test *test, ew_apply *apply,
                               int64_t size, int64_t rows, int64_t cols,
                               void *const data[], const struct ew_stride s[],
                               int64_t step_x, int64_t step_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t n = ew_compare_count(size), last = cols - n;
    const bool alone = ew_compare_alone(size, step_x, step_y);
    const bool asks = alone && rows * cols * size > EW_COMPARE_NEAR &&
                      ew_cpu_is(EW_FAR_READS);
    if (!asks && ew_compare_is_pair(size, cols)) {
        ew_compare_pairs(test, size, rows, cols, data, s, step_x, step_y);
        return;
    }
    for (; rows > 0; rows--) {
        const struct ew_compare_from from_x = ew_compare_from(x, step_x, size);
        const struct ew_compare_from from_y = ew_compare_from(y, step_y, size);
        int64_t c = last, next = 0;
        if (last < 0) {
            ew_compare_few(test, apply, size, &from_x, &from_y, 0, cols, out);
        } else {
            do {
                int64_t stop = last;
                if (asks)
                    stop = ew_compare_ask(step_x ? x : y, next - n, last, size);
                do {
                    ew_compare_step(test, size, &from_x, &from_y, c, out);
                    c = next;
                    next += n;
                } while (c < stop);
            } while (alone && c < last);
        }
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

#if defined(EW_COMPARE_BITS)
#include "compare_short.h"
#endif

/* A whole kernel, as ew_loop_all. */
EW_INLINE void ew_compare_all(ew_compare_test *test, ew_apply *apply,
                              int64_t size, bool integer, int64_t rows,
                              int64_t cols, void *const data[],
                              const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, size, size, 1);
    if (form == EW_STRIDED || !ew_compare_pays(size, integer, cols))
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
    EW_TUNED EW_KERNEL_OF(PASTE(kernel),                                       \
                          ew_compare_all(PASTE(test_##name),                   \
                                         PASTE(apply_##name), sizeof(T),       \
                                         (T)0.5 == 0, rows, cols, data, s))

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
