/*
 * The random numbers of the programs that measure errors: the same ones in
 * every run, so that a worst case is found again.
 */
#ifndef ACCURACY_RANDOM_H
#define ACCURACY_RANDOM_H

#include <stdint.h>

/* xorshift64*: S. Vigna, ACM Trans. Math. Softw. 42 (2016), 30. */
static inline uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252U;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1DU;
}

/* At least 0, below 1. */
static inline double random_unit(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

#endif
