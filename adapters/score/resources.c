/* SPDX-License-Identifier: MIT */
/* resources.c -- the records of score_resource.h: read from the section of this program, and held against the nodes. */
#include "score_resource.h"

#include <stddef.h>

#include "score_private.h"

/* A program's file that has no others says by this that it is one of SCore. */
SCORE_RSRC_RECORD(SCORE_RSRC_KIND_PROGRAM, 0, 0, __COUNTER__);

/* The linker makes these two where the program has such records. */
/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
extern const struct score_rsrc_record __start_score_rsrc[] __attribute__((weak, visibility("hidden")));
extern const struct score_rsrc_record __stop_score_rsrc[] __attribute__((weak, visibility("hidden")));
/* NOLINTEND(bugprone-reserved-identifier) */

static const char *const names[] = {
    [SCORE_RSRC_KIND_NUM_NODES] = "SCORE_RSRC_NUM_NODES",
    [SCORE_RSRC_KIND_NUM_PROCS] = "SCORE_RSRC_NUM_PROCS",
    [SCORE_RSRC_KIND_NUM_NETS] = "SCORE_RSRC_NUM_NETS",
    [SCORE_RSRC_KIND_ZEROCOPY] = "SCORE_RSRC_ZEROCOPY",
    [SCORE_RSRC_KIND_HETERO_NODES] = "SCORE_RSRC_HETERO_NODES",
    [SCORE_RSRC_KIND_NOCKPT] = "SCORE_RSRC_NOCKPT",
};
enum { NETS_MAX = 64 };

/* The record of that kind; NULL: there is none. Ends the program if two contradict each other. */
static const struct score_rsrc_record *record_of(enum score_rsrc_kind kind)
{
    const struct score_rsrc_record *found = NULL;
    const size_t count = ((uintptr_t)__stop_score_rsrc - (uintptr_t)__start_score_rsrc) / sizeof *found;
    for (size_t i = 0; i < count; i++) {
        const struct score_rsrc_record *const at = &__start_score_rsrc[i];
        if (at->magic != SCORE_RSRC_MAGIC || at->kind != (uint32_t)kind)
            continue;
        if (found != NULL && (found->low != at->low || found->high != at->high))
            score_fail("%s stands in the program twice, with different numbers", names[kind]);
        found = at;
    }
    return found;
}

int score_resources_nets(void)
{
    const struct score_rsrc_record *const nets = record_of(SCORE_RSRC_KIND_NUM_NETS);
    if (nets == NULL)
        return 1;
    if (nets->low < 1 || nets->low > NETS_MAX)
        score_fail("SCORE_RSRC_NUM_NETS asks for %d network sets; there can be 1 to %d", (int)nets->low,
                   NETS_MAX);
    return nets->low;
}

void score_resources_check(int nodes, const int *procs, int hosts, bool mixed)
{
    const struct score_rsrc_record *const range = record_of(SCORE_RSRC_KIND_NUM_NODES);
    const struct score_rsrc_record *const each = record_of(SCORE_RSRC_KIND_NUM_PROCS);
    if (range != NULL && (range->low < 1 || range->low > range->high))
        score_fail("SCORE_RSRC_NUM_NODES asks for %d to %d nodes: the first number is at least 1, and not "
                   "the greater one",
                   (int)range->low, (int)range->high);
    if (range != NULL && (nodes < range->low || nodes > range->high))
        score_fail("the program runs on %d to %d nodes (SCORE_RSRC_NUM_NODES), not on %d", (int)range->low,
                   (int)range->high, nodes);
    if (each != NULL && each->low < 1)
        score_fail("SCORE_RSRC_NUM_PROCS asks for %d nodes on each host; it is at least 1", (int)each->low);
    for (int host = 0; each != NULL && host < hosts; host++)
        if (procs[host] != each->low)
            score_fail(
                "the program runs with %d nodes on each host (SCORE_RSRC_NUM_PROCS), and host %d has %d",
                (int)each->low, host, procs[host]);
    if (mixed && record_of(SCORE_RSRC_KIND_HETERO_NODES) == NULL)
        score_fail("the nodes are machines of different architecture, and the program does not say that it "
                   "can run so "
                   "(SCORE_RSRC_HETERO_NODES)");
}
