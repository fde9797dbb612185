/* SPDX-License-Identifier: MIT */
/* What a dead CCE leaves behind once its journal is closed: the IDs it held, its requests, its
 * cells, the write locks it had taken, its heap. repair.h. */
#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/detached.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "bcri/request.h"
#include "bcri/resolved.h"
#include "bcri/result.h"
#include "bcri/serve.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"

/* A region that was handed to a request of the dead one and not taken: the request's ID names it
 * until it is at the head of its cell again, so that this list can be made anew. */
struct undelivered {
    bcri_ref cell, region;
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    uint64_t key;
    uint32_t sub;
    uint32_t gen;   /* of the cell: another one's may lie there by now */
    uint32_t marks; /* tag of a write lock's taker, if it was marked when the region was handed over */
    uint32_t epoch;
};

struct walk {
    struct bcri_ctx *enl;
    struct undelivered *undelivered;
    size_t count, room;
};

static void drop(struct bcri_ctx *enl, bcri_ref region)
{
    bcri_region_drop(enl, region);
    bcri_count_committed(enl);
}

static void keep(struct walk *walk, struct undelivered undelivered)
{
    if (walk->count == walk->room) {
        size_t room = walk->room != 0 ? 2 * walk->room : 16;
        struct undelivered *list = realloc(walk->undelivered, room * sizeof *list);
        if (list == NULL) {
            drop(walk->enl, undelivered.region);
            bcri_store(&undelivered.slot->word, 0);
            return;
        }
        walk->undelivered = list;
        walk->room = room;
    }
    walk->undelivered[walk->count++] = undelivered;
}

static void keep_undelivered(struct walk *walk, struct bcri_slot_shm *slot, bcri_ref ref)
{
    const bool lock = bcri_request_want(slot) == BCRI_WANT_LOCK;
    keep(walk, (struct undelivered){.cell = bcri_load(&slot->cell),
                                    .region = bcri_load(&slot->given),
                                    .slot = slot,
                                    .slot_ref = ref,
                                    .key = bcri_load(&slot->key),
                                    .sub = bcri_load(&slot->sub),
                                    .gen = (uint32_t)(bcri_load(&slot->prev) >> 32),
                                    .marks = lock ? BCRI_TAG(bcri_request_owner(slot)) : 0,
                                    .epoch = (uint32_t)bcri_load(&slot->prev)});
}

/* Enters the cell of a request. A cell that its living owner has closed in cafree is either failed
 * with all its requests or opened again: until then this one stands in its list. 0; bcrE_TIMEOUT:
 * parked; else it is closed for good. */
static int enter_or_ended(struct bcri_ctx *enl, struct bcri_resolved *resolved,
                          const struct bcri_slot_shm *slot)
{
    int error;
    uint32_t version;
    while ((error = bcri_cell_enter(enl, resolved)) == BCRI_STALE) {
        if (!bcri_version_stable(enl, resolved->record, resolved->owner, &version))
            return bcrE_TIMEOUT;
        if (bcri_cell_lost(enl, resolved, slot) ||
            bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_LISTED ||
            bcri_load_acquire(&resolved->record->id.state) != BCRI_CCE_ALIVE)
            return BCRI_STALE;
    }
    return error;
}

static bool waits(uint64_t word)
{
    enum bcri_slot_state state = bcri_slot_state(word);
    return state == BCRI_SLOT_TICKET || state == BCRI_SLOT_LISTED;
}

static void clear_waiter(const struct bcri_resolved *resolved, const struct bcri_slot_shm *slot, bcri_ref ref)
{
    _Atomic uint64_t *waiter = &resolved->cell->h.waiter[bcri_load(&slot->key) % BCRI_TICKETS];
    if ((bcri_load(waiter) & BCRI_REF_MASK) == ref)
        bcri_store_release(waiter, 0); /* that is what the cells' memory waits for (reclaim.h) */
}

/* A request that waits: withdrawn. By ticket and delivered already: its region is kept for giving
 * back, and it stays what it is. False: parked. */
