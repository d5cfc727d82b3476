/*
 * Turns a number on the command line into one element of the type that the
 * other operand gives it. All conversions are the library's own, so that a
 * number means what an array of one element would.
 */
#include "number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char *without_sign(const char *text)
{
    return text + (*text == '-' || *text == '+');
}

static bool is_hex(const char *digits)
{
    return digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
}

/* Neither a point nor an exponent. Hex digits may be e. */
static bool is_integer(const char *text)
{
    const char *digits = without_sign(text);
    if (is_hex(digits))
        return !digits[2 + strspn(digits + 2, "0123456789abcdefABCDEF")];
    return !digits[strspn(digits, "0123456789")];
}

bool number_is(const char *text)
{
    const char *digits = without_sign(text);
    char *end;
    /* strtod also takes leading spaces, a second sign and nan(...). */
    if (!*digits || !strchr("0123456789.iInN", *digits) || strchr(digits, '('))
        return false;
    strtod(digits, &end);
    return end > digits && !*end;
}

static bool is_complex(elementwise_dtype dtype)
{
    return dtype == ELEMENTWISE_C64 || dtype == ELEMENTWISE_C128;
}

static bool is_signed(elementwise_dtype dtype)
{
    return dtype >= ELEMENTWISE_I8 && dtype <= ELEMENTWISE_I64;
}

static bool is_whole(elementwise_dtype dtype)
{
    return dtype >= ELEMENTWISE_I8 && dtype <= ELEMENTWISE_U64;
}

/* One element into another. */
static elementwise_status convert(elementwise_dtype from, void *value,
                                  elementwise_dtype to, void *result)
{
    const elementwise_tensor src = {.data = value, .dtype = from};
    const elementwise_tensor dst = {.data = result, .dtype = to};
    return elementwise_copy(&src, ELEMENTWISE_NUMPY, &dst);
}

static int refuse_integer(const char *text, elementwise_dtype dtype)
{
    unsigned bits = 8 * (unsigned)elementwise_dtype_size(dtype);
    unsigned long long most = UINT64_MAX >> (64 - bits + is_signed(dtype));
    bool negative = is_signed(dtype);
    return command_fail(COMMAND_REFUSED,
                        "%s does not fit %s, %s%llu ... %llu; the number "
                        "takes the type of the array",
                        text, elementwise_dtype_name(dtype),
                        negative ? "-" : "", negative ? most + 1 : 0, most);
}

static int read_integer(const char *text, elementwise_dtype dtype, void *value)
{
    const char *digits = without_sign(text);
    bool negative = *text == '-';
    unsigned bits = 8 * (unsigned)elementwise_dtype_size(dtype);
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed(dtype));
    if (negative)
        most = is_signed(dtype) ? most + 1 : 0;
    errno = 0;
    uint64_t n = strtoull(digits, NULL, is_hex(digits) ? 16 : 10);
    if (errno || n > most)
        return refuse_integer(text, dtype);
    if (negative)
        n = 0 - n;
    elementwise_status status = convert(ELEMENTWISE_U64, &n, dtype, value);
    return status ? command_fail_status(status) : COMMAND_DONE;
}

/* The number is an f64 first, as in Python, and then what the array has. A
   complex number that is real has to fit one part. */
static int read_float(const char *text, elementwise_dtype dtype, void *value)
{
    double n = strtod(text, NULL), back = n;
    elementwise_dtype part = dtype == ELEMENTWISE_C64    ? ELEMENTWISE_F32
                             : dtype == ELEMENTWISE_C128 ? ELEMENTWISE_F64
                                                         : dtype;
    elementwise_status status = convert(ELEMENTWISE_F64, &n, part, value);
    if (!status)
        status = convert(part, value, ELEMENTWISE_F64, &back);
    if (!status && is_complex(dtype))
        status = convert(ELEMENTWISE_F64, &n, dtype, value);
    if (status)
        return command_fail_status(status);
    if (isinf(back) && !strchr("iI", *without_sign(text)))
        return command_fail(COMMAND_REFUSED,
                            "%s is beyond the largest %s; the number takes "
                            "the type of the array",
                            text, elementwise_dtype_name(dtype));
    return COMMAND_DONE;
}

int number_read(const char *text, elementwise_dtype other,
                elementwise_dtype *dtype, void *value)
{
    bool integer = is_integer(text);
    *dtype = other;
    if (other == ELEMENTWISE_BOOL && integer)
        *dtype = ELEMENTWISE_I64;
    else if (other == ELEMENTWISE_BOOL || (is_whole(other) && !integer))
        *dtype = ELEMENTWISE_F64;
    return is_whole(*dtype) ? read_integer(text, *dtype, value)
                            : read_float(text, *dtype, value);
}
