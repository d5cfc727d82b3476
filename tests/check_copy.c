/*
 * Holds elementwise_copy against the reference's conversions: every pair of
 * types, all values of the 16-bit floats, the numbers between two floats at
 * which a second rounding would show, and sources of any layout.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "reference.h"
#include "support.h"

enum { TYPES_END = REF_TYPES + 1 };

static bool is_legal(elementwise_dtype from, elementwise_dtype to)
{
    return !ref_is_complex(from) || ref_is_complex(to) ||
           to == ELEMENTWISE_BOOL;
}

/* Copies n elements at every level and compares each. */
static void assert_converted(elementwise_dtype from, const void *elements,
                             int64_t n, elementwise_dtype to)
{
    size_t size = ref_size(to);
    char *got = malloc((size_t)n * size), expected[16];
    ck_assert_ptr_nonnull(got);
    elementwise_tensor src = {(void *)(uintptr_t)elements, from, 1, &n, NULL};
    elementwise_tensor dst = {got, to, 1, &n, NULL};
    for (int level = 0; level < EW_LEVELS && support_level(level); level++) {
        memset(got, 0xA5, (size_t)n * size);
        ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
        for (int64_t i = 0; i < n; i++) {
            struct ref_value v = ref_load(from, (const char *)elements +
                                                    (size_t)i * ref_size(from));
            v = ref_convert(&v, to);
            ref_store(&v, expected);
            ck_assert_msg(ref_same(to, expected, got + (size_t)i * size),
                          "%s to %s, level %d, element %lld of value %a",
                          elementwise_dtype_name(from),
                          elementwise_dtype_name(to), level, (long long)i,
                          v.re);
        }
    }
    free(got);
}

/* The same to every type. */
static void assert_converted_to_all(elementwise_dtype from,
                                    const void *elements, int64_t n)
{
    for (int to = 1; to < TYPES_END; to++)
        if (is_legal(from, (elementwise_dtype)to))
            assert_converted(from, elements, n, (elementwise_dtype)to);
}

/* Values; by test index, of a type */

/* Lengths that leave vectors full and not. */
START_TEST(every_pair_of_types_converts_as_in_the_reference)
{
    elementwise_dtype from = (elementwise_dtype)_i;
    static char elements[20000 * 16];
    int64_t n = support_long() ? 20000 : 2000;
    for (int64_t i = 0; i < n; i++)
        support_value(from, elements + (size_t)i * ref_size(from));
    assert_converted_to_all(from, elements, n);
    for (n = 1; n < 70; n++)
        assert_converted_to_all(from, elements + (size_t)n * ref_size(from), n);
}
END_TEST

START_TEST(special_values_convert_as_in_the_reference)
{
    elementwise_dtype from = (elementwise_dtype)_i;
    uint64_t elements[SUPPORT_SPECIALS * 2];
    assert_converted_to_all(from, elements, support_specials(from, elements));
}
END_TEST

/* All that 16 bits can be. */
START_TEST(all_16_bit_values_convert_as_in_the_reference)
{
    static uint16_t elements[65536];
    for (int i = 0; i < 65536; i++)
        elements[i] = (uint16_t)i;
    for (int from = 1; from < TYPES_END; from++)
        if (ref_size((elementwise_dtype)from) == 2)
            assert_converted_to_all((elementwise_dtype)from, elements, 65536);
}
END_TEST

/* The numbers next to the middle between two neighbours of a narrow float,
   where ties and double rounding show. */
static int64_t near_middles(elementwise_dtype from, elementwise_dtype narrow,
                            double *numbers)
{
    int64_t count = 0;
    for (unsigned bits = 0; bits < 0x7fff; bits++) {
        uint16_t low = (uint16_t)bits, high = (uint16_t)(bits + 1);
        double a = ref_load(narrow, &low).re, b = ref_load(narrow, &high).re;
        double middle = isinf(b) ? a + (a - ldexp(a, -1)) : (a + b) / 2;
        if (isnan(b) || isinf(a) || isinf(middle))
            continue;
        bool wide = from == ELEMENTWISE_F64;
        numbers[count++] = middle;
        numbers[count++] = wide ? nextafter(middle, INFINITY)
                                : (double)nextafterf((float)middle, INFINITY);
        numbers[count++] =
            wide ? nextafter(middle, 0) : (double)nextafterf((float)middle, 0);
    }
    return count;
}

