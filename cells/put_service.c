/* SPDX-License-Identifier: MIT */
/* Serves the puts that wait for room: put_service.h, put_waiters.h.
 *
 * Journal: any open operation; area, and in cell2 the cell that is served or asked for credits. */
#include "bcri/put_service.h"

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/credits.h"
#include "bcri/detached.h"
#include "bcri/get_service.h"
#include "bcri/handler_request.h"
#include "bcri/journal.h"
#include "bcri/look_again.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm

/* Does the put that waits at `slot_ref`. `hand_over`: only if it needs no room, since a waiting get
 * takes its region, or it replaces what is there. BCRI_DONE; BCRI_NO_ROOM; or why it cannot be done now.
 * Model: bell.pml, putwait.pml */
static struct bcri_result serve_put(struct bcri_ctx *ctx, bcri_ref slot_ref, bool hand_over)
{
    SLOT *slot = bcri_at(ctx, slot_ref);
    struct bcri_resolved target;
    /* A put that was served waits no longer, so this also finds a list in a circle. */
    if (slot != NULL && bcri_slot_state(bcri_load(&slot->word)) != BCRI_SLOT_PUTWAIT) {
        bcri_corrupt(ctx, "an area's list of waiting puts", slot_ref);
        return bcri_result(bcrE_INTERNAL);
    }
    if (slot == NULL || bcri_resolved_at(ctx, bcri_load(&slot->cell), &target) != 0)
        return bcri_result(bcrE_NOMEM);
    uint32_t owner = bcri_request_owner(slot);
    if (!bcri_request_endable(ctx, slot_ref))
        return bcri_result(bcrE_NOMEM);
    bcri_ref region = bcri_load(&slot->key);
    bool write = (bcri_load(&slot->kind) & BCRI_REQUEST_WRITE) != 0;
    bcri_journal_second(ctx, target.ref);
    struct bcri_result result = bcri_cell_enter(ctx, &target);
    if (!bcri_is_done(result))
        return result;
    bcri_store(&ctx->journal->ring, owner + 1);
    bool replaces = write && bcri_queue_length(&target) != 0;
    if (hand_over && !replaces && bcri_load(&target.cell->c.takes) == 0) {
        bcri_serve_reads(ctx, &target, region); /* they share it while its put waits for room */
        result = bcri_outcome(BCRI_NO_ROOM);
    } else if (replaces) {
        bcri_cell_empty(ctx, &target, region, slot_ref);
    } else {
        result = bcri_queue_append(ctx, &target, region, slot_ref);
    }
    /* This comes before any other ring from here: the journal holds one CCE to ring. */
    if (bcri_is_done(result))
        bcri_ring_noted(ctx, owner, target.ref);
    else
        bcri_store(&ctx->journal->ring, 0);
    bcri_cell_leave(ctx, &target);
    return result;
}

/* Serves waiting puts, oldest first. `everywhere`: looks for credits in all cells, not only in
 * `resolved`; that is needed as soon as a write has replaced several regions in some cell.
 * Model: putwait.pml */
static void serve_all(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool everywhere)
{
    bcri_ref first;
    while ((first = bcri_load(&resolved->area->put_first)) != 0) {
        const SLOT *slot = bcri_at(ctx, first);
        bool write = slot != NULL && (bcri_load(&slot->kind) & BCRI_REQUEST_WRITE) != 0;
        const struct bcri_result served = serve_put(ctx, first, false);
        if (served.outcome == BCRI_NO_ROOM && (everywhere ? bcri_credits_gather(ctx, resolved, false)
                                                          : bcri_credit_spare(ctx, resolved, false)))
            continue;
        if (!bcri_is_done(served))
            return;
        everywhere |= write;
    }
}

/* The daemon may be parked in the midst of serving: then it comes back to the cell. */
static void serve_or_look_again(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool everywhere)
{
    const uint32_t parked = ctx->daemon.parked;
    ctx->daemon.parked = 0;
    serve_all(ctx, resolved, everywhere);
    if (bcri_unlikely(ctx->daemon.parked != 0))
        bcri_look_again(ctx, resolved->ref);
    ctx->daemon.parked = parked;
}

void bcri_putwait_serve(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    serve_or_look_again(ctx, resolved, false);
}

void bcri_putwait_serve_all(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    serve_or_look_again(ctx, resolved, true);
}

void bcri_putwait_made_room(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (bcri_unlikely(!bcri_area_lock_until(ctx, resolved, BCRI_DEADLINE_NEVER))) {
        bcri_look_again(ctx, resolved->ref);
        return;
    }
    bcri_putwait_serve(ctx, resolved);
    bcri_area_unlock(ctx, resolved);
}

