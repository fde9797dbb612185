/* SPDX-License-Identifier: MIT */
/* bcr_put, bcr_put_within, bcr_rlswl, bcr_wl2rl, in two tiers (tiers.h). bcr.h is their manual.
 *
 * The fast tier, put_fast, puts a region that its CCE gives away into an open cell that has room
 * and no watermark, and at which nobody sleeps. It calls no function, so the compiler saves no
 * registers, which is a fifth of the instructions. The resume tier, bcri_put, does all the rest: an
 * attempt under the tail lock (put_attempt.c), both locks (put_slow.c), waiting for room
 * (put_waiters.c). put_steps.h has what the fast tier and the attempt store, and the journal. */
#include <bcr.h>

#include "bcri/put.h"

#include "bcr/error.h"
#include "bcri/access.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/drop.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/order.h"
#include "bcri/put_waiters.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/tiers.h"
#include "bcri/trace.h"
#include "put_steps.h"

/* How often a put that finds no room spins for a taker that makes some, before it is registered. */
enum { SPINS_FOR_ROOM = 2 };

/* ---- The resume tier ---- */

struct bcri_result bcri_put_look_up(struct bcri_ctx *ctx, struct bcri_put *put)
{
    struct bcri_resolved *resolved;
    const struct bcri_result found = bcri_resolved_find_within(ctx, put->key, put->msec, &resolved);
    if (bcri_unlikely(!bcri_is_done(found)))
        return found.error == bcrE_TIMEOUT ? bcri_result(bcrE_FULL) : found;
    if (bcri_unlikely(!resolved->may_add))
        return bcri_result(bcri_access_denied(resolved));
    put->resolved = resolved;
    put->owner = resolved->owner;
    return found;
}

/* Does what the attempt has left to do. BCRI_DONE, BCRI_NO_ROOM, BCRI_STALE or a code. */
static struct bcri_result finish_attempt(struct bcri_ctx *ctx, const struct bcri_put *put,
                                         enum bcri_attempt attempted, uint64_t deadline_ns)
{
    switch (attempted) {
    case BCRI_TRY_DONE: return bcri_outcome(BCRI_DONE);
    case BCRI_TRY_STALE: return bcri_outcome(BCRI_STALE);
    case BCRI_TRY_NO_MEMORY: return bcri_result(bcrE_NOMEM);
    case BCRI_TRY_TIME_UP: return bcri_result(bcrE_FULL);
    default:
        return bcri_put_slow(ctx, put->resolved, put->write, put->region, put->slot, put->nofree,
                             deadline_ns);
    }
}

/* Goes on after an attempt that has not done the put. */
static __attribute__((noinline)) int put_after_attempt(struct bcri_ctx *ctx, struct bcri_put *put,
                                                       enum bcri_attempt attempted, uint64_t deadline_ns)
{
    for (int spins = SPINS_FOR_ROOM;;) {
        const bool waits = !put->resolved->own && deadline_ns != BCRI_DEADLINE_PASSED;
        const bool spins_for_room = attempted == BCRI_TRY_NO_ROOM && waits && spins-- > 0;
        if (!spins_for_room || !bcri_room_spin(ctx, put->resolved)) {
            struct bcri_result result = finish_attempt(ctx, put, attempted, deadline_ns);
            if (result.outcome == BCRI_NO_ROOM && waits)
                result = bcri_room_wait(ctx, put, deadline_ns);
            else if (result.outcome == BCRI_NO_ROOM && !bcri_room_gather(ctx, put->resolved))
                return bcrE_FULL;
            if (result.outcome == BCRI_STALE) {
                bcri_resolved_forget(ctx, put->resolved);
                result = bcri_put_look_up(ctx, put);
                if (!bcri_is_done(result)) /* not elsewhere: it was here */
                    return bcri_error_or(result, bcrE_NOCCE);
            } else if (result.outcome != BCRI_NO_ROOM) {
                return result.error;
            }
        }
        attempted = bcri_put_attempt(ctx, put, BCRI_HOLDS_NOTHING, deadline_ns);
    }
}

/* Most puts end with the first attempt; it is inlined, so that they do not pay for the others. */
BCRI_INLINE int put_resumed(struct bcri_ctx *ctx, struct bcri_put *put, enum bcri_held held,
                            uint64_t deadline_ns)
{
    const enum bcri_attempt attempted = bcri_put_attempt(ctx, put, held, deadline_ns);
    return bcri_likely(attempted == BCRI_TRY_DONE) ? 0 : put_after_attempt(ctx, put, attempted, deadline_ns);
}

int bcri_put(struct bcri_ctx *ctx, struct bcri_put *put, uint64_t deadline_ns)
{
    const struct bcri_result found = bcri_put_look_up(ctx, put);
    if (found.outcome == BCRI_ELSEWHERE)
        return bcri_order_put(ctx, put, bcr_op_putm, deadline_ns);
    return bcri_is_done(found) ? put_resumed(ctx, put, BCRI_HOLDS_NOTHING, deadline_ns) : found.error;
}

