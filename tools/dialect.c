/*
 * Turns two shapes, a system's name and its arguments into what that system
 * makes of them. One function reads them all: systems differ in the entries
 * of a table, because they never disagree on where an operand goes, only on
 * what is allowed there.
 */
#include "dialect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "call.h"

/* What an axis below 0 means. */
enum negative { RIGHT_IS_MINUS_1, FROM_THE_END, NO_NEGATIVE };

/* What an axis must be below, apart from the fit. */
enum limit { ONLY_THE_FIT, AXIS_BELOW_RANK, START_BELOW_RANK };

/* Operands that go anywhere, whatever the axis. */
enum scalar { NO_SCALAR, RANK_0, ONE_ELEMENT_OF_NO_LARGER_RANK, ONE_ELEMENT };

/* When 1s at the ends of the placed operand are dropped. */
enum trim { NEVER, TRAILING_BEFORE_FIT, BOTH_ENDS_AFTER_FIT };

enum stretch { NEITHER, ONLY_Y, EITHER };

struct rule {
    bool equal_only;  /* shapes must be equal, nothing else is read */
    bool unbroadcast; /* so they need not be with broadcast=1 */
    bool no_axis;     /* one but -1 is refused */
    bool equal_first; /* equal shapes pass before anything else is read */
    bool places_x;    /* if x has the smaller rank; otherwise it must not */
    bool equal_ranks_at_0;
    bool misfit_is_undefined;
    int axis; /* the default */
    enum negative negative;
    enum limit limit;
    enum scalar scalar;
    enum trim trim;
    enum stretch stretch;
    int most_groups; /* of dimensions that are stretched alike; 0: any */
};

static const struct rule right = {
    .places_x = true, .axis = -1, .stretch = EITHER};

static const struct rule right_in_5 = {
    .places_x = true, .axis = -1, .stretch = EITHER, .most_groups = 5};

static const struct rule equal = {.equal_only = true};

static const struct rule equal_unbroadcast = {.equal_only = true,
                                              .unbroadcast = true};

static const struct rule equal_without_axis = {
    .equal_only = true, .unbroadcast = true, .no_axis = true, .axis = -1};

static const struct rule paddle1 = {.equal_first = true,
                                    .misfit_is_undefined = true,
                                    .axis = -1,
                                    .limit = START_BELOW_RANK,
                                    .trim = TRAILING_BEFORE_FIT};

static const struct rule paddle2 = {.equal_first = true,
                                    .places_x = true,
                                    .equal_ranks_at_0 = true,
                                    .misfit_is_undefined = true,
                                    .axis = -1,
                                    .limit = AXIS_BELOW_RANK,
                                    .stretch = EITHER};

static const struct rule caffe = {.axis = 1,
                                  .negative = FROM_THE_END,
                                  .limit = AXIS_BELOW_RANK,
                                  .scalar = RANK_0};

static const struct rule caffe2 = {
    .axis = -1, .scalar = ONE_ELEMENT, .trim = BOTH_ENDS_AFTER_FIT};

static const struct rule onnx6 = {.axis = -1,
                                  .negative = NO_NEGATIVE,
                                  .scalar = ONE_ELEMENT_OF_NO_LARGER_RANK};

static const struct rule pdpd = {.axis = -1, .stretch = ONLY_Y};

#define ARITHMETIC " add sub mul div pow "
#define PADDLE " max min mod floordiv truncdiv fmod "
#define COMPARISONS                                                            \
    " equal not_equal less_than less_equal greater_than greater_equal "
#define MAX_MIN " max min "
#define LOGIC " logical_and logical_or logical_xor "
#define BITWISE " bitwise_and bitwise_or bitwise_xor "
#define SHIFTS " bitwise_left_shift bitwise_right_shift "

/* An operation that the system has follows its rule, unless it is among those
   of equal shapes, or among those that are aligned at the right. */
