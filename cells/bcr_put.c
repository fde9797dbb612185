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

static int find(struct bcri_ctx *ctx, int cce, int cell, enum bcri_use use, int msec,
                struct bcri_place **place_out)
{
    int error = bcri_place_find_within(ctx, bcri_place_key(cce, cell), msec, place_out);
    if (error == bcrE_TIMEOUT)
        return bcrE_FULL;
    return bcri_likely(error == 0) ? bcri_access(*place_out, use) : error;
}

static __attribute__((noinline)) int failed(struct bcri_ctx *ctx, int error)
{
    if (error == bcrE_TIMEOUT) /* of a look-up */
        error = bcrE_FULL;
    bcri_counted(ctx, error == bcrE_FULL ? BCRI_COUNT_FULL : BCRI_COUNT_FAILED);
    return bcri_fail(error);
}

/* A put under way, as far as those need it who end it. */
struct putting {
    struct bcri_slot_shm *slot;
    uint64_t key;
    bcri_ref region;
    uint32_t owner;  /* of the cell: a wait may forget the place */
    uint32_t length; /* of the region, which is somebody else's once it is put */
    bool write, nofree;
};

/* What the first, fast try has not done. */
static __attribute__((noinline)) int put_otherwise(struct bcri_ctx *ctx, bool write,
                                                   struct bcri_slot_shm *slot, uint64_t key, bool nofree)
{
    struct bcri_place *place;
    int error =
        find(ctx, (int)(uint32_t)(key >> 32), (int)(uint32_t)key, BCRI_USE_ADD, ctx->putwait_msec, &place);
    if (error == 0)
        error = bcri_put(ctx, write, slot, place, nofree, deadline(ctx));
    return error;
}

/* `error`: how the fast try has ended. */
BCRI_INLINE int end_put(struct bcri_ctx *ctx, const struct putting *p, int error)
{
    if (bcri_unlikely(error >= BCRI_STALE))
        error = put_otherwise(ctx, p->write, p->slot, p->key, p->nofree);
    if (bcri_unlikely(error != 0))
        return failed(ctx, error);
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace(ctx, p->write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, p->owner, (uint32_t)p->key, p->length,
               p->region);
    return 0;
}

BCRI_INLINE int put_now(struct bcri_ctx *ctx, void **rgid, uint64_t key, bool write, bool nofree)
{
    struct bcri_id id;
    int error = bcri_id_look(ctx, rgid, &id);
    if (bcri_unlikely(error != 0))
        return failed(ctx, error);
    const bcri_ref region = bcri_slot_region(id.word);
    const struct bcri_region_shm *header = bcri_at(ctx, region);
    struct bcri_place *place;
    error = header != NULL ? bcri_place_find_within(ctx, key, ctx->putwait_msec, &place) : bcrE_NOMEM;
    if (bcri_unlikely(error != 0))
        return failed(ctx, error);
    const struct putting p = {id.slot, key, region, place->owner, header->length, write, nofree};
    if (bcri_kept_cpu() >= 0)
        ctx->put_place = place;
    return end_put(ctx, &p,
                   bcri_likely(place->may_add) ? put_fast(ctx, place, region, &id, write, nofree)
                                               : bcrE_ACCESS);
}

BCRI_INLINE int put(void **rgid, uint64_t key, bool write, bool nofree)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (bcri_unlikely(ctx == NULL))
        return -1;
    const int error = bcri_enter(ctx);
    return bcri_likely(error == 0) ? put_now(ctx, rgid, key, write, nofree) : failed(ctx, error);
}

/* ---- Putting the ID away, straight on
 *
 * Most puts give their region and find everything as it was the last time. Those call nothing: what needs more ends in one of the
 * routines below, from wherever it has come to. So no register need be saved, which is a fifth of the instructions. */

/* Nothing has been done. */
static __attribute__((noinline)) int give_anyhow(void **rgid, uint64_t key, bool write)
{
    return put(rgid, key, write, false);
}

/* T is held. */
static __attribute__((noinline)) int give_locked(struct bcri_ctx *ctx, struct bcri_place *place,
                                                 struct bcri_slot_shm *slot, bool write)
{
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_sure(ctx, region);
    const struct putting p = {slot, place->key, region, place->owner, header->length, write, false};
    return end_put(ctx, &p, put_locked(ctx, place, region, slot, write, false));
}

