/* SPDX-License-Identifier: MIT */
/* A cell under both its locks: entering, leaving, and putting it in order before that. both_locks.h
 * says what holds; every change is one transaction (tx.h). */
#include "bcri/both_locks.h"

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/get_service.h"
#include "bcri/lock.h"
#include "bcri/look_again.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"
#include "bcri/result.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/wait_lists.h"

#define CELL struct bcri_cell_shm

/* Tells the owner once through its descriptor (bcr_fd) that the cell has regions. */
static void tell_armed(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    if (ctx->fd_upcalls != NULL)
        ctx->fd_upcalls->ring(ctx->up, resolved->ref, resolved->open >> 32);
    bcri_tx_begin(ctx);
    bcri_tx_flags(ctx, resolved, bcri_cell_flags(resolved) & ~BCRI_CELL_ARMED);
    bcri_tx_commit(ctx);
}

/* Model: cell.inc */
bool bcri_cell_service(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    const CELL *cell = resolved->cell;
    if (bcri_unlikely(!bcri_serve_waiting(ctx, resolved)))
        return false;
    if (bcri_unlikely((bcri_cell_flags(resolved) & BCRI_CELL_ARMED) != 0) && bcri_queue_length(resolved) != 0)
        tell_armed(ctx, resolved);
    if (bcri_load(&cell->c.list_first) != 0)
        return true;
    /* Half a ring at a time, so that a long queue costs little per region. */
    uint64_t in_ring = bcri_load(&cell->t.tail) - bcri_load(&cell->h.head);
    if (bcri_load(&cell->c.extra) != 0 && in_ring <= bcri_ring_entries(resolved) / 2)
        while (bcri_queue_into_ring(ctx, resolved))
            continue;
    if ((bcri_cell_flags(resolved) & BCRI_CELL_SLOW) != 0 && bcri_load(&cell->c.extra) == 0) {
        bcri_tx_begin(ctx);
        BCRI_TX64(ctx, resolved->ref, CELL, t.limit, bcri_load(&cell->t.tail));
        bcri_tx_flags(ctx, resolved, bcri_cell_flags(resolved) & ~BCRI_CELL_SLOW);
        bcri_tx_commit(ctx);
    }
    return true;
}

static void unlock_both(struct bcri_ctx *ctx, const struct bcri_resolved *resolved)
{
    bcri_unlock_stale(ctx, &resolved->cell->t.lock);
    bcri_unlock_stale(ctx, &resolved->cell->h.lock);
}

/* The daemon may have left the cell in the midst of serving (bcri_cell_leave): the CCE that enters
 * next goes on. */
static bool go_on_serving(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return bcri_load(&resolved->cell->c.list_first) == 0 || bcri_serve_waiting(ctx, resolved);
}

struct bcri_result bcri_cell_enter_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                         uint64_t deadline_ns)
{
    CELL *cell = resolved->cell;
    if (!bcri_lock_until(ctx, &cell->h.lock, deadline_ns))
        return bcri_result(bcrE_TIMEOUT);
    if (bcri_unlikely(!bcri_lock_until(ctx, &cell->t.lock, BCRI_DEADLINE_NEVER))) {
        bcri_unlock_stale(ctx, &cell->h.lock);
        return bcri_result(bcrE_TIMEOUT);
    }
    uint64_t state = bcri_load(&cell->h.state);
    struct bcri_result result = bcri_outcome(BCRI_DONE);
    if (state >> 32 != resolved->open >> 32 || (state & BCRI_CELL_CLOSED) != 0)
        result = bcri_outcome(BCRI_STALE);
    else if (bcri_unlikely(ctx->daemon.parks))
        result = bcri_result(!bcri_cell_validate(ctx, resolved) ? bcrE_INTERNAL
                             : !bcri_cell_deeper(ctx, resolved) ? bcrE_TIMEOUT
                                                                : 0);
    if (!bcri_is_done(result)) {
        unlock_both(ctx, resolved);
        return result;
    }
    if (bcri_likely(bcri_tickets_to_list(ctx, resolved) && go_on_serving(ctx, resolved)))
        return result;
    if (ctx->daemon.parks)
        bcri_cell_less_deep(ctx, resolved);
    unlock_both(ctx, resolved);
    return bcri_result(ctx->daemon.parks ? bcrE_TIMEOUT : bcrE_NOMEM);
}

/* Model: stale.pml */
struct bcri_result bcri_cell_enter(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    return bcri_cell_enter_until(ctx, resolved, BCRI_DEADLINE_NEVER);
}

void bcri_cell_leave(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    const uint32_t parked = ctx->daemon.parked;
    const bool serviced = bcri_cell_service(ctx, resolved);
    if (bcri_unlikely(ctx->daemon.parks))
        bcri_cell_less_deep(ctx, resolved);
    bcri_unlock(ctx, &resolved->cell->t.lock);
    bcri_unlock(ctx, &resolved->cell->h.lock);
    if (bcri_unlikely(!serviced) && ctx->daemon.parks) {
        bcri_look_again(ctx, resolved->ref);
        ctx->daemon.parked = parked; /* the parked piece is not the one at hand */
    }
}
