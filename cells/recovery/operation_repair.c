/* SPDX-License-Identifier: MIT */
/* The operation that a dead CCE's journal says it was in: done, or undone. One routine for each
 * kind; the phases are explained at the operations (put_steps.h, get_steps.h, waiters.c, region.h).
 * Step 4 of journal_repair.c.
 *
 * A put that had stored its entry is finished: the tail is moved, a sleeper rung, the ID freed. An
 * earlier one is undone: a hold that was counted for the cell is dropped, the ID stays for the
 * walk. */
#include "dead.h"

#include "bcri/addition.h"
#include "bcri/area_locks.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/handler_request.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"

/* Takes, beside the head lock, the tail lock of the dead CCE's cell in its name. No holder of the
 * tail lock waits for the head lock: area_locks.h. False: the daemon is parked.
 * Model: death.pml */
static bool take_over(struct bcri_ctx *enl, const struct bcri_dead *dead,
                      const struct bcri_resolved *resolved)
{
    _Atomic uint32_t *lock = &resolved->cell->t.lock;
    if (bcri_dead_holds(dead, lock))
        return true;
    if (!bcri_lock_until(enl, lock, BCRI_DEADLINE_NEVER))
        return false;
    bcri_store(lock, dead->tag);
    return true;
}

static void free_slot(struct bcri_ctx *enl, bcri_ref ref)
{
    struct bcri_slot_shm *slot = ref != BCRI_REF_NONE ? bcri_at(enl, ref) : NULL;
    if (slot != NULL)
        bcri_store_release(&slot->word, 0);
}

static uint64_t slot_word(struct bcri_ctx *enl, bcri_ref ref)
{
    struct bcri_slot_shm *slot = ref != BCRI_REF_NONE ? bcri_at(enl, ref) : NULL;
    return slot != NULL ? bcri_load(&slot->word) : 0;
}

static bool slot_is_live(struct bcri_ctx *enl, bcri_ref ref, bcri_ref region)
{
    return slot_word(enl, ref) == bcri_slot_word(BCRI_SLOT_LIVE, 0, region);
}

static void drop_hold_of_dead(struct bcri_ctx *enl, bcri_ref region)
{
    bcri_region_drop(enl, region);
    bcri_count_committed(enl);
}

/* Whether the cell's own hold is counted for a put that was not done (journal.h, put_held). */
static bool cell_holds(const struct bcri_dead *dead)
{
    switch (bcri_load(&dead->journal->put_held)) {
    case BCRI_HELD_NOT: return dead->counted; /* may be counted and not yet noted */
    case BCRI_HELD: return true;
    case BCRI_HELD_DROPPING: return !dead->counted;
    default: return false;
    }
}

/* Whether a put is done. In phase 1 of put_steps.h the tail lock tells: if the dead putter no longer
 * has it, the put is done; if it has, the entry tells. Phase 2: under both locks.
 * Model: death.pml */
static bool put_is_done(struct bcri_dead *dead, struct bcri_resolved *resolved, bcri_ref region)
{
    struct bcri_journal_shm *j = dead->journal;
    uint32_t phase = BCRI_PHASE(bcri_load(&j->phase));
    if (phase != 1 || resolved == NULL || !bcri_dead_holds(dead, &resolved->cell->t.lock))
        return phase != 0;
    uint64_t ticket = bcri_load(&j->ticket);
    uint64_t entry = bcri_load(bcri_ring_at(resolved, ticket));
    if (!bcri_entry_is(entry, ticket, resolved->ring_log2) || (entry & BCRI_REF_MASK) != region)
        return false;
    bcri_store_release(&resolved->cell->t.tail, ticket + 1);
    return true;
}

/* After a put or get that is done and that has met the watermark: counts and tells the request, if
 * the dead CCE still holds `lock` of the cell, which it releases only after that.
 * Model: death.pml, handler_request.pml */
static void finish_request(struct bcri_ctx *enl, const struct bcri_dead *dead,
                           const struct bcri_resolved *resolved, _Atomic uint32_t *lock)
{
    if ((bcri_load(&dead->journal->phase) & BCRI_PHASE_REQUESTS) == 0)
        return;
    if (bcri_dead_holds(dead, lock))
        bcri_request_finish(enl, dead->index, resolved);
    bcri_bell_ring(enl, resolved->record); /* it may have cleared `asleep` and not rung */
}

