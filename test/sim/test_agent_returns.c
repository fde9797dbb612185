/* SPDX-License-Identifier: MIT */
/* Regions that are on their way to a host that is lost, or whose requester has ended: each is back in its cell, in its old
 * place, and once. Turned by hand: virtual time, and no call waits. */
#include "agent_scene.h"
#include "memory.h"
#include "regions.h"

enum { DELAY_NS = 20 * SIM_US };

/* Both hosts have a link, and a region of number 9 stands in the second cell. */
static void begin(void)
{
    open_scene(DELAY_NS, 8);
    CHECK_INT(bcr_put(1, number(9), there, cell + 1, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
}

static void end(void)
{
    end_by_hand();
}

/* Until an order has arrived and been carried out, and its answer is on its way. */
static void answer_is_sent(void)
{
    (void)world_settle(&world, DELAY_NS + DELAY_NS / 2);
}

static void owner_puts(int value)
{
    as(owner);
    CHECK_INT(bcr_put(1, number(value), bcr_cce, cell, bcr_FREE), 0);
    as(requester);
}

static void owner_has(int at, int count, int first)
{
    as(owner);
    CHECK_INT(bcr_celllen(bcr_cce, at), count);
    for (int i = 0; i < count; i++)
        CHECK_INT(value_of(bcr_get(1, bcr_cce, at, 0)), first + i);
    as(requester);
}

static void lose(void)
{
    world_cut(&world);
    CHECK(world_settle(&world, SIM_S));
}

TEST(regions_that_a_lost_host_did_not_get_are_back_in_their_old_order)
{
    begin();
    bcr_region waits[3];
    for (int i = 0; i < 3; i++)
        waits[i] = bcr_get(1, there, cell, bcr_PENDING);
    (void)world_settle(&world, SIM_S);
    for (int i = 0; i < 5; i++)
        owner_puts(1 + i);
    world_turn(&world);
    owner_has(cell + 1, 1, 9);
    lose();
    owner_has(cell, 5, 1);
    for (int i = 0; i < 3; i++)
        FAILS(bcr_rgwait(waits[i], 0, 0), bcrE_DEAD);
    end();
}

TEST(who_waits_gets_what_comes_back_in_its_old_order)
{
    begin();
    bcr_region waits[3], waits_here[2];
    for (int i = 0; i < 3; i++)
        waits[i] = bcr_get(1, there, cell, bcr_PENDING);
    (void)world_settle(&world, SIM_S);
    as(owner);
    for (int i = 0; i < 2; i++)
        waits_here[i] = bcr_get(1, bcr_cce, cell, bcr_PENDING);
    for (int i = 0; i < 3; i++)
        owner_puts(1 + i);
    world_turn(&world);
    lose();
    as(owner);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(bcr_rgwait(waits_here[i], 0, 0), 1);
        CHECK_INT(value_of(waits_here[i]), 1 + i);
    }
    owner_has(cell, 1, 3);
    for (int i = 0; i < 3; i++)
        FAILS(bcr_rgwait(waits[i], 0, 0), bcrE_DEAD);
    end();
}

TEST(what_a_lost_host_was_taking_is_back_once)
{
    begin();
    bcr_region waits = bcr_get(1, there, cell + 1, bcr_PENDING);
    answer_is_sent();
    as(owner);
    CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 0); /* it is on its way */
    lose();
    owner_has(cell + 1, 1, 9);
    FAILS(bcr_rgwait(waits, 0, 0), bcrE_DEAD);
    end();
}

/* What `waits` was to get has its old place when the requester's host is lost before the answer arrives. */
static void is_back_when_lost(bcr_region waits)
{
    answer_is_sent();
    lose();
    owner_has(cell + 1, 1, 9);
    FAILS(bcr_rgwait(waits, 0, 0), bcrE_DEAD);
}

TEST(what_a_lost_host_was_reading_has_never_left)
{
    begin();
    is_back_when_lost(bcr_get(0, there, cell + 1, bcr_PENDING));
    end();
}

TEST(what_a_lost_host_was_locking_is_back)
{
    begin();
    is_back_when_lost(bcr_acqwl(there, cell + 1, bcr_PENDING));
    end();
}

