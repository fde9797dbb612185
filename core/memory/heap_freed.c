/* SPDX-License-Identifier: MIT */
/* Blocks that others have freed. A block is free when the count in its header is 0; the owner's
 * private tables say which blocks it has handed out.
 *
 * A freer stores count 0 (release), then 1 to the `mark` byte of the page (release). The owner
 * clears the byte by an exchange (acquire) and then reads the counts of that page. If the exchange
 * has read that 1, the freer's count 0 happens before the owner's look. A byte that is stored later
 * stays for the next look. When two freers store to one byte, C11 makes the exchange synchronize
 * with the last one only. The owner sees the other's count as well on machines where a store
 * reaches all processors at once: x86, ARMv8, RISC-V, s390x. Elsewhere the owner would find that
 * block at the next free in that page, or when it comes to that span: late, but not lost.
 *
 * Most looks do not read the `mark` bytes, which so stay in the freer's cache. Blocks go out and
 * come back in about the same order. So an owner that has no free block left looks at the span that
 * has been in the FULL list for longest, LOOK_BLOCKS blocks at a time, and prefetches the lines of
 * the next ones. If the last block of that span is still out, the freer is probably at work there
 * and must not be disturbed: the span goes to the end of the list. The owner reads all `mark` bytes
 * before it refuses an allocation.
 *
 * A CCE that waits uses that time to look and to prefetch: if it waits for an answer, its next
 * allocation is near. */
#include "bcri/bell.h"
#include "bcri/segment.h"
#include "heap_private.h"

enum { LOOK_BLOCKS = 16, FETCH_WAITING = 4 };

/* Model: again.pml, count.pml */
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
    if (magic == BCRI_HEAP_MAGIC || magic == BCRI_HEAP_WANTED)
        bcri_store_release(&dir->mark[(uint32_t)ref / BCRI_PAGE_UNITS], 1);
    else if (magic == BCRI_HEAP_ENDED)
        bcri_segment_freed(ctx, seg);
    bcri_step();
    if (magic == BCRI_HEAP_WANTED)
        bcri_bell_ring_index(ctx, dir->owner, BCRI_REF_NONE);
    bcri_step();
}

/* Whether the block is handed out, so that a CCE may hold it. */
static bool is_out(const struct bcri_span *span, uint32_t i)
{
    return span->charge[i] != 0 && (span->class != BCRI_CLASS_HEADERS || span->run[i].charge != 0);
}

/* The order in which blocks are handed out. Neighbours are far apart, since two headers share a
 * line, and since a processor that reads one line also fetches the next, which the owner is about
 * to write. */
static const uint8_t apart[LOOK_BLOCKS] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

/* Takes back the freed ones among blocks [from, to). The lowest ends up on top of the stack.
 * Model: count.pml */
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
    (void)bcri_run_free(span, i); /* may free another run's header, but not the span: run i is warm now */
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

/* Blocks go out and come back in about the same order: if one that went out late is free, the
 * others probably are too. */
static bool seems_free(const struct bcri_span *span)
{
    uint32_t i = span->blocks - 1;
    while (i != 0 && span->charge[i] == 0)
        i--;
    return bcri_load(&bcri_span_header(span, i)->count) == 0;
}

/* Prefetches, for writing, headers and first data of up to `most` of the blocks that will be taken
 * next. */
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

/* Takes back blocks of this class if some seem to have been freed. */
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

/* Looks at the next run in turn and takes it back if it has been freed. */
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
    if (heap == NULL || heap->area == NULL || heap->room_waits != 0)
        return; /* what comes back is taken where a waiting call is tried again at once (heap_room.c) */
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

/* Looks at all blocks of the spans whose `mark` byte is set; with `all`, at all blocks.
 * Model: count.pml */
void bcri_area_sweep(struct bcri_heap *heap, struct bcri_heap_area *area, bool all)
{
    _Atomic uint8_t *mark = area->seg->dir->mark;
    for (uint32_t page = area->first_page; page < area->end_page; page++) {
        if (!all && bcri_likely(bcri_load(&mark[page]) == 0))
            continue;
        struct bcri_span *span = area->seg->span_of[page];
        /* Acquire: the freer that stored 1 had stored count 0 before. */
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
