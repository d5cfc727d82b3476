/*
 * Turns elements of complex types into their parts and back, and tells what
 * kind a part is of.
 */
#include "complex_parts.h"

#include <math.h>
#include <string.h>

#include "reference.h"

struct ew_c128 parts_load(elementwise_dtype type, const void *element)
{
    struct ref_value v = ref_load(type, element);
    return (struct ew_c128){v.re, v.im};
}

void parts_store(elementwise_dtype type, struct ew_c128 a, void *element)
{
    const float narrow[] = {(float)a.re, (float)a.im};
    if (type == ELEMENTWISE_C64)
        memcpy(element, narrow, sizeof narrow);
    else
        memcpy(element, &a, sizeof a);
}

double complex parts_joined(struct ew_c128 a)
{
    double complex z;
    memcpy(&z, &a, sizeof z);
    return z;
}

bool parts_are_zero(struct ew_c128 a)
{
    return a.re == 0 && a.im == 0;
}

bool parts_same_kind(double a, double b)
{
    return isfinite(a) ? isfinite(b) : isnan(a) ? isnan(b) : a == b;
}
