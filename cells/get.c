/* SPDX-License-Identifier: MIT */
/* bcr_get, bcr_acqrl, bcr_acqwl, in two tiers (tiers.h). bcr.h is their manual.
 *
 * The fast tier, get_fast, takes or reads the region at the head of an open cell, also of one whose
 * watermark is for additions. Like put_fast it calls no function. The resume tier does all the
 * rest: an attempt under the head lock (get_attempt.c), both locks (get_slow.c), waiting
 * (waiters.c). get_steps.h has what the fast tier and the attempt store, and the journal. */
#include <bcr.h>

#include "bcri/get.h"

#include "bcr/error.h"
#include "bcri/access.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/give_back.h"
#include "bcri/idle.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/order.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/tiers.h"
#include "bcri/trace.h"
#include "bcri/waiters.h"
#include "get_steps.h"

/* What a public routine does, and by which access right. */
enum kind { TAKE, READ, READ_LOCK, WRITE_LOCK };

static inline enum bcri_want wanted(enum kind kind)
{
    return kind == TAKE ? BCRI_WANT_TAKE : kind == WRITE_LOCK ? BCRI_WANT_LOCK : BCRI_WANT_READ;
}

static inline bool is_allowed(const struct bcri_resolved *resolved, bool locks)
{
    return bcri_likely(locks ? resolved->may_lock : resolved->may_take);
}

static inline bool locks(enum kind kind)
{
    return kind == READ_LOCK || kind == WRITE_LOCK;
}

/* ---- The resume tier ---- */

static int look_up(struct bcri_ctx *ctx, struct bcri_get *get)
{
    struct bcri_resolved *resolved;
    const struct bcri_result found = bcri_resolved_find_within(ctx, get->key, get->msec, &resolved);
    if (bcri_unlikely(!bcri_is_done(found)))
        return found.outcome == BCRI_ELSEWHERE ? bcri_order_get(ctx, get) : found.error;
    ctx->get_resolved = resolved;
    if (bcri_unlikely(!is_allowed(resolved, get->lock)))
        return bcri_access_denied(resolved);
    get->resolved = resolved;
    get->owner = resolved->owner;
    return 0;
}

int bcri_get_or_wait(struct bcri_ctx *ctx, struct bcri_get *get, enum bcri_held held)
{
    for (;; held = BCRI_HOLDS_NOTHING) {
        const int error = get->resolved == NULL ? look_up(ctx, get) : 0;
        struct bcri_result result;
        if (error != 0 || get->waits)
            return error;
        switch (bcri_get_attempt(ctx, get, held)) {
        case BCRI_TRY_DONE: return 0;
        case BCRI_TRY_WAITS: get->waits = true; return 0;
        case BCRI_TRY_EMPTY:
        case BCRI_TRY_TIME_UP: return bcrE_TIMEOUT;
        case BCRI_TRY_NO_MEMORY: return bcrE_NOMEM;
        case BCRI_TRY_STALE: break;
        default:
            result = bcri_get_slow(ctx, get);
            if (result.outcome != BCRI_STALE)
                return result.error;
        }
        bcri_resolved_forget(ctx, get->resolved);
        get->resolved = NULL;
    }
}

static __attribute__((noinline)) bcr_region fail_get(struct bcri_ctx *ctx, int error)
{
    if (error == bcrE_TIMEOUT)
        bcri_idle_looked(ctx);
    bcri_counted(ctx, error == bcrE_TIMEOUT ? BCRI_COUNT_TIMEOUT : BCRI_COUNT_FAILED);
    bcri_set_errno(error);
    return NULL;
}

BCRI_INLINE enum bcri_counter counter_of(enum bcri_want want)
{
    return want == BCRI_WANT_READ ? BCRI_COUNT_READ : BCRI_COUNT_GET;
}

BCRI_INLINE enum bcri_trace_op trace_of(enum bcri_want want)
{
    return want == BCRI_WANT_TAKE   ? BCRI_TRACE_GET
           : want == BCRI_WANT_LOCK ? BCRI_TRACE_LOCK
                                    : BCRI_TRACE_READ;
}

/* Counts and traces a get that is done; the region is the program's. */
static __attribute__((noinline)) bcr_region note_get(struct bcri_ctx *ctx, struct bcri_slot_shm *slot,
                                                     uint64_t key, enum bcri_want want, uint32_t owner)
{
    BCRI_CALL_LEAVES(ctx);
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_held(ctx, region);
    bcri_counted(ctx, counter_of(want));
    bcri_trace(ctx, trace_of(want), 0, owner, (uint32_t)key, header->length, region);
    return bcri_id_of(slot);
}

