/*
 * Turns pairs of shapes into what ten systems make of them, and compares it
 * with tools/dialect.c: all pairs of rank 0 to 4 with extents 1 to 3, and
 * of rank 0 to 3 with extents 0 to 2, under all arguments of each system. The
 * rules below are written from the systems' documents and sources, one plain
 * function each, and share nothing with the table that is tested. A pair that
 * is legal there must be legal here, with the call that is recommended, and
 * every element must come from where the other system takes it. Which
 * operations a system has, and under which name, is written down once more
 * too.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect.h"
#include "elementwise.h"
#include "support.h"

enum { RANK = 4, NOWHERE = -1, UNSET = 99 };

/* What a system makes of a pair: at each dimension of the result, which of
   its own dimensions an operand stands there with. */
struct seen {
    enum dialect_verdict verdict;
    int ndim;
    int64_t shape[RANK];
    int x[RANK], y[RANK];
};

struct pair {
    int nx, ny;
    int64_t x[RANK], y[RANK];
};

/* A system's arguments; UNSET where none is given. */
struct given {
    int axis, num_axes, broadcast;
};

static const struct seen illegal = {.verdict = DIALECT_ILLEGAL};
static const struct seen undefined = {.verdict = DIALECT_UNDEFINED};

static bool same_shape(const struct pair *p)
{
    return p->nx == p->ny &&
           !memcmp(p->x, p->y, (size_t)p->nx * sizeof p->x[0]);
}

static int larger_rank(const struct pair *p)
{
    return p->nx > p->ny ? p->nx : p->ny;
}

static int ones(const struct pair *p)
{
    int n = 0;
    for (int i = 0; i < p->ny; i++)
        n += p->y[i] == 1;
    return n;
}

/* Rules */

/* NumPy: from the last dimension backwards; either may be stretched. */
static struct seen numpy(const struct pair *p, const struct given *g)
{
    struct seen seen = {DIALECT_LEGAL, larger_rank(p), {0}, {0}, {0}};
    (void)g;
    for (int back = 1; back <= seen.ndim; back++) {
        int i = p->nx - back, j = p->ny - back, k = seen.ndim - back;
        int64_t a = i < 0 ? 1 : p->x[i], b = j < 0 ? 1 : p->y[j];
        if (a != b && a != 1 && b != 1)
            return illegal;
        seen.x[k] = i < 0 ? NOWHERE : i;
        seen.y[k] = j < 0 ? NOWHERE : j;
        seen.shape[k] = a == 1 ? b : a;
    }
    return seen;
}

/* The result is x, nothing of y stands over it yet. */
static struct seen like_x(const struct pair *p)
{
    struct seen seen = {DIALECT_LEGAL, p->nx, {0}, {0}, {0}};
    for (int k = 0; k < p->nx; k++) {
        seen.shape[k] = p->x[k];
        seen.x[k] = k;
        seen.y[k] = NOWHERE;
    }
    return seen;
}

/* y's dimensions first to last - 1 from dimension at of x on, each equal to
   x's. */
static struct seen equal_from(const struct pair *p, int at, int first, int last)
{
    struct seen seen = like_x(p);
    for (int j = first; j < last; j++, at++) {
        if (at >= p->nx || p->x[at] != p->y[j])
            return illegal;
        seen.y[at] = j;
    }
    return seen;
}

/* Paddle up to 1.5: y is placed and is no larger than x in rank; trailing 1s
   go before the fit is looked at, what remains must equal x, and what does
   not fit is read beyond x's shape. */
static struct seen paddle1(const struct pair *p, const struct given *g)
{
    int start = g->axis == UNSET || g->axis == -1 ? p->nx - p->ny : g->axis;
    int last = p->ny;
    if (same_shape(p))
        return equal_from(p, 0, 0, p->ny);
    if (p->nx < p->ny || start < 0 || start >= p->nx)
        return illegal;
    while (last > 0 && p->y[last - 1] == 1)
        last--;
    if (last > 0 && start + last > p->nx)
        return undefined;
    return equal_from(p, start, 0, last);
}

