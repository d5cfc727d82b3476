/*
 * Turns files of known results into a table of what the library makes of
 * them: per operation, type and rule how many cases are equal, near,
 * different on purpose and different.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <math.h>
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
    long named; /* cases in the JSON so far */
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

static const char *path_of(const struct vectors *vectors)
{
    return vectors->path ? vectors->path : vectors->name;
}

/* The words of a case as ["zero-sign","tie"]. */
static void print_json_reasons(const struct vector *v)
{
    for (int i = 0; i < v->reasons; i++) {
        putchar(i ? ',' : '[');
        text_print_json(v->reason[i]);
    }
    printf("%s", v->reasons ? "]" : "[]");
}

/* A case that is not the framework's result, as soon as it is found: the array
   that it stands in is still open. */
static void print_json_case(struct report *report,
                            const struct vectors *vectors,
                            const struct replay_result *result)
{
    const struct vector *v = &vectors->vector;
    bool different = result->verdict == REPLAY_DIFFERENT;
    printf("%s{\"file\":", report->named++ ? "," : "");
    text_print_json(path_of(vectors));
    printf(",\"line\":%ld,\"op\":\"%s\",\"gradient\":%s,\"x_type\":\"%s\","
           "\"y_type\":\"%s\",\"axis\":%d,\"verdict\":\"%s\",\"ulp\":",
           v->line, elementwise_op_name(v->op), v->gradient ? "true" : "false",
           elementwise_dtype_name(v->array[VECTOR_X].dtype),
           elementwise_dtype_name(v->array[VECTOR_Y].dtype), v->axis,
           different ? "different" : "on_purpose");
    if (isfinite(result->ulp))
        printf("%.17g", result->ulp);
    else
        printf("null");
    printf(",\"reasons\":");
    print_json_reasons(v);
    if (different) {
        printf(",\"why\":");
        text_print_json(result->why);
    }
    putchar('}');
}

static void describe_case(struct report *report, const struct vectors *vectors,
                          const struct replay_result *result)
{
    const struct vector *v = &vectors->vector;
    if (report->json)
        print_json_case(report, vectors, result);
    else if (result->verdict == REPLAY_DIFFERENT &&
             report->total.cases[REPLAY_DIFFERENT] <= SHOWN)
        printf("%s:%ld: %s%s axis %d: %s\n", path_of(vectors), v->line,
               v->gradient ? "grad " : "", elementwise_op_name(v->op), v->axis,
               result->why);
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
        for (int i = 0; i < v->reasons; i++)
            count_reason(report, v->reason[i]);
    if (result->verdict >= REPLAY_PURPOSE)
        describe_case(report, vectors, result);
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

/* What opens the report, before the first case is read. */
static void begin_report(const struct report *report)
{
    if (report->json)
        printf("{\"level\":\"%s\",\"cases\":[", elementwise_cpu_level());
    else
        printf("kernels for %s\n", elementwise_cpu_level());
}

static void end_json(const struct report *report, char *const *names,
                     const bool *unreadable, int n)
{
    const struct tally *t = &report->total;
    const char *comma = "";
    printf("],\"rows\":[");
    print_rows(report);
    printf("],\"on_purpose\":{");
    for (int i = 0; i < report->reasons; i++) {
        printf("%s", i ? "," : "");
        text_print_json(report->reason[i].name);
        printf(":%ld", report->reason[i].cases);
    }
    printf("},\"unreadable\":[");
    for (int i = 0; i < n; i++)
        if (unreadable[i]) {
            printf("%s", comma);
            text_print_json(names[i]);
            comma = ",";
        }
    printf("],\"total\":{\"equal\":%ld,\"within\":%ld,\"on_purpose\":%ld,"
           "\"different\":%ld}}\n",
           t->cases[REPLAY_EQUAL], t->cases[REPLAY_CLOSE],
           t->cases[REPLAY_PURPOSE], t->cases[REPLAY_DIFFERENT]);
}

/* A file that cannot be read does not keep the others from it. */
static int replay_files(struct report *report, struct replay *replay,
                        const struct arguments *a, bool *unreadable)
{
    int worst = COMMAND_DONE;
    begin_report(report);
    for (int i = 0; i < a->count && worst != COMMAND_TOO_BIG; i++) {
        fflush(stdout);
        int code = replay_file(report, replay, a->operands[i], a->bf16);
        unreadable[i] = code != COMMAND_DONE;
        worst = code > worst ? code : worst;
    }
    if (report->json)
        end_json(report, a->operands, unreadable, a->count);
    else if (!is_empty(&report->total))
        print_text(report);
    if (!worst && report->total.cases[REPLAY_DIFFERENT])
        worst = COMMAND_DIFFERENT;
    return worst;
}

static int replay_all(const struct arguments *a)
{
    struct replay replay = {.strided = a->strides_seed != 0,
                            .seed = a->strides_seed,
                            .ulp = a->ulp};
    struct report *report = calloc(1, sizeof *report);
    bool *unreadable = calloc((size_t)a->count, sizeof *unreadable);
    int code = COMMAND_TOO_BIG;
    if (report && unreadable) {
        report->json = a->json;
        code = replay_files(report, &replay, a, unreadable);
    } else {
        command_fail(code, "no memory for the report");
    }
    replay_close(&replay);
    free(report);
    free(unreadable);
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
        if (fflush(stdout) || ferror(stdout))
            code = command_fail(COMMAND_FILE, "standard output: %s",
                                strerror(errno));
        _exit(code);
    }
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return command_fail(COMMAND_TOO_BIG, "the process for %s died", level);
    return WEXITSTATUS(status);
}

int command_conform(const struct arguments *arguments)
{
    static const char *const levels[] = {"base", "avx2", "avx512", "avx512vbmi",
                                         "avx512fp16"};
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