/* Model: death.pml */
static void finish_put(struct bcri_ctx *enl, struct bcri_dead *dead, struct bcri_resolved *resolved)
{
    struct bcri_journal_shm *j = dead->journal;
    bcri_ref region = bcri_load(&j->region);
    uint32_t flags = bcri_load(&j->phase);
    if (put_is_done(dead, resolved, region)) {
        if (resolved != NULL)
            finish_request(enl, dead, resolved, &resolved->cell->t.lock);
        if ((flags & BCRI_PHASE_RINGS) != 0)
            bcri_bell_ring_index(enl, (uint32_t)bcri_load(&j->old), BCRI_REF_NONE);
        free_slot(enl, bcri_load(&j->slot));
    } else if ((flags & BCRI_PHASE_GIVES) == 0 && cell_holds(dead) && bcri_load(&j->detached.cell) == 0) {
        drop_hold_of_dead(enl, region);
    }
}

/* A take that was not finished (get_steps.h): its region goes back to the front. `head` itself may
 * not be lowered, since a putter may already rely on it. False: the daemon is parked.
 * Model: death.pml */
static bool take_back(struct bcri_ctx *enl, const struct bcri_dead *dead, struct bcri_resolved *resolved,
                      bcri_ref region)
{
    if (!take_over(enl, dead, resolved) || !bcri_cell_deeper(enl, resolved))
        return false;
    bcri_tickets_to_list(enl, resolved);
    if (bcri_queue_prepend(enl, resolved, region, BCRI_REF_NONE, false) != 0)
        drop_hold_of_dead(enl, region); /* no memory for a node: no CCE can get it */
    bcri_cell_less_deep(enl, resolved);
    return true;
}

/* Undoes a get that had begun to wait by `ticket`. False: the daemon is parked.
 * Model: death.pml */
static bool undo_wait(struct bcri_ctx *enl, const struct bcri_dead *dead,
                      const struct bcri_resolved *resolved, uint64_t ticket, bcri_ref slot)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    _Atomic uint64_t *waiter = &h->waiter[ticket % BCRI_TICKETS];
    if (!take_over(enl, dead, resolved))
        return false;
    if (bcri_load(&h->head) == ticket + 1)
        bcri_store(&h->head, ticket);
    if ((bcri_load(waiter) & BCRI_REF_MASK) == slot)
        bcri_store(waiter, 0);
    bcri_store(&resolved->cell->t.limit, bcri_load(&resolved->cell->t.tail));
    free_slot(enl, slot);
    return true;
}

/* Model: death.pml */
static bool finish_take(struct bcri_ctx *enl, const struct bcri_dead *dead, struct bcri_resolved *resolved)
{
    struct bcri_journal_shm *j = dead->journal;
    if (resolved == NULL || !bcri_dead_holds(dead, &resolved->cell->h.lock))
        return true;
    uint64_t ticket = bcri_load(&j->ticket);
    bcri_ref slot = bcri_load(&j->slot);
    bcri_ref region = bcri_load(&j->region);
    uint32_t phase = BCRI_PHASE(bcri_load(&j->phase));
    if (phase != 1 || slot_is_live(enl, slot, region))
        finish_request(enl, dead, resolved, &resolved->cell->h.lock);
    if (phase == 1 && slot_is_live(enl, slot, region)) {
        if ((bcri_load(&j->phase) & BCRI_PHASE_LOCKS) != 0) {
            bcri_write_owner_set(resolved, dead->tag, (uint32_t)bcri_load(&j->take_epoch));
            bcri_store(&dead->record->id.uses_locks, 1);
        }
    } else if (phase == 1 && bcri_load(&resolved->cell->h.head) == ticket + 1) {
        return take_back(enl, dead, resolved, region);
    } else if (phase == 4) {
        return undo_wait(enl, dead, resolved, ticket, slot);
    }
    return true;
}

/* Model: count.pml, death.pml */
static void finish_read(struct bcri_ctx *enl, const struct bcri_dead *dead, struct bcri_resolved *resolved)
{
    struct bcri_journal_shm *j = dead->journal;
    bcri_ref region = bcri_load(&j->region);
    uint32_t phase = bcri_load(&j->phase);
    struct bcri_slot_shm *slot = bcri_at(enl, bcri_load(&j->slot));
    bool counted = dead->counted;
    if (resolved != NULL && bcri_dead_holds(dead, &resolved->cell->h.lock))
        finish_request(enl, dead, resolved, &resolved->cell->h.lock); /* it has found nothing */
    if (slot == NULL || BCRI_PHASE(phase) != 1 || bcri_load(&slot->word) != 0)
        return;
    if ((phase & BCRI_PHASE_SOLE) != 0) {
        struct bcri_region_shm *header = bcri_at(enl, region);
        counted = header != NULL && resolved != NULL && bcri_dead_holds(dead, &resolved->cell->h.lock);
        if (counted)
            bcri_store(&header->count, BCRI_COUNT_WORD(2, 0));
    }
    if (counted)
        bcri_store(&slot->word,
                   bcri_slot_word(BCRI_SLOT_LIVE, 0, region)); /* the walk over the IDs drops it */
}

