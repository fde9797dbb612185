/* SPDX-License-Identifier: MIT */
/* bcr_get, bcr_acqrl, bcr_acqwl, bcr_rgwait, bcr_rgwaitm: taking regions from cells, at once or later. bcr.h is their
 * manual. */
#include <bcr.h>

#include <stdlib.h>

#include "bcri/clock.h"
#include "bcri/flow.h"
#include "bcri/ids.h"
#include "bcri/self.h"
#include "bcri/summons.h"
#include "bcri/trace.h"
#include "get_fast.h"

BCRI_INLINE int begin(struct bcri_ctx *ctx, enum bcri_want want, enum bcri_use use, uint64_t key, int msec,
                      struct bcri_slot_shm *slot, struct bcri_place **place_out)
{
    for (;;) {
        struct bcri_place *place;
        int error = bcri_place_find_key(ctx, key, &place);
        if (bcri_unlikely(error != 0))
            return error;
        if (bcri_unlikely(use == BCRI_USE_LOCK ? !place->may_lock : !place->may_take))
            return bcrE_ACCESS;
        *place_out = place;
        if (want == BCRI_WANT_LOCK)
            bcri_store(&slot->cell, place->ref); /* in case that it must go back (bcri_request_give_back) */
        error = get_fast(ctx, place, want, msec, slot);
        if (bcri_likely(error == 0))
            return 0;
        if (bcri_unlikely(error == BCRI_GO_SLOW))
            error = bcri_get_slow(ctx, place, want, msec, slot);
        if (bcri_likely(error != BCRI_STALE))
            return error;
        bcri_place_forget(ctx, place);
    }
}

/* Waits until the request is served or time is up. 0: the slot is LIVE; else the slot is free again. */
static __attribute__((noinline)) int finish(struct bcri_ctx *ctx, struct bcri_place *place,
                                            struct bcri_slot_shm *slot, uint64_t deadline_ns)
{
    bool spun = (ctx->upward == NULL || ctx->upward->alone(ctx)) &&
                bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_TICKET;
    if (spun) {
        int error = bcri_ticket_spin(ctx, place, slot, deadline_ns);
        if (bcri_likely(error != BCRI_WAITS))
            return error;
        spun = ctx->upward == NULL;
    }
    for (;; spun = false) {
        int ready =
            spun ? bcri_wait_spun(ctx, &slot, 1, deadline_ns) : bcri_wait_ready(ctx, &slot, 1, deadline_ns);
        int error = ready < 0 ? bcrE_TIMEOUT : bcri_request_settle(ctx, slot, deadline_ns);
        if (bcri_unlikely(error == bcrE_TIMEOUT)) {
            int withdrawn = bcri_request_withdraw(ctx, slot, deadline_ns);
            if (withdrawn != BCRI_WAITS)
                return withdrawn == 0 ? bcrE_TIMEOUT : withdrawn;
            error = bcri_request_settle(ctx, slot, deadline_ns);
        }
        if (error != BCRI_WAITS && error != bcrE_TIMEOUT)
            return error;
    }
}

/* What a write lock adds: a private copy, or the region back at the head of its cell. */
static __attribute__((noinline)) int own_or_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    int error = bcri_region_own(ctx, slot);
    if (error != 0)
        bcri_request_give_back(ctx, slot);
    return error;
}

BCRI_INLINE void note(struct bcri_ctx *ctx, enum bcri_want want, uint32_t owner, uint32_t cell,
                      bcri_ref region, const struct bcri_region_shm *header)
{
    static const enum bcri_trace_op ops[] = {BCRI_TRACE_GET, BCRI_TRACE_READ, BCRI_TRACE_LOCK};
    bcri_counted(ctx, want == BCRI_WANT_READ ? BCRI_COUNT_READ : BCRI_COUNT_GET);
    bcri_trace(ctx, ops[want], 0, owner, cell, header->length, region);
}

static __attribute__((noinline)) void **fail(struct bcri_ctx *ctx, int error)
{
    bcri_counted(ctx, error == bcrE_TIMEOUT ? BCRI_COUNT_TIMEOUT : BCRI_COUNT_FAILED);
    bcri_set_errno(error);
    return NULL;
}

