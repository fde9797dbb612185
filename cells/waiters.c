/* SPDX-License-Identifier: MIT */
/* A get that waits: waiting until it is served, taking what it was given, cancelling the
 * request.
 *
 * Journal: COLLECT; cell, if a lock of it is taken; slot, whose own fields hold the rest: cell,
 * ticket (`key`), whether it is a write lock (`kind`), and the region's epoch (`prev`).
 *   phase 0   The CCE may hold the tail lock to write the sleep flag, the head lock to store the
 *             lock owner, or both to cancel the request by a transaction.
 *   phase 1   The CCE is about to make the slot LIVE, then to store the lock owner if it is a write
 *             lock, and to clear waiter[ticket % 4]. It is done if the slot is LIVE; repair then
 *             stores the lock owner and clears the waiter entry, if that still names the slot.
 * A request that was served from the list is collected by one store, and needs no journal. */
#include "bcri/waiters.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/drop.h"
#include "bcri/give_back.h"
#include "bcri/handler_request.h"
#include "bcri/heap.h"
#include "bcri/hooks.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/wait.h"
#include "bcri/wait_lists.h"
#include "bcri/wait_loop.h"
#include "bcri/wakes.h"
#include "bcri/write_lock.h"

#define SLOT struct bcri_slot_shm

static enum bcri_slot_state state_of(const struct bcri_slot_shm *slot)
{
    return bcri_slot_state(bcri_load_acquire(&slot->word));
}

/* The cell at which a request of this CCE waits. Requests end before their cell is freed. */
static int waits_at(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot, struct bcri_resolved *resolved)
{
    int error = bcri_resolved_at(ctx, bcri_load(&slot->cell), resolved);
    if (bcri_unlikely(error == bcrE_NOCELL)) {
        enum bcri_slot_state state = state_of(slot);
        if (state == BCRI_SLOT_TICKET || state == BCRI_SLOT_LISTED)
            bcri_corrupt_at(ctx, "a request for a cell that is gone", slot);
    }
    return error;
}

/* The entry of a waiting ticket if it is full for that ticket, else 0. The entry is read before the
 * slot's state: if another CCE has moved the request to the list, it did so before any put that
 * could fill this entry for another ticket.
 * Model: stale.pml */
static uint64_t full_entry(const struct bcri_resolved *resolved, const struct bcri_slot_shm *slot)
{
    uint64_t ticket = bcri_load(&slot->key);
    uint64_t entry = bcri_load_acquire(bcri_ring_at(resolved, ticket));
    if (!bcri_entry_is(entry, ticket, resolved->ring_log2) || state_of(slot) != BCRI_SLOT_TICKET)
        return 0;
    return entry;
}

bool bcri_request_ready(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    struct bcri_resolved resolved;
    switch (state_of(slot)) {
    case BCRI_SLOT_TICKET:
        if (waits_at(ctx, slot, &resolved) != 0)
            return state_of(slot) != BCRI_SLOT_TICKET;
        return full_entry(&resolved, slot) != 0;
    case BCRI_SLOT_LISTED:
    case BCRI_SLOT_PUTWAIT:
    case BCRI_SLOT_ORDERED: return false;
    default: return true;
    }
}

#define NO_LAP 0x100u /* no entry's lap tag */

/* The word is read first: whatever happens to the request after that changes the word, or fills the
 * entry. Memory that once held cells stays mapped. */
void bcri_request_watch(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, struct bcri_watch *watch)
{
    struct bcri_resolved resolved;
    uint64_t word = bcri_load_acquire(&slot->word);
    *watch = (struct bcri_watch){.entry = &slot->word, .lap = NO_LAP, .word = &slot->word, .was = word};
    switch (bcri_slot_state(word)) {
    case BCRI_SLOT_TICKET:
        if (waits_at(ctx, slot, &resolved) == 0) {
            uint64_t ticket = bcri_load(&slot->key);
            watch->entry = bcri_ring_at(&resolved, ticket);
            watch->lap = bcri_lap(ticket, resolved.ring_log2);
        }
        break;
    case BCRI_SLOT_LISTED:
    case BCRI_SLOT_PUTWAIT:
    case BCRI_SLOT_ORDERED: break;
    default: watch->was = ~word; /* it is ready */
    }
}

