/* SPDX-License-Identifier: MIT */
/* bcr_zap. bcr.h is its manual. Journal: ZAP; the cell, and the cursors of what is being dropped
 * (detached.c). */
#include <bcr.h>

#include "bcri/access.h"
#include "bcri/zap.h"

#include "bcri/both_locks.h"
#include "bcri/detached.h"
#include "bcri/enter.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/order.h"
#include "bcri/put.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/trace.h"

BCRI_INLINE struct bcri_result zap(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_journal_open(ctx, BCRI_OP_ZAP, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = bcri_cell_enter(ctx, resolved);
    if (bcri_is_done(entered)) {
        if (bcri_queue_length(resolved) != 0)
            (void)bcri_cell_empty(ctx, resolved, BCRI_REF_NONE, BCRI_REF_NONE);
        bcri_cell_leave(ctx, resolved);
    }
    if (bcri_is_done(entered) && bcri_load_acquire(&resolved->area->waitputs) != 0)
        bcri_putwait_made_room(ctx, resolved);
    bcri_journal_close(ctx);
    return entered;
}

BCRI_INLINE int zap_found(struct bcri_ctx *ctx, uint64_t key, uint32_t *owner_out)
{
    for (;;) {
        struct bcri_resolved *resolved;
        const struct bcri_result found = bcri_resolved_find_key(ctx, key, &resolved);
        if (!bcri_is_done(found))
            return found.outcome == BCRI_ELSEWHERE ? bcri_order_zap(ctx, key) : found.error;
        *owner_out = resolved->owner;
        if (!resolved->may_take)
            return bcri_access_denied(resolved);
        const struct bcri_result zapped = zap(ctx, resolved);
        if (zapped.outcome != BCRI_STALE)
            return zapped.error;
        bcri_resolved_forget(ctx, resolved);
    }
}

int bcri_zap(struct bcri_ctx *ctx, uint64_t key, uint32_t *owner_out)
{
    return zap_found(ctx, key, owner_out);
}

int bcr_zap(bcr_cce_id cce, int cell)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    uint32_t owner = BCRI_ENL_INDEX; /* of a cell elsewhere */
    const int error = zap_found(ctx, bcri_resolved_key(cce, cell), &owner);
    if (error != 0)
        return bcri_put_failed(ctx, error);
    bcri_counted(ctx, BCRI_COUNT_ZAP);
    bcri_trace(ctx, BCRI_TRACE_ZAP, 0, owner, (uint32_t)cell, 0, BCRI_REF_NONE);
    return 0;
}
