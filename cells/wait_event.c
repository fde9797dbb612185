/* SPDX-License-Identifier: MIT */
/* Waiting for an event, of which the thread that makes it happen rings this CCE's bell: room in the comm heap, an answer of the
 * daemon's. */
#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/hooks.h"
#include "bcri/wait.h"
#include "bcri/wait_loop.h"

struct alone {
    struct bcri_ctx *ctx;
    const struct bcri_event *event;
    uint32_t seen; /* the bell before the event was looked at */
};
enum { RUNG };

static int look_at_bell(void *arg)
{
    const struct alone *const alone = arg;
    return bcri_load_acquire(&alone->ctx->bell->bell) != alone->seen ? RUNG : BCRI_NOT_YET;
}

/* Model: bell.pml */
static int sleep_until_rung(void *arg, uint64_t deadline_ns)
{
    const struct alone *const alone = arg;
    struct bcri_bell_shm *const bell = alone->ctx->bell;
    bcri_sleep_note(alone->ctx, NULL, alone->event->note, deadline_ns);
    const uint32_t before = bcri_load(&bell->sleeping);
    atomic_store_explicit(&bell->sleeping, BCRI_SLEEPS_ON_FUTEX, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    if (bcri_load_acquire(&bell->bell) == alone->seen) {
        bcri_sleep_rests(alone->ctx, alone->seen);
        bcri_futex_wait(&bell->bell, alone->seen, deadline_ns);
    }
    bcri_bell_awake(alone->ctx, before);
    return look_at_bell(arg);
}

bool bcri_wait_event(struct bcri_ctx *ctx, struct bcri_event *event, uint64_t deadline_ns)
{
    if (ctx->hooks != NULL)
        return ctx->hooks->wait_for(ctx, event, deadline_ns);
    struct alone alone = {.ctx = ctx, .event = event};
    const struct bcri_wait_loop loop = {.spins = bcri_spin_turns(ctx),
                                        .yields = BCRI_YIELDS,
                                        .deadline_ns = deadline_ns,
                                        .look = look_at_bell,
                                        .sleep = sleep_until_rung};
    do {
        alone.seen = bcri_load_acquire(&ctx->bell->bell);
        if (event->happened(event))
            return true;
    } while (bcri_wait_loop(loop, &alone) == RUNG);
    return false;
}
