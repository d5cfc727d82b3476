/*
 * Turns tiles of f16 ... f64 into what is added to accumulators, and sums of
 * f64 with what they lost into what they are. The kernels that store something
 * in the same pass are in gradient.c.
 */
#include "sum.h"

enum {
    GROUP = 8,    /* blocks added before they become doubles; a power of 2 */
    JOINED = 512, /* columns up to which rows of few of them are joined */
    BELOW = 1024, /* and up to which later rows of f16 and bf16 are asked for */
    AFTER = 32,   /* rows from one under a mask to that which is asked for */
    NEAR = 2048,  /* bytes from row to row that leave no whole page between */
    TWO_FROM = 8192 /* bytes of a row of which two are read at a time */
};

/* How many rows of few columns become one: a power of 2, and few enough to
   leave some groups of them. */
static int64_t joined_rows(int64_t rows, int64_t cols)
{
    int64_t many = 1;
    while (2 * many * cols <= JOINED && 2 * many * 4 * GROUP <= rows)
        many *= 2;
    return many;
}

/* Adds n sums, and what they lost, to others. */
EW_INLINE void add_sums(bool loses, int64_t n, const double *from, double *to)
{
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        add_one(loses, &to[i], from[i]);
        if (loses)
            to[EW_ACCUMULATORS + i] += from[EW_ACCUMULATORS + i];
    }
}

/* Part v of a block in memory, in the type in which it is added. */
EW_INLINE vector load_f64(const double *block, int v)
{
    return doubles_f64(block + v * ABREAST);
}

EW_INLINE floats load_f32(const float *block, int v)
{
    floats part;
    memcpy(&part, block + v * 2 * ABREAST, sizeof part);
    return part;
}

#if defined(__SSE2__) && !defined(__F16C__)
/* As ew_half_from_f16, of which compilers make no vectors here: four of the
   elements at x, or fewer and zeros. */
EW_INLINE __m128 widen_f16(const struct ew_f16 *x, size_t bytes)
{
    const __m128i infinity = _mm_set1_epi32(0x7f800000);
    __m128i h = _mm_setzero_si128();
    memcpy(&h, x, bytes);
    h = _mm_unpacklo_epi16(_mm_setzero_si128(), h);
    __m128i sign = _mm_and_si128(h, _mm_set1_epi32(INT32_MIN));
    __m128i size = _mm_srli_epi32(_mm_xor_si128(h, sign), 3);
    __m128i other = _mm_cmpgt_epi32(size, _mm_set1_epi32(0x0f7fffff));
    __m128i wide = (__m128i)((__m128)size * _mm_set1_ps(0x1p112f));
    wide = _mm_or_si128(wide, _mm_and_si128(other, infinity));
    return (__m128)_mm_or_si128(wide, sign);
}
#endif

EW_INLINE floats load_f16(const struct ew_f16 *block, int v)
{
    const struct ew_f16 *x = block + v * 2 * ABREAST;
#if defined(__AVX512F__)
    return (floats)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)x));
#elif defined(__F16C__)
    return (floats)_mm256_cvtph_ps(_mm_loadu_si128((const void *)x));
#elif defined(__SSE2__)
    return (floats)widen_f16(x, 4 * sizeof *x);
#else
    floats part = {0};
    for (int i = 0; i < 2 * ABREAST; i++)
        part[i] = ew_half_from_f16(x[i]);
    return part;
#endif
}

/* Sums of parts, where they are not in the order of the elements. */
EW_INLINE void order_f64(vector *sum)
{
    (void)sum;
}

EW_INLINE void order_f32(floats *sum)
{
    (void)sum;
}

#define order_f16 order_f32

#if defined(__AVX512F__)
/* A block is one part. */
EW_INLINE floats load_part_bf16(const struct ew_bf16 *block, int v)
{
    (void)v;
    return load_bf16(block);
}

#define order_bf16 order_f32
#else
/* Every second element of two parts, which takes half of a word and leaves it
   in its lane: parts are brought in order once for all that are added. */
EW_INLINE floats load_part_bf16(const struct ew_bf16 *block, int v)
{
    typedef uint32_t words __attribute__((vector_size(WIDTH)));
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    words pairs;
    memcpy(&pairs, block + v / 2 * 4 * ABREAST, sizeof pairs);
    return (floats)((v % 2 == 0) == little ? pairs << 16 : pairs & 0xffff0000);
}

