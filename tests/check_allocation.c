/*
 * Runs plans and one-shot calls over all kinds of layouts, and counts what
 * they ask of the system meanwhile: no memory and no lock. Plans are not made
 * anew when they run. The linker puts the functions below in the place of those
 * that they count, for the objects of the library as for the test's own (--wrap
 * in Makefile.am), and creating a plan shows each time that they do. What libc
 * takes for itself is not seen.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "cpu.h"
#include "elementwise.h"
#include "gradient.h"
#include "plan.h"
#include "strategy.h"
#include "support.h"

static int asked;   /* for memory, or for a lock */
static int planned; /* operations or gradients */

__typeof__(malloc) __real_malloc, __wrap_malloc;
__typeof__(calloc) __real_calloc, __wrap_calloc;
__typeof__(realloc) __real_realloc, __wrap_realloc;
__typeof__(aligned_alloc) __real_aligned_alloc, __wrap_aligned_alloc;
__typeof__(posix_memalign) __real_posix_memalign, __wrap_posix_memalign;
__typeof__(mmap) __real_mmap, __wrap_mmap;
__typeof__(pthread_mutex_lock) __real_pthread_mutex_lock,
    __wrap_pthread_mutex_lock;
__typeof__(pthread_rwlock_rdlock) __real_pthread_rwlock_rdlock,
    __wrap_pthread_rwlock_rdlock;
__typeof__(pthread_rwlock_wrlock) __real_pthread_rwlock_wrlock,
    __wrap_pthread_rwlock_wrlock;
__typeof__(ew_strategy_choose) __real_ew_strategy_choose,
    __wrap_ew_strategy_choose;
__typeof__(ew_terms_make) __real_ew_terms_make, __wrap_ew_terms_make;

void *__wrap_malloc(size_t size)
{
    asked++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    asked++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    asked++;
    return __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    asked++;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    asked++;
    return __real_posix_memalign(block, alignment, size);
}

void *__wrap_mmap(void *at, size_t size, int access, int flags, int file,
                  off_t offset)
{
    asked++;
    return __real_mmap(at, size, access, flags, file, offset);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    asked++;
    return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    asked++;
    return __real_pthread_rwlock_rdlock(lock);
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    asked++;
    return __real_pthread_rwlock_wrlock(lock);
}

void __wrap_ew_strategy_choose(struct elementwise_plan *plan)
{
    planned++;
    __real_ew_strategy_choose(plan);
}

elementwise_status __wrap_ew_terms_make(struct ew_gradient *g,
                                        struct ew_request *r)
{
    planned++;
    return __real_ew_terms_make(g, r);
}

/* ---------------------------------------------------------------------
 * Layouts made by hand
 */

enum { DIMS = 4, ROOM = 26 << 20 /* bytes of an operand */ };

/* The extents of the result, and the strides of x, y and out over them, in
   elements: 0 is an extent of 1, and none but 0 is rank 0. */
struct layout {
    const char *name;
    int ndim;
    int64_t extent[DIMS], step[3][DIMS];
    int off; /* bytes from a line of memory to where all operands start */
};

