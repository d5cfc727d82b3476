/*
 * The fast path: which calls it takes, that it leaves all others alone, and
 * that what it computes is what the reference does.
 */
#include <check.h>
#include <limits.h>

#include "../tools/call.h"
#include "cpu.h"
#include "dense.h"
#include "reference.h"
#include "support.h"
#include "table.h"

static struct support_tensor x, y, out;

static void make(const struct support_shapes *s, elementwise_dtype type,
                 elementwise_dtype result)
{
    support_make(&x, type, s->x_ndim, s->x, NULL, SUPPORT_HIGH);
    support_make(&y, type, s->y_ndim, s->y, NULL, SUPPORT_LOW);
    support_make(&out, result, s->ndim, s->out, NULL, SUPPORT_HIGH);
    support_fill(&x);
    support_fill(&y);
    support_keep(&x);
    support_keep(&y);
    support_keep(&out);
}

static void release(void)
{
    support_free(&x);
    support_free(&y);
    support_free(&out);
}

static bool taken;

static elementwise_status decline(const elementwise_tensor *a,
                                  const elementwise_tensor *b, int axis,
                                  const elementwise_tensor *to,
                                  elementwise_op op)
{
    (void)op, (void)a, (void)b, (void)axis, (void)to;
    taken = false;
    return ELEMENTWISE_OK;
}

/* Whether the fast path takes a call; it is run then. */
static bool takes(elementwise_op op, const elementwise_tensor *a,
                  const elementwise_tensor *b, int axis,
                  const elementwise_tensor *to)
{
    taken = true;
    ck_assert_int_eq(ew_dense_run(a, b, axis, to, op, decline), ELEMENTWISE_OK);
    return taken;
}

static bool has_elements(const struct support_shapes *s)
{
    for (int i = 0; i < s->ndim; i++)
        if (s->out[i] == 0)
            return false;
    return true;
}

/* As in a new process, or, late, as a thread may see what another one finds. */
static void forget(bool late)
{
    ew_cpu_limit(EW_LEVELS);
    atomic_store(&ew_table_now, NULL);
    if (!late)
        atomic_store(&ew_cpu_known, 0);
}

/* Of one shape, with a row, and with a number. */
START_TEST(first_calls_are_taken)
{
    int64_t shape[] = {2, 3};
    int32_t a[] = {9, 8, 7, 6, 5, 4}, b[] = {2, 3, 4, 2, 3, 4}, o[6];
    for (int i = 0; i < 12; i++) {
        const bool late = i & 1, divides = i & 2;
        const elementwise_op op =
            divides ? ELEMENTWISE_FLOORDIV : ELEMENTWISE_SUB;
        const elementwise_tensor tx = {a, ELEMENTWISE_I32, 2, shape, NULL};
        const elementwise_tensor ty = {b, ELEMENTWISE_I32, 2 - i / 4,
                                       shape + i / 4, NULL};
        const elementwise_tensor to = {o, ELEMENTWISE_I32, 2, shape, NULL};
        forget(late);
        ck_assert(takes(op, &tx, &ty, -1, &to));
        for (int k = 0; k < 6; k++) {
            int32_t v = b[ty.ndim == 2 ? k : ty.ndim == 1 ? k % 3 : 0];
            ck_assert_int_eq(o[k], divides ? a[k] / v : a[k] - v);
        }
        b[0] = 0; /* what looks for that is not known either */
        forget(late);
        ck_assert_int_eq(takes(op, &tx, &ty, -1, &to), !divides);
        b[0] = 2;
    }
}
END_TEST

START_TEST(row_major_calls_are_taken_and_right)
{
    static const elementwise_op ops[] = {ELEMENTWISE_SUB, ELEMENTWISE_MAX,
                                         ELEMENTWISE_LESS_THAN};
    int rounds = support_long() ? 200000 : 3000;
    for (int round = 0; round < rounds; round++) {
        struct support_shapes s;
        elementwise_op op = ops[round % 3];
        elementwise_dtype type = round & 1 ? ELEMENTWISE_F32 : ELEMENTWISE_I64;
        support_pair(6, 5, &s);
        make(&s, type, op == ELEMENTWISE_LESS_THAN ? ELEMENTWISE_BOOL : type);
        if (takes(op, &x.t, &y.t, s.axis, &out.t))
            support_verify(ELEMENTWISE_OK, op, &x, &y, s.axis, &out);
        else
            ck_assert(!has_elements(&s) || s.ndim > 1);
    }
    release();
}
END_TEST

