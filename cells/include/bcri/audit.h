/* SPDX-License-Identifier: MIT */
/* The audit: do all the shared structures of a group tell the same story?
 *
 * The daemon's context runs it while no CCE is inside an operation: all CCEs are stopped, outside
 * the library, or asleep in a wait, and every death has been repaired. Then the following must
 * hold, and each exception is one finding:
 *
 *   regions   the count in every header of every heap is the number of holders: IDs, requests that
 *             were handed the region, waiting puts, cells; none of these holds a region that lies
 *             in no heap; no count word is locked
 *   locks     none is held
 *   journals  none is open, neither of a living CCE nor of a dead one
 *   cells     head, tail, entries, waiters, chains, lists and counters agree; each flag has a
 *             reason; no cell has both a queued region and a waiting request; limit is no more than
 *             cell.h allows
 *   areas     the credits of the cells and the pool make up nrgns; as many puts wait as are
 *             counted; each node that was ever used is in one chain or free
 *   watermark a cell has the flag HIGH if its watermark is above 0, else LOW; with neither it is 0
 *   IDs       each waiting one is in the cell or list where it says that it waits, once; a CCE that
 *             has ended has none
 *
 * It only reads. It cannot see what is private to a process: whether a block with count 0 is on its
 * owner's free lists, and which of its IDs a program has forgotten. */
#ifndef BCRI_AUDIT_H
#define BCRI_AUDIT_H

#include <stdint.h>

#include "bcri/ctx.h"

struct bcri_audit {
    /* Called for each finding with one sentence; NULL: only count. */
    void (*found)(void *arg, const char *sentence);
    void *arg;
    /* While `found` is called: names the finding. A later audit, by the same process, that finds the same of
     * the same thing has the same key, also if numbers in its sentence have changed. */
    uint64_t key;

    /* What was seen. */
    uint64_t findings;
    uint64_t regions;      /* blocks with a count above 0 */
    uint64_t queued;       /* regions in cells */
    uint64_t beyond;       /* of those: given back beyond their cell's credits */
    uint64_t waiting_gets; /* not served yet */
    uint64_t waiting_puts;
    uint64_t inside;     /* CCEs with an open journal at that moment */
    uint64_t lost_nodes; /* lost by deaths while a queue was dropped */
};

/* A number that changes whenever the CCE (or agent) of that record does something in the library. */
uint64_t bcri_audit_work(const struct bcri_record_shm *record);

/* Fills in what was seen. Returns 0, also when there are findings; bcrE_NOMEM: not finished. */
int bcri_audit(struct bcri_ctx *enl, struct bcri_audit *audit);

#endif
