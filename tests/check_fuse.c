/*
 * Plans operations with options: which become part of op or of a kernel behind
 * it, which remain steps of their own, and which results take none. That the
 * results are right, check_activation.c tests.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "fuse.h"
#include "reference.h"
#include "support.h"
#include "table.h"

static struct support_tensor x, y, out;

enum { SAME = 600 }; /* elements of a result that is made in two ways */

static elementwise_options options_of(elementwise_act act, double scale_x,
                                      double scale_y)
{
    elementwise_options o = ELEMENTWISE_OPTIONS_INIT;
    o.act = act;
    o.scale_x = scale_x;
    o.scale_y = scale_y;
    return o;
}

START_TEST(neutral_options_are_nothing)
{
    elementwise_options o = ELEMENTWISE_OPTIONS_INIT;
    ck_assert(ew_fuse_nothing(NULL));
    o.alpha = 7;
    o.flags = ELEMENTWISE_STREAM;
    ck_assert(ew_fuse_nothing(&o));
    o = options_of(ELEMENTWISE_ACT_RELU, 1, 1);
    ck_assert(!ew_fuse_nothing(&o));
    o = options_of(ELEMENTWISE_ACT_NONE, 2, 1);
    ck_assert(!ew_fuse_nothing(&o));
    o = options_of(ELEMENTWISE_ACT_NONE, 1, NAN);
    ck_assert(!ew_fuse_nothing(&o));
}
END_TEST

/* A slope below 0 makes both signs positive. */
START_TEST(gradients_follow_from_results_that_tell_the_operand)
{
    static const struct {
        elementwise_act act;
        double alpha;
        bool takes;
    } acts[] = {{ELEMENTWISE_ACT_RELU, 0.01, true},
                {ELEMENTWISE_ACT_RELU6, 0.01, true},
                {ELEMENTWISE_ACT_LEAKY_RELU, 0.01, true},
                {ELEMENTWISE_ACT_LEAKY_RELU, 0, true},
                {ELEMENTWISE_ACT_LEAKY_RELU, -0.01, false},
                {ELEMENTWISE_ACT_LEAKY_RELU, NAN, false},
                {ELEMENTWISE_ACT_SIGMOID, -1, true},
                {ELEMENTWISE_ACT_TANH, -1, true},
                {ELEMENTWISE_ACT_GELU, 0.01, false},
                {ELEMENTWISE_ACT_SILU, 0.01, false}};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        elementwise_options o = options_of(acts[i].act, 1, 1);
        o.alpha = acts[i].alpha;
        ck_assert_msg(ew_fuse_takes_out(&o) == acts[i].takes, "%d", (int)i);
    }
}
END_TEST

/* A plan with options for rows of n elements of x and y, every `step`-th of
   which is used. */
static struct elementwise_plan plan_of(elementwise_op op,
                                       elementwise_dtype type, int64_t n,
                                       int64_t step,
                                       const elementwise_options *o)
{
    const int64_t shape[] = {3, n}, strides[] = {step * (n + 1), step};
    const int64_t of_out[] = {n + 1, 1};
    struct elementwise_plan p;
    elementwise_tensor a = {NULL, type, 2, shape, strides}, b = a;
    elementwise_tensor to = {NULL, type, 2, shape, of_out};
    ck_assert_int_eq(ew_plan_make(&p, op, &a, &b, -1, &to), 0);
    ck_assert_int_eq(ew_fuse_plan(&p, o), 0);
    return p;
}

static ew_kernel *kernel_of(const struct elementwise_plan *p, int op)
{
    elementwise_dtype type = p->types.compute[EW_OUT];
    return ew_table_kernel(p->level, op, type, type);
}

