/* SPDX-License-Identifier: MIT */
/* Shared memory that a wild write has made corrupt. Each word of the structures that lead somewhere
 * is overwritten, one at a time, through a mapping of the test's own, with what strays write:
 * nothing, everything, a little more or less, a reference to the end of a segment and to beyond it,
 * into another, to one that was never there. Then the routines are called that meet it, the dead
 * are repaired, and the audit is run, each in a process of its own, which must end. A CCE that
 * meets it ends itself, or crashes; the daemon does neither, also where a CCE has ended itself in
 * the midst of it. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/audit.h"
#include "bcri/cell.h"
#include "bcri/heap.h"
#include "bcri/lookup.h"
#include "bcri/reclaim.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "bcri/segment.h"
#include "bcri/tx.h"
#include "cce.h"
#include "stray.h"

enum { FREE_IDS = 3, MANY_IDS = 40 };

/* What there is before the damage. */
static struct scene {
    int cell; /* of one's: 0 holds three regions, 1 is waited for by ticket, 2 by a read in its list, 3 is locked by two,
               * 4 holds more than its ring, and a put waits for its room */
    bcr_region held, shared, pending, listed, lock;
    bcr_region far, far_pending, far_free; /* IDs in a chunk of their own; far_free is no longer one */
    bcr_region theirs;                     /* two's, of a region of one's */
    struct bcri_resolved resolved[5];
} scene;

static void set_scene(void)
{
    begin();
    scene.cell = bcr_cagrow(0, 0, 0, 0, 12, 60, 65536); /* rings of 8 */
    CHECK(scene.cell > 0);
    /* No number is one of the tags: a stray reference may take it, in either byte order, for the
     * owner of a count. */
    for (int i = 1; i <= 3; i++)
        CHECK_INT(bcr_enq(number(100 + i), bcr_cce, scene.cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(7), bcr_cce, scene.cell + 3, bcr_FREE), 0);
    for (int i = 0; i < 20; i++)
        CHECK_INT(bcr_enq(number(100 + i), bcr_cce, scene.cell + 4, bcr_FREE), 0);
    as(two);
    CHECK_INT(bcr_cagrow(50, 0, 0, 0, 1, 4, 4096), 50);
    scene.held = number(11);
    scene.shared = number(12);
    CHECK_INT(bcr_enq(scene.shared, one_of_two, scene.cell, bcr_NOFREE), 0);
    scene.pending = bcr_deq(one_of_two, scene.cell + 1, bcr_PENDING);
    scene.listed = bcr_read(one_of_two, scene.cell + 2, bcr_PENDING);
    scene.lock = bcr_acqwl(one_of_two, scene.cell + 3, 0);
    CHECK(scene.pending != NULL && scene.listed != NULL && scene.lock != NULL);
    bcr_region ids[MANY_IDS];
    for (int i = 0; i < MANY_IDS; i++)
        ids[i] = number(20 + i);
    scene.far_free = ids[MANY_IDS - 1];
    scene.far = ids[MANY_IDS - 2];
    CHECK_INT(bcr_rgfree(scene.far_free), 0);
    scene.far_pending = bcr_deq(one_of_two, scene.cell + 5, bcr_PENDING);
    for (int i = 0; i < MANY_IDS - 2; i++)
        CHECK_INT(bcr_rgfree(ids[i]), 0);
    as(one);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_enq(number(200 + i), bcr_cce, scene.cell + 6, bcr_FREE), 0);
    as(two);
    CHECK_INT(take(one_of_two, scene.cell + 6), 200);
    scene.theirs = bcr_deq(one_of_two, scene.cell + 6, 0);
    CHECK(scene.theirs != NULL);
    for (int i = 0; i < 5; i++) {
        struct bcri_resolved *resolved;
        CHECK_INT(bcri_resolved_find(two, one_of_two, scene.cell + i, &resolved), 0);
        scene.resolved[i] = *resolved;
    }
    as(one);
}

/* What may be damaged, in two's mapping. */
static void *cell_0(void)
{
    return scene.resolved[0].cell;
}
static void *cell_1(void)
{
    return scene.resolved[1].cell;
}
static void *cell_2(void)
{
    return scene.resolved[2].cell;
}
static void *cell_4(void)
{
    return scene.resolved[4].cell;
}
static void *ring_0(void)
{
    return scene.resolved[0].ring;
}
static void *ring_1(void)
{
    return scene.resolved[1].ring;
}
static void *node(void)
{
    bcri_ref ref = bcri_load(&scene.resolved[4].cell->c.back_first);
    CHECK(ref != BCRI_REF_NONE);
    return bcri_at(two, ref);
}
static void *area(void)
{
    return scene.resolved[0].area;
}
static bcri_ref region_of(bcr_region rgid)
{
    return group_region(two, rgid);
}
static void *held_region(void)
{
    return bcri_at(two, region_of(scene.held));
}
static void *queued_region(void)
{
    return bcri_at(two, bcri_load(bcri_ring_at(&scene.resolved[0], 0)) & BCRI_REF_MASK);
}
static void *shared_region(void)
{
    return bcri_at(two, region_of(scene.shared));
}
static void *held_id(void)
{
    return scene.held;
}
static void *pending_id(void)
{
    return scene.pending;
}
static void *listed_id(void)
{
    return scene.listed;
}
static void *journal(void)
{
    return two->journal;
}
/* As it is while the CCE drops the last hold of a region. */
static void *journal_of_a_drop(void)
{
    const bcri_ref ref = region_of(scene.shared);
    bcri_store(&two->journal->cw_ref, ref);
    bcri_store(&two->journal->cw_incarnation,
               bcri_load(&((struct bcri_region_shm *)bcri_at(two, ref))->incarnation));
    bcri_store(&two->journal->cw_new, 0);
    bcri_store(&two->journal->cw_state, BCRI_CW_COMMIT);
    return two->journal;
}
static void *redo(void)
{
    return two->record->redo;
}
static void *identity(void)
{
    return &two->record->id;
}
static void *heap_directory(void)
{
    return two->map[bcri_ref_seg(region_of(scene.held))].base;
}

