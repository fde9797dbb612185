/* SPDX-License-Identifier: MIT */
/* The cells of a dead CCE, which are closed, and the cells of others of which it had the write lock
 * (write_lock.h). A visit for which the daemon is parked leaves the cell as it was; the repair that
 * begins again comes there again. */
#include "closing.h"

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/detached.h"
#include "bcri/get_service.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"

static void unlock_cell(struct bcri_ctx *enl, const struct bcri_resolved *resolved)
{
    bcri_unlock_stale(enl, &resolved->cell->t.lock);
    bcri_unlock_stale(enl, &resolved->cell->h.lock);
}

/* Takes both locks of a cell and those below them, whatever the cell's state. False: the daemon is
 * parked. */
static bool lock_cell(struct bcri_ctx *enl, struct bcri_resolved *resolved)
{
    if (bcri_lock_until(enl, &resolved->cell->h.lock, BCRI_DEADLINE_NEVER) &&
        bcri_lock_until(enl, &resolved->cell->t.lock, BCRI_DEADLINE_NEVER) && bcri_cell_deeper(enl, resolved))
        return true;
    unlock_cell(enl, resolved);
    return false;
}

/* Closes a cell; if the daemon is parked the cell stays as it was. */
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

/* Visits the cells of one area that are still there. True: the area is corrupt, unless the list has
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

/* Visits the areas whose numbers begin at `*from` or behind it; `*from` moves on with each that is
 * done. The caller calls it again if the list has changed meanwhile. True: the list is corrupt,
 * unless it has changed; its rest was left out. */
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
                return false; /* `area` need not be the next one */
            corrupt = walk_area(enl, area, visit, tag);
            *from = base + 1;
        }
        before = area;
        ref = bcri_load_acquire(&area->next);
    }
    return corrupt;
}

/* Visits all cells of a CCE. A living owner may change its list meanwhile: then the walk goes on
 * from where it was, until the list stayed the same from there to its end. Numbers ascend along the
 * list, and an area that the owner adds below that point is younger than the death, so it has
 * nothing that the walk looks for. So an owner that never stops changing its areas does not keep
 * the daemon for ever. */
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
    /* Also a closed cell: if the owner died while closing it, its waiters may not be told yet. */
    close_cell(enl, resolved);
}

bool bcri_write_owner_died(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag,
                           const uint32_t *epoch)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    if (bcri_load(&h->taker) != tag)
        return true;
    bcri_journal_open(enl, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = bcri_cell_enter(enl, resolved);
    if (bcri_is_done(entered)) {
        const uint64_t taken = bcri_load(&h->taker_epoch);
        if (bcri_load(&h->taker) == tag && (epoch == NULL || *epoch == (uint32_t)taken)) {
            bool outdated = bcri_epoch_past(bcri_epoch(resolved->cell), taken);
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
    return entered.error != bcrE_TIMEOUT;
}

static void visit_write_owner(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag)
{
    (void)bcri_write_owner_died(enl, resolved, tag, NULL);
}

void bcri_cells_close(struct bcri_ctx *enl, uint32_t index)
{
    each_cell(enl, index, visit_close, 0);
}

void bcri_write_owner_died_everywhere(struct bcri_ctx *enl, uint32_t index)
{
    const uint32_t records = bcri_host_records(enl->host);
    for (uint32_t other = 0; other < records; other++)
        if (other != index)
            each_cell(enl, other, visit_write_owner, BCRI_TAG(index));
}
