/* SPDX-License-Identifier: MIT */
/* What one order has shown of the dead, the next put knows: it fails at once. Turned by hand: virtual time, and no call waits. */
#include <string.h>

#include "bcri/cces.h"
#include "bcri/ids.h"
#include "regions.h"

#include "putm_scene.h"

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
