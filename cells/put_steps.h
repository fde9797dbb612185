/* SPDX-License-Identifier: MIT */
/* What a put stores under the tail lock, inline in the fast tier (put.c) and in the attempt of the
 * resume tier (put_attempt.c): one lock, a handful of stores, no atomic instruction but the lock's.
 *
 * Journal: PUT; cell, region, slot (the ID that ends with the put; none with nofree).
 *   phase 0   Nothing has happened yet. The putter may hold the tail lock; with nofree the cell's
 *             own hold may be counted (put_held).
 *   phase 1   The ticket is written down and the putter is about to store the entry. The put is
 *             done if the putter no longer has the tail lock, or if the entry carries the ticket's
 *             lap tag and the region: no other CCE can have stored it, and what was there before
 *             had the tag of the lap before. If the put is done, repair moves the tail, releases
 *             the lock, rings the sleeper that `old` names and frees the ID.
 *   phase 2   Under both locks: a transaction has done the put (bcri_put_slow).
 * Flags beside the phase: GIVES (not nofree), RINGS (`old` is the sleep flag that the entry
 * carried), REQUESTS (`old` is the cell's count of requests before the put).
 *
 * A put that meets a watermark stores entry and tail, then the count, and tells the owner
 * (handler_request.h). If the putter dies after the put is done and before it has released the
 * lock, repair counts the request if the count still is what `old` says, tells the owner and rings
 * it.
 *
 * A hand-over to a waiting taker moves two lines: the entry's (claimed by the putter, fetched by
 * the taker) and the region's own. T stays with the putters, H with the takers. */
#ifndef BCRI_PUT_STEPS_H
#define BCRI_PUT_STEPS_H

#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/slot.h"

/* The limit for a write at `tail` to a queue that was found empty: at least tail + 1, if the cell
 * has a credit and no waiter of an earlier lap may still read the entry; else 0. Such a write is a
 * put: the tail lock is enough to know that the queue stays empty, since no other CCE adds, and
 * takers only move on; a cell with regions outside its ring is not fast. Cells for locks have one
 * credit and come here with every put. The write has read the takers' line already, so looking at
 * it costs nothing here.
 * Model: ticket.pml */
BCRI_INLINE uint64_t limit_of_empty(const struct bcri_cell_shm *cell, uint64_t tail)
{
    return bcri_load(&cell->t.credits) != 0 && bcri_load_acquire(&cell->h.waiter[tail % BCRI_TICKETS]) == 0
               ? tail + 1
               : 0;
}

/* Stores `region` at ticket `t`, with the tail lock held. `old`: the sleep flag of the waiter to
 * ring, or any other value. `cpu_kept`: the caller knows that the kernel keeps this thread's CPU
 * number up to date (bell.h). Ring and cell are read from `resolved` only where they are needed:
 * held in registers meanwhile they would force the fast tier to save some.
 * Model: cell.inc */
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

/* Model: death.pml */
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

/* Closes a put that is done, when the tail lock is free: unless nofree, the ID ends with it.
 * Model: death.pml */
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
