/* SPDX-License-Identifier: MIT */
/* bcr_signal: from each CCE to each, here and on other hosts, and what it refuses. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "check.h"
#include "run.h"

static struct run run, joined;

static const char *sys_ends(void)
{
    run_folder();
    return getenv("SYS_ENDS");
}

/* `count` lines come in any order: those of `lines`, which may be a line more than once. */
static void told_all(const char *const *lines, int count)
{
    bool seen[16] = {false};
    for (int i = 0; i < count; i++) {
        const char *line = run_told_by(&run);
        int k = 0;
        while (k < count && (seen[k] || strcmp(lines[k], line) != 0))
            k++;
        if (k == count)
            FAIL("told: %s", line);
        seen[k] = true;
    }
}
#define TOLD(...)                                \
    told_all((const char *const[]){__VA_ARGS__}, \
             (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* Waits until `count` CCEs have told who they are; gives their processes by their ordinals. */
static void all_there(int count, pid_t *pids)
{
    for (int i = 0; i < count; i++) {
        int ordinal;
        pid_t pid;
        run_told_pid(&ordinal, &pid);
        CHECK(ordinal >= 0 && ordinal < count);
        pids[ordinal] = pid;
    }
}

/* CCE 1 is here, 2 and 3 are on local1, 4 on local2; `sends` sends, all wait and catch. Its words are `words`. */
static void five(int sends, const char *words)
{
    char text[512], name[32];
    pid_t pids[5];
    setenv("SYS_CHILD", "catch grow cry learn tell pause", 1);
    snprintf(text, sizeof text, "catch grow cry learn tell %s", words);
    snprintf(name, sizeof name, "SYS_CHILD%d", sends);
    if (sends != 0)
        setenv(name, text, 1);
    const char *start[64] = {run_enl(), "--local", "2",      sys_ends(), "catch",  "grow", "enlist", "1",
                             "at",      "local1",  "from",   "2",        "enlist", "2",    "at",     "local2",
                             "from",    "4",       "enlist", "1",        "hear",   "4",    "tell"};
    int count = 23;
    snprintf(text, sizeof text, "%s", sends == 0 ? words : "pause");
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        start[count++] = word;
    run_start_words(&run, start);
    all_there(5, pids);
    run_go();
}

static void end_it(void)
{
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    run_end(&run);
    unsetenv("SYS_CHILD1");
    unsetenv("SYS_CHILD2");
    unsetenv("SYS_CHILD4");
}

TEST(the_root_signals_itself_and_cces_here_and_elsewhere)
{
    five(0, "wait signal self 10 signal 1 10 signal 2 12 signal 3 10 signal 4 12 pause");
    TOLD("got 10 0", "signal 0 0", "got 10 1", "signal 0 0", "got 12 2", "signal 0 0", "got 10 3",
         "signal 0 0", "got 12 4", "signal 0 0");
    end_it();
}

TEST(a_cce_of_another_host_signals_those_of_its_own_host_of_a_third_and_of_the_roots)
{
    five(2, "wait signal self 10 signal root 10 signal 1 12 signal 3 10 signal 4 12 pause");
    TOLD("got 10 2", "signal 0 0", "got 10 0", "signal 0 0", "got 12 1", "signal 0 0", "got 10 3",
         "signal 0 0", "got 12 4", "signal 0 0");
    end_it();
}

/* It sleeps on its bell, by which its daemon tells that the answer is there. */
TEST(a_cce_that_has_handlers_hears_the_answer_too)
{
    five(2, "handle wait signal self 10 signal 1 12 signal 4 12 signal all 10 pause");
    TOLD("got 10 2", "signal 0 0", "got 12 1", "signal 0 0", "got 12 4", "signal 0 0", "signal 0 0",
         "got 10 0", "got 10 1", "got 10 2", "got 10 3", "got 10 4");
    end_it();
}

TEST(one_beside_the_root_signals_all_the_others)
{
    five(1, "wait signal root 10 signal 2 12 signal 3 10 signal 4 12 pause");
    TOLD("got 10 0", "signal 0 0", "got 12 2", "signal 0 0", "got 10 3", "signal 0 0", "got 12 4",
         "signal 0 0");
    end_it();
}

TEST(a_signal_for_all_reaches_each_once_whoever_sends_it)
{
    static const int senders[] = {0, 1, 2, 4};
    for (int i = 0; i < 4; i++) {
        five(senders[i], "wait signal all 10 wait signal all 12 pause");
        TOLD("signal 0 0", "got 10 0", "got 10 1", "got 10 2", "got 10 3", "got 10 4");
        run_go();
        TOLD("signal 0 0", "got 12 0", "got 12 1", "got 12 2", "got 12 3", "got 12 4");
        end_it();
    }
}

/* Also the signals of the last numbers, 64 being SIGRTMAX. */
TEST(numbers_that_are_no_signals_are_refused_and_0_sends_nothing)
{
    char refused[32];
    snprintf(refused, sizeof refused, "signal -1 %d", bcrE_ARG);
    CHECK_INT(SIGRTMAX, 64);
    five(0, "wait signal 1 -1 signal 1 65 signal 4 1000 signal all 32 signal 2 33 signal self -5 wait "
            "signal 1 0 signal 4 0 signal all 0 signal self 0 wait signal 4 64 signal 1 64 pause");
    TOLD(refused, refused, refused, refused, refused, refused);
    run_go();
    TOLD("signal 0 0", "signal 0 0", "signal 0 0", "signal 0 0");
    run_go();
    TOLD("signal 0 0", "got 64 4", "signal 0 0", "got 64 1");
    end_it();
}

TEST(whom_nobody_knows_and_a_team_that_is_none_are_refused)
{
    char nobody[32], team[32];
    snprintf(nobody, sizeof nobody, "signal -1 %d", bcrE_NOCCE);
    snprintf(team, sizeof team, "signal -1 %d", bcrE_NOTEAM);
    run_start(&run, run_enl(), sys_ends(), "signal", "nobody", "10", "signal", "root", "10", "signal", "team",
              "10", "signal", "team", "0");
    CHECK_STR(run_told_by(&run), nobody);
    CHECK_STR(run_told_by(&run), nobody); /* the enlistor of the root is -1 */
    CHECK_STR(run_told_by(&run), team);
    CHECK_STR(run_told_by(&run), team);
    run_ends(&run, 0, "");
}

TEST(in_a_fork_of_a_cce_there_is_nobody_to_signal)
{
    char want[32];
    snprintf(want, sizeof want, "forked %d %d", bcrE_FORK, bcrE_FORK);
    run_start(&run, run_enl(), sys_ends(), "forked");
    CHECK_STR(run_told_by(&run), want);
    run_ends(&run, 0, "");
}

/* CCE 1, on that machine, has ended. */
static void ended_is_dead(const char *machine)
{
    char dead[32];
    pid_t pids[2];
    snprintf(dead, sizeof dead, "signal -1 %d", bcrE_DEAD);
    setenv("SYS_CHILD", "grow cry learn tell", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "grow", "at", machine, "enlist", "1", "hear", "1",
              "tell", "wait", "signal", "1", "0", "signal", "1", "9", "signal", "1", "10");
    all_there(2, pids);
    const int watch = run_try_watch(pids[1]);
    if (watch >= 0)
        run_gone(watch);
    char log[200], host[128] = "";
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(log, sizeof log, "bcr.%s.%d%s.log", host, (int)run.pid,
             strcmp(machine, "local1") == 0 ? ".1" : "");
    run_wait_for_text(log, "exited with status 0");
    run_go();
    CHECK_STR(run_told_by(&run), dead);
    CHECK_STR(run_told_by(&run), dead);
    CHECK_STR(run_told_by(&run), dead);
    run_ends(&run, 0, "");
}

TEST(a_cce_that_has_ended_gets_none)
{
    ended_is_dead("localhost");
    ended_is_dead("local1");
}

/* Its daemon is stopped, so that the first request is not answered. */
TEST(cces_of_a_host_that_is_lost_are_dead)
{
    char dead[32];
    int ordinal;
    pid_t pid, daemon = 0;
    snprintf(dead, sizeof dead, "signal -1 %d", bcrE_DEAD);
    setenv("BCR_HOSTTIMEOUT", "1500", 1);
    setenv("SYS_CHILD", "grow cry learn parent tell pause", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "1", sys_ends(), "grow", "at", "local1",
              "enlist", "1", "hear", "1", "wait", "signal", "1", "10", "signal", "1", "10");
    CHECK_INT(sscanf(run_told_by(&run), "parent %d", &daemon), 1);
    run_told_pid(&ordinal, &pid);
    CHECK_INT(kill(daemon, SIGSTOP), 0);
    run_go();
    CHECK_STR(run_told_by(&run), dead);
    CHECK_STR(run_told_by(&run), dead);
    run_ends(&run, 0, "the others go on (onfail isolate)");
    unsetenv("BCR_HOSTTIMEOUT");
}

/* The shell is the root's wrapper: it would end by the signal. */
TEST(the_cce_itself_gets_it_and_not_what_it_runs_under)
{
    char command[600];
    setenv("SYS_CHILD", "signal root 10", 1);
    snprintf(command, sizeof command, "%s catch enlist 1 wait; echo shell", sys_ends());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    TOLD("got 10 0", "signal 0 0");
    run_go();
    run_end(&run);
    CHECK_STR(run.text, "shell\n");
    CHECK_INT(run.status, 0);
}

/* It has told who it is before it calls bcr_init, which it never does. */
TEST(one_that_has_not_called_bcr_init_gets_it_by_its_id_and_not_with_all)
{
    static const char *const machines[] = {"localhost", "local1"};
    setenv("SYS_BEFORE", "1", 1);
    for (int i = 0; i < 2; i++) {
        int zero;
        pid_t pid;
        run_start(&run, run_enl(), "--local", "1", sys_ends(), "catch", "at", machines[i], "start", "wait",
                  "signal", "all", "10", "signal", "1", "0", "signal", "1", "12");
        CHECK_INT(sscanf(run_told_by(&run), "before %d %d", &pid, &zero), 2);
        const int watch = run_watch(pid);
        run_go();
        TOLD("signal 0 0", "got 10 0", "signal 0 0", "signal 0 0");
        run_gone(watch);
        run_ends(&run, 0, "it was killed by signal 12 (User defined signal 2) before it called bcr_init");
    }
    unsetenv("SYS_BEFORE");
}

TEST(a_cce_that_has_joined_is_signalled_too)
{
    pid_t pids[2];
    setenv("SYS_CHILD", "catch grow cry learn tell pause", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", sys_ends(), "catch", "grow", "tell", "wait", "enlist",
              "1", "hear", "1", "wait", "signal", "1", "10", "wait", "signal", "all", "12", "wait", "signal",
              "1", "9");
    all_there(1, pids);
    run_start(&joined, run_enl(), "--join", run_program(), sys_ends());
    run_wait_for_text("bcr.", "waits to be enlisted as sys_ends");
    run_go();
    int ordinal;
    run_told_pid(&ordinal, &pids[1]);
    run_go();
    TOLD("got 10 1", "signal 0 0");
    run_go();
    TOLD("got 12 0", "got 12 1", "signal 0 0");
    run_go();
    TOLD("signal 0 0");
    run_end(&joined);
    CHECK_INT(joined.status, 128 + SIGKILL);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(signals_stop_a_cce_let_it_go_on_and_kill_it)
{
    pid_t pids[2];
    setenv("SYS_CHILD", "grow cry learn tell pause", 1);
    run_start(&run, run_enl(), sys_ends(), "grow", "enlist", "1", "hear", "1", "tell", "wait", "signal", "1",
              "19", "wait", "signal", "1", "18", "wait", "signal", "1", "9", "pause");
    all_there(2, pids);
    run_go();
    CHECK_STR(run_told_by(&run), "signal 0 0");
    run_wait_for_state(pids[1], 'T', true);
    run_go();
    CHECK_STR(run_told_by(&run), "signal 0 0");
    run_wait_for_state(pids[1], 'T', false);
    run_go();
    run_ends(&run, 128 + SIGKILL, "was killed by signal 9");
}
