/*
 * command.h - what the parts of the command share: the parsed command line,
 * the exit codes and the way to complain. Every subcommand takes arguments
 * and returns an exit code, having said on stderr what went wrong.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "dialect.h"
#include "elementwise.h"

enum {
    COMMAND_DONE = 0,
    COMMAND_DIFFERENT = 1, /* what was compared differs */
    COMMAND_USAGE = 2,     /* the command line makes no sense */
    COMMAND_REFUSED = 3,   /* shapes, axis or types do not go together */
    COMMAND_FILE = 4,      /* a file cannot be read or written */
    COMMAND_TOO_BIG = 5,   /* no memory, or a size beyond int64 */
    COMMAND_DIVISION = 6,  /* an integer division by zero */
};

struct arguments;

/** A subcommand; all operations are one, which has no name. */
struct subcommand {
    const char *name;
    unsigned bit; /**< one of those below, for the options it takes */
    int (*run)(const struct arguments *arguments);
    const char *help;
};

enum {
    FOR_APPLY = 1,
    FOR_COPY = 2,
    FOR_EXPLAIN = 4,
    FOR_INFO = 8,
    FOR_LIST = 16,
    FOR_GRAD = 32,
    FOR_SUM_TO = 64,
    FOR_CONFORM = 128,
    FOR_DIFF = 256,
    FOR_ALL = 511
};

struct arguments {
    const char *command; /**< the first operand; NULL if there is none */
    elementwise_op op;   /**< the operation of that name, or 0 */
    const struct subcommand *subcommand; /**< NULL: there is none */
    char **operands; /**< what follows, without the options */
    int count;
    int axis;
    const char *output; /**< NULL if not given, as below */
    const char *dx, *dy;
    const char *shape;           /**< not parsed yet */
    elementwise_dtype out_dtype; /**< 0 if not given */
    int dialect;                 /**< another system, for explain; -1: none */
    struct dialect_arguments elsewhere; /**< and what it takes */
    const char *cpu;                    /**< NULL if not given */
    uint64_t strides_seed;              /**< 0 if not given */
    double ulp;                         /**< < 0 if not given */
    elementwise_options options;        /**< --act, --alpha and scales */
    bool alpha;                         /**< --alpha is given */
    bool bf16, json, help, version;
};

/**
 * Reads the command line, moving the operands to the front of argv. Options
 * may stand anywhere; what reads as a number is never an option.
 */
int arguments_parse(int argc, char **argv, struct arguments *arguments);

/** Prints "elementwise: ", the text and a newline on stderr; returns code. */
__attribute__((format(printf, 2, 3))) int command_fail(int code,
                                                       const char *format, ...);

/** The exit code of a status. */
int command_code(elementwise_status status);

/** Complains with the library's message; returns the status' exit code. */
int command_fail_status(elementwise_status status);

/** The subcommand of that name, which may be an operation's; NULL: none. */
const struct subcommand *command_find(const char *name);

/** The operation that the first operand names; 0 having complained. */
elementwise_op command_operation(const struct arguments *arguments);

/** Whether it has a gradient on floats. */
bool command_has_gradient(elementwise_op op);

int command_apply(const struct arguments *arguments);
int command_conform(const struct arguments *arguments);
int command_copy(const struct arguments *arguments);
int command_diff(const struct arguments *arguments);
int command_explain(const struct arguments *arguments);
int command_grad(const struct arguments *arguments);
int command_info(const struct arguments *arguments);
int command_list(const struct arguments *arguments);
int command_sum_to(const struct arguments *arguments);

/** What the subcommands do, and the command as a whole. */
extern const char help_overview[], help_apply[], help_conform[], help_copy[],
    help_diff[], help_explain[], help_grad[], help_info[], help_list[],
    help_sum_to[];

/** What op computes, such as "x + y"; "" if nothing is known. */
const char *help_formula(elementwise_op op);

#endif
