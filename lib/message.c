/*
 * Turns the facts of a failure into this thread's message: one line that
 * names the operation and what is wrong, and for shapes a diagram of how they
 * stood over each other with the axes that would have been legal.
 */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Long enough for a diagram of ordinary extents at rank 64; longer text is
   cut. Thread-local, so the pointer that last_error returns stays valid. */
static _Thread_local char message[4000];

EW_PRINTF(2, 0)
static void add(struct ew_text *text, const char *format, va_list arguments)
{
    size_t used = text->length < text->size ? text->length : text->size;
    char *at = text->size ? text->at + used : NULL;
    int n = vsnprintf(at, text->size - used, format, arguments);
    text->length += n > 0 ? (size_t)n : 0;
}

void ew_text_add(struct ew_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(text, format, arguments);
    va_end(arguments);
}

elementwise_status ew_fail(elementwise_status status, const char *format, ...)
{
    struct ew_text text = {message, sizeof message, 0};
    va_list arguments;
    va_start(arguments, format);
    add(&text, format, arguments);
    va_end(arguments);
    return status;
}

static void add_shape(struct ew_text *text, int ndim, const int64_t *shape)
{
    ew_text_add(text, "(");
    for (int i = 0; i < ndim; i++)
        ew_text_add(text, i ? ",%lld" : "%lld", (long long)shape[i]);
    ew_text_add(text, ")");
}

/* Both operands with their shapes, "x (2,3) and y (3)". */
static void add_operands(struct ew_text *text, const struct ew_alignment *a,
                         const char *between)
{
    ew_text_add(text, "%s ", a->x.name);
    add_shape(text, a->x.tensor->ndim, a->x.tensor->shape);
    ew_text_add(text, "%s%s ", between, a->y.name);
    add_shape(text, a->y.tensor->ndim, a->y.tensor->shape);
}

/* The columns that a diagram needs: an operand that does not fit stands
   partly beyond the result. */
static int columns(const struct ew_alignment *a)
{
    int x = a->x.start + a->x.tensor->ndim;
    int y = a->y.start + a->y.tensor->ndim;
    int n = x > y ? x : y;
    return n > a->ndim ? n : a->ndim;
}

/* Digits of the largest extent; never less than the two of a dimension
   number. */
static int widest(const elementwise_tensor *t)
{
    int width = 2;
    for (int i = 0; i < t->ndim; i++) {
        int n = snprintf(NULL, 0, "%lld", (long long)t->shape[i]);
        width = n > width ? n : width;
    }
    return width;
}

static int column_width(const struct ew_alignment *a)
{
    int x = widest(a->x.tensor), y = widest(a->y.tensor);
    return 2 + (x > y ? x : y);
}

/* The column of names: the longest decides, "operand 10" for instance. */
static int name_width(const struct ew_alignment *a)
{
    size_t x = strlen(a->x.name), y = strlen(a->y.name);
    size_t width = x > y ? x : y;
    return width > 8 ? (int)width : 8;
}

/* One operand: extents in their columns, [1] where a trailing 1 was dropped,
   a dot where the operand has no dimension and counts as 1. */
static void add_row(struct ew_text *text, const struct ew_alignment *a,
                    const struct ew_placed *p, int width)
{
    ew_text_add(text, "\n  %-*s", name_width(a), p->name);
    for (int dim = 0; dim < columns(a); dim++) {
        int own = dim - p->start;
        if (own >= 0 && own < p->ndim)
            ew_text_add(text, "%*lld", width, (long long)p->tensor->shape[own]);
        else if (own >= p->ndim && own < p->tensor->ndim)
            ew_text_add(text, "%*s", width, "[1]");
        else if (dim < a->ndim)
            ew_text_add(text, "%*s", width, ".");
        else if (own < 0)
            ew_text_add(text, "%*s", width, "");
    }
}

