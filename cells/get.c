/* SPDX-License-Identifier: MIT */
/* bcr_get, bcr_acqrl, bcr_acqwl, in two tiers (tiers.h). bcr.h is their manual.
 *
 * The fast tier, get_fast, takes or reads the region at the head of an open cell, also of one whose
 * watermark is for additions. Like put_fast it calls no function. The resume tier does all the
 * rest: an attempt under the head lock, both locks, waiting. Below, what both store under the head
 * lock comes first. It touches the head line, the first entry, and no other line of the cell.
 *
 * Journal: TAKE; cell, slot, then under H region and ticket.
 *   phase 0   Nothing has happened yet. The taker may hold H.
 *   phase 1   The taker is about to take `ticket`: head = ticket + 1, slot word = LIVE. The take is
 *             done if and only if the slot is LIVE. If it is not, repair puts the region back in
 *             front; it must not lower head, since the limit of put.c relies on it.
 *   phase 4   The taker is about to wait by `ticket`: slot, waiter[], head = ticket + 1. Repair
 *             undoes this while the dead taker has H; once H is released, the slot's own state
 *             (TICKET) says that it waits. (Phases 2 and 3 are bcri_get_slow's: done, listed.)
 *   Flag beside the phase: LOCKS, a write lock; if the take is done, repair makes sure that the
 *   lock owner is stored (take_epoch).
 *   Flag REQUESTS (of READ, too): the get meets the cell's watermark; `old` is the cell's count of
 *   requests before it. The request is due with phase 0 as soon as the flag is set, since the get
 *   has found nothing; with phase 4 likewise, since it has begun to wait; with phase 1 if the get
 *   is done. While the dead getter still has the head lock, repair counts the request if it is not
 *   counted, tells the owner and rings it (handler_request.h).
 * READ; the same fields.
 *   phase 1   The reader is about to count one more holder (cw_*), then to set slot word = LIVE. If
 *             the holder is counted and the slot is not LIVE, repair makes it LIVE, and the walk
 *             over the dead reader's IDs drops the hold.
 *   Flag SOLE: the cell alone held the region. Then nobody else changes the count while H is held,
 *   the new count is 2, and it needs no count journal: if the slot is not LIVE and the dead reader
 *   still has H, repair stores the count (again) and makes the slot LIVE. */
#include <bcr.h>

#include "bcri/access.h"
#include "bcri/get.h"

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/handler_request.h"
#include "bcri/hooks.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/own.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/region.h"
#include "bcri/result.h"
#include "bcri/self.h"
#include "bcri/service.h"
#include "bcri/slot.h"
#include "bcri/tiers.h"
#include "bcri/trace.h"
#include "bcri/tx.h"
#include "bcri/wait.h"
#include "bcri/wait_lists.h"
#include "bcri/waiters.h"
#include "bcri/write_lock.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm

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

/* ---- What a get stores under the head lock ---- */

BCRI_INLINE void make_live(struct bcri_slot_shm *slot, bcri_ref region, const struct bcri_region_shm *header)
{
    /* bcri_header_data without a look at the segment: the header lies in the same one. */
    bcri_store(&slot->data,
               (uintptr_t)header + (uintptr_t)((uint64_t)header->data_16 * 16 - bcri_ref_offset(region)));
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_step();
}

/* A taker that takes the first region of a line of entries will probably take the others, too. It
 * prefetches their headers. */
BCRI_INLINE bool is_first_of_line(uint64_t ticket)
{
    return bcri_unlikely(ticket % (BCRI_CACHELINE / sizeof(uint64_t)) == 0);
}

BCRI_INLINE void look_ahead(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved, uint64_t ticket)
{
    const uint64_t per_line = BCRI_CACHELINE / sizeof(uint64_t);
    if (!is_first_of_line(ticket))
        return;
    const _Atomic uint64_t *entry = bcri_ring_at(resolved, ticket);
    const uint64_t lap = bcri_lap(ticket, resolved->ring_log2);
    for (unsigned i = 1; i < per_line; i++) {
        uint64_t next = bcri_load(&entry[i]);
        const struct bcri_mapping *map = &ctx->map[bcri_ref_seg(next)];
        if (bcri_entry_lap(next) != lap)
            break;
        if (bcri_likely((uint32_t)next < map->units))
            bcri_prefetch_write(map->base + bcri_ref_offset(next));
    }
}

