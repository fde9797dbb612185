/* SPDX-License-Identifier: MIT */
/* A bcr_putm of which a cell, a CCE, the host or memory fails: each other cell has the region, whole, and nothing of it is
 * left in either agent. */
#include "memory.h"
#include "putm_scene.h"
#include "regions.h"

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