START_TEST(short_options_are_left_to_a_kernel_of_the_operation)
{
    for (int act = 0; act <= ELEMENTWISE_ACT_LEAKY_RELU; act++)
        for (int wide = 0; wide < 2; wide++) {
            elementwise_options o = options_of((elementwise_act)act, 3, 0.5);
            o.alpha = 0.25;
            struct elementwise_plan p =
                plan_of(ELEMENTWISE_MUL,
                        wide ? ELEMENTWISE_F64 : ELEMENTWISE_F32, 30, 1, &o);
            const struct ew_around *a = &p.pass.around;
            bool stops =
                act == ELEMENTWISE_ACT_RELU || act == ELEMENTWISE_ACT_RELU6;
            double want[EW_AROUNDS] = {
                3, 0.5, act == ELEMENTWISE_ACT_LEAKY_RELU ? 0.25 : 1,
                stops ? 0 : -INFINITY,
                act == ELEMENTWISE_ACT_RELU6 ? 6 : INFINITY};
            ck_assert(p.pass.op == kernel_of(&p, EW_WHOLE + ELEMENTWISE_MUL));
            ck_assert(!p.pass.act && !p.pass.scale[EW_X] &&
                      !p.pass.scale[EW_Y]);
            for (int i = 0; i < EW_AROUNDS; i++)
                ck_assert((wide ? a->f64[i] : a->f32[i]) == want[i]);
        }
}
END_TEST

/* Scales are left to op, the activation is not. */
START_TEST(long_activations_stay_steps_of_their_own)
{
    elementwise_options o = options_of(ELEMENTWISE_ACT_TANH, 3, 1);
    struct elementwise_plan p =
        plan_of(ELEMENTWISE_ADD, ELEMENTWISE_F32, 30, 1, &o);
    ck_assert(p.pass.act == ew_table_activation(p.level, ELEMENTWISE_F32,
                                                ELEMENTWISE_ACT_TANH));
    ck_assert(p.pass.op == kernel_of(&p, EW_WHOLE + ELEMENTWISE_ADD));
    ck_assert_ptr_null(p.pass.scale[EW_X]);
    ck_assert(!p.calls);
    o.scale_x = 1;
    p = plan_of(ELEMENTWISE_ADD, ELEMENTWISE_F32, 30, 1, &o);
    ck_assert(p.pass.op == kernel_of(&p, ELEMENTWISE_ADD));
}
END_TEST

START_TEST(operations_without_such_a_kernel_have_steps)
{
    elementwise_options o = options_of(ELEMENTWISE_ACT_RELU, 1, 0.5);
    struct elementwise_plan p =
        plan_of(ELEMENTWISE_ATAN2, ELEMENTWISE_F64, 30, 1, &o);
    ck_assert(p.pass.op == kernel_of(&p, ELEMENTWISE_ATAN2));
    ck_assert(p.pass.act == ew_table_activation(p.level, ELEMENTWISE_F64,
                                                ELEMENTWISE_ACT_RELU));
    ck_assert_ptr_null(p.pass.scale[EW_X]);
    ck_assert(p.pass.scale[EW_Y] ==
              ew_table_activation(p.level, ELEMENTWISE_F64, EW_SCALE));
    ck_assert(p.pass.factor[EW_Y].f64 == 0.5);
    ck_assert(!p.scaled[EW_X] && p.scaled[EW_Y] && !p.calls);
}
END_TEST

/* At every level; what is not only cut off is computed in f32. */
START_TEST(halves_that_are_cut_off_stay_halves)
{
    if (!support_level(_i))
        return;
    elementwise_options o = options_of(ELEMENTWISE_ACT_RELU6, 1, 1);
    struct elementwise_plan p =
        plan_of(ELEMENTWISE_POW, ELEMENTWISE_BF16, 300, 1, &o);
    ck_assert_int_eq(p.types.compute[EW_OUT], ELEMENTWISE_BF16);
    ck_assert(p.pass.act == ew_table_activation(p.level, ELEMENTWISE_BF16,
                                                ELEMENTWISE_ACT_RELU6));
    p = plan_of(ELEMENTWISE_ADD, ELEMENTWISE_F16, 300, 1, &o);
    ck_assert(p.pass.op == kernel_of(&p, ELEMENTWISE_ADD) && p.pass.act);
    o.act = ELEMENTWISE_ACT_TANH;
    p = plan_of(ELEMENTWISE_ADD, ELEMENTWISE_F16, 300, 1, &o);
    ck_assert_int_eq(p.types.compute[EW_OUT], ELEMENTWISE_F32);
}
END_TEST

