/* SPDX-License-Identifier: MIT */
#include "bcri/host.h"
#include "bcri/self.h"
#include "check.h"

#include "agent_scene.h"

struct world world;
struct bcri_ctx *requester, *owner, *third;
bcr_cce_id there;
int cell;

void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

void open_scene(uint64_t delay_ns, int nrgns)
{
    world_open(&world, 1, 1 << 20);
    world.host[0].end.path.delay_ns = world.host[1].end.path.delay_ns = delay_ns;
    requester = world.host[0].cce[0];
    owner = world.host[1].cce[0];
    third = world.host[0].cce[1];
    as(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 2, nrgns, 1 << 16);
    CHECK(cell >= 1);
    as(requester);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) >= 1);
    there = world_name(requester, owner);
}

void begin_by_hand(void)
{
    open_scene(0, 4);
}

void end_by_hand(void)
{
    as(NULL);
    world_close(&world);
}

void succeed(uint32_t number_of_first)
{
    bcri_host_cce_release(group_host(world.host[0].group), number_of_first);
    as(requester = world.host[0].cce[0] = group_join(world.host[0].group));
    CHECK_UINT(requester->index, number_of_first);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 20) >= 1);
    there = world_name(requester, owner);
}
