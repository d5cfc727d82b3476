/*
 * Reads descriptions of plans as the JSON objects that they are, key by key,
 * and compares every entry with the plan that was described. The reader knows
 * the one form that a description may have and nothing else of JSON, so any
 * slip in quotes, commas or brackets ends it.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "elementwise.h"
#include "plan.h"
#include "support.h"

enum { LONG = 1 << 16 };
static char json[LONG];

/* Takes an exact text off the front of what is left to read. */
static void take(const char **at, const char *text)
{
    size_t n = strlen(text);
    ck_assert_msg(strncmp(*at, text, n) == 0, "'%s' expected at '%.40s'", text,
                  *at);
    *at += n;
}

/* A key with the colon behind it. */
static void take_key(const char **at, const char *key)
{
    take(at, "\"");
    take(at, key);
    take(at, "\":");
}

static void take_string(const char **at, const char *key, const char *value)
{
    take_key(at, key);
    take(at, "\"");
    take(at, value);
    take(at, "\"");
}

/* strtoll alone would also take blanks, a plus sign and leading zeros. */
static void take_number(const char **at, int64_t value)
{
    char *end, text[24];
    errno = 0;
    int64_t found = strtoll(*at, &end, 10);
    ck_assert_int_eq(errno, 0);
    ck_assert_int_eq(found, value);
    snprintf(text, sizeof text, "%lld", (long long)found);
    ck_assert_int_eq(end - *at, (int)strlen(text));
    take(at, text);
}

static void take_loops(const char **at, const struct elementwise_plan *p)
{
    static const char *const keys[] = {"x", "y", "out"};
    take_key(at, "loops");
    take(at, "[");
    for (int i = p->ndim - 1; i >= 0; i--) {
        take(at, "{");
        take_key(at, "extent");
        take_number(at, p->loop[i].n);
        for (int k = 0; k < 3; k++) {
            take(at, ",");
            take_key(at, keys[k]);
            take_number(at, p->loop[i].stride[k]);
        }
        take(at, i ? "}," : "}");
    }
    take(at, "]");
}

static void take_shape(const char **at, const struct elementwise_plan *p)
{
    take_key(at, "shape");
    take(at, "[");
    for (int i = 0; i < p->result_ndim; i++) {
        take(at, i ? "," : "");
        take_number(at, p->result_shape[i]);
    }
    take(at, "]");
}

struct facts {
    const char *op, *compute, *result;
    bool tiles;
    int64_t bytes;
    const char *kernel; /* the type it reads; NULL: as compute */
};

static void read_description(const struct elementwise_plan *p,
                             const struct facts *f)
{
    char kernel[60];
    const char *at = json;
    size_t n = elementwise_plan_describe(p, json, sizeof json);
    ck_assert_uint_eq(n, strlen(json));
    bool mixed = p->types.operand[EW_Y] != p->types.operand[EW_X] &&
                 !strcmp(f->op, "less_than"); /* only comparisons mix types */
    snprintf(kernel, sizeof kernel, "%s_%s%s", f->op,
             f->kernel ? f->kernel : f->compute, mixed ? "_u64" : "");
    take(&at, "{");
    take_string(&at, "op", f->op);
    take(&at, ",");
    take_string(&at, "compute", f->compute);
    take(&at, ",");
    take_string(&at, "result", f->result);
    take(&at, ",");
    take_string(&at, "level", elementwise_cpu_level());
    take(&at, ",");
    take_shape(&at, p);
    take(&at, ",");
    take_loops(&at, p);
    take(&at, ",");
    take_string(&at, "kernel", kernel);
    take(&at, ",");
    take_key(&at, "tiles");
    take(&at, f->tiles ? "true," : "false,");
    take(&at, "\"x_input\":\"as is\",\"y_input\":\"as is\",");
    take(&at, "\"rows\":\"as is\",\"tile\":[],\"kept\":[],\"stores\":\"as "
              "usual\",\"act\":\"none\",\"scaled\":[],");
    take_key(&at, "bytes");
    take_number(&at, f->bytes);
    take(&at, "}");
    ck_assert_int_eq(*at, 0);
}

