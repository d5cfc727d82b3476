/*
 * Turns calls of the public functions into comparisons with the reference:
 * every status and every element, over shapes, strides, types, values and
 * CPU levels, and the guarantee that nothing else is written.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "reference.h"
#include "support.h"

static struct support_tensor x, y, out, again;

static elementwise_op any_op(void)
{
    return (elementwise_op)support_random(1, REF_OPS);
}

static elementwise_dtype any_type(void)
{
    return (elementwise_dtype)support_random(1, REF_TYPES);
}

static enum support_edge any_edge(void)
{
    return support_random(0, 1) ? SUPPORT_HIGH : SUPPORT_LOW;
}

/* The result's type, or bool where there is none. */
static elementwise_dtype result_of(elementwise_op op, elementwise_dtype a,
                                   elementwise_dtype b)
{
    elementwise_dtype result = ELEMENTWISE_BOOL;
    ref_result_type(op, a, b, &result);
    return result;
}

static void call_and_verify(elementwise_op op, int axis)
{
    support_keep(&x);
    support_keep(&y);
    support_keep(&out);
    elementwise_status status =
        elementwise_apply(op, &x.t, &y.t, axis, &out.t, NULL);
    support_verify(status, op, &x, &y, axis, &out);
}

/* ---------------------------------------------------------------------
 * Shapes
 */

/* Distinct values, so that a wrong place is a wrong result. */
static void count_up(struct support_tensor *s, int step)
{
    int64_t n = 1;
    for (int k = 0; k < s->t.ndim; k++)
        n *= s->shape[k];
    for (int64_t i = 0; i < n; i++) {
        if (s->t.dtype == ELEMENTWISE_F32)
            ((float *)s->t.data)[i] = (float)(i * step);
        else
            ((int32_t *)s->t.data)[i] = (int32_t)(i * step);
    }
}

static void try_shapes(elementwise_dtype type, int axis)
{
    struct ref_fit fit;
    int64_t none[1] = {0};
    if (ref_fit(&x.t, &y.t, axis, &fit) != ELEMENTWISE_OK)
        support_make(&out, type, 1, none, NULL, SUPPORT_HIGH);
    else
        support_make(&out, type, fit.ndim, fit.shape, NULL, SUPPORT_HIGH);
    call_and_verify(ELEMENTWISE_SUB, axis);
}

START_TEST(all_small_shapes_give_the_reference_s_status_and_values)
{
    int64_t a[3], b[3];
    int count = support_count_shapes(3, 0, 3);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            elementwise_dtype type =
                (i + j) % 2 ? ELEMENTWISE_F32 : ELEMENTWISE_I32;
            support_make(&x, type, support_nth_shape(i, 0, 3, a), a, NULL,
                         SUPPORT_HIGH);
            support_make(&y, type, support_nth_shape(j, 0, 3, b), b, NULL,
                         SUPPORT_HIGH);
            count_up(&x, 1);
            count_up(&y, 1000);
            for (int axis = -3; axis <= 4; axis++)
                try_shapes(type, axis);
        }
    }
}
END_TEST

START_TEST(out_of_another_shape_is_refused)
{
    int64_t a[] = {2, 3}, wrong[][3] = {{2, 1}, {3, 2}, {2, 4}, {1, 2, 3}};
    static const int ranks[] = {2, 2, 2, 3};
    for (int i = 0; i < 4; i++) {
        support_make(&x, ELEMENTWISE_F32, 2, a, NULL, SUPPORT_HIGH);
        support_make(&y, ELEMENTWISE_F32, 2, a, NULL, SUPPORT_HIGH);
        support_make(&out, ELEMENTWISE_F32, ranks[i], wrong[i], NULL,
                     SUPPORT_HIGH);
        support_keep(&out);
        ck_assert_int_eq(elementwise_add(&x.t, &y.t, -1, &out.t),
                         ELEMENTWISE_BAD_SHAPE);
        ck_assert(support_same(&out));
    }
}
END_TEST

START_TEST(rank_64_is_computed_and_rank_65_refused)
{
    int64_t wide[65], narrow[65];
    for (int k = 0; k < 65; k++) {
        wide[k] = k % 13 == 0 ? 2 : 1;
        narrow[k] = k % 26 == 0 ? 2 : 1;
    }
    for (int axis = -1; axis <= 0; axis++) {
        support_make(&x, ELEMENTWISE_I32, 64, wide, NULL, SUPPORT_HIGH);
        support_make(&y, ELEMENTWISE_I32, 64, narrow, NULL, SUPPORT_HIGH);
        support_make(&out, ELEMENTWISE_I32, 64, wide, NULL, SUPPORT_HIGH);
        support_fill(&x);
        support_fill(&y);
        call_and_verify(ELEMENTWISE_SUB, axis);
    }
    elementwise_tensor deep = {x.t.data, ELEMENTWISE_I32, 65, wide, NULL};
    support_keep(&out);
    ck_assert_int_eq(elementwise_sub(&deep, &y.t, -1, &out.t),
                     ELEMENTWISE_INVALID);
    ck_assert(support_same(&out));
}
END_TEST

