/*
 * The fast path: turns a call on row-major tensors, for whose types there is
 * a kernel as they are, straight into loops and runs them. It recognises calls
 * that a plan would accept and makes the same results; whatever it does not
 * recognise is left to the plan, messages included.
 */
#include "dense.h"

#include "cpu.h"
#include "execute.h"
#include "strategy.h"
#include "table.h"

/* A call's loops, and the elements of each operand. */
struct nest {
    int64_t count[3];
    bool empty;
    int ndim;
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
};

/* Calls on few elements consist of tests, so tests are taken together where
   they can. Ranks of which no bit is as high as the limit are below it. */
static inline bool are_plain(const elementwise_tensor *x,
                             const elementwise_tensor *y,
                             const elementwise_tensor *out)
{
    if (!x || !y || !out || x->strides || y->strides || out->strides)
        return false;
    _Static_assert((ELEMENTWISE_MAX_NDIM & (ELEMENTWISE_MAX_NDIM - 1)) == 0,
                   "a power of 2 is a bit");
    unsigned ranks = (unsigned)(x->ndim | y->ndim | out->ndim);
    return ranks < ELEMENTWISE_MAX_NDIM && (x->shape || !x->ndim) &&
           (y->shape || !y->ndim) && (out->shape || !out->ndim);
}

/* Opens the loops from the last dimension to the first. As all operands are
   dense, dimensions along which the same ones of them are stretched walk
   memory as one; an extent of 0 is not counted, as in validate.c. False unless
   x and y broadcast to exactly out's shape. size is that of their elements. */
static inline __attribute__((always_inline)) bool
open_loops(const struct ew_alignment *a, bool alike, int64_t size,
           const elementwise_tensor *out, struct nest *nest)
{
    const int64_t *shape_x = a->x.tensor->shape, *shape_y = a->y.tensor->shape;
    int64_t size_out = (int64_t)ew_types_size(out->dtype);
    int64_t count_x = 1, count_y = 1, count = 1;
    int64_t reach = sizeof(struct ew_c128); /* bytes, of the widest type */
    int walks = 0, last = -1; /* which of x and y walk along the last loop */
    nest->empty = false;
    for (int dim = a->ndim - 1; dim >= 0; dim--) {
        int64_t n = out->shape[dim];
        int64_t x = alike ? shape_x[dim] : ew_shape_extent(&a->x, dim);
        int64_t y = alike ? shape_y[dim] : ew_shape_extent(&a->y, dim);
        int now = (x == n) | (y == n) << 1;
        if (!now || (x != n && x != 1) || (y != n && y != 1))
            return false;
        if (n <= 1) {
            nest->empty |= n == 0;
            if (n < 0)
                return false;
            continue;
        }
        if (now == walks)
            nest->loop[last].n *= n;
        else {
            struct ew_loop *loop = &nest->loop[++last];
            loop->n = n;
            loop->stride[EW_X] = x == 1 ? 0 : count_x * size;
            loop->stride[EW_Y] = y == 1 ? 0 : count_y * size;
            loop->stride[EW_OUT] = count * size_out;
            walks = now;
        }
        if (__builtin_mul_overflow(reach, n, &reach))
            return false;
        count *= n;
        count_x *= x;
        count_y *= y;
    }
    nest->count[EW_X] = count_x;
    nest->count[EW_Y] = count_y;
    nest->count[EW_OUT] = count;
    nest->ndim = last + 1;
    return true;
}

/* The bytes that the operands' elements take. */
struct reach {
    int64_t x, y, out;
};

/* Whether t's elements are apart from out's, far enough in both directions
   modulo 2^64, or are out's. */
static inline bool is_apart(const elementwise_tensor *t, int64_t bytes,
                            const elementwise_tensor *out, int64_t bytes_out)
{
    uintptr_t a = (uintptr_t)t->data, b = (uintptr_t)out->data;
    return (b - a >= (uintptr_t)bytes && a - b >= (uintptr_t)bytes_out) ||
           (a == b && bytes == bytes_out && t->dtype == out->dtype);
}

/* Whether all elements are there, aligned, and apart. x and y have one type. */
static inline bool are_usable(const elementwise_tensor *x,
                              const elementwise_tensor *y,
                              const elementwise_tensor *out, struct reach bytes)
{
    uintptr_t inputs = (uintptr_t)x->data | (uintptr_t)y->data;
    uintptr_t off = inputs & (ew_types_align(x->dtype) - 1);
    off |= (uintptr_t)out->data & (ew_types_align(out->dtype) - 1);
    return !off && x->data && y->data && out->data &&
           is_apart(x, bytes.x, out, bytes.out) &&
           is_apart(y, bytes.y, out, bytes.out);
}

static inline bool is_off_line(const elementwise_tensor *x,
                               const elementwise_tensor *y)
{
    return ((uintptr_t)x->data | (uintptr_t)y->data) % EW_LINE != 0;
}

