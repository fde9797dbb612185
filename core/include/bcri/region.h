/* SPDX-License-Identifier: MIT */
/* A region's header, and the word that counts its holders.
 *
 *   off  field     written by                                          read by
 *     0  count     holders, by the count protocol below                holders, enl
 *     8  length    creator, before the region is published; rgrealloc  holders
 *    12  capacity  the heap, when the block is carved                  rgrealloc
 *    16  data      the heap, when the block is carved: offset of the   holders
 *                  data in the same segment, in 16-byte units
 *    20  archtype  creator                                             holders
 *    24  incarnation  the owner, when it takes the block back that   holders that drop; enl
 *                  others have freed: another number each time
 *    28  home      the heap: index of the CCE that owns the block      the holder that frees
 *    30  kind      creator: what it is, BCRI_KIND_ below               bcr_rgkind, bcr_rgerror
 *    32  (data of up to 32 bytes, when the block is of the smallest class)
 *
 * Headers of larger blocks lie packed, two to a line, in front of their span (heap.c).
 *
 * Count word: the low 32 bits are the number of holders. The high 32 bits are the tag of the CCE
 * that is changing the word (its lock owner), else 0.
 *   - A CCE that holds the region by an ID and reads {1, 0}: no other CCE can reach the region, so
 *   the CCE may change the word by plain stores, and write the data. (A reader at a cell counts up
 *   only under the cell's head lock, so the count that it meets still includes the cell's own
 *   hold.)
 *   - In all other cases the CCE locks the word by a CAS {c, 0} -> {c, me}, journals the new value
 *   and stores {c', 0}. If another CCE has it locked, it waits as for any lock (lock.h). If the CCE
 *   dies in between, the daemon completes or undoes the change from the journal (fields cw_*),
 *   exactly once: only while the word carries the dead CCE's tag.
 * A freed block has count 0: from then on its owner may allocate it again, for another region. */
#ifndef BCRI_REGION_H
#define BCRI_REGION_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/ref.h"

#define BCRI_REGION_HEADER 32u
#define BCRI_REGION_INLINE 32u /* bytes of data that share the header's line */

struct bcri_region_shm {
    _Atomic uint64_t count;
    uint32_t length;
    uint32_t capacity;
    uint32_t data_16;
    uint32_t archtype;
    _Atomic uint32_t incarnation;
    uint16_t home;
    uint16_t kind;
};
static_assert(offsetof(struct bcri_region_shm, length) == 8, "docs/layout/region.md");
static_assert(offsetof(struct bcri_region_shm, data_16) == 16, "docs/layout/region.md");
static_assert(offsetof(struct bcri_region_shm, incarnation) == 24, "docs/layout/region.md");
static_assert(sizeof(struct bcri_region_shm) == BCRI_REGION_HEADER, "docs/layout/region.md");

/* What a region is. 0: data of a CCE. Up to BCRI_KIND_ERROR_MAX: an error region, by its bcrE_ code.
 * BCRI_KIND_END: it tells that a CCE has ended. BCRI_KIND_LINE: a line that a CCE has printed. */
#define BCRI_KIND_ERROR_MAX 255u
#define BCRI_KIND_END       256u
#define BCRI_KIND_LINE      257u

#define BCRI_COUNT_ONE              UINT64_C(1)
#define BCRI_COUNT(word)            ((uint32_t)(word))
#define BCRI_COUNT_OWNER(word)      ((uint32_t)((word) >> 32))
#define BCRI_COUNT_WORD(count, tag) (((uint64_t)(tag) << 32) | (uint32_t)(count))

/* States of the count journal (cw_state). cw_ref names the block and cw_incarnation the region in
 * it: if another region lies there by now, the change was done, and repair touches nothing
 * (bcri_heap_count_word).
 *   IDLE   -> TRY     about to lock the word        repair: put {c, 0} back if the word has the
 *                                                   dead CCE's tag; the change is not done
 *   TRY    -> COMMIT  locked, cw_new holds          repair: store {cw_new, 0} if the word has the
 *                                                   dead CCE's tag; the change is done
 *   COMMIT -> LAST    the new count is 0            repair: tell the block's owner (heap.h)
 *   IDLE   -> SOLE    {1, 0} read; about to store   repair: store {cw_new, 0} if the word is
 *                     cw_new                        {1, 0}; the change is done
 *   SOLE   -> COMMIT  stored, more than 0           repair: nothing is left to do
 *   SOLE   -> LAST    stored, 0                     repair: tell the block's owner
 *   any    -> IDLE    bcri_count_committed()
 * Repair leaves in cw_state, for the repair of the enclosing operation, whether the change is done
 * (COMMIT, LAST: yes; IDLE: no).
 * Model: count.pml */
enum bcri_cw_state { BCRI_CW_IDLE = 0, BCRI_CW_TRY, BCRI_CW_COMMIT, BCRI_CW_SOLE, BCRI_CW_LAST };

/* Where a region's data lies in this process. Its segment must be mapped. */
static inline uintptr_t bcri_header_data(const struct bcri_ctx *ctx, bcri_ref region,
                                         const struct bcri_region_shm *header)
{
    return (uintptr_t)ctx->map[bcri_ref_seg(region)].base + (uintptr_t)((uint64_t)header->data_16 * 16);
}
static inline uintptr_t bcri_region_data(struct bcri_ctx *ctx, bcri_ref region)
{
    return bcri_header_data(ctx, region, bcri_at(ctx, region));
}

/* Adds `more` holders to region `ref`, which the caller holds or whose cell it has locked. Journals
 * through cw_*; the caller must advance its own journal phase and then call bcri_count_committed().
 * bcrE_NOMEM if the count would overflow, bcrE_TIMEOUT if the context parks (lock.h): nothing has
 * changed. */
int bcri_region_hold(struct bcri_ctx *ctx, bcri_ref ref, uint32_t more);

/* Drops one hold, and frees the block when it was the last. The journal rule is the same. The
 * daemon never waits for a CCE: if it cannot lock the count word, it passes the hold to one of its
 * own IDs and drops it later. */
void bcri_region_drop(struct bcri_ctx *ctx, bcri_ref ref);
/* For the daemon: drops those of these holds that can be dropped now. */
void bcri_drops_again(struct bcri_ctx *ctx);

/* Locks the count word of a region for a transaction (cells/tx.h), in state TRY, and returns the
 * count. The transaction's store {new count, 0} releases the word, or bcri_count_unlock() does with
 * the count unchanged. */
uint32_t bcri_count_lock(struct bcri_ctx *ctx, bcri_ref ref);
/* The same. False: the daemon is parked, or this CCE cannot map the region; nothing is locked. */
bool bcri_count_try(struct bcri_ctx *ctx, bcri_ref ref, uint32_t *count_out);
void bcri_count_unlock(struct bcri_ctx *ctx, bcri_ref ref, uint32_t count);

/* For the daemon: completes or undoes the count change that CCE `index` had open when it died.
 * Returns the final cw_state: IDLE (nothing was changed), COMMIT or LAST (the change is done). The
 * journal is left for the caller to close. */
enum bcri_cw_state bcri_count_repair(struct bcri_ctx *enl, uint32_t index);

/* Closes the count journal. Call it after the step by which the enclosing operation's journal says
 * that the count is done. */
void bcri_count_committed(struct bcri_ctx *ctx);

#endif
