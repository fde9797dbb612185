/* SPDX-License-Identifier: MIT */
/* A get under both locks of its cell. The transaction that does the get sets phase 2, so the get is
 * done if and only if the phase is 2 after the daemon has repaired the redo log. Phase 3: the
 * request is in the list. */
#include "bcri/get.h"

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/own.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm

/* Takes or reads the first region of the queue.
 * Model: death.pml */
static int get_queued(struct bcri_ctx *ctx, const struct bcri_get *get, bcri_ref region,
                      enum bcri_source from, bool due)
{
    struct bcri_resolved *const resolved = get->resolved;
    const enum bcri_want want = get->want;
    const int error = bcri_take_allowed(ctx, want, region);
    if (error != 0)
        return error;
    bool leaf = want != BCRI_WANT_READ && (from == BCRI_FROM_FRONT || from == BCRI_FROM_BACK);
    bcri_store(&get->slot->data, bcri_region_data(ctx, region));
    if (leaf)
        bcri_leaf_lock(ctx, resolved);
    uint32_t count = 0;
    if (want == BCRI_WANT_READ && bcri_unlikely(!bcri_count_try(ctx, region, &count)))
        return bcrE_TIMEOUT; /* the context parks; a read takes no leaf lock */
    bcri_tx_begin(ctx);
    if (want == BCRI_WANT_READ)
        bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count + 1);
    else
        bcri_tx_unqueue(ctx, resolved, from);
    if (want == BCRI_WANT_LOCK) {
        BCRI_TX32(ctx, resolved->ref, CELL, h.taker, ctx->tag);
        BCRI_TX64(ctx, resolved->ref, CELL, h.taker_epoch, bcri_epoch(resolved->cell));
    }
    BCRI_TX64(ctx, get->slot_ref, SLOT, word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_tx_phase(ctx, 2);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    if (want == BCRI_WANT_READ)
        bcri_count_committed(ctx);
    if (leaf)
        bcri_leaf_unlock(ctx, resolved);
    return 0;
}

/* Model: death.pml */
static int join_list(struct bcri_ctx *ctx, struct bcri_get *get, bool due)
{
    struct bcri_resolved *const resolved = get->resolved;
    struct bcri_slot_shm *const slot = get->slot;
    bcri_ref last = bcri_load(&resolved->cell->c.list_last);
    if (last != BCRI_REF_NONE && bcri_at(ctx, last) == NULL)
        return bcrE_NOMEM;
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->kind, bcri_request_kind(ctx, get->want));
    bcri_store(&slot->data, 0);
    bcri_tx_begin(ctx);
    bcri_tx_list(ctx, resolved, get->slot_ref, last, get->want);
    bcri_tx_flags(ctx, resolved, (uint32_t)bcri_load(&resolved->cell->h.state) | BCRI_CELL_SLOW);
    bcri_tx_phase(ctx, 3);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    get->waits = true;
    return 0;
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

static int get_now(struct bcri_ctx *ctx, struct bcri_get *get, bool area, bool due)
{
    struct bcri_resolved *const resolved = get->resolved;
    enum bcri_source from;
    bcri_ref region = bcri_queue_first(ctx, resolved, &from);
    if (region != 0)
        return get_queued(ctx, get, region, from, due);
    if (area && bcri_load(&resolved->cell->c.list_first) == 0) {
        int error = bcri_putwait_take(ctx, resolved, get->want, get->slot, due);
        if (error != bcrE_TIMEOUT)
            return error;
    }
    return get->msec != 0 ? join_list(ctx, get, due) : find_nothing(ctx, resolved, due);
}

static int get_under_locks(struct bcri_ctx *ctx, struct bcri_get *get, bool area)
{
    struct bcri_resolved *const resolved = get->resolved;
    if ((bcri_load(&resolved->cell->h.state) & BCRI_CELL_OWNERDEAD) != 0)
        return bcrE_OWNERDEAD;
    const bool due = bcri_get_requests(resolved, bcri_queue_length(resolved), get->want != BCRI_WANT_READ);
    int error = get_now(ctx, get, area, due);
    bcri_requests_told(ctx, resolved, due && error != bcrE_NOMEM && error != bcrE_NBYTES);
    return error;
}

/* Model: putwait.pml */
struct bcri_result bcri_get_slow(struct bcri_ctx *ctx, struct bcri_get *get)
{
    struct bcri_resolved *const resolved = get->resolved;
    const enum bcri_want want = get->want;
    const uint64_t deadline_ns = bcri_deadline_after(get->msec); /* for the locks */
    if (want == BCRI_WANT_LOCK)
        bcri_note_locks(ctx);
    bcri_journal_open(ctx, want == BCRI_WANT_READ ? BCRI_OP_READ : BCRI_OP_TAKE, resolved->ref, BCRI_REF_NONE,
                      get->slot_ref);
    struct bcri_result result;
    bool area;
    for (;;) {
        /* If puts wait for room, the area's lock comes first. A put that begins to wait after this
         * look will see, when its putter looks at this cell, what this get leaves there. */
        area = bcri_load_acquire(&resolved->area->waitputs) != 0;
        if (area && !bcri_area_lock_until(ctx, resolved, deadline_ns)) {
            area = false;
            result = bcri_result(bcrE_TIMEOUT);
            break;
        }
        result = bcri_cell_enter_until(ctx, resolved, deadline_ns);
        if (!bcri_is_done(result) || area || bcri_load_acquire(&resolved->area->waitputs) == 0)
            break;
        bcri_cell_leave(ctx, resolved);
    }
    if (bcri_is_done(result)) {
        result = bcri_result(get_under_locks(ctx, get, area));
        bcri_cell_leave(ctx, resolved);
    }
    if (area) {
        if (get->waits)
            bcri_putwait_hand_over(ctx, resolved);
        else if (bcri_is_done(result) && want != BCRI_WANT_READ)
            bcri_putwait_serve(ctx, resolved);
        bcri_area_unlock(ctx, resolved);
    }
    bcri_journal_close(ctx);
    return result;
}
