/* SPDX-License-Identifier: MIT */
/* See made.h. */
#include "bcri/made.h"

#include <string.h>

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/both_locks.h"
#include "bcri/corrupt.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/slot.h"

/* Whether a region's data lies in its segment. Its header is shared memory that may be corrupt, and
 * the daemon is about to write the data. */
static bool reaches(const struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_region_shm *region)
{
    const uint64_t end = (uint64_t)region->data_16 * 16 + region->length;
    return end <= ctx->map[bcri_ref_seg(ref)].units * BCRI_REF_UNIT;
}

/* Puts a region whose open journal says ALLOC (counted once, held by no ID). The journal becomes
 * PUT with the hold already counted as the cell's, so that a death at any point either drops the
 * hold or leaves the region in the cell. */
static int put_region(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region, bool beyond)
{
    bcri_store(&ctx->journal->put_held, BCRI_HELD);
    bcri_step();
    bcri_store(&ctx->journal->op, BCRI_OP_PUT);
    bcri_step();
    struct bcri_result result = bcri_cell_enter(ctx, resolved);
    if (result.outcome == BCRI_STALE || result.error == bcrE_INTERNAL)
        result = bcri_result(bcrE_DEAD); /* the CCE has ended, or the cell is condemned */
    if (bcri_is_done(result)) {
        result = beyond ? bcri_queue_append_beyond(ctx, resolved, region)
                        : bcri_queue_append(ctx, resolved, region, BCRI_REF_NONE);
        bcri_cell_leave(ctx, resolved);
    }
    if (!bcri_is_done(result))
        bcri_cell_unhold(ctx, region);
    return bcri_error_or(result, bcrE_FULL);
}

/* The region, whose count is 0. */
static int make(struct bcri_ctx *ctx, const struct bcri_made *made, bcri_ref *ref_out,
                struct bcri_region_shm **region_out)
{
    bcri_ref ref;
    struct bcri_region_shm *region;
    const int error =
        bcri_heap_alloc_reserve(ctx, made->length + made->more_length, made->archtype, &ref, &region);
    if (error != 0)
        return error;
    if (!reaches(ctx, ref, region)) {
        bcri_corrupt(ctx, "the header of a free block", ref);
        bcri_heap_free(ctx, ref, region);
        return bcrE_INTERNAL;
    }
    unsigned char *const data = (unsigned char *)bcri_region_data(ctx, ref);
    memcpy(data, made->data, made->length);
    if (made->more_length != 0)
        memcpy(data + made->length, made->more, made->more_length);
    region->kind = (uint16_t)made->kind;
    *ref_out = ref;
    *region_out = region;
    return 0;
}

int bcri_made_new(struct bcri_ctx *ctx, const struct bcri_made *made, struct bcri_slot_shm **slot_out)
{
    bcri_ref ref;
    struct bcri_region_shm *region;
    struct bcri_slot_shm *const slot = bcri_slot_take(ctx);
    const int error = slot != NULL ? make(ctx, made, &ref, &region) : bcrE_NOMEM;
    if (error != 0) {
        if (slot != NULL)
            bcri_slot_give(ctx, slot);
        return error;
    }
    bcri_slot_name(slot, ref, bcri_header_data(ctx, ref, region));
    bcri_store_release(&region->count, BCRI_COUNT_ONE);
    *slot_out = slot;
    return 0;
}

int bcri_made_put(struct bcri_ctx *ctx, struct bcri_resolved *resolved, const struct bcri_made *made,
                  bool beyond)
{
    bcri_ref ref;
    struct bcri_region_shm *region;
    int error = make(ctx, made, &ref, &region);
    if (error != 0)
        return error;
    bcri_journal_open(ctx, BCRI_OP_ALLOC, resolved->ref, ref, BCRI_REF_NONE);
    bcri_store_release(&region->count, BCRI_COUNT_ONE);
    error = put_region(ctx, resolved, ref, beyond);
    bcri_journal_close(ctx);
    return error;
}
