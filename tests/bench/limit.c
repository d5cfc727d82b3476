/*
 * Turns this machine into rates that little on it exceeds: bytes per second
 * by what is done with them and how many they are, elements per second of slow
 * arithmetic. And turns a row into the time it takes at these rates.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    REPEATS = 2,
    ROUNDS = 3,
    LINE = 64,
    FEW = 2048,
    STEPS = 16,
    PRODUCTS = 4
};
static const double shortest = 100e-6;  /* seconds of one probe */
static const double least_call = 10e-9; /* of checks that a call has to make */
/* Bytes written from which non-temporal stores count: about where the library
   starts to make them if it is not told to, as whoever reads a smaller output
   next would wait for it; fewer where an input is turned. */
static const double past_from = 20 << 20, past_from_turned = 4 << 20;

/* The loops below become vectors of the level that they are inlined into. */
#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))
#if defined(__clang__)
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#else
#define AVX512                                                                 \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,"                \
                          "prefer-vector-width=512")))
#endif
#else
#define AVX2
#define AVX512
#endif

struct probe {
    enum bench_stream stream;
    bool streamed; /* stores go past the caches */
    enum bench_unit unit;
    char *x, *y, *out;
    size_t n; /* elements */
};

static volatile float one = 1; /* that no compiler knows */
static volatile int32_t sink;

/* Two sums, as one addition after the other would take longer than a load. */
INLINE void read_all(const int32_t *x, size_t n)
{
    uint32_t a = 0, b = 0;
    for (size_t i = 0; i < n / 2; i++) {
        a += (uint32_t)x[i];
        b += (uint32_t)x[i + n / 2];
    }
    sink = (int32_t)(a + b);
}

INLINE float combine(enum bench_stream stream, float factor, float x, float y,
                     float out)
{
    switch (stream) {
    case BENCH_SCALE:
        return x * factor;
    case BENCH_ADD:
        return x + y;
    case BENCH_UPDATE:
        return out + x;
    case BENCH_RENEW:
        return out + factor;
    default:
        return factor;
    }
}

INLINE void write_all(const struct probe *p, enum bench_stream stream)
{
    const float *restrict x = (const float *)p->x;
    const float *restrict y = (const float *)p->y;
    float *restrict out = (float *)p->out;
    float factor = one;
    for (size_t i = 0, n = p->n; i < n; i++)
        out[i] = combine(stream, factor, x[i], y[i], out[i]);
}

/* Memory is slower than these narrow vectors. */
INLINE void write_past(const struct probe *p, enum bench_stream stream)
{
#if defined(__SSE2__)
    const float *x = (const float *)p->x, *y = (const float *)p->y;
    float *out = (float *)p->out;
    __m128 factor = _mm_set1_ps(one);
    for (size_t i = 0, n = p->n; i + 3 < n; i += 4) {
        __m128 v = factor;
        if (stream != BENCH_FILL)
            v = _mm_load_ps(x + i);
        if (stream == BENCH_ADD)
            v = _mm_add_ps(v, _mm_load_ps(y + i));
        _mm_stream_ps(out + i, v);
    }
    _mm_sfence();
#else
    write_all(p, stream);
#endif
}

/* The stream is a constant of the loop that it leads to. */
INLINE void run_stream(const struct probe *p)
{
    if (p->stream == BENCH_READ)
        read_all((const int32_t *)p->x, p->n);
    else if (p->stream == BENCH_FILL)
        p->streamed ? write_past(p, BENCH_FILL) : write_all(p, BENCH_FILL);
    else if (p->stream == BENCH_SCALE)
        p->streamed ? write_past(p, BENCH_SCALE) : write_all(p, BENCH_SCALE);
    else if (p->stream == BENCH_ADD)
        p->streamed ? write_past(p, BENCH_ADD) : write_all(p, BENCH_ADD);
    else if (p->stream == BENCH_UPDATE)
        write_all(p, BENCH_UPDATE);
    else
        write_all(p, BENCH_RENEW);
}

