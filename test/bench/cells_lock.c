/* SPDX-License-Identifier: MIT */
/*
 * cells_lock.c -- a cell as a lock: taken and released by its owner alone, and by both CCEs at
 * once. */
#include "bench_cells.h"

static inline void write_pair(const struct cells_user *user)
{
    bcr_region region = bcr_acqwl(user->root, CELL_LOCK, bcr_BLOCK);
    cells_check(region != NULL, "bcr_acqwl");
    cells_check(bcr_rlswl(region, user->root, CELL_LOCK) == 0, "bcr_rlswl");
}

void cells_lock_write_loop(void *user, long n)
{
    for (long i = 0; i < n; i++)
        write_pair(user);
}

void cells_lock_read_loop(void *argument, long n)
{
    const struct cells_user *user = argument;
    for (long i = 0; i < n; i++) {
        bcr_region region = bcr_acqrl(user->root, CELL_LOCK, bcr_BLOCK);
        cells_check(region != NULL, "bcr_acqrl");
        cells_check(bcr_rlsrl(region) == 0, "bcr_rlsrl");
    }
}

void cells_lock_write(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    cells_lock_write_loop(pair->user, turn->count);
    turn->op_count = turn->count;
}

void cells_lock_read(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    cells_lock_read_loop(pair->user, turn->count);
    turn->op_count = turn->count;
}

void cells_lock_contended(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *stop = &floor_area(pair)->stop;
    long done = 0;
    while (done < turn->count && atomic_load_explicit(&stop->value, memory_order_relaxed) == 0) {
        write_pair(pair->user);
        done++;
    }
    atomic_store_explicit(&stop->value, 1, memory_order_relaxed);
    turn->op_count = done;
}
