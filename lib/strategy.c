/*
 * Turns the layouts of a plan's operands into a way to run it: as it is, or
 * in tiles for which some inputs are packed first, so that what kernels see
 * is long and dense. All choices between ways to run a plan are made here.
 *
 *     transposed       y runs across memory where out runs along it: tiles
 *                      are about square, and y is turned on the way in
 *
 *     short rows       out's innermost loop is too short for vectors, but
 *                      its rows follow one another: inputs that do not are
 *                      repeated or spread in a tile, and rows are folded
 *                      into one
 *
 *     gaps             an input's elements are some bytes apart along out's
 *                      rows: they are gathered in a tile
 *
 *     several loops    two loops are no tile, or each takes little of a line:
 *                      tiles hold a part of each of several (tile.c)
 *
 *     large outputs    out does not stay in the caches: it is made in tiles
 *                      and stored past them
 */
#include "strategy.h"

#include "cpu.h"
#include "table.h"
#include "tile.h"

enum {
    WORTH_TURNING = 4,   /* extents of what is transposed */
    COMPARED_ROW = 32,   /* elements of a row that makes a vector of results */
    COMPARED_APART = 12, /* elements of a row that is taken where it lies */
    COMPARED_SPREAD = 128,  /* bytes of an input whose elements are spread */
    COMPARED_REPEATED = 58, /* bytes of a row that is kept in a register */
    /* Rows that are taken as they are, under masks: so many of so many bytes.
     */
    MASKED_ROWS = 32,
    MASKED_ROW = 32,
    /* Calls that go along the loop outside their rows: so few rows, of so many
       bytes, and so many of out; the rows of a call then. */
    ACROSS_FEW = 12,
    ACROSS_ROW = 128,
    ACROSS_ALL = 1 << 20,
    ACROSS_MOST = 255
};

/* Whether so many rows share one of input k, which is kept in a tile's buffer,
   that nothing is gained by turning more of it. */
static bool is_shared(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    return plan->ndim > 1 && rows->stride[k] == 0 &&
           rows->n >= EW_SHARED_ROWS &&
           cols->n * plan->pass.stored[k] <= EW_SHARED_BYTES;
}

/* Bytes of an operand's elements, each of them once. */
static int64_t bytes_of(const struct elementwise_plan *plan, int k)
{
    int64_t bytes = plan->pass.stored[k];
    for (int i = 0; i < plan->ndim; i++)
        if (plan->loop[i].stride[k])
            bytes *= plan->loop[i].n;
    return bytes;
}

/* The loop along which input k runs through memory, several elements to a line,
   if that is not the innermost, where it runs across it; 0: there is none. From
   the caches, elements of 4 bytes are as well picked one by one as turned where
   steps are no shuffles. */
static int across(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *loop = plan->loop;
    int64_t inner = ew_magnitude(loop[0].stride[k]), least = inner;
    int64_t size = plan->pass.stored[k];
    bool near = size == 4 && bytes_of(plan, EW_OUT) < EW_STREAM_TURNED;
    int64_t most = near ? EW_SHUFFLED * size : EW_LINE - 1;
    int along = 0;
    if (inner == size || loop[0].n < WORTH_TURNING || is_shared(plan, k))
        return 0;
    for (int i = 1; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(loop[i].stride[k]);
        if (step && step < least && step <= most &&
            loop[i].n >= WORTH_TURNING) {
            least = step;
            along = i;
        }
    }
    return along;
}

static void pack(struct elementwise_plan *plan, int k)
{
    plan->pass.pack[k] = ew_table_move(plan->level, plan->types.operand[k]);
}

/* Packs the inputs that run along the rows' loop. Only one loop can be that:
   an input that would need another one stays as it is. */
static void turn(struct elementwise_plan *plan)
{
    int rows = 0;
    for (int k = 0; k < 2 && !rows; k++)
        rows = across(plan, k);
    if (!rows)
        return;
    ew_plan_move_inside(plan, rows, 1); /* those of a tile */
    plan->pass.turn = EW_TURNED_ROWS;
    for (int k = 0; k < 2; k++)
        if (across(plan, k) == 1)
            pack(plan, k);
}

