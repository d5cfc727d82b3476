/*
 * What the tests of strategy.c and of its parts share: plans of two inputs that
 * lie one way or another, and calls, random ones among them, that are held
 * against the reference.
 */
#ifndef STRATEGY_CALLS_H
#define STRATEGY_CALLS_H

#include "elementwise.h"
#include "plan.h"
#include "support.h"

/* The hint that out is stored past the caches, and nothing else. */
extern const elementwise_options strategy_past;

/* Plans op of operands of one type, or an out of bools, and one shape. Strides
   may be NULL: the operand is dense. */
void strategy_plan_into(struct elementwise_plan *p, elementwise_op op,
                        elementwise_dtype type, int ndim, const int64_t shape[],
                        const int64_t of_x[], const int64_t of_y[],
                        const int64_t of_out[]);

/* The same into a dense out. */
void strategy_plan(struct elementwise_plan *p, elementwise_op op,
                   elementwise_dtype type, int ndim, const int64_t shape[],
                   const int64_t of_x[], const int64_t of_y[]);

/* The same of rows whose elements are so many apart. */
void strategy_plan_steps(struct elementwise_plan *p, elementwise_op op,
                         elementwise_dtype type, const int64_t shape[2],
                         int64_t step_x, int64_t step_y);

/* From here on processors are as this one, but read many lines at once. */
void strategy_read_many(void);

struct strategy_call {
    struct support_tensor x, y, out;
};

void strategy_plan_call(struct elementwise_plan *p, elementwise_op op,
                        const struct strategy_call *c);

/* Fills the inputs of a call, and remembers all operands. */
void strategy_fill(struct strategy_call *c);

/* Does that, and runs the call, which has to give the results of the
   reference. */
void strategy_verify(struct strategy_call *c, elementwise_op op,
                     const elementwise_options *options);

void strategy_release(struct strategy_call *c);

/* Operations of each kind of kernel, for random calls. */
enum { STRATEGY_OPS = 4 };
extern const elementwise_op strategy_ops[STRATEGY_OPS];

/* Random types of x, y and out; false if op does not take them. */
bool strategy_draw_types(elementwise_op op, elementwise_dtype types[3]);

/* Random operands of op, in any layout; false if it does not take their
   types. */
bool strategy_draw(struct strategy_call *c, elementwise_op op);

/* The same of several short loops; out is permuted and has gaps. */
bool strategy_draw_short(struct strategy_call *c, elementwise_op op);

/* The same of inputs in order, and an output in another one with gaps, of rows
   that are turned, or left to inputs. */
bool strategy_draw_apart(struct strategy_call *c, elementwise_op op);

/* The same of a copy of x to out. */
void strategy_draw_copy(struct strategy_call *c);

#endif