static void *host(void)
{
    return two->host;
}
static void *record_segments(void)
{
    return two->host->record_seg;
}
static void *entry_of(const void *at)
{
    const struct bcri_mapping *map = two->map;
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++)
        if (map[seg].base != NULL &&
            (uintptr_t)at - (uintptr_t)map[seg].base < map[seg].units * BCRI_REF_UNIT)
            return &two->host->segments[seg];
    FAIL("%p is in no segment", at);
}
static void *entry_of_host(void)
{
    return entry_of(two->host);
}
static void *entry_of_records(void)
{
    return entry_of(two->record);
}
static void *entry_of_cells(void)
{
    return entry_of(scene.resolved[0].cell);
}
static void *entry_of_heap(void)
{
    return entry_of(held_region());
}
static void *entry_of_ids(void)
{
    return entry_of(scene.far);
}
static void *chunks(void)
{
    return two->record->slot_chunk;
}
static void *far_id(void)
{
    return scene.far;
}
static void *far_pending_id(void)
{
    return scene.far_pending;
}
static void *far_free_id(void)
{
    return scene.far_free;
}
static void *free_id(void)
{
    for (uint32_t i = 0; i < BCRI_FIRST_SLOTS; i++)
        if (bcri_load(&two->record->slots[i].word) == 0)
            return &two->record->slots[i];
    FAIL("no ID is free");
}

static const struct stray_target targets[] = {
    {"the host segment's head", host, 64},
    {"the directory of records", record_segments, 16},
    {"the host segment's entry", entry_of_host, sizeof(struct bcri_segment_shm)},
    {"the entry of a segment of records", entry_of_records, sizeof(struct bcri_segment_shm)},
    {"the entry of a segment of cells", entry_of_cells, sizeof(struct bcri_segment_shm)},
    {"the entry of a heap", entry_of_heap, sizeof(struct bcri_segment_shm)},
    {"the entry of a segment of IDs", entry_of_ids, sizeof(struct bcri_segment_shm)},
    {"the list of chunks of IDs", chunks, 24},
    {"an ID in a chunk", far_id, sizeof(struct bcri_slot_shm)},
    {"a pending ID in a chunk", far_pending_id, sizeof(struct bcri_slot_shm)},
    {"a free ID in a chunk", far_free_id, sizeof(struct bcri_slot_shm)},
    {"a free ID", free_id, sizeof(struct bcri_slot_shm)},
    {"a cell with regions", cell_0, sizeof(struct bcri_cell_shm)},
    {"a cell with a waiting ticket", cell_1, sizeof(struct bcri_cell_shm)},
    {"a cell with a waiting read", cell_2, sizeof(struct bcri_cell_shm)},
    {"a cell with more than its ring holds", cell_4, sizeof(struct bcri_cell_shm)},
    {"the ring of a cell with regions", ring_0, 64},
    {"the ring of a cell with a waiting ticket", ring_1, 64},
    {"a node", node, sizeof(struct bcri_node_shm)},
    {"an area", area, sizeof(struct bcri_area_shm)},
    {"the header of a held region", held_region, sizeof(struct bcri_region_shm)},
    {"the header of a queued region", queued_region, sizeof(struct bcri_region_shm)},
    {"the header of a shared region", shared_region, sizeof(struct bcri_region_shm)},
    {"an ID", held_id, sizeof(struct bcri_slot_shm)},
    {"a pending ID", pending_id, sizeof(struct bcri_slot_shm)},
    {"a listed ID", listed_id, sizeof(struct bcri_slot_shm)},
    {"a journal", journal, sizeof(struct bcri_journal_shm)},
    {"the journal of a drop", journal_of_a_drop, sizeof(struct bcri_journal_shm)},
    {"a redo log", redo, 4 * sizeof(struct bcri_redo_shm)},
    {"a record's identity", identity, sizeof(struct bcri_identity_shm)},
    {"a heap's directory", heap_directory, 64},
};

