/* SPDX-License-Identifier: MIT */
/* EXEC: the scenarios of earl_worlds.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 120 };

static struct run run;

/* As the root of its own program, on one host and on three of this machine. */
static void runs(const char *scenario)
{
    run_folder();
    run_start(&run, getenv("EARL_WORLDS"), scenario);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--local", "3", getenv("EARL_WORLDS"), scenario);
    run_ends_well(&run, scenario);
}

TEST_TIMEOUT(processes_start_others_which_find_each_other, LIMIT)
{
    runs("starts");
}

TEST_TIMEOUT(ends_are_told_with_their_statuses, LIMIT)
{
    runs("ends");
}

TEST_TIMEOUT(the_end_of_one_that_ended_long_ago_is_told_at_once, LIMIT)
{
    runs("watches_ended");
}

TEST_TIMEOUT(groups_have_places_and_barriers_wait_for_so_many, LIMIT)
{
    runs("groups");
}

TEST_TIMEOUT(boxes_keep_typed_items_by_name_and_index, LIMIT)
{
    runs("boxes");
}

TEST_TIMEOUT(programs_are_loaded_on_nodes_of_cubes, LIMIT)
{
    runs("cubes");
}

TEST_TIMEOUT(what_is_loaded_ends_with_its_loader_unless_the_cube_is_kept, LIMIT)
{
    runs("tied");
}

TEST_TIMEOUT(a_cube_stays_when_a_process_that_has_attached_ends, LIMIT)
{
    runs("attached");
}

TEST_TIMEOUT(what_guests_have_loaded_is_known_to_all, LIMIT)
{
    runs("guests");
}

TEST_TIMEOUT(what_is_loaded_ends_with_its_cube_whoever_loads_meanwhile, LIMIT)
{
    runs("dropped");
}

TEST_TIMEOUT(who_enters_when_exec_ends_gets_another, LIMIT)
{
    char name[32];
    snprintf(name, sizeof name, "world%d", (int)getpid());
    setenv("BCR_NAME", name, 1);
    setenv("WORLD_NAME", name, 1);
    run_folder();
    run_start(&run, getenv("EARL_WORLDS"), "holds");
    run_ends_well(&run, "holds");
    unsetenv("WORLD_NAME");
    unsetenv("BCR_NAME");
}

TEST_TIMEOUT(exec_ends_well_if_its_starter_has_ended, LIMIT)
{
    runs("leaves");
    CHECK(strstr(run.error, "earl-exec") == NULL);
}

TEST_TIMEOUT(exec_answers_others_while_a_process_is_stopped, LIMIT)
{
    runs("stopped");
}

TEST_TIMEOUT(bad_input_has_the_errors_of_the_manual, LIMIT)
{
    runs("bad_input");
}

TEST_TIMEOUT(hosts_are_added_taken_away_and_lost_and_that_is_told, LIMIT)
{
    runs("hosts_change");
}

TEST_TIMEOUT(what_processes_print_comes_to_another_until_its_end, LIMIT)
{
    runs("output");
}

TEST_TIMEOUT(members_of_a_team_are_on_the_hosts_that_were_given, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", "--per-host", "2", "--map", "cyclic", "-n", "4",
              getenv("EARL_WORLDS"), "placed");
    run_ends_well(&run, "placed");
}

TEST_TIMEOUT(a_team_has_one_exec, LIMIT)
{
    setenv("WORLD_SIZE", "12", 1);
    run_folder();
    run_start(&run, run_enl(), "--local", "3", "--per-host", "4", "-n", "12", getenv("EARL_WORLDS"), "team");
    run_ends_well(&run, "team");
    unsetenv("WORLD_SIZE");
}

TEST_TIMEOUT(who_asks_exec_when_it_has_ended_is_told, LIMIT)
{
    setenv("BCR_ONFAIL", "isolate", 1);
    run_folder();
    run_start(&run, getenv("EARL_WORLDS"), "exec_dies");
    run_ends_well(&run, "exec_dies");
    unsetenv("BCR_ONFAIL");
}

/* The end of EXEC is an abnormal one. */
TEST_TIMEOUT(the_end_of_exec_ends_the_program, LIMIT)
{
    run_folder();
    run_start(&run, getenv("EARL_WORLDS"), "exec_dies");
    run_end(&run);
    CHECK(run.status != 0);
    CHECK(strstr(run.error, "earl-exec") != NULL && strstr(run.error, "killed by signal 9") != NULL);
}

TEST(what_is_no_exec_is_told_of)
{
    char *own = strdup(getenv("EARL_EXEC"));
    CHECK(own != NULL);
    setenv("EARL_EXEC", "/bin/true", 1);
    run_folder();
    run_start(&run, getenv("EARL_WORLDS"), "starts");
    run_end(&run);
    CHECK_INT(run.status, 3);
    CHECK(strstr(run.error, "earl_exec_begin") != NULL);
    setenv("EARL_EXEC", own, 1);
    free(own);
}

TEST(exec_says_who_starts_it)
{
    run_folder();
    run_start(&run, getenv("EARL_EXEC"), "--help");
    run_end(&run);
    CHECK_INT(run.status, 2);
    CHECK(strstr(run.error, "usage: earl-exec") != NULL);
}
