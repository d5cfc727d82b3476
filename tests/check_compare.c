/*
 * Asks tools/compare.c for distances between neighbours, whose distance is
 * known, and of pairs that are near nothing else.
 */
#include "../tools/compare.h"

#include <math.h>
#include <string.h>

#include "support.h"

static double f32(float a, float b, double scale)
{
    return compare_elements(ELEMENTWISE_F32, &a, &b, scale);
}

static double f64(double a, double b)
{
    return compare_elements(ELEMENTWISE_F64, &a, &b, 0);
}

static double bits(elementwise_dtype dtype, uint16_t a, uint16_t b)
{
    return compare_elements(dtype, &a, &b, 0);
}

START_TEST(neighbours_are_one_ulp_apart)
{
    static const float values[] = {1.5F, -3, 1e-40F, 1e38F, 0x1p-126F, 100};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        float next = nextafterf(values[i], values[i] * 2);
        ck_assert_double_eq(f32(values[i], next, 0), 1);
        ck_assert_double_eq(f32(values[i], values[i], 0), 0);
    }
    ck_assert_double_eq(f64(1, 1 + 3 * 0x1p-52), 3);
    ck_assert_double_eq(f64(0, 0x1p-1074), 1);
    ck_assert_double_eq(f64(1e308, nextafter(1e308, 0)), 1);
}
END_TEST

START_TEST(halves_are_decoded)
{
    ck_assert_double_eq(bits(ELEMENTWISE_F16, 0x3C00, 0x3C01), 1);
    ck_assert_double_eq(bits(ELEMENTWISE_F16, 0, 1), 1);
    ck_assert_double_eq(bits(ELEMENTWISE_F16, 0x7BFF, 0x7BFE), 1);
    ck_assert_double_eq(bits(ELEMENTWISE_F16, 0x7C01, 0xFE00), 0);
    ck_assert(isinf(bits(ELEMENTWISE_F16, 0x7C00, 0x7BFF)));
    ck_assert_double_eq(bits(ELEMENTWISE_BF16, 0x3F80, 0x3F81), 1);
    ck_assert_double_eq(bits(ELEMENTWISE_BF16, 0xBF80, 0xBF83), 3);
}
END_TEST

START_TEST(a_larger_scale_makes_distances_smaller)
{
    ck_assert_double_eq(f32(0x1p-20F, 0, 1), 8);
    ck_assert_double_eq(f32(1, nextafterf(1, 2), 2), 0.5);
}
END_TEST

START_TEST(nothing_is_near_a_nan_an_infinity_or_the_other_zero)
{
    const float inf = INFINITY, nan = NAN, most = 0x1.fffffeP127F;
    ck_assert_double_eq(f32(nan, -nan, 0), 0);
    ck_assert_double_eq(f32(inf, inf, 0), 0);
    ck_assert(isinf(f32(nan, 1, 0)));
    ck_assert(isinf(f32(1, nan, 0)));
    ck_assert(isinf(f32(inf, most, 0)));
    ck_assert(isinf(f32(inf, -inf, 0)));
    ck_assert(isinf(f32(0.0F, -0.0F, 0)));
    ck_assert_double_eq(f32(-0.0F, -0.0F, 0), 0);
}
END_TEST

START_TEST(integers_differ_by_their_difference)
{
    const int64_t least = INT64_MIN, most = INT64_MAX;
    const int8_t a = -100, b = 100;
    const uint8_t yes[] = {1, 2}, no = 0;
    ck_assert_double_eq(compare_elements(ELEMENTWISE_I8, &a, &b, 0), 200);
    ck_assert_double_eq(compare_elements(ELEMENTWISE_I64, &least, &most, 0),
                        0x1p64);
    ck_assert_double_eq(compare_elements(ELEMENTWISE_U8, &a, &b, 0), 56);
    ck_assert_double_eq(compare_elements(ELEMENTWISE_BOOL, yes, yes + 1, 0), 0);
    ck_assert(isinf(compare_elements(ELEMENTWISE_BOOL, yes, &no, 0)));
}
END_TEST

START_TEST(complex_numbers_are_measured_by_their_larger_part)
{
    const float a[] = {1, 0x1p-10F}, b[] = {1, 0x1p-10F + 0x1p-23F};
    const float c[] = {1, NAN};
    ck_assert_double_eq(compare_elements(ELEMENTWISE_C64, a, b, 0), 1);
    ck_assert(isinf(compare_elements(ELEMENTWISE_C64, a, c, 0)));
    ck_assert_double_eq(compare_elements(ELEMENTWISE_C64, c, c, 0), 0);
}
END_TEST

START_TEST(elements_are_printed_as_bits_and_as_digits)
{
    char text[COMPARE_TEXT];
    const float values[] = {0.1F, -INFINITY, -NAN};
    const int16_t minus = -2;
    ck_assert_str_eq(compare_hex(ELEMENTWISE_F32, values, text), "3dcccccd");
    ck_assert_str_eq(compare_decimal(ELEMENTWISE_F32, values, text),
                     "0.100000001");
    ck_assert_str_eq(compare_decimal(ELEMENTWISE_F32, values + 1, text),
                     "-inf");
    ck_assert_str_eq(compare_decimal(ELEMENTWISE_F32, values + 2, text), "nan");
    ck_assert_str_eq(compare_hex(ELEMENTWISE_C64, values, text),
                     "3dcccccd,ff800000");
    ck_assert_str_eq(compare_decimal(ELEMENTWISE_C64, values, text),
                     "0.100000001-infi");
    ck_assert_str_eq(compare_hex(ELEMENTWISE_I16, &minus, text), "fffe");
    ck_assert_str_eq(compare_decimal(ELEMENTWISE_I16, &minus, text), "-2");
}
END_TEST

START_TEST(an_index_is_that_of_row_major_order)
{
    const int64_t shape[] = {2, 3, 4};
    char text[COMPARE_TEXT];
    compare_index(3, shape, 17, text, sizeof text);
    ck_assert_str_eq(text, "(1,1,1)");
    compare_index(0, NULL, 0, text, sizeof text);
    ck_assert_str_eq(text, "()");
    compare_index(3, shape, 17, text, 4);
    ck_assert_str_eq(text, "(1,");
}
END_TEST

int main(void)
{
    TCase *distance = support_case("distance"), *text = support_case("text");
    tcase_add_test(distance, neighbours_are_one_ulp_apart);
    tcase_add_test(distance, halves_are_decoded);
    tcase_add_test(distance, a_larger_scale_makes_distances_smaller);
    tcase_add_test(distance,
                   nothing_is_near_a_nan_an_infinity_or_the_other_zero);
    tcase_add_test(distance, integers_differ_by_their_difference);
    tcase_add_test(distance, complex_numbers_are_measured_by_their_larger_part);
    tcase_add_test(text, elements_are_printed_as_bits_and_as_digits);
    tcase_add_test(text, an_index_is_that_of_row_major_order);
    return support_run("compare", (TCase *const[]){distance, text, NULL});
}
