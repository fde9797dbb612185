/* SPDX-License-Identifier: MIT */
/* The daemon's descriptors of armed cells. */
#include "bcri/eventfds.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>

#include "check.h"

enum { CELLS = 12, OWNERS = 3 };

static struct bcri_eventfds *fds;
static int kept[CELLS]; /* the descriptor of each cell */

static bcri_ref cell_of(int i)
{
    return (bcri_ref)(100 + i);
}

/* Cell i is that of owner i % OWNERS. */
static void begin(void)
{
    fds = bcri_eventfds_init();
    CHECK(fds != NULL);
    for (int i = 0; i < CELLS; i++) {
        const int cell = i * 5 % CELLS; /* in no order */
        kept[cell] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK(kept[cell] >= 0);
        CHECK_INT(bcri_eventfds_set(fds, cell_of(cell), (uint32_t)(cell % OWNERS), kept[cell]), 0);
    }
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static bool is_readable(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1;
}

TEST(a_ring_reaches_the_descriptor_of_its_cell)
{
    begin();
    for (int i = 0; i < CELLS; i++) {
        bcri_eventfds_ring(fds, cell_of(i));
        for (int k = 0; k < CELLS; k++)
            CHECK_INT(is_readable(kept[k]), k <= i);
    }
    bcri_eventfds_ring(fds, cell_of(CELLS)); /* has none */
    bcri_eventfds_fini(fds);
}

TEST(all_descriptors_of_an_owner_are_closed_and_no_others)
{
    begin();
    for (int owner = 0; owner < OWNERS; owner++) {
        bcri_eventfds_drop(fds, (uint32_t)owner);
        for (int i = 0; i < CELLS; i++)
            CHECK_INT(is_open(kept[i]), i % OWNERS > owner);
    }
    bcri_eventfds_fini(fds);
}

/* Two cells of one owner lie side by side in the table. */
TEST(neighbours_of_one_owner_are_closed_both)
{
    int two[2];
    fds = bcri_eventfds_init();
    CHECK(fds != NULL);
    for (int i = 0; i < 2; i++) {
        two[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK_INT(bcri_eventfds_set(fds, cell_of(i), 1, two[i]), 0);
    }
    bcri_eventfds_drop(fds, 1);
    CHECK(!is_open(two[0]) && !is_open(two[1]));
    bcri_eventfds_fini(fds);
}

TEST(a_newer_descriptor_closes_the_older_one)
{
    begin();
    const int newer = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK_INT(bcri_eventfds_set(fds, cell_of(3), 0, newer), 0);
    CHECK(!is_open(kept[3]));
    bcri_eventfds_ring(fds, cell_of(3));
    CHECK(is_readable(newer));
    CHECK_INT(bcri_eventfds_set(fds, cell_of(3), 0, -1), 0);
    CHECK(!is_open(newer));
    for (int i = 0; i < CELLS; i++)
        CHECK_INT(is_open(kept[i]), i != 3);
    bcri_eventfds_fini(fds);
    for (int i = 0; i < CELLS; i++)
        CHECK(!is_open(kept[i]));
}

TEST(a_copy_is_of_the_descriptor_that_the_cell_has_now)
{
    begin();
    const int copy = bcri_eventfds_dup(fds, cell_of(3));
    CHECK(copy >= 0 && copy != kept[3]);
    CHECK_INT(fcntl(copy, F_GETFD), FD_CLOEXEC);
    bcri_eventfds_ring(fds, cell_of(3));
    CHECK(is_readable(copy));
    CHECK_INT(bcri_eventfds_set(fds, cell_of(3), 0, -1), 0);
    CHECK(is_open(copy)); /* it is the one's who has asked */
    CHECK_INT(bcri_eventfds_dup(fds, cell_of(3)), -1);
    CHECK_INT(bcri_eventfds_dup(fds, cell_of(CELLS)), -1);
    bcri_eventfds_fini(fds);
}
