/* SPDX-License-Identifier: MIT */
/* Calling at a cell, and answering: called.h. */
#include "bcri/called.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/lock.h"
#include "bcri/putwait.h"
#include "bcri/slow.h"
#include "bcri/tx.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm

static void set_called(_Atomic uint64_t *state, uint64_t open)
{
    uint64_t was = bcri_load(state);
    /* The cell may be another's by now. */
    while (was >> 32 == open >> 32 && (was & BCRI_CELL_CALLED) == 0 &&
           !atomic_compare_exchange_weak_explicit(state, &was, was | BCRI_CELL_CALLED, memory_order_seq_cst,
                                                  memory_order_relaxed))
        continue;
}

void bcri_cell_mark_called(const struct bcri_place *place)
{
    set_called(&place->cell->t.state, place->open);
    bcri_step();
    set_called(&place->cell->h.state, place->open);
    bcri_step();
}

/* `held`: whether anybody has a lock, and so will look. */
static bool call(struct bcri_ctx *ctx, const struct bcri_place *place, bool *held_out)
{
    const CELL *cell = place->cell;
    if (ctx->full_fence)
        return false;
    bcri_cell_mark_called(place);
    for (;;) {
        uint32_t head = bcri_load(&cell->h.lock), tail = bcri_load(&cell->t.lock);
        if (head != 0)
            bcri_call_holder(ctx, head);
        if (tail != 0 && tail != head)
            bcri_call_holder(ctx, tail);
        if (!bcri_fence_everybody(ctx))
            return false;
        if (bcri_load(&cell->h.lock) == head && bcri_load(&cell->t.lock) == tail) {
            *held_out = (head | tail) != 0;
            return true;
        }
    }
}

bool bcri_cell_call(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    bool held;
    return call(ctx, place, &held);
}

bool bcri_request_marks(const struct bcri_place *place, const struct bcri_slot_shm *slot, uint32_t tag)
{
    const struct bcri_head_shm *h = &place->cell->h;
    return bcri_request_want(slot) == BCRI_WANT_LOCK && bcri_load(&h->taker) == tag &&
           (uint32_t)bcri_load(&h->taker_epoch) == (uint32_t)bcri_load(&slot->prev);
}

void bcri_request_end(struct bcri_ctx *ctx, struct bcri_place *place, struct bcri_slot_shm *slot,
                      bcri_ref slot_ref)
{
    bcri_tx_begin(ctx);
    bcri_tx_unlist(ctx, place, slot);
    BCRI_TX64(ctx, slot_ref, SLOT, word, 0);
    bcri_tx_commit(ctx);
}

/* A read has a hold of its own on a region that stays where it is, so it is not the last. */
static void end_served_read(struct bcri_ctx *ctx, struct bcri_place *place, const struct bcri_slot_shm *slot,
                            bcri_ref slot_ref)
{
    bcri_ref region = bcri_load(&slot->given);
    uint32_t count = bcri_count_lock(ctx, region);
    bcri_tx_begin(ctx);
    bcri_tx_add(ctx, BCRI_REDO_COUNT, region, offsetof(struct bcri_region_shm, count), count - 1);
    BCRI_TX64(ctx, place->ref, CELL, t.serving, 0);
    BCRI_TX64(ctx, slot_ref, SLOT, word, 0);
    bcri_tx_commit(ctx);
    bcri_count_settled(ctx);
}

void bcri_serving_done(struct bcri_ctx *ctx, struct bcri_place *place)
{
    _Atomic uint64_t *serving = &place->cell->t.serving;
    bcri_ref slot_ref = bcri_load(serving);
    SLOT *slot = slot_ref != BCRI_REF_NONE ? bcri_at(ctx, slot_ref) : NULL;
    if (slot != NULL) {
        uint64_t word = bcri_load_acquire(&slot->word);
        uint64_t failed = bcri_slot_word(BCRI_SLOT_FAILED, BCRI_SLOT_LEFT, BCRI_REF_NONE);
        if (word == failed)
            atomic_compare_exchange_strong_explicit(&slot->word, &failed, 0, memory_order_release,
                                                    memory_order_relaxed);
        else if (word == bcri_slot_word(BCRI_SLOT_SERVED, BCRI_SLOT_LEFT, place->ref) &&
                 bcri_request_want(slot) == BCRI_WANT_READ)
            end_served_read(ctx, place, slot, slot_ref);
        else if (word == bcri_slot_word(BCRI_SLOT_SERVED, BCRI_SLOT_LEFT, place->ref))
            /* It was the first of the queue a moment ago: nothing is before it, and no node is needed. */
            (void)bcri_queue_return(ctx, place, bcri_load(&slot->given), slot_ref);
    }
    bcri_step();
    bcri_store(serving, 0);
    bcri_step();
}