/* On AVX-512; elsewhere, and after others, it is a step of its own. */
START_TEST(relu_of_halves_is_made_with_sums_and_products)
{
    static const elementwise_op ops[] = {ELEMENTWISE_ADD, ELEMENTWISE_SUB,
                                         ELEMENTWISE_MUL, ELEMENTWISE_MAX};
    elementwise_options o = options_of(ELEMENTWISE_ACT_RELU, 1, 1);
    if (!support_level(_i))
        return;
    for (int i = 0; i < 4 * 2; i++) {
        elementwise_dtype type = i % 2 ? ELEMENTWISE_BF16 : ELEMENTWISE_F16;
        elementwise_op op = ops[i / 2];
        bool with = _i >= EW_LEVEL_AVX512 && op != ELEMENTWISE_MAX;
        struct elementwise_plan p = plan_of(op, type, 300, 1, &o);
        ck_assert_int_eq(p.pass.act == NULL, with);
        ck_assert(p.pass.op == kernel_of(&p, (with ? EW_WHOLE : 0) + (int)op));
    }
}
END_TEST

/* From 1 KiB in the type of the computation on; not of operands that are
   gathered first. Where halves are no vectors they have no such kernel. */
START_TEST(an_activation_of_long_rows_makes_the_operation_too)
{
    static const struct {
        elementwise_dtype type;
        int64_t n, step;
        bool behind;
    } rows[] = {
        {ELEMENTWISE_F32, 256, 1, true},  {ELEMENTWISE_F32, 255, 1, false},
        {ELEMENTWISE_F64, 128, 1, true},  {ELEMENTWISE_F32, 512, 2, false},
        {ELEMENTWISE_F16, 256, 1, true},  {ELEMENTWISE_BF16, 255, 1, false},
        {ELEMENTWISE_BF16, 256, 2, false}};
    elementwise_options o = options_of(ELEMENTWISE_ACT_TANH, 1, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elementwise_plan p =
            plan_of(ELEMENTWISE_SUB, rows[i].type, rows[i].n, rows[i].step, &o);
        bool half = elementwise_dtype_size(rows[i].type) == 2;
        bool behind = rows[i].behind && !(half && p.level == EW_LEVEL_BASE);
        ck_assert_int_eq(p.pass.act == NULL, behind);
        ck_assert_int_eq(p.pass.op == p.pass.behind, behind);
        if (behind)
            ck_assert(p.pass.around.op == kernel_of(&p, ELEMENTWISE_SUB));
        ck_assert_int_eq(p.act, ELEMENTWISE_ACT_TANH);
    }
}
END_TEST

/* Calls of several rows, for which a row that they share is repeated, are
   chosen for op alone: with more to do they are folded. */
START_TEST(rows_are_folded_again_with_options)
{
    const int64_t shape[] = {100, 7};
    const elementwise_options options[] = {
        options_of(ELEMENTWISE_ACT_NONE, 1, 1),
        options_of(ELEMENTWISE_ACT_NONE, 2, 1),
        options_of(ELEMENTWISE_ACT_RELU, 1, 1),
        options_of(ELEMENTWISE_ACT_TANH, 1, 1)};
    elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
    elementwise_tensor b = {NULL, ELEMENTWISE_F32, 1, shape + 1, NULL};
    for (int i = 0; i < 4; i++) {
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &a), 0);
        ck_assert_int_eq(ew_pass_repeated(&p.pass), 2);
        ck_assert_int_eq(ew_fuse_plan(&p, &options[i]), 0);
        ck_assert_int_eq(ew_pass_repeated(&p.pass), i == 0 ? 2 : 0);
        ck_assert_int_eq(p.pass.fold, i != 0);
    }
}
END_TEST

