/* SPDX-License-Identifier: MIT */
/* Emptying a cell in one step, and dropping what was in it one region at a time. */
#ifndef BCRI_DETACHED_H
#define BCRI_DETACHED_H

#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/resolved.h"

/* Drops, one by one, what the journal's detached fields of CCE `index` name; the cell's locks are
 * held by it. */
void bcri_detached_drop(struct bcri_ctx *ctx, uint32_t index, struct bcri_resolved *resolved);

/* enl: the drop that CCE `index` had under way is done (its count journal says so); moves its
 * cursor on. */
void bcri_detached_step_over(struct bcri_ctx *ctx, uint32_t index);

/* Detaches the whole queue, puts `replacement` (or none) in its place, ends as bcri_queue_append
 * does, and drops what was detached. */
void bcri_cell_empty(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref replacement,
                     bcri_ref waiting);

#endif