static bool end_request(struct walk *walk, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct bcri_ctx *enl = walk->enl;
    struct bcri_resolved resolved;
    if (bcri_resolved_at(enl, bcri_load(&slot->cell), &resolved) != 0) {
        bcri_store(&slot->word, 0);
        return true;
    }
    const uint64_t ticket = bcri_load(&slot->key);
    bcri_journal_open(enl, BCRI_OP_SLOW, resolved.ref, BCRI_REF_NONE, BCRI_REF_NONE);
    int error = enter_or_ended(enl, &resolved, slot);
    if (error == 0) {
        if (bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_LISTED) {
            bcri_tx_begin(enl);
            bcri_tx_unlist(enl, &resolved, slot);
            bcri_tx_commit(enl);
            bcri_store(&slot->word, 0);
        } else if (bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_TICKET) {
            bcri_ref region = bcri_load(bcri_ring_at(&resolved, ticket)) & BCRI_REF_MASK;
            keep(walk, (struct undelivered){.cell = resolved.ref,
                                            .region = region,
                                            .slot = slot,
                                            .slot_ref = ref,
                                            .key = ticket + 1,
                                            .gen = (uint32_t)(resolved.open >> 32)});
        }
        bcri_cell_leave(enl, &resolved);
    } else if (error != bcrE_TIMEOUT) {
        /* The cell was closed under a ticket that had been served: the region has nowhere to go
         * back to. */
        const uint64_t entry = bcri_load_acquire(bcri_ring_at(&resolved, ticket));
        if (bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_TICKET &&
            bcri_entry_is(entry, ticket, resolved.ring_log2))
            drop(enl, entry & BCRI_REF_MASK);
        clear_waiter(&resolved, slot, ref);
        if (waits(bcri_load(&slot->word)))
            bcri_store(&slot->word, 0);
    }
    bcri_journal_close(enl);
    return error != bcrE_TIMEOUT;
}

/* A put that waits for room, or that was ended: whoever ended it is done with it once the area's
 * lock could be had. False: parked. */
static bool end_put(struct bcri_ctx *enl, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct bcri_resolved resolved;
    if (bcri_resolved_at(enl, bcri_load(&slot->cell), &resolved) != 0)
        return true;
    bcri_journal_open(enl, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    const bool had = bcri_area_lock_until(enl, &resolved, BCRI_DEADLINE_NEVER);
    if (had && bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_PUTWAIT) {
        bcri_putwait_withdraw(enl, &resolved, slot, ref);
        bcri_putwait_serve_all(enl, &resolved); /* those behind it may need no room */
    }
    if (had)
        bcri_area_unlock(enl, &resolved);
    bcri_journal_close(enl);
    return had;
}

/* A region whose ID is there and whose count is 0 was being allocated or freed by its only holder
 * (drop.h). */
static bool counts_somebody(struct bcri_ctx *enl, bcri_ref region)
{
    const struct bcri_region_shm *header = bcri_at(enl, region);
    return header != NULL && bcri_load_acquire(&header->count) != 0;
}

static bool is_put(uint64_t word)
{
    enum bcri_slot_state state = bcri_slot_state(word);
    return state == BCRI_SLOT_PUTWAIT || state == BCRI_SLOT_PUTDONE ||
           (state == BCRI_SLOT_FAILED && bcri_slot_hold_of(word) != BCRI_REF_NONE);
}

/* One of its IDs, which may stay as it is until enl comes again. */
static void end_id(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct walk *walk = arg;
    uint64_t word = bcri_load(&slot->word);
    if (waits(word) && (!end_request(walk, slot, ref) || waits(bcri_load(&slot->word))))
        return;
    if (is_put(word) && !end_put(walk->enl, slot, ref))
        return;
    /* What a request has become by now, or the ID was from the start. Nobody but enl answers twice:
     * tx.h. */
    word = bcri_load(&slot->word);
    const bool served = bcri_slot_state(word) == BCRI_SLOT_SERVED;
    bcri_ref region = bcri_slot_hold_of(word);
    if (served && bcri_request_want(slot) != BCRI_WANT_READ) {
        keep_undelivered(walk, slot, ref);
        return;
    }
    if (served)
        drop(walk->enl, bcri_load(&slot->given)); /* a hold of its own: the region itself stayed */
    else if (region != BCRI_REF_NONE && counts_somebody(walk->enl, region))
        drop(walk->enl, region);
    bcri_store_release(&slot->word, 0);
}

/* By cell, youngest first: they go back to the head one after the other. */
static int undelivered_order(const void *left, const void *right)
{
    const struct undelivered *a = left, *b = right;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->sub > b->sub ? -1 : 1;
}

/* It has not had the write lock. */
static void unmark(struct bcri_resolved *resolved, const struct undelivered *undelivered)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    if (undelivered->marks != 0 && bcri_load(&h->taker) == undelivered->marks &&
        (uint32_t)bcri_load(&h->taker_epoch) == undelivered->epoch)
        bcri_store(&h->taker, 0);
}

