/* SPDX-License-Identifier: MIT */
/* Puts that wait for room: putwait.h. And bcri_put, which tries everything else first.
 *
 * Journal of a request: READ with the request's slot while its hold is counted (a death leaves a LIVE slot, which the
 * walk drops); then PUT phase 0 with the area's lock. Serving: whatever operation is open, cell2 naming the cell that is
 * served or asked for credits. */
#include "bcri/putwait.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/lock.h"
#include "bcri/slow.h"
#include "bcri/summons.h"
#include "bcri/tx.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm
#define AREA struct bcri_area_shm

#define REQUEST_WRITE 0x80u /* in the kind word, beside enum bcri_want's place */

/* A taker that is at work frees room within a microsecond; registering costs several. */
enum { SPIN_FOR_ROOM = 1000, SPINS_FOR_ROOM = 2, ROOM_AT_ONCE = 8, LOOK_EVERY = 8 };

bool bcri_area_lock_until(struct bcri_ctx *ctx, struct bcri_place *place, uint64_t deadline_ns)
{
    bcri_store(&ctx->journal->area, place->area_ref);
    bcri_step();
    return bcri_lock_until(ctx, &place->area->lock, deadline_ns);
}

void bcri_area_lock(struct bcri_ctx *ctx, struct bcri_place *place)
{
    (void)bcri_area_lock_until(ctx, place, BCRI_DEADLINE_NEVER);
}

void bcri_area_unlock(struct bcri_ctx *ctx, struct bcri_place *place)
{
    bcri_unlock_stale(ctx, &place->area->lock); /* the area may have been given back meanwhile */
}

void bcri_tx_putwait_end(struct bcri_ctx *ctx, struct bcri_place *place, bcri_ref slot_ref, uint64_t word,
                         uint64_t given)
{
    SLOT *slot = bcri_at_sure(ctx, slot_ref);
    bcri_ref next = bcri_load(&slot->next);
    bcri_ref prev = bcri_load(&slot->prev);
    if (prev != 0)
        BCRI_TX64(ctx, prev, SLOT, next, next);
    else
        BCRI_TX64(ctx, place->area_ref, AREA, put_first, next);
    if (next != 0)
        BCRI_TX64(ctx, next, SLOT, prev, prev);
    else
        BCRI_TX64(ctx, place->area_ref, AREA, put_last, prev);
    BCRI_TX32(ctx, place->area_ref, AREA, waitputs, bcri_load(&place->area->waitputs) - 1);
    BCRI_TX64(ctx, slot_ref, SLOT, given, given);
    BCRI_TX64(ctx, slot_ref, SLOT, word, word);
}

static void name_second(struct bcri_ctx *ctx, bcri_ref cell)
{
    bcri_store(&ctx->journal->cell2, cell);
    bcri_step();
}

/* Takes an unused credit from the cell at `place` into the area's pool; `half`: half of them. */
static bool spare_credit(struct bcri_ctx *ctx, struct bcri_place *place, bool half)
{
    CELL *cell = place->cell;
    if (bcri_load(&cell->t.credits) ==
        0) /* whoever gives a cell credits holds the area's pool, which is empty */
        return false;
    name_second(ctx, place->ref);
    if (bcri_cell_enter(ctx, place) != 0)
        return false;
    uint64_t credits = bcri_load(&cell->t.credits);
    uint64_t queued = bcri_queue_length(place);
    bool spare = credits > queued;
    if (spare) {
        uint64_t count = half ? (credits - queued + 1) / 2 : 1;
        bcri_leaf_lock(ctx, place);
        bcri_tx_begin(ctx);
        BCRI_TX64(ctx, place->ref, CELL, t.credits, credits - count);
        BCRI_TX64(ctx, place->ref, CELL, t.limit, bcri_load(&cell->t.tail));
        BCRI_TX32(ctx, place->area_ref, AREA, pool, bcri_load(&place->area->pool) + (uint32_t)count);
        bcri_tx_commit(ctx);
        bcri_leaf_unlock(ctx, place);
    }
    bcri_cell_leave(ctx, place);
    return spare;
}

