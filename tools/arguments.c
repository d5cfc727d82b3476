/*
 * Turns argv into options and operands. Options may stand anywhere, which is
 * why this is not getopt: it would take -0.5 for five of them.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"
#include "text.h"

static int set_axis(struct arguments *a, const char *value);
static int set_num_axes(struct arguments *a, const char *value);
static int set_broadcast(struct arguments *a, const char *value);
static int set_dialect(struct arguments *a, const char *value);
static int set_out_dtype(struct arguments *a, const char *value);
static int set_dtype(struct arguments *a, const char *value);
static int set_strides(struct arguments *a, const char *value);
static int set_ulp(struct arguments *a, const char *value);
static int set_act(struct arguments *a, const char *value);
static int set_alpha(struct arguments *a, const char *value);
static int set_scale_x(struct arguments *a, const char *value);
static int set_scale_y(struct arguments *a, const char *value);

#define FIELD(name) offsetof(struct arguments, name)

/* An option has a value, which set takes or which is kept as text, or is a
   flag. The first field is neither, so 0 is none. */
static const struct option {
    const char *name;
    char letter;
    unsigned commands;
    int (*set)(struct arguments *a, const char *value);
    size_t text, flag;
} options[] = {
    {"--axis", 0, FOR_APPLY | FOR_COPY | FOR_EXPLAIN | FOR_GRAD | FOR_SUM_TO,
     set_axis, 0, 0},
    {"--output", 'o', FOR_APPLY | FOR_COPY | FOR_SUM_TO, NULL, FIELD(output),
     0},
    {"--dx", 0, FOR_GRAD, NULL, FIELD(dx), 0},
    {"--dy", 0, FOR_GRAD, NULL, FIELD(dy), 0},
    {"--out-dtype", 0, FOR_APPLY | FOR_COPY | FOR_EXPLAIN, set_out_dtype, 0, 0},
    {"--dtype", 0, FOR_ALL & ~FOR_LIST, set_dtype, 0, 0},
    {"--act", 0, FOR_APPLY | FOR_EXPLAIN | FOR_GRAD, set_act, 0, 0},
    {"--alpha", 0, FOR_APPLY | FOR_EXPLAIN | FOR_GRAD, set_alpha, 0, 0},
    {"--scale-x", 0, FOR_APPLY | FOR_EXPLAIN | FOR_GRAD, set_scale_x, 0, 0},
    {"--scale-y", 0, FOR_APPLY | FOR_EXPLAIN | FOR_GRAD, set_scale_y, 0, 0},
    {"--dialect", 0, FOR_EXPLAIN, set_dialect, 0, 0},
    {"--num-axes", 0, FOR_EXPLAIN, set_num_axes, 0, 0},
    {"--broadcast", 0, FOR_EXPLAIN, set_broadcast, 0, 0},
    {"--shape", 0, FOR_COPY, NULL, FIELD(shape), 0},
    {"--json", 0, FOR_CONFORM | FOR_EXPLAIN | FOR_INFO, NULL, 0, FIELD(json)},
    {"--cpu", 0, FOR_CONFORM, NULL, FIELD(cpu), 0},
    {"--strides", 0, FOR_CONFORM, set_strides, 0, 0},
    {"--ulp", 0, FOR_CONFORM | FOR_DIFF, set_ulp, 0, 0},
    {"--help", 'h', FOR_ALL, NULL, 0, FIELD(help)},
    {"--version", 0, FOR_ALL, NULL, 0, FIELD(version)},
};
enum { OPTIONS = sizeof options / sizeof *options };

static int read_int(const char *option, const char *value, int *number)
{
    char *end;
    long long n = strtoll(value, &end, 10);
    if (end == value || *end || n < INT_MIN || n > INT_MAX)
        return command_fail(COMMAND_USAGE,
                            "%s: '%s' is not an integer from %d to %d", option,
                            value, INT_MIN, INT_MAX);
    *number = (int)n;
    return COMMAND_DONE;
}

