/* SPDX-License-Identifier: MIT */
/*
 * handlers_alone.c -- handlers in one CCE, whose requests come from itself.
 */
#include "handlers.h"

static long runs_left;

/* Which actor comes after which: the first ten in a circle, the first hundred, all, all in an order
 * without order. */
static int after_10[RING_ACTORS], after_100[RING_ACTORS], after[RING_ACTORS], after_mixed[RING_ACTORS];
static const int (*next_actor)[RING_ACTORS];

static void make_circle(int *next, int actors)
{
    for (int i = 0; i < actors; i++)
        next[i] = (i + 1) % actors;
}

static void mix(int *next)
{
    static int order[RING_ACTORS];
    uint32_t random = 1;
    for (int i = 0; i < RING_ACTORS; i++)
        order[i] = i;
    for (int i = RING_ACTORS - 1; i > 0; i--) {
        random = random * 1664525u + 1013904223u;
        int k = (int)((random >> 8) % (uint32_t)(i + 1)), at_k = order[k];
        order[k] = order[i];
        order[i] = at_k;
    }
    for (int i = 0; i < RING_ACTORS; i++)
        next[order[i]] = order[(i + 1) % RING_ACTORS];
}

static void on_ring(int cell)
{
    bcr_region region = bcr_deq(bcr_cce, cell, 0);
    cells_check(region != NULL, "bcr_deq");
    if (--runs_left == 0) {
        cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
        return;
    }
    cells_check(bcr_enq(region, bcr_cce, CELL_RING + (*next_actor)[cell - CELL_RING], bcr_FREE) == 0,
                "bcr_enq");
}

static void go_round(const struct bench_pair *pair, struct bench_turn *turn, const int (*order)[RING_ACTORS])
{
    if (pair->side != 0)
        return;
    next_actor = order;
    runs_left = turn->count;
    cells_check(bcr_enq(cells_new(turn->size_bytes, 0), bcr_cce, CELL_RING, bcr_FREE) == 0, "bcr_enq");
    cells_check(bcr_allow(0) == 0, "bcr_allow");
    if (runs_left != 0)
        bench_fail("the ring stopped with %ld runs left", runs_left);
    turn->op_count = turn->count;
}

void handlers_ring_10(struct bench_pair *pair, struct bench_turn *turn)
{
    go_round(pair, turn, &after_10);
}

void handlers_ring_100(struct bench_pair *pair, struct bench_turn *turn)
{
    go_round(pair, turn, &after_100);
}

void handlers_ring(struct bench_pair *pair, struct bench_turn *turn)
{
    go_round(pair, turn, &after);
}

void handlers_ring_mixed(struct bench_pair *pair, struct bench_turn *turn)
{
    go_round(pair, turn, &after_mixed);
}

void handlers_no_ring(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    bcr_region region = cells_new(turn->size_bytes, 0);
    for (long i = 0; i < turn->count; i++) {
        int cell = CELL_LINE + (int)(i % RING_ACTORS);
        cells_check(bcr_enq(region, bcr_cce, cell, bcr_FREE) == 0, "bcr_enq");
        region = bcr_deq(bcr_cce, cell, 0);
        cells_check(region != NULL, "bcr_deq");
    }
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
    turn->op_count = turn->count;
}

static void count_run(int cell)
{
    (void)cell;
    runs_left--;
}

static void check_runs(void)
{
    cells_check(bcr_allow(0) == 0, "bcr_allow"); /* the last one */
    if (runs_left != 0)
        bench_fail("%ld requests were lost", runs_left);
}

/* The same region again and again. If the cell has a handler, the take begins with it. */
static void put_and_take(int cell, size_t size_bytes, long count)
{
    bcr_region region = cells_new(size_bytes, 0);
    for (long i = 0; i < count; i++) {
        cells_check(bcr_enq(region, bcr_cce, cell, bcr_FREE) == 0, "bcr_enq");
        region = bcr_deq(bcr_cce, cell, 0);
        cells_check(region != NULL, "bcr_deq");
    }
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
}

/* Requests first, while the main program lets none in; then their runs, which alone are timed. */
void handlers_run(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    int64_t total_ns = 0;
    runs_left = RUNS_AT_A_TIME * turn->count;
    cells_check(bcr_priority(1, 1) == 0, "bcr_priority");
    for (long i = 0; i < turn->count; i++) {
        for (int k = 0; k < RUNS_AT_A_TIME; k++)
            cells_check(bcr_enq(cells_new(turn->size_bytes, 0), bcr_cce, CELL_WATCHED, bcr_FREE) == 0,
                        "bcr_enq");
        int64_t start_ns = bench_now_ns();
        cells_check(bcr_allow(0) == 0, "bcr_allow");
        total_ns += bench_now_ns() - start_ns;
        cells_check(bcr_zap(bcr_cce, CELL_WATCHED) == 0, "bcr_zap");
    }
    cells_check(bcr_priority(0, 0) == 0, "bcr_priority");
    check_runs();
    turn->op_count = RUNS_AT_A_TIME * turn->count;
    turn->timed_ns = (double)total_ns;
}

void handlers_put(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    runs_left = turn->count;
    put_and_take(CELL_WATCHED, turn->size_bytes, turn->count);
    check_runs();
    turn->op_count = turn->count;
}

void handlers_no_put(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    put_and_take(CELL_PLAIN, turn->size_bytes, turn->count);
    turn->op_count = turn->count;
}

static void find_nothing(int cell, long count)
{
    for (long i = 0; i < count; i++)
        if (bcr_read(bcr_cce, cell, 0) != NULL || bcr_errno != bcrE_TIMEOUT)
            bench_fail("cell %d was not empty", cell);
}

void handlers_demand(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    runs_left = turn->count;
    find_nothing(CELL_DEMAND, turn->count);
    check_runs();
    turn->op_count = turn->count;
}

void handlers_no_demand(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side != 0)
        return;
    find_nothing(CELL_PLAIN, turn->count);
    turn->op_count = turn->count;
}

static void grow_line(int cell)
{
    int base = bcr_cagrow(cell, 0, 0, 0, RING_ACTORS, RING_ACTORS, 0);
    if (base != cell)
        bench_fail("asked for cell %d, was given %d", cell, base);
}

void handlers_alone_prepare(void)
{
    cells_grow(CELL_PLAIN, 1, 0);
    cells_grow(CELL_WATCHED, RUNS_AT_A_TIME, 0);
    cells_grow(CELL_DEMAND, 1, 0);
    cells_check(bcr_handler(CELL_WATCHED, count_run, 1, 0, 0) == 0, "bcr_handler");
    cells_check(bcr_handler(CELL_DEMAND, count_run, 0, 0, 0) == 0, "bcr_handler");
    grow_line(CELL_RING);
    grow_line(CELL_LINE);
    make_circle(after_10, 10);
    make_circle(after_100, 100);
    make_circle(after, RING_ACTORS);
    mix(after_mixed);
    for (int i = 0; i < RING_ACTORS; i++)
        cells_check(bcr_handler(CELL_RING + i, on_ring, 1, 0, 0) == 0, "bcr_handler");
}
