/*
 * Turns inputs that run across memory where out runs along it: the loop along
 * which they run through memory becomes that of rows, tiles are about square or
 * as wide as they can be, and blocks of the input are turned on the way in.
 * Gives such tiles a shape, and an order in which processors read ahead.
 */
#include "cpu.h"
#include "strategy_parts.h"
#include "table.h"

enum {
    WORTH_TURNING = 4, /* extents of what is transposed */
    TURNED_ROWS = 32,  /* of a tile, */
    LARGEST = 16,      /* bytes of an element */
    COMPARED_ROWS = 8, /* of large elements that become bytes, */
    COMPARED_FAR = 4,  /* and if all that they need is asked for */
    /* Rows that share one of an input, and bytes of it, many in a tile. */
    SHARED_ROWS = 16,
    SHARED_BYTES = 1 << 10,
    /* Bytes of out from which it is stored past the caches, and the lines of
       the next tile are asked for in what lies beside what is turned: an
       ordinary store takes longer than elsewhere, as tiles store a little to
       each of many pages. */
    STREAM_TURNED = 4 << 20,
    /* The same for lines of what is turned; and of a column: of more, they ask
       early enough. */
    AHEAD_TURNED = 17 << 20,
    AHEAD_LINES = 4,
    SMALL = 2,        /* bytes of a small element, */
    SMALL_ROWS = 256, /* rows from which tiles have twice as many of them, */
    /* and bytes of out from which those that share lines of out ask. */
    AHEAD_SHARED = 6 << 20,
    READ_ON_FROM = 1 << 20, /* bytes of out that do not stay in the L2 cache */
    WIDE_ROW = 512,         /* bytes of a row that is worth wide tiles */
    /* Bytes of all operands below which none is turned beside an out with gaps,
       of small elements and of others. */
    GAPS_SMALL = 8 << 20,
    GAPS_WORDS = 1 << 19,
    /* Where processors read little ahead of tiles: bytes of all operands from
       which all lines of the next tile are asked for, where tiles share lines
       of out or not, if columns are so far apart. */
    DISTANT_LATE = 18 << 20,
    SHARED_LATE = 32 << 20,
    DISTANT_WAITS = 18 << 20, /* either, where vectors wait; */
    DISTANT_FEW = 12 << 20,   /* where few lines are on their way at once; */
    DISTANT_LARGE = 48 << 20, /* and, of both, where the last cache is large */
    SHARED_LARGE = 64 << 20,
    APART_LATE = 256,
    COLUMNS_LATE = 64 /* that tiles of large elements gain by */
};

/* Whether so many rows share one of input k, which is kept in a tile's buffer,
   that nothing is gained by turning more of it. */
static bool is_shared(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    return plan->ndim > 1 && rows->stride[k] == 0 && rows->n >= SHARED_ROWS &&
           cols->n * plan->pass.stored[k] <= SHARED_BYTES;
}

/* From the caches, elements of 4 bytes are as well picked one by one as turned
   where steps are no shuffles. */
int ew_strategy_along(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *loop = plan->loop;
    int64_t inner = ew_magnitude(loop[0].stride[k]), least = inner;
    int64_t size = plan->pass.stored[k];
    bool near = size == 4 && ew_strategy_bytes(plan, EW_OUT) < STREAM_TURNED;
    int64_t most = near ? EW_SHUFFLED * size : EW_LINE - 1;
    int found = 0;
    if (inner == size || loop[0].n < WORTH_TURNING || is_shared(plan, k))
        return 0;
    for (int i = 1; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(loop[i].stride[k]);
        if (step && step < least && step <= most &&
            loop[i].n >= WORTH_TURNING) {
            least = step;
            found = i;
        }
    }
    return found;
}

/* Whether that is of no use below AVX-512, as tiles of turned inputs store
   single elements where out has gaps: of words while all lines are near, whose
   loads take no time then, and of more smaller elements, of which rows are made
   dense and moved. */
static bool turns_in_vain(const struct elementwise_plan *plan)
{
    const int64_t size = plan->pass.stored[EW_X];
    const int64_t most = size <= SMALL ? GAPS_SMALL : GAPS_WORDS;
    return plan->level < EW_LEVEL_AVX512 &&
           ew_strategy_is_apart(plan, EW_OUT) && !ew_pass_tiles(&plan->pass) &&
           !ew_strategy_moves(plan) && !ew_strategy_spans_reach(plan, most);
}

