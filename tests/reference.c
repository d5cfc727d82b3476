/*
 * Turns two elements into the element that the contract asks for, and two
 * shapes into the way they meet, index by index. Independence is the point:
 * nothing here is taken from lib/, and where there is a choice of method this
 * file takes another one than a fast library would.
 *
 *   shapes        each dimension of the result is given the dimensions of x
 *                 and y that stand there, by the rules' own words; no strides
 *   integers      sign and magnitude; i64 and u64 meet without a wider type
 *   rounding      a 64-bit significand, an exponent and the question whether
 *                 anything is left below it
 *   f32           computed in f64 and rounded: f64 has more than twice the
 *                 digits, so that a sum, product or quotient rounded to f64
 *                 rounds to the same f32 as the exact one
 *   mod, floordiv long division, bit by bit
 *   pow, atan2, hypot, logaddexp and products, quotients and powers of
 *                 complex numbers: long double as the truth, from which a
 *                 result may lie as far as the contract allows. Where long
 *                 double is no wider than double, its own error is added.
 */
#include "reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------
 * Shapes
 */

static bool same_shape(const elementwise_tensor *x, const elementwise_tensor *y)
{
    if (x->ndim != y->ndim)
        return false;
    for (int k = 0; k < x->ndim; k++)
        if (x->shape[k] != y->shape[k])
            return false;
    return true;
}

/* The rank without trailing 1s. */
static int trimmed_rank(const elementwise_tensor *t)
{
    int rank = t->ndim;
    while (rank > 0 && t->shape[rank - 1] == 1)
        rank--;
    return rank;
}

/* Puts dimensions 0 ... rank-1 of an operand at start, start + 1, ... */
static void place(int of[], int ndim, int start, int rank)
{
    for (int k = 0; k < ndim; k++)
        of[k] = k >= start && k < start + rank ? k - start : -1;
}

static elementwise_status place_right(const elementwise_tensor *x,
                                      const elementwise_tensor *y,
                                      struct ref_fit *fit)
{
    place(fit->x, fit->ndim, fit->ndim - x->ndim, x->ndim);
    place(fit->y, fit->ndim, fit->ndim - y->ndim, y->ndim);
    return ELEMENTWISE_OK;
}

static elementwise_status place_at(const elementwise_tensor *x,
                                   const elementwise_tensor *y, int axis,
                                   struct ref_fit *fit)
{
    bool x_is_placed = x->ndim < y->ndim;
    const elementwise_tensor *placed = x_is_placed ? x : y;
    int rank = trimmed_rank(placed);
    if (same_shape(x, y)) {
        axis = 0;
        rank = placed->ndim;
    } else if (rank == 0) {
        axis = 0;
    } else if (axis < -1 || axis >= fit->ndim) {
        return ELEMENTWISE_BAD_AXIS;
    }
    if (axis + rank > fit->ndim)
        return ELEMENTWISE_BAD_SHAPE;
    place(fit->x, fit->ndim, 0, x->ndim);
    place(fit->y, fit->ndim, 0, y->ndim);
    place(x_is_placed ? fit->x : fit->y, fit->ndim, axis, rank);
    return ELEMENTWISE_OK;
}

elementwise_status ref_fit(const elementwise_tensor *x,
                           const elementwise_tensor *y, int axis,
                           struct ref_fit *fit)
{
    fit->ndim = x->ndim > y->ndim ? x->ndim : y->ndim;
    elementwise_status status = axis == ELEMENTWISE_NUMPY
                                    ? place_right(x, y, fit)
                                    : place_at(x, y, axis, fit);
    if (status != ELEMENTWISE_OK)
        return status;
    for (int k = 0; k < fit->ndim; k++) {
        int64_t a = fit->x[k] < 0 ? 1 : x->shape[fit->x[k]];
        int64_t b = fit->y[k] < 0 ? 1 : y->shape[fit->y[k]];
        if (a != b && a != 1 && b != 1)
            return ELEMENTWISE_BAD_SHAPE;
        fit->shape[k] = a == 1 ? b : a;
    }
    return ELEMENTWISE_OK;
}

bool ref_next(int ndim, const int64_t shape[], int64_t index[])
{
    for (int k = ndim - 1; k >= 0; k--) {
        if (++index[k] < shape[k])
            return true;
        index[k] = 0;
    }
    return false;
}

static int64_t row_major_stride(const elementwise_tensor *t, int dimension)
{
    int64_t stride = 1;
    for (int k = dimension + 1; k < t->ndim; k++)
        stride *= t->shape[k];
    return stride;
}

void *ref_at(const elementwise_tensor *t, const int64_t index[])
{
    int64_t offset = 0;
    for (int k = 0; k < t->ndim; k++)
        if (t->shape[k] > 1)
            offset += index[k] *
                      (t->strides ? t->strides[k] : row_major_stride(t, k));
    return (char *)t->data + offset * (int64_t)ref_size(t->dtype);
}

void *ref_element(const elementwise_tensor *operand, int ndim, const int of[],
                  const int64_t index[])
{
    int64_t own[ELEMENTWISE_MAX_NDIM];
    for (int k = 0; k < operand->ndim; k++)
        own[k] = 0;
    for (int k = 0; k < ndim; k++)
        if (of[k] >= 0 && operand->shape[of[k]] > 1)
            own[of[k]] = index[k];
    return ref_at(operand, own);
}

/* ---------------------------------------------------------------------
 * Types
 */

size_t ref_size(elementwise_dtype type)
{
    switch (type) {
    case ELEMENTWISE_BOOL:
    case ELEMENTWISE_I8:
    case ELEMENTWISE_U8:
        return 1;
    case ELEMENTWISE_I16:
    case ELEMENTWISE_U16:
    case ELEMENTWISE_F16:
    case ELEMENTWISE_BF16:
        return 2;
    case ELEMENTWISE_I32:
    case ELEMENTWISE_U32:
    case ELEMENTWISE_F32:
        return 4;
    case ELEMENTWISE_I64:
    case ELEMENTWISE_U64:
    case ELEMENTWISE_F64:
    case ELEMENTWISE_C64:
        return 8;
    case ELEMENTWISE_C128:
        return 16;
    }
    return 0;
}

