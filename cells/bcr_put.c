/* SPDX-License-Identifier: MIT */
/* bcr_put, bcr_putm, bcr_zap, what the locks' releases are made of, bcr_putwait, bcr_putdone. bcr.h is their manual. */
#include <bcr.h>

#include <stdlib.h>

#include "bcri/cces.h"
#include "bcri/cell0.h"
#include "bcri/clock.h"
#include "bcri/flow.h"
#include "bcri/ids.h"
#include "bcri/self.h"
#include "bcri/summons.h"
#include "bcri/trace.h"
#include "put_fast.h"

static uint64_t deadline(const struct bcri_ctx *ctx)
{
    if (ctx->putwait_msec < 0)
        return BCRI_DEADLINE_NEVER;
    return bcri_deadline_after(ctx->putwait_msec);
}

static int find(struct bcri_ctx *ctx, int cce, int cell, enum bcri_use use, struct bcri_place **place_out)
{
    int error = bcri_place_find(ctx, cce, cell, place_out);
    return bcri_likely(error == 0) ? bcri_access(*place_out, use) : error;
}

static __attribute__((noinline)) int failed(struct bcri_ctx *ctx, int error)
{
    bcri_counted(ctx, error == bcrE_FULL ? BCRI_COUNT_FULL : BCRI_COUNT_FAILED);
    return bcri_fail(error);
}

/* What the first, fast try has not done. */
static __attribute__((noinline)) int put_otherwise(struct bcri_ctx *ctx, bool write,
                                                   struct bcri_slot_shm *slot, uint64_t key, bool nofree)
{
    struct bcri_place *place;
    int error = find(ctx, (int)(uint32_t)(key >> 32), (int)(uint32_t)key, BCRI_USE_ADD, &place);
    if (error == 0)
        error = bcri_put(ctx, write, slot, place, nofree, deadline(ctx));
    return error;
}

BCRI_INLINE int put_now(struct bcri_ctx *ctx, void **rgid, uint64_t key, bool write, bool nofree)
{
    struct bcri_id id;
    int error = bcri_id_look(ctx, rgid, &id);
    if (bcri_unlikely(error != 0))
        return failed(ctx, error);
    bcri_ref region = bcri_slot_region(id.word);
    const struct bcri_region_shm *header = bcri_at(ctx, region);
    if (bcri_unlikely(header == NULL))
        return failed(ctx, bcrE_NOMEM);
    uint32_t length = header->length;
    uint32_t owner = 0;
    struct bcri_place *place;
    error = bcri_place_find_key(ctx, key, &place);
    if (bcri_likely(error == 0)) {
        owner = place->owner;
        error = bcri_likely(place->may_add) ? put_fast(ctx, place, region, &id, write, nofree) : bcrE_ACCESS;
        if (bcri_unlikely(error >= BCRI_STALE))
            error = put_otherwise(ctx, write, id.slot, key, nofree);
    }
    if (bcri_unlikely(error != 0))
        return failed(ctx, error);
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace(ctx, write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, owner, (uint32_t)key, length, region);
    return 0;
}

static __attribute__((noinline)) int put_after_handlers(struct bcri_ctx *ctx, void **rgid, uint64_t key,
                                                        bool write, bool nofree)
{
    int error = ctx->upward->run(ctx);
    return error == 0 ? put_now(ctx, rgid, key, write, nofree) : failed(ctx, error);
}

BCRI_INLINE int put(void **rgid, int cce, int cell, bool write, bool nofree)
{
    const uint64_t key = bcri_place_key(cce, cell);
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (bcri_unlikely(ctx == NULL))
        return -1;
    if (bcri_enters(ctx))
        return put_after_handlers(ctx, rgid, key, write, nofree);
    return put_now(ctx, rgid, key, write, nofree);
}

/* A copy for each kind: what they are decides most of the branches. */
static __attribute__((noinline)) int put_giving(void **rgid, int cce, int cell)
{
    return put(rgid, cce, cell, false, false);
}
static __attribute__((noinline)) int put_keeping(void **rgid, int cce, int cell)
{
    return put(rgid, cce, cell, false, true);
}
static __attribute__((noinline)) int write_giving(void **rgid, int cce, int cell)
{
    return put(rgid, cce, cell, true, false);
}
static __attribute__((noinline)) int write_keeping(void **rgid, int cce, int cell)
{
    return put(rgid, cce, cell, true, true);
}

int bcr_put(int qlike, void **rgid, int cce, int cell, int nofree)
{
    if (bcri_likely(nofree == 0))
        return qlike != 0 ? put_giving(rgid, cce, cell) : write_giving(rgid, cce, cell);
    return qlike != 0 ? put_keeping(rgid, cce, cell) : write_keeping(rgid, cce, cell);
}

int bcr_rlsrl(void **rgid)
{
    return bcr_rgfree(rgid);
}

