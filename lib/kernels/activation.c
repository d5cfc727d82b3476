/*
 * The functions that can follow an operation, and the factors that can stand
 * before its operands: on rows by activation.inc, on operands by
 * activation_loop.inc, and relu and relu6 of f16 and bf16 by
 * activation_half.inc. What is transcendental is computed in activation_f32.h
 * and activation_f64.h, without branches or calls, so that loops of it become
 * vectors and every form of a loop gives the same bits.
 */
#include <math.h>
#include <stdbool.h>

#include "activation_f32.h"
#include "activation_f64.h"
#include "activation_lanes.h"
#include "half.h"
#include "loop.h"

#define C float
#define NAME(x) x##_f32
#include "activation.inc"

#define C double
#define NAME(x) x##_f64
#include "activation.inc"

#define C float
#define NAME(x) x##_f32
#define TAIL tail_series_f32, TAIL_TERMS_f32
#include "activation_slope.inc"

#define C double
#define NAME(x) x##_f64
#define TAIL tail_series_f64, TAIL_TERMS_f64
#include "activation_slope.inc"

/* Bytes of results that stay in the cache, of halves as f32, beside what these
   are widened to; and from what is read to what is asked for. */
enum { PIECE = 2048, PIECE_HALVES = 8192, AHEAD = 4096 };

/* What is asked for of an input while a line of what was made is stored: if it
   is not dense always the same. */
static struct ew_next ahead(const char *x, int64_t step, int64_t size)
{
    return (struct ew_next){step == size ? x + AHEAD : x,
                            step == size ? EW_LINE : 0};
}

typedef void act_row_f32(int64_t n, const float *x, float *out, float alpha);
typedef void act_row_f64(int64_t n, const double *x, double *out, double alpha);

#define T float
#define C float
#define NAME(x) x##_f32
#define OF(x) x##_f32
#include "activation_behind.inc"

#define T double
#define C double
#define NAME(x) x##_f64
#define OF(x) x##_f64
#include "activation_behind.inc"

#if defined(__F16C__)
#define T struct ew_f16
#define C float
#define NAME(x) x##_f16
#define OF(x) x##_f32
#define GET(x) ew_half_from_f16(x)
#define WIDEN ew_half_widen_f16
#define NARROW ew_half_narrow_f16_line
#include "activation_behind.inc"

#define T struct ew_bf16
#define C float
#define NAME(x) x##_bf16
#define OF(x) x##_f32
#define GET(x) ew_half_from_bf16(x)
#define WIDEN ew_half_widen_bf16
#define NARROW ew_half_narrow_bf16_line
#include "activation_behind.inc"

#define BEHIND_HALF(type) BEHIND(type)
#else
#define BEHIND_HALF(type) .behind = {NULL}
#endif

#define BEHIND(type)                                                           \
    .behind = {[ELEMENTWISE_ACT_SIGMOID] = behind_sigmoid_##type,              \
               [ELEMENTWISE_ACT_TANH] = behind_tanh_##type,                    \
               [ELEMENTWISE_ACT_GELU] = behind_gelu_##type,                    \
               [ELEMENTWISE_ACT_SILU] = behind_silu_##type}
#define FROM_OPERAND(type)                                                     \
    .from_operand = {[ELEMENTWISE_ACT_RELU] = relu_slopes_##type,              \
                     [ELEMENTWISE_ACT_RELU6] = relu6_slopes_##type,            \
                     [ELEMENTWISE_ACT_LEAKY_RELU] = leaky_slopes_##type,       \
                     [ELEMENTWISE_ACT_SIGMOID] = sigmoid_slopes_##type,        \
                     [ELEMENTWISE_ACT_TANH] = tanh_slopes_##type,              \
                     [ELEMENTWISE_ACT_GELU] = gelu_slopes_##type,              \
                     [ELEMENTWISE_ACT_SILU] = silu_slopes_##type}
#define FROM_RESULT(type)                                                      \
    .from_result = {[ELEMENTWISE_ACT_RELU] = relu_slopes_##type,               \
                    [ELEMENTWISE_ACT_RELU6] = relu6_slopes_##type,             \
                    [ELEMENTWISE_ACT_LEAKY_RELU] = leaky_slopes_##type,        \
                    [ELEMENTWISE_ACT_SIGMOID] = of_sigmoid_slopes_##type,      \
                    [ELEMENTWISE_ACT_TANH] = of_tanh_slopes_##type}

enum { BUFFER = 128 }; /* elements */

#define T struct ew_f16
#define C float
#define NAME(x) x##_f16
#define ROW(x) row_##x##_f32
#define GET(x) ew_half_from_f16(x)
#define PUT(x) ew_half_f16_from_f32(x)
#define DIRECT false
#define MORE BEHIND_HALF(f16)
#define INFINITE 0x7c00
#define SIX 0x4600
#include "activation_loop.inc"

#define T struct ew_bf16
#define C float
#define NAME(x) x##_bf16
#define ROW(x) row_##x##_f32
#define GET(x) ew_half_from_bf16(x)
#define PUT(x) ew_half_bf16_from_f32(x)
#define DIRECT false
#define MORE BEHIND_HALF(bf16)
#define INFINITE 0x7f80
#define SIX 0x40c0
#include "activation_loop.inc"

#define T float
#define C float
#define NAME(x) x##_f32
#define ROW(x) row_##x##_f32
#define GET(x) (x)
#define PUT(x) (x)
#define DIRECT true
#define MORE BEHIND(f32), FROM_OPERAND(f32), FROM_RESULT(f32)
#include "activation_loop.inc"

#define T double
#define C double
#define NAME(x) x##_f64
#define ROW(x) row_##x##_f64
#define GET(x) (x)
#define PUT(x) (x)
#define DIRECT true
#define MORE BEHIND(f64), FROM_OPERAND(f64), FROM_RESULT(f64)
#include "activation_loop.inc"

/* Complex numbers have no activation, and a factor is real: it multiplies
   the parts, one after the other. */
static void scale_parts(ew_kernel *scale, int64_t part, int64_t rows,
                        int64_t cols, void *const data[],
                        const struct ew_stride s[])
{
    for (int p = 0; p < 2; p++) {
        void *const one[] = {(char *)data[EW_X] + p * part, data[EW_Y],
                             (char *)data[EW_OUT] + p * part};
        scale(rows, cols, one, s);
    }
}

EW_KERNEL_OF(run_scale_c64,
             scale_parts(run_scale_f32, sizeof(float), rows, cols, data, s))
EW_KERNEL_OF(run_scale_c128,
             scale_parts(run_scale_f64, sizeof(double), rows, cols, data, s))

static const struct ew_activations activations_c64 = {
    .run = {[EW_SCALE] = run_scale_c64}};
static const struct ew_activations activations_c128 = {
    .run = {[EW_SCALE] = run_scale_c128}};

const struct ew_activations *const EW_CONCAT(ew_activation, EW_LEVEL)[6] = {
    &activations_f16, &activations_bf16, &activations_f32,
    &activations_f64, &activations_c64,  &activations_c128};
