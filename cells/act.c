/* SPDX-License-Identifier: MIT */
/* See act.h. The operations are the resume tiers of puts and gets, and those of zap.c and length.c:
 * in a context that parks, a lock that cannot be had ends them as time that is up would. */
#include "bcri/act.h"

#include <assert.h>

#include <bcr.h>

#include "bcri/clock.h"
#include "bcri/drop.h"
#include "bcri/get.h"
#include "bcri/give_back.h"
#include "bcri/length.h"
#include "bcri/put.h"
#include "bcri/put_waiters.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/write_lock.h"
#include "bcri/zap.h"

static void begin_act(struct bcri_ctx *ctx)
{
    assert(ctx->daemon.parks);
    ctx->daemon.parked = 0;
}

/* `if_late`: what the operation says when a lock was not to be had. */
static struct bcri_acted end_act(const struct bcri_ctx *ctx, int error, int if_late)
{
    if (error == 0)
        return bcri_acted(BCRI_ACT_DONE);
    if (error == if_late && ctx->daemon.parked != 0)
        return bcri_acted(BCRI_ACT_PARKED);
    return bcri_act_failed(error);
}

/* Of a request that is to be ended: it waits, also if a lock was not to be had. */
static struct bcri_acted waits_still(const struct bcri_ctx *ctx)
{
    return bcri_acted(ctx->daemon.parked != 0 ? BCRI_ACT_PARKED : BCRI_ACT_WAITS);
}

static struct bcri_put put_of(struct bcri_ctx *ctx, uint64_t key, bool write, struct bcri_slot_shm *slot)
{
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    return (struct bcri_put){.key = key,
                             .slot = slot,
                             .slot_ref = bcri_slot_ref(ctx, slot),
                             .region = region,
                             .length = header->length,
                             .write = write,
                             .msec = ctx->putwait_msec};
}

struct bcri_acted bcri_act_put(struct bcri_ctx *ctx, uint64_t key, bool write, struct bcri_slot_shm *slot)
{
    struct bcri_put put = put_of(ctx, key, write, slot);
    begin_act(ctx);
    return end_act(ctx, bcri_put(ctx, &put, BCRI_DEADLINE_PASSED), bcrE_FULL);
}

struct bcri_acted bcri_act_put_waiting(struct bcri_ctx *ctx, uint64_t key, bool write,
                                       struct bcri_slot_shm *slot, struct bcri_slot_shm **request_out)
{
    struct bcri_put put = put_of(ctx, key, write, slot);
    struct bcri_result result;
    begin_act(ctx);
    do {
        result = bcri_put_look_up(ctx, &put);
        if (!bcri_is_done(result))
            return end_act(ctx, bcri_error_or(result, bcrE_NOCCE), bcrE_FULL);
        result = bcri_putwait_begin(ctx, write, put.region, put.resolved, request_out, BCRI_DEADLINE_PASSED);
        if (result.outcome == BCRI_STALE)
            bcri_resolved_forget(ctx, put.resolved);
    } while (result.outcome == BCRI_STALE);
    if (!bcri_is_done(result))
        return end_act(ctx, result.error, bcrE_FULL);
    bcri_slot_drop(ctx, slot);
    return bcri_acted(BCRI_ACT_WAITS);
}

struct bcri_acted bcri_act_put_over(struct bcri_ctx *ctx, struct bcri_slot_shm *request, bool withdraw)
{
    if (!withdraw && !bcri_request_ready(ctx, request))
        return bcri_acted(BCRI_ACT_WAITS);
    begin_act(ctx);
    int error = 0;
    if (!bcri_putwait_over(ctx, request, &error))
        return waits_still(ctx);
    return error == 0 ? bcri_acted(BCRI_ACT_DONE) : bcri_act_failed(error);
}

struct bcri_acted bcri_act_return(struct bcri_ctx *ctx, uint64_t key, struct bcri_slot_shm *slot)
{
    struct bcri_resolved *resolved;
    begin_act(ctx);
    const int error = bcri_error_or(bcri_resolved_find_key(ctx, key, &resolved), bcrE_NOCCE);
    if (error != 0)
        return end_act(ctx, error, bcrE_TIMEOUT);
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->prev, resolved->open);
    return end_act(ctx, bcri_request_put_back(ctx, slot), bcrE_TIMEOUT);
}

struct bcri_acted bcri_act_find(struct bcri_ctx *ctx, uint64_t key, bcri_ref *cell_out)
{
    struct bcri_resolved *resolved;
    begin_act(ctx);
    const int error = bcri_error_or(bcri_resolved_find_key(ctx, key, &resolved), bcrE_NOCCE);
    if (error == 0)
        *cell_out = resolved->ref;
    return end_act(ctx, error, bcrE_TIMEOUT);
}

