/* SPDX-License-Identifier: MIT */
/* The doorbell of a thread that sleeps in epoll, where it waits for sockets too: rung by processes
 * that are killed at any moment, by threads (for ThreadSanitizer), and too early or too late. How
 * CCEs sleep on the same word as a futex is tested with all that waits (test/unit/cells, test/model,
 * test/crash). */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "bcri/ctx.h"
#include "bcri/host.h"
#include "bcri/layout.h"
#include "check.h"

enum { RINGERS = 3, PATIENCE_MSEC = 20000 };

/* What one ringer makes true: `word` goes up by one before each ring, and `over` ends it. The ringer
 * waits each time until the sleeper has seen its word, so a wake that is lost is the last one. The
 * test sets a killed ringer's `over` and rings for it, as the daemon does. */
struct made_true {
    _Atomic uint32_t word, seen, over;
};

static struct bcri_host *host;
static struct bcri_ctx sleeper, ringers[RINGERS];
static struct made_true *made; /* shared with the ringers */
static int epoll_fd, sockets[2];

static int add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_add(up, fd, size_bytes, kind, 1, seg_out);
}
static int dup_fd(void *up, uint32_t seg)
{
    return bcri_host_segment_dup(up, seg);
}
static const struct bcri_upcalls upcalls = {.segment_add = add, .segment_fd = dup_fd};

static void join(struct bcri_ctx *ctx, int bell_fd)
{
    uint32_t index;
    CHECK_INT(bcri_host_cce_add(host, 0, &index), 0);
    CHECK_INT(bcri_ctx_init(ctx, bcri_host_segment_fd(host, BCRI_HOST_SEG), index, bcri_core_layout(),
                            &upcalls, host),
              0);
    CHECK_INT(ctx->bell_fd, -1);
    ctx->bell_fd = bell_fd;
}

static void watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.fd = fd}};
    CHECK_INT(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event), 0);
}

static void begin(void)
{
    const int bell_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CHECK(bell_fd >= 0);
    CHECK_INT(bcri_host_init("bell", 0, bcri_core_layout(), &host), 0);
    join(&sleeper, bell_fd);
    for (int i = 0; i < RINGERS; i++)
        join(&ringers[i], bell_fd);
    made = mmap(NULL, RINGERS * sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(made != MAP_FAILED);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    CHECK(epoll_fd >= 0);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    watch(bell_fd);
    watch(sockets[0]);
}

/* Sleeps in epoll. Returns the descriptor that has ended the sleep; -1: nothing has. */
static int sleep_in_epoll(int patience_msec)
{
    struct epoll_event event;
    const int came = epoll_wait(epoll_fd, &event, 1, patience_msec);
    return came == 1 ? event.data.fd : -1;
}

static void await_sleep(void)
{
    while (bcri_load_acquire(&sleeper.bell->sleeping) != BCRI_SLEEPS_IN_EPOLL)
        sched_yield();
}

static void ring(const struct bcri_ctx *ctx)
{
    bcri_bell_ring(ctx, bcri_host_record(host, sleeper.index));
}

static pid_t child(void (*run)(int which), int which)
{
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        run(which);
        _exit(0);
    }
    return pid;
}

static void ring_the_sleeper(int which)
{
    await_sleep();
    ring(&ringers[which]);
}

static void write_to_the_socket(int which)
{
    (void)which;
    await_sleep();
    CHECK_INT(write(sockets[1], "!", 1), 1);
}

TEST(a_sleeper_in_epoll_is_woken_by_a_ring_and_by_a_socket)
{
    begin();
    for (int round = 0; round < 20; round++) {
        const pid_t pid = child(round % 2 == 0 ? ring_the_sleeper : write_to_the_socket, 0);
        const uint32_t seen = bcri_load_acquire(&sleeper.bell->bell);
        char byte;
        CHECK(bcri_bell_epoll_begin(&sleeper, seen));
        const int woken_by = sleep_in_epoll(PATIENCE_MSEC);
        bcri_bell_epoll_end(&sleeper);
        CHECK_INT(woken_by, round % 2 == 0 ? sleeper.bell_fd : sockets[0]);
        CHECK_UINT(bcri_load(&sleeper.bell->bell), seen + (round % 2 == 0));
        if (woken_by == sockets[0])
            CHECK_INT(read(sockets[0], &byte, 1), 1);
        CHECK_INT(sleep_in_epoll(0), -1); /* the descriptor has been emptied */
        test_join(pid, 0);
    }
}

TEST(a_ring_before_the_sleep_keeps_the_sleeper_awake)
{
    begin();
    const uint32_t seen = bcri_load_acquire(&sleeper.bell->bell);
    ring(&ringers[0]);
    CHECK_INT(sleep_in_epoll(0), -1); /* a sleeper that is awake costs no system call */
    CHECK(!bcri_bell_epoll_begin(&sleeper, seen));
    bcri_bell_epoll_end(&sleeper);
    CHECK(bcri_bell_epoll_begin(&sleeper, seen + 1));
    CHECK_INT(sleep_in_epoll(0), -1);
    bcri_bell_epoll_end(&sleeper);
    ring(&ringers[0]);
    CHECK_INT(sleep_in_epoll(0), -1);
}

