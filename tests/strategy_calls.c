/*
 * Turns layouts of two inputs into a plan, and operands that a test has made
 * into a call whose results are held against the reference. Those of random
 * calls come from here.
 */
#include "strategy_calls.h"

#include "cpu.h"
#include "reference.h"
#include "types.h"

const elementwise_options strategy_past = {.size = sizeof strategy_past,
                                           .scale_x = 1,
                                           .scale_y = 1,
                                           .flags = ELEMENTWISE_STREAM};

void strategy_plan_into(struct elementwise_plan *p, elementwise_op op,
                        elementwise_dtype type, int ndim, const int64_t shape[],
                        const int64_t of_x[], const int64_t of_y[],
                        const int64_t of_out[])
{
    elementwise_tensor x = {NULL, type, ndim, shape, of_x};
    elementwise_tensor y = {NULL, type, ndim, shape, of_y};
    elementwise_tensor out = {NULL, type, ndim, shape, of_out};
    if (ew_types_ops[op].to_bool)
        out.dtype = ELEMENTWISE_BOOL;
    ck_assert_int_eq(ew_plan_make(p, op, &x, &y, -1, &out), 0);
}

void strategy_plan(struct elementwise_plan *p, elementwise_op op,
                   elementwise_dtype type, int ndim, const int64_t shape[],
                   const int64_t of_x[], const int64_t of_y[])
{
    strategy_plan_into(p, op, type, ndim, shape, of_x, of_y, NULL);
}

void strategy_plan_steps(struct elementwise_plan *p, elementwise_op op,
                         elementwise_dtype type, const int64_t shape[2],
                         int64_t step_x, int64_t step_y)
{
    const int64_t of_x[] = {step_x * shape[1], step_x};
    const int64_t of_y[] = {step_y * shape[1], step_y};
    strategy_plan(p, op, type, 2, shape, of_x, of_y);
}

void strategy_read_many(void)
{
    unsigned tuning = 0;
    for (unsigned bit = 1; bit < EW_TUNINGS; bit *= 2)
        if (bit != EW_FEW_READS && ew_cpu_is(bit))
            tuning |= bit;
    ew_cpu_tune(tuning);
}

void strategy_plan_call(struct elementwise_plan *p, elementwise_op op,
                        const struct strategy_call *c)
{
    ck_assert_int_eq(ew_plan_make(p, op, &c->x.t, &c->y.t, -1, &c->out.t), 0);
}

void strategy_fill(struct strategy_call *c)
{
    support_fill(&c->x);
    support_fill(&c->y);
    support_keep(&c->x);
    support_keep(&c->y);
    support_keep(&c->out);
}

void strategy_verify(struct strategy_call *c, elementwise_op op,
                     const elementwise_options *options)
{
    strategy_fill(c);
    elementwise_status status =
        elementwise_apply(op, &c->x.t, &c->y.t, -1, &c->out.t, options);
    support_verify(status, op, &c->x, &c->y, -1, &c->out);
}

void strategy_release(struct strategy_call *c)
{
    support_free(&c->x);
    support_free(&c->y);
    support_free(&c->out);
}

/* ---------------------------------------------------------------------
 * Random operands
 */

const elementwise_op strategy_ops[STRATEGY_OPS] = {
    ELEMENTWISE_ADD, ELEMENTWISE_SUB, ELEMENTWISE_LESS_THAN,
    ELEMENTWISE_FLOORDIV};

/* Extents around those of tiles and of the blocks that are turned, with no
   more elements than the reference can do. */
static void random_shape(int64_t shape[4])
{
    static const int64_t some[] = {1, 2, 3, 4, 5, 7, 16, 31, 33, 64, 70, 300};
    int64_t n = 1;
    for (int i = 0; i < 4; i++) {
        shape[i] = some[support_random(0, 11)];
        while (n * shape[i] > 12000)
            shape[i] = some[support_random(0, 11)];
        n *= shape[i];
    }
}

