/* SPDX-License-Identifier: MIT */
/* The context of one CCE in its process: everything private that the layers below the public
 * interface need.
 *
 * The public routines look it up once (bcri_self) and hand it down; nothing below them is global.
 * So several CCEs can live as threads of one process. The sanitizer and model tests use this to see
 * all of them at once. */
#ifndef BCRI_CTX_H
#define BCRI_CTX_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/host.h"
#include "bcri/record.h"
#include "bcri/ref.h"

#define BCRI_ENL_INDEX 0u
/* The tag by which locks and count words name their holder: index + 1, so that 0 means "free". */
#define BCRI_TAG(index) ((index) + 1u)

/* What the layers below need from the daemon. Each call may block until the daemon answers, unless
 * its comment says otherwise. */
struct bcri_upcalls {
    /* Registers a new segment; takes `fd` on success. Returns 0 or a bcrE_ code. */
    int (*segment_add)(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out);
    /* The same, with a number that the daemon gives out again together with its file of this kind
     * and size. Returns 0 and the number, or a bcrE_ code if there is none. NULL: there never is
     * one. */
    int (*segment_again)(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out);
    /* Gets pages for cells of CCE `owner` (bcri_host_pages_take). The caller gives the descriptors
     * of their segments back. Returns 0 or a bcrE_ code. */
    int (*pages_take)(void *up, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                      struct bcri_pages *out);
    /* Gives runs of this CCE back (bcri_host_pages_back). Does not wait for an answer. */
    void (*pages_back)(void *up, const bcri_ref ref[BCRI_PAGE_SORTS]);
    /* Fetches a descriptor of a segment; the caller gives it back. Returns it or a negative bcrE_
     * code. */
    int (*segment_fd)(void *up, uint32_t seg);
    /* Tells the daemon to look again at a segment of an ended CCE: the number of frees for which it
     * waits has been reached (bcri_segment_freed). Does not wait for an answer. NULL: the daemon's
     * stand-in (in a test) looks of its own accord. */
    void (*segment_freed)(void *up, uint32_t seg);
    /* Gives back a descriptor that segment_fd or pages_take has fetched. NULL: the caller closes
     * it. */
    void (*segment_fd_back)(void *up, int fd);
    /* Has the daemon write a sentence about this CCE into its log. Does not wait. NULL: there is no
     * log. */
    void (*note)(void *up, const char *text);
    /* Answers the daemon's question whether this CCE, which only looks for regions, has found none (idle.h). Does not
     * wait. False: not sent. NULL: the daemon does not ask. */
    bool (*idle_answer)(void *up, uint32_t question, uint64_t period, bool found_none);
    /* The context is the daemon's: it parks (lock.h), and survives corrupt memory (corrupt.h). */
    bool of_daemon;
};

/* The eventfds of armed cells (bcr_fd), and of CCEs that sleep in a poll (wakefd.h). ctx->fd_upcalls is NULL where
 * there are none. */
struct bcri_fd_upcalls {
    /* Gives the daemon the eventfd (borrowed) of a cell of this CCE, or, with -1, takes it away. `cell` may be another
     * number that no cell has. Returns 0 or a bcrE_ code. */
    int (*set)(void *up, bcri_ref cell, int fd);
    /* Makes the eventfd of a cell, of any CCE, readable. `generation` differs whenever a number means another
     * eventfd than before. The CCE may ask its daemon, which never waits for a cell's locks. */
    void (*ring)(void *up, bcri_ref cell, uint64_t generation);
};

struct bcri_cell_fd; /* cells/fd.c */
struct bcri_hooks;   /* hooks.h */

struct bcri_heap;      /* heap.h */
struct bcri_scheduler; /* handlers/ */
struct bcri_cellmap;   /* cells/: what this CCE has found out about cells */
struct bcri_resolved;  /* what it has found out about one of them */
struct bcri_copier;    /* copydesc.h: the copy descriptors that this CCE has used */
struct bcri_ids;       /* cces.h: the small ints by which this CCE names others */
struct bcri_outbox;    /* cells/order.c: its side of its outbox */

/* Where this process has mapped a segment. Not mapped: {NULL, 0}. */
struct bcri_mapping {
    unsigned char *base;
    uint64_t units; /* of BCRI_REF_UNIT */
};

#define BCRI_DATA_GUESSES 256u

/* Its handlers. Only handlers/ knows them, except for the fields that a call reads at its beginning
 * (bcri_enter). */
struct bcri_ctx_handlers {
    struct bcri_scheduler *sched; /* NULL: none */
    /* Of the stack in use; a thread's own: all of memory. A signal handler in another thread may look at the first. */
    _Atomic uintptr_t stack_low;
    uintptr_t stack_bytes;
    bool due; /* a handler may run that was taken from the queue before */
};

/* Its region IDs (core/memory/slot.c). What a look-up needs most often is cached in the context itself. */
struct bcri_ctx_slots {
    uint32_t chunks;
    void *base[24];
    size_t count[24];
    struct bcri_slot_shm **stack; /* of free ones */
};

/* Segments that this CCE got but could not use. It uses them for its next segment of the same kind
 * and size (core/memory/segment.c). */
