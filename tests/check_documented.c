/*
 * Compares what doc/operations.md and doc/broadcasting.md say with what the
 * library does: every row of the tables of operations, of promotion, of
 * outputs, of example shapes and of errors, and every error message shown in
 * full. The differences of frameworks in doc/conformance.md are compared with
 * the rows of doc/operations.md that name them. The folder that holds doc/ is
 * in the environment variable srcdir.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elementwise.h"
#include "support.h"

struct op {
    const char *name, *result, *fault;
    double ulp;
};

static const struct op ops[] = {
#define OP(name, NAME, types, result, fault, ulp) {#name, #result, #fault, ulp},
#include "ops.def"
};

enum {
    OPS = sizeof ops / sizeof *ops,
    DTYPES = ELEMENTWISE_C128,
    CELLS = DTYPES + 1,
    ROWS = 64
};

struct table {
    int rows; /* the header is row 0 */
    char *cell[ROWS][CELLS];
};

/* Groups of types as the documents call them. */
enum { BOOL = 1, UNSIGNED = 2, SIGNED = 4, FLOATS = 8, COMPLEX = 16 };
static const struct {
    const char *name;
    unsigned groups;
} words[] = {
    {"bool", BOOL},
    {"unsigned", UNSIGNED},
    {"signed", SIGNED},
    {"integers", UNSIGNED | SIGNED},
    {"floats", FLOATS},
    {"real", UNSIGNED | SIGNED | FLOATS},
    {"complex", COMPLEX},
    {"numbers", UNSIGNED | SIGNED | FLOATS | COMPLEX},
    {"all", BOOL | UNSIGNED | SIGNED | FLOATS | COMPLEX},
};

static unsigned group(elementwise_dtype dtype)
{
    switch (elementwise_dtype_name(dtype)[0]) {
    case 'u':
        return UNSIGNED;
    case 'i':
        return SIGNED;
    case 'f':
        return FLOATS;
    case 'c':
        return COMPLEX;
    default:
        return dtype == ELEMENTWISE_BF16 ? FLOATS : BOOL;
    }
}

/* "real, bool" as groups; cuts the cell into words. */
static unsigned parse_groups(char *cell)
{
    unsigned groups = 0;
    for (char *word = strtok(cell, ", "); word; word = strtok(NULL, ", ")) {
        size_t i = 0, n = sizeof words / sizeof *words;
        while (i < n && strcmp(word, words[i].name))
            i++;
        ck_assert_msg(i < n, "\"%s\" is no group of types", word);
        groups |= words[i].groups;
    }
    return groups;
}

