/*
 * Gradients: up to five inputs are read together, up to three outputs made
 * of them, each stored element by element or summed over the loops in which
 * its operand was stretched.
 */
#ifndef EW_GRADIENT_H
#define EW_GRADIENT_H

#include "plan.h"

enum { EW_TERMS = 3 };

/* What a caller asks for; tensors by EW_X ... EW_DDOUT, NULL where absent. A
   first gradient has no ddx: in its place stands the forward result, where
   ew_fuse_takes_out. */
struct ew_request {
    const char *what;
    elementwise_op op;
    int axis;
    unsigned flags; /* ELEMENTWISE_ADD_TO_DX, ELEMENTWISE_ADD_TO_DY */
    bool second;    /* the gradient of a gradient */
    const elementwise_options *options; /* act and scales; NULL: none */
    const elementwise_tensor *tensor[EW_OPERANDS];
};

/* One output. */
struct ew_term {
    int out;               /* EW_DX, EW_DY or EW_DDOUT */
    bool reduced, add;     /* summed; added to what is there */
    bool direct;           /* stored as it is made */
    unsigned uses;         /* the inputs that it is made of, as bits */
    ew_derivative *derive; /* NULL: it is dout itself, or */
    ew_kernel *product;    /* dout times the other operand, in their type */
    struct ew_pass finish; /* from what was made to the output in memory */
    int64_t made_size;     /* bytes from one element made to the next */
    int own_ndim;          /* the output's own loops */
    struct ew_own {
        int64_t n, stride;
    } own[ELEMENTWISE_MAX_NDIM];
};

/*
 * One run over the inputs: any number of outputs stored element by element,
 * then at most one that is summed. Loops from `inside` on are loops of that
 * output and stand around the sum; those before are the sum's own.
 */
struct ew_walk {
    int terms;
    const struct ew_term *term[EW_TERMS];
    int operands;
    unsigned char operand[EW_OPERANDS];
    unsigned uses;             /* inputs, as bits */
    bool streams;              /* stores past the caches */
    bool lanes;                /* the innermost loop is summed */
    bool asks;                 /* inputs are far from the caches */
    bool distant;              /* all of them come from memory */
    bool loses;                /* the sums keep what they lose beside them */
    size_t bytes;              /* of the sums in use */
    ew_sum *sum;               /* of what is made */
    ew_sum *fused;             /* makes both terms in one pass, or NULL */
    ew_sum *bare;              /* makes all of elements in memory, or NULL */
    elementwise_dtype element; /* of those */
    bool direct;               /* the same may store them */
    int turned_rows;           /* of a tile at least, if it turns operands */
    int ndim, inside;
    int deep;        /* loops of a tile if two are too few, or 0 */
    int split;       /* the loop inside that the first one outside cuts, -1 */
    int64_t split_n; /* its extent before the cut */
    int64_t stride_out[ELEMENTWISE_MAX_NDIM]; /* of the sums, in memory */
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM + 1];
};

struct ew_gradient {
    const char *what;
    const char *const *names; /* of the operands, for messages */
    int level;
    elementwise_op op;
    elementwise_dtype compute;            /* f32, f64, c64, c128; f16, bf16 */
    elementwise_dtype dtype[EW_OPERANDS]; /* 0: absent */
    struct ew_pass
        forward;     /* the scales, and op where act's operand is needed */
    ew_slope *slope; /* of the act; NULL: none */
    bool whole;      /* the rows of a tile must follow one another */
    ew_kernel *load[EW_DDY + 1]; /* an input to the type of the computation */
    unsigned uses;               /* inputs that are read, as bits */
    bool apart;                  /* no output may be dout */
    bool empty;                  /* the result has no elements */
    int64_t offset[EW_OPERANDS]; /* bytes to where the loops start */
    struct ew_range range[EW_OPERANDS]; /* of bytes, from there */
    int ndim; /* of the nest over all operands, for the overlap test */
    int terms, walks;
    /* 25 KB, of which most gradients need less than one: what is from here on
       is not cleared. */
    struct ew_term term[EW_TERMS];
    struct ew_walk walk[EW_TERMS];
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
};

/* terms.c: checks the layouts and fills g; a first gradient gets its name in
   r. INVALID, BAD_AXIS, BAD_SHAPE, BAD_DTYPE, OVERLAP, TOO_LARGE,
   NO_GRADIENT. */
elementwise_status ew_terms_make(struct ew_gradient *g, struct ew_request *r);

/* The same for the gradient that a sum is: dout is src, dx is dst. flags may
   have ELEMENTWISE_ADD_TO_OUT. */
elementwise_status ew_terms_make_sum(struct ew_gradient *g,
                                     const elementwise_tensor *src, int axis,
                                     const elementwise_tensor *dst,
                                     unsigned flags);

/* The walk of one gradient; walk.c. data starts where the loops do. */
void ew_walk_make(const struct ew_gradient *g, struct ew_walk *w);
void ew_walk_run(const struct ew_gradient *g, const struct ew_walk *w,
                 void *const data[]);

#endif
