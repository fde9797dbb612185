/* SPDX-License-Identifier: MIT */
/* bcr_putm to cells of another host: the region goes there once, as it was at the call, and is in each cell in its turn. */
#include "bcri/order.h"
#include "links/agent/serve.h"
#include "regions.h"

#include "putm_scene.h"

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