static void calls_of_one(void)
{
    as(one);
    bcr_putwait(0);
    for (int i = 0; i < 5; i++) {
        int cell = scene.cell + i;
        (void)bcr_celllen(bcr_cce, cell);
        bcr_region rgid = bcr_read(bcr_cce, cell, 0);
        if (rgid != NULL)
            (void)bcr_rgfree(rgid);
        rgid = number(5);
        (void)bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE);
        (void)bcr_rgfree(rgid);
        rgid = bcr_deq(bcr_cce, cell, 0);
        if (rgid != NULL) {
            (void)bcr_rgmod(rgid);
            (void)bcr_write(rgid, bcr_cce, cell, bcr_FREE);
        }
    }
}

static void calls_of_two(void)
{
    int archtype;
    as(two);
    bcr_putwait(0);
    (void)bcr_rglen(scene.held, &archtype);
    (void)bcr_rgrealloc(scene.held, 3);
    (void)bcr_enq(scene.held, one_of_two, scene.cell, bcr_NOFREE);
    (void)bcr_rgmod(scene.held);
    (void)bcr_rgmod(scene.shared);
    (void)bcr_rgfree(scene.shared);
    (void)bcr_rgwait(scene.pending, 0, 0);
    (void)bcr_rgwait(scene.listed, 0, 1);
    (void)bcr_rlswl(scene.lock, one_of_two, scene.cell + 3);
    for (int i = 0; i < 5; i++) {
        bcr_region rgid = bcr_deq(one_of_two, scene.cell + i, 0);
        if (rgid != NULL)
            (void)bcr_rgfree(rgid);
        rgid = bcr_acqwl(one_of_two, scene.cell + i, 0);
        if (rgid != NULL)
            (void)bcr_rlswl(rgid, one_of_two, scene.cell + i);
    }
    for (int i = 0; i < FREE_IDS; i++)
        (void)(bcr_rgalloc(64, 0) != NULL); /* kept until the CCE ends */
    (void)bcr_rgfree(scene.held);
    (void)bcr_rgfree(scene.pending);
    (void)bcr_rglen(scene.far, NULL);
    (void)bcr_rgwait(scene.far_pending, 0, 0);
    (void)bcr_rgfree(scene.far_pending);
    (void)bcr_rgfree(scene.far_free);
    (void)bcr_rgfree(scene.theirs);
    for (uint32_t i = 0; i < 240; i++) {
        bcr_region rgid = bcr_deq(one_of_two, scene.cell + 6, 0);
        if (rgid != NULL)
            (void)bcr_rgfree(rgid);
        as(one);
        rgid = bcr_rgalloc(i % 2 != 0 ? 300 : 4, 0);
        if (rgid != NULL)
            (void)bcr_enq(rgid, bcr_cce, scene.cell + 6, bcr_FREE);
        as(two);
    }
    for (int i = 0; i < MANY_IDS; i++)
        (void)(bcr_rgalloc(64, 0) != NULL); /* kept until the CCE ends */
    for (int i = 0; i < 5; i++)
        (void)bcr_zap(one_of_two, scene.cell + i);
    (void)bcr_cafree(50);
    as(one);
    (void)bcr_cafree(scene.cell);
}

static void run_calls(void)
{
    calls_of_one();
    calls_of_two();
    _exit(STRAY_QUIET);
}

static void run_repair(void)
{
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    stray_ends(reclaim, two);
    (void)stray_calls(calls_of_one);
    stray_ends(reclaim, one);
    _exit(STRAY_QUIET);
}

/* Both die of what they call, if they do; else one after the other. */
static void run_repair_of_callers(void)
{
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    if (!stray_calls(calls_of_two))
        bcri_cce_dying(group_host(group), one->index);
    stray_ends(reclaim, two);
    stray_ends(reclaim, one);
    _exit(STRAY_QUIET);
}

/* A lock word, or the owner's half of a count, that names a CCE which lives and does not hold it:
 * whoever needs it sleeps, as for one that is stopped; only the audit can tell. */
static bool names_the_living(const struct stray_target *target, size_t word, uint64_t is)
{
    const uint32_t tags = 3; /* enl, one, two */
    uint32_t low = (uint32_t)is, high = (uint32_t)(is >> 32);
    if (target->bytes == sizeof(struct bcri_region_shm))
        return word == 0 && high >= 1 && high <= tags;
    if (target->bytes == sizeof(struct bcri_area_shm))
        return word == 8 && ((low >= 1 && low <= tags) || (high >= 1 && high <= tags));
    return target->bytes == sizeof(struct bcri_cell_shm) && (word == 0 || word == 8) && low >= 1 &&
           low <= tags;
}

static void damage(const char *name)
{
    static const struct stray_body bodies[] = {{"calls", run_calls, true},
                                               {"repair", run_repair, false},
                                               {"repair of callers", run_repair_of_callers, false},
                                               {"audit", stray_audit, false},
                                               {NULL, NULL, false}};
    static const struct stray_suite suite = {set_scene, names_the_living, targets, bodies};
    stray_damage(&suite, name);
}

