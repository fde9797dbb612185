/* SPDX-License-Identifier: MIT */
/*
 * bench_handlers.c -- what handlers take, each figure beside the same traffic without them:
 *
 *     enl bench_handlers [options]
 */
#include "handlers.h"

#define HEAP_AREA  1
#define HEAP_BYTES (1024 * 1024)

static const struct bench_case cases[] = {
    {.name = "handlers.handover", /* stands beside F2, as handover.8B of bench_cells */
     .unit = BENCH_NS,
     .subject = cells_handover,
     .floor = floor_two_lines,
     .floor_name = "two lines (F2)",
     .size_bytes = 8},
    {.name = "handlers.request",
     .unit = BENCH_NS,
     .subject = handlers_request,
     .floor = handlers_plain,
     .floor_name = "get that waits",
     .size_bytes = 8,
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 1.5},
    {.name = "handlers.pingpong",
     .unit = BENCH_NS,
     .subject = handlers_ball,
     .floor = cells_handover,
     .floor_name = "plain hand-over",
     .size_bytes = 8,
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 1.5},
    {.name = "handlers.ring",
     .unit = BENCH_M_PER_S,
     .subject = handlers_ring,
     .floor = handlers_no_ring,
     .floor_name = "put and take",
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_LEAST,
     .limit = 10},
    {.name = "handlers.ring.10",
     .unit = BENCH_M_PER_S,
     .subject = handlers_ring_10,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_LEAST,
     .limit = 10},
    {.name = "handlers.ring.100",
     .unit = BENCH_M_PER_S,
     .subject = handlers_ring_100,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_LEAST,
     .limit = 10},
    {.name = "handlers.ring.mixed",
     .unit = BENCH_M_PER_S,
     .subject = handlers_ring_mixed,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_LEAST,
     .limit = 10},
    {.name = "handlers.run", /* no floor */
     .unit = BENCH_NS,
     .subject = handlers_run,
     .size_bytes = 8,
     .limit_kind = BENCH_MORE_AT_MOST,
     .limit = 60},
    {.name = "handlers.put",
     .unit = BENCH_NS,
     .subject = handlers_put,
     .floor = handlers_no_put,
     .floor_name = "no handler",
     .size_bytes = 8},
    {.name = "handlers.demand",
     .unit = BENCH_NS,
     .subject = handlers_demand,
     .floor = handlers_no_demand,
     .floor_name = "no handler"},
};

#define CASE_COUNT ((int)(sizeof cases / sizeof cases[0]))

static void prepare(struct bench_pair *pair)
{
    cells_check(bcr_cagrow(HEAP_AREA, 0, 0, 0, 0, 0, HEAP_BYTES) == HEAP_AREA, "bcr_cagrow");
    handlers_pair_prepare(pair);
    if (pair->side == 0)
        handlers_alone_prepare();
}

int main(int argc, char **argv)
{
    struct bench_pair pair = {
        .cases = cases, .case_count = CASE_COUNT, .probe_idx = 0, .probe_is_floor = true};
    const struct cells_program program = {
        .title = "handlers on one host, each figure beside the same without them",
        .partner_suffix = "",
        .flags = bcr_inorder | bcr_user_ca | bcr_handlers,
        .prepare = prepare};
    return cells_main(argc, argv, &pair, &program);
}