int bcr_rlswl(void **rgid, int cce, int cell)
{
    return write_giving(rgid, cce, cell);
}

int bcr_wl2rl(void **rgid, int cce, int cell)
{
    return write_keeping(rgid, cce, cell);
}

int bcr_zap(int cce, int cell)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    int entered = bcri_enter(ctx);
    if (entered != 0)
        return failed(ctx, entered);
    for (;;) {
        struct bcri_place *place;
        int error = find(ctx, cce, cell, BCRI_USE_TAKE, &place);
        if (error != 0)
            return failed(ctx, error);
        error = bcri_zap_slow(ctx, place);
        if (error == BCRI_STALE) {
            bcri_place_forget(ctx, place);
            continue;
        }
        if (error != 0)
            return failed(ctx, error);
        bcri_counted(ctx, BCRI_COUNT_ZAP);
        bcri_trace(ctx, BCRI_TRACE_ZAP, 0, place->owner, (uint32_t)cell, 0, BCRI_REF_NONE);
        return 0;
    }
}

/* One of the cells of a putm. */
struct target {
    int cce, cell;
    int error; /* BCRI_WAITS: `request` waits for room */
    struct bcri_slot_shm *request;
};

static void put_at_once(struct bcri_ctx *ctx, bool write, struct bcri_slot_shm *slot, struct target *target)
{
    struct bcri_place *place;
    target->error = find(ctx, target->cce, target->cell, BCRI_USE_ADD, &place);
    if (target->error == 0)
        target->error = bcri_put(ctx, write, slot, place, true, BCRI_DEADLINE_PASSED);
}

static void put_waiting(struct bcri_ctx *ctx, bool write, bcri_ref region, struct target *target)
{
    struct bcri_place *place;
    do {
        target->error = find(ctx, target->cce, target->cell, BCRI_USE_ADD, &place);
        if (target->error != 0)
            return;
        if (place->own) {
            target->error = bcrE_FULL;
            return;
        }
        target->error = bcri_putwait_begin(ctx, write, region, place, &target->request);
        if (target->error == BCRI_STALE)
            bcri_place_forget(ctx, place);
    } while (target->error == BCRI_STALE);
}

/* Tells of a failure, if it was asked for, in this CCE's own cell 0. */
static void tell(struct bcri_ctx *ctx, const struct target *target)
{
    uint8_t identity[BCRI_IDENTITY_BYTES] = {0};
    if ((ctx->flags & bcr_errors) == 0)
        return;
    (void)bcri_cce_encode(ctx, target->cce, identity);
    if (bcri_error_put(ctx, ctx->index, target->error, bcr_op_putm, identity, target->cell) != 0)
        bcri_counted(ctx, BCRI_COUNT_UNTOLD);
}

int bcr_putm(int qlike, void **rgid, int ncells, const int *cells, int nofree)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_slot_shm *slot;
    int error = bcri_enter(ctx);
    if (error == 0)
        error = bcri_id_live(ctx, rgid, &slot);
    if (error == 0 && (ncells < 0 || (cells == NULL && ncells != 0)))
        error = bcrE_ARG;
    if (error != 0)
        return failed(ctx, error);
    struct target *targets = ncells != 0 ? malloc((size_t)ncells * sizeof *targets) : NULL;
    if (targets == NULL && ncells != 0)
        return failed(ctx, bcrE_NOMEM);
    bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    uint64_t deadline_ns = deadline(ctx);
    for (int i = 0; i < ncells; i++) {
        targets[i] = (struct target){.cce = cells[2 * i], .cell = cells[2 * i + 1]};
        put_at_once(ctx, qlike == 0, slot, &targets[i]);
    }
    for (int i = 0; i < ncells; i++)
        if (targets[i].error == bcrE_FULL && deadline_ns != BCRI_DEADLINE_PASSED)
            put_waiting(ctx, qlike == 0, region, &targets[i]);
    for (int i = 0; i < ncells; i++) {
        if (targets[i].error == BCRI_WAITS)
            targets[i].error = bcri_putwait_end(ctx, targets[i].request, deadline_ns);
        if (targets[i].error == 0) {
            bcri_counted(ctx, BCRI_COUNT_PUT);
            continue;
        }
        tell(ctx, &targets[i]);
        if (error == 0)
            error = targets[i].error;
    }
    free(targets);
    if (nofree == 0 && bcri_slot_holds(slot, region))
        bcri_slot_drop(ctx, slot);
    return error == 0 ? 0 : failed(ctx, error);
}

int bcr_putwait(int msec)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (msec == bcr_PENDING)
        return bcri_fail(bcrE_ARG);
    ctx->putwait_msec = msec;
    return 0;
}

int bcr_putdone(int msec)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (msec == bcr_PENDING)
        return bcri_fail(bcrE_ARG);
    int error = bcri_enter(ctx);
    return error == 0 ? 1 : failed(ctx, error);
}