TEST_TIMEOUT(a_corrupt_cell_ends_CCEs_and_never_the_daemon, 600)
{
    damage("a cell with regions");
    damage("a cell with a waiting ticket");
    damage("a cell with a waiting read");
    damage("a cell with more than its ring holds");
    damage("the ring of a cell with regions");
    damage("the ring of a cell with a waiting ticket");
}

TEST_TIMEOUT(a_corrupt_area_ends_CCEs_and_never_the_daemon, 600)
{
    damage("an area");
    damage("a node");
}

TEST_TIMEOUT(a_corrupt_region_ends_CCEs_and_never_the_daemon, 600)
{
    damage("the header of a held region");
    damage("the header of a queued region");
    damage("the header of a shared region");
}

TEST_TIMEOUT(a_corrupt_ID_ends_CCEs_and_never_the_daemon, 600)
{
    damage("an ID");
    damage("a pending ID");
    damage("a listed ID");
}

TEST_TIMEOUT(a_corrupt_record_ends_CCEs_and_never_the_daemon, 600)
{
    damage("a journal");
    damage("the journal of a drop");
    damage("a redo log");
    damage("a record's identity");
    damage("a heap's directory");
}

TEST_TIMEOUT(a_corrupt_host_segment_ends_CCEs_and_never_the_daemon, 600)
{
    damage("the host segment's head");
    damage("the directory of records");
    damage("the host segment's entry");
    damage("the entry of a segment of records");
    damage("the entry of a segment of cells");
    damage("the entry of a heap");
    damage("the entry of a segment of IDs");
}

TEST_TIMEOUT(a_corrupt_chunk_of_IDs_ends_CCEs_and_never_the_daemon, 600)
{
    damage("the list of chunks of IDs");
    damage("an ID in a chunk");
    damage("a pending ID in a chunk");
    damage("a free ID in a chunk");
    damage("a free ID");
}

/* What is said of it. */
static char said[4096];
static void note(void *arg, const char *sentence)
{
    (void)arg;
    size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s\n", sentence);
}

static void audit_names(const char *part)
{
    struct bcri_audit audit = {.found = note};
    said[0] = '\0';
    CHECK_INT(bcri_audit(group_enl(group), &audit), 0);
    CHECK(audit.findings != 0);
    if (strstr(said, part) == NULL)
        FAIL("wanted \"%s\" in \"%s\"", part, said);
}

static void store_64(void *where, uint64_t value)
{
    *(volatile uint64_t *)where = value;
}
static void store_32(void *where, uint32_t value)
{
    *(volatile uint32_t *)where = value;
}

/* It has ended itself: the daemon repairs it, as far as it can. */
static void bury(struct bcri_ctx *ctx)
{
    bcri_cce_dying(group_host(group), ctx->index);
    group_repair(group, ctx->index);
}

/* A CCE that has met corrupt memory is dead and repaired, and the cell is condemned. */
static void is_condemned(int cell)
{
    as(one);
    bcr_region rgid = number(1);
    FAILS(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), bcrE_INTERNAL); /* one has resolved the cell before */
    FAILS(bcr_celllen(bcr_cce, cell), bcrE_INTERNAL);
    FAILS(bcr_zap(bcr_cce, cell), bcrE_INTERNAL);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_INTERNAL);
    FAILS_NULL(bcr_read(bcr_cce, cell, bcr_BLOCK), bcrE_INTERNAL);
    FAILS_NULL(bcr_acqwl(bcr_cce, cell, 0), bcrE_INTERNAL);
    FAILS(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), bcrE_INTERNAL);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(take(bcr_cce, scene.cell + 6), 202); /* the others are as they were */
}

TEST(a_ring_entry_that_leads_nowhere_ends_takers_and_readers_and_the_audit_names_it)
{
    set_scene();
    _Atomic uint64_t *ring = scene.resolved[0].ring;
    uint64_t was = bcri_load(&ring[0]);
    store_64(&ring[0], was | 0xffffffffu);
    audit_names("lies in no heap");
    as(two);
    ENDS_ITSELF(bcr_deq(one_of_two, scene.cell, 0) != NULL, "a reference that leads nowhere");
    bury(two);
    as(one);
    CHECK_INT(bcr_celllen(bcr_cce, scene.cell), 4); /* it is still there, and nobody has the locks */
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    as(three);
    ENDS_ITSELF(bcr_read(one_of_three, scene.cell, 0) != NULL, "a reference that leads nowhere");
    bury(three);
    store_64(&ring[0], was);
    as(one);
    CHECK_INT(take(bcr_cce, scene.cell), 101);
}

TEST(counters_that_cannot_be_end_who_meets_them_and_the_daemon_condemns_their_cell)
{
    set_scene();
    struct bcri_cell_shm *cell = scene.resolved[0].cell;
    store_64(&cell->h.head, bcri_load(&cell->h.head) + 1000);
    audit_names("tickets wait");
    as(two);
    ENDS_ITSELF(bcr_zap(one_of_two, scene.cell), "the counters of a cell");
    CHECK(!group_enl(group)->daemon.corrupt);
    bury(two);
    CHECK(group_enl(group)->daemon.corrupt);
    is_condemned(scene.cell);
    FAILS(bcr_cafree(scene.cell), bcrE_INTERNAL);
    CHECK_INT(bcr_celllen(bcr_cce, scene.cell + 4), 20); /* the other cells are still open */
}

