/* SPDX-License-Identifier: MIT */
/* Stray stores into what leads to handlers: a queue of summonses, its blocks, marked cells. Whatever is written there: nobody
 * crashes or hangs, neither the owner, nor who summons it, nor the daemon when they die; and an owner whose queue was damaged
 * hears what it is summoned to once it has been about to sleep. */
#include <stdio.h>
#include <unistd.h>

#include "bcri/audit.h"
#include "bcri/estate.h"
#include "bcri/repair.h"
#include "bcri/summons.h"
#include "cce.h"
#include "stray.h"

enum { RING = 13, BLOCK = (int)BCRI_SUMMONS_BLOCK };

/* Cell 0 has a high mark and regions, 1 is a demand, 2 has a low mark and regions, 3 has nothing. */
static struct {
    int cell;
    int demands;             /* of two, at cell 1, which one has not looked at */
    int taken;               /* but for so many */
    int again;               /* and so many after that */
    struct bcri_place place; /* of cell 0, for two */
    void **held;
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
    uint32_t number_taken, gen;
    struct bcri_place *place;
    begin();
    scene.cell = grow(4, 60, 65536);
    CHECK_INT(bcr_enq(number(100), bcr_cce, scene.cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(101), bcr_cce, scene.cell + 2, bcr_FREE), 0);
    CHECK_INT(bcr_handler(scene.cell, on_cell, 2, 0, 0), 0);
    CHECK_INT(bcr_handler(scene.cell + 1, on_cell, 0, 1, 1), 0);
    CHECK_INT(bcr_handler(scene.cell + 2, on_cell, -1, 2, 2), 0);
    as(two);
    CHECK_INT(bcri_place_find(two, one_of_two, scene.cell, &place), 0);
    scene.place = *place;
    scene.held = number(11);
    as(one);
    demand(scene.demands);
    for (int i = 0; i < scene.taken; i++)
        CHECK(bcri_summons_take(one, &number_taken, &gen));
    demand(scene.again);
}

/* ---- what may be damaged ---- */

static struct bcri_summons_shm *queue(void)
{
    return &bcri_record(two, one->index)->summons;
}
static void *summoners_line(void)
{
    return queue();
}
static void *ring(void)
{
    return bcri_summons_line(queue(), 0)->entry;
}
static void *owners_line(void)
{
    return &queue()->taken;
}
static void *header(bcri_ref ref)
{
    CHECK(ref != BCRI_REF_NONE);
    return bcri_at(two, ref);
}
static void *data(bcri_ref ref)
{
    return (void *)bcri_header_data(two, ref, header(ref));
}
static bcri_ref first(void)
{
    bcri_ref taken = bcri_load(&queue()->taken_first);
    return taken != BCRI_REF_NONE ? taken : bcri_load(&queue()->chain_first);
}
static bcri_ref last(void)
{
    return bcri_load(&queue()->chain_last);
}
static void *first_header(void)
{
    return header(first());
}
static void *first_block(void)
{
    return data(first());
}
static void *last_header(void)
{
    return header(last());
}
static void *last_block(void)
{
    return data(last());
}
static void *marked_cell(void)
{
    return scene.place.cell;
}
static void *journal(void)
{
    return one->journal;
}

static const struct stray_target targets[] = {
    {"what summoners write", summoners_line, 64},
    {"the ring", ring, 2 * 64},
    {"the owner's line", owners_line, 64},
    {"the first block's header", first_header, sizeof(struct bcri_region_shm)},
    {"the first block", first_block, 5 * 8},
    {"the last block's header", last_header, sizeof(struct bcri_region_shm)},
    {"the last block", last_block, 5 * 8},
    {"a marked cell", marked_cell, sizeof(struct bcri_cell_shm) + 64},
    {"the owner's journal", journal, sizeof(struct bcri_journal_shm)},
};

/* A lock word, or the owner's half of a count, that names a CCE which lives and does not hold it. */
static bool names_the_living(const struct stray_target *target, size_t word, uint64_t is)
{
    const uint32_t tags = 3; /* enl, one, two */
    uint32_t low = (uint32_t)is, high = (uint32_t)(is >> 32);
    if (target->where == marked_cell)
        return (word == 0 || word == 8) && low >= 1 && low <= tags;
    if (target->where == first_header || target->where == last_header)
        return word == 0 && high >= 1 && high <= tags;
    return target->where == summoners_line && word == 0 && low >= 1 && low <= tags;
}

/* ---- what meets it ---- */

static int told;
static void look(int failed)
{
    told |= failed && bcr_errno == bcrE_INTERNAL;
}