static elementwise_plan *create(elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out)
{
    elementwise_plan *plan;
    elementwise_status status =
        elementwise_plan_create(&plan, op, x, y, axis, out, NULL);
    ck_assert_msg(!status, "%s", elementwise_last_error());
    return plan;
}

/* Shapes (2,3,4) and (3) under axis 1, in several types. */
static const struct {
    elementwise_op op;
    elementwise_dtype x, y, out;
    struct facts facts;
} calls[] = {
    {ELEMENTWISE_ADD,
     ELEMENTWISE_F32,
     ELEMENTWISE_F32,
     ELEMENTWISE_F32,
     {"add", "f32", "f32", false, 4 * (24 + 3 + 24), NULL}},
    {ELEMENTWISE_ADD,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     {"add", "f32", "f16", false, 2 * (24 + 3 + 24), "f16"}},
    {ELEMENTWISE_MAX,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     {"max", "f16", "f16", false, 2 * (24 + 3 + 24), NULL}},
    {ELEMENTWISE_POW,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     {"pow", "f32", "f16", false, 2 * (24 + 3 + 24), "f16"}},
    {ELEMENTWISE_ATAN2,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     ELEMENTWISE_F16,
     {"atan2", "f32", "f16", false, 2 * (24 + 3 + 24), "f16"}},
    {ELEMENTWISE_SUB,
     ELEMENTWISE_I8,
     ELEMENTWISE_F64,
     ELEMENTWISE_F64,
     {"sub", "f64", "f64", true, 24 + 8 * 3 + 8 * 24, NULL}},
    {ELEMENTWISE_MUL,
     ELEMENTWISE_F32,
     ELEMENTWISE_F32,
     ELEMENTWISE_F16,
     {"mul", "f32", "f32", true, 4 * 24 + 4 * 3 + 2 * 24, NULL}},
    {ELEMENTWISE_LESS_THAN,
     ELEMENTWISE_I64,
     ELEMENTWISE_U64,
     ELEMENTWISE_BOOL,
     {"less_than", "i64", "bool", false, 8 * 24 + 8 * 3 + 24, NULL}},
    {ELEMENTWISE_LOGICAL_XOR,
     ELEMENTWISE_C128,
     ELEMENTWISE_I8,
     ELEMENTWISE_BOOL,
     {"logical_xor", "bool", "bool", true, 16 * 24 + 3 + 24, NULL}},
    {ELEMENTWISE_NEXTAFTER,
     ELEMENTWISE_BF16,
     ELEMENTWISE_BF16,
     ELEMENTWISE_BF16,
     {"nextafter", "bf16", "bf16", false, 2 * (24 + 3 + 24), NULL}},
    {ELEMENTWISE_BITWISE_RIGHT_SHIFT,
     ELEMENTWISE_U8,
     ELEMENTWISE_U8,
     ELEMENTWISE_U8,
     {"bitwise_right_shift", "u8", "u8", false, 24 + 3 + 24, NULL}},
};
enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(a_description_tells_types_loops_and_bytes)
{
    int64_t shape[] = {2, 3, 4}, channels[] = {3};
    elementwise_tensor x = {NULL, calls[_i].x, 3, shape, NULL};
    elementwise_tensor y = {NULL, calls[_i].y, 1, channels, NULL};
    elementwise_tensor out = {NULL, calls[_i].out, 3, shape, NULL};
    elementwise_plan *plan = create(calls[_i].op, &x, &y, 1, &out);
    ck_assert_int_eq(plan->ndim, 3);
    read_description(plan, &calls[_i].facts);
    elementwise_plan_destroy(plan);
}
END_TEST

