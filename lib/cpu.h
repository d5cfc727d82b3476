/*
 * The levels for which the kernels are compiled, and the one that this
 * machine runs.
 */
#ifndef EW_CPU_H
#define EW_CPU_H

enum ew_level { EW_LEVEL_BASE, EW_LEVEL_AVX2, EW_LEVEL_AVX512, EW_LEVELS };

/* The highest level that the machine has and ELEMENTWISE_CPU permits. */
int ew_cpu_level(void);

/* For tests: later plans use at most this level. */
void ew_cpu_limit(int level);

const char *ew_cpu_name(int level);

#endif
