/* SPDX-License-Identifier: MIT */
/* Killed while it puts: the region is in the cell, or handed on, or it never was there. */
#include "bcri/cell.h"
#include "bcri/lookup.h"
#include "bcri/self.h"
#include "scene.h"

static void one_region(struct scene *scene)
{
    scene->id[0] = number(100);
}
/* Each entry of the ring has named it before. */
static void region_that_has_gone_round(struct scene *scene)
{
    one_region(scene);
    for (int i = 0; i < 64; i++) {
        CHECK_INT(bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE), 0);
        scene->id[0] = bcr_deq(scene->home, scene->cell, 0);
        CHECK(scene->id[0] != NULL);
    }
}
static void large_region(struct scene *scene)
{
    scene->id[0] = large(100, 100000);
}
static void anothers_region(struct scene *scene)
{
    scene->id[0] = bcr_deq(scene->home, scene->cell, 0);
    CHECK(scene->id[0] != NULL);
}
static void will_not_wait(struct scene *scene)
{
    one_region(scene);
    CHECK_INT(bcr_putwait(0), 0);
}
static void will_wait_a_little(struct scene *scene)
{
    one_region(scene);
    CHECK_INT(bcr_putwait(1), 0);
}
static void asks_for_errors(struct scene *scene)
{
    will_not_wait(scene);
    bcri_self()->flags |= bcr_errors;
}
/* As if every node of the area had been lost by deaths: the next one that is needed is made. */
static void no_node_left(struct scene *scene)
{
    struct bcri_resolved *resolved;
    as_owner(scene);
    CHECK_INT(bcri_resolved_find(scene->owner, scene->home, scene->cell, &resolved), 0);
    CHECK_UINT(bcri_load(&resolved->area->node_free), 0);
    bcri_store(&resolved->area->node_fresh, resolved->area->node_count);
}

static bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool enq_nofree(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0;
}
static bool write_free(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0;
}
static bool write_nofree(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0;
}
static bool enq_full(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == -1 && bcr_errno == bcrE_FULL;
}
static bool enq_nofree_full(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == -1 && bcr_errno == bcrE_FULL;
}
static bool enqm(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == 0;
}
static bool enqm_nofree(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_NOFREE) == 0;
}
static bool enqm_full(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == -1 && bcr_errno == bcrE_FULL;
}
static bool enqm_with_none(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, 77};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == -1 && bcr_errno == bcrE_NOCELL;
}
static bool writem(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_writem(scene->id[0], 2, cells, bcr_FREE) == 0;
}

static void owner_takes_one(struct scene *scene)
{
    as_owner(scene);
    CHECK_INT(value_of(bcr_deq(scene->home, scene->cell, 0)), 1);
}

SCENARIO(enq_into_an_empty_cell, .prepare = one_region, .run = enq, .before = ":", .after = ": 100")
SCENARIO(enq_into_a_cell_never_used_before, .cold = true, .queued = 1, .prepare = one_region, .run = enq,
         .before = ": 1", .after = ": 1 100")
SCENARIO(enq_of_a_region_that_its_entry_has_named_before, .prepare = region_that_has_gone_round, .run = enq,
         .before = ":", .after = ": 100")
SCENARIO(enq_behind_others, .queued = 3, .prepare = one_region, .run = enq, .before = ": 1 2 3",
         .after = ": 1 2 3 100")
SCENARIO(enq_of_a_large_region, .queued = 1, .prepare = large_region, .run = enq, .before = ": 1",
         .after = ": 1 100")
SCENARIO(enq_of_anothers_region, .queued = 2, .prepare = anothers_region, .run = enq, .before = ": 2",
         .after = ": 2 1")
SCENARIO(enq_that_keeps_its_region, .queued = 1, .prepare = one_region, .run = enq_nofree, .before = ": 1",
         .after = ": 1 100")
SCENARIO(enq_that_keeps_its_region_and_takes_the_cells_share, .nrgns = 3, .prepare = one_region,
         .run = enq_nofree, .before = ":", .after = ": 100")
SCENARIO(enq_that_keeps_anothers_region, .queued = 1, .prepare = anothers_region, .run = enq_nofree,
         .before = ":", .after = ": 1")
SCENARIO(enq_to_a_waiting_taker, .waiters = "T", .prepare = one_region, .run = enq,
         .before = "T=- :", .after = "T=100 :")
