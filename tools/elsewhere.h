/*
 * elsewhere.h - prints how other systems see two shapes.
 */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include <stdbool.h>

#include "call.h"
#include "dialect.h"

/** One line per system, each with the arguments that apply to it. */
void elsewhere_print_table(const struct call *call,
                           const struct dialect_arguments *arguments);

/** One system's operation and arguments, the call of ours and of NumPy's, and
    notes. */
void elsewhere_print_call(const struct call *call,
                          const struct dialect_view *view);
void elsewhere_print_arguments(int dialect,
                               const struct dialect_arguments *arguments,
                               const struct dialect_view *view);

/** Says on stderr which axes would be legal there, what is here, and notes. */
void elsewhere_print_help(const struct call *call, int dialect,
                          const struct dialect_arguments *arguments,
                          const struct dialect_view *view);

/** ,"dialects":[...] with one system, or all if dialect is -1. */
void elsewhere_print_json(const struct call *call, int dialect,
                          const struct dialect_arguments *arguments);

#endif
