/*
 * Turns one call on large tensors into many calls on pieces that fit memory.
 * A slab is a box of the result: whole inner dimensions, and ranges or single
 * indices of the outer ones, so that it is contiguous in the output. Where an
 * input has another order than the output, the box is also deep along the
 * outer dimensions, or every slab would touch every page of that input. The
 * inputs are views in the result's shape and are cut the same way. Data in the
 * other byte order, or at odd addresses, is copied slab by slab first.
 */
#define _DEFAULT_SOURCE
#include "slab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

enum {
    SLAB_BYTES = 16 << 20, /* of the widest of x, y and out */
    /* Where orders are mixed, every line of a box is on pages of its own, and
       the system maps 64 KB around each. */
    MIXED_BYTES = 1 << 20,
    SECOND = 1000 /* time is in milliseconds */
};

/* All slabs have the shape `step` but at the ends of dimensions. */
struct slab {
    int64_t step[ELEMENTWISE_MAX_NDIM];
    int64_t index[ELEMENTWISE_MAX_NDIM];   /* where this one begins */
    int64_t shape[ELEMENTWISE_MAX_NDIM];   /* and what it has */
    int64_t strides[ELEMENTWISE_MAX_NDIM]; /* of the output */
    int64_t done, total;                   /* elements */
    int64_t started, shown;                /* shown is 0 until it is */
};

static int inputs(const struct slab_job *job)
{
    return job->op ? 2 : 1;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec / (1000000000 / SECOND);
}

/* Only for jobs that take a second, and then five times a second. */
static void show_progress(struct slab *slab)
{
    int64_t time = now();
    if (time - slab->started < SECOND || time - slab->shown < SECOND / 5 ||
        !isatty(STDERR_FILENO))
        return;
    slab->shown = time;
    fprintf(stderr, "\r%3d %%",
            (int)((double)slab->done / (double)slab->total * 100));
    fflush(stderr);
}

static void hide_progress(const struct slab *slab)
{
    if (slab->shown)
        fprintf(stderr, "\r     \r");
}

static int64_t count(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    return n;
}

static bool is_empty(const struct slab_job *job)
{
    for (int i = 0; i < job->ndim; i++)
        if (job->shape[i] == 0)
            return true;
    return false;
}

static int64_t widest(const struct slab_job *job)
{
    size_t width = elementwise_dtype_size(job->dtype);
    for (int k = 0; k < inputs(job); k++) {
        size_t size = elementwise_dtype_size(job->input[k].view.dtype);
        width = size > width ? size : width;
    }
    return (int64_t)width;
}

/* Whether a file has the other order than the output. */
static bool mixes_orders(const struct slab_job *job)
{
    for (int k = 0; k < inputs(job); k++) {
        const struct operand *from = job->input[k].from;
        if (from->tensor.ndim > 1 && from->header.fortran != job->column_major)
            return true;
    }
    return false;
}

/* Lengthens the box, which has n elements, along one dimension after another
   while it has no more than `most`. Returns the elements it has then. */
static int64_t grow(const struct slab_job *job, struct slab *slab, bool inward,
                    int64_t n, int64_t most)
{
    for (int i = 0; i < job->ndim && n <= most / 2; i++) {
        int dim = inward ? i : job->ndim - 1 - i;
        int64_t extent = job->shape[dim], old = slab->step[dim];
        int64_t longer = old * (most / n);
        slab->step[dim] = longer < extent ? longer : extent;
        n = n / old * slab->step[dim];
    }
    return n;
}

static int64_t square_root(int64_t n)
{
    int64_t root = 1;
    while (root * root < n)
        root *= 2;
    return root;
}

/* Chooses the box. What has no elements is one slab of its own shape, however
   large that is. */
static void begin(const struct slab_job *job, struct slab *slab)
{
    bool mixes = mixes_orders(job);
    int64_t most = (mixes ? MIXED_BYTES : SLAB_BYTES) / widest(job);
    int64_t n = 1, stride = 1;
    memset(slab, 0, sizeof *slab);
    slab->started = now();
    if (is_empty(job)) {
        memcpy(slab->step, job->shape, (size_t)job->ndim * sizeof *job->shape);
        return;
    }
    for (int i = job->ndim - 1; i >= 0; i--) {
        slab->step[i] = 1;
        slab->strides[i] = stride;
        stride *= job->shape[i];
    }
    slab->total = stride;
    if (mixes) {
        n = grow(job, slab, false, n, square_root(most));
        n = grow(job, slab, true, n, most);
    }
    grow(job, slab, false, n, most);
}

