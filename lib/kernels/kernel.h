/*
 * What a kernel is: the innermost two loops of a call, over operands given
 * by a pointer and two byte strides each. Every file of this folder turns one
 * family of types into a constant table of kernels, and the build compiles
 * it once per CPU level, with EW_LEVEL as the level's name.
 */
#ifndef EW_KERNEL_H
#define EW_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "elementwise.h"

/* The operands of a call. Forward calls use the first three; a gradient
   reads x, y and dout (in the place of out) and writes dx and dy. */
enum { EW_X, EW_Y, EW_OUT, EW_DX, EW_DY, EW_OPERANDS };

/* Byte strides of one operand in a kernel's two dimensions. A zero stride on
   an input is broadcasting; a zero stride on an output is reduction. */
struct ew_stride {
    int64_t row, col;
};

/*
 * A kernel equals this loop, in which X(r, c) is the element at
 * data[EW_X] + r * stride[EW_X].row + c * stride[EW_X].col, and so on:
 *
 *     for (r = 0; r < rows; r++)
 *         for (c = 0; c < cols; c++)
 *             OUT(r, c) = op(X(r, c), Y(r, c));
 *
 * Any strides are legal. OUT may be X or Y element by element, and shares no
 * byte with them otherwise, so iterations are independent. A kernel whose
 * output is a reduction is called with zero output strides and combines all
 * of its elements into what is there. rows and cols are >= 1.
 */
typedef void ew_kernel(int64_t rows, int64_t cols, void *const data[],
                       const struct ew_stride stride[]);

/*
 * Kernels of one type are found by the operation's number. Behind the
 * operations stand three reductions to one uint8_t, which a kernel sets to 1
 * or leaves: they look for operands that integer division and power refuse.
 */
enum {
    EW_ANY_ZERO = ELEMENTWISE_BITWISE_RIGHT_SHIFT + 1, /* Y == 0 */
    EW_ANY_NEGATIVE,                                   /* Y < 0 */
    EW_ANY_ZERO_TO_NEGATIVE,                           /* X == 0 && Y < 0 */
    EW_ROW
};
typedef ew_kernel *ew_kernel_row[EW_ROW]; /* NULL: no such kernel */

enum { EW_DTYPES = ELEMENTWISE_C128 + 1 };

/* Storage of the types that C11 does not have, or has in other colours. */
struct ew_bool {
    uint8_t byte; /* 0 is false, anything else true */
};
struct ew_f16 {
    uint16_t bits;
};
struct ew_bf16 {
    uint16_t bits;
};
struct ew_c64 {
    float re, im;
};
struct ew_c128 {
    double re, im;
};

/*
 * The tables of one level; each is the only global symbol of its file.
 *
 *   ew_int_base      int.c       rows of i8 ... u64
 *   ew_float_base    float.c     rows of f16 bf16 (nextafter), f32, f64
 *   ew_complex_base  complex.c   rows of c64, c128
 *   ew_logic_base    logic.c     rows of bool, and of comparisons of an i64
 *                                with a u64 and of a u64 with an i64
 *   ew_convert_base  convert.c   [to][from]: OUT = X, EW_Y is not used
 */
enum { EW_LOGIC_BOOL, EW_LOGIC_I64_U64, EW_LOGIC_U64_I64, EW_LOGIC_ROWS };

#define EW_DECLARE_LEVEL(level)                                                \
    extern const ew_kernel_row *const ew_int_##level[8],                       \
        *const ew_float_##level[4],                                            \
            *const ew_complex_##level[2],                                      \
                *const ew_logic_##level[EW_LOGIC_ROWS];                        \
    extern ew_kernel *const *const ew_convert_##level[EW_DTYPES];

EW_DECLARE_LEVEL(base)
EW_DECLARE_LEVEL(avx2)
EW_DECLARE_LEVEL(avx512)

#define EW_CONCAT_(a, b) a##_##b
#define EW_CONCAT(a, b) EW_CONCAT_(a, b)

#endif
