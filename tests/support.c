/*
 * Turns a seed into shapes, layouts and values, memory into tensors that
 * notice a stray access, and an output into a verdict: the reference computes
 * every element anew, from copies of the inputs, and one that it does not
 * accept ends the test with all that is needed to repeat it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "reference.h"

enum { MARGIN = 256, CANARY = 0xA5 };

/* ---------------------------------------------------------------------
 * Programs
 */

static uint64_t state;

static uint64_t seed(void)
{
    const char *text = getenv("CHECK_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

static void start_test(void)
{
    state = seed();
    ew_cpu_limit(EW_LEVELS);
}

TCase *support_case(const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, 600);
    tcase_add_checked_fixture(tests, start_test, NULL);
    return tests;
}

int support_run(const char *name, TCase *const cases[])
{
    Suite *suite = suite_create(name);
    for (; *cases; cases++)
        suite_add_tcase(suite, *cases);
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (failed)
        printf("# CHECK_SEED=%llu\n", (unsigned long long)seed());
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool support_long(void)
{
    return getenv("CHECK_LONG") != NULL;
}

bool support_level(int level)
{
    ew_cpu_limit(level);
    if (ew_cpu_level() == level)
        return true;
    printf("# skipped: this machine has no level %s\n", ew_cpu_name(level));
    fflush(stdout);
    return false;
}

/* ---------------------------------------------------------------------
 * Random numbers
 */

/* splitmix64 */
uint64_t support_bits(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int64_t support_random(int64_t least, int64_t most)
{
    uint64_t count = (uint64_t)most - (uint64_t)least + 1;
    uint64_t bits = support_bits();
    return (int64_t)((uint64_t)least + (count ? bits % count : bits));
}

void support_shuffle(int *order, int first, int n)
{
    for (int i = n - 1; i > first; i--) {
        int other = first + (int)support_random(0, i - first), swap = order[i];
        order[i] = order[other];
        order[other] = swap;
    }
}

/* ---------------------------------------------------------------------
 * Values
 */

static elementwise_dtype part_of(elementwise_dtype type)
{
    if (type == ELEMENTWISE_C64)
        return ELEMENTWISE_F32;
    return type == ELEMENTWISE_C128 ? ELEMENTWISE_F64 : type;
}

/* Rounds to a real type. */
static void put(elementwise_dtype type, double number, void *element)
{
    struct ref_value exact = ref_float(ELEMENTWISE_F64, number, 0);
    struct ref_value value = ref_convert(&exact, type);
    ref_store(&value, element);
}

static void put_integer(elementwise_dtype type, uint64_t bits, void *element)
{
    struct ref_value value = ref_integer(type, bits);
    ref_store(&value, element);
}

static int integer_specials(elementwise_dtype type, char *elements)
{
    static const int64_t list[] = {0,  1,  2,  3,  5,   7,          8,
                                   9,  10, 15, 16, 17,  31,         32,
                                   33, 63, 64, 65, 100, 0x55555555, 1234567891};
    int count = 0, width = 8 * (int)ref_size(type);
    size_t size = ref_size(type);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        uint64_t bits = (uint64_t)list[i];
        put_integer(type, bits, elements + size * (size_t)count++);
        put_integer(type, -bits, elements + size * (size_t)count++);
    }
    uint64_t top = (uint64_t)1 << (width - 1);
    for (uint64_t near = 0; near < 5; near++)
        put_integer(type, top + near - 2, elements + size * (size_t)count++);
    put_integer(type, top >> 1, elements + size * (size_t)count++);
    put_integer(type, top >> (width / 2), elements + size * (size_t)count++);
    return count;
}

/* The numbers at which a format ends. */
static int float_limits(elementwise_dtype type, double list[])
{
    static const int digits[] = {11, 8, 24, 53},
                     least[] = {-24, -133, -149, -1074},
                     most[] = {16, 128, 128, 1024};
    int k = (int)type - ELEMENTWISE_F16, d = digits[k];
    double limits[] = {ldexp(1, least[k]),
                       ldexp(3, least[k]),
                       ldexp(1, least[k] + d - 1),
                       ldexp(ldexp(1, d - 1) - 1, least[k]),
                       ldexp(ldexp(1, d) - 1, most[k] - d),
                       ldexp(1, most[k] - 1),
                       ldexp(1, d),
                       ldexp(1, d - 1) + 1,
                       ldexp(1, d - 1) - 0.5,
                       1 + ldexp(1, 1 - d),
                       1 - ldexp(1, -d),
                       ldexp(1, least[k] / 2),
                       ldexp(5, most[k] / 2 - 2)};
    memcpy(list, limits, sizeof limits);
    return (int)(sizeof limits / sizeof *limits);
}

static int float_specials(elementwise_dtype type, char *elements)
{
    double list[40] = {0,   0.1, 0.5,      1,   1.5, 2,   2.5,  3,  7,      10,
                       100, 0.7, INFINITY, NAN, 709, 745, 1e-5, 88, 2.0 / 3};
    int count = 19 + float_limits(type, list + 19);
    for (int i = 0; i < count; i++) {
        put(type, list[i], elements + ref_size(type) * (size_t)i * 2);
        put(type, -list[i], elements + ref_size(type) * (size_t)(i * 2 + 1));
    }
    return 2 * count;
}

static int complex_specials(elementwise_dtype type, char *elements)
{
    static const double list[] = {0, -0.0, 1, -1, 0.5, 3e9, -7, INFINITY, NAN};
    enum { PARTS = sizeof list / sizeof *list };
    size_t half = ref_size(type) / 2;
    for (int i = 0; i < PARTS * PARTS; i++) {
        char *element = elements + 2 * half * (size_t)i;
        put(part_of(type), list[i / PARTS], element);
        put(part_of(type), list[i % PARTS], element + half);
    }
    return PARTS * PARTS;
}

int support_specials(elementwise_dtype type, void *elements)
{
    if (type == ELEMENTWISE_BOOL) {
        memcpy(elements, "\0\1\2\200\377", 5);
        return 5;
    }
    if (ref_is_integer(type))
        return integer_specials(type, elements);
    return ref_is_float(type) ? float_specials(type, elements)
                              : complex_specials(type, elements);
}

/* One of them, which are made once. */
static void special(elementwise_dtype type, void *element)
{
    static uint64_t elements[REF_TYPES + 1][SUPPORT_SPECIALS * 2];
    static int counts[REF_TYPES + 1];
    if (!counts[type])
        counts[type] = support_specials(type, elements[type]);
    size_t size = ref_size(type);
    size_t chosen = (size_t)support_random(0, counts[type] - 1);
    memcpy(element, (char *)elements[type] + chosen * size, size);
}

/* Not far from 1, with a significand of random length, so that sums, products
   and conversions meet ties. */
static void moderate(elementwise_dtype type, void *element)
{
    uint64_t bits = support_bits();
    int drop = (int)support_random(0, 63);
    if (ref_is_float(type)) {
        double number = (double)((int64_t)bits >> drop);
        put(type, ldexp(number, drop - 75 + (int)support_random(0, 23)),
            element);
    } else {
        put_integer(type, bits >> drop, element);
    }
}

static void real_value(elementwise_dtype type, void *element)
{
    uint64_t bits = support_bits();
    switch (support_random(0, 4)) {
    case 0:
        special(type, element);
        break;
    case 1:
        put(type,
            (double)(type >= ELEMENTWISE_U8 && type <= ELEMENTWISE_U64
                         ? support_random(0, 12)
                         : support_random(-12, 12)),
            element);
        break;
    case 2:
        memcpy(element, &bits, ref_size(type));
        break;
    default:
        moderate(type, element);
    }
}

void support_value(elementwise_dtype type, void *element)
{
    if (type == ELEMENTWISE_BOOL) {
        int64_t byte = support_random(0, 7) ? support_random(0, 1)
                                            : support_random(0, 255);
        *(unsigned char *)element = (unsigned char)byte;
        return;
    }
    if (!ref_is_complex(type)) {
        real_value(type, element);
        return;
    }
    real_value(part_of(type), element);
    real_value(part_of(type), (char *)element + ref_size(type) / 2);
}

/* ---------------------------------------------------------------------
 * Memory
 */

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Room for size bytes between two pages that cannot be touched. */
static void reserve(struct support_tensor *s, size_t size)
{
    size_t whole = (size + page() - 1) / page() * page() + 2 * page();
    if (s->map && s->map_size >= whole)
        return;
    if (s->map)
        munmap(s->map, s->map_size);
    s->map_size = whole;
    s->map = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(s->map, MAP_FAILED);
    int failed =
        mprotect(s->map + page(), whole - 2 * page(), PROT_READ | PROT_WRITE);
    ck_assert_int_eq(failed, 0);
}

/* The elements before element 0, and all that the tensor spans. */
static void extent(const elementwise_tensor *t, int64_t *before, int64_t *all)
{
    int64_t stride = 1, count = 1;
    *before = 0;
    *all = 1;
    for (int k = t->ndim - 1; k >= 0; k--) {
        int64_t step = t->strides ? t->strides[k] : stride;
        int64_t way = (t->shape[k] - 1) * step;
        if (t->shape[k] > 1) {
            *before += way < 0 ? -way : 0;
            *all += way < 0 ? -way : way;
        }
        stride *= t->shape[k];
        count *= t->shape[k];
    }
    if (count == 0)
        *before = *all = 0;
}

void support_make(struct support_tensor *s, elementwise_dtype type, int ndim,
                  const int64_t shape[], const int64_t strides[],
                  enum support_edge edge)
{
    int64_t before, all;
    s->t = (elementwise_tensor){NULL, type, ndim, s->shape,
                                strides ? s->strides : NULL};
    if (ndim)
        memcpy(s->shape, shape, (size_t)ndim * sizeof *shape);
    if (ndim && strides)
        memcpy(s->strides, strides, (size_t)ndim * sizeof *strides);
    extent(&s->t, &before, &all);
    size_t size = ref_size(type), span = (size_t)all * size;
    s->area_size = span + MARGIN;
    reserve(s, s->area_size);
    char *end = s->map + s->map_size - page();
    s->area = edge == SUPPORT_LOW ? s->map + page() : end - s->area_size;
    char *first = edge == SUPPORT_LOW ? s->area : s->area + MARGIN;
    s->t.data = first + (size_t)before * size;
    memset(s->area, CANARY, s->area_size);
}

void support_line(struct support_tensor *s, elementwise_dtype type, int64_t n,
                  int64_t stride, enum support_edge edge)
{
    support_make(s, type, 1, &n, &stride, edge);
}

void support_free(struct support_tensor *s)
{
    if (s->map)
        munmap(s->map, s->map_size);
    free(s->copy);
    *s = (struct support_tensor){0};
}

static int64_t count_of(const elementwise_tensor *t)
{
    int64_t count = 1;
    for (int k = 0; k < t->ndim; k++)
        count *= t->shape[k];
    return count;
}

void support_fill(struct support_tensor *s)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    if (count_of(&s->t) == 0)
        return;
    do
        support_value(s->t.dtype, ref_at(&s->t, index));
    while (ref_next(s->t.ndim, s->t.shape, index));
}

void support_no_zeros(struct support_tensor *s)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    static const char zeros[8];
    size_t size = ref_size(s->t.dtype);
    bool integer = s->t.dtype == ELEMENTWISE_BOOL || ref_is_integer(s->t.dtype);
    if (count_of(&s->t) == 0 || !integer)
        return;
    do {
        void *element = ref_at(&s->t, index);
        if (memcmp(element, zeros, size) == 0)
            memset(element, 1, size);
    } while (ref_next(s->t.ndim, s->t.shape, index));
}