void ew_strategy_turn(struct elementwise_plan *plan)
{
    int rows = 0;
    for (int k = 0; k < 2 && !rows && plan->ndim > 1; k++)
        rows = ew_strategy_along(plan, k);
    if (!rows || turns_in_vain(plan))
        return;
    ew_plan_move_inside(plan->loop, rows, 1); /* those of a tile */
    plan->pass.turn = TURNED_ROWS;
    for (int k = 0; k < 2; k++)
        if (ew_strategy_along(plan, k) == 1)
            ew_strategy_pack(plan, k);
}

bool ew_strategy_is_turned(const struct elementwise_plan *plan, int k)
{
    return plan->pass.turn && plan->pass.pack[k] &&
           ew_strategy_along(plan, k) == 1;
}

/* Whether elements are small and the operation waits for memory alone, where
   the last cache is a large one. */
static bool are_small(const struct elementwise_plan *plan)
{
    unsigned widest = ew_pass_widest(&plan->pass, EW_OUT + 1);
    return widest <= SMALL && ew_cpu_is(EW_LATE_READS) &&
           !ew_cpu_is(EW_SMALL_CACHE) &&
           (widest == 1 || plan->level >= EW_LEVEL_AVX512) &&
           (ew_strategy_is_quick(plan->op) ||
            ew_strategy_is_comparison(plan->op));
}

/* Whether tiles ask for what is turned, and not for what lies beside it, as
   they share lines of out: asking for all gains less than half as much. */
static bool asks_for_turned_alone(const struct elementwise_plan *plan,
                                  bool down)
{
    return !down && are_small(plan);
}

/* Bytes of out from which lines of what is turned are asked for. */
static int64_t ahead_from(const struct elementwise_plan *plan, bool down)
{
    if (plan->pass.pack[EW_X] && plan->pass.pack[EW_Y])
        return AHEAD_TURNED / 2;
    return asks_for_turned_alone(plan, down) ? AHEAD_SHARED : AHEAD_TURNED;
}

/* Whether the lines of the next tile in input k are asked for. Processors ask
   for those of what is turned themselves, unless it lies on many pages; what
   lies beside it comes in pieces too short for that. */
static bool asks(const struct elementwise_plan *plan, int k, bool down,
                 int64_t bytes)
{
    const struct ew_pass *pass = &plan->pass;
    int64_t column = pass->turn * ew_pass_widest(pass, 2);
    if (pass->distant)
        return true;
    if (!pass->pack[k])
        return bytes >= STREAM_TURNED && !asks_for_turned_alone(plan, down);
    return bytes >= ahead_from(plan, down) &&
           !(down && column > AHEAD_LINES * EW_LINE);
}

/* Whether a tile has another element of input k in each of its own. */
static bool fills(const struct elementwise_plan *plan, int k)
{
    return plan->loop[0].stride[k] != 0 && plan->loop[1].stride[k] != 0;
}

static bool are_both_turned(const struct elementwise_plan *plan)
{
    return ew_strategy_is_turned(plan, EW_X) &&
           ew_strategy_is_turned(plan, EW_Y);
}

/* The input that is turned, if it is one alone. */
static int turned_input(const struct elementwise_plan *plan)
{
    return ew_strategy_is_turned(plan, EW_X) ? EW_X : EW_Y;
}

/* Whether one input alone is turned, of small elements that are neighbours, and
   what lies beside it is dense, in so many rows that tiles with twice as many
   have others below: a column is a whole line then. */
static bool has_wide_columns(const struct elementwise_plan *plan)
{
    const struct ew_loop *loop = plan->loop;
    int k = turned_input(plan);
    bool stays = false; /* where tiles are cut again (strategy_keep.c) */
    for (int i = 2; i < plan->ndim; i++)
        stays |= loop[i].stride[k] == 0;
    return are_small(plan) && !plan->pass.pack[1 - k] && !stays &&
           ew_magnitude(loop[1].stride[k]) == plan->pass.stored[k] &&
           loop[1].n >= SMALL_ROWS;
}

