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

/* What a public routine wants, and by which right. */
enum kind { TAKE, READ, READ_LOCK, WRITE_LOCK };

static inline enum bcri_want wanted(enum kind kind)
{
    return kind == TAKE ? BCRI_WANT_TAKE : kind == WRITE_LOCK ? BCRI_WANT_LOCK : BCRI_WANT_READ;
}
static inline bool is_allowed(const struct bcri_place *place, enum kind kind)
{
    return bcri_likely(kind == READ_LOCK || kind == WRITE_LOCK ? place->may_lock : place->may_take);
}

/* The cell is looked up, and what it has taken at once if nothing stands in the way. */
static int begin(struct bcri_ctx *ctx, enum kind kind, uint64_t key, int msec, struct bcri_slot_shm *slot,
                 struct bcri_place **place_out)
{
    struct bcri_place *place;
    int error = bcri_place_find_within(ctx, key, msec, &place);
    if (bcri_unlikely(error != 0))
        return error;
    ctx->get_place = place;
    if (bcri_unlikely(!is_allowed(place, kind)))
        return bcrE_ACCESS;
    *place_out = place;
    return get_fast(ctx, place, wanted(kind), msec, slot);
}

/* What the first, fast try has not done. */
static int get_otherwise(struct bcri_ctx *ctx, enum kind kind, uint64_t key, int msec,
                         struct bcri_slot_shm *slot, struct bcri_place **place, int error)
{
    while (error >= BCRI_STALE && error != BCRI_WAITS) {
        if (error == BCRI_GO_SLOW)
            error = bcri_get_slow(ctx, *place, wanted(kind), msec, slot);
        if (error == BCRI_STALE) {
            bcri_place_forget(ctx, *place);
            error = begin(ctx, kind, key, msec, slot, place);
        }
    }
    return error;
}

