/*
 * Turns inputs that run across memory where out runs along it into plans: the
 * shape of their tiles, the lines that these ask for ahead, and the order in
 * which they follow each other. Then runs some that are no whole tiles, which
 * gives the results of the reference.
 */
#include <check.h>

#include "cpu.h"
#include "plan.h"
#include "strategy.h"
#include "strategy_calls.h"
#include "support.h"

static struct strategy_call call;

/* ---------------------------------------------------------------------
 * Shapes of tiles, and what they ask for
 */

/* Plans op of x, which is transposed, and y, which is dense (beside is 0), is
   transposed, too ('t'), or has gaps ('g'); or of y that alone is ('y'). */
static void plan_turned_by(struct elementwise_plan *p, elementwise_op op,
                           const int64_t shape[2], elementwise_dtype type,
                           elementwise_dtype made, char beside)
{
    const int64_t strides[] = {1, shape[0]};
    const int64_t gaps[] = {2 * shape[1], 2};
    const int64_t *y_strides = beside == 't' ? strides : NULL;
    elementwise_tensor a = {NULL, type, 2, shape, strides};
    elementwise_tensor b = {NULL, type, 2, shape,
                            beside == 'g' ? gaps : y_strides};
    elementwise_tensor o = {NULL, made, 2, shape, NULL};
    bool exchanged = beside == 'y';
    ck_assert_int_eq(
        ew_plan_make(p, op, exchanged ? &b : &a, exchanged ? &a : &b, -1, &o),
        0);
}

static void plan_turned(struct elementwise_plan *p, const int64_t shape[2],
                        elementwise_dtype type, char beside)
{
    plan_turned_by(p, ELEMENTWISE_ADD, shape, type, type, beside);
}

/* Checks, of layout i, the rows of a tile, whether all that it reads is asked
   for, and of what lines are: `ahead` is of what is turned, and beside it. */
static void check_turned(const struct ew_pass *pass, size_t i, int rows,
                         bool distant, const char ahead[2])
{
    ck_assert_msg(pass->turn == rows && pass->distant == distant,
                  "%d: %d rows, %d", (int)i, pass->turn, pass->distant);
    for (int k = 0; k < 2; k++)
        ck_assert_msg(pass->ahead[k] == (ahead[k] != '-'), "%d: input %d",
                      (int)i, k);
}

/* Rows of a tile, and of what lines are asked for. */
START_TEST(turned_tiles_have_a_shape_for_each_type)
{
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        bool both;
        int rows;
        const char *ahead; /* of what: turned, beside it */
        bool streams;
    } layouts[] = {{{2048, 2048}, ELEMENTWISE_U8, 0, 32, "-b", 1},
                   {{2048, 2048}, ELEMENTWISE_F16, 0, 32, "-b", 1},
                   {{2048, 2048}, ELEMENTWISE_F32, 0, 32, "-b", 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 0, 32, "tb", 1},
                   {{2048, 2048}, ELEMENTWISE_U8, 1, 64, "--", 1},
                   {{2048, 2048}, ELEMENTWISE_F32, 1, 64, "tt", 1},
                   {{2048, 2048}, ELEMENTWISE_F64, 1, 64, "--", 1},
                   {{1024, 1024}, ELEMENTWISE_F32, 0, 32, "-b", 1},
                   {{1024, 960}, ELEMENTWISE_F32, 0, 32, "--", 0},
                   /* rows start anywhere in a line */
                   {{2100, 2100}, ELEMENTWISE_U8, 0, 32, "-b", 0},
                   {{2100, 2100}, ELEMENTWISE_F16, 0, 32, "-b", 0},
                   {{2100, 2101}, ELEMENTWISE_F32, 0, 32, "-b", 1}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned(&p, layouts[i].shape, layouts[i].type,
                    layouts[i].both ? 't' : 0);
        check_turned(&p.pass, i, layouts[i].rows, false, layouts[i].ahead);
        ck_assert_int_eq(p.pass.stream != NULL, layouts[i].streams);
    }
}
END_TEST

/* Rows of a tile, whether all that it reads is asked for, and whether out is
   stored past the caches, where processors read little ahead of tiles. */
