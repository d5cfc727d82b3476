/*
 * Loops of operations that are worth a vector only in straight lines: a block
 * of W dense elements is computed at a time, always W, so that an element's
 * result depends neither on its place nor on how the operands lie. What is not
 * dense goes through buffers:
 *
 *     x[c], y[c] -> W elements -> compute -> W elements -> out[c]
 *
 * and the last elements of a row are filled up with ones.
 */
#ifndef EW_BLOCK_H
#define EW_BLOCK_H

#include "loop.h"

enum {
    EW_BLOCK_PIECE = 16, /* bytes that are one vector on every level */
    EW_BLOCK = 16,       /* W: one AVX-512 vector of f32, two of f64 */
    EW_BLOCK_ROW = 64,   /* shorter rows are joined in one buffer, */
    EW_BLOCK_END = 1024, /* and these with an end that is no whole block */
    EW_BLOCKS = 256,     /* elements of a buffer */
    EW_BLOCK_BYTES = EW_BLOCKS * EW_WIDEST
};

/* Computes n elements, a multiple of EW_BLOCK. out may be x or y. Some read
   numbers that are the same for all elements. */
typedef void ew_block_compute(int64_t n, const void *x, const void *y,
                              const void *with, void *out);

/* A place in a kernel's rows and columns. */
struct ew_block_place {
    int64_t row, col, rows, cols;
};

/* The address of an operand's element at a place. */
EW_INLINE char *ew_block_at(const struct ew_block_place *at, char *data,
                            struct ew_stride s)
{
    return data + at->row * s.row + at->col * s.col;
}

/* The elements of this row from the place on, n at most. */
EW_INLINE int64_t ew_block_run(const struct ew_block_place *at, int64_t n)
{
    return at->cols - at->col < n ? at->cols - at->col : n;
}

EW_INLINE void ew_block_move(struct ew_block_place *at, int64_t n)
{
    at->col += n;
    at->row += at->col / at->cols;
    at->col %= at->cols;
}

/* The same for no more elements than are left of the row. */
EW_INLINE void ew_block_step(struct ew_block_place *at, int64_t n)
{
    bool ends = at->col + n == at->cols;
    at->row += ends;
    at->col = ends ? 0 : at->col + n;
}

/* In pieces, of which the last ends where all do: two may overlap. */
EW_INLINE void ew_block_pieces(size_t piece, size_t bytes, const char *from,
                               char *to)
{
    size_t last = bytes - piece;
    for (size_t at = 0; at < last; at += piece)
        memcpy(to + at, from + at, piece);
    memcpy(to + last, from + last, piece);
}

/* n elements from one pointer and step to another. A step of 0 repeats one
   element, and dense ones are copied in pieces: of so few, a call takes longer
   than the copy. */
EW_INLINE void ew_block_copy(int64_t n, int64_t size, const char *from,
                             int64_t step, char *to, int64_t step_to)
{
    char one[EW_WIDEST];
    size_t bytes = (size_t)(n * size);
    if (step == size && step_to == size && bytes >= EW_LINE) {
        ew_block_pieces(EW_LINE, bytes, from, to);
    } else if (step == size && step_to == size && bytes >= EW_BLOCK_PIECE) {
        ew_block_pieces(EW_BLOCK_PIECE, bytes, from, to);
    } else if (step == 0 && step_to == size) {
        memcpy(one, from, (size_t)size);
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * size, one, (size_t)size);
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * step_to, from + i * step, (size_t)size);
    }
}

/* n elements from the place on, to a dense buffer. */
EW_INLINE void ew_block_load(struct ew_block_place at, int64_t n, void *data,
                             struct ew_stride s, int64_t size, char *to)
{
    while (n > 0) {
        int64_t run = ew_block_run(&at, n);
        ew_block_copy(run, size, ew_block_at(&at, data, s), s.col, to, size);
        to += run * size;
        n -= run;
        ew_block_step(&at, run);
    }
}

/* The other way. */
EW_INLINE void ew_block_store(struct ew_block_place at, int64_t n, void *data,
                              struct ew_stride s, int64_t size,
                              const char *from)
{
    while (n > 0) {
        int64_t run = ew_block_run(&at, n);
        ew_block_copy(run, size, from, size, ew_block_at(&at, data, s), s.col);
        from += run * size;
        n -= run;
        ew_block_step(&at, run);
    }
}

/* Are these n elements whole blocks of a dense operand, in one row or in rows
   that follow one another? */
