/*
 * What there is to know about a call once its layouts are checked: a loop
 * nest with byte strides for every operand, and the kernels that make one
 * tile of it.
 */
#ifndef EW_PLAN_H
#define EW_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kernel.h"
#include "shape.h"
#include "types.h"

/* One loop of a nest. Nests are stored from the innermost loop outwards. */
struct ew_loop {
    int64_t n;
    int64_t stride[EW_OPERANDS]; /* in bytes */
};

/* The first and the last byte of an operand, from where its loops start. */
struct ew_range {
    int64_t first, last;
};

enum {
    EW_TILE_BYTES = 8192, /* per buffer: four of them stay in the L1 cache */
    /* Tiles of several loops have no more elements, and no more loops than
       that many elements allow. */
    EW_DEEP_ELEMENTS = 2048,
    EW_DEEP_LOOPS = 11,
    EW_DEEP_NDIM = 16 /* loops of a nest; those of more are not cut so */
};

/* How a tile of several loops is gathered from an input: by permuting groups of
   so many windows, by turning what has so many bytes, or run by run. */
struct ew_gathering {
    ew_permuter *kernel; /* NULL there */
    unsigned char windows, turned;
};

/*
 * How one tile is made. Operands whose type is not the kernel's, or whose
 * layout it does not like, pass through a small buffer:
 *
 *     x -> pack[0] -> load[0] -> scale[0] -\
 *                                           op -> act -> round -> store
 *     y -> pack[1] -> load[1] -> scale[1] -/                        |
 *                                                          out <- stream
 *
 * behind is op and act in one, for long rows of operands as they are, and of
 * halves load and store, too.
 *
 * A NULL step is not needed and left out; without any, op reads and writes
 * the operands themselves. Types choose the kernels of load, op, round and
 * store; options choose scale and act, in fuse.c, or an op that makes them
 * too; layouts choose pack and stream, in strategy.c.
 */
struct ew_pass {
    ew_kernel *pack[2]; /* makes dense, in the type as it is stored */
    ew_kernel *load[2];
    ew_kernel *scale[2];
    ew_kernel *op;
    ew_kernel *act;   /* in place */
    ew_kernel *round; /* to the result's type, where out has another one */
    ew_kernel *store;
    ew_streamer *stream; /* past the caches; not in place */
    bool lines;          /* that only if out starts on one */
    bool slow;           /* one row, whose op takes longer than stream */
    /* 1 or 2: the rows of a block share one of x or of y, which is repeated for
       longer calls of op. Here there is room that costs kept plans nothing. */
    unsigned char repeats;
    ew_kernel *past;   /* op and stream in one, where no step lies between;
                          of AVX-512 in place, too, and then no stream */
    ew_kernel *behind; /* op and act in one, which streams if told to */
    union ew_parameter factor[2]; /* of scale */
    struct ew_around around;      /* of act, and of an op that makes both */
    unsigned char stored[3];      /* bytes of an element in memory */
    unsigned char size[3];        /* of an element as op reads and writes it */
    unsigned char result_size;    /* of an element after round */
    bool fold;   /* the rows of a tile are dense and run as one */
    bool masked; /* short rows are left to op, not folded, as it has masks */
    /* Rows of a tile where an input is transposed, or 0: such tiles are square
       rather than long, or a line of that input high. Folded ones have whole
       rows, as many as fit. */
    unsigned char turn;
    /* The loop that each tile goes along before the next tile, or 0: an input
       stands still there, and what a tile has of it is kept, or a turned one
       reads on in memory. It is the one outside the tile, or that of rows, of
       which each is several tiles. */
    unsigned char again;
    /* Rows of a call where it goes along the loop outside the two inner ones
       instead, as that of rows has too few; 0: it does not. */
    unsigned char across;
    /* Whether lines of the next tile are asked for: of inputs where one is
       turned, of all operands of tiles of several loops; of the tile after the
       next in two inputs with gaps. */
    bool ahead[3];
    /* Loops of a tile if they are not the two innermost, and how much of each
       it holds. What is not dense in it is gathered, out scattered. */
    unsigned char deep;
    ew_kernel *const *moves; /* by size: copies of what such a tile has */
    struct ew_gathering gather[2];
    bool rows; /* its outermost loop is that of rows, where it has long ones */
    /* Operands come from memory: all lines are asked for, of two loops while a
       tile is packed, and tiles of large elements or with gaps are smaller. */
    bool distant;
    bool large[2]; /* inputs of which lines that tiles share are soon gone */
    uint16_t extent[EW_DEEP_LOOPS];
};

/* An input that is made dense first, in stage.c: the loops as they were, of
   which the inner ones are copied. */
enum {
    EW_STAGE_BYTES = 32 << 10,
    EW_STAGE_DEEP = 16 << 10, /* at most, beside tiles of several loops */
    EW_STAGE_LOOPS = 8
};
struct ew_stage {
    int operand, inner, ndim; /* ndim is 0 where none is */
    bool once;                /* without what the inner loops repeat */
    int64_t bytes;            /* 0 there */
    struct ew_loop loop[EW_STAGE_LOOPS];
};

