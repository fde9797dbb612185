/* SPDX-License-Identifier: MIT */
/* bcr_put, bcr_rlswl, bcr_wl2rl, in two tiers (tiers.h). bcr.h is their manual.
 *
 * The fast tier, put_fast, puts a region that its CCE gives away into an open cell that has room
 * and no watermark, and at which nobody sleeps. It calls no function, so the compiler saves no
 * registers, which is a fifth of the instructions. The resume tier, bcri_put, does all the rest: an
 * attempt under the tail lock, both locks, waiting for room. Below, what both store under the tail
 * lock comes first: one lock, a handful of stores, no atomic instruction but the lock's.
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
 * The state of a cell with a watermark (watermark.h) differs from resolved->open, so only the
 * attempt serves it, under the same lock. A put that meets the watermark stores entry and tail,
 * then the count, and tells the owner (handler_request.h). If the putter dies after the put is done
 * and before it has released the lock, repair counts the request if the count still is what `old`
 * says, tells the owner and rings it.
 *
 * A write to an empty queue is a put. The tail lock is enough to know that the queue stays empty:
 * no other CCE adds, and takers only move on; a cell with regions outside its ring is not fast.
 *
 * A hand-over to a waiting taker moves two lines: the entry's (claimed by the putter, fetched by
 * the taker) and the region's own. T stays with the putters, H with the takers. */
#include <bcr.h>

#include "bcri/access.h"
#include "bcri/put.h"

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/credits.h"
#include "bcri/detached.h"
#include "bcri/enter.h"
#include "bcri/handler_request.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/put_service.h"
#include "bcri/put_waiters.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/service.h"
#include "bcri/slot.h"
#include "bcri/tiers.h"
#include "bcri/trace.h"
#include "bcri/watermark.h"

/* How often a put that finds no room spins for a taker that makes some, before it is registered. */
enum { SPINS_FOR_ROOM = 2 };

/* ---- What a put stores under the tail lock ---- */

/* The limit for a write at `tail` to a queue that was found empty: at least tail + 1, if the cell
 * has a credit and no waiter of an earlier lap may still read the entry; else 0. Cells for locks
 * have one credit and come here with every put. Looking at the takers' line costs nothing here,
 * since `write` has read it already.
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

/* ---- The resume tier: an attempt under the tail lock ---- */

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
static void look_for_marks(const struct bcri_resolved *resolved, uint64_t tail)
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
        look_for_marks(resolved, tail + 1);
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
 * of 1 each put does, since no get waits by ticket in such a cell (get_under_head in get.c). head
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
    const uint64_t marks = state ^ resolved->open;
    if (bcri_unlikely(marks != 0 && marks != BCRI_CELL_HIGH && marks != BCRI_CELL_LOW))
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

/* ---- The resume tier: under both locks ----
 * The transaction that does the put sets phase 2, so the put is done if and only if the phase is 2
 * after the daemon has repaired the redo log. */

static int put_under_locks(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write, bcri_ref region)
{
    if (!write || bcri_queue_length(resolved) == 0)
        return bcri_queue_append(ctx, resolved, region, BCRI_REF_NONE);
    bcri_cell_empty(ctx, resolved, region, BCRI_REF_NONE);
    return 0;
}

int bcri_put_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write, bcri_ref region,
                  struct bcri_slot_shm *slot, bool nofree, uint64_t deadline_ns)
{
    bcri_journal_open(ctx, BCRI_OP_PUT, resolved->ref, region,
                      nofree ? BCRI_REF_NONE : bcri_slot_ref(ctx, slot));
    int error = bcri_cell_enter_until(ctx, resolved, deadline_ns);
    if (error == 0) {
        if (nofree)
            error = bcri_cell_hold(ctx, region);
        if (error == 0 && (error = put_under_locks(ctx, resolved, write, region)) != 0 && nofree)
            bcri_cell_unhold(ctx, region);
        bcri_cell_leave(ctx, resolved);
        if (error == 0 && write && bcri_load_acquire(&resolved->area->waitputs) != 0)
            bcri_putwait_made_room(ctx, resolved);
    }
    if (error == 0 && !nofree) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
    }
    bcri_journal_close(ctx);
    return error == bcrE_TIMEOUT ? bcrE_FULL : error;
}

/* ---- The resume tier: one after the other ---- */

int bcri_put_look_up(struct bcri_ctx *ctx, struct bcri_put *put)
{
    struct bcri_resolved *resolved;
    const int error = bcri_resolved_find_within(ctx, put->key, ctx->putwait_msec, &resolved);
    if (bcri_unlikely(error != 0))
        return error == bcrE_TIMEOUT ? bcrE_FULL : bcri_unreachable(error);
    if (bcri_unlikely(!resolved->may_add))
        return bcri_access_denied(resolved);
    put->resolved = resolved;
    put->owner = resolved->owner;
    return 0;
}

