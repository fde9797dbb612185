/* SPDX-License-Identifier: MIT */
/* The fast puts: one lock, a handful of stores, no atomic instruction but the lock's. Inline, since the public routine is
 * little else.
 *
 * Journal: PUT; cell, region, slot (the ID that ends with the put; none with nofree).
 *   phase 0   nothing has happened, or: the tail lock is held; with nofree the cell's own hold may be counted (aux HELD)
 *   phase 1   ticket is written down; about to store the entry. Done if the tail lock is no longer ours, or else if the
 *             entry carries the ticket's lap tag and the region: nobody else can have stored it, and what stood there was of
 *             the lap before. Left, once done: the tail, release, ring a sleeper that `old` names, free the ID.
 * Flags beside the phase: GIVES (not nofree), RINGS (`old` is the mark of a sleeper), SUMMONS.
 *
 * A marked cell (mark.h) is not what place->open says; bcri_put_marked does the same there under the same lock. If the put is due
 * to summon, it takes the lock of the owner's queue before anything is done, says in aux SUMMONS whose queue and how many
 * were written to it, stores entry and tail, then the summons, `written`, and lets go. Repair: the put is done, the lock of
 * the queue is still the dead one's and `written` is what aux says: it writes the summons.
 *
 * A write of an empty queue is a put. The tail lock is enough to know that it stays empty: nobody else adds, and takers only
 * move on; a cell with regions anywhere but in its ring is not fast.
 *
 * Line transfers of a hand-over to a waiting taker: the entry's line (claimed here, fetched there) and the region's own;
 * T stays with the putters, H with the takers. */
#ifndef BCR_PUT_FAST_H
#define BCR_PUT_FAST_H

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/flow.h"
#include "bcri/ids.h"
#include "bcri/lock.h"
#include "bcri/region.h"

/* put.c: how far the tail may go, from what the takers have left behind. Under T. */
uint64_t bcri_fresh_limit(struct bcri_ctx *ctx, struct bcri_place *place);

/* put.c: whether there are marks of sleepers yet, the next ticket being `tail`. Under T. */
void bcri_look_for_marks(struct bcri_place *place, uint64_t tail);

/* put.c: lets go of T and ends a put that has not been done. Returns `result`. */
int bcri_put_refused(struct bcri_ctx *ctx, struct bcri_place *place, int result);

/* put.c: the rest of a fast put, T being held, where the state there is not place->open. */
int bcri_put_marked(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region,
                    struct bcri_slot_shm *slot, bool write, bool nofree);

/* Stores region at ticket `t`, whose entry is `ring`, with the tail lock held. `old`: the mark of whom to ring, or anything else. `cpu_kept`: by the
 * kernel (bell.h), as the caller knows. */
BCRI_INLINE void store_entry(struct bcri_ctx *ctx, const struct bcri_place *place, struct bcri_cell_shm *cell,
                             uint64_t t, _Atomic uint64_t *ring, bcri_ref region, bool cpu_kept, uint64_t old,
                             uint32_t phase)
{
    struct bcri_journal_shm *const j = ctx->journal;
    if (bcri_unlikely(bcri_entry_lap(old) == BCRI_ENTRY_SLEEP)) {
        bcri_store(&j->old, old);
        phase |= BCRI_PHASE_RINGS;
    }
    bcri_store(&j->ticket, t);
    bcri_step();
    bcri_store(&j->phase, phase);
    bcri_step();
    const uint32_t cpu = cpu_kept ? (uint32_t)bcri_kept_cpu() : bcri_current_cpu();
    bcri_store_release(ring, bcri_entry(bcri_lap(t, place->ring_log2), cpu, region));
    bcri_step();
    bcri_store_release(&cell->t.tail, t + 1);
}

/* A write of a queue that was found empty needs one credit and the entry, of which only the ticket of the lap before could
 * still be read: so the limit can be at least this, if its waiter is gone. Cells for locks have one credit and ask with every
 * put; and `write` has the takers' line here anyway. Else 0. */
BCRI_INLINE uint64_t limit_of_empty(const struct bcri_cell_shm *cell, uint64_t tail)
{
    return bcri_load(&cell->t.credits) != 0 && bcri_load_acquire(&cell->h.waiter[tail % BCRI_TICKETS]) == 0
               ? tail + 1
               : 0;
}

/* Whether a put may go through the ring at `tail`. */
BCRI_INLINE int look_at_tail(struct bcri_ctx *ctx, struct bcri_place *place, uint64_t tail, bool write)
{
    struct bcri_tail_shm *t = &place->cell->t;
    if (write && bcri_unlikely(bcri_load_acquire(&place->cell->h.head) < tail))
        return BCRI_GO_SLOW;
    if (bcri_unlikely(tail >= bcri_load(&t->limit))) {
        uint64_t limit = write ? limit_of_empty(place->cell, tail) : 0;
        if (limit == 0)
            limit = bcri_fresh_limit(ctx, place);
        bcri_store(&t->limit, limit);
        if (tail >= limit)
            return BCRI_NO_ROOM;
    }
    /* Room, if there is any, belongs to the puts that wait for it; a waiting ticket needs none. */
    return bcri_unlikely(bcri_load_acquire(&place->area->waitputs) != 0) ? BCRI_GO_SLOW : 0;
}

