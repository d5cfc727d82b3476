/*
 * Runs nests in tiles of several loops. They must make every element once, in
 * tiles that fit the buffers, and share lines of memory soon; the order shows
 * in no result.
 */
#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "cpu.h"
#include "execute.h"
#include "support.h"
#include "table.h"

/* Elements that op has made, and its largest tile. */
static int64_t computed, largest;

static void *at(void *data, struct ew_stride stride, int64_t r, int64_t c)
{
    return (char *)data + r * stride.row + c * stride.col;
}

enum { SPACE = 1 << 20, MIDDLE = SPACE / 2, WIDEST = 16 };
static unsigned char x_space[SPACE], y_space[SPACE], out_space[SPACE],
    want[SPACE];
static int width; /* bytes of an element of `mix` */

/* Every byte of out is made of those of x and y. */
static void mix(int64_t rows, int64_t cols, void *const data[],
                const struct ew_stride stride[])
{
    computed += rows * cols;
    largest = rows * cols > largest ? rows * cols : largest;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const unsigned char *x = at(data[EW_X], stride[EW_X], r, c);
            const unsigned char *y = at(data[EW_Y], stride[EW_Y], r, c);
            unsigned char *out = at(data[EW_OUT], stride[EW_OUT], r, c);
            for (int b = 0; b < width; b++)
                out[b] = (unsigned char)(3 * x[b] + y[b] + 1);
        }
}

/* The loops in some order, one inside the other, with gaps at times, backwards
   at times; for inputs standing still at times. All within MIDDLE of where they
   start. */
static void random_course(struct ew_loop *loop, int ndim, int k)
{
    int order[8], gaps = 0;
    int64_t step = width;
    for (int i = 0; i < ndim; i++) {
        int j = (int)support_random(0, i);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < ndim; i++) {
        struct ew_loop *l = &loop[order[i]];
        bool back = !support_random(0, 3);
        if (gaps < 2 && !support_random(0, 3)) {
            step *= support_random(2, 3);
            gaps++;
        }
        l->stride[k] = back ? -step : step;
        step *= l->n;
        if (k != EW_OUT && !support_random(0, 3))
            l->stride[k] = 0;
        if (k != EW_OUT && !support_random(0, 5)) /* a window, moved on */
            step = width * support_random(1, 3);
    }
}

/* A nest of at most 2000 elements, and what a tile holds of its loops. */
static int random_nest(struct ew_loop *loop, struct ew_pass *pass)
{
    int ndim = (int)support_random(1, 5), n = 1;
    pass->deep = (unsigned char)support_random(1, ndim);
    for (int i = 0; i < ndim; i++) {
        int64_t most = 2000 / n < 40 ? 2000 / n : 40;
        loop[i].n = support_random(1, support_random(0, 1) ? most : 3);
        if (loop[i].n > most)
            loop[i].n = most;
        n *= (int)loop[i].n;
    }
    for (int i = 0, elements = EW_TILE_BYTES / WIDEST; i < pass->deep; i++) {
        int64_t most = loop[i].n < elements ? loop[i].n : elements;
        pass->extent[i] = (uint16_t)support_random(1, most);
        elements /= pass->extent[i];
    }
    return ndim;
}

/* The definition of mix over a nest. */
static void mix_all(const struct ew_loop *loop, int ndim, unsigned char *x,
                    unsigned char *y, unsigned char *out)
{
    const struct ew_stride element[3] = {{0, 0}};
    if (ndim == 0) {
        mix(1, 1, (void *[]){x, y, out}, element);
        return;
    }
    for (int64_t i = 0; i < loop[ndim - 1].n; i++)
        mix_all(loop, ndim - 1, x + i * loop[ndim - 1].stride[EW_X],
                y + i * loop[ndim - 1].stride[EW_Y],
                out + i * loop[ndim - 1].stride[EW_OUT]);
}

/* Elements of any size. */
static void spread(int64_t rows, int64_t cols, void *const data[],
                   const struct ew_stride stride[])
{
    size_t size = (size_t)stride[EW_OUT].col;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            memcpy((char *)data[EW_OUT] + r * stride[EW_OUT].row +
                       c * stride[EW_OUT].col,
                   (char *)data[EW_X] + r * stride[EW_X].row +
                       c * stride[EW_X].col,
                   size);
}

static ew_kernel *const moves[EW_MOVES] = {spread, spread, spread, spread,
                                           spread};

/* 0: run by run, 1: permuting, 2: turning elements of any size, which is not
   always that of what there is to turn. */
static struct ew_gathering draw_gathering(int way)
{
    struct ew_gathering gathering = {NULL, 0, 0};
    if (way == 1) {
        gathering.kernel = ew_table_permute(ew_cpu_level());
        gathering.windows = (unsigned char)(1 << support_random(0, 3));
    } else if (way == 2) {
        gathering.turned = (unsigned char)(1 << support_random(0, 2));
        gathering.kernel = ew_table_turn(ew_cpu_level(), gathering.turned);
    }
    return gathering;
}

/* As a plan would run, with x in its own place or in out's, and tiles in either
   order; bytes between the elements of out stay as they were. */
