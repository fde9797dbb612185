/* SPDX-License-Identifier: MIT */
/* Lock words in shared memory that survive the death of their holder.
 *
 * A lock is 32 bits: 0, or the tag of the CCE that holds it. Taking it is a CAS. Releasing it is a
 * plain store, without an atomic instruction; it touches only the line of the lock and the holder's
 * own bell. Before the CAS the taker names the lock in its journal (the cell or area that it is
 * in), so that the daemon finds it.
 *
 * Sleeping. A waiter spins for a bounded time, yields, and then sleeps *on the holder*. It reads
 * holder.lock_event (e), sets its bit in holder.lock_sleepers, runs membarrier(), looks again
 * whether the same holder still holds the lock, and futex-waits for lock_event to differ from e. A
 * releaser stores lock = 0 and then looks at its own lock_sleepers. If that is set, the releaser
 * clears it, counts lock_event up and wakes all sleepers.
 *   Why no wake is lost: membarrier puts a full fence between the releaser's store and its load.
 *   Either the waiter's second look sees the store, and the waiter goes on; or the releaser's load
 *   sees the waiter's sleep flag, and the releaser wakes it. A releaser that clears the flag counts
 *   lock_event up afterwards, and each waiter has read e before it set the flag. So a clear that
 *   also swallows the flag of a second waiter ends that one's sleep too. If the same holder has
 *   taken the lock again, its next release looks too. A process that the kernel refuses membarrier
 *   (ctx->full_fence) fences in each release. As a waiter it yields instead of sleeping, since it
 *   cannot make others fence.
 *   Death of a waiter: its sleep flag stays set and costs one needless wake. Death of the holder:
 *   the daemon repairs, stores 0, counts lock_event up and wakes. Stopped holder: the waiters sleep
 *   until it goes on; those with a deadline (bcri_lock_until) sleep until then and look whether it
 *   is stopped. A waiter that gives up leaves its sleep flag set, like one that dies.
 * Parking. The daemon (ctx->daemon.parks) never waits for a CCE: its work on shared memory is in
 * pieces that it can begin again. Where a CCE would sleep on a holder, the daemon sets its own bit
 * in the holder's lock_sleepers, in the same way as sleepers do, and the routine says that the lock
 * cannot be had; ctx->daemon.parked names the holder. The daemon gives back the locks that it has
 * taken for this piece and goes on with something else. The piece stays parked until the holder's
 * next release, which rings the daemon's bell, or until another piece is done, such as the repair
 * of the holder after its death. No ring is lost, for the reason given above. Model:
 * test/spin/lock.pml.
 *
 * Waiters for a count word (region.h), or for anything else that a CCE has while it changes it (an
 * odd version, cells/lookup.c), do the same: they use the one loop (wait_loop.h) and sleep on the
 * holder. */
#ifndef BCRI_LOCK_H
#define BCRI_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/wait_loop.h"

/* Takes the lock after the first CAS has failed. Blocks, so the daemon must not call it. */
void bcri_lock_slow(struct bcri_ctx *ctx, _Atomic uint32_t *lock);
/* Fences where releases must, and wakes the CCEs that sleep until this one releases something. */
void bcri_unlock_wake(struct bcri_ctx *ctx);
/* The second half of each release: it looks at lock_sleepers. With ctx->full_fence it reads a word
 * that is always 1 instead, so that one test is enough.
 * Model: lock.pml */
static inline void bcri_look_for_sleepers(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        bcri_unlock_wake(ctx);
}

/* The same until the deadline, for the first lock that a timed call takes. False: time is up and
 * the holder is stopped; nothing has happened. A holder that is not stopped releases as soon as it
 * gets a processor, so the taker waits for it even beyond the deadline. The daemon gets false at
 * once, whatever the deadline: it is parked. */
bool bcri_lock_slow_until(struct bcri_ctx *ctx, _Atomic uint32_t *lock, uint64_t deadline_ns);
/* The same with the `msec` of a public call. */
bool bcri_lock_slow_within(struct bcri_ctx *ctx, _Atomic uint32_t *lock, int msec);

