/* SPDX-License-Identifier: MIT */
/* Blocks that others have freed: count 0 in a block's header is the truth, and the owner knows
 * privately which blocks are out.
 *
 * A freer stores count 0 (release), then 1 to the mark of the page (release). The owner clears the
 * mark by an exchange (acquire) and then reads the counts there. If the exchange reads that 1, the
 * count 0 happens before the look. A mark that is stored later stays for the next look. Where two
 * freers mark one page, C11 has the exchange synchronize with the last only; that the other's
 * count, which comes before its own mark, is seen as well, is what machines give on which a store
 * reaches all others at once: x86, ARMv8, RISC-V, s390x. Elsewhere that block would be found by the
 * next mark of its page, or when the turn of its span comes: late, not lost.
 *
 * Most looks need no mark. Blocks go out and come back in about the same order, so who has run out
 * looks at the span that has been without free blocks for the longest, LOOK_BLOCKS at a time, and
 * asks for the lines of the next ones: marks then stay in the freer's cache. If the last block of
 * that span is still out, the freer is just at it, and must not be disturbed: the span waits
 * another turn. Marks are read, all of them, before an allocation is refused.
 *
 * Whoever waits looks and fetches then, since it has the time: if it waits for an answer the next
 * allocation is near. */
#include "bcri/segment.h"
#include "heap_private.h"

enum { LOOK_BLOCKS = 16, FETCH_WAITING = 4 };

void bcri_heap_freed(struct bcri_ctx *ctx, bcri_ref ref)
{
    const uint32_t seg = bcri_ref_seg(ref);
    struct bcri_heap_dir_shm *dir = bcri_segment_map(ctx, seg);
    if (dir == NULL)
        return;
    if (bcri_unlikely(ctx->full_fence))
        atomic_thread_fence(memory_order_seq_cst);
    bcri_step();
    const uint32_t magic = bcri_load(&dir->magic);
    if (magic == BCRI_HEAP_MAGIC)
        bcri_store_release(&dir->mark[(uint32_t)ref / BCRI_PAGE_UNITS], 1);
    else if (magic == BCRI_HEAP_ENDED)
        bcri_segment_freed(ctx, seg);
    bcri_step();
}

/* Whether somebody may hold it. */
static bool is_out(const struct bcri_span *span, uint32_t i)
{
    return span->charge[i] != 0 && (span->class != BCRI_CLASS_HEADERS || span->run[i].charge != 0);
}

/* In which order they go out: neighbours far apart, since two headers share a line, and since who
 * reads one line fetches the next as well, which the owner is about to write. */
static const uint8_t apart[LOOK_BLOCKS] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

/* Takes the free ones among blocks [from, to); the lowest comes to lie on top of the stack. */
static uint32_t take_free(struct bcri_heap *heap, struct bcri_span *span, uint32_t from, uint32_t to)
{
    struct bcri_heap_area *area = span->area;
    uint32_t top = span->top, before = top;
    for (uint32_t k = (to - from + LOOK_BLOCKS - 1) / LOOK_BLOCKS * LOOK_BLOCKS; k-- > 0;) {
        uint32_t i = from + (k / LOOK_BLOCKS * LOOK_BLOCKS) + apart[k % LOOK_BLOCKS];
        if (i >= to)
            continue;
        struct bcri_region_shm *region = bcri_span_header(span, i);
        if (span->charge[i] == 0 || bcri_load_acquire(&region->count) != 0)
            continue;
        bcri_store(&region->incarnation, ++heap->incarnation);
        area->charged -= span->charge[i];
        span->charge[i] = 0;
        span->stack[top++] = i;
    }
    span->top = top;
    return top - before;
}

static void take_run(struct bcri_heap *heap, struct bcri_span *span, uint32_t i)
{
    bcri_store(&bcri_span_header(span, i)->incarnation, ++heap->incarnation);
    (void)bcri_run_free(span, i); /* may free the header of another run, but not the span: this one is warm */
}

static uint32_t take_free_runs(struct bcri_heap *heap, struct bcri_span *span)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < span->blocks; i++)
        if (is_out(span, i) && bcri_load_acquire(&bcri_span_header(span, i)->count) == 0) {
            take_run(heap, span, i);
            count++;
        }
    return count;
}

static void sweep(struct bcri_heap *heap, struct bcri_span *span)
{
    if (span->class == BCRI_CLASS_HEADERS)
        (void)take_free_runs(heap, span);
    else if (take_free(heap, span, 0, span->blocks) != 0 && span->list != BCRI_SPAN_CURRENT)
        (void)bcri_span_edge(span);
}

/* Blocks go out and come back in about the same order: one that went out late is free, so are
 * probably the others. */
static bool seems_free(const struct bcri_span *span)
{
    uint32_t i = span->blocks - 1;
    while (i != 0 && span->charge[i] == 0)
        i--;
    return bcri_load(&bcri_span_header(span, i)->count) == 0;
}