/* Whether rows of operand k are dense and follow one another. */
static bool is_folded(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    return cols->stride[k] == plan->pass.stored[k] &&
           rows->stride[k] == cols->n * cols->stride[k];
}

static bool is_scalar(const struct elementwise_plan *plan, int k)
{
    return plan->loop[0].stride[k] == 0 && plan->loop[1].stride[k] == 0;
}

/* Whether a tile where inputs are turned is better folded: as many rows as fit
   take whole lines of them. */
static bool folds_turned(const struct elementwise_plan *plan)
{
    return plan->pass.turn && plan->loop[0].n <= EW_TILE_BYTES / EW_LINE;
}

/* Whether the kernel has vectors for short rows of elements larger than out's:
   those of comparisons, on AVX-512 for any row and else from a vector of
   results on. */
static bool compares_rows(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    int64_t least = plan->level >= EW_LEVEL_AVX512 ? 1 : COMPARED_ROW;
    return plan->op >= ELEMENTWISE_EQUAL &&
           plan->op <= ELEMENTWISE_GREATER_EQUAL && type != ELEMENTWISE_C64 &&
           type != ELEMENTWISE_C128 && plan->loop[0].n >= least;
}

/* Whether the elements of each input along columns are neighbours, or one. */
static bool has_vectors(const struct elementwise_plan *plan)
{
    bool vectors = true;
    for (int k = 0; k < 2; k++) {
        int64_t step = plan->loop[0].stride[k];
        vectors &= step == 0 || step == plan->pass.stored[k];
    }
    return vectors;
}

/* Whether an input would be spread into rows of several stores each, which
   takes longer than row by row, for which the other is dense, as vectors need,
   or made so in a tile. */
static bool spreads_far(const struct elementwise_plan *plan, bool tiles)
{
    const struct ew_loop *cols = &plan->loop[0];
    bool far = false;
    for (int k = 0; k < 2; k++)
        far |= cols->stride[k] == 0 && !is_scalar(plan, k) &&
               cols->n * plan->pass.stored[k] > EW_SPREAD_BYTES;
    return far && (tiles || (has_vectors(plan) && compares_rows(plan)));
}

/* Whether the kernel compares short rows that follow one another, or one row
   again and again, with an element of input k each, which it spreads in
   registers. */
static bool compares_spread(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k];
    bool repeats = rows->stride[1 - k] == 0 && cols->stride[1 - k] == size;
    return size > 1 && cols->n * size <= EW_SPREAD_BYTES &&
           rows->n * size >= COMPARED_SPREAD && cols->stride[k] == 0 &&
           rows->stride[k] == size && (repeats || is_folded(plan, 1 - k));
}

/* Whether it compares rows of nearly a vector with one of input k, which it
   keeps in a register: that pays where elements are prepared for it. */
static bool compares_repeated(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t size = plan->pass.stored[k], row = cols->n * size;
    elementwise_dtype type = plan->types.compute[k];
    return (type == ELEMENTWISE_F16 || type == ELEMENTWISE_BF16) &&
           row >= COMPARED_REPEATED && row <= EW_LINE && rows->stride[k] == 0 &&
           cols->stride[EW_X] == size && cols->stride[EW_Y] == size;
}

/* Whether such rows are taken as they are, by a kernel that reads nothing
   twice. */
static bool compares_short(const struct elementwise_plan *plan)
{
    bool same = plan->types.compute[EW_X] == plan->types.compute[EW_Y];
    return plan->level >= EW_LEVEL_AVX512 && compares_rows(plan) && same &&
           is_folded(plan, EW_OUT) &&
           (compares_spread(plan, EW_X) || compares_spread(plan, EW_Y) ||
            compares_repeated(plan, EW_X) || compares_repeated(plan, EW_Y));
}

/* Whether the kernel has vectors for rows of up to a line, by masks of AVX-512:
   those of operations that wait for memory, with nothing around them. */
static bool masks_rows(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    return plan->level >= EW_LEVEL_AVX512 && plan->op >= ELEMENTWISE_ADD &&
           plan->op <= ELEMENTWISE_MIN && plan->op != ELEMENTWISE_DIV &&
           plan->act == ELEMENTWISE_ACT_NONE && !plan->scaled[EW_X] &&
           !plan->scaled[EW_Y] && plan->pass.stored[EW_OUT] >= 4 &&
           type != ELEMENTWISE_C64 && type != ELEMENTWISE_C128;
}

