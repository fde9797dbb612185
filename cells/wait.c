/* SPDX-License-Identifier: MIT */
/* Waiting for requests: spin, yield, sleep.
 *
 * How long to spin is decided by where the last answer came from: a putter on this very processor cannot run while we
 * spin, so yield at once; one on another processor answers within a microsecond or not for long, and waking a sleeper
 * there costs tens of microseconds. Then yields, which cost a microsecond when somebody else is runnable; then the bell.
 * Source: docs/adr/0002-waiting.md. */
#include <sched.h>

#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/flow.h"
#include "bcri/heap.h"
#include "bcri/upward.h"

enum { SPIN_FAR = 4000, SPIN_NEAR = 1, CLOCK_EVERY = 64 };

enum { PASSED = -1 };

/* The lowest index that is ready, else PASSED. */
static int first_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count)
{
    for (int i = 0; i < count; i++)
        if (bcri_request_ready(ctx, slots[i]))
            return i;
    return PASSED;
}

static bool passed(uint64_t deadline_ns)
{
    return deadline_ns != UINT64_MAX && bcri_clock_ns() >= deadline_ns;
}

/* The most frequent wait, for one ticket: nothing but the entry's line is looked at in each turn. */
static bool spin_on_one(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, int turns, uint64_t deadline_ns)
{
    struct bcri_place place;
    if (bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_TICKET ||
        bcri_place_at(ctx, bcri_load(&slot->cell), &place) != 0) {
        for (int turn = 0; turn < turns; turn++) {
            if (bcri_request_ready(ctx, slot))
                return true;
            if (turn % CLOCK_EVERY == CLOCK_EVERY - 1 && passed(deadline_ns))
                return false;
        }
        return false;
    }
    uint64_t ticket = bcri_load(&slot->key);
    const _Atomic uint64_t *entry = bcri_ring_at(&place, ticket);
    uint64_t lap = bcri_lap(ticket, place.ring_log2);
    for (int turn = 0; turn < turns; turn++) {
        if (bcri_entry_lap(bcri_load_acquire(entry)) == lap ||
            bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_TICKET) {
            if (bcri_request_ready(ctx, slot))
                return true;
            if (bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_TICKET)
                return false;
        }
        if (turn % CLOCK_EVERY == CLOCK_EVERY - 1 && passed(deadline_ns))
            return false;
    }
    return false;
}

int bcri_spin_turns(const struct bcri_ctx *ctx)
{
    return ctx->cpus <= 1 || ctx->last_cpu == bcri_current_cpu() ? SPIN_NEAR : SPIN_FAR;
}

static int spin(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    int turns = bcri_spin_turns(ctx);
    if (count == 1)
        return spin_on_one(ctx, slots[0], turns, deadline_ns) ? 0 : PASSED;
    for (int turn = 0; turn < turns; turn += count) {
        int ready = first_ready(ctx, slots, count);
        if (ready != PASSED)
            return ready;
        if (turn / CLOCK_EVERY != (turn + count) / CLOCK_EVERY && passed(deadline_ns))
            break;
    }
    return PASSED;
}

static int sleep_until_rung(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count,
                            uint64_t deadline_ns)
{
    struct bcri_bell_shm *bell = ctx->bell;
    uint32_t seen = bcri_load_acquire(&bell->bell);
    int ready = PASSED;
    /* From here on a ring is not slept through. */
    atomic_store_explicit(&bell->sleeping, 1, memory_order_seq_cst);
    for (int i = 0; i < count && ready < 0; i++)
        if (!bcri_request_mark(ctx, slots[i]))
            ready = i;
    atomic_thread_fence(memory_order_seq_cst);
    if (ready == PASSED)
        ready = first_ready(ctx, slots, count);
    if (ready == PASSED)
        bcri_futex_wait(&bell->bell, seen, deadline_ns);
    bcri_store(&bell->sleeping, 0);
    return ready != PASSED ? ready : first_ready(ctx, slots, count);
}

static int wait_yielding(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    int ready = PASSED;
    for (int i = 0; i < BCRI_YIELDS && ready == PASSED && !passed(deadline_ns); i++) {
        sched_yield();
        ready = first_ready(ctx, slots, count);
    }
    return ready;
}

static int wait_asleep(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    int ready = PASSED;
    while (ready == PASSED && !passed(deadline_ns))
        ready = sleep_until_rung(ctx, slots, count, deadline_ns);
    return ready != PASSED ? ready : first_ready(ctx, slots, count);
}

static int wait(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    int ready = first_ready(ctx, slots, count);
    if (ready != PASSED || passed(deadline_ns))
        return ready;
    ready = spin(ctx, slots, count, deadline_ns);
    if (ready == PASSED)
        ready = wait_yielding(ctx, slots, count, deadline_ns);
    return ready != PASSED ? ready : wait_asleep(ctx, slots, count, deadline_ns);
}

int bcri_wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    if (bcri_unlikely(ctx->upward != NULL))
        return ctx->upward->wait(ctx, slots, count, deadline_ns);
    return wait(ctx, slots, count, deadline_ns);
}

void bcri_wait_settled(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    (void)wait(ctx, &slot, 1, UINT64_MAX);
}

int bcri_wait_asleep(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    return wait_asleep(ctx, slots, count, deadline_ns);
}
