/*
 * Puts zeros and negative exponents where integer division and power must
 * find them before anything is written: in the last element, behind strides,
 * in operands that are stretched, in other types than the computation's; and
 * where they must not be found, in gaps, in pairs that never meet, in
 * unsigned and in floating types.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "support.h"

static const elementwise_op divisions[] = {
    ELEMENTWISE_DIV, ELEMENTWISE_MOD, ELEMENTWISE_FLOORDIV,
    ELEMENTWISE_TRUNCDIV, ELEMENTWISE_FMOD};
enum { DIVISIONS = sizeof divisions / sizeof *divisions };

enum { MOST = 5000 };
static _Alignas(64) char x_data[8 * MOST], y_data[8 * MOST];
static _Alignas(64) char out_data[8 * MOST], untouched[8 * MOST];

/* Writes an integer as element i of a type of integers or bool. */
static void put(char *data, elementwise_dtype dtype, int64_t i, int64_t value)
{
    size_t size = elementwise_dtype_size(dtype);
    const union {
        int64_t i64;
        int32_t i32;
        int16_t i16;
        int8_t i8;
    } v[] = {{.i8 = (int8_t)value},
             {.i16 = (int16_t)value},
             {.i32 = (int32_t)value},
             {.i64 = value}};
    int which = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    memcpy(data + (size_t)i * size, &v[which], size);
}

static void fill(char *data, elementwise_dtype dtype, int64_t n, int64_t value)
{
    for (int64_t i = 0; i < n; i++)
        put(data, dtype, i, value);
}

/* The call, on each level; a fault has touched neither out nor errno. */
static void expect(elementwise_op op, const elementwise_tensor *x,
                   const elementwise_tensor *y, const elementwise_tensor *out,
                   bool fault)
{
    for (int level = 0; level < EW_LEVELS; level++) {
        ew_cpu_limit(level);
        memset(out_data, 0x5a, sizeof out_data);
        memset(untouched, 0x5a, sizeof untouched);
        errno = 77;
        elementwise_status status = elementwise_apply(op, x, y, -1, out, NULL);
        ck_assert_msg(
            status == (fault ? ELEMENTWISE_DIVISION_BY_ZERO : ELEMENTWISE_OK),
            "%s %s of %s by %s: %s", ew_cpu_name(level),
            elementwise_op_name(op), elementwise_dtype_name(x->dtype),
            elementwise_dtype_name(y->dtype), elementwise_status_name(status));
        ck_assert_int_eq(errno, 77);
        if (!fault)
            continue;
        ck_assert_mem_eq(out_data, untouched, sizeof out_data);
        ck_assert(strstr(elementwise_last_error(), elementwise_op_name(op)));
        ck_assert(strstr(elementwise_last_error(), "out is untouched"));
    }
    ew_cpu_limit(EW_LEVELS);
}

/* x and y of n elements of these types, all of them 1; out of the result's
   type. */
struct line {
    int64_t n;
    elementwise_tensor x, y, out;
};

static void make_line(struct line *l, elementwise_op op, int64_t n,
                      elementwise_dtype dx, elementwise_dtype dy)
{
    l->n = n;
    l->x = (elementwise_tensor){x_data, dx, 1, &l->n, NULL};
    l->y = (elementwise_tensor){y_data, dy, 1, &l->n, NULL};
    l->out = (elementwise_tensor){out_data, dx, 1, &l->n, NULL};
    ck_assert_int_eq(elementwise_result_type(op, dx, dy, &l->out.dtype), 0);
    fill(x_data, dx, n, 1);
    fill(y_data, dy, n, 1);
}

START_TEST(a_single_zero_in_y_is_found)
{
    static const int64_t lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 1000};
    elementwise_dtype dtype = (elementwise_dtype)_i;
    struct line l;
    for (int d = 0; d < DIVISIONS; d++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            int64_t n = lengths[k];
            make_line(&l, divisions[d], n, dtype, dtype);
            put(y_data, dtype, n, 0); /* just behind the end */
            expect(divisions[d], &l.x, &l.y, &l.out, false);
            for (int64_t at = n - 1; at >= 0; at -= 1 + n / 3) {
                put(y_data, dtype, at, 0);
                expect(divisions[d], &l.x, &l.y, &l.out, true);
                put(y_data, dtype, at, 1);
            }
        }
}
END_TEST

