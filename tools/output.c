/*
 * Turns a name, a shape and a type into mapped memory to write elements to,
 * and that into a file of this name. Until it is complete the file has
 * another name in the same folder, so it may replace an input that is still
 * mapped, and nobody ever sees half of it.
 */
#define _DEFAULT_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "npy.h"

/* What a signal handler has to remove: it can be told in no other way. */
static const char *volatile unfinished[OUTPUT_MOST];

static void remove_unfinished(int number)
{
    static const char lost[] =
        "elementwise: a mapped file shrank or its disk failed\n";
    for (int i = 0; i < OUTPUT_MOST; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
    if (number == SIGBUS) {
        ssize_t ignored = write(STDERR_FILENO, lost, sizeof lost - 1);
        (void)ignored;
        _exit(COMMAND_FILE);
    }
    raise(number); /* its action is the default one again */
}

/* NULL stands for no file, before or after. */
static void replace_unfinished(const char *before, const char *after)
{
    int i = 0;
    while (i < OUTPUT_MOST - 1 && unfinished[i] != before)
        i++;
    unfinished[i] = after;
}

/* A signal that the parent chose to ignore, as nohup does, stays ignored. A
   file beyond the size limit is an error like others, not a signal. */
static void catch_signals(void)
{
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,
                                SIGBUS, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2};
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = remove_unfinished;
    action.sa_flags = (int)SA_RESETHAND;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (!sigaction(fatal[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(fatal[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

static int fail_file(const char *file, const char *reason)
{
    return command_fail(COMMAND_FILE, "%s: %s", file, reason);
}

/* The full path of a file that is not there yet: two spellings of one name
   become equal. NULL: no memory, or no such folder. */
static char *new_path(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    char *start = strndup(name, slash ? (size_t)(base - name) : 0);
    char *folder = start ? realpath(*start ? start : ".", NULL) : NULL;
    size_t size = folder ? strlen(folder) + strlen(base) + 2 : 0;
    char *path = folder ? malloc(size) : NULL;
    if (path)
        snprintf(path, size, "%s/%s", folder, base);
    free(folder);
    free(start);
    return path;
}

static mode_t new_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Follows links, so that the file behind one is replaced and not the link;
   devices and the like are left alone. */
static int find_target(struct output *output, const char *name)
{
    struct stat info;
    char *real = realpath(name, NULL);
    if (!*name)
        return command_fail(COMMAND_USAGE, "an output needs a file name");
    output->target = real ? real : new_path(name);
    if (!output->target)
        return fail_file(name, strerror(errno));
    if (!real && !lstat(name, &info))
        return fail_file(name, "is a link to no file");
    output->mode = new_mode();
    if (!real || stat(real, &info))
        return COMMAND_DONE;
    if (!S_ISREG(info.st_mode))
        return fail_file(name, S_ISDIR(info.st_mode)
                                   ? "is a directory"
                                   : "is not a regular file; not replaced");
    output->mode = info.st_mode & 0777;
    return COMMAND_DONE;
}

/* Returns a descriptor, or -1 and errno. Signals wait, so that none comes
   between the file and the note that it is there. */
static int open_temporary(struct output *output)
{
    static const char name[] = ".elementwise-XXXXXX";
    const char *slash = strrchr(output->target, '/');
    size_t folder = slash ? (size_t)(slash - output->target) + 1 : 0;
    sigset_t all, before;
    output->temporary = malloc(folder + sizeof name);
    if (!output->temporary)
        return -1;
    memcpy(output->temporary, output->target, folder);
    memcpy(output->temporary + folder, name, sizeof name);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int fd = mkstemp(output->temporary);
    int reason = errno;
    if (fd >= 0)
        replace_unfinished(NULL, output->temporary);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
    }
    errno = reason;
    return fd;
}

/* mkstemp's file is its owner's alone: gives it the mode it is to have. Its
   blocks are allocated now: on a full disk, writing to mapped memory would
   raise SIGBUS. Returns 0 or an errno. */
static int prepare(struct output *output, int fd)
{
    if (fchmod(fd, output->mode))
        return errno;
    int reason;
    do
        reason = posix_fallocate(fd, 0, (off_t)output->size);
    while (reason == EINTR);
    if (reason)
        return reason;
    void *map =
        mmap(NULL, output->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return errno;
    output->map = map;
    return 0;
}

int output_create(struct output *output, const char *name,
                  elementwise_dtype dtype, int ndim, const int64_t *shape,
                  bool fortran)
{
    char header[NPY_HEADER_SIZE];
    size_t length = npy_format(dtype, ndim, shape, fortran, header), nbytes;
    memset(output, 0, sizeof *output);
    elementwise_status status = elementwise_nbytes(dtype, ndim, shape, &nbytes);
    if (status)
        return command_fail_status(status);
    if (nbytes > INT64_MAX - length || nbytes > SIZE_MAX - length)
        return command_fail(COMMAND_TOO_BIG, "%s: %zu bytes exceed every file",
                            name, nbytes);
    output->size = length + nbytes;
    int code = find_target(output, name);
    if (code)
        return code;
    catch_signals();
    int fd = open_temporary(output);
    if (fd < 0)
        return fail_file(name, strerror(errno));
    int reason = prepare(output, fd);
    close(fd);
    if (reason)
        return command_fail(reason == ENOMEM ? COMMAND_TOO_BIG : COMMAND_FILE,
                            "%s: %s (%zu bytes)", name, strerror(reason),
                            output->size);
    memcpy(output->map, header, length);
    output->data = output->map + length;
    return COMMAND_DONE;
}

int output_commit(struct output *output)
{
    if (!output->temporary)
        return COMMAND_DONE;
    if (rename(output->temporary, output->target))
        return fail_file(output->target, strerror(errno));
    replace_unfinished(output->temporary, NULL);
    free(output->temporary);
    output->temporary = NULL;
    return COMMAND_DONE;
}

void output_discard(struct output *output)
{
    if (output->temporary) {
        unlink(output->temporary);
        replace_unfinished(output->temporary, NULL);
    }
    if (output->map)
        munmap(output->map, output->size);
    free(output->temporary);
    free(output->target);
    memset(output, 0, sizeof *output);
}
