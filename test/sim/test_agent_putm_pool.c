/* SPDX-License-Identifier: MIT */
/* The region of a bcr_putm in the receive pool of the other host: it waits for room or is refused, makes room for what is
 * before it, and is not kept for a call that waits for something else. */
#include <pthread.h>
#include <unistd.h>

#include "bcri/order.h"
#include "links/agent/serve.h"
#include "regions.h"

#include "putm_scene.h"

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

/* The next put into each of these cells. */
static void next_putm_fails(int code)
{
    const int cells[] = {there[0], cell, there[1], cell, there[0], cell + 1, there[1], cell + 1};
    as(requester);
    FAILS(bcr_putm(1, filled(1, 1), 4, cells, bcr_FREE), code);
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

/* ---- calls that wait, in real time ---- */

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
