/* SPDX-License-Identifier: MIT */
/* Serving the gets that wait in a cell's list, and ending them. Every change is one transaction
 * (tx.h). A get that waits by ticket needs none of this: the put stores its region in the entry that
 * the getter looks at (put_attempt.c). */
#include "bcri/get_service.h"

#include "bcri/area_locks.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/lock.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm

/* Ends the request at `slot_ref` in the running transaction. */
static void tx_answer(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot_ref,
                      enum bcri_slot_state state, uint64_t given)
{
    uint32_t sub = bcri_load(&resolved->cell->c.sub) + 1;
    BCRI_TX32(ctx, resolved->ref, CELL, c.sub, sub);
    bcri_tx_add(ctx, BCRI_REDO_IF, slot_ref, offsetof(SLOT, word),
                bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref));
    BCRI_TX64(ctx, slot_ref, SLOT, given, given);
    BCRI_TX64(ctx, slot_ref, SLOT, prev,
              resolved->open | bcri_epoch(resolved->cell)); /* which cell, and when */
    BCRI_TX64(ctx, slot_ref, SLOT, key, bcri_load(&resolved->cell->t.tail));
    BCRI_TX32(ctx, slot_ref, SLOT, sub, sub);
    bcri_tx_add(ctx, BCRI_REDO_ANSWER, slot_ref, offsetof(SLOT, word),
                bcri_slot_word(state, 0, state == BCRI_SLOT_SERVED ? resolved->ref : BCRI_REF_NONE));
}

/* Model: bell.pml */
void bcri_ring_noted(struct bcri_ctx *ctx, uint32_t owner, bcri_ref cell)
{
    bcri_bell_ring_index(ctx, owner, cell);
    bcri_store(&ctx->journal->ring, 0);
}

/* Whether the first request of the list waits at this cell and has none before it. A request that
 * was answered waits no longer, so this also finds a list in a circle. If the request does not
 * belong there, the cell is corrupt and the daemon condemns it. */
static bool is_first(struct bcri_ctx *ctx, struct bcri_resolved *resolved, const struct bcri_slot_shm *slot)
{
    if (bcri_likely(bcri_load(&slot->word) == bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref) &&
                    bcri_load(&slot->prev) == 0))
        return true;
    bcri_corrupt(ctx, "a cell's list of requests", resolved->ref);
    bcri_cell_condemn(ctx, resolved);
    return false;
}

/* Answers the first request with `region`: a read gets a hold of its own, a take gets the hold of
 * the queue, from which the region is removed at `from`. False: the daemon is parked, or this CCE
 * cannot map what it would change, and nothing has happened.
 * Model: bell.pml */
static bool serve_first(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                        enum bcri_source from)
{
    bcri_ref slot_ref = bcri_load(&resolved->cell->c.list_first);
    SLOT *slot = bcri_map_or_dummy(ctx, slot_ref);
    uint32_t owner = bcri_request_owner(slot);
    bool read = bcri_request_want(slot) == BCRI_WANT_READ;
    bool leaf = !read && (from == BCRI_FROM_FRONT || from == BCRI_FROM_BACK);

    if (bcri_unlikely(!bcri_request_mapped(ctx, slot_ref)))
        return false;
    if (!is_first(ctx, resolved, slot))
        return true;
    if (leaf)
        bcri_leaf_lock(ctx, resolved);
    bcri_store(&ctx->journal->ring, owner + 1);
    uint32_t count = 0;
    if (read && bcri_unlikely(!bcri_count_try(ctx, region, &count))) {
        bcri_store(&ctx->journal->ring, 0);
        return false;
    }
    bcri_tx_begin(ctx);
    if (read)
        bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count + 1);
    else
        bcri_tx_unqueue(ctx, resolved, from);
    bcri_tx_unlist(ctx, resolved, slot);
    if (bcri_request_want(slot) == BCRI_WANT_LOCK) {
        BCRI_TX32(ctx, resolved->ref, CELL, h.taker, BCRI_TAG(owner));
        BCRI_TX64(ctx, resolved->ref, CELL, h.taker_epoch, bcri_epoch(resolved->cell));
    }
    tx_answer(ctx, resolved, slot_ref, BCRI_SLOT_SERVED, region);
    bcri_tx_commit(ctx);
    if (read)
        bcri_count_committed(ctx);
    if (leaf)
        bcri_leaf_unlock(ctx, resolved);
    bcri_ring_noted(ctx, owner, resolved->ref);
    return true;
}

void bcri_serve_reads(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region)
{
    bcri_ref first;
    while ((first = bcri_load(&resolved->cell->c.list_first)) != 0 &&
           bcri_request_want(bcri_map_or_dummy(ctx, first)) == BCRI_WANT_READ)
        if (!serve_first(ctx, resolved, region, BCRI_FROM_NOWHERE))
            return;
}

bool bcri_serve_waiting(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    enum bcri_source from;
    bcri_ref region;
    while (bcri_load(&resolved->cell->c.list_first) != 0 &&
           (region = bcri_queue_first(ctx, resolved, &from)) != 0)
        if (!serve_first(ctx, resolved, region, from))
            return false;
    return true;
}

void bcri_cell_fail_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code)
{
    (void)bcri_tickets_to_list(ctx, resolved); /* the CCE that closed the cell has done it */
    bcri_ref ref;
    while ((ref = bcri_load(&resolved->cell->c.list_first)) != 0) {
        SLOT *slot = bcri_map_or_dummy(ctx, ref);
        uint32_t owner = bcri_request_owner(slot);
        if (!is_first(ctx, resolved, slot))
            return;
        bcri_store(&ctx->journal->ring, owner + 1);
        bcri_tx_begin(ctx);
        bcri_tx_unlist(ctx, resolved, slot);
        tx_answer(ctx, resolved, ref, BCRI_SLOT_FAILED, (uint64_t)code);
        bcri_tx_commit(ctx);
        bcri_ring_noted(ctx, owner, resolved->ref);
    }
}
