/*
 * Runs operations with scales before them and an activation after them, on
 * random layouts and types and on special values, and compares each element
 * with the formula in long double.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "reference.h"
#include "support.h"

enum { ACTS = ELEMENTWISE_ACT_SILU + 1 };

static struct support_tensor x, y, out;

/* The definition, but for infinities: there the limit. */
static long double exact(elementwise_act act, double alpha, long double z)
{
    switch (act) {
    case ELEMENTWISE_ACT_RELU:
        return z > 0 || z != z ? z : 0;
    case ELEMENTWISE_ACT_RELU6:
        return z > 6 ? 6 : z > 0 || z != z ? z : 0;
    case ELEMENTWISE_ACT_LEAKY_RELU:
        return z >= 0 ? z : alpha * z;
    case ELEMENTWISE_ACT_SIGMOID:
        return 1 / (1 + expl(-z));
    case ELEMENTWISE_ACT_TANH:
        return tanhl(z);
    case ELEMENTWISE_ACT_GELU:
        return z < -100 ? -0.0L : z * (erfcl(-z / sqrtl(2)) / 2);
    case ELEMENTWISE_ACT_SILU:
        return z < -12000 ? -0.0L : z / (1 + expl(-z));
    default:
        return z;
    }
}

static int digits_of(elementwise_dtype type)
{
    return type == ELEMENTWISE_F16    ? 11
           : type == ELEMENTWISE_BF16 ? 8
           : type == ELEMENTWISE_F32  ? 24
                                      : 53;
}

static int least_of(elementwise_dtype type)
{
    return type == ELEMENTWISE_F16    ? -24
           : type == ELEMENTWISE_BF16 ? -133
           : type == ELEMENTWISE_F32  ? -149
                                      : -1074;
}

/* The bound on the error in ULP: that of the documentation. f16 and bf16 are
   rounded from f32; what is only compared or multiplied is rounded once. */
static double bound_of(elementwise_act act, elementwise_dtype type)
{
    if (act < ELEMENTWISE_ACT_SIGMOID)
        return type < ELEMENTWISE_F32 ? 0.5001 : 0.5;
    if (type == ELEMENTWISE_F16)
        return 0.5003;
    if (type == ELEMENTWISE_BF16)
        return 0.5001;
    if (act == ELEMENTWISE_ACT_SIGMOID && type == ELEMENTWISE_F32)
        return 1.75;
    return act == ELEMENTWISE_ACT_GELU && type == ELEMENTWISE_F64 ? 9 : 2;
}

static bool is_near(double got, long double want, double bound,
                    elementwise_dtype type)
{
    int exponent;
    if (want != want || got != got)
        return want != want && got != got;
    frexpl(want, &exponent);
    int unit = exponent - digits_of(type);
    if (unit < least_of(type))
        unit = least_of(type);
    long double largest = ldexpl(1, type == ELEMENTWISE_F16   ? 16
                                    : type == ELEMENTWISE_F64 ? 1024
                                                              : 128);
    if (isinf(got)) /* the values that round to it */
        return want * got > 0 &&
               fabsl(want) >= largest - ldexpl(largest, -digits_of(type) - 1);
    return fabsl(got - want) <= ldexpl(bound, unit) &&
           (got != 0 || want != 0 || !signbit(got) == !signbit(want));
}

/* One call, its operands as they were. */
struct call {
    elementwise_op op;
    elementwise_dtype compute, result;
    const elementwise_options *options;
    struct ref_fit fit;
};

/* A product with a factor, rounded once: exactly in long double, which holds
   the product of two floats, or in double. */
static double scaled(double factor, double value, elementwise_dtype type)
{
    if (factor == 1)
        return value;
    if (type == ELEMENTWISE_F64 || type == ELEMENTWISE_C128) {
        volatile double product = factor * value;
        return product;
    }
    volatile float narrow = (float)((double)(float)factor * value);
    return narrow;
}

static struct ref_value operand(const struct call *c,
                                const elementwise_tensor *t, const int of[],
                                const int64_t index[], double factor)
{
    struct ref_value v =
        ref_load(t->dtype, ref_element(t, c->fit.ndim, of, index));
    v = ref_convert(&v, c->compute);
    v.re = scaled(factor, v.re, c->compute);
    v.im = scaled(factor, v.im, c->compute);
    return v;
}