void support_keep(struct support_tensor *s)
{
    if (s->copy_size < s->area_size) {
        free(s->copy);
        s->copy = malloc(s->area_size);
        s->copy_size = s->area_size;
        ck_assert_ptr_nonnull(s->copy);
    }
    memcpy(s->copy, s->area, s->area_size);
    s->was = s->t;
    s->was.data = s->copy + ((char *)s->t.data - s->area);
}

bool support_same(const struct support_tensor *s)
{
    return memcmp(s->area, s->copy, s->area_size) == 0;
}

void support_restore(struct support_tensor *s)
{
    memcpy(s->area, s->copy, s->area_size);
}

bool support_gaps_same(const struct support_tensor *s)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    if (count_of(&s->t) == 0)
        return support_same(s);
    char *expected = malloc(s->area_size);
    ck_assert_ptr_nonnull(expected);
    memcpy(expected, s->copy, s->area_size);
    do {
        const char *element = ref_at(&s->t, index);
        memcpy(expected + (element - s->area), element, ref_size(s->t.dtype));
    } while (ref_next(s->t.ndim, s->t.shape, index));
    bool same = memcmp(expected, s->area, s->area_size) == 0;
    free(expected);
    return same;
}

/* ---------------------------------------------------------------------
 * Layouts
 */