static const struct bcri_answer no_answer = {.came = false};

static inline struct bcri_answer answered(int error)
{
    return (struct bcri_answer){.came = true, .error = error};
}

/* A region that this process cannot map goes back to the head of its cell. What a read was given
 * has never left the cell. */
static __attribute__((noinline)) int unmappable(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    if (bcri_request_want(slot) == BCRI_WANT_READ)
        bcri_slot_drop(ctx, slot);
    else
        bcri_request_give_back(ctx, slot);
    return bcrE_NOMEM;
}

static void make_live(struct bcri_slot_shm *slot, bcri_ref region, uintptr_t data)
{
    bcri_store(&slot->data, data);
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_step();
}

/* Collects a write lock: the lock owner is stored under H, which must be held before the slot
 * becomes LIVE. */
static __attribute__((noinline)) void collect_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                                   struct bcri_slot_shm *slot, bcri_ref region,
                                                   uintptr_t data)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    bcri_note_locks(ctx);
    bcri_journal_open(ctx, BCRI_OP_COLLECT, resolved->ref, BCRI_REF_NONE, bcri_slot_ref(ctx, slot));
    bcri_lock(ctx, &h->lock);
    bcri_journal_phase(ctx, 1);
    make_live(slot, region, data);
    bcri_write_owner_set(resolved, ctx->tag, (uint32_t)bcri_load(&slot->prev));
    bcri_step();
    bcri_store(&h->waiter[bcri_load(&slot->key) % BCRI_TICKETS], 0);
    bcri_step();
    bcri_unlock(ctx, &h->lock);
    bcri_journal_close(ctx);
}

/* A region's header says where its data lies, and both come from another core. Blocks are used
 * again and again, so the data of this one probably lies where it lay the last time; a prefetch
 * there runs together with that of the header, not after it. A wrong guess only costs the prefetch.
 * Data in the header's own line needs none. The prefetch is for writing, like that of the header:
 * one for reading gains nothing (docs/adr/0027). */
static inline uint64_t *guess_at(struct bcri_ctx *ctx, bcri_ref region)
{
    return &ctx->data_guess[(region % BCRI_PAGE_UNITS + region / BCRI_PAGE_UNITS * 43) % BCRI_DATA_GUESSES];
}

static inline void fetch_data(struct bcri_ctx *ctx, bcri_ref region)
{
    uint64_t guess = *guess_at(ctx, region);
    if ((uint32_t)(guess >> 32) == (uint32_t)region)
        bcri_prefetch_write(ctx->map[bcri_ref_seg(region)].base + (uint64_t)(uint32_t)guess * 16);
}

static inline void note_data(struct bcri_ctx *ctx, bcri_ref region, uint32_t data_16)
{
    if (data_16 - 2 * (uint32_t)region >= BCRI_CACHELINE / 16)
        *guess_at(ctx, region) = region << 32 | data_16;
}

