/*
 * Turns one tensor into another of a wider shape or another type. A copy is a
 * plan whose operation is a conversion and whose y does not take part, so it
 * takes the same loops and the same executor as any operation.
 */
#include "cpu.h"
#include "message.h"
#include "stage.h"
#include "table.h"
#include "validate.h"

static const char what[] = "copy";

static unsigned char size_of(const elementwise_tensor *t)
{
    return (unsigned char)ew_types_size(t->dtype);
}

/* Elements of one type are moved as they are; only true is made 1. */
static ew_kernel *conversion(int level, const elementwise_tensor *dst,
                             const elementwise_tensor *src)
{
    if (src->dtype == dst->dtype && src->dtype != ELEMENTWISE_BOOL)
        return ew_table_move(level, src->dtype);
    return ew_table_convert(level, dst->dtype, src->dtype);
}

/* src stands where x does, dst where out does; y is nothing at all. */
static elementwise_status make(struct elementwise_plan *plan,
                               const elementwise_tensor *src, int axis,
                               const elementwise_tensor *dst)
{
    struct ew_alignment a;
    elementwise_status status = ew_validate_tensor(what, "src", src);
    if (!status)
        status = ew_validate_tensor(what, "dst", dst);
    if (!status)
        status = ew_shape_onto(what, "src", src, axis, "dst", dst, &a,
                               plan->result_shape);
    if (status)
        return status;
    const struct ew_placed nothing = {.tensor = src, .ndim = 0};
    const struct ew_placed placed[] = {a.y, nothing, a.x};
    plan->what = what;
    plan->op = (elementwise_op)0; /* none, for strategies of some operations */
    plan->types =
        (struct ew_types){.operand = {src->dtype, src->dtype, dst->dtype}};
    plan->level = ew_cpu_level();
    plan->pass = (struct ew_pass){
        .op = conversion(plan->level, dst, src),
        .stored = {size_of(src), size_of(src), size_of(dst)},
        .size = {[EW_X] = size_of(src), [EW_OUT] = size_of(dst)}};
    if (!plan->pass.op)
        return ew_fail(ELEMENTWISE_BAD_DTYPE,
                       "%s: %s cannot become %s, which has no imaginary part",
                       what, elementwise_dtype_name(src->dtype),
                       elementwise_dtype_name(dst->dtype));
    return ew_plan_layout(plan, a.ndim, placed);
}

elementwise_status elementwise_copy(const elementwise_tensor *src, int axis,
                                    const elementwise_tensor *dst)
{
    struct elementwise_plan plan;
    elementwise_status status = make(&plan, src, axis, dst);
    if (!status && plan.exists[EW_X])
        status = ew_validate_data(what, "src", src->data, 1, true);
    if (!status && plan.exists[EW_OUT])
        status = ew_validate_data(what, "dst", dst->data,
                                  ew_types_align(dst->dtype), false);
    if (status || plan.empty)
        return status;
    void *data[] = {(char *)src->data + plan.offset[EW_X], NULL,
                    (char *)dst->data + plan.offset[EW_OUT]};
    if (ew_plan_overlaps(&plan, EW_X, data))
        return ew_fail(ELEMENTWISE_OVERLAP,
                       "%s: an element of dst is also an element of src; "
                       "they must share nothing",
                       what);
    ew_stage_run(&plan, data);
    return ELEMENTWISE_OK;
}
