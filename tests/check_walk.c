/*
 * Holds the sums of gradients over what was stretched against a reference in
 * long double, term by term: every type, at extents that leave vectors, tiles
 * and the sums of one part full and not. Large outputs, which may be stored
 * past the caches, are held against the same rows one by one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "gradient_calls.h"

/* ---------------------------------------------------------------------
 * Gradients; by test index, of a type and, for tails, an operation
 */

/* Inner extents that leave vectors full and not, kept and summed, in two
   dimensions and three. */
START_TEST(every_tail_of_a_vector_is_summed)
{
    static const elementwise_op fused[] = {
        ELEMENTWISE_ADD, ELEMENTWISE_SUB, ELEMENTWISE_MUL,  ELEMENTWISE_DIV,
        ELEMENTWISE_MAX, ELEMENTWISE_MIN, ELEMENTWISE_FMAX, ELEMENTWISE_FMIN};
    const elementwise_op op = fused[_i / GRADIENT_FLOATS];
    const elementwise_dtype type = gradient_floats[_i % GRADIENT_FLOATS];
    struct gradient g = {0};
    for (int n = 1; n <= 40 && gradient_takes(op, type, type); n++) {
        for (int way = 0; way < 4; way++) {
            struct support_shapes s = {way & 1, 2, 1, 2, {5, n}, {5}, {5, n}};
            if (way & 1)
                s.y[0] = n;
            if (way & 2)
                s = (struct support_shapes){1,         3,   1,        3,
                                            {3, n, 2}, {n}, {3, n, 2}};
            gradient_prepare(&g, op, type, type, &s);
            gradient_verify_levels(&g);
        }
    }
    gradient_release(&g);
}
END_TEST

/* Many sums at once of every type, one after the other in memory and not. */
START_TEST(five_thousand_sums_are_kept_apart)
{
    struct gradient g = {0};
    static const struct support_shapes shapes[] = {
        {1, 2, 1, 2, {7, 5000}, {5000}, {7, 5000}},
        {0, 2, 1, 2, {5000, 7}, {5000}, {5000, 7}},
        {1, 3, 1, 3, {3, 5000, 2}, {5000}, {3, 5000, 2}},
        {-1, 2, 3, 3, {1, 5000}, {3, 2, 1}, {3, 2, 5000}},
        {-1, 3, 3, 3, {3, 2, 5000}, {3, 1, 5000}, {3, 2, 5000}},
    };
    for (int k = 0; k < 5; k++) {
        gradient_prepare(&g, k % 2 ? ELEMENTWISE_MUL : ELEMENTWISE_ADD,
                         gradient_floats[_i], gradient_floats[_i], &shapes[k]);
        gradient_verify_levels(&g);
    }
    gradient_release(&g);
}
END_TEST

/* Rows short enough to be joined where their columns are summed, and to be read
   together with what lies before them where they are themselves. */
START_TEST(many_short_rows_are_summed)
{
    static const int64_t cols[] = {1, 2, 3, 7, 8, 15, 16, 17, 100};
    struct gradient g = {0};
    for (size_t k = 0; k < 2 * sizeof cols / sizeof *cols; k++) {
        struct support_shapes s = {
            .axis = k & 1, .x_ndim = 2, .y_ndim = 1, .ndim = 2};
        s.x[0] = 1111;
        s.x[1] = cols[k / 2];
        s.y[0] = s.x[k & 1];
        memcpy(s.out, s.x, sizeof s.x);
        gradient_prepare(&g, ELEMENTWISE_ADD, gradient_floats[_i],
                         gradient_floats[_i], &s);
        gradient_verify_levels(&g);
    }
    gradient_release(&g);
}
END_TEST

/* Dimensions from the innermost one in memory outwards, some backwards or with
   gaps. */
