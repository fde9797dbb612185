/* SPDX-License-Identifier: MIT */
/* trio_pvm3.c -- the program of trio.h, in PVM 3. trio_pvm3 ROUNDS COUNT spawns the others, which have no
 * arguments. enl -n COUNT trio_pvm3 ROUNDS COUNT: they are there already. */
#include <stdlib.h>

#include <pvm3.h>

#include "trio.h"

/* What goes wrong ends the process with the number of the line. */
#define MUST(condition)           \
    do {                          \
        if (!(condition))         \
            exit(__LINE__ % 256); \
    } while (0)

static int me, count, rounds;
static int *tids; /* in the order of places */

static void give(const struct trio *items, int to, int tag)
{
    MUST(pvm_initsend(PvmDataDefault) >= 0 && pvm_pkint(items->marks, TRIO_ITEMS, 1) == PvmOk &&
         pvm_pkdouble(items->parts, TRIO_ITEMS, 1) == PvmOk && pvm_send(tids[to], tag) == PvmOk);
}

static void take(struct trio *items, int from, int tag)
{
    MUST(pvm_recv(tids[from], tag) > 0 && pvm_upkint(items->marks, TRIO_ITEMS, 1) == PvmOk &&
         pvm_upkdouble(items->parts, TRIO_ITEMS, 1) == PvmOk);
}

/* Gets the tids: of tasks that were started together, or by a message. */
static void start(char *program)
{
    const int tid = pvm_mytid(), parent = pvm_parent();
    int *team, together = pvm_siblings(&team), numbers[2];
    MUST(tid > 0 && together > 0);
    if (parent == PvmNoParent && together == 1) {
        tids = malloc((size_t)count * sizeof *tids);
        MUST(tids != NULL && count > 0);
        tids[0] = tid;
        MUST(count == 1 || pvm_spawn(program, NULL, PvmTaskDefault, NULL, count - 1, tids + 1) == count - 1);
    } else if (parent == PvmNoParent) {
        tids = team;
        count = together;
    }
    if (tids != NULL && tid == tids[0]) {
        numbers[0] = count;
        numbers[1] = rounds;
        MUST(pvm_initsend(PvmDataDefault) >= 0 && pvm_pkint(numbers, 2, 1) == PvmOk &&
             pvm_pkint(tids, count, 1) == PvmOk);
        for (int place = 1; place < count; place++)
            MUST(pvm_send(tids[place], TRIO_START) == PvmOk);
        return;
    }
    MUST(pvm_recv(-1, TRIO_START) > 0 && pvm_upkint(numbers, 2, 1) == PvmOk);
    count = numbers[0];
    rounds = numbers[1];
    tids = malloc((size_t)count * sizeof *tids);
    MUST(tids != NULL && pvm_upkint(tids, count, 1) == PvmOk);
    while (tids[me] != tid)
        MUST(++me < count);
}

static void go_round(struct trio *token)
{
    if (me == 0)
        trio_begin(token);
    for (int round = 0; round < rounds; round++) {
        if (me == 0)
            give(token, (me + 1) % count, TRIO_RING);
        take(token, (me + count - 1) % count, TRIO_RING);
        trio_change(token, me);
        if (me != 0)
            give(token, (me + 1) % count, TRIO_RING);
    }
}

/* Returns 0 if it has sent its share to another. */
static int combine(struct trio *share)
{
    struct trio other;
    for (int bit = 1; bit < count; bit *= 2) {
        if ((me & bit) != 0) {
            give(share, me - bit, TRIO_UP + me);
            return 0;
        }
        if (me + bit < count) {
            take(&other, me + bit, TRIO_UP + me + bit);
            trio_combine(share, &other);
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct trio token, share;
    rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3;
    count = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    start(argv[0]);
    go_round(&token);
    trio_share(&share, &token, me);
    if (combine(&share))
        trio_print(stdout, &share, count, rounds);
    pvm_exit();
    return 0;
}
