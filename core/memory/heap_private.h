/* SPDX-License-Identifier: MIT */
/* The owner's private side of the comm heap; heap*.c only. What other processes read of a heap is
 * in heap.h. The part of it that fast paths use is in bcri/heap_fast.h. */
#ifndef BCR_HEAP_PRIVATE_H
#define BCR_HEAP_PRIVATE_H

#include <stdbool.h>

#include "bcri/heap_fast.h"

/* A page run with a header: data above BCRI_HEAP_SPAN_MAX. */
struct bcri_run {
    uint32_t first, pages;
    uint32_t charge; /* bytes; 0: not live (in the warm list, or the header is free) */
};

/* Free runs of one area. Each is recorded at its first and last page, and in a treap ordered by
 * (length, address). */
struct run_page {
    uint32_t free_len; /* at the first page of a free run: its pages; else 0 */
    uint32_t back;     /* at the last page of a free run: its first page; else 0 */
    uint32_t left, right;
};

struct bcri_heap_seg {
    struct bcri_heap_seg *next;
    uint32_t seg, pages;
    unsigned char *base;
    struct bcri_heap_dir_shm *dir;
    _Atomic uint32_t *span_word; /* the table of spans, by page */
    uint32_t first;              /* the first page that an area may have */
    bool is_pool;                /* its one area grows */
    struct bcri_span **span_of;  /* by page */
    struct run_page *run;        /* by page */
};

/* heap_runs.c: pages of an area. */
uint32_t bcri_pages_take(struct bcri_heap_area *area, uint32_t count); /* the first page; 0: none */
void bcri_pages_give(struct bcri_heap_area *area, uint32_t first, uint32_t count);
bool bcri_pages_take_at(struct bcri_heap_area *area, uint32_t first, uint32_t count);
bool bcri_pages_valid(const struct bcri_heap_area *area, uint64_t *free_pages_out);

/* heap_span.c */
void bcri_span_rotate(struct bcri_heap_area *area, struct bcri_span *span);
void bcri_span_requeue(struct bcri_span *span);
struct bcri_span *bcri_span_get(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t class);
void bcri_spans_trim(struct bcri_heap_area *area);

/* heap_run.c: blocks that are page runs. */
bool bcri_run_is_warm(const struct bcri_heap_area *area, uint32_t pages); /* is one kept? */
bool bcri_run_alloc(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t pages,
                    struct bcri_span **span_out, uint32_t *i_out);
bool bcri_run_free(struct bcri_span *span, uint32_t i);
bool bcri_run_resize(struct bcri_span *span, uint32_t i, uint32_t pages);
void bcri_runs_cool(struct bcri_heap_area *area);

/* heap_full.c: an allocation of `length` bytes has found no room. */
void bcri_heap_full(struct bcri_ctx *ctx, uint32_t length);

/* heap_area.c */
int bcri_heap_add_reserve(struct bcri_ctx *ctx);
uint64_t bcri_heap_pages_for(uint64_t nbytes, uint64_t nrgns);
void bcri_area_trim(struct bcri_heap_area *area);

/* heap_freed.c: what others have freed. */
bool bcri_look_ahead(struct bcri_heap *heap, struct bcri_heap_area *area, uint32_t class);
uint32_t bcri_look_at_runs(struct bcri_heap *heap, struct bcri_heap_area *area);
void bcri_heap_sweep(struct bcri_heap *heap);
void bcri_area_sweep(struct bcri_heap *heap, struct bcri_heap_area *area, bool all);

#endif
