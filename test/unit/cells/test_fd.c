/* SPDX-License-Identifier: MIT */
/* bcr_fd: many descriptors, what an armed cell does not tell of, and want of descriptors. */
#include "cce.h"

#include <poll.h>
#include <sys/resource.h>

static bool readable(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1;
}

/* The daemon keeps them in order. */
TEST(each_cell_has_its_own_whatever_the_order_in_which_they_were_asked_for)
{
    enum { CELLS = 6 };
    static const int order[CELLS] = {4, 1, 5, 0, 3, 2};
    int fds[CELLS];
    begin();
    const int cell = bcr_cagrow(0, 0, 0, 0, CELLS, 2 * CELLS, 4096);
    for (int i = 0; i < CELLS; i++) {
        fds[order[i]] = bcr_fd(cell + order[i]);
        CHECK(fds[order[i]] >= 0 && !readable(fds[order[i]]));
    }
    as(two);
    for (int i = 0; i < CELLS; i++) {
        CHECK_INT(bcr_enq(bcr_rgalloc(4, 0), one_of_two, cell + order[i], bcr_FREE), 0);
        for (int k = 0; k < CELLS; k++)
            CHECK_INT(readable(fds[order[k]]), k <= i);
    }
    as(one);
    for (int i = 0; i < CELLS; i++)
        CHECK_INT(bcr_rgfree(bcr_deq(bcr_cce, cell + i, 0)), 0);
    CHECK_INT(bcr_cafree(cell), 0);
    end();
}

TEST(a_get_that_waits_at_an_armed_cell_is_served_all_the_same)
{
    begin();
    int cell = bcr_cagrow(0, 0, 0, 0, 1, 4, 4096);
    CHECK(bcr_fd(cell) >= 0);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_enq(bcr_rgalloc(4, 0), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

/* docs/patterns.md, "What bcr_fd does not see". */
TEST(a_region_that_is_handed_to_a_get_that_waits_is_not_told_of)
{
    begin();
    int cell = bcr_cagrow(0, 0, 0, 0, 1, 4, 4096);
    int fd = bcr_fd(cell);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    as(two);
    CHECK_INT(bcr_enq(bcr_rgalloc(4, 0), one_of_two, cell, bcr_FREE), 0);
    CHECK(!readable(fd));
    as(one);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK(!readable(fd));
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

TEST(a_put_that_waits_at_a_cell_without_room_is_not_told_of)
{
    begin();
    int cell = bcr_cagrow(0, 0, 0, 0, 1, 0, 4096);
    int fd = bcr_fd(cell);
    as(two);
    CHECK_INT(bcr_putwait(20), 0);
    bcr_region rgid = bcr_rgalloc(4, 0);
    FAILS(bcr_enq(rgid, one_of_two, cell, bcr_FREE), bcrE_FULL);
    CHECK(!readable(fd));
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    end();
}

TEST(without_descriptors_a_cell_is_not_armed)
{
    struct rlimit limit, none;
    begin();
    int cell = grow(1, 4, 4096);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    FAILS(bcr_fd(cell), bcrE_NOMEM);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    int fd = bcr_fd(cell);
    CHECK(fd >= 0 && readable(fd));
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}
