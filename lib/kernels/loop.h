/*
 * The loops of all kernels. An operation comes as a function of three
 * pointers that is known at compile time, so that after inlining each kernel
 * is the loop one would have written by hand for its types.
 */
#ifndef EW_LOOP_H
#define EW_LOOP_H

#include <stdbool.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu.h"
#include "kernel.h"
#include "quiet.h"

#define EW_INLINE static inline __attribute__((always_inline))

/* Functions that shuffle bytes, in a build for AVX-512 without that. */
#if defined(__AVX512BW__)
#define EW_VBMI __attribute__((target("avx512vbmi")))
#endif

/* Functions that compute f16, in such a build, by compilers that know how. */
#if defined(__AVX512BW__) && defined(EW_HAVE_FP16)
#define EW_FP16 __attribute__((target("avx512fp16")))
#endif

#if defined(__AVX512BW__)
/* A mask of the first n bytes of a line, or of any other n things; 1 to 64. Of
   an int, compilers compute n in 32 bits. */
EW_INLINE uint64_t ew_loop_first(int n)
{
    return ~(uint64_t)0 >> (EW_LINE - n);
}
#endif

/* Kernels tuned for processors with AVX-512, which read each element once into
   a register. By its costs for no processor in particular, GCC 12 reads one
   that two instructions take from memory twice, which takes a quarter longer
   where vectors lie across two lines. All that such a kernel calls is
   EW_INLINE: GCC inlines nothing else that is tuned otherwise. */
#if defined(__AVX512F__) && defined(EW_HAVE_TUNED)
#define EW_TUNED __attribute__((target("tune=skylake-avx512")))
#else
#define EW_TUNED
#endif

/* Iterations are independent (kernel.h), which a compiler cannot see where
   out may be x or y. */
#if defined(__clang__)
#define EW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EW_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Vectors stay in registers only if nothing indexes them. */
#if defined(__clang__)
#define EW_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define EW_UNROLLED _Pragma("GCC unroll 32")
#endif

/* A product as C rounds it. GCC 12 turns vectors of a * b - c * d beside
   a * d + b * c into fused operations even where contraction is off, and the
   levels would differ; it leaves what is in such parentheses alone, of
   any expression. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define EW_ROUNDED(product) __builtin_assoc_barrier(product)
#else
#define EW_ROUNDED(product) (product)
#endif

/*
 * What a kernel does beside the plain loop; each doubles its code.
 *
 *     EW_ROWS         nothing
 *     EW_ROWS_ONE     nothing, of operations that look at x alone
 *     EW_ROWS_LONG    of long rows the lines of out are asked for
 *     EW_ROWS_FEW     rows of a vector at most are made under masks (AVX-512)
 *     EW_ROWS_SHORT   both; those of a few lines have no elements left over,
 *                     or one at most (AVX2); rows beside one number, and long
 *                     ones of bytes, are made two vectors a round where stores
 *                     do not wait (AVX2)
 *     EW_ROWS_SLOW    the same without masks, of operations that take longer
 *                     than memory; longer rows leave one element over at most
 *     EW_ROWS_PAST    stores past the caches, or as usual in place, and reads
 *                     far ahead
 *
 * All but the second and the last make ends of rows of small elements of one
 * size under masks (AVX-512), but in place, or where lines of short rows are
 * asked for; of long rows of these they ask for the lines of out. All but the
 * first two ask for strided elements that come from memory.
 */
enum ew_rows {
    EW_ROWS,
    EW_ROWS_ONE,
    EW_ROWS_LONG,
    EW_ROWS_FEW,
    EW_ROWS_SHORT,
    EW_ROWS_SLOW,
    EW_ROWS_PAST
};

/* Whether a call is not in place. */
EW_INLINE bool ew_loop_is_apart(void *const data[])
{
    return data[EW_OUT] != data[EW_X] && data[EW_OUT] != data[EW_Y];
}

/* Where row r of operand k starts. */
EW_INLINE void *ew_loop_at(void *const data[], const struct ew_stride s[],
                           int k, int64_t r)
{
    return (char *)data[k] + r * s[k].row;
}

/* Whether operand k is one element for all rows. */
EW_INLINE bool ew_loop_is_one(const struct ew_stride s[], int k)
{
    return s[k].row == 0 && s[k].col == 0;
}

/* Rows of squares, by a kernel of products. */
EW_INLINE void ew_loop_squares(ew_kernel *mul, int64_t rows, int64_t cols,
                               void *const data[], const struct ew_stride s[])
{
    void *const squared[] = {data[EW_X], data[EW_X], data[EW_OUT]};
    const struct ew_stride by[] = {s[EW_X], s[EW_X], s[EW_OUT]};
    mul(rows, cols, squared, by);
}

/* *out = op(*x, *y); some read numbers that are the same for all elements. */
typedef void ew_apply(const void *x, const void *y, const void *with,
                      void *out);

enum { EW_WIDEST = sizeof(struct ew_c128) };

/* A stride of 0 known at compile time reads a copy, which no store can
   change: a constant of the loop. */