/* The file of a segment has the size that its entry says; a store behind its end would raise
 * SIGBUS. */
TEST(a_segment_that_is_shorter_than_its_entry_says_is_not_mapped)
{
    set_scene();
    struct bcri_ctx *three = join();
    int one_of_three = name(three, one);
    const bcri_ref theirs =
        bcri_slot_region(bcri_load(&((struct bcri_slot_shm *)(void *)scene.theirs)->word));
    store_64(&two->host->segments[bcri_ref_seg(theirs)].size_bytes, UINT64_C(1) << 30);
    as(three);
    ENDS_ITSELF(bcr_deq(one_of_three, scene.cell, 0) != NULL, "the entry of a segment");
}

/* What a list of requests leads to must be a request that waits there, first in the list. */
TEST(a_list_that_leads_to_an_ID_that_does_not_wait_ends_who_would_answer_it)
{
    set_scene();
    struct bcri_ctx *three = join();
    int one_of_three = name(three, one);
    store_64(&scene.resolved[2].cell->c.list_first,
             bcri_slot_ref(two, (const struct bcri_slot_shm *)(const void *)scene.held));
    as(three);
    ENDS_ITSELF(bcr_enq(number(1), one_of_three, scene.cell + 2, bcr_FREE), "a cell's list of requests");
    as(two);
    CHECK_INT(value_of(scene.held), 11);
}

/* One word at a time disagrees with all the others. */
TEST(the_audit_names_counts_that_disagree_with_what_they_count)
{
    set_scene();
    const uint64_t word = bcri_load(&((struct bcri_slot_shm *)(void *)scene.shared)->word);
    struct bcri_region_shm *region = bcri_at(two, bcri_slot_region(word));
    const struct bcri_resolved *queue = &scene.resolved[0], *list = &scene.resolved[2];
    const uint64_t count = bcri_load(&region->count);
    store_64(&region->count, count - 1);
    audit_names("counts 1 holders and has 2");
    store_64(&region->count, count + 1);
    audit_names("counts 3 holders and has 2");
    store_64(&region->count, count);
    store_32(&queue->area->waitputs, bcri_load(&queue->area->waitputs) + 1);
    audit_names("puts wait, counted");
    store_32(&queue->area->waitputs, bcri_load(&queue->area->waitputs) - 1);
    store_32(&queue->area->pool, bcri_load(&queue->area->pool) + 1);
    audit_names("credits for");
    store_32(&queue->area->pool, bcri_load(&queue->area->pool) - 1);
    store_32(&list->cell->c.takes, bcri_load(&list->cell->c.takes) + 1);
    audit_names("takes wait, counted");
    store_32(&list->cell->c.takes, bcri_load(&list->cell->c.takes) - 1);
    store_32(&list->cell->c.extra, 1);
    audit_names("regions outside the ring, counted");
    store_32(&list->cell->c.extra, 0);
    store_64(&queue->cell->t.limit, bcri_load(&queue->cell->t.limit) + 100);
    audit_names("limit");
}

TEST(who_waits_at_a_cell_that_is_condemned_is_told_INTERNAL)
{
    set_scene();
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    struct bcri_cell_shm *cells[] = {scene.resolved[1].cell, scene.resolved[2].cell};
    store_64(&cells[0]->h.head, bcri_load(&cells[0]->h.head) + 1000);
    store_64(&cells[1]->c.list_first, UINT64_C(0xfffe) << 32 | 7);
    as(three);
    ENDS_ITSELF(bcr_zap(one_of_three, scene.cell + 1), "the counters of a cell");
    bury(three);
    as(two);
    FAILS(bcr_rgwait(scene.pending, bcr_BLOCK, 1), bcrE_INTERNAL);
    three = join();
    one_of_three = name(three, one);
    as(three);
    ENDS_ITSELF(bcr_enq(number(1), one_of_three, scene.cell + 2, bcr_FREE), "a reference that leads nowhere");
    bury(three);
    as(two);
    FAILS(bcr_rgwait(scene.listed, bcr_BLOCK, 1), bcrE_INTERNAL);
    is_condemned(scene.cell + 1);
    as(one);
    FAILS(bcr_celllen(bcr_cce, scene.cell + 2), bcrE_INTERNAL);
}

