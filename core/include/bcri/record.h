/* SPDX-License-Identifier: MIT */
/* The shared record of one CCE: who it is, its doorbell, its journal, its region IDs, its counters.
 *
 * Records lie in record segments, BCRI_RECORDS_PER_SEG to a segment, BCRI_RECORD_BYTES each; the
 * daemon reserves a record's pages when it gives the record out. Record 0 of a program is the
 * daemon itself.
 *
 *   off   part       written by                         read by
 *     0   identity   enl; `version`, `first_area`,      all (read-mostly line)
 *                    `state` also its CCE
 *    64   bell       ringers, the CCE                   the CCE, ringers
 *   128   journal    the CCE only                       enl after its death
 *   320   redo       the CCE only                       enl after its death
 *   832   counters   the CCE only                       enl, tools
 *  1072   idle       the CCE; `asked` enl               the CCE, enl
 *  1088   cell0      cells: area 0 and cell 0           see cells/
 *  1600   ids        the CCE; servers of its requests   the CCE, servers under the cell's locks, enl
 *  3520   note       the CCE only                       enl, tools (bcri/note.h)
 *  3808   sleep      the CCE only                       tools
 *  3840   requests   notifiers; the CCE                 the CCE, notifiers           see cells/
 *  4096   trace      the CCE only                       enl, tools (torn records are told by their sequence)
 *
 * Death: the daemon completes the journaled operation or undoes it, then walks the IDs, then closes
 * the cells (cells/recovery/journal_repair.c). It does not give the record out again while anything
 * still names a part of it (host.c). */
#ifndef BCRI_RECORD_H
#define BCRI_RECORD_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bcri/atomics.h"
#include "bcri/ref.h"

#define BCRI_RECORD_BYTES 8192u
/* In `exit_status`: the library has seen an exit, or a signal that ends the process, which outdoes it. */
#define BCRI_EXITED          0x100u
#define BCRI_CRASHED         0x200u
#define BCRI_RECORDS_PER_SEG 64u
#define BCRI_RECORD_SEGS     1024u
#define BCRI_CCE_MAX         65000u /* owner tags have 16 bits */
#define BCRI_IDENTITY_BYTES  16u
#define BCRI_FIRST_SLOTS     30u
#define BCRI_TRACE_RECORDS   128u
#define BCRI_REDO_MAX        32u

/* Life of a CCE. FREE -> STARTING (enl) -> ALIVE (the CCE, in bcr_init) -> DYING (enl, at its
 * death) -> DEAD (enl, when repaired) -> FREE. An exit with status 0 passes through the same
 * states. */
enum bcri_cce_state { BCRI_CCE_FREE = 0, BCRI_CCE_STARTING, BCRI_CCE_ALIVE, BCRI_CCE_DYING, BCRI_CCE_DEAD };

struct bcri_identity_shm {
    _Atomic uint32_t state;
    _Atomic uint32_t
        version; /* of the cell map: odd while it changes; each cagrow, cafree and death counts it up */
    _Atomic uint64_t first_area;
    uint8_t identity[BCRI_IDENTITY_BYTES];
    uint32_t index;
    uint32_t archtype;
    _Atomic uint32_t pid;
    _Atomic uint32_t exit_status; /* 0, BCRI_EXITED | status, or BCRI_CRASHED | signal */
    _Atomic uint64_t start_time;  /* of the pid, clock ticks since boot: names the process for good */
    uint32_t ordinal;
    _Atomic uint32_t uses_locks; /* 1 from its first write lock on: enl then looks for its lock words */
};
static_assert(sizeof(struct bcri_identity_shm) == 64, "docs/layout/record.md");

/* What an identity names, and an identity's first four bytes: the number of the CCE's host in its
 * program, and the index of the CCE's record there, both big-endian. Nobody can guess the rest. */
