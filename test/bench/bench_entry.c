/* SPDX-License-Identifier: MIT */
/*
 * bench_entry.c -- what it takes a program without handlers that calls begin with a look for requests:
 *
 *     enl bench_entry [options]
 *
 * The root is built with the library as it is.  Its partner is the same program, built with a library that does not look
 * (BCRI_NO_ENTRY, of which only this benchmark knows).  Each works alone, while the other waits, on the same core.
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "bench_cells.h"

#define HEAP_AREA  1
#define HEAP_BYTES (1024 * 1024)

/* The partner's file is beside the root's. */
#define PARTNER_SUFFIX "_unchecked"

enum { CALLS_A_ROUND = 2 };

static void put_and_take(const struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    void **region = cells_new(turn->size_bytes, 0);
    for (long i = 0; i < turn->count; i++) {
        cells_check(bcr_enq(region, user->own, CELL_HAND, bcr_FREE) == 0, "bcr_enq");
        region = bcr_deq(user->own, CELL_HAND, 0);
        cells_check(region != NULL, "bcr_deq");
    }
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
    turn->op_count = CALLS_A_ROUND * turn->count;
}

static void checked(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side == 0)
        put_and_take(pair, turn);
}

static void unchecked(struct bench_pair *pair, struct bench_turn *turn)
{
    if (pair->side == 1)
        put_and_take(pair, turn);
}

static const struct bench_case cases[] = {
    {.name = "entry.floor", /* for the state of the machine */
     .unit = BENCH_NS,
     .subject = floor_two_lines,
     .floor = floor_two_lines,
     .floor_name = "two lines (F2)"},
    {.name = "entry.call", /* one of the two: a put or a take */
     .unit = BENCH_NS,
     .place = BENCH_ONE_CORE,
     .subject = checked,
     .floor = unchecked,
     .floor_name = "no look",
     .size_bytes = 8,
     .limit_kind = BENCH_MORE_AT_MOST,
     .limit = 2},
};

#define CASE_COUNT ((int)(sizeof cases / sizeof cases[0]))

static void prepare(void)
{
    cells_check(bcr_cagrow(HEAP_AREA, 0, 0, 0, 0, 0, HEAP_BYTES) == HEAP_AREA, "bcr_cagrow");
    cells_grow(CELL_HAND, 1, 0);
}

static void be_partner(struct bench_pair *pair)
{
    static struct cells_user user;
    cells_be_partner(pair, &user);
    prepare();
    cells_birthcry(bcr_enlistor, CELL_CRY);
    bench_pair_serve(pair);
}

static void be_root(struct bench_pair *pair, const struct bench_options *options)
{
    static char executable[PATH_MAX + sizeof PARTNER_SUFFIX];
    static struct cells_user user = {.executable = executable};
    struct bench_report report;

    if (readlink("/proc/self/exe", executable, PATH_MAX - 1) <= 0)
        bench_fail("cannot read /proc/self/exe");
    strcat(executable, PARTNER_SUFFIX);
    prepare();
    cells_grow(CELL_CRY, 1, 0);
    cells_enlist_partner(pair, options, &user);
    bench_report_begin(&report, options, "the look for requests, in a program without handlers");
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
    cells_check(bcr_init(bcr_inorder | bcr_user_ca, argv[0]) == 0, "bcr_init");
    if (bcr_cceord == 0)
        be_root(&pair, &options);
    else
        be_partner(&pair);
    return 0;
}