/* Model: death.pml */
static void finish_collect(struct bcri_ctx *enl, const struct bcri_dead *dead)
{
    struct bcri_journal_shm *j = dead->journal;
    bcri_ref slot_ref = bcri_load(&j->slot);
    struct bcri_resolved resolved;
    if (bcri_load(&j->phase) != 1 || bcri_slot_state(slot_word(enl, slot_ref)) != BCRI_SLOT_LIVE)
        return;
    const struct bcri_slot_shm *slot = bcri_at(enl, slot_ref);
    if (bcri_resolved_at(enl, bcri_load(&slot->cell), &resolved) != 0)
        return;
    struct bcri_head_shm *h = &resolved.cell->h;
    _Atomic uint64_t *waiter = &h->waiter[bcri_load(&slot->key) % BCRI_TICKETS];
    bool waits = (bcri_load(waiter) & BCRI_REF_MASK) == slot_ref;
    /* While the waiter entry names the slot, the dead CCE holds the head lock, and the lock owner
     * may not be stored yet. */
    if (waits && bcri_request_want(slot) == BCRI_WANT_LOCK) {
        bcri_write_owner_set(&resolved, dead->tag, (uint32_t)bcri_load(&slot->prev));
        bcri_store(&dead->record->id.uses_locks, 1);
    }
    if (waits)
        bcri_store_release(waiter, 0);
}

/* While the ID still names the block, the count may be 0 already, and the block's owner may have
 * given it out again.
 * Model: count.pml, death.pml */
static void finish_free_last(struct bcri_ctx *enl, const struct bcri_dead *dead)
{
    bcri_ref slot = bcri_load(&dead->journal->slot);
    uint64_t word = slot_word(enl, slot);
    if (bcri_slot_state(word) != BCRI_SLOT_LIVE)
        return;
    bcri_ref ref = bcri_slot_region(word);
    struct bcri_region_shm *region = bcri_at(enl, ref);
    if (region != NULL && bcri_heap_count_word(enl, ref, bcri_load(&dead->journal->phase)) == BCRI_COUNT_ONE)
        bcri_store_release(&region->count, 0);
    if (region != NULL)
        bcri_heap_freed(enl, ref);
    free_slot(enl, slot);
}

static void finish_alloc(struct bcri_ctx *enl, const struct bcri_dead *dead)
{
    struct bcri_journal_shm *j = dead->journal;
    bcri_ref region = bcri_load(&j->region);
    struct bcri_region_shm *header = region != BCRI_REF_NONE ? bcri_at(enl, region) : NULL;
    if (header != NULL && !slot_is_live(enl, bcri_load(&j->slot), region))
        bcri_store(&header->count, 0);
}

/* rgmod: `region` is the copy, `old` the shared region. Phase 1: about to make the ID name the
 * copy; 2: about to drop the old region; 3: dropped. */
static void finish_mod(struct bcri_ctx *enl, const struct bcri_dead *dead)
{
    struct bcri_journal_shm *j = dead->journal;
    uint32_t phase = bcri_load(&j->phase);
    if (phase == 1 && !slot_is_live(enl, bcri_load(&j->slot), bcri_load(&j->region)))
        finish_alloc(enl, dead);
    else if ((phase == 1 || phase == 2) && !dead->counted)
        drop_hold_of_dead(enl, bcri_load(&j->old));
}

bool bcri_operation_repair(struct bcri_ctx *enl, struct bcri_dead *dead, struct bcri_resolved *resolved)
{
    struct bcri_journal_shm *j = dead->journal;
    switch ((enum bcri_op)bcri_load(&j->op)) {
    case BCRI_OP_PUT: finish_put(enl, dead, resolved); break;
    case BCRI_OP_TAKE: return finish_take(enl, dead, resolved);
    case BCRI_OP_READ: finish_read(enl, dead, resolved); break;
    case BCRI_OP_COLLECT: finish_collect(enl, dead); break;
    case BCRI_OP_FREE:
        if (dead->counted)
            free_slot(enl, bcri_load(&j->slot));
        break;
    case BCRI_OP_FREE_LAST: finish_free_last(enl, dead); break;
    case BCRI_OP_ALLOC: finish_alloc(enl, dead); break;
    case BCRI_OP_MOD: finish_mod(enl, dead); break;
    case BCRI_OP_SLOW:
    case BCRI_OP_ZAP:
    case BCRI_OP_NONE: break;
    }
    return true;
}
