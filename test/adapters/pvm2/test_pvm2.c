/* SPDX-License-Identifier: MIT */
/* PVM 2.4: the scenarios of pvm2_master.c from the shell, on one host by enl, and on several. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 120 };

static struct run run;

/* Programs are found in PATH. */
static const char *master(void)
{
    static char path[4096];
    char file[1024];
    run_folder();
    snprintf(file, sizeof file, "%s", getenv("PVM2_MASTER"));
    if (path[0] == '\0') {
        const char *before = getenv("PATH");
        snprintf(path, sizeof path, "%s:%s", dirname(file), before == NULL ? "/bin" : before);
        setenv("PATH", path, 1);
    }
    return getenv("PVM2_MASTER");
}

static void runs(const char *scenario)
{
    run_start(&run, master(), scenario);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), master(), scenario);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--local", "3", master(), scenario);
    run_ends_well(&run, scenario);
}

TEST_TIMEOUT(values_of_all_kinds_come_as_they_were_put, LIMIT)
{
    runs("messages");
}

TEST_TIMEOUT(messages_are_chosen_by_type, LIMIT)
{
    runs("selections");
}

TEST_TIMEOUT(barriers_and_events_are_waited_for, LIMIT)
{
    runs("synchronizes");
}

TEST_TIMEOUT(a_barrier_tells_who_gives_another_number, LIMIT)
{
    runs("mismatch");
}

TEST_TIMEOUT(instances_end_leave_and_are_given_again, LIMIT)
{
    runs("ends");
}

TEST_TIMEOUT(the_place_of_one_that_has_left_and_lives_is_anothers, LIMIT)
{
    runs("places");
}

TEST_TIMEOUT(programs_are_started_on_named_hosts, LIMIT)
{
    runs("elsewhere");
}

TEST_TIMEOUT(bad_input_has_the_codes_of_the_manual, LIMIT)
{
    runs("errors");
}

TEST_TIMEOUT(components_of_a_team_find_each_other, LIMIT)
{
    run_start(&run, (master(), run_enl()), "-n", "3", master(), "pings", "ping", "3", ":", "-n", "3",
              master(), "pings", "pong", "3");
    run_ends_well(&run, "pings");
    run_start(&run, run_enl(), "--local", "3", "--per-host", "2", "-n", "3", master(), "pings", "ping", "3",
              ":", "-n", "3", master(), "pings", "pong", "3");
    run_ends_well(&run, "pings on three hosts");
}

static void sums(void)
{
    run_ends_well(&run, "pvm2_classic");
    CHECK_STR(run.text, "the sum is 499500, and status 5\n");
}

TEST_TIMEOUT(a_program_of_its_time_runs_without_the_header, LIMIT)
{
    (void)master();
    run_start(&run, getenv("PVM2_CLASSIC"));
    sums();
    run_start(&run, run_enl(), "--local", "3", getenv("PVM2_CLASSIC"));
    sums();
}