START_TEST(zero_extents_do_nothing_even_without_data)
{
    int64_t a[] = {2, 0, 3}, b[] = {0, 1};
    for (int op = 1; op <= REF_OPS; op++) {
        support_make(&x, ELEMENTWISE_I32, 3, a, NULL, SUPPORT_HIGH);
        support_make(&y, ELEMENTWISE_I32, 2, b, NULL, SUPPORT_HIGH);
        elementwise_dtype type =
            result_of((elementwise_op)op, ELEMENTWISE_I32, ELEMENTWISE_I32);
        support_make(&out, type, 3, a, NULL, SUPPORT_HIGH);
        call_and_verify((elementwise_op)op, -1);
        x.t.data = y.t.data = out.t.data = NULL;
        elementwise_status status =
            elementwise_apply((elementwise_op)op, &x.t, &y.t, -1, &out.t, NULL);
        bool legal = ref_writes((elementwise_op)op, ELEMENTWISE_I32,
                                ELEMENTWISE_I32, type);
        ck_assert_int_eq(status,
                         legal ? ELEMENTWISE_OK : ELEMENTWISE_BAD_DTYPE);
    }
}
END_TEST

/* ---------------------------------------------------------------------
 * Random calls
 */

static void make_random(struct support_tensor *s, elementwise_dtype type,
                        int ndim, const int64_t shape[], bool input)
{
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    bool dense = support_random(0, 3) == 0;
    support_strides(ndim, shape, input, strides);
    support_make(s, type, ndim, shape, dense ? NULL : strides, any_edge());
    if (input)
        support_fill(s);
}

/* Without this nearly every integer division would be refused. */
static void allow_division(elementwise_op op)
{
    if (support_random(0, 7))
        support_no_zeros(op == ELEMENTWISE_POW ? &x : &y);
}

static void try_random(elementwise_op op, elementwise_dtype a,
                       elementwise_dtype b, elementwise_dtype to, int rank,
                       int64_t extent)
{
    struct support_shapes s;
    support_pair(rank, extent, &s);
    make_random(&x, a, s.x_ndim, s.x, true);
    make_random(&y, b, s.y_ndim, s.y, true);
    allow_division(op);
    make_random(&out, to, s.ndim, s.out, false);
    call_and_verify(op, s.axis);
}

START_TEST(random_layouts_of_every_operation_and_type_are_right)
{
    int rounds = support_long() ? 100 : 3;
    if (!support_level(_i))
        return;
    for (int op = 1; op <= REF_OPS; op++) {
        for (int type = 1; type <= REF_TYPES; type++) {
            elementwise_dtype t = (elementwise_dtype)type;
            elementwise_op o = (elementwise_op)op;
            if (!ref_writes(o, t, t, result_of(o, t, t)))
                continue;
            for (int i = 0; i < rounds; i++) {
                try_random(o, t, t, result_of(o, t, t), 8, 4);
                try_random(o, t, t, result_of(o, t, t), 2, 70);
            }
        }
    }
}
END_TEST

START_TEST(random_types_are_computed_or_refused_as_the_reference_says)
{
    int rounds = support_long() ? 100000 : 5000;
    if (!support_level(_i))
        return;
    for (int i = 0; i < rounds; i++) {
        elementwise_op op = any_op();
        elementwise_dtype a = any_type(), b = any_type();
        elementwise_dtype to =
            support_random(0, 1) ? any_type() : result_of(op, a, b);
        try_random(op, a, b, to, 4, 9);
    }
}
END_TEST

START_TEST(every_pair_of_types_is_computed_or_refused)
{
    for (int op = 1; op <= REF_OPS; op++)
        for (int a = 1; a <= REF_TYPES; a++)
            for (int b = 1; b <= REF_TYPES; b++)
                try_random((elementwise_op)op, (elementwise_dtype)a,
                           (elementwise_dtype)b,
                           result_of((elementwise_op)op, (elementwise_dtype)a,
                                     (elementwise_dtype)b),
                           2, 5);
}
END_TEST

START_TEST(every_type_of_out_is_written_or_refused)
{
    for (int op = 1; op <= REF_OPS; op++)
        for (int a = 1; a <= REF_TYPES; a++)
            for (int to = 1; to <= REF_TYPES; to++)
                try_random((elementwise_op)op, (elementwise_dtype)a,
                           (elementwise_dtype)a, (elementwise_dtype)to, 2, 5);
}
END_TEST

/* ---------------------------------------------------------------------
 * The same call in other ways
 */

/* Fails unless out and again hold the same elements. */
static void equal_outputs(elementwise_op op, const char *what)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    for (int k = 0; k < out.t.ndim; k++)
        if (out.t.shape[k] == 0)
            return;
    do {
        bool same = ref_same(out.t.dtype, ref_at(&out.t, index),
                             ref_at(&again.t, index));
        ck_assert_msg(same, "%s %s: %s", elementwise_op_name(op),
                      elementwise_dtype_name(x.t.dtype), what);
    } while (ref_next(out.t.ndim, out.t.shape, index));
}

/* Strided operands with the same elements. */
static void restride(struct support_tensor *s)
{
    struct support_tensor old = *s;
    int64_t strides[ELEMENTWISE_MAX_NDIM], index[ELEMENTWISE_MAX_NDIM] = {0};
    *s = (struct support_tensor){0};
    support_strides(old.t.ndim, old.shape, false, strides);
    support_make(s, old.t.dtype, old.t.ndim, old.shape, strides, any_edge());
    old.t.shape = old.shape;
    old.t.strides = NULL;
    do
        memcpy(ref_at(&s->t, index), ref_at(&old.t, index),
               ref_size(s->t.dtype));
    while (ref_next(s->t.ndim, s->t.shape, index));
    support_free(&old);
}

