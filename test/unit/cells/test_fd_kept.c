/* SPDX-License-Identifier: MIT */
/* A putter that wakes the same CCE again by a descriptor writes that itself (enl/client/eventfds.c): it goes no way round
 * by the daemon, never writes one that its number has left, and keeps no more than it may. */
#include <bcr.h>
#include <bcr/program.h>

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bcri/eventfds.h"
#include "bcri/host.h"
#include "bcri/reclaim.h"
#include "bcri/self.h"
#include "check.h"
#include "group.h"
#include "regions.h"

enum {
    BASE = 1,
    ORDERS = 1,
    KEPT_MAX = 64,
    MANY = KEPT_MAX + 10,
    OVER = -1,
    POOR = -2,
    COUNT = -3,
    GROW = -4
};

static struct group *group;
static struct bcri_ctx *owner;
static struct {
    pid_t pid;
    uint32_t index;
    bcr_cce_id id;
} putter;

/* Where the putter is to put: a cell of the CCE with that index. */
struct order {
    int cell;
    uint32_t index;
};

static int open_descriptors(void)
{
    int count = 0;
    DIR *const folder = opendir("/proc/self/fd");
    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* No descriptor can be opened any more. */
static void become_poor(void)
{
    const struct rlimit none = {0, 0};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static int put_where_it_is_told(struct bcri_ctx *ctx, void *arg)
{
    (void)arg;
    CHECK(bcr_cagrow(ORDERS, 0, 0, 0, 1, 4, 65536) == ORDERS);
    const int before = open_descriptors();
    for (;;) {
        const bcr_region order = bcr_deq(bcr_cce, ORDERS, bcr_BLOCK);
        CHECK(order != NULL);
        const struct order at = **(struct order **)order;
        CHECK_INT(bcr_rgfree(order), 0);
        if (at.cell == OVER)
            return 0;
        if (at.cell == POOR)
            become_poor();
        else if (at.cell == GROW)
            CHECK(bcr_cagrow(ORDERS + 1, 0, 0, 0, 1, 4, 65536) < 0 && bcr_errno == bcrE_NOMEM);
        else if (at.cell == COUNT)
            return open_descriptors() - before;
        else
            CHECK_INT(bcr_enq(number(at.cell), group_name(ctx, at.index), at.cell, bcr_FREE), 0);
    }
}

static void tell(int cell)
{
    const bcr_region order = bcr_rgalloc(sizeof(struct order), 0);
    CHECK(order != NULL);
    **(struct order **)order = (struct order){cell, owner->index};
    while (bcr_enq(order, putter.id, ORDERS, bcr_FREE) != 0)
        CHECK_INT(bcr_errno, bcrE_NOCELL); /* it still begins */
}

static void be_owner(struct bcri_ctx *ctx)
{
    owner = ctx;
    bcri_self_set(owner);
    putter.id = group_name(owner, putter.index);
}

static void open_with_cells(int count)
{
    group = group_open();
    putter.pid = group_fork(group, put_where_it_is_told, NULL, &putter.index);
    be_owner(group_join(group));
    CHECK_INT(bcr_cagrow(BASE, 0, 0, 0, count, 4 * count, 65536), BASE);
}

/* Returns what the putter exits with. */
static int close_with(int last_order)
{
    tell(last_order);
    const int status = group_bury(group, putter.pid, putter.index);
    CHECK(WIFEXITED(status));
    bcri_self_set(owner);
    group_leave(group, owner);
    bcri_self_set(NULL);
    group_close(group);
    return WEXITSTATUS(status);
}

static void take(int cell)
{
    const bcr_region region = bcr_deq(bcr_cce, cell, 0);
    CHECK(region != NULL);
    CHECK_INT(value_of(region), cell);
}

static void wait_for(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    CHECK_INT(poll(&look, 1, -1), 1);
}

static void is_woken_by(int cell)
{
    const int fd = bcr_fd(cell);
    CHECK(fd >= 0);
    tell(cell);
    wait_for(fd);
    take(cell);
}

static void is_woken_by_its_own(int cell)
{
    const int fd = bcr_wakefd();
    CHECK(fd >= 0);
    tell(cell);
    wait_for(fd);
    while (bcr_celllen(bcr_cce, cell) == 0)
        wait_for(bcr_wakefd());
    take(cell);
}

static void daemon_has_no_descriptor_any_more(void)
{
    bcri_eventfds_drop(bcri_host_eventfds(group_host(group)), owner->index);
}

TEST(the_third_wake_by_the_same_cell_needs_no_daemon)
{
    open_with_cells(1);
    is_woken_by(BASE);
    is_woken_by(BASE);
    daemon_has_no_descriptor_any_more();
    is_woken_by(BASE);
    CHECK_INT(close_with(OVER), 0);
}

TEST(the_third_wake_of_the_same_poll_needs_no_daemon)
{
    open_with_cells(1);
    CHECK_INT(bcr_wakeon(BASE, 1), 0);
    is_woken_by_its_own(BASE);
    is_woken_by_its_own(BASE);
    daemon_has_no_descriptor_any_more();
    is_woken_by_its_own(BASE);
    CHECK_INT(close_with(OVER), 0);
}

TEST(a_cell_that_is_freed_and_grown_again_wakes_as_before)
{
    open_with_cells(1);
    for (int life = 0; life < 4; life++) {
        for (int i = 0; i < 4; i++)
            is_woken_by(BASE);
        CHECK_INT(bcr_cafree(BASE), 0);
        CHECK_INT(bcr_cagrow(BASE, 0, 0, 0, 1, 4, 65536), BASE);
    }
    CHECK_INT(close_with(OVER), 0);
}

/* The owner ends, and another CCE gets its record. */
static void replace_owner(struct bcri_reclaim *reclaim)
{
    const uint32_t index = owner->index;
    uint32_t freed = 0;
    bcri_eventfds_drop(bcri_host_eventfds(group_host(group)), index);
    group_leave(group, owner);
    CHECK(bcri_reclaim_add(reclaim, index));
    do {
        sched_yield(); /* the putter goes back to its sleep */
        bcri_reclaim_look(reclaim);
    } while (!bcri_reclaim_take(reclaim, &freed));
    CHECK_INT(freed, index);
    bcri_host_cce_release(group_host(group), index);
    be_owner(group_join(group));
    CHECK_INT(owner->index, index);
}

TEST(a_cce_in_the_record_of_one_that_has_ended_is_woken_as_before)
{
    open_with_cells(1);
    struct bcri_reclaim *const reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    for (int life = 0; life < 4; life++) {
        CHECK_INT(bcr_wakeon(BASE, 1), 0);
        for (int i = 0; i < 4; i++)
            is_woken_by_its_own(BASE);
        replace_owner(reclaim);
        CHECK_INT(bcr_cagrow(BASE, 0, 0, 0, 1, 4, 65536), BASE);
    }
    bcri_reclaim_fini(reclaim);
    CHECK_INT(close_with(OVER), 0);
}

TEST(more_cells_than_descriptors_are_kept_all_wake)
{
    open_with_cells(MANY);
    for (int round = 0; round < 4; round++)
        for (int cell = BASE; cell < BASE + MANY; cell++)
            is_woken_by(cell);
    CHECK_INT(close_with(OVER), 0);
}

TEST(no_more_descriptors_are_kept_than_the_limit)
{
    open_with_cells(MANY);
    for (int cell = BASE; cell < BASE + MANY; cell++)
        for (int i = 0; i < 3; i++)
            is_woken_by(cell);
    CHECK_INT(close_with(COUNT), KEPT_MAX);
}

TEST(one_that_is_met_once_costs_no_descriptor)
{
    open_with_cells(MANY);
    for (int cell = BASE; cell < BASE + MANY; cell++)
        is_woken_by(cell);
    CHECK_INT(close_with(COUNT), 0);
}

TEST(a_putter_without_a_number_for_a_descriptor_wakes_by_the_daemon)
{
    open_with_cells(1);
    is_woken_by(BASE);
    tell(POOR);
    for (int i = 0; i < 4; i++)
        is_woken_by(BASE);
    tell(GROW); /* it has lost no connection, and knows that */
    CHECK_INT(close_with(OVER), 0);
}