static void lay_out(struct support_tensor *s, elementwise_dtype type, int ndim,
                    const int64_t shape[], const int order[])
{
    int64_t strides[ELEMENTWISE_MAX_NDIM], step = 1;
    for (int i = 0; i < ndim; i++) {
        strides[order[i]] = support_random(0, 9) ? step : -step;
        step *= shape[order[i]];
        step += support_random(0, 9) ? 0 : 3;
    }
    support_make(s, type, ndim, shape, strides,
                 (enum support_edge)support_random(0, 1));
    gradient_fill(s, GRADIENT_ANY);
}

/* Of a product in its five operands' orders. */
static void verify_orders(const elementwise_dtype type[2], int ndim,
                          const int64_t shape[], const int64_t of_y[],
                          const int *const order[5])
{
    struct gradient g = {.op = ELEMENTWISE_MUL, .axis = ELEMENTWISE_NUMPY};
    for (int k = 0; k < 2; k++) {
        const int64_t *of = k ? of_y : shape;
        g.wants[k] = gradient_exists(type[k]);
        lay_out(k ? &g.y : &g.x, type[k], ndim, of, order[k]);
        lay_out(&g.d[k], type[k], ndim, of, order[3 + k]);
    }
    lay_out(&g.dout, ref_promote(type[0], type[1]), ndim, shape, order[2]);
    gradient_keep(&g);
    g.flags = g.wants[0] && g.wants[1] ? (unsigned)support_random(0, 3) : 0;
    gradient_verify_levels(&g);
    gradient_release(&g);
}

/* Every choice of turned operands, in one tile and in several: read, stored,
   converted, added to and summed. */
START_TEST(turned_operands_have_the_references_gradients)
{
    static const int64_t shapes[][2] = {{70, 37}, {37, 130}};
    static const int orders[][2] = {{1, 0}, {0, 1}};
    const int64_t *shape = shapes[_i % 2];
    for (int turned = 0; turned < 32; turned++) {
        int way = (turned + _i) % 3;
        int64_t of_y[] = {way == 1 ? 1 : shape[0], way == 2 ? 1 : shape[1]};
        const int *order[5];
        for (int k = 0; k < 5; k++)
            order[k] = orders[turned >> k & 1];
        verify_orders(gradient_pairs[_i], 2, shape, of_y, order);
    }
}
END_TEST

/* Of operands in any order; bits of `stretched` are dimensions of y that are.
 */
static void verify_any_orders(const elementwise_dtype type[2], int ndim,
                              const int64_t shape[], int stretched)
{
    int64_t of_y[4];
    int orders[5][4];
    const int *order[5];
    for (int d = 0; d < ndim; d++)
        of_y[d] = stretched >> d & 1 ? 1 : shape[d];
    for (int k = 0; k < 5; k++) {
        for (int d = 0; d < ndim; d++)
            orders[k][d] = ndim - 1 - d;
        if (support_random(0, 2))
            support_shuffle(orders[k], 0, ndim);
        order[k] = orders[k];
    }
    verify_orders(type, ndim, shape, of_y, order);
}

/* Loops so short that a tile has three or four, and part of the last. */
START_TEST(short_loops_have_the_references_gradients)
{
    static const int64_t shapes[][4] = {
        {9, 5, 4, 6}, {50, 4, 3, 2}, {3, 70, 8, 3}, {2, 3, 20, 17}};
    for (int round = 0; round < gradient_rounds(8); round++)
        verify_any_orders(gradient_pairs[_i], 4, shapes[round % 4],
                          round / 4 * 5 + _i);
}
END_TEST

/* So many that tiles have tables. */
START_TEST(many_short_loops_have_the_references_gradients)
{
    static const int64_t shapes[][3] = {
        {333, 7, 8}, {1300, 7, 2}, {2, 340, 28}, {333, 3, 17}};
    for (int round = 0; round < gradient_rounds(4); round++)
        verify_any_orders(gradient_pairs[_i], 3, shapes[round % 4],
                          support_random(0, 1) ? 0 : 1 << (_i + round) % 3);
}
END_TEST

/* ---------------------------------------------------------------------
 * sum_to; by test index, of a type
 */

