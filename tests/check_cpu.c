/*
 * Turns the environment variable ELEMENTWISE_CPU into the level that a fresh
 * process reports, as the library asks for it only once: this program runs
 * itself again for every value.
 */
#define _DEFAULT_SOURCE /* setenv */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "elementwise.h"
#include "support.h"

static const char *self;

/* What a new process with this value says, of the level or of what is quick;
   NULL: the variable is not set. */
static void ask(const char *what, const char *value, char answer[16])
{
    int ends[2], status;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        if (value)
            setenv("ELEMENTWISE_CPU", value, 1);
        else
            unsetenv("ELEMENTWISE_CPU");
        dup2(ends[1], STDOUT_FILENO);
        execl(self, self, what, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], answer, 15);
    answer[n > 0 ? n : 0] = 0;
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static int level_of(const char *name)
{
    for (int level = 0; level < EW_LEVELS; level++)
        if (strcmp(name, ew_cpu_name(level)) == 0)
            return level;
    return -1;
}

/* The level of this machine, which the limit does not pass. */
static int machine(void)
{
    ew_cpu_limit(EW_LEVELS);
    return ew_cpu_level();
}

START_TEST(levels_have_their_names)
{
    ck_assert_str_eq(ew_cpu_name(EW_LEVEL_BASE), "base");
    ck_assert_str_eq(ew_cpu_name(EW_LEVEL_AVX2), "avx2");
    ck_assert_str_eq(ew_cpu_name(EW_LEVEL_AVX512), "avx512");
    ck_assert_str_eq(ew_cpu_name(EW_LEVEL_AVX512VBMI), "avx512vbmi");
    ck_assert_str_eq(ew_cpu_name(EW_LEVEL_AVX512FP16), "avx512fp16");
}
END_TEST

START_TEST(without_the_variable_the_machine_decides)
{
    char answer[16];
    ask("level", NULL, answer);
    ck_assert_int_eq(level_of(answer), machine());
}
END_TEST

START_TEST(the_variable_lowers_the_level)
{
    char answer[16];
    ask("level", ew_cpu_name(_i), answer);
    ck_assert_int_eq(level_of(answer), _i < machine() ? _i : machine());
}
END_TEST

START_TEST(unknown_values_change_nothing)
{
    static const char *const values[] = {"",  "AVX2",  "avx", "avx5120",
                                         "0", "base ", "%s%n"};
    char answer[16];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ask("level", values[i], answer);
        ck_assert_int_eq(level_of(answer), machine());
    }
}
END_TEST

START_TEST(the_variable_is_read_once)
{
    const char *before = elementwise_cpu_level();
    setenv("ELEMENTWISE_CPU", "base", 1);
    ck_assert_str_eq(elementwise_cpu_level(), before);
    unsetenv("ELEMENTWISE_CPU");
    ck_assert_str_eq(elementwise_cpu_level(), before);
}
END_TEST

START_TEST(a_limit_lowers_the_level_and_lifts_it_again)
{
    int top = machine();
    for (int level = 0; level < EW_LEVELS; level++) {
        ew_cpu_limit(level);
        ck_assert_int_eq(ew_cpu_level(), level < top ? level : top);
        ck_assert_str_eq(elementwise_cpu_level(), ew_cpu_name(ew_cpu_level()));
    }
    ew_cpu_limit(EW_LEVELS);
    ck_assert_int_eq(ew_cpu_level(), top);
}
END_TEST

/* As the levels, but that one does not hold the others. */
START_TEST(ways_are_quick_one_by_one)
{
    ew_cpu_tune(EW_QUICK_QUOTIENTS);
    ck_assert(ew_cpu_is(EW_QUICK_QUOTIENTS) && !ew_cpu_is(EW_QUICK_STORES));
    ew_cpu_tune(EW_QUICK_STORES);
    ck_assert(ew_cpu_is(EW_QUICK_STORES) && !ew_cpu_is(EW_QUICK_QUOTIENTS));
}
END_TEST

/* A limit sets what the processor has: the same for all levels. */
START_TEST(a_level_comes_with_the_ways_of_the_processor)
{
    ew_cpu_limit(EW_LEVELS);
    bool stores = ew_cpu_is(EW_QUICK_STORES);
    ew_cpu_tune(stores ? 0 : EW_QUICK_STORES);
    ew_cpu_limit(EW_LEVEL_BASE);
    ck_assert_int_eq(ew_cpu_is(EW_QUICK_STORES), stores);
}
END_TEST

#if defined(EW_HAVE_X86_LEVELS)
static bool is_amd(void)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, "AuthenticAMD") != NULL;
    if (file)
        fclose(file);
    return found;
}
#endif

START_TEST(a_process_finds_the_ways_of_its_processor)
{
    char answer[16];
#if defined(EW_HAVE_X86_LEVELS)
    unsigned gathers = machine() == EW_LEVEL_AVX512FP16 ? EW_QUICK_GATHERS : 0;
    unsigned few = machine() <= EW_LEVEL_AVX2 ? EW_FEW_READS : 0;
    unsigned ways = is_amd()
                        ? EW_TUNINGS - 1 - EW_QUICK_GATHERS - EW_FEW_READS + few
                        : EW_LATE_READS | gathers;
#else
    unsigned ways = 0;
#endif
    ask("ways", NULL, answer);
    ck_assert_uint_eq(strtoul(answer, NULL, 10), atomic_load(&ew_cpu_tuning));
    ck_assert_uint_eq(atomic_load(&ew_cpu_tuning), ways);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1) {
        const char *level = elementwise_cpu_level();
        if (strcmp(argv[1], "ways") == 0)
            printf("%u", atomic_load(&ew_cpu_tuning));
        else
            fputs(level, stdout);
        return 0;
    }
    self = argv[0];
    TCase *names = support_case("names");
    TCase *variable = support_case("variable");
    tcase_add_test(names, levels_have_their_names);
    tcase_add_test(names, a_limit_lowers_the_level_and_lifts_it_again);
    tcase_add_test(names, ways_are_quick_one_by_one);
    tcase_add_test(names, a_level_comes_with_the_ways_of_the_processor);
    tcase_add_test(variable, a_process_finds_the_ways_of_its_processor);
    tcase_add_test(variable, without_the_variable_the_machine_decides);
    tcase_add_loop_test(variable, the_variable_lowers_the_level, 0, EW_LEVELS);
    tcase_add_test(variable, unknown_values_change_nothing);
    tcase_add_test(variable, the_variable_is_read_once);
    TCase *const cases[] = {names, variable, NULL};
    return support_run("cpu", cases);
}
