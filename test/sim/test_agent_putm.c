/* SPDX-License-Identifier: MIT */
/* bcr_putm to cells of another host: the region goes there once, whatever becomes of single cells, of CCEs and of the
 * hosts, and nothing of it is left in either agent. Turned by hand: virtual time, and no call waits. */
#include "agents.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/cces.h"
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/get.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "bcri/put.h"
#include "bcri/self.h"
#include "links/agent/serve.h"
#include "memory.h"
#include "regions.h"

enum { POOL_BYTES = 1 << 20, LARGE = 100000, ROOM = 10, DELAY_NS = 50 * SIM_US };

static struct world world;
static struct bcri_ctx *requester, *owner[2];
static bcr_cce_id there[2];
static int cell;

static void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

static void begin_with(uint64_t seed, uint64_t pool, int area)
{
    world_open(&world, seed, pool);
    world.host[0].end.path.delay_ns = world.host[1].end.path.delay_ns = DELAY_NS;
    requester = world.host[0].cce[0];
    for (int i = 0; i < 2; i++) {
        as(owner[i] = world.host[1].cce[i]);
        cell = bcr_cagrow(0, 0, 0, 0, 2, ROOM, 1 << 16);
        CHECK(cell >= 1);
    }
    as(requester);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, area) >= 1);
    for (int i = 0; i < 2; i++)
        there[i] = world_name(requester, owner[i]);
    requester->flags |= bcr_errors;
}
static void begin(void)
{
    begin_with(1, POOL_BYTES, 4 << 20);
}

static void keeps_nothing(void)
{
    for (int i = 0; i < WORLD_HOSTS; i++) {
        const struct bcri_agent *const agent = world.host[i].agent;
        CHECK_UINT(agent->shares.count, 0);
        CHECK_UINT(agent->payloads.count, 0);
        CHECK(list_is_empty(&agent->shares_over));
        const struct peer *peer;
        LIST_FOREACH (peer, &agent->peers, of_agent) {
            CHECK_UINT(peer->payloads_unknown, 0);
            CHECK_UINT(peer->orders, 0);
        }
    }
}

static void end(void)
{
    as(NULL);
    (void)world_settle(&world, SIM_S);
    keeps_nothing();
    world_close(&world);
}

/* Both owners' first cells, then both second ones: every put but the first names what went with that. */
static void putm(bcr_region rgid, int nofree)
{
    const int cells[] = {there[0], cell, there[1], cell, there[0], cell + 1, there[1], cell + 1};
    as(requester);
    CHECK_INT(bcr_putm(1, rgid, 4, cells, nofree), 0);
}

/* The next put into each of these cells. */
static void next_putm_fails(int code)
{
    const int cells[] = {there[0], cell, there[1], cell, there[0], cell + 1, there[1], cell + 1};
    as(requester);
    FAILS(bcr_putm(1, filled(1, 1), 4, cells, bcr_FREE), code);
}

static void owner_has(int which, int at, int length, int value)
{
    as(owner[which]);
    bcr_region rgid = bcr_get(1, bcr_cce, at, 0);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rglen(rgid, NULL), length);
    for (int i = 0; i < length; i++)
        CHECK_INT((*(signed char **)rgid)[i], value);
    CHECK_INT(bcr_rgfree(rgid), 0);
    as(requester);
}

static void all_have(int length, int value)
{
    for (int i = 0; i < 4; i++)
        owner_has(i % 2, cell + i / 2, length, value);
}

static int told(int code)
{
    int count = 0;
    as(requester);
    for (bcr_region error; (error = bcr_get(1, bcr_cce, 0, 0)) != NULL; count++) {
        CHECK_INT(bcr_rgerror(error), code);
        CHECK_INT(bcr_rgfree(error), 0);
    }
    return count;
}

static uint64_t bytes_sent(void)
{
    return world.host[0].end.link != NULL ? bcri_link_counts(world.host[0].end.link)->bytes_sent : 0;
}

static bool all_done(void)
{
    as(requester);
    return bcr_putdone(0) == 1;
}

