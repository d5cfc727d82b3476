/*
 * Damages one field of a good call at a time, for every public function that
 * takes tensors, and expects the right status, a message that names what is
 * wrong, and nothing else: no byte of any operand, errno included, may have
 * changed. Inputs from other libraries' security advisories follow.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "elementwise.h"
#include "support.h"
#include "types.h"

typedef elementwise_status operation(const elementwise_tensor *,
                                     const elementwise_tensor *, int,
                                     const elementwise_tensor *);

static const struct {
    operation *call;
    elementwise_op op;
    unsigned types;
    bool gives_bool;
} operations[] = {
#define PROMOTED false
#define BOOL true
#define OP(name, NAME, types, result, fault, ulp)                              \
    {elementwise_##name, ELEMENTWISE_##NAME, types, result},
#include "ops.def"
#undef PROMOTED
#undef BOOL
};

/* The functions under test by number: the operations, and then these. */
enum {
    OPERATIONS = sizeof operations / sizeof *operations,
    APPLY = OPERATIONS,
    PLAN_CREATE,
    COPY,
    BROADCAST_SHAPE,
    BROADCAST_SHAPES,
    BROADCAST_TO,
    NBYTES,
    FUNCTIONS
};

enum { ROWS = 2, COLS = 3, MARGIN = 16, BYTES = 2 * MARGIN + 16 * ROWS * COLS };

/* All that a call reads or writes, so that one comparison shows a change. */
struct call {
    elementwise_tensor t[3];
    bool null[3];
    int axis;
    elementwise_op op; /* of apply and plan_create */
    const elementwise_options *options;
    int64_t shape[3][2], strides[3][2];
    _Alignas(16) unsigned char data[3][BYTES];
    int result_ndim;
    int64_t result[ELEMENTWISE_MAX_NDIM];
    elementwise_tensor view;
    size_t nbytes;
};

static struct call good, damaged, before;

/* (2,3) op (2,3) of f32, or of i32 where the operation wants integers. */
static void make_good(struct call *c, int function)
{
    elementwise_dtype dtype = ELEMENTWISE_F32;
    bool gives_bool = false;
    memset(c, 0, sizeof *c);
    memset(c->data, 0x35, sizeof c->data);
    if (function < OPERATIONS) {
        dtype = operations[function].types & EW_FLOATS ? ELEMENTWISE_F32
                                                       : ELEMENTWISE_I32;
        gives_bool = operations[function].gives_bool;
    }
    for (int k = 0; k < 3; k++) {
        c->shape[k][0] = ROWS;
        c->shape[k][1] = c->strides[k][0] = COLS;
        c->strides[k][1] = 1;
        c->t[k] = (elementwise_tensor){c->data[k] + MARGIN, dtype, 2,
                                       c->shape[k], c->strides[k]};
    }
    if (gives_bool)
        c->t[2].dtype = ELEMENTWISE_BOOL;
    c->axis = ELEMENTWISE_NUMPY;
    c->op = ELEMENTWISE_ADD;
}

static const elementwise_tensor *operand(const struct call *c, int k)
{
    return c->null[k] ? NULL : &c->t[k];
}

static elementwise_status create(struct call *c)
{
    elementwise_plan *plan = (elementwise_plan *)c;
    elementwise_status status =
        elementwise_plan_create(&plan, c->op, operand(c, 0), operand(c, 1),
                                c->axis, operand(c, 2), c->options);
    ck_assert((plan != NULL) == (status == ELEMENTWISE_OK));
    elementwise_plan_destroy(plan);
    return status;
}

static elementwise_status call(struct call *c, int function)
{
    const elementwise_tensor *t[] = {operand(c, 0), operand(c, 1),
                                     operand(c, 2)};
    switch (function) {
    case APPLY:
        return elementwise_apply(c->op, t[0], t[1], c->axis, t[2], c->options);
    case PLAN_CREATE:
        return create(c);
    case COPY:
        return elementwise_copy(t[0], c->axis, t[2]);
    case BROADCAST_SHAPE:
        return elementwise_broadcast_shape(t[0], t[1], c->axis, &c->result_ndim,
                                           c->result);
    case BROADCAST_SHAPES:
        return elementwise_broadcast_shapes(t, 3, &c->result_ndim, c->result);
    case BROADCAST_TO:
        return elementwise_broadcast_to(t[0], c->axis, c->t[2].ndim,
                                        c->t[2].shape, c->result, &c->view);
    case NBYTES:
        return elementwise_nbytes(c->t[0].dtype, c->t[0].ndim, c->t[0].shape,
                                  &c->nbytes);
    default:
        return operations[function].call(t[0], t[1], c->axis, t[2]);
    }
}

static const char *function_name(int function)
{
    static const char *const names[] = {
        "apply",           "plan_create",      "copy",
        "broadcast_shape", "broadcast_shapes", "broadcast_to",
        "nbytes"};
    return function < OPERATIONS ? elementwise_op_name(operations[function].op)
                                 : names[function - OPERATIONS];
}

/* What damaged is refused with, and that nothing else has happened. */
static void expect(int function, elementwise_status status, const char *says)
{
    memcpy(&before, &damaged, sizeof before);
    errno = 1234;
    elementwise_status found = call(&damaged, function);
    int error = errno;
    ck_assert_msg(found == status, "%s is %s where %s is due (%s)",
                  function_name(function), elementwise_status_name(found),
                  elementwise_status_name(status), says);
    ck_assert_int_eq(error, 1234);
    ck_assert_msg(strstr(elementwise_last_error(), says), "'%s' is not in '%s'",
                  says, elementwise_last_error());
    ck_assert_mem_eq(&damaged, &before, sizeof before);
}

