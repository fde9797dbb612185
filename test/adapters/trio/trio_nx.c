/* SPDX-License-Identifier: MIT */
/* trio_nx.c -- enl -n COUNT trio_nx ROUNDS: the program of trio.h, in NX. With 0 rounds it is there, and
 * sends nothing. */
#include <stdlib.h>

#include <nx.h>

#include "trio.h"

static void start(long me, long nodes, int *numbers)
{
    if (me == 0)
        for (long node = 1; node < nodes; node++)
            csend(TRIO_START, (char *)numbers, 2 * (long)sizeof *numbers, node, mypid());
    else
        crecv(TRIO_START, (char *)numbers, 2 * (long)sizeof *numbers);
}

static void go_round(struct trio *token, long me, long nodes, int rounds)
{
    const long next = (me + 1) % nodes;
    if (me == 0)
        trio_begin(token);
    for (int round = 0; round < rounds; round++) {
        if (me == 0)
            csend(TRIO_RING, (char *)token, sizeof *token, next, mypid());
        crecv(TRIO_RING, (char *)token, sizeof *token);
        trio_change(token, (int)me);
        if (me != 0)
            csend(TRIO_RING, (char *)token, sizeof *token, next, mypid());
    }
}

/* Returns 0 if it has sent its share to another. */
static int combine(struct trio *share, long me, long nodes)
{
    struct trio other;
    for (long bit = 1; bit < nodes; bit *= 2) {
        if ((me & bit) != 0) {
            csend(TRIO_UP + me, (char *)share, sizeof *share, me - bit, mypid());
            return 0;
        }
        if (me + bit < nodes) {
            crecv(TRIO_UP + me + bit, (char *)&other, sizeof other);
            trio_combine(share, &other);
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    const long me = mynode(), nodes = numnodes();
    int numbers[2] = {(int)nodes, argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3};
    struct trio token, share;
    if (numbers[1] == 0)
        return 0;
    start(me, nodes, numbers);
    if (numbers[0] != nodes || numbers[1] < 1)
        return 3;
    go_round(&token, me, nodes, numbers[1]);
    trio_share(&share, &token, (int)me);
    if (combine(&share, me, nodes))
        trio_print(stdout, &share, numbers[0], numbers[1]);
    return 0;
}
