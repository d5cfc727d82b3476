/*
 * Turns a request for gradients into terms, one per output, and the terms
 * into walks over the loops of the result. All checks that need no data are
 * here. The statuses and the meaning of NULL are those of the header.
 */
#include "gradient.h"

#include <stddef.h>
#include <string.h>

#include "cpu.h"
#include "fuse.h"
#include "message.h"
#include "overlap.h"
#include "table.h"
#include "validate.h"

static const char *const names[EW_OPERANDS] = {"x",   "y",  "dout", "ddx",
                                               "ddy", "dx", "dy",   "ddout"};

static const char *const first_names[EW_OPERANDS] = {"x",  "y",  "dout", "out",
                                                     NULL, "dx", "dy"};

/* A sum is the gradient of an addition without its operands. */
static const char *const sum_names[EW_OPERANDS] = {
    [EW_OUT] = "src", [EW_DX] = "dst"};

/* What a gradient is called in messages, however it was asked for. */
static const char *const titles[] = {
#define GRADIENT(name, NAME) [ELEMENTWISE_##NAME] = #name "_grad",
#define GRADIENT_GRADIENT(name, NAME)
#include "gradients.def"
};

/* Inputs as bits, and what an output is if it is not made of them. */
enum {
    X = 1 << EW_X,
    Y = 1 << EW_Y,
    G = 1 << EW_OUT,
    U = 1 << EW_DDX,
    V = 1 << EW_DDY,
    INPUTS = X | Y | G | U | V,
    ZERO = 1 << 7 /* 0 everywhere */
};

/* What each derivative is made of; 0: there is none. */
static const unsigned char uses[ELEMENTWISE_LOGADDEXP + 1][EW_DERIVATIVES] = {
    [ELEMENTWISE_ADD] = {G, G, ZERO, ZERO, U | V},
    [ELEMENTWISE_SUB] = {G, G, ZERO, ZERO, U | V},
    [ELEMENTWISE_MUL] = {Y | G, X | G, G | V, G | U, X | Y | U | V},
    [ELEMENTWISE_DIV] = {Y | G, X | Y | G, Y | G | V, X | Y | G | U | V,
                         X | Y | U | V},
    [ELEMENTWISE_MAX] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_MIN] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_POW] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_MOD] = {G, X | Y | G},
    [ELEMENTWISE_FLOORDIV] = {ZERO, ZERO},
    [ELEMENTWISE_FMAX] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_FMIN] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_HEAVISIDE] = {ZERO, X | G},
    [ELEMENTWISE_TRUNCDIV] = {ZERO, ZERO},
    [ELEMENTWISE_FMOD] = {G, X | Y | G},
    [ELEMENTWISE_ATAN2] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_HYPOT] = {X | Y | G, X | Y | G},
    [ELEMENTWISE_COPYSIGN] = {X | Y | G, ZERO},
    [ELEMENTWISE_LOGADDEXP] = {X | Y | G, X | Y | G}};

/* The operand whose shape and type operand k has: dx and ddx those of x, dout
   and ddout those of the result, and so has out, in the place of ddx. */
static int like(const struct ew_request *r, int k)
{
    static const int of[EW_OPERANDS] = {EW_X, EW_Y, EW_OUT, EW_X,
                                        EW_Y, EW_X, EW_Y,   EW_OUT};
    return k == EW_DDX && !r->second ? EW_OUT : of[k];
}

static bool is_float(elementwise_dtype dtype)
{
    return ew_types_kind(dtype) & (EW_KIND_FLOAT | EW_KIND_COMPLEX);
}

/* x, y and dout must be there; everything else may be NULL. */
static elementwise_status check_tensors(const struct ew_request *r,
                                        const struct ew_gradient *g)
{
    for (int k = 0; k < EW_OPERANDS; k++) {
        bool required = k <= EW_OUT;
        if (!r->tensor[k] && !required)
            continue;
        elementwise_status status =
            ew_validate_tensor(r->what, g->names[k], r->tensor[k]);
        if (status)
            return status;
    }
    return ELEMENTWISE_OK;
}