bool ref_is_signed(elementwise_dtype type)
{
    return type == ELEMENTWISE_I8 || type == ELEMENTWISE_I16 ||
           type == ELEMENTWISE_I32 || type == ELEMENTWISE_I64;
}

bool ref_is_integer(elementwise_dtype type)
{
    return ref_is_signed(type) || type == ELEMENTWISE_U8 ||
           type == ELEMENTWISE_U16 || type == ELEMENTWISE_U32 ||
           type == ELEMENTWISE_U64;
}

bool ref_is_float(elementwise_dtype type)
{
    return type == ELEMENTWISE_F16 || type == ELEMENTWISE_BF16 ||
           type == ELEMENTWISE_F32 || type == ELEMENTWISE_F64;
}

bool ref_is_complex(elementwise_dtype type)
{
    return type == ELEMENTWISE_C64 || type == ELEMENTWISE_C128;
}

static bool is_half(elementwise_dtype type)
{
    return type == ELEMENTWISE_F16 || type == ELEMENTWISE_BF16;
}

/* The type of a complex number's parts, or the type itself. */
static elementwise_dtype part_type(elementwise_dtype type)
{
    if (type == ELEMENTWISE_C64)
        return ELEMENTWISE_F32;
    return type == ELEMENTWISE_C128 ? ELEMENTWISE_F64 : type;
}

/* The type in which floats are computed: f16 and bf16 in f32. */
static elementwise_dtype compute_type(elementwise_dtype type)
{
    return is_half(type) ? ELEMENTWISE_F32 : part_type(type);
}

/* Two letters each, so that the table below has a column per type. */
enum {
    bo = ELEMENTWISE_BOOL,
    i1 = ELEMENTWISE_I8,
    i2 = ELEMENTWISE_I16,
    i4 = ELEMENTWISE_I32,
    i8 = ELEMENTWISE_I64,
    u1 = ELEMENTWISE_U8,
    u2 = ELEMENTWISE_U16,
    u4 = ELEMENTWISE_U32,
    u8 = ELEMENTWISE_U64,
    hf = ELEMENTWISE_F16,
    bf = ELEMENTWISE_BF16,
    f4 = ELEMENTWISE_F32,
    f8 = ELEMENTWISE_F64,
    c8 = ELEMENTWISE_C64,
    cc = ELEMENTWISE_C128
};

static const unsigned char promotion[REF_TYPES][REF_TYPES] = {
    {bo, i1, i2, i4, i8, u1, u2, u4, u8, hf, bf, f4, f8, c8, cc}, /* bool */
    {i1, i1, i2, i4, i8, i2, i4, i8, f8, hf, bf, f4, f8, c8, cc}, /* i8 */
    {i2, i2, i2, i4, i8, i2, i4, i8, f8, f4, f4, f4, f8, c8, cc}, /* i16 */
    {i4, i4, i4, i4, i8, i4, i4, i8, f8, f8, f8, f8, f8, cc, cc}, /* i32 */
    {i8, i8, i8, i8, i8, i8, i8, i8, f8, f8, f8, f8, f8, cc, cc}, /* i64 */
    {u1, i2, i2, i4, i8, u1, u2, u4, u8, hf, bf, f4, f8, c8, cc}, /* u8 */
    {u2, i4, i4, i4, i8, u2, u2, u4, u8, f4, f4, f4, f8, c8, cc}, /* u16 */
    {u4, i8, i8, i8, i8, u4, u4, u4, u8, f8, f8, f8, f8, cc, cc}, /* u32 */
    {u8, f8, f8, f8, f8, u8, u8, u8, u8, f8, f8, f8, f8, cc, cc}, /* u64 */
    {hf, hf, f4, f8, f8, hf, f4, f8, f8, hf, f4, f4, f8, c8, cc}, /* f16 */
    {bf, bf, f4, f8, f8, bf, f4, f8, f8, f4, bf, f4, f8, c8, cc}, /* bf16 */
    {f4, f4, f4, f8, f8, f4, f4, f8, f8, f4, f4, f4, f8, c8, cc}, /* f32 */
    {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, cc, cc}, /* f64 */
    {c8, c8, c8, cc, cc, c8, c8, cc, cc, c8, c8, c8, cc, c8, cc}, /* c64 */
    {cc, cc, cc, cc, cc, cc, cc, cc, cc, cc, cc, cc, cc, cc, cc}, /* c128 */
};

elementwise_dtype ref_promote(elementwise_dtype x, elementwise_dtype y)
{
    return (elementwise_dtype)promotion[x - 1][y - 1];
}

/* The promoted types that an operation takes. */
enum {
    BOOL = 1,
    INTEGER = 2,
    FLOAT = 4,
    COMPLEX = 8,
    REAL = INTEGER | FLOAT,
    NUMBER = REAL | COMPLEX,
    ALL = NUMBER | BOOL
};

static const unsigned char takes[REF_OPS + 1] = {
    [ELEMENTWISE_ADD] = ALL,
    [ELEMENTWISE_SUB] = NUMBER,
    [ELEMENTWISE_MUL] = ALL,
    [ELEMENTWISE_DIV] = NUMBER,
    [ELEMENTWISE_MAX] = REAL | BOOL,
    [ELEMENTWISE_MIN] = REAL | BOOL,
    [ELEMENTWISE_POW] = NUMBER,
    [ELEMENTWISE_MOD] = REAL,
    [ELEMENTWISE_FLOORDIV] = REAL,
    [ELEMENTWISE_FMAX] = REAL,
    [ELEMENTWISE_FMIN] = REAL,
    [ELEMENTWISE_HEAVISIDE] = REAL,
    [ELEMENTWISE_TRUNCDIV] = REAL,
    [ELEMENTWISE_FMOD] = REAL,
    [ELEMENTWISE_ATAN2] = FLOAT,
    [ELEMENTWISE_HYPOT] = FLOAT,
    [ELEMENTWISE_COPYSIGN] = FLOAT,
    [ELEMENTWISE_NEXTAFTER] = FLOAT,
    [ELEMENTWISE_LOGADDEXP] = FLOAT,
    [ELEMENTWISE_EQUAL] = ALL,
    [ELEMENTWISE_NOT_EQUAL] = ALL,
    [ELEMENTWISE_LESS_THAN] = REAL | BOOL,
    [ELEMENTWISE_LESS_EQUAL] = REAL | BOOL,
    [ELEMENTWISE_GREATER_THAN] = REAL | BOOL,
    [ELEMENTWISE_GREATER_EQUAL] = REAL | BOOL,
    [ELEMENTWISE_LOGICAL_AND] = ALL,
    [ELEMENTWISE_LOGICAL_OR] = ALL,
    [ELEMENTWISE_LOGICAL_XOR] = ALL,
    [ELEMENTWISE_BITWISE_AND] = INTEGER | BOOL,
    [ELEMENTWISE_BITWISE_OR] = INTEGER | BOOL,
    [ELEMENTWISE_BITWISE_XOR] = INTEGER | BOOL,
    [ELEMENTWISE_BITWISE_LEFT_SHIFT] = INTEGER,
    [ELEMENTWISE_BITWISE_RIGHT_SHIFT] = INTEGER,
};

