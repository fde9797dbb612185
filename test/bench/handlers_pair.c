/* SPDX-License-Identifier: MIT */
/*
 * handlers_pair.c -- the traffic of cells_handover.c with a handler in place of the get that waits.  The main
 * programs wait in a get at another cell meanwhile, spinning. */
#include "handlers.h"

#define SETTLE_NS 1000 /* until the other side waits again */

/* Of the turn under way, for the handlers of this process. */
static struct {
    int side;
    const struct cells_user *user;
    uint64_t next, count;
    size_t size_bytes;
    int64_t total_ns;
} turn_now;

static void begin(const struct bench_pair *pair, const struct bench_turn *turn)
{
    turn_now.side = pair->side;
    turn_now.user = cells_user(pair);
    turn_now.next = 0;
    turn_now.count = (uint64_t)turn->count;
    turn_now.size_bytes = turn->size_bytes;
    turn_now.total_ns = 0;
}

static bcr_region take(int cell, int msec)
{
    bcr_region region = bcr_deq(turn_now.user->own, cell, msec);
    cells_check(region != NULL, "bcr_deq");
    return region;
}

static void drop(bcr_region region)
{
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
}

static void send(uint64_t value, bcr_cce_id cce, int cell)
{
    cells_check(bcr_enq(cells_new(turn_now.size_bytes, value), cce, cell, bcr_FREE) == 0, "bcr_enq");
}

static void wait_for_the_last(void)
{
    drop(take(CELL_STOP, bcr_BLOCK));
}

static void stop(void)
{
    send(0, turn_now.user->own, CELL_STOP);
}

/* --- ping-pong --- */

static void on_ball(int cell)
{
    bcr_region region = take(cell, 0);
    if (*(const uint64_t *)*region != turn_now.next)
        bench_fail("ball %llu arrived as %llu", (unsigned long long)turn_now.next,
                   (unsigned long long)*(const uint64_t *)*region);
    drop(region);
    turn_now.next++;
    if (turn_now.side == 1)
        send(turn_now.next - 1, turn_now.user->other, CELL_BALL);
    else if (turn_now.next < turn_now.count)
        send(turn_now.next, turn_now.user->other, CELL_BALL);
    if (turn_now.next == turn_now.count)
        stop();
}

void handlers_ball(struct bench_pair *pair, struct bench_turn *turn)
{
    begin(pair, turn);
    if (pair->side == 0)
        send(0, turn_now.user->other, CELL_BALL);
    wait_for_the_last();
    turn->op_count = turn->count;
}

/* --- one way, timed from the one process to the other --- */

static void ask(int cell)
{
    for (uint64_t i = 0; i < turn_now.count; i++) {
        bench_busy_ns(SETTLE_NS);
        bcr_region region = cells_new(turn_now.size_bytes, 0);
        *(int64_t *)*region = bench_now_ns();
        cells_check(bcr_enq(region, turn_now.user->other, cell, bcr_FREE) == 0, "bcr_enq");
        drop(take(CELL_HAND, bcr_BLOCK));
    }
}

static void answer(bcr_region region, int64_t seen_ns)
{
    turn_now.total_ns += seen_ns - *(const int64_t *)*region;
    drop(region);
    send(0, turn_now.user->other, CELL_HAND);
}

static void on_ask(int cell)
{
    int64_t seen_ns = bench_now_ns();
    answer(take(cell, 0), seen_ns);
    if (++turn_now.next == turn_now.count)
        stop();
}

void handlers_request(struct bench_pair *pair, struct bench_turn *turn)
{
    begin(pair, turn);
    if (pair->side == 0)
        ask(CELL_ASK);
    else
        wait_for_the_last();
    turn->op_count = pair->side == 1 ? turn->count : 0;
    turn->timed_ns = (double)turn_now.total_ns;
}

void handlers_plain(struct bench_pair *pair, struct bench_turn *turn)
{
    begin(pair, turn);
    if (pair->side == 0)
        ask(CELL_HAND);
    else
        for (long i = 0; i < turn->count; i++) {
            bcr_region region = take(CELL_HAND, bcr_BLOCK);
            int64_t seen_ns = bench_now_ns();
            answer(region, seen_ns);
        }
    turn->op_count = pair->side == 1 ? turn->count : 0;
    turn->timed_ns = (double)turn_now.total_ns;
}

void handlers_pair_prepare(struct bench_pair *pair)
{
    cells_grow(CELL_HAND, 64, 0);
    cells_grow(CELL_BALL, 64, 0);
    cells_grow(CELL_ASK, 64, 0);
    cells_grow(CELL_STOP, 4, 0);
    cells_check(bcr_handler(CELL_BALL, on_ball, 1, 0, 0) == 0, "bcr_handler");
    if (pair->side == 1)
        cells_check(bcr_handler(CELL_ASK, on_ask, 1, 0, 0) == 0, "bcr_handler");
}
