/* SPDX-License-Identifier: MIT */
/* Handlers of real CCEs under a real enl. */
#include <stdlib.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run;

TEST_TIMEOUT(handlers_that_enlist_let_others_run_until_enl_has_answered, 60)
{
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_HANDLERS"));
    run_end(&run);
    if (run.status != 0)
        FAIL("status %d: %s%s", run.status, run.text, run.error);
    CHECK_STR(run.text, "12 have greeted\n");
}