/* Looks for unused credits in all cells of an area whose pool is empty. It begins where the last one was found: regions that go
 * from cell to cell leave the credits behind them, and the next one is a cell further on. */
static bool gather(struct bcri_ctx *ctx, struct bcri_place *place, bool half)
{
    /* Whoever is giving a cell credits out of the pool does so under the leaf lock: from here on they are seen. */
    bcri_leaf_lock(ctx, place);
    bcri_leaf_unlock(ctx, place);
    if (spare_credit(ctx, place, half))
        return true;
    AREA *area = place->area;
    const uint32_t cells = bcri_area_cells(area);
    uint32_t i = bcri_load(&area->gather_from);
    for (uint32_t looks = 0; looks < cells; looks++, i++) {
        if (i >= cells)
            i = 0;
        bcri_ref ref = area->cells + (uint64_t)i * (area->stride_bytes / BCRI_REF_UNIT);
        const CELL *cell = bcri_at(ctx, ref);
        struct bcri_place other;
        if (ref == place->ref || cell == NULL || bcri_load(&cell->t.credits) == 0 ||
            bcri_place_at(ctx, ref, &other) != 0 || !spare_credit(ctx, &other, half))
            continue;
        bcri_store(&area->gather_from, i);
        return true;
    }
    return false;
}

/* Does the put that waits at `slot_ref`; `hand_over`: only if it needs no room, since a waiting get takes it, or it replaces
 * what is there. 0, BCRI_NO_ROOM, or why it cannot be done now. */
static int serve(struct bcri_ctx *ctx, bcri_ref slot_ref, bool hand_over)
{
    SLOT *slot = bcri_at(ctx, slot_ref);
    struct bcri_place target;
    if (slot == NULL || bcri_place_at(ctx, bcri_load(&slot->cell), &target) != 0)
        return bcrE_NOMEM;
    uint32_t owner = bcri_request_owner(slot);
    bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    bool write = (bcri_load(&slot->kind) & REQUEST_WRITE) != 0;
    name_second(ctx, target.ref);
    int error = bcri_cell_enter(ctx, &target);
    if (error != 0)
        return error;
    bcri_store(&ctx->journal->aux[BCRI_AUX_RING], owner + 1);
    bool replaces = write && bcri_queue_length(&target) != 0;
    if (hand_over && !replaces && bcri_load(&target.cell->c.takes) == 0) {
        bcri_serve_reads(ctx, &target, region); /* they share it while it waits for room */
        error = BCRI_NO_ROOM;
    } else if (replaces)
        error = bcri_cell_empty(ctx, &target, region, slot_ref);
    else
        error = bcri_queue_append(ctx, &target, region, slot_ref);
    /* Before anybody else is rung from here: the journal remembers one. */
    if (error == 0)
        bcri_ring_noted(ctx, owner, target.ref);
    else
        bcri_store(&ctx->journal->aux[BCRI_AUX_RING], 0);
    bcri_cell_leave(ctx, &target);
    return error;
}

/* `everywhere`: look for credits in all cells, not only at `place`; needed as soon as a write has replaced several regions
 * somewhere. */
static void serve_all(struct bcri_ctx *ctx, struct bcri_place *place, bool everywhere)
{
    bcri_ref first;
    while ((first = bcri_load(&place->area->put_first)) != 0) {
        const SLOT *slot = bcri_at(ctx, first);
        bool write = slot != NULL && (bcri_load(&slot->kind) & REQUEST_WRITE) != 0;
        int error = serve(ctx, first, false);
        if (error == BCRI_NO_ROOM &&
            (everywhere ? gather(ctx, place, false) : spare_credit(ctx, place, false)))
            continue;
        if (error != 0)
            return;
        everywhere |= write;
    }
}

void bcri_putwait_serve(struct bcri_ctx *ctx, struct bcri_place *place)
{
    serve_all(ctx, place, false);
}

void bcri_putwait_serve_all(struct bcri_ctx *ctx, struct bcri_place *place)
{
    serve_all(ctx, place, true);
}