START_TEST(sum_to_is_the_references_in_every_layout)
{
    struct support_tensor src = {0}, dst = {0};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    for (int round = 0; round < gradient_rounds(150); round++) {
        struct support_shapes s;
        do
            support_pair(6, 9, &s);
        while (s.x_ndim != s.ndim ||
               memcmp(s.x, s.out, sizeof *s.x * (size_t)s.ndim));
        gradient_lay_out(&src, gradient_floats[_i], s.ndim, s.out, true);
        gradient_lay_out(&dst, gradient_floats[_i], s.y_ndim, s.y, false);
        gradient_fill(&src, GRADIENT_ANY);
        gradient_fill(&dst, GRADIENT_ANY);
        support_keep(&src);
        support_keep(&dst);
        options.flags = round % 3 ? 0 : ELEMENTWISE_ADD_TO_OUT;
        struct grad_cell *cells =
            grad_sum_cells(&src.was, s.axis, &dst.was, options.flags != 0);
        char *first = malloc(dst.area_size);
        ck_assert_ptr_nonnull(first);
        for (int l = 0; l < EW_LEVELS && support_level(l); l++) {
            support_restore(&dst);
            ck_assert_int_eq(elementwise_sum_to(&src.t, s.axis, &dst.t,
                                                round % 2       ? &options
                                                : options.flags ? &options
                                                                : NULL),
                             ELEMENTWISE_OK);
            ck_assert(support_same(&src) && support_gaps_same(&dst));
            gradient_verify_cells("sum_to", cells, gradient_floats[_i], &dst.t);
            if (l == 0)
                memcpy(first, dst.area, dst.area_size);
            ck_assert(memcmp(first, dst.area, dst.area_size) == 0);
        }
        free(first);
        free(cells);
    }
    support_free(&src);
    support_free(&dst);
}
END_TEST

/* Integers of any size up to the given bits, whose sums are exact in two
   halves. Without signs all are one whose digits round in the same
   direction again and again as the sum grows. */
static void fill_integers(elementwise_dtype type, void *data, int64_t n,
                          bool signs)
{
    for (int64_t i = 0; i < n; i++) {
        int digits = type == F64 ? 53 : 24;
        int64_t v = (int64_t)(support_bits() >> (64 - digits));
        v = type == F64 ? v >> support_random(0, 45)
                        : v << support_random(0, 18);
        if (!signs)
            v = type == F64 ? 0x15555555555555 : 0xaaaaab;
        gradient_put(type, (double)(signs && support_bits() & 1 ? -v : v), 0,
                     (char *)data + ref_size(type) * (size_t)i);
    }
}

/* dst element j must be the sum of count elements from j * outer in steps of
   inner, but for an error that does not grow with their number. */
static void verify_large(elementwise_dtype type, const void *src, int64_t j,
                         int64_t start, int64_t step, int64_t count, double got)
{
    int64_t high = 0, low = 0;
    long double magnitude = 0;
    for (int64_t i = 0; i < count; i++) {
        const char *at = src;
        at += (size_t)(start + i * step) * ref_size(type);
        double v = ref_load(type, at).re;
        int64_t whole = (int64_t)v;
        high += whole / (1 << 26);
        low += whole % (1 << 26);
        magnitude += fabsl((long double)v);
    }
    long double exact = (long double)high * (1 << 26) + (long double)low;
    struct grad_cell cell = {exact, 0, magnitude, 0, count};
    char bytes[16];
    gradient_put(type, got, 0, bytes);
    long double error = fabsl(got - exact);
    ck_assert_msg(grad_accepts(&cell, type, type, bytes),
                  "sum %lld of %lld values of %s, level %s: %.17g, exact %.20Lg"
                  ", off by %.3Lg, magnitude %.6Lg",
                  (long long)j, (long long)count, elementwise_dtype_name(type),
                  elementwise_cpu_level(), got, exact, error, magnitude);
}

struct large {
    int ndim;
    int64_t shape[3];
    int axis, dst_ndim;
    int64_t dst[2];
    int64_t outer, step, count; /* see verify_large */
};

