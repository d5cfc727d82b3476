/*
 * The kernels of bool, where any byte but 0 is true, and the comparisons of
 * an i64 with a u64, which no common type holds. On AVX-512 those of bool are
 * by hand: rows of less than a vector under a mask, and the end of others
 * as the last vector that lies in them, in an eighth of the code.
 */
#include <stdbool.h>

#include "compare.h"
#include "past_lines.h"

#define BOOL(x) x##_bool

EW_INLINE uint8_t minimum(uint8_t x, uint8_t y)
{
    return x < y ? x : y;
}

/* Bytes other than 0 and 1 may come in; only 0 and 1 go out. A minimum is one
   step, a comparison and what makes 1 of its bits are two. */
EW_INLINE uint8_t op_or_bool(uint8_t x, uint8_t y)
{
    return minimum(x | y, 1);
}

EW_INLINE uint8_t op_and_bool(uint8_t x, uint8_t y)
{
    return minimum(minimum(x, y), 1);
}

EW_INLINE uint8_t op_xor_bool(uint8_t x, uint8_t y)
{
    return (x != 0) ^ (y != 0);
}

EW_INLINE uint8_t op_equal_bool(uint8_t x, uint8_t y)
{
    return (x != 0) == (y != 0);
}

EW_INLINE uint8_t op_less_than_bool(uint8_t x, uint8_t y)
{
    return (x == 0) & (y != 0);
}

EW_INLINE uint8_t op_less_equal_bool(uint8_t x, uint8_t y)
{
    return (x == 0) | (y != 0);
}

EW_INLINE uint8_t op_greater_than_bool(uint8_t x, uint8_t y)
{
    return op_less_than_bool(y, x);
}

EW_INLINE uint8_t op_greater_equal_bool(uint8_t x, uint8_t y)
{
    return op_less_equal_bool(y, x);
}

EW_INLINE uint8_t op_any_zero_bool(uint8_t x, uint8_t y)
{
    (void)x;
    return y == 0;
}

#if defined(EW_COMPARE_BITS)
/* The same of vectors. What is true is 1 after a minimum, so that no bits have
   to become bytes. */
typedef __m512i bool_vectors(__m512i x, __m512i y);

EW_INLINE __m512i ones_if(__m512i x)
{
    return _mm512_min_epu8(x, _mm512_set1_epi8(1));
}

EW_INLINE __m512i vectors_or(__m512i x, __m512i y)
{
    return ones_if(_mm512_or_si512(x, y));
}

EW_INLINE __m512i vectors_and(__m512i x, __m512i y)
{
    return ones_if(_mm512_min_epu8(x, y));
}

EW_INLINE __m512i vectors_xor(__m512i x, __m512i y)
{
    return _mm512_xor_si512(ones_if(x), ones_if(y));
}

EW_INLINE __m512i vectors_equal(__m512i x, __m512i y)
{
    return _mm512_xor_si512(vectors_xor(x, y), _mm512_set1_epi8(1));
}

EW_INLINE __m512i vectors_less_than(__m512i x, __m512i y)
{
    return _mm512_andnot_si512(ones_if(x), ones_if(y));
}

EW_INLINE __m512i vectors_greater_than(__m512i x, __m512i y)
{
    return vectors_less_than(y, x);
}

EW_INLINE __m512i vectors_less_equal(__m512i x, __m512i y)
{
    return _mm512_xor_si512(vectors_less_than(y, x), _mm512_set1_epi8(1));
}

EW_INLINE __m512i vectors_greater_equal(__m512i x, __m512i y)
{
    return vectors_less_equal(y, x);
}

/* The whole vectors of a row. */
EW_INLINE void bool_whole(bool_vectors *op, int64_t cols,
                          const struct ew_compare_from *x,
                          const struct ew_compare_from *y, bool asks, char *out)
{
    for (int64_t c = 0; c < cols; c += EW_COMPARE_BYTES) {
        if (asks)
            ew_loop_ask(out, c, cols - 1);
        _mm512_storeu_si512(out + c, op((__m512i)ew_compare_load(x, c),
                                        (__m512i)ew_compare_load(y, c)));
    }
}

/* One row of a vector and more. Of short ones, lines are asked for that are
   `left` bytes further on. Long ones gain by asking on all processors, but in
   place only where stores wait for lines. The end is the last vector that lies
   in the row, made before out, which may be x or y, is written. */
EW_INLINE void bool_row(bool_vectors *op, int64_t cols,
                        const struct ew_compare_from *x,
                        const struct ew_compare_from *y, int64_t left,
                        char *out)
{
    const int64_t n = EW_COMPARE_BYTES, whole = cols / n * n;
    for (int64_t c = 0; c < whole && cols <= EW_SHORT * n; c += n)
        __builtin_prefetch(out + left + c, 1);
    const bool apart = out != x->at && out != y->at;
    const bool ends = whole < cols;
    __m512i end = _mm512_setzero_si512();
    if (ends)
        end = op((__m512i)ew_compare_load(x, cols - n),
                 (__m512i)ew_compare_load(y, cols - n));
    if (cols >= EW_LONG && (apart || !ew_cpu_is(EW_QUICK_STORES)))
        bool_whole(op, whole, x, y, true, out);
    else
        bool_whole(op, whole, x, y, false, out);
    if (ends)
        _mm512_storeu_si512(out + cols - n, end);
}

