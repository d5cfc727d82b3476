/*
 * Turns cases into times per call: batches long enough for the clock, as many
 * as the time allows, their median and quartiles.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "bench.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 300, FEWEST = 5 };
static const double batch = 200e-6; /* seconds that one sample takes */

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_spent(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu >= 0 ? cpu : sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Seconds of calls of the cases in turn, *next being the first. */
static double run(const struct bench_library *library,
                  const struct bench_case *cases, int n, int *next, int calls)
{
    int i = *next;
    double start = bench_spent();
    for (int k = 0, times = n > 1 ? 1 : calls; k < calls; k += times) {
        bench_case_call(&cases[i], times, library);
        i = i + 1 < n ? i + 1 : 0;
    }
    *next = i;
    return bench_spent() - start;
}

/* Calls that fill a batch. What was learnt doubles until it does. */
static int calibrate(const struct bench_case *cases, int n, int *next)
{
    int calls = 1;
    for (;;) {
        double seconds = run(&bench_linked, cases, n, next, calls);
        if (seconds >= batch / 2)
            return calls * batch / seconds < 1
                       ? 1
                       : (int)(calls * batch / seconds + 0.5);
        calls *= 2;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bench_time summarise(double sample[], int taken)
{
    qsort(sample, (size_t)taken, sizeof *sample, ascending);
    return (struct bench_time){sample[taken / 2], sample[taken / 4],
                               sample[taken * 3 / 4], taken};
}

struct bench_time bench_measure(const struct bench_case *cases, int n,
                                double seconds)
{
    double sample[SAMPLES], end = bench_now() + seconds;
    int next = 0, taken = 0, calls = calibrate(cases, n, &next);
    while (taken < SAMPLES && (taken < FEWEST || bench_now() < end))
        sample[taken++] = run(&bench_linked, cases, n, &next, calls) / calls;
    return summarise(sample, taken);
}

/* Who comes first takes turns, too: the second finds the caches as the first
   has left them. */
struct bench_time bench_compare(const struct bench_case *cases, int n,
                                const struct bench_library *other,
                                double seconds)
{
    const struct bench_library *const pair[] = {&bench_linked, other};
    double sample[SAMPLES], end = bench_now() + seconds;
    int next = 0, taken = 0, calls = calibrate(cases, n, &next);
    while (taken < SAMPLES && (taken < FEWEST || bench_now() < end)) {
        double spent[2];
        for (int i = 0; i < 2; i++) {
            int which = (taken + i) % 2;
            spent[which] = run(pair[which], cases, n, &next, calls);
        }
        sample[taken++] = spent[0] / spent[1];
    }
    return summarise(sample, taken);
}