BCRI_INLINE void **get_now(struct bcri_ctx *ctx, enum bcri_want want, enum bcri_use use, uint64_t key,
                           int msec)
{
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (bcri_unlikely(slot == NULL))
        return fail(ctx, bcrE_NOMEM);
    struct bcri_place *place = NULL;
    int error = begin(ctx, want, use, key, msec, slot, &place);
    uint32_t owner = place != NULL ? place->owner : 0; /* a wait may forget the place */
    if (error == BCRI_WAITS && place != NULL) {
        if (msec == bcr_PENDING)
            return bcri_id_of(slot);
        bcri_counted(ctx, BCRI_COUNT_WAIT);
        error = finish(ctx, place, slot, bcri_deadline_after(msec));
        if (error != 0)
            return fail(ctx, error);
    } else if (bcri_unlikely(error != 0 || place == NULL)) {
        bcri_slot_give(ctx, slot);
        return fail(ctx, error);
    }
    bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_sure(ctx, region);
    if (want == BCRI_WANT_LOCK && bcri_unlikely(bcri_load_acquire(&header->count) != BCRI_COUNT_ONE)) {
        if ((error = own_or_give_back(ctx, slot)) != 0)
            return fail(ctx, error);
        region = bcri_slot_region(bcri_load(&slot->word));
        header = bcri_at_sure(ctx, region);
    }
    note(ctx, want, owner, (uint32_t)key, region, header);
    return bcri_id_of(slot);
}

static __attribute__((noinline)) void **get_after_handlers(struct bcri_ctx *ctx, enum bcri_want want,
                                                           enum bcri_use use, uint64_t key, int msec)
{
    int error = ctx->upward->run(ctx);
    return error == 0 ? get_now(ctx, want, use, key, msec) : fail(ctx, error);
}

BCRI_INLINE void **get(enum bcri_want want, enum bcri_use use, int cce, int cell, int msec)
{
    const uint64_t key = bcri_place_key(cce, cell);
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (bcri_unlikely(ctx == NULL))
        return NULL;
    if (bcri_enters(ctx))
        return get_after_handlers(ctx, want, use, key, msec);
    return get_now(ctx, want, use, key, msec);
}

void **bcr_get(int qlike, int cce, int cell, int msec)
{
    return qlike != 0 ? get(BCRI_WANT_TAKE, BCRI_USE_TAKE, cce, cell, msec)
                      : get(BCRI_WANT_READ, BCRI_USE_TAKE, cce, cell, msec);
}

void **bcr_acqrl(int cce, int cell, int msec)
{
    return get(BCRI_WANT_READ, BCRI_USE_LOCK, cce, cell, msec);
}

void **bcr_acqwl(int cce, int cell, int msec)
{
    return get(BCRI_WANT_LOCK, BCRI_USE_LOCK, cce, cell, msec);
}

/* A write lock that bcr_rgwaitm found ready: its region can be read; the private copy is bcr_rgwait's to make, since only
 * that can say that there is no memory for it. */
static bool locked_unowned(const struct bcri_slot_shm *slot)
{
    return (bcri_slot_flags(bcri_load(&slot->word)) & BCRI_SLOT_WRITE_LOCK) != 0;
}

static int own_locked(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, bcri_slot_region(bcri_load(&slot->word))));
    return own_or_give_back(ctx, slot);
}

/* Makes a request that was served the program's region. One that failed is left for bcr_rgwait to tell. False: a write lock
 * that cannot be marked in its time. */
static bool make_usable(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, uint64_t deadline_ns)
{
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    if (state != BCRI_SLOT_TICKET && state != BCRI_SLOT_SERVED)
        return true;
    const int error = bcri_request_settle(ctx, slot, deadline_ns);
    if (error == 0 && bcri_request_want(slot) == BCRI_WANT_LOCK)
        bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, BCRI_SLOT_WRITE_LOCK,
                                               bcri_slot_region(bcri_load(&slot->word))));
    return error != bcrE_TIMEOUT;
}

