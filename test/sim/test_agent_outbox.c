/* SPDX-License-Identifier: MIT */
/* The outbox between a CCE and its agent: when the agent is woken for it, and what waits when it is full. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "agent_turned.h"
#include "regions.h"

static int times_woken(int bell_fd)
{
    uint64_t times = 0;
    return read(bell_fd, &times, sizeof times) == sizeof times ? (int)times : 0;
}

TEST(an_agent_that_has_not_taken_what_it_was_woken_for_is_not_woken_again)
{
    begin();
    struct bcri_bell_shm *bell = world.host[0].agent_ctx->bell;
    const int bell_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), had_fd = requester->bell_fd;
    CHECK(bell_fd >= 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    requester->bell_fd = bell_fd;
    for (int turn = 0; turn < 3; turn++) {
        pthread_mutex_lock(&world.mutex); /* the agents stand still */
        bcri_store(&bell->sleeping, BCRI_SLEEPS_IN_EPOLL);
        CHECK_INT(bcr_put(1, number(1), there, cell, bcr_FREE), 0);
        CHECK_INT(times_woken(bell_fd), 1);
        if (turn == 0)
            CHECK_INT(bcr_put(1, number(2), there, cell, bcr_FREE), 0);
        CHECK_INT(times_woken(bell_fd), 0);
        bcri_store(&bell->sleeping, BCRI_AWAKE);
        pthread_mutex_unlock(&world.mutex);
        CHECK_INT(take_at_owner(cell), 1);
        if (turn == 0)
            CHECK_INT(take_at_owner(cell), 2);
    }
    requester->bell_fd = had_fd;
    close(bell_fd);
    end();
}

static atomic_bool is_held;

static void *hold_agents(void *arg)
{
    const struct timespec a_while = {.tv_nsec = 50000000};
    pthread_mutex_lock(&world.mutex);
    atomic_store(&is_held, true);
    nanosleep(&a_while, NULL);
    pthread_mutex_unlock(&world.mutex);
    return arg;
}

TEST(gets_that_find_the_outbox_full_do_not_wait_for_puts)
{
    enum { WINDOW = 1024, PLACED = 4, GETS = 300 };
    pthread_t holder;
    begin();
    for (int i = 0; i < PLACED; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < WINDOW; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
    (void)!bcr_putwait(5);
    bcr_region rgid = number(0);
    FAILS(bcr_put(1, rgid, there, cell, bcr_FREE), bcrE_FULL);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(pthread_create(&holder, NULL, hold_agents, NULL), 0);
    while (!atomic_load(&is_held))
        ;
    for (int i = 0; i < GETS; i++)
        CHECK(bcr_get(1, there, cell + 1, bcr_PENDING) != NULL);
    CHECK_INT(pthread_join(holder, NULL), 0);
    end();
}