/* Fields of an operand, as bits. SIZES are extents whose product is too
   large, MISFIT one that suits no other operand. */
enum {
    TENSOR = 1,
    RANK = 2,
    SHAPE = 4,
    EXTENTS = 8,
    SIZES = 16,
    DTYPE = 32,
    STRIDES = 64,
    DATA = 128,
    ALIGNMENT = 256,
    MISFIT = 512,
    LAYOUT = TENSOR | RANK | SHAPE | EXTENTS | MISFIT,
    ALL = 2 * MISFIT - 1
};

/* The fields that a function must look at, operand by operand. */
static unsigned fields(int function, int k)
{
    static const unsigned special[][3] = {
        {ALL, ALL, ALL},
        {ALL & ~(DATA | ALIGNMENT), ALL & ~(DATA | ALIGNMENT),
         ALL & ~(DATA | ALIGNMENT)},
        {ALL & ~ALIGNMENT, 0, ALL},
        {LAYOUT, LAYOUT, 0},
        {LAYOUT, LAYOUT, LAYOUT},
        {ALL & ~(DATA | ALIGNMENT), 0, LAYOUT & ~TENSOR},
        {RANK | SHAPE | EXTENTS | SIZES | DTYPE, 0, 0},
    };
    return function < OPERATIONS ? ALL : special[function - OPERATIONS][k];
}

static const char *operand_name(int function, int k)
{
    static const char *const usual[] = {"x", "y", "out"};
    static const char *const copy[] = {"src", "", "dst"};
    static const char *const view[] = {"src", "", "the view"};
    static const char *const numbered[] = {"operand 0", "operand 1",
                                           "operand 2"};
    switch (function) {
    case COPY:
        return copy[k];
    case BROADCAST_SHAPES:
        return numbered[k];
    case BROADCAST_TO:
        return view[k];
    case NBYTES:
        return "the tensor";
    default:
        return usual[k];
    }
}

#define TWO_TO(n) ((int64_t)1 << (n))