/* Paddle from 2.2 on, with extents of 0 as in 3.x: the operand of
   smaller rank is placed with all of its 1s, either may be stretched; what
   hangs over is written beyond an array. */
static struct seen paddle2(const struct pair *p, const struct given *g)
{
    int m = larger_rank(p), small = p->nx < p->ny ? p->nx : p->ny;
    int axis = g->axis == UNSET ? -1 : g->axis;
    struct seen seen = {DIALECT_LEGAL, m, {0}, {0}, {0}};
    if (same_shape(p))
        return equal_from(p, 0, 0, p->ny);
    if (p->nx == p->ny && axis != 0 && axis != -1)
        return illegal;
    if (axis < -1 || axis >= m)
        return illegal;
    int start = axis == -1 ? m - small : axis;
    if (start + small > m)
        return undefined;
    for (int k = 0; k < m; k++) {
        bool covered = k >= start && k < start + small;
        int own = covered ? k - start : NOWHERE;
        seen.x[k] = p->nx < p->ny ? own : k;
        seen.y[k] = p->nx < p->ny ? k : own;
        int64_t a = seen.x[k] == NOWHERE ? 1 : p->x[seen.x[k]];
        int64_t b = seen.y[k] == NOWHERE ? 1 : p->y[seen.y[k]];
        if (a != b && a != 1 && b != 1)
            return illegal;
        seen.shape[k] = a == 1 ? b : a;
    }
    return seen;
}

/* Caffe's Scale and Bias with two bottoms, or with num_axes the learned
   operand, whose shape is cut out of x. Axes count from the end. Without
   arguments, equal shapes are an Eltwise layer's. */
static struct seen caffe(const struct pair *p, const struct given *g)
{
    int axis = g->axis == UNSET ? 1 : g->axis;
    bool learned = g->num_axes != UNSET;
    if (!learned && g->axis == UNSET && same_shape(p))
        return equal_from(p, 0, 0, p->ny);
    if (!learned && p->ny == 0)
        return like_x(p);
    if (axis < -p->nx || axis >= p->nx)
        return illegal;
    if (axis < 0)
        axis += p->nx;
    if (learned) {
        int n = g->num_axes == -1 ? p->nx - axis : g->num_axes;
        if (g->num_axes < -1 || axis + n > p->nx || p->ny != n)
            return illegal;
    }
    if (axis + p->ny > p->nx)
        return illegal;
    return equal_from(p, axis, 0, p->ny);
}

/* Caffe2: NumPy's rule without broadcast, which ignores axis. With it, one
   element goes anywhere; 1s at both ends of y go, the range is that of the
   untrimmed rank, and what is left equals x. */
static struct seen caffe2(const struct pair *p, const struct given *g)
{
    int axis = g->axis == UNSET || g->axis == -1 ? p->nx - p->ny : g->axis;
    int first = 0, last = p->ny;
    if (g->broadcast == UNSET || g->broadcast == 0)
        return numpy(p, g);
    if (ones(p) == p->ny)
        return like_x(p);
    if (p->ny > p->nx || axis < 0 || axis > p->nx - p->ny)
        return illegal;
    while (p->y[first] == 1)
        first++;
    while (p->y[last - 1] == 1)
        last--;
    return equal_from(p, axis + first, first, last);
}

/* ONNX opset 1 to 6: equal shapes, or with broadcast one element of no larger
   rank, or a contiguous subset of x's shape. */
static struct seen onnx6(const struct pair *p, const struct given *g)
{
    int axis = g->axis == UNSET ? p->nx - p->ny : g->axis;
    if (g->broadcast == UNSET || g->broadcast == 0)
        return same_shape(p) ? equal_from(p, 0, 0, p->ny) : illegal;
    if (p->ny > p->nx)
        return illegal;
    if (ones(p) == p->ny)
        return like_x(p);
    if (axis < 0 || axis + p->ny > p->nx)
        return illegal;
    return equal_from(p, axis, 0, p->ny);
}

/* OpenVINO's PDPD: y fits with all of its 1s, and only y is stretched,
   anywhere. */
