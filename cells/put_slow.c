/* SPDX-License-Identifier: MIT */
/* A put under both locks of its cell. The transaction that does the put sets phase 2, so the put is
 * done if and only if the phase is 2 after the daemon has repaired the redo log. */
#include "bcri/put.h"

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/detached.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/slot.h"

static int put_under_locks(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write, bcri_ref region)
{
    if (!write || bcri_queue_length(resolved) == 0)
        return bcri_queue_append(ctx, resolved, region, BCRI_REF_NONE);
    bcri_cell_empty(ctx, resolved, region, BCRI_REF_NONE);
    return 0;
}

int bcri_put_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write, bcri_ref region,
                  struct bcri_slot_shm *slot, bool nofree, uint64_t deadline_ns)
{
    bcri_journal_open(ctx, BCRI_OP_PUT, resolved->ref, region,
                      nofree ? BCRI_REF_NONE : bcri_slot_ref(ctx, slot));
    int error = bcri_cell_enter_until(ctx, resolved, deadline_ns);
    if (error == 0) {
        if (nofree)
            error = bcri_cell_hold(ctx, region);
        if (error == 0 && (error = put_under_locks(ctx, resolved, write, region)) != 0 && nofree)
            bcri_cell_unhold(ctx, region);
        bcri_cell_leave(ctx, resolved);
        if (error == 0 && write && bcri_load_acquire(&resolved->area->waitputs) != 0)
            bcri_putwait_made_room(ctx, resolved);
    }
    if (error == 0 && !nofree) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
    }
    bcri_journal_close(ctx);
    return error == bcrE_TIMEOUT ? bcrE_FULL : error;
}
