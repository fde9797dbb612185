/* SPDX-License-Identifier: MIT */
/* A cell under both its locks: the queue's three parts, the list of waiting requests, and serving
 * one with the other. queue.h says what holds; every change is one transaction (tx.h). */
#include "bcri/queue.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "bcri/request.h"
#include "bcri/result.h"
#include "bcri/segment.h"
#include "bcri/serve.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm
#define NODE struct bcri_node_shm
#define AREA struct bcri_area_shm

#define GROW_PAGES 8u
#define GROW_NODES (GROW_PAGES * BCRI_PAGE_BYTES / (uint32_t)sizeof(NODE))
static_assert(sizeof(NODE) == BCRI_REF_UNIT, "the next node has the next reference");

void bcri_leaf_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (bcri_unlikely(ctx->daemon.parks))
        return; /* bcri_cell_deeper took it */
    bcri_store(&ctx->journal->area, resolved->area_ref);
    bcri_step();
    bcri_lock(ctx, &resolved->area->leaf);
}

void bcri_leaf_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (bcri_likely(!ctx->daemon.parks))
        bcri_unlock_stale(ctx, &resolved->area->leaf); /* the area may be gone by now */
}

bool bcri_cell_deeper(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return bcri_lock_until(ctx, &resolved->area->leaf, BCRI_DEADLINE_NEVER);
}

void bcri_cell_less_deep(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_unlock_stale(ctx, &resolved->area->leaf);
}

static uint32_t flags_of(const struct bcri_resolved *resolved)
{
    return (uint32_t)bcri_load(&resolved->cell->h.state);
}

void bcri_tx_flags(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags)
{
    BCRI_TX64(ctx, resolved->ref, CELL, h.state, resolved->open | flags);
    BCRI_TX64(ctx, resolved->ref, CELL, t.state, resolved->open | flags);
}

void bcri_tx_phase(struct bcri_ctx *ctx, uint32_t phase)
{
    bcri_tx_add(ctx, BCRI_REDO_32, bcri_record_ref(ctx, ctx->index),
                offsetof(struct bcri_record_shm, journal) + offsetof(struct bcri_journal_shm, phase), phase);
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
        return bcri_load(&((NODE *)bcri_at_sure(ctx, ref))->region);
    }
    if (head < bcri_load(&cell->t.tail)) {
        *from_out = BCRI_FROM_RING;
        return bcri_load_acquire(bcri_ring_at(resolved, head)) & BCRI_REF_MASK;
    }
    if ((ref = bcri_load(&cell->c.back_first)) != 0) {
        *from_out = BCRI_FROM_BACK;
        return bcri_load(&((NODE *)bcri_at_sure(ctx, ref))->region);
    }
    *from_out = BCRI_FROM_NOWHERE;
    return BCRI_REF_NONE;
}

static void tx_free_node(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node)
{
    BCRI_TX64(ctx, node, NODE, next, bcri_load(&resolved->area->node_free));
    BCRI_TX64(ctx, resolved->area_ref, AREA, node_free, node);
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
    bcri_ref next = bcri_load(&((NODE *)bcri_at_sure(ctx, node_ref))->next);
    if (from == BCRI_FROM_FRONT) {
        BCRI_TX64(ctx, resolved->ref, CELL, c.front, next);
    } else {
        BCRI_TX64(ctx, resolved->ref, CELL, c.back_first, next);
        if (next == 0)
            BCRI_TX64(ctx, resolved->ref, CELL, c.back_last, 0);
    }
    tx_free_node(ctx, resolved, node_ref);
}

/* A node for the caller's transaction, under the leaf lock. tx_take_node adds to the transaction
 * the stores that take the node out of the free ones. */
static bcri_ref peek_node(struct bcri_resolved *resolved)
{
    AREA *area = resolved->area;
    bcri_ref node = bcri_load(&area->node_free);
    if (node != 0)
        return node;
    uint32_t fresh = bcri_load(&area->node_fresh);
    return fresh < area->node_count ? area->nodes + fresh : BCRI_REF_NONE;
}

static void tx_take_node(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node)
{
    if (node == bcri_load(&resolved->area->node_free))
        BCRI_TX64(ctx, resolved->area_ref, AREA, node_free,
                  bcri_load(&((NODE *)bcri_at_sure(ctx, node))->next));
    else
        BCRI_TX32(ctx, resolved->area_ref, AREA, node_fresh, bcri_load(&resolved->area->node_fresh) + 1);
}