INLINE void divide_floats(const struct probe *p)
{
    const float *restrict x = (const float *)p->x;
    float *restrict out = (float *)p->out, factor = one;
    for (size_t i = 0, n = p->n; i < n; i++)
        out[i] = factor / (x[i] + factor);
}

INLINE void divide_doubles(const struct probe *p)
{
    const double *restrict x = (const double *)p->x;
    double *restrict out = (double *)p->out, factor = one;
    for (size_t i = 0, n = p->n; i < n; i++)
        out[i] = factor / (x[i] + factor);
}

INLINE double four_steps(double v, double x, double c)
{
    return (((v * x + c) * x + c) * x + c) * x + c;
}

/* A polynomial of 16 steps; those of neighbours overlap. */
INLINE void multiply_add(const struct probe *p)
{
    const double *restrict x = (const double *)p->x;
    double *restrict out = (double *)p->out, c = one;
    for (size_t i = 0, n = p->n; i < n; i++) {
        double v = four_steps(four_steps(c, x[i], c), x[i], c);
        out[i] = four_steps(four_steps(v, x[i], c), x[i], c);
    }
}

/* A product of integers takes so long that chains of more than four would not
   overlap; without sums compilers would take powers. */
INLINE void multiply_words(const struct probe *p)
{
    const uint32_t *restrict x = (const uint32_t *)p->x;
    uint32_t *restrict out = (uint32_t *)p->out, c = (uint32_t)one;
    for (size_t i = 0, n = p->n; i < n; i++)
        out[i] = (((x[i] * x[i] + c) * x[i] + c) * x[i] + c) * x[i];
}

INLINE void multiply_longs(const struct probe *p)
{
    const uint64_t *restrict x = (const uint64_t *)p->x;
    uint64_t *restrict out = (uint64_t *)p->out, c = (uint64_t)one;
    for (size_t i = 0, n = p->n; i < n; i++)
        out[i] = (((x[i] * x[i] + c) * x[i] + c) * x[i] + c) * x[i];
}

/* Elements that are apart, one after the other. */
INLINE void gather(const struct probe *p)
{
    enum { APART = 3 };
    const float *x = (const float *)p->x;
    float *out = (float *)p->out;
    for (size_t i = 0; i + 3 < p->n; i += 4) {
        out[i] = x[i * APART];
        out[i + 1] = x[(i + 1) * APART];
        out[i + 2] = x[(i + 2) * APART];
        out[i + 3] = x[(i + 3) * APART];
    }
}

INLINE void run_probe(const struct probe *p)
{
    if (p->unit == BENCH_UNITS)
        run_stream(p);
    else if (p->unit == BENCH_DIV32)
        divide_floats(p);
    else if (p->unit == BENCH_DIV64)
        divide_doubles(p);
    else if (p->unit == BENCH_FMA64)
        multiply_add(p);
    else if (p->unit == BENCH_MUL32)
        multiply_words(p);
    else if (p->unit == BENCH_MUL64)
        multiply_longs(p);
    else
        gather(p);
}

static void run_base(const struct probe *p)
{
    run_probe(p);
}

AVX2 static void run_avx2(const struct probe *p)
{
    run_probe(p);
}

AVX512 static void run_avx512(const struct probe *p)
{
    run_probe(p);
}

/* At the level of the library's kernels. */
static void run(const struct probe *p)
{
    const char *level = elementwise_cpu_level();
    if (strncmp(level, "avx512", 6) == 0)
        run_avx512(p);
    else if (strcmp(level, "avx2") == 0)
        run_avx2(p);
    else
        run_base(p);
}

static double repeat(const struct probe *p, int calls)
{
    double start = bench_spent();
    for (int i = 0; i < calls; i++)
        run(p);
    return bench_spent() - start;
}

/* Seconds of one run: the best of several, as this is a limit. */
static double time_probe(const struct probe *p)
{
    int calls = 1;
    double best = repeat(p, 1);
    while ((best = repeat(p, calls)) < shortest)
        calls *= 2;
    for (int i = 0; i < REPEATS; i++)
        best = fmin(best, repeat(p, calls));
    return best / calls;
}