void support_strides(int ndim, const int64_t shape[], bool input,
                     int64_t strides[])
{
    int order[ELEMENTWISE_MAX_NDIM];
    bool permuted = support_random(0, 2) == 0;
    int64_t step = support_random(0, 2) ? 1 : support_random(1, 4);
    for (int k = 0; k < ndim; k++) {
        int j = permuted ? (int)support_random(0, k) : k;
        order[k] = order[j];
        order[j] = k;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        int k = permuted ? order[i] : i;
        strides[k] = support_random(0, 5) ? step : -step;
        if (input && support_random(0, 9) == 0)
            strides[k] = 0;
        else
            step *= shape[k] ? shape[k] : 1;
        if (support_random(0, 5) == 0)
            step += support_random(1, 3);
    }
}

static void swap_operands(struct support_shapes *s)
{
    struct support_shapes from = *s;
    s->x_ndim = from.y_ndim;
    s->y_ndim = from.x_ndim;
    memcpy(s->x, from.y, sizeof s->x);
    memcpy(s->y, from.x, sizeof s->y);
}

/* x gets the whole rank and y is placed over it. */
static void place_y(int ndim, const int64_t whole[], struct support_shapes *s)
{
    bool right = support_random(0, 1);
    int rank = (int)support_random(0, ndim);
    int start = right ? ndim - rank : (int)support_random(0, ndim - rank);
    s->axis = right ? ELEMENTWISE_NUMPY : start;
    s->x_ndim = ndim;
    s->y_ndim = rank;
    for (int k = 0; k < ndim; k++) {
        bool both = k >= start && k < start + rank;
        s->x[k] = both && support_random(0, 4) == 0 ? 1 : whole[k];
        if (both)
            s->y[k - start] = support_random(0, 3) == 0 ? 1 : whole[k];
    }
    while (!right && s->y_ndim < ndim - 1 && support_random(0, 2) == 0)
        s->y[s->y_ndim++] = 1;
    if (!right && rank == 0)
        s->axis = (int)support_random(-5, 9);
}

