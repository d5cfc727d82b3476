/*
 * Turns an input whose elements are some bytes apart along out's rows into one
 * that is gathered, or leaves it to the kernel, which takes one element after
 * the other from wherever it lies:
 *
 *     x             a0 .. .. a1 .. .. a2 .. .. a3
 *     gathered      a0 a1 a2 a3 in a buffer, which vectors are made of
 *     one by one    a0 op b0, a1 op b1, ...
 */
#include "cpu.h"
#include "strategy_parts.h"
#include "table.h"

/* How many steps an operation takes for one element, where vectors take about
   one. */
enum steps { ONE_STEP, FEW_STEPS, SEVERAL_STEPS, MANY_STEPS };

/* Elements apart, summed over inputs and out less one for each that has no gaps
   but one, from which an operation takes less one by one: what is gathered
   takes longer the more lines of memory a vector of it has. Few steps take as
   long as one where elements have 8 bytes, whose vectors save least; several
   are taken alone if both inputs have gaps. */
struct alone {
    bool word, slow; /* of 4 or 8 bytes; gathered slowly */
    int16_t from[MANY_STEPS];
};

static const struct alone alone_2 = {false, false, {32, 48, 80}},
                          alone_4 = {true, false, {10, 15, 25}},
                          alone_4_slow = {true, true, {6, 9, 10}},
                          alone_8 = {true, false, {4, 4, 10}},
                          alone_8_slow = {true, true, {2, 4, 10}},
                          alone_any = {false, false, {-2, -2, -2}};

enum {
    NEIGHBOUR = 0,          /* what one input in reverse is apart, */
    NEIGHBOURS = 2,         /* and both are */
    ALONE_SPANS = 20 << 20, /* bytes of operands that come from memory */
    ALONE_ROW = 8,          /* elements of a row in all cases, */
    GATHERED_ROW = 32, /* and if it is gathered from memory, or beside an out
                          with gaps that is converted */
    /* Elements of a row that AVX2 takes so at most, apart in one input, and of
       a row of one at least, if they have 8 bytes. */
    SHORT_MOST = 12,
    SHORT_STEP = 5,
    SHORT_ROW = 4,
    SHORT_WIDE = 3,
    TURNED_GAPS = 3, /* elements apart along memory of what would be turned */
    /* From memory, bytes from one of its columns to the next where there are
       many, and where there are less, of 4 bytes an element few. */
    TURNED_MANY = 64,
    TURNED_MANY_APART = 640,
    TURNED_FEW = 16,
    TURNED_FEW_APART = 2816,
    LONG_ROW = 384, /* columns */
    /* Of it, from memory, bytes between elements along memory at most; the same
       where so many are between columns. */
    LONG_STEP = 16,
    LONG_STEP_APART = 24,
    LONG_APART = 1920,
    LONG_CACHES = 2 /* of L1 that the lines of a row may fill */
};

/* Elements in a block from which those that are `step` bytes apart are better
   gathered. */
static int64_t worth_gathering(int64_t step, int64_t size)
{
    bool shuffled = step == -size || (step > 0 && step <= EW_SHUFFLED * size);
    return shuffled ? EW_WORTH_SHUFFLING : EW_WORTH_GATHERING;
}

/* Whether rows of out are dense, or made so in a buffer: of types that are
   converted, whose kernels read gaps themselves, long ones. */
static bool makes_dense(const struct elementwise_plan *plan)
{
    bool buffers = plan->pass.store && plan->loop[0].n >= GATHERED_ROW;
    return buffers || ew_strategy_scatters(plan) ||
           !ew_strategy_is_apart(plan, EW_OUT);
}

/* Whether the elements of input k have gaps and are better packed: kernels have
   vectors for dense rows alone. Copies are made by the kernel that packs. */
static bool has_gaps(const struct elementwise_plan *plan, int k)
{
    int64_t elements = ew_strategy_block(plan);
    int64_t size = plan->pass.stored[k], step = plan->loop[0].stride[k];
    bool worth = plan->pass.turn || elements >= worth_gathering(step, size);
    return ew_strategy_is_apart(plan, k) && worth && makes_dense(plan) &&
           !ew_strategy_moves(plan) && !plan->pass.pack[k] &&
           !ew_strategy_divides_c64(plan);
}

/* Whether input k moves in all of out's loops. */
static bool moves_throughout(const struct elementwise_plan *plan, int k)
{
    const unsigned char *stored = plan->pass.stored;
    return ew_strategy_bytes(plan, k) / stored[k] ==
           ew_strategy_bytes(plan, EW_OUT) / stored[EW_OUT];
}