/* Regions that were given back may exceed nrgns. Then the CCE that gives one back adds nodes, in
 * pages of the area's owner, which are freed with the owner's other pages. */
static int grow_nodes(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_ref got[BCRI_PAGE_SORTS];
    int error = bcri_segment_pages_take(ctx, resolved->owner, (const uint32_t[]){0, GROW_PAGES}, got);
    if (error != 0)
        return error;
    const bcri_ref ref = got[BCRI_PAGE_RINGS];
    NODE *node = bcri_at_sure(ctx, ref);
    for (uint32_t i = 0; i + 1 < GROW_NODES; i++)
        bcri_store(&node[i].next, ref + i + 1);
    bcri_store(&node[GROW_NODES - 1].next, bcri_load(&resolved->area->node_free));
    bcri_step();
    bcri_store_release(&resolved->area->node_free, ref);
    return 0;
}

uint32_t bcri_credits_share(const struct bcri_resolved *resolved)
{
    uint32_t cells = bcri_area_cells(resolved->area);
    uint32_t share = cells != 0 ? resolved->area->nrgns / cells : 0;
    return share != 0 ? share : 1;
}

/* Moves a share of credits from the pool to the cell. `in_advance`: no put needs them yet. False:
 * there are none. */
static bool take_credits(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool in_advance)
{
    AREA *area = resolved->area;
    if (bcri_load(&area->pool) == 0)
        return false;
    bcri_leaf_lock(ctx, resolved);
    uint32_t pool = bcri_load(&area->pool);
    uint32_t share = bcri_credits_share(resolved);
    if (share > pool)
        share = pool;
    /* waitputs is read under the leaf lock: if a credit in the pool was gathered for a put that
     * waits, this read sees that put. */
    if (in_advance && bcri_load(&area->waitputs) != 0)
        share = 0;
    if (share != 0) {
        bcri_tx_begin(ctx);
        BCRI_TX32(ctx, resolved->area_ref, AREA, pool, pool - share);
        BCRI_TX64(ctx, resolved->ref, CELL, t.credits, bcri_load(&resolved->cell->t.credits) + share);
        bcri_tx_commit(ctx);
    }
    bcri_leaf_unlock(ctx, resolved);
    return share != 0;
}

bool bcri_credits_from_pool(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return take_credits(ctx, resolved, true);
}

/* Whether the area's bound has room for one more region here. Takes credits from the pool if the
 * cell has too few. */
static bool queue_room(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    /* More than one share is needed if regions that were given back lie here without a credit. */
    while (bcri_queue_length(resolved) >= bcri_load(&resolved->cell->t.credits))
        if (!take_credits(ctx, resolved, false))
            return false;
    return true;
}

/* Whether the ring has room for one more entry: see `limit` in cell.h. Both locks are held, and
 * waiting tickets are in the list. */
static bool ring_has_room(const struct bcri_resolved *resolved)
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

static void tx_ring_store(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region)
{
    uint64_t tail = bcri_load(&resolved->cell->t.tail);
    bcri_tx_add(ctx, BCRI_REDO_64, resolved->ring_ref,
                (size_t)(bcri_ring_at(resolved, tail) - resolved->ring) * sizeof(uint64_t),
                bcri_entry(bcri_lap(tail, resolved->ring_log2), bcri_current_cpu(), region));
    BCRI_TX64(ctx, resolved->ref, CELL, t.tail, tail + 1);
}

static void tx_chain_back(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node,
                          bcri_ref region)
{
    bcri_ref last = bcri_load(&resolved->cell->c.back_last);
    tx_take_node(ctx, resolved, node);
    BCRI_TX64(ctx, node, NODE, region, region);
    BCRI_TX64(ctx, node, NODE, next, 0);
    if (last != 0)
        BCRI_TX64(ctx, last, NODE, next, node);
    else
        BCRI_TX64(ctx, resolved->ref, CELL, c.back_first, node);
    BCRI_TX64(ctx, resolved->ref, CELL, c.back_last, node);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&resolved->cell->c.extra) + 1);
}