#define BCRI_HOST_NUMBER_MAX 65535u
static inline uint32_t bcri_identity_host(const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    return (uint32_t)identity[0] << 8 | identity[1];
}
static inline uint32_t bcri_identity_index(const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    return (uint32_t)identity[2] << 8 | identity[3];
}
static inline void bcri_identity_name(uint8_t identity[BCRI_IDENTITY_BYTES], uint32_t host, uint32_t index)
{
    identity[0] = (uint8_t)(host >> 8);
    identity[1] = (uint8_t)host;
    identity[2] = (uint8_t)(index >> 8);
    identity[3] = (uint8_t)index;
}

/* The identity that no CCE has. */
static inline bool bcri_identity_is_none(const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    static const uint8_t none[BCRI_IDENTITY_BYTES];
    return memcmp(identity, none, sizeof none) == 0;
}

/* How a CCE sleeps, or is about to: bell.h. */
enum bcri_sleep { BCRI_AWAKE = 0, BCRI_SLEEPS_ON_FUTEX, BCRI_SLEEPS_IN_EPOLL, BCRI_SLEEPS_IN_POLL };

#define BCRI_RUNG_FOR 4u
struct bcri_bell_shm {
    _Atomic uint32_t bell;     /* futex; counts up when rung */
    _Atomic uint32_t sleeping; /* enum bcri_sleep */
    /* Sleepers on any lock that this CCE holds (lock.h). The holder's release clears lock_sleepers
     * and counts lock_event up. */
    _Atomic uint32_t lock_sleepers;
    _Atomic uint32_t lock_event; /* futex */
    uint32_t spare;
    _Atomic uint32_t waits_on; /* tag of the CCE until whose release this one, or its repair, waits; or 0 */
    _Atomic uint64_t rung_for[BCRI_RUNG_FOR]; /* why it was rung last, a hint: bell.h */
    /* `sleeps` of the sleep note (63..32), and the bell that the CCE has read (31..0), when it has
     * looked at everything and nothing is left but to sleep: bcri_sleep_rests in bell.h. */
    _Atomic uint64_t rests;
};
static_assert(sizeof(struct bcri_bell_shm) == 64, "docs/layout/record.md");

/* Model: death.pml */
enum bcri_op {
    BCRI_OP_NONE = 0,
    BCRI_OP_ALLOC, /* a region that the library makes for a cell */
    BCRI_OP_FREE,
    BCRI_OP_PUT,
    BCRI_OP_TAKE,
    BCRI_OP_READ,
    BCRI_OP_COLLECT,
    BCRI_OP_SLOW,
    BCRI_OP_ZAP,
    BCRI_OP_MOD,
    BCRI_OP_FREE_LAST, /* drops the last hold on another's block; phase: its incarnation (cells/drop.h) */
};

enum bcri_detached_cursor {
    BCRI_DETACHED_FIRST = 0,
    BCRI_DETACHED_RING,
    BCRI_DETACHED_FRONT,
    BCRI_DETACHED_BACK
};

/* A queue that this CCE has detached from a cell and drops region by region
 * (cells/detached.c). `first`, `from`, `front` and `back` are cursors: the CCE moves each
 * on when it has dropped what the cursor names. */
struct bcri_detached_shm {
    _Atomic uint64_t cell; /* 0: none */
    _Atomic uint64_t first;
    _Atomic uint64_t from, to; /* tickets */
    _Atomic uint64_t front;
    _Atomic uint64_t back;
    _Atomic uint64_t cursor; /* enum bcri_detached_cursor: the one whose region is being dropped */
    _Atomic uint64_t was;    /* and its value before the drop */
};
static_assert(sizeof(struct bcri_detached_shm) == 64, "docs/layout/record.md");

/* What the CCE is about to do, written before it does it. op 0 means that no operation is open.
 * What phase, ticket and old mean for each operation is written beside the operation (cells/); cw_*
 * are explained in region.h. */