/* Whether what inputs with gaps are gathered with takes longer than loads one
   by one: gathers are as many loads, of which few are on their way, and none of
   what is gathered is kept for other rows. */
static bool gathers_slowly(const struct elementwise_plan *plan)
{
    int gaps = 0;
    for (int k = 0; k < EW_OUT; k++) {
        bool apart = ew_strategy_is_apart(plan, k);
        if (apart && !moves_throughout(plan, k))
            return false;
        gaps += apart;
    }
    return gaps > 0 && ew_strategy_reads_few(plan);
}

static bool have_gaps(const struct elementwise_plan *plan)
{
    return ew_strategy_is_apart(plan, EW_X) && ew_strategy_is_apart(plan, EW_Y);
}

/* NULL: never. c64 is turned into vectors as quickly as smaller elements, if it
   does not come from memory. */
static const struct alone *alone_from(const struct elementwise_plan *plan)
{
    const elementwise_dtype type = plan->types.compute[EW_X];
    if (type == ELEMENTWISE_C64 && plan->level >= EW_LEVEL_AVX512 &&
        !ew_strategy_spans_reach(plan, ALONE_SPANS))
        return &alone_4;
    switch (ew_types_is_half(type) ? 0 : ew_types_size(type)) {
    case 2:
        return &alone_2;
    case 4:
        return have_gaps(plan) && gathers_slowly(plan) ? &alone_4_slow
                                                       : &alone_4;
    case 8:
        return gathers_slowly(plan) ? &alone_8_slow : &alone_8;
    case 16:
        return &alone_any;
    default:
        return NULL;
    }
}

/* Whether quotients are made while the next elements are loaded, or take so
   long that loads take no time beside them. */
static bool divides_early(const struct elementwise_plan *plan)
{
    return ew_strategy_reads_few(plan) || !ew_cpu_is(EW_QUICK_QUOTIENTS);
}

static enum steps steps_of(const struct elementwise_plan *plan)
{
    const enum ew_kind kind = ew_types_kind(plan->types.compute[EW_X]);
    const bool real = kind == EW_KIND_FLOAT;
    const elementwise_op op = plan->op;
    if (op >= ELEMENTWISE_EQUAL && op <= ELEMENTWISE_LOGICAL_XOR)
        return kind == EW_KIND_COMPLEX ? MANY_STEPS : SEVERAL_STEPS;
    switch (op) {
    case ELEMENTWISE_ADD:
    case ELEMENTWISE_SUB:
    case ELEMENTWISE_MUL:
    case ELEMENTWISE_BITWISE_AND:
    case ELEMENTWISE_BITWISE_OR:
    case ELEMENTWISE_BITWISE_XOR:
        return ONE_STEP;
    case ELEMENTWISE_DIV:
        return real && divides_early(plan) ? ONE_STEP : MANY_STEPS;
    case ELEMENTWISE_MAX:
    case ELEMENTWISE_MIN:
        return real ? FEW_STEPS : ONE_STEP;
    case ELEMENTWISE_FMAX:
    case ELEMENTWISE_FMIN:
        return real ? MANY_STEPS : ONE_STEP;
    case ELEMENTWISE_BITWISE_LEFT_SHIFT:
    case ELEMENTWISE_BITWISE_RIGHT_SHIFT:
        return FEW_STEPS;
    case ELEMENTWISE_COPYSIGN:
        return SEVERAL_STEPS;
    default:
        return MANY_STEPS;
    }
}

bool ew_strategy_takes_long(const struct elementwise_plan *plan)
{
    const enum ew_kind kind = ew_types_kind(plan->types.compute[EW_X]);
    const bool copies = plan->op == 0;
    return plan->act > ELEMENTWISE_ACT_LEAKY_RELU ||
           (steps_of(plan) == MANY_STEPS && kind != EW_KIND_COMPLEX && !copies);
}

/* Whether operands, `gaps` of them with gaps, are far enough apart. */
static bool is_far(int64_t apart, int gaps, const struct alone *alone,
                   enum steps steps)
{
    if (steps == MANY_STEPS)
        return false;
    bool enough = steps < SEVERAL_STEPS || gaps == 2;
    return enough && apart >= alone->from[steps];
}

