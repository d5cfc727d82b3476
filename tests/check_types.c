/*
 * Compares what the library says about types, names and sizes with the
 * reference's tables: every operation on every pair of types, every name both
 * ways, and numbers and names that mean nothing.
 */
#include <check.h>
#include <limits.h>

#include "elementwise.h"
#include "reference.h"
#include "support.h"

enum { ACTS = ELEMENTWISE_ACT_SILU, STATUSES = ELEMENTWISE_NO_MEMORY };

/* Numbers that are no operation, type, act or status. */
static const int unknown[] = {-1,  REF_OPS + 1, REF_OPS + 100, 255,
                              256, 0x7fff,      INT_MIN,       INT_MAX};
enum { UNKNOWN = sizeof unknown / sizeof *unknown };

static const char *const op_names[] = {"add",
                                       "sub",
                                       "mul",
                                       "div",
                                       "max",
                                       "min",
                                       "pow",
                                       "mod",
                                       "floordiv",
                                       "fmax",
                                       "fmin",
                                       "heaviside",
                                       "truncdiv",
                                       "fmod",
                                       "atan2",
                                       "hypot",
                                       "copysign",
                                       "nextafter",
                                       "logaddexp",
                                       "equal",
                                       "not_equal",
                                       "less_than",
                                       "less_equal",
                                       "greater_than",
                                       "greater_equal",
                                       "logical_and",
                                       "logical_or",
                                       "logical_xor",
                                       "bitwise_and",
                                       "bitwise_or",
                                       "bitwise_xor",
                                       "bitwise_left_shift",
                                       "bitwise_right_shift"};

static const char *const dtype_names[] = {"bool", "i8",  "i16", "i32", "i64",
                                          "u8",   "u16", "u32", "u64", "f16",
                                          "bf16", "f32", "f64", "c64", "c128"};

static const char *const act_names[] = {
    "none", "relu", "relu6", "leaky_relu", "sigmoid", "tanh", "gelu", "silu"};

static const char *const status_names[] = {
    "OK",       "INVALID",    "BAD_AXIS",  "BAD_SHAPE",        "BAD_DTYPE",
    "OVERLAP",  "MISALIGNED", "TOO_LARGE", "DIVISION_BY_ZERO", "NO_GRADIENT",
    "NO_MEMORY"};

/* Result types */

START_TEST(result_types_are_those_of_the_reference)
{
    elementwise_op op = (elementwise_op)_i;
    for (int a = 1; a <= REF_TYPES; a++) {
        for (int b = 1; b <= REF_TYPES; b++) {
            elementwise_dtype x = (elementwise_dtype)a;
            elementwise_dtype y = (elementwise_dtype)b;
            elementwise_dtype expected = 0, result = 0;
            elementwise_status status = ref_result_type(op, x, y, &expected);
            ck_assert_msg(
                elementwise_result_type(op, x, y, &result) == status &&
                    result == expected,
                "%s of %s and %s: expected %s %s, got %s",
                elementwise_op_name(op), elementwise_dtype_name(x),
                elementwise_dtype_name(y), elementwise_status_name(status),
                expected ? elementwise_dtype_name(expected) : "none",
                result ? elementwise_dtype_name(result) : "none");
        }
    }
}
END_TEST

START_TEST(unknown_operations_and_types_have_no_result)
{
    elementwise_dtype result, f32 = ELEMENTWISE_F32;
    for (int i = -1; i < UNKNOWN; i++) {
        int n = i < 0 ? 0 : unknown[i];
        elementwise_status op =
            elementwise_result_type((elementwise_op)n, f32, f32, &result);
        elementwise_status x = elementwise_result_type(
            ELEMENTWISE_ADD, (elementwise_dtype)n, f32, &result);
        elementwise_status y = elementwise_result_type(
            ELEMENTWISE_ADD, f32, (elementwise_dtype)n, &result);
        ck_assert_int_eq(op, ELEMENTWISE_INVALID);
        ck_assert_int_eq(x, ELEMENTWISE_INVALID);
        ck_assert_int_eq(y, ELEMENTWISE_INVALID);
    }
    ck_assert_int_eq(elementwise_result_type(ELEMENTWISE_ADD, f32, f32, NULL),
                     ELEMENTWISE_INVALID);
}
END_TEST

