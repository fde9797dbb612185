/* SPDX-License-Identifier: MIT */
/* Programs on Earl's own routines: the scenarios of earl_members.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 200 };

static struct run run;

/* On one host, and on three of this machine. */
static void runs(const char *count, const char *scenario, const char *number)
{
    run_folder();
    run_start(&run, run_enl(), "-n", count, getenv("EARL_MEMBERS"), scenario, number);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--local", "3", "--per-host", count, "--map", "cyclic", "-n", count,
              getenv("EARL_MEMBERS"), scenario, number);
    run_ends_well(&run, scenario);
}

TEST_TIMEOUT(all_send_first_and_each_gets_what_is_its_own_in_order, LIMIT)
{
    runs("1", "all_first", "60");
    runs("4", "all_first", "60");
    runs("7", "long_first", "18");
}

TEST_TIMEOUT(sixteen_send_first_into_inboxes_of_four_with_little_memory, LIMIT)
{
    setenv("EARL_INBOX", "4", 1);
    setenv("EARL_MEMORY", "4000000", 1);
    runs("16", "all_first", "24");
    runs("4", "flood", "2000");
    unsetenv("EARL_MEMORY");
    unsetenv("EARL_INBOX");
}

TEST_TIMEOUT(long_messages_that_come_as_buffers_go_on_with_least_memory, LIMIT)
{
    setenv("EARL_MEMORY", "0", 1);
    runs("2", "raw_as_buffers", "4");
    runs("4", "raw_as_buffers", "3");
    unsetenv("EARL_MEMORY");
}

TEST_TIMEOUT(one_that_computes_is_flooded, LIMIT)
{
    runs("5", "flood", "3000");
}

TEST_TIMEOUT(long_sends_wait_for_their_receive_and_hold_up_nothing, LIMIT)
{
    runs("3", "long_isends", "1");
    setenv("EARL_INBOX", "4", 1);
    setenv("EARL_MEMORY", "0", 1);
    runs("3", "long_isends", "1");
    runs("2", "synchronous", "3000000");
    unsetenv("EARL_MEMORY");
    unsetenv("EARL_INBOX");
}

TEST_TIMEOUT(what_is_received_goes_on_whatever_fills_the_memory, LIMIT)
{
    runs("2", "memory_is_full", "250");
    setenv("EARL_MEMORY", "0", 1);
    runs("2", "last_isend_first", "1");
    runs("2", "memory_is_kept", "1");
    runs("2", "isend_then_send", "8000000");
    setenv("EARL_INBOX", "1", 1);
    runs("2", "isend_then_send", "1000000");
    runs("3", "parts_that_wait", "100");
    unsetenv("EARL_INBOX");
    unsetenv("EARL_MEMORY");
}

/* The same, but one that stands still ends. */
static void goes_on(const char *count, const char *scenario, const char *number)
{
    run_folder();
    run_start(&run, run_enl(), "--ondeadlock", "hup", "-n", count, getenv("EARL_MEMBERS"), scenario, number);
    run_ends_well(&run, scenario);
    run_start(&run, run_enl(), "--ondeadlock", "hup", "--local", "2", "--per-host", count, "--map", "cyclic",
              "-n", count, getenv("EARL_MEMBERS"), scenario, number);
    run_ends_well(&run, scenario);
}

/* What fits in EARL_MEMORY there is little more than a part of a message. */
TEST_TIMEOUT(no_mix_of_messages_stands_still_for_want_of_memory, LIMIT)
{
    static const char *const memory[] = {"100000", "70000", "100000", "0"};
    const int seeds = (int)test_scale(16, 200);
    for (int seed = 1; seed <= seeds; seed++) {
        char number[12];
        snprintf(number, sizeof number, "%d", seed);
        setenv("EARL_MEMORY", memory[seed % 4], 1);
        goes_on("4", "any_order", number);
        setenv("EARL_INBOX", "1", 1);
        goes_on("2", "mix", number);
        goes_on("8", "mix", number);
        unsetenv("EARL_INBOX");
    }
    unsetenv("EARL_MEMORY");
}

TEST_TIMEOUT(a_send_that_is_received_goes_on_whatever_fills_the_memory, LIMIT)
{
    static const char *const lengths[] = {"8000", "20", "0"};
    setenv("EARL_MEMORY", "0", 1);
    for (int i = 0; i < 3; i++)
        goes_on("2", "last_send_first", lengths[i]);
    setenv("EARL_INBOX", "1", 1);
    goes_on("2", "last_send_first", lengths[0]);
    unsetenv("EARL_INBOX");
    unsetenv("EARL_MEMORY");
}

TEST_TIMEOUT(one_that_is_stopped_holds_up_no_sends_to_others, LIMIT)
{
    setenv("EARL_INBOX", "8", 1);
    runs("3", "stopped_receiver", "1");
    unsetenv("EARL_INBOX");
}