static struct seen pdpd(const struct pair *p, const struct given *g)
{
    struct seen seen = like_x(p);
    int axis = g->axis == UNSET ? -1 : g->axis;
    if (axis < -1 || p->ny > p->nx)
        return illegal;
    if (axis == -1)
        axis = p->nx - p->ny;
    if (axis + p->ny > p->nx)
        return illegal;
    for (int j = 0; j < p->ny; j++) {
        if (p->y[j] != 1 && p->y[j] != p->x[axis + j])
            return illegal;
        seen.y[axis + j] = j;
    }
    return seen;
}

/* Shapes that are equal, whatever else is said. */
static struct seen equal(const struct pair *p, const struct given *g)
{
    (void)g;
    return same_shape(p) ? equal_from(p, 0, 0, p->ny) : illegal;
}

/* Caffe2's Pow was not rewritten in 2018: without broadcast it wants equal
   shapes and no axis but the default. */
static struct seen caffe2_pow(const struct pair *p, const struct given *g)
{
    if (g->broadcast != UNSET && g->broadcast != 0)
        return caffe2(p, g);
    return g->axis == UNSET || g->axis == -1 ? equal(p, g) : illegal;
}

static const struct system {
    const char *name;
    struct seen (*rule)(const struct pair *p, const struct given *g);
    bool axis, num_axes, broadcast;
    elementwise_op op; /* 0: mul */
} systems[] = {
    {"numpy", numpy, false, false, false, 0},
    {"torch", numpy, false, false, false, 0},
    {"tensorflow", numpy, false, false, false, 0},
    {"onnx7", numpy, false, false, false, 0},
    {"onnx6", onnx6, true, false, true, 0},
    {"paddle1", paddle1, true, false, false, 0},
    {"paddle2", paddle2, true, false, false, 0},
    {"caffe", caffe, true, true, false, 0},
    {"caffe2", caffe2, true, false, true, 0},
    {"pdpd", pdpd, true, false, false, 0},
    {"onnx6", equal, true, false, true, ELEMENTWISE_MIN},
    {"paddle1", equal, true, false, false, ELEMENTWISE_LOGICAL_OR},
    {"paddle2", numpy, true, false, false, ELEMENTWISE_FMAX},
    {"caffe", equal, true, true, false, ELEMENTWISE_MAX},
    {"caffe2", equal, true, false, true, ELEMENTWISE_MAX},
    {"caffe2", caffe2_pow, true, false, true, ELEMENTWISE_POW},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

/* Comparison */

static const char *describe(char text[400], const struct system *s,
                            const struct pair *p, const struct given *g)
{
    int n = sprintf(text, "%s x (", s->name);
    for (int i = 0; i < p->nx; i++)
        n += sprintf(text + n, " %d", (int)p->x[i]);
    n += sprintf(text + n, " ) y (");
    for (int i = 0; i < p->ny; i++)
        n += sprintf(text + n, " %d", (int)p->y[i]);
    sprintf(text + n, " ) axis %d, num_axes %d, broadcast %d", g->axis,
            g->num_axes, g->broadcast);
    return text;
}

/* The row-major stride with which an operand walks dimension k: 0 where it
   is stretched or absent. */
static int64_t step(const elementwise_tensor *t, int own)
{
    int64_t stride = 1;
    if (own == NOWHERE || t->shape[own] == 1)
        return 0;
    for (int i = own + 1; i < t->ndim; i++)
        stride *= t->shape[i];
    return stride;
}

/* Whether a view of t under our axis walks its elements as the system does,
   where t has the elements of original in another shape. */
static bool steps_as(const elementwise_tensor *t, int axis,
                     const struct seen *seen,
                     const elementwise_tensor *original, const int *own)
{
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor view;
    if (elementwise_broadcast_to(t, axis, seen->ndim, seen->shape, strides,
                                 &view))
        return false;
    for (int k = 0; k < seen->ndim; k++)
        if (seen->shape[k] > 1 && strides[k] != step(original, own[k]))
            return false;
    return true;
}

/* Our call must have the result and the placement of the other system. */
static bool call_agrees(const struct pair *p, const struct seen *seen,
                        const struct dialect_view *view)
{
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, p->nx, p->x, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, p->ny, p->y, NULL};
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    int ndim;
    if (view->y_as_scalar)
        y.ndim = 0;
    bool places_x = x.ndim < y.ndim;
    return !elementwise_broadcast_shape(&x, &y, view->axis, &ndim, shape) &&
           ndim == seen->ndim && view->ndim == ndim &&
           !memcmp(shape, seen->shape, (size_t)ndim * sizeof *shape) &&
           !memcmp(view->shape, shape, (size_t)ndim * sizeof *shape) &&
           steps_as(&x, places_x ? view->axis : ELEMENTWISE_NUMPY, seen, &x,
                    seen->x) &&
           steps_as(&y, places_x ? ELEMENTWISE_NUMPY : view->axis, seen, &y,
                    seen->y);
}

