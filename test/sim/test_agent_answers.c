/* SPDX-License-Identifier: MIT */
/* Puts are answered together, and soon; those that are refused or wait for room, each when that is known. Turned by hand:
 * virtual time, and no call waits. */
#include "agent_scene.h"
#include "regions.h"

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
