/* SPDX-License-Identifier: MIT */
/* A put that waits for room, as its putter sees it: put_waiters.h.
 *
 * Journal of a request: READ with the request's slot while its hold is counted (a putter that is
 * killed here leaves a LIVE slot, whose hold the walk over its IDs drops); then SLOW with the
 * area's lock. Serving: put_service.c. */
#include "bcri/put_waiters.h"

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/credits.h"
#include "bcri/drop.h"
#include "bcri/enter.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/put.h"
#include "bcri/put_service.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/wait.h"
#include "bcri/wait_lists.h"
#include "bcri/wait_loop.h"
#include "bcri/waiters.h"

/* A taker that is at work frees room within a microsecond; registering costs several. */
enum { SPIN_FOR_ROOM = 1000, ROOM_AT_ONCE = 8, LOOK_EVERY = 8 };

static int answer_of(const struct bcri_slot_shm *request)
{
    switch (bcri_slot_state(bcri_load_acquire(&request->word))) {
    case BCRI_SLOT_PUTDONE: return 0;
    case BCRI_SLOT_FAILED: return (int)bcri_load(&request->given);
    default: return bcrE_FULL;
    }
}

/* Ends a request that is in no list and that no other CCE looks at any more. */
static int end_request(struct bcri_ctx *ctx, struct bcri_slot_shm *request)
{
    const int answer = answer_of(request);
    if (answer == 0) {
        bcri_store(&request->word, 0);
        bcri_slot_give(ctx, request);
        return 0;
    }
    bcri_store(&request->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, bcri_load(&request->key)));
    bcri_slot_drop(ctx, request);
    return answer;
}

/* Model: putwait.pml */
struct bcri_result bcri_putwait_begin(struct bcri_ctx *ctx, bool write, bcri_ref region,
                                      struct bcri_resolved *resolved, struct bcri_slot_shm **request_out,
                                      uint64_t deadline_ns)
{
    struct bcri_slot_shm *request = bcri_slot_take(ctx);
    if (request == NULL)
        return bcri_result(bcrE_NOMEM);
    int error = bcri_slot_hold(ctx, region, request);
    if (error != 0) {
        bcri_slot_give(ctx, request);
        return bcri_result(error);
    }
    bcri_ref slot_ref = bcri_slot_ref(ctx, request);
    bcri_store(&request->cell, resolved->ref);
    bcri_store(&request->key, region);
    bcri_store(&request->kind, bcri_request_kind(ctx, BCRI_WANT_TAKE) | (write ? BCRI_REQUEST_WRITE : 0));
    bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    if (!bcri_area_lock_until(ctx, resolved, deadline_ns)) {
        bcri_journal_close(ctx);
        bcri_slot_drop(ctx, request);
        return bcri_result(bcrE_FULL);
    }
    uint64_t state = bcri_load_acquire(&resolved->cell->h.state);
    if (state >> 32 != resolved->open >> 32 || (state & BCRI_CELL_CLOSED) != 0) {
        bcri_area_unlock(ctx, resolved);
        bcri_journal_close(ctx);
        bcri_slot_drop(ctx, request);
        return bcri_outcome(BCRI_STALE);
    }
    bcri_ref last = bcri_load(&resolved->area->put_last);
    if (last != BCRI_REF_NONE && bcri_at(ctx, last) == NULL) {
        bcri_area_unlock(ctx, resolved);
        bcri_journal_close(ctx);
        bcri_slot_drop(ctx, request);
        return bcri_result(bcrE_NOMEM);
    }
    bcri_tx_begin(ctx);
    bcri_tx_putwait_list(ctx, resolved, slot_ref, last, bcri_slot_word(BCRI_SLOT_PUTWAIT, 0, region));
    bcri_tx_commit(ctx);
    /* A get may have begun to wait at this cell just now, while older puts in the list want other
     * cells: this put needs no room. */
    bcri_putwait_hand_over_one(ctx, slot_ref);
    bcri_putwait_serve_all(ctx, resolved);
    bcri_area_unlock(ctx, resolved);
    bcri_journal_close(ctx);
    *request_out = request;
    return bcri_outcome(BCRI_DONE);
}

