/*
 * Makes tiles of an operand, random ones among them.
 */
#include "tiles.h"

#include "support.h"

struct tile tile_start(int64_t size)
{
    return (struct tile){.layout.size = size, .elements = 1, .high = size};
}

void tile_add(struct tile *t, int64_t n, int64_t step)
{
    t->layout.loop[t->layout.ndim++] = (struct ew_layout_loop){n, step};
    t->elements *= n;
    *(step < 0 ? &t->low : &t->high) += (n - 1) * step;
}

struct tile tile_of(int64_t size, int64_t n, int64_t step, int64_t outer_n,
                    int64_t outer_step)
{
    struct tile t = tile_start(size);
    tile_add(&t, n, step);
    tile_add(&t, outer_n, outer_step);
    return t;
}

/* A step of elements: none at all, what is inside it as a whole, or
   any, also such that windows overlap. */
static int64_t draw_step(const struct tile *t)
{
    int64_t far = support_random(0, 1) ? 12 : 80;
    switch (support_random(0, 4)) {
    case 0:
        return 0;
    case 1:
        return t->high - t->low;
    default:
        return t->layout.size * support_random(-far, far);
    }
}

struct tile tile_draw(int64_t size)
{
    for (;;) {
        struct tile t = tile_start(size);
        int ndim = (int)support_random(1, TILE_LOOPS);
        for (int d = 0; d < ndim; d++) {
            int64_t most = EW_DEEP_ELEMENTS / t.elements, step = draw_step(&t);
            int64_t n = support_random(1, support_random(0, 1) ? 16 : 4);
            if (support_random(0, 4) == 0) {
                n = support_random(16, 40);
                step = support_random(0, 1) ? size : -size;
            }
            tile_add(&t, n < most ? n : most, step);
        }
        if (t.high - t.low <= TILE_PAGE)
            return t;
    }
}

int64_t tile_place(const struct tile *t, int64_t e)
{
    int64_t at = 0;
    for (int d = 0; d < t->layout.ndim; d++) {
        const struct ew_layout_loop *loop = &t->layout.loop[d];
        at += e % loop->n * loop->step;
        e /= loop->n;
    }
    return at;
}