static void calls(int cce)
{
    (void)bcr_putwait(0);
    for (int i = 0; i < 4; i++) {
        int cell = scene.cell + i;
        look(bcr_celllen(cce, cell) < 0);
        void **rgid = bcr_rgalloc(8, 0);
        look(rgid == NULL || bcr_enq(rgid, cce, cell, bcr_NOFREE) < 0);
        look(rgid == NULL || bcr_write(rgid, cce, cell, bcr_FREE) < 0);
        for (int k = 0; k < 3; k++) {
            rgid = bcr_get(k != 1, cce, cell, 0);
            look(rgid == NULL || bcr_rgfree(rgid) < 0);
        }
        rgid = bcr_acqwl(cce, cell, 0);
        look(rgid == NULL || bcr_rlswl(rgid, cce, cell) < 0);
    }
}

static void calls_of_two(int times)
{
    as(two);
    for (int i = 0; i < times; i++)
        calls(one_of_two);
    as(one);
}

static void calls_of_one(void)
{
    as(one);
    calls(bcr_cce);
    look(bcr_allow(0) < 0);
    look(bcr_priority(1, 1) < 0);
    look(bcr_handler(scene.cell + 1, on_cell, -3, 3, 3) < 0);
    calls(bcr_cce);
    look(bcr_allow(0) < 0);
    look(bcr_priority(0, 0) < 0);
}

/* Once it is about to sleep it sees whether its queue is whole. */
static void hears_what_is_put(void)
{
    as(one);
    while (!bcri_summons_mark(one))
        (void)bcr_allow(0);
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
    calls_of_two(BLOCK / 3);
    calls_of_one();
    hears_what_is_put();
    look(bcr_handler(scene.cell, NULL, 0, 0, 0) < 0);
    look(bcr_cafree(scene.cell) < 0);
    look(bcr_allow(0) < 0);
    _exit(told ? STRAY_TOLD : STRAY_QUIET);
}

/* Who has made the blocks dies first, then the owner. */
static void run_death(void)
{
    struct bcri_estate *estate = bcri_estate_init(group_host(group));
    CHECK(estate != NULL);
    stray_ends(estate, two);
    calls_of_one();
    stray_ends(estate, one);
    _exit(STRAY_QUIET);
}

/* The owner dies first; who summoned it finds that out. */
static void run_death_of_the_owner(void)
{
    struct bcri_estate *estate = bcri_estate_init(group_host(group));
    CHECK(estate != NULL);
    calls_of_two(1);
    as(NULL);
    stray_ends(estate, one);
    as(two);
    FAILS(bcr_enq(scene.held, one_of_two, scene.cell, bcr_NOFREE), bcrE_DEAD);
    stray_ends(estate, two);
    _exit(STRAY_QUIET);
}

static void damage(const char *name)
{
    static const struct stray_body bodies[] = {{"calls", run_calls},
                                               {"deaths", run_death},
                                               {"the owner's death", run_death_of_the_owner},
                                               {"audit", stray_audit},
                                               {NULL, NULL}};
    static const struct stray_suite suite = {set_scene, names_the_living, targets, bodies};
    stray_damage(&suite, name);
}

static void damage_the_queue(void)
{
    damage("what summoners write");
    damage("the ring");
    damage("the owner's line");
}

TEST_TIMEOUT(a_damaged_queue_of_summonses_ends_no_process, 600)
{
    scene.demands = 5;
    damage_the_queue();
}

TEST_TIMEOUT(a_damaged_queue_with_a_chain_ends_no_process, 600)
{
    scene.demands = RING + BLOCK + 3;
    damage_the_queue();
    damage("the first block's header");
    damage("the first block");
    damage("the last block's header");
    damage("the last block");
}

TEST_TIMEOUT(a_damaged_chain_that_is_being_read_ends_no_process, 600)
{
    scene.demands = RING + BLOCK + 3;
    scene.taken = RING + 4;
    scene.again = 4;
    damage_the_queue();
    damage("the first block's header");
    damage("the first block");
}

TEST_TIMEOUT(a_damaged_marked_cell_ends_no_process, 600)
{
    scene.demands = RING + 3;
    damage("a marked cell");
}

TEST_TIMEOUT(a_damaged_journal_of_who_is_summoned_ends_no_process, 600)
{
    scene.demands = RING + 3;
    damage("the owner's journal");
}

/* ---- chains that go in circles ---- */

static void goes_in_circles(bcri_ref ref)
{
    struct bcri_summons_block_shm *block = data(ref);
    bcri_store(&block->next, ref);
}

TEST(a_chain_that_goes_in_circles_is_read_once)
{
    scene.demands = RING + BLOCK + 3;
    set_scene();
    goes_in_circles(bcri_load(&queue()->chain_first));
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(runs, RING + BLOCK);
    hears_what_is_put();
    CHECK_INT(runs, 1);
}

TEST(a_chain_that_goes_in_circles_is_dropped_once)
{
    scene.demands = RING + BLOCK + 3;
    set_scene();
    goes_in_circles(bcri_load(&queue()->chain_first));
    bcri_cce_dying(group_host(group), one->index);
    bcri_cce_repair(group_enl(group), one->index);
    as(two);
    FAILS(bcr_enq(scene.held, one_of_two, scene.cell, bcr_NOFREE), bcrE_DEAD);
}
