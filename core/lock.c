/* SPDX-License-Identifier: MIT */
/* The slow side of lock.h: spinning, yielding, sleeping on the holder. */
#include "bcri/lock.h"

#include <assert.h>
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

/* In lock_sleepers. */
enum { SLEEPERS = 1, DAEMON = 2 };

void bcri_unlock_wake(struct bcri_ctx *ctx)
{
    if (ctx->full_fence)
        atomic_thread_fence(memory_order_seq_cst);
    if (bcri_load(&ctx->bell->lock_sleepers) == 0)
        return;
    uint32_t was = atomic_exchange_explicit(&ctx->bell->lock_sleepers, 0, memory_order_seq_cst);
    if ((was & SLEEPERS) != 0) {
        atomic_fetch_add_explicit(&ctx->bell->lock_event, 1, memory_order_seq_cst);
        bcri_futex_wake(&ctx->bell->lock_event, INT32_MAX);
    }
    if ((was & DAEMON) != 0)
        bcri_bell_ring_index(ctx, BCRI_ENL_INDEX, BCRI_REF_NONE);
}

/* Sleeps until lock_event of the holder is not `event` any more, or until then. Once in it, when it has become long,
 * somebody is told. */
static void sleep_until_event(struct bcri_ctx *ctx, uint32_t holder, _Atomic uint32_t *lock_event,
                              uint32_t event, uint64_t until_ns)
{
    uint64_t told_ns = ctx->holder_stays != NULL ? bcri_clock_ns() + BCRI_NS_PER_S : UINT64_MAX;
    if (told_ns < until_ns) {
        bcri_futex_wait(lock_event, event, told_ns);
        if (bcri_load_acquire(lock_event) != event || bcri_clock_ns() < told_ns)
            return;
        ctx->holder_stays(ctx, holder - 1);
    }
    bcri_futex_wait(lock_event, event, until_ns);
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
    bcri_store(&ctx->bell->waits_on, holder);
    if (ctx->full_fence) { /* it cannot make others fence, so it must not sleep */
        sched_yield();
    } else {
        atomic_fetch_or_explicit(&record->bell.lock_sleepers, SLEEPERS, memory_order_seq_cst);
        bcri_fence_everybody(ctx);
        if (held(arg, holder))
            sleep_until_event(ctx, holder, &record->bell.lock_event, event, until_ns);
    }
    bcri_store(&ctx->bell->waits_on, 0);
}

/* The daemon does not sleep. False: it is parked. True: the holder has let go, or is another one by now. */
static bool look_again_or_park(struct bcri_ctx *ctx, uint32_t holder,
                               bool (*held)(const void *arg, uint32_t holder), const void *arg)
{
    struct bcri_record_shm *record = bcri_record(ctx, holder - 1);
    if (record != NULL)
        atomic_fetch_or_explicit(&record->bell.lock_sleepers, DAEMON, memory_order_seq_cst);
    bcri_fence_everybody(ctx);
    if (!held(arg, holder))
        return true;
    ctx->parked = holder;
    return false;
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

/* Whether it is, or waits itself for somebody who is; or is dead, and its repair waits so. */
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
    }
    return false;
}

bool bcri_wait_for_holder_until(struct bcri_ctx *ctx, uint32_t holder,
                                bool (*held)(const void *arg, uint32_t holder), const void *arg,
                                unsigned turn, uint64_t deadline_ns)
{
    if (bcri_unlikely(ctx->parks) && turn >= spin_turns(ctx) + YIELD_TURNS)
        return look_again_or_park(ctx, holder, held, arg);
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
    assert(!ctx->parks);
    (void)bcri_lock_slow_until(ctx, lock, BCRI_DEADLINE_NEVER);
}