/* Whether input k is turned and a tile's columns of it are pairs of lines that
   lie apart, or one where vectors wait or elements are small. True of one that
   is not turned. */
static bool may_be_distant(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    const bool wide = has_wide_columns(plan);
    int64_t turn = plan->pass.turn * (wide ? 2 : 1);
    int64_t lines = wide || ew_strategy_may_wait(plan) ? 1 : 2;
    if (turn > rows->n)
        turn = rows->n;
    return !ew_strategy_is_turned(plan, k) ||
           (turn * ew_magnitude(rows->stride[k]) >= lines * EW_LINE &&
            ew_magnitude(cols->stride[k]) >= APART_LATE);
}

/* Whether columns are so many that tiles of one line of what is turned have
   whole rows of them. */
static bool has_long_rows(const struct elementwise_plan *plan)
{
    return plan->loop[0].n >= EW_TILE_BYTES / EW_LINE;
}

/* Whether columns of both inputs have lines of their own, for rows of out
   without gaps: two turned inputs of 8 bytes lose by wide tiles else. */
static bool are_lines_apart(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0];
    return cols->stride[EW_OUT] == plan->pass.stored[EW_OUT] &&
           ew_magnitude(cols->stride[EW_X]) >= APART_LATE &&
           ew_magnitude(cols->stride[EW_Y]) >= APART_LATE;
}

/* Whether asking for all that tiles read pays: for large elements in long rows,
   if none are gathered; for two turned inputs only where tiles share no lines
   of out, or few as they are wide. */
static bool gains_by_asking(const struct elementwise_plan *plan, bool down)
{
    bool packed = plan->pass.pack[EW_X] && plan->pass.pack[EW_Y];
    bool both = are_both_turned(plan);
    bool wide = ew_pass_widest(&plan->pass, 2) >= EW_TURNED_WIDE;
    if (wide && (plan->loop[0].n < COLUMNS_LATE || (packed && !both)))
        return false;
    return !both || down ||
           (wide && has_long_rows(plan) && are_lines_apart(plan));
}

/* Bytes of all operands from which all that tiles read is asked for. */
static int64_t distant_from(const struct elementwise_plan *plan, bool down)
{
    if (ew_strategy_reads_few(plan))
        return DISTANT_FEW;
    if (ew_strategy_may_wait(plan))
        return DISTANT_WAITS;
    if (ew_cpu_is(EW_SMALL_CACHE))
        return down ? DISTANT_LATE : SHARED_LATE;
    return down ? DISTANT_LARGE : SHARED_LARGE;
}

/* Whether what tiles read comes from so far that all of it is asked for, as
   processors do not. */
static bool is_distant(const struct elementwise_plan *plan, int64_t bytes)
{
    if (bytes < READ_ON_FROM / LARGEST) /* those of inputs may be so large */
        return false;
    bool down = ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]);
    int64_t left = distant_from(plan, down);
    if (!ew_cpu_is(EW_LATE_READS) || plan->pass.fold ||
        asks_for_turned_alone(plan, down) || !gains_by_asking(plan, down))
        return false;
    for (int k = 0; k <= EW_OUT && left > 0; k++) /* sums may overflow */
        left -= ew_strategy_bytes(plan, k);
    return left <= 0 && may_be_distant(plan, EW_X) &&
           may_be_distant(plan, EW_Y);
}

/* Whether tiles get twice as many rows: where all is asked for, and of bytes
   wherever out does not stay near. */
static bool doubles_rows(const struct elementwise_plan *plan, bool down,
                         int64_t bytes)
{
    bool far = down && bytes >= STREAM_TURNED &&
               ew_pass_widest(&plan->pass, EW_OUT + 1) == 1;
    return (plan->pass.distant || far) && has_wide_columns(plan);
}

/* Whether elements of 16 bytes become bytes: kernels have vectors only for many
   columns. */
static bool compares_wide(const struct elementwise_plan *plan)
{
    const struct ew_pass *pass = &plan->pass;
    return pass->stored[EW_OUT] == 1 && plan->level >= EW_LEVEL_AVX2 &&
           (pass->size[EW_X] == LARGEST || pass->size[EW_Y] == LARGEST);
}