static int set_axis(struct arguments *a, const char *value)
{
    int code = read_int("--axis", value, &a->axis);
    a->elsewhere.axis = a->axis;
    a->elsewhere.given |= DIALECT_AXIS;
    return code;
}

static int set_num_axes(struct arguments *a, const char *value)
{
    a->elsewhere.given |= DIALECT_NUM_AXES;
    return read_int("--num-axes", value, &a->elsewhere.num_axes);
}

static int set_broadcast(struct arguments *a, const char *value)
{
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return command_fail(COMMAND_USAGE, "--broadcast: '%s' is not 0 or 1",
                            value);
    a->elsewhere.given |= DIALECT_BROADCAST;
    a->elsewhere.broadcast = value[0] == '1';
    return COMMAND_DONE;
}

static int set_dialect(struct arguments *a, const char *value)
{
    const char *names[16];
    char question[TEXT_QUESTION];
    int n = DIALECTS;
    for (int i = 0; i < n; i++)
        names[i] = dialect_name(i);
    a->dialect = dialect_from_name(value);
    if (a->dialect < 0)
        return command_fail(COMMAND_USAGE,
                            "--dialect: unknown system '%s'%s; `elementwise "
                            "explain --help` has them",
                            value, text_suggest(value, names, n, question));
    return COMMAND_DONE;
}

static int set_out_dtype(struct arguments *a, const char *value)
{
    a->out_dtype = elementwise_dtype_from_name(value);
    if (!a->out_dtype)
        return command_fail(COMMAND_USAGE,
                            "--out-dtype: unknown type '%s'; `elementwise "
                            "list` has them",
                            value);
    return COMMAND_DONE;
}

static int set_dtype(struct arguments *a, const char *value)
{
    if (strcmp(value, "bf16") != 0)
        return command_fail(COMMAND_USAGE,
                            "--dtype: '%s' is not bf16, the only type that "
                            "files do not name; --out-dtype converts",
                            value);
    a->bf16 = true;
    return COMMAND_DONE;
}

static int set_strides(struct arguments *a, const char *value)
{
    char *end;
    errno = 0;
    long long seed = strtoll(value, &end, 10);
    if (end == value || *end || errno || seed < 1)
        return command_fail(COMMAND_USAGE,
                            "--strides: '%s' is not a seed such as 1", value);
    a->strides_seed = (uint64_t)seed;
    return COMMAND_DONE;
}

/* False if it is no number or beyond the largest, which is no infinity. */
static bool read_double(const char *value, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(value, &end);
    return end > value && !*end && !(errno && isinf(*number));
}

static int set_ulp(struct arguments *a, const char *value)
{
    if (!read_double(value, &a->ulp) || !(a->ulp >= 0) || isinf(a->ulp))
        return command_fail(COMMAND_USAGE,
                            "--ulp: '%s' is not a number of ULP such as 4",
                            value);
    return COMMAND_DONE;
}

static int set_act(struct arguments *a, const char *value)
{
    const char *names[16];
    char question[TEXT_QUESTION];
    int n = 0;
    while (n < 16 && (names[n] = elementwise_act_name((elementwise_act)n)))
        n++;
    a->options.act = elementwise_act_from_name(value);
    if ((int)a->options.act >= 0)
        return COMMAND_DONE;
    return command_fail(COMMAND_USAGE,
                        "--act: unknown activation '%s'%s; `elementwise add "
                        "--help` has them",
                        value, text_suggest(value, names, n, question));
}

static int read_factor(const char *option, const char *value, double *factor)
{
    if (!read_double(value, factor))
        return command_fail(COMMAND_USAGE, "%s: '%s' is not a number of f64",
                            option, value);
    return COMMAND_DONE;
}

static int set_alpha(struct arguments *a, const char *value)
{
    a->alpha = true;
    return read_factor("--alpha", value, &a->options.alpha);
}

static int set_scale_x(struct arguments *a, const char *value)
{
    return read_factor("--scale-x", value, &a->options.scale_x);
}

