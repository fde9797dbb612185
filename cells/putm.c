/* SPDX-License-Identifier: MIT */
/* bcr_putm; bcr_putwait, bcr_getputwait, bcr_putdone. bcr.h is their manual. */
#include <bcr.h>

#include "bcri/cces.h"
#include "bcri/cell0.h"
#include "bcri/clock.h"
#include "bcri/drop.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/order.h"
#include "bcri/private.h"
#include "bcri/put.h"
#include "bcri/put_waiters.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/tiers.h"
#include "bcri/trace.h"

/* One of the cells of a bcr_putm. */
struct target {
    struct bcri_put put;
    int error;
    struct bcri_slot_shm *request; /* waits for room; else NULL */
    uint8_t host;                  /* of its cell, as far as shares are concerned */
};

/* Several puts to one host share the region, a single one does not: what it takes to end the share comes
 * there later, and until then no taker would have the region alone. Hosts are told apart by the low byte of
 * their numbers; taking two for one does no harm. */
__attribute__((noinline)) static void find_shares(struct bcri_ctx *ctx, struct target *targets, int count)
{
    uint8_t cells[UINT8_MAX + 1] = {0}; /* up to 2 */
    for (int i = 0; i < count; i++) {
        targets[i].host = (uint8_t)bcri_elsewhere(ctx, targets[i].put.key).host;
        if (cells[targets[i].host] < 2)
            cells[targets[i].host]++;
    }
    for (int i = 0; i < count; i++)
        targets[i].put.shares = cells[targets[i].host] == 2;
}

static void put_waiting(struct bcri_ctx *ctx, struct target *target, uint64_t deadline_ns)
{
    struct bcri_result result;
    do {
        result = bcri_put_look_up(ctx, &target->put);
        target->error = result.error;
        if (result.outcome == BCRI_ELSEWHERE)
            target->error = bcri_order_put(ctx, &target->put, bcr_op_putm, deadline_ns);
        if (target->error != 0 || target->put.resolved == NULL)
            return;
        if (target->put.resolved->own) {
            target->error = bcrE_FULL;
            return;
        }
        result = bcri_putwait_begin(ctx, target->put.write, target->put.region, target->put.resolved,
                                    &target->request, deadline_ns);
        target->error = result.error;
        if (result.outcome == BCRI_STALE)
            bcri_resolved_forget(ctx, target->put.resolved);
    } while (result.outcome == BCRI_STALE);
}

/* Puts an error region that tells of the failure into this CCE's own cell 0, if it has asked for
 * that. */
static void tell_target_failed(struct bcri_ctx *ctx, const struct target *target)
{
    const bcr_cce_id cce = bcri_key_cce(target->put.key);
    const int cell = bcri_key_number(target->put.key);
    uint8_t identity[BCRI_IDENTITY_BYTES] = {0};
    if ((ctx->flags & bcr_errors) == 0)
        return;
    (void)bcri_cce_encode(ctx, cce, identity);
    if (bcri_error_put(ctx, ctx->index, target->error, bcr_op_putm, identity, cell) != 0)
        bcri_counted(ctx, BCRI_COUNT_UNTOLD);
}

/* Puts into every cell that has room, then into the others until the deadline. Returns the first
 * failure's code, or 0. */
static int put_all(struct bcri_ctx *ctx, struct target *targets, int count, uint64_t deadline_ns)
{
    int error = 0;
    if (count > 1 && bcri_load(&ctx->host->agent) != 0)
        find_shares(ctx, targets, count);
    for (int i = 0; i < count; i++)
        targets[i].error = bcri_put(ctx, &targets[i].put, BCRI_DEADLINE_PASSED);
    for (int i = 0; i < count; i++)
        if (targets[i].error == bcrE_FULL && deadline_ns != BCRI_DEADLINE_PASSED)
            put_waiting(ctx, &targets[i], deadline_ns);
    if (ctx->outbox != NULL)
        bcri_order_putm_over(ctx); /* before it waits for cells of this host, which may be for ever */
    for (int i = 0; i < count; i++) {
        if (targets[i].request != NULL)
            targets[i].error = bcri_putwait_end(ctx, targets[i].request, deadline_ns);
        else if (targets[i].put.answer != NULL)
            targets[i].error = bcri_order_put_end(ctx, &targets[i].put);
        if (targets[i].error == 0) {
            bcri_counted(ctx, BCRI_COUNT_PUT);
            continue;
        }
        tell_target_failed(ctx, &targets[i]);
        if (error == 0)
            error = targets[i].error;
    }
    return error;
}

int bcr_putm(int qlike, bcr_region rgid, int ncells, const int *cells, int nofree)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    struct bcri_id id;
    int error = bcri_id_look(ctx, rgid, &id);
    if (error == 0 && (ncells < 0 || (cells == NULL && ncells != 0)))
        error = bcrE_ARG;
    if (error != 0)
        return bcri_put_failed(ctx, error);
    /* From here on the region is put, whatever becomes of single cells. */
    struct target *targets = ncells != 0 ? bcri_private_alloc((size_t)ncells * sizeof *targets) : NULL;
    const int count = targets != NULL ? ncells : 0;
    const bcri_ref region = bcri_slot_region(id.word);
    const uint64_t deadline_ns = bcri_deadline_after(ctx->putwait_msec);
    for (int i = 0; i < count; i++)
        targets[i] = (struct target){.put = {.key = bcri_resolved_key(cells[2 * i], cells[2 * i + 1]),
                                             .slot = id.slot,
                                             .slot_ref = id.ref,
                                             .region = region,
                                             .write = qlike == 0,
                                             .nofree = true,
                                             .msec = ctx->putwait_msec}};
    error = count == ncells ? put_all(ctx, targets, count, deadline_ns) : bcrE_NOMEM;
    bcri_private_free(targets);
    if (nofree == 0 && bcri_slot_holds(id.slot, region))
        bcri_slot_drop(ctx, id.slot);
    return error == 0 ? 0 : bcri_put_failed(ctx, error);
}

int bcr_putwait(int msec)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (msec == bcr_PENDING)
        return bcri_fail(bcrE_ARG);
    ctx->putwait_msec = msec;
    return 0;
}

int bcr_getputwait(int *msec)
{
    BCRI_CALL;
    const struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (msec == NULL)
        return bcri_fail(bcrE_ARG);
    *msec = ctx->putwait_msec;
    return 0;
}

int bcr_putdone(int msec)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    if (msec == bcr_PENDING)
        return bcri_fail(bcrE_ARG);
    const int done = bcri_order_done(ctx, bcri_deadline_after(msec));
    return done >= 0 ? done : bcri_fail(bcrE_NOMEM);
}
