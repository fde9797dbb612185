/* SPDX-License-Identifier: MIT */
/* score_wants.c -- an SCore program that says which nodes it can run on; WANTS says what. */
#include <stdio.h>

#include <score.h>
#include <score_resource.h>

#if defined(WANTS_NODES)
SCORE_RSRC_NUM_NODES(2, 3);
SCORE_RSRC_NUM_NETS(3);
SCORE_RSRC_ZEROCOPY;
SCORE_RSRC_HETERO_NODES;
#elif defined(WANTS_CONTRADICTION)
SCORE_RSRC_NUM_NODES(2, 3);
SCORE_RSRC_NUM_NODES(2, 4);
#elif defined(WANTS_NOTHING_GOOD)
SCORE_RSRC_NUM_NETS(0);
#endif

int main(void)
{
#if defined(WANTS_PROCS)
    SCORE_RSRC_NUM_PROCS(2);
    SCORE_RSRC_NOCKPT;
    SCORE_RSRC_HETERO_NODES;
#endif
#if defined(WANTS_ONE)
    SCORE_RSRC_NUM_PROCS(1);
#endif
    score_initialize();
    printf("runs with %d nets\n", score_num_pmnet);
    return 0;
}