struct elementwise_plan {
    const char *what;             /* the operation's name, for messages */
    struct ew_gradient *gradient; /* or NULL; of what follows op, act and scaled
                                     are set then, and the rest is 0 */
    elementwise_op op;
    elementwise_act act;
    bool scaled[2]; /* by a factor, in a step or by op */
    struct ew_types types;
    int level;
    struct ew_pass pass;
    bool empty;        /* the result has no elements */
    bool exists[3];    /* the operand has elements, so it must have data */
    bool in_place[2];  /* out may be this input: their layouts are the same */
    int64_t offset[3]; /* bytes from data to where the loops start */
    struct ew_range range[3]; /* of bytes, from there */
    bool calls; /* it is calls of pass.op alone; if one, with these arguments */
    int64_t rows, cols;
    struct ew_stride stride[3];
    size_t unaligned[3]; /* bits that data must not have set */
    int ndim;            /* loops, innermost first */
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    /* From here on nothing is kept for later calls (cache.c). */
    struct ew_stage stage;
    int result_ndim;
    int64_t result_shape[ELEMENTWISE_MAX_NDIM];
};

/* Validation has refused INT64_MIN. */
static inline int64_t ew_magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Whether operand k walks the inner and the outer loop as one. Strides may be
   as large as they come. */
static inline bool ew_loop_continues(const struct ew_loop *inner,
                                     const struct ew_loop *outer, int k)
{
    int64_t whole;
    return !__builtin_mul_overflow(inner->n, inner->stride[k], &whole) &&
           outer->stride[k] == whole;
}

/* Checks the layouts and fills plan. The statuses of plan_create. */
elementwise_status ew_plan_make(struct elementwise_plan *plan,
                                elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out);

/* Fills the pass by types: which steps are needed, and their kernels. */
void ew_plan_choose_kernels(struct elementwise_plan *plan);

/* Many plans are nothing but calls of a kernel, most of them one call: finds
   out whether, and its arguments, once the pass is complete. */
void ew_plan_prepare_calls(struct elementwise_plan *plan);

/* Checks the data and runs. The statuses of plan_run. */
elementwise_status ew_plan_run(const struct elementwise_plan *plan,
                               const void *x, const void *y, void *out);

/* Puts loops in order: inner ones have the smaller strides in the first of
   the operands that tells two loops apart. */
void ew_plan_sort(struct ew_loop *loop, int ndim, const int *order, int n);

/* Moves loop i inside, to place `to`. */
void ew_plan_move_inside(struct ew_loop *loop, int i, int to);

/* Makes a nest shorter: merges neighbours that the first `operands` all walk
   as one. Returns the number of loops left. */
int ew_plan_merge(struct ew_loop *loop, int ndim, int operands);

/* Fills the layout of plan, whose what, types and result_shape are there,
   from the places of x, y and out over the ndim dimensions of the result.
   OVERLAP. */
elementwise_status ew_plan_layout(struct elementwise_plan *plan, int ndim,
                                  const struct ew_placed placed[3]);

/* Whether operands pass through the buffers of a tile. */
static inline bool ew_pass_buffers(const struct ew_pass *pass)
{
    return pass->pack[0] || pass->pack[1] || pass->load[0] || pass->load[1] ||
           pass->scale[0] || pass->scale[1] || pass->store || pass->deep;
}

/* Bytes of the largest element in the buffers, where the first `stored`
   operands pass through one as they are in memory. */
static inline unsigned ew_pass_widest(const struct ew_pass *pass, int stored)
{
    unsigned widest = pass->result_size;
    for (int k = 0; k <= EW_OUT; k++) {
        widest = pass->size[k] > widest ? pass->size[k] : widest;
        if (k < stored && pass->stored[k] > widest)
            widest = pass->stored[k];
    }
    return widest;
}

/* Whether a pass runs tile by tile: an activation works on what is in the
   cache, buffer or not, and only from there is anything stored past it. */
static inline bool ew_pass_tiles(const struct ew_pass *pass)
{
    return ew_pass_buffers(pass) || pass->act || pass->stream || pass->again;
}

/* The input whose row is repeated (1 or 2), if calls of op are all there is;
   else 0. */
static inline int ew_pass_repeated(const struct ew_pass *pass)
{
    return ew_pass_tiles(pass) ? 0 : pass->repeats;
}

enum { EW_TURNED_WIDE = 8 }; /* bytes of large elements */

/* Whether such tiles have half as many elements, as these are large and come
   from memory: a column is then two lines of what is asked for, as of smaller
   ones. Columns of one line, which halving rows does not make, have as many as
   fit. */
static inline bool ew_pass_has_small_tiles(const struct ew_pass *pass)
{
    unsigned widest = ew_pass_widest(pass, 2);
    return pass->distant && pass->turn * widest > EW_LINE &&
           widest >= EW_TURNED_WIDE;
}

/* Whether input k shares a byte with out. data starts where the loops do. */
bool ew_plan_overlaps(const struct elementwise_plan *plan, int k,
                      void *const data[]);

#endif