/* Operands that a stream goes through, and passes over them that count. */
static const struct {
    int buffers, passes;
} streams[BENCH_STREAMS] = {{1, 1}, {1, 1}, {2, 2}, {3, 3}, {2, 3}, {1, 2}};

static double stream_rate(const struct bench_arena *arena,
                          enum bench_stream stream, bool streamed, double bytes)
{
    size_t each = (size_t)bytes / (size_t)streams[stream].buffers;
    struct probe p = {stream, streamed, BENCH_UNITS,         NULL,
                      NULL,   NULL,     each / sizeof(float)};
    size_t place = (each + 4095) / 4096 * 4096 + 21 * LINE;
    p.out = arena->base;
    p.x = streams[stream].buffers > 1 ? p.out + place : p.out;
    p.y = p.x + place;
    return (double)(p.n * sizeof(float)) * streams[stream].passes /
           time_probe(&p);
}

/* Larger footprints cannot be faster: where one was, the smaller was
   disturbed. */
static void smooth(double rate[], int n)
{
    for (int i = n - 2; i >= 0; i--)
        rate[i] = fmax(rate[i], rate[i + 1]);
}

static void raise(double *rate, const struct bench_arena *arena,
                  enum bench_stream stream, bool streamed, double bytes)
{
    *rate = fmax(*rate, stream_rate(arena, stream, streamed, bytes));
}

static void measure_streams(struct bench_machine *m,
                            const struct bench_arena *arena)
{
    for (int s = 0; s < BENCH_STREAMS; s++) {
        for (int i = 0; i < m->points; i++) {
            enum bench_stream stream = (enum bench_stream)s;
            raise(&m->rate[s][i], arena, stream, false, m->bytes[i]);
            if (s > BENCH_READ && s < BENCH_UPDATE)
                raise(&m->streamed[s][i], arena, stream, true, m->bytes[i]);
        }
        smooth(m->rate[s], m->points);
        smooth(m->streamed[s], m->points);
    }
}

/* Seconds that an element takes. */
static double unit_seconds(const struct bench_arena *arena,
                           enum bench_unit unit)
{
    struct probe p = {BENCH_READ,  false,       unit,
                      arena->base, arena->base, arena->base + (64 << 10),
                      FEW};
    double each = time_probe(&p) / FEW;
    bool products = unit == BENCH_MUL32 || unit == BENCH_MUL64;
    return unit == BENCH_FMA64 ? each / STEPS
           : products          ? each / PRODUCTS
                               : each;
}

static void measure_units(struct bench_machine *m,
                          const struct bench_arena *arena)
{
    for (int u = 0; u < BENCH_UNITS; u++) {
        double each = unit_seconds(arena, (enum bench_unit)u);
        m->unit[u] = m->unit[u] > 0 ? fmin(m->unit[u], each) : each;
    }
}

/* Twice the bytes from which reading is as slow as it gets: what was read
   before them is gone. */
static double rotation(const struct bench_machine *m)
{
    int i = m->points - 1;
    double slowest = m->rate[BENCH_READ][i];
    while (i > 0 && m->rate[BENCH_READ][i - 1] < 1.15 * slowest)
        i--;
    return fmin(2 * m->bytes[i], m->bytes[m->points - 1]);
}

void bench_machine_raise(struct bench_machine *m,
                         const struct bench_arena *arena)
{
    measure_streams(m, arena);
    measure_units(m, arena);
    m->rotation = rotation(m);
}

void bench_machine_measure(struct bench_machine *m,
                           const struct bench_arena *arena)
{
    memset(arena->base, 0, arena->size / 2); /* the first touch is no limit */
    memset(m, 0, sizeof *m);
    for (double bytes = 12 << 10; m->points < BENCH_POINTS; m->points++) {
        if (bytes > (double)arena->size / 4)
            break;
        m->bytes[m->points] = bytes;
        bytes *= 1.5;
    }
    /* What disturbs one round is not there in another one. */
    for (int round = 0; round < ROUNDS; round++)
        bench_machine_raise(m, arena);
}

/* ---------------------------------------------------------------------
 * The limit of a row
 */

