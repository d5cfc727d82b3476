/*
 * Turns layouts into plans: which way to run them is taken of all that there
 * are, and what becomes of out, with gaps or past the caches. Then runs layouts
 * of every kind: results are those of the reference however tiles are cut.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "plan.h"
#include "strategy.h"
#include "strategy_calls.h"
#include "support.h"

static struct strategy_call call;

/* ---------------------------------------------------------------------
 * Ways to run a plan
 */

/* A plan for [A, B, C] x of the given strides op y dense or broadcast. */
struct choice {
    int64_t shape[3], x[3], y[3];
    bool turn, fold, pack_x, pack_y;
    int deep; /* loops of a tile of several */
};

static const struct choice choices[] = {
    /* all alike: one loop */
    {{8, 32, 64}, {2048, 64, 1}, {2048, 64, 1}, 0, 0, 0, 0, 0},
    /* long rows, broadcast either way: as is */
    {{8, 32, 64}, {2048, 64, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    {{8, 32, 64}, {2048, 64, 1}, {32, 1, 0}, 0, 0, 0, 0, 0},
    /* transposed in the last two dimensions: rows are folded unless they are
       long, or the other input would be spread for that alone */
    {{8, 32, 64}, {2048, 1, 32}, {2048, 64, 1}, 1, 1, 1, 0, 0},
    {{8, 32, 64}, {2048, 64, 1}, {2048, 1, 32}, 1, 1, 0, 1, 0},
    {{8, 32, 64}, {2048, 1, 32}, {0, 0, 1}, 1, 1, 1, 1, 0},
    {{8, 32, 127}, {4064, 1, 32}, {4064, 127, 1}, 1, 1, 1, 0, 0},
    {{8, 32, 128}, {4096, 1, 32}, {4096, 128, 1}, 1, 1, 1, 0, 0},
    {{8, 32, 129}, {4128, 1, 32}, {4128, 129, 1}, 1, 0, 1, 0, 0},
    {{8, 32, 64}, {2048, 1, 32}, {32, 1, 0}, 1, 0, 1, 0, 0},
    /* and in the outer ones */
    {{8, 32, 64}, {1, 8, 256}, {2048, 64, 1}, 1, 0, 1, 0, 0},
    {{8, 32, 64}, {1, 8, 256}, {1, 8, 256}, 1, 0, 1, 1, 0},
    /* two inputs that would need different rows, and so few to a line that
       tiles are a part of all three loops */
    {{16, 32, 64}, {1, 16, 512}, {2048, 1, 32}, 0, 0, 0, 0, 3},
    /* several short loops, of which two are no tile: y is gathered */
    {{800, 4, 3}, {12, 3, 1}, {1, 800, 0}, 0, 0, 0, 0, 3},
    {{800, 4, 3}, {1, 800, 3200}, {4, 1, 0}, 0, 0, 0, 0, 3},
    /* too few of them */
    {{40, 4, 3}, {12, 3, 1}, {1, 40, 0}, 0, 0, 0, 0, 0},
    /* short rows of out, turned; in the same few places of a cache */
    {{64, 2047, 16}, {1, 64, 131008}, {32752, 16, 1}, 1, 0, 1, 0, 0},
    {{64, 2048, 16}, {1, 64, 131072}, {32768, 16, 1}, 0, 0, 0, 0, 3},
    /* too few to be worth turning: gathered */
    {{3, 32, 64}, {1, 192, 3}, {2048, 64, 1}, 0, 0, 1, 0, 0},
    /* a row that so many rows share is gathered once instead, if it is short */
    {{40, 32, 256}, {8192, 256, 1}, {1, 0, 40}, 0, 0, 0, 1, 0},
    {{40, 15, 256}, {3840, 256, 1}, {1, 0, 40}, 1, 0, 0, 1, 0},
    {{40, 32, 257}, {8224, 257, 1}, {1, 0, 40}, 1, 0, 0, 1, 0},
    /* all of which are copied first, if they are few */
    {{8, 32, 256}, {8192, 256, 1}, {1, 0, 8}, 0, 0, 0, 0, 0},
    /* what runs along memory is elements that share a line, or backwards */
    {{8, 32, 64}, {2, 16, 512}, {2048, 64, 1}, 1, 0, 1, 0, 0},
    {{8, 32, 64}, {-1, 8, 256}, {2048, 64, 1}, 1, 0, 1, 0, 0},
    /* no two elements share a line: one by one */
    {{8, 32, 64}, {16, 128, 4096}, {2048, 64, 1}, 0, 0, 0, 0, 0},
    /* every second element, backwards, the same row again and again */
    {{8, 32, 64}, {4096, 128, 2}, {2048, 64, 1}, 0, 0, 1, 0, 0},
    {{8, 32, 64}, {2048, 64, -1}, {2048, 64, -1}, 0, 1, 1, 1, 0},
    {{8, 32, 64}, {128, 0, 2}, {2048, 64, 1}, 0, 1, 1, 0, 0},
    {{1, 1, 256}, {0, 0, 4}, {0, 0, -1}, 0, 0, 1, 1, 0},
    {{1, 1, 1024}, {0, 0, 5}, {0, 0, -2}, 0, 0, 1, 1, 0},
    /* too few to be worth it: more where steps are no shuffles */
    {{1, 1, 255}, {0, 0, 4}, {0, 0, -1}, 0, 0, 0, 0, 0},
    {{1, 1, 1023}, {0, 0, 5}, {0, 0, -2}, 0, 0, 0, 0, 0},
    /* short rows: repeated, spread, a gap after each row */
    {{1, 9000, 3}, {0, 4, 1}, {0, 0, 1}, 0, 1, 1, 1, 0},
    {{1, 900, 3}, {0, 1, 0}, {0, 3, 1}, 0, 1, 1, 0, 0},
    {{1, 900, 3}, {0, 4, 1}, {0, 3, 1}, 0, 1, 1, 0, 0},
    {{1, 900, 3}, {0, 0, 0}, {0, 4, 1}, 0, 1, 0, 1, 0},
    /* beside what is gathered: spread up to 96 bytes, longer rows one by one */
    {{1, 512, 24}, {0, 48, 2}, {0, 1, 0}, 0, 1, 1, 1, 0},
    {{1, 512, 25}, {0, 50, 2}, {0, 1, 0}, 0, 0, 1, 0, 0},
    /* a row of more than a line is folded if it is no more than repeated */
    {{1, 63, 16}, {0, 16, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    {{1, 63, 17}, {0, 17, 1}, {0, 0, 1}, 0, 1, 0, 1, 0},
    {{1, 63, 24}, {0, 24, 1}, {0, 0, 1}, 0, 1, 0, 1, 0},
    {{1, 63, 25}, {0, 25, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    {{1, 63, 17}, {0, 18, 1}, {0, 0, 1}, 0, 0, 0, 0, 0},
    /* a row with large gaps, repeated: that is gathered once for many rows */
    {{2048, 190, 5}, {0, 5, 1}, {25, 0, 5}, 0, 1, 0, 1, 0},
    /* too few rows */
    {{1, 90, 3}, {0, 3, 1}, {0, 0, 1}, 0, 0, 0, 0, 0}};

START_TEST(layouts_get_the_strategy_that_suits_them)
{
    const struct choice *c = &choices[_i];
    struct elementwise_plan p;
    strategy_read_many();
    strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 3, c->shape, c->x,
                  c->y);
    ck_assert_int_eq(p.pass.turn != 0, c->turn);
    ck_assert_int_eq(p.pass.fold, c->fold);
    ck_assert_int_eq(p.pass.pack[EW_X] != NULL, c->pack_x);
    ck_assert_int_eq(p.pass.pack[EW_Y] != NULL, c->pack_y);
    ck_assert_int_eq(p.pass.deep, c->deep);
}
END_TEST

START_TEST(a_plan_says_what_is_done_to_its_inputs)
{
    static const struct {
        int64_t shape[2], x[2], y[2];
        const char *says[2], *rest;
    } plans[] = {
        {{64, 64}, {64, 1}, {0, 1}, {"as is", "as is"}, "\"rows\":\"as is\""},
        {{64, 64},
         {1, 64},
         {0, 1},
         {"transposed", "repeated"},
         "\"rows\":\"folded\""},
        {{64, 64}, {128, 2}, {64, -1}, {"gathered", "gathered"}, ""},
        {{900, 3},
         {4, 1},
         {0, 1},
         {"packed", "repeated"},
         "\"rows\":\"folded\""},
        {{900, 3},
         {3, 1},
         {1, 0},
         {"as is", "spread"},
         "\"rows\":\"folded\",\"tile\":[],\"kept\":[],\"stores\":\"as "
         "usual\""}};
    char json[1000], says[200];
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const int64_t *shape = plans[i].shape;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 2, shape, plans[i].x};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 2, shape, plans[i].y};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
        elementwise_plan *p;
        ck_assert_int_eq(
            elementwise_plan_create(&p, ELEMENTWISE_ADD, &a, &b, -1, &o, NULL),
            0);
        elementwise_plan_describe(p, json, sizeof json);
        elementwise_plan_destroy(p);
        snprintf(says, sizeof says, "\"x_input\":\"%s\",\"y_input\":\"%s\",%s",
                 plans[i].says[EW_X], plans[i].says[EW_Y], plans[i].rest);
        ck_assert_ptr_nonnull(strstr(json, says));
    }
}
END_TEST

/* Lines of the next tile are asked for where tiles share them, out of the L2
   cache; those of out, where stores wait for no lines, from 8 MiB on. */
START_TEST(tiles_of_several_loops_ask_for_lines_that_they_share)
{
    static const struct {
        int64_t shape[3];
        bool x, out, distant;
    } layouts[] = {{{419, 1502, 3}, 1, 1, 0},  {{448, 1536, 3}, 0, 0, 0},
                   {{448, 1537, 3}, 0, 1, 0},  {{419, 1536, 3}, 1, 0, 0},
                   {{1024, 1024, 3}, 1, 1, 1}, {{419, 1702, 3}, 1, 1, 0},
                   {{119, 150, 3}, 0, 0, 0}};
    static const int64_t one[] = {1};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        const int64_t *shape = layouts[i / 2].shape;
        const int64_t bac[] = {3, 3 * shape[0], 1};
        const bool distant = layouts[i / 2].distant;
        const bool large = shape[0] * shape[1] * shape[2] >= 2 << 20;
        elementwise_tensor a = {NULL, ELEMENTWISE_F32, 3, shape, bac};
        elementwise_tensor b = {NULL, ELEMENTWISE_F32, 1, one, NULL};
        elementwise_tensor o = {NULL, ELEMENTWISE_F32, 3, shape, NULL};
        struct elementwise_plan p;
        ew_cpu_tune(i % 2 ? EW_QUICK_STORES : 0);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_int_eq(p.pass.deep, 3);
        ck_assert_int_eq(p.pass.ahead[EW_X], layouts[i / 2].x);
        ck_assert_int_eq(p.pass.ahead[EW_OUT],
                         layouts[i / 2].out && (i % 2 == 0 || large));
        ck_assert_int_eq(p.pass.ahead[EW_Y], distant);
        ck_assert_int_eq(p.pass.distant, distant);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* ---------------------------------------------------------------------
 * Out with gaps
 */

enum way { OUTS, INPUTS, TURNED };

static const struct {
    elementwise_op op;
    elementwise_dtype type;
    int64_t shape[3], out[3];
    enum way base, masks;
} gaps_of_out[] = {
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {40, 3, 32}, {192, 2, 6}, 1, 1},
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 402, 326}, {1, 2, 804}, 1, 1},
    {ELEMENTWISE_ADD, ELEMENTWISE_F32, {1, 402, 326}, {1, 2, 804}, 1, 2},
    {ELEMENTWISE_ADD, ELEMENTWISE_F32, {1, 402, 326}, {1, 8, 3216}, 1, 1},
    {ELEMENTWISE_ADD, ELEMENTWISE_U8, {1, 402, 326}, {1, 2, 804}, 1, 2},
    /* lines of out in a few places of a cache, or too many of them */
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 512, 65}, {1, 2, 1024}, 0, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 99, 513}, {1, 2, 202}, 0, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 99, 512}, {1, 2, 202}, 1, 1},
    /* rows of three; out's are dense; bytes; halves */
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 402, 3}, {1, 2, 804}, 0, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F64, {1, 402, 326}, {1, 1, 402}, 0, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_U8, {30, 40, 20}, {3, 90, 3610}, 0, 0},
    {ELEMENTWISE_ADD, ELEMENTWISE_F16, {1, 402, 15}, {1, 40, 16082}, 0, 1},
    {ELEMENTWISE_POW, ELEMENTWISE_F16, {1, 40, 326}, {1, 40, 1604}, 0, 0}};