static const struct dialect {
    const char *name, *system;
    unsigned takes;
    const struct rule *rule;
    const struct rule *unbroadcast; /* without broadcast=1 */
    const char *equal_operations, *right_operations;
    int most_axes;         /* 0: no limit */
    int64_t most_elements; /* likewise */
} dialects[DIALECTS] = {
    [DIALECT_NUMPY] = {.name = "numpy", .system = "NumPy", .rule = &right},
    [DIALECT_TORCH] = {.name = "torch", .system = "PyTorch", .rule = &right},
    [DIALECT_TENSORFLOW] = {.name = "tensorflow",
                            .system = "TensorFlow",
                            .rule = &right_in_5},
    [DIALECT_ONNX7] = {.name = "onnx7",
                       .system = "ONNX from opset 7 on",
                       .rule = &right},
    [DIALECT_ONNX6] = {.name = "onnx6",
                       .system = "ONNX up to opset 6",
                       .takes = DIALECT_AXIS | DIALECT_BROADCAST,
                       .rule = &onnx6,
                       .unbroadcast = &equal_unbroadcast,
                       .equal_operations = MAX_MIN},
    [DIALECT_PADDLE1] = {.name = "paddle1",
                         .system = "Paddle up to 1.5",
                         .takes = DIALECT_AXIS,
                         .rule = &paddle1,
                         .equal_operations = LOGIC,
                         .most_axes = 9},
    [DIALECT_PADDLE2] = {.name = "paddle2",
                         .system = "Paddle from 1.7 on",
                         .takes = DIALECT_AXIS,
                         .rule = &paddle2,
                         .right_operations =
                             " fmax fmin heaviside atan2 hypot copysign "
                             "nextafter logaddexp" COMPARISONS LOGIC BITWISE
                                 SHIFTS,
                         .most_axes = 9},
    [DIALECT_CAFFE] = {.name = "caffe",
                       .system = "Caffe",
                       .takes = DIALECT_AXIS | DIALECT_NUM_AXES,
                       .rule = &caffe,
                       .equal_operations = " sub max ",
                       .most_axes = 32,
                       .most_elements = INT32_MAX},
    [DIALECT_CAFFE2] = {.name = "caffe2",
                        .system = "Caffe2",
                        .takes = DIALECT_AXIS | DIALECT_BROADCAST,
                        .rule = &caffe2,
                        .unbroadcast = &right,
                        .equal_operations = MAX_MIN},
    [DIALECT_PDPD] = {.name = "pdpd",
                      .system = "OpenVINO, auto_broadcast=pdpd",
                      .takes = DIALECT_AXIS,
                      .rule = &pdpd},
};

/* What a note is said about. */
enum {
    DIFFERENT = 1, /* the shapes are */
    X_PLACED = 2,
    AXIS_IGNORED = 4,
    RANK_0_AT_RIGHT = 8,
    EXTENT_0 = 16,
    REFUSED = 32,
    EQUAL = 64,
    INTEGERS = 128,
    NO_AXIS_GIVEN = 256,
    PLACED = 512,         /* elsewhere than at the right */
    PLACED_INSIDE = 1024, /* nor at 0 */
    FLOATS = 2048,
    RIGHT_RULE = 4096,   /* the operation follows NumPy's rule */
    ABOVE_32 = 8192,     /* dimensions */
    NO_SUCH_AXIS = 16384 /* a negative one, of which the system says nothing */
};

