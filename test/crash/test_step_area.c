/* SPDX-License-Identifier: MIT */
/* Killed while it makes cells and takes them away; and the cells of the dead. */
#include "scene.h"

#include "bcri/heap.h"
#include "bcri/reclaim.h"
#include "bcri/self.h"

static void an_empty_area(struct scene *scene)
{
    /* Beside the one with the cells that others wait at. */
    scene->id[0] = NULL;
    scene->cell2 = bcr_cagrow(0, 1, 1, 1, 3, 20, 65536);
    CHECK(scene->cell2 > 0);
}
static void an_area_with_regions(struct scene *scene)
{
    an_empty_area(scene);
    for (int i = 0; i < 5; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, scene->cell2 + 3, bcr_FREE), 0);
}

static bool grow(struct scene *scene)
{
    (void)scene;
    return bcr_cagrow(0, 1, 1, 1, 3, 20, 65536) > 0;
}
static bool grow_cells_only(struct scene *scene)
{
    (void)scene;
    return bcr_cagrow(100, 0, 0, 0, 2, 20, 0) == 100;
}
static bool shrink(struct scene *scene)
{
    return bcr_cafree(scene->cell2) == 0;
}
static bool shrink_busy(struct scene *scene)
{
    return bcr_cafree(scene->cell2) == -1 && bcr_errno == bcrE_BUSY;
}
static bool shrink_waited_at(struct scene *scene)
{
    return bcr_cafree(scene->cell) == 0;
}
static bool shrink_waited_at_busy(struct scene *scene)
{
    return bcr_cafree(scene->cell) == -1 && bcr_errno == bcrE_BUSY;
}
static bool grow_again(struct scene *scene)
{
    return bcr_cafree(scene->cell2) == 0 && bcr_cagrow(0, 1, 1, 1, 3, 20, 65536) == scene->cell2;
}
static bool nothing(struct scene *scene)
{
    (void)scene;
    return true;
}

SCENARIO(cagrow_of_cells_and_memory, .run = grow, .before = ":", .after = ":")
SCENARIO(cagrow_of_its_second_area, .own = true, .waiters = "T", .run = grow, .before = "T=DEAD : DEAD",
         .after = "T=DEAD : DEAD")
SCENARIO(cagrow_of_cells_alone, .run = grow_cells_only, .before = ":", .after = ":")
SCENARIO(cafree_of_an_empty_area, .own = true, .waiters = "T", .prepare = an_empty_area, .run = shrink,
         .before = "T=DEAD : DEAD", .after = "T=DEAD : DEAD")
SCENARIO(cafree_of_an_area_in_use, .own = true, .prepare = an_area_with_regions, .run = shrink_busy,
         .before = ": DEAD", .after = ": DEAD")
SCENARIO(cafree_of_cells_that_gets_wait_at, .own = true, .waiters = "TTR", .run = shrink_waited_at,
         .before = "T=DEAD T=DEAD R=DEAD : DEAD", .after = "T=NOCELL T=NOCELL R=NOCELL : DEAD",
         .also = "T=NOCELL T=DEAD R=DEAD : DEAD|T=NOCELL T=NOCELL R=DEAD : DEAD")
SCENARIO(cafree_of_full_cells_that_puts_wait_at, .own = true, .nrgns = 2, .queued = 2, .puts = 2,
         .run = shrink_waited_at_busy, .before = "P=DEAD P=DEAD : DEAD", .after = "P=DEAD P=DEAD : DEAD")
SCENARIO(cafree_of_cells_without_room_that_puts_wait_at, .own = true, .nrgns = -1, .puts = 2,
         .run = shrink_waited_at, .before = "P=DEAD P=DEAD : DEAD", .after = "P=NOCELL P=NOCELL : DEAD",
         .also = "P=NOCELL P=DEAD : DEAD")
SCENARIO(cafree_and_cagrow_of_the_same, .own = true, .prepare = an_empty_area, .run = grow_again,
         .before = ": DEAD", .after = ": DEAD")
SCENARIO(the_cells_of_the_dead, .own = true, .cells = 10, .queued = 12, .given_back = 2, .run = nothing,
         .before = ": DEAD", .after = ": DEAD")
SCENARIO(the_requests_at_cells_of_the_dead, .own = true, .waiters = "TRLTR", .run = nothing,
         .before = "T=DEAD R=DEAD L=DEAD T=DEAD R=DEAD : DEAD",
         .after = "T=DEAD R=DEAD L=DEAD T=DEAD R=DEAD : DEAD")

/* A CCE that has ended and left one of each: a heap, cells, a chunk of IDs, to be given out
 * again. */
static void a_CCE_has_ended(struct scene *scene)
{
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(scene->group));
    CHECK(reclaim != NULL);
    struct bcri_ctx *past = group_join(scene->group);
    const bcr_cce_id name = group_name(scene->peer, past->index);
    uint32_t index = past->index;
    bcri_self_set(past);
    CHECK_INT(bcr_cagrow(1, 1, 1, 1, 3, 20, 65536), 1);
    for (uint32_t i = 0; i < BCRI_FIRST_SLOTS + 1; i++)
        CHECK(bcr_rgalloc(8, 0) != NULL);
    as_peer(scene);
    CHECK_INT(bcr_enq(number(7), name, 2, bcr_FREE), 0);
    bcri_self_set(past);
    CHECK_INT(value_of(bcr_deq(bcr_cce, 2, 0)), 7);
    as_peer(scene);
    group_leave(scene->group, past);
    CHECK(bcri_reclaim_add(reclaim, index));
    bcri_reclaim_look(reclaim);
    CHECK(bcri_reclaim_take(reclaim, &index));
    CHECK(bcri_load(&scene->peer->host->idle_segments) == 2);
    bcri_reclaim_fini(reclaim);
}

/* In the victim: so that the next ID needs a segment. */
static void all_ids_taken(struct scene *scene)
{
    CHECK(bcr_cagrow(0, 0, 0, 0, 1, 1, 65536) > 0);
    while (scene->group != NULL && *bcri_self()->slot_top != NULL)
        CHECK(bcr_rgalloc(8, 0) != NULL);
}
static bool one_more_id(struct scene *scene)
{
    (void)scene;
    return bcr_rgalloc(8, 0) != NULL;
}
SCENARIO(cagrow_with_what_one_that_has_ended_had, .arrange = a_CCE_has_ended, .run = grow, .before = ":",
         .after = ":")
SCENARIO(rgalloc_with_a_chunk_of_IDs_that_one_that_has_ended_had, .prepare = all_ids_taken,
         .arrange = a_CCE_has_ended, .run = one_more_id, .before = ":", .after = ":")
