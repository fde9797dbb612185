/* SPDX-License-Identifier: MIT */
/* A cell whose words a CCE found corrupt, by which that CCE ended: the daemon condemns the cell, and
 * each CCE that waits there or comes later is told bcrE_INTERNAL. */
#include <unistd.h>

#include "bcri/cell.h"
#include "corrupt_scene.h"
#include "wild_write.h"

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
