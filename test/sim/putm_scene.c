/* SPDX-License-Identifier: MIT */
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/order.h"
#include "bcri/put.h"
#include "bcri/self.h"
#include "links/agent/serve.h"
#include "regions.h"

#include "putm_scene.h"

struct world world;
struct bcri_ctx *requester, *owner[2];
bcr_cce_id there[2];
int cell;

void as(struct bcri_ctx *ctx)
{
    bcri_self_set(ctx);
}

void begin_with(uint64_t seed, uint64_t pool, int area)
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

void begin(void)
{
    begin_with(1, POOL_BYTES, 4 << 20);
}

void keeps_nothing(void)
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

void end(void)
{
    as(NULL);
    (void)world_settle(&world, SIM_S);
    keeps_nothing();
    world_close(&world);
}

void putm(bcr_region rgid, int nofree)
{
    const int cells[] = {there[0], cell, there[1], cell, there[0], cell + 1, there[1], cell + 1};
    as(requester);
    CHECK_INT(bcr_putm(1, rgid, 4, cells, nofree), 0);
}

struct bcri_slot_shm *order(int op, bcr_region rgid, int to, int at, int msec, bool shares)
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
    CHECK_INT(bcri_order_put(ctx, &put, op, BCRI_DEADLINE_PASSED), 0);
    return put.answer;
}

void order_one(bcr_region rgid, int to, int at)
{
    (void)order(bcr_op_putm, rgid, to, at, bcr_BLOCK, true);
}

void owner_has(int which, int at, int length, int value)
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

void all_have(int length, int value)
{
    for (int i = 0; i < 4; i++)
        owner_has(i % 2, cell + i / 2, length, value);
}

int told(int code)
{
    int count = 0;
    as(requester);
    for (bcr_region error; (error = bcr_get(1, bcr_cce, 0, 0)) != NULL; count++) {
        CHECK_INT(bcr_rgerror(error), code);
        CHECK_INT(bcr_rgfree(error), 0);
    }
    return count;
}

uint64_t bytes_sent(void)
{
    return world.host[0].end.link != NULL ? bcri_link_counts(world.host[0].end.link)->bytes_sent : 0;
}

bool all_done(void)
{
    as(requester);
    return bcr_putdone(0) == 1;
}