void support_pair(int max_ndim, int64_t max_extent, struct support_shapes *s)
{
    int64_t whole[ELEMENTWISE_MAX_NDIM], count = 1;
    int ndim = (int)support_random(0, max_ndim);
    for (int k = 0; k < ndim; k++) {
        whole[k] = support_random(1, max_extent);
        if (count * whole[k] > 3000)
            whole[k] = 1 + (support_random(0, 3) == 0 && count < 3000);
        if (support_random(0, 40) == 0)
            whole[k] = 0;
        count *= whole[k] ? whole[k] : 1;
    }
    place_y(ndim, whole, s);
    if (s->x_ndim != s->y_ndim && support_random(0, 2) == 0)
        swap_operands(s);
    struct ref_fit fit;
    elementwise_tensor x = {NULL, ELEMENTWISE_F32, s->x_ndim, s->x, NULL};
    elementwise_tensor y = {NULL, ELEMENTWISE_F32, s->y_ndim, s->y, NULL};
    ck_assert_int_eq(ref_fit(&x, &y, s->axis, &fit), ELEMENTWISE_OK);
    s->ndim = fit.ndim;
    memcpy(s->out, fit.shape, sizeof s->out);
}

int support_count_shapes(int max_ndim, int least, int most)
{
    int count = 0, of_rank = 1;
    for (int ndim = 0; ndim <= max_ndim; ndim++, of_rank *= most - least + 1)
        count += of_rank;
    return count;
}

int support_nth_shape(int n, int least, int most, int64_t shape[])
{
    int ndim = 0, of_rank = 1, extents = most - least + 1;
    for (; n >= of_rank; of_rank *= extents, ndim++)
        n -= of_rank;
    for (int k = ndim; k-- > 0; n /= extents)
        shape[k] = least + n % extents;
    return ndim;
}

/* ---------------------------------------------------------------------
 * Comparison
 */