START_TEST(a_plan_says_what_is_fused)
{
    int64_t n = 5;
    char json[1000];
    elementwise_plan *plan;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    elementwise_tensor a = {NULL, ELEMENTWISE_F32, 1, &n, NULL};
    options.act = ELEMENTWISE_ACT_SILU;
    options.scale_y = 3;
    elementwise_plan_create(&plan, ELEMENTWISE_ADD, &a, &a, -1, &a, &options);
    elementwise_plan_describe(plan, json, sizeof json);
    elementwise_plan_destroy(plan);
    ck_assert_ptr_nonnull(strstr(json, "\"tiles\":true"));
    ck_assert_ptr_nonnull(strstr(json, "\"act\":\"silu\",\"scaled\":[\"y\"]"));
    options.scale_x = 0;
    elementwise_plan_create(&plan, ELEMENTWISE_ADD, &a, &a, -1, &a, &options);
    elementwise_plan_describe(plan, json, sizeof json);
    elementwise_plan_destroy(plan);
    ck_assert_ptr_nonnull(strstr(json, "\"scaled\":[\"x\",\"y\"]"));
}
END_TEST

/* Results that are no floats have no activation and no scales. */
static void refuse(elementwise_op op, elementwise_dtype type,
                   elementwise_dtype result, const elementwise_options *o,
                   const char *says)
{
    int64_t n = 7;
    elementwise_plan *plan;
    support_line(&x, type, n, 1, SUPPORT_HIGH);
    support_line(&y, type, n, 1, SUPPORT_HIGH);
    support_line(&out, result, n, 1, SUPPORT_HIGH);
    support_fill(&x);
    support_fill(&y);
    support_keep(&out);
    ck_assert_int_eq(elementwise_apply(op, &x.t, &y.t, -1, &out.t, o),
                     ELEMENTWISE_BAD_DTYPE);
    ck_assert_msg(strstr(elementwise_last_error(), says), "%s",
                  elementwise_last_error());
    ck_assert(support_same(&out));
    ck_assert_int_eq(
        elementwise_plan_create(&plan, op, &x.t, &y.t, -1, &out.t, o),
        ELEMENTWISE_BAD_DTYPE);
    ck_assert_ptr_null(plan);
}

/* Runs op by a plan, and the same without one: whether that is done, and is
   the same then, of a NaN whatever its bits. */
static bool runs_without_plan(elementwise_op op, const elementwise_options *o,
                              bool *same)
{
    static double want[SAME];
    elementwise_plan *plan;
    elementwise_dtype type = out.t.dtype;
    int64_t size = (int64_t)elementwise_dtype_size(type), n = out.shape[0];
    ck_assert_int_eq(
        elementwise_plan_create(&plan, op, &x.t, &y.t, -1, &out.t, o), 0);
    elementwise_plan_run(plan, x.t.data, y.t.data, out.t.data);
    elementwise_plan_destroy(plan);
    memcpy(want, out.t.data, (size_t)(n * size));
    memset(out.t.data, 0xA5, (size_t)(n * size));
    if (!ew_fuse_run(op, &x.t, &y.t, &out.t, o))
        return false;
    *same = true;
    for (int64_t i = 0; i < n; i++)
        *same &= ref_same(type, (const char *)want + i * size,
                          (const char *)out.t.data + i * size);
    return true;
}

/* A row or a number. */
static void draw(struct support_tensor *t, elementwise_dtype type, int64_t n)
{
    support_make(t, type, n > 0, &n, NULL, SUPPORT_HIGH);
    for (int64_t i = 0; i < (n ? n : 1); i++)
        support_value(type,
                      t->area + i * (int64_t)elementwise_dtype_size(type));
}

/* Whether options ask for what one kernel makes of x op y, or, of halves that
   are cut off, perhaps two, one after the other. */
static bool is_simple(elementwise_op op, elementwise_dtype type,
                      const elementwise_options *o)
{
    bool scaled = o->scale_x != 1 || o->scale_y != 1;
    bool half = type == ELEMENTWISE_F16 || type == ELEMENTWISE_BF16;
    bool cut =
        o->act == ELEMENTWISE_ACT_RELU || o->act == ELEMENTWISE_ACT_RELU6;
    const int level = ew_cpu_level();
    if (half && cut && !scaled)
        return ew_table_direct(level, (int)op, type);
    if ((int)op <= EW_WHOLE_LAST && o->act <= ELEMENTWISE_ACT_LEAKY_RELU)
        return !half || ew_table_direct(level, EW_WHOLE + (int)op, type);
    return o->act > ELEMENTWISE_ACT_LEAKY_RELU && !scaled &&
           (!half || level > EW_LEVEL_BASE);
}

