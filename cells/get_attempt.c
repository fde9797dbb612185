/* SPDX-License-Identifier: MIT */
/* The attempt of a get under the head lock: the first thing that the resume tier does (tiers.h). It
 * gets also where the region has other holders and where the get meets a watermark, and makes a get
 * that has to wait a waiter for the ticket at the head. get_steps.h has the journal. */
#include "bcri/get.h"

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/own.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/tiers.h"
#include "bcri/waiters.h"
#include "bcri/wakefd.h"
#include "get_steps.h"

/* Model: cell.inc */
static enum bcri_attempt read_shared(struct bcri_ctx *ctx, uint64_t ticket, bcri_ref region,
                                     const struct bcri_region_shm *header, struct bcri_slot_shm *slot)
{
    bcri_store(&ctx->journal->region, region);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 1);
    const int error = bcri_region_hold(ctx, region, 1);
    if (bcri_unlikely(error != 0))
        return error == bcrE_TIMEOUT ? BCRI_TRY_TIME_UP : BCRI_TRY_NO_MEMORY;
    make_live(slot, region, header);
    bcri_count_committed(ctx);
    return BCRI_TRY_DONE;
}

/* Model: cell.inc */
static enum bcri_attempt wait_by_ticket(struct bcri_ctx *ctx, const struct bcri_get *get, uint64_t ticket,
                                        uint32_t flags)
{
    const struct bcri_resolved *const resolved = get->resolved;
    struct bcri_head_shm *const h = &resolved->cell->h;
    struct bcri_slot_shm *const slot = get->slot;
    if (bcri_load(&h->waiter[ticket % BCRI_TICKETS]) != 0)
        return BCRI_TRY_BOTH_LOCKS;
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 4 | flags);
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->key, ticket);
    /* Which cell, and the epoch that the put of this ticket will make: a slow put would move the
     * request to the list first. */
    bcri_store(&slot->prev, resolved->open | ((uint32_t)ticket + 1 + bcri_load(&resolved->cell->c.direct)));
    bcri_store(&slot->kind, bcri_request_kind(ctx, get->want));
    bcri_store(&slot->data, 0);
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_TICKET, 0, 0));
    bcri_step();
    bcri_store(&h->waiter[ticket % BCRI_TICKETS], (ticket & 0xffffu) << 48 | get->slot_ref);
    bcri_step();
    bcri_store_release(&h->head, ticket + 1);
    bcri_step();
    return BCRI_TRY_WAITS;
}

/* Whether the entry of `ticket` is full. */
static bool is_full(const struct bcri_resolved *resolved, uint64_t ticket, uint64_t *entry_out)
{
    *entry_out = bcri_load_acquire(bcri_ring_at(resolved, ticket));
    return bcri_entry_is(*entry_out, ticket, resolved->ring_log2);
}

static enum bcri_attempt get_full(struct bcri_ctx *ctx, const struct bcri_get *get, uint64_t ticket,
                                  uint64_t entry, uint32_t flags)
{
    const enum bcri_want want = get->want;
    const bcri_ref region = entry & BCRI_REF_MASK;
    struct bcri_region_shm *const header = bcri_at(ctx, region);
    /* A taker will change the region's count or its data: claim the line at once, not first for
     * reading. */
    if (want != BCRI_WANT_READ)
        bcri_prefetch_write(header);
    if (bcri_unlikely(header == NULL))
        return BCRI_TRY_NO_MEMORY;
    if (bcri_unlikely(bcri_lacks_copy(ctx, want, header)))
        return BCRI_TRY_BOTH_LOCKS; /* which fails, and says why */
    if (want == BCRI_WANT_READ && bcri_load_acquire(&header->count) != BCRI_COUNT_ONE)
        return read_shared(ctx, ticket, region, header, get->slot);
    if (want == BCRI_WANT_READ) {
        read_alone(ctx, region, header, get->slot);
    } else {
        look_ahead(ctx, get->resolved, ticket);
        take_entry(ctx, get->resolved->cell, want, ticket, region, header, get->slot, flags);
    }
    return BCRI_TRY_DONE;
}

/* `flags`: to be set beside the journal phase.
 * Model: ticket.pml */
static enum bcri_attempt get_at_head(struct bcri_ctx *ctx, const struct bcri_get *get, uint32_t flags)
{
    const struct bcri_resolved *const resolved = get->resolved;
    const uint64_t ticket = bcri_load(&resolved->cell->h.head);
    uint64_t entry;
    const bool full = is_full(resolved, ticket, &entry);
    const bool puts_wait = bcri_load_acquire(&resolved->area->waitputs) != 0;
    if (bcri_unlikely(puts_wait) && (!full || get->want != BCRI_WANT_READ))
        return BCRI_TRY_BOTH_LOCKS;
    if (full)
        return get_full(ctx, get, ticket, entry, flags);
    if (get->msec == 0)
        return BCRI_TRY_EMPTY;
    /* The agent, which may wait for many regions, and a CCE that sleeps in a poll wait in lists only: those ring it. */
    return get->want == BCRI_WANT_READ || ctx->daemon.parks || bcri_wakefd_exists(ctx)
               ? BCRI_TRY_BOTH_LOCKS
               : wait_by_ticket(ctx, get, ticket, flags);
}

