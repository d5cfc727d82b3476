/*
 * The bits of floats as integers, and back: bits_f32, from_bits_f32 and the
 * same of f64, by copies that compilers make no instructions of.
 */
#ifndef EW_BITS_H
#define EW_BITS_H

#include "loop.h"

/* The largest numbers that are chosen by masks of their bits. SSE2 compares
   into no vector of 64-bit integers, and has one for a choice of numbers. */
#if defined(__AVX2__)
enum { EW_MASKED_BYTES = 8 };
#else
enum { EW_MASKED_BYTES = 4 };
#endif

EW_INLINE uint32_t bits_f32(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

EW_INLINE float from_bits_f32(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

EW_INLINE uint64_t bits_f64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

EW_INLINE double from_bits_f64(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

#endif