/* Bytes of all operands, and whether non-temporal stores count. */
struct traffic {
    double footprint;
    bool past;
};

static double rate_at(const struct bench_machine *m, enum bench_stream s,
                      int point, bool past)
{
    return fmax(m->rate[s][point], past ? m->streamed[s][point] : 0);
}

/* Seconds of a stream of so many bytes, at the better kind of stores that
   counts. */
static double stream_time(const struct bench_machine *m, enum bench_stream s,
                          double bytes, struct traffic of)
{
    int i = 0;
    while (i + 1 < m->points && m->bytes[i + 1] <= of.footprint)
        i++;
    double rate = rate_at(m, s, i, of.past), footprint = of.footprint;
    if (i + 1 < m->points && footprint > m->bytes[i]) {
        double next = rate_at(m, s, i + 1, of.past);
        double part =
            log(footprint / m->bytes[i]) / log(m->bytes[i + 1] / m->bytes[i]);
        rate += (next - rate) * part;
    }
    return bytes / rate;
}

/* What a row brings and stores, in bytes. */
struct need {
    double read, written, updated;
    struct traffic of;
};

/* Bytes of each stream that a row is made of. */
struct mix {
    double bytes[BENCH_STREAMS];
};

/* Any mix of reads and writes is one of two of the streams; in place it is
   out += y where y is as large, out += 1 for the rest of it. */
static struct mix mix_of(struct need need)
{
    double read = need.read, written = need.written, updated = need.updated;
    struct mix mix = {{0}};
    if (updated > 0) {
        double both = fmin(read, updated);
        mix.bytes[BENCH_UPDATE] = 3 * both;
        mix.bytes[BENCH_RENEW] = 2 * (updated - both);
    } else if (read >= 2 * written) {
        mix.bytes[BENCH_ADD] = 3 * written;
        mix.bytes[BENCH_READ] = read - 2 * written;
    } else if (read >= written) {
        mix.bytes[BENCH_ADD] = 3 * (read - written);
        mix.bytes[BENCH_SCALE] = 2 * (2 * written - read);
    } else {
        mix.bytes[BENCH_SCALE] = 2 * read;
        mix.bytes[BENCH_FILL] = written - read;
    }
    return mix;
}

static double memory_time(const struct bench_machine *m, struct need need)
{
    const struct mix mix = mix_of(need);
    double time = 0;
    for (int s = 0; s < BENCH_STREAMS; s++)
        if (mix.bytes[s] > 0)
            time += stream_time(m, (enum bench_stream)s, mix.bytes[s], need.of);
    return time;
}

static int64_t distance(const elementwise_tensor *t, int k)
{
    int64_t stride = 1;
    if (t->strides)
        return t->strides[k] < 0 ? -t->strides[k] : t->strides[k];
    for (int d = k + 1; d < t->ndim; d++)
        stride *= t->shape[d];
    return stride;
}

/* From the inner loops outwards, what lies closer than a line grows to a
   block; farther loops repeat the block. */
double bench_line_bytes(const elementwise_tensor *t)
{
    double size = (double)elementwise_dtype_size(t->dtype);
    double block = size, blocks = 1;
    bool done[ELEMENTWISE_MAX_NDIM] = {false};
    if (bench_elements(t) == 0)
        return 0;
    for (int round = 0; round < t->ndim; round++) {
        int inner = -1;
        for (int k = 0; k < t->ndim; k++)
            if (!done[k] && (inner < 0 || distance(t, k) < distance(t, inner)))
                inner = k;
        double step = (double)distance(t, inner) * size;
        done[inner] = true;
        if (step == 0 || t->shape[inner] == 1)
            continue;
        if (blocks == 1 && step <= fmax(block, LINE))
            block += (double)(t->shape[inner] - 1) * step;
        else
            blocks *= (double)t->shape[inner];
    }
    return blocks *
           (block < LINE && blocks == 1 ? block : ceil(block / LINE) * LINE);
}

/* The loops over a result, the innermost first: dimensions that all operands
   walk as one are one loop. */
