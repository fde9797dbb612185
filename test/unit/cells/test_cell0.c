/* SPDX-License-Identifier: MIT */
/* What the daemon puts into cell 0, and gets that wait there. */
#include "cce.h"

#include "bcri/cell0.h"

TEST(what_is_put_at_birth_is_in_cell_0_before_error_regions)
{
    begin();
    CHECK_INT(bcri_birth_put(group_enl(group), one->index, 0x03faffa5, "birth", 6), 0);
    CHECK_INT(
        bcri_error_put(group_enl(group), one->index, bcrE_ENLIST, bcr_op_enlist, two->record->id.identity, 7),
        0);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 2);
    bcr_region birth = bcr_deq(bcr_cce, 0, 0);
    int archtype;
    CHECK_INT(bcr_rglen(birth, &archtype), 6);
    CHECK_INT(archtype, 0x03faffa5);
    CHECK_STR((const char *)*birth, "birth");
    CHECK_INT(bcr_rgerror(birth), 0);
    CHECK_INT(bcr_rgfree(birth), 0);
    bcr_region error = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    int content[4];
    CHECK_INT(bcr_rgerror(error), bcrE_ENLIST);
    CHECK(bcr_copyfm(bcrT_1ERROR, 1, error, 0, content, sizeof content) >= 2);
    CHECK_INT(content[0], bcrE_ENLIST);
    CHECK_INT(content[1], bcr_op_enlist);
    CHECK_INT(content[2], two_of_one);
    CHECK_INT(content[3], 7);
    CHECK_INT(bcr_rgfree(error), 0);
    end();
}

TEST(a_get_on_cell_0_waits_for_what_comes)
{
    begin();
    bcr_region pending = bcr_deq(bcr_cce, 0, bcr_PENDING);
    struct bcri_ctx *three = join();
    struct later *asleep = later_get(three, 1, 1, 0, bcr_BLOCK);
    CHECK_INT(bcri_birth_put(group_enl(group), one->index, (uint32_t)bcr_archtype, &(int){11}, 4), 0);
    CHECK_INT(bcri_birth_put(group_enl(group), three->index, (uint32_t)bcr_archtype, &(int){33}, 4), 0);
    CHECK_INT(bcr_rgwait(pending, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(pending), 11);
    CHECK_INT(result(asleep).value, 33);
    end();
}