__attribute__((noinline)) int bcri_put_failed(struct bcri_ctx *ctx, int code)
{
    bcri_counted(ctx, code == bcrE_FULL ? BCRI_COUNT_FULL : BCRI_COUNT_FAILED);
    return bcri_fail(code);
}

BCRI_INLINE int count_put(struct bcri_ctx *ctx, const struct bcri_put *put)
{
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace(ctx, put->write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, put->owner, (uint32_t)put->key,
               put->length, put->region);
    return 0;
}

BCRI_INLINE int put_resume(struct bcri_ctx *ctx, struct bcri_put *put, enum bcri_held held)
{
    const int error = put_resumed(ctx, put, held, bcri_deadline_after(put->msec));
    return bcri_likely(error == 0) ? count_put(ctx, put) : bcri_put_failed(ctx, error);
}

static __attribute__((noinline)) int put_elsewhere(struct bcri_ctx *ctx, struct bcri_put *put)
{
    int error = bcri_order_put(ctx, put, bcr_op_put, bcri_deadline_after(put->msec));
    if (error == 0 && put->answer != NULL) {
        error = bcri_order_put_end(ctx, put);
        /* Handlers may have freed the ID meanwhile. */
        if (error == 0 && !put->nofree && bcri_slot_holds(put->slot, put->region))
            bcri_slot_drop(ctx, put->slot);
    }
    return error == 0 ? count_put(ctx, put) : bcri_put_failed(ctx, error);
}

/* Puts from the start: nothing has been looked up yet. `msec` NULL: waits as bcr_putwait says. */
static __attribute__((noinline)) int put_anew(bcr_region rgid, uint64_t key, bool write, bool nofree,
                                              const int *msec)
{
    BCRI_CALL_INSIDE;
    struct bcri_ctx *ctx = bcri_enter();
    if (bcri_unlikely(ctx == NULL))
        return -1;
    struct bcri_id id;
    int error = msec != NULL && *msec == bcr_PENDING ? bcrE_ARG : bcri_id_look(ctx, rgid, &id);
    if (bcri_unlikely(error != 0))
        return bcri_put_failed(ctx, error);
    const bcri_ref region = bcri_slot_region(id.word);
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    struct bcri_put put = {.key = key,
                           .slot = id.slot,
                           .slot_ref = id.ref,
                           .region = region,
                           .length = header->length,
                           .write = write,
                           .nofree = nofree,
                           .msec = msec != NULL ? *msec : ctx->putwait_msec};
    const struct bcri_result found = bcri_put_look_up(ctx, &put);
    if (bcri_unlikely(found.outcome == BCRI_ELSEWHERE))
        return put_elsewhere(ctx, &put);
    if (bcri_unlikely(!bcri_is_done(found)))
        return bcri_put_failed(ctx, found.error);
    if (bcri_kept_cpu() >= 0) /* else the fast tier does not know the putter's CPU */
        ctx->put_resolved = put.resolved;
    return put_resume(ctx, &put, BCRI_HOLDS_NOTHING);
}

/* Goes on from the fast tier, with the journal open; `held` says whether the tail lock is held. */
static __attribute__((noinline)) int put_on(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                            struct bcri_slot_shm *slot, bool write, const int *msec,
                                            enum bcri_held held)
{
    BCRI_CALL_LEAVES(ctx);
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    struct bcri_put put = {.key = resolved->key,
                           .resolved = resolved,
                           .slot = slot,
                           .slot_ref = bcri_slot_ref(ctx, slot),
                           .region = region,
                           .length = header->length,
                           .owner = resolved->owner,
                           .write = write,
                           .msec = msec != NULL ? *msec : ctx->putwait_msec};
    return put_resume(ctx, &put, held);
}

/* Counts and traces a put that is done. `wakes`, if not NULL: a CCE sleeps until this CCE releases
 * a lock, and the ID in that slot and the journal are still to be closed.
 * Model: death.pml */
static __attribute__((noinline)) int put_note(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                                              bcri_ref region, uint32_t length, bool write,
                                              struct bcri_slot_shm *wakes)
{
    BCRI_CALL_LEAVES(ctx);
    if (wakes != NULL) {
        bcri_unlock_wake(ctx);
        put_close(ctx, wakes, false);
    }
    const struct bcri_put put = {
        .key = resolved->key, .owner = resolved->owner, .region = region, .length = length, .write = write};
    return count_put(ctx, &put);
}

/* ---- The fast tier ---- */

/* Whether, under the tail lock, all is as most puts find it.
 * Model: ticket.pml */