/* Whether such rows are taken as they are. That is better than to fold them if
   both inputs would go through buffers, or if rows are whole lines. */
static bool takes_rows(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t bytes = cols->n * plan->pass.stored[EW_OUT];
    int packs = 0;
    for (int k = 0; k < 2; k++)
        packs += !is_folded(plan, k) && !is_scalar(plan, k);
    bool pays = packs == 2 ? bytes >= MASKED_ROW : bytes == EW_LINE;
    return masks_rows(plan) && is_folded(plan, EW_OUT) && has_vectors(plan) &&
           packs && pays && bytes <= EW_LINE && rows->n >= MASKED_ROWS;
}

/* Whether rows of a line and more are compared where they lie, as some have
   gaps between them and would be copied to be folded. */
static bool compares_apart(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    bool apart = false;
    for (int k = 0; k < 2; k++)
        apart |= cols->stride[k] != 0 && rows->stride[k] != 0 &&
                 !is_folded(plan, k) &&
                 cols->n * plan->pass.stored[k] >= EW_LINE;
    return apart && has_vectors(plan) && cols->n >= COMPARED_APART &&
           compares_rows(plan);
}

/* Whether all rows are divided by one row, whose inverses the kernel finds once
   if it sees that: not worth it where more than a quarter of its vectors is
   empty. */
static bool keeps_inverses(const struct elementwise_plan *plan)
{
    int64_t bytes = plan->loop[0].n * plan->pass.stored[EW_OUT];
    int64_t lines = (bytes + EW_LINE - 1) / EW_LINE;
    return ew_strategy_divides_c64(plan) && plan->loop[0].stride[EW_Y] != 0 &&
           plan->loop[1].stride[EW_Y] == 0 && bytes >= EW_LINE &&
           3 * lines * EW_LINE <= 4 * bytes;
}

/* Whether a ninth and more of the vectors that integers are divided in is
   empty, as rows end in the middle of one, and are not divided by a number
   each. */
static bool wastes_vectors(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0];
    int64_t bytes = cols->n * plan->pass.stored[EW_OUT];
    int64_t vector = plan->level >= EW_LEVEL_AVX512 ? EW_LINE : EW_LINE / 2;
    int64_t vectors = (bytes + vector - 1) / vector;
    return plan->types.fault == EW_FAULT_ZERO && cols->stride[EW_Y] != 0 &&
           plan->pass.stored[EW_OUT] <= 4 && 9 * bytes < 8 * vectors * vector;
}

/* Bytes of out's rows from which on they are not folded; `tiles` says that
   there are tiles anyway. */
static int64_t long_row(const struct elementwise_plan *plan, bool tiles)
{
    if (tiles || wastes_vectors(plan))
        return EW_SHORT_TILED;
    return ew_strategy_long_row(plan->loop, plan->pass.stored[EW_OUT]);
}

/* Folds short rows into one, for which inputs that do not allow it are
   packed; tiles says that types are converted anyway. */
static void fold(struct elementwise_plan *plan, bool tiles)
{
    bool turned = folds_turned(plan);
    bool by_row = keeps_inverses(plan) || (!tiles && compares_apart(plan)) ||
                  spreads_far(plan, tiles || turned);
    if (by_row || !is_folded(plan, EW_OUT) ||
        !ew_strategy_folds(plan->loop, plan->ndim, plan->pass.stored[EW_OUT],
                           long_row(plan, tiles || turned)))
        return;
    plan->pass.fold = true;
    for (int k = 0; k < 2; k++)
        if (!is_folded(plan, k) && !is_scalar(plan, k))
            pack(plan, k);
}

/* Elements in a block from which those that are `step` bytes apart are better
   gathered. */
static int64_t worth_gathering(int64_t step, int64_t size)
{
    bool shuffled = step == -size || (step > 0 && step <= EW_SHUFFLED * size);
    return shuffled ? EW_WORTH_SHUFFLING : EW_WORTH_GATHERING;
}

