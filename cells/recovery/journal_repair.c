/* SPDX-License-Identifier: MIT */
/* The journal of a dead CCE: repair.h. What it says of the operation is for operation_repair.c.
 *
 * The daemon waits for no CCE (lock.h, Parking). So this may end before it is done, and begins
 * again at its first step. Each step is right whichever of the later ones were begun before:
 *   1. Apply and forget the redo log, which may hold stores of any operation. Again: the log is
 *      empty.
 *   2. Repair the count word, by cw_*. Again: cw_state, which this leaves, says the same; another
 *      CCE may have the word by then.
 *   3. Release the leaf lock, if the dead CCE holds it: nothing of its transaction is open any
 *      more.
 *   4. Finish or undo the operation (operation_repair.c). If that needs the tail lock, too, to take a region back, the
 *      daemon takes it in the dead CCE's name, so that step 6 releases it, and then the deeper
 *      locks; until it has them nothing has happened. Nothing else here waits: a hold that cannot
 *      be dropped passes to an ID of the daemon (region.h).
 *   5. Set the journal to SLOW: nothing is left to be done for the operation.
 *   6. For each cell of which the dead CCE holds a lock: drop what it has detached, service the
 *      cell, release the locks. That takes the deeper locks; without them the dead CCE's locks
 *      stay. A cell whose locks were released is passed over.
 *   7. Release the area's lock, ring the CCE that was to be rung, and close the journal.
 * Meanwhile the daemon keeps only locks of the dead CCE. It takes others only after these, in the
 * order of all locks (area_locks.h), and releases them at once; so no holder of such a lock can be
 * waiting for one that the daemon keeps.
 *
 * The daemon is not killed at any instruction here: when it dies, the program ends. So a step is
 * interrupted only where the daemon is parked. */
#include "bcri/repair.h"

#include "bcri/area_locks.h"
#include "bcri/bell.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/detached.h"
#include "bcri/handler_request.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/look_again.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"
#include "dead.h"

static void let_go(const struct bcri_dead *dead, _Atomic uint32_t *lock)
{
    if (bcri_dead_holds(dead, lock))
        bcri_store_release(lock, 0);
}

/* Services a cell of which the dead CCE holds both locks, as both_locks.h promises. False: the daemon
 * is parked.
 * Model: death.pml */
static bool service_cell(struct bcri_ctx *enl, const struct bcri_dead *dead, struct bcri_resolved *resolved)
{
    if (!bcri_cell_deeper(enl, resolved))
        return false;
    if (bcri_load(&dead->journal->detached.cell) == resolved->ref) {
        if (dead->counted)
            bcri_detached_step_over(enl, dead->index);
        bcri_detached_drop(enl, dead->index, resolved);
    }
    uint64_t state = bcri_load(&resolved->cell->h.state);
    if (state >> 32 == resolved->open >> 32 && (state & BCRI_CELL_CLOSED) == 0 &&
        bcri_cell_validate(enl, resolved)) {
        if (!bcri_cell_service(enl, resolved)) {
            bcri_look_again(enl, resolved->ref);
            enl->daemon.parked = 0; /* the parked piece is not this repair */
        }
        bcri_requests_tell_again(enl, resolved);
    }
    bcri_cell_less_deep(enl, resolved);
    return true;
}

/* Releases the dead CCE's locks of a cell. False: the daemon is parked.
 * Model: death.pml */
static bool leave_cell(struct bcri_ctx *enl, const struct bcri_dead *dead, struct bcri_resolved *resolved)
{
    struct bcri_cell_shm *cell = resolved->cell;
    if (bcri_dead_holds(dead, &cell->h.lock) && bcri_dead_holds(dead, &cell->t.lock) &&
        !service_cell(enl, dead, resolved))
        return false;
    let_go(dead, &cell->t.lock);
    let_go(dead, &cell->h.lock);
    return true;
}

static bool named_place(struct bcri_ctx *enl, _Atomic uint64_t *field, struct bcri_resolved *resolved)
{
    bcri_ref ref = bcri_load(field);
    return ref != BCRI_REF_NONE && bcri_resolved_at(enl, ref, resolved) == 0;
}

/* Releases the locks of a cell whose area was freed while the dead CCE was about to lock it: only
 * the lock words still are a cell's. */
static void let_go_of_old(struct bcri_ctx *enl, const struct bcri_dead *dead, _Atomic uint64_t *field)
{
    struct bcri_cell_shm *cell = bcri_load(field) != BCRI_REF_NONE ? bcri_at(enl, bcri_load(field)) : NULL;
    if (cell != NULL) {
        let_go(dead, &cell->t.lock);
        let_go(dead, &cell->h.lock);
    }
}

/* False: the daemon is parked.
 * Model: death.pml */
static bool repair_open(struct bcri_ctx *enl, struct bcri_dead *dead)
{
    struct bcri_journal_shm *j = dead->journal;
    struct bcri_resolved cell, second;
    bcri_tx_repair(enl, dead->index);
    enum bcri_cw_state counted = bcri_count_repair(enl, dead->index);
    dead->counted = counted == BCRI_CW_COMMIT || counted == BCRI_CW_LAST;

    struct bcri_area_shm *area =
        bcri_load(&j->area) != BCRI_REF_NONE ? bcri_at(enl, bcri_load(&j->area)) : NULL;
    if (area != NULL)
        let_go(dead, &area->leaf);
    bool has_cell = named_place(enl, &j->cell, &cell);
    bool has_second = named_place(enl, &j->cell2, &second);
    if (!bcri_operation_repair(enl, dead, has_cell ? &cell : NULL))
        return false;
    bcri_store(&j->doing, bcri_doing(BCRI_OP_SLOW, 0));
    if ((has_cell && !leave_cell(enl, dead, &cell)) || (has_second && !leave_cell(enl, dead, &second)))
        return false;
    if (!has_cell)
        let_go_of_old(enl, dead, &j->cell);
    if (!has_second)
        let_go_of_old(enl, dead, &j->cell2);
    if (area != NULL)
        let_go(dead, &area->lock);
    uint64_t ring = bcri_load(&j->ring);
    if (ring != 0)
        bcri_bell_ring_index(enl, (uint32_t)(ring - 1), BCRI_REF_NONE);
    bcri_store(&j->cw_state, BCRI_CW_IDLE);
    bcri_store(&j->ring, 0);
    bcri_store_release(&j->op, BCRI_OP_NONE);
    /* The dead CCE may have freed room and not served the puts that wait for it. And if it died
     * because it met corrupt memory, this validates the cell, which it may not have locked. */
    if (has_cell)
        bcri_look_again(enl, cell.ref);
    if (has_second)
        bcri_look_again(enl, second.ref);
    else if (!has_cell && area != NULL)
        bcri_look_again(enl, area->cells);
    return true;
}

bool bcri_journal_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_dead dead = {.index = index, .tag = BCRI_TAG(index), .record = bcri_record(enl, index)};
    dead.journal = &dead.record->journal;
    if (bcri_load_acquire(&dead.journal->op) == BCRI_OP_NONE &&
        bcri_load(&dead.journal->cw_state) == BCRI_CW_IDLE)
        return true;
    const bool done = repair_open(enl, &dead);
    bcri_cce_wake_sleepers(dead.record);
    return done;
}
