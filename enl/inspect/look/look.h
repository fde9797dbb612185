/* SPDX-License-Identifier: MIT */
/* look.h -- the interface of enl/inspect/look: what is seen of a program, and how it is shown. */
#ifndef ENL_LOOK_H
#define ENL_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bcri/unpack.h"

/* snapshot.c -- A snapshot: what one host of a program looks like, as enl's helper writes it (look_host.c) and as
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

#define LOOK_VERSION  1u
#define LOOK_TEXT_MAX 128u

/* Kind, then N(number) and T(text) in this order; `host` is the host's number in its program, and other
 * numbers of CCEs are indices of their records there.
 *
 * HOST  `now_ns` by its monotonic clock, `start_ns` since 1970; the others are in host.h
 * CCE   `identity` in two halves; `state` is enum bcri_cce_state (bcri_cce_seen_state); `process` the letter of its process
 *       in /proc, 0 if there is none; `asleep` is enum bcri_sleep; `holder` is the tag of the CCE for
 *       whose release it waits; `call` the operation that its journal has open; `sleeps`, `since_ns`,
 *       `deadline_ns` are of its last sleep, `waiting_for` the requests that it sleeps for;
 *       `news` is not 0 while requests of its handlers may wait;
 *       counters as in trace.h; `used` and `limit` are bytes of regions in its heap; of the `moves`, those puts, gets
 *       and reads that its trace still has, the regions have `moved` bytes; `traced_ns` is the time of the oldest
 *       operation in its trace, 0 if that has all; `outside` is enum look_outside: where it sleeps outside BCR;
 *       `idle` is odd while it only looks for regions, `server` 1 if it is a server (bcr_idle)
 * AREA  what one bcr_cagrow of `owner` has made
 * CELL  one of its cells that was used: `flags` as in cell.h; `locker` has a write lock (tag);
 *       `head_lock` and `tail_lock` are tags; `requests` of its handler; `high` and `oldest_ns` are 0 in a snapshot: struct look_seen
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
 * NOTE  what a CCE says of its wait (bcr_note): `text`, as the program has given it, and the identity of the CCE that alone
 *       can end it; 0: not known
 * DAEMON a host as the root's daemon knows it (gather.c): in no snapshot */
/* clang-format off */
#define LOOK_HOST(N, T)                                                                          \
    N(host) N(version) N(pid) N(records) N(segments) N(now_ns)                                   \
    N(start_ns) N(ended) N(failed) N(crashed) T(program) T(hostname)
#define LOOK_CCE(N, T)                                                                           \
    N(host) N(index) N(identity0) N(identity1) N(ordinal) N(pid) N(state) N(process) N(asleep)   \
    N(bell) N(holder) N(call) N(slept) N(since_ns) N(deadline_ns) N(waiting_for) N(news)                 \
    N(allocs) N(frees) N(puts) N(gets) N(reads) N(zaps) N(timeouts) N(fulls) N(copies) N(waits)  \
    N(sleeps) N(failed) N(untold) N(used) N(limit) N(moves) N(moved) N(traced_ns) N(outside) N(idle) N(server) T(name)
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
#define LOOK_NOTE(N, T)                                                                          \
    N(host) N(index) N(identity0) N(identity1) T(text)
#define LOOK_DAEMON(N, T)                                                                        \
    N(host) N(cces) T(standing) T(name) T(why)
/* clang-format on */

#define LOOK_KINDS(X) \
    X(HOST, host)     \
    X(CCE, cce)       \
    X(AREA, area)     \
    X(CELL, cell)     \
    X(WAIT, wait)     \
    X(HOLD, hold)     \
    X(TOLD, told) X(END, end) X(DAEMON, daemon) X(GOT, got) X(LEFT, left) X(WAY, way) X(NOTE, note)

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

/* view.c -- What a command knows of a program: the rows of all its hosts' snapshots, by kind. */

#define LOOK_LIST(KIND, kind)   \
    struct {                    \
        struct look_##kind *at; \
        size_t count, room;     \
    } kind;
