/* SPDX-License-Identifier: MIT */
/* Credits of cells and of the area's pool: credits.h. */
#include "bcri/credits.h"

#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"
#include "bcri/tx.h"

#define CELL struct bcri_cell_shm
#define AREA struct bcri_area_shm

uint32_t bcri_credits_share(const struct bcri_resolved *resolved)
{
    uint32_t cells = bcri_area_cells(resolved->area);
    uint32_t share = cells != 0 ? resolved->area->nrgns / cells : 0;
    return share != 0 ? share : 1;
}

/* Moves a share of credits from the pool to the cell. `in_advance`: no put needs them yet. False:
 * there are none.
 * Model: putwait.pml */
static bool take_credits(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool in_advance)
{
    AREA *area = resolved->area;
    if (bcri_load(&area->pool) == 0)
        return false;
    bcri_leaf_lock(ctx, resolved);
    uint32_t pool = bcri_load(&area->pool);
    uint32_t share = bcri_credits_share(resolved);
    if (share > pool)
        share = pool;
    /* waitputs is read under the leaf lock: if a credit in the pool was gathered for a put that
     * waits, this read sees that put. */
    if (in_advance && bcri_load(&area->waitputs) != 0)
        share = 0;
    if (share != 0) {
        bcri_tx_begin(ctx);
        BCRI_TX32(ctx, resolved->area_ref, AREA, pool, pool - share);
        BCRI_TX64(ctx, resolved->ref, CELL, t.credits, bcri_load(&resolved->cell->t.credits) + share);
        bcri_tx_commit(ctx);
    }
    bcri_leaf_unlock(ctx, resolved);
    return share != 0;
}

bool bcri_credits_from_pool(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    /* Who parks has the leaf lock only where it has both locks of the cell; here it has the tail lock alone. */
    const bool parks = ctx->daemon.parks;
    if (bcri_unlikely(parks) && !bcri_cell_deeper(ctx, resolved))
        return false;
    const bool taken = take_credits(ctx, resolved, true);
    if (bcri_unlikely(parks))
        bcri_cell_less_deep(ctx, resolved);
    return taken;
}

bool bcri_credit_for_one(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    /* More than one share is needed if regions that were given back lie here without a credit. */
    while (bcri_queue_length(resolved) >= bcri_load(&resolved->cell->t.credits))
        if (!take_credits(ctx, resolved, false))
            return false;
    return true;
}

/* Model: putwait.pml */
bool bcri_credit_spare(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool half)
{
    CELL *cell = resolved->cell;
    /* A cell gets credits only from the pool, which is empty here. */
    if (bcri_load(&cell->t.credits) == 0)
        return false;
    bcri_journal_second(ctx, resolved->ref);
    if (!bcri_is_done(bcri_cell_enter(ctx, resolved)))
        return false;
    uint64_t credits = bcri_load(&cell->t.credits);
    uint64_t queued = bcri_queue_length(resolved);
    bool spare = credits > queued;
    if (spare) {
        bcri_leaf_lock(ctx, resolved);
        uint64_t count = half ? (credits - queued + 1) / 2 : 1;
        bcri_tx_begin(ctx);
        BCRI_TX64(ctx, resolved->ref, CELL, t.credits, credits - count);
        BCRI_TX64(ctx, resolved->ref, CELL, t.limit, bcri_load(&cell->t.tail));
        BCRI_TX32(ctx, resolved->area_ref, AREA, pool, bcri_load(&resolved->area->pool) + (uint32_t)count);
        bcri_tx_commit(ctx);
        bcri_leaf_unlock(ctx, resolved);
    }
    bcri_cell_leave(ctx, resolved);
    return spare;
}

/* Model: putwait.pml */
bool bcri_credits_gather(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool half)
{
    /* A CCE that is moving credits from the pool to a cell holds the leaf lock: once this CCE has
     * had the lock, it sees those credits. */
    if (!bcri_lock_until(ctx, &resolved->area->leaf, BCRI_DEADLINE_NEVER))
        return false;
    bcri_unlock_stale(ctx, &resolved->area->leaf);
    if (bcri_credit_spare(ctx, resolved, half))
        return true;
    AREA *area = resolved->area;
    const uint32_t cells = bcri_area_cells(area);
    uint32_t i = bcri_load(&area->gather_from);
    for (uint32_t looks = 0; looks < cells; looks++, i++) {
        if (i >= cells)
            i = 0;
        bcri_ref ref = bcri_area_cell(area, i);
        const CELL *cell = bcri_at_stale(ctx, ref); /* the area may be gone by now */
        struct bcri_resolved other;
        if (ref == resolved->ref || cell == NULL || bcri_load(&cell->t.credits) == 0 ||
            bcri_resolved_look(ctx, ref, &other) != 0 || !bcri_credit_spare(ctx, &other, half))
            continue;
        bcri_store(&area->gather_from, i);
        return true;
    }
    return false;
}
