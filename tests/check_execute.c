/*
 * Runs loop nests with kernels that write down how they are called. The
 * executor promises an order of calls, tiles that fit its buffers, and that
 * what is broadcast is converted once; none of that shows in results.
 */
#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "cpu.h"
#include "execute.h"
#include "support.h"

struct record {
    int64_t rows, cols;
    void *data[3];
    struct ew_stride stride[3];
};

enum { RECORDS = 4096, TILE_BYTES = 8192 };

static struct record records[RECORDS];
static int recorded;

/* Elements that the two loads and op have handled, op's largest tile, and bytes
   that went past the caches. */
static int64_t loaded, computed, largest, streamed;

/* Calls that store past the caches, and what each asked for of x. */
static int64_t stores;
static const char *asked[RECORDS];

static void forget(void)
{
    recorded = 0;
    loaded = computed = largest = streamed = stores = 0;
}

static void record(int64_t rows, int64_t cols, void *const data[],
                   const struct ew_stride stride[])
{
    ck_assert_int_lt(recorded, RECORDS);
    struct record *r = &records[recorded++];
    *r = (struct record){.rows = rows, .cols = cols};
    memcpy(r->data, data, sizeof r->data);
    memcpy(r->stride, stride, sizeof r->stride);
}

static void *at(void *data, struct ew_stride stride, int64_t r, int64_t c)
{
    return (char *)data + r * stride.row + c * stride.col;
}

/* The steps of a pass: i8 -> i64, i64 + i64, i64 -> i32, i32 -> i16. The last
   two add a number of their own, to show that they took part. */
enum { HALVED = 1000, QUARTERED = 300 };

static void widen(int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride stride[])
{
    loaded += rows * cols;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int64_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                *(int8_t *)at(data[EW_X], stride[EW_X], r, c);
}

static void add(int64_t rows, int64_t cols, void *const data[],
                const struct ew_stride stride[])
{
    computed += rows * cols;
    largest = rows * cols > largest ? rows * cols : largest;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int64_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                *(int64_t *)at(data[EW_X], stride[EW_X], r, c) +
                *(int64_t *)at(data[EW_Y], stride[EW_Y], r, c);
}

static void halve(int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride stride[])
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int32_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                (int32_t) * (int64_t *)at(data[EW_X], stride[EW_X], r, c) +
                HALVED;
}

static void quarter(int64_t rows, int64_t cols, void *const data[],
                    const struct ew_stride stride[])
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *(int16_t *)at(data[EW_OUT], stride[EW_OUT], r, c) =
                (int16_t) * (int32_t *)at(data[EW_X], stride[EW_X], r, c) +
                QUARTERED;
}

/* Counts. Nothing is read for what is not there. */
static void stream(int64_t rows, int64_t bytes, const char *from, char *to,
                   int64_t row, const struct ew_next next[2])
{
    streamed += rows * bytes;
    ck_assert_int_lt(stores, RECORDS);
    asked[stores++] = next[EW_X].at;
    for (int k = 0; k < 2; k++)
        ck_assert(next[k].at || next[k].step == 0);
    for (int64_t r = 0; r < rows; r++)
        memcpy(to + r * row, from + r * bytes, (size_t)bytes);
}

/* A reduction, as the search for zeros is. */
static void any_zero(int64_t rows, int64_t cols, void *const data[],
                     const struct ew_stride stride[])
{
    computed += rows * cols;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            if (*(int64_t *)at(data[EW_Y], stride[EW_Y], r, c) == 0)
                *(uint8_t *)data[EW_OUT] = 1;
}

START_TEST(up_to_two_loops_are_one_call)
{
    static const struct ew_loop loop[] = {{5, {1, 2, 3, 0, 0}},
                                          {7, {10, 20, 30, 0, 0}}};
    struct ew_pass pass = {.op = record};
    char x, y, out;
    void *data[] = {&x, &y, &out};
    for (int ndim = 0; ndim <= 2; ndim++) {
        forget();
        ew_execute(loop, ndim, &pass, data);
        ck_assert_int_eq(recorded, 1);
        ck_assert_int_eq(records->cols, ndim > 0 ? 5 : 1);
        ck_assert_int_eq(records->rows, ndim > 1 ? 7 : 1);
        for (int k = 0; k < 3; k++) {
            ck_assert_ptr_eq(records->data[k], data[k]);
            ck_assert_int_eq(records->stride[k].col, ndim > 0 ? k + 1 : 0);
            ck_assert_int_eq(records->stride[k].row,
                             ndim > 1 ? 10 * (k + 1) : 0);
        }
    }
}
END_TEST

/* Loops 2, 3 and 4 count like digits, loop 2 the fastest; x walks backwards,
   y stands still in loop 3, and an operand that is NULL stays so. */
START_TEST(outer_loops_count_like_digits)
{
    static char space[1 << 16];
    static const struct ew_loop loop[] = {{2, {1, 1, 1, 0, 0}},
                                          {2, {2, 2, 2, 0, 0}},
                                          {3, {-4, 4, 4, 0, 0}},
                                          {4, {-12, 0, 12, 0, 0}},
                                          {2, {-48, 12, 48, 0, 0}}};
    struct ew_pass pass = {.op = record};
    for (int missing = 0; missing <= 1; missing++) {
        char *x = space + 4096, *y = missing ? NULL : space, *out = space;
        void *data[] = {x, y, out};
        int call = 0;
        forget();
        ew_execute(loop, 5, &pass, data);
        ck_assert_int_eq(recorded, 3 * 4 * 2);
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < 3; i++) {
                    struct record *r = &records[call++];
                    int step = 4 * i + 12 * j + 48 * k;
                    ck_assert_ptr_eq(r->data[EW_X], x - step);
                    ck_assert_ptr_eq(r->data[EW_OUT], out + step);
                    ck_assert_ptr_eq(r->data[EW_Y],
                                     y ? y + 4 * i + 12 * k : NULL);
                }
    }
}
END_TEST

/* Five steps of loop 2, two at a time, are rows of calls along the three rows
   of each; loop 3 is outside them. */
