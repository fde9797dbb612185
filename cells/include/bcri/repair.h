/* SPDX-License-Identifier: MIT */
/* After a death: what enl does so that the others go on. docs/crash.md tells it as a story.
 *
 * enl waits for nobody (lock.h, Parking): what it cannot do now it does when it is rung, or when it
 * has done something else, since that may have been what was missing. All is on enl's context, one
 * thread at a time. */
#ifndef BCRI_REPAIR_H
#define BCRI_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/host.h"

/* The process of CCE `index` is dead (state DYING, bcri_cce_dying): finishes or reverts what it was
 * doing, frees its locks, gives back what it was handed but had not taken, withdraws its requests,
 * drops its holds, closes its cells, and sets state DEAD. False: it is parked (enl->daemon.parked
 * says on whom), and is to be called again; what could be done was. */
bool bcri_cce_repair(struct bcri_ctx *enl, uint32_t index);

/* The journal alone: locks and the open operation. */
bool bcri_journal_repair(struct bcri_ctx *enl, uint32_t index);

/* Called by whichever thread of enl learns of the death, before the repair is queued: wakes
 * everybody who sleeps on a lock of the dead one. */
void bcri_cce_dying(struct bcri_host *host, uint32_t index);

/* Wakes everybody who sleeps until CCE `record` lets go of something. */
void bcri_cce_wake_sleepers(struct bcri_record_shm *record);

/* enl is to come back to a cell: it has left something undone there that anybody may do, and
 * whoever comes there does: requests that are to be served, puts that wait for room in its area.
 * The list of these cells names nothing that is nowhere else. */
void bcri_look_again(struct bcri_ctx *enl, bcri_ref cell);
/* Looks at all of them, and drops the holds that could not be dropped before (region.h). False:
 * some are left. After each piece of work, and when enl is rung. */
bool bcri_looks_done(struct bcri_ctx *enl);

#endif