struct loops {
    int n;
    int64_t extent[BENCH_NDIM], stride[OUT + 1][BENCH_NDIM];
};

/* Whether a loop around the last one goes on where that ends. */
static bool continues(const struct loops *l, const int64_t stride[])
{
    for (int k = X; k <= OUT; k++)
        if (stride[k] != l->stride[k][l->n - 1] * l->extent[l->n - 1])
            return false;
    return true;
}

static void add_loop(struct loops *l, int64_t extent, const int64_t stride[])
{
    if (l->n > 0 && continues(l, stride)) {
        l->extent[l->n - 1] *= extent;
        return;
    }
    l->extent[l->n] = extent;
    for (int k = X; k <= OUT; k++)
        l->stride[k][l->n] = stride[k];
    l->n++;
}

static struct loops loops_of(const struct bench_case *c)
{
    struct loops l = {0};
    int64_t extent[OUT + 1][BENCH_NDIM], stride[OUT + 1][BENCH_NDIM];
    int ndim = 0;
    if (!c->used[OUT])
        return l; /* a sum has none */
    for (int k = X; k <= OUT; k++)
        ndim = bench_align(c, (enum bench_operand)k, extent[k], stride[k]);
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t step[OUT + 1];
        for (int k = X; k <= OUT; k++)
            step[k] = extent[k][d] == 1 ? 0 : stride[k][d];
        if (extent[OUT][d] != 1)
            add_loop(&l, extent[OUT][d], step);
    }
    return l;
}

/* Along which loop the neighbours in memory of an operand lie. */
static int nearest_loop(const struct loops *l, int k)
{
    int nearest = -1;
    for (int i = 0; i < l->n; i++) {
        int64_t step = llabs(l->stride[k][i]);
        if (step && (nearest < 0 || step < llabs(l->stride[k][nearest])))
            nearest = i;
    }
    return nearest;
}

/* Whether the neighbours of an input lie along another loop than those of the
   result. */
static bool is_turned(const struct bench_case *c)
{
    struct loops loops = loops_of(c);
    int out = nearest_loop(&loops, OUT);
    for (int k = X; out >= 0 && k <= Y; k++)
        if (loops.stride[k][out] && nearest_loop(&loops, k) != out)
            return true;
    return false;
}

/* What a quotient takes. Integers take one of f32, which is exact below 2^24;
   bytes look up two halves of an inverse in tables, in about eight shuffles for
   64, which take as long as two products of f64. c64 takes one of f64 each, as
   0.501 ULP of each part do: with one for two, an estimate and two steps, or
   pairs of f32, they take as long. */
static double division_time(const struct bench_machine *m,
                            elementwise_dtype type)
{
    double f32 = m->unit[BENCH_DIV32], f64 = m->unit[BENCH_DIV64];
    switch (type) {
    case ELEMENTWISE_U8:
        return 2 * m->unit[BENCH_FMA64];
    case ELEMENTWISE_F64:
    case ELEMENTWISE_C64:
    case ELEMENTWISE_C128:
        return f64;
    default:
        return f32;
    }
}

/* Fused operations by which an estimate becomes a quotient of f64, which some
   processors make in less than a division. */
enum { ESTIMATE = 8 };

/* What an element costs beyond memory: quotients and remainders are divisions,
   and powers are polynomials of about so many steps. Products of wide integers
   take several instructions, in chains of which there are sums, too. */
