/*
 * Turns elements of c64 or c128, dense or some bytes apart, into vectors of
 * their real and of their imaginary parts in double, and back:
 *
 *     (re, im) (re, im) ...  <->  re re ...  im im ...
 *
 * Measured needs for intrinsics: compilers convert a vector in two halves, with
 * which a quotient takes 1.3 times as long, and have no way to look at all
 * lanes.
 */
#ifndef EW_COMPLEX_LANES_H
#define EW_COMPLEX_LANES_H

#include "loop.h"

/* Elements of a vector of doubles, and so of the two vectors of parts. */
#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

enum { C64 = sizeof(struct ew_c64), C128 = sizeof(struct ew_c128) };

typedef double reals __attribute__((vector_size(LANES * 8)));
typedef float singles __attribute__((vector_size(LANES * 4)));
typedef int64_t pairs __attribute__((vector_size(LANES * 4)));

struct parts {
    reals re, im;
};

struct halves {
    reals low, high;
};

/* Elements some bytes apart. */
struct place {
    const char *at;
    int64_t step;
};

/* a b + c. Products of two float are exact in double, so it makes no difference
   whether the product is rounded. */
EW_INLINE reals sum_of(reals a, reals b, reals c)
{
#if defined(__AVX512F__)
    return (reals)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (reals)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

EW_INLINE reals widen(singles v)
{
#if defined(__AVX512F__)
    return (reals)_mm512_cvtps_pd((__m256)v);
#elif defined(__AVX__)
    return (reals)_mm256_cvtps_pd((__m128)v);
#else
    return (reals){(double)v[0], (double)v[1]};
#endif
}

EW_INLINE singles narrow(reals v)
{
#if defined(__AVX512F__)
    return (singles)_mm512_cvtpd_ps((__m512d)v);
#elif defined(__AVX__)
    return (singles)_mm256_cvtpd_ps((__m256d)v);
#else
    return (singles){(float)v[0], (float)v[1]};
#endif
}

/* Is there a NaN? */
EW_INLINE bool any_nan(reals v)
{
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q) != 0;
#elif defined(__AVX__)
    __m256d nan = _mm256_cmp_pd((__m256d)v, (__m256d)v, _CMP_UNORD_Q);
    return _mm256_movemask_pd(nan) != 0;
#else
    return v[0] != v[0] || v[1] != v[1];
#endif
}

/* f of every second lane, or of the first half, between commas: vectors are
   only put together in registers if it is written out. */
#if defined(__AVX512F__)
#define EACH_SECOND(f) f(0), f(2), f(4), f(6)
#define EACH_HALF(f) f(0), f(1), f(2), f(3)
#elif defined(__AVX__)
#define EACH_SECOND(f) f(0), f(2)
#define EACH_HALF(f) f(0), f(1)
#else
#define EACH_SECOND(f) f(0)
#define EACH_HALF(f) f(0)
#endif

/* The even elements of both in turn, which turns (re, im) of a, b into (re,
   re), and these back into (re, im). */
EW_INLINE reals evens(reals a, reals b)
{
#define BOTH(i) a[i], b[i]
    return (reals){EACH_SECOND(BOTH)};
#undef BOTH
}

EW_INLINE reals odds(reals a, reals b)
{
#define BOTH(i) a[i + 1], b[i + 1]
    return (reals){EACH_SECOND(BOTH)};
#undef BOTH
}

/* Element i, or the last one instead of those behind it. */
EW_INLINE int64_t element(struct place x, int64_t i, int64_t last)
{
    int64_t bits;
    memcpy(&bits, x.at + (i < last ? i : last) * x.step, sizeof bits);
    return bits;
}

/* Half a vector's elements, from i on, one by one. */
EW_INLINE reals gather(struct place x, int64_t i, int64_t last)
{
#define ONE(k) element(x, i + k, last)
    pairs elements = {EACH_HALF(ONE)};
#undef ONE
    singles v;
    memcpy(&v, &elements, sizeof v);
    return widen(v);
}

EW_INLINE reals load_half(const char *at)
{
    singles v;
    memcpy(&v, at, sizeof v);
    return widen(v);
}

#if defined(__AVX512F__)
/* The lanes of floats of the first n elements. */
EW_INLINE unsigned first(int64_t n)
{
    return (1u << 2 * n) - 1;
}

