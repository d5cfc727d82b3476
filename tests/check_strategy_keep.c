/*
 * Turns inputs that stand still along a loop into plans whose tiles go along
 * that loop before the next tile: which do, and where what stands still is read
 * again instead. Then runs them, which gives the results of the reference.
 */
#include <check.h>

#include "cpu.h"
#include "plan.h"
#include "strategy.h"
#include "strategy_calls.h"
#include "support.h"

static struct strategy_call call;

/* A plan for x op y along which loop each tile goes, 0 if along none, and the
   rows of a tile. */
START_TEST(tiles_go_along_loops_where_a_packed_input_stands_still)
{
    static const struct {
        int64_t shape[3], x[3], y[3];
        elementwise_dtype type;
        int again, rows;
    } layouts[] = {
        /* y is turned: 8 rows, or more of small elements; out is stored as
           usual, */
        {{5, 200, 500}, {100000, 500, 1}, {0, 1, 200}, ELEMENTWISE_F32, 2, 8},
        {{5, 200, 500}, {100000, 500, 1}, {0, 1, 200}, ELEMENTWISE_U8, 2, 32},
        /* past the caches, in whole rows, or in pieces */
        {{20, 256, 256}, {65536, 256, 1}, {0, 1, 256}, ELEMENTWISE_F32, 2, 8},
        {{9, 256, 512}, {131072, 512, 1}, {0, 1, 256}, ELEMENTWISE_F32, 2, 8},
        /* in the other order of loops; y stands still along rows alone */
        {{200, 5, 500}, {2500, 500, 1}, {1, 0, 200}, ELEMENTWISE_F32, 2, 8},
        {{5, 200, 500}, {100000, 1, 200}, {500, 0, 1}, ELEMENTWISE_F32, 0, 32},
        /* y is gathered, rows of it one by one, or a row in pieces */
        {{5, 200, 500}, {100000, 500, 1}, {0, 1001, 2}, ELEMENTWISE_F32, 2, 0},
        {{5, 1, 9000}, {9000, 0, 1}, {0, 0, 2}, ELEMENTWISE_F32, 1, 0},
        {{5, 1, 2000}, {2000, 0, 1}, {0, 0, 2}, ELEMENTWISE_F64, 0, 0},
        /* beside x, which is turned, as y may be */
        {{5, 200, 500}, {100000, 1, 200}, {0, 1000, 2}, ELEMENTWISE_F32, 2, 16},
        {{5, 200, 500}, {300000, 3, 600}, {0, 1, 200}, ELEMENTWISE_F32, 2, 64}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = layouts[i].type;
        const int64_t *shape = layouts[i].shape;
        strategy_plan(&p, ELEMENTWISE_ADD, type, 3, shape, layouts[i].x,
                      layouts[i].y);
        ck_assert_msg(
            p.pass.again == layouts[i].again && p.pass.turn == layouts[i].rows,
            "%d: loop %d, %d rows", (int)i, p.pass.again, p.pass.turn);
        ck_assert_int_eq(ew_strategy_keeps(&p, EW_Y), layouts[i].again > 0);
        ck_assert(!ew_strategy_keeps(&p, EW_X));
    }
}
END_TEST

/* y is more than caches keep until the next step reads it again: each piece of
   it serves all steps, whether it is a part of a row or some rows. */
START_TEST(large_inputs_that_stand_still_are_read_again_while_they_are_near)
{
    static const struct {
        elementwise_op op;
        elementwise_dtype type;
        int64_t shape[3], y[3];
        int again;
    } layouts[] = {
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 1, 196608}, {0, 0, 1}, 1},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 1, 196607}, {0, 0, 1}, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 200, 1000}, {0, 1001, 1}, 2},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {8, 190, 1000}, {0, 1001, 1}, 0},
        /* out goes past the caches, which leaves room there */
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {24, 1, 262144}, {0, 0, 1}, 0},
        {ELEMENTWISE_ADD, ELEMENTWISE_F32, {14, 1, 393216}, {0, 0, 1}, 1},
        /* inverses of a row are found once for all that are divided by it */
        {ELEMENTWISE_DIV, ELEMENTWISE_C64, {8, 1, 196608}, {0, 0, 1}, 0}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        elementwise_dtype type = layouts[i].type;
        const int64_t *shape = layouts[i].shape;
        strategy_plan(&p, layouts[i].op, type, 3, shape, NULL, layouts[i].y);
        ck_assert_msg(p.pass.again == layouts[i].again, "%d: loop %d", (int)i,
                      p.pass.again);
        ck_assert_int_eq(ew_strategy_keeps(&p, EW_Y), layouts[i].again > 0);
        ck_assert(!p.calls || !layouts[i].again);
    }
}
END_TEST