static void try_restrided(elementwise_op op, elementwise_dtype type)
{
    struct support_shapes s;
    support_pair(4, 12, &s);
    for (int k = 0; k < s.ndim; k++)
        if (s.out[k] == 0)
            return;
    elementwise_dtype to = result_of(op, type, type);
    support_make(&x, type, s.x_ndim, s.x, NULL, any_edge());
    support_make(&y, type, s.y_ndim, s.y, NULL, any_edge());
    support_make(&out, to, s.ndim, s.out, NULL, any_edge());
    support_make(&again, to, s.ndim, s.out, NULL, any_edge());
    support_fill(&x);
    support_fill(&y);
    support_no_zeros(&x);
    support_no_zeros(&y);
    ck_assert_int_eq(elementwise_apply(op, &x.t, &y.t, s.axis, &out.t, NULL),
                     ELEMENTWISE_OK);
    restride(&x);
    restride(&y);
    ck_assert_int_eq(elementwise_apply(op, &x.t, &y.t, s.axis, &again.t, NULL),
                     ELEMENTWISE_OK);
    equal_outputs(op, "strides change the result");
}

/* Calls what for every operation and type that has kernels of its own. */
static void for_all(void (*what)(elementwise_op, elementwise_dtype), int rounds)
{
    for (int op = 1; op <= REF_OPS; op++)
        for (int type = 1; type <= REF_TYPES; type++) {
            elementwise_op o = (elementwise_op)op;
            elementwise_dtype t = (elementwise_dtype)type;
            if (!ref_writes(o, t, t, result_of(o, t, t)))
                continue;
            for (int i = 0; i < rounds; i++)
                what(o, t);
        }
}

START_TEST(strided_and_contiguous_operands_give_the_same_bits)
{
    if (support_level(_i))
        for_all(try_restrided, 12);
}
END_TEST

/* One exponent, stretched over x in any layout, and in an array of x's shape.
 */
static void try_exponent(elementwise_dtype type, const void *exponent)
{
    const int64_t shape[] = {support_random(1, 9), support_random(1, 70)};
    const int64_t none[] = {0, 0};
    support_make(&x, type, 2, shape, NULL, any_edge());
    support_make(&out, type, 2, shape, NULL, any_edge());
    support_make(&again, type, 2, shape, NULL, any_edge());
    support_fill(&x);
    if (ref_is_integer(type))
        support_no_zeros(&x); /* which no negative power has */
    support_make(&y, type, 2, shape, none, any_edge());
    memcpy(y.t.data, exponent, ref_size(type));
    ck_assert_int_eq(elementwise_pow(&x.t, &y.t, -1, &out.t), ELEMENTWISE_OK);
    support_make(&y, type, 2, shape, NULL, any_edge());
    for (int64_t i = 0; i < shape[0] * shape[1]; i++)
        memcpy((char *)y.t.data + (size_t)i * ref_size(type), exponent,
               ref_size(type));
    ck_assert_int_eq(elementwise_pow(&x.t, &y.t, -1, &again.t), ELEMENTWISE_OK);
    equal_outputs(ELEMENTWISE_POW, "an array of one exponent is another");
}

START_TEST(an_exponent_gives_the_same_bits_in_an_array_as_alone)
{
    static const double exponents[] = {2, 3, 0.5, -1, -0.5, 1,
                                       0, 4, 1.5, 7,  99,   -2};
    static const elementwise_dtype types[] = {
        ELEMENTWISE_I8,  ELEMENTWISE_I16,  ELEMENTWISE_I32, ELEMENTWISE_I64,
        ELEMENTWISE_U8,  ELEMENTWISE_U16,  ELEMENTWISE_U32, ELEMENTWISE_U64,
        ELEMENTWISE_F16, ELEMENTWISE_BF16, ELEMENTWISE_F32, ELEMENTWISE_F64,
        ELEMENTWISE_C64, ELEMENTWISE_C128};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
            double element[2];
            const elementwise_tensor from = {(void *)&exponents[k],
                                             ELEMENTWISE_F64, 0, NULL, NULL};
            const elementwise_tensor to = {element, types[i], 0, NULL, NULL};
            ck_assert_int_eq(elementwise_copy(&from, -1, &to), ELEMENTWISE_OK);
            for (int round = 0; round < 12; round++)
                try_exponent(types[i], element);
        }
}
END_TEST

enum { HALVES = 1 << 16 }; /* all of them */

/* Every half by an exponent that stands between others, and by it alone. */
static void try_halves(elementwise_dtype type, double exponent)
{
    enum { OTHERS = 7 };
    const double by[] = {exponent, 1.25};
    uint16_t bits[2];
    for (int i = 0; i < 2; i++) {
        const elementwise_tensor from = {(void *)&by[i], ELEMENTWISE_F64, 0,
                                         NULL, NULL};
        const elementwise_tensor to = {&bits[i], type, 0, NULL, NULL};
        ck_assert_int_eq(elementwise_copy(&from, -1, &to), ELEMENTWISE_OK);
    }
    support_line(&x, type, HALVES, 1, SUPPORT_HIGH);
    support_line(&y, type, HALVES, 1, SUPPORT_HIGH);
    support_line(&out, type, HALVES, 1, SUPPORT_HIGH);
    support_line(&again, type, HALVES, 1, SUPPORT_HIGH);
    uint16_t *of_x = x.t.data, *of_y = y.t.data;
    uint16_t *made = out.t.data, *alone = again.t.data;
    const elementwise_tensor scalar = {&bits[0], type, 0, NULL, NULL};
    ck_assert_int_eq(bits[0] == bits[1], 0);
    for (int i = 0; i < HALVES; i++)
        of_x[i] = (uint16_t)i;
    ck_assert_int_eq(elementwise_pow(&x.t, &scalar, -1, &again.t),
                     ELEMENTWISE_OK);
    for (int other = 0; other < OTHERS; other += OTHERS - 1) {
        for (int i = 0; i < HALVES; i++)
            of_y[i] = bits[i % OTHERS == other];
        ck_assert_int_eq(elementwise_pow(&x.t, &y.t, -1, &out.t),
                         ELEMENTWISE_OK);
        for (int i = 0; i < HALVES; i++)
            ck_assert_msg(
                of_y[i] != bits[0] || ref_same(type, &made[i], &alone[i]),
                "%#06x of %s by %g: %#06x, alone %#06x", i,
                elementwise_dtype_name(type), exponent, made[i], alone[i]);
    }
}