static const struct {
    unsigned field;
    int64_t a, b;
    elementwise_status status;
    const char *says; /* with %s for the operand */
} damages[] = {
    {TENSOR, 0, 0, ELEMENTWISE_INVALID, "%s is NULL"},
    {RANK, -1, 0, ELEMENTWISE_INVALID, "rank of %s is -1;"},
    {RANK, 65, 0, ELEMENTWISE_INVALID, "rank of %s is 65;"},
    {RANK, INT_MAX, 0, ELEMENTWISE_INVALID, "rank of %s is 2147483647;"},
    {RANK, INT_MIN, 0, ELEMENTWISE_INVALID, "rank of %s is -2147483648;"},
    {SHAPE, 0, 0, ELEMENTWISE_INVALID, "shape of %s is NULL"},
    {EXTENTS, -1, 3, ELEMENTWISE_INVALID, "dimension 0 of %s is -1;"},
    {EXTENTS, 2, -3, ELEMENTWISE_INVALID, "dimension 1 of %s is -3;"},
    {EXTENTS, 0, -3, ELEMENTWISE_INVALID, "dimension 1 of %s is -3;"},
    {EXTENTS, 2, INT64_MIN, ELEMENTWISE_INVALID,
     "dimension 1 of %s is -9223372036854775808;"},
    {SIZES, TWO_TO(31), TWO_TO(32), ELEMENTWISE_TOO_LARGE,
     "dimension 1, extent 4294967296"},
    {SIZES, 4, TWO_TO(62), ELEMENTWISE_TOO_LARGE, "dimension 1, extent 4611"},
    {SIZES, TWO_TO(62), 2, ELEMENTWISE_TOO_LARGE, "2^63 - 1"},
    {SIZES, INT64_MAX, 0, ELEMENTWISE_TOO_LARGE, "extents of 0 left out"},
    {SIZES, 0, INT64_MAX, ELEMENTWISE_TOO_LARGE, "extents of 0 left out"},
    {SIZES, INT64_MAX, INT64_MAX, ELEMENTWISE_TOO_LARGE, "2^63 - 1"},
    {DTYPE, 0, 0, ELEMENTWISE_INVALID, "%s has unknown dtype 0"},
    {DTYPE, 16, 0, ELEMENTWISE_INVALID,
     "%s has unknown dtype 16; it must be 1 (bool) ... 15 (c128)"},
    {DTYPE, -1, 0, ELEMENTWISE_INVALID, "%s has unknown dtype -1"},
    {DTYPE, INT_MIN, 0, ELEMENTWISE_INVALID, "%s has unknown dtype -2147"},
    {STRIDES, INT64_MIN, 1, ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, 3, INT64_MIN, ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, INT64_MAX, 1, ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, -INT64_MAX, 1, ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, 3, TWO_TO(62), ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, 3, -TWO_TO(62), ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, TWO_TO(62), TWO_TO(61), ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {STRIDES, TWO_TO(62), -TWO_TO(61), ELEMENTWISE_TOO_LARGE, "strides of %s"},
    {DATA, 0, 0, ELEMENTWISE_INVALID, "data of %s is NULL"},
    {ALIGNMENT, 1, 0, ELEMENTWISE_MISALIGNED, "data of %s, "},
    {ALIGNMENT, 3, 0, ELEMENTWISE_MISALIGNED, "data of %s, "},
    {MISFIT, 4, 3, ELEMENTWISE_BAD_SHAPE, "(4,3)"},
    {MISFIT, 2, 0, ELEMENTWISE_BAD_SHAPE, "(2,0)"},
};
enum { DAMAGES = sizeof damages / sizeof *damages };

static void damage(struct call *c, int k, int which)
{
    int64_t a = damages[which].a, b = damages[which].b;
    elementwise_tensor *t = &c->t[k];
    switch (damages[which].field) {
    case TENSOR:
        c->null[k] = true;
        break;
    case RANK:
        t->ndim = (int)a;
        break;
    case SHAPE:
        t->shape = NULL;
        break;
    case DTYPE:
        t->dtype = (elementwise_dtype)a;
        break;
    case DATA:
        t->data = NULL;
        break;
    case ALIGNMENT:
        t->data = (char *)t->data + a;
        break;
    default: {
        int64_t *pair =
            damages[which].field == STRIDES ? c->strides[k] : c->shape[k];
        pair[0] = a;
        pair[1] = b;
    }
    }
}

/* A byte is always aligned, and two extents of bytes, one of them 0, always
   fit. */
static bool harmless(const struct call *c, int k, int which)
{
    bool zero = !damages[which].a || !damages[which].b;
    return elementwise_dtype_size(c->t[k].dtype) == 1 &&
           (damages[which].field == ALIGNMENT ||
            (damages[which].field == SIZES && zero));
}

static void damage_and_expect(int function, int k, int which, bool dense)
{
    char says[100];
    make_good(&damaged, function);
    if (!(fields(function, k) & damages[which].field) ||
        harmless(&damaged, k, which))
        return;
    damage(&damaged, k, which);
    for (int i = 0; i < 3 && dense; i++)
        damaged.t[i].strides = NULL;
    snprintf(says, sizeof says, damages[which].says, operand_name(function, k));
    expect(function, damages[which].status, says);
}

/* Once with strides and once without, as dense tensors go another way. */
START_TEST(every_damaged_field_of_every_operand_is_refused)
{
    for (int k = 0; k < 3; k++)
        for (int which = 0; which < DAMAGES; which++) {
            unsigned field = damages[which].field;
            if (field != SIZES)
                damage_and_expect(_i, k, which, false);
            if (field != STRIDES)
                damage_and_expect(_i, k, which, true);
        }
}
END_TEST

/* The same fields where the function has no business to look. */
START_TEST(fields_that_are_not_read_may_be_anything)
{
    for (int k = 0; k < 3; k++)
        for (int which = 0; which < DAMAGES; which++) {
            unsigned field = damages[which].field;
            if (fields(_i, k) & field || (field & SIZES))
                continue;
            make_good(&damaged, _i);
            damage(&damaged, k, which);
            elementwise_status status = call(&damaged, _i);
            ck_assert_msg(!status, "%s", elementwise_last_error());
        }
}
END_TEST

START_TEST(a_good_call_succeeds_and_leaves_the_message)
{
    char message[200];
    elementwise_nbytes(ELEMENTWISE_F32, -7, NULL, &good.nbytes);
    snprintf(message, sizeof message, "%s", elementwise_last_error());
    make_good(&good, _i);
    errno = 1234;
    elementwise_status status = call(&good, _i);
    ck_assert_msg(!status, "%s", elementwise_last_error());
    ck_assert_int_eq(errno, 1234);
    ck_assert_str_eq(elementwise_last_error(), message);
    ck_assert(strstr(message, "-7"));
}
END_TEST

/* A run of the suite is also a run of every function's statuses: those that
   no single field shows. */
START_TEST(an_axis_out_of_range_is_refused)
{
    static const int axes[] = {-2, 2, 3, INT_MIN, INT_MAX};
    int placed = _i == COPY || _i == BROADCAST_TO ? 0 : 1;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char says[40];
        make_good(&damaged, _i);
        damaged.t[placed].ndim = 1;
        damaged.t[placed].shape++;
        damaged.axis = axes[i];
        snprintf(says, sizeof says, "axis %d is not in -1 ... 1", axes[i]);
        expect(_i, ELEMENTWISE_BAD_AXIS, says);
    }
}
END_TEST

START_TEST(an_out_of_another_kind_is_refused)
{
    make_good(&damaged, _i);
    bool gives_bool = damaged.t[2].dtype == ELEMENTWISE_BOOL;
    damaged.t[2].dtype = gives_bool ? damaged.t[0].dtype : ELEMENTWISE_BOOL;
    expect(_i, ELEMENTWISE_BAD_DTYPE, "cannot be stored as");
    if (gives_bool) {
        damaged.t[2].dtype = ELEMENTWISE_U8;
        expect(_i, ELEMENTWISE_BAD_DTYPE, "cannot be stored as u8");
    }
}
END_TEST

/* One element, one half of an element, and one stride less than needed. */
START_TEST(an_out_that_overlaps_is_refused)
{
    static const int shifts[] = {4, -4, 8};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            make_good(&damaged, _i);
            damaged.t[2].data = (char *)damaged.t[k].data + shifts[i];
            expect(_i, ELEMENTWISE_OVERLAP, k ? "of y" : "of x");
            for (int j = 0; j < 3; j++)
                damaged.t[j].strides = NULL;
            expect(_i, ELEMENTWISE_OVERLAP, k ? "of y" : "of x");
        }
    make_good(&damaged, _i);
    damaged.strides[2][0] = COLS - 1;
    expect(_i, ELEMENTWISE_OVERLAP, "two indices of the output");
}
END_TEST

/* The kinds of a type as ops.def counts them. */
static unsigned kind(elementwise_dtype dtype)
{
    if (dtype == ELEMENTWISE_BOOL)
        return EW_BOOL;
    if (dtype <= ELEMENTWISE_U64)
        return EW_INTEGERS;
    return dtype <= ELEMENTWISE_F64 ? EW_FLOATS : EW_KIND_COMPLEX;
}