/* The journal is open, and somebody else has T. */
static __attribute__((noinline)) int give_waiting(struct bcri_ctx *ctx, struct bcri_place *place,
                                                  struct bcri_slot_shm *slot, bool write)
{
    if (bcri_likely(bcri_lock_slow_within(ctx, &place->cell->t.lock, ctx->putwait_msec)))
        return give_locked(ctx, place, slot, write);
    bcri_journal_close(ctx);
    return failed(ctx, bcrE_FULL);
}

/* The put is done. */
static __attribute__((noinline)) int give_note(struct bcri_ctx *ctx, const struct bcri_place *place,
                                               bcri_ref region, uint32_t length, bool write)
{
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace(ctx, write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, place->owner, (uint32_t)place->key, length,
               region);
    return 0;
}

/* T has been let go of, and somebody sleeps. */
static __attribute__((noinline)) int give_wake(struct bcri_ctx *ctx, struct bcri_place *place,
                                               struct bcri_slot_shm *slot, bcri_ref region, uint32_t length,
                                               bool write)
{
    bcri_unlock_wake(ctx);
    put_done(ctx, slot, false);
    return give_note(ctx, place, region, length, write);
}

BCRI_INLINE int give(void **rgid, uint64_t key, bool write)
{
    struct bcri_ctx *const ctx = bcri_self_thread;
    if (bcri_unlikely(ctx == NULL || bcri_enters(ctx)))
        return give_anyhow(rgid, key, write);
    struct bcri_place *const place = bcri_place_near(ctx, ctx->put_place, key);
    struct bcri_id id;
    bcri_ref region;
    if (bcri_unlikely(place == NULL || !place->may_add || !bcri_id_plain(ctx, rgid, &id, &region)))
        return give_anyhow(rgid, key, write);
    ctx->put_place = place;
    const struct bcri_region_shm *const header = bcri_at_mapped(ctx, region);
    if (bcri_unlikely(header == NULL))
        return give_anyhow(rgid, key, write);
    const uint32_t length = header->length; /* while it is ours */
    struct bcri_cell_shm *const cell = place->cell;
    bcri_prefetch_write(&cell->ring[bcri_load(&cell->t.tail) & place->mask]);
    put_open(ctx, place, region, &id, false);
    if (bcri_unlikely(!bcri_lock_try(ctx, &cell->t.lock)))
        return give_waiting(ctx, place, id.slot, write);
    const uint64_t tail = bcri_load(&cell->t.tail);
    if (bcri_unlikely(!is_straight(place, cell, tail, write)))
        return give_locked(ctx, place, id.slot, write);
    store_entry(ctx, place, cell, tail, &cell->ring[tail & place->mask], region, true, 0,
                1 | BCRI_PHASE_GIVES);
    bcri_store_release(&cell->t.lock, 0);
    bcri_step();
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        return give_wake(ctx, place, id.slot, region, length, write);
    put_done(ctx, id.slot, false);
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_trace_looks_at_clock(seq))
        return give_note(ctx, place, region, length, write);
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace_write(ctx, seq, write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, place->owner,
                     (uint32_t)place->key, length, region);
    return 0;
}

/* A copy for each kind: what they are decides most of the branches. */
static __attribute__((noinline)) int put_giving(void **rgid, int cce, int cell)
{
    return give(rgid, bcri_place_key(cce, cell), false);
}
static __attribute__((noinline)) int write_giving(void **rgid, int cce, int cell)
{
    return give(rgid, bcri_place_key(cce, cell), true);
}
static __attribute__((noinline)) int put_keeping(void **rgid, int cce, int cell)
{
    return put(rgid, bcri_place_key(cce, cell), false, true);
}
static __attribute__((noinline)) int write_keeping(void **rgid, int cce, int cell)
{
    return put(rgid, bcri_place_key(cce, cell), true, true);
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
        int error = find(ctx, cce, cell, BCRI_USE_TAKE, bcr_BLOCK, &place);
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
    target->error = find(ctx, target->cce, target->cell, BCRI_USE_ADD, ctx->putwait_msec, &place);
    if (target->error == 0)
        target->error = bcri_put(ctx, write, slot, place, true, BCRI_DEADLINE_PASSED);
}

static void put_waiting(struct bcri_ctx *ctx, bool write, bcri_ref region, struct target *target,
                        uint64_t deadline_ns)
{
    struct bcri_place *place;
    do {
        target->error = find(ctx, target->cce, target->cell, BCRI_USE_ADD, ctx->putwait_msec, &place);
        if (target->error != 0)
            return;
        if (place->own) {
            target->error = bcrE_FULL;
            return;
        }
        target->error = bcri_putwait_begin(ctx, write, region, place, &target->request, deadline_ns);
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
            put_waiting(ctx, qlike == 0, region, &targets[i], deadline_ns);
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
