/* SPDX-License-Identifier: MIT */
/* Host programs of NX: the scenarios of nx_host.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 120 };

static struct run run;

/* No program of the shell's is entered. */
static void runs(const char *scenario)
{
    run_folder();
    setenv("NX_PROGRAM", "nx-none", 1);
    run_start(&run, getenv("NX_HOST"), "host", scenario);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--local", "3", getenv("NX_HOST"), "host", scenario);
    run_ends_well(&run, scenario);
}

TEST_TIMEOUT(a_host_gets_a_cube_and_loads_its_nodes, LIMIT)
{
    runs("loads");
}

TEST_TIMEOUT(bad_input_has_the_errors_of_the_manual, LIMIT)
{
    runs("errors");
}

TEST(numbers_are_turned_if_the_cube_has_another_order)
{
    run_folder();
    run_start(&run, getenv("NX_HOST"), "host", "turns");
    run_ends_well(&run, "turns");
}

TEST_TIMEOUT(a_host_without_a_cube_loads_what_a_variable_says, LIMIT)
{
    char text[4100];
    snprintf(text, sizeof text, " 2  %s ", getenv("NX_HOST"));
    setenv("NX_LOAD", text, 1);
    runs("without_cube");
    setenv("NX_LOAD", "much", 1);
    run_start(&run, getenv("NX_HOST"), "host", "without_cube");
    run_end(&run);
    CHECK_INT(run.status, 1);
    CHECK(strstr(run.error, "NX_LOAD is \"much\", not a number of nodes and a program") != NULL);
    unsetenv("NX_LOAD");
    run_start(&run, getenv("NX_HOST"), "host", "without_cube");
    run_end(&run);
    CHECK_INT(run.status, 1);
    CHECK(strstr(run.error, "the host has no cube") != NULL);
}
