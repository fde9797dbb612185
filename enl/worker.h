/* SPDX-License-Identifier: MIT */
/* The daemon's own operations on cells: birth regions, error regions, and repair after a death.
 *
 * They may wait for a lock that a CCE holds, and that CCE may be waiting for the daemon's answer to a request; so they
 * run in a thread of their own, one after the other, in the order given, on the daemon's context (bcri_host_ctx),
 * which nobody else uses meanwhile. The loop hears of each one's end.
 *
 * A repair may have to wait for a CCE that is stopped, for as long as that is. Whenever it is about to sleep (core/lock.c) it goes
 * aside, and another thread does what is queued: births, error regions, and the repairs of others who have died, each of which
 * may go aside as well. So who waits at the cells of one who dies later gets bcrE_DEAD in any case. Why nothing breaks:
 *   - One thread acts at a time, and changes over only there (helper.h). What a repair has in the context it takes along
 *     (bcri_repair_put_aside); between it and the cells it is then as between two CCEs: each holds locks, in the same order, and
 *     waits for the other one's. That both have the daemon's tag is known where somebody waits (bcri_holder_is_nobody).
 *   - No journal is repaired by two: whose is, and whether aside, is in one list (ctx->repairing).
 *   - A repair that is aside knows what others had when it came: so nothing of an ended CCE is given back, no record given out again,
 *     until nobody is aside (look_due). So only what is before it in the queue is overtaken, and no work on the same record.
 *   - Where no thread can be had, and at the program's end, when deaths are not queued, it is done in the midst of the one that
 *     waits: births, and the journal of whom it waits for. Whoever queues reads whom a repair waits on, and wakes it. */
#ifndef ENL_WORKER_H
#define ENL_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "helper.h"
#include "program.h"

/* BIRTH makes cell 0 of a new record, with the birth region in it if there is one. */
enum enl_work_kind {
    ENL_WORK_BIRTH,
    ENL_WORK_ERROR,
    ENL_WORK_REPAIR,
    ENL_WORK_AUDIT,
    ENL_WORK_HELD_UP, /* not to be done: a repair has waited for a while for what CCE `index` holds */
    ENL_WORK_LOOK,    /* something of an ended CCE is free (bcri/estate.h) */
};

struct enl_work {
    struct enl_task task;
    enum enl_work_kind kind;
    uint32_t index; /* of the CCE whose cell 0, or end, it is */
    bool has_data;  /* BIRTH */
    uint32_t archtype, length;
    uint8_t data[64];
    int code; /* ERROR: what went wrong; afterwards, of all: what the operation returned */
    int operation;
    int32_t ordinal;
    uint32_t waiter; /* HELD_UP: whom the repair is about */
    /* Afterwards: records that can be given out again, once the loop has heard of all work up to this. Taken by who frees
     * the work. */
    uint32_t *free_records;
    size_t free_count;
    struct enl_audit *audit; /* AUDIT: taken on success of enl_worker_add */
};

/* `when_done` is called on the loop for each piece of work when it is finished. NULL: no thread, no memory. */
struct enl_worker *enl_worker_start(struct enl_program *program,
                                    void (*when_done)(struct enl_program *program,
                                                      const struct enl_work *work));
/* Queues a copy. False: no memory. */
bool enl_worker_add(struct enl_worker *worker, const struct enl_work *work);
/* Queues a look at what ended CCEs have left, if none is queued. */
bool enl_worker_look(struct enl_worker *worker);
/* From now on deaths are not queued: who waits for one of the dead repairs its journal himself. */
void enl_worker_end(struct enl_worker *worker);
/* Called when no CCE lives: drops what is queued and waits for what is being done. True if the thread has ended; false
 * if it does not come to an end (damaged memory): then nothing that it uses may be freed. */
bool enl_worker_stop(struct enl_worker *worker);

#endif