/* Out has gaps in all its rows, and inputs are dense along another loop: rows
   are theirs, or all are turned if out is scattered under masks. */
START_TEST(rows_are_those_of_inputs_where_out_has_gaps)
{
    for (size_t i = 0; i < 2 * sizeof gaps_of_out / sizeof *gaps_of_out; i++) {
        int level = i % 2 ? EW_LEVEL_AVX512 : EW_LEVEL_BASE;
        enum way way =
            i % 2 ? gaps_of_out[i / 2].masks : gaps_of_out[i / 2].base;
        elementwise_dtype type = gaps_of_out[i / 2].type;
        const int64_t *shape = gaps_of_out[i / 2].shape;
        struct elementwise_plan p;
        ew_cpu_limit(level);
        if (ew_cpu_level() != level)
            continue;
        strategy_plan_into(&p, gaps_of_out[i / 2].op, type, 3, shape, NULL,
                           NULL, gaps_of_out[i / 2].out);
        const struct ew_loop *row = &p.loop[0];
        bool along = row->stride[EW_X] == p.pass.stored[EW_X];
        bool turned = p.pass.turn && ew_strategy_scatters(&p);
        ck_assert_msg(along == (way == INPUTS) && turned == (way == TURNED),
                      "%d", (int)i);
        ck_assert(!along || !ew_pass_tiles(&p.pass));
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

enum { M = 1 << 20 };

/* Steps of x, y and out; to which levels they are worth it, from base to
   AVX-512. */
static const struct {
    elementwise_dtype type;
    int64_t shape[2], steps[3];
    elementwise_op op;
    bool scatters[3];
} blocks[] = {
    {ELEMENTWISE_U8, {1, 1024}, {2, 2, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
    {ELEMENTWISE_U8, {1, 1023}, {2, 2, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_U8, {1, 8 * M}, {1, 1, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
    {ELEMENTWISE_U8, {1, 8 * M}, {1, 1, 5}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_F16, {1, 4 * M}, {1, 1, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
    {ELEMENTWISE_F16, {1, 4 * M}, {2, 2, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_F32, {1, 2 * M}, {1, 1, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_F32, {1, 2 * M}, {1, 1, 2}, ELEMENTWISE_EQUAL, {1, 1, 1}},
    {ELEMENTWISE_F32, {1, 4 * M}, {1, 1, 2}, ELEMENTWISE_EQUAL, {0, 0, 0}},
    {ELEMENTWISE_F64, {1, 1 * M}, {1, 1, 2}, ELEMENTWISE_EQUAL, {0, 0, 0}},
    {ELEMENTWISE_U8, {1, 4096}, {1, 1, 1}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_U8, {1, 4096}, {2, 1, 1}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_U8, {1, 4096}, {0, 0, 2}, ELEMENTWISE_ADD, {0, 0, 0}},
    {ELEMENTWISE_U8, {40, 32}, {1, 1, 2}, ELEMENTWISE_ADD, {1, 1, 1}},
    {ELEMENTWISE_F16, {1, 4096}, {1, 2, 9}, ELEMENTWISE_ADD, {1, 1, 1}},
    {ELEMENTWISE_I16, {1, 4096}, {3, 2, 2}, ELEMENTWISE_ADD, {0, 1, 1}},
    {ELEMENTWISE_F32, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MAX, {1, 1, 1}},
    {ELEMENTWISE_F32, {1, 4096}, {2, 2, 2}, ELEMENTWISE_MAX, {0, 0, 1}},
    {ELEMENTWISE_F32, {1, 4096}, {2, 2, 2}, ELEMENTWISE_MOD, {0, 1, 1}},
    {ELEMENTWISE_I32, {1, 4096}, {3, 3, 2}, ELEMENTWISE_DIV, {0, 1, 1}},
    {ELEMENTWISE_F64, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MOD, {0, 0, 1}},
    {ELEMENTWISE_F64, {1, 4096}, {1, 0, 2}, ELEMENTWISE_MAX, {0, 0, 1}},
    {ELEMENTWISE_F64, {1, 4096}, {1, 0, 3}, ELEMENTWISE_MAX, {0, 0, 0}},
    {ELEMENTWISE_F64, {1, 4096}, {2, 0, 2}, ELEMENTWISE_MAX, {0, 0, 0}},
    {ELEMENTWISE_F64, {99, 127}, {1, 0, 2}, ELEMENTWISE_MAX, {0, 0, 0}},
    {ELEMENTWISE_F64, {1, 4096}, {2, 1, 2}, ELEMENTWISE_EQUAL, {0, 0, 1}},
    {ELEMENTWISE_C64, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MUL, {0, 0, 1}},
    {ELEMENTWISE_C64, {1, 4096}, {1, 1, 2}, ELEMENTWISE_DIV, {0, 0, 0}},
    {ELEMENTWISE_C128, {1, 4096}, {1, 1, 2}, ELEMENTWISE_MUL, {0, 0, 0}}};

START_TEST(rows_of_out_with_gaps_are_made_dense_first)
{
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct elementwise_plan p;
        int64_t strides[3][2];
        for (int k = 0; k < 3; k++) {
            strides[k][1] = blocks[i].steps[k];
            strides[k][0] = strides[k][1] * (blocks[i].shape[1] + 1);
        }
        strategy_plan_into(&p, blocks[i].op, blocks[i].type, 2, blocks[i].shape,
                           strides[EW_X], strides[EW_Y], strides[EW_OUT]);
        int level = _i < EW_LEVEL_AVX512 ? _i : EW_LEVEL_AVX512;
        bool scatters = p.pass.store || p.pass.deep;
        ck_assert_msg(scatters == blocks[i].scatters[level], "%d", (int)i);
        ck_assert(!p.pass.deep || !p.pass.store);
    }
}
END_TEST

/* Every second element of [n, 12, 32] times [n, 1, 32], in place: halves and
   smaller ones are gathered and moved back from 1024 elements on, larger ones
   taken one by one. */
START_TEST(small_blocks_with_gaps_in_out_are_moved_if_they_are_many)
{
    static const struct {
        elementwise_dtype type;
        int64_t n;
        bool moves;
    } arrays[] = {{ELEMENTWISE_I16, 64, true},
                  {ELEMENTWISE_I16, 3, true},
                  {ELEMENTWISE_I16, 2, false},
                  {ELEMENTWISE_F64, 64, false}};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct elementwise_plan p;
        const int64_t shape[] = {arrays[i].n, 12, 32};
        const int64_t of_x[] = {768, 64, 2}, of_y[] = {32, 0, 1};
        strategy_plan_into(&p, ELEMENTWISE_MUL, arrays[i].type, 3, shape, of_x,
                           of_y, of_x);
        ck_assert_msg((p.pass.store != NULL) == arrays[i].moves, "%d", (int)i);
        ck_assert(!p.pass.deep);
    }
}
END_TEST

/* ---------------------------------------------------------------------
 * Out past the caches
 */

/* Whether an output beside an input that is turned is stored so. */
static bool streams_turned(const int64_t shape[2])
{
    const int64_t across[] = {1, shape[0]};
    struct elementwise_plan p;
    strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 2, shape, across, NULL);
    return p.pass.stream != NULL;
}

/* Checks what a plan of few elements says, with the hint or without. A step on
   f16 changes the kernel. */
static void check_hint(bool hint, elementwise_dtype type, elementwise_act act)
{
    static const int64_t shape[] = {4, 128};
    elementwise_tensor a = {NULL, type, 2, shape, NULL};
    elementwise_options options = strategy_past;
    elementwise_plan *p;
    char json[1000];
    options.flags = hint ? ELEMENTWISE_STREAM : 0;
    options.act = act;
    ck_assert_int_eq(
        elementwise_plan_create(&p, ELEMENTWISE_ADD, &a, &a, -1, &a, &options),
        0);
    elementwise_plan_describe(p, json, sizeof json);
    elementwise_plan_destroy(p);
    ck_assert_ptr_nonnull(strstr(json, hint ? "\"stores\":\"past the caches\""
                                            : "\"stores\":\"as usual\""));
    bool halves = type == ELEMENTWISE_F16 && act == ELEMENTWISE_ACT_NONE;
    ck_assert_ptr_nonnull(strstr(json, halves ? "add_f16" : "add_f32"));
}

/* From 20 MiB on, 4 MiB where an input is turned, if rows of out are dense and
   long, and under the hint. */
START_TEST(large_outputs_go_past_the_caches)
{
    static const struct {
        int64_t shape[2], strides[2];
        elementwise_dtype type;
        bool streams;
    } outputs[] = {{{5, 1 << 20}, {1 << 20, 1}, ELEMENTWISE_F32, true},
                   {{5, (1 << 20) - 1}, {1 << 20, 1}, ELEMENTWISE_F32, false},
                   {{1310720, 4}, {4, 1}, ELEMENTWISE_F32, true},
                   {{40960, 128}, {129, 1}, ELEMENTWISE_F32, true},
                   {{41285, 127}, {129, 1}, ELEMENTWISE_F32, false},
                   {{40960, 128}, {256, 2}, ELEMENTWISE_F32, false},
                   {{5, 1 << 20}, {1 << 20, 1}, ELEMENTWISE_BOOL, false},
                   {{20, 1 << 20}, {1 << 20, 1}, ELEMENTWISE_BOOL, true},
                   {{0, 1 << 30}, {1 << 30, 1}, ELEMENTWISE_F32, false}};
    static const int64_t turned[][2] = {{1024, 1024}, {1024, 1023}};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(streams_turned(turned[i]), i == 0);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct elementwise_plan p;
        strategy_plan_into(&p, ELEMENTWISE_ADD, outputs[i].type, 2,
                           outputs[i].shape, NULL, NULL, outputs[i].strides);
        ck_assert_int_eq(p.pass.stream != NULL, outputs[i].streams);
        ck_assert(!p.pass.stream || !p.calls);
    }
    for (int k = 0; k < 8; k++)
        check_hint(k & 1, k & 2 ? ELEMENTWISE_F16 : ELEMENTWISE_F32,
                   k & 4 ? ELEMENTWISE_ACT_TANH : ELEMENTWISE_ACT_NONE);
}
END_TEST

/* Beside a turned input rows of two lines and more from 8 MiB on. */
START_TEST(short_rows_of_whole_lines_go_past_the_caches)
{
    static const struct {
        int64_t shape[2], pitch;
        bool streams;
    } outputs[] = {{{65536, 32}, 64, true},
                   {{65535, 32}, 64, false},
                   {{65536, 32}, 66, false},
                   {{65536, 40}, 64, false},
                   {{131072, 16}, 64, false}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct elementwise_plan p;
        const int64_t *shape = outputs[i].shape;
        const int64_t across[] = {1, shape[0]}, rows[] = {outputs[i].pitch, 1};
        strategy_plan_into(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 2, shape,
                           across, rows, rows);
        ck_assert_int_ne(p.pass.turn, 0);
        ck_assert_int_eq(p.pass.stream != NULL, outputs[i].streams);
        ck_assert_int_eq(p.pass.lines, outputs[i].streams);
    }
}
END_TEST

enum by { ROW, COLUMN, ARRAY };

/* Of 24 MiB and more; by which operations, and of which rows. */
static const struct {
    elementwise_op op;
    elementwise_dtype type;
    enum by by;
    bool streams, slow;
} slow[] = {{ELEMENTWISE_MOD, ELEMENTWISE_F32, ROW, false, false},
            {ELEMENTWISE_MOD, ELEMENTWISE_I32, ROW, false, false},
            {ELEMENTWISE_MOD, ELEMENTWISE_F32, COLUMN, false, false},
            {ELEMENTWISE_MOD, ELEMENTWISE_I32, COLUMN, true, false},
            {ELEMENTWISE_MOD, ELEMENTWISE_F32, ARRAY, true, true},
            {ELEMENTWISE_ATAN2, ELEMENTWISE_F32, ROW, true, false},
            {ELEMENTWISE_ATAN2, ELEMENTWISE_F32, ARRAY, true, true},
            {ELEMENTWISE_NEXTAFTER, ELEMENTWISE_F32, ROW, true, false},
            {ELEMENTWISE_NEXTAFTER, ELEMENTWISE_F32, ARRAY, true, false},
            {ELEMENTWISE_ADD, ELEMENTWISE_F32, ROW, true, false},
            {ELEMENTWISE_FMAX, ELEMENTWISE_F32, ARRAY, true, false},
            {ELEMENTWISE_FMIN, ELEMENTWISE_F32, ROW, true, false},
            {ELEMENTWISE_DIV, ELEMENTWISE_C64, ARRAY, true, false},
            {ELEMENTWISE_DIV, ELEMENTWISE_F32, ROW, true, false},
            {ELEMENTWISE_DIV, ELEMENTWISE_F16, ROW, false, false},
            {ELEMENTWISE_TRUNCDIV, ELEMENTWISE_BF16, ARRAY, true, true},
            {ELEMENTWISE_DIV, ELEMENTWISE_F16, COLUMN, true, false},
            {ELEMENTWISE_MUL, ELEMENTWISE_F16, ARRAY, true, false},
            {ELEMENTWISE_MAX, ELEMENTWISE_I32, ARRAY, true, false},
            {ELEMENTWISE_HEAVISIDE, ELEMENTWISE_F32, ROW, true, false},
            {ELEMENTWISE_TRUNCDIV, ELEMENTWISE_F64, ARRAY, true, false},
            {ELEMENTWISE_TRUNCDIV, ELEMENTWISE_I32, ROW, false, false},
            {ELEMENTWISE_DIV, ELEMENTWISE_C128, COLUMN, false, false},
            {ELEMENTWISE_POW, ELEMENTWISE_C64, ARRAY, true, true},
            {ELEMENTWISE_ADD, ELEMENTWISE_F32, ARRAY, true, false}};

/* Where stores wait for no lines, all go past the caches. */
START_TEST(rows_of_slow_operations_are_stored_as_usual)
{
    static const int64_t rows[] = {125000, 101}, row[] = {101},
                         all[] = {12 << 20}, column[] = {125000, 1};
    static const struct {
        int x_ndim, y_ndim;
        const int64_t *x, *y;
    } shapes[] = {[ROW] = {2, 1, rows, row},
                  [COLUMN] = {2, 2, rows, column},
                  [ARRAY] = {1, 1, all, all}};
    for (size_t i = 0; i < 2 * (sizeof slow / sizeof *slow); i++) {
        const bool quick = i % 2;
        const int k = (int)(i / 2);
        struct elementwise_plan p;
        const elementwise_dtype type = slow[k].type;
        const enum by by = slow[k].by;
        elementwise_tensor o = {NULL, type, shapes[by].x_ndim, shapes[by].x,
                                NULL};
        elementwise_tensor b = {NULL, type, shapes[by].y_ndim, shapes[by].y,
                                NULL};
        ew_cpu_tune(quick ? EW_QUICK_STORES : 0);
        ck_assert_int_eq(ew_plan_make(&p, slow[k].op, &o, &b, -1, &o), 0);
        ck_assert_msg((p.pass.stream != NULL) == (slow[k].streams || quick),
                      "call %d, %d", k, quick);
        /* without AVX no kernel divides c64 past the caches */
        const bool without = p.level == EW_LEVEL_BASE &&
                             slow[k].op == ELEMENTWISE_DIV &&
                             type == ELEMENTWISE_C64;
        ck_assert_msg(p.pass.slow == (slow[k].slow || without), "call %d", k);
    }
}
END_TEST

/* Of integers of 32 and 64 bits on AVX-512: arrays, also one row for all, one
   number by an array, and of 32 by numbers; not of 16 bits. */
START_TEST(quotients_of_wide_integers_are_stored_past_the_caches)
{
    static const int64_t rows[] = {4096, 4096}, column[] = {4096, 1};
    const struct {
        elementwise_dtype type;
        int x_ndim, y_ndim;
        const int64_t *y_shape;
        bool past;
    } calls[] = {{ELEMENTWISE_I32, 2, 2, rows, true},
                 {ELEMENTWISE_U64, 2, 2, rows, true},
                 {ELEMENTWISE_I64, 2, 1, rows, true},
                 {ELEMENTWISE_U32, 0, 2, rows, true},
                 {ELEMENTWISE_I32, 2, 2, column, true},
                 {ELEMENTWISE_U32, 2, 0, NULL, true},
                 {ELEMENTWISE_I64, 2, 2, column, false},
                 {ELEMENTWISE_I64, 2, 0, NULL, false},
                 {ELEMENTWISE_I16, 2, 2, rows, false}};
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) {
        struct elementwise_plan p;
        elementwise_tensor a = {NULL, calls[i].type, calls[i].x_ndim, rows,
                                NULL};
        elementwise_tensor b = {NULL, calls[i].type, calls[i].y_ndim,
                                calls[i].y_shape, NULL};
        elementwise_tensor o = {NULL, calls[i].type, 2, rows, NULL};
        /* rows stay in the caches where no kernel stores past them */
        if (ew_cpu_level() == EW_LEVEL_BASE)
            ew_cpu_tune(EW_QUICK_STORES);
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_DIV, &a, &b, -1, &o), 0);
        ck_assert_msg(p.pass.stream != NULL, "call %d", i);
        ck_assert_msg((p.pass.past != NULL) ==
                          (calls[i].past && p.level >= EW_LEVEL_AVX512),
                      "call %d", i);
    }
}
END_TEST

/* On AVX-512, by arrays and by numbers; not in short rows that end within
   lines. */
START_TEST(quotients_of_halves_are_stored_past_the_caches)
{
    static const int64_t rows[] = {4096, 4096}, column[] = {4096, 1};
    static const int64_t short_rows[] = {1 << 19, 49};
    for (int i = 0; i < 2 * 2 * 3; i++) {
        struct elementwise_plan p;
        const bool quick = i % 2, ends = i / 4 == 2;
        elementwise_dtype type = i / 2 % 2 ? ELEMENTWISE_F16 : ELEMENTWISE_BF16;
        elementwise_tensor a = {NULL, type, 2, ends ? short_rows : rows, NULL};
        elementwise_tensor b = {NULL, type, 2, i / 4 ? column : rows, NULL};
        if (ends)
            b = (elementwise_tensor){NULL, type, 1, short_rows + 1, NULL};
        ew_cpu_tune(EW_QUICK_STORES | (quick ? EW_QUICK_QUOTIENTS : 0));
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_DIV, &a, &b, -1, &a), 0);
        bool expected = p.level >= EW_LEVEL_AVX512 && !ends;
        ck_assert_int_eq(p.pass.stream && p.pass.past && !p.pass.fold,
                         expected);
    }
}
END_TEST

/* As their first and last blocks would be made for themselves, and those that
   start within lines could not go past the caches: not so if rows are lines
   that one row divides. */
START_TEST(short_rows_of_quotients_are_stored_as_they_end)
{
    static const struct {
        int64_t cols;
        bool shared, past;
    } calls[] = {{8, true, false},
                 {101, true, false},
                 {128, true, true},
                 {128, false, false}};
    for (int i = 0; i < 4; i++) {
        struct elementwise_plan p;
        const int64_t rows[] = {1 << 20, calls[i].cols};
        const int64_t gap[] = {calls[i].shared ? 0 : rows[1] + 8, 1};
        ew_cpu_tune(0);
        strategy_plan(&p, ELEMENTWISE_DIV, ELEMENTWISE_I32, 2, rows, NULL, gap);
        if (calls[i].past && p.level >= EW_LEVEL_AVX512)
            ck_assert(p.pass.stream && p.pass.past);
        else
            ck_assert(p.pass.fold || !p.pass.stream);
    }
}
END_TEST

/* Of inputs with gaps, whose lines push out of a small cache what is made.
   Where few lines are read at once, below AVX-512, they are taken one by one.
 */
START_TEST(inputs_with_gaps_push_a_large_output_out_of_a_small_cache)
{
    static const struct {
        int64_t shape[2];
        int step;
        bool streams;
    } layouts[] = {{{2048, 1024}, 2, 1}, {{1700, 1024}, 2, 1},
                   {{1500, 1024}, 2, 0}, {{3000, 1024}, 1, 0},
                   {{1030, 1024}, 4, 1}, {{1020, 1024}, 4, 0}};
    static const unsigned ways[] = {EW_TUNINGS - 1 - EW_SMALL_CACHE,
                                    EW_SMALL_CACHE,
                                    EW_SMALL_CACHE | EW_FEW_READS};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 3 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i / 3].shape, step = layouts[i / 3].step;
        ew_cpu_tune(ways[i % 3]);
        strategy_plan_steps(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, shape, step,
                            step);
        bool vectors = i % 3 == 1 || (i % 3 == 2 && _i >= EW_LEVEL_AVX512);
        ck_assert_msg((p.pass.stream != NULL) ==
                          (vectors && layouts[i / 3].streams),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Of 4 and 8 bytes where the kernel stores past the caches itself, and
   processors read little ahead; the cache is small. */
START_TEST(two_inputs_with_gaps_are_asked_for_from_memory)
{
    static const struct {
        int64_t shape[2], x, y;
        elementwise_dtype type;
        elementwise_op op;
        bool asked;
    } layouts[] = {
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, true},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F64, ELEMENTWISE_MUL, true},
        {{1600, 1040}, 2, 2, ELEMENTWISE_I32, ELEMENTWISE_SUB, false},
        {{1700, 1040}, 2, 2, ELEMENTWISE_I32, ELEMENTWISE_SUB, true},
        {{2048, 2048}, 2, 2, ELEMENTWISE_F16, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 2, 3, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 1, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, false},
        {{2048, 1024}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_POW, false},
        {{2600, 2048}, 2, 2, ELEMENTWISE_F32, ELEMENTWISE_ADD, true}};
    static const unsigned ways[] = {
        EW_SMALL_CACHE, EW_SMALL_CACHE | EW_LATE_READS,
        EW_SMALL_CACHE | EW_LATE_READS | EW_FEW_READS};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < 3 * sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        const int64_t *shape = layouts[i / 3].shape;
        elementwise_dtype type = layouts[i / 3].type;
        ew_cpu_tune(ways[i % 3]);
        strategy_plan_steps(&p, layouts[i / 3].op, type, shape,
                            layouts[i / 3].x, layouts[i / 3].y);
        bool asked = i % 3 && layouts[i / 3].asked &&
                     (i % 3 == 1 || _i >= EW_LEVEL_AVX512);
        ck_assert_msg(p.pass.distant == asked && p.pass.ahead[EW_X] == asked &&
                          p.pass.ahead[EW_Y] == asked,
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* ---------------------------------------------------------------------
 * Results
 */

static void try_random(elementwise_op op, const elementwise_options *options)
{
    if (strategy_draw(&call, op))
        strategy_verify(&call, op, options);
}

/* With the hint, and without. */
START_TEST(every_layout_gives_the_results_of_the_reference)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 20000 : 400); round++) {
        try_random(strategy_ops[round % STRATEGY_OPS], NULL);
        try_random(strategy_ops[round % STRATEGY_OPS], &strategy_past);
    }
    strategy_release(&call);
}
END_TEST

