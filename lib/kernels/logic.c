/*
 * The kernels of bool, where any byte but 0 is true, and the comparisons of
 * an i64 with a u64, which no common type holds.
 */
#include <stdbool.h>

#include "loop.h"

#define BOOL(x) x##_bool

/* Bytes other than 0 and 1 may come in; only 0 and 1 go out. */
static inline uint8_t op_or_bool(uint8_t x, uint8_t y)
{
    return (x | y) != 0;
}

static inline uint8_t op_and_bool(uint8_t x, uint8_t y)
{
    return (x != 0) & (y != 0);
}

static inline uint8_t op_xor_bool(uint8_t x, uint8_t y)
{
    return (x != 0) ^ (y != 0);
}

static inline uint8_t op_equal_bool(uint8_t x, uint8_t y)
{
    return (x != 0) == (y != 0);
}

static inline uint8_t op_less_than_bool(uint8_t x, uint8_t y)
{
    return (x == 0) & (y != 0);
}

static inline uint8_t op_less_equal_bool(uint8_t x, uint8_t y)
{
    return (x == 0) | (y != 0);
}

static inline uint8_t op_greater_than_bool(uint8_t x, uint8_t y)
{
    return op_less_than_bool(y, x);
}

static inline uint8_t op_greater_equal_bool(uint8_t x, uint8_t y)
{
    return op_less_equal_bool(y, x);
}

static inline uint8_t op_any_zero_bool(uint8_t x, uint8_t y)
{
    (void)x;
    return y == 0;
}

#define KERNEL(name)                                                           \
    EW_KERNEL(ew_loop_short, BOOL, name, uint8_t, uint8_t, uint8_t)
KERNEL(or)
KERNEL(and)
KERNEL(xor)
KERNEL(equal)
KERNEL(less_than)
KERNEL(less_equal)
KERNEL(greater_than)
KERNEL(greater_equal)
EW_KERNEL(ew_loop_any, BOOL, any_zero, uint8_t, uint8_t, uint8_t)

/* On bool, add and max are or, mul and min are and. */
static const ew_kernel_row row_bool = {
    [ELEMENTWISE_ADD] = or_bool,
    [ELEMENTWISE_MUL] = and_bool,
    [ELEMENTWISE_MAX] = or_bool,
    [ELEMENTWISE_MIN] = and_bool,
    [ELEMENTWISE_EQUAL] = equal_bool,
    [ELEMENTWISE_NOT_EQUAL] = xor_bool,
    [ELEMENTWISE_LESS_THAN] = less_than_bool,
    [ELEMENTWISE_LESS_EQUAL] = less_equal_bool,
    [ELEMENTWISE_GREATER_THAN] = greater_than_bool,
    [ELEMENTWISE_GREATER_EQUAL] = greater_equal_bool,
    [ELEMENTWISE_LOGICAL_AND] = and_bool,
    [ELEMENTWISE_LOGICAL_OR] = or_bool,
    [ELEMENTWISE_LOGICAL_XOR] = xor_bool,
    [ELEMENTWISE_BITWISE_AND] = and_bool,
    [ELEMENTWISE_BITWISE_OR] = or_bool,
    [ELEMENTWISE_BITWISE_XOR] = xor_bool,
    [EW_ANY_ZERO] = any_zero_bool};

/* Mixed comparisons: a negative number is below every unsigned one. */
#define SU(x) x##_i64_u64
#define US(x) x##_u64_i64

static inline uint8_t op_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x >= 0) & ((uint64_t)x == y);
}

static inline uint8_t op_not_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x < 0) | ((uint64_t)x != y);
}

static inline uint8_t op_less_than_i64_u64(int64_t x, uint64_t y)
{
    return (x < 0) | ((uint64_t)x < y);
}

static inline uint8_t op_less_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x < 0) | ((uint64_t)x <= y);
}

static inline uint8_t op_greater_than_i64_u64(int64_t x, uint64_t y)
{
    return (x >= 0) & ((uint64_t)x > y);
}

static inline uint8_t op_greater_equal_i64_u64(int64_t x, uint64_t y)
{
    return (x >= 0) & ((uint64_t)x >= y);
}

/* With the operands the other way round, the mirrored comparison. */
static inline uint8_t op_equal_u64_i64(uint64_t x, int64_t y)
{
    return op_equal_i64_u64(y, x);
}

static inline uint8_t op_not_equal_u64_i64(uint64_t x, int64_t y)
{
    return op_not_equal_i64_u64(y, x);
}

static inline uint8_t op_less_than_u64_i64(uint64_t x, int64_t y)
{
    return op_greater_than_i64_u64(y, x);
}

static inline uint8_t op_less_equal_u64_i64(uint64_t x, int64_t y)
{
    return op_greater_equal_i64_u64(y, x);
}

static inline uint8_t op_greater_than_u64_i64(uint64_t x, int64_t y)
{
    return op_less_than_i64_u64(y, x);
}

static inline uint8_t op_greater_equal_u64_i64(uint64_t x, int64_t y)
{
    return op_less_equal_i64_u64(y, x);
}

#define MIXED(name)                                                            \
    EW_KERNEL(ew_loop, SU, name, int64_t, uint64_t, uint8_t)                   \
    EW_KERNEL(ew_loop, US, name, uint64_t, int64_t, uint8_t)
MIXED(equal)
MIXED(not_equal)
MIXED(less_than)
MIXED(less_equal)
MIXED(greater_than)
MIXED(greater_equal)

static const ew_kernel_row row_i64_u64 = {
    [ELEMENTWISE_EQUAL] = equal_i64_u64,
    [ELEMENTWISE_NOT_EQUAL] = not_equal_i64_u64,
    [ELEMENTWISE_LESS_THAN] = less_than_i64_u64,
    [ELEMENTWISE_LESS_EQUAL] = less_equal_i64_u64,
    [ELEMENTWISE_GREATER_THAN] = greater_than_i64_u64,
    [ELEMENTWISE_GREATER_EQUAL] = greater_equal_i64_u64};

static const ew_kernel_row row_u64_i64 = {
    [ELEMENTWISE_EQUAL] = equal_u64_i64,
    [ELEMENTWISE_NOT_EQUAL] = not_equal_u64_i64,
    [ELEMENTWISE_LESS_THAN] = less_than_u64_i64,
    [ELEMENTWISE_LESS_EQUAL] = less_equal_u64_i64,
    [ELEMENTWISE_GREATER_THAN] = greater_than_u64_i64,
    [ELEMENTWISE_GREATER_EQUAL] = greater_equal_u64_i64};

const ew_kernel_row *const EW_CONCAT(ew_logic, EW_LEVEL)[EW_LOGIC_ROWS] = {
    &row_bool, &row_i64_u64, &row_u64_i64};