/* One of x and y may be a number. */
START_TEST(simple_calls_are_made_without_a_plan)
{
    static const elementwise_op ops[] = {
        ELEMENTWISE_ADD, ELEMENTWISE_SUB, ELEMENTWISE_MUL, ELEMENTWISE_DIV,
        ELEMENTWISE_MAX, ELEMENTWISE_MIN, ELEMENTWISE_POW, ELEMENTWISE_HYPOT};
    static const double scales[][2] = {{1, 1}, {-1.5, 1}, {1, 2}, {1, 1}};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 8 * 4 * 8 * 12; i++) {
        int64_t n = support_random(1, SAME);
        elementwise_op op = ops[i % 8];
        elementwise_dtype type = ELEMENTWISE_F16 + i / 8 % 4;
        const double *scale = scales[i / 256 % 4];
        elementwise_options o =
            options_of((elementwise_act)(i / 32 % 8), scale[0], scale[1]);
        bool same = false;
        if (ew_fuse_nothing(&o))
            continue;
        draw(&x, type, i % 5 == 0 ? 0 : n);
        draw(&y, type, i % 5 == 1 ? 0 : n);
        support_make(&out, type, 1, &n, NULL, SUPPORT_LOW);
        bool runs = runs_without_plan(op, &o, &same);
        ck_assert_int_eq(runs, is_simple(op, type, &o));
        ck_assert_msg(same || !runs, "op %d, case %d, %d elements", (int)op, i,
                      (int)n);
    }
}
END_TEST

/* What is more than the L1 cache takes is left to the plan, which cuts it off
   tile by tile. */
START_TEST(many_halves_need_a_plan)
{
    elementwise_options o = options_of(ELEMENTWISE_ACT_RELU, 1, 1);
    for (int64_t n = EW_TILE_BYTES / 2; n <= EW_TILE_BYTES / 2 + 1; n++) {
        draw(&x, ELEMENTWISE_BF16, n);
        draw(&y, ELEMENTWISE_BF16, n);
        draw(&out, ELEMENTWISE_BF16, n);
        ck_assert_int_eq(ew_fuse_run(ELEMENTWISE_MAX, &x.t, &y.t, &out.t, &o),
                         n <= EW_TILE_BYTES / 2);
    }
}
END_TEST

START_TEST(other_calls_need_a_plan)
{
    elementwise_options o = options_of(ELEMENTWISE_ACT_RELU, 1, 1);
    draw(&x, ELEMENTWISE_F32, 8);
    draw(&y, ELEMENTWISE_F32, 8);
    draw(&out, ELEMENTWISE_F32, 8);
    ck_assert(ew_fuse_run(ELEMENTWISE_ADD, &x.t, &y.t, &out.t, &o));
    ck_assert(!ew_fuse_run(ELEMENTWISE_EQUAL, &x.t, &y.t, &out.t, &o));
    ck_assert(!ew_fuse_run(ELEMENTWISE_ADD, NULL, &y.t, &out.t, &o));
    ck_assert(!ew_fuse_run(ELEMENTWISE_ADD, &x.t, &y.t, NULL, &o));
    ck_assert(!ew_fuse_run((elementwise_op)0, &x.t, &y.t, &out.t, &o));
    o.flags = ELEMENTWISE_STREAM;
    ck_assert(!ew_fuse_run(ELEMENTWISE_ADD, &x.t, &y.t, &out.t, &o));
    o = options_of(ELEMENTWISE_ACT_TANH, 2, 1);
    ck_assert(!ew_fuse_run(ELEMENTWISE_ADD, &x.t, &y.t, &out.t, &o));
    o = options_of(ELEMENTWISE_ACT_RELU, 1, 1);
    y.shape[0] = 7;
    ck_assert(!ew_fuse_run(ELEMENTWISE_ADD, &x.t, &y.t, &out.t, &o));
    y.shape[0] = 8;
    y.t.dtype = ELEMENTWISE_I32;
    ck_assert(!ew_fuse_run(ELEMENTWISE_ADD, &x.t, &y.t, &out.t, &o));
    draw(&y, ELEMENTWISE_F16, 8);
    draw(&x, ELEMENTWISE_F16, 8);
    draw(&out, ELEMENTWISE_F16, 8);
    o = options_of(ELEMENTWISE_ACT_SILU, 1, 1);
    ck_assert(!ew_fuse_run(ELEMENTWISE_NEXTAFTER, &x.t, &y.t, &out.t, &o));
}
END_TEST

