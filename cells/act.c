/* SPDX-License-Identifier: MIT */
/* See act.h. The operations are the resume tiers of puts and gets, and those of zap.c and length.c:
 * in a context that parks, a lock that cannot be had ends them as time that is up would. */
#include "bcri/act.h"

#include <assert.h>

#include "bcr/error.h"
#include "bcri/clock.h"
#include "bcri/get.h"
#include "bcri/length.h"
#include "bcri/put.h"
#include "bcri/region.h"
#include "bcri/zap.h"

static void begin(struct bcri_ctx *ctx)
{
    assert(ctx->daemon.parks);
    ctx->daemon.parked = 0;
}

/* `if_late`: what the operation says when a lock was not to be had. */
static int end(const struct bcri_ctx *ctx, int error, int if_late)
{
    return error == if_late && ctx->daemon.parked != 0 ? BCRI_PARKED : error;
}

int bcri_act_put(struct bcri_ctx *ctx, uint64_t key, bool write, struct bcri_slot_shm *slot)
{
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    struct bcri_put put = {.key = key,
                           .slot = slot,
                           .slot_ref = bcri_slot_ref(ctx, slot),
                           .region = region,
                           .length = header->length,
                           .write = write};
    begin(ctx);
    return end(ctx, bcri_put(ctx, &put, BCRI_DEADLINE_PASSED), bcrE_FULL);
}

int bcri_act_get(struct bcri_ctx *ctx, uint64_t key, enum bcri_want want, struct bcri_slot_shm **slot_out)
{
    assert(want != BCRI_WANT_LOCK);
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL)
        return bcrE_NOMEM;
    struct bcri_get get = {.key = key, .slot = slot, .slot_ref = bcri_slot_ref(ctx, slot), .want = want};
    begin(ctx);
    const int error = end(ctx, bcri_get_or_wait(ctx, &get, BCRI_HOLDS_NOTHING), bcrE_TIMEOUT);
    if (error == 0)
        *slot_out = slot;
    else
        bcri_slot_give(ctx, slot);
    return error;
}

int bcri_act_zap(struct bcri_ctx *ctx, uint64_t key)
{
    uint32_t owner;
    begin(ctx);
    return end(ctx, bcri_zap(ctx, key, &owner), bcrE_TIMEOUT);
}

int bcri_act_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out)
{
    begin(ctx);
    return end(ctx, bcri_cell_length(ctx, key, length_out), bcrE_TIMEOUT);
}
