/* SPDX-License-Identifier: MIT */
/* Corrupt shared memory that the daemon meets when it repairs what a dead CCE has left: the daemon
 * stores nowhere but where it may, walks nothing for ever, and goes on. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/cell.h"
#include "bcri/reclaim.h"
#include "bcri/region.h"
#include "bcri/segment.h"
#include "bcri/tx.h"
#include "corrupt_scene.h"
#include "wild_write.h"

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
    wild_end_cce(reclaim, two);
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
    struct bcri_node_shm *first = first_node();
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

TEST(the_daemon_goes_by_what_it_has_written_down_itself)
{
    set_scene();
    struct bcri_host_shm *shared = two->host;
    store_32(&shared->record_count, 1);
    entry_of_heap()->owner = one->index;
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    wild_end_cce(reclaim, one); /* the entry says that the heap of two is one's: it stays */
    as(two);
    CHECK_INT(peek(scene.held), 11);
    one = group_join(group); /* a record of its own, and the count is as it was */
    CHECK_UINT(one->index, 3);
    CHECK_UINT(bcri_load(&shared->record_count), 4);
    bcri_reclaim_fini(reclaim);
}
