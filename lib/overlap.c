/*
 * Turns "do these strided operands share a byte?" into a bounded Diophantine
 * problem, is there v with 0 <= v[k] <= most[k] and
 *
 *     low <= c[0] v[0] + c[1] v[1] + ... <= high
 *
 * for positive c, and searches it depth first, largest coefficient first.
 * What is left to reach and the gcd of the remaining coefficients prune the
 * search, so ordinary layouts take one path from top to bottom.
 */
#include "overlap.h"

#include <string.h>

#include "message.h"

enum {
    TERMS = 2 * ELEMENTWISE_MAX_NDIM,
    WORK = 10000 /* nodes; some 100 us. Beyond that the answer is "yes". */
};

/* No real object reaches this far, and sums of TERMS of it fit in int64. */
#define FAR (INT64_MAX / (2 * TERMS))

struct term {
    int64_t c, most;
    int64_t reach, gcd; /* of this and all later terms */
};

struct problem {
    int64_t low, high;
    int n;
    bool far;
    struct term term[TERMS + 1];
};

/* A problem without terms. Of these only as many are ever filled as there are,
   which in most calls are few of the many there is room for. */
static void open_problem(struct problem *p, int64_t low, int64_t high)
{
    p->low = low;
    p->high = high;
    p->n = 0;
    p->far = false;
}

/* Adds c * v for 0 <= v <= most. A negative c counts v from its other end;
   terms of equal c become one, and the largest come first. */
static void add_term(struct problem *p, int64_t c, int64_t most)
{
    int64_t size = c < 0 ? -c : c;
    int i = p->n;
    p->far |= size > FAR / (most + 1);
    if (p->far || !c || !most)
        return;
    if (c < 0) {
        p->low += size * most;
        p->high += size * most;
    }
    while (i > 0 && p->term[i - 1].c < size)
        i--;
    if (i > 0 && p->term[i - 1].c == size) {
        p->term[i - 1].most += most;
        return;
    }
    memmove(&p->term[i + 1], &p->term[i],
            (size_t)(p->n++ - i) * sizeof *p->term);
    p->term[i] = (struct term){.c = size, .most = most};
}

/* Euclid; gcd(a, 0) is a. */
static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* From the last term to the first, what it and all after it can reach. */
static void prepare(struct problem *p)
{
    p->term[p->n] = (struct term){0};
    for (int k = p->n - 1; k >= 0; k--) {
        struct term *t = &p->term[k];
        t->reach = t->c * t->most + t[1].reach;
        t->gcd = gcd(t->c, t[1].gcd);
    }
}

/* C truncates towards 0; this rounds up for b > 0. */
static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

/* Whether low ... high holds a multiple of the gcd of all terms from t on
   that they can reach. Without terms that is 0 itself. */
static bool possible(const struct term *t, int64_t low, int64_t high)
{
    if (high < 0 || low > t->reach)
        return false;
    return !t->gcd || divide_up(low, t->gcd) <= high / t->gcd;
}

/* Depth first over v[0], v[1] ...; used[k] is what terms before k add up
   to. At each level only the values that the later terms can still complete
   are tried, largest first. */
static bool solvable(struct problem *p)
{
    int64_t v[TERMS + 1], used[TERMS + 1];
    int k = 0, work = 0;
    if (p->far)
        return true;
    prepare(p);
    v[0] = INT64_MAX; /* level 0 has not been entered yet */
    used[0] = 0;
    while (k >= 0) {
        struct term *t = &p->term[k];
        int64_t low = p->low - used[k], high = p->high - used[k];
        if (v[k] == INT64_MAX) {
            if (++work > WORK)
                return true;
            bool open = possible(t, low, high);
            if (open && k == p->n)
                return true;
            v[k] = open ? high / t->c : -1;
            v[k] = v[k] > t->most ? t->most : v[k];
        } else
            v[k]--;
        if (v[k] < 0 || v[k] * t->c + t[1].reach < low) {
            k--;
            continue;
        }
        used[k + 1] = used[k] + v[k] * t->c;
        v[++k] = INT64_MAX;
    }
    return false;
}

