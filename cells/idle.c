/* SPDX-License-Identifier: MIT */
/* bcr_idle. bcr/program.h is its manual, and idle.h tells why the CCE answers for itself. */
#include <bcr/program.h>

#include "bcri/idle.h"

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/enter.h"
#include "bcri/handler_request.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/private.h"
#include "bcri/slot.h"
#include "bcri/trace.h"
#include "bcri/waiters.h"

/* Counts what this CCE has done. Looks in vain count TIMEOUT, WAIT and SLEEP; an operation that has FAILED for another
 * reason than want of room has changed nothing. */
static uint64_t count_done(const struct bcri_ctx *ctx)
{
    static const enum bcri_counter deeds[] = {BCRI_COUNT_ALLOC, BCRI_COUNT_FREE, BCRI_COUNT_PUT,
                                              BCRI_COUNT_GET,   BCRI_COUNT_READ, BCRI_COUNT_ZAP,
                                              BCRI_COUNT_FULL,  BCRI_COUNT_COPY};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++)
        sum += bcri_load(&ctx->record->counters[deeds[i]]);
    return sum;
}

struct search {
    struct bcri_ctx *ctx;
    bool found;
};

/* Whether an ID is a request that was answered. */
static void look_at_id(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct search *const search = arg;
    const enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    (void)ref;
    if (state != BCRI_SLOT_LIVE && state != BCRI_SLOT_KEPT && bcri_request_ready(search->ctx, slot))
        search->found = true;
}

/* Whether a region lies in the cell. If others change it meanwhile they are not at rest, whatever this reads. */
static bool has_regions(const struct bcri_cell_shm *cell)
{
    return bcri_load_acquire(&cell->t.tail) > bcri_load(&cell->h.head) || bcri_load(&cell->c.extra) != 0;
}

/* Whether the first of these cells of the area, or one behind it, has a region. */
static bool any_has_regions(struct bcri_ctx *ctx, const struct bcri_area_shm *area, uint32_t first,
                            uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (has_regions(bcri_at(ctx, bcri_area_cell(area, i))))
            return true;
    return false;
}

/* Whether a region lies in a cell of this CCE into which others put: in, in/out, and cell 0. */
static bool cells_have_regions(struct bcri_ctx *ctx)
{
    bcri_ref ref = bcri_load(&ctx->record->id.first_area);
    while (ref != BCRI_REF_NONE) {
        const struct bcri_area_shm *const area = bcri_at(ctx, ref);
        const uint32_t in = area->kinds[BCRI_CELL_PRIVATE], out = in + area->kinds[BCRI_CELL_IN];
        const uint32_t inout = out + area->kinds[BCRI_CELL_OUT];
        if (any_has_regions(ctx, area, in, out - in) ||
            any_has_regions(ctx, area, inout, area->kinds[BCRI_CELL_INOUT]) ||
            (area->base == 0 && bcri_area_cells(area) != 0 && any_has_regions(ctx, area, 0, 1)))
            return true;
        ref = bcri_load(&area->next);
    }
    return false;
}

/* Whether there is nothing that this CCE would find if it looked everywhere now. */
static bool finds_nothing(struct bcri_ctx *ctx)
{
    struct search search = {.ctx = ctx};
    if (ctx->handlers.due || bcri_requests_any(ctx) || cells_have_regions(ctx))
        return false;
    bcri_slot_each(ctx, ctx->index, look_at_id, &search);
    return !search.found;
}

static void answer(struct bcri_ctx *ctx, bool found_none)
{
    const uint32_t asked = bcri_load_acquire(&ctx->record->idle.asked);
    const uint64_t period = bcri_load(&ctx->record->idle.period);
    if (asked != ctx->idle.answered &&
        (ctx->upcalls->idle_answer == NULL ||
         ctx->upcalls->idle_answer(ctx->up, asked, period, found_none && finds_nothing(ctx))))
        ctx->idle.answered = asked;
}

void bcri_idle_end(struct bcri_ctx *ctx)
{
    answer(ctx, false);
    ctx->idle.declared = false;
    bcri_store_release(&ctx->record->idle.period, bcri_load(&ctx->record->idle.period) + 1);
}

void bcri_idle_answer(struct bcri_ctx *ctx)
{
    if (bcri_likely(bcri_load(&ctx->record->idle.asked) == ctx->idle.answered))
        return;
    if (count_done(ctx) == ctx->idle.done)
        answer(ctx, true);
    else
        bcri_idle_end(ctx);
}

int bcr_idle(int how)
{
    BCRI_CALL;
    struct bcri_ctx *const ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    if (how != 0 && how != bcr_IDLE_WAITING && how != bcr_IDLE_SERVER)
        return bcri_fail(bcrE_ARG);
    const uint64_t done = count_done(ctx);
    if (how == bcr_IDLE_WAITING && ctx->idle.declared && done == ctx->idle.done) {
        bcri_idle_answer(ctx);
        return 0;
    }
    bcri_idle_ends(ctx);
    if (how != bcr_IDLE_WAITING) {
        bcri_store(&ctx->record->idle.server, how == bcr_IDLE_SERVER);
        return 0;
    }
    ctx->idle.declared = true;
    ctx->idle.done = done;
    bcri_store_release(&ctx->record->idle.period, bcri_load(&ctx->record->idle.period) + 1);
    return 0;
}
