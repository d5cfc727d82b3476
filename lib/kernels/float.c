/*
 * The kernels of f32 and f64: float.inc, once per type. f16 and bf16 are
 * computed in f32 by the executor; nextafter and copysign take their own bits.
 */
#include <math.h>
#include <stdbool.h>

#include "block.h"
#include "compare.h"
#include "angle_f32.h"
#include "angle_f64.h"
#include "power_f32.h"
#include "power_f64.h"

#define B uint16_t
#define S int16_t
#define INFINITE 0x7c00
#define NAME(x) x##_f16
#include "float_bits.inc"

#define B uint16_t
#define S int16_t
#define INFINITE 0x7f80
#define NAME(x) x##_bf16
#include "float_bits.inc"

#define B uint32_t
#define S int32_t
#define INFINITE 0x7f800000
#define NAME(x) x##_f32
#include "float_bits.inc"

#define B uint64_t
#define S int64_t
#define INFINITE 0x7ff0000000000000
#define NAME(x) x##_f64
#include "float_bits.inc"

#define T float
#define B uint32_t
#define DIGITS 24
#define NAME(x) x##_f32
#define M(fn) fn##f
#define TEST(f, a, b) _mm512_##f##_ps_mask((__m512)(a), (__m512)(b))
#define ATAN2(name) BLOCK(name)
#include "float.inc"

#define T double
#define B uint64_t
#define DIGITS 53
#define NAME(x) x##_f64
#define M(f) f
#define TEST(f, a, b) _mm512_##f##_pd_mask((__m512d)(a), (__m512d)(b))
#define ATAN2(name) ODD(name)
#include "float.inc"

static const ew_kernel_row row_f16 = {[ELEMENTWISE_COPYSIGN] = copysign_f16,
                                      [ELEMENTWISE_NEXTAFTER] = nextafter_f16};
static const ew_kernel_row row_bf16 = {[ELEMENTWISE_COPYSIGN] = copysign_bf16,
                                       [ELEMENTWISE_NEXTAFTER] =
                                           nextafter_bf16};

const ew_kernel_row *const EW_CONCAT(ew_float, EW_LEVEL)[4] = {
    &row_f16, &row_bf16, &row_f32, &row_f64};
