/* SPDX-License-Identifier: MIT */
/*
 * cells_stream.c -- regions from side 0 to side 1 through one cell of side 1, as fast as they go.  Each is
 * allocated by one and freed by the other; there is no batching anywhere. */
#include "bench_cells.h"

void cells_stream_items(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    uint64_t sum = 0;

    if (pair->side == 0) {
        for (long i = 0; i < turn->count; i++) {
            bcr_region region = cells_new(turn->size_bytes, (uint64_t)i);
            cells_check(bcr_enq(region, user->other, CELL_ITEMS, bcr_FREE) == 0, "bcr_enq");
        }
        turn->op_count = turn->count;
    } else {
        for (long i = 0; i < turn->count; i++) {
            bcr_region region = bcr_deq(user->own, CELL_ITEMS, bcr_BLOCK);
            cells_check(region != NULL, "bcr_deq");
            sum += *(const uint64_t *)*region;
            cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
        }
        if (sum != (uint64_t)turn->count * (uint64_t)(turn->count - 1) / 2)
            bench_fail("the stream lost or changed a region");
    }
}

void cells_stream_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    long lead = floor_bulk_lead(turn->count);
    uint64_t sum = 0;

    if (pair->side == 0) {
        for (long i = 0; i < turn->count; i++) {
            bcr_region region = bcr_rgalloc((int)turn->size_bytes, 0);
            cells_check(region != NULL, "bcr_rgalloc");
            floor_bulk_write(*region, turn->size_bytes, (uint64_t)i);
            cells_check(bcr_enq(region, user->other, CELL_BULK, bcr_FREE) == 0, "bcr_enq");
            if (i + 1 == lead)
                bench_pair_align(pair);
        }
        turn->op_count = turn->count;
    } else {
        bench_pair_align(pair);
        for (long i = 0; i < turn->count; i++) {
            bcr_region region = bcr_deq(user->own, CELL_BULK, bcr_BLOCK);
            cells_check(region != NULL, "bcr_deq");
            sum += floor_bulk_read(*region, turn->size_bytes);
            cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
        }
        floor_consume(sum);
    }
}
