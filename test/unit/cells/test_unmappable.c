/* SPDX-License-Identifier: MIT */
/* A CCE that can map no further segment, since its process has no descriptor left: its calls fail,
 * and nobody else is harmed. */
#include "cce.h"

static struct bcri_ctx *three;
static int one_of_three, cell;

/* `one` has a cell that all three know. */
static void begin_with_three(void)
{
    begin();
    cell = grow(1, 4, 4096);
    three = join();
    one_of_three = name(three, one);
    as(three);
    CHECK_INT(bcr_celllen(one_of_three, cell), 0);
    as(two);
    CHECK_INT(bcr_celllen(one_of_two, cell), 0);
}

TEST(a_region_that_its_getter_cannot_map_is_in_the_cell_once)
{
    for (int takes = 0; takes < 2; takes++) {
        begin_with_three();
        as(three);
        void **rgid = bcr_get(takes, one_of_three, cell, bcr_PENDING);
        cannot_map(three);
        as(two);
        CHECK_INT(bcr_enq(number(5), one_of_two, cell, bcr_FREE), 0);
        as(three);
        FAILS(bcr_rgwait(rgid, 0, 0), bcrE_NOMEM);
        FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
        cannot_map(NULL);
        as(one);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
        CHECK_INT(take(bcr_cce, cell), 5);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
        end();
    }
}
