/*
 * The benchmark as a library, for programs that time others on the same
 * operands: one row at a time is in memory, and each function says something
 * about it or does something with it.
 */
#ifndef SESSION_H
#define SESSION_H

#include "bench.h"

/* Another library that does what a row does, prepared once and then called. */
struct bench_peer {
    const char *name, *version;
    /* NULL: it has no such operation. */
    void *(*prepare)(const struct bench_case *c);
    bool (*call)(void *prepared);
    void (*release)(void *prepared);
};

extern const struct bench_peer bench_peer_xnnpack, bench_peer_onednn;

/* Everything that is exported to Python (peers.py). */

#define SESSION __attribute__((visibility("default")))

struct bench_session;

/* Pins the calling thread and measures the machine; NULL: no such layout, or no
   memory. The rows are those of a layout, or so many random ones, or, where
   they are NULL and 0, those of the matrix. */
SESSION struct bench_session *session_open(int cpu, const char *layout,
                                           int random, uint64_t seed);
SESSION void session_close(struct bench_session *s);
SESSION int session_rows(const struct bench_session *s);
SESSION const char *session_name(const struct bench_session *s, int row);

/* Measures the machine again: limits may become closer, never farther. The
   operands in memory are lost. */
SESSION void session_raise_limits(struct bench_session *s);

/* The least time of a row, which takes the place of the one in memory. */
SESSION double session_limit(struct bench_session *s, int row);

/* Places the row's operands in memory; what is said below is about it. */
SESSION int session_load(struct bench_session *s, int row);
SESSION int session_kind(const struct bench_session *s);
SESSION int session_axis(const struct bench_session *s);

/* Where operand k is: its rank, or -1 if the row has none. */
SESSION int session_operand(const struct bench_session *s, int k, void **data,
                            const char **type, int64_t shape[],
                            int64_t strides[]);

/* Whether the library's result is right; and seconds of n calls of it, of a
   plan made beforehand (negative: there is none). */
SESSION int session_verify(const struct bench_session *s);
SESSION double session_time(const struct bench_session *s, int n);
SESSION double session_time_plan(const struct bench_session *s, int n);

/* Peers in C, by number: NULL after the last. */
SESSION const char *session_peer_name(int peer);
SESSION const char *session_peer_version(int peer);

/* Seconds of n calls; negative: it cannot do the row. */
SESSION double session_time_peer(const struct bench_session *s, int peer,
                                 int n);

#endif
