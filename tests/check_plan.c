/*
 * Turns layouts into plans and looks at the loops: for layouts made by hand
 * they are known, for random ones they must pair the same addresses as the
 * definition does, index by index. Then plans are run: anew, at once from
 * several threads, and on data that a run has to refuse.
 */
#define _DEFAULT_SOURCE /* RLIMIT_AS */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cpu.h"
#include "elementwise.h"
#include "plan.h"
#include "support.h"

enum { DIMS = 7 };

struct shape {
    int ndim;
    int64_t shape[DIMS], strides[DIMS];
    bool strided;
};

#define DENSE(...) {__VA_ARGS__}, {0}, false
#define STRIDES(...) {__VA_ARGS__}, true

static elementwise_tensor tensor(const struct shape *s, elementwise_dtype dtype)
{
    return (elementwise_tensor){NULL, dtype, s->ndim, s->shape,
                                s->strided ? s->strides : NULL};
}

/* i32 for all three; loops innermost first, with the strides of x, y, out. */
static const struct {
    const char *name;
    struct shape x, y, out;
    int axis, loops;
    struct {
        int64_t n, x, y, out;
    } loop[5];
    int64_t offset[3];
} layouts[] = {
    {"dense tensors are one loop",
     {3, DENSE(2, 3, 4)},
     {3, DENSE(2, 3, 4)},
     {3, DENSE(2, 3, 4)},
     -1,
     1,
     {{24, 4, 4, 4}},
     {0}},
    {"scalars need no loop",
     {0, DENSE(0)},
     {0, DENSE(0)},
     {0, DENSE(0)},
     0,
     0,
     {{0}},
     {0}},
    {"extents of 1 are dropped",
     {4, DENSE(1, 1, 5, 1)},
     {1, DENSE(1)},
     {4, DENSE(1, 1, 5, 1)},
     -1,
     1,
     {{5, 4, 0, 4}},
     {0}},
    {"extents of 1 are dropped whatever their strides",
     {3, {1, 5, 1}, STRIDES(77, 1, -9)},
     {1, DENSE(1)},
     {3, {1, 5, 1}, STRIDES(0, 1, 0)},
     -1,
     1,
     {{5, 4, 0, 4}},
     {0}},
    {"a row over a matrix",
     {3, DENSE(2, 3, 4)},
     {1, DENSE(4)},
     {3, DENSE(2, 3, 4)},
     -1,
     2,
     {{4, 4, 4, 4}, {6, 16, 0, 16}},
     {0}},
    {"a channel under axis 1",
     {3, DENSE(2, 3, 4)},
     {1, DENSE(3)},
     {3, DENSE(2, 3, 4)},
     1,
     3,
     {{4, 4, 0, 4}, {3, 16, 4, 16}, {2, 48, 0, 48}},
     {0}},
    {"a scalar is stretched in one loop",
     {3, DENSE(2, 3, 4)},
     {0, DENSE(0)},
     {3, DENSE(2, 3, 4)},
     0,
     1,
     {{24, 4, 0, 4}},
     {0}},
    {"both are stretched",
     {3, DENSE(2, 1, 4)},
     {2, DENSE(3, 1)},
     {3, DENSE(2, 3, 4)},
     1,
     3,
     {{4, 4, 0, 4}, {3, 0, 4, 16}, {2, 16, 0, 48}},
     {0}},
    {"x is the one that is placed",
     {1, DENSE(2)},
     {3, DENSE(2, 3, 4)},
     {3, DENSE(2, 3, 4)},
     0,
     2,
     {{12, 0, 4, 4}, {2, 4, 48, 48}},
     {0}},
    {"neighbours with y in both are merged",
     {4, DENSE(2, 3, 4, 5)},
     {2, DENSE(3, 4)},
     {4, DENSE(2, 3, 4, 5)},
     1,
     3,
     {{5, 4, 0, 4}, {12, 20, 4, 20}, {2, 240, 0, 240}},
     {0}},
    {"a stretched dimension is not merged with a dense one",
     {2, DENSE(2, 3)},
     {2, DENSE(2, 1)},
     {2, DENSE(2, 3)},
     -1,
     2,
     {{3, 4, 0, 4}, {2, 12, 4, 12}},
     {0}},
    {"stretched dimensions at rank 7 stand apart",
     {7, DENSE(2, 1, 1, 1, 1, 4, 4)},
     {7, DENSE(2, 3, 1, 1, 1, 4, 4)},
     {7, DENSE(2, 3, 1, 1, 1, 4, 4)},
     -1,
     3,
     {{16, 4, 4, 4}, {3, 0, 64, 64}, {2, 64, 192, 192}},
     {0}},
    {"gaps between rows keep rows apart",
     {2, {3, 4}, STRIDES(8, 1)},
     {2, DENSE(3, 4)},
     {2, DENSE(3, 4)},
     -1,
     2,
     {{4, 4, 4, 4}, {3, 32, 16, 16}},
     {0}},
    {"every second element is one loop",
     {2, {3, 4}, STRIDES(8, 2)},
     {2, DENSE(3, 4)},
     {2, {3, 4}, STRIDES(8, 2)},
     -1,
     1,
     {{12, 8, 4, 8}},
     {0}},
    {"out backwards is walked forwards",
     {1, DENSE(4)},
     {0, DENSE(0)},
     {1, {4}, STRIDES(-1)},
     0,
     1,
     {{4, -4, 0, 4}},
     {12, 0, -12}},
    {"all backwards is one loop",
     {2, {3, 4}, STRIDES(-4, -1)},
     {2, {3, 4}, STRIDES(-4, -1)},
     {2, {3, 4}, STRIDES(-4, -1)},
     -1,
     1,
     {{12, 4, 4, 4}},
     {-44, -44, -44}},
    {"only out's backward dimension is flipped",
     {2, {3, 4}, STRIDES(-4, -1)},
     {2, DENSE(3, 4)},
     {2, {3, 4}, STRIDES(-4, 1)},
     -1,
     2,
     {{4, -4, 4, 4}, {3, 16, -16, 16}},
     {-32, 32, -32}},
    {"a permuted out decides the order",
     {2, DENSE(2, 3)},
     {2, DENSE(2, 3)},
     {2, {2, 3}, STRIDES(1, 2)},
     -1,
     2,
     {{2, 12, 12, 4}, {3, 4, 4, 8}},
     {0}},
    {"all permuted alike are one loop",
     {3, {2, 3, 4}, STRIDES(1, 8, 2)},
     {3, {2, 3, 4}, STRIDES(1, 8, 2)},
     {3, {2, 3, 4}, STRIDES(1, 8, 2)},
     -1,
     1,
     {{24, 4, 4, 4}},
     {0}},
    {"a permuted and backward out",
     {2, DENSE(2, 3)},
     {1, DENSE(3)},
     {2, {2, 3}, STRIDES(-1, 2)},
     -1,
     2,
     {{2, -12, 0, 4}, {3, 4, 4, 8}},
     {12, 0, -4}},
    {"a view with strides of 0 is merged where all fit",
     {2, {3, 4}, STRIDES(0, 0)},
     {2, DENSE(3, 4)},
     {2, DENSE(3, 4)},
     -1,
     1,
     {{12, 0, 4, 4}},
     {0}},
    {"no elements, no loop",
     {2, DENSE(0, 3)},
     {1, DENSE(3)},
     {2, {0, 3}, STRIDES(0, INT64_MIN)},
     -1,
     0,
     {{0}},
     {0}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

START_TEST(layouts_give_the_shortest_nest)
{
    elementwise_tensor x = tensor(&layouts[_i].x, ELEMENTWISE_I32);
    elementwise_tensor y = tensor(&layouts[_i].y, ELEMENTWISE_I32);
    elementwise_tensor out = tensor(&layouts[_i].out, ELEMENTWISE_I32);
    struct elementwise_plan p;
    elementwise_status status =
        ew_plan_make(&p, ELEMENTWISE_ADD, &x, &y, layouts[_i].axis, &out);
    const char *name = layouts[_i].name;
    ck_assert_msg(!status, "%s: %s", name, elementwise_last_error());
    ck_assert_msg(p.ndim == layouts[_i].loops, "%s: %d loops", name, p.ndim);
    for (int k = 0; k < p.ndim; k++) {
        const struct ew_loop *l = &p.loop[k];
        ck_assert_msg(l->n == layouts[_i].loop[k].n &&
                          l->stride[EW_X] == layouts[_i].loop[k].x &&
                          l->stride[EW_Y] == layouts[_i].loop[k].y &&
                          l->stride[EW_OUT] == layouts[_i].loop[k].out,
                      "%s: loop %d is %d: %d %d %d", name, k, (int)l->n,
                      (int)l->stride[0], (int)l->stride[1], (int)l->stride[2]);
    }
    for (int k = 0; k < 3; k++)
        ck_assert_msg(p.offset[k] == layouts[_i].offset[k],
                      "%s: operand %d starts at %d", name, k, (int)p.offset[k]);
}
END_TEST

/* Elements of one type may be wider than the other's, so strides in bytes
   differ where strides in elements agree. */
START_TEST(strides_are_counted_in_bytes_of_each_type)
{
    struct shape s = {2, DENSE(3, 4)};
    elementwise_tensor x = tensor(&s, ELEMENTWISE_I8);
    elementwise_tensor y = tensor(&s, ELEMENTWISE_C128);
    elementwise_tensor out = tensor(&s, ELEMENTWISE_BOOL);
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_EQUAL, &x, &y, -1, &out), 0);
    ck_assert_int_eq(p.ndim, 1);
    ck_assert_int_eq(p.loop[0].stride[EW_X], 1);
    ck_assert_int_eq(p.loop[0].stride[EW_Y], 16);
    ck_assert_int_eq(p.loop[0].stride[EW_OUT], 1);
}
END_TEST

