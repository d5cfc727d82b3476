/*
 * The benchmark: measures the machine's limits, then turns each row into a
 * line with its time, its rate, and its distance from the limit.
 */
#include "bench.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: bench [--filter PATTERN]... [--list] [--quick] [--cold] [--json]\n"
    "             [--cpu N]\n"
    "  --filter   rows with this in their name; a shell pattern\n"
    "  --cold     operands that are in no cache, instead of repeated calls\n"
    "  --quick    a fifth of the time\n";

enum { FILTERS = 16 };

struct options {
    const char *filter[FILTERS];
    int filters, cpu;
    bool list, quick, cold, json;
};

struct result {
    const struct bench_row *row;
    struct bench_time time;
    double limit, bytes;
};

static bool selected(const struct options *o, const char *name)
{
    for (int i = 0; i < o->filters; i++)
        if (fnmatch(o->filter[i], name, 0) == 0)
            return true;
    return o->filters == 0;
}

/* A filter matches anywhere in the name. */
static bool add_filter(struct options *o, const char *text)
{
    char *pattern = malloc(strlen(text) + 3);
    if (!pattern || o->filters == FILTERS)
        return false;
    sprintf(pattern, "*%s*", text);
    o->filter[o->filters++] = pattern;
    return true;
}

static bool parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){.cpu = -1};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--filter") == 0 && more) {
            if (!add_filter(o, argv[++i]))
                return false;
        } else if (strcmp(argv[i], "--cpu") == 0 && more)
            o->cpu = atoi(argv[++i]);
        else if (strcmp(argv[i], "--list") == 0)
            o->list = true;
        else if (strcmp(argv[i], "--quick") == 0)
            o->quick = true;
        else if (strcmp(argv[i], "--cold") == 0)
            o->cold = true;
        else if (strcmp(argv[i], "--json") == 0)
            o->json = true;
        else
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------
 * Output
 */

static const char *unit_of(double seconds, double *scale)
{
    *scale = seconds < 1e-6 ? 1e9 : seconds < 1e-3 ? 1e6 : 1e3;
    return seconds < 1e-6 ? "ns" : seconds < 1e-3 ? "us" : "ms";
}

static void print_row(const struct result *r)
{
    double scale;
    const char *unit = unit_of(r->time.median, &scale);
    printf("%-52s %7.4g %s  %7.4g %7.4g  %7.1f GB/s  %5.0f %%\n", r->row->name,
           r->time.median * scale, unit, r->time.low * scale,
           r->time.high * scale, r->bytes / r->time.median / 1e9,
           100 * r->limit / r->time.median);
    fflush(stdout);
}

static void print_row_json(const struct result *r, bool first)
{
    printf("%s\n  {\"name\": \"%s\", \"median\": %.4g, \"low\": %.4g, "
           "\"high\": %.4g, \"samples\": %d, \"bytes\": %.0f, "
           "\"limit\": %.4g}",
           first ? "" : ",", r->row->name, r->time.median, r->time.low,
           r->time.high, r->time.samples, r->bytes, r->limit);
}

static void print_machine(const struct bench_machine *m)
{
    static const char *const names[] = {"read", "fill",   "scale",
                                        "add",  "update", "renew"};
    printf("# level %s; GB/s by bytes gone through, with normal / "
           "non-temporal stores\n# %10s",
           elementwise_cpu_level(), "KiB");
    for (int s = 0; s < BENCH_STREAMS; s++)
        printf(" %12s", names[s]);
    for (int i = 0; i < m->points; i++) {
        printf("\n# %10.0f", m->bytes[i] / 1024);
        for (int s = 0; s < BENCH_STREAMS; s++)
            if (m->streamed[s][i] > 0)
                printf(" %6.1f/%5.1f", m->rate[s][i] / 1e9,
                       m->streamed[s][i] / 1e9);
            else
                printf(" %12.1f", m->rate[s][i] / 1e9);
    }
    printf("\n# ns per element: division f32 %.3f, f64 %.3f, "
           "multiply-add f64 %.3f, strided copy %.3f\n"
           "# cold operands rotate through %.0f MB\n",
           m->unit[BENCH_DIV32] * 1e9, m->unit[BENCH_DIV64] * 1e9,
           m->unit[BENCH_FMA64] * 1e9, m->unit[BENCH_GATHER] * 1e9,
           m->rotation / 1e6);
    printf("#\n# %-50s %10s  %7s %7s  %12s  %7s\n", "row", "median", "lower",
           "upper", "rate", "limit");
}

