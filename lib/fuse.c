/*
 * Turns the options act, scale_x and scale_y into further steps of a pass.
 * They need a result that is a float, or for scales a complex number.
 */
#include "fuse.h"

#include "message.h"
#include "table.h"

bool ew_fuse_nothing(const elementwise_options *options)
{
    return !options || (options->act == ELEMENTWISE_ACT_NONE &&
                        options->scale_x == 1 && options->scale_y == 1);
}

elementwise_status ew_fuse_check(const char *what, const struct ew_types *types,
                                 const elementwise_options *options)
{
    enum ew_kind kind = ew_types_kind(types->result);
    const char *result = elementwise_dtype_name(types->result);
    if (ew_fuse_nothing(options) || kind == EW_KIND_FLOAT)
        return ELEMENTWISE_OK;
    if (options->act != ELEMENTWISE_ACT_NONE)
        return ew_fail(ELEMENTWISE_BAD_DTYPE,
                       "%s: the result is %s; act %s takes f16, bf16, f32 "
                       "and f64",
                       what, result, elementwise_act_name(options->act));
    if (kind == EW_KIND_COMPLEX)
        return ELEMENTWISE_OK;
    return ew_fail(ELEMENTWISE_BAD_DTYPE,
                   "%s: the result is %s; scale_x and scale_y are for f16, "
                   "bf16, f32, f64, c64 and c128",
                   what, result);
}

union ew_parameter ew_fuse_parameter(elementwise_dtype dtype, double value)
{
    bool wide = dtype == ELEMENTWISE_F64 || dtype == ELEMENTWISE_C128;
    return wide ? (union ew_parameter){.f64 = value}
                : (union ew_parameter){.f32 = (float)value};
}

elementwise_status ew_fuse_plan(struct elementwise_plan *plan,
                                const elementwise_options *options)
{
    struct ew_pass *pass = &plan->pass;
    elementwise_status status =
        ew_fuse_check(plan->what, &plan->types, options);
    if (status || ew_fuse_nothing(options))
        return status;
    elementwise_dtype compute = plan->types.compute[EW_OUT];
    const double scale[] = {options->scale_x, options->scale_y};
    for (int k = 0; k < 2; k++)
        if (scale[k] != 1) {
            pass->scale[k] =
                ew_table_activation(plan->level, compute, EW_SCALE);
            pass->factor[k] = ew_fuse_parameter(compute, scale[k]);
        }
    plan->act = options->act;
    if (options->act != ELEMENTWISE_ACT_NONE)
        pass->act =
            ew_table_activation(plan->level, compute, (int)options->act);
    pass->alpha = ew_fuse_parameter(compute, options->alpha);
    plan->one_call = false;
    return ELEMENTWISE_OK;
}
