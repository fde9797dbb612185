/* SPDX-License-Identifier: MIT */
/* See corrupt_scene.h. */
#include "corrupt_scene.h"

#include <stdio.h>
#include <string.h>

#include "bcri/audit.h"
#include "bcri/cell.h"
#include "bcri/region.h"
#include "bcri/repair.h"
#include "bcri/segment.h"

struct scene scene;

void set_scene(void)
{
    begin();
    scene.cell = bcr_cagrow(0, 0, 0, 0, 12, 60, 65536); /* rings of 8 */
    CHECK(scene.cell > 0);
    /* No number is one of the tags: a wild reference may take it, in either byte order, for the
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

struct bcri_region_shm *shared_region(void)
{
    return bcri_at(two, group_region(two, scene.shared));
}

struct bcri_node_shm *first_node(void)
{
    bcri_ref ref = bcri_load(&scene.resolved[4].cell->c.back_first);
    CHECK(ref != BCRI_REF_NONE);
    return bcri_at(two, ref);
}

struct bcri_slot_shm *free_id(void)
{
    for (uint32_t i = 0; i < BCRI_FIRST_SLOTS; i++)
        if (bcri_load(&two->record->slots[i].word) == 0)
            return &two->record->slots[i];
    FAIL("no ID is free");
}

struct bcri_segment_shm *segment_entry(const void *at)
{
    const struct bcri_mapping *map = two->map;
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++)
        if (map[seg].base != NULL &&
            (uintptr_t)at - (uintptr_t)map[seg].base < map[seg].units * BCRI_REF_UNIT)
            return &two->host->segments[seg];
    FAIL("%p is in no segment", at);
}

struct bcri_segment_shm *entry_of_heap(void)
{
    return segment_entry(bcri_at(two, group_region(two, scene.held)));
}

struct bcri_journal_shm *journal_of_a_drop(void)
{
    struct bcri_journal_shm *journal = two->journal;
    bcri_store(&journal->cw_ref, group_region(two, scene.shared));
    bcri_store(&journal->cw_incarnation, bcri_load(&shared_region()->incarnation));
    bcri_store(&journal->cw_new, 0);
    bcri_store(&journal->cw_state, BCRI_CW_COMMIT);
    return journal;
}

void store_64(void *where, uint64_t value)
{
    *(volatile uint64_t *)where = value;
}
void store_32(void *where, uint32_t value)
{
    *(volatile uint32_t *)where = value;
}

static char said[4096];
static void note(void *arg, const char *sentence)
{
    (void)arg;
    size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s\n", sentence);
}

void audit_names(const char *part)
{
    struct bcri_audit audit = {.found = note};
    said[0] = '\0';
    CHECK_INT(bcri_audit(group_enl(group), &audit), 0);
    CHECK(audit.findings != 0);
    if (strstr(said, part) == NULL)
        FAIL("wanted \"%s\" in \"%s\"", part, said);
}

void bury(struct bcri_ctx *ctx)
{
    bcri_cce_dying(group_host(group), ctx->index);
    group_repair(group, ctx->index);
}
