/*
 * Moves elements of every size from every layout that kernels tell apart into
 * dense rows and others, and compares them byte by byte; also at the ends of
 * pages behind which nothing may be read.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "reference.h"
#include "support.h"
#include "table.h"

static struct support_tensor x, out;

/* The layouts of x that a move tells apart; the last is for out. */
struct layout {
    const char *name;
    bool rows_first;      /* rows run along memory */
    int64_t gap, stretch; /* elements between lines; of the unit stride */
    bool no_row, no_col;  /* strides of 0 */
};
static const struct layout layouts[] = {
    {"dense", false, 0, 1, false, false},
    {"dense with gaps", false, 3, 1, false, false},
    {"repeated", false, 0, 1, true, false},
    {"repeated with gaps", false, 0, 3, true, false},
    {"spread", true, 0, 1, false, true},
    {"spread with gaps", true, 2, 3, false, true},
    {"one element", false, 0, 1, true, true},
    {"transposed", true, 0, 1, false, false},
    {"transposed with gaps", true, 5, 1, false, false},
    {"every second, transposed", true, 1, 2, false, false},
    {"every second, transposed backwards", true, 1, -2, false, false},
    {"every third, transposed", true, 0, 3, false, false},
    {"every fourth, transposed backwards", true, 2, -4, false, false},
    {"every seventh, transposed", true, 3, 7, false, false},
    {"strided", false, 1, 2, false, false},
    {"every fourth", false, 1, 4, false, false},
    {"backwards", false, 0, -1, false, false},
    {"transposed backwards", true, 0, -1, false, false},
    {"strided rows", true, 1, 3, false, false}};
enum { MOVED_LAYOUTS = sizeof layouts / sizeof *layouts };

static void lay_out(const struct layout *l, const int64_t shape[2],
                    int64_t strides[2])
{
    int inner = l->rows_first ? 0 : 1;
    strides[inner] = l->stretch;
    strides[1 - inner] = shape[inner] * l->stretch + l->gap;
    strides[0] = l->no_row ? 0 : strides[0];
    strides[1] = l->no_col ? 0 : strides[1];
}

static void verify_move(const char *name)
{
    int64_t index[2] = {0, 0};
    size_t size = ref_size(out.t.dtype);
    do
        if (memcmp(ref_at(&out.t, index), ref_at(&x.t, index), size) != 0)
            ck_abort_msg("%zu bytes, %s, %lld x %lld at %lld, %lld", size, name,
                         (long long)out.shape[0], (long long)out.shape[1],
                         (long long)index[0], (long long)index[1]);
    while (ref_next(2, out.shape, index));
    ck_assert_msg(support_gaps_same(&out), "%zu bytes, %s: gaps", size, name);
}

/* Moves as well where what is read next is asked for. */
static void try_strides(elementwise_dtype type, const char *name,
                        const int64_t from[2], const struct layout *to,
                        const int64_t shape[2])
{
    int64_t strides[2], size = (int64_t)ref_size(type);
    support_make(&x, type, 2, shape, from, SUPPORT_HIGH);
    struct ew_stride sx = {from[0] * size, from[1] * size};
    lay_out(to, shape, strides);
    support_make(&out, type, 2, shape, strides, SUPPORT_HIGH);
    struct ew_stride so = {strides[0] * size, strides[1] * size};
    support_fill(&x);
    support_keep(&out);
    static const char next[1024];
    struct ew_ahead ahead[2] = {{next, 7, 64, 100, shape[0] % 2 == 0}};
    bool asks = shape[1] % 2;
    void *const data[] = {x.t.data, asks ? ahead : NULL, out.t.data};
    const struct ew_stride stride[] = {sx, {0, 0}, so};
    ew_table_move(ew_cpu_level(), type)(shape[0], shape[1], data, stride);
    verify_move(name);
    ck_assert_int_ge(ahead[0].pieces, 0);
    ck_assert_int_eq(ahead[0].at - next, (7 - ahead[0].pieces) * 64);
}

static void try_move(elementwise_dtype type, const struct layout *from,
                     const struct layout *to, const int64_t shape[2])
{
    int64_t strides[2];
    lay_out(from, shape, strides);
    try_strides(type, from->name, strides, to, shape);
}

