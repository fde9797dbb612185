/* SPDX-License-Identifier: MIT */
/* The attempt of a put under the tail lock: the first thing that the resume tier does (tiers.h). It
 * puts also where a waiter sleeps at the ticket, where the put meets a watermark, where the limit is
 * to be computed anew, and with nofree. put_steps.h has the journal.
 *
 * The state of a cell with a watermark (watermark.h) differs from resolved->open, so only the
 * attempt serves it, under the same lock. */
#include "bcri/put.h"

#include "bcri/addition.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/credits.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/tiers.h"
#include "bcri/watermark.h"
#include "put_steps.h"

/* The lowest ticket that has a waiter; at most head. */
static uint64_t oldest_waiting(const struct bcri_head_shm *h, uint64_t head)
{
    uint64_t low = head;
    for (uint32_t i = 0; i < BCRI_TICKETS; i++) {
        uint64_t waiter = bcri_load_acquire(&h->waiter[i]);
        if (waiter == 0)
            continue;
        /* A get that registers at this moment may have a ticket from `head` on. */
        uint64_t ticket = head + BCRI_TICKETS - ((head + BCRI_TICKETS - (waiter >> 48)) & 0xffffu);
        if (ticket < low)
            low = ticket;
    }
    return low;
}

/* Computes the limit anew. head is read before the waiters: a ticket below head has its waiter
 * entry in place, or has been collected. A cell without its share of the area's credits takes them
 * now: without credits every put would come here, and carry the takers' line back and forth.
 * Model: cell.inc, putwait.pml */
static uint64_t fresh_limit(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    const struct bcri_head_shm *h = &resolved->cell->h;
    uint64_t head = bcri_load_acquire(&h->head);
    uint64_t low = head;
    uint64_t any = 0;
    for (uint32_t i = 0; i < BCRI_TICKETS; i++)
        any |= bcri_load_acquire(&h->waiter[i]);
    if (bcri_unlikely(any != 0))
        low = oldest_waiting(h, head);
    uint64_t by_ring = low + bcri_ring_entries(resolved);
    uint64_t credits = bcri_load(&resolved->cell->t.credits);
    /* A cell for a lock has one credit and comes here with every put. The pool, which is empty
     * then, is looked at before the share, which costs a division. */
    if (head + credits < by_ring && bcri_load(&resolved->area->pool) != 0 &&
        credits < bcri_credits_share(resolved) && bcri_credits_from_pool(ctx, resolved))
        credits = bcri_load(&resolved->cell->t.credits);
    return by_ring < head + credits ? by_ring : head + credits;
}

/* Clears T.sleeps if no waiter sleeps any more. At most four gets wait by ticket, with tickets from
 * the tail on; a sleep flag in any other entry is of a waiter that has gone. */
static void look_for_sleep_flags(const struct bcri_resolved *resolved, uint64_t tail)
{
    for (uint32_t i = 0; i < BCRI_TICKETS; i++)
        if (bcri_entry_lap(bcri_load(bcri_ring_at(resolved, tail + i))) == BCRI_ENTRY_SLEEP)
            return;
    bcri_store(&resolved->cell->t.sleeps, 0);
}

/* BCRI_TRY_DONE if a put may go through the ring at `tail`.
 * Model: ticket.pml */
static enum bcri_attempt look_at_tail(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t tail)
{
    struct bcri_resolved *const resolved = put->resolved;
    struct bcri_tail_shm *const t = &resolved->cell->t;
    if (put->write && bcri_unlikely(bcri_load_acquire(&resolved->cell->h.head) < tail))
        return BCRI_TRY_BOTH_LOCKS;
    if (bcri_unlikely(tail >= bcri_load(&t->limit))) {
        uint64_t limit = put->write ? limit_of_empty(resolved->cell, tail) : 0;
        if (limit == 0)
            limit = fresh_limit(ctx, resolved);
        bcri_store(&t->limit, limit);
        if (tail >= limit)
            return BCRI_TRY_NO_ROOM;
    }
    /* Room, if there is any, belongs to the puts that wait for it; a put to a waiting ticket needs
     * none, but it takes this way, too. */
    return bcri_unlikely(bcri_load_acquire(&resolved->area->waitputs) != 0) ? BCRI_TRY_BOTH_LOCKS
                                                                            : BCRI_TRY_DONE;
}

static uint32_t phase_of(const struct bcri_put *put)
{
    return put->nofree ? 1 : 1 | BCRI_PHASE_GIVES;
}

/* `*old_out`: what the entry held; the caller rings if that is a sleep flag.
 * Model: ticket.pml */
