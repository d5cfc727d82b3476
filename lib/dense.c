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

/* The bytes that the operands' elements take. */
struct reach {
    int64_t x, y, out;
};

/* A call's loops, the elements of out, and the bytes of all. */
struct nest {
    int64_t count;
    struct reach bytes;
    bool empty;
    int ndim;
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
};

static inline bool is_plain(const elementwise_tensor *t)
{
    return t && !t->strides && (t->shape || !t->ndim);
}

/* Calls on few elements consist of tests, so some are taken together: ranks of
   which no bit is as high as the limit are below it. */
static inline bool are_plain(const elementwise_tensor *x,
                             const elementwise_tensor *y,
                             const elementwise_tensor *out)
{
    _Static_assert((ELEMENTWISE_MAX_NDIM & (ELEMENTWISE_MAX_NDIM - 1)) == 0,
                   "a power of 2 is a bit");
    return is_plain(x) && is_plain(y) && is_plain(out) &&
           (unsigned)(x->ndim | y->ndim | out->ndim) < ELEMENTWISE_MAX_NDIM;
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
    const int64_t widest = sizeof(struct ew_c128);
    int64_t most = widest; /* bytes, if out's elements were of that type */
    struct reach bytes = {size, size, (int64_t)ew_types_size(out->dtype)};
    int walks = 0; /* which of x and y walk along the last loop */
    struct ew_loop *next = nest->loop; /* behind the last one */
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
        if (__builtin_mul_overflow(most, n, &most))
            return false;
        if (now == walks)
            next[-1].n *= n;
        else
            *next++ = (struct ew_loop){
                n, {x == 1 ? 0 : bytes.x, y == 1 ? 0 : bytes.y, bytes.out}};
        walks = now;
        bytes.x *= x;
        bytes.y *= y;
        bytes.out *= n;
    }
    nest->count = most / widest;
    nest->bytes = bytes;
    nest->ndim = (int)(next - nest->loop);
    return true;
}

static inline bool is_usable(const elementwise_tensor *t, uintptr_t unaligned)
{
    return t->data && !((uintptr_t)t->data & unaligned);
}

/* Whether all operands are there, and aligned. x and y have one type. */
static inline bool are_usable(const elementwise_tensor *x,
                              const elementwise_tensor *y,
                              const elementwise_tensor *out)
{
    uintptr_t unaligned = ew_types_unaligned(x->dtype);
    return is_usable(x, unaligned) && is_usable(y, unaligned) &&
           is_usable(out, ew_types_unaligned(out->dtype));
}

/* Whether t's elements are apart from out's, far enough in both directions
   modulo 2^64, or are out's. */
static inline __attribute__((always_inline)) bool
is_apart(const elementwise_tensor *t, int64_t bytes,
         const elementwise_tensor *out, int64_t bytes_out)
{
    uintptr_t a = (uintptr_t)t->data, b = (uintptr_t)out->data;
    return (b - a >= (uintptr_t)bytes && a - b >= (uintptr_t)bytes_out) ||
           (a == b && bytes == bytes_out && t->dtype == out->dtype);
}