struct bcri_journal_shm {
    union {
        struct {
            _Atomic uint32_t op;
            _Atomic uint32_t phase;
        };
        _Atomic uint64_t doing; /* both, stored at once when an operation begins */
    };
    _Atomic uint64_t cell;
    _Atomic uint64_t region;
    _Atomic uint64_t slot;
    _Atomic uint64_t ticket;
    _Atomic uint64_t old;
    _Atomic uint64_t cw_ref;
    _Atomic uint32_t cw_new;
    _Atomic uint32_t cw_state;
    /* line 1: slow paths only */
    _Atomic uint64_t cell2; /* a second cell whose locks may be held */
    _Atomic uint64_t area;  /* an area whose locks may be held */
    _Atomic uint32_t cw_incarnation;
    _Atomic uint32_t redo_len;
    _Atomic uint32_t redo_state; /* 0 being written, 1 committed */
    uint32_t pad0;
    _Atomic uint64_t ring;       /* index + 1 of the CCE that must be rung, or 0 */
    _Atomic uint64_t put_held;   /* PUT: whether the cell's own hold is counted (cells/journal.h) */
    _Atomic uint64_t take_epoch; /* TAKE, a write lock: the epoch of its region */
    uint64_t pad1;
    /* line 2 */
    struct bcri_detached_shm detached;
};
static_assert(offsetof(struct bcri_journal_shm, phase) == 4, "docs/layout/record.md");
static_assert(offsetof(struct bcri_journal_shm, cell2) == 64, "docs/layout/record.md");
static_assert(offsetof(struct bcri_journal_shm, ring) == 96, "docs/layout/record.md");
static_assert(offsetof(struct bcri_journal_shm, detached) == 128, "docs/layout/record.md");
static_assert(sizeof(struct bcri_journal_shm) == 192, "docs/layout/record.md");

/* One store of a committed transaction: where = word reference (ref << 5 | byte in unit) | kind << 60.
 */
struct bcri_redo_shm {
    _Atomic uint64_t where;
    _Atomic uint64_t value;
};

#define BCRI_COUNTERS 30u

/* A region ID. The program holds its address as `bcr_region`, and `*rgid` reads `data`.
 *
 *   word: 63..56 state, 55..48 flags, 47..0 region reference
 *
 * While the ID is a waiting get, it is also the node of the request: `cell`, `key`, `next`, `prev`,
 * `given` and `kind` belong to the cell then and are written under its locks (cells/get_attempt.c,
 * cells/get_slow.c). */
struct bcri_slot_shm {
    _Atomic uintptr_t data; /* the region's data in the CCE that holds the ID */
#if UINTPTR_MAX == UINT32_MAX
    uint32_t data_pad;
#endif
    _Atomic uint64_t word;
    _Atomic uint64_t cell;
    _Atomic uint64_t key;
    _Atomic uint64_t next;
    _Atomic uint64_t prev;
    _Atomic uint64_t given;
    _Atomic uint32_t kind;
    _Atomic uint32_t sub;
};
static_assert(sizeof(struct bcri_slot_shm) == 64, "docs/layout/record.md");
static_assert(offsetof(struct bcri_slot_shm, word) == 8, "docs/layout/record.md");

/* One operation, as tools see it. `head` is written last, and a record is overwritten only after
 * the one before it in the ring. So a tool that has read record s and then finds that the slot
 * before it does not hold record s + BCRI_TRACE_RECORDS - 1 yet has read record s whole. */
struct bcri_trace_shm {
    _Atomic uint64_t
        head; /* sequence number | operation << 32 | result << 40 | index of the other CCE's record << 48 */
    uint32_t cell;
    uint32_t bytes;
    uint64_t region;
    uint64_t time_ns; /* coarse; exact for operations that waited */
};
static_assert(sizeof(struct bcri_trace_shm) == 32, "docs/layout/record.md");

/* What the CCE sleeps for, or has slept for last. It writes this when it is about to sleep on its
 * bell, and never otherwise, so that waits which are answered at once cost nothing. Tools read it
 * while `bell.sleeping` is set; two readings with the same `sleeps` are of one sleep. */