struct ew_range ew_overlap_range(const struct ew_loop *loop, int ndim, int k,
                                 int64_t size)
{
    struct ew_range range = {0, size - 1};
    for (int i = 0; i < ndim; i++) {
        int64_t reach = (loop[i].n - 1) * loop[i].stride[k];
        *(reach < 0 ? &range.first : &range.last) += reach;
    }
    return range;
}

bool ew_overlap_shared(const struct ew_loop *loop, int ndim, int a,
                       const char *pa, int64_t size_a, int b, const char *pb,
                       int64_t size_b)
{
    /* Addresses may have 32 bits, their distance a sign more. */
    int64_t distance = (int64_t)((uint64_t)(uintptr_t)pb - (uintptr_t)pa);
    struct problem p;
    open_problem(&p, distance - size_a + 1, distance + size_b - 1);
    for (int k = 0; k < ndim; k++) {
        add_term(&p, loop[k].stride[a], loop[k].n - 1);
        add_term(&p, -loop[k].stride[b], loop[k].n - 1);
    }
    return solvable(&p);
}

/* Whether some difference of two indices is 0 bytes, where loop `first` is
   the first to differ: by 1 ... n - 1 there, by -(n - 1) ... n - 1 in the
   loops inside it. */
static bool meets(const struct ew_loop *loop, int a, int first)
{
    struct problem p;
    open_problem(&p, -loop[first].stride[a], -loop[first].stride[a]);
    add_term(&p, loop[first].stride[a], loop[first].n - 2);
    for (int k = 0; k < first; k++) {
        add_term(&p, loop[k].stride[a], loop[k].n - 1);
        add_term(&p, -loop[k].stride[a], loop[k].n - 1);
    }
    return solvable(&p);
}

/* Loops come sorted by the output's stride, so in nearly every layout each
   steps over all that those inside it reach. */
static bool nested(const struct ew_loop *loop, int ndim, int a)
{
    int64_t reach = 0;
    for (int k = 0; k < ndim; k++) {
        if (loop[k].stride[a] <= reach)
            return false;
        reach += loop[k].stride[a] * (loop[k].n - 1);
    }
    return true;
}

bool ew_overlap_self(const struct ew_loop *loop, int ndim, int a)
{
    if (nested(loop, ndim, a))
        return false;
    for (int first = 0; first < ndim; first++)
        if (meets(loop, a, first))
            return true;
    return false;
}

/* The dimensions of more than one index as loops, by the magnitudes of their
   strides in elements. Returns how many. */
static int sort_dimensions(const elementwise_tensor *t, int *dims,
                           struct ew_loop *loop)
{
    int n = 0;
    for (int dim = 0; dim < t->ndim; dim++) {
        int64_t stride = ew_magnitude(t->strides[dim]);
        int at = n;
        if (t->shape[dim] < 2)
            continue;
        for (; at > 0 && loop[at - 1].stride[EW_OUT] > stride; at--) {
            loop[at] = loop[at - 1];
            dims[at] = dims[at - 1];
        }
        loop[at].n = t->shape[dim];
        loop[at].stride[EW_OUT] = stride;
        dims[at] = dim;
        n++;
    }
    return n;
}

/* The first dimension, from the smallest stride on, with which two indices
   meet; stepping over all that the smaller strides reach, it would not. */
elementwise_status ew_overlap_fail(const char *what, const char *name,
                                   const elementwise_tensor *t)
{
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    int dims[ELEMENTWISE_MAX_NDIM];
    int n = sort_dimensions(t, dims, loop), k = 0;
    int64_t reach = 1;
    while (k < n - 1 && !ew_overlap_self(loop, k + 1, EW_OUT)) {
        reach += loop[k].stride[EW_OUT] * (loop[k].n - 1);
        k++;
    }
    return ew_fail(ELEMENTWISE_OVERLAP,
                   "%s: two indices of %s share an address: dimension %d, "
                   "extent %lld, has stride %lld; %lld or more would do, or "
                   "%lld or less",
                   what, name, dims[k], (long long)loop[k].n,
                   (long long)t->strides[dims[k]], (long long)reach,
                   (long long)-reach);
}