EW_INLINE void ew_loop_row(ew_apply *apply, int64_t cols, const char *x,
                           const char *y, const void *with, char *out,
                           int64_t step_x, int64_t step_y, int64_t step_out,
                           int64_t size_x, int64_t size_y)
{
    _Alignas(EW_WIDEST) char x0[EW_WIDEST], y0[EW_WIDEST];
    memcpy(x0, x, (size_t)size_x);
    memcpy(y0, y, (size_t)size_y);
    EW_INDEPENDENT
    for (int64_t c = 0; c < cols; c++)
        apply(step_x ? x + c * step_x : x0, step_y ? y + c * step_y : y0, with,
              out + c * step_out);
}

/* Bytes of a row that does not stay in the L1 cache, and how far ahead the
   lines of out are asked for. SSE2 is slower with that. */
#if defined(__AVX__)
enum { EW_LONG = 32 << 10, EW_AHEAD = 1 << 10 };
#else
enum { EW_LONG = 0, EW_AHEAD = 0 };
#endif

/* Stores wait for their lines one after the other, where loads are found in the
   L2 cache ahead of time: so a line of out is asked for that is needed later.
   Some processors do not wait. */
EW_INLINE void ew_loop_ask_for(char *line)
{
    if (EW_AHEAD > 0)
        __builtin_prefetch(line, 1);
}

/* The one so far behind `at`, but none beyond the last byte to be. */
EW_INLINE void ew_loop_ask(char *out, int64_t at, int64_t last)
{
    ew_loop_ask_for(out + (at + EW_AHEAD < last ? at + EW_AHEAD : last));
}

/* From one row of out to the next, as lines of later rows are asked for; 0:
   none are but the row's own. */
EW_INLINE int64_t ew_loop_below(struct ew_stride out)
{
    return ew_cpu_is(EW_QUICK_STORES) ? 0 : out.row;
}

/* Where rows are farther apart than lines are asked for ahead, those between
   them are not stored soon: what is asked for lies in a row so many further on.
 */
enum { EW_ROWS_AHEAD = 4 };

/* From a line of a short row, behind which so many rows come, to the line that
   is asked for; of rows that go backwards, in the last one. */
EW_INLINE int64_t ew_loop_reach_below(int64_t rows, int64_t below)
{
    int64_t last = rows * below;
    int64_t most = below > EW_AHEAD ? EW_ROWS_AHEAD * below : EW_AHEAD;
    return last < most ? last : most;
}

/* n elements from c on. */
EW_INLINE void ew_loop_piece(ew_apply *apply, int64_t c, int64_t n,
                             const char *x, const char *y, const void *with,
                             char *out, int64_t step_x, int64_t step_y,
                             int64_t step_out)
{
    EW_INDEPENDENT
    for (int64_t i = c; i < c + n; i++)
        apply(x + i * step_x, y + i * step_y, with, out + i * step_out);
}

/* Lines up to which a row is short. */
enum { EW_SHORT = 4 };

/* As ew_loop_row, for a row of at least one line, apart from x and y, with no
   elements left over one by one: the last line ends where the row does, and
   what it shares with the line before is made twice. Lines of later rows are
   asked for, so far ahead, each when what a line needs has been: before, x and
   y would wait for it.

       row     0 1 2 3 4 5 6 7 8 9
       lines   0 1 2 3
                       4 5 6 7
                           6 7 8 9
*/
EW_INLINE void ew_loop_lines(ew_apply *apply, int64_t cols, const char *x,
                             const char *y, const void *with, char *out,
                             int64_t step_x, int64_t step_y, int64_t step_out,
                             int64_t ahead)
{
    const int64_t n = EW_LINE / step_out, last = cols - n;
    for (int64_t c = 0; c < last; c += n) {
        ew_loop_piece(apply, c, n, x, y, with, out, step_x, step_y, step_out);
        ew_loop_ask_for(out + c * step_out + ahead);
    }
    ew_loop_piece(apply, last, n, x, y, with, out, step_x, step_y, step_out);
    ew_loop_ask_for(out + last * step_out + ahead);
}

/* The same for operations that take longer than their memory, as divisions: the
   last piece is a half or a quarter of a line where that is enough. */
EW_INLINE void ew_loop_pieces(ew_apply *apply, int64_t cols, const char *x,
                              const char *y, const void *with, char *out,
                              int64_t step_x, int64_t step_y, int64_t step_out,
                              int64_t ahead)
{
    int64_t n = EW_LINE / step_out, c = 0;
    for (; c + n <= cols; c += n) {
        ew_loop_piece(apply, c, n, x, y, with, out, step_x, step_y, step_out);
        ew_loop_ask_for(out + c * step_out + ahead);
    }
    int64_t rest = cols - c;
    if (rest > n / 2)
        ew_loop_piece(apply, cols - n, n, x, y, with, out, step_x, step_y,
                      step_out);
    else if (rest > n / 4)
        ew_loop_piece(apply, cols - n / 2, n / 2, x, y, with, out, step_x,
                      step_y, step_out);
    else if (rest > 0)
        ew_loop_piece(apply, cols - n / 4, n / 4, x, y, with, out, step_x,
                      step_y, step_out);
}

/* As ew_loop_row, for whole lines, which are asked for as far as the row
   goes. */
