/* SPDX-License-Identifier: MIT */
/* watchers_cce.c -- a team whose members all watch member 1, some before its end and all after it: each is told once for each
 * watch, how it has ended. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <bcr/program.h>

enum { BEFORE = 1, AFTER = 2, VICTIM = 1 };

#define MUST(condition)                                                                             \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "watchers_cce: line %d: not %s (bcr_errno %d)\n", __LINE__, #condition, \
                    bcr_errno);                                                                     \
            exit(1);                                                                                \
        }                                                                                           \
    } while (0)

/* The cells have no room at all: an end region needs none. */
static void is_told(int cell, bcr_cce_id victim)
{
    struct {
        int cce, ordinal, how, status;
    } end;
    const bcr_region region = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    MUST(region != NULL && bcr_rgkind(region) == bcr_END);
    MUST(bcr_copyfm(bcrT_1END, 1, region, 0, &end, sizeof end) >= 2);
    MUST(end.cce == victim && end.how == bcr_KILLED && end.status == SIGKILL);
    MUST(bcr_rgfree(region) == 0 && bcr_deq(bcr_cce, cell, 0) == NULL);
}

int main(int argc, char **argv)
{
    MUST(argc == 1 && bcr_init(bcr_isolate, argv[0]) == 0);
    MUST(bcr_cagrow(BEFORE, 0, 2, 0, 0, 0, 0) == BEFORE);
    const bcr_cce_id victim = bcr_teamcce(VICTIM);
    const int rank = bcr_teamrank();
    MUST(rank == VICTIM || bcr_watch(victim, BEFORE) == 0);
    MUST(bcr_teamsync(bcr_BLOCK) == 0);
    if (rank == VICTIM)
        raise(SIGKILL);
    is_told(BEFORE, victim);
    MUST(bcr_watch(victim, AFTER) == 0);
    is_told(AFTER, victim);
    return 0;
}
