/* SPDX-License-Identifier: MIT */
/*
 * timeout -- gets that nobody serves, and how long they took to give up.
 *
 * Being late is a matter of what else runs on the machine, so lateness is only shown; being early would be an
 * error, and is the only thing that fails here.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <time.h>

static const char USAGE[] = "usage: timeout [msec ...]     (0 1 2 5 10 20 50 100 200)\n"
                            "Waits for regions that never come; shows how late each wait ended.\n";

enum { CELL = 1 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A get that waits by itself. */
static double blocking_ms(int msec)
{
    const double start_ms = now_ms();
    bcr_region region = bcr_deq(bcr_cce, CELL, msec);
    const double taken_ms = now_ms() - start_ms;
    must_hold(region == NULL && bcr_errno == bcrE_TIMEOUT, "a get on an empty cell says bcrE_TIMEOUT");
    return taken_ms;
}

/* A get that returns at once, and a wait for what it asked for.  The last argument cancels the request when
 * the time is up, so the region ID is gone afterwards. */
static double pending_ms(int msec)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, CELL, bcr_PENDING), "ask for a region");
    const double start_ms = now_ms();
    const int came = must(bcr_rgwait(region, msec, 1), "wait for the region");
    const double taken_ms = now_ms() - start_ms;
    must_hold(came == 0, "no region comes to a cell into which nobody puts");
    return taken_ms;
}

int main(int argc, char **argv)
{
    static const int presets[] = {0, 1, 2, 5, 10, 20, 50, 100, 200};
    args_check(argc, argv, INT_MAX, USAGE);
    const int count = argc > 1 ? argc - 1 : (int)(sizeof presets / sizeof presets[0]);
    for (int i = 1; i < argc; i++)
        (void)args_number(argc, argv, i, "msec", 0, 0, 3600000); /* refuse nonsense before anything starts */

    must_init(bcr_timeout, argv[0]);
    must(bcr_cagrow(CELL, 1, 0, 0, 0, 1, 0), "grow a cell");

    printf("%10s %16s %16s\n", "msec", "get late by us", "rgwait late by us");
    bool early = false;
    for (int i = 0; i < count; i++) {
        const int msec = argc > 1 ? args_number(argc, argv, i + 1, "msec", 0, 0, 3600000) : presets[i];
        const double get_late_ms = blocking_ms(msec) - msec, wait_late_ms = pending_ms(msec) - msec;
        printf("%10d %16.1f %16.1f\n", msec, get_late_ms * 1e3, wait_late_ms * 1e3);
        early = early || get_late_ms < 0 || wait_late_ms < 0;
    }
    must_hold(!early, "no wait ends early");
    printf("timeout: %d waits, none ended early\n", 2 * count);
    return EXIT_SUCCESS;
}
