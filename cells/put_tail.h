/* SPDX-License-Identifier: MIT */
/* What a put stores under the tail lock: for the fast tier (put.c) and for the attempt of the
 * resume tier (put_attempt.c). One lock, a handful of stores, no atomic instruction but the lock's.
 *
 * Journal: PUT; cell, region, slot (the ID that ends with the put; none with nofree).
 *   phase 0   nothing has happened, or: the tail lock is held; with nofree the cell's own hold may be counted (put_held)
 *   phase 1   ticket is written down; about to store the entry. Done if the tail lock is no longer ours, or else if the
 *             entry carries the ticket's lap tag and the region: nobody else can have stored it, and what stood there was of
 *             the lap before. Left, once done: the tail, release, ring a sleeper that `old` names, free the ID.
 *   phase 2   under both locks: a transaction has done it (queue.c)
 * Flags beside the phase: GIVES (not nofree), RINGS (`old` is the mark of a sleeper), REQUESTS
 * (`old` is what the cell's requests were).
 *
 * A marked cell (watermark.h) is not what resolved->open says; the attempt does the same there
 * under the same lock. If the put meets the mark, it stores entry and tail, then the count, and
 * tells the owner (handler_request.h). Repair: the put is done and the lock still the dead one's:
 * it counts the request if the count is what `old` says, tells the owner and rings it.
 *
 * A write of an empty queue is a put. The tail lock is enough to know that it stays empty: nobody
 * else adds, and takers only move on; a cell with regions anywhere but in its ring is not fast.
 *
 * Line transfers of a hand-over to a waiting taker: the entry's line (claimed here, fetched there)
 * and the region's own; T stays with the putters, H with the takers. */
#ifndef BCR_PUT_TAIL_H
#define BCR_PUT_TAIL_H

#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/journal.h"
#include "bcri/region.h"
#include "bcri/resolved.h"
#include "bcri/slot.h"

/* A write of a queue that was found empty needs one credit and the entry, of which only the ticket
 * of the lap before could still be read: so the limit can be at least this, if its waiter is gone.
 * Cells for locks have one credit and ask with every put; and `write` has the takers' line here
 * anyway. Else 0. */
BCRI_INLINE uint64_t limit_of_empty(const struct bcri_cell_shm *cell, uint64_t tail)
{
    return bcri_load(&cell->t.credits) != 0 && bcri_load_acquire(&cell->h.waiter[tail % BCRI_TICKETS]) == 0
               ? tail + 1
               : 0;
}

/* Stores region at ticket `t`, with the tail lock held. `old`: the mark of whom to ring, or
 * anything else. `cpu_kept`: by the kernel (bell.h), as the caller knows. The ring and the cell are
 * asked of the place where they are needed: held in registers meanwhile they would be what has the
 * fast tier save some. */
BCRI_INLINE void store_entry(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, uint64_t t,
                             bcri_ref region, bool cpu_kept, uint64_t old, uint32_t phase)
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
    const uint64_t entry = bcri_entry(bcri_lap(t, resolved->ring_log2), cpu, region);
    bcri_step();
    bcri_store_release(bcri_ring_at(resolved, t), entry);
    bcri_step();
    bcri_store_release(&resolved->cell->t.tail, t + 1);
}

BCRI_INLINE void put_open(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bcri_ref region,
                          bcri_ref slot_ref, bool nofree)
{
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->cell, resolved->ref);
    bcri_store(&j->region, region);
    bcri_store(&j->slot, nofree ? BCRI_REF_NONE : slot_ref);
    if (nofree)
        bcri_store(&j->put_held, BCRI_HELD_NOT);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(BCRI_OP_PUT, nofree ? 0 : BCRI_PHASE_GIVES));
    bcri_step();
}

/* The put is done and the tail lock free: the ID ends with it, if it gives. */
BCRI_INLINE void put_close(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bool nofree)
{
    ctx->waits_in_row = 0;
    if (!nofree) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
    }
    bcri_journal_close(ctx);
}

#endif
