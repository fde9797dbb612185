/* SPDX-License-Identifier: MIT */
/* Orders that the asking agent takes though it has no memory for them: each is carried out later, or fails. Turned by hand:
 * virtual time, and no call waits. */
#include <pthread.h>

#include "agent_idle.h"
#include "agent_scene.h"
#include "memory.h"
#include "regions.h"

static bool comes_again(void)
{
    return bcri_agent_deadline(world.host[0].agent) != BCRI_LINK_NEVER;
}

static void run_asking_agent(void)
{
    (void)memory_watch(true);
    bcri_agent_run(world.host[0].agent, sim_now(world.network));
    (void)memory_watch(false);
}

/* Whichever allocation of the agent fails for an order, the order is carried out soon though nothing
 * else happens, or it fails. */
TEST(an_order_for_which_there_is_no_memory_is_taken_again)
{
    for (uint64_t which = 0, asked = 1; which < asked; which++) {
        begin_by_hand();
        CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
        CHECK(world_settle(&world, SIM_S)); /* there is a link */
        CHECK(!comes_again());
        bcr_region waits = bcr_get(1, there, cell + 1, bcr_PENDING);
        memory_fails_after(which);
        run_asking_agent();
        asked = memory_asked();
        memory_fails_after(UINT64_MAX);
        const int came = bcr_rgwait(waits, 0, 0);
        CHECK(came == 0 || bcr_errno == bcrE_NOMEM);
        CHECK(came != 0 || comes_again() || !agent_is_idle(world.host[0].agent));
        (void)world_settle(&world, SIM_S);
        as(owner);
        CHECK_INT(bcr_put(1, number(2), bcr_cce, cell + 1, bcr_FREE), 0);
        (void)world_settle(&world, SIM_S);
        as(requester);
        if (came == 0) {
            CHECK_INT(bcr_rgwait(waits, 0, 0), 1);
            CHECK_INT(value_of(waits), 2);
        }
        end_by_hand();
    }
}

TEST(what_a_cce_that_has_ended_ordered_is_taken_though_memory_is_short_meanwhile)
{
    enum { PUTS = 3 };
    begin_by_hand();
    for (int i = 0; i < PUTS; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    memory_fails_from(0);
    (void)memory_watch(true);
    world_die(&world, 0, 0);
    (void)memory_watch(false);
    CHECK_UINT(world.host[0].forgotten, 0);
    memory_fails_after(UINT64_MAX);
    CHECK(world_settle(&world, SIM_S));
    CHECK_UINT(world.host[0].forgotten, 1);
    world_walk(&world, 0, 0);
    as(owner);
    for (int i = 0; i < PUTS; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    end_by_hand();
}

static void *cancel(void *waits)
{
    as(requester);
    CHECK_INT(bcr_rgfree(waits), 0);
    as(NULL);
    return NULL;
}

TEST(a_cancel_for_which_there_is_no_memory_is_taken_again)
{
    pthread_t canceller;
    begin_by_hand();
    CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    bcr_region waits = NULL;
    for (int i = 0; i < 4; i++) /* the stream's ring is full then */
        waits = bcr_get(1, there, cell + 1, bcr_PENDING);
    run_asking_agent();
    CHECK_INT(pthread_create(&canceller, NULL, cancel, waits), 0);
    memory_fails_after(0);
    while (memory_asked() == 0)
        run_asking_agent();
    CHECK(comes_again());
    memory_fails_after(UINT64_MAX);
    while (pthread_tryjoin_np(canceller, NULL) != 0)
        (void)world_settle(&world, SIM_MS);
    end_by_hand();
}
