/* SPDX-License-Identifier: MIT */
/* Signal handlers that call BCR while the main program does, in real processes: sys_signals.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *program(void)
{
    return getenv("SYS_SIGNALS");
}

/* Each of the two workers says how often it was let in, and how often refused. */
static void check_done(void)
{
    int entered, refused;
    const char *at = run.error;
    if (run.status != 0 || strstr(run.text, "done\n") == NULL)
        FAIL("status %d: %s%s", run.status, run.text, run.error);
    for (int i = 0; i < 2; i++) {
        CHECK((at = strstr(at, "worker ")) != NULL);
        CHECK_INT(sscanf(at, "worker %*d: %d entered, %d refused", &entered, &refused), 2);
        CHECK(entered > 0);
        CHECK(refused > 0);
        at++;
    }
}

TEST_TIMEOUT(nothing_is_lost_and_who_comes_in_a_call_is_told_so, 120)
{
    run_folder();
    run_start(&run, run_enl(), program());
    run_end(&run);
    check_done();
}

TEST_TIMEOUT(so_it_is_with_handlers_of_cells, 120)
{
    run_folder();
    CHECK_INT(setenv("SYS_SIGNALS_HANDLERS", "1", 1), 0);
    run_start(&run, run_enl(), program());
    run_end(&run);
    check_done();
}

TEST_TIMEOUT(so_it_is_between_hosts, 120)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", program(), "local2");
    run_end(&run);
    check_done();
}
