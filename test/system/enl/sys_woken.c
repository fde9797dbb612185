/* SPDX-License-Identifier: MIT */
/* sys_woken.c -- a CCE that sleeps in poll is woken by a putter that has woken it before, while their daemon is stopped.
 *
 *     sys_woken cell     with the cell's descriptor (bcr_fd)
 *     sys_woken own      with the CCE's own (bcr_wakefd)
 *     sys_woken get      it arms the descriptor, but gets without it: the second wake is that for which the putter wants a copy
 *
 * The root enlists itself once more as the putter, which answers each region with one. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

enum { CELL = 1, MET_AND_ASKED = 2, ROUNDS = 6 };

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "sys_woken: line %d: not %s (bcr_errno %d)\n", __LINE__, #condition, bcr_errno); \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void grow(void)
{
    MUST(bcr_cagrow(CELL, 0, 1, 0, 0, 8, 4096) == CELL);
}

/* Until the root ends. */
static void answer(void)
{
    bcr_region region;
    grow();
    MUST(bcr_enq(bcr_rgalloc(1, 0), bcr_enlistor, CELL, bcr_FREE) == 0);
    while ((region = bcr_deq(bcr_cce, CELL, bcr_BLOCK)) != NULL)
        MUST(bcr_enq(region, bcr_enlistor, CELL, bcr_FREE) == 0);
}

static int arm(bool by_cell)
{
    return by_cell ? bcr_fd(CELL) : bcr_wakefd();
}

/* The answer comes after the arming, so the putter wakes. */
static bcr_region ask(bcr_region region, bcr_cce_id putter, bool by_cell)
{
    struct pollfd look = {.fd = arm(by_cell), .events = POLLIN};
    MUST(bcr_enq(region, putter, CELL, bcr_FREE) == 0);
    MUST(poll(&look, 1, -1) == 1);
    while (bcr_celllen(bcr_cce, CELL) == 0) {
        MUST(arm(by_cell) == look.fd);
        if (bcr_celllen(bcr_cce, CELL) == 0)
            MUST(poll(&look, 1, -1) == 1);
    }
    return bcr_deq(bcr_cce, CELL, 0);
}

static void get_while_the_daemon_is_stopped(bcr_region region, bcr_cce_id putter, pid_t daemon)
{
    region = ask(region, putter, true);
    MUST(kill(daemon, SIGSTOP) == 0);
    MUST(bcr_fd(CELL) >= 0);
    MUST(bcr_enq(region, putter, CELL, bcr_FREE) == 0);
    while (bcr_celllen(bcr_cce, CELL) == 0)
        sched_yield(); /* a get that waits would be served otherwise */
    MUST(bcr_deq(bcr_cce, CELL, 0) != NULL);
    MUST(kill(daemon, SIGCONT) == 0);
    MUST(bcr_end(0, bcr_ALL) == 0);
}

int main(int argc, char **argv)
{
    MUST(bcr_init(0, argv[0]) == 0);
    if (bcr_cceord != 0) {
        answer();
        return 0;
    }
    const bool gets = argc == 2 && strcmp(argv[1], "get") == 0;
    const bool by_cell = gets || (argc == 2 && strcmp(argv[1], "cell") == 0);
    const pid_t daemon = getppid();
    bcr_cce_id putter;
    const struct bcr_startspec spec = {
        .size = sizeof spec, .core = -1, .count = 1, .ordinal = 1, .program = argv[0]};
    grow();
    MUST(bcr_wakeon(CELL, !by_cell) == 0);
    MUST(bcr_start(&spec, &putter) == 1);
    bcr_region region = bcr_deq(bcr_cce, CELL, bcr_BLOCK);
    if (gets)
        get_while_the_daemon_is_stopped(region, putter, daemon);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == MET_AND_ASKED)
            MUST(kill(daemon, SIGSTOP) == 0);
        region = ask(region, putter, by_cell);
    }
    MUST(kill(daemon, SIGCONT) == 0);
    MUST(bcr_end(0, bcr_ALL) == 0);
    return 0;
}
