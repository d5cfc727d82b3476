/*
 * Turns text into cases. A text file has the values in it, as hexadecimal
 * bits; a manifest has a case per line and names .npy files. Both have the
 * same words, which is why one reader reads both. doc/conformance.md
 * describes the format.
 */
#define _DEFAULT_SOURCE
#include "vectors.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "compare.h"
#include "operand.h"
#include "slab.h"
#include "text.h"

/* Elements between two elements of one array, in a text file. */
enum { FARTHEST = 1 << 26 };

static const char *const role_names[VECTOR_ROLES] = {
    "x", "y", "dout", "out", "dx", "dy", "our-out", "our-dx", "our-dy"};

const char *vectors_role_name(int role)
{
    return role_names[role];
}

__attribute__((format(printf, 2, 3))) static int fail(const struct vectors *v,
                                                      const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return command_fail(COMMAND_FILE, "%s:%ld: %s", v->path ? v->path : v->name,
                        v->at, reason);
}

/* The next word of *at, which moves behind it; NULL at the end. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    size_t n = strcspn(word, " \t");
    if (!n)
        return NULL;
    *at = word + n;
    if (**at)
        *(*at)++ = 0;
    return word;
}

/* Reads a line without the white space at its end, or the mark that some
   editors put before the first; false at the end of the file, or with v->code
   if the line is not text. */
static bool read_line(struct vectors *v)
{
    static const char mark[] = "\xEF\xBB\xBF";
    ssize_t n = getline(&v->text, &v->room, v->file);
    if (n < 0)
        return false;
    v->at = ++v->line;
    if (memchr(v->text, 0, (size_t)n)) {
        v->code = fail(v, "a NUL byte; the file should be UTF-8 or ASCII");
        return false;
    }
    while (n > 0 && strchr(" \t\r\n", v->text[n - 1]))
        v->text[--n] = 0;
    if (v->line == 1 && !strncmp(v->text, mark, sizeof mark - 1))
        memmove(v->text, v->text + 3, (size_t)n - 2);
    return true;
}

/* An array from text */

static bool reserve(struct vector_array *array, size_t size)
{
    size_t room = array->room;
    while (room < size)
        room = room ? 2 * room : 256;
    if (room == array->room)
        return true;
    unsigned char *data = realloc(array->data, room);
    if (!data)
        return false;
    array->data = data;
    array->room = room;
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* A real number of `size` bytes from exactly twice as many digits. */
static bool read_hex(const char **text, size_t size, unsigned char *to)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < 2 * size; i++, ++*text) {
        int digit = digit_of(**text);
        if (digit < 0)
            return false;
        bits = bits << 4 | (unsigned)digit;
    }
    uint8_t b1 = (uint8_t)bits;
    uint16_t b2 = (uint16_t)bits;
    uint32_t b4 = (uint32_t)bits;
    memcpy(to,
           size == 1   ? (void *)&b1
           : size == 2 ? (void *)&b2
           : size == 4 ? (void *)&b4
                       : (void *)&bits,
           size);
    return true;
}

static bool read_element(const char *text, elementwise_dtype dtype,
                         unsigned char *to)
{
    size_t part = operand_part(dtype);
    bool good = read_hex(&text, part, to);
    if (part < elementwise_dtype_size(dtype))
        good = good && *text++ == ',' && read_hex(&text, part, to + part);
    return good && !*text;
}

/* The elements in the rest of a line. */
static int read_elements(struct vectors *v, struct vector_array *array,
                         char *at)
{
    size_t size = elementwise_dtype_size(array->dtype);
    for (char *word; (word = next_word(&at)); array->count++) {
        if (!reserve(array, (array->count + 1) * size))
            return command_fail(COMMAND_TOO_BIG, "no memory for a case");
        if (!read_element(word, array->dtype,
                          array->data + array->count * size))
            return fail(v, "'%s' is not %s as %zu hexadecimal digits%s", word,
                        elementwise_dtype_name(array->dtype),
                        2 * operand_part(array->dtype),
                        operand_part(array->dtype) < size
                            ? ", a comma and as many again"
                            : "");
    }
    return COMMAND_DONE;
}