/* False: the request still waits, since this CCE cannot map its neighbours in the list, or parks. */
static bool leave_list(struct bcri_ctx *ctx, struct bcri_slot_shm *request)
{
    struct bcri_resolved resolved;
    /* Under the area's lock: then the CCE that ended the request has finished with the area. If the
     * area is gone already, the request was failed before. */
    bool there = bcri_resolved_at(ctx, bcri_load(&request->cell), &resolved) == 0;
    bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    if (there && !bcri_area_lock_until(ctx, &resolved, BCRI_DEADLINE_NEVER)) {
        bcri_journal_close(ctx);
        return false; /* the context parks */
    }
    const bcri_ref slot_ref = bcri_slot_ref(ctx, request);
    const bool waits = there && bcri_slot_state(bcri_load_acquire(&request->word)) == BCRI_SLOT_PUTWAIT;
    const bool left = !waits || bcri_request_mapped(ctx, slot_ref);
    if (waits && left) {
        bcri_putwait_cancel(ctx, &resolved, request, slot_ref);
        bcri_putwait_serve(ctx, &resolved); /* a write behind it may need no room */
    }
    if (there)
        bcri_area_unlock(ctx, &resolved);
    bcri_journal_close(ctx);
    return left;
}

bool bcri_putwait_over(struct bcri_ctx *ctx, struct bcri_slot_shm *request, int *error_out)
{
    if (!leave_list(ctx, request))
        return false;
    *error_out = end_request(ctx, request);
    return true;
}

/* Model: putwait.pml */
int bcri_putwait_end(struct bcri_ctx *ctx, struct bcri_slot_shm *request, uint64_t deadline_ns)
{
    do
        (void)bcri_wait_ready(ctx, &request, 1, deadline_ns);
    while (!leave_list(ctx, request));
    return end_request(ctx, request);
}

/* For how many more puts there is room, as far as that can be seen without a lock. */
static uint64_t room_seen(const struct bcri_resolved *resolved)
{
    uint64_t head = bcri_load_acquire(&resolved->cell->h.head);
    uint64_t tail = bcri_load(&resolved->cell->t.tail);
    uint64_t credits = bcri_load(&resolved->cell->t.credits);
    const uint64_t entries = bcri_ring_entries(resolved);
    uint64_t most = credits < entries ? credits : entries;
    if (head > tail)
        return head - tail;
    return tail - head < most ? most - (tail - head) : 0;
}

/* A put that spins for room. */
struct room {
    const struct bcri_ctx *ctx;
    const struct bcri_resolved *resolved;
    uint64_t wanted;
    unsigned turn;
};

/* True: try the put again. False: do not wait any longer. */
static int look_for_room(void *arg)
{
    struct room *const room = arg;
    if (bcri_load(&room->resolved->area->waitputs) != 0)
        return room_seen(room->resolved) != 0;
    if (bcri_enters(room->ctx))
        return false;
    if (room->turn++ % LOOK_EVERY == 0 && room_seen(room->resolved) >= room->wanted)
        return true;
    bcri_cpu_pause();
    return BCRI_NOT_YET;
}

/* Looks for a while whether a taker makes room for several puts at once: a putter that fills each
 * entry as it becomes free carries the takers' line back and forth with every put. */
bool bcri_room_spin(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved)
{
    const uint64_t credits = bcri_load(&resolved->cell->t.credits);
    struct room room = {.ctx = ctx,
                        .resolved = resolved,
                        .wanted = credits / 2 < ROOM_AT_ONCE ? credits / 2 + 1 : ROOM_AT_ONCE};
    if (ctx->cpus < 2 || resolved->area->nrgns == 0)
        return false;
    const struct bcri_wait_loop loop = {
        .spins = SPIN_FOR_ROOM, .deadline_ns = BCRI_DEADLINE_NEVER, .look = look_for_room};
    const int seen = bcri_wait_loop(loop, &room);
    return seen == BCRI_NOT_YET ? room_seen(resolved) != 0 : seen;
}

struct bcri_result bcri_room_wait(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t deadline_ns)
{
    struct bcri_slot_shm *request = NULL;
    struct bcri_result result =
        bcri_putwait_begin(ctx, put->write, put->region, put->resolved, &request, deadline_ns);
    if (bcri_is_done(result))
        result = bcri_result(bcri_putwait_end(ctx, request, deadline_ns));
    /* Handlers may have freed the ID meanwhile. */
    const bool held = bcri_slot_holds(put->slot, put->region);
    if (bcri_is_done(result) && !put->nofree && held)
        bcri_slot_drop(ctx, put->slot);
    return result.outcome == BCRI_STALE && !held ? bcri_result(bcrE_RGID) : result;
}

/* For a put that does not wait: moves an unused credit of another cell into the pool, if there is
 * one. It does not if puts wait, since room belongs to them. */
bool bcri_room_gather(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    if (!bcri_area_lock_until(ctx, resolved, BCRI_DEADLINE_PASSED)) {
        bcri_journal_close(ctx);
        return false;
    }
    bool found = bcri_load(&resolved->area->waitputs) == 0 && bcri_credits_gather(ctx, resolved, true);
    bcri_area_unlock(ctx, resolved);
    bcri_journal_close(ctx);
    return found;
}