/* Decides that a ticket that was left and served will not be taken up again by its waiter. */
static bool end_ticket(struct bcri_slot_shm *slot)
{
    uint64_t left = bcri_slot_word(BCRI_SLOT_TICKET, BCRI_SLOT_LEFT, BCRI_REF_NONE);
    const uint64_t ending =
        bcri_slot_word(BCRI_SLOT_TICKET, BCRI_SLOT_LEFT | BCRI_SLOT_ENDING, BCRI_REF_NONE);
    return bcri_load_acquire(&slot->word) == ending ||
           atomic_compare_exchange_strong_explicit(&slot->word, &left, ending, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* The youngest served ticket that was left, or none. They go back to the head one after the other. */
static bcri_ref youngest_left(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    bcri_ref found = BCRI_REF_NONE;
    uint64_t youngest = 0;
    for (uint32_t i = 0; i < BCRI_TICKETS; i++) {
        bcri_ref ref = bcri_load_acquire(&place->cell->h.waiter[i]) & BCRI_REF_MASK;
        SLOT *slot = ref != BCRI_REF_NONE ? bcri_at(ctx, ref) : NULL;
        if (slot == NULL || !bcri_request_left(slot) || bcri_load(&slot->key) + 1 <= youngest ||
            !end_ticket(slot))
            continue;
        found = ref;
        youngest = bcri_load(&slot->key) + 1;
    }
    return found;
}

static void end_tickets(struct bcri_ctx *ctx, struct bcri_place *place)
{
    bcri_ref ref;
    while ((ref = youngest_left(ctx, place)) != BCRI_REF_NONE) {
        const SLOT *slot = bcri_at_sure(ctx, ref);
        bcri_ref region = bcri_load(&place->cell->ring[bcri_load(&slot->key) & place->mask]) & BCRI_REF_MASK;
        if (bcri_queue_return(ctx, place, region, ref) != 0)
            return; /* no memory for a node: it stays handed over until its CCE ends, or somebody calls again */
    }
}

static void ring_served(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    for (uint32_t i = 0; i < BCRI_TICKETS; i++) {
        bcri_ref ref = bcri_load_acquire(&place->cell->h.waiter[i]) & BCRI_REF_MASK;
        const SLOT *slot = ref != BCRI_REF_NONE ? bcri_at(ctx, ref) : NULL;
        if (slot != NULL)
            bcri_bell_ring_index(ctx, bcri_request_owner(slot), place->ref);
    }
}

static void end_listed(struct bcri_ctx *ctx, struct bcri_place *place)
{
    bcri_ref before = BCRI_REF_NONE, next;
    for (bcri_ref ref = bcri_load(&place->cell->c.list_first); ref != BCRI_REF_NONE; ref = next) {
        SLOT *slot = bcri_at(ctx, ref);
        if (slot == NULL || bcri_load(&slot->prev) != before) {
            ctx->damaged = true; /* it may go in circles */
            return;
        }
        next = bcri_load(&slot->next);
        if (bcri_request_left(slot))
            bcri_request_end(ctx, place, slot, ref);
        else
            before = ref;
    }
}

void bcri_cell_answer(struct bcri_ctx *ctx, struct bcri_place *place)
{
    CELL *cell = place->cell;
    /* First: who calls from now on, calls again. */
    atomic_fetch_and_explicit(&cell->h.state, ~(uint64_t)BCRI_CELL_CALLED, memory_order_seq_cst);
    bcri_step();
    atomic_fetch_and_explicit(&cell->t.state, ~(uint64_t)BCRI_CELL_CALLED, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    bcri_step();
    bcri_serving_done(ctx, place);
    end_tickets(ctx, place);
    ring_served(ctx, place);
    end_listed(ctx, place);
    /* Who called may have come to serve a put that waits, or to find room for one. */
    if (bcri_load_acquire(&place->area->waitputs) != 0)
        ctx->answered = true;
}

int bcri_cell_enter_or_call(struct bcri_ctx *ctx, struct bcri_place *place)
{
    for (;;) {
        int error = bcri_cell_try_enter(ctx, place, BCRI_DEADLINE_PASSED);
        bool held = true;
        if (error == bcrE_TIMEOUT && !call(ctx, place, &held))
            return bcri_cell_enter(ctx, place);
        if (error != bcrE_TIMEOUT || held)
            return error;
    }
}

void bcri_cell_visit(struct bcri_ctx *ctx, struct bcri_place *place)
{
    for (;;) {
        (void)bcri_called(ctx);
        if (!bcri_cell_is_called(place) || bcri_cell_enter_or_call(ctx, place) != 0)
            break; /* if it is called still, others look, or it has gone */
        bcri_cell_settle(ctx, place);
        bcri_unlock(ctx, &place->cell->t.lock);
        bcri_unlock(ctx, &place->cell->h.lock);
    }
    if (ctx->answered)
        bcri_area_visit(ctx, place);
}

void bcri_fast_called(struct bcri_ctx *ctx, struct bcri_place *place)
{
    /* In one store: the journal names the cell all the while, and the operation is done. */
    bcri_store(&ctx->journal->doing, bcri_doing(BCRI_OP_SLOW, 0));
    bcri_step();
    bcri_cell_visit(ctx, place);
    bcri_journal_close(ctx);
}