/* Which steps a pass has, by the types of x, y and out. */
static const struct {
    elementwise_op op;
    elementwise_dtype x, y, out;
    bool load_x, load_y, round, store;
    unsigned size, result_size; /* of what op writes, and of what round does */
} passes[] = {
    {ELEMENTWISE_ADD, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32, false,
     false, false, false, 4, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F16, false,
     false, false, true, 4, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_I8, ELEMENTWISE_F64, ELEMENTWISE_C64, true,
     false, false, true, 8, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F16, ELEMENTWISE_F16, ELEMENTWISE_F16, false,
     false, false, false, 2, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F16, ELEMENTWISE_I8, ELEMENTWISE_F16, true,
     true, false, true, 4, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_BF16, ELEMENTWISE_BF16, ELEMENTWISE_F64,
     false, false, false, true, 2, 0},
    {ELEMENTWISE_MIN, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32, false,
     false, false, false, 4, 0},
    {ELEMENTWISE_ATAN2, ELEMENTWISE_F16, ELEMENTWISE_F16, ELEMENTWISE_F16,
     false, false, false, false, 2, 0},
    {ELEMENTWISE_ATAN2, ELEMENTWISE_F16, ELEMENTWISE_F16, ELEMENTWISE_F32,
     false, false, false, true, 2, 0},
    {ELEMENTWISE_ATAN2, ELEMENTWISE_F16, ELEMENTWISE_I8, ELEMENTWISE_F32, true,
     true, true, true, 4, 2},
    {ELEMENTWISE_ATAN2, ELEMENTWISE_BF16, ELEMENTWISE_BOOL, ELEMENTWISE_F64,
     true, true, true, true, 4, 2},
    {ELEMENTWISE_NEXTAFTER, ELEMENTWISE_F16, ELEMENTWISE_F16, ELEMENTWISE_F32,
     false, false, false, true, 2, 0},
    {ELEMENTWISE_COPYSIGN, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32,
     false, false, false, false, 4, 0},
    {ELEMENTWISE_COPYSIGN, ELEMENTWISE_F16, ELEMENTWISE_F16, ELEMENTWISE_F16,
     false, false, false, false, 2, 0},
    {ELEMENTWISE_EQUAL, ELEMENTWISE_F16, ELEMENTWISE_F32, ELEMENTWISE_BOOL,
     true, false, false, false, 1, 0},
    {ELEMENTWISE_LOGICAL_OR, ELEMENTWISE_F32, ELEMENTWISE_BOOL,
     ELEMENTWISE_BOOL, true, false, false, false, 1, 0},
    {ELEMENTWISE_LESS_THAN, ELEMENTWISE_I8, ELEMENTWISE_U64, ELEMENTWISE_BOOL,
     true, false, false, false, 1, 0},
};
enum { PASSES = sizeof passes / sizeof *passes };