START_TEST(types_that_an_operation_lacks_are_refused)
{
    for (int d = ELEMENTWISE_BOOL; d <= ELEMENTWISE_C128; d++) {
        elementwise_dtype dtype = (elementwise_dtype)d;
        make_good(&damaged, _i);
        for (int k = 0; k < 3; k++)
            damaged.t[k].dtype = dtype;
        if (operations[_i].gives_bool)
            damaged.t[2].dtype = ELEMENTWISE_BOOL;
        for (int dense = 0; dense < 2; dense++) {
            for (int k = 0; k < 3 && dense; k++)
                damaged.t[k].strides = NULL;
            if (operations[_i].types & kind(dtype))
                ck_assert_int_eq(call(&damaged, _i), ELEMENTWISE_OK);
            else
                expect(_i, ELEMENTWISE_BAD_DTYPE,
                       elementwise_dtype_name(dtype));
        }
    }
}
END_TEST

/* Values on which functions of libm set errno: poles, overflow, underflow,
   and what is undefined. One of two parts, for complex types. */
static const double awkward[] = {
    0.0,    -0.0,   1,        -1,        0.5, -2.5, 1e308, -1e308,
    1e-308, 5e-324, INFINITY, -INFINITY, NAN, 700,  -3,    1e30};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

START_TEST(no_value_changes_errno)
{
    static double x[2 * AWKWARD], y[2 * AWKWARD];
    static double converted[2][2 * AWKWARD], out[2 * AWKWARD * AWKWARD];
    int64_t n[] = {2 * AWKWARD}, row[] = {AWKWARD}, column[] = {AWKWARD, 1};
    int64_t shape[] = {AWKWARD, AWKWARD};
    for (int i = 0; i < 2 * AWKWARD; i++) {
        x[i] = awkward[i % AWKWARD];
        y[i] = awkward[(i * 5 + i / AWKWARD) % AWKWARD];
    }
    for (int d = ELEMENTWISE_F16; d <= ELEMENTWISE_C128; d++) {
        elementwise_dtype dtype = (elementwise_dtype)d, result;
        elementwise_dtype part = d == ELEMENTWISE_C64    ? ELEMENTWISE_F32
                                 : d == ELEMENTWISE_C128 ? ELEMENTWISE_F64
                                                         : dtype;
        elementwise_tensor from[] = {{x, ELEMENTWISE_F64, 1, n, NULL},
                                     {y, ELEMENTWISE_F64, 1, n, NULL}};
        elementwise_tensor to[] = {{converted[0], part, 1, n, NULL},
                                   {converted[1], part, 1, n, NULL}};
        errno = 1234;
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(elementwise_copy(&from[k], 0, &to[k]), 0);
        elementwise_tensor a = {converted[0], dtype, 2, column, NULL};
        elementwise_tensor b = {converted[1], dtype, 1, row, NULL};
        if (elementwise_result_type(operations[_i].op, dtype, dtype, &result))
            continue;
        elementwise_tensor c = {out, result, 2, shape, NULL};
        ck_assert_int_eq(operations[_i].call(&a, &b, -1, &c), 0);
        ck_assert_msg(errno == 1234, "%s of %s: %d", function_name(_i),
                      elementwise_dtype_name(dtype), errno);
    }
}
END_TEST

START_TEST(unknown_operations_are_refused)
{
    static const int unknown[] = {0, 34, -1, INT_MAX, INT_MIN};
    for (int f = APPLY; f <= PLAN_CREATE; f++)
        for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
            char says[40];
            make_good(&damaged, f);
            damaged.op = (elementwise_op)unknown[i];
            snprintf(says, sizeof says, "unknown op %d", unknown[i]);
            expect(f, ELEMENTWISE_INVALID, says);
        }
}
END_TEST

static void run_nothing(void *user, void (*task)(void *arg, int i), void *arg,
                        int n)
{
    (void)user, (void)task, (void)arg, (void)n;
}
static const elementwise_executor executor = {run_nothing, NULL, 1};

#define SIZE sizeof(elementwise_options)
static const struct {
    elementwise_options options;
    const char *says;
} options[] = {
    {{0, 1, 1, 0, 0, 0, NULL, 0, 0}, "options.size is 0, not "},
    {{SIZE - 1, 1, 1, 0, 0, 0, NULL, 0, 0}, "options.size is "},
    {{SIZE + 8, 1, 1, 0, 0, 0, NULL, 0, 0}, "options.size is "},
    {{SIZE_MAX, 1, 1, 0, 0, 0, NULL, 0, 0}, "options.size is "},
    {{SIZE, 1, 1, 0, (elementwise_act)8, 0, NULL, 0, 0},
     "unknown act 8; it must be 0 (none) ... 7 (silu)"},
    {{SIZE, 1, 1, 0, (elementwise_act)-1, 0, NULL, 0, 0}, "unknown act -1"},
    {{SIZE, 1, 1, 0, 0, 1, NULL, 0, 0}, "options.flags"},
    {{SIZE, 1, 1, 0, 0, ELEMENTWISE_ADD_TO_DY, NULL, 0, 0},
     "options.flags has 0x2, which is no flag of this call; it takes "
     "ELEMENTWISE_STREAM"},
    {{SIZE, 1, 1, 0, 0, 16, NULL, 0, 0}, "options.flags has 0x10, which is"},
    {{SIZE, 1, 1, 0, 0, ~0u, NULL, 0, 0}, "options.flags"},
    {{SIZE, 1, 1, 0, 0, ELEMENTWISE_STREAM | 4, NULL, 0, 0}, "options.flags"},
    {{SIZE, 1, 1, 0, 0, 0, &executor, 0, 0}, "options.executor"},
    {{SIZE, 1, 1, 0, 0, 0, NULL, 2, 0}, "options.threads"},
    {{SIZE, 1, 1, 0, 0, 0, NULL, -1, 0}, "options.threads"},
    {{SIZE, 1, 1, 0, 0, 0, NULL, INT_MIN, 0}, "options.threads"},
    {{SIZE, 1, 1, 0, 0, 0, NULL, 0, 1}, "options.reserved"},
    {{SIZE, 1, 1, 0, 0, 0, NULL, 0, -1}, "options.reserved"},
};
enum { OPTIONS = sizeof options / sizeof *options };

