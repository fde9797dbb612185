/* SPDX-License-Identifier: MIT */
/* More memory segments than there are numbers: they come again. A program that uses all up at a
 * time is warned before, what fails says so, and the rest goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run;

TEST_TIMEOUT(numbers_of_segments_of_those_that_have_ended_serve_others, 300)
{
    run_folder();
    setenv("SYS_EACH", "500", 1); /* many more could meet a limit of descriptors */
    run_start(&run, run_enl(), getenv("SYS_SEGMENTS"), "134");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "cagrow 2 0\n");
    run_check_error(&run, "");
}

TEST_TIMEOUT(a_program_that_has_used_up_all_numbers_of_segments_is_told_and_goes_on, 300)
{
    const char *program = getenv("SYS_SEGMENTS");
    char want[64];
    run_folder();
    setenv("SYS_EACH", "500", 1);
    setenv("SYS_NEW", "1", 1);
    run_start(&run, run_enl(), program, "100");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "cagrow 2 0\n");
    run_check_error(&run, "");
    run_start(&run, run_enl(), program, "134");
    run_end(&run);
    CHECK_INT(run.status, 0);
    snprintf(want, sizeof want, "cagrow -1 %d\n", bcrE_NOMEM);
    CHECK_STR(run.text, want);
    CHECK_INT(run_count(run.error, "memory segments that a program can have are made"), 1);
    CHECK_INT(run_count(run.error, "all 65536 numbers of memory segments are used up"), 1);
}
