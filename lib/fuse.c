/*
 * Turns the options act, scale_x and scale_y into further steps of a pass, and
 * the hint that out is not read soon. They need a result that is a float, or
 * for scales a complex number.
 */
#include "fuse.h"

#include "cpu.h"
#include "message.h"
#include "strategy.h"
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

/* As kernels on dtype read it. */
static union ew_parameter parameter(elementwise_dtype dtype, double value)
{
    bool wide = dtype == ELEMENTWISE_F64 || dtype == ELEMENTWISE_C128;
    return wide ? (union ew_parameter){.f64 = value}
                : (union ew_parameter){.f32 = (float)value};
}

/* leaky_relu with a negative slope has positive results on both sides. */
bool ew_fuse_takes_out(const elementwise_options *options)
{
    elementwise_act act = options ? options->act : ELEMENTWISE_ACT_NONE;
    bool folded = act == ELEMENTWISE_ACT_LEAKY_RELU && !(options->alpha >= 0);
    return !folded &&
           ew_table_slope(EW_LEVEL_BASE, ELEMENTWISE_F32, act, true) != NULL;
}

void ew_fuse_scales(struct ew_pass *pass, int level, elementwise_dtype compute,
                    const elementwise_options *options)
{
    const double scale[] = {options->scale_x, options->scale_y};
    for (int k = 0; k < 2; k++)
        if (scale[k] != 1) {
            pass->scale[k] = ew_table_activation(level, compute, EW_SCALE);
            pass->factor[k] = parameter(compute, scale[k]);
        }
    pass->alpha = parameter(compute, options->alpha);
}

elementwise_status ew_fuse_plan(struct elementwise_plan *plan,
                                const elementwise_options *options)
{
    struct ew_pass *pass = &plan->pass;
    elementwise_status status =
        ew_fuse_check(plan->what, &plan->types, options);
    bool nothing = ew_fuse_nothing(options);
    if (status)
        return status;
    if (!nothing && ew_types_widen(plan->op, &plan->types)) {
        ew_plan_choose_kernels(plan);
        ew_strategy_choose(plan);
    }
    if (options && options->flags & ELEMENTWISE_STREAM)
        ew_strategy_stream(plan); /* not before: that would forget it */
    if (nothing)
        return ELEMENTWISE_OK;
    elementwise_dtype compute = plan->types.compute[EW_OUT];
    ew_fuse_scales(pass, plan->level, compute, options);
    plan->act = options->act;
    if (options->act != ELEMENTWISE_ACT_NONE)
        pass->act =
            ew_table_activation(plan->level, compute, (int)options->act);
    plan->one_call = false;
    return ELEMENTWISE_OK;
}