TEST(a_ring_that_comes_late_costs_the_next_sleep_only)
{
    begin();
    uint32_t seen = bcri_load_acquire(&sleeper.bell->bell);
    CHECK(bcri_bell_epoll_begin(&sleeper, seen));
    const uint32_t sleeping = bcri_load(&sleeper.bell->sleeping); /* the ringer has read this, and stops */
    bcri_bell_epoll_end(&sleeper);
    bcri_bell_wake(&ringers[0], sleeper.record, sleeping);
    CHECK(bcri_bell_epoll_begin(&sleeper, seen));
    CHECK_INT(sleep_in_epoll(PATIENCE_MSEC), sleeper.bell_fd);
    bcri_bell_epoll_end(&sleeper);
    CHECK(bcri_bell_epoll_begin(&sleeper, seen));
    CHECK_INT(sleep_in_epoll(0), -1);
    bcri_bell_epoll_end(&sleeper);
}

TEST(a_counter_that_is_full_stays_readable)
{
    begin();
    const uint64_t most = UINT64_MAX - 1;
    CHECK_INT(write(sleeper.bell_fd, &most, sizeof most), (ssize_t)sizeof most);
    CHECK(bcri_bell_epoll_begin(&sleeper, bcri_load_acquire(&sleeper.bell->bell)));
    ring(&ringers[0]);
    CHECK_INT(sleep_in_epoll(PATIENCE_MSEC), sleeper.bell_fd);
    bcri_bell_epoll_end(&sleeper);
    CHECK_INT(sleep_in_epoll(0), -1);
}

/* ---- rings without end, and deaths */

static uint64_t rounds;

static void dawdle(uint64_t *state)
{
    static const struct timespec sometimes = {.tv_nsec = 20000};
    switch (test_rand_below(state, 8)) {
    case 0: nanosleep(&sometimes, NULL); break;
    case 1: sched_yield(); break;
    default: break;
    }
}

static void ring_often(int which)
{
    uint64_t state = test_seed() + (uint64_t)which;
    for (uint64_t i = 0; i < rounds; i++) {
        bcri_store_release(&made[which].word, (uint32_t)i + 1);
        dawdle(&state);
        ring(&ringers[which]);
        while (bcri_load_acquire(&made[which].seen) != (uint32_t)i + 1)
            sched_yield();
    }
    bcri_store_release(&made[which].over, 1);
    ring(&ringers[which]);
}

/* Looks at all that the sleeper waits for, sleeping between the looks, until all is over. */
static void sleep_until_all_is_over(void)
{
    uint64_t state = test_seed() + 77;
    for (;;) {
        const uint32_t seen = bcri_load_acquire(&sleeper.bell->bell);
        int over = 0;
        for (int i = 0; i < RINGERS; i++) {
            over += bcri_load_acquire(&made[i].over) != 0;
            bcri_store_release(&made[i].seen, bcri_load_acquire(&made[i].word));
        }
        if (over == RINGERS)
            return;
        dawdle(&state);
        if (bcri_bell_epoll_begin(&sleeper, seen) && sleep_in_epoll(PATIENCE_MSEC) < 0)
            FAIL("a wake is lost: asleep, while %u rings have come since the look",
                 bcri_load(&sleeper.bell->bell) - seen);
        bcri_bell_epoll_end(&sleeper);
    }
}

static void *ring_often_in_a_thread(void *arg)
{
    ring_often((int)(intptr_t)arg);
    return NULL;
}

TEST_TIMEOUT(rings_of_threads_are_not_lost, 60)
{
    begin();
    rounds = test_scale(2000, 100000);
    pthread_t thread[RINGERS];
    for (intptr_t i = 0; i < RINGERS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, ring_often_in_a_thread, (void *)i), 0);
    sleep_until_all_is_over();
    for (int i = 0; i < RINGERS; i++)
        pthread_join(thread[i], NULL);
}

/* The daemon's part: notices each death, makes sure of what the dead was about, and rings. */
static void *ring_for_the_dead(void *arg)
{
    const pid_t *pids = arg;
    uint64_t state = test_seed() + 99;
    for (int i = 0; i < RINGERS; i++) {
        const struct timespec while_ = {.tv_nsec = (long)test_rand_below(&state, 2000000)};
        nanosleep(&while_, NULL);
        kill(pids[i], SIGKILL);
        CHECK_INT(waitpid(pids[i], NULL, 0), pids[i]);
        bcri_store_release(&made[i].over, 1);
        bcri_bell_ring_index(&ringers[i], sleeper.index, BCRI_REF_NONE);
    }
    return NULL;
}

TEST_TIMEOUT(rings_of_processes_that_are_killed_are_made_good, 120)
{
    begin();
    rounds = UINT32_MAX;
    for (uint64_t scene = 0; scene < test_scale(200, 5000); scene++) {
        pid_t pids[RINGERS];
        pthread_t daemon;
        memset(made, 0, RINGERS * sizeof *made);
        for (int i = 0; i < RINGERS; i++)
            pids[i] = child(ring_often, i);
        CHECK_INT(pthread_create(&daemon, NULL, ring_for_the_dead, pids), 0);
        sleep_until_all_is_over();
        pthread_join(daemon, NULL);
    }
}

TEST(a_ringer_that_is_stopped_before_its_write_holds_up_nobody_elses)
{
    begin();
    const uint32_t seen = bcri_load_acquire(&sleeper.bell->bell);
    CHECK(bcri_bell_epoll_begin(&sleeper, seen));
    /* As far as a stopped ringer may have come: the bell is counted, the descriptor not written. */
    atomic_fetch_add(&sleeper.bell->bell, 1);
    CHECK_INT(sleep_in_epoll(0), -1);
    ring(&ringers[1]); /* another ringer, or the daemon for the dead one */
    CHECK_INT(sleep_in_epoll(PATIENCE_MSEC), sleeper.bell_fd);
    bcri_bell_epoll_end(&sleeper);
}
