/*
 * Turns the layouts of a plan's operands into a way to run it: as it is, or
 * in tiles for which some inputs are packed first, so that what kernels see
 * is long and dense. All choices between ways to run a plan are made here, in
 * ew_strategy_choose.
 *
 *     transposed       y runs across memory where out runs along it: tiles
 *                      are about square, and y is turned on the way in
 *
 *     short rows       out's innermost loop is too short for vectors, but
 *                      its rows follow one another: inputs that do not are
 *                      repeated or spread in a tile, and rows are folded
 *                      into one; or one row that all share is repeated, and
 *                      calls are of several rows (strategy_rows.c)
 *
 *     gaps             an input's elements are some bytes apart along out's
 *                      rows: they are gathered in a tile, unless operations
 *                      take no longer one by one (strategy_gaps.c)
 *
 *     gaps in out      its rows are made dense in a tile, and moved to their
 *                      places from there; or rows are those of inputs, if these
 *                      are dense along another loop
 *
 *     several loops    two loops are no tile, or each takes little of a line:
 *                      tiles hold a part of each of several (tile.c)
 *
 *     another order    large inputs lie in memory in another order than out:
 *                      rows are made in theirs (strategy_order.c)
 *
 *     again and again  an input stands still along a loop: tiles go along that
 *                      first (strategy_keep.c)
 *
 *     large outputs    out does not stay in the caches: it is made in tiles
 *                      and stored past them
 */
#include "strategy.h"

#include "cpu.h"
#include "layout.h"
#include "strategy_parts.h"
#include "table.h"
#include "tile.h"

enum {
    STREAM_RUN = 512, /* bytes of out; shorter ones are ends more than lines, */
    /* unless they are lines: then it pays from so many bytes of out on. */
    STREAM_LINES = 8 << 20,
    /* Bytes of an operand of which fewer stay in the L2 cache, so that tiles of
       several loops ask for the lines of the next one, or of all together, with
       gaps: then for any lines. */
    AHEAD_FROM = 1 << 20,
    AHEAD_OUT = 8 << 20, /* of out, where stores wait for no lines */
    AHEAD_ALL = 20 << 20,
    ASKED_ELEMENT = 4, /* bytes of elements with gaps that gain by it */
    /* Rows of out with gaps that are made dense first. */
    SCATTERED_ROW = 32,        /* elements at least, */
    SCATTERED_WIDE_ROW = 128,  /* if they have 8 bytes, */
    SCATTERED_SPAN = 16 << 20, /* bytes of all operands with gaps, at most, */
    SCATTERED_SPAN_BYTES = 32 << 20, /* if up to 4 become one, */
    SCATTERED_NEAR = 4,  /* of a step of out, and of one element of each, and */
    SCATTERED_SMALL = 2, /* of the largest one, for which any span does, */
    SCATTERED_BASE = 4,  /* of one element of each that has gaps, by */
    SCATTERED_AVX2 = 6,  /* level, */
    SCATTERED_MOST = 12, /* if it has masks, or operations take long, */
    SCATTERED_WIDEST = 4, /* and of an element where there are no masks, */
    SCATTERED_TURNED = 4, /* or inputs are turned */
    ALONG_LEAST = 4,      /* elements of a row along inputs, */
    ALONG_HALVES = 16,    /* and of halves */
    /* Bytes of out, and of all operands with their gaps. */
    STREAM_CROWDED = 4 << 20,
    CROWD_FROM = 32 << 20
};

int64_t ew_strategy_bytes(const struct elementwise_plan *plan, int k)
{
    int64_t bytes = plan->pass.stored[k];
    for (int i = 0; i < plan->ndim; i++)
        if (plan->loop[i].stride[k])
            bytes *= plan->loop[i].n;
    return bytes;
}

void ew_strategy_pack(struct elementwise_plan *plan, int k)
{
    plan->pass.pack[k] = ew_table_move(plan->level, plan->types.operand[k]);
}

bool ew_strategy_moves(const struct elementwise_plan *plan)
{
    return plan->pass.op ==
           ew_table_move(plan->level, plan->types.operand[EW_OUT]);
}

int64_t ew_strategy_span(const struct elementwise_plan *plan, int k)
{
    int64_t bytes = plan->pass.stored[k];
    for (int i = 0; i < plan->ndim; i++)
        bytes += (plan->loop[i].n - 1) * ew_magnitude(plan->loop[i].stride[k]);
    return bytes;
}