static void verify_element(const struct call *c, const int64_t index[])
{
    const elementwise_options *o = c->options;
    struct ref_value z, got;
    struct ref_value a = operand(c, &x.was, c->fit.x, index, o->scale_x);
    struct ref_value b = operand(c, &y.was, c->fit.y, index, o->scale_y);
    ck_assert_int_eq(ref_compute(c->op, &a, &b, &z), ELEMENTWISE_OK);
    got = ref_load(out.t.dtype, ref_at(&out.t, index));
    if (ref_is_complex(c->compute)) {
        ck_assert_msg(
            (got.re == z.re || (got.re != got.re && z.re != z.re)) &&
                (got.im == z.im || (got.im != got.im && z.im != z.im)),
            "%s of scaled c: %g %gi, not %g %gi", elementwise_op_name(c->op),
            got.re, got.im, z.re, z.im);
        return;
    }
    double alpha = c->compute == ELEMENTWISE_F64 ? o->alpha : (float)o->alpha;
    long double want = exact(o->act, alpha, z.re);
    double bound = bound_of(o->act, c->result);
    bool near = is_near(got.re, want, bound, c->result);
    if (out.t.dtype != c->result) /* rounded again, to whichever is coarser */
        near = is_near(got.re, want, bound + 0.1, c->result) ||
               is_near(got.re, want, bound + 0.1, out.t.dtype);
    char one[80], two[80], to[80];
    support_describe(&x.was, one, sizeof one);
    support_describe(&y.was, two, sizeof two);
    support_describe(&out.t, to, sizeof to);
    ck_assert_msg(near,
                  "%s(%g * %g %s %g * %g) = %s(%.20g): %.20g, not %.20Lg; "
                  "%s, %s, %s",
                  elementwise_act_name(o->act), o->scale_x, a.re,
                  elementwise_op_name(c->op), o->scale_y, b.re,
                  elementwise_act_name(o->act), z.re, got.re, want, one, two,
                  to);
}

static void verify(elementwise_status status, elementwise_op op, int axis,
                   const elementwise_options *options)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    struct call c = {.op = op, .options = options};
    ck_assert_msg(!status, "%s", elementwise_last_error());
    ck_assert(support_gaps_same(&out));
    ck_assert_int_eq(ref_fit(&x.was, &y.was, axis, &c.fit), ELEMENTWISE_OK);
    ref_result_type(op, x.was.dtype, y.was.dtype, &c.result);
    c.compute = c.result;
    if (digits_of(c.result) < 24)
        c.compute = ELEMENTWISE_F32;
    for (int i = 0; i < out.t.ndim; i++)
        if (out.t.shape[i] == 0)
            return;
    do
        verify_element(&c, index);
    while (ref_next(c.fit.ndim, c.fit.shape, index));
}

static void random_options(elementwise_options *o, bool complex)
{
    static const double factors[] = {1, 0.1, -2.5, 3};
    static const double alphas[] = {0.01, 0.3, 0, -1};
    *o = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    o->scale_x = factors[support_random(0, 3)];
    o->scale_y = factors[support_random(0, 3)];
    o->flags = support_random(0, 1) ? ELEMENTWISE_STREAM : 0;
    if (!complex) {
        o->act = (elementwise_act)support_random(0, ACTS - 1);
        o->alpha = alphas[support_random(0, 3)];
    }
}

static elementwise_status run(elementwise_op op, int axis,
                              const elementwise_options *options, bool planned)
{
    elementwise_plan *plan;
    if (!planned)
        return elementwise_apply(op, &x.t, &y.t, axis, &out.t, options);
    elementwise_status status =
        elementwise_plan_create(&plan, op, &x.t, &y.t, axis, &out.t, options);
    if (!status)
        status = elementwise_plan_run(plan, x.t.data, y.t.data, out.t.data);
    elementwise_plan_destroy(plan);
    return status;
}

static void make_random(struct support_tensor *s, elementwise_dtype type,
                        int ndim, const int64_t shape[], bool input)
{
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    support_strides(ndim, shape, input, strides);
    support_make(s, type, ndim, shape, support_random(0, 1) ? strides : NULL,
                 support_random(0, 1) ? SUPPORT_LOW : SUPPORT_HIGH);
    support_fill(s);
    support_keep(s);
}

