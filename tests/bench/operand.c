/*
 * Turns a row into tensors in memory with values in them, and back into the
 * library call that is timed.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "reference.h"

enum {
    LINE = 64,
    PAGE = 4096,
    /* Between the starts of operands modulo a page: equal starts would make
       loads wait for stores that only seem to be to the same address. */
    STAGGER = 21 * LINE,
    VALUES = 65521 /* that are made one by one; a prime, to be no period */
};

const struct bench_library bench_linked = {
#define OP(name, NAME, types, result, fault, ulp)                              \
    .named[ELEMENTWISE_##NAME] = elementwise_##name,
#include "ops.def"
    .apply = elementwise_apply,
    .apply_grad = elementwise_apply_grad,
    .sum_to = elementwise_sum_to,
    .plan_create = elementwise_plan_create,
    .plan_describe = elementwise_plan_describe,
    .plan_destroy = elementwise_plan_destroy};

/* Large pages, where there are any: without, the first touch and the TLB
   would be measured. */
bool bench_arena_make(struct bench_arena *arena, size_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
#ifdef MADV_HUGEPAGE
    madvise(base, size, MADV_HUGEPAGE);
#endif
    *arena = (struct bench_arena){base, size, 0};
    return true;
}

static char *take(struct bench_arena *arena, size_t bytes, int nth)
{
    size_t start =
        (arena->taken + PAGE - 1) / PAGE * PAGE + (size_t)nth * STAGGER % PAGE;
    if (start + bytes + LINE > arena->size)
        return NULL;
    arena->taken = start + bytes;
    return arena->base + start;
}

enum { SAID = 4096 }; /* bytes of what is said of a plan */

/* Empty if there is no such plan. */
static void describe(const struct bench_case *c,
                     const struct bench_library *library, char said[SAID])
{
    elementwise_plan *plan;
    said[0] = '\0';
    if (library->plan_create(&plan, c->row->op, &c->t[X], &c->t[Y],
                             c->row->pattern.axis, &c->t[OUT],
                             &c->options) != ELEMENTWISE_OK)
        return;
    library->plan_describe(plan, said, SAID);
    library->plan_destroy(plan);
}

bool bench_plans_differ(const struct bench_case *c,
                        const struct bench_library *other)
{
    char ours[SAID], theirs[SAID];
    if (c->row->pattern.kind != BENCH_FORWARD)
        return false;
    describe(c, &bench_linked, ours);
    describe(c, other, theirs);
    return strcmp(ours, theirs) != 0;
}

int64_t bench_elements(const elementwise_tensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->ndim; k++)
        n *= t->shape[k];
    return n;
}

/* Fills strides from a layout; the elements from the lowest to the highest
   address, and in *first where element 0 stands among them. */
static int64_t lay_out(const struct bench_layout *l, int64_t strides[],
                       int64_t *first)
{
    int64_t run = l->step < 0 ? -l->step : l->step, span = 1;
    bool empty = false;
    *first = 0;
    for (int i = l->ndim - 1; i >= 0; i--) {
        int d = l->order[i];
        bool inner = i == l->ndim - 1;
        strides[d] = inner ? l->step : run;
        empty = empty || l->shape[d] == 0;
        span += (l->shape[d] - 1) * run;
        if (strides[d] < 0)
            *first = (l->shape[d] - 1) * run;
        run *= l->shape[d] + (inner ? l->margin : 0);
    }
    return empty ? 0 : span;
}

static bool is_dense(const struct bench_layout *l)
{
    bool ordered = true;
    for (int i = 0; i < l->ndim; i++)
        ordered = ordered && l->order[i] == i;
    return ordered && l->step == 1 && l->margin == 0;
}

static bool place(struct bench_case *c, enum bench_operand k,
                  const struct bench_layout *l, elementwise_dtype type,
                  struct bench_arena *arena)
{
    int64_t first, span = lay_out(l, c->strides[k], &first);
    size_t size = elementwise_dtype_size(type);
    memcpy(c->shape[k], l->shape, sizeof l->shape);
    c->bytes[k] = (size_t)span * size;
    c->start[k] = take(arena, c->bytes[k] + size, (int)k);
    if (!c->start[k])
        return false;
    c->used[k] = true;
    c->t[k] = (elementwise_tensor){c->start[k] + (size_t)first * size, type,
                                   l->ndim, c->shape[k], c->strides[k]};
    if (is_dense(l))
        c->t[k].strides = NULL; /* what dense tensors usually come with */
    return true;
}

static void share(struct bench_case *c, enum bench_operand k,
                  enum bench_operand with)
{
    c->t[k] = c->t[with];
    c->start[k] = c->start[with];
    memcpy(c->strides[k], c->strides[with], sizeof c->strides[k]);
}

static bool place_out(struct bench_case *c, struct bench_arena *arena)
{
    const struct bench_pattern *p = &c->row->pattern;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    struct bench_layout out = p->out;
    elementwise_dtype type = c->row->type;
    if (elementwise_broadcast_shape(&c->t[X], &c->t[Y], p->axis, &out.ndim,
                                    shape) != ELEMENTWISE_OK)
        return false;
    memcpy(out.shape, shape, (size_t)out.ndim * sizeof *shape);
    elementwise_result_type(c->row->op, type, type, &type);
    return place(c, OUT, &out, type, arena);
}

static bool place_gradient(struct bench_case *c, struct bench_arena *arena)
{
    const struct bench_pattern *p = &c->row->pattern;
    return place_out(c, arena) && place(c, DX, &p->x, c->row->type, arena) &&
           place(c, DY, &p->y, c->row->type, arena);
}

