/*
 * Turns operands and an axis into a plan: the loops of the result with every
 * operand's byte strides, made as few and as long as the layouts allow, and
 * the kernels for one tile of them.
 */
#include "plan.h"

#include <stdlib.h>

#include "cpu.h"
#include "execute.h"
#include "fault.h"
#include "fuse.h"
#include "kernels/quiet.h"
#include "message.h"
#include "overlap.h"
#include "stage.h"
#include "strategy.h"
#include "table.h"
#include "validate.h"

/* Walks a loop from its other end where the output runs backwards, so that
   the output's strides are never negative. */
static void flip(struct elementwise_plan *plan, struct ew_loop *loop)
{
    if (loop->stride[EW_OUT] >= 0)
        return;
    for (int k = 0; k < 3; k++) {
        plan->offset[k] += (loop->n - 1) * loop->stride[k];
        loop->stride[k] = -loop->stride[k];
    }
}

static bool belongs_inside(const struct ew_loop *a, const struct ew_loop *b,
                           const int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int64_t sa = ew_magnitude(a->stride[order[i]]);
        int64_t sb = ew_magnitude(b->stride[order[i]]);
        if (sa != sb)
            return sa < sb;
    }
    return false;
}

/* By insertion: nearly always they are in order already. */
void ew_plan_sort(struct ew_loop *loop, int ndim, const int *order, int n)
{
    for (int i = 1; i < ndim; i++)
        for (int j = i;
             j > 0 && belongs_inside(&loop[j], &loop[j - 1], order, n); j--) {
            struct ew_loop swap = loop[j];
            loop[j] = loop[j - 1];
            loop[j - 1] = swap;
        }
}

void ew_plan_move_inside(struct ew_loop *loop, int i, int to)
{
    struct ew_loop moved = loop[i];
    for (; i > to; i--)
        loop[i] = loop[i - 1];
    loop[to] = moved;
}

/* Lengthens inner by outer if the operands all walk the two as one. */
static bool merge(struct ew_loop *inner, const struct ew_loop *outer,
                  int operands)
{
    for (int k = 0; k < operands; k++)
        if (!ew_loop_continues(inner, outer, k))
            return false;
    inner->n *= outer->n;
    return true;
}

int ew_plan_merge(struct ew_loop *loop, int ndim, int operands)
{
    int last = 0;
    for (int i = 1; i < ndim; i++)
        if (!merge(&loop[last], &loop[i], operands))
            loop[++last] = loop[i];
    return ndim ? last + 1 : 0;
}

/* Every dimension of more than one index becomes a loop, or lengthens the
   one inside it. Returns whether the loops are in order, as they are unless
   out is permuted or runs backwards. */
static bool open_loops(struct elementwise_plan *plan,
                       const struct ew_placed placed[3])
{
    int64_t dense[] = {1, 1, 1};
    bool ordered = true;
    for (int dim = plan->result_ndim - 1; dim >= 0; dim--) {
        struct ew_loop *loop = &plan->loop[plan->ndim];
        loop->n = plan->result_shape[dim];
        for (int k = 0; k < 3; k++)
            loop->stride[k] = ew_shape_stride(&placed[k], dim, &dense[k]) *
                              (int64_t)ew_types_size(plan->types.operand[k]);
        if (loop->n == 1 || (plan->ndim && merge(loop - 1, loop, 3)))
            continue;
        int64_t inner = plan->ndim ? loop[-1].stride[EW_OUT] : 0;
        ordered &= loop->stride[EW_OUT] >= inner;
        plan->ndim++;
    }
    return ordered;
}

/* Opens and normalises the loops. The output comes first in their order, so
   that stores run forward through memory. */