/* The same number in all operands, which are of one type and one rank then. */
START_TEST(unknown_numbers_are_left_alone)
{
    static const int ops[] = {INT_MIN, -1, 0, 34, 99, INT_MAX};
    static const int types[] = {INT_MIN, -1, 0, 16, 32, INT_MAX};
    static const int ranks[] = {INT_MIN, -1, 64, 65, INT_MAX};
    int64_t ones[65];
    int32_t a[2] = {1, 1}, o[2] = {3, 3};
    for (int i = 0; i < 65; i++)
        ones[i] = 1;
    for (int i = 0; i < 6; i++)
        for (int rank = 0; rank < 2; rank++) {
            elementwise_tensor t = {a, ELEMENTWISE_I32, 1, ones, NULL},
                               other = t;
            elementwise_tensor to = {o, ELEMENTWISE_I32, 1, ones, NULL};
            other.ndim = rank;
            ck_assert(!takes((elementwise_op)ops[i], &t, &other, -1, &to));
            t.dtype = other.dtype = to.dtype = (elementwise_dtype)types[i];
            ck_assert(!takes(ELEMENTWISE_ADD, &t, &other, -1, &to));
            ck_assert(!takes(ELEMENTWISE_DIV, &t, &other, -1, &to));
            t.dtype = other.dtype = to.dtype = ELEMENTWISE_I32;
            t.ndim = to.ndim = ranks[i % 5];
            other.ndim = rank ? t.ndim : 0;
            ck_assert(!takes(ELEMENTWISE_ADD, &t, &other, -1, &to));
            ck_assert(!takes(ELEMENTWISE_DIV, &t, &other, -1, &to));
        }
    ck_assert(o[0] == 3 && o[1] == 3);
}
END_TEST

/* y has x's rank and, at dimension 1, fewer dimensions than it. */
START_TEST(trailing_ones_do_not_count)
{
    int64_t square[] = {3, 3}, column[] = {3, 1};
    float a[9] = {0}, b[] = {1, 2, 3}, o[9];
    const elementwise_tensor tx = {a, ELEMENTWISE_F32, 2, square, NULL};
    const elementwise_tensor ty = {b, ELEMENTWISE_F32, 2, column, NULL};
    const elementwise_tensor to = {o, ELEMENTWISE_F32, 2, square, NULL};
    for (int axis = -1; axis < 2; axis++) {
        ck_assert(takes(ELEMENTWISE_ADD, &tx, &ty, axis, &to));
        for (int i = 0; i < 9; i++)
            ck_assert(o[i] == b[axis == 1 ? i % 3 : i / 3]);
    }
}
END_TEST

/* Quotients of integers: alike, or one operand of rank 0. */
static void make_quotient(elementwise_dtype type, int round)
{
    struct support_shapes s = {.ndim = 2};
    s.x_ndim = round % 3 == 1 ? 0 : 2;
    s.y_ndim = round % 3 == 2 ? 0 : 2;
    s.x[0] = s.y[0] = s.out[0] = 3;
    s.x[1] = s.y[1] = s.out[1] = 1 + round % 41;
    make(&s, type, type);
    support_no_zeros(&y);
    support_keep(&y);
}

/* The plan says where the zero is, so nothing may be done before. */
START_TEST(quotients_of_integers_are_taken_if_y_has_no_zero)
{
    static const elementwise_op ops[] = {ELEMENTWISE_DIV, ELEMENTWISE_FLOORDIV,
                                         ELEMENTWISE_MOD, ELEMENTWISE_TRUNCDIV,
                                         ELEMENTWISE_FMOD};
    for (int round = 0; round < 5 * 8 * 41 * 3; round++) {
        elementwise_op op = ops[round % 5];
        elementwise_dtype type = ELEMENTWISE_I8 + round / 5 % 8;
        make_quotient(type, round);
        ck_assert(takes(op, &x.t, &y.t, -1, &out.t));
        support_verify(ELEMENTWISE_OK, op, &x, &y, -1, &out);
        int64_t size = (int64_t)ref_size(type);
        int64_t n = y.t.ndim ? y.t.shape[0] * y.t.shape[1] : 1;
        memset((char *)y.t.data + round % n * size, 0, (size_t)size);
        support_keep(&out);
        ck_assert(!takes(op, &x.t, &y.t, -1, &out.t));
        ck_assert(support_same(&out));
    }
    release();
}
END_TEST