/* Runs a plan of what was made, with tiles in the order of large inputs or in
   that of others. Whether the tiles are of several loops. */
static bool try_deep(elementwise_op op, const elementwise_options *options,
                     bool large)
{
    elementwise_plan *plan;
    if (!strategy_draw_short(&call, op))
        return false;
    strategy_fill(&call);
    ck_assert_int_eq(elementwise_plan_create(&plan, op, &call.x.t, &call.y.t,
                                             -1, &call.out.t, options),
                     0);
    bool deep = plan->pass.deep > 0;
    ck_assert(!plan->pass.large[EW_X] && !plan->pass.large[EW_Y]);
    plan->pass.large[EW_X] = plan->pass.large[EW_Y] = large;
    elementwise_status status = elementwise_plan_run(
        plan, call.x.t.data, call.y.t.data, call.out.t.data);
    support_verify(status, op, &call.x, &call.y, -1, &call.out);
    elementwise_plan_destroy(plan);
    return deep;
}

START_TEST(several_short_loops_give_the_results_of_the_reference)
{
    int deep = 0, rounds = support_long() ? 10000 : 60;
    if (!support_level(_i))
        return;
    for (int round = 0; round < rounds; round++)
        deep += try_deep(strategy_ops[round % STRATEGY_OPS],
                         round % 8 < 4 ? NULL : &strategy_past, round % 16 < 8);
    ck_assert_int_gt(deep, rounds / 4);
    strategy_release(&call);
}
END_TEST

