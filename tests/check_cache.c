/*
 * Makes calls that are planned again and again, each beside others that differ
 * in one thing, in random order, by several threads and from a signal handler,
 * and compares them with plans of their own.
 */
#define _DEFAULT_SOURCE /* setitimer */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "cpu.h"
#include "elementwise.h"
#include "support.h"

enum { DIMS = 4, BYTES = 1 << 16, FROM = BYTES / 2 };

struct call {
    elementwise_op op;
    int axis;
    elementwise_options options;
    bool plain; /* without options */
    elementwise_dtype dtype[3];
    int ndim[3];
    int64_t shape[3][DIMS], strides[3][DIMS];
    bool strided[3];
};

static _Alignas(64) char in[2][BYTES];

static elementwise_tensor tensor(const struct call *c, int k, void *data)
{
    return (elementwise_tensor){data, c->dtype[k], c->ndim[k], c->shape[k],
                                c->strided[k] ? c->strides[k] : NULL};
}

static elementwise_status run(const struct call *c, void *out)
{
    elementwise_tensor x = tensor(c, 0, in[0] + FROM);
    elementwise_tensor y = tensor(c, 1, in[1] + FROM);
    elementwise_tensor to = tensor(c, 2, out);
    return elementwise_apply(c->op, &x, &y, c->axis, &to,
                             c->plain ? NULL : &c->options);
}

static elementwise_status run_plan(const struct call *c, void *out)
{
    elementwise_tensor x = tensor(c, 0, NULL), y = tensor(c, 1, NULL);
    elementwise_tensor to = tensor(c, 2, NULL);
    elementwise_plan *plan;
    elementwise_status status = elementwise_plan_create(
        &plan, c->op, &x, &y, c->axis, &to, c->plain ? NULL : &c->options);
    if (!status)
        status = elementwise_plan_run(plan, in[0] + FROM, in[1] + FROM, out);
    elementwise_plan_destroy(plan);
    return status;
}

static void compare(const struct call *c, const char *what)
{
    static _Alignas(64) char want[BYTES], got[BYTES];
    memset(want, 0x5a, sizeof want);
    memset(got, 0x5a, sizeof got);
    elementwise_status status = run_plan(c, want + FROM);
    ck_assert_msg(run(c, got + FROM) == status, "%s", what);
    ck_assert_msg(memcmp(got, want, sizeof got) == 0, "%s", what);
}

/* Small integers of a type; bytes of any other are some, too. */
static void fill(elementwise_dtype dtype)
{
    int64_t size = (int64_t)elementwise_dtype_size(dtype);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < BYTES / size; i++) {
            double value = (double)((i * (5 + k) + k) % 13 + 1);
            elementwise_tensor from = {&value, ELEMENTWISE_F64, 0, NULL, NULL};
            elementwise_tensor to = {in[k] + i * size, dtype, 0, NULL, NULL};
            elementwise_copy(&from, -1, &to);
        }
}

/* x and out have gaps between rows, so that it is planned. */
static struct call usual(void)
{
    return (struct call){ELEMENTWISE_SUB,
                         1,
                         ELEMENTWISE_OPTIONS_INIT,
                         false,
                         {ELEMENTWISE_F32, ELEMENTWISE_F32, ELEMENTWISE_F32},
                         {3, 1, 3},
                         {{4, 5, 5}, {5}, {4, 5, 5}},
                         {{31, 6, 1}, {1}, {33, 6, 1}},
                         {true, true, true}};
}

/* Changes one thing; false: there is no such thing. */
static bool change(struct call *c, int thing)
{
    int k = thing % 3;
    switch (thing / 3) {
    case 0: /* still legal, as out may be wider */
        c->dtype[2] = ELEMENTWISE_F64;
        c->dtype[k] = ELEMENTWISE_F64;
        return true;
    case 1:
        c->strides[k][c->ndim[k] - 1] = 2;
        return true;
    case 2:
        c->strides[k][0] = -c->strides[k][0];
        return true;
    case 3: /* of x and out, or of y */
        c->shape[0][k] = c->shape[2][k] = c->shape[0][k] - 1;
        c->shape[1][0] -= k == 1;
        return true;
    case 4:
        c->strided[k] = false;
        return true;
    case 5:
        c->axis = k == 0 ? 2 : k == 1 ? ELEMENTWISE_NUMPY : 0;
        return true;
    case 6:
        c->op = k == 0   ? ELEMENTWISE_MUL
                : k == 1 ? (elementwise_op)(c->op + (1 << 16))
                         : (elementwise_op)-1;
        return true;
    case 7:
        c->options.act = k == 0   ? ELEMENTWISE_ACT_RELU
                         : k == 1 ? ELEMENTWISE_ACT_LEAKY_RELU
                                  : ELEMENTWISE_ACT_TANH;
        return true;
    case 8:
        *(k == 0   ? &c->options.scale_x
          : k == 1 ? &c->options.scale_y
                   : &c->options.alpha) = 0.75;
        return true;
    case 9: /* one more dimension */
        memmove(&c->shape[k][1], c->shape[k], sizeof c->shape[k] / DIMS * 3);
        memmove(&c->strides[k][1], c->strides[k],
                sizeof c->strides[k] / DIMS * 3);
        c->shape[k][0] = 1;
        c->ndim[k]++;
        return true;
    case 10: /* no type, and no shape */
        c->dtype[k] += 1 << 12;
        return true;
    case 11:
        c->ndim[k] = k == 0 ? 0 : k == 1 ? -1 : 1000;
        return true;
    case 12:
        c->plain = k == 0;
        c->options.flags = k == 1 ? ELEMENTWISE_STREAM : 0;
        return true;
    default:
        return false;
    }
}

