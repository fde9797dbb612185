/* SPDX-License-Identifier: MIT */
/* team.c -- a team in place of birthcries: who is there, and when all have grown their cells.
 *
 *     enl -n 6 team            six members; enl --hosts FILE -n 6 team: on several machines
 *     team                     what make_team shows: a CCE that makes a team of its own
 *
 * Each member adds up its part of some numbers, and all learn the whole sum, in log2(size) steps: in
 * step s each exchanges its sum with the member whose rank differs in bit s.  If the size is no power
 * of two, members are left over, who take part through a partner.
 *
 * docs/patterns.md tells what to look at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/program.h>

#include "must.h"

enum { SUMS = 10, NUMBERS = 1000 };

/* One cell for each step: a fast partner may be a step ahead. */
static void give(long sum, int rank, int step)
{
    bcr_region region = must_have(bcr_rgalloc(sizeof sum, 0), "allocate a sum");
    must_copy(bcr_copyto(bcrT_1LONG, 1, region, 0, &sum, sizeof sum), "write a sum");
    must(bcr_enq(region, bcr_teamcce(rank), SUMS + step, bcr_FREE), "give a sum");
}

static long take(int step)
{
    long sum;
    bcr_region region = must_have(bcr_deq(bcr_cce, SUMS + step, bcr_BLOCK), "take a sum");
    must_copy(bcr_copyfm(bcrT_1LONG, 1, region, 0, &sum, sizeof sum), "read a sum");
    must(bcr_rgfree(region), "free a sum");
    return sum;
}

/* The sum of all members' sums, at each of them. */
static long sum_of_all(long sum, int rank, int size)
{
    int whole = 1, steps = 0;
    for (; 2 * whole <= size; whole *= 2)
        steps++;
    if (rank >= whole) { /* left over: a partner speaks for it */
        give(sum, rank - whole, steps);
        return take(steps);
    }
    if (rank + whole < size)
        sum += take(steps);
    for (int step = 0; step < steps; step++) {
        give(sum, rank ^ 1 << step, step);
        sum += take(step);
    }
    if (rank + whole < size)
        give(sum, rank + whole, steps);
    return sum;
}

static void compute(void)
{
    const int rank = bcr_teamrank(), size = bcr_teamsize();
    long sum = 0;
    must_hold(bcr_cagrow(SUMS, 0, 20, 0, 0, 40, 4096) == SUMS, "grow cells");
    must(bcr_teamsync(bcr_BLOCK), "wait until all have cells");
    for (int number = rank + 1; number <= NUMBERS; number += size)
        sum += number;
    sum = sum_of_all(sum, rank, size);
    must_hold(sum == NUMBERS * (NUMBERS + 1L) / 2, "all members have the whole sum");
    must(bcr_teamsync(bcr_BLOCK), "wait until nobody needs this member any more");
    if (rank == 0)
        printf("%d members on %s have the sum %ld\n", size,
               bcr_teamhost(size - 1) == bcr_teamhost(0) ? "one host" : "several hosts", sum);
}

/* A CCE that is in no team makes one of five: two of the members have another argument. */
static void make_team(const char *program)
{
    static const char *const plain[] = {"member", NULL}, *const last[] = {"member", "last", NULL};
    const struct bcr_startspec others = {
        .size = sizeof others, .core = -1, .count = 2, .ordinal = 3, .program = program, .arguments = last};
    const struct bcr_startspec first = {.size = sizeof first,
                                        .core = -1,
                                        .count = 3,
                                        .program = program,
                                        .arguments = plain,
                                        .next = &others,
                                        .flags = bcr_start_team};
    must_hold(bcr_start(&first, NULL) == 5, "start a team of five");
}

int main(int argc, char **argv)
{
    must(bcr_init(0, NULL), "become a CCE");
    if (bcr_teamsize() != 0)
        compute();
    else if (argc == 1)
        make_team(argv[0]);
    return 0;
}
