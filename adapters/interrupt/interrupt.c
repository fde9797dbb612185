/* SPDX-License-Identifier: MIT */
/* See interrupt.h. */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <bcr/program.h>

/* Between two signals if the owner wants no time between them: they are to leave it some to serve. */
enum { NEXT_LEAST_US = 50 };

/* Until then, or until the helper is to end. */
static void sleep_us(struct adapter_interrupt *interrupt, unsigned us)
{
    struct timespec until;
    if (us == 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const long ns = until.tv_nsec + (long)(us % 1000000) * 1000;
    until.tv_sec += (time_t)(us / 1000000) + (time_t)(ns / 1000000000);
    until.tv_nsec = ns % 1000000000;
    while (sem_clockwait(&interrupt->stopped, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
        ;
}

/* Whether an edge comes within that time. It stays for the epoll_wait that follows. */
static bool edge_within(const struct adapter_interrupt *interrupt, unsigned us)
{
    struct pollfd edge = {.fd = interrupt->epoll, .events = POLLIN};
    const struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
    return ppoll(&edge, 1, &time, NULL) > 0;
}

/* Until something is served, or nobody wants to be interrupted, or the next edge comes: that must not wait until a sleep
 * is over that was for the one before. */
static void interrupt_target(struct adapter_interrupt *interrupt)
{
    const unsigned long seen = atomic_load(&interrupt->served);
    sleep_us(interrupt, interrupt->first_us);
    while (atomic_load(&interrupt->served) == seen && atomic_load(&interrupt->enabled) &&
           !atomic_load(&interrupt->stops)) {
        pthread_kill(interrupt->target, SIGIO);
        if (edge_within(interrupt, interrupt->next_us > 0 ? interrupt->next_us : NEXT_LEAST_US))
            return;
    }
}

static void *wait_for_edges(void *argument)
{
    struct adapter_interrupt *interrupt = argument;
    struct epoll_event events[2];
    /* On the core to which the CCE is pinned it would wait behind the thread that it is to interrupt. */
    (void)bcr_threadcores();
    prctl(PR_SET_TIMERSLACK, 1ul); /* else a delay takes 50 us more */
    while (!atomic_load(&interrupt->stops)) {
        const int count = epoll_wait(interrupt->epoll, events, 2, -1);
        if (count > 0 && atomic_load(&interrupt->enabled))
            interrupt_target(interrupt);
    }
    return NULL;
}

static bool watch(const struct adapter_interrupt *interrupt, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
    return epoll_ctl(interrupt->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

int adapter_interrupt_start(struct adapter_interrupt *interrupt)
{
    sigset_t all, before;
    interrupt->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    interrupt->epoll = epoll_create1(EPOLL_CLOEXEC);
    sem_init(&interrupt->stopped, 0, 0);
    int error = interrupt->kick < 0 || interrupt->epoll < 0 || !watch(interrupt, interrupt->fd) ||
                        !watch(interrupt, interrupt->kick)
                    ? errno
                    : 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error == 0)
        error = pthread_create(&interrupt->thread, NULL, wait_for_edges, interrupt);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        return 0;
    if (interrupt->kick >= 0)
        close(interrupt->kick);
    if (interrupt->epoll >= 0)
        close(interrupt->epoll);
    return error;
}

void adapter_interrupt_kick(struct adapter_interrupt *interrupt)
{
    const uint64_t one = 1;
    /* Each write is an edge; nobody reads the sum, which has room for all. */
    (void)!write(interrupt->kick, &one, sizeof one);
}

void adapter_interrupt_stop(struct adapter_interrupt *interrupt)
{
    atomic_store(&interrupt->stops, true);
    sem_post(&interrupt->stopped);
    adapter_interrupt_kick(interrupt);
    pthread_join(interrupt->thread, NULL);
    sem_destroy(&interrupt->stopped);
    close(interrupt->kick);
    close(interrupt->epoll);
}