START_TEST(options_that_would_be_ignored_are_refused)
{
    for (int f = APPLY; f <= PLAN_CREATE; f++) {
        make_good(&damaged, f);
        damaged.options = &options[_i].options;
        expect(f, ELEMENTWISE_INVALID, options[_i].says);
        ck_assert(strstr(elementwise_last_error(), function_name(f)));
    }
}
END_TEST

START_TEST(neutral_options_are_the_plain_call)
{
    elementwise_options neutral[5];
    for (int i = 0; i < 5; i++)
        neutral[i] = (elementwise_options)ELEMENTWISE_OPTIONS_INIT;
    neutral[1].flags = ELEMENTWISE_STREAM;
    neutral[2].threads = 1;
    neutral[3].alpha = NAN;
    neutral[4].alpha = 0;
    for (int f = APPLY; f <= PLAN_CREATE; f++)
        for (int i = 0; i < 5; i++) {
            make_good(&good, f);
            good.options = &neutral[i];
            elementwise_status status = call(&good, f);
            ck_assert_msg(!status, "%s", elementwise_last_error());
        }
}
END_TEST

/* The smaller type on either side of every address of 16 bytes. */
START_TEST(every_type_is_refused_off_its_alignment)
{
    elementwise_dtype dtype = (elementwise_dtype)_i;
    int64_t shape[] = {1};
    _Alignas(64) char data[3][64];
    for (int k = 0; k < 3; k++)
        for (size_t shift = 0; shift < 16; shift++) {
            bool whole = shift % ew_types_align(dtype) == 0;
            elementwise_tensor t[3];
            memset(data, 0, sizeof data);
            for (int i = 0; i < 3; i++)
                t[i] = (elementwise_tensor){data[i], dtype, 1, shape, NULL};
            t[k].data = data[k] + shift;
            ck_assert_int_eq(elementwise_add(&t[0], &t[1], -1, &t[2]),
                             whole ? ELEMENTWISE_OK : ELEMENTWISE_MISALIGNED);
            t[k].strides = shape;
            ck_assert_int_eq(elementwise_add(&t[0], &t[1], -1, &t[2]),
                             whole ? ELEMENTWISE_OK : ELEMENTWISE_MISALIGNED);
        }
}
END_TEST

/* Nothing is there to be misaligned, missing, overlapping or too far away. */
START_TEST(without_elements_data_may_be_anything)
{
    static char *const data[] = {NULL, (char *)1, (char *)3};
    if (_i == NBYTES)
        return;
    for (int i = 0; i < 3; i++) {
        make_good(&good, _i);
        for (int k = 0; k < 3; k++) {
            good.shape[k][0] = 0;
            good.strides[k][0] = INT64_MIN;
            good.strides[k][1] = i ? INT64_MAX : 0;
            good.t[k].data = data[i];
        }
        elementwise_status status = call(&good, _i);
        ck_assert_msg(!status, "%s", elementwise_last_error());
    }
}
END_TEST

/* Along an extent of 1 nothing is stepped over. */
START_TEST(a_stride_that_is_not_walked_may_be_anything)
{
    int64_t shape[] = {1, 2}, strides[] = {INT64_MIN, 1};
    float numbers[2] = {1, 2};
    elementwise_tensor t = {numbers, ELEMENTWISE_F32, 2, shape, strides};
    ck_assert_int_eq(elementwise_add(&t, &t, -1, &t), ELEMENTWISE_OK);
    ck_assert(numbers[0] == 2 && numbers[1] == 4);
}
END_TEST

/* Views of 2^40 elements with strides of 0 are legal as inputs, so what is
   wrong is found in out: its shape, its address, its size. */
START_TEST(huge_views_of_one_element_are_judged_without_a_walk)
{
    int64_t huge[] = {TWO_TO(20), TWO_TO(20)}, still[] = {0, 0};
    int64_t row[] = {1, TWO_TO(20)}, far[] = {TWO_TO(31), TWO_TO(32)};
    float one[2] = {1, 2};
    elementwise_tensor x = {one, ELEMENTWISE_F32, 2, huge, still};
    elementwise_tensor y = {one, ELEMENTWISE_F32, 2, row, still};
    elementwise_tensor out = {one + 1, ELEMENTWISE_F32, 2, huge, still};
    ck_assert_int_eq(elementwise_add(&x, &y, -1, &out), ELEMENTWISE_OVERLAP);
    out.shape = row;
    ck_assert_int_eq(elementwise_add(&x, &y, -1, &out), ELEMENTWISE_BAD_SHAPE);
    out.shape = far;
    ck_assert_int_eq(elementwise_add(&x, &y, -1, &out), ELEMENTWISE_TOO_LARGE);
    x.shape = far;
    ck_assert_int_eq(elementwise_add(&x, &y, -1, &y), ELEMENTWISE_TOO_LARGE);
    ck_assert(one[0] == 1 && one[1] == 2);
}
END_TEST