TEST_TIMEOUT(requests_are_tested_waited_for_and_cancelled, LIMIT)
{
    runs("3", "requests", "1");
}

TEST_TIMEOUT(a_synchronous_send_ends_with_its_receive, LIMIT)
{
    runs("2", "synchronous", "0");
    runs("2", "synchronous", "8");
    runs("2", "synchronous", "500000");
}

TEST_TIMEOUT(a_claimed_message_is_out_of_others_reach, LIMIT)
{
    runs("4", "claims", "0");
    runs("4", "claims", "700");
    runs("4", "claims", "20000");
    runs("4", "claims", "700000");
}

TEST_TIMEOUT(routines_interrupt_a_process_that_computes_unless_masked, LIMIT)
{
    runs("3", "handlers", "50");
}

TEST_TIMEOUT(routines_are_called_while_their_process_waits, LIMIT)
{
    runs("2", "called_in_waits", "1");
}

TEST_TIMEOUT(what_a_routine_has_sent_arrives_though_its_process_ends, LIMIT)
{
    runs("2", "ends_after_routine", "1");
}

TEST_TIMEOUT(a_routine_waits_for_what_its_own_packets_bring_about, LIMIT)
{
    runs("2", "waits_in_routine", "1");
    setenv("EARL_INBOX", "1", 1);
    runs("2", "waits_in_routine", "1");
    unsetenv("EARL_INBOX");
}

TEST_TIMEOUT(an_answer_that_comes_late_is_no_others, LIMIT)
{
    runs("2", "late_answers", "1");
}

/* Process 1 is killed in each state of a message, on the host of 0 and on another. */
TEST_TIMEOUT(one_that_is_killed_holds_up_nobody, LIMIT)
{
    enum { STATES = 8 };
    setenv("EARL_INBOX", "8", 1);
    for (int state = 0; state < STATES; state++) {
        char number[12];
        snprintf(number, sizeof number, "%d", state);
        run_folder();
        run_start(&run, run_enl(), "--onfail", "isolate", "-n", "2", getenv("EARL_MEMBERS"), "deaths",
                  number);
        run_ends_well(&run, number);
        run_start(&run, run_enl(), "--onfail", "isolate", "--local", "2", "--per-host", "1", "-n", "2",
                  getenv("EARL_MEMBERS"), "deaths", number);
        run_ends_well(&run, number);
    }
    unsetenv("EARL_INBOX");
}

TEST_TIMEOUT(an_end_is_told_of_after_all_that_was_sent, LIMIT)
{
    runs("3", "ends", "1");
}

TEST_TIMEOUT(a_deadlock_is_told_in_the_interfaces_words, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "--ondeadlock", "hup", "-n", "3", getenv("EARL_MEMBERS"), "stuck");
    run_end(&run);
    CHECK(run.status != 0);
    if (strstr(run.error, "earl_members: receive, type 5, node 1") == NULL ||
        strstr(run.error, "earl_members: receive, type 5, node 2") == NULL ||
        strstr(run.error, "earl_members: barrier, node 0") == NULL)
        FAIL("%s", run.error);
}

TEST_TIMEOUT(groups_combine_in_the_order_of_places, LIMIT)
{
    runs("1", "groups", "5");
    runs("5", "groups", "20");
    runs("19", "groups", "5");
}

TEST_TIMEOUT(typed_items_come_as_they_were_packed, LIMIT)
{
    runs("1", "buffers", "3");
    runs("5", "buffers", "10");
    setenv("EARL_INBOX", "4", 1);
    runs("4", "buffers", "8");
    unsetenv("EARL_INBOX");
}

TEST_TIMEOUT(buffers_are_items_of_others_and_are_passed_on, LIMIT)
{
    runs("1", "splices", "1");
    runs("4", "splices", "1");
}

TEST_TIMEOUT(a_wait_for_several_ends_with_the_first_or_its_time, LIMIT)
{
    runs("1", "awaits", "1");
    runs("3", "awaits", "1");
}

TEST_TIMEOUT(bad_input_is_refused, LIMIT)
{
    runs("1", "errors", "1");
    runs("2", "errors", "1");
}

TEST_TIMEOUT(two_hundred_processes_each_talk_to_sixteen, LIMIT)
{
    char count[16];
    snprintf(count, sizeof count, "%d", (int)test_scale(200, 1000));
    run_folder();
    run_start(&run, run_enl(), "-n", count, getenv("EARL_MEMBERS"), "many", "1");
    run_ends_well(&run, "many");
}

TEST(a_variable_that_is_no_number_ends_the_program_with_a_sentence)
{
    run_folder();
    setenv("EARL_MEMORY", "much", 1);
    run_start(&run, run_enl(), "-n", "1", getenv("EARL_MEMBERS"), "errors");
    run_end(&run);
    unsetenv("EARL_MEMORY");
    CHECK_INT(run.status, 1);
    CHECK(strstr(run.error, "EARL_MEMORY is \"much\", not a number from 0 to ") != NULL);
}
