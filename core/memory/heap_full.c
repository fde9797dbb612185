/* SPDX-License-Identifier: MIT */
/* What the log says when the account of a CCE is used up: who holds its regions. Mostly they are not
 * leaked but lie in cells, or others have not freed them yet. */
#include <stdio.h>

#include "bcri/slot.h"
#include "heap_private.h"

/* How many of this CCE's regions it holds by one ID, and nobody else holds. */
struct census {
    const struct bcri_ctx *ctx;
    uint64_t alone;
};

static void count_alone(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct census *census = arg;
    const uint64_t word = bcri_load(&slot->word);
    const struct bcri_region_shm *region =
        bcri_slot_state(word) == BCRI_SLOT_LIVE ? bcri_at_mapped(census->ctx, bcri_slot_region(word)) : NULL;
    (void)ref;
    if (region != NULL && region->home == census->ctx->index &&
        bcri_load_acquire(&region->count) == BCRI_COUNT_ONE)
        census->alone++;
}

void bcri_heap_full(struct bcri_ctx *ctx, uint32_t length)
{
    struct bcri_heap *heap = ctx->heap;
    char text[256];
    /* A program may try again and again: the 1st, 2nd, 4th, 8th ... time is noted, and no try of a call that waits
     * for room. */
    heap->refused++;
    if (ctx->upcalls->note == NULL || heap->room_waits != 0 || (heap->refused & (heap->refused - 1)) != 0)
        return;
    struct census census = {.ctx = ctx};
    uint64_t held = 0, limit = 0;
    for (const struct bcri_heap_seg *seg = heap->segs; seg != NULL; seg = seg->next)
        held += bcri_heap_held(ctx, seg->seg);
    for (const struct bcri_heap_area *area = heap->areas; area != NULL; area = area->next)
        limit += area->reserve ? 0 : area->limit;
    bcri_slot_each(ctx, ctx->index, count_alone, &census);
    snprintf(
        text, sizeof text,
        "has no room in its nbytes (%llu) for a region of %u bytes: of its %llu regions %llu lie in cells "
        "or are held elsewhere",
        (unsigned long long)limit, length, (unsigned long long)held,
        (unsigned long long)(held > census.alone ? held - census.alone : 0));
    ctx->upcalls->note(ctx->up, text);
}
