/*
 * Runs calls on threads whose stack was painted before, and looks for how far
 * down it was written: no call may take more than the header says, whatever
 * its layout, types, activation, gradient and level. Layouts are random ones
 * with orders of memory, steps and gaps that lead to buffers and tables.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "support.h"

enum {
    LIMIT = 118 << 10, /* what the header says */
    STACK = 256 << 10, /* so that more does no harm, and is seen */
    PAINT = 0x6b,
    MOST = 20000,   /* elements of a result */
    ROOM = 6 << 20, /* bytes of an operand */
    NDIM = 6,
    OPERANDS = 8 /* x, y, out, dout, dx, dy, and two more such */
};

static _Alignas(4096) char stack[STACK];
static _Alignas(64) char memory[OPERANDS][ROOM];

/* The last two kinds have no y: src is x, dst is dx, or src is y, dst is out.
 */
enum kind { FORWARD, BACKWARD, TWICE, SUM, COPY };

struct call {
    elementwise_op op;
    elementwise_tensor t[OPERANDS];
    int64_t shape[OPERANDS][NDIM], strides[OPERANDS][NDIM];
    elementwise_options options;
    enum kind kind;
    elementwise_status status;
};

static void *nothing(void *arg)
{
    return arg;
}

/* A double gradient takes the tensors that a gradient makes as those of the
   operands' changes. */
static elementwise_status run_twice(struct call *c)
{
    elementwise_tensor *t = c->t;
    return elementwise_div_grad_grad(&t[0], &t[1], &t[2], &t[4], &t[5], -1,
                                     &t[6], &t[7], &t[3]);
}

static void *run(void *arg)
{
    struct call *c = arg;
    elementwise_tensor *t = c->t;
    if (c->kind == FORWARD)
        c->status =
            elementwise_apply(c->op, &t[0], &t[1], -1, &t[2], &c->options);
    else if (c->kind == BACKWARD)
        c->status = elementwise_apply_grad(c->op, &t[0], &t[1], &t[2], &t[3],
                                           -1, &t[4], &t[5], &c->options);
    else if (c->kind == TWICE)
        c->status = run_twice(c);
    else if (c->kind == SUM)
        c->status = elementwise_sum_to(&t[3], -1, &t[4], NULL);
    else
        c->status = elementwise_copy(&t[1], -1, &t[2]);
    return NULL;
}

/* Bytes of stack that a thread takes, with what the system keeps there. */
static int64_t bytes_of(void *(*work)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    int64_t free = 0;
    memset(stack, PAINT, sizeof stack);
    pthread_attr_init(&attr);
    ck_assert_int_eq(pthread_attr_setstack(&attr, stack, sizeof stack), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, work, arg), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    while (free < STACK && stack[free] == PAINT)
        free++;
    return STACK - free;
}

/* A layout of a shape: dimensions in any order of memory, with steps and gaps,
   unless it is plain. */
static void draw_layout(struct call *c, int which, elementwise_dtype dtype,
                        int ndim, bool plain)
{
    int order[NDIM] = {0, 1, 2, 3, 4, 5};
    int64_t step = plain || support_random(0, 3) ? 1 : support_random(2, 4);
    if (!plain && support_random(0, 1))
        support_shuffle(order, 0, ndim);
    for (int i = ndim - 1; i >= 0; i--) {
        c->strides[which][order[i]] = step;
        step *= c->shape[which][order[i]];
        step += plain || support_random(0, 7) ? 0 : support_random(1, 3);
    }
    ck_assert_int_le(step * (int64_t)elementwise_dtype_size(dtype), ROOM);
    c->t[which] = (elementwise_tensor){memory[which], dtype, ndim,
                                       c->shape[which], c->strides[which]};
}

/* Extents of all operands: dimensions of x and y may be 1. */
static int draw_shapes(struct call *c)
{
    int ndim = (int)support_random(1, NDIM);
    int64_t room = MOST;
    for (int i = 0; i < ndim; i++) {
        int64_t n = support_random(1, (int64_t)1 << support_random(1, 9));
        n = n < room ? n : room;
        int64_t x = support_random(0, 4) ? n : 1;
        int64_t y = support_random(0, 2) ? n : 1;
        int64_t of_out = x > y ? x : y;
        const int64_t all[] = {x, y, of_out, of_out, x, y, x, y};
        for (int k = 0; k < OPERANDS; k++)
            c->shape[k][i] = all[k];
        room /= n;
    }
    return ndim;
}

static elementwise_dtype draw_type(void)
{
    return (elementwise_dtype)support_random(1, ELEMENTWISE_C128);
}

/* False: types have no such result. */
static bool draw_call(struct call *c)
{
    elementwise_dtype x = draw_type(),
                      y = support_random(0, 2) ? x : draw_type(), out;
    c->op = (elementwise_op)support_random(1, ELEMENTWISE_BITWISE_RIGHT_SHIFT);
    c->kind = support_random(0, 1) ? FORWARD
                                   : (enum kind)support_random(BACKWARD, COPY);
    c->options = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    if (support_random(0, 7) == 0)
        c->options.act =
            (elementwise_act)support_random(1, ELEMENTWISE_ACT_SILU);
    if (support_random(0, 7) == 0)
        c->options.scale_x = 2;
    if (c->kind == BACKWARD && support_random(0, 1))
        c->options.flags = ELEMENTWISE_ADD_TO_DX | ELEMENTWISE_ADD_TO_DY;
    if (c->kind == FORWARD && support_random(0, 3) == 0)
        c->options.flags = ELEMENTWISE_STREAM;
    if (elementwise_result_type(c->op, x, y, &out))
        return false;
    if (c->kind == FORWARD && support_random(0, 3) == 0)
        out = draw_type();
    const elementwise_dtype all[] = {x, y, out, out, x, y, x, y};
    int ndim = draw_shapes(c);
    for (int k = 0; k < OPERANDS; k++)
        draw_layout(c, k, all[k], ndim, k > 1 && support_random(0, 3));
    return true;
}

/* Frames grow without optimization, and with checks of addresses. */
static bool has_usual_frames(void)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    return true;
#else
    return false;
#endif
}

START_TEST(a_call_takes_no_more_stack_than_the_header_says)
{
    if (!has_usual_frames()) {
        printf("# not measured: frames are larger than usual\n");
        return;
    }
    if (!support_level(_i))
        return;
    static struct call c;
    int64_t least = bytes_of(nothing, NULL), deepest = 0;
    int ran = 0, calls = support_long() ? 100000 : 4000;
    memset(memory[0], 1, sizeof memory[0]);
    memset(memory[1], 1, sizeof memory[1]);
    for (int i = 0; i < calls; i++) {
        if (!draw_call(&c))
            continue;
        int64_t took = bytes_of(run, &c) - least;
        deepest = took > deepest ? took : deepest;
        ran += c.status == ELEMENTWISE_OK;
        ck_assert_msg(took <= LIMIT, "%s of %s took %lld bytes of stack",
                      elementwise_op_name(c.op),
                      elementwise_dtype_name(c.t[0].dtype), (long long)took);
    }
    printf("# %s: %lld bytes at most in %d calls\n", ew_cpu_name(_i),
           (long long)deepest, ran);
    ck_assert_int_gt(ran, calls / 4);
}
END_TEST

int main(void)
{
    TCase *calls = support_case("calls");
    tcase_add_loop_test(calls, a_call_takes_no_more_stack_than_the_header_says,
                        0, EW_LEVELS);
    TCase *const cases[] = {calls, NULL};
    return support_run("stack", cases);
}