/* Dimension numbers, both operands, and a mark under what disagrees. */
static void add_diagram(struct ew_text *text, const struct ew_alignment *a,
                        int dim)
{
    int width = column_width(a), names = name_width(a);
    ew_text_add(text, "\n\n  %-*s", names, "dim");
    for (int i = 0; i < columns(a); i++)
        ew_text_add(text, "%*d", width, i);
    add_row(text, a, &a->x, width);
    add_row(text, a, &a->y, width);
    if (dim >= 0)
        ew_text_add(text, "\n  %*s neither equal nor 1",
                    names + (dim + 1) * width, "^");
    if (a->no_choice)
        ew_text_add(text, "\n  aligned at the right; . counts as 1");
    else
        ew_text_add(text, "\n  axis %d%s; . counts as 1, [1] is dropped",
                    a->axis,
                    a->axis == ELEMENTWISE_NUMPY ? " aligns at the right" : "");
}

/* The axes for which the same two shapes would be legal. */
static void add_advice(struct ew_text *text, const struct ew_alignment *a)
{
    int found = 0;
    for (int axis = ELEMENTWISE_NUMPY; axis < a->ndim && !a->no_choice; axis++)
        if (ew_shape_legal(a, axis))
            ew_text_add(text, "%s%d", found++ ? ", " : "\n  legal: axis ",
                        axis);
    if (found)
        return;
    ew_text_add(text, a->no_choice ? "\n  " : "\n  no axis is legal: ");
    if (a->onto && a->y.tensor->ndim > a->x.tensor->ndim)
        ew_text_add(text,
                    "the rank of %s must be at most %d, and each extent that "
                    "of %s or 1",
                    a->y.name, a->x.tensor->ndim, a->x.name);
    else if (a->onto)
        ew_text_add(text, "each extent of %s must be that of %s or 1",
                    a->y.name, a->x.name);
    else
        ew_text_add(text, "along each dimension the extents must be equal or "
                          "one of them 1");
}

elementwise_status ew_fail_shapes(elementwise_status status,
                                  const struct ew_alignment *a, int dim,
                                  const char *format, ...)
{
    struct ew_text text = {message, sizeof message, 0};
    va_list arguments;
    ew_text_add(&text, "%s: ", a->what);
    va_start(arguments, format);
    add(&text, format, arguments);
    va_end(arguments);
    ew_text_add(&text, ": ");
    add_operands(&text, a, " and ");
    if (status != ELEMENTWISE_BAD_AXIS)
        add_diagram(&text, a, dim);
    add_advice(&text, a);
    return status;
}

/* How the shape of t differs from the one it should have: first at dim. */
static void add_difference(struct ew_text *text, const elementwise_tensor *t,
                           int ndim, const int64_t *shape, int dim)
{
    if (t->ndim != ndim)
        ew_text_add(text, "; the ranks differ, %d and %d", t->ndim, ndim);
    else
        ew_text_add(text, "; dimension %d differs, %lld and %lld", dim,
                    (long long)t->shape[dim], (long long)shape[dim]);
}

elementwise_status ew_fail_out(const struct ew_alignment *a, const char *name,
                               const elementwise_tensor *out,
                               const int64_t *shape, int dim)
{
    struct ew_text text = {message, sizeof message, 0};
    ew_text_add(&text, "%s: %s is ", a->what, name);
    add_shape(&text, out->ndim, out->shape);
    ew_text_add(&text, " but must be ");
    add_shape(&text, a->ndim, shape);
    ew_text_add(&text, ", the shape of ");
    add_operands(&text, a, " with ");
    ew_text_add(&text, " under axis %d", a->axis);
    add_difference(&text, out, a->ndim, shape, dim);
    return ELEMENTWISE_BAD_SHAPE;
}

elementwise_status ew_fail_like(const char *what, const char *name,
                                const elementwise_tensor *t,
                                const char *like_name,
                                const elementwise_tensor *like)
{
    struct ew_text text = {message, sizeof message, 0};
    int dim = 0;
    while (dim < t->ndim && dim < like->ndim &&
           t->shape[dim] == like->shape[dim])
        dim++;
    ew_text_add(&text, "%s: %s is ", what, name);
    add_shape(&text, t->ndim, t->shape);
    ew_text_add(&text, " but must be ");
    add_shape(&text, like->ndim, like->shape);
    ew_text_add(&text, ", the shape of %s", like_name);
    add_difference(&text, t, like->ndim, like->shape, dim);
    return ELEMENTWISE_BAD_SHAPE;
}

const char *elementwise_last_error(void)
{
    return message;
}