/* Tiles are then the smaller. 8000 elements fill the buffer of the narrowest
   type, which is not enough for the widest. */
START_TEST(an_output_wider_than_its_inputs_goes_past_the_caches)
{
    static const elementwise_dtype types[][2] = {
        {ELEMENTWISE_U8, ELEMENTWISE_C128},
        {ELEMENTWISE_F16, ELEMENTWISE_F64},
        {ELEMENTWISE_F32, ELEMENTWISE_F64}};
    static const int64_t shape[] = {8000};
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        support_make(&call.x, types[i][0], 1, shape, NULL, SUPPORT_HIGH);
        support_make(&call.y, types[i][0], 1, shape, NULL, SUPPORT_LOW);
        support_make(&call.out, types[i][1], 1, shape, NULL, SUPPORT_HIGH);
        strategy_verify(&call, ELEMENTWISE_ADD, &strategy_past);
    }
    strategy_release(&call);
}
END_TEST

START_TEST(outputs_with_gaps_in_another_order_get_the_results_of_the_reference)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 5000 : 200); round++) {
        elementwise_op op = strategy_ops[round % STRATEGY_OPS];
        if (strategy_draw_apart(&call, op))
            strategy_verify(&call, op, NULL);
    }
    strategy_release(&call);
}
END_TEST