/* Until the older region is back, nothing younger may be taken in its stead. */
TEST(what_an_ended_cce_did_not_get_is_back_before_others_get_more)
{
    begin();
    owner_puts(1);
    owner_puts(2);
    CHECK(bcr_get(1, there, cell, bcr_PENDING) != NULL);
    answer_is_sent();
    world_kill(&world, 0, 0);
    as(requester = world.host[0].cce[1]);
    there = world_name(requester, owner);
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(bcr_rgwait(waits, 0, 0), 1);
    const int got = value_of(waits);
    owner_has(cell, 1, got == 1 ? 2 : 1);
    end();
}

static void lock_and_put(void)
{
    bcr_region lock = bcr_acqwl(there, cell + 1, bcr_PENDING);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(bcr_rgwait(lock, 0, 0), 1);
    CHECK_INT(bcr_put(1, lock, there, cell + 1, bcr_FREE), 0);
    CHECK(world_settle(&world, SIM_S));
}

TEST(the_newest_write_lock_of_a_cce_is_the_one_that_ends_with_it)
{
    begin();
    lock_and_put();
    lock_and_put();
    bcr_region lock = bcr_acqwl(there, cell + 1, bcr_PENDING);
    CHECK(world_settle(&world, SIM_S));
    CHECK_INT(bcr_rgwait(lock, 0, 0), 1);
    world_kill(&world, 0, 0);
    CHECK(world_settle(&world, SIM_S));
    as(owner);
    FAILS_NULL(bcr_get(1, bcr_cce, cell + 1, 0), bcrE_OWNERDEAD);
    CHECK_INT(bcr_put(1, number(3), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell + 1, 0)), 3);
    end();
}

TEST(the_end_of_a_cce_is_told_to_each_owner)
{
    begin();
    struct bcri_ctx *const owners[] = {owner, world.host[1].cce[1]};
    int cells[2];
    for (int i = 0; i < 2; i++) {
        as(owners[i]);
        cells[i] = bcr_cagrow(0, 0, 0, 0, 1, 2, 1 << 12);
        CHECK_INT(bcr_put(1, number(i), bcr_cce, cells[i], bcr_FREE), 0);
        as(requester);
        bcr_region lock = bcr_acqwl(world_name(requester, owners[i]), cells[i], bcr_PENDING);
        CHECK(world_settle(&world, SIM_S));
        CHECK_INT(bcr_rgwait(lock, 0, 0), 1);
    }
    world_kill(&world, 0, 0);
    CHECK(world_settle(&world, SIM_S));
    for (int i = 0; i < 2; i++) {
        as(owners[i]);
        FAILS_NULL(bcr_get(1, bcr_cce, cells[i], 0), bcrE_OWNERDEAD);
    }
    end();
}

static void *cancel(void *waits)
{
    as(requester);
    CHECK_INT(bcr_rgfree(waits), 0);
    as(NULL);
    return NULL;
}

/* The agent has told that it wants a link; there is none yet. */
TEST(a_get_that_was_never_sent_is_cancelled_at_once)
{
    pthread_t canceller;
    world_open(&world, 1, 1 << 20);
    requester = world.host[0].cce[0];
    as(requester);
    bcr_region waits = bcr_get(1, world_name(requester, world.host[1].cce[0]), 1, bcr_PENDING);
    CHECK_INT(pthread_create(&canceller, NULL, cancel, waits), 0);
    while (pthread_tryjoin_np(canceller, NULL) != 0)
        bcri_agent_run(world.host[0].agent, sim_now(world.network));
    CHECK(world.host[0].end.link == NULL);
    end();
}

TEST(a_write_lock_that_was_released_does_not_end_with_its_cce)
{
    begin();
    lock_and_put();
    world_kill(&world, 0, 0);
    CHECK(world_settle(&world, SIM_S));
    as(owner);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell + 1, 0)), 9);
    end();
}

/* From whichever allocation on there is none for a while: the region comes, or that there was no memory is told, if
 * need be later, and it is back. */
