/*
 * Turns the benchmark's rows into functions that Python can call: all loops
 * over calls are here, so that no time of Python's is in a figure.
 */
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench_session {
    struct bench_arena arena;
    struct bench_machine machine;
    struct bench_row *rows;
    struct bench_case current;
    elementwise_plan *plan; /* NULL where a row has none */
    void *prepared[2];      /* of each peer; NULL: it cannot */
    int count;
    bool foreign; /* rows are not of the matrix: they have their own limit */
};

static const struct bench_peer *const peers[] = {
#if defined(HAVE_XNNPACK)
    &bench_peer_xnnpack,
#endif
#if defined(HAVE_ONEDNN)
    &bench_peer_onednn,
#endif
    NULL};

struct bench_session *session_open(int cpu, const char *layout, int random,
                                   uint64_t seed)
{
    struct bench_session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    bench_pin(cpu);
    s->foreign = layout || random > 0;
    s->count = random;
    s->rows = layout       ? bench_layout_rows(layout, &s->count)
              : random > 0 ? bench_random_rows(random, seed, false)
                           : bench_rows(&s->count);
    if (!s->rows || !bench_arena_make(&s->arena, (size_t)2 << 30)) {
        session_close(s);
        return NULL;
    }
    bench_machine_measure(&s->machine, &s->arena);
    return s;
}

static void unload(struct bench_session *s)
{
    elementwise_plan_destroy(s->plan);
    s->plan = NULL;
    for (int p = 0; peers[p]; p++) {
        if (s->prepared[p])
            peers[p]->release(s->prepared[p]);
        s->prepared[p] = NULL;
    }
}

void session_close(struct bench_session *s)
{
    unload(s);
    free(s->rows);
    free(s);
}

int session_rows(const struct bench_session *s)
{
    return s->count;
}

const char *session_name(const struct bench_session *s, int row)
{
    return s->rows[row].name;
}

void session_raise_limits(struct bench_session *s)
{
    unload(s);
    bench_machine_raise(&s->machine, &s->arena);
}

double session_limit(struct bench_session *s, int row)
{
    unload(s);
    s->arena.taken = 0;
    if (!bench_case_make(&s->current, &s->rows[row], &s->arena))
        return 0;
    const struct bench_drift none = {1, 1};
    double limit = bench_limit(&s->machine, &s->current, none, false);
    if (s->foreign)
        limit = fmax(limit, bench_gather_time(&s->machine, &s->current));
    return limit;
}

int session_load(struct bench_session *s, int row)
{
    struct bench_case *c = &s->current;
    unload(s);
    s->arena.taken = 0;
    if (!bench_case_make(c, &s->rows[row], &s->arena))
        return 0;
    bench_case_fill(c);
    if (c->row->pattern.kind == BENCH_FORWARD)
        elementwise_plan_create(&s->plan, c->row->op, &c->t[X], &c->t[Y],
                                c->row->pattern.axis, &c->t[OUT], &c->options);
    for (int p = 0; peers[p]; p++)
        s->prepared[p] = peers[p]->prepare(c);
    return 1;
}

int session_kind(const struct bench_session *s)
{
    return (int)s->current.row->pattern.kind;
}

int session_axis(const struct bench_session *s)
{
    return s->current.row->pattern.axis;
}

int session_operand(const struct bench_session *s, int k, void **data,
                    const char **type, int64_t shape[], int64_t strides[])
{
    const elementwise_tensor *t = &s->current.t[k];
    if (!t->dtype)
        return -1;
    *data = t->data;
    *type = elementwise_dtype_name(t->dtype);
    for (int d = 0; d < t->ndim; d++) {
        shape[d] = t->shape[d];
        strides[d] = s->current.strides[k][d];
    }
    return t->ndim;
}

int session_verify(const struct bench_session *s)
{
    return bench_verify(&s->current);
}

double session_time(const struct bench_session *s, int n)
{
    double start = bench_spent();
    bench_case_call(&s->current, n, &bench_linked);
    return bench_spent() - start;
}

double session_time_plan(const struct bench_session *s, int n)
{
    const elementwise_tensor *t = s->current.t;
    if (!s->plan)
        return -1;
    double start = bench_spent();
    for (int i = 0; i < n; i++)
        elementwise_plan_run(s->plan, t[X].data, t[Y].data, t[OUT].data);
    return bench_spent() - start;
}

const char *session_peer_name(int peer)
{
    return peers[peer] ? peers[peer]->name : NULL;
}

const char *session_peer_version(int peer)
{
    return peers[peer]->version;
}

double session_time_peer(const struct bench_session *s, int peer, int n)
{
    void *prepared = s->prepared[peer];
    bool fine = prepared != NULL;
    double start = bench_spent();
    for (int i = 0; fine && i < n; i++)
        fine = peers[peer]->call(prepared);
    return fine ? bench_spent() - start : -1;
}
