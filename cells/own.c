/* SPDX-License-Identifier: MIT */
/* Private copies: own.h.
 *
 * Journal. MOD: region (the copy), old, slot; phase 1: about to make the ID name the copy; 2: about
 * to drop the old region; 3: done. */
#include "bcri/own.h"

#include <string.h>

#include "bcr/error.h"
#include "bcri/get.h"
#include "bcri/heap.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/trace.h"
#include "bcri/waiters.h"

int bcri_region_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    bcri_ref old_ref = bcri_slot_region(bcri_load(&slot->word));
    struct bcri_region_shm *old = bcri_at(ctx, old_ref);
    if (bcri_load_acquire(&old->count) == BCRI_COUNT_ONE)
        return 0;
    bcri_ref ref;
    struct bcri_region_shm *copy;
    int error = bcri_heap_alloc(ctx, old->length, old->archtype, &ref, &copy);
    if (error != 0)
        return error;
    copy->kind = old->kind;
    memcpy((void *)bcri_region_data(ctx, ref), (const void *)bcri_region_data(ctx, old_ref), old->length);
    bcri_journal_open(ctx, BCRI_OP_MOD, BCRI_REF_NONE, ref, bcri_slot_ref(ctx, slot));
    bcri_store(&ctx->journal->old, old_ref);
    bcri_journal_phase(ctx, 1);
    bcri_store_release(&copy->count, BCRI_COUNT_ONE);
    bcri_step();
    bcri_slot_name(slot, ref, bcri_header_data(ctx, ref, copy));
    bcri_journal_phase(ctx, 2);
    bcri_region_drop(ctx, old_ref);
    bcri_journal_phase(ctx, 3);
    bcri_count_committed(ctx);
    bcri_journal_close(ctx);
    bcri_counted(ctx, BCRI_COUNT_COPY);
    return 0;
}

bool bcri_copy_fits(struct bcri_ctx *ctx, const struct bcri_region_shm *header)
{
    bcri_ref ref;
    struct bcri_region_shm *copy;
    if (bcri_heap_alloc(ctx, header->length, header->archtype, &ref, &copy) != 0)
        return false;
    bcri_heap_free(ctx, ref, copy);
    return true;
}

int bcri_take_allowed(struct bcri_ctx *ctx, enum bcri_want want, bcri_ref region)
{
    const struct bcri_region_shm *header = bcri_at(ctx, region);
    if (header == NULL)
        return bcrE_NOMEM;
    return bcri_lacks_copy(ctx, want, header) ? bcrE_NBYTES : 0;
}
