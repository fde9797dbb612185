/* SPDX-License-Identifier: MIT */
/* What LFC's debug library sees, and the optimized one does not. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

static void misuse(const char *members, const char *which)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", getenv(members), "misuse", which);
    run_end(&run);
}

TEST(a_block_that_was_written_beyond_its_end_is_seen_when_it_is_freed)
{
    misuse("LFC_MEMBERS_DEBUG", "16");
    CHECK_INT(run.status, 1);
    CHECK(strstr(run.error, "lfc_free: the block of 10 bytes at ") != NULL);
    CHECK(strstr(run.error, "was written beyond its end") != NULL);
    misuse("LFC_MEMBERS", "16");
    CHECK_INT(run.status, 0);
}

TEST(packets_that_are_left_over_are_counted_at_the_end)
{
    misuse("LFC_MEMBERS_DEBUG", "17");
    CHECK_INT(run.status, 0);
    CHECK(strstr(run.error, "lfc_exit: 1 packets were neither launched nor freed") != NULL);
    misuse("LFC_MEMBERS", "17");
    CHECK_STR(run.error, "");
}

TEST(what_the_optimized_library_does_the_other_does_too)
{
    static const char *const scenarios[] = {"all_to_all", "interrupts", "memory", "add", "groups"};
    run_folder();
    for (unsigned i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        run_start(&run, run_enl(), "-n", "3", getenv("LFC_MEMBERS_DEBUG"), scenarios[i], "51");
        run_end(&run);
        if (run.status != 0 || strstr(run.error, "neither launched") != NULL)
            FAIL("%s ends with status %d: %s", scenarios[i], run.status, run.error);
    }
}