/* Model: cell.inc */
BCRI_INLINE void take_entry(struct bcri_ctx *ctx, struct bcri_cell_shm *cell, enum bcri_want want,
                            uint64_t ticket, bcri_ref region, const struct bcri_region_shm *header,
                            struct bcri_slot_shm *slot, uint32_t flags)
{
    struct bcri_head_shm *const h = &cell->h;
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->region, region);
    bcri_store(&j->ticket, ticket);
    uint32_t epoch = 0;
    if (want == BCRI_WANT_LOCK) {
        epoch = bcri_epoch_taking(cell, ticket);
        bcri_store(&j->take_epoch, epoch);
        bcri_note_locks(ctx);
    }
    bcri_step();
    bcri_store(&j->phase, (want == BCRI_WANT_LOCK ? 1 | BCRI_PHASE_LOCKS : 1) | flags);
    bcri_step();
    bcri_store_release(&h->head, ticket + 1);
    bcri_step();
    make_live(slot, region, header);
    if (want == BCRI_WANT_LOCK) {
        /* No CCE has taken a region that was put later, so no lock owner is newer than this. */
        bcri_store(&h->taker_epoch, epoch);
        bcri_store(&h->taker, ctx->tag);
    }
}

/* Model: cell.inc, count.pml */
BCRI_INLINE void read_alone(struct bcri_ctx *ctx, bcri_ref region, struct bcri_region_shm *header,
                            struct bcri_slot_shm *slot)
{
    struct bcri_journal_shm *j = ctx->journal;
    bcri_store(&j->region, region);
    bcri_step();
    bcri_store(&j->phase, 1 | BCRI_PHASE_SOLE);
    bcri_step();
    bcri_store(&header->count, BCRI_COUNT_WORD(2, 0));
    bcri_step();
    make_live(slot, region, header);
}

/* Opens the journal of a get.
 * Model: death.pml */
BCRI_INLINE void get_open(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, enum bcri_want want,
                          bcri_ref slot_ref)
{
    struct bcri_journal_shm *const j = ctx->journal;
    bcri_store(&j->cell, resolved->ref);
    bcri_store(&j->slot, slot_ref);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(want == BCRI_WANT_READ ? BCRI_OP_READ : BCRI_OP_TAKE, 0));
    bcri_step();
}

/* ---- The resume tier: an attempt under the head lock ---- */

/* Model: cell.inc */
static enum bcri_attempt read_shared(struct bcri_ctx *ctx, uint64_t ticket, bcri_ref region,
                                     const struct bcri_region_shm *header, struct bcri_slot_shm *slot)
{
    bcri_store(&ctx->journal->region, region);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 1);
    const int error = bcri_region_hold(ctx, region, 1);
    if (bcri_unlikely(error != 0))
        return error == bcrE_TIMEOUT ? BCRI_TRY_TIME_UP : BCRI_TRY_NO_MEMORY;
    make_live(slot, region, header);
    bcri_count_committed(ctx);
    return BCRI_TRY_DONE;
}

/* Model: cell.inc */
static enum bcri_attempt wait_by_ticket(struct bcri_ctx *ctx, const struct bcri_get *get, uint64_t ticket,
                                        uint32_t flags)
{
    const struct bcri_resolved *const resolved = get->resolved;
    struct bcri_head_shm *const h = &resolved->cell->h;
    struct bcri_slot_shm *const slot = get->slot;
    if (bcri_load(&h->waiter[ticket % BCRI_TICKETS]) != 0)
        return BCRI_TRY_BOTH_LOCKS;
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 4 | flags);
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->key, ticket);
    /* Which cell, and the epoch that the put of this ticket will make: a slow put would move the
     * request to the list first. */
    bcri_store(&slot->prev, resolved->open | ((uint32_t)ticket + 1 + bcri_load(&resolved->cell->c.direct)));
    bcri_store(&slot->kind, bcri_request_kind(ctx, get->want));
    bcri_store(&slot->data, 0);
    bcri_step();
    bcri_store(&slot->word, bcri_slot_word(BCRI_SLOT_TICKET, 0, 0));
    bcri_step();
    bcri_store(&h->waiter[ticket % BCRI_TICKETS], (ticket & 0xffffu) << 48 | get->slot_ref);
    bcri_step();
    bcri_store_release(&h->head, ticket + 1);
    bcri_step();
    return BCRI_TRY_WAITS;
}

/* Whether the entry of `ticket` is full. */
static bool is_full(const struct bcri_resolved *resolved, uint64_t ticket, uint64_t *entry_out)
{
    *entry_out = bcri_load_acquire(bcri_ring_at(resolved, ticket));
    return bcri_entry_is(*entry_out, ticket, resolved->ring_log2);
}

