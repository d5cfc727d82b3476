/*
 * Turns a block, the two inner loops of a walk, into tiles, and what a tile has
 * of each input into what is stored of each output, or added to its sums:
 *
 *     x, y, dout -> dense tiles of one type
 *                -> derivative -> dx
 *                -> derivative -> accumulators
 *
 * A block that needs no buffers is one call of a kernel.
 */
#include "walk.h"

#include "strategy.h"
#include "table.h"

enum {
    SHORT_ROW = 16, /* elements */
    /* Bytes of a row with a part of a line at its ends from which what is
       stored goes past the caches. Measured. */
    STREAM_ROW = 16384,
    /* Tiles in one where these need no buffers, and of one output. */
    UNBUFFERED = 2,
    UNBUFFERED_ALONE = 64
};

/* Whether some operands, as bits, have rows that follow one another. */
static bool is_one_row(const struct ew_block *b, unsigned operands)
{
    bool joined = true;
    for (int k = 0; k < EW_OPERANDS && b->rows > 1; k++)
        if (operands >> k & 1)
            joined &= ew_stride_joins(b->stride[k], b->cols);
    return joined;
}

/* Whether input k, x or y, may stand still in the rows of a tile: in a fused
   pass the operand of the sum, else one of the two. */
static bool may_stand(const struct ew_walk *w, const struct ew_block *tile,
                      int k)
{
    if (w->fused)
        return w->lanes && k == ew_walk_reduced(w)->out - EW_DX;
    return k == EW_Y || (k == EW_X && tile->stride[EW_Y].col != 0);
}

/* Whether the rows of a tile must follow one another. Short rows should: each
   costs more to start than to compute. */
static bool is_whole(const struct ew_gradient *g, const struct ew_walk *w,
                     const struct ew_block *tile)
{
    bool derives = w->terms > 1 || w->term[0]->derive || w->term[0]->product;
    return g->whole ||
           (derives && !w->fused && tile->rows > 1 && tile->cols < SHORT_ROW);
}

/* Whether input k of a tile is what derivatives take: elements of the type of
   the computation, dense in each row or standing still. */
static bool fits(const struct ew_gradient *g, const struct ew_walk *w,
                 const struct ew_block *tile, int k)
{
    int64_t size = (int64_t)ew_types_size(g->compute);
    if (g->dtype[k] && g->dtype[k] != g->compute)
        return false;
    if (is_whole(g, w, tile))
        return tile->stride[k].col == size && is_one_row(tile, 1u << k);
    return tile->stride[k].col == size ||
           (tile->stride[k].col == 0 && may_stand(w, tile, k));
}

/* Whether rows of elements of that size are taken as they are by kernels that
   convert: these have vectors for dense rows alone, and for short ones it takes
   less to move them together. */
static bool is_long(struct ew_stride s, int64_t rows, int64_t cols,
                    int64_t size)
{
    return s.col == size &&
           (rows == 1 || s.row == cols * size || cols * size >= EW_SHORT_TILED);
}

/* Takes input k of a tile to a buffer, where it fits. */
static void bring(const struct ew_gradient *g, const struct ew_walk *w,
                  struct ew_block *tile, int k, char *buffer, char *packed)
{
    const int64_t size = (int64_t)ew_types_size(g->compute);
    struct ew_stride s = tile->stride[k];
    bool stands = !is_whole(g, w, tile) && s.col == 0 && may_stand(w, tile, k);
    const int64_t rows = tile->rows, cols = stands ? 1 : tile->cols;
    void *data[] = {tile->data[k], NULL, packed};
    if (g->dtype[k] && g->dtype[k] != g->compute) {
        const int64_t stored = (int64_t)ew_types_size(g->dtype[k]);
        const struct ew_stride dense = {cols * stored, stored};
        if (!is_long(s, rows, cols, stored)) {
            ew_table_move(g->level, g->dtype[k])(
                rows, cols, data, (struct ew_stride[]){s, {0, 0}, dense});
            data[EW_X] = packed;
            s = dense;
        }
    }
    bool joins = ew_stride_joins(s, cols);
    data[EW_OUT] = buffer;
    g->load[k](joins ? 1 : rows, joins ? rows * cols : cols, data,
               (struct ew_stride[]){s, {0, 0}, {cols * size, size}});
    tile->data[k] = buffer;
    tile->stride[k] = (struct ew_stride){cols * size, stands ? 0 : size};
}

