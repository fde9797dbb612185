/* SPDX-License-Identifier: MIT */
/* The comm heap of one CCE: where its regions lie.
 *
 * Only the owner allocates, without a lock, from lists in its private memory. What others must be
 * able to read (which pages hold which blocks) is in the segment, so that the daemon and the audit
 * can walk every header. The owner sees from a block's own header that another CCE has freed it:
 * the count is 0 (heap_freed.c). Blocks of up to 64 KiB belong to size classes and are carved from
 * spans of pages. Larger blocks are page runs, found by address-ordered best fit and merged when
 * they are free.
 *
 * Each heap area (one per bcr_cagrow with bytes) has an account: a live block is charged max(len,
 * 1), and an allocation beyond `nbytes` is refused. The memory behind the account is larger, by
 * what rounding, classes and headers can waste in an empty area (bcri_heap_pages_for), and is
 * reserved when the area is made. */
#ifndef BCRI_HEAP_H
#define BCRI_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/region.h"

/* The front of a heap segment: what the owner and the CCEs that free its blocks tell each other.
 *
 *   | directory, 64 bytes | mark, one byte per page of the segment | to 64 | span, 4 bytes per page | areas: pages ...
 *
 * mark: the CCE that has made the count of a block 0 stores 1 at the page of the block's header.
 * The owner clears the byte by an exchange and then reads the headers there. The byte follows from
 * the page's number alone. So a late store, when the page serves something else, costs the owner
 * one needless look.
 * span: written by the owner. It says what begins at this page: 0 for nothing, else 1 + the span's
 * class in the low byte, and above it a number that changes each time. That is enough to find every
 * header (docs/layout/heap.md). */
#define BCRI_HEAP_MAGIC  0x42435248u /* "BCRH" */
#define BCRI_HEAP_WANTED 0x42435257u /* "BCRW": the owner waits for room; each free rings it (heap_room.c) */
#define BCRI_HEAP_ENDED \
    0x42435245u /* "BCRE": the owner has ended; each free is counted (bcri_segment_freed) */