/* Without results a zero is at no fault. */
START_TEST(quotients_by_a_stretched_y_are_taken_if_it_has_no_zero)
{
    static const elementwise_op ops[] = {ELEMENTWISE_DIV, ELEMENTWISE_FLOORDIV,
                                         ELEMENTWISE_MOD};
    int rounds = support_long() ? 100000 : 3000, found = 0;
    for (int round = 0; round < rounds; round++) {
        struct support_shapes s;
        elementwise_op op = ops[round % 3];
        elementwise_dtype type = ELEMENTWISE_I8 + round % 8;
        support_pair(5, 9, &s);
        make(&s, type, type);
        support_no_zeros(&y);
        support_keep(&y);
        if (!takes(op, &x.t, &y.t, s.axis, &out.t) || !has_elements(&s))
            continue;
        support_verify(ELEMENTWISE_OK, op, &x, &y, s.axis, &out);
        int64_t size = (int64_t)ref_size(type), n = 1;
        for (int i = 0; i < y.t.ndim; i++)
            n *= y.t.shape[i];
        memset((char *)y.t.data + round % n * size, 0, (size_t)size);
        support_keep(&out);
        ck_assert(!takes(op, &x.t, &y.t, s.axis, &out.t));
        ck_assert(support_same(&out));
        found++;
    }
    ck_assert_int_ge(found, rounds / 4);
    release();
}
END_TEST

/* Whose nest has no loop, or none but of no elements. */
START_TEST(quotients_of_one_element_or_none_are_taken_whatever_their_rank)
{
    int32_t a = 7, b = 2, o = 0;
    int64_t ones[] = {1, 1}, none[] = {1, 0};
    elementwise_tensor tx = {&a, ELEMENTWISE_I32, 1, ones, NULL};
    elementwise_tensor ty = {&b, ELEMENTWISE_I32, 2, ones, NULL};
    elementwise_tensor to = {&o, ELEMENTWISE_I32, 2, ones, NULL};
    ck_assert(takes(ELEMENTWISE_FLOORDIV, &tx, &ty, -1, &to));
    ck_assert_int_eq(o, 3);
    b = 0;
    ck_assert(!takes(ELEMENTWISE_FLOORDIV, &tx, &ty, -1, &to));
    ck_assert_int_eq(o, 3);
    ty.shape = to.shape = none;
    ck_assert(takes(ELEMENTWISE_FLOORDIV, &tx, &ty, -1, &to));
    ck_assert_int_eq(o, 3);
}
END_TEST

/* One thing after the other that a plan has to decide on. */
START_TEST(what_is_not_simple_is_left_alone)
{
    int64_t shape[] = {2, 3}, other[] = {2, 2}, none[] = {0, 3};
    int64_t strides[] = {3, 1}, many[] = {600, 3}, row[] = {3},
            column[] = {600, 1};
    int64_t negative[] = {2, -1};
    float a[6] = {1, 1, 1, 1, 1, 1}, b[6] = {2}, o[2400] = {3};
    elementwise_tensor good = {a, ELEMENTWISE_F32, 2, shape, NULL};
    elementwise_tensor to = {o, ELEMENTWISE_F32, 2, shape, NULL}, t = good;
    good.data = b;
    ck_assert(takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, NULL, &good, -1, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, NULL));
    ck_assert(!takes((elementwise_op)99, &t, &good, -1, &to));
    t.strides = strides;
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    t = (elementwise_tensor){a, ELEMENTWISE_I32, 2, shape, NULL};
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    ck_assert(!takes(ELEMENTWISE_DIV, &t, &t, -1, &to));
    t.strides = strides;
    ck_assert(!takes(ELEMENTWISE_DIV, &t, &t, -1, &t));
    t = (elementwise_tensor){a, ELEMENTWISE_F32, 2, other, NULL};
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    t = (elementwise_tensor){a, ELEMENTWISE_F32, 2, none, NULL};
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &t));
    t = (elementwise_tensor){o, ELEMENTWISE_F32, 2, negative, NULL};
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &t, -1, &t));
    t = (elementwise_tensor){NULL, ELEMENTWISE_F32, 2, shape, NULL};
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    t.data = (char *)a + 1;
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    t.data = o + 1;
    ck_assert(!takes(ELEMENTWISE_ADD, &t, &good, -1, &to));
    elementwise_tensor rows = {o, ELEMENTWISE_F32, 2, many, NULL};
    elementwise_tensor each = {o + 1800, ELEMENTWISE_F32, 2, column, NULL};
    elementwise_tensor one = {a, ELEMENTWISE_F32, 1, row, NULL};
    ck_assert(!takes(ELEMENTWISE_ADD, &rows, &each, -1, &rows));
    ck_assert(!takes(ELEMENTWISE_ADD, &good, &one, 0, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, &good, &one, 7, &to));
    elementwise_tensor scalar = {a, ELEMENTWISE_F32, 0, NULL, NULL};
    ck_assert(takes(ELEMENTWISE_ADD, &scalar, &good, -1, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, &scalar, &one, -1, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, &one, &scalar, -1, &to));
}
END_TEST

