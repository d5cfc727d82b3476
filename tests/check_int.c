/*
 * Divides integers of every width in all ways - bytes by every divisor, wider
 * ones where a quotient made without a division is nearest to a wrong one -
 * and compares the results with C's own. Shifts by every count are held against
 * the reference.
 */
#include <string.h>

#include "cpu.h"
#include "kernel_calls.h"
#include "reference.h"

/* ---------------------------------------------------------------------
 * Quotients and remainders, most of which are made without a division
 */

static const int divisions[] = {ELEMENTWISE_DIV, ELEMENTWISE_TRUNCDIV,
                                ELEMENTWISE_FLOORDIV, ELEMENTWISE_MOD,
                                ELEMENTWISE_FMOD};
enum {
    DIVISIONS = sizeof divisions / sizeof *divisions,
    DIVIDENDS = 256,
    LONG_ROW = 1100
};

static int64_t divided(int op, int64_t a, int64_t b)
{
    int64_t quotient = a / b, rest = a % b;
    bool down = rest != 0 && (rest < 0) != (b < 0);
    if (op == ELEMENTWISE_MOD)
        return down ? rest + b : rest;
    if (op == ELEMENTWISE_FMOD)
        return rest;
    return op == ELEMENTWISE_FLOORDIV ? quotient - down : quotient;
}

/* All bytes by one, or by others that all bytes meet as `by` goes on. */
static void try_byte(int level, int op, bool is_signed, bool one, int by)
{
    uint8_t a[DIVIDENDS], b[DIVIDENDS], got[DIVIDENDS];
    for (int i = 0; i < DIVIDENDS; i++) {
        a[i] = (uint8_t)i;
        b[i] = (uint8_t)(by * (2 * i + 1));
    }
    kernel_compute_row(level, op, is_signed ? ELEMENTWISE_I8 : ELEMENTWISE_U8,
                       DIVIDENDS, a, b, one, got);
    for (int i = 0; i < DIVIDENDS; i++) {
        uint8_t d = b[one ? 0 : i];
        int64_t right =
            is_signed ? divided(op, (int8_t)i, (int8_t)d) : divided(op, i, d);
        ck_assert_uint_eq(got[i], (uint8_t)right);
    }
}

START_TEST(bytes_are_divided_by_every_divisor)
{
    if (!support_level(_i))
        return;
    for (int by = 1; by < 256; by++)
        for (int k = 0; k < 4 * DIVISIONS; k++)
            try_byte(_i, divisions[k / 4], k & 1, k & 2, by);
}
END_TEST

/* A number of any width, near a power of two or near a multiple of another:
   where a quotient in floating point is nearest to a wrong one. */
static uint64_t draw_wide(uint64_t other)
{
    uint64_t bits = (uint64_t)support_random(INT64_MIN, INT64_MAX);
    uint64_t near = (uint64_t)support_random(0, 4) - 2;
    int by = (int)support_random(0, 63);
    switch (support_random(0, 3)) {
    case 0:
        return bits >> by;
    case 1:
        return ((uint64_t)1 << by) + near;
    case 2:
        return (bits >> by) * other + near;
    default:
        return 0 - (bits >> by);
    }
}

/* Of rows for which a divisor is prepared, and mostly of shorter ones. */
static int draw_length(void)
{
    bool is_long = support_random(0, 7) == 0;
    return is_long ? LONG_ROW : (int)support_random(1, DIVIDENDS);
}

/* Such numbers of 32 bits, as numbers of 64 and as they are stored: dividends,
   or divisors if there are no others. */
static void draw_words(bool is_signed, int n, int64_t wide[], uint32_t words[],
                       const int64_t others[])
{
    for (int i = 0; i < n; i++) {
        uint32_t word = (uint32_t)draw_wide(others ? (uint64_t)others[i] : 1);
        word += !others && (word == 0 || word == UINT32_MAX) ? 3 : 0;
        words[i] = word;
        wide[i] = is_signed ? (int32_t)word : (int64_t)word;
    }
}

static void try_words(int level, int op, bool is_signed, bool one)
{
    int64_t dividend[LONG_ROW], divisor[LONG_ROW];
    uint32_t a[LONG_ROW], b[LONG_ROW], got[LONG_ROW];
    int n = draw_length();
    draw_words(is_signed, n, divisor, b, NULL);
    draw_words(is_signed, n, dividend, a, divisor);
    kernel_compute_row(level, op, is_signed ? ELEMENTWISE_I32 : ELEMENTWISE_U32,
                       n, a, b, one, got);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(
            got[i], (uint32_t)divided(op, dividend[i], divisor[one ? 0 : i]));
}

