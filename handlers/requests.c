/* SPDX-License-Identifier: MIT */
/* Requests of handlers, as the owner of the cells sees them: how many each cell has counted since the
 * last look (handler_request.h). What is new goes to the run queue. */
#include "bcri/atomics.h"
#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/handler_request.h"
#include "bcri/wakefd.h"
#include "bcri/wakes.h"
#include "scheduler_private.h"

/* The bound of a valid count: counts never go back, and no owner computes for so long that this
 * many requests come before it looks. */
#define AHEAD_MOST (UINT64_C(1) << 40)
/* If a notice is further ahead than this, the cell's own count is read. */
#define AHEAD_TOLD (UINT32_C(1) << 20)

/* The handler's cell has counted `count` requests so far. */
static inline void see_count(struct bcri_scheduler *s, struct bcri_handler *handler, uint64_t count)
{
    const uint64_t ahead = count - handler->seen;
    if (ahead == 0)
        return;
    handler->seen = count;
    if (bcri_unlikely(ahead >= AHEAD_MOST))
        bcri_corrupt_at(s->ctx, "the count of a cell's requests", handler->counter);
    else
        bcri_run_queue_request(&s->queue, &handler->requested, ahead);
}

static void see_counter(struct bcri_handler *handler, void *sched)
{
    see_count(sched, handler, bcri_load_acquire(handler->counter));
}

void bcri_sched_see_wakes(struct bcri_scheduler *s, struct bcri_handler *handler, uint64_t wakes)
{
    if (wakes != 0)
        bcri_run_queue_request(&s->queue, &handler->requested, wakes);
}

/* A bit tells of requests at the cell, or of wakes. */
static void see_both(struct bcri_handler *handler, void *sched)
{
    struct bcri_scheduler *const s = sched;
    see_counter(handler, s);
    bcri_sched_see_wakes(s, handler, bcri_wake_take_all(s->ctx, handler->cell));
}

static void see_bits(struct bcri_scheduler *s)
{
    for (uint32_t word = 0; word < BCRI_REQUEST_WORDS; word++)
        for (uint64_t bits = bcri_requests_take_bits(s->ctx, word); bits != 0; bits &= bits - 1)
            bcri_registry_under_bit(&s->registry, word * 64 + (uint32_t)__builtin_ctzll(bits), see_both, s);
}

/* A notice about a cell may be older than what is known; then its count is not ahead. */
void bcri_sched_take_requests(struct bcri_scheduler *s)
{
    const struct bcri_news news = bcri_requests_take(s->ctx);
    struct bcri_handler *handler =
        bcri_likely(news.number >= 0) ? bcri_registry_find(&s->registry, news.number) : NULL;
    if (bcri_likely(handler != NULL)) {
        const uint32_t ahead = news.count - (uint32_t)handler->seen;
        if (bcri_likely(ahead < AHEAD_TOLD))
            see_count(s, handler, handler->seen + ahead);
        else if ((int32_t)ahead > 0)
            see_counter(handler, s);
    }
    if (news.look)
        see_bits(s);
}

void bcri_sched_requested(struct bcri_ctx *ctx, uint32_t number, uint64_t count)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    const struct bcri_invocation *self = s->current;
    struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)number);
    if (bcri_unlikely(handler == NULL))
        return;
    see_count(s, handler, count);
    bcri_wakefd_changed(ctx);
    if (handler->activep > self->activep || (handler->activep == self->activep && is_main(self)))
        ctx->handlers.due = true;
}