/* Whether the elements of input k are neither neighbours nor one, and are
   better packed: kernels have vectors for dense rows alone. Copies are made by
   the kernel that packs. */
static bool has_gaps(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *loop = plan->loop;
    int64_t elements = loop[0].n * (plan->ndim > 1 ? loop[1].n : 1);
    int64_t size = plan->pass.stored[k], step = loop[0].stride[k];
    ew_kernel *move = ew_table_move(plan->level, plan->types.operand[k]);
    bool worth = plan->pass.turn || elements >= worth_gathering(step, size);
    return step != 0 && step != size && worth &&
           loop[0].stride[EW_OUT] == plan->pass.stored[EW_OUT] &&
           plan->pass.op != move && !plan->pass.pack[k] &&
           !ew_strategy_divides_c64(plan);
}

/* Whether the pieces of rows that tiles of turned inputs make are whole lines,
   as long as out starts on one, and worth it though they are short. */
static bool makes_lines(const struct elementwise_plan *plan, int64_t run)
{
    bool whole = plan->pass.turn && run >= 2 * EW_LINE && run % EW_LINE == 0;
    for (int i = 1; i < plan->ndim; i++)
        whole &= plan->loop[i].stride[EW_OUT] % EW_LINE == 0;
    return whole && bytes_of(plan, EW_OUT) >= EW_STREAM_LINES;
}

/* Whether a kernel that stores past the caches itself takes longer: in rows
   whose ends are no lines, or that are short or of tiles of turned inputs if it
   divides c64. */
static bool ends_rows(const struct elementwise_plan *plan)
{
    int64_t row = plan->loop[0].n * plan->pass.stored[EW_OUT];
    bool is_short = row < EW_STREAM_RUN && !plan->pass.fold && !plan->pass.deep;
    if (ew_strategy_divides_c64(plan))
        return is_short || plan->pass.turn;
    return is_short && row % EW_LINE != 0;
}

/* What is scattered is stored in parts of lines. */
void ew_strategy_stream(struct elementwise_plan *plan)
{
    int64_t run = plan->pass.stored[EW_OUT];
    int inner = plan->pass.deep > 2 ? plan->pass.deep : 2;
    if (ew_tile_places(plan, EW_OUT))
        return;
    for (int i = 0; i < plan->ndim && i < inner; i++)
        if (plan->loop[i].stride[EW_OUT] == run)
            run *= plan->loop[i].n;
    plan->pass.lines = run < EW_STREAM_RUN && makes_lines(plan, run);
    if (plan->empty || (run < EW_STREAM_RUN && !plan->pass.lines))
        return;
    plan->pass.stream = ew_table_stream(plan->level);
    plan->calls = false;
    if (ends_rows(plan))
        plan->pass.past = NULL;
}

/* Whether the lines of the next tile in input k are asked for. Processors ask
   for those of what is turned themselves, unless it lies on many pages; what
   lies beside it comes in pieces too short for that. */
static bool asks(const struct elementwise_plan *plan, int k, bool down,
                 int64_t bytes)
{
    const struct ew_pass *pass = &plan->pass;
    int64_t column = pass->turn * ew_pass_widest(pass, 2);
    if (!pass->pack[k])
        return bytes >= EW_STREAM_TURNED;
    bool both = pass->pack[EW_X] && pass->pack[EW_Y];
    return bytes >= EW_AHEAD_TURNED / (both ? 2 : 1) &&
           !(down && column > EW_AHEAD_LINES * EW_LINE);
}

static bool is_turned(const struct elementwise_plan *plan, int k)
{
    return plan->pass.turn && plan->pass.pack[k] && across(plan, k) == 1;
}

/* Whether a tile has another element of input k in each of its own. */
static bool fills(const struct elementwise_plan *plan, int k)
{
    return plan->loop[0].stride[k] != 0 && plan->loop[1].stride[k] != 0;
}

/* Bytes of an input's lines that an element of a tile takes. */
static int64_t brings(const struct elementwise_plan *plan, int k)
{
    return ew_magnitude(plan->loop[is_turned(plan, k)].stride[k]);
}

/* Whether an input is packed beside one that is turned. */
static bool packs_beside(const struct elementwise_plan *plan)
{
    bool beside = false;
    for (int k = 0; k < 2; k++)
        beside |= plan->pass.pack[k] && !is_turned(plan, k) && fills(plan, k);
    return beside;
}

