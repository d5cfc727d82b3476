/*
 * Turns the layout of a tile of several loops into a table of the places where
 * an operand's elements lie, and takes tiles from there to a dense buffer or
 * back. What lies one behind the other is one run and moved as a whole:
 *
 *     loops {2, 8 bytes apart} {3, 100 apart} {2, 16 apart}, elements of 8
 *     runs of 16 bytes at 0, 100, 200, 16, 116, 216
 */
#include "gather.h"

#include <string.h>

#include "permutation.h"

#if defined(__clang__)
#define FOUR_AT_ONCE _Pragma("clang loop unroll_count(4)")
#else
#define FOUR_AT_ONCE _Pragma("GCC unroll 4")
#endif

enum {
    LONGEST = 128,     /* run that is a few loads and stores */
    WIDEST_COPIED = 16 /* bytes of a run that is copied as an element */
};

/* What is gathered costs, in picoseconds. */
enum {
    PIECE_COST = 300, /* of a run that is one load and store, */
    RUN_COST = 450,   /* of any other, */
    COPY_COST = 40    /* of an element that is a copy */
};

/* What a tile has of an operand whose runs are one element each: loops as far
   as `inner` make copies of one, if it has the size of an element in memory.
   Copied runs may be dense. */
struct runs {
    int inner;
    int64_t runs, copies;
    bool dense;
};

static bool is_power_of_2(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static struct runs find_runs(const struct ew_layout *merged)
{
    struct runs r = {0, 1, 1, true};
    const struct ew_layout_loop *loop = merged->loop;
    int64_t run = merged->size;
    if (run <= WIDEST_COPIED && is_power_of_2(run))
        for (; r.inner < merged->ndim && loop[r.inner].step == 0; r.inner++)
            r.copies *= loop[r.inner].n;
    for (int d = r.inner; d < merged->ndim; d++) {
        r.dense &= loop[d].step == r.runs * run;
        r.runs *= loop[d].n;
    }
    return r;
}

int64_t ew_places_runs(const struct ew_layout *layout)
{
    struct ew_layout merged;
    ew_layout_merge(layout, &merged);
    return find_runs(&merged).runs;
}

int64_t ew_places_cost(const struct ew_layout *layout)
{
    struct ew_layout merged;
    ew_layout_merge(layout, &merged);
    struct runs r = find_runs(&merged);
    bool element = merged.ndim == layout->ndim;
    if (r.runs == 1 && (element || r.copies == 1))
        return 0;
    bool piece = merged.size <= LONGEST && is_power_of_2(merged.size);
    int64_t elements = r.runs * r.copies * (merged.size / layout->size);
    int64_t copies = r.copies > 1 ? elements * COPY_COST : 0;
    if (r.dense && copies)
        return copies;
    return r.runs * (piece ? PIECE_COST : RUN_COST) + copies;
}

void ew_places_make(struct ew_places *places, const struct ew_layout *layout,
                    int64_t repeats, const struct ew_gathering *way)
{
    struct ew_layout merged;
    ew_layout_merge(layout, &merged);
    struct runs r = find_runs(&merged);
    places->run = merged.size;
    places->runs = r.runs;
    places->copies = r.copies;
    places->repeats = repeats;
    places->dense = r.dense;
    places->permute = NULL;
    if (way && way->kernel && r.runs > 1 &&
        ew_permutation_make(&places->permutation, places->at, layout, way)) {
        places->permute = way->kernel;
        places->copies = 1;
    } else
        ew_layout_table(places->at, &merged.loop[r.inner],
                        merged.ndim - r.inner);
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