struct look_view {
    LOOK_KINDS(LOOK_LIST)
    const struct look_view *before; /* an earlier look at the same program; NULL: there was none */
    bool partial;                   /* there are CCEs of the program that are not in it */
    bool unanswered;                /* a host of the program has not told, or not all */
    bool standstill; /* the daemons have found that no CCE of the program can go on (enl/deadlock/) */
};
#undef LOOK_LIST

/* Adds a whole snapshot. NULL, or why it cannot be used; what it had of it stays. */
const char *look_view_add(struct look_view *view, const uint8_t *bytes, size_t length);
/* Adds one row. False: no memory. */
bool look_view_keep(struct look_view *view, const struct look_row *row);
/* Sorts hosts, CCEs and cells by their numbers, once all snapshots are there. */
void look_view_sort(struct look_view *view);
void look_view_fini(struct look_view *view);

/* By binary search; NULL: it is not there. */
const struct look_cce *look_view_cce(const struct look_view *view, uint64_t host, uint64_t index);
/* The CCE that was there before, if it is the same one; NULL: it was not there, or there was no look before. */
const struct look_cce *look_view_same(const struct look_view *before, const struct look_cce *cce);
const struct look_cell *look_view_cell(const struct look_view *view, uint64_t host, uint64_t owner,
                                       uint64_t cell);
const struct look_host *look_view_host(const struct look_view *view, uint64_t host);

/* A host's clock when it was looked at; 0: it is not there. */
uint64_t look_view_now(const struct look_view *view, uint64_t host);
/* The request that a CCE sleeps for; NULL: it does not sleep, or for something else. */
const struct look_wait *look_view_slept_for(const struct look_view *view, const struct look_cce *cce);

/* What a CCE says of its wait; NULL: nothing. */
const struct look_note *look_view_note(const struct look_view *view, const struct look_cce *cce);
/* note.c -- Which CCE it names. ENDED: one that is not there any more; UNSEEN: one of a host that was not seen. */
enum look_named { LOOK_NAMED_NONE, LOOK_NAMED_CCE, LOOK_NAMED_ENDED, LOOK_NAMED_UNSEEN };
enum look_named look_note_named(const struct look_view *view, const struct look_note *note,
                                const struct look_cce **cce_out);

/* How many requests wait at a cell; and for how long the CCE sleeps that does so longest, 0 if none does. */
unsigned look_view_waiting(const struct look_view *view, const struct look_cell *cell, uint64_t *age_ns_out);

/* What is known of a CCE's sleep: whether it waits for something of others at this moment. */
bool look_is_asleep(const struct look_cce *cce);
/* For what, if that is no cell: room (bcr_rgalloc_within), or its team (bcr_teamsync); NULL: it is one. */
const char *look_sleeps_for(const struct look_cce *cce);

/* A set of row kinds, by bit 1 << kind, as one JSON object in one line. */
void look_json(FILE *out, const struct look_view *view, unsigned kinds);

/* view.c, too -- What several looks at the same cells tell, and one cannot: the most regions that any of them has
 * met in a cell, and since when its oldest region is there. The cells themselves do not know it,
 * since each would cost every put a store.
 *
 * A cell has had `puts` - `length` regions taken away. If these are fewer now than there were puts in
 * all at an earlier look, a region of that time is still there, in whatever order they are taken. So
 * the age is a lower bound: for a cell that no CCE empties it is the time since a look first met
 * something there, and in one through which regions flow it grows to how long that takes, and begins
 * anew. */

struct look_seen {
    struct look_seen_cell *cells; /* in the order of the view */
    size_t count;
};

/* Writes `high` and `oldest_ns` (0: the cell is empty) into the cells of a sorted view, from this look
 * and those before. Without memory for it they stay 0, and what was seen is forgotten. */
void look_seen_add(struct look_seen *seen, struct look_view *view);
void look_seen_fini(struct look_seen *seen);

/* gather.c -- Asking all hosts of a program for their snapshots, or for something else, at the same time. */

