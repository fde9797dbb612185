/* SPDX-License-Identifier: MIT */
/* Signals that reach enl while a CCE has asked for bcr_passsignals. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bcr/program.h>

#include "check.h"
#include "on_terminal.h"
#include "run.h"

static struct run run, asked;

static const int passed[] = {SIGHUP, SIGINT, SIGABRT, SIGUSR1, SIGUSR2, SIGURG, SIGWINCH};
enum { PASSED = sizeof passed / sizeof passed[0] };

static const char *sys_ends(void)
{
    run_folder();
    return getenv("SYS_ENDS");
}

static void set_flags(const char *variable, int flags)
{
    char text[16];
    snprintf(text, sizeof text, "%d", flags);
    setenv(variable, text, 1);
}

/* Waits until `cces` CCEs have told who they are. */
static void all_there(int cces)
{
    for (int i = 0; i < cces; i++) {
        int ordinal;
        pid_t pid;
        run_told_pid(&ordinal, &pid);
    }
}

/* Each of `cces` CCEs is told that signal once, and no other. */
static void each_got(int signal, int cces)
{
    bool had[8] = {false};
    for (int i = 0; i < cces; i++) {
        int got, ordinal;
        const char *line = run_told();
        if (sscanf(line, "got %d %d", &got, &ordinal) != 2 || got != signal || ordinal < 0 ||
            ordinal >= cces || had[ordinal])
            FAIL("of signal %d: %s", signal, line);
        had[ordinal] = true;
    }
}

/* A root and two others, the last on local1, which alone has $SYS_CHILD_FLAGS; all catch signals. */
static void three_catch(void)
{
    char plain[300], host[128] = "", log[200];
    snprintf(plain, sizeof plain, "%s/plain", run_folder());
    CHECK_INT(symlink(sys_ends(), plain), 0);
    setenv("SYS_CHILD", "catch tell pause", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "catch", "as", plain, "enlist", "1", "at",
              "local1", "as", sys_ends(), "from", "2", "enlist", "1", "tell", "wait", "exit", "4");
    all_there(3);
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(log, sizeof log, "bcr.%s.%d.log", host, (int)run.pid);
    run_wait_for_text(
        log, "signals are passed on to all CCEs from now on"); /* local1 may have told it a moment later */
}

/* What one signal brings too much would come with the next. */
static void each_is_passed_once(void)
{
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < PASSED; i++) {
            CHECK_INT(kill(run.pid, passed[i]), 0);
            each_got(passed[i], 3);
        }
}

TEST(each_signal_goes_to_every_cce_once_and_the_program_goes_on)
{
    set_flags("SYS_ROOT_FLAGS", bcr_passsignals);
    three_catch();
    each_is_passed_once();
    run_go();
    run_ends(&run, 4, "exited with status 4");
}

/* The daemon stops its CCEs and then itself: SIGCONT comes between. */
TEST(what_is_told_to_go_on_while_it_stops_goes_on)
{
    int ordinal, got;
    pid_t root;
    set_flags("SYS_ROOT_FLAGS", bcr_passsignals);
    run_start(&run, run_enl(), sys_ends(), "catch", "tell", "wait", "exit", "4");
    run_told_pid(&ordinal, &root);
    for (int turn = 0; turn < 300; turn++) {
        CHECK_INT(kill(run.pid, SIGTSTP), 0);
        while (run_state_of(root) != 'T')
            sched_yield();
        CHECK_INT(kill(run.pid, SIGCONT), 0);
        CHECK_INT(kill(run.pid, SIGUSR1), 0);
        do
            CHECK_INT(sscanf(run_told(), "got %d", &got), 1);
        while (got == SIGCONT);
        CHECK_INT(got, SIGUSR1);
    }
    run_go();
    run_ends(&run, 4, "exited with status 4");
}

TEST(a_cce_of_another_host_may_be_the_one_that_asks)
{
    set_flags("SYS_CHILD_FLAGS", bcr_passsignals);
    three_catch();
    each_is_passed_once();
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    run_end(&run);
}

TEST(before_any_has_asked_these_signals_mean_what_they_always_do)
{
    static const int nothing[] = {SIGUSR1, SIGUSR2, SIGURG, SIGWINCH};
    run_apart();
    setenv("SYS_CHILD", "pause", 1);
    run_start(&run, run_enl(), sys_ends(), "catch", "tell", "wait", "tell", "wait", "exit", "0");
    all_there(1);
    for (int i = 0; i < 4; i++)
        CHECK_INT(kill(run.pid, nothing[i]), 0);
    run_start(&asked, run_enl(), "ps"); /* its answer comes after what the daemon makes of the signals */
    run_end(&asked);
    run_go();
    all_there(1); /* and not "got" */
    CHECK_INT(kill(run.pid, SIGINT), 0);
    each_got(SIGINT, 1);
    run_ends(&run, 128 + SIGINT, "is ended by signal 2");
}

