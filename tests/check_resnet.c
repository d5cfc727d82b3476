/*
 * Turns the elementwise layers of a residual block, as Caffe has them, into
 * calls: Scale with a learned bias in place, a gate of two bottoms, Eltwise
 * with coefficients, a bias per position, forward and backward over two
 * batches whose learned gradients add up, and a step of SGD with momentum.
 * Every number must have the bits that PyTorch gives (tests/conformance/
 * resnet.py), for blobs in row-major order and with channels last.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elementwise.h"
#include "support.h"

enum { BLOBS = 64, RANK = 4, NAME = 32, LINE = 1 << 16 };

struct blob {
    char name[NAME];
    int64_t shape[RANK], strides[RANK], n;
    float *values; /* row-major, as in the file */
    elementwise_tensor t;
};

static struct blob blobs[BLOBS];
static int count;
static bool channels_last;

static void must(elementwise_status status)
{
    ck_assert_msg(status == ELEMENTWISE_OK, "%s", elementwise_last_error());
}

/* Strides of a blob; channels are dimension 1 of 4. */
static void lay_out(struct blob *b)
{
    static const int last[RANK] = {1, 3, 2, 0}, row_major[RANK] = {3, 2, 1, 0};
    const int *order = b->t.ndim == RANK && channels_last ? last : row_major;
    int64_t step = 1;
    for (int i = 0; i < RANK; i++)
        if (order[i] < b->t.ndim) {
            b->strides[order[i]] = step;
            step *= b->shape[order[i]];
        }
}

static float *element(const struct blob *b, int64_t n)
{
    int64_t at = 0;
    for (int k = b->t.ndim; k-- > 0; n /= b->shape[k])
        at += n % b->shape[k] * b->strides[k];
    return (float *)b->t.data + at;
}

static struct blob *add_blob(const char *name, int ndim, const int64_t *shape)
{
    ck_assert_int_lt(count, BLOBS);
    struct blob *b = &blobs[count++];
    memset(b, 0, sizeof *b);
    snprintf(b->name, NAME, "%s", name);
    b->n = 1;
    for (int k = 0; k < ndim; k++)
        b->n *= b->shape[k] = shape[k];
    b->t = (elementwise_tensor){calloc((size_t)b->n, sizeof(float)),
                                ELEMENTWISE_F32, ndim, b->shape, b->strides};
    b->values = calloc((size_t)b->n, sizeof(float));
    ck_assert(b->t.data && b->values);
    lay_out(b);
    return b;
}

/* "name rank extents values" */
static void read_line(char *line)
{
    char *at = line + strcspn(line, " ");
    int64_t shape[RANK];
    *at++ = 0;
    int ndim = (int)strtol(at, &at, 10);
    ck_assert_int_le(ndim, RANK);
    for (int k = 0; k < ndim; k++)
        shape[k] = strtol(at, &at, 10);
    struct blob *b = add_blob(line, ndim, shape);
    for (int64_t n = 0; n < b->n; n++) {
        char *end;
        b->values[n] = strtof(at, &end);
        ck_assert_msg(end > at, "%s has too few values", b->name);
        *element(b, n) = b->values[n];
        at = end;
    }
}

static void read_blobs(void)
{
    const char *folder = getenv("srcdir");
    char path[4096], *line = malloc(LINE);
    snprintf(path, sizeof path, "%s/tests/conformance/resnet.txt",
             folder ? folder : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    ck_assert_ptr_nonnull(line);
    count = 0;
    while (fgets(line, LINE, file))
        if (line[0] != '#')
            read_line(line);
    fclose(file);
    free(line);
}

static void free_blobs(void)
{
    for (int i = 0; i < count; i++) {
        free(blobs[i].t.data);
        free(blobs[i].values);
    }
}

static struct blob *find(const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(blobs[i].name, name))
            return &blobs[i];
    return NULL;
}

/* A blob by "name_step" or "name1", whose data is that of the file, or for a
   result what was computed last. */
static const elementwise_tensor *get(const char *name, int number)
{
    char full[NAME];
    snprintf(full, NAME, "%s%d", name, number);
    struct blob *b = find(full);
    ck_assert_msg(b != NULL, "there is no %s", full);
    return &b->t;
}

/* Memory for a blob like another one, made at the first use. */
static const elementwise_tensor *work(const char *name, int number,
                                      const elementwise_tensor *like)
{
    char full[NAME];
    snprintf(full, NAME, "%s%d", name, number);
    struct blob *b = find(full);
    if (!b)
        b = add_blob(full, like->ndim, like->shape);
    return &b->t;
}

/* Whether the blob holds the values of the file. */
static void check_blob(const char *name, int number,
                       const elementwise_tensor *found)
{
    char full[NAME];
    snprintf(full, NAME, "%s%d", name, number);
    const struct blob *b = find(full);
    ck_assert_msg(b != NULL, "there is no %s", full);
    struct blob f = *b;
    f.t = *found;
    for (int64_t n = 0; n < b->n; n++) {
        float is = *element(&f, n);
        ck_assert_msg(!memcmp(&is, &b->values[n], sizeof is),
                      "%s[%lld] is %a, not %a, with channels %s", full,
                      (long long)n, (double)is, (double)b->values[n],
                      channels_last ? "last" : "first");
    }
}

/* Layers. branch is 1 or 2. */

static void with_number(elementwise_op op, const elementwise_tensor *x, float y,
                        const elementwise_tensor *out)
{
    elementwise_tensor ty = {&y, ELEMENTWISE_F32, 0, NULL, NULL};
    must(elementwise_apply(op, x, &ty, ELEMENTWISE_NUMPY, out, NULL));
}

