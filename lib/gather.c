/*
 * Turns the loops of a tile into a table of the places where an operand's
 * elements lie, and takes tiles from there to a dense buffer or back. What
 * lies one behind the other is one run and moved as a whole:
 *
 *     loops {2, 8 bytes apart} {3, 100 apart} {2, 16 apart}, elements of 8
 *     runs of 16 bytes at 0, 100, 200, 16, 116, 216
 *
 * Or elements that lie in one window of a line's bytes, or in a few smaller
 * ones, are a group, which a kernel puts in order as a vector. Or along one
 * loop elements are neighbours: with the loops inside it they are rectangles,
 * which a kernel turns in square blocks.
 */
#include "gather.h"

#include <string.h>

#if defined(__clang__)
#define FOUR_AT_ONCE _Pragma("clang loop unroll_count(4)")
#else
#define FOUR_AT_ONCE _Pragma("GCC unroll 4")
#endif

enum { LONGEST = 128 }; /* run that is a few loads and stores */

enum { WIDEST_COPIED = 16 }; /* bytes of a run that is copied as an element */

enum { MOST_GROUPS = EW_DEEP_ELEMENTS / 2 }; /* as there are two tables */

/* What is gathered costs, in picoseconds. */
enum {
    PIECE_COST = 300, /* of a run that is one load and store, */
    RUN_COST = 450,   /* of any other, */
    COPY_COST = 40,   /* of an element that is a copy, */
    BYTES_COST = 400, /* of a group of bytes more than of others, */
    NEAR_BYTES = 16,  /* unless they come from so few, */
    WINDOWS = 4,      /* with 1, 2, 4 or 8 windows; */
    WIDE = 8,         /* of a block of 8 bytes beside others, of so many */
    WIDE_COST = 600   /* columns together */
};
static const int64_t block_cost[EW_TURNS] = {20000, 8000, 2600, 1000};
static const int64_t group_cost[WINDOWS] = {800, 1100, 1600, 2600};

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

/* Elements that a vector takes: those of whole inner loops, and of the next
   one, if any, a part. Of each loop so many lie in one window, and so many
   windows are side by side. A window starts `low` bytes from the first of its
   elements, 0 or less. */
struct group {
    int whole;
    int64_t part, elements, windows, window, low;
    int64_t near[EW_DEEP_LOOPS + 1], apart[EW_DEEP_LOOPS + 1];
};

/* How much of a loop a group takes, where at most so many more elements fit:
   as many as there are in its windows, and as many more windows as are free. */
static int64_t take_loop(struct group *g, const struct ew_loop *loop, int k,
                         int64_t fit, int64_t windows)
{
    int64_t step = loop->stride[k], far = ew_magnitude(step), n = loop->n;
    int64_t near = far ? (EW_LINE / windows - g->window) / far + 1 : fit;
    near = near < fit ? near : fit;
    near = near < n ? near : n;
    int64_t more = g->windows < windows ? windows / g->windows : 1;
    int64_t apart = (fit < n ? fit : n) / near;
    apart = apart < more ? apart : more;
    g->near[g->whole] = near;
    g->apart[g->whole] = apart;
    g->elements *= near * apart;
    g->windows *= apart;
    g->window += (near - 1) * far;
    g->low += step < 0 ? (near - 1) * step : 0;
    return near * apart;
}

static struct group find_group(const struct ew_loop *loop, int ndim, int k,
                               int64_t size, int64_t windows)
{
    struct group g = {.elements = 1, .windows = 1, .window = size};
    for (; g.whole < ndim; g.whole++) {
        int64_t fit = EW_LINE / (g.elements * size);
        g.part = take_loop(&g, &loop[g.whole], k, fit, windows);
        if (g.part < loop[g.whole].n)
            return g;
    }
    g.part = 1;
    return g;
}

static int64_t count_groups(const struct group *g, const struct ew_loop *loop,
                            int ndim)
{
    int64_t groups = 1;
    for (int d = g->whole; d < ndim; d++)
        groups *=
            d == g->whole ? (loop[d].n + g->part - 1) / g->part : loop[d].n;
    return groups;
}