/* The operations that are exact or rounded once, so that there is one z. */
static const elementwise_op ops[] = {
    ELEMENTWISE_ADD, ELEMENTWISE_SUB, ELEMENTWISE_MUL, ELEMENTWISE_DIV,
    ELEMENTWISE_MAX, ELEMENTWISE_MIN, ELEMENTWISE_FMIN};
enum { OPS = sizeof ops / sizeof *ops };

static void try_random(void)
{
    struct support_shapes s;
    elementwise_options options;
    elementwise_op op = ops[support_random(0, OPS - 1)];
    elementwise_dtype tx = (elementwise_dtype)support_random(1, 15);
    elementwise_dtype ty =
        support_random(0, 1) ? (elementwise_dtype)support_random(1, 15) : tx;
    elementwise_dtype to = (elementwise_dtype)support_random(1, 15), result;
    if (elementwise_result_type(op, tx, ty, &result))
        return;
    bool complex = ref_is_complex(result);
    if ((!complex && !ref_is_float(result)) ||
        (complex && op > ELEMENTWISE_SUB)) /* exact by parts */
        return;
    if (complex || !ref_writes(op, tx, ty, to) || ref_is_complex(to))
        to = result;
    support_pair(3, 5, &s);
    make_random(&x, tx, s.x_ndim, s.x, true);
    make_random(&y, ty, s.y_ndim, s.y, true);
    make_random(&out, to, s.ndim, s.out, false);
    random_options(&options, complex);
    elementwise_status status = run(op, s.axis, &options, support_random(0, 1));
    ck_assert(support_same(&x) && support_same(&y));
    verify(status, op, s.axis, &options);
}

START_TEST(every_layout_and_type_gives_the_formula)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 100000 : 4000); round++)
        try_random();
}
END_TEST

/* Long rows, short rows that are folded, transposed inputs: tiles of every
   sort, and one operand that stands still. */
START_TEST(every_way_to_run_gives_the_formula)
{
    static const struct {
        int64_t shape[2], x[2], y[2];
    } ways[] = {
        {{3, 3000}, {3000, 1}, {0, 1}},   {{900, 3}, {3, 1}, {0, 1}},
        {{900, 3}, {3, 1}, {1, 0}},       {{900, 3}, {4, 1}, {0, 0}},
        {{70, 64}, {1, 70}, {64, 1}},     {{70, 64}, {0, 1}, {1, 70}},
        {{4100, 1}, {1, 1}, {0, 0}},      {{40, 100}, {0, 0}, {1, 0}},
        {{40, 100}, {200, 2}, {-100, 1}}, {{5, 300}, {300, 1}, {300, 1}},
        {{5, 300}, {0, 1}, {1, 0}},       {{5, 30}, {32, 1}, {1, 0}},
        {{5, 30}, {30, 1}, {32, 1}},      {{100, 49}, {49, 1}, {0, 1}},
        {{100, 49}, {0, 1}, {49, 1}}};
    elementwise_options options;
    elementwise_op op = ops[_i % OPS];
    if (!support_level(_i / OPS))
        return;
    int last = op <= ELEMENTWISE_SUB ? ELEMENTWISE_C64 : ELEMENTWISE_F64;
    for (int type = ELEMENTWISE_F16; type <= last; type++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            elementwise_dtype t = (elementwise_dtype)type;
            support_make(&x, t, 2, ways[w].shape, ways[w].x, SUPPORT_HIGH);
            support_make(&y, t, 2, ways[w].shape, ways[w].y, SUPPORT_HIGH);
            support_make(&out, t, 2, ways[w].shape, NULL, SUPPORT_LOW);
            support_fill(&x);
            support_fill(&y);
            support_keep(&x);
            support_keep(&y);
            support_keep(&out);
            random_options(&options, type == ELEMENTWISE_C64);
            verify(run(op, -1, &options, w % 2), op, -1, &options);
        }
}
END_TEST

/* Values where functions bend, and where their results over- or underflow. */
static double value_near(int i, elementwise_dtype type)
{
    static const double reach[] = {1, 7, 20, 120, 800};
    double sign = support_random(0, 1) ? 1 : -1;
    double value = sign * ldexp((double)(support_bits() >> 11), -53);
    (void)type;
    if (i % 6 == 5)
        return ldexp(value, -(int)support_random(0, 1074));
    return value * reach[i % 6];
}

