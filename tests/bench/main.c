/*
 * The benchmark: measures the machine's limits, then turns each row into a
 * line with its time, its rate, and its distance from the limit.
 */
#include "bench.h"

#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: bench [--layout LAYOUT | --random N [--seed S] [--out]]\n"
    "             [--filter PATTERN]... [--cpu N] [--list] [--quick]\n"
    "             [--cold] [--json] [--times]\n"
    "             [--baseline LIBRARY [--changed]]\n"
    "  --layout   rows of this layout; rows.c has the notation\n"
    "  --random   N random rows, of which the worst are printed\n"
    "  --out      of which results have random layouts, too\n"
    "  --filter   rows with this in their name; a shell pattern\n"
    "  --cold     operands that are in no cache, instead of repeated calls\n"
    "  --quick    a fifth of the time\n"
    "  --times    without limits, for which the machine is measured first\n"
    "  --baseline the time as a ratio to that of another build, in turns, "
    "with\n"
    "             its quartiles (not with --json); LIBRARY is its\n"
    "             libelementwise.so\n"
    "  --changed  operations that the two builds have other plans for\n";

enum { FILTERS = 16, WORST = 10 };

struct options {
    char *filter[FILTERS];
    int filters, cpu, random;
    uint64_t seed;
    const char *layout, *baseline;
    struct bench_library other;                       /* baseline's */
    int list, quick, cold, json, out, times, changed; /* flags */
};

struct result {
    const struct bench_row *row;
    struct bench_time time, ratio;
    double limit, bytes;
    int64_t inner; /* bench_inner_extent */
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
    size_t size = strlen(text) + 3;
    char *pattern = malloc(size);
    if (!pattern || o->filters == FILTERS)
        return false;
    snprintf(pattern, size, "*%s*", text);
    o->filter[o->filters++] = pattern;
    return true;
}

/* A whole number from `least` on and nothing else. */
static bool read_number(const char *text, int least, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    *value = (int)number;
    return end != text && !*end && number >= least && number <= INT32_MAX;
}

static bool set_option(struct options *o, int name, const char *value)
{
    char *end;
    switch (name) {
    case 0: /* a flag, which is set */
        return true;
    case 'f':
        return add_filter(o, value);
    case 'c':
        return read_number(value, -1, &o->cpu);
    case 'b':
        o->baseline = value;
        return true;
    case 'l':
        o->layout = value;
        return true;
    case 'r':
        return read_number(value, 1, &o->random);
    case 's':
        o->seed = strtoull(value, &end, 10);
        return end != value && !*end;
    default:
        return false;
    }
}

static bool parse(struct options *o, int argc, char **argv)
{
    const struct option all[] = {{"filter", required_argument, NULL, 'f'},
                                 {"baseline", required_argument, NULL, 'b'},
                                 {"cpu", required_argument, NULL, 'c'},
                                 {"layout", required_argument, NULL, 'l'},
                                 {"random", required_argument, NULL, 'r'},
                                 {"seed", required_argument, NULL, 's'},
                                 {"list", no_argument, &o->list, 1},
                                 {"quick", no_argument, &o->quick, 1},
                                 {"cold", no_argument, &o->cold, 1},
                                 {"json", no_argument, &o->json, 1},
                                 {"out", no_argument, &o->out, 1},
                                 {"times", no_argument, &o->times, 1},
                                 {"changed", no_argument, &o->changed, 1},
                                 {NULL, 0, NULL, 0}};
    int name;
    *o = (struct options){.cpu = -1};
    while ((name = getopt_long(argc, argv, "", all, NULL)) != -1)
        if (!set_option(o, name, optarg))
            return false;
    return optind == argc && !(o->json && o->baseline) &&
           !(o->changed && !o->baseline) && !(o->layout && o->random) &&
           !(o->times && (o->cold || o->random));
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
    printf("%-52s %7.4g %s  %7.4g %7.4g  %7.1f GB/s", r->row->name,
           r->time.median * scale, unit, r->time.low * scale,
           r->time.high * scale, r->bytes / r->time.median / 1e9);
    if (r->limit > 0) /* else none was measured */
        printf("  %6.1f %%", 100 * r->limit / r->time.median);
    putchar('\n');
    fflush(stdout);
}

