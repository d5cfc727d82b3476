/*
 * What a kernel is: the innermost two loops of a call, over operands given
 * by a pointer and two byte strides each. Every file of this folder turns one
 * family of types into a constant table of kernels, and the build compiles
 * it once per CPU level, with EW_LEVEL as the level's name.
 */
#ifndef EW_KERNEL_H
#define EW_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elementwise.h"

enum { EW_LINE = 64 }; /* bytes of a cache line */

/* Bytes of a row up to which an input's one element is spread along it rather
   than read row by row. */
enum { EW_SPREAD_BYTES = 96 };

enum { EW_PAGE = 4096 }; /* bytes of the smallest pages that there are */

/* Rows of at most so many elements, with gaps or backwards, that lie a page
   apart at most are made dense by shuffles of windows of so many bytes, or of a
   line (compact.h). */
enum { EW_COMPACTED = 16, EW_COMPACT_WINDOW = 16 };

/* The operands of a call. Forward calls have the first three. A gradient
   reads x, y, dout (in the place of out), and its own gradient ddx and ddy
   too; it writes dx, dy and ddout. */
enum {
    EW_X,
    EW_Y,
    EW_OUT,
    EW_DDX,
    EW_DDY,
    EW_DX,
    EW_DY,
    EW_DDOUT,
    EW_OPERANDS,
    EW_AROUND = EW_DDX /* of some kernels of forward calls: see below */
};

/* Byte strides of one operand in a kernel's two dimensions. A zero stride on
   an input is broadcasting; a zero stride on an output is reduction. */
struct ew_stride {
    int64_t row, col;
};

/* Whether each row of so many elements starts where the one before it ends, so
   that all are one row. */
static inline bool ew_stride_joins(struct ew_stride s, int64_t cols)
{
    return s.row == cols * s.col;
}

/*
 * A kernel equals this loop, in which X(r, c) is the element at
 * data[EW_X] + r * stride[EW_X].row + c * stride[EW_X].col, and so on:
 *
 *     for (r = 0; r < rows; r++)
 *         for (c = 0; c < cols; c++)
 *             OUT(r, c) = op(X(r, c), Y(r, c));
 *
 * Any strides are legal. OUT may be X or Y element by element, if of one type,
 * and shares no byte with them otherwise, so iterations are independent. A
 * kernel whose output is a reduction is called with zero output strides and
 * combines all of its elements into what is there. rows and cols are >= 1.
 */
typedef void ew_kernel(int64_t rows, int64_t cols, void *const data[],
                       const struct ew_stride stride[]);

/*
 * Kernels of one type are found by the operation's number. Behind the
 * operations stand three reductions to one uint8_t, which a kernel sets to 1
 * or leaves: they look for operands that integer division and power refuse.
 * Then come the operations that wait for memory once more: with these kernels
 * OUT's lines do not stay in the caches, unless it is X or Y on AVX-512 and its
 * elements have 4 bytes or more; and so do divisions of wide integers on
 * AVX-512, which store as usual in place. On floats both kinds also exist with
 * what may stand around an operation and takes a few instructions,
 *
 *     v = op(X * factor_x, Y * factor_y)
 *     v = v >= 0 ? v : v * slope
 *     OUT = v <= low ? low : v > high ? high : v
 *
 * by the numbers at data[EW_AROUND], of the type of the computation.
 */
enum {
    EW_ANY_ZERO = ELEMENTWISE_BITWISE_RIGHT_SHIFT + 1, /* Y == 0 */
    EW_ANY_NEGATIVE,                                   /* Y < 0 */
    EW_ANY_ZERO_TO_NEGATIVE,                           /* X == 0 && Y < 0 */
    EW_PAST, /* + an operation: the same, out stored past the caches */
    EW_PAST_LAST = ELEMENTWISE_BITWISE_XOR, /* NULL of some before */
    EW_WHOLE = EW_PAST + EW_PAST_LAST, /* + an operation: with all around it */
    EW_WHOLE_LAST = ELEMENTWISE_MIN,
    EW_RELU_LAST = ELEMENTWISE_MUL, /* of those of half.inc that make relu */
    EW_WHOLE_PAST = EW_WHOLE + EW_WHOLE_LAST,
    EW_ROW = EW_WHOLE_PAST + EW_WHOLE_LAST + 1
};
typedef ew_kernel *ew_kernel_row[EW_ROW]; /* NULL: no such kernel */

