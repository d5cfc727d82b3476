/*
 * The kernels of c64 and c128: complex.inc, once per type, with the
 * divisions, comparisons and powers of complex_divide.h,
 * complex_divide_c64.h, complex_equal.h and complex_power.h.
 */
#include "compare.h"
#include "complex_divide_c64.h"
#include "complex_equal.h"
#include "complex_power.h"
#include "loop.h"
#include "past_lines.h"

#if defined(__AVX2__)
/* The bits of an element of c64; SSE2 tells faster whether floats are 0. */
typedef uint64_t pair_of_f32 __attribute__((aligned(4)));
#define B pair_of_f32
#define VALUE 0x7fffffff7fffffff
#define NAME(x) x##_c64
#include "logical.inc"
#define LOGICAL(name) name##_c64
#endif

#if defined(EW_PAST_LINES)
EW_INLINE __m512i vectors_add(__m512i x, __m512i y)
{
    return (__m512i)_mm512_add_ps((__m512)x, (__m512)y);
}

EW_INLINE __m512i vectors_sub(__m512i x, __m512i y)
{
    return (__m512i)_mm512_sub_ps((__m512)x, (__m512)y);
}

EW_INLINE __m512i vectors_sub_from(__m512i x, __m512i y)
{
    return vectors_sub(y, x);
}

static ew_kernel add_c64, sub_c64;
EW_KERNEL_OF(past_add_c64,
             ew_past_lines(vectors_add, vectors_add, add_c64,
                           sizeof(struct ew_c64), rows, cols, data, s))
EW_KERNEL_OF(past_sub_c64,
             ew_past_lines(vectors_sub, vectors_sub_from, sub_c64,
                           sizeof(struct ew_c64), rows, cols, data, s))
#define PAST(name) past_##name##_c64
#else
#define PAST(name) NULL
#endif

#define T struct ew_c64
#define NAME(x) x##_c64
#define PAST_DIV EW_PAST_DIV_C64
#define COMPARE(name, equal)                                                   \
    EW_APPLY(NAME, name, T, T, uint8_t)                                        \
    EW_KERNEL_OF(NAME(name),                                                   \
                 compare_c64(equal, NAME(apply_##name), rows, cols, data, s))
#include "complex.inc"

#define T struct ew_c128
#define NAME(x) x##_c128
#define PAST(name) NULL
#define PAST_DIV NULL
#include "complex.inc"

const ew_kernel_row *const EW_CONCAT(ew_complex, EW_LEVEL)[2] = {&row_c64,
                                                                 &row_c128};