static void print_row_json(const struct result *r, bool first)
{
    printf("%s\n  {\"name\": \"%s\", \"median\": %.4g, \"low\": %.4g, "
           "\"high\": %.4g, \"samples\": %d, \"bytes\": %.0f, "
           "\"limit\": ",
           first ? "" : ",", r->row->name, r->time.median, r->time.low,
           r->time.high, r->time.samples, r->bytes);
    if (r->limit > 0)
        printf("%.4g", r->limit);
    else
        printf("null");
    printf(", \"inner\": %lld}", (long long)r->inner);
}

static const char *const stream_names[] = {"read", "fill",   "scale",
                                           "add",  "update", "renew"};

static void print_machine(const struct bench_machine *m)
{
    printf("# level %s; GB/s by bytes gone through, with normal / "
           "non-temporal stores\n# %10s",
           elementwise_cpu_level(), "KiB");
    for (int s = 0; s < BENCH_STREAMS; s++)
        printf(" %12s", stream_names[s]);
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
           "multiply-add f64 %.3f, i32 %.3f, i64 %.3f, strided copy %.3f\n"
           "# cold operands rotate through %.0f MB\n",
           m->unit[BENCH_DIV32] * 1e9, m->unit[BENCH_DIV64] * 1e9,
           m->unit[BENCH_FMA64] * 1e9, m->unit[BENCH_MUL32] * 1e9,
           m->unit[BENCH_MUL64] * 1e9, m->unit[BENCH_GATHER] * 1e9,
           m->rotation / 1e6);
    printf("#\n# %-50s %10s  %7s %7s  %12s  %7s\n", "row", "median", "lower",
           "upper", "rate", "limit");
}

/* What print_machine has, in bytes, seconds and bytes per second. A rate of
   non-temporal stores is null where none was measured, as of reading. */
static void print_machine_json(const struct bench_machine *m)
{
    static const char *const units[] = {"division f32",     "division f64",
                                        "multiply-add f64", "multiply-add i32",
                                        "multiply-add i64", "strided copy"};
    printf("{\n  \"streams\": [");
    for (int i = 0; i < m->points * BENCH_STREAMS; i++) {
        const int s = i % BENCH_STREAMS, point = i / BENCH_STREAMS;
        printf("%s\n    {\"stream\": \"%s\", \"bytes\": %.0f, "
               "\"bytes_per_second\": %.4g, \"non_temporal\": ",
               i ? "," : "", stream_names[s], m->bytes[point],
               m->rate[s][point]);
        if (m->streamed[s][point] > 0)
            printf("%.4g}", m->streamed[s][point]);
        else
            printf("null}");
    }
    printf("],\n  \"seconds_per_element\": {");
    for (int u = 0; u < BENCH_UNITS; u++)
        printf("%s\"%s\": %.4g", u ? ", " : "", units[u], m->unit[u]);
    printf("},\n  \"cold_bytes\": %.0f}", m->rotation);
}

/* An object: the limits, which are null if none were measured, and rows. */
static void print_head_json(const struct options *o,
                            const struct bench_machine *m)
{
    printf("{\"level\": \"%s\", \"limits\": ", elementwise_cpu_level());
    if (o->times)
        printf("null");
    else
        print_machine_json(m);
    printf(",\n\"rows\": [");
}

static int by_share(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    double p = x->limit / x->time.median, q = y->limit / y->time.median;
    return (p > q) - (p < q);
}

static void print_ratio(const struct result *r)
{
    printf("%-70s %7.3f  %7.3f %7.3f\n", r->row->name, r->ratio.median,
           r->ratio.low, r->ratio.high);
    fflush(stdout);
}

