/* SPDX-License-Identifier: MIT */
/*
 * bench_entry.c -- what it takes a program without handlers that calls begin with a look for
 * requests:
 *
 *     enl bench_entry [options]
 *
 * The root is built with the library as it is.  Its partner is the same program, built with a library that does not look
 * (BCRI_NO_ENTRY, of which only this benchmark knows).  Each works alone, while the other waits, on the same core.
 */
#include "bench_cells.h"

#define HEAP_AREA  1
#define HEAP_BYTES (1024 * 1024)

/* The partner's file is beside the root's. */
#define PARTNER_SUFFIX "_unchecked"

enum { CALLS_A_ROUND = 2 };

static void put_and_take(const struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    bcr_region region = cells_new(turn->size_bytes, 0);
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

static void prepare(struct bench_pair *pair)
{
    (void)pair;
    cells_check(bcr_cagrow(HEAP_AREA, 0, 0, 0, 0, 0, HEAP_BYTES) == HEAP_AREA, "bcr_cagrow");
    cells_grow(CELL_HAND, 1, 0);
}

int main(int argc, char **argv)
{
    struct bench_pair pair = {
        .cases = cases, .case_count = CASE_COUNT, .probe_idx = 0, .probe_is_floor = true};
    const struct cells_program program = {.title = "the look for requests, in a program without handlers",
                                          .partner_suffix = PARTNER_SUFFIX,
                                          .flags = bcr_inorder | bcr_user_ca,
                                          .prepare = prepare};
    return cells_main(argc, argv, &pair, &program);
}
