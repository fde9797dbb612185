/* SPDX-License-Identifier: MIT */
/* Handlers that are installed, replaced and removed, and what bcr_handler refuses. */
#include <limits.h>

#include "handler_calls.h"

TEST(a_removed_handler_is_not_called_for_earlier_puts)
{
    start(1);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(1, 1), 0);
    for (int i = 0; i < 40; i++) /* more than the queue's ring holds */
        put_there(1, i);
    CHECK_INT(bcr_priority(1, 1), 0); /* they are taken from the queue, and wait */
    put_there(1, 40);
    CHECK_INT(bcr_handler(1, NULL, 0, -5, -5), 0);
    CHECK_INT(bcr_priority(0, 0), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    put_there(1, 41);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    /* Nor for those that were there before it came again. */
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    put_there(1, 42);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    CHECK_INT(bcr_handler(1, NULL, 0, 0, 0), 0);
    CHECK_INT(bcr_handler(1, NULL, 0, 0, 0), 0); /* none is there: nothing to remove */
    end();
}

static void tell_new(int cell)
{
    say("new%d ", cell);
}

TEST(a_handler_that_replaces_another_inherits_its_requests)
{
    start(2);
    CHECK_INT(bcr_priority(9, 9), 0);
    CHECK_INT(bcr_handler(1, tell, 1, 3, 0), 0);
    CHECK_INT(bcr_handler(2, tell, 1, 5, 0), 0);
    put_there(1, 1);
    put_there(2, 1);
    put_there(1, 2);
    CHECK_INT(bcr_handler(1, tell_new, 1, 5, 0), 0);
    CHECK_INT(bcr_allow(5), 0);
    SAID("new1 2 new1 ");
    /* Also those that are in the queue under the old mark. */
    put_there(1, 3);
    CHECK_INT(bcr_handler(1, tell, 2, 4, 0), 0);
    CHECK_INT(bcr_allow(5), 0);
    SAID("");
    CHECK_INT(bcr_allow(4), 0);
    SAID("1 ");
    end();
}

static void become(int cell)
{
    say("become%d ", cell);
    CHECK_INT(bcr_handler(cell, tell_new, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(cell + 1, tell, 1, 0, 0), 0);
    put_here(cell, 1);
    put_here(cell + 1, 1);
}

TEST(a_handler_may_install_handlers_and_replace_itself)
{
    start(2);
    CHECK_INT(bcr_handler(1, become, 1, 0, 0), 0);
    put_there(1, 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("become1 new1 2 ");
    end();
}

static void retire(int cell)
{
    say("last%d ", cell);
    CHECK_INT(bcr_handler(cell, NULL, 0, 0, 0), 0);
}

TEST(a_handler_may_remove_itself)
{
    start(1);
    CHECK_INT(bcr_handler(1, retire, 1, 0, 0), 0);
    put_there(1, 1);
    put_there(1, 2);
    put_there(1, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("last1 ");
    end();
}

TEST(handlers_go_with_their_cells)
{
    start(3);
    int base = grow(2, 10, 4096);
    CHECK_INT(bcr_handler(base + 1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(7, 7), 0);
    put_there(base + 1, 1);
    CHECK_INT(take(bcr_cce, base + 1), 1);
    put_there(1, 1);
    CHECK_INT(bcr_cafree(base), 0);
    CHECK_INT(grow(2, 10, 4096), base);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    put_there(base + 1, 2); /* the new cell has none */
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_handler(base + 1, tell_new, 1, 0, 0), 0);
    put_there(base + 1, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("new5 ");
    end();
}

TEST(error_regions_call_the_handler_of_cell_0)
{
    start(1);
    one->flags |= bcr_errors;
    CHECK_INT(bcr_handler(0, tell, 1, 0, 0), 0);
    const int cells[] = {bcr_cce, 999};
    FAILS(bcr_putm(1, number(1), 1, cells, bcr_FREE), bcrE_NOCELL);
    CHECK_INT(bcr_allow(0), 0);
    SAID("0 ");
    end();
}

TEST(a_handler_needs_a_cell_of_ones_own_and_priorities_from_0_on)
{
    start(1);
    FAILS(bcr_handler(1, tell, 1, -1, 0), bcrE_ARG);
    FAILS(bcr_handler(1, tell, 1, 0, -1), bcrE_ARG);
    FAILS(bcr_handler(1, tell, 1, INT_MIN, INT_MIN), bcrE_ARG);
    FAILS(bcr_handler(2, tell, 1, 0, 0), bcrE_NOCELL);
    FAILS(bcr_handler(-1, tell, 1, 0, 0), bcrE_NOCELL);
    FAILS(bcr_handler(INT_MAX, tell, 1, 0, 0), bcrE_NOCELL);
    FAILS(bcr_handler(2, NULL, 1, 0, 0), bcrE_NOCELL);
    put_here(1, 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_handler(1, tell, INT_MAX, INT_MAX, INT_MAX), 0);
    CHECK_INT(bcr_handler(1, tell, INT_MIN, 0, INT_MAX), 0);
    CHECK_INT(take(bcr_cce, 1), 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    end();
}