/* Does what the attempt has left to do. Returns 0, BCRI_NO_ROOM, BCRI_STALE or a code. */
static int go_on(struct bcri_ctx *ctx, const struct bcri_put *put, enum bcri_attempt attempted,
                 uint64_t deadline_ns)
{
    switch (attempted) {
    case BCRI_TRY_DONE: return 0;
    case BCRI_TRY_STALE: return BCRI_STALE;
    case BCRI_TRY_NO_MEMORY: return bcrE_NOMEM;
    case BCRI_TRY_TIME_UP: return bcrE_FULL;
    default:
        return bcri_put_slow(ctx, put->resolved, put->write, put->region, put->slot, put->nofree,
                             deadline_ns);
    }
}

/* Goes on after an attempt that has not done the put. */
static __attribute__((noinline)) int put_otherwise(struct bcri_ctx *ctx, struct bcri_put *put,
                                                   enum bcri_attempt attempted, uint64_t deadline_ns)
{
    for (int spins = SPINS_FOR_ROOM;;) {
        const bool waits = !put->resolved->own && deadline_ns != BCRI_DEADLINE_PASSED;
        const bool spins_for_room = attempted == BCRI_TRY_NO_ROOM && waits && spins-- > 0;
        if (!spins_for_room || !bcri_room_spin(ctx, put->resolved)) {
            int error = go_on(ctx, put, attempted, deadline_ns);
            if (error == BCRI_NO_ROOM && waits)
                error = bcri_room_wait(ctx, put, deadline_ns);
            else if (error == BCRI_NO_ROOM && !bcri_room_gather(ctx, put->resolved))
                error = bcrE_FULL;
            if (error == BCRI_STALE) {
                bcri_resolved_forget(ctx, put->resolved);
                error = bcri_put_look_up(ctx, put);
                if (error != 0)
                    return error;
            } else if (error != BCRI_NO_ROOM) {
                return error;
            }
        }
        attempted = bcri_put_attempt(ctx, put, BCRI_HOLDS_NOTHING, deadline_ns);
    }
}

/* Most puts end with the first attempt; it is inlined, so that they do not pay for the others. */
BCRI_INLINE int put_resumed(struct bcri_ctx *ctx, struct bcri_put *put, enum bcri_held held,
                            uint64_t deadline_ns)
{
    const enum bcri_attempt attempted = bcri_put_attempt(ctx, put, held, deadline_ns);
    return bcri_likely(attempted == BCRI_TRY_DONE) ? 0 : put_otherwise(ctx, put, attempted, deadline_ns);
}

int bcri_put(struct bcri_ctx *ctx, struct bcri_put *put, uint64_t deadline_ns)
{
    const int error = bcri_put_look_up(ctx, put);
    return error == 0 ? put_resumed(ctx, put, BCRI_HOLDS_NOTHING, deadline_ns) : error;
}

__attribute__((noinline)) int bcri_put_failed(struct bcri_ctx *ctx, int code)
{
    bcri_counted(ctx, code == bcrE_FULL ? BCRI_COUNT_FULL : BCRI_COUNT_FAILED);
    return bcri_fail(code);
}

BCRI_INLINE int note(struct bcri_ctx *ctx, const struct bcri_put *put)
{
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace(ctx, put->write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, put->owner, (uint32_t)put->key,
               put->length, put->region);
    return 0;
}

BCRI_INLINE int put_resume(struct bcri_ctx *ctx, struct bcri_put *put, enum bcri_held held)
{
    const int error = put_resumed(ctx, put, held, bcri_deadline_after(ctx->putwait_msec));
    return bcri_likely(error == 0) ? note(ctx, put) : bcri_put_failed(ctx, error);
}

/* Puts from the start: nothing has been looked up yet. */
static __attribute__((noinline)) int put_anew(bcr_region rgid, uint64_t key, bool write, bool nofree)
{
    struct bcri_ctx *ctx = bcri_enter();
    if (bcri_unlikely(ctx == NULL))
        return -1;
    struct bcri_id id;
    int error = bcri_id_look(ctx, rgid, &id);
    if (bcri_unlikely(error != 0))
        return bcri_put_failed(ctx, error);
    const bcri_ref region = bcri_slot_region(id.word);
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    struct bcri_put put = {.key = key,
                           .slot = id.slot,
                           .slot_ref = id.ref,
                           .region = region,
                           .length = header->length,
                           .write = write,
                           .nofree = nofree};
    error = bcri_put_look_up(ctx, &put);
    if (bcri_unlikely(error != 0))
        return bcri_put_failed(ctx, error);
    if (bcri_kept_cpu() >= 0) /* else the fast tier does not know the putter's CPU */
        ctx->put_resolved = put.resolved;
    return put_resume(ctx, &put, BCRI_HOLDS_NOTHING);
}

/* Goes on from the fast tier, with the journal open; `held` says whether the tail lock is held. */
static __attribute__((noinline)) int put_on(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                            struct bcri_slot_shm *slot, bool write, enum bcri_held held)
{
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    struct bcri_put put = {.key = resolved->key,
                           .resolved = resolved,
                           .slot = slot,
                           .slot_ref = bcri_slot_ref(ctx, slot),
                           .region = region,
                           .length = header->length,
                           .owner = resolved->owner,
                           .write = write};
    return put_resume(ctx, &put, held);
}

