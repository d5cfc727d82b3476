/*
 * elementwise.h - out = x op y on strided tensors, in C.
 *
 * One call takes two tensors of any shape, type and strides, aligns their
 * shapes by one of two rules, and writes one result. The same parameter,
 * `axis`, chooses the rule:
 *
 *     axis = ELEMENTWISE_NUMPY     shapes are aligned at the right (NumPy)
 *     axis = 0, 1, 2, ...          y's first dimension stands at x's
 *                                  dimension `axis` (Paddle, Caffe, ONNX < 7)
 *
 *     float x[2 * 3 * 4], bias[3] = { 10, 20, 30 }, out[2 * 3 * 4];
 *     int64_t nchw[] = { 2, 3, 4 }, channels[] = { 3 };
 *     elementwise_tensor tx = { x, ELEMENTWISE_F32, 3, nchw, NULL };
 *     elementwise_tensor tb = { bias, ELEMENTWISE_F32, 1, channels, NULL };
 *     elementwise_tensor to = { out, ELEMENTWISE_F32, 3, nchw, NULL };
 *     if (elementwise_add(&tx, &tb, 1, &to) != ELEMENTWISE_OK)
 *         puts(elementwise_last_error());
 *
 * What holds for every function:
 *
 *   - All or nothing: unless the status is ELEMENTWISE_OK, nothing has been
 *     written. No function prints, aborts, or changes errno, signals, the
 *     locale or floating-point modes. Exception flags may be raised.
 *   - Memory is the caller's. Descriptors, shapes and strides are borrowed
 *     for the length of the call and are never written, data is written only
 *     in outputs. Only plans are allocated. What was planned for the last
 *     calls without one is kept in 66 KiB of the library's own memory, which
 *     threads share and none waits for.
 *   - Any function may be called from any thread at any time. Two calls that
 *     run at once must not write to the same memory. A call takes at most
 *     118 KiB of stack, so threads with 128 KiB will do.
 *   - Strides are counted in elements, sizes in bytes only where the name
 *     says so (nbytes).
 */
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ELEMENTWISE_API __attribute__((visibility("default")))
#else
#define ELEMENTWISE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------
 * Constants and types. The numbers of all enums are ABI: they are only
 * ever appended to. Types and operations start at 1, so that a field that
 * was forgotten is refused.
 */

#define ELEMENTWISE_VERSION_MAJOR 0
#define ELEMENTWISE_VERSION_MINOR 1
#define ELEMENTWISE_VERSION_PATCH 0

/** axis: align shapes at the right, as NumPy does. */
#define ELEMENTWISE_NUMPY (-1)

/** The largest rank. It never changes: callers size arrays with it. */
#define ELEMENTWISE_MAX_NDIM 64

/**
 * Element types. BOOL is one byte, 0 is false and anything else is true;
 * results are 0 or 1. F16 is IEEE binary16, BF16 the upper half of a
 * binary32; both are computed in F32 and rounded once. C64 and C128 are a
 * real and an imaginary F32 or F64, as C's and C++'s complex types.
 */
typedef enum elementwise_dtype {
    ELEMENTWISE_BOOL = 1,
    ELEMENTWISE_I8,
    ELEMENTWISE_I16,
    ELEMENTWISE_I32,
    ELEMENTWISE_I64,
    ELEMENTWISE_U8,
    ELEMENTWISE_U16,
    ELEMENTWISE_U32,
    ELEMENTWISE_U64,
    ELEMENTWISE_F16,
    ELEMENTWISE_BF16,
    ELEMENTWISE_F32,
    ELEMENTWISE_F64,
    ELEMENTWISE_C64,
    ELEMENTWISE_C128
} elementwise_dtype;

/** Operations; each is described at its function below. */
typedef enum elementwise_op {
    ELEMENTWISE_ADD = 1,
    ELEMENTWISE_SUB,
    ELEMENTWISE_MUL,
    ELEMENTWISE_DIV,
    ELEMENTWISE_MAX,
    ELEMENTWISE_MIN,
    ELEMENTWISE_POW,
    ELEMENTWISE_MOD,
    ELEMENTWISE_FLOORDIV,
    ELEMENTWISE_FMAX,
    ELEMENTWISE_FMIN,
    ELEMENTWISE_HEAVISIDE,
    ELEMENTWISE_TRUNCDIV,
    ELEMENTWISE_FMOD,
    ELEMENTWISE_ATAN2,
    ELEMENTWISE_HYPOT,
    ELEMENTWISE_COPYSIGN,
    ELEMENTWISE_NEXTAFTER,
    ELEMENTWISE_LOGADDEXP,
    ELEMENTWISE_EQUAL,
    ELEMENTWISE_NOT_EQUAL,
    ELEMENTWISE_LESS_THAN,
    ELEMENTWISE_LESS_EQUAL,
    ELEMENTWISE_GREATER_THAN,
    ELEMENTWISE_GREATER_EQUAL,
    ELEMENTWISE_LOGICAL_AND,
    ELEMENTWISE_LOGICAL_OR,
    ELEMENTWISE_LOGICAL_XOR,
    ELEMENTWISE_BITWISE_AND,
    ELEMENTWISE_BITWISE_OR,
    ELEMENTWISE_BITWISE_XOR,
    ELEMENTWISE_BITWISE_LEFT_SHIFT,
    ELEMENTWISE_BITWISE_RIGHT_SHIFT
} elementwise_op;

