/*
 * Where a tile of several loops lies in an operand: the places of its elements,
 * and its lines, as tables that serve all tiles of the same extents.
 */
#ifndef EW_LAYOUT_H
#define EW_LAYOUT_H

#include "plan.h"

/* The elements that a tile has of one operand, from the innermost loop
   outwards, a step of so many bytes after the other. */
struct ew_layout {
    int64_t size; /* bytes of an element */
    int ndim;
    struct ew_layout_loop {
        int64_t n, step;
    } loop[EW_DEEP_LOOPS];
};

/* The same with elements that lie one behind the other as one: each is what the
   first loops have as a whole. */
void ew_layout_merge(const struct ew_layout *layout, struct ew_layout *merged);

/* Takes away the outermost loops in which an operand stands still. Returns how
   often what is left repeats there. */
int64_t ew_layout_once(struct ew_layout *layout);

/* The same elements where they are dense. */
void ew_layout_dense(const struct ew_layout *layout, struct ew_layout *dense);

/* Makes a table of places, of which there are n, longer: each loop repeats what
   is inside it, a step further on. Places must fit in 32 bits. Returns the
   length. */
int64_t ew_layout_extend(int32_t table[], int64_t n,
                         const struct ew_layout_loop loop[], int ndim);

/* The table of the places where loops go from 0 on. */
int64_t ew_layout_table(int32_t table[], const struct ew_layout_loop loop[],
                        int ndim);

/* Lines that are a multiple of EW_CACHE_WAY bytes apart have the same few
   places in a cache: of more than EW_CACHE_WAYS one pushes the other out. */
enum { EW_CACHE_WAY = 4096, EW_CACHE_WAYS = 8 };

/* The places in a way of the cache that lines so many bytes apart have. */
static inline int64_t ew_layout_places(int64_t step)
{
    int power = __builtin_ctzll((unsigned long long)step | EW_CACHE_WAY);
    return EW_CACHE_WAY >> power;
}

/* The lines that a tile has of an operand, whatever their order: n of them,
   at[i] behind the tile's first element. Asking for more takes longer than
   waiting for them; from the caches, that is so for fewer. */
enum { EW_DEEP_LINES = 512, EW_NEAR_LINES = 128 };
struct ew_lines {
    int64_t n;
    int32_t at[EW_DEEP_LINES];
};

/* None where there are too many, or, unless they come from memory, they would
   push each other out of a cache. */
void ew_lines_make(struct ew_lines *lines, const struct ew_layout *layout,
                   bool distant);

/* Asks for lines; for those of an output, to be written. */
void ew_lines_fetch(const struct ew_lines *lines, const char *from, bool write);

#endif