/* Whether one of n elements of y is what the kernel looks for. */
static bool has_fault(ew_kernel *any, int64_t n, const elementwise_tensor *y)
{
    uint8_t found = 0;
    void *const data[] = {NULL, y->data, &found};
    const struct ew_stride stride[] = {
        {0, 0}, {0, (int64_t)ew_types_size(y->dtype)}, {0, 0}};
    any(1, n, data, stride);
    return found;
}

/* A long line whose inputs do not start on lines of memory. Not inlined, so
   that others do not set it up. */
static __attribute__((noinline)) void
run_long_line(ew_kernel *kernel, int64_t n, const struct ew_stride stride[],
              void *const data[])
{
    const struct ew_loop line = {
        n, {stride[EW_X].col, stride[EW_Y].col, stride[EW_OUT].col}};
    ew_execute_line(&line, kernel, data[EW_AROUND], data);
}

/* The commonest calls: one loop over operands of out's shape or of rank 0, and
   which of them have a shape is known at compile time. fault, if not NULL,
   looks for what y may not have, around is for kernels that make more than an
   operation; calls on more than `most` elements are others. */
static inline __attribute__((always_inline)) bool
run_line(ew_kernel *kernel, const elementwise_tensor *x, bool walks_x,
         const elementwise_tensor *y, bool walks_y,
         const elementwise_tensor *out, int64_t most, ew_kernel *fault,
         struct ew_around *around)
{
    int64_t n = 1, size = (int64_t)ew_types_size(x->dtype);
    int64_t size_out = (int64_t)ew_types_size(out->dtype);
    for (int i = 0; i < out->ndim; i++) {
        int64_t extent = out->shape[i];
        if ((walks_x && x->shape[i] != extent) ||
            (walks_y && y->shape[i] != extent) || extent < 1 ||
            __builtin_mul_overflow(n, extent, &n))
            return false;
    }
    if (n > most)
        return false;
    struct reach bytes = {walks_x ? n * size : size, walks_y ? n * size : size,
                          n * size_out};
    if (ew_strategy_streams(bytes.out) || !are_usable(x, y, out, bytes) ||
        (fault && has_fault(fault, walks_y ? n : 1, y)))
        return false;
    void *const data[] = {x->data, y->data, out->data, around};
    const int64_t step_x = walks_x ? size : 0, step_y = walks_y ? size : 0;
    const struct ew_stride stride[] = {{0, step_x}, {0, step_y}, {0, size_out}};
    if (ew_execute_is_long(n, step_x, step_y) && is_off_line(x, y))
        run_long_line(kernel, n, stride, data);
    else
        kernel(1, n, data, stride);
    return true;
}

/* Bytes of rows from which on they are not folded. */
static int64_t long_row(const struct nest *nest, elementwise_op op,
                        elementwise_dtype type, int64_t size_out, bool divides)
{
    const int level = ew_cpu_level();
    if (divides && ew_strategy_wastes_vectors(nest->loop, size_out, level))
        return ew_strategy_keeps_words(nest->loop, op, type, level)
                   ? 0
                   : EW_SHORT_TILED;
    if (nest->count[EW_OUT] < EW_WORTH_STAGING)
        return EW_SHORT_ROW;
    return ew_strategy_long_row(nest->loop, size_out,
                                ew_strategy_waits_for_halves(op, type, level));
}

/* Whether rows are so short that they are better folded, and so many that this
   is worth a plan. What most calls have too few elements for is not asked. */
static bool folds(const struct nest *nest, elementwise_op op,
                  elementwise_dtype type, int64_t size_out, bool divides)
{
    return ew_strategy_may_fold(nest->loop, nest->ndim) &&
           nest->loop[0].n * size_out <
               long_row(nest, op, type, size_out, divides) &&
           nest->count[EW_OUT] >
               nest->loop[0].n *
                   ew_strategy_few_rows(op, type, nest->loop[0].n);
}

/* All others. Too many too short rows are left to the plan, which packs, and so
   are outputs that it stores past the caches. Without results nothing is at
   fault, and nothing left to do. */
