/* SPDX-License-Identifier: MIT */
/* Killed between asking for a region and having it. */
#include "scene.h"

static void deq_pending(struct scene *scene)
{
    scene->id[0] = bcr_deq(scene->home, scene->cell, bcr_PENDING);
    CHECK(scene->id[0] != NULL);
}
static void read_pending(struct scene *scene)
{
    scene->id[0] = bcr_read(scene->home, scene->cell, bcr_PENDING);
    CHECK(scene->id[0] != NULL);
}
static void deq_two_pending(struct scene *scene)
{
    deq_pending(scene);
    scene->id[1] = bcr_deq(scene->home, scene->cell2, bcr_PENDING);
    CHECK(scene->id[1] != NULL);
}
static void deq_three_pending(struct scene *scene)
{
    for (int i = 0; i < 3; i++)
        CHECK((scene->id[i] = bcr_deq(scene->home, scene->cell, bcr_PENDING)) != NULL);
}
static void deq_six_pending(struct scene *scene)
{
    for (int i = 0; i < 6; i++)
        CHECK((scene->id[i] = bcr_deq(scene->home, scene->cell, bcr_PENDING)) != NULL);
}
static void lock_pending(struct scene *scene)
{
    scene->id[0] = bcr_acqwl(scene->home, scene->cell, bcr_PENDING);
    CHECK(scene->id[0] != NULL);
}

static void put_one(struct scene *scene)
{
    as_peer(scene);
    CHECK_INT(bcr_enq(number(9), scene->home, scene->cell, bcr_FREE), 0);
}
static void put_two(struct scene *scene)
{
    put_one(scene);
    as_owner(scene);
    CHECK_INT(bcr_enq(number(10), scene->home, scene->cell, bcr_FREE), 0);
}
static void put_three(struct scene *scene)
{
    put_two(scene);
    CHECK_INT(bcr_enq(number(11), scene->home, scene->cell, bcr_FREE), 0);
}
static void put_one_that_is_shared(struct scene *scene)
{
    as_peer(scene);
    bcr_region rgid = number(9);
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    CHECK_INT(bcr_enqm(rgid, 2, cells, bcr_FREE), 0);
}
static void put_into_the_second(struct scene *scene)
{
    as_peer(scene);
    CHECK_INT(bcr_enq(number(9), scene->home, scene->cell2, bcr_FREE), 0);
}

static bool wait_ready(struct scene *scene)
{
    return bcr_rgwait(scene->id[0], bcr_BLOCK, 0) == 1;
}
static bool poll_not_ready(struct scene *scene)
{
    return bcr_rgwait(scene->id[0], 0, 0) == 0;
}
static bool wait_in_vain(struct scene *scene)
{
    return bcr_rgwait(scene->id[0], 1, 1) == 0;
}
static bool waitm_second(struct scene *scene)
{
    return bcr_rgwaitm(2, scene->id, bcr_BLOCK, 0) == 2 && bcr_rgwait(scene->id[1], 0, 0) == 1;
}
static bool waitm_in_vain(struct scene *scene)
{
    return bcr_rgwaitm(2, scene->id, 0, 1) == 0;
}
static bool free_it(struct scene *scene)
{
    return bcr_rgfree(scene->id[0]) == 0;
}
static bool lookup(struct scene *scene)
{
    return bcr_rgmod(scene->id[0]) == -1 && bcr_errno == bcrE_PENDING;
}

SCENARIO(rgwait_for_one_that_came, .prepare = deq_pending, .arrange = put_one, .run = wait_ready,
         .before = ": 9", .after = ":")
SCENARIO(rgwait_for_the_first_of_two_that_came, .prepare = deq_three_pending, .arrange = put_two,
         .run = wait_ready, .before = ": 9 10", .after = ": 10")
SCENARIO(rgwait_where_three_came, .prepare = deq_three_pending, .arrange = put_three, .run = wait_ready,
         .before = ": 9 10 11", .after = ": 10 11")
SCENARIO(rgwait_in_a_long_list, .prepare = deq_six_pending, .arrange = put_three, .run = wait_ready,
         .before = ": 9 10 11", .after = ": 10 11")
SCENARIO(rgwait_behind_anothers_request, .waiters = "T", .prepare = deq_pending, .arrange = put_two,
         .run = wait_ready, .before = "T=9 : 10", .after = "T=9 :")
SCENARIO(rgwait_for_a_read_that_came, .prepare = read_pending, .arrange = put_one, .run = wait_ready,
         .before = ": 9", .after = ": 9")
SCENARIO(rgwait_for_one_that_comes, .prepare = deq_pending, .run = wait_ready, .help = put_one,
         .help_at = TRACE_AT_YIELD, .before = ":", .after = ":", .also = ": 9")
SCENARIO(rgwait_for_one_that_comes_while_it_sleeps, .prepare = deq_pending, .run = wait_ready,
         .help = put_one, .help_at = TRACE_AT_SLEEP, .before = ":", .after = ":", .also = ": 9")
SCENARIO(rgwait_that_looks, .prepare = deq_pending, .run = poll_not_ready, .before = ":", .after = ":")
SCENARIO(rgwait_that_cancels, .waiters = "T", .prepare = deq_pending, .run = wait_in_vain,
         .before = "T=- :", .after = "T=- :")
SCENARIO(rgwait_for_a_lock_that_came, .prepare = lock_pending, .arrange = put_one, .run = wait_ready,
         .before = ": 9", .after = ": OWNERDEAD")
SCENARIO(rgwait_for_a_lock_whose_region_is_shared, .prepare = lock_pending, .arrange = put_one_that_is_shared,
         .run = wait_ready, .before = ": 9 ; 9", .after = ": OWNERDEAD ; 9")
SCENARIO(rgwaitm_for_the_second, .prepare = deq_two_pending, .arrange = put_into_the_second,
         .run = waitm_second, .before = ": ; 9", .after = ":")
SCENARIO(rgwaitm_that_cancels, .prepare = deq_two_pending, .run = waitm_in_vain, .before = ":", .after = ":")
SCENARIO(rgfree_of_a_request, .waiters = "T", .prepare = deq_pending, .run = free_it,
         .before = "T=- :", .after = "T=- :")
SCENARIO(rgfree_of_a_request_in_a_long_list, .prepare = deq_six_pending, .run = free_it, .before = ":",
         .after = ":")
SCENARIO(rgfree_of_one_that_came, .prepare = deq_pending, .arrange = put_one, .run = free_it, .before = ": 9",
         .after = ":")
SCENARIO(rgmod_of_a_request, .prepare = deq_pending, .arrange = put_one, .run = lookup, .before = ": 9",
         .after = ": 9")