/* All of one cell at once, from the `i`th on; the index behind them. Where enl is parked they stay
 * as they are. */
static size_t give_back_to(struct walk *walk, size_t i)
{
    struct bcri_ctx *enl = walk->enl;
    const bcri_ref cell = walk->undelivered[i].cell;
    struct bcri_resolved resolved;
    const bool found = bcri_resolved_at(enl, cell, &resolved) == 0;
    bcri_journal_open(enl, BCRI_OP_SLOW, cell, BCRI_REF_NONE, BCRI_REF_NONE);
    const int error = found ? bcri_cell_enter(enl, &resolved) : bcrE_NOCELL;
    for (; i < walk->count && walk->undelivered[i].cell == cell; i++) {
        const struct undelivered *undelivered = &walk->undelivered[i];
        const bool there = error == 0 && resolved.open >> 32 == undelivered->gen;
        const bool ticket = bcri_slot_state(bcri_load(&undelivered->slot->word)) == BCRI_SLOT_TICKET;
        if (error == bcrE_TIMEOUT)
            continue;
        if (there)
            unmark(&resolved, undelivered);
        if (!there ||
            bcri_queue_prepend(enl, &resolved, undelivered->region, undelivered->slot_ref, true) != 0) {
            drop(enl, undelivered->region);
            bcri_store(&undelivered->slot->word, 0);
        }
        if (ticket && found)
            clear_waiter(&resolved, undelivered->slot, undelivered->slot_ref);
    }
    if (error == 0)
        bcri_cell_leave(enl, &resolved);
    bcri_journal_close(enl);
    return i;
}

static void give_back(struct walk *walk)
{
    if (walk->count != 0)
        qsort(walk->undelivered, walk->count, sizeof walk->undelivered[0], undelivered_order);
    for (size_t i = 0; i < walk->count;)
        i = give_back_to(walk, i);
    free(walk->undelivered);
}

static void unlock_cell(struct bcri_ctx *enl, const struct bcri_resolved *resolved)
{
    bcri_unlock_stale(enl, &resolved->cell->t.lock);
    bcri_unlock_stale(enl, &resolved->cell->h.lock);
}

/* Both its locks and those below, whatever its state. */
static bool lock_cell(struct bcri_ctx *enl, struct bcri_resolved *resolved)
{
    if (bcri_lock_until(enl, &resolved->cell->h.lock, BCRI_DEADLINE_NEVER) &&
        bcri_lock_until(enl, &resolved->cell->t.lock, BCRI_DEADLINE_NEVER) && bcri_cell_deeper(enl, resolved))
        return true;
    unlock_cell(enl, resolved);
    return false;
}