static const struct large larges[] = {
    {1, {1 << 20}, 0, 0, {1}, 0, 1, 1 << 20},
    {2, {1024, 1024}, 0, 0, {1}, 0, 1, 1 << 20},
    {2, {1024, 1024}, 0, 1, {1024}, 1024, 1, 1024},
    {2, {1024, 1024}, 1, 1, {1024}, 1, 1024, 1024},
    {2, {5000, 200}, 0, 1, {5000}, 200, 1, 200},
    {2, {200, 5000}, 1, 1, {5000}, 1, 5000, 200},
    {2, {3, 1 << 18}, 0, 1, {3}, 1 << 18, 1, 1 << 18},
    {2, {1 << 18, 3}, 1, 1, {3}, 1, 3, 1 << 18},
    {3, {300, 5000, 1}, 1, 1, {5000}, 1, 5000, 300},
    {2, {10001, 20}, 1, 1, {20}, 1, 20, 10001},
};
enum { LARGES = sizeof larges / sizeof *larges };

START_TEST(errors_of_sums_do_not_grow_with_the_number_of_terms)
{
    const struct large *l = &larges[_i / 2];
    for (int k = 0; k < 2; k++) {
        elementwise_dtype type = k ? F64 : F32;
        int64_t n = 1, m = l->dst_ndim ? l->dst[0] : 1;
        for (int d = 0; d < l->ndim; d++)
            n *= l->shape[d];
        char *data = malloc((size_t)n * 8), *sums = malloc((size_t)m * 8);
        ck_assert(data && sums);
        fill_integers(type, data, n, _i % 2);
        elementwise_tensor src = {data, type, l->ndim, l->shape, NULL};
        elementwise_tensor dst = {sums, type, l->dst_ndim, l->dst, NULL};
        for (int v = 0; v < EW_LEVELS && support_level(v); v++) {
            memset(sums, 0xA5, (size_t)m * 8);
            ck_assert_int_eq(elementwise_sum_to(&src, l->axis, &dst, NULL),
                             ELEMENTWISE_OK);
            for (int64_t j = 0; j < m; j++)
                verify_large(
                    type, data, j, j * l->outer, l->step, l->count,
                    ref_load(type, sums + (size_t)j * ref_size(type)).re);
        }
        free(data);
        free(sums);
    }
}
END_TEST

/* Short rows, with numbers that are no numbers between them, in pages beside
   which nothing may be read. */
enum { PAGE = 4096, SHORT_ROWS = 20, SHORT_COLS = 17, PAGES = 2 * SHORT_ROWS };

/* Fills rows with small integers; sums gets those of the rows, and behind them
   those of the columns. */
static void fill_rows(elementwise_dtype type, const int64_t shape[2],
                      int64_t step, char *data, int64_t sums[])
{
    int64_t *of_columns = sums + SHORT_ROWS, size = (int64_t)ref_size(type);
    memset(sums, 0, (SHORT_ROWS + SHORT_COLS) * sizeof *sums);
    for (int64_t r = 0; r < shape[0]; r++)
        for (int64_t c = 0; c < shape[1]; c++) {
            int64_t value = support_random(-9, 9);
            gradient_put(type, (double)value, 0, data + r * step + c * size);
            sums[r] += value;
            of_columns[c] += value;
        }
}

/* Sums of the rows, or of the columns. */
static void verify_short(elementwise_dtype type, const elementwise_tensor *src,
                         bool columns, const int64_t sums[])
{
    _Alignas(8) char made[SHORT_ROWS * 8];
    _Alignas(8) char wanted[8];
    const int64_t n = src->shape[columns], shape[] = {n, 1};
    elementwise_tensor dst = {made, type, columns ? 1 : 2, shape, NULL};
    ck_assert_int_eq(elementwise_sum_to(src, -1, &dst, NULL), ELEMENTWISE_OK);
    for (int64_t i = 0; i < n; i++) {
        gradient_put(type, (double)sums[i + (columns ? SHORT_ROWS : 0)], 0,
                     wanted);
        ck_assert_msg(
            !memcmp(made + ref_size(type) * (size_t)i, wanted, ref_size(type)),
            "%s, %d rows of %d, sum %d", elementwise_dtype_name(type),
            (int)src->shape[0], (int)src->shape[1], (int)i);
    }
}

