/*
 * What is known of operations and element types without any data: sizes,
 * kinds, promotion, and in which type an operation is computed.
 */
#ifndef EW_TYPES_H
#define EW_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "elementwise.h"

/* Kinds of types, in the order in which same_kind casting allows to go up.
   Their unions are the classes of types that ops.def speaks of. */
enum ew_kind {
    EW_KIND_BOOL = 1,
    EW_KIND_UINT = 2,
    EW_KIND_INT = 4,
    EW_KIND_FLOAT = 8,
    EW_KIND_COMPLEX = 16,
    EW_BOOL = EW_KIND_BOOL,
    EW_INTEGERS = EW_KIND_UINT | EW_KIND_INT,
    EW_FLOATS = EW_KIND_FLOAT,
    EW_REAL = EW_INTEGERS | EW_FLOATS,
    EW_NUMBERS = EW_REAL | EW_KIND_COMPLEX,
    EW_ALL = EW_NUMBERS | EW_BOOL
};

/* What DIVISION_BY_ZERO means for an operation on integers. */
enum ew_fault { EW_FAULT_NONE, EW_FAULT_ZERO, EW_FAULT_POWER };

/* The types that one element passes through, in this order. */
struct ew_types {
    elementwise_dtype operand[3]; /* x, y and out, as they are in memory */
    elementwise_dtype compute[3]; /* what the kernel reads, reads, writes */
    elementwise_dtype result;     /* what the operation promises */
    enum ew_fault fault;
};

/* The facts of dtypes.def by number: instead of the alignment, the bits that no
   address of such an element has. */
struct ew_dtype_facts {
    unsigned char kind, size, unaligned;
};
extern const struct ew_dtype_facts ew_types_facts[];

/* Those of ops.def. */
struct ew_op_facts {
    const char *name;
    unsigned char types; /* kinds that it takes */
    bool to_bool;        /* the result's type, if not the promoted one */
    unsigned char fault;
};
extern const struct ew_op_facts ew_types_ops[];

enum { EW_LAST_OP = ELEMENTWISE_BITWISE_RIGHT_SHIFT };

static inline bool ew_types_known_op(elementwise_op op)
{
    return (unsigned)op - 1 < EW_LAST_OP;
}

static inline bool ew_types_known(elementwise_dtype dtype)
{
    return (unsigned)dtype - ELEMENTWISE_BOOL <=
           ELEMENTWISE_C128 - ELEMENTWISE_BOOL;
}

/* The rest is asked of known types only. */
static inline enum ew_kind ew_types_kind(elementwise_dtype dtype)
{
    return (enum ew_kind)ew_types_facts[dtype].kind;
}

/* f16 and bf16 */
bool ew_types_is_half(elementwise_dtype dtype);

static inline size_t ew_types_size(elementwise_dtype dtype)
{
    return ew_types_facts[dtype].size;
}

static inline size_t ew_types_align(elementwise_dtype dtype)
{
    return ew_types_facts[dtype].unaligned + 1u;
}

static inline uintptr_t ew_types_unaligned(elementwise_dtype dtype)
{
    return ew_types_facts[dtype].unaligned;
}

/* Fills types for x op y, all three known; BAD_DTYPE if the operation does
   not have the promoted type. operand[2] follows from out: ew_types_out
   checks that the result may be stored as it. */
elementwise_status ew_types_resolve(elementwise_op op, elementwise_dtype x,
                                    elementwise_dtype y,
                                    struct ew_types *types);
elementwise_status ew_types_out(elementwise_op op, elementwise_dtype out,
                                struct ew_types *types);

/* Makes the kernel of an operation on f16 or bf16 that of f32, for steps beside
   it that take its results before they are rounded. False if it is already,
   or if the operation is nextafter. */
bool ew_types_widen(elementwise_op op, struct ew_types *types);

/* The type in which the kernel computes: f32 where it reads f16 or bf16 and
   rounds. */
elementwise_dtype ew_types_arithmetic(elementwise_op op,
                                      const struct ew_types *types);

/* Whether the operation takes elements of that type, but no 0 in y. Both are
   known. */
static inline bool ew_types_divides(elementwise_op op, elementwise_dtype dtype)
{
    return ew_types_ops[op].fault == EW_FAULT_ZERO &&
           (ew_types_facts[dtype].kind & EW_INTEGERS);
}

#endif
