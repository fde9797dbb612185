/* SPDX-License-Identifier: MIT */
/*
 * thrup -- the putter: fills regions and puts them into the taker's cell without waiting for any answer.
 *
 * What keeps it from running away is the bound of the taker's cells: a put waits while they are full.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include "thru.h"
#include <time.h>

static const char USAGE[] = "thrup is started by thrut; run that: thrut [host [count [bytes]]]\n";

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fill(bcr_region region, int number, int bytes)
{
    word *words = *region;
    for (size_t i = 0; i < (size_t)bytes / sizeof *words; i++)
        words[i] = thru_word(number, i);
}

/* On its way to another host a region stays in this CCE's comm heap until it has arrived. */
static bcr_region new_region(int bytes)
{
    bcr_region region = bcr_rgalloc(bytes, 0);
    if (region != NULL || bcr_errno != bcrE_NBYTES)
        return must_have(region, "allocate a region");
    must(bcr_putdone(bcr_BLOCK), "wait until its regions have arrived");
    return must_have(bcr_rgalloc(bytes, 0), "allocate a region");
}

/* A put to another host returns before it has reached the cell. If it fails, an error region comes. */
static void look_for_errors(void)
{
    bcr_region error = bcr_get(1, bcr_cce, 0, 0);
    if (error != NULL)
        must_end("put a region", bcr_strerror(bcr_rgerror(error)));
    must_hold(bcr_errno == bcrE_TIMEOUT, "a cell without regions says so");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 0, USAGE);
    must_init(bcr_user_ca | bcr_inorder | bcr_errors, argv[0]);
    if (bcr_enlistor < 0) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }

    struct order order;
    bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its order");
    must_copy(bcr_copyfm(ORDER, 1, birth, 0, &order, sizeof order), "read its order");
    must(bcr_rgfree(birth), "free its order");

    /* At most `window` regions are in the taker's cell, one is in its hands, one in ours, and one is the
     * report.  So within a host rgalloc never finds the comm heap full. */
    must(bcr_cagrow(1, 0, 0, 0, 0, order.window + 4, (order.window + 4) * (order.bytes + 64)),
         "grow its comm heap");

    const double start_s = now_s();
    for (int number = 0; number < order.count; number++) {
        bcr_region region = new_region(order.bytes);
        fill(region, number, order.bytes);
        must(bcr_enq(region, bcr_enlistor, STREAM, bcr_FREE), "put a region");
        look_for_errors();
    }
    const double taken_s = now_s() - start_s;

    bcr_region report = new_region(ORDER_BYTES);
    must_copy(bcr_copyto(SECONDS, 1, report, 0, &taken_s, sizeof taken_s), "write its report");
    must(bcr_enq(report, bcr_enlistor, REPORT, bcr_FREE), "put its report");
    must(bcr_putdone(bcr_BLOCK), "wait until all has arrived");
    look_for_errors();
    return EXIT_SUCCESS;
}