/* What else there is to know about a system, where all of when holds. */
static const struct note {
    const char *name, *operations;
    unsigned when;
    const char *text;
} notes[] = {
    {"paddle1", NULL, REFUSED | DIFFERENT,
     "1.6 stretches one interior 1 of y; 1.7 and 1.8 are paddle2's"},
    {"paddle2", NULL, RANK_0_AT_RIGHT,
     "up to 2.4 an operand of rank 0 is refused under axis -1"},
    {"paddle2", NULL, EXTENT_0,
     "before 3.x an extent of 0 comes out as -1 or as the other extent"},
    {"paddle2", " pow ", X_PLACED,
     "values: up to 2.4 this is computed as y to the power x on CPUs"},
    {"paddle2", " floordiv mod ", X_PLACED,
     "values: 1.7 and 1.8 compute this with x and y exchanged"},
    {"paddle2", " less_than less_equal greater_than greater_equal ", X_PLACED,
     "values: 2.0 computes this with x and y exchanged"},
    {"paddle2", " heaviside ", X_PLACED,
     "values: up to 2.6 computed with x and y exchanged on CPUs"},
    {"paddle1", " floordiv ", 0, "values: truncates, as truncdiv does here"},
    {"paddle2", " floordiv ", 0,
     "values: up to 2.5 truncates, as truncdiv does here"},
    {"paddle1", " mod ", INTEGERS,
     "values: takes the sign of x, as fmod does here"},
    {"paddle2", " mod ", INTEGERS,
     "values: up to 1.8 takes the sign of x, as fmod does here"},
    {"paddle1", MAX_MIN, 0,
     "values: where one is NaN the result is y; here it is NaN"},
    {"paddle2", MAX_MIN, 0,
     "values: up to 2.6 y where one is NaN, or x if its rank is smaller; here "
     "NaN"},
    {"caffe", MAX_MIN, 0,
     "values: where one is NaN the result is y; here it is NaN"},
    {"paddle1", " equal not_equal ", 0,
     "values: floats closer than 1e-8 are equal"},
    {"paddle2", " equal not_equal ", 0,
     "values: f32 and f64 closer than 1e-8 are equal, in 3.3 than 1e-15"},
    {"paddle2", " fmax fmin ", INTEGERS,
     "values: i32 goes through f32 and i64 through f64"},
    {"caffe", " add ", EQUAL, "values: Eltwise makes 0 of -0 and -0"},
    {"numpy", " div ", INTEGERS, "values: integers give a float there"},
    {"torch", " div ", INTEGERS, "values: integers give a float there"},
    {"tensorflow", " div ", INTEGERS, "values: integers give a float there"},
    {"numpy", NULL, ABOVE_32, "NumPy 1.x has at most 32 dimensions"},
    {"torch", " floordiv ", 0,
     "values: up to 1.12 truncates, as truncdiv does here"},
    {"paddle2", " truncdiv ", 0,
     "values: up to 2.5; later it rounds down, as floordiv here"},
    {"paddle2", " fmod ", INTEGERS,
     "values: up to 1.8; later it takes the sign of y, as mod here"},
    {"paddle2", " fmod ", FLOATS,
     "values: of integers up to 1.8; otherwise as mod here"},
    {"paddle1", " fmod ", FLOATS,
     "values: of integers; floats are as mod here"},
    {"paddle2", " fmax fmin ", 0, "from 2.3 on"},
    {"paddle2", " heaviside ", 0, "from 2.4 on"},
    {"paddle2", BITWISE, 0, "from 2.2 on"},
    {"paddle2", " atan2 nextafter ", DIFFERENT, "2.6 needs equal shapes here"},
    {"paddle2", " copysign " SHIFTS, 0, "not in 2.6; in 3.3"},
    {"paddle2", NULL, AXIS_IGNORED,
     "axis is ignored: this operation aligns at the right"},
    {"caffe2", NULL, AXIS_IGNORED,
     "axis is ignored without broadcast=1; in 2017 it was refused, and so "
     "were shapes that differ"},
    {"onnx6", NULL, NO_SUCH_AXIS,
     "ONNX is silent on negative axes: here refused, and not read where y has "
     "one element"},
    {"onnx6", NULL, PLACED,
     "the onnx package's reference evaluator, 1.23, ignores axis"},
    {"onnx6", NULL, PLACED_INSIDE,
     "ONNX's converter from opset 6 to 7 refuses this axis or gets it wrong"},
    {"pdpd", NULL, NO_AXIS_GIVEN | DIFFERENT,
     "OpenVINO's Python functions have no axis, and place at 0"},
    {"pdpd", " sub div ", PLACED,
     "OpenVINO's CPU plugin, 2026.4, aligns this at the right"},
    {"onnx7", MAX_MIN, DIFFERENT, "opset 7 itself needs equal shapes here"},
    {"onnx7", " mod fmod ", 0, "from opset 10 on"},
    {"onnx7", " mod ", FLOATS, "up to opset 27 floats are refused"},
    {"onnx7", " less_equal greater_equal ", 0, "from opset 12 on"},
    {"onnx7", BITWISE, 0, "from opset 18 on"},
    {"onnx7", SHIFTS, 0, "from opset 11 on; up to 27 of unsigned types"},
    {"caffe2", COMPARISONS, DIFFERENT | RIGHT_RULE,
     "the kernel broadcasts, but inferring shapes needs equal ones unless "
     "broadcast=1"},
    {"pdpd", " div ", INTEGERS,
     "values: rounds down, as floordiv here, unless m_pythondiv is false"},
    {"pdpd", BITWISE, 0, "from opset 13 on"},
    {"pdpd", SHIFTS, 0, "from opset 15 on"},
};
enum { ALL_NOTES = sizeof notes / sizeof *notes };

