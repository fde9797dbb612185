/* SPDX-License-Identifier: MIT */
/* Allocating and freeing: the fast path, and what is tried when it fails. Spans are in heap_span.c, page runs in
 * heap_run.c, the areas and what they reserve in heap_area.c.
 *
 * Nothing here is journaled: a block exists for others from the moment its count is more than 0, which the caller stores;
 * until then, and again when its count is 0, it is free to whoever walks the headers after the owner's death. */
#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/returns.h"
#include "heap_private.h"

/* How many blocks to bring home when a list has run dry. */
enum { COLLECT_SOME = 128 };

/* What one request looks for. */
struct wanted {
    uint32_t charge, class, pages; /* pages 0: of a class */
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

static void take_home(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count);

/* Blocks that are large: page runs, or the only ones of their spans. */
static bool comes_alone(const struct wanted *wanted)
{
    return wanted->pages != 0 || bcri_heap_classes[wanted->class].blocks == 1;
}

/* Whether the area has one of those, free and in order. */
static bool at_hand(const struct bcri_heap_area *area, const struct wanted *wanted)
{
    if (area->charged + wanted->charge > area->limit)
        return false;
    return wanted->pages != 0 ? bcri_run_is_warm(area, wanted->pages) : area->head[wanted->class] != NULL;
}

/* Takes home what has come lately. Of small blocks always, since whoever goes through all that are free first has them all
 * in its caches, and the queue full.
 * Whoever has only one large block in use, and lets it go for each answer, finds it come home just before it needs it, with
 * header and data in the other's cache. With a second one it finds the one before, which it has taken home while it waited.
 * So after exactly one has come, the next request takes pages instead. */
static void look_for_home(struct bcri_ctx *ctx, const struct wanted *wanted)
{
    struct bcri_heap *heap = ctx->heap;
    bool alone = comes_alone(wanted);
    if (alone && at_hand(heap->area, wanted))
        return;
    if (alone && heap->one_came)
        heap->one_came = false;
    else
        heap->one_came = bcri_returns_collect(ctx, COLLECT_SOME, take_home) == 1 && alone;
}

/* In the order of what it costs: the area at hand, with what has come home lately; any area; then any, with all that has
 * come home. */
static int alloc_slow(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                      struct bcri_region_shm **region_out)
{
    struct bcri_heap *heap = ctx->heap;
    struct wanted wanted = {.charge = bcri_charge_units(length)};
    struct bcri_span *span;
    uint32_t i;
    if (heap == NULL || heap->area == NULL)
        return bcrE_NOMEM;
    if (length > BCRI_HEAP_SPAN_MAX)
        wanted.pages = (uint32_t)(((uint64_t)length + BCRI_HEAP_PAGE - 1) / BCRI_HEAP_PAGE);
    else
        wanted.class = bcri_class_of(length);
    if (bcri_unlikely(bcri_load(&ctx->bell->freers_ended) != 0))
        bcri_heap_collect_ended(ctx);
    look_for_home(ctx, &wanted);
    if (!from_area(ctx, heap->area, &wanted, &span, &i) && !from_any(ctx, &wanted, &span, &i)) {
        bcri_heap_collect_all(ctx);
        if (!from_any(ctx, &wanted, &span, &i))
            return bcrE_NOMEM;
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
        .charge = bcri_charge_units(length), .class = bcri_class_of(length), .reserve = true};
    struct bcri_span *span;
    uint32_t i;
    if (ctx->heap != NULL)
        bcri_heap_collect_all(ctx);
    if (ctx->heap == NULL || !from_any(ctx, &wanted, &span, &i)) {
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

/* A block that is a page run, or none that is live. */
int bcri_heap_free_other(struct bcri_heap *heap, struct bcri_span *span, uint32_t i)
{
    if (span->charge[i] != BCRI_RUN_CHARGE || !bcri_run_free(span, i))
        heap->bad_frees++;
    return 0;
}

void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region)
{
    (void)region;
    (void)bcri_heap_free_fast(ctx, ref);
}

static void take_home(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count)
{
    struct bcri_heap *heap = ctx->heap;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i;
        struct bcri_span *span = bcri_span_of(heap, refs[k], &i);
        if (bcri_likely(span != NULL && bcri_span_ref(span, i) == refs[k]))
            (void)bcri_heap_free_block(heap, span, i);
        else
            heap->bad_frees++;
    }
}

void bcri_heap_take_home(struct bcri_ctx *ctx, bcri_ref ref)
{
    take_home(ctx, &ref, 1);
}

/* Where a block's data begins, without a look at its header, which may lie in the cache of whoever freed it. */
static const unsigned char *data_of(const struct bcri_span *span, uint32_t i)
{
    if (span->class == BCRI_CLASS_HEADERS)
        return span->area->seg->base + (size_t)span->run[i].first * BCRI_HEAP_PAGE;
    return span->base + bcri_class_data(&bcri_heap_classes[span->class], i);
}

/* A block that came home a moment ago will probably be the next to go: have its first data here by then, too. */
static void take_home_warm(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i;
        const struct bcri_span *span = bcri_span_of(ctx->heap, refs[k], &i);
        if (bcri_likely(span != NULL))
            bcri_prefetch_write(data_of(span, i));
    }
    take_home(ctx, refs, count);
}

