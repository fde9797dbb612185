/* SPDX-License-Identifier: MIT */
/* The daemon's own operations on cells: birth regions, error regions, repair after a death, the
 * audit.
 *
 * They run in a thread of their own, in the order given, on the daemon's context (bcri_host_ctx),
 * which nobody else uses meanwhile. None of them waits for anybody. But they may take long: an
 * audit looks at everything, and one who dies may leave a million regions; the loop's timers,
 * signals and connections are served meanwhile. The loop hears of each one's end.
 *
 * A piece of work that needs a lock which somebody has (core/lock.h, Parking) is parked: it keeps
 * its place in the order, others are done, and it is begun again when a holder's release has rung
 * the daemon's bell, or when any other piece was done, since that may have been the repair of the
 * holder. So who is stopped in the midst of a call keeps waiting only what needs his very locks.
 * Behind a parked piece nothing on the same record is begun: before its repair is done no record is
 * given out again. */
#ifndef ENL_WORKER_H
#define ENL_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

/* CELL0_INIT makes cell 0 of a new record, with the birth region in it if there is one. */
enum enl_work_kind {
    ENL_WORK_CELL0_INIT,
    ENL_WORK_ERROR,
    ENL_WORK_REPAIR,
    ENL_WORK_AUDIT,
    ENL_WORK_BLOCKED_BY, /* not to be done: a piece of work is parked for a while for what CCE `index` holds */
    ENL_WORK_LOOK,       /* something of an ended CCE is free (bcri/reclaim.h) */
};

struct enl_work {
    struct enl_work *next; /* the worker's */
    enum enl_work_kind kind;
    uint32_t index; /* of the CCE whose cell 0, or end, it is */
    bool has_data;  /* CELL0_INIT */
    uint32_t archtype, length;
    uint8_t data[64];
    int code; /* ERROR: what went wrong; afterwards, of all: what the operation returned */
    int operation;
    int32_t ordinal;
    uint32_t waiter; /* HELD_UP: whom the work is about */
    /* While it is parked: since when, and for which record; whether the loop was told. */
    uint64_t parked_ns;
    uint32_t parked_for;
    bool told;
    /* Afterwards: records that can be given out again, once the loop has heard of all work up to
     * this. Taken by who frees the work. */
    uint32_t *free_records;
    size_t free_count;
    struct enl_audit *audit; /* AUDIT: taken on success of enl_worker_add */
};

/* `when_done` is called on the loop for each piece of work when it is finished. NULL: no thread, no
 * memory. */
struct enl_worker *enl_worker_start(struct enl_program *program,
                                    void (*when_done)(struct enl_program *program,
                                                      const struct enl_work *work));
/* Queues a copy. False: no memory. */
bool enl_worker_add(struct enl_worker *worker, const struct enl_work *work);
/* Queues a look at what ended CCEs have left, if none is queued. */
bool enl_worker_look(struct enl_worker *worker);
/* Called when no CCE lives: drops what is queued or parked and waits for what is being done. True
 * if the thread has ended; false if it does not come to an end (corrupt memory): then nothing that
 * it uses may be freed. */
bool enl_worker_stop(struct enl_worker *worker);

#endif
