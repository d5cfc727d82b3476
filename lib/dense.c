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

/* What is known of operands whose elements follow one another, of types that a
   kernel reads and writes as they are: x's and y's are one. */
struct line {
    struct ew_stride stride[3];
    elementwise_dtype out;
    uint16_t unaligned, unaligned_out; /* bits that no address has */
};

/* By x's type where out's is the same, and behind these where it is BOOL. */
#define LINE(at, type, part, out_type, OUT, out_part)                          \
    [at] = {.stride = {{0, sizeof(type)},                                      \
                       {0, sizeof(type)},                                      \
                       {0, sizeof(out_type)}},                                 \
            .out = ELEMENTWISE_##OUT,                                          \
            .unaligned = (part)-1,                                             \
            .unaligned_out = (out_part)-1},
static const struct line lines[2 * EW_DTYPES] = {
#define DTYPE(name, NAME, type, kind, part)                                    \
    LINE(ELEMENTWISE_##NAME, type, part, type, NAME, part)
#include "dtypes.def"
#define DTYPE(name, NAME, type, kind, part)                                    \
    LINE(EW_DTYPES + ELEMENTWISE_##NAME, type, part, struct ew_bool, BOOL, 1)
#include "dtypes.def"
};

enum {
#define DTYPE(name, NAME, type, kind, part) KIND_##NAME = kind,
#include "dtypes.def"
};

/* The line of each operation on each type of which it takes all elements, NULL
   of others. Pointers, though they are relocated at each start, as compilers
   would work out places in `lines` again wherever they need one. */
#define PROMOTED 0
#define BOOL EW_DTYPES
#define AT(TYPE, kinds, result)                                                \
    [ELEMENTWISE_##TYPE] =                                                     \
        (kinds)&KIND_##TYPE ? &lines[ELEMENTWISE_##TYPE + (result)] : NULL
_Static_assert(EW_DTYPES == 16, "EACH has all types");
#define EACH(...)                                                              \
    AT(BOOL, __VA_ARGS__), AT(I8, __VA_ARGS__), AT(I16, __VA_ARGS__),          \
        AT(I32, __VA_ARGS__), AT(I64, __VA_ARGS__), AT(U8, __VA_ARGS__),       \
        AT(U16, __VA_ARGS__), AT(U32, __VA_ARGS__), AT(U64, __VA_ARGS__),      \
        AT(F16, __VA_ARGS__), AT(BF16, __VA_ARGS__), AT(F32, __VA_ARGS__),     \
        AT(F64, __VA_ARGS__), AT(C64, __VA_ARGS__), AT(C128, __VA_ARGS__)
static const struct line *const safe[EW_LAST_OP + 1][EW_DTYPES] = {
#define OP(name, NAME, types, result, fault, ulp)                              \
    [ELEMENTWISE_##NAME] = {                                                   \
        EACH((types) & (EW_FAULT_##fault ? ~EW_INTEGERS : ~0), result)},
#include "ops.def"
};

/* That of three operands, of which none is NULL. Number 0, which is no type and
   no operation, has none. */
static inline const struct line *find_safe(elementwise_op op,
                                           const elementwise_tensor *x,
                                           const elementwise_tensor *y,
                                           const elementwise_tensor *out)
{
    if ((unsigned)x->dtype >= EW_DTYPES || (unsigned)op > EW_LAST_OP ||
        x->dtype != y->dtype)
        return NULL;
    const struct line *line = safe[op][x->dtype];
    return line && line->out == out->dtype ? line : NULL;
}

/* The same of quotients of integers, which take all elements but a y of 0. */
static inline const struct line *find_quotient(elementwise_op op,
                                               const elementwise_tensor *x,
                                               const elementwise_tensor *y,
                                               const elementwise_tensor *out)
{
    bool one = x->dtype == y->dtype && x->dtype == out->dtype;
    return one && ew_types_known_op(op) && ew_types_known(x->dtype) &&
                   ew_types_divides(op, x->dtype)
               ? &lines[x->dtype]
               : NULL;
}

/* What runs a call on such operands. zero looks for what y may not have, if not
   NULL; around is for kernels that make more than an operation. */
struct run {
    const struct line *line;
    ew_kernel *kernel, *zero;
    struct ew_around *around;
};

/* False: there is no such kernel, or none that looks for zeros. */
static inline __attribute__((always_inline)) bool
find_run(elementwise_op op, const elementwise_tensor *x,
         const elementwise_tensor *y, const elementwise_tensor *out,
         struct run *run)
{
    *run = (struct run){.line = find_safe(op, x, y, out)};
    if (!run->line) {
        run->line = find_quotient(op, x, y, out);
        run->zero = run->line ? ew_table_here(EW_ANY_ZERO, x->dtype) : NULL;
        if (!run->zero)
            return false;
    }
    run->kernel = ew_table_here((int)op, x->dtype);
    return run->kernel != NULL;
}

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
   x and y broadcast to exactly out's shape. Known at compile time: whether they
   have each of its dimensions. */
static inline __attribute__((always_inline)) bool
open_loops(const struct ew_alignment *a, bool whole_x, bool whole_y,
           const struct line *line, const elementwise_tensor *out,
           struct nest *nest)
{
    const int64_t *shape_x = a->x.tensor->shape, *shape_y = a->y.tensor->shape;
    const int64_t widest = sizeof(struct ew_c128);
    int64_t most = widest; /* bytes, if out's elements were of that type */
    struct reach bytes = {line->stride[EW_X].col, line->stride[EW_Y].col,
                          line->stride[EW_OUT].col};
    int walks = 0; /* which of x and y walk along the last loop */
    struct ew_loop *next = nest->loop; /* behind the last one */
    nest->empty = false;
    for (int dim = a->ndim - 1; dim >= 0; dim--) {
        int64_t n = out->shape[dim];
        int64_t x = whole_x ? shape_x[dim] : ew_shape_extent(&a->x, dim);
        int64_t y = whole_y ? shape_y[dim] : ew_shape_extent(&a->y, dim);
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
        else {
            next->n = n; /* one by one, or other operands' would be cleared */
            next->stride[EW_X] = x == 1 ? 0 : bytes.x;
            next->stride[EW_Y] = y == 1 ? 0 : bytes.y;
            next->stride[EW_OUT] = bytes.out;
            next++;
        }
        walks = now;
        bytes.x *= x;
        bytes.y *= y;
        bytes.out *= n;
    }
    nest->count = (int64_t)((uint64_t)most / (uint64_t)widest); /* a shift */
    nest->bytes = bytes;
    nest->ndim = (int)(next - nest->loop);
    return true;
}

/* The loops of operands that are broadcast to exactly out's shape, or false. */
static inline __attribute__((always_inline)) bool
make_nest(const elementwise_tensor *x, const elementwise_tensor *y, int axis,
          const elementwise_tensor *out, const struct line *line,
          struct nest *nest)
{
    struct ew_alignment a = {.axis = axis, .x.tensor = x, .y.tensor = y};
    if (ew_shape_place(&a) || a.ndim != out->ndim)
        return false;
    /* placed, not own, dimensions: trailing 1s may not count */
    bool whole_x = a.x.ndim == a.ndim, whole_y = a.y.ndim == a.ndim;
    if (whole_x && whole_y)
        return open_loops(&a, true, true, line, out, nest);
    if (whole_x)
        return open_loops(&a, true, false, line, out, nest);
    return open_loops(&a, false, false, line, out, nest);
}

static inline bool is_usable(const elementwise_tensor *t, uintptr_t unaligned)
{
    return t->data && !((uintptr_t)t->data & unaligned);
}

/* Whether all operands are there, and aligned. */
static inline bool are_usable(const elementwise_tensor *x,
                              const elementwise_tensor *y,
                              const elementwise_tensor *out,
                              const struct line *line)
{
    return is_usable(x, line->unaligned) && is_usable(y, line->unaligned) &&
           is_usable(out, line->unaligned_out);
}

/* Whether t's elements are apart from out's, far enough in both directions
   modulo 2^64, or are out's. */
static inline __attribute__((always_inline)) bool
is_apart(const elementwise_tensor *t, int64_t bytes,
         const elementwise_tensor *out, int64_t bytes_out)
{
    uintptr_t apart = (uintptr_t)out->data - (uintptr_t)t->data;
    return (apart >= (uintptr_t)bytes && -apart >= (uintptr_t)bytes_out) ||
           (!apart && bytes == bytes_out && t->dtype == out->dtype);
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

/* Whether the operands are aligned and those that walk have out's shape, which
   has n elements, at least one and no more than `most`. */
static inline __attribute__((always_inline)) bool
is_line(const struct line *line, const elementwise_tensor *x, bool walks_x,
        const elementwise_tensor *y, bool walks_y,
        const elementwise_tensor *out, int64_t most, int64_t *n)
{
    *n = 1;
    if (!are_usable(x, y, out, line))
        return false;
    for (int i = 0; i < out->ndim; i++) {
        int64_t extent = out->shape[i];
        if ((walks_x && x->shape[i] != extent) ||
            (walks_y && y->shape[i] != extent) || extent < 1 ||
            __builtin_mul_overflow(*n, extent, n))
            return false;
    }
    return *n <= most;
}

/* One loop of so many steps over operands of out's shape or of rank 0; which of
   them walk is known at compile time. */
static inline __attribute__((always_inline)) bool
run_length(const struct run *run, int64_t n, const elementwise_tensor *x,
           bool walks_x, const elementwise_tensor *y, bool walks_y,
           const elementwise_tensor *out)
{
    const int64_t size = run->line->stride[EW_X].col;
    const int64_t size_out = run->line->stride[EW_OUT].col;
    struct reach bytes = {walks_x ? n * size : size, walks_y ? n * size : size,
                          n * size_out};
    if (ew_strategy_streams(bytes.out) || !are_apart(x, y, out, bytes) ||
        (run->zero && has_fault(run->zero, walks_y ? n : 1, y)))
        return false;
    void *const data[] = {x->data, y->data, out->data, run->around};
    const int64_t step_x = walks_x ? size : 0, step_y = walks_y ? size : 0;
    const struct ew_stride some[] = {{0, step_x}, {0, step_y}, {0, size_out}};
    const struct ew_stride *stride =
        walks_x && walks_y ? run->line->stride : some;
    if (ew_execute_is_long(n, step_x, step_y) && is_off_line(x, y))
        run_long_line(run->kernel, n, stride, data);
    else
        run->kernel(1, n, data, stride);
    return true;
}

/* Both, which are two as the commonest calls look at shapes before they look
   for a kernel. */
static inline __attribute__((always_inline)) bool
run_line(const struct run *run, const elementwise_tensor *x, bool walks_x,
         const elementwise_tensor *y, bool walks_y,
         const elementwise_tensor *out, int64_t most)
{
    int64_t n;
    return is_line(run->line, x, walks_x, y, walks_y, out, most, &n) &&
           run_length(run, n, x, walks_x, y, walks_y, out);
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

/* One operand of rank 0, and another of out's shape. */
static __attribute__((noinline)) bool run_scalar(const struct run *run,
                                                 const elementwise_tensor *x,
                                                 const elementwise_tensor *y,
                                                 const elementwise_tensor *out,
                                                 int64_t most)
{
    if (y->ndim == 0)
        return x->ndim == out->ndim &&
               run_line(run, x, true, y, false, out, most);
    return y->ndim == out->ndim && run_line(run, x, false, y, true, out, most);
}

/* x and y of out's shape, or one of them of rank 0. */
static inline __attribute__((always_inline)) bool
run_dense(const struct run *run, const elementwise_tensor *x,
          const elementwise_tensor *y, const elementwise_tensor *out,
          int64_t most)
{
    if (x->ndim == out->ndim && y->ndim == out->ndim)
        return run_line(run, x, true, y, true, out, most);
    return (!x->ndim || !y->ndim) && run_scalar(run, x, y, out, most);
}

/* A simple call of any kind; without results nothing is at fault, and nothing
   left to do. Not inlined, as its nest of loops takes much of the stack, on
   which a plan would else stand. */
static __attribute__((noinline)) bool
run_nest(elementwise_op op, const elementwise_tensor *x,
         const elementwise_tensor *y, int axis, const elementwise_tensor *out)
{
    struct run run;
    struct nest nest;
    if (!find_run(op, x, y, out, &run) ||
        !make_nest(x, y, axis, out, run.line, &nest) ||
        !are_usable(x, y, out, run.line) || !are_apart(x, y, out, nest.bytes))
        return false;
    if (nest.empty)
        return true;
    const int64_t size = run.line->stride[EW_X].col;
    const int64_t size_out = run.line->stride[EW_OUT].col;
    const bool divides = run.zero != NULL;
    int repeats =
        ew_strategy_repeats(nest.loop, nest.ndim, size, size_out, divides);
    bool few = repeats && ew_strategy_repeats_few(
                              nest.count, size > size_out ? size : size_out);
    if (is_better_planned(&nest, op, x->dtype, size_out, divides, few) ||
        (divides && has_fault(run.zero, nest.bytes.y / size, y)))
        return false;
    void *const data[] = {x->data, y->data, out->data};
    if (repeats)
        ew_execute_repeated(nest.loop, nest.ndim, run.kernel, NULL, repeats - 1,
                            data);
    else
        ew_execute_calls(
            nest.loop, nest.ndim, run.kernel, NULL,
            ew_strategy_across(nest.loop, nest.ndim, size, size_out), data);
    return true;
}

static __attribute__((noinline)) elementwise_status
run_loops(const elementwise_tensor *x, const elementwise_tensor *y, int axis,
          const elementwise_tensor *out, elementwise_op op, ew_call *otherwise)
{
    if (are_plain(x, y, out) && run_nest(op, x, y, axis, out))
        return ELEMENTWISE_OK;
    return otherwise(x, y, axis, out, op);
}

/* The same, first without a nest of loops, which takes much of the stack: for
   quotients and for operands of rank 0. */
static __attribute__((noinline)) elementwise_status
run_line_or_loops(const elementwise_tensor *x, const elementwise_tensor *y,
                  int axis, const elementwise_tensor *out, elementwise_op op,
                  ew_call *otherwise)
{
    struct run run;
    if (!are_plain(x, y, out) || !find_run(op, x, y, out, &run))
        return otherwise(x, y, axis, out, op);
    if (run_dense(&run, x, y, out, EW_DENSE_MOST))
        return ELEMENTWISE_OK;
    return run_loops(x, y, axis, out, op, otherwise);
}

/* The commonest call, of which no element is at fault: on operands of one rank,
   if they are of out's shape. If the level is not known yet, asking for it
   would be a call, for which registers would be kept. */
static inline __attribute__((always_inline)) bool
run_commonest(elementwise_op op, const struct line *line,
              const elementwise_tensor *x, const elementwise_tensor *y,
              const elementwise_tensor *out)
{
    int64_t n;
    if (!is_plain(x) || !is_plain(y) || !is_plain(out) ||
        !is_line(line, x, true, y, true, out, EW_DENSE_MOST, &n))
        return false;
    struct run run = {line, ew_table_known((int)op, x->dtype), NULL, NULL};
    return run.kernel && run_length(&run, n, x, true, y, true, out);
}

/* Each is tested before it is read: of three tests together compilers make more
   steps. */
static inline bool are_of_one_rank(const elementwise_tensor *x,
                                   const elementwise_tensor *y,
                                   const elementwise_tensor *out)
{
    return out && (unsigned)out->ndim < ELEMENTWISE_MAX_NDIM && x &&
           x->ndim == out->ndim && y && y->ndim == out->ndim;
}

/* Small calls are mostly the commonest. Ranks come first, and what is done for
   others is called as the last step, so that no register is kept for these. */
elementwise_status ew_dense_run(const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                elementwise_op op, ew_call *otherwise)
{
    if (are_of_one_rank(x, y, out)) {
        const struct line *line = find_safe(op, x, y, out);
        if (line && run_commonest(op, line, x, y, out))
            return ELEMENTWISE_OK;
        if (line)
            return run_loops(x, y, axis, out, op, otherwise);
    } else if (x && y && x->ndim && y->ndim)
        return run_loops(x, y, axis, out, op, otherwise);
    return run_line_or_loops(x, y, axis, out, op, otherwise);
}

bool ew_dense_run_around(elementwise_op op, ew_kernel *kernel,
                         const elementwise_tensor *x,
                         const elementwise_tensor *y,
                         const elementwise_tensor *out, int64_t most,
                         struct ew_around *around)
{
    if (!are_plain(x, y, out))
        return false;
    struct run run = {find_safe(op, x, y, out), kernel, NULL, around};
    return run.line && run_dense(&run, x, y, out, most);
}