/* Derivatives are computed in f32 at least, unless they stay halves. */
static elementwise_dtype compute_type(elementwise_dtype result)
{
    return ew_types_size(result) == 2 ? ELEMENTWISE_F32 : result;
}

/* The type of the computation, and that every operand has the type of what
   it belongs to. */
static elementwise_status check_types(const struct ew_request *r,
                                      struct ew_gradient *g)
{
    struct ew_types types;
    elementwise_dtype own[3] = {r->tensor[EW_X]->dtype, r->tensor[EW_Y]->dtype};
    elementwise_status status =
        ew_types_resolve(r->op, own[EW_X], own[EW_Y], &types);
    if (status)
        return status;
    status = ew_fuse_check(r->what, &types, r->options);
    if (status)
        return status;
    own[EW_OUT] = types.result;
    g->compute = compute_type(types.result);
    for (int k = EW_OUT; k < EW_OPERANDS; k++) {
        elementwise_dtype want = own[like(r, k)];
        if (!r->tensor[k])
            continue;
        if (k > EW_OUT && !is_float(want))
            return ew_fail(ELEMENTWISE_NO_GRADIENT,
                           "%s: %s is %s, and integers have no gradient; "
                           "pass NULL for %s",
                           r->what, g->names[like(r, k)],
                           elementwise_dtype_name(want), g->names[k]);
        if (r->tensor[k]->dtype != want)
            return ew_fail(ELEMENTWISE_BAD_DTYPE, "%s: %s is %s but must be %s",
                           r->what, g->names[k],
                           elementwise_dtype_name(r->tensor[k]->dtype),
                           elementwise_dtype_name(want));
    }
    return ELEMENTWISE_OK;
}

/* The place of each operand over the result. */
static elementwise_status check_shapes(const struct ew_request *r,
                                       const struct ew_gradient *g,
                                       struct ew_alignment *a, int64_t *shape,
                                       struct ew_placed placed[EW_OPERANDS])
{
    elementwise_status status = ew_shape_resolve(
        r->what, r->tensor[EW_X], r->tensor[EW_Y], r->axis, a, shape);
    if (status)
        return status;
    placed[EW_X] = a->x;
    placed[EW_Y] = a->y;
    placed[EW_OUT] = (struct ew_placed){.ndim = a->ndim};
    for (int k = EW_OUT; k < EW_OPERANDS; k++) {
        const elementwise_tensor *t = r->tensor[k];
        const elementwise_tensor *of = r->tensor[like(r, k)];
        placed[k] = placed[like(r, k)];
        if (!t)
            continue;
        placed[k].tensor = t;
        if (like(r, k) == EW_OUT)
            status = ew_shape_require(a, g->names[k], t, shape);
        else if (!ew_shape_equal(t, of))
            status =
                ew_fail_like(r->what, g->names[k], t, g->names[like(r, k)], of);
        if (status)
            return status;
    }
    return ELEMENTWISE_OK;
}

/* Whether the operand was stretched in any loop. */
static bool is_reduced(const struct ew_placed *p, int ndim,
                       const int64_t *shape)
{
    for (int dim = 0; dim < ndim; dim++)
        if (shape[dim] != 1 && ew_shape_extent(p, dim) == 1)
            return true;
    return false;
}

/* Whether all is halves of one type, and each output dout itself or a product
   that is rounded once: the bits are those of f32 without its detours, but
   that signaling NaNs of dout stay so. */
static bool stays_half(const struct ew_request *r, const struct ew_gradient *g,
                       const struct ew_placed *placed, int ndim,
                       const int64_t *shape)
{
    bool stays = (r->op == ELEMENTWISE_ADD || r->op == ELEMENTWISE_MUL) &&
                 ew_types_size(g->dtype[EW_OUT]) == 2 && !r->second &&
                 !r->flags && ew_fuse_nothing(r->options);
    for (int k = 0; k < EW_OPERANDS && stays; k++)
        if (r->tensor[k])
            stays = g->dtype[k] == g->dtype[EW_OUT] &&
                    (k < EW_DX || !is_reduced(&placed[k], ndim, shape));
    return stays;
}

