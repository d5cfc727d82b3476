/*
 * Runs a call by a plan that is made for it and kept, as programs make the same
 * calls again and again, and planning takes longer than a small call. A plan
 * depends on the operation, its options, types, shapes and strides, not on
 * data: these are its key.
 *
 *     call -> key -> its place: that key? -- yes: a copy of its plan -> run
 *                                         -- no: a new plan, kept there -> run
 *
 * All threads share the places. Nobody waits: who reads copies, and looks at
 * the number of the place before and after, which is odd while it is written
 * and grows (a sequence lock, as in Boehm, "Can seqlocks get along with
 * programming language memory models?", 2012); who would write what another one
 * writes lets it be. So calls from signal handlers are no exception. (A writer
 * that never goes on leaves its place unused.)
 */
#include "cache.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cpu.h"
#include "fuse.h"
#include "plan.h"

enum {
    PLACES = 64, /* found by the first bits of a hash: */
    PLACE_BITS = 6,
    NUMBERS = 40,    /* of a key; calls of higher ranks are not kept */
    LOOPS = 6,       /* of a plan; those of more are not kept either */
    SMALL = 1 << 20, /* bytes that out spans: of more, planning is little */
    WORD = sizeof(size_t)
};

struct key {
    int64_t numbers; /* that follow */
    int64_t number[NUMBERS];
};

/* A plan up to its loops (plan.h), and these, of three operands. */
enum { BEFORE_LOOPS = offsetof(struct elementwise_plan, loop) };
struct loops {
    int64_t number[LOOPS][1 + EW_OUT + 1];
};

static struct {
    atomic_uint turn;
    atomic_size_t key[sizeof(struct key) / WORD], plan[BEFORE_LOOPS / WORD],
        loops[sizeof(struct loops) / WORD];
} kept_plans[PLACES];

_Static_assert(sizeof(struct key) % WORD == 0 && BEFORE_LOOPS % WORD == 0 &&
                   sizeof(struct loops) % WORD == 0,
               "they are words");
_Static_assert(sizeof kept_plans <= 66 << 10, "the header says so");

/* Words may be written while they are read, so each is atomic. No loop over
   them would be unrolled else. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
static void put(atomic_size_t *to, const void *from, size_t bytes)
{
    size_t word;
    UNROLLED
    for (size_t i = 0; i < bytes / WORD; i++) {
        memcpy(&word, (const char *)from + i * WORD, WORD);
        atomic_store_explicit(&to[i], word, memory_order_relaxed);
    }
}

static void get(const atomic_size_t *from, void *to, size_t bytes)
{
    UNROLLED
    for (size_t i = 0; i < bytes / WORD; i++) {
        size_t word = atomic_load_explicit(&from[i], memory_order_relaxed);
        memcpy((char *)to + i * WORD, &word, WORD);
    }
}

static bool is_same(const atomic_size_t *there, const struct key *key)
{
    size_t word,
        words = (size_t)(1 + key->numbers) * sizeof key->numbers / WORD;
    for (size_t i = 0; i < words; i++) {
        memcpy(&word, (const char *)key + i * WORD, WORD);
        if (atomic_load_explicit(&there[i], memory_order_relaxed) != word)
            return false;
    }
    return true;
}

static void add(struct key *key, int64_t number)
{
    key->number[key->numbers++] = number;
}

static void add_all(struct key *key, const void *numbers, int n)
{
    if (n > 0)
        memcpy(&key->number[key->numbers], numbers,
               (size_t)n * sizeof *key->number);
    key->numbers += n;
}

/* False if there is none, or it is wrong or too large. */
static bool add_tensor(struct key *key, const elementwise_tensor *t)
{
    if (!t || t->ndim < 0 || (t->ndim && !t->shape) ||
        1 + 2 * (int64_t)t->ndim > NUMBERS - key->numbers)
        return false;
    add(key,
        (int64_t)t->dtype * (1 << 16) + t->ndim * 2 + (t->strides != NULL));
    add_all(key, t->shape, t->ndim);
    add_all(key, t->strides, t->strides ? t->ndim : 0);
    return true;
}