static const struct layout layouts[] = {
    {"dense", 2, {30, 70}, {{70, 1}, {70, 1}, {70, 1}}, 0},
    {"dense, of one element", 1, {1}, {{1}, {1}, {1}}, 0},
    {"dense, behind a line", 1, {9000}, {{1}, {1}, {1}}, 16},
    {"by one number", 2, {30, 70}, {{70, 1}, {0, 0}, {70, 1}}, 0},
    {"one number by all", 2, {30, 70}, {{0, 0}, {70, 1}, {70, 1}}, 0},
    {"by a row", 2, {60, 70}, {{70, 1}, {0, 1}, {70, 1}}, 0},
    {"short rows apart", 2, {900, 3}, {{5, 1}, {3, 1}, {3, 1}}, 0},
    {"a short row by each number", 2, {900, 3}, {{3, 1}, {1, 0}, {3, 1}}, 0},
    {"by a short row", 2, {900, 3}, {{3, 1}, {0, 1}, {3, 1}}, 0},
    {"by channels", 3, {8, 9, 49}, {{441, 49, 1}, {0, 1, 0}, {441, 49, 1}}, 0},
    {"a column by a row", 2, {90, 80}, {{1, 0}, {0, 1}, {80, 1}}, 0},
    {"x is transposed", 2, {200, 90}, {{1, 200}, {90, 1}, {90, 1}}, 0},
    {"both are transposed", 2, {90, 90}, {{1, 90}, {1, 90}, {90, 1}}, 0},
    {"out is transposed", 2, {90, 80}, {{80, 1}, {80, 1}, {1, 90}}, 0},
    {"repeated transposed",
     3,
     {5, 200, 500},
     {{100000, 500, 1}, {0, 1, 200}, {100000, 500, 1}},
     0},
    {"x has gaps", 2, {60, 700}, {{2100, 3}, {700, 1}, {700, 1}}, 0},
    {"out has gaps", 2, {60, 700}, {{700, 1}, {700, 1}, {1400, 2}}, 0},
    {"gaps between rows", 2, {60, 70}, {{99, 1}, {88, 1}, {77, 1}}, 0},
    {"backwards", 2, {60, 70}, {{-70, -1}, {70, 1}, {70, 1}}, 0},
    {"channels are moved",
     4,
     {4, 8, 12, 13},
     {{1248, 1, 104, 8}, {1248, 156, 13, 1}, {1248, 156, 13, 1}},
     0},
    {"few rows", 3, {500, 3, 16}, {{19, 0, 1}, {0, 1, 0}, {48, 16, 1}}, 0},
    {"more than the caches hold", 1, {6 << 20}, {{1}, {1}, {1}}, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* What is computed: some go through no buffers, some through all. */
static const struct {
    elementwise_op op;
    elementwise_dtype x, y, out;
    elementwise_act act;
} works[] = {
    {ELEMENTWISE_ADD, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_ADD, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32,
     ELEMENTWISE_ACT_GELU},
    {ELEMENTWISE_MUL, ELEMENTWISE_F16, ELEMENTWISE_F16, ELEMENTWISE_F16,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_MUL, ELEMENTWISE_BF16, ELEMENTWISE_BF16, ELEMENTWISE_BF16,
     ELEMENTWISE_ACT_RELU},
    {ELEMENTWISE_POW, ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_FLOORDIV, ELEMENTWISE_I32, ELEMENTWISE_I32, ELEMENTWISE_I32,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_SUB, ELEMENTWISE_U8, ELEMENTWISE_U8, ELEMENTWISE_U8,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_SUB, ELEMENTWISE_U8, ELEMENTWISE_F32, ELEMENTWISE_F32,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_DIV, ELEMENTWISE_C64, ELEMENTWISE_C64, ELEMENTWISE_C64,
     ELEMENTWISE_ACT_NONE},
    {ELEMENTWISE_LESS_THAN, ELEMENTWISE_I64, ELEMENTWISE_U64, ELEMENTWISE_BOOL,
     ELEMENTWISE_ACT_NONE},
};
enum { WORKS = sizeof works / sizeof *works };

struct operand {
    elementwise_tensor t;
    int64_t shape[DIMS], strides[DIMS];
};

/* Where operand k lies is as the layout says; one that is dense has no strides,
   as most callers give none. False: it does not fit. */
static bool lay_out(const struct layout *l, int k, elementwise_dtype dtype,
                    char *memory, struct operand *made)
{
    int64_t dense = 1, before = 0, last = 0;
    int64_t size = (int64_t)elementwise_dtype_size(dtype);
    bool plain = true, number = k != 2;
    for (int i = l->ndim - 1; i >= 0; i--) {
        int64_t step = l->step[k][i];
        made->shape[i] = step ? l->extent[i] : 1;
        made->strides[i] = step;
        plain &= !step || step == dense;
        number &= !step;
        before += step < 0 ? -step * (l->extent[i] - 1) : 0;
        last += step > 0 ? step * (l->extent[i] - 1) : 0;
        dense *= made->shape[i];
    }
    made->t = (elementwise_tensor){memory + l->off + before * size, dtype,
                                   number ? 0 : l->ndim, made->shape,
                                   plain ? NULL : made->strides};
    return l->off + (before + last + 1) * size <= ROOM;
}

/* Numbers that are none to divide by 0, of every type. */
static char *take_memory(int k)
{
    static char *memory[3];
    if (!memory[k]) {
        memory[k] = aligned_alloc(64, ROOM);
        ck_assert_ptr_nonnull(memory[k]);
        memset(memory[k], 0x3c, ROOM);
    }
    return memory[k];
}

/* One layout and what is computed there. */
struct call {
    const char *name;
    elementwise_op op;
    elementwise_options options;
    struct operand o[3];
};

/* False: its operands do not fit, and must not be run. */
static bool make_call(const struct layout *l, int w, struct call *c)
{
    const elementwise_dtype types[] = {works[w].x, works[w].y, works[w].out};
    bool fit = true;
    c->name = l->name;
    c->op = works[w].op;
    c->options = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    c->options.act = works[w].act;
    for (int k = 0; k < 3; k++)
        fit &= lay_out(l, k, types[k], take_memory(k), &c->o[k]);
    return fit;
}

/* The plan of a call, which takes one block. */
static elementwise_plan *create(const struct call *c)
{
    elementwise_plan *plan;
    int before = asked, made = planned;
    elementwise_status status = elementwise_plan_create(
        &plan, c->op, &c->o[0].t, &c->o[1].t, -1, &c->o[2].t, &c->options);
    int counted = asked - before;
    made = planned - made;
    ck_assert_msg(!status, "%s: %s", c->name, elementwise_last_error());
    ck_assert_int_eq(counted, 1);
    ck_assert_int_ge(made, 1); /* an activation makes it twice */
    return plan;
}

/* As a plan, again and again, and at once. */
static void check_call(const struct call *c)
{
    const struct operand *o = c->o;
    elementwise_status status = ELEMENTWISE_OK;
    elementwise_plan *plan = create(c);
    int before = asked, made = planned;
    for (int i = 0; i < 2 && !status; i++)
        status =
            elementwise_plan_run(plan, o[0].t.data, o[1].t.data, o[2].t.data);
    int by_plan = asked - before;
    made = planned - made;
    if (!status)
        status = elementwise_apply(c->op, &o[0].t, &o[1].t, -1, &o[2].t,
                                   &c->options);
    int in_all = asked - before;
    elementwise_plan_destroy(plan);
    ck_assert_msg(!status, "%s: %s", c->name, elementwise_last_error());
    ck_assert_msg(!made, "%s: a plan was made anew", c->name);
    ck_assert_msg(!by_plan, "%s, %s: a plan asked %d times", c->name,
                  elementwise_op_name(c->op), by_plan);
    ck_assert_msg(!in_all, "%s, %s: a call asked %d times", c->name,
                  elementwise_op_name(c->op), in_all);
}

START_TEST(every_layout_runs_without_allocation_lock_and_planning)
{
    if (!support_level(_i))
        return;
    for (int i = 0; i < LAYOUTS * WORKS; i++) {
        struct call c;
        if (make_call(&layouts[i / WORKS], i % WORKS, &c))
            check_call(&c);
    }
}
END_TEST

/* At another level it is another one. */
START_TEST(a_call_that_was_made_before_is_not_planned_again)
{
    static struct call c;
    const struct operand *o = c.o;
    int made = planned, layout = 0, level = ew_cpu_level();
    while (strcmp(layouts[layout].name, "gaps between rows") != 0)
        layout++;
    make_call(&layouts[layout], 0, &c);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(
            elementwise_apply(c.op, &o[0].t, &o[1].t, -1, &o[2].t, &c.options),
            ELEMENTWISE_OK);
    ck_assert_int_eq(planned, made + 1);
    ew_cpu_limit(EW_LEVEL_BASE);
    ck_assert_int_eq(
        elementwise_apply(c.op, &o[0].t, &o[1].t, -1, &o[2].t, &c.options),
        ELEMENTWISE_OK);
    ck_assert_int_eq(planned, made + 1 + (level != EW_LEVEL_BASE));
}
END_TEST

/* The layouts by hand do take every way that all processors have: each stands
   in a description. */
START_TEST(the_layouts_go_every_way_that_plans_name)
{
    static const char *const ways[] = {"_input\":\"as is\"",
                                       "_input\":\"staged\"",
                                       "_input\":\"transposed\"",
                                       "_input\":\"gathered\"",
                                       "_input\":\"spread\"",
                                       "_input\":\"repeated\"",
                                       "_input\":\"packed\"",
                                       "rows\":\"folded\"",
                                       "rows\":\"across\"",
                                       "stores\":\"scattered\"",
                                       "stores\":\"past the caches\"",
                                       "kept\":[\"y\"]",
                                       "tiles\":true"};
    enum { WAYS = sizeof ways / sizeof *ways };
    char json[4000];
    bool seen[WAYS] = {false};
    ew_cpu_limit(EW_LEVEL_BASE);
    ew_cpu_tune(0);
    for (int i = 0; i < LAYOUTS * WORKS; i++) {
        struct call c;
        make_call(&layouts[i / WORKS], i % WORKS, &c);
        elementwise_plan *plan = create(&c);
        elementwise_plan_describe(plan, json, sizeof json);
        elementwise_plan_destroy(plan);
        for (int n = 0; n < WAYS; n++)
            seen[n] |= strstr(json, ways[n]) != NULL;
    }
    for (int n = 0; n < WAYS; n++)
        ck_assert_msg(seen[n], "no layout has %s", ways[n]);
}
END_TEST

/* ---------------------------------------------------------------------
 * Random calls
 */

/* NULL: there is none, as the kind has no plan or the call fails. */
static elementwise_plan *plan_of(const struct calls_call *c)
{
    const elementwise_tensor *t = c->t;
    elementwise_plan *plan = NULL;
    if (c->kind == CALLS_FORWARD)
        elementwise_plan_create(&plan, c->op, &t[0], &t[1], -1, &t[2],
                                &c->options);
    else if (c->kind == CALLS_BACKWARD)
        elementwise_plan_create_grad(&plan, c->op, &t[0], &t[1], &t[2], &t[3],
                                     -1, &t[4], &t[5], &c->options);
    return plan;
}

static elementwise_status run_plan(const elementwise_plan *plan,
                                   const struct calls_call *c)
{
    const elementwise_tensor *t = c->t;
    if (c->kind == CALLS_FORWARD)
        return elementwise_plan_run(plan, t[0].data, t[1].data, t[2].data);
    return elementwise_plan_run_grad(plan, t[0].data, t[1].data, t[2].data,
                                     t[3].data, t[4].data, t[5].data);
}

START_TEST(random_calls_run_without_allocation_lock_and_planning)
{
    static struct calls_call c;
    int plans = 0, ran = 0, calls = support_long() ? 100000 : 4000;
    if (!support_level(_i))
        return;
    calls_fill();
    for (int i = 0; i < calls; i++) {
        if (!calls_draw(&c))
            continue;
        int before = asked, made;
        ran += calls_run(&c) == ELEMENTWISE_OK;
        ck_assert_msg(asked == before, "call %d, %s, asked", i,
                      elementwise_op_name(c.op));
        made = planned;
        elementwise_plan *plan = plan_of(&c);
        if (!plan)
            continue;
        ck_assert_int_eq(asked - before, 1);
        ck_assert_int_ge(planned - made, 1);
        before = asked;
        made = planned;
        plans += run_plan(plan, &c) == ELEMENTWISE_OK;
        ck_assert_int_eq(planned, made);
        ck_assert_msg(asked == before, "call %d, %s, asked as a plan", i,
                      elementwise_op_name(c.op));
        elementwise_plan_destroy(plan);
    }
    ck_assert_int_gt(ran, calls / 4);
    ck_assert_int_gt(plans, calls / 8);
}
END_TEST

/* ---------------------------------------------------------------------
 * What is refused, and what is only asked
 */

START_TEST(what_is_refused_takes_no_memory_and_no_lock)
{
    int64_t shape[] = {3, 4}, other[] = {3, 5};
    int32_t x[13] = {0}, out[13];
    elementwise_tensor tx = {x, ELEMENTWISE_I32, 2, shape, NULL};
    elementwise_tensor ty = {x, ELEMENTWISE_I32, 2, other, NULL};
    elementwise_tensor row = {x, ELEMENTWISE_I32, 1, shape, NULL};
    elementwise_tensor to = {out, ELEMENTWISE_I32, 2, shape, NULL};
    elementwise_plan *plan;
    ck_assert_int_eq(elementwise_plan_create(&plan, ELEMENTWISE_DIV, &tx, &tx,
                                             -1, &to, NULL),
                     ELEMENTWISE_OK);
    int before = asked;
    elementwise_status found[] = {
        elementwise_plan_run(plan, x, x, out),
        elementwise_plan_run(plan, NULL, x, out),
        elementwise_plan_run(plan, (char *)x + 1, x, out),
        elementwise_plan_run(plan, x, x, x + 1),
        elementwise_div(&tx, &tx, -1, &to),
        elementwise_add(&tx, &ty, -1, &to),
        elementwise_add(&tx, &row, 7, &to),
    };
    int counted = asked - before;
    const elementwise_status expected[] = {
        ELEMENTWISE_DIVISION_BY_ZERO, ELEMENTWISE_INVALID,
        ELEMENTWISE_MISALIGNED,       ELEMENTWISE_OVERLAP,
        ELEMENTWISE_DIVISION_BY_ZERO, ELEMENTWISE_BAD_SHAPE,
        ELEMENTWISE_BAD_AXIS};
    elementwise_plan_destroy(plan);
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        ck_assert_int_eq(found[i], expected[i]);
    ck_assert_int_eq(counted, 0);
}
END_TEST

START_TEST(descriptions_and_messages_take_no_memory_and_no_lock)
{
    int64_t shape[] = {3, 4};
    char json[1000];
    elementwise_tensor t = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
    elementwise_plan *plan;
    ck_assert_int_eq(
        elementwise_plan_create(&plan, ELEMENTWISE_ADD, &t, &t, -1, &t, NULL),
        ELEMENTWISE_OK);
    int before = asked;
    size_t length = elementwise_plan_describe(plan, json, sizeof json);
    const char *message = elementwise_last_error();
    int counted = asked - before;
    elementwise_plan_destroy(plan);
    ck_assert_uint_eq(length, strlen(json));
    ck_assert_ptr_nonnull(message);
    ck_assert_int_eq(counted, 0);
}
END_TEST

int main(void)
{
    TCase *runs = support_case("runs");
    TCase *others = support_case("others");
    tcase_add_loop_test(runs,
                        every_layout_runs_without_allocation_lock_and_planning,
                        0, EW_LEVELS);
    tcase_add_test(runs, the_layouts_go_every_way_that_plans_name);
    tcase_add_test(runs, a_call_that_was_made_before_is_not_planned_again);
    tcase_add_loop_test(runs,
                        random_calls_run_without_allocation_lock_and_planning,
                        0, EW_LEVELS);
    tcase_add_test(others, what_is_refused_takes_no_memory_and_no_lock);
    tcase_add_test(others,
                   descriptions_and_messages_take_no_memory_and_no_lock);
    TCase *const cases[] = {runs, others, NULL};
    return support_run("allocation", cases);
}
