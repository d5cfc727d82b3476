/*
 * Turns a row into a primitive of oneDNN, which is created once; only
 * executing it is timed. Its first operand is as large as the result.
 */
#include "session.h"

#include <dnnl.h>
#include <stdlib.h>

struct prepared {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[3];
    dnnl_exec_arg_t arg[3];
};

static const struct {
    elementwise_op op;
    dnnl_alg_kind_t kind;
} algorithms[] = {
    {ELEMENTWISE_ADD, dnnl_binary_add},
    {ELEMENTWISE_MUL, dnnl_binary_mul},
    {ELEMENTWISE_DIV, dnnl_binary_div},
    {ELEMENTWISE_MAX, dnnl_binary_max},
};

/* Its u8 is not here: sums of it saturate. */
static const struct {
    elementwise_dtype type;
    dnnl_data_type_t name;
} types[] = {
    {ELEMENTWISE_F32, dnnl_f32},
    {ELEMENTWISE_F16, dnnl_f16},
    {ELEMENTWISE_BF16, dnnl_bf16},
    {ELEMENTWISE_I32, dnnl_s32},
};

static dnnl_alg_kind_t algorithm_of(elementwise_op op)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (algorithms[i].op == op)
            return algorithms[i].kind;
    return dnnl_alg_kind_undef;
}

static dnnl_data_type_t type_of(elementwise_dtype type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].name;
    return dnnl_data_type_undef;
}

static bool describe(const struct bench_case *c, enum bench_operand k,
                     dnnl_memory_desc_t *desc)
{
    dnnl_dims_t dims, strides;
    int64_t extent[ELEMENTWISE_MAX_NDIM], stride[ELEMENTWISE_MAX_NDIM];
    int ndim = bench_align(c, k, extent, stride);
    if (ndim < 1 || ndim > DNNL_MAX_NDIMS)
        return false;
    int64_t dense = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        dims[d] = extent[d];
        strides[d] = extent[d] == 1 ? dense : stride[d];
        if (strides[d] < 0)
            return false;
        dense = strides[d] * extent[d];
    }
    return dnnl_memory_desc_init_by_strides(desc, ndim, dims,
                                            type_of(c->t[k].dtype),
                                            strides) == dnnl_success;
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    for (int i = 0; i < 3; i++)
        dnnl_memory_destroy(p->memory[i]);
    dnnl_primitive_destroy(p->primitive);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}

static bool create_primitive(struct prepared *p, elementwise_op op,
                             const dnnl_memory_desc_t desc[3])
{
    dnnl_binary_desc_t binary;
    dnnl_primitive_desc_t made;
    if (dnnl_binary_desc_init(&binary, algorithm_of(op), &desc[0], &desc[1],
                              &desc[2]) != dnnl_success ||
        dnnl_primitive_desc_create(&made, &binary, NULL, p->engine, NULL) !=
            dnnl_success)
        return false;
    bool fine = dnnl_primitive_create(&p->primitive, made) == dnnl_success;
    dnnl_primitive_desc_destroy(made);
    return fine;
}

static bool create_all(struct prepared *p, const struct bench_case *c)
{
    static const int arg[] = {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST};
    dnnl_memory_desc_t desc[3];
    for (int k = X; k <= OUT; k++)
        if (!describe(c, (enum bench_operand)k, &desc[k]))
            return false;
    if (dnnl_engine_create(&p->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags) !=
            dnnl_success ||
        !create_primitive(p, c->row->op, desc))
        return false;
    for (int k = X; k <= OUT; k++) {
        if (dnnl_memory_create(&p->memory[k], &desc[k], p->engine,
                               c->t[k].data) != dnnl_success)
            return false;
        p->arg[k] = (dnnl_exec_arg_t){arg[k], p->memory[k]};
    }
    return true;
}

static void *prepare(const struct bench_case *c)
{
    if (c->row->pattern.kind != BENCH_FORWARD || c->row->act ||
        algorithm_of(c->row->op) == dnnl_alg_kind_undef ||
        type_of(c->row->type) == dnnl_data_type_undef)
        return NULL;
    struct prepared *p = calloc(1, sizeof *p);
    if (p && !create_all(p, c)) {
        release(p);
        return NULL;
    }
    return p;
}

static bool call(void *prepared)
{
    struct prepared *p = prepared;
    return dnnl_primitive_execute(p->primitive, p->stream, 3, p->arg) ==
               dnnl_success &&
           dnnl_stream_wait(p->stream) == dnnl_success;
}

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

const struct bench_peer bench_peer_onednn = {
    "oneDNN",
    TEXT(DNNL_VERSION_MAJOR) "." TEXT(DNNL_VERSION_MINOR) "." TEXT(
        DNNL_VERSION_PATCH),
    prepare, call, release};