bool bench_case_make(struct bench_case *c, const struct bench_row *row,
                     struct bench_arena *arena)
{
    const struct bench_pattern *p = &row->pattern;
    *c = (struct bench_case){.row = row, .options = ELEMENTWISE_OPTIONS_INIT};
    c->options.act = row->act;
    if (!place(c, X, &p->x, row->type, arena))
        return false;
    if (p->target == BENCH_SELF)
        share(c, Y, X);
    else if (!place(c, Y, &p->y, row->type, arena))
        return false;
    if (p->kind == BENCH_GRADIENT)
        return place_gradient(c, arena);
    if (p->kind == BENCH_SUM)
        return true;
    if (p->target == BENCH_IN_PLACE)
        share(c, OUT, X);
    return p->target == BENCH_IN_PLACE || place_out(c, arena);
}

int bench_align(const struct bench_case *c, enum bench_operand k,
                int64_t extent[], int64_t stride[])
{
    const elementwise_tensor *t = &c->t[k];
    struct ref_fit fit;
    if (ref_fit(&c->t[X], &c->t[Y], c->row->pattern.axis, &fit) !=
        ELEMENTWISE_OK)
        return -1;
    for (int d = 0; d < fit.ndim; d++) {
        int own = k == X ? fit.x[d] : k == Y ? fit.y[d] : d;
        extent[d] = own < 0 ? 1 : t->shape[own];
        stride[d] = own < 0 ? 0 : c->strides[k][own];
    }
    return fit.ndim;
}

bool bench_is_output(const struct bench_case *c, enum bench_operand k)
{
    switch (c->row->pattern.kind) {
    case BENCH_SUM:
        return k == Y;
    case BENCH_GRADIENT:
        return k == DX || k == DY;
    default:
        return k == OUT;
    }
}

/* x in 0.5 ... 1.5 and y in 1.5 ... 4.5, for which pow stays in range; whole
   numbers up to a million and 1 ... 99, for which division is usual. */
static struct ref_value value(elementwise_dtype type, enum bench_operand k,
                              uint64_t random)
{
    double part = (double)(random >> 40) / (1 << 24);
    double other = (double)(random & 0xffffff) / (1 << 24);
    double scale = k == X ? 1 : 3, least = k == X ? 0.5 : 1.5;
    if (ref_is_integer(type)) {
        int64_t n = k == X ? (int64_t)(random >> 40) % 2000001 - 1000000
                           : (int64_t)(random >> 40) % 99 + 1;
        struct ref_value v = ref_integer(type, (uint64_t)n);
        return v.magnitude ? v : ref_integer(type, 1);
    }
    if (type == ELEMENTWISE_BOOL)
        return ref_integer(type, random >> 63);
    return ref_float(type, least + scale * part,
                     ref_is_complex(type) ? other : 0);
}

static void fill(const struct bench_case *c, enum bench_operand k)
{
    const struct bench_pattern *p = &c->row->pattern;
    double number = k == X ? p->x.number : k == Y ? p->y.number : NAN;
    if (p->target == BENCH_IN_PLACE && k == Y)
        number = 1; /* x stays what it is */
    const elementwise_dtype type = c->t[k].dtype;
    struct ref_value given = ref_float(ELEMENTWISE_F64, number, 0);
    size_t size = elementwise_dtype_size(type);
    size_t bytes = c->bytes[k], made = VALUES * size;
    uint64_t random = 88172645463325252u + k;
    made = made < bytes ? made : bytes;
    for (size_t i = 0; i < made; i += size) {
        random ^= random << 13; /* xorshift64 */
        random ^= random >> 7;
        random ^= random << 17;
        struct ref_value v =
            isnan(number) ? value(type, k, random) : ref_convert(&given, type);
        ref_store(&v, c->start[k] + i);
    }
    for (size_t i = made; i < bytes; i += made)
        memcpy(c->start[k] + i, c->start[k],
               bytes - i < made ? bytes - i : made);
}

void bench_case_fill(const struct bench_case *c)
{
    for (int k = 0; k < BENCH_OPERANDS; k++)
        if (c->used[k] && bench_is_output(c, k))
            memset(c->start[k], 0xA5, c->bytes[k]);
        else if (c->used[k])
            fill(c, k);
}

void bench_case_copy(const struct bench_case *from, const struct bench_case *to)
{
    for (int k = 0; k < BENCH_OPERANDS; k++)
        if (from->used[k])
            memcpy(to->start[k], from->start[k], from->bytes[k]);
}

elementwise_status bench_case_call(const struct bench_case *c, int times,
                                   const struct bench_library *library)
{
    const struct bench_pattern *p = &c->row->pattern;
    const elementwise_tensor *t = c->t;
    elementwise_op op = c->row->op;
    elementwise_status status = ELEMENTWISE_OK;
    if (p->kind == BENCH_SUM)
        for (int i = 0; i < times; i++)
            status |= library->sum_to(&t[X], p->axis, &t[Y], NULL);
    else if (p->kind == BENCH_GRADIENT)
        for (int i = 0; i < times; i++)
            status |= library->apply_grad(op, &t[X], &t[Y], NULL, &t[OUT],
                                          p->axis, &t[DX], &t[DY], NULL);
    else if (c->row->act)
        for (int i = 0; i < times; i++)
            status |=
                library->apply(op, &t[X], &t[Y], p->axis, &t[OUT], &c->options);
    else
        for (int i = 0; i < times; i++)
            status |= library->named[op](&t[X], &t[Y], p->axis, &t[OUT]);
    return status;
}