/* Elements of even and odd in turn, from i on: written out, as not every
   compiler has __builtin_shufflevector, and they make one step of it. */
#if defined(__AVX__)
#define ALTERNATE(i) FOUR(i), FOUR(i + 2)
#else
#define ALTERNATE(i) FOUR(i)
#endif
#define FOUR(i) even[i], odd[i], even[i + 1], odd[i + 1]
EW_INLINE void order_bf16(floats *sum)
{
    EW_UNROLLED
    for (int v = 0; v < VECTORS / 2; v += 2) {
        floats even = sum[v], odd = sum[v + 1];
        sum[v] = (floats){ALTERNATE(0)};
        sum[v + 1] = (floats){ALTERNATE(ABREAST)};
    }
}
#endif

/* As many elements as there are doubles abreast. */
EW_INLINE vector doubles_f16(const struct ew_f16 *x)
{
#if defined(__AVX512F__)
    __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128((const void *)x));
    return (vector)_mm512_cvtps_pd(wide);
#elif defined(__F16C__)
    __m128 wide = _mm_cvtph_ps(_mm_loadl_epi64((const void *)x));
    return (vector)_mm256_cvtps_pd(wide);
#elif defined(__SSE2__)
    return (vector)_mm_cvtps_pd(widen_f16(x, 2 * sizeof *x));
#else
    return (vector){(double)ew_half_from_f16(x[0]),
                    (double)ew_half_from_f16(x[1])};
#endif
}

EW_INLINE vector doubles_bf16(const struct ew_bf16 *x)
{
#if defined(__AVX512F__)
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)x));
    return (vector)_mm512_cvtps_pd((__m256)_mm256_slli_epi32(wide, 16));
#elif defined(__AVX2__)
    __m128i wide = _mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)x));
    return (vector)_mm256_cvtps_pd((__m128)_mm_slli_epi32(wide, 16));
#elif defined(__SSE2__)
    int pair;
    memcpy(&pair, x, sizeof pair);
    __m128i wide =
        _mm_unpacklo_epi16(_mm_setzero_si128(), _mm_cvtsi32_si128(pair));
    return (vector)_mm_cvtps_pd((__m128)wide);
#else
    return (vector){(double)ew_half_from_bf16(x[0]),
                    (double)ew_half_from_bf16(x[1])};
#endif
}

#if defined(__AVX512F__)
/* Those of a mask alone, the others 0. */
EW_INLINE vector doubles_some_f64(const double *x, __mmask8 some)
{
    return (vector)_mm512_maskz_loadu_pd(some, x);
}

EW_INLINE vector doubles_some_f32(const float *x, __mmask8 some)
{
    return (vector)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(some, x));
}

EW_INLINE vector doubles_some_f16(const struct ew_f16 *x, __mmask8 some)
{
    __m128i v = _mm_maskz_loadu_epi16(some, x);
    return (vector)_mm512_cvtps_pd(_mm256_cvtph_ps(v));
}

EW_INLINE vector doubles_some_bf16(const struct ew_bf16 *x, __mmask8 some)
{
    __m256i v = _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(some, x));
    return (vector)_mm512_cvtps_pd((__m256)_mm256_slli_epi32(v, 16));
}

/* The last n lanes of a block before `end`, the others 0 and not read. */
EW_INLINE __mmask16 last_mask(int64_t n)
{
    return (__mmask16)(~0u << (EW_LANES - n));
}

EW_INLINE void load_last_f64(int64_t n, const double *end, vector to[VECTORS])
{
    const __mmask16 keep = last_mask(n);
    to[0] = (vector)_mm512_maskz_loadu_pd((__mmask8)keep, end - EW_LANES);
    to[1] = (vector)_mm512_maskz_loadu_pd((__mmask8)(keep >> 8), end - ABREAST);
}

EW_INLINE void load_last_f32(int64_t n, const float *end, floats *to)
{
    *to = (floats)_mm512_maskz_loadu_ps(last_mask(n), end - EW_LANES);
}

