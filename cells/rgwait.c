/* SPDX-License-Identifier: MIT */
/* bcr_rgwait, bcr_rgwaitm: requests of gets with bcr_PENDING become regions, or are cancelled.
 * bcr.h is their manual. */
#include <bcr.h>

#include "bcri/clock.h"
#include "bcri/drop.h"
#include "bcri/enter.h"
#include "bcri/give_back.h"
#include "bcri/idle.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/private.h"
#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/wait.h"
#include "bcri/waiters.h"
#include "bcri/wakes.h"

/* Whether the ID is a write lock that bcr_rgwaitm found ready. The program can read its region, but
 * only bcr_rgwait makes the private copy, since only that can return that there is no memory for
 * it. */
static bool locked_unowned(const struct bcri_slot_shm *slot)
{
    return (bcri_slot_flags(bcri_load(&slot->word)) & BCRI_SLOT_WRITE_LOCK) != 0;
}

static int own_locked(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, bcri_slot_region(bcri_load(&slot->word))));
    return bcri_request_own(ctx, slot);
}

/* Makes the region of a request that was served the program's. A request that failed stays for
 * bcr_rgwait, which tells why. */
static void make_usable(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    if (state != BCRI_SLOT_TICKET && state != BCRI_SLOT_SERVED && state != BCRI_SLOT_ANSWERED)
        return;
    bcri_idle_ends(ctx);
    const struct bcri_answer answer = bcri_request_complete(ctx, slot);
    if (answer.came && answer.error == 0 && bcri_request_want(slot) == BCRI_WANT_LOCK)
        bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, BCRI_SLOT_WRITE_LOCK,
                                               bcri_slot_region(bcri_load(&slot->word))));
}

/* The wait ends by a wake. */
static int woken(struct bcri_ctx *ctx, struct bcri_wake *wake, int cancelled)
{
    bcri_wake_take(ctx, wake);
    if (cancelled)
        bcri_request_gone(ctx);
    return bcri_fail(bcrE_WOKEN);
}

int bcr_rgwait(bcr_region rgid, int msec, int failfree)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    struct bcri_slot_shm *slot;
    int error = bcri_id_live(ctx, rgid, &slot);
    if (error == 0 && locked_unowned(slot))
        error = own_locked(ctx, slot);
    if (error == 0)
        return 1;
    if (error != bcrE_PENDING)
        return bcri_fail(error);
    uint64_t deadline_ns = bcri_deadline_after(msec);
    struct bcri_answer answer = {.came = false};
    do {
        const int ready = bcri_wait_ready(ctx, &slot, 1, deadline_ns);
        if (ready == BCRI_WOKEN) {
            struct bcri_wake *const wake = bcri_wake_due(ctx, &slot, 1);
            if (wake == NULL)
                continue; /* another invocation's get has got it */
            if (!failfree || bcri_request_cancel(ctx, slot))
                return woken(ctx, wake, failfree);
        } else if (ready < 0) {
            bcri_idle_looked(ctx);
            if (!failfree)
                return 0;
            if (bcri_request_cancel(ctx, slot)) {
                bcri_request_gone(ctx);
                return 0;
            }
        }
        answer = bcri_request_complete(ctx, slot);
    } while (!answer.came);
    bcri_idle_ends(ctx);
    error = answer.error;
    if (error == 0 && bcri_request_want(slot) == BCRI_WANT_LOCK)
        error = bcri_request_own(ctx, slot);
    return error == 0 ? 1 : bcri_fail(error);
}

/* The requests of a list, without its NULL entries, which come from gets that failed. */
struct requests {
    int count;
    struct bcri_slot_shm **slots;
    int *indices; /* where each stands in the program's list, from 1 */
};

static int look_up(struct bcri_ctx *ctx, int nids, bcr_region *rgids, struct requests *requests)
{
    for (int i = 0; i < nids; i++) {
        if (rgids[i] == NULL)
            continue;
        int error = bcri_id_live(ctx, rgids[i], &requests->slots[requests->count]);
        if (error != 0 && error != bcrE_PENDING)
            return error;
        requests->indices[requests->count++] = i + 1;
    }
    return requests->count != 0 ? 0 : bcrE_ARG;
}

/* Undoes a request that its cell served before it could be cancelled, after other requests of the
 * same call were cancelled: the caller is told that nothing was taken. */
static void undo(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    while (!bcri_request_complete(ctx, slot).came)
        bcri_wait_complete(ctx, slot);
    if (bcri_slot_state(bcri_load(&slot->word)) != BCRI_SLOT_LIVE)
        return;
    if (bcri_request_want(slot) == BCRI_WANT_READ)
        bcri_slot_drop(ctx, slot);
    else
        bcri_request_give_back(ctx, slot);
}

/* Cancels all requests when time is up, and returns 0. If one is ready while none is cancelled
 * yet, returns its index, from 1. */
static int cancel_all(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int nids)
{
    for (int i = 0; i < nids; i++)
        if (bcri_request_ready(ctx, slots[i])) {
            make_usable(ctx, slots[i]);
            return i + 1;
        }
    for (int i = 0; i < nids; i++) {
        if (bcri_slot_state(bcri_load_acquire(&slots[i]->word)) == BCRI_SLOT_FREE)
            continue; /* named twice, cancelled once */
        if (bcri_request_cancel(ctx, slots[i]))
            continue;
        if (i == 0) {
            make_usable(ctx, slots[i]);
            return 1;
        }
        undo(ctx, slots[i]);
    }
    bcri_request_gone(ctx);
    return 0;
}

static int wait_for_one(struct bcri_ctx *ctx, const struct requests *requests, int msec, int failfree)
{
    const uint64_t deadline_ns = bcri_deadline_after(msec);
    struct bcri_wake *wake = NULL;
    int ready;
    do {
        ready = bcri_wait_ready(ctx, requests->slots, requests->count, deadline_ns);
        if (ready == BCRI_WOKEN)
            wake = bcri_wake_due(ctx, requests->slots, requests->count);
    } while (ready == BCRI_WOKEN && wake == NULL);
    int result = ready >= 0 ? ready + 1 : 0;
    if (result == 0 && wake == NULL)
        bcri_idle_looked(ctx);
    if (result > 0)
        make_usable(ctx, requests->slots[result - 1]);
    else if (failfree)
        result = cancel_all(ctx, requests->slots, requests->count);
    if (result > 0)
        return requests->indices[result - 1];
    return wake != NULL ? woken(ctx, wake, false) : 0; /* cancel_all has told of what it cancelled */
}

int bcr_rgwaitm(int nids, bcr_region *rgids, int msec, int failfree)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    if (nids < 1 || rgids == NULL)
        return bcri_fail(bcrE_ARG);
    struct requests requests = {.slots = bcri_private_zeroed((size_t)nids, sizeof(void *)),
                                .indices = bcri_private_zeroed((size_t)nids, sizeof(int))};
    const int error = requests.slots != NULL && requests.indices != NULL
                          ? look_up(ctx, nids, rgids, &requests)
                          : bcrE_NOMEM;
    const int result = error == 0 ? wait_for_one(ctx, &requests, msec, failfree) : bcri_fail(error);
    bcri_private_free(requests.slots);
    bcri_private_free(requests.indices);
    return result;
}