static enum bcri_attempt get_full(struct bcri_ctx *ctx, const struct bcri_get *get, uint64_t ticket,
                                  uint64_t entry, uint32_t flags)
{
    const enum bcri_want want = get->want;
    const bcri_ref region = entry & BCRI_REF_MASK;
    struct bcri_region_shm *const header = bcri_at(ctx, region);
    /* A taker will change the region's count or its data: claim the line at once, not first for
     * reading. */
    if (want != BCRI_WANT_READ)
        bcri_prefetch_write(header);
    if (bcri_unlikely(header == NULL))
        return BCRI_TRY_NO_MEMORY;
    if (bcri_unlikely(bcri_lacks_copy(ctx, want, header)))
        return BCRI_TRY_BOTH_LOCKS; /* which fails, and says why */
    if (want == BCRI_WANT_READ && bcri_load_acquire(&header->count) != BCRI_COUNT_ONE)
        return read_shared(ctx, ticket, region, header, get->slot);
    if (want == BCRI_WANT_READ) {
        read_alone(ctx, region, header, get->slot);
    } else {
        look_ahead(ctx, get->resolved, ticket);
        take_entry(ctx, get->resolved->cell, want, ticket, region, header, get->slot, flags);
    }
    return BCRI_TRY_DONE;
}

/* `flags`: to be set beside the journal phase.
 * Model: ticket.pml */
static enum bcri_attempt get_at_head(struct bcri_ctx *ctx, const struct bcri_get *get, uint32_t flags)
{
    const struct bcri_resolved *const resolved = get->resolved;
    const uint64_t ticket = bcri_load(&resolved->cell->h.head);
    uint64_t entry;
    const bool full = is_full(resolved, ticket, &entry);
    const bool puts_wait = bcri_load_acquire(&resolved->area->waitputs) != 0;
    if (bcri_unlikely(puts_wait) && (!full || get->want != BCRI_WANT_READ))
        return BCRI_TRY_BOTH_LOCKS;
    if (full)
        return get_full(ctx, get, ticket, entry, flags);
    if (get->msec == 0)
        return BCRI_TRY_EMPTY;
    return get->want == BCRI_WANT_READ ? BCRI_TRY_BOTH_LOCKS : wait_by_ticket(ctx, get, ticket, flags);
}

/* How many regions are queued, as far as that can be known without the tail lock: a put at this
 * moment may count as one that comes later. A put that has stored its entry and not yet moved the
 * tail counts. */
static uint64_t queued(const struct bcri_resolved *resolved)
{
    const uint64_t head = bcri_load(&resolved->cell->h.head);
    const uint64_t tail = bcri_load_acquire(&resolved->cell->t.tail);
    uint64_t entry;
    if (!is_full(resolved, head, &entry))
        return 0;
    return tail > head ? tail - head : 1;
}

/* Whether a get that met the watermark has requested the handler. A get that finds nothing in its
 * time has, too. A read that is done has not: it has found something after all. */
static bool has_requested(enum bcri_want want, enum bcri_attempt result)
{
    return (result == BCRI_TRY_DONE && want != BCRI_WANT_READ) || result == BCRI_TRY_WAITS ||
           result == BCRI_TRY_EMPTY;
}

/* Model: handler_request.pml */
static enum bcri_attempt get_and_request(struct bcri_ctx *ctx, const struct bcri_get *get)
{
    struct bcri_resolved *const resolved = get->resolved;
    struct bcri_tail_shm *const t = &resolved->cell->t;
    const uint64_t requests = bcri_load(&t->requests);
    bcri_prefetch_write(&resolved->record->requests.news);
    bcri_store(&ctx->journal->old, requests);
    const enum bcri_attempt result = get_at_head(ctx, get, BCRI_PHASE_REQUESTS);
    if (result == BCRI_TRY_EMPTY)
        bcri_journal_phase(ctx, BCRI_PHASE_REQUESTS);
    if (has_requested(get->want, result)) {
        bcri_store(&t->requests, requests + 1);
        bcri_step();
        bcri_requests_told(ctx, resolved, true);
    }
    return result;
}

/* In a cell whose watermark is HIGH, a get that has to wait takes both locks, so that a putter
 * there need not look whether a get waits by ticket (is_due in put.c). Gets that find something do
 * not touch the putters' line and go on as in an open cell; open_head lets the fast tier do the
 * next ones.
 * Model: ticket.pml */
