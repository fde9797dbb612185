/* SPDX-License-Identifier: MIT */
/* The comm heap of one CCE: where its regions lie.
 *
 * Only the owner allocates, without a lock, from lists in its private memory; what others must be
 * able to read (which pages hold which blocks) is in the segment, so that enl and the audit can
 * walk every header. That others have freed a block it sees by the block's own header: the count is
 * 0 (heap_sweep.c). Size classes up to 64 KiB are carved from spans of pages, larger blocks are
 * page runs, address-ordered best fit with merging.
 *
 * Each heap area (one per bcr_cagrow with bytes) has an account: a live block is charged
 * round-up-to-64(max(len, 1)), and an allocation beyond `nbytes` is refused; the memory behind it
 * is larger by what classes and headers can waste in an empty area, and reserved when the area is
 * made. */
#ifndef BCRI_HEAP_H
#define BCRI_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/region.h"

/* The front of a heap segment: what the owner and those who free its blocks tell each other.
 *
 *   | directory, 64 bytes | mark, one byte per page of the segment | to 64 | span, 4 bytes per page | areas: pages ...
 *
 * mark: whoever has made the count of a block 0 stores 1 at the page of its header. The owner
 * clears it by an exchange and
 *   then reads the headers there. The place follows from the page's number alone: a mark that comes late, when the page
 *   serves something else, costs the owner one look.
 * span: the owner: what begins at this page, 0: nothing; else 1 + its class, and above it a number
 * that changes each time.
 *   That is enough to find every header (docs/layout/heap.md). */
#define BCRI_HEAP_MAGIC 0x42435248u /* "BCRH" */
#define BCRI_HEAP_ENDED \
    0x42435245u /* "BCRE": the owner has ended; who frees counts it (bcri_segment_freed) */

struct bcri_heap_dir_shm {
    _Atomic uint32_t magic;
    uint32_t owner;
    uint32_t spare[14];
    _Atomic uint8_t mark[];
};
static_assert(sizeof(struct bcri_heap_dir_shm) == 64, "docs/layout/heap.md");

#define BCRI_HEAP_PAGE  4096u
#define BCRI_PAGE_UNITS (BCRI_HEAP_PAGE / BCRI_REF_UNIT)

/* A word of the table of spans. */
#define BCRI_SPAN_WORD(number, class) ((uint32_t)(number) << 8 | ((class) + 1u))
#define BCRI_SPAN_CLASS(word)         (((word)&0xffu) - 1u) /* out of range for 0 */

static inline uint64_t bcri_heap_span_table(uint64_t seg_pages) /* its offset in bytes */
{
    return (sizeof(struct bcri_heap_dir_shm) + seg_pages + 63) / 64 * 64;
}

/* The block's count is 0, by this CCE's doing, and the journal says so: tells its owner, or, if
 * that has ended, the daemon. May be done again. */
void bcri_heap_freed(struct bcri_ctx *ctx, bcri_ref ref);

/* The same when nothing stands in the way; else false, and nothing has happened. */
static inline bool bcri_heap_freed_fast(const struct bcri_ctx *ctx, bcri_ref ref)
{
    struct bcri_heap_dir_shm *dir = (struct bcri_heap_dir_shm *)(void *)ctx->map[bcri_ref_seg(ref)].base;
    if (bcri_unlikely(ctx->full_fence || bcri_load(&dir->magic) != BCRI_HEAP_MAGIC))
        return false;
    bcri_store_release(&dir->mark[(uint32_t)ref / BCRI_PAGE_UNITS], 1);
    return true;
}

/* enl: the count word of block `ref` if it is still of this incarnation, or 0: it has been freed.
 * What is not 0 stays until the holder whose death is being repaired lets go. */
uint64_t bcri_heap_count_word(struct bcri_ctx *ctx, bcri_ref ref, uint32_t incarnation);

/* Makes room for `nbytes` of regions. Returns 0 and the area's handle; bcrE_ARG; bcrE_NOMEM. */
int bcri_heap_add(struct bcri_ctx *ctx, uint64_t nbytes, uint32_t *area_out);

/* Takes an area away; its pages go back at once. bcrE_BUSY (nothing changed) while one of its
 * blocks is held anywhere: foreign frees are collected first. */
int bcri_heap_remove(struct bcri_ctx *ctx, uint32_t area);

/* A block for `length` bytes, to be counted by the caller before it allocates again: header fields
 * length, capacity, data_16, home set, error 0, archtype as given, count still 0 (the caller sets
 * it, journaled). Charged to its area. Returns 0; bcrE_NOMEM. Never blocks. */
int bcri_heap_alloc(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                    struct bcri_region_shm **region_out);

/* The same, out of memory that is no area of the program's: in no account, taken from the host as
 * it is needed. For small regions that the library itself makes. */
int bcri_heap_alloc_reserve(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                            struct bcri_region_shm **region_out);

/* Gives back a block of this CCE's own heap whose count is 0. */
void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region);

/* Changes the length in place. Returns 0; bcrE_NOMEM if the block or the account has no room. Own
 * blocks and others' (for those only within the block's capacity, and charged when the block comes
 * home). */
int bcri_heap_resize(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region, uint32_t length);

/* For whoever waits and has nothing better to do: looks for blocks that the next allocation will
 * want. */
void bcri_heap_look_waiting(struct bcri_ctx *ctx);

/* Collects all that others have freed, gives empty spans back, merges runs. */
void bcri_heap_collect(struct bcri_ctx *ctx);

/* Frees the private parts; what is shared stays as it is, for enl. Before bcri_ctx_fini. */
void bcri_heap_fini(struct bcri_ctx *ctx);

/* Units of 64 bytes that live blocks are charged with, all areas together. */
uint64_t bcri_heap_charged(const struct bcri_ctx *ctx);

/* Walks every block header of a heap segment (enl, audit, tools; any process): count may be 0. The
 * owner may run meanwhile; then what is seen is a snapshot of a moving thing. */
void bcri_heap_each(struct bcri_ctx *ctx, uint32_t seg,
                    void (*visit)(void *arg, bcri_ref ref, struct bcri_region_shm *region), void *arg);

/* enl: the owner of a heap segment has ended: who frees a block there counts that from now on. */
void bcri_heap_end(struct bcri_ctx *enl, uint32_t seg);

/* enl: how many blocks of a heap segment are held. 0, its owner being dead: the segment may be
 * dropped. Each that is freed from then on counts the segment's `frees` up; so does some that was
 * freed just before (reclaim.h). */
uint64_t bcri_heap_held(struct bcri_ctx *ctx, uint32_t seg);

/* True if the private lists, the shared page table and all headers agree (assert level 3,
 * tests). */
bool bcri_heap_valid(struct bcri_ctx *ctx);

#endif