/* Model: cell.inc */
static inline int collect_ticket(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                 struct bcri_slot_shm *slot, uint64_t entry)
{
    struct bcri_journal_shm *j = ctx->journal;
    bcri_ref region = entry & BCRI_REF_MASK;
    const struct bcri_region_shm *header = bcri_at(ctx, region);
    /* The CCE will free or write it: claim the line at once, not first for reading. */
    bcri_prefetch_write(header);
    uintptr_t data = 0;
    if (bcri_likely(header != NULL)) {
        fetch_data(ctx, region);
        data = bcri_header_data(ctx, region, header);
    }
    if (bcri_request_want(slot) == BCRI_WANT_LOCK) {
        collect_lock(ctx, resolved, slot, region, data);
    } else {
        bcri_store(&j->slot, bcri_slot_ref(ctx, slot));
        bcri_step();
        bcri_store(&j->doing, bcri_doing(BCRI_OP_COLLECT, 1));
        bcri_step();
        make_live(slot, region, data);
        bcri_store_release(&resolved->cell->h.waiter[bcri_load(&slot->key) % BCRI_TICKETS], 0);
        bcri_journal_close(ctx);
    }
    if (bcri_likely(header != NULL))
        note_data(ctx, region, header->data_16);
    ctx->last_cpu = (uint32_t)(entry >> 48) & 0xffu;
    return bcri_likely(header != NULL) ? 0 : unmappable(ctx, slot);
}

/* A consumer that is faster than its producer waits for each region, and the line of entries goes
 * back and forth with every one. So a consumer that has waited FOLLOWING times in a row without
 * putting anything itself, for which therefore no CCE can be waiting, lets the producer get ahead
 * before it looks. It does not if the producer is slow and it had to wait longer anyway. */
enum { FOLLOWING = 8, LEAD_PAUSES = 256, LEAD_ROOM = 16, SHORT_WAIT = 512 };

/* A ticket whose waiter spins. */
struct ticket {
    struct bcri_ctx *ctx;
    const struct bcri_slot_shm *slot;
    const _Atomic uint64_t *at;
    uint64_t lap;
    uint64_t entry; /* when it is full */
    int looks;
};

enum { FULL, OVER }; /* OVER: the waiter must look at other things, too */

static int look_at_entry(void *arg)
{
    struct ticket *const ticket = arg;
    ticket->looks++;
    ticket->entry = bcri_load_acquire(ticket->at);
    return bcri_entry_lap(ticket->entry) == ticket->lap ? FULL : BCRI_NOT_YET;
}

static int look_at_entry_and_handlers(void *arg)
{
    const struct ticket *const ticket = arg;
    const int full = look_at_entry(arg);
    return full == BCRI_NOT_YET && bcri_requests_any(ticket->ctx) ? OVER : full;
}

static int look_at_slot(void *arg)
{
    const struct ticket *const ticket = arg;
    return state_of(ticket->slot) != BCRI_SLOT_TICKET || bcri_wakes_any(ticket->ctx) ? OVER : BCRI_NOT_YET;
}

/* Model: ticket.pml */
static struct bcri_answer spin_for_ticket(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                          struct bcri_slot_shm *slot, uint64_t deadline_ns)
{
    const uint64_t number = bcri_load(&slot->key);
    const int turns = bcri_spin_turns(ctx);
    struct ticket ticket = {.ctx = ctx,
                            .slot = slot,
                            .at = bcri_ring_at(resolved, number),
                            .lap = bcri_lap(number, resolved->ring_log2)};
    bcri_heap_look_waiting(ctx);
    if (ctx->waits_in_row < UINT8_MAX)
        ctx->waits_in_row++;
    if (ctx->waits_in_row > FOLLOWING && resolved->area->nrgns >= LEAD_ROOM && turns > LEAD_PAUSES)
        for (int i = 0; i < LEAD_PAUSES; i++)
            bcri_cpu_pause();
    struct bcri_wait_loop loop = {
        .spins = turns, .deadline_ns = deadline_ns, .look = look_at_entry, .look_around = look_at_slot};
    int result;
    if (ctx->hooks == NULL) {
        loop.yields = bcri_yield_turns(ctx, turns);
        result = bcri_wait_loop(loop, &ticket);
    } else { /* if handlers may be requested, the caller yields */
        loop.look = look_at_entry_and_handlers;
        result = bcri_wait_loop(loop, &ticket);
    }
    if (result == FULL && ticket.looks > SHORT_WAIT)
        ctx->waits_in_row = 0;
    return result == FULL && state_of(slot) == BCRI_SLOT_TICKET
               ? answered(collect_ticket(ctx, resolved, slot, ticket.entry))
               : no_answer;
}

