/* SPDX-License-Identifier: MIT */
/* Empties a cell in one step, and drops what was in it one region at a time.
 *
 * One transaction detaches the whole queue (and may put a replacement in its place). It also writes
 * into the journal what was detached (struct bcri_detached_shm): the first region, the ring's
 * tickets, the chains before and behind the ring. The entries stay where they are, under both
 * locks, until each has been dropped and its cursor moved on. If the CCE dies, the daemon goes on
 * from the cursors.
 *
 * Before each drop the CCE writes down which cursor the drop is for, and that cursor's value. So
 * the daemon moves the cursor of a finished drop exactly once. */
#include "bcri/detached.h"

#include "bcri/area_locks.h"
#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/tx.h"
#include "bcri/wait_lists.h"
#include "bcri/wakeon.h"

#define CELL struct bcri_cell_shm
#define NODE struct bcri_node_shm

static _Atomic uint64_t *cursor_of(struct bcri_detached_shm *detached, uint64_t cursor)
{
    switch ((enum bcri_detached_cursor)cursor) {
    case BCRI_DETACHED_FIRST: return &detached->first;
    case BCRI_DETACHED_RING: return &detached->from;
    case BCRI_DETACHED_FRONT: return &detached->front;
    case BCRI_DETACHED_BACK: break;
    }
    return &detached->back;
}

static void tx_detached(struct bcri_ctx *ctx, size_t field, uint64_t value)
{
    bcri_tx_add(ctx, BCRI_REDO_64, bcri_record_ref(ctx, ctx->index),
                offsetof(struct bcri_record_shm, journal.detached) + field, value);
}
#define TX_DETACHED(ctx, field, value) tx_detached((ctx), offsetof(struct bcri_detached_shm, field), (value))

/* Model: death.pml */
void bcri_cell_empty(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref replacement,
                     bcri_ref waiting)
{
    const bool due = replacement != 0 && bcri_addition_requests(resolved, 1);
    CELL *cell = resolved->cell;
    uint64_t tail = bcri_load(&cell->t.tail);
    uint64_t head = bcri_load(&cell->h.head);
    uint32_t flags = (uint32_t)bcri_load(&cell->h.state);
    bcri_tx_begin(ctx);
    TX_DETACHED(ctx, cell, resolved->ref);
    TX_DETACHED(ctx, from, head);
    TX_DETACHED(ctx, to, head < tail ? tail : head);
    TX_DETACHED(ctx, front, bcri_load(&cell->c.front));
    TX_DETACHED(ctx, back, bcri_load(&cell->c.back_first));
    TX_DETACHED(ctx, first, bcri_load(&cell->c.first));
    BCRI_TX64(ctx, resolved->ref, CELL, h.head, head < tail ? tail : head);
    BCRI_TX64(ctx, resolved->ref, CELL, t.limit, tail);
    BCRI_TX64(ctx, resolved->ref, CELL, c.first, replacement);
    BCRI_TX64(ctx, resolved->ref, CELL, c.front, 0);
    BCRI_TX64(ctx, resolved->ref, CELL, c.back_first, 0);
    BCRI_TX64(ctx, resolved->ref, CELL, c.back_last, 0);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, replacement != 0);
    if (replacement != 0) {
        BCRI_TX32(ctx, resolved->ref, CELL, h.taker, 0);
        BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&cell->c.direct) + 1);
        flags = (flags & ~BCRI_CELL_OWNERDEAD) | BCRI_CELL_SLOW;
    }
    bcri_tx_flags(ctx, resolved, flags);
    bcri_tx_finish(ctx, resolved, waiting);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    bcri_requests_told(ctx, resolved, due);
    if (replacement != 0)
        bcri_wakeon_added(ctx, resolved);
    bcri_detached_drop(ctx, ctx->index, resolved);
}

/* Drops `region` and moves the cursor on, in the journal of the CCE that detached it.
 * Model: death.pml */
static void drop_and_step(struct bcri_ctx *ctx, struct bcri_detached_shm *detached,
                          enum bcri_detached_cursor which, bcri_ref region, uint64_t next)
{
    _Atomic uint64_t *cursor = cursor_of(detached, which);
    bcri_store(&detached->cursor, which);
    bcri_store(&detached->was, bcri_load(cursor));
    bcri_step();
    bcri_region_drop(ctx, region);
    bcri_step();
    bcri_store(cursor, next);
    bcri_step();
    bcri_count_committed(ctx);
}

static void chain_drop(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                       struct bcri_detached_shm *detached, enum bcri_detached_cursor which)
{
    bcri_ref ref;
    while ((ref = bcri_load(cursor_of(detached, which))) != 0) {
        NODE *node = bcri_map_or_dummy(ctx, ref);
        /* A node whose region was dropped has none, so this also finds a chain in a circle. */
        if (bcri_unlikely(bcri_load(&node->region) == BCRI_REF_NONE)) {
            bcri_corrupt(ctx, "a chain of queued regions", ref);
            bcri_store(cursor_of(detached, which), BCRI_REF_NONE);
            return;
        }
        /* Plain stores under the leaf lock give the node back: once the cursor has moved on, only
         * this CCE has the node. A death in between loses one node, no region. */
        drop_and_step(ctx, detached, which, bcri_load(&node->region), bcri_load(&node->next));
        bcri_leaf_lock(ctx, resolved);
        bcri_store(&node->region, BCRI_REF_NONE);
        bcri_store(&node->next, bcri_load(&resolved->area->node_free));
        bcri_step();
        bcri_store(&resolved->area->node_free, ref);
        bcri_leaf_unlock(ctx, resolved);
    }
}

void bcri_detached_drop(struct bcri_ctx *ctx, uint32_t index, struct bcri_resolved *resolved)
{
    struct bcri_detached_shm *detached = &bcri_record(ctx, index)->journal.detached;
    bcri_ref first = bcri_load(&detached->first);
    if (first != 0)
        drop_and_step(ctx, detached, BCRI_DETACHED_FIRST, first, 0);
    if (bcri_load(&detached->to) - bcri_load(&detached->from) > bcri_ring_entries(resolved)) {
        bcri_corrupt_at(ctx, "the journal of what was detached", detached);
        bcri_store(&detached->from, bcri_load(&detached->to));
    }
    for (uint64_t t; (t = bcri_load(&detached->from)) < bcri_load(&detached->to);)
        drop_and_step(ctx, detached, BCRI_DETACHED_RING,
                      bcri_load_acquire(bcri_ring_at(resolved, t)) & BCRI_REF_MASK, t + 1);
    chain_drop(ctx, resolved, detached, BCRI_DETACHED_FRONT);
    chain_drop(ctx, resolved, detached, BCRI_DETACHED_BACK);
    bcri_step();
    bcri_store(&detached->cell, 0);
    bcri_step();
}

/* Model: death.pml */
void bcri_detached_step_over(struct bcri_ctx *ctx, uint32_t index)
{
    struct bcri_detached_shm *detached = &bcri_record(ctx, index)->journal.detached;
    uint64_t which = bcri_load(&detached->cursor);
    _Atomic uint64_t *cursor = cursor_of(detached, which);
    uint64_t was = bcri_load(&detached->was);
    if (bcri_load(cursor) != was)
        return; /* the cursor was moved already */
    if (which == BCRI_DETACHED_FIRST)
        bcri_store(cursor, 0);
    else if (which == BCRI_DETACHED_RING)
        bcri_store(cursor, was + 1);
    else
        bcri_store(cursor, bcri_load(&((NODE *)bcri_map_or_dummy(ctx, was))->next));
}
