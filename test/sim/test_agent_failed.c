/* SPDX-License-Identifier: MIT */
/* Puts that fail after their call has returned: the next put into that cell tells of it, and error regions do, each once, in
 * their order, and to the CCE that ordered the put. */
#include <pthread.h>

#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/repair.h"
#include "regions.h"

#include "agent_turned.h"

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

/* ---- in virtual time, with an agent that finds the cell of errors locked ---- */

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