/* The CCE that answered does not touch this slot any more (tx.h), and has stored the lock owner if
 * this is a write lock.
 * Model: cell.inc */
static int collect_answered(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const uint64_t given = bcri_load(&slot->given);
    ctx->last_cpu = 255;
    if (state_of(slot) == BCRI_SLOT_FAILED) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
        return (int)given;
    }
    if (bcri_request_want(slot) == BCRI_WANT_LOCK)
        bcri_note_locks(ctx);
    bcri_step();
    const uintptr_t data = bcri_at(ctx, given) != NULL ? bcri_region_data(ctx, given) : 0;
    make_live(slot, given, data);
    return data != 0 ? 0 : unmappable(ctx, slot);
}

struct bcri_answer bcri_request_complete(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    struct bcri_resolved resolved;
    uint64_t entry;
    switch (state_of(slot)) {
    case BCRI_SLOT_TICKET:
        if (waits_at(ctx, slot, &resolved) != 0)
            return no_answer; /* the cell is being closed: the slot is FAILED in a moment */
        entry = full_entry(&resolved, slot);
        return entry != 0 ? answered(collect_ticket(ctx, &resolved, slot, entry)) : no_answer;
    case BCRI_SLOT_FAILED:
        if (bcri_request_is_elsewhere(slot))
            return bcri_order_collect(ctx, slot);
        return answered(collect_answered(ctx, slot));
    case BCRI_SLOT_SERVED: return answered(collect_answered(ctx, slot));
    case BCRI_SLOT_LIVE: return answered(0);
    case BCRI_SLOT_LISTED: return no_answer;
    case BCRI_SLOT_ORDERED:
    case BCRI_SLOT_ANSWERED: return bcri_order_collect(ctx, slot);
    default: return answered(bcrE_RGID); /* no request: a handler has freed the ID */
    }
}

struct bcri_wake *bcri_wake_due(struct bcri_ctx *ctx, struct bcri_slot_shm *const *slots, int count)
{
    struct bcri_resolved resolved;
    for (int i = 0; i < count && bcri_wakes_any(ctx); i++) {
        const enum bcri_slot_state state = state_of(slots[i]);
        if ((state != BCRI_SLOT_TICKET && state != BCRI_SLOT_LISTED) ||
            waits_at(ctx, slots[i], &resolved) != 0 || resolved.owner != ctx->index)
            continue;
        struct bcri_wake *const wake = bcri_wake_at(ctx, resolved.number);
        if (wake != NULL && bcri_wake_is_due(wake))
            return wake;
    }
    return NULL;
}

void bcri_request_gone(const struct bcri_ctx *ctx)
{
    if (bcri_hooks_of(ctx) != NULL)
        bcri_bell_ring(ctx, ctx->record);
}

/* Model: cell.inc, stale.pml */
bool bcri_request_sleep_flag(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    struct bcri_resolved resolved;
    if (state_of(slot) != BCRI_SLOT_TICKET || waits_at(ctx, slot, &resolved) != 0)
        return !bcri_request_ready(ctx, slot);
    struct bcri_tail_shm *t = &resolved.cell->t;
    bcri_journal_open(ctx, BCRI_OP_COLLECT, resolved.ref, BCRI_REF_NONE, BCRI_REF_NONE);
    bcri_lock(ctx, &t->lock);
    bool served = full_entry(&resolved, slot) != 0;
    /* While the slot still says TICKET, the entry is of the lap before and no CCE needs it any more
     * (cell.h). */
    if (!served && state_of(slot) == BCRI_SLOT_TICKET) {
        bcri_store(&t->sleeps, 1);
        bcri_step();
        _Atomic uint64_t *const ring = bcri_ring_at(&resolved, bcri_load(&slot->key));
        bcri_store(ring, BCRI_ENTRY_SLEEP << 56 | ctx->index);
    }
    /* Stale: the cell may have been closed and freed since it was looked up. */
    bcri_unlock_stale(ctx, &t->lock);
    bcri_journal_close(ctx);
    return !served;
}

