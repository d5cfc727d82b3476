/*
 * Turns the options act, scale_x and scale_y into another op of a pass, or into
 * further steps, and the hint that out is not read soon. They need a result
 * that is a float, or for scales a complex number.
 */
#include "fuse.h"

#include <math.h>

#include <string.h>

#include "cpu.h"
#include "dense.h"
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
    pass->around.alpha = parameter(compute, options->alpha);
}

enum { LONG_ROW = 1024 }; /* bytes of a row of out */

static bool cuts_off(elementwise_act act)
{
    return act == ELEMENTWISE_ACT_RELU || act == ELEMENTWISE_ACT_RELU6;
}

/* Whether a kernel of f16 or bf16 makes relu, too. */
static bool has_relu(int level, elementwise_op op)
{
    return level >= EW_LEVEL_AVX512 && (int)op <= EW_RELU_LAST;
}

/* Whether a result of f16 or bf16 is rounded before an activation: one that
   cuts off gives the same then, and is made of bits in less time than in f32 by
   kernels of any activation. */
static bool rounds_first(int level, elementwise_op op,
                         elementwise_dtype compute,
                         const elementwise_options *o)
{
    return ew_types_size(compute) == 2 && cuts_off(o->act) && o->scale_x == 1 &&
           o->scale_y == 1 &&
           !(o->act == ELEMENTWISE_ACT_RELU && has_relu(level, op));
}

/* What such a kernel is told, where it stays: copied in vectors, numbers just
   stored would be waited for. */
static void tell_around(elementwise_dtype dtype, const elementwise_options *o,
                        struct ew_around *a)
{
    const double number[EW_AROUNDS] = {
        [EW_FACTOR_X] = o->scale_x,
        [EW_FACTOR_Y] = o->scale_y,
        [EW_SLOPE] = o->act == ELEMENTWISE_ACT_LEAKY_RELU ? o->alpha : 1,
        [EW_LOW] = cuts_off(o->act) ? 0 : -INFINITY,
        [EW_HIGH] = o->act == ELEMENTWISE_ACT_RELU6 ? 6 : INFINITY};
    a->alpha = parameter(dtype, o->alpha);
    a->op = NULL;
    a->past = false;
    if (dtype == ELEMENTWISE_F64)
        memcpy(a->f64, number, sizeof number);
    else
        for (int i = 0; i < EW_AROUNDS; i++)
            a->f32[i] = (float)number[i];
}

/* The kernel of op that makes them, EW_WHOLE or EW_WHOLE_PAST, or NULL. */
static ew_kernel *whole(int level, elementwise_op op, elementwise_dtype dtype,
                        int kind)
{
    if ((int)op > EW_WHOLE_LAST)
        return NULL;
    return ew_table_direct(level, kind + (int)op, dtype);
}

static ew_kernel *whole_of(const struct elementwise_plan *plan, int kind)
{
    return whole(plan->level, plan->op, plan->types.compute[EW_OUT], kind);
}

/* Whether that makes the activation too. */
static bool made_by_op(const struct elementwise_plan *plan,
                       const elementwise_options *o)
{
    return whole_of(plan, EW_WHOLE) && o->act <= ELEMENTWISE_ACT_LEAKY_RELU &&
           !rounds_first(plan->level, plan->op, plan->types.compute[EW_OUT], o);
}

/* Leaves as many steps to op as it has a kernel for. */
static void fuse_into_op(struct elementwise_plan *plan,
                         const elementwise_options *options)
{
    struct ew_pass *pass = &plan->pass;
    ew_kernel *op = whole_of(plan, EW_WHOLE);
    bool scaled = pass->scale[EW_X] || pass->scale[EW_Y];
    bool act = made_by_op(plan, options);
    if (!op || !(scaled || act))
        return;
    pass->op = op;
    if (pass->past)
        pass->past = whole_of(plan, EW_WHOLE_PAST);
    pass->scale[EW_X] = pass->scale[EW_Y] = NULL;
    if (act)
        pass->act = NULL;
    tell_around(plan->types.compute[EW_OUT], options, &pass->around);
}

/* Whether f16 or bf16 are computed in f32 and all operands are of that type. */
static bool widens_halves(const struct elementwise_plan *plan)
{
    const struct ew_types *t = &plan->types;
    return t->compute[EW_OUT] == ELEMENTWISE_F32 &&
           ew_types_size(t->result) == 2 && t->operand[EW_X] == t->result &&
           t->operand[EW_Y] == t->result && t->operand[EW_OUT] == t->result;
}

/* Whether operands need no buffers. The steps from halves to f32 and back such
   a kernel makes too, of what is dense or one number in each row. */
static bool takes_operands(const struct elementwise_plan *plan)
{
    struct ew_pass pass = plan->pass;
    bool dense = true;
    for (int k = 0; k < EW_OUT; k++)
        dense &= plan->loop[0].stride[k] == 0 ||
                 plan->loop[0].stride[k] == pass.stored[k];
    if (dense && widens_halves(plan))
        pass.load[EW_X] = pass.load[EW_Y] = pass.store = NULL;
    return !ew_pass_buffers(&pass);
}

/* Leaves the activation and the operation before it to one kernel, where that
   reads and writes long rows of the operands themselves. nextafter of halves is
   made in their type, not in that of the activation. */