START_TEST(every_level_is_told)
{
    int64_t shape[] = {4};
    elementwise_tensor t = {NULL, ELEMENTWISE_F64, 1, shape, NULL};
    const struct facts facts = {"max", "f64", "f64", false, 3 * 32, NULL};
    for (int level = 0; level < EW_LEVELS; level++) {
        ew_cpu_limit(level);
        elementwise_plan *plan = create(ELEMENTWISE_MAX, &t, &t, -1, &t);
        read_description(plan, &facts);
        elementwise_plan_destroy(plan);
    }
    ew_cpu_limit(EW_LEVELS);
}
END_TEST

START_TEST(scalars_and_empty_results_are_described)
{
    int64_t none[] = {2, 0, 4};
    elementwise_tensor scalar = {NULL, ELEMENTWISE_I16, 0, NULL, NULL};
    elementwise_tensor empty = {NULL, ELEMENTWISE_I16, 3, none, NULL};
    const struct facts one = {"div", "i16", "i16", false, 6, NULL};
    const struct facts nothing = {"div", "i16", "i16", false, 0, NULL};
    elementwise_plan *plan =
        create(ELEMENTWISE_DIV, &scalar, &scalar, 0, &scalar);
    read_description(plan, &one);
    elementwise_plan_destroy(plan);
    plan = create(ELEMENTWISE_DIV, &empty, &scalar, 0, &empty);
    read_description(plan, &nothing);
    elementwise_plan_destroy(plan);
}
END_TEST

/* Negative strides, 64 dimensions, extents of ten digits. */
START_TEST(large_layouts_are_described)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM], strides[ELEMENTWISE_MAX_NDIM];
    int64_t still[ELEMENTWISE_MAX_NDIM] = {0};
    int64_t step = 1;
    for (int i = ELEMENTWISE_MAX_NDIM - 1; i >= 0; i--) {
        shape[i] = i % 3 == 0 ? 2 : 1;
        strides[i] = i % 6 ? step : -step;
        step *= 3 * shape[i] / 2;
    }
    elementwise_tensor x = {NULL, ELEMENTWISE_U8, ELEMENTWISE_MAX_NDIM, shape,
                            still};
    elementwise_tensor out = {NULL, ELEMENTWISE_U8, ELEMENTWISE_MAX_NDIM, shape,
                              strides};
    elementwise_plan *plan = create(ELEMENTWISE_MIN, &x, &out, -1, &out);
    ck_assert_int_ge(plan->ndim, 10);
    const struct facts facts = {
        "min", "u8", "u8", false, 1 + 2 * ((int64_t)1 << 22), NULL};
    read_description(plan, &facts);
    elementwise_plan_destroy(plan);
}
END_TEST

/* Each of them can be counted, but not all. */
START_TEST(bytes_beyond_64_bits_are_as_many_as_fit)
{
    int64_t shape[] = {INT64_MAX};
    elementwise_tensor t = {NULL, ELEMENTWISE_U8, 1, shape, NULL};
    elementwise_plan *plan = create(ELEMENTWISE_ADD, &t, &t, -1, &t);
    elementwise_plan_describe(plan, json, sizeof json);
    ck_assert_ptr_nonnull(strstr(json, "\"bytes\":18446744073709551615}"));
    elementwise_plan_destroy(plan);
}
END_TEST

/* y backwards, so that the bytes are those of both directions. */
START_TEST(bytes_do_not_depend_on_direction)
{
    int64_t shape[] = {2, 3}, back[] = {-3, -1};
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, 2, shape, NULL}, y = x;
    y.strides = back;
    elementwise_plan *plan = create(ELEMENTWISE_MAX, &x, &y, -1, &x);
    const struct facts facts = {"max", "f32", "f32", false, 3 * 24, NULL};
    read_description(plan, &facts);
    elementwise_plan_destroy(plan);
}
END_TEST