static __attribute__((noinline)) bool
run_loops(elementwise_op op, ew_kernel *kernel, const elementwise_tensor *x,
          const elementwise_tensor *y, int axis, const elementwise_tensor *out,
          ew_kernel *fault)
{
    int64_t size = (int64_t)ew_types_size(x->dtype);
    int64_t size_out = (int64_t)ew_types_size(out->dtype);
    struct ew_alignment a = {.axis = axis, .x.tensor = x, .y.tensor = y};
    struct nest nest;
    if (ew_shape_place(&a) || a.ndim != out->ndim)
        return false;
    /* placed, not own, dimensions: trailing 1s may not count */
    bool alike = a.x.ndim == a.ndim && a.y.ndim == a.ndim;
    if (!(alike ? open_loops(&a, true, size, out, &nest)
                : open_loops(&a, false, size, out, &nest)))
        return false;
    struct reach bytes = {nest.count[EW_X] * size, nest.count[EW_Y] * size,
                          nest.count[EW_OUT] * size_out};
    if (nest.empty)
        return are_usable(x, y, out, bytes);
    int repeats = ew_strategy_repeats(nest.loop, nest.ndim, size, size_out,
                                      fault != NULL);
    bool few =
        repeats && ew_strategy_repeats_few(nest.count[EW_OUT],
                                           size > size_out ? size : size_out);
    if ((!few && folds(&nest, op, x->dtype, size_out, fault != NULL)) ||
        ew_strategy_deepens(nest.loop, nest.ndim, size_out,
                            nest.count[EW_OUT]) ||
        ew_strategy_stages(nest.loop, nest.ndim, size_out,
                           nest.count[EW_OUT]) ||
        (bytes.x < bytes.out && ew_strategy_again(bytes.x, bytes.out)) ||
        (bytes.y < bytes.out && ew_strategy_again(bytes.y, bytes.out)) ||
        ew_strategy_streams(bytes.out) || !are_usable(x, y, out, bytes) ||
        (fault && has_fault(fault, nest.count[EW_Y], y)))
        return false;
    void *const data[] = {x->data, y->data, out->data};
    if (repeats)
        ew_execute_repeated(nest.loop, nest.ndim, kernel, NULL, repeats - 1,
                            data);
    else
        ew_execute_calls(
            nest.loop, nest.ndim, kernel, NULL,
            ew_strategy_across(nest.loop, nest.ndim, size, size_out), data);
    return true;
}

/* One operand of rank 0, and another of out's shape. */
static __attribute__((noinline)) bool
run_scalar(ew_kernel *kernel, const elementwise_tensor *x,
           const elementwise_tensor *y, const elementwise_tensor *out,
           int64_t most, ew_kernel *fault, struct ew_around *around)
{
    if (y->ndim == 0)
        return x->ndim == out->ndim &&
               run_line(kernel, x, true, y, false, out, most, fault, around);
    return y->ndim == out->ndim &&
           run_line(kernel, x, false, y, true, out, most, fault, around);
}

/* x and y of out's shape, or one of them of rank 0. */
static inline __attribute__((always_inline)) bool
run_dense(ew_kernel *kernel, const elementwise_tensor *x,
          const elementwise_tensor *y, const elementwise_tensor *out,
          int64_t most, ew_kernel *fault, struct ew_around *around)
{
    if (x->ndim == out->ndim && y->ndim == out->ndim)
        return run_line(kernel, x, true, y, true, out, most, fault, around);
    return (!x->ndim || !y->ndim) &&
           run_scalar(kernel, x, y, out, most, fault, around);
}

/* False: it was not a simple call, and nothing is done. */
static inline bool run_simple(elementwise_op op, const elementwise_tensor *x,
                              const elementwise_tensor *y, int axis,
                              const elementwise_tensor *out)
{
    if (!are_plain(x, y, out) ||
        !ew_types_direct(op, x->dtype, y->dtype, out->dtype))
        return false;
    ew_kernel *kernel = ew_table_direct(ew_cpu_level(), (int)op, x->dtype);
    if (!kernel)
        return false;
    return run_dense(kernel, x, y, out, ew_dense_most, NULL, NULL) ||
           run_loops(op, kernel, x, y, axis, out, NULL);
}

/* Quotients of integers by a y without a 0; the plan says where one is. */
static __attribute__((noinline)) bool
run_quotients(elementwise_op op, const elementwise_tensor *x,
              const elementwise_tensor *y, int axis,
              const elementwise_tensor *out)
{
    const int level = ew_cpu_level();
    if (!are_plain(x, y, out) ||
        !ew_types_divides(op, x->dtype, y->dtype, out->dtype))
        return false;
    ew_kernel *kernel = ew_table_direct(level, (int)op, x->dtype);
    ew_kernel *zero = ew_table_direct(level, EW_ANY_ZERO, x->dtype);
    return kernel && zero &&
           (run_dense(kernel, x, y, out, ew_dense_most, zero, NULL) ||
            run_loops(op, kernel, x, y, axis, out, zero));
}

elementwise_status ew_dense_run(elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                ew_call *otherwise)
{
    if (run_simple(op, x, y, axis, out) || run_quotients(op, x, y, axis, out))
        return ELEMENTWISE_OK;
    return otherwise(op, x, y, axis, out);
}

bool ew_dense_run_around(elementwise_op op, ew_kernel *kernel,
                         const elementwise_tensor *x,
                         const elementwise_tensor *y,
                         const elementwise_tensor *out, int64_t most,
                         struct ew_around *around)
{
    return are_plain(x, y, out) &&
           ew_types_direct(op, x->dtype, y->dtype, out->dtype) &&
           run_dense(kernel, x, y, out, most, NULL, around);
}
