/* SPDX-License-Identifier: MIT */
/* waiters.c -- from a request to the cell where it waits. Each reference may be out of date by now. */
#include "inspect/crash/crash_private.h"

#include <stdlib.h>

#include "bcri/cell.h"
#include "bcri/slot.h"
#include "host/host.h"

struct enl_waiters *enl_waiters_new(const struct enl_cce *crashed)
{
    struct enl_waiters *waiters = calloc(1, sizeof *waiters);
    if (waiters == NULL)
        return NULL;
    waiters->owner = crashed->index;
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashed->here->all, entry) {
        const struct bcri_bell_shm *bell = &cce->record->bell;
        const struct bcri_sleep_shm *sleep = &cce->record->sleep;
        const bcri_ref request = bcri_load(&sleep->waits_for) & BCRI_REF_MASK;
        const bool locked = bcri_load(&bell->waits_on) == crashed->index + 1;
        if (cce == crashed || cce->life != ENL_ALIVE || waiters->count == ENL_WAITERS_MAX ||
            !(locked || (bcri_load(&bell->sleeping) != BCRI_AWAKE && request != BCRI_REF_NONE)))
            continue;
        waiters->at[waiters->count++] = (struct enl_waiter){.request = locked ? BCRI_REF_NONE : request,
                                                            .index = cce->index,
                                                            .since_ns = bcri_load(&sleep->since_ns)};
    }
    return waiters;
}

static const void *object_at(struct bcri_ctx *ctx, bcri_ref ref, uint64_t bytes)
{
    return ref != BCRI_REF_NONE && bcri_at_has(ctx, ref, bytes) ? bcri_at_stale(ctx, ref) : NULL;
}

static bool resolve(struct bcri_ctx *ctx, uint32_t owner, struct enl_waiter *waiter)
{
    const struct bcri_slot_shm *slot = object_at(ctx, waiter->request, sizeof *slot);
    if (slot == NULL)
        return false;
    const enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    if (state != BCRI_SLOT_TICKET && state != BCRI_SLOT_LISTED && state != BCRI_SLOT_PUTWAIT)
        return false;
    const bcri_ref ref = bcri_load(&slot->cell) & BCRI_REF_MASK;
    const struct bcri_cell_shm *cell = object_at(ctx, ref, sizeof *cell);
    const struct bcri_area_shm *area =
        cell != NULL ? object_at(ctx, bcri_load(&cell->i.area) & BCRI_REF_MASK, sizeof *area) : NULL;
    if (area == NULL || bcri_load_acquire(&area->gen) == 0 || area->owner != owner)
        return false;
    const uint64_t offset = bcri_ref_offset(ref) - bcri_ref_offset(area->cells);
    waiter->cell = area->base + (uint32_t)(offset / BCRI_PAGE_BYTES * BCRI_CELLS_PER_PAGE +
                                           offset % BCRI_PAGE_BYTES / BCRI_HEADER_BYTES);
    waiter->puts = state == BCRI_SLOT_PUTWAIT;
    return true;
}

struct scan {
    struct bcri_ctx *ctx;
    struct enl_waiters *waiters;
    uint32_t agent;
};

/* One of the agent's IDs: counts it if it waits at a cell of the owner. */
static void count_one(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct scan *scan = arg;
    struct enl_waiters *waiters = scan->waiters;
    struct enl_waiter one = {.request = ref, .index = scan->agent, .others = 1, .waits = true};
    (void)slot;
    if (!resolve(scan->ctx, waiters->owner, &one))
        return;
    for (uint32_t i = 0; i < waiters->count; i++) {
        struct enl_waiter *same = &waiters->at[i];
        if (same->others == 0 || same->cell != one.cell || same->puts != one.puts)
            continue;
        same->others++;
        return;
    }
    if (waiters->count < ENL_WAITERS_MAX)
        waiters->at[waiters->count++] = one;
}

int enl_waiters_resolve(struct enl_call *call, struct bcri_ctx *ctx)
{
    struct enl_waiters *waiters = (struct enl_waiters *)call;
    struct scan scan = {ctx, waiters, bcri_load_acquire(&ctx->host->agent)};
    for (uint32_t i = 0; i < waiters->count; i++) {
        struct enl_waiter *waiter = &waiters->at[i];
        waiter->waits = waiter->request == BCRI_REF_NONE || resolve(ctx, waiters->owner, waiter);
    }
    if (scan.agent != 0)
        bcri_slot_each(ctx, scan.agent, count_one, &scan);
    return 0;
}
