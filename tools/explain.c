/*
 * Turns an operation and two shapes into a picture of how they are aligned,
 * what the result is and which loops would run. No data is needed, so
 * operands may be shapes on the command line or the headers of files.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "command.h"
#include "elsewhere.h"
#include "number.h"
#include "operand.h"
#include "text.h"

enum { CELL = 48 };

static const char dim_colour[] = "\33[2m", bold_colour[] = "\33[1m";

struct row {
    const char *name;
    const elementwise_tensor *tensor;
    struct call_place place;
};

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(no && *no) && isatty(STDOUT_FILENO) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

/* What may be a shape is one: 2 has one dimension, 0x3 two. */
static bool is_number(const char *text)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    return number_is(text) &&
           !text_parse_shape(text, strlen(text), &ndim, shape);
}

/* A shape with or without a type, such as 2x3:f16; otherwise a file. */
static int open_operand(struct operand *operand, const char *text, bool bf16)
{
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    elementwise_dtype dtype = ELEMENTWISE_F32;
    memset(operand, 0, sizeof *operand);
    if (!text_parse_shape(text, n, &operand->header.ndim,
                          operand->header.shape)) {
        if (access(text, F_OK))
            return command_fail(COMMAND_FILE,
                                "%s: neither a file nor a shape such as "
                                "2x3x4 or 2x3x4:f16, of at most 64 extents "
                                "below 2^63",
                                text);
        return operand_open(operand, text, bf16);
    }
    if (colon)
        dtype = elementwise_dtype_from_name(colon + 1);
    if (!dtype)
        return command_fail(COMMAND_USAGE, "%s: unknown type '%s'", text,
                            colon + 1);
    operand->tensor = (elementwise_tensor){.dtype = dtype,
                                           .ndim = operand->header.ndim,
                                           .shape = operand->header.shape};
    return COMMAND_DONE;
}

/* One extent as it is printed, and the colour for it. */
static const char *cell(const struct call *call, const struct row *row, int dim,
                        char text[CELL])
{
    int own = dim - row->place.start;
    int64_t out = dim < call->ndim ? call->shape[dim] : 1;
    text[0] = 0;
    if (own >= row->place.kept && own < row->tensor->ndim) {
        strcpy(text, "[1]");
        return dim_colour;
    }
    if (own < 0 || own >= row->place.kept) {
        strcpy(text, dim < call->ndim ? "." : "");
        return dim_colour;
    }
    int64_t extent = row->tensor->shape[own];
    if (extent == out) {
        snprintf(text, CELL, "%lld", (long long)extent);
        return "";
    }
    snprintf(text, CELL, "%lld>%lld", (long long)extent, (long long)out);
    return bold_colour;
}

static int columns(const struct call *call, const struct row row[2])
{
    int n = call->ndim;
    for (int k = 0; k < 2; k++) {
        int end = row[k].place.start + row[k].tensor->ndim;
        n = end > n ? end : n;
    }
    return n;
}

static int column_width(const struct call *call, const struct row row[2])
{
    size_t width = 2;
    char text[CELL];
    for (int dim = 0; dim < columns(call, row); dim++)
        for (int k = 0; k < 2; k++) {
            cell(call, &row[k], dim, text);
            width = strlen(text) > width ? strlen(text) : width;
        }
    return (int)width + 2;
}

static void print_row(const struct call *call, const struct row *row, int n,
                      int width, bool colour)
{
    char text[CELL], label[CELL];
    bool moved = row->place.start != call->ndim - row->tensor->ndim ||
                 row->place.kept != row->tensor->ndim;
    snprintf(label, sizeof label, moved ? "%s axis %d" : "%s", row->name,
             call->axis);
    printf("\n  %-9s", label);
    for (int dim = 0; dim < n; dim++) {
        const char *on = cell(call, row, dim, text);
        if (!*text) /* and nothing follows */
            break;
        printf("%*s%s%s%s", width - (int)strlen(text), "", colour ? on : "",
               text, colour && *on ? "\33[0m" : "");
    }
}

