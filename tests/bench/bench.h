/*
 * What the parts of the benchmark share: the rows that are timed, their
 * operands in memory, the limits of the machine they are compared with, and
 * the figures that come out.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elementwise.h"

enum { BENCH_NDIM = 6 };

/* An operand's layout. */
struct bench_layout {
    int ndim;
    int64_t shape[BENCH_NDIM];
    int order[BENCH_NDIM]; /* the dimensions as they lie in memory, outermost
                              first: {1, 0} is a transposed matrix */
    int64_t step;   /* between neighbours of the innermost; -1 reverses */
    int64_t margin; /* elements left out at the end of each innermost row */
    double number;  /* that a scalar is; NAN: any */
};

enum bench_kind { BENCH_FORWARD, BENCH_GRADIENT, BENCH_SUM };

/* Where the result goes: into memory of its own, into x, or there with y the
   same tensor as x. */
enum bench_target { BENCH_APART, BENCH_IN_PLACE, BENCH_SELF };

struct bench_pattern {
    struct bench_layout x, y; /* BENCH_SUM: x is summed to y's shape */
    struct bench_layout out;  /* its shape is that of x and y together */
    int axis;
    enum bench_kind kind;
    enum bench_target target;
};

struct bench_row {
    struct bench_pattern pattern;
    elementwise_op op;
    elementwise_act act; /* after op, in the same pass */
    elementwise_dtype type;
    char name[128]; /* "P4 64x128x28x28,128@1 add f32" */
};

enum { BENCH_TYPES = 9 };
extern const elementwise_dtype bench_types[BENCH_TYPES];

/* What is done with a layout. */
struct bench_work {
    enum bench_kind kind;
    elementwise_op op;
    elementwise_act act;
};

/* layout is in the notation of rows.c. False: the operation has no such
   type. */
bool bench_row_make(struct bench_row *row, const char *id, const char *layout,
                    const struct bench_work *work, elementwise_dtype type);

/* All operations and types on one layout, to be freed, and their number. NULL:
   that is none, as it says, or there is no memory. */
struct bench_row *bench_layout_rows(const char *layout, int *count);

/* Rows of random layouts, operations and types, to be freed; with outs their
   results have random layouts, too, and else are dense. */
struct bench_row *bench_random_rows(int count, uint64_t seed, bool outs);

/* All rows of the matrix, to be freed, and their number. */
struct bench_row *bench_rows(int *count);

/* ---------------------------------------------------------------------
 * The library
 */

enum { BENCH_OPS = ELEMENTWISE_BITWISE_RIGHT_SHIFT };

/* The calls that are timed, of the library that the benchmark is linked with or
   of another build of it, which must have all: an operation without options by
   its own function, as users call it. */
struct bench_library {
    __typeof__(elementwise_add) *named[BENCH_OPS + 1];
    __typeof__(elementwise_apply) *apply;
    __typeof__(elementwise_apply_grad) *apply_grad;
    __typeof__(elementwise_sum_to) *sum_to;
    __typeof__(elementwise_plan_create) *plan_create;
    __typeof__(elementwise_plan_describe) *plan_describe;
    __typeof__(elementwise_plan_destroy) *plan_destroy;
};

extern const struct bench_library bench_linked;

/* Loads the build in a shared library, beside the one that is linked, for as
   long as the program runs; false, and why on stderr, if it cannot. */
bool bench_library_load(struct bench_library *library, const char *path);

/* ---------------------------------------------------------------------
 * Operands in memory
 */

/* OUT is the result, or dout of a gradient. */
enum bench_operand { X, Y, OUT, DX, DY, BENCH_OPERANDS };

struct bench_case {
    const struct bench_row *row;
    elementwise_options options;
    elementwise_tensor t[BENCH_OPERANDS];
    int64_t shape[BENCH_OPERANDS][BENCH_NDIM];
    int64_t strides[BENCH_OPERANDS][BENCH_NDIM];
    bool used[BENCH_OPERANDS];    /* takes part, in memory of its own */
    char *start[BENCH_OPERANDS];  /* the lowest byte, */
    size_t bytes[BENCH_OPERANDS]; /* and how many from there */
};

/* Memory that cases are placed in, one after the other. */
struct bench_arena {
    char *base;
    size_t size, taken;
};

bool bench_arena_make(struct bench_arena *arena, size_t size);

/* Places the operands of a row; false if they do not fit. */
bool bench_case_make(struct bench_case *c, const struct bench_row *row,
                     struct bench_arena *arena);

