/*
 * Turns two tables, layouts and the operations that they are run with, into
 * the list of all rows: every type that has the operation is a row of its own.
 */
#include "bench.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * "x,y@axis"; without @ they are aligned at the right. An operand is "scalar",
 * "scalar=3" if it has to be 3, for types that have that, but not in place, or
 * its extents and what is not dense about it:
 *
 *     :ba   its dimensions in the order in which they lie in memory
 *     /2    the distance between neighbours of the innermost; /-1 reverses
 *     ~2    elements left out at the end of each innermost row
 *
 * y may be "x", the same tensor. At the end, ">x" writes the result to x, and
 * ">:ba/2~1" lays it out like that, as it does dout of a gradient.
 */
static const struct layout {
    const char *id, *text;
} layouts[] = {
    /* Small calls: what a call costs */
    {"P1.1", "1,1"},
    {"P1.16", "16,16"},
    {"P1.100", "100,100"},
    {"P1.4d", "2x3x4x5,2x3x4x5"},
    {"P1.bias", "2x3x4x5,3@1"},
    /* Contiguous, by level of the memory */
    {"P2.1K", "1024,1024"},
    {"P2.64K", "65536,65536"},
    {"P2.1M", "1048576,1048576"},
    {"P2.16M", "16777216,16777216"},
    /* A scalar on either side */
    {"P3.y", "65536,scalar"},
    {"P3.x", "scalar,65536"},
    /* Numbers whose powers have a formula */
    {"N.2", "65536,scalar=2"},
    {"N.3", "65536,scalar=3"},
    {"N.0.5", "65536,scalar=0.5"},
    {"N.-1", "65536,scalar=-1"},
    {"N.-0.5", "65536,scalar=-0.5"},
    /* Bias per channel: large planes, small planes, channels last */
    {"P4", "64x128x28x28,128@1"},
    {"P5", "64x512x7x7,512@1"},
    {"P6.128", "64x28x28x128,128"},
    {"P6.3", "64x56x56x3,3"},
    {"P6.4", "64x56x56x4,4"},
    /* Outer sum; matrix with a row or a column */
    {"P7", "1024x1,1x1024"},
    {"P8.row", "4096x4096,4096"},
    {"P8.col", "4096x4096,4096x1"},
    /* Operands that lie in memory in different orders */
    {"P9.T", "2048x2048:ba,2048x2048"},
    {"P9.1984", "1984x1984:ba,1984x1984"},
    {"P9.TT", "2048x2048:ba,2048x2048:ba"},
    {"P9.cba", "64x128x256:cba,64x128x256"},
    {"P9.bac", "64x128x256:bac,64x128x256"},
    {"P9.acb", "64x128x256:acb,64x128x256"},
    {"P9.nhwc", "16x64x56x56:acdb,16x64x56x56"},
    /* Rows shorter than a vector, or not much longer */
    {"P10.3", "100000x3,3"},
    {"P10.3c", "100000x3,100000x1"},
    {"P10.5", "65536x5,5"},
    {"P10.7", "65536x7,7"},
    {"P10.7c", "65536x7,65536x1"},
    {"P10.13", "32768x13,13"},
    {"P10.13c", "32768x13,32768x1"},
    {"P10.49", "256x49,49"},
    {"P10.49c", "256x49,256x1"},
    /* Attention mask; several stretched dimensions on both sides */
    {"P11", "32x12x128x128,32x1x1x128"},
    {"P12.6d", "2x3x4x1x5x6,3x1x7x1x6"},
    {"P12.5d", "8x1x16x1x32,1x64x1x16x1"},
    {"P12.4d", "1x32x32x2,1024x1x1x2"},
    /* Gaps: every second element, reversed, without an edge */
    {"P13.2", "2048x1024/2,2048x1024/2"},
    {"P13.-1", "1048576/-1,1048576"},
    {"P13.crop", "2048x2046~2,2048x2046~2"},
    /* and in the result, which may be turned, too */
    {"P13.out2", "2048x1024,2048x1024>/2"},
    {"P13.outT", "1984x1984,1984x1984>:ba"},
    /* In place, and an operand with itself */
    {"P14.64K", "65536,65536>x"},
    {"P14.16M", "16777216,16777216>x"},
    {"P14.bias", "64x128x28x28,128@1>x"},
    {"P14.self", "65536,x"},
    /* No elements; one, without dimensions */
    {"P15.0", "0x128,128"},
    {"P15.0d", "scalar,scalar"},
    /* Gradients: of a bias, a row, a column, a scalar, of nothing stretched */
    {"B1.channel", "64x128x28x28,128@1"},
    {"B1.small", "64x512x7x7,512@1"},
    {"B1.last", "64x28x28x128,128"},
    {"B1.row", "2048x2048,2048"},
    {"B1.col", "2048x2048,2048x1"},
    {"B1.scalar", "1048576,scalar"},
    {"B1.same", "1048576,1048576"},
    {"B1.T", "1024x1024:ba,1024x1024"},
    {"B1.odd", "4096x111,111"},
    {"B1.short", "16384x15,15"},
    {"B1.bias", "2x3x4x5,3@1"},
    /* Sums of x in y's shape */
    {"B2.row", "4096x4096,4096"},
    {"B2.col", "4096x4096,4096x1"},
    {"B2.channel", "64x128x28x28,128@1"},
    {"B2.small", "64x512x7x7,512@1"},
    {"B2.last", "50176x128,128"},
    {"B2.scalar", "1048576,scalar"},
    /* and where they stay in the caches */
    {"B2.row.256K", "512x512,512"},
    {"B2.col.256K", "512x512,512x1"},
    {"B2.small.196K", "64x64x7x7,64@1"},
    {"B2.few", "65536x8,8"},
    {"B2.bias", "2x3x4x5,3@1"},
};

