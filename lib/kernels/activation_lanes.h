/*
 * gelu on f32, a vector at a time, with errors below 2 ULP: polynomials whose
 * coefficients are looked up in tables of eight, which vectors do in one step.
 * A measured need for intrinsics: compilers read such tables from memory,
 * element by element. Without AVX2 a vector is one number, and a loop of it is
 * left to the compiler; the bits are the same.
 */
#ifndef EW_ACTIVATION_LANES_H
#define EW_ACTIVATION_LANES_H

#include "activation_f32.h"

#if defined(__AVX512DQ__)
#define EW_LANE_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define EW_LANE_BYTES 32
#endif

#if defined(EW_LANE_BYTES)
typedef float ew_lanes __attribute__((vector_size(EW_LANE_BYTES)));
typedef uint32_t ew_lane_bits __attribute__((vector_size(EW_LANE_BYTES)));
#else
typedef float ew_lanes;
typedef uint32_t ew_lane_bits;
#endif

/* What differs: x everywhere, the elements of a table that the last bits of
   each index name, a b + c rounded once, the smaller of |x| and a number, which
   NaN becomes, and max(x, 0) as positive_part has it. */
#if defined(__AVX512DQ__)
EW_INLINE ew_lanes lanes_all(float x)
{
    return (ew_lanes)_mm512_set1_ps(x);
}

EW_INLINE ew_lanes lanes_look_up(const float table[8], ew_lane_bits index)
{
    return (ew_lanes)_mm512_permutexvar_ps(
        (__m512i)index, _mm512_broadcast_f32x8(_mm256_loadu_ps(table)));
}