static void assert_middles(elementwise_dtype from, elementwise_dtype to)
{
    enum { MOST = 3 * 0x8000 };
    double *numbers = malloc(MOST * sizeof *numbers);
    char *elements = malloc(MOST * sizeof *numbers);
    ck_assert(numbers && elements);
    int64_t n = near_middles(from, to, numbers);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int64_t i = 0; i < n; i++) {
            struct ref_value v = ref_float(from, sign * numbers[i], 0);
            ref_store(&v, elements + (size_t)i * ref_size(from));
        }
        assert_converted(from, elements, n, to);
    }
    free(elements);
    free(numbers);
}

START_TEST(floats_beside_a_tie_round_to_the_nearest)
{
    assert_middles(ELEMENTWISE_F32, ELEMENTWISE_F16);
    assert_middles(ELEMENTWISE_F32, ELEMENTWISE_BF16);
    assert_middles(ELEMENTWISE_F64, ELEMENTWISE_F16);
    assert_middles(ELEMENTWISE_F64, ELEMENTWISE_BF16);
}
END_TEST

/* Integers on, just above and just below a tie of a float with the given
   digits, in every binade that it has. */
static int64_t integer_ties(elementwise_dtype from, int digits,
                            uint64_t *numbers)
{
    int64_t count = 0;
    int width = 8 * (int)ref_size(from) - ref_is_signed(from);
    for (int top = digits; top < width; top++) {
        for (int round = 0; round < 40; round++) {
            uint64_t lead = ((uint64_t)1 << (digits - 1)) +
                            support_bits() % ((uint64_t)1 << (digits - 1));
            int drop = top + 1 - digits;
            uint64_t tie = (lead << drop) + ((uint64_t)1 << (drop - 1));
            uint64_t low = round % 4 ? 1 : (uint64_t)1 << (drop / 3);
            numbers[count++] = tie;
            numbers[count++] = tie + low;
            numbers[count++] = tie - low;
        }
    }
    return count;
}

static void assert_integer_ties(elementwise_dtype from, elementwise_dtype to,
                                int digits)
{
    static uint64_t numbers[64 * 40 * 3], elements[64 * 40 * 3];
    int64_t n = integer_ties(from, digits, numbers);
    size_t size = ref_size(from);
    for (int negative = 0; negative <= ref_is_signed(from); negative++) {
        for (int64_t i = 0; i < n; i++) {
            struct ref_value v =
                ref_integer(from, negative ? 0 - numbers[i] : numbers[i]);
            ref_store(&v, (char *)elements + (size_t)i * size);
        }
        assert_converted(from, elements, n, to);
    }
}

START_TEST(integers_round_once_to_each_float)
{
    static const elementwise_dtype integers[] = {
        ELEMENTWISE_I16, ELEMENTWISE_U16, ELEMENTWISE_I32,
        ELEMENTWISE_U32, ELEMENTWISE_I64, ELEMENTWISE_U64};
    for (int i = 0; i < 6; i++) {
        assert_integer_ties(integers[i], ELEMENTWISE_F16, 11);
        assert_integer_ties(integers[i], ELEMENTWISE_BF16, 8);
        assert_integer_ties(integers[i], ELEMENTWISE_F32, 24);
        assert_integer_ties(integers[i], ELEMENTWISE_F64, 53);
        assert_integer_ties(integers[i], ELEMENTWISE_C64, 24);
    }
}
END_TEST

static uint64_t converted(elementwise_dtype from, const void *element,
                          elementwise_dtype to)
{
    uint64_t bits = 0;
    elementwise_tensor src = {(void *)(uintptr_t)element, from, 0, NULL, NULL};
    elementwise_tensor dst = {&bits, to, 0, NULL, NULL};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
    return bits; /* of a narrow type the low bits, on little-endian machines */
}

static unsigned half_bits(elementwise_dtype from, const void *element,
                          elementwise_dtype to)
{
    uint16_t half;
    uint64_t bits = converted(from, element, to);
    memcpy(&half, &bits, sizeof half);
    return half;
}

/* By hand, so that not everything hangs on the reference: the integer is a
   little above a tie of bf16, but no f64 can tell, and the f64 is a little
   above a tie of f16, but no f32 can. */
