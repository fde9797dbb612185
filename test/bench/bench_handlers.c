/* SPDX-License-Identifier: MIT */
/*
 * bench_handlers.c -- what handlers take, each figure beside the same traffic without them:
 *
 *     enl bench_handlers [options]
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

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

static void be_partner(struct bench_pair *pair)
{
    static struct cells_user user;
    cells_be_partner(pair, &user);
    prepare(pair);
    cells_birthcry(bcr_enlistor, CELL_CRY);
    bench_pair_serve(pair);
}

static void be_root(struct bench_pair *pair, const struct bench_options *options)
{
    static char executable[PATH_MAX];
    static struct cells_user user = {.executable = executable};
    struct bench_report report;

    if (readlink("/proc/self/exe", executable, sizeof executable - 1) <= 0)
        bench_fail("cannot read /proc/self/exe");
    pair->side = 0;
    prepare(pair);
    cells_grow(CELL_CRY, 1, 0);
    cells_enlist_partner(pair, options, &user);
    bench_report_begin(&report, options, "handlers on one host, each figure beside the same without them");
    bench_pair_measure(pair, options, &report);
    bench_pair_end(pair);
    bench_report_end(&report);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_pair pair = {
        .cases = cases, .case_count = CASE_COUNT, .probe_idx = 0, .probe_is_floor = true};

    bench_options_parse(&options, argc, argv);
    if (options.list) {
        bench_pair_list(&pair, &options);
        return 0;
    }
    cells_check(bcr_init(bcr_inorder | bcr_user_ca | bcr_handlers, argv[0]) == 0, "bcr_init");
    if (bcr_cceord == 0)
        be_root(&pair, &options);
    else
        be_partner(&pair);
    return 0;
}