/* Short loops, several thousand elements in all. */
static void random_short_shape(int64_t shape[4])
{
    static const int64_t some[] = {2, 3, 4, 5, 7, 9, 13, 33, 140};
    int64_t n;
    do {
        n = 1;
        for (int i = 0; i < 4; i++)
            n *= shape[i] = some[support_random(0, i ? 6 : 8)];
    } while (n < 4096 || n > 12000);
}

/* Dense in a random order of dimensions, or with gaps in all, some of them
   backwards, of inputs some broadcast. */
static void random_strides(const int64_t shape[4], int64_t strides[4],
                           bool input)
{
    int order[] = {0, 1, 2, 3};
    int64_t dense = !support_random(0, 4) ? 2 : 1;
    support_shuffle(order, 0, 4);
    for (int i = 0; i < 4; i++) {
        strides[order[i]] = dense;
        dense *= shape[order[i]] + (support_random(0, 5) ? 0 : 1);
    }
    for (int i = 0; i < 4; i++)
        if (input && !support_random(0, 4))
            strides[i] = 0;
        else if (!support_random(0, 4))
            strides[i] = -strides[i];
}

static elementwise_dtype random_type(void)
{
    return (elementwise_dtype)support_random(1, ELEMENTWISE_C128);
}

bool strategy_draw_types(elementwise_op op, elementwise_dtype types[3])
{
    types[0] = random_type();
    types[1] = support_random(0, 1) ? random_type() : types[0];
    return !elementwise_result_type(op, types[0], types[1], &types[2]);
}

bool strategy_draw(struct strategy_call *c, elementwise_op op)
{
    int64_t shape[4], strides[4];
    elementwise_dtype types[3];
    if (!strategy_draw_types(op, types))
        return false;
    random_shape(shape);
    random_strides(shape, strides, true);
    support_make(&c->x, types[0], 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, true);
    support_make(&c->y, types[1], 4, shape, strides, SUPPORT_LOW);
    random_strides(shape, strides, false);
    bool dense = support_random(0, 3);
    support_make(&c->out, types[2], 4, shape, dense ? NULL : strides,
                 SUPPORT_HIGH);
    return true;
}

bool strategy_draw_short(struct strategy_call *c, elementwise_op op)
{
    int64_t shape[4], strides[4];
    elementwise_dtype types[3];
    if (!strategy_draw_types(op, types))
        return false;
    random_short_shape(shape);
    random_strides(shape, strides, false);
    support_make(&c->out, types[2], 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, true);
    support_make(&c->x, types[0], 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, true);
    support_make(&c->y, types[1], 4, shape, strides, SUPPORT_LOW);
    return true;
}

bool strategy_draw_apart(struct strategy_call *c, elementwise_op op)
{
    elementwise_dtype types[3];
    int64_t shape[3], strides[3], step = support_random(2, 4);
    int order[] = {0, 1, 2};
    if (!strategy_draw_types(op, types))
        return false;
    types[1] = support_random(0, 2) ? types[0] : types[1];
    elementwise_result_type(op, types[0], types[1], &types[2]);
    support_shuffle(order, 0, 3);
    for (int i = 0; i < 3; i++)
        shape[i] = support_random(1, i == order[0] ? 200 : 30);
    for (int i = 0; i < 3; i++) {
        strides[order[i]] = step;
        step *= shape[order[i]];
    }
    support_make(&c->x, types[0], 3, shape, NULL, SUPPORT_HIGH);
    if (support_random(0, 3))
        support_make(&c->y, types[1], 3, shape, NULL, SUPPORT_LOW);
    else
        support_make(&c->y, types[1], 1, shape + 2, NULL, SUPPORT_LOW);
    support_make(&c->out, types[2], 3, shape, strides, SUPPORT_HIGH);
    return true;
}

void strategy_draw_copy(struct strategy_call *c)
{
    int64_t shape[4], strides[4];
    elementwise_dtype from = random_type(), to = random_type();
    if (ref_is_complex(from) && !ref_is_complex(to))
        to = from;
    random_shape(shape);
    random_strides(shape, strides, true);
    support_make(&c->x, from, 4, shape, strides, SUPPORT_HIGH);
    random_strides(shape, strides, false);
    support_make(&c->out, to, 4, shape, strides, SUPPORT_LOW);
}
