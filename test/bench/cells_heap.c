/* SPDX-License-Identifier: MIT */
/*
 * cells_heap.c -- allocating and freeing regions: by one CCE, and freed by another one.
 */
#include "bench_cells.h"

void cells_heap_own_loop(void *size_bytes, long n)
{
    size_t length_bytes = *(const size_t *)size_bytes;
    for (long i = 0; i < n; i++)
        cells_check(bcr_rgfree(cells_new(length_bytes, 0)) == 0, "bcr_rgfree");
}

void cells_heap_own(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    cells_heap_own_loop(&turn->size_bytes, turn->count);
    turn->op_count = turn->count;
}

/* Side 0 allocates while side 1 waits, and the other way round for the freeing; the moving is not
 * timed. */
void cells_heap_foreign_batch(struct bench_pair *pair, struct bench_turn *turn)
{
    static bcr_region region[FLOOR_BATCH_COUNT];
    const struct cells_user *user = cells_user(pair);
    int64_t timed_ns = 0;

    for (long i = 0; i < turn->count; i++) {
        if (pair->side == 0) {
            int64_t start_ns = bench_now_ns();
            for (int k = 0; k < FLOOR_BATCH_COUNT; k++)
                region[k] = cells_new(turn->size_bytes, 0);
            timed_ns += bench_now_ns() - start_ns;
            for (int k = 0; k < FLOOR_BATCH_COUNT; k++)
                cells_check(bcr_enq(region[k], user->other, CELL_BATCH, bcr_FREE) == 0, "bcr_enq");
        } else {
            for (int k = 0; k < FLOOR_BATCH_COUNT; k++) {
                region[k] = bcr_deq(user->own, CELL_BATCH, bcr_BLOCK);
                cells_check(region[k] != NULL, "bcr_deq");
            }
            int64_t start_ns = bench_now_ns();
            for (int k = 0; k < FLOOR_BATCH_COUNT; k++)
                cells_check(bcr_rgfree(region[k]) == 0, "bcr_rgfree");
            timed_ns += bench_now_ns() - start_ns;
        }
        bench_pair_align(pair);
    }
    turn->op_count = pair->side == 0 ? turn->count * FLOOR_BATCH_COUNT : 0;
    turn->timed_ns = (double)timed_ns;
}
