/*
 * Turns the layout of a tile of several loops into what kernels need that
 * gather it by vectors, and estimates what they take. There are three ways:
 *
 * Elements that lie in one window of a line's bytes, or in a few smaller ones,
 * are a group, which a kernel puts in order as a vector. Or along one loop
 * elements are neighbours: with the loops inside it they are rectangles, which
 * a kernel turns in square blocks. So are small elements that lie in one window
 * for each of the loops inside, however far apart.
 */
#include "permutation.h"

#include <string.h>

enum {
    WIDEST_PICKED = 2, /* bytes of a run that is picked from a window, */
    LEAST_COLUMNS = 4  /* and windows side by side */
};

enum { MOST_GROUPS = EW_DEEP_ELEMENTS / 2 }; /* as there are two tables */

/* What is gathered costs, in picoseconds. */
enum {
    BYTES_COST = 400, /* of a group of bytes more than of others, */
    NEAR_BYTES = 16,  /* unless they come from so few, or, which takes as long
                         for any size, from 8 windows; */
    WINDOWS = 4,      /* groups come from 1, 2, 4 or 8; */
    WIDE = 8,         /* of a block of 8 bytes beside others, of so many */
    WIDE_COST = 600,  /* columns together, */
    WIDE_DOWN = 2000  /* and of a way down them */
};
static const int64_t group_cost[WINDOWS] = {800, 1100, 1600, 3000};
static const int64_t block_cost[EW_TURNS] = {20000, 8000, 2000, 1000};
/* The same from windows, of bytes and of halves. */
static const int64_t picked_cost[] = {27000, 11000};

static int64_t divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* The places of the pieces of a loop, which have `part` of its elements each:
   the last one ends where the loop does, and shares some with the one before.
   Returns their number. */
static int64_t cut_loop(int32_t table[], struct ew_layout_loop loop,
                        int64_t part, int64_t first)
{
    int64_t pieces = 0;
    for (int64_t i = 0; i < loop.n; i += part) {
        int64_t start = i + part < loop.n ? i : loop.n - part;
        table[pieces++] = (int32_t)(first + start * loop.step);
    }
    return pieces;
}

/* Elements that a vector takes: those of `whole` inner loops, and of the next
   one all or a part. Of each loop so many lie in one window, and so many
   windows are side by side. A window starts `low` bytes from the first of its
   elements, 0 or less. */
struct group {
    int whole;
    int64_t part, elements, windows, window, low;
    int64_t near[EW_DEEP_LOOPS], apart[EW_DEEP_LOOPS];
};

/* How much of a loop a group takes, where at most so many more elements fit:
   as many as there are in its windows, and as many more windows as are free. */
static int64_t take_loop(struct group *g, struct ew_layout_loop loop,
                         int64_t fit, int64_t windows)
{
    int64_t far = ew_magnitude(loop.step), n = loop.n;
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
    g->low += loop.step < 0 ? (near - 1) * loop.step : 0;
    return near * apart;
}

static void find_group(const struct ew_layout *layout, int64_t windows,
                       struct group *g)
{
    g->whole = 0;
    g->elements = g->windows = 1;
    g->window = layout->size;
    g->low = 0;
    for (;; g->whole++) {
        int64_t fit = EW_LINE / (g->elements * layout->size);
        g->part = take_loop(g, layout->loop[g->whole], fit, windows);
        if (g->part < layout->loop[g->whole].n || g->whole == layout->ndim - 1)
            return;
    }
}

static int64_t count_groups(const struct group *g,
                            const struct ew_layout *layout)
{
    int64_t groups = divide_up(layout->loop[g->whole].n, g->part);
    for (int d = g->whole + 1; d < layout->ndim; d++)
        groups *= layout->loop[d].n;
    return groups;
}

