/* SPDX-License-Identifier: MIT */
/* PVM programs: the scenarios of pvm_members.c, on one host and on several, and programs in other languages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../members.h"
#include "check.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 200 };

const char members_variable[] = "PVM_MEMBERS";

TEST_TIMEOUT(tasks_and_hosts_are_known_to_all, LIMIT)
{
    runs_here("1", "machine", "1");
    runs_here("4", "machine", "1");
    runs_on_hosts("3", "machine", "3");
    run_start(&run, members(), "machine", "1"); /* from the shell: one task */
    ends_well("machine", "1");
}

/* As the first task of its own virtual machine, on one host and on three. Tasks that it kills are told of on stderr. */
static void runs_alone(const char *scenario)
{
    run_folder();
    run_start(&run, members(), scenario);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--local", "2", members(), scenario, "3");
    run_ends_well(&run, scenario);
}

TEST_TIMEOUT(tasks_spawn_others_where_they_want, LIMIT)
{
    runs_alone("spawns");
    runs_alone("places");
}

TEST_TIMEOUT(ends_of_tasks_are_told_once_for_each_request, LIMIT)
{
    runs_alone("notices");
}

TEST_TIMEOUT(hosts_are_added_and_taken_away_and_notices_tell_of_it, LIMIT)
{
    static const char rsh[] = "#!/bin/sh\nexit 255\n";
    char path[4096];
    run_write_file("rsh", rsh, sizeof rsh - 1, 0700);
    snprintf(path, sizeof path, "%s/rsh", run_folder());
    setenv("BCR_RSHPATH", path, 1);
    runs_alone("hosts");
    unsetenv("BCR_RSHPATH");
}

TEST_TIMEOUT(a_host_that_is_lost_is_told_of_and_replaced, LIMIT)
{
    runs_alone("loses");
}

TEST_TIMEOUT(what_tasks_print_is_caught_and_an_exit_waits_for_it, LIMIT)
{
    runs_alone("catches");
    runs_alone("catches_meanwhile");
}

TEST_TIMEOUT(mailboxes_keep_messages_and_numbers, LIMIT)
{
    runs_here("1", "mailboxes", "0");
    runs("3", "mailboxes", "0");
    runs("3", "waits_for_mail", "0");
    runs_here("1", "numbers", "0");
    runs_here("3", "numbers", "0");
}

TEST_TIMEOUT(groups_have_members_and_barriers, LIMIT)
{
    runs_here("1", "groups", "0");
    runs("4", "groups", "0");
    runs("4", "frozen", "0");
}

TEST_TIMEOUT(items_of_all_members_are_combined_and_collected, LIMIT)
{
    static const char *const counts[] = {"1", "2", "5"};
    for (int i = 0; i < 3; i++)
        runs_here(counts[i], "collections", "0");
    runs_on_hosts("3", "collections", "0");
}

TEST_TIMEOUT(a_task_halts_the_virtual_machine, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "3", members(), "halts");
    run_end(&run);
    CHECK_STR(run.text, "still here\n");
}

TEST_TIMEOUT(names_of_variables_are_exported, LIMIT)
{
    runs_here("1", "exported", "0");
}

TEST_TIMEOUT(a_task_leaves_and_its_messages_come, LIMIT)
{
    runs_here("1", "leaving", "0");
    runs("3", "leaving", "0");
}

TEST_TIMEOUT(items_of_each_type_come_as_they_were_packed, LIMIT)
{
    runs_here("1", "types", "0");
    runs("3", "types", "0");
}

TEST_TIMEOUT(items_in_place_are_copied_when_they_are_sent, LIMIT)
{
    runs_here("1", "in_place", "0");
    runs("2", "in_place", "0");
}

TEST_TIMEOUT(strings_and_formats, LIMIT)
{
    runs("2", "texts", "0");
    runs("2", "formats", "0");
}

TEST_TIMEOUT(messages_of_each_length_come_whole_from_each_task_to_each, LIMIT)
{
    runs_here("1", "lengths", "0");
    runs("3", "lengths", "0");
}

TEST_TIMEOUT(tids_and_tags_choose_in_the_order_of_sending, LIMIT)
{
    runs_here("1", "order", "0");
    runs("4", "order", "0");
}

TEST_TIMEOUT(a_receive_waits_for_a_time, LIMIT)
{
    runs_here("1", "timed", "0");
    runs("3", "timed", "0");
}

