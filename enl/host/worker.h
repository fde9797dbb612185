/* SPDX-License-Identifier: MIT */
/* The daemon's own operations on cells: birth regions, error regions, repair after a death, the
 * audit.
 *
 * They run in a thread of their own, in the order given, on the daemon's context (bcri_host_ctx),
 * which no other thread uses meanwhile. None of them waits for a lock. But they may take long: an
 * audit looks at everything, and a dead CCE may leave a million regions. Meanwhile the loop serves
 * timers, signals and connections. The loop is told of the end of each operation.
 *
 * A piece of work that needs a lock that another CCE holds is parked (bcri/lock.h, Parking). It
 * keeps its place in the order, and the thread goes on with the other pieces. The thread begins a
 * parked piece again when a holder's release has rung the daemon's bell, or when it has done any
 * other piece, since that may have been the repair of the holder. So a CCE that is stopped in the
 * middle of a call delays only work that needs the very locks that it holds. No record is given out
 * again before its repair is done, so no piece behind a parked repair is about the record's next
 * user. */
#ifndef ENL_WORKER_H
#define ENL_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "bcri/ctx.h"
#include "bcri/heap.h"

struct enl_here;

/* CELL0_INIT makes cell 0 of a new record, with the birth region in it if there is one. */
enum enl_work_kind {
    ENL_WORK_CELL0_INIT,
    ENL_WORK_ERROR,
    ENL_WORK_REPAIR,
    ENL_WORK_BLOCKED_BY, /* for the loop only: work is parked for what CCE `index` holds */
    ENL_WORK_LOOK,       /* memory of an ended CCE may be free (bcri/reclaim.h) */
    ENL_WORK_POOL,       /* the agent's pool needs a piece */
    ENL_WORK_CALL,       /* something else: struct enl_call */
};

/* The first member of a structure of the owner's, on the heap. */
struct enl_call {
    int (*perform)(struct enl_call *call,
                   struct bcri_ctx *ctx); /* in the thread; bcrE_TIMEOUT: it is parked */
    void (*done)(struct enl_here *here, struct enl_call *call, int code); /* on the loop; takes the call */
    void (*drop)(struct enl_call *call);                                  /* instead of `done`, at the end */
};

struct enl_work {
    struct enl_mail mail; /* the worker's */
    enum enl_work_kind kind;
    uint32_t index; /* the CCE whose cell 0 is to be changed, or that has ended */
    bool has_data;  /* CELL0_INIT */
    uint32_t archtype, length;
    uint8_t data[64];
    int code; /* ERROR: what went wrong; when done, for all kinds: the result */
    int operation;
    int32_t ordinal;
    uint32_t waiter;              /* BLOCKED_BY: the CCE that the parked work is about */
    struct bcri_heap_piece piece; /* POOL */
    /* While it is parked: since when, for which holder's tag, and whether the loop was told. */
    uint64_t parked_ns;
    uint32_t parked_for;
    bool told;
    /* When done: records that can be given out again, once the loop has heard of all work up to
     * this. Owned by the work. */
    uint32_t *free_records;
    size_t free_count;
    struct enl_call *call; /* CALL: enl_worker_add takes it on success */
};

/* Starts the thread, when here->host is there. `when_done` is called on the loop for each piece of work that is done. NULL:
 * no thread, no memory. */
struct enl_worker *enl_worker_start(struct enl_here *here,
                                    void (*when_done)(struct enl_here *here, const struct enl_work *work));
/* Queues a copy of `work`. False: no memory. */
bool enl_worker_add(struct enl_worker *worker, const struct enl_work *work);
/* Whether nothing is queued, parked, being done, or done and not told. */
bool enl_worker_is_idle(const struct enl_worker *worker);
/* Queues a look at the memory that ended CCEs have left, unless one is queued. False: no memory. */
bool enl_worker_look(struct enl_worker *worker);
/* Called when no CCE lives: drops what is queued or parked, and waits for what is being done. True:
 * the thread has ended. False: the thread does not end (corrupt memory), and nothing that it uses
 * may be freed. */
bool enl_worker_stop(struct enl_worker *worker);

#endif