/* What each host's helper is to tell. */
struct look_wish {
    uint32_t kind;    /* enum bcri_relay_kind */
    const char *text; /* for it */
    /* Takes what one has written, which is not empty. NULL, or what is wrong with it. */
    const char *(*add)(void *data, const uint8_t *bytes, size_t length);
    void *data;
};
/* What is wrong with hosts that tell nothing is written to `complaints`, a line each. False: there are such. */
bool look_collect(const char *name, const struct look_wish *wish, FILE *complaints);

/* Adds the snapshots of program `name`, with the names of its CCEs if `names`. What is wrong with hosts that give none is written to
 * `complaints`, a line each. False: there is no snapshot at all, and why was written. */
bool look_gather(const char *name, bool names, FILE *complaints, struct look_view *view_out);

/* A program that is looked at again and again. */
struct look_series {
    const char *program;
    bool names;                     /* of CCEs are asked for */
    struct look_view view, earlier; /* the last look; the one before, if there was one */
    struct look_seen seen;
};
/* Looks, as look_gather does, and adds what was seen earlier. False: `view` is still that of the last look. */
bool look_again(struct look_series *series, FILE *complaints);
void look_series_fini(struct look_series *series);

/* look_host.c -- enl --look-host, a helper (proxy.c): writes a snapshot of its host to stdout. */

/* `what`: "names" if it shall ask the daemon for the names of CCEs. Returns the exit status. */
int enl_look_host(const char *what);

/* gather.c, too -- A program's hosts as its root's daemon knows them, also those that cannot be looked at. */

/* Asks a daemon, at that socket, for its first host with at least that number. False: there is none,
 * or no answer. */
bool look_host_next(int daemon, uint64_t number, struct look_daemon *host_out);
/* Adds to `view` what the daemon of program `name` says of its hosts. */
void look_hosts_add(struct look_view *view, const char *name);

/* metrics.c -- enl --metrics: what a program does, for Prometheus and for curl.
 *
 *   enl --metrics WHERE PROGRAM   the daemon makes the socket and starts a process of its own, which answers until
 *                                 the daemon has ended. It is no child of the daemon's, and shares nothing with it.
 *   enl metrics WHERE [NAME]      the same for a program that runs, in the foreground
 *
 * WHERE is the path of a Unix socket, which its user alone may use, or localhost:PORT. There, GET /metrics
 * is answered by HTTP/1.0, one request after the other: each makes one look (gather.c), as any other command does, so
 * what it costs is paid by who asks.
 *
 * Trust. On a port any user of the machine may ask. A request has 8 KiB and a second, its answer ten; nothing of it
 * is used but its first line, which must be one of two. */

/* All of a view in Prometheus's text format, version 0.0.4. `before` is the view of the last answer. */
void look_metrics(FILE *out, const struct look_view *view);

/* enl metrics, whose words `argv` has. Returns the exit status. */
int enl_command_metrics(char **argv);
/* For this process, the daemon of program `name`, before it makes a thread. Returns 0, or an exit status when a sentence has told
 * what is wrong with `where`. */
int enl_metrics_start(const char *where, const char *name);

/* show.c -- What enl ps, cells, waits, regions and stats print of a program. */

void look_show_ps(FILE *out, const struct look_view *view);
void look_show_cells(FILE *out, const struct look_view *view);
void look_show_waits(FILE *out, const struct look_view *view);
void look_show_regions(FILE *out, const struct look_view *view);
/* Per second, since the view before. */
void look_show_stats(FILE *out, const struct look_view *view);

/* top.c -- enl top: all of a program on one screen, which is drawn again each second. */

enum { LOOK_TOP_COLUMNS = 60, LOOK_TOP_ROWS = 10 }; /* that it needs */

enum look_top_order {
    LOOK_TOP_BY_CCE,
    LOOK_TOP_BY_RATE,
    LOOK_TOP_BY_HEAP,
    LOOK_TOP_BY_WAIT,
    LOOK_TOP_ORDERS
};

struct look_top {
    const char *program;
    unsigned columns, rows;
    enum look_top_order order;
    size_t first;          /* CCE of that order that is shown first */
    const char *complaint; /* NULL: none; its first line is shown */
};

