/*
 * The loops of conversions: of one operand, of f16 by the processor's own
 * instructions, of halves by way of f32, and of floats to integers, block by
 * block without a look at what does not fit, and with one where that is needed.
 */
#ifndef EW_CONVERT_LOOP_H
#define EW_CONVERT_LOOP_H

#include <math.h>

#include "bits.h"
#include "half.h"
#include "loop.h"

#if defined(__F16C__)
/* Dense rows of f16 to or from f32: blocks first, then what is left. */
EW_INLINE void convert_f16(ew_apply *apply, bool narrow, int64_t rows,
                           int64_t cols, const char *x, char *out,
                           const struct ew_stride s[])
{
    int64_t size = s[EW_X].col, size_out = s[EW_OUT].col;
    for (int64_t r = 0; r < rows; r++) {
        int64_t c = 0;
        for (; c + EW_HALF_BLOCK <= cols; c += EW_HALF_BLOCK)
            if (narrow)
                ew_half_narrow_f16(x + c * size, out + c * size_out);
            else
                ew_half_widen_f16(x + c * size, out + c * size_out);
        for (; c < cols; c++)
            apply(x + c * size, NULL, NULL, out + c * size_out);
        x += s[EW_X].row;
        out += s[EW_OUT].row;
    }
}
#endif

/* What a conversion of floats to an integer type reads: its lowest and its
   highest number as a double, rounded. Compilers that knew them would choose
   between bytes that are made of them, by masks of bytes, and not between
   floats, by a maximum and a minimum. */
struct convert_bounds {
    double lowest, highest;
    bool quick; /* all numbers fit, or it is found out afterwards */
};

EW_INLINE struct convert_bounds convert_unknown(double lowest, double highest)
{
    volatile double bounds[] = {lowest, highest};
    return (struct convert_bounds){bounds[0], bounds[1], false};
}

/* One operand: it stands in for y too, which is not looked at. As if y moved,
   an x that stands still has one of the forms that are vectors. */
EW_INLINE void convert_with(ew_apply *apply, const struct convert_bounds *with,
                            int from, int to, int64_t size_from,
                            int64_t size_to, int64_t rows, int64_t cols,
                            void *const data[], const struct ew_stride s[])
{
#if defined(__F16C__)
    bool widen = from == ELEMENTWISE_F16 && to == ELEMENTWISE_F32;
    bool narrow = from == ELEMENTWISE_F32 && to == ELEMENTWISE_F16;
    bool dense = s[EW_X].col == size_from && s[EW_OUT].col == size_to;
    if ((widen || narrow) && dense) {
        convert_f16(apply, narrow, rows, cols, data[EW_X], data[EW_OUT], s);
        return;
    }
#endif
    (void)from, (void)to;
    void *const operands[] = {data[EW_X], data[EW_X], data[EW_OUT]};
    const struct ew_stride strides[] = {s[EW_X], {0, size_from}, s[EW_OUT]};
    ew_loop_all(apply, EW_ROWS_ONE, with, size_from, size_from, size_to, rows,
                cols, operands, strides);
}

EW_INLINE void convert_loop(ew_apply *apply, int from, int to,
                            int64_t size_from, int64_t size_to, int64_t rows,
                            int64_t cols, void *const data[],
                            const struct ew_stride s[])
{
    convert_with(apply, NULL, from, to, size_from, size_to, rows, cols, data,
                 s);
}

/* By two kernels, one to f32 and one from it, so few elements at a time that
   the stack has room. Not part of its callers, as compilers would give each
   of them in a kernel a buffer of its own. */
static __attribute__((noinline, unused)) void
convert_through(ew_kernel *to_f32, ew_kernel *from_f32, int64_t rows,
                int64_t cols, void *const data[], const struct ew_stride s[])
{
    enum { MOST = 512, SIZE = sizeof(float) };
    _Alignas(EW_LINE) float wide[MOST];
    const int64_t width = cols < MOST ? cols : MOST, height = MOST / width;
    for (int64_t r = 0; r < rows; r += height)
        for (int64_t c = 0; c < cols; c += width) {
            int64_t h = rows - r < height ? rows - r : height;
            int64_t w = cols - c < width ? cols - c : width;
            char *x = ew_loop_at(data, s, EW_X, r);
            char *out = ew_loop_at(data, s, EW_OUT, r);
            void *const first[] = {x + c * s[EW_X].col, NULL, wide};
            void *const then[] = {wide, NULL, out + c * s[EW_OUT].col};
            const struct ew_stride dense = {w * SIZE, SIZE};
            to_f32(h, w, first,
                   (const struct ew_stride[]){s[EW_X], {0, 0}, dense});
            from_f32(h, w, then,
                     (const struct ew_stride[]){dense, {0, 0}, s[EW_OUT]});
        }
}