/* A value whose lower half, or whose single bytes, are 0 is none. */
START_TEST(what_looks_like_zero_in_part_is_none)
{
    static const elementwise_dtype types[] = {ELEMENTWISE_I16, ELEMENTWISE_I32,
                                              ELEMENTWISE_I64, ELEMENTWISE_U16,
                                              ELEMENTWISE_U32, ELEMENTWISE_U64};
    struct line l;
    for (int t = 0; t < 6; t++) {
        int bits = 8 * (int)elementwise_dtype_size(types[t]);
        make_line(&l, ELEMENTWISE_DIV, 100, types[t], types[t]);
        for (int64_t i = 0; i < 100; i++)
            put(y_data, types[t], i, (int64_t)(1ull << (i % bits)));
        expect(ELEMENTWISE_DIV, &l.x, &l.y, &l.out, false);
    }
}
END_TEST

/* Every second element of y counts, forwards or backwards; zeros between
   them do not. */
START_TEST(zeros_in_gaps_are_not_seen)
{
    struct line l;
    int64_t strides[] = {2, -2};
    for (int k = 0; k < 2; k++) {
        make_line(&l, ELEMENTWISE_MOD, 100, ELEMENTWISE_I32, ELEMENTWISE_I32);
        l.y.strides = &strides[k];
        l.y.data = y_data + (k ? 4 * 198 : 0);
        for (int64_t i = 0; i < 200; i++)
            put(y_data, ELEMENTWISE_I32, i, i % 2 ? 0 : 3);
        expect(ELEMENTWISE_MOD, &l.x, &l.y, &l.out, false);
        for (int64_t i = 0; i < 200; i += 66) {
            put(y_data, ELEMENTWISE_I32, i, 0);
            expect(ELEMENTWISE_MOD, &l.x, &l.y, &l.out, true);
            put(y_data, ELEMENTWISE_I32, i, 3);
        }
    }
}
END_TEST

/* Where element i of three dimensions lies. */
static int64_t place(const int64_t n[], const int64_t s[], int64_t i)
{
    return i / n[2] / n[1] * s[0] + i / n[2] % n[1] * s[1] + i % n[2] * s[2];
}

/* So many that y is made dense first, of one row or of short ones. Zeros fill
   what lies between them. */
START_TEST(zeros_are_found_in_many_elements_with_gaps)
{
    static const struct {
        int64_t shape[3], strides[3];
    } layouts[] = {{{1, 1, 1500}, {0, 0, 3}},
                   {{1, 120, 15}, {0, 18, 1}},
                   {{1, 40, 50}, {0, 100, 2}},
                   {{3, 20, 25}, {1500, 1, 60}},
                   {{2, 100, 5}, {2000, 10, 2}}};
    static const elementwise_op op = ELEMENTWISE_DIV;
    elementwise_dtype dtype = (elementwise_dtype)_i;
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        const int64_t *n = layouts[k].shape, *s = layouts[k].strides;
        int64_t all = n[0] * n[1] * n[2];
        elementwise_tensor x = {x_data, dtype, 3, n, NULL};
        elementwise_tensor out = {out_data, dtype, 3, n, NULL};
        elementwise_tensor y = {y_data, dtype, 3, n, s};
        fill(x_data, dtype, MOST, 1);
        fill(y_data, dtype, MOST, 0);
        for (int64_t i = 0; i < all; i++)
            put(y_data, dtype, place(n, s, i), 1);
        expect(op, &x, &y, &out, false);
        for (int64_t i = all - 1; i >= 0; i -= 1 + all / 7) {
            put(y_data, dtype, place(n, s, i), 0);
            expect(op, &x, &y, &out, true);
            put(y_data, dtype, place(n, s, i), 1);
        }
    }
}
END_TEST

