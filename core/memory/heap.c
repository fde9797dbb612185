/* SPDX-License-Identifier: MIT */
/* Allocating and freeing: the fast path, and what is tried when it fails. Spans are in heap_span.c,
 * page runs in heap_run.c, the areas and what they reserve in heap_area.c.
 *
 * Nothing here is journaled: a block exists for other CCEs from the moment when the caller stores a
 * count above 0. Until then, and again when the count is 0, the daemon, which walks the headers
 * after the owner's death, takes the block for free. */
#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/corrupt.h"
#include "heap_private.h"

/* What one request looks for. */
struct wanted {
    uint32_t charge, class, pages; /* pages 0: a block of `class` */
    bool reserve;
};

static bool from_area(struct bcri_ctx *ctx, struct bcri_heap_area *area, const struct wanted *wanted,
                      struct bcri_span **span_out, uint32_t *i_out)
{
    if (area->charged + wanted->charge > area->limit)
        return false;
    if (wanted->pages != 0) {
        if (!bcri_run_alloc(ctx, area, wanted->pages, span_out, i_out))
            return false;
        (*span_out)->run[*i_out].charge = wanted->charge;
        area->charged += wanted->charge;
        return true;
    }
    struct bcri_span *span = bcri_span_get(ctx, area, wanted->class);
    if (span == NULL)
        return false;
    *span_out = span;
    *i_out = bcri_span_pop(area, span, wanted->charge);
    return true;
}

static bool from_any(struct bcri_ctx *ctx, const struct wanted *wanted, struct bcri_span **span_out,
                     uint32_t *i_out)
{
    struct bcri_heap *heap = ctx->heap;
    for (struct bcri_heap_area *area = heap->areas; area != NULL; area = area->next) {
        if (area->reserve == wanted->reserve && from_area(ctx, area, wanted, span_out, i_out)) {
            if (!area->reserve)
                heap->area = area;
            return true;
        }
    }
    return false;
}

/* Looks for blocks that were freed lately. A CCE that uses only one page run, and gives it away for
 * each answer, finds it free just before it needs it, with header and data still in the other CCE's
 * cache. With a second run it finds the previous one, at which it has looked while it waited. So
 * after a look that has found exactly one run, the next request takes new pages instead. */
static void look_for(struct bcri_heap *heap, const struct wanted *wanted)
{
    struct bcri_heap_area *area = heap->area;
    heap->wanted_class = wanted->class;
    heap->wanted_pages = wanted->pages;
    if (wanted->pages == 0)
        (void)bcri_look_ahead(heap, area, wanted->class);
    else if (heap->one_came)
        heap->one_came = false;
    else if (!bcri_run_is_warm(area, wanted->pages))
        heap->one_came = bcri_look_at_runs(heap, area) == 1;
    heap->waited = false;
}

/* Tries what costs least first: the current area with blocks that have come back lately, then any
 * area, then any area after a sweep for all blocks that others have freed. */
static int alloc_slow(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                      struct bcri_region_shm **region_out)
{
    struct bcri_heap *heap = ctx->heap;
    struct wanted wanted = {.charge = bcri_heap_charge(length)};
    struct bcri_span *span;
    uint32_t i;
    if (heap == NULL || heap->area == NULL)
        return bcrE_NBYTES;
    if (length > BCRI_HEAP_SPAN_MAX)
        wanted.pages = (uint32_t)(((uint64_t)length + BCRI_HEAP_PAGE - 1) / BCRI_HEAP_PAGE);
    else
        wanted.class = bcri_class_of(length);
    look_for(heap, &wanted);
    if (!from_area(ctx, heap->area, &wanted, &span, &i) && !from_any(ctx, &wanted, &span, &i)) {
        bcri_heap_sweep(heap);
        if (!from_any(ctx, &wanted, &span, &i)) {
            bcri_heap_full(ctx, length);
            return bcrE_NBYTES;
        }
    }
    bcri_span_hand_out(span, i, length, ref_out, region_out);
    (*region_out)->archtype = archtype;
    return 0;
}

int bcri_heap_alloc(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                    struct bcri_region_shm **region_out)
{
    uintptr_t data;
    if (bcri_likely(bcri_heap_alloc_fast(ctx, length, ref_out, region_out, &data))) {
        (*region_out)->archtype = archtype;
        return 0;
    }
    return alloc_slow(ctx, length, archtype, ref_out, region_out);
}

