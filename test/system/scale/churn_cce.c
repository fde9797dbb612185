/* SPDX-License-Identifier: MIT */
/* A program that enlists CCEs one after the other, each of which leaves as much as it can behind:
 * `churn_cce ROUNDS [kill]`.
 *
 * The root prints two lines "bytes descriptors numbers", of what its daemon holds in memory files,
 * and how many numbers of segments there are: the most of some rounds at the start, and the least
 * of as many at the end. What a CCE leaves goes when its repair is done, mostly by the second
 * enlisting after its end; where the repair has to wait for a CCE, new CCEs start first. So what one
 * round sees says little, what ten see does. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/ctx.h"
#include "bcri/self.h"
#include "held.h"

enum { FROM_CHILD = 1, OWN_CELL = 2, UNTIL_THE_END = 3, REGIONS = 100, BYTES = 2000 };
enum { WARM_UP = 20, LOOKS = 10 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "churn: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

/* Puts a region into the root's cell; ends with queued ones, held ones, a share of the root's, and
 * a waiting get of the root on its cell. */
static int child(const char *how)
{
    must(bcr_cagrow(1, 0, 2, 0, 1, 200, 2 * REGIONS * BYTES) == 1, "cagrow");
    bcr_region held[REGIONS];
    for (int i = 0; i < REGIONS; i++) {
        held[i] = bcr_rgalloc(BYTES, 0);
        must(held[i] != NULL, "rgalloc");
        if (i % 2 == 0)
            must(bcr_put(1, held[i], bcr_cce, OWN_CELL, bcr_FREE) == 0, "put");
    }
    bcr_region birth = bcr_get(1, bcr_cce, 0, bcr_BLOCK);
    must(birth != NULL && bcr_rglen(birth, NULL) == 8, "birth region");
    must(bcr_put(1, held[1], bcr_enlistor, FROM_CHILD, bcr_NOFREE) == 0, "put to the root");
    bcr_region share = bcr_get(1, bcr_enlistor, FROM_CHILD + 1, bcr_BLOCK);
    must(share != NULL && bcr_rgfree(share) == 0, "share of the root's");
    /* The last: the root goes on when it has this. */
    must(bcr_copyto(bcrT_1CCE, 1, held[3], 0, &bcr_cce, sizeof bcr_cce) >= 1, "copyto");
    must(bcr_put(1, held[3], bcr_enlistor, FROM_CHILD, bcr_FREE) == 0, "put to the root");
    must(bcr_get(1, bcr_cce, 1, bcr_BLOCK) != NULL, "word to go");
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    return 0;
}

static void look(int round, int rounds, struct held *most, struct held *least)
{
    struct held held = held_by_daemon();
    held.numbers = bcri_host_segments(bcri_self()->host);
    if (round > WARM_UP - LOOKS && round <= WARM_UP) {
        most->bytes = held.bytes > most->bytes ? held.bytes : most->bytes;
        most->descriptors = held.descriptors > most->descriptors ? held.descriptors : most->descriptors;
        most->numbers = held.numbers; /* it only grows */
    }
    if (round == rounds - LOOKS + 1)
        *least = held;
    if (round > rounds - LOOKS) {
        least->bytes = held.bytes < least->bytes ? held.bytes : least->bytes;
        least->descriptors = held.descriptors < least->descriptors ? held.descriptors : least->descriptors;
    }
}

static int root(char **argv)
{
    struct held most = {0}, least = {0};
    int rounds = atoi(argv[1]);
    bcr_region from_last = NULL;
    must(bcr_cagrow(1, 0, 1, 1, 0, 16, 1 << 16) == 1, "cagrow");
    for (int round = 1; round <= rounds; round++) {
        bcr_cce_id cce;
        bcr_region birth = bcr_rgalloc(8, 0);
        must(birth != NULL && bcr_enlist(NULL, -1, round, argv[0], birth, bcr_FREE) == 0, "enlist");
        bcr_region share = bcr_rgalloc(64, 0);
        must(share != NULL && bcr_put(1, share, bcr_cce, FROM_CHILD + 1, bcr_FREE) == 0, "put");
        bcr_region region = bcr_get(1, bcr_cce, FROM_CHILD, bcr_BLOCK);
        bcr_region last = bcr_get(1, bcr_cce, FROM_CHILD, bcr_BLOCK);
        must(region != NULL && last != NULL, "regions of the child");
        must(bcr_copyfm(bcrT_1CCE, 1, last, 0, &cce, sizeof cce) >= 1, "copyfm");
        look(round, rounds, &most, &least);
        /* Each child's region outlives it by a round: it is freed when its home is gone. */
        must(from_last == NULL || bcr_rgfree(from_last) == 0, "rgfree");
        from_last = region;
        must(bcr_put(1, last, cce, 1, bcr_FREE) == 0, "put");
        must(bcr_get(1, cce, UNTIL_THE_END, bcr_BLOCK) == NULL && bcr_errno == bcrE_DEAD, "the child's end");
    }
    printf("%llu %d %u\n%llu %d %u\n", most.bytes, most.descriptors, most.numbers, least.bytes,
           least.descriptors, least.numbers);
    return 0;
}

int main(int argc, char **argv)
{
    if (bcr_init(0, argv[0]) < 0)
        return 1;
    if (bcr_enlistor < 0)
        return argc > 1 ? root(argv) : 2;
    const char *how = getenv("CHURN_END");
    return child(how != NULL ? how : "exit");
}