TEST(what_was_handed_over_before_its_cell_was_condemned_is_its_takers)
{
    for (int frees = 0; frees < 2; frees++) {
        set_scene();
        struct bcri_ctx *three = join();
        bcr_cce_id one_of_three = name(three, one);
        CHECK_INT(bcr_enq(number(33), bcr_cce, scene.cell + 1, bcr_FREE), 0);
        struct bcri_cell_shm *cell = scene.resolved[1].cell;
        store_64(&cell->h.head, bcri_load(&cell->h.head) + 1000);
        as(three);
        ENDS_ITSELF(bcr_zap(one_of_three, scene.cell + 1), "the counters of a cell");
        bury(three);
        is_condemned(scene.cell + 1);
        as(two);
        if (frees)
            CHECK_INT(bcr_rgfree(scene.pending), 0);
        else
            CHECK_INT(bcr_rgwait(scene.pending, 0, 1), 1);
    }
}

TEST(a_put_that_waits_for_room_at_a_cell_that_is_condemned_is_told_INTERNAL)
{
    begin();
    int cell = grow(2, 2, 4096);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    struct later *later = later_put(two, 1, 3, one_of_two, cell);
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(three, one_of_three, cell, &resolved), 0);
    store_64(&resolved->cell->h.head, bcri_load(&resolved->cell->h.head) + 1000);
    as(three);
    ENDS_ITSELF(bcr_rgfree(bcr_acqwl(one_of_three, cell, bcr_BLOCK)), "the counters of a cell");
    bury(three);
    const struct outcome outcome = result(later);
    CHECK_INT(outcome.returned, -1);
    CHECK_INT(outcome.error, bcrE_INTERNAL);
    as(one);
    CHECK_INT(waiting_puts(cell + 1), 0);
}

TEST(a_cell_of_another_generation_than_its_area_ends_who_looks_for_it)
{
    set_scene();
    struct bcri_cell_shm *cell = scene.resolved[0].cell;
    uint64_t was = bcri_load(&cell->h.state);
    store_64(&cell->h.state, was ^ UINT64_C(1) << 40);
    as(two);
    ENDS_ITSELF(bcr_deq(one_of_two, scene.cell, 0) != NULL, "an owner's list of areas, or a cell");
    ENDS_ITSELF(bcr_zap(one_of_two, scene.cell), "an owner's list of areas, or a cell");
    store_64(&cell->t.state, was ^ UINT64_C(1) << 40);
    ENDS_ITSELF(bcr_enq(scene.held, one_of_two, scene.cell, bcr_FREE), "an owner's list of areas, or a cell");
    audit_names("it is of generation");
}

TEST(who_waits_at_a_cell_that_is_not_what_it_was_ends_itself_instead_of_waiting_for_ever)
{
    set_scene();
    struct bcri_cell_shm *cell = scene.resolved[1].cell;
    store_64(&cell->h.state, bcri_load(&cell->h.state) ^ UINT64_C(1) << 40);
    as(two);
    ENDS_ITSELF(bcr_rgwait(scene.pending, 0, 1), "a cell at which a request waits");
    ENDS_ITSELF(bcr_rgfree(scene.pending), "a cell at which a request waits");
    store_64(&scene.resolved[2].cell->i.area, 0);
    ENDS_ITSELF(bcr_rgwait(scene.listed, 0, 1), "a request for a cell that is gone");
    audit_names("it does not know its area");
}

TEST(an_area_whose_cells_do_not_lie_in_its_segment_ends_who_looks_for_them)
{
    set_scene();
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    as(three);
    struct bcri_area_shm *area = scene.resolved[0].area;
    const uint32_t log2 = area->ring_log2;
    store_32(&area->ring_log2, 0);
    ENDS_ITSELF(bcr_celllen(one_of_three, scene.cell), "an owner's list of areas");
    audit_names("lies nowhere");
    store_32(&area->ring_log2, log2);
    const uint64_t rings = area->rings;
    store_64(&area->rings, rings | 0xffffffffu);
    ENDS_ITSELF(bcr_celllen(one_of_three, scene.cell), "an owner's list of areas");
    audit_names("lies nowhere");
    store_64(&area->rings, rings);
    store_32(&area->kinds[1], UINT32_MAX / 2);
    ENDS_ITSELF(bcr_celllen(one_of_three, scene.cell), "an owner's list of areas");
    store_32(&area->kinds[1], 0);
    CHECK_INT(bcr_celllen(one_of_three, scene.cell), 4);
}

TEST(an_ID_that_names_no_region_ends_who_looks_at_it)
{
    set_scene();
    as(two);
    struct bcri_slot_shm *slot = group_slot(two, scene.held);
    uint64_t was = bcri_load(&slot->word);
    store_64(&slot->word, was | 0xffffffffu);
    ENDS_ITSELF(bcr_rglen(scene.held, NULL), "a reference that leads nowhere");
    ENDS_ITSELF(bcr_rgmod(scene.held), "a reference that leads nowhere");
    ENDS_ITSELF(bcr_rgrealloc(scene.held, 2), "a reference that leads nowhere");
    audit_names("lies in no heap");
    store_64(&slot->word, was);
    CHECK_INT(value_of(scene.held), 11);
}

