/* SPDX-License-Identifier: MIT */
/* Blocks that a freer could not send home for want of memory (returns.c): it has marked their count word with its tag
 * and set `rescan` in the owner's bell.
 *
 * The owner takes a marked block only when the freer's journal no longer names it. While it does, the freer, or enl on
 * its behalf, may still be at it, and the mark is what tells enl that the send is done; afterwards nobody but the owner
 * touches the block. Acquire of the mark, then of the journal: whoever sees the mark sees the journal open or settled
 * behind it, never as it was before. */
#include "heap_private.h"

static bool freer_is_at_it(struct bcri_ctx *ctx, uint32_t tag, bcri_ref ref)
{
    const struct bcri_record_shm *freer = bcri_record(ctx, tag - 1);
    if (freer == NULL)
        return true;
    return bcri_load_acquire(&freer->journal.cw_state) != BCRI_CW_IDLE &&
           bcri_load(&freer->journal.cw_ref) == ref;
}

/* True if a block was left alone that must be looked at again. */
static bool find_in_span(struct bcri_ctx *ctx, struct bcri_span *span, bool *taken_out)
{
    bool again = false;
    for (uint32_t i = 0; i < span->blocks; i++) {
        if (span->charge[i] == 0)
            continue;
        struct bcri_region_shm *region = bcri_span_header(span, i);
        uint32_t owner = BCRI_COUNT_OWNER(bcri_load_acquire(&region->count));
        if ((owner & BCRI_COUNT_STRAY) == 0)
            continue;
        bcri_ref ref = bcri_span_ref(span, i);
        if (freer_is_at_it(ctx, owner & ~BCRI_COUNT_STRAY, ref)) {
            again = true;
            continue;
        }
        bcri_store(&region->count, 0);
        *taken_out = true;
        bcri_heap_take_home(ctx, ref);
        return true; /* the span may be gone: the caller looks it up anew */
    }
    return again;
}

void bcri_heap_find_strays(struct bcri_ctx *ctx)
{
    atomic_exchange_explicit(&ctx->bell->rescan, 0, memory_order_acq_rel);
    bool again = false;
    for (struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next)
        for (uint32_t page = area->data_page; page < area->end_page;) {
            struct bcri_span *span = area->seg->span_of[page];
            bool taken = false;
            bool left = span != NULL && find_in_span(ctx, span, &taken);
            if (taken)
                continue; /* the same page once more */
            again |= left;
            page += span != NULL ? bcri_heap_classes[span->class].pages : 1;
        }
    if (again)
        bcri_store(&ctx->bell->rescan, 1);
}
