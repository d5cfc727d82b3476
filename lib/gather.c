/*
 * Turns the loops of a tile into a table of the places where an operand's
 * elements lie, and takes tiles from there to a dense buffer or back. What
 * lies one behind the other is one run and moved as a whole:
 *
 *     loops {2, 8 bytes apart} {3, 100 apart} {2, 16 apart}, elements of 8
 *     runs of 16 bytes at 0, 100, 200, 16, 116, 216
 *
 * Or elements that lie within a line of memory are one group, which a kernel
 * puts in order as a vector.
 */
#include "gather.h"

#include <string.h>

#if defined(__clang__)
#define FOUR_AT_ONCE _Pragma("clang loop unroll_count(4)")
#else
#define FOUR_AT_ONCE _Pragma("GCC unroll 4")
#endif

enum { LONGEST = 128 }; /* run that is a few loads and stores */

/* A table of places for any loops is made of copies of that for what is inside,
   as far on as the loop's step. Returns its length. */
static int64_t extend_table(int32_t table[], int64_t inside,
                            const struct ew_loop *loop, int ndim, int k)
{
    for (int d = 0; d < ndim; d++) {
        for (int64_t i = 1; i < loop[d].n; i++) {
            int32_t *at = &table[i * inside];
            int32_t step = (int32_t)(i * loop[d].stride[k]);
            for (int64_t j = 0; j < inside; j++)
                at[j] = table[j] + step;
        }
        inside *= loop[d].n;
    }
    return inside;
}

static int64_t make_table(int32_t table[], const struct ew_loop *loop, int ndim,
                          int k)
{
    table[0] = 0;
    return extend_table(table, 1, loop, ndim, k);
}

/* Elements that lie in one window: those of whole inner loops, and of the next
   one, if any, a part. The window starts `low` bytes from the first, 0 or
   less. */
struct group {
    int whole;
    int64_t part, elements, window, low;
};

static struct group find_group(const struct ew_loop *loop, int ndim, int k,
                               int64_t size)
{
    struct group g = {0, 1, 1, size, 0};
    for (; g.whole < ndim; g.whole++) {
        int64_t step = loop[g.whole].stride[k], far = ew_magnitude(step);
        int64_t n = loop[g.whole].n, most = EW_LINE / (g.elements * size);
        int64_t reached = far ? (EW_LINE - g.window) / far + 1 : most;
        most = reached < most ? reached : most;
        g.part = n < most ? n : most;
        g.elements *= g.part;
        g.window += (g.part - 1) * far;
        g.low += step < 0 ? (g.part - 1) * step : 0;
        if (g.part < n)
            return g;
    }
    g.part = 1;
    return g;
}

int64_t ew_places_groups(const struct ew_loop *loop, int ndim, int k,
                         int64_t size)
{
    struct group g = find_group(loop, ndim, k, size);
    int64_t groups = 1;
    for (int d = g.whole; d < ndim; d++)
        groups *= d == g.whole ? (loop[d].n + g.part - 1) / g.part : loop[d].n;
    return groups;
}

/* The places of groups, of which the last of a loop ends where that does, and
   shares elements with the one before. */
static void make_groups(struct ew_permutation *p, int32_t at[], int32_t to[],
                        const struct ew_loop *loop, int ndim, int k)
{
    struct group g = find_group(loop, ndim, k, p->size);
    struct ew_loop outer[EW_DEEP_LOOPS + 1] = {{0}};
    int64_t n = g.whole < ndim ? loop[g.whole].n : 1, pieces = 0;
    int64_t dense = p->bytes / g.part;
    for (int64_t i = 0; i < n; i += g.part) {
        int64_t start = i + g.part < n ? i : n - g.part;
        at[pieces] = (int32_t)g.low;
        if (g.whole < ndim)
            at[pieces] += (int32_t)(start * loop[g.whole].stride[k]);
        to[pieces++] = (int32_t)(start * dense);
    }
    dense *= n;
    for (int d = g.whole + 1; d < ndim; d++) {
        outer[d] = (struct ew_loop){.n = loop[d].n};
        outer[d].stride[EW_OUT] = dense;
        dense *= loop[d].n;
    }
    int left = ndim - g.whole - 1;
    p->groups = pieces;
    if (left <= 0)
        return;
    p->groups = extend_table(at, pieces, &loop[g.whole + 1], left, k);
    extend_table(to, pieces, &outer[g.whole + 1], left, EW_OUT);
}

/* False if there are too many groups for their tables. */
static bool permute(struct ew_places *places, const struct ew_loop *loop,
                    int ndim, int k, int64_t size)
{
    enum { MOST = EW_DEEP_ELEMENTS / 2 };
    struct ew_permutation *p = &places->permutation;
    struct group g = find_group(loop, ndim, k, size);
    struct ew_loop inner[EW_DEEP_LOOPS + 1];
    int32_t element[EW_LINE];
    if (ew_places_groups(loop, ndim, k, size) > MOST)
        return false;
    memcpy(inner, loop, (size_t)ndim * sizeof *loop);
    inner[g.whole].n = g.part;
    make_table(element, inner, g.whole < ndim ? g.whole + 1 : ndim, k);
    memset(p->from, 0, sizeof p->from);
    for (int64_t i = 0; i < g.elements * size; i++)
        p->from[i] = (unsigned char)(element[i / size] - g.low + i % size);
    p->size = size;
    p->bytes = g.elements * size;
    p->window = g.window;
    p->at = places->at;
    p->to = places->at + MOST;
    make_groups(p, places->at, places->at + MOST, loop, ndim, k);
    return true;
}