EW_INLINE void ew_loop_ahead(ew_apply *apply, int64_t cols, const char *x,
                             const char *y, const void *with, char *out,
                             int64_t step_x, int64_t step_y, int64_t step_out,
                             int64_t size_x, int64_t size_y)
{
    int64_t n = EW_LINE / step_out, last = (cols - 1) * step_out;
    _Alignas(EW_WIDEST) char x0[EW_WIDEST], y0[EW_WIDEST];
    memcpy(x0, x, (size_t)size_x);
    memcpy(y0, y, (size_t)size_y);
    for (int64_t c = 0; c < cols; c += n) {
        ew_loop_ask(out, c * step_out, last);
        EW_INDEPENDENT
        for (int64_t i = c; i < c + n; i++)
            apply(step_x ? x + i * step_x : x0, step_y ? y + i * step_y : y0,
                  with, out + i * step_out);
    }
}

/* Bytes of small elements: many may be left over behind the last whole line of
   a row, and one takes long to become a vector of them. */
enum { EW_SMALL = 2 };

#if defined(__AVX512BW__)
/* As ew_loop_row, for so many bytes of these, if all sizes are the same: what
   is left over is made under a mask. Not in place: the start of the next row,
   which a masked store may have written for all that processors know, would
   wait for it. */
EW_INLINE void ew_loop_small(ew_apply *apply, int64_t bytes, const char *x,
                             const char *y, const void *with, char *out,
                             int64_t step_x, int64_t step_y, int64_t size)
{
    const int64_t n = EW_LINE / size, whole = bytes - bytes % EW_LINE;
    _Alignas(EW_LINE) char last_x[EW_LINE], last_y[EW_LINE], line[EW_LINE];
    _Alignas(EW_WIDEST) char x0[EW_WIDEST], y0[EW_WIDEST];
    memcpy(x0, x, step_x ? 0 : (size_t)size);
    memcpy(y0, y, step_y ? 0 : (size_t)size);
    int64_t b = 0; /* two loops, as one that asks whether it asks is slower */
    if (bytes >= EW_LONG && !ew_cpu_is(EW_QUICK_STORES))
        for (; b < whole; b += EW_LINE) {
            ew_loop_ask(out, b, bytes - 1);
            ew_loop_piece(apply, 0, n, step_x ? x + b : x0, step_y ? y + b : y0,
                          with, out + b, step_x, step_y, size);
        }
    for (; b < whole; b += EW_LINE)
        ew_loop_piece(apply, 0, n, step_x ? x + b : x0, step_y ? y + b : y0,
                      with, out + b, step_x, step_y, size);
    if (whole == bytes)
        return;
    const __mmask64 mask = ew_loop_first((int)(bytes - whole));
    if (step_x)
        _mm512_store_si512(last_x, _mm512_maskz_loadu_epi8(mask, x + whole));
    if (step_y)
        _mm512_store_si512(last_y, _mm512_maskz_loadu_epi8(mask, y + whole));
    ew_loop_piece(apply, 0, n, step_x ? last_x : x0, step_y ? last_y : y0, with,
                  line, step_x, step_y, size);
    _mm512_mask_storeu_epi8(out + whole, mask, _mm512_load_si512(line));
}

/* Rows of these, so many bytes each. */
EW_INLINE void ew_loop_small_rows(ew_apply *apply, int64_t rows, int64_t bytes,
                                  void *const data[],
                                  const struct ew_stride s[], const void *with,
                                  int64_t step_x, int64_t step_y, int64_t size)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t row_x = s[EW_X].row, row_y = s[EW_Y].row;
    const int64_t row_out = s[EW_OUT].row;
    for (; rows > 0; rows--) {
        ew_loop_small(apply, bytes, x, y, with, out, step_x, step_y, size);
        x += row_x;
        y += row_y;
        out += row_out;
    }
}

/* Whether rows are made so: not short ones whose lines are asked for. */
EW_INLINE bool ew_loop_is_small(enum ew_rows how, int64_t cols,
                                void *const data[], int64_t size_x,
                                int64_t size_y, int64_t size)
{
    bool one_size = size <= EW_SMALL && size_x == size && size_y == size;
    bool asks = how == EW_ROWS_SHORT && cols * size >= EW_LINE &&
                cols * size <= EW_SHORT * EW_LINE &&
                !ew_cpu_is(EW_QUICK_STORES);
    return one_size && how != EW_ROWS_ONE && how != EW_ROWS_PAST &&
           ew_loop_is_apart(data) && !asks;
}
#endif

/* One whole line, by non-temporal stores where there are any: an ordinary store
   would read it from memory only to overwrite it. */
EW_INLINE void ew_loop_store_line(char *to, const char *line)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, _mm512_loadu_si512(line));
#elif defined(__AVX__)
    for (int i = 0; i < EW_LINE; i += 32)
        _mm256_stream_si256((__m256i *)(to + i),
                            _mm256_loadu_si256((const __m256i *)(line + i)));
#elif defined(__SSE2__)
    for (int i = 0; i < EW_LINE; i += 16)
        _mm_stream_si128((__m128i *)(to + i),
                         _mm_loadu_si128((const __m128i *)(line + i)));
#else
    memcpy(to, line, EW_LINE);
#endif
}

/* What is read for the next line that is stored. */
EW_INLINE void ew_loop_fetch(struct ew_next *next)
{
    for (int64_t b = 0; b < next->step; b += EW_LINE)
        __builtin_prefetch(next->at + b);
    if (next->at)
        next->at += next->step;
}