static int64_t count(const elementwise_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim; i++)
        n *= t->shape[i];
    return n;
}

/* Reads "(3, 1)" or "(())" into a tensor that has as many elements as it had.
   False if it has not. */
static bool reshape(elementwise_tensor *t, const char *text, int64_t *shape)
{
    int64_t n = count(t);
    t->shape = shape;
    t->ndim = 0;
    for (const char *at = text; at[strcspn(at, "0123456789")];) {
        at += strcspn(at, "0123456789");
        shape[t->ndim++] = strtol(at, (char **)&at, 10);
    }
    return n == count(t);
}

/* What NumPy is told: "x" or "y", or either followed by ".reshape(3, 1)".
   Aligned at the right it must walk alike. */
static bool reshape_agrees(const struct pair *p, const struct seen *seen,
                           const char *text)
{
    bool of_x = text[0] == 'x';
    elementwise_tensor t = {NULL, ELEMENTWISE_F32, of_x ? p->nx : p->ny,
                            of_x ? p->x : p->y, NULL};
    elementwise_tensor reshaped = t;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    if (text[1] && (strncmp(text + 1, ".reshape(", 9) ||
                    !reshape(&reshaped, text + 9, shape)))
        return false;
    return steps_as(&reshaped, ELEMENTWISE_NUMPY, seen, &t,
                    of_x ? seen->x : seen->y);
}

static struct dialect_arguments arguments_of(const struct given *g)
{
    struct dialect_arguments a = {0, g->axis, g->num_axes, g->broadcast};
    a.given |= g->axis == UNSET ? 0u : DIALECT_AXIS;
    a.given |= g->num_axes == UNSET ? 0u : DIALECT_NUM_AXES;
    a.given |= g->broadcast == UNSET ? 0u : DIALECT_BROADCAST;
    return a;
}

static void check(const struct system *s, int dialect, const struct pair *p,
                  const struct given *g)
{
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, p->nx, p->x, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, p->ny, p->y, NULL};
    const struct dialect_arguments arguments = arguments_of(g);
    struct dialect_view view;
    char text[DIALECT_TEXT], pair[400];
    dialect_look(dialect, s->op ? s->op : ELEMENTWISE_MUL, &x, &y, &arguments,
                 &view);
    struct seen seen = s->rule(p, g);
    ck_assert_msg(view.verdict == seen.verdict, "%s is %d, not %d (%s)",
                  describe(pair, s, p, g), (int)view.verdict, (int)seen.verdict,
                  view.reason);
    ck_assert_msg((view.verdict != DIALECT_LEGAL) == (view.reason[0] != 0),
                  "%s says \"%s\"", describe(pair, s, p, g), view.reason);
    if (seen.verdict != DIALECT_LEGAL)
        return;
    dialect_reshape(&view, &x, &y, text);
    ck_assert_msg(call_agrees(p, &seen, &view), "%s under our axis %d",
                  describe(pair, s, p, g), view.axis);
    ck_assert_msg(reshape_agrees(p, &seen, text), "%s as %s",
                  describe(pair, s, p, g), text);
}

