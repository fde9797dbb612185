/* SPDX-License-Identifier: MIT */
/* The slow side of lock.h: spinning, yielding, sleeping on the holder. */
#include "bcri/lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/stopped.h"

/* Holders keep a lock for tens of nanoseconds unless they were preempted; then only a yield helps, and a holder that
 * is away for longer than all the yields is stopped, dead, or starved: sleep. */
enum { SPIN_TURNS = 400, YIELD_TURNS = 100 };

/* Whoever's time is up waits for a holder that runs, or wants to, and looks again so often whether it is stopped meanwhile. */
#define LOOK_AGAIN_NS (10 * BCRI_NS_PER_MS)

bool bcri_membarrier_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool bcri_fence_everybody(const struct bcri_ctx *ctx)
{
    long failed = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    atomic_thread_fence(memory_order_seq_cst);
    return failed == 0 && !ctx->full_fence;
}

void bcri_unlock_wake(struct bcri_ctx *ctx)
{
    if (ctx->full_fence)
        atomic_thread_fence(memory_order_seq_cst);
    if (bcri_load(&ctx->bell->lock_sleepers) == 0)
        return;
    atomic_store_explicit(&ctx->bell->lock_sleepers, 0, memory_order_seq_cst);
    atomic_fetch_add_explicit(&ctx->bell->lock_event, 1, memory_order_seq_cst);
    bcri_futex_wake(&ctx->bell->lock_event, INT32_MAX);
}

/* enl only: whoever holds what a repair waits for may itself wait for a lock of another dead one. So before it sleeps, enl
 * repairs the journal of any CCE that is dying. False: there is none. */
static bool repaired_one(struct bcri_ctx *ctx)
{
    uint32_t count = bcri_host_records(ctx->host);
    for (uint32_t index = 0; index < count; index++) {
        struct bcri_record_shm *record = bcri_record(ctx, index);
        if (record != NULL && bcri_load_acquire(&record->id.state) == BCRI_CCE_DYING &&
            bcri_load_acquire(&record->journal.op) != 0 && ctx->holder_died(ctx, index))
            return true;
    }
    return false;
}

static void wait_on(struct bcri_ctx *ctx, _Atomic uint32_t *word, uint32_t expected, uint64_t until_ns)
{
    if (ctx->wait_aside != NULL)
        ctx->wait_aside(ctx, word, expected, until_ns);
    else
        bcri_futex_wait(word, expected, until_ns);
}

/* Sleeps until lock_event of the holder is not `event` any more, or until then. Once in it, when it has become long,
 * somebody is told. */
static void sleep_until_event(struct bcri_ctx *ctx, uint32_t holder, _Atomic uint32_t *lock_event,
                              uint32_t event, uint64_t until_ns)
{
    uint64_t told_ns = ctx->holder_stays != NULL ? bcri_clock_ns() + BCRI_NS_PER_S : UINT64_MAX;
    if (told_ns < until_ns) {
        wait_on(ctx, lock_event, event, told_ns);
        if (bcri_load_acquire(lock_event) != event || bcri_clock_ns() < told_ns)
            return;
        ctx->holder_stays(ctx, holder - 1);
    }
    wait_on(ctx, lock_event, event, until_ns);
}

/* Whoever of this context has begun to wait last and waits still, for those who ask on whom it waits. */
static void go_aside(struct bcri_ctx *ctx, struct bcri_aside *aside)
{
    aside->next = ctx->asides;
    ctx->asides = aside;
    bcri_store(&ctx->bell->waits_on, aside->holder);
}
static void come_back(struct bcri_ctx *ctx, const struct bcri_aside *aside)
{
    struct bcri_aside **at = &ctx->asides;
    while (*at != aside)
        at = &(*at)->next;
    *at = aside->next;
    uint32_t holder = ctx->asides != NULL ? ctx->asides->holder : 0;
    bcri_store(&ctx->bell->waits_on, holder);
    if (ctx->holder_died != NULL)
        bcri_store(&ctx->host->enl_waits_on, holder);
}

static void sleep_on_holder(struct bcri_ctx *ctx, uint32_t holder,
                            bool (*held)(const void *arg, uint32_t holder), const void *arg,
                            uint64_t until_ns)
{
    struct bcri_record_shm *record = bcri_record(ctx, holder - 1);
    if (record == NULL) {
        sched_yield();
        return;
    }
    uint32_t event = bcri_load_acquire(&record->bell.lock_event);
    if (ctx->holder_died != NULL) {
        /* Whoever learns of a death stores DYING and then looks here: either we see it, or it wakes us. So does who has
         * something for `meanwhile` (bcri_repair_wake). */
        atomic_store_explicit(&ctx->host->enl_waits_on, holder, memory_order_seq_cst);
        if (repaired_one(ctx) || (ctx->meanwhile != NULL && ctx->meanwhile(ctx)))
            return;
    }
    struct bcri_aside aside = {.holder = holder};
    if (ctx->full_fence) { /* it cannot make others fence, so it must not sleep */
        go_aside(ctx, &aside);
        if (ctx->wait_aside != NULL)
            wait_on(ctx, &record->bell.lock_event, event + 1, 0);
        sched_yield();
        come_back(ctx, &aside);
        return;
    }
    atomic_store_explicit(&record->bell.lock_sleepers, 1, memory_order_seq_cst);
    bcri_fence_everybody(ctx);
    go_aside(ctx, &aside);
    if (held(arg, holder))
        sleep_until_event(ctx, holder, &record->bell.lock_event, event, until_ns);
    come_back(ctx, &aside);
}