/* Bytes. */
enum {
    EW_READ_AHEAD = 3072,
    EW_READ_FAR = 16384,
    EW_LONG_ROW = 16 * EW_READ_AHEAD
};

/* For long rows of operations that take nearly as long as memory: processors,
   which do it by themselves, ask for lines of inputs too late. */
EW_INLINE void ew_loop_ask_later(const void *read)
{
    __builtin_prefetch((const char *)read + EW_READ_AHEAD);
}

/* How far ahead lines of an input are asked for, which processors do by
   themselves as far as a page, but too late where other cores wait for memory,
   too. At a multiple of 4 KiB that costs a tenth; where rows have gaps between
   them, which would be asked for, it would cost more than it gains. An input
   whose elements or rows are all there is to bring is alone, and some
   processors read it a tenth faster from farther on. */
static __attribute__((noinline, unused)) void /* once a call */
ew_loop_reach(int64_t rows, int64_t cols, const struct ew_stride s[],
              int64_t reach[2])
{
    for (int k = EW_X; k <= EW_Y; k++) {
        struct ew_stride other = s[EW_Y - k];
        int64_t row = cols * s[k].col;
        bool goes_on = rows == 1 || s[k].row == row || row >= EW_LONG_ROW;
        bool alone = other.col == 0 || (rows > 1 && other.row == 0);
        bool far = alone && ew_cpu_is(EW_FAR_READS);
        reach[k] = !goes_on ? 0 : far ? EW_READ_FAR : EW_READ_AHEAD;
    }
}

/* As ew_loop_row, with the lines that lie wholly in the row stored past the
   caches, and x and y asked for so far ahead. On AVX-512 lines are stored as
   usual if one of these is out. */
EW_INLINE void ew_loop_stream(ew_apply *apply, int64_t cols, const char *x,
                              const char *y, const void *with, char *out,
                              int64_t step_x, int64_t step_y, int64_t step_out,
                              const int64_t reach[2])
{
    int64_t c = 0, n = EW_LINE / step_out;
#if defined(__AVX512F__)
    const bool past = out != x && out != y;
#else
    const bool past = true;
#endif
    for (; c < cols && (uintptr_t)(out + c * step_out) % EW_LINE; c++)
        apply(x + c * step_x, y + c * step_y, with, out + c * step_out);
    for (; c + n <= cols; c += n) {
        _Alignas(EW_LINE) char line[EW_LINE];
        if (step_x)
            __builtin_prefetch(x + c * step_x + reach[EW_X]);
        if (step_y)
            __builtin_prefetch(y + c * step_y + reach[EW_Y]);
        EW_INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            apply(x + (c + i) * step_x, y + (c + i) * step_y, with,
                  line + i * step_out);
        if (past)
            ew_loop_store_line(out + c * step_out, line);
        else
            memcpy(out + c * step_out, line, EW_LINE);
    }
    for (; c < cols; c++)
        apply(x + c * step_x, y + c * step_y, with, out + c * step_out);
}

/* The forms that a row may have; all others are strided. */
enum ew_form { EW_BOTH, EW_X_ALONE, EW_Y_ALONE, EW_STRIDED };

EW_INLINE enum ew_form ew_loop_form(const struct ew_stride s[], int64_t x,
                                    int64_t y, int64_t out)
{
    if (s[EW_OUT].col != out)
        return EW_STRIDED;
    if (s[EW_X].col == x && s[EW_Y].col == y)
        return EW_BOTH;
    if (s[EW_X].col == x && s[EW_Y].col == 0)
        return EW_X_ALONE;
    if (s[EW_X].col == 0 && s[EW_Y].col == y)
        return EW_Y_ALONE;
    return EW_STRIDED;
}

/* A stride of 0 reads a copy of small elements, as in ew_loop_row; of others
   that made masked rows slower, whose code is beside this. */
EW_INLINE void ew_loop_short_row(ew_apply *apply, enum ew_rows how,
                                 int64_t cols, const char *x, const char *y,
                                 const void *with, char *out, int64_t step_x,
                                 int64_t step_y, int64_t step_out,
                                 int64_t size_x, int64_t size_y, int64_t ahead)
{
    _Alignas(EW_WIDEST) char x0[EW_WIDEST], y0[EW_WIDEST];
    memcpy(x0, x, (size_t)size_x);
    memcpy(y0, y, (size_t)size_y);
    x = step_x || step_out > EW_SMALL ? x : x0;
    y = step_y || step_out > EW_SMALL ? y : y0;
    if (how == EW_ROWS_SLOW)
        ew_loop_pieces(apply, cols, x, y, with, out, step_x, step_y, step_out,
                       ahead);
    else
        ew_loop_lines(apply, cols, x, y, with, out, step_x, step_y, step_out,
                      ahead);
}

/* All such rows in one loop, which has nothing else to look at. */
EW_INLINE void
ew_loop_short_rows(ew_apply *apply, enum ew_rows how, int64_t rows,
                   int64_t cols, void *const data[], const struct ew_stride s[],
                   const void *with, int64_t step_x, int64_t step_y,
                   int64_t step_out, int64_t size_x, int64_t size_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t row_x = s[EW_X].row, row_y = s[EW_Y].row;
    const int64_t row_out = s[EW_OUT].row, below = ew_loop_below(s[EW_OUT]);
    while (rows-- > 0) {
        ew_loop_short_row(apply, how, cols, x, y, with, out, step_x, step_y,
                          step_out, size_x, size_y,
                          ew_loop_reach_below(rows, below));
        x += row_x;
        y += row_y;
        out += row_out;
    }
}

