/* SPDX-License-Identifier: MIT */
/* bench_earl -- what Earl adds to the cells below it, in one run, by turns:
 *
 *   enl -n 2 bench_earl [ROUNDS]
 *
 * 8 bytes one way, beside a new region of 24 bytes handed over; the same in windows; 64 KiB and 1 MiB that both sides copy, beside the
 * same copied whole into a region, and out of it. Then all that there are reduce 8 bytes, beside regions from all to the first and
 * back. Medians in ns of TURNS turns and lower quartiles, the medians' ratio, and the median of the ratios of turns. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bcr/program.h>
#include <earl.h>

enum { CELL = 10, TURNS = 21, WINDOW = 64, LARGEST = 1 << 20, HEAD = 16 };
static unsigned rounds = 20000;
static size_t length;
static unsigned char *buffer;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_earl: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

static void give(int rank)
{
    bcr_region rgid = bcr_rgalloc_within((int)length + HEAD, 0, bcr_BLOCK);
    if (rgid == NULL)
        fail("bcr_rgalloc");
    memcpy((unsigned char *)*rgid + HEAD, buffer, length);
    if (bcr_enq(rgid, bcr_teamcce(rank), CELL, bcr_FREE) != 0)
        fail("bcr_enq");
}

static void take(void)
{
    bcr_region rgid = bcr_deq(bcr_cce, CELL, bcr_BLOCK);
    if (rgid == NULL)
        fail("bcr_deq");
    memcpy(buffer, (unsigned char *)*rgid + HEAD, length);
    bcr_rgfree(rgid);
}

static void earl_give(int rank)
{
    if (earl_send(rank, 1, 1, buffer, length) != EARL_OK)
        fail("earl_send");
}

static void earl_take(void)
{
    const struct earl_wanted wanted = {.context = 1, .source = 1 - earl_process(), .tag = 1};
    if (earl_receive(&wanted, buffer, length, NULL) != EARL_OK)
        fail("earl_receive");
}

static double pong(void (*to)(int), void (*from)(void), unsigned many)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < many && earl_process() == 0; i++) {
        to(1);
        from();
    }
    for (unsigned i = 0; i < many && earl_process() == 1; i++) {
        from();
        to(0);
    }
    return (now_ns() - begun) / many / 2;
}

/* WINDOW one way, then an answer. */
static double window(void (*to)(int), void (*from)(void), unsigned many)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < many / WINDOW && earl_process() < 2; i++) {
        for (int k = 0; k < WINDOW; k++)
            if (earl_process() == 0)
                to(1);
            else
                from();
        if (earl_process() == 0)
            from();
        else
            to(0);
    }
    return (now_ns() - begun) / (many / WINDOW) / WINDOW;
}

static int ascending(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median(double *values)
{
    qsort(values, TURNS, sizeof *values, ascending);
    return values[TURNS / 2];
}

static void show(const char *name, double *bare, double *earl, double *ratio)
{
    const double below = median(bare), own = median(earl);
    printf("%-12s bare %10.0f (%.0f)  earl %10.0f (%.0f)  ratio %.2f  by turns %.2f\n", name, below,
           bare[TURNS / 4], own, earl[TURNS / 4], own / below, median(ratio));
    fflush(stdout);
}

static void by_turns(const char *name, size_t bytes, unsigned many,
                     double (*measure)(void (*)(int), void (*)(void), unsigned))
{
    double bare[TURNS], earl[TURNS], ratio[TURNS];
    length = bytes;
    for (int turn = 0; turn < TURNS; turn++) {
        if (bcr_teamsync(bcr_BLOCK) != 0)
            fail("bcr_teamsync");
        bare[turn] = measure(give, take, many);
        if (bcr_teamsync(bcr_BLOCK) != 0)
            fail("bcr_teamsync");
        earl[turn] = measure(earl_give, earl_take, many);
        ratio[turn] = earl[turn] / bare[turn];
    }
    if (earl_process() != 0)
        return;
    show(name, bare, earl, ratio);
}

static void add(void *into, const void *from, void *argument)
{
    (void)argument;
    *(double *)into += *(const double *)from;
}

static double reduce(unsigned many)
{
    double value = 1;
    const double begun = now_ns();
    for (unsigned i = 0; i < many; i++)
        if (earl_reduce(NULL, &value, sizeof value, add, NULL) != EARL_OK)
            fail("earl_reduce");
    return (now_ns() - begun) / many;
}

/* The same by regions: all to the first, and its own to all. */
static double gather(unsigned many)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < many; i++)
        if (earl_process() != 0) {
            give(0);
            take();
        } else {
            for (int rank = 1; rank < earl_processes(); rank++)
                take();
            for (int rank = 1; rank < earl_processes(); rank++)
                give(rank);
        }
    return (now_ns() - begun) / many;
}

static void together(void)
{
    double bare[TURNS], earl[TURNS], ratio[TURNS];
    length = sizeof(double);
    for (int turn = 0; turn < TURNS; turn++) {
        if (bcr_teamsync(bcr_BLOCK) != 0)
            fail("bcr_teamsync");
        bare[turn] = gather(rounds / 20 + 1);
        earl[turn] = reduce(rounds / 20 + 1);
        ratio[turn] = earl[turn] / bare[turn];
    }
    if (earl_process() == 0)
        show("reduce", bare, earl, ratio);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    buffer = calloc(1, LARGEST);
    if (earl_begin("bench_earl") != EARL_OK || buffer == NULL || rounds < WINDOW || earl_processes() < 2 ||
        bcr_cagrow(CELL, 0, 1, 0, 0, 512, 16 << 20) != CELL) {
        fprintf(stderr, "usage: enl -n 2 bench_earl [ROUNDS]\n");
        return 2;
    }
    if (earl_process() < 2 && earl_processes() == 2) {
        by_turns("8B", 8, rounds, pong);
        by_turns("8B.window", 8, rounds, window);
        by_turns("1K", 1024, rounds / 2, pong);
        by_turns("64K", 64 << 10, rounds / 20 + 1, pong);
        by_turns("1M", 1 << 20, rounds / 200 + 1, pong);
    }
    together();
    free(buffer);
    return 0;
}