BCRI_INLINE bool is_open(const struct bcri_resolved *resolved, struct bcri_cell_shm *cell, uint64_t tail,
                         bool write)
{
    struct bcri_tail_shm *const t = &cell->t;
    if (bcri_unlikely(bcri_load(&t->state) != resolved->open) ||
        (write && bcri_unlikely(bcri_load_acquire(&cell->h.head) < tail)))
        return false;
    if (bcri_unlikely(tail >= bcri_load(&t->limit))) {
        const uint64_t limit = write ? limit_of_empty(cell, tail) : 0;
        if (limit == 0)
            return false;
        bcri_store(&t->limit, limit);
    }
    return bcri_likely(bcri_load_acquire(&resolved->area->waitputs) == 0 && bcri_load(&t->sleeps) == 0);
}

/* `msec` as in put_anew.
 * Model: death.pml */
BCRI_INLINE int put_fast(bcr_region rgid, uint64_t key, bool write, const int *msec)
{
    struct bcri_ctx *const ctx = bcri_self_thread;
    if (bcri_unlikely(ctx == NULL))
        return put_anew(rgid, key, write, false, msec);
    bcri_call_enters(ctx);
    if (bcri_unlikely(bcri_enters(ctx)))
        return put_anew(rgid, key, write, false, msec);
    struct bcri_resolved *const resolved = bcri_resolved_cached(ctx, ctx->put_resolved, key);
    struct bcri_id id;
    bcri_ref region;
    if (bcri_unlikely(resolved == NULL || !resolved->may_add || !bcri_id_fast(ctx, rgid, &id, &region)))
        return put_anew(rgid, key, write, false, msec);
    ctx->put_resolved = resolved;
    const struct bcri_region_shm *const header = bcri_at_held(ctx, region);
    const uint32_t length = header->length; /* read while the region is still this CCE's */
    struct bcri_cell_shm *const cell = resolved->cell;
    bcri_prefetch_write(bcri_ring_at(resolved, bcri_load(&cell->t.tail)));
    put_open(ctx, resolved, region, id.ref, false);
    if (bcri_unlikely(!bcri_lock_try(ctx, &cell->t.lock)))
        return put_on(ctx, resolved, id.slot, write, msec, BCRI_HOLDS_JOURNAL);
    const uint64_t tail = bcri_load(&cell->t.tail);
    if (bcri_unlikely(!is_open(resolved, cell, tail, write)))
        return put_on(ctx, resolved, id.slot, write, msec, BCRI_HOLDS_LOCK);
    store_entry(ctx, resolved, tail, region, true, 0, 1 | BCRI_PHASE_GIVES);
    bcri_store_release(&resolved->cell->t.lock, 0);
    bcri_step();
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        return put_note(ctx, resolved, region, length, write, id.slot);
    put_close(ctx, id.slot, false);
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_trace_looks_at_clock(seq))
        return put_note(ctx, resolved, region, length, write, NULL);
    bcri_counted(ctx, BCRI_COUNT_PUT);
    bcri_trace_write(ctx, seq, write ? BCRI_TRACE_WRITE : BCRI_TRACE_PUT, 0, resolved->owner,
                     (uint32_t)resolved->key, length, region);
    bcri_call_leaves(ctx);
    return 0;
}

/* ---- The public routines ----
 * One copy of the fast tier for each kind of put, so that most branches are decided at compile
 * time. */

static __attribute__((noinline)) int put_giving(bcr_region rgid, bcr_cce_id cce, int cell)
{
    return put_fast(rgid, bcri_resolved_key(cce, cell), false, NULL);
}

static __attribute__((noinline)) int write_giving(bcr_region rgid, bcr_cce_id cce, int cell)
{
    return put_fast(rgid, bcri_resolved_key(cce, cell), true, NULL);
}

int bcr_put(int qlike, bcr_region rgid, bcr_cce_id cce, int cell, int nofree)
{
    BCRI_CALL_FAST;
    if (bcri_unlikely(nofree != 0))
        return put_anew(rgid, bcri_resolved_key(cce, cell), qlike == 0, true, NULL);
    return qlike != 0 ? put_giving(rgid, cce, cell) : write_giving(rgid, cce, cell);
}

int bcr_put_within(int qlike, bcr_region rgid, bcr_cce_id cce, int cell, int nofree, int msec)
{
    BCRI_CALL_FAST;
    const uint64_t key = bcri_resolved_key(cce, cell);
    if (bcri_unlikely(qlike == 0 || nofree != 0 || msec == bcr_PENDING))
        return put_anew(rgid, key, qlike == 0, nofree != 0, &msec);
    return put_fast(rgid, key, false, &msec);
}

int bcr_rlswl(bcr_region rgid, bcr_cce_id cce, int cell)
{
    BCRI_CALL_FAST;
    return write_giving(rgid, cce, cell);
}

int bcr_wl2rl(bcr_region rgid, bcr_cce_id cce, int cell)
{
    BCRI_CALL_FAST;
    return put_anew(rgid, bcri_resolved_key(cce, cell), true, true, NULL);
}