TEST(a_lock_of_nobody_ends_who_needs_it_and_the_daemon_frees_it)
{
    set_scene();
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    struct bcri_cell_shm *cell = scene.resolved[0].cell;
    store_32(&cell->h.lock, 60000);
    store_32(&cell->t.lock, 60000);
    audit_names("locks held by tags 60000,");
    as(two);
    ENDS_ITSELF(take(one_of_two, scene.cell), "a lock of nobody's");
    bury(two);
    as(one);
    CHECK_INT(take(bcr_cce, scene.cell), 101);
    /* Also one that has ended, and where nobody spins. */
    const uint32_t tag = three->tag;
    leave(three);
    three = join();
    one_of_three = name(three, one);
    three->cpus = 1;
    store_32(&cell->h.lock, tag != three->tag ? tag : 50000);
    as(three);
    ENDS_ITSELF(take(one_of_three, scene.cell), "a lock of nobody's");
    bury(three);
    as(one);
    CHECK_INT(take(bcr_cce, scene.cell), 102);
    CHECK_INT(bcr_enq(number(9), bcr_cce, scene.cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, scene.cell), 3);
}

TEST(a_count_locked_by_nobody_ends_who_needs_it_and_the_daemon_frees_it)
{
    set_scene();
    as(two);
    struct bcri_region_shm *region = shared_region();
    store_64(&region->count, BCRI_COUNT_WORD(2, 50000));
    audit_names("is locked by CCE 49999");
    ENDS_ITSELF(bcr_rgfree(scene.shared), "a lock of nobody's");
    bury(two);
    as(one);
    CHECK_UINT(bcri_load(&region->count), 1);
}

TEST(a_journal_that_names_a_block_beyond_its_heap_makes_the_daemon_store_nothing)
{
    static const enum bcri_cw_state states[] = {BCRI_CW_COMMIT, BCRI_CW_SOLE, BCRI_CW_LAST};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        set_scene();
        (void)journal_of_a_drop();
        bcri_store(&two->journal->cw_state, states[i]);
        store_64((void *)&two->journal->cw_ref, bcri_load(&two->journal->cw_ref) | 0xfffff000u);
        as(NULL);
        bury(two);
        CHECK(group_enl(group)->daemon.corrupt);
    }
}

/* Memory of one's, of whole units and with `bytes` in it, in a region that it holds. */
static unsigned char *plain_memory(size_t bytes, bcri_ref *ref_out)
{
    bcr_region rgid = bcr_rgalloc((int)(bytes + BCRI_REF_UNIT), 0);
    CHECK(rgid != NULL);
    const bcri_ref ref = group_region(one, rgid);
    const struct bcri_region_shm *region = bcri_at(one, ref);
    const uint64_t from = (uint64_t)region->data_16 * 16;
    const uint64_t start = (from + BCRI_REF_UNIT - 1) / BCRI_REF_UNIT * BCRI_REF_UNIT;
    *ref_out = bcri_ref_make(bcri_ref_seg(ref), start);
    return memset((unsigned char *)*rgid + (start - from), 0x5a, bytes);
}

TEST(what_a_corrupt_first_area_names_stays_as_it_is)
{
    unsigned char was[sizeof(struct bcri_area_shm)];
    bcri_ref ref;
    set_scene();
    unsigned char *data = plain_memory(sizeof was, &ref);
    store_64(data, BCRI_REF_NONE); /* an area whose list ends at once, were it one */
    memcpy(was, data, sizeof was);
    bcri_store(&two->record->id.first_area, ref);
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    stray_ends(reclaim, two);
    CHECK(group_enl(group)->daemon.corrupt);
    CHECK(memcmp(data, was, sizeof was) == 0);
    bcri_reclaim_fini(reclaim);
}

TEST(behind_each_segment_of_the_daemon_lies_memory_of_its_own)
{
    enum { OBJECT = sizeof(struct bcri_cell_shm) }; /* none that a reference names is larger */
    static const unsigned char zero[OBJECT];
    int segments = 0;
    set_scene();
    struct bcri_ctx *enl = group_enl(group);
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++) {
        unsigned char *base = bcri_segment_map(enl, seg);
        if (base == NULL)
            continue;
        unsigned char *behind = base + enl->map[seg].units * BCRI_REF_UNIT;
        CHECK(memcmp(behind, zero, OBJECT) == 0);
        fflush(stdout);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            memset(behind, 0x5a, OBJECT);
            _exit(0);
        }
        CHECK_INT(waitpid(child, NULL, 0), child);
        CHECK(memcmp(behind, zero, OBJECT) == 0);
        segments++;
    }
    CHECK(segments >= 5); /* the host, records, cells, a heap, IDs */
}

static bcri_ref last_unit(uint32_t seg)
{
    return bcri_ref_make(seg, two->map[seg].units * BCRI_REF_UNIT - BCRI_REF_UNIT);
}

TEST(the_daemon_follows_references_to_the_last_unit_of_a_segment_and_goes_on)
{
    set_scene();
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++) {
        if (two->map[seg].base == NULL)
            continue;
        set_scene();
        bcri_store(&group_slot(two, scene.pending)->cell, last_unit(seg));
        bcri_store(&two->record->id.first_area, last_unit(seg));
        bcri_store(&two->journal->op, BCRI_OP_SLOW);
        bcri_store(&two->journal->area, last_unit(seg));
        bcri_store(&two->journal->cell, last_unit(seg));
        as(NULL);
        bury(two);
        as(one);
        CHECK_INT(take(bcr_cce, scene.cell), 101);
    }
}

