/* SPDX-License-Identifier: MIT */
/* trio_pvm2.c -- the program of trio.h, in PVM 2.4. trio_pvm2 ROUNDS COUNT initiates the others, which
 * have no arguments. enl -n COUNT trio_pvm2 ROUNDS COUNT all: they are there already. */
#include <stdlib.h>

#include <pvm.h>

#include "trio.h"

#define ALL "trio_pvm2"

/* What goes wrong ends the process with the number of the line. */
#define MUST(condition)           \
    do {                          \
        if (!(condition))         \
            exit(__LINE__ % 256); \
    } while (0)

static void give(const struct trio *items, int to, int type)
{
    MUST(initsend() == 0 && putnint(items->marks, TRIO_ITEMS) == 0 &&
         putndfloat(items->parts, TRIO_ITEMS) == 0 && snd(ALL, to, type) == 0);
}

static void take(struct trio *items, int type)
{
    MUST(rcv(type) == type && getnint(items->marks, TRIO_ITEMS) == 0 &&
         getndfloat(items->parts, TRIO_ITEMS) == 0);
}

static void start(int me, int *numbers, int are_there)
{
    if (are_there)
        MUST(barrier(ALL, numbers[0]) == 0);
    if (me != 0) {
        MUST(rcv(TRIO_START) == TRIO_START && getnint(numbers, 2) == 0);
        return;
    }
    for (int place = 1; !are_there && place < numbers[0]; place++)
        MUST(initiate(ALL, NULL) == place);
    MUST(initsend() == 0 && putnint(numbers, 2) == 0);
    for (int place = 1; place < numbers[0]; place++)
        MUST(snd(ALL, place, TRIO_START) == 0);
}

static void go_round(struct trio *token, int me, int count, int rounds)
{
    const int next = (me + 1) % count;
    if (me == 0)
        trio_begin(token);
    for (int round = 0; round < rounds; round++) {
        if (me == 0)
            give(token, next, TRIO_RING);
        take(token, TRIO_RING);
        trio_change(token, me);
        if (me != 0)
            give(token, next, TRIO_RING);
    }
}

/* Returns 0 if it has sent its share to another. */
static int combine(struct trio *share, int me, int count)
{
    struct trio other;
    for (int bit = 1; bit < count; bit *= 2) {
        if ((me & bit) != 0) {
            give(share, me - bit, TRIO_UP + me);
            return 0;
        }
        if (me + bit < count) {
            take(&other, TRIO_UP + me + bit);
            trio_combine(share, &other);
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    const int me = enroll(ALL);
    int numbers[2] = {argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1,
                      argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3};
    struct trio token, share;
    MUST(me >= 0);
    start(me, numbers, argc > 3);
    go_round(&token, me, numbers[0], numbers[1]);
    trio_share(&share, &token, me);
    if (combine(&share, me, numbers[0]))
        trio_print(stdout, &share, numbers[0], numbers[1]);
    leave();
    return 0;
}