struct bcri_ctx_kept {
    struct bcri_segment_kept {
        uint32_t seg;
        enum bcri_seg_kind kind;
        uint64_t size_bytes;
    } * list;
    size_t count, room;
};

/* Used in the daemon's context only. The daemon does not wait for what others hold (lock.h,
 * Parking). */
struct bcri_ctx_daemon {
    bool parks;      /* this is the daemon's context */
    bool corrupt;    /* it has met corrupt memory (corrupt.h) */
    uint32_t parked; /* tag of the holder that the parked piece of work waits for, or 0 */
    bcri_ref *looks; /* cells to look at again (cells/repair.h) */
    size_t look_count, look_room;
    size_t kept_drops; /* holds that its own IDs keep until it can drop them (region.h) */
};

/* Which thread of this CCE is in BCR, and in which routine (one_thread.h): in builds that look. */
struct bcri_ctx_calls {
    _Atomic uint32_t thread;
    _Atomic(const char *) does; /* NULL: the user's handler runs */
};

/* Its descriptor for polls (wakefd.h). */
struct bcri_ctx_wakefd {
    int fd; /* 0: it has none. An epoll of: */
    int event, timer;
    bool timed; /* the timer is set, or has been */
};

/* How often bcr_wake was called (wakes.h). */
struct bcri_ctx_wakes {
    _Atomic(void *) table; /* of words, by cell number */
    _Atomic uint64_t called;
    uint64_t over; /* how many of them have woken a get, gone to a handler, or were dropped */
};

/* Whether it only looks for regions (cells/include/bcri/idle.h). */
struct bcri_ctx_idle {
    bool declared;
    uint32_t answered; /* the daemon's question that it has answered last */
    uint64_t done;     /* what it had done when it declared it */
};

/* What a signal handler does between bcr_sigenter and bcr_sigleave (handlers/section.c). */
struct bcri_ctx_section {
    _Atomic bool open;
    const struct bcri_hooks *hooks; /* those of the CCE, which has none meanwhile */
    int error, system_error;        /* bcr_errno and errno of the program that was interrupted */
    uint32_t thread;                /* what bcri_ctx_calls said */
    const char *does;
};

struct bcri_ctx {
    /* Each put, get and lock reads these. They fill two cache lines. */
    alignas(BCRI_CACHELINE) struct bcri_record_shm *record;
    struct bcri_journal_shm *journal;
    struct bcri_mapping *map; /* by segment number */
    /* What a release reads: the bell's lock_sleepers, or a word that is always 1 (lock.h). */
    const _Atomic uint32_t *sleepers_at;
    const struct bcri_hooks *hooks; /* NULL: this CCE has no handlers */
    /* The chunk of IDs in which the last look-up found one: the next one is mostly there too
     * (slot.h). */
    uintptr_t slot_cached, slot_cached_bytes;
    bcri_ref slot_cached_ref;
    struct bcri_slot_shm **slot_top; /* stack of free IDs, private; NULL lies at its bottom */
    /* The resolved cells in `cells` that the last put, and the last get, used; NULL: none. */
    struct bcri_resolved *put_resolved, *get_resolved;
    struct bcri_heap *heap;       /* heap.h: this CCE's allocator */
    struct bcri_trace_shm *trace; /* of the record */
    uint64_t coarse_ns;
    uint32_t trace_seq;
    uint32_t tag;
    uint32_t index;
    _Atomic uint8_t inside; /* a thread is in BCR (one_thread.h) */
    uint8_t waits_in_row;   /* number of gets since the last put that had to wait, or 255 */

    struct bcri_ctx_handlers handlers;

    /* Looking up, and waiting (bell.h). */
    struct bcri_cellmap *cells;
    uint32_t cells_shift; /* 64 - log2 of its entries */
    uint32_t last_cpu;    /* where the putter ran that this CCE waited for last; 255: unknown */
    struct bcri_bell_shm *bell;
    int bell_fd; /* non-blocking eventfd by which the group's sleeper in epoll is woken; -1: it has none */
    int cpus;
    bool full_fence;   /* membarrier is missing: releases must fence (lock.h) */
    uint32_t archtype; /* of this program */
    int error;         /* bcr_errno of a CCE that is no thread of its own */
    int putwait_msec;
    int flags; /* of bcr_init */
    struct bcri_ids *ids;
    struct bcri_copier *copier; /* made at the first copy */
    struct bcri_cell_fd *cell_fds;
    struct bcri_outbox *outbox; /* made at the first order to another host */
    struct bcri_ctx_slots slots;

    /* What the daemon is asked for, and the daemon. */
    struct bcri_host_shm *host;
    const struct bcri_upcalls *upcalls;
    const struct bcri_fd_upcalls *fd_upcalls; /* set after bcri_ctx_init */
    void *up;
    void *client; /* enl/client; in the daemon, its worker */
    /* Reports to a person that this CCE has waited for a second for what CCE `index` holds. NULL:
     * there is nobody to tell. */
    void (*holder_stays)(struct bcri_ctx *ctx, uint32_t index);
    struct bcri_ctx_kept kept;
    struct bcri_ctx_daemon daemon;
    struct bcri_ctx_calls calls;
    struct bcri_ctx_section section;
    struct bcri_ctx_wakes wakes;
    struct bcri_ctx_idle idle;
    struct bcri_ctx_wakefd wakefd;

