/* SPDX-License-Identifier: MIT */
/* Wild writes into what leads to handlers: what is told of requests, marked cells. Whatever is
 * written there: neither the owner hangs, nor the notifier, nor the daemon when they die; a
 * CCE may end itself (bcri/corrupt.h), the daemon does not; and what is requested afterwards of one
 * that goes on runs. */
#include <stdio.h>
#include <unistd.h>

#include "bcri/audit.h"
#include "bcri/handler_request.h"
#include "bcri/reclaim.h"
#include "bcri/repair.h"
#include "cce.h"
#include "wild_write.h"

/* Cell 0 has a high mark and regions, 1 is a demand, 2 has a low mark and regions, 3 has
 * nothing. */
static struct {
    int cell;
    int demands;                   /* of two, at cell 1, which one has not looked at */
    struct bcri_resolved resolved; /* of cell 0, for two */
    bcr_region held;
} scene;

static int runs;
static void on_cell(int cell)
{
    runs++;
    if (cell == scene.cell)
        (void)bcr_zap(bcr_cce, cell);
}

static void demand(int times)
{
    as(two);
    for (int i = 0; i < times; i++)
        FAILS_NULL(bcr_deq(one_of_two, scene.cell + 1, 0), bcrE_TIMEOUT);
    as(one);
}

static void set_scene(void)
{
    struct bcri_resolved *resolved;
    begin();
    scene.cell = grow(4, 60, 65536);
    CHECK_INT(bcr_enq(number(100), bcr_cce, scene.cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(101), bcr_cce, scene.cell + 2, bcr_FREE), 0);
    CHECK_INT(bcr_handler(scene.cell, on_cell, 2, 0, 0), 0);
    CHECK_INT(bcr_handler(scene.cell + 1, on_cell, 0, 1, 1), 0);
    CHECK_INT(bcr_handler(scene.cell + 2, on_cell, -1, 2, 2), 0);
    as(two);
    CHECK_INT(bcri_resolved_find(two, one_of_two, scene.cell, &resolved), 0);
    scene.resolved = *resolved;
    scene.held = number(11);
    as(one);
    demand(scene.demands);
}

/* ---- what may be overwritten ---- */

static void *told_line(void)
{
    return &bcri_record(two, one->index)->requests;
}
static void *bits(void)
{
    return bcri_record(two, one->index)->requests.bits;
}
static void *marked_cell(void)
{
    return scene.resolved.cell;
}
static void *journal(void)
{
    return one->journal;
}

static const struct wild_target targets[] = {
    {"what is told", told_line, 64},
    {"the bits", bits, BCRI_REQUEST_WORDS * 8},
    {"a marked cell", marked_cell, sizeof(struct bcri_cell_shm)},
    {"the owner's journal", journal, sizeof(struct bcri_journal_shm)},
};

/* A lock word that names a CCE which lives and does not hold it; or a count that might be, and has
 * so many runs. */
static bool might_be(const struct wild_target *target, size_t word, uint64_t is)
{
    const uint32_t tags = 3; /* enl, one, two */
    const uint32_t low = (uint32_t)is;
    if (target->where != marked_cell)
        return false;
    if (word == offsetof(struct bcri_cell_shm, t.requests) / 8)
        return is > 1000 && is < UINT64_C(1) << 41;
    return (word == offsetof(struct bcri_cell_shm, h.lock) / 8 ||
            word == offsetof(struct bcri_cell_shm, t.lock) / 8) &&
           low >= 1 && low <= tags;
}

/* ---- what meets it ---- */

static void calls(bcr_cce_id cce)
{
    (void)bcr_putwait(0);
    for (int i = 0; i < 4; i++) {
        int cell = scene.cell + i;
        (void)bcr_celllen(cce, cell);
        bcr_region rgid = bcr_rgalloc(8, 0);
        if (rgid != NULL) {
            (void)bcr_enq(rgid, cce, cell, bcr_NOFREE);
            (void)bcr_write(rgid, cce, cell, bcr_FREE);
        }
        for (int k = 0; k < 3; k++) {
            rgid = bcr_get(k != 1, cce, cell, 0);
            if (rgid != NULL)
                (void)bcr_rgfree(rgid);
        }
        rgid = bcr_acqwl(cce, cell, 0);
        if (rgid != NULL)
            (void)bcr_rlswl(rgid, cce, cell);
    }
}

static void calls_of_two(int times)
{
    as(two);
    for (int i = 0; i < times; i++)
        calls(one_of_two);
    as(one);
}

static void calls_of_two_once(void)
{
    calls_of_two(1);
}

static void put_of_two(void)
{
    as(two);
    FAILS(bcr_enq(scene.held, one_of_two, scene.cell, bcr_NOFREE), bcrE_DEAD);
}

static void calls_of_one(void)
{
    as(one);
    calls(bcr_cce);
    (void)bcr_allow(0);
    (void)bcr_priority(1, 1);
    (void)bcr_handler(scene.cell + 1, on_cell, -3, 3, 3);
    calls(bcr_cce);
    (void)bcr_allow(0);
    (void)bcr_priority(0, 0);
}

/* Once it is about to sleep it sees whether its queue is whole. */
static void hears_what_is_put(void)
{
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    if (bcr_handler(scene.cell, on_cell, 1, 0, 0) != 0 || bcr_zap(bcr_cce, scene.cell) != 0)
        return;
    runs = 0;
    as(two);
    const bool put = bcr_enq(scene.held, one_of_two, scene.cell, bcr_NOFREE) == 0;
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    if (put)
        CHECK_INT(runs, 1);
}

static void run_calls(void)
{
    calls_of_one();
    calls_of_two(40);
    calls_of_one();
    hears_what_is_put();
    (void)bcr_handler(scene.cell, NULL, 0, 0, 0);
    (void)bcr_cafree(scene.cell);
    (void)bcr_allow(0);
    _exit(WILD_QUIET);
}

/* Who has requested dies first, then the owner. */
static void run_death(void)
{
    wild_end_both(two, calls_of_one, one);
}

/* The owner dies first; who has requested finds that out. */
static void run_death_of_the_owner(void)
{
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    const bool two_goes_on = wild_calls(calls_of_two_once);
    if (!two_goes_on)
        bcri_cce_dying(group_host(group), two->index);
    wild_end_cce(reclaim, one);
    if (two_goes_on)
        (void)wild_calls(put_of_two);
    wild_end_cce(reclaim, two);
    _exit(WILD_QUIET);
}

static void overwrite(const char *name)
{
    static const struct wild_body bodies[] = {{"calls", run_calls, true},
                                              {"deaths", run_death, false},
                                              {"the owner's death", run_death_of_the_owner, false},
                                              {"audit", wild_audit, false},
                                              {NULL, NULL, false}};
    static const struct wild_suite suite = {set_scene, might_be, targets, bodies};
    wild_writes(&suite, name);
}

TEST_TIMEOUT(what_is_told_may_be_corrupt_and_the_daemon_goes_on, 600)
{
    scene.demands = 5;
    overwrite("what is told");
    overwrite("the bits");
}

TEST_TIMEOUT(a_marked_cell_may_be_corrupt_and_the_daemon_goes_on, 600)
{
    scene.demands = 17;
    overwrite("a marked cell");
}

TEST_TIMEOUT(the_journal_of_who_is_requested_may_be_corrupt_and_the_daemon_goes_on, 600)
{
    scene.demands = 17;
    overwrite("the owner's journal");
}
