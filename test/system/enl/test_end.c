/* SPDX-License-Identifier: MIT */
/* bcr_end: whoever calls it, wherever, whatever the others do meanwhile. */
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

static const char *log_of_root(void)
{
    static char name[200];
    char host[128] = "";
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(name, sizeof name, "bcr.%s.%d.log", host, (int)run.pid);
    return name;
}

/* Watches the processes of `count` CCEs that tell who they are; gives them by their ordinals. */
static void all_there(int count, int *watches, pid_t *pids)
{
    for (int i = 0; i < count; i++) {
        int ordinal;
        pid_t pid;
        run_told_pid(&ordinal, &pid);
        CHECK(ordinal >= 0 && ordinal < count);
        watches[ordinal] = run_watch(pid);
        if (pids != NULL)
            pids[ordinal] = pid;
    }
}

/* enl ends with that status, without a word, and all these processes with it. */
static void ends_quietly(int status, int count, const int *watches)
{
    run_ends(&run, status, "");
    for (int i = 0; i < count; i++)
        run_gone(watches[i]);
}

/* A root, CCE 1 beside it, 2 and 3 on local1, 4 on local2, which local1 starts; `who` calls bcr_end, the others compute. */
static void one_of_five_ends(int who, const char *status, const char *onfail, int *watches)
{
    char name[32], words[64];
    setenv("SYS_CHILD", "tell spin", 1);
    snprintf(name, sizeof name, "SYS_CHILD%d", who);
    snprintf(words, sizeof words, "tell wait end %s", status);
    if (who != 0)
        setenv(name, words, 1);
    run_start(&run, run_enl(), "--onfail", onfail, "--fanout", "1", "--local", "2", sys_ends(), "enlist", "1",
              "at", "local1", "from", "2", "enlist", "2", "at", "local2", "from", "4", "enlist", "1", "tell",
              who == 0 ? "wait" : "spin", "end", status);
    all_there(5, watches, NULL);
    run_go();
    unsetenv(name);
}

TEST(any_cce_ends_the_program_with_a_status)
{
    static const int who[] = {0, 1, 2, 4};
    static const struct {
        const char *text;
        int status;
    } cases[] = {{"7", 7}, {"0", 0}, {"255", 255}, {"1", 1}};
    int watches[5];
    for (int i = 0; i < 4; i++) {
        one_of_five_ends(who[i], cases[i].text, "abort", watches);
        ends_quietly(cases[i].status, 5, watches);
    }
}

TEST(onfail_has_no_say_in_it)
{
    int watches[5];
    one_of_five_ends(1, "3", "isolate", watches);
    ends_quietly(3, 5, watches);
    one_of_five_ends(0, "4", "isolate", watches);
    ends_quietly(4, 5, watches);
    one_of_five_ends(3, "5", "root", watches);
    ends_quietly(5, 5, watches);
}

TEST(a_program_that_the_shell_has_started_ends_so_too)
{
    int watches[2];
    setenv("SYS_CHILD", "tell wait end 9", 1);
    run_start(&run, sys_ends(), "enlist", "1", "tell", "spin");
    all_there(2, watches, NULL);
    run_go();
    ends_quietly(9, 2, watches);
}

TEST(a_status_that_is_none_or_another_group_is_refused_and_changes_nothing)
{
    char argument[32], team[32];
    snprintf(argument, sizeof argument, "end -1 %d", bcrE_ARG);
    snprintf(team, sizeof team, "end -1 %d", bcrE_NOTEAM);
    run_start(&run, run_enl(), sys_ends(), "end", "256", "end", "-1", "end-team", "256", "end-other", "3",
              "end-team", "3", "out", "on");
    for (int i = 0; i < 4; i++)
        CHECK_STR(run_told_by(&run), argument);
    CHECK_STR(run_told_by(&run), team);
    run_ends(&run, 0, "");
    CHECK_STR(run.text, "on\n");
}

TEST(stopped_cces_end_too)
{
    int watches[3];
    pid_t pids[3];
    setenv("SYS_CHILD", "tell stop", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "enlist", "1", "at", "local1", "from", "2",
              "enlist", "1", "tell", "wait", "end", "6");
    all_there(3, watches, pids);
    run_wait_for_state(pids[1], 'T', true);
    run_wait_for_state(pids[2], 'T', true);
    run_go();
    ends_quietly(6, 3, watches);
}

TEST(processes_that_have_not_come_to_bcr_init_end_too)
{
    int watches[2], zero;
    setenv("SYS_BEFORE", "1", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "enlist", "1", "at", "local1", "from", "2",
              "enlist", "1", "wait", "end", "6");
    for (int i = 0; i < 2; i++) {
        pid_t pid;
        CHECK_INT(sscanf(run_told_by(&run), "before %d %d", &pid, &zero), 2);
        watches[i] = run_watch(pid);
    }
    run_go();
    ends_quietly(6, 2, watches);
    unsetenv("SYS_BEFORE");
}