EW_INLINE void load_last_f16(int64_t n, const struct ew_f16 *end, floats *to)
{
    __m256i v = _mm256_maskz_loadu_epi16(last_mask(n), end - EW_LANES);
    *to = (floats)_mm512_cvtph_ps(v);
}

EW_INLINE void load_last_bf16(int64_t n, const struct ew_bf16 *end, floats *to)
{
    __m256i v = _mm256_maskz_loadu_epi16(last_mask(n), end - EW_LANES);
    *to = (floats)_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16);
}
#elif defined(__AVX2__)
/* There is no such load of halves. */
EW_INLINE void load_last_f64(int64_t n, const double *end, vector to[VECTORS])
{
    const char *keep = last_lanes(n, sizeof *end);
    EW_UNROLLED
    for (int v = 0; v < VECTORS; v++) {
        __m256i mask = _mm256_loadu_si256((const void *)(keep + v * WIDTH));
        const double *x = end - EW_LANES + v * ABREAST;
        to[v] = (vector)_mm256_maskload_pd(x, mask);
    }
}

EW_INLINE void load_last_f32(int64_t n, const float *end, floats *to)
{
    const char *keep = last_lanes(n, sizeof *end);
    EW_UNROLLED
    for (int v = 0; v < VECTORS / 2; v++) {
        __m256i mask = _mm256_loadu_si256((const void *)(keep + v * WIDTH));
        const float *x = end - EW_LANES + v * 2 * ABREAST;
        to[v] = (floats)_mm256_maskload_ps(x, mask);
    }
}
#endif

/* A block as doubles. */
EW_INLINE void widen_f32(const floats block[VECTORS / 2], vector wide[VECTORS])
{
    EW_UNROLLED
    for (int v = 0; v < VECTORS / 2; v++) {
        float part[2 * ABREAST];
        memcpy(part, &block[v], sizeof part);
        wide[2 * v] = doubles_f32(part);
        wide[2 * v + 1] = doubles_f32(part + ABREAST);
    }
}

EW_INLINE void widen_f64(const vector block[VECTORS], vector wide[VECTORS])
{
    EW_UNROLLED
    for (int v = 0; v < VECTORS; v++)
        wide[v] = block[v];
}

/* Types whose sums of few columns vectors do not make quicker. */
enum {
    slow_f16 = ABREAST == 2,
    slow_bf16 = 0,
    slow_f32 = 0,
    slow_f64 = ABREAST == 2
};

#define E float
#define T float
#define V floats
#define NAME(x) x##_f32
#define LOAD load_f32
#define ORDER order_f32
#define GET(x) (x)
#define ADD(x) x##_f32
#define LOSES 0
#if defined(__AVX2__)
#define LAST load_last_f32
#endif
#include "sum.inc"

#define E double
#define T double
#define V vector
#define NAME(x) x##_f64
#define LOAD load_f64
#define ORDER order_f64
#define GET(x) (x)
#define ADD(x) x##_f64
#define LOSES 1
#if defined(__AVX2__)
#define LAST load_last_f64
#endif
#include "sum.inc"

#define E struct ew_f16
#define T float
#define V floats
#define NAME(x) x##_f16
#define LOAD load_f16
#define ORDER order_f16
#define GET(x) ew_half_from_f16(x)
#define ADD(x) x##_f32
#define LOSES 0
#if defined(__AVX512F__)
#define LAST load_last_f16
#endif
#include "sum.inc"

#define E struct ew_bf16
#define T float
#define V floats
#define NAME(x) x##_bf16
#define LOAD load_part_bf16
#define ORDER order_bf16
#define GET(x) ew_half_from_bf16(x)
#define ADD(x) x##_f32
#define LOSES 0
#if defined(__AVX512F__)
#define LAST load_last_bf16
#endif
#include "sum.inc"

ew_sum *const EW_CONCAT(ew_sum, EW_LEVEL)[4] = {sum_f16, sum_bf16, sum_f32,
                                                sum_f64};

/* Beside an infinite sum stands NaN. */
static void join(int64_t n, double *sums)
{
    EW_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        double sum = sums[i], lost = sums[EW_ACCUMULATORS + i];
        sums[i] = sum - sum == 0 ? sum + lost : sum;
    }
}

ew_join *const EW_CONCAT(ew_join, EW_LEVEL) = join;