START_TEST(calls_that_differ_in_one_thing_have_their_own_plans)
{
    struct call c = usual();
    if (!support_level(_i))
        return;
    fill(ELEMENTWISE_F32);
    for (int thing = 0; c = usual(), change(&c, thing); thing++) {
        char what[32];
        struct call first = usual(), leaky = usual(), other;
        snprintf(what, sizeof what, "thing %d", thing);
        compare(&first, "usual");
        compare(&c, what);
        compare(&first, what);
        compare(&c, what);
        leaky.options.act = ELEMENTWISE_ACT_LEAKY_RELU; /* has an alpha */
        other = leaky;
        change(&other, thing);
        compare(&leaky, what);
        compare(&other, what);
    }
}
END_TEST

/* One that is not a simple call, of any shape. */
static void draw(struct call *c)
{
    *c = usual();
    c->op = (elementwise_op)support_random(ELEMENTWISE_ADD, ELEMENTWISE_MIN);
    c->axis = ELEMENTWISE_NUMPY;
    c->options.act = (elementwise_act)support_random(0, ELEMENTWISE_ACT_SILU);
    int64_t whole[DIMS];
    c->ndim[2] = (int)support_random(1, DIMS);
    for (int i = 0; i < c->ndim[2]; i++)
        whole[i] = support_random(1, 4);
    for (int k = 0; k < 3; k++) {
        c->ndim[k] = c->ndim[2];
        for (int i = 0; i < c->ndim[2]; i++)
            c->shape[k][i] = k < 2 && support_random(0, 3) == 0 ? 1 : whole[i];
        c->strided[k] = support_random(0, 3) > 0;
        support_strides(c->ndim[2], c->shape[k], k < 2, c->strides[k]);
    }
    for (int i = 0; i < c->ndim[2]; i++)
        c->shape[0][i] = whole[i];
}

START_TEST(calls_in_any_order_are_as_if_they_were_planned)
{
    enum { CALLS = 200 };
    static struct call calls[CALLS];
    fill(ELEMENTWISE_F32);
    for (int i = 0; i < CALLS; i++)
        draw(&calls[i]);
    for (int i = 0; i < (support_long() ? 1000000 : 5000); i++) {
        int64_t which = support_random(0, support_random(0, CALLS - 1));
        compare(&calls[which], "one of many");
    }
}
END_TEST

/* Of ranks that fill a key just so, with and without options. */
START_TEST(calls_of_any_rank_are_as_if_they_were_planned)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM], strides[ELEMENTWISE_MAX_NDIM];
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    float a[9] = {1, 0, 2, 0, 3}, b = 5, out[9], want[9];
    options.act = ELEMENTWISE_ACT_SILU;
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM; i++) {
        shape[i] = 1;
        strides[i] = 7;
    }
    for (int i = 0; i < ELEMENTWISE_MAX_NDIM * 12; i++) {
        int ndim = 1 + i / 12;
        elementwise_tensor x = {a, ELEMENTWISE_F32, ndim, shape, strides};
        elementwise_tensor y = {&b, ELEMENTWISE_F32, 0, NULL, NULL};
        elementwise_tensor to = x, *with = i / 3 % 2 ? &y : &x;
        elementwise_options *o = i / 6 % 2 ? &options : NULL;
        elementwise_plan *plan;
        shape[ndim - 1] = 3;
        strides[ndim - 1] = 2;
        to.strides = i % 3 ? strides : NULL;
        memset(out, 0, sizeof out);
        memset(want, 0, sizeof want);
        ck_assert_int_eq(elementwise_plan_create(&plan, ELEMENTWISE_ADD, &x,
                                                 with, ELEMENTWISE_NUMPY, &to,
                                                 o),
                         ELEMENTWISE_OK);
        elementwise_plan_run(plan, a, with->data, want);
        elementwise_plan_destroy(plan);
        to.data = out;
        for (int round = 0; round < 2; round++)
            ck_assert_int_eq(elementwise_apply(ELEMENTWISE_ADD, &x, with,
                                               ELEMENTWISE_NUMPY, &to, o),
                             ELEMENTWISE_OK);
        ck_assert_mem_eq(out, want, sizeof out);
        shape[ndim - 1] = 1;
        strides[ndim - 1] = 7;
    }
}
END_TEST