/* Whether rows of input k are one with gaps, which is gathered once. */
static bool is_shared_row(const struct elementwise_plan *plan, int k)
{
    return plan->ndim > 1 && plan->loop[1].stride[k] == 0 &&
           ew_strategy_is_apart(plan, k);
}

/* How far, over both inputs and out, and how many have gaps. What is farther
   than any limit counts as that, so that no sum overflows. */
static int64_t find_gaps(const struct elementwise_plan *plan, int *gaps)
{
    int64_t apart = 0;
    *gaps = 0;
    for (int k = 0; k <= EW_OUT; k++) {
        int64_t step =
            ew_magnitude(plan->loop[0].stride[k]) / plan->pass.stored[k];
        bool far = ew_strategy_is_apart(plan, k);
        step = step < INT16_MAX ? step : INT16_MAX;
        apart += far ? step : -1;
        *gaps += far;
    }
    return apart + 1;
}

/* Whether it is quotients of f64 by numbers that differ, where these are slow:
   loads one by one take no time beside them. */
static bool divides_slowly(const struct elementwise_plan *plan)
{
    return plan->op == ELEMENTWISE_DIV &&
           plan->types.compute[EW_X] == ELEMENTWISE_F64 &&
           plan->loop[0].stride[EW_Y] != 0 && !ew_cpu_is(EW_QUICK_QUOTIENTS);
}

/* Whether both inputs have gaps and come from memory, which waits while vectors
   are gathered, of one and then of the other: loads one by one go on. Out,
   which would go past the caches then, does not matter where few lines are
   read. */
static bool gathers_late(const struct elementwise_plan *plan)
{
    return have_gaps(plan) && ew_strategy_spans_reach(plan, ALONE_SPANS) &&
           (ew_strategy_reads_few(plan) ||
            !ew_strategy_streams(ew_strategy_bytes(plan, EW_OUT)));
}

/* Whether what takes one step, and no more is made with it, takes less so: of
   elements that are no neighbours in reverse, where little is read ahead; not
   where the cache is small, as out would go past it. */
static bool gathers_by_turns(const struct elementwise_plan *plan, int64_t apart)
{
    return ew_strategy_is_bare(plan) && apart > NEIGHBOURS &&
           ew_cpu_is(EW_LATE_READS) && !ew_cpu_is(EW_SMALL_CACHE);
}

/* Whether memory is waited for, beside which so many steps take no time one by
   one; where one input alone has gaps, several do if it and the other one are
   as large as out. `apart` is how far inputs are, `late` as below. */
static bool waits(const struct elementwise_plan *plan,
                  const struct alone *alone, enum steps steps, int64_t apart,
                  bool late)
{
    bool both = !late && gathers_late(plan);
    if (late || (both && ew_strategy_reads_few(plan)))
        return steps < MANY_STEPS;
    if (both && gathers_by_turns(plan, apart))
        return steps == ONE_STEP;
    bool beside = steps == SEVERAL_STEPS && moves_throughout(plan, EW_X) &&
                  moves_throughout(plan, EW_Y);
    return alone->slow && apart > NEIGHBOUR &&
           ew_strategy_spans_reach(plan, ALONE_SPANS) &&
           (steps == ONE_STEP || beside);
}

/* Bytes from one element of 4 or 8 to the next along memory of an input that
   would be turned, if that is along the loop of rows; else 0. Of any other, one
   by one, lines would come again for each element. */
static int64_t turned_step(const struct elementwise_plan *plan, int k)
{
    int64_t size = plan->pass.stored[k];
    if (!ew_strategy_is_apart(plan, k) || (size != 4 && size != 8) ||
        ew_strategy_along(plan, k) != 1)
        return 0;
    return ew_magnitude(plan->loop[1].stride[k]);
}

/* Whether neighbours of 8 bytes take longer in tiles, too: beside an input that
   moves, if tiles share lines of out, or make smaller elements. */
static bool are_neighbours_slow(const struct elementwise_plan *plan, int k)
{
    int64_t size = plan->pass.stored[k];
    return size == 8 && plan->loop[0].stride[1 - k] != 0 &&
           (plan->pass.stored[EW_OUT] < size ||
            !ew_strategy_goes_down(plan->loop[1].stride[EW_OUT]));
}

/* Whether input k alone has long rows that are not dense, from memory, of which
   tiles take longer wherever columns start. If it stands still in a loop, tiles
   keep what loads one by one would bring again. */