/* Appends "(1,2,3)". */
static void append_list(char *text, size_t size, int n, const int64_t list[])
{
    for (int k = 0; k <= n; k++) {
        size_t used = strlen(text);
        const char *before = k == 0 ? "(" : k == n ? "" : ",";
        if (k < n)
            snprintf(text + used, size - used, "%s%lld", before,
                     (long long)list[k]);
        else
            snprintf(text + used, size - used, "%s)", n ? "" : "(");
    }
}

void support_describe(const elementwise_tensor *t, char *text, size_t size)
{
    snprintf(text, size, "%s ", elementwise_dtype_name(t->dtype));
    append_list(text, size, t->ndim, t->shape);
    if (t->strides) {
        snprintf(text + strlen(text), size - strlen(text), " strides ");
        append_list(text, size, t->ndim, t->strides);
    }
}

/* Big-endian, so that it reads as a number. */
static void write_hex(elementwise_dtype type, const void *element, char *text)
{
    const unsigned char *bytes = element;
    size_t size = ref_size(part_of(type)), parts = ref_size(type) / size;
    for (size_t part = 0; part < parts; part++) {
        text += sprintf(text, "%s0x", part ? "," : "");
        for (size_t i = size; i-- > 0;)
            text += sprintf(text, "%02x", bytes[part * size + i]);
    }
}

enum { TEXT = 1200 };

/* Ends the test. */
static void report(const char *what, elementwise_op op,
                   const elementwise_tensor *const tensors[], int axis,
                   const char *detail)
{
    char text[3][TEXT] = {"", "", ""};
    for (int k = 0; k < 3; k++)
        if (tensors[k])
            support_describe(tensors[k], text[k], TEXT);
    ck_abort_msg("%s: %s, x %s, y %s, axis %d, out %s, level %s, seed %llu%s",
                 what, op ? elementwise_op_name(op) : "no operation", text[0],
                 text[1], axis, text[2], elementwise_cpu_level(),
                 (unsigned long long)seed(), detail);
}

struct call {
    elementwise_op op;
    const elementwise_tensor *x, *y, *out;
    int axis;
    struct ref_fit fit;
};

static void report_call(const struct call *c, const char *what,
                        const char *detail)
{
    const elementwise_tensor *tensors[] = {c->x, c->y, c->out};
    report(what, c->op, tensors, c->axis, detail);
}

static void report_element(const struct call *c, const int64_t index[],
                           const void *x, const void *y,
                           const struct ref_value *expected, const void *got)
{
    char at[TEXT] = "", hex[4][48] = {"", "", "", ""}, detail[TEXT + 400];
    char element[16];
    ref_store(expected, element);
    append_list(at, sizeof at, c->fit.ndim, index);
    write_hex(c->x->dtype, x, hex[0]);
    if (c->y)
        write_hex(c->y->dtype, y, hex[1]);
    write_hex(c->out->dtype, element, hex[2]);
    write_hex(c->out->dtype, got, hex[3]);
    snprintf(detail, sizeof detail, ", at %s x %s y %s expected %s got %s", at,
             hex[0], hex[1], hex[2], hex[3]);
    report_call(c, "wrong value", detail);
}

/* The status that one pair of elements causes. */
static elementwise_status status_at(const struct call *c, const int64_t index[])
{
    void *x = ref_element(c->x, c->fit.ndim, c->fit.x, index);
    void *y = ref_element(c->y, c->fit.ndim, c->fit.y, index);
    struct ref_value a = ref_load(c->x->dtype, x), result;
    struct ref_value b = ref_load(c->y->dtype, y);
    return ref_compute(c->op, &a, &b, &result);
}

static bool may_divide_by_zero(const struct call *c)
{
    elementwise_dtype type = ref_promote(c->x->dtype, c->y->dtype);
    return ref_is_integer(type) &&
           (c->op == ELEMENTWISE_DIV || c->op == ELEMENTWISE_POW ||
            c->op == ELEMENTWISE_MOD || c->op == ELEMENTWISE_FLOORDIV ||
            c->op == ELEMENTWISE_TRUNCDIV || c->op == ELEMENTWISE_FMOD);
}

