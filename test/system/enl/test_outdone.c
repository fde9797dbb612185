/* SPDX-License-Identifier: MIT */
/* bcr_outdone: what CCEs have printed before it stands at the root when it returns. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bcr/program.h>

#include "check.h"
#include "run.h"

enum { BYTES = 300000, CCES_MAX = 4 };

static struct run run;

/* enl with its stdout and stderr in the file "out". */
static void start(const char *hosts, const char *const *words)
{
    static const char *line[40];
    int count = 0;
    run_folder();
    setenv("BCR_LINEHOLD", "20", 1); /* what they print ends in no newline */
    const char *const begin[] = {"/bin/sh",  "-c",      "exec \"$0\" \"$@\" > out 2>&1",
                                 run_enl(),  "--local", hosts,
                                 "--onfail", "isolate", run_cce()};
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        line[count++] = begin[i];
    while (*words != NULL)
        line[count++] = *words++;
    line[count] = NULL;
    run_start_words(&run, line);
}

static void is_told(const char *wanted)
{
    const char *line = run_told_by(&run);
    while (strncmp(line, "enlist", 6) == 0)
        line = run_told_by(&run);
    if (strcmp(line, wanted) != 0)
        FAIL("told \"%s\", not \"%s\"", line, wanted);
}

/* Waits until so many have told that they have printed, or what became of their enlistment. */
static void all_have_printed(int count)
{
    int ordinal, pid, group;
    while (count > 0)
        count -= sscanf(run_told_by(&run), "%d %d %d", &ordinal, &pid, &group) == 3;
}

static long printed(void)
{
    struct stat status;
    return stat("out", &status) == 0 ? (long)status.st_size : -1;
}

TEST_TIMEOUT(all_that_was_printed_on_any_host_is_out, 300)
{
    static const char *const others[] = {"1", "2", "3"};
    setenv("SYS_CHILD", "raw 300000 tell pause", 1);
    for (int i = 0; i < 3; i++) {
        start(others[i], (const char *const[]){"enlist",
                                               run_cce(),
                                               "2",
                                               "at",
                                               i == 0 ? "localhost" : "local1",
                                               "from",
                                               "3",
                                               "enlist",
                                               run_cce(),
                                               "1",
                                               "at",
                                               i == 2 ? "local2" : "localhost",
                                               "from",
                                               "4",
                                               "enlist",
                                               run_cce(),
                                               "1",
                                               "wait",
                                               "outdone",
                                               i == 1 ? "-2" : "-1",
                                               "wait",
                                               "kill",
                                               "9",
                                               NULL});
        all_have_printed(4);
        run_go();
        is_told("outdone 0");
        CHECK_INT(printed(), 4L * BYTES);
        CHECK_INT(kill(run.pid, SIGTERM), 0);
        run_end(&run);
    }
}

TEST_TIMEOUT(a_cce_elsewhere_learns_it_too_and_one_that_prints_nothing_holds_up_nobody, 300)
{
    setenv("SYS_CHILD", "only 1 raw 300000 tell close-out pause", 1);
    setenv("SYS_CHILD2", "wait outdone -1 pause", 1);
    start("2", (const char *const[]){"enlist", run_cce(), "1", "at", "local1", "from", "2", "enlist",
                                     run_cce(), "1", "pause", NULL});
    all_have_printed(1);
    run_go();
    for (const char *line = ""; strcmp(line, "outdone 0") != 0;)
        line = run_told_by(&run);
    CHECK_INT(printed(), (long)BYTES);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&run);
    unsetenv("SYS_CHILD2");
}

TEST_TIMEOUT(any_number_may_call_at_once, 300)
{
    int done = 0;
    setenv("SYS_CHILD", "outdone-on 30 pause", 1);
    start("2", (const char *const[]){"enlist", run_cce(), "3", "at", "local1", "from", "4", "enlist",
                                     run_cce(), "3", "outdone-on", "30", "pause", NULL});
    while (done < 7) {
        const char *line = run_told_by(&run);
        if (strncmp(line, "outdone", 7) == 0) {
            CHECK_STR(line, "outdone 0");
            done++;
        }
    }
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&run);
}

TEST_TIMEOUT(time_is_up_while_nobody_reads, 300)
{
    run_folder();
    setenv("SYS_CHILD", "raw 180000 tell", 1); /* more than a pipe, and less than what enl keeps besides */
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "1", "wait", "outdone", "0", "outdone", "50",
              "outdone", "-1"); /* its stdout is a pipe that run_end reads */
    all_have_printed(1);
    run_go();
    char timeout[32];
    snprintf(timeout, sizeof timeout, "outdone %d", bcrE_TIMEOUT);
    is_told(timeout);
    is_told(timeout);
    run_ends(&run, 0, "");
    CHECK_STR(run_told(), "outdone 0");
}

TEST_TIMEOUT(a_host_that_is_lost_holds_up_nobody, 300)
{
    int ordinal, daemon;
    setenv("SYS_CHILD", "daemon pause", 1);
    start("2", (const char *const[]){"at", "local1", "enlist", run_cce(), "1", "wait", "outdone", "50",
                                     "outdone", "-1", NULL});
    while (sscanf(run_told_by(&run), "daemon %d %d", &ordinal, &daemon) != 2)
        continue;
    CHECK_INT(kill(daemon, SIGSTOP), 0);
    run_wait_for_state(daemon, 'T', true);
    run_go();
    char timeout[32];
    snprintf(timeout, sizeof timeout, "outdone %d", bcrE_TIMEOUT);
    is_told(timeout);
    CHECK_INT(kill(daemon, SIGKILL), 0);
    is_told("outdone 0");
    run_end(&run);
}
