/* SPDX-License-Identifier: MIT */
/* Adding a region to a cell under both its locks, at the end or before everything else: to a
 * waiting get if there is one, else into the queue (queue.h). An addition may request the owner's
 * handler (watermark.h). */
#ifndef BCRI_ADDITION_H
#define BCRI_ADDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/result.h"

/* Adds `region` at the end. The same transaction sets the journal phase to 2, or ends the waiting
 * put at slot `waiting`. BCRI_DONE; BCRI_NO_ROOM; bcrE_NOMEM. */
struct bcri_result bcri_queue_append(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                                     bcri_ref waiting);
/* The same for a region that needs no room, as one that is given back (bcri_queue_prepend): it may lie there beyond the
 * area's bound. BCRI_DONE or bcrE_NOMEM. */
struct bcri_result bcri_queue_append_beyond(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                            bcri_ref region);
/* Puts `region` before everything else. The same transaction frees `slot`, an ID that names only
 * this region, or none. `anew`: the region had been handed to a waiting get and counted as not
 * queued, so this is an addition that may request the handler (watermark.h). */
int bcri_queue_prepend(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bcri_ref slot,
                       bool anew);

/* For a put whose journal is open and whose putter keeps the region: hold counts the cell's own
 * hold, unhold takes it back. At every point put_held tells repair which of the two is done. hold
 * returns 0 or bcrE_NOMEM. */
int bcri_cell_hold(struct bcri_ctx *ctx, bcri_ref region);
void bcri_cell_unhold(struct bcri_ctx *ctx, bcri_ref region);

#endif
