/* SPDX-License-Identifier: MIT */
/* bcr_putm, bcr_writem, bcr_enqm, and the error regions that tell of single cells. */
#include "cce.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Reads the next error region of cell 0. */
static void error_is(int code, bcr_cce_id cce, int cell)
{
    int error[4];
    bcr_region rgid = bcr_deq(bcr_cce, 0, 0);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rgerror(rgid), code);
    CHECK(bcr_copyfm(bcrT_1ERROR, 1, rgid, 0, error, sizeof error) >= 2);
    CHECK_INT(error[0], code);
    CHECK_INT(error[1], bcr_op_putm);
    CHECK_INT(error[2], cce);
    CHECK_INT(error[3], cell);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

TEST(every_cell_of_the_list_gets_the_region_and_none_a_copy)
{
    begin();
    as(two);
    int far = grow(2, 9, 0);
    as(one);
    int cell = grow(3, 9, 64);
    const int cells[] = {bcr_cce, cell, two_of_one, far, bcr_cce, cell + 2, two_of_one, far + 1};
    bcr_region rgid = number(1);
    void *data = *rgid;
    CHECK_INT(bcr_enqm(rgid, 4, cells, bcr_FREE), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 0);
    rgid = bcr_deq(bcr_cce, cell, 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(take(bcr_cce, cell + 2), 1);
    CHECK_INT(take(two_of_one, far), 1);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    CHECK_INT(take(two_of_one, far + 1), 1);
    CHECK_INT(value_of(number(2)), 2); /* all holds are gone */
    end();
}

TEST(putm_shares_the_region_if_it_is_to_be_kept)
{
    begin();
    int cell = grow(2, 9, 1024);
    const int cells[] = {bcr_cce, cell, bcr_cce, cell + 1};
    bcr_region rgid = number(1);
    void *data = *rgid;
    CHECK_INT(bcr_enqm(rgid, 2, cells, bcr_NOFREE), 0);
    CHECK_INT(peek(rgid), 1);
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_rgmod(rgid), 0);
    **(int **)rgid = 2;
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell + 1), 1);
    CHECK_INT(value_of(rgid), 2);
    end();
}

TEST(a_cell_named_twice_gets_it_twice)
{
    begin();
    int cell = grow(1, 9, 1024);
    const int cells[] = {bcr_cce, cell, bcr_cce, cell, bcr_cce, cell};
    CHECK_INT(bcr_enqm(number(1), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 3);
    CHECK_INT(bcr_writem(number(2), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell), 2);
    end();
}

TEST(an_empty_list_is_legal)
{
    begin();
    grow(1, 9, 64);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enqm(rgid, 0, NULL, bcr_NOFREE), 0);
    CHECK_INT(peek(rgid), 1);
    CHECK_INT(bcr_enqm(rgid, 0, NULL, bcr_FREE), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    CHECK_INT(value_of(number(2)), 2);
    end();
}

TEST(wrong_arguments_are_found_before_anything_happens)
{
    begin();
    int cell = grow(1, 9, 1024);
    const int cells[] = {bcr_cce, cell};
    bcr_region rgid = number(1);
    FAILS(bcr_enqm(rgid, -1, cells, bcr_FREE), bcrE_ARG);
    FAILS(bcr_enqm(rgid, 1, NULL, bcr_FREE), bcrE_ARG);
    FAILS(bcr_enqm(NULL, 1, cells, bcr_FREE), bcrE_RGID);
    bcr_region pending = bcr_deq(bcr_cce, cell, bcr_PENDING);
    FAILS(bcr_enqm(pending, 1, cells, bcr_FREE), bcrE_PENDING);
    CHECK_INT(bcr_rgwait(pending, 0, 1), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    CHECK_INT(value_of(rgid), 1); /* still held */
    end();
}

TEST(the_first_failure_is_told_and_all_others_are_served)
{
    begin();
    as(two);
    int far = bcr_cagrow(0, 1, 0, 1, 1, 9, 0); /* private, out, in/out */
    as(one);
    int cell = grow(2, 1, 1024);
    int full = grow(1, 0, 0);
    struct bcri_ctx *three = join();
    bcr_cce_id gone = name(one, three);
    leave(three);
    const int cells[] = {bcr_cce, cell, two_of_one, far,     two_of_one, far + 2, two_of_one,
                         far + 1, 77,   1,          bcr_cce, 999,        gone,    1,
                         bcr_cce, full, bcr_cce,    0,       bcr_cce,    cell + 1};
    one->flags = bcr_errors;
    bcr_region rgid = number(5);
    FAILS(bcr_enqm(rgid, 10, cells, bcr_FREE), bcrE_ACCESS);
    FAILS(bcr_rgfree(rgid), bcrE_RGID); /* it counts as put */
    error_is(bcrE_ACCESS, two_of_one, far);
    error_is(bcrE_ACCESS, two_of_one, far + 1);
    error_is(bcrE_NOCCE, -1, 1);
    error_is(bcrE_NOCELL, bcr_cce, 999);
    error_is(bcrE_DEAD, gone, 1);
    error_is(bcrE_FULL, bcr_cce, full);
    error_is(bcrE_RESERVED, bcr_cce, 0);
    error_is(bcrE_FULL, bcr_cce, cell + 1);
    FAILS_NULL(bcr_deq(bcr_cce, 0, 0), bcrE_TIMEOUT);
    CHECK_INT(take(bcr_cce, cell), 5);
    CHECK_INT(take(two_of_one, far + 2), 5);
    end();
}

TEST(without_the_flag_nobody_gets_error_regions)
{
    begin();
    grow(1, 9, 1024);
    const int cells[] = {bcr_cce, 999, 77, 1};
    FAILS(bcr_enqm(number(5), 2, cells, bcr_FREE), bcrE_NOCELL);
    FAILS_NULL(bcr_deq(bcr_cce, 0, 0), bcrE_TIMEOUT);
    end();
}

/* They come from a reserve of their own: neither nrgns nor nbytes bounds them. */
TEST(error_regions_need_no_memory_of_the_program)
{
    begin();
    int cell = grow(1, 0, 64);
    const int cells[] = {bcr_cce, cell + 1, bcr_cce, cell};
    one->flags = bcr_errors;
    bcr_region rgid = number(5);
    for (int i = 0; i < 100; i++)
        FAILS(bcr_enqm(rgid, 2, cells, bcr_NOFREE), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 200);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* nor is the program given any of theirs */
    for (int i = 0; i < 50; i++) {
        error_is(bcrE_NOCELL, bcr_cce, cell + 1);
        error_is(bcrE_FULL, bcr_cce, cell);
    }
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(value_of(rgid), 5);
    CHECK_INT(value_of(filled(4, 0)), 0);
    CHECK_INT(bcr_cafree(cell), 0); /* nor do the unread ones keep the area */
    CHECK_INT(bcr_celllen(bcr_cce, 0), 100);
    end();
}

TEST(beyond_4096_unread_error_regions_are_only_counted)
{
    begin();
    int cell = grow(1, 0, 64);
    const int cells[] = {bcr_cce, cell + 1};
    one->flags = bcr_errors;
    bcr_region rgid = number(5);
    for (int i = 0; i < 4100; i++)
        FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 4096);
    error_is(bcrE_NOCELL, bcr_cce, cell + 1);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 4096);
    CHECK_INT(bcr_zap(bcr_cce, 0), 0);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 0);
    CHECK_INT(value_of(rgid), 5);
    end();
}