static enum bcri_attempt get_under_head(struct bcri_ctx *ctx, const struct bcri_get *get)
{
    struct bcri_resolved *const resolved = get->resolved;
    const uint64_t state = bcri_load(&resolved->cell->h.state);
    uint64_t entry;
    if (bcri_unlikely(state != resolved->open_head) && (state & ~(uint64_t)BCRI_CELL_HIGH) == resolved->open)
        resolved->open_head = state;
    if (bcri_likely(state == resolved->open))
        return get_at_head(ctx, get, 0);
    if (state == (resolved->open | BCRI_CELL_HIGH))
        return get->msec == 0 || is_full(resolved, bcri_load(&resolved->cell->h.head), &entry)
                   ? get_at_head(ctx, get, 0)
                   : BCRI_TRY_BOTH_LOCKS;
    if (state != (resolved->open | BCRI_CELL_LOW))
        return bcri_why_not_open(resolved, state);
    return bcri_get_requests(resolved, queued(resolved), get->want != BCRI_WANT_READ)
               ? get_and_request(ctx, get)
               : get_at_head(ctx, get, 0);
}

/* Model: death.pml */
enum bcri_attempt bcri_get_attempt(struct bcri_ctx *ctx, const struct bcri_get *get, enum bcri_held held)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): bcri_unreachable never returns 0 */
    struct bcri_head_shm *const h = &get->resolved->cell->h;
    if (held == BCRI_HOLDS_NOTHING)
        get_open(ctx, get->resolved, get->want, get->slot_ref);
    if (held != BCRI_HOLDS_LOCK && bcri_unlikely(!bcri_lock_within(ctx, &h->lock, get->msec))) {
        bcri_journal_close(ctx);
        return BCRI_TRY_TIME_UP;
    }
    const enum bcri_attempt result = get_under_head(ctx, get);
    if (bcri_unlikely(result == BCRI_TRY_STALE))
        bcri_unlock_stale(ctx, &h->lock);
    else
        bcri_unlock(ctx, &h->lock);
    bcri_journal_close(ctx);
    return result;
}

/* ---- The resume tier: under both locks ----
 * The transaction that does the get sets phase 2, so the get is done if and only if the phase is 2
 * after the daemon has repaired the redo log. Phase 3: the request is in the list. */

/* Takes or reads the first region of the queue.
 * Model: death.pml */
static int get_queued(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                      bcri_ref region, enum bcri_source from, struct bcri_slot_shm *slot, bool due)
{
    const int error = bcri_take_allowed(ctx, want, region);
    if (error != 0)
        return error;
    bool leaf = want != BCRI_WANT_READ && (from == BCRI_FROM_FRONT || from == BCRI_FROM_BACK);
    bcri_ref slot_ref = bcri_slot_ref(ctx, slot);
    bcri_store(&slot->data, bcri_region_data(ctx, region));
    if (leaf)
        bcri_leaf_lock(ctx, resolved);
    uint32_t count = 0;
    if (want == BCRI_WANT_READ && bcri_unlikely(!bcri_count_try(ctx, region, &count)))
        return bcrE_TIMEOUT; /* the context parks; a read takes no leaf lock */
    bcri_tx_begin(ctx);
    if (want == BCRI_WANT_READ)
        bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count + 1);
    else
        bcri_tx_unqueue(ctx, resolved, from);
    if (want == BCRI_WANT_LOCK) {
        BCRI_TX32(ctx, resolved->ref, CELL, h.taker, ctx->tag);
        BCRI_TX64(ctx, resolved->ref, CELL, h.taker_epoch, bcri_epoch(resolved->cell));
    }
    BCRI_TX64(ctx, slot_ref, SLOT, word, bcri_slot_word(BCRI_SLOT_LIVE, 0, region));
    bcri_tx_phase(ctx, 2);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    if (want == BCRI_WANT_READ)
        bcri_count_committed(ctx);
    if (leaf)
        bcri_leaf_unlock(ctx, resolved);
    return 0;
}