/* Where a region was taken, for bcri_act_give_back and bcri_act_owner_died. */
static void note_origin(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                        struct bcri_slot_shm *slot)
{
    const struct bcri_head_shm *h = &resolved->cell->h;
    const uint32_t epoch = bcri_load(&h->taker) == ctx->tag ? (uint32_t)bcri_load(&h->taker_epoch) : 0;
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->prev, resolved->open | epoch);
}

struct bcri_acted bcri_act_get(struct bcri_ctx *ctx, uint64_t key, enum bcri_want want, bool locks,
                               bool waits, struct bcri_slot_shm **slot_out)
{
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL)
        return bcri_act_failed(bcrE_NOMEM);
    struct bcri_get get = {.key = key,
                           .slot = slot,
                           .slot_ref = bcri_slot_ref(ctx, slot),
                           .want = want,
                           .lock = locks,
                           .msec = waits ? bcr_PENDING : 0};
    begin_act(ctx);
    const int error = bcri_get_or_wait(ctx, &get, BCRI_HOLDS_NOTHING);
    if (error != 0) {
        bcri_slot_give(ctx, slot);
        return end_act(ctx, error, bcrE_TIMEOUT);
    }
    *slot_out = slot;
    if (get.waits)
        return bcri_acted(BCRI_ACT_WAITS);
    note_origin(ctx, get.resolved, slot);
    return bcri_acted(BCRI_ACT_DONE);
}

struct bcri_acted bcri_act_collect(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bool withdraw)
{
    begin_act(ctx);
    if (withdraw && !bcri_request_ready(ctx, slot)) {
        if (bcri_request_cancel(ctx, slot))
            return bcri_act_failed(bcrE_TIMEOUT);
        if (!bcri_request_ready(ctx, slot))
            return waits_still(ctx);
    }
    const struct bcri_answer answer = bcri_request_complete(ctx, slot);
    if (!answer.came)
        return bcri_acted(BCRI_ACT_WAITS);
    return answer.error == 0 ? bcri_acted(BCRI_ACT_DONE) : bcri_act_failed(answer.error);
}

struct bcri_acted bcri_act_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *youngest)
{
    begin_act(ctx);
    if (end_act(ctx, bcri_requests_put_back(ctx, youngest), bcrE_TIMEOUT).outcome == BCRI_ACT_PARKED)
        return bcri_acted(BCRI_ACT_PARKED);
    for (struct bcri_slot_shm *slot = youngest, *older; slot != NULL; slot = older) {
        older = bcri_request_older(ctx, slot);
        if (bcri_load(&slot->word) == 0)
            bcri_slot_give(ctx, slot);
        else
            bcri_slot_drop(ctx, slot);
    }
    return bcri_acted(BCRI_ACT_DONE);
}

struct bcri_acted bcri_act_owner_died(struct bcri_ctx *ctx, bcri_ref cell, uint64_t from)
{
    struct bcri_resolved resolved;
    const uint32_t epoch = (uint32_t)from;
    begin_act(ctx);
    if (bcri_resolved_look(ctx, cell, &resolved) != 0 || resolved.open >> 32 != from >> 32)
        return bcri_acted(BCRI_ACT_DONE);
    return bcri_acted(bcri_write_owner_died(ctx, &resolved, ctx->tag, &epoch) ? BCRI_ACT_DONE
                                                                              : BCRI_ACT_PARKED);
}

bool bcri_act_has_lock(struct bcri_ctx *ctx, bcri_ref cell, uint64_t from)
{
    struct bcri_resolved resolved;
    begin_act(ctx);
    const int error = bcri_resolved_look(ctx, cell, &resolved);
    if (error != 0 || resolved.open >> 32 != from >> 32)
        return error == bcrE_NOMEM;
    const struct bcri_head_shm *h = &resolved.cell->h;
    return bcri_load(&h->taker) == ctx->tag && (uint32_t)bcri_load(&h->taker_epoch) == (uint32_t)from;
}

struct bcri_acted bcri_act_zap(struct bcri_ctx *ctx, uint64_t key)
{
    uint32_t owner;
    begin_act(ctx);
    return end_act(ctx, bcri_zap(ctx, key, &owner), bcrE_TIMEOUT);
}

struct bcri_acted bcri_act_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out)
{
    begin_act(ctx);
    return end_act(ctx, bcri_cell_length(ctx, key, length_out), bcrE_TIMEOUT);
}