TEST(an_error_region_stays_one_wherever_it_goes)
{
    begin();
    int cell = grow(2, 9, 1024);
    const int cells[] = {bcr_cce, 999};
    one->flags = bcr_errors;
    FAILS(bcr_enqm(number(5), 1, cells, bcr_FREE), bcrE_NOCELL);
    bcr_region error = bcr_deq(bcr_cce, 0, 0);
    CHECK_INT(bcr_enq(error, bcr_cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgmod(error), 0); /* also as a copy */
    CHECK_INT(bcr_rgerror(error), bcrE_NOCELL);
    as(two);
    bcr_region theirs = bcr_deq(one_of_two, cell, 0);
    CHECK_INT(bcr_rgerror(theirs), bcrE_NOCELL);
    int content[4];
    CHECK(bcr_copyfm(bcrT_1ERROR, 1, theirs, 0, content, sizeof content) >= 2);
    CHECK_INT(content[2], one_of_two); /* in their own words */
    CHECK_INT(bcr_rgfree(theirs), 0);
    as(one);
    end();
}

/* ---- cells without room ---- */

TEST(cells_with_room_are_served_at_once_and_the_others_waited_for)
{
    begin();
    int full = grow(1, 1, 1024);
    int roomy = grow(1, 9, 0);
    CHECK_INT(bcr_enq(number(0), bcr_cce, full, bcr_FREE), 0);
    const int cells[] = {one_of_two, full, one_of_two, roomy};
    struct later *putm = later_putm(two, 1, 7, 2, cells, 1);
    CHECK_INT(waiting_puts(full), 1);
    CHECK_INT(take(bcr_cce, roomy), 7); /* there while the other waits */
    CHECK_INT(bcr_celllen(bcr_cce, full), 1);
    CHECK_INT(take(bcr_cce, full), 0);
    struct outcome outcome = result(putm);
    CHECK_INT(outcome.returned, 0);
    CHECK_INT(take(bcr_cce, full), 7);
    end();
}

TEST(several_full_cells_are_waited_for_together)
{
    begin();
    int cell[3];
    for (int i = 0; i < 3; i++) {
        cell[i] = grow(1, 1, 1024);
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell[i], bcr_FREE), 0);
    }
    const int cells[] = {one_of_two, cell[2], one_of_two, cell[1], one_of_two, cell[0]};
    struct later *putm = later_putm(two, 1, 7, 3, cells, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(take(bcr_cce, cell[i]), i);
        CHECK_INT(take(bcr_cce, cell[i]), 7);
    }
    CHECK_INT(result(putm).returned, 0);
    end();
}