/* More windows make fewer groups, but no fewer than whole lines are. */
int64_t ew_permutation_permuting(const struct ew_layout *layout, int64_t least,
                                 int *windows)
{
    int64_t bytes = layout->size;
    for (int d = 0; d < layout->ndim; d++)
        bytes *= layout->loop[d].n;
    int64_t lines = divide_up(bytes, EW_LINE);
    for (int i = 0; i < WINDOWS && lines * group_cost[i] < least; i++) {
        struct group g;
        find_group(layout, 1 << i, &g);
        int64_t groups = count_groups(&g, layout);
        bool near = i == 0 && g.window <= NEAR_BYTES;
        bool beyond = layout->size == 1 && !near && i < WINDOWS - 1;
        int64_t cost = groups * (group_cost[i] + (beyond ? BYTES_COST : 0));
        if (groups > MOST_GROUPS || cost >= least)
            continue;
        least = cost;
        *windows = 1 << i;
    }
    return least;
}

/* Where the elements of a group are in the vector of its windows, and these in
   memory: of each loop first those in one window. */
static void make_group(struct ew_permutation *p, const struct group *g,
                       const struct ew_layout *layout)
{
    struct ew_layout_loop inner[2 * EW_DEEP_LOOPS], apart[EW_DEEP_LOOPS];
    int32_t element[EW_LINE];
    int64_t side = EW_LINE / p->windows, bytes = 0;
    int n = 0, windows = 0;
    for (int d = 0; d <= g->whole; d++) {
        int64_t step = layout->loop[d].step;
        inner[n++] = (struct ew_layout_loop){g->near[d], step};
        if (g->apart[d] == 1)
            continue;
        inner[n++] = (struct ew_layout_loop){g->apart[d], side};
        apart[windows++] =
            (struct ew_layout_loop){g->apart[d], g->near[d] * step};
        side *= g->apart[d];
    }
    memset(p->place, 0, sizeof p->place);
    ew_layout_table(p->place, apart, windows);
    n = (int)ew_layout_table(element, inner, n);
    memset(p->from, 0, sizeof p->from);
    for (int i = 0; i < n; i++)
        for (int byte = 0; byte < p->size; byte++)
            p->from[bytes++] = (unsigned char)(element[i] - g->low + byte);
}

static bool permute(struct ew_permutation *p, int32_t places[],
                    const struct ew_layout *layout, int windows)
{
    struct group g;
    struct ew_layout dense;
    int32_t *at = places, *to = places + MOST_GROUPS;
    find_group(layout, windows, &g);
    ew_layout_dense(layout, &dense);
    int outer = g.whole + 1, more = layout->ndim - outer;
    if (count_groups(&g, layout) > MOST_GROUPS)
        return false;
    p->size = layout->size;
    p->bytes = g.elements * layout->size;
    p->window = g.window;
    p->windows = windows;
    make_group(p, &g, layout);
    int64_t n = cut_loop(at, layout->loop[g.whole], g.part, g.low);
    cut_loop(to, dense.loop[g.whole], g.part, 0);
    p->groups = ew_layout_extend(at, n, &layout->loop[outer], more);
    ew_layout_extend(to, n, &dense.loop[outer], more);
    p->at = at;
    p->to = to;
    return true;
}

/* What may be turned: along one loop elements are neighbours; those of the
   loops inside it are columns. No rows if either is less than a block. */
struct rectangle {
    int along;
    int64_t columns, rows;
};

static struct rectangle find_rectangle(const struct ew_layout *layout)
{
    struct rectangle r = {0, 1, 0};
    for (; r.along < layout->ndim; r.along++) {
        int64_t n = layout->loop[r.along].n;
        if (ew_magnitude(layout->loop[r.along].step) == layout->size) {
            bool block = n * layout->size >= EW_TURNED_BYTES &&
                         r.columns * layout->size >= EW_TURNED_BYTES;
            r.rows = block ? n : 0;
            return r;
        }
        r.columns *= n;
    }
    return r;
}

/* Blocks side by side are turned at once; smaller elements gain less by that.
 */