START_TEST(every_half_has_the_same_powers_in_an_array_as_alone)
{
    static const double exponents[] = {2, 3, 0.5, -1, -0.5};
    if (!support_level(_i))
        return;
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        try_halves(ELEMENTWISE_F16, exponents[k]);
        try_halves(ELEMENTWISE_BF16, exponents[k]);
    }
}
END_TEST

/* out = op(x, y) in f32, rounded, for halves x and y. */
static void through_f32(elementwise_op op, const struct support_tensor *to)
{
    static struct support_tensor wide[3];
    const elementwise_tensor *from[] = {&x.t, &y.t};
    for (int i = 0; i < 3; i++)
        support_line(&wide[i], ELEMENTWISE_F32, to->t.shape[0], 1,
                     SUPPORT_HIGH);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(elementwise_copy(from[i], -1, &wide[i].t),
                         ELEMENTWISE_OK);
    ck_assert_int_eq(
        elementwise_apply(op, &wide[0].t, &wide[1].t, -1, &wide[2].t, NULL),
        ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_copy(&wide[2].t, -1, &to->t), ELEMENTWISE_OK);
}

/* Halves that stand beside all of them: some ends and ones, and others, any or
   in every second round from about 1/4 to 4, of which few give anything but
   normal numbers. */
enum { BESIDE = 61 };
static void choose_beside(uint16_t beside[BESIDE], elementwise_dtype type,
                          int round)
{
    const int64_t unit = type == ELEMENTWISE_F16 ? 0x400 : 0x80;
    const int64_t one = type == ELEMENTWISE_F16 ? 0x3c00 : 0x3f80;
    const int64_t infinite = 0x8000 - unit;
    const int64_t ends[] = {0, 1, unit, one, infinite - 1, infinite, 0x7fff};
    const int n = sizeof ends / sizeof *ends;
    for (int i = 0; i < BESIDE; i++)
        if (round % 2 && i < 2 * n)
            beside[i] = (uint16_t)(ends[i / 2] | (i % 2 ? 0x8000 : 0));
        else if (round % 2)
            beside[i] = (uint16_t)support_random(0, HALVES - 1);
        else
            beside[i] = (uint16_t)(one + support_random(-2 * unit, 2 * unit));
}

/* With CHECK_LONG an eighth of all pairs. */
static void try_rounding(elementwise_op op, elementwise_dtype type)
{
    support_line(&x, type, HALVES, 1, SUPPORT_HIGH);
    support_line(&y, type, HALVES, 1, SUPPORT_HIGH);
    support_line(&out, type, HALVES, 1, SUPPORT_HIGH);
    support_line(&again, type, HALVES, 1, SUPPORT_HIGH);
    uint16_t *made = out.t.data, *wanted = again.t.data, beside[BESIDE];
    for (int round = 0; round < (support_long() ? HALVES / 8 : 8); round++) {
        bool swaps = !support_long() && round % 4 > 1;
        uint16_t *of_x = (swaps ? &y : &x)->t.data;
        uint16_t *of_y = (swaps ? &x : &y)->t.data;
        choose_beside(beside, type, round);
        for (int i = 0; i < HALVES; i++) {
            of_x[i] = (uint16_t)i;
            of_y[i] = support_long() ? (uint16_t)(8 * round + i % BESIDE)
                                     : beside[i % BESIDE];
        }
        through_f32(op, &again);
        ck_assert_int_eq(elementwise_apply(op, &x.t, &y.t, -1, &out.t, NULL),
                         ELEMENTWISE_OK);
        for (int i = 0; i < HALVES; i++)
            ck_assert_msg(ref_same(type, &made[i], &wanted[i]),
                          "%s of %#06x and %#06x, %s: %#06x, in f32 %#06x",
                          elementwise_op_name(op), of_x[i], of_y[i],
                          elementwise_dtype_name(type), made[i], wanted[i]);
    }
}

START_TEST(functions_of_halves_are_those_of_f32_rounded_once)
{
    static const elementwise_op ops[] = {ELEMENTWISE_POW, ELEMENTWISE_ATAN2,
                                         ELEMENTWISE_HYPOT,
                                         ELEMENTWISE_LOGADDEXP};
    if (!support_level(_i))
        return;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        try_rounding(ops[k], ELEMENTWISE_F16);
        try_rounding(ops[k], ELEMENTWISE_BF16);
    }
}
END_TEST