/* Whether rows are made so: those of a few lines, apart from x and y. */
EW_INLINE bool ew_loop_is_short(enum ew_rows how, int64_t cols,
                                void *const data[], int64_t step_out)
{
    const int64_t n = EW_LINE / step_out;
    return (how == EW_ROWS_SHORT || how == EW_ROWS_SLOW) && cols >= n &&
           cols <= EW_SHORT * n && ew_loop_is_apart(data);
}

/* Whether short rows take less without a line that is made twice, as stores do
   not wait, and an element at most is left over behind vectors of AVX2. */
EW_INLINE bool ew_loop_ends_well(int64_t cols, int64_t step_out)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    const int64_t left = cols % (EW_LINE / 2 / step_out);
    return step_out >= 4 && cols * step_out > EW_LINE && left <= 1 &&
           ew_cpu_is(EW_QUICK_STORES);
#else
    (void)cols, (void)step_out;
    return false;
#endif
}

/* Such rows, with nothing around op: vectors, and the element if there is one.
   No byte is stored twice, and no line asked for. */
EW_INLINE void ew_loop_vector_rows(ew_apply *apply, int64_t rows, int64_t cols,
                                   void *const data[],
                                   const struct ew_stride s[], int64_t step_x,
                                   int64_t step_y, int64_t step_out,
                                   int64_t size_x, int64_t size_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t n = EW_LINE / 2 / step_out, last = cols / n * n;
    const int64_t row_x = s[EW_X].row, row_y = s[EW_Y].row;
    const int64_t row_out = s[EW_OUT].row;
    while (rows-- > 0) {
        _Alignas(EW_WIDEST) char x0[EW_WIDEST], y0[EW_WIDEST];
        memcpy(x0, x, (size_t)size_x);
        memcpy(y0, y, (size_t)size_y);
        const char *a = step_x ? x : x0, *b = step_y ? y : y0;
        for (int64_t c = 0; c < last; c += n)
            ew_loop_piece(apply, c, n, a, b, NULL, out, step_x, step_y,
                          step_out);
        if (last < cols)
            apply(a + last * step_x, b + last * step_y, NULL,
                  out + last * step_out);
        x += row_x;
        y += row_y;
        out += row_out;
    }
}

/* Bytes of a row that is made two vectors of AVX2 a round, beside one number;
   of elements of a byte EW_LONG are, beside others. */
enum { EW_PAIRED = 512 };

/* As ew_loop_row, of elements of one size, for as many as whole rounds make,
   which are returned. All loads of a round come before its stores: compilers
   that unroll a loop store the first vector before they load the second. Where
   stores wait for lines of out, long rows ask for these instead, and others
   gain nothing. */
EW_INLINE int64_t ew_loop_pairs(ew_apply *apply, int64_t cols, const char *x,
                                const char *y, const void *with, char *out,
                                int64_t step_x, int64_t step_y, int64_t size)
{
    int64_t c = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
    enum { VECTOR = sizeof(__m256i) };
    const int64_t n = VECTOR / size;
    if (cols * size < (step_x && step_y ? EW_LONG : EW_PAIRED) ||
        !ew_cpu_is(EW_QUICK_STORES))
        return 0;
    _Alignas(EW_WIDEST) char x0[EW_WIDEST], y0[EW_WIDEST];
    memcpy(x0, x, (size_t)size);
    memcpy(y0, y, (size_t)size);
    x = step_x ? x : x0;
    y = step_y ? y : y0;
    for (; c + 2 * n <= cols; c += 2 * n) {
        _Alignas(VECTOR) char first[VECTOR], second[VECTOR];
        ew_loop_piece(apply, 0, n, x, y, with, first, step_x, step_y, size);
        x += n * step_x;
        y += n * step_y;
        ew_loop_piece(apply, 0, n, x, y, with, second, step_x, step_y, size);
        x += n * step_x;
        y += n * step_y;
        __m256i v = _mm256_loadu_si256((const void *)first);
        __m256i w = _mm256_loadu_si256((const void *)second);
        __asm__("" : "+x"(v), "+x"(w));
        _mm256_storeu_si256((void *)(out + c * size), v);
        _mm256_storeu_si256((void *)(out + c * size + VECTOR), w);
    }
#else
    (void)apply, (void)cols, (void)x, (void)y, (void)with, (void)out;
    (void)step_x, (void)step_y, (void)size;
#endif
    return c;
}

