/* SPDX-License-Identifier: MIT */
/* Ending an ID together with its hold on a region: rgfree, and every routine that gives up a hold.
 *
 * The only holder needs no count journal. For a block of this CCE's own heap it needs no journal at
 * all: it sets the count to 0, then frees the ID. A CCE that is killed in between leaves a LIVE ID
 * whose region has count 0, and the walk over its IDs knows what that means (cleanup.c). rgalloc
 * works in the other order and leaves the same state in between. A block of another CCE's heap is
 * its owner's again from the moment at which its count is 0.
 *
 * Journal of that case: FREE_LAST, with the block's incarnation as its phase; slot. */
#ifndef BCRI_DROP_H
#define BCRI_DROP_H

#include "bcri/heap.h"
#include "bcri/heap_fast.h"
#include "bcri/journal.h"
#include "bcri/region.h"
#include "bcri/slot.h"

/* Makes a free slot LIVE, with a hold of its own on a region that this CCE holds. 0, or as
 * bcri_region_hold: then nothing has happened. Opens and closes the journal. */
int bcri_slot_hold(struct bcri_ctx *ctx, bcri_ref region, struct bcri_slot_shm *slot);

/* Drops the region of a LIVE slot of this CCE and frees the slot. Opens and closes the journal. */
void bcri_slot_drop(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* The general case (drop.c). The second ends the public routine that it is called by (one_thread.h), and returns 0, so that
 * the routine needs no stack. */
void bcri_drop_shared(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref, bcri_ref region);
int bcri_drop_shared_at_end(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref,
                            bcri_ref region);

/* For the only hold on a block of this CCE's own heap: frees the ID, and leaves the block to the caller.
 * Model: death.pml */
BCRI_INLINE void bcri_drop_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot,
                               struct bcri_region_shm *region)
{
    bcri_store(&region->count, 0);
    bcri_step();
    bcri_store(&slot->word, 0);
    bcri_step();
    bcri_slot_give(ctx, slot);
}

int bcri_drop_last_slow(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref ref);

/* For the only hold on another CCE's block: sets the count to 0, tells the owner, frees the ID.
 * `region`: an acquire load has seen its count {1, 0}. Returns 0. bcri_drop_last_slow is its
 * rest.
 * Model: count.pml, death.pml */
BCRI_INLINE int bcri_drop_last(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref,
                               bcri_ref ref, struct bcri_region_shm *region)
{
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->slot, slot_ref);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(BCRI_OP_FREE_LAST, bcri_load(&region->incarnation)));
    bcri_step();
    /* Release: what this CCE has read in the block comes before what the owner writes there
     * next. */
    bcri_store_release(&region->count, 0);
    bcri_step();
    if (bcri_unlikely(!bcri_heap_freed_fast(ctx, ref)))
        return bcri_drop_last_slow(ctx, slot, ref);
    bcri_step();
    bcri_store(&slot->word, 0);
    bcri_step();
    bcri_store(&j->op, BCRI_OP_NONE);
    bcri_step();
    bcri_slot_give(ctx, slot);
    return 0;
}

/* Drops the region of a LIVE slot if the slot is its only holder; `word` is the slot's. False: it
 * is not the only one, and nothing has happened.
 * Model: death.pml */
BCRI_INLINE bool bcri_drop_alone(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, uint64_t word)
{
    bcri_ref ref = bcri_slot_region(word);
    struct bcri_region_shm *region = bcri_at(ctx, ref);
    if (bcri_unlikely(region == NULL || bcri_load_acquire(&region->count) != BCRI_COUNT_ONE))
        return false;
    if (region->home == ctx->index) {
        bcri_drop_own(ctx, slot, region);
        (void)bcri_heap_free_fast(ctx, ref);
    } else {
        (void)bcri_drop_last(ctx, slot, bcri_slot_ref(ctx, slot), ref, region);
    }
    return true;
}

#endif
