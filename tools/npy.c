/*
 * Turns the header of a .npy file, a Python dict literal behind a magic word,
 * into a struct, and back. The parser looks at every byte once, from left to
 * right, without recursion or allocation, and believes no number in the file
 * before it has been compared with the file's size.
 */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MAGIC = 6,
    ALIGNMENT = 64,
    LONGEST_HEADER = 10000 /* NumPy refuses longer ones too */
};

/* The dict, what of it has been read, and where a complaint goes. */
struct cursor {
    const unsigned char *start, *at, *end;
    char *why;
    size_t size;
};

static const struct {
    const char *kind; /* a letter and the size of an element */
    elementwise_dtype dtype;
} kinds[] = {
    {"b1", ELEMENTWISE_BOOL},  {"i1", ELEMENTWISE_I8},
    {"i2", ELEMENTWISE_I16},   {"i4", ELEMENTWISE_I32},
    {"i8", ELEMENTWISE_I64},   {"u1", ELEMENTWISE_U8},
    {"u2", ELEMENTWISE_U16},   {"u4", ELEMENTWISE_U32},
    {"u8", ELEMENTWISE_U64},   {"f2", ELEMENTWISE_F16},
    {"V2", ELEMENTWISE_BF16},  {"f4", ELEMENTWISE_F32},
    {"f8", ELEMENTWISE_F64},   {"c8", ELEMENTWISE_C64},
    {"c16", ELEMENTWISE_C128},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static char host_order(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? '<' : '>';
}

__attribute__((format(printf, 2, 3))) static bool fail(struct cursor *c,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->why, c->size, format, arguments);
    va_end(arguments);
    return false;
}

static int peek(const struct cursor *c)
{
    return c->at < c->end ? *c->at : -1;
}

static bool unexpected(struct cursor *c, const char *wanted)
{
    if (c->at == c->end)
        return fail(c, "the header ends where %s should stand", wanted);
    return fail(c, "byte %zu of the header is 0x%02x where %s should stand",
                (size_t)(c->at - c->start), peek(c), wanted);
}

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && memchr(" \t\r\n", *c->at, 4))
        c->at++;
}

static bool accept(struct cursor *c, int byte)
{
    skip_space(c);
    bool found = peek(c) == byte;
    c->at += found;
    return found;
}

static bool is_digit(int byte)
{
    return byte >= '0' && byte <= '9';
}

/* Either quote, and plain ASCII between them: no key or type needs more. */
static bool read_string(struct cursor *c, char *text, size_t size)
{
    skip_space(c);
    int quote = peek(c);
    size_t n = 0;
    if (quote != '\'' && quote != '"')
        return unexpected(c, "a string");
    for (c->at++; peek(c) != quote; c->at++) {
        int byte = peek(c);
        if (byte < ' ' || byte > '~' || byte == '\\')
            return unexpected(c, "a plain character of a string");
        if (n + 1 == size)
            return fail(c, "a string in the header is too long for a key or "
                           "a type");
        text[n++] = (char)byte;
    }
    c->at++;
    text[n] = 0;
    return true;
}

static bool read_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    bool found = (size_t)(c->end - c->at) >= n && !memcmp(c->at, word, n);
    c->at += found ? n : 0;
    return found;
}

static bool read_order(struct cursor *c, struct npy *out)
{
    skip_space(c);
    out->fortran = read_word(c, "True");
    return out->fortran || read_word(c, "False") ||
           unexpected(c, "True or False");
}

/* Digits as Python writes them: no sign, no leading 0, and an L behind them
   in files from Python 2. */
static bool read_extent(struct cursor *c, int64_t *extent)
{
    skip_space(c);
    if (peek(c) == '-')
        return fail(c, "an extent in the shape is negative");
    if (!is_digit(peek(c)))
        return unexpected(c, "an extent, or ')' after the last one,");
    if (read_word(c, "0") && is_digit(peek(c)))
        return fail(c, "an extent in the shape begins with 0");
    for (*extent = 0; is_digit(peek(c)); c->at++) {
        int digit = peek(c) - '0';
        if (*extent > (INT64_MAX - digit) / 10)
            return fail(c, "an extent in the shape exceeds 2^63 - 1");
        *extent = *extent * 10 + digit;
    }
    c->at += peek(c) == 'L';
    return true;
}

