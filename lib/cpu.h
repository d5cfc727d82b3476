/*
 * The levels for which the kernels are compiled, the one that this machine
 * runs, and what its processor does faster than others of that level.
 */
#ifndef EW_CPU_H
#define EW_CPU_H

#include <stdatomic.h>
#include <stdbool.h>

/* The last two have the kernels of the one before, but for a few that shuffle
   bytes, and a few on f16. Compilers may not know the last one, which no
   processor has then. */
enum ew_level {
    EW_LEVEL_BASE,
    EW_LEVEL_AVX2,
    EW_LEVEL_AVX512,
    EW_LEVEL_AVX512VBMI,
    EW_LEVEL_AVX512FP16,
    EW_LEVELS
};

/* The level + 1; 0: not asked yet. Two threads that ask at once store the
   same number, so relaxed order is enough, also for what is stored with it. */
extern atomic_int ew_cpu_known;

/* Asks for it. */
int ew_cpu_find_level(void);

/* The highest level that the machine has and ELEMENTWISE_CPU permits; inline as
   short calls ask often. */
static inline int ew_cpu_level(void)
{
    int known = atomic_load_explicit(&ew_cpu_known, memory_order_relaxed);
    return known ? known - 1 : ew_cpu_find_level();
}

/* For tests: later plans use at most this level. */
void ew_cpu_limit(int level);

/* Which of two ways is the faster one, where processors differ; results are the
   same. Bits of a set, which is empty until the level is found. */
enum ew_quick {
    EW_QUICK_STORES = 1,    /* wait for no lines, so none are asked for ahead */
    EW_QUICK_QUOTIENTS = 2, /* of floats take little longer than products */
    EW_FAR_READS = 4,  /* what is asked for far ahead comes sooner, in gradients
                          and if it is one input alone; sums of columns need not
                          ask */
    EW_LATE_READS = 8, /* what tiles need next comes only if asked for; loops
                          that go on one by one bring more */
    EW_SMALL_CACHE = 16,    /* the last one holds some 32 MiB */
    EW_QUICK_GATHERS = 32,  /* of elements far apart take less than loads */
    EW_QUICK_SHUFFLES = 64, /* of AVX-512, two at a time */
    EW_FEW_READS = 128, /* so few lines are on their way without AVX-512 that
                           loads one by one, and two rows, bring more, and
                           that rows far apart are waited for */
    EW_TUNINGS = 256    /* sets */
};
extern atomic_uint ew_cpu_tuning;

/* Always inlined, as kernels that are tuned (EW_TUNED) would otherwise call it.
 */
static inline __attribute__((always_inline)) bool ew_cpu_is(enum ew_quick what)
{
    return atomic_load_explicit(&ew_cpu_tuning, memory_order_relaxed) & what;
}

/* For tests: kernels take these ways from now on, until the level is limited.
 */
void ew_cpu_tune(unsigned set);

const char *ew_cpu_name(int level);

#endif