START_TEST(zeros_in_a_stretched_y_are_found)
{
    int64_t shape[] = {40, 30}, row[] = {30}, column[] = {40, 1},
            still[] = {0, 0};
    elementwise_tensor x = {x_data, ELEMENTWISE_I64, 2, shape, NULL};
    elementwise_tensor out = {out_data, ELEMENTWISE_I64, 2, shape, NULL};
    elementwise_tensor y[] = {{y_data, ELEMENTWISE_I64, 1, row, NULL},
                              {y_data, ELEMENTWISE_I64, 2, column, NULL},
                              {y_data, ELEMENTWISE_I64, 0, NULL, NULL},
                              {y_data, ELEMENTWISE_I64, 2, shape, still}};
    static const int last[] = {29, 39, 0, 0};
    fill(x_data, ELEMENTWISE_I64, 1200, 0);
    for (int k = 0; k < 4; k++) {
        fill(y_data, ELEMENTWISE_I64, 1200, 7);
        expect(ELEMENTWISE_FLOORDIV, &x, &y[k], &out, false);
        put(y_data, ELEMENTWISE_I64, last[k] + 1, 0);
        expect(ELEMENTWISE_FLOORDIV, &x, &y[k], &out, false);
        put(y_data, ELEMENTWISE_I64, last[k], 0);
        expect(ELEMENTWISE_FLOORDIV, &x, &y[k], &out, true);
    }
}
END_TEST

/* A y of another type is looked at as it is stored; so is bool, where false
   is 0. */
START_TEST(zeros_in_a_y_of_another_type_are_found)
{
    elementwise_dtype dy = (elementwise_dtype)_i;
    for (int d = ELEMENTWISE_I8; d <= ELEMENTWISE_U64; d++) {
        elementwise_dtype dx = (elementwise_dtype)d, result;
        struct line l;
        make_line(&l, ELEMENTWISE_FMOD, 3000, dx, dy);
        put(y_data, dy, 2999, 0);
        elementwise_result_type(ELEMENTWISE_FMOD, dx, dy, &result);
        expect(ELEMENTWISE_FMOD, &l.x, &l.y, &l.out, result != ELEMENTWISE_F64);
    }
}
END_TEST

START_TEST(floats_divide_by_zero)
{
    int64_t n = 20;
    elementwise_tensor x = {x_data, ELEMENTWISE_F32, 1, &n, NULL};
    elementwise_tensor y = {y_data, ELEMENTWISE_I8, 1, &n, NULL};
    elementwise_tensor out = {out_data, ELEMENTWISE_F32, 1, &n, NULL};
    memset(x_data, 0, sizeof x_data);
    memset(y_data, 0, sizeof y_data);
    for (int d = 0; d < DIVISIONS; d++)
        expect(divisions[d], &x, &y, &out, false);
    expect(ELEMENTWISE_POW, &x, &y, &out, false);
}
END_TEST

START_TEST(an_out_of_a_wider_type_stays_untouched)
{
    struct line l;
    make_line(&l, ELEMENTWISE_DIV, 100, ELEMENTWISE_I16, ELEMENTWISE_I16);
    for (int d = ELEMENTWISE_F32; d <= ELEMENTWISE_F64; d++) {
        l.out.dtype = (elementwise_dtype)d;
        put(y_data, ELEMENTWISE_I16, 99, 1);
        expect(ELEMENTWISE_DIV, &l.x, &l.y, &l.out, false);
        put(y_data, ELEMENTWISE_I16, 99, 0);
        expect(ELEMENTWISE_DIV, &l.x, &l.y, &l.out, true);
    }
}
END_TEST

START_TEST(in_place_nothing_is_lost)
{
    int64_t n = 100;
    elementwise_tensor x = {out_data, ELEMENTWISE_I32, 1, &n, NULL};
    elementwise_tensor y = {y_data, ELEMENTWISE_I32, 1, &n, NULL};
    fill(y_data, ELEMENTWISE_I32, n, 1);
    put(y_data, ELEMENTWISE_I32, 99, 0);
    expect(ELEMENTWISE_DIV, &x, &y, &x, true);
    expect(ELEMENTWISE_DIV, &y, &x, &x, false);
}
END_TEST