/* A put also ends what a dead owner of the write lock left: `taker` and the flag OWNERDEAD. */
static void tx_put_done(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags,
                        bcri_ref waiting)
{
    bcri_tx_flags(ctx, resolved, flags & ~BCRI_CELL_OWNERDEAD);
    BCRI_TX32(ctx, resolved->ref, CELL, h.taker, 0);
    bcri_tx_finish(ctx, resolved, waiting);
}

void bcri_tx_finish(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting)
{
    if (waiting == BCRI_REF_NONE)
        bcri_tx_phase(ctx, 2);
    else
        bcri_tx_putwait_unlist(ctx, resolved, waiting, bcri_slot_word(BCRI_SLOT_PUTDONE, 0, BCRI_REF_NONE));
}

/* Room belongs to the puts that wait for it, oldest first: a new put does not overtake them. */
static bool room_for(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting)
{
    return (waiting != BCRI_REF_NONE || bcri_load_acquire(&resolved->area->waitputs) == 0) &&
           queue_room(ctx, resolved);
}

/* A CCE whose process has no descriptor left may be unable to map the IDs of other CCEs. The daemon
 * has them all mapped; what it cannot reach leads nowhere. */
static bool maps(struct bcri_ctx *ctx, bcri_ref slot)
{
    return slot == BCRI_REF_NONE || bcri_at(ctx, slot) != NULL || ctx->daemon.parks;
}

bool bcri_request_mapped(struct bcri_ctx *ctx, bcri_ref ref)
{
    const SLOT *slot = bcri_at_sure(ctx, ref);
    return maps(ctx, ref) && maps(ctx, bcri_load(&slot->next)) && maps(ctx, bcri_load(&slot->prev));
}

bool bcri_waiters_mapped(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool all)
{
    bcri_ref before = BCRI_REF_NONE;
    bcri_ref ref = bcri_load(&resolved->cell->c.list_first);
    for (const SLOT *slot; ref != BCRI_REF_NONE; before = ref, ref = bcri_load(&slot->next)) {
        slot = bcri_at_sure(ctx, ref);
        if (!bcri_request_mapped(ctx, ref) ||
            (bcri_record(ctx, bcri_request_owner(slot)) == NULL && !ctx->daemon.parks))
            return false;
        /* A list in a circle ends here, too: is_first or bcri_cell_fail_waiters finds it. */
        if ((!all && bcri_request_want(slot) != BCRI_WANT_READ) || bcri_load(&slot->prev) != before)
            break;
    }
    return true;
}

/* The queue is empty and requests wait: the region goes to the front, and bcri_cell_service hands
 * it to the first request. */
static void append_to_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                              bcri_ref waiting, bool due)
{
    CELL *cell = resolved->cell;
    bcri_tx_begin(ctx);
    BCRI_TX64(ctx, resolved->ref, CELL, c.first, region);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&cell->c.extra) + 1);
    BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&cell->c.direct) + 1);
    tx_put_done(ctx, resolved, flags_of(resolved) | BCRI_CELL_SLOW, waiting);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
}

static void append_to_ring(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                           bcri_ref waiting, bool due)
{
    bcri_tx_begin(ctx);
    tx_ring_store(ctx, resolved, region);
    tx_put_done(ctx, resolved, flags_of(resolved), waiting);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
}

static int append_to_back(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                          bcri_ref waiting, bool due)
{
    bcri_leaf_lock(ctx, resolved);
    bcri_ref node = peek_node(resolved);
    int error = 0;
    if (node == BCRI_REF_NONE && (error = grow_nodes(ctx, resolved)) == 0)
        node = peek_node(resolved);
    if (error == 0) {
        bcri_tx_begin(ctx);
        tx_chain_back(ctx, resolved, node, region);
        BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&resolved->cell->c.direct) + 1);
        tx_put_done(ctx, resolved, flags_of(resolved) | BCRI_CELL_SLOW, waiting);
        bcri_tx_request(ctx, resolved, due);
        bcri_tx_commit(ctx);
    }
    bcri_leaf_unlock(ctx, resolved);
    return error;
}

