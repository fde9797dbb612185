/* SPDX-License-Identifier: MIT */
/* Lock words in shared memory that survive the death of their holder.
 *
 * A lock is 32 bits: 0, or the tag of the CCE that holds it. Taking is a CAS, releasing a plain
 * store: no atomic instruction, and no line but the lock's own and the holder's, which only the
 * holder writes. Before the CAS the taker names the lock in its journal (the cell or area it is
 * in), so that enl finds it.
 *
 * Sleeping. A waiter spins a bounded time, yields, then sleeps *on the holder*: it reads
 * holder.lock_event (e), stores holder.lock_sleepers = 1, runs membarrier(), looks again whether
 * the same holder still holds the lock, and futex-waits for lock_event to differ from e. A release
 * stores lock = 0 and then looks at its own lock_sleepers; if set, it clears it, counts lock_event
 * up and wakes all.
 *   Why nothing is lost: membarrier puts a full fence between the release's store and load. Either the release's
 *   store is visible to the waiter's second look (it goes on), or the waiter's flag is visible to the release's load
 *   (it wakes). Whoever clears the flag counts up afterwards, and each waiter has read e before it set the flag, so a
 *   clear that swallows the flag of a second waiter also ends that one's sleep. Same holder again: its next release
 *   looks too. A process that the kernel refuses membarrier (ctx->full_fence) fences in each release, and as a waiter
 *   yields instead of sleeping, since it cannot make others fence.
 *   Death of a waiter: a flag stays set, one needless wake. Death of the holder: enl repairs, stores 0, counts up, wakes.
 *   Stopped holder: the waiters sleep until it goes on; those with a deadline until that (bcri_lock_until), then they look
 *   whether it is stopped. A waiter that gives up leaves the flag set, as one that dies.
 * Parking. The daemon (ctx->daemon.parks) waits for nobody: its work on shared memory is in pieces
 * that can be begun again. Where a CCE would sleep on a holder, the daemon marks at the holder that
 * it waits (another bit of lock_sleepers), in the same way as sleepers do, and the routine says
 * that the lock cannot be had: ctx->daemon.parked is the holder. It gives back the locks that it
 * has taken itself, and goes on with something else; the piece is parked until the holder's next
 * release, which rings the daemon's bell, or until another piece was done, as the repair of a
 * holder that has died is. Why no ring is lost is told above for sleepers. Model:
 * test/spin/lock.pml.
 *
 * Count words (region.h), and what else a CCE has for as long as it changes it (an odd version,
 * cells/resolved.c), are waited for in the same way: by the one loop (wait_loop.h), with a sleep on
 * the holder. */
#ifndef BCRI_LOCK_H
#define BCRI_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/wait_loop.h"

/* Takes the lock after the first CAS has failed. Blocks: not for the daemon. */
void bcri_lock_slow(struct bcri_ctx *ctx, _Atomic uint32_t *lock);
/* Fences where releases must, and wakes who sleeps until this CCE lets go of something. */
void bcri_unlock_wake(struct bcri_ctx *ctx);
/* The second half of each release: the look at lock_sleepers. With ctx->full_fence it looks at a
 * word that always says yes, so that the one test is enough. */
static inline void bcri_look_for_sleepers(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_load(ctx->sleepers_at)))
        bcri_unlock_wake(ctx);
}

/* The same until the deadline, for the first lock that a timed call meets. False: time is up, and
 * the holder is stopped; nothing has happened. One that is not stopped lets go as soon as it gets a
 * processor, and is waited for. For the daemon, whatever the deadline: false: it is parked. */
bool bcri_lock_slow_until(struct bcri_ctx *ctx, _Atomic uint32_t *lock, uint64_t deadline_ns);
/* The same for `msec` of a public call. */
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
static inline void bcri_unlock(struct bcri_ctx *ctx, _Atomic uint32_t *lock)
{
    bcri_store_release(lock, 0);
    bcri_step();
    bcri_look_for_sleepers(ctx);
}

/* Releases a lock word that may not be there any more: its memory was given back and may hold
 * another cell of the same shape by now, with a holder of its own (cells/area.c). */
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
    uint32_t (*holder)(const void *what); /* the tag of whoever has it now; 0: nobody */
    uint64_t deadline_ns;
    uint32_t found;  /* for the caller: what the look has found */
    uint32_t nobody; /* a tag behind which nobody can be: what that one has is free */
    unsigned looks;
    bool somebody; /* the holder is known to be one of the program's CCEs, or was looked at */
};
enum { BCRI_HOLDER_GONE, BCRI_HOLDER_STAYS };

/* A look that has found a holder ends with this. Holders let go within tens of nanoseconds: only
 * then a pause pays. */
static inline int bcri_holder_seen(struct bcri_holder_wait *wait)
{
    enum { AT_ONCE = 16 };
    if (wait->looks++ >= AT_ONCE)
        bcri_cpu_pause();
    return BCRI_NOT_YET;
}
/* Whether what this one has can be taken. */
static inline bool bcri_holder_is_none(const struct bcri_holder_wait *wait, uint32_t holder)
{
    return holder == 0 || holder == wait->nobody;
}

/* lock.c: sleeps on the holder. STAYS: time is up, and the holder is stopped, or waits for one that
 * is; or the daemon is parked. */
int bcri_sleep_on_holder(void *wait, uint64_t deadline_ns);

/* Waits until `look` says GONE. The deadline is not the loop's: somebody who is not stopped is
 * waited for beyond it. */
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

/* When it returns true, every other CCE has passed a full fence since the call. False: the kernel
 * has no such thing. */
bool bcri_fence_everybody(const struct bcri_ctx *ctx);

/* Asks the kernel once whether releases may go without a fence. Called by bcri_ctx_init. */
bool bcri_membarrier_register(void);

#endif
