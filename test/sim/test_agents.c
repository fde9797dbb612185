/* SPDX-License-Identifier: MIT */
/* Each routine on a cell of another host, with a thread that turns both agents: what it promises
 * within a host it promises here. */
#include "agent_idle.h"
#include "agents.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bcri/host.h"
#include "bcri/ids.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "memory.h"
#include "regions.h"

static struct world world;
static struct bcri_ctx *requester, *owner, *third;
static bcr_cce_id there, owner_of_third;
static int cell;

static void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

static void begin_with(uint64_t delay_ns, int nrgns)
{
    world_open(&world, 1, 1 << 20);
    world.host[0].end.path.delay_ns = world.host[1].end.path.delay_ns = delay_ns;
    requester = world.host[0].cce[0];
    owner = world.host[1].cce[0];
    third = world.host[0].cce[1];
    as(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 2, nrgns, 1 << 16);
    CHECK(cell >= 1);
    as(third);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) >= 1);
    owner_of_third = world_name(third, owner);
    as(requester);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) >= 1);
    there = world_name(requester, owner);
    requester->flags |= bcr_errors;
    world_start(&world);
}

static void begin(void)
{
    begin_with(20 * SIM_US, 4);
}

static void end(void)
{
    as(NULL);
    world_stop(&world);
    world_close(&world);
}

static int take_at_owner(int at)
{
    as(owner);
    const int value = value_of(bcr_get(1, bcr_cce, at, bcr_BLOCK));
    as(requester);
    return value;
}

