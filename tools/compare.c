/*
 * Turns two elements of one type into their distance. Nothing here asks the
 * library, which may be what is wrong: f16 and bf16 are decoded by hand.
 */
#include "compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A binary floating type: the bits of its significand, and the exponent of its
   smallest normal number. */
struct format {
    int digits, least;
};

static bool is_complex(elementwise_dtype dtype)
{
    return dtype == ELEMENTWISE_C64 || dtype == ELEMENTWISE_C128;
}

/* The type of one part. */
static elementwise_dtype part_of(elementwise_dtype dtype)
{
    if (!is_complex(dtype))
        return dtype;
    return dtype == ELEMENTWISE_C64 ? ELEMENTWISE_F32 : ELEMENTWISE_F64;
}

static uint64_t load_bits(size_t size, const void *element)
{
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (size) {
    case 1:
        memcpy(&b1, element, 1);
        return b1;
    case 2:
        memcpy(&b2, element, 2);
        return b2;
    case 4:
        memcpy(&b4, element, 4);
        return b4;
    default:
        memcpy(&b8, element, 8);
        return b8;
    }
}

static double decode_f16(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double value = exponent == 31 && fraction ? (double)NAN
                   : exponent == 31           ? (double)INFINITY
                   : exponent ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

static double decode_f32(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* A signed integer from its lowest bits. */
static int64_t extend(uint64_t bits, size_t size)
{
    unsigned unused = 64 - 8 * (unsigned)size;
    return (int64_t)(bits << unused) >> unused;
}

static double decode(elementwise_dtype dtype, const void *element)
{
    size_t size = elementwise_dtype_size(dtype);
    uint64_t bits = load_bits(size, element);
    double value;
    switch (dtype) {
    case ELEMENTWISE_BOOL:
        return bits != 0;
    case ELEMENTWISE_F16:
        return decode_f16(bits);
    case ELEMENTWISE_BF16:
        return decode_f32(bits << 16);
    case ELEMENTWISE_F32:
        return decode_f32(bits);
    case ELEMENTWISE_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    default:
        if (dtype <= ELEMENTWISE_I64)
            return (double)extend(bits, size);
        return (double)bits;
    }
}

static const void *second_part(elementwise_dtype dtype, const void *element)
{
    return (const char *)element + elementwise_dtype_size(part_of(dtype));
}

double compare_value(elementwise_dtype dtype, const void *element)
{
    elementwise_dtype part = part_of(dtype);
    double re = decode(part, element);
    if (part == dtype)
        return re;
    return fmax(fabs(re), fabs(decode(part, second_part(dtype, element))));
}

/* The distance between neighbours at this magnitude. */
static double spacing(elementwise_dtype dtype, double magnitude)
{
    static const struct format formats[] = {[ELEMENTWISE_F16] = {11, -14},
                                            [ELEMENTWISE_BF16] = {8, -126},
                                            [ELEMENTWISE_F32] = {24, -126},
                                            [ELEMENTWISE_F64] = {53, -1022}};
    int exponent = formats[dtype].least + 1;
    if (magnitude > 0 && magnitude <= 1.7976931348623157e308)
        frexp(magnitude, &exponent);
    if (exponent < formats[dtype].least + 1)
        exponent = formats[dtype].least + 1;
    return ldexp(1, exponent - formats[dtype].digits);
}

static double compare_floats(elementwise_dtype dtype, double a, double b,
                             double scale)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : (double)INFINITY;
    if (a == b)
        return !signbit(a) == !signbit(b) ? 0 : (double)INFINITY;
    if (isinf(a) || isinf(b))
        return (double)INFINITY;
    return fabs(a - b) / spacing(dtype, fmax(fabs(a), scale));
}

static double compare_integers(elementwise_dtype dtype, const void *a,
                               const void *b)
{
    size_t size = elementwise_dtype_size(dtype);
    uint64_t left = load_bits(size, a), right = load_bits(size, b);
    bool swapped = left < right;
    if (dtype <= ELEMENTWISE_I64) {
        left = (uint64_t)extend(left, size);
        right = (uint64_t)extend(right, size);
        swapped = (int64_t)left < (int64_t)right;
    }
    return (double)(swapped ? right - left : left - right);
}

double compare_elements(elementwise_dtype dtype, const void *a, const void *b,
                        double scale)
{
    elementwise_dtype part = part_of(dtype);
    if (dtype == ELEMENTWISE_BOOL)
        return decode(dtype, a) == decode(dtype, b) ? 0 : (double)INFINITY;
    if (dtype < ELEMENTWISE_F16)
        return compare_integers(dtype, a, b);
    if (part == dtype)
        return compare_floats(dtype, decode(dtype, a), decode(dtype, b), scale);
    double magnitude = compare_value(dtype, a);
    scale = fmax(scale, isfinite(magnitude) ? magnitude : 0);
    double re = compare_floats(part, decode(part, a), decode(part, b), scale);
    double im = compare_floats(part, decode(part, second_part(dtype, a)),
                               decode(part, second_part(dtype, b)), scale);
    return fmax(re, im);
}

char *compare_hex(elementwise_dtype dtype, const void *element,
                  char text[COMPARE_TEXT])
{
    size_t size = elementwise_dtype_size(part_of(dtype));
    int n = snprintf(text, COMPARE_TEXT, "%0*llx", (int)size * 2,
                     (unsigned long long)load_bits(size, element));
    if (is_complex(dtype))
        snprintf(
            text + n, COMPARE_TEXT - (size_t)n, ",%0*llx", (int)size * 2,
            (unsigned long long)load_bits(size, second_part(dtype, element)));
    return text;
}

static int print_real(elementwise_dtype dtype, const void *element, char *text,
                      size_t size)
{
    size_t bytes = elementwise_dtype_size(dtype);
    uint64_t bits = load_bits(bytes, element);
    if (dtype == ELEMENTWISE_BOOL)
        return snprintf(text, size, bits ? "true" : "false");
    if (dtype <= ELEMENTWISE_I64)
        return snprintf(text, size, "%lld", (long long)extend(bits, bytes));
    if (dtype <= ELEMENTWISE_U64)
        return snprintf(text, size, "%llu", (unsigned long long)bits);
    int digits = dtype == ELEMENTWISE_F64    ? 17
                 : dtype == ELEMENTWISE_F32  ? 9
                 : dtype == ELEMENTWISE_BF16 ? 4
                                             : 5;
    double value = decode(dtype, element);
    return snprintf(text, size, "%.*g", digits,
                    isnan(value) ? fabs(value) : value);
}

char *compare_decimal(elementwise_dtype dtype, const void *element,
                      char text[COMPARE_TEXT])
{
    elementwise_dtype part = part_of(dtype);
    size_t n = (size_t)print_real(part, element, text, COMPARE_TEXT);
    if (part == dtype)
        return text;
    char im[COMPARE_TEXT / 2];
    print_real(part, second_part(dtype, element), im, sizeof im);
    snprintf(text + n, COMPARE_TEXT - n, "%s%si", *im == '-' ? "" : "+", im);
    return text;
}

void compare_index(int ndim, const int64_t *shape, size_t i, char *text,
                   size_t size)
{
    size_t index[ELEMENTWISE_MAX_NDIM], n = 0;
    for (int dim = ndim - 1; dim >= 0; dim--) {
        index[dim] = i % (size_t)shape[dim];
        i /= (size_t)shape[dim];
    }
    for (int dim = 0; dim < ndim && n < size; dim++)
        n += (size_t)snprintf(text + n, size - n, "%c%zu", dim ? ',' : '(',
                              index[dim]);
    if (n < size)
        snprintf(text + n, size - n, "%s", ndim ? ")" : "()");
}