struct bcri_sleep_shm {
    _Atomic uint32_t sleeps;   /* counts its sleeps */
    _Atomic uint32_t after;    /* sequence number of the last operation that it had recorded then (trace) */
    _Atomic uint64_t since_ns; /* when the wait first slept */
    _Atomic uint64_t deadline_ns; /* UINT64_MAX: none */
    /* 63..48 how many requests, 47..0 ID of the first; 0: none known; BCRI_SLEEPS_FOR_ROOM in 63..48: it waits for
     * room in its comm heap; BCRI_SLEEPS_FOR_TEAM: for its team */
    _Atomic uint64_t waits_for;
};
#define BCRI_SLEEPS_FOR_ROOM 0xffffu
#define BCRI_SLEEPS_FOR_TEAM 0xfffeu
static_assert(sizeof(struct bcri_sleep_shm) == 32, "docs/layout/record.md");

/* Whether the CCE only looks for regions, or is a server (cells/include/bcri/idle.h). */
struct bcri_idle_shm {
    _Atomic uint64_t period; /* counts its changes, by the CCE: odd while it only looks */
    _Atomic uint32_t asked;  /* the daemon's last question */
    _Atomic uint32_t server; /* 1: it serves the others, by the CCE */
};
static_assert(sizeof(struct bcri_idle_shm) == 16, "docs/layout/record.md");

/* What the CCE waits for, in its interface's words: bcri/note.h. */
#define BCRI_NOTE_BYTES 104u
struct bcri_note_shm {
    _Atomic uint64_t state; /* changes (63..32), odd while one is under way; bytes of text (31..0), 0: none */
    _Atomic uint64_t cce[2]; /* identity of the CCE that alone can end the wait; zeros: not known */
    _Atomic uint64_t text[BCRI_NOTE_BYTES / 8];
};
static_assert(sizeof(struct bcri_note_shm) == 128, "docs/layout/record.md");

#define BCRI_CELL0_BYTES 512u

/* Which cells of this CCE have requests for their handlers:
 * cells/include/bcri/handler_request.h. */
#define BCRI_REQUEST_WORDS 16u
struct bcri_requests_shm {
    _Atomic uint64_t news;   /* 0; a cell and its count of requests; "look at `bits`"; or both of these */
    _Atomic uint64_t hint;   /* a region put with a request, to be fetched early */
    _Atomic uint32_t asleep; /* the owner sleeps, or is about to: a notifier clears it and rings */
    uint32_t pad0;
    uint64_t pad1[5];
    _Atomic uint64_t bits[BCRI_REQUEST_WORDS]; /* by hashed cell number: look at its count */
    uint64_t pad2[8];
};
static_assert(offsetof(struct bcri_requests_shm, bits) == 64, "docs/layout/record.md");
static_assert(sizeof(struct bcri_requests_shm) == 256, "docs/layout/record.md");

struct bcri_record_shm {
    struct bcri_identity_shm id;
    struct bcri_bell_shm bell;
    struct bcri_journal_shm journal;
    struct bcri_redo_shm redo[BCRI_REDO_MAX];
    _Atomic uint64_t counters[BCRI_COUNTERS];
    struct bcri_idle_shm idle;
    alignas(64) unsigned char cell0[BCRI_CELL0_BYTES];
    struct bcri_slot_shm slots[BCRI_FIRST_SLOTS];
    struct bcri_note_shm note;
    /* Further region IDs: chunk k of 256 << k slots, in a segment of its own (slot.c). */
    _Atomic uint64_t slot_chunk[20];
    struct bcri_sleep_shm sleep;
    struct bcri_requests_shm requests;
    struct bcri_trace_shm trace[BCRI_TRACE_RECORDS];
};
static_assert(offsetof(struct bcri_record_shm, journal) == 128, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, redo) == 320, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, counters) == 832, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, idle) == 1072, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, cell0) == 1088, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, slots) == 1600, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, note) == 3520, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, sleep) == 3808, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, requests) == 3840, "docs/layout/record.md");
static_assert(offsetof(struct bcri_record_shm, trace) == 4096, "docs/layout/record.md");
static_assert(sizeof(struct bcri_record_shm) == BCRI_RECORD_BYTES, "docs/layout/record.md");

#endif
