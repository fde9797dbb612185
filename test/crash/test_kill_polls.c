/* SPDX-License-Identifier: MIT */
/* Putters are killed at any moment while the owner of two cells sleeps in poll, for one of them with the cell's
 * descriptor (bcr_fd), for the other with its own (bcr_wakefd); and the cells are freed and grown meanwhile. A ring that
 * is lost leaves the owner in its poll: the putters fill that cell and wait, too, and the test's time runs out. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <bcr/program.h>

#include "bcri/reclaim.h"
#include "bcri/self.h"
#include "check.h"
#include "group.h"
#include "regions.h"

enum { PUTTERS = 3, FIRST = 1, POLLED = FIRST, OF_CELL = FIRST + 1, ROOM = 20, FREED_EVERY = 7 };

struct shared {
    _Atomic bool over;
    uint32_t home; /* the owner's index */
};

static struct group *group;
static struct bcri_ctx *owner;
static struct shared *shared;
static struct {
    pid_t pid;
    uint32_t index;
} putter[PUTTERS];
static int wakefd, cell_fd;
static long taken, in_vain;

static int put_on_and_on(struct bcri_ctx *ctx, void *arg)
{
    (void)arg;
    const bcr_cce_id home = group_name(ctx, shared->home);
    if (bcr_cagrow(0, 0, 0, 0, 0, 0, 4096) < 0)
        return 1;
    for (int i = 0; !shared->over; i++) {
        bcr_region region = number(i);
        while (!shared->over && bcr_put_within(i % 5 != 0, region, home, FIRST + i % 2, bcr_FREE, 2000) != 0)
            if (bcr_errno != bcrE_FULL && bcr_errno != bcrE_NOCELL)
                return 2;
    }
    return 0;
}

static void start(int i)
{
    putter[i].pid = group_fork(group, put_on_and_on, NULL, &putter[i].index);
}

static void drain(int cell)
{
    const long before = taken;
    for (bcr_region region; (region = bcr_deq(bcr_cce, cell, 0)) != NULL; taken++)
        CHECK_INT(bcr_rgfree(region), 0);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    in_vain += taken == before;
}

static void arm(void)
{
    wakefd = bcr_wakefd();
    drain(POLLED);
    cell_fd = bcr_fd(OF_CELL);
    CHECK(wakefd >= 0 && cell_fd >= 0);
}

static void grow(void)
{
    CHECK_INT(bcr_cagrow(FIRST, 0, 2, 0, 0, ROOM, 4096), FIRST);
    CHECK_INT(bcr_wakeon(POLLED, 1), 0);
    arm();
}

static void free_and_grow(void)
{
    while (bcr_cafree(FIRST) != 0) {
        CHECK_INT(bcr_errno, bcrE_BUSY); /* somebody has put again */
        drain(POLLED);
        drain(OF_CELL);
    }
    grow();
}

/* One wake-up. */
static void wait_and_take(void)
{
    struct pollfd look[] = {{.fd = wakefd, .events = POLLIN}, {.fd = cell_fd, .events = POLLIN}};
    CHECK(poll(look, 2, -1) > 0);
    if (look[0].revents != 0) {
        CHECK_INT(bcr_wakefd(), wakefd);
        drain(POLLED);
    }
    if (look[1].revents != 0) {
        drain(OF_CELL);
        CHECK_INT(bcr_fd(OF_CELL), cell_fd);
    }
}

static void kill_one(int i)
{
    kill(putter[i].pid, SIGKILL);
    CHECK(WIFSIGNALED(group_bury(group, putter[i].pid, putter[i].index)));
    bcri_self_set(owner);
    start(i);
}

TEST_TIMEOUT(no_death_of_a_putter_and_no_freed_cell_leaves_the_owner_in_its_poll, 1800)
{
    if (test_is_instrumented())
        SKIP("under a tool most kills would hit the tool");
    uint64_t random = test_seed();
    const uint64_t wakes = test_scale(1000, 1000000);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    group = group_open();
    struct bcri_reclaim *const reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    owner = group_join(group);
    shared->home = owner->index;
    bcri_self_set(owner);
    grow();
    for (int i = 0; i < PUTTERS; i++)
        start(i);
    uint64_t kills = 0, next = 20;
    for (uint64_t wake = 0; wake < wakes; wake++) {
        wait_and_take();
        if (wake < next)
            continue;
        next = wake + 1 + test_rand_below(&random, test_scale(200, 2000));
        kill_one((int)test_rand_below(&random, PUTTERS));
        if (++kills % FREED_EVERY == 0)
            free_and_grow();
    }
    printf("%llu wake-ups, %llu kills, %ld regions, %ld times nothing\n", (unsigned long long)wakes,
           (unsigned long long)kills, taken, in_vain);
    shared->over = true;
    for (int i = 0; i < PUTTERS; i++) {
        CHECK_INT(WEXITSTATUS(group_bury(group, putter[i].pid, putter[i].index)), 0);
        bcri_self_set(owner);
    }
    drain(POLLED);
    drain(OF_CELL);
    bcri_self_set(NULL);
    group_leave(group, owner);
    bcri_reclaim_fini(reclaim);
    group_close(group);
}
