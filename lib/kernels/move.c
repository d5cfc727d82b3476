/*
 * The kernels that move elements unchanged, by their size: move.inc, once
 * per size. They pack operands into dense tiles, and copy.
 */
#include "loop.h"

/* Where a compiler cannot shuffle vectors, transposes are strided loops. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define EW_SHUFFLES
#endif
#endif

enum { EW_SPREAD_MOST = 64 }; /* bytes of the longest row that is one store */

#define T uint8_t
#define NAME(x) x##_1
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#include "move.inc"

#define T uint16_t
#define NAME(x) x##_2
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#include "move.inc"

#define T uint32_t
#define NAME(x) x##_4
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#include "move.inc"

#define T uint64_t
#define NAME(x) x##_8
#define LOW 0, 2
#define HIGH 1, 3
#include "move.inc"

#define T struct ew_c128
#define NAME(x) x##_16
#include "move.inc"

ew_kernel *const EW_CONCAT(ew_move, EW_LEVEL)[EW_MOVES] = {
    move_1, move_2, move_4, move_8, move_16};