/* Elements of one type are moved. */
static ew_kernel *conversion(const struct ew_gradient *g, elementwise_dtype to,
                             elementwise_dtype from)
{
    return to == from ? ew_table_move(g->level, to)
                      : ew_table_convert(g->level, to, from);
}

/* How what a term makes gets to memory: converted, or added to what is
   there. made is its type as the walk leaves it. */
static void choose_finish(struct ew_gradient *g, struct ew_term *t)
{
    elementwise_dtype made = t->reduced ? ELEMENTWISE_F64 : g->compute;
    elementwise_dtype out = g->dtype[t->out];
    bool complex = ew_types_kind(g->compute) == EW_KIND_COMPLEX;
    if (complex && t->reduced)
        made = ELEMENTWISE_C128;
    t->made_size = (int64_t)ew_types_size(made);
    if (complex && ew_types_kind(out) != EW_KIND_COMPLEX) /* the real part */
        made = made == ELEMENTWISE_C64 ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
    ew_kernel *convert = conversion(g, out, made);
    t->finish = (struct ew_pass){.op = convert};
    t->direct = !t->add && !t->reduced && out == g->compute;
    if (!t->add)
        return;
    unsigned char size = (unsigned char)ew_types_size(made);
    t->finish = (struct ew_pass){
        .op = ew_table_kernel(g->level, ELEMENTWISE_ADD, made, made),
        .size = {size, size, size}};
    if (out != made) {
        t->finish.load[EW_Y] = ew_table_convert(g->level, made, out);
        t->finish.store = convert;
    }
}

/* The steps that act and scales add. Returns the inputs they read: of an act
   its result, or x and y to make its operand of. */
static unsigned fuse(const struct ew_request *r, struct ew_gradient *g)
{
    const elementwise_options *o = r->options;
    if (ew_fuse_nothing(o))
        return 0;
    ew_fuse_scales(&g->forward, g->level, g->compute, o);
    if (o->act == ELEMENTWISE_ACT_NONE)
        return 0;
    bool from_out = r->tensor[EW_DDX];
    g->slope = ew_table_slope(g->level, g->compute, o->act, from_out);
    if (from_out)
        return U;
    g->forward.op =
        ew_table_kernel(g->level, (int)r->op, g->compute, g->compute);
    return X | Y;
}

/* What makes a term of its inputs. */
static void choose_kernel(const struct ew_gradient *g, struct ew_term *t,
                          int which)
{
    t->derive = NULL;
    t->product = NULL;
    if (ew_types_size(g->compute) > 2 && t->uses)
        t->derive =
            ew_table_derivative(g->level, g->compute, (int)g->op, which);
    else if (g->op == ELEMENTWISE_MUL)
        t->product = ew_table_direct(g->level, ELEMENTWISE_MUL, g->compute);
}

/* One term per output that is not 0. */
static void make_terms(const struct ew_request *r, struct ew_gradient *g,
                       const struct ew_placed *placed, int ndim,
                       const int64_t *shape)
{
    unsigned fused = fuse(r, g);
    g->whole = r->second || !ew_fuse_nothing(r->options);
    for (int k = 0; k <= EW_DDY; k++)
        g->load[k] =
            conversion(g, g->compute, g->dtype[k] ? g->dtype[k] : g->compute);
    for (int k = EW_DX; k < EW_OPERANDS; k++) {
        int which = k - EW_DX + (r->second ? EW_D_DX2 : EW_D_DX);
        if (!r->tensor[k])
            continue;
        unsigned of = uses[r->op][which];
        struct ew_term *t = &g->term[g->terms++];
        t->out = k;
        t->uses = of & INPUTS ? (of & INPUTS) | fused : 0;
        t->add = (k == EW_DX && r->flags & ELEMENTWISE_ADD_TO_DX) ||
                 (k == EW_DY && r->flags & ELEMENTWISE_ADD_TO_DY);
        t->reduced = is_reduced(&placed[k], ndim, shape);
        choose_kernel(g, t, which);
        t->own_ndim = 0;
        g->uses |= t->uses;
        choose_finish(g, t);
    }
}

