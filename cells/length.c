/* SPDX-License-Identifier: MIT */
/* bcr_celllen. bcr.h is its manual. */
#include <bcr.h>

#include <limits.h>
#include <stdbool.h>

#include "bcri/length.h"

#include "bcr/error.h"
#include "bcri/access.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/order.h"
#include "bcri/queue.h"
#include "bcri/result.h"

/* Both locks make it one instant; the count itself is a handful of loads. BCRI_DONE; BCRI_STALE;
 * bcrE_TIMEOUT: the context parks. */
BCRI_INLINE struct bcri_result count(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                                     uint64_t *length_out)
{
    struct bcri_cell_shm *const cell = resolved->cell;
    if (!bcri_lock_until(ctx, &cell->h.lock, BCRI_DEADLINE_NEVER))
        return bcri_result(bcrE_TIMEOUT);
    struct bcri_result result = bcri_result(bcrE_TIMEOUT);
    if (bcri_lock_until(ctx, &cell->t.lock, BCRI_DEADLINE_NEVER)) {
        const uint64_t state = bcri_load(&cell->h.state);
        const bool open = state >> 32 == resolved->open >> 32 && (state & BCRI_CELL_CLOSED) == 0;
        result = bcri_outcome(open ? BCRI_DONE : BCRI_STALE);
        *length_out = bcri_queue_length(resolved);
        bcri_unlock_stale(ctx, &cell->t.lock);
    }
    bcri_unlock_stale(ctx, &cell->h.lock);
    return result;
}

BCRI_INLINE int length_of(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out)
{
    for (;;) {
        struct bcri_resolved *resolved;
        const struct bcri_result found = bcri_resolved_find_key(ctx, key, &resolved);
        if (!bcri_is_done(found))
            return found.outcome == BCRI_ELSEWHERE ? bcri_order_length(ctx, key, length_out) : found.error;
        if (!resolved->own && resolved->kind == BCRI_CELL_PRIVATE)
            return bcri_access_denied(resolved);
        bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
        const struct bcri_result counted = count(ctx, resolved, length_out);
        bcri_journal_close(ctx);
        if (counted.outcome != BCRI_STALE)
            return counted.error;
        bcri_resolved_forget(ctx, resolved);
    }
}

int bcri_cell_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out)
{
    return length_of(ctx, key, length_out);
}

int bcr_celllen(bcr_cce_id cce, int cell)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    uint64_t length = 0;
    const int error = length_of(ctx, bcri_resolved_key(cce, cell), &length);
    if (error != 0)
        return bcri_fail(error);
    return length < INT_MAX ? (int)length : INT_MAX;
}
