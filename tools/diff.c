/*
 * Turns two .npy files of one shape and type into how far they are apart, and
 * where.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare.h"
#include "operand.h"
#include "slab.h"
#include "text.h"

enum { WORST = 10 };

struct place {
    size_t index; /* in row-major order */
    double ulp;
};

struct summary {
    size_t equal, near, different, zeros; /* zeros of different signs */
    struct place worst[WORST];            /* the worst first */
    int places;
};

static const unsigned char *element_at(const elementwise_tensor *t, size_t i)
{
    int64_t offset = 0, stride = 1;
    for (int dim = t->ndim - 1; dim >= 0; dim--) {
        size_t extent = (size_t)t->shape[dim];
        offset +=
            (int64_t)(i % extent) * (t->strides ? t->strides[dim] : stride);
        stride *= t->shape[dim];
        i /= extent;
    }
    return (const unsigned char *)t->data +
           offset * (int64_t)elementwise_dtype_size(t->dtype);
}

/* Keeps the worst, and of equals the first. */
static void remember(struct summary *s, size_t index, double ulp)
{
    int at = s->places;
    if (at == WORST && s->worst[--at].ulp >= ulp)
        return;
    if (at == s->places)
        s->places++;
    for (; at > 0 && s->worst[at - 1].ulp < ulp; at--)
        s->worst[at] = s->worst[at - 1];
    s->worst[at] = (struct place){index, ulp};
}

static bool is_zero(elementwise_dtype dtype, const unsigned char *element)
{
    return compare_value(dtype, element) == 0;
}

static void compare(const elementwise_tensor *a, const elementwise_tensor *b,
                    size_t n, double bound, struct summary *s)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char *left = element_at(a, i), *right = element_at(b, i);
        double ulp = compare_elements(a->dtype, left, right, 0);
        s->equal += ulp <= 0;
        s->near += ulp > 0 && ulp <= bound;
        s->different += ulp > bound;
        s->zeros +=
            ulp > bound && is_zero(a->dtype, left) && is_zero(a->dtype, right);
        if (ulp > 0)
            remember(s, i, ulp);
    }
}

static void print_side(const char *name, elementwise_dtype dtype,
                       const unsigned char *element)
{
    char decimal[COMPARE_TEXT], hex[COMPARE_TEXT];
    printf("  %s %s (%s)", name, compare_decimal(dtype, element, decimal),
           compare_hex(dtype, element, hex));
}

static void print_summary(const struct operand *a, const struct operand *b,
                          double bound, const struct summary *s)
{
    elementwise_dtype dtype = a->tensor.dtype;
    printf("%s ", elementwise_dtype_name(dtype));
    text_print_shape(a->tensor.ndim, a->tensor.shape);
    printf(": %zu equal, %zu within %g ULP, %zu different", s->equal, s->near,
           bound, s->different);
    if (s->zeros)
        printf(", of which %zu in the sign of a zero", s->zeros);
    putchar('\n');
    for (int k = 0; k < s->places; k++) {
        char index[128];
        size_t i = s->worst[k].index;
        compare_index(a->tensor.ndim, a->tensor.shape, i, index, sizeof index);
        printf("  %s", index);
        print_side("a", dtype, element_at(&a->tensor, i));
        print_side("b", dtype, element_at(&b->tensor, i));
        printf("  %.3g ULP\n", s->worst[k].ulp);
    }
}

static bool same_layout(const struct operand *a, const struct operand *b)
{
    const elementwise_tensor *s = &a->tensor, *t = &b->tensor;
    bool same = s->dtype == t->dtype && s->ndim == t->ndim;
    for (int i = 0; i < s->ndim && same; i++)
        same = s->shape[i] == t->shape[i];
    return same;
}

static void print_layouts(const struct operand operand[2])
{
    for (int k = 0; k < 2; k++) {
        const elementwise_tensor *t = &operand[k].tensor;
        printf("%s%s ", k ? ", but b is " : "a is ",
               elementwise_dtype_name(t->dtype));
        text_print_shape(t->ndim, t->shape);
    }
    putchar('\n');
}

static int diff(const struct arguments *arguments, struct operand operand[2])
{
    struct summary summary = {.equal = 0};
    double bound = arguments->ulp < 0 ? 0 : arguments->ulp;
    if (!same_layout(&operand[0], &operand[1])) {
        print_layouts(operand);
        return COMMAND_DIFFERENT;
    }
    elementwise_dtype dtype = operand[0].tensor.dtype;
    compare(&operand[0].tensor, &operand[1].tensor,
            operand[0].header.nbytes / elementwise_dtype_size(dtype), bound,
            &summary);
    if (summary.equal * elementwise_dtype_size(dtype) !=
        operand[0].header.nbytes)
        print_summary(&operand[0], &operand[1], bound, &summary);
    return summary.different ? COMMAND_DIFFERENT : COMMAND_DONE;
}

int command_diff(const struct arguments *arguments)
{
    struct operand operand[2] = {{.map = NULL}, {.map = NULL}};
    const struct arguments *a = arguments;
    if (a->count != 2)
        return command_fail(COMMAND_USAGE, "diff: two files are needed");
    int code = COMMAND_DONE;
    for (int k = 0; k < 2 && !code; k++)
        code = operand_open(&operand[k], a->operands[k], a->bf16);
    for (int k = 0; k < 2 && !code; k++)
        code = slab_load(&operand[k]);
    if (!code)
        code = diff(a, operand);
    operand_close(&operand[0]);
    operand_close(&operand[1]);
    return code;
}
