/* SPDX-License-Identifier: MIT */
/* bench_nx -- what NX adds to the cells below it, in one run, by turns:
 *
 *   enl -n 2 bench_nx [ROUNDS]
 *
 * 8 bytes one way by csend and crecv, beside a new region of 24 bytes handed over: medians and lower quartiles in ns of TURNS turns, and the
 * median of the ratios of turns. Then 8 bytes to a node that computes, from csend until the handler of hrecv runs there: median, lower
 * quartile and most in us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bcr/program.h>
#include <nx.h>

enum { CELL = 10, TURNS = 21, LENGTH = 8, HEAD = 16, TYPE = 1, CALLED = 2, READY = 3, MOST = 1000 };

static char buffer[LENGTH];
static volatile int called;
static double sent_ns, taken[MOST];

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_nx: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

static void give(void)
{
    bcr_region rgid = bcr_rgalloc_within(LENGTH + HEAD, 0, bcr_BLOCK);
    if (rgid == NULL)
        fail("bcr_rgalloc");
    memcpy((unsigned char *)*rgid + HEAD, buffer, LENGTH);
    if (bcr_enq(rgid, bcr_teamcce(1 - (int)mynode()), CELL, bcr_FREE) != 0)
        fail("bcr_enq");
}

static void take(void)
{
    bcr_region rgid = bcr_deq(bcr_cce, CELL, bcr_BLOCK);
    if (rgid == NULL)
        fail("bcr_deq");
    memcpy(buffer, (unsigned char *)*rgid + HEAD, LENGTH);
    bcr_rgfree(rgid);
}

static void nx_give(void)
{
    csend(TYPE, buffer, LENGTH, 1 - mynode(), 0);
}

static void nx_take(void)
{
    crecv(TYPE, buffer, LENGTH);
}

static double pong(void (*to)(void), void (*from)(void), int rounds)
{
    gsync();
    const double begun = now_ns();
    for (int i = 0; i < rounds && mynode() == 0; i++) {
        to();
        from();
    }
    for (int i = 0; i < rounds && mynode() == 1; i++) {
        from();
        to();
    }
    return (now_ns() - begun) / rounds / 2;
}

static int ascending(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double sorted(double *values, int count, int quarter)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count * quarter / 4];
}

static void eight_bytes(int rounds)
{
    double bare[TURNS], own[TURNS], ratio[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        bare[turn] = pong(give, take, rounds);
        own[turn] = pong(nx_give, nx_take, rounds);
        ratio[turn] = own[turn] / bare[turn];
    }
    if (mynode() == 0)
        printf("8B     bare %.0f (%.0f)  nx %.0f (%.0f) ns  by turns %.2f\n", sorted(bare, TURNS, 2),
               sorted(bare, TURNS, 1), sorted(own, TURNS, 2), sorted(own, TURNS, 1), sorted(ratio, TURNS, 2));
}

static void handler(long type, long count, long node, long pid)
{
    (void)type, (void)count, (void)node, (void)pid;
    taken[called] = now_ns() - sent_ns;
    called = called + 1;
}

/* Both nodes' clock is the machine's. */
static void interrupts(int count)
{
    for (int i = 0; i < count; i++) {
        if (mynode() == 0) {
            crecv(READY, NULL, 0);
            const double begun = now_ns();
            while (now_ns() - begun < 200e3) /* the other one computes */
                continue;
            sent_ns = now_ns();
            csend(CALLED, (char *)&sent_ns, sizeof sent_ns, 1, 0);
            continue;
        }
        hrecv(CALLED, (char *)&sent_ns, sizeof sent_ns, handler);
        csend(READY, NULL, 0, 0, 0);
        volatile double work = 1;
        while (called <= i)
            work = work * 1.0000001;
    }
    if (mynode() == 0)
        return;
    const double middle = sorted(taken, count, 2), quartile = sorted(taken, count, 1);
    printf("hrecv  %.0f (%.0f, most %.0f) us\n", middle / 1e3, quartile / 1e3, taken[count - 1] / 1e3);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20000;
    if (numnodes() != 2 || rounds < 20 || bcr_cagrow(CELL, 0, 1, 0, 0, 512, 1 << 20) != CELL) {
        fprintf(stderr, "usage: enl -n 2 bench_nx [ROUNDS]\n");
        return 2;
    }
    eight_bytes(rounds);
    interrupts(rounds / 20 < MOST ? rounds / 20 : MOST);
    return 0;
}
