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

static struct bcri_result put_under_locks(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write,
                                          bcri_ref region)
{
    if (!write || bcri_queue_length(resolved) == 0)
        return bcri_queue_append(ctx, resolved, region, BCRI_REF_NONE);
    bcri_cell_empty(ctx, resolved, region, BCRI_REF_NONE);
    return bcri_outcome(BCRI_DONE);
}

struct bcri_result bcri_put_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write,
                                 bcri_ref region, struct bcri_slot_shm *slot, bool nofree,
                                 uint64_t deadline_ns)
{
    bcri_journal_open(ctx, BCRI_OP_PUT, resolved->ref, region,
                      nofree ? BCRI_REF_NONE : bcri_slot_ref(ctx, slot));
    struct bcri_result result = bcri_cell_enter_until(ctx, resolved, deadline_ns);
    if (bcri_is_done(result)) {
        if (nofree)
            result = bcri_result(bcri_cell_hold(ctx, region));
        if (bcri_is_done(result)) {
            result = put_under_locks(ctx, resolved, write, region);
            if (!bcri_is_done(result) && nofree)
                bcri_cell_unhold(ctx, region);
        }
        bcri_cell_leave(ctx, resolved);
        if (bcri_is_done(result) && write && bcri_load_acquire(&resolved->area->waitputs) != 0)
            bcri_putwait_made_room(ctx, resolved);
    }
    if (bcri_is_done(result) && !nofree) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
    }
    bcri_journal_close(ctx);
    return result.error == bcrE_TIMEOUT ? bcri_result(bcrE_FULL) : result;
}
