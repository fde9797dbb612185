/* SPDX-License-Identifier: MIT */
/* waiters.c -- from a request to the cell where it waits. Each reference may be out of date by now. */
#include "inspect/crash/crash_private.h"

#include "bcri/cell.h"
#include "bcri/note.h"
#include "bcri/slot.h"

static const void *object_at(struct bcri_ctx *ctx, bcri_ref ref, uint64_t bytes)
{
    return ref != BCRI_REF_NONE && bcri_at_has(ctx, ref, bytes) ? bcri_at_stale(ctx, ref) : NULL;
}

static bool waits_for_owner(struct bcri_ctx *ctx, uint32_t owner, struct enl_waiter *waiter)
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

/* Whether it says that only the owner can end its wait (bcr_note). */
static bool names_owner(struct bcri_ctx *ctx, uint32_t owner, const struct bcri_record_shm *record)
{
    const struct bcri_record_shm *of_owner = bcri_record(ctx, owner);
    struct bcri_note note;
    return of_owner != NULL && bcri_note_read(&record->note, &note) &&
           memcmp(note.cce, of_owner->id.identity, sizeof note.cce) == 0;
}

struct scan {
    struct bcri_ctx *ctx;
    struct enl_waiters *waiters;
    uint32_t agent;
};

static void add_waiter(struct enl_waiters *waiters, const struct enl_waiter *one)
{
    if (waiters->count < ENL_WAITERS_MAX)
        waiters->at[waiters->count++] = *one;
}

/* One of the agent's IDs: counts it if it waits at a cell of the owner. */
static void count_one(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct scan *scan = arg;
    struct enl_waiters *waiters = scan->waiters;
    struct enl_waiter one = {.request = ref, .index = scan->agent, .others = 1};
    (void)slot;
    if (!waits_for_owner(scan->ctx, waiters->owner, &one))
        return;
    for (uint32_t i = 0; i < waiters->count; i++) {
        struct enl_waiter *same = &waiters->at[i];
        if (same->others == 0 || same->cell != one.cell || same->puts != one.puts)
            continue;
        same->others++;
        return;
    }
    add_waiter(waiters, &one);
}

int enl_waiters_find(struct enl_call *call, struct bcri_ctx *ctx)
{
    struct enl_waiters *waiters = (struct enl_waiters *)call;
    struct scan scan = {ctx, waiters, bcri_load_acquire(&ctx->host->agent)};
    const uint32_t records = bcri_host_records(ctx->host);
    for (uint32_t index = 1; index < records; index++) {
        const struct bcri_record_shm *record = bcri_record(ctx, index);
        if (record == NULL || index == waiters->owner || index == scan.agent ||
            bcri_load_acquire(&record->id.state) != BCRI_CCE_ALIVE)
            continue;
        struct enl_waiter one = {.index = index, .since_ns = bcri_load(&record->sleep.since_ns)};
        const bool locked = bcri_load(&record->bell.waits_on) == waiters->owner + 1;
        if (!locked && bcri_load(&record->bell.sleeping) == BCRI_SLEEPS_ON_FUTEX)
            one.request = bcri_load(&record->sleep.waits_for) & BCRI_REF_MASK;
        one.noted = !locked && names_owner(ctx, waiters->owner, record);
        if (locked || one.noted || waits_for_owner(ctx, waiters->owner, &one))
            add_waiter(waiters, &one);
    }
    if (scan.agent != 0)
        bcri_slot_each(ctx, scan.agent, count_one, &scan);
    return 0;
}