/* (1,-2,0): as a shape, but of any sign. */
static bool parse_strides(const char *text, struct vector_array *array)
{
    int n = 0;
    for (char *end; *text != ')' || n == 0; text = end) {
        if (*text != (n ? ',' : '(') || n == array->ndim)
            return false;
        long stride = strtol(text + 1, &end, 10);
        if (end == text + 1 || stride < -(1 << 20) || stride > 1 << 20)
            return false;
        array->strides[n++] = stride;
    }
    return n == array->ndim && !text[1];
}

/* TYPE SHAPE [strides STRIDES] ELEMENT... */
static int read_array(struct vectors *v, struct vector_array *array, char *at)
{
    const char *type = next_word(&at), *shape = next_word(&at);
    array->given = true;
    array->dtype = elementwise_dtype_from_name(type);
    if (!array->dtype)
        return fail(v, "'%s' is not a type", type ? type : "");
    if (!shape ||
        !text_parse_shape(shape, strlen(shape), &array->ndim, array->shape))
        return fail(v, "'%s' is not a shape such as (2,3)", shape ? shape : "");
    at += strspn(at, " \t");
    if (!strncmp(at, "strides ", 8)) {
        at += 8;
        const char *strides = next_word(&at);
        array->strided = true;
        if (!strides || !parse_strides(strides, array))
            return fail(v, "'%s' are not %d strides such as (3,-1)",
                        strides ? strides : "", array->ndim);
    }
    return read_elements(v, array, at);
}

/* The words of a case */

static int find_role(const char *word)
{
    int role = 0;
    while (role < VECTOR_ROLES && strcmp(word, role_names[role]) != 0)
        role++;
    return role;
}

/* [grad] OP axis N */
static int read_call(struct vectors *v, char **at)
{
    struct vector *vector = &v->vector;
    const char *word = next_word(at);
    vector->gradient = word && !strcmp(word, "grad");
    if (vector->gradient)
        word = next_word(at);
    vector->op = elementwise_op_from_name(word);
    if (!vector->op)
        return fail(v, "'%s' is not an operation", word ? word : "");
    const char *axis = next_word(at), *number = next_word(at);
    char *end;
    long value = number ? strtol(number, &end, 10) : 0;
    if (!axis || strcmp(axis, "axis") != 0 || !number || *end ||
        value < INT_MIN || value > INT_MAX)
        return fail(v, "'axis' and an integer should follow the operation");
    vector->axis = (int)value;
    return COMMAND_DONE;
}

static int read_status(struct vectors *v, const char *word, bool *fails,
                       elementwise_status *status)
{
    if (*fails)
        return fail(v, "an error stands here twice");
    *fails = true;
    *status = word ? elementwise_status_from_name(word) : ELEMENTWISE_OK;
    if (word && (int)*status <= 0)
        return fail(v, "'%s' is not an error such as BAD_SHAPE", word);
    return COMMAND_DONE;
}

/* Elements that differ */

/* Where in the array the element is that (1,-2) names; false if nowhere. */
static bool parse_index(const char *text, size_t n,
                        const struct vector_array *array, size_t *element)
{
    const char *end = text + n;
    int dim = 0;
    *element = 0;
    for (char *next; dim < array->ndim; text = next) {
        if (*text != (dim ? ',' : '('))
            return false;
        long index = strtol(text + 1, &next, 10);
        if (next == text + 1 || index < 0 || index >= array->shape[dim])
            return false;
        *element = *element * (size_t)array->shape[dim++] + (size_t)index;
    }
    return *element < array->count && text + 1 + !array->ndim == end &&
           !strncmp(text, array->ndim ? ")" : "()", (size_t)(end - text));
}