START_TEST(values_of_all_sizes_are_within_the_bound)
{
    elementwise_act act = (elementwise_act)(_i % ACTS);
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    int64_t n = support_long() ? 1000000 : 5000;
    if (!support_level(_i / ACTS))
        return;
    options.act = act;
    for (int type = ELEMENTWISE_F16; type <= ELEMENTWISE_F64; type++) {
        elementwise_dtype t = (elementwise_dtype)type;
        char specials[SUPPORT_SPECIALS * 16];
        int count = support_specials(t, specials);
        support_line(&x, t, n, 1, SUPPORT_HIGH);
        support_line(&y, t, 1, 1, SUPPORT_HIGH);
        support_line(&out, t, n, 1, SUPPORT_LOW);
        for (int64_t i = 0; i < n; i++) {
            struct ref_value v =
                ref_float(ELEMENTWISE_F64, value_near((int)i, t), 0);
            v = ref_convert(&v, t);
            ref_store(&v, ref_at(&x.t, &i));
            if (i < count)
                memcpy(ref_at(&x.t, &i), specials + i * ref_size(t),
                       ref_size(t));
        }
        struct ref_value zero = ref_float(t, -0.0, 0);
        ref_store(&zero, y.t.data);
        support_keep(&x);
        support_keep(&y);
        support_keep(&out);
        verify(run(ELEMENTWISE_ADD, -1, &options, false), ELEMENTWISE_ADD, -1,
               &options);
    }
}
END_TEST

START_TEST(zeros_infinities_and_nan_have_the_limits)
{
    static const struct {
        elementwise_act act;
        double zero, negative_zero, infinite, negative_infinite;
    } limits[] = {{ELEMENTWISE_ACT_RELU, 0, 0, INFINITY, 0},
                  {ELEMENTWISE_ACT_RELU6, 0, 0, 6, 0},
                  {ELEMENTWISE_ACT_LEAKY_RELU, 0, -0.0, INFINITY, -INFINITY},
                  {ELEMENTWISE_ACT_SIGMOID, 0.5, 0.5, 1, 0},
                  {ELEMENTWISE_ACT_TANH, 0, -0.0, 1, -1},
                  {ELEMENTWISE_ACT_GELU, 0, -0.0, INFINITY, -0.0},
                  {ELEMENTWISE_ACT_SILU, 0, -0.0, INFINITY, -0.0}};
    int64_t n = 5;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        double a[] = {0, -0.0, INFINITY, -INFINITY, NAN}, got[5];
        const double *want = &limits[i].zero, zero = -0.0;
        elementwise_tensor in = {a, ELEMENTWISE_F64, 1, &n, NULL};
        elementwise_tensor add = {(void *)&zero, ELEMENTWISE_F64, 0, 0, 0};
        elementwise_tensor to = {got, ELEMENTWISE_F64, 1, &n, NULL};
        elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
        options.act = limits[i].act;
        ck_assert_int_eq(
            elementwise_apply(ELEMENTWISE_ADD, &in, &add, -1, &to, &options),
            0);
        for (int k = 0; k < 4; k++)
            ck_assert_msg(
                got[k] == want[k] && !signbit(got[k]) == !signbit(want[k]),
                "%s(%g) = %g", elementwise_act_name(options.act), a[k], got[k]);
        ck_assert(got[4] != got[4]);
    }
}
END_TEST

/* One whose bits are all 1 is no number either after rounding to fewer. */
START_TEST(options_that_are_nan_make_nan)
{
    const uint64_t ones = UINT64_MAX;
    double nan;
    memcpy(&nan, &ones, sizeof nan);
    for (int type = ELEMENTWISE_F16; type <= ELEMENTWISE_F64; type++)
        for (int which = 0; which < 3; which++) {
            elementwise_dtype t = (elementwise_dtype)type;
            elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
            options.act = ELEMENTWISE_ACT_LEAKY_RELU;
            *(which == 0   ? &options.alpha
              : which == 1 ? &options.scale_x
                           : &options.scale_y) = nan;
            support_line(&x, t, 40, 1, SUPPORT_HIGH);
            support_line(&y, t, 40, 1, SUPPORT_HIGH);
            support_line(&out, t, 40, 1, SUPPORT_LOW);
            struct ref_value minus_1 = ref_float(t, -1, 0);
            for (int64_t i = 0; i < 40; i++) {
                ref_store(&minus_1, ref_at(&x.t, &i));
                ref_store(&minus_1, ref_at(&y.t, &i));
            }
            ck_assert(!run(ELEMENTWISE_ADD, -1, &options, false));
            for (int64_t i = 0; i < 40; i++)
                ck_assert(isnan(ref_load(t, ref_at(&out.t, &i)).re));
        }
}
END_TEST

