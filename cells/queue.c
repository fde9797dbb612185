/* SPDX-License-Identifier: MIT */
/* What is queued in a cell: queue.h. */
#include "bcri/queue.h"

#include "bcri/area_locks.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/lookup.h"
#include "bcri/overflow.h"
#include "bcri/tx.h"

#define CELL struct bcri_cell_shm
#define NODE struct bcri_node_shm

void bcri_tx_flags(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags)
{
    BCRI_TX64(ctx, resolved->ref, CELL, h.state, resolved->open | flags);
    BCRI_TX64(ctx, resolved->ref, CELL, t.state, resolved->open | flags);
}

uint64_t bcri_queue_length(const struct bcri_resolved *resolved)
{
    uint64_t head = bcri_load(&resolved->cell->h.head);
    uint64_t tail = bcri_load(&resolved->cell->t.tail);
    return (tail > head ? tail - head : 0) + bcri_load(&resolved->cell->c.extra);
}

bcri_ref bcri_queue_first(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                          enum bcri_source *from_out)
{
    CELL *cell = resolved->cell;
    uint64_t head = bcri_load(&cell->h.head);
    bcri_ref ref;
    if ((ref = bcri_load(&cell->c.first)) != 0) {
        *from_out = BCRI_FROM_FIRST;
        return ref;
    }
    if ((ref = bcri_load(&cell->c.front)) != 0) {
        *from_out = BCRI_FROM_FRONT;
        return bcri_load(&((NODE *)bcri_map_or_dummy(ctx, ref))->region);
    }
    if (head < bcri_load(&cell->t.tail)) {
        *from_out = BCRI_FROM_RING;
        return bcri_load_acquire(bcri_ring_at(resolved, head)) & BCRI_REF_MASK;
    }
    if ((ref = bcri_load(&cell->c.back_first)) != 0) {
        *from_out = BCRI_FROM_BACK;
        return bcri_load(&((NODE *)bcri_map_or_dummy(ctx, ref))->region);
    }
    *from_out = BCRI_FROM_NOWHERE;
    return BCRI_REF_NONE;
}

void bcri_tx_unqueue(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_source from)
{
    CELL *cell = resolved->cell;
    if (from == BCRI_FROM_RING) {
        BCRI_TX64(ctx, resolved->ref, CELL, h.head, bcri_load(&cell->h.head) + 1);
        return;
    }
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&cell->c.extra) - 1);
    if (from == BCRI_FROM_FIRST) {
        BCRI_TX64(ctx, resolved->ref, CELL, c.first, 0);
        return;
    }
    bcri_ref node_ref = from == BCRI_FROM_FRONT ? bcri_load(&cell->c.front) : bcri_load(&cell->c.back_first);
    bcri_ref next = bcri_load(&((NODE *)bcri_map_or_dummy(ctx, node_ref))->next);
    if (from == BCRI_FROM_FRONT) {
        BCRI_TX64(ctx, resolved->ref, CELL, c.front, next);
    } else {
        BCRI_TX64(ctx, resolved->ref, CELL, c.back_first, next);
        if (next == 0)
            BCRI_TX64(ctx, resolved->ref, CELL, c.back_last, 0);
    }
    bcri_tx_node_free(ctx, resolved, node_ref);
}

bool bcri_ring_has_room(const struct bcri_resolved *resolved)
{
    const struct bcri_head_shm *h = &resolved->cell->h;
    uint64_t head = bcri_load(&h->head);
    uint64_t low = head;
    for (uint32_t i = 0; i < BCRI_TICKETS; i++) {
        uint64_t waiter = bcri_load_acquire(&h->waiter[i]);
        uint64_t ticket = head + BCRI_TICKETS - ((head + BCRI_TICKETS - (waiter >> 48)) & 0xffffu);
        if (waiter != 0 && ticket < low)
            low = ticket;
    }
    return bcri_load(&resolved->cell->t.tail) < low + bcri_ring_entries(resolved);
}

void bcri_tx_ring_store(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region)
{
    uint64_t tail = bcri_load(&resolved->cell->t.tail);
    bcri_tx_add(ctx, BCRI_REDO_64, resolved->ring_ref,
                (size_t)(bcri_ring_at(resolved, tail) - resolved->ring) * sizeof(uint64_t),
                bcri_entry(bcri_lap(tail, resolved->ring_log2), bcri_current_cpu(), region));
    BCRI_TX64(ctx, resolved->ref, CELL, t.tail, tail + 1);
}

/* Model: cell.inc */
bool bcri_queue_into_ring(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    CELL *cell = resolved->cell;
    enum bcri_source from = BCRI_FROM_NOWHERE;
    bool ring_empty = bcri_load(&cell->h.head) == bcri_load(&cell->t.tail);
    bcri_ref region = BCRI_REF_NONE;
    if (ring_empty)
        region = bcri_queue_first(ctx, resolved, &from);
    else if (bcri_load(&cell->c.back_first) != 0) {
        from = BCRI_FROM_BACK;
        region = bcri_load(&((NODE *)bcri_map_or_dummy(ctx, bcri_load(&cell->c.back_first)))->region);
    }
    if (from == BCRI_FROM_NOWHERE || !bcri_ring_has_room(resolved))
        return false;
    /* The ring comes after `first` and `front`, so a region may move from there only if it is the
     * last one in front of the ring. */
    if (ring_empty && from == BCRI_FROM_FIRST && bcri_load(&cell->c.front) != 0)
        return false;
    if (ring_empty && from == BCRI_FROM_FRONT &&
        bcri_load(&((NODE *)bcri_map_or_dummy(ctx, bcri_load(&cell->c.front)))->next) != 0)
        return false;
    bool leaf = from != BCRI_FROM_FIRST;
    if (leaf)
        bcri_leaf_lock(ctx, resolved);
    bcri_tx_begin(ctx);
    bcri_tx_unqueue(ctx, resolved, from);
    bcri_tx_ring_store(ctx, resolved, region);
    /* The tail moves on without a put. */
    BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&cell->c.direct) - 1);
    bcri_tx_commit(ctx);
    if (leaf)
        bcri_leaf_unlock(ctx, resolved);
    return true;
}
