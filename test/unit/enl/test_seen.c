/* SPDX-License-Identifier: MIT */
/* What several looks at a cell tell: the most that any has met, and since when its oldest region is
 * there at least. */
#include <string.h>

#include "check.h"
#include "inspect/look/look.h"

enum { SECOND = 1000000000 };

static struct look_host host;
static struct look_cell cells[2];
static struct look_view view;
static struct look_seen seen;

static void begin(void)
{
    look_seen_fini(&seen);
    host = (struct look_host){.now_ns = UINT64_C(100) * SECOND};
    memset(cells, 0, sizeof cells);
    cells[1].cell = 7;
    view = (struct look_view){0};
    view.host.at = &host;
    view.host.count = 1;
    view.cell.at = cells;
    view.cell.count = 1;
}

/* A second later there were `puts` puts in all and the cell has `length` regions. Returns the seconds that
 * its oldest is there at least; -1: it is empty. */
static int look(uint32_t puts, uint64_t length)
{
    host.now_ns += SECOND;
    cells[0].puts = puts;
    cells[0].length = length;
    look_seen_add(&seen, &view);
    return cells[0].oldest_ns != 0 ? (int)((host.now_ns - cells[0].oldest_ns) / SECOND) : -1;
}

TEST(a_region_that_nobody_takes_grows_old)
{
    begin();
    CHECK_INT(look(0, 0), -1);
    CHECK_INT(look(1, 1), 0);
    CHECK_INT(look(2, 2), 1);
    CHECK_INT(look(9, 9), 2);
    CHECK_UINT(cells[0].high, 9);
}

TEST(who_takes_the_last_of_them_takes_their_age)
{
    begin();
    look(5, 5);
    CHECK_INT(look(7, 3), 1); /* four of the five */
    CHECK_INT(look(7, 2), 0); /* all five: the other two are of the look before */
    CHECK_INT(look(7, 1), 1);
    CHECK_INT(look(7, 0), -1);
    CHECK_INT(look(8, 1), 0);
    CHECK_UINT(cells[0].high, 5);
}

TEST(an_emptied_cell_begins_anew_also_if_no_look_met_it_empty)
{
    begin();
    look(5, 5);
    CHECK_INT(look(10, 5), 0);
    CHECK_INT(look(10, 5), 1);
}

TEST(counts_go_round)
{
    begin();
    look(UINT32_MAX - 1, 2);
    CHECK_INT(look(1, 5), 1);
    CHECK_INT(look(1, 3), 0);
}

TEST(another_owner_of_the_same_number_begins_anew)
{
    begin();
    look(90, 30);
    CHECK_INT(look(2, 2), 0);
    CHECK_UINT(cells[0].high, 2);
}

TEST(cells_that_come_and_go_are_told_apart)
{
    begin();
    look(3, 3);
    view.cell.count = 2; /* cell 7 comes */
    cells[1].length = cells[1].puts = 4;
    CHECK_INT(look(3, 3), 1);
    CHECK_UINT(cells[1].oldest_ns, host.now_ns);
    cells[0] = cells[1]; /* cell 0 goes */
    view.cell.count = 1;
    CHECK_INT(look(4, 4), 1);
}