START_TEST(words_are_divided_exactly)
{
    if (!support_level(_i))
        return;
    for (int k = 0; k < 200 * 4 * DIVISIONS; k++)
        try_words(_i, divisions[k / 4 % DIVISIONS], k & 1, k & 2);
}
END_TEST

static void try_shorts(int level, int op, bool is_signed, bool one)
{
    uint16_t a[LONG_ROW], b[LONG_ROW], got[LONG_ROW];
    int n = draw_length();
    for (int i = 0; i < n; i++) {
        b[i] = (uint16_t)draw_wide(1);
        b[i] = b[i] == 0 ? 3 : b[i];
        a[i] = (uint16_t)draw_wide(b[one ? 0 : i]);
    }
    kernel_compute_row(level, op, is_signed ? ELEMENTWISE_I16 : ELEMENTWISE_U16,
                       n, a, b, one, got);
    for (int i = 0; i < n; i++) {
        uint16_t d = b[one ? 0 : i];
        int64_t right = is_signed ? divided(op, (int16_t)a[i], (int16_t)d)
                                  : divided(op, a[i], d);
        ck_assert_uint_eq(got[i], (uint16_t)right);
    }
}

START_TEST(shorts_are_divided_exactly)
{
    if (!support_level(_i))
        return;
    for (int k = 0; k < 200 * 4 * DIVISIONS; k++)
        try_shorts(_i, divisions[k / 4 % DIVISIONS], k & 1, k & 2);
}
END_TEST

/* The last 49 bits, and the sign. */
static uint64_t cut(uint64_t n, bool is_signed)
{
    uint64_t top = (uint64_t)1 << 49;
    return is_signed ? ((n & (2 * top - 1)) ^ top) - top : n & (top - 1);
}

static uint64_t divided_wide(int op, bool is_signed, uint64_t a, uint64_t by)
{
    bool rest = op == ELEMENTWISE_MOD || op == ELEMENTWISE_FMOD;
    if (is_signed)
        return (uint64_t)divided(op, (int64_t)a, (int64_t)by);
    return rest ? a % by : a / by;
}

/* Numbers below 2^49 may be divided in another way. */
static void try_wide(int level, int op, bool is_signed, bool one, bool small)
{
    uint64_t a[DIVIDENDS], b[DIVIDENDS], got[DIVIDENDS];
    for (int i = 0; i < DIVIDENDS; i++) {
        b[i] = small ? cut(draw_wide(1), is_signed) : draw_wide(1);
        b[i] += b[i] == 0 || b[i] == UINT64_MAX ? 3 : 0;
        a[i] = draw_wide(one ? b[0] : b[i]);
        a[i] = small ? cut(a[i], is_signed) : a[i];
    }
    int64_t n = support_random(1, DIVIDENDS);
    kernel_compute_row(level, op, is_signed ? ELEMENTWISE_I64 : ELEMENTWISE_U64,
                       n, a, b, one, got);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(got[i],
                          divided_wide(op, is_signed, a[i], b[one ? 0 : i]));
}

START_TEST(wide_integers_are_divided_exactly)
{
    if (!support_level(_i))
        return;
    for (int k = 0; k < 100 * 8 * DIVISIONS; k++)
        try_wide(_i, divisions[k / 8 % DIVISIONS], k & 1, k & 2, k & 4);
}
END_TEST

/* A number that is narrow, -2^24 or 0 to 2^24 - 1, or at times one beyond, if
   any are: near a multiple of `by` that is often the largest of these. */
static int64_t draw_narrow(bool is_signed, bool beyond, int64_t by)
{
    const int64_t top = (int64_t)1 << 24, size = by < 0 ? -by : by;
    const int less = support_random(0, 1) ? 0 : (int)support_random(1, 24);
    int64_t times = (top >> less) / size;
    times = support_random(0, 1) ? times : support_random(0, times);
    int64_t n = times * size + support_random(-1, 1);
    n = is_signed && support_random(0, 1) ? -n : n < 0 ? 1 : n;
    beyond = beyond && support_random(0, 64) == 0;
    if (n < -top || n >= top)
        n = beyond ? n : n < 0 ? -top : top - 1;
    return n;
}