/* The output's own dimensions, innermost first. One without elements has one
   of extent 0: its strides may be anything. OVERLAP. */
static elementwise_status own_loops(const struct ew_gradient *g,
                                    struct ew_term *t,
                                    const elementwise_tensor *out)
{
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    const struct ew_placed p = {.tensor = out, .ndim = out->ndim};
    int64_t dense = 1;
    const int order[] = {EW_OUT};
    if (ew_shape_is_empty(out->ndim, out->shape)) {
        t->own[t->own_ndim++] = (struct ew_own){0, 0};
        return ELEMENTWISE_OK;
    }
    for (int dim = out->ndim - 1; dim >= 0; dim--) {
        int64_t stride = ew_shape_stride(&p, dim, &dense);
        if (out->shape[dim] == 1)
            continue;
        loop[t->own_ndim] = (struct ew_loop){.n = out->shape[dim]};
        loop[t->own_ndim].stride[EW_OUT] = ew_magnitude(stride);
        t->own[t->own_ndim++] = (struct ew_own){out->shape[dim], stride};
    }
    ew_plan_sort(loop, t->own_ndim, order, 1);
    if (!ew_overlap_self(loop, t->own_ndim, EW_OUT))
        return ELEMENTWISE_OK;
    return ew_overlap_fail(g->what, g->names[t->out], out);
}

/* The loops of the result with the strides of all operands. dout decides
   from which end a loop runs. */
static void open_loops(const struct ew_request *r, struct ew_gradient *g,
                       const struct ew_placed *placed, int ndim,
                       const int64_t *shape)
{
    int64_t dense[EW_OPERANDS];
    for (int k = 0; k < EW_OPERANDS; k++)
        dense[k] = 1;
    for (int dim = ndim - 1; dim >= 0; dim--) {
        struct ew_loop *loop = &g->loop[g->ndim];
        if (shape[dim] == 1)
            continue;
        *loop = (struct ew_loop){.n = shape[dim]};
        for (int k = 0; k < EW_OPERANDS; k++)
            if (r->tensor[k])
                loop->stride[k] = ew_shape_stride(&placed[k], dim, &dense[k]) *
                                  (int64_t)ew_types_size(g->dtype[k]);
        bool flip = loop->stride[EW_OUT] < 0;
        for (int k = 0; flip && k < EW_OPERANDS; k++) {
            g->offset[k] += (loop->n - 1) * loop->stride[k];
            loop->stride[k] = -loop->stride[k];
        }
        g->ndim++;
    }
    for (int k = 0; k < EW_OPERANDS; k++)
        if (r->tensor[k])
            g->range[k] = ew_overlap_range(g->loop, g->ndim, k,
                                           (int64_t)ew_types_size(g->dtype[k]));
}

/* One walk for each summed output, the first of which takes along what is
   stored element by element. */
static void make_walks(struct ew_gradient *g)
{
    struct ew_walk *w = &g->walk[0];
    const struct ew_term *sum = NULL;
    w->terms = 0;
    for (int i = 0; i < g->terms; i++) {
        const struct ew_term *t = &g->term[i];
        if (!t->uses)
            continue;
        if (!t->reduced)
            w->term[w->terms++] = t;
        else if (!sum)
            sum = t;
        else {
            struct ew_walk *alone = &g->walk[++g->walks];
            alone->terms = 1;
            alone->term[0] = t;
        }
    }
    if (sum)
        w->term[w->terms++] = sum;
    for (int i = 0; i <= g->walks; i++)
        if (g->walk[i].terms)
            ew_walk_make(g, &g->walk[i]);
}

