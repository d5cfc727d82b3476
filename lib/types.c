/*
 * Turns an operation and the types of its operands into the types in which
 * it is computed and returned. The two lists ops.def and dtypes.def become
 * the only tables of facts here; names are looked up in them both ways.
 */
#include "types.h"

#include <stdint.h>
#include <string.h>

#include "kernels/kernel.h"
#include "message.h"
#include "validate.h"

const struct ew_dtype_facts ew_types_facts[EW_DTYPES] = {
#define DTYPE(name, NAME, type, kind, part)                                    \
    [ELEMENTWISE_##NAME] = {kind, sizeof(type), (part)-1},
#include "dtypes.def"
};

static const char *const dtypes[EW_DTYPES] = {
#define DTYPE(name, NAME, type, kind, part) [ELEMENTWISE_##NAME] = #name,
#include "dtypes.def"
};

#define PROMOTED false
#define BOOL true
const struct ew_op_facts ew_types_ops[] = {
#define OP(name, NAME, types, result, fault, ulp)                              \
    [ELEMENTWISE_##NAME] = {#name, types, result, EW_FAULT_##fault},
#include "ops.def"
};
static const struct ew_op_facts *const ops = ew_types_ops;
enum { OPS = sizeof ew_types_ops / sizeof *ew_types_ops };
_Static_assert(OPS - 1 == EW_LAST_OP, "the header and ops.def differ");

/* No pointers, which would be relocated at each start. */
static const char acts[][sizeof "leaky_relu"] = {
    "none", "relu", "relu6", "leaky_relu", "sigmoid", "tanh", "gelu", "silu"};
enum { ACTS = sizeof acts / sizeof *acts };

static const char statuses[][sizeof "DIVISION_BY_ZERO"] = {
    "OK",       "INVALID",    "BAD_AXIS",  "BAD_SHAPE",        "BAD_DTYPE",
    "OVERLAP",  "MISALIGNED", "TOO_LARGE", "DIVISION_BY_ZERO", "NO_GRADIENT",
    "NO_MEMORY"};
enum { STATUSES = sizeof statuses / sizeof *statuses };

/* The smallest signed type that holds an unsigned one; f64 where none does,
   as in NumPy. */
static elementwise_dtype signed_above(elementwise_dtype dtype)
{
    switch (ew_types_facts[dtype].size) {
    case 1:
        return ELEMENTWISE_I16;
    case 2:
        return ELEMENTWISE_I32;
    case 4:
        return ELEMENTWISE_I64;
    default:
        return ELEMENTWISE_F64;
    }
}

/* The wider of two of one kind; else the smallest signed type that holds
   both. */
static elementwise_dtype promote_integers(elementwise_dtype x,
                                          elementwise_dtype y)
{
    elementwise_dtype narrow =
        ew_types_facts[x].size < ew_types_facts[y].size ? x : y;
    elementwise_dtype wide = narrow == x ? y : x;
    if (ew_types_facts[x].kind == ew_types_facts[y].kind)
        return wide;
    bool holds = ew_types_facts[wide].kind == EW_KIND_INT &&
                 ew_types_facts[wide].size > ew_types_facts[narrow].size;
    return holds ? wide : signed_above(x < y ? y : x);
}

/* The real type that holds both reals, at least one of them a float. An
   integer counts as the narrowest float that NumPy gives it. */
static elementwise_dtype promote_floats(elementwise_dtype x,
                                        elementwise_dtype y)
{
    elementwise_dtype low = x < y ? x : y, high = x < y ? y : x;
    if (ew_types_facts[low].kind != EW_KIND_FLOAT) {
        if (ew_types_facts[low].size == 1)
            return high;
        low = ew_types_facts[low].size == 2 ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
        return low > high ? low : high;
    }
    bool halves = low == ELEMENTWISE_F16 && high == ELEMENTWISE_BF16;
    return halves ? ELEMENTWISE_F32 : high;
}

/* The real type of one part, for promotion with complex types. */
static elementwise_dtype part(elementwise_dtype dtype)
{
    if (ew_types_facts[dtype].kind != EW_KIND_COMPLEX)
        return dtype;
    return dtype == ELEMENTWISE_C64 ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
}

/* The promoted type of two known types. */
static elementwise_dtype promote(elementwise_dtype x, elementwise_dtype y)
{
    unsigned kinds = ew_types_facts[x].kind | ew_types_facts[y].kind;
    if (x == y || y == ELEMENTWISE_BOOL)
        return x;
    if (x == ELEMENTWISE_BOOL)
        return y;
    if (!(kinds & (EW_KIND_FLOAT | EW_KIND_COMPLEX)))
        return promote_integers(x, y);
    if (!(kinds & EW_KIND_COMPLEX))
        return promote_floats(x, y);
    bool wide = promote_floats(part(x), part(y)) == ELEMENTWISE_F64;
    return wide ? ELEMENTWISE_C128 : ELEMENTWISE_C64;
}

static bool is_logical(elementwise_op op)
{
    return op >= ELEMENTWISE_LOGICAL_AND && op <= ELEMENTWISE_LOGICAL_XOR;
}

bool ew_types_is_half(elementwise_dtype dtype)
{
    return dtype == ELEMENTWISE_F16 || dtype == ELEMENTWISE_BF16;
}

/* What is done in f16 and bf16 themselves, even beside another type: the next
   value of f32 would be another one, and a sign is changed in any type. */
static bool stays_half(elementwise_op op)
{
    return op == ELEMENTWISE_NEXTAFTER || op == ELEMENTWISE_COPYSIGN;
}

/* f16 and bf16 are computed in f32: by kernels that convert in registers, or,
   where another type comes in, by those of f32. */
static bool is_widened(elementwise_op op, elementwise_dtype x,
                       elementwise_dtype y, elementwise_dtype promoted)
{
    return ew_types_is_half(promoted) && x != y && !stays_half(op);
}

/* An i64 (or another signed type) with a u64: their promoted type, f64, does
   not hold them, so comparisons have kernels of their own. */
static bool is_mixed(const struct ew_types *t)
{
    return (ew_types_kind(t->operand[0]) | ew_types_kind(t->operand[1])) ==
               EW_INTEGERS &&
           t->result == ELEMENTWISE_F64;
}

/* The type of the kernels that compare them exactly. */
static elementwise_dtype widen_mixed(elementwise_dtype dtype)
{
    return dtype == ELEMENTWISE_U64 ? dtype : ELEMENTWISE_I64;
}

/* The classes of ops.def but EW_ALL, in words. */
static const char *class_name(unsigned types)
{
    switch (types) {
    case EW_NUMBERS:
        return "integers, floats and complex types";
    case EW_REAL | EW_BOOL:
        return "bool, integers and floats";
    case EW_REAL:
        return "integers and floats";
    case EW_FLOATS:
        return "floats";
    case EW_INTEGERS | EW_BOOL:
        return "bool and integers";
    default:
        return "integers";
    }
}

/* Names both types, what they were promoted to, and what would do. */
static elementwise_status bad_dtype(elementwise_op op, const struct ew_types *t)
{
    return ew_fail(ELEMENTWISE_BAD_DTYPE,
                   "%s: not defined for %s and %s%s%s; it takes %s",
                   ops[op].name, dtypes[t->operand[0]], dtypes[t->operand[1]],
                   t->operand[0] == t->operand[1] ? "" : ", promoted to ",
                   t->operand[0] == t->operand[1] ? "" : dtypes[t->result],
                   class_name(ops[op].types));
}

elementwise_status ew_types_resolve(elementwise_op op, elementwise_dtype x,
                                    elementwise_dtype y, struct ew_types *types)
{
    elementwise_dtype p = promote(x, y), compute = p;
    *types = (struct ew_types){.operand = {x, y, p}, .result = p};
    bool mixed = is_mixed(types);
    if (!(ops[op].types & ew_types_kind(p)))
        return bad_dtype(op, types);

    if (is_widened(op, x, y, p))
        compute = ELEMENTWISE_F32;
    /* Logic asks each operand on its own whether it is 0. */
    if (is_logical(op) && x != y)
        compute = ELEMENTWISE_BOOL;
    types->compute[0] = types->compute[1] = types->compute[2] = compute;
    if (ops[op].to_bool) {
        if (mixed && !is_logical(op)) {
            types->compute[0] = widen_mixed(x);
            types->compute[1] = widen_mixed(y);
        }
        types->compute[2] = types->result = ELEMENTWISE_BOOL;
    }
    if (ew_types_kind(compute) & EW_INTEGERS)
        types->fault = ops[op].fault;
    return ELEMENTWISE_OK;
}

/* same_kind is an order of kinds: bool, unsigned, signed, float, complex. A
   comparison has no other result than bool. */
elementwise_status ew_types_out(elementwise_op op, elementwise_dtype out,
                                struct ew_types *types)
{
    elementwise_dtype result = types->result;
    types->operand[2] = out;
    bool same_kind = ops[op].to_bool ? out == result
                                     : ew_types_facts[result].kind <=
                                           ew_types_facts[out].kind;
    if (same_kind)
        return ELEMENTWISE_OK;
    return ew_fail(ELEMENTWISE_BAD_DTYPE,
                   "%s: the result is %s and cannot be stored as %s; out "
                   "may be %s%s",
                   ops[op].name, dtypes[result], dtypes[out], dtypes[result],
                   ops[op].to_bool ? ""
                                   : ", or a type that same_kind "
                                     "casting from it allows");
}

bool ew_types_widen(elementwise_op op, struct ew_types *types)
{
    if (!ew_types_is_half(types->compute[EW_OUT]) ||
        op == ELEMENTWISE_NEXTAFTER)
        return false;
    for (int k = 0; k < 3; k++)
        types->compute[k] = ELEMENTWISE_F32;
    return true;
}

elementwise_dtype ew_types_arithmetic(elementwise_op op,
                                      const struct ew_types *types)
{
    elementwise_dtype compute = types->compute[EW_X];
    bool rounds = op == ELEMENTWISE_ADD || op == ELEMENTWISE_SUB ||
                  op == ELEMENTWISE_MUL || op == ELEMENTWISE_DIV ||
                  op == ELEMENTWISE_MOD || op == ELEMENTWISE_FLOORDIV ||
                  op == ELEMENTWISE_FMOD || op == ELEMENTWISE_TRUNCDIV ||
                  op == ELEMENTWISE_HYPOT || op == ELEMENTWISE_POW ||
                  op == ELEMENTWISE_ATAN2 || op == ELEMENTWISE_LOGADDEXP;
    return ew_types_is_half(compute) && rounds ? ELEMENTWISE_F32 : compute;
}

elementwise_status elementwise_result_type(elementwise_op op,
                                           elementwise_dtype x,
                                           elementwise_dtype y,
                                           elementwise_dtype *result)
{
    struct ew_types types;
    if (!result)
        return ew_fail(ELEMENTWISE_INVALID, "result_type: result is NULL");
    elementwise_status status = ew_validate_op(op);
    if (!status)
        status = ew_validate_dtype(ops[op].name, "x", x);
    if (!status)
        status = ew_validate_dtype(ops[op].name, "y", y);
    if (!status)
        status = ew_types_resolve(op, x, y, &types);
    if (!status)
        *result = types.result;
    return status;
}

size_t elementwise_dtype_size(elementwise_dtype dtype)
{
    return ew_types_known(dtype) ? ew_types_size(dtype) : 0;
}

const char *elementwise_op_name(elementwise_op op)
{
    return ew_types_known_op(op) ? ops[op].name : NULL;
}

const char *elementwise_dtype_name(elementwise_dtype dtype)
{
    return ew_types_known(dtype) ? dtypes[dtype] : NULL;
}

const char *elementwise_act_name(elementwise_act act)
{
    return (unsigned)act < ACTS ? acts[act] : NULL;
}

const char *elementwise_status_name(elementwise_status status)
{
    return (unsigned)status < STATUSES ? statuses[status] : NULL;
}

static bool equal(const char *name, const char *entry)
{
    return name && entry && strcmp(name, entry) == 0;
}

elementwise_op elementwise_op_from_name(const char *name)
{
    for (int i = 1; i < OPS; i++)
        if (equal(name, ops[i].name))
            return (elementwise_op)i;
    return (elementwise_op)0;
}

elementwise_dtype elementwise_dtype_from_name(const char *name)
{
    for (int i = 1; i < EW_DTYPES; i++)
        if (equal(name, dtypes[i]))
            return (elementwise_dtype)i;
    return (elementwise_dtype)0;
}

elementwise_act elementwise_act_from_name(const char *name)
{
    for (int i = 0; i < ACTS; i++)
        if (equal(name, acts[i]))
            return (elementwise_act)i;
    return (elementwise_act)-1;
}

elementwise_status elementwise_status_from_name(const char *name)
{
    for (int i = 0; i < STATUSES; i++)
        if (equal(name, statuses[i]))
            return (elementwise_status)i;
    return (elementwise_status)-1;
}
