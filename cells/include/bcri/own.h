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

/* bcr_rgmod below the public routine: 0 or bcrE_NBYTES. */
int bcri_region_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* Whether a private copy fits. Only this CCE allocates from its heap, so a copy that fits now also
 * fits when bcri_region_own makes it. */
bool bcri_copy_fits(struct bcri_ctx *ctx, const struct bcri_region_shm *header);
/* Whether a write lock of this region needs a private copy for which there is no room. What the agent
 * takes is copied by being sent. */
static inline bool bcri_lacks_copy(struct bcri_ctx *ctx, enum bcri_want want,
                                   const struct bcri_region_shm *header)
{
    return want == BCRI_WANT_LOCK && bcri_load_acquire(&header->count) != BCRI_COUNT_ONE &&
           !ctx->daemon.parks && !bcri_copy_fits(ctx, header);
}
/* 0; bcrE_NOMEM: this process cannot map the region; bcrE_NBYTES: a write lock's private copy has
 * no room. Under the head lock. */
int bcri_take_allowed(struct bcri_ctx *ctx, enum bcri_want want, bcri_ref region);

#endif