START_TEST(a_pass_has_the_steps_that_its_types_need)
{
    struct shape s = {1, DENSE(4)};
    elementwise_tensor x = tensor(&s, passes[_i].x),
                       y = tensor(&s, passes[_i].y);
    elementwise_tensor out = tensor(&s, passes[_i].out);
    struct elementwise_plan p;
    memset(&p, 0xA5, sizeof p);
    ck_assert_int_eq(ew_plan_make(&p, passes[_i].op, &x, &y, -1, &out), 0);
    ck_assert_ptr_null(p.gradient);
    ck_assert_ptr_nonnull(p.pass.op);
    bool small = passes[_i].size <= 2, wide = p.level >= EW_LEVEL_AVX512;
    bool waits = passes[_i].op <= ELEMENTWISE_MIN ||
                 passes[_i].op == ELEMENTWISE_COPYSIGN ||
                 passes[_i].op == ELEMENTWISE_LOGICAL_OR;
    bool slow = passes[_i].op == ELEMENTWISE_DIV ||
                passes[_i].op == ELEMENTWISE_COPYSIGN;
    ck_assert_int_eq(p.pass.past != NULL, waits && (!small || (wide && !slow)));
    ck_assert_int_eq(p.pass.load[EW_X] != NULL, passes[_i].load_x);
    ck_assert_int_eq(p.pass.load[EW_Y] != NULL, passes[_i].load_y);
    ck_assert_int_eq(p.pass.round != NULL, passes[_i].round);
    ck_assert_int_eq(p.pass.store != NULL, passes[_i].store);
    ck_assert_uint_eq(p.pass.size[EW_OUT], passes[_i].size);
    ck_assert_uint_eq(p.pass.result_size, passes[_i].result_size);
}
END_TEST

