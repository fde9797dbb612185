/* SPDX-License-Identifier: MIT */
/* A program that enlists and ends CCEs for ever does not grow: neither its memory files nor its
 * daemon's descriptors, nor how many segments there are. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "../enl/run.h"
#include "check.h"

enum { SLACK_BYTES = 64 << 10, SLACK_FDS = 8, SLACK_NUMBERS = 8 };

static struct run run;

static void churn(const char *end)
{
    unsigned long long before, after;
    int fds_before, fds_after;
    unsigned numbers_before, numbers_after;
    int rounds = (int)test_scale(150, test_is_instrumented() ? 150 : 1000);
    char text[16];
    run_folder();
    setenv("CHURN_END", end, 1);
    snprintf(text, sizeof text, "%d", rounds);
    run_start(&run, run_enl(), "--onfail=isolate", getenv("CHURN_CCE"), text);
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_INT(sscanf(run.text, "%llu %d %u %llu %d %u", &before, &fds_before, &numbers_before, &after,
                     &fds_after, &numbers_after),
              6);
    printf("  up to round 20 %llu bytes, %d descriptors, %u numbers; up to %d: %llu, %d, %u\n", before,
           fds_before, numbers_before, rounds, after, fds_after, numbers_after);
    if (after > before + SLACK_BYTES)
        FAIL("memory files have grown from %llu to %llu bytes", before, after);
    if (fds_after > fds_before + SLACK_FDS)
        FAIL("descriptors have grown from %d to %d", fds_before, fds_after);
    if (numbers_after > numbers_before + SLACK_NUMBERS)
        FAIL("numbers of segments have grown from %u to %u", numbers_before, numbers_after);
}

TEST_TIMEOUT(cces_coming_and_going_leave_nothing, 120)
{
    churn("exit");
}

TEST_TIMEOUT(cces_that_are_killed_leave_nothing, 120)
{
    churn("kill");
}