static double unit_time(const struct bench_machine *m, elementwise_op op,
                        elementwise_dtype type)
{
    bool wide = type == ELEMENTWISE_F64 || type == ELEMENTWISE_I64 ||
                type == ELEMENTWISE_C128;
    bool half = type == ELEMENTWISE_F16 || type == ELEMENTWISE_BF16;
    double div = wide ? m->unit[BENCH_DIV64] : m->unit[BENCH_DIV32];
    double sum = m->unit[BENCH_FMA64] * (PRODUCTS - 1) / PRODUCTS;
    switch (op) {
    case ELEMENTWISE_MUL:
        return type == ELEMENTWISE_I64   ? m->unit[BENCH_MUL64] - sum
               : type == ELEMENTWISE_I32 ? m->unit[BENCH_MUL32] - sum / 2
                                         : 0;
    case ELEMENTWISE_DIV:
        return type == ELEMENTWISE_F64
                   ? fmin(div, ESTIMATE * m->unit[BENCH_FMA64])
                   : division_time(m, type);
    case ELEMENTWISE_MOD:
    case ELEMENTWISE_FMOD:
    case ELEMENTWISE_FLOORDIV:
        return division_time(m, type);
    case ELEMENTWISE_POW:
        return (wide || type == ELEMENTWISE_C64 ? 80 : 24) *
               m->unit[BENCH_FMA64];
    case ELEMENTWISE_HYPOT: /* a root takes as long; of halves one of f32 */
        return m->unit[half ? BENCH_DIV32 : BENCH_DIV64];
    case ELEMENTWISE_ATAN2:
        return (wide ? 24 : 12) * m->unit[BENCH_FMA64] + div;
    case ELEMENTWISE_LOGADDEXP:
        return (wide ? 48 : 16) * m->unit[BENCH_FMA64] + m->unit[BENCH_DIV64];
    default:
        return 0;
    }
}

/* Divisions, and roots, which take as long, of a power by a number that has a
   formula; -1: it has none. */
static int formula_divisions(const struct bench_case *c)
{
    double number = c->row->pattern.y.number;
    if (c->row->op != ELEMENTWISE_POW || c->row->type == ELEMENTWISE_C64)
        return -1;
    return number == 2 || number == 3      ? 0
           : number == 0.5 || number == -1 ? 1
           : number == -0.5                ? 2
                                           : -1;
}

/* Squarings and products of powers of integers. Exponents are 1 to 99: of an
   array a vector takes all bits but the lowest of six, twice; alone they are
   17, the first that is drawn, which takes four squarings and a product. */
static int power_steps(const struct bench_case *c)
{
    struct loops loops = loops_of(c);
    return loops.n > 0 && loops.stride[Y][0] != 0 ? 12 : 5;
}

static double integer_power_time(const struct bench_machine *m,
                                 const struct bench_case *c)
{
    size_t size = elementwise_dtype_size(c->row->type);
    enum bench_unit product = size == 8   ? BENCH_MUL64
                              : size == 4 ? BENCH_MUL32
                                          : BENCH_FMA64;
    return (double)power_steps(c) * m->unit[product];
}

/* Acts but relu are polynomials or two, and a division. */
static double act_time(const struct bench_machine *m, elementwise_act act,
                       elementwise_dtype type)
{
    bool wide = type == ELEMENTWISE_F64;
    if (act == ELEMENTWISE_ACT_NONE || act == ELEMENTWISE_ACT_RELU)
        return 0;
    return (wide ? 24 : 8) * m->unit[BENCH_FMA64] +
           m->unit[wide ? BENCH_DIV64 : BENCH_DIV32];
}

/* Divisions by one number along the innermost loop take one inverse; remainders
   of floats do not. What else quotients of c64 take, as conversions, is about
   half of a division. */
static double divisions(const struct bench_case *c, double elements)
{
    elementwise_op op = c->row->op;
    elementwise_dtype type = c->row->type;
    double divisors = (double)bench_elements(&c->t[Y]);
    bool rest = op == ELEMENTWISE_MOD || op == ELEMENTWISE_FLOORDIV;
    bool by_inverse = op == ELEMENTWISE_DIV || (rest && type < ELEMENTWISE_F16);
    struct loops loops = loops_of(c);
    bool varies = loops.n > 0 && loops.stride[Y][0] != 0;
    if (!by_inverse || varies)
        return elements;
    return type == ELEMENTWISE_C64 ? (elements + divisors) / 2 : divisors;
}