static const struct {
    int64_t shape[2];
    elementwise_dtype type;
    char beside; /* transposed, with gaps, or dense */
    int rows;
    bool distant, streams;
} read_late[] = {{{2048, 2048}, ELEMENTWISE_U8, 0, 32, 0, 1},
                 {{2048, 2048}, ELEMENTWISE_F16, 0, 32, 0, 1},
                 {{2048, 2048}, ELEMENTWISE_F16, 't', 64, 1, 1},
                 {{2048, 2048}, ELEMENTWISE_F32, 0, 32, 1, 1},
                 {{1024, 1536}, ELEMENTWISE_F32, 0, 32, 1, 1},
                 {{1024, 1520}, ELEMENTWISE_F32, 0, 32, 0, 1},
                 {{2048, 2048}, ELEMENTWISE_F64, 0, 16, 1, 1},
                 {{512, 1024}, ELEMENTWISE_F64, 0, 32, 0, 1},
                 {{2048, 2048}, ELEMENTWISE_F32, 't', 64, 1, 1},
                 {{2048, 2048}, ELEMENTWISE_F64, 't', 32, 1, 1},
                 {{2048, 2048}, ELEMENTWISE_F64, 'g', 16, 0, 1},
                 {{1 << 15, 48}, ELEMENTWISE_F64, 0, 32, 0, 1},
                 /* columns of less than two lines, or near each other */
                 {{24, 1 << 17}, ELEMENTWISE_F32, 0, 32, 0, 1},
                 {{48, 1 << 16}, ELEMENTWISE_F32, 0, 32, 0, 1},
                 {{48, 1 << 16}, ELEMENTWISE_F32, 'y', 32, 0, 1},
                 {{64, 1 << 15}, ELEMENTWISE_F32, 'y', 32, 1, 1},
                 {{64, 1 << 15}, ELEMENTWISE_F32, 0, 32, 1, 1},
                 /* rows start anywhere in a line */
                 {{2100, 2101}, ELEMENTWISE_F32, 0, 16, 1, 1},
                 {{1990, 2101}, ELEMENTWISE_F32, 't', 16, 0, 1},
                 {{1990, 2101}, ELEMENTWISE_F64, 0, 8, 1, 1},
                 {{1300, 1301}, ELEMENTWISE_F64, 0, 8, 1, 1},
                 {{1100, 1101}, ELEMENTWISE_F64, 0, 8, 0, 1},
                 {{1990, 2101}, ELEMENTWISE_F64, 't', 8, 1, 1},
                 {{900, 1001}, ELEMENTWISE_F64, 't', 8, 0, 1},
                 {{31, 1 << 17 | 1}, ELEMENTWISE_F64, 't', 64, 0, 1},
                 {{1990, 2101}, ELEMENTWISE_F64, 'g', 8, 0, 1},
                 {{1990, 2101}, ELEMENTWISE_F16, 0, 32, 0, 0},
                 {{500, 500}, ELEMENTWISE_F32, 0, 16, 0, 0},
                 {{500, 500}, ELEMENTWISE_F16, 0, 32, 0, 0},
                 /* or from the caches, wherever they start */
                 {{500, 500}, ELEMENTWISE_F32, 't', 16, 0, 0},
                 {{500, 500}, ELEMENTWISE_F64, 't', 8, 0, 0},
                 {{960, 1024}, ELEMENTWISE_F32, 0, 16, 0, 0},
                 {{960, 512}, ELEMENTWISE_F64, 0, 8, 0, 0},
                 /* or are short, and dense in a tile */
                 {{1 << 16, 126}, ELEMENTWISE_F32, 0, 32, 0, 1},
                 {{1 << 15, 130}, ELEMENTWISE_F32, 0, 16, 1, 1}};

/* What comes from memory, 18 MiB of all operands, is asked for if columns are
   pairs of lines that lie apart, and large elements are in tiles of less rows.
   Where tiles share lines of out, or come from the caches, they are a line of
   what is turned high. */
START_TEST(turned_tiles_ask_for_all_from_memory_where_processors_do_not)
{
    if (!support_level(EW_LEVEL_AVX512)) /* below, vectors wait there */
        return;
    ew_cpu_tune(EW_LATE_READS | EW_SMALL_CACHE);
    for (size_t i = 0; i < sizeof read_late / sizeof *read_late; i++) {
        struct elementwise_plan p;
        plan_turned(&p, read_late[i].shape, read_late[i].type,
                    read_late[i].beside);
        ck_assert_msg(p.pass.turn == read_late[i].rows &&
                          p.pass.distant == read_late[i].distant &&
                          (p.pass.stream != NULL) == read_late[i].streams,
                      "%d: %d rows, %d, %d", (int)i, p.pass.turn,
                      p.pass.distant, p.pass.stream != NULL);
        ck_assert(!p.pass.distant ||
                  (p.pass.ahead[EW_X] && p.pass.ahead[EW_Y]));
    }
}
END_TEST

