/* SPDX-License-Identifier: MIT */
/* One CCE that many watch is killed: each of them is told, here and across hosts (watchers_cce.c). Full size: a thousand. */
#include <stdio.h>
#include <stdlib.h>

#include "../enl/run.h"
#include "check.h"

enum { HOSTS = 4 };

static struct run run;

static void all_are_told(int hosts)
{
    char count[16], each[16], machines[16];
    const int members = (int)test_scale(40, 1000);
    snprintf(count, sizeof count, "%d", members);
    snprintf(each, sizeof each, "%d", (members + hosts - 1) / hosts);
    snprintf(machines, sizeof machines, "%d", hosts);
    run_folder();
    run_start(&run, run_enl(), "--local", machines, "--per-host", each, "-n", count, getenv("WATCHERS_CCE"));
    run_end(&run);
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
    run_check_error(&run, "was killed by signal 9"); /* which the program outlives */
}

TEST_TIMEOUT(many_watchers_on_one_host_are_all_told, 300)
{
    all_are_told(1);
}

TEST_TIMEOUT(many_watchers_on_several_hosts_are_all_told, 300)
{
    all_are_told(HOSTS);
}
