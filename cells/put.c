/* SPDX-License-Identifier: MIT */
/* The fast puts: one lock (write: two), a handful of stores, no atomic instruction but the lock's.
 *
 * Journal: PUT; cell, region, slot (the ID that ends with the put; none with nofree).
 *   phase 0   nothing has happened, or: a lock is held
 *   phase 1   ticket and old entry are written down; about to store the entry. Done if and only if the entry carries
 *             the ticket's lap tag and the region (the tail lock is held, so nobody else can have stored it, and the
 *             entry was of the lap before).
 *   phase 2   done. Left: release, ring a sleeper that `old` names, free the ID.
 *   aux HELD  set once the cell's own hold was counted (nofree), before phase 1.
 *
 * Line transfers of a hand-over to a waiting taker: the entry's line (claimed here, fetched there) and the region's own;
 * T stays with the putters, H with the takers. */
#include "bcri/bell.h"
#include "bcri/flow.h"
#include "bcri/lock.h"
#include "bcri/region.h"
#include "bcri/slow.h"

/* How far the tail may go, from what the takers have left behind. Under T.
 * head is read before the waiters: a ticket below it has its waiter entry in place, or has been collected.
 * A cell that has not had its share of the area's credits takes it now: without credits every put would come here, and
 * carry the takers' line back and forth. */
static __attribute__((noinline)) uint64_t fresh_limit(struct bcri_ctx *ctx, struct bcri_place *place)
{
    const struct bcri_head_shm *h = &place->cell->h;
    uint64_t head = bcri_load_acquire(&h->head);
    uint64_t low = head;
    for (uint32_t i = 0; i < BCRI_TICKETS; i++) {
        uint64_t waiter = bcri_load_acquire(&h->waiter[i]);
        if (waiter == 0)
            continue;
        /* One that registers at this moment may have a ticket from `head` on. */
        uint64_t ticket = head + BCRI_TICKETS - ((head + BCRI_TICKETS - (waiter >> 48)) & 0xffffu);
        if (ticket < low)
            low = ticket;
    }
    uint64_t by_ring = low + place->mask + 1;
    uint64_t credits = bcri_load(&place->cell->t.credits);
    if (head + credits < by_ring && credits < bcri_credits_share(place) && bcri_credits_from_pool(ctx, place))
        credits = bcri_load(&place->cell->t.credits);
    return by_ring < head + credits ? by_ring : head + credits;
}

static void release_id(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    bcri_store(&slot->word, 0);
    bcri_slot_give(ctx, slot);
}

int bcri_cell_hold(struct bcri_ctx *ctx, bcri_ref region)
{
    int error = bcri_region_hold(ctx, region, 1);
    if (error != 0)
        return error;
    bcri_step();
    bcri_store(&ctx->journal->aux[BCRI_AUX_HELD], BCRI_HELD);
    bcri_step();
    bcri_count_settled(ctx);
    return 0;
}

void bcri_cell_unhold(struct bcri_ctx *ctx, bcri_ref region)
{
    bcri_store(&ctx->journal->aux[BCRI_AUX_HELD], BCRI_HELD_DROPPING);
    bcri_step();
    bcri_region_drop(ctx, region);
    bcri_step();
    bcri_store(&ctx->journal->aux[BCRI_AUX_HELD], BCRI_HELD_DROPPED);
    bcri_step();
    bcri_count_settled(ctx);
}

/* Stores region at ticket `t`, with the tail lock held. Returns the old entry. */
BCRI_INLINE uint64_t store_entry(struct bcri_ctx *ctx, struct bcri_place *place, uint64_t t, bcri_ref region)
{
    _Atomic uint64_t *entry = &place->cell->ring[t & place->mask];
    uint64_t old = bcri_load(entry);
    bcri_store(&ctx->journal->ticket, t);
    bcri_store(&ctx->journal->old, old);
    bcri_journal_phase(ctx, 1);
    bcri_store_release(entry, bcri_entry(bcri_lap(t, place->ring_log2), bcri_current_cpu(), region));
    bcri_step();
    bcri_store_release(&place->cell->t.tail, t + 1);
    bcri_journal_phase(ctx, 2);
    return old;
}