/* UNSET, then least to most, then beyond UNSET. */
static int next(int value, bool taken, int least, int most)
{
    if (!taken || value == most)
        return UNSET + 1;
    return value == UNSET ? least : value + 1;
}

static void check_arguments(const struct system *s, int dialect,
                            const struct pair *p)
{
    struct given g;
    for (g.axis = UNSET; g.axis <= UNSET; g.axis = next(g.axis, s->axis, -6, 6))
        for (g.num_axes = UNSET; g.num_axes <= UNSET;
             g.num_axes = next(g.num_axes, s->num_axes, -2, 5))
            for (g.broadcast = UNSET; g.broadcast <= UNSET;
                 g.broadcast = next(g.broadcast, s->broadcast, 0, 1))
                check(s, dialect, p, &g);
}

static void check_pairs(const struct system *s, int rank, int least, int most)
{
    int dialect = dialect_from_name(s->name);
    int n = support_count_shapes(rank, least, most);
    ck_assert_int_ge(dialect, 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            struct pair p = {0};
            p.nx = support_nth_shape(i, least, most, p.x);
            p.ny = support_nth_shape(j, least, most, p.y);
            check_arguments(s, dialect, &p);
        }
}

START_TEST(every_small_pair_is_seen_as_the_system_sees_it)
{
    check_pairs(&systems[_i], RANK, 1, 3);
}
END_TEST

START_TEST(extents_of_0_are_seen_as_the_system_sees_them)
{
    check_pairs(&systems[_i], 3, 0, 2);
}
END_TEST

/* What each system has, in the order of the header, and the last part of its
   name: - is nothing. With = shapes must be equal, with > they are aligned at
   the right whatever the axis. What has no axis is aligned so anyway. */
static const struct {
    const char *system, *operations;
} inventories[] = {
    {"numpy",
     "add subtract multiply divide maximum minimum power mod floor_divide "
     "fmax fmin heaviside - fmod arctan2 hypot copysign nextafter logaddexp "
     "equal not_equal less less_equal greater greater_equal logical_and "
     "logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift "
     "right_shift"},
    {"torch",
     "add sub mul div maximum minimum pow remainder floor_divide fmax fmin "
     "heaviside div fmod atan2 hypot copysign nextafter logaddexp eq ne lt "
     "le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or "
     "bitwise_xor bitwise_left_shift bitwise_right_shift"},
    {"tensorflow",
     "add subtract multiply divide maximum minimum pow floormod floordiv - - "
     "heaviside truncatediv truncatemod atan2 hypot - nextafter logaddexp "
     "equal not_equal less less_equal greater greater_equal logical_and "
     "logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift "
     "right_shift"},
    {"onnx7", "Add Sub Mul Div Max Min Pow Mod - - - - - Mod - - - - - Equal - "
              "Less LessOrEqual Greater GreaterOrEqual And Or Xor BitwiseAnd "
              "BitwiseOr BitwiseXor BitShift BitShift"},
    {"onnx6", "Add Sub Mul Div Max= Min= Pow - - - - - - - - - - - - Equal - "
              "Less - Greater - And Or Xor - - - - -"},
    {"paddle1",
     "elementwise_add elementwise_sub elementwise_mul elementwise_div "
     "elementwise_max elementwise_min elementwise_pow elementwise_mod "
     "elementwise_floordiv - - - elementwise_floordiv elementwise_mod - - - "
     "- - equal not_equal less_than less_equal greater_than greater_equal "
     "logical_and= logical_or= logical_xor= - - - - -"},
    {"paddle2",
     "elementwise_add elementwise_sub elementwise_mul elementwise_div "
     "elementwise_max elementwise_min elementwise_pow elementwise_mod "
     "elementwise_floordiv elementwise_fmax> elementwise_fmin> "
     "elementwise_heaviside> elementwise_floordiv elementwise_mod atan2> "
     "hypot> copysign> nextafter> logaddexp> equal> not_equal> less_than> "
     "less_equal> greater_than> greater_equal> logical_and> logical_or> "
     "logical_xor> bitwise_and> bitwise_or> bitwise_xor> "
     "bitwise_left_shift> bitwise_right_shift>"},
    {"caffe", "Bias SUM= Scale - MAX= - - - - - - - - - - - - - - - - - - - - "
              "- - - - - - - -"},
    {"caffe2", "Add Sub Mul Div Max= Min= Pow - - - - - - - - - - - - EQ NE "
               "LT LE GT GE And Or Xor BitwiseAnd BitwiseOr BitwiseXor - -"},
    {"pdpd",
     "Add Subtract Multiply Divide Maximum Minimum Power FloorMod - - - - - "
     "Mod - - - - - Equal NotEqual Less LessEqual Greater GreaterEqual "
     "LogicalAnd LogicalOr LogicalXor BitwiseAnd BitwiseOr BitwiseXor "
     "BitwiseLeftShift BitwiseRightShift"},
};

