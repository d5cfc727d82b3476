/*
 * Turns random numbers into calls: an operation or a gradient, sums and
 * copies, with options or none, on operands that are dense or have steps,
 * gaps and dimensions in any order.
 */
#include "calls.h"

#include <string.h>

#include "support.h"

enum {
    MOST = 20000,  /* elements of a result */
    ROOM = 6 << 20 /* bytes of an operand */
};

static _Alignas(64) char memory[CALLS_OPERANDS][ROOM];

void calls_fill(void)
{
    memset(memory[0], 1, sizeof memory[0]);
    memset(memory[1], 1, sizeof memory[1]);
}

/* A layout of a shape: dimensions in any order of memory, with steps and gaps,
   unless it is plain. */
static void draw_layout(struct calls_call *c, int which,
                        elementwise_dtype dtype, int ndim, bool plain)
{
    int order[CALLS_NDIM] = {0, 1, 2, 3, 4, 5};
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
static int draw_shapes(struct calls_call *c)
{
    int ndim = (int)support_random(1, CALLS_NDIM);
    int64_t room = MOST;
    for (int i = 0; i < ndim; i++) {
        int64_t n = support_random(1, (int64_t)1 << support_random(1, 9));
        n = n < room ? n : room;
        int64_t x = support_random(0, 4) ? n : 1;
        int64_t y = support_random(0, 2) ? n : 1;
        int64_t of_out = x > y ? x : y;
        const int64_t all[] = {x, y, of_out, of_out, x, y, x, y};
        for (int k = 0; k < CALLS_OPERANDS; k++)
            c->shape[k][i] = all[k];
        room /= n;
    }
    return ndim;
}

static elementwise_dtype draw_type(void)
{
    return (elementwise_dtype)support_random(1, ELEMENTWISE_C128);
}

bool calls_draw(struct calls_call *c)
{
    elementwise_dtype x = draw_type(),
                      y = support_random(0, 2) ? x : draw_type(), out;
    c->op = (elementwise_op)support_random(1, ELEMENTWISE_BITWISE_RIGHT_SHIFT);
    c->kind = support_random(0, 1)
                  ? CALLS_FORWARD
                  : (enum calls_kind)support_random(CALLS_BACKWARD, CALLS_COPY);
    c->options = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    if (support_random(0, 7) == 0)
        c->options.act =
            (elementwise_act)support_random(1, ELEMENTWISE_ACT_SILU);
    if (support_random(0, 7) == 0)
        c->options.scale_x = 2;
    if (c->kind == CALLS_BACKWARD && support_random(0, 1))
        c->options.flags = ELEMENTWISE_ADD_TO_DX | ELEMENTWISE_ADD_TO_DY;
    if (c->kind == CALLS_FORWARD && support_random(0, 3) == 0)
        c->options.flags = ELEMENTWISE_STREAM;
    if (elementwise_result_type(c->op, x, y, &out))
        return false;
    if (c->kind == CALLS_FORWARD && support_random(0, 3) == 0)
        out = draw_type();
    const elementwise_dtype all[] = {x, y, out, out, x, y, x, y};
    int ndim = draw_shapes(c);
    for (int k = 0; k < CALLS_OPERANDS; k++)
        draw_layout(c, k, all[k], ndim, k > 1 && support_random(0, 3));
    return true;
}

/* A double gradient takes the tensors that a gradient makes as those of the
   operands' changes. */
static elementwise_status run_twice(const elementwise_tensor *t)
{
    return elementwise_div_grad_grad(&t[0], &t[1], &t[2], &t[4], &t[5], -1,
                                     &t[6], &t[7], &t[3]);
}

elementwise_status calls_run(const struct calls_call *c)
{
    const elementwise_tensor *t = c->t;
    if (c->kind == CALLS_FORWARD)
        return elementwise_apply(c->op, &t[0], &t[1], -1, &t[2], &c->options);
    if (c->kind == CALLS_BACKWARD)
        return elementwise_apply_grad(c->op, &t[0], &t[1], &t[2], &t[3], -1,
                                      &t[4], &t[5], &c->options);
    if (c->kind == CALLS_TWICE)
        return run_twice(t);
    if (c->kind == CALLS_SUM)
        return elementwise_sum_to(&t[3], -1, &t[4], NULL);
    return elementwise_copy(&t[1], -1, &t[2]);
}
