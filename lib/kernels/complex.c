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

#if defined(__AVX2__)
/* The bits of an element of c64; SSE2 tells faster whether floats are 0. */
typedef uint64_t pair_of_f32 __attribute__((aligned(4)));
#define B pair_of_f32
#define VALUE 0x7fffffff7fffffff
#define NAME(x) x##_c64
#include "logical.inc"
#define LOGICAL(name) name##_c64
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
#define PAST_DIV NULL
#include "complex.inc"

const ew_kernel_row *const EW_CONCAT(ew_complex, EW_LEVEL)[2] = {&row_c64,
                                                                 &row_c128};
