/*
 * Turns what dialect.c finds out about two shapes into text and JSON: a table
 * of all systems, or one of them with the call of ours that does the same.
 */
#include "elsewhere.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Of the arguments that were given, those that a system takes. What takes
   broadcast is asked with 1 unless it says otherwise: 0 is NumPy's rule or
   none, of which the table has lines. */
static struct dialect_arguments taken(int dialect,
                                      const struct dialect_arguments *given)
{
    struct dialect_arguments a = *given;
    unsigned takes = dialect_takes(dialect);
    if (takes & DIALECT_BROADCAST && !(a.given & DIALECT_BROADCAST)) {
        a.given |= DIALECT_BROADCAST;
        a.broadcast = 1;
    }
    a.given &= takes;
    return a;
}

static void add_argument(char text[DIALECT_REASON], const char *name, int value)
{
    size_t n = strlen(text);
    snprintf(text + n, DIALECT_REASON - n, "%s%s %d", n ? ", " : "", name,
             value);
}

/* "axis 1, broadcast 1"; "" if none is given. */
static const char *arguments_text(const struct dialect_arguments *a,
                                  char text[DIALECT_REASON])
{
    text[0] = 0;
    if (a->given & DIALECT_AXIS)
        add_argument(text, "axis", a->axis);
    if (a->given & DIALECT_NUM_AXES)
        add_argument(text, "num_axes", a->num_axes);
    if (a->given & DIALECT_BROADCAST)
        add_argument(text, "broadcast", a->broadcast);
    return text;
}

/* The call of ours that does what a system does; y is its y. */
static struct call as_ours(const struct call *call,
                           const struct dialect_view *view,
                           elementwise_tensor *y)
{
    struct call ours = *call;
    *y = *call->y;
    if (view->y_as_scalar)
        y->ndim = 0;
    ours.y = y;
    ours.axis = view->axis;
    ours.ndim = view->ndim;
    return ours;
}

/* The placed operand's extent at a dimension of the result; -1: it has none
   there. */
static int64_t extent_at(const struct call *call, int dim)
{
    const elementwise_tensor *t = call_places_x(call) ? call->x : call->y;
    int own = dim - call_place(call, t).start;
    return own >= 0 && own < t->ndim ? t->shape[own] : -1;
}

/* The placed operand over the dimensions of the result: "y . 3 4 ." */
static void print_place(const struct call *call,
                        const struct dialect_view *view)
{
    elementwise_tensor y;
    struct call ours = as_ours(call, view, &y);
    printf("  %s", call_places_x(&ours) ? "x" : "y");
    for (int dim = 0; dim < ours.ndim; dim++) {
        int64_t extent = extent_at(&ours, dim);
        if (extent < 0)
            printf(" .");
        else
            printf(" %lld", (long long)extent);
    }
}

/* Whether the system accepts the shapes as we do under the axis of the call,
   but places them otherwise: nobody is told, and the numbers differ. */
static bool differs_from_ours(const struct call *call,
                              const struct dialect_view *view)
{
    elementwise_tensor y;
    struct call theirs = as_ours(call, view, &y), ours = *call;
    if (view->verdict != DIALECT_LEGAL ||
        elementwise_broadcast_shape(call->x, call->y, call->axis, &ours.ndim,
                                    ours.shape))
        return false;
    bool differs = theirs.ndim != ours.ndim;
    for (int dim = 0; !differs && dim < ours.ndim; dim++) {
        int64_t there = extent_at(&theirs, dim);
        int64_t here = extent_at(&ours, dim);
        differs = (there < 0 ? 1 : there) != (here < 0 ? 1 : here);
    }
    return differs;
}

static void print_line(const struct call *call, int dialect,
                       const struct dialect_arguments *given, int width)
{
    struct dialect_arguments a = taken(dialect, given);
    struct dialect_view view;
    char text[DIALECT_REASON];
    dialect_look(dialect, call->op, call->x, call->y, &a, &view);
    printf("    %-11s %-*s ", dialect_name(dialect), width,
           view.operation ? view.operation : "-");
    printf("%-20s ", view.operation ? arguments_text(&a, text) : "");
    if (!view.operation) {
        printf("%s", view.reason);
    } else if (view.verdict == DIALECT_LEGAL) {
        text_print_shape(view.ndim, view.shape);
        print_place(call, &view);
        if (differs_from_ours(call, &view))
            printf("   other numbers than here");
    } else {
        printf("%s: %s",
               view.verdict == DIALECT_ILLEGAL ? "refused" : "UNDEFINED",
               view.reason);
        if (!(a.given & DIALECT_AXIS) && dialect_default_axis(dialect) >= 0)
            printf(" (axis is %d by default)", dialect_default_axis(dialect));
    }
    printf("\n");
}