/* Waits until the request is served or time is up. 0: the slot is LIVE; else the slot is free again. */
static __attribute__((noinline)) int finish(struct bcri_ctx *ctx, struct bcri_place *place,
                                            struct bcri_slot_shm *slot, uint64_t deadline_ns)
{
    bool tired = false;
    if ((ctx->upward == NULL || ctx->upward->alone(ctx)) &&
        bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_TICKET) {
        int error = bcri_ticket_spin(ctx, place, slot, deadline_ns);
        if (bcri_likely(error != BCRI_WAITS))
            return error;
        tired = ctx->upward == NULL && bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_TICKET;
    }
    for (;; tired = false) {
        int ready = tired ? bcri_wait_asleep(ctx, &slot, 1, deadline_ns)
                          : bcri_wait_ready(ctx, &slot, 1, deadline_ns);
        int withdrawn = ready < 0 ? bcri_request_withdraw(ctx, slot) : BCRI_WAITS;
        if (withdrawn != BCRI_WAITS)
            return withdrawn == 0 ? bcrE_TIMEOUT : withdrawn;
        int error = bcri_request_settle(ctx, slot);
        if (error != BCRI_WAITS)
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

static __attribute__((noinline)) void **fail(struct bcri_ctx *ctx, int error)
{
    bcri_counted(ctx, error == bcrE_TIMEOUT ? BCRI_COUNT_TIMEOUT : BCRI_COUNT_FAILED);
    bcri_set_errno(error);
    return NULL;
}

static inline enum bcri_counter counter_of(enum kind kind)
{
    return wanted(kind) == BCRI_WANT_READ ? BCRI_COUNT_READ : BCRI_COUNT_GET;
}
static inline enum bcri_trace_op trace_of(enum kind kind)
{
    return kind == TAKE ? BCRI_TRACE_GET : kind == WRITE_LOCK ? BCRI_TRACE_LOCK : BCRI_TRACE_READ;
}

/* The region is the program's. */
static __attribute__((noinline)) void **got(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, uint64_t key,
                                            enum kind kind, uint32_t owner)
{
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_sure(ctx, region);
    bcri_counted(ctx, counter_of(kind));
    bcri_trace(ctx, trace_of(kind), 0, owner, (uint32_t)key, header->length, region);
    return bcri_id_of(slot);
}

/* `error`: how the fast try has ended. */
static void **end_get(struct bcri_ctx *ctx, struct bcri_place *place, struct bcri_slot_shm *slot,
                      uint64_t key, enum kind kind, int msec, int error)
{
    error = get_otherwise(ctx, kind, key, msec, slot, &place, error);
    const uint32_t owner = place != NULL ? place->owner : 0; /* a wait may forget the place */
    if (error == BCRI_WAITS) {
        if (msec == bcr_PENDING)
            return bcri_id_of(slot);
        bcri_counted(ctx, BCRI_COUNT_WAIT);
        error = finish(ctx, place, slot, bcri_deadline_after(msec));
        if (error != 0)
            return fail(ctx, error);
    } else if (bcri_unlikely(error != 0)) {
        bcri_slot_give(ctx, slot);
        return fail(ctx, error);
    } else if (kind == WRITE_LOCK && place != NULL) {
        bcri_store(&slot->cell, place->ref); /* in case that it must go back (bcri_request_give_back) */
        bcri_store(&slot->prev, place->open);
    }
    if (kind == WRITE_LOCK && (error = own_or_give_back(ctx, slot)) != 0)
        return fail(ctx, error);
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const struct bcri_region_shm *header = bcri_at_mapped(ctx, region);
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_unlikely(header == NULL) || bcri_trace_looks_at_clock(seq))
        return got(ctx, slot, key, kind, owner);
    bcri_counted(ctx, counter_of(kind));
    bcri_trace_write(ctx, seq, trace_of(kind), 0, owner, (uint32_t)key, header->length, region);
    return bcri_id_of(slot);
}

/* ---- Taking what is there, straight on: as the puts' in bcr_put.c */

/* Nothing has been done. */
static __attribute__((noinline)) void **get_anyhow(uint64_t key, int msec, enum kind kind)
{
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (bcri_unlikely(ctx == NULL))
        return NULL;
    int error = bcri_enter(ctx);
    struct bcri_slot_shm *slot = error == 0 ? bcri_slot_take(ctx) : NULL;
    if (bcri_unlikely(slot == NULL))
        return fail(ctx, error == 0 ? bcrE_NOMEM : error);
    struct bcri_place *place = NULL;
    error = begin(ctx, kind, key, msec, slot, &place);
    return end_get(ctx, place, slot, key, kind, msec, error);
}

/* H is held. */
static __attribute__((noinline)) void **get_held(struct bcri_ctx *ctx, struct bcri_place *place,
                                                 struct bcri_slot_shm *slot, enum kind kind, int msec)
{
    const uint64_t key = place->key;
    return end_get(ctx, place, slot, key, kind, msec, get_locked(ctx, place, wanted(kind), msec, slot));
}

/* The journal is open, and somebody else has H. */
static __attribute__((noinline)) void **get_waiting(struct bcri_ctx *ctx, struct bcri_place *place,
                                                    struct bcri_slot_shm *slot, enum kind kind, int msec)
{
    if (bcri_likely(bcri_lock_slow_within(ctx, &place->cell->h.lock, msec)))
        return get_held(ctx, place, slot, kind, msec);
    bcri_journal_close(ctx);
    return end_get(ctx, place, slot, place->key, kind, msec, bcrE_TIMEOUT);
}

/* H has been let go of, and somebody sleeps. */
static __attribute__((noinline)) void **get_wake(struct bcri_ctx *ctx, struct bcri_place *place,
                                                 struct bcri_slot_shm *slot, enum kind kind)
{
    bcri_unlock_wake(ctx);
    bcri_journal_close(ctx);
    return got(ctx, slot, place->key, kind, place->owner);
}

/* All is done. */
static __attribute__((noinline)) void **get_look_ahead(const struct bcri_ctx *ctx,
                                                       const struct bcri_place *place,
                                                       struct bcri_slot_shm *slot, uint64_t ticket)
{
    look_ahead(ctx, place, ticket);
    return bcri_id_of(slot);
}

BCRI_INLINE void **get(enum kind kind, int cce, int cell_number, int msec)
{
    const uint64_t key = bcri_place_key(cce, cell_number);
    struct bcri_ctx *const ctx = bcri_self_thread;
    if (bcri_unlikely(ctx == NULL || bcri_enters(ctx)))
        return get_anyhow(key, msec, kind);
    struct bcri_place *const place = bcri_place_near(ctx, ctx->get_place, key);
    struct bcri_slot_shm *const slot = *ctx->slot_top;
    if (bcri_unlikely(place == NULL || !is_allowed(place, kind) || slot == NULL))
        return get_anyhow(key, msec, kind);
    ctx->get_place = place;
    const bcri_ref slot_ref = bcri_slot_ref_near(ctx, slot);
    if (bcri_unlikely(slot_ref == BCRI_REF_NONE))
        return get_anyhow(key, msec, kind);
    ctx->slot_top--; /* as bcri_slot_take */
    struct bcri_cell_shm *const cell = place->cell;
    get_open(ctx, place, wanted(kind), slot_ref);
    if (bcri_unlikely(!bcri_lock_try(ctx, &cell->h.lock)))
        return get_waiting(ctx, place, slot, kind, msec);
    const uint64_t ticket = bcri_load(&cell->h.head);
    bcri_ref region;
    struct bcri_region_shm *header;
    if (bcri_unlikely(!is_plain(ctx, place, cell, wanted(kind), ticket, &region, &header)))
        return get_held(ctx, place, slot, kind, msec);
    if (wanted(kind) == BCRI_WANT_READ)
        read_alone(ctx, region, header, slot);
    else
        take_entry(ctx, cell, wanted(kind), ticket, region, header, slot, 0);
    bcri_store_release(&cell->h.lock, 0);
    bcri_step();
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        return get_wake(ctx, place, slot, kind);
    bcri_journal_close(ctx);
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_trace_looks_at_clock(seq))
        return got(ctx, slot, place->key, kind, place->owner);
    bcri_counted(ctx, counter_of(kind));
    bcri_trace_write(ctx, seq, trace_of(kind), 0, place->owner, (uint32_t)place->key, header->length, region);
    if (kind == TAKE && is_first_of_line(ticket))
        return get_look_ahead(ctx, place, slot, ticket);
    return bcri_id_of(slot);
}