/* All inputs that are used. */
static void bring_all(const struct ew_gradient *g, const struct ew_walk *w,
                      struct ew_walk_room *room)
{
    const struct ew_block *tile = &room->tile;
    struct ew_block *inner = &room->inner;
    inner->rows = tile->rows;
    inner->cols = tile->cols;
    for (int i = 0; i < w->operands; i++) {
        int k = w->operand[i];
        inner->data[k] = tile->data[k];
        inner->stride[k] = tile->stride[k];
    }
    for (int i = 0; i < w->operands; i++) {
        int k = w->operand[i];
        if (k < EW_WALK_INPUTS && !fits(g, w, inner, k))
            bring(g, w, inner, k, room->in[k], ew_walk_packed(w, room));
    }
}

/* Moves dense rows, or rows of elements of another size, to an output: mostly
   along its own, which takes no loops. */
static void store_moved(const struct ew_gradient *g, int out,
                        const struct ew_block *tile, const void *made,
                        struct ew_stride from)
{
    const struct ew_stride s = tile->stride[out];
    struct ew_loop loop[2] = {{.n = tile->cols}, {.n = tile->rows}};
    if (s.col > 0 && (!s.row || ew_magnitude(s.row) >= s.col)) {
        ew_table_move(g->level, g->dtype[out])(
            tile->rows, tile->cols,
            (void *[]){(void *)made, NULL, tile->data[out]},
            (struct ew_stride[]){from, {0, 0}, s});
        return;
    }
    loop[0].stride[EW_X] = from.col;
    loop[1].stride[EW_X] = from.row;
    loop[0].stride[EW_OUT] = s.col;
    loop[1].stride[EW_OUT] = s.row;
    ew_walk_move(g, g->dtype[out], loop, 2, (void *)made, tile->data[out]);
}

/* Sums of pieces that are converted twice are made in a buffer. */
void ew_walk_convert(const struct ew_term *t, int64_t rows, int64_t cols,
                     const void *made, struct ew_stride from, void *out,
                     struct ew_stride to)
{
    const struct ew_pass *f = &t->finish;
    _Alignas(64) char sum[EW_WALK_TILE];
    if (ew_stride_joins(from, cols) && ew_stride_joins(to, cols)) {
        cols *= rows;
        rows = 1;
    }
    const struct ew_stride dense = {cols * f->size[EW_OUT], f->size[EW_OUT]};
    const struct ew_stride through = f->store ? dense : to;
    void *const old = f->store ? sum : out;
    if (f->store)
        f->load[EW_Y](rows, cols, (void *[]){out, NULL, old},
                      (struct ew_stride[]){to, {0, 0}, through});
    f->op(rows, cols, (void *[]){(void *)made, old, old},
          (struct ew_stride[]){from, through, through});
    if (f->store)
        f->store(rows, cols, (void *[]){old, NULL, out},
                 (struct ew_stride[]){through, {0, 0}, to});
}

/* Stores what was made: as it is, or converted on the way; in dense rows first
   where the output has not long ones. */
static void store(const struct ew_gradient *g, const struct ew_term *t,
                  const struct ew_block *tile, const void *made,
                  struct ew_stride from, char *packed)
{
    const int64_t size = (int64_t)ew_types_size(g->dtype[t->out]);
    const struct ew_stride s = tile->stride[t->out];
    const struct ew_stride dense = {tile->cols * size, size};
    void *const out = tile->data[t->out];
    if (t->direct)
        store_moved(g, t->out, tile, made, from);
    else if (is_long(s, tile->rows, tile->cols, size))
        ew_walk_convert(t, tile->rows, tile->cols, made, from, out, s);
    else {
        if (t->add)
            ew_table_move(g->level, g->dtype[t->out])(
                tile->rows, tile->cols, (void *[]){out, NULL, packed},
                (struct ew_stride[]){s, {0, 0}, dense});
        ew_walk_convert(t, tile->rows, tile->cols, made, from, packed, dense);
        store_moved(g, t->out, tile, packed, dense);
    }
}