/* Asks for up to `most` of the blocks that will be taken next, headers and first data, in order to
 * write them. */
static void fetch(struct bcri_heap_area *area, uint32_t most)
{
    const struct bcri_span *span = area->ahead;
    if (span == NULL)
        return;
    const struct bcri_heap_class *geometry = &bcri_heap_classes[span->class];
    uint32_t i = area->ahead_from;
    if (i % LOOK_BLOCKS == 0 && !seems_free(span)) {
        area->ahead = NULL;
        return;
    }
    uint32_t to = i / LOOK_BLOCKS * LOOK_BLOCKS + LOOK_BLOCKS;
    to = to < span->blocks ? to : span->blocks;
    for (; i < to && most != 0; i++, most--) {
        bcri_prefetch_write(bcri_span_header(span, i));
        if (span->class != BCRI_CLASS_SMALL)
            bcri_prefetch_write(span->base + bcri_class_data(geometry, i));
    }
    area->ahead_from = i;
    if (i == to)
        area->ahead = NULL;
}

/* Takes free blocks of this class, if some seem to have come back. */
bool bcri_look_ahead(struct bcri_heap *heap, struct bcri_heap_area *area, uint32_t class)
{
    struct bcri_span *span = area->current[class];
    for (;;) {
        if (span->looked >= span->blocks) {
            struct bcri_span *next = area->list[BCRI_SPANS_FULL][class].head;
            if (next == NULL || span->top != 0)
                return false;
            if (!seems_free(next)) {
                bcri_span_requeue(next);
                return false;
            }
            bcri_span_rotate(area, next);
            span = next;
        }
        uint32_t from = span->looked;
        uint32_t to = from + LOOK_BLOCKS < span->blocks ? from + LOOK_BLOCKS : span->blocks;
        span->looked = to;
        uint32_t count = take_free(heap, span, from, to);
        area->ahead = to < span->blocks ? span : area->list[BCRI_SPANS_FULL][class].head;
        area->ahead_from = to < span->blocks ? to : 0;
        if (!heap->waited)
            fetch(area, LOOK_BLOCKS);
        if (count != 0)
            return true;
    }
}

/* The next run in turn, if it has been freed. */
static void look_at_one_run(struct bcri_heap *heap, struct bcri_heap_area *area)
{
    struct bcri_span *span = area->current[BCRI_CLASS_HEADERS];
    for (uint32_t k = 0; k < span->blocks; k++) {
        uint32_t i = span->looked < span->blocks ? span->looked : 0;
        span->looked = i + 1;
        if (!is_out(span, i))
            continue;
        if (bcri_load_acquire(&bcri_span_header(span, i)->count) == 0) {
            take_run(heap, span, i);
            bcri_prefetch_write(bcri_span_header(span, i));
            bcri_prefetch_write(area->seg->base + (size_t)span->run[i].first * BCRI_HEAP_PAGE);
        }
        return;
    }
}

void bcri_heap_look_waiting(struct bcri_ctx *ctx)
{
    struct bcri_heap *heap = ctx->heap;
    if (heap == NULL || heap->area == NULL)
        return;
    struct bcri_heap_area *area = heap->area;
    heap->waited = true;
    if (heap->wanted_pages != 0) {
        if (!bcri_run_is_warm(area, heap->wanted_pages))
            look_at_one_run(heap, area);
    } else if (area->current[heap->wanted_class]->top == 0) {
        (void)bcri_look_ahead(heap, area, heap->wanted_class);
        fetch(area, 1);
    } else {
        fetch(area, FETCH_WAITING);
    }
}

uint32_t bcri_look_at_runs(struct bcri_heap *heap, struct bcri_heap_area *area)
{
    return take_free_runs(heap, area->current[BCRI_CLASS_HEADERS]);
}

/* Looks at all blocks whose page is marked; `all`: at all. */
void bcri_area_sweep(struct bcri_heap *heap, struct bcri_heap_area *area, bool all)
{
    _Atomic uint8_t *mark = area->seg->dir->mark;
    for (uint32_t page = area->first_page; page < area->end_page; page++) {
        if (!all && bcri_likely(bcri_load(&mark[page]) == 0))
            continue;
        struct bcri_span *span = area->seg->span_of[page];
        /* Acquire: who set the mark had made its count 0. */
        (void)atomic_exchange_explicit(&mark[page], 0, memory_order_acq_rel);
        if (span != NULL && span->first_unit == page * BCRI_PAGE_UNITS)
            sweep(heap, span);
    }
}

void bcri_heap_sweep(struct bcri_heap *heap)
{
    for (struct bcri_heap_area *area = heap->areas; area != NULL; area = area->next)
        bcri_area_sweep(heap, area, false);
}