static void make_loops(struct elementwise_plan *plan,
                       const struct ew_placed placed[3])
{
    static const int order[] = {EW_OUT, EW_X, EW_Y};
    plan->ndim = 0;
    plan->empty = ew_shape_is_empty(plan->result_ndim, plan->result_shape);
    for (int k = 0; k < 3; k++)
        plan->offset[k] = 0;
    if (plan->empty)
        return; /* strides of what has no elements may be anything */
    if (!open_loops(plan, placed)) {
        for (int i = 0; i < plan->ndim; i++)
            flip(plan, &plan->loop[i]);
        ew_plan_sort(plan->loop, plan->ndim, order, 3);
        plan->ndim = ew_plan_merge(plan->loop, plan->ndim, 3);
    }
    for (int k = 0; k < 3; k++)
        plan->range[k] =
            ew_overlap_range(plan->loop, plan->ndim, k,
                             (int64_t)ew_types_size(plan->types.operand[k]));
}

/* Whether op can read operand k and write out as if they were one: then out
   may be that operand. Equal strides were flipped alike. */
static bool same_layout(const struct elementwise_plan *plan, int k)
{
    if (plan->types.operand[k] != plan->types.operand[EW_OUT])
        return false;
    for (int i = 0; i < plan->ndim; i++)
        if (plan->loop[i].stride[k] != plan->loop[i].stride[EW_OUT])
            return false;
    return true;
}

/* No step where the types agree. */
static ew_kernel *conversion(int level, elementwise_dtype to,
                             elementwise_dtype from)
{
    return to == from ? NULL : ew_table_convert(level, to, from);
}

void ew_plan_choose_kernels(struct elementwise_plan *plan)
{
    const struct ew_types *t = &plan->types;
    struct ew_pass *pass = &plan->pass;
    elementwise_dtype made = t->compute[EW_OUT], out = t->operand[EW_OUT];
    int level = plan->level = ew_cpu_level();
    *pass = (struct ew_pass){.op = ew_table_kernel(level, (int)plan->op,
                                                   t->compute[EW_X],
                                                   t->compute[EW_Y])};
    for (int k = 0; k < 3; k++) {
        pass->size[k] = (unsigned char)ew_types_size(t->compute[k]);
        pass->stored[k] = (unsigned char)ew_types_size(t->operand[k]);
    }
    for (int k = 0; k < 2; k++)
        pass->load[k] = conversion(level, t->compute[k], t->operand[k]);
    if (out != t->result && made != t->result) {
        pass->round = conversion(level, t->result, made);
        pass->result_size = (unsigned char)ew_types_size(t->result);
        made = t->result;
    }
    pass->store = conversion(level, out, made);
    if ((int)plan->op <= EW_PAST_LAST)
        pass->past = ew_table_kernel(level, EW_PAST + (int)plan->op,
                                     t->compute[EW_X], t->compute[EW_Y]);
}

static elementwise_status check_tensors(const char *what,
                                        const elementwise_tensor *const t[3])
{
    static const char *const names[] = {"x", "y", "out"};
    elementwise_status status = ELEMENTWISE_OK;
    for (int k = 0; k < 3 && !status; k++)
        status = ew_validate_tensor(what, names[k], t[k]);
    return status;
}

elementwise_status ew_plan_make(struct elementwise_plan *plan,
                                elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out)
{
    const elementwise_tensor *const t[] = {x, y, out};
    const char *what = elementwise_op_name(op);
    struct ew_alignment a;
    elementwise_status status = ew_validate_op(op);
    if (!status)
        status = check_tensors(what, t);
    if (!status)
        status = ew_types_resolve(op, x->dtype, y->dtype, &plan->types);
    if (!status)
        status = ew_types_out(op, out->dtype, &plan->types);
    if (!status)
        status = ew_shape_resolve(what, x, y, axis, &a, plan->result_shape);
    if (!status)
        status = ew_shape_require(&a, "out", out, plan->result_shape);
    if (status)
        return status;
    const struct ew_placed placed[] = {
        a.x, a.y, {.tensor = out, .ndim = out->ndim}};
    plan->what = what;
    plan->gradient = NULL;
    plan->op = op;
    ew_plan_choose_kernels(plan);
    return ew_plan_layout(plan, a.ndim, placed);
}

