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

/* Kind, then N(number) and T(text) in this order.
 *
 * HOST  `number` of the host in its program; `now_ns` of its monotonic clock
 * CCE   `index` of its record, `identity` in two halves; `state` is enum bcri_cce_state; `process`
 *       the letter of its process in /proc, 0 if it has none; `asleep` is enum bcri_sleep; `holder`
 *       is the tag of the CCE for whose release it waits; `call` the operation that its journal has
 *       open; counters as in trace.h
 * END   how many rows came before it */
/* clang-format off */
#define LOOK_HOST(N, T)                                                                        \
    N(version) N(number) N(pid) N(records) N(segments) N(now_ns) T(program) T(hostname)
#define LOOK_CCE(N, T)                                                                         \
    N(index) N(identity0) N(identity1) N(ordinal) N(pid) N(state) N(process) N(asleep) N(bell) \
    N(holder) N(call) N(allocs) N(frees) N(puts) N(gets) N(reads) N(zaps) N(timeouts) N(fulls) \
    N(copies) N(waits) N(sleeps) N(failed) N(untold)
#define LOOK_END(N, T)                                                                         \
    N(rows)
/* clang-format on */

#define LOOK_KINDS(X) X(HOST, host) X(CCE, cce) X(END, end)

enum look_kind {
    LOOK_KIND_NONE,
#define LOOK_KIND(KIND, kind) LOOK_KIND_##KIND,
    LOOK_KINDS(LOOK_KIND)
#undef LOOK_KIND
        LOOK_KIND_COUNT
};

#define LOOK_NUMBER(name) uint64_t name;
#define LOOK_TEXT(name)   char name[LOOK_TEXT_MAX];
struct look_row {
    enum look_kind kind;
    union {
#define LOOK_STRUCT(KIND, kind)             \
    struct look_##kind {                    \
        LOOK_##KIND(LOOK_NUMBER, LOOK_TEXT) \
    } kind;
        LOOK_KINDS(LOOK_STRUCT)
#undef LOOK_STRUCT
    };
};

/* Writes a row. False: the reader has gone. */
bool look_write(FILE *out, const struct look_row *row);

/* Reads the next row of a known kind. 1; 0: no row is left; -1: this is no snapshot. What a row does
 * not have is zero. */
int look_read(struct bcri_cursor *cursor, struct look_row *row_out);

#endif
