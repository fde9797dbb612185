/* SPDX-License-Identifier: MIT */
/* What CCEs that have ended had serves those that follow, also where one that has it mapped was
 * stopped all the while. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "run.h"

/* The ends of some CCEs and the births of the next overlap, more or less; one a round would be too
 * many. */
enum { OVERLAP = 30, WARM = 30, STOPPED = 60, AFTER = 60 };

static struct run run;
static unsigned warm, stopped, after;

static void come_and_go(void)
{
    char words[3][16];
    snprintf(words[0], sizeof words[0], "%d", WARM);
    snprintf(words[1], sizeof words[1], "%d", STOPPED);
    snprintf(words[2], sizeof words[2], "%d", AFTER);
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_AGAIN"), words[0], words[1], words[2]);
    run_end(&run);
    run_check_error(&run, "");
    CHECK_INT(run.status, 0);
    CHECK_INT(sscanf(run.text, "%u %u %u", &warm, &stopped, &after), 3);
    printf("  %u numbers after %d rounds, %u after %d more, %u after %d more\n", warm, WARM, stopped, STOPPED,
           after, AFTER);
}

TEST_TIMEOUT(one_that_was_stopped_finds_what_has_come_where_others_were, 120)
{
    come_and_go();
    CHECK(stopped <= warm + OVERLAP);
    CHECK(after <= warm + OVERLAP);
}

TEST_TIMEOUT(while_one_is_stopped_within_an_operation_nothing_comes_again_and_then_all, 120)
{
    setenv("SYS_INSIDE", "1", 1);
    come_and_go();
    CHECK(stopped >= warm + STOPPED);
    CHECK(after <= stopped + OVERLAP);
}