/* A random call: the result's extents, and for each operand how it walks
   them. Extents that an operand stretches are 1 in its own shape. */
struct call {
    int ndim, axis;
    int64_t extent[DIMS];
    int64_t step[3][DIMS]; /* in elements; 0 where stretched */
    int64_t shape[3][DIMS], strides[3][DIMS];
    elementwise_tensor t[3];
};

static void permute(struct call *c, int64_t *strides)
{
    int order[DIMS];
    for (int i = 0; i < c->ndim; i++) {
        int j = (int)support_random(0, i);
        order[i] = order[j];
        order[j] = i;
    }
    int64_t step = support_random(1, 2);
    for (int i = 0; i < c->ndim; i++) {
        strides[order[i]] = support_random(0, 2) ? step : -step;
        step *= c->extent[order[i]];
    }
}

/* Gives operand k the dimensions first ... last - 1 of the result. */
static void place(struct call *c, int k, int first, int last)
{
    for (int dim = 0; dim < c->ndim; dim++) {
        bool covered = dim >= first && dim < last;
        bool stretched = k != EW_OUT && support_random(0, 3) == 0;
        if (!covered || stretched)
            c->step[k][dim] = 0;
        if (covered) {
            c->shape[k][dim - first] = stretched ? 1 : c->extent[dim];
            c->strides[k][dim - first] =
                stretched ? support_random(-9, 9) : c->step[k][dim];
        }
    }
    c->t[k] = (elementwise_tensor){NULL, ELEMENTWISE_I32, last - first,
                                   c->shape[k], c->strides[k]};
}

/* Extents where both are 1 have to be 1 in the result, too. */
static void settle(struct call *c, int first)
{
    for (int dim = 0; dim < c->ndim; dim++) {
        int own = dim - first;
        bool y_has = own >= 0 && own < c->t[EW_Y].ndim;
        if (c->shape[EW_X][dim] == 1 && (!y_has || c->shape[EW_Y][own] == 1))
            c->extent[dim] = c->shape[EW_OUT][dim] = 1;
    }
}

static void make_call(struct call *c)
{
    *c = (struct call){.ndim = (int)support_random(0, 5)};
    int rank_y = (int)support_random(0, c->ndim);
    int first = (int)support_random(0, c->ndim - rank_y);
    for (int dim = 0; dim < c->ndim; dim++)
        c->extent[dim] = support_random(1, 4);
    for (int k = 0; k < 3; k++)
        permute(c, c->step[k]);
    place(c, EW_X, 0, c->ndim);
    place(c, EW_Y, first, first + rank_y);
    place(c, EW_OUT, 0, c->ndim);
    settle(c, first);
    bool right = first + rank_y == c->ndim;
    c->axis = right && support_random(0, 1) ? ELEMENTWISE_NUMPY : first;
}

struct triple {
    int64_t at[3];
};

enum { MOST = 4 * 4 * 4 * 4 * 4 };

static int by_output(const void *a, const void *b)
{
    int64_t left = ((const struct triple *)a)->at[EW_OUT];
    int64_t right = ((const struct triple *)b)->at[EW_OUT];
    return (left > right) - (left < right);
}

static int walk_definition(const struct call *c, struct triple *list)
{
    int n = 1;
    for (int dim = 0; dim < c->ndim; dim++)
        n *= (int)c->extent[dim];
    for (int i = 0; i < n; i++) {
        int rest = i;
        list[i] = (struct triple){{0}};
        for (int dim = c->ndim - 1; dim >= 0; dim--) {
            int64_t index = rest % c->extent[dim];
            rest /= (int)c->extent[dim];
            for (int k = 0; k < 3; k++)
                list[i].at[k] += 4 * index * c->step[k][dim];
        }
    }
    return n;
}

