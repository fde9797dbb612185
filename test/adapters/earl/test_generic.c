/* SPDX-License-Identifier: MIT */
/* Earl's own routines: the scenarios of generic_members.c in teams, and of generic_parts.c from the shell and by enl. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 120 };

static struct run run;

/* Programs that are loaded are found in PATH. */
static const char *members(void)
{
    static char path[4096];
    char file[1024];
    run_folder();
    snprintf(file, sizeof file, "%s", getenv("GENERIC_MEMBERS"));
    if (path[0] == '\0') {
        const char *before = getenv("PATH");
        snprintf(path, sizeof path, "%s:%s", dirname(file), before == NULL ? "/bin" : before);
        setenv("PATH", path, 1);
    }
    return getenv("GENERIC_MEMBERS");
}

/* On one host, and on two of this machine. */
static void runs(const char *scenario, const char *count)
{
    run_start(&run, (members(), run_enl()), "-n", count, members(), scenario);
    run_ends_well(&run, scenario);
    setenv("HOSTS", "2", 1);
    run_start(&run, run_enl(), "--local", "2", "--map", "cyclic", "--per-host", "3", "-n", count, members(),
              scenario);
    run_ends_well(&run, scenario);
    unsetenv("HOSTS");
}

static void runs_with_exec(const char *scenario)
{
    run_start(&run, members(), scenario);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--local", "3", members(), scenario);
    run_ends_well(&run, scenario);
}

TEST_TIMEOUT(messages_go_in_each_mode_to_one_and_to_all, LIMIT)
{
    runs("modes", "4");
}

TEST_TIMEOUT(requests_are_waited_for_looked_at_and_cancelled, LIMIT)
{
    runs("requests", "2");
}

TEST_TIMEOUT(probes_and_inquiries_tell_of_messages, LIMIT)
{
    runs("probes", "2");
}

TEST_TIMEOUT(what_is_built_is_taken_out_in_that_order, LIMIT)
{
    runs("built", "3");
}

TEST_TIMEOUT(a_team_is_told_of_and_begins_again, LIMIT)
{
    setenv("EARL_VERBOSE", "1", 1);
    runs("places", "5");
    unsetenv("EARL_VERBOSE");
    CHECK(strstr(run.error, "earl: process 0: led on\n") != NULL);
    CHECK(strstr(run.error, "earl: process 1: led off\n") != NULL);
    run_start(&run, run_enl(), "-n", "1", members(), "places");
    run_ends_well(&run, "places");
    CHECK(strstr(run.error, "led") == NULL);
}

TEST_TIMEOUT(numbers_are_turned_to_the_order_of_a_cube, LIMIT)
{
    run_start(&run, (members(), run_enl()), "-n", "1", members(), "orders");
    run_ends_well(&run, "orders");
}

TEST_TIMEOUT(a_team_has_no_exec_and_its_errors_are_those_of_the_manual, LIMIT)
{
    run_start(&run, (members(), run_enl()), "-n", "2", members(), "team_errors");
    run_ends_well(&run, "team_errors");
}

TEST_TIMEOUT(routines_without_a_result_say_why_they_fail, LIMIT)
{
    static const char *const routines[][2] = {
        {"msgwait", "Generic_msgwait: there is no such request"},
        {"msgcancel", "Generic_msgcancel: there is no such request"},
        {"flushmsg", "Generic_flushmsg: an argument is out of range"},
        {"readysig", "Generic_readysig: this process has not begun"},
        {"waitsignal", "Generic_waitsignal: an argument is out of range"},
        {"attachprocs", "Generic_attachprocs: this process has not begun"},
        {"relcube", "Generic_relcube: this process has not begun"},
        {"setpid", "Generic_setpid: an argument is out of range"},
        {"wait_one_cmplt", "Generic_wait_one_cmplt: this process has not begun"},
        {"wait_all_cmplt", "Generic_wait_all_cmplt: this process has not begun"},
        {"LEXEC", "Generic_attachprocs: this process has not begun"},
        {"LastCall", "Generic_LastCall: this process has not begun"},
        {"early", "Generic_clearbuf: this process has not begun"}};
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        run_start(&run, members(), "fails", routines[i][0]);
        run_end(&run);
        CHECK_INT(run.status, 1);
        run_check_error(&run, routines[i][1]);
    }
}

TEST_TIMEOUT(components_are_loaded_and_talked_to, LIMIT)
{
    runs_with_exec("parts");
}

TEST_TIMEOUT(instances_end_and_their_messages_with_them_if_wanted, LIMIT)
{
    runs_with_exec("ends");
}

TEST_TIMEOUT(a_host_loads_its_cube_and_waits_for_it, LIMIT)
{
    runs_with_exec("cubes");
}

TEST_TIMEOUT(errors_with_cubes_are_those_of_the_manual, LIMIT)
{
    runs_with_exec("cube_errors");
}

TEST_TIMEOUT(errors_with_exec_are_those_of_the_manual, LIMIT)
{
    runs_with_exec("part_errors");
}