START_TEST(moves_are_right_from_every_layout)
{
    static const int64_t extents[] = {1, 2, 3, 4, 8, 15, 16, 17, 35, 65};
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64,
                                              ELEMENTWISE_C128};
    enum { N = sizeof extents / sizeof *extents };
    if (!support_level(_i / 5))
        return;
    for (int i = 0; i < N * N; i++) {
        int64_t shape[] = {extents[i / N], extents[i % N]};
        for (int l = 0; l < MOVED_LAYOUTS; l++)
            for (int to = 0; to < MOVED_LAYOUTS; to++)
                if (!layouts[to].no_row && !layouts[to].no_col)
                    try_move(types[_i % 5], &layouts[l], &layouts[to], shape);
    }
    support_free(&x);
    support_free(&out);
}
END_TEST

/* Of two inputs, whose pieces no number of blocks divides; `base` does not. */
START_TEST(turning_asks_for_all_that_is_read_next)
{
    enum { ROWS = 32, COLS = 65 };
    elementwise_dtype type = _i % 2 ? ELEMENTWISE_F64 : ELEMENTWISE_F32;
    int64_t size = (int64_t)ref_size(type);
    static double from[ROWS * COLS], to[ROWS * COLS];
    struct ew_ahead ahead[] = {{(char *)from, 71, 8, 64, false},
                               {(char *)to, 3, -8, 64, true}};
    void *const data[] = {from, ahead, to};
    const struct ew_stride stride[] = {
        {size, ROWS * size}, {0, 0}, {COLS * size, size}};
    if (!support_level(_i / 2))
        return;
    ew_table_move(_i / 2, type)(ROWS, COLS, data, stride);
    bool asks = _i / 2 > EW_LEVEL_BASE;
    ck_assert_int_eq(ahead[0].pieces + ahead[1].pieces, asks ? 0 : 74);
    ck_assert_ptr_eq(ahead[0].at, from + (asks ? 71 : 0));
    ck_assert_ptr_eq(ahead[1].at, to - (asks ? 3 : 0));
}
END_TEST

/* Columns that end where a page does, before one that nobody may read. */
START_TEST(nothing_is_read_on_a_page_that_has_no_element)
{
    enum { PAGE = 4096, COLS = 40, PAGES = 2 * COLS, MOST = 67 };
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32};
    static const int64_t steps[] = {1, 2, 3, 4, 7, 10};
    elementwise_dtype type = types[_i % 3];
    int64_t size = (int64_t)ref_size(type), step = steps[_i / 3 % 6];
    if (!support_level(_i / 18))
        return;
    ew_kernel *move = ew_table_move(_i / 18, type);
    char *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    for (int i = 0; i < PAGES * PAGE; i++)
        map[i] = (char)(i % 251);
    for (int c = 0; c < COLS; c++)
        mprotect(map + (2 * c + 1) * PAGE, PAGE, PROT_NONE);
    for (int64_t rows = 1; rows <= MOST; rows++) {
        char made[MOST * COLS * 4];
        char *from = map + PAGE - ((rows - 1) * step + 1) * size;
        void *const data[] = {from, NULL, made};
        const struct ew_stride stride[] = {
            {step * size, 2 * PAGE}, {0, 0}, {COLS * size, size}};
        move(rows, COLS, data, stride);
        for (int64_t i = 0; i < rows * COLS; i++)
            ck_assert(
                memcmp(made + i * size,
                       from + i / COLS * step * size + i % COLS * 2 * PAGE,
                       (size_t)size) == 0);
    }
    munmap(map, PAGES * PAGE);
}
END_TEST

/* Rows of a few elements that end where a page does, before one that nobody may
   read. */
