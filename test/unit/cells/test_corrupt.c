/* SPDX-License-Identifier: MIT */
/* Corrupt shared memory, word by word and by design: the CCE that meets it ends itself and says what
 * was corrupt, the audit names it, and CCEs that do not meet it go on. */
#include <stdio.h>
#include <unistd.h>

#include "bcri/cell.h"
#include "bcri/region.h"
#include "bcri/segment.h"
#include "corrupt_scene.h"
#include "wild_write.h"

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
    CHECK_INT(bcr_celllen(bcr_cce, scene.cell), 4); /* it is still there, and its locks are free */
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    as(three);
    ENDS_ITSELF(bcr_read(one_of_three, scene.cell, 0) != NULL, "a reference that leads nowhere");
    bury(three);
    store_64(&ring[0], was);
    as(one);
    CHECK_INT(take(bcr_cce, scene.cell), 101);
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

TEST(a_free_ID_is_found_whatever_was_written_over_it)
{
    set_scene();
    as(two);
    uint64_t *word = (uint64_t *)(void *)free_id();
    for (size_t i = 2; i < sizeof(struct bcri_slot_shm) / 8; i++)
        store_64(&word[i], UINT64_MAX);
    for (int i = 0; i < (int)BCRI_FIRST_SLOTS; i++)
        CHECK_INT(peek(number(i)), i);
}

/* The index of a record, by which memory names a CCE, means nothing to people. */
TEST(sentences_name_a_cce_by_its_ordinal_and_where_there_may_be_others_its_host)
{
    set_scene();
    struct bcri_cell_shm *cell = scene.resolved[0].cell;
    one->record->id.ordinal = 8;
    two->record->id.ordinal = 7;
    store_32(&cell->h.lock, two->tag);
    char text[128];
    snprintf(text, sizeof text,
             "cell %d of CCE 8 (pid %ld): the lock of its head is held by CCE 7 (pid %ld)\n", scene.cell,
             (long)getpid(), (long)getpid());
    audit_names(text);
    bcri_host_set_name(group_host(group), "alpha");
    store_32(&one->host->agent, 5);
    snprintf(text, sizeof text, "is held by CCE 7 (pid %ld) on alpha\n", (long)getpid());
    audit_names(text);
    store_32(&one->host->agent, 0);
    store_32(&cell->h.lock, 60000);
    as(two);
    ENDS_ITSELF(take(one_of_two, scene.cell), "; CCE 7 (pid ");
    store_32(&cell->h.lock, 0);
}

TEST(a_lock_of_nobody_ends_who_needs_it_and_the_daemon_frees_it)
{
    set_scene();
    struct bcri_ctx *three = join();
    bcr_cce_id one_of_three = name(three, one);
    struct bcri_cell_shm *cell = scene.resolved[0].cell;
    store_32(&cell->h.lock, 60000);
    store_32(&cell->t.lock, 60000);
    audit_names("the lock of its head is held by no CCE (record 59999)");
    as(two);
    ENDS_ITSELF(take(one_of_two, scene.cell), "a lock of nobody's");
    bury(two);
    as(one);
    CHECK_INT(take(bcr_cce, scene.cell), 101);
    /* Also one that has ended, and where no CCE spins. */
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
    audit_names("is locked by no CCE (record 49999)");
    ENDS_ITSELF(bcr_rgfree(scene.shared), "a lock of nobody's");
    bury(two);
    as(one);
    CHECK_UINT(bcri_load(&region->count), 1);
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