/* What tiles are like where inputs are turned. A column of one is several lines
   of each of these: more rows where both are. Fewer where the other input is
   packed, of which a tile then takes longer pieces, if a column is a line of
   what is turned still. */
static void shape_turned(struct elementwise_plan *plan, int64_t bytes)
{
    struct ew_pass *pass = &plan->pass;
    bool down = ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]);
    if (is_turned(plan, EW_X) && is_turned(plan, EW_Y))
        pass->turn *= 2;
    else if (ew_pass_widest(pass, 2) >= 4 && packs_beside(plan))
        pass->turn /= 2;
    for (int k = 0; k < 2 && !pass->fold; k++)
        pass->ahead[k] = asks(plan, k, down, bytes);
}

/* Whether tiles of several loops share lines of operand k, as what they have of
   it starts and ends anywhere in a line. */
static bool shares_lines(const struct elementwise_plan *plan, int k)
{
    bool shares = false;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t extent = i < plan->pass.deep ? plan->pass.extent[i] : 1;
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        shares |= extent < plan->loop[i].n && extent * step % EW_LINE != 0;
        shares |= extent > 1 && step > EW_LINE && step % EW_LINE != 0;
    }
    return shares;
}

/* Bytes from the first to the last of an operand. */
static int64_t span_of(const struct elementwise_plan *plan, int k)
{
    int64_t bytes = plan->pass.stored[k];
    for (int i = 0; i < plan->ndim; i++)
        bytes += (plan->loop[i].n - 1) * ew_magnitude(plan->loop[i].stride[k]);
    return bytes;
}

/* What such tiles ask for. From memory, all lines that the table has room for.
   Else processors bring whole lines ahead themselves, or nearly, and what is in
   the L2 cache is near. */
static void ask_deep(struct elementwise_plan *plan)
{
    int64_t left = EW_AHEAD_ALL; /* sums of spans may overflow */
    for (int k = 0; k <= EW_OUT && left > 0; k++)
        left -= span_of(plan, k);
    plan->pass.distant = left <= 0;
    for (int k = 0; k <= EW_OUT; k++)
        plan->pass.ahead[k] =
            plan->pass.distant ||
            (bytes_of(plan, k) >= EW_AHEAD_FROM && shares_lines(plan, k));
}

/* Small elements in rows that start anywhere in a line are stored past the
   caches more slowly, as so much is ends of rows. */
static bool streams_turned(const struct elementwise_plan *plan, int64_t bytes)
{
    return bytes >= EW_STREAM_TURNED &&
           (plan->pass.stored[EW_OUT] >= 4 ||
            ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]));
}

/* Whether what each step of loop i reads of input k is more than caches keep
   until the next one. Rows that are divided by one are not cut, as the kernel
   then finds the inverses of that once. */
static bool is_read_again(const struct elementwise_plan *plan, int k, int i)
{
    int64_t bytes = plan->pass.stored[k];
    for (int j = 0; j < i; j++)
        if (plan->loop[j].stride[k])
            bytes *= plan->loop[j].n;
    return ew_strategy_again(bytes, bytes_of(plan, EW_OUT)) &&
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
    if (!plan->pass.turn || is_turned(plan, !k))
        return;
    int64_t rows = EW_KEPT_BYTES / brings(plan, k);
    plan->pass.turn =
        (unsigned char)(rows > EW_KEPT_ROWS ? rows : EW_KEPT_ROWS);
}

/* Lets each tile go along a loop before the next tile. */
static void go_again(struct elementwise_plan *plan)
{
    for (int i = 1; i < plan->ndim; i++)
        for (int k = 0; k < 2; k++) {
            if (!stays(plan, k, i))
                continue;
            int to = i < 2 ? i : 2;
            shape_kept(plan, k);
            ew_plan_move_inside(plan, i, to);
            plan->pass.again = (unsigned char)to;
            return;
        }
}

/* The loop along which the only turned input reads on in memory nearest to a
   column of a tile, if that is not the next block; 0: there is none. */
