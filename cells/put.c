/* SPDX-License-Identifier: MIT */
/* The fast puts' rarer parts: put_fast.h. */
#include "put_fast.h"

#include "bcri/slow.h"
#include "bcri/summons.h"

/* The lowest ticket that has a waiter; at most head. */
static __attribute__((noinline)) uint64_t oldest_waiting(const struct bcri_head_shm *h, uint64_t head)
{
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
    return low;
}

/* head is read before the waiters: a ticket below it has its waiter entry in place, or has been collected.
 * A cell that has not had its share of the area's credits takes it now: without credits every put would come here, and
 * carry the takers' line back and forth. */
uint64_t bcri_fresh_limit(struct bcri_ctx *ctx, struct bcri_place *place)
{
    const struct bcri_head_shm *h = &place->cell->h;
    uint64_t head = bcri_load_acquire(&h->head);
    uint64_t low = head;
    uint64_t any = 0;
    for (uint32_t i = 0; i < BCRI_TICKETS; i++)
        any |= bcri_load_acquire(&h->waiter[i]);
    if (bcri_unlikely(any != 0))
        low = oldest_waiting(h, head);
    uint64_t by_ring = low + place->mask + 1;
    uint64_t credits = bcri_load(&place->cell->t.credits);
    /* A cell for a lock has one credit and comes here with every put: the pool, which is empty then, is asked before the share. */
    if (head + credits < by_ring && bcri_load(&place->area->pool) != 0 &&
        credits < bcri_credits_share(place) && bcri_credits_from_pool(ctx, place))
        credits = bcri_load(&place->cell->t.credits);
    return by_ring < head + credits ? by_ring : head + credits;
}

/* Four wait by ticket at most, and only tickets from the tail on. A mark elsewhere is that of somebody who has gone. */
void bcri_look_for_marks(struct bcri_place *place, uint64_t tail)
{
    for (uint32_t i = 0; i < BCRI_TICKETS; i++)
        if (bcri_entry_lap(bcri_load(&place->cell->ring[(tail + i) & place->mask])) == BCRI_ENTRY_SLEEP)
            return;
    bcri_store(&place->cell->t.sleeps, 0);
}

int bcri_put_refused(struct bcri_ctx *ctx, struct bcri_place *place, int result)
{
    if (result == BCRI_STALE)
        bcri_unlock_stale(ctx, &place->cell->t.lock);
    else
        bcri_unlock(ctx, &place->cell->t.lock);
    bcri_journal_close(ctx);
    return result;
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

/* Done under the lock of the owner's queue, in which there is room for one. */
static uint64_t store_and_summon(struct bcri_ctx *ctx, struct bcri_place *place, uint64_t tail,
                                 bcri_ref region, uint32_t phase)
{
    struct bcri_summons_shm *queue = &place->record->summons;
    uint64_t sleeper = bcri_load(&queue->asleep) != 0 ? BCRI_ENTRY_SLEEP << 56 | place->owner : 0;
    bcri_summons_note_written(ctx, place);
    store_entry(ctx, place, place->cell, tail, &place->cell->ring[tail & place->mask], region, false, sleeper,
                phase | BCRI_PHASE_SUMMONS);
    bcri_step();
    bcri_summons_write(queue, place, bcri_current_cpu(), region);
    if (sleeper != 0)
        bcri_store(&queue->asleep, 0);
    return sleeper;
}

/* A put that is due to summon. Nobody waits at this ticket; if the entry bears a mark, who slept there has gone. */
static int put_and_summon(struct bcri_ctx *ctx, struct bcri_place *place, uint64_t tail, bcri_ref region,
                          bool nofree, uint64_t *old_out)
{
    if (!bcri_summons_try(ctx, place))
        return BCRI_GO_SLOW;
    int error = nofree ? bcri_cell_hold(ctx, region) : 0;
    if (error == 0)
        *old_out = store_and_summon(ctx, place, tail, region, nofree ? 1 : 1 | BCRI_PHASE_GIVES);
    bcri_summons_leave(ctx, place);
    return error;
}

/* Whether a put at `tail` leaves at least as many as the mark says. With a mark of 1 each does, since nobody waits by ticket here
 * (get.c). head is read without its lock: a take at this moment may count as one that comes later. */
static bool is_due(const struct bcri_place *place, uint64_t tail)
{
    const struct bcri_cell_shm *cell = place->cell;
    if ((bcri_load(&cell->t.state) & BCRI_CELL_HIGH) == 0)
        return false;
    return bcri_mark_of(bcri_load(&cell->t.mark)) == 1 ||
           bcri_addition_summons(place, tail + 1 - bcri_load_acquire(&cell->h.head));
}

static int put_under_mark(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region, bool write,
                          bool nofree, uint64_t *old_out)
{
    uint64_t tail = bcri_load(&place->cell->t.tail);
    if (!is_due(place, tail))
        return under_tail(ctx, place, region, write, nofree, old_out);
    void *own = bcri_summons_own(ctx, place);
    if (own != NULL) {
        int error = under_tail(ctx, place, region, write, nofree, old_out);
        if (error == 0)
            ctx->upward->summon(ctx, own);
        return error;
    }
    /* The owner watches that line: claim it before its turn comes. */
    struct bcri_summons_shm *queue = &place->record->summons;
    bcri_prefetch_write(bcri_summons_word(queue, bcri_load(&queue->written)));
    int error = look_at_tail(ctx, place, tail, write);
    return error == 0 ? put_and_summon(ctx, place, tail, region, nofree, old_out) : error;
}

int bcri_put_marked(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region,
                    struct bcri_slot_shm *slot, bool write, bool nofree)
{
    uint64_t state = bcri_load(&place->cell->t.state);
    uint64_t old = 0;
    int result;
    if (state == (place->open | BCRI_CELL_HIGH) || state == (place->open | BCRI_CELL_LOW))
        result = put_under_mark(ctx, place, region, write, nofree, &old);
    else
        result = bcri_why_not_fast(place, state);
    return put_end(ctx, place, slot, nofree, result, old);
}

int bcri_put_fast(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region, struct bcri_slot_shm *slot,
                  bool write, bool nofree)
{
    const struct bcri_id id = {.slot = slot, .ref = nofree ? BCRI_REF_NONE : bcri_slot_ref(ctx, slot)};
    return put_fast(ctx, place, region, &id, write, nofree);
}
