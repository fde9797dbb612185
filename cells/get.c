/* SPDX-License-Identifier: MIT */
/* The fast gets: the head lock, the first entry, and no other line of the cell.
 *
 * Journal: TAKE; cell, slot, then under H region and ticket.
 *   phase 0   nothing has happened, or: H is held
 *   phase 1   about to take `ticket`: head = ticket + 1, slot word = LIVE. Done if and only if the slot is LIVE; else
 *             repair puts the region back in front (head itself may not be lowered: put.c's limit counts on it).
 *   phase 4   about to wait by `ticket`: slot, waiter[], head = ticket + 1. Undone from here while H is held; once it is
 *             released the slot's own state (TICKET) says that it waits. (2 and 3 are slow.c's: done, listed.)
 *   aux TAKER 1: a write lock; if done, repair makes sure of the taker's mark.
 * READ; the same fields.
 *   phase 1   about to count one more holder (cw_*), then slot word = LIVE. Counted and not LIVE: repair makes it LIVE, and
 *             the walk over the dead one's IDs drops it. */
#include "bcr/error.h"
#include "bcri/flow.h"
#include "bcri/heap.h"
#include "bcri/lock.h"
#include "bcri/region.h"

static inline void make_live(const struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref region,
                             const struct bcri_region_shm *header)
{
    bcri_store(&slot->data, bcri_header_data(ctx, region, header));
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_step();
}

void bcri_mark_taker(struct bcri_place *place, uint32_t tag, uint32_t epoch)
{
    struct bcri_head_shm *h = &place->cell->h;
    /* Somebody may have put, or taken what was put later, before this region was collected. */
    if (bcri_epoch_past(bcri_epoch(place->cell), epoch) ||
        (bcri_load(&h->taker) != 0 && bcri_epoch_past((uint32_t)bcri_load(&h->taker_epoch), epoch)))
        return;
    bcri_store(&h->taker_epoch, epoch);
    bcri_store(&h->taker, tag);
}

/* Whether a private copy of `region` could be made now. Only this CCE allocates from its heap, so what is possible here
 * is possible when bcri_region_own does it. */
static bool copy_fits(struct bcri_ctx *ctx, const struct bcri_region_shm *header)
{
    if (bcri_load_acquire(&header->count) == BCRI_COUNT_ONE)
        return true;
    bcri_ref ref;
    struct bcri_region_shm *copy;
    if (bcri_heap_alloc(ctx, header->length, header->archtype, &ref, &copy) != 0)
        return false;
    bcri_heap_free(ctx, ref, copy);
    return true;
}

bool bcri_take_allowed(struct bcri_ctx *ctx, enum bcri_want want, bcri_ref region)
{
    const struct bcri_region_shm *header = bcri_at(ctx, region);
    return header != NULL && (want != BCRI_WANT_LOCK || copy_fits(ctx, header));
}

BCRI_INLINE int take_entry(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want,
                           uint64_t ticket, bcri_ref region, const struct bcri_region_shm *header,
                           struct bcri_slot_shm *slot)
{
    struct bcri_head_shm *h = &place->cell->h;
    bcri_store(&ctx->journal->region, region);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_store(&ctx->journal->aux[BCRI_AUX_TAKER], want == BCRI_WANT_LOCK);
    uint32_t epoch = 0;
    if (want == BCRI_WANT_LOCK) {
        epoch = bcri_epoch(place->cell);
        bcri_store(&ctx->journal->aux[BCRI_AUX_EPOCH], epoch);
        bcri_note_locks(ctx);
    }
    bcri_journal_phase(ctx, 1);
    bcri_store_release(&h->head, ticket + 1);
    bcri_step();
    make_live(ctx, slot, region, header);
    if (want == BCRI_WANT_LOCK)
        bcri_mark_taker(place, ctx->tag, epoch);
    return 0;
}

static int read_entry(struct bcri_ctx *ctx, uint64_t ticket, bcri_ref region,
                      const struct bcri_region_shm *header, struct bcri_slot_shm *slot)
{
    bcri_store(&ctx->journal->region, region);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 1);
    int error = bcri_region_hold(ctx, region, 1);
    if (error != 0)
        return error;
    make_live(ctx, slot, region, header);
    bcri_count_settled(ctx);
    return 0;
}

