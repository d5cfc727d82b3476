/*
 * Turns a kernel, strides and a pool of elements into operands in guarded
 * memory, runs the kernel on them, and holds what it wrote against the
 * baseline's kernel called for each element alone, which in turn is held
 * against the reference.
 */
#include "kernel_calls.h"

#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "reference.h"

const struct kernel_form kernel_forms[KERNEL_FORMS] = {
    {1, 1, 1},  {1, 0, 1},  {0, 1, 1},   {0, 0, 1},  {2, 1, 1},
    {1, 2, 1},  {2, 2, 2},  {1, 1, 2},   {-1, 1, 1}, {1, -1, 1},
    {1, 1, -1}, {0, -1, 1}, {-1, 0, -1}, {3, 0, 2},  {-1, -1, -1}};

struct support_tensor kernel_x, kernel_y, kernel_out;
char kernel_pool_x[KERNEL_POOL * 16], kernel_pool_y[KERNEL_POOL * 16];

bool kernel_takes(elementwise_dtype x, elementwise_dtype y)
{
    return x == y || (x == ELEMENTWISE_I64 && y == ELEMENTWISE_U64) ||
           (x == ELEMENTWISE_U64 && y == ELEMENTWISE_I64);
}

int64_t kernel_vector_length(const struct kernel *k)
{
    size_t in = ref_size(k->x), to = ref_size(k->out);
    return (int64_t)((size_t)16 << k->level) / (int64_t)(in < to ? in : to);
}

void kernel_compute_row(int level, int op, elementwise_dtype type, int64_t n,
                        void *x, void *y, bool one_y, void *out)
{
    int64_t size = (int64_t)ref_size(type);
    void *data[EW_OPERANDS] = {x, y, out};
    struct ew_stride strides[EW_OPERANDS] = {
        {0, size}, {0, one_y ? 0 : size}, {0, size}};
    ew_table_kernel(level, op, type, type)(1, n, data, strides);
}

/* ---------------------------------------------------------------------
 * Elements
 */

void kernel_draw_pools(const struct kernel *k)
{
    struct support_tensor s = {0};
    struct {
        elementwise_dtype type;
        char *pool;
    } pools[] = {{k->x, kernel_pool_x}, {k->y, kernel_pool_y}};
    for (int i = 0; i < 2; i++) {
        support_line(&s, pools[i].type, KERNEL_POOL, 1, SUPPORT_HIGH);
        support_fill(&s);
        if (k->op)
            support_no_zeros(&s);
        memcpy(pools[i].pool, s.t.data, KERNEL_POOL * ref_size(pools[i].type));
    }
    support_free(&s);
}

void kernel_draw_specials(const struct kernel *k)
{
    char specials[SUPPORT_SPECIALS * 16];
    int count = support_specials(k->x, specials);
    size_t size = ref_size(k->x);
    for (int i = 0; i < KERNEL_POOL; i++) {
        char *pool = support_random(0, 1) ? kernel_pool_x : kernel_pool_y;
        memcpy(pool + (size_t)i * size,
               specials + (size_t)support_random(0, count - 1) * size, size);
    }
}

/* ---------------------------------------------------------------------
 * Operands
 */

/* Elements between rows that lie far apart for any type, of which there are
   more than kernels ask for ahead. */
enum { APART_BY = 1 << 10, FAR_ROWS = 6 };

static int64_t row_stride(int64_t col, int64_t cols, enum kernel_rows rows)
{
    int64_t width = (col < 0 ? -col : col) * cols + 1;
    return rows == KERNEL_BACK  ? -width
           : rows == KERNEL_FAR ? width + APART_BY
                                : width;
}

void kernel_make(struct support_tensor *s, elementwise_dtype type,
                 const int64_t shape[2], int64_t col, int64_t row,
                 const char *pool)
{
    int64_t strides[] = {row, col}, drawn = 0;
    size_t size = ref_size(type);
    support_make(s, type, 2, shape, strides,
                 support_random(0, 1) ? SUPPORT_HIGH : SUPPORT_LOW);
    for (int64_t r = 0; pool && r < shape[0]; r++)
        for (int64_t c = 0; c < shape[1]; c++, drawn++) {
            int64_t index[] = {r, c};
            memcpy(ref_at(&s->t, index),
                   pool + (size_t)(drawn % KERNEL_POOL) * size, size);
        }
    support_keep(s);
}

