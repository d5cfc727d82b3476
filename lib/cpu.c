/*
 * Turns what the processor reports, and the environment variable
 * ELEMENTWISE_CPU, into a level of kernels and a set of ways that are fast on
 * it. Asked for once; these two numbers, where the level's kernels are found
 * (table.c), and the plans in cache.c, are the library's only global state.
 */
#include "cpu.h"

#if defined(EW_HAVE_FP16)
#include <cpuid.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "elementwise.h"
#include "table.h"

static const char names[EW_LEVELS][sizeof "avx512vbmi"] = {
    "base", "avx2", "avx512", "avx512vbmi", "avx512fp16"};

atomic_int ew_cpu_known;
atomic_uint ew_cpu_tuning;

#if defined(EW_HAVE_X86_LEVELS)
/* Whether a processor with AVX-512 computes f16, which is not a name that every
   compiler knows below: bit 23 of EDX. */
static bool machine_computes_f16(void)
{
#if defined(EW_HAVE_FP16)
    unsigned a, b, c, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
#else
    return false;
#endif
}
#endif

/* What the processor has. */
static int machine_level(void)
{
#if defined(EW_HAVE_X86_LEVELS)
    __builtin_cpu_init();
    /* F16C and BMI2 are not names that every compiler knows here; every
       processor with AVX2 and FMA has them. */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return EW_LEVEL_BASE;
    if (!__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return EW_LEVEL_AVX2;
    if (!__builtin_cpu_supports("avx512vbmi"))
        return EW_LEVEL_AVX512;
    return machine_computes_f16() ? EW_LEVEL_AVX512FP16 : EW_LEVEL_AVX512VBMI;
#else
    return EW_LEVEL_BASE;
#endif
}

/* What the user permits; an unknown name permits everything. */
static int allowed_level(void)
{
    const char *name = getenv("ELEMENTWISE_CPU");
    for (int level = 0; name && level < EW_LEVELS; level++)
        if (strcmp(name, names[level]) == 0)
            return level;
    return EW_LEVELS - 1;
}

/* Measured on one of AMD's processors, an EPYC of the fifth generation with 32
   MiB of L3, and taken for all of theirs, of which those without AVX-512 have
   EW_FEW_READS as one of the third generation has; and on one of Intel's, a
   Xeon of the fifth, which has EW_LATE_READS: that is taken for all others. It
   also has quick gathers, as have those that compute f16: older ones lost them
   to a repair of 2023, for which they hold back what is gathered
   (CVE-2022-40982). */
static unsigned machine_tuning(void)
{
#if defined(EW_HAVE_X86_LEVELS)
    __builtin_cpu_init();
    if (__builtin_cpu_is("amd"))
        return (EW_TUNINGS - 1) & ~EW_QUICK_GATHERS &
               ~(machine_level() > EW_LEVEL_AVX2 ? EW_FEW_READS : 0);
    return EW_LATE_READS | (machine_computes_f16() ? EW_QUICK_GATHERS : 0);
#else
    return 0;
#endif
}

void ew_cpu_tune(unsigned set)
{
    atomic_store_explicit(&ew_cpu_tuning, set, memory_order_relaxed);
}

/* The table says again what the level does, for the commonest calls: a thread
   that does not see it yet goes by the level. */
static int use(int level)
{
    ew_cpu_tune(machine_tuning());
    atomic_store_explicit(&ew_table_now, ew_table_rows[level],
                          memory_order_relaxed);
    atomic_store_explicit(&ew_cpu_known, level + 1, memory_order_relaxed);
    return level;
}

int ew_cpu_find_level(void)
{
    int machine = machine_level(), allowed = allowed_level();
    return use(machine < allowed ? machine : allowed);
}

void ew_cpu_limit(int level)
{
    int machine = machine_level();
    use(machine < level ? machine : level);
}

const char *ew_cpu_name(int level)
{
    return names[level];
}

const char *elementwise_cpu_level(void)
{
    return names[ew_cpu_level()];
}
