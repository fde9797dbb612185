/* SPDX-License-Identifier: MIT */
/* A cell under both its locks. Used by the slow operations, by requests, by waiting puts, and by
 * repair.
 *
 * Invariant while both locks are free: the cell never has both a queued region and a waiting
 * request in its list. A CCE that leaves a cell restores this (bcri_cell_service); if it died
 * inside, the daemon does. One exception: the daemon, which waits for nobody, may leave a cell in
 * which a read is still to be served, if another CCE has locked the region's count word. Then the
 * cell is SLOW, the CCE that enters it next serves first, and the daemon comes back
 * (bcri_look_again). So it is after a CCE that could not map a waiter's ID when it gave a region
 * back to its cell; a put fails before.
 *
 * For the daemon each of these locks is free at once, or the routine returns bcrE_TIMEOUT: then the
 * daemon is parked (lock.h), and nothing has happened. */
#ifndef BCRI_QUEUE_H
#define BCRI_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

#include "bcri/slot.h"

/* Takes both locks and moves waiting tickets to the list. The caller has named the cell in its
 * journal (cell or cell2). Returns 0; or BCRI_STALE: the cell is closed by now, or its memory is
 * another cell's; or bcrE_NOMEM: this CCE cannot map the ID of a waiter. No lock is held then. */
int bcri_cell_enter(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* The same with a deadline. bcrE_TIMEOUT: time is up and the holder of the head lock is stopped; no
 * lock is held and nothing has changed. The wait for the tail lock has no deadline. */
int bcri_cell_enter_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint64_t deadline_ns);
/* Serves requests while there are regions, moves regions into the ring, clears flags that have no
 * reason any more, and releases both locks. */
void bcri_cell_leave(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* The same without releasing. False: requests could not be served, since the daemon is parked, or
 * this CCE cannot map them. */
bool bcri_cell_service(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* False: this CCE cannot map the ID of a waiter, and nothing has changed. */
bool bcri_tickets_to_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* Whether this CCE can map the ID at `slot`, which waits in a list, and its neighbours there, so
 * that a transaction may take it out. */
bool bcri_request_mapped(struct bcri_ctx *ctx, bcri_ref slot);
/* Whether this CCE can serve and ring all that one more region is for, the reads at the front of
 * the list and the first take; or `all` in the list. */
bool bcri_waiters_mapped(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool all);

/* Serves the reads at the front of the list with `region`, which stays where it is. */
void bcri_serve_reads(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region);

enum bcri_source { BCRI_FROM_NOWHERE, BCRI_FROM_FIRST, BCRI_FROM_FRONT, BCRI_FROM_RING, BCRI_FROM_BACK };
bcri_ref bcri_queue_first(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                          enum bcri_source *from_out);
uint64_t bcri_queue_length(const struct bcri_resolved *resolved);

/* Between bcri_tx_begin and bcri_tx_commit. `from` FRONT or BACK needs the leaf lock
 * (bcri_leaf_lock). */
void bcri_tx_unqueue(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_source from);
void bcri_tx_flags(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags);
void bcri_tx_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot);
void bcri_tx_phase(struct bcri_ctx *ctx, uint32_t phase);

/* The daemon, which has both locks of an open cell, takes in advance the locks that it may need
 * under them; if it cannot, it is parked. For the daemon bcri_leaf_lock and bcri_leaf_unlock do
 * nothing. */
bool bcri_cell_deeper(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_cell_less_deep(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_leaf_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_leaf_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Credits: how many queued regions a cell may hold of its area's bound. bcri_credits_share is a
 * cell's share of them. bcri_credits_from_pool takes that share in advance out of the pool of
 * credits that no cell has. It needs the tail lock at least: without the head lock credits may only
 * grow. It takes none while puts wait for room: the credits were gathered for them, and they would
 * not learn that this cell does not use them. False: there are none to take. */
uint32_t bcri_credits_share(const struct bcri_resolved *resolved);
bool bcri_credits_from_pool(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Adds `region` at the end of the queue. The same transaction sets the journal phase to 2, or ends
 * the waiting put at slot `waiting`. Returns 0; BCRI_NO_ROOM; bcrE_NOMEM. */
int bcri_queue_append(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                      bcri_ref waiting);
void bcri_tx_finish(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting);
/* Puts `region` before everything else. The same transaction frees `slot`, an ID that names only
 * this region, or none. `anew`: the region had been handed to a waiting get and counted as not
 * queued, so this is an addition that may request the handler (watermark.h). */
int bcri_queue_prepend(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bcri_ref slot,
                       bool anew);

/* Rings the CCE of record `owner`, which the journal's `ring` names, and clears `ring`. */
void bcri_ring_noted(struct bcri_ctx *ctx, uint32_t owner, bcri_ref cell);

/* Ends every waiting request of a closed cell with `code`. */
void bcri_cell_fail_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code);
#endif
