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

static inline void hand_out(struct bcri_span *span, uint32_t i, uint32_t length, uint32_t archtype,
                            bcri_ref *ref_out, struct bcri_region_shm **region_out)
{
    struct bcri_region_shm *region = bcri_span_header(span, i);
    region->length = length;
    region->archtype = archtype;
    region->error = 0;
    *ref_out = bcri_span_ref(span, i);
    *region_out = region;
}

static inline uint32_t pop(struct bcri_heap_area *area, struct bcri_span *span, uint32_t charge)
{
    uint32_t i = span->stack[--span->top];
    /* The next one may lie in the cache of whoever freed it: have it here by then. */
    if (bcri_likely(span->top != 0))
        bcri_prefetch_write(bcri_span_header(span, span->stack[span->top - 1]));
    span->charge[i] = charge;
    area->charged += charge;
    return i;
}

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
    *i_out = pop(area, span, wanted->charge);
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

/* In the order of what it costs: the area at hand, with what has come home lately; any area; then any, with all that
 * has come home. */
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
    bcri_returns_collect(ctx, COLLECT_SOME, take_home);
    if (!from_area(ctx, heap->area, &wanted, &span, &i) && !from_any(ctx, &wanted, &span, &i)) {
        bcri_heap_collect_all(ctx);
        if (!from_any(ctx, &wanted, &span, &i))
            return bcrE_NOMEM;
    }
    hand_out(span, i, length, archtype, ref_out, region_out);
    return 0;
}

int bcri_heap_alloc(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                    struct bcri_region_shm **region_out)
{
    struct bcri_heap *heap = ctx->heap;
    if (bcri_unlikely(heap == NULL || heap->area == NULL || length > BCRI_HEAP_SPAN_MAX))
        return alloc_slow(ctx, length, archtype, ref_out, region_out);
    struct bcri_heap_area *area = heap->area;
    struct bcri_span *span = area->current[bcri_class_of(length)];
    uint32_t charge = bcri_charge_units(length);
    if (bcri_unlikely(span->top == 0 || area->charged + charge > area->limit))
        return alloc_slow(ctx, length, archtype, ref_out, region_out);
    hand_out(span, pop(area, span, charge), length, archtype, ref_out, region_out);
    return 0;
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
    hand_out(span, i, length, archtype, ref_out, region_out);
    return 0;
}

/* A block that is a page run, or none that is live. Out of line: the fast path stays short. */
__attribute__((noinline)) static void free_other(struct bcri_heap *heap, struct bcri_span *span, uint32_t i)
{
    if (span->charge[i] != RUN_CHARGE || !bcri_run_free(span, i))
        heap->bad_frees++;
}

static inline void free_block(struct bcri_heap *heap, struct bcri_span *span, uint32_t i)
{
    uint32_t charge = span->charge[i];
    if (bcri_unlikely(charge - 1 >= BCRI_HEAP_SPAN_MAX / 64)) {
        free_other(heap, span, i);
        return;
    }
    span->area->charged -= charge;
    bcri_span_push(span, i);
}

/* References are looked at, not trusted: they come from elsewhere, or from words that others can write. */
static inline struct bcri_span *span_of(const struct bcri_heap *heap, bcri_ref ref, uint32_t *i_out)
{
    uint32_t seg = bcri_ref_seg(ref);
    uint32_t page = (uint32_t)ref / PAGE_UNITS;
    if (bcri_unlikely(seg >= heap->own_count || page >= heap->own[seg].pages))
        return NULL;
    struct bcri_span *span = heap->own[seg].span_of[page];
    uint32_t i = span != NULL ? ((uint32_t)ref - span->first_unit) >> span->shift : 0;
    if (bcri_unlikely(span == NULL || i >= span->blocks || bcri_span_ref(span, i) != ref))
        return NULL;
    *i_out = i;
    return span;
}

static inline void free_checked(struct bcri_heap *heap, bcri_ref ref)
{
    uint32_t i;
    struct bcri_span *span = span_of(heap, ref, &i);
    if (bcri_likely(span != NULL))
        free_block(heap, span, i);
    else
        heap->bad_frees++;
}

void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region)
{
    (void)region;
    const struct bcri_heap *heap = ctx->heap;
    uint32_t seg = bcri_ref_seg(ref), page = (uint32_t)ref / PAGE_UNITS;
    /* The reference and the header stand where others can write: they must not lead out of the tables. */
    if (bcri_unlikely(heap == NULL || seg >= heap->own_count || page >= heap->own[seg].pages))
        return;
    struct bcri_span *span = heap->own[seg].span_of[page];
    if (bcri_unlikely(span == NULL))
        return;
    uint32_t i = ((uint32_t)ref - span->first_unit) >> span->shift;
    if (bcri_likely(i < span->blocks))
        free_block(ctx->heap, span, i);
}

static void take_home(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        free_checked(ctx->heap, refs[k]);
}

void bcri_heap_take_home(struct bcri_ctx *ctx, bcri_ref ref)
{
    take_home(ctx, &ref, 1);
}

void bcri_heap_collect_all(struct bcri_ctx *ctx)
{
    bcri_returns_collect(ctx, 0, take_home);
    if (bcri_unlikely(bcri_load(&ctx->bell->rescan)))
        bcri_heap_find_strays(ctx);
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
        struct bcri_span *span = ctx->heap != NULL ? span_of(ctx->heap, ref, &i) : NULL;
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