/* Whether a tile is stored past the caches: not in place, nor where rows start
   or end in the middle of lines, which costs more than it saves. */
static bool may_stream(const struct ew_walk *w, const struct ew_block *tile)
{
    int out = w->term[0]->out;
    uint64_t row = (uint64_t)tile->stride[out].row;
    uint64_t bytes = (uint64_t)(tile->cols * tile->stride[out].col);
    bool lines = ((uintptr_t)tile->data[out] | row | bytes) % EW_LINE == 0;
    bool joined = (tile->rows == 1 || row == bytes) && bytes % 16 == 0;
    return w->streams && tile->data[out] != tile->data[EW_OUT] &&
           (lines || joined || bytes >= STREAM_ROW);
}

/* Reals are summed; a row of complex numbers is a row of twice as many. What
   is made is at data[EW_OUT]. */
void ew_walk_add(const struct ew_gradient *g, const struct ew_walk *w,
                 ew_sum *sum, const struct ew_block *tile, void *const data[],
                 const struct ew_stride stride[], bool streams)
{
    int out = ew_walk_reduced(w)->out;
    int64_t parts = ew_walk_is_complex(g) ? 2 : 1;
    const struct ew_sums sums = {
        tile->data[out], tile->stride[out].row / (int64_t)sizeof(double),
        w->lanes,        (int)parts,
        w->asks,         w->distant,
        streams};
    sum(tile->rows, tile->cols * parts, data, stride, &sums);
}

/* A kernel of one operand and one parameter, on n dense elements. */
static void run_dense(const struct ew_gradient *g, ew_kernel *kernel, int64_t n,
                      const void *x, const void *y, void *out)
{
    const struct ew_stride dense = {0, (int64_t)ew_types_size(g->compute)};
    void *const data[] = {(void *)x, (void *)y, out};
    const struct ew_stride stride[] = {dense, dense, dense};
    kernel(1, n, data, stride);
}

/* Puts scaled operands in the place of x and y, and behind an act the gradient
   of its operand in the place of dout. The operand is made in the place of
   the result, unless that is given. All are whole. */
static void fuse(const struct ew_gradient *g, unsigned uses,
                 struct ew_block *inner, struct ew_walk_room *room)
{
    const struct ew_pass *f = &g->forward;
    int64_t n = inner->rows * inner->cols;
    void **in = inner->data;
    for (int k = EW_X; k <= EW_Y; k++)
        if (f->scale[k] && uses >> k & 1) {
            run_dense(g, f->scale[k], n, in[k], &f->factor[k], room->in[k]);
            in[k] = room->in[k];
        }
    if (!g->slope)
        return;
    if (f->op) {
        run_dense(g, f->op, n, in[EW_X], in[EW_Y], room->in[EW_DDX]);
        in[EW_DDX] = room->in[EW_DDX];
    }
    const void *const of[] = {in[EW_X], &f->around.alpha, in[EW_OUT],
                              in[EW_DDX]};
    g->slope(n, of, room->in[EW_OUT]);
    in[EW_OUT] = room->in[EW_OUT];
}

/* The operands of a kernel that makes operand `out` of a block. Inputs that it
   does not use it may read all the same, past their ends where rows were
   joined, so they are one that it uses, or out. */
static void hand_over(const struct ew_block *block, unsigned uses, int out,
                      void *data[], struct ew_stride stride[])
{
    int used = out;
    for (int k = 0; k < EW_WALK_INPUTS; k++)
        used = uses >> k & 1 ? k : used;
    for (int k = 0; k < EW_D_OPERANDS; k++) {
        int from = k == EW_D ? out : uses >> k & 1 ? k : used;
        data[k] = block->data[from];
        stride[k] = block->stride[from];
    }
}

/* What one term is, before it is stored or summed: dout itself, or made at
   data[EW_D]. dx and dy have the factor of their operand. Returns where it
   is, in rows that are *row apart. */
