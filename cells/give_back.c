/* SPDX-License-Identifier: MIT */
/* A region that a get has taken goes back to the head of its cell. Under both locks of the cell;
 * the journal says PUT if the slot ends with it, else SLOW. */
#include "bcri/give_back.h"

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/drop.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "bcri/own.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

/* Under both locks of its cell: the slot's region becomes the head. */
static int back_to_head(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot)
{
    struct bcri_head_shm *const h = &resolved->cell->h;
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const int error = bcri_queue_prepend(ctx, resolved, region, bcri_slot_ref(ctx, slot), true);
    if (bcri_load(&h->taker) == ctx->tag &&
        (!ctx->daemon.parks || (uint32_t)bcri_load(&h->taker_epoch) == (uint32_t)bcri_load(&slot->prev)))
        bcri_store(&h->taker, 0);
    return error;
}

/* Not if the cell is gone, and another one is there. */
static bool is_of(const struct bcri_slot_shm *slot, const struct bcri_resolved *resolved)
{
    return resolved->open >> 32 == bcri_load(&slot->prev) >> 32;
}

/* Model: cell.inc */
int bcri_request_put_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    struct bcri_resolved resolved;
    bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    int error = bcri_resolved_at(ctx, bcri_load(&slot->cell), &resolved);
    if (error == 0 && !is_of(slot, &resolved))
        error = bcrE_NOCELL;
    bcri_journal_open(ctx, BCRI_OP_PUT, bcri_load(&slot->cell), region, bcri_slot_ref(ctx, slot));
    if (error == 0 && (error = bcri_error_or(bcri_cell_enter(ctx, &resolved), bcrE_NOCELL)) == 0) {
        error = back_to_head(ctx, &resolved, slot);
        bcri_cell_leave(ctx, &resolved);
    }
    bcri_journal_close(ctx);
    if (error == 0)
        bcri_slot_give(ctx, slot);
    return error;
}

int bcri_requests_put_back(struct bcri_ctx *ctx, struct bcri_slot_shm *youngest)
{
    struct bcri_resolved resolved;
    const bcri_ref cell = bcri_load(&youngest->cell);
    int error = bcri_resolved_at(ctx, cell, &resolved);
    bcri_journal_open(ctx, BCRI_OP_SLOW, cell, BCRI_REF_NONE, BCRI_REF_NONE);
    if (error == 0 && (error = bcri_error_or(bcri_cell_enter(ctx, &resolved), bcrE_NOCELL)) == 0) {
        for (struct bcri_slot_shm *slot = youngest; slot != NULL; slot = bcri_request_older(ctx, slot))
            if (is_of(slot, &resolved))
                (void)back_to_head(ctx, &resolved, slot);
        bcri_cell_leave(ctx, &resolved);
    }
    bcri_journal_close(ctx);
    return error;
}

void bcri_request_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    if (bcri_request_is_elsewhere(slot))
        bcri_order_return(ctx, slot);
    else if (bcri_request_put_back(ctx, slot) != 0)
        bcri_slot_drop(ctx, slot); /* no cell, or no memory for a node: no CCE can get it */
}

int bcri_request_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const int error = bcri_region_own(ctx, slot);
    if (error != 0)
        bcri_request_give_back(ctx, slot);
    return error;
}
