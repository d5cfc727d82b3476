/*
 * The kernels that convert one type to another, all pairs but complex to
 * real: convert.inc, once per target. The rules are those of elementwise_copy.
 */
#include <math.h>
#include <stdbool.h>

#include "convert_loop.h"
#include "half.h"

/* What is converted to what, as constants for the loop. */
enum {
#define DTYPE(name, NAME, type, kind, part) dtype_##name = ELEMENTWISE_##NAME,
#include "dtypes.def"
};

static ew_kernel *const row_f32[EW_DTYPES];

/* Each type as a native one that holds it. A comparison of a bool with 0 would
   keep GCC from vectors; of bits, the highest of b | -b tells it, too. */
static inline uint8_t value_bool(struct ew_bool v)
{
    return (uint8_t)((v.byte | (0 - v.byte)) & UINT8_MAX) >> 7;
}

/* Both halves are exact in f32. */
static inline float value_f16(struct ew_f16 v)
{
    return ew_half_from_f16(v);
}

static inline float value_bf16(struct ew_bf16 v)
{
    return ew_half_from_bf16(v);
}

/* The native ones are what they are. */
#define NATIVE(name, type)                                                     \
    static inline type value_##name(type v)                                    \
    {                                                                          \
        return v;                                                              \
    }
NATIVE(i8, int8_t)
NATIVE(i16, int16_t)
NATIVE(i32, int32_t)
NATIVE(i64, int64_t)
NATIVE(u8, uint8_t)
NATIVE(u16, uint16_t)
NATIVE(u32, uint32_t)
NATIVE(u64, uint64_t)
NATIVE(f32, float)
NATIVE(f64, double)

/* f16 by way of f32, the only type to which processors convert vectors of it:
   ew_half_from_f16 multiplies, for which they stop where f16 is subnormal. */
EW_INLINE void loop_to_any(ew_apply *apply, int from, int to, int64_t size_from,
                           int64_t size_to, int64_t rows, int64_t cols,
                           void *const data[], const struct ew_stride s[])
{
#if defined(__F16C__)
    if (from == ELEMENTWISE_F16 && to != ELEMENTWISE_F32) {
        ew_kernel *const *row = EW_CONCAT(ew_convert, EW_LEVEL)[to];
        convert_through(row_f32[from], row[ELEMENTWISE_F32], rows, cols, data,
                        s);
        return;
    }
#endif
    convert_loop(apply, from, to, size_from, size_to, rows, cols, data, s);
}

/* bool: true unless 0 */
#define TO struct ew_bool
#define NAME(x) x##_bool
#define FROM(v) ((struct ew_bool){(v) != 0})
#define FROM_COMPLEX(v) ((struct ew_bool){((v).re != 0) | ((v).im != 0)})
#include "convert.inc"

#define TO int8_t
#define NAME(x) x##_i8
#define LOWEST -0x1p7
#define BEYOND 0x1p7
#define HIGHEST INT8_MAX
#include "convert_int.inc"

#define TO int16_t
#define NAME(x) x##_i16
#define LOWEST -0x1p15
#define BEYOND 0x1p15
#define HIGHEST INT16_MAX
#include "convert_int.inc"

#define TO int32_t
#define NAME(x) x##_i32
#define LOWEST -0x1p31
#define BEYOND 0x1p31
#define HIGHEST INT32_MAX
#include "convert_int.inc"

#define TO int64_t
#define NAME(x) x##_i64
#define LOWEST -0x1p63
#define BEYOND 0x1p63
#define HIGHEST INT64_MAX
#include "convert_int.inc"

#define TO uint8_t
#define NAME(x) x##_u8
#define INTEGERS(x) x##_i8
#define LOWEST 0
#define BEYOND 0x1p8
#define HIGHEST UINT8_MAX
#include "convert_int.inc"

#define TO uint16_t
#define NAME(x) x##_u16
#define INTEGERS(x) x##_i16
#define LOWEST 0
#define BEYOND 0x1p16
#define HIGHEST UINT16_MAX
#include "convert_int.inc"

#if defined(__AVX2__) && !defined(__AVX512F__)
/* Processors know signed integers only. Through 2^52, as in divide.h. */
EW_INLINE uint32_t u32_from_f64(double v, const struct convert_bounds *with)
{
    if (with->quick)
        return (uint32_t)(int32_t)v;
    v = v > with->lowest ? v : with->lowest;
    v = v > with->highest ? with->highest : v;
    return (uint32_t)bits_f64(trunc(v) + 0x1p52);
}
#define FROM_F64 u32_from_f64
#endif

#if defined(EW_INDEFINITE) && !defined(__AVX512F__)
/* The number, or else what is left of it above 2^31; beyond 2^32 all bits. */
EW_INLINE uint32_t u32_from_f32(float v, const struct convert_bounds *with)
{
    if (with->quick)
        return (uint32_t)(int32_t)v;
    v = v > (float)with->lowest ? v : (float)with->lowest;
    int32_t lower = (int32_t)v, upper = (int32_t)(v - 0x1p31f);
    upper ^= upper >> 31;
    return (uint32_t)(lower | (upper & lower >> 31));
}
#define FROM_F32 u32_from_f32
#endif

#define TO uint32_t
#define NAME(x) x##_u32
#define INTEGERS(x) x##_i32
#define LOWEST 0
#define BEYOND 0x1p32
#define HIGHEST UINT32_MAX
#include "convert_int.inc"

#define TO uint64_t
#define NAME(x) x##_u64
#define INTEGERS(x) x##_i64
#define LOWEST 0
#define BEYOND 0x1p64
#define HIGHEST UINT64_MAX
#include "convert_int.inc"

/* f16: from an f32 that rounds further as the number would. Large integers are
   infinite, as one of their sign is that f32 holds. */
