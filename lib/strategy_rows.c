/*
 * Chooses how short rows are run: as they are, where kernels have vectors or
 * masks for them, folded into one where they follow one another, for which
 * inputs that do not are packed, or as calls of several, for which a row that
 * they share is repeated, or along the loop outside, where they are few.
 */
#include "cpu.h"
#include "execute.h"
#include "strategy_parts.h"

enum {
    COMPARED_ROW = 32,   /* elements of a row that makes a vector of results */
    COMPARED_APART = 12, /* elements of a row that is taken where it lies */
    COMPARED_SPREAD = 128,  /* bytes of an input whose elements are spread */
    COMPARED_REPEATED = 58, /* bytes of a row that is kept in a register */
    MASKED_ROWS = 32,       /* that are taken as they are, under masks, */
    MASKED_ROW = 32,        /* of so many bytes */
    /* Calls that go along the loop outside their rows: so few rows, of so many
       bytes, and so many of out; the rows of a call then, as more took
       longer. */
    ACROSS_FEW = 12,
    ACROSS_ROW = 128,
    ACROSS_ALL = 1 << 20,
    ACROSS_MOST = 128,
    /* Rows of a simple call that are not folded: of quick operations that have
       masks of words for them, or at least vectors, and of others that have
       masks; of bytes those of the former if they are so long. */
    FEW_MASKED = 512,
    FEW_VECTORS = 96,
    FEW_OTHERS = 128,
    FEW_BYTES = 32,
    /* Elements of two loops whose rows tiles fold that are there anyway. */
    FEW_TILED = 64,
    /* Rows that share one of an input, which is repeated: so many bytes at
       most, */
    REPEATED_ROW = EW_REPEATED_BUFFER / 4,
    REPEATED_ROW_OF_BYTES = 2 * EW_LINE,     /* of elements of one byte, */
    REPEATED_ROWS = 64,                      /* and so many rows at least, */
    REPEATED_ROWS_OF_TWO = EW_REPEATED_ROWS, /* of elements of two bytes, */
    REPEATED_ROWS_DIVIDED = 256,             /* of integers that are divided */
    REPEATED_MANY = 4, /* bytes of an element of which any number is */
    KEPT_ROWS = 4      /* that kernels of integers find inverses for */
};

