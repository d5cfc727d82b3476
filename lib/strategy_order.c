/*
 * Puts the loops outside a plan's rows into the order in which large inputs lie
 * in memory, where that is another than out's. Processors that have few lines
 * on their way at once wait for rows that are read far from each other, but not
 * for those that are stored so.
 *
 *     x in memory      a0 b0 a1 b1 a2 b2
 *     out in memory    a0 a1 a2 b0 b1 b2
 *     rows are made    a0 b0 a1 b1 a2 b2
 */
#include "strategy_parts.h"

enum {
    ORDERED_ALL = 12 << 20,  /* bytes of all operands, with their gaps, */
    ORDERED_INPUT = 1 << 20, /* and of an input whose order counts */
    ORDERED_HALVES =
        256, /* bytes of rows of halves, of which longer ones lose */
    /* Rows of out in the innermost loop: more of them lose if they have fewer
       bytes. Measured of one loop inside another. */
    ORDERED_MANY = 128,
    ORDERED_ROW = 96,
    /* Rows read in out's order before the one that follows the first in memory:
       of fewer, of which each goes on, processors read ahead. */
    ORDERED_FROM = 16
};

/* Whether input k is so large that it matters how it is read. Elements that are
   read several times, as of windows that overlap, count once. */
static bool counts(const struct elementwise_plan *plan, int k)
{
    return ew_strategy_bytes(plan, k) >= ORDERED_INPUT &&
           ew_strategy_span(plan, k) >= ORDERED_INPUT;
}

/* Whether operand k moves in all loops, and has rows of a line or more along
   the innermost. */
static bool has_rows(const struct elementwise_plan *plan, int k)
{
    int64_t col = ew_magnitude(plan->loop[0].stride[k]);
    bool moves = col > 0;
    for (int i = 1; i < plan->ndim; i++)
        moves &= ew_magnitude(plan->loop[i].stride[k]) >= col;
    return moves && plan->loop[0].n * plan->pass.stored[k] >= EW_LINE;
}

/* Whether rows of input k may be made in its order. */
static bool allows_rows(const struct elementwise_plan *plan, int k)
{
    return has_rows(plan, k) &&
           (!ew_types_is_half(plan->types.operand[k]) ||
            plan->loop[0].n * plan->pass.stored[k] <= ORDERED_HALVES);
}

/* Rows of input k that are read before the one that follows the first in
   memory. */
static int64_t rows_between(const struct elementwise_plan *plan, int k)
{
    const int next = ew_strategy_nearest(plan, k, 1);
    int64_t rows = 1;
    for (int i = 1; i < next && rows < ORDERED_FROM; i++)
        rows *= plan->loop[i].n;
    return rows;
}

/* Whether loops in the order of an input suit the other one, whose steps are
   then longer than those of the loops inside, and out. */
static bool suits(const struct elementwise_plan *plan, int other)
{
    bool ordered = true;
    for (int i = 1; i < plan->ndim; i++)
        ordered &= ew_magnitude(plan->loop[i].stride[other]) >=
                   ew_magnitude(plan->loop[i - 1].stride[other]);
    return (ordered || !counts(plan, other)) &&
           (plan->loop[1].n <= ORDERED_MANY ||
            plan->loop[0].n * plan->pass.stored[EW_OUT] >= ORDERED_ROW);
}

void ew_strategy_order(struct elementwise_plan *plan)
{
    static const int by[] = {EW_X, EW_Y, EW_OUT};
    if (plan->ndim < 3 || !ew_strategy_reads_few(plan) ||
        !has_rows(plan, EW_OUT) || !ew_strategy_spans_reach(plan, ORDERED_ALL))
        return;
    const int k = counts(plan, EW_X) ? EW_X : EW_Y;
    if (!counts(plan, k) || !allows_rows(plan, k) ||
        rows_between(plan, k) < ORDERED_FROM)
        return;
    ew_plan_sort(plan->loop + 1, plan->ndim - 1, &by[k], 1);
    if (!suits(plan, !k))
        ew_plan_sort(plan->loop + 1, plan->ndim - 1, &by[EW_OUT], 1);
}