static bcri_ref first_for(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    bcri_ref ref = bcri_load(&place->area->put_first);
    for (SLOT *put; ref != 0; ref = bcri_load(&put->next)) {
        put = bcri_at(ctx, ref);
        if (put == NULL)
            return BCRI_REF_NONE;
        if (bcri_load(&put->cell) == place->ref)
            break;
    }
    return ref;
}

void bcri_putwait_hand_over(struct bcri_ctx *ctx, struct bcri_place *place)
{
    bcri_ref ref = first_for(ctx, place);
    if (ref != BCRI_REF_NONE)
        (void)serve(ctx, ref, true);
}

int bcri_putwait_take(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want,
                      struct bcri_slot_shm *slot, const struct bcri_summoning *summoning)
{
    bcri_ref ref = first_for(ctx, place);
    if (ref == BCRI_REF_NONE)
        return bcrE_TIMEOUT;
    SLOT *put = bcri_at_sure(ctx, ref);
    bcri_ref region = bcri_slot_region(bcri_load(&put->word));
    uint32_t owner = bcri_request_owner(put);
    if (bcri_at(ctx, region) == NULL)
        return bcrE_NOMEM;
    bcri_store(&slot->data, bcri_region_data(ctx, region));
    bool read = want == BCRI_WANT_READ;
    bcri_store(&ctx->journal->aux[BCRI_AUX_RING], read ? 0 : owner + 1);
    uint32_t count = read ? bcri_count_lock(ctx, region) : 0;
    bcri_tx_begin(ctx);
    if (read) {
        bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count + 1);
    } else {
        bcri_tx_putwait_end(ctx, place, ref, bcri_slot_word(BCRI_SLOT_PUTDONE, 0, 0), 0);
        BCRI_TX32(ctx, place->ref, CELL, h.taker, want == BCRI_WANT_LOCK ? ctx->tag : 0);
        BCRI_TX64(ctx, place->ref, CELL, h.taker_epoch, bcri_epoch(place->cell) + 1);
        BCRI_TX32(ctx, place->ref, CELL, c.direct, bcri_load(&place->cell->c.direct) + 1);
    }
    BCRI_TX64(ctx, bcri_slot_ref(ctx, slot), SLOT, word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_tx_phase(ctx, 2);
    bcri_tx_summon(ctx, place, summoning);
    bcri_tx_commit(ctx);
    if (read)
        bcri_count_settled(ctx);
    else
        bcri_ring_noted(ctx, owner, place->ref);
    return 0;
}

void bcri_putwait_fail(struct bcri_ctx *ctx, struct bcri_place *place, int code)
{
    for (bcri_ref ref = bcri_load(&place->area->put_first); ref != 0;) {
        SLOT *put = bcri_at(ctx, ref);
        if (put == NULL)
            return;
        bcri_ref next = bcri_load(&put->next);
        if (bcri_load(&put->cell) == place->ref) {
            uint32_t owner = bcri_request_owner(put);
            bcri_store(&ctx->journal->aux[BCRI_AUX_RING], owner + 1);
            bcri_tx_begin(ctx);
            bcri_tx_putwait_end(ctx, place, ref,
                                bcri_slot_word(BCRI_SLOT_FAILED, 0, bcri_slot_region(bcri_load(&put->word))),
                                (uint64_t)code);
            bcri_tx_commit(ctx);
            bcri_ring_noted(ctx, owner, place->ref);
        }
        ref = next;
    }
}

void bcri_putwait_unlist(struct bcri_ctx *ctx, struct bcri_place *place, struct bcri_slot_shm *slot,
                         bcri_ref slot_ref)
{
    bcri_tx_begin(ctx);
    bcri_tx_putwait_end(ctx, place, slot_ref,
                        bcri_slot_word(BCRI_SLOT_LIVE, 0, bcri_slot_region(bcri_load(&slot->word))), 0);
    bcri_tx_commit(ctx);
}