void kernel_make_operands(const struct kernel *k, const struct kernel_form *f,
                          int64_t cols, enum kernel_rows rows)
{
    int64_t shape[] = {rows == KERNEL_ONE_ROW ? 1
                       : rows == KERNEL_FAR   ? FAR_ROWS
                                              : 3,
                       cols};
    kernel_make(&kernel_x, k->x, shape, f->x,
                rows == KERNEL_X_STANDS ? 0 : row_stride(f->x, cols, rows),
                kernel_pool_x);
    kernel_make(&kernel_y, k->y, shape, f->y,
                rows == KERNEL_Y_STANDS ? 0 : row_stride(f->y, cols, rows),
                kernel_pool_y);
    kernel_make(&kernel_out, k->out, shape, f->out,
                row_stride(f->out, cols, rows), NULL);
}

void kernel_release(void)
{
    support_free(&kernel_x);
    support_free(&kernel_y);
    support_free(&kernel_out);
}

/* ---------------------------------------------------------------------
 * Calls
 */

struct ew_stride kernel_stride(const struct support_tensor *s)
{
    int64_t size = (int64_t)ref_size(s->t.dtype);
    return (struct ew_stride){s->strides[0] * size, s->strides[1] * size};
}

void kernel_run(const struct kernel *k, const struct support_tensor *to)
{
    void *data[EW_OPERANDS] = {kernel_x.t.data, kernel_y.t.data,
                               to->t.data, [EW_AROUND] = k->around};
    struct ew_stride strides[EW_OPERANDS] = {
        kernel_stride(&kernel_x), kernel_stride(&kernel_y), kernel_stride(to)};
    k->run(to->shape[0], to->shape[1], data, strides);
}

void kernel_run_alone(const struct kernel *k, void *x, void *y, void *out)
{
    static const struct ew_stride none[EW_OPERANDS];
    void *data[EW_OPERANDS] = {x, y, out, [EW_AROUND] = k->around};
    k->scalar(1, 1, data, none);
}

/* ---------------------------------------------------------------------
 * Verdicts
 */

/* Is the element what the kernel is for? */
static bool right(const struct kernel *k, void *x, void *y, const void *got)
{
    char alone[16];
    struct ref_value v = ref_load(k->x, x), w = ref_load(k->y, y);
    if (!k->op) {
        v = ref_convert(&v, k->out);
        ref_store(&v, alone);
        return ref_same(k->out, alone, got);
    }
    bool exact = ref_is_exact((elementwise_op)k->op, ref_promote(k->x, k->y));
    if (!k->around && (!exact || k->run == k->scalar))
        return ref_accepts((elementwise_op)k->op, &v, &w, k->out, got, NULL);
    kernel_run_alone(k, x, y, alone);
    return ref_same(k->out, alone, got);
}

void kernel_report(const struct kernel *k, const char *what)
{
    char text[3][200];
    support_describe(&kernel_x.t, text[0], sizeof text[0]);
    support_describe(&kernel_y.t, text[1], sizeof text[1]);
    support_describe(&kernel_out.t, text[2], sizeof text[2]);
    ck_abort_msg("level %s, %s, x %s, y %s, out %s: %s", ew_cpu_name(k->level),
                 k->op ? elementwise_op_name((elementwise_op)k->op)
                       : "conversion",
                 text[0], text[1], text[2], what);
}

void kernel_verify(const struct kernel *k, const struct support_tensor *to)
{
    int64_t index[2] = {0};
    char text[80];
    do
        if (!right(k, ref_at(&kernel_x.was, index),
                   ref_at(&kernel_y.was, index), ref_at(&to->t, index))) {
            snprintf(text, sizeof text, "wrong at (%lld,%lld)",
                     (long long)index[0], (long long)index[1]);
            kernel_report(k, text);
        }
    while (ref_next(2, to->shape, index));
    if (!support_gaps_same(to))
        kernel_report(k, "bytes around the output were written");
    if ((to != &kernel_x && !support_same(&kernel_x)) ||
        (to != &kernel_y && !support_same(&kernel_y)))
        kernel_report(k, "an input was written");
}
