/*
 * The public gradients and the sum they are made of: where every such call
 * starts. terms.c turns it into walks, and once the data is checked here,
 * walk.c makes them.
 */
#include "gradient.h"

#include <stdlib.h>
#include <string.h>

#include "execute.h"
#include "fuse.h"
#include "kernels/quiet.h"
#include "message.h"
#include "overlap.h"
#include "table.h"
#include "validate.h"

/* Stores zeros: the sum of nothing, and derivatives that vanish. */
static void clear(const struct ew_gradient *g, const struct ew_term *t,
                  void *out)
{
    static const struct ew_c128 zero; /* of any type */
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    const struct ew_pass pass = {.op =
                                     ew_table_move(g->level, g->dtype[t->out])};
    void *const data[] = {(void *)&zero, NULL, out};
    for (int i = 0; i < t->own_ndim; i++) {
        loop[i] = (struct ew_loop){.n = t->own[i].n};
        loop[i].stride[EW_OUT] =
            t->own[i].stride * (int64_t)ew_types_size(g->dtype[t->out]);
        if (loop[i].n == 0)
            return;
    }
    ew_execute(loop, t->own_ndim, &pass, data);
}

static bool has_elements(const struct ew_term *t)
{
    for (int i = 0; i < t->own_ndim; i++)
        if (t->own[i].n == 0)
            return false;
    return true;
}

/* Only what is read or written must have data. */
static elementwise_status check_data(const struct ew_gradient *g,
                                     void *const data[])
{
    elementwise_status status = ELEMENTWISE_OK;
    for (int k = 0; k <= EW_DDY && !status && !g->empty; k++)
        if (g->dtype[k] && g->uses >> k & 1)
            status = ew_validate_data(g->what, g->names[k], data[k],
                                      ew_types_align(g->dtype[k]), true);
    for (int i = 0; i < g->terms && !status; i++) {
        int k = g->term[i].out;
        if (has_elements(&g->term[i]))
            status = ew_validate_data(g->what, g->names[k], data[k],
                                      ew_types_align(g->dtype[k]), false);
    }
    return status;
}

/* dx or dy may be dout where every element is stored over the one it came
   from. */
static bool may_be_dout(const struct ew_gradient *g, const struct ew_term *t,
                        int k, void *const data[])
{
    if (k != EW_OUT || g->apart || t->reduced || t->add ||
        g->dtype[k] != g->dtype[t->out] || data[k] != data[t->out])
        return false;
    for (int i = 0; i < g->ndim; i++)
        if (g->loop[i].stride[k] != g->loop[i].stride[t->out])
            return false;
    return true;
}

static bool overlap(const struct ew_gradient *g, int a, int b,
                    void *const data[])
{
    return !ew_overlap_apart(data[a], g->range[a], data[b], g->range[b]) &&
           ew_overlap_shared(g->loop, g->ndim, a, data[a],
                             (int64_t)ew_types_size(g->dtype[a]), b, data[b],
                             (int64_t)ew_types_size(g->dtype[b]));
}

/* Every output against all inputs and against the outputs before it. */
static elementwise_status check_overlap(const struct ew_gradient *g,
                                        void *const data[])
{
    for (int i = 0; i < g->terms; i++) {
        const struct ew_term *t = &g->term[i];
        for (int k = 0; k < t->out; k++)
            if (g->dtype[k] && data[k] && !may_be_dout(g, t, k, data) &&
                overlap(g, t->out, k, data))
                return ew_fail(ELEMENTWISE_OVERLAP,
                               "%s: an element of %s is also an element of "
                               "%s; %s",
                               g->what, g->names[t->out], g->names[k],
                               g->apart
                                   ? "outputs share nothing with anything else"
                                   : "dx or dy may be dout itself if nothing "
                                     "is summed into it and it is not added "
                                     "to, and share nothing otherwise");
    }
    return ELEMENTWISE_OK;
}