void ew_plan_prepare_calls(struct elementwise_plan *plan)
{
    void *const none[3] = {NULL};
    struct ew_block block = ew_block_start(plan->loop, plan->ndim, 3, none);
    plan->calls = !plan->empty && !plan->types.fault &&
                  !ew_pass_tiles(&plan->pass) && !plan->stage.ndim;
    for (int k = 0; k < 3; k++) {
        plan->stride[k] = block.stride[k];
        plan->calls &= plan->offset[k] == 0;
        plan->unaligned[k] = ew_types_unaligned(plan->types.operand[k]);
    }
    plan->rows = block.rows;
    plan->cols = block.cols;
}

elementwise_status ew_plan_layout(struct elementwise_plan *plan, int ndim,
                                  const struct ew_placed placed[3])
{
    plan->result_ndim = ndim;
    plan->act = ELEMENTWISE_ACT_NONE; /* nothing stands around op so far */
    plan->scaled[EW_X] = plan->scaled[EW_Y] = false;
    for (int k = 0; k < 3; k++)
        plan->exists[k] =
            !ew_shape_is_empty(placed[k].tensor->ndim, placed[k].tensor->shape);
    make_loops(plan, placed);
    plan->in_place[EW_X] = same_layout(plan, EW_X);
    plan->in_place[EW_Y] = same_layout(plan, EW_Y);
    if (ew_overlap_self(plan->loop, plan->ndim, EW_OUT))
        return ew_overlap_fail(plan->what, "the output", placed[EW_OUT].tensor);
    ew_stage_choose(plan);
    ew_strategy_choose(plan);
    ew_plan_prepare_calls(plan);
    return ELEMENTWISE_OK;
}

/* Ranges first: operands far apart are the rule. */
static bool apart(const struct elementwise_plan *plan, int k, const char *in,
                  const char *out)
{
    return ew_overlap_apart(in, plan->range[k], out, plan->range[EW_OUT]);
}

bool ew_plan_overlaps(const struct elementwise_plan *plan, int k,
                      void *const data[])
{
    int ndim;
    const struct ew_loop *loop = ew_stage_loops(plan, &ndim);
    return !apart(plan, k, data[k], data[EW_OUT]) &&
           ew_overlap_shared(loop, ndim, k, data[k],
                             (int64_t)ew_types_size(plan->types.operand[k]),
                             EW_OUT, data[EW_OUT],
                             (int64_t)ew_types_size(plan->types.operand[2]));
}

/* out may be an input that it lies on element by element. */
static elementwise_status check_overlap(const struct elementwise_plan *plan,
                                        int k, void *const data[])
{
    if ((plan->in_place[k] && data[k] == data[EW_OUT]) ||
        !ew_plan_overlaps(plan, k, data))
        return ELEMENTWISE_OK;
    return ew_fail(ELEMENTWISE_OVERLAP,
                   "%s: an element of out is also another element of %s; "
                   "out may be %s itself (same data, dtype, shape and "
                   "strides) or share nothing with it; elementwise_copy makes "
                   "a copy to read from",
                   plan->what, k ? "y" : "x", k ? "y" : "x");
}

/* Whether all data is there, and aligned. */
static bool are_aligned(const struct elementwise_plan *plan, const void *x,
                        const void *y, const void *out)
{
    uintptr_t unaligned = ((uintptr_t)x & plan->unaligned[EW_X]) |
                          ((uintptr_t)y & plan->unaligned[EW_Y]) |
                          ((uintptr_t)out & plan->unaligned[EW_OUT]);
    return x && y && out && !unaligned;
}

/* Whether out is apart from the inputs, or in the place of one. */
static inline __attribute__((always_inline)) bool
is_outside(const struct elementwise_plan *plan, const void *x, const void *y,
           const void *out)
{
    return ((plan->in_place[EW_X] && x == out) || apart(plan, EW_X, x, out)) &&
           ((plan->in_place[EW_Y] && y == out) || apart(plan, EW_Y, y, out));
}

