/*
 * The bits of floats as integers, and back: bits_f32, from_bits_f32 and the
 * same of f64, by copies that compilers make no instructions of; and f64 from
 * integers of 64 bits by bits, where processors have no vectors of those.
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

/* 2^52 + n, whose last bits are those of n. */
EW_INLINE double double_on_52(uint64_t n)
{
    return from_bits_f64(n | 0x4330000000000000);
}

/* By AVX2 the upper word is digits of 2^84, the lower one of 2^52. */
EW_INLINE double double_from_u64(uint64_t n)
{
#if defined(__AVX512DQ__) || !defined(__AVX2__)
    return (double)n;
#else
    double upper = from_bits_f64(n >> 32 | 0x4530000000000000);
    return (upper - (0x1p84 + 0x1p52)) + double_on_52(n & UINT32_MAX);
#endif
}

EW_INLINE double double_from_i64(int64_t n)
{
#if defined(__AVX512DQ__) || !defined(__AVX2__)
    return (double)n;
#else
    const uint64_t b = (uint64_t)n ^ 0x8000000000000000;
    double upper = from_bits_f64(b >> 32 | 0x4530000000000000);
    return (upper - (0x1p84 + 0x1p63 + 0x1p52)) + double_on_52(b & UINT32_MAX);
#endif
}

#endif
