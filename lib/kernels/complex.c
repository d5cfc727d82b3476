/*
 * The kernels of c64 and c128: complex.inc, once per type, with the
 * divisions and powers of complex_divide.h, complex_divide_c64.h and
 * complex_power.h.
 */
#include "complex_divide_c64.h"
#include "complex_power.h"
#include "loop.h"

#define T struct ew_c64
#define NAME(x) x##_c64
#define PAST_DIV EW_PAST_DIV_C64
#include "complex.inc"

#define T struct ew_c128
#define NAME(x) x##_c128
#define PAST_DIV NULL
#include "complex.inc"

const ew_kernel_row *const EW_CONCAT(ew_complex, EW_LEVEL)[2] = {&row_c64,
                                                                 &row_c128};