/* The text of a document, to be freed. */
static char *read_document(const char *name)
{
    const char *folder = getenv("srcdir");
    char path[4096];
    snprintf(path, sizeof path, "%s/doc/%s", folder ? folder : ".", name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    ck_assert(fread(text, 1, (1 << 20) - 1, file) > 0 && feof(file));
    fclose(file);
    return text;
}

/* Cuts "| a | b |" into cells without the spaces around them. */
static void split(char *line, char **cell)
{
    int n = 0;
    for (char *end; (end = strchr(++line, '|')); line = end) {
        char *last = end;
        line += strspn(line, " ");
        while (last > line && last[-1] == ' ')
            last--;
        *last = 0;
        ck_assert_msg(n < CELLS, "too many cells");
        cell[n++] = line;
    }
}

/* The first table under a heading; cuts text up. */
static struct table find_table(char *text, const char *heading)
{
    struct table table = {0};
    char *line = strstr(text, heading);
    ck_assert_msg(line != NULL, "there is no %s", heading);
    line = strstr(line, "\n|");
    ck_assert_msg(line != NULL, "there is no table under %s", heading);
    for (line++; *line == '|'; line++) {
        char *end = strchr(line, '\n');
        *end = 0;
        if (line[1] != '-') {
            ck_assert_int_lt(table.rows, ROWS);
            split(line, table.cell[table.rows++]);
        }
        line = end;
    }
    return table;
}

static void check_op(const struct op *op, char *const *cell)
{
    ck_assert_str_eq(cell[0], op->name);
    ck_assert_str_eq(cell[2], strcmp(op->result, "BOOL") ? "promoted" : "bool");
    ck_assert_msg(!strstr(cell[3], "DIVISION_BY_ZERO") ==
                      !strcmp(op->fault, "NONE"),
                  "%s: DIVISION_BY_ZERO", op->name);
    ck_assert_msg(strtod(cell[4], NULL) == op->ulp && *cell[4],
                  "%s: %s ULP, not %g", op->name, cell[4], op->ulp);
}

/* Its row says which pairs an operation takes and what it makes of them. */
static void check_types(elementwise_op op, char *const *cell)
{
    unsigned groups = parse_groups(cell[1]);
    for (int x = 1; x <= DTYPES; x++)
        for (int y = 1; y <= DTYPES; y++) {
            elementwise_dtype promoted, result;
            ck_assert_int_eq(
                elementwise_result_type(ELEMENTWISE_ADD, x, y, &promoted),
                ELEMENTWISE_OK);
            elementwise_status expected = groups & group(promoted)
                                              ? ELEMENTWISE_OK
                                              : ELEMENTWISE_BAD_DTYPE;
            ck_assert_msg(elementwise_result_type(op, x, y, &result) ==
                              expected,
                          "%s of %s and %s", cell[0], elementwise_dtype_name(x),
                          elementwise_dtype_name(y));
            if (!strcmp(cell[2], "bool"))
                promoted = ELEMENTWISE_BOOL;
            if (expected == ELEMENTWISE_OK)
                ck_assert_int_eq(result, promoted);
        }
}

START_TEST(operations_have_one_row_each)
{
    char *text = read_document("operations.md");
    struct table table = find_table(text, "\n## The operations\n");
    ck_assert_int_eq(table.rows, OPS + 1);
    for (int i = 0; i < OPS; i++) {
        ck_assert_str_eq(elementwise_op_name((elementwise_op)(i + 1)),
                         ops[i].name);
        check_op(&ops[i], table.cell[i + 1]);
        check_types((elementwise_op)(i + 1), table.cell[i + 1]);
    }
    free(text);
}
END_TEST

START_TEST(promotion_is_the_library_s)
{
    char *text = read_document("operations.md");
    struct table table = find_table(text, "\n## Promotion\n");
    ck_assert_int_eq(table.rows, DTYPES + 1);
    for (int x = 1; x <= DTYPES; x++) {
        ck_assert_str_eq(table.cell[0][x], elementwise_dtype_name(x));
        ck_assert_str_eq(table.cell[x][0], elementwise_dtype_name(x));
        for (int y = 1; y <= DTYPES; y++) {
            elementwise_dtype result;
            elementwise_result_type(ELEMENTWISE_ADD, x, y, &result);
            ck_assert_str_eq(table.cell[x][y], elementwise_dtype_name(result));
        }
    }
    free(text);
}
END_TEST

static elementwise_status plan_output(elementwise_dtype type,
                                      elementwise_dtype out_type)
{
    const elementwise_tensor x = {NULL, type, 0, NULL, NULL};
    const elementwise_tensor out = {NULL, out_type, 0, NULL, NULL};
    elementwise_plan *plan;
    elementwise_status status = elementwise_plan_create(
        &plan, ELEMENTWISE_ADD, &x, &x, ELEMENTWISE_NUMPY, &out, NULL);
    elementwise_plan_destroy(plan);
    return status;
}

START_TEST(outputs_are_the_library_s)
{
    char *text = read_document("operations.md");
    struct table table = find_table(text, "\n## What out may be\n");
    unsigned from[ROWS], to[ROWS], seen = 0;
    for (int i = 1; i < table.rows; i++) {
        from[i] = parse_groups(table.cell[i][0]);
        to[i] = parse_groups(table.cell[i][1]);
        ck_assert(!(seen & from[i]));
        seen |= from[i];
    }
    ck_assert_uint_eq(seen, BOOL | UNSIGNED | SIGNED | FLOATS | COMPLEX);
    for (int x = 1; x <= DTYPES; x++)
        for (int out = 1; out <= DTYPES; out++) {
            int i = 1;
            while (!(from[i] & group(x)))
                i++;
            ck_assert_msg(plan_output(x, out) == (to[i] & group(out)
                                                      ? ELEMENTWISE_OK
                                                      : ELEMENTWISE_BAD_DTYPE),
                          "%s into %s", elementwise_dtype_name(x),
                          elementwise_dtype_name(out));
        }
    free(text);
}
END_TEST

/* "(2,3)" as a tensor without data; returns what follows it. */
static char *parse_shape(char *at, elementwise_tensor *t, int64_t *shape)
{
    *t = (elementwise_tensor){NULL, ELEMENTWISE_F32, 0, shape, NULL};
    ck_assert_msg(*at == '(', "\"%s\" is no shape", at);
    for (at++; *at != ')'; at += *at == ',') {
        char *end;
        shape[t->ndim++] = strtoll(at, &end, 10);
        ck_assert_msg(end > at && t->ndim < ELEMENTWISE_MAX_NDIM,
                      "\"%s\" is no extent", at);
        at = end;
    }
    return at + 1;
}

/* "BAD_SHAPE: 4 against 2 at dimension 0" is what the last message says. */
static void check_place(const char *cell)
{
    long long x, y;
    int dim;
    char expected[200];
    if (sscanf(cell, "BAD_SHAPE: %lld against %lld at dimension %d", &x, &y,
               &dim) != 3) {
        ck_assert_str_eq(cell, "BAD_AXIS");
        return;
    }
    snprintf(expected, sizeof expected, "at dimension %d (%lld vs %lld)", dim,
             x, y);
    ck_assert_msg(strstr(elementwise_last_error(), expected) != NULL, "%s: %s",
                  cell, elementwise_last_error());
}

static void check_example(char *const *cell)
{
    int64_t x_shape[ELEMENTWISE_MAX_NDIM], y_shape[ELEMENTWISE_MAX_NDIM];
    int64_t expected_shape[ELEMENTWISE_MAX_NDIM], shape[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor x, y, expected;
    int ndim;
    parse_shape(cell[0], &x, x_shape);
    parse_shape(cell[1], &y, y_shape);
    elementwise_status status =
        elementwise_broadcast_shape(&x, &y, atoi(cell[2]), &ndim, shape);
    const char *name = elementwise_status_name(status);
    if (status) {
        ck_assert_msg(!strncmp(cell[3], name, strlen(name)),
                      "%s with %s under %s is %s", cell[0], cell[1], cell[2],
                      name);
        check_place(cell[3]);
        return;
    }
    parse_shape(cell[3], &expected, expected_shape);
    ck_assert_int_eq(ndim, expected.ndim);
    ck_assert_mem_eq(shape, expected_shape, (size_t)ndim * sizeof *shape);
}

START_TEST(example_shapes_broadcast_as_shown)
{
    char *text = read_document("broadcasting.md");
    struct table table = find_table(text, "\n## Examples\n");
    ck_assert_int_gt(table.rows, 30);
    for (int i = 1; i < table.rows; i++)
        check_example(table.cell[i]);
    free(text);
}
END_TEST

/* The first line of a message ends in both shapes, and the first "axis" in it
   is the caller's: enough to provoke it again. */
static void check_message(char *message)
{
    int64_t x_shape[ELEMENTWISE_MAX_NDIM], y_shape[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor x, y;
    char *at = strstr(message, ": x (");
    ck_assert_msg(at != NULL, "no shapes in %s", message);
    at = parse_shape(at + 4, &x, x_shape);
    ck_assert_msg(!strncmp(at, " and y ", 7), "no y in %s", message);
    parse_shape(at + 7, &y, y_shape);
    at = strstr(message, "axis ");
    ck_assert_msg(at != NULL, "no axis in %s", message);
    ck_assert_int_ne(elementwise_add(&x, &y, atoi(at + 5), &x), ELEMENTWISE_OK);
    ck_assert_str_eq(elementwise_last_error(), message);
}

START_TEST(messages_are_the_library_s)
{
    static const char fence[] = "```text\n";
    char *text = read_document("broadcasting.md"), *at = text;
    int n = 0;
    for (; (at = strstr(at, fence)); n++) {
        char *message = at + strlen(fence), *end = strstr(message, "\n```");
        ck_assert_ptr_nonnull(end);
        *end = 0;
        check_message(message);
        at = end + 1;
    }
    ck_assert_int_ge(n, 4);
    free(text);
}
END_TEST

/* Whether a comma-separated list has the word, of which the first n bytes
   count, in backticks or without. */
static bool lists(const char *list, const char *word, size_t n)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        bool ticks = *list == '`';
        if (length == n + 2 * ticks && !strncmp(list + ticks, word, n))
            return true;
        list += length;
        list += strspn(list, ", ");
    }
    return false;
}

/* Each operation names a reason if, and only if, the reason names it. */
static void check_reasons(const struct table *reasons,
                          const struct table *operations, int column,
                          const char *prefix)
{
    for (int i = 1; i < reasons->rows; i++) {
        const char *word = reasons->cell[i][0] + 1;
        for (int k = 1; k < operations->rows; k++) {
            char name[64];
            ck_assert_msg(operations->cell[k][column] != NULL,
                          "%s: the last column is missing",
                          operations->cell[k][0]);
            snprintf(name, sizeof name, "%s%s", prefix, operations->cell[k][0]);
            bool there =
                lists(operations->cell[k][column], word, strcspn(word, "`"));
            bool here = lists(reasons->cell[i][2], name, strlen(name));
            ck_assert_msg(there == here, "%s: %s names it, %s does not", word,
                          here ? "conformance.md" : name,
                          here ? name : "conformance.md");
        }
    }
}

/* Words in a list that are no reasons. */
static void check_words(const struct table *reasons, const char *list)
{
    for (const char *at = list; *at == '`'; at += strspn(at, ", ")) {
        size_t n = strcspn(++at, "`");
        int i = 1;
        while (i < reasons->rows &&
               (strncmp(reasons->cell[i][0] + 1, at, n) != 0 ||
                reasons->cell[i][0][n + 1] != '`'))
            i++;
        ck_assert_msg(i < reasons->rows, "%.*s is no reason", (int)n, at);
        at += n + 1;
    }
}

/* Reasons of all operations stand in the text. */
static void check_general_reasons(const struct table *reasons)
{
    char *text = read_document("operations.md");
    for (int i = 1; i < reasons->rows; i++)
        if (!strcmp(reasons->cell[i][2], "all"))
            ck_assert_msg(strstr(text, reasons->cell[i][0]) != NULL,
                          "operations.md does not name %s",
                          reasons->cell[i][0]);
    free(text);
}

START_TEST(differences_are_rows_of_both_documents)
{
    enum { FORWARD = 5, SLOPES = 4 };
    char *texts[] = {read_document("conformance.md"),
                     read_document("operations.md"),
                     read_document("operations.md")};
    struct table reasons = find_table(texts[0], "\n## Different on purpose\n");
    struct table operations = find_table(texts[1], "\n## The operations\n");
    struct table slopes = find_table(texts[2], "\n## Gradients\n");
    ck_assert_int_gt(reasons.rows, 20);
    check_reasons(&reasons, &operations, FORWARD, "");
    check_reasons(&reasons, &slopes, SLOPES, "grad ");
    check_general_reasons(&reasons);
    for (int k = 1; k < operations.rows; k++)
        check_words(&reasons, operations.cell[k][FORWARD]);
    for (int k = 1; k < slopes.rows; k++)
        check_words(&reasons, slopes.cell[k][SLOPES]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}
END_TEST

/* What a fault is provoked with: x, y, out and the gradients of a call that
   would be right, (2,3) of f32 each, until something is changed. */
enum { X, Y, OUT, DOUT, DX, DY, TENSORS };

struct trial {
    float data[TENSORS][6];
    int64_t shape[TENSORS][ELEMENTWISE_MAX_NDIM], strides[TENSORS][3];
    elementwise_tensor t[TENSORS];
    elementwise_options options;
    elementwise_plan *plan;
};

static void start(struct trial *r)
{
    *r = (struct trial){.options = ELEMENTWISE_OPTIONS_INIT};
    for (int k = 0; k < TENSORS; k++) {
        r->shape[k][0] = 2;
        r->shape[k][1] = 3;
        r->t[k] = (elementwise_tensor){r->data[k], ELEMENTWISE_F32, 2,
                                       r->shape[k], NULL};
    }
}

static elementwise_status add(struct trial *r)
{
    return elementwise_add(&r->t[X], &r->t[Y], ELEMENTWISE_NUMPY, &r->t[OUT]);
}

static elementwise_status apply(struct trial *r, int op)
{
    return elementwise_apply((elementwise_op)op, &r->t[X], &r->t[Y],
                             ELEMENTWISE_NUMPY, &r->t[OUT], &r->options);
}

static elementwise_status grad(struct trial *r, elementwise_op op)
{
    return elementwise_apply_grad(op, &r->t[X], &r->t[Y], NULL, &r->t[DOUT],
                                  ELEMENTWISE_NUMPY, &r->t[DX], &r->t[DY],
                                  NULL);
}

/* All types of the trial, so that promotion is no fault. */
static void set_dtype(struct trial *r, elementwise_dtype dtype)
{
    for (int k = 0; k < TENSORS; k++)
        r->t[k].dtype = dtype;
}

/* Each provokes one error after the other, in the order of its table, and
   ELEMENTWISE_OK after the last. */
typedef elementwise_status provoke(struct trial *r, int i);

static elementwise_status provoke_options(struct trial *r, int i)
{
    switch (i) {
    case 0:
        r->options.size = 3;
        return apply(r, ELEMENTWISE_ADD);
    case 1:
        r->options.act = (elementwise_act)99;
        return apply(r, ELEMENTWISE_ADD);
    case 2:
        r->options.flags = ELEMENTWISE_ADD_TO_DX;
        return apply(r, ELEMENTWISE_ADD);
    case 3:
        r->options.threads = 2;
        return apply(r, ELEMENTWISE_ADD);
    case 4:
        return apply(r, 99);
    default:
        return ELEMENTWISE_OK;
    }
}

static elementwise_status provoke_tensor(struct trial *r, int i)
{
    switch (i) {
    case 0:
        return elementwise_add(NULL, &r->t[Y], -1, &r->t[OUT]);
    case 1:
        r->t[X].ndim = 65;
        return add(r);
    case 2:
        r->t[X].shape = NULL;
        return add(r);
    case 3:
        r->shape[X][0] = -2;
        return add(r);
    case 4:
        r->t[X].dtype = (elementwise_dtype)0;
        return add(r);
    case 5:
        r->t[X].ndim = 3;
        r->shape[X][0] = r->shape[X][1] = 3000000000;
        return add(r);
    case 6:
        r->t[X].strides = r->strides[X];
        r->strides[X][0] = INT64_MAX;
        return add(r);
    default:
        return ELEMENTWISE_OK;
    }
}

static elementwise_status provoke_result(struct trial *r, int i)
{
    switch (i) {
    case 0:
        r->t[X].dtype = ELEMENTWISE_I64;
        r->t[Y].dtype = ELEMENTWISE_U64;
        return apply(r, ELEMENTWISE_BITWISE_AND);
    case 1:
        r->t[OUT].dtype = ELEMENTWISE_U8;
        return add(r);
    case 2:
        set_dtype(r, ELEMENTWISE_I32);
        r->options.act = ELEMENTWISE_ACT_RELU;
        return apply(r, ELEMENTWISE_ADD);
    case 3:
        set_dtype(r, ELEMENTWISE_I32);
        r->options.scale_x = 2;
        return apply(r, ELEMENTWISE_ADD);
    case 4:
        r->t[Y].ndim = 1;
        r->shape[Y][0] = r->shape[OUT][0] = 3;
        r->shape[OUT][1] = 2;
        return add(r);
    default:
        return ELEMENTWISE_OK;
    }
}

static elementwise_status provoke_data(struct trial *r, int i)
{
    switch (i) {
    case 0:
        r->t[OUT].strides = r->strides[OUT];
        r->strides[OUT][1] = 1;
        return add(r);
    case 1:
        r->t[OUT].data = NULL;
        return add(r);
    case 2:
        r->t[X].data = (char *)r->data[X] + 2;
        return add(r);
    case 3:
        r->t[OUT].data = &r->data[X][1];
        r->t[OUT].ndim = r->t[X].ndim = r->t[Y].ndim = 1;
        return add(r);
    case 4:
        set_dtype(r, ELEMENTWISE_I32);
        return apply(r, ELEMENTWISE_DIV);
    case 5:
        set_dtype(r, ELEMENTWISE_I32);
        memset(r->data[Y], -1, sizeof r->data[Y]);
        return apply(r, ELEMENTWISE_POW);
    default:
        return ELEMENTWISE_OK;
    }
}

static elementwise_status provoke_other(struct trial *r, int i)
{
    static const int64_t target[] = {1, 3};
    elementwise_dtype dtype;
    int ndim;
    switch (i) {
    case 0:
        r->t[X].dtype = ELEMENTWISE_C64;
        return elementwise_copy(&r->t[X], -1, &r->t[OUT]);
    case 1:
        return elementwise_copy(&r->t[X], -1, &r->t[X]);
    case 2:
        return elementwise_broadcast_to(&r->t[X], -1, 2, target, r->strides[X],
                                        &r->t[Y]);
    case 3:
        return elementwise_broadcast_to(&r->t[X], -1, 2, target, NULL,
                                        &r->t[Y]);
    case 4:
        return elementwise_broadcast_shape(&r->t[X], &r->t[Y], -1, &ndim, NULL);
    case 5:
        return elementwise_broadcast_shapes(NULL, 0, &ndim, r->shape[OUT]);
    case 6:
        return elementwise_nbytes(ELEMENTWISE_F32, 2, target, NULL);
    case 7:
        return elementwise_result_type(ELEMENTWISE_ADD, ELEMENTWISE_F32,
                                       ELEMENTWISE_F32, NULL);
    case 8:
        return elementwise_result_type(ELEMENTWISE_ADD, (elementwise_dtype)99,
                                       ELEMENTWISE_F32, &dtype);
    case 9:
        return elementwise_plan_create(NULL, ELEMENTWISE_ADD, &r->t[X],
                                       &r->t[Y], -1, &r->t[OUT], NULL);
    case 10:
        return elementwise_plan_run(NULL, NULL, NULL, NULL);
    default:
        return ELEMENTWISE_OK;
    }
}

static elementwise_status provoke_gradient(struct trial *r, int i)
{
    switch (i) {
    case 0:
        set_dtype(r, ELEMENTWISE_I64);
        return elementwise_mul_grad(&r->t[X], &r->t[Y], &r->t[DOUT], -1,
                                    &r->t[DX], NULL);
    case 1:
        r->t[X].dtype = ELEMENTWISE_F64;
        return elementwise_mul_grad(&r->t[X], &r->t[Y], &r->t[DOUT], -1,
                                    &r->t[DX], NULL);
    case 2:
        r->t[DX].ndim = 1;
        return elementwise_mul_grad(&r->t[X], &r->t[Y], &r->t[DOUT], -1,
                                    &r->t[DX], NULL);
    case 3:
        r->t[DX].strides = r->strides[DX];
        return elementwise_mul_grad(&r->t[X], &r->t[Y], &r->t[DOUT], -1,
                                    &r->t[DX], NULL);
    case 4:
        return grad(r, ELEMENTWISE_NEXTAFTER);
    case 5:
        r->t[DY].data = r->data[DX];
        return elementwise_hypot_grad(&r->t[X], &r->t[Y], &r->t[DOUT], -1,
                                      &r->t[DX], &r->t[DY]);
    case 6:
        r->t[X].dtype = ELEMENTWISE_I64;
        r->t[DX].dtype = ELEMENTWISE_F64;
        return elementwise_sum_to(&r->t[X], -1, &r->t[DX], NULL);
    case 7:
        r->options.act = ELEMENTWISE_ACT_RELU;
        return elementwise_sum_to(&r->t[X], -1, &r->t[DX], &r->options);
    case 8:
        r->t[X].ndim = 0;
        return elementwise_sum_to(&r->t[X], -1, &r->t[DX], NULL);
    default:
        return ELEMENTWISE_OK;
    }
}

static elementwise_status provoke_gradient_plan(struct trial *r, int i)
{
    switch (i) {
    case 0:
        return elementwise_plan_create_grad(NULL, ELEMENTWISE_ADD, &r->t[X],
                                            &r->t[Y], NULL, &r->t[DOUT], -1,
                                            &r->t[DX], NULL, NULL);
    case 1:
        ck_assert_int_eq(elementwise_plan_create_grad(
                             &r->plan, ELEMENTWISE_ADD, &r->t[X], &r->t[Y],
                             NULL, &r->t[DOUT], -1, &r->t[DX], NULL, NULL),
                         ELEMENTWISE_OK);
        return elementwise_plan_run(r->plan, NULL, NULL, NULL);
    case 2:
        ck_assert_int_eq(elementwise_plan_create(&r->plan, ELEMENTWISE_ADD,
                                                 &r->t[X], &r->t[Y], -1,
                                                 &r->t[OUT], NULL),
                         ELEMENTWISE_OK);
        return elementwise_plan_run_grad(r->plan, NULL, NULL, NULL, NULL, NULL,
                                         NULL);
    case 3:
        ck_assert_int_eq(elementwise_plan_create_grad(
                             &r->plan, ELEMENTWISE_ADD, &r->t[X], &r->t[Y],
                             NULL, &r->t[DOUT], -1, &r->t[DX], NULL, NULL),
                         ELEMENTWISE_OK);
        return elementwise_plan_run_grad(r->plan, NULL, NULL, NULL,
                                         r->t[DOUT].data, r->t[DX].data,
                                         r->t[DY].data);
    default:
        return ELEMENTWISE_OK;
    }
}

/* Cuts out the digits behind some words, any of which will do. */
static void forget(char *message, const char *ahead)
{
    char *at = strstr(message, ahead);
    if (at) {
        at += strlen(ahead);
        char *end = at + strspn(at, "0123456789abcdef");
        memmove(at, end, strlen(end) + 1);
    }
}

/* The first line of the last message stands in backquotes. Addresses are
   others in each run, the size of the options where pointers have 32 bits. */
static void check_error(elementwise_status status, char *const *cell)
{
    static const char *const before[] = {", 0x", "options.size is 3, not "};
    char found[2000];
    int n = (int)strcspn(elementwise_last_error(), "\n");
    snprintf(found, sizeof found, "`%.*s`", n, elementwise_last_error());
    for (int i = 0; i < (sizeof(void *) < 8 ? 2 : 1); i++) {
        forget(found, before[i]);
        forget(cell[1], before[i]);
    }
    ck_assert_str_eq(found, cell[1]);
    ck_assert_str_eq(elementwise_status_name(status), cell[0]);
}

/* Compares a table with what some functions provoke, row by row. */
static void check_errors(const char *heading, provoke *const *functions)
{
    char *text = read_document("broadcasting.md");
    struct table table = find_table(text, heading);
    int row = 1;
    for (; *functions; functions++)
        for (int i = 0;; i++) {
            struct trial r;
            start(&r);
            elementwise_status status = (*functions)(&r, i);
            elementwise_plan_destroy(r.plan);
            if (!status)
                break;
            ck_assert_int_lt(row, table.rows);
            check_error(status, table.cell[row++]);
        }
    ck_assert_int_eq(row, table.rows);
    free(text);
}

START_TEST(errors_are_the_library_s)
{
    static provoke *const of_calls[] = {provoke_options, provoke_tensor,
                                        provoke_result, provoke_data, NULL};
    static provoke *const of_others[] = {provoke_other, NULL};
    static provoke *const of_gradients[] = {provoke_gradient,
                                            provoke_gradient_plan, NULL};
    check_errors("\n### Calls\n", of_calls);
    check_errors("\n### Other functions\n", of_others);
    check_errors("\n### Gradients\n", of_gradients);
}
END_TEST

int main(void)
{
    TCase *tests = support_case("documented");
    tcase_add_test(tests, operations_have_one_row_each);
    tcase_add_test(tests, promotion_is_the_library_s);
    tcase_add_test(tests, outputs_are_the_library_s);
    tcase_add_test(tests, example_shapes_broadcast_as_shown);
    tcase_add_test(tests, messages_are_the_library_s);
    tcase_add_test(tests, differences_are_rows_of_both_documents);
    tcase_add_test(tests, errors_are_the_library_s);
    TCase *const cases[] = {tests, NULL};
    return support_run("documented", cases);
}
