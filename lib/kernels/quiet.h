/*
 * Puts errno back after calls that may set it. The store is volatile, because
 * compilers that are told that libm leaves errno alone, or know that of malloc,
 * drop the store of what they think is there already.
 */
#ifndef EW_QUIET_H
#define EW_QUIET_H

#include <errno.h>

static inline void ew_quiet_restore(int before)
{
    *(volatile int *)&errno = before;
}

#endif
