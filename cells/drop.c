/* SPDX-License-Identifier: MIT */
/* Ends an ID whose region others hold too, or whose region's owner has ended: drop.h.
 *
 * Journal: FREE; region, slot; the count journal decides whether it is done. */
#include "bcri/drop.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/one_thread.h"
#include "bcri/region.h"
#include "bcri/slot.h"

/* Model: death.pml */
BCRI_INLINE void drop_shared(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref,
                             bcri_ref region)
{
    bcri_journal_open(ctx, BCRI_OP_FREE, BCRI_REF_NONE, region, slot_ref);
    bcri_region_drop(ctx, region);
    bcri_step();
    bcri_store(&slot->word, 0);
    bcri_step();
    bcri_count_committed(ctx);
    bcri_journal_close(ctx);
    bcri_slot_give(ctx, slot);
}

void bcri_drop_shared(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref, bcri_ref region)
{
    drop_shared(ctx, slot, slot_ref, region);
}

int bcri_drop_shared_at_end(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref,
                            bcri_ref region)
{
    drop_shared(ctx, slot, slot_ref, region);
    bcri_call_leaves(ctx);
    return 0;
}

int bcri_drop_last_slow(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref ref)
{
    bcri_heap_freed(ctx, ref);
    bcri_store(&slot->word, 0);
    bcri_step();
    bcri_journal_close(ctx);
    bcri_slot_give(ctx, slot);
    return 0;
}

int bcri_slot_hold(struct bcri_ctx *ctx, bcri_ref region, struct bcri_slot_shm *slot)
{
    bcri_journal_open(ctx, BCRI_OP_READ, BCRI_REF_NONE, region, bcri_slot_ref(ctx, slot));
    bcri_journal_phase(ctx, 1);
    int error = bcri_region_hold(ctx, region, 1);
    if (error == 0) {
        bcri_step();
        bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
        bcri_step();
        bcri_count_committed(ctx);
    }
    bcri_journal_close(ctx);
    return error;
}

void bcri_slot_drop(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const uint64_t word = bcri_load(&slot->word);
    const bcri_ref region = bcri_slot_region(word);
    if (bcri_drop_alone(ctx, slot, word))
        return;
    /* A CCE that cannot map the region cannot change its count: the ID goes on holding it, unknown
     * to the program, until this CCE ends. */
    if (bcri_unlikely(bcri_at_mapped(ctx, region) == NULL))
        bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_KEPT, 0, region));
    else
        bcri_drop_shared(ctx, slot, bcri_slot_ref(ctx, slot), region);
}
