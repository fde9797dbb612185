/* SPDX-License-Identifier: MIT */
/* Each routine on a cell of another host, with a thread that turns both agents: what it promises within a host it promises
 * here. */
#include <string.h>

#include "agent_turned.h"
#include "regions.h"

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