START_TEST(tiles_of_several_loops_give_the_whole)
{
    width = 1 << _i;
    for (int round = 0; round < 500; round++) {
        struct ew_loop loop[5] = {{0}};
        struct ew_pass pass = {.op = mix, .moves = moves};
        int ndim = random_nest(loop, &pass);
        bool in_place = round % 4 == 0;
        pass.rows = support_random(0, 1);
        pass.distant = support_random(0, 1);
        pass.large[EW_X] = support_random(0, 1);
        pass.large[EW_Y] = support_random(0, 1);
        for (int k = 0; k < 3; k++) {
            random_course(loop, ndim, k);
            pass.size[k] = pass.stored[k] = (unsigned char)width;
            pass.ahead[k] = support_random(0, 1);
            if (k < EW_OUT && width <= 8)
                pass.gather[k] = draw_gathering((int)support_random(0, 2));
        }
        for (int i = 0; i < ndim && in_place; i++)
            loop[i].stride[EW_X] = loop[i].stride[EW_OUT];
        for (int i = 0; i < SPACE; i++) {
            x_space[i] = (unsigned char)(i * 7 + i / 256);
            y_space[i] = (unsigned char)(i * 5 + i / 200);
        }
        unsigned char *from = in_place ? out_space : x_space;
        memcpy(out_space, x_space, SPACE);
        memcpy(want, x_space, SPACE);
        mix_all(loop, ndim, x_space + MIDDLE, y_space + MIDDLE, want + MIDDLE);
        computed = largest = 0;
        ew_execute(
            loop, ndim, &pass,
            (void *[]){from + MIDDLE, y_space + MIDDLE, out_space + MIDDLE});
        int64_t elements = 1;
        for (int i = 0; i < ndim; i++)
            elements *= loop[i].n;
        ck_assert_int_eq(computed, elements);
        ck_assert_int_le(largest, EW_TILE_BYTES / WIDEST);
        ck_assert_int_eq(memcmp(out_space, want, SPACE), 0);
    }
}
END_TEST

static char *stored_to[8];
static int noted;

static void note_tile(int64_t rows, int64_t cols, void *const data[],
                      const struct ew_stride stride[])
{
    (void)rows, (void)cols, (void)stride;
    if (noted < 8)
        stored_to[noted] = data[EW_OUT];
    noted++;
}

/* Loop 2 shares lines of x, loop 3 those of out, loop 1 none. */
START_TEST(tiles_that_share_lines_of_out_or_of_a_large_input_come_first)
{
    static char space[8192];
    static const struct ew_loop loop[4] = {{8, {1, 1, 1, 0, 0}},
                                           {2, {512, 512, 2048, 0, 0}},
                                           {2, {8, 512, 1024, 0, 0}},
                                           {2, {1024, 1024, 8, 0, 0}}};
    static const int orders[2][3] = {{2048, 1024, 8}, {8, 1024, 2048}};
    struct ew_pass pass = {.op = note_tile, .deep = 1, .extent = {8}};
    void *const data[] = {space, space, space};
    for (int k = 0; k < 3; k++)
        pass.size[k] = pass.stored[k] = 1;
    pass.large[EW_X] = _i;
    noted = 0;
    ew_execute(loop, 4, &pass, data);
    ck_assert_int_eq(noted, 8);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(stored_to[i] - space,
                         (i & 1) * orders[_i][0] +
                             (i >> 1 & 1) * orders[_i][1] +
                             (i >> 2) * orders[_i][2]);
}
END_TEST

enum { CELLS = 380, NARROWED = 1000 };
static int8_t x_cells[CELLS], y_cells[CELLS];
static int16_t out_cells[CELLS];

/* i8 -> i64, i64 + i64, i64 -> i16 with a number added, to show that it took
   part. */
static void widen(int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride stride[])
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int64_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                *(int8_t *)at(data[EW_X], stride[EW_X], r, c);
}

static void add(int64_t rows, int64_t cols, void *const data[],
                const struct ew_stride stride[])
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int64_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                *(int64_t *)at(data[EW_X], stride[EW_X], r, c) +
                *(int64_t *)at(data[EW_Y], stride[EW_Y], r, c);
}

static void narrow(int64_t rows, int64_t cols, void *const data[],
                   const struct ew_stride stride[])
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int16_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                (int16_t)(*(int64_t *)at(data[EW_X], stride[EW_X], r, c) +
                          NARROWED);
}

/* x and y i8, out i16, all of which a tile of 3 x 7 x 5 takes in parts. */
START_TEST(tiles_of_several_loops_are_converted)
{
    struct ew_loop loop[] = {
        {5, {1, 0, 14, 0, 0}}, {7, {-5, 1, 2, 0, 0}}, {10, {35, 7, 70, 0, 0}}};
    struct ew_pass pass = {.load = {widen, widen},
                           .op = add,
                           .store = narrow,
                           .moves = moves,
                           .deep = 3,
                           .size = {8, 8, 8}};
    memcpy(pass.extent, (uint16_t[]){5, 7, 3}, 3 * sizeof *pass.extent);
    pass.stored[EW_X] = pass.stored[EW_Y] = 1;
    pass.stored[EW_OUT] = 2;
    for (int i = 0; i < CELLS; i++) {
        x_cells[i] = (int8_t)(i * 7);
        y_cells[i] = (int8_t)(i * 11);
    }
    memset(out_cells, -1, sizeof out_cells);
    ew_execute(loop, 3, &pass, (void *[]){x_cells + 30, y_cells, out_cells});
    for (int k = 0; k < 10; k++)
        for (int r = 0; r < 7; r++)
            for (int c = 0; c < 5; c++)
                ck_assert_int_eq(out_cells[k * 35 + c * 7 + r],
                                 x_cells[30 + k * 35 - r * 5 + c] +
                                     y_cells[k * 7 + r] + NARROWED);
    ck_assert_int_eq(out_cells[350], -1);
}
END_TEST

int main(void)
{
    TCase *tiles = support_case("tiles");
    tcase_add_loop_test(tiles, tiles_of_several_loops_give_the_whole, 0, 5);
    tcase_add_test(tiles, tiles_of_several_loops_are_converted);
    tcase_add_loop_test(
        tiles, tiles_that_share_lines_of_out_or_of_a_large_input_come_first, 0,
        2);
    TCase *const cases[] = {tiles, NULL};
    return support_run("deep", cases);
}
