/*
 * What the test programs share: random numbers that can be repeated, tensors
 * in guarded memory with random layouts and telling values, and the
 * comparison of a call's output with the reference, element by element.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "elementwise.h"

/* Check hands the place of every assertion that holds to the process that
   waits for the test, to name it after a crash. That is a system call, which
   in loops over elements took most of the time; what crashed is said by
   CK_FORK=no and a debugger. */
#define _mark_point(file, line) ((void)0)

/* Programs */

/* A case with a long timeout, whose tests each start from the same seed:
   CHECK_SEED, or 1. */
TCase *support_case(const char *name);

/* Runs the cases up to NULL, writes TAP to stdout, and returns what main
   returns. */
int support_run(const char *name, TCase *const cases[]);

/* CHECK_LONG is set: there is time. */
bool support_long(void);

/* Limits the library to a level. False, with a TAP comment, if the machine
   does not have it. */
bool support_level(int level);

/* Random numbers */

uint64_t support_bits(void);

/* From least to most, both included. */
int64_t support_random(int64_t least, int64_t most);

/* Puts the numbers from `first` to n - 1 of an array in random order. */
void support_shuffle(int *order, int first, int n);

/* Any value of a type, the special ones often. */
void support_value(elementwise_dtype type, void *element);

/* The special values of a type, as elements; their number. */
enum { SUPPORT_SPECIALS = 96 };
int support_specials(elementwise_dtype type, void *elements);

/*
 * A tensor in memory of its own between two pages that trap. Its elements
 * and the gaps between them stand against one of the two; towards the other
 * there is a margin. Start from zeros.
 */
struct support_tensor {
    elementwise_tensor t;   /* as the library gets it */
    elementwise_tensor was; /* as it was at support_keep */
    int64_t shape[ELEMENTWISE_MAX_NDIM], strides[ELEMENTWISE_MAX_NDIM];
    char *map, *area, *copy; /* area: the elements, the gaps, the margin */
    size_t map_size, area_size, copy_size;
};

enum support_edge { SUPPORT_LOW, SUPPORT_HIGH };

/* Lays out a tensor, with memory reused if there is enough; strides may be
   NULL. Bytes are 0xA5. */
void support_make(struct support_tensor *s, elementwise_dtype type, int ndim,
                  const int64_t shape[], const int64_t strides[],
                  enum support_edge edge);

/* One dimension of n elements. */
void support_line(struct support_tensor *s, elementwise_dtype type, int64_t n,
                  int64_t stride, enum support_edge edge);

/* For what is made anew in a loop: the rest goes with the process of a test. */
void support_free(struct support_tensor *s);

/* Random values in all elements. */
void support_fill(struct support_tensor *s);

/* Turns the zeros of a bool or integer tensor into ones, so that it can be a
   divisor. */
void support_no_zeros(struct support_tensor *s);

/* Remembers all bytes, for the following three. */
void support_keep(struct support_tensor *s);
bool support_same(const struct support_tensor *s);
bool support_gaps_same(const struct support_tensor *s);
void support_restore(struct support_tensor *s);

/* Random layouts */

/* Strides without overlap: permuted, negative, with gaps; for an input
   also 0. */
void support_strides(int ndim, const int64_t shape[], bool input,
                     int64_t strides[]);

/* Two shapes that broadcast under axis, and what they give. */
struct support_shapes {
    int axis, x_ndim, y_ndim, ndim;
    int64_t x[ELEMENTWISE_MAX_NDIM], y[ELEMENTWISE_MAX_NDIM];
    int64_t out[ELEMENTWISE_MAX_NDIM];
};
void support_pair(int max_ndim, int64_t max_extent, struct support_shapes *s);

/* Shape n of all shapes with extents least ... most, by rank; its rank. There
   are support_count_shapes of up to a rank. */
int support_nth_shape(int n, int least, int most, int64_t shape[]);
int support_count_shapes(int max_ndim, int least, int most);

/* Comparison */

/* "f32 (2,3) strides (3,1)" */
void support_describe(const elementwise_tensor *t, char *text, size_t size);

/* What the reference expects of the call; out's shape is taken as right. */
elementwise_status support_expected(elementwise_op op,
                                    const struct support_tensor *x,
                                    const struct support_tensor *y, int axis,
                                    elementwise_dtype out);

/*
 * Fails the test unless the status is the expected one, out holds what the
 * reference accepts for x and y as they were kept, and nothing else has
 * changed: no gap, no margin, no input, and no out that was refused. out may
 * be x or y.
 */
void support_verify(elementwise_status status, elementwise_op op,
                    const struct support_tensor *x,
                    const struct support_tensor *y, int axis,
                    const struct support_tensor *out);

/* The same for elementwise_copy, where it must succeed. */
void support_verify_copy(elementwise_status status,
                         const struct support_tensor *src, int axis,
                         const struct support_tensor *dst);

#endif
