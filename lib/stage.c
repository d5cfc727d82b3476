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
 * It holds what inner loops repeat as often as they do, or once.
 */
#include "stage.h"

#include "execute.h"
#include "strategy.h"
#include "table.h"

enum {
    REUSE = 4,   /* from so many readings on, */
    WORTH = 4096 /* and so many elements read */
};

/* The loops up to the last along which input k moves. */
static int loops_of(const struct elementwise_plan *plan, int k)
{
    int inner = plan->ndim;
    while (inner && plan->loop[inner - 1].stride[k] == 0)
        inner--;
    return inner;
}

/* How an input is copied: its elements in the `inner` loops, once, or as often
   as these loops read them. */
struct way {
    int operand, inner;
    bool once;
};

static bool copies(const struct way *way, const struct ew_loop *loop)
{
    return !way->once || loop->stride[way->operand] != 0;
}

/* Elements of the copy, or how often it is read; or what is above `most`. */
static int64_t count(const struct elementwise_plan *plan, const struct way *way,
                     bool copied, int64_t most)
{
    int64_t n = 1;
    for (int i = 0; i < plan->ndim && n <= most; i++) {
        bool is_copied = i < way->inner && copies(way, &plan->loop[i]);
        n *= is_copied == copied ? plan->loop[i].n : 1;
    }
    return n;
}

/* Whether the rows of an input are dense already, or long. */
static bool reads_well(const struct elementwise_plan *plan,
                       const struct way *way)
{
    const struct ew_loop *loop = plan->loop;
    int k = way->operand;
    int64_t size = plan->pass.stored[k], dense = size;
    bool row = loop->stride[k] == 0 || loop->stride[k] == size;
    if (row && loop->n * plan->pass.stored[EW_OUT] >= EW_SHORT_TILED)
        return true;
    for (int i = 0; i < way->inner; i++) {
        if (!copies(way, &loop[i]))
            continue;
        if (loop[i].stride[k] != dense)
            return false;
        dense *= loop[i].n;
    }
    return true;
}

/* Gives the input the strides of its copy in a nest, and merges its loops;
   returns the bytes of the copy. */
static int64_t replace(const struct elementwise_plan *plan,
                       const struct way *way, struct ew_loop *loop, int *ndim)
{
    int64_t dense = plan->pass.stored[way->operand];
    for (int i = 0; i < way->inner; i++) {
        if (!copies(way, &loop[i]))
            continue;
        loop[i].stride[way->operand] = dense;
        dense *= loop[i].n;
    }
    *ndim = ew_plan_merge(loop, *ndim, EW_OUT + 1);
    return dense;
}

/* Whether an input runs across memory, or with gaps that are no shuffles. */
static bool reads_ill(const struct elementwise_plan *plan, int k)
{
    int64_t first = 0, least = EW_SHUFFLED * plan->pass.stored[k];
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        first = first ? first : step;
        least = step && step < least ? step : least;
    }
    return first > least;
}

/* Whether the loops with a copy are better than without: if that holds the
   input once for all, it reads better or more loops merge. If rows are still so
   short that tiles of several loops may be better, it leaves room for these. */
static bool helps(const struct elementwise_plan *plan, const struct way *way)
{
    struct ew_loop loop[EW_STAGE_LOOPS];
    int ndim = plan->ndim;
    for (int i = 0; i < ndim; i++)
        loop[i] = plan->loop[i];
    int64_t bytes = replace(plan, way, loop, &ndim);
    bool deep = ew_strategy_deepens(loop, ndim, plan->pass.stored[EW_OUT],
                                    EW_WORTH_DEEP_CALL);
    return (bytes <= EW_STAGE_DEEP || !deep) &&
           (!way->once || ndim < plan->ndim || reads_ill(plan, way->operand));
}

static bool is_staged(const struct elementwise_plan *plan,
                      const struct way *way)
{
    int64_t most = EW_STAGE_BYTES / plan->pass.stored[way->operand];
    int64_t block = count(plan, way, true, most);
    int64_t again = count(plan, way, false, WORTH);
    return way->inner > 0 && block <= most && again >= REUSE &&
           !reads_well(plan, way) && helps(plan, way);
}

/* Keeps the loops as they are and gives the input the strides of the copy. */
static void stage(struct elementwise_plan *plan, const struct way *way)
{
    plan->stage.operand = way->operand;
    plan->stage.ndim = plan->ndim;
    plan->stage.inner = way->inner;
    plan->stage.once = way->once;
    for (int i = 0; i < plan->ndim; i++)
        plan->stage.loop[i] = plan->loop[i];
    plan->stage.bytes = replace(plan, way, plan->loop, &plan->ndim);
}

/* Whether there are loops for both, and elements enough. */
static bool is_worth(const struct elementwise_plan *plan)
{
    int64_t elements = 1;
    for (int i = 0; i < plan->ndim && elements < WORTH; i++)
        elements *= plan->loop[i].n;
    return !plan->empty && plan->ndim > 1 && plan->ndim <= EW_STAGE_LOOPS &&
           elements >= WORTH;
}

void ew_stage_choose(struct elementwise_plan *plan)
{
    plan->stage.ndim = 0;
    plan->stage.bytes = 0;
    if (!is_worth(plan))
        return;
    for (int once = 0; once < 2; once++)
        for (int k = 0; k < 2; k++) {
            const struct way way = {k, loops_of(plan, k), once};
            if (!is_staged(plan, &way))
                continue;
            stage(plan, &way);
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
    const struct way way = {s->operand, s->inner, s->once};
    struct ew_loop loop[EW_STAGE_LOOPS];
    int64_t dense = plan->pass.stored[s->operand];
    void *const data[] = {from, NULL, to};
    int ndim = 0;
    for (int i = 0; i < s->inner; i++) {
        if (!copies(&way, &s->loop[i]))
            continue;
        loop[ndim] = (struct ew_loop){.n = s->loop[i].n};
        loop[ndim].stride[EW_X] = s->loop[i].stride[s->operand];
        loop[ndim].stride[EW_OUT] = dense;
        dense *= loop[ndim++].n;
    }
    ew_execute_calls(
        loop, ew_plan_merge(loop, ndim, EW_OUT + 1),
        ew_table_move(plan->level, plan->types.operand[s->operand]), NULL, 0,
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

/* A call takes no more stack than the header says, as some systems give a
   thread 128 KiB: with the tables of a tile of several loops only a small
   buffer. Kept out of the frames of other calls. */
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
