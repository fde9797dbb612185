/* SPDX-License-Identifier: MIT */
/* The repair of a dead CCE (repair.h): its steps, and of these the IDs: what it held, its requests,
 * and what was handed to it and not collected. */
#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/private.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "bcri/result.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"
#include "closing.h"

/* A region that a request of the dead CCE was handed and did not take. The request's ID names the
 * region until it is at the head of its cell again, so that the daemon can make this list anew. */
struct undelivered {
    bcri_ref cell, region;
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    uint64_t key;
    uint32_t sub;
    uint32_t gen;        /* of the cell: another cell may lie there by now */
    uint32_t lock_owner; /* lock owner stored at the hand-over, 0 if none */
    uint32_t epoch;
};

struct walk {
    struct bcri_ctx *enl;
    struct undelivered *undelivered;
    size_t count, room;
};

static void drop_hold(struct bcri_ctx *enl, bcri_ref region)
{
    bcri_region_drop(enl, region);
    bcri_count_committed(enl);
}

static void keep_for_head(struct walk *walk, struct undelivered undelivered)
{
    if (walk->count == walk->room) {
        size_t room = walk->room != 0 ? 2 * walk->room : 16;
        struct undelivered *list = bcri_private_resize(walk->undelivered, room * sizeof *list);
        if (list == NULL) {
            drop_hold(walk->enl, undelivered.region);
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
    keep_for_head(walk, (struct undelivered){.cell = bcri_load(&slot->cell),
                                             .region = bcri_load(&slot->given),
                                             .slot = slot,
                                             .slot_ref = ref,
                                             .key = bcri_load(&slot->key),
                                             .sub = bcri_load(&slot->sub),
                                             .gen = (uint32_t)(bcri_load(&slot->prev) >> 32),
                                             .lock_owner = lock ? BCRI_TAG(bcri_request_owner(slot)) : 0,
                                             .epoch = (uint32_t)bcri_load(&slot->prev)});
}

/* Enters the cell of a request. If a living owner has closed the cell in bcr_cafree, it will either
 * fail all requests there or open the cell again; until then the request is in the cell's list.
 * BCRI_DONE; bcrE_TIMEOUT: the daemon is parked; anything else: the cell is closed for good. */
static struct bcri_result enter_or_ended(struct bcri_ctx *enl, struct bcri_resolved *resolved,
                                         const struct bcri_slot_shm *slot)
{
    struct bcri_result entered;
    uint32_t version;
    while ((entered = bcri_cell_enter(enl, resolved)).outcome == BCRI_STALE) {
        if (!bcri_version_stable(enl, resolved->record, resolved->owner, &version))
            return bcri_result(bcrE_TIMEOUT);
        if (bcri_cell_lost(enl, resolved, slot) ||
            bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_LISTED ||
            bcri_load_acquire(&resolved->record->id.state) != BCRI_CCE_ALIVE)
            return entered;
    }
    return entered;
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
        bcri_store_release(waiter, 0); /* the cells' memory waits for this (reclaim.h) */
}

/* Cancels a request that waits. If it waits by ticket and was served already, its region is kept
 * for giving back, and the slot stays as it is. False: the daemon is parked.
 * Model: death.pml */
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
    const struct bcri_result entered = enter_or_ended(enl, &resolved, slot);
    if (bcri_is_done(entered)) {
        if (bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_LISTED) {
            bcri_tx_begin(enl);
            bcri_tx_unlist(enl, &resolved, slot);
            bcri_tx_commit(enl);
            bcri_store(&slot->word, 0);
        } else if (bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_TICKET) {
            bcri_ref region = bcri_load(bcri_ring_at(&resolved, ticket)) & BCRI_REF_MASK;
            keep_for_head(walk, (struct undelivered){.cell = resolved.ref,
                                                     .region = region,
                                                     .slot = slot,
                                                     .slot_ref = ref,
                                                     .key = ticket + 1,
                                                     .gen = (uint32_t)(resolved.open >> 32)});
        }
        bcri_cell_leave(enl, &resolved);
    } else if (entered.error != bcrE_TIMEOUT) {
        /* The cell was closed after a ticket there had been served: there is no cell to which the
         * region could go back. */
        const uint64_t entry = bcri_load_acquire(bcri_ring_at(&resolved, ticket));
        if (bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_TICKET &&
            bcri_entry_is(entry, ticket, resolved.ring_log2))
            drop_hold(enl, entry & BCRI_REF_MASK);
        clear_waiter(&resolved, slot, ref);
        if (waits(bcri_load(&slot->word)))
            bcri_store(&slot->word, 0);
    }
    bcri_journal_close(enl);
    return entered.error != bcrE_TIMEOUT;
}

/* Ends a put that waits for room, or one that another CCE has ended: that CCE has finished with the
 * slot once the daemon has had the area's lock. False: the daemon is parked. */
static bool end_put(struct bcri_ctx *enl, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct bcri_resolved resolved;
    if (bcri_resolved_at(enl, bcri_load(&slot->cell), &resolved) != 0)
        return true;
    bcri_journal_open(enl, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    const bool had = bcri_area_lock_until(enl, &resolved, BCRI_DEADLINE_NEVER);
    if (had && bcri_slot_state(bcri_load(&slot->word)) == BCRI_SLOT_PUTWAIT) {
        bcri_putwait_cancel(enl, &resolved, slot, ref);
        bcri_putwait_serve_all(enl, &resolved); /* those behind it may need no room */
    }
    if (had)
        bcri_area_unlock(enl, &resolved);
    bcri_journal_close(enl);
    return had;
}

/* Whether the region of a LIVE ID counts any holder. With count 0 its only holder was allocating or
 * freeing it (drop.h). */
static bool has_holder(struct bcri_ctx *enl, bcri_ref region)
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

/* Ends one of the dead CCE's IDs. If the daemon is parked the ID may stay as it is until the daemon
 * comes again.
 * Model: death.pml */
static void end_id(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct walk *walk = arg;
    uint64_t word = bcri_load(&slot->word);
    if (waits(word) && (!end_request(walk, slot, ref) || waits(bcri_load(&slot->word))))
        return;
    if (is_put(word) && !end_put(walk->enl, slot, ref))
        return;
    /* What the request has become by now, or what the ID was from the start. Only the
     * daemon applies an answer a second time (tx.h), so the word stays what it is. */
    word = bcri_load(&slot->word);
    const bool served = bcri_slot_state(word) == BCRI_SLOT_SERVED;
    bcri_ref region = bcri_slot_hold_of(word);
    if (served && bcri_request_want(slot) != BCRI_WANT_READ) {
        keep_undelivered(walk, slot, ref);
        return;
    }
    if (served)
        drop_hold(walk->enl, bcri_load(&slot->given)); /* its own hold, beside the cell's */
    else if (region != BCRI_REF_NONE && has_holder(walk->enl, region))
        drop_hold(walk->enl, region);
    bcri_store_release(&slot->word, 0);
}

/* By cell, youngest first, since they go back to the head one after the other. */
static int undelivered_order(const void *left, const void *right)
{
    const struct undelivered *a = left, *b = right;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (int32_t)(a->sub - b->sub) > 0 ? -1 : 1; /* the count of answers wraps around */
}

/* Clears the lock owner of a request that was handed the write lock and did not take it. */
static void unmark(struct bcri_resolved *resolved, const struct undelivered *undelivered)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    if (undelivered->lock_owner != 0 && bcri_load(&h->taker) == undelivered->lock_owner &&
        (uint32_t)bcri_load(&h->taker_epoch) == undelivered->epoch)
        bcri_store(&h->taker, 0);
}

/* Gives back all regions of one cell, from the `i`th on. Returns the index behind them. If the
 * daemon is parked they stay as they are.
 * Model: death.pml */
static size_t give_back_to(struct walk *walk, size_t i)
{
    struct bcri_ctx *enl = walk->enl;
    const bcri_ref cell = walk->undelivered[i].cell;
    struct bcri_resolved resolved;
    const bool found = bcri_resolved_at(enl, cell, &resolved) == 0;
    bcri_journal_open(enl, BCRI_OP_SLOW, cell, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = found ? bcri_cell_enter(enl, &resolved) : bcri_result(bcrE_NOCELL);
    for (; i < walk->count && walk->undelivered[i].cell == cell; i++) {
        const struct undelivered *undelivered = &walk->undelivered[i];
        const bool there = bcri_is_done(entered) && resolved.open >> 32 == undelivered->gen;
        const bool ticket = bcri_slot_state(bcri_load(&undelivered->slot->word)) == BCRI_SLOT_TICKET;
        if (entered.error == bcrE_TIMEOUT)
            continue;
        if (there)
            unmark(&resolved, undelivered);
        if (!there ||
            bcri_queue_prepend(enl, &resolved, undelivered->region, undelivered->slot_ref, true) != 0) {
            drop_hold(enl, undelivered->region);
            bcri_store(&undelivered->slot->word, 0);
        }
        if (ticket && found)
            clear_waiter(&resolved, undelivered->slot, undelivered->slot_ref);
    }
    if (bcri_is_done(entered))
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
    bcri_private_free(walk->undelivered);
}

/* The steps of a repair: the journal; the IDs, each of which is FREE once it is done; the regions
 * on their way back, which IDs name until then; the cells, each closed for good; the write locks.
 * When the daemon repeats a step, it passes over what it has done before, or does it to the same
 * end. */
bool bcri_cce_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    struct walk walk = {.enl = enl};
    if (record == NULL)
        return true; /* it cannot be mapped, or what leads to it is corrupt */
    enl->daemon.parked = 0;
    if (bcri_journal_repair(enl, index)) {
        bcri_slot_each(enl, index, end_id, &walk);
        give_back(&walk);
        bcri_cells_close(enl, index);
        if (bcri_load(&record->id.uses_locks) != 0)
            bcri_write_owner_died_everywhere(enl, index);
    }
    bcri_store(&record->bell.waits_on, enl->daemon.parked);
    if (enl->daemon.parked != 0)
        return false;
    atomic_fetch_or_explicit(&record->id.version, 1, memory_order_seq_cst);
    atomic_fetch_add_explicit(&record->id.version, 1, memory_order_seq_cst);
    bcri_store_release(&record->id.state, BCRI_CCE_DEAD);
    return true;
}
