/* SPDX-License-Identifier: MIT */
/* The slow side of lock.h: sleeping on the holder. */
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
#include "bcri/corrupt.h"
#include "bcri/stopped.h"

/* A waiter whose time is up goes on waiting for a holder that is not stopped. It checks this often
 * whether the holder is stopped by now. */
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

/* The bits of lock_sleepers. */
enum { SLEEPERS = 1, DAEMON = 2 };

/* Model: lock.pml */
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
    if ((was & DAEMON) != 0) {
        const uint32_t agent = bcri_load_acquire(&ctx->host->agent); /* which parks as the worker does */
        bcri_bell_ring_index(ctx, BCRI_ENL_INDEX, BCRI_REF_NONE);
        if (agent != 0)
            bcri_bell_ring_index(ctx, agent, BCRI_REF_NONE);
    }
}

/* Sleeps until lock_event of the holder differs from `event`, or until `until_ns`. A sleep of a
 * second is reported once (holder_stays).
 * Model: lock.pml */
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

/* Sleeps until the release or the deadline; it may return early.
 * Model: lock.pml */
static void sleep_until_release(const struct bcri_holder_wait *wait, uint32_t holder, uint64_t until_ns)
{
    struct bcri_ctx *const ctx = wait->ctx;
    struct bcri_record_shm *record = bcri_record(ctx, holder - 1);
    if (record == NULL) {
        sched_yield();
        return;
    }
    uint32_t event = bcri_load_acquire(&record->bell.lock_event);
    bcri_store(&ctx->bell->waits_on, holder);
    if (ctx->full_fence) { /* this CCE cannot make others fence, so it must not sleep */
        sched_yield();
    } else {
        atomic_fetch_or_explicit(&record->bell.lock_sleepers, SLEEPERS, memory_order_seq_cst);
        bcri_fence_everybody(ctx);
        if (wait->holder(wait->what) == holder)
            sleep_until_event(ctx, holder, &record->bell.lock_event, event, until_ns);
    }
    bcri_store(&ctx->bell->waits_on, 0);
}

/* Parks the daemon's piece of work, which takes the place of a sleep.
 * Model: lock.pml */
static int look_again_or_park(const struct bcri_holder_wait *wait, uint32_t holder)
{
    struct bcri_record_shm *record = bcri_record(wait->ctx, holder - 1);
    if (record != NULL)
        atomic_fetch_or_explicit(&record->bell.lock_sleepers, DAEMON, memory_order_seq_cst);
    bcri_fence_everybody(wait->ctx);
    if (wait->holder(wait->what) != holder)
        return BCRI_NOT_YET;
    wait->ctx->daemon.parked = holder;
    return BCRI_HOLDER_STAYS;
}

/* Whether no holder can have that tag: it is no CCE of the program, or one that has ended and is
 * repaired, or the waiter itself. Such a word is corrupt (corrupt.h), so only the daemon gets true.
 * The answer cannot be out of date: the daemon gives no record out again while a CCE waits in an
 * operation. A CCE that cannot map the holder's record cannot tell, and waits. The daemon has all
 * records mapped. */
static bool is_no_cce(const struct bcri_holder_wait *wait, uint32_t holder)
{
    struct bcri_ctx *const ctx = wait->ctx;
    struct bcri_record_shm *record = NULL;
    if (holder != ctx->tag && holder - 1 < bcri_host_records(ctx->host)) {
        record = bcri_record(ctx, holder - 1);
        if (record == NULL && !ctx->daemon.parks)
            return false;
    }
    uint32_t state = record != NULL ? bcri_load_acquire(&record->id.state) : BCRI_CCE_FREE;
    /* The daemon releases what a dead CCE held before it stores DEAD, so the word must be read
     * again after the state. */
    bool no_cce = (state == BCRI_CCE_FREE || state == BCRI_CCE_DEAD) && wait->holder(wait->what) == holder;
    if (no_cce)
        bcri_corrupt_at(ctx, "a lock of nobody's", wait->what);
    return no_cce;
}

bool bcri_holder_is_stopped(struct bcri_ctx *ctx, uint32_t holder)
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

/* Model: lock.pml */
int bcri_sleep_on_holder(void *arg, uint64_t deadline_ns)
{
    struct bcri_holder_wait *const wait = arg;
    const uint32_t holder = wait->holder(wait->what);
    if (holder == 0)
        return BCRI_NOT_YET;
    /* Each wait checks the holder once, before its first sleep: without a holder nobody would wake
     * this CCE. */
    const bool checked = wait->checked;
    wait->checked = true;
    if (!checked && is_no_cce(wait, holder)) {
        wait->no_cce = holder;
        return BCRI_NOT_YET;
    }
    if (bcri_unlikely(wait->ctx->daemon.parks))
        return look_again_or_park(wait, holder);
    deadline_ns = wait->deadline_ns;
    if (bcri_wait_is_over(deadline_ns)) {
        if (bcri_holder_is_stopped(wait->ctx, holder) && wait->holder(wait->what) == holder)
            return BCRI_HOLDER_STAYS;
        deadline_ns = bcri_clock_ns() + LOOK_AGAIN_NS;
    }
    sleep_until_release(wait, holder, deadline_ns);
    return BCRI_NOT_YET;
}

static uint32_t holder_of_lock(const void *lock)
{
    return bcri_load((const _Atomic uint32_t *)lock);
}

static int look_at_lock(void *arg)
{
    struct bcri_holder_wait *const wait = arg;
    _Atomic uint32_t *const lock = wait->what;
    uint32_t holder = bcri_load(lock);
    if (bcri_holder_is_none(wait, holder) &&
        atomic_compare_exchange_strong_explicit(lock, &holder, wait->ctx->tag, memory_order_acquire,
                                                memory_order_relaxed))
        return BCRI_HOLDER_GONE;
    return bcri_holder_seen(wait);
}

/* Model: lock.pml */
bool bcri_lock_slow_until(struct bcri_ctx *ctx, _Atomic uint32_t *lock, uint64_t deadline_ns)
{
    struct bcri_holder_wait wait = {
        .ctx = ctx, .what = (void *)lock, .holder = holder_of_lock, .deadline_ns = deadline_ns};
    return bcri_wait_for_holder(&wait, look_at_lock);
}

bool bcri_lock_slow_within(struct bcri_ctx *ctx, _Atomic uint32_t *lock, int msec)
{
    return bcri_lock_slow_until(ctx, lock, bcri_deadline_after(msec));
}

/* Model: lock.pml */
void bcri_lock_slow(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    assert(!ctx->daemon.parks);
    (void)bcri_lock_slow_until(ctx, lock, BCRI_DEADLINE_NEVER);
}