/* (2,3,4) with a y, and broadcast if there is such a thing. */
static struct dialect_view look(const char *system, elementwise_op op, int ny,
                                const int64_t *y_shape, int axis)
{
    static const int64_t x_shape[] = {2, 3, 4};
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, 3, x_shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, ny, y_shape, NULL};
    const struct given g = {axis, UNSET, 1};
    struct dialect_arguments a = arguments_of(&g);
    struct dialect_view view;
    a.given &= dialect_takes(dialect_from_name(system));
    dialect_look(dialect_from_name(system), op, &x, &y, &a, &view);
    return view;
}

static bool legal(const char *system, elementwise_op op, int ny,
                  const int64_t *y_shape, int axis)
{
    return look(system, op, ny, y_shape, axis).verdict == DIALECT_LEGAL;
}

/* Whether the name there ends with the word, before any comma or space. */
static bool is_called(const struct dialect_view *view, const char *word)
{
    size_t n = strcspn(word, "=>");
    const char *name = view->operation;
    if (!name || *word == '-')
        return !name && *word == '-';
    name = strncmp(name, "Eltwise ", 8) ? name : name + 8;
    size_t end = strcspn(name, " ,");
    return end >= n && !strncmp(name + end - n, word, n) &&
           (end == n || name[end - n - 1] == '.');
}

/* What (2,3,4) with (3) and axis 1 is there, then with (4) at the right, then
   with equal shapes, follows from the mark behind the name. */
static void check_operation(const char *system, elementwise_op op,
                            const char *word)
{
    static const int64_t three[] = {3}, four[] = {4}, same[] = {2, 3, 4};
    bool has = *word != '-', equal_only = strchr(word, '=') != NULL;
    bool takes_axis = dialect_takes(dialect_from_name(system)) & DIALECT_AXIS;
    bool at_1 = has && takes_axis && !strpbrk(word, "=>");
    bool at_right = has && !equal_only && strcmp(system, "caffe") != 0;
    struct dialect_view view = look(system, op, 1, three, 1);
    const char *name = elementwise_op_name(op);
    ck_assert_msg(is_called(&view, word), "%s: %s is called %s, not %s", system,
                  name, view.operation ? view.operation : "-", word);
    ck_assert_msg((view.verdict == DIALECT_LEGAL) == at_1,
                  "%s: %s under axis 1", system, name);
    ck_assert_msg(legal(system, op, 1, four, UNSET) == at_right,
                  "%s: %s at the right", system, name);
    ck_assert_msg(legal(system, op, 3, same, UNSET) == has,
                  "%s: %s of equal shapes", system, name);
}

START_TEST(a_system_has_what_it_has_under_its_own_name)
{
    char words[2000], *at = words;
    snprintf(words, sizeof words, "%s", inventories[_i].operations);
    int op = 1;
    for (char *word; (word = strtok(at, " ")); at = NULL) {
        ck_assert_ptr_nonnull(elementwise_op_name((elementwise_op)op));
        check_operation(inventories[_i].system, (elementwise_op)op++, word);
    }
    ck_assert_ptr_null(elementwise_op_name((elementwise_op)op));
}
END_TEST