static int64_t rectangle_cost(const struct rectangle *r,
                              const struct ew_layout *layout)
{
    int i = __builtin_ctzll((unsigned long long)layout->size);
    if (i >= EW_TURNS || layout->size != 1 << i)
        return INT64_MAX;
    int64_t n = EW_TURNED_BYTES / layout->size;
    bool wide = layout->size == 8 && r->columns >= WIDE;
    int64_t cost = divide_up(r->rows, n) * divide_up(r->columns, n) *
                   (wide ? WIDE_COST : block_cost[i]);
    cost += wide ? divide_up(r->columns, WIDE) * WIDE_DOWN : 0;
    for (int d = r->along + 1; d < layout->ndim; d++)
        cost *= layout->loop[d].n;
    return cost;
}

static bool turn_rectangles(struct ew_permutation *p, int32_t places[],
                            const struct ew_layout *layout)
{
    struct rectangle r = find_rectangle(layout);
    struct ew_layout dense;
    int32_t *at = places + MOST_GROUPS, *to = at + MOST_GROUPS / 2;
    int outer = r.along + 1, more = layout->ndim - outer;
    if (!r.rows)
        return false;
    ew_layout_dense(layout, &dense);
    int64_t step = layout->loop[r.along].step;
    bool back = step < 0;
    int64_t last = back ? r.rows - 1 : 0, row = dense.loop[r.along].step;
    p->columns = ew_layout_table(places, layout->loop, r.along);
    p->rows = r.rows;
    p->row = back ? -row : row;
    at[0] = (int32_t)(last * step);
    to[0] = (int32_t)(last * row);
    p->groups = ew_layout_extend(at, 1, &layout->loop[outer], more);
    ew_layout_extend(to, 1, &dense.loop[outer], more);
    p->column = places;
    p->at = at;
    p->to = to;
    return true;
}

/* What may be turned where elements are no neighbours, or those of several
   loops: what lies in a window, of the loops of the shortest steps, of the last
   one a part. The loops inside all of them are columns. */
struct windows {
    int along, last; /* the loop behind columns, that in part; ndim: none is */
    int64_t columns, rows, part;
    int64_t window, low; /* bytes, from the first element on, 0 or less */
    bool near[EW_DEEP_LOOPS];
};

/* The loop of the shortest steps that is not there yet; ndim: there is none. */
static int nearest(const struct windows *w, const struct ew_layout *layout)
{
    int best = layout->ndim;
    for (int d = 0; d < layout->ndim; d++) {
        int64_t step = ew_magnitude(layout->loop[d].step);
        if (step && !w->near[d] &&
            (best == layout->ndim ||
             step < ew_magnitude(layout->loop[best].step)))
            best = d;
    }
    return best;
}

static int64_t count_columns(const struct windows *w,
                             const struct ew_layout *layout, int along)
{
    int64_t columns = 1;
    for (int d = 0; d < along && d < w->along; d++)
        columns *= layout->loop[d].n;
    return columns;
}

static struct windows find_windows(const struct ew_layout *layout)
{
    int64_t size = layout->size;
    struct windows w = {.along = layout->ndim,
                        .last = layout->ndim,
                        .rows = 1,
                        .part = 1,
                        .window = size};
    int d = nearest(&w, layout);
    while (d < layout->ndim && count_columns(&w, layout, d) >= LEAST_COLUMNS) {
        int64_t n = layout->loop[d].n, step = layout->loop[d].step;
        int64_t fit = EW_PICKED / size / w.rows, far = ew_magnitude(step);
        int64_t part = (EW_LINE - w.window) / far + 1;
        part = part < fit ? part : fit;
        part = part < n ? part : n;
        if (part < 2)
            break;
        w.columns = count_columns(&w, layout, d);
        w.along = d < w.along ? d : w.along;
        w.rows *= part;
        w.window += (part - 1) * far;
        w.low += step < 0 ? (part - 1) * step : 0;
        w.near[d] = true;
        w.last = d;
        w.part = part;
        d = part < n ? layout->ndim : nearest(&w, layout);
    }
    return w;
}