/* The first n dense elements of a vector, and ones in the place of others. */
EW_INLINE struct halves load_some(int64_t n, const char *at)
{
    const __m256 one = _mm256_set1_ps(1);
    unsigned low = first(n), high = low >> 8;
    __m256 a = _mm256_mask_loadu_ps(one, (__mmask8)low, at);
    __m256 b = _mm256_mask_loadu_ps(one, (__mmask8)high, at + sizeof a);
    return (struct halves){widen((singles)a), widen((singles)b)};
}
#endif

/* n elements, 1 to LANES. */
EW_INLINE struct parts load_c64(int64_t n, struct place x)
{
    reals low, high;
    if (x.step == C64 && n == LANES) {
        low = load_half(x.at);
        high = load_half(x.at + sizeof(singles));
#if defined(__AVX512F__)
    } else if (x.step == C64) {
        struct halves some = load_some(n, x.at);
        low = some.low;
        high = some.high;
#endif
    } else if (x.step == 0) {
        low = high = gather(x, 0, 0);
    } else {
        low = gather(x, 0, n - 1);
        high = gather(x, LANES / 2, n - 1);
    }
    return (struct parts){evens(low, high), odds(low, high)};
}

#if defined(__AVX512F__)
/* The first n elements of a vector, dense. */
EW_INLINE void store_some(int64_t n, struct parts q, char *out)
{
    const __m512i turns = _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 1, 17,
                                            3, 19, 5, 21, 7, 23);
    __m512 re = _mm512_castps256_ps512((__m256)narrow(q.re));
    __m512 im = _mm512_castps256_ps512((__m256)narrow(q.im));
    __m512 made = _mm512_permutex2var_ps(re, turns, im);
    if (n == LANES)
        _mm512_storeu_ps(out, made);
    else
        _mm512_mask_storeu_ps(out, (__mmask16)first(n), made);
}
#else
EW_INLINE void store_some(int64_t n, struct parts q, char *out)
{
    singles low = narrow(evens(q.re, q.im)), high = narrow(odds(q.re, q.im));
    char made[LANES * C64];
    char *to = n == LANES ? out : made;
    memcpy(to, &low, sizeof low);
    memcpy(to + sizeof low, &high, sizeof high);
    for (int64_t i = 0; n < LANES && i < n; i++)
        memcpy(out + i * C64, made + i * C64, C64);
}
#endif

EW_INLINE void store_c64(int64_t n, struct parts q, char *out, int64_t step)
{
    char made[LANES * C64];
    if (step == C64) {
        store_some(n, q, out);
        return;
    }
    store_some(LANES, q, made);
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i * step, made + i * C64, C64);
}

/* The same of c128. n dense elements, or one again and again. */
EW_INLINE struct parts load_c128(int64_t n, struct place x)
{
    struct halves some;
#if defined(__AVX512F__)
    if (x.step != 0) {
        const __m512d one = _mm512_set1_pd(1);
        const unsigned low = n == LANES ? 0xffff : first(n), high = low >> 8;
        some.low = (reals)_mm512_mask_loadu_pd(one, (__mmask8)low, x.at);
        some.high = (reals)_mm512_mask_loadu_pd(one, (__mmask8)high,
                                                x.at + sizeof some.low);
        return (struct parts){evens(some.low, some.high),
                              odds(some.low, some.high)};
    }
#endif
    if (x.step != 0 && n == LANES) {
        memcpy(&some.low, x.at, sizeof some.low);
        memcpy(&some.high, x.at + sizeof some.low, sizeof some.high);
    } else {
        char made[LANES * C128];
        for (int64_t i = 0; i < LANES; i++)
            memcpy(made + i * C128, x.at + (i < n ? i : n - 1) * x.step, C128);
        memcpy(&some, made, sizeof some);
    }
    return (struct parts){evens(some.low, some.high),
                          odds(some.low, some.high)};
}

/* The first n elements of a vector, dense. */
EW_INLINE void store_c128(int64_t n, struct parts q, char *out)
{
    const struct halves made = {evens(q.re, q.im), odds(q.re, q.im)};
    if (n == LANES) {
        memcpy(out, &made.low, sizeof made.low);
        memcpy(out + sizeof made.low, &made.high, sizeof made.high);
        return;
    }
#if defined(__AVX512F__)
    const unsigned low = first(n), high = low >> 8;
    _mm512_mask_storeu_pd(out, (__mmask8)low, (__m512d)made.low);
    _mm512_mask_storeu_pd(out + sizeof made.low, (__mmask8)high,
                          (__m512d)made.high);
#else
    memcpy(out, &made, (size_t)n * C128);
#endif
}

#endif