TEST(before_any_has_asked_sigabrt_ends_enl)
{
    const struct rlimit none = {0, 0};
    CHECK_INT(setrlimit(RLIMIT_CORE, &none), 0);
    run_start(&run, run_enl(), sys_ends(), "tell", "pause");
    all_there(1);
    CHECK_INT(kill(run.pid, SIGABRT), 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGABRT);
}

TEST(what_came_before_is_not_passed_on_later)
{
    run_apart();
    set_flags("SYS_CHILD_FLAGS", bcr_passsignals);
    setenv("SYS_CHILD", "catch tell pause", 1);
    run_start(&run, run_enl(), sys_ends(), "catch", "tell", "wait", "enlist", "1", "pause");
    all_there(1);
    CHECK_INT(kill(run.pid, SIGUSR1), 0);
    run_start(&asked, run_enl(), "ps");
    run_end(&asked);
    run_go();
    all_there(1);
    CHECK_INT(kill(run.pid, SIGUSR2), 0);
    each_got(SIGUSR2, 2);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    run_end(&run);
}

TEST(sigquit_brings_a_sentence_and_sigterm_the_end)
{
    run_apart();
    set_flags("SYS_ROOT_FLAGS", bcr_passsignals);
    setenv("BCR_KILLAFTER", "60000", 1);
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), sys_ends(), "enlist", "1", "tell", "pause");
    all_there(2);
    CHECK_INT(kill(run.pid, SIGQUIT), 0);
    run_start(&asked, run_enl(), "ps");
    run_end(&asked);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_ends(&run, 128 + SIGTERM, "is passed to no CCE and does not end program");
    run_check_error(&run, "is ended by signal 15");
}

/* CCE 1, on local1, stays after the first signal. */
static void second_signal_kills(int flags)
{
    set_flags("SYS_ROOT_FLAGS", flags);
    setenv("BCR_KILLAFTER", "1000000", 1);
    setenv("SYS_CHILD", "catch tell pause", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", "local1", "enlist", "1", "tell", "pause");
    all_there(2);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    CHECK_STR(run_told(), "got 15 1"); /* and stays */
    CHECK_INT(kill(run.pid, SIGINT), 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
}

TEST(a_second_signal_kills_on_other_hosts_what_has_not_heeded_the_first)
{
    second_signal_kills(0);
}

TEST(once_the_program_is_ending_signals_hurry_it)
{
    second_signal_kills(bcr_passsignals);
}

TEST(a_cce_that_does_not_catch_it_ends_by_a_passed_signal_abnormally)
{
    set_flags("SYS_ROOT_FLAGS", bcr_passsignals);
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), sys_ends(), "catch", "enlist", "1", "tell", "pause");
    all_there(2);
    CHECK_INT(kill(run.pid, SIGUSR1), 0);
    run_ends(&run, 128 + SIGUSR1, "was killed by signal 10");
}

/* The root is in the terminal's group, and has been told by the terminal. */
TEST(the_root_is_not_told_again_what_the_terminal_has_told_it)
{
    set_flags("SYS_ROOT_FLAGS", bcr_passsignals);
    setenv("SYS_CHILD", "catch tell pause", 1);
    char *words[] = {(char *)(uintptr_t)run_enl(),
                     (char *)(uintptr_t)sys_ends(),
                     (char *)"catch",
                     (char *)"enlist",
                     (char *)"1",
                     (char *)"tell",
                     (char *)"pause",
                     NULL};
    terminal_start(80, 24, words);
    pid_t group = 0;
    for (int i = 0; i < 2; i++) {
        int ordinal;
        pid_t pid;
        const pid_t its = run_told_pid(&ordinal, &pid);
        group = ordinal == 0 ? its : group;
    }
    CHECK_INT(group, tcgetpgrp(terminal));
    for (int turn = 0; turn < 3; turn++) {
        terminal_press(3);
        each_got(SIGINT, 2);
        CHECK_INT(kill(group, SIGURG), 0); /* enl leads the group */
        each_got(SIGURG, 2);
    }
    CHECK_INT(kill(group, SIGKILL), 0);
    CHECK_INT(terminal_shell_says(), 'e');
}