/**
 * Functions that can follow the operation in the same pass, of the result z.
 * NaN stays NaN; at infinities the limit stands, and gelu and silu of -0 and
 * of -infinity are -0. Errors of those that are not exact: <= 2 ULP on f32 and
 * f64, gelu on f64 <= 9 (doc/operations.md).
 */
typedef enum elementwise_act {
    ELEMENTWISE_ACT_NONE = 0,
    ELEMENTWISE_ACT_RELU,       /**< the larger of z and +0 */
    ELEMENTWISE_ACT_RELU6,      /**< relu, and at most 6 */
    ELEMENTWISE_ACT_LEAKY_RELU, /**< z where z >= 0, else options.alpha z */
    ELEMENTWISE_ACT_SIGMOID,    /**< 1 / (1 + e^-z) */
    ELEMENTWISE_ACT_TANH,       /**< tanh z */
    ELEMENTWISE_ACT_GELU,       /**< z (1 + erf(z / sqrt 2)) / 2 */
    ELEMENTWISE_ACT_SILU        /**< z / (1 + e^-z) */
} elementwise_act;

/**
 * What every call returns. elementwise_last_error() has the details: the
 * shapes, the dimension that disagrees, and what would be legal.
 */
typedef enum elementwise_status {
    ELEMENTWISE_OK = 0,
    /** A NULL pointer; an unknown op, dtype, act or flag; a rank outside
        0 ... 64 or a negative extent; options.size 0 or not understood; an
        option that this version does not have yet. */
    ELEMENTWISE_INVALID,
    /** axis < -1, or axis >= the larger rank, where it is read. */
    ELEMENTWISE_BAD_AXIS,
    /** The shapes do not broadcast, or out has not the result's shape. */
    ELEMENTWISE_BAD_SHAPE,
    /** The operation has no such type, or out cannot hold the result. */
    ELEMENTWISE_BAD_DTYPE,
    /** An element of out is also another element of out or of an input. */
    ELEMENTWISE_OVERLAP,
    /** The data pointer of an operand with elements is not a multiple of their
        alignment. */
    ELEMENTWISE_MISALIGNED,
    /** A size in bytes, or the distance in bytes between two elements of an
        operand, exceeds int64. */
    ELEMENTWISE_TOO_LARGE,
    /** An integer is divided by 0, or an integer 0 raised to a negative
        power. */
    ELEMENTWISE_DIVISION_BY_ZERO,
    /** The operation has no gradient, or an integer operand was to get one. */
    ELEMENTWISE_NO_GRADIENT,
    /** A plan could not be allocated. */
    ELEMENTWISE_NO_MEMORY
} elementwise_status;

/**
 * A view of memory that the caller owns. It is borrowed for the length of a
 * call, passed by const pointer for outputs too, and never grows.
 */
typedef struct elementwise_tensor {
    /** Element [0, ..., 0], at a multiple of the size of its type (complex
        types: of one part), also where C asks for less, as of double on i386.
        May be NULL if the tensor has no elements. */
    void *data;
    elementwise_dtype dtype;
    /** The rank, 0 ... ELEMENTWISE_MAX_NDIM. 0 is one element. */
    int ndim;
    /** ndim extents, each >= 0. May be NULL if ndim is 0. */
    const int64_t *shape;
    /** ndim strides in elements, of any sign, 0 allowed in inputs: element
        [i, j] is at data + i * strides[0] + j * strides[1]. NULL: row-major
        without gaps. The stride of an extent of 1 is not read. */
    const int64_t *strides;
} elementwise_tensor;

/**
 * Threads of the host that calls may use. It never grows.
 * In this version it must not be given: options.executor is NULL.
 */
typedef struct elementwise_executor {
    /** Calls task(arg, i) for every i < n, in any order and on any thread,
        and returns when all have returned. */
    void (*run)(void *user, void (*task)(void *arg, int i), void *arg, int n);
    void *user;
    /** How many tasks can run at once, >= 1. */
    int width;
} elementwise_executor;

/** Add to what dx or dy holds, or sum_to's dst, instead of overwriting it, as
    Caffe does with a learned parameter's gradient. For an output that is NULL
    the flag means nothing. */
#define ELEMENTWISE_ADD_TO_DX 1u
#define ELEMENTWISE_ADD_TO_DY 2u
#define ELEMENTWISE_ADD_TO_OUT 4u