static int set_scale_y(struct arguments *a, const char *value)
{
    return read_factor("--scale-y", value, &a->options.scale_y);
}

static int unknown_option(const char *text)
{
    const char *names[OPTIONS];
    char name[64], question[TEXT_QUESTION];
    for (int i = 0; i < OPTIONS; i++)
        names[i] = options[i].name;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    return command_fail(COMMAND_USAGE, "unknown option %s%s", name,
                        text_suggest(name, names, OPTIONS, question));
}

/* The option that text is, and where its value begins: after = or the
   letter, or NULL if it is the next word. */
static const struct option *find(const char *text, const char **value)
{
    size_t n = strcspn(text, "=");
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *option = &options[i];
        *value = text[n] ? text + n + 1 : NULL;
        if (strlen(option->name) == n && !strncmp(text, option->name, n))
            return option;
        *value = text[2] ? text + 2 : NULL;
        if (option->letter && text[1] == option->letter && text[2] != '=')
            return option;
    }
    return NULL;
}

static bool is_option(const char *text)
{
    return text[0] == '-' && text[1] && !number_is(text);
}

/* Reads the option at argv[*i], and its value, which may be the next word. */
static int read_option(char **argv, int *i, struct arguments *a,
                       const struct option **seen)
{
    const char *value;
    const struct option *option = find(argv[*i], &value);
    if (!option)
        return unknown_option(argv[*i]);
    *seen = option;
    if (option->flag && value)
        return command_fail(COMMAND_USAGE, "%s takes no value", option->name);
    if (option->flag) {
        *(bool *)((char *)a + option->flag) = true;
        return COMMAND_DONE;
    }
    if (!value)
        value = argv[++*i];
    if (!value)
        return command_fail(COMMAND_USAGE, "%s needs a value", option->name);
    if (option->set)
        return option->set(a, value);
    *(const char **)((char *)a + option->text) = value;
    return COMMAND_DONE;
}

/* A value that is given twice is a mistake in one of them. */
static int check_once(const struct option *const seen[], int n)
{
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++)
            if (seen[i] == seen[k] && !seen[i]->flag)
                return command_fail(COMMAND_USAGE, "%s is given twice",
                                    seen[i]->name);
    return COMMAND_DONE;
}

static int check_allowed(const struct arguments *a,
                         const struct option *const seen[], int n)
{
    for (int i = 0; a->subcommand && i < n; i++)
        if (!(seen[i]->commands & a->subcommand->bit))
            return command_fail(COMMAND_USAGE, "%s: takes no %s", a->command,
                                seen[i]->name);
    if (a->alpha && a->options.act != ELEMENTWISE_ACT_LEAKY_RELU)
        return command_fail(COMMAND_USAGE,
                            "--alpha is the slope of --act leaky_relu");
    return COMMAND_DONE;
}

int arguments_parse(int argc, char **argv, struct arguments *arguments)
{
    const struct option *seen[64];
    int n = 0, operands = 0;
    bool only_operands = false;
    *arguments = (struct arguments){.axis = ELEMENTWISE_NUMPY,
                                    .dialect = -1,
                                    .ulp = -1,
                                    .options = ELEMENTWISE_OPTIONS_INIT};
    for (int i = 1; i < argc; i++) {
        if (only_operands || !is_option(argv[i])) {
            argv[operands++] = argv[i];
        } else if (!strcmp(argv[i], "--")) {
            only_operands = true;
        } else {
            if (n == 64)
                return command_fail(COMMAND_USAGE, "too many options");
            int code = read_option(argv, &i, arguments, &seen[n++]);
            if (code)
                return code;
        }
    }
    if (operands) {
        arguments->command = argv[0];
        arguments->op = elementwise_op_from_name(argv[0]);
        arguments->subcommand = command_find(argv[0]);
        arguments->operands = argv + 1;
        arguments->count = operands - 1;
    }
    int code = check_once(seen, n);
    return code ? code : check_allowed(arguments, seen, n);
}
