/* SPDX-License-Identifier: MIT */
/* Puts whose time is waited at the cell (bcr_putwait): the call returns what became of the put, whatever was in its way. In
 * real time; when that time begins and ends is for test_agent_put_deadline.c. */
#include <pthread.h>
#include <time.h>

#include "bcri/self.h"
#include "regions.h"

#include "agent_turned.h"

static void *take_later(void *arg)
{
    const struct timespec a_while = {.tv_nsec = 5000000};
    nanosleep(&a_while, NULL);
    bcri_self_set(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, bcr_BLOCK)), 0);
    bcri_self_set(NULL);
    return arg;
}

TEST(a_put_with_a_time_waits_at_the_cell_and_tells_what_came_of_it)
{
    pthread_t taker;
    begin();
    CHECK_INT(bcr_putwait(1000000), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, i % 2), 0);
    CHECK_INT(pthread_create(&taker, NULL, take_later, NULL), 0);
    CHECK_INT(bcr_put(1, number(4), there, cell, bcr_FREE), 0);
    CHECK_INT(pthread_join(taker, NULL), 0);
    CHECK_INT(bcr_putwait(3), 0);
    bcr_region rgid = number(9);
    void *data = *rgid;
    FAILS(bcr_put(1, rgid, there, cell, bcr_NOFREE), bcrE_FULL);
    FAILS(bcr_put(1, rgid, there, cell + 1, bcr_FREE), bcrE_FULL); /* of the same area */
    CHECK_INT(bcr_put(0, rgid, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgrealloc(rgid, 1), 0); /* nobody else has it */
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_rgfree(rgid), 0);
    FAILS(bcr_put(1, number(7), there, 77, bcr_FREE), bcrE_NOCELL);
    FAILS(bcr_put(1, number(7), there, 0, bcr_FREE), bcrE_RESERVED);
    CHECK_INT(bcr_putdone(0), 1);
    CHECK_INT(take_at_owner(cell), 9);
    world_kill(&world, 1, 0);
    FAILS(bcr_put(1, number(8), there, cell, bcr_FREE), bcrE_DEAD);
    FAILS_NULL(bcr_get(1, bcr_cce, 0, 0), bcrE_TIMEOUT);
    end();
}

static void *kill_owner(void *arg)
{
    const struct timespec a_while = {.tv_nsec = 5000000};
    nanosleep(&a_while, NULL);
    if (arg == NULL)
        world_kill(&world, 1, 0);
    else
        world_cut(&world);
    return arg;
}

TEST(a_put_that_waits_with_a_time_ends_with_its_owner_and_with_the_owners_host)
{
    for (int lost = 0; lost < 2; lost++) {
        pthread_t killer;
        begin();
        for (int i = 0; i < 4; i++)
            CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
        CHECK_INT(bcr_putwait(1000000), 0);
        bcr_region rgid = number(5);
        CHECK_INT(pthread_create(&killer, NULL, kill_owner, lost ? &world : NULL), 0);
        FAILS(bcr_put(1, rgid, there, cell, bcr_FREE), bcrE_DEAD);
        CHECK_INT(pthread_join(killer, NULL), 0);
        CHECK_INT(value_of(rgid), 5);
        FAILS(bcr_put(1, number(6), there, cell, bcr_FREE), bcrE_DEAD);
        end();
    }
}

/* What waits for room in the receive pool waits no longer than it would at a cell. */
TEST(a_put_with_a_time_finds_no_room_in_the_receive_pool)
{
    enum { BYTES = 300000 };
    begin(); /* 1 MiB, and room for four */
    CHECK_INT(bcr_putwait(0), 0);
    int put = 0;
    bcr_region rgid = filled(BYTES, 1);
    while (bcr_put(1, rgid, there, cell, bcr_NOFREE) == 0)
        put++;
    CHECK_INT(bcr_errno, bcrE_FULL);
    CHECK_INT(put, 3);
    CHECK_INT(bcr_celllen(there, cell), put);
    CHECK_INT(bcr_putwait(2), 0);
    FAILS(bcr_put(1, rgid, there, cell, bcr_NOFREE), bcrE_FULL);
    const int cells[] = {there, cell, there, cell + 1};
    FAILS(bcr_putm(1, rgid, 2, cells, bcr_NOFREE), bcrE_FULL);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(bcr_putm(1, rgid, 2, cells, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    rgid = filled(BYTES * 2, 1); /* more than half of the pool */
    FAILS(bcr_put(1, rgid, there, cell, bcr_FREE), bcrE_NOMEM);
    FAILS(bcr_putm(1, rgid, 2, cells, bcr_FREE), bcrE_NOMEM);
    end();
}

/* It is no lack of room that the region comes later than the puts that name it. */
TEST(a_putm_with_no_time_finds_the_room_that_there_is_though_packets_are_lost)
{
    enum { TIMES = 50, BYTES = 3000 };
    begin();
    pthread_mutex_lock(&world.mutex);
    for (int i = 0; i < WORLD_HOSTS; i++)
        world.host[i].end.path.lost = world.host[i].end.path.held = 200;
    pthread_mutex_unlock(&world.mutex);
    CHECK_INT(bcr_putwait(0), 0);
    const int cells[] = {there, cell, there, cell + 1};
    for (int i = 0; i < TIMES; i++) {
        CHECK_INT(bcr_putm(1, filled(BYTES, i), 2, cells, bcr_FREE), 0);
        for (int k = 0; k < 2; k++)
            CHECK_INT(bcr_rgfree(bcr_get(1, there, cell + k, bcr_BLOCK)), 0);
    }
    end();
}

/* The window is for those that nobody waits for. */
TEST(a_put_with_a_time_is_told_though_a_thousand_others_wait)
{
    enum { WINDOW = 1024 };
    begin();
    for (int i = 0; i < 4; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < WINDOW; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putwait(0), 0);
    FAILS(bcr_put(1, number(5), there, cell + 1, bcr_FREE), bcrE_FULL);
    end();
}