static void *make(const struct ew_gradient *g, const struct ew_term *t,
                  const struct ew_block *inner, int64_t *row)
{
    const struct ew_pass *f = &g->forward;
    int k = t->out - EW_DX, from = EW_OUT;
    bool joined = is_one_row(inner, t->uses | 1u << EW_D);
    int64_t rows = joined ? 1 : inner->rows;
    int64_t cols = joined ? inner->rows * inner->cols : inner->cols;
    if (t->derive) {
        void *data[EW_D_OPERANDS];
        struct ew_stride stride[EW_D_OPERANDS];
        hand_over(inner, t->uses, EW_D, data, stride);
        t->derive(rows, cols, data, stride);
        from = EW_D;
    } else if (t->product) {
        int other = t->out == EW_DX ? EW_Y : EW_X;
        void *const data[] = {inner->data[EW_OUT], inner->data[other],
                              inner->data[EW_D]};
        const struct ew_stride stride[] = {
            inner->stride[EW_OUT], inner->stride[other], inner->stride[EW_D]};
        t->product(rows, cols, data, stride);
        from = EW_D;
    }
    if (k <= EW_Y && f->scale[k]) {
        void *const data[] = {inner->data[from], (void *)&f->factor[k],
                              inner->data[EW_D]};
        const struct ew_stride stride[] = {
            inner->stride[from], {0, 0}, inner->stride[EW_D]};
        f->scale[k](rows, cols, data, stride);
        from = EW_D;
    }
    *row = inner->stride[from].row;
    return inner->data[from];
}

/* Where a term is made: in its place, if nothing is to be done to it on the
   way, or in the buffer. */
static bool aim(const struct ew_gradient *g, const struct ew_term *t,
                struct ew_walk_room *room)
{
    int64_t size = (int64_t)ew_types_size(g->compute);
    const struct ew_stride out = room->tile.stride[t->out];
    bool direct = t->direct && out.col == size;
    room->inner.data[EW_D] = direct ? room->tile.data[t->out] : room->made;
    room->inner.stride[EW_D] =
        direct ? out : (struct ew_stride){room->tile.cols * size, size};
    return direct;
}

/* One term of a tile, from its inputs to its output. */
static void run_term(const struct ew_gradient *g, const struct ew_walk *w,
                     const struct ew_term *t, struct ew_walk_room *room)
{
    struct ew_block *tile = &room->tile, *inner = &room->inner;
    struct ew_stride from = {0, t->made_size};
    aim(g, t, room);
    void *made = make(g, t, inner, &from.row);
    if (t->reduced && room->deep)
        ew_walk_sum(g, w, t, room, made);
    else if (t->reduced) {
        void *const data[] = {made, made, made, made, made, made};
        const struct ew_stride s[EW_D_OPERANDS] = {[EW_OUT] = from};
        ew_walk_add(g, w, w->sum, tile, data, s, false);
    } else if (made != tile->data[t->out] && room->deep)
        ew_walk_store(g, w, t, room, made);
    else if (made != tile->data[t->out])
        store(g, t, tile, made, from, ew_walk_packed(w, room));
}

/* Both terms at once. */
static void run_fused(const struct ew_gradient *g, const struct ew_walk *w,
                      struct ew_walk_room *room)
{
    struct ew_block *tile = &room->tile, *inner = &room->inner;
    bool direct = aim(g, w->term[0], room);
    ew_walk_add(g, w, w->fused, tile, inner->data, inner->stride,
                direct && may_stream(w, tile));
    if (!direct)
        store(g, w->term[0], tile, inner->data[EW_D], inner->stride[EW_D],
              ew_walk_packed(w, room));
}

/* What is stored over dout is made last. */
void ew_walk_tile(const struct ew_gradient *g, const struct ew_walk *w,
                  struct ew_walk_room *room)
{
    const struct ew_block *tile = &room->tile;
    for (int k = 0; room->deep && k < EW_WALK_INPUTS; k++)
        if (w->uses >> k & 1)
            ew_walk_bring(g, w, room, k);
    if (!room->deep)
        bring_all(g, w, room);
    if (w->fused) {
        run_fused(g, w, room);
        return;
    }
    if (g->whole)
        fuse(g, w->uses, &room->inner, room);
    for (int over = 0; over < 2; over++)
        for (int i = 0; i < w->terms; i++)
            if ((tile->data[w->term[i]->out] == tile->data[EW_OUT]) == over)
                run_term(g, w, w->term[i], room);
}