/* From the operands and their places to terms and walks. */
static elementwise_status plan(const struct ew_request *r,
                               struct ew_gradient *g,
                               const struct ew_placed *placed, int ndim,
                               const int64_t *shape)
{
    for (int k = 0; k < EW_OPERANDS; k++)
        g->dtype[k] = r->tensor[k] ? r->tensor[k]->dtype : 0;
    elementwise_status status = ELEMENTWISE_OK;
    if (stays_half(r, g, placed, ndim, shape))
        g->compute = g->dtype[EW_OUT];
    make_terms(r, g, placed, ndim, shape);
    for (int i = 0; i < g->terms && !status; i++)
        status = own_loops(g, &g->term[i], r->tensor[g->term[i].out]);
    g->empty = ew_shape_is_empty(ndim, shape);
    if (status || g->empty)
        return status;
    open_loops(r, g, placed, ndim, shape);
    make_walks(g);
    return ELEMENTWISE_OK;
}

/* A gradient without terms yet. */
static void open_gradient(struct ew_gradient *g, const struct ew_request *r,
                          const char *const operands[], bool apart)
{
    memset(g, 0, offsetof(struct ew_gradient, term));
    g->what = r->what;
    g->names = operands;
    g->apart = apart;
    g->op = r->op;
    g->level = ew_cpu_level();
    g->walk[0].terms = 0; /* of no elements there is none */
}

elementwise_status ew_terms_make(struct ew_gradient *g, struct ew_request *r)
{
    struct ew_alignment a;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    struct ew_placed placed[EW_OPERANDS];
    const char *op = elementwise_op_name(r->op);
    elementwise_status status = ew_validate_op(r->op);
    if (status)
        return status;
    if (r->op > ELEMENTWISE_LOGADDEXP || !uses[r->op][EW_D_DX])
        return ew_fail(ELEMENTWISE_NO_GRADIENT, "%s_grad: %s has no gradient",
                       op, op);
    if (!r->second)
        r->what = titles[r->op];
    open_gradient(g, r, r->second ? names : first_names, r->second);
    status = check_tensors(r, g);
    if (!status)
        status = check_types(r, g);
    if (!status)
        status = check_shapes(r, g, &a, shape, placed);
    return status ? status : plan(r, g, placed, a.ndim, shape);
}

elementwise_status ew_terms_make_sum(struct ew_gradient *g,
                                     const elementwise_tensor *src, int axis,
                                     const elementwise_tensor *dst,
                                     unsigned flags)
{
    struct ew_alignment a;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    struct ew_placed placed[EW_OPERANDS];
    struct ew_request r = {
        .what = "sum_to", .op = ELEMENTWISE_ADD, .axis = axis};
    open_gradient(g, &r, sum_names, true);
    elementwise_status status = ew_validate_tensor(r.what, "src", src);
    if (!status)
        status = ew_validate_tensor(r.what, "dst", dst);
    if (!status && (src->dtype != dst->dtype || !is_float(src->dtype)))
        status = ew_fail(ELEMENTWISE_BAD_DTYPE,
                         "%s: src is %s and dst %s; both must be of one type, "
                         "a float or complex one",
                         r.what, elementwise_dtype_name(src->dtype),
                         elementwise_dtype_name(dst->dtype));
    if (!status)
        status = ew_shape_onto(r.what, "dst", dst, axis, "src", src, &a, shape);
    if (status)
        return status;
    g->compute = compute_type(src->dtype);
    r.tensor[EW_OUT] = src;
    r.tensor[EW_DX] = dst;
    r.flags = flags & ELEMENTWISE_ADD_TO_OUT ? ELEMENTWISE_ADD_TO_DX : 0;
    placed[EW_OUT] = a.x;
    placed[EW_DX] = a.y;
    return plan(&r, g, placed, a.ndim, shape);
}
