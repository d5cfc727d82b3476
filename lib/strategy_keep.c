/*
 * Lets tiles go along a loop before the next tile where an input stands still
 * in it: what a tile has of that input then serves all steps, from the tile's
 * buffer or from the caches.
 */
#include "cpu.h"
#include "strategy_parts.h"

enum {
    /* Rows of a tile where such an input is turned, or more for so many bytes
       of a line. */
    KEPT_ROWS = 8,
    KEPT_BYTES = 32,
    /* Bytes of out from which pieces of rows that need no buffer take longer
       than reading such an input again, where processors read late. */
    KEPT_LATE = 8 << 20
};

/* Bytes of an input's lines that an element of a tile takes. */
static int64_t brings(const struct elementwise_plan *plan, int k)
{
    return ew_magnitude(plan->loop[ew_strategy_is_turned(plan, k)].stride[k]);
}

/* Whether rows are read ahead as they are, but no pieces of them: where the
   last cache is small. */
static bool reads_rows(const struct elementwise_plan *plan, int64_t bytes)
{
    return bytes >= KEPT_LATE && !ew_pass_tiles(&plan->pass) &&
           ew_cpu_is(EW_SMALL_CACHE);
}

/* Whether what each step of loop i reads of input k is more than caches keep
   until the next one. Rows of c64 that are divided by one are not cut, as the
   kernel then finds the inverses of that once. */
static bool is_read_again(const struct elementwise_plan *plan, int k, int i)
{
    int64_t bytes = plan->pass.stored[k];
    int64_t bytes_out = ew_strategy_bytes(plan, EW_OUT);
    for (int j = 0; j < i; j++)
        if (plan->loop[j].stride[k])
            bytes *= plan->loop[j].n;
    return ew_strategy_again(bytes, bytes_out) &&
           !reads_rows(plan, bytes_out) &&
           !(k == EW_Y && ew_strategy_divides_c64(plan));
}

/* Whether input k stands still along loop i, so that what a tile has of it may
   be kept for many steps: in its buffer, or in the caches if a step reads more
   than they keep. Rows that share one are such a loop if each is several tiles;
   if not, that is kept anyway. */
static bool stays(const struct elementwise_plan *plan, int k, int i)
{
    const struct ew_loop *loop = plan->loop;
    bool pieces = loop[0].n > EW_TILE_BYTES / ew_pass_widest(&plan->pass, 2);
    bool shared = loop[1].stride[k] == 0;
    bool worth = plan->pass.pack[k] || is_read_again(plan, k, i);
    return worth && loop[i].stride[k] == 0 &&
           (i == 1 ? pieces && !plan->pass.turn : !shared);
}

/* Shapes tiles of which input k is turned once for many steps: whole rows, or
   at least long ones, are better for what lies beside it. */
static void shape_kept(struct elementwise_plan *plan, int k)
{
    if (!plan->pass.turn || ew_strategy_is_turned(plan, !k))
        return;
    int64_t rows = KEPT_BYTES / brings(plan, k);
    plan->pass.turn = (unsigned char)(rows > KEPT_ROWS ? rows : KEPT_ROWS);
}

void ew_strategy_keep(struct elementwise_plan *plan)
{
    for (int i = 1; i < plan->ndim; i++)
        for (int k = 0; k < 2; k++) {
            if (!stays(plan, k, i))
                continue;
            int to = i < 2 ? i : 2;
            shape_kept(plan, k);
            ew_plan_move_inside(plan->loop, i, to);
            plan->pass.again = (unsigned char)to;
            return;
        }
}

bool ew_strategy_keeps(const struct elementwise_plan *plan, int k)
{
    int again = plan->pass.again;
    return again && plan->loop[again].stride[k] == 0;
}