static __attribute__((noinline)) int wait_by_ticket(struct bcri_ctx *ctx, struct bcri_place *place,
                                                    enum bcri_want want, uint64_t ticket,
                                                    struct bcri_slot_shm *slot)
{
    struct bcri_head_shm *h = &place->cell->h;
    if (bcri_load(&h->waiter[ticket % BCRI_TICKETS]) != 0)
        return BCRI_GO_SLOW;
    bcri_ref slot_ref = bcri_slot_ref(ctx, slot);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 4);
    bcri_store(&slot->cell, place->ref);
    bcri_store(&slot->key, ticket);
    /* The epoch that the put of this ticket will make: a slow one would move the request to the list first. */
    bcri_store(&slot->prev, (uint32_t)ticket + 1 + bcri_load(&place->cell->c.direct));
    bcri_store(&slot->kind, bcri_request_kind(ctx, want));
    bcri_store(&slot->data, 0);
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_TICKET, 0, 0));
    bcri_step();
    bcri_store(&h->waiter[ticket % BCRI_TICKETS], (ticket & 0xffffu) << 48 | slot_ref);
    bcri_step();
    bcri_store_release(&h->head, ticket + 1);
    bcri_step();
    return BCRI_WAITS;
}

BCRI_INLINE int under_head(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, bool wait,
                           struct bcri_slot_shm *slot)
{
    struct bcri_head_shm *h = &place->cell->h;
    uint64_t state = bcri_load(&h->state);
    if (bcri_unlikely(state != place->open))
        return state >> 32 == place->open >> 32 && (state & BCRI_CELL_CLOSED) == 0 ? BCRI_GO_SLOW
                                                                                   : BCRI_STALE;
    uint64_t ticket = bcri_load(&h->head);
    uint64_t entry = bcri_load_acquire(&place->cell->ring[ticket & place->mask]);
    bool full = bcri_entry_lap(entry) == bcri_lap(ticket, place->ring_log2);
    if (bcri_unlikely(bcri_load_acquire(&place->area->waitputs) != 0) && want != BCRI_WANT_READ)
        return BCRI_GO_SLOW;
    if (full) {
        bcri_ref region = entry & BCRI_REF_MASK;
        const struct bcri_region_shm *header = bcri_at(ctx, region);
        /* Whoever takes a region will change its count or its data: claim the line at once, not first for reading. */
        if (want != BCRI_WANT_READ)
            bcri_prefetch_write(header);
        if (bcri_unlikely(header == NULL) || (want == BCRI_WANT_LOCK && !copy_fits(ctx, header)))
            return bcrE_NOMEM;
        return want == BCRI_WANT_READ ? read_entry(ctx, ticket, region, header, slot)
                                      : take_entry(ctx, place, want, ticket, region, header, slot);
    }
    if (!wait)
        return bcri_load_acquire(&place->area->waitputs) != 0 ? BCRI_GO_SLOW : bcrE_TIMEOUT;
    return want == BCRI_WANT_READ ? BCRI_GO_SLOW : wait_by_ticket(ctx, place, want, ticket, slot);
}

BCRI_INLINE int get_fast(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, bool wait,
                         struct bcri_slot_shm *slot)
{
    struct bcri_head_shm *h = &place->cell->h;
    bcri_journal_open(ctx, want == BCRI_WANT_READ ? BCRI_OP_READ : BCRI_OP_TAKE, place->ref, BCRI_REF_NONE,
                      bcri_slot_ref(ctx, slot));
    bcri_lock(ctx, &h->lock);
    int result = under_head(ctx, place, want, wait, slot);
    if (bcri_unlikely(result == BCRI_STALE))
        bcri_unlock_stale(ctx, &h->lock);
    else
        bcri_unlock(ctx, &h->lock);
    bcri_journal_close(ctx);
    return result;
}

int bcri_get_fast(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, bool wait,
                  struct bcri_slot_shm *slot)
{
    switch (want) {
    case BCRI_WANT_READ: return get_fast(ctx, place, BCRI_WANT_READ, wait, slot);
    case BCRI_WANT_LOCK: return get_fast(ctx, place, BCRI_WANT_LOCK, wait, slot);
    case BCRI_WANT_TAKE: break;
    }
    return get_fast(ctx, place, BCRI_WANT_TAKE, wait, slot);
}
