/* SPDX-License-Identifier: MIT */
/* PM programs: the guide's, and the scenarios of pm_members.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *members(void)
{
    return getenv("PM_MEMBERS");
}

static void ends_well(const char *what, const char *where)
{
    run_end(&run);
    if (run.status != 0)
        FAIL("%s, %s, ends with status %d: %s", what, where, run.status, run.error);
}

static void runs_here(const char *count, const char *scenario, const char *number)
{
    run_folder();
    run_start(&run, run_enl(), "-n", count, members(), scenario, number);
    ends_well(scenario, count);
}

/* Two members on two hosts, and several on each of four. */
static void runs_there(const char *scenario, const char *number)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "1", "--per-host", "1", "-n", "2", members(), scenario, number);
    ends_well(scenario, "two hosts");
    run_start(&run, run_enl(), "--local", "3", "--per-host", "2", "--map", "cyclic", "-n", "7", members(),
              scenario, number);
    ends_well(scenario, "four hosts");
}

static void runs(const char *scenario, const char *small, const char *large)
{
    runs_here("2", scenario, large);
    runs_here("16", scenario, small);
    runs_there(scenario, small);
}

TEST(each_routine_has_each_of_its_codes)
{
    runs("codes", "0", "0");
}

TEST(each_thread_has_each_of_its_codes)
{
    runs("codes_of_thread", "1", "0");
}

TEST(a_member_alone_has_no_network_set)
{
    runs_here("1", "codes", "0");
    run_start(&run, members(), "codes", "0");
    ends_well("codes", "alone");
}

TEST(composites_are_made_of_members_that_were_attached)
{
    runs("composites", "0", "0");
    CHECK(strstr(run.text, "composite context of network set 0, node 3: 7 nodes\n") != NULL);
    CHECK(strstr(run.text, ": agent-udp, node ") != NULL);
}

TEST(messages_come_once_and_in_order_from_each_to_each)
{
    char small[16], large[16];
    snprintf(small, sizeof small, "%u", (unsigned)test_scale(80, 3000));
    snprintf(large, sizeof large, "%u", (unsigned)test_scale(1500, 100000));
    runs("traffic", small, large);
}

TEST(little_memory_makes_room_for_what_is_used)
{
    setenv("PM_MEMORY", "1", 1);
    runs("traffic", "201", "2000");
}

TEST(what_there_is_not_enough_of_has_a_code)
{
    run_folder();
    setenv("PM_MEMORY", "1", 1);
    runs_here("8", "limits", "0");
    setenv("PM_MEMORY", "1M", 1);
    setenv("PM_DEBUG", "1", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "threads", "1");
    ends_well("threads", "with a bad PM_MEMORY");
    CHECK(strstr(run.error, "Error: PM_MEMORY is a number of MiB from 1 to 65536, not \"1M\"") != NULL);
}

TEST(who_never_receives_gets_no_more_than_the_slots)
{
    runs("fill", "0", "0");
}

TEST_TIMEOUT(no_wake_up_is_lost, 600)
{
    char rounds[16];
    snprintf(rounds, sizeof rounds, "%u", (unsigned)test_scale(1500, 500000));
    runs_here("2", "blocking", rounds);
    runs_here("16", "blocking", "100");
    runs_there("blocking", "100");
}

TEST(locks_are_between_threads)
{
    runs("threads", "50", "3000");
}

TEST(memory_of_a_member_that_computes_is_written_and_read)
{
    runs("remote", "10", "200");
}

TEST(memory_of_a_member_that_is_stopped_is_written_and_read)
{
    runs_here("2", "stopped", "0");
    runs_here("16", "stopped", "0");
}

TEST(memory_that_is_gone_is_an_error_told_later)
{
    runs("unmapped", "0", "0");
}

TEST(no_message_overtakes_a_write)
{
    runs("order", "201", "5000");
    run_start(&run, run_enl(), "--local", "3", "--per-host", "1", "-n", "4", members(), "order_full", "1");
    ends_well("order_full", "four hosts");
}

TEST(handles_are_byte_palindromes_and_end_with_their_lock)
{
    runs("handles", "41", "600");
}

TEST(a_member_that_has_ended_holds_up_none)
{
    runs("ends", "0", "0");
}

