/* SPDX-License-Identifier: MIT */
/* See waits.h. */
#include "waits.h"

#include "bcri/clock.h"
#include "bcri/self.h"
#include "check.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
void __wrap_bcri_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);
uint64_t __wrap_bcri_clock_ns(void);
uint64_t __wrap_bcri_deadline_after(int msec);

#define FOR_EVER (3600 * SIM_S)

static struct world *world;

void waits_in(struct world *in)
{
    world = in;
}

static bool once(void *context)
{
    unsigned *turns = context;
    return (*turns)++ != 0;
}

static void nothing(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
}

void __wrap_bcri_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct bcri_ctx *const ctx = bcri_self_find();
    const uint64_t until = sim_now(world->network) + FOR_EVER;
    bcri_self_set(NULL);
    if (deadline_ns < until) /* time passes, though nothing else happens */
        sim_alarm(world->network, deadline_ns, nothing, NULL, 0);
    for (;;) {
        unsigned turns = 0;
        world_turn(world);
        if (bcri_load_acquire(word) != expected || sim_now(world->network) >= deadline_ns)
            break;
        if (!sim_run(world->network, until, once, &turns))
            FAIL("a call waits for ever");
    }
    bcri_self_set(ctx);
}

uint64_t __wrap_bcri_clock_ns(void)
{
    return sim_now(world->network);
}

uint64_t __wrap_bcri_deadline_after(int msec)
{
    return bcri_deadline_from(sim_now(world->network), msec);
}
/* NOLINTEND(bugprone-reserved-identifier) */