enum { EW_FACTOR_X, EW_FACTOR_Y, EW_SLOPE, EW_LOW, EW_HIGH, EW_AROUNDS };
union ew_parameter {
    float f32;
    double f64;
};
struct ew_around {
    union {
        float f32[EW_AROUNDS];
        double f64[EW_AROUNDS];
    };
    /* Of an activation that is a step of its own, and of one that makes that
       operation too and perhaps stores past the caches. */
    union ew_parameter alpha;
    ew_kernel *op;
    bool past;
};

enum { EW_DTYPES = ELEMENTWISE_C128 + 1 };

/* Storage of the types that C11 does not have, or not of this size. */
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
 * What stands around an operation: functions of one operand and one
 * parameter for all elements, given at data[EW_Y] whatever its strides, in
 * the type of the computation (f32 for f16 and bf16, but relu and relu6 of
 * those look at their bits; the parts of complex types). They are found by
 * the activation's number; the product with a factor has that of no
 * activation. OUT may be X. For sigmoid to silu there are also kernels, on f32
 * and f64, and from AVX2 on on f16 and bf16,
 *
 *     OUT = act(op(X, Y))
 *
 * by the op and alpha at data[EW_AROUND], of the type of the computation, whose
 * OUT is dense in rows; if it does not stay in the caches either it is neither
 * X nor Y.
 */
enum { EW_SCALE = ELEMENTWISE_ACT_NONE, EW_ACTS = ELEMENTWISE_ACT_SILU + 1 };

/*
 * Gradients. A derivative is computed on elements of one type, which are
 * dense in every row:
 *
 *     for (r = 0; r < rows; r++)
 *         for (c = 0; c < cols; c++)
 *             out[r][c] = f(X[r][c], Y[r][c], OUT[r][c], ...)
 *
 * with the inputs at data[EW_X] and so on, and what is made at data[EW_D],
 * which may be OUT. Every pointer is valid, also of inputs that f does not use.
 * Of a first derivative, one of X and Y may stand still along the columns.
 */
enum { EW_D = EW_DX, EW_D_OPERANDS };
typedef void ew_derivative(int64_t rows, int64_t cols, void *const data[],
                           const struct ew_stride stride[]);

/* The derivatives of one operation: to x and y; the second ones to x, y and
   dout. Where it is dout itself, 0 or does not exist there is none. */
enum { EW_D_DX, EW_D_DY, EW_D_DX2, EW_D_DY2, EW_D_DDOUT2, EW_DERIVATIVES };
typedef ew_derivative
    *ew_derivatives[ELEMENTWISE_LOGADDEXP + 1][EW_DERIVATIVES];

/* The activations of one type. A slope is dout times the derivative, on n
   dense elements: given at in[EW_OUT] dout, at in[EW_DDX] the operand of the
   activation or its result, where that tells the derivative, and the parameter
   at in[EW_Y]; f32 and f64 alone have them. */
typedef void ew_slope(int64_t n, const void *const in[], void *out);
struct ew_activations {
    ew_kernel *run[EW_ACTS], *behind[EW_ACTS];
    ew_slope *from_operand[EW_ACTS], *from_result[EW_ACTS];
};

/*
 * A sum adds rows of reals at data[EW_OUT] to accumulators. With lanes a row
 * has one,
 *
 *     at[r * row] += x[r][c]     at[r * row + c % 2] of two parts
 *
 * and element c is added in lane c % EW_LANES, but the last cols % EW_LANES in
 * as many last lanes. Else every column has its own, at[r * row + c] +=
 * x[r][c]. What a sum of f64 loses by rounding is added up EW_ACCUMULATORS
 * doubles behind it.
 */