static int by_share(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    double p = x->limit / x->time.median, q = y->limit / y->time.median;
    return (p > q) - (p < q);
}

/* ---------------------------------------------------------------------
 * Runs
 */

/* As many copies of a case as the rotation holds; 0: the row does not fit. */
static int place_copies(struct bench_case **cases, const struct bench_row *row,
                        struct bench_arena *arena, double rotation)
{
    struct bench_case first;
    arena->taken = 0;
    if (!bench_case_make(&first, row, arena))
        return 0;
    double each = (double)arena->taken;
    int n = rotation > each ? (int)(rotation / each) + 1 : 1, made = 0;
    *cases = malloc((size_t)n * sizeof **cases);
    if (!*cases)
        return 0;
    arena->taken = 0;
    while (made < n && bench_case_make(&(*cases)[made], row, arena))
        made++;
    bench_case_fill(&(*cases)[0]);
    for (int i = 1; i < made; i++)
        bench_case_copy(&(*cases)[0], &(*cases)[i]);
    return made;
}

static double bytes_of(const struct bench_case *c)
{
    double bytes = 0;
    for (int k = 0; k < BENCH_OPERANDS; k++)
        if (c->used[k])
            bytes += bench_line_bytes(&c->t[k]);
    return bytes;
}

/* Cold rows smaller than this time the misses of the descriptors. */
enum { COLD_FROM = 128 << 10 };

/* False if the result was wrong. */
static bool run_row(const struct options *o, const struct bench_machine *m,
                    struct bench_arena *arena, const struct bench_row *row,
                    struct result *result)
{
    struct bench_case *cases = NULL;
    int n = place_copies(&cases, row, arena, o->cold ? m->rotation : 0);
    *result = (struct result){.row = row};
    if (n == 0) {
        fprintf(stderr, "bench: no room for %s\n", row->name);
        return true;
    }
    result->bytes = bytes_of(&cases[0]);
    bool right = bench_verify(&cases[0]);
    if (!right)
        fprintf(stderr, "bench: WRONG RESULT: %s: %s\n", row->name,
                elementwise_last_error());
    else if (!o->cold || result->bytes >= COLD_FROM) {
        result->time = bench_measure(cases, n, o->quick ? 0.01 : 0.05);
        result->limit = bench_limit(m, &cases[0], o->cold);
    }
    free(cases);
    return right;
}

static void print_worst(struct result *results, int n)
{
    qsort(results, (size_t)n, sizeof *results, by_share);
    printf("#\n# farthest from the limit\n");
    for (int i = 0; i < n && i < 20; i++)
        print_row(&results[i]);
}

static int run_rows(const struct options *o, const struct bench_row *rows,
                    int count)
{
    struct bench_arena arena;
    struct bench_machine m;
    struct result *results = calloc((size_t)count + 1, sizeof *results);
    int n = 0, wrong = 0;
    if (!results || !bench_arena_make(&arena, (size_t)2 << 30))
        return EXIT_FAILURE;
    bench_machine_measure(&m, &arena);
    if (o->json)
        printf("[");
    else
        print_machine(&m);
    for (int i = 0; i < count; i++) {
        if (!selected(o, rows[i].name))
            continue;
        wrong += !run_row(o, &m, &arena, &rows[i], &results[n]);
        if (results[n].time.samples == 0)
            continue;
        if (o->json)
            print_row_json(&results[n], n == 0);
        else
            print_row(&results[n]);
        n++;
    }
    if (o->json)
        printf("\n]\n");
    else
        print_worst(results, n);
    free(results);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options o;
    int count, status = EXIT_SUCCESS;
    if (!parse(&o, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    struct bench_row *rows = bench_rows(&count);
    if (!rows)
        return EXIT_FAILURE;
    bench_pin(o.cpu);
    if (!o.list)
        status = run_rows(&o, rows, count);
    else
        for (int i = 0; i < count; i++)
            if (selected(&o, rows[i].name))
                puts(rows[i].name);
    free(rows);
    return status;
}