static int hold_for_request(struct bcri_ctx *ctx, bcri_ref region, struct bcri_slot_shm *request)
{
    bcri_journal_open(ctx, BCRI_OP_READ, BCRI_REF_NONE, region, bcri_slot_ref(ctx, request));
    bcri_journal_phase(ctx, 1);
    int error = bcri_region_hold(ctx, region, 1);
    if (error == 0) {
        bcri_step();
        bcri_store(&request->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
        bcri_step();
        bcri_count_settled(ctx);
    }
    bcri_journal_close(ctx);
    return error;
}

int bcri_putwait_begin(struct bcri_ctx *ctx, bool write, bcri_ref region, struct bcri_place *place,
                       struct bcri_slot_shm **request_out)
{
    struct bcri_slot_shm *request = bcri_slot_take(ctx);
    if (request == NULL)
        return bcrE_NOMEM;
    int error = hold_for_request(ctx, region, request);
    if (error != 0) {
        bcri_slot_give(ctx, request);
        return error;
    }
    bcri_ref slot_ref = bcri_slot_ref(ctx, request);
    bcri_store(&request->cell, place->ref);
    bcri_store(&request->kind, bcri_request_kind(ctx, BCRI_WANT_TAKE) | (write ? REQUEST_WRITE : 0));
    bcri_journal_open(ctx, BCRI_OP_SLOW, place->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    bcri_area_lock(ctx, place);
    uint64_t state = bcri_load_acquire(&place->cell->h.state);
    if (state >> 32 != place->open >> 32 || (state & BCRI_CELL_CLOSED) != 0) {
        bcri_area_unlock(ctx, place);
        bcri_journal_close(ctx);
        bcri_slot_drop(ctx, request);
        return BCRI_STALE;
    }
    bcri_ref last = bcri_load(&place->area->put_last);
    bcri_tx_begin(ctx);
    BCRI_TX64(ctx, slot_ref, SLOT, prev, last);
    BCRI_TX64(ctx, slot_ref, SLOT, next, 0);
    BCRI_TX64(ctx, slot_ref, SLOT, word, bcri_slot_word(BCRI_SLOT_PUTWAIT, 0, region));
    if (last != 0)
        BCRI_TX64(ctx, last, SLOT, next, slot_ref);
    else
        BCRI_TX64(ctx, place->area_ref, AREA, put_first, slot_ref);
    BCRI_TX64(ctx, place->area_ref, AREA, put_last, slot_ref);
    BCRI_TX32(ctx, place->area_ref, AREA, waitputs, bcri_load(&place->area->waitputs) + 1);
    bcri_tx_commit(ctx);
    /* A get may have begun to wait at our cell just now, behind older puts that want other cells; it needs no room. */
    (void)serve(ctx, slot_ref, true);
    serve_all(ctx, place, true);
    bcri_area_unlock(ctx, place);
    bcri_journal_close(ctx);
    *request_out = request;
    return BCRI_WAITS;
}

int bcri_putwait_end(struct bcri_ctx *ctx, struct bcri_slot_shm *request, uint64_t deadline_ns)
{
    struct bcri_place place;
    bcri_wait_ready(ctx, &request, 1, deadline_ns);
    /* Under the area's lock: whoever ended the request has finished with the area. Where the area is gone already, it has
     * failed the request before. */
    bool there = bcri_place_at(ctx, bcri_load(&request->cell), &place) == 0;
    bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    if (there)
        bcri_area_lock(ctx, &place);
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&request->word));
    if (there && state == BCRI_SLOT_PUTWAIT) {
        bcri_putwait_unlist(ctx, &place, request, bcri_slot_ref(ctx, request));
        serve_all(ctx, &place, false); /* a write behind it may need no room */
    } else if (state == BCRI_SLOT_FAILED)
        bcri_store(&request->word,
                   bcri_slot_word(BCRI_SLOT_LIVE, 0, bcri_slot_region(bcri_load(&request->word))));
    if (there)
        bcri_area_unlock(ctx, &place);
    bcri_journal_close(ctx);
    if (state == BCRI_SLOT_PUTDONE) {
        bcri_store(&request->word, 0);
        bcri_slot_give(ctx, request);
        return 0;
    }
    int error = state == BCRI_SLOT_FAILED ? (int)bcri_load(&request->given) : bcrE_FULL;
    bcri_slot_drop(ctx, request);
    return error;
}

