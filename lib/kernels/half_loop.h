/*
 * The loops of operations on f16 and bf16 with results of their type. Rows
 * come as functions of whole blocks, one per form; what is left of rows, and
 * what is not dense, goes through the buffers of block.h.
 */
#ifndef EW_HALF_LOOP_H
#define EW_HALF_LOOP_H

#include "block.h"
#include "half.h"

enum { HALF_SIZE = sizeof(uint16_t) };

typedef float half_op(float x, float y);
typedef uint16_t half_bits(uint16_t x, uint16_t y);

/* The columns from `first` on, `cols` of them, of all rows. */
static void half_rest(ew_block_compute *compute, int64_t rows, int64_t first,
                      int64_t cols, void *const data[],
                      const struct ew_stride s[])
{
    static const uint16_t one = 0x3c00; /* a number in both types */
    void *part[3];
    for (int k = 0; k < 3; k++)
        part[k] = (char *)data[k] + first * s[k].col;
    if (cols > 0)
        ew_block_all(compute, HALF_SIZE, &one, rows, cols, part, s);
}

/* A whole kernel; forms are those of ew_form but the strided one. */
static void half_loop(ew_block_compute *const forms[], int64_t rows,
                      int64_t cols, void *const data[],
                      const struct ew_stride s[])
{
    enum ew_form form = ew_loop_form(s, HALF_SIZE, HALF_SIZE, HALF_SIZE);
    int64_t whole = form == EW_STRIDED ? 0 : cols - cols % EW_BLOCK;
    const char *x = data[EW_X], *y = data[EW_Y];
    char *out = data[EW_OUT];
    for (int64_t r = 0; r < rows && whole; r++) {
        forms[form](whole, x, y, out);
        x += s[EW_X].row;
        y += s[EW_Y].row;
        out += s[EW_OUT].row;
    }
    half_rest(forms[EW_BOTH], rows, whole, cols - whole, data, s);
}

#endif