/** A hint: the output is not read soon, so it is better stored past the
    caches. Most outputs of 20 MiB and more are anyway, most of 4 MiB where an
    input is transposed, and outputs in the place of an input never;
    elementwise_plan_describe says what a plan does, in place if it knows of
    that. It never changes a result; gradients do not use it yet. */
#define ELEMENTWISE_STREAM 8u

/**
 * What elementwise_apply and plans can do beyond the plain calls. Start from
 * ELEMENTWISE_OPTIONS_INIT, which is the plain call, and change fields. The
 * struct grows at its end; new fields mean the plain call if they are 0, and
 * a size that is not this version's is ELEMENTWISE_INVALID. Where a field says
 * that it must be neutral, anything else is ELEMENTWISE_INVALID: no option is
 * ignored silently.
 *
 * The scales and act make one pass of act(op(scale_x * x, scale_y * y)): the
 * operands and factors are converted to the type of the computation, each
 * product is rounded to it, and act takes the result of op in it, f32 for f16
 * and bf16, before that is rounded to the result's type. They need a floating
 * result, f16, bf16, f32 or f64, the scales also c64 or c128; else BAD_DTYPE.
 * A scale of 1 is no product at all.
 */
typedef struct elementwise_options {
    size_t size;         /**< set by ELEMENTWISE_OPTIONS_INIT */
    double scale_x;      /**< the factor of x; sum_to: must be 1 */
    double scale_y;      /**< the factor of y; sum_to: must be 1 */
    double alpha;        /**< slope of LEAKY_RELU; not read without it */
    elementwise_act act; /**< after the operation; sum_to: must be ACT_NONE */
    unsigned flags;      /**< 0, or some of ELEMENTWISE_STREAM, ADD_TO_... */
    const elementwise_executor *executor; /**< must be NULL in this version */
    int threads;  /**< 0 or 1 in this version: the caller alone */
    int reserved; /**< 0 */
} elementwise_options;

#define ELEMENTWISE_OPTIONS_INIT                                               \
    {                                                                          \
        sizeof(elementwise_options), 1, 1, 0.01, ELEMENTWISE_ACT_NONE, 0,      \
            NULL, 0, 0                                                         \
    }

/* ---------------------------------------------------------------------
 * How shapes are aligned. Full text with diagrams: doc/broadcasting.md.
 *
 * axis = ELEMENTWISE_NUMPY: the last dimensions of x and y stand under each
 * other, missing leading dimensions count as 1.
 *
 * axis = 0, 1, ...: the operand of smaller rank (y, if the ranks are equal)
 * is placed over the other: its dimension 0 stands at dimension `axis`, its
 * trailing 1s are dropped, and dimensions that it does not cover count as 1.
 * x may be the one that is placed; x - y stays x - y.
 *
 * Then, for both: two extents must be equal, or one of them is 1 and is
 * stretched, whichever operand it is in. 0 meets 0 or 1 and gives 0.
 *
 *     x (2,3,4,5)   y (3,4)   axis 1      ->  (2,3,4,5)
 *     x (2,3,4,5)   y (4,5)   NUMPY       ->  (2,3,4,5)
 *     x (2,3,4,5)   y (5,1)   axis 3      ->  (2,3,4,5), y's 1 is dropped
 *     x (2,1,4)     y (3,1)   axis 1      ->  (2,3,4), both are stretched
 *
 * axis is not read if the shapes are equal or the placed operand has one
 * element and no extent but 1.
 *
 * out must have exactly the result's shape. It may be x or y itself (same
 * data, type, shape and strides), or share no element with either.
 *
 * Types. x and y of different types are computed in the type of the Array
 * API standard's promotion table, extended to all pairs
 * (elementwise_result_type tells). out has the result's type; arithmetic,
 * math and bitwise operations also write to any other type that NumPy's
 * same_kind casting allows, such as f32 into f16: the result is rounded to
 * its own type first and then converted.
 */

/* ---------------------------------------------------------------------
 * The operations. Each computes out[i] from x[i] and y[i], i running over
 * the result's shape, and returns
 *
 *     OK, INVALID, BAD_AXIS, BAD_SHAPE, BAD_DTYPE, OVERLAP, MISALIGNED or
 *     TOO_LARGE
 *
 * as listed at elementwise_status, and DIVISION_BY_ZERO where it says so.
 * "Numbers" are all types but bool; "real" is numbers but complex. Every
 * value that C leaves open, with its source: doc/operations.md.
 */

/* Arithmetic. Result: the promoted type. */