/* Or parked: it is as it was. */
static void close_cell(struct bcri_ctx *enl, struct bcri_resolved *resolved)
{
    bcri_journal_open(enl, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    if (bcri_area_lock_until(enl, resolved, BCRI_DEADLINE_NEVER)) {
        if (lock_cell(enl, resolved)) {
            if (bcri_cell_validate(enl, resolved)) {
                bcri_tickets_to_list(enl, resolved);
                bcri_cell_fail_waiters(enl, resolved, bcrE_DEAD);
                if (bcri_queue_length(resolved) != 0)
                    bcri_cell_empty(enl, resolved, BCRI_REF_NONE, BCRI_REF_NONE);
            }
            bcri_tx_begin(enl);
            bcri_tx_flags(enl, resolved, BCRI_CELL_CLOSED);
            bcri_tx_commit(enl);
            bcri_cell_less_deep(enl, resolved);
            unlock_cell(enl, resolved);
            bcri_putwait_fail(enl, resolved, bcrE_DEAD);
        }
        bcri_area_unlock(enl, resolved);
    }
    bcri_journal_close(enl);
}

static bool list_changed(const struct bcri_record_shm *record, uint32_t version)
{
    atomic_thread_fence(memory_order_acquire);
    return bcri_load(&record->id.version) != version;
}

/* One area, all of it, or what is still there of it. True: it is corrupt, unless the list has
 * changed. */
static bool walk_area(struct bcri_ctx *enl, const struct bcri_area_shm *area,
                      void (*visit)(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag),
                      uint32_t tag)
{
    bool corrupt = false;
    for (uint32_t i = 0; i < bcri_area_cells(area); i++) {
        struct bcri_resolved resolved;
        const int error = bcri_resolved_look(enl, bcri_area_cell(area, i), &resolved);
        corrupt |= error == bcrE_NOCELL || error == bcrE_INTERNAL;
        if (error == 0)
            visit(enl, &resolved, tag);
    }
    return corrupt;
}

/* The areas whose numbers begin at `*from` or behind it; `*from` moves on with each that is done.
 * To be called again if the list has changed meanwhile. True: it is corrupt, unless it has; the
 * rest of the list was left out. */
static bool walk_areas(struct bcri_ctx *enl, const struct bcri_record_shm *record, uint32_t version,
                       uint64_t *from,
                       void (*visit)(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag),
                       uint32_t tag)
{
    bool corrupt = false;
    const struct bcri_area_shm *before = NULL;
    for (bcri_ref ref = bcri_load_acquire(&record->id.first_area); ref != BCRI_REF_NONE && !corrupt;) {
        struct bcri_area_shm *area;
        const int error = bcri_area_next(enl, ref, before, &area);
        if (error != 0)
            return error == bcrE_INTERNAL;
        const uint64_t base = area->base;
        if (base >= *from) {
            if (list_changed(record, version))
                return false; /* it need not be the next one */
            corrupt = walk_area(enl, area, visit, tag);
            *from = base + 1;
        }
        before = area;
        ref = bcri_load_acquire(&area->next);
    }
    return corrupt;
}

/* A living owner may be changing its list meanwhile: then on from where it got to, until the list
 * was the same from there to its end. Numbers ascend along the list, and what the owner adds below
 * has nothing of what is looked for: it is younger than the death. So an owner that never stops
 * changing its areas does not keep the daemon for ever. */
static void each_cell(struct bcri_ctx *enl, uint32_t index,
                      void (*visit)(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag),
                      uint32_t tag)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    uint64_t from = 0;
    uint32_t version;
    bool corrupt;
    if (record == NULL)
        return;
    do {
        if (!bcri_version_stable(enl, record, index, &version))
            return; /* parked */
        corrupt = walk_areas(enl, record, version, &from, visit, tag);
    } while (list_changed(record, version));
    if (corrupt)
        bcri_corrupt_at(enl, "an owner's list of areas", &record->id.first_area);
}

static void visit_close(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag)
{
    (void)tag;
    close_cell(
        enl, resolved); /* again if the owner died while it was closing: its waiters may not have been told */
}

/* The mark holds if nobody has put since: then the protected region is gone. */
static void visit_mark(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    if (bcri_load(&h->taker) != tag)
        return;
    bcri_journal_open(enl, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    if (bcri_cell_enter(enl, resolved) == 0) {
        if (bcri_load(&h->taker) == tag) {
            bool outdated = bcri_epoch_past(bcri_epoch(resolved->cell), bcri_load(&h->taker_epoch));
            uint32_t flags = (uint32_t)bcri_load(&h->state);
            bcri_tx_begin(enl);
            if (!outdated)
                bcri_tx_flags(enl, resolved, flags | BCRI_CELL_SLOW | BCRI_CELL_OWNERDEAD);
            BCRI_TX32(enl, resolved->ref, struct bcri_cell_shm, h.taker, 0);
            bcri_tx_commit(enl);
            if (!outdated)
                bcri_cell_fail_waiters(enl, resolved, bcrE_OWNERDEAD);
        }
        bcri_cell_leave(enl, resolved);
    }
    bcri_journal_close(enl);
}

/* Steps, each of which passes over what it has done before, or does it to the same end: the
 * journal; the IDs, each of which is FREE once it is done; regions on their way back, which IDs
 * name until then; the cells, each closed for good; the marks of write locks. */
bool bcri_cce_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    struct walk walk = {.enl = enl};
    if (record == NULL)
        return true; /* it cannot be mapped, or the way to it is corrupt: nothing of it can be put right */
    enl->daemon.parked = 0;
    if (bcri_journal_repair(enl, index)) {
        bcri_slot_each(enl, index, end_id, &walk);
        give_back(&walk);
        each_cell(enl, index, visit_close, 0);
        const uint32_t records = bcri_load(&record->id.uses_locks) != 0 ? bcri_host_records(enl->host) : 0;
        for (uint32_t other = 0; other < records; other++)
            if (other != index)
                each_cell(enl, other, visit_mark, BCRI_TAG(index));
    }
    bcri_store(&record->bell.waits_on, enl->daemon.parked);
    if (enl->daemon.parked != 0)
        return false;
    atomic_fetch_or_explicit(&record->id.version, 1, memory_order_seq_cst);
    atomic_fetch_add_explicit(&record->id.version, 1, memory_order_seq_cst);
    bcri_store_release(&record->id.state, BCRI_CCE_DEAD);
    return true;
}