bool bcri_cell_lost(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                    const struct bcri_slot_shm *slot)
{
    uint32_t version;
    if (!bcri_version_stable(ctx, resolved->record, resolved->owner, &version))
        return false;
    bool open = bcri_cell_open(resolved);
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    /* This is read last: before the daemon closes the cells of a CCE, the CCE's state is DYING. */
    bool alive = bcri_load_acquire(&resolved->record->id.state) == BCRI_CCE_ALIVE;
    atomic_thread_fence(memory_order_acquire);
    if (!alive || open || (state != BCRI_SLOT_TICKET && state != BCRI_SLOT_LISTED) ||
        bcri_load(&resolved->record->id.version) != version)
        return false;
    bcri_corrupt(ctx, "a cell at which a request waits", resolved->ref);
    return true;
}

/* Model: cell.inc */
bool bcri_request_cancel(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    struct bcri_resolved resolved;
    if (bcri_request_is_elsewhere(slot))
        return bcri_order_cancel(ctx, slot);
    if (bcri_unlikely(waits_at(ctx, slot, &resolved) != 0))
        return false;
    bcri_journal_open(ctx, BCRI_OP_COLLECT, resolved.ref, BCRI_REF_NONE, BCRI_REF_NONE);
    bool cancelled = false;
    const bool entered = bcri_is_done(bcri_cell_enter(ctx, &resolved));
    if (entered) {
        if (state_of(slot) == BCRI_SLOT_LISTED && bcri_request_mapped(ctx, bcri_slot_ref(ctx, slot))) {
            bcri_tx_begin(ctx);
            bcri_tx_unlist(ctx, &resolved, slot);
            BCRI_TX64(ctx, bcri_slot_ref(ctx, slot), SLOT, word, 0);
            bcri_tx_commit(ctx);
            cancelled = true;
        } else if (state_of(slot) == BCRI_SLOT_TICKET && full_entry(&resolved, slot) == 0) {
            /* With both locks held a ticket was either moved to the list or served. */
            bcri_corrupt(ctx, "a cell at which a request waits", resolved.ref);
        }
        bcri_cell_leave(ctx, &resolved);
    }
    bcri_journal_close(ctx);
    if (bcri_unlikely(!entered) && full_entry(&resolved, slot) == 0)
        (void)bcri_cell_lost(ctx, &resolved, slot);
    if (cancelled)
        bcri_slot_give(ctx, slot);
    return cancelled;
}

int bcri_request_await(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                       uint64_t deadline_ns)
{
    bool tired = false;
    if ((ctx->hooks == NULL || ctx->hooks->alone(ctx)) && state_of(slot) == BCRI_SLOT_TICKET) {
        const struct bcri_answer answer = spin_for_ticket(ctx, resolved, slot, deadline_ns);
        if (bcri_likely(answer.came))
            return answer.error;
        tired = ctx->hooks == NULL && state_of(slot) == BCRI_SLOT_TICKET && !bcri_wakes_any(ctx);
    }
    for (;; tired = false) {
        int ready = tired ? bcri_wait_asleep(ctx, &slot, 1, deadline_ns)
                          : bcri_wait_ready(ctx, &slot, 1, deadline_ns);
        struct bcri_wake *const wake = ready == BCRI_WOKEN ? bcri_wake_due(ctx, &slot, 1) : NULL;
        if (ready < 0 && (ready != BCRI_WOKEN || wake != NULL) && bcri_request_cancel(ctx, slot)) {
            if (wake == NULL)
                return bcrE_TIMEOUT;
            bcri_wake_take(ctx, wake);
            return bcrE_WOKEN;
        }
        const struct bcri_answer answer = bcri_request_complete(ctx, slot);
        if (answer.came)
            return answer.error;
    }
}