/* Wide tiles of results of a byte took longer from the caches: these are so
   only from beyond the L2 cache, where rows start anywhere. */
START_TEST(turned_tiles_of_results_of_a_byte_are_wide_from_memory)
{
    static const struct {
        int64_t shape[2];
        int rows;
    } layouts[] = {{{500, 500}, 32},
                   {{960, 512}, 32},
                   {{1300, 1301}, 16},
                   {{1300, 1344}, 32}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_LATE_READS);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned_by(&p, ELEMENTWISE_LESS_THAN, layouts[i].shape,
                       ELEMENTWISE_F32, ELEMENTWISE_BOOL, 0);
        ck_assert_int_eq(p.pass.turn, layouts[i].rows);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* From 48 MiB of all operands on, or 64 where tiles share lines of out. */
START_TEST(turned_tiles_ask_later_where_the_last_cache_is_large)
{
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        int rows;
        bool distant;
        const char *ahead; /* of what: turned, beside it */
    } layouts[] = {{{2048, 2048}, ELEMENTWISE_F32, 32, 1, "tb"},
                   {{1984, 1984}, ELEMENTWISE_F32, 32, 0, "-b"},
                   {{2048, 2048}, ELEMENTWISE_F64, 16, 1, "tb"},
                   {{1990, 2101}, ELEMENTWISE_F32, 16, 0, "-b"},
                   {{1990, 2101}, ELEMENTWISE_F64, 8, 1, "tb"},
                   {{1300, 1301}, ELEMENTWISE_F64, 8, 0, "-b"}};
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_LATE_READS);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned(&p, layouts[i].shape, layouts[i].type, 0);
        check_turned(&p.pass, i, layouts[i].rows, layouts[i].distant,
                     layouts[i].ahead);
    }
}
END_TEST

enum {
    U8 = ELEMENTWISE_U8,
    F16 = ELEMENTWISE_F16,
    F32 = ELEMENTWISE_F32,
    BOOL = ELEMENTWISE_BOOL,
    ADD = ELEMENTWISE_ADD,
    DIV = ELEMENTWISE_DIV,
    LESS = ELEMENTWISE_LESS_THAN
};

static const struct {
    int level;
    int64_t shape[2];
    int op, type, out;
    char beside;
    int rows;
    bool distant;
    const char *ahead; /* of what: turned, beside it */
} small_elements[] = {
    {EW_LEVEL_AVX2, {1920, 1920}, ADD, U8, U8, 0, 32, 0, "--"},
    {EW_LEVEL_AVX2, {2048, 2048}, ADD, U8, U8, 0, 64, 0, "-b"},
    {EW_LEVEL_AVX2, {2048, 2048}, LESS, U8, BOOL, 0, 64, 0, "-b"},
    {EW_LEVEL_AVX2, {2048, 2048}, DIV, U8, U8, 0, 32, 0, "-b"},
    {EW_LEVEL_AVX2, {2048, 2048}, ADD, U8, F32, 0, 32, 0, "-b"},
    {EW_LEVEL_AVX2, {2048, 2048}, ADD, U8, U8, 'g', 32, 0, "--"},
    {EW_LEVEL_AVX2, {4096, 4096}, ADD, U8, U8, 0, 64, 1, "tb"},
    {EW_LEVEL_AVX2, {255, 65536}, ADD, U8, U8, 0, 32, 0, "-b"},
    {EW_LEVEL_AVX2, {256, 65536}, ADD, U8, U8, 0, 64, 1, "tb"},
    {EW_LEVEL_AVX2, {3008, 3008}, ADD, F16, F16, 0, 32, 0, "tb"},
    {EW_LEVEL_AVX512, {2816, 2816}, ADD, F16, F16, 0, 32, 0, "-b"},
    {EW_LEVEL_AVX512, {3008, 3008}, ADD, F16, F16, 0, 64, 1, "tb"},
    {EW_LEVEL_AVX512, {3008, 3008}, DIV, F16, F16, 0, 32, 0, "tb"},
    {EW_LEVEL_AVX512, {3008, 3008}, ADD, F16, F16, 't', 64, 1, "tt"},
    /* in rows that start anywhere in a line */
    {EW_LEVEL_AVX2, {2101, 2101}, ADD, U8, U8, 0, 32, 0, "--"},
    {EW_LEVEL_AVX2, {2501, 2601}, ADD, U8, U8, 0, 32, 0, "t-"},
    {EW_LEVEL_AVX2, {5001, 5001}, ADD, U8, U8, 0, 32, 0, "t-"},
    {EW_LEVEL_AVX2, {2501, 2601}, DIV, U8, U8, 0, 32, 0, "-b"},
    {EW_LEVEL_AVX2, {2501, 2601}, ADD, F16, F16, 0, 32, 0, "-b"},
    {EW_LEVEL_AVX512, {5001, 5001}, ADD, F16, F16, 0, 32, 0, "t-"}};