static void try_in_place(elementwise_op op, elementwise_dtype type)
{
    int64_t shape[] = {support_random(1, 5), support_random(1, 40)};
    int64_t strides[2];
    bool into_x = support_random(0, 1), same = support_random(0, 4) == 0;
    struct support_tensor *to = into_x ? &x : &y;
    if (result_of(op, type, type) != type)
        return;
    support_strides(2, shape, false, strides);
    support_make(&x, type, 2, shape, strides, any_edge());
    support_make(&y, type, 2, shape, into_x ? NULL : strides, any_edge());
    support_make(&out, type, 2, shape, NULL, any_edge());
    support_fill(&x);
    support_fill(&y);
    support_no_zeros(&x);
    support_no_zeros(&y);
    support_keep(&x);
    support_keep(&y);
    struct support_tensor *a = same ? to : &x, *b = same ? to : &y;
    elementwise_status status =
        elementwise_apply(op, &a->t, &b->t, -1, &out.t, NULL);
    ck_assert_int_eq(status, ELEMENTWISE_OK);
    status = elementwise_apply(op, &a->t, &b->t, -1, &to->t, NULL);
    support_verify(status, op, a, b, -1, to);
    struct support_tensor spare = again;
    again = *to;
    equal_outputs(op, "in place changes the result");
    again = spare;
}

START_TEST(in_place_gives_the_same_bits)
{
    if (support_level(_i))
        for_all(try_in_place, 6);
}
END_TEST

static void try_levels(elementwise_op op, elementwise_dtype type)
{
    int64_t n = support_random(100, 200), step = support_random(1, 2);
    elementwise_dtype to = result_of(op, type, type);
    if (!ref_is_exact(op, type))
        return;
    support_line(&x, type, n, 1, SUPPORT_HIGH);
    support_line(&y, type, n, step, SUPPORT_HIGH);
    support_line(&out, to, n, 1, SUPPORT_HIGH);
    support_line(&again, to, n, 1, SUPPORT_LOW);
    support_fill(&x);
    support_fill(&y);
    support_no_zeros(&x);
    support_no_zeros(&y);
    ew_cpu_limit(EW_LEVEL_BASE);
    elementwise_apply(op, &x.t, &y.t, -1, &out.t, NULL);
    for (int level = 1; level < EW_LEVELS; level++) {
        ew_cpu_limit(level);
        elementwise_apply(op, &x.t, &y.t, -1, &again.t, NULL);
        equal_outputs(op, "the level changes the result");
    }
}

START_TEST(exact_operations_give_the_same_bits_at_every_level)
{
    for_all(try_levels, 5);
}
END_TEST

typedef elementwise_status named(const elementwise_tensor *,
                                 const elementwise_tensor *, int,
                                 const elementwise_tensor *);

static named *const functions[REF_OPS + 1] = {
    [ELEMENTWISE_ADD] = elementwise_add,
    [ELEMENTWISE_SUB] = elementwise_sub,
    [ELEMENTWISE_MUL] = elementwise_mul,
    [ELEMENTWISE_DIV] = elementwise_div,
    [ELEMENTWISE_MAX] = elementwise_max,
    [ELEMENTWISE_MIN] = elementwise_min,
    [ELEMENTWISE_POW] = elementwise_pow,
    [ELEMENTWISE_MOD] = elementwise_mod,
    [ELEMENTWISE_FLOORDIV] = elementwise_floordiv,
    [ELEMENTWISE_FMAX] = elementwise_fmax,
    [ELEMENTWISE_FMIN] = elementwise_fmin,
    [ELEMENTWISE_HEAVISIDE] = elementwise_heaviside,
    [ELEMENTWISE_TRUNCDIV] = elementwise_truncdiv,
    [ELEMENTWISE_FMOD] = elementwise_fmod,
    [ELEMENTWISE_ATAN2] = elementwise_atan2,
    [ELEMENTWISE_HYPOT] = elementwise_hypot,
    [ELEMENTWISE_COPYSIGN] = elementwise_copysign,
    [ELEMENTWISE_NEXTAFTER] = elementwise_nextafter,
    [ELEMENTWISE_LOGADDEXP] = elementwise_logaddexp,
    [ELEMENTWISE_EQUAL] = elementwise_equal,
    [ELEMENTWISE_NOT_EQUAL] = elementwise_not_equal,
    [ELEMENTWISE_LESS_THAN] = elementwise_less_than,
    [ELEMENTWISE_LESS_EQUAL] = elementwise_less_equal,
    [ELEMENTWISE_GREATER_THAN] = elementwise_greater_than,
    [ELEMENTWISE_GREATER_EQUAL] = elementwise_greater_equal,
    [ELEMENTWISE_LOGICAL_AND] = elementwise_logical_and,
    [ELEMENTWISE_LOGICAL_OR] = elementwise_logical_or,
    [ELEMENTWISE_LOGICAL_XOR] = elementwise_logical_xor,
    [ELEMENTWISE_BITWISE_AND] = elementwise_bitwise_and,
    [ELEMENTWISE_BITWISE_OR] = elementwise_bitwise_or,
    [ELEMENTWISE_BITWISE_XOR] = elementwise_bitwise_xor,
    [ELEMENTWISE_BITWISE_LEFT_SHIFT] = elementwise_bitwise_left_shift,
    [ELEMENTWISE_BITWISE_RIGHT_SHIFT] = elementwise_bitwise_right_shift,
};

