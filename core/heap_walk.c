/* SPDX-License-Identifier: MIT */
/* Looking at a heap as a whole: every header of a segment, from any process; and whether the owner's private lists, the
 * shared page table and the headers agree. */
#include "bcri/segment.h"
#include "heap_private.h"

/* The bounds of one area as read once from shared memory; false if they cannot be. */
static bool area_bounds(const struct bcri_heap_area_shm *entry, uint64_t seg_pages, uint32_t *first_out,
                        uint32_t *data_out, uint32_t *end_out)
{
    if (bcri_load_acquire(&entry->state) != 1)
        return false;
    uint32_t first = bcri_load(&entry->first_page);
    uint32_t data = bcri_load(&entry->data_page);
    uint32_t end = bcri_load(&entry->end_page);
    if (first == 0 || data <= first || end <= data || end > seg_pages ||
        (uint64_t)(data - first) * BCRI_HEAP_PAGE < end - data)
        return false;
    *first_out = first;
    *data_out = data;
    *end_out = end;
    return true;
}

void bcri_heap_each(struct bcri_ctx *ctx, uint32_t seg,
                    void (*visit)(void *arg, bcri_ref ref, struct bcri_region_shm *region), void *arg)
{
    unsigned char *base = bcri_segment_map(ctx, seg);
    if (base == NULL)
        return;
    const struct bcri_heap_dir_shm *dir = (const struct bcri_heap_dir_shm *)(void *)base;
    uint64_t seg_pages = ctx->map[seg].units * BCRI_REF_UNIT / BCRI_HEAP_PAGE;
    if (bcri_load_acquire(&dir->magic) != BCRI_HEAP_MAGIC)
        return;
    for (uint32_t slot = 0; slot < BCRI_HEAP_AREAS; slot++) {
        uint32_t first, data, end;
        if (!area_bounds(&dir->area[slot], seg_pages, &first, &data, &end))
            continue;
        const _Atomic uint8_t *table =
            (const _Atomic uint8_t *)(void *)(base + (uint64_t)first * BCRI_HEAP_PAGE);
        for (uint32_t page = data; page < end;) {
            uint32_t class = bcri_load_acquire(&table[page - data]);
            if (class == 0 || class > BCRI_HEAP_CLASSES) {
                page++;
                continue;
            }
            const struct bcri_heap_class *geometry = &bcri_heap_classes[class - 1];
            if (page + geometry->pages > end)
                break;
            for (uint32_t i = 0; i < geometry->blocks; i++) {
                uint64_t offset = (uint64_t)page * BCRI_HEAP_PAGE + ((uint64_t)i << (5 + geometry->shift));
                visit(arg, bcri_ref_make(seg, offset), (struct bcri_region_shm *)(void *)(base + offset));
            }
            page += geometry->pages;
        }
    }
}

static void count_held_block(void *arg, bcri_ref ref, struct bcri_region_shm *region)
{
    (void)ref;
    if (BCRI_COUNT(bcri_load_acquire(&region->count)) != 0)
        ++*(uint64_t *)arg;
}

uint64_t bcri_heap_held(struct bcri_ctx *ctx, uint32_t seg)
{
    uint64_t held = 0;
    bcri_heap_each(ctx, seg, count_held_block, &held);
    return held;
}

static bool header_valid(const struct bcri_ctx *ctx, const struct bcri_span *span, uint32_t i)
{
    const struct bcri_heap_class *geometry = &bcri_heap_classes[span->class];
    const struct bcri_region_shm *region = bcri_span_header(span, i);
    uint64_t start = (uint64_t)span->first_unit * BCRI_REF_UNIT + bcri_class_data(geometry, i);
    uint64_t capacity = geometry->data_bytes;
    bool is_run = span->class == BCRI_CLASS_HEADERS;
    if (is_run) {
        start = (uint64_t)span->run[i].first * BCRI_HEAP_PAGE;
        capacity = (uint64_t)span->run[i].pages * BCRI_HEAP_PAGE;
        capacity = capacity > UINT32_MAX ? UINT32_MAX : capacity;
    }
    bool live = is_run ? span->run[i].charge != 0 : span->charge[i] != 0;
    if (!live && BCRI_COUNT(bcri_load(&region->count)) != 0)
        return false;
    if (is_run && span->charge[i] == 0)
        return span->run[i].charge == 0;
    return region->home == ctx->index && region->capacity == capacity &&
           (uint64_t)region->data_16 * 16 == start;
}

/* Adds what the span's live blocks are charged, and the pages of its runs. */
static bool span_valid(const struct bcri_ctx *ctx, const struct bcri_span *span, uint64_t *charged,
                       uint64_t *run_pages)
{
    const struct bcri_heap_area *area = span->area;
    uint32_t live = 0;
    bool in_list = false;
    for (const struct bcri_span *at = area->head[span->class]; at != NULL && !in_list; at = at->next)
        in_list = at == span;
    if (in_list != span->listed || (span->listed && (span->top == 0 || area->current[span->class] == span)) ||
        (!span->listed && span->top != 0 && area->current[span->class] != span))
        return false;
    for (uint32_t i = 0; i < span->blocks; i++) {
        if (!header_valid(ctx, span, i))
            return false;
        live += span->charge[i] != 0;
        if (span->class != BCRI_CLASS_HEADERS) {
            *charged += span->charge[i];
        } else if (span->charge[i] != 0) {
            if (span->charge[i] != BCRI_RUN_CHARGE)
                return false;
            *charged += span->run[i].charge;
            *run_pages += span->run[i].pages;
        }
    }
    if (live + span->top != span->blocks)
        return false;
    /* Charges of the free ones are 0, and there are as many as places in the stack: it is exact if none is twice. */
    for (uint32_t k = 0; k < span->top; k++) {
        if (span->stack[k] >= span->blocks || span->charge[span->stack[k]] != 0)
            return false;
        for (uint32_t j = 0; j < k; j++)
            if (span->stack[j] == span->stack[k])
                return false;
    }
    return true;
}

static bool area_valid(const struct bcri_ctx *ctx, const struct bcri_heap_area *area)
{
    const _Atomic uint8_t *table =
        (const _Atomic uint8_t *)(void *)(area->seg->base + (size_t)area->first_page * BCRI_HEAP_PAGE);
    uint64_t free_pages;
    uint64_t charged = 0;
    uint64_t pages = 0;
    if (!bcri_pages_valid(area, &free_pages))
        return false;
    for (uint32_t page = area->data_page; page < area->end_page;) {
        const struct bcri_span *span = area->seg->span_of[page];
        uint32_t entry = bcri_load(&table[page - area->data_page]);
        if (span == NULL) {
            if (entry != 0)
                return false;
            page++;
            continue;
        }
        if (span->area != area || span->first_unit != page * BCRI_PAGE_UNITS || entry != span->class + 1u ||
            !span_valid(ctx, span, &charged, &pages))
            return false;
        uint32_t end = page + bcri_heap_classes[span->class].pages;
        pages += end - page;
        for (page++; page < end; page++)
            if (area->seg->span_of[page] != span || bcri_load(&table[page - area->data_page]) != 0)
                return false;
    }
    return charged == area->charged && charged <= area->limit &&
           pages + free_pages == area->end_page - area->data_page;
}

bool bcri_heap_valid(struct bcri_ctx *ctx)
{
    if (ctx->heap == NULL)
        return true;
    for (const struct bcri_heap_area *area = ctx->heap->areas; area != NULL; area = area->next)
        if (!area_valid(ctx, area))
            return false;
    return ctx->heap->bad_frees == 0;
}