/* Runs of two bytes, which tiles of several loops take together. */
START_TEST(the_loops_of_a_tile_are_listed_from_the_outermost)
{
    int64_t shape[] = {128, 2200, 4, 2}, apart[] = {17600, 8, 2, 1};
    int64_t column[] = {128, 1, 1, 1};
    char expected[80], *at = expected;
    elementwise_tensor x = {NULL, ELEMENTWISE_U8, 4, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_U8, 4, column, NULL};
    int64_t turned[] = {17600, 8, 1, 4};
    x.strides = turned;
    elementwise_tensor out = {NULL, ELEMENTWISE_U8, 4, shape, apart};
    elementwise_plan *plan = create(ELEMENTWISE_MUL, &x, &y, -1, &out);
    ck_assert_int_gt(plan->pass.deep, 1);
    at += sprintf(at, "\"tile\":[");
    for (int i = plan->pass.deep - 1; i >= 0; i--)
        at += sprintf(at, i ? "%d," : "%d],", plan->pass.extent[i]);
    elementwise_plan_describe(plan, json, sizeof json);
    ck_assert_ptr_nonnull(strstr(json, expected));
    elementwise_plan_destroy(plan);
}
END_TEST

/* A transposed matrix that the outer loop repeats. */
START_TEST(an_input_that_is_kept_is_named)
{
    int64_t shape[] = {5, 200, 500}, turned[] = {0, 1, 200};
    elementwise_tensor t = {NULL, ELEMENTWISE_F32, 3, shape, NULL}, kept = t;
    kept.strides = turned;
    elementwise_plan *plan = _i ? create(ELEMENTWISE_ADD, &t, &kept, -1, &t)
                                : create(ELEMENTWISE_ADD, &kept, &t, -1, &t);
    elementwise_plan_describe(plan, json, sizeof json);
    ck_assert_ptr_nonnull(
        strstr(json, _i ? "\"kept\":[\"y\"]," : "\"kept\":[\"x\"],"));
    elementwise_plan_destroy(plan);
}
END_TEST

START_TEST(any_room_is_filled_as_by_snprintf)
{
    static char cut[LONG], expected[LONG];
    int64_t shape[] = {2, 3}, column[] = {2, 1};
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, 2, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, 2, column, NULL};
    elementwise_plan *plan = create(ELEMENTWISE_ADD, &x, &y, -1, &x);
    size_t n = elementwise_plan_describe(plan, json, sizeof json);
    ck_assert_uint_gt(n, 50);
    ck_assert_uint_eq(elementwise_plan_describe(plan, NULL, 0), n);
    for (size_t size = 0; size <= n + 2; size++) {
        memset(cut, '#', n + 10);
        memset(expected, '#', n + 10);
        snprintf(expected, size, "%s", json);
        ck_assert_uint_eq(elementwise_plan_describe(plan, cut, size), n);
        ck_assert_mem_eq(cut, expected, n + 10);
    }
    elementwise_plan_destroy(plan);
}
END_TEST

/* Of every subset of what a gradient may have. */
START_TEST(gradients_tell_outputs_act_and_scales)
{
    static const char *const lists[] = {"", "\"dx\"", "\"dy\"",
                                        "\"dx\",\"dy\""};
    int64_t shape[] = {2, 3}, column[] = {2, 1};
    elementwise_tensor x = {NULL, ELEMENTWISE_F16, 2, shape, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F16, 2, column, NULL};
    elementwise_options options = ELEMENTWISE_OPTIONS_INIT;
    const int outputs = 1 + _i % 3, added = _i / 3 % 4;
    char expected[LONG];
    elementwise_plan *plan;
    options.flags = (unsigned)added;
    if (_i / 12)
        options.act = ELEMENTWISE_ACT_RELU;
    if (_i / 12)
        options.scale_y = 2;
    ck_assert_int_eq(
        elementwise_plan_create_grad(&plan, ELEMENTWISE_MUL, &x, &y, NULL, &x,
                                     -1, outputs & 1 ? &x : NULL,
                                     outputs & 2 ? &y : NULL, &options),
        ELEMENTWISE_OK);
    snprintf(expected, sizeof expected,
             "{\"op\":\"mul_grad\",\"compute\":\"f32\",\"level\":\"%s\","
             "\"outputs\":[%s],\"summed\":[%s],\"added_to\":[%s],"
             "\"act\":\"%s\",\"scaled\":[%s],\"walks\":1}",
             elementwise_cpu_level(), lists[outputs], lists[outputs & 2],
             lists[outputs & added], elementwise_act_name(options.act),
             _i / 12 ? "\"y\"" : "");
    size_t n = elementwise_plan_describe(plan, json, sizeof json);
    ck_assert_str_eq(json, expected);
    ck_assert_uint_eq(n, strlen(expected));
    elementwise_plan_destroy(plan);
}
END_TEST

