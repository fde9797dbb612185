/* SPDX-License-Identifier: MIT */
/* A program that was built with another BCR than its enl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run;

static void refused(const char *what, const char *why)
{
    char want[64];
    snprintf(want, sizeof want, "refused %d: ", bcrE_ENLIST);
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_HELLO"), what);
    run_end(&run);
    CHECK(run.status != 0);
    if (strstr(run.text, want) == NULL || strstr(run.text, why) == NULL)
        FAIL("wanted \"%s\" and \"%s\", got \"%s\"", want, why, run.text);
    run_check_error(&run, "enl: CCE 0 (");
    run_check_error(&run, ") is refused: ");
    run_check_error(&run, why);
}

TEST(another_layout_of_shared_memory_is_refused_with_a_reason)
{
    refused("layout", "different builds of BCR");
}

TEST(another_archtype_is_refused_with_a_reason)
{
    refused("archtype", "another architecture");
}

TEST(the_own_layout_and_archtype_are_welcome)
{
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_HELLO"));
    run_end(&run);
    CHECK_STR(run.text, "welcome\n");
}
