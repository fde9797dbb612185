/* SPDX-License-Identifier: MIT */
/* The audit: do all the shared structures of a group tell the same story?
 *
 * It is run by enl's context while no CCE is inside an operation: all are stopped, outside the
 * library, or asleep in a wait, and every death has been repaired. Then it must hold, and each
 * exception is one finding:
 *
 *   regions   the count of every header in every heap is what IDs, handed-over requests, waiting puts and cells hold;
 *             nothing is held that no heap knows; no count word is locked
 *   locks     none is held
 *   journals  none is open, of the living as of the dead
 *   cells     head, tail, entries, waiters, chains, lists and counters agree; flags are there for a reason; never are
 *             there a queued region and a waiting request in one cell; limit is no more than cell.h allows
 *   areas     credits of the cells and the pool make up nrgns; the waiting puts are as many as counted; each node that
 *             was ever used is in one chain or free
 *   a mark has its flag, and a flag its mark
 *   IDs       each waiting one is where it says that it waits, once; a CCE that has ended has none
 *
 * It only reads. What it cannot see is private to a process: whether a block with count 0 is on its
 * owner's free lists, and which of its IDs a program has forgotten. */
#ifndef BCRI_AUDIT_H
#define BCRI_AUDIT_H

#include <stdint.h>

#include "bcri/ctx.h"

struct bcri_audit {
    /* Called for each finding with one sentence; NULL: only count. */
    void (*found)(void *arg, const char *sentence);
    void *arg;

    /* What was seen. */
    uint64_t findings;
    uint64_t regions; /* blocks with a count above 0 */
    uint64_t queued;  /* regions in cells */
    uint64_t beyond;  /* of those: given back beyond their cell's credits (semantics: "even beyond nrgns") */
    uint64_t waiting_gets; /* not served yet */
    uint64_t waiting_puts;
    uint64_t inside;     /* CCEs with an open journal */
    uint64_t lost_nodes; /* by deaths while a queue was dropped: room for one region each, until cafree */
};

/* Fills in what was seen. Returns 0, also when there are findings; bcrE_NOMEM: not finished. */
int bcri_audit(struct bcri_ctx *enl, struct bcri_audit *audit);

#endif