START_TEST(calls_across_few_rows_go_along_them)
{
    static char space[1 << 12];
    static const struct ew_loop loop[] = {{2, {1, 1, 1, 0, 0}},
                                          {3, {0, 8, 2, 0, 0}},
                                          {5, {2, 0, 6, 0, 0}},
                                          {2, {10, 24, 30, 0, 0}}};
    struct ew_pass pass = {.op = record, .across = 2};
    void *data[] = {space, space + 1000, space + 2000};
    int call = 0;
    forget();
    ew_execute(loop, 4, &pass, data);
    ck_assert_int_eq(recorded, 2 * 3 * 3);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 5; j += 2)
            for (int row = 0; row < 3; row++) {
                struct record *r = &records[call++];
                ck_assert_int_eq(r->rows, j < 4 ? 2 : 1);
                ck_assert_int_eq(r->cols, 2);
                for (int k = 0; k < 3; k++) {
                    const int64_t steps[] = {loop[1].stride[k],
                                             loop[2].stride[k],
                                             loop[3].stride[k]};
                    ck_assert_int_eq(r->stride[k].row, steps[1]);
                    ck_assert_int_eq(r->stride[k].col, 1);
                    ck_assert_ptr_eq(r->data[k],
                                     (char *)data[k] + row * steps[0] +
                                         j * steps[1] + i * steps[2]);
                }
            }
}
END_TEST

/* Elements of one byte or of eight. */
static uint64_t number(const void *from, int64_t size)
{
    uint64_t n = *(const uint8_t *)from;
    if (size != 1)
        memcpy(&n, from, sizeof n);
    return n;
}

static uint64_t sum(const void *x, const void *y, int64_t size)
{
    uint64_t n = number(x, size) + number(y, size);
    return size == 1 ? (uint8_t)n : n;
}

/* A kernel of such, which is recorded, too; those of out follow one another. */
static void add_numbers(int64_t rows, int64_t cols, void *const data[],
                        const struct ew_stride stride[])
{
    const int64_t size = stride[EW_OUT].col;
    record(rows, cols, data, stride);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            uint64_t n = sum(at(data[EW_X], stride[EW_X], r, c),
                             at(data[EW_Y], stride[EW_Y], r, c), size);
            char *to = at(data[EW_OUT], stride[EW_OUT], r, c);
            if (size == 1)
                *(uint8_t *)to = (uint8_t)n;
            else
                memcpy(to, &n, sizeof n);
        }
}

/* Three blocks, each of `rows` rows of `cols` that share a row of one input. */
enum {
    SHARED_BLOCKS = 3,
    SHARED_ROW = 8 * 64, /* bytes */
    SHARED_BYTES = SHARED_BLOCKS * 100 * SHARED_ROW
};

static void try_shared(int shared, int64_t rows, int64_t cols, int64_t size)
{
    static uint8_t whole[SHARED_BYTES], out[SHARED_BYTES + 1];
    static uint8_t row[SHARED_BLOCKS * SHARED_ROW];
    struct ew_loop loop[] = {{.n = cols}, {.n = rows}, {.n = SHARED_BLOCKS}};
    const int64_t steps[] = {size, cols * size, rows * cols * size};
    const int64_t of_row[] = {size, 0, cols * size};
    for (int i = 0; i < 3; i++) {
        loop[i].stride[shared] = of_row[i];
        loop[i].stride[1 - shared] = loop[i].stride[EW_OUT] = steps[i];
    }
    for (size_t i = 0; i < sizeof whole; i++)
        whole[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof row; i++)
        row[i] = (uint8_t)(i * i);
    memset(out, 99, sizeof out);
    struct ew_pass pass = {.op = add_numbers,
                           .repeats = (unsigned char)(1 + shared)};
    void *data[] = {whole, whole, out};
    data[shared] = row;
    forget();
    ew_execute(loop, 3, &pass, data);
    for (int64_t i = 0; i < SHARED_BLOCKS * rows * cols; i++) {
        int64_t from = i / (rows * cols) * cols + i % cols;
        ck_assert(number(out + i * size, size) ==
                  sum(whole + i * size, row + from * size, size));
    }
    ck_assert_int_eq(out[SHARED_BLOCKS * rows * cols * size], 99);
}

/* Calls are of as many rows as the buffer has room for, and of the rest; wide
   elements have half of it. */
START_TEST(a_row_that_others_share_is_repeated_for_calls_of_several)
{
    const int64_t size = _i % 2 ? 8 : 1, most = size == 1 ? 150 : 64;
    const int shared = _i / 2;
    for (int64_t cols = 1; cols <= most; cols += 7)
        for (int64_t rows = 1; rows <= 100; rows += 9) {
            int64_t room = EW_REPEATED_BUFFER / (size == 1 ? 1 : 2);
            int64_t some = room / (cols * size);
            some = some < rows ? some : rows;
            try_shared(shared, rows, cols, size);
            ck_assert_int_eq(recorded,
                             SHARED_BLOCKS * (1 + (rows % some != 0)));
            ck_assert_int_eq(records[0].cols, some * cols);
            ck_assert_int_eq(records[0].rows, rows / some);
            ck_assert_int_eq(records[0].stride[shared].row, 0);
            ck_assert_int_eq(records[0].stride[EW_OUT].row, some * cols * size);
        }
}
END_TEST

START_TEST(sixty_four_loops_are_walked)
{
    static char space[1 << 16];
    struct ew_loop loop[ELEMENTWISE_MAX_NDIM];
    struct ew_pass pass = {.op = record};
    void *data[] = {space, space, space};
    for (int k = 0; k < ELEMENTWISE_MAX_NDIM; k++)
        loop[k] = (struct ew_loop){.n = 1, .stride = {-9999, 9999, 9999}};
    static const int twos[] = {2, 17, 40, 62, 63};
    for (int i = 0; i < 5; i++)
        loop[twos[i]] = (struct ew_loop){.n = 2, .stride = {0, 1, 1 << i}};
    forget();
    ew_execute(loop, ELEMENTWISE_MAX_NDIM, &pass, data);
    ck_assert_int_eq(recorded, 32);
    for (int i = 0; i < 32; i++) {
        ck_assert_ptr_eq(records[i].data[EW_X], space);
        ck_assert_ptr_eq(records[i].data[EW_OUT], space + i);
    }
}
END_TEST

/* Tiles: x and y are i8, out is i16. Sizes stand around a tile's 1024
   elements of 8 bytes, as one row, as several rows, and as many columns. */
static const struct {
    int64_t rows, cols;
} sizes[] = {{1, 1},    {1, 1023}, {1, 1024}, {1, 1025}, {1, 2048}, {1, 2049},
             {1023, 1}, {1024, 1}, {1025, 1}, {2, 512},  {3, 512},  {2, 513},
             {32, 32},  {33, 32},  {31, 33},  {5, 1023}, {5, 1025}, {700, 3}};
