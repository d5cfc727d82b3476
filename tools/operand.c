/*
 * Turns the name of a .npy file into a tensor on its mapped bytes, without
 * reading more than the header: strides describe column-major files, so no
 * order is ever copied.
 */
#define _DEFAULT_SOURCE
#include "operand.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "number.h"

static int fail_file(const char *file, const char *reason)
{
    return command_fail(COMMAND_FILE, "%s: %s", file, reason);
}

/* An empty file cannot be mapped and stays NULL and 0. */
static int map_open_file(struct operand *operand, int fd)
{
    struct stat info;
    if (fstat(fd, &info))
        return fail_file(operand->file, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return fail_file(operand->file, "is a directory");
    if (!S_ISREG(info.st_mode))
        return fail_file(operand->file,
                         "is not a regular file and cannot be mapped");
    if ((uint64_t)info.st_size > SIZE_MAX)
        return fail_file(operand->file, "is too large for this machine");
    if (info.st_size == 0)
        return COMMAND_DONE;
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED && errno == ENOMEM)
        return command_fail(COMMAND_TOO_BIG, "%s: no memory to map %lld bytes",
                            operand->file, (long long)info.st_size);
    if (map == MAP_FAILED)
        return fail_file(operand->file, strerror(errno));
    operand->map = map;
    operand->size = (size_t)info.st_size;
    return COMMAND_DONE;
}

static int map_file(struct operand *operand)
{
    if (!strcmp(operand->file, "-"))
        return fail_file("-", "standard input cannot be mapped; give a file");
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int fd = open(operand->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fail_file(operand->file, strerror(errno));
    int code = map_open_file(operand, fd);
    close(fd);
    return code;
}

/* Extents of 0 count as 1, so that nothing can overflow that nbytes did
   not. */
static void set_column_major(struct operand *operand)
{
    int64_t step = 1;
    for (int i = 0; i < operand->header.ndim; i++) {
        operand->strides[i] = step;
        step *= operand->header.shape[i] ? operand->header.shape[i] : 1;
    }
    operand->tensor.strides = operand->strides;
}

int operand_open(struct operand *operand, const char *file, bool bf16)
{
    char why[200];
    memset(operand, 0, sizeof *operand);
    operand->file = file;
    int code = map_file(operand);
    if (code)
        return code;
    struct npy *header = &operand->header;
    if (!npy_parse(operand->map, operand->size, header, why, sizeof why))
        return fail_file(file, why);
    if (header->untyped && !bf16)
        return command_fail(COMMAND_FILE,
                            "%s: descr '%s' is two bytes of any meaning; "
                            "--dtype bf16 reads them as bf16",
                            file, header->descr);
    operand->tensor = (elementwise_tensor){
        .data = operand->map + header->offset,
        .dtype = header->dtype,
        .ndim = header->ndim,
        .shape = header->shape,
    };
    if (header->fortran)
        set_column_major(operand);
    return COMMAND_DONE;
}

int operand_set_number(struct operand *operand, const char *text,
                       elementwise_dtype other)
{
    memset(operand, 0, sizeof *operand);
    operand->tensor.data = operand->number;
    return number_read(text, other, &operand->tensor.dtype, operand->number);
}

void operand_close(struct operand *operand)
{
    if (operand->map)
        munmap(operand->map, operand->size);
    operand->map = NULL;
}

size_t operand_part(elementwise_dtype dtype)
{
    bool is_complex = dtype == ELEMENTWISE_C64 || dtype == ELEMENTWISE_C128;
    return elementwise_dtype_size(dtype) / (is_complex ? 2 : 1);
}

bool operand_is_ready(const struct operand *operand)
{
    return !operand->header.foreign &&
           operand->header.offset % operand_part(operand->tensor.dtype) == 0;
}