static int reads_on(const struct elementwise_plan *plan)
{
    const struct ew_loop *loop = plan->loop;
    int k = is_turned(plan, EW_X) ? EW_X : EW_Y, nearest = 0;
    if (!is_turned(plan, k) || is_turned(plan, !k))
        return 0;
    int64_t least = loop[1].n * ew_magnitude(loop[1].stride[k]) + 1;
    for (int i = 2; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(loop[i].stride[k]);
        if (step && step < least) {
            least = step;
            nearest = i;
        }
    }
    return nearest;
}

/* Lets tiles follow each other along that loop: all of a block, or each before
   the next one where the lines of a block are more than caches keep until they
   are read on. */
static void read_on(struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t elements = EW_TILE_BYTES / ew_pass_widest(&plan->pass, 2);
    int i = reads_on(plan);
    if (!i)
        return;
    ew_plan_move_inside(plan, i, 2);
    if (rows->n <= plan->pass.turn && cols->n > elements / rows->n)
        plan->pass.again = 2;
}

int ew_strategy_across(const struct ew_loop *loop, int ndim, int64_t size,
                       int64_t size_out)
{
    if (ndim < 3)
        return 0;
    const struct ew_loop *rows = &loop[1], *next = &loop[2];
    if (rows->n > ACROSS_FEW || next->n < 2 * rows->n ||
        loop[0].n > ACROSS_ROW / size)
        return 0;
    int64_t all = loop[0].n * size_out;
    for (int i = 1; i < ndim; i++)
        all *= loop[i].n;
    return all > ACROSS_ALL ? 0 : ACROSS_MOST;
}

void ew_strategy_choose(struct elementwise_plan *plan)
{
    if (plan->empty || plan->ndim == 0)
        return;
    bool tiles = ew_pass_tiles(&plan->pass), as_is = false;
    if (plan->ndim > 1) {
        turn(plan);
        if (!plan->pass.turn) {
            tiles |= has_gaps(plan, EW_X) || has_gaps(plan, EW_Y);
            plan->pass.masked = !tiles && takes_rows(plan);
            as_is = plan->pass.masked || (!tiles && compares_short(plan));
        }
        if (!as_is)
            fold(plan, tiles);
    }
    for (int k = 0; k < 2; k++)
        if (has_gaps(plan, k))
            pack(plan, k);
    int64_t bytes = bytes_of(plan, EW_OUT);
    if (plan->pass.turn)
        shape_turned(plan, bytes);
    if (!as_is && plan->stage.bytes <= EW_STAGE_DEEP &&
        bytes >= EW_WORTH_DEEP * plan->pass.stored[EW_OUT])
        ew_tile_deepen(plan, bytes / plan->pass.stored[EW_OUT]);
    if (plan->pass.deep)
        ask_deep(plan);
    else
        go_again(plan);
    if (plan->pass.turn && !plan->pass.again && bytes >= EW_AHEAD_FROM)
        read_on(plan);
    if (plan->pass.turn ? streams_turned(plan, bytes)
                        : ew_strategy_streams(bytes))
        ew_strategy_stream(plan);
    if (!ew_pass_tiles(&plan->pass))
        plan->pass.across = (unsigned char)ew_strategy_across(
            plan->loop, plan->ndim, ew_pass_widest(&plan->pass, EW_OUT),
            plan->pass.stored[EW_OUT]);
}

const char *ew_strategy_input(const struct elementwise_plan *plan, int k)
{
    const struct ew_gathering *gather = &plan->pass.gather[k];
    if (ew_tile_places(plan, k))
        return !gather->kernel  ? "gathered"
               : gather->turned ? "transposed"
                                : "permuted";
    if (plan->stage.ndim && plan->stage.operand == k)
        return "staged";
    if (!plan->pass.pack[k])
        return "as is";
    if (plan->loop[0].stride[k] == 0)
        return "spread";
    if (is_turned(plan, k))
        return "transposed";
    if (plan->loop[0].stride[k] != plan->pass.stored[k])
        return "gathered";
    return plan->loop[1].stride[k] == 0 ? "repeated" : "packed";
}

bool ew_strategy_keeps(const struct elementwise_plan *plan, int k)
{
    int again = plan->pass.again;
    return again && plan->loop[again].stride[k] == 0;
}