/** x + y; numbers, and bool as or. Integers wrap. */
ELEMENTWISE_API elementwise_status
elementwise_add(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** x - y; numbers. Integers wrap. */
ELEMENTWISE_API elementwise_status
elementwise_sub(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** x * y; numbers, and bool as and. Integers wrap. Complex: the four
    products, without the recovery of C's Annex G. */
ELEMENTWISE_API elementwise_status
elementwise_mul(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** x / y; numbers. Integers: truncated, as in C; the smallest integer / -1
    is itself; DIVISION_BY_ZERO if an element of y is 0. Complex: scaled,
    so that nothing overflows but the quotient. */
ELEMENTWISE_API elementwise_status
elementwise_div(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** The larger; real, and bool as or. A NaN wins; +0 is larger than -0.
    IEEE 754-2019 maximum. */
ELEMENTWISE_API elementwise_status
elementwise_max(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** The smaller; real, and bool as and. A NaN wins; -0 is smaller than +0.
    IEEE 754-2019 minimum. */
ELEMENTWISE_API elementwise_status
elementwise_min(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** x to the power y; numbers. Integers: exact, wrapping; a negative y gives
    1 / x^-y truncated, and DIVISION_BY_ZERO where x is 0. Floats: <= 1 ULP,
    special cases of C17 F.10.4.4. Complex: exp(y log x); 1 if y is 0, 0 if
    x is 0 and y's real part is positive. */
ELEMENTWISE_API elementwise_status
elementwise_pow(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** x - floor(x / y) * y: the remainder with the divisor's sign; real.
    Floats: exact and rounded once; a 0 has y's sign; finite x by infinity
    is x, or infinity of y's sign if the signs differ; infinity by y and x
    by 0 are NaN. Integers: DIVISION_BY_ZERO if an element of y is 0. */
ELEMENTWISE_API elementwise_status
elementwise_mod(const elementwise_tensor *x, const elementwise_tensor *y,
                int axis, const elementwise_tensor *out);

/** floor(x / y); real. Floats: the floor of the exact quotient, rounded
    once; x by 0 is infinity or NaN; infinity by any other y is NaN; finite
    x by infinity is -1 if the signs differ and x is not 0, else a zero.
    Integers: DIVISION_BY_ZERO if an element of y is 0. */
ELEMENTWISE_API elementwise_status
elementwise_floordiv(const elementwise_tensor *x, const elementwise_tensor *y,
                     int axis, const elementwise_tensor *out);

/** As max, but a number wins over NaN. IEEE 754-2019 maximumNumber. */
ELEMENTWISE_API elementwise_status
elementwise_fmax(const elementwise_tensor *x, const elementwise_tensor *y,
                 int axis, const elementwise_tensor *out);

/** As min, but a number wins over NaN. IEEE 754-2019 minimumNumber. */
ELEMENTWISE_API elementwise_status
elementwise_fmin(const elementwise_tensor *x, const elementwise_tensor *y,
                 int axis, const elementwise_tensor *out);

/** 0 where x < 0, y where x = 0, 1 where x > 0, NaN where x is NaN; real. */
ELEMENTWISE_API elementwise_status
elementwise_heaviside(const elementwise_tensor *x, const elementwise_tensor *y,
                      int axis, const elementwise_tensor *out);

/** x / y truncated towards 0, as in C; real. Floats: trunc of the rounded
    quotient. Integers: as div. */
ELEMENTWISE_API elementwise_status
elementwise_truncdiv(const elementwise_tensor *x, const elementwise_tensor *y,
                     int axis, const elementwise_tensor *out);

/** x - trunc(x / y) * y: C's fmod and %, the remainder with the dividend's
    sign; real. Floats: exact. Integers: DIVISION_BY_ZERO if an element of y
    is 0. */
ELEMENTWISE_API elementwise_status
elementwise_fmod(const elementwise_tensor *x, const elementwise_tensor *y,
                 int axis, const elementwise_tensor *out);

/* Math, on floats. Result: the promoted type. Special cases as in C17
   Annex F, <= 1 ULP. */

/** The angle of the point (y, x): x is the ordinate, as in C's
    atan2(first, second). Radians, -pi ... pi. */
ELEMENTWISE_API elementwise_status
elementwise_atan2(const elementwise_tensor *x, const elementwise_tensor *y,
                  int axis, const elementwise_tensor *out);

/** sqrt(x^2 + y^2) without needless overflow or underflow. */
ELEMENTWISE_API elementwise_status
elementwise_hypot(const elementwise_tensor *x, const elementwise_tensor *y,
                  int axis, const elementwise_tensor *out);

/** x with the sign of y, exactly; the sign of a NaN too. */
ELEMENTWISE_API elementwise_status
elementwise_copysign(const elementwise_tensor *x, const elementwise_tensor *y,
                     int axis, const elementwise_tensor *out);

/** The next value of x's own type (f16 and bf16 too) towards y. */
ELEMENTWISE_API elementwise_status
elementwise_nextafter(const elementwise_tensor *x, const elementwise_tensor *y,
                      int axis, const elementwise_tensor *out);

/** log(exp(x) + exp(y)) without needless overflow; within 1 ULP of the
    largest of |x|, |y| and |result|. Equal infinities give that infinity. */
ELEMENTWISE_API elementwise_status
elementwise_logaddexp(const elementwise_tensor *x, const elementwise_tensor *y,
                      int axis, const elementwise_tensor *out);

/* Comparison. Result: bool; out is bool. Two integers are compared exactly
   whatever their types, an integer with a float in the promoted type. */

/** x == y; all types. NaN equals nothing, +0 equals -0. */
ELEMENTWISE_API elementwise_status
elementwise_equal(const elementwise_tensor *x, const elementwise_tensor *y,
                  int axis, const elementwise_tensor *out);

/** x != y; all types. True where either is NaN. */
ELEMENTWISE_API elementwise_status
elementwise_not_equal(const elementwise_tensor *x, const elementwise_tensor *y,
                      int axis, const elementwise_tensor *out);

/** x < y; real and bool. */
ELEMENTWISE_API elementwise_status
elementwise_less_than(const elementwise_tensor *x, const elementwise_tensor *y,
                      int axis, const elementwise_tensor *out);

/** x <= y; real and bool. */
ELEMENTWISE_API elementwise_status
elementwise_less_equal(const elementwise_tensor *x, const elementwise_tensor *y,
                       int axis, const elementwise_tensor *out);

/** x > y; real and bool. */
ELEMENTWISE_API elementwise_status elementwise_greater_than(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/** x >= y; real and bool. */
ELEMENTWISE_API elementwise_status elementwise_greater_equal(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/* Logic, on all types: an element is true unless it is 0 (NaN is true).
   Result: bool; out is bool. */

/** Both are true. */
ELEMENTWISE_API elementwise_status elementwise_logical_and(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/** At least one is true. */
ELEMENTWISE_API elementwise_status
elementwise_logical_or(const elementwise_tensor *x, const elementwise_tensor *y,
                       int axis, const elementwise_tensor *out);

/** Exactly one is true. */
ELEMENTWISE_API elementwise_status elementwise_logical_xor(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/* Bits. Result: the promoted type. An i64 with a u64 is BAD_DTYPE: no
   integer type holds both. */

/** x & y; integers and bool. */
ELEMENTWISE_API elementwise_status elementwise_bitwise_and(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/** x | y; integers and bool. */
ELEMENTWISE_API elementwise_status
elementwise_bitwise_or(const elementwise_tensor *x, const elementwise_tensor *y,
                       int axis, const elementwise_tensor *out);

/** x ^ y; integers and bool. */
ELEMENTWISE_API elementwise_status elementwise_bitwise_xor(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/** x << y; integers. Bits that leave are lost; 0 if y is negative or not
    less than the width. */
ELEMENTWISE_API elementwise_status elementwise_bitwise_left_shift(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/** x >> y, keeping the sign; integers. If y is negative or not less than the
    width: -1 for negative x, else 0. */
ELEMENTWISE_API elementwise_status elementwise_bitwise_right_shift(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    const elementwise_tensor *out);

/**
 * The same by value of op, with options; NULL is the plain call. No heap is
 * used. Errors: those of the operation, INVALID for options, and BAD_DTYPE for
 * a result that has no act or scales.
 */
ELEMENTWISE_API elementwise_status elementwise_apply(
    elementwise_op op, const elementwise_tensor *x, const elementwise_tensor *y,
    int axis, const elementwise_tensor *out,
    const elementwise_options *options);

/**
 * dst[i] = src[i], broadcast from src's shape to dst's under axis and
 * converted to dst's type. src's data may be misaligned and src may be of
 * any strides, so a copy is the cure for OVERLAP and MISALIGNED.
 *
 * Conversions: to a float, rounded once to nearest even; integer to integer
 * wraps; float to integer drops the fraction, and what does not fit becomes
 * the nearest integer that does, NaN 0; to bool, true unless 0; real to
 * complex has imaginary part 0. Complex to real is BAD_DTYPE.
 *
 * Errors: INVALID, BAD_AXIS, BAD_SHAPE, BAD_DTYPE, OVERLAP (dst and src share
 * a byte), MISALIGNED (dst), TOO_LARGE.
 */
ELEMENTWISE_API elementwise_status elementwise_copy(
    const elementwise_tensor *src, int axis, const elementwise_tensor *dst);

/* ---------------------------------------------------------------------
 * Gradients. x, y and axis are those of the forward call; dout is the
 * gradient of its result, with the result's shape and type. dx is the local
 * derivative times dout, summed over every dimension in which x was
 * stretched, in x's own shape and type; dy likewise. Either may be NULL. An
 * integer operand has no gradient: NULL must stand for it.
 *
 * Sums add groups of up to eight terms in f32, or f64, and what they make in
 * double: the error is that of some four roundings of f32 up to 2^29 terms, or
 * of eight of f64, and hardly grows with their number. Their order depends on
 * the layouts and on which outputs are asked for, nothing else. A sum in whose
 * groups f32 overflows is not finite. The sum of nothing is 0. A real operand
 * of a complex operation gets the real part.
 *
 * dx or dy may be dout itself (same data, type, shape and strides), if
 * nothing is summed into it and it is not added to. Otherwise an output
 * shares no element with any operand. The data of an operand whose values a
 * formula does not use may be NULL.
 *
 * Errors: INVALID, BAD_AXIS, BAD_SHAPE, BAD_DTYPE, OVERLAP, MISALIGNED,
 * TOO_LARGE, NO_GRADIENT.
 */

/** dx = dout, dy = dout. The data of x and y may be NULL. */
ELEMENTWISE_API elementwise_status elementwise_add_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout, dy = -dout. The data of x and y may be NULL. */
ELEMENTWISE_API elementwise_status elementwise_sub_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout conj(y), dy = dout conj(x). */
ELEMENTWISE_API elementwise_status elementwise_mul_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout / conj(y), dy = -dout conj(x / y / y). */
ELEMENTWISE_API elementwise_status elementwise_div_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dout goes to x where x > y, to y elsewhere, ties too; a NaN operand
    gets it, y if both are. */
ELEMENTWISE_API elementwise_status elementwise_max_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dout goes to x where x < y, to y elsewhere, ties too; a NaN operand
    gets it, y if both are. */
ELEMENTWISE_API elementwise_status elementwise_min_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout y x^(y-1), 0 where y = 0; dy = dout log(x) x^y, 0 where x = 0
    and y >= 0. Complex: with the conjugate of the derivative. */
ELEMENTWISE_API elementwise_status elementwise_pow_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout, dy = -dout floor(x / y). */
ELEMENTWISE_API elementwise_status elementwise_mod_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** 0 and 0: a step has no slope. */
ELEMENTWISE_API elementwise_status elementwise_floordiv_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dout goes to x where x >= y or y is NaN, to y elsewhere. */
ELEMENTWISE_API elementwise_status elementwise_fmax_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dout goes to x where x <= y or y is NaN, to y elsewhere. */
ELEMENTWISE_API elementwise_status elementwise_fmin_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = 0; dy = dout where x = 0, else 0. */
ELEMENTWISE_API elementwise_status elementwise_heaviside_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** 0 and 0: a step has no slope. */
ELEMENTWISE_API elementwise_status elementwise_truncdiv_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout, dy = -dout trunc(x / y). */
ELEMENTWISE_API elementwise_status elementwise_fmod_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout y / (x^2 + y^2), dy = -dout x / (x^2 + y^2); 0 at (0, 0). */
ELEMENTWISE_API elementwise_status elementwise_atan2_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout x / hypot(x, y), dy = dout y / hypot(x, y); 0 at (0, 0). */
ELEMENTWISE_API elementwise_status elementwise_hypot_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout, or -dout where the sign of x was changed, 0 where x = 0;
    dy = 0. */
ELEMENTWISE_API elementwise_status elementwise_copysign_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/** dx = dout / (1 + e^(y-x)), dy = dout / (1 + e^(x-y)); half of dout at
    equal infinities. */
ELEMENTWISE_API elementwise_status elementwise_logaddexp_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy);

/**
 * Double gradients, the gradient of mul_grad and so on: ddx and ddy are the
 * gradients of dx and dy, in their shapes; NULL is zero. dx and dy get the
 * gradients of x and y, ddout that of dout, in dout's shape; each may be NULL
 * if it is not wanted. Nothing may overlap an output. Errors as above.
 *
 * add: dx = dy = 0, ddout = ddx + ddy.
 */
ELEMENTWISE_API elementwise_status elementwise_add_grad_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, const elementwise_tensor *ddx,
    const elementwise_tensor *ddy, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy, const elementwise_tensor *ddout);

/** dx = dy = 0, ddout = ddx - ddy. */
ELEMENTWISE_API elementwise_status elementwise_sub_grad_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, const elementwise_tensor *ddx,
    const elementwise_tensor *ddy, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy, const elementwise_tensor *ddout);

/** dx = dout conj(ddy), dy = dout conj(ddx), ddout = ddx y + x ddy. */
ELEMENTWISE_API elementwise_status elementwise_mul_grad_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, const elementwise_tensor *ddx,
    const elementwise_tensor *ddy, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy, const elementwise_tensor *ddout);

/** dx = -dout ddy / y^2, dy = dout (2 x ddy / y - ddx) / y^2,
    ddout = (ddx - x ddy / y) / y; complex with conjugates as div_grad. */
ELEMENTWISE_API elementwise_status elementwise_div_grad_grad(
    const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *dout, const elementwise_tensor *ddx,
    const elementwise_tensor *ddy, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy, const elementwise_tensor *ddout);

/**
 * A gradient by value of op, with options; NULL is the plain call. With act or
 * scales it is that of act(op(scale_x * x, scale_y * y)): dout is multiplied by
 * the derivative of act, which is 0 at the corners of relu and relu6 and alpha
 * at that of leaky_relu, and dx and dy by their scales.
 *
 * out is the forward result, in its shape and type. relu, relu6, leaky_relu
 * with alpha >= 0, sigmoid and tanh find their derivative from it, so x and y
 * may have been overwritten: data may be NULL where op's own formula does not
 * use it. If out is NULL, and always for gelu and silu, the operand of act is
 * made anew from x and y. Without act, out is not used.
 *
 * Errors: those of the gradient, INVALID for options, and BAD_DTYPE for a
 * result that has no act or scales.
 */
ELEMENTWISE_API elementwise_status elementwise_apply_grad(
    elementwise_op op, const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *out, const elementwise_tensor *dout, int axis,
    const elementwise_tensor *dx, const elementwise_tensor *dy,
    const elementwise_options *options);

/**
 * dst = src, summed over every dimension in which dst would be stretched to
 * src's shape under axis: the adjoint of broadcast_to. Both have one type, a
 * float or complex one. options may be NULL or have ELEMENTWISE_ADD_TO_OUT;
 * the hint ELEMENTWISE_STREAM changes nothing. Errors: INVALID, BAD_AXIS,
 * BAD_SHAPE, BAD_DTYPE, OVERLAP, MISALIGNED, TOO_LARGE.
 */
ELEMENTWISE_API elementwise_status elementwise_sum_to(
    const elementwise_tensor *src, int axis, const elementwise_tensor *dst,
    const elementwise_options *options);

/* ---------------------------------------------------------------------
 * Plans: a call that was checked and planned once and is run many times,
 * on any data of the same layout.
 */

/** Immutable after creation: any number of threads may run one plan. */
typedef struct elementwise_plan elementwise_plan;

/**
 * Checks the layouts of x, y and out, whose data is not read and may be
 * NULL, and stores what there is to know. What x, y, out and options point
 * to is not used later. On success *plan is the caller's, to be given to
 * elementwise_plan_destroy; on failure *plan is NULL.
 *
 * Errors: INVALID, BAD_AXIS, BAD_SHAPE, BAD_DTYPE, OVERLAP (two indices of
 * out share an address), TOO_LARGE, NO_MEMORY.
 */
ELEMENTWISE_API elementwise_status elementwise_plan_create(
    elementwise_plan **plan, elementwise_op op, const elementwise_tensor *x,
    const elementwise_tensor *y, int axis, const elementwise_tensor *out,
    const elementwise_options *options);

/**
 * Runs the plan on data with the layouts it was made for: x, y and out are
 * what would stand in the data field. No allocation, no lock.
 *
 * Errors: INVALID (plan is NULL; data is NULL where there are elements),
 * OVERLAP, MISALIGNED, DIVISION_BY_ZERO.
 */
ELEMENTWISE_API elementwise_status elementwise_plan_run(
    const elementwise_plan *plan, const void *x, const void *y, void *out);

/**
 * A plan of a gradient: as plan_create, for the call apply_grad(op, x, y,
 * out, dout, axis, dx, dy, options). Errors: also NO_GRADIENT.
 */
ELEMENTWISE_API elementwise_status elementwise_plan_create_grad(
    elementwise_plan **plan, elementwise_op op, const elementwise_tensor *x,
    const elementwise_tensor *y, const elementwise_tensor *out,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy, const elementwise_options *options);

/**
 * Runs a plan of a gradient on data with the layouts it was made for.
 * Pointers of operands that were NULL, and of those whose values are not
 * used, may be NULL; dx or dy must be if it was NULL in the plan, as nothing
 * would be written to it. No allocation, no lock.
 *
 * Errors: INVALID (plan is NULL or not one of a gradient; data is NULL where
 * there are elements, or of an output that the plan does not make), OVERLAP,
 * MISALIGNED.
 */
ELEMENTWISE_API elementwise_status elementwise_plan_run_grad(
    const elementwise_plan *plan, const void *x, const void *y, const void *out,
    const void *dout, void *dx, void *dy);

/**
 * Writes a description of what will run, a JSON object with a terminating
 * 0, to json, cut to size bytes, as snprintf does: json may be NULL if size
 * is 0. Returns the length of the whole description without the 0; 0 if
 * plan is NULL. A plan of a gradient is described by op, compute, level,
 * outputs (those of dx and dy that it makes), summed and added_to (which of
 * these are), act, scaled and walks (over the data). Keys otherwise: op,
 * compute (the type of the arithmetic), result, level, shape, loops (extent and
 * byte strides of x, y and out, outermost first), kernel (with the types it
 * reads), tiles (whether operands pass through buffers), x_input and y_input
 * (as is, or transposed, gathered, permuted, repeated, spread or packed into a
 * buffer; staged: made dense before all else, which is what its strides then
 * say), rows (as is, or folded: short rows run as one, all of a tile or several
 * of a call; or across: calls are along the loop outside, as rows are few),
 * tile (how much of each of the inner loops a tile holds, outermost first;
 * empty if tiles are of the two innermost), kept (the inputs of which such a
 * tile is packed, or brought, once for many steps of a loop around it), stores
 * (as usual, past the caches, or scattered from a tile), act (its name), scaled
 * (the operands that have a factor), bytes.
 */
ELEMENTWISE_API size_t elementwise_plan_describe(const elementwise_plan *plan,
                                                 char *json, size_t size);

/** Frees the plan, which no thread may be running. NULL is fine. */
ELEMENTWISE_API void elementwise_plan_destroy(elementwise_plan *plan);

/* ---------------------------------------------------------------------
 * Queries. They touch no element. Shape queries read only ndim and shape of
 * their operands; shape has room for ELEMENTWISE_MAX_NDIM extents.
 */

/**
 * The shape that x op y has under axis, in *ndim and shape.
 * Errors: INVALID, BAD_AXIS, BAD_SHAPE, TOO_LARGE (the number of elements).
 */
ELEMENTWISE_API elementwise_status elementwise_broadcast_shape(
    const elementwise_tensor *x, const elementwise_tensor *y, int axis,
    int *ndim, int64_t *shape);

/**
 * The shape of n >= 1 operands aligned at the right.
 * Errors: INVALID, BAD_SHAPE, TOO_LARGE.
 */
ELEMENTWISE_API elementwise_status
elementwise_broadcast_shapes(const elementwise_tensor *const operands[], int n,
                             int *ndim, int64_t *shape);

/**
 * A view of src with the given shape under axis, strides 0 where src is
 * stretched; nothing is copied (TensorFlow's and NumPy's broadcast_to).
 * strides has room for ndim; view borrows src's data, shape and strides.
 * Errors: INVALID, BAD_AXIS, BAD_SHAPE, TOO_LARGE.
 */
ELEMENTWISE_API elementwise_status elementwise_broadcast_to(
    const elementwise_tensor *src, int axis, int ndim, const int64_t *shape,
    int64_t *strides, elementwise_tensor *view);

/**
 * The type of x op y. It depends on types alone, never on values or ranks.
 * Errors: INVALID, BAD_DTYPE.
 */
ELEMENTWISE_API elementwise_status
elementwise_result_type(elementwise_op op, elementwise_dtype x,
                        elementwise_dtype y, elementwise_dtype *result);

/**
 * The bytes that a row-major tensor takes, in *n; 0 if an extent is 0.
 * Errors: INVALID, TOO_LARGE (as in NumPy, the product of the extents that
 * are not 0 times the element size must fit in int64, and in size_t).
 */
ELEMENTWISE_API elementwise_status elementwise_nbytes(elementwise_dtype dtype,
                                                      int ndim,
                                                      const int64_t *shape,
                                                      size_t *n);

/** Bytes of one element; 0: unknown type. */
ELEMENTWISE_API size_t elementwise_dtype_size(elementwise_dtype dtype);

/** Names: "add", "f32", "relu", "BAD_AXIS". Static strings; NULL: unknown. */
ELEMENTWISE_API const char *elementwise_op_name(elementwise_op op);
ELEMENTWISE_API const char *elementwise_dtype_name(elementwise_dtype dtype);
ELEMENTWISE_API const char *elementwise_act_name(elementwise_act act);
ELEMENTWISE_API const char *elementwise_status_name(elementwise_status status);

/** The same backwards. Unknown or NULL: 0 for op and dtype; (enum) -1 for
    act and status, where 0 has a name. */
ELEMENTWISE_API elementwise_op elementwise_op_from_name(const char *name);
ELEMENTWISE_API elementwise_dtype elementwise_dtype_from_name(const char *name);
ELEMENTWISE_API elementwise_act elementwise_act_from_name(const char *name);
ELEMENTWISE_API elementwise_status
elementwise_status_from_name(const char *name);

/**
 * The message of this thread's last failure, one or several lines without a
 * final newline; "" before any. It is the library's and holds until this
 * thread's next failure; success leaves it.
 */
ELEMENTWISE_API const char *elementwise_last_error(void);

/** The library that runs, "0.1.0" and 100 (major * 10000 + minor * 100 +
    patch); ELEMENTWISE_VERSION_* is the one that was compiled against. */
ELEMENTWISE_API const char *elementwise_version(void);
ELEMENTWISE_API int elementwise_version_number(void);

/**
 * The level of kernels that runs on this machine: "base", "avx2", "avx512",
 * "avx512vbmi" or "avx512fp16". The environment variable ELEMENTWISE_CPU, read
 * once, lowers it by one of these names; any other value is as if it were not
 * set.
 */
ELEMENTWISE_API const char *elementwise_cpu_level(void);

#ifdef __cplusplus
}
#endif

#endif
