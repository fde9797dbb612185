/* SPDX-License-Identifier: MIT */
/* What a get stores under the head lock, inline in the fast tier (get.c) and in the attempt of the
 * resume tier (get_attempt.c). It touches the head line, the first entry, and no other line of the
 * cell.
 *
 * Journal: TAKE; cell, slot, then under H region and ticket.
 *   phase 0   Nothing has happened yet. The taker may hold H.
 *   phase 1   The taker is about to take `ticket`: head = ticket + 1, slot word = LIVE. The take is
 *             done if and only if the slot is LIVE. If it is not, repair puts the region back in
 *             front; it must not lower head, since fresh_limit (put_attempt.c) relies on it.
 *   phase 4   The taker is about to wait by `ticket`: slot, waiter[], head = ticket + 1. Repair
 *             undoes this while the dead taker has H; once H is released, the slot's own state
 *             (TICKET) says that it waits. (Phases 2 and 3 are bcri_get_slow's: done, listed.)
 *   Flag beside the phase: LOCKS, a write lock; if the take is done, repair makes sure that the
 *   lock owner is stored (take_epoch).
 *   Flag REQUESTS (of READ, too): the get meets the cell's watermark; `old` is the cell's count of
 *   requests before it. The request is due with phase 0 as soon as the flag is set, since the get
 *   has found nothing; with phase 4 likewise, since it has begun to wait; with phase 1 if the get
 *   is done. While the dead getter still has the head lock, repair counts the request if it is not
 *   counted, tells the owner and rings it (handler_request.h).
 * READ; the same fields.
 *   phase 1   The reader is about to count one more holder (cw_*), then to set slot word = LIVE. If
 *             the holder is counted and the slot is not LIVE, repair makes it LIVE, and the walk
 *             over the dead reader's IDs drops the hold.
 *   Flag SOLE: the cell alone held the region. Then nobody else changes the count while H is held,
 *   the new count is 2, and it needs no count journal: if the slot is not LIVE and the dead reader
 *   still has H, repair stores the count (again) and makes the slot LIVE. */
#ifndef BCRI_GET_STEPS_H
#define BCRI_GET_STEPS_H

#include "bcri/cell.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"

BCRI_INLINE void make_live(struct bcri_slot_shm *slot, bcri_ref region, const struct bcri_region_shm *header)
{
    /* bcri_header_data without a look at the segment: the header lies in the same one. */
    bcri_store(&slot->data,
               (uintptr_t)header + (uintptr_t)((uint64_t)header->data_16 * 16 - bcri_ref_offset(region)));
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_step();
}

/* A taker that takes the first region of a line of entries will probably take the others, too. It
 * prefetches their headers. */
BCRI_INLINE bool is_first_of_line(uint64_t ticket)
{
    return bcri_unlikely(ticket % (BCRI_CACHELINE / sizeof(uint64_t)) == 0);
}

BCRI_INLINE void look_ahead(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved, uint64_t ticket)
{
    const uint64_t per_line = BCRI_CACHELINE / sizeof(uint64_t);
    if (!is_first_of_line(ticket))
        return;
    const _Atomic uint64_t *entry = bcri_ring_at(resolved, ticket);
    const uint64_t lap = bcri_lap(ticket, resolved->ring_log2);
    for (unsigned i = 1; i < per_line; i++) {
        uint64_t next = bcri_load(&entry[i]);
        const struct bcri_mapping *map = &ctx->map[bcri_ref_seg(next)];
        if (bcri_entry_lap(next) != lap)
            break;
        if (bcri_likely((uint32_t)next < map->units))
            bcri_prefetch_write(map->base + bcri_ref_offset(next));
    }
}

/* Model: cell.inc */
BCRI_INLINE void take_entry(struct bcri_ctx *ctx, struct bcri_cell_shm *cell, enum bcri_want want,
                            uint64_t ticket, bcri_ref region, const struct bcri_region_shm *header,
                            struct bcri_slot_shm *slot, uint32_t flags)
{
    struct bcri_head_shm *const h = &cell->h;
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->region, region);
    bcri_store(&j->ticket, ticket);
    uint32_t epoch = 0;
    if (want == BCRI_WANT_LOCK) {
        epoch = bcri_epoch_taking(cell, ticket);
        bcri_store(&j->take_epoch, epoch);
        bcri_note_locks(ctx);
    }
    bcri_step();
    bcri_store(&j->phase, (want == BCRI_WANT_LOCK ? 1 | BCRI_PHASE_LOCKS : 1) | flags);
    bcri_step();
    bcri_store_release(&h->head, ticket + 1);
    bcri_step();
    make_live(slot, region, header);
    if (want == BCRI_WANT_LOCK) {
        /* No CCE has taken a region that was put later, so no lock owner is newer than this. */
        bcri_store(&h->taker_epoch, epoch);
        bcri_store(&h->taker, ctx->tag);
    }
}

/* Model: cell.inc, count.pml */
BCRI_INLINE void read_alone(struct bcri_ctx *ctx, bcri_ref region, struct bcri_region_shm *header,
                            struct bcri_slot_shm *slot)
{
    struct bcri_journal_shm *j = ctx->journal;
    bcri_store(&j->region, region);
    bcri_step();
    bcri_store(&j->phase, 1 | BCRI_PHASE_SOLE);
    bcri_step();
    bcri_store(&header->count, BCRI_COUNT_WORD(2, 0));
    bcri_step();
    make_live(slot, region, header);
}

/* Opens the journal of a get.
 * Model: death.pml */
BCRI_INLINE void get_open(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, enum bcri_want want,
                          bcri_ref slot_ref)
{
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->cell, resolved->ref);
    bcri_store(&j->slot, slot_ref);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(want == BCRI_WANT_READ ? BCRI_OP_READ : BCRI_OP_TAKE, 0));
    bcri_step();
}

#endif
