/* SPDX-License-Identifier: MIT */
/* The fast gets' rarer parts: get_fast.h. */
#include "get_fast.h"

#include "bcri/bell.h"
#include "bcri/heap.h"
#include "bcri/summons.h"

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

/* Only this CCE allocates from its heap, so what is possible here
 * is possible when bcri_region_own does it. */
bool bcri_copy_fits(struct bcri_ctx *ctx, const struct bcri_region_shm *header)
{
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
    return header != NULL && (want != BCRI_WANT_LOCK || bcri_load_acquire(&header->count) == BCRI_COUNT_ONE ||
                              bcri_copy_fits(ctx, header));
}

int bcri_read_entry(struct bcri_ctx *ctx, uint64_t ticket, bcri_ref region,
                    const struct bcri_region_shm *header, struct bcri_slot_shm *slot)
{
    bcri_store(&ctx->journal->region, region);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 1);
    int error = bcri_region_hold(ctx, region, 1);
    if (error != 0)
        return error;
    make_live(slot, region, header);
    bcri_count_settled(ctx);
    return 0;
}

int bcri_wait_by_ticket(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, uint64_t ticket,
                        struct bcri_slot_shm *slot, uint32_t flags)
{
    struct bcri_head_shm *h = &place->cell->h;
    if (bcri_load(&h->waiter[ticket % BCRI_TICKETS]) != 0)
        return BCRI_GO_SLOW;
    bcri_ref slot_ref = bcri_slot_ref(ctx, slot);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 4 | flags);
    bcri_store(&slot->cell, place->ref);
    bcri_store(&slot->key, ticket);
    /* Which cell, and the epoch that the put of this ticket will make: a slow one would move the request to the list first. */
    bcri_store(&slot->prev, place->open | ((uint32_t)ticket + 1 + bcri_load(&place->cell->c.direct)));
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

static bool full_at_head(const struct bcri_place *place)
{
    uint64_t head = bcri_load(&place->cell->h.head);
    uint64_t entry = bcri_load_acquire(&place->cell->ring[head & place->mask]);
    return bcri_entry_lap(entry) == bcri_lap(head, place->ring_log2);
}

/* How many are queued, as far as it can be known without the tail lock: a put at this moment may count as one that comes
 * later. One that has stored its entry and not yet moved the tail counts. */
static uint64_t queued(const struct bcri_place *place)
{
    uint64_t head = bcri_load(&place->cell->h.head);
    uint64_t tail = bcri_load_acquire(&place->cell->t.tail);
    if (!full_at_head(place))
        return 0;
    return tail > head ? tail - head : 1;
}

/* One that finds nothing in its time has, too. */
static bool has_summoned(int result)
{
    return result == 0 || result == BCRI_WAITS || result == bcrE_TIMEOUT;
}

/* Under H and the lock of the owner's queue, if there is room in its ring. */
static int get_and_summon(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, bool wait,
                          struct bcri_slot_shm *slot)
{
    struct bcri_summons_shm *queue = &place->record->summons;
    bcri_prefetch_write(bcri_summons_word(queue, bcri_load(&queue->written)));
    if (!bcri_summons_try(ctx, place))
        return BCRI_GO_SLOW;
    bcri_summons_note_written(ctx, place);
    int result = get_at_head(ctx, place, want, wait, slot, BCRI_PHASE_SUMMONS);
    if (result == bcrE_TIMEOUT)
        bcri_journal_phase(ctx, BCRI_PHASE_SUMMONS);
    const bool done = has_summoned(result);
    if (done)
        bcri_summons_write(queue, place, bcri_current_cpu(), BCRI_REF_NONE);
    bcri_summons_let_go(ctx, place, done);
    return result;
}

/* One that has to wait where additions summon takes both locks: a put there need not look whether somebody waits by ticket
 * (put.c). With such a mark the putters' line is left alone. */
int bcri_get_marked(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, bool wait,
                    struct bcri_slot_shm *slot)
{
    uint64_t state = bcri_load(&place->cell->h.state);
    if (state == (place->open | BCRI_CELL_HIGH)) {
        if (!wait || full_at_head(place))
            return get_at_head(ctx, place, want, wait, slot, 0);
        return BCRI_GO_SLOW;
    }
    if (state != (place->open | BCRI_CELL_LOW))
        return bcri_why_not_fast(place, state);
    if (!bcri_get_summons(place, queued(place), want != BCRI_WANT_READ))
        return get_at_head(ctx, place, want, wait, slot, 0);
    void *own = bcri_summons_own(ctx, place);
    if (own == NULL)
        return get_and_summon(ctx, place, want, wait, slot);
    int result = get_at_head(ctx, place, want, wait, slot, 0);
    if (has_summoned(result))
        ctx->upward->summon(ctx, own);
    return result;
}