static int walk_plan(const struct elementwise_plan *p, struct triple *list)
{
    int n = 1;
    for (int k = 0; k < p->ndim; k++)
        n *= (int)p->loop[k].n;
    for (int i = 0; i < n && n <= MOST; i++) {
        int rest = i;
        memcpy(list[i].at, p->offset, sizeof p->offset);
        for (int k = 0; k < p->ndim; k++) {
            int64_t index = rest % p->loop[k].n;
            rest /= (int)p->loop[k].n;
            for (int o = 0; o < 3; o++)
                list[i].at[o] += index * p->loop[k].stride[o];
        }
    }
    return n;
}

/* Loops that could be one, or run backwards through out, are a loss. Out of
   out's order are only the second, where it was brought near for an input that
   is transposed, the third, for one that is kept there, and the first, along
   which inputs are dense, where out has gaps in all of them. */
static bool is_normal(const struct elementwise_plan *p)
{
    int64_t inside = 0;
    for (int i = 0; i < p->ndim; i++) {
        const struct ew_loop *l = &p->loop[i];
        bool merges = i > 0;
        for (int k = 0; k < 3 && i > 0; k++)
            merges = merges && l->stride[k] == l[-1].n * l[-1].stride[k];
        bool brought = (i == 1 && p->pass.turn) ||
                       (i == 2 && p->pass.again == 2) ||
                       (i == 0 && l->stride[EW_OUT] > p->pass.stored[EW_OUT]);
        if (l->n < 2 || l->stride[EW_OUT] <= 0 || merges ||
            (!brought && l->stride[EW_OUT] < inside))
            return false;
        inside = brought ? inside : l->stride[EW_OUT];
    }
    return true;
}

static void check_reach(const struct elementwise_plan *p,
                        const struct triple *list, int n)
{
    for (int k = 0; k < 3; k++) {
        int64_t low = INT64_MAX, high = INT64_MIN;
        for (int i = 0; i < n; i++) {
            int64_t at = list[i].at[k] - p->offset[k];
            low = at < low ? at : low;
            high = at + 3 > high ? at + 3 : high;
        }
        ck_assert_int_eq(p->range[k].first, low);
        ck_assert_int_eq(p->range[k].last, high);
    }
}

START_TEST(loops_pair_the_addresses_of_the_definition)
{
    static struct triple expected[MOST], found[MOST];
    struct elementwise_plan p;
    struct call c;
    int rounds = support_long() ? 200000 : 5000;
    for (int round = 0; round < rounds; round++) {
        make_call(&c);
        elementwise_status status = ew_plan_make(&p, ELEMENTWISE_ADD, &c.t[0],
                                                 &c.t[1], c.axis, &c.t[2]);
        ck_assert_msg(!status, "round %d: %s", round, elementwise_last_error());
        int n = walk_definition(&c, expected);
        ck_assert_int_eq(walk_plan(&p, found), n);
        qsort(expected, (size_t)n, sizeof *expected, by_output);
        qsort(found, (size_t)n, sizeof *found, by_output);
        ck_assert_mem_eq(found, expected, (size_t)n * sizeof *found);
        ck_assert_msg(is_normal(&p), "round %d", round);
        check_reach(&p, found, n);
    }
}
END_TEST

/* The product of extents and strides comes close to the end of int64 on both
   sides; whatever the answer, no step of the way may overflow. */
START_TEST(layouts_as_large_as_can_be_are_planned)
{
    int64_t half = (int64_t)1 << 62, shape[] = {2, 2}, row[] = {2};
    int64_t strides[][2] = {{1, half},  {half, 1},  {0, half},
                            {-half, 1}, {1, -half}, {half, half / 2}};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        elementwise_tensor wide = {NULL, ELEMENTWISE_U8, 2, shape, strides[i]};
        elementwise_tensor line = {NULL, ELEMENTWISE_U8, 1, row, NULL};
        elementwise_tensor out = {NULL, ELEMENTWISE_U8, 2, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_ADD, &wide, &line, -1, &out), 0);
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_DIV, &line, &wide, -1, &out), 0);
        ck_assert_int_eq(
            ew_plan_make(&p, ELEMENTWISE_ADD, &wide, &wide, -1, &out), 0);
    }
}
END_TEST

/* The extent of a column times its stride is beyond int64, the way to its last
   element is not. */
START_TEST(columns_as_long_as_can_be_are_planned)
{
    int64_t shape[] = {100, 64}, one[] = {1, 1}, turned[] = {1, 100};
    int64_t far[] = {(INT64_MAX - 200) / 2 / 99, 1};
    elementwise_tensor x = {NULL, ELEMENTWISE_F16, 2, shape, far};
    elementwise_tensor y = {NULL, ELEMENTWISE_F16, 2, one, NULL};
    elementwise_tensor out = {NULL, ELEMENTWISE_BOOL, 2, shape, turned};
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_LESS_THAN, &x, &y, -1, &out),
                     0);
}
END_TEST

