/* SPDX-License-Identifier: MIT */
/* pi.c -- the program with which every machine of that time began: pi, as the area below 4 / (1 + x * x). enl -n N pi [INTERVALS]
 *
 * Each node adds up every N-th interval. Node 0 tells how many there are, and prints the sum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <nx.h>

enum { INTERVALS = 1 };

int main(int argc, char **argv)
{
    const long me = mynode(), nodes = numnodes();
    const double begun = dclock();
    long intervals = 0;
    double sum = 0, work;
    if (me == 0) {
        intervals = argc > 1 ? atol(argv[1]) : 1000000;
        csend(INTERVALS, &intervals, sizeof intervals, -1, mypid());
    } else {
        crecv(INTERVALS, &intervals, sizeof intervals);
    }
    if (intervals < 1) {
        if (me == 0)
            fprintf(stderr, "usage: enl -n N pi [INTERVALS]\n");
        return 2;
    }
    for (long i = me; i < intervals; i += nodes) {
        const double x = ((double)i + 0.5) / (double)intervals;
        sum += 4 / (1 + x * x);
    }
    gdsum(&sum, 1, &work);
    const double pi = sum / (double)intervals;
    if (me == 0)
        printf("pi is %.12f, by %ld nodes in %.3f s\n", pi, nodes, dclock() - begun);
    return fabs(pi - 3.14159265358979) * (double)intervals < 1 ? 0 : 1;
}
