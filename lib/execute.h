/*
 * Runs a loop nest: the outer loops here, the inner two in kernels, tile by
 * tile through small buffers where types differ.
 */
#ifndef EW_EXECUTE_H
#define EW_EXECUTE_H

#include <stddef.h>

#include "plan.h"

enum { EW_FORWARD = EW_OUT + 1 }; /* operands of a forward call */

/* data[EW_X], data[EW_Y] and data[EW_OUT] are where the loops start. */
void ew_execute(const struct ew_loop *loop, int ndim,
                const struct ew_pass *pass, void *const data[]);

/* Whether a line of so many elements takes longer where its inputs do not start
   on lines of memory, as vectors straddle those: bytes of an input. */
static inline bool ew_execute_is_long(int64_t n, int64_t step_x, int64_t step_y)
{
    enum { LONG_LINE = 4096 };
    return n * (step_x > step_y ? step_x : step_y) >= LONG_LINE;
}

/* Calls of a kernel on a line: what is before a line of memory first, if it is
   the same of all inputs, or of out if its elements are wider, as large blocks
   of an allocator often start 16 bytes behind one. */
void ew_execute_line(const struct ew_loop *line, ew_kernel *op,
                     const struct ew_around *around, void *const data[]);

/* The same for a pass of which op is all. around may be NULL, across 0 (of a
   pass). */
void ew_execute_calls(const struct ew_loop *loop, int ndim, ew_kernel *op,
                      const struct ew_around *around, int across,
                      void *const data[]);

/* The same where the rows of a block follow one another, but for input k, of
   which all share one: that is repeated in a buffer, and so many rows are one.

       x   0 1 2  3 4 5  6 7 8  9 ...     rows of 3
       y   a b c  a b c  a b c            in the buffer: calls on rows of 9 */
enum { EW_REPEATED_BUFFER = 2 << 10 }; /* bytes */
void ew_execute_repeated(const struct ew_loop *loop, int ndim, ew_kernel *op,
                         const struct ew_around *around, int k,
                         void *const data[]);

/* The two inner loops of a nest over some operands, and where they start. */
struct ew_block {
    int64_t rows, cols;
    struct ew_stride stride[EW_OPERANDS];
    void *data[EW_OPERANDS];
};

/* The block at the first index of a nest, for the first `operands`. */
struct ew_block ew_block_start(const struct ew_loop *loop, int ndim,
                               int operands, void *const data[]);

/* An operand that does not take part stays NULL. */
static inline void *ew_moved(void *data, int64_t bytes)
{
    return data ? (char *)data + bytes : NULL;
}

/* Steps the loops from `first` to ndim like the digits of a number, and data
   with them; false when the last has come round. Inline, so that the number of
   operands may be a constant. */
static inline bool ew_loops_advance(const struct ew_loop *loop, int first,
                                    int ndim, int operands, int64_t *index,
                                    void *data[])
{
    for (int d = first; d < ndim; d++) {
        bool carry = ++index[d] == loop[d].n;
        int64_t steps = carry ? 1 - loop[d].n : 1;
        for (int k = 0; k < operands; k++)
            data[k] = ew_moved(data[k], steps * loop[d].stride[k]);
        if (!carry)
            return true;
        index[d] = 0;
    }
    return false;
}

#endif
