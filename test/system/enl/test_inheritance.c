/* SPDX-License-Identifier: MIT */
/* What exec keeps: of a process that becomes enl, and of enl in its CCEs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

/* ---- the process that becomes enl ---- */

TEST(an_interval_timer_goes_on_in_the_root_and_does_not_end_enl)
{
    setenv("SYS_BEFORE", "alarms", 1);
    run_start(&run, run_cce(), "alarmed", "exit", "4");
    CHECK_STR(run_told_by(&run), "alarmed");
    run_end(&run);
    CHECK_INT(run.status, 4);
}

TEST(a_signal_that_is_pending_does_not_end_enl_if_it_means_nothing_to_it)
{
    static const int signals[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGIO, SIGPROF, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        char words[32];
        snprintf(words, sizeof words, "block %d", signals[i]);
        setenv("SYS_BEFORE", words, 1);
        run_start(&run, run_cce(), "tell", "exit", "4");
        run_told_by(&run);
        run_end(&run);
        CHECK_INT(run.status, 4);
    }
}

TEST(a_SIGTERM_that_is_pending_ends_the_program)
{
    run_folder();
    setenv("SYS_BEFORE", "block 15", 1);
    run_start(&run, run_cce(), "pause");
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
}

TEST(SIGIO_that_the_process_has_asked_for_does_not_end_enl)
{
    setenv("SYS_BEFORE", "async", 1);
    run_start(&run, run_cce(), "poke", "tell", "wait", "exit", "4");
    run_told_by(&run);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 4);
}

TEST(a_preloaded_library_is_the_programs_and_not_enls)
{
    char notes[256], text[1024];
    const char *library = getenv("PRELOADED_LIB");
    if (library == NULL)
        SKIP("there is no library to be preloaded");
    snprintf(notes, sizeof notes, "%s/notes", run_folder());
    run_write_file("notes", "", 0, 0600);
    setenv("PRELOADED_NOTES", notes, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
    setenv("LD_PRELOAD", library, 1);
    setenv("SYS_CHILD", "variable LD_PRELOAD", 1);
    run_start(&run, run_cce(), "enlist", run_cce(), "1", "wait");
    unsetenv("LD_PRELOAD");
    char want[512];
    snprintf(want, sizeof want, "variable %s", library);
    const char *line;
    while (strcmp(line = run_told_by(&run), want) != 0)
        CHECK_STR(line, "enlist 0 0");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    text[run_read_file(notes, text, sizeof text - 1)] = '\0';
    CHECK_STR(text, "sys_cce\nsys_cce\n"); /* the root, and the CCE */
}

/* Where SIGCHLD is ignored the kernel keeps no status. */
TEST(a_command_that_waits_for_processes_does_not_ignore_SIGCHLD)
{
    static const char script[] = "#!/bin/sh\nexit 3\n";
    char path[128];
    snprintf(path, sizeof path, "%s/starter", run_folder());
    run_write_file("starter", script, sizeof script - 1, 0700);
    run_write_file("machines", "far\n", 4, 0600);
    setenv("BCR_RSHPATH", path, 1);
    signal(SIGCHLD, SIG_IGN);
    run_start(&run, run_enl(), "hosts", "machines");
    signal(SIGCHLD, SIG_DFL);
    run_end(&run);
    CHECK_INT(run.status, 1);
    if (strstr(run.text, "starter ended with status 3") == NULL &&
        strstr(run.error, "starter ended with status 3") == NULL)
        FAIL("not told why: %s%s", run.text, run.error);
}

/* ---- what CCEs begin with ---- */

/* Starts enl with all signals ignored and blocked, or all but SIGHUP ignored. */
static void start_with_signals(const char *hosts, const char *at, bool hangup)
{
    sigset_t all, none;
    sigemptyset(&none);
    sigfillset(&all);
    run_folder();
    setenv("SYS_CHILD", "signals", 1);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (signal != SIGHUP || hangup)
            (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigprocmask(SIG_SETMASK, &all, NULL);
    run_start(&run, run_enl(), "--local", hosts, run_cce(), "signals", "at", at, "enlist", run_cce(), "1",
              "exit", "0");
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void begin_fresh(const char *at, bool hangup)
{
    char want[64];
    start_with_signals("1", at, hangup);
    snprintf(want, sizeof want, "signals %x 0 0", hangup ? 1u : 0u);
    for (int seen = 0; seen < 2;) {
        const char *line = run_told_by(&run);
        if (strncmp(line, "signals", 7) != 0)
            continue;
        CHECK_STR(line, want);
        seen++;
    }
    run_ends(&run, 0, "");
}

TEST(CCEs_begin_with_the_default_actions_whatever_enl_was_started_with)
{
    begin_fresh("localhost", false);
    begin_fresh("local1", false);
}

TEST(an_ignored_SIGHUP_is_ignored_in_all_CCEs)
{
    begin_fresh("localhost", true);
    begin_fresh("local1", true);
}