/* Loops of copies come first, or those that extend the run. */
void ew_places_make(struct ew_places *places, const struct ew_loop *loop,
                    int ndim, int k, int64_t size, ew_permuter *kernel)
{
    int d = 0;
    places->run = size;
    places->copies = 1;
    for (; d < ndim && loop[d].stride[k] == 0; d++)
        places->copies *= loop[d].n;
    if (places->copies == 1)
        for (; d < ndim && loop[d].stride[k] == places->run; d++)
            places->run *= loop[d].n;
    places->permute = NULL;
    places->runs = make_table(places->at, &loop[d], ndim - d, k);
    bool dense = places->runs == 1 && places->copies == 1;
    if (kernel && !dense && permute(places, loop, ndim, k, size)) {
        places->permute = kernel;
        places->copies = 1;
    }
}

/* Loops whose steps are shorter than what is inside them are one block. */
void ew_lines_make(struct ew_lines *lines, const struct ew_loop *loop, int ndim,
                   int k, int64_t size)
{
    struct ew_loop far[EW_DEEP_LOOPS + 1] = {{.stride = {[EW_X] = EW_LINE}}};
    int64_t block = size, low = 0, blocks = 1;
    int n = 1;
    for (int d = 0; d < ndim; d++) {
        int64_t step = loop[d].stride[k];
        int64_t reach = (loop[d].n - 1) * step, most = EW_LINE;
        if (block > most)
            most = block;
        if (step > most || step < -most) {
            far[n] = (struct ew_loop){.n = loop[d].n};
            far[n++].stride[EW_X] = step;
            blocks *= loop[d].n;
            continue;
        }
        block += reach < 0 ? -reach : reach;
        low += reach < 0 ? reach : 0;
    }
    far[0].n = (block + 2 * EW_LINE - 2) / EW_LINE;
    lines->n = 0;
    if (blocks * far[0].n > EW_DEEP_LINES)
        return;
    lines->n = make_table(lines->at, far, n, EW_X);
    for (int64_t i = 0; i < lines->n; i++)
        lines->at[i] += (int32_t)low;
}

void ew_lines_fetch(const struct ew_lines *lines, const char *from, bool write)
{
    if (write)
        for (int64_t i = 0; i < lines->n; i++)
            __builtin_prefetch(from + lines->at[i], 1);
    else
        for (int64_t i = 0; i < lines->n; i++)
            __builtin_prefetch(from + lines->at[i]);
}

/* Runs of one piece, or of two that may overlap: the second is then so far
   behind the first. */
static inline __attribute__((always_inline)) void
move_pieces(const struct ew_places *p, size_t piece, int64_t second,
            const char *from, char *to, bool scatter)
{
    const int64_t n = p->runs, run = second ? p->run : (int64_t)piece;
    FOUR_AT_ONCE
    for (int64_t i = 0; i < n; i++) {
        const char *source = from + (scatter ? i * run : p->at[i]);
        char *target = to + (scatter ? p->at[i] : i * run);
        memcpy(target, source, piece);
        if (second)
            memcpy(target + second, source + second, piece);
    }
}

static inline __attribute__((always_inline)) void
move_runs(const struct ew_places *p, int64_t piece, const char *from, char *to,
          bool scatter)
{
    if (p->run == piece)
        move_pieces(p, (size_t)piece, 0, from, to, scatter);
    else
        move_pieces(p, (size_t)piece, p->run - piece, from, to, scatter);
}

/* Long runs are calls. */
static inline __attribute__((always_inline)) void
move(const struct ew_places *p, const char *from, char *to, bool scatter)
{
    const int64_t run = p->run;
    if (run == 1)
        move_runs(p, 1, from, to, scatter);
    else if (run <= 3)
        move_runs(p, 2, from, to, scatter);
    else if (run <= 7)
        move_runs(p, 4, from, to, scatter);
    else if (run <= 15)
        move_runs(p, 8, from, to, scatter);
    else if (run <= 32)
        move_runs(p, 16, from, to, scatter);
    else if (run <= 64)
        move_runs(p, 32, from, to, scatter);
    else if (run <= LONGEST)
        move_runs(p, 64, from, to, scatter);
    else
        for (int64_t i = 0; i < p->runs; i++)
            memcpy(to + (scatter ? p->at[i] : i * run),
                   from + (scatter ? i * run : p->at[i]), (size_t)run);
}

void ew_gather(const struct ew_places *places, const char *from, char *to)
{
    if (places->permute)
        places->permute(&places->permutation, from, to);
    else
        move(places, from, to, false);
}

void ew_scatter(const struct ew_places *places, const char *from, char *to)
{
    move(places, from, to, true);
}
