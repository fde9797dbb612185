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

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/region.h"

/* The first page of a heap segment: where its areas lie. Written by the owner only.
 *
 *   area:   | page table, one byte per data page, whole pages | data pages ... |
 *
 * A byte of the page table is 1 + the class of the span that begins at that page, else 0. `state` is stored last when an
 * area is made, first when it is removed. Nothing else is needed to find every header (docs/layout/heap.md). */
#define BCRI_HEAP_MAGIC 0x42435248u /* "BCRH" */
#define BCRI_HEAP_AREAS 255u        /* to a segment */

struct bcri_heap_area_shm {
    _Atomic uint32_t state; /* 1: live */
    _Atomic uint32_t first_page;
    _Atomic uint32_t data_page;
    _Atomic uint32_t end_page;
};
struct bcri_heap_dir_shm {
    _Atomic uint32_t magic;
    uint32_t owner;
    uint32_t spare[2];
    struct bcri_heap_area_shm area[BCRI_HEAP_AREAS];
};
static_assert(sizeof(struct bcri_heap_area_shm) == 16, "docs/layout/heap.md");
static_assert(sizeof(struct bcri_heap_dir_shm) == 4096, "docs/layout/heap.md");

/* Makes room for `nbytes` of regions. Returns 0 and the area's handle; bcrE_ARG; bcrE_NOMEM. */
int bcri_heap_add(struct bcri_ctx *ctx, uint64_t nbytes, uint32_t *area_out);

/* Takes an area away; its pages go back at once. bcrE_BUSY (nothing changed) while one of its blocks is held anywhere:
 * foreign frees are collected first. */
int bcri_heap_remove(struct bcri_ctx *ctx, uint32_t area);

/* A block for `length` bytes: header fields length, capacity, data_16, home set, error 0, archtype as given, count
 * still 0 (the caller sets it, journaled). Charged to its area. Returns 0; bcrE_NOMEM. Never blocks. */
int bcri_heap_alloc(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                    struct bcri_region_shm **region_out);

/* The same, out of memory that is no area of the program's: in no account, taken from the host as it is needed. For small
 * regions that the library itself makes. */
int bcri_heap_alloc_reserve(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                            struct bcri_region_shm **region_out);

/* Gives back a block of this CCE's own heap whose count is 0. */
void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region);

/* Changes the length in place. Returns 0; bcrE_NOMEM if the block or the account has no room. Own blocks and others'
 * (for those only within the block's capacity, and charged when the block comes home). */
int bcri_heap_resize(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region, uint32_t length);

/* Collects a few blocks that others have freed. For whoever waits and has nothing better to do: whoever answers has probably
 * just freed something of ours, and the next allocation need not look for it. */
void bcri_heap_collect_waiting(struct bcri_ctx *ctx);

/* The owner, when its bell says that some who have freed blocks of its have ended: takes all home, and forgets their queues. May ask
 * the daemon for segments. */
void bcri_heap_collect_ended(struct bcri_ctx *ctx);

/* Collects all that others have freed, gives empty spans back, merges runs. */
void bcri_heap_collect(struct bcri_ctx *ctx);

/* Frees the private parts; what is shared stays as it is, for enl. Before bcri_ctx_fini. */
void bcri_heap_fini(struct bcri_ctx *ctx);

/* Units of 64 bytes that live blocks are charged with, all areas together. */
uint64_t bcri_heap_charged(const struct bcri_ctx *ctx);

/* Walks every block header of a heap segment (enl, audit, tools; any process): count may be 0. The owner may run
 * meanwhile; then what is seen is a snapshot of a moving thing. */
void bcri_heap_each(struct bcri_ctx *ctx, uint32_t seg,
                    void (*visit)(void *arg, bcri_ref ref, struct bcri_region_shm *region), void *arg);

/* enl: how many blocks of a heap segment are held. 0, its owner being dead: the segment may be dropped. Each that
 * is freed from then on counts the segment's `frees` up; so does some that was freed just before (estate.h). */
uint64_t bcri_heap_held(struct bcri_ctx *ctx, uint32_t seg);

/* True if the private lists, the shared page table and all headers agree (assert level 3, tests). */
bool bcri_heap_valid(struct bcri_ctx *ctx);

#endif