START_TEST(out_may_be_an_operand)
{
    elementwise_options options;
    int64_t shape[] = {30, 100};
    for (int round = 0; round < 40; round++) {
        elementwise_dtype t =
            (elementwise_dtype)support_random(ELEMENTWISE_F16, ELEMENTWISE_F64);
        make_random(&x, t, 2, shape, false);
        make_random(&y, t, 2, shape, false);
        random_options(&options, false);
        struct support_tensor keep = out, *in = round % 2 ? &x : &y;
        out = *in;
        elementwise_status status = run(ELEMENTWISE_SUB, -1, &options, false);
        verify(status, ELEMENTWISE_SUB, -1, &options);
        out = keep;
    }
}
END_TEST

/* N results of one activation on operands of which each is `step` after the
   other; x + -0 is x. */
enum { N = 1000 };
static void compute(elementwise_act act, unsigned flags, elementwise_dtype type,
                    int64_t step, void *from, void *got)
{
    double zero = -0.0;
    float short_zero = -0.0f;
    bool wide = type == ELEMENTWISE_F64;
    int64_t n = N;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.act = act;
    options.flags = flags;
    elementwise_tensor in = {from, type, 1, &n, &step};
    elementwise_tensor add = {wide ? (void *)&zero : &short_zero, type, 0, NULL,
                              NULL};
    elementwise_tensor to = {got, type, 1, &n, &step};
    ck_assert_int_eq(
        elementwise_apply(ELEMENTWISE_ADD, &in, &add, -1, &to, &options), 0);
}

/* However an operand lies in memory, and even past the caches from within a
   line on, the same bits come out. On f32 they are
   those of every level, on f64 those of all with a fused multiply-add. */
START_TEST(strides_and_levels_do_not_change_a_bit)
{
    static double a[N], spread[3 * N], first[N], got[3 * N], past[N + 2];
    static float fa[N], fspread[3 * N], ffirst[N], fgot[3 * N], fpast[N + 2];
    elementwise_act act = (elementwise_act)_i;
    for (int i = 0; i < N; i++) {
        a[i] = spread[3 * i] = value_near(i, ELEMENTWISE_F64);
        fa[i] = fspread[3 * i] = (float)a[i];
    }
    for (int level = 0; level < 3 && support_level(level); level++) {
        if (level < 1)
            compute(act, 0, ELEMENTWISE_F32, 1, fa, ffirst);
        if (level < 2)
            compute(act, 0, ELEMENTWISE_F64, 1, a, first);
        compute(act, 0, ELEMENTWISE_F64, 3, spread, got);
        compute(act, 0, ELEMENTWISE_F32, 3, fspread, fgot);
        compute(act, ELEMENTWISE_STREAM, ELEMENTWISE_F64, 1, a, past + 1);
        compute(act, ELEMENTWISE_STREAM, ELEMENTWISE_F32, 1, fa, fpast + 1);
        ck_assert_mem_eq(past + 1, first, sizeof first);
        ck_assert_mem_eq(fpast + 1, ffirst, sizeof ffirst);
        ck_assert(past[0] == 0 && past[N + 1] == 0);
        ck_assert(fpast[0] == 0 && fpast[N + 1] == 0);
        for (int i = 0; i < N; i++) {
            ck_assert_msg(memcmp(&got[3 * i], &first[i], sizeof *got) == 0,
                          "%s of %.17g", elementwise_act_name(act), a[i]);
            ck_assert_msg(memcmp(&fgot[3 * i], &ffirst[i], sizeof *fgot) == 0,
                          "%s of %.9g", elementwise_act_name(act), fa[i]);
        }
    }
}
END_TEST

/* A product is not rounded to f16 on its way to the activation, whatever the
   operation. */
