/* SPDX-License-Identifier: MIT */
/* A cell under both its locks. Used by the operations that concern both its ends, by waiting gets
 * and puts, and by repair.
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
#ifndef BCRI_BOTH_LOCKS_H
#define BCRI_BOTH_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/result.h"

/* Takes both locks and moves waiting tickets to the list. The caller has named the cell in its
 * journal (cell or cell2). BCRI_DONE; BCRI_STALE: the cell is closed by now, or its memory is
 * another cell's; bcrE_NOMEM: this CCE cannot map the ID of a waiter. No lock is held then. */
struct bcri_result bcri_cell_enter(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* The same with a deadline. bcrE_TIMEOUT: time is up and the holder of the head lock is stopped; no
 * lock is held and nothing has changed. The wait for the tail lock has no deadline. */
struct bcri_result bcri_cell_enter_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                         uint64_t deadline_ns);
/* Serves requests while there are regions, moves regions into the ring, clears flags that have no
 * reason any more, and releases both locks. */
void bcri_cell_leave(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* The same without releasing. False: requests could not be served, since the daemon is parked, or
 * this CCE cannot map them. */
bool bcri_cell_service(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

#endif
