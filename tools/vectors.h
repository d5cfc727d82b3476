/*
 * vectors.h - test vectors: calls whose operands and results are known, one
 * after the other, from a text file or a folder of .npy files.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "elementwise.h"

/** What an array is in its case. The last three are what the library gives
    where it differs from the framework on purpose. */
enum vector_role {
    VECTOR_X,
    VECTOR_Y,
    VECTOR_DOUT,
    VECTOR_OUT,
    VECTOR_DX,
    VECTOR_DY,
    VECTOR_OUR_OUT,
    VECTOR_OUR_DX,
    VECTOR_OUR_DY,
    VECTOR_ROLES
};

struct vector_array {
    bool given, copied; /**< copied: from the result it differs from */
    elementwise_dtype dtype;
    int ndim;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    bool strided; /**< strides are given, in elements */
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    size_t count;        /**< elements there are in data */
    unsigned char *data; /**< row-major; reused from case to case */
    size_t room;
};

enum { VECTOR_WORD = 64, VECTOR_REASONS = 8 };

/** One case. Start from zeros and end with vectors_close. */
struct vector {
    long line; /**< where it begins */
    elementwise_op op;
    bool gradient;
    int axis;
    int reasons; /**< why the results differ; 0: they do not */
    char reason[VECTOR_REASONS][VECTOR_WORD];
    bool whole;     /**< a reason names no elements: it is for all */
    bool fails;     /**< the framework refuses the call */
    bool our_fails; /**< the library does, for the reason */
    elementwise_status status, our_status; /**< with this; OK: with any */
    struct vector_array array[VECTOR_ROLES];
};

/** A file of cases. Start from zeros. */
struct vectors {
    const char *name; /**< as the user wrote it */
    FILE *file;
    char *folder;     /**< of the .npy files of a manifest; NULL: a text file */
    char *path;       /**< of the manifest */
    bool bf16;        /**< files of V2 are bf16 */
    long line, at;    /**< read last, and the one to complain about */
    char *text;       /**< the line */
    size_t room;      /**< of text */
    int code;         /**< of what cannot be a line, or COMMAND_DONE */
    char source[256]; /**< the framework and its version */
    struct vector vector;
};

/**
 * Opens a text file, or the file manifest.txt of a folder. Returns an exit
 * code; whatever it is, vectors_close is due.
 */
int vectors_open(struct vectors *vectors, const char *name, bool bf16);

/**
 * Reads the next case into vectors->vector; *more is false if there is none.
 * Returns an exit code, having named file and line.
 */
int vectors_next(struct vectors *vectors, bool *more);

void vectors_close(struct vectors *vectors);

/** Whether the case says what our library gives instead. */
bool vectors_is_documented(const struct vector *vector);

/** The name of an enum vector_role in files, such as "dx". */
const char *vectors_role_name(int role);

#endif
