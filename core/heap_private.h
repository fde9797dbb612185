/* SPDX-License-Identifier: MIT */
/* The owner's private side of the comm heap; heap*.c only. What others read of a heap stands in heap.h.
 *
 * Pages are numbered within their segment; page 0 holds the directory, so that 0 can mean "none". */
#ifndef BCR_HEAP_PRIVATE_H
#define BCR_HEAP_PRIVATE_H

#include <stdbool.h>

#include "bcri/heap.h"
#include "bcri/heap_class.h"

#define PAGE_UNITS (BCRI_HEAP_PAGE / BCRI_REF_UNIT)
enum { WARM_RUNS = 8 };

/* A page run with a header: data above BCRI_HEAP_SPAN_MAX. */
struct run {
    uint32_t first, pages;
    uint32_t charge; /* units of 64 bytes; 0: not live (in the warm list, or the header is free) */
};

/* A span: the blocks of one class in consecutive pages. `stack` holds the free ones, `charge` what each costs, 0 for the
 * free; words of 32 bits, since a load behind a narrower store to the same place is slow on some processors (EPYC: 3 ns a
 * pair). In spans of HEADERS `run` tells what hangs on each header, and its charge is RUN_CHARGE. */
struct bcri_span {
    uint32_t top; /* free blocks */
    uint32_t blocks;
    uint8_t class;
    uint8_t shift;
    bool listed; /* in the area's list of spans with free blocks */
    /* A free that leaves top - quiet_from >= quiet blocks, unsigned, has work to do (bcri_span_edge): when the first or
     * the last block comes back. Never for the current span. */
    uint32_t quiet_from, quiet;
    uint32_t stride; /* bytes from header to header */
    uint32_t first_unit;
    unsigned char *base;
    bcri_ref ref;
    struct bcri_heap_area *area;
    uint32_t *charge;
    struct run *run;
    struct bcri_span *next, *prev;
    uint32_t stack[];
};

/* Out of the range of what a block of a class is charged: 1 to BCRI_HEAP_SPAN_MAX / 64. */
#define RUN_CHARGE UINT32_MAX

/* Free runs of one area: each known at its first and last page, and in a treap by (length, address). */
struct run_page {
    uint32_t free_len; /* at the first page of a free run: its pages; else 0 */
    uint32_t back;     /* at the last page of a free run: its first page; else 0 */
    uint32_t left, right;
};

struct warm_run {
    struct bcri_span *span; /* the header's */
    uint32_t i;
};

struct bcri_heap_area {
    /* hot */
    uint64_t charged, limit; /* units of 64 bytes */
    struct bcri_span *current[BCRI_HEAP_CLASSES];
    struct bcri_heap_area *next;
    struct heap_seg *seg;
    bool reserve;          /* for bcri_heap_alloc_reserve only */
    uint32_t handle, slot; /* what the program names it by; its place in the directory */
    uint32_t first_page, data_page, end_page;
    uint32_t free_runs; /* root of the treap */
    uint32_t warm_count;
    struct warm_run warm[WARM_RUNS]; /* freed page runs that still have their headers; the oldest first */
    struct bcri_span *head[BCRI_HEAP_CLASSES], *tail[BCRI_HEAP_CLASSES];
    struct bcri_span *spare[BCRI_HEAP_CLASSES]; /* the one empty span that is kept in the list */
};

struct heap_seg {
    struct heap_seg *next;
    uint32_t seg, pages;
    unsigned char *base;
    struct bcri_heap_dir_shm *dir;
    struct bcri_span **span_of; /* by page */
    struct run_page *run;       /* by page */
};

struct own_seg {
    struct bcri_span **span_of;
    uint32_t pages;
};

struct bcri_heap {
    struct bcri_heap_area *area; /* where allocation begins; never one of the reserve */
    struct own_seg *own;         /* by segment number */
    uint32_t own_count;
    uint32_t last_handle;
    struct bcri_heap_area *areas;
    struct heap_seg *segs;
    uint64_t bad_frees; /* references that came home and name no live block */
};

/* Stands for "no current span", so that the fast path need not ask; never written. */
extern const struct bcri_span bcri_span_none;

/* heap_runs.c: pages of an area. */
uint32_t bcri_pages_take(struct bcri_heap_area *area, uint32_t count); /* the first page; 0: none */
void bcri_pages_give(struct bcri_heap_area *area, uint32_t first, uint32_t count);
bool bcri_pages_take_at(struct bcri_heap_area *area, uint32_t first, uint32_t count);
bool bcri_pages_valid(const struct bcri_heap_area *area, uint64_t *free_pages_out);

/* heap_span.c */
struct bcri_span *bcri_span_get(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t class);
void bcri_span_edge(struct bcri_span *span); /* after a free, see `quiet` */
void bcri_spans_trim(struct bcri_heap_area *area);

/* heap_run.c: blocks that are page runs. */
bool bcri_run_alloc(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t pages,
                    struct bcri_span **span_out, uint32_t *i_out);
bool bcri_run_free(struct bcri_span *span, uint32_t i);
bool bcri_run_resize(struct bcri_span *span, uint32_t i, uint32_t pages);
void bcri_runs_cool(struct bcri_heap_area *area);

/* heap_area.c */
int bcri_heap_add_reserve(struct bcri_ctx *ctx);
uint64_t bcri_heap_pages_for(uint64_t nbytes);
void bcri_area_trim(struct bcri_heap_area *area);

/* heap.c */
void bcri_heap_collect_all(struct bcri_ctx *ctx);
void bcri_heap_take_home(struct bcri_ctx *ctx, bcri_ref ref);

/* heap_stray.c */
void bcri_heap_find_strays(struct bcri_ctx *ctx);

static inline struct bcri_region_shm *bcri_span_header(const struct bcri_span *span, uint32_t i)
{
    return (struct bcri_region_shm *)(void *)(span->base + (size_t)i * span->stride);
}
static inline bcri_ref bcri_span_ref(const struct bcri_span *span, uint32_t i)
{
    return span->ref + ((uint64_t)i << span->shift);
}

static inline void bcri_span_push(struct bcri_span *span, uint32_t i)
{
    uint32_t top = span->top;
    span->charge[i] = 0;
    span->stack[top++] = i;
    span->top = top;
    if (bcri_unlikely(top - span->quiet_from >= span->quiet))
        bcri_span_edge(span);
}

#endif
