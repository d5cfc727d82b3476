/*
 * Turns large inputs that lie in memory in another order than out into plans:
 * whether rows are made in theirs, which takes processors that have few lines
 * on their way. Then runs them, which gives the results of the reference.
 */
#include <check.h>

#include "cpu.h"
#include "plan.h"
#include "strategy_calls.h"
#include "support.h"

static struct strategy_call call;

/* Inputs of [A, B, C] that lie as of_x and of_y say: 0, row-major, as out does;
   1, [B, A, C]; 2, one number for each A and B; 3, windows that overlap. */
static void plan_rows(struct elementwise_plan *p, elementwise_dtype type,
                      const int64_t shape[3], int of_x, int of_y)
{
    const int64_t rows = shape[0] * shape[2], row = shape[2];
    const int64_t strides[][3] = {
        {shape[1] * row, row, 1}, {row, rows, 1}, {shape[1], 1, 0}, {1, 5, 1}};
    strategy_plan(p, ELEMENTWISE_ADD, type, 3, shape, strides[of_x],
                  strides[of_y]);
}

/* From memory, by processors that have few lines on their way, where an input
   would be read in so many places by turns: then A's loop is inside B's. */
START_TEST(rows_of_large_inputs_are_made_in_their_order)
{
    static const struct {
        int64_t shape[3];
        int x, y;
        elementwise_dtype type;
        bool ordered;
    } layouts[] = {
        {{16, 5000, 25}, 1, 2, ELEMENTWISE_F32, true},
        {{16, 5000, 25}, 2, 1, ELEMENTWISE_F32, true},
        {{16, 5000, 25}, 1, 1, ELEMENTWISE_F32, true},
        {{16, 5000, 25}, 1, 0, ELEMENTWISE_F32, false},
        {{16, 5000, 15}, 1, 2, ELEMENTWISE_F32, false}, /* short */
        {{16, 3000, 25}, 1, 2, ELEMENTWISE_F32, false}, /* near */
        {{5000, 16, 25}, 1, 2, ELEMENTWISE_F32, true},
        {{5000, 15, 25}, 1, 2, ELEMENTWISE_F32, false}, /* in few places */
        {{128, 700, 23}, 1, 2, ELEMENTWISE_F32, true},
        {{129, 700, 23}, 1, 2, ELEMENTWISE_F32, false}, /* many, short */
        {{129, 700, 24}, 1, 2, ELEMENTWISE_F32, true},
        {{16, 5000, 128}, 1, 2, ELEMENTWISE_BF16, true},
        {{16, 5000, 129}, 1, 2, ELEMENTWISE_BF16, false},
        {{16, 5000, 129}, 1, 2, ELEMENTWISE_U8, true},
        {{16, 8000, 25}, 3, 2, ELEMENTWISE_F32, false}}; /* windows */
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 2 * (sizeof layouts / sizeof *layouts); i++) {
        struct elementwise_plan p;
        bool few = i % 2;
        ew_cpu_tune(few ? EW_FEW_READS : EW_TUNINGS - 1 - EW_FEW_READS);
        plan_rows(&p, layouts[i / 2].type, layouts[i / 2].shape,
                  layouts[i / 2].x, layouts[i / 2].y);
        bool waits = few && p.level < EW_LEVEL_AVX512;
        if (p.pass.deep && !waits) /* of short rows */
            continue;
        ck_assert_msg((p.loop[1].n == layouts[i / 2].shape[0]) ==
                          (waits && layouts[i / 2].ordered),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of four loops in the order of inputs, some backwards, some with gaps. */
START_TEST(rows_in_the_order_of_inputs_give_the_results_of_the_reference)
{
    static const int64_t shape[] = {17, 20, 300, 18};
    static const int64_t strides[][4] = {{18, 306, 6120, 1},
                                         {360, -18, 6120, 1},
                                         {-18, 91800, 306, 1},
                                         {38, 193800, 646, 2}};
    if (!support_level(_i))
        return;
    ew_cpu_tune(EW_FEW_READS);
    for (int i = 0; i < 8; i++) {
        elementwise_dtype type = i % 2 ? ELEMENTWISE_F32 : ELEMENTWISE_I64;
        support_make(&call.x, type, 4, shape, strides[i / 2], SUPPORT_HIGH);
        support_make(&call.y, type, 1, shape + 3, NULL, SUPPORT_LOW);
        support_make(&call.out, type, 4, shape, NULL, SUPPORT_HIGH);
        struct elementwise_plan p;
        strategy_plan_call(&p, ELEMENTWISE_SUB, &call);
        bool ordered = p.loop[1].stride[EW_OUT] != shape[3] * p.pass.stored[0];
        ck_assert_int_eq(ordered, p.level < EW_LEVEL_AVX512);
        strategy_verify(&call, ELEMENTWISE_SUB, NULL);
    }
    ew_cpu_limit(EW_LEVELS);
    strategy_release(&call);
}
END_TEST

int main(void)
{
    TCase *choosing = support_case("choosing");
    TCase *running = support_case("running");
    tcase_add_loop_test(choosing, rows_of_large_inputs_are_made_in_their_order,
                        0, EW_LEVELS);
    tcase_add_loop_test(
        running, rows_in_the_order_of_inputs_give_the_results_of_the_reference,
        0, EW_LEVELS);
    TCase *const cases[] = {choosing, running, NULL};
    return support_run("strategy_order", cases);
}
