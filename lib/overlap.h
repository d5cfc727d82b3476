/*
 * Whether two operands of a loop nest, or one operand with itself, touch the
 * same byte. Exact within a bound of work; what that cannot decide counts as
 * overlap.
 */
#ifndef EW_OVERLAP_H
#define EW_OVERLAP_H

#include <stdbool.h>

#include "plan.h"

/* The bytes between the first and the last of operand k, of elements of so many
   bytes. */
struct ew_range ew_overlap_range(const struct ew_loop *loop, int ndim, int k,
                                 int64_t size);

/* Whether operands whose loops start at a and b are in different ranges, as
   they are as a rule: then there is nothing to search. */
static inline bool ew_overlap_apart(const char *a, struct ew_range of_a,
                                    const char *b, struct ew_range of_b)
{
    return a + of_a.last < b + of_b.first || b + of_b.last < a + of_a.first;
}

/* Operands a and b, whose loops start at pa and pb. */
bool ew_overlap_shared(const struct ew_loop *loop, int ndim, int a,
                       const char *pa, int64_t size_a, int b, const char *pb,
                       int64_t size_b);

/* Two indices of operand a have one address. Strides are >= 0 and multiples
   of the element's size. */
bool ew_overlap_self(const struct ew_loop *loop, int ndim, int a);

/* OVERLAP of such an operand, naming the dimension whose stride is too
   short. */
elementwise_status ew_overlap_fail(const char *what, const char *name,
                                   const elementwise_tensor *t);

#endif