/* Whether a block is one call of a kernel, without any buffer. */
static bool is_bare(const struct ew_walk *w, const struct ew_block *block)
{
    int64_t size = (int64_t)ew_types_size(w->element);
    bool bare =
        w->bare && (!w->fused || block->stride[w->term[0]->out].col == size);
    for (int k = 0; k < EW_WALK_INPUTS && bare; k++)
        if (w->uses >> k & 1)
            bare = block->stride[k].col == size ||
                   (block->stride[k].col == 0 && may_stand(w, block, k));
    return bare;
}

static void run_bare(const struct ew_gradient *g, const struct ew_walk *w,
                     const struct ew_block *block)
{
    int out = w->fused ? w->term[0]->out : EW_OUT;
    void *data[EW_D_OPERANDS];
    struct ew_stride stride[EW_D_OPERANDS];
    hand_over(block, w->uses, out, data, stride);
    ew_walk_add(g, w, w->bare, block, data, stride, may_stream(w, block));
}

/* Takes a tile to a place in its block. */
static void place_tile(const struct ew_walk *w, const struct ew_block *block,
                       int64_t r, int64_t c, struct ew_block *tile)
{
    for (int i = 0; i < w->operands; i++) {
        int k = w->operand[i];
        const struct ew_stride s = block->stride[k];
        if (block->data[k])
            tile->data[k] = (char *)block->data[k] + r * s.row + c * s.col;
    }
}

/* Columns of a tile, of which `fit` elements fit: equal pieces of a row, in
   whole lanes, and so short that it has some rows at least. */
static int64_t tile_columns(int64_t cols, int64_t fit, int64_t rows)
{
    fit /= rows;
    if (cols <= fit)
        return cols;
    fit -= fit % EW_LANES;
    int64_t pieces = (cols + fit - 1) / fit,
            piece = (cols + pieces - 1) / pieces;
    return (piece + EW_LANES - 1) / EW_LANES * EW_LANES;
}

/* Whether a block is made without any buffer. */
static bool needs_no_buffer(const struct ew_gradient *g,
                            const struct ew_walk *w,
                            const struct ew_block *block)
{
    bool none = !g->whole;
    for (int i = 0; i < w->operands && none; i++) {
        int k = w->operand[i];
        none = k >= EW_WALK_INPUTS || fits(g, w, block, k);
    }
    for (int i = 0; i < w->terms && none; i++) {
        const struct ew_term *t = w->term[i];
        none = t->direct &&
               block->stride[t->out].col == (int64_t)ew_types_size(g->compute);
    }
    return none;
}

/* Cuts the two inner loops into tiles. */
void ew_walk_block(const struct ew_gradient *g, const struct ew_walk *w,
                   const struct ew_block *block, struct ew_walk_room *room)
{
    if (is_bare(w, block)) {
        run_bare(g, w, block);
        return;
    }
    int64_t size = (int64_t)ew_types_size(g->compute);
    int64_t fit = ew_walk_fit(g, w);
    if (needs_no_buffer(g, w, block))
        fit *= w->terms > 1 ? UNBUFFERED : UNBUFFERED_ALONE;
    int64_t least = block->rows < w->turned_rows ? block->rows : w->turned_rows;
    int64_t cols = tile_columns(block->cols, fit, least);
    int64_t rows = fit / cols;
    room->tile = room->inner = *block;
    for (int k = 0; k < EW_WALK_INPUTS; k++)
        if (!(w->uses >> k & 1)) { /* as long as what is used */
            room->inner.data[k] = room->in[k];
            room->inner.stride[k] = (struct ew_stride){0, size};
        }
    for (int64_t r = 0; r < block->rows; r += rows) {
        room->tile.rows = rows < block->rows - r ? rows : block->rows - r;
        for (int64_t c = 0; c < block->cols; c += cols) {
            room->tile.cols = cols < block->cols - c ? cols : block->cols - c;
            place_tile(w, block, r, c, &room->tile);
            ew_walk_tile(g, w, room);
        }
    }
}
