/* SPDX-License-Identifier: MIT */
/*
 * cells_handover.c -- one region from one CCE to the other, a new one each time: put, the other's
 * waiting get
 * returns, it reads, frees, allocates, writes, puts.  The first 8 bytes are written and read at every size.
 */
#include <sys/resource.h>

#include "bench_cells.h"

static void send_new(const struct cells_user *user, size_t size_bytes, uint64_t value)
{
    bcr_region region = cells_new(size_bytes, value);
    cells_check(bcr_enq(region, user->other, CELL_HAND, bcr_FREE) == 0, "bcr_enq");
}

static void receive(const struct cells_user *user, uint64_t expected)
{
    bcr_region region = bcr_deq(user->own, CELL_HAND, bcr_BLOCK);
    cells_check(region != NULL, "bcr_deq");
    if (*(const uint64_t *)*region != expected)
        bench_fail("hand-over %llu arrived as %llu", (unsigned long long)expected,
                   (unsigned long long)*(const uint64_t *)*region);
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
}

void cells_handover(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    uint64_t count = (uint64_t)turn->count;

    for (uint64_t i = 0; i < count; i++) {
        if (pair->side == 0)
            send_new(user, turn->size_bytes, i);
        receive(user, i);
        if (pair->side == 1)
            send_new(user, turn->size_bytes, i);
    }
    turn->op_count = turn->count;
}

static long wait_count, sleep_count;

static long voluntary_switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

void cells_handover_slept(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    long sleeps_before = voluntary_switches();
    int64_t total_ns = 0;

    for (long i = 0; i < turn->count; i++) {
        for (int step = 0; step < 2; step++) {
            if (step == pair->side) {
                bench_busy_ns(FLOOR_SLEEP_NS);
                bcr_region region = cells_new(turn->size_bytes, 0);
                *(int64_t *)*region = bench_now_ns();
                cells_check(bcr_enq(region, user->other, CELL_HAND, bcr_FREE) == 0, "bcr_enq");
            } else {
                bcr_region region = bcr_deq(user->own, CELL_HAND, bcr_BLOCK);
                cells_check(region != NULL, "bcr_deq");
                total_ns += bench_now_ns() - *(const int64_t *)*region;
                cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
            }
        }
    }
    turn->op_count = turn->count;
    turn->timed_ns = (double)total_ns;
    wait_count += turn->count;
    sleep_count += voluntary_switches() - sleeps_before;
}

void cells_slept(long *waits_out, long *sleeps_out)
{
    *waits_out = wait_count;
    *sleeps_out = sleep_count;
}