enum { EW_LANES = 16, EW_ACCUMULATORS = 1024 };
struct ew_sums {
    double *at;
    int64_t row; /* doubles to those of the next row */
    bool lanes;
    int parts;    /* of a sum with lanes: 1, or 2 of a complex one */
    bool asks;    /* for what is far from the caches */
    bool distant; /* all of it comes from memory */
    bool streams; /* what is stored goes past the caches */
};
typedef void ew_sum(int64_t rows, int64_t cols, void *const data[],
                    const struct ew_stride stride[],
                    const struct ew_sums *sums);

/* Adds what n sums of f64 lost to them. */
typedef void ew_join(int64_t n, double *sums);

/*
 * Commoner derivatives are summed as they are made, and the same pass stores
 * the other one: dx at data[EW_D] while dy is summed, or dy while dx is. With
 * lanes the operand of the sum stands still along the columns; all else is
 * dense. By operation; NULL: there is no such kernel.
 */
enum { EW_SUMS_DX, EW_SUMS_DY, EW_FUSED };
typedef ew_sum *ew_fused[ELEMENTWISE_LOGADDEXP + 1][EW_FUSED];

/*
 * A streamer moves rows of bytes, dense in `from` and `row` bytes apart in
 * `to`, past the caches. While it stores nothing would be read, so it asks for
 * the lines that are read next: for every line stored, `step` bytes on from
 * `at`, which is NULL where there are none.
 */
struct ew_next {
    const char *at;
    int64_t step;
};
typedef void ew_streamer(int64_t rows, int64_t bytes, const char *from,
                         char *to, int64_t row, const struct ew_next next[2]);

/*
 * What of an operand is read after what a kernel makes: pieces of some bytes, a
 * step apart. They are asked for to be in the L1 cache, or else in L2 if they
 * are crowded, as there are many, or all have the same few places in L1. A
 * mover that turns columns to rows may do so as it goes, for the two at
 * data[EW_Y], unless that is NULL: all at once would be more than a processor
 * brings at a time. What it does not ask for it leaves there.
 */
struct ew_ahead {
    const char *at;
    int64_t pieces, step, bytes;
    bool crowded;
};

/* Asks for the next pieces, so many or all that are left. Inlined, as compilers
   may drop calls of functions that do nothing else. */
static inline __attribute__((always_inline)) void
ew_ahead_ask(struct ew_ahead *ahead, int64_t pieces)
{
    const char *at = ahead->at;
    int64_t n = pieces < ahead->pieces ? pieces : ahead->pieces;
    for (int64_t i = 0; i < n; i++, at += ahead->step)
        for (const char *line = at - (uintptr_t)at % EW_LINE;
             line < at + ahead->bytes; line += EW_LINE)
            if (ahead->crowded)
                __builtin_prefetch(line, 0, 2);
            else
                __builtin_prefetch(line);
    ahead->at = at;
    ahead->pieces -= n;
}

/*
 * A permuter moves groups of elements of `size` bytes, each from within up to
 * EW_WINDOWS windows, which together are at most a line: a vector of all of
 * them is made of line / windows bytes each, and byte j of group i,
 * out[to[i] + j], is that at from[j] there. Window w of group i starts at
 * x[at[i] + place[w]]. Elements stay whole. Groups may share elements.
 *
 * Another kind, by size, turns rectangles of at least 16 bytes in rows and
 * columns: element c of row r, at out[to[i] + r * row] in a dense row, is that
 * at x[at[i] + column[c]], r elements on.
 *
 * A third kind does so with elements of 1 and 2 bytes that are anywhere in a
 * window, which is as long as a line at most: byte j of a column is that at
 * from[j] there, and row r starts at out[to[i] + put[r]]. There are places of
 * EW_PICKED columns even if there are fewer.
 */