EW_INLINE ew_lanes lanes_multiply_add(ew_lanes a, ew_lanes b, ew_lanes c)
{
    return (ew_lanes)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

EW_INLINE ew_lanes lanes_magnitude(ew_lanes x, float most)
{
    return (ew_lanes)_mm512_range_ps((__m512)x, _mm512_set1_ps(most), 2 | 8);
}

EW_INLINE ew_lanes lanes_positive_part(ew_lanes x)
{
    return (ew_lanes)_mm512_max_ps(_mm512_set1_ps(-0.0f), (__m512)x);
}
#elif defined(EW_LANE_BYTES)
EW_INLINE ew_lanes lanes_all(float x)
{
    return (ew_lanes)_mm256_set1_ps(x);
}

EW_INLINE ew_lanes lanes_look_up(const float table[8], ew_lane_bits index)
{
    return (ew_lanes)_mm256_permutevar8x32_ps(_mm256_loadu_ps(table),
                                              (__m256i)index);
}

EW_INLINE ew_lanes lanes_multiply_add(ew_lanes a, ew_lanes b, ew_lanes c)
{
    return (ew_lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

EW_INLINE ew_lanes lanes_magnitude(ew_lanes x, float most)
{
    __m256 a = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), (__m256)x);
    return (ew_lanes)_mm256_min_ps(a, _mm256_set1_ps(most));
}

EW_INLINE ew_lanes lanes_positive_part(ew_lanes x)
{
    return (ew_lanes)_mm256_max_ps(_mm256_set1_ps(-0.0f), (__m256)x);
}
#else
EW_INLINE ew_lanes lanes_all(float x)
{
    return x;
}

EW_INLINE ew_lanes lanes_look_up(const float table[8], ew_lane_bits index)
{
    return table[index & 7];
}

EW_INLINE ew_lanes lanes_multiply_add(ew_lanes a, ew_lanes b, ew_lanes c)
{
    return multiply_add(a, b, c);
}

EW_INLINE ew_lanes lanes_magnitude(ew_lanes x, float most)
{
    uint32_t bits = bits_f32(x) & 0x7fffffff, end = bits_f32(most);
    return from_bits_f32(bits < end ? bits : end);
}

EW_INLINE ew_lanes lanes_positive_part(ew_lanes x)
{
    return positive_part(x);
}
#endif

EW_INLINE ew_lane_bits lanes_bits(ew_lanes x)
{
    ew_lane_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

EW_INLINE ew_lanes lanes_of(ew_lane_bits bits)
{
    ew_lanes x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^64 a Phi(-a) 2^(a^2 256 / 355) for 0 <= a <= 14.36, where Phi is the
   normal distribution: on eight intervals polynomials of a - center, the first
   row, with coefficients from the lowest on; from 2^-25 in those of 0.63 and
   2.6, where more is left where rounding adds less, to 2^-33. They are halves
   of the octaves of 1.36 + 1.0193 a, so the last bits of exponent and first of
   mantissa name the column; 6 is the first. The values at centers are nearly
   floats, and the power keeps what comes of it from being subnormal. */
enum { GELU_TERMS = 8 };
static const float gelu_tail[1 + GELU_TERMS][8] = {
    {0x1.17992cp0f, 0x1.0bb75ep1f, 0x1.c88f8p1f, 0x1.611a6ap2f, 0x1.0d07a2p3f,
     0x1.8af124p3f, 0, 0x1.ef623cp-3f},
    {0x1.16e76cp62f, 0x1.5bde64p62f, 0x1.7d40dap62f, 0x1.8a6644p62f,
     0x1.8ea1cp62f, 0x1.8c88f6p62f, 0, 0x1.9c9782p60f},
    {0x1.c72ac4p60f, 0x1.3e96f6p59f, 0x1.81e3ap57f, 0x1.b3af82p55f,
     0x1.d6d984p51f, -0x1.16d02ep54f, 0x1p63f, 0x1.608f46p62f},
    {-0x1.0db63cp60f, -0x1.293112p58f, -0x1.12b196p56f, -0x1.0f10b6p54f,
     -0x1.1a410ep52f, -0x1.b9a646p50f, -0x1.988454p62f, -0x1.06c43cp62f},
    {0x1.036cdep59f, 0x1.c8970cp56f, 0x1.3902fap54f, 0x1.b0cafcp51f,
     0x1.078f0ep49f, 0x1.634044p46f, 0x1.ffd87cp61f, 0x1.362338p61f},
    {-0x1.b2c11p57f, -0x1.38239p55f, -0x1.46798ap52f, -0x1.4ff054p49f,
     -0x1.1fe5f8p46f, -0x1.07416ep43f, -0x1.104bbep61f, -0x1.38b182p60f},
    {0x1.493dd2p56f, 0x1.86621ep53f, 0x1.3d46dap50f, 0x1.eb827p46f,
     0x1.2efaacp43f, 0x1.8c063cp39f, 0x1.020342p60f, 0x1.16b1b6p59f},
    {-0x1.dc83e8p54f, -0x1.d5a6fap51f, -0x1.3bdc3ep48f, -0x1.68bac8p44f,
     -0x1.541a82p40f, -0x1.2d611cp36f, -0x1.ea88acp58f, -0x1.aa98c6p57f},
    {0x1.22c7fep53f, 0x1.006b1p50f, 0x1.11adeap46f, 0x1.dfd062p41f,
     0x1.3e82b2p37f, 0x1.9ad578p32f, 0x1.229e98p58f, 0x1.a7972ep55f}};

/* (2^(-r 256 / 355) - 1) / r for |r| <= 355 / 512; 2^-28.8 of the power. */
static const float gelu_power[] = {-0x1.ffd7e4p-2f,  0x1.ffafc6p-4f,
                                   -0x1.5503f8p-6f,  0x1.54ecf2p-9f,
                                   -0x1.11f4dep-12f, 0x1.6a564p-16f};

EW_INLINE ew_lanes gelu_tail_of(ew_lanes a)
{
    ew_lanes place =
        lanes_multiply_add(a, lanes_all(1.0193f), lanes_all(1.36f));
    ew_lane_bits at = lanes_bits(place) >> 22;
    ew_lanes offset = a - lanes_look_up(gelu_tail[0], at);
    ew_lanes sum = lanes_look_up(gelu_tail[GELU_TERMS], at);
    EW_UNROLLED
    for (int i = GELU_TERMS - 1; i > 0; i--)
        sum = lanes_multiply_add(sum, offset, lanes_look_up(gelu_tail[i], at));
    return sum;
}

/* x Phi(x) = max(x, 0) - a Phi(-a), a = |x|, and a^2 = step k + r: what
   2^(-a^2 / step), with a step of few bits, differs from e^(-a^2 / 2) by is in
   the table, and so r is rounded but once. Adding `integer` rounds to -k and
   leaves that in the last bits, to be added to an exponent. */
EW_INLINE ew_lanes gelu_lanes(ew_lanes x)
{
    const float step = 355 / 256.0f, integer = 0x1.8p23f;
    ew_lanes a = lanes_magnitude(x, 14.36f);
    ew_lanes t = lanes_multiply_add(a, a * (-1 / step), lanes_all(integer));
    ew_lanes r =
        lanes_multiply_add(t, lanes_all(step), lanes_all(-step * integer));
    r = lanes_multiply_add(a, a, r);
    ew_lanes power = lanes_all(gelu_power[5]);
    EW_UNROLLED
    for (int i = 4; i >= 0; i--)
        power = lanes_multiply_add(power, r, lanes_all(gelu_power[i]));
    ew_lanes tail = gelu_tail_of(a);
    tail = lanes_multiply_add(tail, r * power, tail);
    tail = lanes_of(lanes_bits(tail) + (lanes_bits(t) << 23));
    return lanes_multiply_add(tail, lanes_all(-0x1p-64f),
                              lanes_positive_part(x));
}

/* n elements, which may be in place; what is less than a vector passes through
   one. */
EW_INLINE void gelu_each_f32(int64_t n, const float *x, float *out)
{
#if defined(EW_LANE_BYTES)
    const int64_t lanes = EW_LANE_BYTES / sizeof(float);
    int64_t i = 0;
    ew_lanes v = {0};
    for (; i + lanes <= n; i += lanes) {
        memcpy(&v, x + i, sizeof v);
        v = gelu_lanes(v);
        memcpy(out + i, &v, sizeof v);
    }
    if (i < n) {
        memcpy(&v, x + i, (size_t)(n - i) * sizeof(float));
        v = gelu_lanes(v);
        memcpy(out + i, &v, (size_t)(n - i) * sizeof(float));
    }
#else
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        out[i] = gelu_lanes(x[i]);
#endif
}

#endif