struct bcri_heap_dir_shm {
    _Atomic uint32_t magic;
    uint32_t owner;
    _Atomic uint32_t end; /* of a pool: the first page that is not reserved; 0: it is no pool */
    uint32_t spare[13];
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

/* Tells the owner of block `ref`, or the daemon if the owner has ended, that the block is free. The
 * caller has made its count 0, and its journal says so. Calling it twice does no harm. */
void bcri_heap_freed(struct bcri_ctx *ctx, bcri_ref ref);

/* The fast path of bcri_heap_freed(). False: the slow path is needed, and nothing has happened.
 * Model: count.pml */
static inline bool bcri_heap_freed_fast(const struct bcri_ctx *ctx, bcri_ref ref)
{
    struct bcri_heap_dir_shm *dir = (struct bcri_heap_dir_shm *)(void *)ctx->map[bcri_ref_seg(ref)].base;
    if (bcri_unlikely(ctx->full_fence || bcri_load(&dir->magic) != BCRI_HEAP_MAGIC))
        return false;
    bcri_store_release(&dir->mark[(uint32_t)ref / BCRI_PAGE_UNITS], 1);
    return true;
}

/* For the daemon: the count word of block `ref` if the block still has this incarnation; 0 if it
 * has been freed. A block whose word is not 0 stays where it is until the daemon, in its repair,
 * drops the dead CCE's hold. */
uint64_t bcri_heap_count_word(struct bcri_ctx *ctx, bcri_ref ref, uint32_t incarnation);

/* Makes an area for `nbytes` of regions, of which the caller expects `nrgns`, more if they are not
 * small. Returns 0 and the area's handle; bcrE_ARG; bcrE_NOMEM. */
int bcri_heap_add(struct bcri_ctx *ctx, uint64_t nbytes, uint32_t nrgns, uint32_t *area_out);

/* A pool: an area that grows where it is, as the memory behind it is reserved. Its account is its
 * memory. */
struct bcri_heap_piece {
    uint32_t seg, seg_pages;
    uint32_t first, end; /* pages */
};
/* Makes a pool of `bytes` that may grow to `most_bytes`. Returns 0 and the area's handle; bcrE_ARG;
 * bcrE_NOMEM. */
int bcri_heap_pool_add(struct bcri_ctx *ctx, uint64_t bytes, uint64_t most_bytes, uint32_t *area_out);
/* What a pool is to grow by next: `bytes`, or as many as it may. False: it may not. */
bool bcri_heap_pool_next(struct bcri_ctx *ctx, uint32_t area, uint64_t bytes,
                         struct bcri_heap_piece *piece_out);
/* Reserves the memory of a piece, which may take long: on any thread, by its own context. Returns 0 or
 * bcrE_NOMEM. */
int bcri_heap_piece_reserve(struct bcri_ctx *any, const struct bcri_heap_piece *piece);
/* The piece, which is reserved, becomes part of its pool. */
void bcri_heap_pool_grow(struct bcri_ctx *ctx, uint32_t area, const struct bcri_heap_piece *piece);

/* Removes an area; its pages go back at once. It first collects the blocks that others have freed.
 * Returns 0; bcrE_BUSY (nothing changed) while any CCE holds one of the area's blocks. */
int bcri_heap_remove(struct bcri_ctx *ctx, uint32_t area);

/* Gives a block for `length` bytes, charged to its area. In its header length, capacity, data_16,
 * home and archtype are set, error is 0, and count is still 0. The caller must set the count,
 * journaled, before it allocates again. Returns 0; bcrE_NBYTES. Never blocks. */
int bcri_heap_alloc(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                    struct bcri_region_shm **region_out);

/* The same from memory that belongs to no area of the program. No account is charged, and the
 * memory is taken from the host as it is needed. For small regions that the library itself
 * makes. */
int bcri_heap_alloc_reserve(struct bcri_ctx *ctx, uint32_t length, uint32_t archtype, bcri_ref *ref_out,
                            struct bcri_region_shm **region_out);

/* Gives back a block of this CCE's own heap whose count is 0. */
void bcri_heap_free(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region);

/* Changes the length in place. Returns 0; bcrE_NBYTES if the block or the account has no room. Works
 * on the CCE's own blocks and on those of others. The latter change only within the block's
 * capacity, and the owner's account is charged when the block comes back. */
int bcri_heap_resize(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_region_shm *region, uint32_t length);

/* Looks for blocks that the next allocation will want. Called by a CCE that waits and has nothing
 * else to do. */
void bcri_heap_look_waiting(struct bcri_ctx *ctx);

/* Collects all that others have freed, gives empty spans back, merges runs. */
void bcri_heap_collect(struct bcri_ctx *ctx);

/* Around a wait for room (heap_room.c). From the first on, each free by another CCE rings this CCE's bell
 * afterwards, and what was freed before has been collected when it returns. False: the kernel lets this CCE make
 * no other one fence, so a free of that moment may ring nobody, and the waiter must look again by itself. */
bool bcri_heap_room_wait(struct bcri_ctx *ctx);
void bcri_heap_room_over(struct bcri_ctx *ctx);
/* Whether an area of the heap is large enough, when it is empty, for a region of `length` bytes. */
bool bcri_heap_room_possible(const struct bcri_ctx *ctx, uint32_t length);

/* Frees the private parts; the shared parts stay as they are, for the daemon. Call it before
 * bcri_ctx_fini. */
void bcri_heap_fini(struct bcri_ctx *ctx);

/* How many bytes the accounts of all areas have left, after the blocks that others have freed are collected. */
uint64_t bcri_heap_left(struct bcri_ctx *ctx);

/* What the live blocks of all areas are charged with, in bytes. */
uint64_t bcri_heap_charged(const struct bcri_ctx *ctx);

/* Walks every block header of a heap segment, free blocks (count 0) included. Any process may call
 * it: the daemon, the audit, tools. If the owner runs meanwhile, the headers are seen at different
 * moments. */
void bcri_heap_each(struct bcri_ctx *ctx, uint32_t seg,
                    void (*visit)(void *arg, bcri_ref ref, struct bcri_region_shm *region), void *arg);

/* For the daemon, when the owner of a heap segment has ended: from now on each free of a block
 * there is counted. */
void bcri_heap_end(struct bcri_ctx *enl, uint32_t seg);

/* For the daemon: how many blocks of a heap segment are held. When its owner is dead and this is 0,
 * the segment may be dropped. Each later free counts the segment's `frees` up; a free from just
 * before may do so too (reclaim.h). */
uint64_t bcri_heap_held(struct bcri_ctx *ctx, uint32_t seg);

/* True if the private lists, the shared page table and all headers agree (assert level 3,
 * tests). */
bool bcri_heap_valid(struct bcri_ctx *ctx);

#endif
