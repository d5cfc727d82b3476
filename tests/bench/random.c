/*
 * Turns a seed into rows that nobody chose: shapes, axes, strides,
 * permutations, types and operations, so that cliffs between the rows of the
 * matrix show.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 21 }; /* elements of a result */

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13; /* xorshift64* */
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * 0x2545F4914F6CDD1Du >> 33;
}

/* One of n. */
static int one_of(uint64_t *seed, int n)
{
    return (int)(draw(seed) % (uint64_t)n);
}

static bool chance(uint64_t *seed, int percent)
{
    return one_of(seed, 100) < percent;
}

/* Short ones as often as long ones, and powers of two as often as others. */
static int64_t draw_extent(uint64_t *seed, int64_t room)
{
    int64_t power = (int64_t)1 << one_of(seed, 12);
    int64_t extent = chance(seed, 50) ? power : 1 + one_of(seed, (int)power);
    return extent < room ? extent : room;
}

/* A text in the notation of rows.c. */
struct text {
    char at[80];
    int n;
};

static void put(struct text *t, const char *format, int64_t value)
{
    t->n += snprintf(t->at + t->n, sizeof t->at - (size_t)t->n, format,
                     (long long)value);
}

static void put_order(struct text *t, int ndim, uint64_t *seed)
{
    char order[BENCH_NDIM];
    for (int i = 0; i < ndim; i++)
        order[i] = (char)('a' + i);
    for (int i = ndim - 1; i > 0; i--) {
        int other = one_of(seed, i + 1);
        char moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
    put(t, ":", 0);
    for (int i = 0; i < ndim; i++)
        put(t, "%c", order[i]);
}

static void put_strides(struct text *t, int ndim, uint64_t *seed)
{
    static const int steps[] = {2, 3, -1};
    if (ndim > 1 && chance(seed, 35))
        put_order(t, ndim, seed);
    if (ndim > 0 && chance(seed, 20))
        put(t, "/%lld", steps[one_of(seed, 3)]);
    if (ndim > 0 && chance(seed, 15))
        put(t, "~%lld", 1 + one_of(seed, 5));
}

static void put_operand(struct text *t, int ndim, const int64_t shape[],
                        uint64_t *seed)
{
    for (int i = 0; i < ndim; i++)
        put(t, i ? "x%lld" : "%lld", shape[i]);
    if (ndim == 0)
        put(t, "scalar", 0);
    put_strides(t, ndim, seed);
}

/* Some dimensions of both are 1; y lacks some at either end. The rank. */
static int draw_layout(struct text *t, uint64_t *seed)
{
    int ndim = 1 + one_of(seed, 5), from = 0, to = ndim;
    int64_t x[BENCH_NDIM], y[BENCH_NDIM], room = MOST;
    for (int i = 0; i < ndim; i++) {
        int64_t extent = draw_extent(seed, room);
        room /= extent;
        x[i] = chance(seed, 10) ? 1 : extent;
        y[i] = chance(seed, 25) ? 1 : extent;
    }
    bool placed = chance(seed, 40);
    from = chance(seed, 50) ? one_of(seed, ndim + 1) : 0;
    if (placed && from < ndim)
        to = from + 1 + one_of(seed, ndim - from);
    put_operand(t, ndim, x, seed);
    put(t, ",", 0);
    put_operand(t, to - from, y + from, seed);
    if (placed && from < ndim)
        put(t, "@%lld", from);
    return ndim;
}

struct bench_row *bench_random_rows(int count, uint64_t seed, bool outs)
{
    static const elementwise_op ops[] = {ELEMENTWISE_ADD, ELEMENTWISE_MAX,
                                         ELEMENTWISE_MUL, ELEMENTWISE_DIV,
                                         ELEMENTWISE_LESS_THAN};
    struct bench_row *rows = calloc((size_t)count, sizeof *rows);
    seed = seed * 2 + 1;   /* not 0 */
    uint64_t other = seed; /* so that x and y are the same with outs */
    for (int made = 0; rows && made < count;) {
        struct text text = {"", 0};
        char id[16];
        snprintf(id, sizeof id, "R%d", made);
        int ndim = draw_layout(&text, &seed);
        put(&text, outs ? ">" : "", 0);
        put_strides(&text, outs ? ndim : 0, &other);
        struct bench_work work = {BENCH_FORWARD, ops[one_of(&seed, 5)],
                                  ELEMENTWISE_ACT_NONE};
        made += bench_row_make(&rows[made], id, text.at, &work,
                               bench_types[one_of(&seed, BENCH_TYPES)]);
    }
    return rows;
}