/* More windows make fewer groups, but no fewer than whole lines are. */
int64_t ew_places_permuting(const struct ew_loop *loop, int ndim, int k,
                            int64_t size, int64_t least, int *windows)
{
    int64_t bytes = size, lines;
    for (int d = 0; d < ndim; d++)
        bytes *= loop[d].n;
    lines = (bytes + EW_LINE - 1) / EW_LINE;
    for (int i = 0; i < WINDOWS && lines * group_cost[i] < least; i++) {
        struct group g = find_group(loop, ndim, k, size, 1 << i);
        int64_t groups = count_groups(&g, loop, ndim);
        bool beyond = size == 1 && (i > 0 || g.window > NEAR_BYTES);
        int64_t cost = groups * (group_cost[i] + (beyond ? BYTES_COST : 0));
        if (groups > MOST_GROUPS || cost >= least)
            continue;
        least = cost;
        *windows = 1 << i;
    }
    return least;
}

/* Repeats the groups along the loops from `first` on, for which the next one is
   `dense` bytes on. Returns their number. */
static int64_t repeat_groups(int32_t at[], int32_t to[], int64_t groups,
                             const struct ew_loop *loop, int first, int ndim,
                             int k, int64_t dense)
{
    struct ew_loop outer[EW_DEEP_LOOPS + 1];
    if (first >= ndim)
        return groups;
    for (int d = first; d < ndim; d++) {
        outer[d].n = loop[d].n;
        outer[d].stride[EW_OUT] = dense;
        dense *= loop[d].n;
    }
    extend_table(to, groups, &outer[first], ndim - first, EW_OUT);
    return extend_table(at, groups, &loop[first], ndim - first, k);
}

/* The places of groups, of which the last of a loop ends where that does, and
   shares elements with the one before. */
static void make_groups(struct ew_permutation *p, const struct group *g,
                        int32_t at[], int32_t to[], const struct ew_loop *loop,
                        int ndim, int k)
{
    int64_t n = g->whole < ndim ? loop[g->whole].n : 1, pieces = 0;
    int64_t dense = p->bytes / g->part;
    for (int64_t i = 0; i < n; i += g->part) {
        int64_t start = i + g->part < n ? i : n - g->part;
        at[pieces] = (int32_t)g->low;
        if (g->whole < ndim)
            at[pieces] += (int32_t)(start * loop[g->whole].stride[k]);
        to[pieces++] = (int32_t)(start * dense);
    }
    p->groups =
        repeat_groups(at, to, pieces, loop, g->whole + 1, ndim, k, dense * n);
}

/* Where the elements of a group are in the vector of its windows, and these in
   memory: of each loop first those in one window. */
static void make_windows(struct ew_permutation *p, const struct group *g,
                         const struct ew_loop *loop, int ndim, int k)
{
    struct ew_loop inner[2 * EW_DEEP_LOOPS + 2], apart[EW_DEEP_LOOPS + 1];
    int32_t element[EW_LINE];
    int64_t side = EW_LINE / p->windows, bytes = 0;
    int n = 0, windows = 0;
    for (int d = 0; d < ndim && d <= g->whole; d++) {
        inner[n].n = g->near[d];
        inner[n++].stride[EW_X] = loop[d].stride[k];
        if (g->apart[d] == 1)
            continue;
        inner[n].n = apart[windows].n = g->apart[d];
        inner[n++].stride[EW_X] = side;
        apart[windows++].stride[EW_X] = g->near[d] * loop[d].stride[k];
        side *= g->apart[d];
    }
    make_table(p->place, apart, windows, EW_X);
    n = (int)make_table(element, inner, n, EW_X);
    memset(p->from, 0, sizeof p->from);
    for (int i = 0; i < n; i++)
        for (int byte = 0; byte < p->size; byte++)
            p->from[bytes++] = (unsigned char)(element[i] - g->low + byte);
}