/* Model: death.pml */
static int join_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                     struct bcri_slot_shm *slot, bool due)
{
    bcri_ref slot_ref = bcri_slot_ref(ctx, slot);
    bcri_ref last = bcri_load(&resolved->cell->c.list_last);
    if (last != BCRI_REF_NONE && bcri_at(ctx, last) == NULL)
        return bcrE_NOMEM;
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->kind, bcri_request_kind(ctx, want));
    bcri_store(&slot->data, 0);
    bcri_tx_begin(ctx);
    bcri_tx_list(ctx, resolved, slot_ref, last, want);
    bcri_tx_flags(ctx, resolved, (uint32_t)bcri_load(&resolved->cell->h.state) | BCRI_CELL_SLOW);
    bcri_tx_phase(ctx, 3);
    bcri_tx_request(ctx, resolved, due);
    bcri_tx_commit(ctx);
    return BCRI_WAITS;
}

/* A get that ends without a region has requested the handler all the same. */
static int find_nothing(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due)
{
    if (due) {
        bcri_tx_begin(ctx);
        bcri_tx_request(ctx, resolved, due);
        bcri_tx_commit(ctx);
    }
    return bcrE_TIMEOUT;
}

static int get_now(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want, bool wait,
                   bool area, struct bcri_slot_shm *slot, bool due)
{
    enum bcri_source from;
    bcri_ref region = bcri_queue_first(ctx, resolved, &from);
    if (region != 0)
        return get_queued(ctx, resolved, want, region, from, slot, due);
    if (area && bcri_load(&resolved->cell->c.list_first) == 0) {
        int error = bcri_putwait_take(ctx, resolved, want, slot, due);
        if (error != bcrE_TIMEOUT)
            return error;
    }
    return wait ? join_list(ctx, resolved, want, slot, due) : find_nothing(ctx, resolved, due);
}

static int get_under_locks(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                           bool wait, bool area, struct bcri_slot_shm *slot)
{
    if ((bcri_load(&resolved->cell->h.state) & BCRI_CELL_OWNERDEAD) != 0)
        return bcrE_OWNERDEAD;
    const bool due = bcri_get_requests(resolved, bcri_queue_length(resolved), want != BCRI_WANT_READ);
    int error = get_now(ctx, resolved, want, wait, area, slot, due);
    bcri_requests_told(ctx, resolved, due && error != bcrE_NOMEM && error != bcrE_NBYTES);
    return error;
}

/* Model: putwait.pml */
int bcri_get_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want, int msec,
                  struct bcri_slot_shm *slot)
{
    const uint64_t deadline_ns = bcri_deadline_after(msec); /* for the locks */
    if (want == BCRI_WANT_LOCK)
        bcri_note_locks(ctx);
    bcri_journal_open(ctx, want == BCRI_WANT_READ ? BCRI_OP_READ : BCRI_OP_TAKE, resolved->ref, BCRI_REF_NONE,
                      bcri_slot_ref(ctx, slot));
    int error;
    bool area;
    for (;;) {
        /* If puts wait for room, the area's lock comes first. A put that begins to wait after this
         * look will see, when its putter looks at this cell, what this get leaves there. */
        area = bcri_load_acquire(&resolved->area->waitputs) != 0;
        if (area && !bcri_area_lock_until(ctx, resolved, deadline_ns)) {
            area = false;
            error = bcrE_TIMEOUT;
            break;
        }
        error = bcri_cell_enter_until(ctx, resolved, deadline_ns);
        if (error != 0 || area || bcri_load_acquire(&resolved->area->waitputs) == 0)
            break;
        bcri_cell_leave(ctx, resolved);
    }
    if (error == 0) {
        error = get_under_locks(ctx, resolved, want, msec != 0, area, slot);
        bcri_cell_leave(ctx, resolved);
    }
    if (area) {
        if (error == 0 && want != BCRI_WANT_READ)
            bcri_putwait_serve(ctx, resolved);
        else if (error == BCRI_WAITS)
            bcri_putwait_hand_over(ctx, resolved);
        bcri_area_unlock(ctx, resolved);
    }
    bcri_journal_close(ctx);
    return error;
}

/* ---- The resume tier: one after the other ---- */

static int look_up(struct bcri_ctx *ctx, struct bcri_get *get)
{
    struct bcri_resolved *resolved;
    const int error = bcri_resolved_find_within(ctx, get->key, get->msec, &resolved);
    if (bcri_unlikely(error != 0))
        return bcri_unreachable(error);
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
        int error = get->resolved == NULL ? look_up(ctx, get) : 0;
        if (error != 0)
            return error;
        switch (bcri_get_attempt(ctx, get, held)) {
        case BCRI_TRY_DONE: return 0;
        case BCRI_TRY_WAITS: return BCRI_WAITS;
        case BCRI_TRY_EMPTY:
        case BCRI_TRY_TIME_UP: return bcrE_TIMEOUT;
        case BCRI_TRY_NO_MEMORY: return bcrE_NOMEM;
        case BCRI_TRY_STALE: error = BCRI_STALE; break;
        default: error = bcri_get_slow(ctx, get->resolved, get->want, get->msec, get->slot);
        }
        if (error != BCRI_STALE)
            return error;
        bcri_resolved_forget(ctx, get->resolved);
        get->resolved = NULL;
    }
}