TEST(cells_that_stay_full_fail_when_the_time_is_up)
{
    begin();
    int full = grow(1, 0, 1024);
    int roomy = grow(1, 9, 0);
    as(two);
    const int cells[] = {one_of_two, full, one_of_two, roomy, one_of_two, full};
    two->flags = bcr_errors;
    for (int msec = 0; msec < 3; msec++) {
        CHECK_INT(bcr_putwait(msec), 0);
        FAILS(bcr_enqm(number(7), 3, cells, bcr_FREE), bcrE_FULL);
        error_is(bcrE_FULL, one_of_two, full);
        error_is(bcrE_FULL, one_of_two, full);
        CHECK_INT(take(one_of_two, roomy), 7);
    }
    as(one);
    CHECK_INT(waiting_puts(full), 0);
    end();
}

TEST(own_full_cells_fail_at_once)
{
    begin();
    int full = grow(1, 0, 1024);
    int roomy = grow(1, 9, 0);
    const int cells[] = {bcr_cce, full, bcr_cce, roomy};
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    FAILS(bcr_enqm(number(7), 2, cells, bcr_FREE), bcrE_FULL);
    FAILS(bcr_writem(number(8), 2, cells, bcr_FREE), bcrE_FULL);
    CHECK_INT(bcr_celllen(bcr_cce, roomy), 1);
    CHECK_INT(take(bcr_cce, roomy), 8);
    end();
}

TEST(writem_replaces_everywhere_and_enqm_hands_to_waiting_gets)
{
    begin();
    int cell = grow(3, 6, 1024);
    const int cells[] = {bcr_cce, cell, bcr_cce, cell + 1, bcr_cce, cell + 2};
    CHECK_INT(bcr_enqm(number(1), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_enqm(number(2), 3, cells, bcr_FREE), 0);
    CHECK_INT(bcr_writem(number(3), 3, cells, bcr_FREE), 0); /* full, but none is empty */
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_celllen(bcr_cce, cell + i), 1);
        CHECK_INT(take(bcr_cce, cell + i), 3);
    }
    bcr_region ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = bcr_deq(bcr_cce, cell + i, bcr_PENDING);
    CHECK_INT(bcr_enqm(number(4), 3, cells, bcr_FREE), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_celllen(bcr_cce, cell + i), 0);
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 1);
        CHECK_INT(value_of(ids[i]), 4);
    }
    end();
}

/* Found by ../../model. While the list is gone through, its own third cell makes room for somebody
 * else's put to the second one; from then on that cell holds something to replace. */
TEST(a_write_whose_cell_is_filled_meanwhile_replaces_that_at_once)
{
    begin();
    int cell = grow(3, 2, 1024);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell + 2, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell + 2, bcr_FREE), 0);
    struct bcri_ctx *three = join();
    struct later *write = later_put(three, 0, 1, name(three, one), cell + 1);
    const int cells[] = {one_of_two, cell, one_of_two, cell + 1, one_of_two, cell + 2};
    struct later *writem = later_putm(two, 0, 2, 3, cells, 1);
    CHECK_INT(result(write).returned, 0);
    while (value_of(bcr_read(bcr_cce, cell + 1, 0)) != 2)
        sched_yield();
    CHECK_INT(waiting_puts(cell), 1); /* for the first, which is empty */
    CHECK_INT(take(bcr_cce, cell + 1), 2);
    CHECK_INT(result(writem).returned, 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    CHECK_INT(take(bcr_cce, cell + 2), 2);
    end();
}

/* The caller cannot tell it from bcrE_NOMEM of a cell, so its hold ends as then. */
TEST(a_list_for_which_there_is_no_memory_takes_the_region_too)
{
    enum { MANY = 1 << 20 };
    if (test_is_instrumented())
        SKIP("the tool's own memory cannot be used up");
    begin();
    int cell = grow(1, 9, 64);
    int *cells = malloc(2 * MANY * sizeof *cells);
    CHECK(cells != NULL);
    for (int i = 0; i < MANY; i++)
        cells[2 * i] = bcr_cce, cells[2 * i + 1] = cell;
    struct rlimit was;
    CHECK_INT(getrlimit(RLIMIT_AS, &was), 0);
    const struct rlimit none = {0, was.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
    bcr_region rgid = number(1);
    const bool limited = bcr_enqm(rgid, MANY, cells, bcr_NOFREE) != 0 && bcr_errno == bcrE_NOMEM;
    if (limited) {
        CHECK_INT(peek(rgid), 1);
        FAILS(bcr_enqm(rgid, MANY, cells, bcr_FREE), bcrE_NOMEM);
        FAILS(bcr_rgfree(rgid), bcrE_RGID);
    }
    CHECK_INT(setrlimit(RLIMIT_AS, &was), 0);
    free(cells);
    CHECK_INT(bcr_celllen(bcr_cce, cell), limited ? 0 : 9);
    if (!limited)
        SKIP("this machine does not hold its programs to RLIMIT_AS");
    CHECK_INT(value_of(number(2)), 2); /* the first one's memory is free again */
    end();
}
