/* SPDX-License-Identifier: MIT */
/* bcr_wakeon: cells whose puts make their CCE's descriptor readable (wakefd.h). bcr/program.h is its manual.
 *
 * The flag WAKES sends all operations through both locks, so that one place sees each addition, and repair sees it
 * under the same locks. The putter has added, fences, and looks whether the owner is `asleep`: armed, or in a sleep
 * of its scheduler. It clears the word before it rings, so that one ring is enough for one arming. If it dies between
 * the two, repair rings (bcri_requests_tell_again), as for a notifier of a handler.
 *
 * Journal: SLOW, with the cell. */
#include <bcr/program.h>

#include "bcri/bell.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/queue.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/tx.h"
#include "bcri/wakeon.h"
#include "bcri/watermark.h"

/* Model: handler_request.pml */
void bcri_wakeon_added(struct bcri_ctx *ctx, const struct bcri_resolved *resolved)
{
    if (bcri_likely((bcri_cell_flags(resolved) & BCRI_CELL_WAKES) == 0))
        return;
    _Atomic uint32_t *const asleep = &resolved->record->requests.asleep;
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(asleep, memory_order_seq_cst) == 0)
        return;
    bcri_store(asleep, 0);
    bcri_step();
    bcri_bell_ring(ctx, resolved->record);
}

static int set_flag(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool on)
{
    bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = bcri_cell_enter(ctx, resolved);
    if (bcri_is_done(entered)) {
        const uint32_t flags = bcri_cell_flags(resolved) & ~BCRI_CELL_WAKES;
        bcri_tx_begin(ctx);
        bcri_tx_flags(ctx, resolved, on ? flags | BCRI_CELL_WAKES : flags);
        bcri_tx_commit(ctx);
        bcri_cell_leave(ctx, resolved);
    }
    bcri_journal_close(ctx);
    return bcri_error_or(entered, bcrE_INTERNAL); /* stale: only the daemon closes it: condemned */
}

int bcr_wakeon(int cell, int on)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_resolved *resolved;
    int error = bcri_resolved_find(ctx, BCRI_SELF, cell, &resolved);
    if (error == 0)
        error = set_flag(ctx, resolved, on != 0);
    return error == 0 ? 0 : bcri_fail(error);
}
