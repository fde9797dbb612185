/* SPDX-License-Identifier: MIT */
/* Looks at a heap as a whole: walks every header of a segment, in any process, and checks whether
 * the owner's private lists, the shared table of spans and the headers agree. */
#include "bcri/segment.h"
#include "heap_private.h"

/* The front of a heap segment and its number of pages. NULL: it is no heap segment, or it cannot be
 * mapped. */
static const struct bcri_heap_dir_shm *front_of(struct bcri_ctx *ctx, uint32_t seg, uint32_t *pages_out)
{
    if (ctx->host->segments[seg].kind != BCRI_SEG_HEAP)
        return NULL;
    const struct bcri_heap_dir_shm *dir = bcri_segment_map(ctx, seg);
    if (dir == NULL)
        return NULL;
    uint32_t magic = bcri_load_acquire(&dir->magic);
    *pages_out = (uint32_t)(ctx->map[seg].units / BCRI_PAGE_UNITS);
    return magic == BCRI_HEAP_MAGIC || magic == BCRI_HEAP_WANTED || magic == BCRI_HEAP_ENDED ? dir : NULL;
}

static const _Atomic uint32_t *span_words(const struct bcri_heap_dir_shm *dir, uint32_t pages)
{
    return (const _Atomic uint32_t *)(const void *)((const char *)dir + bcri_heap_span_table(pages));
}

void bcri_heap_each(struct bcri_ctx *ctx, uint32_t seg,
                    void (*visit)(void *arg, bcri_ref ref, struct bcri_region_shm *region), void *arg)
{
    uint32_t pages;
    const struct bcri_heap_dir_shm *dir = front_of(ctx, seg, &pages);
    if (dir == NULL)
        return;
    const _Atomic uint32_t *words = span_words(dir, pages);
    const uint32_t reserved = bcri_load_acquire(&dir->end);
    const uint32_t end = reserved != 0 && reserved < pages ? reserved : pages;
    for (uint32_t page = 0; page < end;) {
        uint32_t class = BCRI_SPAN_CLASS(bcri_load_acquire(&words[page]));
        if (class >= BCRI_HEAP_CLASSES || page + bcri_heap_classes[class].pages > end) {
            page++;
            continue;
        }
        const struct bcri_heap_class *geometry = &bcri_heap_classes[class];
        for (uint32_t i = 0; i < geometry->blocks; i++) {
            uint64_t offset = (uint64_t)page * BCRI_HEAP_PAGE + ((uint64_t)i << (5 + geometry->shift));
            visit(arg, bcri_ref_make(seg, offset),
                  (struct bcri_region_shm *)(void *)(ctx->map[seg].base + offset));
        }
        page += geometry->pages;
    }
}

/* The header may have become anything since: its page may serve another span by now, or data. So
 * this reads the page's word in the table of spans before and after the count, like the counter of
 * a sequence lock; each span has a different word.
 * Model: count.pml */
uint64_t bcri_heap_count_word(struct bcri_ctx *ctx, bcri_ref ref, uint32_t incarnation)
{
    uint32_t pages;
    const struct bcri_heap_dir_shm *dir = front_of(ctx, bcri_ref_seg(ref), &pages);
    uint32_t page = (uint32_t)ref / BCRI_PAGE_UNITS;
    if (dir == NULL || page >= pages)
        return 0;
    const _Atomic uint32_t *words = span_words(dir, pages);
    uint32_t before = bcri_load_acquire(&words[page]);
    uint32_t class = BCRI_SPAN_CLASS(before);
    if (class >= BCRI_HEAP_CLASSES)
        return 0;
    uint32_t unit = (uint32_t)ref % BCRI_PAGE_UNITS; /* all headers of a span lie in its first page */
    if (unit >> bcri_heap_classes[class].shift >= bcri_heap_classes[class].blocks ||
        unit % (1u << bcri_heap_classes[class].shift) != 0)
        return 0;
    const struct bcri_region_shm *region = bcri_at(ctx, ref);
    if (region == NULL)
        return 0;
    uint64_t word = bcri_load_acquire(&region->count); /* so the incarnation below is this count's or later */
    uint32_t found = bcri_load(&region->incarnation);
    atomic_thread_fence(memory_order_acquire);
    return found == incarnation && bcri_load(&words[page]) == before ? word : 0;
}

void bcri_heap_end(struct bcri_ctx *enl, uint32_t seg)
{
    uint32_t pages;
    if (front_of(enl, seg, &pages) != NULL)
        atomic_store_explicit(&((struct bcri_heap_dir_shm *)bcri_segment_map(enl, seg))->magic,
                              BCRI_HEAP_ENDED, memory_order_seq_cst);
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

/* Also adds up what the span's live blocks are charged, and the pages of its runs. */
static bool span_valid(const struct bcri_ctx *ctx, const struct bcri_span *span, uint64_t *charged,
                       uint64_t *run_pages)
{
    const struct bcri_heap_area *area = span->area;
    uint32_t live = 0;
    bool in_list = false;
    if (span->list == BCRI_SPAN_CURRENT) {
        in_list = area->current[span->class] == span;
    } else {
        const struct bcri_span *at = area->list[span->list][span->class].head;
        for (; at != NULL && !in_list; at = at->next)
            in_list = at == span;
        in_list &= (span->top == 0) == (span->list == BCRI_SPANS_FULL);
    }
    if (!in_list)
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
    /* The stack has as many entries as there are blocks that are not live. So it is exact if each
     * entry names a block without a charge and none is there twice. */
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
    const _Atomic uint32_t *words = area->seg->span_word;
    uint64_t free_pages;
    uint64_t charged = 0;
    uint64_t pages = 0;
    if (!bcri_pages_valid(area, &free_pages))
        return false;
    for (uint32_t page = area->first_page; page < area->end_page;) {
        const struct bcri_span *span = area->seg->span_of[page];
        uint32_t word = bcri_load(&words[page]);
        if (span == NULL) {
            if (word != 0)
                return false;
            page++;
            continue;
        }
        if (span->area != area || span->first_unit != page * BCRI_PAGE_UNITS ||
            BCRI_SPAN_CLASS(word) != span->class || !span_valid(ctx, span, &charged, &pages))
            return false;
        uint32_t end = page + bcri_heap_classes[span->class].pages;
        pages += end - page;
        for (page++; page < end; page++)
            if (area->seg->span_of[page] != span || bcri_load(&words[page]) != 0)
                return false;
    }
    return charged == area->charged && charged <= area->limit &&
           pages + free_pages == area->end_page - area->first_page;
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