/* Whether rows of operand k are dense and follow one another. */
static bool is_folded(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    return cols->stride[k] == plan->pass.stored[k] &&
           ew_loop_continues(cols, rows, k);
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

bool ew_strategy_is_comparison(elementwise_op op)
{
    return op >= ELEMENTWISE_EQUAL && op <= ELEMENTWISE_GREATER_EQUAL;
}

bool ew_strategy_is_quick(elementwise_op op)
{
    return op >= ELEMENTWISE_ADD && op <= ELEMENTWISE_MIN &&
           op != ELEMENTWISE_DIV;
}

bool ew_strategy_waits_for_halves(elementwise_op op, elementwise_dtype type,
                                  int level)
{
    const bool f16 = type == ELEMENTWISE_F16 && level < EW_LEVEL_AVX512FP16;
    return (type == ELEMENTWISE_BF16 || f16) && ew_strategy_is_quick(op) &&
           level >= EW_LEVEL_AVX512;
}

static bool is_logical(const struct elementwise_plan *plan)
{
    return plan->op >= ELEMENTWISE_LOGICAL_AND &&
           plan->op <= ELEMENTWISE_LOGICAL_XOR;
}

/* Whether the kernel has vectors for short rows of elements larger than out's:
   those of comparisons and logical operations, on AVX-512 for any row and else
   from a vector of results on. */
static bool compares_rows(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    int64_t least = plan->level >= EW_LEVEL_AVX512 ? 1 : COMPARED_ROW;
    bool compares =
        ew_strategy_is_comparison(plan->op) && type != ELEMENTWISE_C64;
    return (is_logical(plan) || compares) && type != ELEMENTWISE_C128 &&
           plan->loop[0].n >= least;
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
    return ew_types_is_half(type) && row >= COMPARED_REPEATED &&
           row <= EW_LINE && rows->stride[k] == 0 &&
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

/* Whether the kernel has vectors for rows of up to a line, by masks of AVX-512:
   those of operations that wait for memory, with nothing around them. */
static bool masks_rows(const struct elementwise_plan *plan)
{
    elementwise_dtype type = plan->types.compute[EW_X];
    return plan->level >= EW_LEVEL_AVX512 && ew_strategy_is_quick(plan->op) &&
           ew_strategy_is_bare(plan) && plan->pass.stored[EW_OUT] >= 4 &&
           type != ELEMENTWISE_C64 && type != ELEMENTWISE_C128;
}

/* Whether rows of input k go through a buffer where rows are folded. */
static bool is_copied(const struct elementwise_plan *plan, int k)
{
    return !is_folded(plan, k) && !is_scalar(plan, k);
}

/* Whether such rows are taken as they are. That is better than to fold them if
   both inputs would go through buffers, or if rows are whole lines. */
static bool takes_rows(const struct elementwise_plan *plan)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    int64_t bytes = cols->n * plan->pass.stored[EW_OUT];
    int packs = 0;
    for (int k = 0; k < 2; k++)
        packs += is_copied(plan, k);
    bool pays = packs == 2 ? bytes >= MASKED_ROW : bytes == EW_LINE;
    return masks_rows(plan) && is_folded(plan, EW_OUT) && has_vectors(plan) &&
           packs && pays && bytes <= EW_LINE && rows->n >= MASKED_ROWS;
}

/* Whether all rows have one y, and no more than a quarter of the vectors they
   are divided in is empty. */
static bool shares_divisors(const struct ew_loop *loop, int64_t size)
{
    int64_t bytes = loop[0].n * size;
    int64_t lines = (bytes + EW_LINE - 1) / EW_LINE;
    return loop[0].stride[EW_Y] != 0 && loop[1].stride[EW_Y] == 0 &&
           bytes >= EW_LINE && 3 * lines * EW_LINE <= 4 * bytes;
}

bool ew_strategy_keeps_words(const struct ew_loop *loop, elementwise_op op,
                             elementwise_dtype type, int level)
{
    int from = type == ELEMENTWISE_U32 ? EW_LEVEL_AVX512 : EW_LEVEL_AVX2;
    bool rest = op == ELEMENTWISE_MOD || op == ELEMENTWISE_FMOD;
    return ew_types_size(type) == 4 && level >= from && !rest &&
           loop[1].n >= KEPT_ROWS && shares_divisors(loop, 4);
}

/* Whether the kernel finds inverses of one row for all that are divided by it,
   if it sees it, and rows gain by that beside folded ones: of c64, and of words
   if memory does not take longer for the ends of their rows, and x is not made
   dense in tiles, which have few rows. */
static bool keeps_inverses(const struct elementwise_plan *plan)
{
    if (ew_strategy_divides_c64(plan))
        return shares_divisors(plan->loop, plan->pass.stored[EW_OUT]);
    return plan->types.fault == EW_FAULT_ZERO && !plan->pass.pack[EW_X] &&
           ew_strategy_keeps_words(plan->loop, plan->op,
                                   plan->types.compute[EW_X], plan->level) &&
           !ew_strategy_is_large(plan);
}

bool ew_strategy_wastes_vectors(const struct ew_loop *cols, int64_t size,
                                int level)
{
    int64_t bytes = cols->n * size;
    int64_t vector = level >= EW_LEVEL_AVX512 ? EW_LINE : EW_LINE / 2;
    return cols->stride[EW_Y] != 0 && size <= 4 &&
           ew_strategy_leaves_empty(bytes, vector);
}

/* Whether that is so of rows that are divided. */
static bool wastes_quotients(const struct elementwise_plan *plan)
{
    return plan->types.fault == EW_FAULT_ZERO &&
           ew_strategy_wastes_vectors(plan->loop, plan->pass.stored[EW_OUT],
                                      plan->level);
}

/* Whether tiles of turned inputs store rows past the caches that are no whole
   lines. Row by row, both ends of each are parts of lines; of folded rows only
   both ends of a tile are. */
static bool streams_ends(const struct elementwise_plan *plan)
{
    return plan->pass.turn &&
           plan->loop[0].n * plan->pass.stored[EW_OUT] % EW_LINE != 0 &&
           ew_strategy_streams_turned(plan, ew_strategy_bytes(plan, EW_OUT));
}

/* Whether an input would be spread into rows of several stores each. That takes
   longer than row by row, for which the other input is dense, as vectors need,
   or made so in a tile; unless the ends of each row would be stored past the
   caches. */
static bool spreads_far(const struct elementwise_plan *plan, bool tiles)
{
    const struct ew_loop *cols = &plan->loop[0];
    bool far = false;
    for (int k = 0; k < 2; k++)
        far |= cols->stride[k] == 0 && !is_scalar(plan, k) &&
               cols->n * plan->pass.stored[k] > EW_SPREAD_BYTES;
    return far && !streams_ends(plan) &&
           (tiles || (has_vectors(plan) && compares_rows(plan)));
}

/* Whether rows of input k are dense but do not follow one another, for which
   alone they would be copied. */
static bool has_rows_apart(const struct elementwise_plan *plan, int k)
{
    const struct ew_loop *cols = &plan->loop[0], *rows = &plan->loop[1];
    return cols->stride[k] == plan->pass.stored[k] && rows->stride[k] != 0 &&
           !is_folded(plan, k);
}

/* Whether rows beside turned ones are folded however long they are, for out to
   be stored without a gap. Of elements of 16 bytes a tile has too few; and an
   input of smaller ones than out's would be turned in parts of lines. */
static bool folds_long(const struct elementwise_plan *plan)
{
    int64_t size = plan->pass.stored[EW_OUT];
    return folds_turned(plan) && size <= EW_TURNED_WIDE &&
           plan->pass.stored[EW_X] >= size && plan->pass.stored[EW_Y] >= size &&
           !has_rows_apart(plan, EW_X) && !has_rows_apart(plan, EW_Y);
}

/* Bytes of out's rows from which on they are not folded; `tiles` says that
   there are tiles anyway. */
static int64_t long_row(const struct elementwise_plan *plan, bool tiles)
{
    if (folds_long(plan))
        return INT64_MAX;
    if (tiles || wastes_quotients(plan))
        return EW_SHORT_TILED;
    return ew_strategy_long_row(
        plan->loop, plan->pass.stored[EW_OUT],
        ew_strategy_waits_for_halves(plan->op, plan->types.compute[EW_X],
                                     plan->level));
}

/* Whether rows stay as they are, though they are short. */
static bool stay_apart(const struct elementwise_plan *plan, bool tiles)
{
    return !is_folded(plan, EW_OUT) || keeps_inverses(plan) ||
           (!tiles && compares_apart(plan)) ||
           spreads_far(plan, tiles || folds_turned(plan));
}

/* Folds short rows into one, for which inputs that do not allow it are
   packed; tiles says that types are converted anyway. */
static void fold(struct elementwise_plan *plan, bool tiles)
{
    int64_t row = long_row(plan, tiles || folds_turned(plan));
    if (stay_apart(plan, tiles) ||
        !ew_strategy_folds(plan->loop, plan->ndim, plan->pass.stored[EW_OUT],
                           row))
        return;
    plan->pass.fold = true;
    for (int k = 0; k < 2; k++)
        if (is_copied(plan, k))
            ew_strategy_pack(plan, k);
}

/* Whether an input would be packed for no more than that. */
static bool copies_for_it(const struct elementwise_plan *plan)
{
    bool copies = false;
    for (int k = 0; k < 2; k++)
        copies |= is_copied(plan, k) && !plan->pass.pack[k];
    return copies;
}

void ew_strategy_fold_few(struct elementwise_plan *plan)
{
    const struct ew_loop *loop = plan->loop;
    struct ew_pass *pass = &plan->pass;
    bool is_short = pass->turn
                        ? folds_long(plan)
                        : loop[0].n * pass->stored[EW_OUT] < EW_SHORT_TILED;
    if (pass->fold || plan->ndim < 2 || !is_short ||
        loop[0].n * loop[1].n < FEW_TILED || stay_apart(plan, true) ||
        copies_for_it(plan))
        return;
    pass->fold = true;
    pass->distant = pass->ahead[EW_X] = pass->ahead[EW_Y] = false;
}

/* Whether rows of inputs or of out waste much of the vectors that have their
   ends. */
static bool has_empty_ends(int64_t row, int64_t row_out)
{
    return ew_strategy_leaves_empty(row, EW_LINE) ||
           ew_strategy_leaves_empty(row_out, EW_LINE);
}

int ew_strategy_shared(const struct ew_loop *loop, int64_t size,
                       int64_t size_out, bool divides)
{
    const struct ew_loop *cols = &loop[0], *rows = &loop[1];
    const int64_t most = size == 1 ? REPEATED_ROW_OF_BYTES : REPEATED_ROW;
    const int64_t least = divides     ? REPEATED_ROWS_DIVIDED
                          : size == 2 ? REPEATED_ROWS_OF_TWO
                                      : REPEATED_ROWS;
    if (rows->n < least || cols->n > most || cols->n * size > most ||
        cols->n * size_out > most ||
        !has_empty_ends(cols->n * size, cols->n * size_out) ||
        cols->stride[EW_OUT] != size_out ||
        !ew_loop_continues(cols, rows, EW_OUT))
        return 0;
    for (int k = 0; k < 2; k++)
        if (cols->stride[k] == size && rows->stride[k] == 0 &&
            ew_loop_continues(cols, rows, 1 - k))
            return 1 + k;
    return 0;
}

/* Copies repeat one row themselves, and inputs of two sizes are never calls of
   op alone. */
static int repeated(const struct elementwise_plan *plan)
{
    const unsigned char *size = plan->pass.stored;
    if (ew_strategy_moves(plan) || size[EW_X] != size[EW_Y])
        return 0;
    return ew_strategy_repeats(plan->loop, plan->ndim, size[EW_X], size[EW_OUT],
                               plan->types.fault == EW_FAULT_ZERO);
}

void ew_strategy_repeat(struct elementwise_plan *plan)
{
    plan->pass.repeats = (unsigned char)repeated(plan);
}

/* Whether that takes less than tiles of folded rows however many there are, for
   each of which the row is copied: of what takes no longer than that, with
   AVX2, if out is stored as usual. */
static bool repeats_many(const struct elementwise_plan *plan)
{
    const bool divides =
        plan->op == ELEMENTWISE_DIV && plan->types.fault != EW_FAULT_ZERO;
    return plan->level == EW_LEVEL_AVX2 &&
           ew_types_size(plan->types.compute[EW_X]) >= REPEATED_MANY &&
           (ew_strategy_is_quick(plan->op) || divides) &&
           !ew_strategy_is_large(plan);
}

/* Whether that takes less than to fold rows, which needs a tile: what stands
   around op may need one, too. */
static bool repeats_folded(const struct elementwise_plan *plan)
{
    int64_t elements =
        ew_strategy_bytes(plan, EW_OUT) / plan->pass.stored[EW_OUT];
    return ew_strategy_is_bare(plan) && repeated(plan) &&
           (repeats_many(plan) ||
            ew_strategy_repeats_few(elements,
                                    ew_pass_widest(&plan->pass, EW_OUT + 1)));
}

bool ew_strategy_rows(struct elementwise_plan *plan, bool tiles)
{
    bool as_is = !tiles && !plan->pass.turn;
    if (plan->ndim < 2)
        return false;
    if (as_is && repeats_folded(plan))
        return true;
    plan->pass.masked = as_is && takes_rows(plan);
    if (plan->pass.masked || (as_is && compares_short(plan)))
        return true;
    fold(plan, tiles);
    return false;
}

int64_t ew_strategy_few_rows(elementwise_op op, elementwise_dtype type,
                             int64_t cols)
{
    const bool masks = ew_cpu_level() >= EW_LEVEL_AVX512;
    const int64_t size = (int64_t)ew_types_size(type);
    const bool bytes = size == 1 && cols >= FEW_BYTES;
    const bool complex = ew_types_kind(type) == EW_KIND_COMPLEX;
    const bool quick = ew_strategy_is_quick(op);
    const bool compares = ew_strategy_is_comparison(op) && !complex;
    if (quick && masks && (size >= 4 || bytes) && !complex)
        return FEW_MASKED;
    if (quick && size >= 4)
        return FEW_VECTORS;
    return masks && (quick || compares || bytes) ? FEW_OTHERS : 0;
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