START_TEST(missing_places_for_answers_are_refused)
{
    int64_t shape[] = {2}, room[ELEMENTWISE_MAX_NDIM];
    int ndim;
    elementwise_tensor t = {NULL, ELEMENTWISE_F32, 1, shape, NULL}, view;
    const elementwise_tensor *list[] = {&t};
    elementwise_status found[] = {
        elementwise_broadcast_shape(&t, &t, -1, NULL, room),
        elementwise_broadcast_shape(&t, &t, -1, &ndim, NULL),
        elementwise_broadcast_shapes(list, 1, NULL, room),
        elementwise_broadcast_shapes(list, 1, &ndim, NULL),
        elementwise_broadcast_shapes(NULL, 1, &ndim, room),
        elementwise_broadcast_shapes(list, 0, &ndim, room),
        elementwise_broadcast_shapes(list, -1, &ndim, room),
        elementwise_broadcast_shapes(list, INT_MIN, &ndim, room),
        elementwise_broadcast_to(&t, -1, 1, shape, NULL, &view),
        elementwise_broadcast_to(&t, -1, 1, shape, room, NULL),
        elementwise_nbytes(ELEMENTWISE_F32, 1, shape, NULL),
        elementwise_result_type(ELEMENTWISE_ADD, ELEMENTWISE_F32,
                                ELEMENTWISE_F32, NULL),
        elementwise_plan_create(NULL, ELEMENTWISE_ADD, &t, &t, -1, &t, NULL),
        elementwise_plan_run(NULL, room, room, room),
    };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        ck_assert_msg(found[i] == ELEMENTWISE_INVALID, "number %d", (int)i);
}
END_TEST

START_TEST(unknown_types_have_no_result_type)
{
    static const int unknown[] = {0, 16, -1, INT_MAX, INT_MIN};
    elementwise_dtype result = ELEMENTWISE_I8;
    for (int i = 0; i < 5; i++) {
        elementwise_dtype none = (elementwise_dtype)unknown[i];
        elementwise_op op =
            (elementwise_op)(unknown[i] == 16 ? 34 : unknown[i]);
        char says[40];
        ck_assert_int_eq(elementwise_result_type(op, ELEMENTWISE_I8,
                                                 ELEMENTWISE_I8, &result),
                         ELEMENTWISE_INVALID);
        ck_assert(strstr(elementwise_last_error(), "unknown op"));
        ck_assert_int_eq(elementwise_result_type(ELEMENTWISE_ADD, none,
                                                 ELEMENTWISE_I8, &result),
                         ELEMENTWISE_INVALID);
        ck_assert_int_eq(elementwise_result_type(ELEMENTWISE_ADD,
                                                 ELEMENTWISE_I8, none, &result),
                         ELEMENTWISE_INVALID);
        snprintf(says, sizeof says, "unknown dtype %d", unknown[i]);
        ck_assert(strstr(elementwise_last_error(), says));
    }
    ck_assert_int_eq(elementwise_result_type(ELEMENTWISE_ATAN2, ELEMENTWISE_I8,
                                             ELEMENTWISE_I8, &result),
                     ELEMENTWISE_BAD_DTYPE);
    ck_assert_int_eq(result, ELEMENTWISE_I8);
}
END_TEST

START_TEST(a_copy_does_not_drop_imaginary_parts)
{
    for (int src = ELEMENTWISE_BOOL; src <= ELEMENTWISE_C128; src++)
        for (int dst = ELEMENTWISE_BOOL; dst <= ELEMENTWISE_C128; dst++) {
            bool drops = src >= ELEMENTWISE_C64 && dst > ELEMENTWISE_BOOL &&
                         dst < ELEMENTWISE_C64;
            make_good(&damaged, COPY);
            damaged.t[0].dtype = (elementwise_dtype)src;
            damaged.t[2].dtype = (elementwise_dtype)dst;
            if (drops)
                expect(COPY, ELEMENTWISE_BAD_DTYPE, "imaginary part");
            else
                ck_assert_int_eq(call(&damaged, COPY), ELEMENTWISE_OK);
        }
}
END_TEST

/* Inputs that brought other libraries down: Paddle's advisories PDSA-2023-*
   and issues, TensorFlow's CVEs, others' issues. Plans are made for i8. */
