/*
 * counterpart.h - what other systems call our operations.
 */
#ifndef COUNTERPART_H
#define COUNTERPART_H

#include "elementwise.h"

/** In the order in which they are shown. */
enum {
    DIALECT_NUMPY,
    DIALECT_TORCH,
    DIALECT_TENSORFLOW,
    DIALECT_ONNX7,
    DIALECT_ONNX6,
    DIALECT_PADDLE1,
    DIALECT_PADDLE2,
    DIALECT_CAFFE,
    DIALECT_CAFFE2,
    DIALECT_PDPD,
    DIALECTS
};

/** The system's own name for op, as in "Mul"; NULL if it has none such that
    takes two arrays. */
const char *counterpart_name(int dialect, elementwise_op op);

/** Likewise, of Caffe's layer for bottoms of equal shapes. */
const char *counterpart_eltwise(elementwise_op op);

#endif
