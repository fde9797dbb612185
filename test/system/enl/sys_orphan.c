/* SPDX-License-Identifier: MIT */
/* One CCE on each of many hosts, which prints, hands numbers to the root, and starts others everywhere, until the
 * test says stop; test_orphan.c.
 *
 *   sys_orphan HOSTS    the root: gets from each host's CCE its numbers, of which none may be missing, doubled or
 *                       out of order
 *
 * A CCE of ordinal K (1 to HOSTS) prints "line K I" for each of its numbers I. It says of each that it has started on
 * host M, with the number J of its own, "asked K J M RESULT", and that one prints "born K J". */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bcr.h>

#include "orphan_board.h"

enum { ASK_EACH = 16, BORN = 1000 };

static struct orphan_board *board;

static _Noreturn void fail(const char *what, int number)
{
    fprintf(stderr, "sys_orphan %d: %s (%d, error %d)\n", bcr_cceord, what, number, bcr_errno);
    exit(90);
}

static void open_board(void)
{
    const int fd = open(getenv("ORPHAN_BOARD"), O_RDWR | O_CLOEXEC);
    void *at = fd >= 0 ? mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
        exit(91);
    close(fd);
    board = at;
}

static bcr_region number_of(int value)
{
    bcr_region rgid = bcr_rgalloc(4, 0);
    if (rgid == NULL || bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 1)
        fail("no region", value);
    return rgid;
}

static int value_of(bcr_region rgid)
{
    int value = -2;
    if (bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 1)
        fail("no number", 0);
    bcr_rgfree(rgid);
    return value;
}

/* ---- a host's CCE ---- */

static void ask(const char *program, int number)
{
    char machine[32];
    const int host = (bcr_cceord + number) % board->hosts + 1;
    snprintf(machine, sizeof machine, "local%d", host);
    const int got = bcr_enlist(machine, -1, BORN * bcr_cceord + number, program, NULL, bcr_FREE);
    printf("asked %d %d %d %d\n", bcr_cceord, number, host, got < 0 ? bcr_errno : 0);
    fflush(stdout);
}

/* Into its own cell, from which the root takes it. */
static void hand_over(int number)
{
    bcr_region rgid = number_of(number);
    while (bcr_put(1, rgid, bcr_cce, 1, bcr_FREE) < 0) {
        if (bcr_errno != bcrE_FULL)
            fail("a number is not taken", number);
        usleep(1000);
    }
}

static void work(const char *program)
{
    int number = 0, asked = 0;
    board->daemons[bcr_cceord] = getppid();
    if (bcr_cagrow(1, 0, 0, 0, 1, 8, 1 << 16) < 0)
        fail("no cells", 0);
    bcr_region own = bcr_rgalloc(16, 0);
    if (own == NULL || bcr_copyto(bcrT_1CCE, 1, own, 0, &bcr_cce, sizeof bcr_cce) < 1 ||
        bcr_put(1, own, bcr_enlistor, bcr_cceord, bcr_FREE) < 0)
        fail("the root gets no ID", 0);
    while (!board->stop) {
        printf("line %d %d\n", bcr_cceord, number);
        fflush(stdout);
        hand_over(number);
        if (++number % ASK_EACH == 0)
            ask(program, ++asked);
    }
    hand_over(-1);
    printf("total %d %d %d\n", bcr_cceord, number, asked);
    fflush(stdout);
    while (board->taken < board->hosts)
        usleep(1000); /* its cell is gone with it */
}

/* ---- the root ---- */

static int cces[ORPHAN_HOSTS_MAX + 1];

/* Returns whether more comes from that host. */
static bool take(int host, int round)
{
    bcr_region rgid = bcr_get(1, cces[host], 1, bcr_BLOCK);
    if (rgid == NULL && bcr_errno == bcrE_DEAD) {
        board->dead[host] = 1;
        return false;
    }
    if (rgid == NULL)
        fail("a number cannot be had", host);
    const int value = value_of(rgid);
    if (value != -1 && value != round)
        fail("a number is missing, doubled or out of order", value);
    return value != -1;
}

static void lead(const char *program)
{
    const int hosts = board->hosts;
    bool more[ORPHAN_HOSTS_MAX + 1] = {false};
    int left = hosts;
    char machine[32];
    if (bcr_cagrow(1, 0, 0, 0, hosts, 8, 1 << 16) < 0)
        fail("no cells", 0);
    for (int host = 1; host <= hosts; host++) {
        snprintf(machine, sizeof machine, "local%d", host);
        if (bcr_enlist(machine, -1, host, program, NULL, bcr_FREE) < 0)
            fail("no CCE", host);
    }
    for (int host = 1; host <= hosts; host++) {
        bcr_region rgid = bcr_get(1, bcr_cce, host, bcr_BLOCK);
        if (rgid == NULL || bcr_copyfm(bcrT_1CCE, 1, rgid, 0, &cces[host], sizeof cces[host]) < 1)
            fail("no ID", host);
        bcr_rgfree(rgid);
        more[host] = true;
    }
    board->begun = 1;
    for (int round = 0; left > 0; round++) {
        for (int host = 1; host <= hosts; host++)
            if (more[host] && !(more[host] = take(host, round))) {
                left--;
                board->taken++;
            }
        board->rounds = round + 1;
    }
}

int main(int argc, char **argv)
{
    if (bcr_init(bcr_errors, NULL) < 0)
        return 77;
    open_board();
    if (bcr_cceord >= BORN)
        return printf("born %d %d\n", bcr_cceord / BORN, bcr_cceord % BORN), 0;
    if (argc > 1)
        board->hosts = atoi(argv[1]);
    if (bcr_cceord == 0)
        lead(argv[0]);
    else
        work(argv[0]);
    return 0;
}