const char *dialect_name(int dialect)
{
    return dialects[dialect].name;
}

const char *dialect_system(int dialect)
{
    return dialects[dialect].system;
}

unsigned dialect_takes(int dialect)
{
    return dialects[dialect].takes;
}

int dialect_default_axis(int dialect)
{
    return dialects[dialect].rule->axis;
}

int dialect_from_name(const char *name)
{
    for (int i = 0; i < DIALECTS; i++)
        if (!strcmp(name, dialects[i].name))
            return i;
    return -1;
}

/* A call as one rule reads it. first and last bound the dimensions of the
   placed operand that are not dropped. */
struct look {
    const struct rule *rule;
    const elementwise_tensor *x, *y, *over, *placed;
    const struct dialect_arguments *arguments;
    int start, first, last;
    struct dialect_view *view;
};

__attribute__((format(printf, 3, 4))) static bool
refuse(struct look *look, enum dialect_verdict verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(look->view->reason, DIALECT_REASON, format, arguments);
    va_end(arguments);
    look->view->verdict = verdict;
    return false;
}

static bool is_scalar(const struct look *look)
{
    const elementwise_tensor *x = look->x, *y = look->y;
    switch (look->rule->scalar) {
    case RANK_0:
        return y->ndim == 0 && !(look->arguments->given & DIALECT_NUM_AXES);
    case ONE_ELEMENT_OF_NO_LARGER_RANK:
        return call_kept(y) == 0 && y->ndim <= x->ndim;
    case ONE_ELEMENT:
        return call_kept(y) == 0;
    case NO_SCALAR:
        break;
    }
    return false;
}

/* Which operand is placed over which. */
static bool find_placed(struct look *look)
{
    bool x_placed = look->x->ndim < look->y->ndim;
    look->over = x_placed ? look->y : look->x;
    look->placed = x_placed ? look->x : look->y;
    if (x_placed && !look->rule->places_x)
        return refuse(look, DIALECT_ILLEGAL,
                      "the rank of y, %d, is larger than that of x, %d",
                      look->y->ndim, look->x->ndim);
    return true;
}

/* Turns the system's axis into the dimension where the operand starts. */
static bool find_start(struct look *look)
{
    const struct rule *rule = look->rule;
    bool given = look->arguments->given & DIALECT_AXIS;
    int axis = given ? look->arguments->axis : rule->axis;
    int rank = look->over->ndim, at_right = rank - look->placed->ndim;
    int least = rule->negative == FROM_THE_END           ? -rank
                : rule->negative == NO_NEGATIVE && given ? 0
                                                         : -1;
    look->start = axis;
    if (axis < 0)
        look->start = rule->negative == FROM_THE_END ? axis + rank : at_right;
    if (rule->equal_ranks_at_0 && at_right == 0 && axis != 0 && axis != -1)
        return refuse(look, DIALECT_ILLEGAL,
                      "axis %d: with equal ranks it must be -1 or 0", axis);
    if (axis < least || (rule->limit != ONLY_THE_FIT && axis >= rank))
        return refuse(look, DIALECT_ILLEGAL, "axis %d is not in %d ... %d",
                      axis, least,
                      rule->limit ? rank - 1 : (at_right < 0 ? 0 : at_right));
    if (rule->limit == START_BELOW_RANK && look->start >= rank)
        return refuse(look, DIALECT_ILLEGAL,
                      "a y of rank 0 would start at dimension %d, and the "
                      "last one is %d",
                      look->start, rank - 1);
    return true;
}

