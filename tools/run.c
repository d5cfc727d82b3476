/*
 * Turns `elementwise OP X Y -o OUT` and `elementwise copy X -o OUT` into
 * files: inputs are mapped, checked before anything is created, and cut into
 * slabs. Gradients and sums are one call each: cut, they would be rounded
 * once per slab.
 */
#include <string.h>

#include "call.h"
#include "command.h"
#include "number.h"
#include "output.h"
#include "slab.h"
#include "text.h"

static int check_name(const struct arguments *a, const char *option,
                      const char *name)
{
    if (!name || strcmp(name, "-") != 0)
        return COMMAND_DONE;
    return command_fail(COMMAND_USAGE,
                        "%s: %s - is not supported: the output is mapped and "
                        "must be a file",
                        a->command, option);
}

static int check_output(const struct arguments *a)
{
    if (!a->output)
        return command_fail(COMMAND_USAGE, "%s: -o FILE is missing",
                            a->command);
    return check_name(a, "-o", a->output);
}

/* Files of one dimension or none fit either order. */
static bool all_column_major(const struct slab_job *job)
{
    int row_major = 0, column_major = 0;
    for (int k = 0; k < 2; k++) {
        const struct npy *header = &job->input[k].from->header;
        row_major += header->ndim > 1 && !header->fortran;
        column_major += header->ndim > 1 && header->fortran;
    }
    return column_major && !row_major;
}

/* Unless code says that something failed, gives outputs their names. Frees
   them. Returns the exit code. */
static int finish(struct output *output, int n, int code)
{
    for (int k = 0; k < n && !code; k++)
        code = output_commit(&output[k]);
    for (int k = 0; k < n; k++)
        output_discard(&output[k]);
    return code;
}

/* Creates the output, runs the job into it and gives it its name. */
static int write_output(struct slab_job *job, const char *name)
{
    struct output output;
    bool fortran = job->op && all_column_major(job);
    int code = output_create(&output, name, job->dtype, job->ndim, job->shape,
                             fortran);
    job->out = output.data;
    if (fortran)
        slab_transpose(job);
    if (!code)
        code = slab_run(job);
    return finish(&output, 1, code);
}

/* Opens files first: a number's type follows from the other operand's. */
static int open_operands(const struct arguments *a, char **text,
                         struct operand operand[2])
{
    int code = COMMAND_DONE;
    if (number_is(text[0]) && number_is(text[1]))
        return command_fail(COMMAND_USAGE,
                            "%s: both operands are numbers; one must be a "
                            "file (./%s is a file)",
                            a->command, text[0]);
    for (int k = 0; k < 2 && !code; k++)
        if (!number_is(text[k]))
            code = operand_open(&operand[k], text[k], a->bf16);
    for (int k = 0; k < 2 && !code; k++)
        if (number_is(text[k]))
            code = operand_set_number(&operand[k], text[k],
                                      operand[1 - k].tensor.dtype);
    return code;
}

static int apply(const struct arguments *a, const struct operand operand[2])
{
    struct call call = {.op = a->op,
                        .x = &operand[0].tensor,
                        .y = &operand[1].tensor,
                        .axis = a->axis,
                        .options = &a->options,
                        .dtype = a->out_dtype};
    elementwise_plan *plan;
    elementwise_status status = call_resolve(&call, &plan);
    elementwise_plan_destroy(plan);
    if (status)
        return command_fail_status(status);
    struct slab_job job = {.op = call.op,
                           .options = &a->options,
                           .dtype = call.dtype,
                           .ndim = call.ndim};
    int code = COMMAND_DONE;
    memcpy(job.shape, call.shape, sizeof job.shape);
    for (int k = 0; k < 2 && !code; k++)
        code = slab_view(&job, k, &operand[k],
                         call_axis_of(&call, &operand[k].tensor));
    return code ? code : write_output(&job, a->output);
}

int command_apply(const struct arguments *arguments)
{
    struct operand operand[2] = {{.map = NULL}, {.map = NULL}};
    const struct arguments *a = arguments;
    if (a->count != 2)
        return command_fail(COMMAND_USAGE,
                            "%s: two operands are needed, files or numbers; "
                            "there %s %d",
                            a->command, a->count == 1 ? "is" : "are", a->count);
    int code = check_output(a);
    if (!code)
        code = open_operands(a, a->operands, operand);
    if (!code)
        code = apply(a, operand);
    operand_close(&operand[0]);
    operand_close(&operand[1]);
    return code;
}

static int copy(const struct arguments *a, const struct operand *operand)
{
    struct slab_job job = {.dtype = a->out_dtype, .ndim = operand->header.ndim};
    memcpy(job.shape, operand->header.shape, sizeof job.shape);
    if (!job.dtype)
        job.dtype = operand->tensor.dtype;
    if (a->shape &&
        !text_parse_shape(a->shape, strlen(a->shape), &job.ndim, job.shape))
        return command_fail(
            COMMAND_USAGE, "copy: '%s' is not a shape such as 2x3x4", a->shape);
    int code = slab_view(&job, 0, operand, a->axis);
    return code ? code : write_output(&job, a->output);
}

int command_copy(const struct arguments *arguments)
{
    struct operand operand = {.map = NULL};
    if (arguments->count != 1)
        return command_fail(COMMAND_USAGE,
                            "copy: one file is needed; there are %d",
                            arguments->count);
    int code = check_output(arguments);
    if (!code)
        code = operand_open(&operand, arguments->operands[0], arguments->bf16);
    if (!code)
        code = copy(arguments, &operand);
    operand_close(&operand);
    return code;
}