void ew_strategy_shape_turned(struct elementwise_plan *plan, int64_t bytes)
{
    struct ew_pass *pass = &plan->pass;
    bool down = ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]);
    int beside = ew_strategy_is_turned(plan, EW_X) ? EW_Y : EW_X;
    if (are_both_turned(plan))
        pass->turn *= 2;
    else if (pass->pack[beside] && fills(plan, beside) &&
             ew_pass_widest(pass, 2) >= 4)
        pass->turn /= 2;
    pass->distant = is_distant(plan, bytes);
    if (doubles_rows(plan, down, bytes))
        pass->turn *= 2;
    if (ew_pass_has_small_tiles(pass))
        pass->turn /= 2;
    if (compares_wide(plan))
        pass->turn = pass->distant ? COMPARED_FAR : COMPARED_ROWS;
    for (int k = 0; k < 2 && !pass->fold; k++)
        pass->ahead[k] = asks(plan, k, down, bytes);
}

/* Whether all that tiles read and store has elements of so many bytes. */
static bool has_size(const struct elementwise_plan *plan, unsigned size)
{
    bool same = plan->pass.stored[EW_OUT] == size;
    for (int k = 0; k < 2; k++)
        same &= plan->pass.stored[k] == size;
    return same;
}

/* Measured for 4 and 8 bytes: from the caches wherever tiles lie, if all has
   elements of one size; from beyond the L2 cache also if not, but not of tiles
   that lie one below the other. */
void ew_strategy_widen(struct elementwise_plan *plan, int64_t bytes)
{
    unsigned widest = ew_pass_widest(&plan->pass, 2);
    bool worth =
        widest == 4 ||
        (widest == 8 && (!are_both_turned(plan) || are_lines_apart(plan)));
    bool down = ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]);
    bool near = bytes < STREAM_TURNED && has_size(plan, widest);
    bool far = bytes >= READ_ON_FROM && !down;
    if (worth && (near || far) && ew_cpu_is(EW_LATE_READS) &&
        plan->loop[0].n >= WIDE_ROW / widest)
        plan->pass.turn = (unsigned char)(EW_LINE / widest);
}

/* The loop along which the only turned input reads on in memory nearest to a
   column of a tile, if that is not the next block; 0: there is none. */
static int reads_on(const struct elementwise_plan *plan)
{
    const struct ew_loop *loop = plan->loop;
    if (plan->ndim < 3 ||
        ew_strategy_is_turned(plan, EW_X) == ew_strategy_is_turned(plan, EW_Y))
        return 0;
    int k = turned_input(plan), nearest = ew_strategy_nearest(plan, k, 2);
    int64_t step = ew_magnitude(loop[nearest].stride[k]);
    bool on = step && step <= loop[1].n * ew_magnitude(loop[1].stride[k]);
    return on ? nearest : 0;
}

/* Whether what the loop outside a block, of two steps or three, reads of a
   turned input lies between what the block does, so that it has the same lines:
   where the last cache is small those of a large block would have to be brought
   again. Of small blocks either takes as long.

       x    r g b r g b r g b ...    columns of r, of g and of b */
static bool lies_between(const struct elementwise_plan *plan)
{
    const int k = turned_input(plan);
    return ew_magnitude(plan->loop[2].stride[k]) <
               ew_magnitude(plan->loop[1].stride[k]) &&
           ew_cpu_is(EW_SMALL_CACHE);
}

void ew_strategy_read_on(struct elementwise_plan *plan, int64_t bytes)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t elements = EW_TILE_BYTES / ew_pass_widest(&plan->pass, 2);
    int i = bytes < READ_ON_FROM ? 0 : reads_on(plan);
    if (!i)
        return;
    ew_plan_move_inside(plan->loop, i, 2);
    if ((rows->n <= plan->pass.turn && cols->n > elements / rows->n) ||
        lies_between(plan))
        plan->pass.again = 2;
}

bool ew_strategy_streams_turned(const struct elementwise_plan *plan,
                                int64_t bytes)
{
    return bytes >= STREAM_TURNED &&
           (plan->pass.stored[EW_OUT] >= 4 ||
            ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]));
}
