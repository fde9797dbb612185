/* SPDX-License-Identifier: MIT */
/* A cell under both its locks. Used by the slow operations, by requests, by waiting puts, and by
 * repair.
 *
 * Invariant when both locks are free: never are there both a queued region and a waiting request in
 * the list. Whoever leaves a cell restores it (bcri_cell_service), and enl does when the one inside
 * has died. One exception: enl, which waits for nobody, may leave a cell where a read is to be
 * served whose region's count word somebody else has. Then the cell is SLOW, and whoever enters it
 * next goes on with that first; enl comes back (bcri_look_again).
 *
 * For enl all these locks come at once, or bcrE_TIMEOUT: it is parked (lock.h), and nothing has
 * happened. */
#ifndef BCRI_QUEUE_H
#define BCRI_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/resolved.h"

#include "bcri/slot.h"

/* Takes both locks and moves waiting tickets to the list. The caller has named the cell in its
 * journal (cell or cell2). 0, or BCRI_STALE: the cell is closed or another's by now (nothing is
 * held). */
int bcri_cell_enter(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* The same until the deadline: bcrE_TIMEOUT, nothing is held and nothing has changed, if the head
 * lock is then held by somebody who is stopped. The tail lock is waited for. */
int bcri_cell_enter_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint64_t deadline_ns);
/* Serves requests while there are regions, moves regions into the ring, drops flags that have no
 * reason any more, and releases. */
void bcri_cell_leave(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* The same without releasing. False, for enl only: it is parked. */
bool bcri_cell_service(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_tickets_to_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Serves the reads at the front of the list with `region`, which stays where it is. */
void bcri_serve_reads(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region);

enum bcri_source { BCRI_FROM_NOWHERE, BCRI_FROM_FIRST, BCRI_FROM_FRONT, BCRI_FROM_RING, BCRI_FROM_BACK };
bcri_ref bcri_queue_first(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                          enum bcri_source *from_out);
uint64_t bcri_queue_length(const struct bcri_resolved *resolved);

/* Between bcri_tx_begin and commit. `from` FRONT or BACK needs the leaf lock (bcri_leaf_lock). */
void bcri_tx_unqueue(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_source from);
void bcri_tx_flags(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags);
void bcri_tx_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot);
void bcri_tx_phase(struct bcri_ctx *ctx, uint32_t phase);

/* enl, which has both locks of an open cell: those that may be needed under them; else it is
 * parked. bcri_leaf_lock and its like do nothing for it. */
bool bcri_cell_deeper(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_cell_less_deep(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_leaf_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_leaf_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Credits: how many queued regions a cell may hold of its area's bound. A cell's share, and taking
 * one out of the pool of credits that no cell has, in advance: under the tail lock at least, since
 * credits only grow without the head lock. None while puts wait, for whom they were gathered, and
 * who would not learn that they are not used after all. False: none to be had. */
uint32_t bcri_credits_share(const struct bcri_resolved *resolved);
bool bcri_credits_from_pool(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Adds `region` at the end of the queue in one transaction that also sets the journal phase to 2,
 * or, for the waiting put at slot `waiting`, ends that. 0; BCRI_NO_ROOM; bcrE_NOMEM. */
int bcri_queue_append(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                      bcri_ref waiting);
void bcri_tx_finish(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting);
/* Puts `region` before everything else. `slot`, an ID of its own or none, becomes free in the same
 * transaction. `anew`: it had been handed to somebody who waited and counted as not queued, so this
 * is an addition that may request (watermark.h). */
int bcri_queue_prepend(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bcri_ref slot,
                       bool anew);

/* Rings the CCE of record `owner`, whom the journal's ring names, and takes it out of the
 * journal. */
void bcri_ring_noted(struct bcri_ctx *ctx, uint32_t owner, bcri_ref cell);

/* Ends every waiting request of a closed cell with `code`. */
void bcri_cell_fail_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code);
#endif