static __attribute__((noinline)) void **get_taking(int cce, int cell, int msec)
{
    return get(TAKE, cce, cell, msec);
}
static __attribute__((noinline)) void **get_reading(int cce, int cell, int msec)
{
    return get(READ, cce, cell, msec);
}

void **bcr_get(int qlike, int cce, int cell, int msec)
{
    return qlike != 0 ? get_taking(cce, cell, msec) : get_reading(cce, cell, msec);
}

void **bcr_acqrl(int cce, int cell, int msec)
{
    return get(READ_LOCK, cce, cell, msec);
}

void **bcr_acqwl(int cce, int cell, int msec)
{
    return get(WRITE_LOCK, cce, cell, msec);
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

/* Makes a request that was served the program's region. One that failed is left for bcr_rgwait to tell. */
static void make_usable(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    if (state != BCRI_SLOT_TICKET && state != BCRI_SLOT_SERVED)
        return;
    if (bcri_request_settle(ctx, slot) == 0 && bcri_request_want(slot) == BCRI_WANT_LOCK)
        bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, BCRI_SLOT_WRITE_LOCK,
                                               bcri_slot_region(bcri_load(&slot->word))));
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
        if (bcri_wait_ready(ctx, &slot, 1, deadline_ns) < 0) {
            int withdrawn = failfree ? bcri_request_withdraw(ctx, slot) : 0;
            if (failfree && withdrawn == 0)
                bcri_request_gone(ctx);
            if (withdrawn != BCRI_WAITS)
                return withdrawn == 0 ? 0 : bcri_fail(withdrawn);
        }
        error = bcri_request_settle(ctx, slot);
    } while (error == BCRI_WAITS);
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
static void undo(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    while (bcri_request_settle(ctx, slot) == BCRI_WAITS)
        bcri_wait_settled(ctx, slot);
    if (bcri_slot_state(bcri_load(&slot->word)) != BCRI_SLOT_LIVE)
        return;
    if (bcri_request_want(slot) == BCRI_WANT_READ)
        bcri_slot_drop(ctx, slot);
    else
        bcri_request_give_back(ctx, slot);
}

/* Time is up: 0 once all are withdrawn; the index, from 1, of one that is ready while none is withdrawn yet. */
static int withdraw_all(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int nids)
{
    for (int i = 0; i < nids; i++)
        if (bcri_request_ready(ctx, slots[i])) {
            make_usable(ctx, slots[i]);
            return i + 1;
        }
    for (int i = 0; i < nids; i++) {
        if (bcri_slot_state(bcri_load_acquire(&slots[i]->word)) == BCRI_SLOT_FREE)
            continue; /* named twice, withdrawn once */
        int withdrawn = bcri_request_withdraw(ctx, slots[i]);
        if (withdrawn == 0)
            continue;
        if (withdrawn == bcrE_INTERNAL)
            return bcri_fail(withdrawn);
        if (i == 0) {
            make_usable(ctx, slots[i]);
            return 1;
        }
        undo(ctx, slots[i]);
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
    int result = bcri_wait_ready(ctx, slots, nids, bcri_deadline_after(msec)) + 1;
    if (result > 0)
        make_usable(ctx, slots[result - 1]);
    else if (failfree)
        result = withdraw_all(ctx, slots, nids);
    free(slots);
    return result;
}
