/* SPDX-License-Identifier: MIT */
/* The daemon comes back to the cells that bcri_look_again has remembered: repair.h. */
#include "bcri/repair.h"

#include <string.h>

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/clock.h"
#include "bcri/handler_request.h"
#include "bcri/host.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/look_again.h"
#include "bcri/lookup.h"
#include "bcri/put_service.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/validate.h"
#include "bcri/waiters.h"

static void look_at(struct bcri_ctx *enl, bcri_ref cell)
{
    struct bcri_resolved resolved;
    if (bcri_resolved_look(enl, cell, &resolved) != 0)
        return;
    bcri_journal_open(enl, BCRI_OP_SLOW, cell, BCRI_REF_NONE, BCRI_REF_NONE);
    const struct bcri_result entered = bcri_cell_enter(enl, &resolved);
    if (bcri_is_done(entered))
        bcri_cell_leave(enl, &resolved);
    const bool puts = bcri_load_acquire(&resolved.area->waitputs) != 0;
    if (puts && bcri_area_lock_until(enl, &resolved, BCRI_DEADLINE_NEVER)) {
        if (bcri_cell_condemned(&resolved))
            bcri_putwait_fail(enl, &resolved, bcrE_INTERNAL);
        bcri_putwait_serve_all(enl, &resolved);
        bcri_area_unlock(enl, &resolved);
    } else if (puts || entered.error == bcrE_TIMEOUT) {
        bcri_look_again(enl, cell);
    }
    bcri_journal_close(enl);
}

bool bcri_looks_done(struct bcri_ctx *enl)
{
    bcri_drops_again(enl);
    /* Cells that must be looked at once more are added behind the others. */
    size_t count = enl->daemon.look_count;
    for (size_t i = 0; i < count; i++) {
        bcri_ref cell = enl->daemon.looks[0];
        enl->daemon.look_count--;
        memmove(enl->daemon.looks, enl->daemon.looks + 1, enl->daemon.look_count * sizeof *enl->daemon.looks);
        look_at(enl, cell);
    }
    return enl->daemon.look_count == 0 && enl->daemon.kept_drops == 0;
}