static unsigned spin_turns(const struct bcri_ctx *ctx)
{
    return ctx->cpus > 1 ? SPIN_TURNS : 0;
}

void bcri_wait_for_holder(struct bcri_ctx *ctx, uint32_t holder,
                          bool (*held)(const void *arg, uint32_t holder), const void *arg, unsigned turn)
{
    const unsigned spins = spin_turns(ctx);
    if (turn < spins) {
        if (turn >= 16)
            bcri_cpu_pause();
        return;
    }
    if (turn < spins + YIELD_TURNS)
        sched_yield();
    else
        sleep_on_holder(ctx, holder, held, arg, UINT64_MAX);
}

bool bcri_holder_is_nobody(struct bcri_ctx *ctx, uint32_t holder,
                           bool (*held)(const void *arg, uint32_t holder), const void *arg, unsigned turn)
{
    /* One look in each wait, when it has become a long one: before the first sleep, from which nobody may wake us. */
    if (turn != spin_turns(ctx) + YIELD_TURNS)
        return false;
    struct bcri_record_shm *record = NULL;
    if (holder == ctx->tag && ctx->asides != NULL)
        return false; /* another thread of the daemon: it waits itself */
    if (holder != ctx->tag && holder - 1 < bcri_host_records(ctx->host))
        record = bcri_record(ctx, holder - 1);
    uint32_t state = record != NULL ? bcri_load_acquire(&record->id.state) : BCRI_CCE_FREE;
    /* What it held was given up before it was called DEAD: look again. */
    bool nobody = (state == BCRI_CCE_FREE || state == BCRI_CCE_DEAD) && held(arg, holder);
    ctx->damaged |= nobody;
    return nobody;
}

static bool lock_held(const void *arg, uint32_t holder)
{
    return bcri_load((const _Atomic uint32_t *)arg) == holder;
}

/* Whether it is, or waits itself for somebody who is; or is dead, and has waited so: its repair does, or waits for somebody else. */
static bool is_stopped(struct bcri_ctx *ctx, uint32_t holder)
{
    enum { HOPS = 16 }; /* more than the order of locks allows */
    for (unsigned hop = 0; hop < HOPS && holder != 0; hop++) {
        const struct bcri_record_shm *record =
            holder - 1 < bcri_host_records(ctx->host) ? bcri_record(ctx, holder - 1) : NULL;
        if (record == NULL)
            return false;
        if (bcri_process_stopped(bcri_load(&record->id.pid)))
            return true;
        holder = bcri_load_acquire(&record->bell.waits_on);
        if (holder == 0 && bcri_load_acquire(&record->id.state) == BCRI_CCE_DYING)
            holder = bcri_load_acquire(&ctx->host->enl_waits_on);
    }
    return false;
}

bool bcri_wait_for_holder_until(struct bcri_ctx *ctx, uint32_t holder,
                                bool (*held)(const void *arg, uint32_t holder), const void *arg,
                                unsigned turn, uint64_t deadline_ns)
{
    if (deadline_ns == BCRI_DEADLINE_NEVER || turn < spin_turns(ctx) + YIELD_TURNS) {
        bcri_wait_for_holder(ctx, holder, held, arg, turn);
        return true;
    }
    uint64_t now_ns = bcri_clock_ns();
    if (now_ns >= deadline_ns) {
        if (is_stopped(ctx, holder) && held(arg, holder))
            return false;
        deadline_ns = now_ns + LOOK_AGAIN_NS;
    }
    sleep_on_holder(ctx, holder, held, arg, deadline_ns);
    return true;
}

bool bcri_lock_slow_until(struct bcri_ctx *ctx, _Atomic uint32_t *lock, uint64_t deadline_ns)
{
    for (unsigned turn = 0;; turn++) {
        uint32_t holder = bcri_load(lock);
        if (holder == 0) {
            if (bcri_lock_try(ctx, lock))
                return true;
            continue;
        }
        if (bcri_unlikely(bcri_holder_is_nobody(ctx, holder, lock_held, (const void *)lock, turn)) &&
            atomic_compare_exchange_strong_explicit(lock, &holder, ctx->tag, memory_order_acquire,
                                                    memory_order_relaxed))
            return true;
        if (!bcri_wait_for_holder_until(ctx, holder, lock_held, (const void *)lock, turn, deadline_ns))
            return false;
    }
}

bool bcri_lock_slow_within(struct bcri_ctx *ctx, _Atomic uint32_t *lock, int msec)
{
    return bcri_lock_slow_until(ctx, lock, bcri_deadline_after(msec));
}

void bcri_lock_slow(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    (void)bcri_lock_slow_until(ctx, lock, BCRI_DEADLINE_NEVER);
}