START_TEST(no_page_is_read_between_short_rows)
{
    enum { PAGE = 4096, ROWS = 70, MOST = 16 };
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    const elementwise_dtype type = types[_i % 4];
    const int64_t size = (int64_t)ref_size(type);
    static char made[ROWS * MOST * 8];
    if (!support_level(_i / 4))
        return;
    char *map = mmap(NULL, 2 * ROWS * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    for (int i = 0; i < 2 * ROWS * PAGE; i++)
        map[i] = (char)(i % 251);
    for (int r = 0; r < ROWS; r++)
        mprotect(map + (2 * r + 1) * PAGE, PAGE, PROT_NONE);
    for (int64_t cols = 2; cols <= MOST; cols++)
        for (int64_t step = -5; step <= 5; step++) {
            const int64_t last = (cols - 1) * step * size;
            char *from = map + PAGE - size - (last > 0 ? last : 0);
            void *const data[] = {from, NULL, made};
            const struct ew_stride s[] = {
                {2 * PAGE, step * size}, {0, 0}, {cols * size, size}};
            ew_table_move(_i / 4, type)(ROWS, cols, data, s);
            for (int64_t i = 0; i < ROWS * cols; i++)
                ck_assert(
                    memcmp(made + i * size,
                           from + i / cols * 2 * PAGE + i % cols * step * size,
                           (size_t)size) == 0);
        }
    munmap(map, 2 * ROWS * PAGE);
}
END_TEST

/* Windows of one sequence. */
START_TEST(rows_that_overlap_are_moved_from_either_end)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    static const int64_t from[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {-1, 2}};
    if (!support_level(_i / 4))
        return;
    for (int64_t cols = 1; cols <= 17; cols++)
        for (int i = 0; i < 4; i++) {
            const int64_t shape[] = {35, cols};
            try_strides(types[_i % 4], "windows", from[i], &layouts[0], shape);
            try_strides(types[_i % 4], "windows", from[i], &layouts[1], shape);
        }
    support_free(&x);
    support_free(&out);
}
END_TEST

/* So many rows that windows of them are made dense, and a few more. */
START_TEST(rows_with_gaps_are_made_dense)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32};
    if (!support_level(_i / 3))
        return;
    for (int64_t rows = 62; rows <= 80; rows += 3)
        for (int64_t cols = 1; cols <= 17; cols++)
            for (int64_t gap = 0; gap <= 13; gap++) {
                const int64_t from[] = {cols + gap, 1}, shape[] = {rows, cols};
                try_strides(types[_i % 3], "rows", from, &layouts[0], shape);
            }
    support_free(&x);
    support_free(&out);
}
END_TEST

/* The same of rows that have gaps themselves, or are backwards, the next of
   which may begin before one ends. */
START_TEST(short_rows_of_any_step_are_made_dense)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    if (!support_level(_i / 4))
        return;
    for (int64_t rows = 62; rows <= 80; rows += 6)
        for (int64_t cols = 2; cols <= 17; cols++)
            for (int64_t step = -5; step <= 5; step++)
                for (int64_t row = cols - 1; row <= 4 * cols; row += 3) {
                    const int64_t from[] = {row, step}, shape[] = {rows, cols};
                    try_strides(types[_i % 4], "short rows", from, &layouts[0],
                                shape);
                }
    support_free(&x);
    support_free(&out);
}
END_TEST

/* So many rows that elements are numbered, and a few more or less, of elements
   that are neighbours or are gathered first. */
START_TEST(rows_of_any_length_are_spread)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_U8, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    static const int64_t rows[] = {31,  32,  33,  63,  64,  65,
                                   127, 128, 159, 161, 515, 601};
    struct layout spread = {"spread", true, 0, 1, false, true};
    if (!support_level(_i / 4))
        return;
    for (spread.stretch = -1; spread.stretch <= 5; spread.stretch++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int64_t cols = 1; spread.stretch && cols <= 34; cols++)
                try_move(types[_i % 4], &spread, &layouts[0],
                         (int64_t[]){rows[i], cols});
    support_free(&x);
    support_free(&out);
}
END_TEST

int main(void)
{
    TCase *moves = support_case("moves");
    tcase_add_loop_test(moves, moves_are_right_from_every_layout, 0,
                        EW_LEVELS * 5);
    tcase_add_loop_test(moves, turning_asks_for_all_that_is_read_next, 0,
                        EW_LEVELS * 2);
    tcase_add_loop_test(moves, rows_with_gaps_are_made_dense, 0, EW_LEVELS * 3);
    tcase_add_loop_test(moves, short_rows_of_any_step_are_made_dense, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(moves, rows_that_overlap_are_moved_from_either_end, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(moves, nothing_is_read_on_a_page_that_has_no_element, 0,
                        18 * EW_LEVELS);
    tcase_add_loop_test(moves, no_page_is_read_between_short_rows, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(moves, rows_of_any_length_are_spread, 0, EW_LEVELS * 4);
    TCase *const cases[] = {moves, NULL};
    return support_run("move", cases);
}
