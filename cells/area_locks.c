/* SPDX-License-Identifier: MIT */
/* See area_locks.h. */
#include "bcri/area_locks.h"

#include "bcri/clock.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"

bool bcri_area_lock_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint64_t deadline_ns)
{
    bcri_store(&ctx->journal->area, resolved->area_ref);
    bcri_step();
    return bcri_lock_until(ctx, &resolved->area->lock, deadline_ns);
}

void bcri_area_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    (void)bcri_area_lock_until(ctx, resolved, BCRI_DEADLINE_NEVER);
}

void bcri_area_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_unlock_stale(ctx, &resolved->area->lock); /* the area may be gone by now */
}

void bcri_leaf_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (bcri_unlikely(ctx->daemon.parks))
        return; /* bcri_cell_deeper took it */
    bcri_store(&ctx->journal->area, resolved->area_ref);
    bcri_step();
    bcri_lock(ctx, &resolved->area->leaf);
}

void bcri_leaf_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (bcri_likely(!ctx->daemon.parks))
        bcri_unlock_stale(ctx, &resolved->area->leaf); /* the area may be gone by now */
}

bool bcri_cell_deeper(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return bcri_lock_until(ctx, &resolved->area->leaf, BCRI_DEADLINE_NEVER);
}

void bcri_cell_less_deep(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_unlock_stale(ctx, &resolved->area->leaf);
}