/* Values that are usual for the operation: no zeros to divide by, no NaN. */
void bench_case_fill(const struct bench_case *c);

/* The same values for another case of the same row. */
void bench_case_copy(const struct bench_case *from,
                     const struct bench_case *to);

/* The extents and strides of an operand over the ndim dimensions of the
   result: 1 and 0 where it has none. Returns ndim. */
int bench_align(const struct bench_case *c, enum bench_operand k,
                int64_t extent[], int64_t stride[]);

bool bench_is_output(const struct bench_case *c, enum bench_operand k);

/* So many calls, as a program would make them: not OK if one was not. */
elementwise_status bench_case_call(const struct bench_case *c, int times,
                                   const struct bench_library *library);

/* Whether another build says something else of the plan of an operation;
   gradients and sums have none to compare. */
bool bench_plans_differ(const struct bench_case *c,
                        const struct bench_library *other);

int64_t bench_elements(const elementwise_tensor *t);

/* Bytes of the cache lines that hold elements of t. */
double bench_line_bytes(const elementwise_tensor *t);

/* Runs the row once and compares with a plain loop over the definition.
   Large results are compared in places. */
bool bench_verify(const struct bench_case *c);

/* ---------------------------------------------------------------------
 * The machine's limits
 */

/* Ways to go through memory: the mix of reads and writes decides the rate. */
enum bench_stream {
    BENCH_READ,   /* x */
    BENCH_FILL,   /* out = 0 */
    BENCH_SCALE,  /* out = a x */
    BENCH_ADD,    /* out = x + y */
    BENCH_UPDATE, /* out += x */
    BENCH_RENEW,  /* out += 1 */
    BENCH_STREAMS
};

/* Arithmetic that is slower than memory in the L1 cache. */
enum bench_unit {
    BENCH_DIV32,
    BENCH_DIV64,
    BENCH_FMA64,
    BENCH_MUL32, /* products of i32, most with a sum */
    BENCH_MUL64,
    BENCH_GATHER,
    BENCH_UNITS
};

enum { BENCH_POINTS = 28 };

struct bench_machine {
    int points;
    double bytes[BENCH_POINTS]; /* gone through, all operands together */
    /* Bytes per second, by stores to the caches and by non-temporal ones */
    double rate[BENCH_STREAMS][BENCH_POINTS];
    double streamed[BENCH_STREAMS][BENCH_POINTS];
    double unit[BENCH_UNITS]; /* seconds per element */
    double rotation; /* bytes after which nothing of a buffer is cached */
};

/* Overwrites the arena. */
void bench_machine_measure(struct bench_machine *m,
                           const struct bench_arena *arena);

/* Measures again and keeps the better figures. */
void bench_machine_raise(struct bench_machine *m,
                         const struct bench_arena *arena);

/* How much longer than when it was measured the machine takes now, as others
   share its memory and processors do not keep their clock: for what is as large
   as the row, of which first only sizes around it were measured, and for
   arithmetic. 1 each where that cannot be told. */
struct bench_drift {
    double memory, compute;
};

/* Of a row whose operands are in the arena; what is behind them there is
   overwritten. */
struct bench_drift bench_drift(const struct bench_machine *m,
                               const struct bench_arena *arena,
                               const struct bench_case *c);

/* The least time in seconds that a row can take; cold: from memory. */
double bench_limit(const struct bench_machine *m, const struct bench_case *c,
                   struct bench_drift drift, bool cold);

/* The time in which elements of inputs that are not neighbours where those of
   the result are can be picked one by one. */
double bench_gather_time(const struct bench_machine *m,
                         const struct bench_case *c);

/* Each operand has neighbours in memory along one of the loops: the longest of
   these. */
int64_t bench_inner_extent(const struct bench_case *c);

/* ---------------------------------------------------------------------
 * Time
 */

struct bench_time {
    double median, low, high; /* seconds per call or ratios, quartiles */
    int samples;
};

double bench_now(void);

/* Seconds that this thread has run: all is done on one thread, and what other
   programs on its processor take does not count. */
double bench_spent(void);
void bench_pin(int cpu);

/* Times calls of n cases in turn for about the given seconds. */
struct bench_time bench_measure(const struct bench_case *cases, int n,
                                double seconds);

/* The same with another build in turns: the time of this one over that of the
   other, of each pair of batches. */
struct bench_time bench_compare(const struct bench_case *cases, int n,
                                const struct bench_library *other,
                                double seconds);

#endif