/* Of bytes and, with AVX-512, halves, by operations that wait for memory. */
START_TEST(turned_tiles_of_small_elements_have_more_rows_or_ask_for_less)
{
    for (size_t i = 0; i < sizeof small_elements / sizeof *small_elements;
         i++) {
        struct elementwise_plan p;
        if (!support_level(small_elements[i].level))
            continue;
        ew_cpu_tune(EW_LATE_READS);
        plan_turned_by(
            &p, (elementwise_op)small_elements[i].op, small_elements[i].shape,
            (elementwise_dtype)small_elements[i].type,
            (elementwise_dtype)small_elements[i].out, small_elements[i].beside);
        check_turned(&p.pass, i, small_elements[i].rows,
                     small_elements[i].distant, small_elements[i].ahead);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* From 18 MiB on below AVX-512 beside a small cache, or 12 where few lines are
   read at once, of columns that are lines, whether rows start in a line or not.
 */
START_TEST(turned_tiles_ask_sooner_where_vectors_wait)
{
    enum { FEW = EW_SMALL_CACHE | EW_FEW_READS };
    static const struct {
        int64_t shape[2];
        elementwise_dtype type;
        unsigned ways;
        bool distant;
    } layouts[] = {{{1001, 1101}, ELEMENTWISE_F32, FEW, true},
                   {{1001, 1101}, ELEMENTWISE_F32, 0, false},
                   {{1001, 1001}, ELEMENTWISE_F32, FEW, false},
                   {{1024, 1088}, ELEMENTWISE_F32, FEW, true},
                   {{1024, 960}, ELEMENTWISE_F32, FEW, false},
                   {{2048, 2048}, ELEMENTWISE_F16, FEW, true},
                   {{1024, 960}, ELEMENTWISE_F16, FEW, false},
                   {{4096, 4096}, ELEMENTWISE_U8, FEW, false},
                   {{1024, 1088}, ELEMENTWISE_F32, EW_SMALL_CACHE, false},
                   {{1001, 1601}, ELEMENTWISE_F32, EW_SMALL_CACHE, true},
                   {{1001, 1501}, ELEMENTWISE_F32, EW_SMALL_CACHE, false}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        ew_cpu_tune(EW_LATE_READS | layouts[i].ways);
        plan_turned(&p, layouts[i].shape, layouts[i].type, 0);
        ck_assert_msg(p.pass.distant == layouts[i].distant, "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Elements of 16 bytes that become bytes are in wide tiles, and what they need
   is asked for as far as inputs are large. */
START_TEST(turned_tiles_of_large_elements_that_become_bytes_are_wide)
{
    static const struct {
        int64_t shape[2];
        int rows;
        bool distant;
    } layouts[] = {{{600, 158}, 8, 0}, {{6636, 158}, 4, 1}};
    if (!support_level(EW_LEVEL_AVX2))
        return;
    ew_cpu_tune(EW_LATE_READS | EW_SMALL_CACHE);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct elementwise_plan p;
        plan_turned_by(&p, ELEMENTWISE_LOGICAL_AND, layouts[i].shape,
                       ELEMENTWISE_C128, ELEMENTWISE_BOOL, 'y');
        ck_assert_int_eq(p.pass.turn, layouts[i].rows);
        ck_assert_int_eq(p.pass.distant, layouts[i].distant);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* ---------------------------------------------------------------------
 * The order of tiles
 */

/* x is turned; `next` bytes on in it lies what the next block has, in the order
   of its memory where a column of it is short. If a block is several tiles,
   each goes that way before the next tile. */
START_TEST(tiles_of_a_turned_input_follow_where_it_reads_on)
{
    static const struct {
        int64_t shape[4], x[4];
        int again;
        int64_t next;
    } layouts[] = {{{8, 64, 4, 2048}, {1, 8, 512, 2048}, 2, 8},
                   {{8, 64, 4, 500}, {1, 8, 512, 2048}, 0, 8},
                   {{320, 8, 4, 1000}, {1, 320, 2560, 10240}, 0, 320},
                   /* less than 1 MiB */
                   {{8, 64, 2, 500}, {1, 8, 512, 1024}, 0, 512}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const int64_t *shape = layouts[i].shape;
        elementwise_tensor a = {NULL, ELEMENTWISE_U16, 4, shape, layouts[i].x};
        elementwise_tensor b = {NULL, ELEMENTWISE_U16, 0, NULL, NULL};
        elementwise_tensor o = {NULL, ELEMENTWISE_U16, 4, shape, NULL};
        struct elementwise_plan p;
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_ADD, &a, &b, -1, &o), 0);
        ck_assert_str_eq(ew_strategy_input(&p, EW_X), "transposed");
        ck_assert_msg(p.pass.again == layouts[i].again &&
                          p.loop[2].stride[EW_X] == 2 * layouts[i].next,
                      "%d: loop %d, then %d bytes on", (int)i, p.pass.again,
                      (int)p.loop[2].stride[EW_X]);
    }
}
END_TEST

/* Of a block too large to stay until its lines are read again, which neighbours
   in the loop outside have; the last cache is small. */
START_TEST(tiles_of_a_turned_input_follow_where_they_have_the_same_lines)
{
    static const struct {
        int64_t shape[3], x[3];
        bool again;
    } layouts[] = {{{3, 600, 1100}, {1, 3, 1800}, true},
                   {{3, 600, 1100}, {600, 1, 1800}, false},
                   {{3, 200, 400}, {1, 3, 600}, false}}; /* less than 1 MiB */
    for (size_t i = 0; i < 2 * (sizeof layouts / sizeof *layouts); i++) {
        const int64_t *shape = layouts[i / 2].shape;
        struct elementwise_plan p;
        bool small = i % 2;
        ew_cpu_tune(small ? EW_SMALL_CACHE : EW_TUNINGS - 1 - EW_SMALL_CACHE);
        strategy_plan(&p, ELEMENTWISE_ADD, ELEMENTWISE_F32, 3, shape,
                      layouts[i / 2].x, NULL);
        ck_assert_str_eq(ew_strategy_input(&p, EW_X), "transposed");
        ck_assert_msg((p.pass.again == 2) == (small && layouts[i / 2].again),
                      "%d", (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* ---------------------------------------------------------------------
 * Results
 */

/* Small tiles of large elements that are turned, and others, of rows and
   columns that are no whole tiles, and inputs with gaps; whatever the
   processor. */
START_TEST(inputs_from_memory_give_the_results_of_the_reference)
{
    static const int64_t shapes[][2] = {{1003, 808}, {1003, 408}};
    static const int64_t down[] = {1, 1003}, gaps[] = {1640, 2};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 6; i++) {
        const int64_t *shape = shapes[i / 2 % 2];
        elementwise_dtype type =
            i / 2 == 1 ? ELEMENTWISE_C128 : ELEMENTWISE_F64;
        bool both = i / 2 == 2;
        support_make(&call.x, type, 2, shape, both ? gaps : down, SUPPORT_HIGH);
        support_make(&call.y, type, 2, shape, both ? gaps : NULL, SUPPORT_LOW);
        support_make(&call.out, type, 2, shape, NULL, SUPPORT_HIGH);
        ew_cpu_tune(i % 2 ? EW_LATE_READS : 0);
        strategy_verify(&call, ELEMENTWISE_SUB, NULL);
    }
    strategy_release(&call);
}
END_TEST

/* The three numbers of each point of a picture that is turned, in a picture of
   each; rows and columns are no whole tiles. */
START_TEST(colours_of_a_turned_picture_give_the_results_of_the_reference)
{
    static const int64_t shape[] = {3, 305, 411}, turned[] = {1, 3, 915};
    if (!support_level(_i))
        return;
    for (int i = 0; i < 3; i++) {
        elementwise_dtype type = i == 0   ? ELEMENTWISE_F64
                                 : i == 1 ? ELEMENTWISE_F32
                                          : ELEMENTWISE_I32;
        support_make(&call.x, type, 3, shape, turned, SUPPORT_HIGH);
        support_make(&call.y, type, 3, shape, NULL, SUPPORT_LOW);
        support_make(&call.out, type, 3, shape, NULL, SUPPORT_HIGH);
        ew_cpu_tune(EW_SMALL_CACHE);
        struct elementwise_plan p;
        strategy_plan_call(&p, ELEMENTWISE_SUB, &call);
        ck_assert_int_eq(p.pass.again, 2);
        strategy_verify(&call, ELEMENTWISE_SUB, NULL);
    }
    ew_cpu_limit(EW_LEVELS);
    strategy_release(&call);
}
END_TEST

/* Below AVX-512, where out has gaps: few words, or more smaller elements, are
   not turned, but where they are copied or converted. */
static const struct {
    elementwise_dtype type, made;
    int64_t rows, cols, step;
    bool turned;
} beside_gaps[] = {{ELEMENTWISE_F32, ELEMENTWISE_F32, 200, 160, 2, false},
                   {ELEMENTWISE_F32, ELEMENTWISE_F32, 210, 160, 2, true},
                   {ELEMENTWISE_F32, ELEMENTWISE_F32, 200, 160, 1, true},
                   {ELEMENTWISE_F32, ELEMENTWISE_F64, 200, 60, 2, true},
                   {ELEMENTWISE_I64, ELEMENTWISE_I64, 100, 160, 2, false},
                   {ELEMENTWISE_I64, ELEMENTWISE_I64, 105, 160, 2, true},
                   {ELEMENTWISE_C64, ELEMENTWISE_C64, 100, 160, 2, false},
                   {ELEMENTWISE_I16, ELEMENTWISE_I16, 1000, 1040, 2, false},
                   {ELEMENTWISE_I16, ELEMENTWISE_I16, 1010, 1040, 2, true}};

START_TEST(inputs_are_turned_beside_gaps_of_out_if_they_are_not_near)
{
    if (!support_level(_i))
        return;
    ew_cpu_tune(0);
    for (size_t i = 0; i < sizeof beside_gaps / sizeof *beside_gaps; i++) {
        struct elementwise_plan p;
        const int64_t rows = beside_gaps[i].rows, cols = beside_gaps[i].cols;
        const int64_t shape[] = {rows, cols}, across[] = {1, rows};
        const int64_t gaps[] = {beside_gaps[i].step * cols,
                                beside_gaps[i].step};
        elementwise_tensor a = {NULL, beside_gaps[i].type, 2, shape, across};
        elementwise_tensor b = {NULL, beside_gaps[i].type, 2, shape, NULL};
        elementwise_tensor o = {NULL, beside_gaps[i].made, 2, shape, gaps};
        ck_assert_int_eq(ew_plan_make(&p, ELEMENTWISE_MUL, &a, &b, -1, &o), 0);
        ck_assert_msg((p.pass.turn != 0) == beside_gaps[i].turned, "%d",
                      (int)i);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

static void add_choosing(TCase *choosing)
{
    tcase_add_test(choosing, turned_tiles_have_a_shape_for_each_type);
    tcase_add_loop_test(
        choosing, inputs_are_turned_beside_gaps_of_out_if_they_are_not_near, 0,
        EW_LEVEL_AVX512);
    tcase_add_test(
        choosing, turned_tiles_ask_for_all_from_memory_where_processors_do_not);
    tcase_add_test(choosing,
                   turned_tiles_of_results_of_a_byte_are_wide_from_memory);
    tcase_add_test(choosing,
                   turned_tiles_ask_later_where_the_last_cache_is_large);
    tcase_add_test(
        choosing,
        turned_tiles_of_small_elements_have_more_rows_or_ask_for_less);
    tcase_add_test(choosing, turned_tiles_ask_sooner_where_vectors_wait);
    tcase_add_test(choosing,
                   turned_tiles_of_large_elements_that_become_bytes_are_wide);
    tcase_add_test(choosing, tiles_of_a_turned_input_follow_where_it_reads_on);
    tcase_add_test(
        choosing,
        tiles_of_a_turned_input_follow_where_they_have_the_same_lines);
}

static void add_running(TCase *running)
{
    tcase_add_loop_test(running,
                        inputs_from_memory_give_the_results_of_the_reference, 0,
                        EW_LEVELS);
    tcase_add_loop_test(
        running, colours_of_a_turned_picture_give_the_results_of_the_reference,
        0, EW_LEVELS);
}

int main(void)
{
    TCase *choosing = support_case("choosing");
    TCase *running = support_case("running");
    add_choosing(choosing);
    add_running(running);
    TCase *const cases[] = {choosing, running, NULL};
    return support_run("strategy_turn", cases);
}