enum { SIZES = sizeof sizes / sizeof *sizes, CELLS = 5 * 1025 };

static int8_t x_cells[CELLS], y_cells[CELLS];
static int16_t out_cells[CELLS];

static void fill(void)
{
    for (int i = 0; i < CELLS; i++) {
        x_cells[i] = (int8_t)(i * 7 - i / 100);
        y_cells[i] = (int8_t)(i * 3 + i / 50 + 1);
        out_cells[i] = -1;
    }
}

static const struct ew_pass all_steps = {.load = {widen, widen},
                                         .op = add,
                                         .round = halve,
                                         .store = quarter,
                                         .size = {8, 8, 8},
                                         .result_size = 4};

/* y moves along rows if bit 0 of moves is set, along columns if bit 1 is. */
static void check_tiles(int64_t rows, int64_t cols, int moves)
{
    int64_t y_row = moves & 1 ? cols : 0, y_col = moves & 2 ? 1 : 0;
    struct ew_loop loop[] = {{cols, {1, y_col, 2, 0, 0}},
                             {rows, {cols, y_row, 2 * cols, 0, 0}}};
    void *data[] = {x_cells, y_cells, out_cells};
    fill();
    forget();
    ew_execute(loop, 2, &all_steps, data);
    for (int64_t i = 0; i < rows * cols; i++) {
        int64_t y = i / cols * y_row + i % cols * y_col;
        ck_assert_msg(out_cells[i] ==
                          x_cells[i] + y_cells[y] + HALVED + QUARTERED,
                      "%d x %d, moves %d, element %d", (int)rows, (int)cols,
                      moves, (int)i);
    }
    if (rows * cols < CELLS)
        ck_assert_int_eq(out_cells[rows * cols], -1);
    ck_assert_int_eq(computed, rows * cols);
    ck_assert_int_le(largest, TILE_BYTES / 8);
}

START_TEST(tiles_of_any_size_give_the_whole)
{
    for (int moves = 0; moves < 4; moves++)
        check_tiles(sizes[_i].rows, sizes[_i].cols, moves);
}
END_TEST

/* A tile holds what fits the widest type of the pass, whichever that is. */
START_TEST(tiles_are_as_large_as_the_buffers_allow)
{
    check_tiles(5, 1025, 3);
    ck_assert_int_eq(largest, TILE_BYTES / 8);
    check_tiles(33, 32, 3);
    ck_assert_int_eq(largest, TILE_BYTES / 8);
    struct ew_pass wide = all_steps;
    struct ew_loop loop = {CELLS, {1, 1, 2, 0, 0}};
    void *data[] = {x_cells, y_cells, out_cells};
    wide.result_size = 16;
    forget();
    ew_execute(&loop, 1, &wide, data);
    ck_assert_int_eq(largest, TILE_BYTES / 16);
}
END_TEST

START_TEST(what_is_broadcast_is_converted_once_per_tile)
{
    int64_t cells = 2 * 512; /* one tile */
    check_tiles(2, 512, 3);
    ck_assert_int_eq(loaded, cells + cells);
    check_tiles(2, 512, 2);
    ck_assert_int_eq(loaded, cells + 512);
    check_tiles(2, 512, 1);
    ck_assert_int_eq(loaded, cells + 2);
    check_tiles(2, 512, 0);
    ck_assert_int_eq(loaded, cells + 1);
}
END_TEST

/* Every choice of steps that a plan can make, with operands of the types
   that these steps leave: x and y i8 or i64, out i64, i32 or i16. The last
   step goes past the caches or not. */
START_TEST(steps_that_are_left_out_are_not_missed)
{
    enum { N = 3000 };
    static int64_t x64[N], y64[N], out64[N];
    static int32_t out32[N];
    bool load_x = _i & 1, load_y = _i & 2, round = _i & 4, store = _i & 12;
    bool past = _i & 16;
    struct ew_pass pass = {.op = add, .size = {8, 8, 8}, .result_size = 4};
    struct ew_loop loop = {N, {load_x ? 1 : 8, load_y ? 1 : 8, 8, 0, 0}};
    void *data[] = {load_x ? (void *)x_cells : x64,
                    load_y ? (void *)y_cells : y64, out64};
    fill();
    for (int i = 0; i < N; i++) {
        x64[i] = x_cells[i];
        y64[i] = y_cells[i];
    }
    pass.load[EW_X] = load_x ? widen : NULL;
    pass.load[EW_Y] = load_y ? widen : NULL;
    pass.round = round ? halve : NULL;
    pass.store = store ? round ? quarter : halve : NULL;
    if (store) {
        data[EW_OUT] = round ? (void *)out_cells : out32;
        loop.stride[EW_OUT] = round ? 2 : 4;
    }
    pass.stream = past ? stream : NULL;
    forget();
    ew_execute(&loop, 1, &pass, data);
    ck_assert_int_eq(streamed, past ? N * loop.stride[EW_OUT] : 0);
    for (int i = 0; i < N; i++) {
        int64_t found = !store ? out64[i] : round ? out_cells[i] : out32[i];
        int mark = (store ? HALVED : 0) + (round ? QUARTERED : 0);
        ck_assert_int_eq(found, x64[i] + y64[i] + mark);
    }
}
END_TEST

static void pack_nothing(int64_t rows, int64_t cols, void *const data[],
                         const struct ew_stride stride[])
{
    (void)rows, (void)cols, (void)data, (void)stride;
}

static void never(int64_t rows, int64_t cols, void *const data[],
                  const struct ew_stride stride[])
{
    (void)rows, (void)cols, (void)data, (void)stride;
    ck_abort_msg("a kernel that should not run");
}

START_TEST(what_is_in_place_stays_in_the_caches)
{
    int64_t a[100] = {0}, b[100] = {0};
    struct ew_pass pass = {
        .op = add, .past = never, .stream = stream, .size = {8, 8, 8}};
    struct ew_loop loop = {100, {8, 8, 8, 0, 0}};
    void *into_x[] = {a, b, a}, *into_y[] = {a, b, b};
    forget();
    ew_execute(&loop, 1, &pass, into_x);
    ew_execute(&loop, 1, &pass, into_y);
    ck_assert_int_eq(computed, 200);
    ck_assert_int_eq(streamed, 0);
}
END_TEST

