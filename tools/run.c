/*
 * Turns `elementwise OP X Y -o OUT` and `elementwise copy X -o OUT` into
 * files: inputs are mapped, checked before anything is created, and cut into
 * slabs.
 */
#include <string.h>

#include "call.h"
#include "command.h"
#include "number.h"
#include "output.h"
#include "slab.h"
#include "text.h"

static int check_output(const struct arguments *a)
{
    if (!a->output)
        return command_fail(COMMAND_USAGE, "%s: -o FILE is missing",
                            a->command);
    if (!strcmp(a->output, "-"))
        return command_fail(COMMAND_USAGE,
                            "%s: -o - is not supported: the output is mapped "
                            "and must be a file",
                            a->command);
    return COMMAND_DONE;
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
    if (!code)
        code = output_commit(&output);
    output_discard(&output);
    return code;
}

/* Opens files first: a number's type follows from the other operand's. */
static int open_operands(const struct arguments *a, struct operand operand[2])
{
    int code = COMMAND_DONE;
    for (int k = 0; k < 2 && !code; k++)
        if (!number_is(a->operands[k]))
            code = operand_open(&operand[k], a->operands[k], a->bf16);
    for (int k = 0; k < 2 && !code; k++)
        if (number_is(a->operands[k]))
            code = operand_set_number(&operand[k], a->operands[k],
                                      operand[1 - k].tensor.dtype);
    return code;
}

static int apply(const struct arguments *a, const struct operand operand[2])
{
    struct call call = {.op = a->op,
                        .x = &operand[0].tensor,
                        .y = &operand[1].tensor,
                        .axis = a->axis,
                        .dtype = a->out_dtype};
    elementwise_plan *plan;
    elementwise_status status = call_resolve(&call, &plan);
    elementwise_plan_destroy(plan);
    if (status)
        return command_fail_status(status);
    struct slab_job job = {
        .op = call.op, .dtype = call.dtype, .ndim = call.ndim};
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
    if (number_is(a->operands[0]) && number_is(a->operands[1]))
        return command_fail(COMMAND_USAGE,
                            "%s: both operands are numbers; one must be a "
                            "file (./%s is a file)",
                            a->command, a->operands[0]);
    int code = check_output(a);
    if (!code)
        code = open_operands(a, operand);
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