START_TEST(results_that_are_no_floats_are_refused)
{
    elementwise_options act = ELEMENTWISE_OPTIONS_INIT, scale = act,
                        other = act;
    act.act = ELEMENTWISE_ACT_RELU;
    scale.scale_x = 2;
    other.scale_y = NAN;
    for (int t = ELEMENTWISE_BOOL; t <= ELEMENTWISE_U64; t++) {
        elementwise_dtype type = (elementwise_dtype)t;
        refuse(ELEMENTWISE_ADD, type, type, &act, "act relu");
        refuse(ELEMENTWISE_ADD, type, type, &scale, "scale_x");
        refuse(ELEMENTWISE_ADD, type, type, &other, "scale_y");
    }
    refuse(ELEMENTWISE_LESS_THAN, ELEMENTWISE_F32, ELEMENTWISE_BOOL, &act,
           "act relu");
    refuse(ELEMENTWISE_LESS_THAN, ELEMENTWISE_F32, ELEMENTWISE_BOOL, &scale,
           "scale_x");
    refuse(ELEMENTWISE_ADD, ELEMENTWISE_C64, ELEMENTWISE_C64, &act, "c64");
    refuse(ELEMENTWISE_MUL, ELEMENTWISE_C128, ELEMENTWISE_C128, &act, "c128");
}
END_TEST

START_TEST(sums_take_neither)
{
    float one = 1, sum = 5;
    elementwise_tensor a = {&one, ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_tensor to = {&sum, ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_options act = ELEMENTWISE_OPTIONS_INIT, scale = act;
    act.act = ELEMENTWISE_ACT_TANH;
    scale.scale_y = 0;
    ck_assert_int_eq(elementwise_sum_to(&a, -1, &to, &act),
                     ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_sum_to(&a, -1, &to, &scale),
                     ELEMENTWISE_INVALID);
    ck_assert(sum == 5);
}
END_TEST

int main(void)
{
    TCase *options = support_case("options"),
          *refused = support_case("refused");
    tcase_add_test(options, neutral_options_are_nothing);
    tcase_add_test(options,
                   gradients_follow_from_results_that_tell_the_operand);
    tcase_add_test(options,
                   short_options_are_left_to_a_kernel_of_the_operation);
    tcase_add_test(options, long_activations_stay_steps_of_their_own);
    tcase_add_test(options, operations_without_such_a_kernel_have_steps);
    tcase_add_loop_test(options, halves_that_are_cut_off_stay_halves, 0,
                        EW_LEVELS);
    tcase_add_loop_test(options, relu_of_halves_is_made_with_sums_and_products,
                        0, EW_LEVELS);
    tcase_add_test(options, an_activation_of_long_rows_makes_the_operation_too);
    tcase_add_test(options, rows_are_folded_again_with_options);
    tcase_add_test(options, a_plan_says_what_is_fused);
    tcase_add_loop_test(options, simple_calls_are_made_without_a_plan, 0,
                        EW_LEVELS);
    tcase_add_test(options, many_halves_need_a_plan);
    tcase_add_test(options, other_calls_need_a_plan);
    tcase_add_test(refused, results_that_are_no_floats_are_refused);
    tcase_add_test(refused, sums_take_neither);
    TCase *const cases[] = {options, refused, NULL};
    return support_run("fuse", cases);
}