/* So many rows that their bytes in x, of which all are one, would be more. */
START_TEST(rows_as_many_as_can_be_are_planned)
{
    int64_t shape[] = {(int64_t)1 << 60, 4}, many[] = {(int64_t)1 << 60, 1};
    int64_t row[] = {4}, gaps[] = {2};
    elementwise_tensor x = {NULL, ELEMENTWISE_F64, 1, row, gaps};
    elementwise_tensor y = {NULL, ELEMENTWISE_BOOL, 2, many, NULL};
    elementwise_tensor out = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_EQUAL, &y, &x, -1, &out), 0);
}
END_TEST

/* So many columns beside what is turned that their bytes as they are computed
   would be more. */
START_TEST(turned_rows_as_long_as_can_be_are_planned)
{
    int64_t shape[] = {4, ((int64_t)1 << 60) + 1}, turned[] = {1, 4};
    int64_t one[] = {1};
    elementwise_tensor x = {NULL, ELEMENTWISE_U8, 2, shape, turned};
    elementwise_tensor y = {NULL, ELEMENTWISE_F64, 1, one, NULL};
    elementwise_tensor out = {NULL, ELEMENTWISE_BOOL, 2, shape, NULL};
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_LESS_THAN, &x, &y, -1, &out),
                     0);
}
END_TEST

START_TEST(out_may_be_an_input_only_of_its_layout)
{
    struct shape s = {2, DENSE(3, 4)}, back = {2, {3, 4}, STRIDES(-4, -1)};
    elementwise_tensor x = tensor(&s, ELEMENTWISE_I32), out = x;
    elementwise_tensor y = tensor(&back, ELEMENTWISE_I32);
    struct elementwise_plan p;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &x, &y, -1, &out), 0);
    ck_assert(p.in_place[EW_X]);
    ck_assert(!p.in_place[EW_Y]);
    out.dtype = ELEMENTWISE_U32;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &x, &y, -1, &out),
                     ELEMENTWISE_BAD_DTYPE);
    out.dtype = ELEMENTWISE_F32;
    ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &x, &y, -1, &out), 0);
    ck_assert(!p.in_place[EW_X]);
}
END_TEST

START_TEST(merging_takes_nests_of_any_length)
{
    struct ew_loop loop[3] = {{.n = 2, .stride = {4, 0, 4}},
                              {.n = 3, .stride = {8, 0, 8}},
                              {.n = 5, .stride = {24, 1, 24}}};
    ck_assert_int_eq(ew_plan_merge(loop, 0, 3), 0);
    ck_assert_int_eq(ew_plan_merge(loop, 1, 3), 1);
    ck_assert_int_eq(ew_plan_merge(loop, 3, 3), 2);
    ck_assert_int_eq(loop[0].n, 6);
    ck_assert_int_eq(loop[1].n, 5);
    ck_assert_int_eq(loop[1].stride[EW_Y], 1);
}
END_TEST

/* Plans that are run: out = x - y, x (3,4), y (3) under axis 0. */
enum { ROWS = 3, COLS = 4, CELLS = ROWS * COLS };

static elementwise_plan *subtraction(void)
{
    int64_t shape[] = {ROWS, COLS}, rows[] = {ROWS}, strides[] = {1, ROWS};
    elementwise_tensor x = {NULL, ELEMENTWISE_I32, 2, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I32, 1, rows, NULL};
    elementwise_tensor out = {NULL, ELEMENTWISE_I32, 2, shape, strides};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    elementwise_plan *plan = NULL;
    ck_assert_int_eq(elementwise_plan_create(&plan, ELEMENTWISE_SUB, &x, &y, 0,
                                             &out, &options),
                     ELEMENTWISE_OK);
    /* What the plan was made from is overwritten before it goes away. */
    memset(shape, 0xff, sizeof shape);
    memset(rows, 0xff, sizeof rows);
    memset(strides, 0xff, sizeof strides);
    memset(&x, 0xff, sizeof x);
    memset(&y, 0xff, sizeof y);
    memset(&out, 0xff, sizeof out);
    memset(&options, 0xff, sizeof options);
    return plan;
}

