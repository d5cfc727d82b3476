/*
 * operand.h - an input: a mapped .npy file, or a number.
 */
#ifndef OPERAND_H
#define OPERAND_H

#include <stdbool.h>
#include <stddef.h>

#include "npy.h"

/** It is filled in where it stands and must not be moved. */
struct operand {
    elementwise_tensor tensor;
    struct npy header; /**< of a file */
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    const char *file;   /**< its name; NULL: not a file */
    unsigned char *map; /**< the whole file, or slab_load's */
    size_t size;
    _Alignas(16) unsigned char number[16];
};

/**
 * Maps a .npy file. Only the header is read; bf16 says that a file of V2 is
 * one of bf16. Returns an exit code. Whatever it is, operand_close is due.
 */
int operand_open(struct operand *operand, const char *file, bool bf16);

/** Makes operand a number next to an array of type other: one element. */
int operand_set_number(struct operand *operand, const char *text,
                       elementwise_dtype other);

/** Does nothing to an operand that is all zero. */
void operand_close(struct operand *operand);

/** Whether the library can read the data where it is mapped: it is aligned
    and in this machine's byte order. */
bool operand_is_ready(const struct operand *operand);

/** Bytes of a real number: half of an element of a complex type. */
size_t operand_part(elementwise_dtype dtype);

#endif