/* Writes the screen's lines, without rates if there is no view before. Moves `first` if there are not so many CCEs. Returns how many
 * rows of CCEs there are. */
unsigned look_top_show(FILE *out, struct look_top *top, const struct look_view *view);

/* `name` may be NULL: the only program. Returns the exit status. */
int enl_command_top(const char *name);

/* why.c -- enl why: what each CCE waits for, which CCEs could end that, and whether one ever will.
 *
 * A CCE is *blocked* if it sleeps without a time limit for requests that are not served. It has a way
 * out if a CCE that can serve one of them is not blocked, or has a way out itself. Who can serve a
 * request:
 *   a get       who may put there: the owner, and for a cell of kind in or in/out everybody else; but
 *               while a CCE has the write lock of the cell, that CCE alone
 *   a put       who may take there: the owner, and for a cell of kind out or in/out everybody else
 *   a lock inside a call   the holder alone
 *   room in the comm heap (bcr_rgalloc_within)   every other CCE: it may free a region
 *   whatever it is, where a note names a CCE (bcr_note)   that CCE alone
 * Those blocked CCEs that have no way out are stuck: nothing in the program can wake any of them. A
 * CCE that runs, starts, is stopped or traced, or waits with a time limit, for a descriptor or for
 * enl, is never blocked. So one CCE that only computes keeps all from being accused, except those
 * in a circle of locks or notes. A server (bcr_idle) that is stuck has nothing to do; it is told, and not counted among them.
 *
 * A pure function of a view and that before it, taken one shortly after the other: what slept in both without having
 * been awake between is asleep. */

enum look_fate {
    LOOK_RUNS,    /* it is not blocked, or has ended */
    LOOK_STOPPED, /* a person, or a debugger, has stopped it */
    LOOK_TIMED, /* it waits with a time limit, again and again, and has got nothing for several times that */
    LOOK_BLOCKED, /* a CCE that runs can serve it */
    LOOK_STUCK,   /* no CCE that can serve it will ever run */
};

struct look_why_cce {
    const struct look_cce *cce;
    const struct look_wait **waits; /* the requests that it sleeps for */
    size_t wait_count;
    enum look_fate fate;
    size_t next; /* the CCE that it waits for, most probably: index in `cces`; SIZE_MAX: not known */
    size_t walk; /* that has found it, in search of circles; 0: none */
    bool in_cycle;
    const struct look_left *left; /* the CCE that served it last, and has ended; NULL: not known */
    uint64_t vain_ns;             /* TIMED: for how long it has got nothing, at least */
    uint64_t at_a_time_ns;        /* TIMED: its time limit */
    bool ever;                    /* and whether it has got anything before */
    bool has_put;                 /* `next` has put into the cell before */
    bool certain; /* `next` alone can end the wait: it has the write lock, or the note names it */
    const struct look_note *note; /* what it says of its wait; NULL: nothing */
    enum look_named named;        /* which CCE that names: `next`, if it is there */
};

struct look_why {
    const struct look_view *view;
    struct look_why_cce *cces;
    const struct look_wait **waits;        /* of all, by CCE */
    size_t count, stuck, blocked, running; /* `running`: those TIMED too */
    size_t stopped;
    size_t servers;   /* that wait as if they were stuck, which they are not */
    size_t in_flight; /* puts to other hosts that are on their way */
    bool partial;     /* not all CCEs of the program were seen: others may run */
    bool all_stuck;   /* every CCE of the program is */
};

/* False: no memory. Release with look_why_fini. */
bool look_why(const struct look_view *view, struct look_why *why_out);
void look_why_fini(struct look_why *why);

void look_why_text(FILE *out, const struct look_why *why);
/* What is told of a deadlock by itself: circles, missing puts, and what the first CCEs wait for. */
void look_why_deadlock(FILE *out, const struct look_why *why);
/* The circles of write locks and notes alone, as suspected: those of host `host`, and those over several hosts. */
void look_why_circles(FILE *out, const struct look_why *why, uint64_t host);
void look_why_json(FILE *out, const struct look_why *why);
void look_why_dot(FILE *out, const struct look_why *why);

#endif