static elementwise_status expect(struct call *c, elementwise_dtype out)
{
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    elementwise_status status = ref_fit(c->x, c->y, c->axis, &c->fit);
    if (status != ELEMENTWISE_OK)
        return status;
    if (!ref_writes(c->op, c->x->dtype, c->y->dtype, out))
        return ELEMENTWISE_BAD_DTYPE;
    for (int k = 0; k < c->fit.ndim; k++)
        if (c->fit.shape[k] == 0)
            return ELEMENTWISE_OK;
    if (!may_divide_by_zero(c))
        return ELEMENTWISE_OK;
    do
        status = status_at(c, index);
    while (status == ELEMENTWISE_OK &&
           ref_next(c->fit.ndim, c->fit.shape, index));
    return status;
}

elementwise_status support_expected(elementwise_op op,
                                    const struct support_tensor *x,
                                    const struct support_tensor *y, int axis,
                                    elementwise_dtype out)
{
    struct call c = {.op = op, .x = &x->was, .y = &y->was, .axis = axis};
    return expect(&c, out);
}

static void verify_element(const struct call *c, const int64_t index[])
{
    void *x = ref_element(c->x, c->fit.ndim, c->fit.x, index);
    void *y = ref_element(c->y, c->fit.ndim, c->fit.y, index);
    void *got = ref_at(c->out, index);
    struct ref_value a = ref_load(c->x->dtype, x), result;
    struct ref_value b = ref_load(c->y->dtype, y);
    if (ref_accepts(c->op, &a, &b, c->out->dtype, got, NULL))
        return;
    ref_compute(c->op, &a, &b, &result);
    result = ref_convert(&result, c->out->dtype);
    report_element(c, index, x, y, &result, got);
}

static bool empty(const struct call *c)
{
    return count_of(c->out) == 0;
}

/* Two statuses, for report_call. */
static const char *statuses(elementwise_status expected, elementwise_status got,
                            char *text, size_t size)
{
    snprintf(text, size, ", expected %s got %s",
             elementwise_status_name(expected), elementwise_status_name(got));
    return text;
}

void support_verify(elementwise_status status, elementwise_op op,
                    const struct support_tensor *x,
                    const struct support_tensor *y, int axis,
                    const struct support_tensor *out)
{
    char text[80];
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    struct call c = {op, &x->was, &y->was, &out->t, axis, {0}};
    elementwise_status expected = expect(&c, out->t.dtype);
    if (status != expected)
        report_call(&c, "wrong status",
                    statuses(expected, status, text, sizeof text));
    if ((x != out && !support_same(x)) || (y != out && !support_same(y)))
        report_call(&c, "an input was written", "");
    if (status != ELEMENTWISE_OK && !support_same(out))
        report_call(&c, "out was written in spite of the error", "");
    if (!support_gaps_same(out))
        report_call(&c, "bytes around out were written", "");
    if (status != ELEMENTWISE_OK || empty(&c))
        return;
    do
        verify_element(&c, index);
    while (ref_next(c.fit.ndim, c.fit.shape, index));
}

static void verify_copied(const struct call *c, const int64_t index[])
{
    char expected[16];
    void *from = ref_element(c->x, c->fit.ndim, c->fit.x, index);
    void *got = ref_at(c->out, index);
    struct ref_value value = ref_load(c->x->dtype, from);
    value = ref_convert(&value, c->out->dtype);
    ref_store(&value, expected);
    if (!ref_same(c->out->dtype, expected, got))
        report_element(c, index, from, NULL, &value, got);
}

void support_verify_copy(elementwise_status status,
                         const struct support_tensor *src, int axis,
                         const struct support_tensor *dst)
{
    char text[80];
    int64_t index[ELEMENTWISE_MAX_NDIM] = {0};
    struct call c = {0, &src->was, NULL, &dst->t, axis, {0}};
    struct ref_fit fit;
    elementwise_status expected = ref_fit(&dst->t, &src->was, axis, &fit);
    c.fit = fit;
    memcpy(c.fit.x, fit.y, sizeof fit.y);
    if (status != expected)
        report_call(&c, "wrong status",
                    statuses(expected, status, text, sizeof text));
    if (!support_same(src))
        report_call(&c, "src was written", "");
    if (!support_gaps_same(dst))
        report_call(&c, "bytes around dst were written", "");
    if (status != ELEMENTWISE_OK || empty(&c))
        return;
    do
        verify_copied(&c, index);
    while (ref_next(c.fit.ndim, c.fit.shape, index));
}
