/*
 * Looks for holes in the tables of kernels: whatever the type rules promise
 * has a kernel at every level, and where they promise nothing the fast path,
 * which asks the table and not the rules, finds nothing either.
 */
#include <check.h>
#include <stdbool.h>

#include "cpu.h"
#include "elementwise.h"
#include "support.h"
#include "table.h"
#include "types.h"

enum {
    OPS = ELEMENTWISE_BITWISE_RIGHT_SHIFT,
    DTYPES = ELEMENTWISE_C128,
    PAIRS = DTYPES * DTYPES
};

/* Pair number i of types. */
static void nth_pair(int i, elementwise_dtype *x, elementwise_dtype *y)
{
    *x = (elementwise_dtype)(1 + i / DTYPES);
    *y = (elementwise_dtype)(1 + i % DTYPES);
}

/* Levels that were compiled: on other processors there is only the first, and
   not every compiler has the last. */
static int levels(void)
{
#if defined(EW_HAVE_FP16)
    return EW_LEVELS;
#elif defined(EW_HAVE_X86_LEVELS)
    return EW_LEVEL_AVX512FP16;
#else
    return 1;
#endif
}

/* By test index: an operation at a level. */
static int level_of(int i)
{
    return i / OPS;
}
static elementwise_op op_of(int i)
{
    return (elementwise_op)(1 + i % OPS);
}

START_TEST(every_legal_operation_has_a_kernel)
{
    elementwise_dtype x, y;
    int found = 0;
    for (int i = 0; i < PAIRS; i++) {
        struct ew_types types;
        nth_pair(i, &x, &y);
        if (ew_types_resolve(op_of(_i), x, y, &types))
            continue;
        found++;
        ck_assert_msg(ew_table_kernel(level_of(_i), (int)op_of(_i),
                                      types.compute[EW_X], types.compute[EW_Y]),
                      "%s %s for %s and %s", ew_cpu_name(level_of(_i)),
                      elementwise_op_name(op_of(_i)), elementwise_dtype_name(x),
                      elementwise_dtype_name(y));
    }
    ck_assert_int_gt(found, 0);
}
END_TEST

/* Types whose kernels compute in another type must not be found by their
   own, and operations that a type does not have must not be found at all. */
START_TEST(no_kernel_is_there_that_the_rules_do_not_use)
{
    for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_C128; d++) {
        elementwise_dtype x = (elementwise_dtype)d;
        struct ew_types types;
        bool legal = !ew_types_resolve(op_of(_i), x, x, &types);
        bool direct = legal && types.compute[EW_X] == x;
        bool found = ew_table_kernel(level_of(_i), (int)op_of(_i), x, x);
        ck_assert_msg(found == direct, "%s %s for %s: %s",
                      ew_cpu_name(level_of(_i)), elementwise_op_name(op_of(_i)),
                      elementwise_dtype_name(x), found ? "unused" : "missing");
    }
}
END_TEST

/* The kernels of simple calls, of which all levels give the same results. */
START_TEST(what_is_known_are_the_kernels_of_the_level)
{
    if (!support_level(_i))
        return;
    for (int op = 1; op <= OPS; op++)
        for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_C128; d++)
            ck_assert(ew_table_known(op, (elementwise_dtype)d) ==
                      ew_table_direct(_i, op, (elementwise_dtype)d));
}
END_TEST

/* If one were missing, results would be right and take longer. */
START_TEST(operations_that_wait_for_memory_have_all_their_kernels)
{
    static const int more[] = {EW_WHOLE, EW_PAST, EW_WHOLE_PAST};
    for (int op = 1; op <= EW_WHOLE_LAST; op++)
        for (int d = _i < EW_LEVEL_AVX512 ? ELEMENTWISE_F32 : ELEMENTWISE_F16;
             d <= ELEMENTWISE_F64; d++)
            for (int k = 0; k < (d < ELEMENTWISE_F32 ? 2 : 3); k++)
                ck_assert_ptr_nonnull(ew_table_kernel(_i, more[k] + op,
                                                      (elementwise_dtype)d,
                                                      (elementwise_dtype)d));
}
END_TEST

