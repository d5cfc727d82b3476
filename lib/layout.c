/*
 * Turns what a tile of several loops has of an operand into tables of places,
 * relative to the first element of any such tile:
 *
 *     elements of 8 bytes in loops {2, 16 apart} {3, 100 apart}
 *     places   0 16 100 116 200 216
 *     lines    those of bytes 0 to 23, 100 to 123, 200 to 223
 */
#include "layout.h"

void ew_layout_merge(const struct ew_layout *layout, struct ew_layout *merged)
{
    int64_t size = layout->size;
    int d = 0;
    for (; d < layout->ndim && layout->loop[d].step == size; d++)
        size *= layout->loop[d].n;
    merged->size = size;
    merged->ndim = layout->ndim - d;
    for (int i = 0; i < merged->ndim; i++)
        merged->loop[i] = layout->loop[d + i];
}

int64_t ew_layout_once(struct ew_layout *layout)
{
    int64_t repeats = 1;
    for (; layout->ndim > 0 && layout->loop[layout->ndim - 1].step == 0;
         layout->ndim--)
        repeats *= layout->loop[layout->ndim - 1].n;
    return repeats;
}

void ew_layout_dense(const struct ew_layout *layout, struct ew_layout *dense)
{
    int64_t bytes = layout->size;
    dense->size = layout->size;
    dense->ndim = layout->ndim;
    for (int d = 0; d < layout->ndim; d++) {
        int64_t n = layout->loop[d].n;
        dense->loop[d] = (struct ew_layout_loop){n, bytes};
        bytes *= n;
    }
}

int64_t ew_layout_extend(int32_t table[], int64_t n,
                         const struct ew_layout_loop loop[], int ndim)
{
    for (int d = 0; d < ndim; d++) {
        for (int64_t i = 1; i < loop[d].n; i++) {
            int32_t *at = &table[i * n];
            int32_t step = (int32_t)(i * loop[d].step);
            for (int64_t j = 0; j < n; j++)
                at[j] = table[j] + step;
        }
        n *= loop[d].n;
    }
    return n;
}

int64_t ew_layout_table(int32_t table[], const struct ew_layout_loop loop[],
                        int ndim)
{
    table[0] = 0;
    return ew_layout_extend(table, 1, loop, ndim);
}

/* Whether a cache has room for the lines, beside those of the tile before: not
   where many are a power of two apart, and so have the same place. */
static bool have_places(const struct ew_lines *lines)
{
    enum { PLACES = EW_CACHE_WAY / EW_LINE };
    unsigned char used[PLACES] = {0};
    for (int64_t i = 0; i < lines->n; i++)
        if (++used[(uint32_t)lines->at[i] / EW_LINE % PLACES] > EW_CACHE_WAYS)
            return false;
    return true;
}

/* Loops whose steps are shorter than what is inside them are one block, which
   ends in the line of its last byte: others are not of this tile. */
void ew_lines_make(struct ew_lines *lines, const struct ew_layout *layout,
                   bool distant)
{
    struct ew_layout_loop far[EW_DEEP_LOOPS];
    int64_t block = layout->size, low = 0, blocks = 1;
    int n = 0;
    for (int d = 0; d < layout->ndim; d++) {
        struct ew_layout_loop loop = layout->loop[d];
        int64_t reach = (loop.n - 1) * loop.step;
        int64_t most = block > EW_LINE ? block : EW_LINE;
        if (ew_magnitude(loop.step) > most) {
            far[n++] = loop;
            blocks *= loop.n;
            continue;
        }
        block += ew_magnitude(reach);
        low += reach < 0 ? reach : 0;
    }
    int64_t inside = (block + EW_LINE - 2) / EW_LINE;
    lines->n = 0;
    if (blocks * (inside + 1) > (distant ? EW_DEEP_LINES : EW_NEAR_LINES))
        return;
    for (int64_t i = 0; i < inside; i++)
        lines->at[i] = (int32_t)(low + i * EW_LINE);
    lines->at[inside] = (int32_t)(low + block - 1);
    lines->n = ew_layout_extend(lines->at, inside + 1, far, n);
    if (!distant && !have_places(lines))
        lines->n = 0;
}

void ew_lines_fetch(const struct ew_lines *lines, const char *from, bool write)
{
    if (write)
        for (int64_t i = 0; i < lines->n; i++)
            __builtin_prefetch(from + lines->at[i], 1);
    else
        for (int64_t i = 0; i < lines->n; i++)
            __builtin_prefetch(from + lines->at[i]);
}
