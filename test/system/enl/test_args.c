/* SPDX-License-Identifier: MIT */
/* Wrong arguments of the routines that need enl: each shows its code, and nothing has changed. What
 * they are stands in sys_args.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run;

TEST_TIMEOUT(each_wrong_argument_of_init_enlist_and_arch_shows_its_code_and_changes_nothing, 60)
{
    int calls = 0, wrong = -1;
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_ARGS"));
    run_end(&run);
    const char *last = strstr(run.text, " calls, ");
    while (last != NULL && last > run.text && last[-1] >= '0' && last[-1] <= '9')
        last--;
    if (last == NULL || sscanf(last, "%d calls, %d wrong", &calls, &wrong) != 2 || wrong != 0 ||
        run.status != 0)
        FAIL("status %d: %s%s", run.status, run.text, run.error);
    CHECK(calls > 60);
}

TEST(the_codes_of_enl_come_with_a_sentence_on_stderr)
{
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_ARGS"));
    run_end(&run);
    run_check_error(&run, "nowhere.invalid");
    run_check_error(&run, "machine 192.0.2.1 is not this one");
    run_check_error(&run, "there is no program /nonexistent/here");
    run_check_error(&run, "/nonexistent/program");
    run_check_error(&run, "/etc/passwd");
}