/* Waits until the request is served or time is up. 0: the slot is LIVE; else a code, and the slot
 * is free again. */
static int finish(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                  uint64_t deadline_ns)
{
    bool tired = false;
    if ((ctx->hooks == NULL || ctx->hooks->alone(ctx)) &&
        bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_TICKET) {
        int error = bcri_ticket_spin(ctx, resolved, slot, deadline_ns);
        if (bcri_likely(error != BCRI_WAITS))
            return error;
        tired = ctx->hooks == NULL && bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_TICKET;
    }
    for (;; tired = false) {
        int ready = tired ? bcri_wait_asleep(ctx, &slot, 1, deadline_ns)
                          : bcri_wait_ready(ctx, &slot, 1, deadline_ns);
        if (ready < 0 && bcri_request_withdraw(ctx, slot))
            return bcrE_TIMEOUT;
        int error = bcri_request_complete(ctx, slot);
        if (error != BCRI_WAITS)
            return error;
    }
}

static __attribute__((noinline)) bcr_region fail(struct bcri_ctx *ctx, int error)
{
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
static __attribute__((noinline)) bcr_region note(struct bcri_ctx *ctx, struct bcri_slot_shm *slot,
                                                 uint64_t key, enum bcri_want want, uint32_t owner)
{
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
    if (error == BCRI_WAITS) {
        if (get->msec == bcr_PENDING)
            return bcri_id_of(slot);
        bcri_counted(ctx, BCRI_COUNT_WAIT);
        error = finish(ctx, get->resolved, slot, bcri_deadline_after(get->msec));
        if (bcri_unlikely(error != 0))
            return fail(ctx, error);
    } else if (bcri_unlikely(error != 0)) {
        bcri_slot_give(ctx, slot);
        return fail(ctx, error);
    } else if (get->want == BCRI_WANT_LOCK) {
        bcri_store(&slot->cell, get->resolved->ref); /* in case bcri_request_own gives it back */
        bcri_store(&slot->prev, get->resolved->open);
    }
    if (get->want == BCRI_WANT_LOCK && (error = bcri_request_own(ctx, slot)) != 0)
        return fail(ctx, error);
    return note(ctx, slot, get->key, get->want, get->owner);
}

/* Gets from the start: nothing has been looked up yet. */
static __attribute__((noinline)) bcr_region get_anew(uint64_t key, int msec, enum kind kind)
{
    struct bcri_ctx *ctx = bcri_enter();
    if (bcri_unlikely(ctx == NULL))
        return NULL;
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (bcri_unlikely(slot == NULL))
        return fail(ctx, bcrE_NOMEM);
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
    return note(ctx, slot, resolved->key, wanted(kind), resolved->owner);
}

/* Fetches ahead after a get that is done. */
static __attribute__((noinline)) bcr_region get_look_ahead(const struct bcri_ctx *ctx,
                                                           const struct bcri_resolved *resolved,
                                                           struct bcri_slot_shm *slot, uint64_t ticket)
{
    look_ahead(ctx, resolved, ticket);
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
    if (bcri_unlikely(ctx == NULL || bcri_enters(ctx)))
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
        return note(ctx, slot, resolved->key, wanted(kind), resolved->owner);
    bcri_counted(ctx, counter_of(wanted(kind)));
    bcri_trace_write(ctx, seq, trace_of(wanted(kind)), 0, resolved->owner, (uint32_t)resolved->key,
                     header->length, region);
    if (kind == TAKE && is_first_of_line(ticket))
        return get_look_ahead(ctx, resolved, slot, ticket);
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
    return qlike != 0 ? get_taking(cce, cell, msec) : get_reading(cce, cell, msec);
}

bcr_region bcr_acqrl(bcr_cce_id cce, int cell, int msec)
{
    return get_fast(READ_LOCK, cce, cell, msec);
}

bcr_region bcr_acqwl(bcr_cce_id cce, int cell, int msec)
{
    return get_fast(WRITE_LOCK, cce, cell, msec);
}