int ew_strategy_nearest(const struct elementwise_plan *plan, int k, int first)
{
    int64_t least = INT64_MAX;
    int nearest = first;
    for (int i = first; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        if (step != 0 && step < least) {
            least = step;
            nearest = i;
        }
    }
    return nearest;
}

bool ew_strategy_spans_reach(const struct elementwise_plan *plan, int64_t bytes)
{
    for (int k = 0; k <= EW_OUT && bytes > 0; k++) /* sums may overflow */
        bytes -= ew_strategy_span(plan, k);
    return bytes <= 0;
}

bool ew_strategy_may_wait(const struct elementwise_plan *plan)
{
    return plan->level < EW_LEVEL_AVX512 && ew_cpu_is(EW_SMALL_CACHE);
}

bool ew_strategy_reads_few(const struct elementwise_plan *plan)
{
    return plan->level < EW_LEVEL_AVX512 && ew_cpu_is(EW_FEW_READS);
}

/* Bytes of the elements of all operands with gaps. */
static int64_t gap_bytes(const struct elementwise_plan *plan)
{
    int64_t bytes = 0;
    for (int k = 0; k <= EW_OUT; k++)
        if (ew_strategy_is_apart(plan, k))
            bytes += plan->pass.stored[k];
    return bytes;
}

bool ew_strategy_scatters(const struct elementwise_plan *plan)
{
    return plan->pass.store &&
           plan->pass.store ==
               ew_table_move(plan->level, plan->types.operand[EW_OUT]);
}

/* Whether single elements wait for memory, to which moves would only add. */
static bool waits_for_memory(const struct elementwise_plan *plan)
{
    const struct ew_pass *pass = &plan->pass;
    unsigned widest = ew_pass_widest(pass, EW_OUT + 1);
    bool bytes = pass->stored[EW_OUT] == 1 && widest <= SCATTERED_WIDEST;
    return (plan->loop[0].stride[EW_OUT] > SCATTERED_NEAR ||
            gap_bytes(plan) > SCATTERED_NEAR || widest > SCATTERED_SMALL) &&
           ew_strategy_spans_reach(plan, bytes ? SCATTERED_SPAN_BYTES
                                               : SCATTERED_SPAN);
}

/* Bytes of those up to which moves take less than single elements. */
static int64_t most_gap_bytes(const struct elementwise_plan *plan)
{
    if (plan->level < EW_LEVEL_AVX2)
        return SCATTERED_BASE;
    return plan->level >= EW_LEVEL_AVX512 || ew_strategy_takes_long(plan)
               ? SCATTERED_MOST
               : SCATTERED_AVX2;
}

/* Whether moves to rows of out with gaps take less than single elements do:
   not from far away, nor of short rows, copies or large elements, but where
   AVX-512 stores several under a mask. */
static bool is_worth_scattering(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0];
    const struct ew_pass *pass = &plan->pass;
    const bool masks = plan->level >= EW_LEVEL_AVX512;
    int64_t size = pass->stored[EW_OUT];
    bool still = cols->stride[EW_X] == 0 && cols->stride[EW_Y] == 0;
    if (still || ew_strategy_block(plan) < EW_WORTH_SHUFFLING ||
        ew_strategy_bytes(plan, EW_OUT) / size < EW_WORTH_GATHERING ||
        waits_for_memory(plan))
        return false;
    if (size == 8 &&
        (cols->stride[EW_OUT] > 2 * size || cols->n < SCATTERED_WIDE_ROW))
        return false;
    if (cols->n < SCATTERED_ROW ||
        (!masks && ew_pass_widest(pass, EW_OUT + 1) > SCATTERED_WIDEST))
        return false;
    return gap_bytes(plan) <= most_gap_bytes(plan);
}

static bool may_scatter(const struct elementwise_plan *plan)
{
    return !plan->pass.store &&
           plan->loop[0].stride[EW_OUT] != plan->pass.stored[EW_OUT] &&
           !ew_strategy_moves(plan) && !ew_strategy_divides_c64(plan) &&
           is_worth_scattering(plan);
}

/* Whether that is better beside turned inputs, too: where several elements are
   stored at once. */
static bool scatters_turned(const struct elementwise_plan *plan)
{
    int64_t size = plan->pass.stored[EW_OUT];
    return plan->level >= EW_LEVEL_AVX512 && size <= SCATTERED_TURNED &&
           plan->loop[0].stride[EW_OUT] <= (EW_LINE - size) / 3;
}

/* Lets rows of out with gaps be made dense in a tile, and put in their places
   from there: kernels take single elements else. Whether it is done. */