START_TEST(known_traps_of_double_rounding_are_avoided)
{
    int64_t trap = (1LL << 62) + (1LL << 54) + 1, tie = trap - 1;
    uint64_t high = (1ULL << 63) + (1ULL << 55) + 1;
    double above = 1 + 0x1p-11 + 0x1p-50, even = 1 + 0x1p-11;
    double below = 1 + 0x1p-10 + 0x1p-11 - 0x1p-50, most = 65519.99999999;
    ck_assert_uint_eq(half_bits(ELEMENTWISE_I64, &trap, ELEMENTWISE_BF16),
                      0x5E81);
    ck_assert_uint_eq(half_bits(ELEMENTWISE_I64, &tie, ELEMENTWISE_BF16),
                      0x5E80);
    ck_assert_uint_eq(half_bits(ELEMENTWISE_U64, &high, ELEMENTWISE_BF16),
                      0x5F01);
    ck_assert_uint_eq(half_bits(ELEMENTWISE_F64, &above, ELEMENTWISE_F16),
                      0x3C01);
    ck_assert_uint_eq(half_bits(ELEMENTWISE_F64, &even, ELEMENTWISE_F16),
                      0x3C00);
    ck_assert_uint_eq(half_bits(ELEMENTWISE_F64, &below, ELEMENTWISE_F16),
                      0x3C01);
    ck_assert_uint_eq(half_bits(ELEMENTWISE_F64, &most, ELEMENTWISE_F16),
                      0x7BFF);
}
END_TEST

START_TEST(floats_saturate_in_integers_and_nan_is_0)
{
    static const double numbers[] = {1e30, -1e30, INFINITY, -INFINITY, NAN,
                                     -0.9, 0.9,   -128.9,   127.9};
    static const int expected[] = {127, -128, 127, -128, 0, 0, 0, -128, 127};
    for (int i = 0; i < 9; i++) {
        int8_t got;
        uint64_t bits = converted(ELEMENTWISE_F64, &numbers[i], ELEMENTWISE_I8);
        memcpy(&got, &bits, 1);
        ck_assert_int_eq(got, expected[i]);
    }
    double large = 0x1p64, negative = -1, edge = 0x1p63;
    ck_assert_uint_eq(converted(ELEMENTWISE_F64, &large, ELEMENTWISE_U64),
                      UINT64_MAX);
    ck_assert_uint_eq(converted(ELEMENTWISE_F64, &negative, ELEMENTWISE_U64),
                      0);
    ck_assert_uint_eq(converted(ELEMENTWISE_F64, &edge, ELEMENTWISE_I64),
                      INT64_MAX);
    ck_assert_uint_eq(converted(ELEMENTWISE_F64, &edge, ELEMENTWISE_U64),
                      1ULL << 63);
}
END_TEST

/* A number, and those next to it in a type, of both signs. */
static int64_t beside(elementwise_dtype from, double number, void *elements,
                      int64_t count)
{
    enum { NEXT = 3 };
    size_t size = ref_size(from);
    double next[2 * NEXT + 1] = {number};
    for (int i = 0; i < NEXT; i++)
        for (int up = 0; up <= 1; up++) {
            double end = up ? INFINITY : 0;
            double before = next[i ? 2 * i - 1 + up : 0];
            next[2 * i + 1 + up] =
                from == ELEMENTWISE_F64
                    ? nextafter(before, end)
                    : (double)nextafterf((float)before, (float)end);
        }
    for (int i = 0; i < 2 * (2 * NEXT + 1); i++) {
        struct ref_value v = ref_float(from, (i % 2 ? -1 : 1) * next[i / 2], 0);
        ref_store(&v, (char *)elements + (size_t)count++ * size);
    }
    return count;
}

/* Where integer types end, and what is made in other ways. */
START_TEST(floats_beside_every_end_of_integers_saturate)
{
    static const int powers[] = {0,  7,  8,  15, 16, 23, 24, 31, 32,
                                 33, 50, 51, 52, 53, 62, 63, 64, 65};
    elementwise_dtype from = _i ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
    static double elements[18 * 5 * 14];
    int64_t n = 0;
    for (int i = 0; i < 18; i++)
        for (int half = -2; half <= 2; half++)
            n = beside(from, ldexp(1, powers[i]) + half * 0.5, elements, n);
    assert_converted_to_all(from, elements, n);
}
END_TEST