static int class_of(elementwise_dtype type)
{
    if (type == ELEMENTWISE_BOOL)
        return BOOL;
    if (ref_is_integer(type))
        return INTEGER;
    return ref_is_float(type) ? FLOAT : COMPLEX;
}

static bool gives_bool(elementwise_op op)
{
    return op >= ELEMENTWISE_EQUAL && op <= ELEMENTWISE_LOGICAL_XOR;
}

elementwise_status ref_result_type(elementwise_op op, elementwise_dtype x,
                                   elementwise_dtype y,
                                   elementwise_dtype *result)
{
    if (!(takes[op] & class_of(ref_promote(x, y))))
        return ELEMENTWISE_BAD_DTYPE;
    *result = gives_bool(op) ? ELEMENTWISE_BOOL : ref_promote(x, y);
    return ELEMENTWISE_OK;
}

bool ref_casts(elementwise_dtype from, elementwise_dtype to)
{
    int a = class_of(from), b = class_of(to);
    if (a == INTEGER && b == INTEGER)
        return !ref_is_signed(from) || ref_is_signed(to);
    return a <= b;
}

bool ref_writes(elementwise_op op, elementwise_dtype x, elementwise_dtype y,
                elementwise_dtype out)
{
    elementwise_dtype result;
    if (ref_result_type(op, x, y, &result) != ELEMENTWISE_OK)
        return false;
    return gives_bool(op) ? out == ELEMENTWISE_BOOL : ref_casts(result, out);
}

bool ref_is_exact(elementwise_op op, elementwise_dtype promoted)
{
    if (op == ELEMENTWISE_POW)
        return ref_is_integer(promoted);
    if (op == ELEMENTWISE_MUL || op == ELEMENTWISE_DIV)
        return !ref_is_complex(promoted);
    return op != ELEMENTWISE_ATAN2 && op != ELEMENTWISE_HYPOT &&
           op != ELEMENTWISE_LOGADDEXP;
}

/* ---------------------------------------------------------------------
 * Rounding
 */

struct format {
    int digits; /* of the significand, the leading one included */
    int least;  /* the smallest subnormal is 2^least */
    int most;   /* the largest number is less than 2^most */
};

static const struct format *format_of(elementwise_dtype type)
{
    static const struct format f16 = {11, -24, 16}, bf16 = {8, -133, 128},
                               f32 = {24, -149, 128}, f64 = {53, -1074, 1024};
    if (type == ELEMENTWISE_F16)
        return &f16;
    if (type == ELEMENTWISE_BF16)
        return &bf16;
    return type == ELEMENTWISE_F32 ? &f32 : &f64;
}

static int bit_length(uint64_t n)
{
    int length = 0;
    for (int step = 32; step > 0; step /= 2) {
        if (n >> step) {
            n >>= step;
            length += step;
        }
    }
    return length + (n != 0);
}

/* head * 2^exponent, and a little more if rest is true, rounded to nearest
   even in the given format. */
static double round_scaled(elementwise_dtype type, uint64_t head, int exponent,
                           bool rest)
{
    const struct format *f = format_of(type);
    int last = exponent + bit_length(head) - f->digits;
    if (last < f->least)
        last = f->least;
    int dropped = last - exponent;
    if (dropped > 64)
        return 0;
    if (dropped > 0) {
        uint64_t half = (uint64_t)1 << (dropped - 1);
        bool up = head & half;
        rest = rest || (head & (half - 1));
        head = head >> (dropped - 1) >> 1;
        head += up && (rest || (head & 1));
        exponent = last;
    }
    double rounded = ldexp((double)head, exponent);
    return rounded / 2 >= ldexp(1, f->most - 1) ? INFINITY : rounded;
}

static double round_long(elementwise_dtype type, long double value)
{
    if (isnan(value) || isinf(value) || value == 0)
        return (double)value;
    int exponent;
    long double scaled = ldexpl(frexpl(fabsl(value), &exponent), 64);
    uint64_t head = (uint64_t)scaled;
    double rounded =
        round_scaled(type, head, exponent - 64, scaled != (long double)head);
    return signbit(value) ? -rounded : rounded;
}

static double round_to(elementwise_dtype type, double value)
{
    return type == ELEMENTWISE_F64 ? value : round_long(type, value);
}

/* ---------------------------------------------------------------------
 * Elements in memory
 */

static int width_of(elementwise_dtype type)
{
    return 8 * (int)ref_size(type);
}

struct ref_value ref_integer(elementwise_dtype type, uint64_t bits)
{
    struct ref_value value = {.type = type};
    uint64_t top = (uint64_t)1 << (width_of(type) - 1);
    uint64_t all = top | (top - 1);
    bits &= all;
    value.negative = ref_is_signed(type) && (bits & top);
    value.magnitude = value.negative ? (~bits & all) + 1 : bits;
    return value;
}

struct ref_value ref_float(elementwise_dtype type, double re, double im)
{
    struct ref_value value = {.type = type, .re = re, .im = im};
    return value;
}

static struct ref_value truth_value(bool is_true)
{
    struct ref_value value = {.type = ELEMENTWISE_BOOL, .magnitude = is_true};
    return value;
}

/* Two's complement. */
static uint64_t bits_of(const struct ref_value *v)
{
    return v->negative ? 0 - v->magnitude : v->magnitude;
}

