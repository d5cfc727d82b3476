/*
 * Tiles of an operand for the tests of what gathers them.
 */
#ifndef TILES_H
#define TILES_H

#include "layout.h"

enum { TILE_PAGE = 64 << 10, TILE_LOOPS = 6 };

/* All elements lie from `low` to `high` bytes behind the first. */
struct tile {
    struct ew_layout layout;
    int64_t elements, low, high;
};

/* One element, of so many bytes, to which loops are added. */
struct tile tile_start(int64_t size);
void tile_add(struct tile *t, int64_t n, int64_t step);

/* With two loops. */
struct tile tile_of(int64_t size, int64_t n, int64_t step, int64_t outer_n,
                    int64_t outer_step);

/* Random short loops, at times neighbours enough to be turned; all in a
   page. */
struct tile tile_draw(int64_t size);

/* Where element e of the tile's order lies. */
int64_t tile_place(const struct tile *t, int64_t e);

#endif