/* Blocks of numbers are made quickly if they have none of these. */
START_TEST(one_special_value_among_small_ones_is_converted)
{
    enum { N = 300 };
    static const int places[] = {0, 100, 255, 256, 299};
    elementwise_dtype from = (elementwise_dtype)_i;
    size_t size = ref_size(from);
    uint64_t specials[SUPPORT_SPECIALS * 2], elements[N];
    int count = support_specials(from, specials);
    for (int i = 0; i < count * 5; i++) {
        for (int k = 0; k < N; k++) {
            struct ref_value v = ref_float(from, k % 7 - 3 * (i % 2), 0);
            ref_store(&v, (char *)elements + (size_t)k * size);
        }
        memcpy((char *)elements + (size_t)places[i % 5] * size,
               (char *)specials + (size_t)(i / 5) * size, size);
        for (int to = ELEMENTWISE_I8; to <= ELEMENTWISE_U64; to++)
            assert_converted(from, elements, N, (elementwise_dtype)to);
    }
}
END_TEST

/* Random bits of the wide floats, in which every exponent occurs. */
START_TEST(random_bits_convert_as_in_the_reference)
{
    static uint64_t elements[40000];
    int64_t n = support_long() ? 40000 : 4000;
    for (int64_t i = 0; i < n; i++)
        elements[i] = support_bits();
    assert_converted_to_all(ELEMENTWISE_F32, elements, n);
    assert_converted_to_all(ELEMENTWISE_F64, elements, n);
    assert_converted_to_all(ELEMENTWISE_C64, elements, n);
    assert_converted_to_all(ELEMENTWISE_C128, elements, n / 2);
}
END_TEST

/* Layouts */

static void random_copy(struct support_tensor *src, struct support_tensor *dst)
{
    struct support_shapes s;
    int64_t strides[ELEMENTWISE_MAX_NDIM];
    elementwise_dtype from = (elementwise_dtype)support_random(1, REF_TYPES);
    elementwise_dtype to = (elementwise_dtype)support_random(1, REF_TYPES);
    do
        support_pair(5, 9, &s);
    while (s.x_ndim != s.ndim ||
           memcmp(s.x, s.out, sizeof *s.x * (size_t)s.ndim));
    if (!is_legal(from, to))
        to = ELEMENTWISE_C64;
    support_strides(s.y_ndim, s.y, true, strides);
    support_make(src, from, s.y_ndim, s.y,
                 support_random(0, 3) ? strides : NULL,
                 (enum support_edge)support_random(0, 1));
    support_strides(s.ndim, s.out, false, strides);
    support_make(dst, to, s.ndim, s.out, support_random(0, 3) ? strides : NULL,
                 (enum support_edge)support_random(0, 1));
    support_fill(src);
    support_keep(src);
    support_keep(dst);
    for (int level = 0; level < EW_LEVELS && support_level(level); level++) {
        support_restore(dst);
        support_verify_copy(elementwise_copy(&src->t, s.axis, &dst->t), src,
                            s.axis, dst);
    }
}

START_TEST(any_layout_and_axis_is_copied_as_in_the_reference)
{
    struct support_tensor src = {0}, dst = {0};
    for (int round = 0; round < (support_long() ? 60000 : 6000); round++)
        random_copy(&src, &dst);
    support_free(&src);
    support_free(&dst);
}
END_TEST

/* A tensor of rows with gaps, or of dense ones, copied on every level. */
static void copy_rows(elementwise_dtype from, bool from_gaps,
                      elementwise_dtype to, bool to_gaps,
                      const int64_t shape[2])
{
    const int64_t gaps[] = {2 * shape[1] + 3, 2};
    struct support_tensor src = {0}, dst = {0};
    support_make(&src, from, 2, shape, from_gaps ? gaps : NULL, SUPPORT_HIGH);
    support_make(&dst, to, 2, shape, to_gaps ? gaps : NULL, SUPPORT_HIGH);
    support_fill(&src);
    support_keep(&src);
    support_keep(&dst);
    for (int level = 0; level < EW_LEVELS && support_level(level); level++) {
        support_restore(&dst);
        support_verify_copy(elementwise_copy(&src.t, -1, &dst.t), &src, -1,
                            &dst);
    }
    support_free(&src);
    support_free(&dst);
}