/* Whose bytes no integer counts, or nearly so, and that are not there. What
   overflows on the way sanitizers alone find. */
START_TEST(extents_beyond_all_memory_are_refused)
{
    const int64_t beyond[] = {INT64_MAX, 2};
    const int64_t rows[] = {2, (int64_t)1 << 59}, row[] = {1, rows[1]};
    int32_t a[2] = {0};
    elementwise_tensor x_all = {a, ELEMENTWISE_I32, 2, beyond, NULL};
    elementwise_tensor x_rows = {NULL, ELEMENTWISE_I32, 2, rows, NULL};
    elementwise_tensor y_row = {a, ELEMENTWISE_I32, 2, row, NULL}, to = x_rows;
    ck_assert(!takes(ELEMENTWISE_ADD, &x_all, &x_all, -1, &x_all));
    ck_assert_int_eq(elementwise_add(&x_all, &x_all, -1, &x_all),
                     ELEMENTWISE_TOO_LARGE);
    to.data = a;
    ck_assert(!takes(ELEMENTWISE_DIV, &x_rows, &y_row, -1, &to));
    ck_assert_int_eq(elementwise_div(&x_rows, &y_row, -1, &to),
                     ELEMENTWISE_INVALID);
}
END_TEST

/* Two blocks of such shapes instead of one, with a row of the one operand for
   each. */
static void in_blocks(struct support_shapes *s, bool y_shared)
{
    int64_t rows = s->out[0], cols = s->out[1];
    int64_t *whole = y_shared ? s->x : s->y, *shared = y_shared ? s->y : s->x;
    s->ndim = s->x_ndim = s->y_ndim = 3;
    s->out[0] = whole[0] = shared[0] = 2;
    s->out[1] = whole[1] = rows;
    shared[1] = 1;
    s->out[2] = whole[2] = shared[2] = cols;
}

/* Which are calls of several rows, in place, too, and in blocks that share
   another row each. */
START_TEST(many_short_rows_that_share_one_are_taken_and_right)
{
    static const elementwise_op ops[] = {ELEMENTWISE_SUB, ELEMENTWISE_DIV,
                                         ELEMENTWISE_MIN};
    int right = 0;
    if (!support_level(_i))
        return;
    for (int round = 0; round < 600; round++) {
        const elementwise_op op = ops[round % 3];
        const elementwise_dtype type = ELEMENTWISE_I8 + round / 4 % 12;
        const bool y_shared = round & 1, in_place = round & 2;
        struct support_shapes s = {.ndim = 2, .x_ndim = 1, .y_ndim = 1};
        *(y_shared ? &s.x_ndim : &s.y_ndim) = 2;
        s.out[0] = *(y_shared ? s.x : s.y) = 256 + round % 7;
        s.out[1] = s.x[s.x_ndim - 1] = s.y[s.y_ndim - 1] = 1 + round % 33;
        if (round >= 400)
            in_blocks(&s, y_shared);
        make(&s, type, type);
        support_no_zeros(&y);
        support_keep(&y);
        struct support_tensor *to = !in_place ? &out : y_shared ? &x : &y;
        if (!takes(op, &x.t, &y.t, -1, &to->t))
            continue; /* rows that fill vectors are folded */
        support_verify(ELEMENTWISE_OK, op, &x, &y, -1, to);
        right++;
    }
    ck_assert_int_gt(right, 500);
    release();
}
END_TEST

