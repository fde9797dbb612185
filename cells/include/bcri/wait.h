/* SPDX-License-Identifier: MIT */
/* Waiting for requests: spin, yield, sleep. */
#ifndef BCRI_WAIT_H
#define BCRI_WAIT_H

#include <stdint.h>

#include "bcri/bell.h"
#include "bcri/ctx.h"
#include "bcri/hooks.h"

/* How often a waiter yields after it has spun, and how many turns it spins: many if the last answer
 * came from another processor (wait.c). */
enum { BCRI_YIELDS = 200, BCRI_SPIN_FAR = 4000, BCRI_SPIN_NEAR = 1 };
static inline int bcri_spin_turns(const struct bcri_ctx *ctx)
{
    return ctx->cpus <= 1 || ctx->last_cpu == bcri_current_cpu() ? BCRI_SPIN_NEAR : BCRI_SPIN_FAR;
}
/* How often it yields then. A CCE that has ordered something of another host, and whose answers come
 * from its own processor, sleeps at once: its host's link thread polls only while all sleep. */
static inline int bcri_yield_turns(const struct bcri_ctx *ctx, int spins)
{
    return spins == BCRI_SPIN_NEAR && ctx->outbox != NULL ? 0 : BCRI_YIELDS;
}
/* In place of an index: there is a wake (bcri/wakes.h) for one of the requests, none of which is ready. */
#define BCRI_WOKEN (-2)
/* Waits until one of `count` requests is ready or the deadline has passed. Returns its index, or
 * -1; or BCRI_WOKEN, after which bcri_wake_due tells whose wake it is, if it still is. If the CCE has handlers they run meanwhile: the caller must look up again what it had looked
 * up. */
int bcri_wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);
/* The same for a request that another CCE is just about to answer and that nothing can delay: no
 * handlers run and no wake ends the wait. */
void bcri_wait_complete(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same for a waiter that has spun and yielded already, in a CCE without handlers. */
int bcri_wait_asleep(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);
/* Waits until an event has happened or the deadline has passed. Returns whether it has; in a CCE that has handlers, these run
 * meanwhile. */
bool bcri_wait_event(struct bcri_ctx *ctx, struct bcri_event *event, uint64_t deadline_ns);

#endif