int bcri_queue_append(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bcri_ref waiting)
{
    const CELL *cell = resolved->cell;
    const bool waited_for = bcri_load(&cell->c.list_first) != 0;
    const bool handed_on = waited_for && bcri_load(&cell->c.takes) != 0;
    if (!handed_on && !room_for(ctx, resolved, waiting))
        return BCRI_NO_ROOM;
    const bool due = !handed_on && bcri_addition_requests(resolved, bcri_queue_length(resolved) + 1);
    int error = 0;
    if (waited_for && bcri_unlikely(!bcri_waiters_mapped(ctx, resolved, false)))
        return bcrE_NOMEM;
    if (waited_for)
        append_to_waiters(ctx, resolved, region, waiting, due);
    else if (bcri_load(&cell->c.back_first) == 0 && ring_has_room(resolved))
        append_to_ring(ctx, resolved, region, waiting, due);
    else
        error = append_to_back(ctx, resolved, region, waiting, due);
    bcri_requests_told(ctx, resolved, due && error == 0);
    return error;
}

int bcri_queue_prepend(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bcri_ref slot,
                       bool anew)
{
    CELL *cell = resolved->cell;
    bcri_ref first = bcri_load(&cell->c.first);
    bcri_ref node = BCRI_REF_NONE;
    (void)queue_room(ctx, resolved); /* takes credits if it can */
    const bool due = anew && bcri_load(&cell->c.takes) == 0 &&
                     bcri_addition_requests(resolved, bcri_queue_length(resolved) + 1);
    if (first != 0) {
        bcri_leaf_lock(ctx, resolved);
        node = peek_node(resolved);
        int error = node == BCRI_REF_NONE ? grow_nodes(ctx, resolved) : 0;
        if (error != 0) {
            bcri_leaf_unlock(ctx, resolved);
            return error;
        }
        node = peek_node(resolved);
    }
    bcri_tx_begin(ctx);
    if (first != 0) {
        tx_take_node(ctx, resolved, node);
        BCRI_TX64(ctx, node, NODE, region, first);
        BCRI_TX64(ctx, node, NODE, next, bcri_load(&cell->c.front));
        BCRI_TX64(ctx, resolved->ref, CELL, c.front, node);
    }
    BCRI_TX64(ctx, resolved->ref, CELL, c.first, region);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&cell->c.extra) + 1);
    BCRI_TX64(ctx, resolved->ref, CELL, t.limit, bcri_load(&cell->t.tail));
    bcri_tx_flags(ctx, resolved, flags_of(resolved) | BCRI_CELL_SLOW);
    if (slot != BCRI_REF_NONE)
        BCRI_TX64(ctx, slot, SLOT, word, 0);
    bcri_tx_phase(ctx, 2);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    if (first != 0)
        bcri_leaf_unlock(ctx, resolved);
    bcri_requests_told(ctx, resolved, due);
    return 0;
}

void bcri_tx_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot)
{
    bcri_ref next = bcri_load(&slot->next);
    bcri_ref prev = bcri_load(&slot->prev);
    if (prev != 0)
        BCRI_TX64(ctx, prev, SLOT, next, next);
    else
        BCRI_TX64(ctx, resolved->ref, CELL, c.list_first, next);
    if (next != 0)
        BCRI_TX64(ctx, next, SLOT, prev, prev);
    else
        BCRI_TX64(ctx, resolved->ref, CELL, c.list_last, prev);
    if (bcri_request_want(slot) != BCRI_WANT_READ)
        BCRI_TX32(ctx, resolved->ref, CELL, c.takes, bcri_load(&resolved->cell->c.takes) - 1);
}

static bool tickets_mapped(struct bcri_ctx *ctx, const struct bcri_cell_shm *cell, uint64_t tail,
                           uint64_t head)
{
    for (uint64_t t = tail; t < head; t++)
        if (!maps(ctx, bcri_load(&cell->h.waiter[t % BCRI_TICKETS]) & BCRI_REF_MASK))
            return false;
    return true;
}