/* How many regions are queued, as far as that can be known without the tail lock: a put at this
 * moment may count as one that comes later. A put that has stored its entry and not yet moved the
 * tail counts. */
static uint64_t queued(const struct bcri_resolved *resolved)
{
    const uint64_t head = bcri_load(&resolved->cell->h.head);
    const uint64_t tail = bcri_load_acquire(&resolved->cell->t.tail);
    uint64_t entry;
    if (!is_full(resolved, head, &entry))
        return 0;
    return tail > head ? tail - head : 1;
}

/* Whether a get that met the watermark has requested the handler. A get that finds nothing in its
 * time has, too. A read that is done has not: it has found something after all. */
static bool has_requested(enum bcri_want want, enum bcri_attempt result)
{
    return (result == BCRI_TRY_DONE && want != BCRI_WANT_READ) || result == BCRI_TRY_WAITS ||
           result == BCRI_TRY_EMPTY;
}

/* Model: handler_request.pml */
static enum bcri_attempt get_and_request(struct bcri_ctx *ctx, const struct bcri_get *get)
{
    struct bcri_resolved *const resolved = get->resolved;
    struct bcri_tail_shm *const t = &resolved->cell->t;
    const uint64_t requests = bcri_load(&t->requests);
    bcri_prefetch_write(&resolved->record->requests.news);
    bcri_store(&ctx->journal->old, requests);
    const enum bcri_attempt result = get_at_head(ctx, get, BCRI_PHASE_REQUESTS);
    if (result == BCRI_TRY_EMPTY)
        bcri_journal_phase(ctx, BCRI_PHASE_REQUESTS);
    if (has_requested(get->want, result)) {
        bcri_store(&t->requests, requests + 1);
        bcri_step();
        bcri_requests_told(ctx, resolved, true);
    }
    return result;
}

/* In a cell whose watermark is HIGH, a get that has to wait takes both locks, so that a putter
 * there need not look whether a get waits by ticket (is_due in put_attempt.c). Gets that find something do
 * not touch the putters' line and go on as in an open cell; open_head lets the fast tier do the
 * next ones.
 * Model: ticket.pml */
static enum bcri_attempt get_under_head(struct bcri_ctx *ctx, const struct bcri_get *get)
{
    struct bcri_resolved *const resolved = get->resolved;
    const uint64_t state = bcri_load(&resolved->cell->h.state);
    uint64_t entry;
    if (bcri_unlikely(state != resolved->open_head) && (state & ~(uint64_t)BCRI_CELL_HIGH) == resolved->open)
        resolved->open_head = state;
    if (bcri_likely(state == resolved->open))
        return get_at_head(ctx, get, 0);
    if (state == (resolved->open | BCRI_CELL_HIGH))
        return get->msec == 0 || is_full(resolved, bcri_load(&resolved->cell->h.head), &entry)
                   ? get_at_head(ctx, get, 0)
                   : BCRI_TRY_BOTH_LOCKS;
    if (state != (resolved->open | BCRI_CELL_LOW))
        return bcri_why_not_open(resolved, state);
    return bcri_get_requests(resolved, queued(resolved), get->want != BCRI_WANT_READ)
               ? get_and_request(ctx, get)
               : get_at_head(ctx, get, 0);
}

/* Model: death.pml */
enum bcri_attempt bcri_get_attempt(struct bcri_ctx *ctx, const struct bcri_get *get, enum bcri_held held)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): bcri_order_get never returns 0 */
    struct bcri_head_shm *const h = &get->resolved->cell->h;
    if (held == BCRI_HOLDS_NOTHING)
        get_open(ctx, get->resolved, get->want, get->slot_ref);
    if (held != BCRI_HOLDS_LOCK && bcri_unlikely(!bcri_lock_within(ctx, &h->lock, get->msec))) {
        bcri_journal_close(ctx);
        return BCRI_TRY_TIME_UP;
    }
    const enum bcri_attempt result = get_under_head(ctx, get);
    if (bcri_unlikely(result == BCRI_TRY_STALE))
        bcri_unlock_stale(ctx, &h->lock);
    else
        bcri_unlock(ctx, &h->lock);
    bcri_journal_close(ctx);
    return result;
}