static bool scatter(struct elementwise_plan *plan)
{
    struct ew_pass *pass = &plan->pass;
    if (!may_scatter(plan) || (pass->turn && !scatters_turned(plan)))
        return false;
    pass->store = ew_table_move(plan->level, plan->types.operand[EW_OUT]);
    return true;
}

/* Whether all inputs are dense along a loop, or one number. */
static bool are_dense(const struct elementwise_plan *plan, int i)
{
    bool dense = false, all = true;
    for (int k = 0; k < 2; k++) {
        int64_t step = plan->loop[i].stride[k];
        dense |= step == plan->pass.stored[k];
        all &= step == 0 || step == plan->pass.stored[k];
    }
    return dense && all;
}

bool ew_strategy_keeps_lines(const struct elementwise_plan *plan, int i, int k,
                             int caches)
{
    const struct ew_loop *along = &plan->loop[i];
    int64_t places = ew_layout_places(along->stride[k]);
    int64_t sets = EW_CACHE_WAY / EW_LINE;
    return along->stride[k] == 0 ||
           along->n <= caches * EW_CACHE_WAYS * (places < sets ? places : sets);
}

/* Whether kernels store a row along loop i, which has gaps, as quickly as other
   rows, though elements are few. Tiles of several loops are quicker for bytes,
   and rows of a buffer for halves that are not made one by one. */
static bool stores_quickly(const struct elementwise_plan *plan, int i)
{
    bool half = ew_types_is_half(plan->types.compute[EW_X]);
    bool bytes = ew_pass_widest(&plan->pass, EW_OUT + 1) == 1;
    bool vectors = half && plan->level < EW_LEVEL_AVX512;
    return !(bytes && plan->ndim > 2) &&
           !(half && plan->op == ELEMENTWISE_POW) &&
           plan->loop[i].n >= (vectors ? ALONG_HALVES : ALONG_LEAST);
}

/* Goes along the inputs' rows where out has gaps in all of its own: elements
   are stored one by one anyway, but then none are turned before. Whether it
   does. */
static bool go_along_inputs(struct elementwise_plan *plan)
{
    int i = 1;
    if (plan->loop[0].stride[EW_OUT] <= plan->pass.stored[EW_OUT])
        return false;
    while (i < plan->ndim && !are_dense(plan, i))
        i++;
    if (i >= plan->ndim || !stores_quickly(plan, i) ||
        ew_strategy_moves(plan) ||
        !ew_strategy_keeps_lines(plan, i, EW_OUT, 1) ||
        (may_scatter(plan) && scatters_turned(plan)))
        return false;
    ew_plan_move_inside(plan->loop, i, 0);
    return true;
}

/* Looks for tiles of several loops, if there are elements enough, and room on
   the stack beside what is staged. */