static void fuse_behind_op(struct elementwise_plan *plan)
{
    struct ew_pass *pass = &plan->pass;
    const struct ew_loop *row = plan->loop;
    bool half = ew_types_size(plan->types.compute[EW_OUT]) == 2;
    if (!pass->act || half || !pass->behind || plan->empty || plan->ndim == 0 ||
        pass->fold || !takes_operands(plan) ||
        row->stride[EW_OUT] != pass->stored[EW_OUT] ||
        row->n * pass->size[EW_OUT] < LONG_ROW)
        return;
    pass->around.op = pass->op;
    pass->op = pass->behind;
    pass->load[EW_X] = pass->load[EW_Y] = pass->store = NULL;
    for (int k = 0; k < 3; k++)
        pass->size[k] = pass->stored[k];
    if (pass->past)
        pass->past = pass->behind;
    pass->act = NULL;
}

/* The strategy was chosen for op alone. It is chosen again where op takes the
   kernels of f32 for steps beside it, and where it left short rows to masks or
   to calls of several, or inputs with gaps to loops, of which kernels have the
   best for op alone. */
static void choose_again(struct elementwise_plan *plan,
                         const elementwise_options *options)
{
    bool steps = !made_by_op(plan, options) &&
                 !rounds_first(plan->level, plan->op,
                               plan->types.compute[EW_OUT], options);
    plan->act = options->act;
    plan->scaled[EW_X] = options->scale_x != 1;
    plan->scaled[EW_Y] = options->scale_y != 1;
    if ((steps && ew_types_widen(plan->op, &plan->types)) ||
        plan->pass.masked || plan->pass.repeats || ew_strategy_is_alone(plan)) {
        ew_plan_choose_kernels(plan);
        ew_strategy_choose(plan);
    }
}

elementwise_status ew_fuse_plan(struct elementwise_plan *plan,
                                const elementwise_options *options)
{
    struct ew_pass *pass = &plan->pass;
    bool nothing = ew_fuse_nothing(options);
    elementwise_status status =
        ew_fuse_check(plan->what, &plan->types, options);
    if (status)
        return status;
    if (!nothing)
        choose_again(plan, options);
    if (options && options->flags & ELEMENTWISE_STREAM)
        ew_strategy_stream(plan); /* not before: that would forget it */
    if (nothing)
        return ELEMENTWISE_OK;
    elementwise_dtype compute = plan->types.compute[EW_OUT];
    ew_fuse_scales(pass, plan->level, compute, options);
    if (options->act != ELEMENTWISE_ACT_NONE) {
        pass->act =
            ew_table_activation(plan->level, compute, (int)options->act);
        pass->behind =
            ew_table_behind(plan->level, plan->types.result, options->act);
    }
    fuse_into_op(plan, options);
    fuse_behind_op(plan);
    ew_plan_prepare_calls(plan);
    return ELEMENTWISE_OK;
}

/* The kernel that makes op on elements of one type and all that is around it,
   as a plan of long rows has it, and what it is told; NULL: none does. */
static ew_kernel *at_once(elementwise_op op, elementwise_dtype dtype,
                          const elementwise_options *o,
                          struct ew_around *numbers)
{
    const int level = ew_cpu_level();
    ew_kernel *made = o->act <= ELEMENTWISE_ACT_LEAKY_RELU
                          ? whole(level, op, dtype, EW_WHOLE)
                          : NULL;
    const bool half = ew_types_size(dtype) == 2;
    tell_around(dtype, o, numbers);
    if (made)
        return made;
    numbers->op =
        ew_table_direct(level, (int)op, half ? ELEMENTWISE_F32 : dtype);
    if (!numbers->op || o->scale_x != 1 || o->scale_y != 1 ||
        (half && op == ELEMENTWISE_NEXTAFTER))
        return NULL;
    return ew_table_behind(level, dtype, o->act);
}

/* Makes op on elements of f16 or bf16 that are few enough for the L1 cache, and
   then the activation, as a plan does tile by tile. */
static bool run_rounded(elementwise_op op, const elementwise_tensor *x,
                        const elementwise_tensor *y,
                        const elementwise_tensor *out, elementwise_act act)
{
    const int level = ew_cpu_level();
    int64_t size = (int64_t)ew_types_size(out->dtype), n = 1;
    ew_kernel *made = ew_table_direct(level, (int)op, out->dtype);
    if (!made ||
        !ew_dense_run_around(op, made, x, y, out, EW_TILE_BYTES / size, NULL))
        return false;
    for (int i = 0; i < out->ndim; i++)
        n *= out->shape[i];
    void *const data[] = {out->data, NULL, out->data};
    const struct ew_stride stride[] = {{0, size}, {0, 0}, {0, size}};
    ew_table_activation(level, out->dtype, (int)act)(1, n, data, stride);
    return true;
}

bool ew_fuse_run(elementwise_op op, const elementwise_tensor *x,
                 const elementwise_tensor *y, const elementwise_tensor *out,
                 const elementwise_options *options)
{
    if (!out || options->flags || !ew_types_known_op(op) ||
        !ew_types_known(out->dtype) ||
        ew_types_kind(out->dtype) != EW_KIND_FLOAT)
        return false;
    if (rounds_first(ew_cpu_level(), op, out->dtype, options))
        return run_rounded(op, x, y, out, options->act);
    struct ew_around numbers;
    ew_kernel *kernel = at_once(op, out->dtype, options, &numbers);
    return kernel &&
           ew_dense_run_around(op, kernel, x, y, out, EW_DENSE_MOST, &numbers);
}