/* Where processors read rows ahead but no pieces of them, large ones are left
   whole, unless they are pieces anyway. */
START_TEST(large_inputs_are_read_row_by_row_where_the_last_cache_is_small)
{
    static const struct {
        int64_t row;
        bool converts;
        int again;
    } layouts[] = {{196608, 0, 1},
                   {262143, 0, 1},
                   {262144, 0, 0},
                   {786432, 0, 0},
                   {262144, 1, 1}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_SMALL_CACHE);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t shape[] = {8, layouts[i].row};
        elementwise_dtype type =
            layouts[i].converts ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 1, shape + 1, NULL};
        elementwise_tensor o = {NULL, type, 2, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_msg(p.pass.again == layouts[i].again, "%d: loop %d", (int)i,
                      p.pass.again);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of y that are whole in a tile, and rows that are several tiles. */
START_TEST(a_row_that_tiles_share_is_gathered_where_they_share_it)
{
    static const int64_t shapes[][2] = {{40, 300}, {3, 3000}, {17, 9000}};
    static const int64_t every_second[] = {0, -2};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 6; i++) {
        const int64_t *shape = shapes[i / 2];
        elementwise_dtype type = i % 2 ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
        support_make(&call.x, ELEMENTWISE_F32, 2, shape, NULL, SUPPORT_HIGH);
        support_make(&call.y, type, 2, shape, every_second, SUPPORT_LOW);
        support_make(&call.out, type, 2, shape, NULL, SUPPORT_HIGH);
        strategy_verify(&call, ELEMENTWISE_ADD, NULL);
    }
    strategy_release(&call);
}
END_TEST

/* Pieces of a row, rows with gaps, and both past the caches. Dense calls do not
   make a plan otherwise. */
START_TEST(what_is_read_again_gives_the_results_of_the_reference)
{
    static const int64_t shapes[][3] = {{3, 1, 98305}, {18, 33, 3000}};
    static const int64_t gaps[][3] = {{0, 0, 1}, {0, 3001, 1}};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 6; i++) {
        const int64_t *shape = shapes[i / 3], *dense = NULL;
        support_make(&call.x, ELEMENTWISE_F64, 3, shape, NULL, SUPPORT_HIGH);
        support_make(&call.y, ELEMENTWISE_F64, i % 3 == 2 ? 2 : 3,
                     i % 3 == 2 ? shape + 1 : shape,
                     i % 3 == 2 ? dense : gaps[i / 3], SUPPORT_LOW);
        support_make(&call.out, ELEMENTWISE_F64, 3, shape, NULL, SUPPORT_HIGH);
        strategy_verify(&call, ELEMENTWISE_SUB,
                        i % 3 == 1 ? &strategy_past : NULL);
    }
    strategy_release(&call);
}
END_TEST

int main(void)
{
    TCase *choosing = support_case("choosing");
    TCase *running = support_case("running");
    tcase_add_test(choosing,
                   tiles_go_along_loops_where_a_packed_input_stands_still);
    tcase_add_test(
        choosing,
        large_inputs_that_stand_still_are_read_again_while_they_are_near);
    tcase_add_test(
        choosing,
        large_inputs_are_read_row_by_row_where_the_last_cache_is_small);
    tcase_add_loop_test(running,
                        a_row_that_tiles_share_is_gathered_where_they_share_it,
                        0, EW_LEVELS);
    tcase_add_loop_test(running,
                        what_is_read_again_gives_the_results_of_the_reference,
                        0, EW_LEVELS);
    TCase *const cases[] = {choosing, running, NULL};
    return support_run("strategy_keep", cases);
}
