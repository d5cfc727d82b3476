/*
 * npy.h - the header of a .npy file, as bytes and as a struct. Nothing here
 * opens, maps or allocates anything.
 */
#ifndef NPY_H
#define NPY_H

#include <stdbool.h>
#include <stddef.h>

#include "elementwise.h"

/** Room for every header that npy_format writes. */
enum { NPY_HEADER_SIZE = 1536 };

struct npy {
    int version; /**< 1, 2 or 3; the minor number is always 0 */
    char descr[16];
    elementwise_dtype dtype;
    /** descr is V2, two bytes of anything: dtype is BF16 if the user says
        so, and otherwise unknown. */
    bool untyped;
    bool foreign; /**< the bytes of a number are in the other order */
    bool fortran; /**< the first dimension varies fastest */
    int ndim;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    size_t offset; /**< where the data begins in the file */
    size_t nbytes; /**< of the data */
};

/**
 * Reads the header at the start of a file of n bytes, all of which are there:
 * that the data is complete is checked too, but none of it is read. Returns
 * false and says why, in one line, cut to size, if the file is malformed or
 * of a type that has no elementwise_dtype.
 */
bool npy_parse(const unsigned char *bytes, size_t n, struct npy *out, char *why,
               size_t size);

/**
 * Writes the header, version 1.0, of an array in the byte order of this
 * machine. Returns its length, a multiple of 64.
 */
size_t npy_format(elementwise_dtype dtype, int ndim, const int64_t *shape,
                  bool fortran, char header[NPY_HEADER_SIZE]);

/** The descr that npy_format writes, such as "<f4", in text. */
void npy_describe(elementwise_dtype dtype, char text[16]);

#endif