/* What is documented is the framework's result but for some elements. */
static int begin_ours(struct vectors *v, int role)
{
    const struct vector_array *from = &v->vector.array[role];
    struct vector_array *to =
        &v->vector.array[role - VECTOR_OUT + VECTOR_OUR_OUT];
    size_t bytes = from->count * elementwise_dtype_size(from->dtype);
    if (!reserve(to, bytes))
        return command_fail(COMMAND_TOO_BIG, "no memory for a case");
    struct vector_array array = *from;
    array.copied = true;
    array.data = to->data;
    array.room = to->room;
    *to = array;
    memcpy(to->data, from->data, bytes);
    return COMMAND_DONE;
}

/* out(1,0)=3f800000: this element is that here, for the reason of the line. */
static int read_exception(struct vectors *v, const char *word)
{
    const struct vector *c = &v->vector;
    const char *bits = strchr(word, '=');
    size_t n = strcspn(word, "("), at;
    int role = VECTOR_OUT;
    while (role < VECTOR_OUR_OUT && (strlen(role_names[role]) != n ||
                                     strncmp(word, role_names[role], n) != 0))
        role++;
    if (role == VECTOR_OUR_OUT || !bits || !c->array[role].given)
        return fail(v, "'%s' is not an element of a result above", word);
    const struct vector_array *theirs = &c->array[role],
                              *ours = theirs - VECTOR_OUT + VECTOR_OUR_OUT;
    if (!parse_index(word + n, (size_t)(bits - word) - n, theirs, &at))
        return fail(v, "'%s' is not in the shape of %s", word,
                    role_names[role]);
    if (ours->given && !ours->copied)
        return fail(v, "'%s': our-%s is told already", word, role_names[role]);
    int code = ours->given ? COMMAND_DONE : begin_ours(v, role);
    if (code)
        return code;
    size_t size = elementwise_dtype_size(theirs->dtype);
    unsigned char *to = ours->data + at * size;
    if (memcmp(to, theirs->data + at * size, size) != 0)
        return fail(v, "'%s': the element has a reason already", word);
    if (!read_element(bits + 1, theirs->dtype, to))
        return fail(v, "'%s' is not %s in hexadecimal", word,
                    elementwise_dtype_name(theirs->dtype));
    if (compare_elements(ours->dtype, theirs->data + at * size, to, 0) <= 0)
        return fail(v, "'%s' is no difference", word);
    return COMMAND_DONE;
}

static int read_exceptions(struct vectors *v, char *at)
{
    int code = COMMAND_DONE;
    for (const char *word; !code && (word = next_word(&at));)
        code = read_exception(v, word);
    return code;
}

/* WORD, and in a text file the elements that it explains. */
static int read_reason(struct vectors *v, char **at)
{
    struct vector *c = &v->vector;
    const char *word = next_word(at);
    if (!word || strlen(word) >= sizeof *c->reason)
        return fail(v, "a keyword should follow 'differs'");
    for (int i = 0; i < c->reasons; i++)
        if (!strcmp(c->reason[i], word))
            return fail(v, "'differs %s' stands here twice", word);
    if (c->reasons == VECTOR_REASONS)
        return fail(v, "there are more than %d reasons", VECTOR_REASONS);
    strcpy(c->reason[c->reasons++], word);
    return COMMAND_DONE;
}

/* One array, now that all its lines are read. */
static int check_array(const struct vectors *v, int role)
{
    const struct vector_array *a = &v->vector.array[role];
    size_t size = elementwise_dtype_size(a->dtype), bytes;
    int64_t reach = 0;
    if (elementwise_nbytes(a->dtype, a->ndim, a->shape, &bytes))
        return fail(v, "the shape of %s is too large", role_names[role]);
    if (a->count * size != bytes)
        return fail(v, "%s has %zu elements and its shape %zu",
                    role_names[role], a->count, bytes / size);
    for (int i = 0; i < a->ndim && a->strided && a->count; i++)
        reach += (a->shape[i] - 1) * llabs(a->strides[i]);
    if (reach > FARTHEST)
        return fail(v, "the strides of %s reach over %lld elements",
                    role_names[role], (long long)reach);
    return COMMAND_DONE;
}