EW_INLINE bool ew_block_whole(const struct ew_block_place *at, int64_t n,
                              struct ew_stride s, int64_t size)
{
    bool one_row = at->col + n <= at->cols || s.row == at->cols * size;
    return one_row && n % EW_BLOCK == 0 && s.col == size;
}

/* Whether what is computed at once runs on into the next rows. */
EW_INLINE bool ew_block_joined(const struct ew_block_place *at)
{
    bool end = at->cols % EW_BLOCK != 0;
    return at->cols < (end ? EW_BLOCK_END : EW_BLOCK_ROW);
}

/* What is computed at once: whole blocks of a long row, then its end; of joined
   rows as many elements as fit. */
EW_INLINE int64_t ew_block_count(const struct ew_block_place *at)
{
    int64_t n = ew_block_run(at, EW_BLOCKS);
    if (ew_block_joined(at)) {
        int64_t left = (at->rows - at->row) * at->cols - at->col;
        return left < EW_BLOCKS ? left : EW_BLOCKS;
    }
    return n < EW_BLOCK ? n : n - n % EW_BLOCK;
}

/* Whether a buffer has what stands still along the rows from before: of all
   rows, or of this one, at whose first place n is largest. */
EW_INLINE bool ew_block_filled(const struct ew_block_place *at,
                               struct ew_stride s)
{
    bool before = at->col > 0 && !ew_block_joined(at);
    return s.col == 0 && (before || (s.row == 0 && at->row + at->col > 0));
}

/* The elements themselves where they are whole blocks, else in a buffer. */
EW_INLINE const char *ew_block_input(const struct ew_block_place *at, int64_t n,
                                     void *data, struct ew_stride s,
                                     int64_t size, const void *one,
                                     char *buffer)
{
    if (ew_block_whole(at, n, s, size))
        return ew_block_at(at, data, s);
    if (ew_block_filled(at, s))
        return buffer;
    ew_block_load(*at, n, data, s, size, buffer);
    for (; n % EW_BLOCK; n++)
        memcpy(buffer + n * size, one, (size_t)size);
    return buffer;
}

/* Once more, one by one, those of n elements whose odd is not 0: a first pass
   that has no branches for them becomes vectors. */
EW_INLINE void ew_block_odd(ew_apply *apply, int64_t n, int64_t size,
                            const double odd[], const char *x, const char *y,
                            void *made)
{
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++)
        any |= odd[i] != 0;
    for (int64_t i = 0; any && i < n; i++)
        if (odd[i] != 0)
            apply(x + i * size, y + i * size, NULL, (char *)made + i * size);
}

/* A whole kernel on elements of one size, of which `one` is the number 1. */
EW_INLINE void ew_block_all(ew_block_compute *compute, int64_t size,
                            const void *one, const void *with, int64_t rows,
                            int64_t cols, void *const data[],
                            const struct ew_stride s[])
{
    _Alignas(64) char x[EW_BLOCK_BYTES], y[EW_BLOCK_BYTES];
    _Alignas(64) char made[EW_BLOCK_BYTES];
    struct ew_block_place at = {0, 0, rows, cols};
    int before = errno;
    while (at.row < rows) {
        int64_t n = ew_block_count(&at);
        bool direct = ew_block_whole(&at, n, s[EW_OUT], size);
        char *out = direct ? ew_block_at(&at, data[EW_OUT], s[EW_OUT]) : made;
        compute((n + EW_BLOCK - 1) / EW_BLOCK * EW_BLOCK,
                ew_block_input(&at, n, data[EW_X], s[EW_X], size, one, x),
                ew_block_input(&at, n, data[EW_Y], s[EW_Y], size, one, y), with,
                out);
        if (!direct)
            ew_block_store(at, n, data[EW_OUT], s[EW_OUT], size, made);
        ew_block_move(&at, n);
    }
    ew_quiet_restore(before);
}

/* One line makes the kernel NAME of an operation from a call that computes n
   elements of x, y and out. */
#define EW_BLOCK_KERNEL(PASTE, name, call)                                     \
    static void PASTE(compute_##name)(int64_t n, const void *x, const void *y, \
                                      const void *with, void *out)             \
    {                                                                          \
        (void)with;                                                            \
        call;                                                                  \
    }                                                                          \
    EW_KERNEL_OF(PASTE(name),                                                  \
                 PASTE(blocks)(PASTE(compute_##name), rows, cols, data, s))

#endif
