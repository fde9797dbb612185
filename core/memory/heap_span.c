/* SPDX-License-Identifier: MIT */
/* Spans: carving pages into blocks of one class, choosing the span to allocate from, giving empty
 * ones back.
 *
 * A span is the current one of its class, or it is in one of its area's two lists for that class:
 * FREE if it is known to have free blocks, else FULL. The lists are first in, first out, so that
 * spans whose blocks others free have time to become empty. One empty span of each class stays in
 * the list; the pages of a further one are given back. Before pages are taken, everything idle is
 * given back (bcri_area_trim), so that the best fit sees all free pages: the promise of
 * bcri_heap_pages_for rests on that.
 * A span's word in the shared table of spans is stored (release) after all its headers are written,
 * and cleared before its pages can serve anything else. So a process that walks the headers finds
 * only complete ones. */
#include <string.h>

#include "bcri/private.h"
#include "heap_private.h"

const struct bcri_span bcri_span_none;

static struct bcri_span *new_span(struct bcri_heap_area *area, uint32_t class, uint32_t page)
{
    const struct bcri_heap_class *geometry = &bcri_heap_classes[class];
    uint32_t blocks = geometry->blocks;
    struct bcri_span *span = bcri_private_alloc(sizeof *span + 2 * blocks * sizeof(uint32_t));
    if (span == NULL)
        return NULL;
    memset(span, 0, sizeof *span);
    if (class == BCRI_CLASS_HEADERS) {
        span->run = bcri_private_zeroed(blocks, sizeof *span->run);
        if (span->run == NULL) {
            bcri_private_free(span);
            return NULL;
        }
    }
    span->top = span->blocks = blocks;
    span->class = (uint8_t) class;
    span->shift = (uint8_t)geometry->shift;
    span->stride = BCRI_REGION_HEADER << geometry->shift;
    span->first_unit = page * BCRI_PAGE_UNITS;
    span->base = area->seg->base + (size_t)page * BCRI_HEAP_PAGE;
    span->data = span->base + bcri_class_data(geometry, 0);
    span->data_stride = (uint32_t)(bcri_class_data(geometry, 1) - bcri_class_data(geometry, 0));
    span->ref = bcri_ref_make(area->seg->seg, (uint64_t)page * BCRI_HEAP_PAGE);
    span->area = area;
    span->charge = span->stack + blocks;
    for (uint32_t i = 0; i < blocks; i++) {
        span->stack[i] = blocks - 1 - i; /* lowest address first */
        span->charge[i] = 0;
    }
    return span;
}

static void write_headers(struct bcri_ctx *ctx, const struct bcri_span *span)
{
    const struct bcri_heap_class *geometry = &bcri_heap_classes[span->class];
    uint64_t start = (uint64_t)span->first_unit * BCRI_REF_UNIT;
    for (uint32_t i = 0; i < span->blocks; i++) {
        struct bcri_region_shm *region = bcri_span_header(span, i);
        bcri_store(&region->count, 0);
        region->length = 0;
        region->capacity = geometry->data_bytes;
        region->data_16 = (uint32_t)((start + bcri_class_data(geometry, i)) / 16);
        region->archtype = 0;
        bcri_store(&region->incarnation, ++ctx->heap->incarnation);
        region->home = (uint16_t)ctx->index;
        region->kind = 0;
    }
}

static struct bcri_span *carve(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t class)
{
    uint32_t pages = bcri_heap_classes[class].pages;
    bcri_area_trim(area);
    uint32_t page = bcri_pages_take(area, pages);
    if (page == 0)
        return NULL;
    struct bcri_span *span = new_span(area, class, page);
    if (span == NULL) {
        bcri_pages_give(area, page, pages);
        return NULL;
    }
    write_headers(ctx, span);
    for (uint32_t i = 0; i < pages; i++)
        area->seg->span_of[page + i] = span;
    bcri_store_release(&area->seg->span_word[page], BCRI_SPAN_WORD(++ctx->heap->spans_made, class));
    return span;
}