    /* What this CCE has read from the directory of records; 0: nothing yet. */
    uint32_t record_seg[BCRI_RECORD_SEGS];
    /* By region: where its data was when this CCE last waited for it (cells/waiters.c). */
    uint64_t data_guess[BCRI_DATA_GUESSES];
};
static_assert(offsetof(struct bcri_ctx, handlers) <= 2 * BCRI_CACHELINE,
              "what each call looks at has two lines");

/* Zeroed memory for a struct that has a context in it, which is aligned; for bcri_private_free
 * (private.h). NULL: no memory. */
void *bcri_ctx_alloc(size_t bytes);

/* The table of mapped segments: 0 or bcrE_NOMEM; unmaps all. */
int bcri_map_init(struct bcri_ctx *ctx);
void bcri_map_fini(struct bcri_ctx *ctx);

/* Where the object of a reference lies in this process; maps its segment if need be. NULL if the
 * segment cannot be mapped. A reference that leads nowhere is corrupt (corrupt.h): a CCE ends, and
 * the daemon gets NULL. */
void *bcri_at_slow(struct bcri_ctx *ctx, bcri_ref ref);
/* The same if the segment is mapped, else NULL. */
static inline void *bcri_at_mapped(const struct bcri_ctx *ctx, bcri_ref ref)
{
    const struct bcri_mapping *map = &ctx->map[bcri_ref_seg(ref)];
    if (bcri_unlikely((uint32_t)ref >= map->units))
        return NULL;
    unsigned char *at = map->base + bcri_ref_offset(ref);
    if (at == NULL)
        __builtin_unreachable(); /* what is not mapped has no units; so callers' tests cost nothing here */
    return at;
}
/* The same without a check, for the fast paths: for a region that an ID of this CCE holds, whose
 * segment is therefore mapped. */
static inline void *bcri_at_held(const struct bcri_ctx *ctx, bcri_ref ref)
{
    return ctx->map[bcri_ref_seg(ref)].base + bcri_ref_offset(ref);
}
static inline void *bcri_at(struct bcri_ctx *ctx, bcri_ref ref)
{
    void *at = bcri_at_mapped(ctx, ref);
    return bcri_likely(at != NULL) ? at : bcri_at_slow(ctx, ref);
}
/* The same for a reference that may be out of date. NULL also if the reference leads nowhere. */
void *bcri_at_stale(struct bcri_ctx *ctx, bcri_ref ref);
/* Whether a reference leads nowhere. False if its segment exists but cannot be mapped, since then
 * this process cannot tell. */
bool bcri_leads_nowhere(const struct bcri_ctx *ctx, bcri_ref ref);
/* A private piece of zeroed memory. bcri_map_or_dummy() is bcri_at() for a caller in the midst of a
 * change that it cannot undo: it is never NULL, but gives that memory for a reference that has no
 * address. */
void *bcri_nowhere(struct bcri_ctx *ctx);
static inline void *bcri_map_or_dummy(struct bcri_ctx *ctx, bcri_ref ref)
{
    void *at = bcri_at(ctx, ref);
    return bcri_likely(at != NULL) ? at : bcri_nowhere(ctx);
}
/* Whether `bytes` from `ref` on lie in one segment, which this process has mapped or can map. The
 * reference may be out of date. */
bool bcri_at_has(struct bcri_ctx *ctx, bcri_ref ref, uint64_t bytes);

/* Sets up `*ctx` on record `index` of the host segment `host_fd` (borrowed), after checking magic
 * and layout: `layout` is the number of the highest layer in this process (layout.h). Returns 0;
 * bcrE_ARG (not a host segment, or one of another layout); bcrE_NOMEM. */
int bcri_ctx_init(struct bcri_ctx *ctx, int host_fd, uint32_t index, uint32_t layout,
                  const struct bcri_upcalls *upcalls, void *up);
/* Unmaps everything and frees the private parts. Shared state is left as it is: ending is the
 * daemon's work. */
void bcri_ctx_fini(struct bcri_ctx *ctx);

/* The record of CCE `index`, or NULL. */
struct bcri_record_shm *bcri_record(struct bcri_ctx *ctx, uint32_t index);
bcri_ref bcri_record_ref(struct bcri_ctx *ctx, uint32_t index);

/* How a sentence for people names the CCE of a record (NULL: there is none): "CCE 3 (pid 12)", and with
 * this host's name if the program may have others. It only reads, so it may be called in any state of
 * the process. The second looks for the record. Both return `out`. */
#define BCRI_CCE_TEXT_MAX 128u
const char *bcri_record_text(const struct bcri_ctx *ctx, const struct bcri_record_shm *record, uint32_t index,
                             char out[BCRI_CCE_TEXT_MAX]);
const char *bcri_cce_text(struct bcri_ctx *ctx, uint32_t index, char out[BCRI_CCE_TEXT_MAX]);

#endif