static inline __attribute__((always_inline)) void
run_calls(const struct elementwise_plan *plan, const void *x, const void *y,
          void *out)
{
    void *data[] = {(void *)x, (void *)y, out, (void *)&plan->pass.around};
    if (plan->pass.repeats)
        ew_execute_repeated(plan->loop, plan->ndim, plan->pass.op,
                            &plan->pass.around, plan->pass.repeats - 1, data);
    else if (plan->ndim <= 2)
        plan->pass.op(plan->rows, plan->cols, data, plan->stride);
    else
        ew_execute_calls(plan->loop, plan->ndim, plan->pass.op,
                         &plan->pass.around, plan->pass.across, data);
}

/* Does all that there is to do, for any data and any plan. It is apart from
   run, which then saves no registers. */
static __attribute__((noinline)) elementwise_status
run_any(const struct elementwise_plan *plan, const void *x, const void *y,
        void *out)
{
    static const char *const names[] = {"x", "y", "out"};
    void *data[] = {(void *)x, (void *)y, out};
    elementwise_status status = ELEMENTWISE_OK;
    if (plan->gradient) /* asked here: before, short calls would pay for it */
        return ew_fail(ELEMENTWISE_INVALID,
                       "plan_run: plan is one of a gradient");
    for (int k = 0; k < 3 && !status; k++)
        if (plan->exists[k])
            status = ew_validate_data(plan->what, names[k], data[k],
                                      ew_types_align(plan->types.operand[k]),
                                      k != EW_OUT);
    if (status || plan->empty)
        return status;
    for (int k = 0; k < 3; k++)
        data[k] = (char *)data[k] + plan->offset[k];
    for (int k = 0; k < 2 && !status; k++)
        status = check_overlap(plan, k, data);
    if (!status && plan->types.fault)
        status = ew_fault_check(plan, data);
    if (!status)
        ew_stage_run(plan, data);
    return status;
}

/* A jump less in each of both that call it, which is a tenth of what a plan on
   nothing takes. */
static inline __attribute__((always_inline)) elementwise_status
run(const struct elementwise_plan *plan, const void *x, const void *y,
    void *out)
{
    if (are_aligned(plan, x, y, out)) {
        if (plan->empty)
            return ELEMENTWISE_OK;
        if (plan->calls && is_outside(plan, x, y, out)) {
            run_calls(plan, x, y, out);
            return ELEMENTWISE_OK;
        }
    }
    return run_any(plan, x, y, out);
}

elementwise_status ew_plan_run(const struct elementwise_plan *plan,
                               const void *x, const void *y, void *out)
{
    return run(plan, x, y, out);
}

elementwise_status elementwise_plan_create(
    elementwise_plan **plan, elementwise_op op, const elementwise_tensor *x,
    const elementwise_tensor *y, int axis, const elementwise_tensor *out,
    const elementwise_options *options)
{
    if (!plan)
        return ew_fail(ELEMENTWISE_INVALID, "plan_create: plan is NULL");
    *plan = NULL;
    struct elementwise_plan made;
    elementwise_status status =
        options ? ew_validate_options("plan_create", options, 0)
                : ELEMENTWISE_OK;
    if (!status)
        status = ew_plan_make(&made, op, x, y, axis, out);
    if (!status)
        status = ew_fuse_plan(&made, options);
    if (status)
        return status;
    int before = errno;
    *plan = malloc(sizeof made);
    ew_quiet_restore(before);
    if (!*plan)
        return ew_fail(ELEMENTWISE_NO_MEMORY,
                       "plan_create: no memory for %zu bytes", sizeof made);
    **plan = made;
    return ELEMENTWISE_OK;
}

elementwise_status elementwise_plan_run(const elementwise_plan *plan,
                                        const void *x, const void *y, void *out)
{
    if (!plan)
        return ew_fail(ELEMENTWISE_INVALID, "plan_run: plan is NULL");
    return run(plan, x, y, out);
}

void elementwise_plan_destroy(elementwise_plan *plan)
{
    free(plan);
}