/* False if there are too many groups for their tables. */
static bool permute(struct ew_places *places, const struct ew_loop *loop,
                    int ndim, int k, int64_t size, int windows)
{
    struct ew_permutation *p = &places->permutation;
    struct group g = find_group(loop, ndim, k, size, windows);
    if (count_groups(&g, loop, ndim) > MOST_GROUPS)
        return false;
    p->size = size;
    p->bytes = g.elements * size;
    p->window = g.window;
    p->windows = windows;
    p->at = places->at;
    p->to = places->at + MOST_GROUPS;
    memset(p->place, 0, sizeof p->place);
    make_windows(p, &g, loop, ndim, k);
    make_groups(p, &g, places->at, places->at + MOST_GROUPS, loop, ndim, k);
    return true;
}

/* What a tile has of an operand, run by run: the first loops make one, those
   behind it as far as `inner` copies of that, if it has the size of an element.
   Copied runs may be dense. */
struct runs {
    int first, inner;
    int64_t run, runs, copies;
    bool dense;
};

static struct runs find_runs(const struct ew_loop *loop, int ndim, int k,
                             int64_t size)
{
    struct runs r = {0, 0, size, 1, 1, true};
    for (; r.first < ndim && loop[r.first].stride[k] == r.run; r.first++)
        r.run *= loop[r.first].n;
    r.inner = r.first;
    if (r.run <= WIDEST_COPIED && (r.run & (r.run - 1)) == 0)
        for (; r.inner < ndim && loop[r.inner].stride[k] == 0; r.inner++)
            r.copies *= loop[r.inner].n;
    for (int d = r.inner; d < ndim; d++) {
        r.dense &= loop[d].stride[k] == r.runs * r.run;
        r.runs *= loop[d].n;
    }
    return r;
}

int64_t ew_places_runs(const struct ew_loop *loop, int ndim, int k,
                       int64_t size)
{
    return find_runs(loop, ndim, k, size).runs;
}

int64_t ew_places_cost(const struct ew_loop *loop, int ndim, int k,
                       int64_t size)
{
    struct runs r = find_runs(loop, ndim, k, size);
    bool piece = r.run <= LONGEST && (r.run & (r.run - 1)) == 0;
    int64_t elements = r.runs * r.copies * (r.run / size);
    int64_t copies = r.copies > 1 ? elements * COPY_COST : 0;
    if (r.runs == 1 && (r.first == 0 || r.copies == 1))
        return 0;
    if (r.dense && copies)
        return copies;
    return r.runs * (piece ? PIECE_COST : RUN_COST) + copies;
}

/* What may be turned: along one loop elements, or runs, are neighbours; those
   of the loops inside it are columns. Nothing if either is less than a block.
 */
struct rectangle {
    int inner, along;
    int64_t size, columns, rows;
};

static struct rectangle find_rectangle(const struct ew_loop *loop, int ndim,
                                       int k, int64_t size)
{
    struct runs runs = find_runs(loop, ndim, k, size);
    struct rectangle r = {runs.first, runs.first, runs.run, 1, 0};
    for (; r.along < ndim; r.along++) {
        int64_t step = ew_magnitude(loop[r.along].stride[k]);
        int64_t n = loop[r.along].n;
        if (step == r.size && n * r.size >= EW_TURNED_BYTES &&
            r.columns * r.size >= EW_TURNED_BYTES)
            r.rows = n;
        if (step == r.size)
            return r;
        r.columns *= n;
    }
    return r;
}

/* Those side by side are turned at once; smaller elements gain less by that. */
static int64_t turned_cost(int i, int64_t columns)
{
    return 1 << i == 8 && columns >= WIDE ? WIDE_COST : block_cost[i];
}

int64_t ew_places_turning(const struct ew_loop *loop, int ndim, int k,
                          int64_t size, int64_t *turned)
{
    struct rectangle r = find_rectangle(loop, ndim, k, size);
    int64_t n = EW_TURNED_BYTES / r.size, cost = 0;
    for (int i = 0; i < EW_TURNS && r.rows; i++)
        if (r.size == 1 << i)
            cost = turned_cost(i, r.columns) * ((r.rows + n - 1) / n) *
                   ((r.columns + n - 1) / n);
    for (int d = r.along + 1; d < ndim; d++)
        cost *= loop[d].n;
    *turned = r.size;
    return cost ? cost : INT64_MAX;
}