TEST(a_put_arrives_and_a_get_gets_it)
{
    begin();
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 7);
    CHECK_INT(bcr_put(1, number(8), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(take_at_owner(cell), 8);
    end();
}

TEST(a_put_with_nofree_leaves_the_region_to_the_putter)
{
    begin();
    bcr_region rgid = number(3);
    CHECK_INT(bcr_put(1, rgid, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_put(1, rgid, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(value_of(rgid), 3);
    CHECK_INT(take_at_owner(cell), 3);
    CHECK_INT(take_at_owner(cell), 3);
    end();
}

TEST(write_read_zap_and_length_do_what_they_do_here)
{
    begin();
    CHECK_INT(bcr_celllen(there, cell), 0);
    CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, number(2), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(there, cell), 2);
    CHECK_INT(bcr_put(0, number(5), there, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(0, there, cell, bcr_BLOCK)), 5);
    CHECK_INT(bcr_celllen(there, cell), 1);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    end();
}

TEST(a_get_ends_when_its_time_is_up_at_the_cell)
{
    begin();
    FAILS_NULL(bcr_get(1, there, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_get(1, there, cell, 30), bcrE_TIMEOUT);
    CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, there, cell, 0)), 1);
    end();
}

TEST(a_pending_get_is_served_waited_for_and_cancelled)
{
    begin();
    bcr_region first = bcr_get(1, there, cell, bcr_PENDING), second = bcr_get(1, there, cell, bcr_PENDING);
    FAILS(bcr_put(1, first, there, cell, bcr_FREE), bcrE_PENDING);
    CHECK_INT(bcr_rgwait(first, 0, 0), 0);
    as(owner);
    CHECK_INT(bcr_put(1, number(4), bcr_cce, cell, bcr_FREE), 0);
    as(requester);
    CHECK_INT(bcr_rgwait(first, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(first), 4);
    CHECK_INT(bcr_rgwait(second, 1, 1), 0);
    second = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(bcr_rgfree(second), 0);
    CHECK_INT(bcr_put(1, number(5), there, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 5);
    end();
}

TEST(what_only_the_owner_knows_comes_as_an_error_region)
{
    begin();
    CHECK_INT(bcr_put(1, number(4), there, 77, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    bcr_region error = bcr_get(1, bcr_cce, 0, bcr_BLOCK);
    CHECK_INT(bcr_rgerror(error), bcrE_NOCELL);
    CHECK(strstr(world.host[0].note, " into cell 77 of CCE 0 there failed: ") != NULL);
    CHECK_INT(bcr_rgfree(error), 0);
    FAILS_NULL(bcr_get(1, there, 77, bcr_BLOCK), bcrE_NOCELL);
    FAILS(bcr_zap(there, 77), bcrE_NOCELL);
    FAILS(bcr_celllen(there, 77), bcrE_NOCELL);
    FAILS_NULL(bcr_get(1, there, 0, 0), bcrE_RESERVED);
    end();
}

TEST(a_put_that_finds_no_room_waits_there_or_is_told)
{
    begin();
    for (int i = 0; i < 6; i++) /* room for 4 */
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(20), 0);
    for (int i = 0; i < 6; i++)
        CHECK_INT(take_at_owner(cell), i);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_putwait(0), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    bcr_region rgid = number(4);
    FAILS(bcr_put(1, rgid, there, cell, bcr_FREE), bcrE_FULL);
    CHECK_INT(value_of(rgid), 4);
    FAILS_NULL(bcr_get(1, bcr_cce, 0, 0), bcrE_TIMEOUT); /* no error region */
    CHECK_INT(bcr_celllen(there, cell), 4);
    end();
}

/* ---- what failed after its call had returned ---- */

TEST(the_next_put_into_a_cell_tells_that_one_has_failed_and_keeps_its_region)
{
    begin();
    CHECK_INT(bcr_put(1, number(1), there, 77, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, number(2), there, 77, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, number(3), there, 78, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_put(1, number(4), there, cell, bcr_FREE), 0); /* another cell of that CCE */
    bcr_region rgid = number(5);
    void *data = *rgid;
    FAILS(bcr_put(1, rgid, there, 77, bcr_FREE), bcrE_NOCELL);
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_put(1, rgid, there, 77, bcr_FREE), 0); /* it was told once, for both */
    CHECK_INT(bcr_putwait(0), 0);
    FAILS(bcr_put(1, number(6), there, 78, bcr_FREE), bcrE_NOCELL);
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    FAILS(bcr_rlswl(number(7), there, 77), bcrE_NOCELL);
    end();
}

TEST(that_a_cce_has_ended_all_later_puts_tell_at_once)
{
    begin();
    CHECK_INT(bcr_put(1, number(1), there, 77, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    world_kill(&world, 1, 0);
    CHECK_INT(bcr_put(1, number(2), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    pthread_mutex_lock(&world.mutex); /* the agents stand still */
    for (int i = 0; i < 3; i++) {
        bcr_region rgid = number(3);
        FAILS(bcr_put(1, rgid, there, cell + i, bcr_FREE), bcrE_DEAD);
        FAILS(bcr_put(1, rgid, there, 77, bcr_NOFREE), bcrE_DEAD);
        CHECK_INT(value_of(rgid), 3);
    }
    pthread_mutex_unlock(&world.mutex);
    end();
}

/* The agent writes so many before the CCE reads any, in the same places. */
TEST(each_of_a_thousand_cells_whose_put_has_failed_is_told_of_once)
{
    enum { MANY = 1000, ROUNDS = 3 };
    begin_with(0, 4);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, MANY, 1 << 20) >= 1, 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++)
            CHECK_INT(bcr_put(1, number(i), there, 100 + i, bcr_FREE), 0);
        CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
        for (int i = MANY; i-- > 0;) {
            bcr_region rgid = number(i);
            FAILS(bcr_put(1, rgid, there, 100 + i, bcr_FREE), bcrE_NOCELL);
            CHECK_INT(value_of(rgid), i);
        }
    }
    end();
}

/* ---- puts whose time is waited at the cell ---- */

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

TEST(a_write_lock_excludes_and_its_takers_end_is_known)
{
    begin();
    CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
    bcr_region lock = bcr_acqwl(there, cell, bcr_BLOCK);
    CHECK(lock != NULL);
    ++**(int **)lock;
    as(third);
    FAILS_NULL(bcr_acqwl(owner_of_third, cell, 0), bcrE_TIMEOUT);
    as(requester);
    CHECK_INT(bcr_rlswl(lock, there, cell), 0);
    as(third);
    lock = bcr_acqwl(owner_of_third, cell, bcr_BLOCK);
    CHECK_INT(peek(lock), 2);
    as(requester);
    bcr_region waits = bcr_acqwl(there, cell, bcr_PENDING);
    CHECK(waits != NULL);
    world_kill(&world, 0, 1);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_get(1, there, cell, 0), bcrE_OWNERDEAD);
    CHECK_INT(bcr_put(1, number(9), there, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 9);
    end();
}

/* ---- regions that go back ---- */

static atomic_int round_wanted;
static int far_off;

static void *put_each_round(void *rounds)
{
    bcri_self_set(owner);
    for (int i = 1; i <= *(int *)rounds; i++) {
        while (atomic_load(&round_wanted) < i)
            ;
        CHECK_INT(bcr_put(1, number(i), bcr_cce, far_off, bcr_FREE), 0);
    }
    bcri_self_set(NULL);
    return NULL;
}

/* The second of them may be served while the first one is cancelled: its region goes back. */
TEST(gets_that_are_given_up_together_have_taken_nothing)
{
    enum { MORE = 200 };
    int rounds = 300;
    pthread_t putter;
    begin();
    as(owner);
    far_off =
        bcr_cagrow(cell + MORE, 0, 0, 0, MORE, 4, 1 << 16) + MORE - 1; /* no processor has that number */
    as(requester);
    CHECK_INT(pthread_create(&putter, NULL, put_each_round, &rounds), 0);
    for (int i = 1; i <= rounds; i++) {
        bcr_region ids[] = {bcr_get(1, there, cell, bcr_PENDING), bcr_get(1, there, far_off, bcr_PENDING)};
        CHECK_INT(bcr_celllen(there, cell), 0); /* they wait there */
        atomic_store(&round_wanted, i);
        const int ready = bcr_rgwaitm(2, ids, 0, 1);
        if (ready == 2) {
            CHECK_INT(value_of(ids[1]), i);
            CHECK_INT(bcr_rgfree(ids[0]), 0);
            continue;
        }
        CHECK_INT(ready, 0);
        CHECK_INT(value_of(bcr_get(1, there, far_off, bcr_BLOCK)), i);
    }
    CHECK_INT(pthread_join(putter, NULL), 0);
    end();
}

TEST(what_is_too_large_to_go_back_is_told_in_the_log)
{
    enum { BYTES = 600000 }; /* more than half of the owner's pool */
    struct bcri_id id = {0};
    begin();
    as(owner);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 1, BYTES) >= 1);
    CHECK_INT(bcr_put(1, filled(BYTES, 1), bcr_cce, cell, bcr_FREE), 0);
    as(requester);
    CHECK_INT(bcri_id_look(requester, bcr_get(1, there, cell, bcr_BLOCK), &id), 0);
    bcri_order_return(requester, id.slot);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    pthread_mutex_lock(&world.mutex);
    CHECK(strstr(world.host[0].note, "gives back") != NULL);
    pthread_mutex_unlock(&world.mutex);
    CHECK_INT(bcr_celllen(there, cell), 0);
    end();
}

TEST(many_regions_arrive_in_order)
{
    begin_with(0, 4096);
    enum { MANY = 3000 };
    for (int i = 0; i < MANY; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), i);
    end();
}

static atomic_bool is_held;

static void *hold_agents(void *arg)
{
    const struct timespec a_while = {.tv_nsec = 50000000};
    pthread_mutex_lock(&world.mutex);
    atomic_store(&is_held, true);
    nanosleep(&a_while, NULL);
    pthread_mutex_unlock(&world.mutex);
    return arg;
}

TEST(gets_that_find_the_outbox_full_do_not_wait_for_puts)
{
    enum { WINDOW = 1024, PLACED = 4, GETS = 300 };
    pthread_t holder;
    begin();
    for (int i = 0; i < PLACED; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < WINDOW; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    (void)!bcr_putwait(5);
    bcr_region rgid = number(0);
    FAILS(bcr_put(1, rgid, there, cell, bcr_FREE), bcrE_FULL);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(pthread_create(&holder, NULL, hold_agents, NULL), 0);
    while (!atomic_load(&is_held))
        ;
    for (int i = 0; i < GETS; i++)
        CHECK(bcr_get(1, there, cell + 1, bcr_PENDING) != NULL);
    CHECK_INT(pthread_join(holder, NULL), 0);
    end();
}

static int times_woken(int bell_fd)
{
    uint64_t times = 0;
    return read(bell_fd, &times, sizeof times) == sizeof times ? (int)times : 0;
}

TEST(an_agent_that_has_not_taken_what_it_was_woken_for_is_not_woken_again)
{
    begin();
    struct bcri_bell_shm *bell = world.host[0].agent_ctx->bell;
    const int bell_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), had_fd = requester->bell_fd;
    CHECK(bell_fd >= 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    requester->bell_fd = bell_fd;
    for (int turn = 0; turn < 3; turn++) {
        pthread_mutex_lock(&world.mutex); /* the agents stand still */
        bcri_store(&bell->sleeping, BCRI_SLEEPS_IN_EPOLL);
        CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
        CHECK_INT(times_woken(bell_fd), 1);
        if (turn == 0)
            CHECK_INT(bcr_put(1, number(2), there, cell, bcr_FREE), 0);
        CHECK_INT(times_woken(bell_fd), 0);
        bcri_store(&bell->sleeping, BCRI_AWAKE);
        pthread_mutex_unlock(&world.mutex);
        CHECK_INT(take_at_owner(cell), 1);
        if (turn == 0)
            CHECK_INT(take_at_owner(cell), 2);
    }
    requester->bell_fd = had_fd;
    close(bell_fd);
    end();
}

TEST(many_gets_wait_and_are_cancelled_in_any_order)
{
    enum { MANY = 3000 };
    static bcr_region waits[MANY];
    uint64_t dice = test_seed();
    begin_with(0, 4);
    for (int i = 0; i < MANY; i++)
        CHECK((waits[i] = bcr_get(1, there, cell + i % 2, bcr_PENDING)) != NULL);
    for (int left = MANY; left > 1; left--) { /* one is left */
        const uint64_t which = test_rand_below(&dice, (uint64_t)left);
        CHECK_INT(bcr_rgfree(waits[which]), 0);
        waits[which] = waits[left - 1];
    }
    as(owner);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_put(1, number(6), bcr_cce, cell + i, bcr_FREE), 0);
    as(requester);
    CHECK_INT(bcr_rgwait(waits[0], bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(waits[0]), 6);
    CHECK_INT(bcr_celllen(there, cell) + bcr_celllen(there, cell + 1), 1);
    end();
}

TEST(a_large_region_arrives_whole)
{
    begin();
    bcr_region rgid = filled(300000, 0x5a);
    CHECK_INT(bcr_put(1, rgid, there, cell, bcr_FREE), 0);
    rgid = bcr_get(1, there, cell, bcr_BLOCK);
    CHECK_INT(bcr_rglen(rgid, NULL), 300000);
    for (int i = 0; i < 300000; i++)
        CHECK_INT((*(char **)rgid)[i], 0x5a);
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_put(1, filled(600000, 1), there, cell, bcr_FREE), 0); /* more than half of the pool */
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    rgid = bcr_get(1, bcr_cce, 0, 0);
    CHECK_INT(bcr_rgerror(rgid), bcrE_NOMEM);
    CHECK(strstr(world.host[0].note, "recvpool") != NULL);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

TEST(putm_puts_here_and_there)
{
    begin();
    const int cells[] = {there, cell, there, cell + 1, there, 77};
    CHECK_INT(bcr_putm(1, number(6), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(take_at_owner(cell), 6);
    CHECK_INT(take_at_owner(cell + 1), 6);
    bcr_region error = bcr_get(1, bcr_cce, 0, 0);
    CHECK_INT(bcr_rgerror(error), bcrE_NOCELL);
    CHECK_INT(bcr_rgfree(error), 0);
    end();
}

TEST(requests_that_time_out_together_take_nothing)
{
    begin();
    bcr_region requests[2] = {bcr_get(1, there, cell, bcr_PENDING), bcr_get(1, there, cell + 1, bcr_PENDING)};
    CHECK_INT(bcr_rgwaitm(2, requests, 5, 1), 0);
    as(owner);
    CHECK_INT(bcr_put(1, number(3), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 1);
    as(requester);
    end();
}

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

/* Virtual time: no call may wait. */
static void begin_by_hand(void)
{
    world_open(&world, 1, 1 << 20);
    requester = world.host[0].cce[0];
    owner = world.host[1].cce[0];
    third = world.host[0].cce[1];
    as(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 2, 4, 1 << 16);
    CHECK(cell >= 1);
    as(requester);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) >= 1);
    there = world_name(requester, owner);
}

static void end_by_hand(void)
{
    as(NULL);
    world_close(&world);
}

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

/* The requester has ended; its number serves a new one. */
static void succeed(uint32_t number_of_first)
{
    bcri_host_cce_release(group_host(world.host[0].group), number_of_first);
    as(requester = world.host[0].cce[0] = group_join(world.host[0].group));
    CHECK_UINT(requester->index, number_of_first);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) >= 1);
    there = world_name(requester, owner);
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

TEST(errors_that_could_not_be_told_at_once_are_told_in_their_order)
{
    begin_by_hand();
    requester->flags |= bcr_errors;
    struct bcri_resolved *cell0;
    CHECK_INT(bcri_resolved_find(third, world_name(third, requester), 0, &cell0), 0);
    CHECK(bcri_lock_try(third, &cell0->cell->t.lock));
    for (int at = 70; at < 74; at++)
        CHECK_INT(bcr_put(1, number(at), there, at, bcr_FREE), 0);
    CHECK(!world_settle(&world, SIM_S)); /* the agent is parked */
    bcri_unlock(third, &cell0->cell->t.lock);
    CHECK(world_settle(&world, SIM_S));
    as(requester);
    for (int at = 70; at < 74; at++) {
        bcr_region error = bcr_get(1, bcr_cce, 0, 0);
        int said[4];
        CHECK(error != NULL);
        bcr_copyfm(bcrT_1ERROR, 1, error, 0, said, sizeof said);
        CHECK_INT(said[3], at);
        CHECK_INT(bcr_rgfree(error), 0);
    }
    end_by_hand();
}

TEST(an_error_that_could_not_be_told_is_not_told_to_the_next_with_the_number)
{
    begin_by_hand();
    requester->flags |= bcr_errors;
    CHECK_INT(bcr_put(1, number(1), there, 77, bcr_FREE), 0);
    struct bcri_resolved *cell0;
    CHECK_INT(bcri_resolved_find(third, world_name(third, requester), 0, &cell0), 0);
    CHECK(bcri_lock_try(third, &cell0->cell->t.lock));
    CHECK(!world_settle(&world, SIM_S)); /* the agent is parked */
    const uint32_t number_of_first = requester->index;
    struct bcri_ctx *const first = requester;
    as(NULL);
    world.host[0].cce[0] = NULL;
    bcri_cce_dying(group_host(world.host[0].group), number_of_first);
    bcri_agent_forget(world.host[0].agent, number_of_first);
    bcri_unlock(third, &cell0->cell->t.lock);
    group_leave(world.host[0].group, first);
    succeed(number_of_first);
    CHECK(world_settle(&world, SIM_S));
    FAILS_NULL(bcr_get(1, bcr_cce, 0, 0), bcrE_TIMEOUT);
    end_by_hand();
}

static uint64_t bytes_of_owner(void)
{
    return bcri_link_counts(world.host[1].end.link)->bytes_sent;
}

static bool all_done(void)
{
    as(requester);
    return bcr_putdone(0) == 1;
}

TEST(puts_are_answered_together_and_soon)
{
    enum { PUTS = 200 };
    begin_by_hand();
    as(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 1, PUTS, 1 << 16);
    as(requester);
    CHECK_INT(bcr_put(1, number(0), there, cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    CHECK(all_done());
    const uint64_t bytes = bytes_of_owner();
    for (int i = 1; i < PUTS; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    const uint64_t begun = sim_now(world.network);
    CHECK(world_settle(&world, SIM_S));
    CHECK(all_done());
    CHECK(sim_now(world.network) - begun < 5 * SIM_MS);
    CHECK(bytes_of_owner() - bytes < (uint64_t)10 * PUTS); /* an answer has 32 */
    end_by_hand();
}

/* The puts around it are answered together. */
TEST(a_put_that_is_refused_is_told_though_later_ones_are_done)
{
    begin_by_hand();
    requester->flags |= bcr_errors;
    CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, filled(600000, 1), there, cell, bcr_FREE), 0); /* more than half of the pool */
    CHECK_INT(bcr_put(1, number(2), there, 77, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, number(3), there, cell, bcr_FREE), 0);
    CHECK(world_settle(&world, 10 * SIM_S));
    CHECK(all_done());
    int refused = 0;
    for (bcr_region error; (error = bcr_get(1, bcr_cce, 0, 0)) != NULL; refused++)
        CHECK_INT(bcr_rgfree(error), 0);
    CHECK_INT(refused, 2);
    as(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 1);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 3);
    end_by_hand();
}

TEST(a_put_that_waits_for_room_is_done_when_it_has_some)
{
    begin_by_hand();
    for (int i = 0; i < 6; i++) /* room for 4 in the first cell's area, which both cells share */
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    (void)world_settle(&world, SIM_S);
    CHECK(!all_done());
    as(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 0);
    (void)world_settle(&world, SIM_S);
    CHECK(!all_done());
    as(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 1);
    CHECK(world_settle(&world, SIM_S));
    CHECK(all_done());
    end_by_hand();
}

/* The next CCE with the number has puts of its own. */
TEST(puts_of_a_cce_that_has_ended_are_answered_before_its_end)
{
    begin_by_hand();
    CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
    const uint32_t number_of_first = requester->index;
    world_kill(&world, 0, 0);
    succeed(number_of_first);
    CHECK_INT(bcr_put(1, number(2), there, cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S)); /* also of the first nothing is left */
    CHECK(all_done());
    end_by_hand();
}

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
