/* SPDX-License-Identifier: MIT */
/* Gets of cells of another host that are cancelled, one at a time or together: they have taken nothing, or what they have
 * taken goes back. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "bcri/ids.h"
#include "bcri/order.h"
#include "bcri/self.h"
#include "regions.h"

#include "agent_turned.h"

TEST(requests_that_time_out_together_take_nothing)
{
    begin();
    bcr_region requests[2] = {bcr_get(1, there, cell, bcr_PENDING), bcr_get(1, there, cell + 1, bcr_PENDING)};
    CHECK_INT(bcr_rgwaitm(2, requests, 5, 1), 0);
    as(owner);
    CHECK_INT(bcr_put(1, number(3), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 1);
    as(requester);
    end();
}

TEST(many_gets_wait_and_are_cancelled_in_any_order)
{
    enum { MANY = 3000 };
    static bcr_region waits[MANY];
    uint64_t dice = test_seed();
    begin_with(0, 4);
    for (int i = 0; i < MANY; i++)
        CHECK((waits[i] = bcr_get(1, there, cell + i % 2, bcr_PENDING)) != NULL);
    for (int left = MANY; left > 1; left--) { /* one is left */
        const uint64_t which = test_rand_below(&dice, (uint64_t)left);
        CHECK_INT(bcr_rgfree(waits[which]), 0);
        waits[which] = waits[left - 1];
    }
    as(owner);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_put(1, number(6), bcr_cce, cell + i, bcr_FREE), 0);
    as(requester);
    CHECK_INT(bcr_rgwait(waits[0], bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(waits[0]), 6);
    CHECK_INT(bcr_celllen(there, cell) + bcr_celllen(there, cell + 1), 1);
    end();
}

static atomic_int round_wanted;
static int far_off;

static void *put_each_round(void *rounds)
{
    bcri_self_set(owner);
    for (int i = 1; i <= *(int *)rounds; i++) {
        while (atomic_load(&round_wanted) < i)
            ;
        CHECK_INT(bcr_put(1, number(i), bcr_cce, far_off, bcr_FREE), 0);
    }
    bcri_self_set(NULL);
    return NULL;
}

/* The second of them may be served while the first one is cancelled: its region goes back. */
TEST(gets_that_are_given_up_together_have_taken_nothing)
{
    enum { MORE = 200 };
    int rounds = 300;
    pthread_t putter;
    begin();
    as(owner);
    far_off =
        bcr_cagrow(cell + MORE, 0, 0, 0, MORE, 4, 1 << 16) + MORE - 1; /* no processor has that number */
    as(requester);
    CHECK_INT(pthread_create(&putter, NULL, put_each_round, &rounds), 0);
    for (int i = 1; i <= rounds; i++) {
        bcr_region ids[] = {bcr_get(1, there, cell, bcr_PENDING), bcr_get(1, there, far_off, bcr_PENDING)};
        CHECK_INT(bcr_celllen(there, cell), 0); /* they wait there */
        atomic_store(&round_wanted, i);
        const int ready = bcr_rgwaitm(2, ids, 0, 1);
        if (ready == 2) {
            CHECK_INT(value_of(ids[1]), i);
            CHECK_INT(bcr_rgfree(ids[0]), 0);
            continue;
        }
        CHECK_INT(ready, 0);
        CHECK_INT(value_of(bcr_get(1, there, far_off, bcr_BLOCK)), i);
    }
    CHECK_INT(pthread_join(putter, NULL), 0);
    end();
}

TEST(what_is_too_large_to_go_back_is_told_in_the_log)
{
    enum { BYTES = 600000 }; /* more than half of the owner's pool */
    struct bcri_id id = {0};
    begin();
    as(owner);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 1, BYTES) >= 1);
    CHECK_INT(bcr_put(1, filled(BYTES, 1), bcr_cce, cell, bcr_FREE), 0);
    as(requester);
    CHECK_INT(bcri_id_look(requester, bcr_get(1, there, cell, bcr_BLOCK), &id), 0);
    bcri_order_return(requester, id.slot);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    pthread_mutex_lock(&world.mutex);
    CHECK(strstr(world.host[0].note, "gives back") != NULL);
    pthread_mutex_unlock(&world.mutex);
    CHECK_INT(bcr_celllen(there, cell), 0);
    end();
}