static bool check_fit(struct look *look)
{
    const struct rule *rule = look->rule;
    const elementwise_tensor *placed = look->placed;
    look->first = 0;
    look->last =
        rule->trim == TRAILING_BEFORE_FIT ? call_kept(placed) : placed->ndim;
    if (look->last > look->over->ndim - look->start && look->last > 0)
        return refuse(
            look,
            rule->misfit_is_undefined ? DIALECT_UNDEFINED : DIALECT_ILLEGAL,
            "%d dimension%s of %s from dimension %d on reach past %d, the "
            "last%s",
            look->last, look->last == 1 ? "" : "s",
            placed == look->x ? "x" : "y", look->start, look->over->ndim - 1,
            rule->misfit_is_undefined ? ", which is not checked" : "");
    if (look->start > look->over->ndim)
        return refuse(look, DIALECT_ILLEGAL, "axis %d is past %d, the rank",
                      look->start, look->over->ndim);
    if (rule->trim != BOTH_ENDS_AFTER_FIT)
        return true;
    look->last = call_kept(placed);
    while (look->first < look->last && placed->shape[look->first] == 1)
        look->first++;
    return true;
}

/* The learned operand's shape is cut out of x. */
static bool check_learned(struct look *look)
{
    const struct dialect_arguments *a = look->arguments;
    int n = a->num_axes == -1 ? look->x->ndim - look->start : a->num_axes;
    if (!(a->given & DIALECT_NUM_AXES))
        return true;
    if (n < 0)
        return refuse(look, DIALECT_ILLEGAL,
                      "num_axes %d: it must be -1 or not negative", n);
    if (n > look->x->ndim - look->start)
        return refuse(look, DIALECT_ILLEGAL,
                      "%d axes from dimension %d on reach past %d, the last", n,
                      look->start, look->x->ndim - 1);
    if (n != look->y->ndim)
        return refuse(look, DIALECT_ILLEGAL,
                      "the learned operand has rank %d, and y has %d", n,
                      look->y->ndim);
    return true;
}

static bool meet(const struct look *look, int64_t over, int64_t placed)
{
    enum stretch stretch = look->rule->stretch;
    return over == placed || (stretch != NEITHER && placed == 1) ||
           (stretch == EITHER && over == 1);
}

/* Compares extents, and makes the result's shape. */
static bool check_extents(struct look *look)
{
    struct dialect_view *view = look->view;
    view->ndim = look->over->ndim;
    if (view->ndim > 0)
        memcpy(view->shape, look->over->shape,
               (size_t)view->ndim * sizeof *view->shape);
    for (int own = look->first; own < look->last; own++) {
        int64_t *at = &view->shape[look->start + own];
        int64_t extent = look->placed->shape[own];
        if (!meet(look, *at, extent))
            return refuse(
                look, DIALECT_ILLEGAL, "%lld against %lld at dimension %d%s",
                (long long)(look->over == look->x ? *at : extent),
                (long long)(look->over == look->x ? extent : *at),
                look->start + own,
                *at == 1 || extent == 1 ? ": nothing is stretched" : "");
        *at = *at == 1 ? extent : *at;
    }
    return true;
}

/* Runs of neighbouring dimensions in which the same operand is stretched, or
   none; dimensions of 1 are left out. */
static int count_groups(const struct look *look)
{
    int groups = 0, before = -1;
    for (int k = 0; k < look->view->ndim; k++) {
        int own = k - look->start;
        int64_t extent = own >= look->first && own < look->last
                             ? look->placed->shape[own]
                             : 1;
        int64_t out = look->view->shape[k];
        int state = look->over->shape[k] != out ? 2 : extent != out;
        groups += out != 1 && state != before;
        before = out == 1 ? before : state;
    }
    return groups;
}

static bool check_groups(struct look *look)
{
    int groups = count_groups(look), most = look->rule->most_groups;
    return most == 0 || groups <= most ||
           refuse(look, DIALECT_ILLEGAL,
                  "%d groups of dimensions that are stretched alike; it has "
                  "kernels for %d",
                  groups, most);
}