/* The same of these, of 4 and 8 bytes. */
START_TEST(bits_and_copies_of_signs_are_stored_past_the_caches)
{
    static const struct {
        elementwise_dtype type;
        int ops[4]; /* 0: no more */
    } kernels[] = {
        {ELEMENTWISE_F32,
         {ELEMENTWISE_FMAX, ELEMENTWISE_FMIN, ELEMENTWISE_COPYSIGN, 0}},
        {ELEMENTWISE_F64,
         {ELEMENTWISE_FMAX, ELEMENTWISE_FMIN, ELEMENTWISE_COPYSIGN, 0}},
        {ELEMENTWISE_I32,
         {ELEMENTWISE_BITWISE_AND, ELEMENTWISE_BITWISE_OR,
          ELEMENTWISE_BITWISE_XOR, ELEMENTWISE_FMAX}},
        {ELEMENTWISE_U64,
         {ELEMENTWISE_BITWISE_AND, ELEMENTWISE_BITWISE_OR,
          ELEMENTWISE_BITWISE_XOR, ELEMENTWISE_FMIN}}};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4 && kernels[k].ops[i]; i++)
            ck_assert_msg(ew_table_kernel(_i, EW_PAST + kernels[k].ops[i],
                                          kernels[k].type, kernels[k].type),
                          "%s %d %d", ew_cpu_name((enum ew_level)_i), k, i);
}
END_TEST

/* Those that treat signs as other bits. */
START_TEST(both_types_of_a_width_share_kernels)
{
    static const int ops[] = {ELEMENTWISE_ADD,        ELEMENTWISE_SUB,
                              ELEMENTWISE_MUL,        ELEMENTWISE_EQUAL,
                              ELEMENTWISE_NOT_EQUAL,  ELEMENTWISE_BITWISE_AND,
                              ELEMENTWISE_BITWISE_OR, ELEMENTWISE_BITWISE_XOR};
    static const elementwise_dtype types[][2] = {
        {ELEMENTWISE_I8, ELEMENTWISE_U8},
        {ELEMENTWISE_I16, ELEMENTWISE_U16},
        {ELEMENTWISE_I32, ELEMENTWISE_U32},
        {ELEMENTWISE_I64, ELEMENTWISE_U64}};
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 4; i++)
            ck_assert(ew_table_kernel(_i, ops[k], types[i][0], types[i][0]) ==
                      ew_table_kernel(_i, ops[k], types[i][1], types[i][1]));
}
END_TEST

START_TEST(wide_integers_are_divided_past_the_caches_on_avx512)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_I32, ELEMENTWISE_I64,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    static const int ops[] = {ELEMENTWISE_DIV, ELEMENTWISE_MOD,
                              ELEMENTWISE_FLOORDIV, ELEMENTWISE_TRUNCDIV,
                              ELEMENTWISE_FMOD};
    for (int d = 0; d < 4; d++)
        for (int k = 0; k < 5; k++)
            ck_assert_msg(!ew_table_kernel(_i, EW_PAST + ops[k], types[d],
                                           types[d]) == (_i < EW_LEVEL_AVX512),
                          "%s %d %d", ew_cpu_name((enum ew_level)_i), d, k);
}
END_TEST

/* Loads, rounds and stores of every legal call, with every out. */
START_TEST(every_conversion_that_a_call_needs_is_there)
{
    for (int i = 0; i < PAIRS * DTYPES; i++) {
        struct ew_types t;
        elementwise_dtype x, y, out = (elementwise_dtype)(1 + i / PAIRS);
        nth_pair(i % PAIRS, &x, &y);
        if (ew_types_resolve(op_of(_i), x, y, &t) ||
            ew_types_out(op_of(_i), out, &t))
            continue;
        const elementwise_dtype steps[][2] = {{t.compute[0], x},
                                              {t.compute[1], y},
                                              {t.result, t.compute[2]},
                                              {out, t.compute[2]},
                                              {out, t.result}};
        for (int k = 0; k < 5; k++)
            ck_assert_msg(
                steps[k][0] == steps[k][1] ||
                    ew_table_convert(level_of(_i), steps[k][0], steps[k][1]),
                "%s for %s, %s into %s: %s from %s",
                elementwise_op_name(op_of(_i)), elementwise_dtype_name(x),
                elementwise_dtype_name(y), elementwise_dtype_name(out),
                elementwise_dtype_name(steps[k][0]),
                elementwise_dtype_name(steps[k][1]));
    }
}
END_TEST