static bool read_shape(struct cursor *c, struct npy *out)
{
    bool comma = true;
    if (!accept(c, '('))
        return unexpected(c, "the '(' of the shape");
    for (out->ndim = 0; !accept(c, ')'); comma = accept(c, ',')) {
        if (!comma)
            return unexpected(c, "',' or ')'");
        if (out->ndim == ELEMENTWISE_MAX_NDIM)
            return fail(c, "the shape has more than %d dimensions",
                        ELEMENTWISE_MAX_NDIM);
        if (!read_extent(c, &out->shape[out->ndim++]))
            return false;
    }
    if (out->ndim == 1 && !comma)
        return fail(c, "the shape is a number in parentheses, not a tuple");
    return true;
}

static bool refuse_type(struct cursor *c, const char *descr, const char *kind)
{
    static const struct {
        char letter;
        const char *reason;
    } known[] = {
        {'O', "pickled Python objects, which are never read"},
        {'M', "dates, which have no arithmetic here"},
        {'m', "time differences, which have no arithmetic here"},
        {'S', "text"},
        {'a', "text"},
        {'U', "text"},
        {'V', "raw bytes; only V2 can be read, as bf16"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (*kind == known[i].letter)
            return fail(c, "descr '%s' is %s", descr, known[i].reason);
    return fail(c, "descr '%s' is not a type that elementwise has", descr);
}

static bool read_descr(struct cursor *c, struct npy *out)
{
    skip_space(c);
    if (peek(c) == '[' || peek(c) == '{')
        return fail(c, "structured types (records) are not supported");
    if (!read_string(c, out->descr, sizeof out->descr))
        return false;
    bool has_order = *out->descr && strchr("<>|=", *out->descr);
    const char *kind = out->descr + has_order;
    int i = 0;
    while (i < KINDS && strcmp(kinds[i].kind, kind) != 0)
        i++;
    if (i == KINDS)
        return refuse_type(c, out->descr, kind);
    out->dtype = kinds[i].dtype;
    out->untyped = out->dtype == ELEMENTWISE_BF16;
    out->foreign = *out->descr == (host_order() == '<' ? '>' : '<') &&
                   elementwise_dtype_size(out->dtype) > 1;
    return true;
}

/* One "key: value"; seen collects the keys there have been. */
static bool read_item(struct cursor *c, struct npy *out, unsigned *seen)
{
    static const struct {
        const char *name;
        bool (*read)(struct cursor *c, struct npy *out);
    } keys[] = {{"descr", read_descr},
                {"fortran_order", read_order},
                {"shape", read_shape}};
    char name[32];
    int i = 0;
    if (!read_string(c, name, sizeof name))
        return false;
    while (i < 3 && strcmp(name, keys[i].name) != 0)
        i++;
    if (i == 3)
        return fail(c, "the header has an unknown key '%s'", name);
    if (*seen & (1u << i))
        return fail(c, "the header has the key '%s' twice", name);
    *seen |= 1u << i;
    return accept(c, ':') ? keys[i].read(c, out) : unexpected(c, "':'");
}

static bool read_dict(struct cursor *c, struct npy *out)
{
    unsigned seen = 0;
    bool comma = true;
    if (!accept(c, '{'))
        return unexpected(c, "the '{' of a dict");
    for (; !accept(c, '}'); comma = accept(c, ',')) {
        if (!comma)
            return unexpected(c, "',' or '}'");
        if (!read_item(c, out, &seen))
            return false;
    }
    if (seen != 7)
        return fail(c, "the header lacks the key '%s'",
                    !(seen & 1)   ? "descr"
                    : !(seen & 2) ? "fortran_order"
                                  : "shape");
    skip_space(c);
    if (c->at < c->end)
        return unexpected(c, "nothing");
    /* A transfer as text puts \r before \n and moves all that follows. */
    if (c->end[-1] != '\n')
        return fail(c, "the header does not end in a newline");
    return true;
}

/* The magic word, the version and the length, which is 2 bytes in version
   1.0 and 4 later, always little-endian. */
static bool read_preamble(struct cursor *c, const unsigned char *bytes,
                          size_t n, struct npy *out)
{
    if (n == 0)
        return fail(c, "the file is empty");
    if (n >= 4 && !memcmp(bytes, "PK\3\4", 4))
        return fail(c, "this is an archive (.npz); unpack its .npy files");
    if (n < MAGIC || memcmp(bytes, "\x93NUMPY", MAGIC) != 0)
        return fail(c, "this is not a .npy file: it does not begin with "
                       "\\x93NUMPY");
    if (n < MAGIC + 2)
        return fail(c, "the file ends in the version");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return fail(c, "version %d.%d is not 1.0, 2.0 or 3.0", bytes[6],
                    bytes[7]);
    out->version = bytes[6];
    size_t width = out->version == 1 ? 2 : 4, length = 0;
    if (n < MAGIC + 2 + width)
        return fail(c, "the file ends in the length of the header");
    for (size_t i = 0; i < width; i++)
        length |= (size_t)bytes[MAGIC + 2 + i] << 8 * i;
    if (length > LONGEST_HEADER)
        return fail(c, "the header has %zu bytes, more than %d", length,
                    LONGEST_HEADER);
    out->offset = MAGIC + 2 + width + length;
    if (n < out->offset)
        return fail(c, "the file ends in the header: %zu of %zu bytes", n,
                    out->offset);
    c->end = bytes + out->offset;
    c->start = c->at = c->end - length;
    return true;
}

bool npy_parse(const unsigned char *bytes, size_t n, struct npy *out, char *why,
               size_t size)
{
    struct cursor c = {.why = why, .size = size};
    memset(out, 0, sizeof *out);
    if (!read_preamble(&c, bytes, n, out) || !read_dict(&c, out))
        return false;
    if (elementwise_nbytes(out->dtype, out->ndim, out->shape, &out->nbytes))
        return fail(&c, "the shape takes more than 2^%d - 1 bytes",
                    sizeof(size_t) < 8 ? 32 : 63);
    if (out->nbytes > n - out->offset)
        return fail(&c, "the data is truncated: %zu of %zu bytes",
                    n - out->offset, out->nbytes);
    return true;
}

void npy_describe(elementwise_dtype dtype, char text[16])
{
    int i = 0;
    while (i < KINDS - 1 && kinds[i].dtype != dtype)
        i++;
    char order = elementwise_dtype_size(dtype) == 1 ? '|' : host_order();
    snprintf(text, 16, "%c%s", order, kinds[i].kind);
}

size_t npy_format(elementwise_dtype dtype, int ndim, const int64_t *shape,
                  bool fortran, char header[NPY_HEADER_SIZE])
{
    char descr[16];
    npy_describe(dtype, descr);
    size_t n = MAGIC + 4, size = NPY_HEADER_SIZE;
    n += (size_t)snprintf(header + n, size - n,
                          "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                          descr, fortran ? "True" : "False");
    for (int i = 0; i < ndim; i++)
        n += (size_t)snprintf(header + n, size - n, "%s%lld", i ? ", " : "",
                              (long long)shape[i]);
    n += (size_t)snprintf(header + n, size - n, "%s), }", ndim == 1 ? "," : "");
    size_t end = (n + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header + n, ' ', end - n);
    header[end - 1] = '\n';
    memcpy(header, "\x93NUMPY\1\0", MAGIC + 2);
    header[MAGIC + 2] = (char)((end - MAGIC - 4) & 255);
    header[MAGIC + 3] = (char)((end - MAGIC - 4) >> 8);
    return end;
}