/* A vector of the first bytes at x, or of one again and again. */
EW_INLINE __m512i bool_take(__mmask64 mask, const char *x, int64_t step)
{
    return step ? _mm512_maskz_loadu_epi8(mask, x) : _mm512_set1_epi8(*x);
}

/* Rows of less than a vector, all under the same mask. */
EW_INLINE void bool_short(bool_vectors *op, int64_t rows, int64_t cols,
                          void *const data[], const struct ew_stride s[],
                          int64_t step_x, int64_t step_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    const __mmask64 mask = ew_loop_first((int)cols);
    const int64_t row_x = s[EW_X].row, row_y = s[EW_Y].row;
    const int64_t row_out = s[EW_OUT].row;
    for (; rows > 0; rows--) {
        _mm512_mask_storeu_epi8(
            out, mask,
            op(bool_take(mask, x, step_x), bool_take(mask, y, step_y)));
        x += row_x;
        y += row_y;
        out += row_out;
    }
}

/* Rows below that are asked for: those of a tile may be far apart. */
enum { BELOW = 2 };

EW_INLINE void bool_rows(bool_vectors *op, int64_t rows, int64_t cols,
                         void *const data[], const struct ew_stride s[],
                         int64_t step_x, int64_t step_y)
{
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    if (cols < EW_COMPARE_BYTES) {
        bool_short(op, rows, cols, data, s, step_x, step_y);
        return;
    }
    const int64_t below = ew_loop_below(s[EW_OUT]);
    for (; rows > 0; rows--) {
        const struct ew_compare_from from_x = ew_compare_from(x, step_x, 1);
        const struct ew_compare_from from_y = ew_compare_from(y, step_y, 1);
        int64_t left = (rows > BELOW ? BELOW : rows - 1) * below;
        bool_row(op, cols, &from_x, &from_y, left, out);
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
}

EW_INLINE void bool_all(bool_vectors *op, ew_apply *apply, int64_t rows,
                        int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, 1, 1, 1);
    if (form == EW_STRIDED)
        ew_loop_strided(apply, rows, cols, data, s, NULL);
    else if (form == EW_BOTH)
        bool_rows(op, rows, cols, data, s, 1, 1);
    else if (form == EW_X_ALONE)
        bool_rows(op, rows, cols, data, s, 1, 0);
    else
        bool_rows(op, rows, cols, data, s, 0, 1);
}

#define KERNEL(name)                                                           \
    EW_APPLY(BOOL, name, uint8_t, uint8_t, uint8_t)                            \
    EW_KERNEL_OF(BOOL(name), bool_all(vectors_##name, apply_##name##_bool,     \
                                      rows, cols, data, s))
#else
#define KERNEL(name)                                                           \
    EW_KERNEL(ew_loop_short, BOOL, name, uint8_t, uint8_t, uint8_t)
#endif
KERNEL(or)
KERNEL(and)
KERNEL(xor)
KERNEL(equal)
KERNEL(less_than)
KERNEL(less_equal)
KERNEL(greater_than)
KERNEL(greater_equal)
EW_KERNEL(ew_loop_any, BOOL, any_zero, uint8_t, uint8_t, uint8_t)

#if defined(EW_PAST_LINES)
EW_KERNEL_OF(BOOL(past_or), ew_past_lines(vectors_or, vectors_or, or_bool, 1,
                                          rows, cols, data, s))
EW_KERNEL_OF(BOOL(past_and), ew_past_lines(vectors_and, vectors_and, and_bool,
                                           1, rows, cols, data, s))
#define PAST(name) BOOL(past_##name)
#else
#define PAST(name) NULL
#endif

/* On bool, add and max are or, mul and min are and. */
static const ew_kernel_row row_bool = {
    [EW_PAST + ELEMENTWISE_ADD] = PAST(or),
    [EW_PAST + ELEMENTWISE_MUL] = PAST(and),
    [EW_PAST + ELEMENTWISE_MAX] = PAST(or),
    [EW_PAST + ELEMENTWISE_MIN] = PAST(and),
    [EW_PAST + ELEMENTWISE_LOGICAL_AND] = PAST(and),
    [EW_PAST + ELEMENTWISE_LOGICAL_OR] = PAST(or),
    [EW_PAST + ELEMENTWISE_BITWISE_AND] = PAST(and),
    [EW_PAST + ELEMENTWISE_BITWISE_OR] = PAST(or),
    [ELEMENTWISE_ADD] = or_bool,
    [ELEMENTWISE_MUL] = and_bool,
    [ELEMENTWISE_MAX] = or_bool,
    [ELEMENTWISE_MIN] = and_bool,
    [ELEMENTWISE_EQUAL] = equal_bool,
    [ELEMENTWISE_NOT_EQUAL] = xor_bool,
    [ELEMENTWISE_LESS_THAN] = less_than_bool,
    [ELEMENTWISE_LESS_EQUAL] = less_equal_bool,
    [ELEMENTWISE_GREATER_THAN] = greater_than_bool,
    [ELEMENTWISE_GREATER_EQUAL] = greater_equal_bool,
    [ELEMENTWISE_LOGICAL_AND] = and_bool,
    [ELEMENTWISE_LOGICAL_OR] = or_bool,
    [ELEMENTWISE_LOGICAL_XOR] = xor_bool,
    [ELEMENTWISE_BITWISE_AND] = and_bool,
    [ELEMENTWISE_BITWISE_OR] = or_bool,
    [ELEMENTWISE_BITWISE_XOR] = xor_bool,
    [EW_ANY_ZERO] = any_zero_bool};