enum { EW_WINDOWS = 8, EW_PICKED = 16 };
enum { EW_FROM_WINDOWS = 16 }; /* added to the size of what is turned so */
struct ew_permutation {
    int64_t size, groups, bytes, window; /* bytes of one group, one window */
    int64_t windows;                     /* 1, 2, 4 or 8 */
    const int32_t *at, *to;
    int32_t place[EW_WINDOWS];
    unsigned char from[EW_LINE];
    int64_t rows, columns, row; /* of a rectangle */
    const int32_t *column;
    int64_t put[EW_PICKED];
};
typedef void ew_permuter(const struct ew_permutation *p, const char *x,
                         char *out);

/*
 * The tables of one level; each is the only global symbol of its file.
 *
 *   ew_int_base      int.c       rows of i8 ... u64
 *   ew_float_base    float.c     rows of f16 and bf16 (the cheap operations),
 *                                f32, f64
 *   ew_complex_base  complex.c   rows of c64, c128
 *   ew_logic_base    logic.c     rows of bool, and of comparisons of an i64
 *                                with a u64 and of a u64 with an i64
 *   ew_convert_base  convert.c   [to][from]: OUT = X, EW_Y is not used
 *   ew_move_base     move.c      OUT = X, elements of 1, 2, 4, 8, 16 bytes,
 *                                EW_Y is what is asked for or NULL
 *   ew_stream_base   stream.c    no table, as there is but one
 *   ew_permute_base  permute.c   the same; NULL: the level cannot
 *   ew_turn_base     move.c      turns elements of 1 to 8 bytes; NULL: cannot
 *   ew_activation_base activation.c f16 ... f64; c64 and c128: EW_SCALE only
 *   ew_gradient_base gradient.c  derivatives on f32, f64, c64, c128
 *   ew_fused_base    gradient.c  sums of derivatives on f16 ... f64
 *   ew_sum_base      sum.c       sums of f16 ... f64
 *   ew_join_base     sum.c       no table, as there is but one
 */
enum { EW_LOGIC_BOOL, EW_LOGIC_I64_U64, EW_LOGIC_U64_I64, EW_LOGIC_ROWS };
enum { EW_MOVES = 5, EW_TURNS = 4 };

#define EW_DECLARE_LEVEL(level)                                                \
    extern const ew_kernel_row *const ew_int_##level[8],                       \
        *const ew_float_##level[4],                                            \
            *const ew_complex_##level[2],                                      \
                *const ew_logic_##level[EW_LOGIC_ROWS];                        \
    extern ew_kernel *const *const ew_convert_##level[EW_DTYPES];              \
    extern ew_kernel *const ew_move_##level[EW_MOVES];                         \
    extern ew_streamer *const ew_stream_##level;                               \
    extern ew_permuter *const ew_permute_##level;                              \
    extern ew_permuter *const ew_turn_##level[EW_TURNS];                       \
    extern const struct ew_activations *const ew_activation_##level[6];        \
    extern const ew_derivatives *const ew_gradient_##level[4];                 \
    extern const ew_fused *const ew_fused_##level[4];                          \
    extern ew_sum *const ew_sum_##level[4];                                    \
    extern ew_join *const ew_join_##level;

EW_DECLARE_LEVEL(base)
EW_DECLARE_LEVEL(avx2)
EW_DECLARE_LEVEL(avx512)

/* Turns from windows; on AVX-512 only where that shuffles bytes. */
extern ew_permuter *const ew_pick_avx2;

/* Where AVX-512 shuffles bytes, these take the place of what it has else: rows
   of i8 and u8, and what moves. */
extern const ew_kernel_row *const ew_int_avx512_vbmi[2];
extern ew_kernel *const ew_move_avx512_vbmi[EW_MOVES];
extern ew_permuter *const ew_permute_avx512_vbmi;
extern ew_permuter *const ew_pick_avx512_vbmi;

/* The row of f16 where processors compute it. */
extern const ew_kernel_row *const ew_float_avx512_fp16;

#define EW_CONCAT_(a, b) a##_##b
#define EW_CONCAT(a, b) EW_CONCAT_(a, b)

#endif