/* Sign, exponent and fraction of a 16-bit float, by their definition. */
static double decode_half(elementwise_dtype type, unsigned bits)
{
    const struct format *f = format_of(type);
    unsigned fraction_bits = (unsigned)f->digits - 1;
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    unsigned exponent = (bits & 0x7fff) >> fraction_bits;
    double value;
    if (exponent == 0x7fffu >> fraction_bits)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, f->least);
    else
        value = ldexp(fraction + (1u << fraction_bits),
                      f->least + (int)exponent - 1);
    return copysign(value, bits & 0x8000 ? -1 : 1);
}

/* The value must be one of the format's. */
static unsigned encode_half(elementwise_dtype type, double value)
{
    const struct format *f = format_of(type);
    unsigned fraction_bits = (unsigned)f->digits - 1;
    unsigned infinity = 0x7fffu >> fraction_bits << fraction_bits;
    unsigned sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | infinity | 1u << (fraction_bits - 1);
    if (isinf(value))
        return sign | infinity;
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    int field = exponent - f->digits - f->least + 1;
    if (value == 0 || field < 1)
        return sign | (unsigned)ldexp(fabs(value), -f->least);
    unsigned significand = (unsigned)ldexp(fraction, f->digits);
    return sign | (((unsigned)(field - 1) << fraction_bits) + significand);
}

static double load_part(elementwise_dtype type, const void *element)
{
    float single;
    double twice;
    uint16_t half;
    if (type == ELEMENTWISE_F32) {
        memcpy(&single, element, sizeof single);
        return copysign(single, signbit(single) ? -1 : 1);
    }
    if (type == ELEMENTWISE_F64) {
        memcpy(&twice, element, sizeof twice);
        return twice;
    }
    memcpy(&half, element, sizeof half);
    return decode_half(type, half);
}

static void store_part(elementwise_dtype type, double value, void *element)
{
    float single = copysignf((float)value, signbit(value) ? -1 : 1);
    if (type == ELEMENTWISE_F32) {
        memcpy(element, &single, sizeof single);
    } else if (type == ELEMENTWISE_F64) {
        memcpy(element, &value, sizeof value);
    } else {
        uint16_t half = (uint16_t)encode_half(type, value);
        memcpy(element, &half, sizeof half);
    }
}

static uint64_t load_bits(size_t size, const void *element)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1:
        memcpy(&one, element, 1);
        return one;
    case 2:
        memcpy(&two, element, 2);
        return two;
    case 4:
        memcpy(&four, element, 4);
        return four;
    default:
        memcpy(&eight, element, 8);
        return eight;
    }
}

static void store_bits(size_t size, uint64_t bits, void *element)
{
    uint8_t one = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    const void *from[] = {[1] = &one, [2] = &two, [4] = &four, [8] = &bits};
    memcpy(element, from[size], size);
}

struct ref_value ref_load(elementwise_dtype type, const void *element)
{
    size_t size = ref_size(type);
    if (type == ELEMENTWISE_BOOL)
        return truth_value(*(const uint8_t *)element != 0);
    if (ref_is_integer(type))
        return ref_integer(type, load_bits(size, element));
    if (ref_is_float(type))
        return ref_float(type, load_part(type, element), 0);
    elementwise_dtype part = part_type(type);
    return ref_float(type, load_part(part, element),
                     load_part(part, (const char *)element + size / 2));
}

void ref_store(const struct ref_value *value, void *element)
{
    elementwise_dtype type = value->type, part = part_type(type);
    size_t size = ref_size(type);
    if (!ref_is_float(type) && !ref_is_complex(type)) {
        store_bits(size, bits_of(value), element);
        return;
    }
    store_part(part, value->re, element);
    if (ref_is_complex(type))
        store_part(part, value->im, (char *)element + size / 2);
}

/* ---------------------------------------------------------------------
 * Conversions
 */

static bool holds_integer(elementwise_dtype type)
{
    return type == ELEMENTWISE_BOOL || ref_is_integer(type);
}

static bool is_true(const struct ref_value *v)
{
    if (holds_integer(v->type))
        return v->magnitude != 0;
    return v->re != 0 || v->im != 0;
}

/* The fraction is dropped; what does not fit is the nearest that does. */
static struct ref_value truncate(double value, elementwise_dtype type)
{
    int digits = width_of(type) - ref_is_signed(type);
    uint64_t most = UINT64_MAX >> (64 - digits);
    if (isnan(value))
        return ref_integer(type, 0);
    if (value < 0) {
        if (!ref_is_signed(type))
            return ref_integer(type, 0);
        uint64_t magnitude =
            -value < ldexp(1, digits) ? (uint64_t)-value : most + 1;
        return ref_integer(type, 0 - magnitude);
    }
    return ref_integer(type, value < ldexp(1, digits) ? (uint64_t)value : most);
}

struct ref_value ref_convert(const struct ref_value *v, elementwise_dtype type)
{
    elementwise_dtype part = part_type(type);
    if (type == v->type)
        return *v;
    if (type == ELEMENTWISE_BOOL)
        return truth_value(is_true(v));
    if (holds_integer(v->type) && ref_is_integer(type))
        return ref_integer(type, bits_of(v));
    if (ref_is_integer(type))
        return truncate(v->re, type);
    if (holds_integer(v->type)) {
        double magnitude = round_scaled(part, v->magnitude, 0, false);
        return ref_float(type, v->negative ? -magnitude : magnitude, 0);
    }
    return ref_float(type, round_to(part, v->re), round_to(part, v->im));
}

/* ---------------------------------------------------------------------
 * Integers
 */

static int compare_integers(const struct ref_value *x,
                            const struct ref_value *y)
{
    if (x->negative != y->negative)
        return x->negative ? -1 : 1;
    int order = (x->magnitude > y->magnitude) - (x->magnitude < y->magnitude);
    return x->negative ? -order : order;
}