/* The axis of ours that starts where the system does. */
static void set_axis(struct look *look)
{
    look->view->axis = look->start;
    if (look->start == look->over->ndim - look->placed->ndim ||
        call_kept(look->placed) == 0)
        look->view->axis = ELEMENTWISE_NUMPY;
}

/* y stands over x as it is: the shapes are equal, or y goes anywhere. */
static void pass_as_x(struct look *look)
{
    struct dialect_view *view = look->view;
    view->y_as_scalar = look->y->ndim > look->x->ndim;
    view->ndim = look->x->ndim;
    if (view->ndim > 0)
        memcpy(view->shape, look->x->shape,
               (size_t)view->ndim * sizeof *view->shape);
}

static void look_at(struct look *look)
{
    const struct rule *rule = look->rule;
    bool same = call_same_shape(look->x, look->y);
    int axis = look->arguments->given & DIALECT_AXIS ? look->arguments->axis
                                                     : rule->axis;
    if (rule->no_axis && axis != -1)
        refuse(look, DIALECT_ILLEGAL, "axis %d needs broadcast 1", axis);
    else if (same && (rule->equal_only || rule->equal_first))
        pass_as_x(look);
    else if (rule->equal_only)
        refuse(look, DIALECT_ILLEGAL, "the shapes must be equal%s",
               rule->unbroadcast ? " unless broadcast is 1" : "");
    else if (is_scalar(look))
        pass_as_x(look);
    else if (find_placed(look) && find_start(look)) {
        set_axis(look);
        if (check_learned(look) && check_fit(look) && check_extents(look))
            check_groups(look);
    }
}

static bool lists(const char *list, elementwise_op op)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", elementwise_op_name(op));
    return list && strstr(list, word) != NULL;
}

/* The rule that the system has for an operation. */
static const struct rule *choose(const struct dialect *d, elementwise_op op,
                                 const struct dialect_arguments *a, bool same)
{
    bool broadcast = a->given & DIALECT_BROADCAST && a->broadcast != 0;
    if (lists(d->equal_operations, op))
        return &equal;
    if (lists(d->right_operations, op))
        return &right;
    /* Pow kept what all had up to 2017. */
    if (d == &dialects[DIALECT_CAFFE2] && op == ELEMENTWISE_POW && !broadcast)
        return &equal_without_axis;
    if (d->unbroadcast && !broadcast)
        return d->unbroadcast;
    /* A layer for equal shapes that has no arguments. */
    if (d->rule == &caffe && same && !a->given)
        return &equal;
    return d->rule;
}

/* Refuses an array that is too large for the system, counting as it does. */
static bool check_size(struct look *look, const struct dialect *d,
                       const char *name, const elementwise_tensor *t)
{
    int64_t n = 1;
    if (d->most_axes && t->ndim > d->most_axes)
        return refuse(look, DIALECT_ILLEGAL,
                      "the rank of %s is %d; there it is at most %d", name,
                      t->ndim, d->most_axes);
    for (int i = 0; d->most_elements && n > 0 && i < t->ndim; i++) {
        if (t->shape[i] > d->most_elements / n)
            return refuse(look, DIALECT_ILLEGAL,
                          "%s has more than %lld elements, counted up to "
                          "dimension %d",
                          name, (long long)d->most_elements, i);
        n *= t->shape[i];
    }
    return true;
}

static bool is_integer(elementwise_dtype dtype)
{
    return dtype >= ELEMENTWISE_I8 && dtype <= ELEMENTWISE_U64;
}

static bool is_float(elementwise_dtype dtype)
{
    return dtype >= ELEMENTWISE_F16 && dtype <= ELEMENTWISE_F64;
}

const char *dialect_types_note(const elementwise_tensor *x,
                               const elementwise_tensor *y)
{
    bool everywhere =
        x->dtype == ELEMENTWISE_F32 || x->dtype == ELEMENTWISE_F64;
    return everywhere && x->dtype == y->dtype
               ? NULL
               : "types are not judged, only shapes and arguments; the type of "
                 "out is ours";
}