/* Whether the arrays hold the same numbers, where any NaN is like any other,
   as for a case. */
static bool same_array(const struct vector_array *a,
                       const struct vector_array *b)
{
    size_t size = elementwise_dtype_size(a->dtype), i = 0;
    if (a->dtype != b->dtype || a->ndim != b->ndim ||
        memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) != 0)
        return false;
    while (i < a->count && compare_elements(a->dtype, a->data + i * size,
                                            b->data + i * size, 0) <= 0)
        i++;
    return i == a->count;
}

static bool has_result(const struct vector *c, int first)
{
    return c->array[first].given || c->array[first + 1].given ||
           c->array[first + 2].given;
}

bool vectors_is_documented(const struct vector *vector)
{
    return vector->our_fails || has_result(vector, VECTOR_OUR_OUT);
}

/* Whether what is documented is not the framework's result: an error is any
   error if it has no name. */
static bool is_difference(const struct vector *c)
{
    if (c->fails && c->our_fails)
        return c->status && c->our_status && c->status != c->our_status;
    bool differs = c->fails || c->our_fails;
    for (int k = 0; k < 3 && !differs; k++) {
        const struct vector_array *theirs = &c->array[VECTOR_OUT + k],
                                  *ours = &c->array[VECTOR_OUR_OUT + k];
        differs = theirs->given && ours->given && !same_array(theirs, ours);
    }
    return differs;
}

/* A case has one result, and what is said to differ from it does. */
static int check_results(const struct vectors *v)
{
    const struct vector *c = &v->vector;
    bool ours = has_result(c, VECTOR_OUR_OUT);
    if (c->fails && has_result(c, VECTOR_OUT))
        return fail(v, "the case has a result and 'error'; one is wrong");
    if (c->our_fails && ours)
        return fail(v, "the case has a result of ours and 'our-error'; one is "
                       "wrong");
    if (vectors_is_documented(c) && !is_difference(c))
        return fail(v, "what is said to be ours is no difference");
    return COMMAND_DONE;
}

/* Gradients have dout, dx and dy, and the operations out. */
static int check_roles(const struct vectors *v)
{
    static const bool of_gradient[VECTOR_ROLES] = {
        [VECTOR_DOUT] = true,   [VECTOR_DX] = true,     [VECTOR_DY] = true,
        [VECTOR_OUR_DX] = true, [VECTOR_OUR_DY] = true,
    };
    const struct vector *c = &v->vector;
    for (int i = VECTOR_DOUT; i < VECTOR_ROLES; i++)
        if (c->array[i].given && of_gradient[i] != c->gradient)
            return fail(v, "%s is of no use: the case is %s gradient",
                        role_names[i], c->gradient ? "a" : "no");
    return COMMAND_DONE;
}

/* Whether the case has all it needs, and nothing else. */
static int check_case(const struct vectors *v)
{
    const struct vector *c = &v->vector;
    const struct vector_array *a = c->array;
    if (!a[VECTOR_X].given || !a[VECTOR_Y].given)
        return fail(v, "the case needs x and y");
    if (c->gradient && !a[VECTOR_DOUT].given)
        return fail(v, "a gradient needs dout");
    bool result = c->gradient ? a[VECTOR_DX].given || a[VECTOR_DY].given
                              : a[VECTOR_OUT].given;
    if (!result && !c->fails)
        return fail(v, "the case has no result: %s or error",
                    c->gradient ? "dx, dy" : "out");
    int code = check_roles(v);
    for (int i = 0; i < VECTOR_ROLES && !code; i++)
        if (a[i].given)
            code = check_array(v, i);
    return code ? code : check_results(v);
}

static void clear(struct vector *vector)
{
    struct vector_array array[VECTOR_ROLES];
    memcpy(array, vector->array, sizeof array);
    memset(vector, 0, sizeof *vector);
    for (int i = 0; i < VECTOR_ROLES; i++) {
        vector->array[i].data = array[i].data;
        vector->array[i].room = array[i].room;
    }
}