static void ring_sleeper(struct bcri_ctx *ctx, uint64_t old)
{
    if (bcri_unlikely(bcri_entry_lap(old) == BCRI_ENTRY_SLEEP))
        bcri_bell_ring_index(ctx, (uint32_t)old);
}

BCRI_INLINE int under_tail(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region, bool nofree,
                           uint64_t *old_out)
{
    struct bcri_tail_shm *t = &place->cell->t;
    uint64_t state = bcri_load(&t->state);
    if (bcri_unlikely(state != place->open))
        return state >> 32 == place->open >> 32 && (state & BCRI_CELL_CLOSED) == 0 ? BCRI_GO_SLOW
                                                                                   : BCRI_STALE;
    uint64_t tail = bcri_load(&t->tail);
    if (bcri_unlikely(tail >= bcri_load(&t->limit))) {
        uint64_t limit = fresh_limit(ctx, place);
        bcri_store(&t->limit, limit);
        if (tail >= limit)
            return BCRI_NO_ROOM;
    }
    /* Room, if there is any, belongs to the puts that wait for it; a waiting ticket needs none. */
    if (bcri_unlikely(bcri_load_acquire(&place->area->waitputs) != 0))
        return BCRI_GO_SLOW;
    if (nofree) {
        int error = bcri_cell_hold(ctx, region);
        if (error != 0)
            return error;
    }
    *old_out = store_entry(ctx, place, tail, region);
    return 0;
}

int bcri_put_fast(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region, struct bcri_slot_shm *slot,
                  bool nofree)
{
    struct bcri_tail_shm *t = &place->cell->t;
    bcri_prefetch_write(&place->cell->ring[bcri_load(&t->tail) & place->mask]);
    bcri_journal_open(ctx, BCRI_OP_PUT, place->ref, region,
                      nofree ? BCRI_REF_NONE : bcri_slot_ref(ctx, slot));
    bcri_lock(ctx, &t->lock);
    uint64_t old = 0;
    int result = under_tail(ctx, place, region, nofree, &old);
    if (bcri_unlikely(result == BCRI_STALE))
        bcri_unlock_stale(ctx, &t->lock);
    else
        bcri_unlock(ctx, &t->lock);
    if (bcri_likely(result == 0)) {
        ring_sleeper(ctx, old);
        if (!nofree)
            release_id(ctx, slot);
    }
    bcri_journal_close(ctx);
    return result;
}

int bcri_write_fast(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region,
                    struct bcri_slot_shm *slot, bool nofree)
{
    struct bcri_cell_shm *cell = place->cell;
    bcri_journal_open(ctx, BCRI_OP_PUT, place->ref, region,
                      nofree ? BCRI_REF_NONE : bcri_slot_ref(ctx, slot));
    bcri_lock(ctx, &cell->h.lock);
    bcri_lock(ctx, &cell->t.lock);
    uint64_t old = 0;
    int result = BCRI_GO_SLOW;
    if (bcri_load(&cell->h.head) >= bcri_load(&cell->t.tail) || bcri_load(&cell->t.state) != place->open)
        result = under_tail(ctx, place, region, nofree, &old);
    if (bcri_unlikely(result == BCRI_STALE)) {
        bcri_unlock_stale(ctx, &cell->t.lock);
        bcri_unlock_stale(ctx, &cell->h.lock);
    } else {
        bcri_unlock(ctx, &cell->t.lock);
        bcri_unlock(ctx, &cell->h.lock);
    }
    if (bcri_likely(result == 0)) {
        ring_sleeper(ctx, old);
        if (!nofree)
            release_id(ctx, slot);
    }
    bcri_journal_close(ctx);
    return result;
}
