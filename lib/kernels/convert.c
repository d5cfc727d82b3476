/*
 * The kernels that convert one type to another, all pairs but complex to
 * real: convert.inc, once per target. The rules are those of elementwise_copy.
 */
#include <math.h>
#include <stdbool.h>

#include "half.h"
#include "loop.h"

/* What is converted to what, as constants for the loop. */
enum {
#define DTYPE(name, NAME, type, kind, part) dtype_##name = ELEMENTWISE_##NAME,
#include "dtypes.def"
};

#if defined(__F16C__)
/* Dense rows of f16 to or from f32: blocks first, then what is left. */
EW_INLINE void loop_f16(ew_apply *apply, bool narrow, int64_t rows,
                        int64_t cols, const char *x, char *out,
                        const struct ew_stride s[])
{
    int64_t size = s[EW_X].col, size_out = s[EW_OUT].col;
    for (int64_t r = 0; r < rows; r++) {
        int64_t c = 0;
        for (; c + EW_HALF_BLOCK <= cols; c += EW_HALF_BLOCK)
            if (narrow)
                ew_half_narrow_f16(x + c * size, out + c * size_out);
            else
                ew_half_widen_f16(x + c * size, out + c * size_out);
        for (; c < cols; c++)
            apply(x + c * size, NULL, NULL, out + c * size_out);
        x += s[EW_X].row;
        out += s[EW_OUT].row;
    }
}
#endif

/* One operand: it stands in for y too, which is not looked at. As if y moved,
   an x that stands still has one of the forms that are vectors. */
EW_INLINE void loop(ew_apply *apply, int from, int to, int64_t size_from,
                    int64_t size_to, int64_t rows, int64_t cols,
                    void *const data[], const struct ew_stride s[])
{
#if defined(__F16C__)
    bool widen = from == ELEMENTWISE_F16 && to == ELEMENTWISE_F32;
    bool narrow = from == ELEMENTWISE_F32 && to == ELEMENTWISE_F16;
    bool dense = s[EW_X].col == size_from && s[EW_OUT].col == size_to;
    if ((widen || narrow) && dense) {
        loop_f16(apply, narrow, rows, cols, data[EW_X], data[EW_OUT], s);
        return;
    }
#endif
    (void)from, (void)to;
    void *const operands[] = {data[EW_X], data[EW_X], data[EW_OUT]};
    const struct ew_stride strides[] = {s[EW_X], {0, size_from}, s[EW_OUT]};
    ew_loop_one(apply, size_from, size_from, size_to, rows, cols, operands,
                strides);
}

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

/* f16 and bf16: one rounding, also of what a double cannot hold */
static inline struct ew_f16 f16_from_i64(int64_t v)
{
    return ew_half_f16_from_f64(ew_half_odd_i64(v));
}

static inline struct ew_f16 f16_from_u64(uint64_t v)
{
    return ew_half_f16_from_f64(ew_half_odd_u64(v));
}

static inline struct ew_bf16 bf16_from_i64(int64_t v)
{
    return ew_half_bf16_from_f64(ew_half_odd_i64(v));
}

static inline struct ew_bf16 bf16_from_u64(uint64_t v)
{
    return ew_half_bf16_from_f64(ew_half_odd_u64(v));
}

#define TO struct ew_f16
#define NAME(x) x##_f16
#define FROM(v)                                                                \
    _Generic((v), float                                                        \
             : ew_half_f16_from_f32, double                                    \
             : ew_half_f16_from_f64, uint64_t                                  \
             : f16_from_u64, default                                           \
             : f16_from_i64)(v)
#include "convert.inc"

#define TO struct ew_bf16
#define NAME(x) x##_bf16
#define FROM(v)                                                                \
    _Generic((v), float                                                        \
             : ew_half_bf16_from_f32, double                                   \
             : ew_half_bf16_from_f64, uint64_t                                 \
             : bf16_from_u64, default                                          \
             : bf16_from_i64)(v)
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