/* INT64_MAX: too little. */
static int64_t windows_cost(const struct windows *w,
                            const struct ew_layout *layout)
{
    int64_t bytes = w->columns * layout->size;
    if (w->last == layout->ndim || w->rows * bytes < EW_PICKED)
        return INT64_MAX;
    int64_t windows = divide_up(layout->loop[w->last].n, w->part);
    for (int d = w->along; d < layout->ndim; d++)
        windows *= w->near[d] ? 1 : layout->loop[d].n;
    return windows * divide_up(bytes, EW_PICKED) *
           picked_cost[layout->size == 2];
}

/* The loops behind those of columns that windows hold, or the others. */
static int choose_loops(const struct windows *w, const struct ew_layout *layout,
                        bool near, struct ew_layout_loop loop[])
{
    int n = 0;
    for (int d = w->along; d < layout->ndim; d++)
        if (w->near[d] == near) {
            loop[n] = layout->loop[d];
            loop[n++].n = d == w->last ? w->part : layout->loop[d].n;
        }
    return n;
}

/* Where the elements of a column lie in its window, and their rows in out. */
static void make_picks(struct ew_permutation *p, const struct windows *w,
                       const struct ew_layout *layout,
                       const struct ew_layout *dense)
{
    struct ew_layout_loop near[EW_DEEP_LOOPS];
    int32_t element[EW_PICKED], row[EW_PICKED];
    int64_t bytes = 0;
    ew_layout_table(element, near, choose_loops(w, layout, true, near));
    ew_layout_table(row, near, choose_loops(w, dense, true, near));
    memset(p->from, 0, sizeof p->from);
    for (int i = 0; i < w->rows; i++) {
        p->put[i] = row[i];
        for (int byte = 0; byte < p->size; byte++)
            p->from[bytes++] = (unsigned char)(element[i] - w->low + byte);
    }
}

static bool turn_windows(struct ew_permutation *p, int32_t places[],
                         const struct ew_layout *layout)
{
    struct windows w = find_windows(layout);
    struct ew_layout dense;
    struct ew_layout_loop outer[EW_DEEP_LOOPS];
    int32_t *at = places + MOST_GROUPS, *to = at + MOST_GROUPS / 2;
    if (windows_cost(&w, layout) == INT64_MAX)
        return false;
    ew_layout_dense(layout, &dense);
    ew_layout_table(places, layout->loop, w.along);
    for (int64_t i = w.columns; i < EW_PICKED; i++)
        places[i] = 0;
    p->column = places;
    p->columns = w.columns;
    p->rows = w.rows;
    p->size = layout->size;
    p->window = w.window;
    make_picks(p, &w, layout, &dense);
    int64_t n = cut_loop(at, layout->loop[w.last], w.part, w.low);
    cut_loop(to, dense.loop[w.last], w.part, 0);
    int more = choose_loops(&w, layout, false, outer);
    p->groups = ew_layout_extend(at, n, outer, more);
    choose_loops(&w, &dense, false, outer);
    ew_layout_extend(to, n, outer, more);
    p->at = at;
    p->to = to;
    return true;
}

/* Runs are turned as elements of their size. */
int64_t ew_permutation_turning(const struct ew_layout *layout, int64_t *turned)
{
    struct ew_layout runs;
    ew_layout_merge(layout, &runs);
    struct rectangle r = find_rectangle(&runs);
    *turned = r.rows ? runs.size : runs.size + EW_FROM_WINDOWS;
    if (r.rows)
        return rectangle_cost(&r, &runs);
    if (runs.size > WIDEST_PICKED)
        return INT64_MAX;
    struct windows w = find_windows(&runs);
    return windows_cost(&w, &runs);
}

bool ew_permutation_make(struct ew_permutation *p,
                         int32_t places[EW_DEEP_ELEMENTS],
                         const struct ew_layout *layout,
                         const struct ew_gathering *way)
{
    if (!way->turned)
        return permute(p, places, layout, way->windows);
    struct ew_layout runs;
    ew_layout_merge(layout, &runs);
    bool picks = way->turned > EW_FROM_WINDOWS;
    if (way->turned != runs.size + (picks ? EW_FROM_WINDOWS : 0))
        return false;
    return picks ? turn_windows(p, places, &runs)
                 : turn_rectangles(p, places, &runs);
}
