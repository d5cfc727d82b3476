/*
 * Tiles of several loops gathered by kernels that permute or turn.
 */
#ifndef EW_PERMUTATION_H
#define EW_PERMUTATION_H

#include "layout.h"

enum { EW_TURNED_BYTES = 16 }; /* of a row, or a column, of what is turned */

/* About how many picoseconds a kernel takes that permutes, and how many windows
   then take the least; or `least` if that is no more. */
int64_t ew_permutation_permuting(const struct ew_layout *layout, int64_t least,
                                 int *windows);

/* The same for a kernel that turns, and of how many bytes what it turns is, +
   EW_FROM_WINDOWS if from windows; or INT64_MAX if it cannot. */
int64_t ew_permutation_turning(const struct ew_layout *layout, int64_t *turned);

/* Fills p for the kernel of a way, with tables in places. False if there is too
   little for it, or more than tables have room for. */
bool ew_permutation_make(struct ew_permutation *p,
                         int32_t places[EW_DEEP_ELEMENTS],
                         const struct ew_layout *layout,
                         const struct ew_gathering *way);

#endif
