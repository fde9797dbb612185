/* SPDX-License-Identifier: MIT */
/* A snapshot: what one host of a program looks like, as enl's helper writes it (look_host.c) and as
 * its commands read it.
 *
 * It is a row of msgpack arrays, one for each thing that there is: the row's kind, then its fields in
 * the order of the lists below. The first row is HOST, the last END; without END the snapshot is cut
 * off. Rows of unknown kinds and fields behind those known are skipped, so later versions may add
 * some; a change of what there is gets another LOOK_VERSION.
 *
 * All of it was read while the program ran on, so two rows need not fit together. Each row was
 * looked at by itself.
 *
 * Trust. The bytes come from another process, perhaps from another machine: reading takes no memory,
 * believes no length, and text is cut to its room. */
#ifndef ENL_SNAPSHOT_H
#define ENL_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bcri/unpack.h"

#define LOOK_VERSION  1u
#define LOOK_TEXT_MAX 128u

/* Kind, then N(number) and T(text) in this order; `host` is the host's number in its program, and other
 * numbers of CCEs are indices of their records there.
 *
 * HOST  `now_ns` by its monotonic clock, `start_ns` since 1970; the others are in host.h
 * CCE   `identity` in two halves; `state` is enum bcri_cce_state; `process` the letter of its process
 *       in /proc, 0 if there is none; `asleep` is enum bcri_sleep; `holder` is the tag of the CCE for
 *       whose release it waits; `call` the operation that its journal has open; `sleeps`, `since_ns`,
 *       `deadline_ns` are of its last sleep, `waiting_for` the requests that it sleeps for;
 *       `news` is not 0 while requests of its handlers may wait;
 *       counters as in trace.h; `used` and `limit` are bytes of regions in its heap; of the `moves`, those puts, gets
 *       and reads that its trace still has, the regions have `moved` bytes; `traced_ns` is the time of the oldest
 *       operation in its trace, 0 if that has all; `outside` is enum look_outside: where it sleeps outside BCR
 * AREA  what one bcr_cagrow of `owner` has made
 * CELL  one of its cells that was used: `flags` as in cell.h; `locker` has a write lock (tag);
 *       `head_lock` and `tail_lock` are tags; `requests` of its handler; `high` and `oldest_ns` are 0 in a snapshot: seen.h
 * WAIT  a request of a CCE that is not served: `want` is enum bcri_order_op, `state` enum
 *       bcri_slot_state; the owner is named by the number of its host, its index and identity;
 *       `slept` says that this is what the CCE sleeps for
 * HOLD  regions in the heap of `home`, by who holds them: in cells of `holder`, or by its IDs
 * TOLD  what the trace of a CCE still has of its puts into one cell of CCE `peer` of its host
 * WAY   in which way packets go from this host to host `peer`, where it is not the usual one: `way` is enum bcri_way
 * GOT   the same of its gets, reads and write locks
 * LEFT  a CCE that has ended, and whose record no other has by now, by its last put into one cell of CCE `peer` of its
 *       host; `exit` is as in its record
 * END   how many rows came before it; `cut` if there was more than a snapshot may have
 * DAEMON a host as the root's daemon knows it (look_hosts.h): in no snapshot */
/* clang-format off */
#define LOOK_HOST(N, T)                                                                          \
    N(host) N(version) N(pid) N(records) N(segments) N(now_ns)                                   \
    N(start_ns) N(ended) N(failed) N(crashed) T(program) T(hostname)
#define LOOK_CCE(N, T)                                                                           \
    N(host) N(index) N(identity0) N(identity1) N(ordinal) N(pid) N(state) N(process) N(asleep)   \
    N(bell) N(holder) N(call) N(slept) N(since_ns) N(deadline_ns) N(waiting_for) N(news)                 \
    N(allocs) N(frees) N(puts) N(gets) N(reads) N(zaps) N(timeouts) N(fulls) N(copies) N(waits)  \
    N(sleeps) N(failed) N(untold) N(used) N(limit) N(moves) N(moved) N(traced_ns) N(outside) T(name)
#define LOOK_AREA(N, T)                                                                          \
    N(host) N(owner) N(base) N(cells) N(regions) N(bytes) N(pool) N(putters)
#define LOOK_CELL(N, T)                                                                          \
    N(host) N(owner) N(cell) N(kind) N(flags) N(length) N(bytes) N(credits) N(watermark)         \
    N(requests) N(locker) N(head_lock) N(tail_lock) N(puts) N(high) N(oldest_ns)
#define LOOK_WAIT(N, T)                                                                          \
    N(host) N(index) N(want) N(state) N(owner_host) N(owner) N(identity0) N(identity1) N(cell)   \
    N(bytes) N(slept)
#define LOOK_HOLD(N, T)                                                                          \
    N(host) N(holder) N(home) N(in_cells) N(regions) N(bytes)
#define LOOK_TOLD(N, T)                                                                          \
    N(host) N(index) N(peer) N(cell) N(puts) N(last_ns)
#define LOOK_WAY(N, T)                                                                           \
    N(host) N(peer) N(way) N(bytes)
#define LOOK_GOT(N, T)                                                                           \
    N(host) N(index) N(peer) N(cell) N(gets) N(last_ns)
#define LOOK_LEFT(N, T)                                                                          \
    N(host) N(index) N(ordinal) N(pid) N(exit) N(peer) N(cell) N(last_ns)
#define LOOK_END(N, T)                                                                           \
    N(host) N(rows) N(cut)
#define LOOK_DAEMON(N, T)                                                                        \
    N(host) N(cces) T(standing) T(name) T(why)
/* clang-format on */

#define LOOK_KINDS(X) \
    X(HOST, host)     \
    X(CCE, cce)       \
    X(AREA, area)     \
    X(CELL, cell)     \
    X(WAIT, wait)     \
    X(HOLD, hold) X(TOLD, told) X(END, end) X(DAEMON, daemon) X(GOT, got) X(LEFT, left) X(WAY, way)

enum look_kind {
    LOOK_KIND_NONE,
#define LOOK_KIND(KIND, kind) LOOK_KIND_##KIND,
    LOOK_KINDS(LOOK_KIND)
#undef LOOK_KIND
        LOOK_KIND_COUNT
};

enum look_outside { LOOK_OUTSIDE_NOT, LOOK_OUTSIDE_SLEEPS, LOOK_OUTSIDE_POLLS };

#define LOOK_NUMBER(name) uint64_t name;
#define LOOK_TEXT(name)   char name[LOOK_TEXT_MAX];
#define LOOK_STRUCT(KIND, kind)             \
    struct look_##kind {                    \
        LOOK_##KIND(LOOK_NUMBER, LOOK_TEXT) \
    };
LOOK_KINDS(LOOK_STRUCT)
#undef LOOK_STRUCT
struct look_row {
    enum look_kind kind;
    union {
#define LOOK_MEMBER(KIND, kind) struct look_##kind kind;
        LOOK_KINDS(LOOK_MEMBER)
#undef LOOK_MEMBER
    };
};

/* Writes a row. False: the reader has gone. */
bool look_write(FILE *out, const struct look_row *row);

/* Reads the next row of a known kind. 1; 0: no row is left; -1: this is no snapshot. What a row does
 * not have is zero. */
int look_read(struct bcri_cursor *cursor, struct look_row *row_out);

#endif
