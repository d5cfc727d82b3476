/*
 * What the tests of kernels share: calls of one kernel by itself, on rows in
 * each form that a loop can have and with elements drawn before, and their
 * comparison with the reference and the baseline's kernel.
 */
#ifndef KERNEL_CALLS_H
#define KERNEL_CALLS_H

#include "elementwise.h"
#include "support.h"
#include "table.h"

/* Strides of the inner loop, in elements. */
struct kernel_form {
    int64_t x, y, out;
};

/* The first of all are dense, with both operands or one number. */
enum { KERNEL_DENSE_FORMS = 3, KERNEL_FORMS = 15 };
extern const struct kernel_form kernel_forms[KERNEL_FORMS];

/* How the outer loop moves: in order, back, far, and with x or y standing
   still. */
enum kernel_rows {
    KERNEL_ONE_ROW,
    KERNEL_DENSE,
    KERNEL_BACK,
    KERNEL_FAR,
    KERNEL_X_STANDS,
    KERNEL_Y_STANDS,
    KERNEL_ROWS
};

/* Where out is. */
enum kernel_alias { KERNEL_APART, KERNEL_INTO_X, KERNEL_INTO_Y };

struct kernel {
    int level;
    int op; /* 0: conversion, which has no y */
    elementwise_dtype x, y, out;
    ew_kernel *run, *scalar;
    struct ew_around *around; /* NULL: the kernel is the operation alone */
};

/* Kernels take two operands of one type, or 64-bit integers of both signs. */
bool kernel_takes(elementwise_dtype x, elementwise_dtype y);

/* The elements of the largest vector of a level, in the narrower type. */
int64_t kernel_vector_length(const struct kernel *k);

/* One row of two operands of a type, the second of which may be one number. */
void kernel_compute_row(int level, int op, elementwise_dtype type, int64_t n,
                        void *x, void *y, bool one_y, void *out);

/* Values for all calls of one kernel. */
enum { KERNEL_POOL = 1024 };
extern char kernel_pool_x[KERNEL_POOL * 16], kernel_pool_y[KERNEL_POOL * 16];

/* Any values; divisors are not 0. */
void kernel_draw_pools(const struct kernel *k);

/* Puts zeros, infinities, NaN and what is near them among both operands, often
   equal ones. */
void kernel_draw_specials(const struct kernel *k);

/* The operands of a call */
extern struct support_tensor kernel_x, kernel_y, kernel_out;

/* Lays out one of them, with elements of a pool unless that is NULL. */
void kernel_make(struct support_tensor *s, elementwise_dtype type,
                 const int64_t shape[2], int64_t col, int64_t row,
                 const char *pool);

/* Lays out all, with those of their pools. */
void kernel_make_operands(const struct kernel *k, const struct kernel_form *f,
                          int64_t cols, enum kernel_rows rows);

void kernel_release(void);

struct ew_stride kernel_stride(const struct support_tensor *s);

/* Runs the kernel into out, or into x or y. */
void kernel_run(const struct kernel *k, const struct support_tensor *to);

/* One element by the baseline's kernel. */
void kernel_run_alone(const struct kernel *k, void *x, void *y, void *out);

/* Fails the test, with the kernel and its operands. */
void kernel_report(const struct kernel *k, const char *what);

/* Fails the test unless each element that was made is what the kernel is for,
   and no other byte has changed. */
void kernel_verify(const struct kernel *k, const struct support_tensor *to);

#endif