static const struct {
    const char *from;
    int rank_x;
    int64_t x[6];
    int rank_y;
    int64_t y[6];
    int axis;
    elementwise_status status;
} advisories[] = {
    {"PDSA-2023-011", 1, {2}, 1, {5}, -1, ELEMENTWISE_BAD_SHAPE},
    {"PDSA-2023-015", 0, {0}, 5, {4, 0, 0, 2, 6}, -1, ELEMENTWISE_OK},
    {"PDSA-2023-008", 2, {0, 0}, 2, {0, 0}, -1, ELEMENTWISE_OK},
    {"Paddle issue 53395", 1, {1}, 5, {18, 0, 3, 4, 0}, -1, ELEMENTWISE_OK},
    {"Paddle PR 72584", 1, {1}, 1, {2281701379}, -1, ELEMENTWISE_OK},
    {"Paddle PR 72584, shifts", 1, {1}, 1, {4294967297}, -1, ELEMENTWISE_OK},
    {"Paddle, axis + rank(y) > rank(x)",
     3,
     {2, 3, 4},
     2,
     {3, 4},
     2,
     ELEMENTWISE_BAD_SHAPE},
    {"Paddle, axis = rank", 3, {2, 3, 4}, 1, {4}, 3, ELEMENTWISE_BAD_AXIS},
    {"Paddle, axis -2", 3, {2, 3, 4}, 1, {3}, -2, ELEMENTWISE_BAD_AXIS},
    {"Paddle, 0 against 3", 2, {2, 0}, 2, {2, 3}, -1, ELEMENTWISE_BAD_SHAPE},
    {"Paddle, 0 against 1", 2, {2, 0}, 2, {2, 1}, 0, ELEMENTWISE_OK},
    {"CVE-2022-41890", 0, {0}, 4, {2, 1024, 1024, 1024}, -1, ELEMENTWISE_OK},
    {"CVE-2022-41887", 2, {1, 2500000000}, 3, {2, 1, 1}, -1, ELEMENTWISE_OK},
    {"CVE-2022-41884",
     1,
     {1},
     3,
     {0, TWO_TO(31), TWO_TO(31)},
     -1,
     ELEMENTWISE_OK},
    {"CVE-2022-23567",
     2,
     {TWO_TO(32), 1},
     2,
     {1, TWO_TO(31)},
     -1,
     ELEMENTWISE_TOO_LARGE},
    {"CVE-2022-23593", 0, {0}, 0, {0}, -1, ELEMENTWISE_OK},
    {"CVE-2021-37659", 2, {4, 16}, 1, {0}, -1, ELEMENTWISE_BAD_SHAPE},
    {"CVE-2021-29590", 1, {3}, 1, {0}, -1, ELEMENTWISE_BAD_SHAPE},
    {"CVE-2021-29567", 2, {3, 5}, 2, {3, 4}, -1, ELEMENTWISE_BAD_SHAPE},
    {"TensorFlow issue 14924",
     6,
     {10, 6, 6, 4, 4, 1},
     6,
     {10, 1, 6, 1, 4, 5},
     -1,
     ELEMENTWISE_OK},
    {"tt-metal issue 15808", 2, {16, 1}, 3, {1, 1, 32}, -1, ELEMENTWISE_OK},
};
enum { ADVISORIES = sizeof advisories / sizeof *advisories };

START_TEST(inputs_of_advisories_are_answered)
{
    elementwise_tensor x = {NULL, ELEMENTWISE_I8, advisories[_i].rank_x,
                            advisories[_i].x, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_I8, advisories[_i].rank_y,
                            advisories[_i].y, NULL};
    elementwise_plan *plan = NULL;
    int ndim;
    int64_t shape[ELEMENTWISE_MAX_NDIM];
    elementwise_status status =
        elementwise_broadcast_shape(&x, &y, advisories[_i].axis, &ndim, shape);
    ck_assert_msg(status == advisories[_i].status, "%s: %s",
                  advisories[_i].from, elementwise_status_name(status));
    if (status == ELEMENTWISE_OK) {
        elementwise_tensor out = {NULL, ELEMENTWISE_I8, ndim, shape, NULL};
        ck_assert_int_eq(elementwise_plan_create(&plan, ELEMENTWISE_MAX, &x, &y,
                                                 advisories[_i].axis, &out,
                                                 NULL),
                         ELEMENTWISE_OK);
        elementwise_plan_destroy(plan);
    }
}
END_TEST

/* CVE-2022-41884 once more: 0 elements, but 20! of them without the 0. */
START_TEST(extents_beside_a_zero_count_by_the_size_of_an_element)
{
    int64_t one[] = {1}, shape[21], strides[21];
    elementwise_tensor src = {NULL, ELEMENTWISE_I8, 1, one, NULL}, view;
    for (int i = 0; i < 21; i++)
        shape[i] = i;
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, 21, shape, strides, &view),
        ELEMENTWISE_OK);
    src.dtype = ELEMENTWISE_F32;
    ck_assert_int_eq(
        elementwise_broadcast_to(&src, -1, 21, shape, strides, &view),
        ELEMENTWISE_TOO_LARGE);
}
END_TEST

/* All three alike, so that nothing but their size is wrong. */
START_TEST(tensors_larger_than_memory_are_too_large)
{
    static char data[3][16];
    for (int bits = 59; bits < 63; bits++) {
        int64_t shape[] = {TWO_TO(bits)};
        elementwise_tensor t[3];
        for (int k = 0; k < 3; k++)
            t[k] =
                (elementwise_tensor){data[k], ELEMENTWISE_C128, 1, shape, NULL};
        ck_assert_int_eq(elementwise_add(&t[0], &t[1], -1, &t[2]),
                         ELEMENTWISE_TOO_LARGE);
        t[0].ndim = 0;
        ck_assert_int_eq(elementwise_add(&t[0], &t[1], -1, &t[2]),
                         ELEMENTWISE_TOO_LARGE);
    }
}
END_TEST

/* NumPy issues 21673 and 16484: out of too small or too large a rank. */
START_TEST(out_of_another_rank_is_refused)
{
    static float data[3][6];
    int64_t two[] = {2}, more[] = {3, 2}, ones[] = {1, 2};
    int64_t behind[] = {2, 3}, one_behind[] = {2, 1};
    elementwise_tensor x = {data[0], ELEMENTWISE_F32, 0, NULL, NULL};
    elementwise_tensor y = {data[1], ELEMENTWISE_F32, 1, two, NULL};
    elementwise_tensor out[] = {
        {data[2], ELEMENTWISE_F32, 0, NULL, NULL},
        {data[2], ELEMENTWISE_F32, 2, more, NULL},
        {data[2], ELEMENTWISE_F32, 2, ones, NULL},
        {data[2], ELEMENTWISE_F32, 2, behind, NULL},
        {data[2], ELEMENTWISE_F32, 2, one_behind, NULL}};
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(elementwise_add(&x, &y, -1, &out[i]),
                         ELEMENTWISE_BAD_SHAPE);
}
END_TEST