static bool run_correctly(const elementwise_plan *plan, int32_t seed)
{
    int32_t x[CELLS], y[ROWS], out[CELLS];
    for (int i = 0; i < CELLS; i++)
        x[i] = seed * 31 + i * i;
    for (int i = 0; i < ROWS; i++)
        y[i] = seed + 7 * i;
    if (elementwise_plan_run(plan, x, y, out))
        return false;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            if (out[c * ROWS + r] != x[r * COLS + c] - y[r])
                return false;
    return true;
}

START_TEST(a_plan_outlives_what_it_was_made_from)
{
    elementwise_plan *plan = subtraction();
    for (int seed = 0; seed < 100; seed++)
        ck_assert(run_correctly(plan, seed));
    elementwise_plan_destroy(plan);
}
END_TEST

struct worker {
    pthread_t thread;
    const elementwise_plan *plan;
    int first;
    bool correct;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    w->correct = true;
    for (int i = 0; i < 20000; i++)
        w->correct &= run_correctly(w->plan, w->first + i);
    return NULL;
}

START_TEST(one_plan_runs_in_many_threads)
{
    enum { WORKERS = 8 };
    struct worker workers[WORKERS];
    elementwise_plan *plan = subtraction();
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.plan = plan, .first = 100000 * i};
        ck_assert_int_eq(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert(workers[i].correct);
    }
    elementwise_plan_destroy(plan);
}
END_TEST

/* Each way to go wrong, out unchanged; then the plan still works. */
START_TEST(a_run_checks_its_data_anew)
{
    int32_t x[CELLS + 1] = {1}, y[ROWS + 1] = {2}, out[CELLS + 1] = {3};
    int32_t before[CELLS + 1] = {3};
    elementwise_plan *plan = subtraction();
    const struct {
        const void *x, *y;
        void *out;
        elementwise_status status;
        const char *says;
    } runs[] = {
        {NULL, y, out, ELEMENTWISE_INVALID, "data of x is NULL"},
        {x, NULL, out, ELEMENTWISE_INVALID, "data of y is NULL"},
        {x, y, NULL, ELEMENTWISE_INVALID, "data of out is NULL"},
        {(char *)x + 1, y, out, ELEMENTWISE_MISALIGNED, "data of x"},
        {x, (char *)y + 2, out, ELEMENTWISE_MISALIGNED, "data of y"},
        {x, y, (char *)out + 3, ELEMENTWISE_MISALIGNED, "data of out"},
        {out, y, out, ELEMENTWISE_OVERLAP, "of x"},
        {x, out + CELLS - 1, out, ELEMENTWISE_OVERLAP, "of y"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        errno = 4321;
        ck_assert_int_eq(
            elementwise_plan_run(plan, runs[i].x, runs[i].y, runs[i].out),
            runs[i].status);
        ck_assert_msg(strstr(elementwise_last_error(), runs[i].says), "%s",
                      elementwise_last_error());
        ck_assert_int_eq(errno, 4321);
        ck_assert_mem_eq(out, before, sizeof out);
    }
    ck_assert(run_correctly(plan, 5));
    elementwise_plan_destroy(plan);
}
END_TEST

/* Backward operands start elsewhere than at their data; NULL is found
   before anything is added to it. */
START_TEST(null_data_is_refused_where_out_runs_backwards)
{
    int64_t shape[] = {4}, back[] = {-1};
    int32_t numbers[8] = {0};
    elementwise_tensor x = {NULL, ELEMENTWISE_I32, 1, shape, NULL};
    elementwise_tensor out = {NULL, ELEMENTWISE_I32, 1, shape, back};
    elementwise_plan *plan;
    ck_assert_int_eq(
        elementwise_plan_create(&plan, ELEMENTWISE_ADD, &x, &x, 0, &out, NULL),
        ELEMENTWISE_OK);
    void *const good = numbers + 4;
    ck_assert_int_eq(elementwise_plan_run(plan, NULL, numbers, good),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_plan_run(plan, numbers, NULL, good),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_plan_run(plan, numbers, numbers, NULL),
                     ELEMENTWISE_INVALID);
    elementwise_plan_destroy(plan);
}
END_TEST

START_TEST(what_has_no_elements_needs_no_data)
{
    int64_t shape[] = {3, 0}, column[] = {3, 1};
    elementwise_tensor x = {NULL, ELEMENTWISE_I32, 2, column, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I32, 2, shape, NULL};
    elementwise_plan *plan;
    ck_assert_int_eq(
        elementwise_plan_create(&plan, ELEMENTWISE_DIV, &x, &y, -1, &y, NULL),
        ELEMENTWISE_OK);
    int32_t three[] = {1, 2, 3};
    ck_assert_int_eq(elementwise_plan_run(plan, three, NULL, NULL), 0);
    ck_assert_int_eq(elementwise_plan_run(plan, three, (char *)3, &plan), 0);
    ck_assert_int_eq(elementwise_plan_run(plan, NULL, NULL, NULL),
                     ELEMENTWISE_INVALID);
    elementwise_plan_destroy(plan);
}
END_TEST

START_TEST(a_failed_creation_leaves_null)
{
    struct shape s = {1, DENSE(4)}, other = {1, DENSE(3)};
    elementwise_tensor x = tensor(&s, ELEMENTWISE_I32);
    elementwise_tensor y = tensor(&other, ELEMENTWISE_I32);
    elementwise_plan *plan = (elementwise_plan *)&x;
    ck_assert_int_eq(
        elementwise_plan_create(&plan, ELEMENTWISE_ADD, &x, &y, -1, &x, NULL),
        ELEMENTWISE_BAD_SHAPE);
    ck_assert_ptr_null(plan);
}
END_TEST

START_TEST(destroying_nothing_is_fine)
{
    elementwise_plan_destroy(NULL);
    ck_assert_uint_eq(elementwise_plan_describe(NULL, NULL, 0), 0);
    ck_assert_int_eq(elementwise_plan_run(NULL, NULL, NULL, NULL),
                     ELEMENTWISE_INVALID);
    ck_assert_str_eq(elementwise_last_error(), "plan_run: plan is NULL");
}
END_TEST

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifndef HAS_ASAN
/* A list of all the blocks that are left when the address space may not
   grow any further. */
struct hoard {
    struct hoard *next;
};

static struct hoard *take_all_memory(void)
{
    struct hoard *all = NULL, *more;
    for (size_t size = 1 << 16; size >= 512; size /= 2)
        while ((more = malloc(size))) {
            more->next = all;
            all = more;
        }
    return all;
}

static void give_back(struct hoard *all)
{
    while (all) {
        struct hoard *next = all->next;
        free(all);
        all = next;
    }
}

/* The sanitizer's allocator ends the program instead of returning NULL. */
START_TEST(a_plan_without_memory_is_no_memory)
{
    struct shape s = {1, DENSE(4)};
    elementwise_tensor t = tensor(&s, ELEMENTWISE_I32);
    elementwise_plan *plan = (elementwise_plan *)&t;
    struct rlimit usual, none;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &usual), 0);
    none = (struct rlimit){4096, usual.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    struct hoard *all = take_all_memory();
    errno = 4321;
    elementwise_status status =
        elementwise_plan_create(&plan, ELEMENTWISE_ADD, &t, &t, 0, &t, NULL);
    int error = errno;
    give_back(all);
    setrlimit(RLIMIT_AS, &usual);
    ck_assert_int_eq(status, ELEMENTWISE_NO_MEMORY);
    ck_assert_ptr_null(plan);
    ck_assert(strstr(elementwise_last_error(), "no memory"));
    ck_assert_int_eq(error, 4321);
}
END_TEST
#endif