TEST_TIMEOUT(to_several_and_without_buffers, LIMIT)
{
    runs_here("1", "casts", "0");
    runs("4", "casts", "0");
    runs_here("1", "direct", "0");
    runs("2", "direct", "0");
}

TEST_TIMEOUT(buffers_are_active_saved_and_freed, LIMIT)
{
    runs_here("1", "buffers", "0");
    static const char *const numbers[] = {"62", "63", "64", "65", "1000"}; /* where the table grows */
    for (int i = 0; i < 5; i++)
        runs_here("1", "many_buffers", numbers[i]);
    runs_here("1", "infos", "0");
}

TEST_TIMEOUT(messages_are_passed_on_and_packed_into_others, LIMIT)
{
    for (int encoding = 0; encoding < 2; encoding++) {
        const char *number = encoding == 0 ? "0" : "1";
        runs_here("1", "forwards", number);
        runs("4", "forwards", number);
    }
    runs_here("1", "nested", "0");
}

TEST_TIMEOUT(all_may_send_before_they_receive, LIMIT)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)test_scale(20, 100));
    runs_here("16", "all_send_first", number);
    runs("4", "all_send_first", number);
    snprintf(number, sizeof number, "%d", (int)test_scale(5000, 100000));
    runs("3", "flood", number);
}

TEST_TIMEOUT(a_task_that_waits_for_a_message_holds_none, LIMIT)
{
    setenv("EARL_MEMORY", "0", 1);
    runs("2", "long_one_by_one", "5");
    unsetenv("EARL_MEMORY");
}

TEST_TIMEOUT(what_goes_to_a_task_that_has_ended_vanishes, LIMIT)
{
    runs("3", "to_an_ended_task", "0");
}

TEST_TIMEOUT(a_routine_of_the_program_chooses_messages, LIMIT)
{
    runs_here("1", "chooses", "0");
    runs("3", "chooses", "0");
}

TEST_TIMEOUT(contexts_keep_messages_apart, LIMIT)
{
    runs_here("1", "contexts", "0");
    runs("3", "contexts", "0");
}

TEST_TIMEOUT(handlers_are_called_in_place_of_receives, LIMIT)
{
    runs_here("1", "handlers", "5");
    runs("3", "handlers", "50");
}

TEST_TIMEOUT(a_program_polls_for_messages, LIMIT)
{
    runs_here("1", "polls", "5");
    runs("3", "polls", "50");
}

TEST_TIMEOUT(options_have_their_values, LIMIT)
{
    runs_here("1", "options", "0");
    runs_here("1", "mistakes", "0");
}

static void tells(const char *number, int status, const char *wanted)
{
    run_folder();
    run_start(&run, members(), "told", number);
    run_end(&run);
    CHECK_INT(run.status, status);
    run_check_error(&run, wanted);
}

#define SAID "libpvm [t40001]: pvm_pkint(): No current buffer\n"

TEST_TIMEOUT(errors_are_said_as_the_option_wants, LIMIT)
{
    tells("1", 0,
          SAID
          "libpvm [t40001]: first: No current buffer\nBad parameter\nlibpvm [t40001]: pvm: Bad parameter\n");
    tells("2", 1, SAID);
    tells("3", 128 + 6, SAID);
}

TEST_TIMEOUT(a_program_of_that_time_runs, LIMIT)
{
    prints("1", run_of_environment("PVM_OLD"), NULL, NULL, "old 1: 0\n");
    prints("4", run_of_environment("PVM_OLD"), NULL, NULL, "old 4: 6\n");
}

TEST_TIMEOUT(a_program_in_cxx_runs, LIMIT)
{
    if (getenv("PVM_CXX") == NULL)
        return; /* no C++ compiler; CMake has said so */
    prints("3", run_of_environment("PVM_CXX"), NULL, NULL, "c++ 3: 3\n");
}

TEST_TIMEOUT(a_program_in_fortran_runs, LIMIT)
{
    if (getenv("PVM_FORTRAN") == NULL)
        return; /* no Fortran compiler; CMake has said so */
    prints("1", run_of_environment("PVM_FORTRAN"), NULL, NULL, "fortran  1: well\n");
    prints("4", run_of_environment("PVM_FORTRAN"), NULL, NULL, "fortran  4: well\n");
}
