/* SPDX-License-Identifier: MIT */
/* Adding a region to a cell under both its locks: addition.h. */
#include "bcri/addition.h"

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/cell.h"
#include "bcri/credits.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/overflow.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/tx.h"
#include "bcri/wait_lists.h"
#include "bcri/wakeon.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm
#define NODE struct bcri_node_shm

int bcri_cell_hold(struct bcri_ctx *ctx, bcri_ref region)
{
    int error = bcri_region_hold(ctx, region, 1);
    if (error != 0)
        return error;
    bcri_step();
    bcri_store(&ctx->journal->put_held, BCRI_HELD);
    bcri_step();
    bcri_count_committed(ctx);
    return 0;
}

void bcri_cell_unhold(struct bcri_ctx *ctx, bcri_ref region)
{
    bcri_store(&ctx->journal->put_held, BCRI_HELD_DROPPING);
    bcri_step();
    bcri_region_drop(ctx, region);
    bcri_step();
    bcri_store(&ctx->journal->put_held, BCRI_HELD_DROPPED);
    bcri_step();
    bcri_count_committed(ctx);
}

/* A put also ends what a dead owner of the write lock left: `taker` and the flag OWNERDEAD. */
static void tx_put_done(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags,
                        bcri_ref waiting)
{
    bcri_tx_flags(ctx, resolved, flags & ~BCRI_CELL_OWNERDEAD);
    BCRI_TX32(ctx, resolved->ref, CELL, h.taker, 0);
    bcri_tx_finish(ctx, resolved, waiting);
}

/* Room belongs to the puts that wait for it, oldest first: a new put does not overtake them. */
static bool room_for(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting)
{
    return (waiting != BCRI_REF_NONE || bcri_load_acquire(&resolved->area->waitputs) == 0) &&
           bcri_credit_for_one(ctx, resolved);
}

/* The queue is empty and requests wait: the region goes to the front, and bcri_cell_service hands
 * it to the first request.
 * Model: cell.inc */
static void append_to_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                              bcri_ref waiting, bool due)
{
    CELL *cell = resolved->cell;
    bcri_tx_begin(ctx);
    BCRI_TX64(ctx, resolved->ref, CELL, c.first, region);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&cell->c.extra) + 1);
    BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&cell->c.direct) + 1);
    tx_put_done(ctx, resolved, bcri_cell_flags(resolved) | BCRI_CELL_SLOW, waiting);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
}

/* Model: cell.inc */
static void append_to_ring(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                           bcri_ref waiting, bool due)
{
    bcri_tx_begin(ctx);
    bcri_tx_ring_store(ctx, resolved, region);
    tx_put_done(ctx, resolved, bcri_cell_flags(resolved), waiting);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
}

/* Model: cell.inc */
static int append_to_back(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                          bcri_ref waiting, bool due)
{
    bcri_leaf_lock(ctx, resolved);
    bcri_ref node;
    const int error = bcri_node_find(ctx, resolved, &node);
    if (error == 0) {
        bcri_tx_begin(ctx);
        bcri_tx_chain_back(ctx, resolved, node, region);
        BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&resolved->cell->c.direct) + 1);
        tx_put_done(ctx, resolved, bcri_cell_flags(resolved) | BCRI_CELL_SLOW, waiting);
        bcri_tx_request(ctx, resolved, due);
        bcri_tx_commit(ctx);
    }
    bcri_leaf_unlock(ctx, resolved);
    return error;
}

/* Model: cell.inc */
static struct bcri_result append(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                                 bcri_ref waiting, bool handed_on)
{
    const CELL *cell = resolved->cell;
    const bool waited_for = bcri_load(&cell->c.list_first) != 0;
    const bool due = !handed_on && bcri_addition_requests(resolved, bcri_queue_length(resolved) + 1);
    int error = 0;
    if (waited_for && bcri_unlikely(!bcri_waiters_mapped(ctx, resolved, false)))
        return bcri_result(bcrE_NOMEM);
    if (waited_for)
        append_to_waiters(ctx, resolved, region, waiting, due);
    else if (bcri_load(&cell->c.back_first) == 0 && bcri_ring_has_room(resolved))
        append_to_ring(ctx, resolved, region, waiting, due);
    else
        error = append_to_back(ctx, resolved, region, waiting, due);
    bcri_requests_told(ctx, resolved, due && error == 0);
    if (bcri_likely(error == 0))
        bcri_wakeon_added(ctx, resolved);
    return bcri_result(error);
}

/* Whether a waiting get takes what is added now. */
static bool is_handed_on(const struct bcri_resolved *resolved)
{
    return bcri_load(&resolved->cell->c.list_first) != 0 && bcri_load(&resolved->cell->c.takes) != 0;
}

struct bcri_result bcri_queue_append(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                                     bcri_ref waiting)
{
    const bool handed_on = is_handed_on(resolved);
    if (!handed_on && !room_for(ctx, resolved, waiting))
        return bcri_outcome(BCRI_NO_ROOM);
    return append(ctx, resolved, region, waiting, handed_on);
}

struct bcri_result bcri_queue_append_beyond(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                            bcri_ref region)
{
    const bool handed_on = is_handed_on(resolved);
    if (!handed_on)
        (void)bcri_credit_for_one(ctx, resolved); /* takes credits if it can */
    return append(ctx, resolved, region, BCRI_REF_NONE, handed_on);
}

/* Model: cell.inc */
int bcri_queue_prepend(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bcri_ref slot,
                       bool anew)
{
    CELL *cell = resolved->cell;
    bcri_ref first = bcri_load(&cell->c.first);
    bcri_ref node = BCRI_REF_NONE;
    (void)bcri_credit_for_one(ctx, resolved); /* takes credits if it can */
    const bool due = anew && bcri_load(&cell->c.takes) == 0 &&
                     bcri_addition_requests(resolved, bcri_queue_length(resolved) + 1);
    if (first != 0) {
        bcri_leaf_lock(ctx, resolved);
        const int error = bcri_node_find(ctx, resolved, &node);
        if (error != 0) {
            bcri_leaf_unlock(ctx, resolved);
            return error;
        }
    }
    bcri_tx_begin(ctx);
    if (first != 0) {
        bcri_tx_node_take(ctx, resolved, node);
        BCRI_TX64(ctx, node, NODE, region, first);
        BCRI_TX64(ctx, node, NODE, next, bcri_load(&cell->c.front));
        BCRI_TX64(ctx, resolved->ref, CELL, c.front, node);
    }
    BCRI_TX64(ctx, resolved->ref, CELL, c.first, region);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&cell->c.extra) + 1);
    BCRI_TX64(ctx, resolved->ref, CELL, t.limit, bcri_load(&cell->t.tail));
    bcri_tx_flags(ctx, resolved, bcri_cell_flags(resolved) | BCRI_CELL_SLOW);
    if (slot != BCRI_REF_NONE)
        BCRI_TX64(ctx, slot, SLOT, word, 0);
    bcri_tx_phase(ctx, 2);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    if (first != 0)
        bcri_leaf_unlock(ctx, resolved);
    bcri_requests_told(ctx, resolved, due);
    bcri_wakeon_added(ctx, resolved);
    return 0;
}