static int by_ratio(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    return (x->ratio.median > y->ratio.median) -
           (x->ratio.median < y->ratio.median);
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

/* Cold rows smaller than this time the misses of the descriptors; of random
   ones memory counts from FAR_FROM on. */
enum { COLD_FROM = 128 << 10, FAR_FROM = 64 << 10 };

static bool counts(const struct options *o, double bytes)
{
    return (!o->cold || bytes >= COLD_FROM) &&
           (!o->baseline || !o->random || bytes >= FAR_FROM);
}

/* As a ratio to another build, which may know less. */
static void compare_row(const struct options *o, struct bench_case *cases,
                        int n, struct result *result)
{
    if (bench_case_call(&cases[0], 1, &o->other) != ELEMENTWISE_OK)
        fprintf(stderr, "bench: %s refuses %s\n", o->baseline,
                result->row->name);
    else
        result->ratio =
            bench_compare(cases, n, &o->other, o->quick ? 0.02 : 0.1);
}

/* What disturbs the machine before a row may be over behind it: the quicker
   counts. */
static struct bench_drift least_drift(struct bench_drift a,
                                      struct bench_drift b)
{
    return (struct bench_drift){fmin(a.memory, b.memory),
                                fmin(a.compute, b.compute)};
}

static void time_row(const struct options *o, const struct bench_machine *m,
                     const struct bench_arena *arena, struct bench_case *cases,
                     int n, struct result *result)
{
    const bool drifts = !o->times && !o->cold;
    struct bench_drift drift = {1, 1};
    if (drifts)
        drift = bench_drift(m, arena, &cases[0]);
    result->time = bench_measure(cases, n, o->quick ? 0.01 : 0.05);
    result->inner = bench_inner_extent(&cases[0]);
    if (drifts)
        drift = least_drift(drift, bench_drift(m, arena, &cases[0]));
    result->limit = o->times ? 0 : bench_limit(m, &cases[0], drift, o->cold);
    if (o->random)
        result->limit = fmax(result->limit,
                             bench_gather_time(m, &cases[0]) * drift.compute);
}

/* False if the result was wrong. */
static bool run_row(const struct options *o, const struct bench_machine *m,
                    struct bench_arena *arena, const struct bench_row *row,
                    struct result *result)
{
    struct bench_case *cases = NULL;
    int n = place_copies(&cases, row, arena, o->cold ? m->rotation : 0);
    *result = (struct result){.row = row, .inner = 1};
    if (n == 0) {
        fprintf(stderr, "bench: no room for %s\n", row->name);
        return true;
    }
    result->bytes = bytes_of(&cases[0]);
    bool right = bench_verify(&cases[0]);
    if (!right)
        fprintf(stderr, "bench: WRONG RESULT: %s: %s\n", row->name,
                elementwise_last_error());
    else if (counts(o, result->bytes)) {
        if (o->baseline)
            compare_row(o, cases, n, result);
        else
            time_row(o, m, arena, cases, n, result);
    }
    free(cases);
    return right;
}

/* Whether a row in which memory counts takes over twice its limit, or over four
   times where all operands have loops below SHORT. */
enum { SHORT = 16 };

static bool is_far(const struct result *r)
{
    return r->bytes >= FAR_FROM &&
           r->time.median > (r->inner < SHORT ? 4 : 2) * r->limit;
}

/* Other programs on the machine make rows slow for a while, so the best of
   three times counts of those that are far from the limit. */
static int measure_again(const struct options *o, const struct bench_machine *m,
                         struct bench_arena *arena, struct result *results,
                         int n)
{
    int wrong = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            struct result again;
            if (!is_far(&results[i]))
                continue;
            wrong += !run_row(o, m, arena, results[i].row, &again);
            if (again.time.samples &&
                again.time.median < results[i].time.median)
                results[i] = again;
        }
    return wrong;
}

static void print_far(const struct result *results, int n)
{
    int counted = 0, far = 0;
    for (int i = 0; i < n; i++) {
        counted += results[i].bytes >= FAR_FROM;
        far += is_far(&results[i]);
    }
    printf(
        "# of %d rows of %d KiB and more, %d take over twice their limit, or "
        "four times\n# where inner extents are all below %d\n",
        counted, FAR_FROM >> 10, far, SHORT);
}

/* Of random rows all that are far, and how far the others are, by tenths of
   all. */
static void print_worst(const struct options *o, struct result *results, int n)
{
    qsort(results, (size_t)n, sizeof *results, by_share);
    printf("#\n# farthest from the limit\n");
    for (int i = 0, printed = 0; i < n; i++) {
        bool listed = !o->random || results[i].bytes >= FAR_FROM;
        bool far = o->random && is_far(&results[i]);
        if (listed && (far || printed < WORST)) {
            print_row(&results[i]);
            printed++;
        }
    }
    if (!o->random || n == 0)
        return;
    printf("# share of the limit that tenths of the rows stay below:");
    for (int tenth = 1; tenth < 10; tenth++) {
        const struct result *r = &results[n * tenth / 10];
        printf(" %.0f", 100 * r->limit / r->time.median);
    }
    printf(" %%\n");
    print_far(results, n);
}