struct narrow {
    int level, op, between;
    elementwise_dtype type;
    bool one, past;
    enum kernel_alias alias;
};

/* Arrays of such numbers, whose quotients one division of f32 tells from
   integers; one in `between`, if not 0, is far larger. */
static void try_narrow(struct narrow t)
{
    int64_t a[LONG_ROW], b[LONG_ROW], n = support_random(1, LONG_ROW);
    _Alignas(64) char x_of[LONG_ROW * 8], y_of[LONG_ROW * 8];
    _Alignas(64) char out_of[LONG_ROW * 8];
    char *to = t.alias == KERNEL_INTO_X   ? x_of
               : t.alias == KERNEL_INTO_Y ? y_of
                                          : out_of;
    const bool is_signed = ref_is_signed(t.type);
    const int64_t size = (int64_t)ref_size(t.type);
    for (int64_t i = 0; i < n; i++) {
        b[i] = draw_narrow(is_signed, t.between, 1);
        b[i] += (b[i] == 0) * 3;
        a[i] = draw_narrow(is_signed, t.between, b[i]);
        if (t.between && support_random(0, t.between) == 0)
            a[i] += (int64_t)1 << support_random(25, 7 * size);
        memcpy(x_of + i * size, &a[i], (size_t)size);
        memcpy(y_of + i * size, &b[i], (size_t)size);
    }
    ew_table_kernel(t.level, t.op + (t.past ? EW_PAST : 0), t.type, t.type)(
        1, n, (void *[]){x_of, y_of, to},
        (struct ew_stride[]){{0, t.one ? 0 : size}, {0, size}, {0, size}});
    for (int64_t i = 0; i < n; i++) {
        int64_t right = divided(t.op, a[t.one ? 0 : i], b[i]);
        ck_assert_mem_eq(to + i * size, &right, (size_t)size);
    }
}

START_TEST(narrow_integers_are_divided_exactly)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_I32, ELEMENTWISE_U32,
                                              ELEMENTWISE_I64, ELEMENTWISE_U64};
    static const int between[] = {0, 0, 0, 2000, 50};
    struct narrow t = {.level = _i};
    for (int k = 0; support_level(_i) && k < 30 * 20 * DIVISIONS; k++) {
        t.op = divisions[k / 20 % DIVISIONS];
        t.type = types[k % 4];
        t.between = between[k / 4 % 5];
        t.one = support_random(0, 3) == 0;
        t.alias = (enum kernel_alias)(t.one ? KERNEL_APART : k % 3);
        t.past = support_random(0, 1) &&
                 ew_table_kernel(_i, t.op + EW_PAST, t.type, t.type);
        ew_cpu_tune(support_random(0, 1) ? EW_QUICK_QUOTIENTS : 0);
        try_narrow(t);
    }
    ew_cpu_tune(0);
}
END_TEST

enum { WIDE_ELEMENTS = 2500 };

/* Rows by one number each, or by others, in place, of small numbers but for one
   of the last dividends and divisors. Steps of y are in elements. */
static void try_wide_rows(int level, int op, bool is_signed,
                          const int64_t shape[2], struct ew_stride of_y)
{
    const int64_t n = shape[0] * shape[1], cols = shape[1];
    elementwise_dtype type = is_signed ? ELEMENTWISE_I64 : ELEMENTWISE_U64;
    uint64_t a[WIDE_ELEMENTS] = {0}, b[2 * WIDE_ELEMENTS], got[WIDE_ELEMENTS];
    uint64_t *by[WIDE_ELEMENTS];
    const struct ew_stride strides[] = {
        {8 * cols, 8}, {8 * of_y.row, 8 * of_y.col}, {8 * cols, 8}};
    int64_t odd = support_random(0, 3);
    for (int64_t i = 0; i < n; i++) {
        by[i] = &b[i / cols * of_y.row + i % cols * of_y.col];
        if (i % cols == 0 || of_y.col)
            *by[i] = cut(draw_wide(1), is_signed);
        *by[i] += odd == 1 && i == n - 1 ? (uint64_t)1 << 52 : 0;
        *by[i] = *by[i] + 1 <= 1 ? 7 : *by[i];
        a[i] = cut(draw_wide(*by[i]), is_signed);
    }
    a[n - 1] += odd == 2 ? (uint64_t)1 << 52 : 0;
    memcpy(got, a, sizeof got);
    ew_table_kernel(level, op, type, type)(shape[0], cols,
                                           (void *[]){got, b, got}, strides);
    for (int64_t i = 0; i < n; i++)
        ck_assert_uint_eq(got[i], divided_wide(op, is_signed, a[i], *by[i]));
}