/* BatchNorm with stored statistics: (x - mean) / sqrt(variance + eps). */
static const elementwise_tensor *normalise(int branch,
                                           const elementwise_tensor *x)
{
    const elementwise_tensor *variance = get("variance", branch);
    const elementwise_tensor *deviation = work("deviation", branch, variance);
    const elementwise_tensor *top = work("block", branch, x);
    with_number(ELEMENTWISE_ADD, variance, 0.25f, deviation);
    with_number(ELEMENTWISE_POW, deviation, 0.5f, deviation);
    must(elementwise_sub(x, get("mean", branch), 1, top));
    must(elementwise_div(top, deviation, 1, top));
    return top;
}

/* Scale with bias_term, in place, keeping what it had for the gradient. */
static void scale(int branch, const elementwise_tensor *x)
{
    must(elementwise_copy(x, ELEMENTWISE_NUMPY, work("kept", branch, x)));
    must(elementwise_mul(x, get("scale", branch), 1, x));
    must(elementwise_add(x, get("bias", branch), 1, x));
}

static void forward(int batch, int top_number)
{
    const elementwise_tensor *one = normalise(1, get("x1_", batch));
    const elementwise_tensor *two = normalise(2, get("x2_", batch));
    const elementwise_tensor *half = work("half", 0, one);
    const elementwise_tensor *relu = work("relu", 0, one);
    const elementwise_tensor *top = work("top", 0, one);
    scale(1, one);
    scale(2, two);
    must(elementwise_copy(two, ELEMENTWISE_NUMPY, work("gated", 0, two)));
    must(elementwise_mul(two, get("gate_", batch), 0, two));
    with_number(ELEMENTWISE_MUL, one, 0.5f, half);
    must(elementwise_add(two, half, ELEMENTWISE_NUMPY, relu));
    with_number(ELEMENTWISE_MAX, relu, 0, relu);
    must(elementwise_add(relu, get("position", 0), 2, top));
    check_blob("top_", top_number, top);
}

/* Learned operands: dy is added to, dx overwrites dout. */
static void learned_gradient(elementwise_op op, const elementwise_tensor *x,
                             const char *name, int branch, int axis,
                             const elementwise_tensor *g)
{
    elementwise_options add = ELEMENTWISE_OPTIONS_INIT;
    char diff[NAME];
    const elementwise_tensor *y = get(name, branch);
    snprintf(diff, NAME, "diff_%s", name);
    add.flags = ELEMENTWISE_ADD_TO_DY;
    must(elementwise_apply_grad(op, x, y, NULL, g, axis, g,
                                work(diff, branch, y), &add));
}

static void backward_branch(int batch, int branch, const elementwise_tensor *g)
{
    const elementwise_tensor *kept = get("kept", branch);
    const char *const names[] = {"", "dx1_", "dx2_"};
    learned_gradient(ELEMENTWISE_ADD, kept, "bias", branch, 1, g);
    learned_gradient(ELEMENTWISE_MUL, kept, "scale", branch, 1, g);
    must(elementwise_div_grad(kept, get("deviation", branch), g, 1, g, NULL));
    check_blob(names[branch], batch, g);
}

static void backward(int batch)
{
    float zero = 0;
    const elementwise_tensor scalar = {&zero, ELEMENTWISE_F32, 0, NULL, NULL};
    const elementwise_tensor *g = get("diff_", batch);
    const elementwise_tensor *relu = get("relu", 0),
                             *gate = get("gate_", batch);
    const elementwise_tensor *g1 = work("g", 1, g);
    const elementwise_tensor *dgate = work("gate_diff", 0, gate);
    learned_gradient(ELEMENTWISE_ADD, relu, "position", 0, 2, g);
    must(elementwise_max_grad(relu, &scalar, g, ELEMENTWISE_NUMPY, g, NULL));
    with_number(ELEMENTWISE_MUL, g, 0.5f, g1);
    must(elementwise_mul_grad(get("gated", 0), gate, g, 0, g, dgate));
    check_blob("dgate_", batch, dgate);
    backward_branch(batch, 1, g1);
    backward_branch(batch, 2, g);
}

/* history = 0.875 history + 0.125 diff; parameter -= history, in place. */
static void update(const char *name, int branch)
{
    char text[NAME];
    const elementwise_tensor *y = get(name, branch);
    snprintf(text, NAME, "diff_%s", name);
    const elementwise_tensor *diff = get(text, branch);
    snprintf(text, NAME, "history_%s", name);
    const elementwise_tensor *history = get(text, branch);
    snprintf(text, NAME, "d%s", name);
    check_blob(text, branch, diff);
    with_number(ELEMENTWISE_MUL, history, 0.875f, history);
    with_number(ELEMENTWISE_MUL, diff, 0.125f, diff);
    must(elementwise_add(history, diff, ELEMENTWISE_NUMPY, history));
    must(elementwise_sub(y, history, ELEMENTWISE_NUMPY, y));
    snprintf(text, NAME, "new_history_%s", name);
    check_blob(text, branch, history);
    snprintf(text, NAME, "new_%s", name);
    check_blob(text, branch, y);
}

START_TEST(a_residual_block_trains_as_in_pytorch)
{
    channels_last = _i;
    read_blobs();
    for (int batch = 0; batch < 2; batch++) {
        forward(batch, batch);
        backward(batch);
    }
    update("position", 0);
    for (int branch = 1; branch <= 2; branch++) {
        update("scale", branch);
        update("bias", branch);
    }
    forward(0, 2);
    free_blobs();
}
END_TEST

int main(void)
{
    TCase *tests = support_case("resnet");
    tcase_add_loop_test(tests, a_residual_block_trains_as_in_pytorch, 0, 2);
    TCase *const cases[] = {tests, NULL};
    return support_run("resnet", cases);
}