/* The same without a call, and also whether nobody sleeps. False: look_at_tail tells. */
BCRI_INLINE bool is_straight(const struct bcri_place *place, struct bcri_cell_shm *cell, uint64_t tail,
                             bool write)
{
    struct bcri_tail_shm *const t = &cell->t;
    if (bcri_unlikely(bcri_load(&t->state) != place->open) ||
        (write && bcri_unlikely(bcri_load_acquire(&cell->h.head) < tail)))
        return false;
    if (bcri_unlikely(tail >= bcri_load(&t->limit))) {
        const uint64_t limit = write ? limit_of_empty(cell, tail) : 0;
        if (limit == 0)
            return false;
        bcri_store(&t->limit, limit);
    }
    return bcri_likely(bcri_load_acquire(&place->area->waitputs) == 0 && bcri_load(&t->sleeps) == 0);
}

BCRI_INLINE int under_tail(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region, bool write,
                           bool nofree, uint64_t *old_out)
{
    uint64_t tail = bcri_load(&place->cell->t.tail);
    int error = look_at_tail(ctx, place, tail, write);
    if (bcri_unlikely(error != 0))
        return error;
    if (nofree && (error = bcri_cell_hold(ctx, region)) != 0)
        return error;
    _Atomic uint64_t *const ring = &place->cell->ring[tail & place->mask];
    const bool sleeps = bcri_unlikely(bcri_load(&place->cell->t.sleeps) != 0);
    const uint64_t old = sleeps ? bcri_load(ring) : 0;
    store_entry(ctx, place, place->cell, tail, ring, region, false, old, nofree ? 1 : 1 | BCRI_PHASE_GIVES);
    if (sleeps)
        bcri_look_for_marks(place, tail + 1);
    *old_out = old;
    return 0;
}

/* The rest of a put that is done, and that has let go of T: the ID, if it gives, and the journal. */
BCRI_INLINE void put_done(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bool nofree)
{
    ctx->waits_in_row = 0;
    if (!nofree) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
    }
    bcri_journal_close(ctx);
}

/* Lets go of T and ends the put. */
BCRI_INLINE int put_end(struct bcri_ctx *ctx, struct bcri_place *place, struct bcri_slot_shm *slot,
                        bool nofree, int result, uint64_t old)
{
    if (bcri_unlikely(result != 0))
        return bcri_put_refused(ctx, place, result);
    bcri_unlock(ctx, &place->cell->t.lock);
    if (bcri_unlikely(bcri_entry_lap(old) == BCRI_ENTRY_SLEEP))
        bcri_bell_ring_index(ctx, (uint32_t)old, place->ref);
    put_done(ctx, slot, nofree);
    return 0;
}

/* Opens the journal of a put. */
BCRI_INLINE void put_open(struct bcri_ctx *ctx, const struct bcri_place *place, bcri_ref region,
                          const struct bcri_id *id, bool nofree)
{
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->cell, place->ref);
    bcri_store(&j->region, region);
    bcri_store(&j->slot, nofree ? BCRI_REF_NONE : id->ref);
    if (nofree)
        bcri_store(&j->aux[BCRI_AUX_HELD], BCRI_HELD_NOT);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(BCRI_OP_PUT, nofree ? 0 : BCRI_PHASE_GIVES));
    bcri_step();
}

/* What a put does from there on that it has T. */
BCRI_INLINE int put_locked(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region,
                           struct bcri_slot_shm *slot, bool write, bool nofree)
{
    if (bcri_unlikely(bcri_load(&place->cell->t.state) != place->open))
        return bcri_put_marked(ctx, place, region, slot, write, nofree);
    uint64_t old = 0;
    int result = under_tail(ctx, place, region, write, nofree, &old);
    return put_end(ctx, place, slot, nofree, result, old);
}

BCRI_INLINE int put_fast(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref region,
                         const struct bcri_id *id, bool write, bool nofree)
{
    struct bcri_tail_shm *t = &place->cell->t;
    bcri_prefetch_write(&place->cell->ring[bcri_load(&t->tail) & place->mask]);
    put_open(ctx, place, region, id, nofree);
    if (bcri_unlikely(!bcri_lock_try(ctx, &t->lock)) &&
        bcri_unlikely(!bcri_lock_slow_within(ctx, &t->lock, ctx->putwait_msec))) {
        bcri_journal_close(ctx);
        return bcrE_FULL;
    }
    return put_locked(ctx, place, region, id->slot, write, nofree);
}

#endif