/* False if what is inside a rest is less than a block, or not of that size. */
static bool turn(struct ew_places *places, const struct ew_loop *loop, int ndim,
                 int k, int64_t size, int64_t turned)
{
    struct rectangle r = find_rectangle(loop, ndim, k, size);
    struct ew_permutation *p = &places->permutation;
    int32_t *at = places->at + MOST_GROUPS, *to = at + MOST_GROUPS / 2;
    if (!r.rows || r.size != turned)
        return false;
    make_table(places->at, &loop[r.inner], r.along - r.inner, k);
    p->column = places->at;
    p->columns = r.columns;
    p->rows = r.rows;
    p->row = r.columns * r.size;
    at[0] = to[0] = 0;
    if (loop[r.along].stride[k] < 0) {
        at[0] = (int32_t)((r.rows - 1) * loop[r.along].stride[k]);
        to[0] = (int32_t)((r.rows - 1) * p->row);
        p->row = -p->row;
    }
    p->at = at;
    p->to = to;
    p->groups = repeat_groups(at, to, 1, loop, r.along + 1, ndim, k,
                              r.rows * r.columns * r.size);
    return true;
}

void ew_places_make(struct ew_places *places, const struct ew_loop *loop,
                    int ndim, int k, int64_t size, const struct ew_gathering *g)
{
    struct runs r = find_runs(loop, ndim, k, size);
    places->run = r.run;
    places->runs = r.runs;
    places->copies = r.copies;
    places->dense = r.dense;
    places->permute = NULL;
    bool vectors = g && g->kernel && r.runs > 1;
    if (vectors &&
        (g->turned ? turn(places, loop, ndim, k, size, g->turned)
                   : permute(places, loop, ndim, k, size, g->windows))) {
        places->permute = g->kernel;
        places->copies = 1;
    } else
        make_table(places->at, &loop[r.inner], ndim - r.inner, k);
}

/* Whether a cache has room for the lines, beside those of the tile before: not
   where many are a power of two apart, and so have the same place. */
static bool have_places(const struct ew_lines *lines)
{
    enum { PLACES = EW_CACHE_WAY / EW_LINE };
    unsigned char used[PLACES] = {0};
    for (int64_t i = 0; i < lines->n; i++)
        if (++used[(uint32_t)lines->at[i] / EW_LINE % PLACES] > EW_CACHE_WAYS)
            return false;
    return true;
}

/* Loops whose steps are shorter than what is inside them are one block, which
   ends in the line of its last byte: others are not of this tile. */
void ew_lines_make(struct ew_lines *lines, const struct ew_loop *loop, int ndim,
                   int k, int64_t size, bool distant)
{
    struct ew_loop far[EW_DEEP_LOOPS];
    int64_t block = size, low = 0, blocks = 1;
    int n = 0;
    for (int d = 0; d < ndim; d++) {
        int64_t step = loop[d].stride[k];
        int64_t reach = (loop[d].n - 1) * step, most = EW_LINE;
        if (block > most)
            most = block;
        if (step > most || step < -most) {
            far[n] = loop[d];
            blocks *= far[n++].n;
            continue;
        }
        block += reach < 0 ? -reach : reach;
        low += reach < 0 ? reach : 0;
    }
    int64_t inside = (block + EW_LINE - 2) / EW_LINE;
    lines->n = 0;
    if (blocks * (inside + 1) > (distant ? EW_DEEP_LINES : EW_NEAR_LINES))
        return;
    for (int64_t i = 0; i < inside; i++)
        lines->at[i] = (int32_t)(low + i * EW_LINE);
    lines->at[inside] = (int32_t)(low + block - 1);
    lines->n = extend_table(lines->at, inside + 1, far, n, k);
    if (!distant && !have_places(lines))
        lines->n = 0;
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