/* One for each summed output; a derivative of 0 and no elements take none. */
START_TEST(gradients_tell_how_often_they_walk)
{
    static const struct {
        elementwise_op op;
        int64_t x[2], y[2], out[2];
        const char *walks;
    } rows[] = {
        {ELEMENTWISE_MUL, {2, 3}, {2, 3}, {2, 3}, "\"walks\":1}"},
        {ELEMENTWISE_MUL, {2, 1}, {1, 3}, {2, 3}, "\"walks\":2}"},
        {ELEMENTWISE_FLOORDIV, {2, 1}, {1, 3}, {2, 3}, "\"walks\":0}"},
        {ELEMENTWISE_MUL, {0, 1}, {1, 3}, {0, 3}, "\"walks\":0}"},
    };
    elementwise_tensor x = {NULL, ELEMENTWISE_F64, 2, rows[_i].x, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F64, 2, rows[_i].y, NULL};
    elementwise_tensor out = {NULL, ELEMENTWISE_F64, 2, rows[_i].out, NULL};
    elementwise_plan *plan;
    ck_assert_int_eq(elementwise_plan_create_grad(&plan, rows[_i].op, &x, &y,
                                                  NULL, &out, -1, &x, &y, NULL),
                     ELEMENTWISE_OK);
    elementwise_plan_describe(plan, json, sizeof json);
    ck_assert_ptr_nonnull(strstr(json, rows[_i].walks));
    elementwise_plan_destroy(plan);
}
END_TEST

START_TEST(no_plan_has_no_description)
{
    char text[] = "unchanged";
    ck_assert_uint_eq(elementwise_plan_describe(NULL, text, sizeof text), 0);
    ck_assert_str_eq(text, "unchanged");
    ck_assert_uint_eq(elementwise_plan_describe(NULL, NULL, 0), 0);
}
END_TEST

int main(void)
{
    TCase *content = support_case("content");
    TCase *room = support_case("room");
    tcase_add_loop_test(content, a_description_tells_types_loops_and_bytes, 0,
                        CALLS);
    tcase_add_test(content, every_level_is_told);
    tcase_add_test(content, scalars_and_empty_results_are_described);
    tcase_add_test(content, large_layouts_are_described);
    tcase_add_test(content, bytes_beyond_64_bits_are_as_many_as_fit);
    tcase_add_test(content, bytes_do_not_depend_on_direction);
    tcase_add_test(content, the_loops_of_a_tile_are_listed_from_the_outermost);
    tcase_add_loop_test(content, an_input_that_is_kept_is_named, 0, 2);
    tcase_add_loop_test(content, gradients_tell_outputs_act_and_scales, 0, 24);
    tcase_add_loop_test(content, gradients_tell_how_often_they_walk, 0, 4);
    tcase_add_test(room, any_room_is_filled_as_by_snprintf);
    tcase_add_test(room, no_plan_has_no_description);
    TCase *const cases[] = {content, room, NULL};
    return support_run("describe", cases);
}