const elementwise_dtype bench_types[BENCH_TYPES] = {
    ELEMENTWISE_F32,  ELEMENTWISE_F64,  ELEMENTWISE_F16,
    ELEMENTWISE_BF16, ELEMENTWISE_I32,  ELEMENTWISE_I64,
    ELEMENTWISE_U8,   ELEMENTWISE_BOOL, ELEMENTWISE_C64,
};

/* Which operations are run on which layouts: three on all, the others on
   contiguous ones (slow ones that are not the largest), scalars and biases,
   and the rest on contiguous ones of two sizes. */
static const struct set {
    const char *ids;
    struct bench_work work;
} sets[] = {
    {"P*", {BENCH_FORWARD, ELEMENTWISE_ADD, 0}},
    {"P*", {BENCH_FORWARD, ELEMENTWISE_MAX, 0}},
    {"P*", {BENCH_FORWARD, ELEMENTWISE_DIV, 0}},
    {"P[234]*", {BENCH_FORWARD, ELEMENTWISE_MUL, 0}},
    {"P[234]*", {BENCH_FORWARD, ELEMENTWISE_LESS_THAN, 0}},
    {"P[234]*", {BENCH_FORWARD, ELEMENTWISE_EQUAL, 0}},
    {"P[234]*", {BENCH_FORWARD, ELEMENTWISE_BITWISE_AND, 0}},
    /* The same set, as two would be run twice on a layout that is given. */
    {"[PN][234.]*[!M]", {BENCH_FORWARD, ELEMENTWISE_POW, 0}},
    {"P2.1M", {BENCH_FORWARD, ELEMENTWISE_POW, 0}},
    {"P[234]*[!M]", {BENCH_FORWARD, ELEMENTWISE_MOD, 0}},
    {"P2.1M", {BENCH_FORWARD, ELEMENTWISE_MOD, 0}},
    {"P[234]*[!M]", {BENCH_FORWARD, ELEMENTWISE_FLOORDIV, 0}},
    {"P2.1M", {BENCH_FORWARD, ELEMENTWISE_FLOORDIV, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_FMAX, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_FMIN, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_FMOD, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_ATAN2, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_HYPOT, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_COPYSIGN, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_NEXTAFTER, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_LOGADDEXP, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_BITWISE_LEFT_SHIFT, 0}},
    {"P2.[16][4M]*", {BENCH_FORWARD, ELEMENTWISE_BITWISE_RIGHT_SHIFT, 0}},
    {"P[24]*", {BENCH_FORWARD, ELEMENTWISE_ADD, ELEMENTWISE_ACT_RELU}},
    {"P[24]*", {BENCH_FORWARD, ELEMENTWISE_ADD, ELEMENTWISE_ACT_SIGMOID}},
    {"P[24]*", {BENCH_FORWARD, ELEMENTWISE_ADD, ELEMENTWISE_ACT_TANH}},
    {"P[24]*", {BENCH_FORWARD, ELEMENTWISE_ADD, ELEMENTWISE_ACT_GELU}},
    {"P[24]*", {BENCH_FORWARD, ELEMENTWISE_ADD, ELEMENTWISE_ACT_SILU}},
    {"B1*", {BENCH_GRADIENT, ELEMENTWISE_ADD, 0}},
    {"B1*", {BENCH_GRADIENT, ELEMENTWISE_MUL, 0}},
    {"B1*", {BENCH_GRADIENT, ELEMENTWISE_DIV, 0}},
    {"B1.same", {BENCH_GRADIENT, ELEMENTWISE_POW, 0}},
    {"B2*", {BENCH_SUM, ELEMENTWISE_ADD, 0}},
};

