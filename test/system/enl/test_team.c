/* SPDX-License-Identifier: MIT */
/* Teams: enl -n and bcr_start_team, their gate, and bcr_teamsync; the scenarios of sys_team.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *program(void)
{
    return getenv("SYS_TEAM");
}

static void ends_well(const char *what)
{
    run_end(&run);
    CHECK(strstr(run.error, "deadlock") == NULL);
    if (run.status != 0)
        FAIL("%s ends with status %d: %s", what, run.status, run.error);
}

/* A scenario of the members of enl -n. */
static void runs(const char *scenario, const char *members, const char *hosts)
{
    run_folder();
    run_start(&run, run_enl(), "--local", hosts, "--per-host", members, "-n", members, "--map", "cyclic",
              program(), scenario);
    ends_well(scenario);
}

/* A scenario of a root that makes teams, on its machine and on two others. */
static void makes(const char *scenario)
{
    static const char *const places[][2] = {{"", ""}, {"", "local1"}, {"local1", "local2"}};
    for (int i = 0; i < 3; i++) {
        run_folder();
        run_start(&run, run_enl(), "--onfail", "isolate", "--local", "2", program(), scenario, places[i][0],
                  places[i][1]);
        ends_well(scenario);
        CHECK(strstr(run.text, "is as it should be") != NULL);
    }
}

TEST(members_know_each_other_and_find_each_others_cells)
{
    static const char *const counts[] = {"1", "2", "5", "16", "64"};
    for (int i = 0; i < 5; i++) {
        run_folder();
        run_start(&run, run_enl(), "-n", counts[i], program(), "whole");
        ends_well("whole");
        char last[64];
        snprintf(last, sizeof last, "%d of %s on host 0\n", atoi(counts[i]) - 1, counts[i]);
        CHECK(strstr(run.text, last) != NULL);
        runs("whole", counts[i], "3");
    }
}

TEST(members_are_placed_by_slots_by_blocks_or_one_by_one)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", "--per-host", "2", "-n", "5", program(), "whole");
    ends_well("whole");
    CHECK(strstr(run.text, "0 of 5 on host 0\n") != NULL && strstr(run.error, "member 0 runs here") == NULL);
    CHECK((strstr(run.text, "1 of 5 on host 1\n") != NULL) ==
          (strstr(run.text, "2 of 5 on host 1\n") != NULL));
    run_start(&run, run_enl(), "--local", "2", "-n", "3", program(), "whole");
    ends_well("whole");
    run_start(&run, run_enl(), "--local", "2", "-n", "4", program(), "whole");
    run_ends(&run, 2, "4 members are more than the 3 slots");
    run_start(&run, run_enl(), "--per-host", "2", "-n", "3", program(), "whole");
    run_ends(&run, 2, "3 members do not fit on this machine with --per-host 2");
}

TEST(command_lines_are_joined_to_one_team)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", program(), "whole", ":", "-n", "2", "--", program(), "whole", ":",
              "-n", "1", program(), "whole");
    ends_well("whole");
    CHECK(strstr(run.text, "3 of 4 on host 0\n") != NULL);
    run_start(&run, run_enl(), "-n1", program(), "whole", ":", "-n2", program(), "whole");
    ends_well("whole");
    CHECK(strstr(run.text, "2 of 3 on host 0\n") != NULL);
    run_start(&run, run_enl(), "-n", "1", program(), "whole", ":", program(), "whole");
    run_ends(&run, 2, "-n is needed behind each :");
    run_start(&run, run_enl(), "-n", "1", program(), "whole", ":");
    run_ends(&run, 2, "nothing comes behind :");
    run_start(&run, run_enl(), "-n", "1", ":", "-n", "1", program());
    run_ends(&run, 2, "before : there is none");
    run_start(&run, run_enl(), "-n", "1", program(), ":", "-n", "0", program());
    run_ends(&run, 2, "-n takes a number from 1 to 65000, not 0");
    run_start(&run, run_enl(), "-n", "1", program(), ":", "--name", "x", program());
    run_ends(&run, 2, "not --name");
    run_start(&run, run_enl(), "-n", "65000", program(), ":", "-n", "1", program());
    run_ends(&run, 2, "65001 members are more than the 65000");
}

TEST(any_program_may_be_a_member)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "3", "echo", "one");
    ends_well("echo");
    CHECK_STR(run.text, "one\none\none\n");
    run_start(&run, run_enl(), "--onfail", "isolate", "-n", "2", program(), "ended_before", ":", "-n", "1",
              "env", "SYS_TEAM_NONE=1", program(), "ended_before");
    ends_well("ended_before");
    run_start(&run, run_enl(), "-n", "2", program(), "ended_before", ":", "-n", "1", "false");
    run_ends(&run, 1, "exited with status 1 and never called bcr_init; that ends the program (onfail abort)");
    run_start(&run, run_enl(), "-n", "1", program(), "ended_before", ":", "-n", "1", "sh", "-c",
              "kill -9 $$");
    run_ends(&run, 137, "was killed by signal 9");
    run_start(&run, run_enl(), "--onfail", "isolate", "-n", "2", program(), "ended_before", ":", "-n", "1",
              "sh", "-c", "kill -9 $$");
    run_ends(&run, 0, "was killed by signal 9");
}

TEST(the_end_of_member_0_is_that_of_the_program_if_onfail_is_root)
{
    run_folder();
    run_start(&run, run_enl(), "--onfail", "root", "-n", "1", "true", ":", "-n", "1", "sleep", "1000");
    ends_well("true");
    run_start(&run, run_enl(), "--onfail", "root", "-n", "2", program(), "finish_all_but_one");
    run_end(&run);
    CHECK_INT(run.status, 5);
}