static void try_named(elementwise_op op, elementwise_dtype type)
{
    int64_t n = 40;
    elementwise_dtype to = result_of(op, type, type);
    support_line(&x, type, n, 1, SUPPORT_HIGH);
    support_line(&y, type, 1, 1, SUPPORT_HIGH);
    support_line(&out, to, n, 1, SUPPORT_HIGH);
    support_fill(&x);
    support_fill(&y);
    support_no_zeros(&x);
    support_no_zeros(&y);
    support_keep(&x);
    support_keep(&y);
    support_keep(&out);
    elementwise_status status = functions[op](&x.t, &y.t, 0, &out.t);
    support_verify(status, op, &x, &y, 0, &out);
    support_line(&again, to, n, 1, SUPPORT_HIGH);
    elementwise_apply(op, &x.t, &y.t, 0, &again.t, NULL);
    equal_outputs(op, "the named function differs from apply");
    ck_assert_int_eq(functions[op](&x.t, &y.t, 7, NULL), ELEMENTWISE_INVALID);
}

START_TEST(named_functions_equal_apply)
{
    for_all(try_named, 3);
}
END_TEST

/* ---------------------------------------------------------------------
 * Values
 */

/* All pairs of n and m elements: x down, y across. */
static void try_table(elementwise_op op, elementwise_dtype a, int64_t n,
                      const void *down, elementwise_dtype b, int64_t m,
                      const void *across)
{
    int64_t column[] = {n, 1}, row[] = {1, m}, both[] = {n, m};
    if (!ref_writes(op, a, b, result_of(op, a, b)))
        return;
    support_make(&x, a, 2, column, NULL, SUPPORT_HIGH);
    support_make(&y, b, 2, row, NULL, SUPPORT_HIGH);
    memcpy(x.t.data, down, (size_t)n * ref_size(a));
    memcpy(y.t.data, across, (size_t)m * ref_size(b));
    support_make(&out, result_of(op, a, b), 2, both, NULL, SUPPORT_HIGH);
    call_and_verify(op, -1);
    if (!ref_is_integer(ref_promote(a, b)))
        return;
    support_no_zeros(op == ELEMENTWISE_POW ? &x : &y);
    call_and_verify(op, -1);
}

static void try_specials(elementwise_op op, elementwise_dtype a,
                         elementwise_dtype b)
{
    uint64_t down[SUPPORT_SPECIALS * 2], across[SUPPORT_SPECIALS * 2];
    int n = support_specials(a, down), m = support_specials(b, across);
    ck_assert_int_le(n, SUPPORT_SPECIALS);
    try_table(op, a, n, down, b, m, across);
}

static void try_alike(elementwise_op op, elementwise_dtype type)
{
    try_specials(op, type, type);
}

START_TEST(special_values_are_right_in_all_pairs)
{
    if (support_level(_i))
        for_all(try_alike, 1);
}
END_TEST

/* Integers that meet where no type holds both, floats and integers that are
   equal in one type and not in another. */
static void try_mixed(elementwise_op op)
{
    for (int a = 1; a <= REF_TYPES; a++) {
        for (int b = 1; b <= REF_TYPES; b++) {
            elementwise_dtype s = (elementwise_dtype)a;
            elementwise_dtype t = (elementwise_dtype)b;
            bool slow = ref_is_complex(s) || ref_is_complex(t);
            if (a != b && (!slow || support_long()))
                try_specials(op, s, t);
        }
    }
}

START_TEST(special_values_of_two_types_are_right_in_all_pairs)
{
    for (int op = 1; op <= REF_OPS; op++)
        try_mixed((elementwise_op)op);
}
END_TEST

static void try_bytes(elementwise_op op, elementwise_dtype a,
                      elementwise_dtype b)
{
    unsigned char values[256];
    for (int i = 0; i < 256; i++)
        values[i] = (unsigned char)i;
    if (ref_size(a) == 1 && ref_size(b) == 1)
        try_table(op, a, 256, values, b, 256, values);
}

static void try_bytes_alike(elementwise_op op, elementwise_dtype type)
{
    try_bytes(op, type, type);
}

START_TEST(all_pairs_of_bytes_are_right)
{
    if (support_level(_i))
        for_all(try_bytes_alike, 1);
}
END_TEST

START_TEST(all_pairs_of_bytes_of_two_types_are_right)
{
    for (int op = 1; op <= REF_OPS; op++)
        for (int a = 1; a <= REF_TYPES; a++)
            for (int b = 1; b <= REF_TYPES; b++)
                if (a != b)
                    try_bytes((elementwise_op)op, (elementwise_dtype)a,
                              (elementwise_dtype)b);
}
END_TEST

static void random_line(elementwise_dtype type, int64_t n)
{
    support_line(&x, type, n, 1, SUPPORT_HIGH);
    support_line(&y, type, n, 1, SUPPORT_HIGH);
    support_fill(&x);
    support_fill(&y);
    support_no_zeros(&x);
    support_no_zeros(&y);
}

static void try_values(elementwise_op op, elementwise_dtype type)
{
    int64_t n = support_long() ? 1000000 : 3000;
    if (type < ELEMENTWISE_F16)
        n = 300;
    random_line(type, n);
    support_line(&out, result_of(op, type, type), n, 1, SUPPORT_HIGH);
    call_and_verify(op, -1);
}

START_TEST(many_random_values_are_right)
{
    if (support_level(_i))
        for_all(try_values, 1);
}
END_TEST

static void try_exact_sizes(elementwise_op op, elementwise_dtype type)
{
    static const int64_t near[] = {0, 1, 2, 3};
    int64_t n = near[support_random(0, 3)];
    for (; n <= 130; n += support_random(1, 9)) {
        enum support_edge edge = any_edge();
        bool stretched = support_random(0, 3) == 0;
        support_line(&x, type, n, 1, edge);
        support_line(&y, type, stretched ? 1 : n, 1, any_edge());
        support_fill(&x);
        support_fill(&y);
        support_no_zeros(&x);
        support_no_zeros(&y);
        support_line(&out, result_of(op, type, type), n, 1, any_edge());
        call_and_verify(op, -1);
    }
}

