/* SPDX-License-Identifier: MIT */
/*
 * cells_enlist.c -- starting CCEs: from bcr_enlist until every one has grown a comm area and said
 * who it is.
 *
 * The children then wait for a goodbye, so that none is ending while others still start; and the
 * next turn begins only when all are gone. */
#include <stdlib.h>

#include "bench_cells.h"

void cells_enlist(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    int64_t timed_ns = 0;
    int *child = calloc((size_t)floor_spawn_count, sizeof *child);

    if (child == NULL)
        bench_fail("no memory for %d CCE IDs", floor_spawn_count);
    for (long i = 0; pair->side == 0 && i < turn->count; i++) {
        int64_t start_ns = bench_now_ns();
        cells_check(bcr_enlist("", -floor_spawn_count, ORDINAL_CHILD, user->executable, NULL, bcr_FREE) == 0,
                    "bcr_enlist");
        for (int k = 0; k < floor_spawn_count; k++)
            child[k] = cells_hear_birthcry(CELL_CRY);
        timed_ns += bench_now_ns() - start_ns;

        for (int k = 0; k < floor_spawn_count; k++)
            cells_check(bcr_enq(cells_new(8, 0), child[k], CELL_BYE, bcr_FREE) == 0, "bcr_enq");
        for (int k = 0; k < floor_spawn_count; k++)
            cells_check(bcr_deq(child[k], CELL_END, bcr_BLOCK) == NULL && bcr_errno == bcrE_DEAD,
                        "waiting for a child's end");
        turn->op_count++;
    }
    turn->timed_ns = (double)timed_ns;
    free(child);
}

void cells_child(void)
{
    cells_grow(CELL_BYE, 1, 4096);
    cells_grow(CELL_END, 1, 0);
    cells_birthcry(bcr_enlistor, CELL_CRY);
    bcr_region bye = bcr_deq(bcr_cce, CELL_BYE, bcr_BLOCK);
    cells_check(bye != NULL, "bcr_deq");
    cells_check(bcr_rgfree(bye) == 0, "bcr_rgfree");
}
