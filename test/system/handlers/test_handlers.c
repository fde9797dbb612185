/* SPDX-License-Identifier: MIT */
/* Handlers from a user's side, in real programs: handlers_cce.c says what each does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "../enl/run.h"
#include "check.h"

static struct run run;

static const char *program(void)
{
    return getenv("HANDLERS_CCE");
}

static void check_done(void)
{
    if (run.status != 0 || strstr(run.text, "done\n") == NULL)
        FAIL("status %d: %s%s", run.status, run.text, run.error);
}

TEST(each_wrong_argument_shows_its_code_and_changes_nothing)
{
    run_folder();
    run_start(&run, run_enl(), program(), "arguments");
    run_end(&run);
    check_done();
}

TEST(handlers_allow_handlers_to_a_depth_of_a_thousand)
{
    run_folder();
    run_start(&run, run_enl(), program(), "depth", sizeof(void *) == 8 ? "1000" : "900");
    run_end(&run);
    check_done();
}

/* A sanitizer keeps books on each stack: there it is fewer. On 32 bits there are a thousand stacks
 * at most. */
TEST_TIMEOUT(a_hundred_thousand_invocations_wait_at_the_same_time_and_all_go_on, 120)
{
    run_folder();
    run_start(&run, run_enl(), program(), "many",
              sizeof(void *) != 8      ? "900"
              : test_is_instrumented() ? "2000"
                                       : "100000");
    run_end(&run);
    check_done();
}

TEST(a_stack_overflow_ends_the_program_and_names_the_handlers_cell)
{
    run_folder();
    run_start(&run, run_enl(), program(), "overflow", "77");
    run_end(&run);
    CHECK(run.status != 0);
    run_check_error(&run, "its stack");
    run_check_error(&run, "77");
    CHECK_PTR(strstr(run.text, "done"), NULL);
}

TEST(a_frame_larger_than_what_is_below_the_stack_ends_the_program_and_names_the_handlers_cell)
{
    static const char *const kib[] = {"260", "300", "400", "500", "2000", "20000"};
    if (test_is_instrumented())
        SKIP("faults are another's to report here");
    if (sizeof(void *) < 8)
        SKIP("guards are one page where address space is short; what lies beyond them may be another's");
    for (size_t i = 0; i < sizeof kib / sizeof kib[0]; i++) {
        run_folder();
        run_start(&run, run_enl(), program(), "frame", kib[i]);
        run_end(&run);
        CHECK(run.status != 0);
        run_check_error(&run, "the handler of cell 1 has used up its stack");
    }
}

TEST(a_frame_that_ends_on_another_stack_ends_the_program_at_the_next_call)
{
    if (test_is_instrumented())
        SKIP("what steps over a guard is another's to report here");
    run_folder();
    run_start(&run, run_enl(), program(), "beside");
    run_end(&run);
    CHECK(run.status != 0);
    run_check_error(&run, "the handler of cell 2 has used up its stack");
}

TEST(a_wrong_store_in_a_handler_is_not_called_an_overflow)
{
    run_folder();
    run_start(&run, run_enl(), program(), "fault");
    run_end(&run);
    CHECK(run.status != 0);
    CHECK_PTR(strstr(run.error, "its stack"), NULL);
}

TEST(who_jumps_out_of_a_handler_is_told_by_the_next_call)
{
    int returned = 0, code = 0;
    run_folder();
    run_start(&run, run_enl(), program(), "longjmp");
    run_end(&run);
    if (sscanf(run.text, "%d %d", &returned, &code) != 2)
        FAIL("status %d: %s%s", run.status, run.text, run.error);
    CHECK_INT(returned, -1);
    CHECK_INT(code, bcrE_LONGJMP);
    check_done();
}

TEST(exit_in_a_handler_is_the_end_of_its_cce_with_that_status)
{
    static const char *const status[] = {"0", "3"};
    run_folder();
    for (int i = 0; i < 2; i++) {
        run_start(&run, run_enl(), program(), "exit", status[i]);
        run_end(&run);
        CHECK_INT(run.status, atoi(status[i]));
        CHECK_STR(run.text, "atexit\n");
    }
}

TEST(block_without_a_handler_waits_until_the_program_is_ended)
{
    int ordinal;
    pid_t pid;
    run_folder();
    run_start(&run, run_enl(), program(), "block");
    CHECK(sscanf(run_told(), "%d %d", &ordinal, &pid) == 2);
    int pidfd = run_watch(pid);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_gone(pidfd);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
}

TEST_TIMEOUT(handlers_enlist_while_others_and_the_main_program_do, 120)
{
    run_folder();
    run_start(&run, run_enl(), program(), "enlist", "12");
    run_end(&run);
    check_done();
}

/* One that has died may still be on its way out, with more than a megabyte; a leak would be there
 * for each. */
enum { SLACK_BYTES = 3 << 20, SLACK_FDS = 16 };

TEST_TIMEOUT(a_death_with_thousands_of_invocations_leaves_nothing, 240)
{
    unsigned long long before = 0, after = 0;
    int fds_before = 0, fds_after = 0;
    run_folder();
    run_start(&run, run_enl(), "--onfail=isolate", program(), "dying",
              sizeof(void *) == 8 && !test_is_instrumented() ? "4000" : "400",
              test_scale(0, 1) ? "100" : "30");
    run_end(&run);
    check_done();
    CHECK_INT(sscanf(run.text, "%llu %d %llu %d", &before, &fds_before, &after, &fds_after), 4);
    printf("  after 8 deaths %llu bytes, %d descriptors; after all: %llu, %d\n", before, fds_before, after,
           fds_after);
    if (after > before + SLACK_BYTES)
        FAIL("memory files have grown from %llu to %llu bytes", before, after);
    if (fds_after > fds_before + SLACK_FDS)
        FAIL("descriptors have grown from %d to %d", fds_before, fds_after);
}
