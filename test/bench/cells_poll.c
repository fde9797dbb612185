/* SPDX-License-Identifier: MIT */
/*
 * cells_poll.c -- a region of 8 bytes one way to a CCE that sleeps in poll, with the cell's descriptor (bcr_fd) or
 * with its own (bcr_wakefd); and the floor: two processes that write an eventfd of each other's. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench_cells.h"

static void sleep_until_readable(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    while (poll(&look, 1, -1) < 0)
        if (errno != EINTR)
            bench_fail("poll");
}

static void send_region(const struct cells_user *user, uint64_t value)
{
    cells_check(bcr_enq(cells_new(8, value), user->other, CELL_HAND, bcr_FREE) == 0, "bcr_enq");
}

static void free_region(bcr_region region, uint64_t expected)
{
    if (*(const uint64_t *)*region != expected)
        bench_fail("region %llu arrived as %llu", (unsigned long long)expected,
                   (unsigned long long)*(const uint64_t *)*region);
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
}

static void receive_by_cell(const struct cells_user *user, uint64_t expected)
{
    bcr_region region;
    do
        sleep_until_readable(bcr_fd(CELL_HAND));
    while ((region = bcr_deq(user->own, CELL_HAND, 0)) == NULL);
    free_region(region, expected);
}

static int own_fd; /* armed */

static void receive_by_own(const struct cells_user *user, uint64_t expected)
{
    bcr_region region;
    while ((region = bcr_deq(user->own, CELL_HAND, 0)) == NULL) {
        sleep_until_readable(own_fd);
        own_fd = bcr_wakefd();
    }
    free_region(region, expected);
}

static void pass(struct bench_pair *pair, struct bench_turn *turn,
                 void (*receive)(const struct cells_user *, uint64_t))
{
    const struct cells_user *user = cells_user(pair);
    for (uint64_t i = 0; i < (uint64_t)turn->count; i++) {
        if (pair->side == 0)
            send_region(user, i);
        receive(user, i);
        if (pair->side == 1)
            send_region(user, i);
    }
    turn->op_count = turn->count;
}

void cells_poll(struct bench_pair *pair, struct bench_turn *turn)
{
    pass(pair, turn, receive_by_cell);
}

void cells_poll_own(struct bench_pair *pair, struct bench_turn *turn)
{
    cells_check(bcr_wakeon(CELL_HAND, 1) == 0, "bcr_wakeon");
    own_fd = bcr_wakefd();
    pass(pair, turn, receive_by_own);
    cells_check(bcr_wakeon(CELL_HAND, 0) == 0, "bcr_wakeon");
}

/* The other side's eventfd, made known by process and number in the shared page. */
static int fetch_eventfd(struct bench_pair *pair, int own)
{
    struct floor_area_shm *area = pair->area;
    atomic_store(&area->word[pair->side].value, (uint64_t)getpid() << 32 | (uint32_t)own);
    uint64_t other;
    while ((other = atomic_load(&area->word[1 - pair->side].value)) == 0)
        sched_yield();
    const int process = (int)syscall(SYS_pidfd_open, (pid_t)(other >> 32), 0);
    const int fd = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, (int)(uint32_t)other, 0) : -1;
    if (fd < 0)
        bench_fail("pidfd_getfd");
    close(process);
    return fd;
}

void floor_eventfd(struct bench_pair *pair, struct bench_turn *turn)
{
    static int own = -1, other;
    const uint64_t one = 1;
    uint64_t got;
    if (own < 0) {
        own = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        other = fetch_eventfd(pair, own);
    }
    for (long i = 0; i < turn->count; i++) {
        if (pair->side == 0 && write(other, &one, sizeof one) < 0)
            bench_fail("write");
        sleep_until_readable(own);
        if (read(own, &got, sizeof got) < 0)
            bench_fail("read");
        if (pair->side == 1 && write(other, &one, sizeof one) < 0)
            bench_fail("write");
    }
    turn->op_count = turn->count;
}
