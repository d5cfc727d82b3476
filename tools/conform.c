/*
 * Turns files of known results into a table of what the library makes of
 * them: per operation, type and rule how many cases are equal, near,
 * different on purpose and different.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "replay.h"
#include "text.h"

enum {
    OPS = 64,
    TYPES = ELEMENTWISE_C128 + 1, /* 0: x and y have different types */
    REASONS = 64,
    SHOWN = 20 /* different cases that are described */
};

struct tally {
    long cases[REPLAY_VERDICTS];
    double ulp; /* the largest distance that was accepted as near */
};

/* What was seen in all files. */
struct report {
    struct tally row[OPS][2][TYPES][2]; /* operation, gradient, type, axis */
    struct tally total;
    struct {
        char name[VECTOR_WORD];
        long cases;
    } reason[REASONS];
    int reasons;
    bool json;
};

static void count(struct tally *tally, const struct replay_result *result)
{
    tally->cases[result->verdict]++;
    if (result->verdict == REPLAY_CLOSE && result->ulp > tally->ulp)
        tally->ulp = result->ulp;
}

static void count_reason(struct report *report, const char *reason)
{
    int i = 0;
    while (i < report->reasons && strcmp(report->reason[i].name, reason) != 0)
        i++;
    if (i == REASONS)
        return;
    if (i == report->reasons)
        strcpy(report->reason[report->reasons++].name, reason);
    report->reason[i].cases++;
}

static void count_case(struct report *report, const struct vectors *vectors,
                       const struct replay_result *result)
{
    const struct vector *v = &vectors->vector;
    elementwise_dtype x = v->array[VECTOR_X].dtype;
    int type = x == v->array[VECTOR_Y].dtype ? (int)x : 0;
    count(&report->row[v->op][v->gradient][type][v->axis != ELEMENTWISE_NUMPY],
          result);
    count(&report->total, result);
    if (result->verdict == REPLAY_PURPOSE)
        count_reason(report, v->reason);
    if (result->verdict == REPLAY_DIFFERENT && !report->json &&
        report->total.cases[REPLAY_DIFFERENT] <= SHOWN)
        printf("%s:%ld: %s%s axis %d: %s\n",
               vectors->path ? vectors->path : vectors->name, v->line,
               v->gradient ? "grad " : "", elementwise_op_name(v->op), v->axis,
               result->why);
}

static int replay_file(struct report *report, struct replay *replay,
                       const char *name, bool bf16)
{
    struct vectors vectors;
    struct replay_result result;
    bool more = true;
    int code = vectors_open(&vectors, name, bf16);
    bool any = false;
    while (!code && (code = vectors_next(&vectors, &more)) == 0 && more) {
        any = true;
        code = replay_run(replay, &vectors.vector, &result);
        if (!code)
            count_case(report, &vectors, &result);
    }
    if (!code && !any)
        code = command_fail(COMMAND_FILE, "%s: there are no cases", name);
    vectors_close(&vectors);
    return code;
}

/* The report */

static bool is_empty(const struct tally *tally)
{
    long n = 0;
    for (int i = 0; i < REPLAY_VERDICTS; i++)
        n += tally->cases[i];
    return n == 0;
}

static const char *type_name(int type)
{
    return type ? elementwise_dtype_name((elementwise_dtype)type) : "mixed";
}

static void print_row(const char *op, bool gradient, const char *type,
                      const char *rule, const struct tally *t)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s", gradient ? "grad " : "", op);
    printf("%-21s %-6s %-6s %7ld %7ld %7.3g %10ld %9ld\n", name, type, rule,
           t->cases[REPLAY_EQUAL], t->cases[REPLAY_CLOSE], t->ulp,
           t->cases[REPLAY_PURPOSE], t->cases[REPLAY_DIFFERENT]);
}

static void print_json_row(const char *op, bool gradient, const char *type,
                           const char *rule, const struct tally *t)
{
    printf("{\"op\":\"%s\",\"gradient\":%s,\"type\":\"%s\",\"mode\":\"%s\","
           "\"equal\":%ld,\"within\":%ld,\"ulp\":%.17g,\"on_purpose\":%ld,"
           "\"different\":%ld}",
           op, gradient ? "true" : "false", type, rule, t->cases[REPLAY_EQUAL],
           t->cases[REPLAY_CLOSE], t->ulp, t->cases[REPLAY_PURPOSE],
           t->cases[REPLAY_DIFFERENT]);
}