static bcr_region get_resume(struct bcri_ctx *ctx, struct bcri_get *get, enum bcri_held held)
{
    struct bcri_slot_shm *const slot = get->slot;
    int error = bcri_get_or_wait(ctx, get, held);
    if (bcri_unlikely(error != 0)) {
        bcri_slot_give(ctx, slot);
        return fail_get(ctx, error);
    }
    if (get->waits) {
        if (get->msec == bcr_PENDING)
            return bcri_id_of(slot);
        bcri_counted(ctx, BCRI_COUNT_WAIT);
        /* Elsewhere the cell decides about time. */
        error =
            bcri_request_await(ctx, get->resolved, slot,
                               get->resolved != NULL ? bcri_deadline_after(get->msec) : BCRI_DEADLINE_NEVER);
        if (bcri_unlikely(error != 0))
            return fail_get(ctx, error);
    } else if (get->want == BCRI_WANT_LOCK) {
        bcri_store(&slot->cell, get->resolved->ref); /* in case bcri_request_own gives it back */
        bcri_store(&slot->prev, get->resolved->open);
    }
    if (get->want == BCRI_WANT_LOCK && (error = bcri_request_own(ctx, slot)) != 0)
        return fail_get(ctx, error);
    return note_get(ctx, slot, get->key, get->want, get->owner);
}

/* Gets from the start: nothing has been looked up yet. */
static __attribute__((noinline)) bcr_region get_anew(uint64_t key, int msec, enum kind kind)
{
    BCRI_CALL_INSIDE;
    struct bcri_ctx *ctx = bcri_enter();
    if (bcri_unlikely(ctx == NULL))
        return NULL;
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (bcri_unlikely(slot == NULL))
        return fail_get(ctx, bcrE_NOMEM);
    struct bcri_get get = {.key = key,
                           .slot = slot,
                           .slot_ref = bcri_slot_ref(ctx, slot),
                           .want = wanted(kind),
                           .lock = locks(kind),
                           .msec = msec};
    return get_resume(ctx, &get, BCRI_HOLDS_NOTHING);
}

/* Goes on from the fast tier, with the journal open; `held` says whether the head lock is held. */
static __attribute__((noinline)) bcr_region get_on(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                                   struct bcri_slot_shm *slot, enum kind kind, int msec,
                                                   enum bcri_held held)
{
    BCRI_CALL_LEAVES(ctx);
    struct bcri_get get = {.key = resolved->key,
                           .resolved = resolved,
                           .slot = slot,
                           .slot_ref = bcri_slot_ref(ctx, slot),
                           .want = wanted(kind),
                           .lock = locks(kind),
                           .msec = msec,
                           .owner = resolved->owner};
    return get_resume(ctx, &get, held);
}

/* The region is taken. A CCE sleeps until this CCE releases a lock, and the journal is still to be
 * closed.
 * Model: death.pml */
static __attribute__((noinline)) bcr_region get_wake(struct bcri_ctx *ctx,
                                                     const struct bcri_resolved *resolved,
                                                     struct bcri_slot_shm *slot, enum kind kind)
{
    bcri_unlock_wake(ctx);
    bcri_journal_close(ctx);
    return note_get(ctx, slot, resolved->key, wanted(kind), resolved->owner);
}

/* Fetches ahead after a get that is done. */
static __attribute__((noinline)) bcr_region get_look_ahead(struct bcri_ctx *ctx,
                                                           const struct bcri_resolved *resolved,
                                                           struct bcri_slot_shm *slot, uint64_t ticket)
{
    look_ahead(ctx, resolved, ticket);
    bcri_call_leaves(ctx);
    return bcri_id_of(slot);
}

/* ---- The fast tier ---- */

/* Whether, under the head lock, the first entry is full and all is as most gets find it, so that
 * take_entry can take it, or read_alone read it. */