TEST(a_corrupt_redo_log_stores_whole_words)
{
    static const struct {
        uint64_t kind;
        unsigned byte, from, to;
    } entries[] = {{BCRI_REDO_64, 29, 24, 32}, {BCRI_REDO_64, 12, 8, 16}, {BCRI_REDO_32, 31, 28, 32}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        bcri_ref ref;
        set_scene();
        const unsigned char *data = plain_memory(2 * (size_t)BCRI_REF_UNIT, &ref);
        bcri_store(&two->record->redo[0].where, entries[i].kind << 60 | (ref << 5 | entries[i].byte));
        bcri_store(&two->record->redo[0].value, UINT64_MAX);
        bcri_store(&two->journal->redo_len, 1);
        bcri_store(&two->journal->redo_state, 1);
        bcri_store(&two->journal->op, BCRI_OP_SLOW);
        as(NULL);
        bury(two);
        for (unsigned k = 0; k < 2 * BCRI_REF_UNIT; k++)
            CHECK_INT(data[k], k >= entries[i].from && k < entries[i].to ? 0xff : 0x5a);
    }
}

TEST(a_list_of_areas_that_goes_in_circles_ends_who_walks_it_but_not_the_daemon)
{
    set_scene();
    struct bcri_area_shm *area = scene.resolved[0].area;
    store_64((void *)&area->next, scene.resolved[0].area_ref);
    as(two);
    ENDS_ITSELF(bcr_celllen(one_of_two, scene.cell + 1000), "an owner's list of areas");
    as(one);
    ENDS_ITSELF(bcr_cagrow(0, 0, 0, 0, 1, 1, 0), "an owner's list of areas");
    ENDS_ITSELF(bcr_cafree(scene.cell + 1000), "an owner's list of areas");
    audit_names("stands twice in its list");
    bury(one);
    CHECK(group_enl(group)->daemon.corrupt);
}

TEST(a_list_of_requests_that_goes_in_circles_is_walked_once)
{
    set_scene();
    struct bcri_slot_shm *slot = group_slot(two, scene.listed);
    store_64((void *)&slot->next, bcri_load(&scene.resolved[2].cell->c.list_first));
    as(NULL);
    bury(one);
    CHECK(group_enl(group)->daemon.corrupt);
    as(two);
    FAILS(bcr_rgwait(scene.listed, bcr_BLOCK, 1), bcrE_DEAD);
}

TEST(a_chain_of_regions_that_goes_in_circles_is_walked_once)
{
    set_scene();
    struct bcri_node_shm *first = node();
    const bcri_ref ref = bcri_load(&scene.resolved[4].cell->c.back_first);
    store_64((void *)&first->next, ref);
    store_64((void *)&scene.resolved[4].area->node_free, ref);
    as(two);
    ENDS_ITSELF(bcr_zap(one_of_two, scene.cell + 4), "a chain of queued regions");
    bury(two);
    CHECK(group_enl(group)->daemon.corrupt);
    as(one);
    CHECK_INT(bcr_celllen(bcr_cce, scene.cell + 4), 0);
}

TEST(a_list_of_waiting_puts_that_goes_in_circles_is_walked_once)
{
    begin();
    int cell = grow(2, 2, 4096);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    struct later *later = later_put(two, 1, 3, one_of_two, cell);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    const bcri_ref ref = bcri_load(&resolved->area->put_first);
    struct bcri_slot_shm *slot = bcri_at(one, ref);
    store_64((void *)&slot->next, ref);
    as(NULL);
    bury(one);
    CHECK(group_enl(group)->daemon.corrupt);
    CHECK_INT(result(later).error, bcrE_DEAD);
}

TEST(a_free_ID_is_found_whatever_was_written_over_it)
{
    set_scene();
    as(two);
    uint64_t *word = free_id();
    for (size_t i = 2; i < sizeof(struct bcri_slot_shm) / 8; i++)
        store_64(&word[i], UINT64_MAX);
    for (int i = 0; i < (int)BCRI_FIRST_SLOTS; i++)
        CHECK_INT(peek(number(i)), i);
}

TEST(the_daemon_goes_by_what_it_has_written_down_itself)
{
    set_scene();
    struct bcri_host_shm *shared = two->host;
    store_32(&shared->record_count, 1);
    ((struct bcri_segment_shm *)entry_of_heap())->owner = one->index;
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    stray_ends(reclaim, one); /* the entry says that the heap of two is one's: it stays */
    as(two);
    CHECK_INT(peek(scene.held), 11);
    one = group_join(group); /* a record of its own, and the count is as it was */
    CHECK_UINT(one->index, 3);
    CHECK_UINT(bcri_load(&shared->record_count), 4);
    bcri_reclaim_fini(reclaim);
}