bool bcri_tickets_to_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    CELL *cell = resolved->cell;
    uint64_t head = bcri_load(&cell->h.head);
    uint64_t tail = bcri_load(&cell->t.tail);
    if (head <= tail)
        return true;
    if (head - tail > BCRI_TICKETS) {
        bcri_corrupt(ctx, "the counters of a cell", resolved->ref);
        return true;
    }
    if (bcri_unlikely(!tickets_mapped(ctx, cell, tail, head)))
        return false;
    bcri_ref before = 0;
    bcri_tx_begin(ctx);
    for (uint64_t t = tail; t < head; t++) {
        bcri_ref slot = bcri_load(&cell->h.waiter[t % BCRI_TICKETS]) & BCRI_REF_MASK;
        bcri_ref after =
            t + 1 < head ? bcri_load(&cell->h.waiter[(t + 1) % BCRI_TICKETS]) & BCRI_REF_MASK : 0;
        BCRI_TX64(ctx, slot, SLOT, prev, before);
        BCRI_TX64(ctx, slot, SLOT, next, after);
        BCRI_TX64(ctx, slot, SLOT, word, bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref));
        bcri_tx_add(ctx, BCRI_REDO_64, resolved->ref,
                    offsetof(CELL, h.waiter) + (size_t)(t % BCRI_TICKETS) * 8, 0);
        if (before == 0)
            BCRI_TX64(ctx, resolved->ref, CELL, c.list_first, slot);
        before = slot;
    }
    BCRI_TX64(ctx, resolved->ref, CELL, c.list_last, before);
    BCRI_TX32(ctx, resolved->ref, CELL, c.takes, (uint32_t)(head - tail));
    BCRI_TX64(ctx, resolved->ref, CELL, h.head, tail);
    BCRI_TX64(ctx, resolved->ref, CELL, t.limit, tail);
    bcri_tx_flags(ctx, resolved, flags_of(resolved) | BCRI_CELL_SLOW);
    bcri_tx_commit(ctx);
    return true;
}

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
 * cannot map what it would change, and nothing has happened. */
static bool serve_first(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region,
                        enum bcri_source from)
{
    bcri_ref slot_ref = bcri_load(&resolved->cell->c.list_first);
    SLOT *slot = bcri_at_sure(ctx, slot_ref);
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
           bcri_request_want(bcri_at_sure(ctx, first)) == BCRI_WANT_READ)
        if (!serve_first(ctx, resolved, region, BCRI_FROM_NOWHERE))
            return;
}

/* Moves one region from `back`, `front` or `first` into a free entry of the ring. False: there is
 * none to move, or no room. */
static bool into_ring(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    CELL *cell = resolved->cell;
    enum bcri_source from = BCRI_FROM_NOWHERE;
    bool ring_empty = bcri_load(&cell->h.head) == bcri_load(&cell->t.tail);
    bcri_ref region = BCRI_REF_NONE;
    if (ring_empty)
        region = bcri_queue_first(ctx, resolved, &from);
    else if (bcri_load(&cell->c.back_first) != 0) {
        from = BCRI_FROM_BACK;
        region = bcri_load(&((NODE *)bcri_at_sure(ctx, bcri_load(&cell->c.back_first)))->region);
    }
    if (from == BCRI_FROM_NOWHERE || !ring_has_room(resolved))
        return false;
    /* The ring comes after `first` and `front`, so a region may move from there only if it is the
     * last one in front of the ring. */
    if (ring_empty && from == BCRI_FROM_FIRST && bcri_load(&cell->c.front) != 0)
        return false;
    if (ring_empty && from == BCRI_FROM_FRONT &&
        bcri_load(&((NODE *)bcri_at_sure(ctx, bcri_load(&cell->c.front)))->next) != 0)
        return false;
    bool leaf = from != BCRI_FROM_FIRST;
    if (leaf)
        bcri_leaf_lock(ctx, resolved);
    bcri_tx_begin(ctx);
    bcri_tx_unqueue(ctx, resolved, from);
    tx_ring_store(ctx, resolved, region);
    /* The tail moves on without a put. */
    BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&cell->c.direct) - 1);
    bcri_tx_commit(ctx);
    if (leaf)
        bcri_leaf_unlock(ctx, resolved);
    return true;
}

/* Tells the owner once through its descriptor (bcr_fd) that the cell has regions. */
static void tell_armed(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (ctx->fd_upcalls != NULL)
        ctx->fd_upcalls->ring(ctx->up, resolved->ref);
    bcri_tx_begin(ctx);
    bcri_tx_flags(ctx, resolved, flags_of(resolved) & ~BCRI_CELL_ARMED);
    bcri_tx_commit(ctx);
}

static bool serve_waiting(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    enum bcri_source from;
    bcri_ref region;
    while (bcri_load(&resolved->cell->c.list_first) != 0 &&
           (region = bcri_queue_first(ctx, resolved, &from)) != 0)
        if (!serve_first(ctx, resolved, region, from))
            return false;
    return true;
}