/* A put that waits in the area; NULL: there is none. `*left` counts down from the area's count of
 * waiting puts, so that a list in a circle is found. */
static const SLOT *waiting_put(struct bcri_ctx *ctx, bcri_ref ref, uint32_t *left)
{
    if (ref == BCRI_REF_NONE)
        return NULL;
    if (bcri_likely((*left)-- != 0))
        return bcri_at(ctx, ref);
    bcri_corrupt(ctx, "an area's list of waiting puts", ref);
    return NULL;
}

static bcri_ref first_for(struct bcri_ctx *ctx, const struct bcri_resolved *resolved)
{
    uint32_t left = bcri_load(&resolved->area->waitputs);
    bcri_ref ref = bcri_load(&resolved->area->put_first);
    for (const SLOT *put; ref != 0; ref = bcri_load(&put->next)) {
        put = waiting_put(ctx, ref, &left);
        if (put == NULL)
            return BCRI_REF_NONE;
        if (bcri_load(&put->cell) == resolved->ref)
            break;
    }
    return ref;
}

void bcri_putwait_hand_over_one(struct bcri_ctx *ctx, bcri_ref slot_ref)
{
    (void)serve_put(ctx, slot_ref, true);
}

void bcri_putwait_hand_over(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_ref ref = first_for(ctx, resolved);
    if (ref != BCRI_REF_NONE)
        bcri_putwait_hand_over_one(ctx, ref);
}

/* Model: putwait.pml */
int bcri_putwait_take(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                      struct bcri_slot_shm *slot, bool due)
{
    bcri_ref ref = first_for(ctx, resolved);
    if (ref == BCRI_REF_NONE)
        return bcrE_TIMEOUT;
    const SLOT *put = bcri_map_or_dummy(ctx, ref);
    bcri_ref region = bcri_load(&put->key);
    uint32_t owner = bcri_request_owner(put);
    if (bcri_at(ctx, region) == NULL || !bcri_request_endable(ctx, ref))
        return bcrE_NOMEM;
    bcri_store(&slot->data, bcri_region_data(ctx, region));
    bool read = want == BCRI_WANT_READ;
    bcri_store(&ctx->journal->ring, read ? 0 : owner + 1);
    uint32_t count = read ? bcri_count_lock(ctx, region) : 0;
    bcri_tx_begin(ctx);
    if (read) {
        bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count + 1);
    } else {
        bcri_tx_putwait_unlist(ctx, resolved, ref, bcri_slot_word(BCRI_SLOT_PUTDONE, 0, BCRI_REF_NONE));
        BCRI_TX32(ctx, resolved->ref, CELL, h.taker, want == BCRI_WANT_LOCK ? ctx->tag : 0);
        BCRI_TX64(ctx, resolved->ref, CELL, h.taker_epoch, bcri_epoch(resolved->cell) + 1);
        BCRI_TX32(ctx, resolved->ref, CELL, c.direct, bcri_load(&resolved->cell->c.direct) + 1);
    }
    BCRI_TX64(ctx, bcri_slot_ref(ctx, slot), SLOT, word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_tx_phase(ctx, 2);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    if (read)
        bcri_count_committed(ctx);
    else
        bcri_ring_noted(ctx, owner, resolved->ref);
    return 0;
}

void bcri_putwait_fail(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code)
{
    uint32_t left = bcri_load(&resolved->area->waitputs);
    const SLOT *put;
    for (bcri_ref ref = bcri_load(&resolved->area->put_first);
         (put = waiting_put(ctx, ref, &left)) != NULL;) {
        bcri_ref next = bcri_load(&put->next);
        if (bcri_load(&put->cell) == resolved->ref) {
            uint32_t owner = bcri_request_owner(put);
            bcri_store(&ctx->journal->ring, owner + 1);
            bcri_tx_begin(ctx);
            BCRI_TX64(ctx, ref, SLOT, given, (uint64_t)code);
            bcri_tx_putwait_unlist(ctx, resolved, ref,
                                   bcri_slot_word(BCRI_SLOT_FAILED, 0, bcri_load(&put->key)));
            bcri_tx_commit(ctx);
            bcri_ring_noted(ctx, owner, resolved->ref);
        }
        ref = next;
    }
}

void bcri_putwait_cancel(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                         bcri_ref slot_ref)
{
    bcri_tx_begin(ctx);
    bcri_tx_putwait_unlist(ctx, resolved, slot_ref, bcri_slot_word(BCRI_SLOT_LIVE, 0, bcri_load(&slot->key)));
    bcri_tx_commit(ctx);
}