/* Creates the output of a tensor and lets the tensor's data be there. */
static int create(struct output *output, const char *name,
                  elementwise_tensor *tensor, bool fortran)
{
    int code = output_create(output, name, tensor->dtype, tensor->ndim,
                             tensor->shape, fortran);
    tensor->data = output->data;
    return code;
}

/* The library's message is about pointers. */
static int refuse_gradient(const struct arguments *a,
                           const struct operand *operand)
{
    int k = a->dx && operand[0].tensor.dtype < ELEMENTWISE_F16 ? 0 : 1;
    if (!command_has_gradient(elementwise_op_from_name(a->operands[0])))
        return command_fail_status(ELEMENTWISE_NO_GRADIENT);
    return command_fail(COMMAND_REFUSED,
                        "grad: %s is %s, and integers have no gradient; leave "
                        "out --d%c, or convert it by elementwise copy",
                        a->operands[1 + k],
                        elementwise_dtype_name(operand[k].tensor.dtype),
                        "xy"[k]);
}

/* A plan finds out what is wrong before outputs take room on the disk. */
static int check_grad(const struct arguments *a, const struct operand *operand,
                      const elementwise_tensor d[2])
{
    elementwise_plan *plan;
    elementwise_status status = elementwise_plan_create_grad(
        &plan, elementwise_op_from_name(a->operands[0]), &operand[0].tensor,
        &operand[1].tensor, NULL, &operand[2].tensor, a->axis,
        a->dx ? &d[0] : NULL, a->dy ? &d[1] : NULL, NULL);
    elementwise_plan_destroy(plan);
    if (status == ELEMENTWISE_NO_GRADIENT)
        return refuse_gradient(a, operand);
    return status ? command_fail_status(status) : COMMAND_DONE;
}

/* A gradient has shape, type and order of its operand. */
static int grad(const struct arguments *a, struct operand operand[3])
{
    const char *const name[2] = {a->dx, a->dy};
    struct output output[2] = {{.target = NULL}, {.target = NULL}};
    elementwise_tensor d[2] = {operand[0].tensor, operand[1].tensor};
    elementwise_status status;
    int code = check_grad(a, operand, d);
    for (int k = 0; k < 3 && !code; k++)
        code = slab_load(&operand[k]);
    for (int k = 0; k < 2 && !code; k++) {
        d[k] = operand[k].tensor;
        if (name[k])
            code =
                create(&output[k], name[k], &d[k], operand[k].header.fortran);
    }
    if (!code && a->dx && a->dy && !strcmp(output[0].target, output[1].target))
        code = command_fail(COMMAND_USAGE, "grad: --dx and --dy are one file");
    if (!code) {
        status = elementwise_apply_grad(
            elementwise_op_from_name(a->operands[0]), &operand[0].tensor,
            &operand[1].tensor, NULL, &operand[2].tensor, a->axis,
            a->dx ? &d[0] : NULL, a->dy ? &d[1] : NULL, &a->options);
        code = status ? command_fail_status(status) : COMMAND_DONE;
    }
    return finish(output, 2, code);
}

int command_grad(const struct arguments *arguments)
{
    struct operand operand[3] = {{.map = NULL}, {.map = NULL}, {.map = NULL}};
    const struct arguments *a = arguments;
    if (a->count != 4)
        return command_fail(COMMAND_USAGE,
                            "grad: an operation, two operands and the "
                            "gradient of the result are needed");
    if (!a->dx && !a->dy)
        return command_fail(COMMAND_USAGE,
                            "grad: --dx FILE or --dy FILE is missing");
    if (!command_operation(a))
        return COMMAND_USAGE;
    int code = check_name(a, "--dx", a->dx);
    if (!code)
        code = check_name(a, "--dy", a->dy);
    if (!code)
        code = open_operands(a, a->operands + 1, operand);
    if (!code)
        code = operand_open(&operand[2], a->operands[3], a->bf16);
    if (!code)
        code = grad(a, operand);
    for (int k = 0; k < 3; k++)
        operand_close(&operand[k]);
    return code;
}

static int sum_to(const struct arguments *a, struct operand *src,
                  const struct npy *like)
{
    struct output output = {.target = NULL};
    elementwise_tensor dst = {
        .dtype = src->tensor.dtype, .ndim = like->ndim, .shape = like->shape};
    /* Without data only what is wrong with the shapes is found: before the
       output takes room on the disk. */
    elementwise_tensor question = src->tensor;
    question.data = NULL;
    elementwise_status status =
        elementwise_sum_to(&question, a->axis, &dst, NULL);
    int code = status && status != ELEMENTWISE_INVALID
                   ? command_fail_status(status)
                   : slab_load(src);
    if (!code)
        code = create(&output, a->output, &dst, false);
    if (!code) {
        status = elementwise_sum_to(&src->tensor, a->axis, &dst, NULL);
        code = status ? command_fail_status(status) : COMMAND_DONE;
    }
    return finish(&output, 1, code);
}

int command_sum_to(const struct arguments *arguments)
{
    struct operand src = {.map = NULL}, like = {.map = NULL};
    const struct arguments *a = arguments;
    if (a->count != 2)
        return command_fail(COMMAND_USAGE,
                            "sum-to: a file and a shape, or a file that has "
                            "it, are needed");
    const char *shape = a->operands[1];
    int code = check_output(a);
    if (!code)
        code = operand_open(&src, a->operands[0], a->bf16);
    /* Of the second file only the shape matters, so V2 is fine. */
    if (!code && !text_parse_shape(shape, strlen(shape), &like.header.ndim,
                                   like.header.shape))
        code = operand_open(&like, shape, true);
    if (!code)
        code = sum_to(a, &src, &like.header);
    operand_close(&src);
    operand_close(&like);
    return code;
}