START_TEST(wide_integers_are_divided_by_one_for_each_row)
{
    static const int64_t shapes[][2] = {{70, 8},  {33, 11}, {65, 7},  {5, 200},
                                        {3, 131}, {1, 64},  {1, 2500}};
    for (int k = 0; support_level(_i) && k < 40 * 4 * DIVISIONS; k++)
        for (int i = 0; i < 7; i++)
            try_wide_rows(_i, divisions[k / 4 % DIVISIONS], k & 1, shapes[i],
                          (struct ew_stride){k & 2 ? 3 : 1, 0});
}
END_TEST

START_TEST(wide_integers_are_divided_in_blocks)
{
    static const int64_t shapes[][2] = {{7, 16}, {5, 48}, {1, 64},
                                        {9, 17}, {4, 70}, {3, 127}};
    for (int k = 0; support_level(_i) && k < 40 * 4 * DIVISIONS; k++)
        for (int i = 0; i < 6; i++)
            try_wide_rows(_i, divisions[k / 4 % DIVISIONS], k & 1, shapes[i],
                          (struct ew_stride){k & 2 ? shapes[i][1] + 3 : 0, 1});
}
END_TEST

/* A number that any type of 32 or 64 bits holds and that counts as small, or
   any number. */
static struct ref_value draw_integer(elementwise_dtype t, uint64_t other,
                                     bool any)
{
    struct ref_value v =
        ref_integer(t, any ? draw_wide(other) : cut(draw_wide(other), true));
    if (!any && t == ELEMENTWISE_U64) /* where none is below 0 */
        v.magnitude >>= 15;
    v.magnitude += v.magnitude == 0;
    return v;
}

/* Row y, and x about multiples of it; one in `between` of each is any number.
   one: so is each row of x. */
static void draw_shared(const struct kernel *k, const int64_t shape[2],
                        bool one, int64_t between)
{
    for (int64_t r = 0; r < shape[0]; r++)
        for (int64_t c = 0; c < shape[1]; c++) {
            const int64_t index[] = {r, c};
            struct ref_value by = ref_load(k->y, ref_at(&kernel_y.t, index));
            if (r == 0)
                by = draw_integer(k->y, 1, !support_random(0, between));
            ref_store(&by, ref_at(&kernel_y.t, index));
            struct ref_value v =
                draw_integer(k->x, by.magnitude, !support_random(0, between));
            if (c == 0 || !one)
                ref_store(&v, ref_at(&kernel_x.t, index));
        }
    support_keep(&kernel_x);
    support_keep(&kernel_y);
}

/* Rows of x, or of one number each, whose ends lie anywhere in a line; also in
   place. */
static void try_shared_row(const struct kernel *k, const int64_t shape[2],
                           bool one, int64_t gap, int64_t between)
{
    const int64_t row = shape[1] + gap;
    kernel_make(&kernel_x, k->x, shape, !one, row, NULL);
    kernel_make(&kernel_y, k->y, shape, 1, 0, NULL);
    kernel_make(&kernel_out, k->out, shape, 1, row, NULL);
    draw_shared(k, shape, one, between);
    ew_cpu_tune((unsigned)support_random(0, EW_TUNINGS - 1));
    kernel_run(k, &kernel_out);
    kernel_verify(k, &kernel_out);
    if (one)
        return;
    kernel_run(k, &kernel_x);
    kernel_verify(k, &kernel_x);
}

/* Rows of less than a line, some lines, and strips of 1024 and 2048 columns of
   which the last one has little; as many rows as are worth it, and fewer. */
