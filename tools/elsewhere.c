/*
 * Turns what dialect.c finds out about two shapes into text and JSON: a table
 * of all systems, or one of them with the call of ours that does the same.
 */
#include "elsewhere.h"

#include <stdio.h>
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

static const elementwise_tensor *placed(const struct call *call,
                                        const struct dialect_view *view)
{
    return call_places_x(call) && !view->y_as_scalar ? call->x : call->y;
}

/* The placed operand's extent at a dimension of the result; -1: it has none
   there. */
static int64_t extent_at(const struct call *call,
                         const struct dialect_view *view, int dim)
{
    const elementwise_tensor *t = placed(call, view);
    int start =
        view->axis == ELEMENTWISE_NUMPY ? view->ndim - t->ndim : view->axis;
    bool covered = dim >= start && dim < start + t->ndim && !view->y_as_scalar;
    return covered ? t->shape[dim - start] : -1;
}

/* The placed operand over the dimensions of the result: "y . 3 4 ." */
static void print_place(const struct call *call,
                        const struct dialect_view *view)
{
    printf("  %s", placed(call, view) == call->x ? "x" : "y");
    for (int dim = 0; dim < view->ndim; dim++) {
        int64_t extent = extent_at(call, view, dim);
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
    struct dialect_view ours = {
        .axis = call_reads_axis(call) ? call->axis : ELEMENTWISE_NUMPY};
    if (view->verdict != DIALECT_LEGAL ||
        elementwise_broadcast_shape(call->x, call->y, call->axis, &ours.ndim,
                                    ours.shape))
        return false;
    bool differs = view->ndim != ours.ndim;
    for (int dim = 0; !differs && dim < ours.ndim; dim++) {
        int64_t there = extent_at(call, view, dim);
        int64_t here = extent_at(call, &ours, dim);
        differs = (there < 0 ? 1 : there) != (here < 0 ? 1 : here);
    }
    return differs;
}

static void print_line(const struct call *call, int dialect,
                       const struct dialect_arguments *given)
{
    struct dialect_arguments a = taken(dialect, given);
    struct dialect_view view;
    char text[DIALECT_REASON];
    dialect_look(dialect, call->op, call->x, call->y, &a, &view);
    printf("    %-11s %-20s ", dialect_name(dialect), arguments_text(&a, text));
    if (view.verdict == DIALECT_LEGAL) {
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

void elsewhere_print_table(const struct call *call,
                           const struct dialect_arguments *arguments)
{
    printf("\n  these shapes elsewhere\n");
    for (int i = 0; i < dialect_count(); i++)
        print_line(call, i, arguments);
}

void elsewhere_print_arguments(int dialect,
                               const struct dialect_arguments *arguments)
{
    char text[DIALECT_REASON];
    arguments_text(arguments, text);
    printf("  as in  %s%s%s", dialect_system(dialect), *text ? ": " : "", text);
}

static void print_ours(const char *before, const struct call *call,
                       const struct dialect_view *view)
{
    char axis[32] = "ELEMENTWISE_NUMPY";
    if (view->axis != ELEMENTWISE_NUMPY)
        snprintf(axis, sizeof axis, "%d", view->axis);
    printf("%s%selementwise_%s(&x, &y, %s, &out)", before,
           view->y_as_scalar ? "y.ndim = 0; " : "",
           elementwise_op_name(call->op), axis);
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
    print_ours("  C      ", call, view);
    printf("\n  NumPy  %s%s\n", reshape,
           reshape[1] ? ", then aligned at the right" : " as it is");
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
    print_ours(",\"c\":\"", call, view);
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
    printf("},\"verdict\":\"%s\"", verdicts[view.verdict]);
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
    int last = dialect < 0 ? dialect_count() - 1 : dialect;
    printf(",\"dialects\":[");
    for (int i = first; i <= last; i++) {
        struct dialect_arguments a =
            dialect < 0 ? taken(i, arguments) : *arguments;
        printf("%s", i > first ? "," : "");
        print_json_dialect(call, i, &a);
    }
    printf("]");
}
