/* SPDX-License-Identifier: MIT */
/* bcr_celllen. bcr.h is its manual. */
#include <bcr.h>

#include <limits.h>
#include <stdbool.h>

#include "bcri/access.h"
#include "bcri/cell.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"

int bcr_celllen(bcr_cce_id cce, int cell)
{
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    struct bcri_resolved *resolved;
    int error = bcri_resolved_find(ctx, cce, cell, &resolved);
    if (error != 0)
        return bcri_fail(bcri_unreachable(error));
    if (!resolved->own && resolved->kind == BCRI_CELL_PRIVATE)
        return bcri_fail(bcri_access_denied(resolved));
    /* Both locks make it one instant; the count itself is a handful of loads. */
    uint64_t length = 0;
    for (;;) {
        bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
        bcri_lock(ctx, &resolved->cell->h.lock);
        bcri_lock(ctx, &resolved->cell->t.lock);
        uint64_t state = bcri_load(&resolved->cell->h.state);
        bool open = state >> 32 == resolved->open >> 32 && (state & BCRI_CELL_CLOSED) == 0;
        length = bcri_queue_length(resolved);
        bcri_unlock_stale(ctx, &resolved->cell->t.lock);
        bcri_unlock_stale(ctx, &resolved->cell->h.lock);
        bcri_journal_close(ctx);
        if (open)
            break;
        bcri_resolved_forget(ctx, resolved);
        error = bcri_resolved_find(ctx, cce, cell, &resolved);
        if (error != 0)
            return bcri_fail(error);
    }
    return length < INT_MAX ? (int)length : INT_MAX;
}