/* Of a comparison: the rows on both ends, and how the others lie between. */
static void print_ratios(const struct options *o, struct result *results, int n)
{
    if (!o->random && n <= 2 * WORST)
        return; /* all are there */
    qsort(results, (size_t)n, sizeof *results, by_ratio);
    printf("#\n# least and greatest ratios\n");
    for (int i = 0; i < n; i++)
        if (i < WORST || i >= n - WORST)
            print_ratio(&results[i]);
    printf("# of %d rows, tenths stay below:", n);
    for (int tenth = 1; n > 0 && tenth < 10; tenth++)
        printf(" %.3f", results[n * tenth / 10].ratio.median);
    printf("\n");
}

/* Whether a row is one of those that are asked for: operands are placed, but
   nothing is written or called. */
static bool is_wanted(const struct options *o, struct bench_arena *arena,
                      const struct bench_row *row)
{
    struct bench_case c;
    if (!selected(o, row->name))
        return false;
    arena->taken = 0;
    return !o->changed || (bench_case_make(&c, row, arena) &&
                           bench_plans_differ(&c, &o->other));
}

/* Runs the rows that are selected, into results; the number of wrong ones. */
static int run_rows(const struct options *o, const struct bench_machine *m,
                    struct bench_arena *arena, const struct bench_row *rows,
                    int count, struct result *results, int *n)
{
    int wrong = 0;
    *n = 0;
    for (int i = 0; i < count; i++) {
        struct result *r = &results[*n];
        if (!is_wanted(o, arena, &rows[i]))
            continue;
        wrong += !run_row(o, m, arena, &rows[i], r);
        if (r->time.samples + r->ratio.samples == 0)
            continue;
        if (o->json)
            print_row_json(r, *n == 0);
        else if (!o->random)
            (o->baseline ? print_ratio : print_row)(r);
        ++*n;
    }
    return wrong;
}

static void print_head(const struct options *o, const struct bench_machine *m)
{
    if (o->baseline)
        printf("# %-68s %7s  %7s %7s\n", "row", "ratio", "lower", "upper");
    else if (o->json)
        print_head_json(o, m);
    else if (!o->times)
        print_machine(m);
}

static int run(const struct options *o, const struct bench_row *rows, int count)
{
    struct bench_arena arena;
    struct bench_machine m = {.rotation = 0};
    struct result *results = calloc((size_t)count + 1, sizeof *results);
    int n, wrong;
    if (!results || !bench_arena_make(&arena, (size_t)2 << 30)) {
        free(results);
        return EXIT_FAILURE;
    }
    if ((!o->baseline || o->cold) && !o->times)
        bench_machine_measure(&m, &arena);
    print_head(o, &m);
    wrong = run_rows(o, &m, &arena, rows, count, results, &n);
    if (o->random && !o->json && !o->baseline)
        wrong += measure_again(o, &m, &arena, results, n);
    if (o->baseline)
        print_ratios(o, results, n);
    else if (o->json)
        printf("\n]}\n");
    else if (!o->times)
        print_worst(o, results, n);
    free(results);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

static struct bench_row *rows_of(const struct options *o, int *count)
{
    *count = o->random;
    if (o->random)
        return bench_random_rows(o->random, o->seed, o->out);
    if (o->layout)
        return bench_layout_rows(o->layout, count);
    return bench_rows(count);
}

static bool selects_any(const struct options *o, const struct bench_row *rows,
                        int count)
{
    for (int i = 0; i < count; i++)
        if (selected(o, rows[i].name))
            return true;
    fprintf(stderr, "bench: no row has that in its name; --list prints all\n");
    return false;
}

static int work(struct options *o, const struct bench_row *rows, int count)
{
    if (!selects_any(o, rows, count))
        return 2;
    if (o->baseline && !bench_library_load(&o->other, o->baseline))
        return EXIT_FAILURE;
    if (!o->list)
        return run(o, rows, count);
    for (int i = 0; i < count; i++)
        if (selected(o, rows[i].name))
            puts(rows[i].name);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options o;
    int count;
    if (!parse(&o, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    struct bench_row *rows = rows_of(&o, &count);
    if (!rows)
        return o.layout ? 2 : EXIT_FAILURE;
    bench_pin(o.cpu);
    int status = work(&o, rows, count);
    free(rows);
    for (int i = 0; i < o.filters; i++)
        free(o.filter[i]);
    return status;
}
