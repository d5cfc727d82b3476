/*
 * Turns a loop nest and a pass into calls of kernels. The two innermost loops
 * are the kernel's rows and columns; the loops around them are counted here
 * like the digits of a number. Where a pass converts or packs, rows and
 * columns are cut into tiles, which steps.c runs in small buffers.
 */
#include "execute.h"

#include <stddef.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "cpu.h"
#include "deep.h"
#include "steps.h"
#include "strategy.h"

enum {
    REPEATED_WIDE = 8,   /* bytes of elements that fill half a buffer */
    STREAM_BYTES = 2048, /* where there is but the buffer of what is made, */
    STREAM_SLOW = 1024,  /* of slow operations, as may be under way at a time */
    PIECE_BYTES = 4096,  /* of out, where only an activation follows */
    ENDING_ROWS = 8,     /* of a tile whose rows are streamed and share lines */
    /* Bytes of out that tiles go down through: more are on more pages than a
       processor knows, those of the other input among them; or else of out
       alone. */
    BAND_BYTES = 4 << 20,
    BAND_ALONE = 16 << 20,
    /* Bytes of lines that such tiles share with the next ones to their right,
       which are to find them in the L2 cache. Of larger elements a tile's
       columns are whole lines of what is turned: they go on to the right,
       unless what they need is asked for. */
    BAND_SHARED = 256 << 10,
    BAND_ELEMENT = 4,
    L1_WAY = 4096,   /* bytes from a line to the next one of its places */
    AGAIN_STEPS = 16 /* of a tile at one place, for the same reason */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The part of a block from a row and a column on, made in place and of pointers
   read one by one: a copy would read in one what was just stored in two, and
   processors wait until all stores before it, to out, are done. */
static inline void cut(const struct ew_block *block, int64_t row, int64_t col,
                       int64_t rows, int64_t cols, struct ew_block *tile)
{
    tile->rows = least(rows, block->rows - row);
    tile->cols = least(cols, block->cols - col);
    for (int k = 0; k < EW_FORWARD; k++) {
        struct ew_stride s = block->stride[k];
        void *data = *(void *const volatile *)&block->data[k];
        tile->stride[k] = s;
        tile->data[k] = ew_moved(data, row * s.row + col * s.col);
    }
}

/* As many elements as fit the buffers at the widest type, or the cache if only
   an activation follows. What is only streamed has smaller tiles, for the next
   one to be read while this one is stored, unless they are read again, and so
   has what is asked for two tiles ahead. */
static int64_t tile_elements(const struct ew_pass *pass)
{
    unsigned widest =
        ew_pass_widest(pass, pass->store && pass->stream ? EW_FORWARD : 2);
    bool waits = pass->slow && !ew_cpu_is(EW_QUICK_STORES);
    int64_t alone = pass->act ? PIECE_BYTES
                    : waits   ? STREAM_SLOW
                              : STREAM_BYTES;
    bool large = ew_pass_buffers(pass) || pass->again;
    if (pass->distant && !pass->turn)
        return STREAM_BYTES / widest;
    if (ew_pass_has_small_tiles(pass) && !pass->again)
        return EW_TILE_BYTES / 2 / widest;
    return (large ? EW_TILE_BYTES : alone) / widest;
}

/* Rows of a tile of turned inputs: fewer of those that are streamed and end
   within lines, as parts of them would have as many such ends more. */
static int64_t turned_rows(const struct ew_pass *pass,
                           const struct ew_block *block)
{
    bool ends = pass->stream && block->stride[EW_OUT].row % EW_LINE != 0;
    return least(ends ? least(ENDING_ROWS, pass->turn) : pass->turn,
                 block->rows);
}

/* Columns of a tile: all, or as many as fit; fewer where an input is turned,
   so that each of its lines is read for many rows, and then whole lines of
   out. */
static int64_t tile_columns(const struct ew_pass *pass,
                            const struct ew_block *block)
{
    int64_t elements = tile_elements(pass);
    if (pass->turn && !pass->fold) {
        int64_t line = EW_LINE / pass->stored[EW_OUT];
        elements /= turned_rows(pass, block);
        if (elements > line)
            elements -= elements % line;
    }
    return least(block->cols, elements);
}

/* The lines of a tile in an input: of columns where it is turned, else of rows;
   none of one beside it that has gaps. */
static struct ew_ahead lines_of(const struct ew_pass *pass,
                                const struct ew_block *tile, int k)
{
    struct ew_stride s = tile->stride[k];
    int64_t row = ew_magnitude(s.row), col = ew_magnitude(s.col);
    int64_t size = pass->stored[k];
    bool turned = pass->turn && s.col != size;
    struct ew_ahead lines = {.at = tile->data[k]};
    if (turned) {
        lines.pieces = row && row < EW_LINE ? tile->cols : 0;
        lines.step = s.col;
        lines.bytes = (tile->rows - 1) * row + size;
        lines.at += s.row < 0 ? (tile->rows - 1) * s.row : 0;
    } else {
        lines.pieces = s.row ? tile->rows : 1;
        lines.step = s.row;
        lines.bytes = (tile->cols - 1) * col + size;
        lines.at += s.col < 0 ? (tile->cols - 1) * s.col : 0;
    }
    lines.crowded =
        pass->distant && pass->turn &&
        (lines.step % L1_WAY == 0 || ew_pass_widest(pass, 2) < EW_TURNED_WIDE);
    return lines;
}

/* A loop around a block where there is none. */
static const struct ew_loop once = {.n = 1};

/* The way through a block, tile by tile. */
struct way {
    const struct ew_block *block;
    const struct ew_loop *again; /* the steps of a tile at each place */
    int64_t rows, cols;          /* of a tile */
    int64_t first;               /* columns of the first ones */
    int64_t band;                /* rows gone down before the next columns */
    int64_t top, row, col, step; /* where the band and the next tile start */
};

/* The next tile, if there is one. */
static bool next_tile(struct way *way, struct ew_block *tile)
{
    const struct ew_block *block = way->block;
    int64_t cols = way->col ? way->cols : way->first;
    if (way->top >= block->rows)
        return false;
    cut(block, way->row, way->col, way->rows, cols, tile);
    for (int k = 0; k < EW_FORWARD && way->step; k++)
        tile->data[k] =
            ew_moved(tile->data[k], way->step * way->again->stride[k]);
    if (++way->step < way->again->n)
        return true;
    way->step = 0;
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

/* Elements of out by which it starts behind a line, if elements do. */
static int64_t behind_line(const void *start, struct ew_stride out)
{
    return (int64_t)((uintptr_t)start % EW_LINE) / out.col;
}

/* Tiles start on a line of out if its rows do. Then they go down, along memory
   of what is turned, where processors read ahead. If they do not, tiles side by
   side share lines of out, and go down as far as these stay near. */
static void go_down(const struct ew_pass *pass, struct way *way)
{
    bool both = pass->pack[EW_X] && pass->pack[EW_Y];
    int64_t most = both ? BAND_ALONE : BAND_BYTES;
    struct ew_stride out = way->block->stride[EW_OUT];
    int64_t skew = behind_line(way->block->data[EW_OUT], out);
    int64_t pitch = ew_magnitude(out.row);
    if (skew < way->cols)
        way->first -= skew;
    if (!ew_strategy_goes_down(pitch)) {
        pitch = way->cols * out.col + 2 * EW_LINE;
        bool shares = pass->distant || ew_pass_widest(pass, 2) <= BAND_ELEMENT;
        most = shares ? BAND_SHARED : 0;
    }
    if (pitch < most / way->rows)
        way->band = most / pitch / way->rows * way->rows;
}

/* Asks for what of a tile that comes processors do not guess, unless it is
   kept: at once, or while this one is packed. */
static void ask(const struct ew_pass *pass, const struct ew_block *next,
                const bool kept[2], struct ew_ahead ahead[2])
{
    for (int k = 0; k < 2; k++) {
        ahead[k] = (struct ew_ahead){0};
        if (pass->ahead[k] && !kept[k])
            ahead[k] = lines_of(pass, next, k);
        if (!pass->distant)
            ew_ahead_ask(&ahead[k], INT64_MAX);
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

/* Whether a tile needs of input k what the one before did, or less rows. */
static bool keeps(const struct ew_block *tile, const struct ew_block *next,
                  int k)
{
    return next->data[k] == tile->data[k] && next->cols == tile->cols &&
           next->rows <= tile->rows;
}

/* Cuts a block into tiles of rows x cols: pieces of a row if rows are long,
   else several whole rows at once; where inputs are turned, so many columns as
   leave room for their rows. Each goes along a loop around the block before the
   next. Where processors do not guess what is read next, the lines of the next
   tile are asked for while one is computed. */
static void run_block(const struct ew_pass *pass, const struct ew_block *block,
                      const struct ew_loop *again, int64_t rows, int64_t cols,
                      struct ew_buffers *buffers)
{
    struct way way = {block, again, rows, cols, cols, rows, 0, 0, 0, 0};
    struct ew_block tiles[2];
    struct ew_ahead ahead[2];
    if (pass->turn && !pass->fold)
        go_down(pass, &way);
    buffers->kept[EW_X] = buffers->kept[EW_Y] = false;
    bool more = next_tile(&way, &tiles[0]);
    for (int now = 0; more; now = !now) {
        struct ew_block *tile = &tiles[now], *next = &tiles[!now];
        more = next_tile(&way, next);
        bool kept[] = {more && keeps(tile, next, EW_X),
                       more && keeps(tile, next, EW_Y)};
        if (more)
            ask(pass, next, kept, ahead);
        buffers->ahead = more && pass->distant ? ahead : NULL;
        ew_steps_run(pass, tile, buffers);
        buffers->kept[EW_X] = kept[EW_X];
        buffers->kept[EW_Y] = kept[EW_Y];
    }
}

/* The same for all steps of a loop along which an input is kept, some at a
   time. */
static void run_again(const struct ew_pass *pass, const struct ew_block *block,
                      const struct ew_loop *loop, int64_t rows, int64_t cols,
                      struct ew_buffers *buffers)
{
    struct ew_block start = *block;
    struct ew_loop some = *loop;
    for (int64_t left = loop->n; left > 0; left -= some.n) {
        some.n = least(AGAIN_STEPS, left);
        run_block(pass, &start, &some, rows, cols, buffers);
        for (int k = 0; k < EW_FORWARD; k++)
            start.data[k] = ew_moved(start.data[k], some.n * loop->stride[k]);
    }
}

struct ew_block ew_block_start(const struct ew_loop *loop, int ndim,
                               int operands, void *const data[])
{
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

/* Calls of a kernel along a loop. Calls on a few elements are mostly what is
   around the kernel, so what moves is in registers. */
static inline void call_along(const struct ew_loop *loop,
                              const struct ew_loop *row,
                              const struct ew_loop *col, ew_kernel *op,
                              const struct ew_around *around,
                              void *const data[])
{
    struct ew_stride stride[EW_FORWARD];
    void *x = data[EW_X], *y = data[EW_Y], *out = data[EW_OUT];
    for (int k = 0; k < EW_FORWARD; k++)
        stride[k] = (struct ew_stride){row->stride[k], col->stride[k]};
    for (int64_t left = loop->n;;) {
        void *const at[] = {x, y, out, (void *)around};
        op(row->n, col->n, at, stride);
        if (--left == 0)
            return;
        x = ew_moved(x, loop->stride[EW_X]);
        y = ew_moved(y, loop->stride[EW_Y]);
        out = ew_moved(out, loop->stride[EW_OUT]);
    }
}

/* The same with so many steps of the loop as rows of a call, and calls along
   the rows. */
static void call_across(const struct ew_loop *loop, const struct ew_loop *row,
                        const struct ew_loop *col, ew_kernel *op,
                        const struct ew_around *around, int across,
                        void *const data[])
{
    void *start[] = {data[EW_X], data[EW_Y], data[EW_OUT]};
    struct ew_loop some = *loop;
    for (int64_t left = loop->n; left > 0; left -= some.n) {
        some.n = least(across, left);
        call_along(row, &some, col, op, around, start);
        for (int k = 0; k < EW_FORWARD; k++)
            start[k] = ew_moved(start[k], some.n * loop->stride[k]);
    }
}

/* The elements of a line before those at which all inputs that move along it
   start on a line of memory, or out if it moves further, as wider elements do;
   0: there are none such. */
static int64_t head_of(const struct ew_loop *line, void *const data[])
{
    int64_t head = -1, out = line->stride[EW_OUT];
    bool further = out > line->stride[EW_X] && out > line->stride[EW_Y];
    int first = further ? EW_OUT : EW_X, end = further ? EW_FORWARD : EW_OUT;
    for (int k = first; k < end; k++) {
        int64_t step = line->stride[k];
        int64_t before = (int64_t)(-(uintptr_t)data[k] % EW_LINE);
        if (step == 0)
            continue;
        if (step < 0 || before % step != 0 ||
            (head >= 0 && head != before / step))
            return 0;
        head = before / step;
    }
    return head < line->n ? head : 0;
}

void ew_execute_line(const struct ew_loop *line, ew_kernel *op,
                     const struct ew_around *around, void *const data[])
{
    struct ew_loop part = *line;
    void *start[] = {data[EW_X], data[EW_Y], data[EW_OUT]};
    part.n = head_of(line, data);
    if (part.n > 0)
        call_along(&once, &once, &part, op, around, start);
    for (int k = 0; k < EW_FORWARD; k++)
        start[k] = ew_moved(start[k], part.n * line->stride[k]);
    part.n = line->n - part.n;
    call_along(&once, &once, &part, op, around, start);
}

void ew_execute_calls(const struct ew_loop *loop, int ndim, ew_kernel *op,
                      const struct ew_around *around, int across,
                      void *const data[])
{
    if (ndim == 1 && ew_execute_is_long(loop[0].n, loop[0].stride[EW_X],
                                        loop[0].stride[EW_Y])) {
        ew_execute_line(loop, op, around, data);
        return;
    }
    const struct ew_loop *col = ndim > 0 ? &loop[0] : &once;
    const struct ew_loop *row = ndim > 1 ? &loop[1] : &once;
    int64_t index[ELEMENTWISE_MAX_NDIM];
    void *start[] = {data[EW_X], data[EW_Y], data[EW_OUT]};
    for (int d = 3; d < ndim; d++)
        index[d] = 0;
    do
        if (across)
            call_across(&loop[2], row, col, op, around, across, start);
        else
            call_along(ndim > 2 ? &loop[2] : &once, row, col, op, around,
                       start);
    while (ew_loops_advance(loop, 3, ndim, EW_FORWARD, index, start));
}

/* Calls on a block whose rows share one of input k. Of wide elements half the
   buffer is used: x and out may just fill the L1 cache beside it. Not inlined,
   as tiles have no use for its buffer on the stack. */
static __attribute__((noinline)) void
call_repeated(const struct ew_loop *row, const struct ew_loop *col,
              ew_kernel *op, const struct ew_around *around, int k,
              void *const data[])
{
    _Alignas(EW_LINE) char buffer[EW_REPEATED_BUFFER];
    void *start[] = {data[EW_X], data[EW_Y], data[EW_OUT]};
    const int64_t bytes = col->n * col->stride[k];
    const int64_t most = col->stride[k] < REPEATED_WIDE
                             ? EW_REPEATED_BUFFER
                             : EW_REPEATED_BUFFER / 2;
    const int64_t some = least(most / bytes, row->n);
    struct ew_loop rows = *row, cols = *col;
    memcpy(buffer, data[k], (size_t)bytes);
    ew_steps_repeat(buffer, bytes, some * bytes);
    start[k] = buffer;
    rows.n = row->n / some;
    cols.n = col->n * some;
    for (int i = 0; i < EW_FORWARD; i++)
        rows.stride[i] *= some;
    call_along(&once, &rows, &cols, op, around, start);
    for (int i = 0; i < EW_FORWARD; i++)
        start[i] = ew_moved(start[i], rows.n * rows.stride[i]);
    cols.n = row->n % some * col->n;
    if (cols.n > 0)
        call_along(&once, &once, &cols, op, around, start);
}

void ew_execute_repeated(const struct ew_loop *loop, int ndim, ew_kernel *op,
                         const struct ew_around *around, int k,
                         void *const data[])
{
    int64_t index[ELEMENTWISE_MAX_NDIM];
    void *start[] = {data[EW_X], data[EW_Y], data[EW_OUT]};
    for (int d = 2; d < ndim; d++)
        index[d] = 0;
    do
        call_repeated(&loop[1], &loop[0], op, around, k, start);
    while (ew_loops_advance(loop, 2, ndim, EW_FORWARD, index, start));
}

/* Whether all tiles of a block, if they have so many columns, need the same of
   input k. */
static bool is_same(const struct ew_block *block, int64_t cols, int k)
{
    struct ew_stride s = block->stride[k];
    return s.row == 0 && (s.col == 0 || block->cols <= cols);
}

/* A block that is one tile. */
static void run_tile(const struct ew_pass *pass, const struct ew_block *block,
                     struct ew_buffers *buffers)
{
    struct ew_block tile;
    cut(block, 0, 0, block->rows, block->cols, &tile);
    ew_steps_run(pass, &tile, buffers);
}

/* Columns of the first tile in a row: pieces of rows that are streamed end
   where lines of out do, if elements do, but for the last one. */
static int64_t first_columns(const struct ew_pass *pass,
                             const struct ew_block *block, int64_t row,
                             int64_t cols)
{
    const struct ew_stride out = block->stride[EW_OUT];
    if (!pass->stream || cols >= block->cols || cols * out.col <= EW_LINE)
        return cols;
    return cols -
           behind_line(ew_moved(block->data[EW_OUT], row * out.row), out);
}

/* The next tile of such a way, which starts in the same columns. */
static bool later_tile(const struct ew_pass *pass, struct way *way,
                       struct ew_block *tile)
{
    if (way->col == 0)
        way->first = first_columns(pass, way->block, way->row, way->cols);
    return next_tile(way, tile);
}

/* One where nothing is turned, row by row. Stores past the caches fill the
   queue of stores, so few are made between tiles. Of inputs that are distant,
   whose tiles are small, what comes two tiles later is asked for. Not inlined,
   as it takes registers from the loop over blocks. */
static __attribute__((noinline)) void run_tiles(const struct ew_pass *pass,
                                                const struct ew_block *block,
                                                int64_t rows, int64_t cols,
                                                struct ew_buffers *buffers)
{
    static const bool none[2];
    bool x = is_same(block, cols, EW_X), y = is_same(block, cols, EW_Y);
    struct way far = {block, &once, rows, cols, cols, rows, 0, 0, 0, 0};
    struct ew_block tile, later;
    struct ew_ahead ahead[2];
    bool more = pass->distant && later_tile(pass, &far, &later);
    more = more && later_tile(pass, &far, &later);
    for (int64_t r = 0; r < block->rows; r += rows) {
        int64_t n = first_columns(pass, block, r, cols);
        for (int64_t c = 0; c < block->cols; c += n, n = cols) {
            cut(block, r, c, rows, n, &tile);
            more = more && later_tile(pass, &far, &later);
            if (more)
                ask(pass, &later, none, ahead);
            buffers->ahead = more ? ahead : NULL;
            buffers->kept[EW_X] = x && r + c > 0;
            buffers->kept[EW_Y] = y && r + c > 0;
            ew_steps_run(pass, &tile, buffers);
        }
    }
}

/* Tiles of one block after the other. Not inlined, as tiles of several loops
   have no use for its buffers on the stack. */
static __attribute__((noinline)) void run_blocks(const struct ew_loop *loop,
                                                 int ndim,
                                                 const struct ew_pass *pass,
                                                 void *const data[])
{
    struct ew_block block = ew_block_start(loop, ndim, EW_FORWARD, data);
    struct ew_buffers buffers;
    int outer = pass->again ? pass->again + 1 : 2;
    int64_t index[ELEMENTWISE_MAX_NDIM];
    if (pass->again == 1)
        block.rows = 1;
    int64_t cols = tile_columns(pass, &block), rows = tile_rows(pass, cols);
    bool whole = block.rows <= rows && block.cols <= cols;
    bool turned = pass->turn && !pass->fold;
    buffers.kept[EW_X] = buffers.kept[EW_Y] = false;
    buffers.ahead = NULL;
    for (int k = 0; k < EW_FORWARD; k++)
        buffers.places[k] = NULL;
    for (int d = outer; d < ndim; d++)
        index[d] = 0;
    do
        if (pass->again)
            run_again(pass, &block, &loop[pass->again], rows, cols, &buffers);
        else if (whole)
            run_tile(pass, &block, &buffers);
        else if (turned)
            run_block(pass, &block, &once, rows, cols, &buffers);
        else
            run_tiles(pass, &block, rows, cols, &buffers);
    while (ew_loops_advance(loop, outer, ndim, EW_FORWARD, index, block.data));
}

static void run_pass(const struct ew_loop *loop, int ndim,
                     const struct ew_pass *pass, void *const data[])
{
    if (pass->deep)
        ew_deep_run(loop, ndim, pass, data);
    else if (ew_pass_tiles(pass))
        run_blocks(loop, ndim, pass, data);
    else if (pass->repeats)
        ew_execute_repeated(loop, ndim, pass->op, &pass->around,
                            pass->repeats - 1, data);
    else
        ew_execute_calls(loop, ndim, pass->op, &pass->around, pass->across,
                         data);
}

/* Whether one input is out, and the other one stands still: then the kernel
   that stores past the caches is quicker, as it reads far ahead. On AVX-512
   those of elements of 4 and 8 bytes store as usual in place. */
static bool is_read_alone(const struct ew_loop *loop, int ndim,
                          const struct ew_pass *pass, void *const data[])
{
    int other = data[EW_OUT] == data[EW_X] ? EW_Y : EW_X;
    bool stays =
        loop[0].stride[other] == 0 || (ndim > 1 && loop[1].stride[other] == 0);
    return stays && pass->past && pass->stored[EW_OUT] >= 4 &&
           !ew_pass_tiles(pass) && ew_cpu_is(EW_FAR_READS) &&
           ew_cpu_level() >= EW_LEVEL_AVX512;
}

/* Whether rows are so short that their ends, which a kernel makes one by one,
   take longer than the lines between, as out starts within a line. */
static bool has_ends(const struct ew_loop *loop, int ndim,
                     const struct ew_pass *pass, const void *out)
{
    return (uintptr_t)out % EW_LINE != 0 && ndim > 1 && !pass->fold &&
           !pass->deep && !pass->turn &&
           loop[0].n * loop[0].stride[EW_OUT] < EW_STREAM_ENDS;
}

/* In place out's lines are read, so they are in the caches anyway. Short rows
   are streamed only as whole lines. A kernel that makes the last steps stores
   what it makes itself, but for an activation behind turned inputs, whose tiles
   have short rows. Other threads see what was stored past the caches in
   order from the fence on. */
static void run_streaming(const struct ew_loop *loop, int ndim,
                          const struct ew_pass *pass, void *const data[])
{
    struct ew_pass run = *pass;
    bool in_place = data[EW_OUT] == data[EW_X] || data[EW_OUT] == data[EW_Y];
    bool parts = run.lines && (uintptr_t)data[EW_OUT] % EW_LINE != 0;
    bool never = in_place || parts;
    bool by_kernel = run.past && !run.store &&
                     (!run.act || (run.behind && !run.turn)) &&
                     !has_ends(loop, ndim, pass, data[EW_OUT]);
    if (never || by_kernel)
        run.stream = NULL;
    if (in_place && is_read_alone(loop, ndim, &run, data))
        run.op = run.past;
    if (!never && by_kernel) {
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
