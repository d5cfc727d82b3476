/*
 * The kernels of the eight integer types: int.inc, once per type, and
 * logical.inc, once per size.
 */
#include <stdbool.h>

#include "block.h"
#include "compare.h"
#include "divide.h"
#include "divide_bytes.h"
#include "loop.h"
#include "past_lines.h"

#define B uint8_t
#define VALUE UINT8_MAX
#define NAME(x) x##_8
#include "logical.inc"

#define B uint16_t
#define VALUE UINT16_MAX
#define NAME(x) x##_16
#include "logical.inc"

#define B uint32_t
#define VALUE UINT32_MAX
#define NAME(x) x##_32
#include "logical.inc"

#define B uint64_t
#define VALUE UINT64_MAX
#define NAME(x) x##_64
#include "logical.inc"

#define T int8_t
#define IS_SIGNED 1
#define W uint32_t
#define U uint16_t
#define BITS 8
#define NAME(x) x##_i8
#define EACH(f) _mm512_##f##_epi8
#define TEST(f, a, b) _mm512_##f##_epi8_mask(a, b)
#include "int.inc"

#define T int16_t
#define IS_SIGNED 1
#define W uint32_t
#define U uint16_t
#define BITS 16
#define NAME(x) x##_i16
#define EACH(f) _mm512_##f##_epi16
#define TEST(f, a, b) _mm512_##f##_epi16_mask(a, b)
#include "int.inc"

#define T int32_t
#define IS_SIGNED 1
#define W uint32_t
#define U uint32_t
#define BITS 32
#define NAME(x) x##_i32
#define EACH(f) _mm512_##f##_epi32
#define TEST(f, a, b) _mm512_##f##_epi32_mask(a, b)
#include "int.inc"

#define T int64_t
#define IS_SIGNED 1
#define W uint64_t
#define U uint64_t
#define BITS 64
#define NAME(x) x##_i64
#define EACH(f) _mm512_##f##_epi64
#define TEST(f, a, b) _mm512_##f##_epi64_mask(a, b)
#include "int.inc"

#define T uint8_t
#define IS_SIGNED 0
#define W uint32_t
#define U uint16_t
#define BITS 8
#define NAME(x) x##_u8
#define EACH(f) _mm512_##f##_epi8
#define TEST(f, a, b) _mm512_##f##_epu8_mask(a, b)
#include "int.inc"

#define T uint16_t
#define IS_SIGNED 0
#define W uint32_t
#define U uint16_t
#define BITS 16
#define NAME(x) x##_u16
#define EACH(f) _mm512_##f##_epi16
#define TEST(f, a, b) _mm512_##f##_epu16_mask(a, b)
#include "int.inc"

#define T uint32_t
#define IS_SIGNED 0
#define W uint32_t
#define U uint32_t
#define BITS 32
#define NAME(x) x##_u32
#define EACH(f) _mm512_##f##_epi32
#define TEST(f, a, b) _mm512_##f##_epu32_mask(a, b)
#include "int.inc"

#define T uint64_t
#define IS_SIGNED 0
#define W uint64_t
#define U uint64_t
#define BITS 64
#define NAME(x) x##_u64
#define EACH(f) _mm512_##f##_epi64
#define TEST(f, a, b) _mm512_##f##_epu64_mask(a, b)
#include "int.inc"

const ew_kernel_row *const EW_CONCAT(ew_int, EW_LEVEL)[8] = {
    &row_i8, &row_i16, &row_i32, &row_i64,
    &row_u8, &row_u16, &row_u32, &row_u64};

#if defined(EW_VBMI)
const ew_kernel_row *const EW_CONCAT(EW_CONCAT(ew_int, EW_LEVEL),
                                     vbmi)[2] = {&row_vbmi_i8, &row_vbmi_u8};
#endif