/* The plan of a call is no promise about the next one's data. */
START_TEST(data_is_looked_at_in_every_call)
{
    int32_t x[40], y[40], out[40], before[40];
    int64_t shape[] = {4, 5}, strides[] = {6, 1};
    elementwise_tensor tx = {x, ELEMENTWISE_I32, 2, shape, strides};
    elementwise_tensor ty = tx, to = tx;
    for (int i = 0; i < 40; i++)
        x[i] = y[i] = out[i] = i + 1;
    memcpy(before, out, sizeof before);
    ty.data = y;
    for (int round = 0; round < 3; round++) {
        to.data = NULL;
        ck_assert_int_eq(elementwise_div(&tx, &ty, -1, &to),
                         ELEMENTWISE_INVALID);
        to.data = (char *)out + 1;
        ck_assert_int_eq(elementwise_div(&tx, &ty, -1, &to),
                         ELEMENTWISE_MISALIGNED);
        to.data = x + 1;
        ck_assert_int_eq(elementwise_div(&tx, &ty, -1, &to),
                         ELEMENTWISE_OVERLAP);
        to.data = out;
        y[3 * 6 + 4] = 0;
        ck_assert_int_eq(elementwise_div(&tx, &ty, -1, &to),
                         ELEMENTWISE_DIVISION_BY_ZERO);
        ck_assert_mem_eq(out, before, sizeof before);
        y[3 * 6 + 4] = 7;
        ck_assert_int_eq(elementwise_div(&tx, &ty, -1, &to), ELEMENTWISE_OK);
        ck_assert_int_eq(out[3 * 6 + 4], (3 * 6 + 4 + 1) / 7);
        memcpy(out, before, sizeof before);
    }
}
END_TEST

enum { SHARED = 150, OUT = 16 << 10 };
static struct call shared[SHARED];
static char right[SHARED][OUT];

/* Some with results that are known. */
static void prepare_shared(void)
{
    fill(ELEMENTWISE_F32);
    for (int i = 0; i < SHARED; i++) {
        draw(&shared[i]);
        memset(right[i], 0, OUT);
        ck_assert_int_eq(run_plan(&shared[i], right[i] + OUT / 2), 0);
    }
}

static bool is_right(int i)
{
    _Alignas(64) char got[OUT] = {0};
    return run(&shared[i], got + OUT / 2) == ELEMENTWISE_OK &&
           memcmp(got, right[i], OUT) == 0;
}

static void *run_many(void *arg)
{
    unsigned seed = *(unsigned *)arg;
    intptr_t wrong = 0;
    for (int i = 0; i < (support_long() ? 1000000 : 20000); i++) {
        seed = seed * 1664525 + 1013904223;
        wrong += !is_right((int)(seed >> 16) % (seed >> 31 ? SHARED : 4));
    }
    return (void *)wrong;
}

START_TEST(threads_make_the_same_calls_at_once)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    unsigned seed[THREADS] = {1, 2, 3, 4};
    prepare_shared();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_many, &seed[i]),
                         0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

static volatile sig_atomic_t interrupts, wrong_there;

static void interrupt(int number)
{
    (void)number;
    wrong_there += !is_right(interrupts % SHARED);
    interrupts++;
}

START_TEST(a_signal_may_interrupt_a_call_by_another)
{
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    unsigned seed = 5;
    prepare_shared();
    signal(SIGALRM, interrupt);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    void *wrong = run_many(&seed);
    setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_ptr_null(wrong);
    ck_assert_int_eq(wrong_there, 0);
    ck_assert_int_gt(interrupts, 0);
}
END_TEST

int main(void)
{
    TCase *calls = support_case("calls");
    tcase_add_loop_test(calls,
                        calls_that_differ_in_one_thing_have_their_own_plans, 0,
                        EW_LEVELS);
    tcase_add_test(calls, calls_in_any_order_are_as_if_they_were_planned);
    tcase_add_test(calls, calls_of_any_rank_are_as_if_they_were_planned);
    tcase_add_test(calls, data_is_looked_at_in_every_call);
    tcase_add_test(calls, threads_make_the_same_calls_at_once);
    tcase_add_test(calls, a_signal_may_interrupt_a_call_by_another);
    TCase *const cases[] = {calls, NULL};
    return support_run("cache", cases);
}