void bcri_heap_collect_waiting(struct bcri_ctx *ctx)
{
    if (ctx->heap != NULL)
        bcri_returns_glance(ctx, take_home_warm);
}

void bcri_heap_collect_all(struct bcri_ctx *ctx)
{
    bcri_returns_collect(ctx, 0, take_home);
    if (bcri_unlikely(bcri_load(&ctx->bell->rescan)))
        bcri_heap_find_strays(ctx);
}

void bcri_heap_collect_ended(struct bcri_ctx *ctx)
{
    /* First, and acquire: what the ended ones have pushed and stored is seen from here on. */
    atomic_exchange_explicit(&ctx->bell->freers_ended, 0, memory_order_seq_cst);
    if (ctx->heap == NULL)
        return;
    bcri_heap_collect_all(ctx); /* reads what is there */
    bcri_heap_collect_all(ctx); /* and finds that no more will come */
}

void bcri_heap_collect(struct bcri_ctx *ctx)
{
    if (ctx->heap == NULL)
        return;
    bcri_heap_collect_all(ctx);
    for (struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next)
        bcri_area_trim(area);
}

static int resize_own(struct bcri_ctx *ctx, struct bcri_span *span, uint32_t i, uint32_t length)
{
    struct bcri_heap_area *area = span->area;
    bool is_run = span->class == BCRI_CLASS_HEADERS;
    uint32_t charge = bcri_charge_units(length);
    uint32_t charged = is_run ? span->run[i].charge : span->charge[i];
    if (!is_run && length > bcri_heap_classes[span->class].data_bytes)
        return bcrE_NOMEM;
    if (charge > charged && area->charged - charged + charge > area->limit) {
        bcri_heap_collect_all(ctx);
        if (area->charged - charged + charge > area->limit)
            return bcrE_NOMEM;
    }
    if (is_run) {
        uint32_t pages = (uint32_t)(((uint64_t)length + BCRI_HEAP_PAGE - 1) / BCRI_HEAP_PAGE);
        if (!bcri_run_resize(span, i, pages != 0 ? pages : 1))
            return bcrE_NOMEM;
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
            return bcrE_NOMEM;
    } else {
        uint32_t i;
        struct bcri_span *span = ctx->heap != NULL ? bcri_span_of(ctx->heap, ref, &i) : NULL;
        ctx->damaged |= span == NULL;
        int error = span != NULL ? resize_own(ctx, span, i, length) : bcrE_NOMEM;
        if (error != 0)
            return error;
    }
    region->length = length;
    return 0;
}

uint64_t bcri_heap_charged(const struct bcri_ctx *ctx)
{
    uint64_t units = 0;
    if (ctx->heap != NULL)
        for (const struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next)
            units += area->charged;
    return units;
}