TEST(a_member_that_cannot_be_started_ends_the_program_with_a_sentence)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", program(), "whole", ":", "-n", "3", "/no/such/program");
    run_ends(&run, 126, "there is no program /no/such/program");
    run_start(&run, run_enl(), "--local", "1", "-n", "1", program(), "whole", ":", "-n", "1",
              "/no/such/program");
    run_ends(&run, 126, "there is no program /no/such/program");
    run_start(&run, run_enl(), "-n", "2", "/no/such/program");
    run_ends(&run, 127, "there is no program /no/such/program");
    /* What the kernel, and nobody before it, refuses to execute. */
    run_write_file("unknown", "unknown\n", 8, 0700);
    run_start(&run, run_enl(), "-n", "1", program(), "whole", ":", "-n", "2", "./unknown");
    run_ends(&run, 126, "it is neither a program nor a script");
    run_start(&run, run_enl(), "--local", "1", "-n", "1", program(), "whole", ":", "-n", "1", "./unknown");
    run_ends(&run, 126, "it is neither a program nor a script");
}

TEST(a_host_that_cannot_start_ends_the_program_with_one_sentence)
{
    static const char list[] = "h1 local enl=/no/such/enl\nh2 local\nh3 local\n";
    run_folder();
    run_write_file("hosts", list, strlen(list), 0600);
    run_start(&run, run_enl(), "--hosts", "hosts", "-n", "4", program(), "whole");
    run_ends(&run, 126, "was not started: host h1 cannot be used");
    const char *first = strstr(run.error, "was not started");
    CHECK(first != NULL && strstr(first + 1, "was not started") == NULL);
}

TEST(no_daemons_are_started_for_a_team_that_has_failed_already)
{
    char list[300] = "";
    run_folder();
    CHECK_INT(gethostname(list, 256), 0);
    strcat(list, " slots=2\n");
    run_write_file("hosts", list, strlen(list), 0600);
    run_start(&run, run_enl(), "--hosts", "hosts", "--local", "2", "--start-hosts", "all", "-n", "1",
              program(), "whole", ":", "-n", "1", "/no/such/program");
    run_ends(&run, 126, "there is no program /no/such/program");
}

TEST(who_is_missing_is_named)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "2", program(), "ended_before", ":", "-n", "2", "sleep", "12");
    run_ends(&run, 0, "the team of 4 waits for members 2, 3, which have not called bcr_init in 10 seconds");
}

TEST(a_call_whose_time_is_up_does_not_count_and_all_others_are_barriers)
{
    runs("rounds", "4", "1");
    runs("rounds", "5", "3");
}

TEST(a_pending_call_goes_on_and_the_descriptor_tells_of_its_end)
{
    runs("pending", "4", "1");
    runs("pending", "5", "3");
}

TEST(one_that_ends_behind_a_call_whose_time_is_up_has_not_arrived)
{
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--ondeadlock", "ignore", "--local", "1", "-n", "2",
              program(), "taken_back");
    ends_well("taken_back");
}

TEST(handlers_run_while_the_team_is_waited_for)
{
    runs("handlers", "3", "1");
    runs("handlers", "4", "3");
}

TEST(one_that_waits_for_its_team_is_seen_in_a_deadlock)
{
    static const char *const hosts[] = {"1", "3"};
    run_folder();
    for (int i = 0; i < 4; i++) {
        if (i / 2 == 0)
            unsetenv("SYS_TEAM_HANDLERS");
        else
            setenv("SYS_TEAM_HANDLERS", "1", 1);
        run_start(&run, run_enl(), "--ondeadlock", "hup", "--local", hosts[i % 2], "--per-host", "3", "-n",
                  "4", "--map", "cyclic", program(), "stuck");
        run_end(&run);
        CHECK(run.status != 0);
        CHECK(strstr(run.error, "deadlock: all 4 CCEs of the program wait") != NULL);
        CHECK(strstr(run.error, "waits for the rest of its team, which has not all called bcr_teamsync") !=
              NULL);
    }
    unsetenv("SYS_TEAM_HANDLERS");
}

TEST(of_a_round_all_that_live_are_told_the_same_whenever_one_is_killed)
{
    makes("deaths");
}

TEST(a_team_of_which_a_part_could_not_be_started_knows_that)
{
    makes("in_part");
}

TEST(a_program_may_have_several_teams)
{
    makes("two");
}

TEST(a_member_ends_its_team_with_a_status_and_nobody_else)
{
    makes("ended_teams");
    static const char *const hosts[] = {"1", "3"};
    static const char *const ways[] = {"finish", "finish_late"};
    for (int i = 0; i < 4; i++) {
        run_start(&run, run_enl(), "--local", hosts[i % 2], "--per-host", "2", "-n", "3", "--map", "cyclic",
                  program(), ways[i / 2]);
        run_end(&run);
        CHECK_INT(run.status, 5);
        CHECK(strstr(run.error, "killed") == NULL && strstr(run.error, "exited") == NULL);
    }
}

TEST(a_member_signals_its_team)
{
    runs("signalled", "4", "1");
    runs("signalled", "5", "3");
}

TEST(a_team_outlives_its_maker)
{
    makes("orphans");
}

TEST(the_end_of_a_host_is_that_of_its_members)
{
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "2", program(), "lost", "", "local1");
    ends_well("lost");
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "2", program(), "lost", "local2", "local1");
    ends_well("lost");
}

TEST(bad_input_is_told_by_a_code_and_changes_nothing)
{
    makes("bad_specs");
    runs("refused", "3", "1");
}
