/* SPDX-License-Identifier: MIT */
/* bcr_wakefd, bcr_wakeon and bcr_wake, wherever the CCE is that makes the change. test/system/enl has threads and signal
 * handlers, ../crash what dies meanwhile. */
#include <poll.h>

#include <bcr/program.h>

#include "behave.h"

/* A cell of this CCE's of which the descriptor tells, and which others fill. */
static int told_cell(void)
{
    const int cell = bcr_cagrow(0, 0, 1, 0, 0, 4, 4096);
    CHECK(cell > 0);
    CHECK_INT(bcr_wakeon(cell, 1), 0);
    return cell;
}

/* The change that comes after this call, or between the program's look and its poll, is not slept through. */
static int armed(void)
{
    const int fd = bcr_wakefd();
    CHECK(fd >= 0);
    return fd;
}

/* The next region of the cell; sleeps in poll alone. */
static bcr_region polled(int cell)
{
    for (;;) {
        struct pollfd look = {.fd = armed(), .events = POLLIN};
        bcr_region region = bcr_deq(bcr_cce, cell, 0);
        if (region != NULL)
            return region;
        CHECK_INT(bcr_errno, bcrE_TIMEOUT);
        CHECK_INT(poll(&look, 1, -1), 1);
    }
}

BEHAVIOUR_OF_OTHERS(a_put_of_another_cce_ends_a_poll_of_the_one_descriptor)
{
    const int one = told_cell(), other = told_cell();
    turn_round(owner);
    for (int i = 0; i < 3; i++) {
        begin(owner, "put 1 %d %d", i % 2 == 0 ? one : other, i);
        CHECK_INT(value_of(polled(i % 2 == 0 ? one : other)), i);
        CHECK_INT(result_of(owner), 0);
    }
}

BEHAVIOUR(a_pending_get_that_is_served_makes_the_descriptor_readable)
{
    const int cell = grow(1, 4, 1024);
    struct pollfd look = {.fd = armed(), .events = POLLIN};
    bcr_region pending = bcr_deq(there, cell, bcr_PENDING);
    CHECK(pending != NULL);
    CHECK_INT(bcr_rgwait(pending, 0, 0), 0);
    CHECK_INT(bcr_wakefd(), look.fd);
    begin(another(), "put 1 %d 5", cell);
    while (bcr_rgwait(pending, 0, 0) == 0) {
        CHECK_INT(poll(&look, 1, -1), 1);
        CHECK_INT(bcr_wakefd(), look.fd);
    }
    CHECK_INT(value_of(pending), 5);
    CHECK_INT(result_of(another()), 0);
}

BEHAVIOUR_OF_OTHERS(an_end_makes_the_descriptor_readable)
{
    const int cell = told_cell();
    CHECK_INT(bcr_watch(there, cell), 0);
    leave(owner);
    bcr_region region = polled(cell);
    CHECK_INT(bcr_rgkind(region), bcr_END);
    CHECK_INT(bcr_rgfree(region), 0);
}

BEHAVIOUR_OF_OTHERS(a_wake_ends_one_get_of_an_own_cell_and_takes_no_region)
{
    const int cell = told_cell();
    CHECK_INT(bcr_wake(cell), 0);
    CHECK_INT(bcr_wake(cell), 0);
    FAILS_NULL(bcr_deq(bcr_cce, cell, bcr_BLOCK), bcrE_WOKEN);
    FAILS_NULL(bcr_deq(bcr_cce, cell, bcr_BLOCK), bcrE_WOKEN);
    turn_round(owner);
    begin(owner, "put 1 %d 9", cell);
    CHECK_INT(value_of(bcr_deq(bcr_cce, cell, bcr_BLOCK)), 9);
    CHECK_INT(result_of(owner), 0);
}

BEHAVIOUR_OF_OTHERS(only_own_cells_are_told_of_and_woken)
{
    const int cell = grow(1, 4, 1024);
    FAILS(bcr_wakeon(cell, 1), bcrE_NOCELL);
    FAILS(bcr_wake(cell), bcrE_NOCELL);
    FAILS(bcr_wake(-1), bcrE_NOCELL);
    CHECK_INT(put(cell, 3), 0);
    CHECK_INT(take(cell), 3);
}