/* Text files */

/* What a line that begins with a space goes on with. */
struct open_part {
    struct vector_array *array;
    bool reason;
};

static int read_text_reason(struct vectors *v, char *at)
{
    int code = read_reason(v, &at);
    at += strspn(at, " \t");
    v->vector.whole = v->vector.whole || !*at;
    return code ? code : read_exceptions(v, at);
}

/* [STATUS] and nothing else */
static int read_text_status(struct vectors *v, char *at, bool *fails,
                            elementwise_status *status)
{
    int code = read_status(v, next_word(&at), fails, status);
    const char *more = next_word(&at);
    return !code && more ? fail(v, "'%s' follows the error", more) : code;
}

/* A line of a case but its first: an array, or words about the result. */
static int read_text_line(struct vectors *v, struct open_part *last)
{
    struct vector *c = &v->vector;
    char *at = v->text;
    if (*at == ' ' && last->array)
        return read_elements(v, last->array, at);
    if (*at == ' ' && last->reason)
        return read_exceptions(v, at);
    const char *word = next_word(&at);
    int role = word ? find_role(word) : VECTOR_ROLES;
    *last = (struct open_part){.array = NULL};
    if (role < VECTOR_ROLES) {
        last->array = &c->array[role];
        if (last->array->given)
            return fail(v, "%s stands here twice", word);
        return read_array(v, last->array, at);
    }
    last->reason = word && !strcmp(word, "differs");
    if (last->reason)
        return read_text_reason(v, at);
    if (word && !strcmp(word, "error"))
        return read_text_status(v, at, &c->fails, &c->status);
    if (word && !strcmp(word, "our-error"))
        return read_text_status(v, at, &c->our_fails, &c->our_status);
    return fail(v, "'%s' is not a part of a case", word ? word : "");
}

/* What our library gives must be said, or the reason excuses anything. */
static int check_reason(const struct vectors *v)
{
    const struct vector *c = &v->vector;
    bool said = vectors_is_documented(c);
    if (said != (c->reasons > 0))
        return fail(v, "%s",
                    said ? "'differs' and a keyword are missing"
                         : "differs: our-out, our-dx, our-dy or our-error "
                           "must tell the result");
    if (c->whole && c->reasons > 1)
        return fail(v, "each of several reasons must name its elements");
    return COMMAND_DONE;
}

/* A block of lines up to an empty one. */
static int read_text_case(struct vectors *v)
{
    struct open_part last = {.array = NULL};
    char *at = v->text;
    int code = read_call(v, &at);
    if (!code && next_word(&at))
        code = fail(v, "nothing should follow the axis");
    while (!code && read_line(v) && *v->text)
        if (*v->text != '#')
            code = read_text_line(v, &last);
    code = code ? code : v->code;
    return code ? code : check_reason(v);
}

/* Manifests */

/* The elements of a mapped file, in row-major order. */
static int copy_npy(struct vector_array *array, const struct operand *operand)
{
    const elementwise_tensor *from = &operand->tensor;
    elementwise_tensor to = {
        .dtype = from->dtype, .ndim = from->ndim, .shape = array->shape};
    array->given = true;
    array->dtype = from->dtype;
    array->ndim = from->ndim;
    array->count =
        operand->header.nbytes / elementwise_dtype_size(array->dtype);
    memcpy(array->shape, operand->header.shape, sizeof array->shape);
    if (!reserve(array, operand->header.nbytes))
        return command_fail(COMMAND_TOO_BIG, "%s: no memory", operand->file);
    to.data = array->data;
    elementwise_status status = elementwise_copy(from, ELEMENTWISE_NUMPY, &to);
    return status ? command_fail_status(status) : COMMAND_DONE;
}