/* Rows of 13 f32 and of 8 and 40 bytes, with an element each, up to as many as
   a plan takes longer for; below AVX-512 only what has vectors for them. */
START_TEST(few_short_rows_are_taken)
{
    static const struct {
        elementwise_dtype type;
        int64_t cols;
        elementwise_op op;
        int64_t most[2];
    } calls[] = {{ELEMENTWISE_F32, 13, ELEMENTWISE_MAX, {96, 512}},
                 {ELEMENTWISE_F32, 13, ELEMENTWISE_POW, {0, 0}},
                 {ELEMENTWISE_C64, 7, ELEMENTWISE_MUL, {96, 96}},
                 {ELEMENTWISE_U8, 8, ELEMENTWISE_ADD, {0, 128}},
                 {ELEMENTWISE_U8, 40, ELEMENTWISE_ADD, {0, 512}},
                 {ELEMENTWISE_U8, 40, ELEMENTWISE_DIV, {0, 128}},
                 {ELEMENTWISE_I16, 13, ELEMENTWISE_ADD, {0, 128}},
                 {ELEMENTWISE_I32, 13, ELEMENTWISE_DIV, {0, 0}}};
    const int64_t least = 512; /* elements that are folded */
    if (!support_level(_i))
        return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int64_t most = calls[i].most[_i >= EW_LEVEL_AVX512];
        int64_t few = (least - 1) / calls[i].cols;
        most = most < few ? few : most;
        for (int64_t rows = most; rows <= most + 1; rows++) {
            struct support_shapes s = {
                .x_ndim = 2, .y_ndim = 2, .ndim = 2, .axis = -1};
            s.x[0] = s.y[0] = s.out[0] = rows;
            s.x[1] = s.out[1] = calls[i].cols;
            s.y[1] = 1;
            make(&s, calls[i].type, calls[i].type);
            support_no_zeros(&y);
            support_keep(&y);
            ck_assert_msg(takes(calls[i].op, &x.t, &y.t, -1, &out.t) ==
                              (rows == most),
                          "%d, %d rows", (int)i, (int)rows);
            if (rows == most)
                support_verify(ELEMENTWISE_OK, calls[i].op, &x, &y, -1, &out);
        }
    }
    release();
}
END_TEST

START_TEST(no_elements_are_nothing_to_do)
{
    int64_t none[] = {0, 3}, row[] = {3}, deep[] = {2, 1, 0, 1, 3};
    int64_t huge[] = {INT64_C(1) << 62, 0}, many[] = {0, 600, 3};
    int32_t zeros[3] = {0};
    elementwise_tensor ix = {zeros, ELEMENTWISE_I32, 2, none, NULL}, io = ix;
    elementwise_tensor iy = {zeros, ELEMENTWISE_I32, 1, row, NULL};
    float a[1800] = {1}, b[4] = {2},
          o[1800] = {3}; /* extents of 0 count as 1 */
    elementwise_tensor tx = {a, ELEMENTWISE_F32, 2, none, NULL}, to = tx;
    elementwise_tensor ty = {b, ELEMENTWISE_F32, 1, row, NULL};
    to.data = o;
    ck_assert(takes(ELEMENTWISE_ADD, &tx, &tx, -1, &to));
    ck_assert(takes(ELEMENTWISE_ADD, &tx, &ty, -1, &to));
    ck_assert(takes(ELEMENTWISE_ADD, &tx, &ty, 1, &to));
    tx.ndim = to.ndim = 5;
    tx.shape = to.shape = deep;
    ck_assert(takes(ELEMENTWISE_ADD, &tx, &ty, -1, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, &ty, &ty, -1, &to));
    ck_assert(o[0] == 3);
    tx.ndim = to.ndim = 3;
    tx.shape = to.shape = many; /* more short rows than are run, if they were */
    ck_assert(takes(ELEMENTWISE_ADD, &tx, &ty, -1, &to));
    ck_assert(takes(ELEMENTWISE_FLOORDIV, &ix, &iy, -1, &io));
    ty.data = NULL;
    ck_assert(!takes(ELEMENTWISE_ADD, &tx, &ty, -1, &to));
    ty.data = (char *)b + 1;
    ck_assert(!takes(ELEMENTWISE_ADD, &tx, &ty, -1, &to));
    ty.data = b;
    tx.ndim = to.ndim = 2;
    tx.shape = to.shape = huge;
    ck_assert(!takes(ELEMENTWISE_ADD, &tx, &tx, -1, &to));
    ck_assert(!takes(ELEMENTWISE_ADD, &tx, &ty, -1, &to));
}
END_TEST

