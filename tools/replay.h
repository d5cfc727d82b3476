/*
 * replay.h - one case of known operands and results, computed by the library
 * and judged.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "vectors.h"

enum replay_verdict {
    REPLAY_EQUAL,     /**< the same bits; any NaN is like any other */
    REPLAY_CLOSE,     /**< within the bound of the operation */
    REPLAY_PURPOSE,   /**< not the framework's, but what is documented */
    REPLAY_DIFFERENT, /**< anything else */
    REPLAY_VERDICTS
};

/** How to replay; memory that is used from case to case. Start from zeros and
    end with replay_close. */
struct replay {
    bool strided;  /**< every operand gets random strides */
    uint64_t seed; /**< of those; not 0 */
    double ulp;    /**< the bound in ULP; < 0: the operation's own */
    struct {
        unsigned char *data;
        size_t room;
    } memory[VECTOR_ROLES];
};

/** What became of a case. */
struct replay_result {
    enum replay_verdict verdict;
    double ulp;    /**< the largest distance from the framework's result */
    char why[512]; /**< one line, if the case is different */
};

/** Returns an exit code: COMMAND_TOO_BIG if there is no memory. */
int replay_run(struct replay *replay, const struct vector *vector,
               struct replay_result *result);

void replay_close(struct replay *replay);

/** The bound of an operation, or of its gradient, in ULP; dtype is the
    result's. */
double replay_bound(elementwise_op op, elementwise_dtype dtype, bool gradient);

#endif