/* Rows that are `step` bytes apart. */
static void try_short(elementwise_dtype type, const int64_t shape[2],
                      int64_t step, char *data)
{
    int64_t sums[SHORT_ROWS + SHORT_COLS];
    const int64_t strides[] = {step / (int64_t)ref_size(type), 1};
    const elementwise_tensor src = {data, type, 2, shape, strides};
    fill_rows(type, shape, step, data, sums);
    for (int v = 0; v < EW_LEVELS && support_level(v); v++) {
        verify_short(type, &src, false, sums);
        verify_short(type, &src, true, sums);
    }
}

START_TEST(short_rows_are_summed_without_what_is_beside_them)
{
    static const elementwise_dtype types[] = {F16, BF16, F32, F64};
    const elementwise_dtype type = types[_i];
    const int64_t size = (int64_t)ref_size(type), far = 2 * PAGE;
    char *map = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    char *first = map + PAGE;
    memset(map, -1, (PAGES + 1) * PAGE);
    for (int i = 0; i <= PAGES; i += 2)
        mprotect(map + i * PAGE, PAGE, PROT_NONE);
    for (int64_t rows = 1; rows <= SHORT_ROWS; rows++)
        for (int64_t cols = 1; cols <= SHORT_COLS; cols++) {
            const int64_t shape[] = {rows, cols}, bytes = cols * size;
            const int64_t near = bytes + 3 * size;
            char *end = first + PAGE;
            try_short(type, shape, far, first);
            try_short(type, shape, far, end - bytes);
            memset(first, -1, PAGE);
            try_short(type, shape, near, first);
            memset(first, -1, PAGE);
            try_short(type, shape, near, end - bytes - (rows - 1) * near);
        }
    munmap(map, (PAGES + 1) * PAGE);
}
END_TEST

/* Columns of halves up to 1024 are asked for in another way. */
START_TEST(column_sums_do_not_depend_on_what_is_asked_for)
{
    static const elementwise_dtype types[] = {F16, BF16, F32, F64};
    static const int64_t cols[] = {8, 100, 1024, 1100};
    const elementwise_dtype type = types[_i % 4];
    const int64_t n = cols[_i / 4], shape[] = {600000 / n, n};
    char *data = malloc((size_t)(shape[0] * n) * 8);
    _Alignas(8) char sums[2][1100 * 8];
    ck_assert(data != NULL);
    for (int64_t i = 0; i < shape[0] * n; i++)
        gradient_put(type, (double)support_random(-2000, 2000) / 64, 0,
                     data + ref_size(type) * (size_t)i);
    const elementwise_tensor src = {data, type, 2, shape, NULL};
    for (int v = 0; v < 2 * EW_LEVELS && support_level(v / 2); v++) {
        elementwise_tensor dst = {sums[v > 0], type, 1, &n, NULL};
        ew_cpu_tune(v % 2 ? EW_TUNINGS - 1 : 0);
        memset(sums[v > 0], 0xA5, sizeof *sums);
        ck_assert_int_eq(elementwise_sum_to(&src, -1, &dst, NULL),
                         ELEMENTWISE_OK);
        ck_assert(v == 0 ||
                  !memcmp(sums[0], sums[1], ref_size(type) * (size_t)n));
    }
    free(data);
}
END_TEST

/* Long rows from memory, read two at a time, of which one is left, beside each
   of them alone. All sums are rounded. */
