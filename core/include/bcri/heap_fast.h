/* SPDX-License-Identifier: MIT */
/* The fast paths of allocating and freeing, inline in the public routines, and those parts of the
 * owner's heap that they need. Everything else is in heap*.c, whose private side (heap_private.h)
 * is built on this.
 *
 * Pages are numbered within their segment; page 0 holds the directory, so that 0 can mean
 * "none". */
#ifndef BCRI_HEAP_FAST_H
#define BCRI_HEAP_FAST_H

#include "bcri/heap.h"
#include "bcri/heap_class.h"

struct bcri_heap_seg; /* heap_private.h */
struct bcri_run;

/* A span: the blocks of one class in consecutive pages. `stack` holds the numbers of the free
 * blocks. `charge` holds what each block is charged, 0 for free ones. They are words of 32 bits,
 * since a load behind a narrower store to the same address is slow on some processors (EPYC: 3 ns a
 * pair). In spans of HEADERS `run` describes the page run of each header, and `charge` is
 * BCRI_RUN_CHARGE. */
enum bcri_span_list { BCRI_SPANS_FREE, BCRI_SPANS_FULL, BCRI_SPAN_LISTS, BCRI_SPAN_CURRENT };
struct bcri_span {
    uint32_t top; /* free blocks */
    uint32_t blocks;
    uint8_t class;
    uint8_t shift;
    uint8_t list; /* enum bcri_span_list */
    /* A free after which top - quiet_from >= quiet (unsigned) must call bcri_span_edge: the first
     * or the last block of the span has come back. This never happens for the current span. */
    uint32_t quiet_from, quiet;
    uint32_t looked;              /* in the current span: blocks looked at since it became current */
    uint32_t stride, data_stride; /* bytes from header to header, and from data to data */
    uint32_t first_unit;
    unsigned char *base;
    unsigned char *data; /* of the first block */
    bcri_ref ref;
    struct bcri_heap_area *area;
    uint32_t *charge;
    struct bcri_run *run;
    struct bcri_span *next, *prev;
    uint32_t stack[];
};

/* No block of a class is charged this: their charges are 1 to BCRI_HEAP_SPAN_MAX. */
#define BCRI_RUN_CHARGE UINT32_MAX

/* A freed page run that still has its header. */
struct bcri_warm_run {
    struct bcri_span *span; /* the header's */
    uint32_t i;
};
#define BCRI_WARM_RUNS 8

struct bcri_heap_area {
    /* hot */
    uint64_t charged, limit; /* bytes */
    struct bcri_span *current[BCRI_HEAP_CLASSES];
    struct bcri_heap_area *next;
    struct bcri_heap_seg *seg;
    bool reserve;    /* for bcri_heap_alloc_reserve only */
    uint32_t handle; /* what the program names it by */
    uint32_t first_page, end_page;
    uint32_t free_runs; /* root of the treap */
    uint32_t warm_count;
    struct bcri_warm_run
        warm[BCRI_WARM_RUNS]; /* freed page runs that still have their headers; the oldest first */
    struct bcri_span_ends {
        struct bcri_span *head, *tail;
    } list[BCRI_SPAN_LISTS]
          [BCRI_HEAP_CLASSES]; /* with free blocks; with none that is known; first in, first out */
    struct bcri_span *ahead; /* its blocks from ahead_from on will be taken next, so they are fetched early */
    uint32_t ahead_from;
    struct bcri_span *spare[BCRI_HEAP_CLASSES]; /* the one empty span that is kept in the list */
};

struct bcri_own_seg {
    struct bcri_span **span_of;
    uint32_t pages;
};

struct bcri_heap {
    struct bcri_heap_area *area; /* where allocation begins; never one of the reserve */
    struct bcri_own_seg *own;    /* by segment number */
    uint32_t own_count;
    uint32_t last_handle;
    uint32_t incarnation; /* the last one given to a block */
    uint32_t spans_made;
    uint32_t wanted_class, wanted_pages; /* what the last slow allocation looked for */
    bool waited;                         /* since then */
    uint32_t room_waits;                 /* calls that wait for room (heap_room.c) */
    bool one_came;                       /* the last look for a page run found exactly one (heap.c) */
    struct bcri_heap_area *areas;
    struct bcri_heap_seg *segs;
    uint64_t refused;   /* how many allocations found no room */
    uint64_t bad_frees; /* how many blocks were given back that are not live */
};

/* Stands for "no current span", so that the fast path needs no test for NULL. Never written. */
extern const struct bcri_span bcri_span_none;

/* heap_span.c: the rest of a free, see `quiet`. Like all routines here that free, it always returns
 * 0, so that a caller with nothing more to do can end with a tail call. */
int bcri_span_edge(struct bcri_span *span);

static inline struct bcri_region_shm *bcri_span_header(const struct bcri_span *span, uint32_t i)
{
    return (struct bcri_region_shm *)(void *)(span->base + (size_t)i * span->stride);
}
static inline bcri_ref bcri_span_ref(const struct bcri_span *span, uint32_t i)
{
    return span->ref + ((uint64_t)i << span->shift);
}

