/*
 * Turns a loop nest and a pass into calls of kernels. The two innermost loops
 * are the kernel's rows and columns; the loops around them are counted here
 * like the digits of a number. Where a pass converts or packs, rows and
 * columns are cut into tiles that fit small buffers on the stack.
 */
#include "execute.h"

#include <stddef.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "gather.h"
#include "strategy.h"

enum {
    OPERANDS = EW_OUT + 1, /* of a forward call */
    STREAM_BYTES = 2048,   /* where there is but the buffer of what is made */
    PIECE_BYTES = 4096,    /* of out, where only an activation follows */
    /* Bytes of out that tiles go down through: more are on more pages than a
       processor knows, those of the other input among them; or else of out
       alone. */
    BAND_BYTES = 4 << 20,
    BAND_ALONE = 16 << 20
};

/* The buffers of one tile, aligned for any vector. Both what is packed before
   it is converted and what was converted before it is streamed are stored.
   Operands that are gathered or scattered have places; others none. An input
   that stood still since the tile before is gathered and converted
   already. */
struct buffers {
    _Alignas(64) char stored[EW_TILE_BYTES], load[2][EW_TILE_BYTES];
    _Alignas(64) char made[EW_TILE_BYTES], rounded[EW_TILE_BYTES];
    const struct ew_places *places[OPERANDS];
    bool gathered[2];
};

/* An operand that does not take part stays NULL. */
static void *moved(void *data, int64_t bytes)
{
    return data ? (char *)data + bytes : NULL;
}