SCENARIO(enq_to_the_first_of_three_takers, .waiters = "TTT", .prepare = one_region, .run = enq,
         .before = "T=- T=- T=- :", .after = "T=100 T=- T=- :")
SCENARIO(enq_to_the_first_of_five_takers, .waiters = "TTTTT", .prepare = one_region, .run = enq,
         .before = "T=- T=- T=- T=- T=- :", .after = "T=100 T=- T=- T=- T=- :")
SCENARIO(enq_to_waiting_readers, .waiters = "RR", .prepare = one_region, .run = enq,
         .before = "R=- R=- :", .after = "R=100 R=100 : 100")
SCENARIO(enq_to_readers_and_takers, .waiters = "RRTRT", .prepare = one_region, .run = enq,
         .before = "R=- R=- T=- R=- T=- :", .after = "R=100 R=100 T=100 R=- T=- :")
SCENARIO(enq_to_a_waiting_lock, .waiters = "LT", .prepare = one_region, .run = enq,
         .before = "L=- T=- :", .after = "L=100 T=- :")
SCENARIO(enq_that_keeps_its_region_to_readers_and_a_taker, .waiters = "RT", .prepare = one_region,
         .run = enq_nofree, .before = "R=- T=- :", .after = "R=100 T=100 :")
SCENARIO(enq_where_nothing_may_stay_to_a_taker, .nrgns = -1, .waiters = "T", .prepare = one_region,
         .run = enq, .before = "T=- :", .after = "T=100 :")
SCENARIO(enq_beyond_the_ring, .cells = 10, .queued = 8, .prepare = one_region, .run = enq,
         .before = ": 1 2 3 4 5 6 7 8", .after = ": 1 2 3 4 5 6 7 8 100")
SCENARIO(enq_behind_those_beyond_the_ring, .cells = 10, .queued = 11, .prepare = one_region,
         .run = enq_nofree, .before = ": 1 2 3 4 5 6 7 8 9 10 11", .after = ": 1 2 3 4 5 6 7 8 9 10 11 100")
SCENARIO(enq_behind_regions_given_back, .queued = 1, .given_back = 3, .prepare = one_region, .run = enq,
         .before = ": 61 62 63 1", .after = ": 61 62 63 1 100")
SCENARIO(enq_after_a_lock_died, .ownerdead = true, .prepare = one_region, .run = enq, .before = ": OWNERDEAD",
         .after = ": 100")
SCENARIO(enq_that_finds_no_room, .nrgns = 2, .queued = 2, .prepare = will_not_wait, .run = enq_full,
         .before = ": 1 2", .after = ": 1 2")
SCENARIO(enq_that_keeps_its_region_and_finds_no_room, .nrgns = 2, .queued = 2, .prepare = will_not_wait,
         .run = enq_nofree_full, .before = ": 1 2", .after = ": 1 2")
SCENARIO(enq_that_waits_in_vain, .nrgns = 2, .queued = 2, .prepare = will_wait_a_little, .run = enq_full,
         .before = ": 1 2", .after = ": 1 2")
SCENARIO(enq_that_waits_for_room, .nrgns = 2, .queued = 2, .prepare = one_region, .run = enq,
         .help = owner_takes_one, .help_at = TRACE_AT_YIELD, .before = ": 1 2", .after = ": 2 100",
         .also = ": 2")
SCENARIO(enq_that_sleeps_until_there_is_room, .nrgns = 2, .queued = 2, .prepare = one_region,
         .run = enq_nofree, .help = owner_takes_one, .help_at = TRACE_AT_SLEEP, .before = ": 1 2",
         .after = ": 2 100", .also = ": 2")
SCENARIO(enq_that_waits_behind_another_put, .nrgns = 2, .queued = 2, .puts = 1, .prepare = one_region,
         .run = enq, .help = owner_takes_one, .help_at = TRACE_AT_YIELD, .before = "P=- : 1 2 51",
         .after = "P=in : 2 51 100", .also = "P=in : 2 51")
SCENARIO(enq_into_its_own_cell_to_a_taker, .own = true, .waiters = "T", .prepare = one_region, .run = enq,
         .before = "T=DEAD : DEAD", .after = "T=100 : DEAD")