BCRI_INLINE bool is_open(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                         const struct bcri_cell_shm *cell, enum bcri_want want, uint64_t ticket,
                         bcri_ref *region_out, struct bcri_region_shm **header_out)
{
    const uint64_t entry = bcri_load_acquire(bcri_ring_at(resolved, ticket));
    if (bcri_unlikely(bcri_load(&cell->h.state) != resolved->open_head ||
                      (want != BCRI_WANT_READ && bcri_load_acquire(&resolved->area->waitputs) != 0) ||
                      !bcri_entry_is(entry, ticket, resolved->ring_log2)))
        return false;
    *region_out = entry & BCRI_REF_MASK;
    *header_out = bcri_at_mapped(ctx, *region_out);
    if (want != BCRI_WANT_READ)
        bcri_prefetch_write(*header_out); /* as in get_full */
    return bcri_likely(*header_out != NULL && (want == BCRI_WANT_TAKE ||
                                               bcri_load_acquire(&(*header_out)->count) == BCRI_COUNT_ONE));
}

/* Model: death.pml */
BCRI_INLINE bcr_region get_fast(enum kind kind, bcr_cce_id cce, int cell_number, int msec)
{
    const uint64_t key = bcri_resolved_key(cce, cell_number);
    struct bcri_ctx *const ctx = bcri_self_thread;
    if (bcri_unlikely(ctx == NULL))
        return get_anew(key, msec, kind);
    bcri_call_enters(ctx);
    if (bcri_unlikely(bcri_enters(ctx)))
        return get_anew(key, msec, kind);
    struct bcri_resolved *const resolved = bcri_resolved_cached(ctx, ctx->get_resolved, key);
    struct bcri_slot_shm *const slot = *ctx->slot_top;
    if (bcri_unlikely(resolved == NULL || !is_allowed(resolved, locks(kind)) || slot == NULL))
        return get_anew(key, msec, kind);
    ctx->get_resolved = resolved;
    const bcri_ref slot_ref = bcri_slot_ref_cached(ctx, slot);
    if (bcri_unlikely(slot_ref == BCRI_REF_NONE))
        return get_anew(key, msec, kind);
    ctx->slot_top--; /* as bcri_slot_take */
    struct bcri_cell_shm *const cell = resolved->cell;
    get_open(ctx, resolved, wanted(kind), slot_ref);
    if (bcri_unlikely(!bcri_lock_try(ctx, &cell->h.lock)))
        return get_on(ctx, resolved, slot, kind, msec, BCRI_HOLDS_JOURNAL);
    const uint64_t ticket = bcri_load(&cell->h.head);
    bcri_ref region;
    struct bcri_region_shm *header;
    if (bcri_unlikely(!is_open(ctx, resolved, cell, wanted(kind), ticket, &region, &header)))
        return get_on(ctx, resolved, slot, kind, msec, BCRI_HOLDS_LOCK);
    if (wanted(kind) == BCRI_WANT_READ)
        read_alone(ctx, region, header, slot);
    else
        take_entry(ctx, cell, wanted(kind), ticket, region, header, slot, 0);
    bcri_store_release(&cell->h.lock, 0);
    bcri_step();
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        return get_wake(ctx, resolved, slot, kind);
    bcri_journal_close(ctx);
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_trace_looks_at_clock(seq))
        return note_get(ctx, slot, resolved->key, wanted(kind), resolved->owner);
    bcri_counted(ctx, counter_of(wanted(kind)));
    bcri_trace_write(ctx, seq, trace_of(wanted(kind)), 0, resolved->owner, (uint32_t)resolved->key,
                     header->length, region);
    if (kind == TAKE && is_first_of_line(ticket))
        return get_look_ahead(ctx, resolved, slot, ticket);
    bcri_call_leaves(ctx);
    return bcri_id_of(slot);
}

/* ---- The public routines ----
 * One copy of the fast tier for each kind of get, so that most branches are decided at compile
 * time. */

static __attribute__((noinline)) bcr_region get_taking(bcr_cce_id cce, int cell, int msec)
{
    return get_fast(TAKE, cce, cell, msec);
}

static __attribute__((noinline)) bcr_region get_reading(bcr_cce_id cce, int cell, int msec)
{
    return get_fast(READ, cce, cell, msec);
}

bcr_region bcr_get(int qlike, bcr_cce_id cce, int cell, int msec)
{
    BCRI_CALL_FAST;
    return qlike != 0 ? get_taking(cce, cell, msec) : get_reading(cce, cell, msec);
}

bcr_region bcr_acqrl(bcr_cce_id cce, int cell, int msec)
{
    BCRI_CALL_FAST;
    return get_fast(READ_LOCK, cce, cell, msec);
}

bcr_region bcr_acqwl(bcr_cce_id cce, int cell, int msec)
{
    BCRI_CALL_FAST;
    return get_fast(WRITE_LOCK, cce, cell, msec);
}
