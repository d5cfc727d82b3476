/*
 * Turns a plan whose operation divides integers into a reduction over its
 * inputs: is there a 0 in y, or a 0 in x under a negative y? The output's
 * strides are 0, and loops along which the inputs stand still fall away, so
 * every element of a broadcast operand is read once.
 */
#include "fault.h"

#include "execute.h"
#include "message.h"
#include "stage.h"
#include "strategy.h"
#include "table.h"

/* The loops along which the operands from `first` to y move, in the order in
   which y lies in memory: out's order does not matter here. */
static int input_loops(const struct elementwise_plan *plan, int first,
                       struct ew_loop *loop)
{
    static const int order[] = {EW_Y, EW_X};
    int ndim = 0, all;
    const struct ew_loop *from = ew_stage_loops(plan, &all);
    for (int i = 0; i < all; i++, from++) {
        struct ew_loop moved = {.n = from->n};
        for (int k = first; k <= EW_Y; k++)
            moved.stride[k] = from->stride[k];
        if (moved.stride[EW_X] || moved.stride[EW_Y])
            loop[ndim++] = moved;
    }
    ew_plan_sort(loop, ndim, order, 2);
    return ew_plan_merge(loop, ndim, 3);
}

/* Where elements of y are some bytes apart, or in short rows, they are made
   dense before they are looked at: one by one, and row by row, that takes
   longer than most divisions. */
static void pack(struct ew_pass *pass, const struct ew_loop *loop, int ndim,
                 int level, elementwise_dtype y)
{
    int64_t size = (int64_t)ew_types_facts[y].size;
    int64_t n = ndim ? loop[0].n : 1, rows = ndim > 1 ? loop[1].n : 1;
    bool gaps = ndim && loop[0].stride[EW_Y] != size;
    bool folds = ew_strategy_folds(loop, ndim, size, EW_SHORT_TILED);
    if (!folds && !(gaps && n * rows >= EW_WORTH_GATHERING))
        return;
    pass->pack[EW_Y] = ew_table_move(level, y);
    pass->fold = folds;
    for (int k = 0; k <= EW_OUT; k++)
        pass->stored[k] = pass->size[k] = (unsigned char)size;
    pass->result_size = (unsigned char)size;
}

/* Runs one of the EW_ANY_ reductions over the operands from `first` to y: over
   y as it is stored, or over x and y as op reads them. */
static bool find(const struct elementwise_plan *plan, int what, int first,
                 elementwise_dtype dtype, void *const data[])
{
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    uint8_t found = 0;
    void *const operands[] = {first == EW_X ? data[EW_X] : NULL, data[EW_Y],
                              &found};
    struct ew_pass pass = {
        .op = ew_table_kernel(plan->level, what, dtype, dtype)};
    int ndim = input_loops(plan, first, loop);
    if (first == EW_Y)
        pack(&pass, loop, ndim, plan->level, dtype);
    for (int k = EW_X; k <= EW_Y && first == EW_X; k++) {
        pass.load[k] = plan->pass.load[k];
        pass.stored[k] = plan->pass.stored[k];
        pass.size[k] = plan->pass.size[k];
    }
    ew_execute(loop, ndim, &pass, operands);
    return found;
}

elementwise_status ew_fault_check(const struct elementwise_plan *plan,
                                  void *const data[])
{
    elementwise_dtype y = plan->types.operand[EW_Y];
    if (plan->types.fault == EW_FAULT_ZERO) {
        if (!find(plan, EW_ANY_ZERO, EW_Y, y, data))
            return ELEMENTWISE_OK;
        return ew_fail(ELEMENTWISE_DIVISION_BY_ZERO,
                       "%s: an element of y is 0, and integers cannot be "
                       "divided by it; out is untouched",
                       plan->what);
    }
    /* Negative exponents are rare: look for one before looking at pairs. */
    if (ew_types_kind(y) != EW_KIND_INT ||
        !find(plan, EW_ANY_NEGATIVE, EW_Y, y, data) ||
        !find(plan, EW_ANY_ZERO_TO_NEGATIVE, EW_X, plan->types.compute[EW_X],
              data))
        return ELEMENTWISE_OK;
    return ew_fail(ELEMENTWISE_DIVISION_BY_ZERO,
                   "%s: an integer 0 is raised to a negative power; out is "
                   "untouched",
                   plan->what);
}