/* The operations that divide; y is not 0. */
static uint64_t divide_integers(elementwise_op op, const struct ref_value *x,
                                const struct ref_value *y)
{
    uint64_t quotient = x->magnitude / y->magnitude;
    uint64_t rest = x->magnitude % y->magnitude;
    bool differ = x->negative != y->negative;
    switch (op) {
    case ELEMENTWISE_FLOORDIV:
        quotient += differ && rest;
        return differ ? 0 - quotient : quotient;
    case ELEMENTWISE_MOD:
        if (differ && rest)
            rest = y->magnitude - rest;
        return y->negative ? 0 - rest : rest;
    case ELEMENTWISE_FMOD:
        return x->negative ? 0 - rest : rest;
    default:
        return differ ? 0 - quotient : quotient;
    }
}

static uint64_t power(const struct ref_value *x, const struct ref_value *y)
{
    if (y->negative && x->magnitude > 1)
        return 0;
    if (y->negative)
        return x->negative && !(y->magnitude & 1) ? 1 : bits_of(x);
    uint64_t result = 1;
    for (int bit = 63; bit >= 0; bit--) {
        result *= result;
        if (y->magnitude >> bit & 1)
            result *= bits_of(x);
    }
    return result;
}

static uint64_t shift(elementwise_op op, const struct ref_value *x,
                      const struct ref_value *y)
{
    uint64_t left = bits_of(x), right = x->magnitude;
    if (y->negative || y->magnitude >= (uint64_t)width_of(x->type)) {
        left = 0;
        right = x->negative;
    } else if (y->magnitude > 0) {
        uint64_t lost = ((uint64_t)1 << y->magnitude) - 1;
        left <<= y->magnitude;
        right = (right + (x->negative ? lost : 0)) >> y->magnitude;
    }
    if (op == ELEMENTWISE_BITWISE_LEFT_SHIFT)
        return left;
    return x->negative ? 0 - right : right;
}

static uint64_t step(const struct ref_value *x, const struct ref_value *y)
{
    if (x->magnitude == 0)
        return bits_of(y);
    return !x->negative;
}

static bool divides(elementwise_op op)
{
    return op == ELEMENTWISE_DIV || op == ELEMENTWISE_FLOORDIV ||
           op == ELEMENTWISE_TRUNCDIV || op == ELEMENTWISE_MOD ||
           op == ELEMENTWISE_FMOD;
}

static uint64_t integer_bits(elementwise_op op, const struct ref_value *x,
                             const struct ref_value *y)
{
    uint64_t a = bits_of(x), b = bits_of(y);
    switch (op) {
    case ELEMENTWISE_ADD:
        return a + b;
    case ELEMENTWISE_SUB:
        return a - b;
    case ELEMENTWISE_MUL:
        return a * b;
    case ELEMENTWISE_MAX:
    case ELEMENTWISE_FMAX:
        return compare_integers(x, y) > 0 ? a : b;
    case ELEMENTWISE_MIN:
    case ELEMENTWISE_FMIN:
        return compare_integers(x, y) < 0 ? a : b;
    case ELEMENTWISE_POW:
        return power(x, y);
    case ELEMENTWISE_HEAVISIDE:
        return step(x, y);
    case ELEMENTWISE_BITWISE_AND:
        return a & b;
    case ELEMENTWISE_BITWISE_OR:
        return a | b;
    case ELEMENTWISE_BITWISE_XOR:
        return a ^ b;
    case ELEMENTWISE_BITWISE_LEFT_SHIFT:
    case ELEMENTWISE_BITWISE_RIGHT_SHIFT:
        return shift(op, x, y);
    default:
        return divide_integers(op, x, y);
    }
}

static elementwise_status compute_integer(elementwise_op op,
                                          const struct ref_value *x,
                                          const struct ref_value *y,
                                          struct ref_value *result)
{
    if (divides(op) && y->magnitude == 0)
        return ELEMENTWISE_DIVISION_BY_ZERO;
    if (op == ELEMENTWISE_POW && x->magnitude == 0 && y->negative)
        return ELEMENTWISE_DIVISION_BY_ZERO;
    *result = ref_integer(x->type, integer_bits(op, x, y));
    return ELEMENTWISE_OK;
}

/* Bool: the operations that it has are or, and, exclusive or. */
static struct ref_value compute_bool(elementwise_op op, bool x, bool y)
{
    switch (op) {
    case ELEMENTWISE_ADD:
    case ELEMENTWISE_MAX:
    case ELEMENTWISE_BITWISE_OR:
        return truth_value(x || y);
    case ELEMENTWISE_BITWISE_XOR:
        return truth_value(x != y);
    default:
        return truth_value(x && y);
    }
}

/* ---------------------------------------------------------------------
 * Floats. a and b are values of the type t, which is f32 or f64.
 */

/* |a| by |b|: floor(a / b) is head * 2^exponent and a number below
   2^exponent, of which any and all tell whether its bits are not all 0 and
   all 1; rest is what remains of a. */
struct division {
    uint64_t head;
    int exponent;
    bool any, all;
    double rest;
};

static struct division divide_long(double a, double b)
{
    struct division d = {.all = true, .rest = fabs(a)};
    int ea, eb;
    uint64_t dividend = (uint64_t)ldexp(frexp(fabs(a), &ea), 53);
    uint64_t divisor = (uint64_t)ldexp(frexp(fabs(b), &eb), 53);
    if (dividend == 0 || ea < eb)
        return d;
    for (int left = ea - eb;; left--) {
        bool bit = dividend >= divisor;
        dividend -= bit ? divisor : 0;
        if (d.head >> 62) {
            d.exponent++;
            d.any = d.any || bit;
            d.all = d.all && bit;
        } else {
            d.head = 2 * d.head + bit;
        }
        if (left == 0)
            break;
        dividend *= 2;
    }
    d.rest = ldexp((double)dividend, eb - 53);
    return d;
}

static double floor_quotient(elementwise_dtype t, double a, double b)
{
    bool differ = !signbit(a) != !signbit(b);
    if (isnan(a) || isnan(b) || b == 0)
        return a / b;
    if (isinf(a))
        return NAN;
    if (isinf(b))
        return differ ? (a == 0 ? -0.0 : -1.0) : 0.0;
    struct division d = divide_long(a, b);
    if (differ && d.rest != 0) {
        bool carry = d.all;
        d.head += carry;
        d.any = !carry;
    }
    double quotient = round_scaled(t, d.head, d.exponent, d.any);
    return differ ? -quotient : quotient;
}

