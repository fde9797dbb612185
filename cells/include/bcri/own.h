/* SPDX-License-Identifier: MIT */
/* Making a region this CCE's alone, by a private copy if others hold it, too: for rgmod and for
 * write locks. */
#ifndef BCRI_OWN_H
#define BCRI_OWN_H

#include <stdbool.h>

#include "bcri/ctx.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

/* bcr_rgmod below the public routine: 0 or bcrE_NOMEM. */
int bcri_region_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* Whether a private copy fits. Only this CCE allocates from its heap, so a copy that fits now also
 * fits when bcri_region_own makes it. */
bool bcri_copy_fits(struct bcri_ctx *ctx, const struct bcri_region_shm *header);
/* Whether this process can map the region and, for a write lock, has memory for a private copy.
 * Under the head lock. */
bool bcri_take_allowed(struct bcri_ctx *ctx, enum bcri_want want, bcri_ref region);

#endif
