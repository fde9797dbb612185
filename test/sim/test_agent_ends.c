/* SPDX-License-Identifier: MIT */
/* A CCE ends, or the hosts lose each other: what was ordered before is carried out or fails, and the next CCE with the number
 * has nothing of it. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "bcri/ids.h"
#include "regions.h"

#include "agent_turned.h"

TEST(an_owner_that_ends_fails_what_waits_there)
{
    begin();
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(bcr_celllen(there, cell), 0); /* the get has begun to wait before */
    world_kill(&world, 1, 0);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    FAILS_NULL(bcr_get(1, there, cell, bcr_BLOCK), bcrE_DEAD);
    end();
}

TEST(puts_of_a_cce_that_ends_are_carried_out)
{
    begin();
    CHECK_INT(bcr_put(1, number(3), there, cell, bcr_FREE), 0);
    CHECK(bcr_get(1, there, cell + 1, bcr_PENDING) != NULL);
    world_kill(&world, 0, 0);
    as(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, bcr_BLOCK)), 3);
    /* Its get is withdrawn, so this stays; until then it is handed over, and comes back. */
    CHECK_INT(bcr_put(1, number(4), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell + 1, bcr_BLOCK)), 4);
    end();
}

/* Whether the notice has been taken in, at the second try. The agents have been run by then. */
static bool has_heard(const struct world_host *host)
{
    pthread_mutex_lock(&world.mutex);
    const bool heard = host->ends >= 2;
    pthread_mutex_unlock(&world.mutex);
    return heard;
}

TEST(a_notice_comes_behind_all_that_the_ended_one_has_ordered_of_the_watcher)
{
    enum { MANY = 3000 };
    begin_with(0, 4096);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    struct bcri_notice notice = {.ordinal = 17, .how = 2, .number = 9};
    memcpy(notice.ended, world.host[0].cce[0]->record->id.identity, sizeof notice.ended);
    memcpy(notice.watcher, owner->record->id.identity, sizeof notice.watcher);
    world_kill(&world, 0, 0);
    pthread_mutex_lock(&world.mutex);
    CHECK(bcri_agent_notice(world.host[0].agent, &notice));
    pthread_mutex_unlock(&world.mutex);
    as(owner);
    while (!has_heard(&world.host[1]))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK_INT(bcr_celllen(bcr_cce, cell), MANY);
    const struct bcri_notice *told = &world.host[1].heard;
    CHECK(memcmp(told->ended, notice.ended, sizeof notice.ended) == 0);
    CHECK_UINT(bcri_identity_index(told->watcher), owner->index);
    CHECK_INT(told->ordinal, 17);
    CHECK_INT(told->how, 2);
    CHECK_INT(told->number, 9);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    end();
}

TEST(a_host_that_is_lost_fails_what_is_ordered_there)
{
    begin();
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(bcr_celllen(there, cell), 0);
    world_cut(&world);
    CHECK_INT(bcr_put(1, number(3), there, cell, bcr_FREE), 0); /* nothing was heard of that yet */
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    FAILS(bcr_zap(there, cell), bcrE_DEAD);
    FAILS(bcr_put(1, number(3), there, cell, bcr_FREE), bcrE_DEAD);
    bcr_region error = bcr_get(1, bcr_cce, 0, bcr_BLOCK);
    CHECK_INT(bcr_rgerror(error), bcrE_DEAD);
    CHECK_INT(bcr_rgfree(error), 0);
    as(owner);
    /* No CCE waits there any more, or what is handed over to it comes back. */
    CHECK_INT(bcr_put(1, number(4), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, bcr_BLOCK)), 4);
    as(requester);
    end();
}

/* ---- in virtual time ---- */

static bool has_come(void *rgid)
{
    world_turn(&world);
    as(requester);
    return bcr_rgwait(rgid, 0, 0) == 1;
}

static bool is_back(void *unused)
{
    (void)unused;
    world_turn(&world);
    as(owner);
    return bcr_celllen(bcr_cce, cell) == 1;
}

static bool never(void *unused)
{
    (void)unused;
    world_turn(&world);
    return false;
}

/* That it has come there is told in a packet that is lost, and the host is lost before that is told again. */
TEST(a_region_that_came_back_from_a_host_is_there_once_when_that_is_lost)
{
    begin_by_hand();
    struct sim_end *there_from = &world.host[0].end;
    as(owner);
    CHECK_INT(bcr_put(1, number(7), bcr_cce, cell, bcr_FREE), 0);
    as(requester);
    CHECK(bcr_get(1, there, cell + 1, bcr_PENDING) != NULL); /* makes the links */
    CHECK(!sim_run(world.network, sim_now(world.network) + 300 * SIM_MS, never, NULL));
    there_from->path.delay_ns = world.host[1].end.path.delay_ns = SIM_MS;
    bcr_region rgid = bcr_get(1, there, cell, bcr_PENDING);
    CHECK(rgid != NULL);
    world_turn(&world); /* the order is on its way */
    there_from->path.cut = true;
    CHECK(sim_run(world.network, sim_now(world.network) + SIM_S, has_come, rgid));
    CHECK(!sim_run(world.network, sim_now(world.network) + 2 * SIM_MS, never, NULL));
    there_from->path.cut = false;
    as(requester);
    CHECK_INT(bcr_put(1, rgid, there, cell, bcr_FREE), 0);
    CHECK(sim_run(world.network, sim_now(world.network) + SIM_S, is_back, NULL));
    world_cut(&world);
    world_turn(&world);
    as(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 7);
    FAILS_NULL(bcr_get(1, bcr_cce, cell, 0), bcrE_TIMEOUT);
    end_by_hand();
}

/* The first ends with an order waiting, before its host has a link: the next one's orders follow its
 * end in the same stream. */
static void begin_with_a_successor(void)
{
    begin_by_hand();
    CHECK(bcr_get(1, there, cell, bcr_PENDING) != NULL);
    const uint32_t number_of_first = requester->index;
    world_kill(&world, 0, 0);
    succeed(number_of_first);
}

TEST(a_cce_is_served_that_has_the_number_of_one_that_ended)
{
    begin_with_a_successor();
    bcr_region waits = bcr_get(1, there, cell + 1, bcr_PENDING);
    (void)world_settle(&world, SIM_S);
    as(owner);
    CHECK_INT(bcr_put(1, number(6), bcr_cce, cell + 1, bcr_FREE), 0);
    (void)world_settle(&world, SIM_S);
    as(requester);
    CHECK_INT(bcr_rgwait(waits, 0, 0), 1);
    CHECK_INT(value_of(waits), 6);
    end_by_hand();
}

TEST(a_large_region_arrives_behind_the_end_of_its_putters_predecessor)
{
    begin_with_a_successor();
    CHECK_INT(bcr_put(1, filled(300000, 0x5a), there, cell, bcr_FREE), 0);
    CHECK(world_settle(&world, 10 * SIM_S));
    as(owner);
    bcr_region rgid = bcr_get(1, bcr_cce, cell, 0);
    CHECK_INT(bcr_rglen(rgid, NULL), 300000);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end_by_hand();
}