/* C's fmod. */
static double remainder_of(double a, double b)
{
    if (isnan(a) || isnan(b) || isinf(a) || b == 0)
        return NAN;
    return isinf(b) ? a : copysign(divide_long(a, b).rest, a);
}

static double modulo(elementwise_dtype t, double a, double b)
{
    double rest = remainder_of(a, b);
    if (isnan(rest))
        return rest;
    if (rest == 0)
        return copysign(0, b);
    return signbit(rest) == signbit(b) ? rest : round_to(t, rest + b);
}

/* -0 is less than +0 here. */
static bool is_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static double extremum(elementwise_op op, double a, double b)
{
    bool number_wins = op == ELEMENTWISE_FMAX || op == ELEMENTWISE_FMIN;
    bool larger = op == ELEMENTWISE_FMAX || op == ELEMENTWISE_MAX;
    if (isnan(a))
        return number_wins ? b : a;
    if (isnan(b))
        return number_wins ? a : b;
    return is_less(a, b) == larger ? b : a;
}

static double heaviside(double a, double b)
{
    if (isnan(a))
        return a;
    if (a == 0)
        return b;
    return a < 0 ? 0 : 1;
}

/* A number's neighbour has the neighbouring bit pattern. */
static double neighbour(elementwise_dtype type, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return b;
    if (a == 0)
        return copysign(ldexp(1, format_of(type)->least), b);
    uint64_t bits;
    char element[8] = {0};
    store_part(type, a, element);
    bits = load_bits(ref_size(type), element);
    bits += (b > a) == (a > 0) ? 1 : (uint64_t)-1;
    store_bits(ref_size(type), bits, element);
    return load_part(type, element);
}

static double exact_float(elementwise_op op, elementwise_dtype t, double a,
                          double b)
{
    switch (op) {
    case ELEMENTWISE_ADD:
        return round_to(t, a + b);
    case ELEMENTWISE_SUB:
        return round_to(t, a - b);
    case ELEMENTWISE_MUL:
        return round_to(t, a * b);
    case ELEMENTWISE_DIV:
        return round_to(t, a / b);
    case ELEMENTWISE_TRUNCDIV:
        return trunc(round_to(t, a / b));
    case ELEMENTWISE_FLOORDIV:
        return floor_quotient(t, a, b);
    case ELEMENTWISE_MOD:
        return modulo(t, a, b);
    case ELEMENTWISE_FMOD:
        return remainder_of(a, b);
    case ELEMENTWISE_HEAVISIDE:
        return heaviside(a, b);
    case ELEMENTWISE_COPYSIGN:
        return copysign(a, signbit(b) ? -1 : 1);
    default:
        return extremum(op, a, b);
    }
}

static long double log_add_exp(long double a, long double b)
{
    if (a == b)
        return a + logl(2);
    if (isnan(a) || isnan(b))
        return a + b;
    return fmaxl(a, b) + log1pl(expl(-fabsl(a - b)));
}

/* A double from 2^53 on is an even number. glibc's powl forgets that for
   negative infinity to the power -2^63. */
static long double power_long(long double a, long double b)
{
    return powl(fabsl(b) >= 0x1p53L ? fabsl(a) : a, b);
}

/* What the operations that are not exact would give with infinitely many
   digits, as far as a long double can tell. */
static long double truth(elementwise_op op, long double a, long double b)
{
    switch (op) {
    case ELEMENTWISE_POW:
        return power_long(a, b);
    case ELEMENTWISE_ATAN2:
        return atan2l(a, b);
    case ELEMENTWISE_HYPOT:
        return hypotl(a, b);
    default:
        return log_add_exp(a, b);
    }
}

static double compute_float(elementwise_op op, elementwise_dtype type, double a,
                            double b)
{
    elementwise_dtype t = compute_type(type);
    if (op == ELEMENTWISE_NEXTAFTER)
        return neighbour(type, a, b);
    double result = ref_is_exact(op, type) ? exact_float(op, t, a, b)
                                           : round_long(t, truth(op, a, b));
    return round_to(type, result);
}

/* ---------------------------------------------------------------------
 * Complex numbers
 */

struct complex_long {
    long double re, im;
};

/* log(hypot(a, b)), also where the norm is so near 1 that it rounds to 1. */
static long double log_norm(long double a, long double b)
{
    long double large = fmaxl(fabsl(a), fabsl(b));
    long double small = fminl(fabsl(a), fabsl(b));
    if (large < 0.5 || large > 2)
        return logl(hypotl(a, b));
    return log1pl((large - 1) * (large + 1) + small * small) / 2;
}

static struct complex_long complex_power(const struct ref_value *x,
                                         const struct ref_value *y)
{
    long double a = log_norm(x->re, x->im), b = atan2l(x->im, x->re);
    long double size = expl(y->re * a - y->im * b);
    long double angle = y->re * b + y->im * a;
    if (y->re == 0 && y->im == 0)
        return (struct complex_long){1, 0};
    if (x->re == 0 && x->im == 0 && y->re > 0 && !isnan(y->im))
        return (struct complex_long){0, 0};
    if (x->re == 0 && x->im == 0)
        return (struct complex_long){NAN, NAN};
    return (struct complex_long){size * cosl(angle), size * sinl(angle)};
}

/* A long double's exponents are wide enough that nothing here overflows. */
static struct complex_long complex_truth(elementwise_op op,
                                         const struct ref_value *x,
                                         const struct ref_value *y)
{
    long double a = x->re, b = x->im, c = y->re, d = y->im;
    if (op == ELEMENTWISE_POW)
        return complex_power(x, y);
    if (op == ELEMENTWISE_MUL)
        return (struct complex_long){a * c - b * d, a * d + b * c};
    long double norm = c * c + d * d;
    return (struct complex_long){(a * c + b * d) / norm,
                                 (b * c - a * d) / norm};
}

static struct ref_value compute_complex(elementwise_op op,
                                        const struct ref_value *x,
                                        const struct ref_value *y)
{
    elementwise_dtype part = part_type(x->type);
    if (op == ELEMENTWISE_ADD)
        return ref_float(x->type, round_to(part, x->re + y->re),
                         round_to(part, x->im + y->im));
    if (op == ELEMENTWISE_SUB)
        return ref_float(x->type, round_to(part, x->re - y->re),
                         round_to(part, x->im - y->im));
    struct complex_long z = complex_truth(op, x, y);
    return ref_float(x->type, round_long(part, z.re), round_long(part, z.im));
}