START_TEST(no_elements_are_no_fault)
{
    int64_t none[] = {0, 3}, row[] = {3};
    elementwise_tensor x = {x_data, ELEMENTWISE_I32, 2, none, NULL};
    elementwise_tensor y = {y_data, ELEMENTWISE_I32, 1, row, NULL};
    elementwise_tensor out = {out_data, ELEMENTWISE_I32, 2, none, NULL};
    fill(y_data, ELEMENTWISE_I32, 3, 0);
    expect(ELEMENTWISE_DIV, &x, &y, &out, false);
}
END_TEST

START_TEST(the_smallest_integer_by_minus_one_is_no_fault)
{
    struct line l;
    for (int d = 0; d < DIVISIONS; d++)
        for (int t = ELEMENTWISE_I8; t <= ELEMENTWISE_I64; t++) {
            elementwise_dtype dtype = (elementwise_dtype)t;
            int bits = 8 * (int)elementwise_dtype_size(dtype);
            make_line(&l, divisions[d], 70, dtype, dtype);
            fill(x_data, dtype, 70, INT64_MIN >> (64 - bits));
            fill(y_data, dtype, 70, -1);
            expect(divisions[d], &l.x, &l.y, &l.out, false);
        }
}
END_TEST

START_TEST(a_zero_to_a_negative_power_is_found)
{
    elementwise_dtype dy = (elementwise_dtype)_i;
    for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_U64; d++) {
        elementwise_dtype dx = (elementwise_dtype)d;
        struct line l;
        make_line(&l, ELEMENTWISE_POW, 3000, dx, dy);
        if (l.out.dtype >= ELEMENTWISE_F16)
            continue; /* u64 with a signed type is computed in f64 */
        put(y_data, dy, 2999, -1);
        put(x_data, dx, 2998, 0);
        expect(ELEMENTWISE_POW, &l.x, &l.y, &l.out, false);
        put(x_data, dx, 2999, 0);
        expect(ELEMENTWISE_POW, &l.x, &l.y, &l.out, true);
        elementwise_options past = ELEMENTWISE_OPTIONS_INIT;
        past.flags = ELEMENTWISE_STREAM;
        ck_assert_int_eq(
            elementwise_apply(ELEMENTWISE_POW, &l.x, &l.y, -1, &l.out, &past),
            ELEMENTWISE_DIVISION_BY_ZERO);
        elementwise_tensor wide = l.out;
        wide.dtype = ELEMENTWISE_F64;
        expect(ELEMENTWISE_POW, &l.x, &l.y, &wide, true);
        put(y_data, dy, 2999, 0);
        expect(ELEMENTWISE_POW, &l.x, &l.y, &l.out, false);
    }
}
END_TEST

START_TEST(unsigned_exponents_are_never_negative)
{
    elementwise_dtype dy = (elementwise_dtype)_i;
    struct line l;
    for (int d = ELEMENTWISE_I8; d <= ELEMENTWISE_U64; d++) {
        make_line(&l, ELEMENTWISE_POW, 100, (elementwise_dtype)d, dy);
        fill(x_data, l.x.dtype, 100, 0);
        fill(y_data, dy, 100, -1);
        expect(ELEMENTWISE_POW, &l.x, &l.y, &l.out, false);
    }
}
END_TEST

/* x (40,1) and y (30): every pair is met, though no pair of indices of
   either operand alone is bad. 256 is a 0 only to who reads one byte. */
