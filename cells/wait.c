/* SPDX-License-Identifier: MIT */
/* Waiting for requests: spin, yield, sleep.
 *
 * How long a waiter spins depends on where the last answer came from. A putter on the same
 * processor cannot run while the waiter spins, so the waiter yields at once. A putter on another
 * processor answers within a microsecond or takes long, and waking a sleeper there costs tens of
 * microseconds. After spinning come yields, each of which costs a microsecond if another thread is
 * runnable; then the bell. Source: docs/adr/0002-waiting.md. */
#include "bcri/wait.h"

#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/hooks.h"
#include "bcri/wait_loop.h"
#include "bcri/waiters.h"
#include "bcri/wakes.h"

struct waiting {
    struct bcri_ctx *ctx;
    struct bcri_slot_shm **slots;
    int count;
    bool by_wakes;           /* bcr_wake ends the wait, too */
    struct bcri_watch watch; /* of the only request, if count is 1 */
};

/* One load, as long as there is no wake that nobody has got. */
static int look_at_wakes(void *arg)
{
    const struct waiting *const waiting = arg;
    return waiting->by_wakes && bcri_unlikely(bcri_wakes_any(waiting->ctx)) &&
                   bcri_wake_due(waiting->ctx, waiting->slots, waiting->count) != NULL
               ? BCRI_WOKEN
               : BCRI_NOT_YET;
}

/* The lowest index of a request that is ready. */
static int look_at_all(void *arg)
{
    const struct waiting *const waiting = arg;
    for (int i = 0; i < waiting->count; i++)
        if (bcri_request_ready(waiting->ctx, waiting->slots[i]))
            return i;
    return look_at_wakes(arg);
}

/* The most frequent wait, for one request: in most turns it looks at one line only. */
static int look_at_one(void *arg)
{
    struct waiting *const waiting = arg;
    if (!bcri_watch_hit(&waiting->watch))
        return BCRI_NOT_YET;
    const int ready = look_at_all(arg);
    if (ready < 0) /* the request was moved to the cell's list */
        bcri_request_watch(waiting->ctx, waiting->slots[0], &waiting->watch);
    return ready;
}

/* Model: bell.pml, wakefd.pml */
static int sleep_until_rung(void *arg, uint64_t deadline_ns)
{
    struct waiting *const waiting = arg;
    struct bcri_ctx *const ctx = waiting->ctx;
    struct bcri_bell_shm *const bell = ctx->bell;
    const uint32_t seen = bcri_load_acquire(&bell->bell);
    int ready = BCRI_NOT_YET;
    bcri_sleep_note(ctx, waiting->slots[0], waiting->count, deadline_ns);
    /* From here on a ring ends the sleep. */
    const uint32_t before = bcri_load(&bell->sleeping);
    atomic_store_explicit(&bell->sleeping, BCRI_SLEEPS_ON_FUTEX, memory_order_seq_cst);
    for (int i = 0; i < waiting->count && ready < 0; i++)
        if (!bcri_request_sleep_flag(ctx, waiting->slots[i]))
            ready = i;
    atomic_thread_fence(memory_order_seq_cst);
    if (ready == BCRI_NOT_YET)
        ready = look_at_all(arg);
    if (ready == BCRI_NOT_YET) {
        bcri_sleep_rests(ctx, seen);
        bcri_futex_wait(&bell->bell, seen, deadline_ns);
    }
    bcri_bell_awake(ctx, before);
    return ready;
}

/* `tired`: the waiter has spun and yielded already. */
static int wait_for_any(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns,
                        bool tired, bool by_wakes)
{
    struct waiting waiting = {.ctx = ctx,
                              .slots = slots,
                              .count = count,
                              .by_wakes = by_wakes && deadline_ns != BCRI_DEADLINE_PASSED};
    const int ready = look_at_all(&waiting);
    if (ready != BCRI_NOT_YET || bcri_wait_is_over(deadline_ns))
        return ready;
    const int spins = bcri_spin_turns(ctx);
    struct bcri_wait_loop loop = {.spins = tired ? 0 : spins / count,
                                  .yields = tired ? 0 : bcri_yield_turns(ctx, spins),
                                  .deadline_ns = deadline_ns,
                                  .look = look_at_all,
                                  .sleep = sleep_until_rung};
    if (count != 1)
        return bcri_wait_loop(loop, &waiting);
    bcri_request_watch(ctx, slots[0], &waiting.watch);
    loop.look = look_at_one;
    loop.look_around = look_at_wakes;
    return bcri_wait_loop(loop, &waiting);
}

int bcri_wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    if (bcri_unlikely(ctx->hooks != NULL))
        return ctx->hooks->wait(ctx, slots, count, deadline_ns);
    return wait_for_any(ctx, slots, count, deadline_ns, false, true);
}

void bcri_wait_complete(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    (void)wait_for_any(ctx, &slot, 1, BCRI_DEADLINE_NEVER, false, false);
}

int bcri_wait_asleep(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    return wait_for_any(ctx, slots, count, deadline_ns, true, true);
}
