/*
 * Turns the loops of a tile into a table of the places where an operand's
 * elements lie, and takes tiles from there to a dense buffer or back. What
 * lies one behind the other is one run and moved as a whole:
 *
 *     loops {2, 8 bytes apart} {3, 100 apart} {2, 16 apart}, elements of 8
 *     runs of 16 bytes at 0, 100, 200, 16, 116, 216
 */
#include "gather.h"

#include <string.h>

#if defined(__clang__)
#define FOUR_AT_ONCE _Pragma("clang loop unroll_count(4)")
#else
#define FOUR_AT_ONCE _Pragma("GCC unroll 4")
#endif

enum { LONGEST = 128 }; /* run that is a few loads and stores */

/* A table of places for any loops is made of copies of that for the loops
   inside, as far on as the loop's step. Returns its length. */
static int64_t make_table(int32_t table[], const struct ew_loop *loop, int ndim,
                          int k)
{
    int64_t inside = 1;
    table[0] = 0;
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

/* Loops of copies come first, or those that extend the run. */
void ew_places_make(struct ew_places *places, const struct ew_loop *loop,
                    int ndim, int k, int64_t size)
{
    int d = 0;
    places->run = size;
    places->copies = 1;
    for (; d < ndim && loop[d].stride[k] == 0; d++)
        places->copies *= loop[d].n;
    if (places->copies == 1)
        for (; d < ndim && loop[d].stride[k] == places->run; d++)
            places->run *= loop[d].n;
    places->runs = make_table(places->at, &loop[d], ndim - d, k);
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
    move(places, from, to, false);
}

void ew_scatter(const struct ew_places *places, const char *from, char *to)
{
    move(places, from, to, true);
}