static bool is_whole(const struct slab_job *job, const struct slab *slab)
{
    return count(job->ndim, slab->step) == slab->total;
}

/* The shape of the slab that starts at index. */
static void measure(const struct slab_job *job, struct slab *slab)
{
    for (int i = 0; i < job->ndim; i++) {
        int64_t left = job->shape[i] - slab->index[i];
        slab->shape[i] = slab->step[i] < left ? slab->step[i] : left;
    }
}

static bool next(const struct slab_job *job, struct slab *slab)
{
    slab->done += count(job->ndim, slab->shape);
    if (slab->done >= slab->total)
        return false;
    for (int i = job->ndim - 1; i >= 0; i--) {
        slab->index[i] += slab->step[i];
        if (slab->index[i] < job->shape[i])
            break;
        slab->index[i] = 0;
    }
    return true;
}

/* The slab of a tensor that has the result's shape. The stride of an extent
   of 1 may be anything, but the index is 0 there. */
static elementwise_tensor part_of(const elementwise_tensor *whole,
                                  const struct slab *slab)
{
    elementwise_tensor part = *whole;
    int64_t offset = 0;
    for (int i = 0; i < part.ndim; i++)
        offset += slab->index[i] ? slab->index[i] * part.strides[i] : 0;
    part.data = (char *)part.data +
                offset * (int64_t)elementwise_dtype_size(part.dtype);
    part.shape = slab->shape;
    return part;
}

static elementwise_tensor output_of(const struct slab_job *job,
                                    const struct slab *slab)
{
    const elementwise_tensor out = {.data = job->out,
                                    .dtype = job->dtype,
                                    .ndim = job->ndim,
                                    .shape = job->shape,
                                    .strides = slab->strides};
    return part_of(&out, slab);
}

/* An unsigned type of the same size: what is not a number of this machine
   yet is moved as bits. C128 has no such type and is moved as it is. */
static elementwise_dtype bits_of(elementwise_dtype dtype)
{
    switch (elementwise_dtype_size(dtype)) {
    case 1:
        return ELEMENTWISE_U8;
    case 2:
        return ELEMENTWISE_U16;
    case 4:
        return ELEMENTWISE_U32;
    case 8:
        return ELEMENTWISE_U64;
    default:
        return dtype;
    }
}

static void swap_bytes(unsigned char *at, size_t n, size_t size)
{
    for (const unsigned char *end = at + n * size; at < end; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char byte = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = byte;
        }
}

/* Copies a slab of an input to its scratch memory, in the byte order of this
   machine. Along strides of 0 there is one index, in the copy too, unless the
   slab is empty: then there is no room for any. */
static elementwise_status stage(const struct slab_input *input,
                                elementwise_tensor *part, int64_t *strides)
{
    int64_t shape[ELEMENTWISE_MAX_NDIM], n = 1;
    for (int i = part->ndim - 1; i >= 0; i--) {
        bool one = part->strides[i] == 0 && part->shape[i] > 0;
        shape[i] = one ? 1 : part->shape[i];
        strides[i] = part->strides[i] ? n : 0;
        n *= shape[i];
    }
    const elementwise_tensor from = {.data = part->data,
                                     .dtype = bits_of(part->dtype),
                                     .ndim = part->ndim,
                                     .shape = shape,
                                     .strides = part->strides};
    const elementwise_tensor to = {.data = input->scratch,
                                   .dtype = from.dtype,
                                   .ndim = part->ndim,
                                   .shape = shape};
    elementwise_status status = elementwise_copy(&from, ELEMENTWISE_NUMPY, &to);
    size_t real = operand_part(part->dtype);
    if (!status && input->from->header.foreign)
        swap_bytes(input->scratch,
                   (size_t)n * elementwise_dtype_size(part->dtype) / real,
                   real);
    part->data = input->scratch;
    part->strides = strides;
    return status;
}

static elementwise_status run_slab(const struct slab_job *job,
                                   const struct slab *slab)
{
    int64_t strides[2][ELEMENTWISE_MAX_NDIM];
    elementwise_tensor part[2], out = output_of(job, slab);
    elementwise_status status = ELEMENTWISE_OK;
    for (int k = 0; k < inputs(job) && !status; k++) {
        part[k] = part_of(&job->input[k].view, slab);
        if (job->input[k].scratch)
            status = stage(&job->input[k], &part[k], strides[k]);
    }
    if (status)
        return status;
    if (!job->op)
        return elementwise_copy(&part[0], ELEMENTWISE_NUMPY, &out);
    return elementwise_apply(job->op, &part[0], &part[1], ELEMENTWISE_NUMPY,
                             &out, job->options);
}