/* Random descriptors from a set of awkward numbers. */
static const int64_t extents[] = {
    0,          1,          1,          1,
    1,          2,          3,          7,
    16,         65,         TWO_TO(15), TWO_TO(31) - 1,
    TWO_TO(31), TWO_TO(32), TWO_TO(40), TWO_TO(62) - 1,
    INT64_MAX,  -1,         INT64_MIN};
static const int64_t steps[] = {
    0,          1,          -1,         2,           3,         6,        -6,
    TWO_TO(31), TWO_TO(58), TWO_TO(60), -TWO_TO(61), INT64_MAX, INT64_MIN};
static const int ranks[] = {0, 1,  1,  2,  2,  3,  3,      4,
                            8, 16, 33, 64, 65, -1, INT_MAX};
static const int axes[] = {INT_MIN, -2, -1, -1, -1, 0, 1, 2, 3, 64, INT_MAX};

#define COUNT(list) ((int64_t)(sizeof(list) / sizeof *(list)))
#define DRAW(list) list[support_random(0, COUNT(list) - 1)]

enum { ROOM = ELEMENTWISE_MAX_NDIM + 1 };
static int64_t drawn_shape[3][ROOM], drawn_strides[3][ROOM];

static elementwise_tensor draw(int k, void *data)
{
    int64_t few = support_random(0, 9) ? 9 : COUNT(extents);
    elementwise_tensor t = {data, ELEMENTWISE_I8, DRAW(ranks), drawn_shape[k],
                            support_random(0, 1) ? drawn_strides[k] : NULL};
    for (int i = 0; i < ROOM; i++) {
        drawn_shape[k][i] = extents[support_random(0, few - 1)];
        drawn_strides[k][i] = DRAW(steps);
    }
    return t;
}

/* Whatever a plan refuses, the call refuses for the same reason: no fast
   path may know better. Plans that succeed are not run, as their memory does
   not exist. */
START_TEST(calls_refuse_what_plans_refuse)
{
    static char data[3][64];
    int refused = 0, made = 0;
    for (int round = 0; round < 100000; round++) {
        elementwise_tensor t[3];
        elementwise_plan *plan;
        int axis = DRAW(axes), ndim;
        for (int k = 0; k < 3; k++)
            t[k] = draw(k, data[k]);
        if (support_random(0, 3) &&
            !elementwise_broadcast_shape(&t[0], &t[1], axis, &ndim,
                                         drawn_shape[2]))
            t[2].ndim = ndim;
        elementwise_status planned = elementwise_plan_create(
            &plan, ELEMENTWISE_ADD, &t[0], &t[1], axis, &t[2], NULL);
        elementwise_plan_destroy(plan);
        made += !planned;
        if (!planned)
            continue;
        refused++;
        elementwise_status found = elementwise_add(&t[0], &t[1], axis, &t[2]);
        ck_assert_msg(found == planned, "round %d: %s, %s", round,
                      elementwise_status_name(planned),
                      elementwise_status_name(found));
    }
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_gt(made, 1000);
}
END_TEST

int main(void)
{
    TCase *fields_case = support_case("fields");
    TCase *others = support_case("others");
    TCase *hostile = support_case("hostile");
    tcase_add_loop_test(fields_case,
                        every_damaged_field_of_every_operand_is_refused, 0,
                        FUNCTIONS);
    tcase_add_loop_test(fields_case, fields_that_are_not_read_may_be_anything,
                        APPLY, FUNCTIONS);
    tcase_add_loop_test(
        fields_case, a_good_call_succeeds_and_leaves_the_message, 0, FUNCTIONS);
    tcase_add_loop_test(fields_case, without_elements_data_may_be_anything, 0,
                        FUNCTIONS);
    tcase_add_loop_test(others, an_axis_out_of_range_is_refused, 0,
                        BROADCAST_SHAPES);
    tcase_add_loop_test(others, an_axis_out_of_range_is_refused, BROADCAST_TO,
                        NBYTES);
    tcase_add_loop_test(others, an_out_of_another_kind_is_refused, 0, COPY);
    tcase_add_loop_test(others, an_out_that_overlaps_is_refused, 0,
                        PLAN_CREATE);
    tcase_add_loop_test(others, types_that_an_operation_lacks_are_refused, 0,
                        OPERATIONS);
    tcase_add_loop_test(others, no_value_changes_errno, 0, OPERATIONS);
    tcase_add_test(others, unknown_operations_are_refused);
    tcase_add_loop_test(others, options_that_would_be_ignored_are_refused, 0,
                        OPTIONS);
    tcase_add_test(others, neutral_options_are_the_plain_call);
    tcase_add_loop_test(others, every_type_is_refused_off_its_alignment,
                        ELEMENTWISE_BOOL, ELEMENTWISE_C128 + 1);
    tcase_add_test(others, missing_places_for_answers_are_refused);
    tcase_add_test(others, unknown_types_have_no_result_type);
    tcase_add_test(others, a_copy_does_not_drop_imaginary_parts);
    tcase_add_test(hostile, a_stride_that_is_not_walked_may_be_anything);
    tcase_add_test(hostile,
                   huge_views_of_one_element_are_judged_without_a_walk);
    tcase_add_loop_test(hostile, inputs_of_advisories_are_answered, 0,
                        ADVISORIES);
    tcase_add_test(hostile,
                   extents_beside_a_zero_count_by_the_size_of_an_element);
    tcase_add_test(hostile, tensors_larger_than_memory_are_too_large);
    tcase_add_test(hostile, out_of_another_rank_is_refused);
    tcase_add_test(hostile, calls_refuse_what_plans_refuse);
    TCase *const cases[] = {fields_case, others, hostile, NULL};
    return support_run("validate", cases);
}