/* It holds a message and has a send buffer, others have what it has sent, and their messages lie in its cell. */
TEST(a_member_that_is_killed_at_its_work_holds_up_none)
{
    static const char *const hosts[] = {"1", "3"};
    run_folder();
    setenv("BCR_ONFAIL", "isolate", 1);
    run_start(&run, run_enl(), "-n", "4", members(), "ends", "1");
    ends_well("ends", "killed on one host");
    for (int i = 0; i < 2; i++) {
        run_start(&run, run_enl(), "--local", hosts[i], "--per-host", "4", "--map", "cyclic", "-n", "4",
                  members(), "ends", "1");
        ends_well("ends", "killed on several hosts");
    }
}

TEST(a_failure_of_a_member_ends_the_program)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "2", members(), "traffic", "100000000", ":", "-n", "1", "sh", "-c",
              "sleep 1; exit 4");
    run_end(&run);
    CHECK_INT(run.status, 4);
}

/* As under Yama, or in a container that forbids one of the calls: the helper of each member serves. */
TEST(where_the_kernel_refuses_the_helper_copies)
{
    static const char *const calls[] = {"process_vm_writev", "process_vm_readv", "pidfd_open"};
    static const char *const scenarios[] = {"codes", "remote", "unmapped", "order", "handles", "ends"};
    if (test_is_instrumented())
        SKIP("a sanitizer's runtime needs these calls");
    run_folder();
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++) {
            run_start(&run, run_enl(), "-n", "3", getenv("SYS_FORBID"), calls[i], members(), scenarios[k],
                      "30");
            run_end(&run);
            if (run.status == 77)
                SKIP("a filter of system calls is not allowed here");
            if (run.status != 0)
                FAIL("%s without %s ends with status %d: %s", scenarios[k], calls[i], run.status, run.error);
        }
}

TEST(where_one_is_refused_and_the_others_have_no_helper_it_is_told)
{
    if (test_is_instrumented())
        SKIP("a sanitizer's runtime needs these calls");
    run_folder();
    run_start(&run, run_enl(), "-n", "1", getenv("SYS_FORBID"), "process_vm_writev", members(), "refused",
              ":", "-n", "2", members(), "refused");
    run_end(&run);
    if (run.status == 77)
        SKIP("a filter of system calls is not allowed here");
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
}

/* ---- the guide's programs ---- */

enum { BYTES = 300000 };
static char text[BYTES + 1], copy[BYTES + 2];

static void pipeline(const char *count, const char *hosts, const char *word)
{
    run_start(&run, "/bin/sh", "-c", "exec \"$0\" $1 -n $2 \"$3\" pipeline 0 $4 < in", run_enl(), hosts,
              count, members(), word);
    run_end(&run);
    if (run.status != 0)
        FAIL("the pipeline by %s, %s, ends with status %d: %s", word, hosts, run.status, run.error);
    for (int i = 0; i < atoi(count); i++) {
        char name[64];
        snprintf(name, sizeof name, "out.%d", i);
        CHECK_UINT(run_read_file(name, copy, sizeof copy), BYTES);
        CHECK_MEM(copy, text, BYTES);
    }
}

TEST_TIMEOUT(the_guides_pipeline_passes_a_file_by_each_way_and_each_receive, 120)
{
    static const char *const words[] = {"naive",          "spinwait",      "blocking",     "write,spinwait",
                                        "write,blocking", "read,spinwait", "read,blocking"};
    run_folder();
    for (int i = 0; i < BYTES; i++)
        text[i] = (char)(i * 7 + i / 1000);
    run_write_file("in", text, BYTES, 0600);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        pipeline("2", "", words[i]);
        pipeline("5", "", words[i]);
        pipeline("5", "--local 2 --per-host 2 --map cyclic", words[i]);
    }
}

/* ---- what it says ---- */

TEST(pm_debug_tells_errors_warnings_or_all)
{
    run_folder();
    for (int level = 0; level < 4; level++) {
        const char number[] = {(char)('0' + level), '\0'};
        setenv("PM_DEBUG", number, 1);
        run_start(&run, run_enl(), "--local", "1", "--per-host", "1", "-n", "2", members(), "debugging");
        ends_well("debugging", number);
        CHECK((strstr(run.error, "Error: pmExtractNode: an argument is out of range") != NULL) ==
              (level > 0));
        CHECK((strstr(run.error, "Warning: pmReceive: nothing is there") != NULL) == (level > 1));
        CHECK((strstr(run.error, "Warning: pmAttachContext: agent-udp takes the place of myrinet") != NULL) ==
              (level > 1));
        CHECK((strstr(run.error, "Info: pmExtractNode: success") != NULL) == (level > 2));
    }
}
