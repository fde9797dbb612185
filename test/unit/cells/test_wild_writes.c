/* SPDX-License-Identifier: MIT */
/* Shared memory that a wild write has made corrupt, at random. Each word of the structures that lead
 * somewhere is overwritten, one at a time, through a mapping of the test's own, with what wild_write.c
 * has: nothing, everything, a little more or less, a reference to the end of a segment and to beyond
 * it, into another, to one that was never there. Then the routines are called that meet it, the dead
 * are repaired, and the audit is run, each in a process of its own, which must end. A CCE that meets
 * it ends itself, or crashes; the daemon does neither, also where a CCE has ended itself in the midst
 * of it. */
#include <stddef.h>
#include <unistd.h>

#include "bcri/cell.h"
#include "bcri/heap.h"
#include "bcri/reclaim.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "bcri/segment.h"
#include "bcri/tx.h"
#include "corrupt_scene.h"
#include "wild_write.h"

enum { FREE_IDS = 3 };

/* What may be overwritten, in two's mapping. */
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
static void *node(void)
{
    return first_node();
}
static void *region_shared(void)
{
    return shared_region();
}
static void *drop_journal(void)
{
    return journal_of_a_drop();
}
static void *heap_entry(void)
{
    return entry_of_heap();
}
static void *unused_id(void)
{
    return free_id();
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
static void *entry_of_host(void)
{
    return segment_entry(two->host);
}
static void *entry_of_records(void)
{
    return segment_entry(two->record);
}
static void *entry_of_cells(void)
{
    return segment_entry(scene.resolved[0].cell);
}
static void *entry_of_ids(void)
{
    return segment_entry(scene.far);
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

static const struct wild_target targets[] = {
    {"the host segment's head", host, 64},
    {"the directory of records", record_segments, 16},
    {"the host segment's entry", entry_of_host, sizeof(struct bcri_segment_shm)},
    {"the entry of a segment of records", entry_of_records, sizeof(struct bcri_segment_shm)},
    {"the entry of a segment of cells", entry_of_cells, sizeof(struct bcri_segment_shm)},
    {"the entry of a heap", heap_entry, sizeof(struct bcri_segment_shm)},
    {"the entry of a segment of IDs", entry_of_ids, sizeof(struct bcri_segment_shm)},
    {"the list of chunks of IDs", chunks, 24},
    {"an ID in a chunk", far_id, sizeof(struct bcri_slot_shm)},
    {"a pending ID in a chunk", far_pending_id, sizeof(struct bcri_slot_shm)},
    {"a free ID in a chunk", far_free_id, sizeof(struct bcri_slot_shm)},
    {"a free ID", unused_id, sizeof(struct bcri_slot_shm)},
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
    {"the header of a shared region", region_shared, sizeof(struct bcri_region_shm)},
    {"an ID", held_id, sizeof(struct bcri_slot_shm)},
    {"a pending ID", pending_id, sizeof(struct bcri_slot_shm)},
    {"a listed ID", listed_id, sizeof(struct bcri_slot_shm)},
    {"a journal", journal, sizeof(struct bcri_journal_shm)},
    {"the journal of a drop", drop_journal, sizeof(struct bcri_journal_shm)},
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
    _exit(WILD_QUIET);
}

static void run_repair(void)
{
    wild_end_both(two, calls_of_one, one);
}

/* Both die of what they call, if they do; else one after the other. */
static void run_repair_of_callers(void)
{
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    if (!wild_calls(calls_of_two))
        bcri_cce_dying(group_host(group), one->index);
    wild_end_cce(reclaim, two);
    wild_end_cce(reclaim, one);
    _exit(WILD_QUIET);
}

/* A lock word, or the owner's half of a count, that names a CCE which lives and does not hold it: a
 * CCE that needs it sleeps, as if the holder were stopped; only the audit can tell. */
static bool names_the_living(const struct wild_target *target, size_t word, uint64_t is)
{
    const uint32_t tags = 3; /* enl, one, two */
    uint32_t low = (uint32_t)is, high = (uint32_t)(is >> 32);
    const size_t tail_lock = offsetof(struct bcri_cell_shm, t.lock) / sizeof(uint64_t);
    if (target->bytes == sizeof(struct bcri_region_shm))
        return word == 0 && high >= 1 && high <= tags;
    if (target->bytes == sizeof(struct bcri_area_shm))
        return word == 8 && ((low >= 1 && low <= tags) || (high >= 1 && high <= tags));
    return target->bytes == sizeof(struct bcri_cell_shm) && (word == 0 || word == tail_lock) && low >= 1 &&
           low <= tags;
}

static void overwrite(const char *name)
{
    static const struct wild_body bodies[] = {{"calls", run_calls, true},
                                              {"repair", run_repair, false},
                                              {"repair of callers", run_repair_of_callers, false},
                                              {"audit", wild_audit, false},
                                              {NULL, NULL, false}};
    static const struct wild_suite suite = {set_scene, names_the_living, targets, bodies};
    wild_writes(&suite, name);
}

TEST_TIMEOUT(a_corrupt_cell_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("a cell with regions");
    overwrite("a cell with a waiting ticket");
    overwrite("a cell with a waiting read");
    overwrite("a cell with more than its ring holds");
    overwrite("the ring of a cell with regions");
    overwrite("the ring of a cell with a waiting ticket");
}

TEST_TIMEOUT(a_corrupt_area_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("an area");
    overwrite("a node");
}

TEST_TIMEOUT(a_corrupt_region_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("the header of a held region");
    overwrite("the header of a queued region");
    overwrite("the header of a shared region");
}

TEST_TIMEOUT(a_corrupt_ID_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("an ID");
    overwrite("a pending ID");
    overwrite("a listed ID");
}

TEST_TIMEOUT(a_corrupt_record_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("a journal");
    overwrite("the journal of a drop");
    overwrite("a redo log");
    overwrite("a record's identity");
    overwrite("a heap's directory");
}

TEST_TIMEOUT(a_corrupt_host_segment_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("the host segment's head");
    overwrite("the directory of records");
    overwrite("the host segment's entry");
    overwrite("the entry of a segment of records");
    overwrite("the entry of a segment of cells");
    overwrite("the entry of a heap");
    overwrite("the entry of a segment of IDs");
}

TEST_TIMEOUT(a_corrupt_chunk_of_IDs_ends_CCEs_and_never_the_daemon, 600)
{
    overwrite("the list of chunks of IDs");
    overwrite("an ID in a chunk");
    overwrite("a pending ID in a chunk");
    overwrite("a free ID in a chunk");
    overwrite("a free ID");
}