START_TEST(products_stay_in_f32_before_an_activation)
{
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    const uint16_t one = 0x3c00;
    options.act = ELEMENTWISE_ACT_SIGMOID;
    options.scale_x = 0.3;
    for (unsigned bits = 0; bits < 0x4c00; bits++) {
        uint16_t in = (uint16_t)bits, by_mul, by_copysign;
        elementwise_tensor a = {&in, ELEMENTWISE_F16, 0, NULL, NULL}, to = a;
        elementwise_tensor b = {(void *)&one, ELEMENTWISE_F16, 0, NULL, NULL};
        to.data = &by_mul;
        ck_assert_int_eq(
            elementwise_apply(ELEMENTWISE_MUL, &a, &b, -1, &to, &options),
            ELEMENTWISE_OK);
        to.data = &by_copysign;
        ck_assert_int_eq(
            elementwise_apply(ELEMENTWISE_COPYSIGN, &a, &b, -1, &to, &options),
            ELEMENTWISE_OK);
        ck_assert_uint_eq(by_mul, by_copysign);
    }
}
END_TEST

/* What relu or relu6 makes of the number that a half stands for. */
static void check_cut_off(elementwise_act act, elementwise_dtype type,
                          const uint16_t *bits, const uint16_t *got)
{
    double value = ref_load(type, bits).re, is = ref_load(type, got).re;
    double most = act == ELEMENTWISE_ACT_RELU6 ? 6 : INFINITY;
    double want = value > most ? most : value > 0 ? value : 0;
    bool right = isnan(value) ? isnan(is) : is == want && !signbit(is);
    ck_assert_msg(right, "%s(%g), 0x%x: %g", elementwise_act_name(act), value,
                  *bits, is);
}

/* Every half goes through an operation that gives x, and is cut off: beside
   one number or as many, x may come second where that is the same. */
START_TEST(every_half_is_cut_off_as_a_number)
{
    enum { HALVES = 65536 };
    static uint16_t in[2 * HALVES], other[2 * HALVES], got[2 * HALVES];
    static const struct {
        elementwise_op op;
        double by;
        bool either;
    } keeps[] = {{ELEMENTWISE_MUL, 1, true},
                 {ELEMENTWISE_ADD, -0.0, true},
                 {ELEMENTWISE_SUB, 0, false},
                 {ELEMENTWISE_DIV, 1, false}};
    const elementwise_dtype type = _i & 1 ? ELEMENTWISE_BF16 : ELEMENTWISE_F16;
    const int64_t n = HALVES;
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    options.act = _i & 2 ? ELEMENTWISE_ACT_RELU6 : ELEMENTWISE_ACT_RELU;
    if (!support_level(_i / 4))
        return;
    for (int way = 0; way < 4 * 6; way++) {
        const int64_t step = way % 2 + 1;
        const int form = way / 2 % 3;
        const elementwise_op op = keeps[way / 6].op;
        const bool second = form == 2;
        struct ref_value by = ref_float(type, keeps[way / 6].by, 0);
        elementwise_tensor a = {in, type, 1, &n, &step}, to = a, b = a;
        b.data = other;
        to.data = got;
        if (second && !keeps[way / 6].either)
            continue;
        if (form > 0)
            b.ndim = 0;
        for (int64_t i = 0; i < n; i++) {
            in[i * step] = (uint16_t)i;
            ref_store(&by, &other[i * step]);
        }
        ck_assert_int_eq(elementwise_apply(op, second ? &b : &a,
                                           second ? &a : &b, -1, &to, &options),
                         0);
        for (int64_t i = 0; i < n; i++)
            check_cut_off(options.act, type, in + i * step, got + i * step);
    }
}
END_TEST

/* Makes some rows of halves with an activation: out is dense from an element
   on, or has gaps, which no kernel of long rows takes. */
static void make_halves(const int64_t shape[2], const int64_t steps_x[2],
                        const int64_t steps_y[2], elementwise_op op,
                        const elementwise_options *options,
                        elementwise_dtype type, uint16_t *to, int64_t step)
{
    int64_t steps[] = {shape[1] * step, step};
    elementwise_tensor a = x.t, b = y.t, c = {to, type, 2, shape, steps};
    a.ndim = b.ndim = 2;
    a.shape = b.shape = shape;
    a.strides = steps_x;
    b.strides = steps_y;
    ck_assert_int_eq(elementwise_apply(op, &a, &b, -1, &c, options), 0);
}

/* Rows that are several pieces or share one, of operands that have all of it,
   gaps between rows, a row, a number in each, or one number; out starts
   anywhere in a line, also past the caches, or is x. */