TEST(what_cces_have_left_running_goes_with_the_program)
{
    int watches[2];
    setenv("SYS_CHILD", "leave wait end 3", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "leave", "at", "local1", "enlist", "1", "pause");
    for (int i = 0; i < 2; i++) {
        int ordinal;
        pid_t pid;
        CHECK_INT(sscanf(run_told_by(&run), "left %d %d", &pid, &ordinal), 2);
        watches[i] = run_watch(pid);
    }
    run_go();
    ends_quietly(3, 2, watches);
}

/* Their statuses are 11 to 18; the first that reaches the root's host decides. */
TEST(of_several_that_call_at_once_the_first_decides)
{
    int watches[9];
    char name[32], words[32];
    for (int i = 1; i <= 8; i++) {
        snprintf(name, sizeof name, "SYS_CHILD%d", i);
        snprintf(words, sizeof words, "tell wait end %d", 10 + i);
        setenv(name, words, 1);
    }
    run_start(&run, run_enl(), "--local", "2", sys_ends(), "enlist", "3", "at", "local1", "from", "4",
              "enlist", "3", "at", "local2", "from", "7", "enlist", "2", "tell", "spin");
    all_there(9, watches, NULL);
    for (int i = 0; i < 8; i++) /* some may be killed before they have read theirs */
        run_go();
    run_end(&run);
    CHECK(run.status >= 11 && run.status <= 18);
    run_check_error(&run, "");
    for (int i = 0; i < 9; i++)
        run_gone(watches[i]);
}

enum { LINES = 100000 };

/* The lines from 0 on, the last of which may be cut off unless all must be there. */
static void check_lines(const char *text, bool all)
{
    int line = 0;
    char want[16];
    for (const char *at = text, *end; *at != '\0'; at = end + 1, line++) {
        snprintf(want, sizeof want, "%d\n", line);
        end = strchr(at, '\n');
        if (end == NULL && !all && strncmp(want, at, strlen(at)) == 0)
            break;
        if (end == NULL || strncmp(at, want, strlen(want)) != 0)
            FAIL("wanted line %d, got %.40s", line, at);
    }
    if (all)
        CHECK_INT(line, LINES);
}

/* All of them were printed before; enl reads as this test does, which begins when the program should end. */
TEST(all_that_was_printed_before_is_out)
{
    static const char *const machines[] = {"localhost", "local1"};
    for (int i = 0; i < 2; i++) {
        setenv("SYS_CHILD", "flood 100000 end 5", 1);
        run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", machines[i], "enlist", "1", "spin");
        run_ends(&run, 5, "");
        check_lines(run.text, true);
    }
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "flood", "100000", "end", "5");
    run_ends(&run, 5, "");
    check_lines(run.text, true);
}

/* The one that prints has told when the pipes have all. */
TEST(what_others_have_printed_is_out_whoever_ends_the_program)
{
    static const char *const machines[] = {"localhost", "local1"};
    for (int i = 0; i < 2; i++) {
        int ordinal;
        pid_t pid;
        setenv("SYS_CHILD", "flood 5000 flush tell spin", 1);
        run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", machines[i], "enlist", "1", "wait",
                  "end", "5");
        run_told_pid(&ordinal, &pid);
        run_go();
        run_ends(&run, 5, "");
        check_lines(run.text, false);
        CHECK(strstr(run.text, "\n4999\n") != NULL);
    }
}

/* CCE 1 prints more than is read; what is in its pipe when the end comes is shown, up to within a line. */
TEST(one_that_is_printing_is_cut_off_and_nothing_before_that_is_lost)
{
    static const char *const machines[] = {"localhost", "local1"};
    for (int i = 0; i < 2; i++) {
        int ordinal;
        pid_t pid;
        setenv("SYS_CHILD", "tell flood 100000 spin", 1);
        run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", machines[i], "enlist", "1", "wait",
                  "end", "5");
        run_told_pid(&ordinal, &pid);
        run_go();
        run_ends(&run, 5, "");
        check_lines(run.text, false);
    }
}