TEST(a_get_without_memory_for_any_answer_ends)
{
    enum { MOST = 25 }; /* such a get needs fewer */
    unsigned failed = 0;
    for (int takes = 0; takes < 2; takes++)
        for (uint64_t from = 0; from < MOST; from++) {
            begin();
            owner_puts(1);
            struct bcri_ctx *const first = requester;
            as(requester = world.host[0].cce[1]); /* to which no stream of answers leads yet */
            bcr_region waits = bcr_get(takes, world_name(requester, owner), cell, bcr_PENDING);
            memory_fails_from(from);
            (void)world_settle(&world, 10 * SIM_MS);
            memory_fails_after(UINT64_MAX);
            CHECK(world_settle(&world, SIM_S));
            const int came = bcr_rgwait(waits, 0, 0);
            if (came == 1) {
                CHECK_INT(value_of(waits), 1);
            } else {
                CHECK_INT(came, -1);
                CHECK_INT(bcr_errno, bcrE_NOMEM);
                failed++;
            }
            if (came != 1 || !takes)
                owner_has(cell, 1, 1);
            requester = first;
            end();
        }
    CHECK(failed != 0);
}

/* ---- regions that are larger than the pool takes ---- */

enum { LARGE = 3 << 19 }; /* bytes; the pool has 1 << 20 */

/* The large one stands in the first cell, before number 7. */
static void owner_puts_large(void)
{
    as(owner);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 2 * LARGE) >= 1);
    CHECK_INT(bcr_put(1, filled(LARGE, 3), bcr_cce, cell, bcr_FREE), 0);
    owner_puts(7);
}

static void owner_has_large(void)
{
    as(owner);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 2);
    bcr_region large = bcr_get(1, bcr_cce, cell, 0);
    CHECK_INT(bcr_rglen(large, NULL), LARGE);
    CHECK_INT(bcr_rgfree(large), 0);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, 0)), 7);
    as(requester);
}

/* What happens until then: time goes on with events alone. */
static void go_on_until(uint64_t at)
{
    const uint64_t now = sim_now(world.network);
    (void)world_settle(&world, at > now ? at - now : 0);
}

/* Until the requester is told that `waits` has failed with `code`, and no longer. */
static void fails_with(bcr_region waits, int code)
{
    const uint64_t begun = sim_now(world.network);
    int came;
    for (uint64_t us = 0; (came = bcr_rgwait(waits, 0, 0)) == 0 && us < 1000 * 1000; us++)
        go_on_until(begun + us * SIM_US);
    CHECK_INT(came, -1);
    CHECK_INT(bcr_errno, code);
}

static bcr_region ask_for_large(int how)
{
    return how == 2 ? bcr_acqwl(there, cell, bcr_PENDING) : bcr_get(how, there, cell, bcr_PENDING);
}

TEST(a_get_that_fails_for_want_of_memory_leaves_its_region_where_all_find_it)
{
    for (int how = 0; how < 3; how++) { /* reads, takes, locks */
        begin();
        owner_puts_large();
        for (int i = 0; i < 3; i++) {
            fails_with(ask_for_large(how), bcrE_NOMEM);
            as(owner);
            CHECK_INT(bcr_celllen(bcr_cce, cell), 2);
            as(requester);
        }
        owner_has_large();
        end();
    }
}

/* Whenever it is cancelled, it ends, and its region is there. */
TEST(a_get_that_is_too_large_can_be_cancelled_at_any_time)
{
    enum { STEPS = 40 };
    for (int after = 0; after < STEPS; after++) {
        begin();
        owner_puts_large();
        bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
        (void)world_settle(&world, (uint64_t)after * 5 * SIM_US);
        pthread_t canceller;
        CHECK_INT(pthread_create(&canceller, NULL, cancel, waits), 0);
        while (pthread_tryjoin_np(canceller, NULL) != 0)
            (void)world_settle(&world, SIM_S);
        CHECK(world_settle(&world, SIM_S));
        owner_has_large();
        end();
    }
}

/* The owner's host, or its CCE, or the requester ends at any time between the refusal and the end of the get. */
TEST(a_get_that_is_too_large_ends_with_whoever_dies_meanwhile)
{
    enum { STEPS = 40, WAYS = 3 };
    for (int turn = 0; turn < STEPS * WAYS; turn++) {
        begin();
        owner_puts_large();
        bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
        (void)world_settle(&world, (uint64_t)(turn / WAYS) * 5 * SIM_US);
        if (turn % WAYS == 0)
            lose();
        else
            world_kill(&world, turn % WAYS == 1, 0);
        CHECK(world_settle(&world, SIM_S));
        if (turn % WAYS != 2) {
            CHECK_INT(bcr_rgwait(waits, 0, 0), -1);
            CHECK(bcr_errno == bcrE_DEAD || bcr_errno == bcrE_NOMEM);
        }
        if (turn % WAYS != 1)
            owner_has_large();
        end();
    }
}