SCENARIO(enq_into_its_own_cell_to_readers, .own = true, .waiters = "RR", .prepare = one_region, .run = enq,
         .before = "R=DEAD R=DEAD : DEAD", .after = "R=100 R=100 : DEAD")

SCENARIO(write_into_an_empty_cell, .prepare = one_region, .run = write_free, .before = ":", .after = ": 100")
SCENARIO(write_to_a_waiting_taker, .waiters = "TT", .prepare = one_region, .run = write_free,
         .before = "T=- T=- :", .after = "T=100 T=- :")
SCENARIO(write_that_keeps_its_region_to_a_waiting_lock, .waiters = "L", .prepare = one_region,
         .run = write_nofree, .before = "L=- :", .after = "L=100 :")
SCENARIO(write_that_keeps_its_region_into_an_empty_cell, .prepare = one_region, .run = write_nofree,
         .before = ":", .after = ": 100")
SCENARIO(write_over_one, .queued = 1, .prepare = one_region, .run = write_free, .before = ": 1",
         .after = ": 100")
SCENARIO(write_over_three, .queued = 3, .prepare = one_region, .run = write_free, .before = ": 1 2 3",
         .after = ": 100")
SCENARIO(write_that_keeps_its_region, .queued = 2, .prepare = one_region, .run = write_nofree,
         .before = ": 1 2", .after = ": 100")
SCENARIO(write_of_anothers_region, .queued = 3, .prepare = anothers_region, .run = write_nofree,
         .before = ": 2 3", .after = ": 1")
SCENARIO(write_over_those_beyond_the_ring, .cells = 10, .queued = 11, .prepare = one_region,
         .run = write_free, .before = ": 1 2 3 4 5 6 7 8 9 10 11", .after = ": 100")
SCENARIO(write_over_regions_given_back, .queued = 2, .given_back = 3, .prepare = one_region,
         .run = write_free, .before = ": 61 62 63 1 2", .after = ": 100")
SCENARIO(write_to_readers_and_a_taker, .waiters = "RRT", .prepare = one_region, .run = write_free,
         .before = "R=- R=- T=- :", .after = "R=100 R=100 T=100 :")
SCENARIO(write_over_two_while_a_put_waits, .nrgns = 2, .queued = 2, .puts = 1, .prepare = one_region,
         .run = write_free, .before = "P=- : 1 2 51", .after = "P=in : 100 51")
SCENARIO(write_after_a_lock_died, .ownerdead = true, .prepare = one_region, .run = write_free,
         .before = ": OWNERDEAD", .after = ": 100")

SCENARIO(enqm_into_two_cells, .queued = 1, .prepare = one_region, .run = enqm, .before = ": 1",
         .after = ": 1 100 ; 100", .also = ": 1 100")
SCENARIO(enqm_that_keeps_its_region, .waiters = "T", .prepare = one_region, .run = enqm_nofree,
         .before = "T=- :", .after = "T=100 : ; 100", .also = "T=100 :")
SCENARIO(enqm_that_finds_room_for_one, .nrgns = 2, .queued = 1, .prepare = will_not_wait, .run = enqm_full,
         .before = ": 1", .after = ": 1 100")
SCENARIO(enqm_that_waits_for_room, .nrgns = 2, .queued = 1, .prepare = one_region, .run = enqm,
         .help = owner_takes_one, .help_at = TRACE_AT_YIELD, .before = ": 1", .after = ": 100 ; 100",
         .also = ": 1 100|: 100")
SCENARIO(enqm_that_tells_of_a_cell_that_is_none, .prepare = asks_for_errors, .run = enqm_with_none,
         .before = ":", .after = ": 100")
SCENARIO(enqm_that_tells_of_two_cells_without_room, .nrgns = 1, .queued = 1, .prepare = asks_for_errors,
         .run = enqm_full, .before = ": 1", .after = ": 1")
SCENARIO(enq_that_makes_nodes, .cells = 10, .queued = 12, .prepare = one_region, .arrange = no_node_left,
         .run = enq, .before = ": 1 2 3 4 5 6 7 8 9 10 11 12", .after = ": 1 2 3 4 5 6 7 8 9 10 11 12 100")
SCENARIO(writem_into_two_cells, .queued = 2, .prepare = one_region, .run = writem, .before = ": 1 2",
         .after = ": 100 ; 100", .also = ": 100")
