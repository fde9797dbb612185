/* SPDX-License-Identifier: MIT */
/* Kinds of cells: who may do what with them, and cell 0. */
#include "cce.h"

#include <string.h>

#include "bcri/cell0.h"

enum { PRIVATE, IN, OUT, INOUT, KINDS };

/* The code with which a call on that cell is refused. */
static int denied(int cell)
{
    return cell == 0 ? bcrE_RESERVED : bcrE_ACCESS;
}

/* Whether the CCE's call is refused; if not, it is undone. */
static void adds(bcr_cce_id cce, int cell, int refused)
{
    int cells[2] = {cce, cell};
    bcr_region rgid = number(1);
    if (refused) {
        FAILS(bcr_enq(rgid, cce, cell, bcr_FREE), denied(cell));
        FAILS(bcr_write(rgid, cce, cell, bcr_NOFREE), denied(cell));
        FAILS(bcr_rlswl(rgid, cce, cell), denied(cell));
        FAILS(bcr_wl2rl(rgid, cce, cell), denied(cell));
        FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), denied(cell));
        CHECK_INT(value_of(rgid), 1);
        return;
    }
    CHECK_INT(bcr_enq(rgid, cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_write(rgid, cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_wl2rl(rgid, cce, cell), 0);
    CHECK_INT(bcr_enqm(rgid, 1, cells, bcr_NOFREE), 0);
    CHECK_INT(bcr_rlswl(rgid, cce, cell), 0);
}

static void takes(bcr_cce_id cce, int cell, int refused)
{
    if (refused) {
        FAILS_NULL(bcr_deq(cce, cell, bcr_BLOCK), denied(cell));
        FAILS_NULL(bcr_deq(cce, cell, 0), denied(cell));
        FAILS_NULL(bcr_deq(cce, cell, bcr_PENDING), denied(cell));
        FAILS_NULL(bcr_read(cce, cell, bcr_BLOCK), denied(cell));
        FAILS(bcr_zap(cce, cell), denied(cell));
        return;
    }
    CHECK_INT(value_of(bcr_read(cce, cell, 0)), 1);
    CHECK_INT(value_of(bcr_deq(cce, cell, 0)), 1);
    CHECK_INT(bcr_zap(cce, cell), 0);
    FAILS_NULL(bcr_read(cce, cell, 0), bcrE_TIMEOUT);
}

static void locks(bcr_cce_id cce, int cell, int refused)
{
    if (refused) {
        FAILS_NULL(bcr_acqwl(cce, cell, bcr_BLOCK), denied(cell));
        FAILS_NULL(bcr_acqwl(cce, cell, bcr_PENDING), denied(cell));
        FAILS_NULL(bcr_acqrl(cce, cell, 0), denied(cell));
        FAILS_NULL(bcr_acqrl(cce, cell, bcr_PENDING), denied(cell));
        return;
    }
    CHECK_INT(bcr_rlsrl(bcr_acqrl(cce, cell, 0)), 0);
    CHECK_INT(bcr_rlswl(bcr_acqwl(cce, cell, 0), cce, cell), 0);
}

TEST(the_owner_may_use_its_cells_in_any_way)
{
    begin();
    CHECK_INT(bcr_cagrow(0, 1, 1, 1, 1, 9, 1024), 1);
    for (int kind = 0; kind < KINDS; kind++) {
        adds(bcr_cce, 1 + kind, 0);
        locks(bcr_cce, 1 + kind, 0);
        CHECK_INT(bcr_celllen(bcr_cce, 1 + kind), 1);
        CHECK_INT(bcr_write(number(1), bcr_cce, 1 + kind, bcr_FREE), 0);
        takes(bcr_cce, 1 + kind, 0);
    }
    end();
}

TEST(others_may_add_to_in_cells_take_from_out_cells_and_lock_in_out_cells)
{
    begin();
    CHECK_INT(bcr_cagrow(0, 1, 1, 1, 1, 9, 1024), 1);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_INT(bcr_enq(number(1), bcr_cce, 1 + kind, bcr_FREE), 0);
    as(two);
    for (int kind = 0; kind < KINDS; kind++) {
        locks(one_of_two, 1 + kind, kind != INOUT);
        adds(one_of_two, 1 + kind, kind == PRIVATE || kind == OUT);
        if (kind == PRIVATE)
            FAILS(bcr_celllen(one_of_two, 1 + kind), bcrE_ACCESS);
        else
            CHECK_INT(bcr_celllen(one_of_two, 1 + kind), 1);
        takes(one_of_two, 1 + kind, kind == PRIVATE || kind == IN);
    }
    as(one);
    CHECK_INT(take(bcr_cce, 1 + PRIVATE), 1); /* what was refused changed nothing */
    CHECK_INT(take(bcr_cce, 1 + IN), 1);
    end();
}

TEST(the_kinds_have_their_numbers_in_order)
{
    begin();
    CHECK_INT(bcr_cagrow(50, 2, 3, 4, 5, 99, 4096), 50);
    as(two);
    for (int cell = 50; cell < 64; cell++) {
        int kind = cell < 52 ? PRIVATE : cell < 55 ? IN : cell < 59 ? OUT : INOUT;
        adds(one_of_two, cell, kind == PRIVATE || kind == OUT);
        if (kind == IN || kind == PRIVATE)
            takes(one_of_two, cell, 1);
    }
    as(one);
    end();
}

TEST(cell_0_is_private_and_take_only)
{
    begin();
    grow(1, 9, 1024);
    adds(bcr_cce, 0, 1);
    locks(bcr_cce, 0, 1);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 0);
    CHECK_INT(bcr_zap(bcr_cce, 0), 0);
    as(two);
    adds(one_of_two, 0, 1);
    takes(one_of_two, 0, 1);
    locks(one_of_two, 0, 1);
    FAILS(bcr_celllen(one_of_two, 0), bcrE_RESERVED);
    as(one);
    end();
}

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