/* Row number i of all that there may be, or NULL beyond the last. */
static const struct tally *print_nth_row(const struct report *report, int i,
                                         bool first)
{
    int axis = i % 2, type = i / 2 % TYPES, gradient = i / 2 / TYPES % 2;
    int op = i / 2 / TYPES / 2;
    if (op == OPS)
        return NULL;
    const struct tally *tally = &report->row[op][gradient][type][axis];
    if (is_empty(tally))
        return tally;
    if (report->json && !first)
        putchar(',');
    (report->json ? print_json_row : print_row)(
        elementwise_op_name((elementwise_op)op), gradient, type_name(type),
        axis ? "axis" : "numpy", tally);
    return tally;
}

static void print_rows(const struct report *report)
{
    bool first = true;
    const struct tally *tally;
    for (int i = 0; (tally = print_nth_row(report, i, first)) != NULL; i++)
        first = first && is_empty(tally);
}

static void print_text(const struct report *report)
{
    const struct tally *t = &report->total;
    printf("%-21s %-6s %-6s %7s %7s %7s %10s %9s\n", "operation", "type",
           "rule", "equal", "within", "ULP", "on purpose", "different");
    print_rows(report);
    print_row("all", false, "", "", t);
    for (int i = 0; i < report->reasons; i++)
        printf("on purpose, %s: %ld\n", report->reason[i].name,
               report->reason[i].cases);
}

static void print_json(const struct report *report)
{
    const struct tally *t = &report->total;
    printf("{\"level\":\"%s\",\"rows\":[", elementwise_cpu_level());
    print_rows(report);
    printf("],\"on_purpose\":{");
    for (int i = 0; i < report->reasons; i++) {
        printf("%s", i ? "," : "");
        text_print_json(report->reason[i].name);
        printf(":%ld", report->reason[i].cases);
    }
    printf("},\"total\":{\"equal\":%ld,\"within\":%ld,\"on_purpose\":%ld,"
           "\"different\":%ld}}\n",
           t->cases[REPLAY_EQUAL], t->cases[REPLAY_CLOSE],
           t->cases[REPLAY_PURPOSE], t->cases[REPLAY_DIFFERENT]);
}

static int replay_all(const struct arguments *a)
{
    struct replay replay = {.strided = a->strides_seed != 0,
                            .seed = a->strides_seed,
                            .ulp = a->ulp};
    struct report *report = calloc(1, sizeof *report);
    int code = COMMAND_DONE;
    if (!report)
        return command_fail(COMMAND_TOO_BIG, "no memory for the report");
    report->json = a->json;
    if (!a->json)
        printf("kernels for %s\n", elementwise_cpu_level());
    for (int i = 0; i < a->count && !code; i++)
        code = replay_file(report, &replay, a->operands[i], a->bf16);
    if (!code) {
        (a->json ? print_json : print_text)(report);
        if (report->total.cases[REPLAY_DIFFERENT])
            code = COMMAND_DIFFERENT;
    }
    replay_close(&replay);
    free(report);
    return code;
}

/* The library reads ELEMENTWISE_CPU once, so each level is a process. */
static int replay_level(const struct arguments *a, const char *level, bool must)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return command_fail(COMMAND_TOO_BIG, "no process for another level");
    if (child == 0) {
        setenv("ELEMENTWISE_CPU", level, 1);
        int code = COMMAND_DONE;
        if (!strcmp(elementwise_cpu_level(), level))
            code = replay_all(a);
        else if (must)
            code = command_fail(COMMAND_USAGE,
                                "--cpu: this machine has no kernels for %s",
                                level);
        fflush(stdout);
        _exit(code);
    }
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return command_fail(COMMAND_TOO_BIG, "the process for %s died", level);
    return WEXITSTATUS(status);
}

int command_conform(const struct arguments *arguments)
{
    static const char *const levels[] = {"base", "avx2", "avx512"};
    const struct arguments *a = arguments;
    int worst = COMMAND_DONE;
    if (!a->count)
        return command_fail(COMMAND_USAGE,
                            "conform: a file of vectors, or a folder with "
                            "manifest.txt, is needed");
    if (!a->cpu)
        return replay_all(a);
    bool all = !strcmp(a->cpu, "all");
    if (!all)
        return replay_level(a, a->cpu, true);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        int code = replay_level(a, levels[i], false);
        worst = code > worst ? code : worst;
    }
    return worst;
}
