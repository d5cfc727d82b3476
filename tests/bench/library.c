/*
 * Turns the path of another build of the library into the calls that are timed,
 * beside those of the build that the benchmark is linked with.
 */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>

/* A function of a library; NULL, and which on stderr, if it has none. */
static void *find(void *handle, const char *path, const char *name)
{
    void *found = dlsym(handle, name);
    if (!found)
        fprintf(stderr, "bench: %s has no %s\n", path, name);
    return found;
}

/* Whether the path is that of the build that the benchmark is linked with,
   which is loaded already. */
static bool is_linked(const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return false;
    dlclose(handle);
    fprintf(stderr,
            "bench: %s is the build that the benchmark is linked with; give "
            "the path of another one\n",
            path);
    return true;
}

/* The functions of the operations; false if one is missing. */
static bool find_named(struct bench_library *library, void *handle,
                       const char *path)
{
    bool all = true;
    for (int op = 1; op <= BENCH_OPS; op++) {
        char name[64];
        snprintf(name, sizeof name, "elementwise_%s",
                 elementwise_op_name((elementwise_op)op));
        *(void **)&library->named[op] = find(handle, path, name);
        all = all && library->named[op];
    }
    return all;
}

static bool find_plans(struct bench_library *library, void *handle,
                       const char *path)
{
    *(void **)&library->plan_create =
        find(handle, path, "elementwise_plan_create");
    *(void **)&library->plan_describe =
        find(handle, path, "elementwise_plan_describe");
    *(void **)&library->plan_destroy =
        find(handle, path, "elementwise_plan_destroy");
    return library->plan_create && library->plan_describe &&
           library->plan_destroy;
}

/* Without RTLD_DEEPBIND its calls of itself would end in what is linked. */
bool bench_library_load(struct bench_library *library, const char *path)
{
#if defined(RTLD_DEEPBIND)
    if (is_linked(path))
        return false;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!handle) {
        fprintf(stderr, "bench: cannot load: %s\n", dlerror());
        return false;
    }
    *(void **)&library->apply = find(handle, path, "elementwise_apply");
    *(void **)&library->apply_grad =
        find(handle, path, "elementwise_apply_grad");
    *(void **)&library->sum_to = find(handle, path, "elementwise_sum_to");
    return find_named(library, handle, path) &&
           find_plans(library, handle, path) && library->apply &&
           library->apply_grad && library->sum_to;
#else
    (void)library, (void)is_linked, (void)find_named, (void)find_plans;
    fprintf(stderr,
            "bench: cannot load %s beside another build: this system has no "
            "RTLD_DEEPBIND\n",
            path);
    return false;
#endif
}
