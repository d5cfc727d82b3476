/*
 * Turns one tile into its part of out, by the steps of its pass: each reads
 * where the step before it wrote, in buffers small enough for the cache. The
 * picture of the steps is in plan.h.
 */
#include "steps.h"

#include <stddef.h>
#include <string.h>

/* How an input lies in the buffer that it was brought into: what is broadcast
   is there once and stays broadcast, unless it was spread. */
static struct ew_stride loaded(struct ew_stride from, int64_t cols, bool spread,
                               int64_t size)
{
    bool row = from.row || spread, col = from.col || spread;
    int64_t bytes = col ? cols * size : size;
    return (struct ew_stride){row ? bytes : 0, col ? size : 0};
}

/* Brings one input of a tile into a dense buffer. A scale has a parameter, and
   may find the input in the buffer already. */
static void load(ew_kernel *convert, const void *parameter,
                 struct ew_block *tile, int k, bool spread, unsigned size,
                 char *buffer)
{
    const struct ew_stride s = tile->stride[k];
    int64_t rows = s.row || spread ? tile->rows : 1;
    int64_t cols = s.col || spread ? tile->cols : 1;
    struct ew_stride dense = {cols * size, size};
    void *data[EW_FORWARD] = {tile->data[k], (void *)parameter, buffer};
    struct ew_stride stride[EW_FORWARD] = {s, {0, 0}, dense};
    bool joins = ew_stride_joins(s, cols);
    convert(joins ? 1 : rows, joins ? rows * cols : cols, data, stride);
    tile->data[k] = buffer;
    tile->stride[k] = loaded(s, tile->cols, spread, size);
}

void ew_steps_repeat(char *at, int64_t bytes, int64_t all)
{
    for (int64_t done = bytes; done < all; done *= 2)
        memcpy(at + done, at, (size_t)(done < all - done ? done : all - done));
}

/* Gathers what a tile of several loops has of input k. Where that is copies of
   runs, these are made dense in the buffer that op fills later, unless they are
   that, and spread like elements of their size. */
static void gather_once(const struct ew_pass *pass, const struct ew_block *tile,
                        int k, struct ew_buffers *buffers, char *to)
{
    const struct ew_places *places = buffers->places[k];
    bool copies = places->copies > 1;
    char *from = tile->data[k];
    if (!copies || !places->dense) {
        ew_gather(places, from, copies ? buffers->made : to);
        from = buffers->made;
    }
    if (!copies)
        return;
    int64_t size = places->run;
    void *data[EW_FORWARD] = {from, NULL, to};
    struct ew_stride stride[EW_FORWARD] = {
        {size, 0}, {0, 0}, {places->copies * size, size}};
    pass->moves[__builtin_ctz((unsigned)size)](places->runs, places->copies,
                                               data, stride);
}

/* The same with what repeats in the outermost loops of a tile. */
static void gather(const struct ew_pass *pass, const struct ew_block *tile,
                   int k, struct ew_buffers *buffers, char *to)
{
    const int64_t all = tile->rows * tile->cols * pass->stored[k];
    gather_once(pass, tile, k, buffers, to);
    ew_steps_repeat(to, all / buffers->places[k]->repeats, all);
}

static struct ew_stride dense_rows(const struct ew_block *tile, int64_t size)
{
    return (struct ew_stride){tile->cols * size, size};
}

/* The steps that an input may need before op. */
static void prepare(const struct ew_pass *pass, struct ew_block *tile, int k,
                    struct ew_buffers *buffers)
{
    ew_kernel *pack = pass->pack[k], *convert = pass->load[k];
    bool places = buffers->places[k] != NULL;
    if (buffers->kept[k] && (pack || places || convert || pass->scale[k])) {
        tile->data[k] = buffers->load[k];
        tile->stride[k] = loaded(tile->stride[k], tile->cols,
                                 pack && pass->fold, pass->size[k]);
        return;
    }
    char *packed = convert ? buffers->stored : buffers->load[k];
    if (pack)
        load(pack, buffers->ahead, tile, k, pass->fold, pass->stored[k],
             packed);
    if (places) {
        gather(pass, tile, k, buffers, packed);
        tile->data[k] = packed;
        tile->stride[k] = dense_rows(tile, pass->stored[k]);
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
    void *data[EW_FORWARD] = {from, NULL, to};
    struct ew_stride stride[EW_FORWARD] = {dense, {0, 0}, to_stride};
    convert(tile->rows, tile->cols, data, stride);
}

/* The activation, on what was made. Rows that follow one another are one for
   it, as the rest behind the last vector of each is a step of its own. */
static void activate(const struct ew_pass *pass, const struct ew_block *tile)
{
    void *made = tile->data[EW_OUT];
    const struct ew_stride s = tile->stride[EW_OUT];
    void *const data[EW_FORWARD] = {made, (void *)&pass->around.alpha, made};
    const struct ew_stride stride[EW_FORWARD] = {s, {0, 0}, s};
    bool joins = ew_stride_joins(s, tile->cols);
    pass->act(joins ? 1 : tile->rows,
              joins ? tile->rows * tile->cols : tile->cols, data, stride);
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
                   struct ew_buffers *buffers, char *out, struct ew_stride to,
                   const struct ew_next next[2])
{
    char *made = buffers->made, *other = buffers->stored;
    unsigned size = pass->size[EW_OUT];
    if (pass->round) {
        unsigned rounded = pass->result_size;
        convert_result(pass->round, tile, made, size, other,
                       (struct ew_stride){tile->cols * rounded, rounded});
        made = buffers->stored;
        other = buffers->made;
        size = rounded;
    }
    const struct ew_places *places = buffers->places[EW_OUT];
    if (pass->store && (pass->stream || places)) {
        int64_t stored = to.col;
        convert_result(pass->store, tile, made, size, other,
                       (struct ew_stride){tile->cols * stored, stored});
        made = other;
    } else if (pass->store)
        convert_result(pass->store, tile, made, size, out, to);
    if (places)
        ew_scatter(places, made, out);
    else if (pass->stream)
        stream(pass, tile, made, out, to, next);
}

void ew_steps_run(const struct ew_pass *pass, struct ew_block *tile,
                  struct ew_buffers *buffers)
{
    char *out = tile->data[EW_OUT];
    struct ew_stride out_stride = tile->stride[EW_OUT];
    struct ew_next next[2];
    int64_t size = pass->size[EW_OUT];
    bool buffered = pass->store || pass->stream || buffers->places[EW_OUT];
    for (int k = 0; k < 2; k++) {
        if (pass->stream)
            next[k] = after(pass, tile, k, out_stride.col);
        prepare(pass, tile, k, buffers);
    }
    for (int k = 0; k < 2 && buffers->ahead; k++)
        ew_ahead_ask(&buffers->ahead[k], INT64_MAX);
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