/* What a plan is made of. False for calls that are not kept. */
static bool make_key(struct key *key, elementwise_op op,
                     const elementwise_tensor *x, const elementwise_tensor *y,
                     int axis, const elementwise_tensor *out,
                     const elementwise_options *options)
{
    key->numbers = 0;
    add(key, (int64_t)op * EW_LEVELS + ew_cpu_level());
    add(key, (int64_t)axis * 2 + (options != NULL));
    add(key, atomic_load_explicit(&ew_cpu_tuning, memory_order_relaxed));
    if (options) {
        const double numbers[] = {options->scale_x, options->scale_y,
                                  options->alpha};
        add_all(key, numbers, 3);
        add(key, options->act);
        add(key, options->flags);
    }
    return add_tensor(key, x) && add_tensor(key, y) && add_tensor(key, out);
}

/* The last step is multiplication with 2^64 divided by the golden ratio (Knuth,
   The Art of Computer Programming 3, 6.4); one in each would be waited for. */
static unsigned place_of(const struct key *key)
{
    uint64_t hash = 0;
    for (int i = 0; i < key->numbers; i++)
        hash = (hash << 5 | hash >> 59) ^ (uint64_t)key->number[i];
    return (unsigned)(hash * 0x9e3779b97f4a7c15 >> (64 - PLACE_BITS));
}

/* Whether place i has a plan for the key, and it was read before another one
   took its place. */
static bool find(unsigned i, const struct key *key,
                 struct elementwise_plan *plan)
{
    unsigned turn =
        atomic_load_explicit(&kept_plans[i].turn, memory_order_acquire);
    struct loops loops;
    if (turn % 2 || !is_same(kept_plans[i].key, key))
        return false;
    get(kept_plans[i].plan, plan, BEFORE_LOOPS);
    get(kept_plans[i].loops, &loops, sizeof loops);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&kept_plans[i].turn, memory_order_relaxed) != turn)
        return false;
    for (int d = 0; d < plan->ndim; d++) {
        plan->loop[d].n = loops.number[d][0];
        memcpy(plan->loop[d].stride, &loops.number[d][1],
               sizeof loops.number[d] - sizeof *loops.number[d]);
    }
    plan->stage.ndim = 0;
    plan->stage.bytes = 0;
    return true;
}

static bool is_kept(const struct elementwise_plan *plan)
{
    const struct ew_range *out = &plan->range[EW_OUT];
    return plan->ndim <= LOOPS && !plan->stage.ndim &&
           (plan->empty || out->last - out->first < SMALL);
}

static void keep(unsigned i, const struct key *key,
                 const struct elementwise_plan *plan)
{
    unsigned turn =
        atomic_load_explicit(&kept_plans[i].turn, memory_order_relaxed);
    struct loops loops = {{{0}}};
    if (turn % 2 || !atomic_compare_exchange_strong_explicit(
                        &kept_plans[i].turn, &turn, turn + 1,
                        memory_order_acquire, memory_order_relaxed))
        return;
    atomic_thread_fence(memory_order_release);
    for (int d = 0; d < plan->ndim; d++) {
        loops.number[d][0] = plan->loop[d].n;
        memcpy(&loops.number[d][1], plan->loop[d].stride,
               sizeof loops.number[d] - sizeof *loops.number[d]);
    }
    put(kept_plans[i].key, key,
        (size_t)(1 + key->numbers) * sizeof key->numbers);
    put(kept_plans[i].plan, plan, BEFORE_LOOPS);
    put(kept_plans[i].loops, &loops, sizeof loops);
    atomic_store_explicit(&kept_plans[i].turn, turn + 2, memory_order_release);
}

elementwise_status ew_cache_run(elementwise_op op, const elementwise_tensor *x,
                                const elementwise_tensor *y, int axis,
                                const elementwise_tensor *out,
                                const elementwise_options *options)
{
    struct elementwise_plan plan;
    struct key key;
    bool has_key = make_key(&key, op, x, y, axis, out, options);
    const unsigned i = has_key ? place_of(&key) : 0;
    elementwise_status status = ELEMENTWISE_OK;
    if (!has_key || !find(i, &key, &plan)) {
        status = ew_plan_make(&plan, op, x, y, axis, out);
        if (!status)
            status = ew_fuse_plan(&plan, options);
        if (!status && has_key && is_kept(&plan))
            keep(i, &key, &plan);
    }
    return status ? status : ew_plan_run(&plan, x->data, y->data, out->data);
}