TEST(the_region_goes_to_a_host_once)
{
    begin();
    bcr_region rgid = filled(LARGE, 1);
    putm(rgid, bcr_NOFREE);
    CHECK(world_settle(&world, SIM_S));
    CHECK(all_done());
    CHECK(bytes_sent() >= LARGE);
    CHECK(bytes_sent() < LARGE + LARGE / 4);
    keeps_nothing();
    all_have(LARGE, 1);
    /* The next call has a region of its own, though it is the same. */
    CHECK_INT(bcr_rgmod(rgid), 0);
    (*(signed char **)rgid)[0] = 2;
    (*(signed char **)rgid)[LARGE - 1] = 2;
    const uint64_t bytes = bytes_sent();
    putm(rgid, bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    CHECK(bytes_sent() - bytes >= LARGE);
    CHECK(bytes_sent() - bytes < LARGE + LARGE / 4);
    as(owner[1]);
    rgid = bcr_get(1, bcr_cce, cell, 0);
    CHECK_INT((*(signed char **)rgid)[0], 2);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

/* Two calls at once: what is written between them is not seen by the cells of the first. */
TEST(a_region_that_is_changed_goes_again)
{
    begin();
    bcr_region rgid = filled(LARGE, 1);
    putm(rgid, bcr_NOFREE);
    world_turn(&world);
    CHECK_INT(bcr_rgmod(rgid), 0);
    for (int i = 0; i < LARGE; i++)
        (*(signed char **)rgid)[i] = 2;
    putm(rgid, bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    for (int value = 1; value <= 2; value++)
        all_have(LARGE, value);
    end();
}

/* The puts may be answered while the link still has the region, if acknowledgements are lost. */
TEST(when_all_is_done_the_putter_has_its_region_alone)
{
    enum { RUNS = 60, BYTES = 20000 };
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        begin_with(seed, POOL_BYTES, 4 << 20);
        world.host[1].end.path.lost = 300;
        bcr_region rgid = filled(BYTES, 1);
        const void *const at = *rgid;
        const int cells[] = {there[0], cell, there[1], cell};
        CHECK_INT(bcr_putm(1, rgid, 2, cells, bcr_NOFREE), 0);
        const uint64_t since = sim_now(world.network);
        for (uint64_t until = DELAY_NS / 5; !all_done(); until += DELAY_NS / 5)
            (void)world_settle(&world, until - (sim_now(world.network) - since));
        CHECK_INT(bcr_rgmod(rgid), 0);
        CHECK(*rgid == at);
        CHECK_INT(bcr_rgfree(rgid), 0);
        world.host[1].end.path.lost = 0;
        end();
    }
}

TEST(a_short_region_goes_to_each_cell)
{
    begin();
    putm(filled(BCRI_ORDER_SHARED_MIN - 1, 3), bcr_FREE);
    world_turn(&world);
    for (int i = 0; i < WORLD_HOSTS; i++)
        CHECK_UINT(world.host[i].agent->shares.count, 0);
    CHECK(world_settle(&world, SIM_S));
    all_have(BCRI_ORDER_SHARED_MIN - 1, 3);
    putm(filled(BCRI_ORDER_SHARED_MIN, 4), bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    all_have(BCRI_ORDER_SHARED_MIN, 4);
    end();
}

/* Else its taker would share it with the agent, which waits to hear that there are no further puts. */
TEST(a_region_for_one_cell_of_a_host_is_its_takers_alone)
{
    begin();
    const int here = bcr_cagrow(0, 0, 0, 0, 2, 2, 1 << 16);
    const int cells[] = {bcr_cce, here, there[0], cell, bcr_cce, here + 1};
    CHECK(here >= 1);
    CHECK_INT(bcr_putm(1, filled(LARGE, 1), 3, cells, bcr_FREE), 0);
    world_turn(&world);
    CHECK_UINT(world.host[0].agent->shares.count, 0);
    CHECK_INT(bcr_zap(bcr_cce, here), 0);
    CHECK_INT(bcr_zap(bcr_cce, here + 1), 0);
    const uint64_t since = sim_now(world.network);
    as(owner[0]);
    bcr_region rgid;
    for (uint64_t until = DELAY_NS; (rgid = bcr_get(1, bcr_cce, cell, 0)) == NULL; until += DELAY_NS / 8)
        (void)world_settle(&world, until - (sim_now(world.network) - since));
    CHECK_INT(bcr_rgrealloc(rgid, 100), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

TEST(puts_of_a_cell_keep_their_order_around_a_putm)
{
    begin();
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_put(1, filled(LARGE, 5), there[i], cell, bcr_FREE), 0);
    putm(filled(LARGE, 6), bcr_FREE);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_put(1, filled(10, 7), there[i], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    for (int i = 0; i < 2; i++) {
        owner_has(i, cell, LARGE, 5);
        owner_has(i, cell, LARGE, 6);
        owner_has(i, cell, 10, 7);
    }
    end();
}

/* The pool has no room for it, behind the first owner's regions. The second owner's stream waits for it, too. */
TEST(puts_that_overtake_the_region_wait_for_it)
{
    enum { THIRD = POOL_BYTES / 3 };
    begin();
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, filled(THIRD, i), there[0], cell, bcr_FREE), 0);
    (void)world_settle(&world, SIM_S);
    putm(filled(THIRD, 9), bcr_FREE);
    (void)world_settle(&world, SIM_S);
    as(owner[1]);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    for (int i = 0; i < 3; i++)
        owner_has(0, cell, THIRD, i);
    CHECK(world_settle(&world, SIM_S));
    all_have(THIRD, 9);
    end();
}

/* The second owner's stream stands still at a large put. Of seven regions the puts to the first owner are done; those to the
 * second are behind the large one, which needs their room. */
TEST(regions_that_wait_for_further_puts_make_room_for_what_is_before_those)
{
    enum { MANY = 7 };
    begin();
    CHECK_INT(bcr_put(1, filled(400000, 1), there[0], cell, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, filled(300000, 2), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(bcr_put(1, filled(500000, 3), there[1], cell, bcr_FREE), 0);
    for (int i = 0; i < MANY; i++) {
        const int cells[] = {there[0], cell + 1, there[1], cell + 1};
        CHECK_INT(bcr_putm(1, filled(LARGE, 10 + i), 2, cells, bcr_FREE), 0);
    }
    (void)world_settle(&world, SIM_S);
    as(owner[0]);
    bcr_region first = bcr_get(1, bcr_cce, cell, 0);
    owner_has(0, cell, 300000, 2);
    (void)world_settle(&world, SIM_S);
    as(owner[0]);
    CHECK_INT(bcr_rgfree(first), 0);
    (void)world_settle(&world, SIM_S);
    for (int i = 0; i < MANY; i++) {
        owner_has(0, cell + 1, LARGE, 10 + i);
        (void)world_settle(&world, SIM_S);
    }
    owner_has(1, cell, 500000, 3);
    (void)world_settle(&world, SIM_S);
    for (int i = 0; i < MANY; i++) {
        owner_has(1, cell + 1, LARGE, 10 + i);
        (void)world_settle(&world, SIM_S);
    }
    end();
}

TEST(a_region_that_the_pool_never_takes_fails_for_all_cells)
{
    begin();
    putm(filled(POOL_BYTES / 2 + 1, 1), bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    CHECK(all_done());
    CHECK_INT(told(bcrE_NOMEM), 4);
    CHECK(bytes_sent() < LARGE);
    next_putm_fails(bcrE_NOMEM);
    CHECK_INT(told(bcrE_NOMEM), 4);
    putm(filled(LARGE, 2), bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    all_have(LARGE, 2);
    end();
}

/* The host refuses even to remember that it has refused it. */
TEST(a_host_that_can_remember_nothing_refuses_all)
{
    begin();
    CHECK_INT(bcr_put(1, number(1), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    world.host[1].agent->peer_bytes_max = sizeof(struct stream_in);
    putm(filled(LARGE, 1), bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    CHECK(all_done());
    CHECK_INT(told(bcrE_NOMEM), 4);
    keeps_nothing();
    world.host[1].agent->peer_bytes_max = PEER_BYTES_MAX;
    as(owner[0]);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    next_putm_fails(bcrE_NOMEM);
    CHECK_INT(told(bcrE_NOMEM), 4);
    putm(filled(LARGE, 2), bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    all_have(LARGE, 2);
    end();
}

TEST(cells_that_fail_and_cells_without_room_hold_up_no_other)
{
    begin();
    const int cells[] = {there[0], 77, there[0], cell, there[1], cell, there[1], 78, there[1], cell + 1};
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    CHECK_INT(bcr_putm(1, filled(LARGE, 1), 5, cells, bcr_FREE), 0);
    (void)world_settle(&world, SIM_S);
    keeps_nothing();
    CHECK_INT(told(bcrE_NOCELL), 2);
    owner_has(1, cell, LARGE, 1);
    owner_has(1, cell + 1, LARGE, 1);
    CHECK(!all_done());
    as(owner[0]);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    (void)world_settle(&world, SIM_S);
    owner_has(0, cell, LARGE, 1);
    end();
}

TEST(a_write_to_several_cells_replaces_what_is_there)
{
    begin();
    const int cells[] = {there[0], cell, there[1], cell};
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_put(1, number(i), there[i], cell, bcr_FREE), 0);
    CHECK_INT(bcr_putm(0, filled(LARGE, 1), 2, cells, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    for (int i = 0; i < 2; i++) {
        as(owner[i]);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
        owner_has(i, cell, LARGE, 1);
    }
    end();
}

/* Wherever the region is when its putter is killed, it is carried out; when the hosts lose each other, nothing of it is left
 * but what has reached its cells, whole. */
TEST(ends_of_the_putter_and_of_its_host_leave_nothing)
{
    for (int cut = 0; cut < 2; cut++)
        for (uint64_t after = 0; after <= 2 * SIM_MS; after += 100 * SIM_US) {
            begin();
            putm(filled(LARGE, 1), bcr_FREE);
            (void)world_settle(&world, after);
            if (cut)
                world_cut(&world);
            else
                world_kill(&world, 0, 0);
            CHECK(world_settle(&world, SIM_S));
            if (!cut)
                all_have(LARGE, 1);
            for (int i = 0; cut && i < 4; i++) {
                as(owner[i % 2]);
                if (bcr_celllen(bcr_cce, cell + i / 2) != 0)
                    owner_has(i % 2, cell + i / 2, LARGE, 1);
            }
            end();
        }
}

TEST(an_owner_that_has_ended_does_not_hold_up_the_other)
{
    begin();
    world_kill(&world, 1, 0);
    putm(filled(LARGE, 1), bcr_FREE);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(told(bcrE_DEAD), 2);
    owner_has(1, cell, LARGE, 1);
    owner_has(1, cell + 1, LARGE, 1);
    end();
}

/* Whichever allocation fails, in either agent or in a link, each put is done or told. */
TEST(without_memory_each_cell_has_the_region_or_its_putter_is_told)
{
    for (uint64_t which = 0, asked = 1; which < asked; which++) {
        begin();
        CHECK_INT(bcr_put(1, number(1), there[0], cell, bcr_FREE), 0);
        CHECK(world_settle(&world, SIM_S)); /* there is a link */
        as(owner[0]);
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 1);
        as(requester);
        putm(filled(LARGE, 1), bcr_FREE);
        memory_fails_after(which);
        (void)world_settle(&world, 2 * SIM_S);
        asked = memory_asked();
        memory_fails_after(UINT64_MAX);
        CHECK(world_settle(&world, SIM_S));
        CHECK(all_done());
        int there_now = 0;
        for (int i = 0; i < 4; i++) {
            as(owner[i % 2]);
            there_now += bcr_celllen(bcr_cce, cell + i / 2);
        }
        CHECK_INT(there_now + told(bcrE_NOMEM), 4);
        end();
    }
}

static void order_for(bcr_region rgid, int to, int at, int msec, bool shares)
{
    struct bcri_id id = {0};
    struct bcri_ctx *const ctx = bcri_enter();
    CHECK_INT(bcri_id_look(ctx, rgid, &id), 0);
    struct bcri_put put = {.key = bcri_resolved_key(there[to], at),
                           .slot = id.slot,
                           .slot_ref = id.ref,
                           .region = bcri_slot_region(id.word),
                           .nofree = true,
                           .msec = msec,
                           .shares = shares};
    CHECK_INT(bcri_order_put(ctx, &put, bcr_op_putm, BCRI_DEADLINE_PASSED), 0);
}

static void order_one(bcr_region rgid, int to, int at)
{
    order_for(rgid, to, at, bcr_BLOCK, true);
}

/* As within a host. */
TEST(a_put_that_waits_with_a_time_is_withdrawn_when_its_cce_ends_and_any_other_is_carried_out)
{
    begin();
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    order_for(number(77), 0, cell, 1000000, false);
    order_for(number(78), 0, cell, bcr_BLOCK, false);
    (void)world_settle(&world, SIM_S);
    world_kill(&world, 0, 0);
    (void)world_settle(&world, SIM_S);
    as(owner[0]);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 78);
    FAILS_NULL(bcr_get(1, bcr_cce, cell, 0), bcrE_TIMEOUT);
    end();
}

/* A region that a cell holds would stay in the pool all the same. */
TEST(only_a_region_that_nobody_else_holds_makes_room)
{
    enum { HALF = POOL_BYTES / 2 };
    begin();
    bcr_region rgid = filled(LARGE, 1);
    order_one(rgid, 0, cell);
    CHECK_INT(bcr_rgfree(rgid), 0);
    (void)world_settle(&world, SIM_S);
    const struct peer *const peer = LIST_FIRST(&world.host[1].agent->peers);
    const struct payload *const payload = FIRST_OF(&peer->payloads, struct payload, of_peer);
    CHECK(payload != NULL);
    for (int i = 0; i < 2; i++) /* there is room for one */
        CHECK_INT(bcr_put(1, filled(HALF, 2), there[1], cell, bcr_FREE), 0);
    (void)world_settle(&world, SIM_S);
    CHECK(payload->region != NULL);
    owner_has(0, cell, LARGE, 1);
    (void)world_settle(&world, SIM_S);
    CHECK(payload->region == NULL);
    for (int i = 0; i < 2; i++) {
        owner_has(1, cell, HALF, 2);
        (void)world_settle(&world, SIM_S);
    }
    order_one(rgid = filled(1000, 3), 1, cell); /* another region ends the first's share */
    CHECK_INT(bcr_rgfree(rgid), 0);
    bcri_order_putm_over(requester);
    (void)world_settle(&world, SIM_S);
    owner_has(1, cell, 1000, 3);
    end();
}

/* As when a handler's call waits in its midst and the main program's goes on. Each region is more than half of what a host
 * keeps: the second waits until the first is over. */
TEST(two_calls_of_one_cce_that_take_turns_both_arrive)
{
    enum { MOST = 34 << 20 };
    begin_with(1, 4 * (uint64_t)MOST, 3 * MOST);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_put(1, number(0), there[i], cell + 1, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S)); /* there is a link */
    as(requester);
    bcr_region rgid[2];
    for (int i = 0; i < 2; i++) {
        CHECK((rgid[i] = bcr_rgalloc(MOST, 0)) != NULL);
        **(int **)rgid[i] = i;
    }
    for (int i = 0; i < 4; i++)
        order_one(rgid[i % 2], (i + 1) / 2 % 2, cell);
    bcri_order_putm_over(requester);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_rgfree(rgid[i]), 0);
    CHECK(world_settle(&world, 60 * SIM_S));
    CHECK(all_done());
    for (int i = 0; i < 2; i++) {
        as(owner[i]);
        for (int k = 0; k < 2; k++) {
            bcr_region got = bcr_get(1, bcr_cce, cell, 0);
            CHECK(got != NULL);
            CHECK_INT(**(int **)got, k ^ i);
            CHECK_INT(bcr_rgfree(got), 0);
        }
    }
    end();
}

/* Until neither agent has anything of a bcr_putm. */
static void nothing_is_kept(void)
{
    for (bool kept = true; kept; usleep(1000)) {
        pthread_mutex_lock(&world.mutex);
        kept = world.host[0].agent->shares.count != 0 || world.host[1].agent->payloads.count != 0;
        pthread_mutex_unlock(&world.mutex);
    }
}

static bcr_cce_id neighbour;
static int full;

static void *putm_to_a_full_cell_here(void *arg)
{
    (void)arg;
    as(requester);
    const int cells[] = {there[0], cell, neighbour, full};
    CHECK_INT(bcr_putm(1, filled(LARGE, 1), 2, cells, bcr_FREE), 0);
    as(NULL);
    return NULL;
}

/* Else other CCEs' regions might find no room with the other host for as long. */
TEST_TIMEOUT(a_call_that_waits_for_a_cell_here_keeps_nothing_elsewhere, 60)
{
    pthread_t putter;
    begin();
    struct bcri_ctx *const beside = world.host[0].cce[1];
    as(beside);
    full = bcr_cagrow(0, 0, 0, 0, 1, 1, 1 << 20);
    CHECK(full >= 1);
    CHECK_INT(bcr_put(1, number(1), bcr_cce, full, bcr_FREE), 0);
    neighbour = world_name(requester, beside);
    world_start(&world);
    as(NULL);
    CHECK_INT(pthread_create(&putter, NULL, putm_to_a_full_cell_here, NULL), 0);
    as(owner[0]);
    bcr_region rgid = bcr_get(1, bcr_cce, cell, bcr_BLOCK);
    CHECK_INT(bcr_rgfree(rgid), 0);
    nothing_is_kept();
    as(beside);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, full, 0)), 1);
    pthread_join(putter, NULL);
    CHECK_INT(bcr_rgfree(bcr_get(1, bcr_cce, full, 0)), 0);
    as(NULL);
    world_stop(&world);
    end();
}

static void *putm_behind_a_full_window(void *arg)
{
    (void)arg;
    as(requester);
    const int cells[] = {there[0], cell, there[0], cell + 1, there[0], cell};
    for (unsigned i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(2), there[1], cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1); /* who meets the full window waits until half of it is done */
    for (unsigned i = 0; i < BCRI_OUTBOX_WINDOW - 2; i++)
        CHECK_INT(bcr_put(1, number(2), there[1], cell, bcr_FREE), 0);
    CHECK_INT(bcr_putm(1, filled(LARGE, 1), 3, cells, bcr_FREE), 0);
    as(NULL);
    return NULL;
}

/* It waits for puts into a full cell there, with two of its own under way. */
TEST_TIMEOUT(a_call_that_waits_for_its_window_keeps_nothing_elsewhere, 60)
{
    pthread_t putter;
    begin();
    as(owner[0]);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    as(NULL);
    world_start(&world);
    CHECK_INT(pthread_create(&putter, NULL, putm_behind_a_full_window, NULL), 0);
    as(owner[0]);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_rgfree(bcr_get(1, bcr_cce, cell + i, bcr_BLOCK)), 0);
    nothing_is_kept();
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0); /* the third is still to come */
    as(owner[1]);
    for (unsigned i = 0; i < ROOM + BCRI_OUTBOX_WINDOW - 2; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, bcr_BLOCK)), 2);
    as(owner[0]);
    CHECK_INT(bcr_rgfree(bcr_get(1, bcr_cce, cell, bcr_BLOCK)), 0);
    pthread_join(putter, NULL);
    as(NULL);
    world_stop(&world);
    end();
}

/* More cells than the outbox has entries: the putter waits in the midst of its call. */
TEST(the_region_goes_once_though_the_call_waits_for_the_agent)
{
    enum { MANY = 600 };
    static int cells[2 * MANY];
    begin();
    as(owner[0]);
    const int wide = bcr_cagrow(0, 0, 0, 0, MANY, MANY, 1 << 16);
    CHECK(wide >= 1);
    for (int i = 0; i < MANY; i++) {
        cells[2 * i] = there[0];
        cells[2 * i + 1] = wide + i;
    }
    world_start(&world);
    as(requester);
    CHECK_INT(bcr_putm(1, filled(LARGE, 1), MANY, cells, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    as(NULL);
    world_stop(&world);
    CHECK(bytes_sent() < 2 * LARGE); /* a header has some 50 */
    for (int i = 0; i < MANY; i++)
        owner_has(0, wide + i, LARGE, 1);
    end();
}

/* ---- puts with a time ---- */

/* A put of one region that its CCE would wait for, with `msec`: the ID that is answered. */
static struct bcri_slot_shm *timed_put(bcr_region rgid, int to, int at, int msec)
{
    struct bcri_id id = {0};
    as(requester);
    struct bcri_ctx *const ctx = bcri_enter();
    CHECK_INT(bcri_id_look(ctx, rgid, &id), 0);
    struct bcri_put put = {.key = bcri_resolved_key(there[to], at),
                           .slot = id.slot,
                           .slot_ref = id.ref,
                           .region = bcri_slot_region(id.word),
                           .nofree = true,
                           .msec = msec};
    CHECK_INT(bcri_order_put(ctx, &put, bcr_op_put, BCRI_DEADLINE_PASSED), 0);
    return put.answer;
}

static bool is_answered(const struct bcri_slot_shm *answer)
{
    return bcri_slot_state(bcri_load(&answer->word)) == BCRI_SLOT_ANSWERED;
}

static bool turn_until_answered(void *answer)
{
    world_turn(&world);
    return is_answered(answer);
}

/* It is answered with `code`, after `msec` and no sooner; its region is the putter's. */
static void is_answered_after(bcr_region rgid, struct bcri_slot_shm *answer, uint64_t from, uint64_t msec,
                              int code)
{
    CHECK(sim_run(world.network, from + (msec + 1000) * SIM_MS, turn_until_answered, answer));
    CHECK_INT(bcri_order_code(bcri_load(&answer->given)), code);
    CHECK(sim_now(world.network) >= from + msec * SIM_MS);
    CHECK(sim_now(world.network) < from + (msec + 50) * SIM_MS); /* of virtual time */
    as(requester);
    bcri_store(&answer->word, 0);
    bcri_slot_give(requester, answer);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

static bool requester_runs(void *context)
{
    (void)context;
    bcri_agent_run(world.host[0].agent, sim_now(world.network));
    sim_flush(&world.host[0].end);
    return false;
}

/* What the requester orders comes to the owners' host, whose agent has not run since. */
static void arrives_there(void)
{
    (void)requester_runs(NULL);
    (void)sim_run(world.network, sim_now(world.network) + 5 * SIM_MS, requester_runs, NULL);
}

TEST(the_time_for_room_begins_when_the_put_comes_though_the_agent_had_rested)
{
    begin();
    bcr_region rgid = filled(300000, 1);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, rgid, there[0], cell, bcr_NOFREE), 0);
    CHECK(world_settle(&world, SIM_S));
    sim_pass(world.network, sim_now(world.network) + 10 * SIM_S);
    const uint64_t from = sim_now(world.network);
    struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, 1000);
    arrives_there();
    is_answered_after(rgid, answer, from, 1000, bcrE_FULL);
    end();
}

TEST(a_put_with_a_time_whose_host_is_lost_before_it_is_performed_does_not_wait)
{
    begin();
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    bcr_region rgid = number(77);
    struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, 1000000);
    const uint64_t from = sim_now(world.network);
    arrives_there();
    CHECK(!list_is_empty(&world.host[1].agent->ready));
    world_cut(&world);
    CHECK(world_settle(&world, SIM_S));
    is_answered_after(rgid, answer, from, 0, bcrE_DEAD);
    as(owner[0]);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), i);
    (void)world_settle(&world, SIM_S);
    as(owner[0]);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end();
}

