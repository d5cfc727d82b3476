/*
 * Runs calls on threads whose stack was painted before, and looks for how far
 * down it was written: no call may take more than the header says, whatever
 * its layout, types, activation, gradient and level. Layouts are random ones
 * with orders of memory, steps and gaps that lead to buffers and tables.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "cpu.h"
#include "elementwise.h"
#include "support.h"

enum {
    LIMIT = 118 << 10, /* what the header says */
    STACK = 256 << 10, /* so that more does no harm, and is seen */
    PAINT = 0x6b
};

static _Alignas(4096) char stack[STACK];

static void *nothing(void *arg)
{
    return arg;
}

struct work {
    struct calls_call call;
    elementwise_status status;
};

static void *run(void *arg)
{
    struct work *w = arg;
    w->status = calls_run(&w->call);
    return NULL;
}

/* Bytes of stack that a thread takes, with what the system keeps there. */
static int64_t bytes_of(void *(*work)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    int64_t free = 0;
    memset(stack, PAINT, sizeof stack);
    pthread_attr_init(&attr);
    ck_assert_int_eq(pthread_attr_setstack(&attr, stack, sizeof stack), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, work, arg), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    while (free < STACK && stack[free] == PAINT)
        free++;
    return STACK - free;
}

/* Frames grow without optimization, and with checks of addresses. */
static bool has_usual_frames(void)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    return true;
#else
    return false;
#endif
}

START_TEST(a_call_takes_no_more_stack_than_the_header_says)
{
    if (!has_usual_frames()) {
        printf("# not measured: frames are larger than usual\n");
        return;
    }
    if (!support_level(_i))
        return;
    static struct work w;
    const struct calls_call *c = &w.call;
    int64_t least = bytes_of(nothing, NULL), deepest = 0;
    int ran = 0, calls = support_long() ? 100000 : 4000;
    calls_fill();
    for (int i = 0; i < calls; i++) {
        if (!calls_draw(&w.call))
            continue;
        int64_t took = bytes_of(run, &w) - least;
        deepest = took > deepest ? took : deepest;
        ran += w.status == ELEMENTWISE_OK;
        ck_assert_msg(took <= LIMIT, "%s of %s took %lld bytes of stack",
                      elementwise_op_name(c->op),
                      elementwise_dtype_name(c->t[0].dtype), (long long)took);
    }
    printf("# %s: %lld bytes at most in %d calls\n", ew_cpu_name(_i),
           (long long)deepest, ran);
    ck_assert_int_gt(ran, calls / 4);
}
END_TEST

int main(void)
{
    TCase *calls = support_case("calls");
    tcase_add_loop_test(calls, a_call_takes_no_more_stack_than_the_header_says,
                        0, EW_LEVELS);
    TCase *const cases[] = {calls, NULL};
    return support_run("stack", cases);
}