/* The type decides the costs; a sum has none. */
static double compute_time(const struct bench_machine *m,
                           const struct bench_case *c)
{
    double elements = (double)bench_elements(&c->t[OUT]);
    if (c->row->pattern.kind == BENCH_SUM)
        return 0;
    if (c->row->pattern.kind == BENCH_GRADIENT)
        elements *= c->row->op == ELEMENTWISE_DIV ? 2 : 0;
    int divided = formula_divisions(c);
    if (divided >= 0)
        return elements * divided * division_time(m, c->row->type);
    if (c->row->op == ELEMENTWISE_POW && c->row->type < ELEMENTWISE_F16)
        return elements * integer_power_time(m, c);
    return divisions(c, elements) * unit_time(m, c->row->op, c->row->type) +
           elements * act_time(m, c->row->act, c->row->type);
}

/* Whether the values of an operand matter to the outputs. */
static bool is_read(const struct bench_case *c, enum bench_operand k)
{
    bool linear =
        c->row->pattern.kind == BENCH_GRADIENT && c->row->op == ELEMENTWISE_ADD;
    return !bench_is_output(c, k) && !(linear && k != OUT);
}

static struct need need_of(const struct bench_case *c)
{
    struct need need = {0};
    for (int k = 0; k < BENCH_OPERANDS; k++) {
        if (!c->used[k])
            continue;
        double bytes = bench_line_bytes(&c->t[k]);
        bool in_place = c->row->pattern.target == BENCH_IN_PLACE && k == X;
        if (in_place)
            need.updated = bytes;
        else if (bench_is_output(c, k))
            need.written += bytes;
        else if (is_read(c, k))
            need.read += bytes;
        need.of.footprint += bytes;
    }
    need.of.past =
        need.written >= (is_turned(c) ? past_from_turned : past_from);
    return need;
}

/* The stream that is most of a row. */
static enum bench_stream stream_of(struct need need)
{
    const struct mix mix = mix_of(need);
    int most = 0;
    for (int s = 1; s < BENCH_STREAMS; s++)
        if (mix.bytes[s] > mix.bytes[most])
            most = s;
    return (enum bench_stream)most;
}

struct bench_drift bench_drift(const struct bench_machine *m,
                               const struct bench_arena *arena,
                               const struct bench_case *c)
{
    const struct need need = need_of(c);
    const enum bench_stream stream = stream_of(need);
    const size_t taken = (arena->taken + 4095) / 4096 * 4096;
    const size_t bytes = (size_t)need.of.footprint + (1 << 20);
    const struct bench_arena rest = {arena->base + taken, arena->size - taken,
                                     0};
    if (bytes > rest.size)
        return (struct bench_drift){1, 1};
    memset(rest.base, 0, bytes);
    double unit = unit_seconds(&rest, BENCH_FMA64) / m->unit[BENCH_FMA64];
    if (need.of.footprint < m->bytes[0])
        return (struct bench_drift){unit, unit};
    double rate = stream_rate(&rest, stream, false, need.of.footprint);
    if (need.of.past)
        rate = fmax(rate, stream_rate(&rest, stream, true, need.of.footprint));
    return (struct bench_drift){1 / (rate * stream_time(m, stream, 1, need.of)),
                                unit};
}

double bench_limit(const struct bench_machine *m, const struct bench_case *c,
                   struct bench_drift drift, bool cold)
{
    struct need need = need_of(c);
    if (cold)
        need.of.footprint = m->bytes[m->points - 1];
    return least_call + fmax(memory_time(m, need) * drift.memory,
                             compute_time(m, c) * drift.compute);
}

double bench_gather_time(const struct bench_machine *m,
                         const struct bench_case *c)
{
    struct loops loops = loops_of(c);
    double elements = 0;
    for (int k = X; k <= Y; k++)
        if (loops.n > 0 && loops.stride[k][0] != 0 && loops.stride[k][0] != 1)
            elements += (double)bench_elements(&c->t[OUT]);
    return elements * m->unit[BENCH_GATHER];
}

int64_t bench_inner_extent(const struct bench_case *c)
{
    struct loops loops = loops_of(c);
    int64_t longest = 1;
    for (int k = X; k <= OUT; k++) {
        int i = nearest_loop(&loops, k);
        if (i >= 0 && loops.extent[i] > longest)
            longest = loops.extent[i];
    }
    return longest;
}