/* More than is converted by way of f32 at once, in rows with gaps; by test
   index, from or to a type. */
START_TEST(large_tensors_with_gaps_are_copied_by_way_of_f32)
{
    static const int64_t shapes[][2] = {{3, 1500}, {700, 3}, {1, 5000},
                                        {2050, 1}, {33, 64}, {2, 1024}};
    elementwise_dtype type = (elementwise_dtype)_i;
    for (int i = 0; i < 6; i++)
        for (int h = ELEMENTWISE_F16; h <= ELEMENTWISE_BF16; h++)
            for (int gaps = 0; gaps < 4; gaps++) {
                elementwise_dtype half = (elementwise_dtype)h;
                bool of_src = gaps & 1, of_dst = gaps & 2;
                copy_rows(half, of_src, type, of_dst, shapes[i]);
                if (is_legal(type, half))
                    copy_rows(type, of_src, half, of_dst, shapes[i]);
            }
}
END_TEST

/* What is before a line of memory is converted alone. */
static void assert_line(elementwise_dtype from, elementwise_dtype to, size_t x,
                        size_t y)
{
    enum { N = 4200, ROOM = N + 16 };
    static _Alignas(64) char elements[ROOM * 8], got[ROOM * 8];
    size_t size = ref_size(to);
    char *start = elements + x * ref_size(from), *made = got + y * size;
    char expected[16];
    int64_t n = N;
    elementwise_tensor src = {start, from, 1, &n, NULL};
    elementwise_tensor dst = {made, to, 1, &n, NULL};
    for (int64_t i = 0; i < n; i++)
        support_value(from, start + (size_t)i * ref_size(from));
    memset(got, 0xA5, sizeof got);
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
    for (int64_t i = 0; i < n; i++) {
        struct ref_value v = ref_load(from, start + (size_t)i * ref_size(from));
        v = ref_convert(&v, to);
        ref_store(&v, expected);
        ck_assert(ref_same(to, expected, made + (size_t)i * size));
    }
    for (size_t i = 0; i < size; i++)
        ck_assert((y == 0 || (unsigned char)made[-1 - (int)i] == 0xA5) &&
                  (unsigned char)made[N * size + i] == 0xA5);
}

START_TEST(long_lines_are_right_wherever_they_start)
{
    static const elementwise_dtype pairs[][2] = {
        {ELEMENTWISE_U8, ELEMENTWISE_F32},  {ELEMENTWISE_BOOL, ELEMENTWISE_I64},
        {ELEMENTWISE_I16, ELEMENTWISE_F64}, {ELEMENTWISE_F32, ELEMENTWISE_I32},
        {ELEMENTWISE_F64, ELEMENTWISE_I8},  {ELEMENTWISE_F16, ELEMENTWISE_I16}};
    for (int p = 0; p < 6; p++)
        for (size_t x = 0; x < 16; x += 3)
            for (size_t y = 0; y < 16; y += 5)
                assert_line(pairs[p][0], pairs[p][1], x, y);
}
END_TEST

/* One row, copied to so many that they are more than is copied at once. */
START_TEST(many_rows_are_copies_of_one)
{
    static const int64_t shapes[][2] = {{9000, 1},  {3000, 3},  {333, 100},
                                        {17, 1024}, {16, 1024}, {9, 3001},
                                        {2, 9000},  {3, 16384}};
    struct support_tensor src = {0}, dst = {0};
    for (int i = 0; i < 8; i++)
        for (int from = 1; from < TYPES_END; from++) {
            const int64_t *shape = shapes[i];
            elementwise_dtype type = (elementwise_dtype)from;
            support_make(&src, type, 1, shape + 1, NULL, SUPPORT_HIGH);
            support_make(&dst, type, 2, shape, NULL, SUPPORT_HIGH);
            support_fill(&src);
            support_keep(&src);
            support_keep(&dst);
            support_verify_copy(elementwise_copy(&src.t, -1, &dst.t), &src, -1,
                                &dst);
        }
    support_free(&src);
    support_free(&dst);
}
END_TEST

/* A source at every byte of an address, as in a file's record. */
START_TEST(src_may_be_misaligned)
{
    static char bytes[64 * 16 + 16];
    elementwise_dtype from = (elementwise_dtype)_i;
    size_t size = ref_size(from);
    for (size_t offset = 0; offset < size; offset++) {
        for (int i = 0; i < 64; i++)
            support_value(from, bytes + offset + (size_t)i * size);
        assert_converted_to_all(from, bytes + offset, 3);
        assert_converted_to_all(from, bytes + offset, 64);
    }
}
END_TEST

