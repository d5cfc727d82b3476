/*
 * Where kernels are found: by CPU level, types and operation.
 */
#ifndef EW_TABLE_H
#define EW_TABLE_H

#include "cpu.h"
#include "kernels/kernel.h"

/* The rows of a level and a type. */
extern const ew_kernel_row *const *const ew_table_rows[EW_LEVELS][EW_DTYPES];

/* Those of the level that is run, by type; NULL: not asked for yet (cpu.c). */
extern _Atomic(const ew_kernel_row *const *const *) ew_table_now;

/* Its kernel for two operands of one type; NULL: none, or it is not known. */
static inline ew_kernel *ew_table_known(int op, elementwise_dtype dtype)
{
    const ew_kernel_row *const *const *rows =
        atomic_load_explicit(&ew_table_now, memory_order_relaxed);
    return rows ? (**rows[dtype])[op] : NULL;
}

/* The kernel for two operands of one type. */
static inline ew_kernel *ew_table_direct(int level, int op,
                                         elementwise_dtype dtype)
{
    return (**ew_table_rows[level][dtype])[op];
}

/* The same of the level that is run, by that: all of a call are of one. */
static inline ew_kernel *ew_table_here(int op, elementwise_dtype dtype)
{
    return ew_table_direct(ew_cpu_level(), op, dtype);
}

/* The kernel of a level that computes op on elements of types x and y as
   they are; op may also be one of the EW_ANY_ reductions. NULL: none. */
ew_kernel *ew_table_kernel(int level, int op, elementwise_dtype x,
                           elementwise_dtype y);

/* The activation on floats, or EW_SCALE on floats and complex types. */
ew_kernel *ew_table_activation(int level, elementwise_dtype dtype, int act);

/* The same behind an operation, in one kernel. NULL: there is none. */
ew_kernel *ew_table_behind(int level, elementwise_dtype dtype,
                           elementwise_act act);

/* The slope of an activation on f32 or f64. NULL: gelu and silu have none from
   their result. */
ew_slope *ew_table_slope(int level, elementwise_dtype dtype,
                         elementwise_act act, bool from_result);

/* The derivative of op, one of EW_D_, on elements of type dtype: f32, f64,
   c64 or c128. NULL: none, or it needs no kernel. */
ew_derivative *ew_table_derivative(int level, elementwise_dtype dtype, int op,
                                   int which);

/* The kernel that stores one derivative and sums another, in reals: of complex
   numbers each part; NULL if there is none. */
ew_sum *ew_table_fused(int level, elementwise_dtype dtype, int op, int which);

/* The kernel that sums f16 ... f64. */
ew_sum *ew_table_sum(int level, elementwise_dtype dtype);

/* What adds to sums of f64 what they lost. */
ew_join *ew_table_join(int level);

/* The kernel that converts; NULL: no such conversion. */
ew_kernel *ew_table_convert(int level, elementwise_dtype to,
                            elementwise_dtype from);

/* The kernel that moves elements of a type unchanged. */
ew_kernel *ew_table_move(int level, elementwise_dtype dtype);

/* Those for elements of 1, 2, 4, 8 and 16 bytes. */
ew_kernel *const *ew_table_moves(int level);

/* What moves rows of bytes past the caches. */
ew_streamer *ew_table_stream(int level);

/* What moves groups of elements in any order; NULL where nothing can. */
ew_permuter *ew_table_permute(int level);

/* What turns rectangles of elements of `size` bytes, or of 1 or 2 bytes from
   windows if that is added; NULL where nothing can. */
ew_permuter *ew_table_turn(int level, int64_t size);

#endif