static void deepen(struct elementwise_plan *plan, int64_t elements)
{
    if (plan->stage.bytes <= EW_STAGE_DEEP && elements >= EW_WORTH_DEEP)
        ew_tile_deepen(plan, elements);
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

/* What such tiles ask for. From memory, all lines that the table has room for.
   Else processors bring whole lines ahead themselves, or nearly, and what is in
   the L2 cache is near; where stores wait for no lines, so is more of out. */
static void ask_deep(struct elementwise_plan *plan)
{
    const int64_t out = ew_cpu_is(EW_QUICK_STORES) ? AHEAD_OUT : AHEAD_FROM;
    plan->pass.distant = ew_strategy_spans_reach(plan, AHEAD_ALL);
    for (int k = 0; k <= EW_OUT; k++)
        plan->pass.ahead[k] =
            plan->pass.distant ||
            (ew_strategy_bytes(plan, k) >= (k == EW_OUT ? out : AHEAD_FROM) &&
             shares_lines(plan, k));
}

/* Whether the pieces of rows that tiles of turned inputs make are whole lines,
   as long as out starts on one, and worth it though they are short. */
static bool makes_lines(const struct elementwise_plan *plan, int64_t run)
{
    bool whole = plan->pass.turn && run >= 2 * EW_LINE && run % EW_LINE == 0;
    for (int i = 1; i < plan->ndim; i++)
        whole &= plan->loop[i].stride[EW_OUT] % EW_LINE == 0;
    return whole && ew_strategy_bytes(plan, EW_OUT) >= STREAM_LINES;
}

/* Whether all rows of a loop have the same y. */
static bool shares_y(const struct elementwise_plan *plan)
{
    return plan->loop[0].stride[EW_Y] == plan->pass.stored[EW_Y] &&
           plan->loop[1].stride[EW_Y] == 0;
}

/* Whether a kernel that stores past the caches itself takes longer: in rows
   whose ends are no lines, or that are short if it divides integers by others
   in each, or that are short or of tiles of turned inputs if it divides c64. */
static bool ends_rows(const struct elementwise_plan *plan)
{
    int64_t row = plan->loop[0].n * plan->pass.stored[EW_OUT];
    bool apart = !plan->pass.fold && !plan->pass.deep;
    bool divides =
        plan->types.fault == EW_FAULT_ZERO && plan->ndim > 1 && !shares_y(plan);
    if (ew_strategy_divides_c64(plan))
        return (apart && row < STREAM_RUN) || plan->pass.turn;
    return apart && row < EW_STREAM_ENDS && (divides || row % EW_LINE != 0);
}

/* Whether integers are divided by what such a kernel has no loop for, or of 64
   bits by a number in each row, which is quicker: it takes arrays, or one
   number by an array. */
static bool divides_else(const struct elementwise_plan *plan)
{
    const struct ew_pass *pass = &plan->pass;
    const struct ew_loop *cols = &plan->loop[0];
    bool taken = true;
    for (int k = 0; k < EW_OUT; k++)
        taken &= pass->pack[k] || cols->stride[k] == pass->stored[k] ||
                 (cols->stride[k] == 0 && (k == EW_X || pass->size[k] == 4));
    return plan->types.fault == EW_FAULT_ZERO && !taken;
}

/* Whether the kernel that stores past the caches does if anything does. */
static bool keeps_past(const struct elementwise_plan *plan)
{
    return plan->pass.past && !ends_rows(plan) && !divides_else(plan);
}

/* Whether all there is to read and store takes more than the caches hold. */
static bool is_crowd(const struct elementwise_plan *plan, int64_t bytes)
{
    return bytes >= STREAM_CROWDED && ew_cpu_is(EW_SMALL_CACHE) &&
           ew_strategy_spans_reach(plan, CROWD_FROM);
}

bool ew_strategy_is_large(const struct elementwise_plan *plan)
{
    int64_t bytes = ew_strategy_bytes(plan, EW_OUT);
    return ew_strategy_streams(bytes) || is_crowd(plan, bytes);
}

/* Whether out, though small, would be gone from the caches before it is read,
   for all that is read with it: lines of inputs with gaps. */
static bool is_crowded(const struct elementwise_plan *plan, int64_t bytes)
{
    bool gaps = false;
    for (int k = 0; k < EW_OUT; k++)
        gaps |= plan->pass.pack[k] && plan->loop[0].stride[k];
    return gaps && keeps_past(plan) && !plan->pass.deep &&
           is_crowd(plan, bytes);
}

/* Whether an operation takes longer than stores past the caches, which its
   kernel leaves to others. Integers and halves are divided by one number as
   products. Others than these are quick, or were not measured. */
static bool is_slow(const struct elementwise_plan *plan)
{
    const elementwise_dtype type = plan->types.compute[EW_X];
    const enum ew_kind kind = ew_types_kind(type);
    const bool by_one = plan->loop[0].stride[EW_Y] == 0;
    const bool integers = kind & EW_INTEGERS;
    const bool complex = kind == EW_KIND_COMPLEX;
    /* what c64 is divided by in short rows was measured so */
    if (complex ? plan->pass.past != NULL : keeps_past(plan))
        return false;
    switch (plan->op) {
    case ELEMENTWISE_HYPOT:
    case ELEMENTWISE_ATAN2:
    case ELEMENTWISE_LOGADDEXP:
        return true;
    case ELEMENTWISE_POW:
    case ELEMENTWISE_MOD:
    case ELEMENTWISE_FMOD:
    case ELEMENTWISE_FLOORDIV:
        return !integers || !by_one;
    case ELEMENTWISE_DIV:
        return complex || ((integers || ew_types_is_half(type)) && !by_one);
    case ELEMENTWISE_TRUNCDIV:
        return ew_types_is_half(type) || (integers && !by_one);
    default:
        return false;
    }
}

/* Whether rows of a slow operation are stored as usual however many they are:
   the little of them that may go past the caches at a time takes longer to
   make, in pieces of rows or a few whole ones. atan2 takes so long that
   processors read no line before it is needed, so that tiles, which ask for
   lines, are better. */
static bool stays_in_rows(const struct elementwise_plan *plan)
{
    return plan->ndim > 1 && !ew_pass_tiles(&plan->pass) && is_slow(plan) &&
           plan->op != ELEMENTWISE_ATAN2 && !ew_cpu_is(EW_QUICK_STORES);
}

/* Whether of input k every second element is read. */
static bool is_every_second(const struct elementwise_plan *plan, int k)
{
    int64_t size = plan->pass.stored[k];
    return plan->pass.pack[k] && size >= ASKED_ELEMENT &&
           ew_magnitude(plan->loop[0].stride[k]) == 2 * size;
}

/* What is scattered is stored in parts of lines, and out with gaps has no runs
   but its elements. */
void ew_strategy_stream(struct elementwise_plan *plan)
{
    int64_t run = plan->pass.stored[EW_OUT];
    int inner = plan->pass.deep > 2 ? plan->pass.deep : 2;
    if (ew_tile_places(plan, EW_OUT))
        return;
    for (int i = 0; i < plan->ndim && i < inner; i++)
        if (plan->loop[i].stride[EW_OUT] == run)
            run *= plan->loop[i].n;
    plan->pass.lines = run < STREAM_RUN && makes_lines(plan, run);
    if (plan->empty || (run < STREAM_RUN && !plan->pass.lines))
        return;
    plan->pass.stream = ew_table_stream(plan->level);
    plan->calls = false;
    if (!keeps_past(plan))
        plan->pass.past = NULL;
}

/* Rows of two such inputs are made dense by turns, and where processors read
   late, little of one comes while the other is read: what tiles need is asked
   for where the kernel stores past the caches itself, as all is large then. */
static void ask_gaps(struct elementwise_plan *plan)
{
    struct ew_pass *pass = &plan->pass;
    bool rows = !pass->turn && !pass->deep && !pass->again && !pass->fold;
    if (rows && pass->stream && pass->past && ew_cpu_is(EW_LATE_READS) &&
        is_every_second(plan, EW_X) && is_every_second(plan, EW_Y))
        pass->distant = pass->ahead[EW_X] = pass->ahead[EW_Y] = true;
}

/* Calls that are no tiles may go along another loop than that of their rows, or
   be of several. */
static void choose_calls(struct elementwise_plan *plan)
{
    const struct ew_pass *pass = &plan->pass;
    plan->pass.across = (unsigned char)ew_strategy_across(
        plan->loop, plan->ndim, ew_pass_widest(pass, EW_OUT),
        pass->stored[EW_OUT]);
    ew_strategy_repeat(plan);
}

void ew_strategy_choose(struct elementwise_plan *plan)
{
    if (plan->empty || plan->ndim == 0)
        return;
    struct ew_pass *pass = &plan->pass;
    bool tiles = ew_pass_tiles(pass);
    int64_t bytes = ew_strategy_bytes(plan, EW_OUT);
    ew_strategy_order(plan);
    pass->slow = plan->ndim == 1 && is_slow(plan);
    bool settled = go_along_inputs(plan) || ew_strategy_stays_alone(plan);
    if (!settled) {
        ew_strategy_turn(plan);
        tiles |= scatter(plan);
        settled = ew_strategy_takes_alone(plan);
    }
    if (!settled) {
        tiles |= ew_strategy_gather(plan) && !pass->turn;
        settled = ew_strategy_rows(plan, tiles);
    }
    if (pass->turn)
        ew_strategy_shape_turned(plan, bytes);
    if (!settled)
        deepen(plan, bytes / pass->stored[EW_OUT]); /* instead of that */
    if (!settled && !pass->deep && (pass->pack[EW_X] || pass->pack[EW_Y]))
        ew_strategy_fold_few(plan);
    if (pass->deep)
        ask_deep(plan);
    else
        ew_strategy_keep(plan);
    if (pass->turn && !pass->again) {
        ew_strategy_widen(plan, bytes);
        ew_strategy_read_on(plan, bytes);
    }
    if (pass->turn ? ew_strategy_streams_turned(plan, bytes)
                   : (ew_strategy_streams(bytes) && !stays_in_rows(plan)) ||
                         is_crowded(plan, bytes))
        ew_strategy_stream(plan);
    ask_gaps(plan);
    if (!ew_pass_tiles(pass))
        choose_calls(plan);
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
    if (ew_pass_repeated(&plan->pass) == 1 + k)
        return "repeated";
    if (!plan->pass.pack[k])
        return "as is";
    if (plan->loop[0].stride[k] == 0)
        return "spread";
    if (ew_strategy_is_turned(plan, k))
        return "transposed";
    if (plan->loop[0].stride[k] != plan->pass.stored[k])
        return "gathered";
    return plan->loop[1].stride[k] == 0 ? "repeated" : "packed";
}
