/* SPDX-License-Identifier: MIT */
/* The fast puts' rarer parts: put_fast.h. */
#include "put_fast.h"

#include "bcri/slow.h"

/* head is read before the waiters: a ticket below it has its waiter entry in place, or has been collected.
 * A cell that has not had its share of the area's credits takes it now: without credits every put would come here, and
 * carry the takers' line back and forth. */
uint64_t bcri_fresh_limit(struct bcri_ctx *ctx, struct bcri_place *place)
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
    if (head + credits < by_ring && credits < bcri_credits_share(place) &&
        bcri_credits_from_pool(ctx, place, true))
        credits = bcri_load(&place->cell->t.credits);
    return by_ring < head + credits ? by_ring : head + credits;
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

int bcri_put_fast(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region, struct bcri_slot_shm *slot,
                  bool write, bool nofree)
{
    return put_fast(ctx, place, region, slot, write, nofree);
}