static elementwise_status run(const struct ew_gradient *g, void *const data[])
{
    static const struct ew_c128 zero;
    void *at[EW_OPERANDS];
    elementwise_status status = check_data(g, data);
    for (int k = 0; k < EW_OPERANDS; k++)
        at[k] = data[k] ? (char *)data[k] + g->offset[k] : NULL;
    if (!status && !g->empty)
        status = check_overlap(g, at);
    if (status)
        return status;
    for (int k = EW_DDX; k <= EW_DDY; k++)
        if (!g->dtype[k])
            at[k] = (void *)&zero;
    for (int i = 0; i <= g->walks && !g->empty; i++)
        if (g->walk[i].terms)
            ew_walk_run(g, &g->walk[i], at);
    /* Last, since an output may be dout, which the walks read. */
    for (int i = 0; i < g->terms; i++)
        if ((g->empty || !g->term[i].uses) && !g->term[i].add)
            clear(g, &g->term[i], data[g->term[i].out]);
    return ELEMENTWISE_OK;
}

static elementwise_status apply(struct ew_request *r)
{
    struct ew_gradient g;
    void *data[EW_OPERANDS];
    elementwise_status status = ew_terms_make(&g, r);
    if (status)
        return status;
    for (int k = 0; k < EW_OPERANDS; k++)
        data[k] = r->tensor[k] ? r->tensor[k]->data : NULL;
    return run(&g, data);
}

/* The 18 gradients, and the 4 double gradients. */
#define GRADIENT(name, NAME)                                                   \
    elementwise_status elementwise_##name##_grad(                              \
        const elementwise_tensor *x, const elementwise_tensor *y,              \
        const elementwise_tensor *dout, int axis,                              \
        const elementwise_tensor *dx, const elementwise_tensor *dy)            \
    {                                                                          \
        struct ew_request r = {                                                \
            .op = ELEMENTWISE_##NAME,                                          \
            .axis = axis,                                                      \
            .tensor = {x, y, dout, [EW_DX] = dx, [EW_DY] = dy}};               \
        return apply(&r);                                                      \
    }
#define GRADIENT_GRADIENT(name, NAME)                                          \
    elementwise_status elementwise_##name##_grad_grad(                         \
        const elementwise_tensor *x, const elementwise_tensor *y,              \
        const elementwise_tensor *dout, const elementwise_tensor *ddx,         \
        const elementwise_tensor *ddy, int axis, const elementwise_tensor *dx, \
        const elementwise_tensor *dy, const elementwise_tensor *ddout)         \
    {                                                                          \
        struct ew_request r = {                                                \
            .what = #name "_grad_grad",                                        \
            .op = ELEMENTWISE_##NAME,                                          \
            .axis = axis,                                                      \
            .second = true,                                                    \
            .tensor = {x, y, dout, ddx, ddy, dx, dy, ddout}};                  \
        return apply(&r);                                                      \
    }
#include "gradients.def"

/* Checks the options of a request before it reads any, as a struct of another
   size may not have them, and forgets out where the gradient of their act does
   not follow from it. */
static elementwise_status take_options(struct ew_request *r)
{
    const unsigned known = ELEMENTWISE_ADD_TO_DX | ELEMENTWISE_ADD_TO_DY;
    elementwise_status status =
        r->options ? ew_validate_options(r->what, r->options, known)
                   : ELEMENTWISE_OK;
    if (status)
        return status;
    r->flags = r->options ? r->options->flags : 0;
    if (!ew_fuse_takes_out(r->options))
        r->tensor[EW_DDX] = NULL;
    return ELEMENTWISE_OK;
}

elementwise_status elementwise_apply_grad(
    elementwise_op op, const elementwise_tensor *x, const elementwise_tensor *y,
    const elementwise_tensor *out, const elementwise_tensor *dout, int axis,
    const elementwise_tensor *dx, const elementwise_tensor *dy,
    const elementwise_options *options)
{
    struct ew_request r = {
        .what = "apply_grad",
        .op = op,
        .axis = axis,
        .options = options,
        .tensor = {x, y, dout, out, [EW_DX] = dx, [EW_DY] = dy}};
    elementwise_status status = take_options(&r);
    return status ? status : apply(&r);
}