enum {
    LAYOUTS = sizeof layouts / sizeof *layouts,
    SETS = sizeof sets / sizeof *sets
};

/* Order, step and margin; where they end. Without an order it is that of the
   shape. */
static const char *parse_strides(const char *text, struct bench_layout *l)
{
    char *end = (char *)text;
    for (int i = 0; i < BENCH_NDIM; i++)
        l->order[i] = i;
    if (*end == ':')
        for (int i = 0; islower((unsigned char)*++end) && i < BENCH_NDIM; i++)
            l->order[i] = *end - 'a';
    if (*end == '/')
        l->step = strtoll(end + 1, &end, 10);
    if (*end == '~')
        l->margin = strtoll(end + 1, &end, 10);
    return end;
}

/* "=3" or nothing; where it ends. */
static const char *parse_number(const char *text, struct bench_layout *l)
{
    char *end;
    double number = *text == '=' ? strtod(text + 1, &end) : NAN;
    if (!isfinite(number) || end == text + 1)
        return text;
    l->number = number;
    return end;
}

/* The operand at the start of text; where it ends. */
static const char *parse_operand(const char *text, struct bench_layout *l)
{
    *l = (struct bench_layout){.step = 1, .number = NAN};
    if (strncmp(text, "scalar", 6) == 0)
        return parse_number(text + 6, l);
    char *end;
    l->shape[l->ndim++] = strtoll(text, &end, 10);
    while (*end == 'x' && l->ndim < BENCH_NDIM) {
        l->shape[l->ndim] = strtoll(end + 1, &end, 10);
        l->ndim++;
    }
    return parse_strides(end, l);
}

static bool is_operand(const char *text)
{
    return isdigit((unsigned char)*text) || strncmp(text, "scalar", 6) == 0;
}

/* False: there is something else. */
static bool parse(struct bench_pattern *p, const char *text)
{
    if (!is_operand(text))
        return false;
    const char *y = parse_operand(text, &p->x), *end;
    p->axis = ELEMENTWISE_NUMPY;
    p->y.number = NAN;
    p->out = (struct bench_layout){.step = 1};
    parse_strides("", &p->out);
    p->target = BENCH_SELF;
    if (*y++ != ',')
        return false;
    if (*y == 'x')
        return !y[1];
    if (!is_operand(y))
        return false;
    end = parse_operand(y, &p->y);
    if (*end == '@') {
        long axis = strtol(end + 1, (char **)&end, 10);
        bool is_axis = axis >= -1 && axis <= BENCH_NDIM;
        p->axis = is_axis ? (int)axis : BENCH_NDIM + 1; /* of no shape */
    }
    p->target = strcmp(end, ">x") == 0 ? BENCH_IN_PLACE : BENCH_APART;
    if (p->target == BENCH_IN_PLACE) /* y is 1, so that x stays what it is */
        return isnan(p->x.number) && isnan(p->y.number);
    return !*(*end == '>' ? parse_strides(end + 1, &p->out) : end);
}

/* Whether the layout of an operand of so many dimensions has all in some order,
   no two elements in one place, and so few that no sum of steps overflows. */
static bool is_possible(const struct bench_layout *l, int ndim)
{
    const int64_t most = INT32_MAX;
    unsigned found = 0;
    double span = 1;
    for (int i = 0; i < ndim; i++) {
        if (l->order[i] < 0 || l->order[i] >= ndim)
            return false;
        found |= 1u << l->order[i];
        span *= fmax((double)l->shape[i], 1);
    }
    return found == (1u << ndim) - 1 && l->step != 0 && l->margin >= 0 &&
           l->step >= -most && l->step <= most && l->margin <= most &&
           span <= (double)most;
}

/* Whether shapes fit. */
static bool broadcasts(const struct bench_pattern *p)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, p->x.ndim, p->x.shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, p->y.ndim, p->y.shape, NULL};
    return elementwise_broadcast_shape(&x, &y, p->axis, &ndim, shape) ==
           ELEMENTWISE_OK;
}