enum { LARGE = 1 << 17 };

static inline float f32_further_i32(int32_t v)
{
    return (float)(v > LARGE ? LARGE : v > -LARGE ? v : -LARGE);
}

static inline float f32_further_i64(int64_t v)
{
    return (float)(int32_t)(v > LARGE ? LARGE : v > -LARGE ? v : -LARGE);
}

static inline float f32_further_u32(uint32_t v)
{
    return (float)(int32_t)(v < LARGE ? v : LARGE);
}

static inline float f32_further_u64(uint64_t v)
{
    return (float)(int32_t)(v < LARGE ? v : LARGE);
}

#define FURTHER(name, type, further)                                           \
    EW_INLINE void apply_further_##name(const void *x, const void *y,          \
                                        const void *with, void *out)           \
    {                                                                          \
        type v;                                                                \
        (void)y, (void)with;                                                   \
        memcpy(&v, x, sizeof v);                                               \
        *(float *)out = further(v);                                            \
    }                                                                          \
    EW_KERNEL_OF(further_##name,                                               \
                 convert_loop(apply_further_##name, dtype_##name, dtype_f32,   \
                              sizeof(type), sizeof(float), rows, cols, data,   \
                              s))
FURTHER(i32, int32_t, f32_further_i32)
FURTHER(i64, int64_t, f32_further_i64)
FURTHER(u32, uint32_t, f32_further_u32)
FURTHER(u64, uint64_t, f32_further_u64)
#if defined(__F16C__)
FURTHER(f64, double, ew_half_odd_f64)
#endif

static ew_kernel from_f32_f16;

/* Where processors do not convert f32 to f16, the way through it gains nothing
   for other floats. */
EW_INLINE bool is_direct_to_f16(int from)
{
#if defined(__F16C__)
    return from == ELEMENTWISE_F32;
#else
    return from == ELEMENTWISE_F32 || from == ELEMENTWISE_F64 ||
           from == ELEMENTWISE_BF16;
#endif
}

EW_INLINE void loop_to_f16(ew_apply *apply, int from, int to, int64_t size_from,
                           int64_t size_to, int64_t rows, int64_t cols,
                           void *const data[], const struct ew_stride s[])
{
    ew_kernel *to_f32 = from == ELEMENTWISE_I32   ? further_i32
                        : from == ELEMENTWISE_I64 ? further_i64
                        : from == ELEMENTWISE_U32 ? further_u32
                        : from == ELEMENTWISE_U64 ? further_u64
                                                  : row_f32[from];
#if defined(__F16C__)
    to_f32 = from == ELEMENTWISE_F64 ? further_f64 : to_f32;
#endif
    if (is_direct_to_f16(from))
        convert_loop(apply, from, to, size_from, size_to, rows, cols, data, s);
    else
        convert_through(to_f32, from_f32_f16, rows, cols, data, s);
}

static inline struct ew_f16 f16_from_f64(double v)
{
    return ew_half_f16_from_f32(ew_half_odd_f64(v));
}

/* FROM of integers is in no kernel, as these go through f32. */
#define TO struct ew_f16
#define NAME(x) x##_f16
#define FROM(v)                                                                \
    _Generic((v), double : f16_from_f64, default : ew_half_f16_from_f32)(v)
#define LOOP loop_to_f16
#include "convert.inc"

/* bf16: one rounding, also of what f32 cannot hold */
static inline struct ew_bf16 bf16_from_i32(int32_t v)
{
    return ew_half_bf16_from_result(ew_half_odd_i32(v));
}

static inline struct ew_bf16 bf16_from_u32(uint32_t v)
{
    return ew_half_bf16_from_result(ew_half_odd_u32(v));
}

static inline struct ew_bf16 bf16_from_i64(int64_t v)
{
    return ew_half_bf16_from_result(ew_half_odd_i64(v));
}

static inline struct ew_bf16 bf16_from_u64(uint64_t v)
{
    return ew_half_bf16_from_result(ew_half_odd_u64(v));
}

static inline struct ew_bf16 bf16_from_f64(double v)
{
    return ew_half_bf16_from_f32(ew_half_odd_f64(v));
}

/* Integers are no NaN. */
#define TO struct ew_bf16
#define NAME(x) x##_bf16
#define FROM(v)                                                                \
    _Generic((v), int32_t                                                      \
             : bf16_from_i32, uint32_t                                         \
             : bf16_from_u32, int64_t                                          \
             : bf16_from_i64, uint64_t                                         \
             : bf16_from_u64, float                                            \
             : ew_half_bf16_from_f32, double                                   \
             : bf16_from_f64, default                                          \
             : ew_half_bf16_from_result)(v)
#include "convert.inc"

/* f32 and f64: C's conversions round once */
#define TO float
#define NAME(x) x##_f32
#define FROM(v) ((float)(v))
#include "convert.inc"

#define TO double
#define NAME(x) x##_f64
#define FROM(v) ((double)(v))
#include "convert.inc"

/* complex: part by part */
#define TO struct ew_c64
#define NAME(x) x##_c64
#define FROM(v) ((struct ew_c64){(float)(v), 0})
#define FROM_COMPLEX(v) ((struct ew_c64){(float)(v).re, (float)(v).im})
#include "convert.inc"

#define TO struct ew_c128
#define NAME(x) x##_c128
#define FROM(v) ((struct ew_c128){(double)(v), 0})
#define FROM_COMPLEX(v) ((struct ew_c128){(v).re, (v).im})
#include "convert.inc"

ew_kernel *const *const EW_CONCAT(ew_convert, EW_LEVEL)[EW_DTYPES] = {
#define DTYPE(name, NAME, type, kind, part) [ELEMENTWISE_##NAME] = row_##name,
#include "dtypes.def"
};
