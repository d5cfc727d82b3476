/*
 * Turns a row into an operator of XNNPACK, which is set up once; only running
 * it is timed. It has f32 and dense operands.
 */
#include "session.h"

#include <cpuinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

typedef enum xnn_status create(float low, float high, uint32_t flags,
                               xnn_operator_t *made);
typedef enum xnn_status set_up(xnn_operator_t made, size_t x_ndim,
                               const size_t *x_shape, size_t y_ndim,
                               const size_t *y_shape, const float *x,
                               const float *y, float *out, pthreadpool_t pool);

/* Its maximum has no bounds to clamp to. */
static enum xnn_status create_maximum(float low, float high, uint32_t flags,
                                      xnn_operator_t *made)
{
    (void)low, (void)high;
    return xnn_create_maximum_nd_f32(flags, made);
}

static const struct {
    elementwise_op op;
    create *create;
    set_up *set_up;
} operators[] = {
    {ELEMENTWISE_ADD, xnn_create_add_nd_f32, xnn_setup_add_nd_f32},
    {ELEMENTWISE_MUL, xnn_create_multiply_nd_f32, xnn_setup_multiply_nd_f32},
    {ELEMENTWISE_DIV, xnn_create_divide_nd_f32, xnn_setup_divide_nd_f32},
    {ELEMENTWISE_MAX, create_maximum, xnn_setup_maximum_nd_f32},
};

enum { OPERATORS = sizeof operators / sizeof *operators };

static bool fits(const struct bench_case *c)
{
    const struct bench_row *row = c->row;
    return row->pattern.kind == BENCH_FORWARD && !row->act &&
           row->type == ELEMENTWISE_F32 && !c->t[X].strides &&
           !c->t[Y].strides && !c->t[OUT].strides;
}

static bool set_up_case(const struct bench_case *c, xnn_operator_t made,
                        set_up *set_up_as)
{
    int64_t extent[2][ELEMENTWISE_MAX_NDIM], stride[ELEMENTWISE_MAX_NDIM];
    size_t shape[2][ELEMENTWISE_MAX_NDIM];
    int ndim = 0;
    for (int k = X; k <= Y; k++) {
        ndim = bench_align(c, (enum bench_operand)k, extent[k], stride);
        for (int d = 0; d < ndim; d++)
            shape[k][d] = (size_t)extent[k][d];
    }
    return set_up_as(made, (size_t)ndim, shape[X], (size_t)ndim, shape[Y],
                     c->t[X].data, c->t[Y].data, c->t[OUT].data,
                     NULL) == xnn_status_success;
}

/* Chooses kernels once. Where ours are for AVX2, XNNPACK is to find nothing
   more than that, and no environment variable says so. */
static bool initialize(void)
{
#if CPUINFO_ARCH_X86_64
    if (strcmp(elementwise_cpu_level(), "avx2") == 0 && cpuinfo_initialize())
        cpuinfo_isa.avx512f = false;
#endif
    return xnn_initialize(NULL) == xnn_status_success;
}

static void *prepare(const struct bench_case *c)
{
    if (!fits(c) || !initialize())
        return NULL;
    for (int i = 0; i < OPERATORS; i++) {
        xnn_operator_t made = NULL;
        if (operators[i].op != c->row->op ||
            operators[i].create(-INFINITY, INFINITY, 0, &made) !=
                xnn_status_success)
            continue;
        if (set_up_case(c, made, operators[i].set_up))
            return made;
        xnn_delete_operator(made);
    }
    return NULL;
}

static bool call(void *prepared)
{
    return xnn_run_operator(prepared, NULL) == xnn_status_success;
}

static void release(void *prepared)
{
    xnn_delete_operator(prepared);
}

const struct bench_peer bench_peer_xnnpack = {"XNNPACK", "Debian, 2022-02",
                                              prepare, call, release};
