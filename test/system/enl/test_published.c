/* SPDX-License-Identifier: MIT */
/* bcr_publish, bcr_find: the scenarios of sys_published.c, on one host and on two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

/* What is wrong the program has said. At its end it has the program ended. */
static void runs(const char *scenario, const char *machine)
{
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "1", getenv("SYS_PUBLISHED"), scenario,
              machine);
    run_ends_well(&run, scenario);
    CHECK(strstr(run.text, "is as it should be") != NULL);
}

/* On this host, and with CCEs on another. */
static void runs_everywhere(const char *scenario)
{
    runs(scenario, NULL);
    runs(scenario, "local1");
}

TEST(a_name_leads_to_its_cell_at_once_or_when_it_is_published)
{
    runs_everywhere("found");
}

TEST(a_name_is_free_when_its_cce_has_ended)
{
    runs_everywhere("gone");
}

TEST(one_that_ends_while_it_looks_for_a_name_is_forgotten)
{
    runs_everywhere("seekers");
}

TEST(handlers_run_while_a_name_is_looked_for)
{
    runs_everywhere("handlers");
}

TEST(names_that_are_none_are_refused)
{
    runs_everywhere("refused");
}
