/* SPDX-License-Identifier: MIT */
/* Setting and removing watermarks: watermark.h.
 *
 * Journal: SLOW, with the cell. */
#include "bcri/watermark.h"

#include "bcr/error.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"
#include "bcri/result.h"
#include "bcri/tx.h"

static void tx_watermark(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int32_t watermark,
                         uint32_t flag)
{
    uint32_t flags = (uint32_t)bcri_load(&resolved->cell->h.state) & ~(BCRI_CELL_HIGH | BCRI_CELL_LOW);
    bcri_tx_begin(ctx);
    BCRI_TX32(ctx, resolved->ref, struct bcri_cell_shm, t.watermark, (uint32_t)watermark);
    bcri_tx_flags(ctx, resolved, flags | flag);
    bcri_tx_commit(ctx);
}

static int change_watermark(struct bcri_ctx *ctx, int cell, int32_t watermark, uint32_t flag)
{
    struct bcri_resolved *resolved;
    const int error = bcri_resolved_find(ctx, BCRI_SELF, cell, &resolved);
    if (error != 0)
        return error;
    bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = bcri_cell_enter(ctx, resolved);
    if (bcri_is_done(entered)) {
        tx_watermark(ctx, resolved, watermark, flag);
        bcri_cell_leave(ctx, resolved);
    }
    bcri_journal_close(ctx);
    return bcri_error_or(entered, bcrE_INTERNAL); /* stale: only the daemon closes it: condemned */
}

int bcri_watermark_set(struct bcri_ctx *ctx, int cell, int32_t watermark)
{
    return change_watermark(ctx, cell, watermark, watermark > 0 ? BCRI_CELL_HIGH : BCRI_CELL_LOW);
}

int bcri_watermark_clear(struct bcri_ctx *ctx, int cell)
{
    return change_watermark(ctx, cell, 0, 0);
}

const _Atomic uint64_t *bcri_watermark_counter(struct bcri_ctx *ctx, int cell)
{
    struct bcri_resolved *resolved;
    return bcri_resolved_find(ctx, BCRI_SELF, cell, &resolved) == 0 ? &resolved->cell->t.requests : NULL;
}
