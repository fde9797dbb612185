/* SPDX-License-Identifier: MIT */
/* What a get has taken goes back to the head of its cell. */
#ifndef BCRI_GIVE_BACK_H
#define BCRI_GIVE_BACK_H

#include "bcri/ctx.h"
#include "bcri/slot.h"

/* Hands the region of a LIVE slot, just taken from its cell, back to the head of that cell before
 * any other request is served there; the slot is free again. */
void bcri_request_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same without a region that cannot go back being dropped: 0, or why, and the slot is LIVE as
 * before; bcrE_TIMEOUT: the context parks. The agent has taken regions for many CCEs: its tag at the
 * cell is that of this take only if the epoch in `prev` is. */
int bcri_request_put_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The agent's, of several slots of one cell at once: no request is served there before all are back.
 * Each names the next older one (`next`). 0, or why none went back. The slot of each that did is FREE,
 * and the caller's still. */
int bcri_requests_put_back(struct bcri_ctx *ctx, struct bcri_slot_shm *youngest);
static inline struct bcri_slot_shm *bcri_request_older(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    const bcri_ref older = bcri_load(&slot->next);
    return older != BCRI_REF_NONE ? bcri_at_held(ctx, older) : NULL;
}

/* Finishes a write lock on a region that was taken: makes a private copy if others hold the region,
 * too. bcrE_NBYTES: no room for it; the region went back to the head of its cell, the slot is
 * free. */
int bcri_request_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

#endif
