/*
 * elementwise - the library's operations on .npy files. This file turns a
 * command line into a call of one subcommand, and statuses into exit codes;
 * help.c has what the command promises.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "text.h"

static const struct subcommand commands[] = {
    {"conform", FOR_CONFORM, command_conform, help_conform},
    {"copy", FOR_COPY, command_copy, help_copy},
    {"diff", FOR_DIFF, command_diff, help_diff},
    {"explain", FOR_EXPLAIN, command_explain, help_explain},
    {"grad", FOR_GRAD, command_grad, help_grad},
    {"info", FOR_INFO, command_info, help_info},
    {"list", FOR_LIST, command_list, help_list},
    {"sum-to", FOR_SUM_TO, command_sum_to, help_sum_to}};
enum { COMMANDS = sizeof commands / sizeof *commands, NAMES = 256 };

static const struct subcommand apply = {NULL, FOR_APPLY, command_apply,
                                        help_apply};

const struct subcommand *command_find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    return elementwise_op_from_name(name) ? &apply : NULL;
}

int command_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("elementwise: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

int command_code(elementwise_status status)
{
    switch (status) {
    case ELEMENTWISE_OK:
        return COMMAND_DONE;
    case ELEMENTWISE_TOO_LARGE:
    case ELEMENTWISE_NO_MEMORY:
        return COMMAND_TOO_BIG;
    case ELEMENTWISE_DIVISION_BY_ZERO:
        return COMMAND_DIVISION;
    default:
        return COMMAND_REFUSED;
    }
}

int command_fail_status(elementwise_status status)
{
    return command_fail(command_code(status), "%s", elementwise_last_error());
}

/* Adds the operations to n names. Returns how many there are now. */
static int add_operations(const char *names[NAMES], int n)
{
    for (int i = 1; n < NAMES && elementwise_op_name((elementwise_op)i); i++)
        names[n++] = elementwise_op_name((elementwise_op)i);
    return n;
}

elementwise_op command_operation(const struct arguments *a)
{
    const char *names[NAMES];
    char question[TEXT_QUESTION];
    elementwise_op op = elementwise_op_from_name(a->operands[0]);
    if (!op)
        command_fail(COMMAND_USAGE, "%s: '%s' is not an operation%s",
                     a->command, a->operands[0],
                     text_suggest(a->operands[0], names,
                                  add_operations(names, 0), question));
    return op;
}

static int unknown_command(const char *name)
{
    const char *names[NAMES];
    char question[TEXT_QUESTION];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    text_suggest(name, names, add_operations(names, COMMANDS), question);
    return command_fail(COMMAND_USAGE,
                        "'%s' is not a command or an operation%s See "
                        "elementwise --help",
                        name, *question ? question : ".");
}

static int print_help(const struct arguments *arguments)
{
    if (arguments->op)
        printf("%s: %s\n\n", arguments->command, help_formula(arguments->op));
    fputs(arguments->subcommand ? arguments->subcommand->help : help_overview,
          stdout);
    return COMMAND_DONE;
}

static int print_version(void)
{
    printf("elementwise %s, kernels for %s\n", elementwise_version(),
           elementwise_cpu_level());
    return COMMAND_DONE;
}

static int dispatch(const struct arguments *a)
{
    if (a->version)
        return print_version();
    if (a->help)
        return print_help(a);
    if (a->subcommand)
        return a->subcommand->run(a);
    if (a->command)
        return unknown_command(a->command);
    fputs(help_overview, stderr);
    return COMMAND_USAGE;
}

/* A full disk behind stdout is an error like any other. */
int main(int argc, char **argv)
{
    struct arguments arguments;
    int code = arguments_parse(argc, argv, &arguments);
    if (!code)
        code = dispatch(&arguments);
    bool ran = code == COMMAND_DONE || code == COMMAND_DIFFERENT;
    if ((fflush(stdout) || ferror(stdout)) && ran)
        code =
            command_fail(COMMAND_FILE, "standard output: %s", strerror(errno));
    return code;
}