/* For how many more puts there is room, as far as that can be seen without a lock. */
static uint64_t room_seen(const struct bcri_place *place)
{
    uint64_t head = bcri_load_acquire(&place->cell->h.head);
    uint64_t tail = bcri_load(&place->cell->t.tail);
    uint64_t credits = bcri_load(&place->cell->t.credits);
    uint64_t most = credits < place->mask + 1 ? credits : place->mask + 1;
    if (head > tail)
        return head - tail;
    return tail - head < most ? most - (tail - head) : 0;
}

/* Looks for a while whether a taker makes room: for some puts at once, since whoever fills each place as it becomes free
 * carries the takers' line back and forth with every put. */
static bool spin_for_room(const struct bcri_ctx *ctx, const struct bcri_place *place)
{
    uint64_t credits = bcri_load(&place->cell->t.credits);
    uint64_t wanted = credits / 2 < ROOM_AT_ONCE ? credits / 2 + 1 : ROOM_AT_ONCE;
    if (ctx->cpus < 2 || place->area->nrgns == 0)
        return false;
    for (int turn = 0; turn < SPIN_FOR_ROOM && bcri_load(&place->area->waitputs) == 0; turn++) {
        if (bcri_enters(ctx))
            return false;
        if (turn % LOOK_EVERY == 0 && room_seen(place) >= wanted)
            return true;
        bcri_cpu_pause();
    }
    return room_seen(place) != 0;
}

static int wait_for_room(struct bcri_ctx *ctx, bool write, bcri_ref region, struct bcri_slot_shm *slot,
                         struct bcri_place *place, bool nofree, uint64_t deadline_ns)
{
    struct bcri_slot_shm *request = NULL;
    int error = bcri_putwait_begin(ctx, write, region, place, &request);
    if (error == BCRI_WAITS)
        error = bcri_putwait_end(ctx, request, deadline_ns);
    const bool held = bcri_slot_holds(slot, region);
    if (error == 0 && !nofree && held)
        bcri_slot_drop(ctx, slot);
    return error == BCRI_STALE && !held ? bcrE_RGID : error;
}

/* For a put that does not wait: whether a credit that another cell of the area does not use was put into the pool. Room is
 * for the puts that wait, if any do. */
static bool gather_now(struct bcri_ctx *ctx, struct bcri_place *place)
{
    bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    bcri_area_lock(ctx, place);
    bool found = bcri_load(&place->area->waitputs) == 0 && gather(ctx, place, true);
    bcri_area_unlock(ctx, place);
    bcri_journal_close(ctx);
    return found;
}

int bcri_put(struct bcri_ctx *ctx, bool write, struct bcri_slot_shm *slot, struct bcri_place *place,
             bool nofree, uint64_t deadline_ns)
{
    bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    const bool waits = !place->own && deadline_ns != BCRI_DEADLINE_PASSED;
    int spins = waits ? SPINS_FOR_ROOM : 0;
    for (;;) {
        int error = bcri_put_fast(ctx, place, region, slot, write, nofree);
        if (error == BCRI_NO_ROOM && spins-- > 0 && spin_for_room(ctx, place))
            continue;
        if (error == BCRI_GO_SLOW || error == BCRI_NO_ROOM)
            error = bcri_put_slow(ctx, place, write, region, slot, nofree, deadline_ns);
        if (bcri_likely(error == 0))
            return 0;
        if (error == BCRI_NO_ROOM && !waits) {
            if (gather_now(ctx, place))
                continue;
            return bcrE_FULL;
        }
        if (error == BCRI_NO_ROOM)
            error = wait_for_room(ctx, write, region, slot, place, nofree, deadline_ns);
        if (error != BCRI_STALE)
            return error;
        int cce = place->cce;
        int number = place->number;
        bcri_place_forget(ctx, place);
        error = bcri_place_find(ctx, cce, number, &place);
        if (error != 0)
            return error;
    }
}