START_TEST(long_rows_of_halves_have_the_bits_of_single_ones)
{
    enum { MOST = 9000, FROM = 40 };
    static const int64_t shapes[][2] = {{1, 5},    {1, 300},  {1, 2049},
                                        {3, 700},  {9, 257},  {70, 101},
                                        {2, 4099}, {4, 2048}, {1, 8999}};
    static const elementwise_op more[] = {
        ELEMENTWISE_ADD, ELEMENTWISE_MAX,       ELEMENTWISE_DIV,
        ELEMENTWISE_POW, ELEMENTWISE_NEXTAFTER, ELEMENTWISE_COPYSIGN};
    static uint16_t space[MOST + 2 * FROM], apart[2 * MOST];
    const elementwise_dtype type = _i & 1 ? ELEMENTWISE_BF16 : ELEMENTWISE_F16;
    if (!support_level(_i / 2))
        return;
    support_line(&x, type, MOST + 8 * FROM, 1, SUPPORT_HIGH);
    support_line(&y, type, MOST + 8 * FROM, 1, SUPPORT_HIGH);
    support_fill(&x);
    support_fill(&y);
    for (int round = 0; round < (support_long() ? 5000 : 500); round++) {
        const int64_t *shape = shapes[round % 9];
        const int64_t steps[][2] = {
            {shape[1], 1}, {0, 1}, {1, 0}, {0, 0}, {shape[1] + 3, 1}};
        int64_t all = support_random(0, 1) * 4, other = support_random(0, 4);
        bool exchanged = round % 4 == 0;
        const int64_t *steps_x = steps[exchanged ? other : all];
        const int64_t *steps_y = steps[exchanged ? all : other];
        elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
        elementwise_op op = more[support_random(0, 5)];
        options.act = (elementwise_act)support_random(ELEMENTWISE_ACT_SIGMOID,
                                                      ELEMENTWISE_ACT_SILU);
        make_halves(shape, steps_x, steps_y, op, &options, type, apart, 2);
        if (round % 2)
            options.flags = ELEMENTWISE_STREAM;
        int64_t n = shape[0] * shape[1], from = support_random(1, FROM);
        elementwise_tensor was = x.t;
        memset(space, 0x5a, sizeof space);
        if (all == 0 && round % 8 == 1) {
            memcpy(space + from, x.t.data, (size_t)n * sizeof *space);
            x.t.data = space + from;
        }
        make_halves(shape, steps_x, steps_y, op, &options, type, space + from,
                    1);
        x.t = was;
        for (int64_t i = 0; i < n; i++) {
            double want = ref_load(type, apart + 2 * i).re;
            ck_assert_msg(
                space[from + i] == apart[2 * i] ||
                    (isnan(want) && isnan(ref_load(type, space + from + i).re)),
                "%s + %s, element %lld of %lldx%lld", elementwise_op_name(op),
                elementwise_act_name(options.act), (long long)i,
                (long long)shape[0], (long long)shape[1]);
        }
        ck_assert_uint_eq(space[from - 1], 0x5a5a);
        ck_assert_uint_eq(space[from + n], 0x5a5a);
    }
}
END_TEST

int main(void)
{
    TCase *values = support_case("values");
    tcase_add_loop_test(values, every_layout_and_type_gives_the_formula, 0,
                        EW_LEVELS);
    tcase_add_loop_test(values, every_way_to_run_gives_the_formula, 0,
                        EW_LEVELS * OPS);
    tcase_add_loop_test(values, values_of_all_sizes_are_within_the_bound, 0,
                        EW_LEVELS * ACTS);
    tcase_add_test(values, zeros_infinities_and_nan_have_the_limits);
    tcase_add_test(values, options_that_are_nan_make_nan);
    tcase_add_test(values, out_may_be_an_operand);
    tcase_add_loop_test(values, strides_and_levels_do_not_change_a_bit, 1,
                        ACTS);
    tcase_add_test(values, products_stay_in_f32_before_an_activation);
    tcase_add_loop_test(values, every_half_is_cut_off_as_a_number, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(values,
                        long_rows_of_halves_have_the_bits_of_single_ones, 0,
                        EW_LEVELS * 2);
    TCase *const cases[] = {values, NULL};
    return support_run("activation", cases);
}