int bcri_heap_alloc_reserve(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                            struct bcri_region_shm **region_out)
{
    const struct wanted wanted = {
        .charge = bcri_heap_charge(length), .class = bcri_class_of(length), .reserve = true};
    struct bcri_span *span;
    uint32_t i;
    bool found = ctx->heap != NULL && from_any(ctx, &wanted, &span, &i);
    if (!found && ctx->heap != NULL) {
        bcri_heap_sweep(ctx->heap);
        found = from_any(ctx, &wanted, &span, &i);
    }
    if (!found) {
        int error = bcri_heap_add_reserve(ctx);
        if (error != 0)
            return error;
        if (!from_any(ctx, &wanted, &span, &i))
            return bcrE_NOMEM;
    }
    bcri_span_hand_out(span, i, length, ref_out, region_out);
    (*region_out)->archtype = archtype;
    return 0;
}

/* Frees a block that is a page run; a block that is not live only counts as a bad free. */
int bcri_heap_free_other(struct bcri_heap *heap, struct bcri_span *span, uint32_t i)
{
    if (span->charge[i] != BCRI_RUN_CHARGE || !bcri_run_free(span, i))
        heap->bad_frees++;
    return 0;
}

void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region)
{
    uint32_t i;
    struct bcri_span *span = ctx->heap != NULL ? bcri_span_of(ctx->heap, ref, &i) : NULL;
    (void)region;
    if (bcri_likely(span != NULL))
        (void)bcri_heap_free_block(ctx->heap, span, i);
    else
        bcri_corrupt(ctx, "a block that is freed", ref);
}

void bcri_heap_collect(struct bcri_ctx *ctx)
{
    if (ctx->heap == NULL)
        return;
    for (struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next) {
        bcri_area_sweep(ctx->heap, area, true);
        bcri_area_trim(area);
    }
}

static int resize_own(struct bcri_ctx *ctx, struct bcri_span *span, uint32_t i, uint32_t length)
{
    struct bcri_heap_area *area = span->area;
    bool is_run = span->class == BCRI_CLASS_HEADERS;
    uint32_t charge = bcri_heap_charge(length);
    uint32_t charged = is_run ? span->run[i].charge : span->charge[i];
    if (!is_run && length > bcri_heap_classes[span->class].data_bytes)
        return bcrE_NBYTES;
    if (charge > charged && area->charged - charged + charge > area->limit) {
        bcri_heap_sweep(ctx->heap);
        if (area->charged - charged + charge > area->limit)
            return bcrE_NBYTES;
    }
    if (is_run) {
        uint32_t pages = (uint32_t)(((uint64_t)length + BCRI_HEAP_PAGE - 1) / BCRI_HEAP_PAGE);
        if (!bcri_run_resize(span, i, pages != 0 ? pages : 1))
            return bcrE_NBYTES;
        span->run[i].charge = charge;
    } else {
        span->charge[i] = charge;
    }
    area->charged = area->charged - charged + charge;
    return 0;
}

int bcri_heap_resize(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region, uint32_t length)
{
    if (region->home != ctx->index) {
        if (length > region->capacity)
            return bcrE_NBYTES;
    } else {
        uint32_t i;
        struct bcri_span *span = ctx->heap != NULL ? bcri_span_of(ctx->heap, ref, &i) : NULL;
        if (span == NULL) {
            bcri_corrupt(ctx, "a region ID, or its region", ref);
            return bcrE_NOMEM;
        }
        int error = resize_own(ctx, span, i, length);
        if (error != 0)
            return error;
    }
    region->length = length;
    return 0;
}

uint64_t bcri_heap_left(struct bcri_ctx *ctx)
{
    uint64_t bytes = 0;
    if (ctx->heap == NULL)
        return 0;
    bcri_heap_collect(ctx);
    for (const struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next)
        if (!area->reserve && area->limit > area->charged)
            bytes += area->limit - area->charged;
    return bytes;
}

uint64_t bcri_heap_charged(const struct bcri_ctx *ctx)
{
    uint64_t bytes = 0;
    if (ctx->heap != NULL)
        for (const struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next)
            bytes += area->charged;
    return bytes;
}
