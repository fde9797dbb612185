/* SPDX-License-Identifier: MIT */
/*
 * pair.h -- two processes that take turns at a floor and at what is compared with it.
 *
 * Both run the same table of cases.  Side 0 leads: it writes the next turn into the shared page, both meet, pin
 * themselves, start together, run, and meet again.  So a floor and its subject are measured in the same two
 * processes, on the same two cores, milliseconds apart.
 *
 * How the pair came to be is not known here: side 1 may be a forked child (bench_pair_fork) or any
 * process that was told where the page is (bench_pair_join). */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "bench.h"

#define BENCH_LINE 128 /* two cache lines: neighbours are fetched in pairs on some machines */

/* Each on its own core; both on the first; both free to run on either. */
enum bench_place { BENCH_TWO_CORES, BENCH_ONE_CORE, BENCH_ANY_CORE };

struct bench_pair;

/* One turn as a step sees it.  A step reads the first group and fills the second. */
struct bench_turn {
    long count;
    size_t size_bytes;
    const void *context;

    long op_count; /* operations that this side did; both sides' are added */
    double
        timed_ns; /* set if only parts of the turn count; both sides' are added.  0: the whole turn counts */
};

typedef void bench_step(struct bench_pair *pair, struct bench_turn *turn);

struct bench_case {
    const char *name;
    enum bench_unit unit;
    enum bench_place place;
    bench_step *subject;
    bench_step *floor; /* NULL: the subject is a floor, measured for itself */
    const char *floor_name;
    size_t size_bytes;
    const void *context;
    enum bench_limit limit_kind;
    double limit;
    const char *left_out; /* why this case cannot be measured here; NULL: it can */
};

struct bench_gate_shm {
    alignas(BENCH_LINE) _Atomic uint32_t arrived;
};

struct bench_result_shm {
    alignas(BENCH_LINE) double timed_ns;
    int64_t op_count;
    int64_t preempted_count;
};

/*
 * First bytes of the mapping; what the steps need follows at BENCH_AREA_OFFSET.
 *   gate, start   written by the side they are named for, read by the other
 *   the command   written by side 0 before a meeting, read by side 1 after it
 *   result        written by each side before a meeting, read by side 0 after it
 * A death of either side ends the other (bench_pair_fork, or the runtime that started both).
 */
struct bench_pair_shm {
    struct bench_gate_shm gate[2];
    struct bench_gate_shm start[2];
    alignas(BENCH_LINE) int32_t case_idx; /* -1: no further turn */
    int32_t is_floor;
    int64_t count;
    struct bench_result_shm result[2];
};

#define BENCH_AREA_OFFSET 4096
static_assert(sizeof(struct bench_pair_shm) <= BENCH_AREA_OFFSET, "the area follows the header");

struct bench_pair {
    int side;
    int core[2];
    const struct bench_case *cases;
    int case_count;
    int probe_idx; /* this case's subject or floor, in ns, tells the state that the machine is in */
    bool probe_is_floor;
    void *user; /* for the steps of one program */

    struct bench_pair_shm *shm;
    void *area;
    size_t area_bytes;
    size_t reset_bytes; /* so much of the area is zeroed before each turn */
    uint32_t gate_turn, start_turn;
};

/* Makes the shared page and area; returns its descriptor, close-on-exec.  The caller is side 0. */
int bench_pair_create(struct bench_pair *pair, size_t area_bytes, size_t reset_bytes);
/* Maps what process pid has open as fd.  The caller is side 1. */
void bench_pair_join(struct bench_pair *pair, pid_t pid, int fd, size_t area_bytes, size_t reset_bytes);
/* After bench_pair_create: the child becomes side 1, serves, and exits; neither survives the
 * other. */
void bench_pair_fork(struct bench_pair *pair);

/* Side 1: runs turns until side 0 calls bench_pair_end. */
void bench_pair_serve(struct bench_pair *pair);
/* Side 0: measures every wanted case and reports it. */
void bench_pair_measure(struct bench_pair *pair, const struct bench_options *options,
                        struct bench_report *report);
void bench_pair_end(struct bench_pair *pair);
/* Prints the names of the wanted cases, one a line. */
void bench_pair_list(const struct bench_pair *pair, const struct bench_options *options);

/* Both sides return once both have called.  Sleeps after a while. */
void bench_pair_meet(struct bench_pair *pair);
/* The same, spinning, for a start as simultaneous as it gets.  Yields, since both may share a core.
 */
void bench_pair_align(struct bench_pair *pair);

/* Waiting and waking without any spinning, between processes. */
void bench_futex_wait(_Atomic uint32_t *word, uint32_t expected);
void bench_futex_wake(_Atomic uint32_t *word);

#endif