/* Counts and traces a put that is done. `wakes`, if not NULL: a CCE sleeps until this CCE releases
 * a lock, and the ID in that slot and the journal are still to be closed.
 * Model: death.pml */
static __attribute__((noinline)) int put_note(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                                              bcri_ref region, uint32_t length, bool write,
                                              struct bcri_slot_shm *wakes)
{
    if (wakes != NULL) {
        bcri_unlock_wake(ctx);
        put_close(ctx, wakes, false);
    }
    const struct bcri_put put = {
        .key = resolved->key, .owner = resolved->owner, .region = region, .length = length, .write = write};
    return note(ctx, &put);
}

/* ---- The fast tier ---- */

/* Whether, under the tail lock, all is as most puts find it.
 * Model: ticket.pml */
BCRI_INLINE bool is_open(const struct bcri_resolved *resolved, struct bcri_cell_shm *cell, uint64_t tail,
                         bool write)
{
    struct bcri_tail_shm *const t = &cell->t;
    if (bcri_unlikely(bcri_load(&t->state) != resolved->open) ||
        (write && bcri_unlikely(bcri_load_acquire(&cell->h.head) < tail)))
        return false;
    if (bcri_unlikely(tail >= bcri_load(&t->limit))) {
        const uint64_t limit = write ? limit_of_empty(cell, tail) : 0;
        if (limit == 0)
            return false;
        bcri_store(&t->limit, limit);
    }
    return bcri_likely(bcri_load_acquire(&resolved->area->waitputs) == 0 && bcri_load(&t->sleeps) == 0);
}

/* Model: death.pml */
BCRI_INLINE int put_fast(bcr_region rgid, uint64_t key, bool write)
{
    struct bcri_ctx *const ctx = bcri_self_thread;
    if (bcri_unlikely(ctx == NULL || bcri_enters(ctx)))
        return put_anew(rgid, key, write, false);
    struct bcri_resolved *const resolved = bcri_resolved_cached(ctx, ctx->put_resolved, key);
    struct bcri_id id;
    bcri_ref region;
    if (bcri_unlikely(resolved == NULL || !resolved->may_add || !bcri_id_plain(ctx, rgid, &id, &region)))
        return put_anew(rgid, key, write, false);
    ctx->put_resolved = resolved;
    const struct bcri_region_shm *const header = bcri_at_held(ctx, region);
    const uint32_t length = header->length; /* read while the region is still this CCE's */
    struct bcri_cell_shm *const cell = resolved->cell;
    bcri_prefetch_write(bcri_ring_at(resolved, bcri_load(&cell->t.tail)));
    put_open(ctx, resolved, region, id.ref, false);
    if (bcri_unlikely(!bcri_lock_try(ctx, &cell->t.lock)))
        return put_on(ctx, resolved, id.slot, write, BCRI_HOLDS_JOURNAL);
    const uint64_t tail = bcri_load(&cell->t.tail);
    if (bcri_unlikely(!is_open(resolved, cell, tail, write)))
        return put_on(ctx, resolved, id.slot, write, BCRI_HOLDS_LOCK);
    store_entry(ctx, resolved, tail, region, true, 0, 1 | BCRI_PHASE_GIVES);
    bcri_store_release(&resolved->cell->t.lock, 0);
    bcri_step();
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        return put_note(ctx, resolved, region, length, write, id.slot);
    put_close(ctx, id.slot, false);
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_trace_looks_at_clock(seq))
        return put_note(ctx, resolved, region, length, write, NULL);
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace_write(ctx, seq, write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, resolved->owner,
                     (uint32_t)resolved->key, length, region);
    return 0;
}

/* ---- The public routines ----
 * One copy of the fast tier for each kind of put, so that most branches are decided at compile
 * time. */

static __attribute__((noinline)) int put_giving(bcr_region rgid, bcr_cce_id cce, int cell)
{
    return put_fast(rgid, bcri_resolved_key(cce, cell), false);
}

static __attribute__((noinline)) int write_giving(bcr_region rgid, bcr_cce_id cce, int cell)
{
    return put_fast(rgid, bcri_resolved_key(cce, cell), true);
}

int bcr_put(int qlike, bcr_region rgid, bcr_cce_id cce, int cell, int nofree)
{
    if (bcri_unlikely(nofree != 0))
        return put_anew(rgid, bcri_resolved_key(cce, cell), qlike == 0, true);
    return qlike != 0 ? put_giving(rgid, cce, cell) : write_giving(rgid, cce, cell);
}

int bcr_rlswl(bcr_region rgid, bcr_cce_id cce, int cell)
{
    return write_giving(rgid, cce, cell);
}

int bcr_wl2rl(bcr_region rgid, bcr_cce_id cce, int cell)
{
    return put_anew(rgid, bcri_resolved_key(cce, cell), true, true);
}