/* Says what is wrong. */
static bool is_layout(const char *text)
{
    struct bench_pattern p = {.axis = ELEMENTWISE_NUMPY};
    if (!parse(&p, text)) {
        fprintf(stderr, "'%s' is no layout; 7x4:ba,4 would be one\n", text);
        return false;
    }
    if (p.target == BENCH_SELF)
        p.y = p.x;
    if (!broadcasts(&p)) {
        fprintf(stderr, "'%s': %s\n", text, elementwise_last_error());
        return false;
    }
    int ndim = p.x.ndim > p.y.ndim ? p.x.ndim : p.y.ndim;
    if (!is_possible(&p.x, p.x.ndim) || !is_possible(&p.y, p.y.ndim) ||
        !is_possible(&p.out, ndim)) {
        fprintf(stderr,
                "'%s': an order has each of the dimensions once, a for the "
                "first; steps are not 0, margins not below 0, and all below "
                "2^31\n",
                text);
        return false;
    }
    return true;
}

/* A version of the library without act refuses it. */
static bool has_act(const struct bench_row *row)
{
    uint64_t zeros[3] = {0};
    elementwise_tensor t[3];
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    for (int k = 0; k < 3; k++)
        t[k] = (elementwise_tensor){&zeros[k], row->type, 0, NULL, NULL};
    options.act = row->act;
    return row->type >= ELEMENTWISE_F16 && row->type <= ELEMENTWISE_F64 &&
           elementwise_apply(row->op, &t[0], &t[1], ELEMENTWISE_NUMPY, &t[2],
                             &options) == ELEMENTWISE_OK;
}

/* Whether a type has the number that an operand has to be: integers those that
   all of them have and that divide. */
static bool has_number(elementwise_dtype type, double number)
{
    double most = type == ELEMENTWISE_BOOL ? 1 : INT8_MAX;
    return isnan(number) || type >= ELEMENTWISE_F16 ||
           (number >= 1 && number <= most && number == floor(number));
}

/* Whether the operation has the type, and can write it in place. */
static bool exists(const struct bench_row *row)
{
    elementwise_dtype type = row->type, result;
    if (elementwise_result_type(row->op, type, type, &result) !=
            ELEMENTWISE_OK ||
        !has_number(type, row->pattern.x.number) ||
        !has_number(type, row->pattern.y.number))
        return false;
    if (row->pattern.kind != BENCH_FORWARD)
        return type >= ELEMENTWISE_F16;
    if (row->act && !has_act(row))
        return false;
    return row->pattern.target != BENCH_IN_PLACE || result == type;
}

bool bench_row_make(struct bench_row *row, const char *id, const char *layout,
                    const struct bench_work *work, elementwise_dtype type)
{
    *row = (struct bench_row){.op = work->op, .act = work->act, .type = type};
    bool right = parse(&row->pattern, layout);
    row->pattern.kind = work->kind;
    snprintf(row->name, sizeof row->name, "%s %s %s%s%s%s %s", id, layout,
             work->kind == BENCH_SUM ? "sum_to" : elementwise_op_name(row->op),
             work->kind == BENCH_GRADIENT ? "_grad" : "", row->act ? "+" : "",
             row->act ? elementwise_act_name(row->act) : "",
             elementwise_dtype_name(type));
    return right && exists(row);
}

struct bench_row *bench_rows(int *count)
{
    struct bench_row *rows = calloc(SETS * LAYOUTS * BENCH_TYPES, sizeof *rows);
    *count = 0;
    for (int s = 0; rows && s < SETS; s++)
        for (int l = 0; l < LAYOUTS; l++)
            for (int t = 0; t < BENCH_TYPES; t++)
                if (fnmatch(sets[s].ids, layouts[l].id, 0) == 0)
                    *count += bench_row_make(&rows[*count], layouts[l].id,
                                             layouts[l].text, &sets[s].work,
                                             bench_types[t]);
    return rows;
}

/* The sets that an operation has in common differ in layouts only. */
struct bench_row *bench_layout_rows(const char *layout, int *count)
{
    *count = 0;
    if (!is_layout(layout))
        return NULL;
    struct bench_row *rows = calloc(SETS * BENCH_TYPES, sizeof *rows);
    for (int s = 0; rows && s < SETS; s++)
        for (int t = 0; t < BENCH_TYPES; t++)
            if (strcmp(sets[s].ids, "P2.1M") != 0)
                *count += bench_row_make(&rows[*count], "given", layout,
                                         &sets[s].work, bench_types[t]);
    return rows;
}