/* All pairs but complex to real; to bool every type is one. */
START_TEST(every_conversion_of_copy_is_there)
{
    for (int i = 0; i < PAIRS; i++) {
        elementwise_dtype to, from;
        nth_pair(i, &to, &from);
        bool drops = from >= ELEMENTWISE_C64 && to != ELEMENTWISE_BOOL &&
                     to < ELEMENTWISE_C64;
        bool found = ew_table_convert(_i, to, from);
        ck_assert_msg(found == !drops, "%s: %s from %s", ew_cpu_name(_i),
                      elementwise_dtype_name(to), elementwise_dtype_name(from));
    }
}
END_TEST

/* The searches that precede integer division and power look at y as it is
   stored, and for pairs at the type of the computation. */
START_TEST(every_search_for_faults_has_a_kernel)
{
    for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_U64; d++) {
        elementwise_dtype t = (elementwise_dtype)d;
        bool negative = t >= ELEMENTWISE_I8 && t <= ELEMENTWISE_I64;
        ck_assert_msg(ew_table_kernel(_i, EW_ANY_ZERO, t, t), "zero in %s",
                      elementwise_dtype_name(t));
        ck_assert_msg(!negative || ew_table_kernel(_i, EW_ANY_NEGATIVE, t, t),
                      "negative in %s", elementwise_dtype_name(t));
        ck_assert_msg(!negative ||
                          ew_table_kernel(_i, EW_ANY_ZERO_TO_NEGATIVE, t, t),
                      "zero to negative in %s", elementwise_dtype_name(t));
    }
}
END_TEST

/* Each level was compiled from the same sources, but is code of its own. The
   last two are the one before, but for what divides bytes, or adds f16. */
START_TEST(levels_do_not_share_kernels)
{
    for (int op = 1; op <= OPS; op++)
        for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_C128; d++)
            for (int a = 0; a < levels() && a < EW_LEVEL_AVX512VBMI; a++)
                for (int b = 0; b < a; b++) {
                    elementwise_dtype t = (elementwise_dtype)d;
                    ew_kernel *one = ew_table_kernel(a, op, t, t);
                    ck_assert(!one || one != ew_table_kernel(b, op, t, t));
                }
    for (int a = 1; a < levels(); a++) {
        bool f16 = a == EW_LEVEL_AVX512FP16;
        int op = f16 ? ELEMENTWISE_ADD : ELEMENTWISE_MOD;
        elementwise_dtype t = f16 ? ELEMENTWISE_F16 : ELEMENTWISE_U8;
        ck_assert(ew_table_direct(a, op, t) != ew_table_direct(a - 1, op, t));
    }
}
END_TEST

int main(void)
{
    TCase *kernels = support_case("kernels");
    TCase *conversions = support_case("conversions");
    int all = OPS * levels();
    tcase_add_loop_test(kernels, every_legal_operation_has_a_kernel, 0, all);
    tcase_add_loop_test(kernels, what_is_known_are_the_kernels_of_the_level, 0,
                        EW_LEVELS);
    tcase_add_loop_test(kernels, no_kernel_is_there_that_the_rules_do_not_use,
                        0, all);
    tcase_add_loop_test(kernels,
                        operations_that_wait_for_memory_have_all_their_kernels,
                        0, levels());
    tcase_add_loop_test(kernels,
                        bits_and_copies_of_signs_are_stored_past_the_caches, 0,
                        levels());
    tcase_add_loop_test(kernels, both_types_of_a_width_share_kernels, 0,
                        levels());
    tcase_add_loop_test(kernels,
                        wide_integers_are_divided_past_the_caches_on_avx512, 0,
                        levels());
    tcase_add_loop_test(kernels, every_search_for_faults_has_a_kernel, 0,
                        levels());
    tcase_add_test(kernels, levels_do_not_share_kernels);
    tcase_add_loop_test(conversions,
                        every_conversion_that_a_call_needs_is_there, 0, all);
    tcase_add_loop_test(conversions, every_conversion_of_copy_is_there, 0,
                        levels());
    TCase *const cases[] = {kernels, conversions, NULL};
    return support_run("table", cases);
}