/* Columns for the longest name of the operation. */
static int name_width(elementwise_op op)
{
    size_t width = 1;
    for (int i = 0; i < DIALECTS; i++) {
        const char *name = i == DIALECT_CAFFE ? counterpart_eltwise(op)
                                              : counterpart_name(i, op);
        width = name && strlen(name) > width ? strlen(name) : width;
    }
    return (int)width;
}

void elsewhere_print_table(const struct call *call,
                           const struct dialect_arguments *arguments)
{
    int width = name_width(call->op);
    const char *types = dialect_types_note(call->x, call->y);
    printf("\n  these shapes elsewhere\n");
    for (int i = 0; i < DIALECTS; i++)
        print_line(call, i, arguments, width);
    if (types)
        printf("    %s\n", types);
}

void elsewhere_print_arguments(int dialect,
                               const struct dialect_arguments *arguments,
                               const struct dialect_view *view)
{
    char text[DIALECT_REASON];
    arguments_text(arguments, text);
    printf("  as in  %s: %s%s%s", dialect_system(dialect), view->operation,
           *text ? ", " : "", text);
}

/* A name as the header has it: prefix and capitals. */
static void print_constant(const char *prefix, const char *name)
{
    printf("%s", prefix);
    for (; *name; name++)
        putchar(toupper((unsigned char)*name));
}

/* With as many digits as the number needs. */
static void print_factor(const char *name, double value, const char *gap)
{
    char text[40];
    int digits = 6;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    printf("options.%s = %s;%s", name, text, gap);
}

/* Whether a plain call does what was asked for. */
static bool is_plain(const elementwise_options *options)
{
    return options->act == ELEMENTWISE_ACT_NONE && options->scale_x == 1 &&
           options->scale_y == 1;
}

/* What is not an argument of the call: assignments before it. options is
   ELEMENTWISE_OPTIONS_INIT otherwise. */
static void print_preparation(const struct call *call,
                              const struct dialect_view *view, const char *gap)
{
    const elementwise_options *options = call->options;
    if (view->y_as_scalar)
        printf("y.ndim = 0;%s", gap);
    if (call->out_given) {
        print_constant("out.dtype = ELEMENTWISE_",
                       elementwise_dtype_name(call->dtype));
        printf(";%s", gap);
    }
    if (options->scale_x != 1)
        print_factor("scale_x", options->scale_x, gap);
    if (options->scale_y != 1)
        print_factor("scale_y", options->scale_y, gap);
    if (options->act == ELEMENTWISE_ACT_NONE)
        return;
    print_constant("options.act = ELEMENTWISE_ACT_",
                   elementwise_act_name(options->act));
    printf(";%s", gap);
    if (options->act == ELEMENTWISE_ACT_LEAKY_RELU)
        print_factor("alpha", options->alpha, gap);
}

/* The call that does the same, with the factors, the activation and the type
   that were asked for; gap stands between statements. */
static void print_ours(const struct call *call, const struct dialect_view *view,
                       const char *gap)
{
    const char *name = elementwise_op_name(call->op);
    bool plain = is_plain(call->options);
    char axis[32] = "ELEMENTWISE_NUMPY";
    if (view->axis != ELEMENTWISE_NUMPY)
        snprintf(axis, sizeof axis, "%d", view->axis);
    print_preparation(call, view, gap);
    if (plain)
        printf("elementwise_%s(", name);
    else
        print_constant("elementwise_apply(ELEMENTWISE_", name);
    printf("%s&x, &y, %s, &out%s)", plain ? "" : ", ", axis,
           plain ? "" : ", &options");
}

static void print_notes(FILE *file, const char *label,
                        const struct dialect_view *view)
{
    for (int i = 0; i < DIALECT_NOTES && view->notes[i]; i++)
        fprintf(file, "%s%s\n", label, view->notes[i]);
}

