/* SPDX-License-Identifier: MIT */
/* What the daemon does after a death so that the other CCEs can go on. docs/crash.md tells it as a
 * story.
 *
 * The daemon waits for no CCE (lock.h, Parking): what it cannot do now it does when it is rung, or
 * after it has done another piece of work, which may have been what was missing. All this runs in
 * the daemon's context, one thread at a time. */
#ifndef BCRI_REPAIR_H
#define BCRI_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/host.h"

/* The process of CCE `index` is dead (state DYING, bcri_cce_dying). Finishes or reverts its open
 * operation, frees its locks, gives back what it was handed but had not taken, cancels its
 * requests, drops its holds, closes its cells, and sets state DEAD. False: the daemon is parked
 * (enl->daemon.parked is the CCE that holds the lock); it has done what it could, and must call
 * this again. */
bool bcri_cce_repair(struct bcri_ctx *enl, uint32_t index);

/* Repairs only the journal: its locks and the open operation. */
bool bcri_journal_repair(struct bcri_ctx *enl, uint32_t index);

/* The thread of the daemon that learns of the death calls this before it queues the repair. Wakes
 * all CCEs that sleep on a lock of the dead one. */
void bcri_cce_dying(struct bcri_host *host, uint32_t index);

/* Wakes all CCEs that sleep until CCE `record` releases something. */
void bcri_cce_wake_sleepers(struct bcri_record_shm *record);

/* Looks at all cells to which the daemon must come back (look_again.h), and drops the holds that
 * could not be dropped before (region.h). False: some are left. To be called after each piece of
 * work, and when the daemon is rung. */
bool bcri_looks_done(struct bcri_ctx *enl);

#endif