static inline __attribute__((always_inline)) bool
are_apart(const elementwise_tensor *x, const elementwise_tensor *y,
          const elementwise_tensor *out, struct reach bytes)
{
    return is_apart(x, bytes.x, out, bytes.out) &&
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

/* The elements of out, if the operands are aligned and those that walk have its
   shape; 0 if that is not so, or if they are none, or more than `most`. */
static inline __attribute__((always_inline)) int64_t
length_of(const elementwise_tensor *x, bool walks_x,
          const elementwise_tensor *y, bool walks_y,
          const elementwise_tensor *out, int64_t most)
{
    int64_t n = 1;
    if (!are_usable(x, y, out))
        return 0;
    for (int i = 0; i < out->ndim; i++) {
        int64_t extent = out->shape[i];
        if ((walks_x && x->shape[i] != extent) ||
            (walks_y && y->shape[i] != extent) || extent < 1 ||
            __builtin_mul_overflow(n, extent, &n))
            return 0;
    }
    if (n > most)
        return 0;
    return n; /* behind a choice GCC would ask again whether it is 0 */
}

/* One loop of so many steps over operands of out's shape or of rank 0; which of
   them walk is known at compile time. fault, if not NULL, looks for what y may
   not have, around is for kernels that make more than an operation. */
static inline __attribute__((always_inline)) bool
run_length(ew_kernel *kernel, int64_t n, const elementwise_tensor *x,
           bool walks_x, const elementwise_tensor *y, bool walks_y,
           const elementwise_tensor *out, ew_kernel *fault,
           struct ew_around *around)
{
    int64_t size = (int64_t)ew_types_size(x->dtype);
    int64_t size_out = (int64_t)ew_types_size(out->dtype);
    struct reach bytes = {walks_x ? n * size : size, walks_y ? n * size : size,
                          n * size_out};
    if (ew_strategy_streams(bytes.out) || !are_apart(x, y, out, bytes) ||
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

/* Both, which are two as the commonest calls look at shapes before they look
   for a kernel. */
static inline __attribute__((always_inline)) bool
run_line(ew_kernel *kernel, const elementwise_tensor *x, bool walks_x,
         const elementwise_tensor *y, bool walks_y,
         const elementwise_tensor *out, int64_t most, ew_kernel *fault,
         struct ew_around *around)
{
    int64_t n = length_of(x, walks_x, y, walks_y, out, most);
    return n &&
           run_length(kernel, n, x, walks_x, y, walks_y, out, fault, around);
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
    if (nest->count < EW_WORTH_STAGING)
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
           nest->count > nest->loop[0].n *
                             ew_strategy_few_rows(op, type, nest->loop[0].n);
}

/* Whether a plan takes less for all its work: too many too short rows are
   packed, inputs that are read again are kept, and outputs stored past the
   caches. Nothing of that is worth it for fewer elements than a block that is
   packed has. */
static inline bool is_better_planned(const struct nest *nest, elementwise_op op,
                                     elementwise_dtype type, int64_t size_out,
                                     bool divides, bool repeats_few)
{
    const struct reach bytes = nest->bytes;
    if (nest->count < EW_WORTH_PACKING)
        return false;
    return (!repeats_few && folds(nest, op, type, size_out, divides)) ||
           ew_strategy_deepens(nest->loop, nest->ndim, size_out, nest->count) ||
           ew_strategy_stages(nest->loop, nest->ndim, size_out, nest->count) ||
           (bytes.x < bytes.out && ew_strategy_again(bytes.x, bytes.out)) ||
           (bytes.y < bytes.out && ew_strategy_again(bytes.y, bytes.out)) ||
           ew_strategy_streams(bytes.out);
}

/* Operands that are broadcast. Without results nothing is at fault, and nothing
   left to do. */
static inline bool run_loops(elementwise_op op, ew_kernel *kernel,
                             const elementwise_tensor *x,
                             const elementwise_tensor *y, int axis,
                             const elementwise_tensor *out, ew_kernel *fault)
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
    if (!are_usable(x, y, out) || !are_apart(x, y, out, nest.bytes))
        return false;
    if (nest.empty)
        return true;
    int repeats = ew_strategy_repeats(nest.loop, nest.ndim, size, size_out,
                                      fault != NULL);
    bool few = repeats && ew_strategy_repeats_few(
                              nest.count, size > size_out ? size : size_out);
    if (is_better_planned(&nest, op, x->dtype, size_out, fault != NULL, few) ||
        (fault && has_fault(fault, nest.bytes.y / size, y)))
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

/* All simple calls but the commonest: quotients, operands of rank 0 or that are
   broadcast, and the first call of a process. */
static __attribute__((noinline)) elementwise_status
run_others(const elementwise_tensor *x, const elementwise_tensor *y, int axis,
           const elementwise_tensor *out, elementwise_op op, ew_call *otherwise)
{
    const int level = ew_cpu_level();
    bool divides = ew_types_divides(op, x->dtype);
    ew_kernel *kernel = ew_table_direct(level, (int)op, x->dtype);
    ew_kernel *zero =
        divides ? ew_table_direct(level, EW_ANY_ZERO, x->dtype) : NULL;
    if (kernel && (zero || ew_types_safe(op, x->dtype)) &&
        (run_dense(kernel, x, y, out, EW_DENSE_MOST, zero, NULL) ||
         run_loops(op, kernel, x, y, axis, out, zero)))
        return ELEMENTWISE_OK;
    return otherwise(x, y, axis, out, op);
}

/* The commonest calls: operands of out's shape, of which none is at fault. If
   the level is not known yet, asking for it would be a call, for which
   registers would be kept. */
static inline __attribute__((always_inline)) bool
run_commonest(const elementwise_tensor *x, const elementwise_tensor *y,
              const elementwise_tensor *out, elementwise_op op)
{
    if (x->ndim != out->ndim || y->ndim != out->ndim ||
        !ew_types_safe(op, x->dtype))
        return false;
    int64_t n = length_of(x, true, y, true, out, EW_DENSE_MOST);
    if (!n)
        return false;
    const int level = ew_cpu_level_known();
    if (level < 0)
        return false;
    ew_kernel *kernel = ew_table_direct(level, (int)op, x->dtype);
    return kernel && run_length(kernel, n, x, true, y, true, out, NULL, NULL);
}

/* Small calls are mostly this. All that is done for others is called as the
   last step, so that nothing is kept for it. */
elementwise_status ew_dense_run(const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                elementwise_op op, ew_call *otherwise)
{
    if (!are_plain(x, y, out) ||
        !ew_types_are_one(op, x->dtype, y->dtype, out->dtype))
        return otherwise(x, y, axis, out, op);
    if (run_commonest(x, y, out, op))
        return ELEMENTWISE_OK;
    return run_others(x, y, axis, out, op, otherwise);
}

bool ew_dense_run_around(elementwise_op op, ew_kernel *kernel,
                         const elementwise_tensor *x,
                         const elementwise_tensor *y,
                         const elementwise_tensor *out, int64_t most,
                         struct ew_around *around)
{
    return are_plain(x, y, out) &&
           ew_types_are_one(op, x->dtype, y->dtype, out->dtype) &&
           ew_types_safe(op, x->dtype) &&
           run_dense(kernel, x, y, out, most, NULL, around);
}