elementwise_status elementwise_sum_to(const elementwise_tensor *src, int axis,
                                      const elementwise_tensor *dst,
                                      const elementwise_options *options)
{
    struct ew_gradient g;
    elementwise_status status = ELEMENTWISE_OK;
    if (options)
        status = ew_validate_options("sum_to", options, ELEMENTWISE_ADD_TO_OUT);
    if (!status && !ew_fuse_nothing(options))
        status = ew_fail(ELEMENTWISE_INVALID,
                         "sum_to: options.act must be ELEMENTWISE_ACT_NONE, "
                         "scale_x and scale_y 1");
    if (!status)
        status =
            ew_terms_make_sum(&g, src, axis, dst, options ? options->flags : 0);
    if (status)
        return status;
    void *const data[EW_OPERANDS] = {[EW_OUT] = src->data, [EW_DX] = dst->data};
    return run(&g, data);
}

elementwise_status elementwise_plan_create_grad(
    elementwise_plan **plan, elementwise_op op, const elementwise_tensor *x,
    const elementwise_tensor *y, const elementwise_tensor *out,
    const elementwise_tensor *dout, int axis, const elementwise_tensor *dx,
    const elementwise_tensor *dy, const elementwise_options *options)
{
    struct ew_request r = {
        .what = "plan_create_grad",
        .op = op,
        .axis = axis,
        .options = options,
        .tensor = {x, y, dout, out, [EW_DX] = dx, [EW_DY] = dy}};
    if (!plan)
        return ew_fail(ELEMENTWISE_INVALID, "%s: plan is NULL", r.what);
    *plan = NULL;
    elementwise_status status = take_options(&r);
    if (status)
        return status;
    /* One block for both, and the gradient made where it stays: its walks
       point to its terms. */
    int before = errno;
    struct elementwise_plan *made =
        malloc(sizeof *made + sizeof(struct ew_gradient));
    ew_quiet_restore(before);
    if (!made)
        return ew_fail(ELEMENTWISE_NO_MEMORY, "%s: no memory", r.what);
    memset(made, 0, sizeof *made); /* plan_run finds neither calls nor empty */
    made->op = op;
    made->act = options ? options->act : ELEMENTWISE_ACT_NONE;
    made->scaled[EW_X] = options && options->scale_x != 1;
    made->scaled[EW_Y] = options && options->scale_y != 1;
    made->gradient = (struct ew_gradient *)(made + 1);
    status = ew_terms_make(made->gradient, &r);
    if (status)
        free(made);
    else
        *plan = made;
    return status;
}

/* Whether one of the plan's terms is output k. */
static bool makes(const struct ew_gradient *g, int k)
{
    for (int i = 0; i < g->terms; i++)
        if (g->term[i].out == k)
            return true;
    return false;
}

elementwise_status elementwise_plan_run_grad(const elementwise_plan *plan,
                                             const void *x, const void *y,
                                             const void *out, const void *dout,
                                             void *dx, void *dy)
{
    if (!plan || !plan->gradient)
        return ew_fail(ELEMENTWISE_INVALID, "plan_run_grad: plan is %s",
                       plan ? "not one of a gradient" : "NULL");
    void *const data[EW_OPERANDS] = {(void *)x,   (void *)y,    (void *)dout,
                                     (void *)out, [EW_DX] = dx, [EW_DY] = dy};
    for (int k = EW_DX; k <= EW_DY; k++)
        if (data[k] && !makes(plan->gradient, k))
            return ew_fail(ELEMENTWISE_INVALID,
                           "plan_run_grad: %s was NULL when the plan was made, "
                           "so nothing would be written; pass NULL, or make a "
                           "plan with it",
                           plan->gradient->names[k]);
    return run(plan->gradient, data);
}