/* In place beside an input that stands still, in tiles or not, from AVX-512
   on. */
START_TEST(what_is_read_alone_is_read_far_ahead)
{
    int64_t a[100] = {0}, b[100] = {0};
    struct ew_pass pass = {.op = never,
                           .past = add,
                           .stream = stream,
                           .size = {8, 8, 8},
                           .stored = {8, 8, 8}};
    struct ew_loop still = {100, {8, 0, 8, 0, 0}};
    struct ew_loop row[] = {{50, {8, 8, 8, 0, 0}}, {2, {400, 0, 400, 0, 0}}};
    void *into_x[] = {a, b, a}, *into_y[] = {b, a, a};
    if (!support_level(EW_LEVEL_AVX512))
        return;
    ew_cpu_tune(EW_FAR_READS);
    forget();
    ew_execute(&still, 1, &pass, into_x);
    ew_execute(row, 2, &pass, into_x);
    ck_assert_int_eq(computed, 200);
    pass.op = add;
    pass.past = never;
    ew_execute(&still, 1, &pass, into_y);
    ew_cpu_tune(0);
    ew_execute(&still, 1, &pass, into_x);
    ck_assert_int_eq(computed, 400);
    ew_cpu_limit(EW_LEVEL_AVX2);
    ew_cpu_tune(EW_FAR_READS);
    ew_execute(&still, 1, &pass, into_x);
    ew_cpu_limit(EW_LEVELS);
    ew_cpu_tune(EW_FAR_READS);
    pass.stored[EW_OUT] = 2;
    ew_execute(&still, 1, &pass, into_x);
    ck_assert_int_eq(computed, 600);
    ck_assert_int_eq(streamed, 0);
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

START_TEST(short_rows_are_streamed_as_whole_lines_only)
{
    _Alignas(64) int64_t c[72] = {0};
    int64_t a[64] = {0}, b[64] = {0};
    struct ew_pass pass = {
        .op = add, .stream = stream, .lines = true, .size = {8, 8, 8}};
    struct ew_loop loops[] = {{16, {8, 8, 8, 0, 0}},
                              {2, {128, 128, 256, 0, 0}}};
    for (int shift = 0; shift < 8; shift++) {
        void *data[] = {a, b, c + shift};
        forget();
        pass.past = shift ? never : NULL;
        ew_execute(loops, 2, &pass, data);
        ck_assert_int_eq(computed, 32);
        ck_assert_int_eq(streamed, shift ? 0 : 256);
    }
}
END_TEST

/* An activation without a kernel for both works on what is in the cache. */
START_TEST(the_last_step_may_stream_itself)
{
    int64_t a[100] = {0}, b[100] = {0}, c[100];
    struct ew_pass pass = {
        .op = never, .past = add, .stream = stream, .size = {8, 8, 8}};
    struct ew_loop loop = {100, {8, 8, 8, 0, 0}};
    void *data[] = {a, b, c};
    forget();
    ew_execute(&loop, 1, &pass, data);
    ck_assert_int_eq(computed, 100);
    ck_assert_int_eq(streamed, 0);
    pass.op = add;
    pass.past = never;
    pass.act = record;
    ew_execute(&loop, 1, &pass, data);
    ck_assert_int_eq(computed, 200);
    ck_assert_int_eq(streamed, 800);
    ck_assert_int_eq(recorded, 1);
}
END_TEST

/* So that no store waits for another one, where processors queue few. */
START_TEST(tiles_of_a_slow_row_are_half_as_large)
{
    int64_t a[1024] = {0}, b[1024] = {0}, c[1024];
    struct ew_pass pass = {.op = add,
                           .stream = stream,
                           .slow = true,
                           .size = {8, 8, 8},
                           .result_size = 8};
    struct ew_loop loop = {1024, {8, 8, 8, 0, 0}};
    for (int quick = 0; quick < 2; quick++) {
        forget();
        ew_cpu_tune(quick ? EW_QUICK_STORES : 0);
        ew_execute(&loop, 1, &pass, (void *[]){a, b, c});
        ck_assert_int_eq(largest, quick ? 256 : 128);
        ck_assert_int_eq(streamed, (int64_t)sizeof c);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

/* Rows of 512 bytes, whose kernel would make their ends one by one if out
   starts within a line. */
START_TEST(short_rows_that_start_anywhere_are_streamed_by_the_last_step)
{
    enum { ROWS = 3, COLS = 64 };
    static int64_t a[ROWS * COLS], b[ROWS * COLS], c[ROWS * COLS + 16];
    struct ew_pass pass = {.op = never,
                           .past = add,
                           .stream = stream,
                           .stored = {8, 8, 8},
                           .size = {8, 8, 8},
                           .result_size = 8};
    struct ew_loop loop[] = {{COLS, {8, 8, 8, 0, 0}},
                             {ROWS, {COLS * 8, COLS * 8, COLS * 8, 0, 0}}};
    char *line = (char *)c + EW_LINE - (uintptr_t)c % EW_LINE;
    forget();
    ew_execute(loop, 2, &pass, (void *[]){a, b, line});
    ck_assert(computed == ROWS * COLS && streamed == 0);
    pass.op = add;
    pass.past = never;
    ew_execute(loop, 2, &pass, (void *[]){a, b, line - 8});
    ck_assert(computed == 2 * ROWS * COLS && streamed == 8 * ROWS * COLS);
    pass.past = add; /* a long row */
    ew_execute((struct ew_loop[]){{ROWS * COLS, {8, 8, 8, 0, 0}}}, 1, &pass,
               (void *[]){a, b, line - 8});
    ck_assert_int_eq(streamed, 8 * ROWS * COLS);
}
END_TEST

/* Rows of out that start anywhere, in pieces that end where its lines do. */
enum { CUT_ROWS = 4, CUT_COLS = 1001 };
static _Alignas(64) int64_t cut_area[CUT_ROWS * CUT_COLS + 8], *cut_out;

static void stream_pieces(int64_t rows, int64_t bytes, const char *from,
                          char *to, int64_t row, const struct ew_next next[2])
{
    const char *end = to + bytes;
    bool ends_row = (end - (char *)cut_out) % (CUT_COLS * 8) == 0;
    (void)row, (void)next;
    ck_assert_int_eq(rows, 1);
    ck_assert((uintptr_t)end % EW_LINE == 0 || ends_row);
    ck_assert_int_le(bytes, 2048);
    streamed += bytes;
    memcpy(to, from, (size_t)bytes);
}

START_TEST(streamed_rows_are_cut_where_lines_of_out_end)
{
    static int64_t a[CUT_COLS], b[CUT_ROWS];
    struct ew_pass pass = {.op = add,
                           .stream = stream_pieces,
                           .stored = {8, 8, 8},
                           .size = {8, 8, 8},
                           .result_size = 8};
    struct ew_loop loop[] = {{CUT_COLS, {8, 0, 8, 0, 0}},
                             {CUT_ROWS, {0, 8, CUT_COLS * 8, 0, 0}}};
    for (int i = 0; i < CUT_COLS; i++)
        a[i] = i;
    for (int i = 0; i < CUT_ROWS; i++)
        b[i] = 5000 * i;
    for (int shift = 0; shift < 8; shift++) {
        forget();
        cut_out = cut_area + shift;
        ew_execute(loop, 2, &pass, (void *[]){a, b, cut_out});
        ck_assert_int_eq(streamed, CUT_ROWS * CUT_COLS * 8);
        for (int i = 0; i < CUT_ROWS * CUT_COLS; i++)
            ck_assert_int_eq(cut_out[i], i % CUT_COLS + i / CUT_COLS * 5000);
    }
}
END_TEST

static void run_op(int64_t rows, int64_t cols, void *const data[],
                   const struct ew_stride stride[])
{
    const struct ew_around *around = data[EW_AROUND];
    around->op(rows, cols, data, stride);
    ck_assert(around->alpha.f64 == 0.5);
}

START_TEST(an_activation_may_run_the_operation_and_stream_both)
{
    int64_t a[100] = {0}, b[100] = {0}, c[100];
    struct ew_pass pass = {.op = add,
                           .past = never,
                           .act = record,
                           .behind = run_op,
                           .stream = stream,
                           .around.alpha.f64 = 0.5,
                           .size = {8, 8, 8}};
    struct ew_loop loop = {100, {8, 8, 8, 0, 0}};
    void *data[] = {a, b, c}, *in_place[] = {a, b, a};
    forget();
    ew_execute(&loop, 1, &pass, data);
    ck_assert_int_eq(computed, 100);
    ck_assert_int_eq(streamed + recorded, 0);
    ew_execute(&loop, 1, &pass, in_place);
    ck_assert_int_eq(computed, 200);
    ck_assert_int_eq(recorded, 1);
}
END_TEST

/* Their rows are short. */
START_TEST(an_activation_is_made_before_turned_tiles_are_streamed)
{
    int64_t a[100] = {0}, b[100] = {0}, c[100];
    struct ew_pass pass = {.pack = {pack_nothing, NULL},
                           .op = add,
                           .past = never,
                           .act = record,
                           .behind = never,
                           .stream = stream,
                           .turn = 32,
                           .stored = {8, 8, 8},
                           .size = {8, 8, 8},
                           .result_size = 8};
    struct ew_loop loops[] = {{10, {80, 8, 8, 0, 0}}, {10, {8, 80, 80, 0, 0}}};
    forget();
    ew_execute(loops, 2, &pass, (void *[]){a, b, c});
    ck_assert_int_eq(computed, 100);
    ck_assert_int_gt(recorded, 0);
    ck_assert_int_eq(streamed, (int64_t)sizeof c);
}
END_TEST

/* Bytes from one element to the next of x, y and out, and the operand that
   decides. All but that start somewhere else. */
START_TEST(long_lines_are_cut_where_the_widest_elements_start_on_one)
{
    static const struct {
        int64_t step[3];
        int which;
    } lines[] = {{{4, 0, 4}, EW_X},   {{0, 4, 4}, EW_Y},   {{4, 0, 1}, EW_X},
                 {{1, 0, 4}, EW_OUT}, {{1, 0, 8}, EW_OUT}, {{2, 0, 8}, EW_OUT}};
    static _Alignas(EW_LINE) char space[3][5000 * 8];
    for (int i = 0; i < 6; i++) {
        const int64_t *step = lines[i].step;
        int which = lines[i].which;
        struct ew_loop loop = {4096, {step[0], step[1], step[2]}};
        struct ew_pass pass = {.op = record};
        void *data[3];
        for (int k = 0; k < 3; k++)
            data[k] = space[k] + (k == which ? 16 : 8);
        forget();
        ew_execute(&loop, 1, &pass, data);
        ck_assert_int_eq(recorded, 2);
        ck_assert_int_eq(records[0].cols, 48 / step[which]);
        ck_assert_int_eq(records[1].cols, 4096 - records[0].cols);
        for (int k = 0; k < 3; k++)
            ck_assert_ptr_eq(records[1].data[k],
                             (char *)data[k] + records[0].cols * step[k]);
    }
}
END_TEST

/* Without a conversion no tile is cut, however large the block. */
START_TEST(what_needs_no_buffer_is_one_call)
{
    struct ew_loop loop[] = {{100000, {1, 1, 1, 0, 0}},
                             {300, {100000, 0, 100000, 0, 0}}};
    struct ew_pass pass = {.op = record};
    char x, y, out;
    void *data[] = {&x, &y, &out};
    forget();
    ew_execute(loop, 2, &pass, data);
    ck_assert_int_eq(recorded, 1);
    ck_assert_int_eq(records->rows, 300);
    ck_assert_int_eq(records->cols, 100000);
}
END_TEST

START_TEST(a_reduction_sees_every_tile)
{
    enum { N = 2500 };
    static int8_t y[N];
    struct ew_pass pass = {.load = {NULL, widen}, .op = any_zero};
    struct ew_loop loop = {N, {0, 1, 0, 0, 0}};
    uint8_t found = 0;
    void *data[] = {NULL, y, &found};
    pass.size[EW_Y] = 8;
    memset(y, 1, sizeof y);
    forget();
    ew_execute(&loop, 1, &pass, data);
    ck_assert_int_eq(found, 0);
    ck_assert_int_eq(computed, N);
    for (int i = 0; i < N; i += i < 10 || i > N - 10 ? 1 : 97) {
        y[i] = 0;
        found = 0;
        ew_execute(&loop, 1, &pass, data);
        ck_assert_msg(found == 1, "the zero at %d", i);
        y[i] = 1;
    }
}
END_TEST

/* Outer loops and tiles together, out running down memory. */
START_TEST(tiles_follow_every_outer_step)
{
    struct ew_loop loop[] = {{100, {1, 1, 2, 0, 0}},
                             {12, {100, 0, 200, 0, 0}},
                             {4, {1200, 100, -2400, 0, 0}}};
    void *data[] = {x_cells, y_cells, out_cells + 3 * 1200};
    fill();
    ew_execute(loop, 3, &all_steps, data);
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 12; r++)
            for (int c = 0; c < 100; c++)
                ck_assert_int_eq(out_cells[(3 - k) * 1200 + r * 100 + c],
                                 x_cells[k * 1200 + r * 100 + c] +
                                     y_cells[k * 100 + c] + HALVED + QUARTERED);
}
END_TEST

/* y stands still along the loop of `again`: of each tile, or of each piece of a
   row, it is loaded once, or once for 16 steps; without, at each step. */
START_TEST(what_stands_still_is_loaded_once_for_some_steps)
{
    static const struct {
        int64_t cols, rows, steps, y; /* elements of y that are loaded */
        unsigned char again;
    } kept[] = {{300, 4, 4, 1200, 2},
                {300, 4, 4, 4800, 0},
                {10, 12, 40, 360, 2},
                {1200, 4, 1, 1200, 1},
                {1200, 4, 1, 4800, 0}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        int64_t cols = kept[i].cols, rows = kept[i].rows;
        int64_t y_row = kept[i].again == 2 || kept[i].steps > 1 ? cols : 0;
        int64_t block = rows * cols;
        struct ew_loop loop[] = {{cols, {1, 1, 2, 0, 0}},
                                 {rows, {cols, y_row, 2 * cols, 0, 0}},
                                 {kept[i].steps, {block, 0, 2 * block, 0, 0}}};
        void *data[] = {x_cells, y_cells, out_cells};
        struct ew_pass pass = all_steps;
        pass.again = kept[i].again;
        fill();
        forget();
        ew_execute(loop, 3, &pass, data);
        for (int64_t j = 0; j < kept[i].steps * block; j++) {
            int64_t y = j / cols % rows * y_row + j % cols;
            ck_assert_int_eq(out_cells[j],
                             x_cells[j] + y_cells[y] + HALVED + QUARTERED);
        }
        ck_assert_int_eq(loaded, kept[i].steps * block + kept[i].y);
    }
}
END_TEST

/* Windows of x that overlap: a tile starts where the one before did, but that
   had less columns, or rows. */
START_TEST(what_only_starts_alike_is_not_kept)
{
    enum { COLS = 1025, ROWS = 3 };
    struct ew_pass turned = all_steps;
    struct ew_loop loop[] = {{COLS, {1, 1, 2, 0, 0}},
                             {ROWS, {1024, 0, 2 * COLS, 0, 0}}};
    struct ew_loop square[] = {{64, {1, 1, 2, 0, 0}}, {40, {1, 64, 128, 0, 0}}};
    void *data[] = {x_cells, y_cells, out_cells};
    fill();
    ew_execute(loop, 2, &all_steps, data);
    for (int i = 0; i < ROWS * COLS; i++)
        ck_assert_int_eq(out_cells[i], x_cells[i / COLS * 1024 + i % COLS] +
                                           y_cells[i % COLS] + HALVED +
                                           QUARTERED);
    turned.turn = 32; /* tiles of 32 x 32 go down */
    turned.stored[EW_OUT] = sizeof(int16_t);
    data[EW_OUT] = out_cells + EW_LINE / 2 -
                   (uintptr_t)out_cells % EW_LINE / sizeof *out_cells;
    ew_execute(square, 2, &turned, data);
    for (int i = 0; i < 64 * 40; i++)
        ck_assert_int_eq(((int16_t *)data[EW_OUT])[i],
                         x_cells[i / 64 + i % 64] + y_cells[i] + HALVED +
                             QUARTERED);
}
END_TEST

/* ---------------------------------------------------------------------
 * Tiles where an input is turned
 */

/* Bytes, whose tiles of 32 rows have 256 columns. */
static const struct {
    int64_t rows, cols, pitch, skew;
    int turn;
    int64_t below; /* rows from the first tile to the second, or 0: beside */
} turned[] = {
    {200, 1000, 1024, 0, 32, 32},
    {200, 1000, 1024, 10, 32, 32}, /* out starts within a line */
    {200, 1000, 1024, 0, 64, 64},
    {200, 1000, 1000, 0, 32, 32}, /* or only some rows of it do */
    {200, 300, 65536, 0, 32, 32}, /* 64 rows are as many pages as */
    {200, 300, 131072, 0, 32, 0}, /* tiles go down; more than that */
    {5, 4000, 4096, 0, 32, 0},    /* no second tile below */
    {200, 100, 1024, 0, 32, 64}}; /* all columns in one, whole lines */

START_TEST(turned_tiles_make_every_element_once)
{
    enum { ROWS = 200, COLS = 4000 };
    static char space[ROWS << 17]; /* addresses, which nothing reads */
    static unsigned char made[ROWS][COLS];
    int64_t rows = turned[_i].rows, cols = turned[_i].cols;
    int64_t pitch = turned[_i].pitch;
    struct ew_loop loop[] = {{cols, {rows, 1, 1, 0, 0}},
                             {rows, {1, pitch, pitch, 0, 0}}};
    struct ew_pass pass = {.op = record,
                           .pack = {pack_nothing, NULL},
                           .turn = (unsigned char)turned[_i].turn,
                           .stored = {1, 1, 1},
                           .size = {1, 1, 1},
                           .result_size = 1};
    char *out = space + EW_LINE - (uintptr_t)space % EW_LINE + turned[_i].skew;
    forget();
    ew_execute(loop, 2, &pass, (void *[]){space, space, out});
    memset(made, 0, sizeof made);
    for (int i = 0; i < recorded; i++) {
        int64_t at = (char *)records[i].data[EW_OUT] - out;
        ck_assert_int_le(records[i].rows * records[i].cols, TILE_BYTES);
        for (int64_t r = 0; r < records[i].rows; r++)
            for (int64_t c = 0; c < records[i].cols; c++)
                made[at / pitch + r][at % pitch + c]++;
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            ck_assert_int_eq(made[r][c], 1);
    int64_t second =
        (char *)records[1].data[EW_OUT] - (char *)records[0].data[EW_OUT];
    ck_assert_int_eq(second / pitch, turned[_i].below);
    ck_assert(turned[_i].below > 0 ||
              ((uintptr_t)out + (uintptr_t)second) % EW_LINE == 0);
}
END_TEST

/* Parts of rows whose ends share lines of out are long if they are streamed,
   and tiles have fewer rows of them. */
START_TEST(streamed_rows_that_end_within_lines_are_cut_less)
{
    enum { ROWS = 40 };
    static double x[ROWS], y[ROWS * 304], out[ROWS * 304 + EW_LINE / 8];
    static const struct {
        int cols, part;
        bool streams;
    } rows[] = {{301, 128, true}, {301, 32, false}, {304, 32, true}};
    for (int i = 0; i < 3; i++) {
        const int64_t pitch = rows[i].cols * 8;
        struct ew_loop loop[] = {{rows[i].cols, {0, ROWS * 8, 8, 0, 0}},
                                 {ROWS, {8, 8, pitch, 0, 0}}};
        struct ew_pass pass = {.op = record,
                               .pack = {NULL, pack_nothing},
                               .stream = rows[i].streams ? stream : NULL,
                               .turn = 32,
                               .stored = {8, 8, 8},
                               .size = {8, 8, 8},
                               .result_size = 8};
        char *line = (char *)out + EW_LINE - (uintptr_t)out % EW_LINE;
        forget();
        ew_execute(loop, 2, &pass, (void *[]){x, y, line});
        int64_t most = 0;
        for (int k = 0; k < recorded; k++)
            most = records[k].cols > most ? records[k].cols : most;
        ck_assert_int_eq(most, rows[i].part);
    }
}
END_TEST

/* What is handed over with each tile. */
static struct ew_ahead handed[64][2];
static int hands;

static void pack_and_ask(int64_t rows, int64_t cols, void *const data[],
                         const struct ew_stride stride[])
{
    const struct ew_ahead *ahead = data[EW_Y];
    (void)rows, (void)cols, (void)stride;
    ck_assert_int_lt(hands, 64);
    memset(handed[hands], 0, sizeof handed[hands]);
    if (ahead)
        memcpy(handed[hands], ahead, sizeof handed[hands]);
    hands++;
}

/* Where rows of out start anywhere, tiles go down only if what they need is
   asked for; columns of one line are in tiles of full size. */
START_TEST(large_elements_go_down_if_they_are_asked_for)
{
    enum { ROWS = 40, COLS = 301 };
    static double space[ROWS * COLS + 8];
    const unsigned char turn[] = {8, 8, 16}, cols[] = {128, 128, 32};
    struct ew_loop loop[] = {{COLS, {ROWS * 8, 8, 8, 0, 0}},
                             {ROWS, {8, COLS * 8, COLS * 8, 0, 0}}};
    struct ew_pass pass = {.op = record,
                           .pack = {pack_nothing, NULL},
                           .turn = turn[_i],
                           .distant = _i > 0,
                           .stored = {8, 8, 8},
                           .size = {8, 8, 8},
                           .result_size = 8};
    char *out = (char *)space;
    out += (EW_LINE - (uintptr_t)space % EW_LINE) % EW_LINE;
    forget();
    ew_execute(loop, 2, &pass, (void *[]){space, out, out});
    ck_assert_int_eq(records[0].rows, turn[_i]);
    ck_assert_int_eq(records[0].cols, cols[_i]);
    int64_t next = (char *)records[1].data[EW_OUT] - out;
    ck_assert_int_eq(next, 8 * (_i ? turn[_i] * COLS : cols[_i]));
}
END_TEST

/* x is turned, y is dense: columns of x, and rows of y. */
START_TEST(turned_tiles_are_asked_for_while_the_last_one_is_packed)
{
    enum { ROWS = 100, COLS = 1000, PITCH = 1024 };
    static char space[ROWS * PITCH + COLS * PITCH];
    struct ew_loop loop[] = {{COLS, {PITCH, 1, 1, 0, 0}},
                             {ROWS, {1, PITCH, PITCH, 0, 0}}};
    struct ew_pass pass = {.op = record,
                           .pack = {pack_and_ask, NULL},
                           .turn = 32,
                           .ahead = {true, _i % 2},
                           .distant = _i < 2,
                           .stored = {1, 1, 1},
                           .size = {1, 1, 1},
                           .result_size = 1};
    char *out = space + EW_LINE - (uintptr_t)space % EW_LINE;
    forget();
    hands = 0;
    ew_execute(loop, 2, &pass, (void *[]){space, space, out});
    ck_assert_int_eq(hands, recorded);
    for (int i = 0; i < hands; i++) {
        bool more = i + 1 < hands && pass.distant;
        const struct ew_ahead *x = handed[i], *y = &handed[i][1];
        const struct record *next = &records[more ? i + 1 : i];
        int64_t at = (char *)next->data[EW_OUT] - out;
        ck_assert_int_eq(x->pieces, more ? next->cols : 0);
        ck_assert_int_eq(y->pieces, more && _i % 2 ? next->rows : 0);
        if (x->pieces) {
            ck_assert_ptr_eq(x->at, space + at / PITCH + at % PITCH * PITCH);
            ck_assert(x->step == PITCH && x->bytes == next->rows);
        }
        if (y->pieces) {
            ck_assert_ptr_eq(y->at, space + at);
            ck_assert(y->step == PITCH && y->bytes == next->cols);
        }
    }
}
END_TEST

/* A block of 64 x 512, of whose tiles the second is asked for first: x is
   turned, with so many bytes between rows and columns, y as given. Returns
   where all operands start. */
static char *ask_of(int64_t row, int64_t col, struct ew_stride y, unsigned size)
{
    static char space[1 << 24];
    unsigned char bytes = (unsigned char)size;
    struct ew_loop loop[] = {{512, {col, y.col, size, 0, 0}},
                             {64, {row, y.row, 512 * size, 0, 0}}};
    struct ew_pass pass = {.op = record,
                           .pack = {pack_and_ask, NULL},
                           .turn = 32,
                           .ahead = {true, true},
                           .distant = true,
                           .stored = {bytes, bytes, bytes},
                           .size = {bytes, bytes, bytes},
                           .result_size = bytes};
    forget();
    hands = 0;
    char *middle = space + sizeof space / 2;
    middle += EW_LINE - (uintptr_t)middle % EW_LINE;
    ew_execute(loop, 2, &pass, (void *[]){middle, middle, middle});
    ck_assert_int_gt(recorded, 1);
    return middle;
}

START_TEST(lines_are_asked_for_where_there_are_any)
{
    const struct ew_stride dense = {512, 1}, shared = {0, 1}, gaps = {1024, 2};
    const struct ew_ahead *x = handed[0], *y = &handed[0][1];
    char *start = ask_of(1, 4096, dense, 1);
    ck_assert_ptr_eq(x->at, start + 32);
    ck_assert_ptr_eq(y->at, start + 32 * 512);
    ck_assert(x->pieces == 256 && x->bytes == 32 && x->crowded);
    ck_assert(y->pieces == 32 && y->bytes == 256 && y->step == 512);
    start = ask_of(-1, 320, shared, 1);
    ck_assert_ptr_eq(x->at, start - 32 - 31);
    ck_assert(x->pieces == 256 && x->bytes == 32 && x->crowded);
    ck_assert_int_eq(y->pieces, 0);
    ask_of(64, 4096, gaps, 1); /* a line for each element */
    ck_assert_int_eq(x->pieces + y->pieces, 0);
    ask_of(8, 320, dense, 8); /* large elements */
    ck_assert(x->pieces > 0 && !x->crowded);
    ask_of(8, 4096, dense, 8);
    ck_assert(x->pieces > 0 && x->crowded);
}
END_TEST

/* Every second element, also backwards, in one row or in rows with gaps. */
START_TEST(rows_with_gaps_are_asked_for_two_tiles_ahead)
{
    enum { ROWS = 3, COLS = 5000, ROW = 2 * COLS + 40 };
    static char space[ROWS * ROW], made[ROWS * COLS];
    int64_t rows = _i < 2 ? 1 : ROWS, step = _i % 2 ? -2 : 2;
    struct ew_loop loop[] = {{COLS, {2, step, 1, 0, 0}},
                             {rows, {ROW, ROW, COLS, 0, 0}}};
    struct ew_pass pass = {.op = record,
                           .pack = {pack_and_ask, pack_and_ask},
                           .ahead = {true, true},
                           .distant = true,
                           .stored = {1, 1, 1},
                           .size = {1, 1, 1},
                           .result_size = 1};
    void *const start[] = {space, space + (step < 0 ? 2 * COLS : 0), made};
    forget();
    hands = 0;
    ew_execute(loop, 2, &pass, start);
    ck_assert_int_eq(hands, 2 * recorded);
    ck_assert_int_ge(recorded, 3 * rows);
    for (int i = 0; i < recorded; i++) {
        bool more = i + 2 < recorded;
        const struct record *later = &records[more ? i + 2 : i];
        int64_t at = (char *)later->data[EW_OUT] - made;
        const char *x = space + at / COLS * ROW + at % COLS * 2;
        const char *y = (char *)start[1] + at / COLS * ROW + at % COLS * step;
        const struct ew_ahead *of = handed[2 * i];
        ck_assert_int_eq(of[0].pieces, more ? later->rows : 0);
        ck_assert_int_eq(of[1].pieces, more ? later->rows : 0);
        if (!more)
            continue;
        ck_assert_ptr_eq(of[0].at, x);
        ck_assert_ptr_eq(of[1].at, y + (step < 0 ? later->cols - 1 : 0) * step);
        ck_assert_int_eq(of[0].bytes, 2 * later->cols - 1);
        ck_assert_int_eq(of[1].bytes, 2 * later->cols - 1);
        ck_assert(rows == 1 || (of[0].step == ROW && of[1].step == ROW));
    }
}
END_TEST

int main(void)
{
    TCase *loops = support_case("loops");
    TCase *tiles = support_case("tiles");
    tcase_add_test(loops, up_to_two_loops_are_one_call);
    tcase_add_test(loops, outer_loops_count_like_digits);
    tcase_add_test(loops, calls_across_few_rows_go_along_them);
    tcase_add_loop_test(
        loops, a_row_that_others_share_is_repeated_for_calls_of_several, 0, 4);
    tcase_add_test(loops, sixty_four_loops_are_walked);
    tcase_add_test(loops,
                   long_lines_are_cut_where_the_widest_elements_start_on_one);
    tcase_add_test(loops, what_needs_no_buffer_is_one_call);
    tcase_add_loop_test(tiles, tiles_of_any_size_give_the_whole, 0, SIZES);
    tcase_add_test(tiles, tiles_are_as_large_as_the_buffers_allow);
    tcase_add_test(tiles, what_is_broadcast_is_converted_once_per_tile);
    tcase_add_loop_test(tiles, steps_that_are_left_out_are_not_missed, 0, 32);
    tcase_add_test(tiles, what_is_in_place_stays_in_the_caches);
    tcase_add_test(tiles, what_is_read_alone_is_read_far_ahead);
    tcase_add_test(tiles, short_rows_are_streamed_as_whole_lines_only);
    tcase_add_test(tiles, the_last_step_may_stream_itself);
    tcase_add_test(tiles, streamed_rows_are_cut_where_lines_of_out_end);
    tcase_add_test(tiles, tiles_of_a_slow_row_are_half_as_large);
    tcase_add_test(tiles,
                   an_activation_is_made_before_turned_tiles_are_streamed);
    tcase_add_test(
        tiles, short_rows_that_start_anywhere_are_streamed_by_the_last_step);
    tcase_add_test(tiles, an_activation_may_run_the_operation_and_stream_both);
    tcase_add_test(tiles, a_reduction_sees_every_tile);
    tcase_add_test(tiles, tiles_follow_every_outer_step);
    tcase_add_test(tiles, what_stands_still_is_loaded_once_for_some_steps);
    tcase_add_test(tiles, what_only_starts_alike_is_not_kept);
    tcase_add_loop_test(tiles, turned_tiles_make_every_element_once, 0,
                        sizeof turned / sizeof *turned);
    tcase_add_test(tiles, streamed_rows_that_end_within_lines_are_cut_less);
    tcase_add_loop_test(tiles, large_elements_go_down_if_they_are_asked_for, 0,
                        3);
    tcase_add_loop_test(
        tiles, turned_tiles_are_asked_for_while_the_last_one_is_packed, 0, 4);
    tcase_add_test(tiles, lines_are_asked_for_where_there_are_any);
    tcase_add_loop_test(tiles, rows_with_gaps_are_asked_for_two_tiles_ahead, 0,
                        4);
    TCase *const cases[] = {loops, tiles, NULL};
    return support_run("execute", cases);
}