/* ---------------------------------------------------------------------
 * Any operation on any types
 */

static bool compare(elementwise_op op, const struct ref_value *x,
                    const struct ref_value *y)
{
    bool less, equal;
    if (holds_integer(x->type) && holds_integer(y->type)) {
        less = compare_integers(x, y) < 0;
        equal = compare_integers(x, y) == 0;
    } else {
        elementwise_dtype type = ref_promote(x->type, y->type);
        struct ref_value a = ref_convert(x, type), b = ref_convert(y, type);
        less = a.re < b.re;
        equal = a.re == b.re && a.im == b.im;
        if (isnan(a.re) || isnan(b.re))
            return op == ELEMENTWISE_NOT_EQUAL;
    }
    switch (op) {
    case ELEMENTWISE_EQUAL:
        return equal;
    case ELEMENTWISE_NOT_EQUAL:
        return !equal;
    case ELEMENTWISE_LESS_THAN:
        return less;
    case ELEMENTWISE_LESS_EQUAL:
        return less || equal;
    case ELEMENTWISE_GREATER_THAN:
        return !less && !equal;
    default:
        return !less;
    }
}

static bool combine(elementwise_op op, bool x, bool y)
{
    if (op == ELEMENTWISE_LOGICAL_AND)
        return x && y;
    return op == ELEMENTWISE_LOGICAL_OR ? x || y : x != y;
}

elementwise_status ref_compute(elementwise_op op, const struct ref_value *x,
                               const struct ref_value *y,
                               struct ref_value *result)
{
    elementwise_dtype type = ref_promote(x->type, y->type);
    struct ref_value a = ref_convert(x, type), b = ref_convert(y, type);
    if (op >= ELEMENTWISE_LOGICAL_AND && op <= ELEMENTWISE_LOGICAL_XOR)
        *result = truth_value(combine(op, is_true(x), is_true(y)));
    else if (gives_bool(op))
        *result = truth_value(compare(op, x, y));
    else if (type == ELEMENTWISE_BOOL)
        *result = compute_bool(op, is_true(x), is_true(y));
    else if (ref_is_integer(type))
        return compute_integer(op, &a, &b, result);
    else if (ref_is_float(type))
        *result = ref_float(type, compute_float(op, type, a.re, b.re), 0);
    else
        *result = compute_complex(op, &a, &b);
    return ELEMENTWISE_OK;
}

/* ---------------------------------------------------------------------
 * Is a result right?
 */

/* The distance of the type's numbers around a value. */
static long double ulp(elementwise_dtype type, long double value)
{
    const struct format *f = format_of(type);
    int exponent = 0;
    if (value != 0)
        frexpl(value, &exponent);
    exponent -= f->digits;
    if (value == 0 || exponent < f->least)
        exponent = f->least;
    return ldexpl(1, exponent);
}

/* The other half of a bound: what long double itself may be off by. */
static long double slack(long double value)
{
    return LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 2 * ulp(ELEMENTWISE_F64, value);
}

/* An infinite result counts as the power of 2 where infinity begins. */
static long double clamped(elementwise_dtype type, double value)
{
    if (!isinf(value))
        return value;
    return copysignl(ldexpl(1, format_of(type)->most), value);
}

/* From an interval around the truth, through the result's type to out's;
   both conversions keep the order, so it stays an interval. */
static bool within(elementwise_dtype type, elementwise_dtype out,
                   long double low, long double high, double got)
{
    elementwise_dtype compute = compute_type(type), to = part_type(out);
    if (type == compute && to == compute)
        return low <= clamped(compute, got) && clamped(compute, got) <= high;
    double least = round_to(type, round_long(compute, low));
    double most = round_to(type, round_long(compute, high));
    return round_to(to, least) <= got && got <= round_to(to, most);
}

/* Annex F, which makes 1 to the power NaN 1, does not speak of signaling
   NaN. Narrower types lose the signal when they are loaded. */
static bool is_signaling(const struct ref_value *v)
{
    uint64_t bits = load_bits(8, &v->re);
    return isnan(v->re) && !(bits >> 51 & 1);
}

static bool accepts_float(elementwise_op op, const struct ref_value *a,
                          const struct ref_value *b, elementwise_dtype out,
                          double got, double *error)
{
    elementwise_dtype compute = compute_type(a->type);
    long double exact = truth(op, a->re, b->re), scale = fabsl(exact);
    if (isnan(exact) || (isnan(got) && (is_signaling(a) || is_signaling(b))))
        return isnan(got);
    if (op == ELEMENTWISE_LOGADDEXP)
        scale = fmaxl(scale, fmaxl(fabsl(a->re), fabsl(b->re)));
    else if (!signbit(exact) != !signbit(got))
        return false;
    if (isnan(got))
        return false;
    if (scale >= ldexpl(1, format_of(compute)->most) || scale == 0)
        return got ==
               round_to(part_type(out), round_to(a->type, (double)exact));
    long double bound = ulp(compute, scale) + slack(scale);
    if (error && a->type == compute && out == compute)
        *error = (double)(fabsl(clamped(compute, got) - exact) /
                          ulp(compute, scale));
    return within(a->type, out, exact - bound, exact + bound, got);
}

/*
 * How far from the truth, relative to its norm, a complex result may lie, in
 * ULP of 1. The product: four products and two sums, each off by 1/2, add up
 * to sqrt(5) / 2 at most (1.03 measured). The quotient: the same once more
 * for the scaling (1.45). The power: exp multiplies the error of its argument
 * with the argument's size, and the argument is expected to have some digits
 * more than the result (0.5).
 */
static long double complex_bound(elementwise_op op, const struct ref_value *a,
                                 const struct ref_value *b)
{
    if (op == ELEMENTWISE_MUL)
        return 1.125L;
    if (op == ELEMENTWISE_DIV)
        return 4;
    long double size = log_norm(a->re, a->im);
    size = hypotl(b->re, b->im) * hypotl(size, atan2l(a->im, a->re));
    return 1 + (LDBL_MANT_DIG > DBL_MANT_DIG ? size / 1000 : size);
}

