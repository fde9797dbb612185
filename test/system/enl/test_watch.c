/* SPDX-License-Identifier: MIT */
/* bcr_watch: the scenarios of sys_watch.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

/* What is wrong the program has said. CCEs that end badly are reported, and harm nobody. */
static void runs(const char *scenario, const char *hosts, const char *one, const char *other)
{
    const char *program = getenv("SYS_WATCH");
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", hosts, program, scenario, one, other);
    run_ends_well(&run, scenario);
    CHECK(strstr(run.text, "is as it should be") != NULL);
}

static const char *const scenarios[] = {"ends",     "order",    "full",    "given_up", "handler",
                                        "thousand", "never_up", "refused", "again",    "nobody"};

TEST(an_end_is_told_once_behind_all_puts_beyond_the_bound_on_this_host)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        runs(scenarios[i], "1", NULL, NULL);
}

TEST(an_end_is_told_once_behind_all_puts_beyond_the_bound_from_another_host)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        runs(scenarios[i], "1", "local1", NULL);
}

TEST(of_many_cces_that_end_in_any_way_each_is_told_once)
{
    runs("crowd", "1", NULL, NULL);
    runs("crowd", "2", "local1", "local2");
}

TEST(the_end_of_a_host_is_that_of_its_cces)
{
    runs("lost", "1", "local1", NULL);
}

TEST(the_end_of_each_cce_that_one_starts_is_told_once_and_last)
{
    runs("started", "1", NULL, NULL);
    runs("started", "1", "local1", NULL);
    runs("started", "2", "local1", "local2");
    runs("started_order", "1", NULL, NULL);
    runs("started_order", "1", "local1", NULL);
}

TEST(a_lost_host_s_cces_are_told_of_to_their_starter_also_those_that_nobody_has_heard_of)
{
    runs("started_lost", "1", "local1", NULL);
}

TEST(cces_watch_each_other_without_the_root)
{
    runs("between", "1", NULL, NULL);
    runs("between", "1", "local1", NULL);
    runs("between", "2", "local1", "local2");
}
