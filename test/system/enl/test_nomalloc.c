/* SPDX-License-Identifier: MIT */
/* No routine reaches malloc after bcr_init: sys_nomalloc.c does all of them with a malloc that ends the process. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *program(void)
{
    return getenv("SYS_NOMALLOC");
}

static void check_done(void)
{
    if (run.status != 0 || strstr(run.text, "done\n") == NULL)
        FAIL("status %d: %s%s", run.status, run.text, run.error);
}

TEST_TIMEOUT(no_routine_calls_malloc_after_bcr_init, 120)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", program(), "local2");
    run_end(&run);
    check_done();
}

TEST_TIMEOUT(no_routine_calls_malloc_in_a_program_that_has_forked_its_enl, 120)
{
    run_folder();
    run_start(&run, program());
    run_end(&run);
    check_done();
}