static int read_npy(struct vectors *v, struct vector_array *array,
                    const char *name)
{
    struct operand operand;
    size_t size = strlen(v->folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return command_fail(COMMAND_TOO_BIG, "no memory for a name");
    if (*name == '/')
        strcpy(path, name);
    else
        snprintf(path, size, "%s/%s", v->folder, name);
    int code = operand_open(&operand, path, v->bf16);
    if (!code)
        code = slab_load(&operand);
    if (!code)
        code = copy_npy(array, &operand);
    operand_close(&operand);
    free(path);
    return code;
}

/* What follows may be a status or, if any will do, the reason. */
static int read_manifest_error(struct vectors *v, char **at)
{
    struct vector *c = &v->vector;
    const char *word = next_word(at);
    bool differs = word && !strcmp(word, "differs");
    int code = read_status(v, differs ? NULL : word, &c->fails, &c->status);
    return code || !differs ? code : read_reason(v, at);
}

/* ROLE FILE and the words that a text file has lines for. */
static int read_manifest_word(struct vectors *v, const char *word, char **at)
{
    struct vector *c = &v->vector;
    if (!strcmp(word, "error"))
        return read_manifest_error(v, at);
    if (!strcmp(word, "differs"))
        return read_reason(v, at);
    int role = find_role(word);
    if (role == VECTOR_ROLES)
        return fail(v, "'%s' is not a part of a case", word);
    const char *file = next_word(at);
    if (!file)
        return fail(v, "a file should follow %s", word);
    if (c->array[role].given)
        return fail(v, "%s stands here twice", word);
    return read_npy(v, &c->array[role], file);
}

/* The whole case is one line. */
static int read_manifest_case(struct vectors *v)
{
    char *at = v->text;
    int code = read_call(v, &at);
    for (const char *word; !code && (word = next_word(&at));)
        code = read_manifest_word(v, word, &at);
    return code;
}

int vectors_next(struct vectors *v, bool *more)
{
    clear(&v->vector);
    do {
        *more = read_line(v);
    } while (*more && (!*v->text || *v->text == '#'));
    v->vector.line = v->line;
    int code = v->code;
    if (*more)
        code = v->folder ? read_manifest_case(v) : read_text_case(v);
    if (!code && ferror(v->file))
        code = command_fail(COMMAND_FILE, "%s: %s", v->name, strerror(errno));
    v->at = v->vector.line;
    return code || !*more ? code : check_case(v);
}

/* elementwise-vectors 1 FRAMEWORK VERSION */
static int read_header(struct vectors *v)
{
    static const char magic[] = "elementwise-vectors 1 ";
    v->at = 1;
    if (!read_line(v))
        return v->code ? v->code : fail(v, "the file is empty");
    if (strncmp(v->text, magic, sizeof magic - 1) != 0)
        return fail(v, "the first line should be '%sFRAMEWORK VERSION'", magic);
    snprintf(v->source, sizeof v->source, "%s", v->text + sizeof magic - 1);
    return COMMAND_DONE;
}

int vectors_open(struct vectors *v, const char *name, bool bf16)
{
    static const char manifest[] = "/manifest.txt";
    struct stat info;
    *v = (struct vectors){.name = name, .bf16 = bf16};
    if (!stat(name, &info) && S_ISDIR(info.st_mode)) {
        v->folder = strdup(name);
        v->path = malloc(strlen(name) + sizeof manifest);
        if (!v->folder || !v->path)
            return command_fail(COMMAND_TOO_BIG, "no memory for a name");
        strcat(strcpy(v->path, name), manifest);
    }
    v->file = fopen(v->path ? v->path : name, "r");
    if (!v->file)
        return command_fail(COMMAND_FILE, "%s: %s", v->path ? v->path : name,
                            strerror(errno));
    return v->folder ? COMMAND_DONE : read_header(v);
}

void vectors_close(struct vectors *v)
{
    if (v->file)
        fclose(v->file);
    for (int i = 0; i < VECTOR_ROLES; i++)
        free(v->vector.array[i].data);
    free(v->folder);
    free(v->path);
    free(v->text);
    *v = (struct vectors){.name = NULL};
}