START_TEST(caffe_has_eltwise_for_bottoms_of_equal_shapes)
{
    static const int64_t same[] = {2, 3, 4};
    ck_assert_str_eq(look("caffe", ELEMENTWISE_ADD, 3, same, UNSET).operation,
                     "Eltwise SUM");
    ck_assert_str_eq(look("caffe", ELEMENTWISE_MUL, 3, same, UNSET).operation,
                     "Eltwise PROD");
    ck_assert_str_eq(look("caffe", ELEMENTWISE_MUL, 3, same, 0).operation,
                     "Scale");
}
END_TEST

/* Legal or not: x of these extents with a scalar, or the other way round. */
static bool takes(const char *system, int ndim, const int64_t *shape)
{
    const struct dialect_arguments none = {0, 0, 0, 0};
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, ndim, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, 0, NULL, NULL};
    struct dialect_view view, swapped;
    int dialect = dialect_from_name(system);
    dialect_look(dialect, ELEMENTWISE_ADD, &x, &x, &none, &view);
    dialect_look(dialect, ELEMENTWISE_ADD, &y, &x, &none, &swapped);
    ck_assert(view.verdict == DIALECT_LEGAL || *view.reason);
    ck_assert(
        view.verdict == DIALECT_LEGAL ||
        !strcmp(strchr(view.reason, 'x') + 1, strchr(swapped.reason, 'y') + 1));
    return view.verdict == DIALECT_LEGAL;
}

/* Caffe: kMaxBlobAxes, and INT_MAX for the product up to any axis, unless a 0
   was before. Paddle: DDim::kMaxRank. */
START_TEST(what_is_too_large_there_is_refused)
{
    static const int64_t most[] = {INT32_MAX}, larger[] = {1 << 16, 1 << 15};
    static const int64_t late_0[] = {1 << 16, 1 << 15, 0};
    static const int64_t early_0[] = {0, 1 << 16, 1 << 15};
    int64_t ones[ELEMENTWISE_MAX_NDIM];
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM; i++)
        ones[i] = 1;
    ck_assert(takes("caffe", 32, ones) && !takes("caffe", 33, ones));
    ck_assert(takes("caffe", 1, most) && !takes("caffe", 2, larger));
    ck_assert(takes("caffe", 3, early_0) && !takes("caffe", 3, late_0));
    ck_assert(takes("paddle1", 9, ones) && !takes("paddle1", 10, ones));
    ck_assert(takes("paddle2", 9, ones) && !takes("paddle2", 10, ones));
    ck_assert(takes("paddle2", 2, larger));
    ck_assert(takes("numpy", ELEMENTWISE_MAX_NDIM, ones));
}
END_TEST

static bool notes(const char *system, elementwise_op op, int ny,
                  const char *text)
{
    static const int64_t shape[] = {2, 3, 4};
    const struct dialect_arguments none = {0, 0, 0, 0};
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, ny, &shape[3 - ny], NULL};
    struct dialect_view view;
    bool found = false;
    dialect_look(dialect_from_name(system), op, &x, &y, &none, &view);
    for (int i = 0; i < DIALECT_NOTES && view.notes[i]; i++)
        found |= strstr(view.notes[i], text) != NULL;
    return found;
}

/* Of broadcast as given, on an x of (2,3,4). */
static bool axis_noted(int axis, int broadcast, int ny)
{
    static const int64_t shape[] = {2, 3, 4}, ones[] = {1, 4};
    const struct dialect_arguments a = {DIALECT_AXIS | DIALECT_BROADCAST, axis,
                                        0, broadcast};
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, ny, ones, NULL};
    struct dialect_view view;
    bool found = false;
    dialect_look(DIALECT_ONNX6, ELEMENTWISE_ADD, &x, &y, &a, &view);
    ck_assert(view.verdict ==
              (broadcast && ny == 1 ? DIALECT_LEGAL : DIALECT_ILLEGAL));
    for (int i = 0; i < DIALECT_NOTES && view.notes[i]; i++)
        found |= strstr(view.notes[i], "silent on negative axes") != NULL;
    return found;
}