/* Whatever the order of the operands. */
START_TEST(promotion_is_symmetric_and_keeps_equal_types)
{
    for (int a = 1; a <= REF_TYPES; a++) {
        for (int b = 1; b <= REF_TYPES; b++) {
            elementwise_dtype x = (elementwise_dtype)a, one = 0;
            elementwise_dtype y = (elementwise_dtype)b, other = 0;
            elementwise_result_type(ELEMENTWISE_MUL, x, y, &one);
            elementwise_result_type(ELEMENTWISE_MUL, y, x, &other);
            ck_assert_int_eq(one, other);
            ck_assert(a != b || one == x);
        }
    }
}
END_TEST

/* Names */

START_TEST(operations_have_names_both_ways)
{
    for (int i = 1; i <= REF_OPS; i++) {
        elementwise_op op = (elementwise_op)i;
        ck_assert_str_eq(elementwise_op_name(op), op_names[i - 1]);
        ck_assert_int_eq(elementwise_op_from_name(op_names[i - 1]), op);
    }
}
END_TEST

START_TEST(types_have_names_both_ways)
{
    for (int i = 1; i <= REF_TYPES; i++) {
        elementwise_dtype type = (elementwise_dtype)i;
        ck_assert_str_eq(elementwise_dtype_name(type), dtype_names[i - 1]);
        ck_assert_int_eq(elementwise_dtype_from_name(dtype_names[i - 1]), type);
    }
}
END_TEST

START_TEST(acts_have_names_both_ways)
{
    for (int i = 0; i <= ACTS; i++) {
        elementwise_act act = (elementwise_act)i;
        ck_assert_str_eq(elementwise_act_name(act), act_names[i]);
        ck_assert_int_eq(elementwise_act_from_name(act_names[i]), act);
    }
}
END_TEST

START_TEST(statuses_have_names_both_ways)
{
    for (int i = 0; i <= STATUSES; i++) {
        elementwise_status status = (elementwise_status)i;
        ck_assert_str_eq(elementwise_status_name(status), status_names[i]);
        ck_assert_int_eq(elementwise_status_from_name(status_names[i]), status);
    }
}
END_TEST

START_TEST(unknown_numbers_have_no_name)
{
    for (int i = 0; i < UNKNOWN; i++) {
        int n = unknown[i];
        ck_assert_ptr_null(elementwise_op_name((elementwise_op)n));
        ck_assert_ptr_null(elementwise_dtype_name((elementwise_dtype)n));
        ck_assert_ptr_null(elementwise_act_name((elementwise_act)n));
        ck_assert_ptr_null(elementwise_status_name((elementwise_status)n));
        ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)n), 0);
    }
    ck_assert_ptr_null(elementwise_op_name((elementwise_op)0));
    ck_assert_ptr_null(elementwise_dtype_name((elementwise_dtype)0));
    ck_assert_ptr_null(
        elementwise_dtype_name((elementwise_dtype)(REF_TYPES + 1)));
    ck_assert_ptr_null(elementwise_act_name((elementwise_act)(ACTS + 1)));
    ck_assert_ptr_null(
        elementwise_status_name((elementwise_status)(STATUSES + 1)));
}
END_TEST

START_TEST(unknown_names_have_no_number)
{
    static const char *const wrong[] = {
        NULL,   "",          " ",        "ad",       "addd",
        "Add",  "ADD",       "f",        "f3",       "f320",
        "F32",  "float32",   " f32",     "f32 ",     "nan",
        "Relu", "BAD_AXIS ", "bad_axis", "%s%n",     "",
        " ",    "add ",      "ok",       "INVALID_", "elementwise_add"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(elementwise_op_from_name(wrong[i]), 0);
        ck_assert_int_eq(elementwise_dtype_from_name(wrong[i]), 0);
        ck_assert_int_eq((int)elementwise_act_from_name(wrong[i]), -1);
        ck_assert_int_eq((int)elementwise_status_from_name(wrong[i]), -1);
    }
}
END_TEST