/* Which axes would be legal in a system that takes one. */
static void print_legal_axes(const struct call *call, int dialect,
                             const struct dialect_arguments *arguments)
{
    struct dialect_arguments a = *arguments;
    struct dialect_view view;
    int found = 0,
        rank = call->x->ndim > call->y->ndim ? call->x->ndim : call->y->ndim;
    if (!(dialect_takes(dialect) & DIALECT_AXIS))
        return;
    a.given |= DIALECT_AXIS;
    for (a.axis = -rank; a.axis < rank; a.axis++) {
        dialect_look(dialect, call->op, call->x, call->y, &a, &view);
        if (view.verdict == DIALECT_LEGAL)
            fprintf(stderr, "%s%d", found++ ? ", " : "  legal there: axis ",
                    a.axis);
    }
    fputs(found ? "\n" : "  no axis is legal there\n", stderr);
}

void elsewhere_print_help(const struct call *call, int dialect,
                          const struct dialect_arguments *arguments,
                          const struct dialect_view *view)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    if (view->operation)
        print_legal_axes(call, dialect, arguments);
    if (!elementwise_broadcast_shape(call->x, call->y, call->axis, &ndim,
                                     shape))
        fprintf(stderr, "  legal here: axis %d\n", call->axis);
    print_notes(stderr, "  note: ", view);
}

void elsewhere_print_call(const struct call *call,
                          const struct dialect_view *view)
{
    char reshape[DIALECT_TEXT];
    dialect_reshape(view, call->x, call->y, reshape);
    printf("  C      ");
    print_ours(call, view, "\n         ");
    printf("\n  NumPy  %s%s%s\n", reshape,
           reshape[1] ? ", then aligned at the right" : " as it is",
           is_plain(call->options) ? "" : "; factors and act besides");
    print_notes(stdout, "  note   ", view);
}

static void print_json_notes(const struct dialect_view *view)
{
    printf(",\"notes\":[");
    for (int i = 0; i < DIALECT_NOTES && view->notes[i]; i++) {
        printf("%s", i ? "," : "");
        text_print_json(view->notes[i]);
    }
    printf("]");
}

static void print_json_view(const struct call *call,
                            const struct dialect_view *view)
{
    char reshape[DIALECT_TEXT];
    dialect_reshape(view, call->x, call->y, reshape);
    printf(",\"shape\":");
    text_print_json_shape(view->ndim, view->shape);
    printf(",\"differs\":%s", differs_from_ours(call, view) ? "true" : "false");
    printf(",\"c\":\"");
    print_ours(call, view, " ");
    printf("\",\"numpy\":\"%s\"", reshape);
}

static void print_json_argument(const struct dialect_arguments *a,
                                unsigned which, const char *name, int value)
{
    if (a->given & which)
        printf("%s\"%s\":%d", a->given & (which - 1) ? "," : "", name, value);
}

static void print_json_dialect(const struct call *call, int dialect,
                               const struct dialect_arguments *a)
{
    static const char *const verdicts[] = {"legal", "illegal", "undefined"};
    struct dialect_view view;
    dialect_look(dialect, call->op, call->x, call->y, a, &view);
    printf("{\"name\":\"%s\",\"arguments\":{", dialect_name(dialect));
    print_json_argument(a, DIALECT_AXIS, "axis", a->axis);
    print_json_argument(a, DIALECT_NUM_AXES, "num_axes", a->num_axes);
    print_json_argument(a, DIALECT_BROADCAST, "broadcast", a->broadcast);
    printf("},\"operation\":");
    if (view.operation)
        text_print_json(view.operation);
    else
        printf("null");
    printf(",\"verdict\":\"%s\"", verdicts[view.verdict]);
    if (view.verdict == DIALECT_LEGAL) {
        print_json_view(call, &view);
    } else {
        printf(",\"reason\":");
        text_print_json(view.reason);
    }
    print_json_notes(&view);
    printf("}");
}

void elsewhere_print_json(const struct call *call, int dialect,
                          const struct dialect_arguments *arguments)
{
    int first = dialect < 0 ? 0 : dialect;
    int last = dialect < 0 ? DIALECTS - 1 : dialect;
    printf(",\"dialects\":[");
    for (int i = first; i <= last; i++) {
        struct dialect_arguments a =
            dialect < 0 ? taken(i, arguments) : *arguments;
        printf("%s", i > first ? "," : "");
        print_json_dialect(call, i, &a);
    }
    printf("]");
}
