/* SPDX-License-Identifier: MIT */
/* bcr_putm, bcr_enqm, bcr_writem, and the error regions that tell of single cells. */
#include "behave.h"
#include "numbers.h"

BEHAVIOUR_WITHIN(every_cell_of_the_list_gets_the_region_and_none_a_copy)
{
    const int cell = grow(3, 9, NUMBER_BYTES), mine = bcr_cagrow(0, 0, 0, 0, 1, 1, 0);
    const int cells[] = {there, cell, bcr_cce, mine, there, cell + 2};
    bcr_region rgid = number(1);
    void *data = *rgid;
    CHECK_INT(bcr_enqm(rgid, 3, cells, bcr_FREE), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    CHECK_INT(bcr_celllen(there, cell + 1), 0);
    rgid = bcr_deq(bcr_cce, mine, 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(take(cell), 1);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    CHECK_INT(take(cell + 2), 1);
    CHECK_INT(value_of(number(2)), 2); /* all holds are gone */
}

BEHAVIOUR(putm_shares_the_region_if_it_is_to_be_kept)
{
    const int cell = grow(2, 9, 1024), cells[] = {there, cell, there, cell + 1};
    bcr_region rgid = number(1);
    void *data = *rgid;
    CHECK_INT(bcr_enqm(rgid, 2, cells, bcr_NOFREE), 0);
    CHECK_INT(peek(rgid), 1);
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_rgmod(rgid), 0);
    write_number(rgid, 2);
    CHECK_INT(take(cell), 1);
    CHECK_INT(take(cell + 1), 1);
    CHECK_INT(value_of(rgid), 2);
}

BEHAVIOUR(a_cell_named_twice_gets_it_twice)
{
    const int cell = grow(1, 9, 1024), cells[] = {there, cell, there, cell, there, cell};
    CHECK_INT(bcr_enqm(number(1), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(there, cell), 3);
    CHECK_INT(bcr_writem(number(2), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(there, cell), 1);
    CHECK_INT(take(cell), 2);
}

BEHAVIOUR_OF_OWN(an_empty_list_is_legal)
{
    grow(1, 9, NUMBER_BYTES);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enqm(rgid, 0, NULL, bcr_NOFREE), 0);
    CHECK_INT(peek(rgid), 1);
    CHECK_INT(bcr_enqm(rgid, 0, NULL, bcr_FREE), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    CHECK_INT(value_of(number(2)), 2);
}

BEHAVIOUR(wrong_arguments_of_putm_are_found_before_anything_happens)
{
    const int cell = grow(1, 9, 1024), cells[] = {there, cell};
    bcr_region rgid = number(1);
    FAILS(bcr_enqm(rgid, -1, cells, bcr_FREE), bcrE_ARG);
    FAILS(bcr_enqm(rgid, 1, NULL, bcr_FREE), bcrE_ARG);
    FAILS(bcr_enqm(NULL, 1, cells, bcr_FREE), bcrE_RGID);
    bcr_region pending = bcr_deq(there, cell, bcr_PENDING);
    FAILS(bcr_enqm(pending, 1, cells, bcr_FREE), bcrE_PENDING);
    CHECK_INT(bcr_rgwait(pending, 0, 1), 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    FAILS_NULL(bcr_deq(bcr_cce, 0, 0), bcrE_TIMEOUT); /* no error regions */
    CHECK_INT(value_of(rgid), 1);                     /* still held */
}

/* The first failure that is known at once is the call's; each one is an error region. */
BEHAVIOUR(each_cell_that_failed_is_an_error_region_and_all_others_are_served)
{
    const int cell = grow(2, 2, 1024), full = grow(1, 0, 0);
    const int cells[] = {there, cell, 77, 1, there, 999, there, full, there, 0, there, cell + 1};
    const struct {
        int code, cce, cell;
    } errors[] = {
        {bcrE_NOCCE, -1, 1}, {bcrE_NOCELL, there, 999}, {bcrE_RESERVED, there, 0}, {bcrE_FULL, there, full}};
    int seen[4] = {0};
    putwait(0);
    bcr_region rgid = number(5);
    FAILS(bcr_enqm(rgid, 6, cells, bcr_FREE), bcrE_NOCCE);
    FAILS(bcr_rgfree(rgid), bcrE_RGID); /* it counts as put */
    for (int i = 0; i < 4; i++) {
        int error[4], which = 0;
        rgid = bcr_deq(bcr_cce, 0, place->far ? bcr_BLOCK : 0);
        CHECK(rgid != NULL);
        CHECK(bcr_copyfm(bcrT_1ERROR, 1, rgid, 0, error, sizeof error) >= 2);
        CHECK_INT(bcr_rgerror(rgid), error[0]);
        CHECK_INT(error[1], bcr_op_putm);
        while (which < 4 && (errors[which].code != error[0] || errors[which].cce != error[2] ||
                             errors[which].cell != error[3]))
            which++;
        if (which == 4)
            FAIL("an error region tells of code %d, CCE %d, cell %d", error[0], error[2], error[3]);
        CHECK_INT(seen[which]++, 0);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
    FAILS_NULL(bcr_deq(bcr_cce, 0, 0), bcrE_TIMEOUT);
    CHECK_INT(take(cell), 5);
    CHECK_INT(take(cell + 1), 5);
}

/* They come from a reserve of their own: neither nrgns nor nbytes bounds them. */
BEHAVIOUR_WITHIN(error_regions_need_no_memory_of_the_program)
{
    const int cell = grow(1, 0, NUMBER_BYTES), cells[] = {there, cell + 1, there, cell};
    putwait(0);
    bcr_region rgid = number(5);
    for (int i = 0; i < 100; i++)
        FAILS(bcr_enqm(rgid, 2, cells, bcr_NOFREE), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 200);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* nor is the program given any of theirs */
    for (int i = 0; i < 50; i++) {
        error_is(bcrE_NOCELL, bcr_op_putm, there, cell + 1);
        error_is(bcrE_FULL, bcr_op_putm, there, cell);
    }
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(value_of(rgid), 5);
    CHECK_INT(value_of(number(4)), 4);
    CHECK_INT(by(owner, "free_area %d", cell), 0); /* nor do the unread ones keep the area */
    CHECK_INT(bcr_celllen(bcr_cce, 0), 100);
}

BEHAVIOUR_OF_OWN(beyond_4096_unread_error_regions_are_only_counted)
{
    const int cell = grow(1, 0, NUMBER_BYTES), cells[] = {there, cell + 1};
    bcr_region rgid = number(5);
    for (int i = 0; i < 4100; i++)
        FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 4096);
    error_is(bcrE_NOCELL, bcr_op_putm, there, cell + 1);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 4096);
    CHECK_INT(bcr_zap(bcr_cce, 0), 0);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 0);
    CHECK_INT(value_of(rgid), 5);
}

BEHAVIOUR(an_error_region_stays_one_wherever_it_goes)
{
    const int cell = grow(1, 9, 1024), cells[] = {77, 1};
    FAILS(bcr_enqm(number(5), 1, cells, bcr_FREE), bcrE_NOCCE);
    bcr_region error = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    CHECK_INT(bcr_enq(error, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgmod(error), 0); /* also as a copy */
    CHECK_INT(bcr_rgerror(error), bcrE_NOCCE);
    bcr_region back = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_rgerror(back), bcrE_NOCCE);
    CHECK_INT(bcr_rgfree(back), 0);
    CHECK_INT(bcr_rgfree(error), 0);
}

/* ---- cells without room ---- */

BEHAVIOUR_OF_OTHERS(cells_with_room_are_served_at_once_and_the_others_waited_for)
{
    const int full = grow(1, 1, 1024), roomy = grow(1, 9, 0), cells[] = {there, full, there, roomy};
    CHECK_INT(put(full, 0), 0);
    begin(owner, "get 1 %d %d", roomy, bcr_BLOCK); /* there while the other is full */
    bcr_region rgid = number(7);
    putwait(20);
    FAILS(bcr_enqm(rgid, 2, cells, bcr_NOFREE), bcrE_FULL);
    CHECK_INT(result_of(owner), 7);
    error_is(bcrE_FULL, bcr_op_putm, there, full);
    putwait(bcr_BLOCK);
    begin(owner, "get 1 %d %d", full, bcr_BLOCK);
    CHECK_INT(bcr_enqm(rgid, 2, cells, bcr_FREE), 0);
    CHECK_INT(result_of(owner), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(take(full), 7);
    CHECK_INT(take(roomy), 7);
}

BEHAVIOUR_OF_OTHERS(cells_that_stay_full_fail_when_the_time_is_up)
{
    const int full = grow(1, 0, 1024), roomy = grow(1, 9, 0);
    const int cells[] = {there, full, there, roomy, there, full};
    for (int msec = 0; msec < 3; msec++) {
        const int64_t start_ns = clock_ns();
        putwait(msec);
        FAILS(bcr_enqm(number(7), 3, cells, bcr_FREE), bcrE_FULL);
        error_is(bcrE_FULL, bcr_op_putm, there, full);
        CHECK(clock_ns() - start_ns >= msec * INT64_C(1000000));
        error_is(bcrE_FULL, bcr_op_putm, there, full);
        CHECK_INT(take(roomy), 7);
    }
}

BEHAVIOUR_OF_OWN(own_full_cells_of_a_list_fail_at_once)
{
    const int full = grow(1, 0, 1024), roomy = grow(1, 9, 0), cells[] = {there, full, there, roomy};
    putwait(bcr_BLOCK);
    FAILS(bcr_enqm(number(7), 2, cells, bcr_FREE), bcrE_FULL);
    FAILS(bcr_writem(number(8), 2, cells, bcr_FREE), bcrE_FULL);
    CHECK_INT(bcr_celllen(there, roomy), 1);
    CHECK_INT(take(roomy), 8);
}

BEHAVIOUR(writem_replaces_everywhere_and_enqm_hands_to_waiting_gets)
{
    const int cell = grow(3, 6, 1024), cells[] = {there, cell, there, cell + 1, there, cell + 2};
    CHECK_INT(bcr_enqm(number(1), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_enqm(number(2), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_writem(number(3), 3, cells, bcr_FREE), 0); /* full, but none is empty */
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_celllen(there, cell + i), 1);
        CHECK_INT(take(cell + i), 3);
    }
    bcr_region ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = bcr_deq(there, cell + i, bcr_PENDING);
    CHECK_INT(bcr_enqm(number(4), 3, cells, bcr_FREE), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_celllen(there, cell + i), 0);
        CHECK_INT(bcr_rgwait(ids[i], bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(ids[i]), 4);
    }
}
