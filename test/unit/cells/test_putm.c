/* SPDX-License-Identifier: MIT */
/* bcr_putm at cells that others fill or empty meanwhile, without memory, without bcr_errors. What
 * it does to each cell is tested in ../../behaviour. */
#include "cce.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

TEST(without_the_flag_nobody_gets_error_regions)
{
    begin();
    grow(1, 9, 1024);
    const int cells[] = {bcr_cce, 999, 77, 1};
    FAILS(bcr_enqm(number(5), 2, cells, bcr_FREE), bcrE_NOCELL);
    FAILS_NULL(bcr_deq(bcr_cce, 0, 0), bcrE_TIMEOUT);
    end();
}

/* ---- cells without room ---- */

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

/* Found by ../../model. While the list is gone through, its own third cell makes room for another
 * CCE's put to the second one; from then on that cell holds something to replace. */
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
    int cell = grow(1, 9, NUMBER_BYTES);
    int *cells = malloc(2 * MANY * sizeof *cells);
    CHECK(cells != NULL);
    for (int i = 0; i < MANY; i++)
        cells[2 * i] = bcr_cce, cells[2 * i + 1] = cell;
    struct rlimit was;
    CHECK_INT(getrlimit(RLIMIT_AS, &was), 0);
    const struct rlimit none = {0, was.rlim_max};
    bcr_region rgid = number(1); /* before, as it may need memory, too */
    CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
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
