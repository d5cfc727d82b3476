/*
 * What the tests of gradients share: operands of a gradient with random
 * layouts and telling values, the call, and its comparison with the
 * reference, term by term.
 */
#ifndef GRADIENT_CALLS_H
#define GRADIENT_CALLS_H

#include "elementwise.h"
#include "gradient_reference.h"
#include "reference.h"
#include "support.h"

enum {
    GRADIENT_TEXT = 600,
    GRADIENT_OPS = REF_OPS + 1,
    GRADIENT_FLOATS = 6,
    GRADIENT_PAIRS = 21
};

#define BF16 ELEMENTWISE_BF16
#define F16 ELEMENTWISE_F16
#define F32 ELEMENTWISE_F32
#define F64 ELEMENTWISE_F64
#define C64 ELEMENTWISE_C64
#define C128 ELEMENTWISE_C128

/* The types that have gradients, and pairs of types, the first with each of
   these twice. */
extern const elementwise_dtype gradient_floats[GRADIENT_FLOATS];
extern const elementwise_dtype gradient_pairs[GRADIENT_PAIRS][2];

typedef elementwise_status (*gradient_function)(const elementwise_tensor *,
                                                const elementwise_tensor *,
                                                const elementwise_tensor *, int,
                                                const elementwise_tensor *,
                                                const elementwise_tensor *);

/* By operation; NULL: it has no gradient. */
extern const gradient_function gradient_functions[GRADIENT_OPS];

/* Of an operand of the type. */
bool gradient_exists(elementwise_dtype type);

/* The operation takes the types. */
bool gradient_takes(elementwise_op op, elementwise_dtype x,
                    elementwise_dtype y);

/* More with CHECK_LONG. */
int gradient_rounds(int usual);

/* Values */

enum gradient_values { GRADIENT_ANY, GRADIENT_NONZERO, GRADIENT_POSITIVE };

/* In -4 ... 4; often such that ties and zeros occur. */
double gradient_moderate(void);

void gradient_put(elementwise_dtype type, double re, double im, void *element);
void gradient_fill(struct support_tensor *s, enum gradient_values values);

/* Gradients */

struct gradient {
    elementwise_op op;
    int axis;
    unsigned flags;
    bool wants[2]; /* dx, dy */
    struct support_tensor x, y, dout, d[2];
};

void gradient_lay_out(struct support_tensor *s, elementwise_dtype type,
                      int ndim, const int64_t shape[], bool input);

/* Random operands of the given shapes; outputs hold numbers, to be added to. */
void gradient_prepare(struct gradient *g, elementwise_op op,
                      elementwise_dtype tx, elementwise_dtype ty,
                      const struct support_shapes *s);

/* Random shapes, outputs and flags too; the types of a pair. */
void gradient_random(struct gradient *g, elementwise_op op, int pair);

/* Remembers all operands. */
void gradient_keep(struct gradient *g);
void gradient_release(struct gradient *g);

elementwise_status gradient_run(const struct gradient *g);

/* In up to 4 * GRADIENT_TEXT characters. */
void gradient_describe(const struct gradient *g, char *text);

/* Compares an output with its cells. */
void gradient_verify_cells(const char *what, const struct grad_cell *cells,
                           elementwise_dtype compute,
                           const elementwise_tensor *t);

/* Runs at every level and compares each with the reference; the first level's
   bits are held against the others where only one answer is right. */
void gradient_verify_levels(struct gradient *g);

/* Double gradients */

struct gradient_again {
    struct gradient g;
    struct support_tensor dd[2], ddout;
    bool wants_ddout, has[2]; /* ddx, ddy */
};

void gradient_prepare_again(struct gradient_again *a, elementwise_op op,
                            elementwise_dtype tx, elementwise_dtype ty,
                            const struct support_shapes *s);
void gradient_release_again(struct gradient_again *a);
elementwise_status gradient_run_again(const struct gradient_again *a);

#endif