/* One row in its form; steps of 0 and of one element are constants. */
EW_INLINE void ew_loop_formed(ew_apply *apply, enum ew_rows how, int64_t cols,
                              const char *x, const char *y, const void *with,
                              char *out, int64_t step_x, int64_t step_y,
                              int64_t step_out, int64_t size_x, int64_t size_y,
                              const int64_t reach[2])
{
    const int64_t n = EW_LINE / step_out;
    const bool asks =
        how == EW_ROWS_SHORT || how == EW_ROWS_SLOW || how == EW_ROWS_LONG;
    /* the last line shares a part of the one before */
    const bool ends =
        how == EW_ROWS_SLOW && cols > n && cols % n > 1 && out != x && out != y;
    if (EW_LONG > 0 && asks && cols * step_out >= EW_LONG &&
        !ew_cpu_is(EW_QUICK_STORES)) {
        int64_t whole = cols / n * n;
        ew_loop_ahead(apply, whole, x, y, with, out, step_x, step_y, step_out,
                      size_x, size_y);
        x += whole * step_x;
        y += whole * step_y;
        out += whole * step_out;
        cols -= whole;
        if (cols == 0)
            return;
    }
    if (how == EW_ROWS_PAST) {
        ew_loop_stream(apply, cols, x, y, with, out, step_x, step_y, step_out,
                       reach);
        return;
    }
    if (how == EW_ROWS_SHORT && size_x == step_out && size_y == step_out &&
        (step_x == 0 || step_y == 0 || step_out == 1)) {
        int64_t done = ew_loop_pairs(apply, cols, x, y, with, out, step_x,
                                     step_y, step_out);
        x += done * step_x;
        y += done * step_y;
        out += done * step_out;
        cols -= done;
        if (cols == 0)
            return;
    }
    ew_loop_row(apply, ends ? cols - cols % n : cols, x, y, with, out, step_x,
                step_y, step_out, size_x, size_y);
    if (ends)
        ew_loop_piece(apply, cols - n, n, x, y, with, out, step_x, step_y,
                      step_out);
}

#if defined(__AVX512VL__)
#define EW_MASKED
/* So much of a vector of 32 or 64 bytes as a mask says, one bit for 4 bytes;
   the rest is zeros. */
EW_INLINE void ew_loop_load_masked(int64_t bytes, __mmask16 mask,
                                   const char *from, char *to)
{
    if (bytes == 32)
        _mm256_storeu_si256((void *)to,
                            _mm256_maskz_loadu_epi32((__mmask8)mask, from));
    else
        _mm512_storeu_si512(to, _mm512_maskz_loadu_epi32(mask, from));
}

/* The other way, the rest of out as it was. */
EW_INLINE void ew_loop_store_masked(int64_t bytes, __mmask16 mask,
                                    const char *from, char *out)
{
    if (bytes == 32)
        _mm256_mask_storeu_epi32(out, (__mmask8)mask,
                                 _mm256_loadu_si256((const void *)from));
    else
        _mm512_mask_storeu_epi32(out, mask, _mm512_loadu_si512(from));
}

/* Such a vector of an operand, or of one element of it again and again, which
   compilers would otherwise look at alone. */
EW_INLINE void ew_loop_take_masked(int64_t bytes, __mmask16 mask,
                                   const char *from, int64_t step, int64_t size,
                                   char *to)
{
    if (step)
        ew_loop_load_masked(bytes, mask, from, to);
    else
        for (int64_t i = 0; i < bytes; i += size)
            memcpy(to + i, from, (size_t)size);
}

/* Rows that are no longer than a vector, without a loop for each: what is
   beyond them is masked. A vector of 32 bytes crosses fewer lines. */
EW_INLINE void ew_loop_masked(ew_apply *apply, int64_t bytes, int64_t rows,
                              int64_t cols, void *const data[],
                              const struct ew_stride s[], int64_t step_x,
                              int64_t step_y, int64_t size)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const int64_t row_x = s[EW_X].row, row_y = s[EW_Y].row;
    const int64_t row_out = s[EW_OUT].row, below = ew_loop_below(s[EW_OUT]);
    const unsigned words = (unsigned)(cols * size) / 4;
    const __mmask16 mask = (__mmask16)(0xffffu >> (16 - words));
    while (rows-- > 0) {
        _Alignas(EW_LINE) char from_x[EW_LINE], from_y[EW_LINE], line[EW_LINE];
        ew_loop_ask_for(out + ew_loop_reach_below(rows, below));
        ew_loop_take_masked(bytes, mask, x, step_x, size, from_x);
        ew_loop_take_masked(bytes, mask, y, step_y, size, from_y);
        EW_INDEPENDENT
        for (int64_t i = 0; i < bytes; i += size)
            apply(from_x + i, from_y + i, NULL, line + i);
        ew_loop_store_masked(bytes, mask, line, out);
        x += row_x;
        y += row_y;
        out += row_out;
    }
}
#endif