/* Gives the pages from a part's first to its last element back. They are of
   files, so nothing is lost: what was written is in the page cache, and what
   is read again comes from it. Strides are not negative here. */
static void release(const elementwise_tensor *part)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)part->data, start = from / page * page;
    int64_t last = 0;
    for (int i = 0; i < part->ndim; i++)
        if (part->shape[i] > 1)
            last += (part->shape[i] - 1) * part->strides[i];
    from += ((uintptr_t)last + 1) * elementwise_dtype_size(part->dtype);
    madvise((void *)start, from - start, MADV_DONTNEED);
}

static void release_slab(const struct slab_job *job, const struct slab *slab)
{
    const elementwise_tensor out = output_of(job, slab);
    release(&out);
    for (int k = 0; k < inputs(job); k++) {
        const elementwise_tensor part = part_of(&job->input[k].view, slab);
        if (job->input[k].from->map)
            release(&part);
    }
}

static elementwise_status run(const struct slab_job *job, struct slab *slab)
{
    bool whole = is_whole(job, slab);
    elementwise_status status;
    do {
        measure(job, slab);
        status = run_slab(job, slab);
        if (!whole)
            release_slab(job, slab);
        show_progress(slab);
    } while (!status && next(job, slab));
    hide_progress(slab);
    return status;
}

/* Whatever is not ready needs room for one slab of it. */
static bool allocate_scratch(struct slab_job *job, const struct slab *slab)
{
    int64_t n = count(job->ndim, slab->step);
    for (int k = 0; k < inputs(job); k++) {
        struct slab_input *input = &job->input[k];
        size_t size = elementwise_dtype_size(input->view.dtype);
        if (operand_is_ready(input->from))
            continue;
        input->scratch = malloc((size_t)n * size + 1);
        if (!input->scratch)
            return false;
    }
    return true;
}

int slab_view(struct slab_job *job, int k, const struct operand *operand,
              int axis)
{
    struct slab_input *input = &job->input[k];
    input->from = operand;
    elementwise_status status =
        elementwise_broadcast_to(&operand->tensor, axis, job->ndim, job->shape,
                                 input->strides, &input->view);
    return status ? command_fail_status(status) : COMMAND_DONE;
}

static void reverse(int n, int64_t *array)
{
    for (int i = 0; i < n / 2; i++) {
        int64_t swap = array[i];
        array[i] = array[n - 1 - i];
        array[n - 1 - i] = swap;
    }
}

void slab_transpose(struct slab_job *job)
{
    job->column_major = !job->column_major;
    reverse(job->ndim, job->shape);
    for (int k = 0; k < inputs(job); k++)
        reverse(job->ndim, job->input[k].strides);
}

int slab_run(struct slab_job *job)
{
    struct slab slab;
    int code = COMMAND_TOO_BIG;
    begin(job, &slab);
    if (allocate_scratch(job, &slab)) {
        elementwise_status status = run(job, &slab);
        code = status ? command_fail_status(status) : COMMAND_DONE;
    } else {
        command_fail(code, "no memory for a slab of an input");
    }
    for (int k = 0; k < inputs(job); k++)
        free(job->input[k].scratch);
    return code;
}

int slab_load(struct operand *operand)
{
    struct npy *header = &operand->header;
    size_t size = header->nbytes + 1;
    struct slab_job job = {.dtype = header->dtype, .ndim = header->ndim};
    if (operand_is_ready(operand))
        return COMMAND_DONE;
    /* Private memory would lose what it has when slab_run gives it back. */
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return command_fail(COMMAND_TOO_BIG,
                            "%s: no memory to convert its %zu bytes",
                            operand->file, header->nbytes);
    job.out = map;
    memcpy(job.shape, header->shape, sizeof job.shape);
    int code = slab_view(&job, 0, operand, ELEMENTWISE_NUMPY);
    if (!code && header->fortran)
        slab_transpose(&job);
    if (!code)
        code = slab_run(&job);
    operand_close(operand);
    operand->map = operand->tensor.data = map;
    operand->size = size;
    header->foreign = false;
    header->offset = 0;
    return code;
}