START_TEST(dst_must_be_aligned)
{
    static uint64_t memory[8];
    int64_t n = 3;
    int8_t ones[3] = {1, 1, 1};
    elementwise_dtype to = (elementwise_dtype)_i;
    size_t align = ref_is_complex(to) ? ref_size(to) / 2 : ref_size(to);
    elementwise_tensor src = {ones, ELEMENTWISE_I8, 1, &n, NULL};
    for (size_t offset = 1; offset < align; offset++) {
        elementwise_tensor dst = {(char *)memory + offset, to, 1, &n, NULL};
        ck_assert_int_eq(elementwise_copy(&src, -1, &dst),
                         ELEMENTWISE_MISALIGNED);
    }
    elementwise_tensor dst = {(char *)memory + align, to, 1, &n, NULL};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
}
END_TEST

/* Refusals */

START_TEST(complex_does_not_become_real)
{
    elementwise_dtype from = (elementwise_dtype)_i;
    for (int to = 1; to < TYPES_END; to++) {
        char one[16] = {0}, other[16], kept[16];
        bool legal = is_legal(from, (elementwise_dtype)to);
        memset(other, 0xA5, sizeof other);
        memcpy(kept, other, sizeof kept);
        elementwise_tensor src = {one, from, 0, NULL, NULL};
        elementwise_tensor dst = {other, (elementwise_dtype)to, 0, NULL, NULL};
        ck_assert_int_eq(elementwise_copy(&src, -1, &dst),
                         legal ? ELEMENTWISE_OK : ELEMENTWISE_BAD_DTYPE);
        ck_assert(legal || !memcmp(other, kept, sizeof kept));
    }
}
END_TEST

START_TEST(dst_and_src_share_no_byte)
{
    int64_t n = 8, step = 2, back = -1;
    int32_t numbers[32] = {0};
    elementwise_tensor src = {numbers + 8, ELEMENTWISE_I32, 1, &n, NULL};
    for (int at = 0; at <= 24; at++) {
        elementwise_tensor dst = {numbers + at, ELEMENTWISE_I32, 1, &n, NULL};
        bool apart = at + 8 <= 8 || at >= 16;
        ck_assert_int_eq(elementwise_copy(&src, -1, &dst),
                         apart ? ELEMENTWISE_OK : ELEMENTWISE_OVERLAP);
    }
    elementwise_tensor even = {numbers, ELEMENTWISE_I32, 1, &n, &step};
    elementwise_tensor odd = {numbers + 1, ELEMENTWISE_I32, 1, &n, &step};
    elementwise_tensor turned = {numbers + 15, ELEMENTWISE_I32, 1, &n, &back};
    ck_assert_int_eq(elementwise_copy(&even, -1, &odd), ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_copy(&even, -1, &even), ELEMENTWISE_OVERLAP);
    ck_assert_str_eq(elementwise_last_error(),
                     "copy: an element of dst is also an element of src; they "
                     "must share nothing");
    ck_assert_int_eq(elementwise_copy(&src, -1, &turned), ELEMENTWISE_OVERLAP);
}
END_TEST

START_TEST(dst_with_two_indices_on_one_address_is_refused)
{
    int64_t shape[] = {2, 3}, zero[] = {0, 1}, tight[] = {2, 1};
    float from[6] = {0}, to[6] = {0};
    elementwise_tensor src = {from, ELEMENTWISE_F32, 2, shape, NULL};
    elementwise_tensor dst = {to, ELEMENTWISE_F32, 2, shape, zero};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OVERLAP);
    dst.strides = tight;
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OVERLAP);
}
END_TEST