START_TEST(sums_of_rows_do_not_depend_on_how_many_are_read_at_once)
{
    static const elementwise_dtype types[] = {F32, F64, C64};
    const elementwise_dtype type = types[_i];
    const size_t size = ref_size(type);
    const int64_t n = 11700000 / (int64_t)size + 7, pitch = n + 3;
    const int64_t shape[] = {3, n}, strides[] = {pitch, 1};
    const int64_t sum[] = {3, 1}, one[] = {1, 1};
    char *data = malloc(3 * (size_t)pitch * size);
    _Alignas(8) char all[3 * 8];
    _Alignas(8) char alone[8];
    ck_assert(data != NULL);
    for (int64_t i = 0; i < 3 * pitch; i++)
        if (i < 4999)
            gradient_put(type, (double)support_random(-2000, 4000) / 7,
                         (double)support_random(-2000, 4000) / 7,
                         data + size * (size_t)i);
        else
            memcpy(data + size * (size_t)i, data + size * (size_t)(i - 4999),
                   size);
    const elementwise_tensor src = {data, type, 2, shape, strides};
    const elementwise_tensor dst = {all, type, 2, sum, NULL};
    for (int level = 0; level < EW_LEVELS && support_level(level); level++) {
        ew_cpu_tune(EW_TUNINGS - 1);
        ck_assert_int_eq(elementwise_sum_to(&src, -1, &dst, NULL),
                         ELEMENTWISE_OK);
        for (size_t r = 0; r < 3; r++) {
            elementwise_tensor x = {data + r * (size_t)pitch * size, type, 2,
                                    (int64_t[]){1, n}, NULL};
            elementwise_tensor y = {alone, type, 2, one, NULL};
            ck_assert_int_eq(elementwise_sum_to(&x, -1, &y, NULL),
                             ELEMENTWISE_OK);
            ck_assert_mem_eq(all + r * size, alone, size);
        }
    }
    free(data);
}
END_TEST

/* ---------------------------------------------------------------------
 * Large outputs
 */

/* Results of 16 MiB and more, which may be stored past the caches: rows of
   whole lines, of whole vectors of 16 bytes, long ones of neither. */
static const int64_t big_shapes[][2] = {
    {4200, 1024}, {4200, 1012}, {850, 5001}};

struct big {
    elementwise_op op;
    int64_t shape[2], y_shape[2];
    float *x, *y, *dout, *dx, *dy;
};

/* Rows from `row` on; the sums of columns only if these are all. */
static void run_rows(const struct big *l, int64_t row, int64_t rows, float *dx,
                     float *dy)
{
    const int64_t shape[] = {rows, l->shape[1]}, skipped = row * l->shape[1];
    const bool per_row = l->y_shape[1] == 1;
    const int64_t y_shape[] = {per_row ? rows : 1, l->y_shape[1]};
    const elementwise_tensor x = {l->x + skipped, ELEMENTWISE_F32, 2, shape,
                                  NULL};
    const elementwise_tensor y = {l->y + (per_row ? row : 0), ELEMENTWISE_F32,
                                  2, y_shape, NULL};
    elementwise_tensor dout = x, tx = x, ty = y;
    dout.data = l->dout + skipped;
    tx.data = dx;
    ty.data = dy;
    ck_assert_int_eq(elementwise_apply_grad(l->op, &x, &y, NULL, &dout, -1, &tx,
                                            dy ? &ty : NULL, NULL),
                     ELEMENTWISE_OK);
}

/* Row by row nothing is large. The sums of columns are those of the first run,
   which must be close to what they are. */
static void expect_rows(const struct big *l, float *dx, float *dy)
{
    int64_t cols = l->shape[1];
    bool per_row = l->y_shape[1] == 1;
    for (int64_t r = 0; r < l->shape[0]; r++)
        run_rows(l, r, 1, dx + r * cols, per_row ? dy + r : NULL);
    if (per_row)
        return;
    run_rows(l, 0, l->shape[0], l->dx, dy);
    for (int64_t c = 0; c < cols; c++) {
        double sum = 0, magnitude = 0;
        for (int64_t r = 0; r < l->shape[0]; r++) {
            double g = l->dout[r * cols + c];
            float term =
                (float)(l->op == ELEMENTWISE_ADD ? g : g * l->x[r * cols + c]);
            sum += term;
            magnitude += fabs((double)term);
        }
        ck_assert_double_le(fabs(sum - dy[c]), magnitude * 0x1p-24);
    }
}