static bool has_nan(const struct ref_value *v)
{
    return isnan(v->re) || isnan(v->im);
}

static bool is_finite(const struct ref_value *v)
{
    return isfinite(v->re) && isfinite(v->im);
}

/* One part as it should be, converted to out's type. */
static bool part_is_right(elementwise_dtype out, double part, double got)
{
    return isnan(part) ? isnan(got) : got == round_to(part_type(out), part);
}

/* The four products and two sums, each rounded to the type. Where a part is
   not finite, both are judged by them, exactly; false then. True: both parts
   are numbers, to be compared with the truth. */
static bool products_stay_finite(const struct ref_value *a,
                                 const struct ref_value *b,
                                 const struct ref_value *got, bool *right)
{
    elementwise_dtype t = part_type(a->type);
    double re =
        round_to(t, round_to(t, a->re * b->re) - round_to(t, a->im * b->im));
    double im =
        round_to(t, round_to(t, a->re * b->im) + round_to(t, a->im * b->re));
    *right = part_is_right(got->type, re, got->re) &&
             part_is_right(got->type, im, got->im);
    return isfinite(re) && isfinite(im);
}

/*
 * Where the contract says little, little is asked. A quotient with an operand
 * that is not finite, or by 0, is finite in both parts only if it is finite
 * by infinite, without a NaN. A power with such an operand is anything, but 1
 * if y is 0; 0 to a power is 0 or NaN in both parts.
 */
static bool accepts_special(elementwise_op op, const struct ref_value *a,
                            const struct ref_value *b,
                            const struct ref_value *got, bool *right)
{
    bool y_is_zero = b->re == 0 && b->im == 0;
    bool x_is_zero = a->re == 0 && a->im == 0;
    if (op == ELEMENTWISE_MUL)
        return !products_stay_finite(a, b, got, right);
    if (op == ELEMENTWISE_DIV) {
        *right = !is_finite(got) || is_finite(a);
        if (y_is_zero || has_nan(b))
            *right = !is_finite(got);
        return y_is_zero || !is_finite(a) || !is_finite(b);
    }
    struct complex_long z = complex_power(a, b);
    *right = isnan(z.re) ? isnan(got->re) && isnan(got->im)
                         : got->re == z.re && got->im == z.im;
    if (y_is_zero || (x_is_zero && is_finite(b)))
        return true;
    *right = true;
    return x_is_zero || !is_finite(a) || !is_finite(b);
}

static bool close_enough(elementwise_dtype type, long double exact,
                         long double bound, double got)
{
    return fabsl(clamped(type, got) - exact) <= bound ||
           (isinf(got) && !signbit(got) == !signbit(exact) &&
            fabsl(exact) >= ldexpl(1, format_of(type)->most));
}

static bool accepts_complex(elementwise_op op, const struct ref_value *a,
                            const struct ref_value *b,
                            const struct ref_value *got, double *error)
{
    elementwise_dtype to = part_type(got->type);
    elementwise_dtype coarse =
        a->type == ELEMENTWISE_C64 ? ELEMENTWISE_F32 : to;
    bool right = true;
    if (accepts_special(op, a, b, got, &right))
        return right;
    struct complex_long z = complex_truth(op, a, b);
    long double norm = hypotl(z.re, z.im);
    long double one = ldexpl(1, 1 - format_of(coarse)->digits);
    long double unit = norm * one, factor = complex_bound(op, a, b);
    if (op == ELEMENTWISE_POW && (!(factor * one < 0.5) || isnan(norm)))
        return true; /* not one digit is determined */
    if (op == ELEMENTWISE_POW && norm >= ldexpl(1, format_of(coarse)->most) &&
        !is_finite(got))
        return true;
    long double bound = factor * unit + 4 * ulp(coarse, 0) + slack(norm);
    if (error && got->type == a->type && is_finite(got) &&
        unit > 8 * ulp(coarse, 0))
        *error = (double)(hypotl(got->re - z.re, got->im - z.im) / unit);
    return close_enough(coarse, z.re, bound, got->re) &&
           close_enough(coarse, z.im, bound, got->im);
}

bool ref_same(elementwise_dtype type, const void *a, const void *b)
{
    if (!memcmp(a, b, ref_size(type)))
        return true;
    if (!ref_is_float(type) && !ref_is_complex(type))
        return false;
    struct ref_value x = ref_load(type, a), y = ref_load(type, b);
    bool re = isnan(x.re) ? isnan(y.re)
                          : x.re == y.re && !signbit(x.re) == !signbit(y.re);
    bool im = isnan(x.im) ? isnan(y.im)
                          : x.im == y.im && !signbit(x.im) == !signbit(y.im);
    return re && im;
}

/* The sign of a NaN is copysign's business, and no other operation's. */
static bool accepts_exact(elementwise_op op, const struct ref_value *result,
                          elementwise_dtype out, const void *element)
{
    char expected[16];
    struct ref_value converted = ref_convert(result, out);
    struct ref_value got = ref_load(out, element);
    ref_store(&converted, expected);
    if (op == ELEMENTWISE_COPYSIGN && isnan(got.re))
        return isnan(converted.re) &&
               !signbit(converted.re) == !signbit(got.re);
    return ref_same(out, expected, element);
}

bool ref_accepts(elementwise_op op, const struct ref_value *x,
                 const struct ref_value *y, elementwise_dtype out,
                 const void *element, double *error)
{
    elementwise_dtype type = ref_promote(x->type, y->type);
    struct ref_value result;
    if (error)
        *error = -1;
    if (ref_is_exact(op, type)) {
        elementwise_status status = ref_compute(op, x, y, &result);
        return status == ELEMENTWISE_OK &&
               accepts_exact(op, &result, out, element);
    }
    struct ref_value a = ref_convert(x, type), b = ref_convert(y, type);
    struct ref_value got = ref_load(out, element);
    if (ref_is_complex(type))
        return accepts_complex(op, &a, &b, &got, error);
    if (got.im != 0)
        return false;
    return accepts_float(op, &a, &b, out, got.re, error);
}
