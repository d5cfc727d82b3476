/*
 * Turns a small input that outer loops read again and again, in an order that
 * is no row's, into a dense copy that they read instead:
 *
 *     for outer                copy y[inner] to a buffer
 *         for inner            for outer
 *             y[inner]             for inner, often one loop with x and out
 *                                      buffer[inner]
 *
 * The copy costs as much as one of the many readings, and stays in the caches.
 */
#include "stage.h"

#include "execute.h"
#include "strategy.h"
#include "table.h"

enum { REUSE = 4 }; /* from so many readings on */

/* The loops up to the last along which input k moves. */
static int loops_of(const struct elementwise_plan *plan, int k)
{
    int inner = plan->ndim;
    while (inner && plan->loop[inner - 1].stride[k] == 0)
        inner--;
    return inner;
}

/* Elements of out in some loops, or what is above `most`. */
static int64_t elements(const struct ew_loop *loop, int ndim, int64_t most)
{
    int64_t n = 1;
    for (int i = 0; i < ndim && n <= most; i++)
        n *= loop[i].n;
    return n;
}

/* Whether the rows of input k are dense already, or long. */
static bool reads_well(const struct elementwise_plan *plan, int k, int inner)
{
    const struct ew_loop *loop = plan->loop;
    int64_t size = plan->pass.stored[k], dense = size;
    bool row = loop->stride[k] == 0 || loop->stride[k] == size;
    if (row && loop->n * plan->pass.stored[EW_OUT] >= EW_SHORT_TILED)
        return true;
    for (int i = 0; i < inner; dense *= loop[i++].n)
        if (loop[i].stride[k] != dense)
            return false;
    return true;
}

static bool is_staged(const struct elementwise_plan *plan, int k, int inner)
{
    int64_t most = EW_STAGE_BYTES / plan->pass.stored[k];
    int64_t block = elements(plan->loop, inner, most);
    int outer = plan->ndim - inner;
    return inner > 0 && block <= most &&
           elements(plan->loop + inner, outer, EW_WORTH_DEEP) >= REUSE &&
           elements(plan->loop, plan->ndim, EW_WORTH_DEEP) >= EW_WORTH_DEEP &&
           !reads_well(plan, k, inner);
}

/* Keeps the loops as they are and gives input k the strides of the copy. */
static void stage(struct elementwise_plan *plan, int k, int inner)
{
    int64_t dense = plan->pass.stored[k];
    plan->stage.operand = k;
    plan->stage.ndim = plan->ndim;
    plan->stage.inner = inner;
    for (int i = 0; i < plan->ndim; i++)
        plan->stage.loop[i] = plan->loop[i];
    for (int i = 0; i < inner; dense *= plan->loop[i++].n)
        plan->loop[i].stride[k] = dense;
    plan->stage.bytes = dense;
    plan->ndim = ew_plan_merge(plan->loop, plan->ndim, EW_OUT + 1);
}

void ew_stage_choose(struct elementwise_plan *plan)
{
    plan->stage.ndim = 0;
    plan->stage.bytes = 0;
    for (int k = 0; k < 2 && !plan->empty && plan->ndim <= EW_STAGE_LOOPS; k++)
        if (is_staged(plan, k, loops_of(plan, k))) {
            stage(plan, k, loops_of(plan, k));
            return;
        }
}

const struct ew_loop *ew_stage_loops(const struct elementwise_plan *plan,
                                     int *ndim)
{
    *ndim = plan->stage.ndim ? plan->stage.ndim : plan->ndim;
    return plan->stage.ndim ? plan->stage.loop : plan->loop;
}

/* The copy is a nest of its own, of the input and the buffer. */
static void copy(const struct elementwise_plan *plan, void *from, void *to)
{
    const struct ew_stage *s = &plan->stage;
    struct ew_loop loop[EW_STAGE_LOOPS];
    int64_t dense = plan->pass.stored[s->operand];
    void *const data[] = {from, NULL, to};
    for (int i = 0; i < s->inner; dense *= loop[i++].n) {
        loop[i] = (struct ew_loop){.n = s->loop[i].n};
        loop[i].stride[EW_X] = s->loop[i].stride[s->operand];
        loop[i].stride[EW_OUT] = dense;
    }
    ew_execute_calls(
        loop, ew_plan_merge(loop, s->inner, EW_OUT + 1),
        ew_table_move(plan->level, plan->types.operand[s->operand]), NULL,
        data);
}

static void run_staged(const struct elementwise_plan *plan, void *const data[],
                       void *buffer)
{
    void *staged[] = {data[EW_X], data[EW_Y], data[EW_OUT]};
    copy(plan, data[plan->stage.operand], buffer);
    staged[plan->stage.operand] = buffer;
    ew_execute(plan->loop, plan->ndim, &plan->pass, staged);
}

/* A call takes no more than 128 KiB of stack, which some systems give a thread:
   with the tables of a tile of several loops only a small buffer. Kept out of
   the frames of other calls. */
static __attribute__((noinline)) void
run_large(const struct elementwise_plan *plan, void *const data[])
{
    _Alignas(64) char buffer[EW_STAGE_BYTES];
    run_staged(plan, data, buffer);
}

static __attribute__((noinline)) void
run_small(const struct elementwise_plan *plan, void *const data[])
{
    _Alignas(64) char buffer[EW_STAGE_DEEP];
    run_staged(plan, data, buffer);
}

void ew_stage_run(const struct elementwise_plan *plan, void *const data[])
{
    if (plan->stage.bytes > EW_STAGE_DEEP)
        run_large(plan, data);
    else if (plan->stage.bytes)
        run_small(plan, data);
    else
        ew_execute(plan->loop, plan->ndim, &plan->pass, data);
}