START_TEST(integers_are_divided_by_one_row)
{
    static const int64_t shapes[][2] = {
        {3, 40},   {4, 15},   {4, 16},  {5, 49},   {7, 33},
        {8, 7},    {8, 8},    {9, 100}, {8, 1024}, {8, 1027},
        {4, 2048}, {4, 2059}, {9, 65},  {8, 2070}, {5, 2080}};
    static const int64_t between[] = {400, KERNEL_POOL, 100 * KERNEL_POOL};
    static const elementwise_dtype types[] = {ELEMENTWISE_I32, ELEMENTWISE_U32,
                                              ELEMENTWISE_I64, ELEMENTWISE_U64};
    int level = _i / 4;
    elementwise_dtype t = types[_i % 4];
    if (!support_level(level))
        return;
    for (int i = 0; i < 15 * 2 * DIVISIONS * 2; i++) {
        struct kernel k = {.level = level, .x = t, .y = t, .out = t};
        const int64_t *shape = shapes[i / 2 % 15];
        int64_t cols = shape[1], gap = i & 1 ? (16 - cols % 16) % 16 : 1;
        k.op = divisions[i / 30 % DIVISIONS];
        bool past = i >= 30 * DIVISIONS;
        k.scalar = ew_table_kernel(EW_LEVEL_BASE, k.op, t, t);
        k.run = ew_table_kernel(level, past ? EW_PAST + k.op : k.op, t, t);
        if (!k.run)
            continue;
        try_shared_row(&k, shape, true, gap, between[(i + i / 30) % 3]);
        try_shared_row(&k, shape, false, gap, between[(i + i / 30) % 3]);
    }
    kernel_release();
}
END_TEST

/* ---------------------------------------------------------------------
 * Shifts
 */

/* Any number by counts from -8 to beyond the width, and by the lowest number,
   all of which each lane meets as `first` goes on. */
static void try_shift(int level, bool left, elementwise_dtype type,
                      bool one_count, int first)
{
    const elementwise_op op =
        left ? ELEMENTWISE_BITWISE_LEFT_SHIFT : ELEMENTWISE_BITWISE_RIGHT_SHIFT;
    const int64_t size = (int64_t)ref_size(type), bits = 8 * size;
    _Alignas(8) char a[8 * DIVIDENDS], b[8 * DIVIDENDS], got[8 * DIVIDENDS];
    const int64_t n = DIVIDENDS - first % 7;
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = (first + i) % (bits + 16) - 8;
        const int64_t end =
            count < -4 ? (int64_t)(UINT64_C(1) << (bits - 1)) : count;
        const int64_t any = support_random(INT64_MIN, INT64_MAX);
        memcpy(a + i * size, &any, (size_t)size);
        memcpy(b + i * size, &end, (size_t)size);
    }
    kernel_compute_row(level, (int)op, type, n, a, b, one_count, got);
    for (int64_t i = 0; i < n; i++) {
        struct ref_value want, x_i = ref_load(type, a + i * size);
        struct ref_value y_i = ref_load(type, b + (one_count ? 0 : i * size));
        char right_i[8];
        ck_assert_int_eq(ref_compute(op, &x_i, &y_i, &want), 0);
        ref_store(&want, right_i);
        ck_assert(ref_same(type, right_i, got + i * size));
    }
}

START_TEST(integers_are_shifted_by_every_count)
{
    if (!support_level(_i))
        return;
    for (int type = ELEMENTWISE_I8; type <= ELEMENTWISE_U64; type++)
        for (int first = 0; first < 80; first++)
            for (int k = 0; k < 4; k++)
                try_shift(_i, k & 1, (elementwise_dtype)type, k & 2, first);
}
END_TEST

int main(void)
{
    TCase *integers = support_case("integers");
    tcase_add_loop_test(integers, bytes_are_divided_by_every_divisor, 0,
                        EW_LEVELS);
    tcase_add_loop_test(integers, shorts_are_divided_exactly, 0, EW_LEVELS);
    tcase_add_loop_test(integers, words_are_divided_exactly, 0, EW_LEVELS);
    tcase_add_loop_test(integers, wide_integers_are_divided_exactly, 0,
                        EW_LEVELS);
    tcase_add_loop_test(integers, narrow_integers_are_divided_exactly, 0,
                        EW_LEVELS);
    tcase_add_loop_test(integers, wide_integers_are_divided_by_one_for_each_row,
                        0, EW_LEVELS);
    tcase_add_loop_test(integers, wide_integers_are_divided_in_blocks, 0,
                        EW_LEVELS);
    tcase_add_loop_test(integers, integers_are_divided_by_one_row, 0,
                        EW_LEVELS * 4);
    tcase_add_loop_test(integers, integers_are_shifted_by_every_count, 0,
                        EW_LEVELS);
    TCase *const cases[] = {integers, NULL};
    return support_run("int", cases);
}