START_TEST(src_does_not_stretch_dst)
{
    int64_t row[] = {3}, column[] = {2, 1}, whole[] = {2, 3},
            three[] = {1, 2, 3};
    float from[6] = {0}, to[6] = {0};
    elementwise_tensor src = {from, ELEMENTWISE_F32, 2, whole, NULL};
    elementwise_tensor dst = {to, ELEMENTWISE_F32, 1, row, NULL};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_BAD_SHAPE);
    dst.ndim = 2;
    dst.shape = column;
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_BAD_SHAPE);
    dst.ndim = 0;
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_BAD_SHAPE);
    dst.ndim = 3;
    dst.shape = three;
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_copy(&src, 1, &dst), ELEMENTWISE_OK);
    ck_assert_int_eq(elementwise_copy(&src, 0, &dst), ELEMENTWISE_BAD_SHAPE);
    ck_assert_int_eq(elementwise_copy(&src, 3, &dst), ELEMENTWISE_BAD_AXIS);
    ck_assert_int_eq(elementwise_copy(&src, -2, &dst), ELEMENTWISE_BAD_AXIS);
}
END_TEST

START_TEST(nothing_is_copied_without_elements)
{
    int64_t none[] = {2, 0, 3}, column[] = {2, 1, 1};
    float number = 7;
    elementwise_tensor src = {NULL, ELEMENTWISE_F32, 3, none, NULL};
    elementwise_tensor dst = {NULL, ELEMENTWISE_F16, 3, none, NULL};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
    src = (elementwise_tensor){&number, ELEMENTWISE_F32, 0, NULL, NULL};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_OK);
    src = (elementwise_tensor){NULL, ELEMENTWISE_F32, 3, column, NULL};
    ck_assert_int_eq(elementwise_copy(&src, -1, &dst), ELEMENTWISE_INVALID);
}
END_TEST

START_TEST(missing_operands_are_refused)
{
    float number = 7;
    elementwise_tensor t = {&number, ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_tensor untyped = t, nowhere = t;
    untyped.dtype = (elementwise_dtype)0;
    nowhere.data = NULL;
    ck_assert_int_eq(elementwise_copy(NULL, -1, &t), ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_copy(&t, -1, NULL), ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_copy(&untyped, -1, &t), ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_copy(&t, -1, &untyped), ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_copy(&nowhere, -1, &t), ELEMENTWISE_INVALID);
    ck_assert_int_eq(elementwise_copy(&t, -1, &nowhere), ELEMENTWISE_INVALID);
}
END_TEST

int main(void)
{
    TCase *values = support_case("values");
    TCase *layouts = support_case("layouts");
    TCase *refusals = support_case("refusals");
    tcase_add_loop_test(
        values, every_pair_of_types_converts_as_in_the_reference, 1, TYPES_END);
    tcase_add_loop_test(values, special_values_convert_as_in_the_reference, 1,
                        TYPES_END);
    tcase_add_test(values, all_16_bit_values_convert_as_in_the_reference);
    tcase_add_test(values, random_bits_convert_as_in_the_reference);
    tcase_add_test(values, floats_beside_a_tie_round_to_the_nearest);
    tcase_add_test(values, integers_round_once_to_each_float);
    tcase_add_test(values, known_traps_of_double_rounding_are_avoided);
    tcase_add_test(values, floats_saturate_in_integers_and_nan_is_0);
    tcase_add_test(layouts, any_layout_and_axis_is_copied_as_in_the_reference);
    tcase_add_loop_test(values, floats_beside_every_end_of_integers_saturate, 0,
                        2);
    tcase_add_loop_test(values, one_special_value_among_small_ones_is_converted,
                        ELEMENTWISE_F16, ELEMENTWISE_F64 + 1);
    tcase_add_test(layouts, many_rows_are_copies_of_one);
    tcase_add_loop_test(layouts,
                        large_tensors_with_gaps_are_copied_by_way_of_f32, 1,
                        TYPES_END);
    tcase_add_test(layouts, long_lines_are_right_wherever_they_start);
    tcase_add_loop_test(layouts, src_may_be_misaligned, 1, TYPES_END);
    tcase_add_loop_test(layouts, dst_must_be_aligned, 1, TYPES_END);
    tcase_add_loop_test(refusals, complex_does_not_become_real, 1, TYPES_END);
    tcase_add_test(refusals, dst_and_src_share_no_byte);
    tcase_add_test(refusals, dst_with_two_indices_on_one_address_is_refused);
    tcase_add_test(refusals, src_does_not_stretch_dst);
    tcase_add_test(refusals, nothing_is_copied_without_elements);
    tcase_add_test(refusals, missing_operands_are_refused);
    TCase *const cases[] = {values, layouts, refusals, NULL};
    return support_run("copy", cases);
}