TEST(the_callers_stdio_is_written_first)
{
    setenv("SYS_CHILD", "part unfinished end 0", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", "local1", "enlist", "1", "spin");
    run_ends(&run, 0, "");
    CHECK_STR(run.text, "unfinished");
}

TEST(scripts_run_on_each_host)
{
    static const char settings[] = "startscript ./script\nendscript ./script\n";
    static const char script[] = "#!/bin/sh\necho \"$1 $4 \" >>called\n";
    char text[4096];
    run_folder();
    run_write_file(".bcrrc", settings, sizeof settings - 1, 0600);
    run_write_file("script", script, sizeof script - 1, 0700);
    run_write_file("called", "", 0, 0600);
    setenv("SYS_CHILD", "end 2", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", "local1", "enlist", "1", "spin");
    run_ends(&run, 2, "");
    run_read_file("called", text, sizeof text);
    CHECK(strstr(text, "1 1 \n") != NULL && strstr(text, "1 0 \n") != NULL);
    CHECK_INT(unlink(".bcrrc"), 0);
}

/* A program that heeds SIGTERM: the signal is reported, and the program says how it has ended. */
TEST(after_a_signal_it_sets_the_status_and_ends_at_once)
{
    int watches[2];
    setenv("BCR_KILLAFTER", "1000000", 1);
    setenv("SYS_CHILD", "catch tell spin", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "catch", "at", "local1", "enlist", "1", "tell",
              "await", "end", "8");
    all_there(2, watches, NULL);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_ends(&run, 8, "is ended by signal 15");
    run_gone(watches[0]);
    run_gone(watches[1]);
    unsetenv("BCR_KILLAFTER");
}

TEST(it_ends_what_the_root_has_left)
{
    int watches[2];
    setenv("SYS_CHILD", "tell wait end 8", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", sys_ends(), "enlist", "1", "tell", "exit", "0");
    int ordinal;
    pid_t pid;
    for (int i = 0; i < 2; i++) { /* the root may be gone by now */
        run_told_pid(&ordinal, &pid);
        watches[ordinal] = run_try_watch(pid);
    }
    if (watches[0] >= 0)
        run_gone(watches[0]);
    run_go();
    ends_quietly(8, 1, watches + 1);
}

/* As when CCEs of a host that has not been told yet fail since others are gone: the daemon of local1 is stopped while the
 * CCE there is killed, and finds both when it goes on. */
TEST(of_a_cce_that_fails_while_its_host_is_being_told_nothing_is_said)
{
    int ordinal;
    pid_t pid, daemon = 0;
    setenv("SYS_CHILD", "parent tell pause", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", "local1", "enlist", "1", "wait", "end", "3");
    CHECK_INT(sscanf(run_told_by(&run), "parent %d", &daemon), 1);
    run_told_pid(&ordinal, &pid);
    CHECK_INT(kill(daemon, SIGSTOP), 0);
    run_wait_for_state(daemon, 'T', true);
    CHECK_INT(kill(pid, SIGKILL), 0);
    run_wait_for_state(pid, 'Z', true);
    run_go();
    run_wait_for_text(log_of_root(), "is ended with status 3 by CCE 0");
    CHECK_INT(kill(daemon, SIGCONT), 0);
    run_ends(&run, 3, "");
}

/* local1 has started local2. The end, and what was printed, go over the link between local2 and the root. */
TEST(a_cce_of_a_host_whose_starter_is_lost_ends_the_program)
{
    pid_t daemon = 0, pid;
    int watches[3];
    setenv("SYS_CHILD1", "parent tell spin", 1);
    setenv("SYS_CHILD2", "tell wait flood 5000 end 5", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", "--fanout", "1", "--local", "2", sys_ends(), "at",
              "local1", "enlist", "1", "at", "local2", "from", "2", "enlist", "1", "tell", "spin");
    for (int told = 0; told < 3;) {
        int ordinal;
        const char *line = run_told_by(&run);
        if (sscanf(line, "parent %d", &pid) == 1) {
            daemon = pid;
            continue;
        }
        CHECK_INT(sscanf(line, "%d %d", &ordinal, &pid), 2);
        watches[ordinal] = run_watch(pid);
        told++;
    }
    CHECK(daemon != 0);
    CHECK_INT(kill(daemon, SIGKILL), 0);
    run_gone(watches[1]);
    run_wait_for_text(log_of_root(), "goes on by its own link to this one");
    run_go();
    run_ends(&run, 5, "host local1 is lost");
    run_gone(watches[0]);
    run_gone(watches[2]);
    CHECK(strstr(run.text, "\n4999\n") != NULL);
}

/* enl has not started its process. */
TEST(a_cce_that_has_joined_ends_too)
{
    int watches[2];
    setenv("SYS_CHILD", "tell spin", 1);
    run_start(&run, run_enl(), sys_ends(), "tell", "wait", "enlist", "1", "wait", "end", "3");
    all_there(1, watches, NULL);
    run_start(&joined, run_enl(), "--join", run_program(), sys_ends());
    run_wait_for_text("bcr.", "waits to be enlisted as sys_ends");
    run_go();
    int ordinal;
    pid_t pid;
    run_told_pid(&ordinal, &pid);
    CHECK_INT(ordinal, 1);
    watches[1] = run_watch(pid);
    run_go();
    run_end(&joined);
    CHECK_INT(joined.status, 128 + SIGKILL);
    run_end(&run);
    CHECK_INT(run.status, 3);
    run_gone(watches[0]);
    run_gone(watches[1]);
    CHECK_PTR(strstr(run.error, "CCE"), NULL);
}

TEST(what_a_cce_runs_under_ends_with_it)
{
    char command[600];
    snprintf(command, sizeof command, "%s enlist 1 spin; echo more", sys_ends());
    setenv("SYS_CHILD", "end 3", 1);
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_ends(&run, 3, "");
    CHECK_STR(run.text, "");
}