static enum bcri_attempt put_at_tail(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t tail,
                                     uint64_t *old_out)
{
    const struct bcri_resolved *const resolved = put->resolved;
    const enum bcri_attempt room = look_at_tail(ctx, put, tail);
    if (bcri_unlikely(room != BCRI_TRY_DONE))
        return room;
    const bool sleeps = bcri_load(&resolved->cell->t.sleeps) != 0;
    const uint64_t old = sleeps ? bcri_load(bcri_ring_at(resolved, tail)) : 0;
    /* A putter that cannot map the sleeper's record could not ring it. */
    if ((bcri_unlikely(bcri_entry_lap(old) == BCRI_ENTRY_SLEEP) && bcri_record(ctx, (uint32_t)old) == NULL) ||
        (put->nofree && bcri_cell_hold(ctx, put->region) != 0))
        return BCRI_TRY_NO_MEMORY;
    *old_out = old;
    store_entry(ctx, resolved, tail, put->region, false, *old_out, phase_of(put));
    if (sleeps)
        look_for_sleep_flags(resolved, tail + 1);
    return BCRI_TRY_DONE;
}

/* The put at `tail` and its request. No get waits at this ticket; if the entry carries a sleep
 * flag, it is of a waiter that has gone.
 * Model: handler_request.pml */
static enum bcri_attempt put_and_request(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t tail,
                                         uint64_t *old_out)
{
    struct bcri_resolved *const resolved = put->resolved;
    struct bcri_tail_shm *const t = &resolved->cell->t;
    const uint64_t requests = bcri_load(&t->requests);
    /* The owner watches that line: claim it before the store. */
    bcri_prefetch_write(&resolved->record->requests.news);
    const enum bcri_attempt room = look_at_tail(ctx, put, tail);
    if (room != BCRI_TRY_DONE)
        return room;
    if (put->nofree && bcri_cell_hold(ctx, put->region) != 0)
        return BCRI_TRY_NO_MEMORY;
    bcri_store(&ctx->journal->old, requests);
    store_entry(ctx, resolved, tail, put->region, false, 0, phase_of(put) | BCRI_PHASE_REQUESTS);
    bcri_step();
    bcri_store(&t->requests, requests + 1);
    bcri_step();
    if (bcri_requests_tell(ctx, resolved, put->region))
        *old_out = BCRI_ENTRY_SLEEP << 56 | resolved->owner;
    return BCRI_TRY_DONE;
}

/* Whether a put at `tail` leaves at least as many regions as the watermark says. With a watermark
 * of 1 each put does, since no get waits by ticket in such a cell (get_under_head in get_attempt.c). head
 * is read without its lock: a take at this moment may count as one that comes later. */
static bool is_due(const struct bcri_resolved *resolved, uint64_t tail)
{
    const struct bcri_cell_shm *cell = resolved->cell;
    if (bcri_likely((bcri_load(&cell->t.state) & BCRI_CELL_HIGH) == 0))
        return false;
    return bcri_watermark_of(cell) == 1 ||
           bcri_addition_requests(resolved, tail + 1 - bcri_load_acquire(&cell->h.head));
}

/* Model: death.pml, handler_request.pml */
static enum bcri_attempt put_under_tail(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t *old_out)
{
    struct bcri_resolved *const resolved = put->resolved;
    const uint64_t state = bcri_load(&resolved->cell->t.state);
    const uint64_t watermark = state ^ resolved->open;
    if (bcri_unlikely(watermark != 0 && watermark != BCRI_CELL_HIGH && watermark != BCRI_CELL_LOW))
        return bcri_why_not_open(resolved, state);
    const uint64_t tail = bcri_load(&resolved->cell->t.tail);
    return bcri_unlikely(is_due(resolved, tail)) ? put_and_request(ctx, put, tail, old_out)
                                                 : put_at_tail(ctx, put, tail, old_out);
}

/* Model: death.pml */
enum bcri_attempt bcri_put_attempt(struct bcri_ctx *ctx, const struct bcri_put *put, enum bcri_held held,
                                   uint64_t deadline_ns)
{
    const struct bcri_resolved *const resolved = put->resolved;
    struct bcri_tail_shm *const t = &resolved->cell->t;
    if (held == BCRI_HOLDS_NOTHING) {
        bcri_prefetch_write(bcri_ring_at(resolved, bcri_load(&t->tail)));
        put_open(ctx, resolved, put->region, put->slot_ref, put->nofree);
    }
    if (held != BCRI_HOLDS_LOCK && bcri_unlikely(!bcri_lock_until(ctx, &t->lock, deadline_ns))) {
        bcri_journal_close(ctx);
        return BCRI_TRY_TIME_UP;
    }
    uint64_t old = 0;
    const enum bcri_attempt result = put_under_tail(ctx, put, &old);
    if (bcri_unlikely(result == BCRI_TRY_STALE))
        bcri_unlock_stale(ctx, &t->lock);
    else
        bcri_unlock(ctx, &t->lock);
    if (bcri_unlikely(result != BCRI_TRY_DONE)) {
        bcri_journal_close(ctx);
        return result;
    }
    if (bcri_unlikely(bcri_entry_lap(old) == BCRI_ENTRY_SLEEP))
        bcri_bell_ring_index(ctx, (uint32_t)old, resolved->ref);
    put_close(ctx, put->slot, put->nofree);
    return BCRI_TRY_DONE;
}