/* What does not fit a signed integer, and NaN, becomes the lowest number, whose
   last bits are 0: C leaves open what (Annex F), processors do not. */
#if defined(__SSE2__) && !defined(__clang__)
#define EW_INDEFINITE
enum { CONVERT_INDEFINITE = true };
#else
enum { CONVERT_INDEFINITE = false };
#endif

/* Whether there is a quick way to integers of so many bytes, of 4 or 8. AVX-512
   has all conversions; before, of 8 bytes there is one element at a time, and
   numbers up to 2^51 are made by an addition after which the last bit of an
   integer is that of a double. To 4 bytes it is the conversion to signed ones
   with nothing around it, which gains nothing where that waits for memory. */
EW_INLINE bool convert_is_quick(int from, int64_t size, bool is_signed)
{
    bool indefinite = CONVERT_INDEFINITE && size == sizeof(int32_t);
#if defined(__AVX512DQ__)
    return indefinite && is_signed && from == ELEMENTWISE_F64;
#elif defined(__AVX2__)
    return size == sizeof(int64_t) ||
           (indefinite && !(is_signed && from == ELEMENTWISE_F32));
#else
    (void)from, (void)is_signed, (void)indefinite;
    return false;
#endif
}

/* An integer of 8 bytes, quickly; from a negative number it may be 0. */
EW_INLINE uint64_t convert_near(double v, bool is_signed, double zero)
{
    v = is_signed || v > zero ? v : zero;
    return bits_f64(trunc(v) + 0x1.8p52) - bits_f64(0x1.8p52);
}

EW_INLINE bool convert_all_near_f32(int64_t n, const char *x)
{
    const int32_t no = 0, yes = -1;
    int32_t far = no;
    for (int64_t i = 0; i < n; i++) {
        float v;
        memcpy(&v, x + i * (int64_t)sizeof v, sizeof v);
        far |= fabsf(v) < 0x1p51f ? no : yes;
    }
    return !far;
}

EW_INLINE bool convert_all_near_f64(int64_t n, const char *x)
{
    const int64_t no = 0, yes = -1;
    int64_t far = no;
    for (int64_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, x + i * (int64_t)sizeof v, sizeof v);
        far |= fabs(v) < 0x1p51 ? no : yes;
    }
    return !far;
}

/* Whether none of the integers of 4 bytes may be what is made of numbers that
   do not fit; of unsigned ones the upper half is made elsewhere. */
EW_INLINE bool convert_all_fit(int64_t n, bool is_signed, const int32_t *made)
{
    int32_t least = INT32_MAX;
    for (int64_t i = 0; i < n; i++)
        least = made[i] < least ? made[i] : least;
    return is_signed ? least > INT32_MIN : least >= 0;
}

/* A block; false: not all of it is right. */
EW_INLINE bool convert_block(ew_apply *apply,
                             const struct convert_bounds *quick, int from,
                             bool is_signed, int64_t size_from, int64_t size_to,
                             int64_t n, const char *x, char *out)
{
    const bool wide = size_to == sizeof(int64_t);
    if (wide && from == ELEMENTWISE_F32 && !convert_all_near_f32(n, x))
        return false;
    if (wide && from == ELEMENTWISE_F64 && !convert_all_near_f64(n, x))
        return false;
    ew_loop_piece(apply, 0, n, x, x, quick, out, size_from, size_from, size_to);
    return wide || convert_all_fit(n, is_signed, (const void *)out);
}

/* Dense rows. What is made twice is there still, as out is never x of another
   type. */
EW_INLINE void convert_quickly(ew_apply *apply,
                               const struct convert_bounds *with, int from,
                               bool is_signed, int64_t size_from,
                               int64_t size_to, int64_t rows, int64_t cols,
                               void *const data[], const struct ew_stride s[])
{
    enum { BLOCK = 256 };
    const struct convert_bounds quick = {with->lowest, with->highest, true};
    for (int64_t r = 0; r < rows; r++) {
        const char *x = ew_loop_at(data, s, EW_X, r);
        char *out = ew_loop_at(data, s, EW_OUT, r);
        for (int64_t left = cols, n; left > 0; left -= n) {
            n = left < BLOCK ? left : BLOCK;
            if (!convert_block(apply, &quick, from, is_signed, size_from,
                               size_to, n, x, out))
                ew_loop_piece(apply, 0, n, x, x, with, out, size_from,
                              size_from, size_to);
            x += n * size_from;
            out += n * size_to;
        }
    }
}

#endif