START_TEST(what_onnx_does_not_say_is_noted)
{
    ck_assert(axis_noted(-5, 1, 1) && axis_noted(-1, 1, 1));
    ck_assert(axis_noted(-1, 1, 2));
    ck_assert(!axis_noted(0, 1, 1) && !axis_noted(-1, 0, 1));
}
END_TEST

START_TEST(what_a_version_cannot_is_noted)
{
    ck_assert(notes("caffe2", ELEMENTWISE_LESS_THAN, 1, "inferring shapes"));
    ck_assert(!notes("caffe2", ELEMENTWISE_LESS_THAN, 3, "inferring shapes"));
    ck_assert(!notes("caffe2", ELEMENTWISE_ADD, 1, "inferring shapes"));
    ck_assert(notes("onnx7", ELEMENTWISE_MAX, 1, "opset 7"));
    ck_assert(!notes("onnx7", ELEMENTWISE_MAX, 3, "opset 7"));
    ck_assert(notes("onnx7", ELEMENTWISE_LESS_EQUAL, 3, "opset 12"));
    ck_assert(notes("onnx7", ELEMENTWISE_MOD, 3, "floats"));
}
END_TEST

static bool types_noted(int dialect, elementwise_dtype x, elementwise_dtype y,
                        int64_t extent)
{
    const int64_t shape[] = {extent}, three[] = {3};
    const struct dialect_arguments none = {0, 0, 0, 0};
    elementwise_tensor a = {NULL, x, 1, shape, NULL};
    elementwise_tensor b = {NULL, y, 1, three, NULL};
    struct dialect_view view;
    bool found = false;
    dialect_look(dialect, ELEMENTWISE_ADD, &a, &b, &none, &view);
    for (int i = 0; i < DIALECT_NOTES && view.notes[i]; i++)
        found |= strstr(view.notes[i], "types are not judged") != NULL;
    return found;
}

/* What no system has been asked is not to be taken for its answer. */
START_TEST(types_that_are_not_judged_are_noted)
{
    for (int i = 0; i < DIALECTS; i++)
        for (elementwise_dtype x = ELEMENTWISE_BOOL; x <= ELEMENTWISE_C128; x++)
            for (elementwise_dtype y = ELEMENTWISE_BOOL; y <= ELEMENTWISE_C128;
                 y++) {
                bool everywhere =
                    x == y && (x == ELEMENTWISE_F32 || x == ELEMENTWISE_F64);
                ck_assert(types_noted(i, x, y, 3) == !everywhere);
                ck_assert(!types_noted(i, x, y, 4)); /* refused anyway */
            }
}
END_TEST

START_TEST(every_system_has_a_rule_here)
{
    ck_assert_int_eq(dialect_from_name("mxnet"), -1);
    for (int i = 0; i < DIALECTS; i++) {
        ck_assert_str_eq(dialect_name(i), systems[i].name);
        ck_assert_str_eq(dialect_name(i), inventories[i].system);
        ck_assert_int_eq(dialect_from_name(systems[i].name), i);
    }
}
END_TEST

int main(void)
{
    TCase *tests = support_case("dialect");
    tcase_add_loop_test(tests, every_small_pair_is_seen_as_the_system_sees_it,
                        0, SYSTEMS);
    tcase_add_loop_test(tests, extents_of_0_are_seen_as_the_system_sees_them, 0,
                        SYSTEMS);
    tcase_add_loop_test(tests, a_system_has_what_it_has_under_its_own_name, 0,
                        sizeof inventories / sizeof *inventories);
    tcase_add_test(tests, caffe_has_eltwise_for_bottoms_of_equal_shapes);
    tcase_add_test(tests, what_is_too_large_there_is_refused);
    tcase_add_test(tests, what_onnx_does_not_say_is_noted);
    tcase_add_test(tests, what_a_version_cannot_is_noted);
    tcase_add_test(tests, types_that_are_not_judged_are_noted);
    tcase_add_test(tests, every_system_has_a_rule_here);
    TCase *const cases[] = {tests, NULL};
    return support_run("dialect", cases);
}