int bcr_rgwait(void **rgid, int msec, int failfree)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    struct bcri_slot_shm *slot;
    int error = bcri_enter(ctx);
    if (error == 0)
        error = bcri_id_live(ctx, rgid, &slot);
    if (error == 0 && locked_unowned(slot))
        error = own_locked(ctx, slot);
    if (error == 0)
        return 1;
    if (error != bcrE_PENDING)
        return bcri_fail(error);
    uint64_t deadline_ns = bcri_deadline_after(msec);
    do {
        error = bcri_wait_ready(ctx, &slot, 1, deadline_ns) < 0 ? bcrE_TIMEOUT
                                                                : bcri_request_settle(ctx, slot, deadline_ns);
        if (error == bcrE_TIMEOUT) {
            int withdrawn = failfree ? bcri_request_withdraw(ctx, slot, deadline_ns) : 0;
            if (failfree && withdrawn == 0)
                bcri_request_gone(ctx);
            if (withdrawn != BCRI_WAITS)
                return withdrawn == 0 ? 0 : bcri_fail(withdrawn);
            error = bcri_request_settle(ctx, slot, deadline_ns);
        }
    } while (error == BCRI_WAITS || error == bcrE_TIMEOUT);
    if (error == 0 && bcri_request_want(slot) == BCRI_WANT_LOCK)
        error = own_or_give_back(ctx, slot);
    return error == 0 ? 1 : bcri_fail(error);
}

static int look_up(struct bcri_ctx *ctx, int nids, void ***rgids, struct bcri_slot_shm **slots)
{
    for (int i = 0; i < nids; i++) {
        int error = bcri_id_live(ctx, rgids[i], &slots[i]);
        if (error != 0 && error != bcrE_PENDING)
            return error;
    }
    return 0;
}

/* A request that its cell served before it could be withdrawn, while others of the same call were withdrawn already:
 * undone, since the caller is told that nothing was taken. */
static void undo(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, uint64_t deadline_ns)
{
    int error;
    while ((error = bcri_request_settle(ctx, slot, deadline_ns)) == BCRI_WAITS)
        bcri_wait_settled(ctx, slot);
    if (error == bcrE_TIMEOUT) {
        if (bcri_request_withdraw(ctx, slot, deadline_ns) == BCRI_WAITS)
            undo(ctx, slot, BCRI_DEADLINE_NEVER);
        return;
    }
    if (bcri_slot_state(bcri_load(&slot->word)) != BCRI_SLOT_LIVE)
        return;
    if (bcri_request_want(slot) == BCRI_WANT_READ)
        bcri_slot_drop(ctx, slot);
    else
        bcri_request_give_back(ctx, slot);
}

/* Time is up: 0 once all are withdrawn; the index, from 1, of one that is ready while none is withdrawn yet. */
static int withdraw_all(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int nids, uint64_t deadline_ns)
{
    for (int i = 0; i < nids; i++)
        if (bcri_request_ready(ctx, slots[i]) && make_usable(ctx, slots[i], deadline_ns))
            return i + 1;
    for (int i = 0; i < nids; i++) {
        uint64_t word = bcri_load_acquire(&slots[i]->word);
        if (bcri_slot_state(word) == BCRI_SLOT_FREE || (bcri_slot_flags(word) & BCRI_SLOT_LEFT) != 0)
            continue; /* named twice, withdrawn once */
        int withdrawn = bcri_request_withdraw(ctx, slots[i], deadline_ns);
        if (withdrawn == 0)
            continue;
        if (withdrawn == bcrE_INTERNAL)
            return bcri_fail(withdrawn);
        if (i == 0 && make_usable(ctx, slots[i], deadline_ns))
            return 1;
        undo(ctx, slots[i], deadline_ns);
    }
    bcri_request_gone(ctx);
    return 0;
}

int bcr_rgwaitm(int nids, void ***rgids, int msec, int failfree)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (nids < 1 || rgids == NULL)
        return bcri_fail(bcrE_ARG);
    int error = bcri_enter(ctx);
    if (error != 0)
        return bcri_fail(error);
    struct bcri_slot_shm **slots = calloc((size_t)nids, sizeof(void *));
    if (slots == NULL)
        return bcri_fail(bcrE_NOMEM);
    error = look_up(ctx, nids, rgids, slots);
    if (error != 0) {
        free(slots);
        return bcri_fail(error);
    }
    const uint64_t deadline_ns = bcri_deadline_after(msec);
    int result = bcri_wait_ready(ctx, slots, nids, deadline_ns) + 1;
    if (result > 0 && !make_usable(ctx, slots[result - 1], deadline_ns))
        result = 0;
    if (result == 0 && failfree)
        result = withdraw_all(ctx, slots, nids, deadline_ns);
    free(slots);
    return result;
}