bool bcri_cell_service(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    const CELL *cell = resolved->cell;
    if (bcri_unlikely(!serve_waiting(ctx, resolved)))
        return false;
    if (bcri_unlikely((flags_of(resolved) & BCRI_CELL_ARMED) != 0) && bcri_queue_length(resolved) != 0)
        tell_armed(ctx, resolved);
    if (bcri_load(&cell->c.list_first) != 0)
        return true;
    /* Half a ring at a time, so that a long queue costs little per region. */
    uint64_t in_ring = bcri_load(&cell->t.tail) - bcri_load(&cell->h.head);
    if (bcri_load(&cell->c.extra) != 0 && in_ring <= bcri_ring_entries(resolved) / 2)
        while (into_ring(ctx, resolved))
            continue;
    if ((flags_of(resolved) & BCRI_CELL_SLOW) != 0 && bcri_load(&cell->c.extra) == 0) {
        bcri_tx_begin(ctx);
        BCRI_TX64(ctx, resolved->ref, CELL, t.limit, bcri_load(&cell->t.tail));
        bcri_tx_flags(ctx, resolved, flags_of(resolved) & ~BCRI_CELL_SLOW);
        bcri_tx_commit(ctx);
    }
    return true;
}

int bcri_cell_enter(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return bcri_cell_enter_until(ctx, resolved, BCRI_DEADLINE_NEVER);
}

static void unlock_both(struct bcri_ctx *ctx, const struct bcri_resolved *resolved)
{
    bcri_unlock_stale(ctx, &resolved->cell->t.lock);
    bcri_unlock_stale(ctx, &resolved->cell->h.lock);
}

/* The daemon may have left the cell in the midst of serving (bcri_cell_leave): the CCE that enters
 * next goes on. */
static bool go_on_serving(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return bcri_load(&resolved->cell->c.list_first) == 0 || serve_waiting(ctx, resolved);
}

int bcri_cell_enter_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint64_t deadline_ns)
{
    CELL *cell = resolved->cell;
    if (!bcri_lock_until(ctx, &cell->h.lock, deadline_ns))
        return bcrE_TIMEOUT;
    if (bcri_unlikely(!bcri_lock_until(ctx, &cell->t.lock, BCRI_DEADLINE_NEVER))) {
        bcri_unlock_stale(ctx, &cell->h.lock);
        return bcrE_TIMEOUT;
    }
    uint64_t state = bcri_load(&cell->h.state);
    int error = 0;
    if (state >> 32 != resolved->open >> 32 || (state & BCRI_CELL_CLOSED) != 0)
        error = BCRI_STALE;
    else if (bcri_unlikely(ctx->daemon.parks))
        error = !bcri_cell_validate(ctx, resolved) ? bcrE_INTERNAL
                : !bcri_cell_deeper(ctx, resolved) ? bcrE_TIMEOUT
                                                   : 0;
    if (error != 0) {
        unlock_both(ctx, resolved);
        return error;
    }
    if (bcri_likely(bcri_tickets_to_list(ctx, resolved) && go_on_serving(ctx, resolved)))
        return 0;
    if (ctx->daemon.parks)
        bcri_cell_less_deep(ctx, resolved);
    unlock_both(ctx, resolved);
    return ctx->daemon.parks ? bcrE_TIMEOUT : bcrE_NOMEM;
}

void bcri_cell_leave(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    const uint32_t parked = ctx->daemon.parked;
    const bool serviced = bcri_cell_service(ctx, resolved);
    if (bcri_unlikely(ctx->daemon.parks))
        bcri_cell_less_deep(ctx, resolved);
    bcri_unlock(ctx, &resolved->cell->t.lock);
    bcri_unlock(ctx, &resolved->cell->h.lock);
    if (bcri_unlikely(!serviced) && ctx->daemon.parks) {
        bcri_look_again(ctx, resolved->ref);
        ctx->daemon.parked = parked; /* the parked piece is not the one at hand */
    }
}

void bcri_cell_fail_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code)
{
    (void)bcri_tickets_to_list(ctx, resolved); /* whoever closed the cell has done it */
    bcri_ref ref;
    while ((ref = bcri_load(&resolved->cell->c.list_first)) != 0) {
        SLOT *slot = bcri_at_sure(ctx, ref);
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