START_TEST(no_length_reads_or_writes_beyond_its_elements)
{
    if (support_level(_i))
        for_all(try_exact_sizes, 1);
}
END_TEST

START_TEST(every_length_from_0_to_130_is_right)
{
    static const elementwise_dtype types[] = {
        ELEMENTWISE_I8,  ELEMENTWISE_U16, ELEMENTWISE_F16,
        ELEMENTWISE_F32, ELEMENTWISE_F64, ELEMENTWISE_C128};
    if (!support_level(_i))
        return;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (int64_t n = 0; n <= 130; n++) {
            random_line(types[k], n);
            support_line(&out, types[k], n, 1, SUPPORT_HIGH);
            call_and_verify(ELEMENTWISE_SUB, -1);
        }
}
END_TEST

/* ---------------------------------------------------------------------
 * Division by zero
 */

static const elementwise_op divisions[] = {
    ELEMENTWISE_DIV, ELEMENTWISE_FLOORDIV, ELEMENTWISE_TRUNCDIV,
    ELEMENTWISE_MOD, ELEMENTWISE_FMOD};
enum { DIVISIONS = sizeof divisions / sizeof *divisions };

static void ones(struct support_tensor *s)
{
    memset(s->t.data, 1, s->area_size < 256 ? 0 : s->area_size - 256);
}

/* Fails unless the zero is found and out is not touched. */
static void refuse(elementwise_op op)
{
    support_keep(&x);
    support_keep(&y);
    support_keep(&out);
    elementwise_status status =
        elementwise_apply(op, &x.t, &y.t, -1, &out.t, NULL);
    ck_assert_int_eq(status, ELEMENTWISE_DIVISION_BY_ZERO);
    ck_assert(support_same(&out));
}

START_TEST(a_zero_in_the_last_element_alone_is_found_before_writing)
{
    int64_t n = 100000;
    for (int type = ELEMENTWISE_I8; type <= ELEMENTWISE_U64; type++) {
        elementwise_dtype t = (elementwise_dtype)type;
        size_t size = ref_size(t);
        support_line(&x, t, n, 1, SUPPORT_HIGH);
        support_line(&y, t, n, 1, SUPPORT_HIGH);
        support_line(&out, t, n, 1, SUPPORT_HIGH);
        ones(&x);
        ones(&y);
        memset((char *)y.t.data + (size_t)(n - 1) * size, 0, size);
        refuse(divisions[type % DIVISIONS]);
    }
}
END_TEST

START_TEST(a_zero_in_a_strided_or_stretched_divisor_is_found)
{
    int64_t shape[] = {30, 40}, transposed[] = {1, 30}, few[] = {30, 1};
    for (int i = 0; i < DIVISIONS; i++) {
        support_make(&x, ELEMENTWISE_I32, 2, shape, NULL, SUPPORT_HIGH);
        support_make(&out, ELEMENTWISE_I32, 2, shape, NULL, SUPPORT_HIGH);
        support_make(&y, ELEMENTWISE_I32, 2, shape, transposed, SUPPORT_HIGH);
        ones(&x);
        ones(&y);
        ((int32_t *)y.t.data)[30 * 40 - 1] = 0;
        refuse(divisions[i]);
        support_make(&y, ELEMENTWISE_I32, 2, few, NULL, SUPPORT_HIGH);
        ones(&y);
        ((int32_t *)y.t.data)[29] = 0;
        refuse(divisions[i]);
    }
}
END_TEST

START_TEST(false_divides_like_0)
{
    support_line(&x, ELEMENTWISE_I16, 50, 1, SUPPORT_HIGH);
    support_line(&y, ELEMENTWISE_BOOL, 50, 1, SUPPORT_HIGH);
    support_line(&out, ELEMENTWISE_I16, 50, 1, SUPPORT_HIGH);
    support_fill(&x);
    ones(&y);
    for (int i = 0; i < DIVISIONS; i++) {
        ((unsigned char *)y.t.data)[49] = 0;
        refuse(divisions[i]);
        ((unsigned char *)y.t.data)[49] = 255;
        call_and_verify(divisions[i], -1);
    }
}
END_TEST

START_TEST(a_zero_that_divides_nothing_is_no_error)
{
    int64_t none[] = {0, 3}, row[] = {1, 3};
    support_make(&x, ELEMENTWISE_I32, 2, none, NULL, SUPPORT_HIGH);
    support_make(&y, ELEMENTWISE_I32, 2, row, NULL, SUPPORT_HIGH);
    support_make(&out, ELEMENTWISE_I32, 2, none, NULL, SUPPORT_HIGH);
    memset(y.t.data, 0, 12);
    for (int i = 0; i < DIVISIONS; i++)
        call_and_verify(divisions[i], -1);
}
END_TEST

START_TEST(zero_to_a_negative_power_is_refused_only_where_they_meet)
{
    support_line(&x, ELEMENTWISE_I64, 70, 1, SUPPORT_HIGH);
    support_line(&y, ELEMENTWISE_I8, 70, 1, SUPPORT_HIGH);
    support_line(&out, ELEMENTWISE_I64, 70, 1, SUPPORT_HIGH);
    ones(&x);
    ones(&y);
    ((int64_t *)x.t.data)[69] = 0;
    ((int8_t *)y.t.data)[68] = -1;
    call_and_verify(ELEMENTWISE_POW, -1);
    ((int8_t *)y.t.data)[69] = -2;
    refuse(ELEMENTWISE_POW);
}
END_TEST