static inline bool bcri_lock_try(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(lock, &free, ctx->tag, memory_order_acquire,
                                                   memory_order_relaxed);
}
static inline void bcri_lock(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    if (bcri_unlikely(!bcri_lock_try(ctx, lock)))
        bcri_lock_slow(ctx, lock);
}
static inline bool bcri_lock_until(struct bcri_ctx *ctx, _Atomic uint32_t *lock, uint64_t deadline_ns)
{
    return bcri_likely(bcri_lock_try(ctx, lock)) || bcri_lock_slow_until(ctx, lock, deadline_ns);
}
static inline bool bcri_lock_within(struct bcri_ctx *ctx, _Atomic uint32_t *lock, int msec)
{
    return bcri_likely(bcri_lock_try(ctx, lock)) || bcri_lock_slow_within(ctx, lock, msec);
}
/* Model: lock.pml */
static inline void bcri_unlock(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    bcri_store_release(lock, 0);
    bcri_step();
    bcri_look_for_sleepers(ctx);
}

/* Releases a lock word that may not be this CCE's any more: its memory was given back and may be
 * the lock word of another cell by now, with a holder of its own (cells/area.c). */
static inline void bcri_unlock_stale(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    uint32_t mine = ctx->tag;
    atomic_compare_exchange_strong_explicit(lock, &mine, 0, memory_order_release, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (bcri_load(&ctx->bell->lock_sleepers))
        bcri_unlock_wake(ctx);
}

/* A wait for something that a CCE has. */
struct bcri_holder_wait {
    struct bcri_ctx *ctx;
    void *what;
    uint32_t (*holder)(const void *what); /* the tag of its holder now; 0: none */
    uint64_t deadline_ns;
    uint32_t found;  /* for the caller: what the look has read */
    uint32_t no_cce; /* a tag that belongs to no CCE: what it holds counts as free */
    unsigned looks;
    bool checked; /* the holder was checked to be one of the program's CCEs */
};
enum { BCRI_HOLDER_GONE, BCRI_HOLDER_STAYS };

/* A look that has found a holder ends with this. Holders mostly release within tens of nanoseconds,
 * so only later looks pause. */
static inline int bcri_holder_seen(struct bcri_holder_wait *wait)
{
    enum { AT_ONCE = 16 };
    if (wait->looks++ >= AT_ONCE)
        bcri_cpu_pause();
    return BCRI_NOT_YET;
}
/* Whether the waiter may take what `holder` has. */
static inline bool bcri_holder_is_none(const struct bcri_holder_wait *wait, uint32_t holder)
{
    return holder == 0 || holder == wait->no_cce;
}

/* lock.c: sleeps on the holder. STAYS: time is up, and the holder is stopped or waits for a CCE
 * that is; or the daemon is parked. */
int bcri_sleep_on_holder(void *wait, uint64_t deadline_ns);
/* Whether the holder is stopped, or waits for a CCE that is, or is dead and its repair waits for one. */
bool bcri_holder_is_stopped(struct bcri_ctx *ctx, uint32_t holder);

/* Waits until `look` says GONE; false if the sleep says STAYS. The loop gets no deadline, because a
 * holder that is not stopped is waited for beyond it. */
BCRI_INLINE bool bcri_wait_for_holder(struct bcri_holder_wait *wait, int (*look)(void *wait))
{
    enum { SPINS = 400, YIELDS = 100 };
    const struct bcri_wait_loop loop = {.spins = wait->ctx->cpus > 1 ? SPINS : 0,
                                        .yields = YIELDS,
                                        .deadline_ns = BCRI_DEADLINE_NEVER,
                                        .look = look,
                                        .sleep = bcri_sleep_on_holder};
    return bcri_wait_loop(loop, wait) == BCRI_HOLDER_GONE;
}

/* After it has returned true, every other CCE has passed a full fence since the call. False: the
 * kernel offers no such fence. */
bool bcri_fence_everybody(const struct bcri_ctx *ctx);

/* Asks the kernel once whether releases may go without a fence. Called by bcri_ctx_init. */
bool bcri_membarrier_register(void);

#endif