/* Says only what the diagram has. */
static void print_legend(const struct call *call, const struct row row[2],
                         int n)
{
    bool dot = false, stretched = false, dropped = false;
    char text[CELL];
    for (int dim = 0; dim < n; dim++)
        for (int k = 0; k < 2; k++) {
            cell(call, &row[k], dim, text);
            dot |= text[0] == '.';
            dropped |= text[0] == '[';
            stretched |= strchr(text, '>') != NULL;
        }
    if (dot || stretched || dropped)
        printf("\n  %s%s%s", dot ? "  . counts as 1" : "",
               stretched ? "  1>n is stretched" : "",
               dropped ? "  [1] is dropped" : "");
    if (call->axis != ELEMENTWISE_NUMPY && !call_reads_axis(call))
        printf("\n    the axis makes no difference for these shapes");
}

static void print_diagram(const struct call *call)
{
    const struct row row[2] = {{"x", call->x, call_place(call, call->x)},
                               {"y", call->y, call_place(call, call->y)}};
    const elementwise_tensor out = {.ndim = call->ndim, .shape = call->shape};
    const struct row result = {"out", &out, {0, call->ndim}};
    int n = columns(call, row), width = column_width(call, row);
    bool colour = wants_colour();
    printf("\n\n  %-9s", "dim");
    for (int dim = 0; dim < n; dim++)
        printf("%*d", width, dim);
    print_row(call, &row[0], n, width, colour);
    print_row(call, &row[1], n, width, colour);
    print_row(call, &result, n, width, colour);
    print_legend(call, row, n);
    printf("\n\n");
}

/* The value of a key whose value is a word, as far as the next quote. */
static void print_word(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    size_t n = strlen(key);
    if (at)
        printf("%.*s", (int)strcspn(at + n, "\""), at + n);
}

/* The plan's loops, indented as they are nested. */
static void print_loops(const char *json)
{
    const char *at = strstr(json, "\"loops\":[");
    long long extent, x, y, out;
    int depth = 0, n = 0;
    if (!at)
        return;
    for (at += strlen("\"loops\":["); *at == '{'; at += n + (at[n] == ',')) {
        n = 0;
        if (sscanf(at, "{\"extent\":%lld,\"x\":%lld,\"y\":%lld,\"out\":%lld}%n",
                   &extent, &x, &y, &out, &n) != 4 ||
            n == 0)
            return;
        printf("%*sfor %lld: x %+lld, y %+lld, out %+lld bytes\n",
               4 + 2 * depth++, "", extent, x, y, out);
    }
}

/* What is done to an input before the kernel sees it, if anything. */
static void print_input(const char *json, const char *name, const char *key)
{
    const char *at = strstr(json, key);
    if (!at || !strncmp(at + strlen(key), "as is", 5))
        return;
    printf(", %s ", name);
    print_word(at, key);
}

/* What is said of the inputs that a key lists. */
static void print_listed(const char *json, const char *key, const char *said)
{
    const char *list = strstr(json, key);
    size_t n = list ? strcspn(list, "]") : 0;
    for (size_t i = strlen(key); i < n; i++)
        if (list[i] == 'x' || list[i] == 'y')
            printf(", %c %s", list[i], said);
}

/* The activation, if there is one. */
static void print_act(const char *json)
{
    static const char act[] = "\"act\":\"";
    const char *after = strstr(json, act);
    if (!after || !strncmp(after + sizeof act - 1, "none", 4))
        return;
    printf(", then ");
    print_word(json, act);
}

/* What the plan does not have: what depends on the call beside it. */
static void print_notes(const struct call *call, const char *json)
{
    if (call_is_direct(call, json))
        printf("  once   straight to the kernel, without a plan\n");
    if (call_has_formulas(call, json))
        printf("  powers by 2, 3, 0.5, -1 or -0.5 are products, a root or a "
               "quotient, by others the function\n");
}

static void print_plan(const struct call *call, const char *json)
{
    const char *bytes = strstr(json, "\"bytes\":");
    printf("  runs   ");
    print_word(json, "\"kernel\":\"");
    printf(" for ");
    print_word(json, "\"level\":\"");
    print_input(json, "x", "\"x_input\":\"");
    print_input(json, "y", "\"y_input\":\"");
    if (strstr(json, "\"rows\":\"folded\""))
        printf(", rows folded");
    if (strstr(json, "\"stores\":\"scattered\""))
        printf(", out scattered");
    if (strstr(json, "\"stores\":\"past the caches\""))
        printf(", out past the caches");
    print_listed(json, "\"kept\":[", "kept");
    print_listed(json, "\"scaled\":[", "scaled");
    print_act(json);
    printf("%s\n", strstr(json, "\"tiles\":true")
                       ? ", in tiles that stay in the cache"
                       : "");
    print_loops(json);
    print_notes(call, json);
    printf("  moves  ");
    text_print_bytes(bytes ? strtoull(bytes + 8, NULL, 10) : 0);
    printf("\n");
}

