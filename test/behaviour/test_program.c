/* SPDX-License-Identifier: MIT */
/* What bcr/program.h promises of other CCEs, wherever they are: their ends, signals, and the kinds of regions. What takes
 * more than a CCE or two is tested in ../system/enl. */
#include <signal.h>

#include <bcr/program.h>

#include "behave.h"

enum { NEWS_BOUND = 8 };

/* A cell of this CCE's, into which others put. */
static int own_cell(void)
{
    const int cell = bcr_cagrow(0, 0, 1, 0, 0, NEWS_BOUND, 4096);
    CHECK(cell > 0);
    return cell;
}

/* The next region there tells that `cce` has ended so. */
static void end_is(int cell, bcr_cce_id cce, int how, int number)
{
    int end[4] = {0};
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rgkind(rgid), bcr_END);
    CHECK(bcr_copyfm(bcrT_1END, 1, rgid, 0, end, sizeof end) >= 0);
    CHECK_INT(end[0], cce);
    CHECK_INT(end[2], how);
    CHECK_INT(end[3], number);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

BEHAVIOUR_OF_OTHERS(an_end_is_told_once_behind_all_that_was_put_before_it_and_beyond_the_bound)
{
    const int cell = own_cell();
    CHECK_INT(bcr_watch(there, cell), 0);
    CHECK_INT(bcr_watch(there, cell), 0);
    turn_round(owner);
    for (int i = 0; i < NEWS_BOUND; i++)
        CHECK_INT(by(owner, "put 1 %d %d", cell, i), 0);
    leave(owner);
    const int told = own_cell();
    CHECK_INT(bcr_watch(there, told), 0);
    end_is(told, there, bcr_EXITED, 0);
    for (int i = 0; i < NEWS_BOUND; i++)
        CHECK_INT(value_of(bcr_deq(bcr_cce, cell, bcr_BLOCK)), i);
    end_is(cell, there, bcr_EXITED, 0);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
}

BEHAVIOUR_OF_OTHERS(an_end_that_was_before_its_watch_is_told_at_once)
{
    const int cell = own_cell();
    leave(owner);
    CHECK_INT(bcr_watch(there, cell), 0);
    end_is(cell, there, bcr_EXITED, 0);
    CHECK_INT(bcr_unwatch(there, cell), 0);
}

BEHAVIOUR_OF_OTHERS(a_watch_that_was_given_up_tells_nothing)
{
    const int cell = own_cell(), other = own_cell();
    CHECK_INT(bcr_watch(there, cell), 0);
    CHECK_INT(bcr_watch(there, other), 0);
    CHECK_INT(bcr_unwatch(there, cell), 0);
    leave(owner);
    end_is(other, there, bcr_EXITED, 0);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
}

BEHAVIOUR_FROM_AFAR(a_signal_ends_the_cce_that_it_is_for_and_no_other)
{
    const int cell = own_cell();
    CHECK_INT(bcr_signal(there, 0), 0);
    CHECK_INT(bcr_watch(there, cell), 0);
    CHECK_INT(bcr_signal(there, SIGTERM), 0);
    end_is(cell, there, bcr_KILLED, SIGTERM);
    FAILS(bcr_signal(there, 0), bcrE_DEAD);
    FAILS(bcr_signal(there, SIGTERM), bcrE_DEAD);
}

BEHAVIOUR(news_stays_news_and_data_stays_data_wherever_a_region_goes)
{
    const int cell = grow(2, 4, 4096), told = own_cell();
    const bcr_cce_id one = name_of(another());
    CHECK_INT(bcr_watch(one, told), 0);
    leave(another());
    bcr_region news = bcr_deq(bcr_cce, told, bcr_BLOCK), data = number(bcr_END);
    CHECK(news != NULL && data != NULL);
    CHECK_INT(bcr_enq(news, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_enq(data, there, cell + 1, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_rgmod(news), 0); /* a private copy */
    CHECK_INT(bcr_rgkind(news), bcr_END);
    CHECK_INT(bcr_rgfree(news), 0);
    news = bcr_deq(there, cell, bcr_BLOCK);
    data = bcr_deq(there, cell + 1, bcr_BLOCK);
    CHECK_INT(bcr_rgkind(news), bcr_END);
    CHECK_INT(bcr_rgkind(data), bcr_DATA);
    CHECK_INT(bcr_rgfree(news), 0);
    CHECK_INT(bcr_rgfree(data), 0);
}

BEHAVIOUR_OF_OTHERS(watches_of_what_is_none_are_refused)
{
    const int cell = own_cell();
    FAILS(bcr_watch(bcr_cce, cell), bcrE_ARG);
    FAILS(bcr_watch(there, cell + 100), bcrE_NOCELL);
    FAILS(bcr_watch(there, 0), bcrE_RESERVED);
    FAILS(bcr_watch(30000, cell), bcrE_NOCCE);
    FAILS(bcr_signal(30000, 0), bcrE_NOCCE);
    FAILS(bcr_signal(there, -1), bcrE_ARG);
    FAILS(bcr_teamcce(0), bcrE_NOTEAM);
    FAILS(bcr_signal(bcr_TEAM, 0), bcrE_NOTEAM);
    leave(owner);
}