/* At any address, in dout's place and at any level, the bits are the same. */
static void verify_big(struct big *l, float *dx, float *dy)
{
    size_t n = (size_t)(l->shape[0] * l->shape[1]);
    size_t sums = (size_t)(l->y_shape[0] * l->y_shape[1]);
    expect_rows(l, dx, dy);
    for (int level = 0; level <= ew_cpu_level(); level++)
        for (int place = 0; place < 4; place++) {
            static const int offset[] = {0, 1, 4};
            float *to = place < 3 ? l->dx + offset[place] : l->dout;
            float *kept = malloc(n * sizeof *kept);
            ck_assert_ptr_nonnull(kept);
            memcpy(kept, l->dout, n * sizeof *kept);
            support_level(level);
            run_rows(l, 0, l->shape[0], to, l->dy);
            ew_cpu_limit(EW_LEVELS);
            ck_assert_mem_eq(to, dx, n * sizeof *to);
            ck_assert_mem_eq(l->dy, dy, sums * sizeof *dy);
            memcpy(l->dout, kept, n * sizeof *kept);
            free(kept);
        }
}

START_TEST(large_outputs_are_those_of_their_rows)
{
    const int64_t *shape = big_shapes[_i / 4];
    bool per_row = _i % 2;
    struct big l = {
        .op = _i / 2 % 2 ? ELEMENTWISE_MUL : ELEMENTWISE_ADD,
        .shape = {shape[0], shape[1]},
        .y_shape = {per_row ? shape[0] : 1, per_row ? 1 : shape[1]}};
    size_t n = (size_t)(shape[0] * shape[1]) + 16;
    float *all[7];
    for (int k = 0; k < 7; k++) {
        all[k] = aligned_alloc(64, (n * sizeof **all + 63) / 64 * 64);
        ck_assert_ptr_nonnull(all[k]);
        for (size_t i = 0; i < n; i++)
            all[k][i] = (float)support_random(-99999, 99999) / 1024;
    }
    l.x = all[0], l.y = all[1], l.dout = all[2], l.dx = all[3], l.dy = all[4];
    verify_big(&l, all[5], all[6]);
    for (int k = 0; k < 7; k++)
        free(all[k]);
}
END_TEST

/* The gradient of mul on rows of f16 or bf16, which are more than 16 MiB all
   together and less in two parts. */
enum { HALF_ROWS = 4200, HALF_COLS = 2048, HALVES = HALF_ROWS * HALF_COLS };
struct halves {
    elementwise_dtype type;
    bool per_row;
    uint16_t *x, *y, *dout;
};

static void run_halves(const struct halves *h, int64_t row, int64_t rows,
                       uint16_t *dx, uint16_t *dy)
{
    const int64_t shape[] = {rows, HALF_COLS}, skipped = row * HALF_COLS;
    const int64_t y_shape[] = {h->per_row ? rows : 1,
                               h->per_row ? 1 : HALF_COLS};
    const int64_t y_skipped = h->per_row ? row : 0;
    const elementwise_tensor x = {h->x + skipped, h->type, 2, shape, NULL};
    const elementwise_tensor y = {h->y + y_skipped, h->type, 2, y_shape, NULL};
    elementwise_tensor dout = x, tx = x, ty = y;
    dout.data = h->dout + skipped;
    tx.data = dx + skipped;
    ty.data = dy + y_skipped;
    ck_assert_int_eq(elementwise_mul_grad(&x, &y, &dout, -1, &tx, &ty),
                     ELEMENTWISE_OK);
}

/* At any address, in dout's place and at any level, the bits are those of two
   parts; but sums over both parts those of the first level. */