TEST(what_a_put_waits_for_room_in_the_pool_it_does_not_wait_at_the_cell_again)
{
    begin();
    bcr_region rgid = filled(300000, 1);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_put(1, rgid, there[1], cell, bcr_NOFREE), 0);
    for (int i = 0; i < ROOM; i++)
        CHECK_INT(bcr_put(1, number(i), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    const uint64_t from = sim_now(world.network);
    struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, 1000);
    (void)world_settle(&world, 900 * SIM_MS);
    CHECK(!is_answered(answer));
    as(owner[1]);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    is_answered_after(rgid, answer, from, 1000, bcrE_FULL);
    end();
}

/* The owner's process, for all that anybody can tell: it has the cell's lock, and is stopped. */
static pid_t stop_with_the_lock(struct bcri_ctx *ctx, struct bcri_resolved **resolved_out)
{
    int status;
    const pid_t stopped = fork();
    if (stopped == 0)
        for (raise(SIGSTOP);;)
            pause();
    CHECK(stopped > 0);
    CHECK_INT(waitpid(stopped, &status, WUNTRACED), stopped);
    CHECK(WIFSTOPPED(status));
    as(ctx);
    CHECK_INT(bcri_resolved_find_key(ctx, bcri_resolved_key(bcr_cce, cell), resolved_out).outcome, BCRI_DONE);
    bcri_journal_open(ctx, BCRI_OP_SLOW, (*resolved_out)->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    bcri_lock(ctx, &(*resolved_out)->cell->t.lock);
    bcri_store(&ctx->record->id.pid, (uint32_t)stopped);
    return stopped;
}

static void goes_on(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, pid_t stopped)
{
    bcri_store(&ctx->record->id.pid, (uint32_t)getpid());
    bcri_unlock(ctx, &resolved->cell->t.lock);
    bcri_journal_close(ctx);
    CHECK_INT(kill(stopped, SIGKILL), 0);
    CHECK_INT(waitpid(stopped, NULL, 0), stopped);
}

TEST(a_put_and_a_get_with_a_time_end_though_a_stopped_cce_has_the_lock)
{
    for (int msec = 0; msec <= 500; msec += 500) {
        struct bcri_resolved *resolved;
        begin();
        CHECK_INT(bcr_put(1, number(1), there[1], cell, bcr_FREE), 0);
        CHECK(world_settle(&world, SIM_S));
        const pid_t stopped = stop_with_the_lock(owner[0], &resolved);
        as(requester);
        const uint64_t from = sim_now(world.network);
        bcr_region rgid = number(2);
        struct bcri_slot_shm *const answer = timed_put(rgid, 0, cell, msec);
        is_answered_after(rgid, answer, from, (uint64_t)msec, bcrE_FULL);
        struct bcri_get get = {.key = bcri_resolved_key(there[0], cell),
                               .slot = bcri_slot_take(requester),
                               .want = BCRI_WANT_TAKE,
                               .msec = msec};
        CHECK(get.slot != NULL);
        CHECK_INT(bcri_order_get(requester, &get), 0);
        (void)world_settle(&world, SIM_S);
        const struct bcri_answer got = bcri_order_collect(requester, get.slot);
        CHECK(got.came);
        CHECK_INT(got.error, bcrE_TIMEOUT);
        goes_on(owner[0], resolved, stopped);
        end();
    }
}

/* ---- what is known of the dead ---- */

static void put_fails_at_once(int to, int at)
{
    as(requester);
    bcr_region rgid = number(7);
    FAILS(bcr_put(1, rgid, there[to], at, bcr_FREE), bcrE_DEAD);
    CHECK_INT(value_of(rgid), 7);
}

TEST(one_put_that_fails_with_its_host_tells_of_all_cces_there)
{
    begin();
    const bcr_cce_id met_before = there[1];
    CHECK_INT(bcr_put(1, number(1), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    world_cut(&world);
    as(requester);
    CHECK_INT(bcr_put(1, number(2), there[0], cell, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
    put_fails_at_once(0, cell);
    put_fails_at_once(1, cell);
    uint8_t identity[BCRI_IDENTITY_BYTES];
    memcpy(identity, owner[1]->record->id.identity, sizeof identity);
    identity[BCRI_IDENTITY_BYTES - 1] ^= 1; /* one that is met only now */
    CHECK_INT(bcri_cce_decode(requester, identity, &there[1]), 0);
    CHECK(there[1] != met_before);
    put_fails_at_once(1, cell);
    end();
}

TEST(a_get_that_fails_with_its_owner_tells_puts_of_it)
{
    for (int cut = 0; cut < 2; cut++) {
        begin();
        as(requester);
        bcr_region rgid = bcr_get(1, there[0], cell, bcr_PENDING);
        CHECK(rgid != NULL);
        (void)world_settle(&world, SIM_S);
        if (cut)
            world_cut(&world);
        else
            world_kill(&world, 1, 0);
        (void)world_settle(&world, SIM_S);
        as(requester);
        FAILS(bcr_rgwait(rgid, 0, 0), bcrE_DEAD);
        put_fails_at_once(0, cell);
        if (cut)
            put_fails_at_once(1, cell);
        else { /* the others of that host live */
            CHECK_INT(bcr_put(1, number(3), there[1], cell, bcr_FREE), 0);
            CHECK(world_settle(&world, SIM_S));
            as(owner[1]);
            CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 3);
        }
        end();
    }
}