static void link_span(struct bcri_span *span, enum bcri_span_list list)
{
    struct bcri_span_ends *ends = &span->area->list[list][span->class];
    span->next = NULL;
    span->prev = ends->tail;
    *(span->prev != NULL ? &span->prev->next : &ends->head) = span;
    ends->tail = span;
    span->list = (uint8_t)list;
}

static void unlink_span(struct bcri_span *span)
{
    struct bcri_heap_area *area = span->area;
    struct bcri_span_ends *ends = &area->list[span->list][span->class];
    *(span->prev != NULL ? &span->prev->next : &ends->head) = span->next;
    *(span->next != NULL ? &span->next->prev : &ends->tail) = span->prev;
    span->list = BCRI_SPAN_CURRENT;
    if (area->spare[span->class] == span)
        area->spare[span->class] = NULL;
}

/* Gives back the pages of an empty span, which must be in no list.
 * Model: count.pml */
static void retire(struct bcri_span *span)
{
    struct bcri_heap_area *area = span->area;
    if (area->ahead == span)
        area->ahead = NULL;
    uint32_t page = span->first_unit / BCRI_PAGE_UNITS;
    uint32_t pages = bcri_heap_classes[span->class].pages;
    bcri_store(&area->seg->span_word[page], 0);
    atomic_thread_fence(memory_order_release); /* cleared before the pages are reused */
    for (uint32_t i = 0; i < pages; i++)
        area->seg->span_of[page + i] = NULL;
    bcri_pages_give(area, page, pages);
    bcri_private_free(span->run);
    bcri_private_free(span);
}

static void set_current(struct bcri_heap_area *area, struct bcri_span *span)
{
    struct bcri_span *old = area->current[span->class];
    if (old != &bcri_span_none) {
        old->quiet_from = 2;
        old->quiet = old->blocks - 2;
        link_span(old, BCRI_SPANS_FULL);
    }
    span->quiet_from = 0;
    span->quiet = UINT32_MAX;
    span->looked = span->blocks;
    span->list = BCRI_SPAN_CURRENT;
    area->current[span->class] = span;
}

void bcri_span_rotate(struct bcri_heap_area *area, struct bcri_span *span)
{
    unlink_span(span);
    set_current(area, span);
    span->looked = 0;
}

void bcri_span_requeue(struct bcri_span *span)
{
    unlink_span(span);
    link_span(span, BCRI_SPANS_FULL);
}

struct bcri_span *bcri_span_get(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t class)
{
    struct bcri_span *span = area->current[class];
    if (span->top != 0)
        return span;
    span = area->list[BCRI_SPANS_FREE][class].head;
    if (span != NULL)
        unlink_span(span);
    else if ((span = carve(ctx, area, class)) == NULL)
        return NULL;
    set_current(area, span);
    return span;
}

int bcri_span_edge(struct bcri_span *span)
{
    struct bcri_heap_area *area = span->area;
    /* This block is the only one of its span, and the current span's is in use. Make this span the
     * current one, so that the next request finds it at once. */
    if (span->blocks == 1 && area->current[span->class]->top == 0) {
        unlink_span(span);
        set_current(area, span);
        return 0;
    }
    if (span->list == BCRI_SPANS_FULL) {
        unlink_span(span);
        link_span(span, BCRI_SPANS_FREE);
    }
    if (span->top != span->blocks)
        return 0;
    if (area->spare[span->class] == NULL) {
        area->spare[span->class] = span;
    } else {
        unlink_span(span);
        retire(span);
    }
    return 0;
}

void bcri_spans_trim(struct bcri_heap_area *area)
{
    for (uint32_t class = 0; class < BCRI_HEAP_CLASSES; class ++) {
        struct bcri_span *span = area->spare[class];
        if (span != NULL) {
            unlink_span(span);
            retire(span);
        }
        span = area->current[class];
        if (span->blocks != 0 && span->top == span->blocks) {
            area->current[class] = (struct bcri_span *)&bcri_span_none;
            retire(span);
        }
    }
}