static void print_operand(const char *name, const struct operand *operand)
{
    const struct npy *npy = &operand->header;
    printf("  %s      %s ", name,
           elementwise_dtype_name(operand->tensor.dtype));
    text_print_shape(npy->ndim, npy->shape);
    if (operand->file)
        printf("  %s%s%s", operand->file, npy->fortran ? ", column-major" : "",
               operand_is_ready(operand) ? "" : ", copied slab by slab first");
    printf("\n");
}

static void print_text(const struct call *call, const struct operand operand[2],
                       const struct arguments *a,
                       const struct dialect_view *view, const char *plan)
{
    size_t nbytes = 0;
    printf("%s: %s\n\n", elementwise_op_name(call->op), help_formula(call->op));
    print_operand("x", &operand[0]);
    print_operand("y", &operand[1]);
    if (view)
        elsewhere_print_arguments(a->dialect, &a->elsewhere, view);
    else
        printf("  axis   %d%s", call->axis,
               call->axis == ELEMENTWISE_NUMPY ? ", aligned at the right" : "");
    print_diagram(call);
    printf("  out    %s ", elementwise_dtype_name(call->dtype));
    text_print_shape(call->ndim, call->shape);
    printf(", ");
    elementwise_nbytes(call->dtype, call->ndim, call->shape, &nbytes);
    text_print_bytes(nbytes);
    printf("\n");
    if (view)
        elsewhere_print_call(call, view);
    print_plan(call, plan);
}

static void print_json_operand(const char *name, elementwise_dtype dtype,
                               int ndim, const int64_t *shape)
{
    printf(",\"%s\":{\"dtype\":\"%s\",\"shape\":", name,
           elementwise_dtype_name(dtype));
    text_print_json_shape(ndim, shape);
    printf("}");
}

static void print_json_error(const char *status, int code, const char *message)
{
    printf(",\"error\":{\"status\":\"%s\",\"exit\":%d,\"message\":", status,
           code);
    text_print_json(message);
    printf("}}\n");
}

/* What is known whether or not the shapes fit: the operands as they were
   given, of which ours may be a view. */
static void print_json_call(const struct call *call,
                            const struct operand operand[2],
                            const struct arguments *a)
{
    const elementwise_tensor *x = &operand[0].tensor, *y = &operand[1].tensor;
    struct call given = *call;
    given.y = y;
    printf("{\"op\":\"%s\",\"axis\":%d", elementwise_op_name(call->op),
           call->axis);
    print_json_operand("x", x->dtype, x->ndim, x->shape);
    print_json_operand("y", y->dtype, y->ndim, y->shape);
    elsewhere_print_json(&given, a->dialect, &a->elsewhere);
}

static void print_json(const struct call *call, const struct operand operand[2],
                       const struct arguments *a, elementwise_status status,
                       const char *plan)
{
    print_json_call(call, operand, a);
    if (status) {
        print_json_error(elementwise_status_name(status), command_code(status),
                         elementwise_last_error());
        return;
    }
    print_json_operand("out", call->dtype, call->ndim, call->shape);
    printf(",\"plan\":%s}\n", plan);
}

/* The plan as JSON, to be freed; NULL if there is no memory. */
static char *describe(const elementwise_plan *plan)
{
    size_t size = elementwise_plan_describe(plan, NULL, 0) + 1;
    char *json = calloc(size, 1);
    if (json)
        elementwise_plan_describe(plan, json, size);
    return json;
}