static unsigned circumstances(const struct look *look)
{
    const elementwise_tensor *x = look->x, *y = look->y;
    const struct dialect_arguments *a = look->arguments;
    bool right_aligned = !(a->given & DIALECT_AXIS) || a->axis == -1;
    unsigned when = call_same_shape(x, y) ? EQUAL : DIFFERENT;
    if (x->ndim < y->ndim)
        when |= X_PLACED;
    if (is_integer(x->dtype) && is_integer(y->dtype))
        when |= INTEGERS;
    if (is_float(x->dtype) || is_float(y->dtype))
        when |= FLOATS;
    if (x->ndim > 32 || y->ndim > 32)
        when |= ABOVE_32;
    if (look->rule == &right)
        when |= right_aligned ? RIGHT_RULE : RIGHT_RULE | AXIS_IGNORED;
    if (!(a->given & DIALECT_AXIS))
        when |= NO_AXIS_GIVEN;
    else if (a->axis < 0 && look->rule->negative == NO_NEGATIVE)
        when |= NO_SUCH_AXIS;
    if (look->view->axis != ELEMENTWISE_NUMPY)
        when |= look->view->axis ? PLACED | PLACED_INSIDE : PLACED;
    if ((x->ndim == 0) != (y->ndim == 0) && right_aligned)
        when |= RANK_0_AT_RIGHT;
    for (int i = 0; i < look->view->ndim && when & DIFFERENT; i++)
        when |= look->view->shape[i] == 0 ? EXTENT_0 : 0u;
    return when | (look->view->verdict ? REFUSED : 0u);
}

static void add_notes(struct look *look, const char *name, elementwise_op op)
{
    unsigned when = circumstances(look);
    int n = 0;
    for (int i = 0; i < ALL_NOTES && n < DIALECT_NOTES; i++)
        if (!strcmp(notes[i].name, name) && !(notes[i].when & ~when) &&
            (!notes[i].operations || lists(notes[i].operations, op)))
            look->view->notes[n++] = notes[i].text;
    if (!look->view->verdict && n < DIALECT_NOTES)
        look->view->notes[n] = dialect_types_note(look->x, look->y);
}

void dialect_look(int dialect, elementwise_op op, const elementwise_tensor *x,
                  const elementwise_tensor *y,
                  const struct dialect_arguments *arguments,
                  struct dialect_view *view)
{
    const struct dialect *d = &dialects[dialect];
    struct look look = {.x = x, .y = y, .arguments = arguments, .view = view};
    static const struct dialect_arguments none = {0};
    *view = (struct dialect_view){.axis = ELEMENTWISE_NUMPY,
                                  .operation = counterpart_name(dialect, op)};
    look.rule = choose(d, op, arguments, call_same_shape(x, y));
    if (!view->operation) {
        refuse(&look, DIALECT_ILLEGAL, "it has no %s of two arrays",
               elementwise_op_name(op));
        return;
    }
    if (dialect == DIALECT_CAFFE && look.rule == &equal)
        view->operation = counterpart_eltwise(op);
    if (look.rule == &right)
        look.arguments = &none;
    if (check_size(&look, d, "x", x) && check_size(&look, d, "y", y))
        look_at(&look);
    look.arguments = arguments;
    add_notes(&look, d->name, op);
}

void dialect_reshape(const struct dialect_view *view,
                     const elementwise_tensor *x, const elementwise_tensor *y,
                     char text[DIALECT_TEXT])
{
    bool of_x = x->ndim < y->ndim && !view->y_as_scalar;
    const elementwise_tensor *placed = of_x ? x : y;
    int n = snprintf(text, DIALECT_TEXT, "%s", of_x ? "x" : "y");
    if (view->y_as_scalar)
        snprintf(text + n, DIALECT_TEXT - (size_t)n, ".reshape(())");
    if (view->axis == ELEMENTWISE_NUMPY)
        return;
    n += snprintf(text + n, DIALECT_TEXT - (size_t)n, ".reshape(");
    for (int i = 0; view->axis + i < view->ndim; i++)
        n += snprintf(text + n, DIALECT_TEXT - (size_t)n, "%s%lld",
                      i ? ", " : "",
                      i < placed->ndim ? (long long)placed->shape[i] : 1LL);
    snprintf(text + n, DIALECT_TEXT - (size_t)n, ")");
}
