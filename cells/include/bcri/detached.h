/* SPDX-License-Identifier: MIT */
/* Empties a cell in one step, and drops what was in it one region at a time. */
#ifndef BCRI_DETACHED_H
#define BCRI_DETACHED_H

#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

/* Drops, one by one, the regions that the `detached` fields in the journal of CCE `index` name.
 * That CCE holds the cell's locks. */
void bcri_detached_drop(struct bcri_ctx *ctx, uint32_t index, struct bcri_resolved *resolved);

/* The daemon, when the count journal of CCE `index` says that the drop it was at is done: moves its
 * cursor on. */
void bcri_detached_step_over(struct bcri_ctx *ctx, uint32_t index);

/* Detaches the whole queue and puts `replacement` (or none) in its place, in one transaction that
 * also sets the journal phase to 2 or ends the waiting put at slot `waiting`. Then drops what was
 * detached. */
void bcri_cell_empty(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref replacement,
                     bcri_ref waiting);

#endif