/* ---------------------------------------------------------------------
 * Large outputs
 */

/* Odd in number and not aligned to anything but a float. */
enum { LARGE = (9 << 20) + 13, OFFSET = 1 };

static void large(struct support_tensor *s)
{
    support_line(s, ELEMENTWISE_F32, LARGE, 1, SUPPORT_HIGH);
    s->t.data = (float *)s->t.data - OFFSET;
}

static void verify_sum(int64_t step)
{
    const float *a = x.t.data, *b = y.t.data, *c = out.t.data;
    elementwise_status status = elementwise_add(&x.t, &y.t, -1, &out.t);
    ck_assert_int_eq(status, ELEMENTWISE_OK);
    for (int64_t i = 0; i < LARGE; i++) {
        float sum = a[i] + b[i * step];
        if (c[i] != sum)
            ck_abort_msg("element %lld: %a + %a is not %a", (long long)i, a[i],
                         b[i * step], c[i]);
    }
    const unsigned char *before = (const unsigned char *)c - 1,
                        *after = (const unsigned char *)(c + LARGE);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(before[-i], 0xA5);
    for (int i = 0; i < 4 * OFFSET; i++)
        ck_assert_uint_eq(after[i], 0xA5);
}

START_TEST(an_output_larger_than_the_caches_is_right)
{
    if (!support_level(_i))
        return;
    large(&x);
    large(&y);
    large(&out);
    for (int64_t i = 0; i < LARGE; i++) {
        ((float *)x.t.data)[i] = (float)i * 0.1f;
        ((float *)y.t.data)[i] = 3e6f / (float)(i + 1);
    }
    verify_sum(1);
    memset(out.t.data, 0xA5, LARGE * sizeof(float));
    support_line(&y, ELEMENTWISE_F32, 1, 1, SUPPORT_HIGH);
    *(float *)y.t.data = 0.3f;
    verify_sum(0);
}
END_TEST

START_TEST(the_version_is_that_of_the_header)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", ELEMENTWISE_VERSION_MAJOR,
             ELEMENTWISE_VERSION_MINOR, ELEMENTWISE_VERSION_PATCH);
    ck_assert_str_eq(elementwise_version(), text);
    ck_assert_int_eq(elementwise_version_number(),
                     ELEMENTWISE_VERSION_MAJOR * 10000 +
                         ELEMENTWISE_VERSION_MINOR * 100 +
                         ELEMENTWISE_VERSION_PATCH);
}
END_TEST

static void add_level_test(TCase *tests, const TTest *test)
{
    tcase_add_loop_test(tests, test, 0, EW_LEVELS);
}

static TCase *shapes_case(void)
{
    TCase *tests = support_case("shapes");
    tcase_add_test(tests,
                   all_small_shapes_give_the_reference_s_status_and_values);
    tcase_add_test(tests, out_of_another_shape_is_refused);
    tcase_add_test(tests, rank_64_is_computed_and_rank_65_refused);
    tcase_add_test(tests, zero_extents_do_nothing_even_without_data);
    return tests;
}

static TCase *calls_case(void)
{
    TCase *tests = support_case("calls");
    tcase_add_test(tests, the_version_is_that_of_the_header);
    add_level_test(tests, random_layouts_of_every_operation_and_type_are_right);
    add_level_test(tests,
                   random_types_are_computed_or_refused_as_the_reference_says);
    tcase_add_test(tests, every_pair_of_types_is_computed_or_refused);
    tcase_add_test(tests, every_type_of_out_is_written_or_refused);
    add_level_test(tests, strided_and_contiguous_operands_give_the_same_bits);
    add_level_test(tests, an_exponent_gives_the_same_bits_in_an_array_as_alone);
    add_level_test(tests, every_half_has_the_same_powers_in_an_array_as_alone);
    add_level_test(tests, functions_of_halves_are_those_of_f32_rounded_once);
    add_level_test(tests, in_place_gives_the_same_bits);
    tcase_add_test(tests, exact_operations_give_the_same_bits_at_every_level);
    tcase_add_test(tests, named_functions_equal_apply);
    return tests;
}

static TCase *values_case(void)
{
    TCase *tests = support_case("values");
    add_level_test(tests, special_values_are_right_in_all_pairs);
    add_level_test(tests, all_pairs_of_bytes_are_right);
    tcase_add_test(tests, special_values_of_two_types_are_right_in_all_pairs);
    tcase_add_test(tests, all_pairs_of_bytes_of_two_types_are_right);
    add_level_test(tests, many_random_values_are_right);
    add_level_test(tests, no_length_reads_or_writes_beyond_its_elements);
    add_level_test(tests, every_length_from_0_to_130_is_right);
    add_level_test(tests, an_output_larger_than_the_caches_is_right);
    return tests;
}

static TCase *division_case(void)
{
    TCase *tests = support_case("division by zero");
    tcase_add_test(tests,
                   a_zero_in_the_last_element_alone_is_found_before_writing);
    tcase_add_test(tests, a_zero_in_a_strided_or_stretched_divisor_is_found);
    tcase_add_test(tests, false_divides_like_0);
    tcase_add_test(tests, a_zero_that_divides_nothing_is_no_error);
    tcase_add_test(tests,
                   zero_to_a_negative_power_is_refused_only_where_they_meet);
    return tests;
}

int main(void)
{
    TCase *const cases[] = {shapes_case(), calls_case(), values_case(),
                            division_case(), NULL};
    return support_run("elementwise", cases);
}