/* The lists share no table by mistake. */
START_TEST(a_name_of_one_list_is_unknown_in_the_others)
{
    for (int i = 0; i < REF_OPS; i++) {
        ck_assert_int_eq(elementwise_dtype_from_name(op_names[i]), 0);
        ck_assert_int_eq((int)elementwise_act_from_name(op_names[i]), -1);
        ck_assert_int_eq((int)elementwise_status_from_name(op_names[i]), -1);
    }
    for (int i = 0; i < REF_TYPES; i++)
        ck_assert_int_eq(elementwise_op_from_name(dtype_names[i]), 0);
    for (int i = 0; i <= ACTS; i++)
        ck_assert_int_eq(elementwise_op_from_name(act_names[i]), 0);
}
END_TEST

/* Sizes */

START_TEST(elements_have_their_sizes)
{
    static const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4,
                                   8, 2, 2, 4, 8, 8, 16};
    for (int i = 1; i <= REF_TYPES; i++)
        ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)i),
                          sizes[i - 1]);
    ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)0), 0);
    ck_assert_uint_eq(elementwise_dtype_size((elementwise_dtype)16), 0);
}
END_TEST

/* Numbers are ABI. */
START_TEST(numbers_do_not_change)
{
    ck_assert_int_eq(ELEMENTWISE_C128, sizeof dtype_names / sizeof(char *));
    ck_assert_int_eq(ELEMENTWISE_BITWISE_RIGHT_SHIFT,
                     sizeof op_names / sizeof(char *));
    ck_assert_int_eq(ELEMENTWISE_ACT_SILU + 1,
                     sizeof act_names / sizeof(char *));
    ck_assert_int_eq(ELEMENTWISE_NO_MEMORY + 1,
                     sizeof status_names / sizeof(char *));
    ck_assert_int_eq(ELEMENTWISE_BOOL, 1);
    ck_assert_int_eq(ELEMENTWISE_U8, 6);
    ck_assert_int_eq(ELEMENTWISE_F16, 10);
    ck_assert_int_eq(ELEMENTWISE_ADD, 1);
    ck_assert_int_eq(ELEMENTWISE_HEAVISIDE, 12);
    ck_assert_int_eq(ELEMENTWISE_F32, 12);
    ck_assert_int_eq(ELEMENTWISE_EQUAL, 20);
    ck_assert_int_eq(ELEMENTWISE_LOGICAL_AND, 26);
    ck_assert_int_eq(ELEMENTWISE_OVERLAP, 5);
    ck_assert_int_eq(ELEMENTWISE_NUMPY, -1);
    ck_assert_int_eq(ELEMENTWISE_MAX_NDIM, 64);
}
END_TEST

int main(void)
{
    TCase *results = support_case("results");
    TCase *names = support_case("names");
    TCase *sizes = support_case("sizes");
    tcase_add_loop_test(results, result_types_are_those_of_the_reference, 1,
                        REF_OPS + 1);
    tcase_add_test(results, unknown_operations_and_types_have_no_result);
    tcase_add_test(results, promotion_is_symmetric_and_keeps_equal_types);
    tcase_add_test(names, operations_have_names_both_ways);
    tcase_add_test(names, types_have_names_both_ways);
    tcase_add_test(names, acts_have_names_both_ways);
    tcase_add_test(names, statuses_have_names_both_ways);
    tcase_add_test(names, unknown_numbers_have_no_name);
    tcase_add_test(names, unknown_names_have_no_number);
    tcase_add_test(names, a_name_of_one_list_is_unknown_in_the_others);
    tcase_add_test(sizes, elements_have_their_sizes);
    tcase_add_test(names, numbers_do_not_change);
    TCase *const cases[] = {results, names, sizes, NULL};
    return support_run("types", cases);
}
