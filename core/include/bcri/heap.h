/* SPDX-License-Identifier: MIT */
/* The comm heap of one CCE: where its regions lie.
 *
 * Only the owner allocates, without a lock, from lists in its private memory; what others must be able to read
 * (which pages hold which blocks) is in the segment, so that enl and the audit can walk every header. Blocks that
 * others free come home through returns.h. Size classes up to 64 KiB are carved from spans of pages, larger blocks are
 * page runs, address-ordered best fit with merging.
 *
 * Each heap area (one per bcr_cagrow with bytes) has an account: a live block is charged round-up-to-64(max(len, 1)), and
 * an allocation beyond `nbytes` is refused; the memory behind it is larger by what classes and headers can waste in an
 * empty area, and reserved when the area is made. */
#ifndef BCRI_HEAP_H
#define BCRI_HEAP_H

#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/region.h"

/* Makes room for `nbytes` of regions. Returns 0 and the area's handle; bcrE_ARG; bcrE_NOMEM. */
int bcri_heap_add(struct bcri_ctx *ctx, uint64_t nbytes, uint32_t *area_out);

/* Takes an area away; its pages go back at once. bcrE_BUSY (nothing changed) while one of its blocks is held anywhere:
 * foreign frees are collected first. */
int bcri_heap_remove(struct bcri_ctx *ctx, uint32_t area);

/* A block for `length` bytes: header fields length, capacity, data_16, home set, error 0, archtype as given, count
 * still 0 (the caller sets it, journaled). Charged to its area. Returns 0; bcrE_NOMEM. Never blocks. */
int bcri_heap_alloc(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                    struct bcri_region_shm **region_out);

/* Gives back a block of this CCE's own heap whose count is 0. */
void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region);

/* Changes the length in place. Returns 0; bcrE_NOMEM if the block or the account has no room. Own blocks and others'
 * (for those only within the block's capacity, and charged when the block comes home). */
int bcri_heap_resize(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region, uint32_t length);

/* Collects what others have freed, returns empty spans, merges runs. */
void bcri_heap_collect(struct bcri_ctx *ctx);

void bcri_heap_fini(struct bcri_ctx *ctx); /* private parts only */

/* Walks every block header of a heap segment (enl, audit, tools; any process): count may be 0. The owner may run
 * meanwhile; then what is seen is a snapshot of a moving thing. */
void bcri_heap_each(struct bcri_ctx *ctx, uint32_t seg,
                    void (*visit)(void *arg, bcri_ref ref, struct bcri_region_shm *region), void *arg);

/* True if the private lists, the shared span table and all headers agree (assert level 3, tests). */
int bcri_heap_valid(struct bcri_ctx *ctx);

#endif
