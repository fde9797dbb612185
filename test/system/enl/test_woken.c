/* SPDX-License-Identifier: MIT */
/* A putter that wakes a CCE in its poll again and again needs no daemon for it: sys_woken.c. */
#include <stdlib.h>

#include "check.h"
#include "run.h"

static struct run run;

static void is_woken_by(const char *descriptor)
{
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_WOKEN"), descriptor);
    run_end(&run);
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
}

TEST(a_stopped_daemon_holds_up_nobody_who_waits_by_the_descriptor_of_a_cell)
{
    is_woken_by("cell");
}

TEST(a_stopped_daemon_holds_up_nobody_who_waits_by_its_own_descriptor)
{
    is_woken_by("own");
}

TEST(a_putter_that_wants_a_copy_of_a_descriptor_holds_the_cell_no_longer_than_others)
{
    is_woken_by("get");
}
