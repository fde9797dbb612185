/* SPDX-License-Identifier: MIT */
/* put and get under both locks of the cell: slow.h, queue.h.
 *
 * Journal: PUT, TAKE, READ, ZAP as for the fast paths. The transaction that does the operation sets
 * phase 2, so an operation is done if and only if the phase is 2 after the daemon has repaired the
 * redo log. Phase 3 (gets): the request is in the list. */
#include "bcri/slow.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/detached.h"
#include "bcri/get.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/put.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/request.h"
#include "bcri/resolved.h"
#include "bcri/result.h"
#include "bcri/serve.h"
#include "bcri/slot.h"
#include "bcri/tx.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm

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

/* Takes or reads the first region of the queue. */
static int get_queued(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                      bcri_ref region, enum bcri_source from, struct bcri_slot_shm *slot, bool due)
{
    if (!bcri_take_allowed(ctx, want, region))
        return bcrE_NOMEM;
    bool leaf = want != BCRI_WANT_READ && (from == BCRI_FROM_FRONT || from == BCRI_FROM_BACK);
    bcri_ref slot_ref = bcri_slot_ref(ctx, slot);
    bcri_store(&slot->data, bcri_region_data(ctx, region));
    if (leaf)
        bcri_leaf_lock(ctx, resolved);
    uint32_t count = want == BCRI_WANT_READ ? bcri_count_lock(ctx, region) : 0;
    bcri_tx_begin(ctx);
    if (want == BCRI_WANT_READ)
        bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count + 1);
    else
        bcri_tx_unqueue(ctx, resolved, from);
    if (want == BCRI_WANT_LOCK) {
        BCRI_TX32(ctx, resolved->ref, CELL, h.taker, ctx->tag);
        BCRI_TX64(ctx, resolved->ref, CELL, h.taker_epoch, bcri_epoch(resolved->cell));
    }
    BCRI_TX64(ctx, slot_ref, SLOT, word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_tx_phase(ctx, 2);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    if (want == BCRI_WANT_READ)
        bcri_count_committed(ctx);
    if (leaf)
        bcri_leaf_unlock(ctx, resolved);
    return 0;
}

static int join_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                     struct bcri_slot_shm *slot, bool due)
{
    bcri_ref slot_ref = bcri_slot_ref(ctx, slot);
    bcri_ref last = bcri_load(&resolved->cell->c.list_last);
    if (last != BCRI_REF_NONE && bcri_at(ctx, last) == NULL)
        return bcrE_NOMEM;
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->kind, bcri_request_kind(ctx, want));
    bcri_store(&slot->data, 0);
    bcri_tx_begin(ctx);
    BCRI_TX64(ctx, slot_ref, SLOT, prev, last);
    BCRI_TX64(ctx, slot_ref, SLOT, next, 0);
    BCRI_TX64(ctx, slot_ref, SLOT, word, bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref));
    if (last != 0)
        BCRI_TX64(ctx, last, SLOT, next, slot_ref);
    else
        BCRI_TX64(ctx, resolved->ref, CELL, c.list_first, slot_ref);
    BCRI_TX64(ctx, resolved->ref, CELL, c.list_last, slot_ref);
    if (want != BCRI_WANT_READ)
        BCRI_TX32(ctx, resolved->ref, CELL, c.takes, bcri_load(&resolved->cell->c.takes) + 1);
    bcri_tx_flags(ctx, resolved, (uint32_t)bcri_load(&resolved->cell->h.state) | BCRI_CELL_SLOW);
    bcri_tx_phase(ctx, 3);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    return BCRI_WAITS;
}

/* A get that ends without a region has requested the handler all the same. */
static int find_nothing(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due)
{
    if (due) {
        bcri_tx_begin(ctx);
        bcri_tx_request(ctx, resolved, due);
        bcri_tx_commit(ctx);
    }
    return bcrE_TIMEOUT;
}

static int get_now(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want, bool wait,
                   bool area, struct bcri_slot_shm *slot, bool due)
{
    enum bcri_source from;
    bcri_ref region = bcri_queue_first(ctx, resolved, &from);
    if (region != 0)
        return get_queued(ctx, resolved, want, region, from, slot, due);
    if (area && bcri_load(&resolved->cell->c.list_first) == 0) {
        int error = bcri_putwait_take(ctx, resolved, want, slot, due);
        if (error != bcrE_TIMEOUT)
            return error;
    }
    return wait ? join_list(ctx, resolved, want, slot, due) : find_nothing(ctx, resolved, due);
}

static int get_under_locks(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                           bool wait, bool area, struct bcri_slot_shm *slot)
{
    if ((bcri_load(&resolved->cell->h.state) & BCRI_CELL_OWNERDEAD) != 0)
        return bcrE_OWNERDEAD;
    const bool due = bcri_get_requests(resolved, bcri_queue_length(resolved), want != BCRI_WANT_READ);
    int error = get_now(ctx, resolved, want, wait, area, slot, due);
    bcri_requests_told(ctx, resolved, due && error != bcrE_NOMEM);
    return error;
}

int bcri_get_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want, int msec,
                  struct bcri_slot_shm *slot)
{
    const uint64_t deadline_ns = bcri_deadline_after(msec); /* for the locks */
    if (want == BCRI_WANT_LOCK)
        bcri_note_locks(ctx);
    bcri_journal_open(ctx, want == BCRI_WANT_READ ? BCRI_OP_READ : BCRI_OP_TAKE, resolved->ref, BCRI_REF_NONE,
                      bcri_slot_ref(ctx, slot));
    int error;
    bool area;
    for (;;) {
        /* If puts wait for room, the area's lock comes first. A put that begins to wait after this
         * look will see, when its putter looks at this cell, what this get leaves there. */
        area = bcri_load_acquire(&resolved->area->waitputs) != 0;
        if (area && !bcri_area_lock_until(ctx, resolved, deadline_ns)) {
            area = false;
            error = bcrE_TIMEOUT;
            break;
        }
        error = bcri_cell_enter_until(ctx, resolved, deadline_ns);
        if (error != 0 || area || bcri_load_acquire(&resolved->area->waitputs) == 0)
            break;
        bcri_cell_leave(ctx, resolved);
    }
    if (error == 0) {
        error = get_under_locks(ctx, resolved, want, msec != 0, area, slot);
        bcri_cell_leave(ctx, resolved);
    }
    if (area) {
        if (error == 0 && want != BCRI_WANT_READ)
            bcri_putwait_serve(ctx, resolved);
        else if (error == BCRI_WAITS)
            bcri_putwait_hand_over(ctx, resolved);
        bcri_area_unlock(ctx, resolved);
    }
    bcri_journal_close(ctx);
    return error;
}