/* Inline, so that the number of operands may be a constant. */
static inline bool advance(const struct ew_loop *loop, int first, int ndim,
                           int operands, int64_t *index, void *data[])
{
    for (int d = first; d < ndim; d++) {
        bool carry = ++index[d] == loop[d].n;
        int64_t steps = carry ? 1 - loop[d].n : 1;
        for (int k = 0; k < operands; k++)
            data[k] = moved(data[k], steps * loop[d].stride[k]);
        if (!carry)
            return true;
        index[d] = 0;
    }
    return false;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The part of a block from a row and a column on, made in place: a copy would
   read in one what was just stored in two, and processors wait until all
   stores before it, to out, are done. */
static inline void cut(const struct ew_block *block, int operands, int64_t row,
                       int64_t col, int64_t rows, int64_t cols,
                       struct ew_block *tile)
{
    tile->rows = least(rows, block->rows - row);
    tile->cols = least(cols, block->cols - col);
    for (int k = 0; k < operands; k++) {
        struct ew_stride s = block->stride[k];
        tile->stride[k] = s;
        tile->data[k] = moved(block->data[k], row * s.row + col * s.col);
    }
}

/* Brings one input of a tile into a dense buffer. Where a stride is 0, what is
   broadcast is brought once and stays broadcast, unless it is to be spread.
   A scale has a parameter, and may find the input in the buffer already. */
static void load(ew_kernel *convert, const void *parameter,
                 struct ew_block *tile, int k, bool spread, unsigned size,
                 char *buffer)
{
    const struct ew_stride s = tile->stride[k];
    int64_t rows = s.row || spread ? tile->rows : 1;
    int64_t cols = s.col || spread ? tile->cols : 1;
    struct ew_stride dense = {cols * size, size};
    void *data[OPERANDS] = {tile->data[k], (void *)parameter, buffer};
    struct ew_stride stride[OPERANDS] = {s, {0, 0}, dense};
    bool one_row = s.row == cols * s.col;
    convert(one_row ? 1 : rows, one_row ? rows * cols : cols, data, stride);
    tile->data[k] = buffer;
    tile->stride[k].row = s.row || spread ? dense.row : 0;
    tile->stride[k].col = s.col || spread ? dense.col : 0;
}

/* Gathers what a tile of several loops has of input k. Where that is copies,
   its elements are made dense in the buffer that op fills later, and spread. */
static void gather(const struct ew_pass *pass, const struct ew_block *tile,
                   int k, struct buffers *buffers, char *to)
{
    const struct ew_places *places = buffers->places[k];
    bool copies = places->copies > 1;
    ew_gather(places, tile->data[k], copies ? buffers->made : to);
    if (!copies)
        return;
    int64_t size = pass->stored[k];
    void *data[OPERANDS] = {buffers->made, NULL, to};
    struct ew_stride stride[OPERANDS] = {
        {size, 0}, {0, 0}, {places->copies * size, size}};
    pass->spread[k](places->runs, places->copies, data, stride);
}

/* The steps that an input may need before op. A row that all tiles share is
   brought once for the whole block, since folded tiles differ in nothing
   else; the first has the most rows. */
static void prepare(const struct ew_pass *pass, struct ew_block *tile, int k,
                    bool first, struct buffers *buffers)
{
    ew_kernel *pack = pass->pack[k], *convert = pass->load[k];
    if (pack && pass->fold && !first && tile->stride[k].row == 0) {
        int64_t size = pass->size[k];
        tile->data[k] = buffers->load[k];
        tile->stride[k] = (struct ew_stride){tile->cols * size, size};
        return;
    }
    char *packed = convert ? buffers->stored : buffers->load[k];
    if (pack)
        load(pack, NULL, tile, k, pass->fold, pass->stored[k], packed);
    if (buffers->places[k] && buffers->gathered[k]) {
        tile->data[k] = buffers->load[k];
        tile->stride[k].col = pass->size[k];
        return;
    }
    if (buffers->places[k]) {
        gather(pass, tile, k, buffers, packed);
        tile->data[k] = packed;
        tile->stride[k].col = pass->stored[k];
    }
    if (convert)
        load(convert, NULL, tile, k, false, pass->size[k], buffers->load[k]);
    if (pass->scale[k])
        load(pass->scale[k], &pass->factor[k], tile, k, false, pass->size[k],
             buffers->load[k]);
}

/* Rows that lie one behind the other are one long row. */
static void fold(struct ew_block *tile)
{
    tile->cols *= tile->rows;
    tile->rows = 1;
}

/* Converts a tile from one dense buffer to the next, or to out. */
static void convert_result(ew_kernel *convert, const struct ew_block *tile,
                           char *from, unsigned from_size, char *to,
                           struct ew_stride to_stride)
{
    struct ew_stride dense = {tile->cols * from_size, from_size};
    void *data[OPERANDS] = {from, NULL, to};
    struct ew_stride stride[OPERANDS] = {dense, {0, 0}, to_stride};
    convert(tile->rows, tile->cols, data, stride);
}

/* The activation, on what was made. */
static void activate(const struct ew_pass *pass, const struct ew_block *tile)
{
    void *made = tile->data[EW_OUT];
    const struct ew_stride s = tile->stride[EW_OUT];
    void *const data[OPERANDS] = {made, (void *)&pass->around.alpha, made};
    const struct ew_stride stride[OPERANDS] = {s, {0, 0}, s};
    pass->act(tile->rows, tile->cols, data, stride);
}

/* What of input k is read after a tile, if it goes on where the tile ends. */
static struct ew_next after(const struct ew_pass *pass,
                            const struct ew_block *tile, int k, int64_t size)
{
    struct ew_stride s = tile->stride[k];
    int64_t row = tile->cols * s.col, from = pass->stored[k];
    if (s.col != from || (tile->rows > 1 && s.row != row))
        return (struct ew_next){NULL, 0};
    return (struct ew_next){(char *)tile->data[k] + tile->rows * row,
                            EW_LINE * from / size};
}

/* Takes what was made of a tile past the caches to out, whose rows are dense
   and were perhaps folded. */
static void stream(const struct ew_pass *pass, const struct ew_block *tile,
                   const char *from, char *to, struct ew_stride to_stride,
                   const struct ew_next next[2])
{
    int64_t rows = tile->rows, bytes = tile->cols * to_stride.col;
    if (to_stride.row == bytes) {
        bytes *= rows;
        rows = 1;
    }
    pass->stream(rows, bytes, from, to, to_stride.row, next);
}

/* The steps after op and act, from the buffer of what was made to out. */
static void finish(const struct ew_pass *pass, const struct ew_block *tile,
                   struct buffers *buffers, char *out, struct ew_stride to,
                   const struct ew_next next[2])
{
    char *made = buffers->made;
    unsigned size = pass->size[EW_OUT];
    if (pass->round) {
        unsigned rounded = pass->result_size;
        convert_result(pass->round, tile, made, size, buffers->rounded,
                       (struct ew_stride){tile->cols * rounded, rounded});
        made = buffers->rounded;
        size = rounded;
    }
    const struct ew_places *places = buffers->places[EW_OUT];
    if (pass->store && (pass->stream || places)) {
        int64_t stored = to.col;
        convert_result(pass->store, tile, made, size, buffers->stored,
                       (struct ew_stride){tile->cols * stored, stored});
        made = buffers->stored;
    } else if (pass->store)
        convert_result(pass->store, tile, made, size, out, to);
    if (places)
        ew_scatter(places, made, out);
    else if (pass->stream)
        stream(pass, tile, made, out, to, next);
}

/* One tile through the steps of the pass; plan.h has the picture. The tile is
   changed on the way, from operands to buffers. */
static void run_tile(const struct ew_pass *pass, struct ew_block *tile,
                     bool first, struct buffers *buffers)
{
    char *out = tile->data[EW_OUT];
    struct ew_stride out_stride = tile->stride[EW_OUT];
    struct ew_next next[2];
    int64_t size = pass->size[EW_OUT];
    bool buffered = pass->store || pass->stream || buffers->places[EW_OUT];
    for (int k = 0; k < 2; k++) {
        if (pass->stream)
            next[k] = after(pass, tile, k, out_stride.col);
        prepare(pass, tile, k, first, buffers);
    }
    if (pass->fold)
        fold(tile);
    if (buffered) {
        tile->data[EW_OUT] = buffers->made;
        tile->stride[EW_OUT] = (struct ew_stride){tile->cols * size, size};
    }
    tile->data[EW_AROUND] = (void *)&pass->around;
    pass->op(tile->rows, tile->cols, tile->data, tile->stride);
    if (pass->act)
        activate(pass, tile);
    if (buffered)
        finish(pass, tile, buffers, out, out_stride, next);
}

/* As many elements as fit the buffers at the widest type, or the cache if only
   an activation follows. What is only streamed has smaller tiles, for the next
   one to be read while this one is stored. */
static int64_t tile_elements(const struct ew_pass *pass)
{
    unsigned widest =
        ew_pass_widest(pass, pass->store && pass->stream ? OPERANDS : 2);
    int64_t alone = pass->act ? PIECE_BYTES : STREAM_BYTES;
    return (ew_pass_buffers(pass) ? EW_TILE_BYTES : alone) / widest;
}

/* Columns of a tile: all, or as many as fit; fewer where an input is turned,
   so that each of its lines is read for many rows. */
static int64_t tile_columns(const struct ew_pass *pass, int64_t cols)
{
    int64_t elements = tile_elements(pass);
    if (pass->turn && !pass->fold)
        elements /= pass->turn;
    return least(cols, elements);
}

/* Asks for the lines of an operand, whichever way it runs. Inlined, as
   compilers drop calls of functions that do nothing else. */
static inline __attribute__((always_inline)) void
fetch(const struct ew_pass *pass, const struct ew_block *tile, int k)
{
    struct ew_stride s = tile->stride[k];
    int64_t from = pass->stored[k], along = ew_magnitude(s.row);
    bool turned = s.col != from;
    int64_t step = turned ? s.col : s.row;
    int64_t lines = turned ? tile->cols : tile->rows;
    int64_t bytes = turned ? tile->rows * along : tile->cols * from;
    const char *line = tile->data[k];
    if (step == 0 || (turned && (along == 0 || along >= EW_LINE)))
        return;
    if (turned && s.row < 0)
        line += (tile->rows - 1) * s.row;
    for (int64_t i = 0; i < lines; i++, line += step)
        for (int64_t byte = 0; byte < bytes; byte += EW_LINE)
            __builtin_prefetch(line + byte);
}

/* The way through a block whose inputs are turned. */
struct way {
    const struct ew_block *block;
    int64_t rows, cols;    /* of a tile */
    int64_t first;         /* columns of the first ones */
    int64_t band;          /* rows gone down before the next columns */
    int64_t top, row, col; /* where the band and the next tile start */
};

/* The next tile, if there is one. */
static bool next_turned(struct way *way, struct ew_block *tile)
{
    const struct ew_block *block = way->block;
    int64_t cols = way->col ? way->cols : way->first;
    if (way->top >= block->rows)
        return false;
    cut(block, OPERANDS, way->row, way->col, way->rows, cols, tile);
    way->row += way->rows;
    if (way->row < least(way->top + way->band, block->rows))
        return true;
    way->row = way->top;
    way->col += cols;
    if (way->col < block->cols)
        return true;
    way->col = 0;
    way->row = way->top += way->band;
    return true;
}

/* Tiles start on a line of out if its rows do. Then they go down, along memory
   of what is turned, where processors read ahead. If they do not, tiles side by
   side share lines of out, and follow each other. */
static void start_turned(const struct ew_pass *pass, struct way *way,
                         const struct ew_block *block, int64_t rows,
                         int64_t cols)
{
    bool both = pass->pack[EW_X] && pass->pack[EW_Y];
    int64_t most = both ? BAND_ALONE : BAND_BYTES;
    struct ew_stride out = block->stride[EW_OUT];
    int64_t skew = (int64_t)((uintptr_t)block->data[EW_OUT] % EW_LINE);
    int64_t pitch = ew_magnitude(out.row);
    *way = (struct way){.block = block, .rows = rows, .cols = cols};
    way->first = skew / out.col < cols ? cols - skew / out.col : cols;
    way->band = rows;
    if (ew_strategy_goes_down(pitch) && pitch < most / rows)
        way->band = most / pitch / rows * rows;
}

/* A block where inputs are turned, in tiles that are about square. Where
   processors do not guess what is read next, the lines of the next tile are
   asked for while one is computed. */
static void run_turned(const struct ew_pass *pass, const struct ew_block *block,
                       int64_t rows, int64_t cols, struct buffers *buffers)
{
    struct ew_block tiles[2];
    struct way way;
    start_turned(pass, &way, block, rows, cols);
    bool more = next_turned(&way, &tiles[0]);
    for (int now = 0; more; now = !now) {
        struct ew_block *next = &tiles[!now];
        more = next_turned(&way, next);
        if (more && pass->ahead) {
            fetch(pass, next, EW_X);
            fetch(pass, next, EW_Y);
            if (!pass->stream && pass->op != pass->past)
                fetch(pass, next, EW_OUT);
        }
        run_tile(pass, &tiles[now], true, buffers);
    }
}

/* Rows of a tile: as many as fit, or a few less so that in dense operands, and
   along what is turned, each tile starts in a line where the first did. */
static int64_t tile_rows(const struct ew_pass *pass, int64_t cols)
{
    int64_t rows = tile_elements(pass) / cols;
    int64_t line = EW_LINE / ew_pass_widest(pass, 2);
    if (pass->turn && rows > line)
        return rows - rows % line;
    return rows > EW_LINE ? rows - rows % (EW_LINE / 4) : rows;
}

/* Cuts a block into tiles of rows x cols: pieces of a row if rows are long,
   else several whole rows at once. */
static void run_tiles(const struct ew_pass *pass, const struct ew_block *block,
                      int64_t rows, int64_t cols, struct buffers *buffers)
{
    struct ew_block tile;
    for (int64_t r = 0; r < block->rows; r += rows)
        for (int64_t c = 0; c < block->cols; c += cols) {
            cut(block, OPERANDS, r, c, rows, cols, &tile);
            run_tile(pass, &tile, r + c == 0, buffers);
        }
}

struct ew_block ew_block_start(const struct ew_loop *loop, int ndim,
                               int operands, void *const data[])
{
    static const struct ew_loop once = {.n = 1};
    const struct ew_loop *row = ndim > 1 ? &loop[1] : &once;
    const struct ew_loop *col = ndim > 0 ? &loop[0] : &once;
    struct ew_block block;
    block.rows = row->n;
    block.cols = col->n;
    for (int k = 0; k < operands; k++) {
        block.stride[k] = (struct ew_stride){row->stride[k], col->stride[k]};
        block.data[k] = data[k];
    }
    return block;
}

bool ew_loops_advance(const struct ew_loop *loop, int first, int ndim,
                      int operands, int64_t *index, void *data[])
{
    return advance(loop, first, ndim, operands, index, data);
}

void ew_execute_calls(const struct ew_loop *loop, int ndim, ew_kernel *op,
                      const struct ew_around *around, void *const data[])
{
    int64_t index[ELEMENTWISE_MAX_NDIM];
    struct ew_stride stride[OPERANDS];
    void *at[EW_AROUND + 1];
    at[EW_AROUND] = (void *)around;
    for (int k = 0; k < OPERANDS; k++) {
        at[k] = data[k];
        stride[k].col = ndim > 0 ? loop[0].stride[k] : 0;
        stride[k].row = ndim > 1 ? loop[1].stride[k] : 0;
    }
    for (int d = 2; d < ndim; d++)
        index[d] = 0;
    do
        op(ndim > 1 ? loop[1].n : 1, ndim > 0 ? loop[0].n : 1, at, stride);
    while (advance(loop, 2, ndim, OPERANDS, index, at));
}

/* Tiles of one block after the other. */
static void run_blocks(const struct ew_loop *loop, int ndim,
                       const struct ew_pass *pass, void *const data[])
{
    struct ew_block block = ew_block_start(loop, ndim, OPERANDS, data);
    struct buffers buffers;
    int64_t cols = tile_columns(pass, block.cols), rows = tile_rows(pass, cols);
    int64_t index[ELEMENTWISE_MAX_NDIM];
    for (int k = 0; k < OPERANDS; k++)
        buffers.places[k] = NULL;
    for (int d = 2; d < ndim; d++)
        index[d] = 0;
    do
        if (pass->turn && !pass->fold)
            run_turned(pass, &block, rows, cols, &buffers);
        else
            run_tiles(pass, &block, rows, cols, &buffers);
    while (advance(loop, 2, ndim, OPERANDS, index, block.data));
}

/* A nest cut into tiles of several loops: those of a tile, and those that step
   from tile to tile, of which loop d of the tile is at `place[d]`. */
struct deep {
    const struct ew_pass *pass;
    const struct ew_loop *loop; /* what is cut, */
    int ndim;                   /* so many loops */
    struct ew_loop tile[EW_DEEP_LOOPS], step[EW_DEEP_NDIM];
    int place[EW_DEEP_NDIM];
    struct ew_places places[OPERANDS];
    struct ew_lines lines[OPERANDS];
    struct buffers buffers;
};

/* What stage.c keeps is beside it, and the rest of the call takes up to 40 KiB
   of the 128 that some systems give a thread. */
_Static_assert(sizeof(struct deep) + EW_STAGE_DEEP <= 80 << 10,
               "too much for the stack");

/* How operand k lies in a tile, seen as one row: it stands still, is dense, or
   has places, from which or to which it goes through a buffer. */
static struct ew_stride deep_stride(struct deep *deep, int k)
{
    const struct ew_pass *pass = deep->pass;
    struct ew_places *places = &deep->places[k];
    bool moves = k == EW_OUT;
    for (int d = 0; d < pass->deep; d++)
        moves |= deep->tile[d].stride[k] != 0;
    if (moves)
        ew_places_make(places, deep->tile, pass->deep, k, pass->stored[k]);
    bool dense = moves && places->runs == 1 && places->copies == 1;
    deep->lines[k].n = 0;
    if (moves && !dense)
        ew_lines_make(&deep->lines[k], deep->tile, pass->deep, k,
                      pass->stored[k]);
    deep->buffers.places[k] = moves && !dense ? places : NULL;
    return (struct ew_stride){0, dense || k == EW_OUT ? pass->stored[k] : 0};
}

/* How soon a loop has to come round, small numbers first. Lines of out that
   tiles share are stored in parts, so the next part is to follow soon; those of
   a large input are to be still there when they are read again. */
static int64_t urgency(const struct ew_loop *loop, const bool large[2])
{
    bool shares[OPERANDS];
    for (int k = 0; k < OPERANDS; k++) {
        int64_t step = ew_magnitude(loop->stride[k]);
        shares[k] = step != 0 && step <= EW_LINE;
    }
    if (shares[EW_OUT])
        return 0;
    bool input = (shares[EW_X] && large[EW_X]) || (shares[EW_Y] && large[EW_Y]);
    return input ? loop->n : INT64_MAX;
}

/* Sorts the loops from tile to tile by that. */
static void share_soon(struct deep *deep, const bool large[2])
{
    int of[EW_DEEP_NDIM];
    for (int i = 0; i < deep->ndim; i++) {
        struct ew_loop moved = deep->step[i];
        int j = i;
        for (; j > 0 &&
               urgency(&moved, large) < urgency(&deep->step[j - 1], large);
             j--) {
            deep->step[j] = deep->step[j - 1];
            of[j] = of[j - 1];
        }
        deep->step[j] = moved;
        of[j] = i;
    }
    for (int i = 0; i < deep->ndim; i++)
        deep->place[of[i]] = i;
}

/* The loops from tile to tile, as many whole tiles as there are. */
static void make_steps(struct deep *deep)
{
    const struct ew_pass *pass = deep->pass;
    for (int d = 0; d < deep->ndim; d++) {
        int64_t extent = d < pass->deep ? pass->extent[d] : 1;
        struct ew_loop *step = &deep->step[d];
        step->n = deep->loop[d].n / extent;
        for (int k = 0; k < OPERANDS; k++)
            step->stride[k] = extent * deep->loop[d].stride[k];
        deep->place[d] = d;
    }
    if (pass->large[EW_X] || pass->large[EW_Y])
        share_soon(deep, pass->large);
}

/* All tiles of the same extents. */
static void run_equal(struct deep *deep, void *const data[])
{
    const struct ew_pass *pass = deep->pass;
    int64_t index[EW_DEEP_NDIM];
    struct ew_block block = {.rows = 1, .cols = 1}, tile;
    for (int d = 0; d < pass->deep; d++)
        block.cols *= deep->tile[d].n;
    deep->buffers.gathered[EW_X] = deep->buffers.gathered[EW_Y] = false;
    for (int k = 0; k < OPERANDS; k++) {
        block.stride[k] = deep_stride(deep, k);
        block.data[k] = data[k];
    }
    for (int d = 0; d < deep->ndim; d++)
        index[d] = 0;
    for (bool more = true; more;) {
        tile = block;
        more = advance(deep->step, 0, deep->ndim, OPERANDS, index, block.data);
        for (int k = 0; k < OPERANDS && more; k++)
            ew_lines_fetch(&deep->lines[k], block.data[k], k == EW_OUT);
        const void *const was[] = {tile.data[EW_X], tile.data[EW_Y]};
        run_tile(pass, &tile, true, &deep->buffers);
        for (int k = 0; k < 2; k++)
            deep->buffers.gathered[k] = block.data[k] == was[k];
    }
}

/* Loops from d on are still to be cut, into as many whole extents as there
   are and a rest, which is one step. */
static void run_cut(struct deep *deep, int d, void *const data[])
{
    const struct ew_pass *pass = deep->pass;
    if (d == pass->deep) {
        run_equal(deep, data);
        return;
    }
    const struct ew_loop *loop = &deep->loop[d];
    int64_t extent = pass->extent[d], pieces = loop->n / extent;
    struct ew_loop *step = &deep->step[deep->place[d]];
    void *rest[OPERANDS];
    for (int k = 0; k < OPERANDS; k++)
        rest[k] = moved(data[k], pieces * extent * loop->stride[k]);
    deep->tile[d] = *loop;
    deep->tile[d].n = extent;
    step->n = pieces;
    run_cut(deep, d + 1, data);
    deep->tile[d].n = loop->n % extent;
    step->n = 1;
    if (deep->tile[d].n)
        run_cut(deep, d + 1, rest);
}

static void run_deep(const struct ew_loop *loop, int ndim,
                     const struct ew_pass *pass, void *const data[])
{
    struct deep deep;
    deep.pass = pass;
    deep.loop = loop;
    deep.ndim = ndim;
    make_steps(&deep);
    run_cut(&deep, 0, data);
}

static void run_pass(const struct ew_loop *loop, int ndim,
                     const struct ew_pass *pass, void *const data[])
{
    if (pass->deep)
        run_deep(loop, ndim, pass, data);
    else if (ew_pass_tiles(pass))
        run_blocks(loop, ndim, pass, data);
    else
        ew_execute_calls(loop, ndim, pass->op, &pass->around, data);
}

/* In place out's lines are read, so they are in the caches anyway. A kernel
   that makes the last steps stores what it makes itself. Other threads see what
   was stored past the caches in order from the fence on. */
static void run_streaming(const struct ew_loop *loop, int ndim,
                          const struct ew_pass *pass, void *const data[])
{
    struct ew_pass run = *pass;
    bool in_place = data[EW_OUT] == data[EW_X] || data[EW_OUT] == data[EW_Y];
    bool by_kernel = run.past && !run.store && (!run.act || run.behind);
    if (in_place || by_kernel)
        run.stream = NULL;
    if (!in_place && by_kernel) {
        if (run.act)
            run.around.op = run.op;
        run.op = run.act ? run.behind : run.past;
        run.past = run.op;
        run.act = NULL;
        run.around.past = true;
    }
    run_pass(loop, ndim, &run, data);
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

void ew_execute(const struct ew_loop *loop, int ndim,
                const struct ew_pass *pass, void *const data[])
{
    if (pass->stream)
        run_streaming(loop, ndim, pass, data);
    else
        run_pass(loop, ndim, pass, data);
}