static bool is_long(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0];
    int64_t step = turned_step(plan, k);
    bool distant = ew_magnitude(cols->stride[k]) >= LONG_APART;
    return step > 0 && step <= (distant ? LONG_STEP_APART : LONG_STEP) &&
           (step > plan->pass.stored[k] || are_neighbours_slow(plan, k)) &&
           cols->n >= LONG_ROW && !ew_strategy_is_apart(plan, 1 - k) &&
           moves_throughout(plan, k) &&
           ew_strategy_spans_reach(plan, ALONE_SPANS);
}

/* Whether input k would be turned, but has so few elements of 4 or 8 bytes on
   each of its lines that loads one by one take less, in rows that need not be
   long. Lines from memory are to
   come all at once, as columns start in a line where the others do: else tiles
   take less; and of 4 bytes of columns about as many as processors read on in
   by themselves, and from the caches. */
static bool has_few_on_lines(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0];
    int64_t size = plan->pass.stored[k], column = ew_magnitude(cols->stride[k]);
    if (turned_step(plan, k) < TURNED_GAPS * size)
        return false;
    if (!ew_strategy_spans_reach(plan, ALONE_SPANS))
        return size == 8;
    if (column % EW_LINE != 0)
        return false;
    if (cols->n >= TURNED_MANY)
        return column >= TURNED_MANY_APART;
    return column >= TURNED_FEW_APART && (size == 8 || cols->n <= TURNED_FEW);
}

/* Whether one input alone has gaps, in rows of some vectors, and its lines come
   from memory: gathers have more of them on their way than loads one by one. */
static bool gathers_far(const struct elementwise_plan *plan, int gaps)
{
    int k = ew_strategy_is_apart(plan, EW_X) ? EW_X : EW_Y;
    int64_t step = plan->loop[0].stride[k], size = plan->pass.stored[k];
    int64_t line = step < EW_LINE ? step : EW_LINE; /* or a part of it */
    return plan->level >= EW_LEVEL_AVX512 && ew_cpu_is(EW_QUICK_GATHERS) &&
           gaps == 1 && !ew_strategy_is_apart(plan, EW_OUT) &&
           plan->loop[0].n >= GATHERED_ROW && step > EW_SHUFFLED * size &&
           ew_strategy_bytes(plan, k) / size >= ALONE_SPANS / line;
}

/* Whether input k lies in memory in the order of loops, and no element with
   gaps is read again. */
static bool lies_in_order(const struct elementwise_plan *plan, int k)
{
    int64_t last = 0;
    for (int i = 0; i < plan->ndim; i++) {
        int64_t step = ew_magnitude(plan->loop[i].stride[k]);
        if (step != 0 && step < last)
            return false;
        last = step > last ? step : last;
    }
    return !ew_strategy_is_apart(plan, k) || moves_throughout(plan, k);
}

/* Whether an operation is no more than sums, or products of real numbers. */
static bool is_sum(const struct elementwise_plan *plan)
{
    const enum ew_kind kind = ew_types_kind(plan->types.compute[EW_X]);
    return plan->op == ELEMENTWISE_ADD || plan->op == ELEMENTWISE_SUB ||
           (plan->op == ELEMENTWISE_MUL && kind != EW_KIND_COMPLEX);
}

/* Whether short rows of input k, which alone has gaps, are taken one by one
   with AVX2: with large gaps, unless they are divided, or with any in fewer
   elements from the caches. Rows that follow one another are put together as
   one. */
static bool takes_short_row(const struct elementwise_plan *plan, int k)
{
    const int64_t n = plan->loop[0].n, size = plan->pass.stored[k];
    const int64_t step = plan->loop[0].stride[k] / size;
    bool large =
        step >= SHORT_STEP && (n <= ALONE_ROW || plan->op != ELEMENTWISE_DIV);
    bool few = step > 0 && is_sum(plan) && n <= ALONE_ROW &&
               !ew_strategy_spans_reach(plan, ALONE_SPANS);
    return (large || few) && n >= (size == 8 ? SHORT_WIDE : SHORT_ROW) &&
           !ew_loop_continues(&plan->loop[0], &plan->loop[1], k);
}

/* The same of both inputs, or of one and out, which are `apart`. In reverse
   neighbours are one shuffle in rows of a vector; of few elements from memory
   tiles of several loops put more together. */
static bool takes_short_rows(const struct elementwise_plan *plan, int64_t apart)
{
    const int64_t n = plan->loop[0].n;
    return (apart > NEIGHBOURS || n < ALONE_ROW) &&
           (n >= SHORT_ROW || plan->pass.stored[EW_X] == 8 ||
            !ew_strategy_spans_reach(plan, ALONE_SPANS));
}