static inline uint32_t bcri_span_pop(struct bcri_heap_area *area, struct bcri_span *span, uint32_t charge)
{
    area->charged += charge;
    const uint32_t i = span->stack[--span->top];
    span->charge[i] = charge;
    return i;
}

/* Fills in the header, except for the archtype. */
static inline void bcri_span_hand_out(struct bcri_span *span, uint32_t i, uint32_t length, bcri_ref *ref_out,
                                      struct bcri_region_shm **region_out)
{
    struct bcri_region_shm *region = bcri_span_header(span, i);
    region->length = length;
    region->kind = 0;
    *ref_out = bcri_span_ref(span, i);
    *region_out = region;
}

static inline int bcri_span_push(struct bcri_span *span, uint32_t i)
{
    uint32_t top = span->top;
    span->charge[i] = 0;
    span->stack[top++] = i;
    span->top = top;
    return bcri_unlikely(top - span->quiet_from >= span->quiet) ? bcri_span_edge(span) : 0;
}

/* Gives a block of up to BCRI_HEAP_SPAN_MAX bytes from the current span, and the address of its
 * data in this process. False: the span has no block, or the account is full; nothing has happened
 * (bcri_heap_alloc looks further). Otherwise like bcri_heap_alloc, but the caller stores the
 * archtype, so that it need not be passed. */
static inline bool bcri_heap_alloc_fast(struct bcri_ctx *ctx, uint32_t length, bcri_ref *ref_out,
                                        struct bcri_region_shm **region_out, uintptr_t *data_out)
{
    const struct bcri_heap *heap = ctx->heap;
    if (bcri_unlikely(heap == NULL || heap->area == NULL || length > BCRI_HEAP_SPAN_MAX))
        return false;
    struct bcri_heap_area *area = heap->area;
    struct bcri_span *span = area->current[bcri_class_of(length)];
    uint32_t charge = bcri_heap_charge(length);
    if (bcri_unlikely(span->top == 0 || area->charged + charge > area->limit))
        return false;
    const uint32_t i = bcri_span_pop(area, span, charge);
    bcri_span_hand_out(span, i, length, ref_out, region_out);
    /* Not read from the header, whose line may still be on its way to this processor: stores can
     * wait for it in the store buffer, but a load stalls. */
    *data_out = (uintptr_t)span->data + (uintptr_t)i * span->data_stride;
    return true;
}

int bcri_heap_free_other(struct bcri_heap *heap, struct bcri_span *span, uint32_t i);

/* bcri_heap_free, inline. */
static inline int bcri_heap_free_block(struct bcri_heap *heap, struct bcri_span *span, uint32_t i)
{
    uint32_t charge = span->charge[i];
    if (bcri_unlikely(charge - 1 >= BCRI_HEAP_SPAN_MAX))
        return bcri_heap_free_other(heap, span, i);
    span->area->charged -= charge;
    return bcri_span_push(span, i);
}
/* The span of a reference and the number of its block there. NULL: the reference leads out of the
 * tables. For the daemon and the slow paths. */
static inline struct bcri_span *bcri_span_of(const struct bcri_heap *heap, bcri_ref ref, uint32_t *i_out)
{
    uint32_t seg = bcri_ref_seg(ref);
    uint32_t page = (uint32_t)ref / BCRI_PAGE_UNITS;
    if (bcri_unlikely(seg >= heap->own_count || page >= heap->own[seg].pages))
        return NULL;
    struct bcri_span *span = heap->own[seg].span_of[page];
    if (bcri_unlikely(span == NULL))
        return NULL;
    *i_out = ((uint32_t)ref - span->first_unit) >> span->shift;
    return bcri_likely(*i_out < span->blocks) ? span : NULL;
}
/* Frees a block of this CCE's own heap. Its header has said so, so the reference leads into the
 * tables. */
static inline int bcri_heap_free_fast(struct bcri_ctx *ctx, bcri_ref ref)
{
    struct bcri_heap *heap = ctx->heap;
    struct bcri_span *span = heap->own[bcri_ref_seg(ref)].span_of[(uint32_t)ref / BCRI_PAGE_UNITS];
    return bcri_heap_free_block(heap, span, ((uint32_t)ref - span->first_unit) >> span->shift);
}

/* The same if it calls nothing. False: the block is no span's, or its span goes to another list; nothing has
 * happened. */
static inline bool bcri_heap_free_quietly(struct bcri_ctx *ctx, bcri_ref ref)
{
    const struct bcri_heap *heap = ctx->heap;
    struct bcri_span *span = heap->own[bcri_ref_seg(ref)].span_of[(uint32_t)ref / BCRI_PAGE_UNITS];
    const uint32_t i = ((uint32_t)ref - span->first_unit) >> span->shift;
    const uint32_t charge = span->charge[i], top = span->top;
    if (bcri_unlikely(charge - 1 >= BCRI_HEAP_SPAN_MAX || top + 1 - span->quiet_from >= span->quiet))
        return false;
    span->area->charged -= charge;
    span->charge[i] = 0;
    span->stack[top] = i;
    span->top = top + 1;
    return true;
}

#endif