/* All rows in their form. */
EW_INLINE void ew_loop_rows(ew_apply *apply, enum ew_rows how, int64_t rows,
                            int64_t cols, void *const data[],
                            const struct ew_stride s[], const void *with,
                            int64_t step_x, int64_t step_y, int64_t step_out,
                            int64_t size_x, int64_t size_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
#if defined(EW_MASKED)
    bool masks =
        (how == EW_ROWS_SHORT || how == EW_ROWS_FEW) && !with && step_out >= 4;
    if (masks && rows > 1 && cols * step_out <= EW_LINE / 2) {
        ew_loop_masked(apply, EW_LINE / 2, rows, cols, data, s, step_x, step_y,
                       step_out);
        return;
    }
    if (masks && rows > 1 && cols * step_out <= EW_LINE) {
        ew_loop_masked(apply, EW_LINE, rows, cols, data, s, step_x, step_y,
                       step_out);
        return;
    }
#endif
#if defined(__AVX512BW__)
    if (ew_loop_is_small(how, cols, data, size_x, size_y, step_out)) {
        ew_loop_small_rows(apply, rows, cols * step_out, data, s, with, step_x,
                           step_y, step_out);
        return;
    }
#endif
    int64_t reach[] = {0, 0};
    if (ew_loop_is_short(how, cols, data, step_out)) {
        bool vectors =
            how == EW_ROWS_SHORT && ew_loop_ends_well(cols, step_out);
        if (vectors && !with) {
            ew_loop_vector_rows(apply, rows, cols, data, s, step_x, step_y,
                                step_out, size_x, size_y);
            return;
        }
        if (!vectors) {
            ew_loop_short_rows(apply, how, rows, cols, data, s, with, step_x,
                               step_y, step_out, size_x, size_y);
            return;
        }
    }
    if (how == EW_ROWS_PAST)
        ew_loop_reach(rows, cols, s, reach);
    for (;;) {
        ew_loop_formed(apply, how, cols, x, y, with, out, step_x, step_y,
                       step_out, size_x, size_y, reach);
        if (--rows == 0)
            return;
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

/* Elements from what is read one by one to what is asked for, and bytes of
   inputs, gaps and all, from which on that pays. */
enum { EW_STRIDED_AHEAD = 128, EW_STRIDED_FROM = 8 << 20 };

/* Whether inputs with gaps come from memory, of which processors that read late
   have few lines on their way, as an element takes many instructions. Of dense
   inputs they bring enough by themselves, and elements far apart have a line
   each. */
static __attribute__((noinline, unused)) bool /* once a call */
ew_loop_waits(int64_t rows, int64_t cols, const struct ew_stride s[])
{
    int64_t bytes = 0;
    for (int k = EW_X; k <= EW_Y; k++) {
        int64_t step = s[k].col < 0 ? -s[k].col : s[k].col;
        if (step < EW_LINE / 4 || step > EW_LINE / 2)
            return false;
        bytes += rows * cols * step;
    }
    return bytes >= EW_STRIDED_FROM && ew_cpu_is(EW_LATE_READS);
}

/* All rows, with strides as they come: copies of them, which no store can
   change. alone: one by one, where compilers would put elements together to
   vectors. */
EW_INLINE void ew_loop_strided_by(ew_apply *apply, bool asks, bool alone,
                                  int64_t rows, int64_t cols,
                                  void *const data[],
                                  const struct ew_stride s[], const void *with)
{
    const struct ew_stride of_x = s[EW_X], of_y = s[EW_Y], of_out = s[EW_OUT];
    const char *row_x = data[EW_X], *row_y = data[EW_Y];
    char *row_out = data[EW_OUT];
    for (int64_t r = 0; r < rows; r++) {
        const char *x = row_x, *y = row_y;
        char *out = row_out;
        for (int64_t left = cols; left > 0; left--) {
            if (asks) {
                __builtin_prefetch(x + EW_STRIDED_AHEAD * of_x.col);
                __builtin_prefetch(y + EW_STRIDED_AHEAD * of_y.col);
            }
            apply(x, y, with, out);
            x += of_x.col;
            y += of_y.col;
            out += of_out.col;
            if (alone) /* no vector goes beyond this */
                __asm__ volatile("" : "+r"(x));
        }
        row_x += of_x.row;
        row_y += of_y.row;
        row_out += of_out.row;
    }
}

EW_INLINE void ew_loop_strided(ew_apply *apply, int64_t rows, int64_t cols,
                               void *const data[], const struct ew_stride s[],
                               const void *with)
{
    ew_loop_strided_by(apply, false, false, rows, cols, data, s, with);
}

/* The same of operations that are taken one by one from memory. */
EW_INLINE void ew_loop_strided_far(ew_apply *apply, bool alone, int64_t rows,
                                   int64_t cols, void *const data[],
                                   const struct ew_stride s[])
{
#if defined(__AVX512F__)
    if (ew_loop_waits(rows, cols, s)) {
        ew_loop_strided_by(apply, true, alone, rows, cols, data, s, NULL);
        return;
    }
#endif
    ew_loop_strided_by(apply, false, alone, rows, cols, data, s, NULL);
}

/*
 * A whole kernel, for elements of the given sizes:
 *
 *     for each row
 *         x[c] op y[c]   or   x[c] op y[0]   or   x[0] op y[c]
 *         or strides as they come
 *
 * The form is chosen before the rows, or calls on a few elements would
 * prepare the loops of all forms.
 */
EW_INLINE void ew_loop_all(ew_apply *apply, enum ew_rows how, const void *with,
                           int64_t x, int64_t y, int64_t out, int64_t rows,
                           int64_t cols, void *const data[],
                           const struct ew_stride s[])
{
    switch (ew_loop_form(s, x, y, out)) {
    case EW_BOTH:
        ew_loop_rows(apply, how, rows, cols, data, s, with, x, y, out, x, y);
        break;
    case EW_X_ALONE:
        ew_loop_rows(apply, how, rows, cols, data, s, with, x, 0, out, x, y);
        break;
    case EW_Y_ALONE:
        ew_loop_rows(apply, how, rows, cols, data, s, with, 0, y, out, x, y);
        break;
    case EW_STRIDED:
        if (how == EW_ROWS || how == EW_ROWS_ONE || with)
            ew_loop_strided(apply, rows, cols, data, s, with);
        else
            ew_loop_strided_far(apply, false, rows, cols, data, s);
        break;
    }
}

/* One line makes the loop NAME, which EW_KERNEL takes, of all rows as HOW
   says. */
#define EW_LOOP_OF(name, how)                                                  \
    EW_INLINE void name(ew_apply *apply, int64_t x, int64_t y, int64_t out,    \
                        int64_t rows, int64_t cols, void *const data[],        \
                        const struct ew_stride s[])                            \
    {                                                                          \
        ew_loop_all(apply, how, NULL, x, y, out, rows, cols, data, s);         \
    }
EW_LOOP_OF(ew_loop, EW_ROWS)
EW_LOOP_OF(ew_loop_one, EW_ROWS_ONE)
EW_LOOP_OF(ew_loop_long, EW_ROWS_LONG)
EW_LOOP_OF(ew_loop_few, EW_ROWS_FEW)
EW_LOOP_OF(ew_loop_short, EW_ROWS_SHORT)
EW_LOOP_OF(ew_loop_slow, EW_ROWS_SLOW)
EW_LOOP_OF(ew_loop_past, EW_ROWS_PAST)

/* The same with what stands around an operation; its numbers are copied, to
   where no store can change them. */
EW_INLINE void ew_loop_around(ew_apply *apply, enum ew_rows how, int64_t x,
                              int64_t y, int64_t out, int64_t rows,
                              int64_t cols, void *const data[],
                              const struct ew_stride s[])
{
    struct ew_around around;
    memcpy(&around, data[EW_AROUND], (size_t)out * EW_AROUNDS);
    ew_loop_all(apply, how, &around, x, y, out, rows, cols, data, s);
}

EW_INLINE void ew_loop_whole(ew_apply *apply, int64_t x, int64_t y, int64_t out,
                             int64_t rows, int64_t cols, void *const data[],
                             const struct ew_stride s[])
{
    ew_loop_around(apply, EW_ROWS_SHORT, x, y, out, rows, cols, data, s);
}

EW_INLINE void ew_loop_whole_past(ew_apply *apply, int64_t x, int64_t y,
                                  int64_t out, int64_t rows, int64_t cols,
                                  void *const data[],
                                  const struct ew_stride s[])
{
    ew_loop_around(apply, EW_ROWS_PAST, x, y, out, rows, cols, data, s);
}

/* The same for functions of libm, which set errno: it is put back. */
EW_INLINE void ew_loop_libm(ew_apply *apply, int64_t x, int64_t y, int64_t out,
                            int64_t rows, int64_t cols, void *const data[],
                            const struct ew_stride s[])
{
    int before = errno;
    ew_loop_all(apply, EW_ROWS, NULL, x, y, out, rows, cols, data, s);
    ew_quiet_restore(before);
}

/* A reduction: sets *out to 1 if the operation is 1 for any element. Both
   operands have the given size; an x that is NULL is not looked at. */
EW_INLINE void ew_loop_any(ew_apply *apply, int64_t size, int64_t size_y,
                           int64_t out, int64_t rows, int64_t cols,
                           void *const data[], const struct ew_stride s[])
{
    (void)size_y; /* as x's */
    (void)out;
    const struct ew_stride sy = s[EW_Y], sx = data[EW_X] ? s[EW_X] : sy;
    const char *py = data[EW_Y], *px = data[EW_X] ? data[EW_X] : py;
    uint8_t any = 0;
    for (int64_t r = 0; r < rows && !any; r++) {
        uint8_t one;
        if (sx.col == size && sy.col == size)
            for (int64_t c = 0; c < cols; c++) {
                apply(px + c * size, py + c * size, NULL, &one);
                any |= one;
            }
        else
            for (int64_t c = 0; c < cols; c++) {
                apply(px + c * sx.col, py + c * sy.col, NULL, &one);
                any |= one;
            }
        px += sx.row;
        py += sy.row;
    }
    if (any)
        *(uint8_t *)data[EW_OUT] = 1;
}

/* One line makes a kernel of a call that takes rows, cols, data and s. */
#define EW_KERNEL_OF(kernel, ...)                                              \
    static void kernel(int64_t rows, int64_t cols, void *const data[],         \
                       const struct ew_stride s[])                             \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

/* An operation op_NAME of type X x Y -> R as the function apply_NAME. PASTE
   gives both the suffix of the template's type. */
#define EW_APPLY(PASTE, name, X, Y, R)                                         \
    EW_INLINE void PASTE(apply_##name)(const void *x, const void *y,           \
                                       const void *with, void *out)            \
    {                                                                          \
        (void)with;                                                            \
        *(R *)out = PASTE(op_##name)(*(const X *)x, *(const Y *)y);            \
    }

/* One line binds it to its kernel NAME. */
#define EW_KERNEL(LOOP, PASTE, name, X, Y, R)                                  \
    EW_APPLY(PASTE, name, X, Y, R)                                             \
    EW_KERNEL_AGAIN(LOOP, PASTE, name, name, X, Y, R)

/* Another kernel of the same operation, KERNEL. */
#define EW_KERNEL_AGAIN(LOOP, PASTE, kernel, name, X, Y, R)                    \
    EW_KERNEL_OF(PASTE(kernel),                                                \
                 LOOP(PASTE(apply_##name), sizeof(X), sizeof(Y), sizeof(R),    \
                      rows, cols, data, s))

#endif