/* The same of any inputs. */
static bool takes_short(const struct elementwise_plan *plan, int64_t apart)
{
    const enum ew_kind kind = ew_types_kind(plan->types.compute[EW_X]);
    if (plan->level != EW_LEVEL_AVX2 || steps_of(plan) == MANY_STEPS ||
        !ew_strategy_is_bare(plan) || plan->loop[0].n > SHORT_MOST ||
        !lies_in_order(plan, EW_X) || !lies_in_order(plan, EW_Y) ||
        (kind == EW_KIND_COMPLEX && !is_sum(plan)))
        return false;
    if (have_gaps(plan) || ew_strategy_is_apart(plan, EW_OUT))
        return takes_short_rows(plan, apart);
    int k = ew_strategy_is_apart(plan, EW_X) ? EW_X : EW_Y;
    return ew_strategy_is_apart(plan, k) && takes_short_row(plan, k);
}

/* As ew_strategy_takes_alone. `late`: an input would be turned, for which tiles
   wait longer than loads one by one. */
static bool takes_alone(const struct elementwise_plan *plan, bool late)
{
    const struct alone *alone =
        divides_slowly(plan) ? &alone_any : alone_from(plan);
    int gaps;
    if (!alone || ew_strategy_block(plan) < EW_WORTH_SHUFFLING ||
        ew_pass_buffers(&plan->pass) || is_shared_row(plan, EW_X) ||
        is_shared_row(plan, EW_Y))
        return false;
    int64_t apart = find_gaps(plan, &gaps);
    enum steps steps = steps_of(plan);
    bool waiting = alone->word && waits(plan, alone, steps, apart, late);
    if (gaps == 0 || (!waiting && ew_strategy_is_large(plan)) ||
        (alone->word && gathers_far(plan, gaps)))
        return false;
    if (alone->word && takes_short(plan, apart))
        return true;
    return plan->loop[0].n >= ALONE_ROW &&
           (waiting || is_far(apart, gaps, alone, steps));
}

bool ew_strategy_takes_alone(const struct elementwise_plan *plan)
{
    return takes_alone(plan, false);
}

bool ew_strategy_is_alone(const struct elementwise_plan *plan)
{
    bool gaps = false;
    for (int k = 0; k <= EW_OUT && plan->ndim > 0; k++)
        gaps |= ew_strategy_is_apart(plan, k);
    return gaps && !ew_pass_tiles(&plan->pass);
}

/* Whether turning inputs takes longer than loads one by one: of c128, of which
   vectors hold few, and of two inputs in two ways, which are rows in none. Not
   if out has smaller elements, of which vectors hold more. */
static bool turns_slowly(const struct elementwise_plan *plan)
{
    const elementwise_dtype type = plan->types.compute[EW_X];
    const size_t size = ew_types_size(type);
    if (type == ELEMENTWISE_C128)
        return true;
    if (type == ELEMENTWISE_C64 || size != 8 ||
        size != plan->pass.stored[EW_OUT])
        return false;
    int x = ew_strategy_nearest(plan, EW_X, 0);
    int y = ew_strategy_nearest(plan, EW_Y, 0);
    return x != 0 && y != 0 && x != y;
}

/* Two inputs are turned slowly if both move along the columns. */
bool ew_strategy_stays_alone(const struct elementwise_plan *plan)
{
    const int64_t *step = plan->loop[0].stride;
    bool still = step[EW_X] == 0 || step[EW_Y] == 0;
    bool slow = !still && (divides_slowly(plan) || turns_slowly(plan));
    bool waits = ew_strategy_reads_few(plan);
    bool rows = waits && (is_long(plan, EW_X) || is_long(plan, EW_Y));
    bool late = rows || (waits && (has_few_on_lines(plan, EW_X) ||
                                   has_few_on_lines(plan, EW_Y)));
    int caches = rows ? LONG_CACHES : 1;
    return (slow || late) && ew_strategy_keeps_lines(plan, 0, EW_X, caches) &&
           ew_strategy_keeps_lines(plan, 0, EW_Y, caches) &&
           takes_alone(plan, late);
}

bool ew_strategy_gather(struct elementwise_plan *plan)
{
    bool gathered = false;
    for (int k = 0; k < 2; k++)
        if (has_gaps(plan, k)) {
            ew_strategy_pack(plan, k);
            gathered = true;
        }
    return gathered;
}