/* Addresses at which sums wrap must not pass for far apart. */
START_TEST(out_may_be_an_input_or_lie_beside_it)
{
    int64_t n = 4, one = 1;
    float m[12];
    elementwise_tensor a = {m + 4, ELEMENTWISE_F32, 1, &n, NULL}, o = a;
    elementwise_tensor c = {m, ELEMENTWISE_F32, 1, &one, NULL};
    for (int at = 0; at <= 8; at++) {
        o.data = m + at;
        c.data = m + (at < 4 ? 11 : 0);
        for (int i = 0; i < 12; i++)
            m[i] = (float)i;
        bool legal = at == 0 || at == 4 || at == 8;
        ck_assert_int_eq(takes(ELEMENTWISE_ADD, &a, &c, -1, &o), legal);
        if (legal)
            ck_assert(m[at] == 4 + (at < 4 ? 11 : 0));
    }
}
END_TEST

/* The sums of lines that start so many elements behind a line of memory each,
   or of one number where `of` says so; in place if out starts where x does. */
static void add_lines(int64_t n, const int start[3], unsigned of)
{
    enum { MOST = 1 << 12, ROOM = MOST + 64 };
    static _Alignas(64) float a[ROOM], b[ROOM], c[ROOM];
    int64_t one = 1;
    float *from = a + start[0], *by = b + start[1];
    float *to = start[2] == start[0] ? from : c + start[2];
    elementwise_tensor tx = {from, ELEMENTWISE_F32, 1, of & 1 ? &one : &n,
                             NULL};
    elementwise_tensor ty = {by, ELEMENTWISE_F32, of & 2 ? 0 : 1,
                             of & 2 ? NULL : &n, NULL};
    elementwise_tensor to_all = {of & 1 ? c + start[2] : to, ELEMENTWISE_F32, 1,
                                 &n, NULL};
    for (int i = 0; i < ROOM; i++) {
        a[i] = (float)i;
        b[i] = (float)(i * i % 97);
        c[i] = -1;
    }
    ck_assert_int_eq(elementwise_add(&tx, &ty, -1, &to_all), ELEMENTWISE_OK);
    float *made = to_all.data;
    for (int64_t i = 0; i < n; i++) {
        float x_i = (float)(start[0] + (of & 1 ? 0 : i));
        int64_t at = start[1] + (of & 2 ? 0 : i);
        ck_assert(made[i] == x_i + (float)(at * at % 97));
    }
    ck_assert(made == from || (made[-1] == -1 && made[n] == -1));
}

START_TEST(long_lines_are_right_wherever_they_start)
{
    static const int64_t lengths[] = {900, 1024, 1025, 1100, 4000};
    if (!support_level(_i))
        return;
    for (int l = 0; l < 5; l++)
        for (int x_at = 1; x_at < 20; x_at += 3)
            for (int y_at = 1; y_at < 20; y_at += 3)
                for (int k = 0; k < 12; k++) {
                    const int start[] = {x_at, y_at,
                                         k % 4 ? 1 + 7 * (k % 4) : x_at};
                    add_lines(lengths[l], start, (unsigned)k / 4);
                }
}
END_TEST

/* What the command says of a call whose operands have out's shape or rank 0. */
static bool is_said_to_be_taken(elementwise_op op)
{
    static char json[8000];
    struct call c = {.op = op, .x = &x.t, .y = &y.t, .axis = -1};
    elementwise_plan *plan;
    c.dtype = out.t.dtype;
    ck_assert_int_eq(call_resolve(&c, &plan), ELEMENTWISE_OK);
    elementwise_plan_describe(plan, json, sizeof json);
    elementwise_plan_destroy(plan);
    return call_is_direct(&c, json);
}

