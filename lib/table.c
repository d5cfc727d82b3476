/*
 * Puts the constant tables of kernels/ together: from a level and the types
 * of two operands to the row of kernels that computes them.
 */
#include "table.h"

#include "cpu.h"
#include "types.h"

struct tables {
    const ew_kernel_row *const *logic;
    ew_kernel *const *const *convert;
    ew_kernel *const *move;
    ew_streamer *const *stream;
    ew_permuter *const *permute;
    ew_permuter *const *turn;
    ew_permuter *const *pick;
    const struct ew_activations *const *activations;
    const ew_derivatives *const *gradients;
    const ew_fused *const *fused;
    ew_sum *const *sums;
    ew_join *const *join;
};

/* Those of two levels. */
#define TABLES_VBMI                                                            \
    {                                                                          \
        ew_logic_avx512, ew_convert_avx512, ew_move_avx512_vbmi,               \
            &ew_stream_avx512, &ew_permute_avx512_vbmi, ew_turn_avx512,        \
            &ew_pick_avx512_vbmi, ew_activation_avx512, ew_gradient_avx512,    \
            ew_fused_avx512, ew_sum_avx512, &ew_join_avx512                    \
    }

static const struct tables levels[EW_LEVELS] = {
    {ew_logic_base, ew_convert_base, ew_move_base, &ew_stream_base,
     &ew_permute_base, ew_turn_base, NULL, ew_activation_base, ew_gradient_base,
     ew_fused_base, ew_sum_base, &ew_join_base},
#if defined(EW_HAVE_X86_LEVELS)
    {ew_logic_avx2, ew_convert_avx2, ew_move_avx2, &ew_stream_avx2,
     &ew_permute_avx2, ew_turn_avx2, &ew_pick_avx2, ew_activation_avx2,
     ew_gradient_avx2, ew_fused_avx2, ew_sum_avx2, &ew_join_avx2},
    {ew_logic_avx512, ew_convert_avx512, ew_move_avx512, &ew_stream_avx512,
     &ew_permute_avx512, ew_turn_avx512, NULL, ew_activation_avx512,
     ew_gradient_avx512, ew_fused_avx512, ew_sum_avx512, &ew_join_avx512},
    TABLES_VBMI,
#if defined(EW_HAVE_FP16)
    TABLES_VBMI,
#endif
#endif
};

/* Where the rows of one level stand, in the order of the types. */
#define ROWS(level)                                                            \
    ROWS_BUT(level, ew_int_##level, ew_int_##level + 4, ew_float_##level)
#define ROWS_BUT(level, i8, u8, f16)                                           \
    {                                                                          \
        [ELEMENTWISE_BOOL] = ew_logic_##level + EW_LOGIC_BOOL, i8,             \
        ew_int_##level + 1, ew_int_##level + 2, ew_int_##level + 3, u8,        \
        ew_int_##level + 5, ew_int_##level + 6, ew_int_##level + 7, f16,       \
        ew_float_##level + 1, ew_float_##level + 2, ew_float_##level + 3,      \
        ew_complex_##level, ew_complex_##level + 1                             \
    }
const ew_kernel_row *const *const ew_table_rows[EW_LEVELS][EW_DTYPES] = {
    ROWS(base),
#if defined(EW_HAVE_X86_LEVELS)
    ROWS(avx2),
    ROWS(avx512),
    ROWS_BUT(avx512, ew_int_avx512_vbmi, ew_int_avx512_vbmi + 1,
             ew_float_avx512),
#if defined(EW_HAVE_FP16)
    ROWS_BUT(avx512, ew_int_avx512_vbmi, ew_int_avx512_vbmi + 1,
             &ew_float_avx512_fp16),
#endif
#endif
};

_Atomic(const ew_kernel_row *const *const *) ew_table_now;

/* Only comparisons of a signed with an unsigned i64 mix types; every other
   operation gets both operands in one. */
ew_kernel *ew_table_kernel(int level, int op, elementwise_dtype x,
                           elementwise_dtype y)
{
    if (x == y)
        return ew_table_direct(level, op, x);
    if (x == ELEMENTWISE_I64 && y == ELEMENTWISE_U64)
        return (*levels[level].logic[EW_LOGIC_I64_U64])[op];
    if (x == ELEMENTWISE_U64 && y == ELEMENTWISE_I64)
        return (*levels[level].logic[EW_LOGIC_U64_I64])[op];
    return NULL;
}

ew_kernel *ew_table_convert(int level, elementwise_dtype to,
                            elementwise_dtype from)
{
    return levels[level].convert[to][from];
}

ew_kernel *ew_table_move(int level, elementwise_dtype dtype)
{
    return levels[level].move[__builtin_ctz((unsigned)ew_types_size(dtype))];
}

ew_kernel *const *ew_table_moves(int level)
{
    return levels[level].move;
}

ew_streamer *ew_table_stream(int level)
{
    return *levels[level].stream;
}

ew_permuter *ew_table_permute(int level)
{
    return *levels[level].permute;
}

ew_permuter *ew_table_turn(int level, int64_t size)
{
    if (size == EW_FROM_WINDOWS + 1 || size == EW_FROM_WINDOWS + 2)
        return levels[level].pick ? *levels[level].pick : NULL;
    for (int i = 0; i < EW_TURNS; i++)
        if (size == 1 << i)
            return levels[level].turn[i];
    return NULL;
}

static const struct ew_activations *find_activations(int level,
                                                     elementwise_dtype dtype)
{
    return levels[level].activations[dtype - ELEMENTWISE_F16];
}

ew_kernel *ew_table_activation(int level, elementwise_dtype dtype, int act)
{
    return find_activations(level, dtype)->run[act];
}

ew_kernel *ew_table_behind(int level, elementwise_dtype dtype,
                           elementwise_act act)
{
    return find_activations(level, dtype)->behind[act];
}

ew_slope *ew_table_slope(int level, elementwise_dtype dtype,
                         elementwise_act act, bool from_result)
{
    const struct ew_activations *a = find_activations(level, dtype);
    return from_result ? a->from_result[act] : a->from_operand[act];
}

ew_derivative *ew_table_derivative(int level, elementwise_dtype dtype, int op,
                                   int which)
{
    return (*levels[level].gradients[dtype - ELEMENTWISE_F32])[op][which];
}

ew_sum *ew_table_fused(int level, elementwise_dtype dtype, int op, int which)
{
    /* What is done to each part of a complex number is done to reals. */
    bool by_parts = op == ELEMENTWISE_ADD || op == ELEMENTWISE_SUB;
    if (dtype > ELEMENTWISE_F64 && !by_parts)
        return NULL;
    if (dtype > ELEMENTWISE_F64)
        dtype = dtype == ELEMENTWISE_C64 ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
    return (*levels[level].fused[dtype - ELEMENTWISE_F16])[op][which];
}

ew_sum *ew_table_sum(int level, elementwise_dtype dtype)
{
    return levels[level].sums[dtype - ELEMENTWISE_F16];
}

ew_join *ew_table_join(int level)
{
    return *levels[level].join;
}