START_TEST(pairs_are_met_by_broadcasting)
{
    int64_t shape[] = {40, 30}, column[] = {40, 1}, row[] = {30};
    elementwise_tensor x = {x_data, ELEMENTWISE_I32, 2, column, NULL};
    elementwise_tensor y = {y_data, ELEMENTWISE_I8, 1, row, NULL};
    elementwise_tensor out = {out_data, ELEMENTWISE_I32, 2, shape, NULL};
    fill(x_data, ELEMENTWISE_I32, 40, 256);
    fill(y_data, ELEMENTWISE_I8, 30, 3);
    put(x_data, ELEMENTWISE_I32, 39, 0);
    expect(ELEMENTWISE_POW, &x, &y, &out, false);
    put(y_data, ELEMENTWISE_I8, 0, -3);
    expect(ELEMENTWISE_POW, &x, &y, &out, true);
    put(x_data, ELEMENTWISE_I32, 39, 5);
    expect(ELEMENTWISE_POW, &x, &y, &out, false);
}
END_TEST

/* What a tile has of y is kept for the steps of dimension 0; the search has a
   loop less. */
START_TEST(pairs_are_met_where_an_input_is_kept)
{
    enum { A = 7, B = 16, C = 32, APART = 16 };
    static int32_t far[A * B * C * APART];
    int64_t shape[] = {A, B, C}, across[] = {0, 1, B};
    int64_t of_x[] = {APART, A * APART, A * B * APART};
    elementwise_tensor x = {far, ELEMENTWISE_I32, 3, shape, of_x};
    elementwise_tensor y = {y_data, ELEMENTWISE_I8, 3, shape, across};
    elementwise_tensor out = {out_data, ELEMENTWISE_I32, 3, shape, NULL};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        far[i] = i % APART == 0; /* zeros in gaps */
    fill(y_data, ELEMENTWISE_I8, (int64_t)B * C, 3);
    put(y_data, ELEMENTWISE_I8, (int64_t)B * C - 1, -3);
    expect(ELEMENTWISE_POW, &x, &y, &out, false);
    far[(A * B * C - 1) * APART] = 0;
    expect(ELEMENTWISE_POW, &x, &y, &out, true);
}
END_TEST

START_TEST(a_plan_finds_faults_at_every_run)
{
    struct line l;
    elementwise_plan *plan;
    make_line(&l, ELEMENTWISE_DIV, 10, ELEMENTWISE_I32, ELEMENTWISE_I32);
    ck_assert_int_eq(elementwise_plan_create(&plan, ELEMENTWISE_DIV, &l.x, &l.y,
                                             -1, &l.out, NULL),
                     ELEMENTWISE_OK);
    for (int i = 0; i < 4; i++) {
        put(y_data, ELEMENTWISE_I32, 9, i % 2);
        ck_assert_int_eq(elementwise_plan_run(plan, x_data, y_data, out_data),
                         i % 2 ? ELEMENTWISE_OK : ELEMENTWISE_DIVISION_BY_ZERO);
    }
    elementwise_plan_destroy(plan);
}
END_TEST

/* Random matrices in which faults are rare, their two operands strided,
   stretched and of random types, against a look at every pair. */
struct side {
    elementwise_dtype dtype;
    int64_t shape[2], strides[2];
    int64_t value[600];
};

static void draw_side(struct side *s, int64_t rows, int64_t cols, bool power)
{
    s->dtype =
        (elementwise_dtype)support_random(ELEMENTWISE_I8, ELEMENTWISE_U32);
    s->shape[0] = support_random(0, 2) ? rows : 1;
    s->shape[1] = support_random(0, 2) ? cols : 1;
    bool transposed = support_random(0, 1);
    s->strides[0] = transposed ? 1 : s->shape[1];
    s->strides[1] = transposed ? s->shape[0] : 1;
    bool is_signed = s->dtype <= ELEMENTWISE_I64;
    for (int i = 0; i < 600; i++) {
        s->value[i] = support_random(0, 250) ? 1 + i % 3 : 0;
        if (power && is_signed && support_random(0, 60) == 0)
            s->value[i] = -1;
    }
}

static int64_t value_at(const struct side *s, int64_t r, int64_t c)
{
    return s->value[(s->shape[0] > 1 ? r * s->strides[0] : 0) +
                    (s->shape[1] > 1 ? c * s->strides[1] : 0)];
}