START_TEST(every_layout_is_copied)
{
    if (!support_level(_i))
        return;
    for (int round = 0; round < (support_long() ? 20000 : 400); round++) {
        strategy_draw_copy(&call);
        support_fill(&call.x);
        support_keep(&call.x);
        support_keep(&call.out);
        support_verify_copy(elementwise_copy(&call.x.t, -1, &call.out.t),
                            &call.x, -1, &call.out);
    }
    strategy_release(&call);
}
END_TEST

static void add_ways(TCase *ways)
{
    tcase_add_loop_test(ways, layouts_get_the_strategy_that_suits_them, 0,
                        sizeof choices / sizeof *choices);
    tcase_add_test(ways, a_plan_says_what_is_done_to_its_inputs);
    tcase_add_test(ways, tiles_of_several_loops_ask_for_lines_that_they_share);
}

static void add_gaps(TCase *gaps)
{
    tcase_add_test(gaps, rows_are_those_of_inputs_where_out_has_gaps);
    tcase_add_loop_test(gaps, rows_of_out_with_gaps_are_made_dense_first, 0,
                        EW_LEVELS);
    tcase_add_loop_test(
        gaps, small_blocks_with_gaps_in_out_are_moved_if_they_are_many, 0,
        EW_LEVELS);
}

static void add_past(TCase *past)
{
    tcase_add_test(past, large_outputs_go_past_the_caches);
    tcase_add_test(past, short_rows_of_whole_lines_go_past_the_caches);
    tcase_add_test(past, rows_of_slow_operations_are_stored_as_usual);
    tcase_add_test(past, quotients_of_wide_integers_are_stored_past_the_caches);
    tcase_add_test(past, quotients_of_halves_are_stored_past_the_caches);
    tcase_add_test(past, short_rows_of_quotients_are_stored_as_they_end);
    tcase_add_loop_test(
        past, inputs_with_gaps_push_a_large_output_out_of_a_small_cache, 0,
        EW_LEVELS);
    tcase_add_loop_test(past, two_inputs_with_gaps_are_asked_for_from_memory, 0,
                        EW_LEVELS);
}

static void add_results(TCase *results)
{
    tcase_add_loop_test(
        results, every_layout_gives_the_results_of_the_reference, 0, EW_LEVELS);
    tcase_add_loop_test(results,
                        several_short_loops_give_the_results_of_the_reference,
                        0, EW_LEVELS);
    tcase_add_loop_test(results,
                        an_output_wider_than_its_inputs_goes_past_the_caches, 0,
                        EW_LEVELS);
    tcase_add_loop_test(
        results,
        outputs_with_gaps_in_another_order_get_the_results_of_the_reference, 0,
        EW_LEVELS);
    tcase_add_loop_test(results, every_layout_is_copied, 0, EW_LEVELS);
}

int main(void)
{
    TCase *ways = support_case("ways");
    TCase *gaps = support_case("gaps");
    TCase *past = support_case("past");
    TCase *results = support_case("results");
    add_ways(ways);
    add_gaps(gaps);
    add_past(past);
    add_results(results);
    TCase *const cases[] = {ways, gaps, past, results, NULL};
    return support_run("strategy", cases);
}