int main(void)
{
    TCase *loops = support_case("loops");
    TCase *runs = support_case("runs");
    tcase_add_loop_test(loops, layouts_give_the_shortest_nest, 0, LAYOUTS);
    tcase_add_test(loops, strides_are_counted_in_bytes_of_each_type);
    tcase_add_loop_test(loops, a_pass_has_the_steps_that_its_types_need, 0,
                        PASSES);
    tcase_add_test(loops, loops_pair_the_addresses_of_the_definition);
    tcase_add_test(loops, layouts_as_large_as_can_be_are_planned);
    tcase_add_test(loops, columns_as_long_as_can_be_are_planned);
    tcase_add_test(loops, rows_as_many_as_can_be_are_planned);
    tcase_add_test(loops, turned_rows_as_long_as_can_be_are_planned);
    tcase_add_test(loops, out_may_be_an_input_only_of_its_layout);
    tcase_add_test(loops, merging_takes_nests_of_any_length);
    tcase_add_test(runs, a_plan_outlives_what_it_was_made_from);
    tcase_add_test(runs, one_plan_runs_in_many_threads);
    tcase_add_test(runs, a_run_checks_its_data_anew);
    tcase_add_test(runs, null_data_is_refused_where_out_runs_backwards);
    tcase_add_test(runs, what_has_no_elements_needs_no_data);
    tcase_add_test(runs, a_failed_creation_leaves_null);
    tcase_add_test(runs, destroying_nothing_is_fine);
#ifndef HAS_ASAN
    tcase_add_test(runs, a_plan_without_memory_is_no_memory);
#endif
    TCase *const cases[] = {loops, runs, NULL};
    return support_run("plan", cases);
}