static elementwise_tensor store_side(const struct side *s, char *data)
{
    for (int64_t i = 0; i < s->shape[0] * s->shape[1]; i++)
        put(data, s->dtype, i, s->value[i]);
    return (elementwise_tensor){data, s->dtype, 2, s->shape, s->strides};
}

static bool has_fault(const struct side *x, const struct side *y, int64_t rows,
                      int64_t cols, bool power)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            int64_t a = value_at(x, r, c), b = value_at(y, r, c);
            if (power ? a == 0 && b < 0 : b == 0)
                return true;
        }
    return false;
}

START_TEST(random_faults_are_found_exactly)
{
    static struct side sx, sy;
    int faults = 0;
    for (int round = 0; round < 3000; round++) {
        bool power = round % 2;
        int64_t rows = support_random(1, 20), cols = support_random(1, 30);
        draw_side(&sx, rows, cols, false);
        draw_side(&sy, rows, cols, power);
        int64_t shape[2];
        for (int i = 0; i < 2; i++)
            shape[i] = sx.shape[i] > 1 ? sx.shape[i] : sy.shape[i];
        elementwise_op op = power ? ELEMENTWISE_POW : divisions[round / 2 % 5];
        elementwise_tensor x = store_side(&sx, x_data);
        elementwise_tensor y = store_side(&sy, y_data);
        elementwise_tensor out = {out_data, ELEMENTWISE_I64, 2, shape, NULL};
        elementwise_result_type(op, x.dtype, y.dtype, &out.dtype);
        bool integers = out.dtype <= ELEMENTWISE_U64;
        bool fault = integers && has_fault(&sx, &sy, shape[0], shape[1], power);
        faults += fault;
        expect(op, &x, &y, &out, fault);
    }
    ck_assert_int_gt(faults, 100);
    ck_assert_int_lt(faults, 2900);
}
END_TEST

int main(void)
{
    TCase *zeros = support_case("zeros");
    TCase *powers = support_case("powers");
    tcase_add_loop_test(zeros, a_single_zero_in_y_is_found, ELEMENTWISE_I8,
                        ELEMENTWISE_U64 + 1);
    tcase_add_test(zeros, what_looks_like_zero_in_part_is_none);
    tcase_add_test(zeros, zeros_in_gaps_are_not_seen);
    tcase_add_loop_test(zeros, zeros_are_found_in_many_elements_with_gaps,
                        ELEMENTWISE_I8, ELEMENTWISE_U64 + 1);
    tcase_add_test(zeros, zeros_in_a_stretched_y_are_found);
    tcase_add_loop_test(zeros, zeros_in_a_y_of_another_type_are_found,
                        ELEMENTWISE_BOOL, ELEMENTWISE_U64 + 1);
    tcase_add_test(zeros, floats_divide_by_zero);
    tcase_add_test(zeros, an_out_of_a_wider_type_stays_untouched);
    tcase_add_test(zeros, in_place_nothing_is_lost);
    tcase_add_test(zeros, no_elements_are_no_fault);
    tcase_add_test(zeros, the_smallest_integer_by_minus_one_is_no_fault);
    tcase_add_loop_test(powers, a_zero_to_a_negative_power_is_found,
                        ELEMENTWISE_I8, ELEMENTWISE_I64 + 1);
    tcase_add_loop_test(powers, unsigned_exponents_are_never_negative,
                        ELEMENTWISE_BOOL, ELEMENTWISE_BOOL + 1);
    tcase_add_loop_test(powers, unsigned_exponents_are_never_negative,
                        ELEMENTWISE_U8, ELEMENTWISE_U64 + 1);
    tcase_add_test(powers, pairs_are_met_by_broadcasting);
    tcase_add_test(powers, pairs_are_met_where_an_input_is_kept);
    tcase_add_test(powers, a_plan_finds_faults_at_every_run);
    tcase_add_test(powers, random_faults_are_found_exactly);
    TCase *const cases[] = {zeros, powers, NULL};
    return support_run("fault", cases);
}