/* One shape or rank 0, as the bits of `numbers` say. */
static void check_said(elementwise_op op, elementwise_dtype tx,
                       elementwise_dtype ty, elementwise_dtype to, int ndim,
                       const int64_t shape[], int numbers)
{
    support_make(&x, tx, numbers & 1 ? 0 : ndim, shape, NULL, SUPPORT_HIGH);
    support_make(&y, ty, numbers & 2 ? 0 : ndim, shape, NULL, SUPPORT_HIGH);
    support_make(&out, to, numbers == 3 ? 0 : ndim, shape, NULL, SUPPORT_HIGH);
    support_no_zeros(&y); /* which no plan could know */
    bool is_taken = takes(op, &x.t, &y.t, -1, &out.t);
    ck_assert_msg(is_said_to_be_taken(op) == is_taken,
                  "%s of %s and %s to %s, %d numbers", elementwise_op_name(op),
                  elementwise_dtype_name(tx), elementwise_dtype_name(ty),
                  elementwise_dtype_name(to), numbers);
}

START_TEST(the_command_says_which_calls_of_one_shape_are_taken)
{
    const int64_t shape[] = {3, 5};
    elementwise_dtype to;
    if (!support_level(_i))
        return;
    for (int op = 1; op < REF_OPS + 1; op++)
        for (int tx = 1; tx <= ELEMENTWISE_C128; tx++)
            for (int ty = 1; ty <= ELEMENTWISE_C128; ty++) {
                if (elementwise_result_type(op, tx, ty, &to))
                    continue;
                for (int numbers = 0; numbers < 4; numbers++)
                    check_said(op, tx, ty, to, 2, shape, numbers);
                if (to == ELEMENTWISE_F32)
                    check_said(op, tx, ty, ELEMENTWISE_F64, 2, shape, 0);
            }
    release();
}
END_TEST

/* Outputs that are stored past the caches are left to the plan. */
START_TEST(the_command_says_so_of_large_ones)
{
    static const elementwise_op ops[] = {
        ELEMENTWISE_ADD,      ELEMENTWISE_POW,       ELEMENTWISE_ATAN2,
        ELEMENTWISE_COPYSIGN, ELEMENTWISE_LESS_THAN, ELEMENTWISE_FMOD};
    const int64_t below[] = {(20 << 18) - 1}, from[] = {20 << 18};
    elementwise_op op = ops[_i % 6];
    elementwise_dtype type = ELEMENTWISE_F32, to;
    if (!support_level(_i / 6))
        return;
    ck_assert_int_eq(elementwise_result_type(op, type, type, &to), 0);
    for (int numbers = 0; numbers < 3; numbers++) {
        check_said(op, type, type, to, 1, below, numbers);
        check_said(op, type, type, to, 1, from, numbers);
    }
    release();
}
END_TEST

int main(void)
{
    TCase *dense = support_case("dense");
    tcase_add_test(dense, first_calls_are_taken);
    tcase_add_test(dense, row_major_calls_are_taken_and_right);
    tcase_add_test(dense, unknown_numbers_are_left_alone);
    tcase_add_test(dense, trailing_ones_do_not_count);
    tcase_add_test(dense, quotients_of_integers_are_taken_if_y_has_no_zero);
    tcase_add_test(dense,
                   quotients_by_a_stretched_y_are_taken_if_it_has_no_zero);
    tcase_add_test(
        dense, quotients_of_one_element_or_none_are_taken_whatever_their_rank);
    tcase_add_test(dense, what_is_not_simple_is_left_alone);
    tcase_add_test(dense, extents_beyond_all_memory_are_refused);
    tcase_add_loop_test(dense, few_short_rows_are_taken, 0, EW_LEVELS);
    tcase_add_loop_test(dense,
                        many_short_rows_that_share_one_are_taken_and_right, 0,
                        EW_LEVELS);
    tcase_add_test(dense, no_elements_are_nothing_to_do);
    tcase_add_test(dense, out_may_be_an_input_or_lie_beside_it);
    tcase_add_loop_test(dense, long_lines_are_right_wherever_they_start, 0,
                        EW_LEVELS);
    tcase_add_loop_test(dense,
                        the_command_says_which_calls_of_one_shape_are_taken, 0,
                        EW_LEVELS);
    tcase_add_loop_test(dense, the_command_says_so_of_large_ones, 0,
                        6 * EW_LEVELS);
    TCase *const cases[] = {dense, NULL};
    return support_run("dense", cases);
}