static void verify_halves(struct halves *h, uint16_t *dx, uint16_t *parts)
{
    static const int offset[] = {0, 1, 8};
    uint16_t *kept = malloc(HALVES * sizeof *kept);
    uint16_t dy[HALF_ROWS], first[HALF_ROWS] = {0};
    size_t sums = (h->per_row ? HALF_ROWS : HALF_COLS) * sizeof *dy;
    ck_assert_ptr_nonnull(kept);
    memcpy(kept, h->dout, HALVES * sizeof *kept);
    run_halves(h, 0, HALF_ROWS / 2, parts, first);
    run_halves(h, HALF_ROWS / 2, HALF_ROWS / 2, parts, first);
    if (!h->per_row)
        run_halves(h, 0, HALF_ROWS, dx, first);
    for (int level = 0; level < EW_LEVELS && support_level(level); level++)
        for (int place = 0; place < 4; place++) {
            uint16_t *to = place < 3 ? dx + offset[place] : h->dout;
            run_halves(h, 0, HALF_ROWS, to, dy);
            ck_assert_mem_eq(to, parts, HALVES * sizeof *to);
            ck_assert_mem_eq(dy, first, sums);
            memcpy(h->dout, kept, HALVES * sizeof *kept);
        }
    free(kept);
}

START_TEST(large_halves_are_those_of_their_parts)
{
    uint16_t *all[5];
    for (int k = 0; k < 5; k++) {
        all[k] = aligned_alloc(64, (HALVES + 32) * sizeof **all);
        ck_assert_ptr_nonnull(all[k]);
        for (int i = 0; i < HALVES; i++)
            if (i < 5000)
                gradient_put(_i % 2 ? F16 : BF16, gradient_moderate(), 0,
                             all[k] + i);
            else
                all[k][i] = all[k][i - 4999];
    }
    struct halves h = {_i % 2 ? F16 : BF16, _i / 2, all[0], all[1], all[2]};
    verify_halves(&h, all[3], all[4]);
    for (int k = 0; k < 5; k++)
        free(all[k]);
}
END_TEST

static TCase *sums(void)
{
    TCase *tests = support_case("sums");
    tcase_add_loop_test(tests, every_tail_of_a_vector_is_summed, 0,
                        8 * GRADIENT_FLOATS);
    tcase_add_loop_test(tests, sum_to_is_the_references_in_every_layout, 0,
                        GRADIENT_FLOATS);
    tcase_add_loop_test(tests,
                        errors_of_sums_do_not_grow_with_the_number_of_terms, 0,
                        2 * LARGES);
    tcase_add_loop_test(
        tests, short_rows_are_summed_without_what_is_beside_them, 0, 4);
    tcase_add_loop_test(tests, column_sums_do_not_depend_on_what_is_asked_for,
                        0, 16);
    tcase_add_loop_test(
        tests, sums_of_rows_do_not_depend_on_how_many_are_read_at_once, 0, 3);
    tcase_add_loop_test(tests, five_thousand_sums_are_kept_apart, 0,
                        GRADIENT_FLOATS);
    tcase_add_loop_test(tests, many_short_rows_are_summed, 0, GRADIENT_FLOATS);
    tcase_add_loop_test(tests, turned_operands_have_the_references_gradients, 0,
                        GRADIENT_PAIRS);
    tcase_add_loop_test(tests, short_loops_have_the_references_gradients, 0,
                        GRADIENT_PAIRS);
    tcase_add_loop_test(tests, many_short_loops_have_the_references_gradients,
                        0, GRADIENT_PAIRS);
    return tests;
}

static TCase *large_outputs(void)
{
    TCase *tests = support_case("large outputs");
    tcase_add_loop_test(tests, large_outputs_are_those_of_their_rows, 0, 12);
    tcase_add_loop_test(tests, large_halves_are_those_of_their_parts, 0, 4);
    return tests;
}

int main(void)
{
    TCase *const cases[] = {sums(), large_outputs(), NULL};
    return support_run("walk", cases);
}