/* Mixed comparisons: a negative number is below every unsigned one. */
#define SU(x) x##_i64_u64
#define US(x) x##_u64_i64

EW_INLINE uint8_t op_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x >= 0) & ((uint64_t)x == y);
}

EW_INLINE uint8_t op_not_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x < 0) | ((uint64_t)x != y);
}

EW_INLINE uint8_t op_less_than_i64_u64(int64_t x, uint64_t y)
{
    return (x < 0) | ((uint64_t)x < y);
}

EW_INLINE uint8_t op_less_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x < 0) | ((uint64_t)x <= y);
}

EW_INLINE uint8_t op_greater_than_i64_u64(int64_t x, uint64_t y)
{
    return (x >= 0) & ((uint64_t)x > y);
}

EW_INLINE uint8_t op_greater_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x >= 0) & ((uint64_t)x >= y);
}

/* With the operands the other way round it is the mirrored comparison. One line
   makes both kernels; on AVX-512 of what bits there are where an i64 x is not
   negative, without the forms of short rows, which would need kernels that are
   not made of each other. */
#if defined(EW_COMPARE_BITS)
#define KERNEL_MIXED(name, bits)                                               \
    EW_COMPARE_TEST(SU, name, int64_t, , bits)                                 \
    EW_APPLY(SU, name, int64_t, uint64_t, uint8_t)                             \
    EW_COMPARE_PLAIN(SU, name, name, int64_t)
#else
#define KERNEL_MIXED(name, bits)                                               \
    EW_KERNEL(ew_loop, SU, name, int64_t, uint64_t, uint8_t)
#endif
#define MIXED(name, other, bits)                                               \
    static ew_kernel SU(name);                                                 \
    EW_KERNEL_OF(US(other),                                                    \
                 ew_compare_mirrored(SU(name), rows, cols, data, s))           \
    KERNEL_MIXED(name, bits)
MIXED(equal, equal,
      _mm512_mask_cmpeq_epi64_mask(~_mm512_movepi64_mask(x), x, y))
MIXED(not_equal, not_equal,
      _mm512_movepi64_mask(x) | _mm512_cmpneq_epi64_mask(x, y))
MIXED(less_than, greater_than,
      _mm512_movepi64_mask(x) | _mm512_cmplt_epu64_mask(x, y))
MIXED(less_equal, greater_equal,
      _mm512_movepi64_mask(x) | _mm512_cmple_epu64_mask(x, y))
MIXED(greater_than, less_than,
      _mm512_mask_cmpgt_epu64_mask(~_mm512_movepi64_mask(x), x, y))
MIXED(greater_equal, less_equal,
      _mm512_mask_cmpge_epu64_mask(~_mm512_movepi64_mask(x), x, y))

static const ew_kernel_row row_i64_u64 = {
    [ELEMENTWISE_EQUAL] = equal_i64_u64,
    [ELEMENTWISE_NOT_EQUAL] = not_equal_i64_u64,
    [ELEMENTWISE_LESS_THAN] = less_than_i64_u64,
    [ELEMENTWISE_LESS_EQUAL] = less_equal_i64_u64,
    [ELEMENTWISE_GREATER_THAN] = greater_than_i64_u64,
    [ELEMENTWISE_GREATER_EQUAL] = greater_equal_i64_u64};

static const ew_kernel_row row_u64_i64 = {
    [ELEMENTWISE_EQUAL] = equal_u64_i64,
    [ELEMENTWISE_NOT_EQUAL] = not_equal_u64_i64,
    [ELEMENTWISE_LESS_THAN] = less_than_u64_i64,
    [ELEMENTWISE_LESS_EQUAL] = less_equal_u64_i64,
    [ELEMENTWISE_GREATER_THAN] = greater_than_u64_i64,
    [ELEMENTWISE_GREATER_EQUAL] = greater_equal_u64_i64};

const ew_kernel_row *const EW_CONCAT(ew_logic, EW_LEVEL)[EW_LOGIC_ROWS] = {
    &row_bool, &row_i64_u64, &row_u64_i64};