static int explain_call(const struct arguments *a, struct call *call,
                        const struct operand operand[2],
                        const struct dialect_view *view)
{
    elementwise_plan *plan;
    elementwise_status status = call_resolve(call, &plan);
    bool shapes = !status || status == ELEMENTWISE_BAD_SHAPE ||
                  status == ELEMENTWISE_BAD_AXIS;
    char *json = describe(plan);
    elementwise_plan_destroy(plan);
    if (!json)
        return command_fail(COMMAND_TOO_BIG, "no memory for a description");
    if (a->json)
        print_json(call, operand, a, status, json);
    else if (!status)
        print_text(call, operand, a, view, json);
    free(json);
    if (status && !a->json)
        command_fail_status(status);
    if (shapes && !a->json && !view)
        elsewhere_print_table(call, &a->elsewhere);
    return command_code(status);
}

/* Another system refuses the shapes: says why, and what ours would be. */
static int refuse(const struct arguments *a, const struct call *call,
                  const struct operand operand[2],
                  const struct dialect_view *view)
{
    char message[DIALECT_REASON + 80];
    snprintf(message, sizeof message, "%s %s: %s", dialect_name(a->dialect),
             view->verdict == DIALECT_ILLEGAL ? "refuses this" : "is undefined",
             view->reason);
    if (!a->json) {
        command_fail(COMMAND_REFUSED, "%s", message);
        elsewhere_print_help(call, a->dialect, &a->elsewhere, view);
        return COMMAND_REFUSED;
    }
    print_json_call(call, operand, a);
    print_json_error(view->verdict == DIALECT_ILLEGAL ? "REFUSED" : "UNDEFINED",
                     COMMAND_REFUSED, message);
    return COMMAND_REFUSED;
}

static int explain(const struct arguments *a, const struct operand operand[2])
{
    elementwise_tensor y = operand[1].tensor;
    struct dialect_view view;
    struct call call = {.op = elementwise_op_from_name(a->operands[0]),
                        .x = &operand[0].tensor,
                        .y = &operand[1].tensor,
                        .axis = a->axis,
                        .options = &a->options,
                        .dtype = a->out_dtype,
                        .out_given = a->out_dtype != 0};
    if (a->dialect < 0)
        return explain_call(a, &call, operand, NULL);
    dialect_look(a->dialect, call.op, call.x, call.y, &a->elsewhere, &view);
    call.axis = view.axis;
    if (view.verdict != DIALECT_LEGAL)
        return refuse(a, &call, operand, &view);
    if (view.y_as_scalar) {
        y.ndim = 0;
        call.y = &y;
    }
    return explain_call(a, &call, operand, &view);
}

static int check_arguments(const struct arguments *a)
{
    unsigned takes = a->dialect < 0 ? DIALECT_AXIS : dialect_takes(a->dialect);
    unsigned wrong = a->elsewhere.given & ~takes;
    const char *name = wrong & DIALECT_AXIS       ? "--axis"
                       : wrong & DIALECT_NUM_AXES ? "--num-axes"
                                                  : "--broadcast";
    if (!wrong)
        return COMMAND_DONE;
    if (a->dialect < 0)
        return command_fail(COMMAND_USAGE, "explain: %s needs --dialect", name);
    return command_fail(COMMAND_USAGE, "explain: %s takes no %s",
                        dialect_name(a->dialect), name);
}

int command_explain(const struct arguments *arguments)
{
    struct operand operand[2] = {{.map = NULL}, {.map = NULL}};
    char **operands = arguments->operands;
    int code = check_arguments(arguments);
    if (code)
        return code;
    if (arguments->count != 3)
        return command_fail(COMMAND_USAGE,
                            "explain: an operation and two shapes or files "
                            "are needed");
    if (!command_operation(arguments))
        return COMMAND_USAGE;
    if (is_number(operands[1]) && is_number(operands[2]))
        return command_fail(COMMAND_USAGE,
                            "explain: both operands are numbers; one must be "
                            "a shape or a file");
    for (int k = 0; k < 2 && !code; k++)
        if (!is_number(operands[k + 1]))
            code = open_operand(&operand[k], operands[k + 1], arguments->bf16);
    for (int k = 0; k < 2 && !code; k++)
        if (is_number(operands[k + 1]))
            code = operand_set_number(&operand[k], operands[k + 1],
                                      operand[1 - k].tensor.dtype);
    if (!code)
        code = explain(arguments, operand);
    operand_close(&operand[0]);
    operand_close(&operand[1]);
    return code;
}
