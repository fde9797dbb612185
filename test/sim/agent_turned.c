/* SPDX-License-Identifier: MIT */
#include "agent_turned.h"

#include "regions.h"

bcr_cce_id owner_of_third;

void begin_with(uint64_t delay_ns, int nrgns)
{
    open_scene(delay_ns, nrgns);
    as(third);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) >= 1);
    owner_of_third = world_name(third, owner);
    as(requester);
    requester->flags |= bcr_errors;
    world_start(&world);
}

void begin(void)
{
    begin_with(20 * SIM_US, 4);
}

void end(void)
{
    as(NULL);
    world_stop(&world);
    world_close(&world);
}

int take_at_owner(int at)
{
    as(owner);
    const int value = value_of(bcr_get(1, bcr_cce, at, bcr_BLOCK));
    as(requester);
    return value;
}
