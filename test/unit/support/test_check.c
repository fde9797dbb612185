/* SPDX-License-Identifier: MIT */
/* The framework polled from outside: check_sample is run as a program, its output and status are
 * looked at. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[1 << 16];

/* Runs check_sample with these arguments; its output is left in `output`. Returns its exit
 * status. */
static int run_sample(const char *args)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s 2>&1", CHECK_SAMPLE, args);
    FILE *sample = popen(command, "r");
    CHECK(sample != NULL);
    size_t length = fread(output, 1, sizeof output - 1, sample);
    output[length] = '\0';
    int status = pclose(sample);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_says(const char *text)
{
    if (!strstr(output, text))
        FAIL("wanted \"%s\" in:\n%s", text, output);
}

static void check_last_line(const char *line)
{
    size_t length = strlen(output), tail = strlen(line);
    if (length <= tail || strcmp(output + length - tail, line) != 0)
        FAIL("wanted as last line \"%s\" in:\n%s", line, output);
}

static void check_daemon_is_gone(void)
{
    const char *line = strstr(output, "daemon ");
    CHECK(line != NULL);
    pid_t pid = (pid_t)strtol(line + strlen("daemon "), NULL, 10);
    CHECK(pid > 1);
    CHECK_INT(kill(pid, 0), -1);
    CHECK_INT(errno, ESRCH);
}

TEST(passing_test_is_ok)
{
    CHECK_INT(run_sample("passes"), 0);
    CHECK_STR(output, "ok passes\n1 passed, 0 failed, 0 skipped\n");
}

TEST(failed_check_names_expression_wanted_and_got)
{
    CHECK_INT(run_sample("fails_a_check"), 1);
    check_says("answer: wanted 42, got 41\n");
    check_says("FAIL fails_a_check\n");
    CHECK(!strstr(output, "not reached"));
    check_last_line("\n0 passed, 1 failed, 0 skipped\n");
}

TEST(each_kind_of_check_fails)
{
    CHECK_INT(run_sample("fails_a_condition fails_a_string fails_in_memory"), 1);
    check_says("2 < 1: wanted true, got false\n");
    check_says("  wanted \"right\"\n  got    \"left\"\n");
    check_says("byte 2 of 3: wanted 0x64, got 0x63\n");
    check_last_line("\n0 passed, 3 failed, 0 skipped\n");
}

TEST(no_file_of_a_test_that_is_killed_is_left)
{
    char folder[64];
    CHECK_INT(run_sample("leaves_files"), 1);
    check_says("ended by signal 9");
    CHECK_INT(sscanf(strstr(output, "folder "), "folder %63s", folder), 1);
    CHECK_INT(access(folder, F_OK), -1);
    CHECK_INT(errno, ENOENT);
}

TEST(failed_check_in_another_process_fails_the_test)
{
    CHECK_INT(run_sample("fails_in_a_process_that_nobody_joins"), 1);
    check_says("the grandchild says 7\n");
    check_last_line("\n0 passed, 1 failed, 0 skipped\n");
}

TEST(joining_looks_at_the_status)
{
    CHECK_INT(run_sample("joins_a_process_that_ends_otherwise"), 1);
    check_says("wanted exit status 0, got 3\n");
}

TEST(crash_is_reported_and_the_rest_runs)
{
    CHECK_INT(run_sample("crashes exits_with_a_status passes"), 1);
    check_says("ok passes\n");
    check_says("FAIL crashes\n");
    check_says("exits_with_a_status: exit status 9\n");
    check_last_line("\n1 passed, 2 failed, 0 skipped\n");
}

TEST(hang_is_killed_with_all_its_processes)
{
    CHECK_INT(run_sample("hangs"), 1);
    check_says(" s, killed\n");
    check_daemon_is_gone();
    check_last_line("\n0 passed, 1 failed, 0 skipped\n");
}

TEST(hang_shows_where_each_process_stands)
{
    char line[64];
    int daemon;
    if (getenv("BCR_SOURCE_DIR") == NULL)
        SKIP("the script that looks is the source's");
    CHECK_INT(run_sample("hangs"), 1);
    CHECK_INT(sscanf(strstr(output, "daemon "), "daemon %d", &daemon), 1);
    snprintf(line, sizeof line, "-- process %d: ", daemon);
    check_says(line);
    CHECK(strstr(strstr(output, line), "check_sample") != NULL);
}

TEST(nothing_outlives_a_test_that_passed)
{
    CHECK_INT(run_sample("leaves_a_daemon"), 0);
    check_daemon_is_gone();
}

TEST(skipped_test_gives_its_reason_and_status_77)
{
    CHECK_INT(run_sample("is_skipped"), 77);
    CHECK_STR(output, "skip is_skipped: there is no moon today\n0 passed, 0 failed, 1 skipped\n");
    CHECK_INT(run_sample("is_skipped passes"), 0);
    check_last_line("\n1 passed, 0 failed, 1 skipped\n");
}

TEST(list_names_all_and_unknown_names_are_refused)
{
    CHECK_INT(run_sample("--list"), 0);
    CHECK_INT(strncmp(output, "passes\nfails_a_check\n", 21), 0);
    CHECK_INT(run_sample("passes nonsense"), 2);
    check_says("no test is called nonsense");
}

TEST(seed_is_printed_and_can_be_given)
{
    setenv("BCR_TEST_SEED", "0", 1);
    CHECK_INT(run_sample("uses_the_seed"), 0);
    check_says("BCR_TEST_SEED=0x0000000000000000\n");
    check_says("first 16294208416658607535\n"); /* the published first output for seed 0 */
    setenv("BCR_TEST_SEED", "never", 1);
    CHECK_INT(run_sample("uses_the_seed"), 2);
    check_says("BCR_TEST_SEED=never is not a 64-bit number");
}

TEST(scale_follows_the_environment)
{
    unsetenv("BCR_TEST_FULL");
    CHECK_UINT(test_scale(3, 300), 3);
    setenv("BCR_TEST_FULL", "1", 1);
    CHECK_UINT(test_scale(3, 300), 300);
    setenv("BCR_TEST_FULL", "0", 1);
    CHECK_UINT(test_scale(3, 300), 3);
}

TEST(a_tool_is_noticed)
{
    /* valgrind does not follow into the sample. */
    const char *preloaded = getenv("LD_PRELOAD");
    bool here_alone = preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
    CHECK_INT(run_sample("says_whether_it_is_instrumented"), 0);
    check_says(test_is_instrumented() && !here_alone ? "instrumented: yes\n" : "instrumented: no\n");
    setenv("LD_PRELOAD", "/no/such/folder/vgpreload_core-amd64-linux.so", 1);
    CHECK(test_is_instrumented());
}
